/** Prevalence and costs, and what follows from them: cost, profit and net benefit. Mirrors `rocscope.Context`. */

import { NO_LIMIT, NOT_A_SHARE, SMALLEST_CAPACITY } from "../constants.json";

export interface Context {
  /** Share of positives where the classifier will be used; null means that of the sample. */
  readonly target_prevalence: number | null;
  readonly cost_fp: number;
  readonly cost_fn: number;
  readonly cost_tp: number;
  readonly cost_tn: number;
}

/** Larger costs and sizes are taken for slips: sums of their products would overflow. */
export const MOST_AMOUNT = 1e12;

/** A decimal as it is written, digits × 10^-scale: 0.2 is exactly one fifth, as in Python. */
interface Decimal { readonly digits: bigint; readonly scale: number }

export function decimal(value: number): Decimal {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", part = ""] = mantissa.split(".");
  const scale = part.length - Number(exponent);
  const digits = BigInt(whole + part);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

const bits = new DataView(new ArrayBuffer(8));

/** A number of at least 0 as digits · 2^(exponent - 1074). */
export function binaryParts(value: number): [digits: bigint, exponent: number] {
  bits.setFloat64(0, value);
  const all = bits.getBigUint64(0);
  const exponent = Number((all >> 52n) & 2047n);
  const digits = all & 0xfffffffffffffn;
  return exponent > 0 ? [digits | 0x10000000000000n, exponent - 1] : [digits, 0];
}

/** Taken once a context: a curve asks for them at every point. */
const known = new WeakMap<Context, ReturnType<typeof stakesOf>>();

function stakes(context: Context): ReturnType<typeof stakesOf> {
  const found = known.get(context) ?? stakesOf(context);
  known.set(context, found);
  return found;
}

/** The costs of errors, as numbers and in one common unit, and the prevalence as hits of all cases; null for that of the sample. */
function stakesOf({ cost_fp, cost_fn, cost_tp, cost_tn, target_prevalence: prevalence }: Context) {
  const costs = [cost_fp, cost_fn, cost_tp, cost_tn].map(decimal);
  const scale = Math.max(...costs.map((cost) => cost.scale));
  const [fp, fn, tp, tn] = costs.map((cost) => cost.digits * 10n ** BigInt(scale - cost.scale)) as [bigint, bigint, bigint, bigint];
  const [cost, gain] = [fp - tn, fn - tp];
  const toNumber = (digits: bigint): number => Number(`${digits}e-${scale}`);
  const share = prevalence === null ? null : decimal(prevalence);
  return { alarm: toNumber(cost), miss: toNumber(gain), gain, cost, share: share && ([share.digits, 10n ** BigInt(share.scale)] as const) };
}

/** What it costs to predict a negative case positive rather than negative. */
export const falseAlarmCost = (context: Context): number => stakes(context).alarm;

/** What it costs to predict a positive case negative rather than positive. */
export const missCost = (context: Context): number => stakes(context).miss;

/** The action that no classifier can improve on, if the costs make it so. */
export function alwaysRight(context: Context): "all positive" | "all negative" | null {
  const [alarm, miss] = [falseAlarmCost(context), missCost(context)];
  if (alarm < 0 || (alarm === 0 && miss > 0)) return "all positive";
  return miss <= 0 ? "all negative" : null;
}

/** What is to be said where one action is right; empty elsewhere. */
export function trivial(context: Context): string {
  const always = alwaysRight(context);
  return always ? `at these costs ${always} is right whatever the scores` : "";
}

export function rewardsErrors(context: Context): boolean {
  return falseAlarmCost(context) < 0 && missCost(context) < 0;
}

export function prevalenceOf(context: Context, sample: number): number {
  return context.target_prevalence ?? sample;
}

/** Slope of the iso-performance line in ROC space; infinite where misses cost nothing. */
export function slope(context: Context, sample: number): number {
  const share = prevalenceOf(context, sample);
  return quotient((1 - share) * falseAlarmCost(context), share * missCost(context));
}

/** The calibrated probability from which predicting positive is the cheaper action. */
export function probabilityThreshold(context: Context): number {
  const alarm = falseAlarmCost(context);
  return quotient(alarm, alarm + missCost(context));
}

export function expectedCost(context: Context, tpr: number, fpr: number, sample: number): number {
  const share = prevalenceOf(context, sample);
  const positives = share * (context.cost_tp * tpr + context.cost_fn * (1 - tpr));
  return positives + (1 - share) * (context.cost_fp * fpr + context.cost_tn * (1 - fpr));
}

/** What one more true positive gains and one more false positive costs, in one common unit, exactly. */
export function ratesOfExchange(context: Context, nPos: bigint, nNeg: bigint): { gain: bigint; cost: bigint } {
  const { gain, cost, share } = stakes(context);
  return share ? { gain: share[0] * gain * nNeg, cost: (share[1] - share[0]) * cost * nPos } : { gain, cost };
}

export function quotient(numerator: number, denominator: number): number {
  if (denominator !== 0) return numerator / denominator;
  return numerator === 0 ? NaN : numerator > 0 ? Infinity : -Infinity;
}

export interface Campaign {
  readonly population: number;
  readonly fixedCost: number;
  /** At most so many cases can be contacted; null means no limit. */
  readonly capacity: number | null;
}

/**
 * Profit of contacting the cases predicted positive, over contacting nobody and before nothing is spent, by both rates.
 *
 * With a unit cost c and a unit benefit b the costs are cost_fp = c and cost_fn − cost_tp = b − c, so that the profit
 * is b·TP − c·(TP + FP) − fixed cost.
 */
export function profitOf(context: Context, { population, fixedCost }: Campaign, prevalence: number): (tpr: number, fpr: number) => number {
  const [gain, loss] = [missCost(context), falseAlarmCost(context)];
  return (tpr, fpr) => population * (prevalence * tpr * gain - (1 - prevalence) * fpr * loss) - fixedCost;
}

const written = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 10 });

/** What is said of a capacity that exceeds the population or is far below it, as `notes_on_capacity` in Python has it. */
export function capacityNote({ population, capacity }: Campaign): string {
  if (capacity === null) return "";
  const text = `the capacity is ${written.format(capacity)} of ${written.format(population)} cases`;
  if (capacity > population) return `${text}, ${NO_LIMIT}`;
  return capacity > 0 && capacity < Math.max(1, SMALLEST_CAPACITY * population) ? `${text}; ${NOT_A_SHARE}` : "";
}

export function perfectRates(prevalence: number, depth: number): [tpr: number, fpr: number] {
  return [Math.min(1, depth / prevalence), Math.max(0, (depth - prevalence) / (1 - prevalence))];
}

/** Net benefit per case of acting from a threshold probability on (Vickers & Elkin 2006). */
export function netBenefit(tpr: number, fpr: number, prevalence: number, probability: number): number {
  return prevalence * tpr - ((1 - prevalence) * fpr * probability) / (1 - probability);
}
