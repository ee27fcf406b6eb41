"""RowAmounts: costs that differ from row to row, as rows that are part positive and part negative.

Acting on a row gains g, which lies between −a and h in all rows. Counted as a share (g + a)/(h + a) of a positive that
gains h, and for the rest as a negative that costs a, it gains as much, and is one case as before. So hulls, limits and
programs of segments need no second kind of counts: rows come twice, with weights g + a and h − g.
"""
# MERGED-DOC: """Allocations that are made anew of nine tenths of the cases: what their thresholds find among the
# rest."""
# MERGED-DOC: """Expected cost of an allocation on new cases: the interval of a sum over segments."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import listed
from rocscope._base.json_format import Fields
from rocscope.core.context import PARTS, Context, costs_of_rows
from rocscope.core.predictions import Predictions
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.apportionment import SegmentUnitCosts
from rocscope.decisions.generalization import FOLDS, REPEATS, ChosenEstimate, skewed
from rocscope.errors import InfeasibleError, InputError, RocscopeError
from rocscope.inference.estimate import FEW_EVENTS, few
from rocscope.inference.expected_costs import FOLD_VARIANCE, ParetoTail
from rocscope.inference.proportions import normal_quantile
from rocscope.segments.by_segment import levels_of


@dataclass(frozen=True)
class RowAmounts:
    """What acting on rows gains, where that differs from row to row.

    Attributes
    ----------
    given : Context or Campaign
        With the names of columns as costs, or as benefit.
    hit, alarm : float
        The largest gain of acting on a row, and the largest loss, in ten-thousandths.
    left : float
        What leaving a row costs on average; 0 for a campaign.
    rows : float
        Rows, or the sum of their weights.
    """

    given: Context | Campaign
    hit: float
    alarm: float
    left: float
    rows: float

    @classmethod
    def of(cls, data: Any, given: Any) -> "RowAmounts | None":
        """Return the amounts of rows; None where costs are the same in every row.

        Raises
        ------
        InputError
            If columns are named beside what is no rows, or beside a target prevalence.
        """
        each = list(given.values()) if isinstance(given, dict) else [given]
        if not any(columns_of(one) for one in each):
            return None
        if len(each) > 1 or isinstance(given, dict):
            raise InputError("context", expected="one for all segments, where costs are columns", got=f"{len(each)}")
        if not isinstance(data, Predictions):
            raise InputError("segments", expected="Predictions with segments, where costs are columns", got="counts")
        if context_of(given).target_prevalence is not None:
            raise InputError("context", expected="no target prevalence, where costs are columns", got=repr(given))
        found = cls(given, 0.0, 0.0, 0.0, 0.0)
        gain, left = found.gains(data.y_true, data.columns, left=True)
        weight = np.ones(len(data)) if data.sample_weight is None else data.sample_weight
        alarm = max(-float(gain.min()), 0.0)
        if isinstance(given, Campaign):
            alarm = max(alarm, float(np.rint(given.unit_cost * PARTS)))
        hit = float(gain.max())
        if hit + alarm <= 0:  # all rows lose as much: any wider range says the same
            hit, alarm = hit + PARTS, alarm if isinstance(given, Campaign) else alarm + PARTS
        mean = 0.0 if isinstance(given, Campaign) else float(weight @ left / weight.sum() / PARTS)
        return cls(given, hit, alarm, mean, float(weight.sum()))

    def gains(self, positive: Array, columns: Any, *, left: bool = False) -> Any:
        """Return what acting on each row gains, in ten-thousandths; also what leaving it costs, where that is asked."""
        acted, idle = costs_of_rows(positive, context_of(self.given), columns, whole=True)
        return (idle - acted, idle) if left else idle - acted

    @property
    def is_campaign(self) -> bool:
        """Whether leaving a case costs nothing, whatever a response would have brought."""
        return isinstance(self.given, Campaign)

    @cached_property
    def even(self) -> Context | Campaign:
        """Costs that are the same in every row of `doubled`."""
        hit, alarm = self.hit / PARTS, self.alarm / PARTS
        if isinstance(self.given, Campaign):
            return replace(self.given, unit_benefit=(self.hit + self.alarm) / PARTS)
        left = self.left
        return Context(cost_fp=left + alarm, cost_fn=left, cost_tp=left - hit, cost_tn=left)

    def doubled(self, rows: Predictions) -> Predictions:
        """Return each row as a positive and a negative, which share its weight."""
        gain = self.gains(rows.y_true, rows.columns)
        weight = 1.0 if rows.sample_weight is None else rows.sample_weight
        masses = np.concatenate([weight * (gain + self.alarm), weight * (self.hit - gain)])
        scores = {model: np.concatenate([score, score]) for model, score in rows.scores.items()}
        segment = None if rows.segment is None else np.concatenate([rows.segment, rows.segment])
        label = np.repeat([True, False], len(rows))
        return Predictions(label, scores, sample_weight=masses, segment=segment)

    def stored(self) -> dict[str, Any]:
        """Return the content of a file."""
        kind = "campaign" if isinstance(self.given, Campaign) else "context"
        return {kind: asdict(self.given)} | {name: getattr(self, name) for name in ("hit", "alarm", "left", "rows")}

    @classmethod
    def read(cls, fields: Fields) -> "RowAmounts":
        """Return what a file holds."""
        kind, make = ("campaign", Campaign) if "campaign" in fields.content else ("context", Context)
        given: Any = fields.make(kind, make, **fields.take(kind, dict, "costs, some of them columns"))
        if not columns_of(given):
            fields.refuse(kind, "costs, some of them columns")
        return cls(given, *(fields.number(name) for name in ("hit", "alarm", "left", "rows")))


