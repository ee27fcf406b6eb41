/** ROC curves with their hull, the line of equal cost and the point that it touches. */

import { chart } from "../chart/chart";
import { across, AS_IT_IS, type Mark, type Point, type Series } from "../chart/scene";
import type { Model } from "../data";
import { h, menu, switchOf } from "../dom";
import { count, LONGEST_NAME, number, percent, shorten } from "../format";
import { slope } from "../math/context";
import { byThreshold, vertical } from "../math/folds";
import { ratesAt, samplePrevalence, wilson } from "../math/levels";
import { palette } from "../palette";
import { contextOf, levelOf, modelOf, shareOf } from "../state/current";
import { lower, setLevel, type State, wordsOf } from "../state/state";
import { bandChoice, colourOf, foldsChoice, foldsOfModel, modelLines, pointMarks, rateAxis, readLevel, setRatio, thresholdHandle, throughRates, UNIT } from "./shared";

export function rocChart(state: State): HTMLElement {
  const current = (): Point => place(modelOf(state), levelOf(state));
  let turning: Point | null = null;
  const hulls = switchOf("Hulls", state.views.hulls, { class: "quiet-button", title: "Show the convex hull of each model" });
  return chart({
    id: "roc",
    title: () => "ROC curve",
    tools: [...foldsChoice(state), menu("", h("summary", {}, "Options"), h("div", {}, hulls, bandChoice(state)))],
    describe: () => describe(state),
    scene: () => ({
      x: rateAxis(wordsOf(state).fpr),
      y: rateAxis(wordsOf(state).tpr),
      series: [
        { x: [0, 1], y: [0, 1], stroke: palette.value.axis, width: 1, dash: [2, 3] },
        ...bandOf(state),
        hullOf(state),
        ...ownHulls(state),
        ...foldLines(state),
        ...modelLines(state, (model) => throughRates(model, AS_IT_IS)),
      ],
    }),
    marks: () => [lineMark(state, current()), ...halfMarks(state), ...decidedMarks(state), ...pointMarks(state, place)],
    data: () => {
      const { levels, thresholdText: text } = modelOf(state);
      return {
        columns: ["fpr", "tpr", "threshold"],
        rows: Array.from(levels.fpr, (fpr, i) => [fpr, levels.tpr[i] ?? 0, (i > 0 && text?.[i - 1]) || (levels.threshold[i] ?? 0)]),
      };
    },
    read: (at, toPixels) => {
      const level = nearestPoint(state, at, toPixels);
      const [x, y] = place(modelOf(state), level);
      return readLevel(state, level, [x, y], `${lower(wordsOf(state).tpr)} ${percent(y)}, ${lower(wordsOf(state).fpr)} ${percent(x)}`);
    },
    handle: thresholdHandle(state, "ROC curve", current),
    drag: (at, toPixels, start) => {
      if (start) turning = grabsLine(state, current(), at, toPixels) ? current() : null;
      if (turning) turn(state, turning, at);
      else setLevel(state, modelOf(state), nearestPoint(state, at, toPixels));
    },
  });
}

function place({ levels }: Model, level: number): Point {
  const [tpr, fpr] = ratesAt(levels, level);
  return [fpr, tpr];
}

const pointOf = ({ levels }: Model, [tp, fp]: readonly [number, number]): Point => [fp / levels.nNeg, tp / levels.nPos];

/** Where the current model decides itself, whatever the threshold in use: a small ring. */
function decidedMarks(state: State): Mark[] {
  const model = modelOf(state);
  return model.decided ? [{ kind: "dot", at: pointOf(model, model.decided), fill: palette.value.halo, stroke: colourOf(state, model.index), r: 3.5, role: "decided" }] : [];
}

/** The current model at the threshold 0.5, where its scores are probabilities: a small square. */
function halfMarks(state: State): Mark[] {
  const model = modelOf(state);
  return model.calibration ? [{ kind: "square", at: pointOf(model, model.at_half), fill: palette.value.halo, stroke: colourOf(state, model.index), r: 3.5, role: "half" }] : [];
}

function ownHulls(state: State): Series[] {
  if (!state.views.hulls.value) return [];
  const lines = modelLines(state, ({ levels: { hull, fpr, tpr } }) => ({ x: Array.from(hull, (i) => fpr[i]!), y: Array.from(hull, (i) => tpr[i]!) }), { dash: [1, 2], width: 1.25 });
  return lines.map(({ name: _, ...line }) => line);
}

