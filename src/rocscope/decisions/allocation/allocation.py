"""Allocation: which cases of which group a shared budget goes to, and what that costs.

allocate: one budget for many groups.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import deal, numbered
from rocscope.core.context import Context, nearest
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result, frame_of, jsonable, number
from rocscope.curves.campaign import Campaign
from rocscope.decisions.allocation.apportionment import (
    NEAR,
    UNIT,
    GroupRule,
    best,
    drawn,
    in_units,
    lowest,
    rounded_to,
    whole_numbers,
)
from rocscope.decisions.allocation.group_costs import Given, HullSteps, Terms, limit_of, spread
from rocscope.decisions.allocation.hulls import Outlines, listed, outlines_of
from rocscope.decisions.allocation.parity import GroupShares, bounded, differences_of, rate_of
from rocscope.decisions.models import scores_of, size_of
from rocscope.decisions.randomized.rules import lots
from rocscope.errors import InputError
from rocscope.sample import Models


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(Result):
    """A threshold for each group, by which all of them together are best within one budget.

    Made by `rocscope.allocate`.

    Attributes
    ----------
    cost : float
        Expected cost of all cases together.
    price : float
        What bounds on the differences between groups cost: how much less the best allocation without them does.
    marginal : float
        What one case more of the capacity, or one unit more of the budget, would save; NaN under such bounds.
    fixed_cost : float
        Of campaigns, which is paid in any case.
    limit : Fraction or None
        The capacity, or what the budget leaves for contacts.
    max_difference : dict from rate to number

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, allocate
    >>> groups = {"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 1], [2, 5])}
    >>> allocation = allocate(groups, Context(cost_fn=5), capacity=5)
    >>> allocation.marginal  # of the south's upper four each second saves 5, each other costs 1
    2.0
    """

    _points: Outlines
    _parts: GroupShares
    _terms: Terms
    cost: float
    price: float
    marginal: float
    fixed_cost: float
    limit: Fraction | None
    in_money: bool
    max_difference: dict[str, float]

    @property
    def names(self) -> Array:
        """The groups, in their order."""
        return self._points.names

    @property
    def profit(self) -> float:
        """What campaigns bring: less than nothing is lost, and fixed costs are paid."""
        return -self.cost - self.fixed_cost

    @cached_property
    def _counts(self) -> tuple[Array, Array]:
        """Expected true and false positives of each group, in the sample."""
        parts, groups = self._parts, self.names.size
        some, share = parts.point >= 0, np.array([float(each) for each in parts.share])
        tp, fp = (
            np.bincount(parts.group[some], share[some] * axis[parts.point[some]], groups)
            for axis in (self._points.tp, self._points.fp)
        )
        return tp, fp

    def _rate(self, name: str) -> Array:
        return rate_of(name, self._points, self._terms, np.arange(self.names.size), *self._counts)

    @property
    def tpr(self) -> Array:
        """Expected true-positive rate of each group; NaN without positives."""
        return self._rate("tpr")

    @property
    def fpr(self) -> Array:
        """Expected false-positive rate of each group; NaN without negatives."""
        return self._rate("fpr")

    @property
    def depth(self) -> Array:
        """Expected share of each group that is predicted positive."""
        return self._rate("depth")

    @property
    def cases(self) -> Array:
        """Expected number of positive predictions in each group."""
        return self._cases(*self._counts)

    def _cases(self, tp: Array, fp: Array) -> Array:
        pos, neg = (self._terms.column(name, np.arange(self.names.size)) for name in ("pos", "neg"))
        return pos * tp + neg * fp

    def difference(self, rate: str) -> float:
        """Return how far groups differ in a rate at most: "tpr", "fpr" or "depth"."""
        check.check_choice("rate", rate, ("tpr", "fpr", "depth"))
        found = self._rate(rate)
        return float(np.nanmax(found) - np.nanmin(found))

    @cached_property
    def _begin(self) -> NDArray[np.intp]:
        return self._parts.group.searchsorted(np.arange(self.names.size + 1))

    def rules(self, name: Hashable) -> tuple[GroupRule, ...]:
        """Return which thresholds decide which share of the cases of a group; one decides all unless lots are drawn."""
        if name not in self._points.keys:
            raise InputError("name", expected="that of a group that was allocated to", got=check.shown(name))
        return tuple(self._rules(self._points.keys[name]))

    def _rules(self, group: int) -> Iterator[GroupRule]:
        for i in range(self._begin[group], self._begin[group + 1]):
            point, points = self._parts.point[i], self._points
            if point < 0:
                yield GroupRule(self._parts.share[i], points.models[0], np.inf)
                continue
            all_cases = points.tp[point] == points.n_pos[group] and points.fp[point] == points.n_neg[group]
            threshold = -np.inf if all_cases else points.score[point : point + 1].tolist()[0]
            yield GroupRule(self._parts.share[i], points.models[points.model[point]], threshold)

    def predict(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> NDArray[np.bool_]:
        """Return which cases are predicted positive: of each group the share that is planned, exactly.

        Parameters
        ----------
        scores : array of n scores, or mapping from model name to array, Predictions, data frame
        ids : array of n identifiers, optional
            By which lots are drawn; by default the numbers of the rows.
        segment : array of n groups
            Those of the Predictions by default.
        random_state : int, Generator, RandomState or None
            Another one draws other lots.

        Raises
        ------
        InputError
            If there is no group column, or one of its groups was not allocated to.

        Notes
        -----
        All cases that are passed are drawn together. Numbers of groups are rounded so that their sum is the planned
        one, rounded down, and never beyond the share that the capacity is of all cases; of a budget each is rounded
        down. Cases have the lots of `Decision.predict`. Where the list has more or fewer cases at a threshold than the
        sample, the next best scores fill the number.
        """
        column = scores.segment if segment is None and isinstance(scores, Predictions) else segment
        if column is None:
            raise InputError("segment", expected="the group of each case", got="none")
        size = size_of(scores)
        column = check.check_column(column, "segment", size)
        named, code = numbered("segment", column)
        known = self._points.keys
        unknown = [name for name in listed(named) if name not in known]
        if unknown:
            raise InputError("segment", expected="groups that were allocated to", got=check.listing(unknown))
        groups = np.array([known[name] for name in listed(named)])
        columns = scores_of(self._models(groups.tolist()), scores)
        most = self._numbers(groups, np.bincount(code, minlength=named.size))
        lot_of = partial(lots, ids, size, check.seed_of(random_state))
        return self._taken(groups, code, columns, most, lot_of)

    def _taken(
        self, groups: Array, code: Array, columns: dict[str, Array], most: Array, lot_of: Callable[[Array], Array]
    ) -> NDArray[np.bool_]:
        """Return the best cases of each group, of which lots are drawn only where they decide."""
        chosen, left, lot = np.zeros(code.size, bool), np.zeros_like(most), np.zeros(code.size, np.uint64)
        parts = self._begin[groups]
        alone, point = self._begin[groups + 1] == parts + 1, self._parts.point[parts]
        model = np.where(point < 0, 0, self._points.model[np.maximum(point, 0)])
        several, tied = np.flatnonzero(~alone[code]), [np.zeros(0, np.intp)]
        for name, column in columns.items():
            mine = alone & (model == self._points.models.index(name))
            own = np.flatnonzero(mine[code])
            if own.size:
                sure, open_, found = best(column[own], code[own], most)
                chosen[own[sure]], left[mine] = True, found[mine]
                tied.append(own[open_])
        decided = np.concatenate(tied)
        drawn_of = np.concatenate([decided, several])
        lot[drawn_of] = lot_of(drawn_of)
        chosen[decided] = lowest(lot[decided], code[decided], left)
        rows, bounds = deal(code[several], several, most.size)
        for i in np.flatnonzero(~alone).tolist():
            own = rows[bounds[i] : bounds[i + 1]]
            within = {name: column[own] for name, column in columns.items()}
            chosen[own] = drawn(list(self._rules(int(groups[i]))), within, lot[own], int(most[i]))
        return chosen

    def select(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Array:
        """Return the identifiers of the cases that `predict` finds positive, in the order that they come in.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, allocate
        >>> north, south = ThresholdCounts([2, 1], [3, 1], [1, 3]), ThresholdCounts([2, 1], [1, 1], [1, 5])
        >>> allocation = allocate({"n": north, "s": south})
        >>> allocation.select([2, 2, 1, 1, 2, 1], list("abcdef"), segment=list("nnnnss"))
        array(['a', 'b'], dtype='<U1')
        """
        chosen = np.flatnonzero(self.predict(scores, ids, segment=segment, random_state=random_state))
        return chosen if ids is None else np.asarray(ids)[chosen]

    def _models(self, groups: list[int]) -> list[str]:
        if len(self._points.models) == 1:
            return self._points.models
        return list(dict.fromkeys(rule.model for group in groups for rule in self._rules(group)))

    def _numbers(self, groups: Array, sizes: Array) -> Array:
        """Return how many cases of each group are taken, where there are so many."""
        planned = self._planned(groups, sizes)
        if self.in_money:
            return np.array([(each + NEAR) // UNIT for each in planned])
        total = sum(planned)
        if self.limit is not None:
            points, every = self._points, np.arange(self.names.size)
            cases = self._terms.total("cases", every, points.n_pos, points.n_neg)
            most = in_units(self.limit * int(sizes.sum()) / cases)
            if total > most + NEAR:
                planned, total = [each * most // total for each in planned], most
        return np.array(rounded_to((total + NEAR) // UNIT, planned))

    def _planned(self, groups: Array, sizes: Array) -> list[int]:
        """Return the share of so many cases that is planned for each group, in `UNIT`."""
        parts, points, begin = self._parts, self._points, self._begin.tolist()
        axes = (np.where(parts.point < 0, 0, axis[np.maximum(parts.point, 0)]) for axis in (points.tp, points.fp))
        tp, fp, n_pos, n_neg = whole_numbers(*axes, points.n_pos, points.n_neg)
        share = [each.numerator if each.denominator == 1 else each for each in parts.share]
        weights, kind = [whole_numbers([term.pos], [term.neg]) for term in self._terms.every], self._terms.kind.tolist()
        found: list[int] = []
        for group, size in zip(groups.tolist(), sizes.tolist(), strict=True):
            (pos,), (neg,) = weights[kind[group]]
            taken = sum(share[i] * (pos * tp[i] + neg * fp[i]) for i in range(begin[group], begin[group + 1]))
            found.append(in_units(taken * size, pos * n_pos[group] + neg * n_neg[group]))
        return found

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with a row for each group: its rule, and what is expected of it.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        tp, _ = self._counts
        columns = {
            "group": self.names,
            "rule": np.array([" + ".join(map(str, self._rules(group))) for group in range(self.names.size)]),
            "cases": self.cases,
            "tp": self._terms.column("pos", np.arange(self.names.size)) * tp,
            "tpr": self.tpr,
            "fpr": self.fpr,
            "depth": self.depth,
        }
        return frame_of(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return cost, price and the rules of all groups, safe for JSON."""
        names = ("cost", "price", "marginal", "profit", "fixed_cost", "max_difference")
        limit = None if self.limit is None else float(self.limit)
        columns = [self.names, self.cases, self.tpr, self.fpr, self.depth]
        rows = [
            dict(zip(("group", "cases", "tpr", "fpr", "depth", "rules"), (*row, rules), strict=True))
            for *row, rules in zip(
                *(column.tolist() for column in columns), map(self._plain, range(len(self.names))), strict=True
            )
        ]
        return jsonable({name: getattr(self, name) for name in names} | {"limit": limit, "groups": rows})

    def _plain(self, group: int) -> list[dict[str, Any]]:
        return [rule._asdict() | {"share": float(rule.share)} for rule in self._rules(group)]

    def __repr__(self) -> str:
        groups = f"{self.names.size} group{'s' * (self.names.size != 1)}"
        facts = [groups, f"{number(round(float(self.cases.sum()), 9))} cases", f"cost={self.cost:.6g}"]
        if self.max_difference:
            facts.append(f"price of bounds={self.price:.6g}")
        if self.marginal > 0:
            facts.append(f"one {'unit' if self.in_money else 'case'} more saves {self.marginal:.6g}")
        return f"Allocation({', '.join(facts)})"


_SAME = 1e-12
_ALL = Fraction(1)


def allocate(
    segments: Predictions | Mapping[Hashable, Models],
    context: Context | Campaign | Mapping[Hashable, Context | Campaign] | None = None,
    *,
    capacity: float | None = None,
    budget: float | None = None,
    max_difference: Mapping[str, float] | str | None = None,
    population: float | None = None,
) -> Allocation:
    """Spread one capacity or budget over groups so that all of them together cost least.

    Parameters
    ----------
    segments : Predictions with segments, SegmentedCounts, or mapping from group to data of one or several models
        The groups that share the budget: segments, regions, models, campaigns. Of each model in any form; see
        `rocscope.sample`. Where a group has several models, each of them decides where it is best.
    context : Context or Campaign, or mapping from group to one, optional
        Costs and class mix, by default equal costs. One for all has the class mix of all groups together; a Campaign
        for each has its own population.
    capacity : float, optional
        Largest number of positive predictions, in all groups; by default that of the Campaign.
    budget : float, optional
        Money for fixed and unit costs of campaigns.
    max_difference : mapping from rate to number, or str, optional
        How far any two groups may differ, as in ``{"tpr": 0.05}``: in tpr (``"equal_opportunity"``), in fpr, in both
        (``"equalized_odds"``) or in depth (``"demographic_parity"``). A text alone means not at all.
    population : float, optional
        Number of cases that it will be used on; by default those of the sample.

    Raises
    ------
    InputError
        If false alarms are rewarded, both limits are given, or there is no unit cost to a budget.
    PairingError
        If the models of a group were not counted on the same rows.

    Notes
    -----
    The optimum over all rules, also those by lot, of all models in all groups. Without bounds on differences the steps
    of all hulls are taken in the order of what they gain for what they take, until the budget ends: at one slope in all
    groups, and within one step by lot. Exact, after the ranking in O(v log v) for the v vertices of all hulls.

    With such bounds HiGHS solves a linear program over the vertices, upper and lower, of all groups, to 9 digits; where
    the allocation without them keeps them, that is taken. Groups without positives have no tpr, those without negatives
    no fpr, and are bound by none. At equalised odds up to three thresholds decide shares of one group.

    It is the best in this sample: in new cases it costs more, and groups differ more.

    References
    ----------
    Hardt, Price & Srebro 2016, "Equality of opportunity in supervised learning", NeurIPS; fairlearn's
    ``ThresholdOptimizer``, which searches a grid of rates and knows no budget.

    Examples
    --------
    Four contacts in the north find three positives; the last one is a case of the tie in the south, drawn by lot:

    >>> from rocscope import ThresholdCounts
    >>> north, south = ThresholdCounts([2, 1], [3, 1], [1, 3]), ThresholdCounts([2, 1], [1, 1], [1, 5])
    >>> campaign = Campaign(population=16, unit_cost=1, unit_benefit=4)
    >>> allocation = allocate({"n": north, "s": south}, campaign, capacity=5)
    >>> allocation
    Allocation(2 groups, 5 cases, cost=-9, one case more saves 1)
    >>> [str(rule) for rule in allocation.rules("s")], allocation.profit
    (['0.5 × nobody', '0.5 × score≥2 of score'], 9.0)

    Both groups are to find the same share of their positives:

    >>> allocate({"n": north, "s": south}, campaign, capacity=5, max_difference="equal_opportunity")
    Allocation(2 groups, 5 cases, cost=-7.46154, price of bounds=1.53846)
    """
    given = Given(context, None if population is None else _cases(population))
    differences = differences_of(max_difference)
    points = outlines_of(segments, all_levels=bool(differences))
    terms = given.terms(points.upper, budget=budget is not None)
    limit = limit_of(given, capacity, budget, terms)
    found = spread(points.upper, terms, limit)
    free = _allocation(points.upper, _parts(points.upper, found), terms, limit, in_money=budget is not None)
    free = replace(free, marginal=found.marginal, max_difference=differences)
    if all(free.difference(rate) <= most + _SAME for rate, most in differences.items()):
        return free
    outline, parts = bounded(points, terms, limit, differences)
    best = _allocation(outline, parts, terms, limit, in_money=budget is not None)
    return replace(best, price=best.cost - free.cost, marginal=np.nan, max_difference=differences)


def _cases(population: float) -> float:
    return check.check_number(population, "population", "a number of cases above 0", above=0)


def _parts(hulls: Outlines, found: HullSteps) -> GroupShares:
    """Return the threshold of each group, and of the one where lots are drawn the next one too."""
    groups = np.arange(found.steps.size)
    point = np.where(found.steps > 0, hulls.start[:-1] + found.steps - 1, -1)
    share = [_ALL] * groups.size
    if found.drawn < 0:
        return GroupShares(groups, point, share)
    drawn, after = found.drawn, found.drawn + 1
    share[drawn:after] = [_ALL - found.share, found.share]
    following = hulls.start[drawn] + found.steps[drawn]
    return GroupShares(np.insert(groups, after, drawn), np.insert(point, after, following), share)


def _allocation(
    points: Outlines, parts: GroupShares, terms: Terms, limit: Fraction | None, *, in_money: bool
) -> Allocation:
    """Return an allocation with its exact cost, rounded once."""
    left = terms.total("left", np.arange(points.n_pos.size), points.n_pos, points.n_neg)
    whole = np.array([share == 1 for share in parts.share])
    sure = (parts.point >= 0) & whole
    at = parts.point[sure]
    gain = terms.total("gain", parts.group[sure], points.tp[at], points.fp[at])
    for i in np.flatnonzero((parts.point >= 0) & ~whole).tolist():
        tp, fp = (Fraction(axis[parts.point[i]].item()) for axis in (points.tp, points.fp))
        gain += parts.share[i] * terms.of(int(parts.group[i])).gain(tp, fp)
    return Allocation(points, parts, terms, nearest(left - gain), 0.0, 0.0, float(terms.fixed), limit, in_money, {})
