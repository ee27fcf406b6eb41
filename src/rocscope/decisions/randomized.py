"""Randomised rules, which mix several thresholds, and reviews, a third action.

A randomised rule applies each of its thresholds to a random share of the cases. For example, it selects some of the
cases with equal scores. The hash of a case's identifier is used as its random number (`_base.hashed_order`). A decision
is therefore reproducible and does not depend on the order of the rows.

If a rule applies k thresholds to the shares w₁, …, wₖ of the cases, its expected rates are Σ wᵢ·tprᵢ and Σ wᵢ·fprᵢ. In
ROC space, this point lies between the points of the thresholds. To select some of the cases with equal scores, a rule
mixes a threshold above this score and a threshold at this score.

The module contains:

- rounding of planned fractions to whole numbers of cases, by the method of largest remainders;
- `RandomizedRule`, and `mixture`, which returns the rule with a given rate or number of positives;
- `Review`, a third action that determines the true class of a case at a cost, and the optimal range of scores to
  review.
"""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isinf, lcm, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import contract, made_by_contract
from rocscope._base.formatting import threshold_text
from rocscope._base.hashed_order import HASHES, Hashes, draw, hashes_of, ordered
from rocscope.core import CELLS, Campaign, Context, OperatingPoint, Result, decimal
from rocscope.core.applying import predict, scores_of
from rocscope.errors import InputError, PairingError
from rocscope.geometry.bounded import ConvexCombination, settled
from rocscope.geometry.hull import Choices, HullVertex, TangentPoint, corners_of

# Numbers of cases are whole multiples of 1/UNIT, because sums of fractions with large denominators are slow.
UNIT = 1 << 128
# A number that is less than 1e-9 below a whole number is taken as this whole number.
NEAR = UNIT // 10**9
# Remainders are compared without the last 64 of their 128 bits, which depend on intermediate rounding.
REMAINDER_BITS = 64

# Prevalences of samples of the same rows differ by less than this, because only rounding differs.
SAME_PREVALENCE = 1e-9

# Whole numbers of cases.


def in_units(number: Fraction | int, of: int = 1) -> int:
    """Return number/of as a whole number of units of 1/UNIT, rounded down."""
    return number.numerator * UNIT // (number.denominator * of)


