/** Money: profit of a campaign, and net benefit. */

import { type Context, falseAlarmCost, missCost } from "./context";

export interface Campaign {
  readonly population: number;
  readonly fixedCost: number;
  /** At most so many cases can be contacted; null means no limit. */
  readonly capacity: number | null;
}

/**
 * Profit of contacting the cases predicted positive, over contacting nobody and before nothing is spent.
 *
 * With a unit cost c and a unit benefit b the costs are cost_fp = c and cost_fn − cost_tp = b − c, so that the profit
 * is b·TP − c·(TP + FP) − fixed cost.
 */
export function profit(context: Context, campaign: Campaign, prevalence: number, tpr: number, fpr: number): number {
  return profitOf(context, campaign, prevalence)(tpr, fpr);
}

/** The same for many pairs of rates: what does not depend on them is taken once. */
export function profitOf(context: Context, campaign: Campaign, prevalence: number): (tpr: number, fpr: number) => number {
  const { population, fixedCost } = campaign;
  const [gain, loss] = [missCost(context), falseAlarmCost(context)];
  return (tpr, fpr) => population * (prevalence * tpr * gain - (1 - prevalence) * fpr * loss) - fixedCost;
}

/** Profit at a depth when cases are contacted at random. */
export function randomProfit(context: Context, campaign: Campaign, prevalence: number, depth: number): number {
  return profit(context, campaign, prevalence, depth, depth);
}

/** Profit at a depth when all positives come first. */
export function perfectProfit(context: Context, campaign: Campaign, prevalence: number, depth: number): number {
  const tpr = Math.min(1, depth / prevalence);
  const fpr = Math.max(0, (depth - prevalence) / (1 - prevalence));
  return profit(context, campaign, prevalence, tpr, fpr);
}

/** Net benefit per case of acting from a threshold probability on (Vickers & Elkin 2006). */
export function netBenefit(tpr: number, fpr: number, prevalence: number, probability: number): number {
  return prevalence * tpr - ((1 - prevalence) * fpr * probability) / (1 - probability);
}
