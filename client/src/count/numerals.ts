/** Numbers as people and spreadsheets write them: the twin of Python's `numerals`, which has the rule and its reason. */

import { BODY, CURRENCY, NA_WORDS, NEGATIVE, NUMBERS, NUMERAL, SPACE } from "../constants";
import { Refused, shown } from "./errors";

export type Decimal = "." | ",";

const numeral = (number: string): RegExp => new RegExp(`^(?:${NUMERAL.replaceAll("<n>", number).replaceAll("<c>", CURRENCY).replaceAll("<s>", SPACE)})$`);
const FITS: Record<Decimal, RegExp> = { ".": numeral(NUMBERS["."]), ",": numeral(NUMBERS[","]) };
const PLAIN: Record<Decimal, RegExp> = { ".": plainWith("."), ",": plainWith(",") };
const [DIGITS, MINUS, UNIT] = [new RegExp(BODY), new RegExp(NEGATIVE), new RegExp(`%|${CURRENCY}`)];
const MISSING = new Set(["", ...NA_WORDS]);

function plainWith(mark: string): RegExp {
  return new RegExp(`^[+-]?(?:\\d+[${mark}]?\\d*|[${mark}]\\d+)(?:e[+-]?\\d+)?$`, "i");
}

/** Whether a text is a numeral with a decimal mark, or with any. */
export const isNumeral = (text: string, decimal: Decimal | null): boolean => (decimal ? FITS[decimal].test(text) : FITS["."].test(text) || FITS[","].test(text));

/** Whether a plain number shows that its point is a decimal mark: 0.5 does, and 2.687 may be 2687. */
export const settlesPoint = (text: string): boolean => !FITS[","].test(text);

export interface Reading {
  /** Empty where no value has a point or a comma. */
  readonly decimal: Decimal | "";
  /** The number that a text stands for, as JavaScript writes it; empty for a missing one. */
  readonly number: (text: string) => string;
  readonly note: string;
}

/** How the different texts of a column are read; null where they are no numbers, or plain ones. */
export function readingOf(texts: readonly string[], decimal: Decimal | null, subject: string): Reading | null {
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
  return { decimal: marked === undefined ? "" : mark, number, note: `${shown(example.trim())} is read as ${Number(number(example))}` };
}

const least = (texts: readonly string[]): string | undefined => texts.reduce<string | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
const bodyOf = (text: string): string => DIGITS.exec(text)?.[0] ?? "";

/** The plain numeral that a text stands for; an exponent of ten, unlike a division, gives the nearest number. */
function numberOf(text: string, decimal: Decimal): string {
  const plain = bodyOf(text).replace(decimal === "." ? /[^\deE.+-]/g : /[^\deE,+-]/g, "").replace(decimal, ".");
  return (MINUS.test(text) ? "-" : "") + plain + (text.includes("%") ? "e-2" : "");
}
