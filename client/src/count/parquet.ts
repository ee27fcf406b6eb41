/** Parquet files as columns, a group of rows after the other. */

import { decompress as unzstd } from "fzstd";
import { type Compressors, type FileMetaData, parquetMetadataAsync, parquetRead, type SchemaElement } from "hyparquet";
import { gunzip } from "hyparquet-compressors/src/gzip.js";
import { decompressLz4, decompressLz4Raw } from "hyparquet-compressors/src/lz4.js";

import { DECIMAL_DIGITS, DECIMAL_PLACES } from "../constants.json";
import { message } from "../format";
import { Refused } from "./errors";
import { type Label, missingOf, type Names } from "./sinks";
import { ARRAYS, type Numbers, type NumberType, placeOf, type Rows, type Table, type Values, type Wanted } from "./table";

const COMPRESSORS: Compressors = {
  GZIP: (input, size) => gunzip(input, new Uint8Array(size)),
  ZSTD: (input) => unzstd(input), // given an array to fill, it compares that with 1 as text, which takes longer than the rest
  LZ4: decompressLz4,
  LZ4_RAW: (input, size) => (size ? decompressLz4Raw(input, size) : new Uint8Array(0)), // which takes an empty block for a broken one
  BROTLI: () => {
    throw new Refused("the file", { expected: "a compression other than brotli", hint: "write it with zstd or snappy" });
  },
};
const HEAD_ROWS = 2000; // rows from which the use of columns is guessed
const MOST_DECIMAL = 10n ** BigInt(DECIMAL_DIGITS);

interface Declared { readonly kind: NumberType | "bool" | "text" | "date" | "time" | "decimal" | "other"; readonly scale: number }

export async function openParquet(file: File): Promise<Table> {
  const buffer = { byteLength: file.size, slice: (start: number, end?: number) => file.slice(start, end).arrayBuffer() };
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(buffer, { geoparquet: false });
  } catch {
    throw new Refused(file.name, { expected: "a complete Parquet file", got: "an incomplete Parquet file", hint: "copy or write the file again" });
  }
  const [root, ...elements] = metadata.schema;
  const declared = new Map<string, Declared>();
  const columns: string[] = [];
  for (let i = 0, left = root?.num_children ?? 0; left > 0; left--) {
    const element = elements[i]!;
    const nested = sizeOf(elements, i);
    columns.push(element.name);
    declared.set(element.name, nested > 1 || element.repetition_type === "REPEATED" ? { kind: "other", scale: 0 } : declaredBy(element));
    i += nested;
    if (declared.get(element.name)!.kind !== "decimal") continue;
    delete element.converted_type; // read as they are: the library would round them
    delete element.logical_type;
  }
  const total = Number(metadata.num_rows);
  const read = async (wanted: Wanted, most: number, tell: (share: number) => void): Promise<Rows> => {
    const names = [...new Set([...wanted.numbers, ...wanted.names])];
    for (const name of names) placeOf(columns, name);
    const flat = names.filter((name) => declared.get(name)!.kind !== "other");
    const rows = Math.min(total, most);
    const builders = new Map(flat.map((name) => [name, new Builder(declared.get(name)!, rows)]));
    let start = 0;
    for (const group of metadata.row_groups) {
      const end = Math.min(rows, start + Number(group.num_rows));
      if (end <= start) break;
      try {
        await parquetRead({
          file: buffer,
          metadata,
          columns: flat,
          rowStart: start,
          rowEnd: end,
          utf8: false,
          geoparquet: false,
          compressors: COMPRESSORS,
          onChunk: ({ columnName, columnData, rowStart }) => builders.get(columnName)?.take(columnData, rowStart),
        });
      } catch (error) {
        if (error instanceof Refused) throw error;
        throw new Refused(file.name, { got: `a file that cannot be read as Parquet (${message(error)})` });
      }
      start = end;
      tell(start / total);
    }
    const built = (name: string, subject: string): Builder => {
      const found = builders.get(name);
      if (!found) throw new Refused(subject, { expected: "text, numbers or dates", got: "lists or structures" });
      return found;
    };
    const named = (name: string, subject: string): Names => built(name, subject).names(subject);
    return { rows, numbers: (name, subject) => built(name, subject).numbers(subject), names: named, texts: named };
  };
  return {
    columns,
    untyped: false,
    read: (wanted, tell) => read(wanted, Infinity, tell),
    head: () => read({ numbers: columns, names: [] }, HEAD_ROWS, () => undefined),
  };
}

/** How many elements of the schema a column takes, with what is nested in it. */
function sizeOf(elements: readonly SchemaElement[], at: number): number {
  let size = 1;
  for (let left = elements[at]?.num_children ?? 0; left > 0; left--) size += sizeOf(elements, at + size);
  return size;
}

