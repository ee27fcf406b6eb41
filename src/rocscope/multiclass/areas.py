"""AUC of more than two classes: pairwise areas and their averages, the volume under the surface, and comparisons.

A(i|j) is the probability that a case of class i has a higher predicted probability of i than a case of class j. The
usual multi-class AUCs (Hand & Till, one-vs-rest, one-vs-one) are weighted sums of these areas, given the class sizes. A
trio consists of one case of each of three classes. The volume under the surface (VUS) is the share of trios that are
ranked correctly. All these statistics are U-statistics of k samples, one sample per class.

Their variance is estimated by DeLong's method. The *component* of a row is the mean of the statistic over all pairs or
trios that contain the row. Classes are sampled independently. Therefore, the variance is the sum over classes of the
variance of the mean component (`ClassRows.covariance`). With groups of rows, the sums of components within groups are
independent. This adds the covariance between the classes of a group (Obuchowski 1997, eq. 3–6).

Sections of the file: rows by class, pairwise areas, averages, volume, comparison.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise, permutations
from math import sqrt
from typing import Any, Literal

import numpy as np

from rocscope import kernels
from rocscope._base import class_names, validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import contract
from rocscope._base.grouping import sum_by
from rocscope.core import Predictions, Result, Weights, independent_units, jsonable, model_name, require_kinds
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference import estimate as inference, variance
from rocscope.inference.areas import auc_interval, newcombe
from rocscope.inference.comparing import compare
from rocscope.inference.proportions import binomial_limits, logit, mover_difference
from rocscope.multiclass import confusion
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of

# Rows by class


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows with positive weights, sorted by class.

    Attributes
    ----------
    order : array of n
        Row numbers, sorted by class.
    start : array of k + 1
        Rows of class i are ``order[start[i]:start[i + 1]]``.
    design : RowDesign
        Weights and groups of the rows, in the order of `order`.
    """

    order: Indices
    start: Indices
    design: variance.RowDesign

    @classmethod
    def of(cls, y: Array, k: int, design: variance.RowDesign | None = None) -> "ClassRows":
        """Sort rows by class, given the class index of each row."""
        design = design or variance.RowDesign.of(y.size)
        key = y.astype(np.min_scalar_type(k))[design.rows]
        order = np.argsort(key, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=k))])
        return cls(design.rows[order], start, design.take(order))

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.start.size - 1

    def rows(self, cls: int) -> slice:
        """Return the slice of `order` that contains the rows of a class."""
        return slice(self.start[cls], self.start[cls + 1])

    def by_class(self, values: Array) -> list[Array]:
        """Split the values of all rows by class."""
        return [values[self.order[self.rows(cls)]] for cls in range(self.k)]

    @cached_property
    def support(self) -> Array:
        """Number of cases of each class; with row weights, the sum of the weights."""
        if self.design.weight is None:
            return np.diff(self.start)
        return np.array([self.design.weight[self.rows(cls)].sum() for cls in range(self.k)])

    @cached_property
    def effective(self) -> list[float]:
        """Kish's effective sample size of each class, in rows or groups."""
        return [self.design.take(self.rows(cls)).effective for cls in range(self.k)]

    def covariance(self, components: Array) -> Array:
        """Return the covariance matrix of m statistics (m × m) from the components of the rows (n × m).

        The influence of a row on the mean component of its class is the row's share of the weight, multiplied by the
        component minus the mean. With sampling weights, the jackknife's influences are used. With groups, the
        covariance between rows of a group is included, also if the rows belong to different classes. The covariance is
        NaN if a class has a single row or group.
        """
        group = self.design.group
        total = np.zeros((components.shape[1],) * 2)
        group_moves = []
        for cls in range(self.k):
            part, design = components[self.rows(cls)], self.design.take(self.rows(cls))
            if not part.any():  # no defined area depends on this class
                continue
            moves = variance.moves_of_mean(part, design.amount)
            if group is None and design.weight is not None and design.frequency is None:
                moves = moves * variance.leave_one_out_factor(design.share)[:, np.newaxis]
            total += design.stratum(moves).covariance
            if group is not None:
                group_moves.append(sum_by(group[self.rows(cls)], moves, self.design.n_groups))
        if group_moves:
            # Between classes: all products of the groups' influences, minus the products within classes.
            moves = np.sum(group_moves, axis=0)
            cross = moves.T @ moves - sum(part.T @ part for part in group_moves)
            total += variance.stratum_of_moves(moves).scale * cross
        return total


# Pairwise areas

_MERGED = 5_000  # rows per class above which merging pairs of classes is faster: measured


