/** What a chart shows, in the units of its data: no pixels here. */

import { scaleLinear, type ScaleLinear } from "d3-scale";

export type Column = ArrayLike<number>;
export type Point = readonly [x: number, y: number];

export interface Axis {
  readonly label: string;
  readonly domain: readonly [number, number];
  readonly format: (value: number) => string;
  /** Whether values are exponents, of which only whole ones are marked. */
  readonly powers?: boolean;
  readonly ticks?: readonly number[];
}

export interface Series {
  readonly x: Column;
  readonly y: Column;
  readonly stroke: string;
  readonly dash?: readonly number[];
  readonly width?: number;
  readonly alpha?: number;
  /** Where it is an area: the other edge at each x. */
  readonly base?: Column;
  /** A name to write beside the line. */
  readonly name?: string;
  /** Where its points are to be drawn, if not where the columns say. */
  readonly through?: Through;
}

/** A point (x, y) is drawn at (a·x + c·y, b·x + d·y + f): one curve is many, in other units. */
export interface Through {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly f: number;
}

/** The columns of a series as they are drawn. */
export function columnsOf({ x, y, through }: Series): { readonly x: Column; readonly y: Column } {
  if (!through) return { x, y };
  const { a, b, c, d, f } = through;
  const turn = (one: number, two: number, more: number): Float64Array => Float64Array.from(x, (value, i) => one * value + two * y[i]! + more);
  return { x: turn(a, c, 0), y: turn(b, d, f) };
}

export interface Scene {
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

export type Mark =
  | { kind: "line"; from: Point; to: Point; stroke: string; dash?: readonly number[]; width?: number; role?: string }
  | { kind: "dot" | "square"; at: Point; fill: string; stroke: string; r?: number; role?: string }
  | { kind: "whisker"; at: Point; low: number; high: number; stroke: string }
  | {
      kind: "text";
      at: Point;
      text: string;
      fill: string;
      anchor?: "start" | "middle" | "end";
      dx?: number;
      dy?: number;
      bold?: boolean;
      /** What shows between the letters and what they are written over; that of the card by default. */
      halo?: string;
      /** Shortened to fit between two x, or left out. */
      within?: readonly [number, number];
    }
  | { kind: "box"; from: Point; to: Point; fill: string; alpha?: number; role?: string };

/** Width and height in units, of so many pixels each: letters and lines grow with the text of the page. */
export interface Size {
  readonly width: number;
  readonly height: number;
  readonly unit: number;
}

export interface Margin {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export type Scale = ScaleLinear<number, number>;

/** The two scales of a scene and the rectangle between its axes, in pixels. */
export interface Frame {
  readonly x: Scale;
  readonly y: Scale;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** The values that are marked. */
  readonly ticks: { readonly x: readonly number[]; readonly y: readonly number[] };
  /** The scales as sums and products, where 0 comes to lie and how far apart wholes: a drag draws thousands of points. */
  readonly straight: { readonly x: readonly [number, number]; readonly y: readonly [number, number] };
}

export function makeFrame(scene: Scene, size: Size, margin: Margin): Frame {
  const width = Math.max(10, size.width - margin.left - margin.right);
  const height = Math.max(10, size.height - margin.top - margin.bottom);
  const x = scaleLinear(scene.x.domain, [0, width]);
  const y = scaleLinear(scene.y.domain, [height, 0]);
  return {
    x,
    y,
    ticks: { x: ticksOf(scene.x, x, width), y: ticksOf(scene.y, y, height) },
    straight: { x: straight(scene.x.domain, 0, width), y: straight(scene.y.domain, height, 0) },
    left: margin.left,
    top: margin.top,
    width,
    height,
  };
}

function straight([from, to]: readonly [number, number], start: number, end: number): [number, number] {
  const slope = (end - start) / (to - from);
  return [start - from * slope, slope];
}

function ticksOf(axis: Axis, scale: Scale, room: number): readonly number[] {
  if (axis.ticks) return axis.ticks;
  const ticks = scale.ticks(Math.max(2, Math.floor(room / 62)));
  return axis.powers ? ticks.filter(Number.isInteger) : ticks;
}

/** The straight line of a slope through a point, cut to a rectangle; slope infinity is vertical. */
export function across(at: Point, slope: number, x: readonly [number, number], y: readonly [number, number]): [Point, Point] {
  if (!Number.isFinite(slope)) return [[at[0], y[0]], [at[0], y[1]]];
  const height = (px: number): number => at[1] + slope * (px - at[0]);
  const place = (py: number): number => at[0] + (py - at[1]) / slope;
  const end = (px: number): Point => {
    const py = height(px);
    if (py > y[1]) return [place(y[1]), y[1]];
    return py < y[0] ? [place(y[0]), y[0]] : [px, py];
  };
  return [end(x[0]), end(x[1])];
}
