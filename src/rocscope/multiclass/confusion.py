"""ConfusionMatrix: counts of predicted by actual class, with per-class metrics and averages."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.point import OperatingPoint
from rocscope.core.result import Result, jsonable
from rocscope.errors import LabelError, ShapeError, WeightError
from rocscope.inference.estimate import Estimate
from rocscope.multiclass import table_statistics as tables
from rocscope.multiclass.classes import (
    Average,
    RowsAre,
    average,
    check_classes,
    class_index,
    class_table,
    distinct_labels,
    label_column,
    position,
    rows_actual,
)
from rocscope.multiclass.table_statistics import table_interval

_SHOWN = ("precision", "recall", "specificity", "f_score", "jaccard")


def _cell(index: int, doc: str) -> property:
    def cell(self: "ConfusionMatrix") -> Array:
        return tables.one_vs_rest(self.counts)[index]

    return property(cell, doc=doc)


def _metric(name: str, doc: str) -> property:
    def metric(self: "ConfusionMatrix") -> Array:
        return self.per_class(name)

    return property(metric, doc=doc)


def _statistic(name: str, doc: str) -> property:
    def statistic(self: "ConfusionMatrix") -> float:
        return float(tables.STATISTICS[name](self.counts))

    return property(statistic, doc=doc)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ConfusionMatrix(Result):
    """Counts of cases by actual class (rows) and predicted class (columns).

    Parameters
    ----------
    counts : k × k array
        Counts, or sums of weights.
    classes : sequence of k class names, optional
        0, 1, … when left out.
    rows : {"actual", "predicted"}
        What the rows of `counts` are; may be left out only for a symmetric matrix. They are stored as actual.

    Raises
    ------
    ShapeError, WeightError, LabelError, InputError
        If the matrix is not square, a count is negative, names do not fit, or the orientation is not said.

    Notes
    -----
    A share whose denominator is 0 is NaN, and averages over classes name those that have none.

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

    def __init__(self, counts: Any, *, classes: Any = None, rows: RowsAre | None = None) -> None:
        matrix = rows_actual(counts, "counts", rows)
        if (matrix < 0).any():
            raise WeightError("counts", expected="counts of at least 0", got=f"{matrix.min():g}")
        names = check_classes(range(len(matrix)) if classes is None else classes)
        if len(names) != len(matrix):
            raise ShapeError("classes", expected=f"one name per row ({len(matrix)})", got=str(len(names)))
        check.settle(self, counts=check.read_only(matrix), classes=names)

    @classmethod
    def from_labels(
        cls, y_true: Any, y_pred: Any, *, classes: Any = None, sample_weight: Any = None
    ) -> "ConfusionMatrix":
        """Count labels against predicted labels.

        Parameters
        ----------
        y_true, y_pred : arrays of n labels
        classes : sequence, optional
            All labels that there are, in the order wanted; those that occur, sorted, when left out.
        sample_weight : array of n weights, optional

        Examples
        --------
        >>> ConfusionMatrix.from_labels(["a", "b", "c", "a"], ["a", "b", "b", "b"]).counts
        array([[1, 1, 0],
               [0, 1, 0],
               [0, 1, 0]])
        """
        check.check_same_index(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight)
        actual = label_column(y_true, "y_true")
        predicted = label_column(y_pred, "y_pred", actual.size)
        if classes is None:
            classes = distinct_labels(actual, predicted)
        names = check_classes(classes)
        indices = (class_index(actual, names, "y_true"), class_index(predicted, names, "y_pred"))
        return cls.from_index(*indices, names, check.check_weights(sample_weight, actual.size))

    @classmethod
    def from_index(
        cls, actual: Array, predicted: Array, classes: tuple[Hashable, ...], weight: Array | None = None
    ) -> "ConfusionMatrix":
        """Count checked class indices."""
        k = len(classes)
        counts = np.bincount(actual * k + predicted, weight, k * k).reshape(k, k)
        if weight is None or weight.dtype.kind == "i":
            counts = counts.astype(np.int64)
        return cls(counts, classes=classes, rows="actual")

    @property
    def n(self) -> float:
        """Number of cases (sum of weights)."""
        return self.counts.sum().item()

    @property
    def support(self) -> Array:
        """Cases of each class."""
        return self.counts.sum(axis=1)

    @property
    def predicted(self) -> Array:
        """Cases predicted as each class."""
        return self.counts.sum(axis=0)

    @property
    def row_shares(self) -> Array:
        """Share of each actual class predicted as each; rows sum to 1, the diagonal is recall."""
        return _shares(self.counts, self.support[:, np.newaxis])

    @property
    def column_shares(self) -> Array:
        """Share of each predicted class that belongs to each; columns sum to 1, the diagonal is precision."""
        return _shares(self.counts, self.predicted)

    tp = _cell(0, "True positives of each class against the rest.")
    fp = _cell(1, "False positives of each class against the rest.")
    fn = _cell(2, "False negatives of each class against the rest.")
    tn = _cell(3, "True negatives of each class against the rest.")
    precision = _metric("precision", "Share of true among the cases predicted as each class.")
    recall = _metric("recall", "Share of each class that is found.")
    specificity = _metric("specificity", "Share of the other classes that is not taken for each class.")
    jaccard = _metric("jaccard", "Overlap of each class with the cases predicted as such.")
    accuracy = _statistic("accuracy", "Share of cases on the diagonal.")
    error = _statistic("error", "Share of cases off the diagonal.")
    mcc = _statistic("mcc", "Matthews correlation for k classes (Gorodkin's R_K).")

    def binary(self, cls: Any) -> OperatingPoint:
        """Return the 2 × 2 table of one class against the rest, with every metric of two classes."""
        index = position(cls, self.classes)
        return OperatingPoint(*(cell[index].item() for cell in tables.one_vs_rest(self.counts)))

    def as_point(self, pos_label: Any = None) -> OperatingPoint:
        """Return a 2 × 2 matrix as counts, for functions that take a classifier without scores.

        Raises
        ------
        LabelError
            If there are not two classes, or which one is positive is not known.

        Examples
        --------
        >>> ConfusionMatrix([[4, 1], [2, 3]], rows="actual").as_point()
        OperatingPoint(tp=3, fp=1, fn=2, tn=4)
        """
        if len(self.classes) != 2:
            hint = "take one against the rest: matrix.binary(cls)"
            raise LabelError("classes", expected="two", got=check.listing(self.classes), hint=hint)
        positive = check.check_labels(np.array(self.classes), pos_label, "classes")
        return self.binary(self.classes[int(positive.argmax())])

    def per_class(self, metric: str, **options: Any) -> Array:
        """Return a metric of `rocscope.metrics` for each class against the rest, such as "jaccard".

        Parameters
        ----------
        metric : str
            A name from `rocscope.metrics.METRICS`, or "recall", "sensitivity", "specificity".
        **options
            Those of the metric, such as ``beta=2`` of "f_score".
        """
        return tables.per_class(self.counts, metric, **options)

    def f_score(self, beta: float = 1) -> Array:
        """F_β of each class."""
        return self.per_class("f_score", beta=beta)

    def macro(self, metric: str, **options: Any) -> Average:
        """Unweighted mean of a metric over classes, naming those for which it is undefined."""
        return average(self.per_class(metric, **options), names=self.classes)

    def weighted(self, metric: str, **options: Any) -> Average:
        """Mean of a metric over classes, weighted by their number of cases."""
        return average(self.per_class(metric, **options), names=self.classes, weight=self.support)

    def micro(self, metric: str, **options: Any) -> float:
        """Metric of the sum of all one-vs-rest tables; precision, recall and F1 then equal the accuracy."""
        return float(tables.averaged(self.counts, metric, "micro", **options))

    @property
    def balanced_accuracy(self) -> Average:
        """Mean recall of the classes, naming those without cases."""
        return self.macro("recall")

    def kappa(self, weighting: tables.Scheme | None = None) -> float:
        """Cohen's kappa, unweighted or with "linear" or "quadratic" weights; see `tables.kappa`."""
        return float(tables.kappa(self.counts, weighting))

    def interval(
        self,
        statistic: str,
        *,
        of: Any = None,
        averaging: tables.Averaging | None = None,
        level: float = 0.95,
        replicates: int = 2000,
        random_state: Any = 0,
    ) -> Estimate:
        """Return a statistic with its confidence interval.

        Parameters
        ----------
        statistic : str
            "accuracy", "error", "balanced_accuracy", "macro_f1", "kappa", "linear_kappa", "quadratic_kappa", "mcc";
            or a metric of one class (`of`) or of all (`averaging`), see `per_class`.
        of : class, optional
        averaging : {"macro", "micro", "weighted"}, optional
        level : float
            Confidence level.
        replicates : int
        random_state : int, Generator, RandomState or None
            Of the bootstrap.

        Raises
        ------
        InputError
            If counts are fractional weights, the statistic is not known or is undefined.

        Notes
        -----
        Shares of independent cases (accuracy, recall, precision, specificity …) have Wilson's interval; all else the
        percentile bootstrap of the rows, drawn as a multinomial over the k² cells.

        Examples
        --------
        >>> matrix = ConfusionMatrix([[20, 5, 4], [0, 15, 7], [13, 4, 60]], rows="actual")
        >>> matrix.interval("accuracy")
        Estimate(0.7422, 95 % interval 0.6601 to 0.8101, Wilson, n=128)
        >>> matrix.interval("recall", of=1).n
        22
        """
        options = {"level": level, "replicates": replicates, "random_state": random_state}
        return table_interval(self.counts, self.classes, statistic, of, averaging, **options)

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
        """Return counts (rows actual) and metrics per class and overall, safe for JSON."""
        whole = {name: statistic(self.counts) for name, statistic in tables.STATISTICS.items()}
        per_class = {name: self.per_class(name) for name in _SHOWN}
        facts = {"classes": self.classes, "rows": "actual", "counts": self.counts, "per_class": per_class}
        return jsonable(facts | whole)

    def __repr__(self) -> str:
        return f"ConfusionMatrix(classes={list(self.classes)}, n={self.n:g}, accuracy={self.accuracy:.6g})"

    def _repr_html_(self) -> str:
        return class_table(self.counts, self.classes, "actual \\ predicted")


def _shares(counts: Array, total: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return counts / total
