"""drift: differences in score distribution, AUC and prevalence of two samples, with bounds for binned data."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple, overload

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.radix import encode
from rocscope._base.registry import reach
from rocscope.core.result import Result, html_table
from rocscope.errors import ScoreError
from rocscope.ranges.binned import BinnedCounts
from rocscope.ranges.bounds import rounded
from rocscope.sample import BySegment, Models, samples_of

_FITS = 2**31  # totals whose products fit 64 bits


class Bounds(NamedTuple):
    """Bounds of a quantity; equal if it is known."""

    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """Distances of the second of two samples from the first.

    Made by `rocscope.inference.drift`.

    Attributes
    ----------
    ks : Bounds
        Kolmogorov–Smirnov distance of the scores: the largest difference of the two shares of cases at or above a
        threshold.
    ks_pos, ks_neg : Bounds or None
        The same among positives and among negatives; None where a sample has none.
    auc_difference : Bounds or None
        AUC of the second less that of the first; None where a sample holds one class only.
    prevalence_difference : float
    """

    ks: Bounds
    ks_pos: Bounds | None
    ks_neg: Bounds | None
    auc_difference: Bounds | None
    prevalence_difference: float

    def __repr__(self) -> str:
        return f"Drift({', '.join(f'{name} {words}' for name, words in self._facts().items())})"

    def _facts(self) -> dict[str, str]:
        shown = {"ks": self.ks, "ks_pos": self.ks_pos, "ks_neg": self.ks_neg, "auc_difference": self.auc_difference}
        return {name: "undefined" if bounds is None else _in_words(bounds) for name, bounds in shown.items()}

    def _repr_html_(self) -> str:
        return html_table(self._facts().items())


@overload
def drift(first: Models, second: Models) -> Drift: ...
@overload
def drift(first: Any, second: Any) -> Any: ...
@contract
def drift(first: Any, second: Any) -> Any:
    """Compare two samples: distances of their scores, and difference in AUC.

    Parameters
    ----------
    first, second : data of one model
        Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`. Such as counts of last
        month and of today, of scores of one type. Of two `SegmentedCounts` every segment is compared at once; one alone
        is taken for all its rows.

    Returns
    -------
    Drift
        Of exact counts the bounds of a quantity are equal, but for the rounding of its last bit. Of segments a
        `SegmentDrift`, with an array of each quantity.

    Raises
    ------
    ScoreError
        If their scores are of different types.

    Notes
    -----
    At a threshold within a bin between none and all of its rows may be above it. The bounds are compared as whole
    numbers and rounded outwards. They say what the rows are, not how far chance alone may carry two samples apart.
    O(k log k) for k bins.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> monday = ThresholdCounts([0.9, 0.5, 0.1], pos=[3, 2, 0], neg=[0, 1, 4])
    >>> tuesday = ThresholdCounts([0.9, 0.5, 0.1], pos=[1, 3, 1], neg=[1, 2, 2])
    >>> drift(monday, tuesday)
    Drift(ks 0.1, ks_pos 0.4, ks_neg 0.4, auc_difference -0.38)
    """
    if isinstance(first, BySegment) and isinstance(second, BySegment):
        return reach("segments").drift_by_segment(first, second)
    one, other = (samples_of(data, name=name).one(None).bins for name, data in (("first", first), ("second", second)))
    if one.low.dtype != other.low.dtype:
        raise ScoreError("samples", expected="scores of one type", got=f"{one.low.dtype} and {other.low.dtype}")
    everyone, positives, negatives = (_distance(one, other, kind) for kind in ("n", "pos", "neg"))
    assert everyone is not None
    difference = None
    if all((one.n_pos, one.n_neg, other.n_pos, other.n_neg)):
        (low, high), (other_low, other_high) = (_areas(each) for each in (one, other))
        difference = _outward(other_low - high, other_high - low)
    return Drift(everyone, positives, negatives, difference, other.prevalence - one.prevalence)


def _areas(binned: BinnedCounts) -> tuple[Fraction, Fraction]:
    low, high = binned.right_bounds
    total = 2 * int(binned.n_pos) * int(binned.n_neg)
    return Fraction(low, total), Fraction(high, total)


def _distance(one: BinnedCounts, other: BinnedCounts, kind: str) -> Bounds | None:
    """Return bounds of the largest difference of shares at or above a threshold, attained at ends of bins."""
    counts = [binned.pos + binned.neg if kind == "n" else getattr(binned, kind) for binned in (one, other)]
    totals = [int(column.sum()) for column in counts]
    if not all(totals):
        return None
    ends = [tuple(encode(end) for end in (binned.low, binned.high)) for binned in (one, other)]
    at = np.unique(np.concatenate([column for pair in ends for column in pair]))
    above: list[tuple[Array, Array]] = []
    for (low, high), column, scale in zip(ends, counts, totals[::-1], strict=True):
        summed = np.append(0, np.cumsum(column))
        if max(totals) >= _FITS:
            summed = summed.astype(object)
        sure, possible = (summed[low.size - np.searchsorted(edge[::-1], at)] * scale for edge in (low, high))
        above.append((sure, possible))
    (sure, possible), (other_sure, other_possible) = above
    least = max(0, (sure - other_possible).max(), (other_sure - possible).max())
    most = max((possible - other_sure).max(), (other_possible - sure).max())
    pairs = totals[0] * totals[1]
    return _outward(Fraction(int(least), pairs), Fraction(int(most), pairs))


def _outward(low: Fraction, high: Fraction) -> Bounds:
    return Bounds(rounded(low, -inf), rounded(high, inf))


def _in_words(bounds: Bounds) -> str:
    low, high = (f"{end:.6g}" for end in bounds)
    return low if low == high else f"from {low} to {high}"
