/** Costs, prevalence and the size of the campaign. */

import { computed, signal } from "@preact/signals-core";

import { type Context, rewardsErrors } from "../math/context";
import type { Campaign } from "../math/profit";

export function createCosts(start: Context) {
  const [fp, fn, tp, tn] = [signal(start.cost_fp), signal(start.cost_fn), signal(start.cost_tp), signal(start.cost_tn)];
  const prevalence = signal(start.target_prevalence);
  const context = computed<Context>(() => ({ target_prevalence: prevalence.value, cost_fp: fp.value, cost_fn: fn.value, cost_tp: tp.value, cost_tn: tn.value }));
  return { fp, fn, tp, tn, /** null: that of the sample */ prevalence, context, rewardsErrors: computed(() => rewardsErrors(context.value)) };
}

export function createCampaign() {
  const [population, fixedCost, currency] = [signal(1000), signal(0), signal("")];
  const capacity = signal<number | null>(null);
  return {
    population,
    fixedCost,
    capacity,
    currency,
    terms: computed<Campaign>(() => ({ population: population.value, fixedCost: fixedCost.value, capacity: capacity.value })),
    /** Share of the population that can be contacted, 1 without a limit. */
    within: computed(() => Math.min(1, (capacity.value ?? Infinity) / population.value)),
  };
}
