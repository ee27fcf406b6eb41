"""Multi-class AUC: Hand & Till, one-vs-rest, one-vs-one, and the pairwise areas."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.result import Result, jsonable
from rocscope.core.rows import require_distinct
from rocscope.errors import InputError, OneClassError
from rocscope.inference.estimate import Estimate
from rocscope.multiclass.classes import Average, by_logit, class_table, two_smallest, weighted_mean
from rocscope.multiclass.predictions import predictions_of


@dataclass(frozen=True, eq=False)
class ClassColumns:
    """Rows with positive weight sorted by class, and the probability of each class in that order.

    `start` has k + 1 entries: rows of class i are ``start[i]:start[i + 1]``.
    """

    order: NDArray[np.intp]
    start: NDArray[np.intp]
    columns: Array
    weight: Array | None

    @classmethod
    def of(cls, y: Array, proba: Array, weight: Array | None = None) -> "ClassColumns":
        """Sort rows by class, given checked indices, probabilities and weights."""
        k = proba.shape[1]
        key = y.astype(np.min_scalar_type(k))
        if weight is not None and not weight.all():
            used = np.flatnonzero(weight)
            order = used[np.argsort(key[used], kind="stable")]
        else:
            order = np.argsort(key, kind="stable")
        sizes = np.bincount(y[order], minlength=k)
        start = np.concatenate([[0], np.cumsum(sizes)])
        return cls(order, start, np.ascontiguousarray(proba.T), None if weight is None else weight[order])

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.start.size - 1

    def groups(self, column: int) -> list[Array]:
        """Return the probabilities of class `column` for the rows of each class."""
        values = self.columns[column][self.order]
        return [values[self._rows(cls)] for cls in range(self.k)]

    def weights(self, cls: int) -> Array | None:
        """Return the weights of the rows of a class."""
        return None if self.weight is None else self.weight[self._rows(cls)]

    def _rows(self, cls: int) -> slice:
        return slice(self.start[cls], self.start[cls + 1])

    @cached_property
    def support(self) -> Array:
        """Cases of each class (sums of weights)."""
        if self.weight is None:
            return np.diff(self.start)
        return np.array([self.weight[self._rows(cls)].sum() for cls in range(self.k)])


def doubled_concordance(rows: ClassColumns) -> Array:
    """Return the k × k matrix of twice the concordant plus the tied pairs; integers stay integers."""
    dtype = np.float64 if rows.weight is not None and rows.weight.dtype.kind == "f" else np.int64
    doubled = np.zeros((rows.k, rows.k), dtype)
    for cls in range(rows.k):
        groups = [_Ranked.of(values, rows.weights(other)) for other, values in enumerate(rows.groups(cls))]
        for other in range(rows.k):
            if other != cls:
                doubled[cls, other] = groups[cls].doubled_above(groups[other])
    return doubled


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Scores of one class in increasing order, with their weights."""

    scores: Array
    weight: Array | None

    @classmethod
    def of(cls, scores: Array, weight: Array | None) -> "_Ranked":
        if weight is None:
            return cls(np.sort(scores), None)
        order = np.argsort(scores)
        return cls(scores[order], weight[order])

    @cached_property
    def cumulative(self) -> Array:
        assert self.weight is not None
        return np.concatenate([np.zeros(1, self.weight.dtype), np.cumsum(self.weight)])

    def doubled_above(self, other: "_Ranked") -> float:
        """Return twice the pairs in which this class has the higher score, plus the tied ones."""
        pos, neg = self.scores, other.scores
        if self.weight is None or other.weight is None:
            return 2 * pos.size * neg.size - _ranks_sum(pos, neg)
        upto = [self.cumulative[np.searchsorted(pos, neg, side)] for side in ("left", "right")]
        return ((2 * self.cumulative[-1] - upto[0] - upto[1]) * other.weight).sum()


def _ranks_sum(pos: Array, neg: Array) -> int:
    if pos.size + neg.size < kernels.SMALL // 10:
        return int(np.searchsorted(pos, neg, "left").sum() + np.searchsorted(pos, neg, "right").sum())
    return kernels.classes.ranks_sum(pos, neg)


