"""Divide one capacity or budget among segments: compute how many cases to select in each segment.

The limit is a capacity or a budget. A step is the set of cases between two adjacent vertices of a segment's ROC convex
hull. Along the upper hull, each step has a lower share of positives than the previous step. It therefore gains less per
unit of the limit. As in a knapsack problem, the gain per unit of the limit is called the density of the step.

- One action without bounds on segments: `greedy_steps` takes the steps of all hulls in decreasing order of density
  until the limit is reached. Part of the last step may be taken, by a randomised rule. The result is optimal among all
  randomised rules.
- One action with bounds: `constrained_shares` solves a linear program over the vertices of the hulls. Bounds are
  largest differences of rates between segments (`allowed_differences`), and constraints on single segments
  (`segment_bounds`).
- Several actions: `greedy_actions` solves a multiple-choice knapsack problem. With bounds, `constrained_action_shares`
  solves a linear program over all scores of all segments.

The results are `SegmentShares`: the thresholds used in each segment, and the share of the segment's cases to which each
threshold is applied. Greedy results are exact. Solutions of linear programs are accurate to about 9 digits.
"""

import math
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope.core import Campaign, decimal
from rocscope.core.context import nearest
from rocscope.decisions.constraints import Constraint, constraints_of
from rocscope.decisions.segment_costs import ONE, ZERO, ActionCampaign, SegmentUnitCosts, UnitCosts, incremental_costs
from rocscope.errors import InfeasibleError, InputError, RocscopeError
from rocscope.figures.registry import known
from rocscope.segments.levels import SegmentLevels

# Steps whose densities differ by less (relatively) are compared as fractions, because floats may be wrong. The margin
# is wide; a larger value would give the same result and take more time.
_NEAR = 1e-9

# Relative tolerance for rounding errors when the greedy result is compared with bounds.
_ROUNDING = 1e-12

# HiGHS stops at an absolute gap of 1e-6 when it selects campaigns, so costs are scaled to at most about 1.
_MIP_UNIT = 1e6

# Smaller weights of vertices are rounding errors of the linear program.
_LEAST_WEIGHT = 1e-12

# Smaller shares of scores are rounding errors. This value is larger, because shares are differences of two variables.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class SegmentShares:
    """Operating points used in each segment, and the share of the segment's cases to which each point applies.

    Attributes
    ----------
    segment : array of integers
        Index of the segment of each point, in increasing order.
    point : array of integers
        Index of each operating point; −1 means that nobody is predicted positive.
    share : list of Fraction
        Share of the segment's cases to which the point applies. The shares of a segment sum to 1.
    """

    segment: Array
    point: Array
    share: list[Fraction]

    @classmethod
    def of_steps(cls, hulls: SegmentLevels, steps: Array, partial: int, part: Fraction) -> "SegmentShares":
        """Return the shares after taking `steps[g]` hull steps in each segment g.

        In segment `partial`, a share `part` of one more step is taken; −1 means in no segment.
        """
        segment = np.arange(steps.size)
        point = np.where(steps > 0, hulls.start[:-1] + steps - 1, -1)
        share = [ONE] * steps.size
        if partial < 0:
            return cls(segment, point, share)
        share[partial : partial + 1] = [1 - part, part]
        next_point = hulls.start[partial] + steps[partial]
        return cls(np.insert(segment, partial + 1, partial), np.insert(point, partial + 1, next_point), share)

    @classmethod
    def of_weights(cls, weight: Array, segment: Array, nobody: int, depth: Array) -> "SegmentShares":
        """Convert the solution of a linear program, a weight for each point of each segment, into shares.

        The points from index `nobody` on stand for "no case of the segment is positive".
        """
        used = np.flatnonzero(weight > _LEAST_WEIGHT)
        used = used[np.lexsort((depth[used], segment[used]))]
        owner = segment[used]
        relative = weight[used] / np.bincount(owner, weight[used])[owner]
        share = [Fraction(value).limit_denominator(10**15) for value in relative.tolist()]
        # The last point of each segment gets the exact remainder, so that the shares sum to 1.
        ends = np.flatnonzero(np.append(np.diff(owner) > 0, True)).tolist()
        for begin, end in pairwise([-1, *ends]):
            share[end] = ONE - sum(share[begin + 1 : end])
        return cls(owner, np.where(used < nobody, used, -1), share)


# One action, without bounds on segments


class HullSteps(NamedTuple):
    """Number of hull steps taken in each segment.

    Attributes
    ----------
    steps : array of integers
        Number of complete steps, by segment.
    partial : int
        Index of the segment in which part of one more step is taken at random; −1 if there is no such segment.
    part : Fraction
        Share of the cases of this step that are taken.
    marginal : float
        Gain if the capacity or budget is one unit larger.
    """

    steps: NDArray[np.int64]
    partial: int
    part: Fraction
    marginal: float


