/** The decision as JSON, in the form that `rocscope.Decision` saves and loads. */

import { download } from "./dom";
import { fileName } from "./chart/export";
import type { State } from "./state";
import { costOf } from "./panels/verdict";

export function decisionOf(state: State): Record<string, unknown> {
  const { levels, name, thresholdText } = state.model.value;
  const { level } = state.current.value;
  const [tp, fp] = [levels.tp[level] ?? 0, levels.fp[level] ?? 0];
  const threshold = levels.threshold[level] ?? Infinity;
  const { prevalence, costFp, costFn, costTp, costTn } = state.context.value;
  return {
    model: name,
    threshold: Number.isFinite(threshold) ? (thresholdText?.[level - 1] ?? threshold) : null,
    expected_cost: costOf(state, state.current.value),
    point: { threshold: Number.isFinite(threshold) ? threshold : null, tp, fp, fn: levels.nPos - tp, tn: levels.nNeg - fp },
    context: { target_prevalence: prevalence, cost_fp: costFp, cost_fn: costFn, cost_tp: costTp, cost_tn: costTn },
  };
}

export function saveDecision(state: State): void {
  const text = JSON.stringify(decisionOf(state), null, 1);
  download(`${fileName(state.report.title, "decision")}.json`, new Blob([`${text}\n`], { type: "application/json" }));
}
