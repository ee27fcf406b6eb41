/** In a notebook: what the reader sets here, Python reads, and the other way round. */

import { batch, COUNTING, effect } from "./signals";

import type { State } from "../state/state";
import type { Context } from "../math/context";

interface View {
  readonly model: string | null;
  /** The score, a word for everybody and nobody, null for the best. */
  readonly threshold: number | "everybody" | "nobody" | null;
  readonly context: Context;
  readonly where: string;
}

const same = (one: View, other: View): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What Python reads; its condition is that of the rows that are shown, and while others are counted the one that it knows. */
function viewOf(state: State, known?: View): View {
  const where = known && state.rows.status.value === COUNTING ? known.where : state.rows.applied.value;
  const { levels } = state.selection.model.value;
  const pinned = state.selection.pinned.value;
  const last = levels.threshold[levels.size - 1] ?? Infinity;
  const threshold = pinned === null ? null : pinned <= last ? "everybody" : Number.isFinite(pinned) ? pinned : "nobody";
  return { model: state.selection.chosen.value, threshold, context: state.costs.context.value, where };
}

function take(state: State, { model, threshold, context, where }: View, known: View): void {
  batch(() => {
    state.selection.chosen.value = model;
    state.selection.pinned.value = threshold === "everybody" ? -Number.MAX_VALUE : threshold === "nobody" ? Infinity : threshold;
    state.costs.prevalence.value = context.target_prevalence;
    state.costs.fp.value = context.cost_fp;
    state.costs.fn.value = context.cost_fn;
    state.costs.tp.value = context.cost_tp;
    state.costs.tn.value = context.cost_tn;
    if (where !== known.where) state.rows.where.value = where; // or what is being typed, or counted, would go
  });
}

export function linked(state: State, gone: AbortSignal): void {
  let known = viewOf(state);
  addEventListener(
    "message",
    ({ source, data }: MessageEvent<{ view?: View }>) => {
      if (source !== parent || !data.view) return;
      const before = known;
      known = data.view;
      take(state, data.view, before);
    },
    { signal: gone },
  );
  const stop = effect(() => {
    const view = viewOf(state, known);
    if (same(view, known)) return;
    known = view;
    parent.postMessage({ view }, "*");
  });
  gone.addEventListener("abort", stop);
  parent.postMessage({ ready: true }, "*");
}
