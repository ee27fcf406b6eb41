/** Excel workbooks (.xlsx) as columns: the rules of Python's `open_excel`. XML is scanned tag by tag, as workers have no parser. */

import { type UnzipFileInfo, unzipSync } from "fflate";

import type { Layout } from "../open/messages";
import { namesRow, refuseTotals, requireNames } from "./csv";
import { listing, Refused, shown } from "./errors";
import { type Names, NameSink, NumberSink, type Sink } from "./sinks";
import { type Numbers, placeOf, type Rows, type Table } from "./table";

// Parts that unpack to more bytes, and to so many times their size, hold no table; as in Python's `open_excel`.
const [MOST_UNPACKED, MOST_RATIO] = [1 << 28, 200];

/** A function that returns a part of an archive as text, empty if there is none of that name. */
async function openArchive(file: File): Promise<(part: string) => string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const parts = (wanted: (name: string) => boolean, refused: Refused): Uint8Array[] => {
    const filter = ({ name, size, originalSize }: UnzipFileInfo): boolean => {
      if (originalSize <= Math.max(MOST_UNPACKED, MOST_RATIO * size)) return wanted(name);
      const got = `${originalSize.toLocaleString("en")} bytes compressed to ${size.toLocaleString("en")}`;
      throw new Refused(`${file.name}: ${name}`, { expected: "a table of usual size", got });
    };
    try {
      return Object.values(unzipSync(bytes, { filter }));
    } catch (error) {
      throw error instanceof Refused ? error : refused;
    }
  };
  parts(() => false, new Refused(file.name, { expected: "an Excel workbook", got: "a broken or encrypted archive", hint: "save it again" }));
  return (part) => {
    const refused = new Refused(`${file.name}: ${part}`, { got: "data that cannot be unpacked", hint: "save the workbook again" });
    return new TextDecoder().decode(parts((name) => name.toLowerCase() === part.toLowerCase(), refused)[0]);
  };
}

type Cell = string | number | boolean;

interface Sheet { readonly name: string; readonly rows: readonly (readonly Cell[])[] }

// A sheet becomes a rectangle from its first cell to its last. So large it may always be, and so many times its cells.
const [MOST_CELLS, MOST_SPREAD] = [1 << 22, 10];
const SEARCHED = 60; // rows in which the names of columns are looked for

interface Tag { readonly name: string; readonly attributes: string; readonly text: string; readonly closes: boolean; readonly empty: boolean }

/** The tags of a text in XML, each with the text that follows it; prefixes of names are left out. */
function* tagsOf(xml: string): Generator<Tag> {
  const tag = /<(\/?)(?:[\w.-]+:)?([A-Za-z][\w.-]*)([^<>]*?)(\/?)>([^<]*)/g;
  for (const [, slash, name, attributes, end, text] of xml.matchAll(tag)) yield { name: name!, attributes: attributes!, text: text!, closes: slash !== "", empty: end !== "" };
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal: string | undefined, hex: string | undefined, name: string) => {
    if (decimal) return String.fromCodePoint(Number(decimal));
    return hex ? String.fromCodePoint(parseInt(hex, 16)) : (ENTITIES[name] ?? all);
  });
}

/** The text of a <t>: spaces around it count only where that is said, and signs may be written as _x000D_. */
function written({ attributes, text }: Tag): string {
  const kept = /xml:space=["']preserve/.test(attributes) ? decoded(text) : decoded(text).trim();
  return kept.replace(/_x([\da-f]{4})_/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

const PATTERNS = new Map<string, RegExp>(); // of attributes, by name: made once, as sheets have millions of cells

function attribute(attributes: string, name: string): string {
  let pattern = PATTERNS.get(name);
  if (!pattern) PATTERNS.set(name, (pattern = new RegExp(`(?:^|[\\s:])${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`)));
  const match = pattern.exec(attributes);
  return decoded(match?.[1] ?? match?.[2] ?? "");
}

function sharedTexts(xml: string): string[] {
  const texts: string[] = [];
  let spoken = false; // what is written beside Japanese texts, to be read aloud
  for (const tag of tagsOf(xml)) {
    if (tag.name === "si" && !tag.closes) texts.push("");
    else if (tag.name === "rPh") spoken = !tag.closes;
    else if (tag.name === "t" && !tag.closes && !spoken) texts[texts.length - 1] += written(tag);
  }
  return texts;
}

function dateStyles(xml: string): boolean[] {
  const dates = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]); // of the formats that every workbook has
  const styles: boolean[] = [];
  let inside = false;
  for (const { name, attributes, closes } of tagsOf(xml)) {
    if (name === "numFmt") {
      const bare = attribute(attributes, "formatCode").replace(/"[^"]*"|\[[^\]]*\]|\\./g, "");
      if (/[dmyhs]/i.test(bare)) dates.add(Number(attribute(attributes, "numFmtId")));
    } else if (name === "cellXfs") inside = !closes;
    else if (name === "xf" && inside && !closes) styles.push(dates.has(Number(attribute(attributes, "numFmtId"))));
  }
  return styles;
}

/** A number of days as a date is written; the part of a day alone where it is less than one. */
function dateText(days: number, since1904: boolean): string {
  const FIRST = since1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30); // Excel has a 29 February 1900
  const [date, time] = new Date(FIRST + Math.round(days * 86_400_000)).toISOString().split(/[TZ]/) as [string, string];
  const seconds = time.replace(/\.000$/, "");
  if (days < 1) return seconds;
  return seconds === "00:00:00" ? date : `${date} ${seconds}`;
}

