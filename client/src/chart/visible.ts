/** Charts out of sight are redrawn only in pauses and for print. */

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals-core";

import { beforeFirstFrame, pause, schedule } from "./scheduling";

export const printing = signal(false);
addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));

export function inSight(element: Element): ReadonlySignal<boolean> {
  const near = signal(false);
  const look = (entries: readonly IntersectionObserverEntry[]): void => {
    const now = entries.some((entry) => entry.isIntersecting);
    schedule(() => (near.value = now)); // which draws: not all that come into sight at once
  };
  const watch = new IntersectionObserver(look, { rootMargin: "80px" });
  watch.observe(element);
  beforeFirstFrame.push(() => {
    const { top, width } = element.getBoundingClientRect();
    near.value = width > 0 && top < innerHeight;
  });
  return computed(() => near.value || printing.value);
}

/** Keep what is in sight in step; what is not follows when there is a pause, as somebody may read, search or copy it. */
export function follow(visible: ReadonlySignal<boolean>, update: () => void): void {
  const later = (): void => untracked(update);
  effect(() => {
    if (visible.value) return update();
    void pause.value;
    schedule(later);
  });
}
