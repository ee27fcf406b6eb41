/** What the page and its worker tell each other. */

import type { Answers } from "./worker";

/** How a file is written, where it does not tell. */
export interface Layout {
  /** null for the one that fits all values of a column. */
  readonly decimal: "." | "," | null;
  /** One character; null for the one that makes most columns. */
  readonly delimiter: string | null;
  /** null where the file tells. */
  readonly encoding: string | null;
  /** Of a workbook; absent for the only one that is not empty. */
  readonly sheet?: string | undefined;
  /** Rows above the column names and below the table; absent where they are looked for. */
  readonly skipRows?: number | undefined;
  readonly skipFooter?: number | undefined;
}

export interface Roles {
  readonly label: string;
  /** As text; null where labels tell. */
  readonly positive: string | null;
  readonly scores: readonly string[];
  readonly weight: string | null;
  readonly segment: string | null;
  readonly fold: string | null;
}

/** What the first rows show of a column. */
export interface Glance {
  readonly name: string;
  /** Whether all that is there are numbers, from the least to the most. */
  readonly range: readonly [number, number] | null;
  readonly whole: boolean;
  /** Distinct values, the most frequent first; null where they are more than a few. */
  readonly values: readonly (readonly [text: string, rows: number])[] | null;
  readonly distinct: number;
  readonly missing: number;
  /** Whether values are texts in a file that knows other types: "1" is no number there. */
  readonly text: boolean;
}

export type Look = Awaited<ReturnType<Answers["look"]>>;

/** What is known once all rows were read. */
export type Counted = Awaited<ReturnType<Answers["count"]>>;

/** A decision by one threshold, as a file has it. */
export interface Plan {
  readonly file: string;
  readonly model: string;
  readonly threshold: number;
  /** The column of answers and the positive one; null where the file does not tell. */
  readonly label: string | null;
  readonly positive: string | null;
  /** Share of positives among the cases acted on, in the sample of the plan. */
  readonly rate: number;
  /** What acting on a positive brings, and on another case costs. */
  readonly gain: number;
  readonly cost: number;
}

/** What a plan does with the rows of a list. */
export type Applied = Awaited<ReturnType<Answers["apply"]>>;

/** The files that a question is about, and how to read them. */
export interface Read { readonly files: readonly File[]; readonly layout: Layout }

export type Question = { [Ask in keyof Answers]: { readonly ask: Ask } & Parameters<Answers[Ask]>[0] }[keyof Answers];
