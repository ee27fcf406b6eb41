/** Printed thresholds decide as the scores do: tests/reference/threshold_texts.json says what Python prints. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { shortest } from "../src/format";
import { isAt, makeLevels } from "../src/math/levels";

import assert from "node:assert/strict";

type Case = [threshold: number, next: number | "none" | null, text: string];
const CASES = JSON.parse(readFileSync(join(process.cwd(), "../tests/reference/threshold_texts.json"), "utf8")) as Case[];

test("a threshold is the number that Python prints", () => {
  for (const [threshold, next, text] of CASES) {
    const following = next === null ? NaN : next === "none" ? -Infinity : next;
    assert.equal(Number(shortest(threshold, following)), Number(text), `${threshold} after ${next}`);
  }
});

test("a score is at a level only where nothing was left out between them", () => {
  const column = (...values: number[]): Float64Array => Float64Array.from(values);
  const levels = makeLevels(column(Infinity, 0.8, 0.2), column(0, 2, 4), column(0, 1, 4), Int32Array.of(0, 1, 2), column(0.9, 0.6, -Infinity));
  assert.deepEqual([0.8, 0.7, 0.6, 0.3].map((score) => isAt(levels, 1, score)), [true, true, false, false]);
  assert.ok(isAt(levels, 0, 0.95) && !isAt(levels, 0, 0.85));
});
