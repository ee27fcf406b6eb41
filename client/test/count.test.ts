/** Files as counts, on cases that can be checked by hand. The rest is compared with Python in a browser. */

import { test } from "node:test";

import { areaInterval, areaSample, holm } from "../src/count/areas";
import { dialectOf } from "../src/count/csv";
import { betainc, ndtr, studentQuantile } from "../src/count/special";
import { asInt64 } from "../src/count/table";
import { firstRows, openTable } from "../src/count/tables";
import { area, levelsOf, rank, rankByClass, thin } from "../src/count/threshold_counts";
import { column } from "../src/data";
import { byThreshold, tprAt, vertical } from "../src/math/folds";
import { makeLevels } from "../src/math/levels";
import { guess, positiveOf } from "../src/open/guess";
import type { Glance } from "../src/open/messages";
import { countsColumn, scoresColumn } from "../src/open/save";

import assert from "node:assert/strict";

const LAYOUT = { decimal: ".", delimiter: null, encoding: "utf-8" } as const;
const decoded = (text: string): string => new TextDecoder().decode(new TextEncoder().encode(text));
const near = (found: number, expected: number, by = 1e-12): void => assert.ok(Math.abs(found - expected) <= by, `${found} instead of ${expected}`);

/** Positives and negatives at each distinct value from the highest down, found row by row. */
function tally(values: ArrayLike<number | bigint>, positive: Uint8Array): [threshold: (number | bigint)[], pos: number[], neg: number[]] {
  const rows = [...positive.keys()].map((row) => ({ score: values[row]!, hit: positive[row]! }));
  const scores = [...new Set(rows.map(({ score }) => score))].sort((a, b) => (a < b ? 1 : -1));
  const cases = (score: number | bigint, hit: number): number => rows.filter((row) => row.score === score && row.hit === hit).length;
  return [scores, scores.map((score) => cases(score, 1)), scores.map((score) => cases(score, 0))];
}

test("each class sorted by itself gives the levels of all rows, with weights of 1 too", () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const draw = [(): number => random() - 0.5, (): number => Math.round(6 * random() - 3) / 2, (): number => (random() < 0.5 ? 0 : -0), (): number => (random() - 0.5) * 10 ** (60 * random() - 30)];
  for (const next of draw) {
    for (const n of [1, 2, 3, 50, 300]) {
      const numbers = Array.from({ length: n }, next);
      const positive = Uint8Array.from(numbers, () => Number(random() < 0.4));
      const columns = { float64: Float64Array.from(numbers), float32: Float32Array.from(numbers), int32: Int32Array.from(numbers, Math.round), int64: BigInt64Array.from(numbers, (x) => BigInt(Math.round(x) || 0) * 3n) };
      for (const [type, values] of Object.entries(columns)) {
        const one = { type: type as "int64", values: values.slice() as typeof values };
        const [apart, weighted] = [rankByClass(one, positive), rank(one, positive, { values: new Float64Array(n).fill(1), whole: true })];
        const [threshold, pos, neg] = tally(values, positive);
        for (const found of [apart, weighted]) {
          assert.deepEqual([[...found.threshold], [...found.pos], [...found.neg]], [threshold, pos, neg], `${type} ${n}`);
          assert.deepEqual([found.tp[found.tp.length - 1], found.fp[found.fp.length - 1], found.weighted], [found.nPos, found.nNeg, false]);
        }
        assert.ok(!(apart.threshold as Float64Array).some((x) => Object.is(x, -0)));
      }
    }
  }
});

test("floats that are whole become integers of 64 bits", () => {
  assert.deepEqual([...asInt64(Float64Array.of(0, 2 ** 53 - 1, -5))], [0n, 2n ** 53n - 1n, -5n]);
});

test("levels, area and hull of five rows", () => {
  const values = Float64Array.of(0.9, 0.6, 0.4, 0.4, 0.2);
  const ranked = rankByClass({ type: "float64", values }, Uint8Array.of(1, 1, 0, 1, 0));
  assert.deepEqual([...ranked.threshold], [0.9, 0.6, 0.4, 0.2]);
  assert.deepEqual([...ranked.tp], [1, 2, 3, 3]);
  assert.deepEqual([...ranked.fp], [0, 0, 1, 2]);
  assert.equal(area(ranked), 5.5 / 6);
  const { index, hull, deviation } = thin(ranked, 225);
  assert.deepEqual([index, [...hull], deviation], [[0, 1, 2, 3, 4], [0, 2, 3, 4], 0]);
  assert.deepEqual([...levelsOf(ranked.threshold, values, null)], [0, 1, 2, 2, 3]);
});

