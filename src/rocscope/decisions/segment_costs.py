"""Costs and gains of acting on the cases of each segment, as exact fractions.

An allocation acts on some cases of each segment, that is, predicts them positive. Relative to leaving everybody, acting
on tp positives and fp negatives of the sample gains

    hit · pos · tp − alarm · neg · fp

where hit = cost_fn − cost_tp and alarm = cost_fp − cost_tn are the stakes of a case. One positive and one negative of
the sample represent pos and neg cases of the population. Each is N/n for a population of N; at a target prevalence π
they are πN/n_pos and (1 − π)N/n_neg. Each case acted on uses one unit of a capacity, or its unit cost
of a budget. `GivenCosts` computes these `UnitCosts` from one Context or Campaign, or from one for each segment.

Costs by row (`RowAmounts`): acting on a row gains g, which lies between −a and h in all rows. The row is counted as the
share (g + a)/(h + a) of a positive that gains h, plus the remaining share of a negative that loses a. Its gain is then
unchanged, and it is still one case. Each row is therefore used twice, with weights g + a and h − g, and all further
computations use counts.

Several actions: in each segment, actions are ordered by their stakes, hit + alarm. The higher the share of positives,
the larger the gain of an action with large stakes, so the cases with the highest scores get the last action.
`incremental_costs` returns the differences of each action from the previous one.
"""

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.json_format import Fields
from rocscope.core import Campaign, Context, Predictions, decimal
from rocscope.core.context import PARTS, costs_of_rows
from rocscope.errors import InputError, OneClassError
from rocscope.segments.levels import SegmentLevels

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class UnitCosts:
    """Costs, gains and use of the limit for the cases of a segment.

    Attributes
    ----------
    pos, neg : Fraction
        Number of cases that one positive, and one negative, of the sample represents.
    hit, alarm : Fraction
        Gain of a true positive, and loss of a false positive, relative to leaving the case.
    miss, rest : Fraction
        Cost of not acting on a positive, and of not acting on a negative.
    use : Fraction
        Amount of the capacity or budget used by acting on one case.
    """

    pos: Fraction
    neg: Fraction
    hit: Fraction
    alarm: Fraction
    miss: Fraction
    rest: Fraction
    use: Fraction = ONE

    def gain(self, tp: Any, fp: Any) -> Fraction:
        """Return the saving from positive predictions with these counts, relative to no positive prediction."""
        return self.hit * self.pos * tp - self.alarm * self.neg * fp

    def plus(self, change: "UnitCosts") -> "UnitCosts":
        """Return these costs plus the changes due to another action; see `incremental_costs`."""
        hit, alarm, use = self.hit + change.hit, self.alarm + change.alarm, self.use + change.use
        return replace(self, hit=hit, alarm=alarm, use=use)

    def used(self, tp: Any, fp: Any) -> Fraction:
        """Return the amount of the limit used by positive predictions with these counts."""
        return self.use * self.cases(tp, fp)

    def cases(self, tp: Any, fp: Any) -> Fraction:
        """Return the number of cases of the population that counts of the sample represent."""
        return self.pos * tp + self.neg * fp

    def cost_of_leaving(self, n_pos: Any, n_neg: Any) -> Fraction:
        """Return the cost of predicting nobody positive."""
        return self.pos * self.miss * n_pos + self.neg * self.rest * n_neg


