/** The client's arithmetic agrees with Python's: tests/reference/report_fixtures says what Python answers. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { column, type PackedColumn } from "../src/data";
import { alwaysRight, type Context, expectedCost, netBenefit, probabilityThreshold, profitOf, slope } from "../src/math/context";
import { bestLevel, cheapest, regions } from "../src/math/hull";
import { type Levels, makeLevels, rates, samplePrevalence, thresholdAt } from "../src/math/levels";

import assert from "node:assert/strict";

const FOLDER = join(process.cwd(), "../tests/reference/report_fixtures");
const PROBABILITIES = [0.05, 0.2, 0.5, 0.8];
const CAMPAIGN = { population: 10_000, fixedCost: 2_000, capacity: null };
const MAILING: Context = { target_prevalence: null, cost_fp: 1, cost_fn: 44, cost_tp: 0, cost_tn: 0 };

interface Answer {
  context: Context;
  model: string;
  point: [number, number];
  expected_cost: number;
  alone: [number, number][];
  slope: (number | null)[];
  probability_threshold: number | null;
}

interface Fixture {
  models: { name: string; threshold: PackedColumn; tp: PackedColumn; fp: PackedColumn; hull: PackedColumn }[];
  rates: Record<string, (number | null)[]>[];
  contexts: Answer[];
  regions: { tpr: number; fpr: number; low: number; high: number | null }[];
  profit: number[][];
  net_benefit: number[][][];
}

function close(found: number, expected: number | null | undefined, what: string): void {
  if (expected === null || expected === undefined) {
    assert.ok(!Number.isFinite(found), `${what}: ${found} instead of nothing finite`);
    return;
  }
  const near = Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(expected));
  assert.ok(near, `${what}: ${found} instead of ${expected}`);
}

function levelsOf(packed: Fixture["models"][number]): Levels {
  const from = (first: number, rest: PackedColumn): Float64Array => Float64Array.from([first, ...column(rest)]);
  const hull = Int32Array.from(column(packed.hull));
  return makeLevels(from(Infinity, packed.threshold), from(0, packed.tp), from(0, packed.fp), hull);
}

const counts = (levels: Levels, i: number): [number, number] => [levels.tp[i] ?? NaN, levels.fp[i] ?? NaN];

const BEST_POINTS = "best_points.json";

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".json") && name !== BEST_POINTS)) {
  const fixture = JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Fixture;
  const models = fixture.models.map(levelsOf);
  const names = fixture.models.map((model) => model.name);
  const ratesAt = (levels: Levels, i: number): [number, number] => [levels.tpr[i] ?? NaN, levels.fpr[i] ?? NaN];

  test(`${file}: rates`, () => {
    models.forEach((levels, m) => {
      for (const [key, expected] of Object.entries(fixture.rates[m] ?? {})) {
        if (!(levels.nNeg > 0) && key !== "tpr" && key !== "fpr") continue;
        expected.forEach((value, i) => {
          const found = rates(...ratesAt(levels, i), samplePrevalence(levels));
          close(found[key as keyof typeof found], value, `${names[m]} ${key} ${i}`);
        });
      }
    });
  });

  for (const answer of fixture.contexts) {
    test(`${file}: best point in ${JSON.stringify(answer.context)}`, () => {
      const { context } = answer;
      const alone = models.map((levels) => bestLevel(levels, context));
      alone.forEach((level, m) => assert.deepEqual(counts(models[m]!, level), answer.alone[m]));
      models.forEach((levels, m) => close(slope(context, samplePrevalence(levels)), answer.slope[m], "slope"));
      close(probabilityThreshold(context), answer.probability_threshold, "probability threshold");
      const best = cheapest(models, alone, context);
      assert.ok(best);
      const levels = models[best.model]!;
      assert.deepEqual(counts(levels, best.level), answer.point);
      assert.equal(names[best.model], answer.model);
      const cost = expectedCost(context, ...ratesAt(levels, best.level), samplePrevalence(levels));
      close(cost, answer.expected_cost, "expected cost");
    });
  }

  const skip = fixture.regions.length === 0 && "a sample of one class has no regions";
  test(`${file}: regions tile the slopes as Python's hull does`, { skip }, () => {
    const found = regions(models);
    assert.equal(found.length, fixture.regions.length);
    found.forEach((region, i) => {
      const expected = fixture.regions[i]!;
      for (const key of ["tpr", "fpr", "low", "high"] as const) close(region[key], expected[key], `${key} ${i}`);
    });
  });

  test(`${file}: profit and net benefit`, () => {
    models.forEach((levels, m) => {
      const share = samplePrevalence(levels);
      fixture.profit[m]?.forEach((value, i) => close(profitOf(MAILING, CAMPAIGN, share)(...ratesAt(levels, i)), value, "profit"));
      PROBABILITIES.forEach((p, k) => {
        fixture.net_benefit[m]?.[k]?.forEach((value, i) => close(netBenefit(...ratesAt(levels, i), share, p), value, "net benefit"));
      });
    });
  });
}

interface Sample {
  /** Of each model thresholds, true and false positives, and the vertices of the hull. */
  models: [number[], number[], number[], number[]][];
  /** Of each context prevalence and costs, then the model, threshold and counts that are best, and whether it is trivial. */
  best: [[number | null, number, number, number, number], [number, number | string, number, number], boolean][];
}

(JSON.parse(readFileSync(join(FOLDER, BEST_POINTS), "utf8")) as Sample[]).forEach((sample, s) => {
  const models = sample.models.map(([threshold, tp, fp, hull]) =>
    makeLevels(Float64Array.of(Infinity, ...threshold), Float64Array.from(tp), Float64Array.from(fp), Int32Array.from(hull)),
  );
  for (const [[target_prevalence, cost_fp, cost_fn, cost_tp, cost_tn], [model, threshold, ...cells], trivial] of sample.best) {
    const context: Context = { target_prevalence, cost_fp, cost_fn, cost_tp, cost_tn };
    test(`sample ${s}: the model, threshold and counts that Python chooses in ${JSON.stringify(context)}`, () => {
      const best = cheapest(models, models.map((levels) => bestLevel(levels, context)), context);
      assert.ok(best);
      const levels = models[best.model]!;
      const found = [best.model, thresholdAt(levels, best.level), ...counts(levels, best.level)];
      assert.deepEqual(found, [model, typeof threshold === "string" ? Number(threshold.replace("inf", "Infinity")) : threshold, ...cells]);
      assert.equal(alwaysRight(context) !== null, trivial);
    });
  }
});
