"""Costs and gains of acting on the cases of each segment, as exact fractions.

To act on a case is to predict it positive. If an allocation acts on tp positives and fp negatives of a segment's
sample, its gain relative to acting on nobody is

    hit · pos · tp − alarm · neg · fp

Here hit = cost_fn − cost_tp is the gain from acting on a positive, and alarm = cost_fp − cost_tn is the loss from
acting on a negative. One positive of the sample represents pos cases of the population, and one negative represents neg
cases. For a population of N and a sample of n cases, both are N/n. With a target prevalence π, pos = πN/n_pos and neg =
(1 − π)N/n_neg. Each case acted on uses one unit of a capacity, or the unit cost of the campaign from a budget.
`costs_by_segment` computes these `UnitCosts` from one Context or Campaign for all segments, or from a mapping by
segment.

Costs by row (`RowAmounts`): let g be the gain from acting on a row, with −a ≤ g ≤ h for all rows. The row is replaced
by a positive with gain h and weight (g + a)/(h + a), and a negative with loss a and the remaining weight. The total
weight is 1 and the total gain is g. Each row is therefore used twice, with weights proportional to g + a and h − g. All
further computations use counts of these weighted rows.

Several actions: in each segment, actions are sorted by their stakes, hit + alarm. The gain from an action with higher
stakes grows faster with the share of positives, so the cases with the highest scores get the last action.
`incremental_costs` returns the costs of each action minus the costs of the previous action.
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
EVERY = slice(None)
"""Index of all segments."""


@dataclass(frozen=True)
class UnitCosts:
    """Costs, gains and use of the capacity or budget for one case of a segment.

    Attributes
    ----------
    pos, neg : Fraction
        Number of cases of the population represented by one positive (`pos`) or one negative (`neg`) of the sample.
    hit, alarm : Fraction
        Gain from acting on a positive, and loss from acting on a negative, relative to not acting.
    miss, rest : Fraction
        Cost of not acting on a positive, and of not acting on a negative.
    use : Fraction
        Amount of the capacity or budget that acting on one case uses.
    """

    pos: Fraction
    neg: Fraction
    hit: Fraction
    alarm: Fraction
    miss: Fraction
    rest: Fraction
    use: Fraction = ONE

    def gain(self, tp: Any, fp: Any) -> Fraction:
        """Return the gain from acting on tp positives and fp negatives of the sample, relative to acting on nobody."""
        return self.hit * self.pos * tp - self.alarm * self.neg * fp

    def plus(self, change: "UnitCosts") -> "UnitCosts":
        """Return the costs of the next action: these costs plus the changes to the next action.

        See `incremental_costs`.
        """
        hit, alarm, use = self.hit + change.hit, self.alarm + change.alarm, self.use + change.use
        return replace(self, hit=hit, alarm=alarm, use=use)

    def minus(self, before: "UnitCosts") -> "UnitCosts":
        """Return the changes from the costs of the previous action to these costs; the inverse of `plus`."""
        hit, alarm, use = self.hit - before.hit, self.alarm - before.alarm, self.use - before.use
        return UnitCosts(self.pos, self.neg, hit, alarm, ZERO, ZERO, use)

    def used(self, tp: Any, fp: Any) -> Fraction:
        """Return the amount of the limit that acting on tp positives and fp negatives of the sample uses."""
        return self.use * self.cases(tp, fp)

    def cases(self, tp: Any, fp: Any) -> Fraction:
        """Return the number of cases of the population that tp positives and fp negatives of the sample represent."""
        return self.pos * tp + self.neg * fp

    def cost_of_leaving(self, n_pos: Any, n_neg: Any) -> Fraction:
        """Return the cost of not acting on n_pos positives and n_neg negatives of the sample."""
        return self.pos * self.miss * n_pos + self.neg * self.rest * n_neg


@dataclass(frozen=True, eq=False)
class SegmentUnitCosts:
    """Unit costs of all segments.

    Attributes
    ----------
    distinct : sequence of UnitCosts
        The distinct unit costs; several segments may have equal unit costs.
    index : array of n_segments integers
        Segment g has the unit costs `distinct[index[g]]`.
    fixed_costs : sequence of Fraction
        Fixed cost of each campaign, in the order of `distinct`; empty by default.
    runs : tuple of bool
        True for each campaign that is run and whose fixed cost is paid; empty if all campaigns are run.
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
        """Largest absolute gain or loss. Gains and losses are divided by it, which avoids overflow of floats."""
        return max(max(abs(costs.hit), abs(costs.alarm)) for costs in self.distinct) or ONE

    def column(self, name: str, segment: Array | slice = EVERY) -> Array:
        """Return one field of the unit costs as an array with one float per segment; by default, for all segments.

        The fields `hit` and `alarm` are in units of `largest`.
        """
        unit = self.largest if name in ("hit", "alarm") else ONE
        values = [float(getattr(costs, name) / unit) for costs in self.distinct]
        return np.array(values)[self.index[segment]]

    def columns(self, segment: Array | slice = EVERY) -> list[Array]:
        """Return the fields pos, neg, hit, alarm and use as arrays with one value per segment; see `column`."""
        return [self.column(name, segment) for name in ("pos", "neg", "hit", "alarm", "use")]

    def cases(self, tp: Array, fp: Array, segment: Array | slice = EVERY) -> Array:
        """Return the number of cases of the population that tp positives and fp negatives of each segment represent."""
        return self.column("pos", segment) * tp + self.column("neg", segment) * fp

    def of(self, segment: int) -> UnitCosts:
        """Return the unit costs of a segment."""
        return self.distinct[self.index[segment]]

    def total(
        self, amount: Callable[[UnitCosts, Any, Any], Fraction], tp: Array, fp: Array, segment: Array | slice = EVERY
    ) -> Fraction:
        """Return the exact sum of an amount, such as `UnitCosts.gain`, over segments with given counts."""
        index = self.index[segment]
        positives = _exact_sums(tp, index, len(self.distinct))
        negatives = _exact_sums(fp, index, len(self.distinct))
        terms = [amount(*counts) for counts in zip(self.distinct, positives, negatives, strict=True)]
        # Terms are added in pairs, because a running sum of many fractions gets a very large denominator.
        while len(terms) > 1:
            terms = [sum(terms[i : i + 2], ZERO) for i in range(0, len(terms), 2)]
        return terms[0]


