/** What is out of sight is not redrawn, except for print. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";

export const printing = signal(false);
addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));

/** Whether an element is in sight, or nearly. */
export function inSight(element: Element): ReadonlySignal<boolean> {
  const near = signal(false);
  const watch = new IntersectionObserver((entries) => (near.value = entries.some((entry) => entry.isIntersecting)), {
    rootMargin: "80px",
  });
  watch.observe(element);
  return computed(() => near.value || printing.value);
}
