/** A card with one chart: canvas for curves, SVG for axes and marks, a handle for the keyboard, its data as a table. */

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals-core";

import { become, button, card, download, dress, h, menu, s, scroller, setText, table } from "../dom";
import { number } from "../format";
import { palette } from "../palette";
import { axesAsSvg, marksAsSvg, paint, seriesAsSvg } from "./draw";
import { type Cell, csvOf, fileName, FONT, pngOf, svgFile } from "./export";
import { moving, pause, schedule, markChange } from "./scheduling";
import { directLabels } from "./labels";
import { type Frame, makeFrame, type Margin, type Mark, type Point, type Scene, type Size } from "./scene";
import { follow, inSight, printing } from "./visible";

export interface Handle {
  readonly label: string;
  /** Where the handle stands, and what it says. */
  readonly state: () => { at: Point; now: number; min: number; max: number; text: string };
  readonly key: (event: KeyboardEvent) => boolean;
}

export interface ChartOptions {
  readonly id: string;
  readonly title: () => string;
  readonly describe: () => string;
  readonly scene: () => Scene;
  readonly marks: () => readonly Mark[];
  readonly data: () => { columns: readonly string[]; rows: Iterable<readonly Cell[]> };
  readonly tools?: readonly HTMLElement[];
  readonly handle?: Handle;
  /** A pointer was pressed at, or dragged to, a point in data units. */
  readonly drag?: (at: Point, toPixels: (point: Point) => Point, start: boolean) => void;
  readonly margin?: Partial<Margin>;
  readonly className?: string;
}

const MARGIN: Margin = { left: 46, right: 14, top: 30, bottom: 42 };

/** What axes are drawn from: they stay while curves move. */
function axesKey({ x, y }: Scene, { width, height }: Size): string {
  return JSON.stringify([x.label, x.domain, x.ticks?.length, y.label, y.domain, width, height]);
}

export function chart(options: ChartOptions): HTMLElement {
  const margin = { ...MARGIN, ...options.margin };
  const canvas = h("canvas", { "aria-hidden": "true" });
  const axes = s("g");
  const labels = s("g");
  const marks = s("g");
  const svg = s("svg", { role: "img", "aria-labelledby": `${options.id}-title`, "aria-describedby": `${options.id}-text`, "font-family": FONT }, axes, labels, marks);
  const plot = h("div", { class: "plot" }, canvas, svg);
  const title = h("h2");
  const text = h("p", { id: `${options.id}-text`, class: "caption" });

  const size = signal<Size>({ width: 0, height: 0, unit: 1 });
  const visible = inSight(plot);
  new ResizeObserver(([entry]) => {
    const { width = 0, height = 0 } = entry?.contentRect ?? {};
    const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 15;
    markChange();
    size.value = { width: Math.round(width / unit), height: Math.round(height / unit), unit };
  }).observe(plot);

  const scene = computed(options.scene);
  const shown = computed(options.marks);
  const key = computed(() => axesKey(scene.value, size.value));
  const frame = computed<Frame>(() => {
    void key.value;
    return untracked(() => makeFrame(scene.value, size.value, margin));
  });
  const awake = computed(() => visible.value && size.value.width > 0);

  let stale = true;
  const label = (): void => {
    stale = false;
    const pen = canvas.getContext("2d");
    if (pen) pen.font = `600 12px ${FONT}`;
    const found = directLabels(scene.peek(), shown.peek(), frame.peek(), (word) => pen?.measureText(word).width ?? word.length * 7);
    labels.setAttribute("transform", `translate(${margin.left} ${margin.top})`);
    become(labels, marksAsSvg(found, frame.peek(), palette.peek()));
  };
  const drawAxes = (): void => {
    svg.setAttribute("viewBox", `0 0 ${size.peek().width} ${size.peek().height}`);
    become(axes, [axesAsSvg(scene.peek(), frame.peek(), palette.peek())]);
  };
  const drawScene = (): void => {
    paint(canvas, size.peek(), scene.peek(), frame.peek(), palette.peek());
    stale = true;
    if (printing.peek()) label();
    else if (!moving() || !labels.hasChildNodes()) schedule(label);
  };
  const drawMarks = (): void => {
    marks.setAttribute("transform", `translate(${margin.left} ${margin.top})`);
    become(marks, marksAsSvg(shown.peek(), frame.peek(), palette.peek()));
  };
  const keep = (draw: () => void, of: () => readonly unknown[]): void => {
    let drawn: readonly unknown[] | undefined;
    let wanted: readonly unknown[] = [];
    const now = (): void => {
      drawn = wanted;
      draw();
    };
    follow(visible, () => {
      if (size.value.width === 0) return;
      wanted = of();
      if (wanted.every((each, i) => each === drawn?.[i])) return;
      if (printing.peek()) now();
      else schedule(now);
    });
  };
  keep(drawAxes, () => [frame.value, palette.value]);
  keep(drawScene, () => [scene.value, frame.value, palette.value]);
  keep(drawMarks, () => [shown.value, frame.value, palette.value]);
  keep(
    () => stale && label(), // names wait for a pause: where they hide least takes as long as all else
    () => [pause.value],
  );
  effect(() => setText(title, options.title()));
  follow(visible, () => setText(text, options.describe()));

  if (options.handle) plot.append(handle(options.handle, { frame, size, awake }));
  if (options.drag) drag(plot, options.drag, { frame, size, awake });

  const asSvg = (): string => {
    const layers = [axes, labels, marks].map((layer) => layer.cloneNode(true) as SVGElement);
    return svgFile(options.title(), size.peek(), palette.peek(), [seriesAsSvg(scene.peek(), frame.peek(), palette.peek()), ...layers]);
  };
  const file = (suffix: string): string => `${fileName(options.title())}.${suffix}`;
  const saved = h(
    "div",
    {},
    button("SVG", () => download(file("svg"), asSvg(), "image/svg+xml")),
    button("PNG", () => void pngOf(asSvg(), size.peek()).then((blob) => download(file("png"), blob))),
    button("CSV", () => {
      const { columns, rows } = options.data();
      download(file("csv"), csvOf(columns, rows));
    }),
  );
  const exports = menu("", h("summary", { "aria-label": "Save this chart" }, "Save"), saved);
  exports.addEventListener("click", (event) => {
    if (!(event.target instanceof HTMLButtonElement)) return;
    exports.open = false;
    exports.querySelector("summary")?.focus();
  });
  exports.addEventListener("focusout", (event) => {
    if (!exports.contains(event.relatedTarget as Node | null)) exports.open = false;
  });

  return card(options.id, options.className ?? "", title, [...(options.tools ?? []), exports], plot, text, dataTable(options));
}