function declaredBy({ type, converted_type: converted, logical_type: logical, scale = 0 }: SchemaElement): Declared {
  const as = (kind: Declared["kind"]): Declared => ({ kind, scale });
  if (converted === "DECIMAL" || logical?.type === "DECIMAL") return as("decimal");
  if (converted === "DATE" || logical?.type === "DATE") return as("date");
  if (type === "INT96" || converted?.startsWith("TIME") || logical?.type?.startsWith("TIME")) return as("time");
  if (logical?.type === "FLOAT16") return as("float32");
  if (type === "BOOLEAN") return as("bool");
  if (type === "FLOAT") return as("float32");
  if (type === "DOUBLE") return as("float64");
  if (type === "INT32" || type === "INT64") {
    const bits = type === "INT32" ? 32 : 64;
    const [, unsigned, width] = /^(U?)INT_(\d+)$/.exec(converted ?? "") ?? ["", "", bits];
    if (logical?.type === "INTEGER") return as(`${logical.isSigned ? "" : "u"}int${logical.bitWidth}` as NumberType);
    return as(`${unsigned ? "u" : ""}int${width}` as NumberType);
  }
  const isText = converted === "UTF8" || converted === "ENUM" || logical?.type === "STRING" || logical?.type === "ENUM";
  return as(type === "BYTE_ARRAY" && isText ? "text" : "other");
}

/** The values of a column as they come, chunk by chunk. */
class Builder {
  private readonly values: Values | unknown[];
  private missing: Uint8Array | null = null;

  constructor(private readonly declared: Declared, private readonly rows: number) {
    const { kind } = declared;
    this.values = kind === "bool" ? new Uint8Array(rows) : kind in ARRAYS ? new ARRAYS[kind as NumberType](rows) : new Array<unknown>(rows);
  }

  take(chunk: ArrayLike<unknown>, from: number): void {
    const size = Math.min(chunk.length, this.rows - from);
    const typed = this.values as Values;
    if (!Array.isArray(this.values) && ArrayBuffer.isView(chunk) && chunk.constructor === this.values.constructor) {
      (typed as Float64Array).set((chunk as Float64Array).subarray(0, size), from);
      return;
    }
    const text = this.declared.kind === "text" ? new TextDecoder() : null;
    for (let i = 0; i < size; i++) {
      const value = chunk[i];
      if (value === null || value === undefined) {
        this.missing ??= new Uint8Array(this.rows);
        this.missing[from + i] = 1;
      } else if (Array.isArray(this.values)) this.values[from + i] = text && value instanceof Uint8Array ? text.decode(value) : value;
      else typed[from + i] = value as never;
    }
  }

  numbers(subject: string): Numbers {
    const { kind, scale } = this.declared;
    if (kind === "decimal") return this.decimals(scale, subject);
    if (Array.isArray(this.values)) throw new Refused(subject, { expected: "numbers", got: kind === "text" ? textIn(this.values) : `values of type ${kind}`, hint: "convert the column to numbers first" });
    const type = kind === "bool" ? "uint8" : (kind as NumberType);
    if (!(this.values instanceof Float64Array || this.values instanceof Float32Array)) return { type, values: this.values, missing: this.missing };
    const infinite = missingOf(this.values);
    infinite?.forEach((one, row) => one && (this.missing ??= new Uint8Array(this.rows)) && (this.missing[row] = 1));
    return { type, values: this.values, missing: this.missing };
  }

  /** Whole decimals as whole numbers; others as floats where these keep their order, by a quotient of exact numbers. */
  private decimals(scale: number, subject: string): Numbers {
    const exact = Array.from(this.values as unknown[], (value) => (value === undefined ? 0n : value instanceof Uint8Array ? signed(value) : BigInt(value as number)));
    if (scale <= 0) {
      const within = (low: bigint, high: bigint): boolean => exact.every((value) => value >= low && value < high);
      if (within(-(2n ** 63n), 2n ** 63n)) return { type: "int64", values: BigInt64Array.from(exact), missing: this.missing };
      if (within(0n, 2n ** 64n)) return { type: "uint64", values: BigUint64Array.from(exact), missing: this.missing };
    } else if (scale <= DECIMAL_PLACES && exact.every((value) => value < MOST_DECIMAL && value > -MOST_DECIMAL)) {
      return { type: "float64", values: Float64Array.from(exact, (value) => Number(value) / 10 ** scale), missing: this.missing };
    }
    throw new Refused(subject, { expected: `numbers of 64 bits, or decimals of at most ${DECIMAL_DIGITS} digits`, got: `decimals of scale ${scale}` });
  }

  names(subject: string): Names {
    const { kind } = this.declared;
    const values = kind === "decimal" ? this.numbers(subject).values : this.values;
    const codes = new Int32Array(this.rows);
    const classes: Label[] = [];
    const known = new Map<unknown, number>();
    for (let row = 0; row < this.rows; row++) {
      if (this.missing?.[row] || values[row] === undefined || Number.isNaN(values[row])) {
        codes[row] = -1;
        continue;
      }
      let value = values[row] as Label | Date;
      if (value instanceof Date) value = kind === "date" ? value.toISOString().slice(0, 10) : value.toISOString();
      if (kind === "bool") value = Boolean(value);
      if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) value = Number(value);
      let code = known.get(value);
      if (code === undefined) known.set(value, (code = classes.push(value) - 1));
      codes[row] = code;
    }
    const named = kind === "bool" ? "bool" : kind.startsWith("float") || (kind === "decimal" && this.declared.scale > 0) ? "float" : Array.isArray(this.values) && kind !== "decimal" ? "text" : "whole";
    return { classes, codes, kind: named };
  }
}

function textIn(values: readonly unknown[]): string {
  const row = values.findIndex((value) => value !== undefined);
  return `text, such as '${String(values[row])}' in row ${row}`;
}

function signed(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, value);
}
