/** Where a context touches the hull, and which model wins. Mirrors `rocscope.geometry` and `rocscope.choose`. */

import { alwaysRight, type Context, expectedCost, falseAlarmCost, missCost, prevalenceOf, ratesOfExchange } from "./context";
import { depthAt, type Levels, ratesAt, samplePrevalence } from "./levels";

/**
 * Index of the level where the iso-performance line touches the hull of one model.
 *
 * Decided in whole numbers where counts are whole, so that ties go the same way as in Python: where the line lies
 * along a segment, the end with fewer positive predictions is taken.
 */
export function touchingLevel(levels: Levels, context: Context): number {
  if (falseAlarmCost(context) < 0) return levels.hull[levels.hull.length - 1] ?? 0;
  const worth = levels.whole ? exactWorth(levels, context) : roundedWorth(levels, context);
  let low = 0;
  let high = levels.hull.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (worth(levels.hull[middle] ?? 0, levels.hull[middle + 1] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return levels.hull[low] ?? 0;
}

/** The best level of a model: where costs make one action right whatever the scores, that action. */
export function bestLevel(levels: Levels, context: Context): number {
  const always = alwaysRight(context);
  if (always === null) return touchingLevel(levels, context);
  return always === "all positive" ? levels.size - 1 : 0;
}

type Worth = (from: number, to: number) => boolean;

function exactWorth(levels: Levels, context: Context): Worth {
  const { gain, cost } = ratesOfExchange(context, levels.nPos, levels.nNeg);
  const step = (column: Float64Array, from: number, to: number): bigint =>
    BigInt((column[to] ?? 0) - (column[from] ?? 0));
  return (from, to) => step(levels.tp, from, to) * gain > step(levels.fp, from, to) * cost;
}

function roundedWorth(levels: Levels, context: Context): Worth {
  const share = prevalenceOf(context, samplePrevalence(levels));
  const gain = (share * missCost(context)) / levels.nPos;
  const cost = ((1 - share) * falseAlarmCost(context)) / levels.nNeg;
  const step = (column: Float64Array, from: number, to: number): number => (column[to] ?? 0) - (column[from] ?? 0);
  return (from, to) => step(levels.tp, from, to) * gain > step(levels.fp, from, to) * cost;
}

/** A fraction whose denominator is positive, or a rounded number where counts are weighted. */
interface Cost {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly rounded: number;
}

/** Expected cost per case of a level. */
export function costAt(levels: Levels, index: number, context: Context): number {
  return expectedCost(context, ...ratesAt(levels, index), samplePrevalence(levels));
}

function exactCost(levels: Levels, index: number, context: Context): Cost {
  const rounded = costAt(levels, index, context);
  if (!levels.whole) return { numerator: 0n, denominator: 0n, rounded };
  const { gain, cost } = ratesOfExchange(context, levels.nPos, levels.nNeg);
  const numerator = BigInt(levels.fp[index] ?? 0) * cost - BigInt(levels.tp[index] ?? 0) * gain;
  const size =
    context.prevalence === null
      ? BigInt(levels.nPos + levels.nNeg)
      : BigInt(levels.nPos) * BigInt(levels.nNeg);
  return { numerator, denominator: size, rounded };
}

function compare(a: Cost, b: Cost): number {
  if (a.denominator === 0n || b.denominator === 0n) return a.rounded - b.rounded;
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export interface Choice {
  readonly model: number;
  readonly level: number;
}

/**
 * The cheapest of several models' levels; of equals the one with fewest positive predictions, then the first.
 *
 * @param candidates one level of each model, or none where the model is left out
 */
export function cheapest(
  models: readonly Levels[],
  candidates: readonly (number | null)[],
  context: Context,
): Choice | null {
  let best: Choice | null = null;
  let bestCost: Cost | null = null;
  models.forEach((levels, model) => {
    const level = candidates[model];
    if (level === null || level === undefined) return;
    const cost = exactCost(levels, level, context);
    const order = bestCost === null ? -1 : compare(cost, bestCost);
    if (order < 0 || (order === 0 && best && fewer(levels, level, models, best))) {
      best = { model, level };
      bestCost = cost;
    }
  });
  return best;
}

function fewer(levels: Levels, level: number, models: readonly Levels[], best: Choice): boolean {
  const other = models[best.model];
  if (!other) return false;
  const depth = (l: Levels, i: number): number => (l.tp[i] ?? 0) + (l.fp[i] ?? 0);
  return depth(levels, level) < depth(other, best.level);
}

/** The best level whose share of positive predictions does not exceed `most`; of the points kept. */
export function bestWithin(levels: Levels, context: Context, most: number): number {
  const free = bestLevel(levels, context);
  const share = prevalenceOf(context, samplePrevalence(levels));
  if (depthAt(levels, free, share) <= most) return free;
  let best = 0;
  let lowest = Infinity;
  for (let i = 0; i < levels.size && depthAt(levels, i, share) <= most; i++) {
    const cost = costAt(levels, i, context);
    if (cost < lowest) [best, lowest] = [i, cost];
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
