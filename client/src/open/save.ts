/** "Save report": the page that Python would write, from the parts of this one. */

import { SCHEMA } from "../constants.json";
import { type Model, type PackedColumn, type PackedModel, type PackedSlice, type Payload, type Slice, type Source, withIntervals } from "../data";
import { download, h, table } from "../dom";
import { fileName, fixed } from "../format";
import { contextOf } from "../state/current";
import type { State } from "../state/state";

/** Where the parts are that every report is made of. */
export interface Parts {
  /** The page, with places that are named @@so@@. */
  readonly shell: string;
  readonly script: string;
  readonly style: string;
}

export async function saveReport(state: State, source: Source, parts: Parts): Promise<void> {
  const slices: Slice[] = [];
  const { signal } = new AbortController();
  for (const part of state.report.parts.keys()) {
    const slice = await source.counts({ part }, signal);
    const intervals = await source.intervals?.({ part }, signal);
    slices.push(intervals ? withIntervals(slice, intervals) : slice);
  }
  const { parts: _, ...facts } = state.report;
  const payload: Payload = { schema: SCHEMA, ...facts, context: contextOf(state), slices: slices.map(packSlice) };
  const safe = JSON.stringify(payload).replace(/</g, "\\u003c").replace(/\u2028/g, "\\u2028").replace(/\u2029/g, "\\u2029");
  const models = table(["model", "AUC"], slices[0]!.models.map(({ name, auc }) => [name, fixed(auc.value, 4)]));
  const values: Record<string, string> = {
    title: escaped(state.report.title),
    verdict: escaped(document.querySelector(".verdict")?.textContent ?? ""),
    models: models.outerHTML,
    payload: safe,
    script: parts.script,
    style: parts.style,
  };
  const page = parts.shell.replace(/@@([a-z]+)@@/g, (place, key: string) => values[key] ?? place);
  download(`${fileName(state.report.title, "report")}.html`, page, "text/html");
}

const escaped = (text: string): string => h("p", {}, text).innerHTML;

function packSlice({ kind, name, models, comparisons: { method, rows } }: Slice): PackedSlice {
  const short = rows.map(([first, second, ...numbers]) => [first, second, ...numbers.map(shortened)] as unknown as (typeof rows)[number]);
  return { kind, name, models: models.map(packModel), comparisons: { method, rows: short } };
}

function packModel({ index: _, levels, thresholdText, auc, calibration, ...facts }: Model): PackedModel {
  return {
    ...facts,
    threshold: thresholdText ? { text: [...thresholdText] } : scoresColumn(levels.threshold.subarray(1)),
    next: levels.size === facts.n_levels + 1 || Number.isNaN(levels.next[0]) ? null : scoresColumn(levels.next),
    tp: countsColumn(levels.tp.subarray(1)),
    fp: countsColumn(levels.fp.subarray(1)),
    hull: countsColumn(levels.hull),
    deviation: shortened(facts.deviation),
    auc: { ...auc, low: shortened(auc.low ?? null), high: shortened(auc.high ?? null) },
    average_precision: shortened(facts.average_precision),
    calibration: calibration && {
      bins: calibration.bins.map(({ x, y, low, high, n }) => ({ x: shortened(x), y: shortened(y), low: shortened(low), high: shortened(high), n })),
      smooth: calibration.smooth && { x: [shortened(calibration.smooth.x[0]), shortened(calibration.smooth.x[1])], y: calibration.smooth.y.map((value) => Math.round(value * 1000) / 1000) },
      rug: calibration.rug,
      numbers: Object.fromEntries(Object.entries(calibration.numbers).map(([key, value]) => [key, shortened(value)])),
    },
  };
}

/** A number with as many digits as can be seen: charts are drawn from it, decisions are not. */
function shortened<T extends number | null>(value: T): T {
  return value === null ? value : (Number(value.toPrecision(4)) as T);
}

export function scoresColumn(values: Float64Array): PackedColumn {
  const narrow = Float32Array.from(values);
  return values.every((value, i) => value === narrow[i]) ? { f4: base64(narrow) } : { f8: base64(Float64Array.from(values)) };
}

/** Running totals: whole ones as their steps, seven bits a byte, lowest first. */
export function countsColumn(totals: ArrayLike<number>): PackedColumn {
  const values = Float64Array.from(totals);
  if (!values.every(Number.isInteger)) return { f8: base64(values) };
  const bytes: number[] = [];
  values.forEach((total, i) => {
    let step = total - (i ? values[i - 1]! : 0);
    for (; step > 127; step = Math.floor(step / 128)) bytes.push((step % 128) + 128);
    bytes.push(step);
  });
  return { steps: base64(Uint8Array.from(bytes)) };
}

function base64({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  let text = "";
  for (const byte of new Uint8Array(buffer, byteOffset, byteLength)) text += String.fromCharCode(byte);
  return btoa(text);
}
