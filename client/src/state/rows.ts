/** Which rows are shown: all of them, a segment, a fold or a class, and those that meet a condition. */

import { batch, effect, type ReadonlySignal, signal } from "@preact/signals-core";

import type { Slice } from "../data";
import { message } from "../format";
import { type Source, withIntervals } from "../source";
import type { FoldsView } from "./state";

/** What `status` says while rows are counted. */
export const COUNTING = "Counting …";

/** The newest request wins, and an older answer is dropped. */
export function createRows(source: Source, first: Slice, { folds, segments }: { folds: ReadonlySignal<FoldsView>; segments: ReadonlySignal<boolean> }) {
  const part = signal(0);
  const where = signal("");
  const shown = signal(first);
  const applied = signal("");
  const status = signal("");
  let newest = new AbortController();
  effect(() => {
    newest.abort();
    const { signal: aborted } = (newest = new AbortController());
    const request = { part: part.value, where: where.value };
    const failed = (error: unknown): void => {
      if (!aborted.aborted) status.value = message(error);
    };
    const show = (slice: Slice): void => {
      if (aborted.aborted) return;
      batch(() => ([shown.value, applied.value, status.value] = [slice, request.where, ""]));
      source.intervals?.(request, aborted).then((intervals) => {
        if (!aborted.aborted) shown.value = withIntervals(slice, intervals);
      }, failed);
    };
    const found = source.counts(request, aborted);
    if (!(found instanceof Promise)) return show(found);
    status.value = COUNTING;
    found.then(show, failed);
  });
  return {
    part,
    where,
    /** The rows on the page: the earlier ones while others are counted. */
    shown,
    /** The condition that the rows shown meet; not `where` while others are counted or a condition is rejected. */
    applied,
    status,
    folds: createParts(source, "fold", () => folds.value !== "none", where),
    segments: createParts(source, "segment", () => segments.value, where),
  };
}

/** All parts of a kind, counted when they are first asked for. */
function createParts(source: Source, wanted: Slice["kind"], shown: () => boolean, where: ReadonlySignal<string>): ReadonlySignal<readonly Slice[]> {
  const slices = signal<readonly Slice[]>([]);
  const parts = source.report.parts.flatMap(({ kind }, part) => (kind === wanted ? [part] : []));
  let counted: string | null = null;
  effect(() => {
    const condition = where.value;
    if (!shown() || !parts.length || counted === condition) return;
    counted = condition;
    const { signal: never } = new AbortController();
    const found = parts.map(async (part) => source.counts({ part, where: condition, aside: true }, never));
    const complete = (each: PromiseSettledResult<Slice>): Slice[] => (each.status === "fulfilled" ? [each.value] : []); // a part may lack a class
    void Promise.allSettled(found).then((all) => counted === condition && (slices.value = all.flatMap(complete)));
  });
  return slices;
}
