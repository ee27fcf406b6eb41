/** The widget in a notebook: a frame with the page in it, and a bridge from there to the kernel. */

interface Model {
  get(name: "_page"): string;
  get(name: "_view"): unknown;
  set(name: "_view", value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, heard: (content: unknown) => void): void;
  off(event: string, heard: (content: unknown) => void): void;
}

interface Told { readonly ready?: boolean; readonly view?: unknown; readonly question?: unknown }

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-forms allow-downloads");
  frame.title = "rocscope";
  frame.style.cssText = "width: 100%; height: 60em; border: 0";
  frame.srcdoc = model.get("_page");
  const tell = (content: unknown): void => frame.contentWindow?.postMessage(content, "*");
  const show = (): void => tell({ view: model.get("_view") });
  const hear = ({ source, data }: MessageEvent<Told>): void => {
    if (source !== frame.contentWindow) return;
    if (data.ready) show();
    if (data.question) model.send(data);
    if (!data.view) return;
    model.set("_view", data.view);
    model.save_changes();
  };
  addEventListener("message", hear);
  model.on("msg:custom", tell);
  model.on("change:_view", show);
  el.append(frame);
  return () => {
    removeEventListener("message", hear);
    model.off("msg:custom", tell);
    model.off("change:_view", show);
  };
}

export default { render };
