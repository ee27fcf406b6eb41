/** Tables and their columns, each in its own type: no score is rounded. */

import { MOST_COLUMNS_LISTED } from "../constants.json";
import { listing, Refused, shown } from "./errors";
import type { Names } from "./sinks";

/** Arrays by what NumPy calls their type. */
export const ARRAYS = {
  float64: Float64Array,
  float32: Float32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
};

export type NumberType = keyof typeof ARRAYS;
export type Values = Float64Array | Float32Array | BigInt64Array | BigUint64Array | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array;

export interface Numbers {
  readonly type: NumberType;
  /** Whole numbers of 64 bits are floats here where these hold all of them. */
  readonly values: Values;
  /** 1 where a value is missing or infinite; null where none is. */
  readonly missing: Uint8Array | null;
}

/** The first whole number whose neighbours a float does not tell apart. */
export const FIRST_ROUNDED = 2 ** 53;

export const isBig = (values: Values): values is BigInt64Array | BigUint64Array =>
  values instanceof BigInt64Array || values instanceof BigUint64Array;

export const isFloat = (type: NumberType): boolean => type.startsWith("f");

/** Values as floats, which those of 64 bits may round. */
export function floats(values: Values): Float64Array {
  if (values instanceof Float64Array) return values;
  return isBig(values) ? Float64Array.from(values, Number) : new Float64Array(values);
}

export function keep<T extends Values | Int32Array>(values: T, rows: Uint32Array): T {
  const kept = new (values.constructor as new (n: number) => T)(rows.length);
  for (let i = 0; i < rows.length; i++) kept[i] = values[rows[i]!]!;
  return kept;
}

/** Whole numbers as those of 64 bits, which takes a float apart sooner than BigInt does. */
export function asInt64(whole: Float64Array): BigInt64Array {
  const wide = new BigInt64Array(whole.length);
  const words = new Int32Array(wide.buffer);
  for (let i = 0; i < whole.length; i++) {
    const high = Math.floor(whole[i]! / 2 ** 32);
    words[2 * i] = whole[i]! - high * 2 ** 32;
    words[2 * i + 1] = high;
  }
  return wide;
}

export interface Rows {
  readonly rows: number;
  numbers(column: string, subject: string): Numbers;
  names(column: string, subject: string): Names;
  /** How numbers with marks were read, once they were. */
  readonly notes?: readonly string[];
  /** A column as it was written, where the file is text. */
  texts(column: string, subject: string): Names;
}

export interface Wanted { readonly numbers: readonly string[]; readonly names: readonly string[] }

export interface Table {
  readonly columns: readonly string[];
  /** Whether every value was written as text, as in CSV. */
  readonly untyped: boolean;
  readonly encoding?: string;
  read(wanted: Wanted, tell: (share: number) => void): Promise<Rows>;
  /** Some of the first rows. */
  head(): Promise<Rows>;
}

export const onlyOnce = (columns: readonly string[]): string[] => columns.filter((name) => columns.indexOf(name) === columns.lastIndexOf(name));

/** Columns by name; a name that several have, or none, is refused. */
export function placeOf(columns: readonly string[], name: string): number {
  const found = columns.flatMap((column, place) => (column === name ? [place] : []));
  if (found.length === 1) return found[0]!;
  if (found.length) throw new Refused("the file", { expected: `one column named ${shown(name)}`, got: `${found.length} columns` });
  throw new Refused("the file", { expected: `one of ${listing(columns.map((column) => shown(column)), MOST_COLUMNS_LISTED)}`, got: shown(name) });
}
