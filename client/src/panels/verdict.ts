/** The decision in four tiles: model, threshold, cost, uncertainty, and the state that it belongs to. */

import { computed, effect } from "@preact/signals-core";

import { pause } from "../chart/scheduling";
import { colourOf } from "../charts/shared";
import { type Decided, textAt } from "../data";
import { become, button, dress, h, setText, type Sketch, sketch } from "../dom";
import { chance, LONGEST_NAME, minus, number, percent, rounded, shorten } from "../format";
import { type Context, expectedCost, trivial } from "../math/context";
import { type Choice, costAt, leastWithin } from "../math/hull";
import { samplePrevalence } from "../math/levels";
import { contextOf, levelOf, modelOf } from "../state/current";
import { type State, wordsOf } from "../state/state";

export interface Certainty extends Decided {
  /** The state that the numbers belong to, where that is not the state shown; empty where it is. */
  readonly other: string;
}

/** What the file says about the state that it was made for. */
export function certaintyOf(state: State): Certainty | null {
  const { decided, context } = state.report;
  if (!decided) return null;
  const now = contextOf(state);
  const unchanged = (Object.keys(now) as (keyof Context)[]).every((key) => now[key] === context[key]);
  const rows = state.rows.part.value === 0 && !state.rows.applied.value;
  const models = state.models.all.value.some(state.models.hidden);
  const same = unchanged && rows && !models && state.campaign.within.value === 1;
  if (same && !state.selection.moved.value) return { ...decided, other: "" };
  const share = context.target_prevalence ?? samplePrevalence(modelOf(state).levels);
  const all = state.report.parts.length > 1 ? ", all rows" : "";
  return { ...decided, other: `at the best threshold for costs ${number(context.cost_fp)} and ${number(context.cost_fn)}, prevalence ${percent(share)}${all}` };
}

/** Least share of resamples that makes a choice clear: the level of the intervals. */
const CLEAR = 0.95;

/** Whether the choice is clear, a close call, or not worth acting on; empty where that is not known. */
export function standingOf(state: State): keyof typeof STANDING {
  const { model, level } = state.selection.best.value;
  if (level === 0 || level === state.models.all.value[model]!.levels.size - 1) return "idle";
  const certainty = certaintyOf(state);
  if (!certainty || certainty.other) return "";
  if (certainty.acting < 0.5) return "idle";
  return Math.min(certainty.best[model] ?? 1, certainty.acting) >= CLEAR ? "clear" : "close";
}

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

export function costOf(state: State, choice: Choice): number {
  const levels = state.models.all.value[choice.model]?.levels;
  if (!levels) return NaN;
  return costAt(levels, choice.level, contextOf(state));
}

interface Tile {
  readonly label: string;
  readonly value: string;
  /** The interval after the value. */
  readonly after?: string;
  readonly says: string;
  readonly colour?: string;
  /** Whether it describes another state than the one shown. */
  readonly stale?: boolean;
}

const STANDING = { clear: "clear choice", close: "close call", idle: "not worth acting", "": "" };

export function verdict(state: State): HTMLElement {
  const box = h("section", { "aria-label": "Decision" });
  const live = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const tiles = computed(() => tilesOf(state));
  effect(() => {
    dress(box, { class: `verdict ${standingOf(state)}` });
    become(box, tiles.value.map(sketchOf));
  });
  const said = (): string => box.textContent;
  let last = said();
  effect(() => {
    void pause.value;
    const text = said();
    if (text !== last) setTimeout(() => said() === text && setText(live, (last = text)), LONGER);
  });
  return h("div", {}, box, live);
}

/** A tile; its hidden punctuation makes the tiles a sentence for those who hear or copy it. */
function sketchOf({ label, value, after, says, colour, stale }: Tile): Sketch {
  const short = shorten(value, LONGEST_NAME);
  const numeral = sketch("strong", { "--colour": colour ?? null }, sketch("bdi", { title: short === value ? null : value }, short));
  const hidden = (text: string): Sketch => sketch("span", { class: "unseen" }, text);
  return sketch("div", { class: stale ? "stale" : null }, sketch("span", {}, label), hidden(" "), sketch("p", {}, numeral, sketch("small", {}, after ? ` ${after}` : "")), hidden(says ? ", " : ""), sketch("span", {}, says), hidden(". "));
}

