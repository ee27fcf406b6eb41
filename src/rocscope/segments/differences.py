"""Segments whose AUC differs from the rest: small-sample tests, and shrunken areas."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.result import Result, frame_of, html_table
from rocscope.errors import InputError
from rocscope.inference.hypothesis import adjust_p_values
from rocscope.segments.levels import SegmentLevels

_SHOWN = 10  # segments in a notebook: a choice
_LEAST_TRIALS = 1e-9  # of an area that is 0 or 1 in nearly every segment, as that of one pair is


@dataclass(frozen=True, eq=False, repr=False)
class SegmentDifferences(Result):
    """The AUC of each of k segments, compared with the mean of all others.

    Made by `SegmentedCounts.differing`. Arrays are in the order of `names`, with NaN where a segment lacks a class.

    Attributes
    ----------
    names, auc : arrays of k
    rest : array of k
        Mean AUC of the other segments.
    standard_error : array of k
        Of the AUC of a segment of so many positives and negatives.
    shrunken : array of k
        The area drawn towards the mean of all segments, more with fewer rows.
    p_value, adjusted_p_value : arrays of k
    adjust : str
    spread : float
        Standard deviation of the true areas of segments, as far as it is more than chance.
    level : float
        An adjusted p-value of at most 1 − level counts as found.
    """

    names: Array
    auc: Array
    rest: Array
    standard_error: Array
    shrunken: Array
    p_value: Array
    adjusted_p_value: Array
    adjust: str
    spread: float
    level: float

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Segments by p-value, then by distance from the rest; those without a test last."""
        return np.lexsort((-abs(self.auc - self.rest), self.p_value))

    @property
    def found(self) -> Array:
        """Names of the segments that differ, most significant first."""
        return self.names[[i for i in self.order if self.adjusted_p_value[i] <= 1 - self.level]]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per segment, most significant first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        columns = ("auc", "rest", "standard_error", "shrunken", "p_value", "adjusted_p_value")
        order = self.order
        return frame_of(
            {"segment": self.names[order]} | {name: getattr(self, name)[order] for name in columns}, backend
        )

    def __repr__(self) -> str:
        tested = int((~np.isnan(self.p_value)).sum())
        said = f"{self.found.size} of {tested} differ at {100 * (1 - self.level):g} % ({self.adjust})"
        return f"SegmentDifferences({said}, spread of areas {self.spread:.3g})"

    def _repr_html_(self) -> str:
        head = ("segment", "AUC", "the rest", "shrunken", "adjusted p")
        columns = (self.auc, self.rest, self.shrunken, self.adjusted_p_value)
        rows = [(self.names[i], *(f"{each[i]:.3g}" for each in columns)) for i in self.order[:_SHOWN].tolist()]
        return super()._repr_html_() + html_table(rows, head)


def differences(
    names: Array, auc: Array, n_pos: Array, n_neg: Array, sums: Array, *, adjust: Any, level: float
) -> SegmentDifferences:
    """Return how segments differ, from their areas and the sums of `scatter`."""
    known = ~np.isnan(auc)
    if known.sum() < 2:
        raise InputError("segments to compare", expected="two or more with both classes", got=str(known.sum()))
    area, sizes = auc[known], (n_pos[known].astype(np.float64), n_neg[known].astype(np.float64))
    variance = _variance(area, *sizes, sums[known])
    spread, mean = _between(area, variance)
    weight = _weights(variance, spread**2)
    others = weight.sum() - weight
    rest = ((weight * area).sum() - weight * area) / others
    of_rest = np.maximum((weight**2 * variance).sum() - weight**2 * variance, 0) / others**2
    p = _p_values(area - rest, mean, variance, of_rest, *sizes)
    trust = spread**2 / (spread**2 + variance) if spread else np.zeros(area.size)
    columns = (rest, np.sqrt(variance), trust * area + (1 - trust) * mean, p, adjust_p_values(p, adjust))
    rest_of, error, shrunk, alone, adjusted = (_spread_out(each, known) for each in columns)
    return SegmentDifferences(names, auc, rest_of, error, shrunk, alone, adjusted, adjust, spread, level)


def _spread_out(values: Array, known: NDArray[np.bool_]) -> Array:
    found = np.full(known.size, np.nan)
    found[known] = values
    return check.read_only(found)