@dataclass(frozen=True, eq=False)
class Placements:
    """Ranks of all rows among the sorted probabilities of the rows of one class.

    Attributes
    ----------
    own : slice
        Rows of the class.
    order : array
        Order that sorts the rows of the class by increasing probability.
    cumulative : array
        Cumulative weight of the sorted rows, starting with 0.
    below : array of n
        For each row, the number of rows of the class with a lower probability.
    not_above : array of n
        For each row, the number of rows of the class with a lower or equal probability.
    """

    own: slice
    order: Indices
    cumulative: Array
    below: Indices
    not_above: Indices

    @classmethod
    def of(cls, rows: ClassRows, proba: Array, index: int) -> "Placements":
        """Rank all rows among the rows of the class with this index, by the predicted probability of this class."""
        own, column = rows.rows(index), proba[rows.order, index]
        order = np.argsort(column[own])
        weight = np.ones(order.size, np.int64) if rows.design.weight is None else rows.design.weight[own][order]
        scores = column[own][order]
        cumulative = np.concatenate([np.zeros(1, weight.dtype), np.cumsum(weight)])
        # Looking up sorted values takes a tenth of the time of unsorted values; the sort takes less than the
        # difference.
        visited = np.argsort(column)
        below, not_above = np.empty(column.size, np.intp), np.empty(column.size, np.intp)
        below[visited] = np.searchsorted(scores, column[visited], "left")
        not_above[visited] = np.searchsorted(scores, column[visited], "right")
        return cls(own, order, cumulative, below, not_above)

    @property
    def doubled_above(self) -> Array:
        """For each row, twice the weight of the class's rows with higher scores, plus the weight of tied rows."""
        return 2 * self.cumulative[-1] - self.cumulative[self.below] - self.cumulative[self.not_above]

    def halves_below(self, weight: Array) -> Array:
        """For each row of the class, return the weight of all lower rows, plus half the weight of all tied rows."""
        # A row is below the i-th row of the class if at most i rows of the class are not above it.
        size = self.order.size
        sums = np.bincount(self.not_above, weight, size + 1) + np.bincount(self.below, weight, size + 1)
        below = np.empty(size)
        below[self.order] = np.cumsum(sums)[:-1] / 2
        return below


def doubled_concordance(rows: ClassRows, proba: Array) -> Array:
    """Return, for each pair of classes (k × k), twice the number of concordant pairs plus the number of tied pairs."""
    if rows.design.weight is None and rows.order.size > _MERGED * rows.k:
        return _merged_concordance(rows, proba)
    amount = np.ones(1, np.int64) if rows.design.weight is None else rows.design.weight
    doubled = np.zeros((rows.k, rows.k), amount.dtype)
    present = np.flatnonzero(np.diff(rows.start))
    for cls in present.tolist():
        pairs = amount * Placements.of(rows, proba, cls).doubled_above
        doubled[cls, present] = np.add.reduceat(pairs, rows.start[present])
    return doubled


def _merged_concordance(rows: ClassRows, proba: Array) -> Array:
    """Return `doubled_concordance` of large classes without row weights, by merging sorted scores of two classes."""
    doubled = 2 * np.multiply.outer(rows.support, rows.support)
    for cls in range(rows.k):
        ranked = [np.sort(scores) for scores in rows.by_class(proba[:, cls])]
        for other in range(rows.k):
            doubled[cls, other] -= kernels.classes.ranks_sum(ranked[cls], ranked[other])
    return doubled


def row_components(rows: ClassRows, proba: Array, weight_of: Array) -> Array:
    """Return the component of each row in a weighted sum of the areas A(i|j), in the order of `rows.order`.

    Parameters
    ----------
    rows : ClassRows
        Rows sorted by class.
    proba : n × k array
        Predicted probabilities of the classes.
    weight_of : k × k array
        Weight of each area A(i|j) in the sum; 0 for an undefined area.

    Notes
    -----
    The component of a row is the weighted sum of its placements (DeLong, DeLong & Clarke-Pearson 1988) over all pairs
    of classes that include the class of the row. The weighted sum of areas is a k-sample U-statistic. Its variance
    follows from the variances of the components within the classes.
    """
    component = np.zeros(rows.order.size)
    sizes = np.diff(rows.start)
    share = rows.design.amount / np.repeat(rows.support, sizes)
    for cls in np.flatnonzero(weight_of.any(axis=1)).tolist():
        factor = np.repeat(weight_of[cls], sizes)
        places = Placements.of(rows, proba, cls)
        component += factor * places.doubled_above / (2 * places.cumulative[-1])
        component[places.own] += places.halves_below(factor * share)
    return component


# Averages

Variant = Literal["hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted", "micro"]
ClassWeight = Mapping[Any, float] | Literal["uniform", "prevalence"]

