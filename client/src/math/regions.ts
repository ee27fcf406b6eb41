/** Which model wins for which slope: the common hull of all models. */

import { type Levels, ratesAt } from "./levels";

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
    while (hull.length > 1 && !turnsRight(hull[hull.length - 2]!, hull[hull.length - 1]!, point)) hull.pop();
    if (hull.length === 1 && hull[0]!.fpr === point.fpr && point.tpr <= hull[0]!.tpr) continue;
    hull.push(point);
  }
  const slopes = hull.slice(1).map((point, i) => (point.tpr - hull[i]!.tpr) / (point.fpr - hull[i]!.fpr));
  return hull
    .map((point, i) => ({ ...point, high: slopes[i - 1] ?? Infinity, low: slopes[i] ?? 0 }))
    .filter((region) => region.high > region.low);
}

type Spot = { readonly tpr: number; readonly fpr: number };

function turnsRight(a: Spot, b: Spot, c: Spot): boolean {
  const cross = (b.fpr - a.fpr) * (c.tpr - a.tpr) - (b.tpr - a.tpr) * (c.fpr - a.fpr);
  return cross < -1e-15;
}

/** Regions of one owner that follow each other, as one. */
export function slopeRanges(all: readonly Region[]): Region[] {
  const merged: Region[] = [];
  for (const region of all) {
    const last = merged[merged.length - 1];
    if (last && last.model === region.model && region.model >= 0) {
      merged[merged.length - 1] = { ...last, low: region.low };
    } else merged.push(region);
  }
  return merged;
}