def whole_numbers(*axes: Any) -> list[list[int]]:
    """Convert numbers to integers in a common unit, without rounding.

    Examples
    --------
    >>> whole_numbers([1, 3], [0.5, 2.0])
    [[2, 6], [1, 4]]
    """
    ratios = [[number.as_integer_ratio() for number in np.asarray(axis).tolist()] for axis in axes]
    unit = lcm(*{denominator for axis in ratios for _, denominator in axis})
    return [[numerator * (unit // denominator) for numerator, denominator in axis] for axis in ratios]


def rounded_to(total: int, planned: Sequence[int]) -> list[int]:
    """Round numbers to integers with a given sum. Numbers with the largest remainders are rounded up.

    The numbers in `planned` are in units of 1/UNIT.

    Notes
    -----
    This is the method of largest remainders (Hamilton's method).

    Examples
    --------
    >>> rounded_to(3, [in_units(Fraction(1, 2)), in_units(Fraction(3, 4)), in_units(Fraction(7, 4))])
    [0, 1, 2]
    """
    rounded = [(number + NEAR) // UNIT for number in planned]
    half = 1 << REMAINDER_BITS >> 1
    remainders = []
    for number, whole in zip(planned, rounded, strict=True):
        remainders.append((number - whole * UNIT + half) >> REMAINDER_BITS)
    missing = max(total - sum(rounded), 0)
    largest_first = sorted(range(len(planned)), key=remainders.__getitem__, reverse=True)
    for i in largest_first[:missing]:
        rounded[i] += 1
    return rounded


# Rules.


def whose(model: str, threshold: str, negated: bool = False) -> str:
    """Return a clause that describes the cases selected by a threshold, as part of a sentence.

    Examples
    --------
    >>> whose("B", "0.5"), whose("score", "3", negated=True)
    ('whose B score is 0.5 or more', 'whose score is below 3')
    """
    side = f"below {threshold}" if negated else f"{threshold} or more"
    return f"whose {score_name(model)} is {side}"


def score_name(model: str) -> str:
    """Return the name of a model's score, as part of a sentence."""
    return model if "score" in model.lower() else f"{model} score"


class Part(NamedTuple):
    """A threshold of a model, and the share of cases to which the threshold applies."""

    share: Fraction
    model: str
    threshold: float
    negated: bool = False
    next_score: float = nan

    @property
    def text(self) -> str:
        """The threshold as text with few decimals."""
        return threshold_text(self.threshold, self.next_score)

    def __str__(self) -> str:
        if isinf(self.threshold):
            positive = "nobody" if self.threshold > 0 else "everybody"
        else:
            positive = f"score{'<' if self.negated else '≥'}{self.text} of {self.model}"
        return positive if self.share == 1 else f"{float(self.share):.4g} × {positive}"


@dataclass(frozen=True, repr=False)
class RandomizedRule(Result):
    """A rule that applies each of its thresholds to a random share of the cases.

    In ROC space, the rule lies between its thresholds. `rocscope.decisions.mixture` and `Hull.mixture` return
    randomised rules; plans contain randomised rules.

    Attributes
    ----------
    ends : tuple of HullVertex
        The thresholds with their models, sorted by increasing number of positive predictions.
    weights : tuple of Fraction
        Share of cases to which each threshold applies. The shares sum to 1.
    at_most : Fraction or None
        Share of cases to predict positive, if the rule has a target number of cases; otherwise None.

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
        """Return the rule that applies `second` to the share `weight` of the cases, and `first` to all other cases.

        Parameters
        ----------
        first, second : HullVertex
            Two models with their operating points.
        weight : Fraction
            Share of the cases to which `second` applies.
        at_most : Fraction, optional
            Share of cases to predict positive, if the rule has a target number of cases.
        """
        return cls((first, second), (1 - weight, weight), at_most)

    @classmethod
    def of(cls, best: ConvexCombination, at_most: Fraction | None = None) -> "RandomizedRule":
        """Return the rule for a convex combination of two thresholds.

        Parameters
        ----------
        best : ConvexCombination
            Two thresholds with their shares.
        at_most : Fraction, optional
            Share of cases to predict positive, if the rule has a target number of cases.
        """
        ends = []
        for touch in (best.first, best.second):
            point = touch.choices.counts.with_next_score(touch.point)
            ends.append(HullVertex(touch.choices.model, point, negated=touch.choices.negated))
        first, second = ends
        return cls.between(first, second, best.share, at_most)

    @property
    def first(self) -> HullVertex:
        """The threshold with the fewest positive predictions."""
        return self.ends[0]

    @property
    def second(self) -> HullVertex:
        """The threshold with the most positive predictions."""
        return self.ends[-1]

    @property
    def exact_weight(self) -> Fraction:
        """Exact share of the cases to which `second` applies."""
        return self.weights[-1]

    @property
    def weight(self) -> float:
        """Share of the cases to which `second` applies."""
        return float(self.exact_weight)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Thresholds with the shares of cases to which they apply; thresholds with a share of 0 are omitted."""
        parts = []
        for share, end in self._weighted:
            parts.append(Part(share, end.model, end.threshold, end.negated, end.point.next_score))
        return tuple(parts)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models whose scores the rule needs."""
        return tuple(dict.fromkeys(part.model for part in self.parts if not isinf(part.threshold)))

    @property
    def randomized(self) -> bool:
        """True if more than one threshold has a share above 0."""
        return len(self.parts) > 1

    @property
    def exact(self) -> dict[str, Fraction | None]:
        """`weight` and `at_most` as exact fractions."""
        return {"weight": self.exact_weight, "at_most": self.at_most}

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Exact expected true-positive rate and false-positive rate."""
        tpr = fpr = Fraction(0)
        for share, end in self._weighted:
            tpr_of_end, fpr_of_end, _ = _exact_rates(end.point)
            tpr += share * tpr_of_end
            fpr += share * fpr_of_end
        return tpr, fpr

    @property
    def _weighted(self) -> list[tuple[Fraction, HullVertex]]:
        """Thresholds that apply to some cases, with their shares."""
        return [(share, end) for share, end in zip(self.weights, self.ends, strict=True) if share]

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
        """Expected counts in the sample, with the last threshold that applies to some cases."""
        if not self.randomized:
            ((_, only),) = self._weighted
            return only.point
        last = self.second.point
        tpr, fpr = self.rates
        tp, fp = float(tpr * Fraction(last.n_pos)), float(fpr * Fraction(last.n_neg))
        return replace(last, tp=tp, fp=fp, fn=last.n_pos - tp, tn=last.n_neg - fp)

    def expected(self, prevalence: float, population: float = 1) -> OperatingPoint:
        """Return the expected counts among `population` cases at the given `prevalence`."""
        return self.point.at_prevalence(prevalence, population)

    def predict(self, scores: Any, ids: Any = None, *, random_state: Any = 0) -> Booleans:
        """Return True for cases predicted positive.

        Parameters
        ----------
        scores : mapping from model name to array, Predictions or data frame
            Scores of the cases, with one array or column per model. A rule with one model also accepts a single array.
        ids : array of n identifiers, optional
            Identifiers of the cases; by default row numbers. Hashes of the identifiers replace random numbers, so the
            order of the rows does not matter.
        random_state : int, Generator, RandomState or None
            Random seed of the hashes.

        Returns
        -------
        array of n booleans

        Raises
        ------
        ColumnError
            If the scores of a model are missing.
        InputError
            If an identifier is repeated.

        Notes
        -----
        Each threshold of the rule is used for a share of the cases. Let p be the sum of the shares of the thresholds
        that predict a case positive. Without `at_most`, the case is predicted positive with probability p,
        independently of other cases. The rates then differ from the expected rates by sampling error. With `at_most`,
        exactly the share `at_most` of the cases is predicted positive: the cases with the highest scores. Hashes decide
        among equal scores.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose
        >>> counts = ThresholdCounts([2, 1], [4, 0], [0, 4])
        >>> half = choose(counts, subject_to="cases <= 2", population=8, randomized=True).lot
        >>> int(half.predict([2, 2, 2, 2, 1, 1, 1, 1]).sum())
        2
        """
        columns = self._scores(scores)
        chances, tier = self._tiers(columns)
        hashes = hashes_of(ids, tier.size, random_state)
        if self.at_most is not None:
            number = min(int(self.at_most * tier.size), max(self.reach(columns)))
            return self.draw(number, columns, hashes)
        # Hashes are needed only for cases about which the thresholds disagree.
        positive = np.array([chance == 1 for chance in chances])[tier]
        drawn = np.flatnonzero(np.array([0 < chance < 1 for chance in chances])[tier])
        limit = np.array([float(chance) for chance in chances])[tier[drawn]]
        positive[drawn] = hashes(drawn).astype(np.float64) / HASHES < limit
        return positive

    def select(self, number: int, scores: Any, ids: Any = None, *, random_state: Any = 0) -> Indices:
        """Return the indices of exactly `number` rows, best first.

        If `number` differs from the planned number, cases are added or removed in order of their score.

        Parameters
        ----------
        number : int
            Number of rows to select.
        scores, ids, random_state : see `Plan.select`

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose
        >>> counts = ThresholdCounts([2, 1], [4, 0], [0, 4])
        >>> half = choose(counts, subject_to="cases <= 2", population=8, randomized=True).lot
        >>> half.select(2, [1, 2, 1.5]).tolist()
        [1, 2]
        """
        chosen = np.flatnonzero(self.exactly(number, scores, ids, random_state=random_state))
        return self.ordered(chosen, scores, ids, random_state=random_state)

    def ordered(self, rows: Indices, scores: Any, ids: Any = None, *, random_state: Any = 0) -> Indices:
        """Return row indices sorted by decreasing score; ties are ordered by the hash of the identifiers.

        Parameters
        ----------
        rows : array of int
            Indices to sort.
        scores, ids, random_state : see `Plan.select`
        """
        goodness = self._goodness(self._scores(scores))
        return ordered(goodness, rows, hashes_of(ids, goodness.size, random_state))

    def exactly(self, number: int, scores: Any, ids: Any = None, *, random_state: Any = 0) -> Booleans:
        """Return True for the selected cases, exactly `number` of them.

        Parameters
        ----------
        number : int
            Number of cases to select.
        scores, ids, random_state : see `Plan.select`

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose
        >>> counts = ThresholdCounts([2, 1], [4, 0], [0, 4])
        >>> half = choose(counts, subject_to="cases <= 2", population=8, randomized=True).lot
        >>> half.exactly(1, [1, 2, 1]).tolist()
        [False, True, False]
        """
        columns = self._scores(scores)
        return self.draw(number, columns, hashes_of(ids, self._goodness(columns).size, random_state))

    def reach(self, scores: Any) -> tuple[int, int]:
        """Return the number of cases that the first and the last threshold predict positive.

        Parameters
        ----------
        scores : see `Plan.select`

        Examples
        --------
        The rule is a mixture of nobody and the score 2:

        >>> from rocscope import ThresholdCounts, choose
        >>> counts = ThresholdCounts([2, 1], [4, 0], [0, 4])
        >>> half = choose(counts, subject_to="cases <= 2", population=8, randomized=True).lot
        >>> half.reach([2, 2, 2, 1])
        (0, 3)
        """
        columns = self._scores(scores)
        return int(self._answer(self.first, columns).sum()), int(self._answer(self.second, columns).sum())

    def draw(self, number: int, columns: dict[str, Array], hashes: Hashes) -> Booleans:
        """Return True for the selected cases, exactly `number` of them.

        All cases above the highest threshold are selected first. Between two thresholds, the planned share is selected.

        `columns` contains the scores of the cases for each model. The function `hashes` decides among equal scores.
        """
        chances, tier = self._tiers(columns)
        sizes = np.bincount(tier, minlength=len(chances)).tolist()
        number = min(number, tier.size)
        # From each tier (cases with the same probability): size × probability, adjusted so that the sum is `number`.
        selected = [chance * size for chance, size in zip(chances, sizes, strict=True)]
        missing = number - sum(selected, Fraction(0))
        # If the total is too small, add cases from the best tier that has some left; if too large, drop from the worst.
        order = range(len(sizes)) if missing > 0 else reversed(range(len(sizes)))
        for i in order:
            before = selected[i]
            selected[i] = max(Fraction(0), min(Fraction(sizes[i]), before + missing))
            missing -= selected[i] - before
        most = np.array(rounded_to(number, [in_units(cases) for cases in selected]))
        return draw(self._goodness(columns), tier, most, hashes)

    def strata(self, scores: Any, *, by_number: bool) -> Indices:
        """Return the stratum number of each case.

        The cases of a stratum are selected by hash; −1 means that the score alone decides on the case. If `by_number`
        is True, a stratum contains cases with equal scores. Otherwise it contains the cases on which the thresholds
        disagree.

        Parameters
        ----------
        scores : see `Plan.select`
        by_number : bool
            True if the rule selects a number of cases.
        """
        columns = self._scores(scores)
        chances, tier = self._tiers(columns)
        if not by_number:
            return np.where(np.array([0 < chance < 1 for chance in chances])[tier], tier, -1)
        place = np.unique(self._goodness(columns), return_inverse=True)[1]
        return np.unique(tier * (place.max(initial=0) + 1) + place, return_inverse=True)[1]

    def _tiers(self, columns: dict[str, Array]) -> tuple[list[Fraction], Array]:
        """Return the distinct selection probabilities in decreasing order, and the index of each case's probability."""
        parts = self._weighted
        # Each bit of the code is 1 if a threshold predicts the case positive.
        pattern = np.zeros(next(iter(columns.values())).size, np.int64)
        for bit, (_, end) in enumerate(parts):
            pattern += self._answer(end, columns).astype(np.int64) << bit
        patterns = np.flatnonzero(np.bincount(pattern, minlength=1 << len(parts)))
        chances = []
        for present in patterns.tolist():
            shares = [share for bit, (share, _) in enumerate(parts) if present >> bit & 1]
            chances.append(sum(shares, Fraction(0)))
        distinct = sorted(set(chances), reverse=True)
        tier = np.zeros(1 << len(parts), np.intp)
        tier[patterns] = [distinct.index(chance) for chance in chances]
        return distinct, tier[pattern]

    def _scores(self, scores: Any) -> dict[str, Array]:
        return scores_of(self.models or [self.second.model], scores)

    @staticmethod
    def _answer(end: HullVertex, columns: dict[str, Array]) -> Booleans:
        # The rules "nobody" and "everybody" need no scores, only the number of cases, so any column will do.
        column = columns.get(end.model, next(iter(columns.values())))
        return predict(column, end.threshold, end.negated)

    def _goodness(self, columns: dict[str, Array]) -> Array:
        column = columns.get(self.second.model, next(iter(columns.values())))
        return -np.unique(column, return_inverse=True)[1] if self.second.negated else column

    @property
    def best_in_words(self) -> str:
        """Description of the selected cases if the rule has a target number of cases, as part of a sentence."""
        end = self.second
        first, until = ("lowest", "up") if end.negated else ("highest", "down")
        last = f", {until} to {end.point.threshold_text}" if not isinf(end.threshold) else ""
        return f"with the {first} {score_name(end.model)}{last}, ties at random"

    @property
    def in_words(self) -> str:
        """Description of the cases that each threshold selects from its random share, as part of a sentence."""
        texts = []
        for part in self.parts:
            if isinf(part.threshold):
                which = "nobody" if (part.threshold > 0) != part.negated else "everybody"
            else:
                which = f"cases {whose(part.model, part.text, part.negated)}"
            texts.append(f"{which} in a random {float(part.share):.1%} of cases")
        return ", ".join(texts)

    @property
    def shares(self) -> str:
        """Text with the thresholds and the shares of cases to which they apply."""
        return " + ".join(map(str, self.parts))

    def __repr__(self) -> str:
        return f"RandomizedRule({self.shares}, tpr={self.tpr:.6g}, fpr={self.fpr:.6g})"


# Mixtures that attain a target.


@dataclass(frozen=True)
class _Target:
    """Target of a mixture: a value of the rate `axis`, which is "fpr", "tpr" or "depth"."""

    axis: str
    value: Fraction
    target_prevalence: float | None
    at_most: Fraction | None = None

    def at(self, point: OperatingPoint) -> Fraction:
        """Return the exact value of the rate `axis` at a point."""
        tpr, fpr, prevalence = _exact_rates(point)
        if self.axis != "depth":
            return tpr if self.axis == "tpr" else fpr
        if self.target_prevalence is not None:
            prevalence = decimal(self.target_prevalence)
        return prevalence * tpr + (1 - prevalence) * fpr


def _target(
    *,
    fpr: float | None = None,
    tpr: float | None = None,
    depth: float | None = None,
    at_most: float | None = None,
    population: float | None = None,
    target_prevalence: float | None = None,
) -> _Target:
    given = {"fpr": fpr, "tpr": tpr, "depth": depth, "at_most": at_most}
    given = {name: value for name, value in given.items() if value is not None}
    if (at_most is None) != (population is None):
        raise InputError("at_most and population", expected="both arguments or neither", got="only one")
    if len(given) != 1:
        got = " and ".join(sorted(given)) or "none of these arguments"
        raise InputError("mixture", expected="exactly one of the arguments fpr, tpr, depth and at_most", got=got)
    if target_prevalence is not None:
        check.check_share(target_prevalence, "target_prevalence")
    if at_most is not None:
        cases = check.check_number(at_most, "at_most", "a number of cases of at least 0", least=0)
        all_cases = check.check_number(population, "population", "a number of cases above 0", above=0)
        share = min(decimal(cases) / decimal(all_cases), Fraction(1))
        return _Target("depth", share, target_prevalence, at_most=share)
    ((axis, value),) = given.items()
    return _Target(axis, decimal(check.check_proportion(value, axis)), target_prevalence)


def _exact_rates(point: OperatingPoint) -> tuple[Fraction, Fraction, Fraction]:
    """Return the exact true-positive rate, false-positive rate and prevalence of a point."""
    tp, fp, fn, tn = (Fraction(getattr(point, cell)) for cell in CELLS)
    return tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fp + fn + tn)


def mixture_on(vertices: Sequence[HullVertex], **target: Any) -> RandomizedRule:
    """Return the mixture of two adjacent hull vertices that has the target rate; see `mixture`."""
    aim = _target(**target)
    _require_one_prevalence(vertices, aim)
    if aim.at_most is not None:
        # After the first vertex with a tpr of 1, further cases are all negative.
        last = next(i for i, vertex in enumerate(vertices) if not vertex.point.fn)
        vertices = vertices[: last + 1]
        aim = replace(aim, value=min(aim.value, aim.at(vertices[-1].point)))
    along = [aim.at(vertex.point) for vertex in vertices]
    # Of several vertices with the target tpr, the first has the lowest fpr. Of several vertices with the target fpr or
    # depth, the last has the highest tpr.
    right = bisect_left(along, aim.value) if aim.axis == "tpr" else bisect_right(along, aim.value)
    right = min(max(right, 1), len(vertices) - 1)
    return _between(vertices[right - 1], vertices[right], aim)


@contract
def mixture(first: HullVertex, second: HullVertex, **target: Any) -> RandomizedRule:
    """Mix two classifiers at random, so that the mixture has a given rate or number of positive predictions.

    Parameters
    ----------
    first, second : HullVertex
        Two models with their operating points. For a classifier without scores, pass ``HullVertex("A",
        OperatingPoint(…))``.
    fpr, tpr, depth, at_most : float
        Target of the mixture; pass exactly one of these. `depth` is the share of positive predictions, and `at_most` is
        the number of positive predictions in a `population`. For a budget, pass budget / unit cost as `at_most`.
    population : float, optional
        Number of cases; required with `at_most`.
    target_prevalence : float, optional
        Share of positives in the population. By default, the share in the sample.

    Returns
    -------
    RandomizedRule
        The mixture. `exact_weight` is the exact share of cases to which `second` applies.

    Raises
    ------
    InputError
        If the target rate does not lie between the rates of the two classifiers.

    See Also
    --------
    hull, choose

    Notes
    -----
    Let x₁ be the rate of `first`, x₂ the rate of `second`, and x the target rate. Then `second` applies to a random
    share (x − x₁)/(x₂ − x₁) of the cases.

    References
    ----------
    ROC slides after Fawcett, combining classifiers: CoIL challenge 2000.

    Examples
    --------
    Contact 800 of 4,000 clients. 240 of the 4,000 clients would respond:

    >>> a = HullVertex("A", OperatingPoint(tp=48, fp=376, fn=192, tn=3384))
    >>> b = HullVertex("B", OperatingPoint(tp=144, fp=940, fn=96, tn=2820))
    >>> mixture(a, b, at_most=800, population=4000).exact_weight == Fraction(376, 660)
    True
    """
    aim = _target(**target)
    _require_one_prevalence((first, second), aim)
    low, high = sorted((first, second), key=lambda end: aim.at(end.point))
    return _between(low, high, aim)


def _between(low: HullVertex, high: HullVertex, aim: _Target) -> RandomizedRule:
    start, end = aim.at(low.point), aim.at(high.point)
    if not start <= aim.value <= end:
        expected = f"a value from {float(start):.6g} to {float(end):.6g} (between the two classifiers)"
        raise InputError(aim.axis, expected=expected, got=f"{float(aim.value):.6g}")
    weight = (aim.value - start) / (end - start) if end > start else Fraction(0)
    return RandomizedRule.between(_with_threshold(low), _with_threshold(high), weight, aim.at_most)


def _with_threshold(end: HullVertex) -> HullVertex:
    """Return the vertex with threshold 1 if its threshold is NaN, for a classifier that predicts 0 or 1."""
    if end.threshold == end.threshold:
        return end
    return replace(end, point=replace(end.point, threshold=1))


def _require_one_prevalence(vertices: Sequence[HullVertex], aim: _Target) -> None:
    if aim.axis != "depth" or aim.target_prevalence is not None:
        return
    shares = [vertex.point.prevalence for vertex in vertices]
    if max(shares) - min(shares) > SAME_PREVALENCE:
        got, hint = f"prevalences from {min(shares):.4g} to {max(shares):.4g}", "pass target_prevalence"
        raise PairingError("mixture", expected="classifiers from samples of equal prevalence", got=got, hint=hint)


# Reviews: a third action.


@made_by_contract
@dataclass(frozen=True)
class Review(Result):
    """Review of cases by a person (the reviewer), who decides for each case whether to act.

    Parameters
    ----------
    cost : float
        Cost of one review. The costs of correct and wrong decisions of the reviewer are added to this cost.
    capacity : float, optional
        Largest number of reviews in the population. By default, the number is not limited.
    sensitivity : float
        Share of reviewed positives on which the reviewer acts. By default 1: the reviewer is always right.
    specificity : float
        Share of reviewed negatives on which the reviewer does not act. By default 1.

    Raises
    ------
    InputError
        If a value is below 0, or a share is above 1.

    Examples
    --------
    Reviewing the four cases with score 2 pays, but the capacity is two reviews:

    >>> from rocscope import Context, ThresholdCounts, choose
    >>> counts = ThresholdCounts([3, 2, 1], [3, 2, 0], [0, 2, 3])
    >>> decision = choose(counts, Context(cost_fp=5, cost_fn=5), review=Review(cost=1, capacity=2))
    >>> decision.predict([3, 3, 3, 2, 2, 2, 2, 1, 1, 1], ids=list("abcdefghij"))
    array(['act', 'act', 'act', 'review', 'leave', 'leave', 'review', 'leave',
           'leave', 'leave'], dtype='<U6')
    """

    cost: float
    capacity: float | None = None
    sensitivity: float = 1.0
    specificity: float = 1.0

    def __post_init__(self) -> None:
        check.set_fields(self, cost=check.check_number(self.cost, "review cost", "an amount of at least 0", least=0))
        if self.capacity is not None:
            expected = "a number of cases of at least 0"
            capacity = check.check_number(self.capacity, "review capacity", expected, least=0)
            check.set_fields(self, capacity=capacity)
        for name in ("sensitivity", "specificity"):
            check.set_fields(self, **{name: check.check_proportion(getattr(self, name), f"review {name}")})

    @property
    def is_perfect(self) -> bool:
        """True if the reviewer is always right."""
        return self.sensitivity == self.specificity == 1

    def costs(self, cost: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return the mean cost of a reviewed positive and of a reviewed negative, given costs by outcome.

        Parameters
        ----------
        cost : mapping from "tp", "fp", "fn" and "tn" to number
            Cost of each outcome.

        Examples
        --------
        The reviewer finds three of four positives and clears all negatives. A missed positive costs 20:

        >>> Review(cost=1, sensitivity=0.75).costs({"tp": 0, "fp": 5, "fn": 20, "tn": 0})
        (6.0, 1.0)
        """
        caught, cleared = self.sensitivity, self.specificity
        positive = caught * cost["tp"] + (1 - caught) * cost["fn"]
        return self.cost + positive, self.cost + cleared * cost["tn"] + (1 - cleared) * cost["fp"]

    def actions(self, context: Context, population: float, capacity: float | None = None) -> dict[str, Campaign]:
        """Return reviewing and acting as `actions` for `rocscope.allocate`, which supports constraints and limits.

        Parameters
        ----------
        context : Context
            Costs of the four outcomes, without the cost of reviews.
        population : float
            Number of cases. Capacities refer to this number of cases.
        capacity : float, optional
            Largest number of cases to act on without a review.

        Returns
        -------
        dict from "review" and "act" to Campaign

        Raises
        ------
        InputError
            If a cost differs between rows.

        Notes
        -----
        Suppose that an action, compared with not acting, costs a for a negative and gains h for a positive. It is then
        a campaign with unit cost a and unit benefit h + a. Constraints such as ``"tpr >= .9"`` count all cases that are
        acted on or reviewed. If the reviewer acts only on a share s of the reviewed positives, the actual sensitivity
        is lower by up to 1 − s.

        Examples
        --------
        Find at least three of four positives, with at most two reviews:

        >>> from rocscope import Context, ThresholdCounts, allocate
        >>> counts = ThresholdCounts([3, 2, 1], [2, 1, 1], [0, 2, 4])
        >>> actions = Review(cost=1, capacity=2).actions(Context(cost_fp=3, cost_fn=2), population=10)
        >>> allocate(counts, actions=actions, subject_to="tpr >= .75")
        ActionAllocation(1 segment, 3 × act, 2 × review, cost=-2, price of bounds=2)
        """
        cost = {cell: decimal(amount) for cell, amount in context.costs.items()}
        reviewed = [decimal(self.cost) + part for part in replace(self, cost=0).costs(cost)]
        acted = [cost["tp"], cost["fp"]]
        campaigns = {}
        for name, (positive, negative), most in (("review", reviewed, self.capacity), ("act", acted, capacity)):
            alarm, hit = negative - cost["tn"], cost["fn"] - positive
            share = context.target_prevalence
            campaigns[name] = Campaign(population, float(alarm), float(hit + alarm), 0, share, most)
        return campaigns


@dataclass(frozen=True, repr=False)
class Reviewing(Result):
    """Rule that selects the cases to review in a decision.

    Attributes
    ----------
    review : Review
        Cost, capacity and accuracy of reviews.
    rule : RandomizedRule
        Rule that selects all cases to act on or to review. Selected cases that are not acted on are reviewed.
    share : Fraction or None
        Capacity as a share of all cases; None without a capacity.
    """

    _content = ("review", "point", "rule", "exact")

    review: Review
    rule: RandomizedRule
    share: Fraction | None

    @property
    def point(self) -> OperatingPoint:
        """Expected counts if all cases that are acted on or reviewed are positive.

        Its threshold is their lowest score.
        """
        return self.rule.point

    @property
    def threshold(self) -> float:
        """Lowest score of the cases to review."""
        return self.point.threshold

    @property
    def exact(self) -> Fraction | None:
        """The share as an exact fraction."""
        return self.share

    def predict(self, acting: RandomizedRule, scores: Any, ids: Any, random_state: Any) -> NDArray[np.str_]:
        """Return "act", "review" or "leave" for each case. At most the share `share` of the cases is reviewed.

        The rule `acting` selects the cases to act on. `Plan.select` describes `scores`, `ids` and `random_state`.
        """
        act = acting.predict(scores, ids, random_state=random_state)
        look = self.rule.predict(scores, ids, random_state=random_state)
        if self.share is not None:
            room = int(self.share * act.size)
            # The capacity may allow only a part of a tie, at one end of the reviewed range: the upper end if acting is
            # randomised, else the lower end.
            if acting.randomized:
                number = max(int(look.sum()) - room, acting.reach(scores)[0])
                act = acting.exactly(number, scores, ids, random_state=random_state)
            else:
                number = min(int(act.sum()) + room, self.rule.reach(scores)[1])
                look = self.rule.exactly(number, scores, ids, random_state=random_state)
        return np.where(act, "act", np.where(look, "review", "leave"))

    def __repr__(self) -> str:
        reviewed = self.rule.shares if self.rule.randomized else f"score >= {self.point.threshold_text}"
        reader = self.review
        by = "" if reader.is_perfect else f" (sensitivity {reader.sensitivity:g}, specificity {reader.specificity:g})"
        return f"review of {reviewed}{by}"


class _Step(NamedTuple):
    """Cases between two adjacent hull vertices: their share of all cases, and what their errors cost per case.

    `misses` is the cost of not acting on the positives, and `alarms` the cost of acting on the negatives.
    """

    size: Fraction
    misses: Fraction
    alarms: Fraction


class ThreeActions(NamedTuple):
    """Optimal rules of one model for acting and for acting or reviewing, with the expected cost."""

    acting: ConvexCombination
    looking: ConvexCombination
    cost: Fraction


def third_action(
    choices: Choices, context: Context, review: Review, prevalence: Fraction, limit: Fraction | None
) -> ThreeActions:
    """Return the rules of one model for acting and for reviewing that have the lowest expected cost.

    Parameters
    ----------
    choices : Choices
        All thresholds of the model.
    context : Context
        Costs of the four outcomes.
    review : Review
        Cost and accuracy of reviews.
    prevalence : Fraction
        Share of positives in the population.
    limit : Fraction or None
        Largest share of cases that can be reviewed; None without a limit.

    Notes
    -----
    Let r be the cost of a review, g the cost of a miss, a the cost of a false alarm, and π the prevalence. If the
    reviewer is always right, the line with slope (1 − π)(a − r)/(π r) touches the hull at the threshold for acting. The
    line with slope (1 − π) r/(π (g − r)) touches the hull at the threshold for reviewing.

    A step is the set of cases between two adjacent hull vertices. It has p positives and n negatives, as shares of all
    cases. Let s be the sensitivity and t the specificity of the reviewer. Before the cost r·(p + n) of the reviews,
    reviewing the step saves p·g·s − n·a·(1 − t) compared with not acting, and n·a·t − p·g·(1 − s) compared with acting.
    With a capacity, the steps with the largest net saving per case are reviewed first. Of the last step, a random part
    may be reviewed.

    The result is the exact optimum of the linear program over all mixtures of nested thresholds.
    """
    corners = corners_of(choices).tolist()
    look, caught, cleared = map(decimal, (review.cost, review.sensitivity, review.specificity))
    steps, saved = list[_Step](), list[Fraction]()
    for (tpr, fpr), (next_tpr, next_fpr) in itertools.pairwise(map(choices.rates, corners)):
        positives, negatives = prevalence * (next_tpr - tpr), (1 - prevalence) * (next_fpr - fpr)
        misses, alarms = positives * context.miss_cost, negatives * context.false_alarm_cost
        steps.append(_Step(positives + negatives, misses, alarms))
        more_than_leaving = caught * misses - (1 - cleared) * alarms
        more_than_acting = cleared * alarms - (1 - caught) * misses
        saved.append(min(more_than_leaving, more_than_acting) / steps[-1].size - look)

    # Steps with the largest saving per case are reviewed first; with a capacity the last step is reviewed in part.
    reviewed, room = [Fraction(0)] * len(steps), limit
    for i in sorted(range(len(steps)), key=lambda i: -saved[i]):
        if saved[i] <= 0 or room == 0:
            break
        reviewed[i] = Fraction(1)
        if room is not None:
            reviewed[i] = min(room / steps[i].size, Fraction(1))
            room -= reviewed[i] * steps[i].size

    # The cost of leaving everybody, plus the changes by reviews and actions.
    cost = prevalence * decimal(context.costs["fn"]) + (1 - prevalence) * decimal(context.costs["tn"])
    acting = looking = Fraction(0)
    for step, share in zip(steps, reviewed, strict=True):
        # Without reviews, acting on a step pays if the misses it saves cost more than the false alarms.
        act = step.misses > step.alarms
        cost += share * (look * step.size - caught * step.misses + (1 - cleared) * step.alarms)
        cost += (1 - share) * (step.alarms - step.misses) * act
        acting += (1 - share) * act
        looking += max(share, Fraction(act))
    return ThreeActions(_first_steps(choices, corners, acting), _first_steps(choices, corners, looking), cost)


def _first_steps(choices: Choices, corners: Sequence[int], steps: Fraction) -> ConvexCombination:
    """Return the rule that selects the first hull steps; if `steps` is not whole, part of the last step at random."""
    complete = int(steps)
    part = steps - complete
    first = TangentPoint(choices, corners[complete])
    if not part:
        return ConvexCombination(first, first)
    return settled(ConvexCombination(first, TangentPoint(choices, corners[complete + 1]), part))
