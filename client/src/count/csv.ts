/** CSV, row by row: the reading rules of docs/guide/engines/files.md. */

import { TOTALS } from "../constants.json";
import { listing, Refused, shown } from "./errors";
import { isNumeral, type Sink } from "./sinks";

const CANDIDATES = ",;\t|";

export interface Dialect { readonly delimiter: string; readonly columns: readonly string[] }

const candidates = (decimal: string | null, delimiter: string | null): string => delimiter ?? CANDIDATES.replace(decimal ?? "", "");

/** Delimiters with which a table is looked for: a comma is one even if decimal commas are quoted. */
export const searched = (decimal: string | null, delimiter: string | null): string => candidates(decimal, delimiter) + (!delimiter && decimal === "," ? "," : "");

/** Columns and delimiter by the first row: of the delimiters outside quotes the one that splits it into most columns. */
export function dialectOf(text: string, decimal: string | null, delimiter: string | null): Dialect {
  const best = splitBy(text, decimal, delimiter);
  if (best.columns.join("") === "") throw new Refused("the file", { expected: "column names in the first row", got: "an empty row" });
  return best;
}

/** By the delimiter named, or by the best one; a comma that is the decimal mark, and so in quotes, only where no other splits. */
function splitBy(text: string, decimal: string | null, delimiter: string | null): Dialect {
  const best = bestSplit(text, candidates(decimal, delimiter));
  return best.columns.length > 1 || delimiter ? best : bestSplit(text, ",");
}

/** The delimiter that splits the first row of a text into most columns, the first of several; best with quotes around whole fields. */
function bestSplit(text: string, delimiters: string): Dialect {
  const all = [...delimiters].map((delimiter) => ({ delimiter, columns: firstRow(text, delimiter), whole: quotesWholeFields(text, delimiter) }));
  const { delimiter, columns } = all.reduce((best, one) => (one.whole > best.whole || (one.whole === best.whole && one.columns.length > best.columns.length) ? one : best));
  return { delimiter, columns };
}

function quotesWholeFields(text: string, delimiter: string): number {
  const mark = `\\u${delimiter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const field = `(?:"(?:[^"]|"")*"|[^"\r\n${mark}]*)`;
  return Number(new RegExp(`^${field}(?:${mark}${field})*(?:[\r\n]|$)`).test(text));
}

/** Some rows as they would be split, for a reader who looks for the right layout; no error, whatever the text. */
export function splitRows(text: string, decimal: string | null, delimiter: string | null, most: number): string[][] {
  const mark = splitBy(text, decimal, delimiter).delimiter;
  return text.split(/\r\n|\r|\n/).slice(0, most).map((line) => firstRow(line, mark));
}

const firstRow = (text: string, delimiter: string): string[] => rowAt(text, delimiter, 0)[0];

const [LF, CR] = [10, 13];

/**
 * The fields of a row, and where the next row begins: beyond the text where it ends before the row does.
 *
 * @param strict whether text after the quote that ends a field is refused; otherwise a wrong delimiter makes few fields of it
 */
export function rowAt(text: string, delimiter: string, at: number, strict = false): [fields: string[], next: number] {
  const mark = delimiter.charCodeAt(0);
  const fields: string[] = [];
  for (let end = at; ; at = ++end) {
    const isQuoted = text[at] === '"';
    let quoted = "";
    if (isQuoted) {
      const close = closingQuote(text, at + 1);
      quoted = text.slice(at + 1, close).replaceAll('""', '"');
      at = end = close + 1;
    }
    let sign = text.charCodeAt(end);
    while (sign !== mark && sign !== LF && sign !== CR && end < text.length) sign = text.charCodeAt(++end);
    if (strict && isQuoted && end > at) throw new Refused("the file", { got: "text after the quote that ends a field" });
    fields.push(quoted + text.slice(at, end));
    if (sign !== mark) return [fields, sign === CR && text.charCodeAt(end + 1) === LF ? end + 2 : end + 1];
  }
}

/** Where the quote is that ends a field; the end of the text if none does. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at < 0 ? text.length : at;
}

export class CsvScanner {
  /** Rows that were taken; the first line holds names. */
  rows = -1;
  private rest = "";
  /** Which line ends there were: 1 LF, 2 CR LF, 4 CR. */
  private ends = 0;

  /**
   * @param sinks of each column what takes its fields, or none
   * @param above lines above the column names
   */
  constructor(private readonly dialect: Dialect, private readonly sinks: readonly (readonly Sink[])[], private above = 0) {}

  take(piece: string): void {
    const text = [this.rest, piece].join(""); // flat: a sum of texts is one only once it is read
    this.rest = text.slice(this.scan(text));
  }

  /** Take the last row, which may lack a line end. */
  finish(): void {
    const { ends } = this;
    if (this.rest && this.scan(`${this.rest}\n`) <= this.rest.length) {
      throw new Refused("the file", { got: `a quoted field that does not end, after line ${this.rows + 2}` });
    }
    if (ends & (ends - 1)) throw new Refused("the file", { got: "not a CSV file, or a CSV file with two kinds of line endings" });
  }

  /** Read whole rows and return where the first begins that is not whole. */
  private scan(text: string): number {
    const { delimiter, columns } = this.dialect;
    const width = columns.length;
    let at = 0;
    for (; this.above > 0; this.above--) {
      const end = text.indexOf("\n", at);
      if (end < 0) return at;
      at = end + 1;
    }
    for (;;) {
      const [fields, next] = rowAt(text, delimiter, at, true);
      if (next > text.length || (next === text.length && text.endsWith("\r"))) return at; // after which a line feed may follow
      this.ends |= text.charCodeAt(next - 1) !== LF ? 4 : text.charCodeAt(next - 2) === CR ? 2 : 1;
      at = next;
      if (fields.length === 1 && !fields[0] && width > 1) continue; // an empty line
      if (fields.length !== width) throw new Refused(`line ${this.rows + 2}`, { expected: `${width} columns`, got: String(fields.length) });
      if (this.rows >= 0) for (let place = 0; place < width; place++) for (const sink of this.sinks[place]!) sink.take(fields[place]!, this.rows);
      this.rows++;
    }
  }
}

const SEARCHED = 60;
const TOTAL = new RegExp(TOTALS);
const isTotal = (cell: string): boolean => TOTAL.test(cell.trim().toLowerCase());
const numeral = (cell: string): boolean => isNumeral(cell, null);

export interface Bounds {
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
  if (!total && (last.length === width || rows.at(-1)!.length !== width)) return;
  throw new Refused(file, { expected: "data in the last row", got: shown(last.join(delimiter)), hint: `delete this row, or set "Rows below the table" under File format` });
}
