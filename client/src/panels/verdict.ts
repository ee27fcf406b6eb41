/** The decision in words. */

import { computed, effect } from "@preact/signals-core";

import { pause } from "../chart/scheduling";
import { ratiosOf } from "../charts/winners";
import { colourOf } from "../charts/shared";
import type { Comparison, Slice } from "../data";
import { become, button, h, setText, type Sketch, sketch } from "../dom";
import { LONGEST_NAME, number, percent, pValue, shorten } from "../format";
import { trivial } from "../math/context";
import { type Choice, costAt, leastWithin } from "../math/hull";
import type { State } from "../state/state";

/** Milliseconds after a pause until a verdict is read aloud: one that is left again is not. */
const LONGER = 400;

/** What the classes are called, where that was chosen on the page and can be changed. */
export interface ClassNames {
  readonly positive: string;
  readonly others: readonly string[];
  readonly turn: (other: string) => void;
}

/** Says at the top that scores run against the positive class, and offers the other one where it can be taken. */
export function direction(state: State, names?: ClassNames): HTMLElement {
  const line = h("p", { class: "few direction" });
  const short = (name: string): string => shorten(name, LONGEST_NAME);
  effect(() => {
    const models = state.models.all.value;
    const below = models.filter(({ auc }) => auc.value < 0.5).map(({ name }) => short(name));
    const all = below.length === models.length;
    line.hidden = !below.length;
    const whose = all ? "The AUC" : `The AUC of ${below.slice(0, 3).join(", ")}${below.length > 3 ? " and others" : ""}`;
    const said = names ? `higher scores go with “${names.others.join(", ")}”, not with “${names.positive}”. ` : "higher scores go with negatives.";
    const [other] = names?.others ?? [];
    const offer = names && other !== undefined && names.others.length === 1 && all ? [button(`Make “${short(other)}” the positive class`, () => names.turn(other))] : [];
    line.replaceChildren(`${whose} is below 0.5: ${said}`, ...offer);
  });
  return line;
}

type Word = string | { readonly strong: string; readonly model?: number };

export function costOf(state: State, choice: Choice): number {
  const levels = state.models.all.value[choice.model]?.levels;
  if (!levels) return NaN;
  return costAt(levels, choice.level, state.costs.context.value);
}

export function verdict(state: State): HTMLElement {
  const line = h("p", { class: "verdict" });
  line.addEventListener("click", () => line.classList.toggle("whole")); // on a phone two lines are shown
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
  return sketch("strong", model === undefined ? {} : { "--colour": colourOf(state, model) }, sketch("bdi", { title: shorten(text, LONGEST_NAME) === text ? null : text }, shorten(text, LONGEST_NAME)));
}

function wordsOf(state: State): Word[] {
  if (state.costs.rewardsErrors.value) return ["These costs reward both kinds of error. ", { strong: "Check their signs" }, "."];
  const { current, moved } = state.selection;
  const words = [...classWords(state), ...placeWords(state, current.value), ...costWords(state)];
  return moved.value ? [...words, ...regretWords(state)] : [...words, ...rangeWords(state), ...comparisonWords(state)];
}

function classWords(state: State): Word[] {
  const { kind, name: cls } = state.rows.shown.value;
  return kind === "class" ? [{ strong: cls }, " against the rest: "] : [];
}

function placeWords(state: State, { model, level }: Choice): Word[] {
  const found = state.models.all.value[model];
  if (!found) return [];
  if (level === 0) return [{ strong: "Predict nobody positive" }];
  if (level === found.levels.size - 1) return [{ strong: "Predict everybody positive" }];
  const text = found.thresholdText?.[level - 1] ?? number(found.levels.threshold[level] ?? 0);
  return [{ strong: found.name, model }, " at threshold ", { strong: text }];
}

function costWords(state: State): Word[] {
  const cost = `${state.campaign.currency.value}${number(costOf(state, state.selection.current.value))}`;
  const { depth, accuracy } = state.selection.rates.value;
  return [": expected cost ", { strong: cost }, ` per case, ${percent(depth)} predicted positive, accuracy ${percent(accuracy)}`];
}

function regretWords(state: State): Word[] {
  const more = costOf(state, state.selection.current.value) - costOf(state, state.selection.best.value);
  return ["; ", { strong: `${number(more)} more` }, " per case than the best, ", ...placeWords(state, state.selection.best.value), "."];
}

/** By how much the best of the thresholds within the capacity that are in the file may miss the best there is. */
export function capacityGap(state: State): number {
  const { bestLevels, best } = state.selection;
  const bounds = state.models.all.value
    .filter((model) => bestLevels.value[model.index] !== null)
    .map(({ levels, deviation }) => leastWithin(levels, state.costs.context.value, state.campaign.within.value, deviation));
  return Math.max(0, costOf(state, best.value) - Math.min(...bounds));
}

function rangeWords(state: State): Word[] {
  const { model, level } = state.selection.best.value;
  if (state.campaign.within.value < 1) {
    const gap = capacityGap(state);
    return [gap > 0 ? `; the best within the capacity among the thresholds in this file, at most ${number(gap)} per case above the optimum.` : "; the best within the capacity."];
  }
  const always = trivial(state.costs.context.value);
  if (always) return [`; ${always}`];
  const levels = state.models.all.value[model]?.levels;
  const [tpr, fpr] = [levels?.tpr[level], levels?.fpr[level]];
  const region = state.models.regions.value.find((r) => r.tpr === tpr && r.fpr === fpr);
  if (!region) return ["."];
  const [low, high] = ratiosOf(state, region);
  const range = high === Infinity ? `of at least ${number(low)}` : low === 0 ? `of at most ${number(high)}` : `from\u00a0${number(low)} to\u00a0${number(high)}`;
  return [`; this threshold is the best for cost ratios ${range}`];
}

/** Whether the best model's AUC differs from that of the next cheapest. */
function comparisonWords(state: State): Word[] {
  const best = state.selection.best.value.model;
  const others = state.selection.bestLevels.value.flatMap((level, model) => (level === null || model === best ? [] : [{ model, cost: costOf(state, { model, level }) }]));
  const [next] = others.sort((a, b) => a.cost - b.cost);
  const runner = next && state.models.all.value[next.model];
  const pair = runner && pairOf(state.rows.shown.value, best, runner.index);
  const p = pair?.[6] ?? pair?.[5];
  if (!runner || p == null) return ["."];
  const text = `p ${p < 0.001 ? "" : "= "}${pValue(p)}`.replaceAll(" ", "\u00a0");
  return ["; the difference in AUC from ", { strong: runner.name, model: runner.index }, ` is ${p < 0.05 ? "" : "not "}significant (${text}).`];
}

function pairOf({ comparisons }: Slice, a: number, b: number): Comparison | undefined {
  return comparisons.rows.find(([first, second]) => (first === a && second === b) || (first === b && second === a));
}