/** Where a chart is on its card. */
interface Layout { readonly frame: ReadonlySignal<Frame>; readonly size: ReadonlySignal<Size>; readonly awake: ReadonlySignal<boolean> }

function handle(options: Handle, { frame, size, awake }: Layout): HTMLElement {
  const knob = h("div", { class: "handle", role: "slider", tabindex: 0, "aria-label": options.label });
  const state = computed(options.state);
  const say = (): void => {
    const { now, min, max, text } = state.peek();
    dress(knob, { "aria-valuemin": min, "aria-valuemax": max, "aria-valuenow": now, "aria-valuetext": text });
  };
  say();
  knob.addEventListener("keydown", (event) => {
    if (options.key(event)) event.preventDefault();
  });
  const place = (): void => {
    const { at } = state.peek();
    const { x: across, y: up, left, top } = frame.peek();
    const { unit } = size.peek();
    const [x, y] = [unit * (across(at[0]) + left), unit * (up(at[1]) + top)];
    const inside = Number.isFinite(x) && Number.isFinite(y);
    knob.hidden = !inside;
    if (inside) knob.style.transform = `translate(${x}px, ${y}px)`;
    say();
  };
  effect(() => {
    if (!awake.value) return;
    void [state.value, size.value, frame.value];
    schedule(place);
  });
  return knob;
}

function drag(plot: HTMLElement, to: NonNullable<ChartOptions["drag"]>, { frame, size }: Layout): void {
  plot.classList.add("draggable");
  const move = (event: PointerEvent, start: boolean): void => {
    const box = plot.getBoundingClientRect();
    const { x, y, left, top } = frame.peek();
    const { unit } = size.peek();
    const at: Point = [x.invert((event.clientX - box.left) / unit - left), y.invert((event.clientY - box.top) / unit - top)];
    to(at, ([px, py]) => [x(px), y(py)], start);
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    move(event, true);
    plot.querySelector<HTMLElement>(".handle")?.focus({ preventScroll: true });
    event.preventDefault();
  });
  plot.addEventListener("pointermove", (event) => {
    if (plot.hasPointerCapture(event.pointerId)) move(event, false);
  });
}

function dataTable(options: ChartOptions): HTMLElement {
  const box = scroller("");
  effect(() => box.setAttribute("aria-label", `Data: ${options.title()}`));
  const details = h("details", { class: "data" }, h("summary", {}, "Data"), box);
  const show = (): void => {
    const { columns, rows } = options.data();
    const cells = Array.from(rows, (row) => row.map((cell) => (typeof cell === "number" ? number(cell) : (cell ?? "–"))));
    box.replaceChildren(table(columns, cells));
  };
  const open = signal(false);
  details.addEventListener("toggle", () => (open.value = details.open));
  effect(() => {
    if (open.value) show();
  });
  return details;
}
