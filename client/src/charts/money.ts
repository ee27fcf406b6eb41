/** Profit over the share contacted, and net benefit over the threshold probability. */

import { effect } from "@preact/signals-core";

import { chart } from "../chart/chart";
import { columnsOf, type Mark, type Point, type Scene, type Series, type Through } from "../chart/scene";
import type { Model } from "../data";
import { count, number, percent, tick } from "../format";
import { netBenefit, perfectRates, probabilityThreshold, profitOf } from "../math/context";
import { depthAt, isAt, levelAt, nearest, ratesAt } from "../math/levels";
import { palette } from "../palette";
import { contextOf, levelOf, modelOf, shareOf } from "../state/current";
import { lower, setLevel, type State, wordsOf } from "../state/state";
import { colourOf, depthAxis, fullChoice, highest, highestScore, modelLines, pointMarks, readLevel, secondChoice, setRatio, thresholdHandle, throughRates } from "./shared";

const GRID = Float64Array.from({ length: 99 }, (_, i) => (i + 1) / 100);

export function moneyChart(state: State): HTMLElement {
  const isProfit = (): boolean => state.views.second.value !== "benefit";
  const current = (): Point => {
    if (isProfit()) return profitAt(state, modelOf(state), levelOf(state));
    const at = storedProbability(state, modelOf(state));
    return [at, benefitAt(state, modelOf(state), at)];
  };
  const full = fullChoice(state);
  effect(() => void (full.hidden = isProfit()));
  return chart({
    id: "money",
    title: () => (isProfit() ? "Profit" : "Net benefit"),
    tools: [full, secondChoice(state)],
    shown: () => ["profit", "benefit"].includes(state.views.second.value),
    describe: () => (isProfit() ? describeProfit(state) : describeBenefit(state)),
    scene: () => (isProfit() ? profitScene(state) : benefitScene(state)),
    marks: () => (isProfit() ? profitMarks(state, current()) : benefitMarks(state, current())),
    margin: { left: 54 },
    data: () => {
      const model = modelOf(state);
      if (!isProfit()) {
        const rows = Array.from(GRID, (p) => [p, benefitAt(state, model, p), treatAll(state, p), 0]);
        return { columns: ["threshold_probability", "net_benefit", "treat_all", "treat_none"], rows };
      }
      return { columns: ["depth", "profit", "threshold"], rows: Array.from(model.levels.threshold, (threshold, i) => [...profitAt(state, model, i), threshold]) };
    },
    read: ([x]) => {
      const model = modelOf(state);
      if (isProfit()) {
        const level = levelNear(state, x);
        const [depth, money] = profitAt(state, model, level);
        return readLevel(state, level, [depth, money], `${lower(wordsOf(state).depth)} ${percent(depth)}, profit ${number(money)}`);
      }
      const at = clampProbability(x);
      const value = benefitAt(state, model, at);
      return model.calibration ? { at: [at, value], text: `threshold probability ${percent(at)}: net benefit ${number(value)}, treat all ${number(treatAll(state, at))}` } : null;
    },
    handle: thresholdHandle(state, "profit curve", current),
    drag: ([x]) => {
      if (!isProfit()) return setRatio(state, x / (1 - x));
      setLevel(state, modelOf(state), levelNear(state, x));
    },
  });
}

function levelNear(state: State, x: number): number {
  const model = modelOf(state);
  return nearest((i) => depthAt(model.levels, i, shareOf(state, model)), model.levels.size, x);
}

function moneyOf(state: State, share: number): (tpr: number, fpr: number) => number {
  return profitOf(contextOf(state), state.campaign.terms.value, share);
}

function profitAt(state: State, model: Model, level: number): Point {
  const share = shareOf(state, model);
  return [depthAt(model.levels, level, share), moneyOf(state, share)(...ratesAt(model.levels, level))];
}

/** Profit over depth is the ROC curve in other units. */
function profitThrough(state: State, model: Model): Through {
  const share = shareOf(state, model);
  const money = moneyOf(state, share);
  const f = money(0, 0);
  return { a: 1 - share, b: money(0, 1) - f, c: share, d: money(1, 0) - f, f };
}

function profitScene(state: State): Scene {
  const { axis, quiet } = palette.value;
  const share = shareOf(state);
  const money = moneyOf(state, share);
  const lines = modelLines(state, (model) => throughRates(model, profitThrough(state, model)));
  const perfectX = [0, share, 1];
  const perfect = perfectX.map((depth) => money(...perfectRates(share, depth)));
  const random = [0, 1].map((depth) => money(depth, depth));
  const high = Math.max(...perfect, ...lines.map((line) => highest(columnsOf(line).y)), 0);
  const low = Math.min(Math.max(Math.min(...perfect, ...random, 0), high - 3 * Math.max(high - Math.min(0, ...perfect.slice(0, 1)), 1e-9)), 0);
  const unit = state.campaign.currency.value ? ` (${state.campaign.currency.value})` : "";
  const references: Series[] = [
    { x: perfectX, y: perfect, stroke: axis, width: 1, dash: [6, 3] },
    { x: [0, 1], y: random, stroke: quiet, width: 1, dash: [2, 3] },
    { x: [0, 1], y: [0, 0], stroke: quiet, width: 1 },
  ];
  const room = (high - low || 1) * 0.06;
  return {
    x: depthAxis(state),
    y: { label: `Profit compared with ${wordsOf(state).acting} nobody${unit}`, domain: [low - room, high + room], format: tick },
    series: [...references, ...lines],
  };
}

