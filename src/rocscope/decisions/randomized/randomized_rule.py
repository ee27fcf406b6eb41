"""RandomizedRule: thresholds that each decide a share of the cases, drawn by a hash of the cases' identifiers.

A tie that is taken in part is such a rule too: of the thresholds above and at the tie.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.context import decimal
from rocscope.core.point import OperatingPoint
from rocscope.core.result import Result
from rocscope.decisions.models import predict, scores_of
from rocscope.decisions.randomized.drawing import HASHES, Hashes, draw, hashes_of, in_units, ordered, rounded_to
from rocscope.decisions.slope_ranges import HullVertex
from rocscope.errors import InputError, PairingError
from rocscope.geometry import ConvexCombination


class Part(NamedTuple):
    """A threshold and the share of cases that it decides."""

    share: Fraction
    model: str
    threshold: float
    negated: bool = False

    def __str__(self) -> str:
        whom = {inf: "nobody", -inf: "everybody"}.get(self.threshold)
        whom = whom or f"score{'<' if self.negated else '≥'}{self.threshold:.6g} of {self.model}"
        return whom if self.share == 1 else f"{float(self.share):.4g} × {whom}"


@dataclass(frozen=True, repr=False)
class RandomizedRule(Result):
    """One threshold, or several that each decide a share of the cases.

    Its rates lie between those of the thresholds. Made by `rocscope.decisions.mixture`, `Hull.mixture`, and all plans.

    Attributes
    ----------
    ends : tuple of HullVertex
        The thresholds, from fewest positive predictions on.
    weights : tuple of Fraction
        Share of the cases that each decides; 1 in all.
    at_most : Fraction or None
        Share of the cases that may be predicted positive, where the rule is made for their number.

    References
    ----------
    Vuk & Curk 2006, §4; Provost & Fawcett 2001, interpolation of classifiers.
    """

    _content = ("weight", "tpr", "fpr", "first", "second", "exact")

    ends: tuple[HullVertex, ...]
    weights: tuple[Fraction, ...]
    at_most: Fraction | None = None

    @classmethod
    def between(
        cls, first: HullVertex, second: HullVertex, weight: Fraction, at_most: Fraction | None = None
    ) -> "RandomizedRule":
        """Return the rule of two thresholds in which the second decides the share `weight`."""
        return cls((first, second), (1 - weight, weight), at_most)

    @classmethod
    def of(cls, best: ConvexCombination, at_most: Fraction | None = None) -> "RandomizedRule":
        """Return the rule with the rates of a point between two thresholds."""
        first, second = (HullVertex(end.choices.model, end.point, negated=end.choices.negated) for end in best.ends)
        return cls.between(first, second, best.share, at_most)

    @property
    def first(self) -> HullVertex:
        """The threshold with fewest positive predictions."""
        return self.ends[0]

    @property
    def second(self) -> HullVertex:
        """The threshold with most positive predictions."""
        return self.ends[-1]

    @property
    def exact_weight(self) -> Fraction:
        """Exact share of the cases that `second` decides."""
        return self.weights[-1]

    @property
    def weight(self) -> float:
        """The same as a float."""
        return float(self.exact_weight)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The thresholds with their shares of the cases, without empty ones."""
        every = zip(self.weights, self.ends, strict=True)
        return tuple(Part(share, end.model, end.threshold, end.negated) for share, end in every if share)

    @property
    def models(self) -> tuple[str, ...]:
        """The models whose scores are needed."""
        return tuple(dict.fromkeys(part.model for part in self.parts if abs(part.threshold) != inf))

    @property
    def randomized(self) -> bool:
        """Whether several thresholds each decide some cases."""
        return len(self.parts) > 1

    @property
    def exact(self) -> dict[str, str | None]:
        """Weight and `at_most` as texts of exact fractions."""
        return {"weight": str(self.exact_weight), "at_most": None if self.at_most is None else str(self.at_most)}

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Exact expected true- and false-positive rate, from the counts of both thresholds."""
        tpr, fpr = (
            sum((share * _coordinate(end.point, axis, None) for share, end in self._weighted), Fraction(0))
            for axis in ("tpr", "fpr")
        )
        return tpr, fpr

    @property
    def _weighted(self) -> list[tuple[Fraction, HullVertex]]:
        return list(zip(self.weights, self.ends, strict=True))

    @property
    def tpr(self) -> float:
        """Expected true-positive rate."""
        return float(self.rates[0])

    @property
    def fpr(self) -> float:
        """Expected false-positive rate."""
        return float(self.rates[1])

    @property
    def point(self) -> OperatingPoint:
        """Expected counts in the sample, with the score of the last threshold."""
        at = self.second.point
        if not self.randomized:
            return at
        tp, fp = (float(rate * Fraction(n)) for rate, n in zip(self.rates, (at.n_pos, at.n_neg), strict=True))
        return OperatingPoint(tp, fp, at.n_pos - tp, at.n_neg - fp, at.threshold)

    def expected(self, prevalence: float, population: float = 1) -> OperatingPoint:
        """Return the expected counts among `population` cases at the given `prevalence`."""
        positives, negatives = prevalence * population, (1 - prevalence) * population
        tp, fp = positives * self.tpr, negatives * self.fpr
        return OperatingPoint(tp, fp, positives - tp, negatives - fp)

    def predict(self, scores: Any, ids: Any = None, *, random_state: Any = 0) -> NDArray[np.bool_]:
        """Return which cases are predicted positive.

        Parameters
        ----------
        scores : mapping from model name to array, Predictions or data frame; an array where one model is enough
        ids : array of one identifier per case, optional
            Its hash decides on a case between the thresholds, wherever it stands; by default that of the row number.
        random_state : int, Generator, RandomState or None
            Another one hashes differently.

        Raises
        ------
        ColumnError
            If a model is missing.
        InputError
            If an identifier is repeated.

        Notes
        -----
        A case for which thresholds of the total share p are passed is positive with probability p. Made for a rate,
        each case is decided by its own hash, whatever other cases come with it: attained rates differ from the promised
        point by sampling error only. Made for `at_most`, all cases that are passed are drawn together, best first,
        until their share is reached exactly; hashes decide among equal scores.
        """
        columns = self._scores(scores)
        chance, tier = self._tiers(columns)
        hashes = hashes_of(ids, tier.size, random_state)
        if self.at_most is not None:
            return self.draw(min(int(self.at_most * tier.size), max(self._reach(columns))), columns, hashes)
        taken = np.array([each == 1 for each in chance])[tier]
        open_ = np.flatnonzero(np.array([0 < each < 1 for each in chance])[tier])
        limit = np.array([float(each) for each in chance])[tier[open_]]
        taken[open_] = hashes(open_).astype(np.float64) / HASHES < limit
        return taken

    def select(self, number: int, scores: Any, ids: Any = None, *, random_state: Any = 0) -> NDArray[np.intp]:
        """Return exactly the given number of rows, best first; if it differs from the planned number, by score."""
        chosen = np.flatnonzero(self.exactly(number, scores, ids, random_state=random_state))
        return self.ordered(chosen, scores, ids, random_state=random_state)

    def ordered(
        self, rows: NDArray[np.intp], scores: Any, ids: Any = None, *, random_state: Any = 0
    ) -> NDArray[np.intp]:
        """Return rows best first; ties are ordered by the hash of their identifiers."""
        goodness = self._goodness(self._scores(scores))
        return ordered(goodness, rows, hashes_of(ids, goodness.size, random_state))

    def exactly(self, number: int, scores: Any, ids: Any = None, *, random_state: Any = 0) -> NDArray[np.bool_]:
        """Return a mask that selects exactly the given number of cases."""
        columns = self._scores(scores)
        return self.draw(number, columns, hashes_of(ids, self._goodness(columns).size, random_state))

    def reach(self, scores: Any) -> tuple[int, int]:
        """Return the number of cases at or above the first and the last threshold."""
        return self._reach(self._scores(scores))

    def draw(self, number: int, columns: dict[str, Array], hashes: Hashes) -> NDArray[np.bool_]:
        """Return exactly the given number of cases, best first; between the thresholds, their planned share."""
        chance, tier = self._tiers(columns)
        sizes = np.bincount(tier, minlength=len(chance)).tolist()
        return draw(self._goodness(columns), tier, np.array(_amounts(min(number, tier.size), chance, sizes)), hashes)

    def strata(self, scores: Any, *, by_number: bool) -> NDArray[np.intp]:
        """Return a number for each case, the same for those that hashes choose among; −1 where scores decide.

        Where a number of cases is filled, best first, hashes choose among equal scores; else among all on which the
        thresholds differ.
        """
        columns = self._scores(scores)
        chance, tier = self._tiers(columns)
        if not by_number:
            return np.where(np.array([0 < each < 1 for each in chance])[tier], tier, -1)
        place = np.unique(self._goodness(columns), return_inverse=True)[1]
        return np.unique(tier * (place.max(initial=0) + 1) + place, return_inverse=True)[1]

    def _tiers(self, columns: dict[str, Array]) -> tuple[list[Fraction], Array]:
        """Return the probabilities of selection, in decreasing order, and each case's index among them."""
        parts = [(share, end) for share, end in self._weighted if share]
        pattern = sum(self._answer(end, columns).astype(np.int64) << bit for bit, (_, end) in enumerate(parts))
        assert isinstance(pattern, np.ndarray)
        kinds = np.flatnonzero(np.bincount(pattern, minlength=1 << len(parts)))
        chances = [sum((s for bit, (s, _) in enumerate(parts) if kind >> bit & 1), Fraction(0)) for kind in kinds]
        distinct = sorted(set(chances), reverse=True)
        place = np.zeros(1 << len(parts), np.intp)
        place[kinds] = [distinct.index(each) for each in chances]
        return distinct, place[pattern]

    def _reach(self, columns: dict[str, Array]) -> tuple[int, int]:
        first, second = (int(self._answer(end, columns).sum()) for end in (self.first, self.second))
        return first, second

    def _scores(self, scores: Any) -> dict[str, Array]:
        return scores_of(self.models or [self.second.model], scores)

    @staticmethod
    def _answer(end: HullVertex, columns: dict[str, Array]) -> NDArray[np.bool_]:
        any_of_them = next(iter(columns.values()))  # nobody and everybody need no scores
        return predict(columns.get(end.model, any_of_them), end.threshold, end.negated)

    def _goodness(self, columns: dict[str, Array]) -> Array:
        column = columns.get(self.second.model, next(iter(columns.values())))
        return -np.unique(column, return_inverse=True)[1] if self.second.negated else column

    @property
    def shares(self) -> str:
        """The share of cases that each threshold decides, as text."""
        return " + ".join(map(str, self.parts))

    def __repr__(self) -> str:
        return f"RandomizedRule({self.shares}, tpr={self.tpr:.6g}, fpr={self.fpr:.6g})"


