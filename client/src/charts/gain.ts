/** Gain, lift and precision–recall: what is found among the cases with the highest scores. */

import { chart } from "../chart/chart";
import { across, type Column, type Mark, type Point, type Series } from "../chart/scene";
import type { Model } from "../data";
import { number, percent, tick } from "../format";
import { probabilityThreshold } from "../math/context";
import { nearest } from "../math/levels";
import { palette } from "../palette";
import { contextOf, levelOf, modelOf, shareOf } from "../state/current";
import { type GainView, lower, setLevel, type State, wordsOf } from "../state/state";
import { depthAxis, highest, modelLines, pointMarks, rateAxis, readLevel, secondChoice, thresholdHandle, throughRates, UNIT } from "./shared";

interface View { readonly title: string; readonly y: string; readonly columns: readonly string[] }

const VIEWS: Record<GainView, View> = {
  gain: { title: "Gain curve", y: "Share of positives found", columns: ["depth", "tpr", "threshold"] },
  count: { title: "Lift chart in counts", y: "Number of positives found", columns: ["depth", "tp", "threshold"] },
  lift: { title: "Lift curve", y: "Lift", columns: ["depth", "lift", "threshold"] },
  pr: { title: "Precision–recall curve", y: "Precision", columns: ["recall", "precision", "threshold"] },
};

/** The view of this chart, also while the other one is shown. */
function viewOf({ views }: State): GainView {
  return views.second.value in VIEWS ? (views.second.value as GainView) : "gain";
}

function labels(state: State): [x: string, y: string] {
  const { tpr, precision, depth } = wordsOf(state);
  return viewOf(state) === "pr" ? [tpr, precision] : [depth, VIEWS[viewOf(state)].y];
}

export function gainChart(state: State): HTMLElement {
  const at = (model: Model, level: number): Point => place(state, model, level);
  const current = (): Point => at(modelOf(state), levelOf(state));
  return chart({
    id: "gain",
    title: () => VIEWS[viewOf(state)].title,
    tools: [secondChoice(state)],
    shown: () => state.views.second.value in VIEWS,
    describe: () => {
      const { depth, tpr, lift, precision } = state.selection.rates.value;
      return `The ${percent(depth)} of cases with the highest scores contain ${percent(tpr)} of all positives. Precision ${percent(precision)}, lift ${number(lift)}.`;
    },
    scene: () => {
      const { axis } = palette.value;
      const kind = viewOf(state);
      const share = shareOf(state);
      const base = {
        gain: { x: [0, share, 1], y: [0, 1, 1] },
        count: { x: [0, share, 1], y: [0, positives(state), positives(state)] },
        lift: { x: [0, 1], y: [1, 1] },
        pr: { x: [0, 1], y: [share, share] },
      }[kind];
      const series = modelLines(state, (model) => drawn(state, model));
      const top = kind === "count" ? positives(state) : kind === "lift" ? Math.max(1.5, ...series.map((line) => highest(line.y))) * 1.05 : 1;
      return {
        x: kind === "pr" ? rateAxis(labels(state)[0]) : depthAxis(state),
        y: kind === "gain" || kind === "pr" ? rateAxis(labels(state)[1]) : { label: VIEWS[kind].y, domain: [0, top], format: tick },
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
      const model = modelOf(state);
      const { x, y } = columnsOf(state, model);
      return { columns: VIEWS[viewOf(state)].columns, rows: Array.from(x, (value, i) => [value, y[i] ?? NaN, model.levels.threshold[i] ?? 0]) };
    },
    read: ([x]) => {
      const level = levelNear(state, x);
      const [across, up] = at(modelOf(state), level);
      const [label, name] = labels(state);
      const value = ["gain", "pr"].includes(viewOf(state)) ? percent(up) : number(up);
      return readLevel(state, level, [across, up], `${lower(label)} ${percent(across)}, ${lower(name)} ${value}`);
    },
    handle: thresholdHandle(state, "gain curve", current),
    drag: ([x]) => setLevel(state, modelOf(state), levelNear(state, x)),
  });
}

function levelNear(state: State, x: number): number {
  const model = modelOf(state);
  return nearest((i) => place(state, model, i)[0], model.levels.size, x);
}

/** The curve as it is drawn: gain is the ROC curve in other units, lift and precision are not. */
function drawn(state: State, model: Model): { x: Column; y: Column } {
  const kind = viewOf(state);
  if (kind === "lift" || kind === "pr") return columnsOf(state, model);
  const { levels } = model;
  const share = shareOf(state, model);
  const found = kind === "gain" ? 1 : share * (levels.nPos + levels.nNeg);
  return throughRates(model, { a: 1 - share, b: 0, c: share, d: found, f: 0 });
}

function place(state: State, model: Model, level: number): Point {
  const { x, y } = columnsOf(state, model, [level]);
  const found = y[0] ?? NaN;
  return [x[0] ?? 0, Number.isFinite(found) ? found : viewOf(state) === "pr" ? 1 : 0];
}

/** Columns of the view for all levels, or for those asked for: 20 models have thousands at every step of a drag. */
function columnsOf(state: State, model: Model, which?: readonly number[]): { x: Float64Array; y: Float64Array } {
  const { tp, fp, tpr, fpr, nPos, nNeg } = model.levels;
  const n = nPos + nNeg;
  const ofSample = state.costs.prevalence.value === null;
  const share = shareOf(state, model);
  const kind = viewOf(state);
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

function positives(state: State): number {
  const { nPos, nNeg } = modelOf(state).levels;
  return shareOf(state) * (nPos + nNeg);
}

/** The current model's hull, of which every line of equal cost touches a vertex. */
function hullOf(state: State): Series {
  const model = modelOf(state);
  const { x, y } = columnsOf(state, model, Array.from(model.levels.hull));
  return { x, y, stroke: palette.value.ink, alpha: 0.28, width: 4 };
}

/** In the chart in counts, the line of equal cost through a point. */
function isoMarks(state: State, at: Point): Mark[] {
  if (viewOf(state) !== "count") return [];
  const { nPos, nNeg } = modelOf(state).levels;
  const slope = (nPos + nNeg) * probabilityThreshold(contextOf(state));
  const [from, to] = across(at, slope, UNIT, [0, positives(state)]);
  return [{ kind: "line", from, to, stroke: palette.value.ink, dash: [6, 4], width: 1.25, role: "iso" }];
}