def row_components(rows: ClassColumns, weight_of: Array) -> Array:
    """Return each row's contribution (by class) to a weighted sum of A(i|j), minus its class mean.

    Parameters
    ----------
    rows : ClassColumns
    weight_of : k × k array
        Coefficients of A(i|j); 0 for those that are not defined.

    Notes
    -----
    The placements of DeLong, DeLong & Clarke-Pearson (1988), added up over the pairs that a row takes part in: the
    sum over pairs is a k-sample U-statistic, and the variance of these components within the classes is that of
    the statistic.
    """
    component = np.zeros(rows.order.size)
    for cls in range(rows.k):
        values = rows.groups(cls)
        orders = [np.argsort(group) for group in values]
        weights = (rows.weights(other) for other in range(rows.k))
        ranked = [
            _Ranked(group[order], None if weight is None else weight[order])
            for group, order, weight in zip(values, orders, weights, strict=True)
        ]
        for other in np.flatnonzero(weight_of[cls]):
            factor = weight_of[cls, other]
            component[rows.start[cls] + orders[cls]] += factor * _share_below(ranked[other], ranked[cls].scores)
            component[rows.start[other] + orders[other]] += factor * (
                1 - _share_below(ranked[cls], ranked[other].scores)
            )
    return component


def _share_below(ranked: _Ranked, values: Array) -> Array:
    """Return the share of a class below each of increasing values, which is faster than in any order."""
    places = [np.searchsorted(ranked.scores, values, side) for side in ("left", "right")]
    if ranked.weight is None:
        return (places[0] + places[1]) / (2 * ranked.scores.size)
    return (ranked.cumulative[places[0]] + ranked.cumulative[places[1]]) / (2 * ranked.cumulative[-1])


def covariance_of_components(rows: ClassColumns, components: Array) -> Array:
    """Return the m × m covariance of statistics from row components (n × m); NaN for a class of one row.

    Notes
    -----
    Σ over classes of the sample covariance within the class over its size. Weights are numbers of equal rows.
    """
    total = np.zeros((components.shape[1],) * 2)
    for cls in np.flatnonzero(np.diff(rows.start)):
        part = components[rows.start[cls] : rows.start[cls + 1]]
        weight = rows.weights(int(cls))
        weight = np.ones(len(part)) if weight is None else weight
        size = weight.sum()
        centred = part - weight @ part / size
        spread = (centred.T * weight) @ centred
        total += spread / (size * (size - 1)) if size > 1 else np.where(np.any(part, axis=0), np.nan, 0.0)
    return total


Variant = Literal["hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted"]
ClassWeight = Mapping[Any, float] | Literal["uniform", "prevalence"]

VARIANTS = ("hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted")


