/** The calibration block of a report from counts: the twin of `rocscope.report.calibration`, but for what it draws by chance. */

import { LOESS_FLAT, LOESS_LEVELS, LOESS_NEAR, LOESS_ROUNDING, LOESS_SPAN, RECALIBRATION_GROUPS, RECALIBRATION_STEPS, RUG_STEPS, SMOOTH_POINTS } from "../constants.json";
import type { Calibration, Smooth } from "../data";
import { firstWhere } from "../math/levels";
import { betaincinv } from "./special";
import type { Numbers } from "./table";
import { areProbabilities, cumulative, type Ranked } from "./threshold_counts";

/** As many bins as `rocscope.calibration_curve` has by default. */
const BINS = 10;

/** Distinct probabilities from the lowest up, with positives and all rows at each. */
interface Outcomes { readonly score: Float64Array; readonly pos: Float64Array; readonly total: Float64Array; readonly type: Numbers["type"] }

/** What a calibration plot shows; of millions of levels only what is summed: bins, and the Brier score. */
export function calibrationOf(ranked: Ranked, summedOnly = false): Calibration | null {
  if (!areProbabilities(ranked)) return null;
  const { threshold, pos, neg, type } = ranked;
  const rows = ranked.nPos + ranked.nNeg;
  const rounded = type === "float32" ? Math.fround : Number;
  const equalWidths = binned(ranked, (bin, p) => p >= rounded((bin + 1) / BINS)); // [low, high), the last one closed
  const equalCounts: IsBeyond = (bin, _, below) => below >= (((bin + 1) * rows) / BINS) * (1 - 1e-12); // about: as `Outcomes.starts` has them
  const finer = equalWidths.some(({ n }) => n > rows / 2) ? binned(ranked, equalCounts) : [];
  const summed = { bins: finer.length > equalWidths.length ? finer : equalWidths, rug: rug(ranked) };
  const ece = sum(equalWidths.map(({ n, x, y }) => (n / rows) * Math.abs(x - y)));
  const numbers = { brier: brier(ranked) / rows, ece };
  if (summedOnly) return { ...summed, smooth: null, numbers: { ...numbers, ...NOT_KNOWN } };
  const last = pos.length - 1;
  const sample: Outcomes = {
    score: pos.map((_, i) => Number(threshold[last - i])),
    pos: pos.map((_, i) => pos[last - i]!),
    total: pos.map((_, i) => pos[last - i]! + neg[last - i]!),
    type,
  };
  return { ...summed, smooth: smooth(sample), numbers: { ...numbers, ...cox(sample) } };
}

const sum = (values: ArrayLike<number>): number => {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
};

function brier({ threshold, pos, neg }: Ranked): number {
  let loss = 0;
  for (let i = pos.length - 1; i >= 0; i--) {
    const p = Number(threshold[i]);
    loss += pos[i]! * (1 - p) * (1 - p) + neg[i]! * p * p;
  }
  return loss;
}

type Bin = Calibration["bins"][number];

/** Whether a level is beyond a bin, from its probability and the rows below it. */
type IsBeyond = (bin: number, p: number, below: number) => boolean;

function binned({ threshold, pos, neg }: Ranked, isBeyond: IsBeyond): Bin[] {
  const sums = Array.from({ length: BINS }, () => ({ pos: 0, n: 0, score: 0 }));
  let [bin, below] = [0, 0];
  for (let i = pos.length - 1; i >= 0; i--) {
    const [p, total] = [Number(threshold[i]), pos[i]! + neg[i]!];
    while (bin < BINS - 1 && isBeyond(bin, p, below)) bin++;
    below += total;
    const into = sums[bin]!;
    into.pos += pos[i]!;
    into.n += total;
    into.score += p * total;
  }
  return sums
    .filter(({ n }) => n > 0)
    .map(({ pos: hits, n, score: all }) => {
      const low = hits > 0 ? betaincinv(hits + 0.5, n - hits + 0.5, 0.025) : 0; // Jeffreys'
      const high = hits < n ? betaincinv(hits + 0.5, n - hits + 0.5, 0.975) : 1;
      return { x: all / n, y: hits / n, low, high, n };
    });
}