@dataclass(frozen=True, eq=False)
class SegmentUnitCosts:
    """Unit costs of all segments: segment g has `distinct[index[g]]`.

    Attributes
    ----------
    distinct : sequence of UnitCosts
    index : array of n_segments
    fixed_costs : sequence of Fraction
        Fixed cost of each campaign, in the order of `distinct`; empty by default.
    runs : tuple of bool
        True for each campaign that is run, so that its fixed cost is paid; empty if campaigns are not selected.
    """

    distinct: Sequence[UnitCosts]
    index: Indices
    fixed_costs: Sequence[Fraction] = ()
    runs: tuple[bool, ...] = ()

    @property
    def fixed(self) -> Fraction:
        """Total fixed cost of the campaigns that are run."""
        return sum(itertools.compress(self.fixed_costs, self.runs or [True] * len(self.fixed_costs)), ZERO)

    @property
    def may_act(self) -> Booleans:
        """True for each segment whose campaign is run."""
        return np.array(self.runs or [True] * len(self.distinct), bool)[self.index]

    @cached_property
    def largest(self) -> Fraction:
        """Largest absolute gain or loss, used as the unit that keeps floats in range."""
        return max(max(abs(costs.hit), abs(costs.alarm)) for costs in self.distinct) or ONE

    def column(self, name: str, segment: Array) -> Array:
        """Return a field of the unit costs of segments as floats; gains and losses are in units of `largest`."""
        unit = self.largest if name in ("hit", "alarm") else ONE
        values = [float(getattr(costs, name) / unit) for costs in self.distinct]
        return np.array(values)[self.index[segment]]

    def columns(self, segment: Array) -> list[Array]:
        """Return pos, neg, hit, alarm and use of segments; see `column`."""
        return [self.column(name, segment) for name in ("pos", "neg", "hit", "alarm", "use")]

    def of(self, segment: int) -> UnitCosts:
        """Return the unit costs of a segment."""
        return self.distinct[self.index[segment]]

    def total(
        self, amount: Callable[[UnitCosts, Any, Any], Fraction], segment: Array, tp: Array, fp: Array
    ) -> Fraction:
        """Return the exact sum over segments of an amount, such as `UnitCosts.gain`, for counts by segment."""
        index = self.index[segment]
        positives = _exact_sums(tp, index, len(self.distinct))
        negatives = _exact_sums(fp, index, len(self.distinct))
        terms = [amount(*counts) for counts in zip(self.distinct, positives, negatives, strict=True)]
        # Terms are added in pairs, because a running sum of many fractions gets a very large denominator.
        while len(terms) > 1:
            terms = [sum(terms[i : i + 2], ZERO) for i in range(0, len(terms), 2)]
        return terms[0]


def _exact_sums(counts: Array, index: Array, size: int) -> list[Any]:
    """Return exact sums of counts by index; weights are summed as fractions, because float sums are rounded."""
    if counts.dtype.kind == "f":
        return [Fraction(total) for total in np.bincount(index, counts, size).tolist()]
    sums = np.zeros(size, np.int64)
    np.add.at(sums, index, counts)
    return sums.tolist()


@dataclass(frozen=True)
class GivenCosts:
    """Costs as passed by the user: one context for all segments, or one for each segment.

    Attributes
    ----------
    context : Context, Campaign, mapping from segment to one, or None
    population : float or None
        Number of cases in all segments; by default the sample's.
    """

    context: Any
    population: float | None

    @cached_property
    def campaigns(self) -> list[Campaign]:
        """The contexts that are campaigns."""
        contexts = self.context.values() if isinstance(self.context, Mapping) else [self.context]
        return [context for context in contexts if isinstance(context, Campaign)]

    def by_segment(self, levels: SegmentLevels, *, budget: bool) -> SegmentUnitCosts:
        """Return the unit costs of segments; a case uses 1 of a capacity, or its campaign's unit cost of a budget."""
        if budget and not (self.campaigns and all(campaign.unit_cost > 0 for campaign in self.campaigns)):
            hint = "pass capacity= if there are no unit costs"
            raise InputError("budget", expected="campaigns with a unit cost above 0", got="none", hint=hint)
        if self.population is not None and self.campaigns:
            raise InputError("population", expected="none with a Campaign, which has a population", got="one")
        n_pos, n_neg = _exact_total(levels.n_pos), _exact_total(levels.n_neg)
        cases_per_row = ONE if self.population is None else decimal(self.population) / (n_pos + n_neg)
        if not isinstance(self.context, Mapping):
            costs, fixed = _unit_costs(self.context, n_pos, n_neg, cases_per_row, budget=budget)
            return SegmentUnitCosts([costs], np.zeros(levels.n_pos.size, np.intp), *_choosable([fixed]))
        distinct, all_fixed = [], []
        for name, segment in levels.keys.items():
            if name not in self.context:
                expected = f"one for each segment, including {name!r}"
                raise InputError("context", expected=expected, got=f"{len(self.context)}")
            n_pos, n_neg = _exact_total(levels.n_pos[segment]), _exact_total(levels.n_neg[segment])
            costs, fixed = _unit_costs(self.context[name], n_pos, n_neg, cases_per_row, budget=budget)
            distinct.append(costs)
            all_fixed.append(fixed)
        return SegmentUnitCosts(distinct, np.arange(levels.n_pos.size), *_choosable(all_fixed))

    def limit(self, capacity: float | None, budget: float | None) -> Fraction | None:
        """Return the limit in cases, or in money before fixed costs; None without a limit."""
        if isinstance(self.context, Campaign):
            if capacity is not None and self.context.capacity is not None:
                raise InputError("capacity", expected="one for all segments", got="one of a campaign too")
            capacity = self.context.capacity if capacity is None else capacity
        if capacity is not None and budget is not None:
            raise InputError("budget", expected="none with a capacity", got="both")
        if capacity is not None:
            return decimal(check.check_number(capacity, "capacity", "a number of cases of at least 0", least=0))
        if budget is None:
            return None
        return decimal(check.check_number(budget, "budget", "an amount of at least 0", least=0))

    @property
    def capacities(self) -> dict[Hashable, float]:
        """The capacity of each segment whose own campaign has a capacity."""
        contexts = self.context if isinstance(self.context, Mapping) else {}
        own = {name: getattr(context, "capacity", None) for name, context in contexts.items()}
        return {name: capacity for name, capacity in own.items() if capacity is not None}


