/** From the texts of fields to a column: of numbers, none of which is rounded unseen, or of names. */

import { BODY, CURRENCY, DECIMAL_DIGITS, NA_WORDS, NEGATIVE, NUMBERS, NUMERAL, SPACE } from "../constants.json";
import { Refused, shown } from "./errors";
import { FIRST_ROUNDED, type Numbers } from "./table";

/** A column of labels, folds or segments. */
export interface Names {
  readonly classes: readonly Label[];
  /** Of each row the place of its class, -1 where it is missing. */
  readonly codes: Int32Array;
  /** What all classes are; "text" also of a file that knows nothing else. */
  readonly kind: "text" | "whole" | "float" | "bool";
}

export type Label = string | number | bigint | boolean;

export interface Sink {
  /** Take a field of a row. */
  take(text: string, row: number): void;
}

const MISSING = new Set(["", ...NA_WORDS]);
const SPECIAL = /^[+-]?(?:nan|inf(?:inity)?)$/i;
const WHOLE_OF_64_BITS = "whole numbers that fit in 64 bits or that float64 represents exactly";
/** A number with the other decimal mark. */
const OTHER_MARK: Record<Decimal, RegExp> = { ".": /^[+-]?[\d.]*,\d+$/, ",": /^[+-]?[\d.]*\.\d+(,\d*)?$/ };
/** Spaces around numbers that are not noted; others are, such as those that do not break. */
const PLAIN_SPACES = /^[\t-\r ]+|[\t-\r ]+$/g;

export function grown<T extends Float64Array | Int32Array>(column: T, row: number): T {
  if (row < column.length) return column;
  const wider = new (column.constructor as new (n: number) => T)(Math.max(2 * column.length, row + 1));
  wider.set(column);
  return wider;
}

/** A column of numbers that were written. */
export class NumberSink implements Sink {
  private values = new Float64Array(1024);
  /** Whole numbers of more digits than a float is sure to hold, by row. */
  private readonly large = new Map<number, string>();
  private whole = true;
  private plus = false;
  private words = false;
  private strange: { row: number; text: string } | null = null;
  private truth = false;
  /** Whether all that is strange are numbers with marks, and whether points are known to be decimal marks. */
  private marksOnly = true;
  private settled: boolean;
  private readonly decimal: Decimal;

  /**
   * @param named the decimal mark, where it is known
   * @param untyped whether the file knows nothing but text, so that words may stand for missing values
   */
  constructor(private readonly named: Decimal | null, private readonly untyped: boolean) {
    this.decimal = named ?? ".";
    this.settled = named !== null || !untyped;
  }

  /** Whether marks of numbers decide how the column is read, for which all its texts are needed. */
  get unclear(): boolean {
    return this.untyped && this.marksOnly && (this.strange !== null || (!this.settled && !this.whole));
  }

  take(text: string, row: number): void {
    this.set(row, this.read(text, row));
  }

  private set(row: number, value: number): void {
    if (row >= this.values.length) this.values = grown(this.values, row);
    this.values[row] = value;
  }

  /** A value that JSON has beside numbers. */
  takeWord(word: "true" | "false" | "null", row: number): void {
    if (word !== "null") this.truth = true;
    this.set(row, word === "null" ? NaN : Number(word === "true"));
  }

  private read(text: string, row: number): number {
    if (!PLAIN[this.decimal].test(text)) return this.special(text, row);
    if (text[0] === "+") this.plus = true;
    if (/[.,e]/i.test(text)) {
      this.whole = false;
      this.settled ||= !/\.\d{3}(?!\d)/.test(text) || !FITS[","].test(text); // 0.5 has a decimal point, and 2.687 may be 2687
    } else if (text.length > DECIMAL_DIGITS) this.large.set(row, text.replace("+", ""));
    return Number(text.replace(this.decimal, "."));
  }

  private special(text: string, row: number): number {
    const bare = text.trim();
    const spaced = text.replace(PLAIN_SPACES, "");
    if (spaced === "") return NaN;
    if (this.untyped && (spaced !== bare || MISSING.has(bare))) this.words = true;
    if (this.untyped && MISSING.has(bare)) return NaN;
    if (SPECIAL.test(bare)) {
      this.whole = false;
      return bare.toLowerCase().endsWith("nan") ? NaN : Infinity;
    }
    if (bare !== text && (this.untyped || spaced === bare)) return this.read(bare, row);
    this.takeText(text, row);
    this.marksOnly &&= isNumeral(text, this.named);
    return NaN;
  }

  /** A value that is no number, whatever the file is. */
  takeText(text: string, row: number): void {
    this.set(row, NaN);
    if (!this.strange || row < this.strange.row) this.strange = { row, text };
  }

