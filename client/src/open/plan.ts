/** A saved decision applied to the next list: whom to act on, and what acting has brought where answers are known. */

import { DECISION_FORMAT } from "../constants.json";
import { Refused, shown } from "../count/errors";
import { become, button, card, download, h, terms } from "../dom";
import { count, fileName, number, percent, withEnds } from "../format";
import { wilson } from "../math/levels";
import type { Applied, Plan } from "./messages";

const MOST_BYTES = 1 << 20; // a decision has some thousand

/** The decision that a file holds; null for a file of data. */
export async function planIn(file: File): Promise<Plan | null> {
  if (!/\.json$/i.test(file.name) || file.size > MOST_BYTES) return null;
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(await file.text()) as Record<string, unknown>;
  } catch {
    return null;
  }
  const { format, model, threshold, rule } = fields;
  if (typeof format !== "string" || !format.startsWith("rocscope.")) return null;
  const plain = format === DECISION_FORMAT && !fields["negated"] && !fields["lot"] && !fields["review"] && ["score >= threshold", "always", "never"].includes(String(rule));
  if (!plain || typeof model !== "string") throw new Refused(file.name, { expected: "a decision by one threshold", got: shown(format), hint: "apply it with: rocscope apply" });
  const options = (fields["read_with"] ?? {}) as { label?: string; pos_label?: string };
  const cells = fields["per_thousand"] as { tp: number; fp: number };
  const { cost_fp = 1, cost_fn = 1, cost_tp = 0, cost_tn = 0 } = (fields["context"] ?? {}) as Record<string, number>;
  const limits: Record<string, number> = { always: -Infinity, never: Infinity };
  return {
    file: file.name,
    model,
    threshold: typeof threshold === "number" ? threshold : limits[String(rule)]!,
    label: options.label ?? null,
    positive: options.pos_label ?? null,
    rate: cells.tp / (cells.tp + cells.fp),
    gain: cost_fn - cost_tp,
    cost: cost_fp - cost_tn,
  };
}

/** The list that a plan draws, to be saved, and its outcomes. */
export function planCard(plan: Plan, list: File, { rows, acted, missing, known, hits, text }: Applied): HTMLElement {
  const gaps: [string, string][] = missing ? [["Rows without a score", count(missing)]] : [];
  const outcomes: [string, string][] = known
    ? [
        ["Responses", `${count(hits)} of ${count(known)}`],
        ["Response rate", withEnds(hits / known, ...wilson(hits, known), percent)],
        ["Response rate in the plan", percent(plan.rate)],
        ["Gain over acting on nobody", number(hits * plan.gain - (known - hits) * plan.cost)],
      ]
    : [];
  const figures = h("dl", { class: "rates" });
  become(figures, terms([["Act on", `${count(acted)} of ${count(rows)}`], ...gaps, ...outcomes]));
  const rule = `${plan.model} ≥ ${number(plan.threshold)}`;
  const save = button("Save list", () => download(`${fileName(list.name, "list")}.csv`, text), { class: "primary", id: "save-list" });
  const said = known ? "The interval has a level of 95%. Gains are in the units of the plan's costs." : "The list contains the rows to act on, with the highest scores first. To see the outcomes, open the plan again with a file of the answers.";
  return card("plan", "", `${plan.file} applied to ${list.name}`, [save], h("p", {}, `Act if ${rule}.`), figures, h("p", { class: "caption" }, said));
}
