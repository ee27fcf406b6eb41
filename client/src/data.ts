/** The report's data as Python packed them, unpacked into typed arrays, and where else the page gets its counts. */

import { SCHEMA } from "./constants.json";
import { shortest } from "./format";
import type { Context } from "./math/context";
import { type Levels, makeLevels } from "./math/levels";
import type { Audience } from "./state/state";

/** A column of numbers: 64-bit floats, 32-bit floats, running totals as variable-length steps, or decimal text. */
export type PackedColumn = { f8: string } | { f4: string } | { steps: string } | { text: string[] };

export interface Interval { readonly value: number; readonly low?: number | null; readonly high?: number | null; readonly method?: string }

export interface Calibration {
  /** One row a bin: mean score, share of positives, its interval, cases. */
  readonly bins: readonly { x: number; y: number; low: number | null; high: number | null; n: number }[];
  readonly smooth: Smooth | null;
  /** Cases of each class by score, in equal steps from 0 to 1. */
  readonly rug: { readonly pos: number[]; readonly neg: number[] };
  readonly numbers: Readonly<Record<string, number | null>>;
}

/** A curve at evenly spaced x, of which the first and the last are given, and its band where there is one. */
export interface Smooth { readonly x: readonly [number, number]; readonly y: readonly number[]; readonly low?: readonly number[]; readonly high?: readonly number[] }

/** What is known of a model besides its points: the same in the file and on the page. */
interface ModelFacts {
  readonly name: string;
  readonly at_half: readonly [number, number];
  readonly decided: readonly [number, number] | null;
  /** Distinct scores, of which the page may have some only. */
  readonly n_levels: number;
  /** How far, as a rate, the curve may be from the lines between the points kept. */
  readonly deviation: number;
  readonly auc: Interval;
  readonly average_precision: number;
  readonly calibration: Calibration | null;
}

export interface PackedModel extends ModelFacts {
  readonly threshold: PackedColumn;
  /** The next lower scores of the data; null where all scores are here, or there were too many to look at. */
  readonly next: PackedColumn | null;
  readonly tp: PackedColumn;
  readonly fp: PackedColumn;
  readonly hull: PackedColumn;
}

export interface Model extends ModelFacts {
  readonly index: number;
  readonly levels: Levels;
  /** Thresholds as text where a double cannot hold them. */
  readonly thresholdText: readonly string[] | null;
}

/** Numbers of two models, the second's area minus the first's, its interval, p-value, and p-value among all pairs. */
export type Comparison = readonly [number, number, number, ...(number | null)[]];

export interface Comparisons { readonly method: string; readonly rows: readonly Comparison[] }

export type PackedSlice = Omit<Slice, "models"> & { readonly models: readonly PackedModel[] };

/** Uncertainty of the decision that the report was made for. */
export interface Decided {
  /** Cost per new case, with the ends of its interval. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** How often each model is the best, and acting pays, in resamples. */
  readonly best: readonly number[];
  readonly acting: number;
}

export interface Payload {
  readonly schema: number;
  readonly title: string;
  readonly notes: string;
  readonly context: Context;
  readonly decided?: Decided | null;
  /** Whose words the page uses. */
  readonly audience?: Audience;
  readonly slices: readonly PackedSlice[];
  readonly classes: Classes | null;
  /** Numbers of all rows with their intervals, as text: a table for each domain, a row for each measure. */
  readonly validation: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;
  readonly conventions: readonly string[];
  readonly warnings: readonly string[];
  readonly provenance: Readonly<Record<string, string | number | null>>;
}

export interface Slice {
  readonly kind: "all" | "segment" | "fold" | "class";
  readonly name: string;
  readonly models: readonly Model[];
  readonly comparisons: Comparisons;
}

/** What is known over all classes, where there are more than two. */
export interface Classes {
  readonly names: readonly string[];
  /** A row a model, as text. */
  readonly overview: readonly Readonly<Record<string, string>>[];
  /** Cases of each model by actual and predicted class. */
  readonly matrices: readonly (readonly (readonly number[])[])[];
}

