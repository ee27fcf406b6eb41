/** What each column is for, as far as names and first rows tell; the reader has the last word. */

import { ADVERSE_WORDS, AMBIGUOUS_WORDS, FOLDS, LABELS, MOST_SCORES, NEGATIVE_WORDS, NOT_SCORES, POSITIVE_WORDS, SEGMENTS, WEIGHTS } from "../constants.json";
import type { Glance, Look, Roles } from "./messages";

export type Use = "label" | "score" | "weight" | "segment" | "fold" | "";

const isBinary = ({ values, distinct }: Glance): boolean => values !== null && distinct === 2;
const matches = (pattern: string, name: string): boolean => new RegExp(pattern, "i").test(name);
const isNumber = ({ range }: Glance): boolean => range !== null;

export function guess({ columns, rows }: Look): Map<string, Use> {
  const uses = new Map<string, Use>(columns.map(({ name }) => [name, ""]));
  const free = (test: (column: Glance) => boolean): Glance[] => columns.filter((column) => uses.get(column.name) === "" && test(column));
  const take = (use: Use, candidates: readonly Glance[]): void => void (candidates[0] && uses.set(candidates[0].name, use));
  const binary = columns.filter(isBinary);
  take("label", [...binary.filter(({ name }) => matches(LABELS, name)), ...binary.filter(knownPositive), ...binary, ...columns.filter(({ name, values }) => values && matches(LABELS, name))]);
  take("weight", free((column) => matches(WEIGHTS, column.name) && isNumber(column) && column.range![0] >= 0));
  take("fold", free(({ name, values }) => matches(FOLDS, name) && values !== null));
  const names = free(({ values, distinct }) => values !== null && distinct > 1 && distinct <= 12);
  take("segment", [...names.filter(({ name }) => matches(SEGMENTS, name)), ...names.filter((column) => !isNumber(column))]);
  const numbers = free((column) => isNumber(column) && column.distinct > 2 && !matches(NOT_SCORES, column.name) && !(column.whole && column.distinct === rows && rows > 20));
  const fractions = numbers.filter(({ whole }) => !whole);
  const probabilities = fractions.filter(({ range }) => range![0] >= 0 && range![1] <= 1);
  const likely = [probabilities, fractions, numbers].find(({ length }) => length > 0) ?? [];
  if (likely.length <= MOST_SCORES) for (const { name } of likely) uses.set(name, "score");
  return uses;
}

/** Whether labels tell which one is positive. */
export function knownPositive({ values }: Glance): boolean {
  const texts = new Set(values?.map(([text]) => text.toLowerCase().replace(/\.0$/, "")));
  return [["0", "1"], ["-1", "1"], ["false", "true"]].some((two) => texts.size > 0 && [...texts].every((text) => two.includes(text)) && texts.has(two[1]!));
}

/** The positive class: what labels tell, or what their names and sizes do; null where that must be asked. */
export function positiveOf(label: Glance): string | null {
  const classes = (label.values ?? []).map(([text]) => text);
  return knownPositive(label) ? classes.find((text) => ONE.test(text))! : likelyPositive(classes);
}

const ONE = /^\s*(1|1\.0|true)\s*$/i;

/** The class that is likely positive, of the most frequent first; the rules of Python's `likely_positive`. */
export function likelyPositive(classes: readonly string[]): string | null {
  const others = classes.filter((text) => !isNamed(text, NEGATIVE_WORDS));
  for (const words of [POSITIVE_WORDS, ADVERSE_WORDS]) {
    const found = others.filter((text) => isNamed(text, words));
    if (found.length === 1) return found[0]!;
  }
  if (others.length === 1 && classes.length > 1) return others[0]!;
  return classes.some((text) => isNamed(text, AMBIGUOUS_WORDS)) ? null : (classes.at(-1) ?? null);
}

/** Whether a class is named by one of some words: as a whole, or by a word of two letters or more in it. */
function isNamed(text: string, words: readonly string[]): boolean {
  const whole = text.trim().toLowerCase();
  return words.includes(whole) || (whole.match(/\p{L}+/gu) ?? []).some((part) => part.length > 1 && words.includes(part));
}

export function rolesOf(uses: ReadonlyMap<string, Use>, positive: string | null, label: Glance | undefined): Roles {
  const of = (use: Use): string[] => [...uses].flatMap(([name, one]) => (one === use ? [name] : []));
  const told = label && positive !== null && !label.text && knownPositive(label) && ONE.test(positive);
  return { label: of("label")[0] ?? "", positive: told ? null : positive, scores: of("score"), weight: of("weight")[0] ?? null, segment: of("segment")[0] ?? null, fold: of("fold")[0] ?? null };
}