def context_of(given: Any) -> Context:
    """Return the costs of a context or campaign."""
    return given.context if isinstance(given, Campaign) else Context.given(given)


def columns_of(given: Any) -> tuple[str, ...]:
    """Return the columns that a context or campaign names."""
    return given.columns if isinstance(given, Context) else context_of(given).columns if given is not None else ()


_ONCE = 100_000  # rows from which on folds are drawn once
_MOST = 2_000_000  # rows beyond which thresholds hardly depend on the sample
_FEWEST = 10  # rows of a class, as for a decision


@dataclass(frozen=True)
class AllocationSource:
    """The data that an allocation was made of, and how to make one of other data.

    Attributes
    ----------
    segments : data by segment
    make : function of data
    marginal : float
        What one unit more of the limit would save, without bounds on segments.
    """

    segments: Any
    make: Callable[[Any], Any]
    marginal: float


@dataclass(frozen=True)
class Refitted:
    """What allocations of nine tenths of the cases find among the rest.

    Attributes
    ----------
    taken : list of (true positives, false positives) by segment, for each action
    terms : list of SegmentUnitCosts
        Costs with the marginal value of the limit added to what takes of it, as exactly the planned number is acted on.
    limit_cost : float
        That value times the limit.
    doubt : str
        Reason why an interval may not be reliable.
    costs : three arrays of n, or None
        Where costs differ from row to row: the share of each row that is acted on, and what acting on it and leaving it
        cost; `taken` is then of the cases that were chosen on.
    code : array of n
        The number of each row's segment.
    unseen : array of 2
        Second and third moments that large amounts would add which the sample happens not to hold.
    """

    taken: list[tuple[Array, Array]]
    terms: list[SegmentUnitCosts]
    limit_cost: float
    doubt: str = ""
    costs: tuple[Array, Array, Array] | None = None
    code: Any = None
    unseen: Any = (0.0, 0.0)


def refitted(places: Any, source: AllocationSource | None, limit: Fraction | None, seed: int) -> Refitted | None:
    """Return what is found among held-out cases; None where they cannot be told apart.

    Parameters
    ----------
    places : sequence of Allocation
        Of one action, or of several in their order.
    source : AllocationSource or None
    limit : Fraction or None
        The capacity, or what the budget leaves for contacts.
    seed : int
    """
    rows = None if source is None else _rows_of(source.segments)
    if rows is None or source is None:
        if getattr(places[0], "amounts", None) is not None:
            expected = "one with its data, of unweighted rows, where costs are columns"
            raise InputError("plan", expected=expected, got="none")
        return None
    first, keys = places[0], {name: i for i, name in enumerate(places[0].keys)}
    code = np.array([keys[name] for name in listed(np.asarray(rows.segment))], np.intp)
    repeats = 1 if len(rows) > _ONCE else REPEATS
    found, acted = np.zeros((len(places), 2, first.names.size)), np.zeros(len(rows))
    rng, doubt = np.random.default_rng([seed, 1]), ""
    for _ in range(repeats):
        fold = rng.permutation(len(rows)) % FOLDS
        for number in range(FOLDS):
            held = fold == number
            try:
                plan = source.make(rows.select(~held))
            except InfeasibleError:
                doubt = "in some folds no allocation keeps the constraints"
                continue
            own, part = code[held], rows.select(held)
            for i, place in enumerate(getattr(plan, "places", (plan,))):
                share = _acted(place, part, own, first.keys)
                acted[held] += share / repeats
                for j, of_class in enumerate((part.y_true, ~part.y_true)):
                    found[i, j] += np.bincount(own, share * of_class, first.names.size) / repeats
    smallest = min(float(each.sum()) for each in first.totals)
    doubt = doubt or (f"a class has {smallest:g} rows only, fewer than {_FEWEST}" if smallest < _FEWEST else "")
    worth = 0.0 if limit is None else source.marginal
    if first.amounts is not None:
        return _of_rows(first, rows, code, acted, worth, limit, doubt)
    terms = [_priced(each.terms, worth) for each in places]
    return Refitted([(tp, fp) for tp, fp in found], terms, worth * float(limit or 0), doubt)


