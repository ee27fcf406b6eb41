/** How sure areas are, and whether they differ: the twin of `rocscope.inference.areas`, which tells why. */

import { ENOUGH_DIFFER, ENOUGH_INFORMATIVE, FEW_DIFFER, FEW_INFORMATIVE, LARGE_CLASS, LARGEST_QUANTILE, LEAST_PRIOR, PRIOR, ROUNDING, SMALL_CLASS, SUREST, Z } from "../constants.json";
import type { Interval } from "../data";
import { ndtr, studentQuantile, zero } from "./special";
import { area, type Ranked } from "./threshold_counts";

/** The rows of one class, and how far they move the area of a model. */
interface Stratum {
  readonly n: number;
  /** Rows placed below 1 and above 0. */
  readonly inside: readonly [number, number];
  /** Sums of the second and fourth powers of what a row moves the area by. */
  readonly second: number;
  readonly fourth: number;
}

export interface AreaSample { readonly auc: number; readonly strata: readonly [Stratum, Stratum] }

/** The share of the other class that a row with the score of a level is ranked right against; a tie counts one half. */
function placement({ pos, neg, tp, fp, nPos, nNeg }: Ranked, level: number, isPos: boolean): number {
  if (isPos) return (2 * (nNeg - fp[level]!) + neg[level]!) / (2 * nNeg);
  return (2 * tp[level]! - pos[level]!) / (2 * nPos);
}

/** What the area of a model needs, computed in one pass over its levels. A level stands for all of its rows. */
export function areaSample(ranked: Ranked): AreaSample {
  const auc = area(ranked);
  const stratum = (own: Float64Array, n: number, isPos: boolean): Stratum => {
    let [second, fourth, below, above] = [0, 0, 0, 0];
    for (let i = 0; i < own.length; i++) {
      const rows = own[i]!;
      if (!rows) continue;
      const share = placement(ranked, i, isPos);
      const shift = (share - auc) / n;
      const move = shift * shift;
      second += rows * move;
      fourth += rows * (move * move);
      if (share < 1 - ROUNDING) below += rows;
      if (share > ROUNDING) above += rows;
    }
    return { n, inside: [below, above], second, fourth };
  };
  return { auc, strata: [stratum(ranked.pos, ranked.nPos, true), stratum(ranked.neg, ranked.nNeg, false)] };
}

/** How far each row of a class moves the area of a model, given the levels of these rows. */
export function movesOf(ranked: Ranked, auc: number, levels: Int32Array, isPos: boolean): Float64Array {
  const n = isPos ? ranked.nPos : ranked.nNeg;
  return Float64Array.from(levels, (level) => (placement(ranked, level, isPos) - auc) / n);
}

/** The rows of a class that two models are compared on: by how far each moves both areas, and how many rows it stands for. */
export interface PairedRows { readonly moves: readonly [Float64Array, Float64Array]; readonly times: Float64Array | null }

function total(values: (a: number, b: number) => number, { moves: [first, second], times }: PairedRows): number {
  let sum = 0;
  for (let i = 0; i < first.length; i++) sum += (times ? times[i]! : 1) * values(first[i]!, second[i]!);
  return sum;
}

const freedom = ({ n }: Stratum): number => n - 1;
const scale = ({ n }: Stratum): number => (n > 1 ? n / (n - 1) : NaN);
const variance = (stratum: Stratum): number => scale(stratum) * stratum.second;

type EffectiveSize = ReturnType<typeof effectiveSize>;

