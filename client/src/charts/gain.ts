/** Gain, lift and precision–recall: what is found among the cases with the highest scores. */

import { chart } from "../chart/chart";
import { across, type Column, type Mark, type Point, type Series } from "../chart/scene";
import type { Model } from "../data";
import { number, percent, tick } from "../format";
import { probabilityThreshold } from "../math/context";
import { cellsAt, nearest, ratesAt } from "../math/levels";
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
  return [x[0]!, Number.isFinite(y[0]) ? y[0]! : viewOf(state) === "pr" ? 1 : 0];
}

/** Columns of the view for all levels, or for those asked for; of a sample by its counts, which are not rounded. */
function columnsOf(state: State, { levels }: Model, which: Iterable<number> = levels.tp.keys()): { x: number[]; y: number[] } {
  const n = levels.nPos + levels.nNeg;
  const share = state.costs.prevalence.value;
  const kind = viewOf(state);
  const points = Array.from(which, (i): Point => {
    const [tpr, fpr] = ratesAt(levels, i);
    const { tp, fp } = share === null ? { tp: levels.tp[i]!, fp: levels.fp[i]! } : cellsAt(tpr, fpr, share, n);
    const depth = (tp + fp) / n;
    return [kind === "pr" ? tpr : depth, { gain: tpr, count: tp, lift: tpr / depth, pr: tp / (tp + fp) }[kind]];
  });
  return { x: points.map(([x]) => x), y: points.map(([, y]) => y) };
}

function positives(state: State): number {
  const { nPos, nNeg } = modelOf(state).levels;
  return shareOf(state) * (nPos + nNeg);
}

/** The current model's hull, of which every line of equal cost touches a vertex. */
function hullOf(state: State): Series {
  const model = modelOf(state);
  const { x, y } = columnsOf(state, model, model.levels.hull);
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
