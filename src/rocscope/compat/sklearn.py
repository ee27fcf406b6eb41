"""Drop-in replacements for the ranking metrics of scikit-learn.

Signatures, results, warnings and exceptions are the same as in the installed scikit-learn (1.7 or newer). For labels
0/1 or False/True with finite scores, rocscope computes the result. For all other input, such as several classes, a
single class, other labels or invalid input, scikit-learn computes the result. Functions that do not rank scores are
those of scikit-learn.

Examples
--------
>>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
0.75
"""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from sklearn import metrics as theirs
from sklearn.calibration import calibration_curve as calibration_curve
from sklearn.metrics import (
    auc as auc,
    brier_score_loss as brier_score_loss,
    class_likelihood_ratios as class_likelihood_ratios,
    log_loss as log_loss,
)

from rocscope._base.arrays import Array
from rocscope._base.public_names import refusing
from rocscope.core import ThresholdCounts
from rocscope.curves.rate_curves import PrecisionRecallCurve, RocCurve

_refuse = refusing(__name__, theirs.__all__)
_FROM_1_8 = hasattr(theirs, "confusion_matrix_at_thresholds")

Answer = Callable[[ThresholdCounts, dict[str, Any]], Any]


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_average(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value in {"micro", "macro", "samples", "weighted"})


def _is_strategy(value: Any) -> bool:
    return isinstance(value, str) and value in {"raise", "ovr", "ovo"}


def _is_part(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and 0 < value <= 1)


def _takes_over(original: Callable[..., Any], **accepts: Callable[[Any], bool]) -> Callable[[Answer], Any]:
    """Decorate a function of counts, so that it replaces `original` for the input that it supports.

    `accepts` contains, for arguments of `original`, a function that returns True for supported values.
    """
    signature = inspect.signature(original)

    def decorate(answer: Answer) -> Callable[..., Any]:
        @wraps(original)
        def function(*args: Any, **kwargs: Any) -> Any:
            try:
                options = signature.bind(*args, **kwargs)
            except TypeError:
                return original(*args, **kwargs)
            options.apply_defaults()
            chosen = options.arguments
            counts = None
            if all(accept(chosen[name]) for name, accept in accepts.items()):
                counts = _plain_counts(chosen)
            return original(*args, **kwargs) if counts is None else answer(counts, chosen)

        return function

    return decorate


def _plain_counts(chosen: dict[str, Any]) -> ThresholdCounts | None:
    """Return counts, or None unless labels are 0/1, both classes occur, scores are finite and weights positive."""
    pos_label = chosen.get("pos_label")
    if not (pos_label is None or (isinstance(pos_label, int) and pos_label == 1)):
        return None
    label, score = _column(chosen["y_true"], "biu"), _column(chosen["y_score"], "iuf")
    if label is None or score is None or label.size != score.size or not label.size:
        return None
    if label.min() != 0 or label.max() != 1 or not np.isfinite(score).all():
        return None
    weight = None
    if chosen["sample_weight"] is not None:
        weight = _column(chosen["sample_weight"], "iuf")
        if weight is None or weight.size != label.size or not (np.isfinite(weight) & (weight > 0)).all():
            return None
        weight = weight.astype(np.float64)
    return ThresholdCounts.from_checked(label.astype(np.bool_), np.ascontiguousarray(score), weight)


def _column(values: Any, kinds: str) -> Array | None:
    """Return a list, a Series or an array as an array of numbers. Return None if it has other values."""
    if not isinstance(values, np.ndarray | list) and type(values).__name__ != "Series":
        return None
    if isinstance(values, np.ma.MaskedArray):
        return None
    try:
        column = np.asarray(values)
    except ValueError:  # a ragged list
        return None
    usable = column.ndim == 1 and column.dtype.kind in kinds and column.dtype.isnative
    floats = column.dtype.kind != "f" or column.dtype.itemsize in (4, 8)
    return column if usable and floats else None


