/** Scenes on canvas and as SVG: the same paths, two pens. */

import { line } from "d3-shape";

import { s, type Sketch, sketch } from "../dom";
import { shorten } from "../format";
import type { Palette } from "../palette";
import { type Column, columnsOf, type Frame, type Mark, type Scene, type Series, type Size, type Through } from "./scene";

type Pen = CanvasRenderingContext2D;

/** Draw the path of a series: by a plain loop, as every frame of a drag has thousands of points. */
function draw(series: Series, { straight }: Frame, pen: Pen): void {
  const { x, y } = series.base ? outline(series, series.base) : series;
  const [[right, across], [bottom, up]] = [straight.x, straight.y];
  let down = false;
  for (let i = 0; i < x.length; i++) {
    const left = right + across * x[i]!;
    const top = bottom + up * y[i]!;
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
function turned(series: Series, { a, b, c, d, f }: Through, { straight }: Frame): Path2D {
  let shape = shapes.get(series.x);
  if (!shape) {
    shape = new Path2D();
    for (let i = 0; i < series.x.length; i++) shape.lineTo(series.x[i]!, series.y[i]!);
    shapes.set(series.x, shape);
  }
  const [[right, across], [bottom, up]] = [straight.x, straight.y];
  const path = new Path2D();
  path.addPath(shape, { a: across * a, b: up * b, c: across * c, d: up * d, e: right, f: bottom + up * f });
  return path;
}

/** The same as text. */
function pathOf(series: Series, { straight }: Frame): string | null {
  const { x, y } = series.base ? outline(series, series.base) : columnsOf(series);
  const [[right, across], [bottom, up]] = [straight.x, straight.y];
  const shape = line<number>()
    .x((i) => right + across * (x[i] ?? NaN))
    .y((i) => bottom + up * (y[i] ?? NaN))
    .defined((i) => Number.isFinite(x[i]) && Number.isFinite(y[i]));
  return shape(upTo(x.length));
}

/** The edges of an area as one line, there and back. */
function outline({ x, y }: Series, base: Column): { x: Column; y: Column } {
  const round = (there: Column, back: Column): number[] => [...Array.from(there), ...Array.from(back).reverse()];
  return { x: round(x, x), y: round(y, base) };
}

const ranges = new Map<number, readonly number[]>();

/** The numbers from 0 up to a length, made once a length. */
function upTo(length: number): number[] {
  if (!ranges.has(length)) ranges.set(length, Array.from({ length }, (_, i) => i));
  return ranges.get(length) as number[];
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
    pen.moveTo(...from);
    pen.lineTo(...to);
  }
  pen.stroke();
}

function gridLines(frame: Frame): [[number, number], [number, number]][] {
  const half = (value: number): number => Math.round(value) + 0.5;
  return [
    ...frame.ticks.x.map((value): [[number, number], [number, number]] => {
      const x = half(frame.x(value));
      return [[x, 0], [x, frame.height]];
    }),
    ...frame.ticks.y.map((value): [[number, number], [number, number]] => {
      const y = half(frame.y(value));
      return [[0, y], [frame.width, y]];
    }),
  ];
}

function stroke(pen: Pen, series: Series, frame: Frame): void {
  pen.globalAlpha = series.alpha ?? 1;
  const path = series.through && turned(series, series.through, frame);
  if (!path) {
    pen.beginPath();
    draw(series, frame, pen);
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
    const d = pathOf(series, frame) ?? "";
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
    { transform: `translate(${left} ${top})`, fill: palette.quiet, "font-size": 11.5 },
    sketch("path", { d: `M0,0V${height}H${width}`, fill: "none", stroke: palette.axis }),
    sketch("text", { x: width, y: height + 33, "text-anchor": "end", "font-weight": 500 }, scene.x.label),
    sketch("text", { x: -left + 2, y: -12, "text-anchor": null, "font-weight": 500 }, scene.y.label),
    ...across,
    ...up,
  );
}

export function marksAsSvg(marks: readonly Mark[], frame: Frame, palette: Palette): Sketch[] {
  const [clipped, free]: [Sketch[], Sketch[]] = [[], []];
  for (const mark of marks) (mark.kind === "dot" || mark.kind === "text" ? free : clipped).push(...markAsSvg(mark, frame, palette));
  return [sketch("svg", { width: frame.width, height: frame.height, overflow: "hidden" }, ...clipped), sketch("g", {}, ...free)];
}

function markAsSvg(mark: Mark, frame: Frame, palette: Palette): Sketch[] {
  switch (mark.kind) {
    case "line":
      return [
        sketch("line", {
          x1: frame.x(mark.from[0]),
          y1: frame.y(mark.from[1]),
          x2: frame.x(mark.to[0]),
          y2: frame.y(mark.to[1]),
          stroke: mark.stroke,
          "stroke-width": mark.width ?? 1.25,
          "stroke-dasharray": mark.dash?.join(" ") ?? null,
          "data-role": mark.role ?? null,
          "data-from": mark.from.join(" "),
          "data-to": mark.to.join(" "),
        }),
      ];
    case "dot":
      return [
        sketch("circle", {
          cx: frame.x(mark.at[0]),
          cy: frame.y(mark.at[1]),
          r: mark.r ?? 5,
          fill: mark.fill,
          stroke: mark.stroke,
          "stroke-width": 1.5,
          "data-role": mark.role ?? null,
          "data-at": mark.at.join(" "),
        }),
      ];
    case "square": {
      const r = mark.r ?? 4;
      const [x, y] = [frame.x(mark.at[0]) - r, frame.y(mark.at[1]) - r];
      const looks = { fill: mark.fill, stroke: mark.stroke, "stroke-width": 1.5, "data-role": mark.role ?? null };
      return [sketch("rect", { x, y, width: 2 * r, height: 2 * r, ...looks, "data-at": mark.at.join(" ") })];
    }
    case "whisker": {
      const [x, low, high] = [frame.x(mark.at[0]), frame.y(mark.low), frame.y(mark.high)];
      return [sketch("path", { d: `M${x},${low}V${high}M${x - 3},${low}h6M${x - 3},${high}h6`, stroke: mark.stroke, fill: "none" })];
    }
    case "text": {
      const text = fitted(mark.text, mark.within && Math.abs(frame.x(mark.within[1]) - frame.x(mark.within[0])));
      if (!text) return [];
      return [
        sketch(
          "text",
          {
            x: frame.x(mark.at[0]) + (mark.dx ?? 0),
            y: frame.y(mark.at[1]) + (mark.dy ?? 0),
            fill: mark.fill,
            "text-anchor": mark.anchor ?? "start",
            "font-size": 12,
            "font-weight": mark.bold ? 600 : 400,
            stroke: mark.halo ?? palette.halo,
            "stroke-width": 3,
            "stroke-linejoin": "round",
            "paint-order": "stroke",
            "unicode-bidi": "plaintext",
          },
          text,
        ),
      ];
    }
    case "box": {
      const [x0, x1] = [frame.x(mark.from[0]), frame.x(mark.to[0])];
      const [y0, y1] = [frame.y(mark.from[1]), frame.y(mark.to[1])];
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
