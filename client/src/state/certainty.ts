/** Uncertainty of the decision, and the state that it belongs to. */

import type { Decided } from "../data";
import { percent, number } from "../format";
import { samplePrevalence } from "../math/levels";
import type { State } from "./state";

export interface Certainty extends Decided {
  /** The state that the numbers belong to, where that is not the state shown; empty where it is. */
  readonly other: string;
}

/** What the file says about the state that it was made for. */
export function certaintyOf(state: State): Certainty | null {
  const { decided, context } = state.report;
  if (!decided) return null;
  const { cost_fp, cost_fn, cost_tp, cost_tn, target_prevalence } = state.costs.context.value;
  const costs = cost_fp === context.cost_fp && cost_fn === context.cost_fn && cost_tp === context.cost_tp && cost_tn === context.cost_tn;
  const rows = state.rows.part.value === 0 && !state.rows.applied.value;
  const models = state.models.all.value.some(state.models.hidden);
  const same = costs && rows && !models && target_prevalence === context.target_prevalence && state.campaign.within.value === 1;
  if (same && !state.selection.moved.value) return { ...decided, other: "" };
  const share = context.target_prevalence ?? samplePrevalence(state.selection.model.value.levels);
  const all = state.report.parts.length > 1 ? ", all rows" : "";
  return { ...decided, other: `at the best threshold for costs ${number(context.cost_fp)} and ${number(context.cost_fn)}, prevalence ${percent(share)}${all}` };
}

/** Least share of resamples that makes a choice clear: the level of the intervals. */
const CLEAR = 0.95;

export type Standing = "clear" | "close" | "idle" | "";

/** Whether the choice is clear, a close call, or not worth acting on; empty where that is not known. */
export function standingOf(state: State): Standing {
  const { model, level } = state.selection.best.value;
  if (level === 0 || level === state.models.all.value[model]!.levels.size - 1) return "idle";
  const certainty = certaintyOf(state);
  if (!certainty || certainty.other) return "";
  if (certainty.acting < 0.5) return "idle";
  return Math.min(certainty.best[model] ?? 1, certainty.acting) >= CLEAR ? "clear" : "close";
}
