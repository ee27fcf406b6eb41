/** Rows around the table of an export: the cases of tests/reading/test_table_bounds.py. */

import { test } from "node:test";

import { openTable } from "../src/count/tables";

import assert from "node:assert/strict";

const ROWS = "y;p\n1;0.9\n0;0.25\n1;0.75\n0;0.6\n";
const scores = async (text: string, name = "rows.csv"): Promise<number[]> => {
  const table = await openTable(new File([text], name), { decimal: null, delimiter: null, encoding: null });
  const rows = await table.read({ numbers: ["p"], names: ["y"] }, () => undefined);
  return [...(rows.numbers("p", "p").values as Float64Array)];
};

for (const above of ["", "sep=;\n", "\n\n", "Campaign May 2024\n", "Campaign, May 2024, all of it\n\n", "Campaign;\nAs of 2024-05-31;\n;\n", "# exported by a; program\n# of b; and c; and d\n", '"A title, quoted"\n']) {
  test(`rows above the names are skipped: ${JSON.stringify(above)}`, async () => {
    for (const text of [above + ROWS, (above + ROWS).replaceAll("\n", "\r\n"), `\ufeff${above}${ROWS}`]) assert.deepEqual(await scores(text), [0.9, 0.25, 0.75, 0.6]);
  });
}

for (const last of ["Total;17\n", "Summe:;\n", ";Gesamt\n\n", "4 rows\n", "# end\n", "TOTAL;1;2\n"]) {
  test(`a row of totals is refused: ${JSON.stringify(last)}`, () => assert.rejects(scores(ROWS + last), /data in the last row/));
}

for (const rows of ["1;0.9\n0;0.25\n1;0.75\n", "yes;0,9\nno;0,25\nyes;0,75\n", "K01;90 %\nK02;25 %\n"]) {
  test(`a file without names is refused: ${JSON.stringify(rows)}`, () => assert.rejects(scores(rows), /expected column names in the first row/));
}

test("what is no table is refused in words", async () => {
  await assert.rejects(scores("<!DOCTYPE html>\n<td>"), /got a web page or XML; in Excel choose/);
  await assert.rejects(scores("ARROW1\0\0", "rows.feather"), /got an Arrow file; write it as Parquet/);
  await assert.rejects(scores("y;p\n1;0.9;7\n0;0.25\n1;0.75\n"), /line 2: expected 2 columns, got 3/);
  assert.deepEqual(await scores("brand;y;p\ntotal;1;.9\nother;0;.4\ntotal;0;.3\n"), [0.9, 0.4, 0.3]);
});