  /** The column of so many rows, which errors call `subject`. */
  finish(rows: number, subject: string): Numbers {
    if (this.strange || (this.words && this.plus)) {
      const { row, text } = this.strange ?? { row: 0, text: "+" };
      const hint = this.untyped && OTHER_MARK[this.decimal].test(text) ? "choose the decimal mark" : "correct such values, or do not use the column";
      throw new Refused(subject, { expected: "numbers", got: `text, such as ${shown(text)} in row ${row}`, hint });
    }
    const values = grown(this.values, rows - 1).slice(0, rows);
    if (this.truth && (this.large.size || !this.whole || values.some((value) => value > 1 || value < 0))) {
      throw new Refused(subject, { expected: "numbers", got: "truth values among numbers" });
    }
    const missing = missingOf(values);
    if (this.truth) return { type: "uint8", values: Uint8Array.from(values), missing };
    if (this.whole && !this.plus) return this.wholes(values, missing, subject);
    for (const [row, text] of this.large) if (row < rows) requireKept(text, values[row]!, row, subject);
    return { type: "float64", values, missing };
  }

  private wholes(values: Float64Array, missing: Uint8Array | null, subject: string): Numbers {
    const large = [...this.large].filter(([row]) => row < values.length).map(([row, text]) => [row, BigInt(text)] as const);
    const [least, most] = large.reduce(([a, b], [, n]) => [n < a ? n : a, n > b ? n : b], [0n, 0n]);
    if (most <= FIRST_ROUNDED && least >= -FIRST_ROUNDED) return { type: "int64", values, missing };
    const signed = least >= -(2n ** 63n) && most < 2n ** 63n;
    if (!signed && (least < 0n || most >= 2n ** 64n || values.some((value) => value < 0))) {
      if (this.words) {
        for (const [row, whole] of large) requireKept(String(whole), values[row]!, row, subject);
        return { type: "float64", values, missing };
      }
      throw new Refused(subject, { expected: "numbers of 64 bits", got: String(most >= 2n ** 63n ? most : least) });
    }
    const exact = new (signed ? BigInt64Array : BigUint64Array)(values.length);
    values.forEach((value, row) => (exact[row] = Number.isFinite(value) && Math.abs(value) < FIRST_ROUNDED ? BigInt(value) : 0n));
    for (const [row, whole] of large) exact[row] = whole;
    return { type: signed ? "int64" : "uint64", values: exact, missing };
  }
}

function requireKept(text: string, value: number, row: number, subject: string): void {
  if (Number.isFinite(value) && BigInt(value) === BigInt(text)) return;
  throw new Refused(subject, { expected: WHOLE_OF_64_BITS, got: `${text} in row ${row}`, hint: "write the number with a decimal point or an exponent, if rounding does not matter" });
}

export function missingOf(values: ArrayLike<number>): Uint8Array | null {
  let missing: Uint8Array | null = null;
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    missing ??= new Uint8Array(values.length);
    missing[i] = 1;
  }
  return missing;
}

export class NameSink implements Sink {
  private codes = new Int32Array(1024);
  /** Which kinds of values there were: as they are written, or in JSON texts and truth values. */
  private written = false;
  private text = false;
  private truth = false;
  private readonly texts: string[] = [];
  private readonly known = new Map<string, number>();

  take(text: string, row: number): void {
    this.written = true;
    this.set(row, text === "" ? -1 : this.codeOf(text));
  }

  takeText(text: string, row: number): void {
    this.text = true;
    this.set(row, this.codeOf(text));
  }

  takeWord(word: "true" | "false" | "null", row: number): void {
    this.truth ||= word !== "null";
    this.set(row, word === "null" ? -1 : this.codeOf(word));
  }

  private set(row: number, code: number): void {
    if (row >= this.codes.length) this.codes = grown(this.codes, row);
    this.codes[row] = code;
  }

  private codeOf(text: string): number {
    let code = this.known.get(text);
    if (code === undefined) this.known.set(text, (code = this.texts.push(text) - 1));
    return code;
  }

  raw(rows: number): Names {
    return { classes: this.texts, codes: grown(this.codes, rows - 1).slice(0, rows), kind: "text" };
  }

  /** The column of so many rows as numbers with marks; null where they have none, or are no numbers. */
  numbers(rows: number, decimal: Decimal | null, subject: string, say: (note: string) => void): Numbers | null {
    const { codes } = this.raw(rows);
    const used = new Set(codes);
    const reading = readingOf(this.texts.filter((_, code) => used.has(code)), decimal, subject);
    if (!reading) return null;
    say(reading.note);
    const sink = new NumberSink(".", true);
    const plain = this.texts.map((text, code) => (used.has(code) ? reading.number(text) : ""));
    codes.forEach((code, row) => sink.take(plain[code] ?? "", row));
    return sink.finish(rows, subject);
  }