function tilesOf(state: State): Tile[] {
  if (state.costs.rewardsErrors.value) return [{ label: "These costs reward both kinds of error", value: "Check the signs", says: "" }];
  return [modelTile(state), thresholdTile(state), costTile(state), certaintyTile(state)];
}

/** Everybody, nobody, or null where scores decide. */
function extreme(state: State): string | null {
  const level = levelOf(state);
  return level === 0 ? "nobody" : level === modelOf(state).levels.size - 1 ? "everybody" : null;
}

function modelTile(state: State): Tile {
  const { kind, name: rows } = state.rows.shown.value;
  const { name, index } = modelOf(state);
  const label = kind === "class" ? `${rows} against the rest: use` : "Use";
  const says = state.selection.moved.value ? "chosen by hand" : trivial(contextOf(state)) || STANDING[standingOf(state)];
  return extreme(state) ? { label, value: "no model", says } : { label, value: name, says, colour: colourOf(state, index) };
}

function thresholdTile(state: State): Tile {
  const level = levelOf(state);
  const says = `${percent(state.selection.rates.value.depth)} of cases`;
  const everybody = extreme(state);
  if (everybody) return { label: "Act on", value: everybody, says };
  return { label: wordsOf(state).threshold, value: minus(textAt(modelOf(state), level)), says };
}

function costTile(state: State): Tile {
  const unit = state.campaign.currency.value;
  const certainty = certaintyOf(state);
  const apparent = costOf(state, state.selection.current.value);
  if (!certainty || certainty.other) return { label: "Cost per case, on these rows", value: `${unit}${number(apparent)}`, says: costWords(state, apparent) };
  const [value, low, high] = rounded(certainty.value, certainty.low, certainty.high);
  return { label: "Cost per new case", value: `${unit}${value}`, after: `[${low}, ${high}]`, says: costWords(state, certainty.value) };
}

/** The cost against the best within reach where the reader moved away from it, and otherwise against no model. */
function costWords(state: State, cost: number): string {
  const { best, current, moved } = state.selection;
  const unit = state.campaign.currency.value;
  if (moved.value) return `${unit}${number(costOf(state, current.value) - costOf(state, best.value))} more per case than the best choice`;
  if (state.campaign.within.value < 1) {
    const gap = capacityGap(state);
    return gap > 0 ? `at most ${unit}${number(gap)} per case above the optimum within the capacity` : "the best choice within the capacity";
  }
  const { levels } = modelOf(state);
  const [all, none] = [1, 0].map((rate) => expectedCost(contextOf(state), rate, rate, samplePrevalence(levels))) as [number, number];
  const [least, whom] = all < none ? [all, "everybody"] : [none, "nobody"];
  if (cost >= least) return `not cheaper than ${wordsOf(state).acting} ${whom}`;
  return `saves ${least > 0 ? `${Number(((100 * (least - cost)) / least).toPrecision(2))}%` : unit + number(least - cost)} compared with ${wordsOf(state).acting} ${whom}`;
}

function certaintyTile(state: State): Tile {
  const certainty = certaintyOf(state);
  if (!certainty) return { label: "Uncertainty", value: "–", says: "no interval" };
  const { best, acting, other } = certainty;
  const place = state.selection.best.value.model;
  const [label, share] = best.length > 1 ? ["Best model in", other ? Math.max(...best) : (best[place] ?? NaN)] : ["Acting pays in", acting];
  const pays = best.length > 1 && acting < 0.95 ? `; acting pays in ${chance(acting)}` : "";
  return { label, value: chance(share), says: other || `of resamples${pays}`, stale: other !== "" };
}

/** By how much the best of the thresholds within the capacity that are in the file may miss the best there is. */
export function capacityGap(state: State): number {
  const { bestLevels, best } = state.selection;
  const bounds = state.models.all.value
    .filter((model) => bestLevels.value[model.index] !== null)
    .map(({ levels, deviation }) => leastWithin(levels, contextOf(state), state.campaign.within.value, deviation));
  return Math.max(0, costOf(state, best.value) - Math.min(...bounds));
}
