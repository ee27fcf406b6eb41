/** Differences between models, warnings, conventions and provenance. */

import { effect } from "@preact/signals-core";

import { MOST_COMPARED } from "../constants";
import type { Comparisons, Model } from "../data";
import { card, h, name, scroller, setText, table, textTable } from "../dom";
import { count, fixed, LONGEST_NAME, pValue } from "../format";
import { tooltip } from "../inputs";
import type { State } from "../state/state";

/** Rows of the table of pairs that its height shows: see `#comparisons .scroll`. */
const PAIRS_IN_SIGHT = 7;

/** What a validation reports, with intervals, for all rows and the costs that the report was made for. */
export function validationCard({ report: { validation } }: State): HTMLElement[] {
  const tables = Object.entries(validation).map(([domain, rows]) => {
    const box = scroller(`Table of ${domain.toLowerCase()}`, textTable(rows, domain));
    box.style.setProperty("--columns", String(Object.keys(rows[0] ?? {}).length));
    return box;
  });
  const note = "All rows, at the costs and prevalence that the report was created with. 95% confidence intervals in brackets.";
  return tables.length ? [card("validation", "wide", "Validation", [], ...tables, h("p", { class: "caption" }, note))] : [];
}

export function about(state: State): HTMLElement[] {
  const { report } = state;
  return [
    comparisonsCard(state),
    card(
      "about",
      "wide about",
      "Conventions and provenance",
      [],
      ...(report.warnings.length ? [h("ul", { class: "warnings" }, ...report.warnings.map((text) => h("li", { dir: "auto" }, text)))] : []),
      h("ul", {}, ...report.conventions.map((text) => h("li", {}, text))),
      h(
        "dl",
        { class: "provenance" },
        ...Object.entries(report.provenance)
          .filter(([, value]) => value !== null && value !== "")
          .map(([term, value]) => h("div", {}, h("dt", {}, term.replaceAll("_", " ")), h("dd", {}, typeof value === "number" ? count(value) : value!))),
      ),
    ),
  ];
}

function comparisonsCard({ rows }: State): HTMLElement {
  const box = scroller("Table of differences");
  const pairs = h("p", { class: "caption" });
  const method = tooltip(() => rows.shown.value.comparisons.method && `Method: ${rows.shown.value.comparisons.method}.`);
  const element = card("comparisons", "wide", "Differences in AUC", [method], box, pairs);
  effect(() => {
    const { models, comparisons } = rows.shown.value;
    const said = pairWords(models.length, comparisons.rows.length);
    element.hidden = !said && !comparisons.rows.length;
    box.hidden = !comparisons.rows.length;
    box.replaceChildren(comparisonTable(models, comparisons));
    setText(pairs, said);
  });
  return element;
}

/** How many pairs are in the table, and how many are not. */
function pairWords(models: number, shown: number): string {
  const all = (models * (models - 1)) / 2;
  if (!shown) return models > MOST_COMPARED ? `The ${count(all)} pairs of ${models} models were not compared: that is done for up to ${MOST_COMPARED} models.` : "";
  if (shown < all) return `${count(shown)} of ${count(all)} pairs; ${count(all - shown)} are not compared.`;
  return shown > PAIRS_IN_SIGHT ? `${count(shown)} pairs; scroll the table to see all of them.` : "";
}

function comparisonTable(models: readonly Model[], { rows }: Comparisons): HTMLElement {
  const text = (p: number | null | undefined): string => (p == null ? "–" : pValue(p));
  const cells = rows.map(([first, second, difference, low, high, p, adjusted]) => [
    h("span", {}, name(models[second]?.name ?? "", LONGEST_NAME), " − ", name(models[first]?.name ?? "", LONGEST_NAME)),
    fixed(difference, 4),
    low == null ? "–" : `[${fixed(low, 4)}, ${fixed(high, 4)}]`,
    text(p),
    text(adjusted),
  ]);
  return table(["models", "difference", "95% interval", "p", "adjusted p"], cells);
}
