/** The confusion matrix at the target prevalence. */

import { follow, inSight } from "../chart/visible";
import { SMALL } from "../constants.json";
import { become, card, choices, dress, h, rowHeading, setText, table, terms } from "../dom";
import { count, percent, withEnds } from "../format";
import { type Cells, cellsAt, sampleCells, wilson } from "../math/levels";
import { modelOf, shareOf } from "../state/current";
import { type State, wordsOf } from "../state/state";

const CELLS = ["tp", "fn", "fp", "tn"] as const;
const NAMES = { tp: "true positives", fn: "false negatives", fp: "false positives", tn: "true negatives" };

function currentCells({ selection }: State): Cells {
  const { levels } = selection.model.value;
  const { level } = selection.current.value;
  return sampleCells(levels, [levels.tp[level] ?? 0, levels.fp[level] ?? 0]);
}

export function cellsOf(state: State): Cells {
  if (state.views.base.value === "sample") return currentCells(state);
  const { tpr, fpr } = state.selection.rates.value;
  return cellsAt(tpr, fpr, shareOf(state), state.views.base.value === "thousand" ? 1000 : state.campaign.population.value);
}

/** Which cells hold so few cases of the sample that what follows from them is uncertain. */
function fewWords(state: State): string {
  const cells = currentCells(state);
  const few = CELLS.filter((key) => cells[key] < SMALL).map((key) => `${count(cells[key])} ${NAMES[key]}`);
  return few.length ? `Small sample: ${few.join(", ")}. Rates are uncertain.` : "";
}

export function confusion(state: State): HTMLElement {
  const base = choices("Counts", [["thousand", "Per 1,000"], ["population", "Population"], ["sample", "Sample"]], state.views.base);
  const cells = Object.fromEntries(CELLS.map((key) => [key, cell(key)])) as Record<(typeof CELLS)[number], ReturnType<typeof cell>>;
  const rows = [[rowHeading("Positive"), cells.tp.box, cells.fn.box], [rowHeading("Negative"), cells.fp.box, cells.tn.box]];
  const matrix = table([h("td"), "Predicted positive", "Predicted negative"], rows, "Confusion matrix", { class: "matrix" });
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
  return card("confusion", "", "Confusion matrix", [base], matrix, rates, few);
}

function cell(key: (typeof CELLS)[number]): { box: HTMLElement; number: HTMLElement } {
  const figure = h("b");
  return { box: h("td", { class: `cell ${key}`, id: `cell-${key}` }, figure, h("span", {}, NAMES[key])), number: figure };
}

function rateRows(state: State): [string, string][] {
  const { levels } = modelOf(state);
  const { tpr, fpr, precision, npv, accuracy, lift } = state.selection.rates.value;
  const { tp, fp } = currentCells(state);
  const words = wordsOf(state);
  const withInterval = (value: number, hits: number, n: number): string => (levels.whole ? withEnds(value, ...wilson(hits, n), percent) : percent(value));
  return [
    [words.tpr, withInterval(tpr, tp, levels.nPos)],
    [words.fpr, withInterval(fpr, fp, levels.nNeg)],
    [words.precision, percent(precision)],
    ["NPV", percent(npv)],
    ["Accuracy", percent(accuracy)],
    ["Lift", Number.isFinite(lift) ? lift.toFixed(2) : "–"],
  ];
}
