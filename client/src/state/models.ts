/** Which models are drawn, and how. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";

import type { Model, Slice } from "../data";
import { type Region, regions } from "../math/regions";
import { type Palette, strokeOf } from "../palette";

export type Look = "show" | "ghost" | "hide";

/** With more models than this, those off the hull are grey until the reader picks them: more lines cannot be told apart at a glance. */
export const MOST_COLOURED = 12;

/** How a model is drawn: its place among the coloured ones, or null where it is grey. */
export interface Style { readonly look: Look; readonly place: number | null; readonly dash: readonly number[]; readonly stroke: string; readonly width: number }

export function createModels(rows: ReadonlySignal<Slice>) {
  const all = computed(() => rows.value.models);
  const looks = signal<ReadonlyMap<string, Look>>(new Map());
  const hidden = ({ name }: Model): boolean => looks.value.get(name) === "hide";
  return { all, looks, hidden, sortBy: signal("cost"), regions: computed(() => regions(all.value.map((model) => (hidden(model) ? null : model.levels)))) };
}

export function stylesOf(models: readonly Model[], hull: readonly Region[], looks: ReadonlyMap<string, Look>, chosen: string | null, current: number, { hues, ghost, quiet }: Palette): Style[] {
  const onHull = new Set(hull.map((region) => region.model));
  const many = models.length > MOST_COLOURED;
  let place = 0;
  return models.map((model) => {
    const byDefault: Look = !many || onHull.has(model.index) || chosen === model.name ? "show" : "ghost";
    const look = looks.get(model.name) ?? byDefault;
    const slot = many ? (look === "show" ? place++ : 0) : model.index;
    const { hue, dash } = strokeOf(slot);
    const isCurrent = model.index === current;
    if (look !== "show") return { look, place: null, dash, stroke: isCurrent ? quiet : ghost, width: isCurrent ? 2.6 : 1 };
    return { look, place: slot, dash, stroke: hues[hue] ?? quiet, width: isCurrent ? 2.6 : 1.7 };
  });
}
