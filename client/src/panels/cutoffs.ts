/** The table of cut-offs of the current model: rates with intervals and Youden's index, at a few thresholds here, at all of them as CSV. */

import { csvOf } from "../chart/export";
import { offer } from "../chart/offers";
import { follow, inSight } from "../chart/visible";
import { textAt } from "../data";
import { card, h, scroller, table } from "../dom";
import { fixed, minus, percent } from "../format";
import { tooltip } from "../inputs";
import { nearest, rates, samplePrevalence, thresholdAt, wilson } from "../math/levels";
import type { State } from "../state/state";
import { wordsOf } from "../state/words";

const SHARES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]; // predicted positive, near which a threshold is shown
const COLUMNS = ["threshold", "tp", "fp", "fn", "tn", ...["sensitivity", "specificity", "precision"].flatMap((rate) => [rate, `${rate}_low`, `${rate}_high`]), "youden"];

type Row = readonly [threshold: number, tp: number, fp: number, fn: number, tn: number, ...rates: number[]];

const NONE = [NaN, NaN] as const;

/** One row of the table; intervals only of what whole cases were counted for, at the prevalence of the sample. */
function rowAt(state: State, level: number): Row {
  const { levels } = state.selection.model.value;
  const [tp, fp] = [levels.tp[level]!, levels.fp[level]!];
  const [tpr, fpr] = [levels.tpr[level]!, levels.fpr[level]!];
  const { precision } = rates(tpr, fpr, state.selection.prevalence.value);
  const own = state.selection.prevalence.value === samplePrevalence(levels);
  const sure = (hits: number, n: number, known = true): readonly [number, number] => (levels.whole && known && n ? wilson(hits, n) : NONE);
  const [nPos, nNeg] = [levels.nPos, levels.nNeg];
  return [thresholdAt(levels, level), tp, fp, nPos - tp, nNeg - fp, tpr, ...sure(tp, nPos), 1 - fpr, ...sure(nNeg - fp, nNeg), precision, ...sure(tp, tp + fp, own), tpr - fpr];
}

function shownLevels(state: State): { levels: number[]; best: number } {
  const { levels } = state.selection.model.value;
  const depth = (level: number): number => (levels.tp[level]! + levels.fp[level]!) / (levels.nPos + levels.nNeg);
  let best = 0;
  for (let i = 1; i < levels.size; i++) if (levels.tpr[i]! - levels.fpr[i]! > levels.tpr[best]! - levels.fpr[best]!) best = i;
  const some = SHARES.map((share) => nearest(depth, levels.size, share));
  return { levels: [...new Set([...some, best, state.selection.current.value.level])].filter((level) => level > 0).sort((a, b) => a - b), best };
}

export function cutoffsCard(state: State): HTMLElement {
  const box = scroller("Table of cut-offs");
  follow(inSight(box), () => {
    const { levels, best } = shownLevels(state);
    const words = wordsOf(state);
    const rows = levels.map((level) => {
      const [threshold, , , , , ...found] = rowAt(state, level);
      const rate = (at: number): string => percent(found[at]!) + (Number.isNaN(found[at + 1]!) ? "" : ` [${percent(found[at + 1]!)}, ${percent(found[at + 2]!)}]`);
      const chosen = level === state.selection.current.value.level;
      const mark = [chosen ? "current" : "", level === best ? "largest Youden index" : ""].filter(Boolean).join(", ");
      const text = threshold === -Infinity ? "everybody" : minus(textAt(state.selection.model.value, level));
      return [mark ? h("span", {}, chosen ? h("strong", {}, text) : text, h("small", {}, ` ${mark}`)) : text, rate(0), rate(3), rate(6), fixed(found[9]!, 3)];
    });
    box.replaceChildren(table(["Threshold", words.tpr, words.tnr, words.precision, "Youden index"], rows));
  });
  const all = (): Row[] => Array.from({ length: state.selection.model.value.levels.size }, (_, level) => rowAt(state, level));
  offer("cutoffs", { title: () => "Cut-offs", csv: () => csvOf(COLUMNS, all()) });
  const said = "Brackets contain Wilson's 95% intervals. Precision has an interval only at the prevalence of the sample. The exported CSV file contains all thresholds.";
  return card("cutoffs", "wide", "Cut-offs", [tooltip(() => said)], box);
}
