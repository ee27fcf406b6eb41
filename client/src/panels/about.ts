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

/** Columns of a table that fit beside each other: the measure and six models. */
const MOST_COLUMNS = 7;

/** What a validation reports, with intervals, for all rows and the costs that the report was made for. */
export function validationCard({ report: { validation } }: State): HTMLElement[] {
  const tables = Object.entries(validation).map(([domain, measures]) => {
    const rows = Object.keys(measures[0] ?? {}).length > MOST_COLUMNS ? turned(measures) : measures;
    const box = scroller(`Table of ${domain.toLowerCase()}`, textTable(rows, domain));
    box.style.setProperty("--columns", String(Object.keys(rows[0] ?? {}).length));
    return box;
  });
  const note = "Computed from all rows, at the initial costs and prevalence of the report. Brackets contain 95% confidence intervals.";
  return tables.length ? [card("validation", "wide", "Validation", [], ...tables, h("p", { class: "caption" }, note))] : [];
}

function turned(measures: readonly Readonly<Record<string, string>>[]): Record<string, string>[] {
  const [first = "", ...models] = Object.keys(measures[0]!);
  return models.map((model) => Object.fromEntries([["model", model], ...measures.map((row) => [row[first] ?? "", row[model] ?? ""])]));
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

function pairWords(models: number, shown: number): string {
  const all = (models * (models - 1)) / 2;
  if (!shown) return models > MOST_COMPARED ? `The ${count(all)} pairs of ${models} models are not compared. At most ${MOST_COMPARED} models are compared in pairs.` : "";
  if (shown < all) return `The table has ${count(shown)} of ${count(all)} pairs.`;
  return shown > PAIRS_IN_SIGHT ? `Scroll the table to see all ${count(shown)} pairs.` : "";
}

function comparisonTable(models: readonly Model[], { rows }: Comparisons): HTMLElement {
  const text = (p: number | null | undefined): string => (p == null ? "–" : pValue(p));
  const cells = rows.map(([first, second, difference, low, high, p, adjusted]) => {
    const up = difference >= 0;
    const [higher, lower] = (up ? [second, first] : [first, second]).map((index) => name(models[index]?.name ?? "", LONGEST_NAME)) as [HTMLElement, HTMLElement];
    const ends = low == null || high == null ? "–" : up ? `[${fixed(low, 4)}, ${fixed(high, 4)}]` : `[${fixed(-high, 4)}, ${fixed(-low, 4)}]`;
    const sure = adjusted ?? p;
    const says = sure == null ? [lower] : sure < 0.05 ? ["higher than ", lower] : ["not significantly higher than ", lower];
    return [higher, h("span", {}, ...says), fixed(Math.abs(difference), 4), ends, text(p), text(adjusted)];
  });
  return table(["AUC of", "is", "difference", "95% CI", "p", "adjusted p"], cells);
}
