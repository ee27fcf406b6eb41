/** Numbers with marks: the cases that Python's tests read too. */

import { readFileSync } from "node:fs";
import { test } from "node:test";

import { openTable } from "../src/count/tables";

import assert from "node:assert/strict";

type Mark = "." | ",";
interface Case { readonly values: string[]; readonly numbers?: number[]; readonly refused?: string; readonly noted?: boolean; readonly options?: { decimal?: Mark; thousands?: Mark } }

const cases = JSON.parse(readFileSync("../tests/reference/numeral_cases.json", "utf8")) as Case[];

for (const { values, numbers, refused, noted = true, options = {} } of cases) {
  test(`${values.join(" | ")} ${JSON.stringify(options)}`, async () => {
    // The page has no option for thousands: their mark implies the decimal mark.
    if (options.thousands && refused === undefined && !numbers!.every(Number.isInteger)) return;
    const decimal = options.thousands ? (options.thousands === "," ? "." : ",") : (options.decimal ?? null);
    for (const delimiter of [";", ",", "\t"]) {
      const lines = values.map((value, row) => [row % 2, /[,;"]/.test(value) ? `"${value}"` : value].join(delimiter));
      const file = new File([[["y", "s"].join(delimiter), ...lines].join("\n")], "numbers.csv");
      const table = await openTable(file, { decimal, delimiter: null, encoding: null });
      const found = async (): Promise<(number | string)[]> => {
        const rows = await table.read({ numbers: ["s"], names: ["y"] }, () => undefined);
        const { values, missing } = rows.numbers("s", "column 's'");
        assert.equal((rows.notes ?? []).length > 0, noted);
        return [...values].filter((_, row) => !missing?.[row]).map((value) => (typeof value === "bigint" ? String(value) : value));
      };
      if (refused !== undefined) await assert.rejects(found, (error: Error) => error.message.includes(refused));
      else if (numbers!.some((value) => value >= 2 ** 53)) assert.deepEqual(await found(), ["9007199254740993", "1"]); // which JSON rounds
      else assert.deepEqual(await found(), numbers);
    }
  });
}

test("numbers with marks may come late, among labels too", async () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `${i % 2},0;${(i % 7) + 100}`);
  const file = new File([["y;s", ...lines, "1,0;1.234,5", "0,0;7"].join("\n")], "late.csv");
  const table = await openTable(file, { decimal: null, delimiter: null, encoding: null });
  const rows = await table.read({ numbers: ["s"], names: ["y"] }, () => undefined);
  assert.equal(Math.max(...(rows.numbers("s", "s").values as Float64Array)), 1234.5);
  assert.deepEqual(rows.names("y", "y").classes, [0, 1]);
});
