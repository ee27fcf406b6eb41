/** What the charts of several models have in common. */

import type { Handle, Reading } from "../chart/chart";
import type { Axis, Column, Mark, Point, Series, Through } from "../chart/scene";
import { type Model, textAt } from "../data";
import { selectOf, switchOf } from "../dom";
import { count, minus, tick } from "../format";
import { depthAt, nearest, samplePrevalence } from "../math/levels";
import { palette } from "../palette";
import { levelOf, modelOf, shareOf } from "../state/current";
import { chooseModel, setLevel, type State, stepModel, wordsOf } from "../state/state";

export const UNIT = [0, 1] as const;

/** An axis of rates: a line at each quarter, a number at each half. */
export function rateAxis(label: string): Axis {
  return { label, domain: UNIT, ticks: [0, 0.25, 0.5, 0.75, 1], format: (value) => (Number.isInteger(2 * value) ? tick(value) : "") };
}

export function colourOf(state: State, model: number): string {
  return state.models.styles.value[model]?.stroke ?? palette.value.ghost;
}

/** A prevalence below which the highest scores are what matters. */
const RARE = 0.05;

/** The axis of the share predicted positive: by powers of ten where positives are rare. */
export function depthAxis(state: State): Axis {
  const label = wordsOf(state).depth;
  const share = shareOf(state);
  if (share >= RARE) return rateAxis(label);
  return { label, domain: [10 ** Math.floor(Math.log10(share / 5)), 1], log: true, format: (value) => `${tick(100 * value)}%` };
}

/** Share of the cases whose scores an axis of probabilities need not reach. */
const BEYOND = 0.005;

/** The probability up to which scores lie, but for a few, rounded up; 1 where the reader wants the whole axis. */
export function highestScore(state: State): number {
  if (state.views.full.value) return 1;
  const ends = state.models.drawn.value.filter(({ calibration }) => calibration).map(({ levels }) => {
    const level = nearest((i) => depthAt(levels, i, samplePrevalence(levels)), levels.size, BEYOND);
    return levels.threshold[Math.max(1, level)] ?? 1;
  });
  return roundUp(Math.max(0, ...ends));
}

/** A probability rounded up to 1, 2 or 5 times a power of ten, or to a tenth above a half. */
export function roundUp(value: number): number {
  if (!(value > 0) || value > 0.5) return value > 0.9 || !(value > 0) ? 1 : Math.ceil(value * 10 - 1e-9) / 10;
  const power = 10 ** Math.floor(Math.log10(value));
  return Number((power * [1, 2, 5, 10].find((factor) => factor * power >= value - 1e-12)!).toPrecision(3));
}

export const fullChoice = ({ views }: State): HTMLElement => switchOf("0–1", views.full, { class: "quiet-button", title: "Show probabilities from 0 to 1" });

/** A line a model: grey ones first, the current one last and widest. */
export function modelLines(state: State, columns: (model: Model) => { x: Column; y: Column; through?: Through } | null, extra: Partial<Series> = {}): Series[] {
  const current = modelOf(state).index;
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
    const level = levelOf(state);
    const model = modelOf(state);
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
      now: levelOf(state),
      min: 0,
      max: modelOf(state).levels.size - 1,
      text: state.selection.spoken.value,
    }),
    key: thresholdKeys(state),
  };
}

export function secondChoice(state: State): HTMLElement {
  const options = [["gain", "Gain"], ["count", "Lift in counts"], ["lift", "Lift"], ["pr", "Precision–recall"], ["profit", "Profit"], ["benefit", "Net benefit"]] as const;
  return selectOf(options, state.views.second, { class: "quiet-button", "aria-label": "View" });
}

/** What a chart says of a threshold of the current model: both coordinates in words, and the counts. */
export function readLevel(state: State, level: number, at: Point, words: string): Reading {
  const model = modelOf(state);
  const { levels } = model;
  const threshold = level === 0 ? "nobody" : level === levels.size - 1 ? "everybody" : `score ≥ ${minus(textAt(model, level))}`;
  return { at, text: `${threshold}: ${words}; ${count(levels.tp[level]!)} true, ${count(levels.fp[level]!)} false positives` };
}

export const bandChoice = ({ views }: State): HTMLElement => switchOf("95% band", views.band, { class: "quiet-button" });

/** The current model in each fold, where folds are wanted. */
export function foldsOfModel(state: State): Model[] {
  if (state.views.folds.value === "none") return [];
  return state.rows.folds.value.flatMap(({ models }) => models.filter((model) => model.name === modelOf(state).name));
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
