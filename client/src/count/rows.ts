/** The rows of a file by what each column is for: checked as `rocscope.read` checks them, then counted. */

import { MOST_COMPARED, MOST_DETAILED, MOST_EXACT, MOST_FOLDS, MOST_NAMED, MOST_PARTS, MOST_POINTS, MOST_SEGMENTS, POINTS_OF_PART, SMALL } from "../constants.json";
import type { Comparison, Comparisons, Interval, Intervals, Model, Part, Slice } from "../data";
import { makeLevels } from "../math/levels";
import type { Roles } from "../open/messages";
import { areaInterval, areaSample, compareAreas, holm, movesOf, type PairedRows } from "./areas";
import { calibrationOf } from "./calibration";
import { counted, listing, Refused, shown } from "./errors";
import type { Label, Names } from "./sinks";
import { floats, isBig, keep, type Numbers, type Table } from "./table";
import { area, areProbabilities, atLeast, averagePrecision, fingerprint, levelsOf, levelsRead, rank, rankByClass, type Ranked, thin, type Weights } from "./threshold_counts";

/** Of more levels than these all but the bins of calibration is told later, with how sure areas are. */
const MOST_AT_ONCE = 50_000;

interface Figures { readonly model: Model; readonly auc: Interval; readonly weighted: boolean }

interface Group { readonly kind: "segment" | "fold"; readonly name: string; readonly rows: Uint32Array }

/** Rows without missing values. */
export class CountedRows {
  readonly parts: Part[] = [{ kind: "all", name: "all rows" }];
  readonly warnings: string[] = [];
  private readonly groups: Group[] = [];
  private readonly ranked = new Map<number, Map<string, Ranked>>();
  private readonly figures = new Map<number, Figures[]>();

  private constructor(
    readonly read: number,
    private readonly positive: Uint8Array,
    private readonly scores: ReadonlyMap<string, Numbers>,
    private readonly weights: Weights | null,
    private readonly folds: number,
  ) {}

  get rows(): number {
    return this.positive.length;
  }

  get dropped(): number {
    return this.read - this.rows;
  }

  get models(): string[] {
    return [...this.scores.keys()];
  }

  /** @param name of the model of a column of scores */
  static async of(table: Table, roles: Roles, file: string, tell: (share: number) => void, name = (column: string): string => column): Promise<CountedRows> {
    const subject = (use: string, column: string): string => `${use} '${column}' of ${file}`;
    const others = [roles.fold, roles.segment].filter((column) => column !== null);
    const given = { numbers: [...roles.scores, ...(roles.weight === null ? [] : [roles.weight])], names: [roles.label, ...others] };
    const rows = await table.read(given, tell);
    if (!rows.rows) throw new Refused(file, { expected: "at least one row", got: "no rows" });
    const label = rows.names(roles.label, subject("label", roles.label));
    const weight = roles.weight === null ? null : rows.numbers(roles.weight, subject("weight", roles.weight));
    const fold = roles.fold === null ? null : rows.names(roles.fold, subject("fold", roles.fold));
    const segment = roles.segment === null ? null : rows.names(roles.segment, subject("segment", roles.segment));
    const scores = new Map(roles.scores.map((column) => [name(column), rows.numbers(column, subject("score", column))]));
    const whole = complete(rows.rows, [weight, ...scores.values()], [label, fold, segment]);
    if (!whole.length) throw new Refused(file, { expected: "at least one row without missing or infinite values", got: `no such row among ${counted(rows.rows, "row")}` });
    const all = whole.length === rows.rows;
    const kept = (column: Numbers): Numbers => ({ type: column.type, values: all ? column.values : keep(column.values, whole), missing: null });
    const named = (names: Names): Names => ({ ...names, codes: all ? names.codes : keep(names.codes, whole) });
    const positive = positives(named(label), roles.positive, subject("label", roles.label), table.untyped);
    const found = new CountedRows(
      rows.rows,
      positive,
      new Map([...scores].map(([model, column]) => [model, kept(column)])),
      weight && checked(kept(weight)),
      fold ? new Set(named(fold).codes).size : 0,
    );
    found.warnings.push(...(rows.notes ?? []).map((note) => `${file}: ${note}.`));
    if (segment) found.split("segment", named(segment), subject("segment", roles.segment!));
    if (fold) found.split("fold", named(fold), subject("fold", roles.fold!));
    return found;
  }

