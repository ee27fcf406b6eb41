/** Where the table of a text begins and ends: the twin of Python's `table_bounds`, which has the rules. */

import { TOTALS } from "../constants";
import { rowAt } from "./csv";
import { listing, Refused, shown } from "./errors";
import { isNumeral } from "./numerals";

const SEARCHED = 60;
const TOTAL = new RegExp(TOTALS);
const isTotal = (cell: string): boolean => TOTAL.test(cell.trim().toLowerCase());
const numeral = (cell: string): boolean => isNumeral(cell, null);

export interface Bounds {
  /** Lines above the names. */
  readonly above: number;
  /** null where the search did not determine it. */
  readonly delimiter: string | null;
  readonly note: string;
}

interface Row { readonly cells: string[]; readonly at: number }

function rowsOf(text: string, delimiter: string): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < text.length && rows.length < SEARCHED; ) {
    const [cells, next] = rowAt(text, delimiter, at);
    rows.push({ cells: cells.length === 1 && cells[0] === "" ? [] : cells, at });
    at = next;
  }
  return rows;
}

const filled = (cells: readonly string[]): number => cells.filter((cell) => cell.trim()).length;

/** The place of the row of names, if there is one. */
export function namesRow(rows: readonly (readonly string[])[]): number | null {
  let most = 0;
  for (const [number, cells] of rows.entries()) {
    const named = filled(cells);
    const below = rows.slice(number + 1).find((other) => filled(other) > 0);
    const isTable = cells.length > 1 && 2 * named > cells.length && named > most && (!below || below.length === cells.length);
    if (isTable && !(number && cells.some(numeral))) return number;
    if (!cells[0]?.startsWith("#")) most = Math.max(most, named);
  }
  return null;
}

/** Where the table of a text begins; a file without names is refused. */
export function boundsOf(text: string, delimiters: string, file: string, skipRows?: number): Bounds {
  if (skipRows !== undefined) return { above: skipRows, delimiter: null, note: "" };
  const sep = /^sep=(.)\r?\n/i.exec(text)?.[1];
  let best: Bounds = { above: sep ? 1 : 0, delimiter: sep ?? null, note: "" };
  let most = 3;
  for (const delimiter of sep ? "" : delimiters) {
    const rows = rowsOf(text, delimiter);
    const place = namesRow(rows.map(({ cells }) => cells));
    const width = rows[place ?? 0]?.cells.length ?? 0;
    // A text that a delimiter splits evenly has no rows above its names.
    const even = place === 0 && rows.every(({ cells }) => cells.length === 0 || cells.length === width);
    const merit = (even ? 1e9 : 0) + 2 * width + (place === 0 ? 1 : 0);
    if (place === null || merit <= most) continue;
    most = merit;
    const above = text.slice(0, rows[place]!.at).split("\n").length - 1;
    best = { above, delimiter: place ? delimiter : null, note: above ? `skipped ${above} ${above === 1 ? "line" : "lines"} above the column names` : "" };
  }
  const table = text.split("\n").slice(best.above).join("\n");
  for (const delimiter of best.delimiter ?? delimiters) requireNames(rowsOf(table, delimiter).map(({ cells }) => cells), file);
  return best;
}

/** Refuse a first row that holds values: a fraction, and no text that is not a value elsewhere. */
export function requireNames(rows: readonly (readonly string[])[], file: string): void {
  const first = (rows[0] ?? []).map((cell) => cell.trim());
  if (!first.some((cell) => /[.,%]/.test(cell) && numeral(cell))) return;
  const texts = first.flatMap((cell, place) => (cell && !numeral(cell) ? [place] : []));
  const others = rows.slice(1).filter((cells) => cells.length === first.length);
  const recurring = texts.some((place) => others.some((cells) => cells[place]!.trim() === first[place]));
  if (!recurring && texts.length && !texts.some((place) => /\d/.test(first[place]!))) return;
  throw new Refused(file, { expected: "column names in the first row", got: `the values ${listing(first.map((cell) => shown(cell)))}`, hint: "add a row of names" });
}

/** The rows at the end of a text, of which the first line may be cut off. */
export const lastRows = (end: string, delimiter: string): string[][] => end.split(/\r\n|\r|\n/).slice(1).map((line) => rowAt(line, delimiter, 0)[0]);

/** Refuse a last row that is not one of the table: a total, or of another width. */
export function refuseTotals(all: readonly (readonly string[])[], width: number, file: string, delimiter: string): void {
  const rows = all.filter((cells) => filled(cells) > 0);
  const last = rows.pop();
  if (!last || !rows.length) return;
  const places = last.flatMap((cell, place) => (isTotal(cell) ? [place] : []));
  const total = places.length > 0 && !rows.some((cells) => places.some((place) => isTotal(cells[place] ?? "")));
  if (!total && (last.length === width || rows[rows.length - 1]!.length !== width)) return;
  throw new Refused(file, { expected: "data in the last row", got: shown(last.join(delimiter)), hint: `delete this row, or set "Rows below the table" under File format` });
}
