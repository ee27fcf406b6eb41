/** The signals of the report's own bundle: those of another copy of the library would not hear of each other. */

import type * as signals from "@preact/signals-core";

declare const rocscope: Pick<typeof signals, "batch" | "effect">;

export const { batch, effect } = rocscope;

/** What the status says while rows are counted: that of `state/state`. */
export const COUNTING = "Counting …";