/** An area is as sure as a share of `trials` trials. */
function effectiveSize({ auc, strata }: AreaSample) {
  const smallest = Math.min(strata[0].n, strata[1].n);
  const spread = auc * (1 - auc);
  const g = (2 * auc - 1) ** 4;
  const prior = (1 - g) / 3 + (g * Math.max(strata[0].n, strata[1].n)) / (strata[0].n + strata[1].n);
  const known = strata.map((stratum) => knownOf(stratum, auc));
  const weights = strata.map((stratum, i) => LEAST_PRIOR + PRIOR * Math.sqrt(1 - (known[i] ? known[i]! / freedom(stratum) : 0)));
  const shares = strata.map((stratum, i) => (known[i] && spread > 0 ? Math.min(1, (variance(stratum) * stratum.n) / spread) : 0));
  const parts = strata.map((stratum, i) => (known[i]! * shares[i]! + weights[i]! * prior) / (known[i]! + weights[i]!) / stratum.n);
  const sum = parts[0]! + parts[1]!;
  const df = sum ** 2 / (parts[0]! ** 2 / (freedom(strata[0]) + weights[0]!) + parts[1]! ** 2 / (freedom(strata[1]) + weights[1]!));
  const observed = strata.map((stratum, i) => shares[i]! / stratum.n);
  const all = observed[0]! + observed[1]!;
  const informative = all > 0 ? (observed[0]! * known[0]! + observed[1]! * known[1]!) / all : 0;
  const end = Math.min(auc, 1 - auc) <= ROUNDING;
  return { auc, trials: end ? smallest : 1 / sum, df, informative, smallest };
}

/** How many rows tell how much placements vary; 0 where none do. */
function knownOf(stratum: Stratum, auc: number): number {
  if (freedom(stratum) <= 0) return 0;
  return Math.min(stratum.inside[auc < 0.5 ? 1 : 0], byKurtosis(stratum, stratum.second, stratum.fourth, ROUNDING ** 2));
}

/** How many normal observations tell the variance as well, given sums of second and fourth powers of moves. */
function byKurtosis(stratum: Stratum, second: number, fourth: number, least: number): number {
  if (!(second > least)) return 0;
  const kurtosis = (fourth * stratum.n) / second ** 2;
  return Math.min(freedom(stratum), kurtosis > 1 + ROUNDING ? (2 * stratum.n) / (kurtosis - 1) : Infinity);
}

/** How a difference varies over the rows of a class, with a further row each way where few differ: `Stratum.difference`. */
function spreadOf(stratum: Stratum, rows: PairedRows): { own: number; added: number; df: number } {
  const second = total((a, b) => (b - a) ** 2, rows);
  const informative = byKurtosis(stratum, second, total((a, b) => (b - a) ** 4, rows), ROUNDING * stratum.second);
  const [own, df] = [scale(stratum) * (informative ? second : 0), freedom(stratum)];
  const rare = df > 0 ? 1 - (2 * informative) / df : 0;
  const weight = rare * Math.min((ENOUGH_DIFFER - informative) / (ENOUGH_DIFFER - FEW_DIFFER), 1);
  if (rare <= 0 || weight <= 0) return { own, added: 0, df };
  const width = (moves: Float64Array): number => moves.reduce((x, y) => Math.max(x, y), -Infinity) - moves.reduce((x, y) => Math.min(x, y), Infinity);
  const added = 2 * weight * Math.max(...rows.moves.map(width)) ** 2;
  if (!(own > 0 && added > 0)) return { own, added, df };
  return { own, added, df: Math.min(df, (informative * (1 + added / own) ** 2) / weight) };
}

function intervalAt({ auc, trials: n }: EffectiveSize, q: number): [low: number, high: number] {
  const centre = auc + (q * q) / (2 * n);
  const reach = q * Math.sqrt((auc * (1 - auc)) / n + (q / (2 * n)) ** 2);
  const by = 1 + (q * q) / n;
  return [auc === 0 ? 0 : Math.max((centre - reach) / by, 0), auc === 1 ? 1 : Math.min((centre + reach) / by, 1)];
}

/** The area of a model with its interval at 95%: Wilson's, for as many trials as the rows are worth. */
export function areaInterval(sample: AreaSample): Required<Interval> {
  const size = effectiveSize(sample);
  const [low, high] = intervalAt(size, studentQuantile(size.df, 0.025));
  const digits = size.trials >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  const trials = size.trials.toLocaleString("en", digits);
  const method = `Wilson for ${trials} trials, t with ${size.df.toFixed(0)} df`;
  return { value: size.auc, low, high, method };
}

/** Whether two models of the same rows differ: second − first. */
export function compareAreas(first: AreaSample, second: AreaSample, rows: readonly [PairedRows, PairedRows]): { difference: number; low: number; high: number; p: number; method: string } {
  const found = difference(first, second, rows);
  const above = pValue(found.low, found.value);
  const below = pValue((z) => -found.high(z), -found.value);
  const method = `Welch t of placements${found.caution > 0 ? " and MOVER of Wilson intervals" : ""}${found.added > 0 ? ", one row added for each model" : ""}, paired`;
  return { difference: found.value, low: found.low(Z), high: found.high(Z), p: Math.min(1, 2 * Math.min(above, below)), method };
}