def greedy_steps(hulls: SegmentLevels, costs: SegmentUnitCosts, limit: Fraction | None) -> HullSteps:
    """Return the number of hull steps to take in each segment: the optimum under the limit over all randomised rules.

    Notes
    -----
    Steps are sorted by density in float64. The few steps close to the limit, or with a gain close to 0, are compared as
    fractions. Of equal steps, the step of the first segment is taken.
    """
    # Positives and negatives of the sample in each step, and the cases of the population that they represent.
    up, right = hulls.steps
    pos, neg, hit, alarm, use = costs.columns(hulls.segment)
    positives, negatives = pos * up, neg * right
    used = use * (positives + negatives)
    density = (hit * positives - alarm * negatives) / used
    density[~costs.may_act[hulls.segment]] = -np.inf
    # The gain of a step whose density lies within ±zero may be due to rounding.
    zero = _NEAR * float(((hit + alarm) / use).max(initial=0))
    gainful = density > zero
    order = np.argsort(-density, kind="stable")
    order = order[density[order] >= -zero]
    falling = density[order]
    if limit is None or not order.size:
        return _take_exactly(hulls, costs, gainful, order[falling <= zero], gainful, None)[0]
    # Steps that are clearly better than the last one within the limit are taken; steps that are clearly worse than the
    # first one beyond it are not. One more step on either side allows for rounding of the running sum.
    end = int(np.searchsorted(np.cumsum(used[order]), float(limit)))
    high = falling[min(max(end - 1, 0), order.size - 1)]
    low = falling[min(end + 1, order.size - 1)]
    certain = density > max(high + _NEAR * abs(high), zero)
    near = (falling >= low - _NEAR * abs(low)) | (falling <= zero)
    steps, complete = _take_exactly(hulls, costs, certain, order[near & ~certain[order]], gainful, limit)
    if complete:
        return steps
    # Rounding led to a wrong end of the limit, so compare all steps as fractions.
    return _take_exactly(hulls, costs, np.zeros(density.size, bool), order, gainful, limit)[0]


def _take_exactly(
    hulls: SegmentLevels,
    costs: SegmentUnitCosts,
    certain: Booleans,
    doubtful: Array,
    gainful: Booleans,
    limit: Fraction | None,
) -> tuple[HullSteps, bool]:
    """Take the certain steps and the best of the doubtful steps; also return True if no better step was missed.

    Parameters
    ----------
    certain : array of booleans
        True for steps that are always taken.
    doubtful : array of integers
        Indices of the steps that are compared as fractions, and taken until the limit is reached.
    gainful : array of booleans
        True for steps with a positive gain. If all doubtful steps fit within the limit, all gainful steps must have
        been taken.
    """
    up, right = hulls.steps
    best, kind, distinct = _best_first(hulls, costs, doubtful)
    end, partial, part, marginal = best.size, -1, ZERO, ZERO
    room = None
    if limit is not None:
        sure = np.flatnonzero(certain)
        room = limit - costs.total(UnitCosts.used, up[sure], right[sure], hulls.segment[sure])
        # Running sums of integers in a common unit are exact and fast.
        unit = math.lcm(*(used.denominator for used, _ in distinct))
        units = [int(used * unit) for used, _ in distinct]
        running = list(accumulate((units[i] for i in kind), initial=0))
        end = max(bisect_right(running, math.floor(room * unit)) - 1, 0)
        room -= Fraction(running[end], unit)
        if end < best.size:
            used, marginal = distinct[kind[end]]
            part = room / used
            partial = int(hulls.segment[best[end]]) if room else -1
    taken = certain.copy()
    taken[best[:end]] = True
    complete = room is None or (room >= 0 and bool(marginal or not np.any(~taken & gainful)))
    steps = np.add.reduceat(taken, hulls.start[:-1], dtype=np.int64)
    return HullSteps(steps, partial, part, nearest(marginal)), complete


def _best_first(
    hulls: SegmentLevels, costs: SegmentUnitCosts, index: Array
) -> tuple[Array, list[int], list[tuple[Fraction, Fraction]]]:
    """Return the steps with a positive gain in decreasing order of density; of equal steps, earlier segments first.

    Returns
    -------
    index : array of integers
        Indices of the sorted steps.
    kind : list of int
        For each step, the index of its kind in `distinct`.
    distinct : list of (use of the limit, density)
        The distinct kinds of steps. If segments are small, many steps are of the same kind, so that few fractions are
        compared.
    """
    up, right = hulls.steps
    keys = right[index], up[index], costs.index[hulls.segment[index]]
    order = np.lexsort(keys)
    changes = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    kind = np.empty(index.size, np.intp)
    kind[order] = np.cumsum(np.append(False, changes))[: index.size]
    distinct = []
    for i in index[order[np.append(True, changes)[: index.size]]].tolist():
        unit = costs.of(int(hulls.segment[i]))
        counts = Fraction(up[i].item()), Fraction(right[i].item())
        used = unit.used(*counts)
        distinct.append((used, unit.gain(*counts) / used))
    densities = sorted({density for _, density in distinct if density > 0}, reverse=True)
    rank_of = {density: rank for rank, density in enumerate(densities)}
    rank = np.array([rank_of.get(density, -1) for _, density in distinct], np.intp)[kind]
    best = np.lexsort((index, rank))[np.count_nonzero(rank < 0) :]
    return index[best], kind[best].tolist(), distinct


