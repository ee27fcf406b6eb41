/** Files as columns: CSV, TSV, JSON lines, workbooks and Parquet, plain or packed with gzip or zstd. */

import { Decompress } from "fzstd";

import { LOOKED_AT, MARKUP, UNLIKE_TEXT } from "../constants.json";
import type { Layout } from "../open/messages";
import { boundsOf, CsvScanner, dialectOf, lastRows, refuseTotals, searched, splitRows } from "./csv";
import { Refused, shown } from "./errors";
import { JsonScanner } from "./json";
import { openParquet } from "./parquet";
import { type Names, NameSink, NumberSink } from "./sinks";
import { onlyOnce, placeOf, type Rows, type Table, type Wanted } from "./table";
import { openXlsx, sheetNames, sheetRows, textOfCell } from "./xlsx";

const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

export function refuseOtherKinds(start: Uint8Array, file: string, expected: string): void {
  const text = latin(start);
  const found = UNLIKE_TEXT.find(([magic]) => text.startsWith(magic!));
  const hint = found?.[1]?.includes("Arrow") ? "write it as Parquet" : found?.[2];
  if (found) throw new Refused(file, { expected, got: found[1]!, hint: hint! });
  if (new RegExp(`^${MARKUP}`, "i").test(text.replace(/^\xef\xbb\xbf/, ""))) throw new Refused(file, { expected, got: "a web page or XML", hint: "in Excel choose File > Save As > CSV UTF-8" });
}

export function requireCompressed(start: Uint8Array, file: string, suffix: string): void {
  const [kind, magic] = suffix === "gz" ? ["gzip", "\x1f\x8b"] : ["zstd", "\x28\xb5\x2f\xfd"];
  if (!latin(start).startsWith(magic!)) throw new Refused(file, { expected: `a file compressed by ${kind}`, got: "another kind of file", hint: `remove .${suffix} from the name of the file` });
}

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

/** Signs that Windows-1252 lacks: browsers have invisible ones for them, Python refuses them. */
const UNDEFINED = /[\x81\x8d\x8f\x90\x9d]/;

/**
 * The encoding that the beginning of a text is written in. A byte order mark, or zeros in every other byte, tells UTF-16;
 * anything that is no UTF-8 is taken for Windows-1252, unless it has bytes that this has no signs for.
 */
export function encodingOf(bytes: Uint8Array): Encoding {
  const start = bytes.subarray(0, LOOKED_AT);
  const [a, b, c, d] = start;
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-8" : "utf-16le"; // which refuses UTF-32
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a && b === 0 && d === 0) return "utf-16le";
  if (b && a === 0 && c === 0) return "utf-16be";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
  } catch {
    return start.includes(0) || [0x81, 0x8d, 0x8f, 0x90, 0x9d].some((byte) => start.includes(byte)) ? "utf-8" : "windows-1252";
  }
  return "utf-8";
}

/** Turns bytes of a file into text; a last call without bytes ends the text. */
function decoderOf(encoding: Encoding, file: string): (piece?: Uint8Array) => string {
  const decoder = new TextDecoder(encoding, { fatal: true });
  return (piece) => {
    try {
      const text = decoder.decode(piece, { stream: piece !== undefined });
      if (encoding !== "windows-1252" || !UNDEFINED.test(text)) return text;
    } catch {
      // said below
    }
    throw new Refused(file, { expected: `${encoding === "windows-1252" ? "Windows-1252" : encoding.toUpperCase()} text`, got: "text in another encoding", hint: "choose the encoding of the file" });
  };
}

const HEAD = 1 << 19; // bytes from which columns are guessed: half of what is looked at for the encoding
const END = 1 << 14; // bytes at the end in which totals are looked for
const PIECE = 1 << 22; // bytes read at a time: few enough for a phone, many enough to hide the waiting between

