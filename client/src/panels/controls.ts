/** The bar that stays in sight: costs, prevalence, threshold. */

import { effect } from "@preact/signals-core";

import { textAt } from "../data";
import { button, dress, entry, h, menu, selectOf, setText, typed } from "../dom";
import { minus, number, percent } from "../format";
import { MOST_AMOUNT } from "../math/context";
import { depthAt, nearest, ratesAt, samplePrevalence } from "../math/levels";
import { levelOf, modelOf, shareOf } from "../state/current";
import { AUDIENCES, chooseModel, FIRST_VIEW, setLevel, type State, type ThresholdBy } from "../state/state";

interface ControlOptions {
  readonly id: string;
  readonly label: string;
  readonly slider: { min: number; max: () => number; step: number };
  /** Position of the slider, entry in the field, and the value in words. */
  readonly position: () => number;
  readonly entry: () => string;
  readonly words: () => string;
  readonly slide: (position: number) => void;
  /** Take an entry, or say what is wrong with it. */
  readonly type: (value: number) => string | void;
  readonly unit?: string;
  readonly beside?: HTMLElement;
}

function control(options: ControlOptions): HTMLElement {
  const { id, slider } = options;
  const range = h("input", { type: "range", id: `${id}-range`, min: slider.min, step: slider.step, "aria-label": options.label });
  const field = h("input", { type: "number", id, step: "any", inputmode: "decimal", autocomplete: "off" });
  range.addEventListener("input", () => options.slide(range.valueAsNumber));
  typed(field, options.entry, () => {
    const wrong = Number.isFinite(field.valueAsNumber) ? options.type(field.valueAsNumber) : "";
    field.setCustomValidity(wrong || "");
    if (wrong) field.reportValidity();
  });
  effect(() => {
    const [at, max] = [options.position(), slider.max()];
    dress(range, { max, "--at": (at - slider.min) / (max - slider.min || 1), "aria-valuetext": options.words() });
    range.value = String(at);
  });
  const label = h("label", { for: id }, options.label);
  const head = h("div", { class: "control-head" }, label, ...(options.beside ? [options.beside] : []));
  const box = h("span", { class: "field" }, field, ...(options.unit ? [h("span", { "aria-hidden": "true" }, options.unit)] : []));
  return h("div", { class: "control" }, head, h("div", { class: "control-row" }, range, box));
}

const COST = { min: -2, max: 4 }; // powers of ten that the slider reaches; any cost can be typed

function costControl(id: string, label: string, cost: { value: number }): HTMLElement {
  return control({
    id,
    label,
    slider: { min: COST.min, max: () => COST.max, step: 0.02 },
    position: () => (cost.value > 0 ? Math.min(COST.max, Math.max(COST.min, Math.log10(cost.value))) : COST.min),
    entry: () => String(cost.value),
    words: () => number(cost.value),
    slide: (at) => (cost.value = Number((10 ** at).toPrecision(3))),
    type: (value) => void (cost.value = Math.min(MOST_AMOUNT, Math.max(0, value))),
  });
}

const LOGIT = 9.2; // of a prevalence of 0.01%, and of 99.99%: what the slider reaches

function prevalenceControl(state: State): HTMLElement {
  const sample = button("sample", () => (state.costs.prevalence.value = null), { class: "link", title: "Use the prevalence of the sample" });
  effect(() => {
    sample.hidden = state.costs.prevalence.value === null;
    sample.setAttribute("aria-label", `Use the prevalence of the sample, ${percent(samplePrevalence(modelOf(state).levels))}`);
  });
  return control({
    id: "prevalence",
    label: "Target prevalence",
    slider: { min: -LOGIT, max: () => LOGIT, step: 0.02 },
    position: () => Math.log(shareOf(state) / (1 - shareOf(state))),
    entry: () => String(Number((shareOf(state) * 100).toPrecision(4))),
    words: () => percent(shareOf(state)),
    slide: (at) => (state.costs.prevalence.value = Number((1 / (1 + Math.exp(-at))).toPrecision(3))),
    type: (value) => {
      if (!(value >= 1e-7 && value < 100)) return "A prevalence is above 0% and below 100%.";
      state.costs.prevalence.value = Number((value / 100).toPrecision(12));
    },
    unit: "%",
    beside: sample,
  });
}

