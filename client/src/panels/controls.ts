/** The bar that stays in sight: costs, prevalence, threshold. */

import { effect } from "@preact/signals-core";

import { button, dress, h, setText } from "../dom";
import { number, percent } from "../format";
import { depthAt, levelAt, nearest, ratesAt, samplePrevalence } from "../math/levels";
import { MOST_AMOUNT, setLevel, type State, type ThresholdBy, toBest } from "../state";

interface ControlOptions {
  readonly id: string;
  readonly label: string;
  readonly slider: { min: number; max: () => number; step: number };
  /** Position of the slider, entry in the field, and the value in words. */
  readonly position: () => number;
  readonly entry: () => string;
  readonly words: () => string;
  readonly slide: (position: number) => void;
  readonly type: (value: number) => void;
  readonly unit?: string;
  readonly beside?: HTMLElement;
}

function control(options: ControlOptions): HTMLElement {
  const { id, slider } = options;
  const range = h("input", { type: "range", id: `${id}-range`, min: slider.min, step: slider.step, "aria-label": options.label });
  const entry = h("input", { type: "number", id, step: "any", inputmode: "decimal", autocomplete: "off" });
  range.addEventListener("input", () => options.slide(range.valueAsNumber));
  entry.addEventListener("input", () => {
    if (Number.isFinite(entry.valueAsNumber)) options.type(entry.valueAsNumber);
  });
  const settle = (): void => {
    entry.value = options.entry();
  };
  entry.addEventListener("change", settle);
  entry.addEventListener("blur", settle);
  effect(() => {
    const [at, max] = [options.position(), slider.max()];
    dress(range, { max, "--at": (at - slider.min) / (max - slider.min || 1), "aria-valuetext": options.words() });
    range.value = String(at);
    if (document.activeElement !== entry) entry.value = options.entry();
  });
  const label = h("label", { for: id }, options.label);
  const head = h("div", { class: "control-head" }, label, ...(options.beside ? [options.beside] : []));
  const field = h("span", { class: "field" }, entry, ...(options.unit ? [h("span", { "aria-hidden": "true" }, options.unit)] : []));
  return h("div", { class: "control" }, head, h("div", { class: "control-row" }, range, field));
}

const COST = { min: -2, max: 4 };

function costControl(id: string, label: string, cost: { value: number }): HTMLElement {
  return control({
    id,
    label,
    slider: { min: COST.min, max: () => COST.max, step: 0.02 },
    position: () => (cost.value > 0 ? Math.min(COST.max, Math.max(COST.min, Math.log10(cost.value))) : COST.min),
    entry: () => String(cost.value),
    words: () => number(cost.value),
    slide: (at) => (cost.value = Number((10 ** at).toPrecision(3))),
    type: (value) => (cost.value = Math.min(MOST_AMOUNT, Math.max(0, value))),
  });
}

const LOGIT = 9.2;

function prevalenceControl(state: State): HTMLElement {
  const sample = button("sample", () => (state.prevalence.value = null), { class: "link", title: "Use the prevalence of the sample" });
  effect(() => {
    sample.hidden = state.prevalence.value === null;
    sample.setAttribute("aria-label", `Use the prevalence of the sample, ${percent(samplePrevalence(state.model.value.levels))}`);
  });
  return control({
    id: "prevalence",
    label: "Target prevalence",
    slider: { min: -LOGIT, max: () => LOGIT, step: 0.02 },
    position: () => Math.log(state.share.value / (1 - state.share.value)),
    entry: () => String(Number((state.share.value * 100).toPrecision(4))),
    words: () => percent(state.share.value),
    slide: (at) => (state.prevalence.value = Number((1 / (1 + Math.exp(-at))).toPrecision(3))),
    type: (value) => {
      if (value >= 1e-7 && value < 100) state.prevalence.value = Number((value / 100).toPrecision(12));
    },
    unit: "%",
    beside: sample,
  });
}

const BY: readonly (readonly [ThresholdBy, string])[] = [
  ["score", "by score"],
  ["depth", "by share contacted"],
  ["tpr", "by TPR"],
  ["fpr", "by FPR"],
];

function thresholdControl(state: State): HTMLElement {
  const by = h("select", { id: "threshold-by", "aria-label": "Set the threshold by" }, ...BY.map(([value, text]) => h("option", { value }, text)));
  by.addEventListener("change", () => (state.by.value = by.value as ThresholdBy));
  const best = button("best", () => toBest(state), { class: "link", title: "Back to the best threshold (Esc)", "aria-label": "Back to the best threshold" });
  effect(() => {
    by.value = state.by.value;
    best.hidden = state.pinned.value === null && state.chosen.value === null;
  });
  const column = (level: number): number => {
    const { levels } = state.model.value;
    const [tpr, fpr] = ratesAt(levels, level);
    return { tpr, fpr, depth: depthAt(levels, level, state.share.value), score: 0 }[state.by.value];
  };
  return control({
    id: "threshold",
    label: "Threshold",
    slider: { min: 0, max: () => state.model.value.levels.size - 1, step: 1 },
    position: () => state.current.value.level,
    entry: () => {
      const { level } = state.current.value;
      if (state.by.value !== "score") return String(Number((column(level) * 100).toPrecision(4)));
      const threshold = state.model.value.levels.threshold[level] ?? Infinity;
      return Number.isFinite(threshold) ? String(Number(threshold.toPrecision(5))) : "";
    },
    words: () => state.spoken.value,
    slide: (at) => setLevel(state, state.model.value, at),
    type: (value) => {
      const { levels } = state.model.value;
      const level = state.by.value === "score" ? levelAt(levels, value) : nearest(column, levels.size, value / 100);
      setLevel(state, state.model.value, level);
    },
    beside: h("span", { class: "beside" }, by, best),
  });
}

/** Costs of right decisions, which most have at 0. */
export function rightCosts(state: State): HTMLElement {
  const entry = (id: string, label: string, cost: { value: number }): HTMLElement[] => {
    const field = h("input", { type: "number", id, step: "any", autocomplete: "off" });
    field.addEventListener("input", () => {
      const value = field.valueAsNumber;
      if (Math.abs(value) <= MOST_AMOUNT) cost.value = value;
    });
    effect(() => {
      if (document.activeElement !== field) field.value = String(cost.value);
    });
    return [h("label", { for: id }, label), field];
  };
  const summary = h("summary", { title: "Costs of right decisions; gains are below 0" });
  effect(() => setText(summary, `TP ${number(state.costTp.value)}, TN ${number(state.costTn.value)}`));
  const fields = h("div", { class: "entries" }, ...entry("cost-tp", "Cost of a true positive", state.costTp), ...entry("cost-tn", "Cost of a true negative", state.costTn));
  const menu = h("details", { class: "menu right-costs" }, summary, fields);
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape") menu.open = false;
  });
  return menu;
}

export function controls(state: State): HTMLElement {
  return h(
    "div",
    { class: "controls", role: "group", "aria-label": "Context" },
    costControl("cost-fp", "Cost of a false positive", state.costFp),
    costControl("cost-fn", "Cost of a false negative", state.costFn),
    prevalenceControl(state),
    thresholdControl(state),
  );
}
