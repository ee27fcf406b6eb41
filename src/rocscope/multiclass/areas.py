"""AUC of more than two classes: pairwise areas and their averages, the volume under the surface, and comparisons.

A(i|j) is the probability that a case of class i has a higher predicted probability of i than a case of class j. The
usual multi-class AUCs (Hand & Till, one-vs-rest, one-vs-one) are linear combinations of these areas, given the class
sizes. The volume under the surface (VUS) is the share of correctly ordered trios, which consist of one case of each of
three classes. All of them are U-statistics of k samples.

Their variance is estimated as in DeLong's method. Every row has a *component*: the mean of the statistic over all pairs
or trios that contain the row. Classes are sampled independently, so the variance is the sum over classes of the
variance of the mean component (`ClassRows.covariance`). With groups of rows, the sums of components within groups are
independent, which adds the covariance between the classes of a group (Obuchowski 1997, eq. 3–6).

Order of the file: rows by class, pairwise areas, averages, volume, comparison.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise, permutations
from math import sqrt
from typing import Any, Literal

import numpy as np

from rocscope import kernels
from rocscope._base import class_names
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import contract
from rocscope._base.grouping import sum_by
from rocscope.core import Predictions, Result, Weights, independent_units, jsonable, model_name, require_kinds
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference import estimate as inference
from rocscope.inference import variance
from rocscope.inference.areas import auc_interval, newcombe
from rocscope.inference.comparing import compare
from rocscope.inference.proportions import binomial_limits, logit, mover_difference
from rocscope.multiclass import confusion
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of

# Rows by class


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows with positive weight sorted by class.

    Attributes
    ----------
    order : array of n
        Row numbers, class by class.
    start : array of k + 1
        Rows of class i are ``order[start[i]:start[i + 1]]``.
    design : RowDesign
        Weights and groups of the rows in this order.
    """

    order: Indices
    start: Indices
    design: variance.RowDesign

    @classmethod
    def of(cls, y: Array, k: int, design: variance.RowDesign | None = None) -> "ClassRows":
        """Sort rows by class, given checked class indices."""
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
        """Return the positions of the rows of a class in `order`."""
        return slice(self.start[cls], self.start[cls + 1])

    def by_class(self, values: Array) -> list[Array]:
        """Return the values of all rows, split by class."""
        return [values[self.order[self.rows(cls)]] for cls in range(self.k)]

    @cached_property
    def support(self) -> Array:
        """Number of cases of each class (sums of weights)."""
        if self.design.weight is None:
            return np.diff(self.start)
        return np.array([self.design.weight[self.rows(cls)].sum() for cls in range(self.k)])

    @cached_property
    def effective(self) -> list[float]:
        """Effective number of rows, or of groups, of each class (Kish)."""
        return [self.design.take(self.rows(cls)).effective for cls in range(self.k)]

    def covariance(self, components: Array) -> Array:
        """Return the m × m covariance of statistics from row components (n × m); NaN for a class of one unit.

        The influence of a row on a class mean is the row's share of the weight times the residual of its component.
        With sampling weights, the influences are those of the jackknife. Groups have covariances within classes, and
        between the classes of a group.
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
    """Positions of all rows, in class order, among the sorted probabilities of the rows of one class.

    Attributes
    ----------
    own : slice
        Rows of the class.
    order : array
        Rows of the class by increasing probability.
    cumulative : array
        Weight of the first 0, 1, … rows in this order.
    below, not_above : arrays of n
        For each row: number of rows of the class with a lower probability, and with a lower or equal probability.
    """

    own: slice
    order: Indices
    cumulative: Array
    below: Indices
    not_above: Indices

    @classmethod
    def of(cls, rows: ClassRows, proba: Array, index: int) -> "Placements":
        """Return the positions of all rows among the rows of a class, by the probability of the class."""
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
        """Return twice the weight of the class above each row, plus the weight of the class tied with the row."""
        return 2 * self.cumulative[-1] - self.cumulative[self.below] - self.cumulative[self.not_above]

    def halves_below(self, weight: Array) -> Array:
        """Return the weight of all rows below each row of the class, plus half the weight tied with it."""
        # A row is below the i-th row of the class if at most i rows of the class are not above it.
        size = self.order.size
        sums = np.bincount(self.not_above, weight, size + 1) + np.bincount(self.below, weight, size + 1)
        below = np.empty(size)
        below[self.order] = np.cumsum(sums)[:-1] / 2
        return below


def doubled_concordance(rows: ClassRows, proba: Array) -> Array:
    """Return twice the concordant plus the tied pairs of every two classes (k × k); integers stay integers."""
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
    """Return `doubled_concordance` for few large classes without weights, by merging sorted scores of two classes."""
    doubled = 2 * np.multiply.outer(rows.support, rows.support)
    for cls in range(rows.k):
        ranked = [np.sort(scores) for scores in rows.by_class(proba[:, cls])]
        for other in range(rows.k):
            doubled[cls, other] -= kernels.classes.ranks_sum(ranked[cls], ranked[other])
    return doubled


def row_components(rows: ClassRows, proba: Array, weight_of: Array) -> Array:
    """Return each row's contribution (in class order) to a weighted sum of A(i|j).

    Parameters
    ----------
    rows : ClassRows
    proba : n × k array
    weight_of : k × k array
        Coefficients of A(i|j); 0 for an undefined area.

    Notes
    -----
    A contribution is the sum of the placements of DeLong, DeLong & Clarke-Pearson (1988) over the pairs of classes that
    include the row's class. The weighted sum of areas is a k-sample U-statistic; its variance follows from the
    variances of these contributions within the classes.
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
    """Pairwise AUCs of classes, and their named averages.

    Made by `rocscope.multiclass.multiclass_auc`.

    Attributes
    ----------
    classes : tuple of k names
    matrix : k × k array
        A(i|j): probability that a case of class i (row) has a higher predicted probability of i than a case of class j
        (column). Ties count half. NaN on the diagonal and for classes without cases.
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
    `micro`         all pairs of a row and a class: the probability of the   equal
                    class of a row against those of other classes
    =============== ====================================================== =========================================

    The weights sum to 1, so that a perfect model has the value 1. In `au1p`, Ferri et al. print an additional factor
    1/k, which is omitted here. An average omits undefined areas and lists them in `undefined`.

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
        """Return the AUC of each class against all others; NaN for a class without cases, or without other classes."""
        return confusion.weighted_mean(self.matrix, np.tile(self.support, (len(self.classes), 1)))

    def one_vs_one(self, class_weight: ClassWeight = "uniform") -> confusion.Average:
        """Return the mean AUC over pairs of classes, weighted by the sum of their class weights.

        Parameters
        ----------
        class_weight : {"uniform", "prevalence"} or mapping from class to weight
            "uniform" gives all classes equal weights; "prevalence" weights them by their number of cases.
        """
        weight = class_weights(class_weight, self.classes, self.support)
        return self._mean(np.add.outer(weight, weight))

    def one_vs_rest(self, class_weight: ClassWeight = "uniform") -> confusion.Average:
        """Return the mean AUC of each class against all others, with class weights as in `one_vs_one`."""
        return self._mean(rest_weights(class_weights(class_weight, self.classes, self.support), self.support))

    def average(self, variant: Variant) -> confusion.Average:
        """Return a named average."""
        if variant == "micro":
            return confusion.Average(self._pooled().counts().pairs().auc("half"), self.classes)
        return self._mean(variant_weights(variant, self.support))

    def interval(self, variant: Variant = "hand_till", *, level: float = 0.95) -> inference.Estimate:
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
            If the variance is 0 or undefined. The interval is then Newcombe's, for the two smallest classes only.

        Notes
        -----
        Given the class sizes, every average is a linear combination of A(i|j), and therefore a U-statistic of k
        samples. Its variance comes from the placements of the rows within their classes. For two classes it equals
        DeLong's variance. The interval is symmetric on the logit scale. It allows for the groups and weights that were
        passed to `multiclass_auc`.

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
            raise OneClassError(f"interval of {variant}", expected="cases of two classes", got="fewer")
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
        """Return the matrix and all averages, ready for JSON."""
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
    """Compute the pairwise AUCs of more than two classes and their averages.

    Parameters
    ----------
    y_true : MulticlassPredictions, or array of n labels
    proba : n × k array or data frame
        Predicted probabilities of the classes, if `y_true` are labels.
    model : str, optional
        Name of the model to evaluate; may be omitted if the predictions contain only one model.
    classes, sample_weight : see `MulticlassPredictions`
    groups : array of n labels, optional
        Group of each row, such as the patient. Intervals treat rows of one group as dependent. By default the groups
        of the predictions; with False, all rows are independent.

    Returns
    -------
    MulticlassAuc

    Raises
    ------
    ShapeError, LabelError, ScoreError, WeightError
        See `MulticlassPredictions`.

    See Also
    --------
    vus, compare_multiclass_auc, multiclass_figure, plot_pairwise_auc

    Notes
    -----
    Pairs are counted in integer arithmetic if the weights are integers. The running time is O(k·n log n + k·n).

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
    """Return a mean over pairs or trios of rows with an interval that is symmetric on the logit scale."""
    if variance > 0 and 0 < value < 1:
        error, name = sqrt(variance), f"{rows.design.named(name)}, logit scale"
        low, high = logit(value, error, level)
        return inference.Estimate(value, low, high, level, name, rows.design.n, error, rows.design.reason)
    # Without a variance, the interval uses only the smallest classes.
    first, second = sorted(size for size in rows.effective if size > 0)[:2]
    if of_trios:
        name = f"Wilson's for {first:g} independent trios"
        low, high = binomial_limits(value * first, first, "wilson", level)
    else:
        name = f"Newcombe's score interval, classes of {first:g} and {second:g}"
        low, high = newcombe(value, first, second, level)
    warn(f"{value:g}: its variance is 0 or undefined, so the interval is {name}")
    return inference.Estimate(value, float(low), float(high), level, name, rows.design.n)