const BY: readonly (readonly [ThresholdBy, string])[] = [["score", "score"], ["depth", "share positive"], ["tpr", "TPR"], ["fpr", "FPR"]];

function thresholdControl(state: State): HTMLElement {
  const best = button("best", () => chooseModel(state, null), { class: "link", title: "Back to the best threshold (Esc)", "aria-label": "Back to the best threshold" });
  effect(() => {
    best.hidden = state.selection.pinned.value === null && state.selection.chosen.value === null;
  });
  const stored = h("span", { class: "caption", id: "unstored", role: "status" });
  effect(() => setText(stored, state.selection.unstored.value === null ? "" : `nearest stored threshold ${minus(textAt(modelOf(state), levelOf(state)))}`));
  const column = (level: number): number => {
    const { levels } = modelOf(state);
    const [tpr, fpr] = ratesAt(levels, level);
    return { tpr, fpr, depth: depthAt(levels, level, shareOf(state)), score: 0 }[state.selection.by.value];
  };
  return control({
    id: "threshold",
    label: "Threshold",
    slider: { min: 0, max: () => modelOf(state).levels.size - 1, step: 1 },
    position: () => levelOf(state),
    entry: () => {
      const level = levelOf(state);
      if (state.selection.by.value !== "score") return String(Number((column(level) * 100).toPrecision(4)));
      const { model, pinned, unstored } = state.selection;
      if (pinned.value !== null && unstored.value === null) return Number.isFinite(pinned.value) ? String(pinned.value) : "";
      return level === 0 ? "" : textAt(model.value, level);
    },
    words: () => state.selection.spoken.value,
    slide: (at) => setLevel(state, modelOf(state), at),
    type: (value) => {
      const model = modelOf(state);
      if (state.selection.by.value === "score") chooseModel(state, model.name, value);
      else setLevel(state, model, nearest(column, model.levels.size, value / 100));
    },
    beside: h("span", {}, stored, best),
  });
}

/** What most leave as it is: by what the threshold is set, and the costs of right decisions. */
function moreControls(state: State): HTMLElement {
  const cost = (id: string, label: string, of: { value: number }): HTMLElement[] => {
    const write = (text: string): void => {
      if (text !== "" && Math.abs(Number(text)) <= MOST_AMOUNT) of.value = Number(text);
    };
    return entry(id, label, () => String(of.value), write);
  };
  const summary = h("summary", { title: "Costs of correct predictions, and other settings" });
  effect(() => setText(summary, state.costs.tp.value || state.costs.tn.value ? `Correct predictions: ${number(state.costs.tp.value)} and ${number(state.costs.tn.value)}` : "More"));
  const words = selectOf(AUDIENCES, state.views.audience, { id: "words" });
  words.addEventListener("change", () => (state.views.second.value = FIRST_VIEW[state.views.audience.value]));
  const by = selectOf(BY, state.selection.by, { id: "threshold-by" });
  const fields = h("div", { class: "entries" }, ...cost("cost-tp", "Cost of a true positive", state.costs.tp), ...cost("cost-tn", "Cost of a true negative", state.costs.tn), h("label", { for: "threshold-by" }, "Set the threshold by"), by, h("label", { for: "words" }, "Words"), words);
  return menu("right-costs", summary, fields);
}

export function controls(state: State): HTMLElement {
  return h(
    "div",
    { class: "controls", role: "group", "aria-label": "Context" },
    costControl("cost-fp", "Cost of a false positive", state.costs.fp),
    costControl("cost-fn", "Cost of a false negative", state.costs.fn),
    prevalenceControl(state),
    thresholdControl(state),
    moreControls(state),
  );
}