function profitMarks(state: State, at: Point): Mark[] {
  const { quiet } = palette.value;
  const { capacity, population } = state.campaign.terms.value;
  const limit = capacity === null ? 1 : capacity / population;
  const marks: Mark[] = [{ kind: "line", from: [at[0], -1e15], to: at, stroke: quiet, width: 1, dash: [2, 3] }];
  if (limit < 1) marks.push({ kind: "line", from: [limit, -1e15], to: [limit, 1e15], stroke: quiet, width: 1.5, role: "capacity" });
  const all = moneyOf(state, shareOf(state))(1, 1);
  marks.push({ kind: "dot", at: [1, all], fill: palette.value.halo, stroke: quiet, r: 3.5, role: "everybody" });
  return [...marks, ...pointMarks(state, (model, level) => profitAt(state, model, level))];
}

function describeProfit(state: State): string {
  const [depth, gain] = profitAt(state, modelOf(state), levelOf(state));
  const share = shareOf(state);
  const { population } = state.campaign.terms.value;
  const money = moneyOf(state, share);
  const said = (value: number): string => `${state.campaign.currency.value}${number(value)}`;
  return `Profit of ${wordsOf(state).acting} ${count(depth * population)} of ${count(population)}: ${said(gain)}. At random: ${said(money(depth, depth))} (dotted). Everybody: ${said(money(1, 1))}. Perfect model: ${said(money(...perfectRates(share, share)))} (dashed).`;
}

function clampProbability(value: number): number {
  return Number.isFinite(value) ? Math.min(0.99, Math.max(0.001, value)) : 0.5;
}

/** The threshold probability of the costs; where the file has no counts at it, the nearest at which it has. */
function storedProbability(state: State, { levels }: Model): number {
  const wanted = clampProbability(probabilityThreshold(contextOf(state)));
  const level = levelAt(levels, wanted);
  return isAt(levels, level, wanted) ? wanted : clampProbability(levels.threshold[Math.max(1, level)]!);
}

function benefitAt(state: State, model: Model, probability: number): number {
  const { levels } = model;
  const level = levelAt(levels, probability);
  return netBenefit(...ratesAt(levels, level), shareOf(state, model), probability);
}

function treatAll(state: State, probability: number): number {
  return netBenefit(1, 1, shareOf(state), probability);
}

function benefitScene(state: State): Scene {
  const { axis, quiet } = palette.value;
  const share = shareOf(state);
  const top = highestScore(state);
  const grid = top === 1 ? GRID : GRID.map((p) => p * top);
  const lines = modelLines(state, (model) =>
    model.calibration ? { x: grid, y: grid.map((p) => benefitAt(state, model, p)) } : null,
  );
  return {
    x: { label: "Threshold probability", domain: [0, top], format: tick },
    y: { label: "Net benefit per case", domain: [-0.3 * share, 1.05 * share], format: tick },
    series: [
      { x: grid, y: grid.map((p) => treatAll(state, p)), stroke: quiet, width: 1, dash: [2, 3] },
      { x: [0, 1], y: [0, 0], stroke: axis, width: 1 },
      ...lines,
    ],
  };
}

function benefitMarks(state: State, at: Point): Mark[] {
  const { quiet, halo } = palette.value;
  const marks: Mark[] = [{ kind: "line", from: [at[0], -1], to: [at[0], 1], stroke: quiet, width: 1, dash: [2, 3] }];
  if (modelOf(state).calibration) {
    marks.push({ kind: "dot", at, fill: colourOf(state, modelOf(state).index), stroke: halo, r: 6, role: "point" });
  }
  return marks;
}

function describeBenefit(state: State): string {
  const probability = probabilityThreshold(contextOf(state));
  if (!modelOf(state).calibration) return "Net benefit needs predicted probabilities, but these scores are not probabilities.";
  const stored = storedProbability(state, modelOf(state));
  const where = stored === clampProbability(probability) ? "" : ` at the nearest stored threshold ${number(stored)}`;
  const value = benefitAt(state, modelOf(state), stored);
  return `These costs imply a threshold probability of ${percent(probability)}. Net benefit per case${where}: ${number(value)}. Treat all: ${number(treatAll(state, stored))} (dotted). Treat none: 0.`;
}
