/** In a notebook: what the reader sets here, Python reads, and the other way round. */

import { batch, effect } from "./signals";

import type { State } from "../state";
import { contextOf } from "./asking";

interface View {
  readonly model: string | null;
  /** The score, a word for everybody and nobody, null for the best. */
  readonly threshold: number | "everybody" | "nobody" | null;
  readonly context: Readonly<Record<"target_prevalence" | "cost_fp" | "cost_fn" | "cost_tp" | "cost_tn", number | null>>;
  readonly where: string;
}

const same = (one: View, other: View): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What Python reads; its condition is that of the rows that are shown, and while others are counted the one that it knows. */
function viewOf(state: State, known?: View): View {
  const where = known && state.waiting.value.startsWith("Counting") ? known.where : state.held.value;
  const { levels } = state.model.value;
  const pinned = state.pinned.value;
  const last = levels.threshold[levels.size - 1] ?? Infinity;
  const threshold = pinned === null ? null : pinned <= last ? "everybody" : Number.isFinite(pinned) ? pinned : "nobody";
  return { model: state.chosen.value, threshold, context: contextOf(state.context.value) as View["context"], where };
}

function take(state: State, { model, threshold, context, where }: View, known: View): void {
  batch(() => {
    state.chosen.value = model;
    state.pinned.value = threshold === "everybody" ? -Number.MAX_VALUE : threshold === "nobody" ? Infinity : threshold;
    state.prevalence.value = context.target_prevalence;
    state.costFp.value = context.cost_fp ?? 1;
    state.costFn.value = context.cost_fn ?? 1;
    state.costTp.value = context.cost_tp ?? 0;
    state.costTn.value = context.cost_tn ?? 0;
    if (where !== known.where) state.where.value = where; // or what is being typed, or counted, would go
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
