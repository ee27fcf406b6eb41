/** The decision in words. */

import { computed, effect } from "@preact/signals-core";

import { pause } from "../chart/frames";
import { ratiosOf } from "../charts/winners";
import { colourOf } from "../charts/shared";
import type { Comparison, Slice } from "../data";
import { become, h, setText, type Sketch, sketch } from "../dom";
import { number, percent } from "../format";
import { trivial } from "../math/context";
import { type Choice, costAt, leastWithin } from "../math/hull";
import type { State } from "../state";

/** Milliseconds after a pause until a verdict is read aloud: one that is left again is not. */
const LONGER = 400;

type Word = string | { readonly strong: string; readonly model?: number };

export function costOf(state: State, choice: Choice): number {
  const levels = state.models.value[choice.model]?.levels;
  if (!levels) return NaN;
  return costAt(levels, choice.level, state.context.value);
}

export function verdict(state: State): HTMLElement {
  const line = h("p", { class: "verdict" });
  const live = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const words = computed(() => wordsOf(state));
  const said = (): string => words.peek().map((word) => (typeof word === "string" ? word : word.strong)).join("");
  let last = said();
  effect(() => become(line, words.value.map((word) => (typeof word === "string" ? word : strong(state, word)))));
  effect(() => {
    void pause.value;
    const text = said();
    if (text !== last) setTimeout(() => said() === text && setText(live, (last = text)), LONGER);
  });
  return h("div", { class: "verdict-box" }, line, live);
}

function strong(state: State, { strong: text, model }: { strong: string; model?: number }): Sketch {
  return sketch("strong", model === undefined ? {} : { "--colour": colourOf(state, model) }, sketch("bdi", {}, text));
}

function wordsOf(state: State): Word[] {
  if (state.invalid.value) return ["These costs reward errors of both kinds: ", { strong: "check their signs" }, "."];
  const { current, best } = state;
  const words = [...classWords(state), ...placeWords(state, current.value), ...costWords(state)];
  const moved = current.value.model !== best.value.model || current.value.level !== best.value.level;
  return moved ? [...words, ...regretWords(state)] : [...words, ...rangeWords(state), ...comparisonWords(state)];
}

function classWords(state: State): Word[] {
  const { kind, name: cls } = state.rows.value;
  return kind === "class" ? [{ strong: cls }, " or not: "] : [];
}

function placeWords(state: State, { model, level }: Choice): Word[] {
  const found = state.models.value[model];
  if (!found) return [];
  if (level === 0) return [{ strong: "Predict nobody positive" }];
  if (level === found.levels.size - 1) return [{ strong: "Predict everybody positive" }];
  const text = found.thresholdText?.[level - 1] ?? number(found.levels.threshold[level] ?? 0);
  return [{ strong: found.name, model }, " at ", { strong: text }];
}

function costWords(state: State): Word[] {
  const cost = `${state.currency.value}${number(costOf(state, state.current.value))}`;
  const { depth, accuracy } = state.rates.value;
  return [": expected cost ", { strong: cost }, ` per case, ${percent(depth)} predicted positive, accuracy ${percent(accuracy)}`];
}

function regretWords(state: State): Word[] {
  const more = costOf(state, state.current.value) - costOf(state, state.best.value);
  return ["; ", { strong: `${number(more)} more` }, " per case than the best, ", ...placeWords(state, state.best.value), "."];
}

/** By how much the best of the thresholds within the capacity that are in the file may miss the best there is. */
export function capacityGap(state: State): number {
  const { within, context, models, bestLevels, best } = state;
  const bounds = models.value
    .filter((model) => bestLevels.value[model.index] !== null)
    .map(({ levels, deviation }) => leastWithin(levels, context.value, within.value, deviation));
  return Math.max(0, costOf(state, best.value) - Math.min(...bounds));
}

function rangeWords(state: State): Word[] {
  const { model, level } = state.best.value;
  if (state.within.value < 1) {
    const gap = capacityGap(state);
    return [gap > 0 ? `; the best within the capacity of the thresholds kept here, at most ${number(gap)} per case from the best of all.` : "; the best within the capacity."];
  }
  const always = trivial(state.context.value);
  if (always) return [`; ${always}`];
  const levels = state.models.value[model]?.levels;
  const [tpr, fpr] = [levels?.tpr[level], levels?.fpr[level]];
  const region = state.regions.value.find((r) => r.tpr === tpr && r.fpr === fpr);
  if (!region) return ["."];
  const [low, high] = ratiosOf(state, region);
  const range = high === Infinity ? `at least ${number(low)}` : low === 0 ? `at most ${number(high)}` : `in\u00a0[${number(low)},\u00a0${number(high)}]`;
  return [`; this threshold is the best while the cost ratio is ${range}`];
}

/** Whether the best model's AUC differs from that of the next cheapest. */
function comparisonWords(state: State): Word[] {
  const { best, models, bestLevels, rows } = state;
  const winner = models.value[best.value.model];
  let next: { index: number; cost: number } | null = null;
  bestLevels.value.forEach((level, index) => {
    if (level === null || index === best.value.model) return;
    const cost = costOf(state, { model: index, level });
    if (next === null || cost < next.cost) next = { index, cost };
  });
  const runner = next === null ? undefined : models.value[(next as { index: number }).index];
  const pair = winner && runner ? pairOf(rows.value, winner.index, runner.index) : undefined;
  const p = pair?.[6] ?? pair?.[5];
  if (!runner || p == null) return ["."];
  const text = p < 0.001 ? "p\u00a0<\u00a00.001" : `p\u00a0=\u00a0${p.toFixed(3)}`;
  return ["; difference in AUC to ", { strong: runner.name, model: runner.index }, ` ${p < 0.05 ? "" : "not "}significant (${text}).`];
}

function pairOf({ comparisons }: Slice, a: number, b: number): Comparison | undefined {
  return comparisons.rows.find(([first, second]) => (first === a && second === b) || (first === b && second === a));
}
