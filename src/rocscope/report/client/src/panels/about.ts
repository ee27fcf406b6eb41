/** Differences between models, warnings, conventions and provenance. */

import type { Report } from "../data";
import { h, name, scroller, table } from "../dom";
import { fixed } from "../format";

export function about(report: Report): HTMLElement[] {
  return [
    ...(report.comparisons.rows.length ? [comparisons(report)] : []),
    h(
      "section",
      { class: "card wide about", id: "about", "aria-labelledby": "about-title" },
      h("header", {}, h("h2", { id: "about-title" }, "Conventions and provenance")),
      ...(report.warnings.length ? [h("ul", { class: "warnings" }, ...report.warnings.map((text) => h("li", { dir: "auto" }, text)))] : []),
      h("ul", {}, ...report.conventions.map((text) => h("li", {}, text))),
      h(
        "dl",
        { class: "provenance" },
        ...Object.entries(report.provenance)
          .filter(([, value]) => value !== null && value !== "")
          .map(([term, value]) => h("div", {}, h("dt", {}, term.replaceAll("_", " ")), h("dd", {}, String(value)))),
      ),
    ),
  ];
}

function comparisons(report: Report): HTMLElement {
  const models = report.slices[0]?.models ?? [];
  const text = (p: number | null | undefined): string => (p == null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));
  const rows = report.comparisons.rows.map(([first, second, difference, low, high, p, adjusted]) => [
    h("span", {}, name(models[second]?.name ?? ""), " − ", name(models[first]?.name ?? "")),
    fixed(difference, 4),
    low == null ? "–" : `[${fixed(low, 4)}, ${fixed(high, 4)}]`,
    text(p),
    text(adjusted),
  ]);
  return h(
    "section",
    { class: "card wide", id: "comparisons", "aria-labelledby": "comparisons-title" },
    h("header", {}, h("h2", { id: "comparisons-title" }, "Differences in AUC")),
    scroller("Table of differences", table(["models", "difference", "95% interval", "p", "p among all pairs"], rows)),
    h("p", { class: "caption" }, report.comparisons.method),
  );
}
