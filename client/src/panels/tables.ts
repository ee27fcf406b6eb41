/** Tables of the report besides that of the models: cut-offs, segments, classes, differences, validation, provenance. */

import { effect } from "@preact/signals-core";

import { offers } from "../chart/export";
import { follow, inSight } from "../chart/visible";
import { MOST_COMPARED } from "../constants.json";
import { type Classes, type Comparisons, type Model, type Slice, textAt } from "../data";
import { become, button, card, h, name, rowHeading, scroller, setText, table, terms, textTable, tooltip } from "../dom";
import { count, csvOf, fixed, LONGEST_NAME, minus, number, percent, pValue, withEnds } from "../format";
import { prevalenceOf } from "../math/context";
import { bestLevel, costAt } from "../math/hull";
import { depthAt, levelAt, nearest, rates, samplePrevalence, thresholdAt, wilson } from "../math/levels";
import { contextOf, levelOf, modelOf, shareOf } from "../state/current";
import { showRows, type State, wordsOf } from "../state/state";

const SHARES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]; // predicted positive, near which a threshold is shown
const CUTOFF_COLUMNS = ["threshold", "tp", "fp", "fn", "tn", ...["sensitivity", "specificity", "precision"].flatMap((rate) => [rate, `${rate}_low`, `${rate}_high`]), "youden"];

type CutoffRow = readonly [threshold: number, tp: number, fp: number, fn: number, tn: number, ...rates: number[]];

const NONE = [NaN, NaN] as const;

/** One row of the table; intervals only of what whole cases were counted for, at the prevalence of the sample. */
function rowAt(state: State, level: number): CutoffRow {
  const { levels } = modelOf(state);
  const [tp, fp] = [levels.tp[level]!, levels.fp[level]!];
  const [tpr, fpr] = [levels.tpr[level]!, levels.fpr[level]!];
  const { precision } = rates(tpr, fpr, shareOf(state));
  const own = shareOf(state) === samplePrevalence(levels);
  const sure = (hits: number, n: number, known = true): readonly [number, number] => (levels.whole && known && n ? wilson(hits, n) : NONE);
  const [nPos, nNeg] = [levels.nPos, levels.nNeg];
  return [thresholdAt(levels, level), tp, fp, nPos - tp, nNeg - fp, tpr, ...sure(tp, nPos), 1 - fpr, ...sure(nNeg - fp, nNeg), precision, ...sure(tp, tp + fp, own), tpr - fpr];
}

function shownLevels(state: State): { levels: number[]; best: number } {
  const { levels } = modelOf(state);
  const depth = (level: number): number => (levels.tp[level]! + levels.fp[level]!) / (levels.nPos + levels.nNeg);
  let best = 0;
  for (let i = 1; i < levels.size; i++) if (levels.tpr[i]! - levels.fpr[i]! > levels.tpr[best]! - levels.fpr[best]!) best = i;
  const some = SHARES.map((share) => nearest(depth, levels.size, share));
  return { levels: [...new Set([...some, best, levelOf(state)])].filter((level) => level > 0).sort((a, b) => a - b), best };
}

export function cutoffsCard(state: State): HTMLElement {
  const box = scroller("Table of cut-offs");
  follow(inSight(box), () => {
    const { levels, best } = shownLevels(state);
    const words = wordsOf(state);
    const rows = levels.map((level) => {
      const [threshold, , , , , ...found] = rowAt(state, level);
      const rate = (at: number): string => withEnds(found[at]!, found[at + 1], found[at + 2], percent);
      const chosen = level === levelOf(state);
      const mark = [chosen ? "current" : "", level === best ? "largest Youden index" : ""].filter(Boolean).join(", ");
      const text = threshold === -Infinity ? "everybody" : minus(textAt(modelOf(state), level));
      return [mark ? h("span", {}, chosen ? h("strong", {}, text) : text, h("small", {}, ` ${mark}`)) : text, rate(0), rate(3), rate(6), fixed(found[9]!, 3)];
    });
    box.replaceChildren(table(["Threshold", words.tpr, words.tnr, words.precision, "Youden index"], rows));
  });
  const all = (): CutoffRow[] => Array.from({ length: modelOf(state).levels.size }, (_, level) => rowAt(state, level));
  offers.set("cutoffs", { title: () => "Cut-offs", csv: () => csvOf(CUTOFF_COLUMNS, all()) });
  const said = "Brackets contain Wilson's 95% intervals. Precision has an interval only at the prevalence of the sample. The exported CSV file contains all thresholds.";
  return card("cutoffs", "wide", "Cut-offs", [tooltip(() => said)], box);
}

const SEGMENT_COLUMNS = ["segment", "cases", "auc", "auc_low", "auc_high", "threshold", "acted_on", "cost", "cost_at_common_threshold"];

type SegmentRow = readonly [segment: string, ...numbers: number[]];