  /** Gather the rows of each segment or fold: of many segments the largest, and all others as one. */
  private split(kind: Group["kind"], { codes, classes, kind: type }: Names, subject: string): void {
    const sizes = new Float64Array(classes.length);
    for (const code of codes) sizes[code]!++;
    const named = classes.map((label, code) => ({ label, code })).filter(({ code }) => sizes[code]! > 0);
    if (kind === "fold" && named.length > MOST_FOLDS) {
      this.warnings.push(`More than ${MOST_FOLDS} folds are not shown separately (${named.length} folds)`);
      return;
    }
    if (named.length > MOST_PARTS) throw new Refused(subject, { expected: `at most ${MOST_PARTS.toLocaleString("en")} segments`, got: named.length.toLocaleString("en") });
    named.sort((a, b) => (a.label < b.label ? -1 : 1));
    const large = named.length > MOST_SEGMENTS ? new Set(named.toSorted((a, b) => sizes[b.code]! - sizes[a.code]!).slice(0, MOST_SEGMENTS - 1)) : new Set(named);
    const place = new Int32Array(classes.length).fill(large.size);
    const shown = named.filter((one) => large.has(one));
    shown.forEach(({ code }, i) => (place[code] = i));
    const [room, filled] = [new Uint32Array(large.size + 1), new Uint32Array(large.size + 1)];
    for (const code of codes) room[place[code]!]!++;
    const members = Array.from(room, (size) => new Uint32Array(size));
    for (let row = 0; row < codes.length; row++) {
      const at = place[codes[row]!]!;
      members[at]![filled[at]!++] = row;
    }
    const rest = named.length - large.size;
    if (rest) this.warnings.push(`The ${large.size} largest segments are shown separately, all others are pooled (${rest} others)`);
    const names = [...shown.map(({ label }) => (typeof label === "string" ? label : shownLabel(label, type))), `others (${rest} segments)`];
    const alone: string[] = [];
    members.forEach((rows, i) => {
      if (!rows.length) return;
      const hits = rows.reduce((sum, row) => sum + (this.weights && !this.weights.values[row] ? 0 : this.positive[row]!), 0);
      if (hits === 0 || hits === rows.length) return void alone.push(`${kind} ${names[i]} (no ${hits ? "negatives" : "positives"})`);
      this.parts.push({ kind, name: names[i]! });
      this.groups.push({ kind, name: names[i]!, rows });
    });
    if (alone.length) this.warnings.push(`Omitted because a class is missing: ${listing(alone, MOST_NAMED)}.`);
  }

  /** What is counted of a part: positives and weights of its rows, and how to pick these rows of any column. */
  private partOf(part: number): { rows: Uint32Array | null; positive: Uint8Array; weights: Weights | null; rank: (column: Numbers) => Ranked } {
    const rows = part ? this.groups[part - 1]!.rows : null;
    const positive = rows ? keep(this.positive, rows) : this.positive;
    const weights = this.weights && rows ? { ...this.weights, values: keep(this.weights.values, rows) } : this.weights;
    const ranked = ({ type, values }: Numbers): Ranked => {
      const kept = { type, values: rows ? keep(values, rows) : values };
      return weights ? rank(kept, positive, weights) : rankByClass(kept, positive);
    };
    return { rows, positive, weights, rank: ranked };
  }

  private ofPart(part: number): Map<string, Ranked> {
    const known = this.ranked.get(part);
    if (known) return known;
    const { rank: ranked } = this.partOf(part);
    const found = new Map([...this.scores].map(([model, column]) => [model, ranked(column)]));
    if (this.rows <= MOST_DETAILED) this.ranked.set(part, found);
    return found;
  }

  /** What the page shows of each model. Very many rows are ranked a model after the other, and no ranking is kept: two would fill the memory. */
  private figuresOf(part: number): Figures[] {
    const known = this.figures.get(part);
    if (known) return known;
    const { rank: rankOne } = this.partOf(part);
    const found = [...this.scores].map(([name, column], index): Figures => {
      const ranked = this.large ? rankOne(column) : this.ofPart(part).get(name)!;
      const model = modelOf(name, index, ranked, ranked.threshold.length < MOST_EXACT ? MOST_EXACT : pointsOf(part));
      return { model, auc: ranked.weighted ? { value: model.auc.value } : areaInterval(areaSample(ranked)), weighted: ranked.weighted };
    });
    this.figures.set(part, found);
    return found;
  }