/** The current model in each fold, or averaged over them with a band. */
function foldLines(state: State): Series[] {
  const folds = foldsOfModel(state).map(({ levels }) => levels);
  if (!folds.length) return [];
  const stroke = colourOf(state, modelOf(state).index);
  const each = folds.map(({ fpr, tpr }): Series => ({ x: fpr, y: tpr, stroke, width: 1, alpha: 0.35 }));
  const view = state.views.folds.value;
  if (view === "each") return each;
  const { x, y, low, high } = view === "vertical" ? vertical(folds) : byThreshold(folds, modelOf(state).levels.threshold);
  const { ink } = palette.value;
  return [...each, { x, y: high, base: low, stroke, alpha: 0.18 }, { x, y, stroke: ink, width: 1.5, dash: [1, 2] }];
}

function describe(state: State): string {
  const { tpr, fpr } = state.selection.rates.value;
  const { model } = state.selection;
  const thinned = model.value.deviation > 0 ? ` The curve is drawn from ${count(model.value.levels.size)} of ${count(model.value.n_levels + 1)} points, with an error of at most ${percent(model.value.deviation)}.` : "";
  const m = currentSlope(state);
  const own = model.value.decided && pointOf(model.value, model.value.decided);
  const decides = own ? ` Ring: the model's own decisions (TPR ${percent(own[1])}, FPR ${percent(own[0])}).` : "";
  const folds = { none: "", each: " Thin lines: the folds.", vertical: " Dotted: mean of the folds at each false positive rate, with its 95% band.", threshold: " Dotted: mean of the folds at each threshold, with its 95% band." };
  const half = model.value.calibration ? " Square: threshold 0.5." : "";
  return `${shorten(model.value.name, LONGEST_NAME)}: ${lower(wordsOf(state).tpr)} ${percent(tpr)}, ${lower(wordsOf(state).fpr)} ${percent(fpr)}. The dashed line of equal cost has slope ${number(m)}.${half}${decides}${state.rows.folds.value.length ? folds[state.views.folds.value] : ""}${thinned}`;
}

function currentSlope(state: State): number {
  return slope(contextOf(state), samplePrevalence(modelOf(state).levels));
}

function lineMark(state: State, at: Point): Mark {
  const [from, to] = across(at, currentSlope(state), UNIT, UNIT);
  return { kind: "line", from, to, stroke: palette.value.ink, dash: [6, 4], width: 1.25, role: "iso" };
}

function hullOf(state: State): Series {
  const all = state.models.regions.value;
  const spots: Point[] = [[0, 0], ...all.map((r): Point => [r.fpr, r.tpr]), [1, 1]];
  return { x: spots.map(([x]) => x), y: spots.map(([, y]) => y), stroke: palette.value.ink, alpha: 0.28, width: 4 };
}

/** The band that was asked for, or Wilson's interval of the true positive rate at each threshold of the current model. */
function bandOf(state: State): Series[] {
  const { levels, index, name } = modelOf(state);
  const drawn = state.views.requestedBand.value;
  if (drawn?.model === name) return [{ x: drawn.x, y: drawn.high, base: drawn.low, stroke: colourOf(state, index), alpha: 0.18 }];
  if (!state.views.band.value || !levels.whole) return [];
  const edges = Array.from(levels.tp, (tp) => wilson(tp, levels.nPos));
  return [{ x: levels.fpr, y: edges.map(([, high]) => high), base: edges.map(([low]) => low), stroke: colourOf(state, index), alpha: 0.18 }];
}

function nearestPoint(state: State, at: Point, toPixels: (point: Point) => Point): number {
  const { levels } = modelOf(state);
  const [px, py] = toPixels(at);
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < levels.size; i++) {
    const [x, y] = toPixels(place(modelOf(state), i));
    const distance = (x - px) ** 2 + (y - py) ** 2;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

/** Whether a press is on the line of equal cost, well away from curve and point. */
function grabsLine(state: State, point: Point, at: Point, toPixels: (point: Point) => Point): boolean {
  const [from, to] = across(point, currentSlope(state), UNIT, UNIT).map(toPixels) as [Point, Point];
  const [px, py] = toPixels(at);
  const [x, y] = toPixels(point);
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const away = Math.abs((to[0] - from[0]) * (py - from[1]) - (to[1] - from[1]) * (px - from[0])) / length;
  return away < 9 && Math.hypot(px - x, py - y) > 24;
}

function turn(state: State, around: Point, at: Point): void {
  const m = (at[1] - around[1]) / (at[0] - around[0]);
  const share = shareOf(state);
  if (m > 0.001 && m < 1000) setRatio(state, (m * share) / (1 - share));
}
