/** ROC curves with their hull, the line of equal cost and the point that it touches. */

import { effect } from "@preact/signals-core";

import { chart } from "../chart/chart";
import { across, type Mark, type Point, type Series } from "../chart/scene";
import type { Model } from "../data";
import { button } from "../dom";
import { count, number, percent, tick } from "../format";
import { slope } from "../math/context";
import { byThreshold, vertical } from "../math/folds";
import { ratesAt, samplePrevalence, wilson } from "../math/levels";
import { palette } from "../palette";
import { setLevel, type State } from "../state";
import { bandChoice, colourOf, foldsChoice, foldsOfModel, modelLines, pointMarks, setRatio, thresholdHandle, throughRates, UNIT } from "./shared";

const AS_IT_IS = { a: 1, b: 0, c: 0, d: 1, f: 0 };

export function rocChart(state: State): HTMLElement {
  const current = (): Point => {
    return place(state.model.value, state.current.value.level);
  };
  let turning: Point | null = null;
  return chart({
    id: "roc",
    title: () => "ROC curve",
    tools: [...foldsChoice(state), hullsChoice(state), bandChoice(state)],
    describe: () => describe(state),
    scene: () => ({
      x: { label: "False positive rate", domain: UNIT, format: tick },
      y: { label: "True positive rate", domain: UNIT, format: tick },
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
      const { levels, thresholdText: text } = state.model.value;
      return {
        columns: ["fpr", "tpr", "threshold"],
        rows: Array.from(levels.fpr, (fpr, i) => [fpr, levels.tpr[i] ?? 0, (i > 0 && text?.[i - 1]) || (levels.threshold[i] ?? 0)]),
      };
    },
    handle: thresholdHandle(state, "ROC curve", current),
    drag: (at, toPixels, start) => {
      if (start) turning = grabsLine(state, current(), at, toPixels) ? current() : null;
      if (turning) turn(state, turning, at);
      else setLevel(state, state.model.value, nearestPoint(state, at, toPixels));
    },
  });
}

function place({ levels }: Model, level: number): Point {
  const [tpr, fpr] = ratesAt(levels, level);
  return [fpr, tpr];
}

function decidedAt({ decided, levels }: Model): Point | null {
  return decided && [decided[1] / levels.nNeg, decided[0] / levels.nPos];
}

/** Where the current model decides itself, whatever the threshold in use: a small ring. */
function decidedMarks(state: State): Mark[] {
  const at = decidedAt(state.model.value);
  return at ? [{ kind: "dot", at, fill: palette.value.halo, stroke: colourOf(state, state.model.value.index), r: 3.5, role: "decided" }] : [];
}

/** The current model at the threshold 0.5, where its scores are probabilities: a small square. */
function halfMarks(state: State): Mark[] {
  const { atHalf, levels, calibration, index } = state.model.value;
  if (!calibration) return [];
  const at: Point = [atHalf[1] / levels.nNeg, atHalf[0] / levels.nPos];
  return [{ kind: "square", at, fill: palette.value.halo, stroke: colourOf(state, index), r: 3.5, role: "half" }];
}

function hullsChoice(state: State): HTMLElement {
  const toggle = button("Hulls", () => (state.hulls.value = !state.hulls.value), { class: "quiet-button", title: "Each model's own hull" });
  effect(() => toggle.setAttribute("aria-pressed", String(state.hulls.value)));
  return toggle;
}

/** Each visible model's own hull. */
function ownHulls(state: State): Series[] {
  if (!state.hulls.value) return [];
  const lines = modelLines(state, ({ levels: { hull, fpr, tpr } }) => ({ x: Array.from(hull, (i) => fpr[i]!), y: Array.from(hull, (i) => tpr[i]!) }), { dash: [1, 2], width: 1.25 });
  return lines.map(({ name: _, ...line }) => line);
}

/** The current model in each fold, or averaged over them with a band. */
function foldLines(state: State): Series[] {
  const folds = foldsOfModel(state).map(({ levels }) => levels);
  if (!folds.length) return [];
  const stroke = colourOf(state, state.model.value.index);
  const each = folds.map(({ fpr, tpr }): Series => ({ x: fpr, y: tpr, stroke, width: 1, alpha: 0.35 }));
  const view = state.foldsView.value;
  if (view === "each") return each;
  const { x, y, low, high } = view === "vertical" ? vertical(folds) : byThreshold(folds, state.model.value.levels.threshold);
  const { ink } = palette.value;
  return [...each, { x, y: high, base: low, stroke, alpha: 0.18 }, { x, y, stroke: ink, width: 1.5, dash: [1, 2] }];
}

function describe(state: State): string {
  const { tpr, fpr } = state.rates.value;
  const { model } = state;
  const thinned = model.value.deviation > 0 ? ` Drawn from ${count(model.value.levels.size)} of ${count(model.value.nLevels + 1)} points, at most ${percent(model.value.deviation)} off.` : "";
  const m = currentSlope(state);
  const own = decidedAt(model.value);
  const decides = own ? ` Left to itself (ring) it decides at ${percent(own[1])} and ${percent(own[0])}.` : "";
  const folds = { none: "", each: " Thin: each fold.", vertical: " Dotted: the mean of the folds at each false positive rate, with its 95% band.", threshold: " Dotted: the mean of the folds at each threshold, with its 95% band." };
  const half = model.value.calibration ? " Square: threshold 0.5." : "";
  return `${model.value.name} at true positive rate ${percent(tpr)} and false positive rate ${percent(fpr)}; the line of equal cost has slope ${number(m)}.${half}${decides}${state.folds.value.length ? folds[state.foldsView.value] : ""}${thinned}`;
}

function currentSlope(state: State): number {
  return slope(state.context.value, samplePrevalence(state.model.value.levels));
}

function lineMark(state: State, at: Point): Mark {
  const [from, to] = across(at, currentSlope(state), UNIT, UNIT);
  return { kind: "line", from, to, stroke: palette.value.ink, dash: [6, 4], width: 1.25, role: "iso" };
}

function hullOf(state: State): Series {
  const all = state.regions.value;
  const spots: Point[] = [[0, 0], ...all.map((r): Point => [r.fpr, r.tpr]), [1, 1]];
  return { x: spots.map(([x]) => x), y: spots.map(([, y]) => y), stroke: palette.value.ink, alpha: 0.28, width: 4 };
}

/** The band that was asked for, or Wilson's interval of the true positive rate at each threshold of the current model. */
function bandOf(state: State): Series[] {
  const { levels, index, name } = state.model.value;
  const drawn = state.drawn.value;
  if (drawn?.model === name) return [{ x: drawn.x, y: drawn.high, base: drawn.low, stroke: colourOf(state, index), alpha: 0.18 }];
  if (!state.band.value || !levels.whole) return [];
  const edges = Array.from(levels.tp, (tp) => wilson(tp, levels.nPos));
  return [{ x: levels.fpr, y: edges.map(([, high]) => high), base: edges.map(([low]) => low), stroke: colourOf(state, index), alpha: 0.18 }];
}

function nearestPoint(state: State, at: Point, toPixels: (point: Point) => Point): number {
  const { levels } = state.model.value;
  const [px, py] = toPixels(at);
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < levels.size; i++) {
    const [x, y] = toPixels(place(state.model.value, i));
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
  const share = state.share.value;
  if (m > 0.001 && m < 1000) setRatio(state, (m * share) / (1 - share));
}
