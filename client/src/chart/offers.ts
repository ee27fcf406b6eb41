/** What the page has to save, and whether it shows it. */

import { signal } from "@preact/signals-core";

export interface Saved {
  readonly title: () => string;
  readonly csv: () => string;
  readonly svg?: () => string;
  readonly png?: () => Promise<Blob>;
}

export const withData = signal(false);

/** By the id of its card: what the page has, for its one menu. */
export const offers = new Map<string, Saved>();

export function offer(id: string, saved: Saved): void {
  offers.set(id, saved);
}
