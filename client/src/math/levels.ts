/** The counts of one model at its kept thresholds, and the rates that follow from them. */

import { Z } from "../constants.json";
import { binaryParts } from "./context";

export interface Levels {
  /** Number of points; the first predicts nobody positive and has the threshold infinity. */
  readonly size: number;
  readonly threshold: Float64Array;
  readonly tp: Float64Array;
  readonly fp: Float64Array;
  /** The next lower score of the data, -∞ below the last; NaN where it is not known. */
  readonly next: Float64Array;
  readonly tpr: Float64Array;
  readonly fpr: Float64Array;
  readonly nPos: number;
  readonly nNeg: number;
  /** Indices of the vertices of the ROC hull, from (0, 0) to (1, 1). */
  readonly hull: Int32Array;
  /** Whether all counts are whole numbers: unless rows are weighted. */
  readonly whole: boolean;
}

export function makeLevels(threshold: Float64Array, tp: Float64Array, fp: Float64Array, hull: Int32Array, following?: Float64Array): Levels {
  const size = threshold.length;
  const nPos = tp[size - 1] ?? 0;
  const nNeg = fp[size - 1] ?? 0;
  const whole = tp.every(Number.isInteger) && fp.every(Number.isInteger);
  const tpr = tp.map((count) => count / nPos);
  const fpr = fp.map((count) => count / nNeg);
  const next = following ?? Float64Array.of(...threshold.subarray(1), -Infinity); // all scores are there
  return { size, threshold, tp, fp, next, tpr, fpr, nPos, nNeg, hull, whole };
}

/** A count as a whole number of 2^-1074, the smallest of all floats: nothing is rounded, whatever the weights. */
export function inSmallest(count: number): bigint {
  const [digits, exponent] = binaryParts(count);
  return digits << BigInt(exponent);
}

export function samplePrevalence(levels: Levels): number {
  return levels.nPos / (levels.nPos + levels.nNeg);
}

export function ratesAt(levels: Levels, level: number): [tpr: number, fpr: number] {
  return [levels.tpr[level] ?? 0, levels.fpr[level] ?? 0];
}

/** The score from which a level predicts positive; everybody is everybody, whatever new scores are. */
export function thresholdAt(levels: Levels, level: number): number {
  return level === levels.size - 1 ? -Infinity : (levels.threshold[level] ?? Infinity);
}

/** Share of cases predicted positive at a level, where a share of all is positive. */
export function depthAt(levels: Levels, level: number, share: number): number {
  const [tpr, fpr] = ratesAt(levels, level);
  return share * tpr + (1 - share) * fpr;
}

/** Index of the point that predicts positive iff score >= threshold, among the points kept. */
export function levelAt({ threshold, size }: Levels, score: number): number {
  return firstWhere(1, size, (i) => threshold[i]! < score) - 1;
}

/** Whether a score decides exactly as a level does, with nothing left out between them. */
export function isAt({ threshold, next }: Levels, level: number, score: number): boolean {
  return next[level]! < score && score <= threshold[level]!;
}

/** Index of the first point of a non-decreasing column that reaches `value`, or of the one before if nearer. */
export function nearest(column: (index: number) => number, size: number, value: number): number {
  const at = firstWhere(0, size - 1, (i) => column(i) >= value);
  return at > 0 && value - column(at - 1) < column(at) - value ? at - 1 : at;
}

export type Rates = ReturnType<typeof rates>;

/** Rates of a pair (tpr, fpr) at a prevalence; 0/0 is NaN. */
export function rates(tpr: number, fpr: number, prevalence: number) {
  const cells = cellsAt(tpr, fpr, prevalence, 1);
  const f1 = (2 * cells.tp) / (2 * cells.tp + cells.fp + cells.fn);
  return { ...ratesOf(cells), tpr, fpr, f1 };
}

/** Wilson interval of a proportion of whole counts at 95%. */
export function wilson(hits: number, n: number): [number, number] {
  const share = hits / n;
  const centre = share + Z ** 2 / (2 * n);
  const spread = Z * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n * n));
  const scale = 1 + Z ** 2 / n;
  return [hits > 0 ? (centre - spread) / scale : 0, hits < n ? (centre + spread) / scale : 1];
}

/** The first whole number in [low, high) from which on a condition holds; `high` where it never does. */
export function firstWhere(low: number, high: number, holds: (place: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export interface Cells { readonly tp: number; readonly fp: number; readonly fn: number; readonly tn: number }

/** Expected cells among `n` cases of which a share is positive. */
export function cellsAt(tpr: number, fpr: number, share: number, n: number): Cells {
  const [pos, neg] = [share * n, (1 - share) * n];
  return { tp: pos * tpr, fp: neg * fpr, fn: pos * (1 - tpr), tn: neg * (1 - fpr) };
}

/** The cells of a sample with these true and false positives. */
export function sampleCells({ nPos, nNeg }: Levels, [tp, fp]: readonly [tp: number, fp: number]): Cells {
  return { tp, fp, fn: nPos - tp, tn: nNeg - fp };
}

function ratesOf({ tp, fp, fn, tn }: Cells) {
  const [p, n] = [tp + fn, fp + tn];
  const [tpr, fpr, tnr, fnr] = [tp / p, fp / n, tn / n, fn / p];
  const [precision, npv] = [tp / (tp + fp), tn / (tn + fn)];
  return {
    ...{ tpr, fnr, fpr, tnr },
    prevalence: p / (p + n),
    depth: (tp + fp) / (p + n),
    ...{ precision, npv },
    accuracy: (tp + tn) / (p + n),
    error: (fp + fn) / (p + n),
    balanced_accuracy: (tpr + tnr) / 2,
    break_even: (precision + tpr) / 2,
    jaccard: tp / (tp + fp + fn),
    lift: precision / (p / (p + n)),
    youden: tpr - fpr,
    markedness: precision + npv - 1,
    mcc: (tp * tn - fp * fn) / Math.sqrt((tp + fp) * p * n * (tn + fn)),
    kappa: (2 * (tp * tn - fp * fn)) / ((tp + fp) * n + p * (fn + tn)),
    lr_positive: tpr / fpr,
    lr_negative: fnr / tnr,
    odds_ratio: (tp * tn) / (fp * fn),
  };
}

export function pointDict(cells: Cells, threshold: number): Record<string, number | null> {
  const all = Object.entries({ threshold, ...cells, ...ratesOf(cells) });
  return Object.fromEntries(all.map(([name, value]) => [name, Number.isFinite(value) ? value : null]));
}
