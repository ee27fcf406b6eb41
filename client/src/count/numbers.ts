/** Columns of numbers, each in its own type: no score is rounded. */

export type Values = Float64Array | Float32Array | BigInt64Array | BigUint64Array | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array;

/** What NumPy calls the type of such a column. */
export type NumberType = "float64" | "float32" | "int64" | "uint64" | "int32" | "uint32" | "int16" | "uint16" | "int8" | "uint8";

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

/** The rows of a column that are kept. */
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

/** Rows in the order of their values, from the lowest up; equal ones as they come. -0 equals 0. */
export function increasing(values: Values): Uint32Array {
  const [high, low] = keys(values);
  const rows = new Uint32Array(values.length);
  for (let row = 0; row < rows.length; row++) rows[row] = row;
  const nearly = sorted(rows, [[high, 0], [high, 16]]);
  return settled(nearly, high, low) ? nearly : sorted(sorted(rows, [[low, 0], [low, 16]]), [[high, 0], [high, 16]]);
}

/** Rows by digits of sixteen bits, the last digit given counting most; equal ones as they were. */
function sorted(rows: Uint32Array, digits: readonly (readonly [word: Uint32Array, shift: number])[]): Uint32Array {
  let [from, to] = [rows.slice(), new Uint32Array(rows.length)];
  for (const [word, shift] of digits) {
    const places = starts(word, shift);
    if (!places) continue;
    for (let i = 0; i < from.length; i++) {
      const row = from[i]!;
      const digit = (word[row]! >>> shift) & 65535;
      to[places[digit]!++] = row;
    }
    [from, to] = [to, from];
  }
  return from;
}

const LONG = 64; // rows of one high word, from which on moving them one by one takes too long: a choice

/** Order rows of one high word by their low ones, where that is little work, and say whether it was. */
function settled(rows: Uint32Array, high: Uint32Array, low: Uint32Array): boolean {
  for (let start = 0, end = 0; start < rows.length; start = end) {
    const word = high[rows[start]!]!;
    for (end = start + 1; end < rows.length && high[rows[end]!] === word; end++);
    const many = end - start > LONG;
    for (let i = start + 1; i < end; i++) {
      const row = rows[i]!;
      let at = i;
      for (; at > start && low[rows[at - 1]!]! > low[row]!; at--) {
        if (many) return false;
        rows[at] = rows[at - 1]!;
      }
      rows[at] = row;
    }
  }
  return true;
}

/** Where each digit begins among sorted ones; null where all are the same. */
function starts(word: Uint32Array, shift: number): Uint32Array | null {
  const places = new Uint32Array(65537);
  for (let i = 0; i < word.length; i++) places[((word[i]! >>> shift) & 65535) + 1]!++;
  for (let digit = 0; digit < 65536; digit++) {
    if (places[digit + 1] === word.length) return null;
    places[digit + 1]! += places[digit]!;
  }
  return places;
}

/** Each value as two words that are ordered as it is. */
function keys(values: Values): [high: Uint32Array, low: Uint32Array] {
  const [high, low] = [new Uint32Array(values.length), new Uint32Array(values.length)];
  const big = isBig(values);
  const wide = big ? values : floats(values);
  const words = new Uint32Array(wide.buffer, wide.byteOffset, 2 * wide.length); // little-endian, as all browsers are
  const flip = values instanceof BigUint64Array ? 0 : 0x80000000;
  for (let i = 0; i < values.length; i++) {
    const [bottom, top] = [words[2 * i]!, words[2 * i + 1]!];
    if (!big && top >>> 31 && (top !== 0x80000000 || bottom)) {
      high[i] = ~top;
      low[i] = ~bottom;
    } else {
      high[i] = big ? top ^ flip : top | flip;
      low[i] = bottom;
    }
  }
  return [high, low];
}