  private get large(): boolean {
    return this.rows > MOST_DETAILED;
  }

  slice(part: number): Slice {
    return { ...this.parts[part]!, models: this.figuresOf(part).map(({ model }) => model), comparisons: NO_COMPARISONS };
  }

  /** The same with the thresholds that a saved report has. */
  stored(part: number): Slice {
    const slice = this.slice(part);
    if (slice.models.every(({ levels }) => levels.size <= pointsOf(part))) return slice;
    const ranked = [...this.ofPart(part).values()];
    const models = slice.models.map((model, index) => (model.deviation > 0 ? model : { ...modelOf(model.name, index, ranked[index]!, pointsOf(part)), calibration: model.calibration }));
    return { ...slice, models };
  }

  /** Intervals of the areas and of their differences; without them for weights that are not whole numbers. */
  intervals(part: number): Intervals {
    const note = this.folds ? `, pooled over ${this.folds} folds` : "";
    const interval = (found: Interval): Interval => (found.method === undefined ? found : { ...found, method: found.method + note });
    const alone = { auc: this.figuresOf(part).map(({ auc }) => interval(auc)), comparisons: NO_COMPARISONS };
    if (this.large) return alone;
    const ranked = [...this.ofPart(part).values()];
    const calibration = ranked.map((one) => (one.threshold.length > MOST_AT_ONCE ? calibrationOf(one) : null));
    if (ranked.some(({ weighted }) => weighted) || ranked.length < 2 || ranked.length > MOST_COMPARED) return { ...alone, calibration };
    return { ...alone, comparisons: this.compared(part, ranked, note), calibration };
  }

  private compared(part: number, ranked: readonly Ranked[], note: string): Comparisons {
    const { rows, positive, weights } = this.partOf(part);
    const levels = [...this.scores.values()].map(({ values }, m) => levelsOf(ranked[m]!.threshold, rows ? keep(values, rows) : values, weights));
    const counted = Uint32Array.from(positive.keys()).filter((row) => levels[0]![row]! >= 0);
    const sides = [1, 0].map((label) => counted.filter((row) => positive[row] === label));
    const times = sides.map((side) => weights && keep(weights.values, side));
    const areas = ranked.map(areaSample);
    const moves = ranked.map((one, m) => sides.map((side, k) => movesOf(one, areas[m]!.auc, keep(levels[m]!, side), k === 0)));
    const pairs = areas.flatMap((_, i) => areas.slice(i + 1).map((_, k) => [i, i + 1 + k] as const));
    const rowsOf = (i: number, j: number, side: 0 | 1): PairedRows => ({ moves: [moves[i]![side]!, moves[j]![side]!], times: times[side]! });
    const found = pairs.map(([i, j]) => compareAreas(areas[i]!, areas[j]!, [rowsOf(i, j, 0), rowsOf(i, j, 1)]));
    const adjusted = holm(found.map(({ p }) => p));
    const compared = pairs.map(([i, j], k): Comparison => [i, j, found[k]!.difference, found[k]!.low, found[k]!.high, found[k]!.p, adjusted[k]!]);
    const method = [...new Set(found.map((pair) => pair.method + note))].join("; ");
    return { method, rows: compared };
  }

  async provenance(): Promise<Record<string, string | number>> {
    const { nPos, nNeg } = this.large ? this.figuresOf(0)[0]!.model.levels : [...this.ofPart(0).values()][0]!;
    const sizes = { rows: nPos + nNeg, positives: nPos, negatives: nNeg };
    if (this.large) return sizes;
    const ranked = this.ofPart(0);
    return { ...sizes, hash: await fingerprint(ranked, !this.weights || this.weights.whole) };
  }

  /** What is to be known besides the numbers. */
  remarks(): string[] {
    const known = this.large ? this.figuresOf(0).map(({ model, weighted }) => ({ name: model.name, auc: model.auc.value, weighted })) : [...this.ofPart(0)].map(([name, one]) => ({ name, auc: area(one), weighted: one.weighted }));
    const below = known.filter(({ auc }) => auc < 0.5).map(({ name, auc }) => `${name}: AUC ${Number(auc.toPrecision(4))} (below 1/2: do lower scores mean positive?)`);
    const fractions = known.some(({ weighted }) => weighted) ? ["Weights are not whole numbers, so areas are shown without intervals."] : [];
    const most = MOST_DETAILED.toLocaleString("en");
    const pairs = known.length > 1 ? "models are not compared in pairs, and " : "";
    const many = this.large ? [`Above ${most} rows, ${pairs}calibration is shown only by bins.`] : [];
    return [...below, ...fractions, ...many, ...this.warnings, ...this.small()];
  }

