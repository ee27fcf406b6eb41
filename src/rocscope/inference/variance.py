"""Estimated weights: each row also affects an estimate through the weights of other rows."""
# MERGED-DOC: """RowLevels: which level of the score each row has, to carry sums from rows to levels, and results
# back."""
# MERGED-DOC: """Independent units of rows and the variances they determine, given weights, groups and folds.
#
# Strata: kinds of units that are drawn apart, and how far each unit moves each of m estimates.
#
# Whatever an estimate is and whatever its rows stand for, its variance comes from the same sums: a unit is a row, as
# many
# equal rows, a row that stands for many of a population, or a group of rows.
# """

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import frexp, nan
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.exact_sums import is_moderate
from rocscope._base.grouping import sum_by
from rocscope._base.radix import levels_of_rows
from rocscope.core.predictions import Predictions, independent_units
from rocscope.errors import InputError, OneClassError, WeightError


@dataclass(frozen=True, eq=False)
class EstimatedWeights:
    """How row weights were estimated, and the effect of that on the variance of anything computed with them.

    Parameters
    ----------
    size : int
        Rows N of the sample that the weights were estimated from, those of weight 0 included.
    note : str
        What the weights are for, as the name of a method says it.
    base : array of N weights, optional
        The user's own weights, by which the estimated ones are multiplied.
    index : array of n, optional
        The place in that sample of each row of the data; by default the data are the sample.

    Notes
    -----
    With own moves mᵢ = ∂θ/∂log wᵢ of an estimate θ, row j moves it by mⱼ + vⱼ·Σᵢ mᵢ·ψⱼ(log wᵢ). Here ψⱼ(log wᵢ) is
    the influence of row j on the logarithm of the estimated weight of row i and vⱼ its own weight. A kind of weights
    says what the sum is; everything else is the same for all of them, and for every statistic whose moves are known.

    References
    ----------
    Newey & McFadden 1994, Handbook of Econometrics 4, ch. 36 (two-step estimators); Blanche, Dartigues &
    Jacqmin-Gadda 2013, Stat. Med. 32:5381–5397 (areas under censoring).
    """

    size: int
    note: str
    base: Array | None = None
    index: NDArray[np.intp] | None = None

    def through_weights(self, moves: Array) -> Array:
        """Return Σᵢ mᵢ·ψⱼ(log wᵢ) for each row j of the sample, given influences m (N × m)."""
        raise NotImplementedError

    def estimate(self, frequency: Array | None) -> Array:
        """Return the estimated weight of each row of the sample, if rows were drawn this often (None: once)."""
        raise NotImplementedError

    def take(self, rows: Any) -> Self:
        """Return the same for some rows of the data, by mask, slice or indices."""
        if isinstance(rows, slice) and rows == slice(None):
            return self
        return replace(self, index=self._places[rows])

    def moves(self, own: Array) -> Array:
        """Return the influence of each row of the sample on the estimates, given those with fixed weights."""
        moves = own
        if self.index is not None:
            moves = sum_by(self.index, own, self.size)
        through = self.through_weights(moves)
        return moves + (through if self.base is None else through * self.base[:, None])

    def units(self, unit: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
        """Return the unit of each row of the sample, given that of each row of the data; others are their own."""
        if unit is None or self.index is None:
            return unit
        units = int(unit.max()) + 1 + np.arange(self.size)
        units[self.index] = unit
        return np.unique(units, return_inverse=True)[1]

    def redrawn(self, weight: Array, whole: bool) -> Callable[[Array], Array]:
        """Return a function from numbers of draws (one draw per row) to re-estimated weights.

        `weight` are those of the data as they are; `whole` says that the user's own weights count equal rows, so that
        they are drawn. Rows of the sample that the data do not hold are left out.
        """
        places, base = self._places, None if whole else self.base
        now = self.estimate(self.base)[places]
        kept = np.divide(weight, now, out=np.zeros(places.size), where=now > 0)
        if whole and self.base is not None:
            kept = kept / np.where(self.base[places] > 0, self.base[places], 1)

        def weights(drawn: Array) -> Array:
            found = np.empty(drawn.shape)
            for each, times in zip(found, drawn, strict=True):
                frequency = np.bincount(places, times, self.size)
                each[:] = self.estimate(frequency if base is None else frequency * base)[places]
            return found * kept

        return weights

    @property
    def _places(self) -> NDArray[np.intp]:
        return np.arange(self.size) if self.index is None else self.index


@dataclass(frozen=True, eq=False)
class RowLevels:
    """The distinct scores and the place of each row among them.

    Attributes
    ----------
    threshold : array of k
        Distinct scores, decreasing.
    level : array of n
        Which of them a row has.
    cell : array of n
        2·level, plus 1 for a negative: its place in a table of levels × classes. One place for both takes half as many
        looks at memory in no order, which is what these steps wait for.
    """

    threshold: Array
    level: NDArray[np.intp]
    cell: NDArray[np.intp]

    @classmethod
    def of(cls, positive: NDArray[np.bool_], score: Array) -> "RowLevels":
        """Rank rows once.

        Examples
        --------
        >>> ranked = RowLevels.of(np.array([True, False, True]), np.array([0.5, 0.1, 0.1]))
        >>> ranked.threshold, ranked.counts(np.array([1, 1, 4])), ranked.of_rows(np.array([7, 8]), np.array([0, 9]))
        (array([0.5, 0.1]), (array([1, 4]), array([0, 1])), array([7, 9, 8]))
        """
        rising, place = levels_of_rows(score)
        level = rising.size - 1 - place
        return cls(rising[::-1], level, 2 * level + ~positive)

    def taken(self, rows: Array) -> "RowLevels":
        """Return the same levels for some rows."""
        return RowLevels(self.threshold, self.level[rows], self.cell[rows])

    def counts(self, amount: Array) -> tuple[Array, Array]:
        """Return the positives and negatives of each level, given the weight of each row."""
        table = np.bincount(self.cell, amount, 2 * self.threshold.size).astype(amount.dtype)
        return table[::2], table[1::2]

    def of_rows(self, of_pos: Array, of_neg: Array) -> Array:
        """Return each row's value, given those of positives and negatives of each level."""
        return np.column_stack([of_pos, of_neg]).ravel()[self.cell]


@dataclass(frozen=True)
class Stratum:
    """Independent units of one kind.

    Parameters
    ----------
    moves : array of u × m
        How far a unit moves each estimate: its influence divided by what it is a mean over. They sum to 0.
    times : array of u, or None
        How many equal units an entry stands for.
    units, df : float
        Number of units, and the degrees of freedom of their variance: one less, or one less per fold.
    size : float
        The equal units that a mean over these is as sure as: fewer where weights, or the sizes of groups, differ.
    inside : array of 2 × m
        For areas: the units whose placement is below 1, and those whose placement is above 0.
    holding : pair of float
        For groups: how many hold rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> stratum = Stratum(np.array([[-0.1], [0.1]]), None, units=2, df=1, size=2)
    >>> stratum.covariance
    array([[0.04]])
    """

    moves: Array
    times: Array | None
    units: float
    df: float
    size: float
    inside: Array | None = None
    holding: tuple[float, float] = (nan, nan)

    @property
    def covariance(self) -> Array:
        """Covariance of the m estimates over these units; NaN for a single unit."""
        moves = self.moves if self.times is None else self.moves * self.times[:, None]
        return self.scale * (self.moves.T @ moves)

    @property
    def scale(self) -> float:
        """Factor from a sum of squared influences to a variance."""
        return self.units / self.df if self.df > 0 else nan

    @property
    def freedom(self) -> float:
        """Degrees of freedom of that variance: the effective number of units minus one."""
        return self.df * min(1.0, self.size / self.units)

    def variance(self, model: int) -> float:
        """Return the variance of one estimate."""
        return self.scale * self.total(self.moves[:, model] ** 2)

    def variance_of_difference(self, first: int, second: int) -> float:
        """Return the variance of second − first."""
        return self.scale * self.total((self.moves[:, second] - self.moves[:, first]) ** 2)

    def total(self, values: Array) -> float:
        """Return the sum of values of all units."""
        return float(values.sum() if self.times is None else self.times @ values)


RowNumbers = NDArray[np.intp]
WeightKind = Literal["auto", "frequency", "sampling"]
OverFolds = Literal["pooled", "mean"]

WEIGHTS = ("auto", "frequency", "sampling")
_FOLDS = ("pooled", "mean")
_LONGEST_TABLE = 100_000  # rows: more are cases, and looking at them would take longer than the intervals do


def stratum_of_sample(
    weighting: EstimatedWeights, own: Array, code: NDArray[np.intp] | None, whole: bool, size: float
) -> Stratum:
    """Return all rows behind estimated weights as one stratum, including rows without weight.

    Parameters
    ----------
    weighting : EstimatedWeights
    own : array of n × m
        How each row of the data moves each estimate, its weight taken as given; for several equal rows their sum.
    code : array of N codes, or None
        The group of each row of the sample; see `EstimatedWeights.units`.
    whole : bool
        Whether the user's own weights are numbers of equal rows.
    size : float
        The equal units that the data are worth.
    """
    return stratum_of_moves(weighting.moves(own), code, weighting.base if whole else None, size)


def stratum_of_moves(moves: Array, code: NDArray[np.intp] | None, times: Array | None, size: float) -> Stratum:
    """Return rows as one stratum, given their influence on each estimate; frequencies multiply it."""
    if code is not None:
        held = int(code.max()) + 1
        return Stratum(sum_by(code, moves, held), None, held, held - 1, held)
    if times is None:
        return Stratum(moves, None, len(moves), len(moves) - 1, min(size, len(moves)))
    kept = times > 0
    times = times[kept]
    units = float(times.sum())
    return Stratum(moves[kept] / times[:, None], times, units, units - 1, min(size, units))


@dataclass(frozen=True)
class Units:
    """Rows with positive weight: labels, scores of m models, weights (or None), groups and folds as codes (or None).

    `times` is how many equal rows each one stands for, where weights say that. `folds_pooled` is the number of folds
    where there are some that are taken as one, and `shared` whether models of different folds were fitted to the same
    rows, which no variance over the rows that they judge can show. `weighting` is how the weights were estimated, and
    `group_of_sample` the group of all rows that they were estimated from.
    """

    positive: NDArray[np.bool_]
    scores: dict[str, Array]
    weight: Array | None
    times: Array | None
    group: NDArray[np.intp] | None = None
    fold: NDArray[np.intp] | None = None
    folds_pooled: int = 0
    shared: bool = False
    weighting: EstimatedWeights | None = None
    group_of_sample: NDArray[np.intp] | None = None

    @property
    def amount(self) -> Array:
        """The weight of each row, by default 1."""
        return np.ones(self.positive.size, np.int64) if self.weight is None else self.weight

    @cached_property
    def classes(self) -> tuple[RowNumbers, RowNumbers]:
        """Numbers of the positive and of the negative rows: to take those is several times as fast as by a mask."""
        return np.flatnonzero(self.positive), np.flatnonzero(~self.positive)

    @property
    def n(self) -> float:
        """Number of rows, or the sum of frequencies."""
        return self.positive.size if self.times is None else self.times.sum().item()

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return 0 if self.group is None else int(self.group.max()) + 1

    @property
    def note(self) -> str:
        """Description of the rows for the name of a method."""
        parts = []
        if self.group is not None:
            parts.append(f"{self.n_groups} groups")
        elif self.weight is not None and self.times is None and self.weighting is None:
            parts.append("sampling weights")
        if self.weighting is not None:
            parts.append(self.weighting.note)
        if self.fold is not None:
            parts.append(f"mean of {int(self.fold.max()) + 1} folds")
        elif self.folds_pooled:
            parts.append(f"pooled over {self.folds_pooled} folds")
        if self.shared and (self.fold is not None or self.folds_pooled):
            parts.append("shared training rows not counted")
        return ", ".join(parts)

    def parts(self) -> Iterator[tuple[Array, "Units"]]:
        """Yield the mask and the rows of each fold."""
        assert self.fold is not None
        for number in range(int(self.fold.max()) + 1):
            mask = self.fold == number
            scores = {model: score[mask] for model, score in self.scores.items()}
            weight = None if self.weight is None else self.weight[mask]
            own = {"positive": self.positive[mask], "scores": scores, "weight": weight, "times": self.times_of(mask)}
            part = replace(self, **own, group=None, fold=None)
            if not part.positive.any() or part.positive.all():
                raise OneClassError(
                    "folds='mean'",
                    expected="both classes in every fold",
                    got=f"one class in fold number {number + 1}",
                    hint="stratify the folds, or use folds='pooled'",
                )
            yield mask, part

    def times_of(self, rows: Array | slice) -> Array | None:
        """Return the frequency of each of some rows, or None."""
        return None if self.times is None else self.times[rows]

    def share(self, rows: Array | slice) -> Array:
        """Return the share of each of some rows in a mean over them; in a mean over folds, folds count equally."""
        weight = self.amount[rows].astype(np.float64)
        if self.fold is None:
            return weight / weight.sum()
        total = np.bincount(self.fold[rows], weight)
        return weight / (total * total.size)[self.fold[rows]]

    def left_out(self) -> Array:
        """Return how much farther a mean of a class moves without a row's unit than the unit's residual says.

        That is (1 − 1/u)/(1 − share) for u units of the class: 1 where all are worth the same.
        """
        factor = np.ones(self.positive.size)
        if self.times is not None or self.weighting is not None or (self.weight is None and self.group is None):
            return factor
        for rows in self.classes:
            unit = rows if self.group is None else self.group[rows]
            share = np.bincount(unit, self.share(rows))[unit]
            most = 1 - 1 / max(np.unique(unit).size, 1)
            factor[rows] = np.divide(most, 1 - share, out=np.ones(rows.size), where=share < 1)
        return factor

    def stratum(self, influence: Array, rows: Array | slice) -> Stratum:
        """Return some rows as one stratum, given their `influence` on a mean (m columns)."""
        share, times = self.share(rows), self.times_of(rows)
        each = share if times is None else share / times
        units = float(share.size if times is None else times.sum())
        folds = 1 if self.fold is None else int(self.fold.max()) + 1
        return Stratum(influence * each[:, None], times, units, units - folds, 1 / float(share @ each))

    def stratum_of_groups(self, influence: Array, rows: Array | slice) -> Stratum:
        """Return the groups that hold some of these rows as one stratum."""
        assert self.group is not None
        group = self.group[rows]
        held = np.unique(group).size
        share = self.share(rows)
        moves = sum_by(group, influence * share[:, None], self.n_groups)
        return Stratum(moves, None, held, held - 1, min(1 / float((np.bincount(group, share) ** 2).sum()), held))

    def stratum_of_all(self, moves: Array) -> Stratum:
        """Return all units as one stratum if weights are estimated, given the influence of each row."""
        assert self.weighting is not None
        share = self.share(slice(None))
        size = 1 / float(share @ share if self.times is None else share @ (share / self.times))
        return stratum_of_sample(self.weighting, moves, self.group_of_sample, self.times is not None, size)

    def holding(self) -> tuple[int, int]:
        """Return the numbers of groups with positives and with negatives."""
        assert self.group is not None
        held = [np.unique(self.group[rows]).size for rows in self.classes]
        return held[0], held[1]


def units_of(
    predictions: Predictions, *, groups: Any = None, folds: OverFolds | None = None, weights: WeightKind = "auto"
) -> Units:
    """Return the rows with positive weight, with their weights, groups and folds."""
    check.check_choice("weights", weights, WEIGHTS)
    if folds is not None:
        check.check_choice("folds", folds, _FOLDS)
    weight = predictions.sample_weight
    kept = slice(None) if weight is None else np.flatnonzero(weight > 0)
    unit = independent_units(predictions, groups)
    if folds == "mean" and predictions.fold is None:
        raise InputError("folds='mean'", expected="a fold column", hint="pass fold= to Predictions or rocscope.read")
    fold = None if predictions.fold is None else _codes(predictions.fold[kept])
    weight, weighting = None if weight is None else weight[kept], predictions.weighting
    of_sample = None
    if weighting is not None:
        of_sample, weighting = weighting.units(unit), weighting.take(kept)
    positive = predictions.y_true[kept]
    scores = {model: score[kept] for model, score in predictions.scores.items()}
    times = times_of(weight, weighting, weights, positive, *scores.values())
    if weight is not None and times is None and not is_moderate(total := weight.sum()):
        weight = weight * 2.0 ** min(-frexp(total)[1], 1023)  # products of their sums are then within floats
    return Units(
        positive,
        scores,
        weight,
        times,
        None if unit is None else _codes(unit[kept]),
        fold if folds == "mean" else None,
        0 if fold is None or folds == "mean" else int(fold.max()) + 1,
        getattr(predictions.source, "folds", 1) > 1,
        weighting,
        of_sample,
    )


def times_of(
    weight: Array | None, weighting: EstimatedWeights | None, kind: WeightKind, *columns: Array
) -> Array | None:
    """Return the frequency of each row; with estimated weights, the user's own weights are frequencies."""
    if weighting is None:
        return weight if weight is not None and is_frequency(weight, kind, *columns) else None
    if weighting.base is None:
        return None
    base = weighting.base if weighting.index is None else weighting.base[weighting.index]
    return base if is_frequency(base, kind, *columns) else None


def _codes(column: Array) -> NDArray[np.intp]:
    return np.unique(column, return_inverse=True)[1]


def is_frequency(weight: Array, kind: WeightKind, positive: Array, *scores: Array) -> bool:
    """Return whether weights are frequencies rather than sampling weights.

    Parameters
    ----------
    weight : array of n weights
    kind : {"auto", "frequency", "sampling"}
        "auto" takes weights for frequencies only where nothing else is likely: where all are 0 or 1, and in a table of
        counts. Sampling weights that are taken for frequencies make intervals far too narrow: at weights of 1 to 20,
        those of 95 % cover 29 to 83 % of the time.
    positive : array of n labels
    *scores : arrays of n scores

    Returns
    -------
    bool

    Raises
    ------
    WeightError
        If frequencies are asked for and weights are not whole.
    """
    whole = weight.dtype.kind == "i" or not (weight % 1).any()
    if kind == "frequency" and not whole:
        raise WeightError("weights='frequency'", expected="whole numbers", hint="use weights='sampling'")
    if kind == "auto" and whole:
        return is_selection(weight) or _is_table(positive, *scores)
    return kind == "frequency"


def is_selection(weight: Array) -> bool:
    """Return whether weights are 0 or 1 and so only select rows."""
    return bool(((weight == 0) | (weight == 1)).all())


def _is_table(positive: Array, *scores: Array) -> bool:
    """Return whether rows are a table of counts: all are distinct, and at least half of the scores have both labels.

    Scores of single cases are hardly ever equal between the classes, or else also within them.
    """
    if positive.size > _LONGEST_TABLE:
        return False
    order = np.lexsort((positive, *scores))
    same_score = np.logical_and.reduce([score[order][1:] == score[order][:-1] for score in scores])
    if (same_score & (positive[order][1:] == positive[order][:-1])).any():
        return False
    shared = int(same_score.sum())  # each of two rows
    return 2 * shared >= positive.size - shared


def require_whole(*counts: Array) -> None:
    """Raise unless counts are whole, as numbers of rows are."""
    if any((values % 1 != 0).any() for values in counts if values.dtype.kind == "f"):
        raise WeightError(
            "counts",
            expected="whole numbers, since counts do not tell how many rows a weight stands for",
            hint="pass the rows with sample_weight (Predictions)",
        )
