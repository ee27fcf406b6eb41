/** Names written beside their lines, where they hide least. */

import { shorten } from "../format";
import { columnsOf, type Frame, type Mark, type Point, type Scene, type Series } from "./scene";

const HEIGHT = 15; // pixels of a label, with letters of 13
const PLACES = 24; // of a line that are tried: a choice
const LONGEST = 22; // characters of a name: a choice, as Python writes 32 in a legend
/** Pixels between the points that stand for a line. */
const STEP = 4;
const MOST = 20;
/** A name farther than this from its line, in pixels, has a leader line. */
const AWAY = 12;

interface Box { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number }

interface Dot { readonly x: number; readonly y: number }

/** One label a named series, none where there is no free place. */
export function directLabels(scene: Scene, shown: readonly Mark[], frame: Frame, measure: (text: string) => number): Mark[] {
  const lines = scene.series.filter(({ name, base, alpha, dash }) => name || !(base || alpha || dash)); // what is faint or dashed may be written upon
  const dots = lines.map((series) => ({ series, dots: sample(series, frame) }));
  const hiddenBy = crowd([...dots.flatMap((line) => line.dots), ...shown.flatMap((mark) => around(mark, frame))]);
  const taken: Box[] = [];
  const marks: Mark[] = [];
  for (const { series, dots: own } of dots.reverse()) {
    if (!series.name || taken.length >= MOST) continue;
    const text = shorten(series.name, LONGEST);
    const best = bestPlace(own, measure(text) + 2, frame, taken, hiddenBy);
    if (!best) continue;
    const { box, dot } = best;
    taken.push(box);
    const at = (x: number, y: number): Point => [frame.x.invert(x), frame.y.invert(y)];
    if (box.left - dot.x > AWAY) marks.push({ kind: "line", from: at(dot.x, dot.y), to: at(box.left - 2, box.top + HEIGHT / 2), stroke: series.stroke, width: 1, role: "leader" });
    marks.push({ kind: "text", at: at(box.left + 1, box.bottom - 3), text, full: series.name, fill: series.stroke });
  }
  return marks;
}

/** Marks are not to be written upon; a dot is wider than a line. */
function around(mark: Mark, frame: Frame): Dot[] {
  if (mark.kind === "line") {
    const inside = (y: number): number => Math.min(frame.height, Math.max(0, frame.y(y)));
    return between({ x: frame.x(mark.from[0]), y: inside(mark.from[1]) }, { x: frame.x(mark.to[0]), y: inside(mark.to[1]) });
  }
  if (mark.kind !== "dot" && mark.kind !== "square") return [];
  const [x, y] = [frame.x(mark.at[0]), frame.y(mark.at[1])];
  return [-5, 0, 5].flatMap((dx) => [-5, 0, 5].map((dy) => ({ x: x + dx, y: y + dy })));
}

/** Points along a line about a step apart; of the thousands that a curve has, those nearer to the last one are passed by. */
function sample(series: Series, frame: Frame): Dot[] {
  const dots: Dot[] = [];
  let last: Dot | null = null;
  const { x, y } = columnsOf(series);
  for (let i = 0; i < x.length; i++) {
    const [left, top] = [frame.x(x[i]!), frame.y(y[i]!)];
    if (!Number.isFinite(left + top) || (last && Math.abs(left - last.x) + Math.abs(top - last.y) < STEP)) continue;
    const next = { x: left, y: top };
    dots.push(...between(last ?? next, next));
    last = next;
  }
  return dots;
}

/** Points on the way from one to another, without the first. */
function between(from: Dot, to: Dot): Dot[] {
  const steps = Math.min(200, Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / STEP)));
  const at = (share: number): Dot => ({ x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share });
  return Array.from({ length: steps }, (_, i) => at((i + 1) / steps));
}

function bestPlace(own: readonly Dot[], width: number, frame: Frame, taken: readonly Box[], hiddenBy: (box: Box) => number): { box: Box; dot: Dot } | null {
  let best: { box: Box; dot: Dot } | null = null;
  let least = Infinity;
  for (let place = 3; place < PLACES - 2; place++) {
    const dot = own[Math.floor((place / PLACES) * own.length)];
    if (!dot) continue;
    for (const [far, box] of boxesAround(dot, width).entries()) {
      if (box.left < 2 || box.top < 2 || box.right > frame.width - 2 || box.bottom > frame.height - 2) continue;
      if (taken.some((other) => overlap(box, other))) continue;
      const score = hiddenBy(box) + Math.abs(place / PLACES - 0.45) * 2 + Math.max(0, far - 3) * 2;
      if (score < least) [best, least] = [{ box, dot }, score];
    }
  }
  return least < 8 ? best : null;
}

function boxesAround({ x, y }: Dot, width: number): Box[] {
  const [right, left, below, above] = [x + 6, x - 6 - width, y + 3, y - 3 - HEIGHT];
  const corners = [[right, below], [left, above], [right, above], [left, below], [x + 18, y + 6], [x + 30, y + 18], [x + 44, y + 34]] as const;
  return corners.map(([at, top]) => ({ left: at, top, right: at + width, bottom: top + HEIGHT }));
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right + 4 && b.left < a.right + 4 && a.top < b.bottom && b.top < a.bottom;

const CELL = 4; // pixels: the same as a step between points, so that each is counted once

/** A function that counts the points in a box: they are counted by cell before, as hundreds of boxes are tried. */
function crowd(dots: readonly Dot[]): (box: Box) => number {
  const counts = new Map<number, number>();
  const cell = (value: number): number => Math.floor(value / CELL);
  const key = (column: number, row: number): number => column * 10_000 + row;
  for (const { x, y } of dots) counts.set(key(cell(x), cell(y)), (counts.get(key(cell(x), cell(y))) ?? 0) + 1);
  return ({ left, right, top, bottom }) => {
    let sum = 0;
    for (let column = cell(left); column <= cell(right); column++) {
      for (let row = cell(top); row <= cell(bottom); row++) sum += counts.get(key(column, row)) ?? 0;
    }
    return sum;
  };
}
