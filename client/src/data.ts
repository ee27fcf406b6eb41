/** The report's data as Python packed them, unpacked into typed arrays. */

import type { Context } from "./math/context";
import { type Levels, makeLevels } from "./math/levels";

export const SCHEMA = 3;

/** A column of numbers: 64-bit floats, 32-bit floats, running totals as variable-length steps, or decimal text. */
export type PackedColumn = { f8: string } | { f4: string } | { steps: string } | { text: string[] };

export interface Interval {
  readonly value: number;
  readonly low?: number | null;
  readonly high?: number | null;
  readonly method?: string;
}

export interface Calibration {
  /** One row a bin: mean score, share of positives, its interval, cases. */
  readonly bins: readonly { x: number; y: number; low: number | null; high: number | null; n: number }[];
  readonly smooth: Smooth | null;
  /** Cases of each class by score, in equal steps from 0 to 1. */
  readonly rug: { readonly pos: number[]; readonly neg: number[] };
  readonly numbers: Readonly<Record<string, number | null>>;
}

/** A curve at evenly spaced x, of which the first and the last are given, and its band where there is one. */
export interface Smooth {
  readonly x: readonly [number, number];
  readonly y: readonly number[];
  readonly low?: readonly number[];
  readonly high?: readonly number[];
}

export interface PackedModel {
  readonly name: string;
  readonly threshold: PackedColumn;
  readonly tp: PackedColumn;
  readonly fp: PackedColumn;
  readonly hull: PackedColumn;
  /** True and false positives at the threshold 0.5. */
  readonly at_half: readonly [number, number];
  /** True and false positives as the model decides itself. */
  readonly decided: readonly [number, number] | null;
  readonly n_levels: number;
  readonly deviation: number;
  readonly auc: Interval;
  readonly average_precision: number;
  readonly ks: number;
  readonly calibration: Calibration | null;
}

/** Numbers of two models, the second's area minus the first's, its interval, p-value, and p-value among all pairs. */
export type Comparison = readonly [number, number, number, ...(number | null)[]];

export interface Comparisons {
  readonly method: string;
  readonly rows: readonly Comparison[];
}

export type PackedSlice = Omit<Slice, "models"> & { readonly models: readonly PackedModel[] };

export interface Payload {
  readonly schema: number;
  readonly title: string;
  readonly notes: string;
  readonly context: Record<"cost_fp" | "cost_fn" | "cost_tp" | "cost_tn", number> & { target_prevalence: number | null };
  readonly slices: readonly PackedSlice[];
  readonly classes: Classes | null;
  /** Numbers of all rows with their intervals, as text: a table for each domain, a row for each measure. */
  readonly validation: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;
  readonly conventions: readonly string[];
  readonly warnings: readonly string[];
  readonly provenance: Readonly<Record<string, string | number | null>>;
}

export interface Model {
  readonly name: string;
  readonly index: number;
  readonly levels: Levels;
  /** Thresholds as text where a double cannot hold them. */
  readonly thresholdText: readonly string[] | null;
  readonly atHalf: readonly [number, number];
  readonly decided: readonly [number, number] | null;
  readonly nLevels: number;
  readonly deviation: number;
  readonly auc: Interval;
  readonly averagePrecision: number;
  readonly ks: number;
  readonly calibration: Calibration | null;
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

/** Rows that the page can be turned to. */
export type Part = Pick<Slice, "kind" | "name">;

/** All that the page shows besides counts. */
export interface Report extends Omit<Payload, "schema" | "slices" | "context"> {
  readonly context: Context;
  readonly parts: readonly Part[];
}

export function unpackReport({ slices, context, schema: _, ...facts }: Payload): Report {
  const { target_prevalence, cost_fp, cost_fn, cost_tp, cost_tn } = context;
  return {
    ...facts,
    context: { prevalence: target_prevalence, costFp: cost_fp, costFn: cost_fn, costTp: cost_tp, costTn: cost_tn },
    parts: slices.map(({ kind, name }) => ({ kind, name })),
  };
}

export function unpackSlice(slice: PackedSlice): Slice {
  return { ...slice, models: slice.models.map(unpackModel) };
}

function unpackModel(packed: PackedModel, index: number): Model {
  const threshold = Float64Array.from([Infinity, ...column(packed.threshold)]);
  const tp = Float64Array.from([0, ...column(packed.tp)]);
  const fp = Float64Array.from([0, ...column(packed.fp)]);
  return {
    name: packed.name,
    index,
    levels: makeLevels(threshold, tp, fp, Int32Array.from(column(packed.hull))),
    thresholdText: "text" in packed.threshold ? packed.threshold.text : null,
    atHalf: packed.at_half,
    decided: packed.decided,
    nLevels: packed.n_levels,
    deviation: packed.deviation,
    auc: packed.auc,
    averagePrecision: packed.average_precision,
    ks: packed.ks,
    calibration: packed.calibration,
  };
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