def _amounts(number: int, chance: list[Fraction], sizes: list[int]) -> list[int]:
    """Return the number of cases selected from each tier: by its probability, adjusted to the given total."""
    amount = [each * size for each, size in zip(chance, sizes, strict=True)]
    short = number - sum(amount, Fraction(0))
    for i in range(len(sizes)) if short > 0 else reversed(range(len(sizes))):
        before = amount[i]
        amount[i] = max(Fraction(0), min(Fraction(sizes[i]), before + short))
        short -= amount[i] - before
    return rounded_to(number, list(map(in_units, amount)))


@dataclass(frozen=True)
class _Target:
    """Target of a mixture: a value on one axis."""

    axis: str
    value: Fraction
    target_prevalence: float | None
    at_most: Fraction | None = None

    def at(self, point: OperatingPoint) -> Fraction:
        return _coordinate(point, self.axis, self.target_prevalence)


def _coordinate(point: OperatingPoint, axis: str, target_prevalence: float | None) -> Fraction:
    tp, fp, fn, tn = (Fraction(count) for count in (point.tp, point.fp, point.fn, point.tn))
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    if axis != "depth":
        return tpr if axis == "tpr" else fpr
    if target_prevalence is None:
        return (tp + fp) / (tp + fp + fn + tn)
    share = decimal(target_prevalence)
    return share * tpr + (1 - share) * fpr


