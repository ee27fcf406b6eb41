"""Mixture: a point between two classifiers, reached by deciding some cases with the one and some with the other.

A lot within a tie is one too: of the thresholds above and at the tie.

Lots: which cases are taken where scores leave it open, the same for the same identifiers, and exactly so many.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import blake2b
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import decimal
from rocscope.core.point import OperatingPoint
from rocscope.core.result import Result
from rocscope.decisions.models import predict, scores_of
from rocscope.decisions.slope_ranges import HullVertex
from rocscope.errors import InputError, PairingError

_BYTES = 8


def lots(ids: Any, size: int, seed: int, rows: Array | None = None) -> NDArray[np.uint64]:
    """Return the lot of each case: a whole number below 2⁶⁴ that the text of its identifier and the seed fix.

    Those of some rows only, if they are given; numbers of rows are the identifiers where there are none.

    Raises
    ------
    ShapeError, InputError
        If there is not one identifier a case, or one is missing or stands twice.

    Examples
    --------
    >>> lots(["b", "a"], 2, 0).tolist() == lots(["a", "b"], 2, 0).tolist()[::-1]
    True
    """
    column = np.arange(size) if ids is None else check.check_column(ids, "ids", size)
    if ids is not None:
        check.check_present(column, "ids", InputError)
        names = [str(each) for each in column.tolist()]
        if len(set(names)) < size:
            seen: set[str] = set()
            twice = next(name for name in names if name in seen or seen.add(name))
            raise InputError("ids", expected="a different one in each row", got=f"{twice!r} twice")
    texts = [str(each) for each in (column if rows is None else column[rows]).tolist()]
    salted = blake2b(digest_size=_BYTES, key=seed.to_bytes(_BYTES, "big"))
    digests = bytearray()
    for text in texts:
        case = salted.copy()
        case.update(text.encode())
        digests += case.digest()
    return np.frombuffer(bytes(digests), dtype=">u8").astype(np.uint64)


def between(fewer: Array, more: Array, number: int, lot: Array, share: float) -> NDArray[np.bool_]:
    """Return which cases are taken where exactly a number of them is, of two answers to each.

    Parameters
    ----------
    fewer, more : arrays of n booleans
        What the two classifiers answer; the number lies between their numbers of yes.
    lot : array of n
        Cases of the lowest lots get the second answer.
    share : float
        Of those on which they differ, about how many get it: which of several numbers is meant.
    """
    differing = np.flatnonzero(fewer != more)
    differing = differing[np.argsort(lot[differing], kind="stable")]
    steps = np.where(more[differing], 1, -1)
    taken = int(fewer.sum()) + np.concatenate(([0], np.cumsum(steps)))
    exact = np.flatnonzero(taken == number)
    turned = differing[: exact[np.argmin(np.abs(exact - share * differing.size))]]
    answer = fewer.copy()
    answer[turned] = more[turned]
    return answer


def exactly(number: int, answer: Array, goodness: Array, lot: Array) -> NDArray[np.bool_]:
    """Return the cases that are taken with the best others, or without the worst, so that they are exactly a number."""
    order = np.lexsort((lot, -np.unique(goodness, return_inverse=True)[1], ~answer))
    taken = np.zeros(answer.size, dtype=np.bool_)
    taken[order[:number]] = True
    return taken


_LOTS = 2.0**64


@dataclass(frozen=True, repr=False)
class Mixture(Result):
    """A random combination of two classifiers, whose point lies on the straight line between theirs.

    Made by `rocscope.decisions.mixture` and `Hull.mixture`.

    Attributes
    ----------
    first, second : HullVertex
        The one with fewer and the one with more positive predictions.
    exact_weight : Fraction
        Share of the cases that `second` decides.
    at_most : Fraction or None
        Share of the cases that may be predicted positive, where their number is what it is made for.

    References
    ----------
    Vuk & Curk 2006, §4; Provost & Fawcett 2001, interpolation of classifiers.
    """

    _content = ("weight", "tpr", "fpr", "first", "second", "exact")

    first: HullVertex
    second: HullVertex
    exact_weight: Fraction
    at_most: Fraction | None = None

    @property
    def weight(self) -> float:
        """Share of the cases that `second` decides."""
        return float(self.exact_weight)

    @property
    def by_lot(self) -> bool:
        """Whether both decide some cases."""
        return 0 < self.exact_weight < 1

    @property
    def exact(self) -> dict[str, str | None]:
        """Weight and `at_most` as texts of fractions, in which nothing is rounded."""
        return {"weight": str(self.exact_weight), "at_most": None if self.at_most is None else str(self.at_most)}

    @property
    def tpr(self) -> float:
        """Expected true-positive rate."""
        return self._between("tpr")

    @property
    def fpr(self) -> float:
        """Expected false-positive rate."""
        return self._between("fpr")

    def _between(self, axis: str) -> float:
        low, high = (_coordinate(end.point, axis, None) for end in (self.first, self.second))
        return float(low + self.exact_weight * (high - low))

    def expected(self, prevalence: float, population: float = 1) -> OperatingPoint:
        """Return the expected counts among `population` cases of which the share `prevalence` is positive."""
        positives, negatives = prevalence * population, (1 - prevalence) * population
        tp, fp = positives * self.tpr, negatives * self.fpr
        return OperatingPoint(tp, fp, positives - tp, negatives - fp)

    def predict(self, scores: Any, ids: Any = None, *, random_state: Any = 0) -> NDArray[np.bool_]:
        """Return which cases are predicted positive.

        Parameters
        ----------
        scores : mapping from model name to array, Predictions or data frame; an array where one model is enough
        ids : array of one identifier a case, optional
            Fixes the lot of each case (by its text), whatever its place; by default cases are drawn by their place.
        random_state : int, Generator, RandomState or None
            Another one draws other lots.

        Raises
        ------
        ColumnError
            If a model is missing.
        InputError
            If an identifier stands twice.

        Notes
        -----
        Made for a rate, each case is decided by its own lot, whatever other cases come with it: attained rates differ
        from the promised point by sampling error only. Made for `at_most`, all cases that are passed are drawn
        together: of those on which the two classifiers differ the lowest lots, until their share is reached exactly.
        """
        columns = self._scores(scores)
        first, second = self._answers(columns)
        lot = self._lots(first.size, ids, random_state)
        if self.at_most is None:
            return np.where(lot.astype(np.float64) / _LOTS < self.weight, second, first)
        number = min(int(self.at_most * first.size), max(int(first.sum()), int(second.sum())))
        return self._exactly(number, columns, (first, second), lot)

    def select(
        self, number: Callable[[int], int], scores: Any, ids: Any = None, *, random_state: Any = 0
    ) -> NDArray[np.intp]:
        """Return the rows of exactly a number of all cases, best first.

        They are drawn as `predict` does; where that gives too many or too few, scores take away or add.
        """
        columns = self._scores(scores)
        answers = self._answers(columns)
        size = answers[0].size
        lot = self._lots(size, ids, random_state)
        taken = np.flatnonzero(self._exactly(number(size), columns, answers, lot))
        rank = np.unique(self._goodness(columns), return_inverse=True)[1]
        return taken[np.lexsort((lot[taken], -rank[taken]))]

    def exactly(self, number: int, scores: Any, ids: Any = None, *, random_state: Any = 0) -> NDArray[np.bool_]:
        """Return which cases are taken where exactly a number of them is."""
        columns = self._scores(scores)
        answers = self._answers(columns)
        return self._exactly(number, columns, answers, self._lots(answers[0].size, ids, random_state))

    def reach(self, scores: Any) -> tuple[int, int]:
        """Return how many cases the one and the other take."""
        first, second = self._answers(self._scores(scores))
        return int(first.sum()), int(second.sum())

    def _exactly(
        self, number: int, columns: dict[str, Array], answers: tuple[Array, Array], lot: Array
    ) -> NDArray[np.bool_]:
        fewer, more = sorted(answers, key=np.sum)
        if int(fewer.sum()) <= number <= int(more.sum()):
            return between(*answers, number, lot, self.weight)
        return exactly(number, more if number > int(more.sum()) else fewer, self._goodness(columns), lot)

    def _scores(self, scores: Any) -> dict[str, Array]:
        needed = [end.model for end in (self.first, self.second) if abs(end.threshold) != inf]
        return scores_of(needed or [self.second.model], scores)

    def _answers(self, columns: dict[str, Array]) -> tuple[Array, Array]:
        any_of_them = next(iter(columns.values()))  # nobody and everybody need no scores
        first, second = (
            predict(columns.get(end.model, any_of_them), end.threshold, end.negated)
            for end in (self.first, self.second)
        )
        return first, second

    def _goodness(self, columns: dict[str, Array]) -> Array:
        column = columns.get(self.second.model, next(iter(columns.values())))
        return -np.unique(column, return_inverse=True)[1] if self.second.negated else column

    @staticmethod
    def _lots(size: int, ids: Any, random_state: Any) -> NDArray[np.uint64]:
        return lots(ids, size, check.seed_of(random_state))

    @property
    def shares(self) -> str:
        """What share of the cases which of the two decides."""
        parts = ((1 - self.weight, self.first), (self.weight, self.second))
        return " + ".join(f"{share:.4g} × {_rule(end)}" for share, end in parts)

    def __repr__(self) -> str:
        return f"Mixture({self.shares}, tpr={self.tpr:.6g}, fpr={self.fpr:.6g})"


def _rule(end: HullVertex) -> str:
    if abs(end.threshold) == inf:
        return "nobody" if end.threshold > 0 else "everybody"
    return f"score{'<' if end.negated else '≥'}{end.threshold:.6g} of {end.model}"


@dataclass(frozen=True)
class _Target:
    """What a mixture is to attain: a value on one axis."""

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


def mixture_on(vertices: Sequence[HullVertex], **target: Any) -> Mixture:
    """Return the mixture of two neighbours on a hull that meets a target."""
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


def mixture(first: HullVertex, second: HullVertex, **target: Any) -> Mixture:
    """Random combination of two classifiers that attains a given rate or number of positive predictions.

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


def _between(low: HullVertex, high: HullVertex, wanted: _Target) -> Mixture:
    start, end = wanted.at(low.point), wanted.at(high.point)
    if not start <= wanted.value <= end:
        raise InputError(
            wanted.axis,
            expected=f"a value that the two classifiers attain, {float(start):.6g} to {float(end):.6g}",
            got=f"{float(wanted.value):.6g}",
        )
    weight = (wanted.value - start) / (end - start) if end > start else Fraction(0)
    return Mixture(_crisp(low), _crisp(high), weight, wanted.at_most)


def _crisp(end: HullVertex) -> HullVertex:
    """Give a crisp classifier, which has no threshold, the one between its predictions 0 and 1."""
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
