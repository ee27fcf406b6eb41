"""Multi-class AUC: Hand & Till, one-vs-rest, one-vs-one, and the pairwise areas."""
# MERGED-DOC: """Volume under the three-class ROC surface: the share of correctly ordered triples, one case of each
# class.
#
# vus: volume under the ROC surface of three classes, with its interval.
# """
# MERGED-DOC: """Compare models by multi-class AUC and by expected cost, on the same rows.
#
# Is B better than A: models of the same rows compared in an AUC of more than two classes.
# """

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, permutations
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.predictions import require_distinct
from rocscope.core.result import Result, jsonable
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference.estimate import (
    OF_ESTIMATES,
    Adjust,
    Alternative,
    Comparison,
    Comparisons,
    Estimate,
    Hypothesis,
    PValueAdjust,
    Test,
    compare_each_two,
)
from rocscope.inference.proportions import mover_difference, normal_quantile, of_share
from rocscope.inference.variance import is_selection
from rocscope.multiclass.confusion import (
    Average,
    by_logit,
    check_classes,
    check_probabilities,
    class_index,
    class_table,
    label_column,
    resampled,
    share_of_pairs,
    two_smallest,
    weighted_mean,
)
from rocscope.multiclass.costs import CostMatrix, check_reject_cost
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of


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


_CHUNK = 1_000_000  # trios compared at once: some MB
_SAME_DISTANCE = 1e-12  # distances of probabilities that differ by less are equal but for rounding
_OTHER_WAYS = [way for way in permutations(range(3)) if way != (0, 1, 2)]


@dataclass(frozen=True, eq=False)
class Volume:
    """A volume under the surface and each row's contribution.

    Attributes
    ----------
    value : float
    variance : float
        Of the estimate, from how the components vary within the classes; NaN where a class has one case.
    sampling_variance : float
        Of the random choice of trios; 0 where all were counted.
    trios : int
        How many were chosen at random.
    """

    value: float
    variance: float
    sampling_variance: float = 0.0
    trios: int = 0


def ordinal_volume(groups: list[Array], weights: list[Array]) -> Volume:
    """Return the volume for one score that should increase with the class, in O(n log n).

    A trio counts 1 if its scores rise strictly, 1/2 if two neighbours tie, 1/6 if all three do.
    """
    levels, place = np.unique(np.concatenate(groups), return_inverse=True)
    bounds = np.cumsum([0, *(group.size for group in groups)])
    places = [place[start:stop] for start, stop in pairwise(bounds)]
    low, mid, high = (np.bincount(at, w, levels.size) for at, w in zip(places, weights, strict=True))
    total = [float(w.sum()) for w in weights]
    below = np.cumsum(low) - low
    above = total[2] - np.cumsum(high)
    # Six times the weight of the sorted trios that have a middle case of this level, per middle case.
    at_mid = 6 * below * above + 3 * below * high + 3 * low * above + low * high
    sixfold = 6 * total[0] * total[1] * total[2]
    value = float(mid @ at_mid) / sixfold
    # The same trios seen from the low and from the high case.
    from_above = np.cumsum((mid * (6 * above + 3 * high))[::-1])[::-1] - mid * (6 * above + 3 * high)
    at_low = from_above + mid * (3 * above + high)
    from_below = np.cumsum(mid * (6 * below + 3 * low)) - mid * (6 * below + 3 * low)
    at_high = from_below + mid * (3 * below + low)
    components = [
        at[level] * own / sixfold for at, level, own in zip((at_low, at_mid, at_high), places, total, strict=True)
    ]
    return Volume(value, _variance(components, weights))


def corner_distances(proba: Array) -> Array:
    """Return the distances of probability triples to the three corners of the simplex (n × 3)."""
    corner = np.eye(3)
    return np.sqrt(((proba[:, np.newaxis, :] - corner) ** 2).sum(axis=2))