def _target(
    *,
    fpr: float | None = None,
    tpr: float | None = None,
    depth: float | None = None,
    at_most: float | None = None,
    population: float | None = None,
    target_prevalence: float | None = None,
) -> _Target:
    given = {name: value for name, value in (("fpr", fpr), ("tpr", tpr), ("depth", depth)) if value is not None}
    if (at_most is None) != (population is None):
        raise InputError("at_most and population", expected="both or neither", got="one of them")
    if len(given) + (at_most is not None) != 1:
        raise InputError(
            "mixture", expected="exactly one of fpr, tpr, depth, at_most", got=f"{sorted(given) or 'none'}"
        )
    if target_prevalence is not None:
        check.check_share(target_prevalence, "target_prevalence")
    if at_most is not None:
        cases = check.check_number(at_most, "at_most", "a number of cases of at least 0", least=0)
        all_cases = check.check_number(population, "population", "a number of cases above 0", above=0)
        share = min(decimal(cases) / decimal(all_cases), Fraction(1))
        return _Target("depth", share, target_prevalence, at_most=share)
    ((axis, value),) = given.items()
    check.check_number(value, axis, "a share from 0 to 1", least=0)
    if value > 1:
        raise InputError(axis, expected="a share from 0 to 1", got=repr(value))
    return _Target(axis, decimal(value), target_prevalence)


