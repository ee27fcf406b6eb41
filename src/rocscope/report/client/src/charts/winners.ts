/** Which model is cheapest at which ratio of costs. */

import { chart } from "../chart/chart";
import type { Mark } from "../chart/scene";
import { number, tick } from "../format";
import { falseAlarmCost, missCost, quotient } from "../math/context";
import { type Region, zones } from "../math/regions";
import { palette } from "../palette";
import type { State } from "../state";
import { colourOf, setRatio, thresholdKeys } from "./shared";

const DOMAIN = [1e-4, 1e4] as const;

export function ratioOf(state: State): number {
  return quotient(falseAlarmCost(state.context.value), missCost(state.context.value));
}

/** The cost ratios for which a slope interval is best, at the prevalence in use. */
export function ratiosOf(state: State, region: Region): [number, number] {
  const odds = state.share.value / (1 - state.share.value);
  return [region.low * odds, region.high * odds];
}

export function regionName(state: State, region: Region): string {
  if (region.model >= 0) return state.models.value[region.model]?.name ?? "";
  return region.tpr === 0 ? "nobody positive" : "everybody positive";
}

export function winnersChart(state: State): HTMLElement {
  const clamp = (value: number): number => Math.min(DOMAIN[1], Math.max(DOMAIN[0], value));
  return chart({
    id: "winners",
    className: "wide strip",
    title: () => "Which model wins at which cost ratio",
    describe: () => describe(state),
    scene: () => ({
      x: { label: "Cost of a false positive ÷ cost of a false negative", domain: DOMAIN, kind: "log", format: tick },
      y: { label: "", domain: [0, 1], format: tick, ticks: [] },
      series: [],
    }),
    marks: () => [...boxes(state), ruleAt(clamp(ratioOf(state)))],
    margin: { left: 14, top: 8 },
    data: () => ({
      columns: ["model", "ratio_from", "ratio_to"],
      rows: zones(state.regions.value).map((zone) => [regionName(state, zone), ...ratiosOf(state, zone)]),
    }),
    handle: {
      label: "Cost ratio",
      state: () => {
        const at = clamp(ratioOf(state));
        return { at: [at, 0.5], now: Math.log10(at), min: -4, max: 4, text: `cost ratio ${number(ratioOf(state))}` };
      },
      key: (event) => {
        const factor = { ArrowRight: 1.1, ArrowLeft: 1 / 1.1, PageUp: 2, PageDown: 0.5 }[event.key];
        if (factor) setRatio(state, clamp(ratioOf(state) * factor));
        return factor !== undefined || (event.key === "Escape" && thresholdKeys(state)(event));
      },
    },
    drag: ([ratio]) => setRatio(state, clamp(ratio)),
  });
}

function boxes(state: State): Mark[] {
  const { ghost, quiet, halo } = palette.value;
  return zones(state.regions.value).flatMap((zone): Mark[] => {
    const [low, high] = ratiosOf(state, zone).map((r) => Math.min(DOMAIN[1], Math.max(DOMAIN[0], r))) as [number, number];
    if (!(high > low)) return [];
    const trivial = zone.model < 0;
    const colour = trivial ? ghost : colourOf(state, zone.model);
    const box: Mark = { kind: "box", from: [low, 0.08], to: [high, 0.92], fill: colour, alpha: trivial ? 0.35 : 0.92, role: "zone" };
    const name = regionName(state, zone);
    const edge: Mark = { kind: "line", from: [high, 0.08], to: [high, 0.92], stroke: halo, width: 1.5 };
    const fill = trivial ? quiet : halo;
    const at = [Math.sqrt(low * high), 0.5] as const;
    return [box, edge, { kind: "text", at, text: name, within: [low, high], fill, anchor: "middle", dy: 4, bold: true, plain: true }];
  });
}

function ruleAt(ratio: number): Mark {
  return { kind: "line", from: [ratio, 0], to: [ratio, 1], stroke: palette.value.ink, width: 2, role: "ratio" };
}

function describe(state: State): string {
  const ratio = ratioOf(state);
  const zone = zones(state.regions.value).find((z) => {
    const [low, high] = ratiosOf(state, z);
    return low <= ratio && ratio <= high;
  });
  if (!zone) return `Cost ratio ${number(ratio)}.`;
  const [low, high] = ratiosOf(state, zone);
  return `At cost ratio ${number(ratio)}: ${regionName(state, zone)}, the cheapest from ${number(low)} to ${number(high)}.`;
}