  private small(): string[] {
    const ranked = this.large ? null : [...this.ofPart(0).values()][0]!;
    const alone = ranked && !(ranked.nPos && ranked.nNeg); // of one class nothing is drawn
    const { nPos, nNeg } = alone ? ranked : this.slice(0).models[0]!.levels;
    const { tp, fp } = alone ? NOTHING : this.stored(0).models[0]!.levels;
    const depth = Array.from(tp, (hits, i) => hits + fp[i]!);
    const steps = depth.slice(1).map((cases, i) => cases - depth[i]!).sort((a, b) => a - b);
    const few: string[] = [];
    const note = (where: string, pos: number, neg: number): void => {
      const [n, word] = pos <= neg ? [pos, "positive"] : [neg, "negative"];
      if (n < SMALL) few.push(`${where} (${counted(n, word)})`);
    };
    note("all rows", nPos, nNeg);
    for (const { kind, name, rows } of this.groups) {
      const pos = rows.reduce((sum, row) => sum + this.positive[row]!, 0);
      note(`${kind} ${name}`, pos, rows.length - pos);
    }
    const listed = listing(few, MOST_NAMED);
    return [
      ...(few.length ? [`Rates are uncertain with fewer than ${SMALL} cases of a class: ${listed}.`] : []),
      ...((steps[steps.length >> 1] ?? SMALL) < SMALL ? [`Scores of single rows can be read from a saved report, because most points are fewer than ${SMALL} cases apart.`] : []),
    ];
  }
}

const NOTHING = { tp: new Float64Array(0), fp: new Float64Array(0) };
const NO_COMPARISONS: Comparisons = { method: "", rows: [] };

function complete(rows: number, numbers: readonly (Numbers | null)[], names: readonly (Names | null)[]): Uint32Array {
  const gaps = numbers.flatMap((column) => (column?.missing ? [column.missing] : []));
  const codes = names.flatMap((column) => (column ? [column.codes] : []));
  const left = new Uint8Array(rows); // one pass a column: a closure a row takes ten times as long
  for (const gap of gaps) for (let row = 0; row < rows; row++) left[row]! |= gap[row]!;
  for (const code of codes) for (let row = 0; row < rows; row++) if (code[row]! < 0) left[row] = 1;
  const kept = new Uint32Array(rows);
  let size = 0;
  for (let row = 0; row < rows; row++) {
    kept[size] = row;
    size += 1 - left[row]!;
  }
  return kept.subarray(0, size);
}

function checked({ type, values }: Numbers): Weights {
  const wide = floats(values);
  const bad = wide.reduce((count, weight) => count + (weight >= 0 ? 0 : 1), 0);
  if (bad) {
    const first = wide.findIndex((weight) => !(weight >= 0));
    throw new Refused("sample_weight", { expected: "finite weights of at least 0", got: `${counted(bad, "negative, missing or infinite weight")},${bad > 1 ? " the first" : ""} in row ${first}` });
  }
  if (!wide.some((weight) => weight > 0)) throw new Refused("sample_weight", { expected: "at least one weight above 0", got: "only zeros" });
  const whole = !type.startsWith("f");
  if (whole && wide.reduce((sum, weight) => sum + weight, 0) >= 2 ** 53) throw new Refused("sample_weight", { expected: "whole numbers that sum to less than 2^53", hint: "scale them down" });
  return { values: wide, whole };
}

/** Points of a curve in a saved report. */
const pointsOf = (part: number): number => (part ? POINTS_OF_PART : MOST_POINTS);