def _choosable(fixed_costs: list[Fraction]) -> tuple[list[Fraction], tuple[bool, ...]]:
    """Return the fixed costs, and True for each campaign: all are run until campaigns are selected."""
    return (fixed_costs, (True,) * len(fixed_costs)) if any(fixed_costs) else ([], ())


def _unit_costs(
    given: Any, n_pos: Fraction, n_neg: Fraction, cases_per_row: Fraction, *, budget: bool
) -> tuple[UnitCosts, Fraction]:
    """Return the unit costs in a context for a sample of positives and negatives, and the fixed cost."""
    n = n_pos + n_neg
    context, population, use, fixed = context_of(given), n * cases_per_row, ONE, ZERO
    if isinstance(given, Campaign):
        population = decimal(given.population)
        fixed = decimal(given.fixed_cost)
        if budget:
            use = decimal(given.unit_cost)
    if context.target_prevalence is None:
        pos = neg = population / n
    elif n_pos and n_neg:
        prevalence = decimal(context.target_prevalence)
        pos, neg = prevalence * population / n_pos, (1 - prevalence) * population / n_neg
    else:
        raise OneClassError("allocation at a target prevalence", expected="both classes", got="one")
    hit, alarm = context.miss_cost, context.false_alarm_cost
    # A step with a share p of positives gains (hit + alarm) · p − alarm per case. Along a hull p decreases. The greedy
    # order needs a decreasing gain, so hit + alarm must be at least 0.
    if alarm < 0 or hit + alarm < 0:
        hint = "check the signs of the costs (gains are negative)"
        raise InputError("context", expected="false alarms that cost something", got=repr(context), hint=hint)
    miss, rest = decimal(context.costs["fn"]), decimal(context.costs["tn"])
    return UnitCosts(pos, neg, hit, alarm, miss, rest, use), fixed


def _exact_total(counts: Any) -> Fraction:
    return Fraction(np.sum(counts).item())


def context_of(given: Any) -> Context:
    """Return the Context of a context or campaign."""
    return given.context if isinstance(given, Campaign) else Context.given(given)


def columns_of(given: Any) -> tuple[str, ...]:
    """Return the columns that a context or campaign names."""
    if given is None:
        return ()
    return given.columns if isinstance(given, Context) else context_of(given).columns


# Costs that differ from row to row


