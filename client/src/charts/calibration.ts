/** The calibration plot: observed share of positives against predicted probability. */

import { effect } from "@preact/signals-core";

import { chart } from "../chart/chart";
import type { Mark, Series } from "../chart/scene";
import type { Model, Smooth } from "../data";
import { choices } from "../dom";
import { count, fixed, LONGEST_NAME, percent, shorten, tick, withEnds } from "../format";
import { palette } from "../palette";
import { levelOf, modelOf } from "../state/current";
import type { State } from "../state/state";
import { bandChoice, colourOf, foldsChoice, foldsOfModel, fullChoice, highestScore, modelLines, roundUp } from "./shared";

/** Bars of a rug that tell something of a distribution. */
const LEAST_BARS = 5;

const RUG = 0.12;

export function calibrationChart(state: State): HTMLElement {
  const view = choices("View", [["bins", "Bins"], ["smooth", "LOESS"], ["pav", "PAV"]], state.views.calibration);
  const band = bandChoice(state);
  effect(() => {
    band.hidden = state.views.calibration.value !== "smooth" || !modelOf(state).calibration?.smooth?.low;
  });
  return chart({
    id: "calibration",
    title: () => "Calibration",
    tools: [...foldsChoice(state), fullChoice(state), band, view],
    describe: () => describe(state),
    scene: () => ({
      x: { label: "Predicted probability", domain: [0, highestScore(state)], format: tick },
      y: { label: "Observed share of positives", domain: [0, highestShare(state)], format: tick },
      series: [
        ...rug(state),
        { x: [0, 1], y: [0, 1], stroke: palette.value.axis, width: 1, dash: [2, 3] },
        ...bandOf(state),
        ...foldLines(state),
        ...modelLines(state, (model) => columnsOf(state, model)),
      ],
    }),
    marks: () => [...thresholdRule(state), ...binMarks(state)],
    read: ([x]) => {
      const line = columnsOf(state, modelOf(state));
      if (!line?.x.length) return null;
      const i = line.x.reduce((best, value, at) => (Math.abs(value - x) < Math.abs(line.x[best]! - x) ? at : best), 0);
      const bin = state.views.calibration.value === "bins" ? modelOf(state).calibration?.bins[i] : undefined;
      const cases = bin && bin.low !== null ? `, ${count(bin.n)} cases` : "";
      return { at: [line.x[i]!, line.y[i]!], text: `predicted ${percent(line.x[i]!)}: observed ${withEnds(line.y[i]!, bin?.low, bin?.high, percent)}${cases}` };
    },
    data: () => {
      const smooth = modelOf(state).calibration?.smooth;
      if (state.views.calibration.value === "smooth" && smooth) {
        const { low, high, y } = smooth;
        return { columns: ["score", "share_positive", "low", "high"], rows: along(smooth).map((x, i) => [x, y[i] ?? null, low?.[i] ?? null, high?.[i] ?? null]) };
      }
      const bins = modelOf(state).calibration?.bins ?? [];
      return { columns: ["mean_score", "share_positive", "low", "high", "n"], rows: bins.map((bin) => [bin.x, bin.y, bin.low, bin.high, bin.n]) };
    },
  });
}

function highestShare(state: State): number {
  const top = highestScore(state);
  const shares = state.models.drawn.value.flatMap((model) => {
    const line = columnsOf(state, model);
    return line ? line.y.filter((share, i) => line.x[i]! <= top && Number.isFinite(share)) : [];
  });
  return roundUp(Math.max(top, ...shares));
}

function columnsOf(state: State, model: Model): { x: readonly number[]; y: readonly number[] } | null {
  const kind = state.views.calibration.value;
  if (!model.calibration) return null;
  if (kind === "bins") {
    const bins = model.calibration.bins;
    return { x: bins.map((bin) => bin.x), y: bins.map((bin) => bin.y) };
  }
  const { smooth } = model.calibration;
  return kind === "pav" ? pav(model) : smooth && { x: along(smooth), y: smooth.y };
}

/** The current model in each fold, drawn as it is over all. */
function foldLines(state: State): Series[] {
  const stroke = colourOf(state, modelOf(state).index);
  return foldsOfModel(state).flatMap((model): Series[] => {
    const line = columnsOf(state, model);
    return line ? [{ ...line, stroke, width: 1, alpha: 0.35 }] : [];
  });
}

