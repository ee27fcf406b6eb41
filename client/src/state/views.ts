/** How charts and tables are drawn. */

import { signal } from "@preact/signals-core";

export type GainView = "gain" | "count" | "lift" | "pr";
export type FoldsView = "none" | "each" | "vertical" | "threshold";
export type MoneyView = "profit" | "benefit";
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

export function createViews() {
  return {
    gain: signal<GainView>("gain"),
    money: signal<MoneyView>("profit"),
    calibration: signal<CalibrationView>("bins"),
    folds: signal<FoldsView>("none"),
    base: signal<Base>("thousand"),
    band: signal(false),
    /** Whether each model's own convex hull is drawn. */
    hulls: signal(false),
    /** A simultaneous band around one model's ROC curve, once it was requested. */
    requestedBand: signal<ConfidenceBand | null>(null),
  };
}