# Bounds on differences between segments, and on each segment

RATES = ("tpr", "fpr", "depth")
_FAIRNESS_CRITERIA = {
    "equal_opportunity": ("tpr",),
    "equalized_odds": ("tpr", "fpr"),
    "demographic_parity": ("depth",),
    "selection_rate_parity": ("depth",),
    "true_positive_rate_parity": ("tpr",),
    "false_negative_rate_parity": ("tpr",),
    "false_positive_rate_parity": ("fpr",),
    "true_negative_rate_parity": ("fpr",),
}


def allowed_differences(max_difference: Any) -> dict[str, float]:
    """Return the largest allowed difference of each rate, given a mapping or a name.

    Examples
    --------
    >>> allowed_differences("equalized_odds"), allowed_differences({"selection rate": 0.1})
    ({'tpr': 0.0, 'fpr': 0.0}, {'depth': 0.1})
    """
    if max_difference is None:
        return {}
    if isinstance(max_difference, str):
        max_difference = {max_difference: 0.0}
    if not isinstance(max_difference, Mapping):
        expected = "a mapping such as {'tpr': 0.05}, or a name such as 'equalized_odds'"
        raise InputError("max_difference", expected=expected, got=check.shown(max_difference))
    allowed: dict[str, float] = {}
    for given_name, most in max_difference.items():
        figure = known(str(given_name))
        name = figure.name if figure else str(given_name)
        rates = (name,) if name in RATES else _FAIRNESS_CRITERIA.get(name)
        if rates is None:
            expected = check.one_of(name, [*RATES, *_FAIRNESS_CRITERIA])
            raise InputError("max_difference", expected=expected, got=check.shown(given_name))
        expected = "a difference from 0 to 1"
        if not check.check_number(most, f"max_difference of {given_name}", expected, least=0) <= 1:
            hint = f"write {most / 100:g} for {most:g}%"
            raise InputError(f"max_difference of {given_name}", expected=expected, got=repr(most), hint=hint)
        for rate in rates:
            allowed[rate] = float(min(most, allowed.get(rate, 1.0)))
    return allowed


def rates_of(name: str, levels: SegmentLevels, costs: SegmentUnitCosts, segment: Array, tp: Array, fp: Array) -> Array:
    """Return "tpr", "fpr" or "depth", given counts of segments; NaN if a segment has no cases of the class."""
    n_pos, n_neg = levels.n_pos[segment], levels.n_neg[segment]
    if name == "depth":
        return costs.cases(tp, fp, segment) / costs.cases(n_pos, n_neg, segment)
    counts, total = (tp, n_pos) if name == "tpr" else (fp, n_neg)
    return np.divide(counts, total, out=np.full(np.shape(counts), np.nan), where=total > 0)


class SegmentBound(NamedTuple):
    """A constraint on one segment: up · tp + right · fp ≤ most, with counts tp and fp of the sample."""

    segment: int
    text: str
    up: float
    right: float
    most: float

    def value(self, tp: Array, fp: Array) -> float:
        """Return up · tp + right · fp of the segment, given the expected tp and fp of all segments."""
        return float(self.up * tp[self.segment] + self.right * fp[self.segment])

    def holds(self, tp: Array, fp: Array, tolerance: float = _ROUNDING) -> bool:
        """Return True if the expected tp and fp satisfy the bound, up to a relative tolerance."""
        return self.value(tp, fp) <= self.most + tolerance * max(1.0, abs(self.most))