/** The x of a smooth curve, which are evenly spaced. */
function along({ x: [first, last], y }: Smooth): number[] {
  return y.map((_, i) => first + ((last - first) * i) / (y.length - 1));
}

/** Where the smooth curve of the current model would lie if labels were drawn again. */
function bandOf(state: State): Series[] {
  const smooth = modelOf(state).calibration?.smooth;
  if (!state.views.band.value || state.views.calibration.value !== "smooth" || !smooth?.low || !smooth.high) return [];
  return [{ x: along(smooth), y: smooth.high, base: smooth.low, stroke: colourOf(state, modelOf(state).index), alpha: 0.18 }];
}

/** Pooling adjacent violators is the ROC hull: each of its segments is a block of one share of positives. */
function pav({ levels }: Model): { x: number[]; y: number[] } {
  const x: number[] = [];
  const y: number[] = [];
  levels.hull.forEach((to, i) => {
    if (i === 0) return;
    const from = levels.hull[i - 1] ?? 0;
    const pos = (levels.tp[to] ?? 0) - (levels.tp[from] ?? 0);
    const neg = (levels.fp[to] ?? 0) - (levels.fp[from] ?? 0);
    const high = i === 1 ? levels.threshold[1] ?? 1 : levels.threshold[from] ?? 1;
    x.push(high, levels.threshold[to] ?? 0);
    y.push(pos / (pos + neg), pos / (pos + neg));
  });
  return { x: x.reverse(), y: y.reverse() };
}

/** Cases of each class by score: positives from above, negatives from below. */
function rug(state: State): Series[] {
  const { calibration } = modelOf(state);
  if (!calibration) return [];
  const { pos, neg } = calibration.rug;
  if (highestScore(state) * pos.length < LEAST_BARS) return [];
  const edges = pos.flatMap((_, i) => [i / pos.length, (i + 1) / pos.length]);
  const top = highestShare(state);
  const columns = (counts: readonly number[]): number[] => {
    const most = Math.max(1, ...counts);
    return counts.flatMap((n) => [(top * RUG * n) / most, (top * RUG * n) / most]);
  };
  const { quiet } = palette.value;
  return [
    { x: edges, y: edges.map(() => top), base: columns(pos).map((n) => top - n), stroke: quiet, alpha: 0.35 },
    { x: edges, y: columns(neg), base: edges.map(() => 0), stroke: quiet, alpha: 0.35 },
  ];
}

function binMarks(state: State): Mark[] {
  const { calibration, index } = modelOf(state);
  if (!calibration || state.views.calibration.value !== "bins") return [];
  const stroke = colourOf(state, index);
  return calibration.bins.flatMap((bin): Mark[] => {
    if (!Number.isFinite(bin.y)) return [];
    const dot: Mark = { kind: "dot", at: [bin.x, bin.y], fill: stroke, stroke: palette.value.halo, r: 4 };
    return bin.low === null || bin.high === null ? [dot] : [{ kind: "whisker", at: [bin.x, bin.y], low: bin.low, high: bin.high, stroke }, dot];
  });
}

function thresholdRule(state: State): Mark[] {
  const threshold = modelOf(state).levels.threshold[levelOf(state)] ?? Infinity;
  if (!Number.isFinite(threshold) || !modelOf(state).calibration) return [];
  return [{ kind: "line", from: [threshold, 0], to: [threshold, 1], stroke: palette.value.quiet, width: 1, dash: [2, 3], role: "threshold" }];
}

function describe(state: State): string {
  const { calibration, name } = modelOf(state);
  if (!calibration) return `No calibration plot: the scores of ${shorten(name, LONGEST_NAME)} are not probabilities.`;
  const { brier, slope, intercept, ece } = calibration.numbers;
  const said = [["Brier score", brier, 4], ["slope", slope, 2], ["intercept", intercept, 2], ["ECE", ece, 3]] as const;
  const numbers = said.filter(([, value]) => value !== null && value !== undefined).map(([word, value, digits]) => `${word} ${fixed(value, digits)}`);
  return `${[shorten(name, LONGEST_NAME), ...numbers].join(", ")}.${rug(state).length ? " Grey: distribution of the scores, positives at the top, negatives at the bottom." : ""}`;
}
