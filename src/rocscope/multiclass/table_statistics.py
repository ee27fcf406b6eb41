"""Accuracy, kappa, MCC and other statistics of k × k confusion matrices, with intervals."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import InputError, warn
from rocscope.figures.registry import figure_named, known
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import proportion, share_of
from rocscope.multiclass.classes import position, weighted_mean

Scheme = Literal["linear", "quadratic"]
Averaging = Literal["macro", "micro", "weighted"]


def _ratio(numerator: Any, denominator: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(numerator, denominator)


def hits(counts: Array) -> Array:
    """Correctly predicted cases of each class: the diagonal."""
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
    if name in metrics.METRICS:
        return metrics.METRICS[name]
    expected = "a figure of one threshold, such as 'recall' or 'f1'"
    figure = figure_named(name, "metric", expected=expected, suits=lambda each: each.needs == "cells")
    assert figure.cells is not None
    return figure.cells


def _named(statistic: Any) -> Any:
    figure = known(statistic) if isinstance(statistic, str) else None
    return figure.name if figure else statistic


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
    """Cohen's kappa: 1 − (observed disagreement)/(disagreement expected from the margins).

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
    """Matthews correlation of labels and predictions (Gorodkin's R_K); NaN if all cases share one class.

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
"""Statistics of a whole table by name; means over classes skip undefined ones."""


_PROPORTIONS = ("tpr", "fnr", "tnr", "fpr", "precision", "npv")
"""Metrics of one class that are shares of independent cases."""


def table_interval(
    counts: Array,
    classes: tuple[Hashable, ...],
    statistic: str,
    of: Any,
    averaging: Averaging | None,
    *,
    level: float,
    **bootstrap: Any,
) -> Estimate:
    """Return a statistic of a table with its interval; see `ConfusionMatrix.interval`."""
    level = check.check_level(level)
    if of is not None and averaging is not None:
        raise InputError("interval", expected="a class (of=) or an average (averaging=)", got="both")
    cells = whole_counts(counts, statistic)
    index, rate = None if of is None else position(of, classes), _named(statistic)
    if index is not None:
        if rate in _PROPORTIONS:
            hits, n = share_of(rate, *(int(cell[index]) for cell in one_vs_rest(cells)))
            if not n:
                raise InputError(f"interval of {statistic}", expected="cases that it is a share of", got="none")
            return proportion(hits, n, level=level)
    elif averaging is None and statistic not in STATISTICS:
        raise InputError(
            "statistic",
            expected=check.one_of(statistic, list(STATISTICS)),
            got=repr(statistic),
            hint=f"a metric of classes needs of= (one of {check.listing(classes)}) or averaging=",
        )
    elif averaging is None and statistic in ("accuracy", "error"):
        right, n = int(np.trace(cells)), int(cells.sum())
        return proportion(right if statistic == "accuracy" else n - right, n, level=level)

    def of_draws(drawn: Array) -> Array:
        drawn = drawn.reshape(-1, *cells.shape)
        if index is not None:
            return per_class(drawn, statistic)[..., index]
        if averaging is not None:
            return averaged(drawn, statistic, averaging)
        return STATISTICS[statistic](drawn)

    return resampled(cells.ravel(), of_draws, level=level, **bootstrap)


def resampled(
    frequency: Array, statistic: Callable[[Array], Array], *, replicates: int, level: float, random_state: Any
) -> Estimate:
    """Return a statistic with its percentile bootstrap interval.

    Parameters
    ----------
    frequency : array of counts
        Rows of each kind, whole numbers.
    statistic : function
        Of an array (replicates × kinds) of drawn counts; returns a value a replicate.
    """
    level = check.check_level(level)
    check.check_whole(replicates, "replicates", 2)
    n = int(frequency.sum())
    drawn = check.check_random_state(random_state).multinomial(n, frequency / n, size=int(replicates))
    values = np.asarray(statistic(drawn), dtype=np.float64)
    defined = values[~np.isnan(values)]
    if not defined.size:
        raise InputError("interval", expected="a value in some replicate", got="none: the statistic is undefined")
    if defined.size < values.size:
        missing = values.size - defined.size
        warn(f"{missing} of {values.size} replicates gave no value")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    observed = float(np.asarray(statistic(frequency[np.newaxis].astype(np.int64)))[0])
    name = f"bootstrap (percentile, {replicates:,} replicates)"
    return Estimate(observed, float(low), float(high), level, name, n, float(defined.std(ddof=1)))


def whole_counts(counts: Array, name: str) -> NDArray[np.int64]:
    """Return counts of rows; raise for weights that are not whole."""
    if (counts % 1 != 0).any():
        raise InputError(
            f"interval of {name}",
            expected="whole numbers of cases",
            got="sums of fractional weights",
            hint="they do not tell how many rows there are",
        )
    return counts.astype(np.int64)
