/** Gain, lift and precision–recall: what is found among the cases with the highest scores. */

import { effect } from "@preact/signals-core";

import { chart } from "../chart/chart";
import { across, type Column, type Mark, type Point, type Series } from "../chart/scene";
import type { Model } from "../data";
import { choices } from "../dom";
import { number, percent, tick } from "../format";
import { probabilityThreshold } from "../math/context";
import { nearest, samplePrevalence } from "../math/levels";
import { palette } from "../palette";
import { type GainView, setLevel, type State } from "../state";
import { highest, modelLines, pointMarks, thresholdHandle, throughRates, UNIT } from "./shared";

const NAMES: Record<GainView, string> = { gain: "Gain curve", count: "Lift chart in counts", lift: "Lift curve", pr: "Precision–recall curve" };
const COLUMNS: Record<GainView, string[]> = {
  gain: ["depth", "tpr", "threshold"],
  count: ["depth", "tp", "threshold"],
  lift: ["depth", "lift", "threshold"],
  pr: ["recall", "precision", "threshold"],
};

export function gainChart(state: State): HTMLElement {
  const view = choices("View", [["gain", "Gain"], ["count", "Counts"], ["lift", "Lift"], ["pr", "PR"]] as const, (value) => (state.gainView.value = value));
  effect(() => view.show(state.gainView.value));
  const at = (model: Model, level: number): Point => place(state, model, level);
  const current = (): Point => at(state.model.value, state.current.value.level);
  return chart({
    id: "gain",
    title: () => NAMES[state.gainView.value],
    tools: [view.element],
    describe: () => {
      const { depth, tpr, lift, precision } = state.rates.value;
      return `Among the ${percent(depth)} with the highest scores: ${percent(tpr)} of all positives, precision ${percent(precision)}, lift ${number(lift)}.`;
    },
    scene: () => {
      const { axis } = palette.value;
      const kind = state.gainView.value;
      const share = state.share.value;
      const base = {
        gain: { x: [0, share, 1], y: [0, 1, 1] },
        count: { x: [0, share, 1], y: [0, positives(state), positives(state)] },
        lift: { x: [0, 1], y: [1, 1] },
        pr: { x: [0, 1], y: [share, share] },
      }[kind];
      const series = modelLines(state, (model) => drawn(state, model));
      const top = kind === "count" ? positives(state) : kind === "lift" ? Math.max(1.5, ...series.map((line) => highest(line.y))) * 1.05 : 1;
      return {
        x: { label: kind === "pr" ? "Recall (true positive rate)" : "Share predicted positive", domain: UNIT, format: tick },
        y: { label: { gain: "Share of positives found", count: "Positives found", lift: "Lift", pr: "Precision" }[kind], domain: [0, top], format: tick },
        series: [
          ...(kind === "gain" || kind === "count" ? [{ x: [0, 1], y: [0, top], stroke: axis, width: 1, dash: [2, 3] }] : []),
          ...(kind === "count" ? [hullOf(state)] : []),
          { ...base, stroke: axis, width: 1, dash: [2, 3] },
          ...series,
        ],
      };
    },
    marks: () => {
      const [x, y] = current();
      const { quiet } = palette.value;
      const rule = { kind: "line", from: [x, 0] as const, to: [x, y] as const, stroke: quiet, width: 1, dash: [2, 3] } as const;
      return [...isoMarks(state, [x, y]), rule, ...pointMarks(state, at)];
    },
    data: () => {
      const model = state.model.value;
      const { x, y } = columnsOf(state, model);
      return {
        columns: COLUMNS[state.gainView.value],
        rows: Array.from(x, (value, i) => [value, y[i] ?? NaN, model.levels.threshold[i] ?? 0]),
      };
    },
    handle: thresholdHandle(state, "gain curve", current),
    drag: ([x]) => {
      const model = state.model.value;
      const column = columnsOf(state, model).x;
      setLevel(state, model, nearest((i) => column[i] ?? 0, column.length, x));
    },
  });
}

/** The curve as it is drawn: gain is the ROC curve in other units, lift and precision are not. */
function drawn(state: State, model: Model): { x: Column; y: Column } {
  const kind = state.gainView.value;
  if (kind === "lift" || kind === "pr") return columnsOf(state, model);
  const { levels } = model;
  const share = state.prevalence.value ?? samplePrevalence(levels);
  const found = kind === "gain" ? 1 : share * (levels.nPos + levels.nNeg);
  return throughRates(model, { a: 1 - share, b: 0, c: share, d: found, f: 0 });
}

function place(state: State, model: Model, level: number): Point {
  const { x, y } = columnsOf(state, model, [level]);
  const found = y[0] ?? NaN;
  return [x[0] ?? 0, Number.isFinite(found) ? found : state.gainView.value === "pr" ? 1 : 0];
}

/** Columns of the view for all levels, or for those asked for: 20 models have thousands at every step of a drag. */
function columnsOf(state: State, model: Model, which?: readonly number[]): { x: Float64Array; y: Float64Array } {
  const { tp, fp, tpr, fpr, nPos, nNeg } = model.levels;
  const n = nPos + nNeg;
  const wanted = state.prevalence.value; // not the context, so that costs redraw nothing
  const ofSample = wanted === null;
  const share = wanted ?? samplePrevalence(model.levels);
  const kind = state.gainView.value;
  const size = (which ?? tp).length;
  const [x, y] = [new Float64Array(size), new Float64Array(size)];
  for (let k = 0; k < size; k++) {
    const i = which ? which[k]! : k;
    const found = ofSample ? tp[i]! : share * tpr[i]!;
    const alarms = ofSample ? fp[i]! : (1 - share) * fpr[i]!;
    const depth = ofSample ? (found + alarms) / n : found + alarms;
    x[k] = kind === "pr" ? tpr[i]! : depth;
    y[k] = kind === "gain" ? tpr[i]! : kind === "count" ? (ofSample ? found : found * n) : kind === "lift" ? tpr[i]! / depth : found / (found + alarms);
  }
  return { x, y };
}

/** Positives among as many cases as there are, at the share that is wanted. */
function positives(state: State): number {
  const { nPos, nNeg } = state.model.value.levels;
  return state.share.value * (nPos + nNeg);
}

/** The current model's hull, of which every line of equal cost touches a vertex. */
function hullOf(state: State): Series {
  const model = state.model.value;
  const { x, y } = columnsOf(state, model, Array.from(model.levels.hull));
  return { x, y, stroke: palette.value.ink, alpha: 0.28, width: 4 };
}

/** In the chart in counts, the line of equal cost through a point. */
function isoMarks(state: State, at: Point): Mark[] {
  if (state.gainView.value !== "count") return [];
  const { nPos, nNeg } = state.model.value.levels;
  const slope = (nPos + nNeg) * probabilityThreshold(state.context.value);
  const [from, to] = across(at, slope, UNIT, [0, positives(state)]);
  return [{ kind: "line", from, to, stroke: palette.value.ink, dash: [6, 4], width: 1.25, role: "iso" }];
}