export async function openTable(whole: File, layout: Layout): Promise<Table> {
  if (whole.size === 0) throw new Refused(`${whole.name}: the file is empty`);
  const [suffix, packed] = suffixOf(whole.name);
  const file = layout.skipFooter && (suffix === "csv" || suffix === "tsv") ? await withoutLastRows(whole, packed, layout, layout.skipFooter) : whole;
  const start = new Uint8Array(await file.slice(0, 16).arrayBuffer());
  if ((suffix === "parquet" || suffix === null) && latin(start).startsWith("PAR1")) return openParquet(file);
  if (suffix === "xlsx" && latin(start).startsWith("PK")) return openXlsx(file, layout);
  const expected = EXPECTED[suffix ?? ""]!;
  if (packed && suffix && suffix !== "parquet") requireCompressed(start, file.name, packed);
  else refuseOtherKinds(start, file.name, expected);
  if (suffix === "xlsx" || suffix === "parquet") throw new Refused(file.name, { expected, got: "another kind of file", hint: "if the file is text, change its extension to .csv" });
  if (suffix === null) throw new Refused(file.name, { expected, got: "another kind of file" });
  const encoding = await encodingIn(file, packed, layout);
  const pieces: Pieces<string> = (most, tell) => piecesOf(file, packed, encoding, most, tell);
  const [texts, all] = await firstOf(pieces, HEAD);
  const head = { text: texts.join(""), all };
  if (!head.text) throw new Refused(`${file.name}: the file is empty`);
  const end = packed || layout.skipFooter !== undefined ? "" : await endOf(file, encoding);
  const found = suffix === "jsonl" ? jsonTable(head, pieces) : csvTable(file.name, head, end, pieces, suffix === "tsv" ? { ...layout, delimiter: "\t" } : layout);
  return { ...found, encoding };
}

/** The sheets of a workbook that are not empty; none of other files. */
export async function sheetsOf(file: File): Promise<string[]> {
  return suffixOf(file.name)[0] === "xlsx" ? sheetNames(file) : [];
}

/** A text file without its last rows that are not empty. */
async function withoutLastRows(file: File, packed: string, layout: Layout, rows: number): Promise<File> {
  if (packed) throw new Refused(file.name, { expected: "an uncompressed file, to skip rows below its table", got: `.${packed}` });
  const encoding = await encodingIn(file, packed, layout);
  const lines = (await endOf(file, encoding)).split(/(?<=\n)/);
  let cut = "";
  for (let left = rows; lines.length && (left || !lines.at(-1)!.trim()); ) {
    const line = lines.pop()!;
    if (line.trim()) left--;
    cut = line + cut;
  }
  const bytesOf = { "utf-8": new TextEncoder().encode(cut).length, "windows-1252": cut.length, "utf-16le": 2 * cut.length, "utf-16be": 2 * cut.length };
  return new File([file.slice(0, file.size - bytesOf[encoding])], file.name);
}

async function endOf(file: File, encoding: Encoding): Promise<string> {
  return new TextDecoder(encoding).decode(await file.slice(Math.max(0, file.size - END + (file.size % 2))).arrayBuffer());
}

/** The column names and the first three rows of a text file or sheet as a layout splits them; nothing of other files. */
export async function firstRows(file: File, layout: Layout): Promise<string[][]> {
  const [suffix, packed] = suffixOf(file.name);
  if (suffix === "xlsx") return (await sheetRows(file, layout)).slice(layout.skipRows ?? 0).slice(0, 4).map((row) => row.map(textOfCell));
  if (suffix !== "csv" && suffix !== "tsv") return [];
  const bytes = await firstBytes(file, packed, HEAD);
  const text = new TextDecoder(await encodingIn(file, packed, layout)).decode(bytes);
  const delimiter = suffix === "tsv" ? "\t" : layout.delimiter;
  try {
    const bounds = boundsOf(text, searched(layout.decimal, delimiter), file.name, layout.skipRows);
    return splitRows(text.split("\n").slice(bounds.above).join("\n"), layout.decimal, bounds.delimiter ?? delimiter, 4);
  } catch {
    return splitRows(text, layout.decimal, delimiter, 4);
  }
}

async function encodingIn(file: File, packed: string, { encoding }: Layout): Promise<Encoding> {
  if (encoding && encoding !== "utf-16") return encoding as Encoding;
  const found = encodingOf(await firstBytes(file, packed, LOOKED_AT));
  return encoding && !found.startsWith(encoding) ? "utf-16le" : found;
}

