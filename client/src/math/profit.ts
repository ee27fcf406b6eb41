/** Money: profit of a campaign, and net benefit. */

import { NO_LIMIT, NOT_A_SHARE, SMALLEST_CAPACITY } from "../constants";
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

const written = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 10 });

/** What is said of a capacity that exceeds the population or is far below it, as `notes_on_capacity` in Python has it. */
export function capacityNote({ population, capacity }: Campaign): string {
  if (capacity === null) return "";
  const text = `the capacity is ${written.format(capacity)} of ${written.format(population)} cases`;
  if (capacity > population) return `${text}, ${NO_LIMIT}`;
  return capacity > 0 && capacity < Math.max(1, SMALLEST_CAPACITY * population) ? `${text}; ${NOT_A_SHARE}` : "";
}

/** Both rates at a depth when all positives come first. */
export function perfectRates(prevalence: number, depth: number): [tpr: number, fpr: number] {
  return [Math.min(1, depth / prevalence), Math.max(0, (depth - prevalence) / (1 - prevalence))];
}

/** Net benefit per case of acting from a threshold probability on (Vickers & Elkin 2006). */
export function netBenefit(tpr: number, fpr: number, prevalence: number, probability: number): number {
  return prevalence * tpr - ((1 - prevalence) * fpr * probability) / (1 - probability);
}
