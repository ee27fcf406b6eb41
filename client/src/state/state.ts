/** The state of the page by topic: what the reader has set, and what follows from it. */

import { batch, computed, effect, Signal } from "@preact/signals-core";

import { markChange } from "../chart/scheduling";
import { type Model, type Slice, textAt } from "../data";
import { palette } from "../palette";
import type { Source } from "../source";
import { createCampaign, createCosts } from "./context";
import { createModels, type Look } from "./models";
import { createRows } from "./rows";
import { createSelection } from "./selection";
import { createViews } from "./views";

export type State = ReturnType<typeof createState>;

export function createState(source: Source, first: Slice) {
  const { report } = source;
  const views = createViews(report.audience);
  const rows = createRows(source, first, views);
  const costs = createCosts(report.context);
  const campaign = createCampaign();
  const models = createModels(rows.shown);
  const { styles, ...selection } = createSelection(models, costs, campaign);
  effect(() => {
    for (const topic of [rows, views, costs, campaign, models, selection]) for (const each of Object.values(topic)) if (each instanceof Signal) void each.value;
    void palette.value;
    markChange();
  });
  /** The models that are drawn: grey ones first, the current one last. */
  const drawn = computed(() => {
    const current = selection.model.value.index; // not by its level, so that a threshold or a cost that moves redraws no curve
    const rank = ({ index }: Model): number => (index === current ? 2 : styles.value[index]!.place === null ? 0 : 1);
    return models.all.value.filter(({ index }) => styles.value[index]!.look !== "hide").sort((a, b) => rank(a) - rank(b));
  });
  return { report, /** whether rows can be filtered by a condition */ filters: source.filters ?? false, rows, views, costs, campaign, models: { ...models, styles, drawn }, selection };
}

/** Show other rows; another class has probabilities and a prevalence of its own. */
export function showRows({ rows, report, costs, selection }: State, part: number): void {
  batch(() => {
    rows.part.value = part;
    if (report.parts[part]?.kind !== "class") return;
    costs.prevalence.value = null;
    selection.pinned.value = null;
  });
}

export function setLook({ models: { looks } }: State, model: string, look: Look): void {
  looks.value = new Map(looks.value).set(model, look);
}

/** Move along the current model's levels; away from the best point the threshold stays where it was put. */
export function setLevel(state: State, model: Model, level: number): void {
  const at = Math.max(0, Math.min(model.levels.size - 1, level));
  setThreshold(state, model, at && !model.thresholdText ? Number(textAt(model, at)) : (model.levels.threshold[at] ?? Infinity));
}

export function setThreshold({ selection }: State, { name }: Model, score: number): void {
  batch(() => {
    selection.chosen.value = name;
    selection.pinned.value = score;
  });
}

/** Look at a model at its best threshold; null: at the best of all. */
export function chooseModel({ selection }: State, name: string | null): void {
  batch(() => {
    selection.chosen.value = name;
    selection.pinned.value = null;
  });
}

export function stepModel(state: State, by: number): void {
  const visible = state.models.all.value.filter((model) => !state.models.hidden(model));
  const at = visible.findIndex((model) => model.index === state.selection.current.value.model);
  const next = visible[(at + by + visible.length) % visible.length];
  if (next) chooseModel(state, next.name);
}