export type Part = Pick<Slice, "kind" | "name">;

export interface Report extends Omit<Payload, "schema" | "slices"> { readonly parts: readonly Part[] }

export function unpackReport({ slices, schema: _, ...facts }: Payload): Report {
  return { ...facts, parts: slices.map(({ kind, name }) => ({ kind, name })) };
}

export function unpackSlice(slice: PackedSlice): Slice {
  return { ...slice, models: slice.models.map(unpackModel) };
}

function unpackModel({ threshold, next, tp, fp, hull, ...facts }: PackedModel, index: number): Model {
  const from = (first: number, rest: PackedColumn): Float64Array => Float64Array.from([first, ...column(rest)]);
  const thresholds = from(Infinity, threshold);
  const levels = makeLevels(thresholds, from(0, tp), from(0, fp), Int32Array.from(column(hull)), following(next, facts.n_levels, thresholds.length));
  return { ...facts, index, levels, thresholdText: "text" in threshold ? threshold.text : null };
}

/** What follows each level, where that is not the level after it. */
function following(next: PackedColumn | null, levels: number, kept: number): Float64Array | undefined {
  if (next) return Float64Array.from(column(next));
  return kept === levels + 1 ? undefined : new Float64Array(kept).fill(NaN);
}

/** A level's threshold as text that decides the same if it is typed. */
export function textAt({ levels, thresholdText }: Pick<Model, "levels" | "thresholdText">, level: number): string {
  return thresholdText?.[level - 1] ?? shortest(levels.threshold[level] ?? Infinity, levels.next[level] ?? NaN);
}

export function column(packed: PackedColumn): ArrayLike<number> & Iterable<number> {
  if ("text" in packed) return packed.text.map(Number);
  if ("f8" in packed) return new Float64Array(bytes(packed.f8).buffer);
  if ("f4" in packed) return new Float32Array(bytes(packed.f4).buffer);
  return runningTotals(bytes(packed.steps));
}

function bytes(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Totals of steps written seven bits a byte, lowest first, the eighth bit saying that more follow. */
function runningTotals(encoded: Uint8Array): number[] {
  const totals: number[] = [];
  let total = 0;
  let step = 0;
  let place = 1;
  for (const byte of encoded) {
    step += (byte & 127) * place;
    place *= 128;
    if (byte < 128) {
      total += step;
      totals.push(total);
      [step, place] = [0, 1];
    }
  }
  return totals;
}

/** Some of the rows: a part that `Report.parts` names, by its place there. */
export interface Rows {
  readonly part: number;
  readonly where?: string;
  /** Whether this request leaves earlier ones alone, which it otherwise replaces. */
  readonly aside?: boolean;
}

/** Confidence intervals of some rows, where they arrive later than the counts. */
export interface Intervals {
  readonly auc: readonly Interval[];
  readonly comparisons: Comparisons;
  /** Of each model, where the counts came with bins only. */
  readonly calibration?: readonly (Calibration | null)[];
}

export function withIntervals(slice: Slice, { auc, comparisons, calibration }: Intervals): Slice {
  const models = slice.models.map((model, i) => ({ ...model, auc: auc[i] ?? model.auc, calibration: calibration?.[i] ?? model.calibration }));
  return { ...slice, models, comparisons };
}

export interface Source {
  readonly report: Report;
  readonly filters?: boolean;
  /** Counts of these rows; not a promise where they are at hand. */
  counts(rows: Rows, signal: AbortSignal): Slice | Promise<Slice>;
  /** Intervals of these rows; absent where they come with the counts. */
  intervals?(rows: Rows, signal: AbortSignal): Promise<Intervals>;
}

/** The mailed report: Python counted before. */
export function embedded(payload: Payload): Source {
  if (payload.schema !== SCHEMA) throw new Error(`report data of schema ${payload.schema}, expected ${SCHEMA}`);
  const known = new Map<number, Slice>();
  return {
    report: unpackReport(payload),
    counts: ({ part }) => {
      const slice = known.get(part) ?? unpackSlice(payload.slices[part]!);
      known.set(part, slice);
      return slice;
    },
  };
}
