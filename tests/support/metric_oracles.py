"""What each metric of a 2 × 2 table is, by another way than its own, and what leaves it as it is: one line a metric.

A definition takes whole numbers or fractions and raises ZeroDivisionError where the metric is NaN or infinite.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan, sqrt

import numpy as np


def same(value):
    return value


def complement(value):
    return 1 - value


def reciprocal(value):
    with np.errstate(divide="ignore"):
        return 1 / np.asarray(value, dtype=np.float64)


@dataclass(frozen=True)
class Oracle:
    """Definition and traits of a metric.

    `mirror` is the metric, and how it is changed, that says the same when the classes swap their roles; None where
    there is none. `mixed` is whether the class mix changes it. `chance` is its value wherever the prediction is
    independent of the label; None where that depends on the table. `curved` is whether it has no form in which its
    equal values are lines in ROC space, so that no constraint can be put on it.
    """

    definition: Callable
    mirror: tuple[str, Callable] | None
    mixed: bool
    chance: float | None = None
    low: float = 0
    high: float = 1
    curved: bool = False

    def __call__(self, tp, fp, fn, tn):
        """Return the value; NaN where it is not defined."""
        try:
            return self.definition(tp, fp, fn, tn)
        except ZeroDivisionError:
            return nan


def mean(*values):
    return sum(values) / len(values)


def tpr(tp, fp, fn, tn):
    return Fraction(tp) / (tp + fn)


def tnr(tp, fp, fn, tn):
    return Fraction(tn) / (fp + tn)


def precision(tp, fp, fn, tn):
    return Fraction(tp) / (tp + fp)


def npv(tp, fp, fn, tn):
    return Fraction(tn) / (tn + fn)


def accuracy(tp, fp, fn, tn):
    return Fraction(tp + tn) / (tp + fp + fn + tn)


def prevalence(tp, fp, fn, tn):
    return 1 - Fraction(fp + tn) / (tp + fp + fn + tn)


def cohen(tp, fp, fn, tn):
    n = tp + fp + fn + tn
    by_chance = Fraction(tp + fp) / n * Fraction(tp + fn) / n + Fraction(fn + tn) / n * Fraction(fp + tn) / n
    return (accuracy(tp, fp, fn, tn) - by_chance) / (1 - by_chance)


def matthews(tp, fp, fn, tn):
    """Pearson's correlation of labels and predictions."""
    n = tp + fp + fn + tn
    label, predicted = Fraction(tp + fn) / n, Fraction(tp + fp) / n
    covariance = Fraction(tp) / n - label * predicted
    return float(covariance) / sqrt(label * (1 - label) * predicted * (1 - predicted))


def odds_ratio(tp, fp, fn, tn):
    return Fraction(tp) / fp / (Fraction(fn) / tn) if tn else Fraction(0) / (fp * fn)


ORACLES = {
    "tpr": Oracle(tpr, ("tnr", same), False),
    "fnr": Oracle(lambda *cells: 1 - tpr(*cells), ("fpr", same), False),
    "fpr": Oracle(lambda *cells: 1 - tnr(*cells), ("fnr", same), False),
    "tnr": Oracle(tnr, ("tpr", same), False),
    "prevalence": Oracle(prevalence, ("prevalence", complement), True),
    "depth": Oracle(
        lambda tp, fp, fn, tn: 1 - Fraction(fn + tn) / (tp + fp + fn + tn), ("depth", complement), True
    ),
    "precision": Oracle(precision, ("npv", same), True),
    "npv": Oracle(npv, ("precision", same), True),
    "accuracy": Oracle(accuracy, ("accuracy", same), True),
    "error": Oracle(lambda *cells: 1 - accuracy(*cells), ("error", same), True),
    "weighted_accuracy": Oracle(accuracy, ("weighted_accuracy", same), True, curved=True),
    "macro_average": Oracle(lambda *cells: mean(tpr(*cells), tnr(*cells)), ("macro_average", same), False, 0.5),
    "balanced_accuracy": Oracle(
        lambda *cells: mean(tpr(*cells), tnr(*cells)), ("balanced_accuracy", same), False, 0.5
    ),
    "break_even": Oracle(lambda *cells: mean(precision(*cells), tpr(*cells)), None, True, curved=True),
    "fowlkes_mallows": Oracle(lambda *cells: sqrt(precision(*cells) * tpr(*cells)), None, True, curved=True),
    "f_score": Oracle(lambda tp, fp, fn, tn: 1 - Fraction(fp + fn) / (2 * tp + fp + fn), None, True),
    "jaccard": Oracle(lambda tp, fp, fn, tn: 1 - Fraction(fp + fn) / (tp + fp + fn), None, True),
    "lift": Oracle(lambda *cells: precision(*cells) / prevalence(*cells), None, True, 1, 0, inf),
    "youden": Oracle(lambda *cells: tpr(*cells) + tnr(*cells) - 1, ("youden", same), False, 0, -1),
    "markedness": Oracle(
        lambda *cells: precision(*cells) + npv(*cells) - 1, ("markedness", same), True, 0, -1, curved=True
    ),
    "mcc": Oracle(matthews, ("mcc", same), True, 0, -1, curved=True),
    "kappa": Oracle(cohen, ("kappa", same), True, 0, -1),
    "lr_positive": Oracle(
        lambda *cells: tpr(*cells) / (1 - tnr(*cells)), ("lr_negative", reciprocal), False, 1, 0, inf
    ),
    "lr_negative": Oracle(
        lambda *cells: (1 - tpr(*cells)) / tnr(*cells), ("lr_positive", reciprocal), False, 1, 0, inf
    ),
    "odds_ratio": Oracle(odds_ratio, ("odds_ratio", same), False, 1, 0, inf, curved=True),
}  # fmt: skip
