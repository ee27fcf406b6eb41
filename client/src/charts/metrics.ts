/** Metrics of the current model against its threshold. */

import { chart } from "../chart/chart";
import type { Column, Point, Series } from "../chart/scene";
import { LONGEST_NAME, number, percent, shorten, tick } from "../format";
import { levelAt, type Rates, rates, ratesAt } from "../math/levels";
import { palette } from "../palette";
import { levelOf, modelOf, shareOf } from "../state/current";
import { setLevel, type State, type Words, wordsOf } from "../state/state";
import { readLevel, thresholdHandle } from "./shared";

const SHOWN: readonly (readonly [keyof Rates, string, readonly number[]])[] = [
  ["tpr", "Recall", []],
  ["precision", "Precision", [7, 3]],
  ["accuracy", "Accuracy", [2, 2.5]],
  ["f1", "F1", [9, 3, 2, 3]],
  ["depth", "Share positive", [4, 2]],
];

export function metricsChart(state: State): HTMLElement {
  const scores = (): [number, number] => {
    const { threshold, size } = modelOf(state).levels;
    const [low, high] = [threshold[size - 1] ?? 0, threshold[1] ?? 1];
    return high > low ? [low, high] : [low - 0.5, high + 0.5];
  };
  const current = (): Point => {
    const [low, high] = scores();
    const threshold = modelOf(state).levels.threshold[levelOf(state)] ?? high;
    return [Math.min(high, Math.max(low, threshold)), state.selection.rates.value.tpr];
  };
  return chart({
    id: "metrics",
    title: () => "Metrics by threshold",
    describe: () => {
      const { precision, accuracy, f1, mcc, npv } = state.selection.rates.value;
      return `${shorten(modelOf(state).name, LONGEST_NAME)}: accuracy ${percent(accuracy)}, precision ${percent(precision)}, NPV ${percent(npv)}, F1 ${number(f1)}, MCC ${number(mcc)}.`;
    },
    scene: () => ({ x: { label: "Threshold", domain: scores(), format: tick }, y: { label: "Value", domain: [0, 1], format: tick }, series: lines(state) }),
    marks: () => {
      const [x] = current();
      const { quiet, ink, halo } = palette.value;
      const dots = SHOWN.map(([key]) => ({ kind: "dot", at: [x, state.selection.rates.value[key]] as const, fill: ink, stroke: halo, r: 3.5 }) as const);
      return [
        { kind: "line", from: [x, 0], to: [x, 1], stroke: quiet, width: 1, dash: [2, 3], role: "threshold" },
        ...dots.filter((dot) => Number.isFinite(dot.at[1])),
      ];
    },
    data: () => ({
      columns: ["threshold", ...SHOWN.map(([key]) => key)],
      rows: Array.from(modelOf(state).levels.threshold, (threshold, i) => [threshold, ...SHOWN.map(([key]) => metricsAt(state, i)[key])]),
    }),
    read: ([x]) => {
      const level = Math.max(1, levelAt(modelOf(state).levels, x));
      const at = metricsAt(state, level);
      return readLevel(state, level, [x, at.tpr], SHOWN.map(([key, name]) => `${called(state, key, name)} ${percent(at[key])}`).join(", "));
    },
    handle: thresholdHandle(state, "metrics", current),
    drag: ([x]) => setLevel(state, modelOf(state), Math.max(1, levelAt(modelOf(state).levels, x))),
  });
}

function metricsAt(state: State, level: number): Rates {
  return rates(...ratesAt(modelOf(state).levels, level), shareOf(state));
}

/** What a metric is called; the others are the same for everybody. */
function called(state: State, key: keyof Rates, name: string): string {
  return key === "tpr" && state.views.audience.value === "learning" ? name : ({ ...wordsOf(state) }[key as keyof Words] ?? name);
}

function lines(state: State): Series[] {
  const { levels } = modelOf(state);
  const all = Array.from(levels.tpr, (_, i) => metricsAt(state, i)).slice(1);
  const x: Column = levels.threshold.slice(1);
  const { ink } = palette.value; // the hues are the models'
  return SHOWN.map(([key, name, dash]) => ({ x, y: all.map((entry) => entry[key]), stroke: ink, dash, name: called(state, key, name), width: 1.7 }));
}
