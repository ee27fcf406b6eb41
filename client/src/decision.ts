/** The decision as JSON, in the form that `rocscope.Decision` saves and loads. */

import { ratiosOf } from "./charts/winners";
import { DECISION_FORMAT, DECISION_VERSION } from "./constants.json";
import { download } from "./dom";
import { fileName } from "./format";
import { expectedCost, prevalenceOf, trivial } from "./math/context";
import { bestLevel, cheapest } from "./math/hull";
import { cellsAt, pointDict, ratesAt, sampleCells, samplePrevalence, thresholdAt } from "./math/levels";
import { capacityGap, costOf } from "./panels/verdict";
import { contextOf, levelOf, modelOf } from "./state/current";
import type { State } from "./state/state";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Fields = { readonly [key: string]: Json };

/** Options with which the command line reads the rows. */
export type ReadWith = Fields;

function decisionOf(state: State, readWith: ReadWith | null = null): Fields {
  const { levels, name, at_half } = modelOf(state);
  const level = levelOf(state);
  const context = contextOf(state);
  const share = prevalenceOf(context, samplePrevalence(levels));
  const costAt = (tpr: number, fpr: number): number => expectedCost(context, tpr, fpr, samplePrevalence(levels));
  const chosen = !state.selection.moved.value;
  const limit = state.campaign.within.value < 1 ? state.campaign.capacity.value : null;
  const always = chosen && limit === null ? trivial(context) : "";
  const threshold = thresholdAt(levels, level);
  const [tpr, fpr] = ratesAt(levels, level);
  const cost = costAt(tpr, fpr);
  const free = lowestCost(state);
  const defaultCost = costAt(at_half[0] / levels.nPos, at_half[1] / levels.nNeg);
  const population = limit === null ? null : state.campaign.population.value;
  const cells = (n: number): Fields => pointDict(cellsAt(tpr, fpr, share, n), threshold);
  return {
    model: name,
    threshold: Number.isFinite(threshold) ? threshold : null,
    ...(Number.isFinite(threshold) && !Number.isNaN(levels.next[level]) ? { next_score: finite(levels.next[level]!) } : {}),
    rule: Number.isFinite(threshold) ? "score >= threshold" : threshold > 0 ? "never" : "always",
    negated: false,
    expected_cost: cost,
    default_cost: defaultCost,
    hull_cost: free,
    treat_all_cost: costAt(1, 1),
    treat_none_cost: costAt(0, 0),
    regret: cost - free,
    criterion: chosen ? "min_cost" : "chosen by hand",
    criterion_value: chosen ? cost : null,
    ...intervals(state, chosen && !always && limit === null),
    prevalence: share,
    subject_to: limit === null ? [] : [`at most ${limit} of ${state.campaign.population.value} cases`],
    population,
    total_cost: population === null ? null : cost * population,
    tied: [],
    tie_break: "no tie",
    notes: notesOf(state, always),
    point: pointDict(sampleCells(levels, [levels.tp[level]!, levels.fp[level]!]), threshold),
    default_point: pointDict(sampleCells(levels, at_half), 0.5),
    per_thousand: cells(1000),
    in_population: population === null ? null : cells(population),
    lot: null,
    lot_cost: null,
    review: null,
    context: { ...context },
    ...(readWith && { read_with: readWith }),
  };
}

/** What a reader of the file has to know besides the numbers. */
function notesOf(state: State, always: string): string[] {
  const { kind, name } = state.rows.shown.value;
  const gap = capacityGap(state);
  return [
    ...(always ? [`trivial: ${always}`] : []),
    ...(kind === "all" ? [] : [kind === "class" ? `positive: class ${name}, negative: all others` : `of the rows of ${kind} ${name}`]),
    ...(state.rows.applied.value ? [`of the rows where ${state.rows.applied.value}`] : []),
    ...(gap > 0 ? [`among the thresholds in the report; at most ${gap.toPrecision(3)} per case above the optimum`] : []),
  ];
}

/** Expected cost of the best of all thresholds of all models, whatever the capacity and whatever is hidden. */
function lowestCost(state: State): number {
  const all = state.models.all.value.map((model) => model.levels);
  const choice = cheapest(all, all.map((levels) => bestLevel(levels, contextOf(state))), contextOf(state));
  return choice ? costOf(state, choice) : NaN;
}

/** Slopes, cost ratios and prevalences for which the choice stays the best. */
function intervals(state: State, known: boolean): Fields {
  const { levels } = modelOf(state);
  const level = levelOf(state);
  const region = state.models.regions.value.find((r) => r.tpr === levels.tpr[level] && r.fpr === levels.fpr[level]);
  if (!known || !region) return { slope_interval: null, cost_ratio_interval: null, prevalence_interval: null };
  const { cost_fp, cost_fn, cost_tp, cost_tn } = contextOf(state);
  const ratio = (cost_fp - cost_tn) / (cost_fn - cost_tp);
  const share = (slope: number): number => ratio / (ratio + slope);
  return {
    slope_interval: [region.low, finite(region.high)],
    cost_ratio_interval: ratiosOf(state, region).map(finite),
    prevalence_interval: ratio > 0 && ratio < Infinity ? [share(region.high), share(region.low)] : null,
  };
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** JSON with sorted keys, ASCII only, numbers as Python writes them: what the checksum is taken of. */
function canonical(value: Json): string {
  if (typeof value === "number") return pythonNumber(value);
  if (typeof value === "string") return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const fields = value as Fields;
  const keys = Object.keys(fields).sort();
  return `{${keys.map((key) => `${canonical(key)}:${canonical(fields[key] ?? null)}`).join(",")}}`;
}

function escaped(unit: string): string {
  return unit === "\u007f" ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function pythonNumber(value: number): string {
  if (value === 0 || Math.abs(value) >= 1e-4) return JSON.stringify(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

export async function saveDecision(state: State, readWith: ReadWith | null): Promise<void> {
  const fields = decisionOf(state, readWith);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(fields)));
  const checksum = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const text = `${JSON.stringify({ format: DECISION_FORMAT, version: DECISION_VERSION, checksum, ...fields }, null, 1)}\n`;
  download(`${fileName(state.report.title, "decision")}.json`, text, "application/json");
}
