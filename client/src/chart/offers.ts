/** What the page has to save, and whether it shows it. */

import { signal } from "@preact/signals-core";

/** What can be saved of a chart or a table. */
export interface Saved {
  readonly title: () => string;
  readonly csv: () => string;
  readonly svg?: () => string;
  readonly png?: () => Promise<Blob>;
}

/** Whether charts show their notes and data below them. */
export const withData = signal(false);

/** By the id of its card: what the page has, for its one menu. */
export const offers = new Map<string, Saved>();

export function offer(id: string, saved: Saved): void {
  offers.set(id, saved);
}
