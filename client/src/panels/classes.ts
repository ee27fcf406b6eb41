/** More than two classes: how often each is taken for each other, and how good the models are over all of them. */

import { effect } from "@preact/signals-core";

import type { Classes } from "../data";
import { button, card, h, name, scroller, setText, table } from "../dom";
import { count, percent } from "../format";
import { pickSlice, type State } from "../state";

export function classesCard(state: State, classes: Classes): HTMLElement {
  const title = h("h2");
  const box = scroller("Table of classes");
  effect(() => {
    setText(title, `All classes: ${state.model.value.name}`);
    box.replaceChildren(matrixOf(state, classes));
  });
  return card(
    "classes",
    "above",
    title,
    [],
    box,
    h("p", { class: "caption" }, "The most probable class is predicted, whatever the costs and the threshold below. Pick a class to see it against the rest."),
  );
}

function matrixOf(state: State, { names, matrices }: Classes): HTMLTableElement {
  const matrix = matrices[state.model.value.index] ?? [];
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
  const pick = button("", () => pickSlice(state, slice), { class: "pick", "aria-pressed": String(slice === state.slice.value) });
  pick.append(name(cls));
  return pick;
}

export function overviewCard({ overview }: Classes): HTMLElement {
  const columns = Object.keys(overview[0] ?? {});
  const rows = overview.map((row) => columns.map((column) => name(row[column] ?? "")));
  return card("overview", "wide", "Models over all classes", [], scroller("Table of models over all classes", table(columns, rows)));
}
