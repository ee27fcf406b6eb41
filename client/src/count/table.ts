/** A table: columns of a file by name, of which rows are read. */

import { MOST_COLUMNS_LISTED } from "../constants";
import { listing, Refused, shown } from "./errors";
import type { Numbers } from "./numbers";
import type { Names } from "./sinks";

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
  /** Some of the first rows, and whether these are all. */
  head(): Promise<Rows & { readonly all: boolean }>;
}

/** Columns whose name no other has. */
export const onlyOnce = (columns: readonly string[]): string[] => columns.filter((name) => columns.indexOf(name) === columns.lastIndexOf(name));

/** Columns by name; a name that several have, or none, is refused. */
export function placeOf(columns: readonly string[], name: string): number {
  const found = columns.flatMap((column, place) => (column === name ? [place] : []));
  if (found.length === 1) return found[0]!;
  if (found.length) throw new Refused("the file", { expected: `one column named ${shown(name)}`, got: `${found.length} columns` });
  throw new Refused("the file", { expected: `one of ${listing(columns.map((column) => shown(column)), MOST_COLUMNS_LISTED)}`, got: shown(name) });
}
