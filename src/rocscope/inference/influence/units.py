"""Which units of rows are independent, and what they say about an estimate: rows, weights, groups and folds, once.

Strata: kinds of units that are drawn apart, and how far each unit moves each of m estimates.

Whatever an estimate is and whatever its rows stand for, its variance comes from the same sums: a unit is a row, as many
equal rows, a row that stands for many of a population, or a group of rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import frexp, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.exact_sums import is_moderate
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.errors import InputError, OneClassError, WeightError


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
        Units in all, and what their variance is estimated from: one less, or one less for each fold.
    size : float
        The equal units that a mean over these is as sure as: fewer where weights differ.
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
        """Of the m estimates, as far as these units vary; NaN where one unit says nothing about that."""
        moves = self.moves if self.times is None else self.moves * self.times[:, None]
        return self.scale * (self.moves.T @ moves)

    @property
    def scale(self) -> float:
        """What makes a sum of squared moves a variance."""
        return self.units / self.df if self.df > 0 else nan

    @property
    def freedom(self) -> float:
        """Degrees of freedom of that variance: of as many units as these are worth."""
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


WeightKind = Literal["auto", "frequency", "sampling"]
OverFolds = Literal["pooled", "mean"]

WEIGHTS = ("auto", "frequency", "sampling")
_FOLDS = ("pooled", "mean")
_ALL_WHOLE_FROM = 2.0**53


@dataclass(frozen=True)
class Units:
    """Rows with a weight: labels, scores of m models, weights (or None), groups and folds as codes (or None).

    `folds_pooled` is the number of folds where there are some that are taken as one, and `shared` whether models of
    different folds were fitted to the same rows, which no variance over the rows that they judge can show.
    """

    positive: NDArray[np.bool_]
    scores: dict[str, Array]
    weight: Array | None
    frequency: bool
    group: NDArray[np.intp] | None = None
    fold: NDArray[np.intp] | None = None
    folds_pooled: int = 0
    shared: bool = False

    @property
    def amount(self) -> Array:
        """The weight of each row; 1 where there are none."""
        return np.ones(self.positive.size, np.int64) if self.weight is None else self.weight

    @property
    def times(self) -> Array | None:
        """How many equal rows each one stands for, where weights say that."""
        return self.weight if self.frequency else None

    @property
    def n(self) -> float:
        """Rows, or as many as frequencies say."""
        return self.positive.size if self.times is None else self.times.sum().item()

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return 0 if self.group is None else int(self.group.max()) + 1

    @property
    def note(self) -> str:
        """What the rows are, as the name of a method says it."""
        parts = []
        if self.group is not None:
            parts.append(f"{self.n_groups} groups")
        elif self.weight is not None and not self.frequency:
            parts.append("sampling weights")
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
            part = replace(self, positive=self.positive[mask], scores=scores, weight=weight, group=None, fold=None)
            if not part.positive.any() or part.positive.all():
                raise OneClassError(
                    "folds='mean'",
                    expected="both classes in every fold",
                    got=f"one class in fold number {number + 1}",
                    hint="stratify the folds, or use folds='pooled'",
                )
            yield mask, part

    def times_of(self, mask: Array) -> Array | None:
        """Return how many equal rows each one of a mask stands for, or None."""
        return None if self.times is None else self.times[mask]

    def share(self, mask: Array) -> Array:
        """Return the share that each row of a mask has in a mean over them; the mean over folds counts each alike."""
        weight = self.amount[mask].astype(np.float64)
        if self.fold is None:
            return weight / weight.sum()
        total = np.bincount(self.fold[mask], weight)
        return weight / (total * total.size)[self.fold[mask]]

    def stratum(self, influence: Array, mask: Array) -> Stratum:
        """Return the rows of a mask as one stratum; `influence` (m columns) is of each row on a mean over them.

        A row that stands for many is told by how the mean moves without it, which is more than its residual says.
        """
        share, times = self.share(mask), self.times_of(mask)
        each = share if times is None else share / times
        if times is None and self.weight is not None and share.size > 1:
            with np.errstate(divide="ignore", invalid="ignore"):  # where one row is all the weight
                influence = influence * ((1 - 1 / share.size) / (1 - share))[:, None]
        units = float(share.size if times is None else times.sum())
        folds = 1 if self.fold is None else int(self.fold.max()) + 1
        return Stratum(influence * each[:, None], times, units, units - folds, 1 / float(share @ each))

    def stratum_of_groups(self, influence: Array, mask: Array) -> Stratum:
        """Return the groups that hold rows of a mask as one stratum."""
        assert self.group is not None
        group = self.group[mask]
        held = np.unique(group).size
        moves = sum_by(group, influence * self.share(mask)[:, None], self.n_groups)
        return Stratum(moves, None, held, held - 1, held)

    def holding(self) -> tuple[int, int]:
        """Return how many groups hold positives, and how many hold negatives."""
        assert self.group is not None
        held = [np.unique(self.group[mask]).size for mask in (self.positive, ~self.positive)]
        return held[0], held[1]


def units_of(
    predictions: Predictions, *, groups: Any = None, folds: OverFolds | None = None, weights: WeightKind = "auto"
) -> Units:
    """Return the rows that have a weight, with what they stand for and what they belong to."""
    check.check_choice("weights", weights, WEIGHTS)
    if folds is not None:
        check.check_choice("folds", folds, _FOLDS)
    weight = predictions.sample_weight
    kept = slice(None) if weight is None else weight > 0
    unit = independent_units(predictions, groups)
    if folds == "mean" and predictions.fold is None:
        raise InputError("folds='mean'", expected="a fold column", hint="pass fold= to Predictions or rocscope.read")
    fold = None if predictions.fold is None else _codes(predictions.fold[kept])
    weight = None if weight is None else weight[kept]
    frequency = weight is not None and is_frequency(weight, weights)
    if weight is not None and not frequency and not is_moderate(total := weight.sum()):
        weight = weight * 2.0 ** min(-frexp(total)[1], 1023)  # products of their sums are then within floats
    return Units(
        predictions.y_true[kept],
        {model: score[kept] for model, score in predictions.scores.items()},
        weight,
        frequency,
        None if unit is None else _codes(unit[kept]),
        fold if folds == "mean" else None,
        0 if fold is None or folds == "mean" else int(fold.max()) + 1,
        getattr(predictions.source, "folds", 1) > 1,
    )


def _codes(column: Array) -> NDArray[np.intp]:
    return np.unique(column, return_inverse=True)[1]


def is_frequency(weight: Array, kind: WeightKind) -> bool:
    """Say whether weights are numbers of equal rows; "auto": when all are whole, and not by their mere size."""
    whole = weight.dtype.kind == "i" or not (weight % 1).any()
    if kind == "frequency" and not whole:
        raise WeightError("weights='frequency'", expected="whole numbers", hint="use weights='sampling'")
    return whole and (kind == "frequency" or (kind == "auto" and weight.max(initial=0) <= _ALL_WHOLE_FROM))


def require_whole(*counts: Array) -> None:
    """Raise unless counts are whole: they stand for rows."""
    if any((values % 1 != 0).any() for values in counts if values.dtype.kind == "f"):
        raise WeightError(
            "counts",
            expected="whole numbers, since counts do not tell how many rows a weight stands for",
            hint="pass the rows with sample_weight (Predictions)",
        )


def sum_by(code: NDArray[np.intp], values: Array, size: int) -> Array:
    """Return the sums of each column over the rows of each code."""
    return np.column_stack([np.bincount(code, weights=column, minlength=size) for column in values.T])