  /** The column of so many rows: of numbers where all texts are numbers. */
  finish(rows: number, named: Decimal | null, subject: string): Names {
    if (Number(this.written) + Number(this.text) + Number(this.truth) > 1) throw new Refused(subject, { expected: "text, numbers or dates", got: "values of several types", hint: "write it as text" });
    const names = this.raw(rows);
    const { texts } = this;
    if (this.text) return names;
    if (this.truth) return { ...names, classes: texts.map((text) => text === "true"), kind: "bool" };
    const { codes } = names;
    const decimal = named ?? ".";
    const reading = readingOf(texts, named, subject);
    if (reading) return recoded(codes, texts, (text) => (reading.number(text) ? Number(reading.number(text)) : NaN), texts.some((text) => /[.e]/.test(reading.number(text))) ? "float" : "whole");
    const trimmed = (text: string): string => text.replace(/^[ \t\v\f]+|[ \t\v\f]+$/g, "");
    const whole = texts.every((text) => /^-?\d+$/.test(trimmed(text)));
    const number = (text: string): number => {
      const bare = trimmed(text);
      if (SPECIAL.test(bare)) return NaN;
      return PLAIN[decimal].test(bare) ? Number(bare.replace(decimal, ".")) : Infinity;
    };
    const numbers = texts.map(number);
    if (whole) return recoded(codes, this.texts, (text) => wholeOf(trimmed(text)), "whole");
    if (!numbers.includes(Infinity)) return recoded(codes, this.texts, number, "float");
    return names;
  }
}

const wholeOf = (text: string): number | bigint => (Number.isSafeInteger(Number(text)) ? Number(text) || 0 : BigInt(text));

/** Names as the values that they stand for, equal ones as one; NaN is missing. */
export function recoded(codes: Int32Array, texts: readonly string[], value: (text: string) => number | bigint, kind: Names["kind"]): Names {
  const classes: Label[] = [];
  const known = new Map<Label, number>();
  const code = texts.map((text) => {
    const found = value(text);
    if (Number.isNaN(found)) return -1;
    if (!known.has(found)) known.set(found, classes.push(found) - 1);
    return known.get(found)!;
  });
  return { classes, codes: codes.map((old) => (old < 0 ? -1 : code[old]!)), kind };
}

export type Decimal = "." | ",";

const numeral = (number: string): RegExp => new RegExp(`^(?:${NUMERAL.replaceAll("<n>", number).replaceAll("<c>", CURRENCY).replaceAll("<s>", SPACE)})$`);
const FITS: Record<Decimal, RegExp> = { ".": numeral(NUMBERS["."]), ",": numeral(NUMBERS[","]) };
const PLAIN: Record<Decimal, RegExp> = { ".": /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i, ",": /^[+-]?(?:\d+,?\d*|,\d+)(?:e[+-]?\d+)?$/i };
const [DIGITS, MINUS, UNIT] = [new RegExp(BODY), new RegExp(NEGATIVE), new RegExp(`%|${CURRENCY}`)];

/** Whether a text is a numeral with a decimal mark, or with any. */
export const isNumeral = (text: string, decimal: Decimal | null): boolean => (decimal ? FITS[decimal].test(text) : FITS["."].test(text) || FITS[","].test(text));

/** The number that each text of a column stands for, empty for a missing one; null where they are no numbers, or plain ones. */
export function readingOf(texts: readonly string[], decimal: Decimal | null, subject: string) {
  const present = texts.filter((text) => !MISSING.has(text.trim()));
  const marks: Decimal[] = decimal ? [decimal] : [".", ","];
  const fitting = marks.filter((mark) => present.every((text) => FITS[mark].test(text)));
  if (!fitting.length || !present.length) return null;
  const marked = least(present.filter((text) => /[.,]/.test(bodyOf(text))));
  if (fitting.length > 1 && marked !== undefined) {
    const [mark, other]: Decimal[] = marked.includes(",") ? [",", "."] : [".", ","];
    const readings = [numberOf(marked, other!), numberOf(marked, mark!)];
    throw new Refused(subject, { expected: "numbers that can be read in only one way", got: `${shown(marked.trim())}, which may be ${readings.join(" or ")}`, hint: "choose the decimal mark" });
  }
  if (present.every((text) => PLAIN[decimal ?? "."].test(text.trim()))) return null;
  const units = new Set(present.map((text) => UNIT.exec(text)?.[0] ?? ""));
  const currencies = [...units].filter((unit) => unit !== "" && unit !== "%").sort();
  if (units.has("%") && units.size > 1) {
    throw new Refused(subject, { expected: "a % after all numbers or after none", got: `some numbers with % and some ${currencies.length ? `with ${currencies.join(" and ")}` : "without"}` });
  }
  if (currencies.length > 1) throw new Refused(subject, { expected: "amounts in one currency", got: `amounts in ${currencies.join(" and ")}` });
  const mark = fitting[0]!;
  const example = least(present.filter((text) => !/^\d+$/.test(text)))!;
  const number = (text: string): string => (MISSING.has(text.trim()) ? "" : numberOf(text, mark));
  return { number, note: `${shown(example.trim())} is read as ${Number(number(example))}` };
}

const least = (texts: readonly string[]): string | undefined => texts.reduce<string | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
const bodyOf = (text: string): string => DIGITS.exec(text)?.[0] ?? "";

/** The plain numeral that a text stands for; an exponent of ten, unlike a division, gives the nearest number. */
function numberOf(text: string, decimal: Decimal): string {
  const plain = bodyOf(text).replace(decimal === "." ? /[^\deE.+-]/g : /[^\deE,+-]/g, "").replace(decimal, ".");
  return (MINUS.test(text) ? "-" : "") + plain + (text.includes("%") ? "e-2" : "");
}
