/** Which rows are positive: the rules and the words of Python's `check_labels`. */

import { listing, Refused, shown } from "./errors";
import type { Label, Names } from "./sinks";

/**
 * 1 where a label is the positive one.
 *
 * @param positive as text, also where labels are numbers; null where 1 or True is meant
 * @param untyped whether the file knows nothing but text, so that True and False are words there
 */
export function positives({ classes, codes, kind }: Names, positive: string | null, subject: string, untyped: boolean): Uint8Array {
  const rows = firstRows(codes, classes.length);
  const seen = classes.map((label, code) => ({ label, row: rows[code]! })).filter(({ row }) => row >= 0).sort((a, b) => a.row - b.row);
  const truths = untyped && positive === null && kind === "text" && seen.every(({ label }) => /^(true|false)$/i.test(String(label)));
  const isPositive = (label: Label): boolean => {
    if (truths) return String(label).toLowerCase() === "true";
    return positive === null ? kind !== "text" && label == (kind === "bool" ? true : 1) : equals(label, positive, kind);
  };
  if (positive === null && !truths) requireBinary(seen, kind, subject);
  else {
    const others = seen.filter(({ label }) => !isPositive(label));
    if (others.length > 1 && !truths) {
      const named = others.map(({ label }) => shownLabel(label, kind));
      if (others.length === seen.length) throw new Refused("positive class", { expected: `one of the labels ${listing(named.sort())}`, got: shown(positive) });
      const got = listing([...named.sort(), shownLabel(seen.find(({ label }) => isPositive(label))!.label, kind)]);
      throw new Refused(subject, { expected: "labels of two classes", got: `the labels ${got}${third(seen, kind)}`, hint: "select the rows of two classes first" });
    }
  }
  const is = classes.map((label) => (isPositive(label) ? 1 : 0));
  const marks = new Uint8Array(codes.length);
  for (let row = 0; row < codes.length; row++) marks[row] = is[codes[row]!]!;
  return marks;
}

/** Whether a label is what a text stands for among labels of its kind. */
function equals(label: Label, text: string, kind: Names["kind"]): boolean {
  if (kind === "text") return label === text;
  if (kind === "bool") return String(label) === text.toLowerCase();
  if (kind === "whole" && !/^\s*[+-]?\d+\s*$/.test(text)) return false; // 0.0 names none of 0 and 1, as in Python
  return text.trim() !== "" && (typeof label === "bigint" ? String(label) === text.trim() : label === Number(text));
}

export const shownLabel = (label: Label, kind: Names["kind"]): string => shown(label, kind !== "float");

interface Sight { readonly label: Label; readonly row: number }

function requireBinary(seen: readonly Sight[], kind: Names["kind"], subject: string): void {
  if (kind === "bool") return;
  const rest = seen.filter(({ label }) => label !== 1);
  if (kind !== "text" && rest.length <= 1 && rest.every(({ label }) => label === 0 || label === -1)) return;
  const named = seen.map(({ label }) => shownLabel(label, kind)).sort();
  const hint = seen.length <= 2 ? "choose the positive class" : "select the rows of two classes first";
  throw new Refused(subject, { expected: "labels 0/1, -1/1 or False/True", got: `the labels ${listing(named)}${third(seen, kind)}`, hint });
}

function third(seen: readonly Sight[], kind: Names["kind"]): string {
  const found = seen[2];
  return found ? ` (${shownLabel(found.label, kind)} first occurs in row ${found.row})` : "";
}

function firstRows(codes: Int32Array, size: number): Int32Array {
  const rows = new Int32Array(size).fill(-1);
  let left = size;
  for (let row = 0; row < codes.length && left; row++) {
    const code = codes[row]!;
    if (rows[code] !== -1) continue;
    rows[code] = row;
    left--;
  }
  return rows;
}
