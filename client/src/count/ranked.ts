/** Counts of positives and negatives by distinct score, and what follows from them: the twin of Python's ThresholdCounts. */

import { asInt64, floats, increasing, isBig, isFloat, type Numbers, type NumberType, type Values } from "./numbers";

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

/** Counts of rows that weigh differently. Without weights `rankApart` finds the same sooner. */
export function rank({ type, values }: Pick<Numbers, "type" | "values">, positive: Uint8Array, weights: Weights | null): Ranked {
  const order = increasing(values);
  const used = weights ? order.filter((row) => weights.values[row]! > 0) : order; // rows of no weight change nothing
  const first = new Uint32Array(used.length); // row of each level
  const [pos, neg] = [new Float64Array(used.length), new Float64Array(used.length)];
  const units = weights && !weights.whole ? unitsOf(weights.values) : null;
  const [up, right]: [bigint[], bigint[]] = [[], []];
  let size = 0;
  let before: number | bigint | undefined;
  for (let i = used.length - 1; i >= 0; i--) {
    const row = used[i]!;
    const score = values[row]!;
    if (score !== before) first[size++] = row;
    before = score;
    const weight = weights ? weights.values[row]! : 1;
    if (positive[row]) pos[size - 1]! += weight;
    else neg[size - 1]! += weight;
    if (units) {
      const [here, there] = positive[row] ? [up, right] : [right, up];
      here[size - 1] = (here[size - 1] ?? 0n) + units(weight);
      there[size - 1] ??= 0n;
    }
  }
  const threshold = new (values.constructor as new (n: number) => Values)(size);
  const big = isBig(values);
  for (let i = 0; i < size; i++) threshold[i] = big ? values[first[i]!]! : values[first[i]!]! || 0; // of 0 and -0 the former
  const [posOf, negOf] = [pos.slice(0, size), neg.slice(0, size)];
  const [tp, fp] = [cumulative(posOf), cumulative(negOf)];
  const exact = units ? ([runningSums(up), runningSums(right)] as const) : null;
  return { type, threshold, pos: posOf, neg: negOf, tp, fp, nPos: tp[size - 1] ?? 0, nNeg: fp[size - 1] ?? 0, weighted: exact !== null, exact };
}

/** Of each row the level of its score, -1 where it weighs nothing. */
export function levelsOf({ threshold }: Ranked, values: Values, weights: Weights | null): Int32Array {
  const level = new Int32Array(values.length);
  const last = threshold.length - 1;
  for (let row = 0; row < level.length; row++) {
    const score = values[row]!;
    let [low, high] = [0, last];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (threshold[middle]! > score) low = middle + 1;
      else high = middle;
    }
    level[row] = weights && !weights.values[row] ? -1 : low;
  }
  return level;
}

function cumulative(column: Float64Array): Float64Array {
  const sums = new Float64Array(column.length);
  let total = 0;
  for (let i = 0; i < sums.length; i++) sums[i] = total += column[i]!;
  return sums;
}

function runningSums(column: readonly bigint[]): bigint[] {
  let total = 0n;
  return column.map((sum) => (total += sum));
}

const bits = new DataView(new ArrayBuffer(8));

/** A function that makes whole numbers of weights, in the largest power of two that is a unit of all of them. */
function unitsOf(weights: Float64Array): (weight: number) => bigint {
  let least = 4096;
  const split = (weight: number): [digits: bigint, exponent: number] => {
    bits.setFloat64(0, weight);
    const all = bits.getBigUint64(0);
    const exponent = Number((all >> 52n) & 2047n);
    const digits = all & 0xfffffffffffffn;
    return exponent > 0 ? [digits | 0x10000000000000n, exponent - 1] : [digits, 0];
  };
  for (const weight of weights) if (weight > 0) least = Math.min(least, split(weight)[1]);
  return (weight) => {
    const [digits, exponent] = split(weight);
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
      const [a, b] = [hull[hull.length - 2]!, hull[hull.length - 1]!];
      if ((y(b) - y(a)) * (x(next) - x(b)) > (y(next) - y(b)) * (x(b) - x(a))) break;
      hull.pop();
    }
    hull.push(next);
  }
  return Int32Array.from(hull);
}

/** The points of a curve that are enough to draw it and to find its best point: the twin of `rocscope.geometry.thin`. */
export interface Thinned {
  /** 0 is "nobody positive", i the i-th level. */
  readonly index: readonly number[];
  /** Where the vertices of the hull are among them. */
  readonly hull: Int32Array;
  readonly deviation: number;
}

export function thin(ranked: Ranked, most: number): Thinned {
  const { tp, fp, nPos, nNeg } = ranked;
  const size = tp.length;
  const along = (i: number): number => (i ? tp[i - 1]! / nPos + fp[i - 1]! / nNeg : 0);
  const above = (i: number): number => (i ? tp[i - 1]! / nPos - fp[i - 1]! / nNeg : 0);
  const vertices = corners(ranked);
  const every = size < most;
  let index: number[];
  if (every) index = Array.from({ length: size + 1 }, (_, i) => i);
  else {
    const wanted = [...Array.from({ length: most }, (_, i) => (i === most - 1 ? 2 : i * (2 / (most - 1)))), ...Array.from(vertices, along)];
    const chosen = new Set([0, firstAt(fp, nNeg) + 1]);
    for (const place of wanted) if (place > 0 && place <= along(size)) chosen.add(firstFrom(along, size, place));
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

function firstAt(column: Float64Array, value: number): number {
  return column.indexOf(value);
}

/** The first level from 1 on whose place along the curve is at least `value`. */
function firstFrom(along: (i: number) => number, size: number, value: number): number {
  let [low, high] = [1, size];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (along(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Share of pairs ranked right, a tied one counting one half. */
export function area({ pos, neg, tp, nPos, nNeg }: Ranked): number {
  let twice = 0;
  for (let i = 0; i < pos.length; i++) twice += neg[i]! * (2 * (tp[i]! - pos[i]!) + pos[i]!);
  return twice / (2 * nPos * nNeg);
}

export function averagePrecision({ pos, tp, fp, nPos }: Ranked): number {
  let total = 0;
  for (let i = 0; i < pos.length; i++) total += pos[i]! * (tp[i]! / (tp[i]! + fp[i]!));
  return total / nPos;
}

export function ks({ tp, fp, nPos, nNeg }: Ranked): number {
  let most = 0;
  for (let i = 0; i < tp.length; i++) most = Math.max(most, tp[i]! / nPos - fp[i]! / nNeg);
  return most;
}

/** True and false positives where scores of at least a threshold are predicted positive. */
export function atLeast({ threshold, tp, fp }: Ranked, score: number): [number, number] {
  let levels = 0;
  while (levels < threshold.length && threshold[levels]! >= score) levels++;
  return levels ? [tp[levels - 1]!, fp[levels - 1]!] : [0, 0];
}

export function areProbabilities({ threshold }: Ranked): boolean {
  return threshold[0]! <= 1 && threshold[threshold.length - 1]! >= 0;
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
