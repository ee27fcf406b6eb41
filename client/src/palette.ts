/** Colours for light, dark and forced-colour pages; models differ by hue, those of rocscope.plotting, and by dash. */

import { signal } from "@preact/signals-core";

export interface Palette {
  readonly ink: string;
  readonly quiet: string;
  readonly grid: string;
  readonly axis: string;
  readonly ghost: string;
  readonly halo: string;
  readonly hues: readonly string[];
}

const LIGHT: Palette = {
  ink: "#17202b",
  quiet: "#5a6675",
  grid: "#e9ecf0",
  axis: "#aab3bf",
  ghost: "#b9c0ca",
  halo: "#ffffff",
  hues: ["#0b5fad", "#c8501a", "#08826d", "#9c337e", "#6f4b1a"],
};

const DARK: Palette = {
  ink: "#e8ecf1",
  quiet: "#9fabb9",
  grid: "#28303b",
  axis: "#556170",
  ghost: "#4d5866",
  halo: "#171c23",
  hues: ["#5aa9f5", "#f0894a", "#a1eca9", "#db8fb7", "#eeec50"],
};

const FORCED: Palette = {
  ink: "CanvasText",
  quiet: "CanvasText",
  grid: "transparent",
  axis: "CanvasText",
  ghost: "GrayText",
  halo: "Canvas",
  hues: ["CanvasText", "LinkText", "CanvasText", "LinkText", "CanvasText"],
};

const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 2.5], [9, 3, 2, 3], [4, 2]];

const dark = matchMedia("(prefers-color-scheme: dark)");
const forced = matchMedia("(forced-colors: active)");
const paper = matchMedia("print");

function current(): Palette {
  if (forced.matches) return FORCED;
  return dark.matches && !paper.matches ? DARK : LIGHT;
}

export const palette = signal(current());
for (const query of [dark, forced, paper]) query.addEventListener("change", () => (palette.value = current()));

/** Hue and dash of the n-th coloured model: five hues, then the same hues in other dashes. */
export function strokeOf(place: number): { hue: number; dash: readonly number[] } {
  return { hue: place % 5, dash: DASHES[(place + Math.floor(place / 5)) % 5] ?? [] };
}