/** What a file of each kind is expected to be. */
const EXPECTED: Record<string, string> = { csv: "CSV text", tsv: "TSV text", jsonl: "JSON text", xlsx: "an Excel workbook", parquet: "a Parquet file", "": "a CSV, TSV, JSON Lines, Excel or Parquet file" };

type Suffix = "csv" | "tsv" | "jsonl" | "xlsx" | "parquet" | null;
type Pieces<T> = (most: number, tell: (share: number) => void) => AsyncGenerator<T>;
const SUFFIXES: Record<string, Suffix> = { csv: "csv", txt: "csv", tsv: "tsv", tab: "tsv", jsonl: "jsonl", ndjson: "jsonl", json: "jsonl", xlsx: "xlsx", xlsm: "xlsx", parquet: "parquet", pq: "parquet" };

function suffixOf(name: string): [Suffix, string] {
  const parts = name.toLowerCase().split(".");
  const packed = ["gz", "zst"].includes(parts.at(-1)!) ? parts.pop()! : "";
  return [SUFFIXES[parts.at(-1)!] ?? null, packed];
}

async function* piecesOf(file: File, packed: string, encoding: Encoding, most: number, tell: (share: number) => void): AsyncGenerator<string> {
  const decoded = decoderOf(encoding, file.name);
  for await (const piece of unpacked(file, packed, most, tell)) yield decoded(piece);
  decoded();
}

async function* unpacked(file: File, packed: string, most: number, tell: (share: number) => void): AsyncGenerator<Uint8Array> {
  if (!packed) return yield* slices(file, most, tell);
  if (packed === "zst") {
    let ready: Uint8Array[] = [];
    const unpack = new Decompress((piece) => ready.push(piece.slice()));
    try {
      for await (const piece of slices(file, most, tell)) {
        unpack.push(piece);
        yield* ready;
        ready = [];
      }
      unpack.push(new Uint8Array(0), true);
    } catch (error) {
      throw error instanceof Refused ? error : new Refused(file.name, { got: "data that zstd cannot unpack" });
    }
    return yield* ready;
  }
  let read = 0;
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, to) {
      tell((read += piece.length) / file.size);
      to.enqueue(piece);
    },
  });
  const reader = file.stream().pipeThrough(counting).pipeThrough(new DecompressionStream("gzip")).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } catch {
    throw new Refused(file.name, { got: "data that gzip cannot unpack" });
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

async function* slices(file: File, most: number, tell: (share: number) => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += most) {
    yield new Uint8Array(await file.slice(at, at + most).arrayBuffer());
    tell(Math.min(1, (at + most) / file.size));
  }
}

interface Head { readonly text: string; readonly all: boolean }

/** The first pieces of a file, up to a total number of bytes or letters, and whether they are the whole file. */
async function firstOf<T extends Uint8Array | string>(pieces: Pieces<T>, size: number): Promise<[found: T[], all: boolean]> {
  const found: T[] = [];
  let length = 0;
  for await (const piece of pieces(size, () => undefined)) {
    if (length >= size) return [found, false];
    found.push(piece);
    length += piece.length;
  }
  return [found, true];
}

async function firstBytes(file: File, packed: string, size: number): Promise<Uint8Array> {
  const [found] = await firstOf((most, tell) => unpacked(file, packed, most, tell), size);
  return new Uint8Array(await new Blob(found as BlobPart[]).slice(0, size).arrayBuffer());
}

/** What takes the text of a file and has its rows. */
interface Scan {
  readonly scanner: { take(piece: string): void; finish(): void };
  readonly rows: Rows;
  /** Columns of numbers whose texts must be read to know them. */
  readonly unclear?: () => readonly string[];
}

