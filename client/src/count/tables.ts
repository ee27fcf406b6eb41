/** Files as columns: CSV, TSV, JSON lines and Parquet, plain or packed with gzip or zstd. */

import { Decompress } from "fzstd";

import type { Layout } from "../open/messages";
import { CsvScanner, dialectOf } from "./csv";
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
  if (suffix === "parquet" || String.fromCharCode(...magic) === "PAR1") return openParquet(file);
  if (suffix === null) throw new Refused(file.name, { expected: "a CSV, TSV, JSON lines or Parquet file" });
  const pieces = (most: number, tell: (share: number) => void): AsyncGenerator<Uint8Array> => piecesOf(file, packed, layout.encoding, most, tell);
  const head = await firstOf(pieces, HEAD);
  if (!head.bytes.length) throw new Refused(file.name, { got: "an empty file" });
  return suffix === "jsonl" ? jsonTable(head, pieces) : csvTable(head, pieces, suffix === "tsv" ? { ...layout, delimiter: "\t" } : layout);
}

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

interface Head {
  readonly bytes: Uint8Array;
  readonly all: boolean;
}

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

function csvTable(head: Head, pieces: Pieces, layout: Layout): Table {
  const dialect = dialectOf(head.bytes, layout.decimal, layout.delimiter);
  const { columns } = dialect;
  const scanner = (wanted: Wanted): [CsvScanner, (rows: () => number) => Rows] => {
    const numbers = new Map(wanted.numbers.map((name) => [name, new NumberSink(layout.decimal, true)]));
    const names = new Map(wanted.names.map((name) => [name, new NameSink()]));
    const sinks = columns.map((name) => [...(numbers.has(name) ? [numbers.get(name)!] : []), ...(names.has(name) ? [names.get(name)!] : [])]);
    for (const name of [...wanted.numbers, ...wanted.names]) placeOf(columns, name);
    return [
      new CsvScanner(dialect, sinks),
      (rows) => ({
        rows: rows(),
        numbers: (name, subject) => numbers.get(name)!.finish(rows(), subject),
        names: (name) => names.get(name)!.finish(rows(), layout.decimal),
      }),
    ];
  };
  return {
    columns,
    untyped: true,
    read: async (wanted, tell) => {
      const [scan, rows] = scanner(wanted);
      for await (const piece of pieces(PIECE, tell)) scan.take(piece);
      scan.finish();
      return rows(() => Math.max(0, scan.rows));
    },
    head: async () => {
      const once = columns.filter((name, place) => columns.indexOf(name) === place && columns.lastIndexOf(name) === place);
      const [scan, rows] = scanner({ numbers: once, names: once });
      scan.take(head.bytes);
      if (head.all) scan.finish();
      return { ...rows(() => Math.max(0, scan.rows)), all: head.all };
    },
  };
}

function jsonTable(head: Head, pieces: Pieces): Table {
  const scanner = (wanted: Wanted): [JsonScanner, Rows] => {
    const numbers = new Map(wanted.numbers.map((name) => [name, new NumberSink(".", false)]));
    const names = new Map(wanted.names.map((name) => [name, new JsonNames()]));
    const all = [...new Set([...wanted.numbers, ...wanted.names])];
    const scan = new JsonScanner(new Map(all.map((name) => [name, [...(numbers.has(name) ? [numbers.get(name)!] : []), ...(names.has(name) ? [names.get(name)!] : [])]])));
    return [
      scan,
      {
        get rows() {
          return scan.rows;
        },
        numbers: (name, subject) => numbers.get(name)!.finish(scan.rows, subject),
        names: (name, subject) => names.get(name)!.finish(scan.rows, subject),
      },
    ];
  };
  const first = scanner({ numbers: [], names: [] })[0];
  first.take(head.bytes);
  if (head.all) first.finish();
  const columns = [...first.columns];
  return {
    columns,
    untyped: false,
    read: async (wanted, tell) => {
      const [scan, rows] = scanner(wanted);
      for await (const piece of pieces(PIECE, tell)) scan.take(piece);
      scan.finish();
      for (const name of [...wanted.numbers, ...wanted.names]) placeOf([...scan.columns], name);
      return rows;
    },
    head: async () => {
      const [scan, rows] = scanner({ numbers: columns, names: columns });
      scan.take(head.bytes);
      return { rows: rows.rows, numbers: rows.numbers, names: rows.names, all: head.all };
    },
  };
}