VARIANTS = ("hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted")


def _average(variant: Variant, doc: str) -> property:
    def average(self: "MulticlassAuc") -> confusion.Average:
        return self.average(variant)

    return property(average, doc=doc)


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassAuc(Result):
    """AUC of every pair of classes, and averages of these areas.

    Returned by `rocscope.multiclass.multiclass_auc`.

    Attributes
    ----------
    classes : tuple of k names
        Class names, in the order of the rows and columns of `matrix`.
    matrix : k × k array
        Pairwise areas A(i|j): the probability that a case of class i (row) has a higher predicted probability of i than
        a case of class j (column). Ties count half. The diagonal is NaN, and so are areas of classes without cases.
    support : array of k counts
        Number of cases of each class.

    Notes
    -----
    =============== ====================================================== =========================================
    name            mean of                                                 weights
    =============== ====================================================== =========================================
    `hand_till`     A(i|j) over all ordered pairs (M)                       equal
    `au1u`          same as `hand_till`, named by Ferri et al.              equal
    `au1p`          A(i|j) over all ordered pairs                           share of class i
    `ovo_weighted`  (A(i|j) + A(j|i))/2, scikit-learn's "ovo", "weighted"   shares of i and j together
    `aunu`          class i against all others                              equal
    `aunp`          class i against all others (Provost & Domingos)         share of class i
    `micro`         AUC of all pairs of a row and a class; a pair is        equal
                    positive if the class is the true class of the row
    =============== ====================================================== =========================================

    The weights sum to 1, so that the average of a perfect model is 1. Ferri et al. print `au1p` with an additional
    factor 1/k, which is omitted here. Undefined areas are omitted from an average. The attribute `undefined` of the
    average lists the classes without cases.

    References
    ----------
    Hand & Till 2001, Machine Learning 45:171–186, eq. 7; Fawcett 2001; Provost & Domingos 2003; Ferri,
    Hernández-Orallo & Modroiu 2009, "An experimental comparison of performance measures for classification".
    """

    classes: tuple[Hashable, ...]
    matrix: Array
    support: Array
    _rows: ClassRows
    _proba: Array
    _pooled: Callable[[], Predictions]

    hand_till = _average("hand_till", "Hand & Till's M: mean of A(i|j) over all ordered pairs of classes.")
    au1u = _average("au1u", "Mean of A(i|j) over ordered pairs of classes with equal weights; same as `hand_till`.")
    au1p = _average("au1p", "Mean of A(i|j) over ordered pairs of classes, weighted by the share of class i.")
    ovo_weighted = _average("ovo_weighted", "Mean over pairs of classes, weighted by the share of cases in the pair.")
    aunu = _average("aunu", "Mean AUC of each class against all others, with equal weights.")
    aunp = _average("aunp", "Mean AUC of each class against all others, weighted by the share of the class.")

    @property
    def against_rest(self) -> Array:
        """AUC of each class against all others; NaN if there are no cases of the class, or no other cases."""
        return confusion.weighted_mean(self.matrix, np.tile(self.support, (len(self.classes), 1)))

    def one_vs_one(self, class_weight: ClassWeight = "uniform") -> confusion.Average:
        """Return the mean of A(i|j) over pairs of classes, weighted by the sum of the weights of classes i and j.

        Parameters
        ----------
        class_weight : {"uniform", "prevalence"} or mapping from class to weight
            Weight of each class: equal ("uniform"), its share of the cases ("prevalence"), or the given weight.

        Raises
        ------
        InputError
            If `class_weight` is unknown, or does not have a weight for each class.
        """
        weight = class_weights(class_weight, self.classes, self.support)
        return self._mean(np.add.outer(weight, weight))

    def one_vs_rest(self, class_weight: ClassWeight = "uniform") -> confusion.Average:
        """Return the weighted mean of the AUCs of each class against all others; `class_weight` as in `one_vs_one`.

        Raises
        ------
        InputError
            If `class_weight` is unknown, or does not have a weight for each class.
        """
        return self._mean(rest_weights(class_weights(class_weight, self.classes, self.support), self.support))

    def average(self, variant: Variant) -> confusion.Average:
        """Return an average of the pairwise AUCs by name, such as "hand_till"; see Notes of `MulticlassAuc`.

        `variant` is the name of the average.

        Examples
        --------
        >>> proba = [[0.8, 0.1, 0.1], [0.5, 0.2, 0.3], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
        >>> auc = multiclass_auc(["a", "a", "b", "c"], proba)
        >>> auc.average("hand_till").value == auc.hand_till.value
        True
        """
        if variant == "micro":
            return confusion.Average(self._pooled().counts().pairs().auc("half"), self.classes)
        return self._mean(variant_weights(variant, self.support))

    def interval(self, variant: Variant = "hand_till", *, level: float = 0.95) -> inference.Estimate:
        """Return an average of the pairwise AUCs with its confidence interval.

        Parameters
        ----------
        variant : str
            Name of the average; see Notes of `MulticlassAuc`.
        level : float
            Confidence level.

        Raises
        ------
        OneClassError
            If the average is undefined, because only one class occurs.
        InputError
            If the level is not between 0 and 1, or if the average is unknown.

        Warns
        -----
        RocscopeWarning
            If the variance is 0 or undefined. The interval is then Newcombe's interval for the two smallest classes.

        Notes
        -----
        Given the class sizes, every average is a weighted sum of the areas A(i|j), and therefore a U-statistic of k
        samples. Its variance is computed from the placements of the rows, as in DeLong's method; for two classes it is
        equal to DeLong's variance. The interval is symmetric on the logit scale. It accounts for the groups and weights
        that were passed to `multiclass_auc`.

        References
        ----------
        DeLong, DeLong & Clarke-Pearson 1988; Hand & Till 2001, §4; Obuchowski 1997, Biometrics 53:567–578 (groups).

        Examples
        --------
        >>> proba = np.array([[6, 3, 1], [5, 1, 4], [2, 7, 1], [4, 3, 3], [3, 2, 5], [2, 5, 3]]) / 10
        >>> multiclass_auc(["a", "a", "b", "b", "c", "c"], proba).interval("aunu")
        Estimate(0.875, 95% CI [0.3838, 0.9874], n=6)
        """
        level = check.check_level(level)
        if variant == "micro":
            return auc_interval(self._pooled(), level=level)
        value = self.average(variant).value
        if np.isnan(value):
            raise OneClassError(f"interval of {variant}", expected="cases of two or more classes", got="only one class")
        used = coefficients(variant_weights(variant, self.support), self.support)
        components = row_components(self._rows, self._proba, used)
        error = float(self._rows.covariance(components[:, np.newaxis])[0, 0])
        return _estimate(value, error, self._rows, level, f"DeLong of {variant}")

    def _mean(self, weight: Array) -> confusion.Average:
        used = coefficients(weight, self.support)
        value = float((used * np.nan_to_num(self.matrix)).sum()) if used.any() else float("nan")
        over = tuple(cls for cls, n in zip(self.classes, self.support, strict=True) if n and used.any())
        return confusion.Average(value, over, tuple(cls for cls in self.classes if cls not in over))

    def to_dict(self) -> dict[str, Any]:
        """Return the pairwise AUCs and all averages as a dict that can be written as JSON.

        Examples
        --------
        >>> from rocscope.multiclass import multiclass_auc
        >>> content = multiclass_auc(["a", "a", "b"], [[0.8, 0.2], [0.5, 0.5], [0.6, 0.4]]).to_dict()
        >>> content["classes"], content["matrix"]
        (['a', 'b'], [[None, 0.5], [0.5, None]])
        """
        facts = {name: getattr(self, name) for name in ("classes", "support", "matrix", "against_rest")}
        return jsonable(facts | {name: self.average(name) for name in VARIANTS})

    def __repr__(self) -> str:
        m, undefined = self.hand_till, self.hand_till.undefined
        missing = f", undefined: {', '.join(map(repr, undefined))}" if undefined else ""
        return (
            f"MulticlassAuc({len(self.classes)} classes, hand_till={m.value:.6g}, aunp={self.aunp.value:.6g}{missing})"
        )

    def _repr_html_(self) -> str:
        return super()._repr_html_() + confusion.class_table(self.matrix, self.classes, "A(row|column)", ".4g")


