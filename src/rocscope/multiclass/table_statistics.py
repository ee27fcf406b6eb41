"""Statistics of k × k tables of counts, rows actual and columns predicted.

Every function takes an array whose last two axes are such a table, so that one definition serves one matrix and the
thousands of a bootstrap alike. 0/0 is NaN.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import InputError
from rocscope.multiclass.averages import weighted_mean

Scheme = Literal["linear", "quadratic"]
Averaging = Literal["macro", "micro", "weighted"]

ALIASES = {"recall": "tpr", "sensitivity": "tpr", "specificity": "tnr"}


def _ratio(numerator: Any, denominator: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(numerator, denominator)


def hits(counts: Array) -> Array:
    """Cases of each class that are predicted as such: the diagonal."""
    return np.diagonal(counts, axis1=-2, axis2=-1)


def one_vs_rest(counts: Array) -> tuple[Array, Array, Array, Array]:
    """True and false positives, false and true negatives of each class against the rest."""
    tp = hits(counts)
    fp = counts.sum(axis=-2) - tp
    fn = counts.sum(axis=-1) - tp
    return tp, fp, fn, counts.sum(axis=(-2, -1))[..., np.newaxis] - tp - fp - fn


def per_class(counts: Array, metric: str, **options: Any) -> Array:
    """A metric of `rocscope.metrics` for each class against the rest."""
    return _metric(metric)(*one_vs_rest(counts), **options)


def _metric(name: str) -> metrics.Metric:
    name = ALIASES.get(name, name)
    return metrics.METRICS[check.check_choice("metric", name, [*metrics.METRICS, *ALIASES])]


def averaged(counts: Array, metric: str, averaging: Averaging, **options: Any) -> Any:
    """Mean of a metric over the classes for which it is defined.

    Parameters
    ----------
    averaging : {"macro", "micro", "weighted"}
        Each class alike; all one-vs-rest tables added up; each class by its number of cases.
    """
    if averaging == "micro":
        return _metric(metric)(*(cell.sum(axis=-1) for cell in one_vs_rest(counts)), **options)
    check.check_choice("averaging", averaging, ("macro", "micro", "weighted"))
    values = per_class(counts, metric, **options)
    return weighted_mean(values, counts.sum(axis=-1) if averaging == "weighted" else np.ones(values.shape))


def accuracy(counts: Array) -> Any:
    """Share of cases on the diagonal."""
    return _ratio(hits(counts).sum(axis=-1), counts.sum(axis=(-2, -1)))


def kappa(counts: Array, weights: Scheme | None = None) -> Any:
    """Cohen's kappa: 1 − (disagreement seen)/(disagreement that the margins alone give).

    Parameters
    ----------
    weights : {"linear", "quadratic"}, optional
        A disagreement counts its distance between the classes in their order, or the square of it; without,
        every one counts alike.
    """
    k = counts.shape[-1]
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    schemes = {None: (distance > 0).astype(np.int64), "linear": distance, "quadratic": distance**2}
    if weights not in schemes:
        raise InputError("weights", expected="None, 'linear' or 'quadratic'", got=repr(weights))
    disagreement = schemes[weights]
    counts = counts.astype(np.float64)
    seen = (counts * disagreement).sum(axis=(-2, -1)) * counts.sum(axis=(-2, -1))
    actual, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    return 1 - _ratio(seen, np.einsum("...i,ij,...j->...", actual, disagreement, predicted))


def mcc(counts: Array) -> Any:
    """Matthews correlation of labels and predictions (Gorodkin's R_K); NaN where all cases share one class.

    References
    ----------
    Gorodkin 2004, "Comparing two K-category assignments by a K-category correlation coefficient".
    """
    counts = counts.astype(np.float64)
    n = counts.sum(axis=(-2, -1))
    actual, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    covariance = hits(counts).sum(axis=-1) * n - (actual * predicted).sum(axis=-1)
    spread = np.sqrt(n**2 - (actual**2).sum(axis=-1)) * np.sqrt(n**2 - (predicted**2).sum(axis=-1))
    return _ratio(covariance, spread)


STATISTICS: dict[str, Callable[[Array], Any]] = {
    "accuracy": accuracy,
    "error": lambda counts: 1 - accuracy(counts),
    "balanced_accuracy": partial(averaged, metric="recall", averaging="macro"),
    "macro_f1": partial(averaged, metric="f_score", averaging="macro"),
    "kappa": kappa,
    "linear_kappa": partial(kappa, weights="linear"),
    "quadratic_kappa": partial(kappa, weights="quadratic"),
    "mcc": mcc,
}
"""Statistics of a whole table by name; means over classes are of those for which the metric is defined."""
