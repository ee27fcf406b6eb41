/** The table of models: sortable; each shown, ghosted or hidden. */

import { computed, effect } from "@preact/signals-core";

import { offers } from "../chart/export";
import { follow, inSight } from "../chart/visible";
import { colourOf } from "../charts/shared";
import { type Model, textAt } from "../data";
import { button, card, dress, h, name, s, scroller, select, setText, switchOf, table, tooltip } from "../dom";
import { csvOf, fixed, minus, number, percent, withEnds } from "../format";
import { thresholdAt } from "../math/levels";
import { modelOf } from "../state/current";
import { chooseModel, type Look, setLook, type State, wordsOf } from "../state/state";
import { costOf } from "./verdict";

interface Column {
  readonly key: string;
  readonly title: string;
  readonly value: (state: State, model: Model) => number;
  readonly text: (value: number, state: State, model: Model) => string;
  readonly first?: boolean;
  /** Whether smaller is better, so that sorting starts there. */
  readonly ascending?: boolean;
}

const level = (state: State, model: Model): number => state.selection.bestLevels.value[model.index] ?? 0;
const calibrationNumber = (model: Model, key: string): number => model.calibration?.numbers[key] ?? NaN;

const COLUMNS: readonly Column[] = [
  { key: "auc", title: "AUC", value: (_, { auc }) => auc.value, first: true, text: (value, { views }, { auc }) => (views.measures.value ? withEnds(value, auc.low, auc.high, (auc) => fixed(auc, 4), fixed) : fixed(value)) },
  { key: "threshold", title: "Best threshold", value: (state, model) => thresholdAt(model.levels, level(state, model)), text: (value, state, model) => (Number.isFinite(value) ? minus(textAt(model, level(state, model))) : number(value)), first: true },
  { key: "tpr", title: "TPR", value: (state, model) => model.levels.tpr[level(state, model)] ?? NaN, text: percent },
  { key: "fpr", title: "FPR", value: (state, model) => model.levels.fpr[level(state, model)] ?? NaN, text: percent, ascending: true },
  { key: "cost", title: "Cost per case", value: (state, model) => costOf(state, { model: model.index, level: level(state, model) }), text: number, ascending: true, first: true },
  { key: "ap", title: "Average precision", value: (_, model) => model.average_precision, text: (value) => fixed(value) },
  { key: "brier", title: "Brier", value: (_, model) => calibrationNumber(model, "brier"), text: (value) => fixed(value, 4), ascending: true },
  { key: "slope", title: "Calibration slope", value: (_, model) => calibrationNumber(model, "slope"), text: (value) => fixed(value, 2) },
];

/** Two models need no sorting, and none of them is hidden often. */
const few = (state: State): boolean => state.rows.shown.peek().models.length < 3;

export function modelsTable(state: State): HTMLElement {
  const headings = COLUMNS.map((column) => {
    const sort = few(state) ? column.title : button(column.title, () => (state.models.sortBy.value = state.models.sortBy.value === column.key ? `-${column.key}` : column.key), { class: "sort" });
    return { column, cell: h("th", { scope: "col", class: column.first ? null : "more" }, sort) };
  });
  const show = h("th", { scope: "col", class: few(state) ? "more" : null }, "Show");
  const labelled = table([show, "Model", ...headings.map(({ cell }) => cell)], [], "Models at their best thresholds");
  const body = labelled.tBodies[0]!;
  effect(() => {
    const { key, ascending } = sorting(state.models.sortBy.value);
    const words: Partial<Record<string, string>> = state.views.audience.value === "learning" ? {} : { ...wordsOf(state) };
    for (const { column, cell } of headings) {
      setText(cell.querySelector("button") ?? cell, words[column.key === "threshold" ? "" : column.key] ?? column.title);
      cell.setAttribute("aria-sort", column.key !== key ? "none" : ascending ? "ascending" : "descending");
    }
  });
  const rows = computed(() => {
    void state.views.measures.value;
    return state.models.all.value.map((model) => row(state, model));
  });
  const visible = inSight(body);
  follow(visible, () => {
    for (const { update } of rows.value) update();
  });
  effect(() => {
    const all = rows.value;
    if (all[0]?.element.parentElement !== body) body.replaceChildren(...all.map(({ element }) => element));
    if (!visible.value) return;
    ordered(state).forEach(({ index }, place) => {
      const { element } = all[index]!;
      if (body.children[place] !== element) body.insertBefore(element, body.children[place]!);
    });
  });
  offers.set("models", { title: () => "Models", csv: () => modelsCsv(state) });
  const { measures } = state.views;
  effect(() => dress(labelled, { class: measures.value ? "models" : "models brief" }));
  const all = switchOf("All measures", measures, { class: "quiet-button" });
  return card("models", "wide", "Models at their best thresholds", [tooltip(() => (measures.value ? methods(state) : "")), all], scroller("Table of models", labelled));
}

