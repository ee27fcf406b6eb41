/** A card with one chart: canvas for curves, SVG for axes and marks, a handle for the keyboard, its data as a table. */

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals-core";

import { become, card, dress, h, s, scroller, setText, type Sketch, table } from "../dom";
import { type Cell, csvOf, number } from "../format";
import { palette } from "../palette";
import { axesAsSvg, LETTERS, marksAsSvg, paint, seriesAsSvg } from "./draw";
import { FONT, offers, pngOf, svgFile, withData } from "./export";
import { directLabels } from "./labels";
import { type Frame, makeFrame, type Margin, type Mark, type Point, type Scene, type Size } from "./scene";
import { beforeFirstFrame, markChange, moving, pause, schedule } from "./scheduling";
import { follow, inSight, printing } from "./visible";

export interface Handle {
  readonly label: string;
  readonly state: () => { at: Point; now: number; min: number; max: number; text: string };
  readonly key: (event: KeyboardEvent) => boolean;
}

/** What a chart says of a place that is pointed at, and the place on a curve that it says it of. */
export interface Reading { readonly at: Point; readonly text: string }

export interface ChartOptions {
  readonly id: string;
  readonly title: () => string;
  readonly describe: () => string;
  readonly scene: () => Scene;
  readonly marks: () => readonly Mark[];
  readonly data: () => { columns: readonly string[]; rows: Iterable<readonly Cell[]> };
  readonly tools?: readonly HTMLElement[];
  /** Whether the card is on the page, where another may take its place. */
  readonly shown?: () => boolean;
  readonly handle?: Handle;
  /** A pointer was pressed at, or dragged to, a point in data units. */
  readonly drag?: (at: Point, toPixels: (point: Point) => Point, start: boolean) => void;
  /** What is near a point in data units; null where nothing is. */
  readonly read?: (at: Point, toPixels: (point: Point) => Point) => Reading | null;
  readonly margin?: Partial<Margin>;
  readonly className?: string;
}

/** Of a picture that is saved of a chart that is not on the screen. */
const UNSEEN: Size = { width: 720, height: 440, unit: 1 };

const MARGIN: Margin = { left: 46, right: 14, top: 30, bottom: 42 };

/** What axes are drawn from: they stay while curves move. */
function axesKey({ x, y }: Scene, { width, height }: Size): string {
  return JSON.stringify([x.label, x.domain, x.ticks?.length, x.log, y.label, y.domain, width, height]);
}

