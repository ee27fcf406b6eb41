/** The best model and threshold in the context, and those that the reader looks at. */

import { computed, signal } from "@preact/signals-core";

import { textAt } from "../data";
import { percent } from "../format";
import { prevalenceOf } from "../math/context";
import { bestLevel, bestWithin, cheapest, type Choice } from "../math/hull";
import { isAt, levelAt, rates, ratesAt, samplePrevalence } from "../math/levels";
import { palette } from "../palette";
import type { createCampaign, createCosts } from "./context";
import { type createModels, stylesOf } from "./models";

export type ThresholdBy = "score" | "depth" | "tpr" | "fpr";

export function createSelection(models: ReturnType<typeof createModels>, { context }: ReturnType<typeof createCosts>, { within }: ReturnType<typeof createCampaign>) {
  const { all } = models;
  const chosen = signal<string | null>(null);
  const pinned = signal<number | null>(null);
  const bestLevels = computed(() => all.value.map((model) => (models.hidden(model) ? null : bestWithin(model.levels, context.value, within.value))));
  const best = computed<Choice>(() => cheapest(all.value.map(({ levels }) => levels), bestLevels.value, context.value) ?? { model: 0, level: 0 });
  const current = computed<Choice>(() => {
    const model = all.value.find(({ name }) => name === chosen.value) ?? all.value[best.value.model];
    if (!model) return best.value;
    const level = pinned.value === null ? bestLevels.value[model.index] : levelAt(model.levels, pinned.value);
    return { model: model.index, level: level ?? bestLevel(model.levels, context.value) };
  });
  const model = computed(() => all.value[current.value.model]!);
  const prevalence = computed(() => prevalenceOf(context.value, samplePrevalence(model.value.levels)));
  const found = computed(() => rates(...ratesAt(model.value.levels, current.value.level), prevalence.value));
  return {
    /** The model that the reader picked; null follows the best. */
    chosen,
    /** The threshold that the reader set; null follows the best. */
    pinned,
    by: signal<ThresholdBy>("score"),
    /** The best level of each model in the context and within the capacity; null where the model is hidden. */
    bestLevels,
    best,
    current,
    model,
    prevalence,
    rates: found,
    /** The threshold that was typed, where it is between stored ones and stands for the one at or above it; else null. */
    unstored: computed(() => (pinned.value === null || isAt(model.value.levels, current.value.level, pinned.value) || !Number.isFinite(pinned.value) ? null : pinned.value)),
    /** Whether the reader moved away from the best point. */
    moved: computed(() => current.value.model !== best.value.model || current.value.level !== best.value.level),
    spoken: computed(() => {
      const { tpr, fpr, depth } = found.value;
      const threshold = textAt(model.value, current.value.level);
      return `${model.value.name}, threshold ${threshold}: ${percent(depth)} predicted positive, true positive rate ${percent(tpr)}, false positive rate ${percent(fpr)}`;
    }),
    styles: computed(() => stylesOf(all.value, models.regions.value, models.looks.value, chosen.value, model.value.index, palette.value)),
  };
}