def _of_rows(
    plan: Any, rows: Predictions, code: Array, acted: Array, worth: float, limit: Fraction | None, doubt: str
) -> Refitted:
    """Return what each row costs, where that differs from row to row."""
    term, amounts = plan.terms.every[0], plan.amounts
    cases = float(term.pos) * (amounts.hit + amounts.alarm)  # that a row stands for
    gain, left = amounts.gains(rows.y_true, rows.columns, left=True)
    gain = cases * gain / PARTS
    idle = 0.0 if amounts.is_campaign else cases * left / PARTS
    costs, unseen = idle - acted * gain, np.zeros(2)
    for own in (rows.y_true, ~rows.y_true):
        size = np.abs(gain[own])
        tail = ParetoTail.of(size)
        if tail is not None:
            bears = (np.abs(costs[own]) >= size / 2) & (size > 0)
            sign = np.sign(costs[own][bears].sum())
            unseen += tail.unseen(costs[own], bears.sum() / np.count_nonzero(size)) * [1, sign]
            doubt = doubt or tail.doubt or few(float(bears.sum()), FEW_EVENTS, "rows bear amounts")
    each = acted, idle - gain + worth * cases * float(term.use), np.broadcast_to(idle, acted.shape)
    return Refitted([plan.counts], [plan.terms], worth * float(limit or 0), doubt, each, code, unseen)


def _priced(terms: SegmentUnitCosts, worth: float) -> SegmentUnitCosts:
    """Return terms that pay for what each case takes of the limit."""
    price = Fraction(worth)
    every = [
        replace(each, hit=each.hit - price * each.use, alarm=each.alarm + price * each.use) for each in terms.every
    ]
    return SegmentUnitCosts(every, terms.kind, terms.fixed)


def _acted(plan: Any, rows: Predictions, code: Array, names: Sequence[Hashable]) -> Array:
    """Return the share of each row that is acted on; rows of segments that the plan does not know are left."""
    share, known = np.zeros(len(rows)), set(plan.keys)
    order = np.argsort(code, kind="stable")
    bounds = np.searchsorted(code[order], np.arange(len(names) + 1)).tolist()
    for name, (begin, end) in zip(names, pairwise(bounds), strict=True):
        if begin < end and name in known:
            own = order[begin:end]
            for part in plan.rule(name).parts:
                share[own] += float(part.share) * (rows.scores[part.model][own] >= part.threshold)
    return share


def _rows_of(data: Any) -> Predictions | None:
    """Return one row for each case; None where there are weights, groups, too many or several models of counts."""
    if isinstance(data, Predictions):
        grouped = data.groups is not None and np.unique(data.groups).size < len(data)
        plain = data.sample_weight is None and not grouped and not data.repeated
        return data if plain and len(data) <= _MOST else None
    try:
        levels = levels_of(data, all_levels=True)
    except RocscopeError:  # counts of ranges, whose levels nobody knows
        return None
    if len(levels.models) > 1 or levels.tp.dtype.kind == "f" or levels.n_pos.sum() + levels.n_neg.sum() > _MOST:
        return None
    columns: list[Any] = []
    for axis in (levels.tp, levels.fp):
        each = np.diff(axis, prepend=0)
        each[levels.start[:-1]] = axis[levels.start[:-1]]
        columns.append(each)
    kept = np.concatenate([np.repeat(np.arange(each.size), each) for each in columns])
    label = np.repeat([True, False], [each.sum() for each in columns])
    names = np.empty(len(levels.names), object)
    names[:] = listed(levels.names)
    return Predictions(label, {levels.models[0]: levels.threshold[kept]}, segment=names[levels.segment][kept])


Cell = tuple[Array, Array]
"""Of one outcome by segment: how many cases of the sample have it, and what each costs."""