@dataclass(frozen=True)
class RowAmounts:
    """Gains of acting on rows, if they differ between rows.

    Attributes
    ----------
    given : Context or Campaign
        Costs or benefit, some of them names of columns.
    hit, alarm : float
        Largest gain of acting on a row, and largest loss, in ten-thousandths.
    left : float
        Mean cost of leaving a row; 0 for a campaign.
    rows : float
        Number of rows, or the sum of their weights.
    """

    given: Context | Campaign
    hit: float
    alarm: float
    left: float
    rows: float

    @classmethod
    def of(cls, data: Any, given: Any) -> "RowAmounts | None":
        """Return the amounts of rows; None if costs are the same in every row.

        Raises
        ------
        InputError
            If columns are named for data other than rows, or together with a target prevalence.
        """
        contexts = list(given.values()) if isinstance(given, dict) else [given]
        if not any(columns_of(context) for context in contexts):
            return None
        if isinstance(given, dict):
            expected = "one for all segments, because costs are columns"
            raise InputError("context", expected=expected, got=f"{len(contexts)}")
        if not isinstance(data, Predictions):
            raise InputError("segments", expected="Predictions with segments, because costs are columns", got="counts")
        if context_of(given).target_prevalence is not None:
            raise InputError("context", expected="no target prevalence, because costs are columns", got=repr(given))
        weight = np.ones(len(data)) if data.sample_weight is None else data.sample_weight
        rows = float(weight.sum())
        gain, idle = cls(given, 0.0, 0.0, 0.0, rows).gain_and_idle(data.y_true, data.columns)
        hit, alarm = float(gain.max()), max(-float(gain.min()), 0.0)
        if isinstance(given, Campaign):
            alarm = max(alarm, float(np.rint(given.unit_cost * PARTS)))
            left = 0.0
        else:
            left = float(weight @ idle / rows / PARTS)
        # If all rows lose the same amount, the range of gains is a single value, which is replaced by a wider range.
        if hit + alarm <= 0:
            hit += PARTS
            if not isinstance(given, Campaign):
                alarm += PARTS
        return cls(given, hit, alarm, left, rows)

    def gain_and_idle(self, positive: Array, columns: Mapping[str, Array]) -> tuple[Array, Array]:
        """Return the gain of acting on each row and the cost of leaving it, in ten-thousandths."""
        acted, idle = costs_of_rows(positive, context_of(self.given), columns, whole=True)
        return idle - acted, idle

    @property
    def is_campaign(self) -> bool:
        """True for a campaign, in which not contacting a customer costs nothing."""
        return isinstance(self.given, Campaign)

    @cached_property
    def uniform_costs(self) -> Context | Campaign:
        """The costs for the rows of `doubled`, which are the same in every row."""
        hit, alarm = self.hit / PARTS, self.alarm / PARTS
        if isinstance(self.given, Campaign):
            return replace(self.given, unit_benefit=(self.hit + self.alarm) / PARTS)
        left = self.left
        return Context(cost_fp=left + alarm, cost_fn=left, cost_tp=left - hit, cost_tn=left)

    def doubled(self, rows: Predictions) -> Predictions:
        """Return each row twice, as a positive and as a negative, with its weight divided between them."""
        gain, _ = self.gain_and_idle(rows.y_true, rows.columns)
        weight = 1.0 if rows.sample_weight is None else rows.sample_weight
        weights = np.concatenate([weight * (gain + self.alarm), weight * (self.hit - gain)])
        scores = {model: np.concatenate([score, score]) for model, score in rows.scores.items()}
        segment = None if rows.segment is None else np.concatenate([rows.segment, rows.segment])
        label = np.repeat([True, False], len(rows))
        return Predictions(label, scores, sample_weight=weights, segment=segment)

    def stored(self) -> dict[str, Any]:
        """Return the amounts as content of a file."""
        kind = "campaign" if self.is_campaign else "context"
        return {kind: asdict(self.given), "hit": self.hit, "alarm": self.alarm, "left": self.left, "rows": self.rows}

    @classmethod
    def read(cls, fields: Fields) -> "RowAmounts":
        """Read amounts from the fields of a file."""
        kind = "campaign" if "campaign" in fields.content else "context"
        costs = fields.take(kind, dict, "costs, some of them columns")
        given: Any = fields.make(kind, Campaign if kind == "campaign" else Context, **costs)
        if not columns_of(given):
            fields.refuse(kind, "costs, some of them columns")
        return cls(given, *(fields.number(name) for name in ("hit", "alarm", "left", "rows")))