@contract
def multiclass_auc(
    y_true: Any,
    proba: Any = None,
    *,
    model: str | None = None,
    classes: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
) -> MulticlassAuc:
    """Compute the AUC of every pair of classes, and averages such as Hand & Till's M.

    Parameters
    ----------
    y_true : MulticlassPredictions, or array of n labels
        True classes, or labels and predictions together.
    proba : n × k array or data frame
        Predicted probabilities of the classes; omit if `y_true` is a MulticlassPredictions.
    model : str, optional
        Name of the model. By default, the only model of the predictions.
    classes, sample_weight : see `MulticlassPredictions`
    groups : array of n labels, optional
        Group of each row, such as the patient. Intervals treat rows of the same group as dependent. By default, the
        groups of the predictions. If False, all rows are treated as independent.

    Returns
    -------
    MulticlassAuc
        Pairwise AUCs and their averages.

    Raises
    ------
    ShapeError, LabelError, ScoreError, WeightError
        See `MulticlassPredictions`.

    See Also
    --------
    vus, compare_multiclass_auc, multiclass_figure, plot_pairwise_auc

    Notes
    -----
    If the weights are integers, pairs are counted in exact integer arithmetic. The running time is O(k·n log n + k·n).

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
    require_kinds("multi-class AUC with its interval", preds)
    chance = preds.probabilities(model)
    rows = ClassRows.of(preds.y_true, len(preds.classes), preds.design(groups))
    support = rows.support
    with np.errstate(invalid="ignore"):
        matrix = doubled_concordance(rows, chance) / (2 * np.multiply.outer(support, support).astype(np.float64))
    np.fill_diagonal(matrix, np.nan)
    pooled = partial(preds.select(models=[model_name(preds.models, model)]).pooled, groups)
    return MulticlassAuc(preds.classes, check.read_only(matrix), check.read_only(support), rows, chance, pooled)


def _estimate(
    value: float, variance: float, rows: ClassRows, level: float, name: str, *, of_trios: bool = False
) -> inference.Estimate:
    """Return an average AUC (or volume) with an interval that is symmetric on the logit scale."""
    if variance > 0 and 0 < value < 1:
        error, name = sqrt(variance), f"{rows.design.named(name)}, logit scale"
        low, high = logit(value, error, level)
        return inference.Estimate(value, low, high, level, name, rows.design.n, error, rows.design.reason)
    # Without a variance, the interval uses only the smallest classes.
    first, second = sorted(size for size in rows.effective if size > 0)[:2]
    if of_trios:
        name = f"Wilson's interval for {first:g} independent trios"
        low, high = binomial_limits(value * first, first, "wilson", level)
    else:
        name = f"Newcombe's score interval, classes of {first:g} and {second:g}"
        low, high = newcombe(value, first, second, level)
    warn(f"the variance of the estimate {value:g} is 0 or undefined; the interval is {name}")
    return inference.Estimate(value, float(low), float(high), level, name, rows.design.n)


def class_weights(given: ClassWeight, classes: tuple[Hashable, ...], support: Array) -> Array:
    """Return the weight of each class: 1 for "uniform", the share of cases for "prevalence", or the given weight."""
    if isinstance(given, str):
        check.check_choice("class_weight", given, ("uniform", "prevalence"))
        return np.ones(support.size) if given == "uniform" else support / support.sum()
    weight = class_names.by_class(given, classes, "class_weight").astype(np.float64)
    if weight.shape != support.shape or not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        expected = f"one weight of at least 0 per class ({check.listing(classes)}), and at least one above 0"
        raise InputError("class_weight", expected=expected, got=check.shown(given))
    return weight


def rest_weights(weight: Array, support: Array) -> Array:
    """Return the weights of A(i|j) in the sum Σᵢ weightᵢ·(AUC of class i against all others)."""
    rest = support.sum() - support
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(weight[:, np.newaxis] * support / rest[:, np.newaxis], posinf=0.0)


def variant_weights(variant: Variant, support: Array) -> Array:
    """Return the unnormalised weights of A(i|j) in the average with this name."""
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
    raise InputError("variant", expected=check.one_of(variant, [*VARIANTS, "micro"]), got=repr(variant))


def coefficients(weight: Array, support: Array) -> Array:
    """Set the weights of undefined areas to 0, and normalise all weights to sum 1; all 0 if no area is defined."""
    used = np.array(weight, dtype=np.float64)
    absent = support == 0
    used[absent] = 0
    used[:, absent] = 0
    np.fill_diagonal(used, 0)
    return used / used.sum() if used.any() else used


# Volume under the surface

_CHUNK = 1_000_000  # trios compared at once; they take a few MB
_SAME_DISTANCE = 1e-12  # distances that differ by less are equal up to rounding
_OTHER_WAYS = [way for way in permutations(range(3)) if way != (0, 1, 2)]

MOST_TRIOS = 20_000_000
"""Largest number of trios for which `vus` with probabilities evaluates all trios."""

_TRIOS_PER_ROW = 200  # random trios per row; a choice: the interval includes the variance of the sampling


@dataclass(frozen=True, eq=False)
class Volume:
    """Volume under the surface, and for each row the share of its trios that are ranked correctly.

    Attributes
    ----------
    value : float
        Volume under the surface.
    components : list of one array per class
        For each row of the class, the share of its trios that are ranked correctly.
    spread : list of one array per class, or None
        Variance of each component due to the random choice of trios; None if all trios were evaluated.
    """

    value: float
    components: list[Array]
    spread: list[Array] | None = None

    def variances(self, rows: ClassRows) -> tuple[float, float]:
        """Return two variances: of the volume over all trios, and the additional variance from random trios.

        Random trios also increase the variance of the components. The first variance is corrected for this increase.
        """
        error = float(rows.covariance(np.concatenate(self.components)[:, np.newaxis])[0, 0])
        if self.spread is None:
            return error, 0.0
        excess = chosen = 0.0
        for cls, spread in enumerate(self.spread):
            design = replace(rows.design.take(rows.rows(cls)), group=None)
            excess += float(design.share @ spread) / (design.effective - 1)
            chosen += float(design.share**2 @ spread)
        return max(0.0, error - excess), chosen / 9  # the value is the mean over the three classes


def ordinal_volume(groups: list[Array], weights: list[Array]) -> Volume:
    """Return the volume under the surface of a single score that should increase with the class.

    A trio counts 1 if its scores increase strictly with the class. It counts 1/2 if the scores never decrease and two
    of them are tied, and 1/6 if all three are tied. The running time is O(n log n).
    """
    levels, place = np.unique(np.concatenate(groups), return_inverse=True)
    bounds = np.cumsum([0, *(group.size for group in groups)])
    places = [place[start:stop] for start, stop in pairwise(bounds)]
    low, mid, high = (np.bincount(at, weight, levels.size) for at, weight in zip(places, weights, strict=True))
    total = [float(weight.sum()) for weight in weights]
    below = np.cumsum(low) - low
    above = total[2] - np.cumsum(high)
    # Six times the weight of the sorted trios with a middle case at this level, per middle case.
    at_mid = 6 * below * above + 3 * below * high + 3 * low * above + low * high
    sixfold = 6 * total[0] * total[1] * total[2]
    value = float(mid @ at_mid) / sixfold
    # The same trios, counted per low case and per high case.
    from_above = np.cumsum((mid * (6 * above + 3 * high))[::-1])[::-1] - mid * (6 * above + 3 * high)
    at_low = from_above + mid * (3 * above + high)
    from_below = np.cumsum(mid * (6 * below + 3 * low)) - mid * (6 * below + 3 * low)
    at_high = from_below + mid * (3 * below + low)
    at_levels = zip((at_low, at_mid, at_high), places, total, strict=True)
    return Volume(value, [at[level] * own / sixfold for at, level, own in at_levels])


def corner_distances(proba: Array) -> Array:
    """Return the distance of each row of three probabilities to each corner of the simplex (n × 3)."""
    corner = np.eye(3)
    return np.sqrt(((proba[:, np.newaxis, :] - corner) ** 2).sum(axis=2))


def sorted_right(first: Array, second: Array, third: Array) -> Array:
    """Return for each trio how much it counts in the volume, from 0 to 1.

    Each argument contains the distances (… × 3) of one case of the trio to the three corners of the simplex. There are
    six ways to assign the three cases to the three corners. A trio counts 1 if the correct assignment has the smallest
    sum of distances, and otherwise 0. If m assignments including the correct one have the smallest sum, the trio counts
    1/m.
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
    """Return the volume under the surface of class probabilities, computed from all trios."""
    distance = [corner_distances(group) for group in groups]
    total = [float(weight.sum()) for weight in weights]
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
    return Volume(float(weights[0] @ components[0] / total[0]), components)


