/** A campaign: whom to contact with what effect. The unit cost and benefit are the costs of the bar in other words. */

import { effect } from "@preact/signals-core";

import { csvOf, fileName } from "../chart/export";
import { follow, inSight } from "../chart/visible";
import { become, button, card, download, h, scroller, table, terms } from "../dom";
import { count, fixed, number, percent } from "../format";
import { falseAlarmCost, missCost } from "../math/context";
import { depthAt } from "../math/levels";
import { profit } from "../math/profit";
import { MOST_AMOUNT, type State } from "../state";

interface Entry {
  readonly id: string;
  readonly label: string;
  readonly read: () => string;
  readonly write: (text: string) => void;
  readonly kind?: "text";
}

function entries(state: State): Entry[] {
  const positive = (text: string, use: (value: number) => void, least = 0): void => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isFinite(value) && value >= least && value <= MOST_AMOUNT) use(value);
  };
  const benefit = (): number => falseAlarmCost(state.context.value) + missCost(state.context.value);
  const setBenefit = (value: number, cost: number): void => {
    state.costFn.value = Math.max(0, tidy(value - cost + state.costTp.value));
  };
  return [
    { id: "population", label: "Population", read: () => String(state.population.value), write: (t) => positive(t, (v) => (state.population.value = v), 1) },
    {
      id: "capacity",
      label: "Contact at most",
      read: () => (state.capacity.value === null ? "" : String(state.capacity.value)),
      write: (t) => (t.trim() === "" ? (state.capacity.value = null) : positive(t, (v) => (state.capacity.value = v))),
    },
    {
      id: "unit-cost",
      label: "Cost of a contact",
      read: () => String(tidy(falseAlarmCost(state.context.value))),
      write: (t) =>
        positive(t, (v) => {
          const kept = benefit();
          state.costFp.value = tidy(v + state.costTn.value);
          setBenefit(kept, v);
        }),
    },
    { id: "unit-benefit", label: "Benefit of a response", read: () => String(tidy(benefit())), write: (t) => positive(t, (v) => setBenefit(v, falseAlarmCost(state.context.value))) },
    { id: "fixed-cost", label: "Fixed cost", read: () => String(state.fixedCost.value), write: (t) => positive(t, (v) => (state.fixedCost.value = v)) },
    { id: "currency", label: "Currency", read: () => state.currency.value, write: (t) => (state.currency.value = t.slice(0, 8)), kind: "text" },
  ];
}

const tidy = (value: number): number => Number(value.toPrecision(12));

export function campaignCard(state: State): HTMLElement {
  const form = h("div", { class: "entries" });
  for (const { id, label, read, write, kind } of entries(state)) {
    const input = h("input", { id, type: kind ?? "number", step: "any", min: kind ? null : 0, autocomplete: "off", placeholder: id === "capacity" ? "no limit" : null });
    input.addEventListener("input", () => write(input.value));
    input.addEventListener("blur", () => (input.value = read()));
    effect(() => {
      const text = read();
      if (document.activeElement !== input) input.value = text;
    });
    form.append(h("label", { for: id }, label), input);
  }
  const outcome = h("dl", { class: "rates" });
  follow(inSight(outcome), () => become(outcome, terms(outcomes(state))));
  return card("campaign", "", "Campaign", [], form, outcome);
}

function outcomes(state: State): [string, string][] {
  const { tpr, fpr, depth, precision } = state.rates.value;
  const n = state.population.value;
  const gain = profit(state.context.value, state.campaign.value, state.share.value, tpr, fpr);
  return [
    ["Contacted", count(depth * n)],
    ["Responders", count(state.share.value * tpr * n)],
    ["Response rate", percent(precision)],
    ["Profit", `${state.currency.value}${number(gain)}`],
  ];
}

const DECILE_COLUMNS = ["depth", "gain", "cumulative gain", "lift", "size", "responders", "non-responders", "profit"];

/**
 * The campaign at each tenth of the population by decreasing score, as `ProfitCurve.table` has it: all but the gain
 * are of everybody to that depth. Within ties it is interpolated, as contacting them at random would be.
 */
export function decilesOf(state: State): number[][] {
  const { levels } = state.model.value;
  const share = state.share.value;
  const n = state.population.value;
  const depth = levels.tpr.map((_, i) => depthAt(levels, i, share));
  const gainAt = (x: number): number => {
    const after = Math.max(1, depth.findIndex((d) => d >= x - 1e-12));
    const [x0, x1] = [depth[after - 1] ?? 0, depth[after] ?? 1];
    const part = x1 > x0 ? Math.min(1, (x - x0) / (x1 - x0)) : 1;
    return (levels.tpr[after - 1] ?? 0) + part * ((levels.tpr[after] ?? 0) - (levels.tpr[after - 1] ?? 0));
  };
  return Array.from({ length: 10 }, (_, i) => {
    const [before, gain] = [i === 0 ? 0 : gainAt(i / 10), i === 9 ? 1 : gainAt((i + 1) / 10)];
    const to = (i + 1) / 10;
    const responders = n * share * gain;
    const fpr = Math.max(0, (to - share * gain) / (1 - share));
    const money = profit(state.context.value, state.campaign.value, share, gain, fpr);
    return [to, gain - before, gain, gain / to, n * to, responders, n * to - responders, money];
  });
}

export function decilesCard(state: State): HTMLElement {
  const box = scroller("Table of tenths");
  const visible = inSight(box);
  effect(() => {
    if (!visible.value) return;
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
  });
  const save = button("CSV", () => download(`${fileName(state.model.value.name, "tenths")}.csv`, csvOf(DECILE_COLUMNS, decilesOf(state))), {
    class: "quiet-button",
    "aria-label": "Save the tenths as CSV",
  });
  return card("deciles", "two", "By tenths of the ranking", [save], box);
}
