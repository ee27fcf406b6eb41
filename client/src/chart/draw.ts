/** Scenes on canvas and as SVG: the same paths, two pens. */

import { s, type Sketch, sketch } from "../dom";
import { shorten } from "../format";
import type { Palette } from "../palette";
import { AS_IT_IS, type Column, type Frame, type Mark, type Point, type Scene, type Series, type Size, type Through } from "./scene";

export const LETTERS = 13;

type Pen = CanvasRenderingContext2D;

type Path = Pick<Pen, "moveTo" | "lineTo">;

/** Draw the path of columns, broken where a value is not finite: by a plain loop, as every frame of a drag has thousands of points. */
function draw({ x, y, through = AS_IT_IS }: Pick<Series, "x" | "y" | "through">, frame: Frame, pen: Path): void {
  const { a, b, c, d, f } = through;
  const { offset: right, slope: across, log } = frame.x;
  const { offset: bottom, slope: up } = frame.y;
  let down = false;
  for (let i = 0; i < x.length; i++) {
    const along = a * x[i]! + c * y[i]!;
    const left = right + across * (log ? Math.log10(along) : along);
    const top = bottom + up * (b * x[i]! + d * y[i]! + f);
    if (!Number.isFinite(left + top)) down = false;
    else if (down) pen.lineTo(left, top);
    else {
      pen.moveTo(left, top);
      down = true;
    }
  }
}

const shapes = new WeakMap<Column, Path2D>();

/** The path of columns that are drawn through something: walked once, and turned by the browser at every step of a drag. */
function turned(series: Series, { a, b, c, d, f }: Through, frame: Frame): Path2D {
  let shape = shapes.get(series.x);
  if (!shape) {
    shape = new Path2D();
    for (let i = 0; i < series.x.length; i++) shape.lineTo(series.x[i]!, series.y[i]!);
    shapes.set(series.x, shape);
  }
  const { offset: right, slope: across } = frame.x;
  const { offset: bottom, slope: up } = frame.y;
  const path = new Path2D();
  path.addPath(shape, { a: across * a, b: up * b, c: across * c, d: up * d, e: right, f: bottom + up * f });
  return path;
}

/** The same path as the text of an SVG attribute, to a hundredth of a pixel. */
function pathOf(series: Series, frame: Frame): string {
  let text = "";
  const write = (letter: string) => (x: number, y: number) => void (text += `${letter}${Math.round(x * 100) / 100},${Math.round(y * 100) / 100}`);
  draw(series.base ? outline(series, series.base) : series, frame, { moveTo: write("M"), lineTo: write("L") });
  return text;
}

/** The edges of an area as one line, there and back. */
function outline({ x, y }: Series, base: Column): { x: Column; y: Column } {
  const round = (there: Column, back: Column): number[] => [...Array.from(there), ...Array.from(back).reverse()];
  return { x: round(x, x), y: round(y, base) };
}

export function paint(canvas: HTMLCanvasElement, size: Size, scene: Scene, frame: Frame, palette: Palette): void {
  const ratio = (window.devicePixelRatio || 1) * size.unit;
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, size.width, size.height);
  pen.translate(frame.left, frame.top);
  grid(pen, frame, palette);
  pen.save();
  pen.beginPath();
  pen.rect(-2, -2, frame.width + 4, frame.height + 4);
  pen.clip();
  pen.lineJoin = "round";
  for (const series of scene.series) stroke(pen, series, frame);
  pen.restore();
}

function grid(pen: Pen, frame: Frame, palette: Palette): void {
  pen.strokeStyle = palette.grid;
  pen.lineWidth = 1;
  pen.setLineDash([]);
  pen.beginPath();
  for (const [from, to] of gridLines(frame)) {
    pen.moveTo(from[0], from[1]);
    pen.lineTo(to[0], to[1]);
  }
  pen.stroke();
}

type Line = readonly [from: Point, to: Point];

function gridLines(frame: Frame): Line[] {
  const half = (value: number): number => Math.round(value) + 0.5;
  const vertical = frame.ticks.x.map((value) => half(frame.x(value))).map((x): Line => [[x, 0], [x, frame.height]]);
  const horizontal = frame.ticks.y.map((value) => half(frame.y(value))).map((y): Line => [[0, y], [frame.width, y]]);
  return [...vertical, ...horizontal];
}

function stroke(pen: Pen, series: Series, frame: Frame): void {
  pen.globalAlpha = series.alpha ?? 1;
  const path = series.through && !frame.x.log && turned(series, series.through, frame);
  if (!path) {
    pen.beginPath();
    draw(series.base ? outline(series, series.base) : series, frame, pen);
  }
  if (series.base) {
    pen.fillStyle = series.stroke;
    pen.fill();
  } else {
    pen.strokeStyle = series.stroke;
    pen.lineWidth = series.width ?? 1.75;
    pen.setLineDash((series.dash ?? []) as number[]);
    if (path) pen.stroke(path);
    else pen.stroke();
  }
  pen.globalAlpha = 1;
}

/** The series and the grid as SVG, for a file that opens alone. */
export function seriesAsSvg(scene: Scene, frame: Frame, palette: Palette): SVGGElement {
  const group = s("g", { transform: `translate(${frame.left} ${frame.top})`, fill: "none" });
  for (const [[x1, y1], [x2, y2]] of gridLines(frame)) group.append(s("line", { x1, y1, x2, y2, stroke: palette.grid }));
  const clipped = s("svg", { width: frame.width, height: frame.height, overflow: "hidden" });
  for (const series of scene.series) {
    const d = pathOf(series, frame);
    const paintWith = series.base
      ? { fill: series.stroke, stroke: "none" }
      : {
          stroke: series.stroke,
          "stroke-width": series.width ?? 1.75,
          "stroke-dasharray": series.dash?.length ? series.dash.join(" ") : null,
          "stroke-linejoin": "round",
        };
    clipped.append(s("path", { d, opacity: series.alpha ?? null, "data-name": series.name ?? null, ...paintWith }));
  }
  group.append(clipped);
  return group;
}

