/** Where the page gets its counts: the one thing in which report, open page and workbench differ. */

import { SCHEMA } from "./constants";
import { type Calibration, type Comparisons, type Interval, type Payload, type Report, type Slice, unpackReport, unpackSlice } from "./data";

/** Some of the rows: a part that `Report.parts` names, by its place there. */
export interface Rows {
  readonly part: number;
  /** A condition in SQL that they have to meet. */
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
  /** Whether rows can be filtered by a condition. */
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
