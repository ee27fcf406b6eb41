/** A campaign: whom to contact with what effect. The unit cost and benefit are the costs of the bar in other words. */

import { offers } from "../chart/export";
import { follow, inSight } from "../chart/visible";
import { textAt } from "../data";
import { become, card, entry, h, scroller, setText, table, terms } from "../dom";
import { count, csvOf, fixed, minus, number, percent } from "../format";
import { capacityNote, falseAlarmCost, missCost, MOST_AMOUNT, profitOf } from "../math/context";
import { depthAt } from "../math/levels";
import { contextOf, levelOf, modelOf, shareOf } from "../state/current";
import type { State } from "../state/state";
import { capacityGap } from "./verdict";

function entries({ campaign, costs }: State): HTMLElement[] {
  const positive = (text: string, use: (value: number) => void, least = 0): void => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isFinite(value) && value >= least && value <= MOST_AMOUNT) use(value);
  };
  const alarm = (): number => falseAlarmCost(costs.context.value);
  const benefit = (): number => alarm() + missCost(costs.context.value);
  const setBenefit = (value: number, cost: number): void => void (costs.fn.value = Math.max(0, tidy(value - cost + costs.tp.value)));
  const setCost = (value: number): void => {
    const kept = benefit();
    costs.fp.value = tidy(value + costs.tn.value);
    setBenefit(kept, value);
  };
  const { population, capacity, fixedCost, currency } = campaign;
  const limit = (text: string): void => (text.trim() === "" ? void (capacity.value = null) : positive(text, (value) => (capacity.value = value)));
  const field = (id: string, label: string, value: () => number, set: (value: number) => void, least?: number): HTMLElement[] => {
    return entry(id, label, () => String(value()), (text) => positive(text, set, least), { min: 0 });
  };
  return [
    ...field("population", "Population", () => population.value, (value) => (population.value = value), 1),
    ...entry("capacity", "Capacity", () => String(capacity.value ?? ""), limit, { min: 0, placeholder: "no limit" }),
    ...field("unit-cost", "Cost per contact", () => tidy(alarm()), setCost),
    ...field("unit-benefit", "Benefit per response", () => tidy(benefit()), (value) => setBenefit(value, alarm())),
    ...field("fixed-cost", "Fixed cost", () => fixedCost.value, (value) => (fixedCost.value = value)),
    ...entry("currency", "Currency", () => currency.value, (text) => (currency.value = text.slice(0, 8)), { type: "text" }),
  ];
}

const tidy = (value: number): number => Number(value.toPrecision(12));

export function campaignCard(state: State): HTMLElement {
  const form = h("div", { class: "entries" }, ...entries(state));
  const outcome = h("dl", { class: "rates" });
  const [stored, limit] = [h("p", { class: "caption" }), h("p", { class: "caption" })];
  follow(inSight(outcome), () => {
    become(outcome, terms(outcomes(state)));
    const note = capacityNote(state.campaign.terms.value);
    setText(limit, note && `${note[0]!.toUpperCase()}${note.slice(1)}.`);
    const gap = state.campaign.within.value < 1 && !state.selection.moved.value ? capacityGap(state) : 0;
    setText(stored, gap > 0 ? `Computed at ${minus(textAt(modelOf(state), levelOf(state)))}, the nearest stored threshold within the capacity.` : "");
  });
  return card("campaign", "", "Campaign", [], form, limit, outcome, stored);
}

function outcomes(state: State): [string, string][] {
  const { tpr, fpr, depth, precision } = state.selection.rates.value;
  const n = state.campaign.population.value;
  const gain = profitOf(contextOf(state), state.campaign.terms.value, shareOf(state))(tpr, fpr);
  return [
    ["Contacted", count(depth * n)],
    ["Responders", count(shareOf(state) * tpr * n)],
    ["Response rate", percent(precision)],
    ["Profit", `${state.campaign.currency.value}${number(gain)}`],
  ];
}

const DECILE_COLUMNS = ["depth", "gain", "cumulative gain", "lift", "size", "responders", "non-responders", "profit"];

/**
 * The campaign at each tenth of the population by decreasing score, as `ProfitCurve.table` has it: all but the gain
 * are of everybody to that depth. Within ties it is interpolated, as contacting them at random would be.
 */
export function decilesOf(state: State): number[][] {
  const { levels } = modelOf(state);
  const share = shareOf(state);
  const n = state.campaign.population.value;
  const depth = depthsOf(state);
  const gainAt = (x: number): number => {
    const after = levelAfter(depth, x);
    const [x0, x1] = [depth[after - 1] ?? 0, depth[after] ?? 1];
    const part = x1 > x0 ? Math.min(1, (x - x0) / (x1 - x0)) : 1;
    return (levels.tpr[after - 1] ?? 0) + part * ((levels.tpr[after] ?? 0) - (levels.tpr[after - 1] ?? 0));
  };
  const money = profitOf(contextOf(state), state.campaign.terms.value, share);
  return Array.from({ length: 10 }, (_, i) => {
    const [before, gain] = [i === 0 ? 0 : gainAt(i / 10), i === 9 ? 1 : gainAt((i + 1) / 10)];
    const to = (i + 1) / 10;
    const responders = n * share * gain;
    const fpr = Math.max(0, (to - share * gain) / (1 - share));
    return [to, gain - before, gain, gain / to, n * to, responders, n * to - responders, money(gain, fpr)];
  });
}

function depthsOf(state: State): Float64Array {
  const { levels } = modelOf(state);
  return levels.tpr.map((_, i) => depthAt(levels, i, shareOf(state)));
}

const levelAfter = (depth: Float64Array, x: number): number => Math.max(1, depth.findIndex((d) => d >= x - 1e-12));

/** Which deciles end where scores are left out of the file, so that the line between stored thresholds is no tie. */
function decilesNote(state: State): string {
  const { next, threshold } = modelOf(state).levels;
  const depth = depthsOf(state);
  const places = Array.from({ length: 9 }, (_, i) => (i + 1) / 10).filter((x) => {
    const after = levelAfter(depth, x);
    return Math.abs(depth[after]! - x) > 1e-12 && next[after - 1] !== threshold[after];
  });
  return places.length ? `Numbers at depth ${places.map(percent).join(", ")} are interpolated between stored thresholds.` : "";
}

export function decilesCard(state: State): HTMLElement {
  const box = scroller("Table of deciles");
  const note = h("p", { class: "caption" });
  follow(inSight(box), () => {
    const rows = decilesOf(state).map(([depth = 0, part = 0, gain = 0, lift = 0, size = 0, hits = 0, rest = 0, money = 0]) => [
      percent(depth),
      percent(part),
      percent(gain),
      fixed(lift, 2),
      count(size),
      count(Math.round(hits)),
      count(Math.round(rest)),
      number(money),
    ]);
    box.replaceChildren(table(DECILE_COLUMNS, rows));
    setText(note, decilesNote(state));
  });
  offers.set("deciles", { title: () => "Deciles", csv: () => csvOf(DECILE_COLUMNS, decilesOf(state)) });
  return card("deciles", "", "Deciles", [], box, note);
}