def _exact_sums(counts: Array, index: Array, size: int) -> list[Any]:
    """Return sums of counts by index.

    Sums of whole counts are exact integers; sums of weights are converted to fractions.
    """
    if counts.dtype.kind == "f":
        return [Fraction(total) for total in np.bincount(index, counts, size).tolist()]
    sums = np.zeros(size, np.int64)
    np.add.at(sums, index, counts)
    return sums.tolist()


def campaigns_of(given: Any) -> list[Campaign]:
    """Return the campaigns among contexts, given one context or a mapping from segment to context."""
    contexts = given.values() if isinstance(given, Mapping) else [given]
    return [context for context in contexts if isinstance(context, Campaign)]


def costs_by_segment(given: Any, levels: SegmentLevels, population: float | None, *, budget: bool) -> SegmentUnitCosts:
    """Return the unit costs of all segments.

    Acting on a case uses 1 unit of a capacity, or the unit cost of its campaign from a budget.

    Parameters
    ----------
    given : Context, Campaign, mapping from segment to Context or Campaign, or None
        Costs and prevalence; None means equal costs.
    levels : SegmentLevels
        Counts of the segments.
    population : float or None
        Total number of cases in all segments. By default, the number of cases in the sample.
    budget : bool
        True if the limit is a budget.
    """
    campaigns = campaigns_of(given)
    if budget and not (campaigns and all(campaign.unit_cost > 0 for campaign in campaigns)):
        hint = "pass capacity instead of budget"
        got = "a context without a unit cost"
        raise InputError("budget", expected="campaigns with a unit cost above 0", got=got, hint=hint)
    if population is not None and campaigns:
        hint = "omit population, because a Campaign has its own"
        raise InputError("population", expected="a population or a Campaign", got="both", hint=hint)
    n_pos, n_neg = _exact_total(levels.n_pos), _exact_total(levels.n_neg)
    cases_per_row = ONE if population is None else decimal(population) / (n_pos + n_neg)
    contexts, index = [(given, n_pos, n_neg)], np.zeros(levels.n_pos.size, np.intp)
    if isinstance(given, Mapping):
        contexts, index = [], np.arange(levels.n_pos.size)
        for name, segment in levels.keys.items():
            if name not in given:
                got = f"a mapping with {check.listing(list(given))}"
                raise InputError("context", expected=f"a mapping with the segment {name!r}", got=got)
            counts = _exact_total(levels.n_pos[segment]), _exact_total(levels.n_neg[segment])
            contexts.append((given[name], *counts))
    costs = [_unit_costs(*of_context, cases_per_row, budget=budget) for of_context in contexts]
    units, fixed_costs = zip(*costs, strict=True)
    if not any(fixed_costs):  # then all campaigns are run
        return SegmentUnitCosts(units, index)
    return SegmentUnitCosts(units, index, fixed_costs, (True,) * len(units))