@dataclass(frozen=True)
class AllocationLimits:
    """The limit of an allocation and the bounds on its segments.

    Attributes
    ----------
    limit : Fraction or None
        The capacity or the budget.
    in_money : bool
        True if the limit is a budget.
    differences : mapping from rate to number
        Largest allowed difference of each rate between segments.
    constraints : mapping from segment to constraints
        Constraints on segments; None means all segments.
    """

    limit: Fraction | None
    in_money: bool
    differences: Mapping[str, float]
    constraints: Mapping[Hashable, tuple[Constraint, ...]]

    @classmethod
    def given(
        cls, context: Any, capacity: float | None, budget: float | None, max_difference: Any, subject_to: Any
    ) -> "AllocationLimits":
        """Return the limits from the arguments of `allocate`, checked; without a capacity, take that of a Campaign."""
        if isinstance(context, Campaign) and context.capacity is not None:
            if capacity is not None:
                got = "capacity= and the Campaign's capacity"
                raise InputError("capacity", expected="one capacity", got=got, hint="omit one of them")
            capacity = context.capacity
        if capacity is not None and budget is not None:
            raise InputError("budget", expected="a capacity or a budget", got="both", hint="omit one of them")
        limit = None
        if capacity is not None:
            limit = decimal(check.check_number(capacity, "capacity", "a number of cases of at least 0", least=0))
        if budget is not None:
            limit = decimal(check.check_number(budget, "budget", "an amount of at least 0", least=0))
        if not isinstance(subject_to, Mapping):
            none = subject_to is None or str(subject_to) == ""
            subject_to = {} if none else {None: subject_to}
        constraints = {name: constraints_of(of_segment) for name, of_segment in subject_to.items()}
        # The capacity of a segment's own campaign is a constraint on this segment.
        for name, own in context.items() if isinstance(context, Mapping) else ():
            if isinstance(own, Campaign) and own.capacity is not None:
                if constraints.get(None):
                    got, hint = str(constraints[None][0]), "a Campaign's capacity applies to its segment"
                    expected = "a mapping from segment to constraints"
                    raise InputError("subject_to", expected=expected, got=got, hint=hint)
                constraints[name] = (*constraints.get(name, ()), Constraint.capacity(own.capacity))
        return cls(limit, budget is not None, allowed_differences(max_difference), constraints)

    @property
    def bounded(self) -> bool:
        """True if there are bounds on segments; the linear program then uses all distinct scores instead of hulls."""
        return bool(self.differences) or any(self.constraints.values())

    @property
    def without_bounds(self) -> "AllocationLimits":
        """The limit alone."""
        return replace(self, differences={}, constraints={})

    @property
    def constraint_texts(self) -> tuple[tuple[Hashable, str], ...]:
        """Pairs of a segment and a constraint as text; the segment None means all segments."""
        texts = []
        for name, constraints in self.constraints.items():
            texts += [(name, str(constraint)) for constraint in constraints]
        return tuple(texts)

    def require_cases(self) -> None:
        """Raise an error for bounds on rates within a class, which are undefined if costs differ between rows."""
        unsuitable = [rate for rate in self.differences if rate != "depth"]
        for constraints in self.constraints.values():
            unsuitable += [str(bound) for bound in constraints if bound.quantity not in ("cases", "depth")]
        if unsuitable:
            expected, hint = "bounds on cases or depth", "other rates are undefined if costs are columns"
            raise InputError("subject_to and max_difference", expected=expected, got=unsuitable[0], hint=hint)

    def segment_bounds(self, levels: SegmentLevels, costs: SegmentUnitCosts) -> list[SegmentBound]:
        """Return the constraints as bounds on the counts of each segment.

        Constraints on tpr do not apply to segments without positives, and constraints on fpr do not apply to segments
        without negatives.
        """
        unknown = [name for name in self.constraints if name is not None and name not in levels.keys]
        if unknown:
            raise InputError("subject_to", expected="segments of the data", got=check.listing(unknown))
        pairs = list[tuple[int, Constraint]]()
        for name, constraints in self.constraints.items():
            segments = levels.keys.values() if name is None else [levels.keys[name]]
            pairs += product(segments, constraints)
        bounds = []
        for segment, constraint in pairs:
            if constraint.figure.needs != "cells":
                expected = "a bound on a rate or a count (such as tpr, precision or cases)"
                raise InputError("subject_to", expected=expected, got=str(constraint))
            if constraint.level is not None:
                # The threshold of a segment depends on all other segments, so a confidence limit would not be valid.
                hint = "omit the confidence level, or call rocscope.choose(subject_to=…) for each segment"
                raise InputError("subject_to", expected="bounds without a level", got=str(constraint), hint=hint)
            # Exact fractions, so that rounding does not break a bound that is met exactly.
            n_pos, n_neg = Fraction(levels.n_pos[segment].item()), Fraction(levels.n_neg[segment].item())
            # The number of cases of the population that the segment's rows represent, and their share of positives.
            unit = costs.of(segment)
            cases = unit.cases(n_pos, n_neg)
            prevalence = unit.pos * n_pos / cases
            if constraint.figure.at_mix(prevalence) is None or constraint.relation in (">", "<"):
                expected = "bounds with >= or <= on a metric that is linear in the counts (such as tpr or depth)"
                raise InputError("subject_to", expected=expected, got=str(constraint))
            line = constraint.straight(prevalence, cases)
            if (line.tpr_weight and not n_pos) or (line.fpr_weight and not n_neg):
                continue
            # Convert weights of rates to weights of counts, by tpr = tp/n_pos and fpr = fp/n_neg.
            up = float(line.tpr_weight / n_pos) if n_pos else 0.0
            right = float(line.fpr_weight / n_neg) if n_neg else 0.0
            bounds.append(SegmentBound(segment, str(constraint), up, right, float(line.most)))
        return bounds