def class_weights(given: ClassWeight, classes: tuple[Hashable, ...], support: Array) -> Array:
    """Return the weight of each class; with "prevalence", its share of the cases."""
    if isinstance(given, str):
        check.check_choice("class_weight", given, ("uniform", "prevalence"))
        return np.ones(support.size) if given == "uniform" else support / support.sum()
    weight = class_names.by_class(given, classes, "class_weight").astype(np.float64)
    if weight.shape != support.shape or not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        expected = f"a weight of at least 0 for each of {check.listing(classes)}, not all 0"
        raise InputError("class_weight", expected=expected, got=check.shown(given))
    return weight


def rest_weights(weight: Array, support: Array) -> Array:
    """Return the coefficients of A(i|j) in Σ weightᵢ·(AUC of i against all others)."""
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
    raise InputError("variant", expected=check.one_of(variant, [*VARIANTS, "micro"]), got=repr(variant))


def coefficients(weight: Array, support: Array) -> Array:
    """Return weights of A(i|j) that sum to 1, with 0 for undefined areas; all 0 if no area is defined."""
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
"""Up to this number of trios of probability triples, all trios are evaluated."""

_TRIOS_PER_ROW = 200  # random trios per row; a choice: the interval includes the variance of the sampling


@dataclass(frozen=True, eq=False)
class Volume:
    """A volume under the surface, and for each row the share of its trios that are correctly ordered.

    Attributes
    ----------
    value : float
    components : arrays of the rows of each class
    spread : arrays of the rows of each class, or None
        Variance of the components from the random choice of trios; None if all trios were counted.
    """

    value: float
    components: list[Array]
    spread: list[Array] | None = None

    def variances(self, rows: ClassRows) -> tuple[float, float]:
        """Return the variance of the volume over all trios, and the additional variance of random trios.

        The random partners of a row increase the variance of the components, so this part is subtracted.
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
    """Return the volume for one score that should increase with the class, in O(n log n).

    A trio counts 1 if its scores increase strictly, 1/2 if two neighbours tie, and 1/6 if all three tie.
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
    """Return the distances of probability triples to the three corners of the simplex (n × 3)."""
    corner = np.eye(3)
    return np.sqrt(((proba[:, np.newaxis, :] - corner) ** 2).sum(axis=2))


