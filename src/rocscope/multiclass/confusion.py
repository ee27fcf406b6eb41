"""Confusion matrices of several classes, with metrics, averages over classes and confidence intervals.

The rows of a matrix are the actual classes, and the columns the predicted classes. A metric of one class compares this
class with all other classes (one-vs-rest). There are three averages of a metric over classes: macro (equal weights),
weighted (by the number of cases of each class) and micro (computed from the sum of all one-vs-rest tables). Statistics
of the complete matrix are accuracy, kappa and the Matthews correlation.

The first part of the file checks class probabilities for all modules of `rocscope.multiclass`.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite, nan, sqrt
from typing import Any, Literal

import numpy as np

from rocscope import metrics
from rocscope._base import class_names, validation as check
from rocscope._base.arrays import Array, Indices
from rocscope.core import OperatingPoint, Result, html_table, jsonable
from rocscope.errors import InputError, LabelError, ScoreError, ShapeError, WeightError
from rocscope.figures.influence import SIGNED, SPARE
from rocscope.figures.registry import at, figure_named, known
from rocscope.inference import estimate as inference
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import proportion, share_of
from rocscope.inference.variance import RowDesign

# Probabilities

SUM_TOLERANCE = 1e-5
"""Largest accepted difference between 1 and the sum of the probabilities of a row."""

SOFTMAX = "convert logits by scipy.special.softmax(logits, axis=1) first"


def check_probabilities(
    values: Any, n: int | None, classes: Sequence[Hashable], name: str, *, normalize: bool = False
) -> Array:
    """Return an n × k array of class probabilities, after checking that each row sums to 1.

    Floating-point types are kept. Columns of a data frame are matched to the classes by name. If `normalize` is True,
    each row is divided by its sum.
    """
    proba = class_names.by_class(values, classes, name)
    n = (len(proba) if proba.ndim else 1) if n is None else n
    if proba.shape != (n, len(classes)):
        got = " × ".join(map(str, proba.shape)) or "a single number"
        hint = "pass the classes of the columns as classes=" if proba.shape[:1] == (n,) else ""
        expected = f"{n} × {len(classes)} numbers (labels × classes)"
        raise ShapeError(name, expected=expected, got=got, hint=hint)
    if proba.dtype.kind == "O":
        proba = np.column_stack([check.check_scores(column, name=name) for column in proba.T])
    if proba.dtype.kind not in "biuf" or proba.dtype.itemsize > 8:
        raise ScoreError(name, expected="probabilities", got=f"values of type {proba.dtype}")
    if proba.dtype.kind != "f":
        proba = proba.astype(np.float64)
    if -check.ROUNDING_OF_PROBABILITIES <= proba.min(initial=0) < 0:
        proba = proba.clip(0)
    total = proba.sum(axis=1, dtype=np.float64)
    # All entries of a row are finite and non-negative exactly if its sum is finite and its smallest entry non-negative.
    bad = ~(np.isfinite(total) & (proba.min(axis=1) >= 0))
    if bad.any():
        what = check.count_and_first(bad, "row", " with a negative, missing or infinite number")
        hint = "" if not np.isfinite(total).all() else SOFTMAX
        raise ScoreError(name, expected="finite probabilities of at least 0", got=what, hint=hint)
    if normalize:
        if not total.all():
            without = check.count_and_first(total == 0, "row", " with only zeros")
            raise ScoreError(name, expected="a positive probability in every row", got=without)
        return proba / total.astype(proba.dtype)[:, np.newaxis]
    off = np.abs(total - 1) > SUM_TOLERANCE
    if off.any():
        row = int(off.argmax())
        got = f"{check.count_and_first(off, 'row', ' with another sum')} (its sum is {total[row]:.6g})"
        hint = f"pass normalize=True to divide each row by its sum; {SOFTMAX}"
        raise ScoreError(name, expected=f"rows that sum to 1 within {SUM_TOLERANCE:g}", got=got, hint=hint)
    return proba


def class_table(values: Array, classes: Sequence[Hashable], corner: str, digits: str = "g") -> str:
    """Return an HTML table of a k × k array, with the class names as headings of rows and columns."""
    rows = [(name, *(format(value, digits) for value in row)) for name, row in zip(classes, values, strict=True)]
    return html_table(rows, (corner, *classes))


# Matrices and averages over classes

RowsAre = Literal["actual", "predicted"]


def rows_actual(
    matrix: Any, classes: Any, name: str, rows: RowsAre | None
) -> tuple[Array, tuple[Hashable, ...] | None]:
    """Return a checked square matrix with actual classes in rows and predicted classes in columns, and the names."""
    table, names = class_names.square_by_class(matrix, classes, name)
    array = np.asarray(table)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        got = " × ".join(map(str, array.shape)) or "a single number"
        is_labels = array.ndim == 1 and name == "counts"
        hint = "for labels, call ConfusionMatrix.from_labels(y_true, y_pred)" if is_labels else ""
        raise ShapeError(name, expected="a square matrix (classes × classes)", got=got, hint=hint)
    if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise InputError(name, expected="finite numbers", got=repr(array.tolist()))
    if rows not in ("actual", "predicted", None):
        raise InputError("rows", expected="'actual' or 'predicted'", got=repr(rows))
    if rows is None and not np.array_equal(array, array.T):
        expected = "rows='actual' or rows='predicted', because the matrix is not symmetric"
        hint = "for a matrix of scikit-learn, pass rows='actual'"
        raise InputError(name, expected=expected, got="no rows=", hint=hint)
    if names is not None and len(names) != len(array):
        raise ShapeError(name, expected=f"{len(names)} rows and columns (one per class)", got=str(len(array)))
    oriented = array.T if rows == "predicted" else array
    return np.array(oriented, dtype=np.float64 if array.dtype.kind == "f" else np.int64), names


@dataclass(frozen=True, repr=False)
class Average(Result):
    """Weighted mean over classes (or pairs of classes), with the names of classes that have no value.

    Parameters
    ----------
    value : float
        The mean; NaN if no class has a value.
    over : tuple of class names, or of pairs of class names
        Classes that are in the mean.
    undefined : tuple of class names, or of pairs of class names
        Classes without a value, because they have no cases or are never predicted.

    Examples
    --------
    >>> average([0.5, 1.0, float("nan")], names=["a", "b", "c"])
    Average(0.75 over 2 of 3; undefined: 'c')
    >>> float(average([0.5, 1.0], weight=[3, 1], names=["a", "b"]))
    0.625
    """

    value: float
    over: tuple[Hashable, ...]
    undefined: tuple[Hashable, ...] = ()

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        if not self.undefined:
            return f"Average({self.value:.6g} over {len(self.over)})"
        total = len(self.over) + len(self.undefined)
        missing = ", ".join(map(repr, self.undefined))
        return f"Average({self.value:.6g} over {len(self.over)} of {total}; undefined: {missing})"


def average(values: Any, *, names: Sequence[Hashable], weight: Any = None) -> Average:
    """Return the weighted mean of the values that are not NaN, with the names of the values that are NaN."""
    values = np.asarray(values, dtype=np.float64)
    weight = np.ones(values.size) if weight is None else np.asarray(weight, dtype=np.float64)
    defined = ~np.isnan(values)
    return Average(
        float(weighted_mean(values, weight)),
        tuple(name for name, known in zip(names, defined, strict=True) if known),
        tuple(name for name, known in zip(names, defined, strict=True) if not known),
    )


def weighted_mean(values: Array, weight: Array) -> Any:
    """Return the weighted mean over the last axis of the values that are not NaN; NaN if their weights are 0."""
    defined = ~np.isnan(values)
    total = np.where(defined, weight, 0.0).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.where(defined, weight * values, 0.0).sum(axis=-1) / total


# Statistics of tables; leading axes of `counts` hold separate tables

Scheme = Literal["linear", "quadratic"]
Averaging = Literal["macro", "micro", "weighted"]


def _ratio(numerator: Any, denominator: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(numerator, denominator)


def hits(counts: Array) -> Array:
    """Return the number of correctly predicted cases of each class (the diagonal)."""
    return np.diagonal(counts, axis1=-2, axis2=-1)


def one_vs_rest(counts: Array) -> tuple[Array, Array, Array, Array]:
    """Return the counts (tp, fp, fn, tn) of each class against all others."""
    tp = hits(counts)
    fp = counts.sum(axis=-2) - tp
    fn = counts.sum(axis=-1) - tp
    return tp, fp, fn, counts.sum(axis=(-2, -1))[..., np.newaxis] - tp - fp - fn


def per_class(counts: Array, metric: str, **options: Any) -> Array:
    """Return a metric for each class against all others; `metric` is a name in `rocscope.metrics`."""
    return _metric(metric)(*one_vs_rest(counts), **options)


def _metric(name: str) -> metrics.Metric:
    if name in metrics.METRICS:
        return metrics.METRICS[name]
    expected = "a metric at one threshold (such as 'recall' or 'f1')"
    figure = figure_named(name, "metric", expected=expected, suits=lambda figure: figure.needs == "cells")
    assert figure.cells is not None
    return figure.cells


def averaged(counts: Array, metric: str, averaging: Averaging, **options: Any) -> Any:
    """Return the average of a metric over the classes for which the metric is defined.

    Parameters
    ----------
    averaging : {"macro", "micro", "weighted"}
        "macro" weights all classes equally, and "weighted" weights each class by its number of cases. "micro" computes
        the metric from the sum of all one-vs-rest tables.
    """
    return averaged_cells(one_vs_rest(counts), counts.sum(axis=-1), metric, averaging, **options)


def averaged_cells(
    cells: tuple[Array, Array, Array, Array], support: Array, metric: str, averaging: Averaging, **options: Any
) -> Any:
    """Return the result of `averaged`, given (tp, fp, fn, tn) of each class against all others, and the class sizes."""
    if averaging == "micro":
        return _metric(metric)(*(cell.sum(axis=-1) for cell in cells), **options)
    check.check_choice("averaging", averaging, AVERAGINGS)
    values = _metric(metric)(*cells, **options)
    return weighted_mean(values, support if averaging == "weighted" else np.ones(values.shape))


def accuracy(counts: Array) -> Any:
    """Return the share of correctly predicted cases."""
    return _ratio(hits(counts).sum(axis=-1), counts.sum(axis=(-2, -1)))


def kappa(counts: Array, weights: Scheme | None = None) -> Any:
    """Return Cohen's kappa: 1 − (observed disagreement)/(disagreement expected by chance).

    Parameters
    ----------
    weights : {"linear", "quadratic"}, optional
        Weight of an error: the distance between the positions of the actual and the predicted class ("linear"), or the
        squared distance ("quadratic"). By default, all errors have weight 1.
    """
    if weights not in (None, "linear", "quadratic"):
        raise InputError("weighting", expected="None, 'linear' or 'quadratic'", got=repr(weights))
    disagreement = _disagreement(counts.shape[-1], f"{weights}_kappa")
    counts = counts.astype(np.float64)
    seen = (counts * disagreement).sum(axis=(-2, -1)) * counts.sum(axis=(-2, -1))
    actual, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    return 1 - _ratio(seen, np.einsum("...i,ij,...j->...", actual, disagreement, predicted))


def _disagreement(k: int, statistic: str) -> Array:
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    if statistic == "quadratic_kappa":
        return distance**2
    return distance if statistic == "linear_kappa" else (distance > 0).astype(np.int64)


def mcc(counts: Array) -> Any:
    """Return the Matthews correlation of labels and predictions (Gorodkin's R_K).

    The correlation is NaN if all labels, or all predictions, are the same class.

    References
    ----------
    Gorodkin 2004, "Comparing two K-category assignments by a K-category correlation coefficient".
    """
    counts = counts.astype(np.float64)
    n = counts.sum(axis=(-2, -1))
    actual, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    covariance = hits(counts).sum(axis=-1) * n - (actual * predicted).sum(axis=-1)
    # With indicator variables of labels and predictions: their covariance, divided by the root of the product of
    # variances.
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
"""Statistics of a complete confusion matrix by name; averages over classes omit classes without a value."""

AVERAGINGS = ("macro", "micro", "weighted")
# Statistics of a complete table that are averages of a metric over classes.
_AVERAGES = {"accuracy": ("weighted", "recall"), "error": ("weighted", "fnr"), "balanced_accuracy": ("macro", "recall")}


def averaged_metric(name: str) -> tuple[Any, str]:
    """Split a name such as "macro_f1" into the averaging and the metric; the averaging is None for other names.

    Examples
    --------
    >>> averaged_metric("macro_recall"), averaged_metric("f1_weighted"), averaged_metric("kappa")
    (('macro', 'recall'), ('weighted', 'f1'), (None, 'kappa'))
    """
    if name in _AVERAGES:
        return _AVERAGES[name]
    first, _, rest = name.partition("_")
    begin, _, last = name.rpartition("_")  # scikit-learn puts the average last
    for averaging, metric in ((first, rest), (last, begin)):
        figure = known(metric)
        if averaging not in AVERAGINGS or figure is None:
            continue
        if figure.name == "average_precision" or (figure.needs == "cells" and figure.sign):
            return averaging, metric
    return None, name


def statistic(counts: Array, name: str) -> Any:
    """Return a statistic of a confusion matrix; `name` is in `STATISTICS`, or an average such as "macro_f1"."""
    if name in STATISTICS:
        return STATISTICS[name](counts)
    averaging, metric = averaged_metric(name)
    return averaged(counts, metric, averaging)


_STEP = 1e-3  # relative step of a count for numerical derivatives: their error is its square, far above rounding errors

_PROPORTIONS = ("tpr", "fnr", "tnr", "fpr", "precision", "npv")
"""Metrics of one class that are shares of independent cases, with Wilson's interval."""


def with_half_rows(counts: Array) -> Array:
    """Return the counts with 1/2 added to each diagonal cell, and 1/2 in total to the other cells of each row.

    These counts are used for intervals, because their variance is positive even if all predictions are correct
    (Anscombe 1956, for one share). Nothing is added to classes without cases.
    """
    k = len(counts)
    spare = np.full((k, k), SPARE / (k - 1))
    np.fill_diagonal(spare, SPARE)
    return counts + spare * (counts.sum(axis=1) > 0)[:, np.newaxis]


def influence(counts: Array, statistic: str, averaging: Averaging | None, weight: Array | None) -> Array:
    """Return for each cell the influence of a case on a statistic: the derivative with respect to the cell's share.

    Parameters
    ----------
    counts : k × k array
        Confusion matrix.
    statistic : str
        Statistic of the complete matrix, or the metric of each class that is averaged.
    averaging : {"macro", "micro", "weighted"}, optional
        Average of the metric over classes.
    weight : array of k weights, or None
        Weight of each class in the average; None for a statistic of the complete matrix.
    """
    k, n, actual, predicted = len(counts), counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    if weight is None and statistic == "mcc":
        # C/√(A·B) with C = n·Σ hits − Σ actual·predicted, A = n² − Σ actual², B = n² − Σ predicted².
        right = np.trace(counts)
        covariance = n * right - actual @ predicted
        a, b = n**2 - actual @ actual, n**2 - predicted @ predicted
        by_covariance = n * np.eye(k) + right - predicted[:, np.newaxis] - actual
        by_spread = ((n - actual) / a)[:, np.newaxis] + (n - predicted) / b
        return n * (by_covariance - covariance * by_spread) / sqrt(a * b)
    if weight is None:
        # kappa = 1 − S·n/E, with the disagreement S = Σ w·count and E = Σ actual·w·predicted.
        distance = _disagreement(k, statistic)
        seen, expected = (distance * counts).sum(), actual @ distance @ predicted
        by_margins = (distance @ predicted)[:, np.newaxis] + actual @ distance
        return -n * ((distance * n + seen) / expected - seen * n / expected**2 * by_margins)
    metric, cells = _metric(statistic), [*one_vs_rest(counts)]
    if averaging == "micro":
        cells = [np.full(k, cell.sum()) for cell in cells]
    slopes = []
    for place, cell in enumerate(cells):
        others = cells[:place], cells[place + 1 :]
        more, less = (metric(*others[0], cell * factor, *others[1]) for factor in (1 + _STEP, 1 - _STEP))
        slopes.append(np.nan_to_num(n * _ratio(more - less, 2 * _STEP * cell)) * weight)
    tp, fp, fn, tn = slopes
    of_cells = tn.sum() + (fn - tn)[:, np.newaxis] + (fp - tn) + np.diag(tp - fn - fp + tn)
    if averaging == "weighted":  # the weights are shares of the actual classes
        values = np.nan_to_num(metric(*cells))
        of_cells += np.where(weight > 0, values - weight @ values, 0)[:, np.newaxis]
    return of_cells


def _half_row_interval(
    matrix: "ConfusionMatrix", statistic: str, averaging: Averaging | None, weight: Array | None, level: float
) -> Estimate:
    """Return the delta-method interval of a statistic, computed from the counts of `with_half_rows`."""
    counts, total = matrix.counts, float(matrix.n)
    if weight is not None and averaging != "micro":
        weight = _ratio(weight, weight.sum())

    def value_of(counts: Array) -> float:
        if weight is None:
            return float(STATISTICS[statistic](counts))
        if averaging == "micro":
            return float(averaged(counts, statistic, averaging))
        return float(weight @ np.where(weight > 0, per_class(counts, statistic), 0))

    value = value_of(counts)
    if not isfinite(value):
        raise InputError(
            f"interval of {statistic}", expected="a finite value", got="a value that is undefined for these cases"
        )
    n, amount, df, note, reason = total, total, inf, "", ""
    if matrix._rows is not None:
        # The number of equal cases with the same variance as these rows.
        cell, design = matrix._rows
        effect = influence(with_half_rows(counts / total * design.effective), statistic, averaging, weight)
        residual = effect.ravel()[cell] - design.share @ effect.ravel()[cell]
        observed = design.stratum((design.share * residual)[:, np.newaxis]).variance(0)
        n, note, reason, df = design.n, design.named("").strip(", "), design.reason, max(design.effective - 1, 1)
        amount = min(float(design.share @ residual**2) / observed, n) if observed > 0 else design.effective
    smoothed = with_half_rows(counts / total * amount)
    share, effect = smoothed / smoothed.sum(), influence(smoothed, statistic, averaging, weight)
    error = sqrt(((share * effect**2).sum() - (share * effect).sum() ** 2) / amount)
    scale = SIGNED if weight is None else at(0, statistic).scale
    low, high = scale.around(value_of(smoothed), inference.t_quantile(inference.normal_quantile(level), df) * error)
    reason = reason or inference.few(amount, inference.FEW_ROWS, "independent rows")
    method = inference.joined("half a row added to each class", note)
    return Estimate(value, min(low, value), max(high, value), level, method, n, error, reason)


_SHOWN = ("precision", "recall", "specificity", "f_score", "jaccard")  # metrics of each class in `to_dict`


def _of_counts(statistic: Callable[[Array], Any], doc: str) -> property:
    """Return a property that computes a statistic of the counts of a confusion matrix."""
    return property(lambda matrix: statistic(matrix.counts), doc=doc)


# The matrix


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ConfusionMatrix(Result):
    """Confusion matrix: number of cases of each actual class (row) and predicted class (column).

    Parameters
    ----------
    counts : k × k array or data frame
        Numbers of cases, or sums of row weights. A data frame, such as the result of `pandas.crosstab`, contains the
        class names.
    classes : sequence of k class names, optional
        Class names in the order of the rows; by default 0, 1, …, or the names in a data frame. Rows and columns of a
        data frame are matched by name.
    rows : {"actual", "predicted"}
        Meaning of the rows of `counts`: actual or predicted classes. It may be omitted only for a symmetric matrix. The
        stored matrix always has the actual classes in rows.

    Raises
    ------
    ShapeError, WeightError, LabelError, InputError
        If the matrix is not square, a count is negative, the class names do not match, or `rows` is missing.

    Notes
    -----
    A metric with denominator 0 is NaN. An `Average` over classes lists the classes without a value.

    References
    ----------
    Pedreschi & Guidotti after Tan et al., "Binary vs Multiclass Evaluation"; Hernández-Orallo 2004 writes the
    predicted class in rows.

    Examples
    --------
    >>> counts = [[20, 5, 4], [0, 15, 7], [13, 4, 60]]
    >>> matrix = ConfusionMatrix(counts, classes=["low", "medium", "high"], rows="actual")
    >>> matrix
    ConfusionMatrix(classes=['low', 'medium', 'high'], n=128, accuracy=0.742188)
    >>> matrix.binary("low")
    OperatingPoint(tp=20, fp=13, fn=9, tn=86)
    >>> matrix.macro("recall")
    Average(0.716898 over 3)
    """

    counts: Array
    classes: tuple[Hashable, ...]
    _rows: tuple[Indices, RowDesign] | None

    def __init__(self, counts: Any, *, classes: Any = None, rows: RowsAre | None = None) -> None:
        matrix, names = rows_actual(counts, classes, "counts", rows)
        if (matrix < 0).any():
            raise WeightError("counts", expected="counts of at least 0", got=f"{matrix.min():g}")
        names = names or class_names.check_classes(range(len(matrix)))
        check.set_fields(self, counts=check.read_only(matrix), classes=names, _rows=None)

    @classmethod
    def from_labels(
        cls, y_true: Any, y_pred: Any, *, classes: Any = None, sample_weight: Any = None
    ) -> "ConfusionMatrix":
        """Compute the confusion matrix of true and predicted labels.

        Parameters
        ----------
        y_true, y_pred : arrays of n labels
            True and predicted class of each row.
        classes : sequence, optional
            All possible labels, in the order of the matrix; by default the labels that occur, sorted.
        sample_weight : array of n weights, optional
            Weight of each row.

        Examples
        --------
        >>> ConfusionMatrix.from_labels(["a", "b", "c", "a"], ["a", "b", "b", "b"]).counts
        array([[1, 1, 0],
               [0, 1, 0],
               [0, 1, 0]])
        """
        check.check_same_index(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight)
        actual = class_names.label_column(y_true, "y_true")
        predicted = class_names.label_column(y_pred, "y_pred", actual.size)
        names = class_names.classes_of(classes, (y_true, y_pred), (actual, predicted))
        indices = (
            class_names.class_index(actual, names, "y_true"),
            class_names.class_index(predicted, names, "y_pred"),
        )
        design = RowDesign.of(actual.size, check.check_weights(sample_weight, actual.size))
        return cls.from_index(*indices, names, design)

    @classmethod
    def from_index(
        cls, actual: Array, predicted: Array, classes: tuple[Hashable, ...], design: RowDesign
    ) -> "ConfusionMatrix":
        """Compute the confusion matrix of class indices; intervals account for the weights and groups in `design`.

        Parameters
        ----------
        actual, predicted : arrays of n int
            Index of the actual and of the predicted class of each row.
        classes : tuple of labels
            Classes in order.
        design : RowDesign
            Weights and groups of the rows.
        """
        k, weight = len(classes), design.weight
        cell = (actual * k + predicted)[design.rows]
        counts = np.bincount(cell, weight, k * k).reshape(k, k)
        counts = counts.astype(np.int64) if weight is None or weight.dtype.kind == "i" else counts
        matrix = cls(counts, classes=classes, rows="actual")
        # Groups of one row each can be ignored, except if a row has a frequency above 1.
        grouped = design.group is not None and (weight is not None or design.group.max(initial=-1) + 1 < cell.size)
        if grouped or (weight is not None and not design.is_frequency):
            check.set_fields(matrix, _rows=(cell, design))
        return matrix

    @property
    def n(self) -> float:
        """Number of cases; with row weights, the sum of the weights."""
        return self.counts.sum().item()

    @property
    def support(self) -> Array:
        """Number of cases of each actual class."""
        return self.counts.sum(axis=1)

    @property
    def predicted(self) -> Array:
        """Number of cases predicted as each class."""
        return self.counts.sum(axis=0)

    @property
    def row_shares(self) -> Array:
        """Confusion matrix divided by its row sums: shares of each actual class; the diagonal is recall."""
        return _ratio(self.counts, self.support[:, np.newaxis])

    @property
    def column_shares(self) -> Array:
        """Confusion matrix divided by its column sums: shares of each predicted class; the diagonal is precision."""
        return _ratio(self.counts, self.predicted)

    tp = _of_counts(hits, "True positives of each class against all others.")
    fp = _of_counts(lambda counts: one_vs_rest(counts)[1], "False positives of each class against all others.")
    fn = _of_counts(lambda counts: one_vs_rest(counts)[2], "False negatives of each class against all others.")
    tn = _of_counts(lambda counts: one_vs_rest(counts)[3], "True negatives of each class against all others.")
    precision = _of_counts(
        partial(per_class, metric="precision"), "Precision of each class: share of its predictions that are correct."
    )
    recall = _of_counts(partial(per_class, metric="recall"), "Recall: share of each class that is predicted correctly.")
    specificity = _of_counts(
        partial(per_class, metric="specificity"), "Specificity: share of all other cases not predicted as the class."
    )
    jaccard = _of_counts(partial(per_class, metric="jaccard"), "Harmonic mean of precision and recall of each class.")
    accuracy = _of_counts(lambda counts: float(accuracy(counts)), "Share of correctly predicted cases.")
    error = _of_counts(lambda counts: 1 - float(accuracy(counts)), "Share of wrongly predicted cases.")
    mcc = _of_counts(lambda counts: float(mcc(counts)), "Matthews correlation for k classes (Gorodkin's R_K).")

    def binary(self, cls: Any) -> OperatingPoint:
        """Return the confusion matrix of one class against all others, as an `OperatingPoint` with two-class metrics.

        Raises
        ------
        LabelError
            If the class is unknown.

        Examples
        --------
        >>> matrix = ConfusionMatrix([[5, 1, 0], [2, 3, 1], [0, 0, 4]], classes=["a", "b", "c"], rows="actual")
        >>> point = matrix.binary("a")
        >>> point.tp, point.fp, point.fn, point.tn
        (5, 2, 1, 8)
        """
        index = class_names.position(cls, self.classes)
        point = OperatingPoint(*(cell[index].item() for cell in one_vs_rest(self.counts)))
        if self._rows is None:
            return point
        _, design = self._rows
        weights = "cases" if design.weight is None or design.is_frequency else "sampling"
        return replace(point, weights=weights, dependent=design.group is not None)

    def as_point(self, pos_label: Any = None) -> OperatingPoint:
        """Convert a matrix of two classes to an `OperatingPoint`.

        Parameters
        ----------
        pos_label : label, optional
            Label of the positive class. Required if the labels are not 0 and 1.

        Raises
        ------
        LabelError
            If the number of classes is not two, or the positive class is unknown.

        Examples
        --------
        >>> ConfusionMatrix([[4, 1], [2, 3]], rows="actual").as_point()
        OperatingPoint(tp=3, fp=1, fn=2, tn=4)
        """
        if len(self.classes) != 2:
            hint = "compare one class with all others: matrix.binary(cls)"
            raise LabelError(
                "classes", expected="two classes", got=f"the classes {check.listing(self.classes)}", hint=hint
            )
        positive = check.check_labels(np.array(self.classes), pos_label, "classes")
        return self.binary(self.classes[int(positive.argmax())])

    def per_class(self, metric: str, **options: Any) -> Array:
        """Return a metric, such as "jaccard", for each class against all others.

        Parameters
        ----------
        metric : str
            Name of a metric in `rocscope.metrics.METRICS`, or "recall", "sensitivity" or "specificity".
        **options
            Arguments of the metric, such as ``beta=2`` for "f_score".
        """
        return per_class(self.counts, metric, **options)

    def f_score(self, beta: float = 1) -> Array:
        """Return the F_β score of each class against all others.

        Parameters
        ----------
        beta : float
            Weight of the recall relative to the precision.

        Examples
        --------
        Class "a" has the precision 5/7 and the recall 5/6, so F₁ is 2 · 5/(7 + 6):

        >>> matrix = ConfusionMatrix([[5, 1, 0], [2, 3, 1], [0, 0, 4]], classes=["a", "b", "c"], rows="actual")
        >>> matrix.f_score().round(4)
        array([0.7692, 0.6   , 0.8889])
        """
        return self.per_class("f_score", beta=beta)

    def macro(self, metric: str, **options: Any) -> Average:
        """Return the unweighted mean of a metric over classes, with the names of classes without a value.

        Parameters
        ----------
        metric : str
            Name of a metric of two classes, such as "precision".
        **options
            Parameters of the metric, such as ``beta``.

        Examples
        --------
        The recalls are 5/6, 3/6 and 4/4:

        >>> matrix = ConfusionMatrix([[5, 1, 0], [2, 3, 1], [0, 0, 4]], classes=["a", "b", "c"], rows="actual")
        >>> round(matrix.macro("recall").value, 4)
        0.7778
        """
        return average(self.per_class(metric, **options), names=self.classes)

    def weighted(self, metric: str, **options: Any) -> Average:
        """Return the mean of a metric over classes; each class is weighted by its number of cases.

        Parameters
        ----------
        metric : str
            Name of a metric of two classes, such as "precision".
        **options
            Parameters of the metric, such as ``beta``.

        Examples
        --------
        The recalls are 5/6, 3/6 and 4/4, and the classes have 6, 6 and 4 cases:

        >>> matrix = ConfusionMatrix([[5, 1, 0], [2, 3, 1], [0, 0, 4]], classes=["a", "b", "c"], rows="actual")
        >>> matrix.weighted("recall").value
        0.75
        """
        return average(self.per_class(metric, **options), names=self.classes, weight=self.support)

    def micro(self, metric: str, **options: Any) -> float:
        """Return the metric of the sum of all one-vs-rest tables; precision, recall and F1 then equal the accuracy.

        Parameters
        ----------
        metric : str
            Name of a metric of two classes, such as "precision".
        **options
            Parameters of the metric, such as ``beta``.

        Examples
        --------
        12 of 16 cases are on the diagonal:

        >>> matrix = ConfusionMatrix([[5, 1, 0], [2, 3, 1], [0, 0, 4]], classes=["a", "b", "c"], rows="actual")
        >>> matrix.micro("recall")
        0.75
        """
        return float(averaged(self.counts, metric, "micro", **options))

    @property
    def balanced_accuracy(self) -> Average:
        """Mean recall over classes, with the names of classes without cases."""
        return self.macro("recall")

    def kappa(self, weighting: Scheme | None = None) -> float:
        """Return Cohen's kappa; `weighting` is None (all errors count equally), "linear" or "quadratic".

        Parameters
        ----------
        weighting : {"linear", "quadratic"}, optional
            Weights of the errors by their distance. By default, all errors count equally.

        Raises
        ------
        InputError
            If `weighting` is unknown.

        Examples
        --------
        The accuracy is 0.7, and 0.5 is expected by chance:

        >>> ConfusionMatrix([[4, 1], [2, 3]], rows="actual").kappa()
        0.4
        """
        return float(kappa(self.counts, weighting))

    def interval(
        self,
        statistic: str,
        *,
        of: Any = None,
        averaging: Averaging | None = None,
        level: float = 0.95,
    ) -> Estimate:
        """Estimate a metric with its confidence interval.

        Parameters
        ----------
        statistic : str
            Name of the metric: a statistic of the complete matrix ("accuracy", "error", "balanced_accuracy", "kappa",
            "linear_kappa", "quadratic_kappa", "mcc"), an average over classes (such as "macro_f1"), or a metric of
            `per_class` together with `of` or `averaging`.
        of : class, optional
            Class for which the metric of `per_class` is computed.
        averaging : {"macro", "micro", "weighted"}, optional
            Average of the metric of `per_class` over classes; see `macro`, `micro` and `weighted`.
        level : float
            Confidence level.

        Raises
        ------
        InputError
            If the statistic is unknown or undefined, or the matrix was made from sums of weights instead of rows.

        Notes
        -----
        Metrics that are shares of independent cases (accuracy, recall, precision, specificity) have Wilson's interval.
        All other metrics have a delta-method interval. Before this interval is computed, 1/2 is added to each diagonal
        cell, and another 1/2 is spread over the other cells of each row. The interval is symmetric on the logit scale,
        and always includes the estimate. If the matrix was computed from rows with groups, repeats or sampling weights,
        the number of cases is replaced by the number of independent cases with the same variance.

        References
        ----------
        Agresti 2013, Categorical Data Analysis, §16.1 (delta method); Anscombe 1956, Biometrika 43:461–464.

        Examples
        --------
        >>> matrix = ConfusionMatrix([[20, 5, 4], [0, 15, 7], [13, 4, 60]], rows="actual")
        >>> matrix.interval("accuracy")
        Estimate(0.7422, 95% CI [0.6601, 0.8101], n=128)
        >>> matrix.interval("recall", of=1).n
        22
        """
        counts, classes, rows = self.counts, self.classes, self._rows
        level = check.check_level(level)
        if of is not None and averaging is not None:
            raise InputError("interval", expected="either a class (of=) or an average (averaging=)", got="both")
        if rows is None and (counts % 1 != 0).any():
            hint = "compute the matrix from rows with MulticlassPredictions.confusion or ConfusionMatrix.from_labels"
            raise InputError(f"interval of {statistic}", expected="numbers of cases", got="sums of weights", hint=hint)
        weight = None
        if of is not None:
            figure = known(statistic)
            index, rate = class_names.position(of, classes), figure.name if figure is not None else statistic
            if rows is None and rate in _PROPORTIONS:
                right, n = share_of(rate, *(int(cell[index]) for cell in one_vs_rest(counts)))
                if not n:
                    raise InputError(f"interval of {statistic}", expected="a denominator above 0", got="0 cases")
                return proportion(right, n, level=level)
            weight = np.arange(len(classes)) == index
        elif averaging is None:
            averaging, metric = averaged_metric(statistic)
            if statistic not in STATISTICS and (averaging is None or metric == "average_precision"):
                expected = check.one_of(statistic, list(STATISTICS))
                hint = f"for a metric of one class pass of= (one of {check.listing(classes)}), or pass averaging="
                raise InputError("statistic", expected=expected, got=repr(statistic), hint=hint)
            if rows is None and statistic in ("accuracy", "error"):
                right, n = int(np.trace(counts)), int(counts.sum())
                return proportion(right if statistic == "accuracy" else n - right, n, level=level)
            statistic = metric
        if averaging is not None:
            weight = counts.sum(axis=1) if averaging == "weighted" else np.ones(len(counts))
            if averaging != "micro":
                weight = weight * ~np.isnan(per_class(counts, statistic))
        return _half_row_interval(self, statistic, averaging, weight, level)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame like scikit-learn's classification report.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Returns
        -------
        data frame
            One row per class, with the columns "class", "precision", "recall", "f1-score" and "support". The last three
            rows are "accuracy" (in the column "f1-score"), "macro avg" and "weighted avg". A metric with denominator 0
            is NaN, and the averages omit it.

        Examples
        --------
        >>> ConfusionMatrix([[3, 1], [0, 4]], classes="ab", rows="actual").to_frame().round(3).iloc[[0, -1]]
                  class  precision  recall  f1-score  support
        0             a        1.0   0.750     0.857        4
        4  weighted avg        0.9   0.875     0.873        8
        """
        columns: dict[str, Any] = {"class": [*map(str, self.classes), "accuracy", "macro avg", "weighted avg"]}
        for name, metric in (("precision", "precision"), ("recall", "recall"), ("f1-score", "f_score")):
            overall = self.accuracy if metric == "f_score" else nan
            averages = [overall, float(self.macro(metric)), float(self.weighted(metric))]
            columns[name] = [*self.per_class(metric).tolist(), *averages]
        columns["support"] = [*self.support.tolist(), *[self.n] * 3]
        return check.frame_of(columns, backend)

    def __add__(self, other: object) -> "ConfusionMatrix":
        if not isinstance(other, type(self)) or other.classes != self.classes:
            return NotImplemented
        return ConfusionMatrix(self.counts + other.counts, classes=self.classes, rows="actual")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.classes == other.classes and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]  # an array inside

    def to_dict(self) -> dict[str, Any]:
        """Return the confusion matrix and its metrics as a dict that can be written as JSON.

        Examples
        --------
        >>> ConfusionMatrix([[5, 1], [2, 3]], classes=["a", "b"], rows="actual").to_dict()["counts"]
        [[5, 1], [2, 3]]
        """
        statistics = {name: statistic(self.counts) for name, statistic in STATISTICS.items()}
        per_class = {name: self.per_class(name) for name in _SHOWN}
        facts = {"classes": self.classes, "rows": "actual", "counts": self.counts, "per_class": per_class}
        return jsonable(facts | statistics)

    def __repr__(self) -> str:
        return f"ConfusionMatrix(classes={list(self.classes)}, n={self.n:g}, accuracy={self.accuracy:.6g})"

    def _repr_html_(self) -> str:
        return class_table(self.counts, self.classes, "actual \\ predicted")