def _unit_costs(
    given: Any, n_pos: Fraction, n_neg: Fraction, cases_per_row: Fraction, *, budget: bool
) -> tuple[UnitCosts, Fraction]:
    """Return the unit costs and the fixed cost in a context, for a sample of n_pos positives and n_neg negatives."""
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
        raise OneClassError("allocation at a target prevalence", expected="both classes", got="only one class")
    hit, alarm = context.miss_cost, context.false_alarm_cost
    # A step with a share p of positives gains (hit + alarm) · p − alarm per case. Along a hull p decreases. The greedy
    # order needs a decreasing gain, so hit + alarm must be at least 0.
    if alarm < 0 or hit + alarm < 0:
        hint = "check the signs of the costs (gains are negative)"
        raise InputError("context", expected="a context with costly false positives", got=repr(context), hint=hint)
    miss, rest = decimal(context.costs["fn"]), decimal(context.costs["tn"])
    return UnitCosts(pos, neg, hit, alarm, miss, rest, use), fixed


def _exact_total(counts: Any) -> Fraction:
    return Fraction(np.sum(counts).item())


def context_of(given: Any) -> Context:
    """Return the Context of a Campaign; return a Context unchanged."""
    return given.context if isinstance(given, Campaign) else Context.given(given)


def columns_of(given: Any) -> tuple[str, ...]:
    """Return the names of the columns that a Context or Campaign uses as costs."""
    return context_of(given).columns


# Costs that differ from row to row


