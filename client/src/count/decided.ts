/** The rows of a file with what a threshold decides about each, and those that a plan acts on. */

import type { Plan, Roles } from "../open/messages";
import { positives } from "./rows";
import type { Names } from "./sinks";
import { onlyOnce, type Rows, type Table } from "./table";

const LINES = 20_000; // rows of text that are held before they become a part of the file
const OUTCOMES = [["true negative", "false positive"], ["false negative", "true positive"]] as const;

/** All columns as they were written, and two more; nothing is said of a row without a score, nor of its error without a label. */
export async function decidedRows(table: Table, { label, positive }: Roles, score: string, threshold: number | bigint, tell: (share: number) => void): Promise<Blob> {
  const columns = onlyOnce(table.columns);
  const rows = await table.read({ numbers: [score], names: columns }, tell);
  const shown = shownColumns(rows, columns);
  const scores = rows.numbers(score, `score '${score}'`);
  const answers = answersOf(rows.names(label, `label '${label}'`), positive, `label '${label}'`, table.untyped);
  const free = (name: string): string => (columns.includes(name) ? free(`${name}_`) : name);
  const parts = [line([...shown.map(({ name }) => name), free("decision"), free("outcome")])];
  let lines: string[] = [];
  for (let row = 0; row < rows.rows; row++) {
    const answer = answers[row]!;
    const decided = scores.missing?.[row] ? null : scores.values[row]! >= threshold;
    lines.push(line([...cellsOf(shown, row), decided === null ? "" : decided ? "positive" : "negative", decided === null || answer < 0 ? "" : OUTCOMES[answer ? 1 : 0][decided ? 1 : 0]]));
    if (lines.length === LINES) {
      parts.push(lines.join(""));
      lines = [];
    }
  }
  return new Blob([...parts, lines.join("")], { type: "text/csv" });
}

/** The rows that a plan acts on as CSV, highest scores first and equal ones as they come: how many have a known answer, and a positive one. */
export async function appliedRows(table: Table, { model, threshold, label, positive }: Plan, tell: (share: number) => void) {
  const columns = onlyOnce(table.columns);
  const rows = await table.read({ numbers: [model], names: columns }, tell);
  const { values, missing } = rows.numbers(model, `score '${model}'`);
  const shown = shownColumns(rows, columns);
  const acted = Array.from(values.keys()).filter((row) => !missing?.[row] && values[row]! >= threshold);
  acted.sort((a, b) => (values[a]! === values[b]! ? a - b : values[a]! > values[b]! ? -1 : 1));
  const labels = label !== null && columns.includes(label) ? rows.names(label, `label '${label}'`) : null;
  const answers = labels?.codes.some((code) => code >= 0) ? answersOf(labels, positive, `label '${label}'`, table.untyped) : null;
  const text = new Blob([line(shown.map(({ name }) => name)), ...acted.map((row) => line(cellsOf(shown, row)))], { type: "text/csv" });
  const known = answers ? acted.map((row) => answers[row]!).filter((answer) => answer >= 0) : [];
  return { rows: rows.rows, acted: acted.length, missing: missing?.reduce((sum, gap) => sum + gap, 0) ?? 0, known: known.length, hits: known.reduce((sum, answer) => sum + answer, 0), text };
}

interface Shown { readonly name: string; readonly column: Names }

function shownColumns(rows: Rows, columns: readonly string[]): Shown[] {
  return columns.flatMap((name) => {
    try {
      return [{ name, column: rows.texts(name, name) }];
    } catch {
      return []; // lists and structures, which have no place in a table
    }
  });
}

const cellsOf = (shown: readonly Shown[], row: number): string[] => shown.map(({ column: { classes, codes } }) => (codes[row]! < 0 ? "" : String(classes[codes[row]!])));

/** Of each row 1 if its label is positive, 0 if it is negative, and -1 without a label. */
function answersOf({ codes, ...names }: Names, positive: Roles["positive"], what: string, untyped: boolean): Int8Array {
  const known = positives({ ...names, codes: codes.filter((code) => code >= 0) }, positive, what, untyped);
  let place = 0;
  return Int8Array.from(codes, (code) => (code < 0 ? -1 : known[place++]!));
}

const line = (cells: readonly string[]): string => `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\r\n`;
