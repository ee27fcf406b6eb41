/** The signals of the report's own bundle: those of another copy of the library would not hear of each other. */

import type * as signals from "@preact/signals-core";

declare const rocscope: Pick<typeof signals, "batch" | "effect">;

export const { batch, effect } = rocscope;