def scatter(levels: SegmentLevels) -> Array:
    """Return the sums of squares of placements of positives and negatives in each segment, and its ties.

    Examples
    --------
    >>> two = np.array([2]), np.array([2])
    >>> levels = SegmentLevels(np.array([0, 3]), *np.array([[3, 2, 1], [1, 2, 2], [0, 1, 2]]), *two)
    >>> scatter(levels)
    array([[0.03125, 0.03125, 1.     ]])
    """
    n_pos, n_neg = (np.maximum(each, 1).astype(np.float64) for each in (levels.n_pos, levels.n_neg))
    above = levels.tp - levels.pos / 2
    area = levels.each(np.add, levels.neg * above) / (n_pos * n_neg)
    of_pos = 1 - (levels.fp - levels.neg / 2) / levels.spread(n_neg) - levels.spread(area)
    of_neg = above / levels.spread(n_pos) - levels.spread(area)
    columns = levels.pos * of_pos**2, levels.neg * of_neg**2, levels.pos * levels.neg.astype(np.float64)
    return np.stack([levels.each(np.add, column) for column in columns], axis=1)


def _variance(area: Array, n_pos: Array, n_neg: Array, sums: Array) -> Array:
    """Return the variance of the areas of segments of given sizes, from the rows of all segments."""
    pairs = n_pos * n_neg
    worth = pairs / (n_pos + n_neg)
    mean = (worth * area).sum() / worth.sum()
    of_pairs = max(mean * (1 - mean) - sums[:, 2].sum() / pairs.sum() / 4, 0.0)
    more_pos, more_neg = n_pos - 1, n_neg - 1
    matrix = np.array(
        [
            [(more_pos * more_neg / n_neg).sum(), -(more_pos / n_neg).sum()],
            [-(more_neg / n_pos).sum(), (more_pos * more_neg / n_pos).sum()],
        ]
    )
    if not matrix[0, 0] > 0:
        got = "none"
        raise InputError("segments to compare", expected="one with two positives and two negatives", got=got)
    found = sums[:, :2].sum(axis=0) - of_pairs * np.array([(more_pos / n_neg).sum(), (more_neg / n_pos).sum()])
    of_pos, of_neg = np.linalg.lstsq(matrix, found)[0].clip(0, of_pairs)
    if of_pos + of_neg > of_pairs:
        of_pos, of_neg = (each * of_pairs / (of_pos + of_neg) for each in (of_pos, of_neg))
    return (of_pairs + more_neg * of_pos + more_pos * of_neg) / pairs


def _between(area: Array, variance: Array) -> tuple[float, float]:
    """Return the standard deviation and mean of the true areas (Paule–Mandel)."""

    def excess(between: float) -> float:
        weight = _weights(variance, between)
        apart = area - (weight * area).sum() / weight.sum()
        return float((weight * apart**2).sum()) - (area.size - 1)

    between = 0.0
    if np.ptp(area) > 0 and (not variance.any() or excess(0.0) > 0):
        highest = float(((area - area.mean()) ** 2).sum())
        solve: Any = optimize.brentq
        between = solve(excess, 0.0, highest, xtol=1e-14) if variance.any() else highest / (area.size - 1)
    weight = _weights(variance, between)
    return float(np.sqrt(between)), float((weight * area).sum() / weight.sum())


def _weights(variance: Array, between: float) -> Array:
    total = variance + between
    return 1 / total if total.all() else np.ones(variance.size)


def _p_values(apart: Array, mean: float, variance: Array, of_rest: Array, n_pos: Array, n_neg: Array) -> Array:
    """Return two-sided p-values of differences, with a continuity correction of half a pair.

    An area is less skewed than the beta law of its mean and variance, and more than the normal one: of both tails the
    larger counts. Few rows have longer tails; so the variance is taken 1/(2m) larger where the smaller class has m.
    """
    if not 0 < mean < 1:
        return np.ones(apart.size)
    variance = variance * (1 + 0.5 / np.minimum(n_pos, n_neg)) + of_rest
    trials = np.maximum(mean * (1 - mean) / variance - 1, _LEAST_TRIALS)
    a, b, half, error = mean * trials, (1 - mean) * trials, 0.5 / (n_pos * n_neg), np.sqrt(variance)
    lower, upper = apart + half, apart - half
    below = np.fmax(special.betainc(a, b, np.clip(mean + lower, 0, 1)), special.ndtr(lower / error))
    above = np.fmax(special.betaincc(a, b, np.clip(mean + upper, 0, 1)), special.ndtr(-upper / error))
    return np.minimum(2 * np.minimum(below, above), 1.0)