def mixture_on(vertices: Sequence[HullVertex], **target: Any) -> RandomizedRule:
    """Return the mixture of two neighbouring hull vertices that meets a target."""
    wanted = _target(**target)
    _require_one_prevalence(vertices, wanted)
    if wanted.at_most is not None:  # beyond the first that finds all positives, more cases would be taken in vain
        vertices = vertices[: next(i for i, vertex in enumerate(vertices) if not vertex.point.fn) + 1]
        wanted = replace(wanted, value=min(wanted.value, wanted.at(vertices[-1].point)))
    along = [wanted.at(vertex.point) for vertex in vertices]
    # At one tpr the vertex of lowest fpr is wanted, so the first; at one fpr or depth the last.
    right = bisect_left(along, wanted.value) if wanted.axis == "tpr" else bisect_right(along, wanted.value)
    right = min(max(right, 1), len(vertices) - 1)
    return _between(vertices[right - 1], vertices[right], wanted)


@contract
def mixture(first: HullVertex, second: HullVertex, **target: Any) -> RandomizedRule:
    """Mix two classifiers at random to attain a given rate or number of positive predictions.

    Parameters
    ----------
    first, second : HullVertex
        Two models with their points; ``HullVertex("A", OperatingPoint(…))`` makes one of a crisp classifier.
    fpr, tpr, depth, at_most : float
        What to attain, exactly one of them: a rate, the share of positive predictions, or their number among a
        `population`.
    population : float, optional
        Number of cases, with `at_most`. A budget is a capacity too: at most budget / unit cost cases.
    target_prevalence : float, optional
        Share of positives in that population; the sample's own when left out.

    Returns
    -------
    RandomizedRule

    Raises
    ------
    InputError
        If the target lies outside what the two attain.

    Notes
    -----
    With a point x₁ for `first` and x₂ for `second` on the axis of the target x, `second` decides the share
    (x − x₁)/(x₂ − x₁) of the cases, drawn at random. Computed as an exact fraction.

    References
    ----------
    ROC slides after Fawcett, combining classifiers: CoIL challenge 2000.

    Examples
    --------
    Of 4,000 clients, 240 of whom would respond, 800 can be written to:

    >>> a = HullVertex("A", OperatingPoint(tp=48, fp=376, fn=192, tn=3384))
    >>> b = HullVertex("B", OperatingPoint(tp=144, fp=940, fn=96, tn=2820))
    >>> mixture(a, b, at_most=800, population=4000).exact_weight == Fraction(376, 660)
    True
    """
    wanted = _target(**target)
    _require_one_prevalence((first, second), wanted)
    low, high = sorted((first, second), key=lambda end: wanted.at(end.point))
    return _between(low, high, wanted)


def _between(low: HullVertex, high: HullVertex, wanted: _Target) -> RandomizedRule:
    start, end = wanted.at(low.point), wanted.at(high.point)
    if not start <= wanted.value <= end:
        raise InputError(
            wanted.axis,
            expected=f"a value that the two classifiers attain, {float(start):.6g} to {float(end):.6g}",
            got=f"{float(wanted.value):.6g}",
        )
    weight = (wanted.value - start) / (end - start) if end > start else Fraction(0)
    return RandomizedRule.between(_crisp(low), _crisp(high), weight, wanted.at_most)


def _crisp(end: HullVertex) -> HullVertex:
    """Give a classifier without scores the threshold between its predictions 0 and 1."""
    if end.threshold == end.threshold:
        return end
    cells = {name: getattr(end.point, name) for name in ("tp", "fp", "fn", "tn")}
    return HullVertex(end.model, OperatingPoint(**cells, threshold=1), end.slope_low, end.slope_high, end.negated)


def _require_one_prevalence(vertices: Sequence[HullVertex], wanted: _Target) -> None:
    shares = [vertex.point.prevalence for vertex in vertices]
    if wanted.axis == "depth" and wanted.target_prevalence is None and max(shares) - min(shares) > 1e-9:
        raise PairingError(
            "mixture",
            expected="classifiers from samples of one prevalence",
            got=f"{min(shares):.4g} to {max(shares):.4g}",
            hint="name the one that counts with target_prevalence",
        )