class _LinearProgram:
    """Linear program that minimises a cost under linear inequality constraints, solved by HiGHS.

    For each rate in `limits.differences`, one further variable is the lowest value of this rate over all segments.
    """

    def __init__(self, size: int, limits: AllocationLimits) -> None:
        self.size, self.limits = size, limits
        self.all_variables = size + len(limits.differences)
        self._rows = 0
        self._entries: list[tuple[Array, Array, Array]] = []
        self._most: list[Array] = []

    def at_most(self, column: Array, value: Array, row: Array, most: Any) -> None:
        """Add constraints, given the nonzero entries of their matrix and their upper bounds."""
        self._entries.append((value, row + self._rows, column))
        self._most.append(np.asarray(most, np.float64))
        self._rows += len(most)

    def sum_at_most(self, column: Array, value: Array, most: float) -> None:
        """Add one constraint: the sum of `value` times the variables in `column` is at most `most`."""
        self.at_most(column, value, np.zeros(column.size, np.intp), [most])

    def ordered(self, smaller: Array, larger: Array) -> None:
        """Require that each variable in `smaller` is at most the corresponding variable in `larger`."""
        row = np.arange(smaller.size)
        value = np.repeat([1.0, -1.0], smaller.size)
        self.at_most(np.append(smaller, larger), value, np.append(row, row), np.zeros(smaller.size))

    def limit_differences(
        self, levels: SegmentLevels, costs: SegmentUnitCosts, segment: Array, tp: Array, fp: Array
    ) -> None:
        """Add constraints on rates: in each segment, lowest rate ≤ rate ≤ lowest rate + largest allowed difference."""
        for i, (name, most) in enumerate(self.limits.differences.items()):
            rate = rates_of(name, levels, costs, segment, tp, fp)
            has_rate = np.flatnonzero(~np.isnan(rate))
            owners, owner = np.unique(segment[has_rate], return_inverse=True)
            column = np.append(has_rate, np.full(owners.size, self.size + i))
            row = np.append(owner, np.arange(owners.size))
            value = np.append(rate[has_rate], np.full(owners.size, -1.0))
            self.at_most(column, value, row, np.full(owners.size, most))
            self.at_most(column, -value, row, np.zeros(owners.size))

    def solve(
        self, cost: Array, used: Array, cases: float, bounds: Array, runs: int = 0, **sums: Any
    ) -> tuple[Array, float]:
        """Return the variables with the lowest cost under the limit, and the dual variable of the limit.

        The dual variable is the saving in cost per unit of the limit. It is 0 if some variables are integers: the last
        `runs` variables, which are 1 for the campaigns that are run. Costs and the limit are divided by the total
        number of cases. `bounds` has the lowest and the highest value of each variable. `sums` are equality constraints
        as arguments of linprog.

        Raises
        ------
        InfeasibleError
            If no solution exists. The message names the `constraints` and the smallest limit that satisfies them.
        """
        from scipy.optimize import linprog

        limit, texts = self.limits.limit, [text for _, text in self.limits.constraint_texts]
        rest = np.zeros(len(self.limits.differences))
        others: dict[str, Any] = sums | {"bounds": bounds, "method": "highs"}
        if runs:
            place = np.arange(self.all_variables)
            others |= {"integrality": (place >= self.size - runs) & (place < self.size), "options": {"mip_rel_gap": 0}}
            cost = _MIP_UNIT * cost
        least = None
        if texts:
            least = linprog(np.append(used, rest), **self._upper_bounds(), **others)
        if limit is not None:
            self.sum_at_most(np.arange(used.size), used, float(limit) / cases)
        solution = linprog(np.append(cost, rest), **self._upper_bounds(), **others)
        if solution.x is not None:
            dual = 0.0 if limit is None or runs else -float(solution.ineqlin.marginals[-1])
            return solution.x[: self.size], dual
        if least is None:
            raise RocscopeError("allocation", expected="an optimum of the linear program", got=str(solution.message))
        hint = "no limit suffices" if least.x is None else f"a limit of at least {least.fun * cases:.6g} is needed"
        violated = " and ".join(dict.fromkeys(texts))
        raise InfeasibleError(f"no allocation within the limit satisfies the constraints {violated}", hint=hint)

    def _upper_bounds(self) -> dict[str, Any]:
        """Return the inequality constraints as arguments of linprog."""
        from scipy.sparse import coo_array

        if not self._entries:
            return {}
        value, row, column = (np.concatenate(parts) for parts in zip(*self._entries, strict=True))
        matrix = coo_array((value, (row, column)), shape=(self._rows, self.all_variables))
        return {"A_ub": matrix, "b_ub": np.concatenate(self._most)}


