/** Files as columns: CSV, TSV, JSON lines and Parquet, plain or packed with gzip or zstd. */

import { Decompress } from "fzstd";

import type { Layout } from "../open/messages";
import { CsvScanner, dialectOf, splitRows } from "./csv";
import { Refused } from "./errors";
import { JsonNames, JsonScanner } from "./json";
import { openParquet } from "./parquet";
import { NameSink, NumberSink } from "./sinks";
import { placeOf, type Rows, type Table, type Wanted } from "./table";

const HEAD = 1 << 19;
const PIECE = 1 << 22;

export async function openTable(file: File, layout: Layout): Promise<Table> {
  if (file.size === 0) throw new Refused(file.name, { got: "an empty file" });
  const [suffix, packed] = suffixOf(file.name);
  const magic = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const start = String.fromCharCode(...magic);
  const unreadable = UNREADABLE.find(([first]) => start === first);
  if (unreadable) throw new Refused(file.name, { expected: "a CSV, TSV, JSON Lines or Parquet file", got: unreadable[1], hint: unreadable[2] });
  if (suffix === "parquet" || start === "PAR1") return openParquet(file);
  if (suffix === null) throw new Refused(file.name, { expected: "a CSV, TSV, JSON lines or Parquet file" });
  const pieces = (most: number, tell: (share: number) => void): AsyncGenerator<Uint8Array> => piecesOf(file, packed, layout.encoding, most, tell);
  const head = await firstOf(pieces, HEAD);
  if (!head.bytes.length) throw new Refused(file.name, { got: "an empty file" });
  return suffix === "jsonl" ? jsonTable(head, pieces) : csvTable(head, pieces, suffix === "tsv" ? { ...layout, delimiter: "\t" } : layout);
}

/** The column names and the first three rows of a text file as a layout splits them; nothing of other files. */
export async function firstRows(file: File, { decimal, delimiter, encoding }: Layout): Promise<string[][]> {
  const [suffix, packed] = suffixOf(file.name);
  if (suffix !== "csv" && suffix !== "tsv") return [];
  const { bytes } = await firstOf((most, tell) => unpacked(file, packed, most, tell), HEAD);
  return splitRows(new TextDecoder(encoding).decode(bytes.subarray(0, HEAD)), decimal, suffix === "tsv" ? "\t" : delimiter, 4);
}

/** Files that are known by their first bytes, and what to do with them. */
const UNREADABLE: readonly (readonly [start: string, got: string, hint: string])[] = [
  ["PK\x03\x04", "an Excel workbook or a ZIP archive", "save the workbook as CSV, or unpack the archive"],
  ["\xd0\xcf\x11\xe0", "an old Excel workbook", "save it as CSV"],
  ["%PDF", "a PDF file", "export the table as CSV"],
];

type Suffix = "csv" | "tsv" | "jsonl" | "parquet" | null;
type Pieces = (most: number, tell: (share: number) => void) => AsyncGenerator<Uint8Array>;
const SUFFIXES: Record<string, Suffix> = { csv: "csv", txt: "csv", tsv: "tsv", tab: "tsv", jsonl: "jsonl", ndjson: "jsonl", json: "jsonl", parquet: "parquet", pq: "parquet" };

function suffixOf(name: string): [Suffix, string] {
  const parts = name.toLowerCase().split(".");
  const packed = ["gz", "zst"].includes(parts[parts.length - 1]!) ? parts.pop()! : "";
  return [SUFFIXES[parts[parts.length - 1]!] ?? null, packed];
}