test("weights decide on the hull exactly: 0.1 three times is not 0.3", () => {
  const weights = { values: Float64Array.of(0.1, 0.1, 0.1, 0.3), whole: false };
  const ranked = rank({ type: "int64", values: Float64Array.of(3, 3, 2, 1) }, Uint8Array.of(1, 0, 1, 0), weights);
  assert.equal(ranked.exact![0].length, 3);
  assert.deepEqual([...thin(ranked, 225).hull], [0, 2, 3]);
});

test("functions of probability theory have the values that SciPy has", () => {
  near(ndtr(-1.959963984540054), 0.025);
  near(ndtr(-10) / 7.619853024160527e-24, 1, 1e-12);
  near(studentQuantile(10, 0.025), 2.228138851986275);
  near(studentQuantile(2.5, 0.025), 3.5746548420036808);
  near(studentQuantile(1e6, 0.025), 1.9599663568, 1e-8);
  near(betainc(2, 3, 0.2), 0.1808);
});

test("an area of three in four, by hand: Wilson's interval with a t quantile", () => {
  const ranked = rankByClass({ type: "float64", values: Float64Array.of(3, 1, 2, 0) }, Uint8Array.of(1, 1, 0, 0)); // placements 1, 1/2 and 1/2, 1
  const { value, low, high, method } = areaInterval(areaSample(ranked));
  assert.equal(value, 0.75);
  assert.ok(low! > 0 && low! < value && value < high! && high! < 1);
  assert.match(method, /^Wilson for [\d.]+ trials, t with \d+ df$/);
  assert.deepEqual(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
});

test("the delimiter is the one that makes most columns, and a wrong one is not troubled by quotes", () => {
  assert.deepEqual(dialectOf(decoded('"a;b",c\n'), ".", null), { delimiter: ",", columns: ["a;b", "c"] });
  assert.deepEqual(dialectOf(decoded('c,"a;b;d"\n'), ".", null).columns, ["c", "a;b;d"]);
  assert.deepEqual(dialectOf(decoded('5" pipe;c\n'), ".", null).columns, ['5" pipe', "c"]);
  assert.deepEqual(dialectOf(decoded("a,b;c,d;e\n"), ",", null).columns, ["a,b", "c,d", "e"]);
  assert.deepEqual(dialectOf(decoded('\ufeff"line\nbreak",y'), ".", null).columns, ["line\nbreak", "y"]);
});

for (const [what, text, said] of [
  ["a row too short", "y,s\n1,2\n3\n4,5\n", /line 3: expected 2 columns, got 1/],
  ["two kinds of line ends", "y,s\n1,2\r\n3,4\n", /two kinds of line endings/],
  ["a quote that does not end", 'y,s\n1,"2\n', /does not end/],
] as const) {
  test(`${what} is refused`, async () => {
    const table = await openTable(new File([text], "a.csv"), LAYOUT);
    await assert.rejects(table.read({ numbers: ["s"], names: ["y"] }, () => undefined), said);
  });
}

test("fields that are cut between two pieces of a file come whole, and no number is rounded", async () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => `${i % 2},"${i}""x",9007199254740993`);
  const table = await openTable(new File([["y,name,s", ...rows].join("\n")], "a.csv"), LAYOUT);
  const read = await table.read({ numbers: ["s"], names: ["name"] }, () => undefined);
  assert.equal(read.rows, 300_000);
  const names = read.names("name", "name");
  assert.equal(names.classes.length, 300_000);
  assert.equal(names.classes[names.codes[299_999]!], '299999"x');
  assert.equal(read.numbers("s", "s").values[0], 9007199254740993n);
});

