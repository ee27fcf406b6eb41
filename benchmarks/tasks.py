"""What is measured: each task by rocscope and by scikit-learn, from the same arrays to the same answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from inputs import Input
from sklearn import metrics as sk

import rocscope as rs


@dataclass(frozen=True)
class Task:
    """One question, and the two ways to its answer."""

    name: str
    ours: Callable[[Input], Any]
    theirs: Callable[[Input], Any]


def _curve(data: Input) -> Any:
    curve = rs.roc(data.y, data.score, sample_weight=data.weight)
    return curve.x, curve.y, curve.threshold


def _their_curve(data: Input, *, drop_intermediate: bool = False) -> Any:
    return sk.roc_curve(data.y, data.score, sample_weight=data.weight, drop_intermediate=drop_intermediate)


def _summary(data: Input) -> Any:
    """One ranking, then areas, error rates, the best point and all its rates."""
    counts = rs.ThresholdCounts.from_scores(data.y, data.score, sample_weight=data.weight)
    curve = rs.roc(counts)
    areas = (curve.auc, rs.precision_recall(counts).average_precision)
    return *areas, curve.ks, rs.det(counts).equal_error_rate, curve.best().to_dict()


def _their_summary(data: Input) -> Any:
    """The same figures by the functions that there are."""
    columns, weight = (data.y, data.score), {"sample_weight": data.weight}
    areas = (sk.roc_auc_score(*columns, **weight), sk.average_precision_score(*columns, **weight))
    fpr, tpr, threshold = _their_curve(data)
    share = np.average(data.y, weights=data.weight)
    cut = threshold[np.argmax(share * tpr - (1 - share) * fpr)]
    crossing = np.argmin(abs(fpr - (1 - tpr)))
    predicted = data.score >= cut
    rates = [
        rate(data.y, predicted, **weight)
        for rate in (sk.accuracy_score, sk.precision_score, sk.recall_score, sk.f1_score, sk.matthews_corrcoef)
    ]
    return *areas, (tpr - fpr).max(), fpr[crossing], rates


TASKS = (
    Task(
        "auc",
        lambda data: rs.auc(data.y, data.score, sample_weight=data.weight),
        lambda data: sk.roc_auc_score(data.y, data.score, sample_weight=data.weight),
    ),
    Task(
        "hull",
        lambda data: rs.roc(data.y, data.score, sample_weight=data.weight).hull().x,
        lambda data: _their_curve(data, drop_intermediate=True),
    ),
    Task("curve", _curve, _their_curve),
    Task("summary", _summary, _their_summary),
)
