/**
 * Stands in for d3-interpolate in the bundle: the scales here map numbers to numbers, so that colours, dates and
 * transforms (a fifth of the bundle) need not travel.
 */

export function interpolateNumber(a: number, b: number): (share: number) => number {
  return (share) => a * (1 - share) + b * share;
}

export const interpolate = interpolateNumber;

export function interpolateRound(a: number, b: number): (share: number) => number {
  return (share) => Math.round(a * (1 - share) + b * share);
}

/** Named by a scale that is not used, and dropped from the bundle with it. */
export function piecewise(): never {
  throw new Error("there is no diverging scale in the report");
}
