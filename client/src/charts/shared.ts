/** What the charts of several models have in common. */

import { effect } from "@preact/signals-core";

import type { Handle } from "../chart/chart";
import type { Column, Mark, Point, Series, Through } from "../chart/scene";
import type { Model } from "../data";
import { button, h } from "../dom";
import { chooseModel, type FoldsView, setLevel, type State, stepModel, toBest } from "../state";
import { palette } from "../palette";

export const UNIT = [0, 1] as const;

export function colourOf(state: State, model: number): string {
  return state.styles.value[model]?.stroke ?? palette.value.ghost;
}

/** A line a model: grey ones first, the current one last and widest. */
export function modelLines(
  state: State,
  columns: (model: Model) => { x: Column; y: Column; through?: Through } | null,
  extra: Partial<Series> = {},
): Series[] {
  const current = state.model.value.index;
  return state.drawing.value.flatMap((model) => {
    const data = columns(model);
    const { stroke, dash, width, place } = state.styles.value[model.index]!;
    const grey = place === null && model.index !== current;
    return data ? [{ ...data, stroke, dash, width, ...(grey ? {} : { name: model.name }), ...extra }] : [];
  });
}

/** The points of a model where another unit of both axes makes one view of another. */
export function throughRates({ levels }: Model, through: Through): { x: Column; y: Column; through: Through } {
  return { x: levels.fpr, y: levels.tpr, through };
}

/** The largest of a column that is a number. */
export function highest(column: Column): number {
  let top = -Infinity;
  for (let i = 0; i < column.length; i++) if (column[i]! > top) top = column[i]!;
  return top;
}

/** The point in use: a filled dot; where the reader moved away from it, the best one as a ring. */
export function pointMarks(state: State, place: (model: Model, level: number) => Point): Mark[] {
  const { model, level } = state.current.value;
  const best = state.best.value;
  const marks: Mark[] = [];
  const at = (choice: { model: number; level: number }): Point => place(state.models.value[choice.model]!, choice.level);
  const { halo } = palette.value;
  if (best.model !== model || best.level !== level) {
    marks.push({ kind: "dot", at: at(best), fill: halo, stroke: colourOf(state, best.model), r: 4.5, role: "best" });
  }
  marks.push({ kind: "dot", at: at({ model, level }), fill: colourOf(state, model), stroke: halo, r: 6, role: "point" });
  return marks;
}

/** Arrow keys move the threshold and change the model; Escape returns to the best. */
export function thresholdKeys(state: State): (event: KeyboardEvent) => boolean {
  return (event) => {
    const { level } = state.current.value;
    const model = state.model.value;
    const far = Math.max(1, Math.round(model.levels.size / 20));
    const moves: Record<string, () => void> = {
      ArrowRight: () => setLevel(state, model, level + 1),
      ArrowLeft: () => setLevel(state, model, level - 1),
      PageDown: () => setLevel(state, model, level + far),
      PageUp: () => setLevel(state, model, level - far),
      Home: () => setLevel(state, model, 0),
      End: () => setLevel(state, model, model.levels.size - 1),
      ArrowDown: () => stepModel(state, 1),
      ArrowUp: () => stepModel(state, -1),
      Escape: () => toBest(state),
    };
    const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
    move?.();
    return move !== undefined;
  };
}

export function thresholdHandle(state: State, chartName: string, at: () => Point): Handle {
  return {
    label: `Threshold on the ${chartName}`,
    state: () => ({
      at: at(),
      now: state.current.value.level,
      min: 0,
      max: state.model.value.levels.size - 1,
      text: state.spoken.value,
    }),
    key: thresholdKeys(state),
  };
}

/** Whether bands are shown: one choice for all charts that have one. */
export function bandChoice(state: State): HTMLElement {
  const toggle = button("95% band", () => (state.band.value = !state.band.value), { class: "quiet-button" });
  effect(() => toggle.setAttribute("aria-pressed", String(state.band.value)));
  return toggle;
}

/** The current model in each fold, where folds are wanted. */
export function foldsOfModel(state: State): Model[] {
  if (state.foldsView.value === "none") return [];
  return state.folds.value.flatMap(({ models }) => models.filter((model) => model.name === state.model.value.name));
}

/** How folds are shown: one choice for all charts that show them; none where there are no folds. */
export function foldsChoice(state: State): HTMLElement[] {
  if (!state.report.parts.some(({ kind }) => kind === "fold")) return [];
  const select = h("select", { class: "quiet-button", "aria-label": "Folds" }, ...FOLDS.map(([value, text]) => h("option", { value }, text)));
  select.addEventListener("change", () => (state.foldsView.value = select.value as FoldsView));
  effect(() => {
    select.value = state.foldsView.value;
  });
  return [select];
}

const FOLDS: readonly (readonly [FoldsView, string])[] = [["none", "no folds"], ["each", "each fold"], ["vertical", "mean at each rate"], ["threshold", "mean at each threshold"]];

/** Make the costs such that predicting positive pays from this slope of the iso-performance line on. */
export function setRatio(state: State, ratio: number): void {
  const alarm = state.costFp.value - state.costTn.value;
  if (!(alarm > 0) || !(ratio > 0) || !Number.isFinite(ratio)) return;
  state.costFn.value = Number((alarm / ratio + state.costTp.value).toPrecision(3));
  if (state.pinned.value !== null) chooseModel(state, null);
}