/** Methods that the tooltip names: twenty models have twenty effective numbers of trials. */
const METHODS = 3;

function methods(state: State): string {
  const used = new Set(state.models.all.value.flatMap(({ auc }) => auc.method ?? []));
  return used.size ? `AUC with 95% confidence intervals: ${[...used].slice(0, METHODS).join("; ")}${used.size > METHODS ? `; and ${used.size - METHODS} like these` : ""}.` : "";
}

function sorting(sortBy: string): { key: string; ascending: boolean } {
  const reversed = sortBy.startsWith("-");
  const key = reversed ? sortBy.slice(1) : sortBy;
  const ascending = COLUMNS.find((column) => column.key === key)?.ascending ?? false;
  return { key, ascending: ascending !== reversed };
}

function ordered(state: State): Model[] {
  const { key, ascending } = sorting(state.models.sortBy.value);
  const column = COLUMNS.find((entry) => entry.key === key);
  const sign = ascending ? 1 : -1;
  const value = (model: Model): number => column?.value(state, model) ?? model.index;
  return state.models.all.value.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return x === y ? a.index - b.index : sign * (x < y ? -1 : 1);
  });
}

function row(state: State, model: Model): { element: HTMLElement; update: () => void } {
  const swatch = s("line", { x1: 1, x2: 25, y1: 6, y2: 6, "stroke-width": 3 });
  const pick = button("", () => chooseModel(state, model.name), { class: "pick", "aria-pressed": "false", title: model.name });
  pick.append(s("svg", { width: 26, height: 12, "aria-hidden": "true" }, swatch), name(model.name));
  const look = select<Look>([["show", "show"], ["ghost", "grey"], ["hide", "hide"]], (value) => setLook(state, model.name, value), { "aria-label": `How to show ${model.name}` });
  const cells = COLUMNS.map(({ first }) => h("td", first ? {} : { class: "more" }));
  const values = COLUMNS.map((): number | null => null);
  const element = h("tr", {}, h("td", { class: few(state) ? "more" : null }, look), h("th", { scope: "row" }, pick), ...cells);
  const update = (): void => {
    const style = state.models.styles.value[model.index];
    const hidden = style?.look === "hide";
    COLUMNS.forEach((column, i) => {
      const value = hidden ? null : column.value(state, model);
      if (value !== values[i] || value === null) setText(cells[i]!, value === null ? "–" : column.text(value, state, model));
      values[i] = value;
    });
    look.value = style?.look ?? "show";
    dress(swatch, { stroke: colourOf(state, model.index), "stroke-dasharray": style?.dash.join(" ") ?? "" });
    dress(element, { class: [model.index === state.selection.best.value.model ? "best" : "", style?.look ?? ""].join(" ").trim() });
    dress(pick, { "aria-pressed": String(model.index === modelOf(state).index) });
  };
  return { element, update };
}

export function modelsCsv(state: State): string {
  const rows = ordered(state).map((model) => [model.name, model.auc.low ?? null, model.auc.high ?? null, ...COLUMNS.map((column) => column.value(state, model))]);
  return csvOf(["model", "auc_low", "auc_high", ...COLUMNS.map((column) => column.key)], rows);
}
