/** Between the page and whoever counts: the one thing in which its homes differ. */

import { type Calibration, type Comparisons, type Interval, type Model, type Payload, type Report, SCHEMA, type Slice, unpackReport, unpackSlice } from "./data";

/** Some of the rows: a part that `Report.parts` names, by its place there. */
export interface Rows {
  readonly part: number;
  /** Of them those for which this condition holds, where the source knows conditions. */
  readonly where?: string;
  /** Whether they are wanted beside others, so that both answers are waited for. */
  readonly aside?: boolean;
}

/** How sure the areas on some rows are, where that is told later than the counts. */
export interface Sureness {
  readonly auc: readonly Interval[];
  readonly comparisons: Comparisons;
  /** Of each model, where the counts came with bins only. */
  readonly calibration?: readonly (Calibration | null)[];
}

/** A model with what was told of it later. */
export const surer = (model: Model, { auc, calibration }: Sureness, index: number): Model => ({ ...model, auc: auc[index] ?? model.auc, calibration: calibration?.[index] ?? model.calibration });

export interface Source {
  readonly report: Report;
  /** Whether it knows conditions. */
  readonly filters?: boolean;
  /** Counts of these rows; at once where they are at hand. */
  counts(rows: Rows, signal: AbortSignal): Slice | Promise<Slice>;
  /** Intervals of these rows; absent where the counts come with them. */
  sureness?(rows: Rows, signal: AbortSignal): Promise<Sureness>;
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