function rowOf(state: State, { name: segment, models }: Slice): SegmentRow[] {
  const model = models.find((one) => one.name === modelOf(state).name);
  if (!model) return [];
  const { levels, auc } = model;
  const context = contextOf(state);
  const level = bestLevel(levels, context);
  const common = levelAt(levels, thresholdAt(modelOf(state).levels, levelOf(state)));
  const share = depthAt(levels, level, prevalenceOf(context, samplePrevalence(levels)));
  return [[segment, levels.nPos + levels.nNeg, auc.value, auc.low ?? NaN, auc.high ?? NaN, thresholdAt(levels, level), share, costAt(levels, level, context), costAt(levels, common, context)]];
}

export function segmentsCard(state: State): HTMLElement[] {
  const places = new Map(state.report.parts.flatMap(({ kind, name: segment }, part) => (kind === "segment" ? [[segment, part] as const] : [])));
  if (!places.size) return [];
  const box = scroller("Table of segments");
  const rows = (): SegmentRow[] => state.rows.segments.value.flatMap((slice) => rowOf(state, slice));
  const seen = inSight(box);
  follow(seen, () => {
    if (seen.value) state.views.segments.value = true;
    const cells = rows().map(([segment, n = 0, auc = 0, low = 0, high = 0, threshold = 0, share = 0, cost = 0, common = 0]) => {
      const pick = button(name(segment), () => showRows(state, places.get(segment)!), { class: "pick" });
      return [pick, count(n), withEnds(auc, low, high, fixed), number(threshold), percent(share), number(cost), number(common)];
    });
    box.replaceChildren(table(["Segment", "Cases", "AUC", "Best threshold", wordsOf(state).depth, "Cost per case", "Cost at the common threshold"], cells));
  });
  offers.set("segments", { title: () => "Segments", csv: () => csvOf(SEGMENT_COLUMNS, rows()) });
  return [card("segments", "wide", "Segments", [], box, h("p", { class: "caption" }, "The current model in each segment, at the current costs. Costs per case are computed from the rows of the report."))];
}

export function classesCard(state: State, classes: Classes): HTMLElement {
  const title = h("h2");
  const box = scroller("Table of classes");
  effect(() => {
    setText(title, `All classes: ${modelOf(state).name}`);
    box.replaceChildren(matrixOf(state, classes));
  });
  const said = "Each case is assigned to its most probable class. The costs and the threshold below have no effect. Select a class to compare it with all other classes.";
  return card("classes", "above", title, [], box, h("p", { class: "caption" }, said));
}

function matrixOf(state: State, { names, matrices }: Classes): HTMLTableElement {
  const matrix = matrices[modelOf(state).index] ?? [];
  const predicted = names.map((_, j) => sum(matrix.map((row) => row[j] ?? 0)));
  const rows = matrix.map((row, i) => {
    const [hits, actual] = [row[i] ?? 0, sum(row)];
    const rates = [hits / actual, hits / (predicted[i] ?? 0), (2 * hits) / (actual + (predicted[i] ?? 0))];
    return [rowHeading(picker(state, names[i] ?? "")), ...row.map((n, j) => shaded(n, n / actual, i === j)), count(actual), ...rates.map(percent)];
  });
  const headings = ["Actual ↓ predicted →", ...names.map((cls) => name(cls)), "Cases", "Recall", "Precision", "F1"];
  return table(headings, rows, "Cases by actual class (rows) and predicted class (columns)", { class: "classes" });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function shaded(n: number, share: number, right: boolean): HTMLElement {
  return h("td", { class: right ? "cell" : "cell wrong", "--share": share || 0 }, count(n));
}

/** The name of a class, which shows it against the rest unless no case is of it. */
function picker(state: State, cls: string): HTMLElement {
  const slice = state.report.parts.findIndex((part) => part.name === cls);
  if (slice < 0) return name(cls);
  return button(name(cls), () => showRows(state, slice), { class: "pick", "aria-pressed": String(slice === state.rows.part.value) });
}

export function overviewCard({ overview }: Classes): HTMLElement {
  return card("overview", "wide", "Models over all classes", [], scroller("Table of models over all classes", textTable(overview)));
}

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
  const { warnings, conventions, provenance } = state.report;
  const items = (className: string | null, texts: readonly string[]): HTMLElement => h("ul", { class: className }, ...texts.map((text) => h("li", { dir: "auto" }, text)));
  const facts = Object.entries(provenance).flatMap(([term, value]): [string, string][] => {
    return value === null || value === "" ? [] : [[term.replaceAll("_", " "), typeof value === "number" ? count(value) : value]];
  });
  const list = h("dl", { class: "provenance" });
  become(list, terms(facts));
  return [comparisonsCard(state), card("about", "wide about", "Conventions and provenance", [], ...(warnings.length ? [items("warnings", warnings)] : []), items(null, conventions), list)];
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
