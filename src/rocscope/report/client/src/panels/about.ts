/** Differences between models, warnings, conventions and provenance. */

import type { Report } from "../data";
import { h, name, scroller, table } from "../dom";
import { fixed } from "../format";

export function about(report: Report): HTMLElement[] {
  return [
    ...(report.comparisons.length ? [comparisons(report)] : []),
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
  const rows = report.comparisons.map((pair) => [
    h("span", {}, name(pair.a), " − ", name(pair.b)),
    fixed(pair.difference, 4),
    pair.low === null ? "–" : `[${fixed(pair.low, 4)}, ${fixed(pair.high, 4)}]`,
    pair.p_value === null ? "–" : pair.p_value < 0.001 ? "< 0.001" : pair.p_value.toFixed(3),
  ]);
  const method = [...new Set(report.comparisons.map((pair) => pair.method))].join("; ");
  return h(
    "section",
    { class: "card wide", id: "comparisons", "aria-labelledby": "comparisons-title" },
    h("header", {}, h("h2", { id: "comparisons-title" }, "Differences in AUC")),
    scroller("Table of differences", table(["models", "difference", "95% interval", "p"], rows)),
    h("p", { class: "caption" }, method),
  );
}