def sampled_volume(groups: list[Array], weights: list[Array], per_row: int, rng: np.random.Generator) -> Volume:
    """Estimate the volume under the surface of class probabilities from `per_row` random trios per row (at least 2).

    Notes
    -----
    The volume is the mean of three estimates, one per class. Each estimate combines every row of the class with random
    rows of the two other classes. It is an incomplete U-statistic (Blom 1976, Biometrika 63:573–580). The variance
    between the trios of a row gives the additional variance due to the random choice.
    """
    distance = [corner_distances(group) for group in groups]
    value, means, spreads = 0.0, [], []
    for cls in range(3):
        trio = []
        for other in range(3):
            if other == cls:
                trio.append(distance[cls][:, np.newaxis, :])
                continue
            chance = weights[other] / weights[other].sum()
            partner = rng.choice(len(groups[other]), (len(groups[cls]), per_row), p=chance)
            trio.append(distance[other][partner])
        credit = sorted_right(*trio)
        means.append(credit.mean(axis=1))
        spreads.append(credit.var(axis=1, ddof=1) / per_row)
        value += float(weights[cls] @ means[cls] / weights[cls].sum())
    return Volume(value / 3, means, spreads)


@contract
def vus(
    y_true: Any,
    score: Any = None,
    *,
    model: str | None = None,
    classes: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    weights: Weights = "auto",
    level: float = 0.95,
    method: Literal["auto", "exact", "sampled"] = "auto",
    random_state: Any = 0,
) -> inference.Estimate:
    """Estimate the volume under the ROC surface of three classes.

    The volume is the probability that three cases, one of each class, are ranked correctly.

    Parameters
    ----------
    y_true : array of n labels, or MulticlassPredictions
        True classes, or labels and predictions together.
    score : array of n scores, or n × 3 array of probabilities
        A single score that should increase from the first to the last class, or the probabilities of the three classes.
        Omit if `y_true` is a MulticlassPredictions.
    model : str, optional
        Name of the model. By default, the only model of the predictions.
    classes : sequence of three labels, optional
        Classes in the order in which the score should increase, or in the order of the probability columns. By default,
        the sorted labels.
    sample_weight : array of n weights, optional
        Weights of the rows.
    weights : {"auto", "frequency", "sampling"}
        Meaning of the weights; see `Predictions`. "auto" uses the meaning stored in the predictions.
    groups : see `multiclass_auc`
    level : float
        Confidence level.
    method : {"auto", "exact", "sampled"}
        Method for probabilities. "exact" evaluates all trios, and "sampled" 200 random trios per row. "auto" is "exact"
        for up to 20 million trios, otherwise "sampled". The volume of a single score is always exact.
    random_state : int, Generator, RandomState or None
        Seed for drawing random trios.

    Returns
    -------
    Estimate
        Volume under the surface with its confidence interval.

    Raises
    ------
    InputError
        If the number of classes is not three.
    OneClassError
        If a class has no cases.

    See Also
    --------
    multiclass_auc

    Notes
    -----
    A trio consists of one case of each class. With a single score, a trio counts 1 if its scores increase strictly with
    the class. It counts 1/2 if the scores never decrease and two of them are tied, and 1/6 if all three are tied.
    Random scores have the volume 1/6. The running time is O(n log n).

    With probabilities, there are six ways to assign the three cases to the corners of the simplex. A trio counts 1 if
    the correct assignment has the smallest sum of distances. If m assignments including the correct one have the
    smallest sum, the trio counts 1/m. For classes with n₁, n₂ and n₃ cases, the running time is O(n₁·n₂·n₃).

    Both volumes are U-statistics of three samples. The component of a case is the share of its trios that are ranked
    correctly. The variance is the sum over classes of the variance of the components, divided by the class size. Random
    trios add a further variance. The interval is symmetric on the logit scale. If the variance is 0, the interval is
    Wilson's interval, with the size of the smallest class as the number of trios.

    References
    ----------
    Mossman 1999, Med. Decis. Making 19:78–89; Dreiseitl, Ohno-Machado & Binder 2000, Med. Decis. Making 20:323–331;
    Nakas & Yiannoutsos 2004, Stat. Med. 23:3437–3449.

    Examples
    --------
    There are 2·2·2 = 8 trios. The scores increase strictly in 6 trios, and two scores of 5 are tied in 2 trios:

    >>> score = [1, 2, 3, 5, 5, 7]
    >>> vus(["low", "low", "mid", "mid", "high", "high"], score, classes=["low", "mid", "high"]).value
    0.875
    """
    level = check.check_level(level)
    check.check_choice("method", method, ("auto", "exact", "sampled"))
    require_kinds("volume under the surface", y_true)

    # Labels and values: three probabilities per row, or one score.
    if score is None:
        preds = predictions_of(y_true, name="y_true", classes=classes, sample_weight=sample_weight)
        values = preds.probabilities(model)
    else:
        check.check_same_index(y_true=y_true, score=score)
        preds = MulticlassPredictions(y_true, decisions=y_true, classes=classes, sample_weight=sample_weight)
        values = class_names.by_class(score, preds.classes, "score")
    n, names = len(preds), preds.classes
    if len(names) != 3:
        raise InputError("vus", expected="three classes", got=f"{len(names)}: {check.listing(names)}")
    if values.ndim == 1:
        values = check.check_scores(values, n, "score")
    else:
        values = confusion.check_probabilities(values, n, names, "score").astype(np.float64)

    # Values and weights of each class.
    weights = preds.weights if weights == "auto" else weights
    design = variance.RowDesign.of(n, preds.sample_weight, independent_units(preds, groups), weights)
    rows = ClassRows.of(preds.y_true, 3, design)
    absent = [name for name, size in zip(names, np.diff(rows.start), strict=True) if not size]
    if absent:
        raise OneClassError("vus", expected="cases of all three classes", got=f"no case of {check.listing(absent)}")
    by_class = rows.by_class(values)
    amounts = [rows.design.take(rows.rows(cls)).amount for cls in range(3)]
    trios = np.prod([float(len(part)) for part in by_class])
    if values.ndim == 1:
        volume = ordinal_volume(by_class, amounts)
    elif method == "exact" or (method == "auto" and trios <= MOST_TRIOS):
        volume = triple_volume(by_class, amounts)
    else:
        volume = sampled_volume(by_class, amounts, _TRIOS_PER_ROW, check.check_random_state(random_state))

    name = f"U-statistic of {_TRIOS_PER_ROW * rows.order.size:,} random trios" if volume.spread else "U-statistic"
    return _estimate(volume.value, sum(volume.variances(rows)), rows, level, name, of_trios=True)