def sorted_right(first: Array, second: Array, third: Array) -> Array:
    """Return the credit of trios, given the distances of their cases (… × 3) to the corners.

    1 where the three cases lie closest, in sum, to the corners of their own classes among the six ways to assign
    them; shared where several ways are equally close.
    """
    own = first[..., 0] + second[..., 1] + third[..., 2]
    equally_good = np.ones(own.shape)
    best = np.ones(own.shape, dtype=bool)
    for a, b, c in _OTHER_WAYS:
        other = first[..., a] + second[..., b] + third[..., c]
        tied = np.abs(other - own) <= _SAME_DISTANCE
        equally_good += tied
        best &= tied | (own < other)
    return best / equally_good


def triple_volume(groups: list[Array], weights: list[Array]) -> Volume:
    """Return the volume of probability triples over all trios."""
    distance = [corner_distances(group) for group in groups]
    total = [float(w.sum()) for w in weights]
    sums = [np.zeros(len(group)) for group in groups]
    size = max(1, _CHUNK // (len(groups[1]) * len(groups[2])))
    for start in range(0, len(groups[0]), size):
        rows = slice(start, start + size)
        credit = sorted_right(distance[0][rows, None, None], distance[1][None, :, None], distance[2][None, None, :])
        sums[0][rows] = np.einsum("abc,b,c->a", credit, weights[1], weights[2])
        sums[1] += np.einsum("abc,a,c->b", credit, weights[0][rows], weights[2])
        sums[2] += np.einsum("abc,a,b->c", credit, weights[0][rows], weights[1])
    others = (total[1] * total[2], total[0] * total[2], total[0] * total[1])
    components = [part / pairs for part, pairs in zip(sums, others, strict=True)]
    return Volume(float(weights[0] @ components[0] / total[0]), _variance(components, weights))


def sampled_volume(groups: list[Array], weights: list[Array], per_row: int, rng: np.random.Generator) -> Volume:
    """Return the volume from `per_row` random trios per row.

    Notes
    -----
    An incomplete U-statistic. What the random partners add to the spread of the components is estimated from the
    spread about each row and taken off again, so that the variance is that of the complete statistic; the variance
    of the random choice is reported beside it (Blom 1976, Biometrika 63:573–580).
    """
    distance = [corner_distances(group) for group in groups]
    means, spreads = [], []
    for cls in range(3):
        partners = [
            distance[other][
                rng.choice(len(groups[other]), (len(groups[cls]), per_row), p=weights[other] / weights[other].sum())
            ]
            if other != cls
            else distance[cls][:, np.newaxis, :]
            for other in range(3)
        ]
        credit = sorted_right(*partners)
        means.append(credit.mean(axis=1))
        spreads.append(credit.var(axis=1, ddof=1) / per_row)
    size = [float(w.sum()) for w in weights]
    value_of = [float(w @ part / total) for w, part, total in zip(weights, means, size, strict=True)]
    noise = [float(w**2 @ part / total**2) for w, part, total in zip(weights, spreads, size, strict=True)]
    excess = [float(w @ part / total) / (total - 1) for w, part, total in zip(weights, spreads, size, strict=True)]
    variance = max(0.0, _variance(means, weights) - sum(excess))
    return Volume(sum(value_of) / 3, variance, sum(noise) / 9, sum(map(len, groups)) * per_row)


def _variance(components: list[Array], weights: list[Array]) -> float:
    variance = 0.0
    for part, weight in zip(components, weights, strict=True):
        total = float(weight.sum())
        centred = part - weight @ part / total
        variance += float(weight @ centred**2) / (total * (total - 1)) if total > 1 else np.nan
    return variance


MOST_TRIOS = 20_000_000
"""Up to this many trios of probability triples all are evaluated."""

_TRIOS_PER_ROW = 200  # random trios; a choice: what sampling adds to the variance is part of the interval


@contract
def vus(
    y_true: Any,
    score: Any = None,
    *,
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    method: Literal["auto", "exact", "sampled"] = "auto",
    random_state: Any = 0,
) -> Estimate:
    """Estimate the volume under the ROC surface: probability that one case of each class is ranked correctly.

    Parameters
    ----------
    y_true : array of n labels, or MulticlassPredictions
    score : array of n scores, or n × 3 array of probabilities
        One score that should rise from the first class to the last; or the probabilities of the three classes.
    model : str, optional
        Which model of the predictions.
    classes : sequence of three labels, optional
        In their order, which matters for one score; sorted when left out.
    sample_weight : array of n weights, optional
        Numbers of equal rows.
    level : float
        Confidence level.
    method : {"auto", "exact", "sampled"}
        For probabilities: all trios, or 200 random ones about each row; "auto" takes all up to 20 million. One score
        is always exact.
    random_state : int, Generator, RandomState or None
        Of the random trios.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If there are not three classes.
    OneClassError
        If one of them has no cases.

    Notes
    -----
    One score: a trio counts 1 if its scores rise strictly with the class, 1/2 if two neighbours tie, 1/6 if all
    three do; chance gives 1/6. O(n log n).

    Probabilities: a trio counts 1 if, of the six ways to assign its cases to the three corners of the simplex, the
    right one has the smallest sum of distances; ties share it. O(n₁·n₂·n₃).

    Both are U-statistics of three samples; the variance is the sum over classes of the variance of the share of
    right trios that a case is in, over the size of the class, and the interval is symmetric on the logit scale.
    Random trios add their own variance. Where the variance is 0 the interval is Wilson's for as many trios as the
    smallest class has cases.

    References
    ----------
    Mossman 1999, Med. Decis. Making 19:78–89; Dreiseitl, Ohno-Machado & Binder 2000, Med. Decis. Making 20:323–331;
    Nakas & Yiannoutsos 2004, Stat. Med. 23:3437–3449.

    Examples
    --------
    Of the 2·2·2 trios 6 rise strictly, and 2 tie at 5:

    >>> score = [1, 2, 3, 5, 5, 7]
    >>> vus(["low", "low", "mid", "mid", "high", "high"], score, classes=["low", "mid", "high"]).value
    0.875
    """
    level = check.check_level(level)
    check.check_choice("method", method, ("auto", "exact", "sampled"))
    require_distinct(y_true, "volume under the surface")
    groups, weights = _three_groups(y_true, score, model, classes, sample_weight)
    if groups[0].ndim == 1:
        volume = ordinal_volume(groups, weights)
    elif method == "exact" or (method == "auto" and np.prod([float(len(group)) for group in groups]) <= MOST_TRIOS):
        volume = triple_volume(groups, weights)
    else:
        volume = sampled_volume(groups, weights, _TRIOS_PER_ROW, check.check_random_state(random_state))
    name = "U-statistic" if not volume.sampling_variance else f"U-statistic of {volume.trios:,} random trios"
    smallest = min(float(weight.sum()) for weight in weights)
    standard_error = sqrt(volume.variance + volume.sampling_variance)
    n = sum(float(weight.sum()) for weight in weights)
    if not (standard_error > 0 and 0 < volume.value < 1):
        return share_of_pairs(volume.value, smallest, level, "trios", n)
    return by_logit(volume.value, standard_error, level, name, n)


def _three_groups(
    y_true: Any, score: Any, model: str | None, classes: Any, sample_weight: Any
) -> tuple[list[Array], list[Array]]:
    """Return scores (or triples) and weights of each of three classes, in order."""
    if score is None:
        preds = predictions_of(y_true, name="y_true", classes=classes, sample_weight=sample_weight)
        names, index, weight = preds.classes, preds.y_true, preds.sample_weight
        values = preds.probabilities(model)
    else:
        check.check_same_index(y_true=y_true, score=score, sample_weight=sample_weight)
        actual = label_column(y_true, "y_true")
        names = check_classes(check.distinct(actual) if classes is None else classes)
        index = class_index(actual, names, "y_true")
        weight = check.check_weights(sample_weight, actual.size)
        values = check.as_array(score)
        values = check.check_scores(values, actual.size, "score") if values.ndim == 1 else values
    if len(names) != 3:
        raise InputError("vus", expected="three classes", got=f"{len(names)}: {check.listing(names)}")
    if values.ndim != 1:
        values = check_probabilities(values, index.size, 3, "score").astype(np.float64)
    weight = np.ones(index.size) if weight is None else weight.astype(np.float64)
    masks = [(index == cls) & (weight > 0) for cls in range(3)]
    absent = [name for name, mask in zip(names, masks, strict=True) if not mask.any()]
    if absent:
        raise OneClassError("vus", expected="cases of all three classes", got=f"none of {check.listing(absent)}")
    return [values[mask] for mask in masks], [weight[mask] for mask in masks]


_ROUNDING = 1e-14  # a variance of a difference below this share is what rounding leaves of 0


@contract
def compare_multiclass_auc(
    predictions: MulticlassPredictions,
    variant: Variant = "hand_till",
    *,
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: Adjust = "holm",
) -> Comparisons:
    """Compare a multi-class AUC of models on the same rows, with intervals and tests.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Models that predict labels only are left out.
    variant : {"hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted"}
        Which average; see `MulticlassAuc`.
    alternative, test, margin, level, adjust : see `rocscope.compare`

    Returns
    -------
    Comparisons
        One Comparison for each pair of models.

    Raises
    ------
    InputError
        If there are fewer than two models with probabilities.
    OneClassError
        If there are cases of one class only.

    Notes
    -----
    As DeLong's test for two classes: z = D/√(V₁ + V₂ − 2C), with variances and covariance from the placements of the
    rows within their classes.

    Examples
    --------
    >>> first = np.array([[6, 3, 1], [5, 1, 4], [2, 7, 1], [4, 3, 3], [3, 2, 5], [2, 5, 3]]) / 10
    >>> preds = MulticlassPredictions(list("aabbcc"), {"a": first, "b": first[[0, 1, 2, 4, 3, 5]]})
    >>> compare_multiclass_auc(preds)["a", "b"]
    Comparison(b − a: -0.1667, 95 % interval -0.4882 to 0.1548, p=0.31, two-sided, DeLong of hand_till, paired)
    """
    hypothesis = Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, OF_ESTIMATES)
    predictions = predictions_of(predictions)
    require_distinct(predictions, "comparison of multi-class AUCs")
    models = list(predictions.proba)
    if len(models) < 2:
        raise InputError("models with probabilities", expected="two or more", got=f"{len(models)}")
    support = predictions.support
    weight = coefficients(variant_weights(variant, support), support)
    if not weight.any():
        raise OneClassError("comparison", expected="cases of two classes", got="fewer")
    rows = [ClassColumns.of(predictions.y_true, predictions.proba[m], predictions.sample_weight) for m in models]
    components = np.column_stack([row_components(model, weight) for model in rows])
    covariance = covariance_of_components(rows[0], components)
    values = [multiclass_auc(predictions, model=model).average(variant).value for model in models]
    estimates = {
        model: auc_estimate(variant, value, float(covariance[i, i]), support, level)
        for i, (model, value) in enumerate(zip(models, values, strict=True))
    }
    name = f"DeLong of {variant}, paired"

    def compare(i: int, j: int) -> Comparison:
        variances = covariance[i, i] + covariance[j, j]
        variance = variances - 2 * covariance[i, j]
        if variance > _ROUNDING * variances:
            difference = hypothesis.wald(values[j] - values[i], sqrt(variance), predictions.n, name, bound=1)
        else:
            warn(f"{models[j]!r} − {models[i]!r}: the variance of the difference is 0 or undefined")
            both = estimates[models[i]], estimates[models[j]]
            difference = mover_difference(*both, "intervals of both (MOVER)", both[0].n)
        return hypothesis.compare(models[i], models[j], difference, method=name)

    return compare_each_two(variant, estimates, covariance, compare, adjust)


