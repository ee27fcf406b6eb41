/** The rows of a file with what a threshold decides about each, and which kind of error that is. */

import type { Roles } from "../open/messages";
import { positives } from "./labels";
import type { Names } from "./sinks";
import type { Table } from "./table";

const LINES = 20_000; // rows of text that are held before they become a part of the file
const OUTCOMES = [["true negative", "false positive"], ["false negative", "true positive"]] as const;

/** All columns as they were written, and two more; nothing is said of a row without a score, nor of its error without a label. */
export async function decidedRows(table: Table, { label, positive }: Roles, score: string, threshold: number | bigint, tell: (share: number) => void): Promise<Blob> {
  const columns = table.columns.filter((name, place) => table.columns.indexOf(name) === place && table.columns.lastIndexOf(name) === place);
  const rows = await table.read({ numbers: [score], names: columns }, tell);
  const shown = columns.flatMap((name) => {
    try {
      return [{ name, column: rows.texts(name, name) }];
    } catch {
      return []; // lists and structures, which have no place in a table
    }
  });
  const scores = rows.numbers(score, `score '${score}'`);
  const labels = rows.names(label, `label '${label}'`);
  const known = positives(complete(labels), positive, `label '${label}'`, table.untyped);
  const free = (name: string): string => (columns.includes(name) ? free(`${name}_`) : name);
  const parts = [line([...shown.map(({ name }) => name), free("decision"), free("outcome")])];
  let lines: string[] = [];
  let place = 0;
  for (let row = 0; row < rows.rows; row++) {
    const labelled = labels.codes[row]! >= 0;
    const hit = labelled ? known[place++]! : 0;
    const decided = scores.missing?.[row] ? null : scores.values[row]! >= threshold;
    const cells = shown.map(({ column: { classes, codes } }) => (codes[row]! < 0 ? "" : String(classes[codes[row]!])));
    lines.push(line([...cells, decided === null ? "" : decided ? "positive" : "negative", decided === null || !labelled ? "" : OUTCOMES[hit ? 1 : 0][decided ? 1 : 0]]));
    if (lines.length === LINES) {
      parts.push(lines.join(""));
      lines = [];
    }
  }
  return new Blob([...parts, lines.join("")], { type: "text/csv" });
}

/** Labels of the rows that have one. */
const complete = ({ codes, ...names }: Names): Names => ({ ...names, codes: codes.filter((code) => code >= 0) });

const line = (cells: readonly string[]): string => `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\r\n`;