def _rates(counts: ThresholdCounts) -> tuple[Array, Array, Array]:
    """Return false positives and true positives as floats, and the thresholds."""
    return counts.fp.astype(np.float64), counts.tp.astype(np.float64), counts.threshold.copy()


def _without_flat(chosen: dict[str, Any], columns: Sequence[Array], *bends: Array) -> Sequence[Array]:
    """Drop points on straight lines if this was requested. Keep the first point, the last point and all bends."""
    if not chosen["drop_intermediate"] or columns[0].size <= 2:
        return columns
    kept = np.concatenate([[True], np.logical_or(*bends), [True]])
    return [column[kept] for column in columns]


@_takes_over(theirs.roc_curve, drop_intermediate=_is_flag)
def roc_curve(counts: ThresholdCounts, chosen: dict[str, Any]) -> tuple[Array, Array, Array]:
    fps, tps, threshold = _rates(counts)
    fps, tps, threshold = _without_flat(chosen, (fps, tps, threshold), np.diff(fps, 2), np.diff(tps, 2))
    fpr, tpr = (np.concatenate([[0.0], values]) / values[-1] for values in (fps, tps))
    # From version 1.8 on thresholds are float64; before, those of float32 scores are float32.
    return fpr, tpr, np.concatenate([[np.inf], threshold]) if _FROM_1_8 else np.r_[np.inf, threshold]


@_takes_over(theirs.roc_auc_score, average=_is_average, multi_class=_is_strategy, max_fpr=_is_part)
def roc_auc_score(counts: ThresholdCounts, chosen: dict[str, Any]) -> float:
    max_fpr = chosen["max_fpr"]
    if max_fpr is None or max_fpr == 1:
        return counts.pairs().auc()
    return RocCurve(counts).partial_auc(max_fpr=max_fpr, standardized=True)


@_takes_over(theirs.precision_recall_curve, drop_intermediate=_is_flag)
def precision_recall_curve(counts: ThresholdCounts, chosen: dict[str, Any]) -> tuple[Array, Array, Array]:
    fps, tps, threshold = _rates(counts)
    fps, tps, threshold = _without_flat(chosen, (fps, tps, threshold), np.diff(tps[:-1]), np.diff(tps[1:]))
    precision, recall = tps / (tps + fps), tps / tps[-1]
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), threshold[::-1]


@_takes_over(theirs.average_precision_score, average=_is_average)
def average_precision_score(counts: ThresholdCounts, _: dict[str, Any]) -> float:
    return PrecisionRecallCurve(counts).average_precision


@_takes_over(theirs.det_curve, drop_intermediate=_is_flag)
def det_curve(counts: ThresholdCounts, chosen: dict[str, Any]) -> tuple[Array, Array, Array]:
    fps, tps, threshold = _rates(counts)
    fps, tps = np.concatenate([[0.0], fps]), np.concatenate([[0.0], tps])
    threshold = np.concatenate([[np.inf], threshold.astype(np.float64)])
    fps, tps, threshold = _without_flat(chosen, (fps, tps, threshold), np.diff(tps[:-1]), np.diff(tps[1:]))
    first = np.searchsorted(fps, fps[0], side="right") - 1
    last = np.searchsorted(tps, tps[-1]) + 1
    fpr, fnr = fps / fps[-1], (tps[-1] - tps) / tps[-1]
    return fpr[first:last][::-1], fnr[first:last][::-1], threshold[first:last][::-1]


if _FROM_1_8:

    @_takes_over(theirs.confusion_matrix_at_thresholds)
    def confusion_matrix_at_thresholds(
        counts: ThresholdCounts, _: dict[str, Any]
    ) -> tuple[Array, Array, Array, Array, Array]:
        fps, tps, threshold = _rates(counts)
        return fps[-1] - fps, fps, tps[-1] - tps, tps, threshold


def __getattr__(name: str) -> Any:
    """Return the function of scikit-learn for each name that this module does not define."""
    return getattr(theirs, name) if name in theirs.__all__ else _refuse(name)
