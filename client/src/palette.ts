/** Colours for light, dark and forced-colour pages; models differ by hue, those of rocscope.plotting, and by dash. */

import { signal } from "@preact/signals-core";

import { DARK_HUES, LIGHT_HUES } from "./constants.json";

type Part = "ink" | "quiet" | "grid" | "axis" | "ghost" | "halo";
export type Palette = Readonly<Record<Part, string>> & { readonly hues: readonly string[] };

const LIGHT: Palette = { ink: "#17202b", quiet: "#5a6675", grid: "#e9ecf0", axis: "#aab3bf", ghost: "#b9c0ca", halo: "#ffffff", hues: LIGHT_HUES };

const DARK: Palette = { ink: "#e8ecf1", quiet: "#9fabb9", grid: "#28303b", axis: "#556170", ghost: "#4d5866", halo: "#171c23", hues: DARK_HUES };

const [text, link] = ["CanvasText", "LinkText"] as const;
const FORCED: Palette = { ink: text, quiet: text, grid: "transparent", axis: text, ghost: "GrayText", halo: "Canvas", hues: [text, link] };

/** The first twelve models differ by dash alone, so that they can be told apart without colours. */
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 2.5], [9, 3, 2, 3], [4, 2], [14, 3], [9, 3, 2, 3, 2, 3], [1, 3.5], [5, 5], [14, 3, 4, 3], [3, 6], [10, 2, 2, 2, 2, 2, 2, 2]];

const dark = matchMedia("(prefers-color-scheme: dark)");
const forced = matchMedia("(forced-colors: active)");
const paper = matchMedia("print");

function current(): Palette {
  if (forced.matches) return FORCED;
  return dark.matches && !paper.matches ? DARK : LIGHT;
}

export const palette = signal(current());
for (const query of [dark, forced, paper]) query.addEventListener("change", () => (palette.value = current()));

/** Hue and dash of the n-th coloured model: no two of the first 144 are the same, of the first 24 with forced colours. */
export function strokeOf(place: number): { hue: number; dash: readonly number[] } {
  const { length } = DASHES;
  return { hue: place % palette.peek().hues.length, dash: DASHES[(place + Math.floor(place / length)) % length]! };
}
