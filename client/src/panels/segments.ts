/** Segments side by side: the current model in each, at the best threshold of the segment and at the common one. */

import { csvOf } from "../chart/export";
import { offer } from "../chart/offers";
import { follow, inSight } from "../chart/visible";
import type { Slice } from "../data";
import { button, card, h, name, scroller, table } from "../dom";
import { count, fixed, number, percent } from "../format";
import { prevalenceOf } from "../math/context";
import { bestLevel, costAt } from "../math/hull";
import { depthAt, levelAt, samplePrevalence, thresholdAt } from "../math/levels";
import { showRows, type State } from "../state/state";
import { wordsOf } from "../state/words";

const COLUMNS = ["segment", "cases", "auc", "auc_low", "auc_high", "threshold", "acted_on", "cost", "cost_at_common_threshold"];

type Row = readonly [segment: string, ...numbers: number[]];

function rowOf(state: State, { name: segment, models }: Slice): Row[] {
  const model = models.find((one) => one.name === state.selection.model.value.name);
  if (!model) return [];
  const { levels, auc } = model;
  const context = state.costs.context.value;
  const level = bestLevel(levels, context);
  const common = levelAt(levels, thresholdAt(state.selection.model.value.levels, state.selection.current.value.level));
  const share = depthAt(levels, level, prevalenceOf(context, samplePrevalence(levels)));
  return [[segment, levels.nPos + levels.nNeg, auc.value, auc.low ?? NaN, auc.high ?? NaN, thresholdAt(levels, level), share, costAt(levels, level, context), costAt(levels, common, context)]];
}

export function segmentsCard(state: State): HTMLElement[] {
  const places = new Map(state.report.parts.flatMap(({ kind, name: segment }, part) => (kind === "segment" ? [[segment, part] as const] : [])));
  if (!places.size) return [];
  const box = scroller("Table of segments");
  const rows = (): Row[] => state.rows.segments.value.flatMap((slice) => rowOf(state, slice));
  const seen = inSight(box);
  follow(seen, () => {
    if (seen.value) state.views.segments.value = true;
    const cells = rows().map(([segment, n = 0, auc = 0, low = 0, high = 0, threshold = 0, share = 0, cost = 0, common = 0]) => {
      const pick = button("", () => showRows(state, places.get(segment)!), { class: "pick" });
      pick.append(name(segment));
      return [pick, count(n), Number.isNaN(low) ? fixed(auc) : `${fixed(auc)} [${fixed(low)}, ${fixed(high)}]`, number(threshold), percent(share), number(cost), number(common)];
    });
    box.replaceChildren(table(["Segment", "Cases", "AUC", "Best threshold", wordsOf(state).depth, "Cost per case", "Cost at the common threshold"], cells));
  });
  offer("segments", { title: () => "Segments", csv: () => csvOf(COLUMNS, rows()) });
  return [card("segments", "wide", "Segments", [], box, h("p", { class: "caption" }, "The current model in each segment, at the current costs. Costs per case are computed from the rows of the report."))];
}