const clip = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

function difference(one: AreaSample, other: AreaSample, rows: readonly [PairedRows, PairedRows]): { value: number; caution: number; added: number; low: (z: number) => number; high: (z: number) => number } {
  const [first, second] = [effectiveSize(one), effectiveSize(other)];
  const value = second.auc - first.auc;
  const parts = one.strata.map((stratum, side) => {
    const { own, added, df } = spreadOf(stratum, rows[side]!);
    return { df, own: own + added, added, both: scale(stratum) * total((a, b) => a * b, rows[side]!) };
  });
  const sum = parts[0]!.own + parts[1]!.own;
  const [varianceOfOne, varianceOfOther] = [one, other].map(({ strata }) => variance(strata[0]) + variance(strata[1]));
  const product = varianceOfOne! * varianceOfOther!;
  const correlation = product > 0 ? clip((parts[0]!.both + parts[1]!.both) / Math.sqrt(product), -1, 1) : 0;
  const df = sum > 0 ? Math.max(1, sum ** 2 / parts.reduce((all, { own, df }) => all + own ** 2 / df, 0)) : 1;
  const caution = Number.isNaN(sum) ? 1 : clip((ENOUGH_INFORMATIVE - Math.min(first.informative, second.informative)) / (ENOUGH_INFORMATIVE - FEW_INFORMATIVE), 0, 1);
  const atZero = clip((LARGE_CLASS - Math.min(first.smallest, second.smallest)) / (LARGE_CLASS - SMALL_CLASS), 0, 1);
  const apart = (one: number, other: number): number => Math.sqrt(Math.max(one ** 2 + other ** 2 - 2 * correlation * one * other, 0));
  const reaches = (z: number): [[number, number], [number, number]] =>
    [first, second].map((size) => {
      const [low, high] = intervalAt(size, student(z, size.df));
      return [size.auc - low, high - size.auc];
    }) as [[number, number], [number, number]];
  const reach = (z: number, mover: number, toZero: number): number => {
    const welch = Number.isNaN(sum) ? 0 : student(z, df) * Math.sqrt(sum);
    let more = caution * Math.max(mover - welch, 0);
    if (toZero <= 0 || !(sum > 0)) return welch + more;
    const least = welch + atZero * more;
    more -= least - welch;
    if (least <= toZero) return (toZero * (least + more)) / (toZero + more);
    const beyond = least - toZero;
    return toZero + Math.min(more < toZero ? beyond / (1 - more / toZero) : Infinity, beyond + more);
  };
  const needed = caution > 0;
  const low = (z: number): number => {
    const [a, b] = needed || !(sum > 0) ? reaches(z) : NONE;
    return Math.max(value - reach(z, apart(b[0], a[1]), value), -1);
  };
  const high = (z: number): number => {
    const [a, b] = needed || !(sum > 0) ? reaches(z) : NONE;
    return Math.min(value + reach(z, apart(b[1], a[0]), -value), 1);
  };
  return { value, caution, added: parts[0]!.added + parts[1]!.added, low, high };
}

const NONE: [[number, number], [number, number]] = [[0, 0], [0, 0]];

function student(z: number, df: number): number {
  return z < 0 ? -student(-z, df) : Math.min(studentQuantile(df, ndtr(-z)), LARGEST_QUANTILE);
}

/** The probability at which the lower end of a one-sided interval is 0. */
function pValue(low: (z: number) => number, value: number): number {
  if (value <= 0) return value === 0 ? 0.5 : 1;
  if (low(SUREST) >= 0) return 0;
  return ndtr(-zero((z) => low(z), 0, SUREST, 1e-13));
}

export function holm(p: readonly number[]): number[] {
  const order = p.map((_, i) => i).sort((a, b) => p[a]! - p[b]!);
  const adjusted = new Array<number>(p.length);
  let largest = 0;
  order.forEach((i, place) => {
    largest = Math.max(largest, p[i]! * (p.length - place));
    adjusted[i] = Math.min(1, largest);
  });
  return adjusted;
}
