/** What a chart shows, in the units of its data: no pixels here. */

export type Column = ArrayLike<number>;
export type Point = readonly [x: number, y: number];

export interface Axis {
  readonly label: string;
  readonly domain: readonly [number, number];
  readonly format: (value: number) => string;
  /** Whether values are exponents, of which only whole ones are marked. */
  readonly powers?: boolean;
  readonly ticks?: readonly number[];
  /** Whether equal ratios have equal lengths. */
  readonly log?: boolean;
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
  readonly name?: string;
  readonly through?: Through;
}

/** A point (x, y) is drawn at (a·x + c·y, b·x + d·y + f): one curve is many, in other units. */
export interface Through { readonly a: number; readonly b: number; readonly c: number; readonly d: number; readonly f: number }

export const AS_IT_IS: Through = { a: 1, b: 0, c: 0, d: 1, f: 0 };

export function columnsOf({ x, y, through }: Series): { readonly x: Column; readonly y: Column } {
  if (!through) return { x, y };
  const { a, b, c, d, f } = through;
  const turned = { x: new Float64Array(x.length), y: new Float64Array(x.length) };
  for (let i = 0; i < x.length; i++) {
    turned.x[i] = a * x[i]! + c * y[i]!;
    turned.y[i] = b * x[i]! + d * y[i]! + f;
  }
  return turned;
}

export interface Scene { readonly x: Axis; readonly y: Axis; readonly series: readonly Series[] }

export type Mark =
  | { kind: "line"; from: Point; to: Point; stroke: string; dash?: readonly number[]; width?: number; role?: string }
  | { kind: "dot" | "square"; at: Point; fill: string; stroke: string; r: number; role?: string }
  | { kind: "whisker"; at: Point; low: number; high: number; stroke: string }
  | {
      kind: "text";
      at: Point;
      text: string;
      /** The whole name where the text is shortened: its tooltip. */
      full?: string;
      fill: string;
      /** What shows between the letters and what they are written over; that of the card by default. */
      halo?: string;
      /** Centred between two x; shortened to fit between them, or left out. */
      within?: readonly [number, number];
    }
  | { kind: "box"; from: Point; to: Point; fill: string; alpha?: number; role?: string };

/** Width and height in units, of so many pixels each: letters and lines grow with the text of the page. */
export interface Size { readonly width: number; readonly height: number; readonly unit: number }

export interface Margin { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number }

/** A scale from data to pixels: offset + slope · value, or of the logarithm of the value. */
export interface Scale {
  (value: number): number;
  readonly invert: (pixel: number) => number;
  readonly offset: number;
  readonly slope: number;
  readonly log: boolean;
}

function linearScale([from, to]: readonly [number, number], start: number, end: number): Scale {
  const slope = (end - start) / (to - from);
  const offset = start - from * slope;
  return Object.assign((value: number) => offset + slope * value, { invert: (pixel: number) => (pixel - offset) / slope, offset, slope, log: false });
}

function scaleOf({ domain, log }: Axis, start: number, end: number): Scale {
  if (!log) return linearScale(domain, start, end);
  const powers = linearScale([Math.log10(domain[0]), Math.log10(domain[1])], start, end);
  return Object.assign((value: number) => powers(Math.log10(value)), { ...powers, invert: (pixel: number) => 10 ** powers.invert(pixel), log });
}

/** The two scales of a scene, the rectangle between its axes in pixels, and the values that have a tick. */
export type Frame = Readonly<ReturnType<typeof makeFrame>>;

export function makeFrame(scene: Scene, size: Size, { left, right, top, bottom }: Margin) {
  const width = Math.max(10, size.width - left - right);
  const height = Math.max(10, size.height - top - bottom);
  const x = scaleOf(scene.x, 0, width);
  const y = scaleOf(scene.y, height, 0);
  return { x, y, ticks: { x: ticksOf(scene.x, width), y: ticksOf(scene.y, height) }, left, top, width, height };
}

/** Pixels per tick: fewer and the labels of an axis touch. */
const TICK_ROOM = 90;

function ticksOf({ label, format, ticks, domain, powers, log }: Axis, room: number): readonly number[] {
  if (ticks) return ticks;
  if (log) return ticksOf({ label, format, domain: [Math.log10(domain[0]), Math.log10(domain[1])], powers: true }, room).map((power) => 10 ** power);
  const found = roundNumbers(domain, Math.max(2, Math.floor(room / TICK_ROOM)));
  return powers ? found.filter(Number.isInteger) : found;
}

/** About `count` multiples of 1, 2 or 5 times a power of ten: of these steps the one nearest in ratio to an even split. */
export function roundNumbers([from, to]: readonly [number, number], count: number): number[] {
  const step = (to - from) / count;
  const power = Math.floor(Math.log10(step));
  const rest = step / 10 ** power;
  const factor = rest >= Math.sqrt(50) ? 10 : rest >= Math.sqrt(10) ? 5 : rest >= Math.SQRT2 ? 2 : 1;
  const whole = 10 ** Math.abs(power); // divided by where steps are below 1, so that 3 steps of 0.1 are 0.3
  const multiple = (i: number): number => (power < 0 ? (i * factor) / whole : i * factor * whole);
  const first = Math.ceil(from / multiple(1) - 1e-9);
  const last = Math.floor(to / multiple(1) + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => multiple(first + i));
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
