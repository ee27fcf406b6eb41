/** How charts and tables are drawn. */

import { signal } from "@preact/signals-core";

import type { Audience } from "./words";

export type GainView = "gain" | "count" | "lift" | "pr";
export type FoldsView = "none" | "each" | "vertical" | "threshold";
export type MoneyView = "profit" | "benefit";
export type SecondView = GainView | MoneyView;
export type CalibrationView = "bins" | "smooth" | "pav";
/** How many cases the confusion matrix adds up to. */
export type Base = "thousand" | "population" | "sample";

export interface ConfidenceBand {
  readonly model: string;
  readonly x: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly method: string;
}

/** The chart that an audience sees first. */
export const FIRST_VIEW: Record<Audience, SecondView> = { learning: "gain", clinical: "benefit", marketing: "profit" };

export function createViews(audience: Audience = "learning") {
  return {
    audience: signal(audience),
    second: signal(FIRST_VIEW[audience]),
    /** Whether axes of probabilities go from 0 to 1, whatever the scores. */
    full: signal(false),
    /** Whether the table of models has all columns. */
    measures: signal(false),
    calibration: signal<CalibrationView>("bins"),
    folds: signal<FoldsView>("none"),
    base: signal<Base>("thousand"),
    /** Whether the segments are seen side by side. */
    segments: signal(false),
    band: signal(false),
    /** Whether each model's own convex hull is drawn. */
    hulls: signal(false),
    /** A simultaneous band around one model's ROC curve, once it was requested. */
    requestedBand: signal<ConfidenceBand | null>(null),
  };
}
