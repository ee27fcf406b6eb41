/** Differences between models, warnings, conventions and provenance. */

import { effect } from "@preact/signals-core";

import type { Comparisons, Model } from "../data";
import { card, h, name, scroller, setText, table } from "../dom";
import { count, fixed, minus } from "../format";
import type { State } from "../state";

/** What a validation reports, with intervals, for all rows and the costs that the report was made for. */
export function validationCard({ report: { validation } }: State): HTMLElement[] {
  const tables = Object.entries(validation).map(([domain, rows]) => {
    const columns = Object.keys(rows[0] ?? {});
    const lines = rows.map((row) => columns.map((column, i) => name(i ? minus(row[column] ?? "") : (row[column] ?? ""))));
    const box = scroller(`Table of ${domain.toLowerCase()}`, table([domain, ...columns.slice(1)], lines));
    box.style.setProperty("--columns", String(columns.length));
    return box;
  });
  const note = "All rows, at the costs and the class mix that this report was made for; 95% intervals in brackets.";
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

function comparisonsCard(state: State): HTMLElement {
  const box = scroller("Table of differences");
  const method = h("p", { class: "caption" });
  const element = card("comparisons", "wide", "Differences in AUC", [], box, method);
  effect(() => {
    const { models, comparisons } = state.rows.value;
    element.hidden = comparisons.rows.length === 0;
    box.replaceChildren(comparisonTable(models, comparisons));
    setText(method, comparisons.method && `${comparisons.method}.`);
  });
  return element;
}

function comparisonTable(models: readonly Model[], { rows }: Comparisons): HTMLElement {
  const text = (p: number | null | undefined): string => (p == null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));
  const cells = rows.map(([first, second, difference, low, high, p, adjusted]) => [
    h("span", {}, name(models[second]?.name ?? ""), " − ", name(models[first]?.name ?? "")),
    fixed(difference, 4),
    low == null ? "–" : `[${fixed(low, 4)}, ${fixed(high, 4)}]`,
    text(p),
    text(adjusted),
  ]);
  return table(["models", "difference", "95% interval", "p", "p among all pairs"], cells);
}