def constrained_shares(
    points: SegmentLevels, costs: SegmentUnitCosts, limits: AllocationLimits, *, choose_runs: bool = False
) -> tuple[SegmentLevels, SegmentShares, tuple[bool, ...], float]:
    """Return the allocation of one action with the lowest cost under a limit and bounds, by a linear program.

    Returns
    -------
    vertices : SegmentLevels
        Vertices of the hulls of all segments.
    shares : SegmentShares
        Share of each segment's cases to which each vertex applies.
    runs : tuple of bool
        True for each campaign that is run. If campaigns are selected, their fixed costs are included in the cost and,
        for a budget, in the use of the limit.
    marginal : float
        Saving if the limit is one unit larger.

    Raises
    ------
    InfeasibleError
        If no allocation satisfies the bounds. The message gives the smallest limit that satisfies them.

    Notes
    -----
    The rates of every mixture of thresholds lie between the upper and the lower hull of the segment, so a mixture of
    vertices has the same rates. The program has a variable for the share of each vertex, including "nobody positive".
    For each bounded rate, one more variable is the lowest rate over all segments. Each campaign that may be run has a
    variable that is 0 or 1. This variable is at least the share of the campaign's cases that are acted on.
    """
    from scipy.sparse import coo_array

    vertices = _hull_vertices(points)
    number, segments = vertices.tp.size, np.arange(vertices.n_pos.size)
    segment = np.append(vertices.segment, segments)
    nobody = np.zeros(segments.size, vertices.tp.dtype)
    tp, fp = np.append(vertices.tp, nobody), np.append(vertices.fp, nobody)
    pos, neg, hit, alarm, use = costs.columns(segment)
    cases = float(costs.total(UnitCosts.cases, vertices.n_pos, vertices.n_neg))
    runs = len(costs.fixed_costs) if choose_runs else 0
    program = _LinearProgram(segment.size + runs, limits)
    order = np.argsort(segment, kind="stable")
    start = segment[order].searchsorted(np.arange(segments.size + 1))
    for bound in limits.segment_bounds(points, costs):
        in_segment = order[start[bound.segment] : start[bound.segment + 1]]
        program.sum_at_most(in_segment, bound.up * tp[in_segment] + bound.right * fp[in_segment], bound.most)
    program.limit_differences(vertices, costs, segment, tp, fp)
    cost = (alarm * neg * fp - hit * pos * tp) / cases
    used = use * (pos * tp + neg * fp) / cases
    # The shares of each segment sum to 1. If its campaign is not run, only the share of "nobody" is above 0.
    entries = np.ones(segment.size), (segment, np.arange(segment.size))
    sums = coo_array(entries, shape=(segments.size, program.all_variables))
    ends = np.tile([0.0, 1.0], (program.all_variables, 1))
    ends[:number, 1] = costs.may_act[vertices.segment]
    if runs:
        column = np.append(np.arange(number), segment.size + costs.index)
        value = np.repeat([1.0, -1.0], [number, segments.size])
        program.at_most(column, value, np.append(vertices.segment, segments), np.zeros(segments.size))
        fixed = np.array([float(amount) for amount in costs.fixed_costs]) / cases
        cost = np.append(cost, fixed / float(costs.largest))
        used = np.append(used, fixed if limits.in_money else 0 * fixed)
    solution, dual = program.solve(cost, used, cases, ends, runs, A_eq=sums, b_eq=np.ones(segments.size))
    weight, chosen = np.split(solution, [segment.size])
    shares = SegmentShares.of_weights(weight, segment, number, tp + fp)
    return vertices, shares, tuple((chosen > 0.5).tolist()) if runs else costs.runs, dual * float(costs.largest)


def _hull_vertices(points: SegmentLevels) -> SegmentLevels:
    """Return the vertices of the upper and the lower hull of each segment, except "nobody positive"."""
    upper, lower = points.upper, points.lower
    segment = np.append(upper.segment, lower.segment)
    # "Everybody" is the last vertex of both hulls and is kept once.
    kept = np.ones(segment.size, bool)
    kept[upper.tp.size - 1 + lower.start[1:]] = False
    order = np.flatnonzero(kept)[np.argsort(segment[kept], kind="stable")]
    sizes = np.bincount(segment[order], minlength=points.n_pos.size)
    columns = {}
    for name in ("threshold", "model", "tp", "fp"):
        columns[name] = np.append(getattr(upper, name), getattr(lower, name))[order]
    return replace(points, start=np.append(0, np.cumsum(sizes)), counted=None, **columns)


# Several actions

