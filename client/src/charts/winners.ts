/** Which model is cheapest at which ratio of costs. */

import { computed } from "@preact/signals-core";

import { chart } from "../chart/chart";
import type { Mark } from "../chart/scene";
import { number, tick } from "../format";
import { falseAlarmCost, missCost, quotient } from "../math/context";
import { type Region, slopeRanges } from "../math/hull";
import { palette } from "../palette";
import { contextOf, shareOf } from "../state/current";
import type { State } from "../state/state";
import { colourOf, setRatio, thresholdKeys } from "./shared";

const DOMAIN = [-4, 4] as const;

export function ratioOf(state: State): number {
  return quotient(falseAlarmCost(contextOf(state)), missCost(contextOf(state)));
}

/** The cost ratios for which a slope interval is best, at the prevalence in use. */
export function ratiosOf(state: State, region: Region): [number, number] {
  const odds = shareOf(state) / (1 - shareOf(state));
  return [region.low * odds, region.high * odds];
}

export function regionName(state: State, region: Region): string {
  if (region.model >= 0) return state.models.all.value[region.model]?.name ?? "";
  return region.tpr === 0 ? "nobody positive" : "everybody positive";
}

export function winnersChart(state: State): HTMLElement {
  const at = (): number => powerOf(ratioOf(state));
  const seen = computed(() => places(state));
  const still = computed(() => boxes(seen.value));
  const move = (power: number): void => setRatio(state, 10 ** clamp(power));
  return chart({
    id: "winners",
    className: "wide strip",
    title: () => "Best model by cost ratio",
    describe: () => describe(state),
    scene: () => ({
      x: { label: "Cost of a false positive ÷ false negative", domain: DOMAIN, powers: true, format: (power) => tick(10 ** power) },
      y: { label: "", domain: [0, 1], format: tick, ticks: [] },
      series: [],
    }),
    marks: () => [...still.value, { kind: "line", from: [at(), 0], to: [at(), 1], stroke: palette.value.ink, width: 2, role: "ratio" }, ...names(state, seen.value)],
    margin: { left: 14, top: 8 },
    data: () => ({
      columns: ["model", "ratio_from", "ratio_to"],
      rows: slopeRanges(state.models.regions.value).map((zone) => [regionName(state, zone), ...ratiosOf(state, zone)]),
    }),
    handle: {
      label: "Cost ratio",
      state: () => ({ at: [at(), 0.5], now: at(), min: DOMAIN[0], max: DOMAIN[1], text: `cost ratio ${number(ratioOf(state))}` }),
      key: (event) => {
        const step = { ArrowRight: 0.04, ArrowLeft: -0.04, PageUp: 0.3, PageDown: -0.3 }[event.key];
        if (step) move(at() + step);
        return step !== undefined || (event.key === "Escape" && thresholdKeys(state)(event));
      },
    },
    read: ([power]) => {
      const zone = seen.value.find(({ low, high }) => low <= power && power <= high);
      return zone ? { at: [power, 0.5], text: `cost ratio ${number(10 ** power)}: ${regionName(state, zone.zone)}` } : null;
    },
    drag: ([power]) => move(power),
  });
}

const clamp = (power: number): number => Math.min(DOMAIN[1], Math.max(DOMAIN[0], power));
const powerOf = (ratio: number): number => clamp(Math.log10(Math.max(0, ratio)));

interface Place { readonly zone: Region; readonly low: number; readonly high: number; readonly colour: string }

/** The zones that can be seen, from a power of ten to another. */
function places(state: State): Place[] {
  return slopeRanges(state.models.regions.value)
    .map((zone) => {
      const [low, high] = ratiosOf(state, zone).map(powerOf) as [number, number];
      return { zone, low, high, colour: zone.model < 0 ? palette.value.ghost : colourOf(state, zone.model) };
    })
    .filter(({ low, high }) => high > low);
}

function boxes(places: readonly Place[]): Mark[] {
  return places.flatMap(({ zone, low, high, colour }): Mark[] => [
    { kind: "box", from: [low, 0.08], to: [high, 0.92], fill: colour, alpha: zone.model < 0 ? 0.35 : 1, role: "zone" },
    { kind: "line", from: [high, 0.08], to: [high, 0.92], stroke: palette.value.halo, width: 1.5 },
  ]);
}

function names(state: State, places: readonly Place[]): Mark[] {
  const { quiet, halo } = palette.value;
  const rule = powerOf(ratioOf(state));
  return places.map(({ zone, low, high, colour }) => {
    const looks = zone.model < 0 ? { fill: quiet, halo: "none" } : { fill: halo, halo: colour };
    const within = beside(rule, low, high);
    const at = [(within[0] + within[1]) / 2, 0.5] as const;
    return { kind: "text", at, text: regionName(state, zone), within, ...looks };
  });
}

/** The wider side of a rule that stands between two places, so that it is not drawn through letters. */
function beside(rule: number, low: number, high: number): readonly [number, number] {
  if (rule <= low || rule >= high) return [low, high];
  return rule - low > high - rule ? [low, rule] : [rule, high];
}

function describe(state: State): string {
  const ratio = ratioOf(state);
  const ranges = slopeRanges(state.models.regions.value).map((zone) => [zone, ...ratiosOf(state, zone)] as const);
  const [zone, low, high] = ranges.find(([, from, to]) => from <= ratio && ratio <= to) ?? [];
  if (!zone) return `Cost ratio ${number(ratio)}.`;
  const said = `The cost ratio is ${number(ratio)}. From ${number(low!)} to ${number(high!)}, the best choice is ${regionName(state, zone)}`;
  return zone.model < 0 ? `${said}.` : `${said}, with the best threshold for each ratio.`;
}