def sorted_right(first: Array, second: Array, third: Array) -> Array:
    """Return the credit of trios, given the distances of their cases (… × 3) to the corners.

    There are six ways to assign the three cases to the three corners. The credit is 1 if the correct assignment has the
    smallest sum of distances. If several assignments are equally close, the credit is shared.
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
    """Return the volume from `per_row` random trios per row; at least two, for a variance.

    Notes
    -----
    The volume is the mean of three estimates, one per class. Each combines every row of the class with random rows of
    the two other classes. It is an incomplete U-statistic (Blom 1976, Biometrika 63:573–580). The variance of the trios
    of each row gives the additional variance due to random partners.
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
    """Estimate the volume under the ROC surface: the probability that three cases, one per class, are ranked correctly.

    Parameters
    ----------
    y_true : array of n labels, or MulticlassPredictions
    score : array of n scores, or n × 3 array of probabilities
        One score that should increase from the first class to the last; or the probabilities of the three classes.
    model : str, optional
        Name of the model to evaluate, if `y_true` contains the predictions of several models.
    classes : sequence of three labels, optional
        Classes in the order of the score, or of the probability columns; sorted by default.
    sample_weight : array of n weights, optional
        Weights of the rows.
    weights : {"auto", "frequency", "sampling"}
        Meaning of the weights, by default as in the predictions.
    groups : see `multiclass_auc`
    level : float
        Confidence level.
    method : {"auto", "exact", "sampled"}
        For probabilities: "exact" evaluates all trios, "sampled" 200 random trios per row; "auto" is "exact" up to 20
        million trios. The volume of one score is always exact.
    random_state : int, Generator, RandomState or None
        Seed of the random trios.

    Returns
    -------
    Estimate

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
    For one score, a trio counts 1 if its scores increase strictly with the class, 1/2 if two neighbours tie, and 1/6 if
    all three tie. Random scores have the volume 1/6. The running time is O(n log n).

    For probabilities, there are six ways to assign the three cases to the corners of the simplex. A trio counts 1 if
    the correct assignment has the smallest sum of distances; ties share the credit. The running time is O(n₁·n₂·n₃).

    Both are U-statistics of three samples. Each case has a component, the share of its trios that are ranked correctly.
    The variance is the sum over classes of the variance of the components, divided by the class size. Random trios add
    a further variance. The interval is symmetric on the logit scale. If the variance is 0, the interval is Wilson's,
    with the size of the smallest class as the number of trios.

    References
    ----------
    Mossman 1999, Med. Decis. Making 19:78–89; Dreiseitl, Ohno-Machado & Binder 2000, Med. Decis. Making 20:323–331;
    Nakas & Yiannoutsos 2004, Stat. Med. 23:3437–3449.

    Examples
    --------
    There are 2·2·2 trios; the scores increase strictly in 6, and tie at 5 in 2:

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
        raise OneClassError("vus", expected="cases of all three classes", got=f"none of {check.listing(absent)}")
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
    """Compare a multi-class AUC of models on the same rows, with intervals and tests.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Predictions of two or more models; models that only predict labels are omitted.
    variant : {"hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted", "micro"}
        Average over pairs; see `MulticlassAuc`.
    groups : see `multiclass_auc`
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
        If only one class has cases.

    See Also
    --------
    multiclass_auc, compare_multiclass_costs

    Notes
    -----
    As in DeLong's test for two classes, the statistic is D/√(V₁ + V₂ − 2C). D is the difference of the AUCs; variances
    and covariance come from the placements of the rows within their classes. Its distribution is Student's t with
    u·(e/u)² − 1 degrees of freedom, for u rows (or groups) with an effective number of e.

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
        raise InputError("models with probabilities", expected="two or more", got=f"{len(models)}")
    if variant == "micro":
        pooled = predictions.pooled(groups)
        return compare(pooled, alternative=alternative, test=test, margin=margin, level=level, adjust=adjust)
    rows = ClassRows.of(predictions.y_true, len(predictions.classes), predictions.design(groups))
    used = coefficients(variant_weights(variant, rows.support), rows.support)
    if not used.any():
        raise OneClassError("comparison", expected="cases of two classes", got="fewer")
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
            warn(f"{models[j]!r} − {models[i]!r}: the variance of the difference is 0 or undefined")
            difference = mover_difference(first, second, "intervals of both (MOVER)", first.n)
        return hypothesis.compare(models[i], models[j], difference, df=df, method=name)

    return inference.compare_each_two(variant, estimates, covariance, compare_pair, adjust)