ActionCosts = Mapping[Hashable, dict[str, UnitCosts]]
"""For each segment, the unit costs of its actions by name, in increasing order of stakes."""


class Upgrade(NamedTuple):
    """Change of the action for the cases of one hull step.

    The action at position `before` (−1: no action) is replaced by the action at position `after`. `use` is the
    additional use of the capacity or budget, and `density` is the additional gain per unit of `use`.
    """

    segment: int
    step: int
    before: int
    after: int
    use: Fraction
    density: Fraction


class ActionSteps(NamedTuple):
    """Number of hull steps that get each action.

    Attributes
    ----------
    steps : array of integers, actions × segments
        Number of hull steps of the segment that get the action or a later action, in order of stakes.
    partial : Upgrade or None
        Upgrade that only some of the step's cases get, selected at random.
    part : Fraction
        Share of the step's cases that get this upgrade.
    marginal : Fraction
        Gain if the capacity or budget is one unit larger.
    """

    steps: Array
    partial: Upgrade | None
    part: Fraction
    marginal: Fraction

    def shares(self, hulls: SegmentLevels, place: int) -> SegmentShares:
        """Return the points and shares that select the cases for the action at `place` and for later actions."""
        upgrade, segment = self.partial, -1
        if upgrade is not None and upgrade.before < place <= upgrade.after:
            segment = upgrade.segment
        return SegmentShares.of_steps(hulls, self.steps[place], segment, self.part)


def actions_run(campaigns: Sequence[ActionCampaign], costs: ActionCosts) -> Booleans:
    """Return an array, segments × positions of actions, with True if the action's campaign is run in the segment."""
    runs = np.ones((len(costs), len(next(iter(costs.values())))), bool)
    for campaign in campaigns:
        places = campaign.places(costs)
        covered = np.flatnonzero(places >= 0)
        runs[covered, places[covered]] = campaign.runs
    return runs


def greedy_actions(
    hulls: SegmentLevels, costs: ActionCosts, limit: Fraction | None, campaigns: Sequence[ActionCampaign]
) -> ActionSteps:
    """Return the optimal number of hull steps for each action, among all randomised rules.

    Notes
    -----
    For the cases of a step, only actions on the concave hull of gain against use of the limit can be optimal. Upgrades
    between these actions are sorted by density over all segments, and taken until the limit is reached. The result is
    the exact optimum of the linear program (Sinha & Zoltners 1979, Oper. Res. 27:503–515), computed in fractions.
    """
    upgrades, runs = [], actions_run(campaigns, costs)
    for segment, actions in enumerate(costs.values()):
        may_act = runs[segment].tolist()
        for step in range(hulls.start[segment], hulls.start[segment + 1]):
            upgrades += _upgrades(hulls, segment, step, list(actions.values()), may_act)
    upgrades.sort(key=lambda upgrade: (-upgrade.density, upgrade.segment, upgrade.step, upgrade.before))
    steps, room = np.zeros(runs.T.shape, np.int64), limit
    for upgrade in upgrades:
        if room is not None:
            if upgrade.use > room:
                return ActionSteps(steps, upgrade if room else None, room / upgrade.use, upgrade.density)
            room -= upgrade.use
        steps[upgrade.before + 1 : upgrade.after + 1, upgrade.segment] += 1
    return ActionSteps(steps, None, ZERO, ZERO)


def _upgrades(
    hulls: SegmentLevels, segment: int, step: int, actions: list[UnitCosts], may_act: list[bool]
) -> list[Upgrade]:
    """Return the upgrades for the cases of one step, between actions on the concave hull of gain against use."""
    up, right = hulls.steps
    counts = Fraction(up[step].item()), Fraction(right[step].item())
    choices = [(action.used(*counts), action.gain(*counts)) for action in actions]
    upgrades, use, gain, place = [], ZERO, ZERO, -1
    while True:
        # Take the steepest line from the current vertex; of equal lines the longest, then that of the first action.
        better = []
        for i, (used, gained) in enumerate(choices):
            if may_act[i] and gained > gain and used > use:
                better.append(((gained - gain) / (used - use), gained, -i))
        if not better:
            return upgrades
        density, _, negated = max(better)
        upgrades.append(Upgrade(segment, step, place, -negated, choices[-negated][0] - use, density))
        place = -negated
        use, gain = choices[place]


