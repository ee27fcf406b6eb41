/** Small functions whose answers can be checked by hand. */

import { test } from "node:test";

import { directLabels } from "../src/chart/labels";
import { across, makeFrame, roundNumbers, type Series } from "../src/chart/scene";
import { count, csvOf, fileName, fixed, percent, shorten, tick, withEnds } from "../src/format";
import { capacityNote, decimal, perfectRates, profitOf } from "../src/math/context";
import { bestWithin, costAt, leastWithin } from "../src/math/hull";
import { levelAt, makeLevels, nearest, wilson } from "../src/math/levels";

import assert from "node:assert/strict";

const levels = makeLevels(
  Float64Array.of(Infinity, 0.9, 0.5, 0.1),
  Float64Array.of(0, 6, 9, 10),
  Float64Array.of(0, 1, 5, 10),
  Int32Array.of(0, 1, 2, 3),
);
const context = { target_prevalence: null, cost_fp: 1, cost_fn: 2, cost_tp: 0, cost_tn: 0 };

test("a decimal is read as it is written", () => {
  assert.deepEqual(decimal(0.2), { digits: 2n, scale: 1 });
  assert.deepEqual(decimal(1e-7), { digits: 1n, scale: 7 });
  assert.deepEqual(decimal(1e21), { digits: 10n ** 21n, scale: 0 });
  assert.deepEqual(decimal(-2.5e-8), { digits: -25n, scale: 9 });
});

test("the level at a threshold is the lowest kept score that is not below it", () => {
  assert.deepEqual([1, 0.9, 0.7, 0.5, 0.1, 0].map((t) => levelAt(levels, t)), [0, 1, 1, 2, 3, 3]);
});

test("the nearest of a non-decreasing column", () => {
  assert.deepEqual([0, 0.2, 0.4, 0.8, 2].map((x) => nearest((i) => levels.tpr[i] ?? 0, 4, x)), [0, 0, 1, 2, 3]);
});

test("Wilson's interval of 5 in 10 is 0.237 to 0.763", () => {
  const [low, high] = wilson(5, 10);
  assert.equal(low.toFixed(3), "0.237");
  assert.equal(high.toFixed(3), "0.763");
  assert.deepEqual(wilson(0, 10)[0], 0);
});

test("an interval follows its value where it is known", () => {
  assert.equal(withEnds(0.75, 0.5, 0.9, (value) => fixed(value, 4), fixed), "0.7500 [0.500, 0.900]");
  assert.deepEqual([withEnds(0.75, null, 0.9, percent), withEnds(0.75, NaN, NaN, percent)], ["75.0%", "75.0%"]);
});

test("within a capacity the best level does not go deeper", () => {
  assert.equal(bestWithin(levels, context, 1), 2);
  assert.equal(bestWithin(levels, context, 0.69), 1);
  assert.equal(bestWithin(levels, context, 0.34), 0);
});

test("what thresholds left out could gain within a capacity is bounded by how far they can be from the line", () => {
  assert.equal(leastWithin(levels, context, 0.69, 0), costAt(levels, 1, context));
  assert.equal(leastWithin(levels, context, 1, 0.1), costAt(levels, 2, context));
  // at depth 0.69 the line from (0.6, 0.1) to (0.9, 0.5) has cost 0.3; a point 0.02 above it gains 0.5 * 2 * 0.02 + 0.5 * 0.02
  assert.ok(Math.abs(leastWithin(levels, context, 0.69, 0.02) - (costAt(levels, 1, context) + (0.34 / 0.35) * (costAt(levels, 2, context) - costAt(levels, 1, context)) - 0.03)) < 1e-12);
});

test("profit at random and with a perfect model", () => {
  const campaign = { population: 100, fixedCost: 10, capacity: null };
  assert.equal(profitOf(context, campaign, 0.5)(1, 1), 100 * (0.5 * 2 - 0.5) - 10);
  assert.equal(profitOf(context, campaign, 0.5)(...perfectRates(0.5, 0.5)), 100 * 0.5 * 2 - 10);
});

