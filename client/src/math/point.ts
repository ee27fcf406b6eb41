/** The counts and rates of an operating point, as `rocscope.OperatingPoint.to_dict` names them. */

import type { Levels } from "./levels";

export interface Cells { readonly tp: number; readonly fp: number; readonly fn: number; readonly tn: number }

/** Expected cells among `n` cases of which a share is positive. */
export function cellsAt(tpr: number, fpr: number, share: number, n: number): Cells {
  const [pos, neg] = [share * n, (1 - share) * n];
  return { tp: pos * tpr, fp: neg * fpr, fn: pos * (1 - tpr), tn: neg * (1 - fpr) };
}

/** The cells of a sample with these true and false positives. */
export function sampleCells({ nPos, nNeg }: Levels, [tp, fp]: readonly [tp: number, fp: number]): Cells {
  return { tp, fp, fn: nPos - tp, tn: nNeg - fp };
}

export function pointDict({ tp, fp, fn, tn }: Cells, threshold: number): Record<string, number | null> {
  const [p, n] = [tp + fn, fp + tn];
  const [tpr, fpr, tnr, fnr] = [tp / p, fp / n, tn / n, fn / p];
  const [precision, npv] = [tp / (tp + fp), tn / (tn + fn)];
  const rates = {
    ...{ threshold, tp, fp, fn, tn, tpr, fnr, fpr, tnr },
    prevalence: p / (p + n),
    depth: (tp + fp) / (p + n),
    ...{ precision, npv },
    accuracy: (tp + tn) / (p + n),
    error: (fp + fn) / (p + n),
    balanced_accuracy: (tpr + tnr) / 2,
    break_even: (precision + tpr) / 2,
    jaccard: tp / (tp + fp + fn),
    lift: precision / (p / (p + n)),
    youden: tpr - fpr,
    markedness: precision + npv - 1,
    mcc: (tp * tn - fp * fn) / Math.sqrt((tp + fp) * p * n * (tn + fn)),
    kappa: (2 * (tp * tn - fp * fn)) / ((tp + fp) * n + p * (fn + tn)),
    lr_positive: tpr / fpr,
    lr_negative: fnr / tnr,
    odds_ratio: (tp * tn) / (fp * fn),
  };
  const finite = ([name, value]: [string, number]): [string, number | null] => [name, Number.isFinite(value) ? value : null];
  return Object.fromEntries(Object.entries(rates).map(finite));
}