# Comparison

_ROUNDING = 1e-14  # a variance of a difference below this share is a rounding error of 0


@contract
def compare_multiclass_auc(
    predictions: MulticlassPredictions,
    variant: Variant = "hand_till",
    *,
    groups: Any = None,
    alternative: inference.Alternative = "two-sided",
    test: inference.Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: inference.Adjust = "holm",
) -> inference.Comparisons:
    """Compare a multi-class AUC of two or more models on the same rows.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Predictions of two or more models. Models without probabilities are omitted.
    variant : {"hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted", "micro"}
        Average of the pairwise AUCs; see `MulticlassAuc`.
    groups : see `multiclass_auc`
    alternative, test, margin, level, adjust : see `rocscope.compare`

    Returns
    -------
    Comparisons
        Difference in AUC between the models of each pair, with interval and test.

    Raises
    ------
    InputError
        If there are fewer than two models with probabilities.
    OneClassError
        If only one class has cases.

    See Also
    --------
    multiclass_auc, compare_multiclass_costs

    Notes
    -----
    As in DeLong's test for two classes, the test statistic is D/√(V₁ + V₂ − 2C). D is the difference between the two
    AUCs, V₁ and V₂ are their variances, and C is their covariance. Variances and covariance are computed from the
    placements of the rows. The test statistic is compared with Student's t distribution. Its degrees of freedom are
    e²/u − 1, where u is the number of rows (or groups) and e the effective sample size.

    Examples
    --------
    >>> first = np.array([[6, 3, 1], [5, 1, 4], [2, 7, 1], [4, 3, 3], [3, 2, 5], [2, 5, 3]]) / 10
    >>> preds = MulticlassPredictions(list("aabbcc"), {"a": first, "b": first[[0, 1, 2, 4, 3, 5]]})
    >>> compare_multiclass_auc(preds)["a", "b"]
    Comparison(b − a: -0.1667, 95% CI [-0.5883, 0.255], p=0.356, two-sided)
    """
    hypothesis = inference.Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, inference.OF_ESTIMATES)
    predictions = predictions_of(predictions)
    require_kinds("comparison of multi-class AUCs", predictions)
    models = list(predictions.proba)
    if len(models) < 2:
        raise InputError("models with probabilities", expected="two or more models", got=f"{len(models)}")
    if variant == "micro":
        pooled = predictions.pooled(groups)
        return compare(pooled, alternative=alternative, test=test, margin=margin, level=level, adjust=adjust)
    rows = ClassRows.of(predictions.y_true, len(predictions.classes), predictions.design(groups))
    used = coefficients(variant_weights(variant, rows.support), rows.support)
    if not used.any():
        raise OneClassError("comparison", expected="cases of two or more classes", got="only one class")
    components = [row_components(rows, predictions.proba[model], used) for model in models]
    covariance = rows.covariance(np.column_stack(components))
    estimates = {}
    for i, model in enumerate(models):
        value = multiclass_auc(predictions, model=model).average(variant).value
        estimates[model] = _estimate(value, float(covariance[i, i]), rows, level, f"DeLong of {variant}")
    name = rows.design.named(f"DeLong of {variant}, paired")
    # With e − 1 degrees of freedom, tests with 40 groups of geometric size reject in 9%; with these, in 6%.
    df = max(rows.design.effective**2 / (rows.design.n_groups or rows.design.n) - 1, 1.0)

    def compare_pair(i: int, j: int) -> inference.Comparison:
        first, second = estimates[models[i]], estimates[models[j]]
        variances = covariance[i, i] + covariance[j, j]
        error = variances - 2 * covariance[i, j]
        if error > _ROUNDING * variances:
            difference = hypothesis.wald(second.value - first.value, sqrt(error), rows.design.n, name, df=df, bound=1)
            difference = replace(difference, reason=rows.design.reason)
        else:
            warn(f"the variance of {models[j]!r} − {models[i]!r} is 0 or undefined; the interval is computed by MOVER")
            difference = mover_difference(first, second, "intervals of both (MOVER)", first.n)
        return hypothesis.compare(models[i], models[j], difference, df=df, method=name)

    return inference.compare_each_two(variant, estimates, covariance, compare_pair, adjust)
