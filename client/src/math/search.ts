/** Bisection. */

/** The first whole number in [low, high) from which on a condition holds; `high` where it never does. */
export function firstWhere(low: number, high: number, holds: (place: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
