/** Counts of positives and negatives by distinct score, and what follows from them: the twin of Python's ThresholdCounts. */

import { binaryParts } from "../math/context";
import { firstWhere } from "../math/levels";
import { asInt64, floats, isBig, isFloat, keep, type Numbers, type NumberType, type Values } from "./table";

export interface Ranked {
  readonly type: NumberType;
  /** Distinct scores, from the highest down. */
  readonly threshold: Values;
  /** Positives and negatives (sums of weights) with exactly that score, and with at least it. */
  readonly pos: Float64Array;
  readonly neg: Float64Array;
  readonly tp: Float64Array;
  readonly fp: Float64Array;
  readonly nPos: number;
  readonly nNeg: number;
  /** Whether weights are no whole numbers; then what follows has the exact sums, in a common unit. */
  readonly weighted: boolean;
  readonly exact: readonly [tp: readonly bigint[], fp: readonly bigint[]] | null;
}

export interface Weights {
  readonly values: Float64Array;
  /** Whether they are of a type of whole numbers, so that sums of them are whole. */
  readonly whole: boolean;
}

/** Counts of rows with weights: the levels of the rows that have one, and the sums of weights of each. */
export function rank({ type, values }: Pick<Numbers, "type" | "values">, positive: Uint8Array, weights: Weights): Ranked {
  const used = Uint32Array.from(positive.keys()).filter((row) => weights.values[row]! > 0); // others change nothing
  const { threshold } = rankByClass({ type, values: keep(values, used) }, keep(positive, used));
  const levels = levelsOf(threshold, values, weights);
  const size = threshold.length;
  const [pos, neg] = [new Float64Array(size), new Float64Array(size)];
  const units = weights.whole ? null : unitsOf(weights.values);
  const [up, right] = [new Array<bigint>(size).fill(0n), new Array<bigint>(size).fill(0n)];
  for (let row = values.length - 1; row >= 0; row--) {
    const level = levels[row]!;
    if (level < 0) continue;
    (positive[row] ? pos : neg)[level]! += weights.values[row]!;
    if (units) (positive[row] ? up : right)[level]! += units(weights.values[row]!);
  }
  const [tp, fp] = [cumulative(pos), cumulative(neg)];
  const exact = units ? ([runningSums(up), runningSums(right)] as const) : null;
  return { type, threshold, pos, neg, tp, fp, nPos: tp[size - 1] ?? 0, nNeg: fp[size - 1] ?? 0, weighted: exact !== null, exact };
}

/** Counts of rows of weight 1: each class sorted by itself, as plain values, and both merged. */
export function rankByClass({ type, values }: Pick<Numbers, "type" | "values">, positive: Uint8Array): Ranked {
  const narrow = values instanceof Float32Array;
  const sides = byClass(narrow ? ordered(values) : values, positive) as [Float64Array, Float64Array]; // or of another type, which are compared alike
  const [neg, pos] = sides;
  for (const side of sides) narrow ? sortWords(side as unknown as Uint32Array) : side.sort();
  const merged = merge(pos, neg);
  const threshold: Values = narrow ? asFloats(merged.threshold as unknown as Uint32Array) : merged.threshold;
  if (!narrow && !isBig(threshold)) for (let i = 0; i < threshold.length; i++) if (threshold[i] === 0) threshold[i] = 0; // of 0 and -0 the former
  return { ...merged, type, threshold, nPos: pos.length, nNeg: neg.length, weighted: false, exact: null };
}

function byClass(values: Values, positive: Uint8Array): [Values, Values] {
  let n = 0;
  for (let i = 0; i < positive.length; i++) n += positive[i]!;
  const make = values.constructor as new (n: number) => Float64Array;
  const [neg, pos] = [new make(values.length - n), new make(n)];
  let [hits, rest] = [0, 0];
  for (let i = 0; i < positive.length; i++) {
    if (positive[i]) pos[hits++] = values[i] as number;
    else neg[rest++] = values[i] as number;
  }
  return [neg, pos];
}

/** Floats of 32 bits as words in their order; -0 equals 0. */
function ordered(values: Float32Array): Uint32Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length).slice();
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    words[i] = word >>> 31 && word !== 0x80000000 ? ~word : word | 0x80000000;
  }
  return words;
}

function asFloats(words: Uint32Array): Float32Array {
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    words[i] = word >>> 31 ? word & 0x7fffffff : ~word;
  }
  return new Float32Array(words.buffer, words.byteOffset, words.length);
}