function rug({ threshold, pos, neg, type }: Ranked): Calibration["rug"] {
  const counts = { pos: new Array<number>(RUG_STEPS).fill(0), neg: new Array<number>(RUG_STEPS).fill(0) };
  const narrow = type === "float32";
  for (let i = 0; i < pos.length; i++) {
    const along = Number(threshold[i]) * RUG_STEPS;
    const step = Math.min(RUG_STEPS - 1, Math.floor(narrow ? Math.fround(along) : along));
    counts.pos[step]! += pos[i]!;
    counts.neg[step]! += neg[i]!;
  }
  return counts;
}

const NOT_KNOWN = { intercept: null, slope: null };

/** Intercept and slope of logistic recalibration; null where it does not exist. */
function cox(sample: Outcomes): { intercept: number | null; slope: number | null } {
  const { score, pos, total } = sample;
  const size = score.length;
  let [first, end] = [0, size];
  while (first < size && score[first]! <= 0) if (pos[first++]! > 0) return NOT_KNOWN; // what was impossible happened
  while (end > first && score[end - 1]! >= 1) if (total[--end]! > pos[end]!) return NOT_KNOWN;
  const kept = { ...sample, score: score.subarray(first, end), pos: pos.subarray(first, end), total: total.subarray(first, end) };
  if (!overlap(kept)) return NOT_KNOWN;
  const groups = pooled(kept, RECALIBRATION_GROUPS);
  const rough = fitted(groups, [0, 0], RECALIBRATION_STEPS);
  const found = rough && groups !== kept ? fitted(kept, rough, 2) : rough; // groups are near: each step squares the error
  return found ? { intercept: found[0], slope: found[1] } : NOT_KNOWN;
}

/** Whether neither class has all its probabilities above those of the other. */
function overlap({ pos, total }: Outcomes): boolean {
  const last = total.length - 1;
  const ends = (cases: (i: number) => number): [number, number] => {
    let [low, high] = [0, last];
    while (low <= last && !cases(low)) low++;
    while (high >= 0 && !cases(high)) high--;
    return [low, high];
  };
  const [firstPos, lastPos] = ends((i) => pos[i]!);
  const [firstNeg, lastNeg] = ends((i) => total[i]! - pos[i]!);
  return firstPos <= last && firstNeg <= last && firstPos < lastNeg && lastPos > firstNeg;
}