/** A table whose rows are scanned. */
function scannedTable(columns: readonly string[], untyped: boolean, head: Head, pieces: Pieces<string>, scan: (wanted: Wanted, texts?: readonly string[]) => Scan): Table {
  const once = onlyOnce(columns);
  const rowsOf = async (wanted: Wanted, feed: (scanner: Scan["scanner"]) => Promise<void>): Promise<Rows> => {
    const scanned = async (texts?: readonly string[]): Promise<Scan> => {
      const own = scan(wanted, texts);
      await feed(own.scanner);
      return own;
    };
    const first = await scanned();
    const unclear = first.unclear?.() ?? [];
    return unclear.length ? (await scanned(unclear)).rows : first.rows;
  };
  return {
    columns,
    untyped,
    read: (wanted, tell) =>
      rowsOf(wanted, async (scanner) => {
        for await (const piece of pieces(PIECE, tell)) scanner.take(piece);
        scanner.finish();
      }),
    head: () =>
      rowsOf({ numbers: once, names: once }, async (scanner) => {
        scanner.take(head.text);
        if (head.all) scanner.finish();
      }),
  };
}

function sinksOf<N, T>(wanted: Wanted, number: () => N, name: () => T): { numbers: Map<string, N>; names: Map<string, T>; of: (column: string) => (N | T)[] } {
  const numbers = new Map(wanted.numbers.map((column) => [column, number()]));
  const names = new Map(wanted.names.map((column) => [column, name()]));
  return { numbers, names, of: (column) => [numbers.get(column), names.get(column)].filter((sink) => sink !== undefined) };
}

function csvTable(file: string, head: Head, end: string, pieces: Pieces<string>, { decimal, delimiter, skipRows }: Layout): Table {
  const { text } = head;
  const { above, delimiter: own, note } = boundsOf(text, searched(decimal, delimiter), file, skipRows);
  const dialect = dialectOf(text.split("\n").slice(above).join("\n"), decimal, own ?? delimiter);
  const { columns, delimiter: mark } = dialect;
  refuseTotals(lastRows(end, mark), columns.length, file, mark);
  const scan = (wanted: Wanted, texts: readonly string[] = []): Scan => {
    for (const name of [...wanted.numbers, ...wanted.names]) placeOf(columns, name);
    const { numbers, names, of } = sinksOf(wanted, () => new NumberSink(decimal, true), () => new NameSink());
    const marked = new Map(texts.map((name) => [name, new NameSink()]));
    const scanner = new CsvScanner(dialect, columns.map((name) => [...of(name), ...(marked.has(name) ? [marked.get(name)!] : [])]), above);
    const notes = note ? [note] : [];
    const rows: Rows = {
      notes,
      get rows() {
        return Math.max(0, scanner.rows);
      },
      numbers: (name, subject) => marked.get(name)?.numbers(rows.rows, decimal, subject, (note) => decimal || notes.push(`column ${shown(name)}: ${note}`)) ?? numbers.get(name)!.finish(rows.rows, subject),
      names: (name, subject) => names.get(name)!.finish(rows.rows, decimal, subject),
      texts: (name) => names.get(name)!.raw(rows.rows),
    };
    return { scanner, rows, unclear: () => [...numbers].flatMap(([name, sink]) => (sink.unclear ? [name] : [])) };
  };
  return scannedTable(columns, true, head, pieces, scan);
}

function jsonTable(head: Head, pieces: Pieces<string>): Table {
  const scan = (wanted: Wanted): Scan & { scanner: JsonScanner } => {
    const { numbers, names, of } = sinksOf(wanted, () => new NumberSink(".", false), () => new NameSink());
    const scanner = new JsonScanner(new Map([...wanted.numbers, ...wanted.names].map((name) => [name, of(name)])));
    const known = <S>(sinks: ReadonlyMap<string, S>, name: string): S => {
      placeOf([...scanner.columns], name); // all columns are known once all objects are read
      return sinks.get(name)!;
    };
    const named = (name: string, subject: string): Names => known(names, name).finish(scanner.rows, ".", subject);
    const rows: Rows = {
      get rows() {
        return scanner.rows;
      },
      numbers: (name, subject) => known(numbers, name).finish(scanner.rows, subject),
      names: named,
      texts: named,
    };
    return { scanner, rows };
  };
  const { scanner } = scan({ numbers: [], names: [] });
  scanner.take(head.text);
  if (head.all) scanner.finish();
  return scannedTable([...scanner.columns], false, head, pieces, scan);
}