test("a line of a slope is cut to the unit square", () => {
  assert.deepEqual(across([0.5, 0.5], 1, [0, 1], [0, 1]), [[0, 0], [1, 1]]);
  assert.deepEqual(across([0.25, 0.5], Infinity, [0, 1], [0, 1]), [[0.25, 0], [0.25, 1]]);
  assert.deepEqual(across([0.5, 0.5], 4, [0, 1], [0, 1]), [[0.375, 0], [0.625, 1]]);
});

test("ticks are multiples of 1, 2 or 5 times a power of ten, without the rounding of a running sum", () => {
  assert.deepEqual(roundNumbers([0, 1], 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(roundNumbers([0, 0.35], 4), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(roundNumbers([-40, 260], 3), [0, 100, 200]);
});

test("a name is written over no other line, be it one of reference", () => {
  const axis = { label: "", domain: [0, 1], format: String } as const;
  const named: Series = { x: [0, 1], y: [0, 1], stroke: "red", name: "a model" };
  const labelled = (...series: Series[]): readonly [number, number] => {
    const scene = { x: axis, y: axis, series };
    const frame = makeFrame(scene, { width: 400, height: 400, unit: 1 }, { left: 0, right: 0, top: 0, bottom: 0 });
    const [mark] = directLabels(scene, [], frame, (text) => 7 * text.length);
    return mark?.kind === "text" ? mark.at : [NaN, NaN];
  };
  const [, free] = labelled(named);
  const rule = free + 0.01; // through the letters
  const [, moved] = labelled({ x: [0, 1], y: [rule, rule], stroke: "grey" }, named);
  assert.ok(rule < moved - 0.005 || rule > moved + 0.03, `${moved} beside ${rule}`);
});

test("CSV keeps numbers, quotes text and disarms formulas", () => {
  const rows = [["=1+1", 0.1, Infinity], ['a "b", c', NaN, null], ["@x", -1, 1e-7]] as const;
  assert.equal(csvOf(["name", "x", "y"], rows), `name,x,y\r\n'=1+1,0.1,inf\r\n"a ""b"", c",,\r\n'@x,-1,1e-7\r\n`);
});

test("file names hold letters of any script and nothing else", () => {
  assert.equal(fileName("../../Été: <b>", "models"), "été-b-models");
  assert.equal(fileName("///"), "report");
});

test("numbers are short", () => {
  assert.deepEqual([0.5, 1234567, 3, 45.67].map(count), ["0.5", "1,234,567", "3", "45.7"]);
  assert.deepEqual([0, 1, 0.5, 0.0123, 0.00012].map(percent), ["0%", "100%", "50.0%", "1.23%", "0.012%"]);
  assert.deepEqual([0.2, 1000, 20000, 3e6].map(tick), ["0.2", "1,000", "20k", "3M"]);
  assert.deepEqual([percent(2e-16), percent(1 - 1e-15), count(79.99999999999999)], ["0%", "100%", "80"]);
  assert.equal(shorten("gradient boosting", 9), "gradi…ing");
});

test("fifty models have fifty strokes, and the first ten differ by dash alone", async () => {
  Object.assign(globalThis, { matchMedia: () => ({ matches: false, addEventListener: () => undefined }) });
  const { palette, strokeOf } = await import("../src/palette");
  const stroke = (place: number): string => JSON.stringify(strokeOf(place));
  assert.equal(new Set(Array.from({ length: 50 }, (_, i) => stroke(i))).size, 50);
  assert.equal(new Set(Array.from({ length: 10 }, (_, i) => strokeOf(i).dash.join())).size, 10);
  palette.value = { ...palette.value, hues: ["CanvasText", "LinkText"] };
  assert.equal(new Set(Array.from({ length: 20 }, (_, i) => stroke(i))).size, 20);
});

test("a capacity that is hardly meant has the note of Python", () => {
  const note = (capacity: number | null, population: number): string => capacityNote({ population, fixedCost: 0, capacity });
  assert.equal(note(500, 100), "the capacity is 500 of 100 cases, so it does not limit anything; check the population and the capacity");
  assert.equal(note(2, 10_000), "the capacity is 2 of 10,000 cases; a capacity is a number of cases, neither a share nor in thousands");
  assert.equal(note(0.2, 200), "the capacity is 0.2 of 200 cases; a capacity is a number of cases, neither a share nor in thousands");
  assert.deepEqual([note(20, 100), note(100, 100), note(0, 10_000), note(null, 100)], ["", "", "", ""]);
});