def constrained_action_shares(
    points: SegmentLevels,
    costs: ActionCosts,
    limits: AllocationLimits,
    campaigns: Sequence[ActionCampaign],
    *,
    choose_runs: bool = False,
) -> tuple[list[SegmentShares], tuple[ActionCampaign, ...], float]:
    """Return the allocation of several actions with the lowest cost under a limit and bounds, by a linear program.

    Returns
    -------
    shares : list of SegmentShares
        For each position in the order of actions, the points and shares that select the cases for the action at this
        position and for later actions.
    campaigns : tuple of ActionCampaign
        The campaigns; `runs` is True for each campaign that is run. Their fixed costs are included in the cost and, for
        a budget, in the use of the limit.
    marginal : float
        Saving if the limit is one unit larger.

    Raises
    ------
    InfeasibleError
        If no allocation satisfies the bounds. The message gives the smallest limit that satisfies them.

    Notes
    -----
    The program has one variable for each segment, score and action: the share of the cases with this score that get the
    action or a later action. This share does not decrease with the score, and is at most the share for the previous
    action. Bounds apply to the cases that get any action. Each campaign has a variable that is 1 if the campaign is run
    and 0 otherwise. The number of cases of the campaign is at most its capacity times this variable.
    """
    increments = incremental_costs(list(costs.values()))
    segment, start, levels = points.segment, points.start, np.arange(points.tp.size)
    not_first = np.delete(levels, start[:-1])
    up, right = points.steps
    cases = float(increments[0].total(UnitCosts.cases, points.n_pos, points.n_neg))
    of_actions = levels.size * len(increments)
    program = _LinearProgram(of_actions + len(campaigns), limits)
    cost, used, share = np.zeros((3, program.size))
    for place, increment in enumerate(increments):
        # Gains and losses are in units of `largest`, which differ between increments.
        pos, neg, hit, alarm, use = increment.columns(segment)
        offset = place * levels.size
        own = offset + levels
        share[own] = (pos * up + neg * right) / cases
        cost[own] = float(increment.largest) * (alarm * neg * right - hit * pos * up)
        used[own] = use * share[own]
        program.ordered(offset + not_first, offset + not_first - 1)
        if place:
            program.ordered(own, own - levels.size)
    # Costs are scaled to at most 1, because the tolerances of HiGHS are absolute.
    largest = np.abs(cost).max() or 1.0
    for i, campaign in enumerate(campaigns):
        is_run = of_actions + i
        cost[is_run] = float(campaign.fixed_cost)
        used[is_run] = float(campaign.fixed_cost) / cases if choose_runs and limits.in_money else 0.0
        most = cases if campaign.capacity is None else min(cases, float(campaign.capacity))
        # Cases of the action: those with this action or a later one, minus those with a later one.
        place = campaign.places(costs)[segment]
        column = (place * levels.size + levels)[place >= 0]
        later = column[column + levels.size < of_actions] + levels.size
        columns = np.concatenate([column, later, [is_run]])
        program.sum_at_most(columns, np.concatenate([share[column], -share[later], [-most / cases]]), 0.0)
    for bound in limits.segment_bounds(points, increments[0]):
        column = np.arange(start[bound.segment], start[bound.segment + 1])
        program.sum_at_most(column, bound.up * up[column] + bound.right * right[column], bound.most)
    program.limit_differences(points, increments[0], segment, up, right)
    ends = np.tile([0.0, 1.0], (program.all_variables, 1))
    runs = slice(of_actions, program.size)
    if choose_runs:
        ends[runs, 0] = [not campaign.fixed_cost for campaign in campaigns]
    else:
        ends[runs] = [[campaign.runs] * 2 for campaign in campaigns] or ends[runs]
    solution, dual = program.solve(cost / largest, used, cases, ends, len(campaigns) if choose_runs else 0)
    all_reached = solution[:of_actions].reshape(len(increments), levels.size)
    chosen = (solution[runs] > 0.5).tolist()
    campaigns = tuple(replace(campaign, runs=run) for campaign, run in zip(campaigns, chosen, strict=True))
    may_act = actions_run(campaigns, costs)[segment].T
    shares, next_place = [], np.zeros(levels.size)
    for reached, may in zip(all_reached[::-1], may_act[::-1], strict=True):
        # Remove rounding errors: nobody gets an action that is not run.
        next_place = np.where(may, reached, next_place)
        shares.append(_shares_reached(points, next_place))
    return shares[::-1], campaigns, dual * float(largest) / cases


def _shares_reached(points: SegmentLevels, reached: Array) -> SegmentShares:
    """Return the points and shares of each segment, given the share of cases acted on at each score."""
    # A point gets the difference between the share acted on at its score and at the next lower score. "Nobody", one
    # more point for each segment after all scores, gets 1 minus the share at the highest score.
    next_reached = np.append(reached[1:], 0.0)
    next_reached[points.start[1:] - 1] = 0.0
    weight = np.append(reached - next_reached, 1 - reached[points.start[:-1]])
    weight[weight <= _LEAST_SHARE] = 0.0
    segments = np.arange(points.n_pos.size)
    depth = np.append(points.tp + points.fp, np.zeros(segments.size))
    owner = np.append(points.segment, segments)
    return SegmentShares.of_weights(weight, owner, nobody=reached.size, depth=depth)