@contract
def compare_multiclass_costs(
    predictions: MulticlassPredictions,
    cost: CostMatrix,
    *,
    decide: bool = True,
    reject_cost: float | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    adjust: PValueAdjust = "holm",
    replicates: int = 2000,
    random_state: Any = 0,
) -> Comparisons:
    """Compare the cost per case of models on the same rows, with paired bootstrap intervals.

    Parameters
    ----------
    predictions : MulticlassPredictions
    cost : CostMatrix
    decide : bool
        Decide each row by the least expected cost; else by the most probable class. Models that predict labels only
        keep those.
    reject_cost : float, optional
        Cost of leaving a case undecided, with `decide`.
    alternative, level, adjust : see `rocscope.compare`
        "less" is what a cheaper second model would show.
    replicates : int
    random_state : int, Generator, RandomState or None
        Of the bootstrap.

    Returns
    -------
    Comparisons
        One Comparison for each pair of models.

    Raises
    ------
    InputError
        If there are fewer than two models.

    Warns
    -----
    RocscopeWarning
        Where all rows cost alike: no replicate differs, and the interval allows for rows that were not seen.

    Notes
    -----
    Rows are drawn with what each model costs on them. Rows that cost alike, and weigh alike, are one kind, so that a
    replicate is a multinomial draw. Whole weights are numbers of equal rows; others go along with their row. The
    interval is that of the percentiles; the p-value refers the difference over its bootstrap standard error to the
    normal distribution.

    Examples
    --------
    >>> decisions = {"x": list("aabbca") * 10, "y": list("abbccc") * 10}
    >>> preds = MulticlassPredictions(list("aabbcc") * 10, decisions=decisions)
    >>> compare_multiclass_costs(preds, CostMatrix.errors("abc"))["x", "y"].difference.value
    0.16666666666666666
    """
    predictions = predictions_of(predictions)
    require_distinct(predictions, "comparison of multi-class costs")
    if len(predictions.models) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(predictions.models)}")
    hypothesis = Hypothesis(alternative, level=level)
    reject_cost = None if reject_cost is None else check_reject_cost(reject_cost)
    paid = np.column_stack([_paid(predictions, cost, m, decide, reject_cost) for m in predictions.models])
    names = predictions.models
    spread = float(np.ptp([*cost.cost.ravel(), *([] if reject_cost is None else [reject_cost])]))
    options = {"replicates": replicates, "level": level, "random_state": check.seed_of(random_state)}

    def mean(column: Array, possible: float) -> Estimate:
        return _never_certain(_mean(column, predictions.sample_weight, **options), possible)

    estimates = {name: mean(paid[:, i], spread) for i, name in enumerate(names)}

    def compare(i: int, j: int) -> Comparison:
        difference = mean(paid[:, j] - paid[:, i], 2 * spread)
        return hypothesis.compare(names[i], names[j], difference, method=f"paired {difference.method}")

    covariance = _covariance_of_means(paid, predictions.sample_weight)
    return compare_each_two("cost per case", estimates, covariance, compare, adjust)


