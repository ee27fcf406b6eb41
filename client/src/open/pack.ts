/** A report as the file that is mailed: what `rocscope.report.pack` writes, from what was counted here. */

import { type Model, type PackedColumn, type PackedModel, type PackedSlice, type Payload, type Report, SCHEMA, type Slice } from "../data";
import type { Context } from "../math/context";

export function payloadOf({ parts: _, context: __, ...facts }: Report, context: Context, slices: readonly Slice[]): Payload {
  const { prevalence, costFp, costFn, costTp, costTn } = context;
  return {
    schema: SCHEMA,
    ...facts,
    context: { target_prevalence: prevalence, cost_fp: costFp, cost_fn: costFn, cost_tp: costTp, cost_tn: costTn },
    slices: slices.map(packSlice),
  };
}

function packSlice({ kind, name, models, comparisons: { method, rows } }: Slice): PackedSlice {
  const short = rows.map(([first, second, ...numbers]) => [first, second, ...numbers.map(shortened)] as unknown as (typeof rows)[number]);
  return { kind, name, models: models.map(packModel), comparisons: { method, rows: short } };
}

function packModel({ name, levels, thresholdText, atHalf, decided, nLevels, deviation, auc, averagePrecision, ks, calibration }: Model): PackedModel {
  return {
    name,
    threshold: thresholdText ? { text: [...thresholdText] } : scoresColumn(levels.threshold.subarray(1)),
    tp: countsColumn(levels.tp.subarray(1)),
    fp: countsColumn(levels.fp.subarray(1)),
    hull: countsColumn(levels.hull),
    at_half: atHalf,
    decided,
    n_levels: nLevels,
    deviation: shortened(deviation),
    auc: { ...auc, low: shortened(auc.low ?? null), high: shortened(auc.high ?? null) },
    average_precision: shortened(averagePrecision),
    ks: shortened(ks),
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