function modelOf(name: string, index: number, ranked: Ranked, most: number): Model {
  const { threshold, tp, fp, nPos, nNeg } = ranked;
  if (!nPos || !nNeg) throw new Refused(name, { expected: "positives and negatives", got: `no ${nPos ? "negatives" : "positives"} among ${counted(nPos + nNeg, "row")}` });
  const { index: kept, hull, deviation } = thin(ranked, most, most < MOST_POINTS ? [] : levelsRead(ranked));
  const column = (of: (level: number) => number, first: number): Float64Array => Float64Array.from(kept, (i) => (i ? of(i - 1) : first));
  const big = isBig(threshold) && threshold.some((value: bigint) => !Number.isSafeInteger(Number(value)));
  return {
    name,
    index,
    levels: makeLevels(column((i) => Number(threshold[i]), Infinity), column((i) => tp[i]!, 0), column((i) => fp[i]!, 0), hull, Float64Array.from(kept, (i) => Number(threshold[i] ?? -Infinity))),
    thresholdText: big ? kept.slice(1).map((i) => String(threshold[i - 1])) : null,
    at_half: atLeast(ranked, 0.5),
    decided: null,
    n_levels: threshold.length,
    deviation,
    auc: { value: area(ranked) },
    average_precision: averagePrecision(ranked),
    calibration: areProbabilities(ranked) ? calibrationOf(ranked, threshold.length > MOST_AT_ONCE) : null,
  };
}

/**
 * 1 where a label is the positive one.
 *
 * @param positive as text, also where labels are numbers; null where 1 or True is meant
 * @param untyped whether the file knows nothing but text, so that True and False are words there
 */
export function positives({ classes, codes, kind }: Names, positive: string | null, subject: string, untyped: boolean): Uint8Array {
  const rows = firstRows(codes, classes.length);
  const seen = classes.map((label, code) => ({ label, row: rows[code]! })).filter(({ row }) => row >= 0).sort((a, b) => a.row - b.row);
  const truths = untyped && positive === null && kind === "text" && seen.every(({ label }) => /^(true|false)$/i.test(String(label)));
  const isPositive = (label: Label): boolean => {
    if (truths) return String(label).toLowerCase() === "true";
    return positive === null ? kind !== "text" && label == (kind === "bool" ? true : 1) : equals(label, positive, kind);
  };
  if (positive === null && !truths) requireBinary(seen, kind, subject);
  else {
    const others = seen.filter(({ label }) => !isPositive(label));
    if (others.length > 1 && !truths) {
      const named = others.map(({ label }) => shownLabel(label, kind));
      if (others.length === seen.length) throw new Refused("positive class", { expected: `one of the labels ${listing(named.sort())}`, got: shown(positive) });
      const got = listing([...named.sort(), shownLabel(seen.find(({ label }) => isPositive(label))!.label, kind)]);
      throw new Refused(subject, { expected: "labels of two classes", got: `the labels ${got}${third(seen, kind)}`, hint: "select the rows of two classes first" });
    }
  }
  const is = classes.map((label) => (isPositive(label) ? 1 : 0));
  const marks = new Uint8Array(codes.length);
  for (let row = 0; row < codes.length; row++) marks[row] = is[codes[row]!]!;
  return marks;
}

/** Whether a label is what a text stands for among labels of its kind. */
function equals(label: Label, text: string, kind: Names["kind"]): boolean {
  if (kind === "text") return label === text;
  if (kind === "bool") return String(label) === text.toLowerCase();
  if (kind === "whole" && !/^\s*[+-]?\d+\s*$/.test(text)) return false; // 0.0 names none of 0 and 1, as in Python
  return text.trim() !== "" && (typeof label === "bigint" ? String(label) === text.trim() : label === Number(text));
}

export const shownLabel = (label: Label, kind: Names["kind"]): string => shown(label, kind !== "float");

interface Sight { readonly label: Label; readonly row: number }

function requireBinary(seen: readonly Sight[], kind: Names["kind"], subject: string): void {
  if (kind === "bool") return;
  const rest = seen.filter(({ label }) => label !== 1);
  if (kind !== "text" && rest.length <= 1 && rest.every(({ label }) => label === 0 || label === -1)) return;
  const named = seen.map(({ label }) => shownLabel(label, kind)).sort();
  const hint = seen.length <= 2 ? "choose the positive class" : "select the rows of two classes first";
  throw new Refused(subject, { expected: "labels 0/1, -1/1 or False/True", got: `the labels ${listing(named)}${third(seen, kind)}`, hint });
}

function third(seen: readonly Sight[], kind: Names["kind"]): string {
  const found = seen[2];
  return found ? ` (${shownLabel(found.label, kind)} first occurs in row ${found.row})` : "";
}

function firstRows(codes: Int32Array, size: number): Int32Array {
  const rows = new Int32Array(size).fill(-1);
  let left = size;
  for (let row = 0; row < codes.length && left; row++) {
    const code = codes[row]!;
    if (rows[code] !== -1) continue;
    rows[code] = row;
    left--;
  }
  return rows;
}
