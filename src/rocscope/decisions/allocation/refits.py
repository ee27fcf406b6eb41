"""Allocations that are made anew of nine tenths of the cases: what their thresholds find among the rest."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.grouping import listed
from rocscope.core.predictions import Predictions
from rocscope.core.row_costs import PARTS
from rocscope.decisions.allocation.segment_costs import SegmentUnitCosts
from rocscope.decisions.generalization.resampling import FOLDS, REPEATS
from rocscope.errors import InfeasibleError, InputError, RocscopeError
from rocscope.inference.pareto_tail import ParetoTail
from rocscope.inference.reliability import FEW_EVENTS, few
from rocscope.segments.data import levels_of

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