# Costs of several actions


@dataclass(frozen=True)
class ActionCampaign:
    """A campaign of one action, with its own fixed cost or capacity.

    Attributes
    ----------
    action : str
    segment : Hashable
        The segment of the campaign; None for all segments.
    fixed_cost : Fraction
    capacity : Fraction or None
    runs : bool
        True if the campaign is run, so that its fixed cost is paid.
    """

    action: str
    segment: Hashable
    fixed_cost: Fraction
    capacity: Fraction | None
    runs: bool = True

    @property
    def label(self) -> str:
        """Name in texts."""
        return self.action if self.segment is None else f"{self.action} in {self.segment}"

    def places(self, actions: Mapping[Hashable, Iterable[str]]) -> Indices:
        """Return the position of the action in the order of each segment; −1 in segments without this campaign."""
        places = np.full(len(actions), -1)
        for i, (segment, order) in enumerate(actions.items()):
            if self.segment is None or self.segment == segment:
                places[i] = list(order).index(self.action)
        return places


def costs_by_action(
    actions: Any, levels: SegmentLevels, population: float | None, *, budget: bool
) -> tuple[list[dict[str, UnitCosts]], tuple[ActionCampaign, ...]]:
    """Return the unit costs of each action in each segment, in increasing order of stakes, and the campaigns.

    Only campaigns with a fixed cost or a capacity are returned, because the others are always run.

    Raises
    ------
    InputError
        If actions differ in the cost of leaving a case, in the population or in its class mix.
    """
    if not isinstance(actions, Mapping) or not actions or not all(isinstance(name, str) and name for name in actions):
        expected = "a mapping from the name of each action to its Campaign or Context, or to one for each segment"
        raise InputError("actions", expected=expected, got=check.shown(actions))
    costs, campaigns = {}, list[ActionCampaign]()
    for name, context in actions.items():
        given = GivenCosts(context, population)
        costs[name] = given.by_segment(levels, budget=budget)
        for segment, campaign in (context if isinstance(context, Mapping) else {None: context}).items():
            capacity, fixed = getattr(campaign, "capacity", None), getattr(campaign, "fixed_cost", 0)
            if (segment is None or segment in levels.keys) and (fixed or capacity is not None):
                exact = None if capacity is None else decimal(capacity)
                campaigns.append(ActionCampaign(name, segment, decimal(fixed), exact))
    ordered = []
    for segment in range(levels.n_pos.size):
        in_segment = [(name, of_segments.of(segment)) for name, of_segments in costs.items()]
        if len({(unit.pos, unit.neg, unit.miss, unit.rest) for _, unit in in_segment}) > 1:
            expected = "the same population, prevalence and cost of not acting for all actions"
            raise InputError("actions", expected=expected, got="different ones")
        in_segment.sort(key=lambda action: action[1].hit + action[1].alarm)
        ordered.append(dict(in_segment))
    return ordered, tuple(campaigns)


def incremental_costs(costs: list[dict[str, UnitCosts]]) -> list[SegmentUnitCosts]:
    """Return, for each position in the order of actions, the costs of its action minus those of the previous one."""
    increments = []
    for place in range(len(costs[0])):
        by_segment = []
        for actions in costs:
            ordered = list(actions.values())
            unit = ordered[place]
            if place:
                before = ordered[place - 1]
                hit, alarm, use = unit.hit - before.hit, unit.alarm - before.alarm, unit.use - before.use
                unit = UnitCosts(unit.pos, unit.neg, hit, alarm, ZERO, ZERO, use)
            by_segment.append(unit)
        increments.append(SegmentUnitCosts(by_segment, np.arange(len(costs))))
    return increments


def cumulative_costs(
    increments: Sequence[SegmentUnitCosts], actions: Iterable[Sequence[str]]
) -> list[dict[str, UnitCosts]]:
    """Return the unit costs of the actions of each segment by name; the inverse of `incremental_costs`."""
    by_segment = []
    for segment, names in enumerate(actions):
        costs = itertools.accumulate((increment.of(segment) for increment in increments), UnitCosts.plus)
        by_segment.append(dict(zip(names, costs, strict=True)))
    return by_segment