def _paid(
    predictions: MulticlassPredictions, cost: CostMatrix, model: str, decide: bool, reject_cost: float | None
) -> Array:
    if decide and model in predictions.proba:
        decided = cost.decide(predictions.proba[model], reject_cost=reject_cost)
    else:
        decided = predictions.predicted(model)
    return cost.of_rows(predictions.y_true, decided, reject_cost=reject_cost)


def _never_certain(estimate: Estimate, possible: float) -> Estimate:
    """Widen an interval of zero width by the possible cost of unseen rows: Wilson's bound of their share."""
    if estimate.standard_error > 0:
        return estimate
    warn("all rows cost alike, so that the bootstrap does not vary; the interval is Wilson's for rows not seen")
    reach = possible * (1 - float(of_share(estimate.n, estimate.n, "wilson", estimate.level)[0]))
    ends = estimate.value - reach, estimate.value + reach
    standard_error = reach / normal_quantile(estimate.level)
    return Estimate(estimate.value, *ends, estimate.level, "Wilson for rows not seen", estimate.n, standard_error)


def _covariance_of_means(paid: Array, weight: Array | None) -> Array:
    """Return the limit of the bootstrap covariance for many replicates."""
    weight = np.ones(len(paid), np.int64) if weight is None else weight
    total = weight.sum()
    centred = paid - weight @ paid / total
    power = weight if is_selection(weight) else weight**2
    return (centred.T * power) @ centred / total**2


def _mean(values: Array, weight: Array | None, **options: Any) -> Estimate:
    """Return the weighted mean of a column with its bootstrap interval, stratified by kind."""
    weight = np.ones(values.size, np.int64) if weight is None else weight
    whole = is_selection(weight)
    kinds, place = np.unique(
        np.column_stack([values, np.ones(values.size) if whole else weight]), axis=0, return_inverse=True
    )
    frequency = np.bincount(place.reshape(-1), weight if whole else None).astype(np.int64)

    def mean(drawn: Array) -> Array:
        return drawn @ (kinds[:, 0] * kinds[:, 1]) / (drawn @ kinds[:, 1])

    return resampled(frequency, mean, **options)
