/** Curves of folds, averaged: the twin of `rocscope.evaluation.average_curve`, of the points that the page has. */

import { AVERAGE_POINTS } from "../constants.json";
import { studentQuantile } from "../count/special";
import { firstWhere, levelAt, type Levels } from "./levels";

export interface Averaged { readonly x: readonly number[]; readonly y: readonly number[]; readonly low: readonly number[]; readonly high: readonly number[] }

const GRID = Array.from({ length: AVERAGE_POINTS }, (_, i) => i / (AVERAGE_POINTS - 1));

/** The true positive rate at a false positive rate, on straight lines; where the curve is vertical, at its top. */
export function tprAt({ fpr, tpr, size }: Levels, x: number): number {
  const low = firstWhere(1, size, (i) => fpr[i]! > x) - 1;
  if (low === size - 1) return tpr[low]!;
  const share = (x - fpr[low]!) / (fpr[low + 1]! - fpr[low]!);
  return tpr[low]! + share * (tpr[low + 1]! - tpr[low]!);
}

/** Mean true positive rate at each false positive rate. */
export function vertical(folds: readonly Levels[]): Averaged {
  return across(GRID, GRID.map((x) => folds.map((levels) => tprAt(levels, x))));
}

/** Mean point at each of some thresholds. */
export function byThreshold(folds: readonly Levels[], thresholds: ArrayLike<number>): Averaged {
  const at = Array.from(thresholds, (threshold) => folds.map((levels) => levelAt(levels, threshold)));
  const x = at.map((places) => mean(places.map((level, k) => folds[k]!.fpr[level]!)));
  return across(x, at.map((places) => places.map((level, k) => folds[k]!.tpr[level]!)));
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Means with mean ± t s / √K, from the standard deviation s of K folds, which count the same. */
function across(x: readonly number[], y: readonly (readonly number[])[]): Averaged {
  const folds = y[0]?.length ?? 0;
  const t = folds > 1 ? studentQuantile(folds - 1, 0.025) : NaN;
  const middle = y.map(mean);
  const reach = y.map((values, i) => t * Math.sqrt(values.reduce((sum, value) => sum + (value - middle[i]!) ** 2, 0) / (folds - 1) / folds));
  const clip = (value: number): number => Math.min(1, Math.max(0, value));
  return { x, y: middle, low: middle.map((value, i) => clip(value - reach[i]!)), high: middle.map((value, i) => clip(value + reach[i]!)) };
}
