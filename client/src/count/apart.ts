/** Ranking of rows of one weight: each class sorted by itself, as plain values, and both merged. */

import { isBig, type Numbers, type Values } from "./numbers";
import type { Ranked } from "./ranked";

/** Counts by distinct score of rows of weight 1. */
export function rankApart({ type, values }: Pick<Numbers, "type" | "values">, positive: Uint8Array): Ranked {
  const narrow = values instanceof Float32Array;
  const sides = apart(narrow ? ordered(values) : values, positive) as [Float64Array, Float64Array]; // or of another type, which are compared alike
  const [neg, pos] = sides;
  for (const side of sides) narrow ? sortWords(side as unknown as Uint32Array) : side.sort();
  const merged = merge(pos, neg);
  const threshold: Values = narrow ? asFloats(merged.threshold as unknown as Uint32Array) : merged.threshold;
  if (!narrow && !isBig(threshold)) for (let i = 0; i < threshold.length; i++) if (threshold[i] === 0) threshold[i] = 0; // of 0 and -0 the former
  return { ...merged, type, threshold, nPos: pos.length, nNeg: neg.length, weighted: false, exact: null };
}

/** The values of negative and of positive rows. */
function apart(values: Values, positive: Uint8Array): [Values, Values] {
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