const numberOfColumn = (letters: string): number => [...letters.toUpperCase()].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0);

/** The cells of a sheet as a rectangle from the first to the last that is not empty. */
function cellsOf(xml: string, texts: readonly string[], dates: readonly boolean[], since1904: boolean, file: string): Cell[][] {
  const rows = new Map<number, Map<number, Cell>>();
  let [row, column, cells] = [-1, -1, 0];
  let [lastColumn, lastRow] = ["A", 1];
  let [kind, style, value, full, spoken] = ["", 0, "", false, false];
  const put = (): void => {
    if (!full) return;
    const number = Number(value);
    let cell: Cell = number;
    if (kind === "s") cell = texts[number] ?? "";
    else if (kind === "b") cell = value.trim() === "1" || value.trim() === "true";
    else if (kind === "e") cell = "";
    else if (kind === "d") cell = value.replace(/T(?:00:00:00(?:\.0+)?)?/, (time) => (time === "T" ? " " : ""));
    else if (kind === "str" || kind === "inlineStr" || value.trim() === "" || Number.isNaN(number)) cell = value;
    else if (dates[style]) cell = dateText(number, since1904);
    if (!rows.has(row)) rows.set(row, new Map());
    rows.get(row)!.set(column, cell);
  };
  for (const tag of tagsOf(xml)) {
    const { name, attributes, closes, empty } = tag;
    if (name === "row" && !closes) {
      row = (Number(attribute(attributes, "r")) || row + 2) - 1;
      column = -1;
    } else if (name === "c" && closes) put();
    else if (name === "c") {
      const [, letters, number] = /^([A-Za-z]{1,20})(\d{1,20})$/.exec(attribute(attributes, "r")) ?? [];
      column = letters ? numberOfColumn(letters) - 1 : column + 1;
      if (letters) {
        cells++;
        if (numberOfColumn(letters) > numberOfColumn(lastColumn)) lastColumn = letters.toUpperCase();
        lastRow = Math.max(lastRow, Number(number));
      }
      [kind, style, value, full] = [attribute(attributes, "t"), Number(attribute(attributes, "s")), "", false];
    } else if (name === "rPh") spoken = !closes;
    else if (!closes && !empty && (name === "v" || (name === "t" && !spoken))) {
      value += name === "t" ? written(tag) : decoded(tag.text);
      full = true;
    }
  }
  if (numberOfColumn(lastColumn) * lastRow > Math.max(MOST_CELLS, MOST_SPREAD * cells)) {
    const got = `only ${cells.toLocaleString("en")} filled cells up to column ${lastColumn} and row ${lastRow.toLocaleString("en")}`;
    throw new Refused(file, { expected: "a sheet with one table", got, hint: "delete cells outside the table, or save the sheet as CSV" });
  }
  return rectangle(rows);
}

function rectangle(rows: ReadonlyMap<number, ReadonlyMap<number, Cell>>): Cell[][] {
  let [top, bottom, left, right] = [Infinity, -1, Infinity, -1];
  for (const [row, cells] of rows) {
    [top, bottom] = [Math.min(top, row), Math.max(bottom, row)];
    for (const column of cells.keys()) [left, right] = [Math.min(left, column), Math.max(right, column)];
  }
  const all: Cell[][] = [];
  for (let row = top; row <= bottom; row++) {
    const line: Cell[] = [];
    for (let column = left; column <= right; column++) line.push(rows.get(row)?.get(column) ?? "");
    all.push(line);
  }
  return all;
}

