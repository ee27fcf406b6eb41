/** Elements made by hand: text is always set as text, never as markup. */

type Child = Node | string;
type Attributes = Record<string, string | number | boolean | null>;

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Text that comes from outside, kept apart from the direction of the text around it. */
export function name(text: string): HTMLElement {
  return h("bdi", {}, text);
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onClick);
  return element;
}

/** Buttons of which one is pressed. */
export function choices<T extends string>(
  label: string,
  options: readonly (readonly [T, string])[],
  choose: (value: T) => void,
): { element: HTMLElement; show: (value: T) => void } {
  const buttons = options.map(([value, text]) => {
    const element = button(text, () => choose(value), { "aria-pressed": "false" });
    return [value, element] as const;
  });
  const show = (chosen: T): void =>
    buttons.forEach(([value, element]) => element.setAttribute("aria-pressed", String(value === chosen)));
  return { element: h("div", { class: "choices", role: "group", "aria-label": label }, ...buttons.map(([, b]) => b)), show };
}

/** Set text only where it changed, so that an update touches as little of the page as possible. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function table(headings: readonly string[], rows: Iterable<readonly (string | Node)[]>): HTMLTableElement {
  const head = h("thead", {}, h("tr", {}, ...headings.map((text) => h("th", { scope: "col" }, text))));
  const body = h("tbody");
  for (const row of rows) body.append(h("tr", {}, ...row.map((cell) => h("td", {}, cell))));
  return h("table", {}, head, body);
}

/** A section of the page with its heading, and what stands beside that. */
export function card(id: string, className: string, heading: string | HTMLElement, tools: readonly HTMLElement[], ...children: Child[]): HTMLElement {
  const title = typeof heading === "string" ? h("h2", {}, heading) : heading;
  title.id = `${id}-title`;
  return h("section", { class: `card ${className}`.trim(), id, "aria-labelledby": title.id }, h("header", {}, title, ...tools), ...children);
}

/** A region that scrolls sideways and can be reached by keyboard. */
export function scroller(label: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

/** Hand a file to the reader of the page. */
export function download(fileName: string, content: Blob | string, type = "text/csv"): void {
  const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  const link = h("a", { href: url, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