/** Sort words by eleven bits of them at a time, which takes a fifth of the time of a sort by comparison. */
function sortWords(words: Uint32Array): void {
  const n = words.length;
  const places = [new Uint32Array(2049), new Uint32Array(2049), new Uint32Array(2049)] as const;
  const [low, middle, high] = places;
  for (let i = 0; i < n; i++) {
    const word = words[i]!;
    low[(word & 2047) + 1]!++;
    middle[((word >>> 11) & 2047) + 1]!++;
    high[(word >>> 22) + 1]!++;
  }
  let [from, to]: [Uint32Array, Uint32Array] = [words, new Uint32Array(n)];
  places.forEach((place, digit) => {
    for (let i = 0; i < 2048; i++) place[i + 1]! += place[i]!;
    const shift = 11 * digit;
    for (let i = 0; i < n; i++) {
      const word = from[i]!;
      to[place[(word >>> shift) & 2047]!++] = word;
    }
    [from, to] = [to, from];
  });
  words.set(from);
}

/** Count the distinct scores of both, from the highest down. Memory of what is not filled is never touched. */
function merge(high: Float64Array, low: Float64Array): Pick<Ranked, "pos" | "neg" | "tp" | "fp"> & { threshold: Float64Array } {
  const [hits, rest] = [high.length, low.length];
  const most = hits + rest;
  const threshold = new (high.constructor as new (n: number) => Float64Array)(most);
  const [pos, neg, tp, fp] = [new Float64Array(most), new Float64Array(most), new Float64Array(most), new Float64Array(most)];
  let [i, j, level] = [hits - 1, rest - 1, 0];
  while (i >= 0 || j >= 0) {
    const score = j < 0 || (i >= 0 && high[i]! >= low[j]!) ? high[i]! : low[j]!;
    const [above, below] = [i, j];
    while (i >= 0 && high[i] === score) i--;
    while (j >= 0 && low[j] === score) j--;
    threshold[level] = score;
    pos[level] = above - i;
    neg[level] = below - j;
    tp[level] = hits - 1 - i;
    fp[level] = rest - 1 - j;
    level++;
  }
  const filled = (column: Float64Array): Float64Array => column.subarray(0, level);
  return { threshold: filled(threshold), pos: filled(pos), neg: filled(neg), tp: filled(tp), fp: filled(fp) };
}

/** Of each row the level of its score, -1 where it weighs nothing. */
export function levelsOf(threshold: Values, values: Values, weights: Weights | null): Int32Array {
  const level = new Int32Array(values.length);
  const last = threshold.length - 1;
  for (let row = 0; row < level.length; row++) {
    const score = values[row]!;
    const low = firstWhere(0, last, (i) => threshold[i]! <= score);
    level[row] = weights && !weights.values[row] ? -1 : low;
  }
  return level;
}

export function cumulative(column: Float64Array): Float64Array {
  let total = 0;
  return column.map((value) => (total += value));
}

function runningSums(column: readonly bigint[]): bigint[] {
  let total = 0n;
  return column.map((sum) => (total += sum));
}

/** A function that makes whole numbers of weights, in the largest power of two that is a unit of all of them. */
function unitsOf(weights: Float64Array): (weight: number) => bigint {
  let least = 4096;
  for (const weight of weights) if (weight > 0) least = Math.min(least, binaryParts(weight)[1]);
  return (weight) => {
    const [digits, exponent] = binaryParts(weight);
    return digits << BigInt(exponent - least);
  };
}

/** Whether the way from a by b to c turns right at b, and so b is above the line from a to c: decided exactly. */
function corners({ pos, neg, tp, fp, exact, nPos, nNeg }: Ranked): Int32Array {
  const [up, right]: readonly [ArrayLike<number | bigint>, ArrayLike<number | bigint>] =
    exact ?? (nPos * nNeg < 2 ** 53 ? [tp, fp] : [Array.from(tp, BigInt), Array.from(fp, BigInt)]);
  const zero = (typeof up[0] === "bigint" ? 0n : 0) as number;
  const y = (i: number): number => (i ? up[i - 1] : zero) as number; // or bigint, of which the same is asked
  const x = (i: number): number => (i ? right[i - 1] : zero) as number;
  const hull = [0];
  for (let next = 1; next <= tp.length; next++) {
    if (next < tp.length && !(pos[next - 1]! > 0 && neg[next]! > 0)) continue; // not reached upwards, or not left to the right
    while (hull.length > 1) {
      const [a, b] = [hull.at(-2)!, hull.at(-1)!];
      if ((y(b) - y(a)) * (x(next) - x(b)) > (y(next) - y(b)) * (x(b) - x(a))) break;
      hull.pop();
    }
    hull.push(next);
  }
  return Int32Array.from(hull);
}

/**
 * The points of a curve that are enough to draw it and to find its best point: the twin of `rocscope.geometry.thin`.
 * Point 0 is "nobody positive", i the i-th level; `hull` has the places of its vertices among them.
 */
