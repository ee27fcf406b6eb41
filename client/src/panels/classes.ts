/** More than two classes: how often each is taken for each other, and how good the models are over all of them. */

import { effect } from "@preact/signals-core";

import type { Classes } from "../data";
import { button, card, h, name, scroller, setText, textTable } from "../dom";
import { count, percent } from "../format";
import { showRows, type State } from "../state/state";

export function classesCard(state: State, classes: Classes): HTMLElement {
  const title = h("h2");
  const box = scroller("Table of classes");
  effect(() => {
    setText(title, `All classes: ${state.selection.model.value.name}`);
    box.replaceChildren(matrixOf(state, classes));
  });
  return card(
    "classes",
    "above",
    title,
    [],
    box,
    h("p", { class: "caption" }, "Each case is assigned to its most probable class. The costs and the threshold below have no effect. Select a class to compare it with all other classes."),
  );
}

function matrixOf(state: State, { names, matrices }: Classes): HTMLTableElement {
  const matrix = matrices[state.selection.model.value.index] ?? [];
  const predicted = names.map((_, j) => sum(matrix.map((row) => row[j] ?? 0)));
  const rows = matrix.map((row, i) => {
    const [hits, actual] = [row[i] ?? 0, sum(row)];
    const rates = [hits / actual, hits / (predicted[i] ?? 0), (2 * hits) / (actual + (predicted[i] ?? 0))];
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, picker(state, names[i] ?? "")),
      ...row.map((n, j) => shaded(n, n / actual, i === j)),
      ...[count(actual), ...rates.map(percent)].map((text) => h("td", {}, text)),
    );
  });
  const headings = [...names.map((cls) => h("th", { scope: "col" }, name(cls))), ...["Cases", "Recall", "Precision", "F1"].map((text) => h("th", { scope: "col" }, text))];
  return h(
    "table",
    { class: "classes" },
    h("caption", { class: "unseen" }, "Cases by actual class (rows) and predicted class (columns)"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Actual ↓ predicted →"), ...headings)),
    h("tbody", {}, ...rows),
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function shaded(n: number, share: number, right: boolean): HTMLElement {
  const cell = h("td", { class: right ? "cell" : "cell wrong" }, count(n));
  cell.style.setProperty("--share", String(share || 0));
  return cell;
}

/** The name of a class, which shows it against the rest unless no case is of it. */
function picker(state: State, cls: string): HTMLElement {
  const slice = state.report.parts.findIndex((part) => part.name === cls);
  if (slice < 0) return name(cls);
  const pick = button("", () => showRows(state, slice), { class: "pick", "aria-pressed": String(slice === state.rows.part.value) });
  pick.append(name(cls));
  return pick;
}

export function overviewCard({ overview }: Classes): HTMLElement {
  return card("overview", "wide", "Models over all classes", [], scroller("Table of models over all classes", textTable(overview)));
}
