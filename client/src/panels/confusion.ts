/** The confusion matrix at the target prevalence. */

import { effect } from "@preact/signals-core";

import { follow, inSight } from "../chart/visible";
import { become, card, choices, dress, h, setText, terms } from "../dom";
import { count, percent } from "../format";
import { SMALL, wilson } from "../math/levels";
import { type Cells, cellsAt } from "../math/point";
import type { Base, State } from "../state";

const CELLS = ["tp", "fn", "fp", "tn"] as const;
const NAMES = { tp: "true positives", fn: "false negatives", fp: "false positives", tn: "true negatives" };

function sampleCells(state: State): Cells {
  const { levels } = state.model.value;
  const { level } = state.current.value;
  const [tp, fp] = [levels.tp[level] ?? 0, levels.fp[level] ?? 0];
  return { tp, fp, fn: levels.nPos - tp, tn: levels.nNeg - fp };
}

export function cellsOf(state: State): Cells {
  if (state.base.value === "sample") return sampleCells(state);
  const { tpr, fpr } = state.rates.value;
  return cellsAt(tpr, fpr, state.share.value, state.base.value === "thousand" ? 1000 : state.population.value);
}

/** Which cells hold so few cases of the sample that what follows from them is uncertain. */
function fewWords(state: State): string {
  const cells = sampleCells(state);
  const few = CELLS.filter((key) => cells[key] < SMALL).map((key) => `${NAMES[key]} ${count(cells[key])}`);
  return few.length ? `Few cases in the sample: ${few.join(", ")}.` : "";
}

export function confusion(state: State): HTMLElement {
  const base = choices<Base>("Counts", [["thousand", "Per 1,000"], ["population", "Population"], ["sample", "Sample"]], (value) => (state.base.value = value));
  effect(() => base.show(state.base.value));
  const cells = Object.fromEntries(CELLS.map((key) => [key, cell(key)])) as Record<(typeof CELLS)[number], ReturnType<typeof cell>>;
  const matrix = h(
    "table",
    { class: "matrix" },
    h("caption", { class: "unseen" }, "Confusion matrix"),
    h("thead", {}, h("tr", {}, h("td"), h("th", { scope: "col" }, "Predicted positive"), h("th", { scope: "col" }, "Predicted negative"))),
    h("tbody", {}, h("tr", {}, h("th", { scope: "row" }, "Positive"), cells.tp.box, cells.fn.box), h("tr", {}, h("th", { scope: "row" }, "Negative"), cells.fp.box, cells.tn.box)),
  );
  const rates = h("dl", { class: "rates" });
  const few = h("p", { class: "caption" });
  follow(inSight(matrix), () => {
    const values = cellsOf(state);
    setText(few, fewWords(state));
    const total = values.tp + values.fn + values.fp + values.tn;
    for (const key of CELLS) {
      setText(cells[key].number, count(values[key]));
      dress(cells[key].box, { "--share": values[key] / total, "data-value": values[key] });
    }
    become(rates, terms(rateRows(state)));
  });
  return card("confusion", "", "Confusion matrix", [base.element], matrix, rates, few);
}

function cell(key: (typeof CELLS)[number]): { box: HTMLElement; number: HTMLElement } {
  const figure = h("b");
  return { box: h("td", { class: `cell ${key}`, id: `cell-${key}` }, figure, h("span", {}, NAMES[key])), number: figure };
}

function rateRows(state: State): [string, string][] {
  const { levels } = state.model.value;
  const { level } = state.current.value;
  const { tpr, fpr, precision, npv, accuracy, lift } = state.rates.value;
  const [tp, fp] = [levels.tp[level] ?? 0, levels.fp[level] ?? 0];
  const withInterval = (value: number, hits: number, n: number): string => {
    if (!levels.whole) return percent(value);
    const [low, high] = wilson(hits, n);
    return `${percent(value)} [${percent(low)}, ${percent(high)}]`;
  };
  return [
    ["True positive rate", withInterval(tpr, tp, levels.nPos)],
    ["False positive rate", withInterval(fpr, fp, levels.nNeg)],
    ["Precision", percent(precision)],
    ["NPV", percent(npv)],
    ["Accuracy", percent(accuracy)],
    ["Lift", Number.isFinite(lift) ? lift.toFixed(2) : "–"],
  ];
}