@dataclass(frozen=True)
class RowAmounts:
    """Gains from acting on rows, if costs differ between rows.

    Attributes
    ----------
    given : Context or Campaign
        Costs or benefits; at least one of them is the name of a column.
    hit, alarm : float
        Largest gain and largest loss from acting on a row, in units of 0.0001.
    left : float
        Mean cost of not acting on a row; 0 for a campaign.
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
        """Return the `RowAmounts` of rows; None if costs are equal in all rows.

        Raises
        ------
        InputError
            If costs are column names and the data are counts. Also if the context has a target prevalence.
        """
        contexts = list(given.values()) if isinstance(given, dict) else [given]
        if not any(columns_of(context) for context in contexts):
            return None
        if isinstance(given, dict):
            hint = "a mapping by segment needs costs as numbers"
            raise InputError("context", expected="one Context or Campaign", got="a mapping", hint=hint)
        if not isinstance(data, Predictions):
            hint = "pass Predictions, because counts do not contain the cost columns"
            raise InputError("segments", expected="Predictions with segments", got="counts", hint=hint)
        if context_of(given).target_prevalence is not None:
            hint = "omit target_prevalence, because costs are columns"
            raise InputError("context", expected="a context without target_prevalence", got=repr(given), hint=hint)
        weight = np.ones(len(data)) if data.sample_weight is None else data.sample_weight
        rows = float(weight.sum())
        gain, idle = cls(given, 0.0, 0.0, 0.0, rows).gain_and_idle(data.y_true, data.columns)
        hit, alarm = float(gain.max()), max(-float(gain.min()), 0.0)
        if isinstance(given, Campaign):
            alarm = max(alarm, float(np.rint(given.unit_cost * PARTS)))
            wider, left = 0, 0.0
        else:
            wider, left = PARTS, float(weight @ idle / rows / PARTS)
        # If all rows lose the same amount, the range of gains is a single value, which is replaced by a wider range.
        if hit + alarm <= 0:
            hit, alarm = hit + PARTS, alarm + wider
        return cls(given, hit, alarm, left, rows)

    def gain_and_idle(self, positive: Array, columns: Mapping[str, Array]) -> tuple[Array, Array]:
        """Return the gain from acting on each row and the cost of not acting on it, in units of 0.0001."""
        acted, idle = costs_of_rows(positive, context_of(self.given), columns, whole=True)
        return idle - acted, idle

    @property
    def is_campaign(self) -> bool:
        """True for a Campaign: not contacting a customer then costs nothing."""
        return isinstance(self.given, Campaign)

    @cached_property
    def uniform_costs(self) -> Context | Campaign:
        """Context or Campaign for the rows of `doubled`, with equal costs in all rows."""
        hit, alarm = self.hit / PARTS, self.alarm / PARTS
        if isinstance(self.given, Campaign):
            return replace(self.given, unit_benefit=(self.hit + self.alarm) / PARTS)
        left = self.left
        return Context(cost_fp=left + alarm, cost_fn=left, cost_tp=left - hit, cost_tn=left)

    def doubled(self, rows: Predictions) -> Predictions:
        """Return each row twice, as a positive and as a negative.

        The two weights add up to a multiple of the row's weight.
        """
        gain, _ = self.gain_and_idle(rows.y_true, rows.columns)
        weight = 1.0 if rows.sample_weight is None else rows.sample_weight
        weights = np.concatenate([weight * (gain + self.alarm), weight * (self.hit - gain)])
        scores = {model: np.concatenate([score, score]) for model, score in rows.scores.items()}
        segment = None if rows.segment is None else np.concatenate([rows.segment, rows.segment])
        label = np.repeat([True, False], len(rows))
        return Predictions(label, scores, sample_weight=weights, segment=segment)

    def stored(self) -> dict[str, Any]:
        """Return the amounts as fields for a file."""
        kind = "campaign" if self.is_campaign else "context"
        return {kind: asdict(self.given), "hit": self.hit, "alarm": self.alarm, "left": self.left, "rows": self.rows}

    @classmethod
    def read(cls, fields: Fields) -> "RowAmounts":
        """Read amounts from the fields of a file."""
        kind = "campaign" if "campaign" in fields.content else "context"
        costs = fields.take(kind, dict, "costs with at least one column name")
        given: Any = fields.make(kind, Campaign if kind == "campaign" else Context, **costs)
        if not columns_of(given):
            fields.refuse(kind, "costs with at least one column name")
        return cls(given, *(fields.number(name) for name in ("hit", "alarm", "left", "rows")))


# Costs of several actions


@dataclass(frozen=True)
class ActionCampaign:
    """A campaign for one action that has a fixed cost or a capacity.

    Attributes
    ----------
    action : str
        Name of the action.
    segment : Hashable
        Segment to which the campaign applies; None for all segments.
    fixed_cost : Fraction
        Cost of running the campaign, in addition to the unit costs.
    capacity : Fraction or None
        Largest number of cases that get the action; None without a limit.
    runs : bool
        True if the campaign is run and its fixed cost is paid.
    """

    action: str
    segment: Hashable
    fixed_cost: Fraction
    capacity: Fraction | None
    runs: bool = True

    @property
    def label(self) -> str:
        """Name of the campaign for messages: the action, with the segment if there is one."""
        return self.action if self.segment is None else f"{self.action} in {self.segment}"

    def places(self, actions: Mapping[Hashable, Iterable[str]]) -> Indices:
        """Return the position of the action in each segment's order of actions; −1 if the campaign does not apply.

        `actions` contains the actions of each segment, in order.
        """
        places = np.full(len(actions), -1)
        for i, (segment, order) in enumerate(actions.items()):
            if self.segment is None or self.segment == segment:
                places[i] = list(order).index(self.action)
        return places


def costs_by_action(
    actions: Any, levels: SegmentLevels, population: float | None, *, budget: bool
) -> tuple[list[dict[str, UnitCosts]], tuple[ActionCampaign, ...]]:
    """Return the unit costs of each action in each segment, and the campaigns.

    The actions of a segment are in increasing order of stakes. Only campaigns with a fixed cost or a capacity are
    returned. All other campaigns are always run.

    Raises
    ------
    InputError
        If actions differ in the cost of not acting, in the population or in the prevalence.
    """
    if not isinstance(actions, Mapping) or not actions or not all(isinstance(name, str) and name for name in actions):
        expected = "a mapping from action name to a Campaign, a Context or a mapping by segment"
        raise InputError("actions", expected=expected, got=check.shown(actions))
    costs, campaigns = {}, list[ActionCampaign]()
    for name, context in actions.items():
        costs[name] = costs_by_segment(context, levels, population, budget=budget)
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
            raise InputError("actions", expected=expected, got="different values")
        in_segment.sort(key=lambda action: action[1].hit + action[1].alarm)
        ordered.append(dict(in_segment))
    return ordered, tuple(campaigns)


def incremental_costs(costs: list[dict[str, UnitCosts]]) -> list[SegmentUnitCosts]:
    """Return, for each position in the order of actions, the action's costs minus the previous action's costs."""
    by_segment = []
    for actions in costs:
        first, *_ = ordered = list(actions.values())
        by_segment.append([first, *(action.minus(before) for before, action in itertools.pairwise(ordered))])
    return [SegmentUnitCosts(of_place, np.arange(len(costs))) for of_place in zip(*by_segment, strict=True)]


def cumulative_costs(
    increments: Sequence[SegmentUnitCosts], actions: Iterable[Sequence[str]]
) -> list[dict[str, UnitCosts]]:
    """Return the unit costs of each segment's actions by name; the inverse of `incremental_costs`."""
    by_segment = []
    for segment, names in enumerate(actions):
        costs = itertools.accumulate((increment.of(segment) for increment in increments), UnitCosts.plus)
        by_segment.append(dict(zip(names, costs, strict=True)))
    return by_segment
