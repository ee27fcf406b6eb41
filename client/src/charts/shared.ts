/** What the charts of several models have in common. */

import type { Handle } from "../chart/chart";
import type { Column, Mark, Point, Series, Through } from "../chart/scene";
import type { Model } from "../data";
import { selectOf, toggle } from "../inputs";
import { palette } from "../palette";
import { chooseModel, setLevel, type State, stepModel } from "../state/state";

export const UNIT = [0, 1] as const;

export function colourOf(state: State, model: number): string {
  return state.models.styles.value[model]?.stroke ?? palette.value.ghost;
}

/** A line a model: grey ones first, the current one last and widest. */
export function modelLines(state: State, columns: (model: Model) => { x: Column; y: Column; through?: Through } | null, extra: Partial<Series> = {}): Series[] {
  const current = state.selection.model.value.index;
  return state.models.drawn.value.flatMap((model) => {
    const data = columns(model);
    const { stroke, dash, width, place } = state.models.styles.value[model.index]!;
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
  const { model, level } = state.selection.current.value;
  const best = state.selection.best.value;
  const marks: Mark[] = [];
  const at = (choice: { model: number; level: number }): Point => place(state.models.all.value[choice.model]!, choice.level);
  const { halo } = palette.value;
  if (state.selection.moved.value) {
    marks.push({ kind: "dot", at: at(best), fill: halo, stroke: colourOf(state, best.model), r: 4.5, role: "best" });
  }
  marks.push({ kind: "dot", at: at({ model, level }), fill: colourOf(state, model), stroke: halo, r: 6, role: "point" });
  return marks;
}

/** Arrow keys move the threshold and change the model; Escape returns to the best. */
export function thresholdKeys(state: State): (event: KeyboardEvent) => boolean {
  return (event) => {
    const { level } = state.selection.current.value;
    const model = state.selection.model.value;
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
      Escape: () => chooseModel(state, null),
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
      now: state.selection.current.value.level,
      min: 0,
      max: state.selection.model.value.levels.size - 1,
      text: state.selection.spoken.value,
    }),
    key: thresholdKeys(state),
  };
}

/** Whether bands are shown: one choice for all charts that have one. */
export function bandChoice(state: State): HTMLElement {
  const { band } = state.views;
  return toggle("95% band", () => band.value, () => (band.value = !band.value), { class: "quiet-button" });
}

/** The current model in each fold, where folds are wanted. */
export function foldsOfModel(state: State): Model[] {
  if (state.views.folds.value === "none") return [];
  return state.rows.folds.value.flatMap(({ models }) => models.filter((model) => model.name === state.selection.model.value.name));
}

/** How folds are shown: one choice for all charts that show them; none where there are no folds. */
export function foldsChoice(state: State): HTMLElement[] {
  if (!state.report.parts.some(({ kind }) => kind === "fold")) return [];
  const options = [["none", "no folds"], ["each", "each fold"], ["vertical", "mean by FPR"], ["threshold", "mean by threshold"]] as const;
  return [selectOf(options, state.views.folds, { class: "quiet-button", "aria-label": "Folds" })];
}

/** Make the costs such that predicting positive pays from this slope of the iso-performance line on. */
export function setRatio(state: State, ratio: number): void {
  const alarm = state.costs.fp.value - state.costs.tn.value;
  if (!(alarm > 0) || !(ratio > 0) || !Number.isFinite(ratio)) return;
  state.costs.fn.value = Number((alarm / ratio + state.costs.tp.value).toPrecision(3));
  if (state.selection.pinned.value !== null) chooseModel(state, null);
}