def _average(variant: Variant, doc: str) -> property:
    def average(self: "MulticlassAuc") -> Average:
        return self.average(variant)

    return property(average, doc=doc)


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassAuc(Result):
    """Pairwise AUCs of classes, and their named averages.

    Made by `rocscope.multiclass.multiclass_auc`.

    Attributes
    ----------
    classes : tuple of k names
    matrix : k × k array
        A(i|j): probability that a case of class i (row) has a higher probability of i than a case of class j
        (column), ties counting half; NaN on the diagonal and where a class has no cases.
    support : array of k counts

    Notes
    -----
    =============== ====================================================== =========================================
    name            mean of                                                 weights
    =============== ====================================================== =========================================
    `hand_till`     A(i|j) over all ordered pairs (M)                       equal
    `au1u`          the same, as Ferri et al. name it                       equal
    `au1p`          A(i|j) over all ordered pairs                           share of class i
    `ovo_weighted`  (A(i|j) + A(j|i))/2, scikit-learn's "ovo", "weighted"   shares of i and j together
    `aunu`          class i against the rest                                equal
    `aunp`          class i against the rest (Provost & Domingos)           share of class i
    =============== ====================================================== =========================================

    The weights sum to 1, also in `au1p`, where Ferri et al. print a factor 1/k more: a perfect model has 1. An
    average leaves out what is not defined, and names it.

    References
    ----------
    Hand & Till 2001, Machine Learning 45:171–186, eq. 7; Fawcett 2001; Provost & Domingos 2003; Ferri,
    Hernández-Orallo & Modroiu 2009, "An experimental comparison of performance measures for classification".
    """

    classes: tuple[Hashable, ...]
    matrix: Array
    support: Array
    _rows: ClassColumns

    hand_till = _average("hand_till", "Hand & Till's M: mean of A(i|j) over all ordered pairs of classes.")
    au1u = _average("au1u", "Each class against each other, classes alike: the same as `hand_till`.")
    au1p = _average("au1p", "Each class against each other, A(i|j) by the share of class i.")
    ovo_weighted = _average("ovo_weighted", "Each pair of classes by the share of cases in it.")
    aunu = _average("aunu", "Each class against the rest, classes alike.")
    aunp = _average("aunp", "Each class against the rest, by the share of the class.")

    @property
    def against_rest(self) -> Array:
        """AUC of each class against the rest; NaN for a class without cases, or without others."""
        return weighted_mean(self.matrix, np.tile(self.support, (len(self.classes), 1)))

    def one_vs_one(self, class_weight: ClassWeight = "uniform") -> Average:
        """Mean over pairs of classes, weighted by the sum of their class weights.

        Parameters
        ----------
        class_weight : {"uniform", "prevalence"} or mapping from class to weight
        """
        weight = class_weights(class_weight, self.classes, self.support)
        return self._mean(np.add.outer(weight, weight))

    def one_vs_rest(self, class_weight: ClassWeight = "uniform") -> Average:
        """Mean of the AUCs of each class against the rest, by class weights."""
        return self._mean(rest_weights(class_weights(class_weight, self.classes, self.support), self.support))

    def average(self, variant: Variant) -> Average:
        """Return a named average."""
        return self._mean(variant_weights(variant, self.support))

    def interval(self, variant: Variant = "hand_till", *, level: float = 0.95) -> Estimate:
        """Return an average with its confidence interval.

        Parameters
        ----------
        variant : str
            Name of the average.
        level : float
            Confidence level.

        Warns
        -----
        RocscopeWarning
            Where the variance is 0 or undefined: the interval is then Newcombe's for the two smallest classes alone.

        Notes
        -----
        Every average is a fixed combination of A(i|j), given the numbers of cases of the classes, and so a
        U-statistic of k samples; its variance comes from the placements of the rows within their classes, as DeLong's
        does, with which it agrees for two classes. The interval is symmetric on the logit scale. Weights are numbers
        of equal rows.

        References
        ----------
        DeLong, DeLong & Clarke-Pearson 1988; Hand & Till 2001, §4.

        Examples
        --------
        >>> proba = np.array([[6, 3, 1], [5, 1, 4], [2, 7, 1], [4, 3, 3], [3, 2, 5], [2, 5, 3]]) / 10
        >>> multiclass_auc(["a", "a", "b", "b", "c", "c"], proba).interval("aunu")
        Estimate(0.875, 95 % interval 0.3838 to 0.9874, DeLong of aunu, logit scale, n=6)
        """
        level = check.check_level(level)
        value = self.average(variant).value
        if np.isnan(value):
            raise OneClassError(f"interval of {variant}", expected="cases of two classes", got="fewer")
        components = row_components(self._rows, coefficients(variant_weights(variant, self.support), self.support))
        variance = covariance_of_components(self._rows, components[:, np.newaxis])[0, 0]
        return auc_estimate(variant, value, float(variance), self.support, level)

    def _mean(self, weight: Array) -> Average:
        used = coefficients(weight, self.support)
        value = float((used * np.nan_to_num(self.matrix)).sum()) if used.any() else float("nan")
        present = self.support > 0 if used.any() else np.zeros(self.support.size, bool)
        over = tuple(cls for cls, known in zip(self.classes, present, strict=True) if known)
        return Average(value, over, tuple(cls for cls in self.classes if cls not in over))

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix and all averages, safe for JSON."""
        facts = {name: getattr(self, name) for name in ("classes", "support", "matrix", "against_rest")}
        return jsonable(facts | {name: self.average(name) for name in VARIANTS})

    def __repr__(self) -> str:
        m, undefined = self.hand_till, self.hand_till.undefined
        missing = f", undefined: {', '.join(map(repr, undefined))}" if undefined else ""
        return (
            f"MulticlassAuc({len(self.classes)} classes, hand_till={m.value:.6g}, aunp={self.aunp.value:.6g}{missing})"
        )

    def _repr_html_(self) -> str:
        return super()._repr_html_() + class_table(self.matrix, self.classes, "A(row|column)", ".4g")


@contract
def multiclass_auc(
    y_true: Any, proba: Any = None, *, model: str | None = None, classes: Any = None, sample_weight: Any = None
) -> MulticlassAuc:
    """Compute the pairwise AUCs of more than two classes and their usual averages.

    Parameters
    ----------
    y_true : MulticlassPredictions, or array of n labels
    proba : n × k array or data frame
    model : str, optional
        Which model of the predictions; may be left out when there is one.
    classes, sample_weight : see `MulticlassPredictions`

    Returns
    -------
    MulticlassAuc

    Raises
    ------
    ShapeError, LabelError, ScoreError, WeightError
        See `MulticlassPredictions`.

    Notes
    -----
    Pairs are counted, in whole numbers where weights are whole: O(k·n log n + k·n) time.

    Examples
    --------
    >>> proba = [[0.8, 0.1, 0.1], [0.5, 0.2, 0.3], [0.3, 0.6, 0.1], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
    >>> auc = multiclass_auc(["a", "a", "b", "b", "c"], proba)
    >>> auc.matrix.tolist()
    [[nan, 0.75, 1.0], [1.0, nan, 1.0], [1.0, 1.0, nan]]
    >>> auc.hand_till, auc.aunu
    (Average(0.958333 over 3), Average(0.944444 over 3))
    """
    preds = predictions_of(y_true, proba, name="y_true", classes=classes, sample_weight=sample_weight)
    require_distinct(preds, "multi-class AUC with its interval")
    rows = ClassColumns.of(preds.y_true, preds.probabilities(model), preds.sample_weight)
    support = rows.support
    pairs = 2 * np.multiply.outer(support, support).astype(np.float64)
    np.fill_diagonal(pairs, 0)
    with np.errstate(invalid="ignore"):
        matrix = doubled_concordance(rows) / pairs
    return MulticlassAuc(preds.classes, check.read_only(matrix), check.read_only(support), rows)


def auc_estimate(variant: str, value: float, variance: float, support: Array, level: float) -> Estimate:
    """Return an average with its interval, given its variance."""
    n = support.sum().item()
    if variance > 0 and 0 < value < 1:
        return by_logit(value, sqrt(variance), level, f"DeLong of {variant}", n)
    first, second = np.sort(support[support > 0])[:2].tolist()
    return two_smallest(value, first, second, level, n)


def class_weights(given: ClassWeight, classes: tuple[Hashable, ...], support: Array) -> Array:
    """Return the weight of each class; by prevalence it is its share of cases."""
    if isinstance(given, str):
        if given not in ("uniform", "prevalence"):
            raise InputError("class_weight", expected="'uniform', 'prevalence' or a mapping", got=repr(given))
        return np.ones(support.size) if given == "uniform" else support / support.sum()
    if not isinstance(given, Mapping) or set(given) != set(classes):
        raise InputError("class_weight", expected=f"a weight for each of {check.listing(classes)}", got=repr(given))
    weight = np.array([given[cls] for cls in classes], dtype=np.float64)
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise InputError("class_weight", expected="weights of at least 0, not all 0", got=repr(given))
    return weight


def rest_weights(weight: Array, support: Array) -> Array:
    """Return the coefficients of A(i|j) in Σ weightᵢ·(AUC of i against the rest)."""
    rest = support.sum() - support
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(weight[:, np.newaxis] * support / rest[:, np.newaxis], posinf=0.0)


def variant_weights(variant: Variant, support: Array) -> Array:
    """Return the relative weights of A(i|j) in a named average."""
    k = support.size
    share = support / support.sum()
    if variant in ("hand_till", "au1u"):
        return np.ones((k, k))
    if variant == "au1p":
        return np.tile(share[:, np.newaxis], (1, k))
    if variant == "ovo_weighted":
        return np.add.outer(share, share)
    if variant in ("aunu", "aunp"):
        return rest_weights(np.ones(k) if variant == "aunu" else share, support)
    raise InputError("variant", expected=check.one_of(variant, VARIANTS), got=repr(variant))


def coefficients(weight: Array, support: Array) -> Array:
    """Return weights of A(i|j) that sum to 1, 0 where undefined; all 0 if none is defined."""
    used = np.array(weight, dtype=np.float64)
    absent = support == 0
    used[absent] = 0
    used[:, absent] = 0
    np.fill_diagonal(used, 0)
    return used / used.sum() if used.any() else used
