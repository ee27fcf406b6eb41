/**
 * Which level is best: the twin of `rocscope.geometry.touching`.
 *
 * Sums of weights reach the page rounded to float64, and are compared exactly as they are there. Which levels are
 * vertices of the hull was decided before, by the sums that are not rounded.
 */

import { type Context, expectedCost, falseAlarmCost, missCost, prevalenceOf, ratesOfExchange } from "./context";
import { depthAt, firstWhere, inSmallest, type Levels, ratesAt, samplePrevalence } from "./levels";

type Place = ReturnType<typeof place>;

/**
 * A level among others, as fractions of whole numbers: nothing is decided by rounding, and a tie is one as in Python.
 * `loss` is what it costs beyond predicting nobody positive, in units of `of`.
 */
function place(levels: Levels, index: number, context: Context) {
  const whole = levels.whole ? BigInt : inSmallest;
  const [tp, fp] = [whole(levels.tp[index] ?? 0), whole(levels.fp[index] ?? 0)];
  const [nPos, nNeg] = [whole(levels.nPos), whole(levels.nNeg)];
  const { gain, cost } = ratesOfExchange(context, nPos, nNeg);
  const n = nPos + nNeg;
  return { loss: fp * cost - tp * gain, of: context.target_prevalence === null ? n : nPos * nNeg, positive: tp + fp, n };
}

/** The rule: lowest cost; among equals fewest predicted positive. */
function before(a: Place, b: Place): boolean {
  const dearer = a.loss * b.of - b.loss * a.of;
  return dearer < 0n || (dearer === 0n && a.positive * b.n < b.positive * a.n);
}

/** Index of the level where the line of equal cost touches the curve of one model. */
export function bestLevel(levels: Levels, context: Context): number {
  if (missCost(context) === 0 && falseAlarmCost(context) < 0) return levels.fp.indexOf(levels.nNeg); // the one line that touches from below
  const vertex = (i: number): Place => place(levels, levels.hull[i]!, context);
  return levels.hull[firstWhere(0, levels.hull.length - 1, (i) => !before(vertex(i + 1), vertex(i)))] ?? 0;
}

export function costAt(levels: Levels, index: number, context: Context): number {
  return expectedCost(context, ...ratesAt(levels, index), samplePrevalence(levels));
}

export interface Choice { readonly model: number; readonly level: number }

/**
 * The best of several models' levels; of equals the model given first.
 *
 * @param candidates one level of each model, or none where the model is left out
 */
export function cheapest(models: readonly Levels[], candidates: readonly (number | null)[], context: Context): Choice | null {
  let best: Choice | null = null;
  let least: Place | null = null;
  models.forEach((levels, model) => {
    const level = candidates[model];
    if (level === null || level === undefined) return;
    const own = place(levels, level, context);
    if (least === null || before(own, least)) [best, least] = [{ model, level }, own];
  });
  return best;
}

/** The best level whose share of positive predictions does not exceed `most`; of the points kept. */
export function bestWithin(levels: Levels, context: Context, most: number): number {
  const free = bestLevel(levels, context);
  const share = prevalenceOf(context, samplePrevalence(levels));
  if (depthAt(levels, free, share) <= most) return free;
  let best = 0;
  for (let i = 1; i < levels.size && depthAt(levels, i, share) <= most; i++) {
    if (before(place(levels, i, context), place(levels, best, context))) best = i;
  }
  return best;
}

/**
 * A cost that no level within a share of positive predictions is below, the levels left out included.
 *
 * @param deviation how far a level left out may be from the line between its neighbours: (tpr + d, fpr - d), |d| at most that
 */
export function leastWithin(levels: Levels, context: Context, most: number, deviation: number): number {
  const share = prevalenceOf(context, samplePrevalence(levels));
  const depth = (i: number): number => depthAt(levels, i, share);
  const cost = (i: number): number => costAt(levels, i, context);
  const found = bestWithin(levels, context, most);
  if (deviation === 0 || found === bestLevel(levels, context)) return cost(found);
  const limit = most + Math.abs(2 * share - 1) * deviation;
  let [least, i] = [Infinity, 0];
  for (; i < levels.size && depth(i) <= limit; i++) least = Math.min(least, cost(i));
  const part = i < levels.size ? (limit - depth(i - 1)) / (depth(i) - depth(i - 1)) : 0;
  const end = cost(i - 1) + part * (cost(Math.min(i, levels.size - 1)) - cost(i - 1));
  return Math.min(least, end) - deviation * (share * missCost(context) + (1 - share) * falseAlarmCost(context));
}

export interface Region {
  /** Index of the model, or -1 for "nobody positive" and "everybody positive". */
  readonly model: number;
  readonly level: number;
  readonly tpr: number;
  readonly fpr: number;
  /** The slopes of the iso-performance lines for which this vertex is best, from low to high. */
  readonly low: number;
  readonly high: number;
}

/** Vertices of the hull over all models, from the largest slopes (nobody positive) to 0 (everybody). */
export function regions(models: readonly (Levels | null)[]): Region[] {
  const points: Omit<Region, "low" | "high">[] = [];
  models.forEach((levels, model) => {
    levels?.hull.forEach((level) => {
      const [tpr, fpr] = ratesAt(levels, level);
      const trivial = (tpr === 0 && fpr === 0) || (tpr === 1 && fpr === 1);
      points.push({ model: trivial ? -1 : model, level, tpr, fpr });
    });
  });
  points.sort((a, b) => a.fpr - b.fpr || a.tpr - b.tpr || b.model - a.model);
  const hull: typeof points = [];
  for (const point of points) {
    while (hull.length > 1 && !turnsRight(hull.at(-2)!, hull.at(-1)!, point)) hull.pop();
    if (hull.length === 1 && hull[0]!.fpr === point.fpr && point.tpr <= hull[0]!.tpr) continue;
    hull.push(point);
  }
  const slopes = hull.slice(1).map((point, i) => (point.tpr - hull[i]!.tpr) / (point.fpr - hull[i]!.fpr));
  return hull
    .map((point, i) => ({ ...point, high: slopes[i - 1] ?? Infinity, low: slopes[i] ?? 0 }))
    .filter((region) => region.high > region.low);
}

type Spot = Pick<Region, "tpr" | "fpr">;

function turnsRight(a: Spot, b: Spot, c: Spot): boolean {
  const cross = (b.fpr - a.fpr) * (c.tpr - a.tpr) - (b.tpr - a.tpr) * (c.fpr - a.fpr);
  return cross < -1e-15;
}

/** Regions of one owner that follow each other, as one. */
export function slopeRanges(all: readonly Region[]): Region[] {
  const merged: Region[] = [];
  for (const region of all) {
    const last = merged.at(-1);
    if (last && last.model === region.model && region.model >= 0) {
      merged[merged.length - 1] = { ...last, low: region.low };
    } else merged.push(region);
  }
  return merged;
}