/** The text of a file in UTF-8, piece by piece. */
async function* piecesOf(file: File, packed: string, encoding: string, most: number, tell: (share: number) => void): AsyncGenerator<Uint8Array> {
  const decoder = encoding === "utf-8" ? null : new TextDecoder(encoding, { fatal: true });
  const encoder = new TextEncoder();
  for await (const piece of unpacked(file, packed, most, tell)) {
    try {
      yield decoder ? encoder.encode(decoder.decode(piece, { stream: true })) : piece;
    } catch {
      throw new Refused(file.name, { expected: `${encoding} text`, got: "other bytes", hint: "name its encoding" });
    }
  }
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
      throw error instanceof Refused ? error : new Refused(file.name, { got: "what zstd cannot unpack" });
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
    throw new Refused(file.name, { got: "what gzip cannot unpack" });
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

interface Head { readonly bytes: Uint8Array; readonly all: boolean }

async function firstOf(pieces: Pieces, size: number): Promise<Head> {
  const found: Uint8Array[] = [];
  let length = 0;
  let all = true;
  for await (const piece of pieces(size, () => undefined)) {
    if (length >= size) {
      all = false;
      break;
    }
    found.push(piece);
    length += piece.length;
  }
  return { bytes: new Uint8Array(await new Blob(found as BlobPart[]).arrayBuffer()), all };
}

/** What takes the bytes of a file and has its rows. */
interface Scan {
  readonly scanner: { take(piece: Uint8Array): void; finish(): void };
  readonly rows: Rows;
}

/** A table whose rows are scanned; `finished` is called with the columns that were asked for once all rows are read. */
function scannedTable(columns: readonly string[], untyped: boolean, head: Head, pieces: Pieces, scan: (wanted: Wanted) => Scan, finished: (names: readonly string[]) => void): Table {
  const once = columns.filter((name, place) => columns.indexOf(name) === place && columns.lastIndexOf(name) === place);
  return {
    columns,
    untyped,
    read: async (wanted, tell) => {
      const { scanner, rows } = scan(wanted);
      for await (const piece of pieces(PIECE, tell)) scanner.take(piece);
      scanner.finish();
      finished([...wanted.numbers, ...wanted.names]);
      return rows;
    },
    head: async () => {
      const { scanner, rows } = scan({ numbers: once, names: once });
      scanner.take(head.bytes);
      if (head.all) scanner.finish();
      return Object.assign(rows, { all: head.all });
    },
  };
}

/** Each column's sinks: one for its numbers, one for its names. */
function sinksOf<N, T>(wanted: Wanted, number: () => N, name: () => T): { numbers: Map<string, N>; names: Map<string, T>; of: (column: string) => (N | T)[] } {
  const numbers = new Map(wanted.numbers.map((column) => [column, number()]));
  const names = new Map(wanted.names.map((column) => [column, name()]));
  return { numbers, names, of: (column) => [numbers.get(column), names.get(column)].filter((sink) => sink !== undefined) };
}

function csvTable(head: Head, pieces: Pieces, { decimal, delimiter }: Layout): Table {
  const dialect = dialectOf(head.bytes, decimal, delimiter);
  const { columns } = dialect;
  const scan = (wanted: Wanted): Scan => {
    for (const name of [...wanted.numbers, ...wanted.names]) placeOf(columns, name);
    const { numbers, names, of } = sinksOf(wanted, () => new NumberSink(decimal, true), () => new NameSink());
    const scanner = new CsvScanner(dialect, columns.map(of));
    const rows: Rows = {
      get rows() {
        return Math.max(0, scanner.rows);
      },
      numbers: (name, subject) => numbers.get(name)!.finish(rows.rows, subject),
      names: (name) => names.get(name)!.finish(rows.rows, decimal),
    };
    return { scanner, rows };
  };
  return scannedTable(columns, true, head, pieces, scan, () => undefined);
}

function jsonTable(head: Head, pieces: Pieces): Table {
  let scanner: JsonScanner;
  const scan = (wanted: Wanted): Scan => {
    const { numbers, names, of } = sinksOf(wanted, () => new NumberSink(".", false), () => new JsonNames());
    const own = (scanner = new JsonScanner(new Map([...wanted.numbers, ...wanted.names].map((name) => [name, of(name)]))));
    const rows: Rows = {
      get rows() {
        return own.rows;
      },
      numbers: (name, subject) => numbers.get(name)!.finish(own.rows, subject),
      names: (name, subject) => names.get(name)!.finish(own.rows, subject),
    };
    return { scanner, rows };
  };
  const first = scan({ numbers: [], names: [] }).scanner;
  first.take(head.bytes);
  if (head.all) first.finish();
  return scannedTable([...scanner!.columns], false, head, pieces, scan, (names) => names.forEach((name) => placeOf([...scanner.columns], name)));
}
