/** The files and classes that Python's tests read too: counted alike, or refused for the same reason. */

import { readFileSync } from "node:fs";
import { test } from "node:test";

import { CountedRows } from "../src/count/rows";
import { openTable } from "../src/count/tables";
import { likelyPositive } from "../src/open/guess";

import assert from "node:assert/strict";

interface Case { readonly why: string; readonly file: string; readonly bytes?: string; readonly decimal?: "." | ","; readonly positive?: string; readonly refused?: string; readonly counts?: { threshold: number[] } }

const cases = JSON.parse(readFileSync("../tests/reference/file_cases.json", "utf8")) as { files: Case[]; classes: { "most frequent first": string[]; positive: string | null }[] };

for (const { why, file, bytes, decimal = null, positive = null, refused, counts } of cases.files) {
  if (bytes === undefined) continue; // Python writes it
  test(`${why} (${file})`, async () => {
    const content = Uint8Array.from(bytes, (sign) => sign.charCodeAt(0));
    const roles = { label: "y", positive, scores: ["p"], weight: null, segment: null, fold: null };
    const found = (async () => CountedRows.of(await openTable(new File([content], file), { decimal, delimiter: null, encoding: null }), roles, file, () => undefined))();
    if (refused !== undefined) return assert.rejects(found, (error: Error) => error.message.includes(refused));
    const { levels } = (await found).slice(0).models[0]!;
    assert.deepEqual({ threshold: [...levels.threshold.slice(1)], tp: [...levels.tp.slice(1)], fp: [...levels.fp.slice(1)] }, counts);
  });
}

for (const { "most frequent first": classes, positive } of cases.classes) {
  test(`of ${classes.join(", ")} the positive class is ${positive ?? "asked"}`, () => assert.equal(likelyPositive(classes), positive));
}