export function thin(ranked: Ranked, most: number, keep: readonly number[] = []): { index: readonly number[]; hull: Int32Array; deviation: number } {
  const { tp, fp, nPos, nNeg } = ranked;
  const size = tp.length;
  const along = (i: number): number => (i ? tp[i - 1]! / nPos + fp[i - 1]! / nNeg : 0);
  const above = (i: number): number => (i ? tp[i - 1]! / nPos - fp[i - 1]! / nNeg : 0);
  const vertices = corners(ranked);
  const every = size < most;
  let index: number[];
  if (every) index = Array.from({ length: size + 1 }, (_, i) => i);
  else {
    const wanted = [...Array.from({ length: most }, (_, i) => (i === most - 1 ? 2 : i * (2 / (most - 1)))), ...Array.from(vertices, along), ...keep.map(along)];
    const chosen = new Set([0, fp.indexOf(nNeg) + 1]);
    for (const place of wanted) if (place > 0 && place <= along(size)) chosen.add(firstWhere(1, size, (i) => along(i) >= place));
    index = [...chosen].sort((a, b) => a - b);
  }
  const place = new Map(index.map((level, i) => [level, i]));
  const hull = vertices.map((level) => place.get(level)!);
  let deviation = 0;
  if (!every) {
    for (let k = 1; k < index.length; k++) {
      const [from, to] = [index[k - 1]!, index[k]!];
      const [x, y] = [along(from), above(from)];
      const slope = (above(to) - y) / (along(to) - x);
      for (let i = from; i + 1 < to; i++) {
        const [up, right] = [tp[i]! / nPos, fp[i]! / nNeg]; // of the level after the i-th point
        const off = Math.abs(y + slope * (up + right - x) - (up - right));
        if (off > deviation) deviation = off;
      }
    }
  }
  return { index, hull, deviation: deviation / 2 };
}

const DEPTHS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/** The points from which the page reads exact numbers, also of a curve that is thinned: the twin of `report.model.levels_read`. */
export function levelsRead({ threshold, tp, fp, nPos, nNeg }: Ranked): number[] {
  const size = threshold.length;
  const share = nPos / (nPos + nNeg);
  const depth = (i: number): number => (i ? share * (tp[i - 1]! / nPos) + (1 - share) * (fp[i - 1]! / nNeg) : 0);
  const atLeast = (score: number): number => firstWhere(0, size, (i) => threshold[i]! < score);
  const reached = (part: number): number => Math.max(1, firstWhere(0, size, (i) => depth(i) >= part - 1e-12));
  const ends = DEPTHS.flatMap((part) => [reached(part) - 1, reached(part)]);
  return [...Array.from({ length: 99 }, (_, i) => atLeast((i + 1) / 100)), ...ends];
}

/** Share of pairs ranked right, a tied one counting one half. */
export function area({ pos, neg, tp, nPos, nNeg }: Ranked): number {
  const twice = pos.reduce((sum, hits, i) => sum + neg[i]! * (2 * (tp[i]! - hits) + hits), 0);
  return twice / (2 * nPos * nNeg);
}

export function averagePrecision({ pos, tp, fp, nPos }: Ranked): number {
  return pos.reduce((sum, hits, i) => sum + hits * (tp[i]! / (tp[i]! + fp[i]!)), 0) / nPos;
}

export function atLeast({ threshold, tp, fp }: Ranked, score: number): [number, number] {
  const levels = firstWhere(0, threshold.length, (i) => threshold[i]! < score);
  return levels ? [tp[levels - 1]!, fp[levels - 1]!] : [0, 0];
}

export function areProbabilities({ threshold }: Ranked): boolean {
  return threshold[0]! <= 1 && threshold.at(-1)! >= 0;
}

/** A hash of the counts of several models, as Python makes it: the same for the same data, another for any other. */
export async function fingerprint(models: ReadonlyMap<string, Ranked>, wholeCounts: boolean): Promise<string> {
  const parts: Uint8Array[] = [];
  const text = (part: string): number => parts.push(new TextEncoder().encode(part));
  for (const [name, { type, threshold, pos, neg }] of models) {
    text(name);
    text(type);
    const own = isBig(threshold) || !type.endsWith("64") || isFloat(type) ? threshold : type === "int64" ? asInt64(floats(threshold)) : BigUint64Array.from(floats(threshold), BigInt);
    parts.push(new Uint8Array(own.buffer, own.byteOffset, own.byteLength));
    for (const column of [pos, neg]) {
      text(wholeCounts ? "int64" : "float64");
      const counts = wholeCounts ? asInt64(column) : column;
      parts.push(new Uint8Array(counts.buffer, counts.byteOffset, counts.byteLength));
    }
  }
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(parts as BlobPart[]).arrayBuffer());
  return Array.from(new Uint8Array(digest).slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
