"""Allocation: a threshold for each segment under one shared capacity or budget, and its expected cost on new cases.

An allocation contains the operating points of all segments, the unit costs of each segment, and `SegmentShares`: the
share of a segment's cases to which each point applies. The module also applies an allocation to new cases
(`ListedCases`), computes the interval of its expected cost, and defines the file format, with exact fractions and
counts.

For the interval, thresholds are chosen again on nine tenths of the cases and applied to the held-out tenth
(`held_out_outcomes`). The total cost of the held-out cases is a sum over independent segments (`cost_interval`). An
`ActionAllocation` is a sequence of allocations and uses the same functions.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import compress, pairwise
from typing import Any, Self

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import made_by_contract
from rocscope._base.formatting import about, counted, in_currency
from rocscope._base.grouping import deal, listed, numbered
from rocscope._base.hashed_order import Hashes, draw, hashes_of
from rocscope._base.json_format import Fields, Format
from rocscope.core import OperatingPoint, Predictions, jsonable, number
from rocscope.core.applying import scores_of, size_of
from rocscope.core.context import PARTS
from rocscope.decisions import generalization, randomized
from rocscope.decisions.apportionment import RATES, SegmentShares, rates_of
from rocscope.decisions.generalization import FOLDS, REPEATS, ChosenEstimate
from rocscope.decisions.plan import Note, Plan, Promise, notes_on_capacity
from rocscope.decisions.segment_costs import RowAmounts, SegmentUnitCosts, UnitCosts, columns_of
from rocscope.errors import InfeasibleError, InputError, RocscopeError
from rocscope.inference.estimate import FEW_EVENTS, Estimate, few
from rocscope.inference.expected_costs import FOLD_VARIANCE, UnseenAmounts
from rocscope.inference.proportions import binomial_limits, normal_quantile
from rocscope.segments.by_segment import levels_of
from rocscope.segments.levels import SegmentLevels

FORMAT = Format("rocscope.allocation", 1, "an allocation", "allocate again with rocscope.allocate and save the result")

# With more rows, thresholds hardly depend on the sample, and the choice is not repeated.
_MOST_ROWS_TO_REFIT = 2_000_000

# Up to this number of rows, a plan's forecast is estimated on held-out cases, which takes about a second.
_MOST_ROWS_TO_PROMISE = 20_000

# A sentence states the cases of each segment up to this number of segments, to keep the sentence readable.
_MOST_SEGMENTS_NAMED = 4


@dataclass(frozen=True)
class AllocationSource:
    """Data of an allocation, and a function that computes the allocation for other data.

    Attributes
    ----------
    segments : data by segment
        The data that were passed to `rocscope.allocate`.
    make : function of data
        Returns the allocations of all actions for the given data.
    marginal : float
        Saving if the capacity or budget is one unit larger, with the same bounds on segments.
    """

    segments: Any
    make: Callable[[Any], "Sequence[Allocation]"]
    marginal: float


@dataclass(frozen=True, eq=False)
class ListedCases:
    """New cases with their segments and scores.

    Attributes
    ----------
    segments : array of integers
        Indices of the segments that occur among the cases. The index refers to the segments of the allocation.
    code : array of n integers
        For each case, the position of its segment in `segments`.
    scores : mapping from model name to array of n
        Scores of the cases.
    """

    segments: Array
    code: Array
    scores: dict[str, Array]

    @property
    def sizes(self) -> Array:
        """Number of cases in each segment."""
        return np.bincount(self.code, minlength=self.segments.size)

    def take(self, rows: Array) -> "ListedCases":
        """Return the cases with the given row indices."""
        scores = {model: column[rows] for model, column in self.scores.items()}
        return ListedCases(self.segments, self.code[rows], scores)


class SegmentPlan(Plan):
    """Base class of plans that share one capacity or budget among segments, for one action or several actions.

    The costs in the allocation of an action are the cost differences from the previous action; see `Allocation`.
    """

    cost: float
    marginal: float
    limit: Fraction | None
    in_money: bool
    source: AllocationSource | None

    @property
    def allocations(self) -> "tuple[Allocation, ...]":
        """One allocation per action, in increasing order of stakes (gain from a positive plus loss from a negative)."""
        raise NotImplementedError

    @property
    def left_out(self) -> tuple[Hashable, ...]:
        """Segments or campaigns on which the plan does not act, because the fixed cost exceeds the gain."""
        raise NotImplementedError

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on a capacity that exceeds the number of cases of all segments or is far below it."""
        if self.limit is None or self.in_money:
            return ()
        return notes_on_capacity(float(self.limit), float(self.population.sum()))

    @property
    def fixed_cost(self) -> float:
        """Total fixed cost of the campaigns that are run."""
        return float(self.allocations[0].terms.fixed)

    @property
    def population(self) -> Array:
        """Expected number of cases in each segment."""
        return self.allocations[0].terms.cases(*self.totals)

    @property
    def names(self) -> Array:
        """Names of the segments."""
        return self.allocations[0].points.names

    @property
    def totals(self) -> tuple[Array, Array]:
        """Two arrays: the number of positives and the number of negatives of each segment in the sample."""
        return self.allocations[0].points.totals

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.allocations[0].points.models)

    @property
    def profit(self) -> float:
        """Expected profit relative to not acting, minus fixed costs."""
        return -self.cost - self.fixed_cost

    @property
    def _planned(self) -> str:
        """Number of cases that get each action, as text."""
        raise NotImplementedError

    def said(self, chosen: int, cases: int) -> str:
        return f"{super().said(chosen, cases)}: {self._planned} were planned in {self.names.size} segments"

    @cached_property
    def promise(self) -> Promise:
        """Forecast of the outcomes of the new cases on which the plan acts.

        Up to 20,000 rows, the gain is estimated on held-out cases, as in `interval`. The variance of the gain is the
        sum over segments of (hit·pos + alarm·neg)²·tp·fp/(tp + fp). Half the optimism is added to the standard error,
        as the root of a sum of squares.
        """
        first = self.allocations[0]
        cases = float(first.cases.sum())
        if not cases:
            return Promise(math.nan, 0.0)
        left = float(first.total(UnitCosts.cost_of_leaving, first.totals))
        estimate = self.on_new_cases
        cost = self.cost if estimate is None else estimate.value
        if first.amounts is not None:
            error = 0.0 if estimate is None else estimate.standard_error
            return Promise(math.nan, (left - cost) / cases, first.fixed_cost, error / cases)
        tp, fp = first.counts
        pos, neg, hit, alarm, _ = first.terms.columns()
        unit = float(first.terms.largest) * (hit * pos + alarm * neg)
        variance = np.divide(unit**2 * tp * fp, tp + fp, out=np.zeros(tp.size), where=tp + fp > 0).sum()
        error = math.hypot(math.sqrt(FOLD_VARIANCE * variance), (cost - self.cost) / 2)
        return Promise(float((pos * tp).sum()) / cases, (left - cost) / cases, first.fixed_cost, error / cases)

    def _new_cases(self) -> ChosenEstimate:
        """Return the expected cost on new cases. For many rows, the thresholds are fixed, to save time."""
        rows = None if self.source is None else _separate_rows(self.source.segments)
        if rows is not None and len(rows) > _MOST_ROWS_TO_PROMISE:
            return cost_interval(self.cost, self.allocations, self.level, None)
        return self.interval(self.level)

    def interval(self, level: float = 0.95, *, random_state: Any = 0, **_: Any) -> ChosenEstimate:
        """Return the expected cost on new cases of the same segments, with a confidence interval.

        Parameters
        ----------
        level : float
            Confidence level.
        random_state : int, Generator, RandomState or None
            Random seed of the cross-validation folds.

        Raises
        ------
        InputError
            If `random_state` is not a valid seed.

        Notes
        -----
        The cost is estimated by tenfold cross-validation, repeated five times: thresholds are chosen on nine tenths of
        the cases and applied to the held-out tenth. The number of held-out cases acted on can differ from the plan.
        This difference, times the marginal value of the limit, is added to the cost. Cross-validation is not possible
        for weighted or grouped rows, for counts of several models, and for plans from files. The thresholds are then
        fixed and the interval is not `reliable`.

        Examples
        --------
        At the threshold 2, there are 10 + 20 false alarms, and 10 + 10 missed positives that cost 5 each:

        >>> from rocscope import Context, ThresholdCounts, allocate
        >>> north, south = ThresholdCounts([2, 1], [30, 10], [10, 50]), ThresholdCounts([2, 1], [20, 10], [20, 50])
        >>> estimate = allocate({"n": north, "s": south}, Context(cost_fn=5)).interval()
        >>> estimate.apparent, estimate.low < estimate.value < estimate.high
        (130.0, True)
        """
        held_out = held_out_outcomes(self.allocations, self.source, self.limit, check.seed_of(random_state))
        return cost_interval(self.cost, self.allocations, level, held_out)

    def sentence(self, currency: str = "") -> str:
        first = self.allocations[0]
        cases = first.cases.tolist()
        where = f"{len(cases)} segments"
        if len(cases) <= _MOST_SEGMENTS_NAMED:
            where = ", ".join(f"{about(round(n, 9))} in {name}" for name, n in zip(first.keys, cases, strict=True))
        actions = f"{self._planned}; " if self.several_actions else ""
        text = f"Act on {counted(round(sum(cases), 9), 'case')} ({actions}{where}). Expect "
        idle = float(first.total(UnitCosts.cost_of_leaving, first.totals))
        if idle:
            against = f"against {in_currency(about(idle), currency)} for acting on nobody"
            text += f"{self._expected('a cost', self.cost, currency)}, {against}"
        elif self.on_new_cases is None:
            text += self._expected("a profit", self.profit, currency)
        else:
            text += self.on_new_cases.as_profit(first.fixed_cost).sentence("a profit", currency)
        if self.left_out:
            text += f"; {self._not_run}"
        # The probability that acting pays is before fixed costs.
        return f"{text}.{self._certainty(pays=not first.fixed_cost)}"

    @property
    def _not_run(self) -> str:
        return f"not run: {check.listing(list(self.left_out))}, because the fixed cost exceeds the gain"

    @property
    def _fixed_costs_in_words(self) -> str:
        return f"fixed costs={self.fixed_cost:.6g}"

    def __repr__(self) -> str:
        first = self.allocations[0]
        segments = f"{self.names.size} segment{'s' * (self.names.size != 1)}"
        facts = [segments, self._planned, f"cost={self.cost:.6g}"]
        if first.max_difference or first.subject_to:
            facts.append(f"price of bounds={first.price:.6g}")
        for rate in first.max_difference:
            if not math.isnan(first.difference(rate)):
                interval = first.difference_interval(rate)
                limits = f"[{interval.low:.3g}, {interval.high:.3g}]"
                facts.append(f"{rate} difference on new cases: {100 * interval.level:g}% CI {limits}")
        if first.fixed_cost:
            facts.append(self._fixed_costs_in_words)
        if self.left_out:
            facts.append(self._not_run)
        if self.marginal > 0:
            facts.append(f"one {'unit' if self.in_money else 'case'} more saves {self.marginal:.6g}")
        return f"{type(self).__name__}({', '.join(facts)})"


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class Allocation(SegmentPlan):
    """One threshold or randomised rule per segment, jointly optimal under one capacity or budget.

    `rocscope.allocate` returns allocations.

    Attributes
    ----------
    points : SegmentLevels
        Thresholds of all segments, with the counts at each threshold.
    shares : SegmentShares
        Thresholds that are used in each segment, and the share of cases to which each threshold applies.
    terms : SegmentUnitCosts
        Costs and gains per case, and use of the capacity or budget per case, for each segment.
    cost : float
        Total expected cost of all cases.
    price : float
        Cost of the bounds on segments: total cost minus the cost of the best allocation without these bounds.
    marginal : float
        Saving if the capacity is one case larger, or the budget one unit larger; NaN with bounds on segments.
    limit : Fraction or None
        The capacity, or the budget minus fixed costs.
    max_difference : dict from rate to number
        Largest allowed difference of each rate between segments.
    subject_to : tuple of (segment, constraint)
        Constraints on segments. If the segment is None, the constraint applies to every segment.
    source : AllocationSource or None
        The data of the allocation; None if the allocation was read from a file.
    amounts : RowAmounts or None
        Costs that differ between rows; None if costs are equal in all rows. If costs differ, tpr and fpr are not
        available, because each row is counted as partly positive and partly negative.
    in_money : bool
        True if the limit is a budget.

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, allocate
    >>> segments = {"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 1], [2, 5])}
    >>> allocation = allocate(segments, Context(cost_fn=5), capacity=5)
    >>> allocation.marginal  # one more case in the south: with equal chances it saves 5 or costs 1, on average 2
    2.0
    """

    file_format = FORMAT
    by_segment = True

    points: SegmentLevels
    shares: SegmentShares
    terms: SegmentUnitCosts
    cost: float
    price: float
    marginal: float
    limit: Fraction | None
    in_money: bool
    max_difference: dict[str, float]
    subject_to: tuple[tuple[Hashable, str], ...] = ()
    source: AllocationSource | None = None
    amounts: RowAmounts | None = None

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """Names of the segments as Python objects."""
        return tuple(self.points.keys)

    @property
    def left_out(self) -> tuple[Hashable, ...]:
        """Segments whose campaign is not run, because the fixed cost exceeds the gain."""
        return tuple(compress(self.keys, ~self.terms.may_act))

    @property
    def allocations(self) -> "tuple[Allocation, ...]":
        """A tuple that contains only this allocation."""
        return (self,)

    def total(self, amount: Callable[[UnitCosts, Any, Any], Fraction], counts: tuple[Array, Array]) -> Fraction:
        """Return the exact sum over segments of an amount such as ``UnitCosts.used``, given tp and fp by segment.

        Parameters
        ----------
        amount : function
            Amount of a segment, such as ``UnitCosts.used``.
        counts : pair of arrays
            True and false positives of each segment.
        """
        return self.terms.total(amount, *counts)

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """Two arrays: the expected number of true positives and of false positives of each segment in the sample."""
        acting = self.shares.point >= 0
        segment, point = self.shares.segment[acting], self.shares.point[acting]
        share = np.array([float(share) for share in self.shares.share])[acting]
        tp = np.bincount(segment, share * self.points.tp[point], self.names.size)
        fp = np.bincount(segment, share * self.points.fp[point], self.names.size)
        return tp, fp

    def _rate(self, name: str) -> Array:
        if self.amounts is not None and name != "depth":
            return np.full(self.names.size, np.nan)
        return rates_of(name, self.points, self.terms, np.arange(self.names.size), *self.counts)

    @property
    def tpr(self) -> Array:
        """Expected true-positive rate of each segment; NaN if a segment has no positives."""
        return self._rate("tpr")

    @property
    def fpr(self) -> Array:
        """Expected false-positive rate of each segment; NaN if a segment has no negatives."""
        return self._rate("fpr")

    @property
    def depth(self) -> Array:
        """Expected share of each segment's cases that are predicted positive."""
        return self._rate("depth")

    @property
    def cases(self) -> Array:
        """Expected number of positive predictions in each segment."""
        return self.terms.cases(*self.counts)

    def difference(self, rate: str) -> float:
        """Return the largest difference of "tpr", "fpr" or "depth" between segments.

        NaN if no segment has this rate.

        Parameters
        ----------
        rate : {"tpr", "fpr", "depth"}
            Name of the rate.

        Raises
        ------
        InputError
            If the rate is unknown. If costs differ between rows, only "depth" is available.

        Examples
        --------
        The threshold 2 has a tpr of 3/4 in the north, and of 2/3 in the south:

        >>> from rocscope import Context, ThresholdCounts, allocate
        >>> segments = {"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 1], [1, 5])}
        >>> round(allocate(segments, Context()).difference("tpr"), 4)
        0.0833
        """
        check.check_choice("rate", rate, RATES if self.amounts is None else ("depth",))
        rates = self._rate(rate)
        rates = rates[~np.isnan(rates)]
        return float(np.ptp(rates)) if rates.size else math.nan

    def difference_interval(self, rate: str, level: float = 0.95) -> Estimate:
        """Return the largest difference of a rate between segments, with a confidence interval for new cases.

        The thresholds are assumed to be fixed.

        Parameters
        ----------
        rate : {"tpr", "fpr", "depth"}
            Rate to compare.
        level : float
            Confidence level.

        Notes
        -----
        For m segments, each rate gets Wilson's interval at level 1 − (1 − level)/m, so that all intervals are valid
        simultaneously. The difference between the highest and the lowest rate then lies between max(0, max low − min
        high) and max high − min low, where low and high are the ends of the intervals. Segments without cases of the
        class are omitted. Weights are treated as numbers of cases.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, allocate
        >>> north, south = ThresholdCounts([2, 1], [30, 10], [10, 30]), ThresholdCounts([2, 1], [10, 10], [10, 50])
        >>> allocate({"n": north, "s": south}).difference_interval("tpr")
        Estimate(0.75, 95% CI [0.374, 0.8694], n=60)
        """
        value = self.difference(rate)
        level = check.check_level(level)
        n_pos, n_neg = self.totals
        if self.amounts is not None:
            # Each row was counted twice, as positive and as negative, with weights whose sum is hit + alarm.
            of_row = self.amounts.hit + self.amounts.alarm
            n_pos, n_neg = n_pos / of_row, n_neg / of_row
        n = n_pos if rate == "tpr" else n_neg if rate == "fpr" else n_pos + n_neg
        rates = self._rate(rate)
        has_rate = ~np.isnan(rates)
        rates, n = rates[has_rate], n[has_rate]
        low, high = binomial_limits(rates * n, n, "wilson", 1 - (1 - level) / max(rates.size, 1))
        least, most = max(float(low.max() - high.min()), 0.0), float(high.max() - low.min())
        return Estimate(value, least, most, level=level, method="Wilson at once", n=float(n.sum()))

    # The rule of each segment

    @cached_property
    def _begin(self) -> Indices:
        """Index of the first share of each segment."""
        return self.shares.segment.searchsorted(np.arange(self.names.size + 1))

    def rule(self, name: Hashable) -> randomized.RandomizedRule:
        """Return the rule of a segment: one threshold, or several thresholds with shares of the cases.

        Parameters
        ----------
        name : label
            Name of the segment.

        Raises
        ------
        InputError
            If the allocation has no segment of this name.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, allocate
        >>> segments = {"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 1], [1, 5])}
        >>> allocate(segments, Context(cost_fn=2)).rule("s")
        RandomizedRule(score≥2 of score, tpr=0.666667, fpr=0.166667)
        """
        if check.check_label(name, "name") not in self.points.keys:
            raise InputError("name", expected="a segment of the allocation", got=check.shown(name))
        return self._rule(self.points.keys[name])

    def rules(self, name: Hashable) -> tuple[randomized.Part, ...]:
        """Return the thresholds of a segment's rule, each with the share of cases to which it applies.

        Parameters
        ----------
        name : label
            Name of the segment.

        Raises
        ------
        InputError
            If the allocation has no segment of this name.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, allocate
        >>> segments = {"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 1], [1, 5])}
        >>> [str(part) for part in allocate(segments, Context(cost_fn=2)).rules("s")]
        ['score≥2 of score']
        """
        return self.rule(name).parts

    def _rule(self, segment: int) -> randomized.RandomizedRule:
        points, ends, shares = self.points, [], []
        n_pos, n_neg = plain(points.n_pos, segment), plain(points.n_neg, segment)
        for i in range(self._begin[segment], self._begin[segment + 1]):
            point = self.shares.point[i]
            if point < 0:  # "nobody", with any model
                model, counts = points.models[0], OperatingPoint(0, 0, n_pos, n_neg, np.inf)
            else:
                tp, fp = plain(points.tp, point), plain(points.fp, point)
                everybody = tp == n_pos and fp == n_neg
                threshold = -np.inf if everybody else plain(points.threshold, point)
                # A sum of weights in another order may exceed the total by a rounding error.
                fn, tn = max(n_pos - tp, 0), max(n_neg - fp, 0)
                model, counts = points.models[points.model[point]], OperatingPoint(tp, fp, fn, tn, threshold)
            ends.append(randomized.HullVertex(model, counts))
            shares.append(self.shares.share[i])
        return randomized.RandomizedRule(tuple(ends), tuple(shares))

    @property
    def needs(self) -> tuple[str, ...]:
        points, used = self.points, self.shares.point[self.shares.point >= 0]
        models = dict.fromkeys(points.models[i] for i in points.model[used])
        return tuple(models) or (points.models[0],)

    @property
    def columns(self) -> tuple[str, ...]:
        return () if self.amounts is None else columns_of(self.amounts.given)

    # Application to new cases

    def predict(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Booleans:
        """Predict the positive cases: exactly the planned share of each segment.

        Parameters
        ----------
        scores : array of n scores, mapping from model name to array, Predictions, or data frame
            Scores of the cases. A mapping or data frame contains one column per model.
        ids : array of n identifiers, optional
            Identifiers of the cases; by default row numbers. Hashes of the identifiers decide among equal scores.
        segment : array of n segments
            Segment of each case. By default, the segments of the Predictions.
        random_state : int, Generator, RandomState or None
            Random seed for the selection among equal scores.

        Returns
        -------
        array of n booleans

        Raises
        ------
        InputError
            If the segments are missing, or contain a segment that is not in the allocation.

        Notes
        -----
        In each segment, the cases with the highest scores are selected. The planned number of each segment is rounded
        so that the sum over segments is the planned total, rounded down. With a capacity, the selected share of all
        cases is at most capacity/population. With a budget, the number of each segment is rounded down. Hashes decide
        among equal scores, as in `Decision.predict`.

        Examples
        --------
        Half of the cases of each segment have the score 2 and are predicted positive:

        >>> from rocscope import Context, ThresholdCounts, allocate
        >>> segments = {"n": ThresholdCounts([2, 1], [3, 1], [1, 3]), "s": ThresholdCounts([2, 1], [4, 0], [1, 5])}
        >>> allocate(segments, Context()).predict([2, 1, 2, 1], segment=["n", "n", "s", "s"]).tolist()
        [True, False, True, False]
        """
        cases = self.listed(scores, segment)
        hashes = hashes_of(ids, cases.code.size, random_state)
        return self.drawn(cases, self.numbers(cases), hashes)

    def rows(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Indices:
        """Return the indices of the rows predicted positive, in the order of the input.

        The rows are not sorted by score, because scores of different segments are not comparable.

        Parameters
        ----------
        scores, ids, segment, random_state : see `Plan.select`

        Examples
        --------
        >>> from rocscope import ThresholdCounts, allocate
        >>> north, south = ThresholdCounts([2, 1], [3, 1], [1, 3]), ThresholdCounts([2, 1], [1, 1], [1, 5])
        >>> allocation = allocate({"n": north, "s": south})
        >>> allocation.select([2, 2, 1, 1, 2, 1], list("abcdef"), segment=list("nnnnss"))
        array(['a', 'b'], dtype='<U1')
        """
        return np.flatnonzero(self.predict(scores, ids, segment=segment, random_state=random_state))

    def listed(self, scores: Any, segment: Any = None) -> ListedCases:
        """Return new cases with their segments, and with the scores that the rules need.

        Parameters
        ----------
        scores, segment : see `predict`

        Raises
        ------
        InputError
            If the segments are missing or unknown.
        """
        column = scores.segment if segment is None and isinstance(scores, Predictions) else segment
        if column is None and self.names.size == 1:
            column = np.repeat(self.names, size_of(scores))
        if column is None:
            raise InputError("segment", expected="the segment of each case", got="no segments", hint="pass segment=")
        column = check.check_column(column, "segment", size_of(scores))
        values, code = numbered("segment", column)
        index, names = self.points.keys, listed(values)
        unknown = [name for name in names if name not in index]
        if unknown:
            raise InputError("segment", expected="segments of the allocation", got=check.listing(unknown))
        segments = np.array([index[name] for name in names])
        return ListedCases(segments, code, scores_of(self._models(segments.tolist()), scores))

    def _models(self, segments: Sequence[int]) -> list[str]:
        """Return the models whose scores the rules of the given segments need."""
        if len(self.points.models) == 1:
            return self.points.models
        return list(dict.fromkeys(part.model for segment in segments for part in self._rule(segment).parts))

    def planned(self, cases: ListedCases) -> list[int]:
        """Return the expected number of cases that each segment's rule selects, in units of 1/``UNIT``.

        Parameters
        ----------
        cases : ListedCases
            Result of `listed`.
        """
        points, shares = self.points, self.shares
        # Integers in a common unit are exact and, for many segments, much faster than fractions.
        tp, fp = np.append(points.tp, 0)[shares.point], np.append(points.fp, 0)[shares.point]  # 0 at −1, nobody
        tp, fp, n_pos, n_neg = randomized.whole_numbers(tp, fp, points.n_pos, points.n_neg)
        share = [part.numerator if part.denominator == 1 else part for part in shares.share]
        weights = [randomized.whole_numbers([unit.pos], [unit.neg]) for unit in self.terms.distinct]
        begin, index = self._begin.tolist(), self.terms.index.tolist()
        planned = []
        for segment, size in zip(cases.segments.tolist(), cases.sizes.tolist(), strict=True):
            (pos,), (neg,) = weights[index[segment]]
            acted = sum(share[i] * (pos * tp[i] + neg * fp[i]) for i in range(begin[segment], begin[segment + 1]))
            planned.append(randomized.in_units(acted * size, pos * n_pos[segment] + neg * n_neg[segment]))
        return planned

    def numbers(self, cases: ListedCases, *, down: bool = False) -> Array:
        """Return the number of cases to select in each segment.

        With a budget or with `down`, each number is rounded down. Otherwise the numbers are rounded so that their sum
        is the planned total, rounded down.

        Parameters
        ----------
        cases : ListedCases
            Result of `listed`.
        down : bool
            If True, round each number down.
        """
        unit, near = randomized.UNIT, randomized.NEAR
        planned = self.planned(cases)
        if self.in_money or down:
            return np.array([(count + near) // unit for count in planned])
        total = sum(planned)
        if self.limit is not None:
            # The share of cases to select is at most the capacity divided by the population.
            all_cases = self.total(UnitCosts.cases, self.totals)
            most = randomized.in_units(self.limit * int(cases.sizes.sum()) / all_cases)
            if total > most + near:
                planned = [count * most // total for count in planned]
                total = most
        return np.array(randomized.rounded_to((total + near) // unit, planned))

    def drawn(self, cases: ListedCases, most: Array, hashes: Hashes) -> Booleans:
        """Return True for the selected cases: in each segment, the given number of cases with the highest scores.

        Parameters
        ----------
        cases : ListedCases
            Result of `listed`.
        most : array
            Number of cases to select in each segment.
        hashes : function
            Hashes of the identifiers, which decide among equal scores.
        """
        segments, code = cases.segments, cases.code
        first = self._begin[segments]
        alone = self._begin[segments + 1] == first + 1
        model = np.append(self.points.model, 0)[self.shares.point[first]]
        chosen = np.zeros(code.size, bool)
        # Segments with one threshold are processed together, for each model at once.
        for name, column in cases.scores.items():
            rows = np.flatnonzero((alone & (model == self.points.models.index(name)))[code])
            hashes_of_rows = hashes_within(hashes, rows)
            chosen[rows] = draw(column[rows], code[rows], most, hashes_of_rows)
        several = np.flatnonzero(~alone[code])
        dealt, bounds = deal(code[several], several, most.size)
        for i in np.flatnonzero(~alone & (most > 0)).tolist():
            rows = dealt[bounds[i] : bounds[i + 1]]
            scores = {name: column[rows] for name, column in cases.scores.items()}
            rule = self._rule(int(segments[i]))
            chosen[rows] = rule.draw(int(most[i]), scores, hashes_within(hashes, rows))
        return chosen

    def strata(self, scores: Any, segment: Any = None) -> Indices:
        cases = self.listed(scores, segment)
        strata = np.full(cases.code.size, -1)
        for i, index in enumerate(cases.segments.tolist()):
            rows = np.flatnonzero(cases.code == i)
            within = self._rule(index).strata(cases.take(rows).scores, by_number=True)
            strata[rows] = within + strata.max(initial=-1) + 1
        return strata

    @property
    def _planned(self) -> str:
        return f"{number(round(float(self.cases.sum()), 9))} cases"

    def gains(self, positive: Array, amounts: Any, segment: Any = None) -> Array:
        if self.amounts is not None:
            gain, _ = self.amounts.gain_and_idle(positive, amounts)
            return gain / PARTS
        index = np.array([self.points.keys[name] for name in listed(segment)], np.intp)
        hit, alarm = self.terms.column("hit", index), self.terms.column("alarm", index)
        return float(self.terms.largest) * np.where(positive, hit, -alarm)

    # Output and files

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per segment, which contains the rule and the expected results.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, allocate
        >>> segments = {"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 2], [1, 5])}
        >>> allocate(segments, Context(cost_fn=2)).to_frame()[["segment", "cases", "tp", "tpr"]]
          segment  cases   tp   tpr
        0       n    4.0  3.0  0.75
        1       s    3.0  2.0  0.50
        """
        # Expected number in the population: cases per positive of the sample, times positives acted on.
        tp = self.terms.column("pos") * self.counts[0]
        if self.amounts is not None:
            # Rows in money are partly positive, so a number of true positives has no meaning.
            tp = np.full(self.names.size, np.nan)
        columns = {
            "segment": self.names,
            "rule": np.array([self._rule(segment).shares for segment in range(self.names.size)]),
            "cases": self.cases,
            "tp": tp,
            "tpr": self.tpr,
            "fpr": self.fpr,
            "depth": self.depth,
        }
        return check.frame_of(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the cost, the added cost of the bounds, and the rules of all segments as JSON-compatible data.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, allocate
        >>> segments = {"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 2], [1, 5])}
        >>> allocate(segments, Context(cost_fn=2)).to_dict()["segments"][0]
        {'segment': 'n', 'cases': 4.0, 'tpr': 0.75, 'fpr': 0.16666666666666666, 'depth': 0.4,
         'rules': [{'share': 1.0, 'model': 'score', 'threshold': 2}]}
        """
        names = ("cost", "price", "marginal", "profit", "fixed_cost", "max_difference")
        content = {name: getattr(self, name) for name in names}
        if self.subject_to:
            content["subject_to"] = [{"segment": name, "constraint": text} for name, text in self.subject_to]
        content["limit"] = None if self.limit is None else float(self.limit)
        content["segments"] = []
        columns = self.names, self.cases, self.tpr, self.fpr, self.depth
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for i, (name, cases, tpr, fpr, depth) in enumerate(rows):
            parts = self._rule(i).parts
            rules = [{"share": float(part.share), "model": part.model, "threshold": part.threshold} for part in parts]
            segment = {"segment": name, "cases": cases, "tpr": tpr, "fpr": fpr, "depth": depth, "rules": rules}
            content["segments"].append(segment)
        return jsonable(content)

    def stored(self) -> dict[str, Any]:
        exact = exact_content(self.points, self.shares, self.terms) | {"limit": self.limit}
        amounts = {} if self.amounts is None else {"amounts": self.amounts.stored()}
        return jsonable(self.to_dict() | {"in_money": self.in_money, "exact": exact} | amounts)

    @classmethod
    def of_fields(cls, fields: Fields) -> Self:
        exact = fields.inner("exact", "terms, counts and thresholds")
        points, shares, costs = fields.make("exact", read_exact, exact)
        limit = exact.optional("limit", exact.fraction)
        in_money = fields.take("in_money", bool, "true or false")
        if in_money and limit is None:
            fields.refuse("in_money", "false without a limit")
        differences = fields.inner("max_difference", "a difference by rate")
        for name in differences.content:
            if name not in RATES:
                differences.refuse(name, f"one of {', '.join(RATES)}")
        max_difference = {name: differences.number(name, 0, 1) for name in differences.content}
        amounts = None
        if "amounts" in fields.content:
            amounts = RowAmounts.read(fields.inner("amounts", "costs by row"))
        subject_to = []
        for constraint in fields.objects("subject_to") if "subject_to" in fields.content else ():
            name = constraint.optional("segment", partial(segment_name, constraint))
            subject_to.append((name, constraint.text("constraint")))
        numbers = fields.number("cost"), fields.number("price"), fields.number_or_nan("marginal")
        bounds = max_difference, tuple(subject_to)
        return cls(points, shares, costs, *numbers, limit, in_money, *bounds, amounts=amounts)


def plain(column: Array, i: int) -> Any:
    """Return one entry of an array as a Python object; unlike `item`, this works for arrays of objects."""
    return column[i : i + 1].tolist()[0]


def hashes_within(hashes: Hashes, rows: Array) -> Hashes:
    """Return the hash function for a subset of rows, called with indices into the subset."""
    return lambda index: hashes(rows[index])


# Expected cost on new cases


@dataclass(frozen=True)
class CaseCosts:
    """Number and cost of the cases with each outcome, in a sample or among held-out cases.

    Held-out cases get the allocation that was made on the other nine tenths of the cases. Their costs include a charge
    for each unit of the limit that is used: the marginal value of the limit. The charge corrects for a number of cases
    acted on that differs from the plan.

    Attributes
    ----------
    size, cost, segment : arrays of n
        Number of cases with each outcome, their cost per case, and the index of their segment. If costs differ between
        rows, the outcomes are "acted on" and "not acted on" for each row, and their sizes are probabilities.
    idle : float
        Cost of acting on nobody.
    limit_cost : float
        Marginal value of the limit times the limit.
    doubt : str
        Reason why an interval may not be reliable; empty if it is reliable.
    unseen : array of 2, or None
        Additional second and third moments, for amounts larger than any amount in the sample; None if costs are equal
        in all rows.
    """

    size: Array
    cost: Array
    segment: Array
    idle: float
    limit_cost: float = 0.0
    doubt: str = ""
    unseen: Array | None = None


def held_out_outcomes(
    places: Sequence[Allocation], source: AllocationSource | None, limit: Fraction | None, seed: int
) -> CaseCosts | None:
    """Return the costs of held-out cases; None if the data have no separate rows.

    Parameters
    ----------
    places : sequence of Allocation
        One allocation per action, in order of stakes.
    source : AllocationSource or None
        Data of the allocation; None if the allocation was read from a file.
    limit : Fraction or None
        The capacity, or the budget minus fixed costs.
    seed : int
        Random seed of the folds.
    """
    first = places[0]
    rows = None if source is None else _separate_rows(source.segments)
    if rows is None or source is None:
        if first.amounts is not None:
            expected = "an allocation made from unweighted Predictions"
            raise InputError("plan", expected=expected, got="an allocation from a file, from counts or with weights")
        return None
    index = {name: i for i, name in enumerate(first.keys)}
    segment = np.array([index[name] for name in listed(np.asarray(rows.segment))], np.intp)
    repeats = 1 if len(rows) >= generalization.ROWS_FOR_ONE_REPEAT else REPEATS
    counts = np.zeros((len(places), 2, first.names.size))
    acted = np.zeros(len(rows))
    doubt, more_fixed = "", 0.0
    rng = np.random.default_rng([seed, 1])
    for _ in range(repeats):
        fold = rng.permutation(len(rows)) % FOLDS
        for number_of_fold in range(FOLDS):
            held = fold == number_of_fold
            try:
                refitted = source.make(rows.select(~held))
            except InfeasibleError:
                doubt = "in some folds no allocation satisfies the constraints"
                continue
            more_fixed += (refitted[0].fixed_cost - first.fixed_cost) / (FOLDS * repeats)
            rest, rest_segment = rows.select(held), segment[held]
            for i, place in enumerate(refitted):
                share = _share_acted_on(place, rest, rest_segment, first.keys)
                acted[held] += share / repeats
                for j, of_class in enumerate((rest.y_true, ~rest.y_true)):
                    counts[i, j] += np.bincount(rest_segment, share * of_class, first.names.size) / repeats
    doubt = doubt or generalization.few_of_a_class(min(float(total.sum()) for total in first.totals))
    marginal = 0.0 if limit is None else source.marginal
    # If folds run other campaigns, their fixed costs differ, and so does the budget after fixed costs.
    limit_cost = marginal * (float(limit or 0) - more_fixed * first.in_money) - more_fixed
    if first.amounts is not None:
        costs_of_rows = _costs_of_rows(first, first.amounts, rows, segment, acted, marginal)
        return replace(costs_of_rows, limit_cost=limit_cost, doubt=doubt or costs_of_rows.doubt)
    # Each case is charged with its use of the limit, times the marginal value of the limit.
    price, costs = Fraction(marginal), []
    for place in places:
        priced = []
        for unit in place.terms.distinct:
            paid = price * unit.use
            priced.append(replace(unit, hit=unit.hit - paid, alarm=unit.alarm + paid))
        costs.append(replace(place.terms, distinct=priced))
    return replace(costs_of_outcomes(counts, first.totals, costs), limit_cost=limit_cost, doubt=doubt)


def _costs_of_rows(
    plan: Allocation, amounts: RowAmounts, rows: Predictions, segment: Array, acted: Array, marginal: float
) -> CaseCosts:
    """Return the costs of rows, if costs differ between rows, given the probability of acting on each row."""
    unit = plan.terms.distinct[0]
    # Each row was used twice, with weights whose sum is hit + alarm, so it represents this number of cases.
    cases = float(unit.pos) * (amounts.hit + amounts.alarm)
    gain, idle = amounts.gain_and_idle(rows.y_true, rows.columns)
    gain = cases * gain / PARTS
    idle = np.zeros(len(rows)) if amounts.is_campaign else cases * idle / PARTS
    costs = idle - acted * gain
    unseen = UnseenAmounts.of(costs[:, None], np.abs(gain), [(rows.y_true, 1.0), (~rows.y_true, 1.0)])
    doubt = unseen.doubt or few(float(unseen.bearing[0]), FEW_EVENTS, "rows have amounts")
    size = np.append(acted, 1 - acted)
    cost = np.append(idle - gain + marginal * cases * float(unit.use), idle)
    idle_cost = float(plan.total(UnitCosts.cost_of_leaving, plan.totals))
    return CaseCosts(size, cost, np.append(segment, segment), idle_cost, doubt=doubt, unseen=unseen.moments[0])


def _share_acted_on(plan: Allocation, rows: Predictions, segment: Array, names: Sequence[Hashable]) -> Array:
    """Return the probability of acting on each row; 0 in segments without a rule."""
    share, known = np.zeros(len(rows)), set(plan.keys)
    dealt, bounds = deal(segment, np.arange(segment.size), len(names))
    for name, (begin, end) in zip(names, pairwise(bounds.tolist()), strict=True):
        if begin < end and name in known:
            own = dealt[begin:end]
            for part in plan.rule(name).parts:
                share[own] += float(part.share) * (rows.scores[part.model][own] >= part.threshold)
    return share


def _separate_rows(data: Any) -> Predictions | None:
    """Return the data as Predictions with one row per case.

    Return None for weighted or grouped rows, more than 2 million rows, or counts of several models.
    """
    if isinstance(data, Predictions):
        plain = data.sample_weight is None and not data.dependent
        return data if plain and len(data) <= _MOST_ROWS_TO_REFIT else None
    try:
        levels = levels_of(data, all_levels=True)
    except RocscopeError:  # counts of ranges have no known scores
        return None
    weighted = levels.tp.dtype.kind == "f"
    if len(levels.models) > 1 or weighted or levels.n_pos.sum() + levels.n_neg.sum() > _MOST_ROWS_TO_REFIT:
        return None
    index = np.arange(levels.tp.size)
    pos, neg = levels.steps
    kept = np.append(np.repeat(index, pos), np.repeat(index, neg))
    label = np.repeat([True, False], [pos.sum(), neg.sum()])
    names = np.empty(len(levels.names), object)
    names[:] = listed(levels.names)
    return Predictions(label, {levels.models[0]: levels.threshold[kept]}, segment=names[levels.segment][kept])


def cost_interval(
    apparent: float, places: Sequence[Allocation], level: float, held_out: CaseCosts | None
) -> ChosenEstimate:
    """Return the expected total cost of all segments, with a confidence interval.

    Parameters
    ----------
    apparent : float
        Total cost in the sample.
    places : sequence of Allocation
        One allocation per action, in order of stakes.
    level : float
        Confidence level.
    held_out : CaseCosts or None
        Costs of held-out cases. If None, the costs of the sample with fixed thresholds are used.

    Notes
    -----
    The outcomes of the cases of a segment are multinomial, and segments are independent. A segment with n cases, mean
    cost c and mean squared cost q adds n (q − c²) to the variance. Third moments are added in the same way. The
    interval is Hall's interval. With held-out outcomes, the variance is increased by 1/20 for the random folds, and by
    the square of half the optimism.

    References
    ----------
    Hall 1992, J. R. Stat. Soc. B 54:221–228.
    """
    level = check.check_level(level)
    cases = held_out
    if cases is None:
        terms = [place.terms for place in places]
        cases = costs_of_outcomes([place.counts for place in places], places[0].totals, terms)
    second, third, fourth = _central_moments(cases)
    # At exactly the planned number of cases, the charges for the use of the limit sum to `limit_cost`.
    value = float(cases.size @ cases.cost) - cases.limit_cost
    variance = second
    method = "as given"
    reason = "the interval ignores how the thresholds were chosen"
    if held_out is not None:
        method = "choice repeated in folds"
        reason = cases.doubt
        variance = FOLD_VARIANCE * second + (max(value - apparent, 0.0) / 2) ** 2
        if not reason and cases.unseen is None:
            # The effective number of cells: equal cells with the same variance and fourth moment.
            reason = few(second**2 / fourth if fourth else np.inf, FEW_EVENTS, "cases make up the variance")
    error = math.sqrt(max(variance, 0.0))
    skew = third / second**1.5 if second > 0 else 0.0
    z = normal_quantile(level)
    low = value - error * float(generalization.skewed(z, skew))
    high = value - error * float(generalization.skewed(-z, skew))
    saved = cases.idle - value
    acting = float(special.ndtr(saved / error)) if error else float(saved > 0)
    facts: dict[str, Any] = {"standard_error": error, "reason": reason, "apparent": apparent, "acting": acting}
    return ChosenEstimate(value, low, high, level, f"Hall, thresholds {method}", float(cases.size.sum()), **facts)


def costs_of_outcomes(
    counts: Iterable[Any], totals: tuple[Array, Array], costs: Sequence[SegmentUnitCosts]
) -> CaseCosts:
    """Return the number of cases with each outcome, and the cost per case of each outcome.

    Parameters
    ----------
    counts : iterable of (true positives, false positives)
        For each action in order of stakes, two arrays of counts by segment. The cases are those with this action or a
        later action.
    totals : tuple of two arrays
        Number of positives and number of negatives of each segment.
    costs : list of SegmentUnitCosts
        For each action, its costs minus the costs of the previous action.
    """
    pos, neg = costs[0].column("pos"), costs[0].column("neg")
    cost_pos = pos * costs[0].column("miss")
    cost_neg = neg * costs[0].column("rest")
    n_pos, n_neg = totals
    idle = float((cost_pos * n_pos + cost_neg * n_neg).sum())
    cells = []
    for (tp, fp), unit_costs in zip(counts, costs, strict=True):
        cells += [(n_pos - tp, cost_pos), (n_neg - fp, cost_neg)]
        n_pos, n_neg = tp, fp
        scale = float(unit_costs.largest)
        cost_pos = cost_pos - pos * scale * unit_costs.column("hit")
        cost_neg = cost_neg + neg * scale * unit_costs.column("alarm")
    cells += [(n_pos, cost_pos), (n_neg, cost_neg)]
    size, cost = (np.concatenate(column) for column in zip(*cells, strict=True))
    return CaseCosts(size, cost, np.tile(np.arange(pos.size), len(cells)), idle)


def _central_moments(cases: CaseCosts) -> tuple[float, float, float]:
    """Return the sums of squares, cubes and fourth powers of the costs' deviations from their segment's mean.

    The first two allow for amounts larger than any amount in the sample.
    """
    n = np.bincount(cases.segment, cases.size)
    total = np.bincount(cases.segment, cases.size * cases.cost)
    mean = np.divide(total, n, out=np.zeros(n.size), where=n > 0)
    deviation = cases.cost - mean[cases.segment]
    second, third, fourth = (float(cases.size @ deviation**power) for power in (2, 3, 4))
    unseen = (0.0, 0.0) if cases.unseen is None else cases.unseen
    return second + unseen[0], third + unseen[1], fourth


# The file: exact unit costs, counts and thresholds

_NAME_TYPES = (str, int, float, bool)
_UNIT_COSTS = ("pos", "neg", "hit", "alarm", "miss", "rest", "use")


def exact_content(points: SegmentLevels, shares: SegmentShares, costs: SegmentUnitCosts) -> dict[str, Any]:
    """Return points, shares and unit costs for `read_exact`, with exact fractions."""
    names = listed(points.names)
    if not all(type(name) in _NAME_TYPES for name in names):
        raise InputError("save", expected="texts or numbers as segment names", got=type(names[0]).__name__)
    segments: list[dict[str, Any]] = []
    columns = names, costs.index.tolist(), points.n_pos.tolist(), points.n_neg.tolist()
    for name, index, n_pos, n_neg in zip(*columns, strict=True):
        segments.append({"name": name, "terms": index, "n_pos": n_pos, "n_neg": n_neg, "parts": []})
    for owner, point, share in zip(shares.segment.tolist(), shares.point.tolist(), shares.share, strict=True):
        segment: dict[str, Any] = segments[owner]
        part: dict[str, Any] = {"share": share}
        if point >= 0:
            tp, fp = plain(points.tp, point), plain(points.fp, point)
            everybody = tp == segment["n_pos"] and fp == segment["n_neg"]
            part["model"] = points.models[points.model[point]]
            part["score"] = None if everybody else plain(points.threshold, point)
            part |= {"tp": tp, "fp": fp}
        segment["parts"].append(part)
    terms = [vars(unit) for unit in costs.distinct]
    campaigns = {"fixed_costs": costs.fixed_costs, "runs": costs.runs}
    return {"models": points.models, "terms": terms, "segments": segments} | campaigns


def read_exact(fields: Fields) -> tuple[SegmentLevels, SegmentShares, SegmentUnitCosts]:
    """Read points, shares and unit costs from the fields of a file, and check their types and ranges."""
    models = list(fields.texts("models"))
    units = fields.objects("terms")
    distinct = [UnitCosts(**{name: unit.fraction(name) for name in _UNIT_COSTS}) for unit in units]
    segments = fields.objects("segments")
    if not models or not distinct or not segments:
        fields.refuse("segments", "models, terms and segments")
    index = np.array([segment.whole("terms") for segment in segments], np.intp)
    if index.max() >= len(distinct):
        fields.refuse("terms", f"an index below {len(distinct)} in each segment")
    start, owner, point, share = [0], [], [], []
    score, model_index, tp, fp = [], [], [], []
    for i, segment in enumerate(segments):
        parts = segment.objects("parts")
        for part in parts:
            owner.append(i)
            share.append(part.share("share"))
            if "model" not in part.content:  # nobody
                point.append(-1)
                continue
            model = part.text("model")
            if model not in models:
                part.refuse("model", f"one of {', '.join(models)}")
            threshold = part.optional_number("score")
            point.append(len(tp))
            score.append(0 if threshold is None else threshold)  # not used for "everybody"
            model_index.append(models.index(model))
            tp.append(part.number("tp", 0))
            fp.append(part.number("fp", 0))
        if not parts or sum(share[-len(parts) :]) != 1:
            segment.refuse("parts", "shares with a sum of 1")
        start.append(len(tp))
    n_pos = _counts([segment.number("n_pos", 0) for segment in segments])
    n_neg = _counts([segment.number("n_neg", 0) for segment in segments])
    columns = np.array(start), _column(score), _counts(tp), _counts(fp), n_pos, n_neg
    names = _column([segment_name(segment, "name") for segment in segments])
    levels = SegmentLevels(*columns, names=names, models=models, model=np.array(model_index, np.intp))
    shares = SegmentShares(np.array(owner), np.array(point), share)
    fixed = [fields.make("fixed_costs", Fraction, text) for text in fields.texts("fixed_costs")]
    runs = tuple(map(bool, fields.take("runs", list, "true or false for each campaign")))
    if runs and not len(fixed) == len(runs) == len(distinct):
        fields.refuse("runs", "one value for each entry of 'terms'")
    return levels, shares, SegmentUnitCosts(distinct, index, fixed, runs)


def segment_name(segment: Fields, key: str) -> Any:
    name = segment.content.get(key)
    infinite = isinstance(name, float) and not math.isfinite(name)
    if type(name) not in _NAME_TYPES or infinite:
        segment.refuse(key, "a text or a number")
    return name


def _column(values: list[Any]) -> Any:
    """Return values as an array without converting their types."""
    if len({type(value) for value in values}) == 1:
        return np.array(values)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _counts(values: list[Any]) -> Any:
    whole = all(type(value) is int for value in values)
    return np.array(values, np.int64 if whole else np.float64)
