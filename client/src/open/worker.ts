/** The worker of the open page: files in, counts out. Nothing leaves it but to the page. */

import { MOST_CLASSES } from "../constants.json";
import { appliedRows, decidedRows } from "../count/decided";
import { Refused } from "../count/errors";
import { CountedRows } from "../count/rows";
import { onlyOnce, type Rows } from "../count/table";
import { firstRows, openTable, sheetsOf } from "../count/tables";
import type { Intervals, Slice } from "../data";
import { message } from "../format";
import type { Reply } from "../pending";
import type { Glance, Layout, Plan, Question, Read, Roles } from "./messages";

let samples: CountedRows[] = [];

const tell = (reply: Reply): void => postMessage(reply);

type Progress = (share: number) => void;

/** What the page may ask, by name. */
const answers = {
  look: ({ files, layout }: Read) => look(files[0]!, layout),
  sheets: ({ files }: Pick<Read, "files">) => sheetsOf(files[0]!),
  text: ({ files, layout }: Read) => firstRows(files[0]!, layout),
  count,
  rows: decided,
  apply: async ({ files, layout, plan }: Read & { plan: Plan }, progress: Progress) => appliedRows(await openTable(files[0]!, layout), plan, progress),
  slice: ({ part }: { part: number }) => together(samples.map((sample) => sample.slice(part))),
  stored: ({ part }: { part: number }) => together(samples.map((sample) => sample.stored(part))),
  intervals: ({ part }: { part: number }): Intervals => {
    const found = samples.map((sample) => sample.intervals(part));
    return found.length === 1 ? found[0]! : { auc: found.flatMap(({ auc }) => auc), comparisons: { method: "", rows: [] }, calibration: found.flatMap(({ auc, calibration }) => calibration ?? auc.map(() => null)) };
  },
};

export type Answers = typeof answers;

/** Models of several files beside each other, which have no parts. */
function together([first, ...others]: Slice[]): Slice {
  const models = [first!, ...others].flatMap((slice) => slice.models).map((model, index) => ({ ...model, index }));
  return { ...first!, models };
}

/** The columns of the first rows of a file, and the number of these rows. */
async function look(file: File, layout: Layout) {
  const table = await openTable(file, layout);
  const head = await table.head();
  return { columns: onlyOnce(table.columns).flatMap((name) => glance(head, name, table.untyped)), rows: head.rows, encoding: table.encoding ?? null };
}

function glance(head: Rows, name: string, untyped: boolean): Glance[] {
  try {
    const { classes, codes, kind } = head.names(name, name);
    const counts = new Map<string, number>();
    let missing = 0;
    for (const code of codes) {
      if (code < 0) missing++;
      else {
        const text = kind === "float" && Number.isInteger(classes[code]) ? `${String(classes[code])}.0` : String(classes[code]);
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
    }
    const values = [...counts].sort((a, b) => b[1] - a[1]);
    return [{ name, range: rangeOf(head, name), whole: kind === "whole", values: values.length > MOST_CLASSES ? null : values, distinct: values.length, missing, text: kind === "text" && !untyped }];
  } catch {
    if (!untyped) return []; // lists and structures are for nothing here
    const { classes, codes } = head.texts(name, name); // numbers that can be read in two ways
    return [{ name, range: null, whole: false, values: null, distinct: classes.length, missing: codes.filter((code) => code < 0).length, text: true }];
  }
}

function rangeOf(head: Rows, name: string): [number, number] | null {
  try {
    const { values, missing } = head.numbers(name, name);
    let [least, most] = [Infinity, -Infinity];
    values.forEach((value: number | bigint, row: number) => {
      if (missing?.[row]) return;
      least = Math.min(least, Number(value));
      most = Math.max(most, Number(value));
    });
    return least <= most ? [least, most] : null;
  } catch {
    return null;
  }
}

/** What models of several files are called, and of one file its columns. */
function modelName(files: readonly File[], { scores }: Roles, file: File): (column: string) => string {
  const stem = file.name.replace(/\.[^.]*(\.gz|\.zst)?$/, "");
  return (column) => (files.length === 1 ? column : scores.length === 1 ? stem : `${stem}: ${column}`);
}

async function decided({ files, layout, roles, model, threshold }: Read & { roles: Roles; model: string; threshold: number | bigint }, progress: Progress): Promise<Blob> {
  for (const file of files) {
    const score = roles.scores.find((column) => modelName(files, roles, file)(column) === model);
    if (score !== undefined) return decidedRows(await openTable(file, layout), roles, score, threshold, progress);
  }
  throw new Refused("model", { expected: "a model that the page shows", got: model });
}

async function count({ files, layout, roles }: Read & { roles: Roles }, progress: Progress) {
  samples = [];
  const recoded: string[] = [];
  for (const [i, file] of files.entries()) {
    const name = modelName(files, roles, file);
    const used = files.length === 1 ? roles : { ...roles, segment: null, fold: null };
    const table = await openTable(file, layout);
    if (table.encoding === "windows-1252" && !layout.encoding) recoded.push(`${file.name}: the text is not UTF-8 and is read as Windows-1252.`);
    samples.push(await CountedRows.of(table, used, file.name, (share) => progress((i + share) / files.length), name));
  }
  const models = samples.flatMap((sample) => sample.models);
  if (new Set(models).size < models.length) throw new Refused("files", { expected: "files with different names", got: models.join(", ") });
  const [first] = samples;
  const dropped = samples.reduce((sum, sample) => sum + sample.dropped, 0);
  const facts: Record<string, string | number> = samples.length === 1 ? await first!.provenance() : {};
  const unpaired = samples.length > 1 ? ["Models are not compared in pairs, because they come from different files."] : [];
  return {
    parts: first!.parts,
    warnings: [...recoded, ...samples.flatMap((sample) => sample.remarks()), ...unpaired],
    provenance: { ...facts, source: files.map((file) => file.name).join(", "), rows_dropped: dropped },
  };
}

addEventListener("message", ({ data: { id, question } }: MessageEvent<{ id: number; question: Question }>) => {
  let last = 0;
  const progress: Progress = (share) => {
    if (share - last < 0.01) return;
    last = share;
    tell({ id, progress: share });
  };
  const answer = answers[question.ask] as (question: Question, progress: Progress) => unknown;
  Promise.resolve(question).then((asked) => answer(asked, progress)).then(
    (found) => tell({ id, answer: found }),
    (error: unknown) => tell({ id, error: error instanceof Refused ? error.message : `internal error: ${message(error)}` }),
  );
});