export function chart(options: ChartOptions): HTMLElement {
  const margin = { ...MARGIN, ...options.margin };
  const canvas = h("canvas", { "aria-hidden": "true" });
  const layer = (...inner: readonly Sketch[]): SVGElement => {
    const group = s("g", { transform: `translate(${margin.left} ${margin.top})` });
    become(group, inner);
    return group;
  };
  const [axes, labels, marks] = [s("g"), layer(), layer()];
  const svg = s("svg", { role: "img", "aria-labelledby": `${options.id}-title`, "aria-describedby": `${options.id}-text`, "font-family": FONT }, axes, labels, marks);
  const plot = h("div", { class: "plot" }, canvas, svg);
  const title = h("h2");
  const text = h("p", { id: `${options.id}-text`, class: "caption" });

  const size = signal<Size>({ width: 0, height: 0, unit: 1 });
  const visible = inSight(plot);
  const measure = (): void => {
    const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 15;
    markChange();
    const [width, height] = [Math.round(plot.clientWidth / unit), Math.round(plot.clientHeight / unit)];
    const now = size.peek();
    if (width !== now.width || height !== now.height || unit !== now.unit) size.value = { width, height, unit };
  };
  new ResizeObserver(measure).observe(plot);
  beforeFirstFrame.push(measure);

  const scene = computed(options.scene);
  const shown = computed(options.marks);
  const key = computed(() => axesKey(scene.value, size.value));
  const frame = computed<Frame>(() => {
    void key.value;
    return untracked(() => makeFrame(scene.value, size.value, margin));
  });
  const awake = computed(() => visible.value && size.value.width > 0);

  const namesIn = (at: Frame): Mark[] => {
    const pen = canvas.getContext("2d");
    if (pen) pen.font = `600 ${LETTERS}px ${FONT}`;
    return directLabels(scene.peek(), shown.peek(), at, (word) => pen?.measureText(word).width ?? word.length * 7);
  };
  let stale = true;
  const label = (): void => {
    stale = false;
    become(labels, marksAsSvg(namesIn(frame.peek()), frame.peek(), palette.peek()));
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

  const knob = options.handle && handle(options.handle, { frame, size, awake });
  if (knob) plot.append(knob);
  if (options.drag) drag(plot, options.drag, { frame, size, awake });
  if (options.read) readings(plot, options.read, { frame, size, awake }, knob && options.handle);

  const asSvg = (): [string, Size] => {
    const box = size.peek().width ? size.peek() : UNSEEN;
    const [drawn, looks] = [scene.peek(), palette.peek()];
    const at = makeFrame(drawn, box, margin);
    const axesLayer = s("g");
    become(axesLayer, [axesAsSvg(drawn, at, looks)]);
    return [svgFile(options.title(), box, looks, [seriesAsSvg(drawn, at, looks), axesLayer, layer(...marksAsSvg(namesIn(at), at, looks)), layer(...marksAsSvg(shown.peek(), at, looks))]), box];
  };
  offers.set(options.id, {
    title: options.title,
    csv: () => csvOf(options.data().columns, options.data().rows),
    svg: () => asSvg()[0],
    png: () => pngOf(...asSvg()),
  });

  const element = card(options.id, options.className ?? "", title, options.tools ?? [], plot, text, dataTable(options));
  effect(() => void (element.hidden = !(options.shown?.() ?? true)));
  return element;
}

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

function placeOf(event: PointerEvent, plot: HTMLElement, { frame, size }: Layout): Point {
  const box = plot.getBoundingClientRect();
  const { x, y, left, top } = frame.peek();
  const { unit } = size.peek();
  return [x.invert((event.clientX - box.left) / unit - left), y.invert((event.clientY - box.top) / unit - top)];
}

/** Say what is near the pointer or the finger, or at the handle that the keyboard has. */
function readings(plot: HTMLElement, read: NonNullable<ChartOptions["read"]>, layout: Layout, knob?: Handle): void {
  const spot = h("span", { class: "spot" });
  const line = h("p", { class: "reading", "aria-hidden": "true" });
  const box = h("div", { hidden: true }, spot, line);
  plot.append(box);
  const at = signal<Point | null>(null);
  const focused = signal(false);
  effect(() => {
    const place = focused.value && knob ? knob.state().at : at.value;
    box.hidden = !place;
    if (!place) return; // or every chart would follow every change to say nothing
    const { x, y, left, top } = layout.frame.value;
    const found = read(place, ([px, py]) => [x(px), y(py)]);
    box.hidden = !found;
    if (!found) return;
    const { unit } = layout.size.peek();
    const [across, down] = [unit * (x(found.at[0]) + left), unit * (y(found.at[1]) + top)];
    spot.hidden = !Number.isFinite(across + down);
    if (!spot.hidden) spot.style.transform = `translate(${across}px, ${down}px)`;
    setText(line, found.text);
  });
  const follow = (event: PointerEvent): void => void (at.value = placeOf(event, plot, layout));
  plot.addEventListener("pointermove", follow);
  plot.addEventListener("pointerdown", follow);
  plot.addEventListener("pointerleave", () => (at.value = null));
  plot.addEventListener("focusin", ({ target }) => (focused.value = (target as Element).matches(":focus-visible")));
  plot.addEventListener("focusout", () => (focused.value = false));
}

function drag(plot: HTMLElement, to: NonNullable<ChartOptions["drag"]>, layout: Layout): void {
  plot.classList.add("draggable");
  const move = (event: PointerEvent, start: boolean): void => {
    const { x, y } = layout.frame.peek();
    to(placeOf(event, plot, layout), ([px, py]) => [x(px), y(py)], start);
  };
  plot.addEventListener("pointerdown", (event) => {
    const scrolls = event.pointerType === "touch" && !(event.target as Element).closest(".handle"); // what scrolls the page decides nothing
    if (event.button !== 0 || scrolls) return;
    plot.setPointerCapture(event.pointerId);
    move(event, true);
    plot.querySelector<HTMLElement>(".handle")?.focus({ preventScroll: true });
    event.preventDefault();
  });
  plot.addEventListener("pointermove", (event) => {
    if (plot.hasPointerCapture(event.pointerId)) move(event, false);
  });
}

/** What the chart is drawn from, where the reader wants to see it. */
function dataTable(options: ChartOptions): HTMLElement {
  const box = scroller("");
  effect(() => box.setAttribute("aria-label", `Data: ${options.title()}`));
  effect(() => {
    box.hidden = !withData.value;
    if (box.hidden) return;
    const { columns, rows } = options.data();
    const cells = Array.from(rows, (row) => row.map((cell) => (typeof cell === "number" ? number(cell) : (cell ?? "–"))));
    box.replaceChildren(table(columns, cells));
  });
  return box;
}