test("JSON tells 1 from 1.0, and text from both", async () => {
  const read = async (text: string): Promise<string> => {
    const table = await openTable(new File([text], "a.jsonl"), LAYOUT);
    return (await table.read({ numbers: ["s"], names: [] }, () => undefined)).numbers("s", "s").type;
  };
  assert.equal(await read('{"s": 1}\n{"s": 2}'), "int64");
  assert.equal(await read('[{"s": 1.0}, {"s": 2}]'), "float64");
  await assert.rejects(read('{"s": "1"}'), /expected numbers, got text, such as '1' in row 0/);
});

test("folds averaged at each false positive rate and at each threshold", () => {
  const fold = (tp: number[], fp: number[], threshold: number[]): ReturnType<typeof makeLevels> =>
    makeLevels(Float64Array.of(Infinity, ...threshold), Float64Array.of(0, ...tp), Float64Array.of(0, ...fp), Int32Array.of(0));
  const folds = [fold([1, 1, 2, 2], [0, 1, 1, 2], [8, 7, 6, 5]), fold([1, 2, 2, 2], [0, 0, 1, 2], [4, 3, 2, 1])];
  assert.deepEqual([0, 0.25, 0.5].map((x) => (tprAt(folds[0]!, x) + tprAt(folds[1]!, x)) / 2), [0.75, 0.75, 1]); // as average_curve has it
  const { x, y } = vertical(folds);
  assert.equal(y[x.indexOf(0.25)], 0.75);
  const by = byThreshold(folds, [5.5]);
  assert.deepEqual([by.x, by.y], [[0.25], [0.5]]);
});

test("what is packed is unpacked as it was", () => {
  const totals = [1, 1, 301, 2 ** 40];
  assert.deepEqual([...column(countsColumn(totals))], totals);
  assert.deepEqual([...column(countsColumn([0.5, 1.25]))], [0.5, 1.25]);
  assert.deepEqual(countsColumn([1, 1, 301]), { steps: "AQCsAg==" });
  assert.deepEqual([...column(scoresColumn(Float64Array.of(0.1, 0.5)))], [0.1, 0.5]);
  assert.deepEqual(scoresColumn(Float64Array.of(0.5)), { f4: "AAAAPw==" });
});

test("a customer list is understood", () => {
  const glance = (name: string, more: Partial<Glance>): Glance => ({ name, range: null, whole: false, values: null, distinct: 500, missing: 0, text: false, ...more });
  const bought = glance("bought", { values: [["no", 400], ["yes", 100]], distinct: 2 });
  const columns = [glance("customer_id", { range: [1, 500], whole: true }), bought, glance("model a", { range: [0, 1] }), glance("spent", { range: [0, 900] }), glance("weight", { range: [1, 3] }), glance("region", { values: [["n", 250], ["s", 250]], distinct: 2 })];
  const uses = Object.fromEntries(guess({ columns, rows: 500, encoding: null }));
  assert.deepEqual(uses, { customer_id: "", bought: "label", "model a": "score", spent: "", weight: "weight", region: "segment" });
  assert.equal(positiveOf(bought), "yes");
});

test("the first rows are shown as a layout splits them, also where the file cannot be read", async () => {
  const file = new File(["y;p\n1;0,5\n0;0,25\n1;0,75\n0;0,1\n"], "a.csv");
  assert.deepEqual(await firstRows(file, LAYOUT), [["y", "p"], ["1", "0,5"], ["0", "0,25"], ["1", "0,75"]]);
  assert.deepEqual((await firstRows(file, { ...LAYOUT, delimiter: "," }))[1], ["1;0", "5"]);
  assert.deepEqual(await firstRows(new File([Uint8Array.of(0xfc, 10, 49)], "a.csv"), { ...LAYOUT, encoding: "windows-1252" }), [["ü"], ["1"]]);
});

for (const [name, start, said] of [["a.csv", "PK\u0003\u0004", /Excel workbook or a ZIP archive; in Excel choose/], ["a.xlsx", "PK\u0003\u0004", /a broken or encrypted archive; save it again/], ["a.csv", "%PDF-1.7", /a PDF file; export/]] as const) {
  test(`${name} that begins with ${start.slice(0, 2)} is refused with what to do`, async () => {
    await assert.rejects(openTable(new File([start, "rest"], name), LAYOUT), said);
  });
}