/** Newton's method for the log-odds a + b logit(p); null where it does not come to rest. */
function fitted({ score, pos, total }: Outcomes, start: readonly [number, number], most: number): [number, number] | null {
  const at = score.map((p) => Math.log(p / (1 - p)));
  const likelihood = (u: number, v: number): number => {
    let value = 0;
    for (let i = 0; i < at.length; i++) {
      const linear = u + v * at[i]!;
      value += pos[i]! * linear - total[i]! * (Math.max(linear, 0) + Math.log1p(Math.exp(-Math.abs(linear))));
    }
    return value;
  };
  let [a, b] = start;
  for (let step = 0; step < most; step++) {
    let [ga, gb, haa, hab, hbb] = [0, 0, 0, 0, 0];
    for (let i = 0; i < at.length; i++) {
      const x = at[i]!;
      const chance = 1 / (1 + Math.exp(-(a + b * x)));
      const [left, weight] = [pos[i]! - total[i]! * chance, total[i]! * chance * (1 - chance)];
      ga += left;
      gb += left * x;
      haa += weight;
      hab += weight * x;
      hbb += weight * x * x;
    }
    const det = haa * hbb - hab * hab;
    let [da, db] = [(hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det];
    if (!Number.isFinite(da + db)) return null;
    const gain = ga * da + gb * db;
    if (gain > 1e-9 && most > 2) for (const now = likelihood(a, b); likelihood(a + da, b + db) < now && Math.abs(da) + Math.abs(db) > 1e-12; ) [da, db] = [da / 2, db / 2];
    [a, b] = [a + da, b + db];
    if (gain <= 1e-12) break;
  }
  return [a, b];
}

/** Local lines over windows of two thirds of the rows, as R's lowess without iterations, at evenly spaced probabilities. */
function smooth(all: Outcomes): Smooth | null {
  if (all.score.length < 3) return null;
  const sample = pooled(all, LOESS_LEVELS);
  const knots = apart(sample.score);
  const fitted = local(sample, knots);
  const [first, last] = [knots[0]!, knots.at(-1)!];
  const y: number[] = [];
  let k = 0;
  for (let i = 0; i < SMOOTH_POINTS; i++) {
    const x = i === SMOOTH_POINTS - 1 ? last : first + (i * (last - first)) / (SMOOTH_POINTS - 1);
    while (k < knots.length - 2 && knots[k + 1]! <= x) k++;
    const share = (x - knots[k]!) / (knots[k + 1]! - knots[k]!);
    y.push(Math.min(1, Math.max(0, fitted[k]! + share * (fitted[k + 1]! - fitted[k]!))));
  }
  return { x: [first, last], y };
}

/** At most about as many groups of neighbouring rows as no figure shows; the first and the last level stay. */
function pooled(sample: Outcomes, most: number): Outcomes {
  const size = sample.score.length;
  if (size <= most + 2) return sample;
  const reached = cumulative(sample.total);
  const starts = [0, 1];
  for (let group = 1; group < most; group++) {
    const level = firstWhere(0, size, (i) => reached[i]! >= (group * reached[size - 1]!) / most) + 1;
    if (level > 1 && level < size - 1 && level > starts.at(-1)!) starts.push(level);
  }
  starts.push(size - 1);
  const merged = (column: (i: number) => number): Float64Array =>
    Float64Array.from(starts, (from, k) => {
      let total = 0;
      for (let i = from; i < (starts[k + 1] ?? size); i++) total += column(i);
      return total;
    });
  const total = merged((i) => sample.total[i]!);
  const score = merged((i) => sample.score[i]! * sample.total[i]!).map((weighed, k) => weighed / total[k]!);
  return { ...sample, score, total, pos: merged((i) => sample.pos[i]!) };
}

/** Where lowess fits: the next place is the last level within a hundredth of the range. */
function apart(score: Float64Array): number[] {
  const size = score.length;
  const near = LOESS_NEAR * (score[size - 1]! - score[0]!);
  const chosen = [0];
  for (let last = 0; last < size - 1; chosen.push(last)) {
    const from = last;
    const limit = score[from]! + near;
    last++;
    while (last + 1 < size && score[last + 1]! <= limit) last++;
  }
  return chosen.map((level) => score[level]!);
}

function local({ score, pos, total }: Outcomes, knots: readonly number[]): number[] {
  const size = score.length;
  const reached = cumulative(total);
  let wanted = LOESS_SPAN * reached[size - 1]!;
  if (total.every(Number.isInteger)) wanted = Math.max(Math.floor(wanted + 1e-7), 1);
  wanted *= 1 - 1e-12;
  const lastOf = (first: number): number => firstWhere(0, size, (i) => reached[i]! >= reached[first]! - total[first]! + wanted);
  const most = firstWhere(0, size, (i) => reached[i]! > reached[size - 1]! - wanted);
  const range = score[size - 1]! - score[0]!;
  return knots.map((x) => {
    const low = firstWhere(0, most, (i) => score[i]! + score[lastOf(i)]! >= 2 * x);
    const reach = Math.min(...[Math.max(low - 1, 0), Math.min(low, most)].map((first) => Math.max(x - score[first]!, score[lastOf(first)]! - x)));
    const kernel = new Float64Array(size);
    let some = false;
    for (let i = 0; i < size; i++) {
      const away = Math.abs(score[i]! - x);
      const part = Math.min(1, reach > 0 ? away / reach : away > 0 ? 1 : 0);
      const weight = (1 - part * part * part) ** 3;
      kernel[i] = weight;
      some ||= weight > 0;
    }
    if (!some) {
      const least = score.reduce((near, p) => Math.min(near, Math.abs(p - x)), Infinity);
      score.forEach((p, i) => (kernel[i] = Math.abs(p - x) <= least ? 1 : 0));
    }
    let [mass, centre] = [0, 0];
    for (let i = 0; i < size; i++) mass += kernel[i]! * total[i]!;
    for (let i = 0; i < size; i++) centre += (kernel[i]! / mass) * score[i]! * total[i]!;
    let spread = 0;
    for (let i = 0; i < size; i++) spread += (kernel[i]! / mass) * (score[i]! - centre) ** 2 * total[i]!;
    const slope = spread > LOESS_FLAT * range ** 2 + LOESS_ROUNDING ? (x - centre) / spread : 0;
    let value = 0;
    for (let i = 0; i < size; i++) value += (kernel[i]! / mass) * (1 + (score[i]! - centre) * slope) * pos[i]!;
    return value;
  });
}