def cells_of(
    taken: Sequence[tuple[Array, Array]], totals: tuple[Array, Array], terms: Sequence[SegmentUnitCosts]
) -> tuple[list[Cell], Array]:
    """Return the outcomes of all cases, and what leaving all cases of each segment costs.

    Parameters
    ----------
    taken : true and false positives of each segment, for each action or one after it in the order of actions
    totals : positives and negatives of each segment
    terms : what each action changes beyond the one before it
    """
    every, cells = np.arange(totals[0].size), []
    sizes = [terms[0].column(name, every) for name in ("pos", "neg")]
    costs = [size * terms[0].column(name, every) for size, name in zip(sizes, ("miss", "rest"), strict=True)]
    idle = costs[0] * totals[0] + costs[1] * totals[1]
    left = list(totals)
    for counts, each in zip(taken, terms, strict=True):
        changes = (-each.column("hit", every), each.column("alarm", every))
        for i, change in enumerate(changes):
            cells.append((left[i] - counts[i], costs[i]))
            left[i], costs[i] = counts[i], costs[i] + sizes[i] * float(each.largest) * change
    return [*cells, *zip(left, costs, strict=True)], idle


def interval_of(plan: Any, places: Sequence[Any], level: float, refitted: Refitted | None) -> ChosenEstimate:
    """Return the expected total cost over segments, with an interval.

    Parameters
    ----------
    plan : Allocation or ActionAllocation
    places : the allocations to each of its actions
    level : float
    refitted : Refitted or None
        Where thresholds were chosen anew in folds: the outcomes are then those of held-out cases.

    Notes
    -----
    The cells of a segment are multinomial, and segments are independent: with n cases of mean cost c and mean
    squared cost q a segment adds n (q − c²) to the variance. Likewise skewness adds up; the interval is Hall's.
    Held-out cells add a twentieth of the variance for the random folds, and the square of half the optimism.

    References
    ----------
    Hall 1992, J. R. Stat. Soc. B 54:221–228.
    """
    level = check.check_level(level)
    taken = [each.counts for each in places] if refitted is None else refitted.taken
    terms = [each.terms for each in places] if refitted is None else refitted.terms
    cells, idle = cells_of(taken, places[0].totals, terms)
    if refitted is None or refitted.costs is None:
        n, spent, sums = _moments(cells)
    else:
        n, spent, sums = _moments_of_rows(*refitted.costs, refitted.code, idle.size)
        sums[:2] += refitted.unseen
    second, third, fourth = sums.tolist()
    value = float(spent.sum())
    saved, reason, method = float(idle.sum()) - value, "the thresholds are taken as given, not as chosen", "as given"
    variance = second
    if refitted is not None:
        value, saved, method = value - refitted.limit_cost, saved + refitted.limit_cost, "chosen anew in folds"
        variance = FOLD_VARIANCE * second + (max(value - plan.cost, 0.0) / 2) ** 2
        worth = second**2 / fourth if fourth else np.inf
        few_cases = few(worth, FEW_EVENTS, "cases make up the variance")
        reason = refitted.doubt or (few_cases if refitted.costs is None else "")
    error, z = math.sqrt(max(variance, 0.0)), normal_quantile(level)
    skew = third / second**1.5 if second > 0 else 0.0
    low, high = (value - error * float(skewed(each, skew)) for each in (z, -z))
    return ChosenEstimate(
        value,
        low,
        high,
        level=level,
        method=f"Hall, thresholds {method}",
        n=float(n.sum()),
        standard_error=error,
        reason=reason,
        apparent=plan.cost,
        acting=float(special.ndtr(saved / error)) if error else float(saved > 0),
    )


def _moments(cells: Sequence[Cell]) -> tuple[Array, Array, Array]:
    """Return cases and costs by segment, and the sums of second to fourth powers of deviations from the means."""
    n = np.sum([count for count, _ in cells], axis=0)
    spent = np.sum([count * cost for count, cost in cells], axis=0)
    mean = np.divide(spent, n, out=np.zeros(n.size), where=n > 0)
    sums = [np.sum([count * (cost - mean) ** power for count, cost in cells]) for power in (2, 3, 4)]
    return n, spent, np.array(sums)


def _moments_of_rows(share: Array, acted: Array, left: Array, code: Array, segments: int) -> tuple[Array, Array, Array]:
    """Return the same from the share of each row that is acted on, and what acting on it and leaving it cost."""
    costs, weight, code = np.append(acted, left), np.append(share, 1 - share), np.append(code, code)
    n, spent = np.bincount(code, weight, segments), np.bincount(code, weight * costs, segments)
    away = costs - np.divide(spent, n, out=np.zeros(segments), where=n > 0)[code]
    return n, spent, np.array([weight @ away**power for power in (2, 3, 4)])