export function axesAsSvg(scene: Scene, frame: Frame, palette: Palette): Sketch {
  const { left, top, width, height, ticks } = frame;
  const across = ticks.x.map((value, i) => {
    const x = frame.x(value);
    const anchor = i === ticks.x.length - 1 && x > width - 12 ? "end" : i === 0 && x < 4 ? "start" : "middle";
    return sketch("text", { x: x + (anchor === "end" ? 4 : anchor === "start" ? -3 : 0), y: height + 16, "text-anchor": anchor }, scene.x.format(value));
  });
  const up = ticks.y.map((value) => sketch("text", { x: -7, y: frame.y(value) + 4, "text-anchor": "end" }, scene.y.format(value)));
  return sketch(
    "g",
    { transform: `translate(${left} ${top})`, fill: palette.quiet, "font-size": LETTERS },
    sketch("path", { d: `M0,0V${height}H${width}`, fill: "none", stroke: palette.axis }),
    sketch("text", { x: width, y: height + 33, "text-anchor": "end", "font-weight": 500 }, scene.x.label),
    sketch("text", { x: -left + 2, y: -12, "font-weight": 500 }, scene.y.label),
    ...across,
    ...up,
  );
}

/** A dot on the edge of its plot is drawn whole; twice as many pixels beyond it are none of the plot. */
const EDGE = 2;

/** Whether a mark can be drawn: a ratio of two costs of 0 has no line. */
function isFinite({ attributes }: Sketch): boolean {
  return Object.values(attributes).every((value) => typeof value !== "number" || Number.isFinite(value));
}

export function marksAsSvg(marks: readonly Mark[], frame: Frame, palette: Palette): Sketch[] {
  const [clipped, free]: [Sketch[], Sketch[]] = [[], []];
  const inside = ([x, y]: Point): boolean => Math.abs(2 * frame.x(x) - frame.width) <= frame.width + EDGE && Math.abs(2 * frame.y(y) - frame.height) <= frame.height + EDGE;
  for (const mark of marks) {
    const alone = mark.kind === "dot" || mark.kind === "text";
    if (alone && !inside(mark.at)) continue;
    (alone ? free : clipped).push(...markAsSvg(mark, frame, palette).filter(isFinite));
  }
  return [sketch("svg", { width: frame.width, height: frame.height, overflow: "hidden" }, ...clipped), sketch("g", {}, ...free)];
}

function markAsSvg(mark: Mark, frame: Frame, palette: Palette): Sketch[] {
  const at = ([x, y]: Point): readonly [number, number] => [frame.x(x), frame.y(y)];
  switch (mark.kind) {
    case "line": {
      const [[x1, y1], [x2, y2]] = [at(mark.from), at(mark.to)];
      const looks = { stroke: mark.stroke, "stroke-width": mark.width ?? 1.25, "stroke-dasharray": mark.dash?.join(" ") ?? null };
      const data = { "data-role": mark.role ?? null, "data-from": mark.from.join(" "), "data-to": mark.to.join(" ") };
      return [sketch("line", { x1, y1, x2, y2, ...looks, ...data })];
    }
    case "dot":
    case "square": {
      const [[cx, cy], r] = [at(mark.at), mark.r];
      const looks = { fill: mark.fill, stroke: mark.stroke, "stroke-width": 1.5, "data-role": mark.role ?? null, "data-at": mark.at.join(" ") };
      if (mark.kind === "dot") return [sketch("circle", { cx, cy, r, ...looks })];
      return [sketch("rect", { x: cx - r, y: cy - r, width: 2 * r, height: 2 * r, ...looks })];
    }
    case "whisker": {
      const [x, low, high] = [frame.x(mark.at[0]), frame.y(mark.low), frame.y(mark.high)];
      return [sketch("path", { d: `M${x},${low}V${high}M${x - 3},${low}h6M${x - 3},${high}h6`, stroke: mark.stroke, fill: "none" })];
    }
    case "text": {
      const text = fitted(mark.text, mark.within && Math.abs(frame.x(mark.within[1]) - frame.x(mark.within[0])));
      const [x, y] = at(mark.at);
      const place = { x, y: mark.within ? y + 4 : y, "text-anchor": mark.within ? "middle" : "start", "unicode-bidi": "plaintext" };
      const letters = { fill: mark.fill, "font-size": LETTERS, "font-weight": 600 };
      const halo = { stroke: mark.halo ?? palette.halo, "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke" };
      const full = mark.full ?? mark.text;
      return text ? [sketch("text", { ...place, ...letters, ...halo }, ...(text === full ? [] : [sketch("title", {}, full)]), text)] : [];
    }
    case "box": {
      const [[x0, y0], [x1, y1]] = [at(mark.from), at(mark.to)];
      const place = { x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) };
      return [sketch("rect", { ...place, fill: mark.fill, opacity: mark.alpha ?? 1, "data-role": mark.role ?? null })];
    }
  }
}

/** A text cut to a width in pixels, empty where not even a few letters fit. */
function fitted(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  const most = Math.floor((width - 12) / 8);
  return most < Math.min(4, [...text].length) ? "" : shorten(text, most);
}
