/** Money: profit of a campaign, and net benefit. */

import { type Context, falseAlarmCost, missCost } from "./context";

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

/** Both rates at a depth when all positives come first. */
export function perfectRates(prevalence: number, depth: number): [tpr: number, fpr: number] {
  return [Math.min(1, depth / prevalence), Math.max(0, (depth - prevalence) / (1 - prevalence))];
}

/** Net benefit per case of acting from a threshold probability on (Vickers & Elkin 2006). */
export function netBenefit(tpr: number, fpr: number, prevalence: number, probability: number): number {
  return prevalence * tpr - ((1 - prevalence) * fpr * probability) / (1 - probability);
}