/** The sheets of a workbook that are not empty. */
async function sheetsOf(file: File): Promise<Sheet[]> {
  const text = await openArchive(file);
  const targets = new Map<string, string>();
  for (const { name, attributes } of tagsOf(text("xl/_rels/workbook.xml.rels"))) {
    const isSheet = name === "Relationship" && attribute(attributes, "Type").endsWith("/worksheet");
    if (isSheet) targets.set(attribute(attributes, "Id"), attribute(attributes, "Target").replace(/^(?!\/)/, "xl/").replace(/^\//, ""));
  }
  const texts = sharedTexts(text("xl/sharedStrings.xml"));
  const dates = dateStyles(text("xl/styles.xml"));
  const book = text("xl/workbook.xml");
  const since1904 = [...tagsOf(book)].some(({ name, attributes }) => name === "workbookPr" && /^(1|true)$/.test(attribute(attributes, "date1904")));
  const sheets: Sheet[] = [];
  for (const { name, attributes } of tagsOf(book)) {
    const part = name === "sheet" ? targets.get(attribute(attributes, "id")) : undefined;
    if (part === undefined) continue;
    const rows = cellsOf(text(part), texts, dates, since1904, file.name);
    if (rows.length) sheets.push({ name: attribute(attributes, "name"), rows });
  }
  return sheets;
}

let opened: { readonly key: string; readonly sheets: Promise<Sheet[]> } | null = null;

/** The sheets of the workbook that was opened last are kept, as several questions are asked of it. */
function keptSheets(file: File): Promise<Sheet[]> {
  const key = `${file.name} ${file.size} ${file.lastModified}`;
  if (opened?.key !== key) opened = { key, sheets: sheetsOf(file) };
  return opened.sheets;
}

export const sheetNames = async (file: File): Promise<string[]> => (await keptSheets(file)).map(({ name }) => name);

export async function sheetRows(file: File, { sheet }: Layout): Promise<readonly (readonly Cell[])[]> {
  const sheets = await keptSheets(file);
  const chosen = sheet ? sheets.find(({ name }) => name === sheet) : sheets.length === 1 ? sheets[0] : undefined;
  if (chosen) return chosen.rows;
  const hint = sheets.length ? { hint: "choose one under File format" } : {};
  throw new Refused(file.name, { expected: "one sheet with data", got: listing(sheets.map(({ name }) => shown(name))) || "none", ...hint });
}

/** A cell as a CSV file would have it: numbers that a float64 rounds are written as fractions are. */
export function textOfCell(cell: Cell): string {
  if (typeof cell === "boolean") return cell ? "True" : "False";
  return typeof cell === "number" && Math.abs(cell) > 2 ** 53 ? cell.toExponential() : String(cell);
}

export async function openXlsx(file: File, layout: Layout): Promise<Table> {
  const all = await sheetRows(file, layout);
  const texts = all.map((row) => row.map(textOfCell));
  const above = layout.skipRows ?? namesRow(texts.slice(0, SEARCHED)) ?? 0;
  const notes = above && layout.skipRows === undefined ? [`skipped ${above} ${above === 1 ? "row" : "rows"} above the column names`] : [];
  const names = texts[above] ?? [];
  if (layout.skipRows === undefined && !all[above]?.some((cell) => typeof cell === "string" && cell)) requireNames(texts.slice(above), file.name);
  if (layout.skipFooter === undefined) refuseTotals(texts.slice(above), names.length, file.name, ", ");
  const rows = all.slice(above + 1, all.length - (layout.skipFooter ?? 0));
  const column = (name: string): Column => {
    const place = placeOf(names, name);
    return new Column(rows.map((row) => row[place]!), layout, (note) => notes.push(`column ${shown(name)}: ${note}`));
  };
  const found: Rows = {
    rows: rows.length,
    notes,
    numbers: (name, subject) => column(name).numbers(subject),
    names: (name, subject) => column(name).names(subject),
    texts: (name) => column(name).texts,
  };
  return {
    columns: names,
    untyped: true,
    read: async ({ numbers, names: others }) => {
      for (const name of [...numbers, ...others]) placeOf(names, name);
      return found;
    },
    head: async () => found,
  };
}

/** Cells of a column: of one type as they are, and of several as their texts. */
class Column {
  private readonly kind: "number" | "boolean" | "string";

  constructor(private readonly cells: readonly Cell[], private readonly layout: Layout, private readonly say: (note: string) => void) {
    const kinds = new Set(cells.filter((cell) => cell !== "").map((cell) => typeof cell));
    this.kind = kinds.size === 1 ? ([...kinds][0] as Column["kind"]) : "string";
  }

  private put<S extends Sink>(sink: S): S {
    this.cells.forEach((cell, row) => sink.take(textOfCell(cell), row));
    return sink;
  }

  get texts(): Names {
    return this.named.raw(this.cells.length);
  }

  private get named(): NameSink {
    return this.put(new NameSink());
  }

  numbers(subject: string): Numbers {
    if (this.kind === "boolean") return { type: "uint8", values: Uint8Array.from(this.cells, Number), missing: this.gaps() };
    const decimal = this.kind === "number" ? "." : this.layout.decimal;
    const sink = this.put(new NumberSink(decimal, true));
    const marked = sink.unclear ? this.named.numbers(this.cells.length, decimal, subject, this.say) : null;
    return marked ?? sink.finish(this.cells.length, subject);
  }

  names(subject: string): Names {
    if (this.kind === "boolean") {
      const { codes, classes } = this.texts;
      return { codes, classes: classes.map((text) => text === "True"), kind: "bool" };
    }
    return this.named.finish(this.cells.length, this.kind === "number" ? "." : this.layout.decimal, subject);
  }

  private gaps(): Uint8Array | null {
    return this.cells.includes("") ? Uint8Array.from(this.cells, (cell) => Number(cell === "")) : null;
  }
}
