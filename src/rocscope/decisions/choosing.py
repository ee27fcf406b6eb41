"""Find the thresholds of all models that satisfy constraints, and the best of them by a criterion."""
# MERGED-DOC: """choose: select model and threshold for a context, by a criterion, under constraints."""

from __future__ import annotations  # so that help() shows the short names of types

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import answering
from rocscope.core.context import Context, decimal
from rocscope.core.counts import CumulativeCounts, OperatingPoint
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.constraints import Constraint, Criterion, Function, at_mix, constraints_of, criterion_of
from rocscope.decisions.decision import Decision
from rocscope.decisions.model_hull import Hull, UncertainContext, hull_of
from rocscope.decisions.randomized import (
    HullVertex,
    RandomizedRule,
    Review,
    Reviewing,
    SlopeRanges,
    slope_ranges,
    third_action,
)
from rocscope.decisions.sampling_model import (
    PricedRows,
    RowCostModel,
    SamplingModel,
    as_given,
    limit_of,
    model_of_hull,
    model_of_rows,
)
from rocscope.errors import InexactCountsError, InfeasibleError, InputError
from rocscope.geometry import Choices, ConvexCombination, TangentPoint, touching, touching_within
from rocscope.sample import Labels, Models, Samples, Scores, samples_of, with_context

_TIE = 1e-13  # relative: values that differ by less are equal but for the rounding of a few operations
_DESCRIBED = 5  # ties that are named: a choice


@dataclass(frozen=True)
class Admissible:
    """The admissible thresholds of each model; models without any are left out."""

    choices: tuple[Choices, ...]

    @cached_property
    def slope_ranges(self) -> SlopeRanges:
        """Which of them can ever have the lowest cost, and for which slopes."""
        return slope_ranges(self.choices)

    def highest(self, criterion: Criterion, target_prevalence: float | None) -> list[HullVertex]:
        """Return the best choice by a criterion, followed by equally good ones."""
        goodness = [criterion.goodness(at_mix(each.cells, target_prevalence)) for each in self.choices]
        best = max(values.max() for values in goodness)
        if best == -np.inf:
            raise InputError(f"criterion {criterion.name!r} is not defined at any threshold that may be chosen")
        enough = best - _TIE * max(1.0, abs(best)) if np.isfinite(best) else best
        tied = [
            _vertex(each, index)
            for each, values in zip(self.choices, goodness, strict=True)
            for index in np.flatnonzero(values >= enough)[:_DESCRIBED].tolist()
        ]
        return sorted(tied, key=lambda vertex: vertex.point.depth)

    @staticmethod
    def value_at(criterion: Criterion, point: OperatingPoint, target_prevalence: float | None) -> float:
        """Return the value of a criterion at one point."""
        cells = tuple(np.array([getattr(point, name)]) for name in ("tp", "fp", "fn", "tn"))
        return float(np.asarray(criterion.value(*at_mix(cells, target_prevalence)))[0])  # pyright: ignore[reportArgumentType]


def _vertex(choices: Choices, index: int) -> HullVertex:
    return HullVertex(choices.model, choices.point(index), negated=choices.negated)


def admissible(
    hull: Hull, constraints: tuple[Constraint, ...], target_prevalence: float | None, population: float | None
) -> Admissible:
    """Return the thresholds of a hull's models that satisfy all constraints.

    Raises
    ------
    InfeasibleError
        If there is none; it says how close any comes.
    """
    every = hull.every_choice

    def value(constraint: Constraint, choices: Choices) -> Array:
        return constraint.value(choices.cells, target_prevalence, population, len(every))

    kept = []
    for choices in every:
        allowed = np.ones(choices.index.size, dtype=bool)
        for constraint in constraints:
            allowed &= constraint.admits(choices.cells, target_prevalence, population, len(every))
        if allowed.all():
            kept.append(choices)
        elif allowed.any():
            kept.append(choices.take(np.flatnonzero(allowed)))
    if not kept:
        raise _infeasible(every, constraints, value)
    return Admissible(tuple(kept))


def _infeasible(
    every: Sequence[Choices], constraints: tuple[Constraint, ...], value: Callable[[Constraint, Choices], Array]
) -> InfeasibleError:
    subject = "no threshold of any model satisfies " + " and ".join(map(str, constraints))
    hints = []
    for constraint in constraints:
        others = [other for other in constraints if other is not constraint]
        closest = _closest(every, constraint, others, value)
        if closest:
            reached, choices, index = closest
            under = f"with {' and '.join(map(str, others))} " if others else ""
            extreme = "highest" if ">" in constraint.relation else "lowest"
            threshold = choices.point(index).threshold
            hints.append(
                f"{under}the {extreme} {constraint.quantity}{constraint.surely} is {reached:.6g} "
                f"({choices.model} at {threshold:.6g})"
            )
    return InfeasibleError(subject, hint="; ".join(hints) or "even one constraint less leaves none")


def _closest(
    every: Sequence[Choices],
    constraint: Constraint,
    others: list[Constraint],
    value: Callable[[Constraint, Choices], Array],
) -> tuple[float, Choices, int] | None:
    """Return the value closest to one constraint's bound where the others hold, and its threshold."""
    found: tuple[float, Choices, int] | None = None
    for choices in every:
        values = np.asarray(value(constraint, choices), dtype=np.float64).copy()
        for other in others:
            values[~other.holds(value(other, choices))] = np.nan
        index = constraint.closest(values)
        if index is None:
            continue
        candidate = (float(values[index]), choices, index)
        if found is None or constraint.is_closer(candidate[0], found[0]):
            found = candidate
    return found


DEFAULT_THRESHOLD = 0.5
_ROUNDED = 1e-12  # relative: a cost lower by less is the same but for rounding


@answering
def choose(
    models: Models | Hull | Labels,
    y_score: Scores | Context | Campaign | UncertainContext | None = None,
    context: Context | Campaign | UncertainContext | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    criterion: str | Function | None = None,
    subject_to: str | Constraint | Sequence[str | Constraint] = (),
    population: float | None = None,
    randomized: bool = False,
    review: Review | None = None,
) -> Decision:
    """Choose the model and threshold of lowest expected cost, or best by a criterion, that satisfy all constraints.

    Parameters
    ----------
    models, y_score, pos_label, sample_weight : Hull, or data of one or several models
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`. Labels
        with scores, ``choose(y, p, context)``, or anything else alone, ``choose(predictions, context)``.
    context : Context, Campaign or UncertainContext, optional
        Prevalence and costs; by default the sample's prevalence and equal costs, which means accuracy. Costs that
        differ from row to row are columns of Predictions. The capacity of a Campaign is a constraint among its
        population, by default filled by a randomised rule; nobody is acted on unless it pays more than its fixed cost.
    criterion : str or function, optional
        What to maximise in place of lowest cost: ``"accuracy"``, ``"balanced_accuracy"``, ``"youden"``, ``"ks"``,
        ``"closest_topleft"``, ``"f1"`` (or f2, f0.5, …), ``"mcc"``, ``"kappa"``, ``"lift@0.1"``, ``"break_even"``,
        ``"min_cost"``, any other metric, or a function of arrays tp, fp, fn and tn. At the target prevalence.
    subject_to : constraints
        Texts such as ``"tpr >= .9"``, ``"precision >= .8"`` or ``"cases <= 800"``, or `Constraint` objects.
        ``"tpr >= .9 at 95 %"`` asks that the confidence limit of the rate keep the bound.
    population : float, optional
        Number of cases that the classifier will be used on; ``"cases"`` are counted among them.
    randomized : bool
        If True, allow randomised decisions (within a tie, or between two thresholds or models) if they are better than
        every threshold. Otherwise `Decision.lot_cost` is the cost that they would have.
    review : Review, optional
        A third action between acting and leaving, at lowest cost without constraints; both thresholds are of one model.

    Returns
    -------
    Decision
        The chosen model, threshold and operating point, with expected cost, alternatives and notes.

    Raises
    ------
    OneClassError
        If a sample holds one class only.
    InputError
        If the context rewards errors, a criterion or constraint is not understood, or one of them is not linear in
        the counts and lots are asked for.
    InfeasibleError
        If no threshold satisfies the constraints; the message says how close any comes, and what a randomised rule
        that satisfies them costs.
    PairingError
        If models come from samples of different prevalence and the context does not name one.

    Notes
    -----
    Criteria that are linear in the counts, expected cost among them, are compared in exact arithmetic: no admissible
    threshold of any model is better. Others are compared in float64, where a relative difference of 10⁻¹³ is a tie.
    Of BinnedCounts that leave levels open the ends of bins are compared, and `Decision.best_cost_interval` says between
    which values the cost of the best of all thresholds is guaranteed to
    lie.

    Of equally good choices the one with fewest positive predictions is taken, then the model given first.

    With `randomized=True` the result is the optimum over all randomised rules, in exact arithmetic too; a threshold
    that is as good is taken first.

    Where costs make one action right whatever the scores, a note says so.

    Where costs differ from row to row, what acting gains in each row is compared, summed exactly for amounts of up to
    four decimals; at a target prevalence positive and negative rows are given their shares first. The counts stay those
    of rows, and neither lots nor reviews are looked for.

    Without constraints the cost is that of the hulls; a criterion that is not linear, or a constraint, looks at every
    threshold. The chosen threshold is the best in this sample: its cost there is optimistic for new cases; use
    `Decision.interval` to estimate their cost.

    References
    ----------
    Vuk & Curk 2006, §4.2; Hernández-Orallo 2004; Provost & Fawcett 2001.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> decision = choose(ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1]))
    >>> decision.threshold, decision.point
    (5, OperatingPoint(tp=2, fp=0, fn=1, tn=3, threshold=5))
    >>> choose(ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1]), subject_to="tpr >= 0.9").threshold
    -inf

    Half of a tie of four may be acted on, two of them:

    >>> tied = ThresholdCounts([2, 1], [3, 1], [1, 3])
    >>> choose(tied, subject_to="cases <= 2", randomized=True).point
    OperatingPoint(tp=1.5, fp=0.5, fn=2.5, tn=3.5, threshold=2)
    """
    given, context = with_context(models, y_score, context, pos_label=pos_label, sample_weight=sample_weight)
    campaign = context if isinstance(context, Campaign) else None
    if campaign is not None:
        context, population = campaign.context, _population(campaign, population)
        randomized = randomized or (campaign.capacity is not None and criterion is None and not subject_to)
    if population is not None:
        check.check_number(population, "population", "a number of cases above 0", above=0)
    data = given if isinstance(given, Hull) else samples_of(given)
    priced = _priced(data, context, {"randomized": randomized, "review": review is not None})
    across = data if isinstance(data, Hull) else hull_of(data)
    certain, notes = (priced.context, priced.notes) if priced else _certain(context, across)
    rule = criterion_of(("accuracy" if context is None else "min_cost") if criterion is None else criterion)
    constraints = (*constraints_of(subject_to, certain), *_capacity(campaign))
    if any(each.level is not None for each in constraints):
        _require_independent(across)
    task = _Task(across, certain, rule, constraints, population, priced, randomized)
    if review is not None:
        if not isinstance(review, Review):
            raise InputError("review", expected="a Review", got=check.shown(review))
        return task.decision(task.with_review(review, criterion in (None, "min_cost") and not randomized), notes)
    found = task.decision(task.randomize() if randomized else task.choose(), (*notes, *task.left_open()))
    return found if campaign is None else _worthwhile(found, campaign, task)


def _population(campaign: Campaign, population: float | None) -> float | None:
    if population not in (None, campaign.population):
        got = f"{population:g} beside a Campaign of {campaign.population:g}"
        raise InputError("population", expected="none beside a Campaign, which names its own", got=got)
    limited = campaign.capacity is not None or campaign.fixed_cost
    return campaign.population if limited else population


def _capacity(campaign: Campaign | None) -> tuple[Constraint, ...]:
    """Return the capacity of a campaign as a constraint."""
    limited = campaign is not None and campaign.capacity is not None
    return (Constraint.capacity(campaign.capacity),) if limited else ()  # pyright: ignore[reportOptionalMemberAccess, reportArgumentType]


def _worthwhile(found: Decision, campaign: Campaign, task: _Task) -> Decision:
    """Return the decision if it gains more than its campaign's fixed cost; otherwise acting on nobody."""
    saved = (found.treat_none_cost - found.expected_cost) * campaign.population
    if not campaign.fixed_cost or saved > campaign.fixed_cost:
        return found
    note = f"acting would bring {saved:.6g}, which does not pay the fixed cost of {campaign.fixed_cost:.6g}"
    nobody = replace(task, constraints=(*task.constraints, Constraint.capacity(0)), randomized=False)
    return nobody.decision(nobody.choose(), (note,))


def _require_independent(across: Hull) -> None:
    rows = [across.samples.rows, *(sample.rows for sample in across.samples.values())]
    if any(each is not None and (each.grouped or each.repeated) for each in rows):
        hint = "leave the level out, or the groups if each row stands for itself"
        raise InputError("constraint with a level", expected="independent rows", got="rows in groups", hint=hint)


def _certain(context: Context | Campaign | UncertainContext | None, across: Hull) -> tuple[Context, tuple[str, ...]]:
    """Return the context for an uncertain one, with notes."""
    if not isinstance(context, UncertainContext):
        return Context.given(context), ()
    mean = context.mean
    saved = across.expected_cost(mean) - across.expected_cost(context)
    return mean, (f"decided at the mean of {context!r}; to know the context first would save {saved:.4g} per case",)


def _priced(
    data: Samples | Hull, context: Context | Campaign | UncertainContext | None, asked: dict[str, bool]
) -> PricedRows | None:
    """Return the rows with their own costs if the context names columns."""
    if isinstance(context, UncertainContext) or not (context := Context.given(context)).columns:
        return None
    for name in (name for name, is_asked in asked.items() if is_asked):
        raise InputError(name, expected="costs that are the same in every row", got=repr(context))
    rows = None if isinstance(data, Hull) else data.shared_rows
    if rows is None:
        expected = "costs that are the same in every row, or rows (Predictions) with the columns that it names"
        hint = "rocscope.decisions.in_money(predictions, context) gives rows in money, which anything takes"
        raise InputError("context", expected=expected, got=repr(context), hint=hint)
    return PricedRows(rows, context)


@dataclass(frozen=True)
class _Choice:
    """The choice and its reasons."""

    model: str
    point: OperatingPoint
    slopes: tuple[float, float] | None
    value: float
    negated: bool = False
    tied: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lot: RandomizedRule | None = None
    review: Reviewing | None = None
    cost: Fraction | None = None


@dataclass(frozen=True)
class _Task:
    """One choice problem."""

    hull: Hull
    context: Context
    criterion: Criterion
    constraints: tuple[Constraint, ...]
    population: float | None
    priced: PricedRows | None
    randomized: bool

    def choose(self) -> _Choice:
        """Return the best threshold of all models, among those that satisfy the constraints."""
        if not self.criterion.equivalent:
            return self._highest(self._admissible())
        if self.priced and self.criterion.name == "min_cost":
            touch = self.priced.cheapest(self._admissible().choices) if self.constraints else self._cheapest_of_rows
            return _Choice(touch.choices.model, touch.point, None, math.nan, tied=as_good(touch))
        context = self.criterion.equivalent(self.context)
        if not self.constraints:
            return self._cheapest(context, self.hull.touching(context), self.hull.slope_ranges)
        options = self._admissible()
        touch = touching(options.choices, context, self.hull.whole_totals(context))
        return self._cheapest(context, touch, options.slope_ranges)

    def with_review(self, review: Review, alone: bool) -> _Choice:
        """Return the best model with a review action, and the range of scores to review."""
        if self.constraints or not alone:
            raise InputError("review", expected="no criterion, constraint or lot beside it", got="one")
        prevalence, cases = self._mix
        limit = None if review.capacity is None else min(decimal(review.capacity) / cases, Fraction(1))
        every = [choices for choices in self.hull.every_choice if not choices.negated]
        found = [third_action(each, self.context, review, prevalence, limit) for each in every]
        best = min(found, key=lambda third: third.cost)
        if best.acting.rates == best.looking.rates:
            worth = f"no case is worth a review at a cost of {review.cost:g}"
            return replace(self.choose(), notes=("there is no capacity for reviews" if limit == 0 else worth,))
        acting, looking = RandomizedRule.of(best.acting), RandomizedRule.of(best.looking)
        return _Choice(
            model=looking.second.model,
            point=acting.point,
            slopes=None,
            value=math.nan,
            lot=acting if acting.randomized else None,
            review=Reviewing(review, looking, limit),
            cost=best.cost,
        )

    def randomize(self) -> _Choice:
        """Return the best randomised rule, or the best threshold if it is as good."""
        try:
            best = self._best_rule()
        except InfeasibleError:
            self._admissible()  # which says how close any threshold comes
            raise
        if not best.randomized:
            return self.choose()
        rule = RandomizedRule.of(best, self._filled(best))
        end, point = rule.second, rule.point
        return _Choice(end.model, point, None, self._value(point), end.negated, lot=rule)

    def _best_rule(self) -> ConvexCombination:
        if not self.criterion.equivalent:
            expected = "a criterion that is linear in the counts, such as min_cost, accuracy or youden"
            raise InputError("randomized", expected=expected, got=self.criterion.name)
        context = self.criterion.equivalent(self.context)
        prevalence, cases = self._mix
        bounds = [constraint.straight(prevalence, cases) for constraint in self.constraints]
        return touching_within(self.hull.every_choice, context, bounds, self.hull.whole_totals(context))

    @property
    def _mix(self) -> tuple[Fraction, Fraction]:
        """Exact prevalence and number of cases that constraints refer to."""
        n_pos, n_neg = (Fraction(total) for total in self.hull.totals(self.context))
        target = self.context.target_prevalence
        prevalence = n_pos / (n_pos + n_neg) if target is None else decimal(target)
        return prevalence, n_pos + n_neg if self.population is None else decimal(self.population)

    def _filled(self, best: ConvexCombination) -> Fraction | None:
        """Return the share of cases that the constraints allow, if a randomised rule fills it."""
        prevalence, cases = self._mix
        tpr, fpr = best.rates
        depth = prevalence * tpr + (1 - prevalence) * fpr
        limits = {"cases": depth * cases, "depth": depth}
        filled = (limits.get(each.quantity) == decimal(each.bound) for each in self.constraints)
        return depth if any(filled) else None

    def _sampling_model(self, choice: _Choice) -> SamplingModel:
        """Return the sampling model from which the value of the choice on new cases is estimated."""
        if self.priced:
            acts = self.priced.acts(choice.model, choice.point.threshold)
            if self.criterion.name == "min_cost" and not self.constraints:
                return model_of_rows(RowCostModel(self.priced), acts)
            why = "constraints and criteria other than cost are taken as given, not as chosen"
            given = model_of_rows(RowCostModel(self.priced), acts, why)
            if self.criterion.name == "min_cost":
                return given
            return replace(self._resampled(None, self.constraints), row_costs=given.row_costs, fixed=given.fixed)
        limit, constraints = (None, self.constraints)
        if self.randomized:
            limit, constraints = limit_of(constraints, self._mix[1])
        of_two = choice.lot is not None and choice.lot.first.model != choice.lot.second.model
        if choice.review or of_two or (choice.lot and limit is None):
            return as_given(self.context, choice.point, choice.review)
        return self._resampled(limit, constraints)

    def _resampled(self, limit: float | None, constraints: tuple[Constraint, ...]) -> SamplingModel:
        return model_of_hull(self.hull, self.criterion, self.context, constraints, self.population, limit)

    def _defined(self, point: OperatingPoint) -> bool:
        """Return whether all constrained figures are defined; precision is not if nobody is predicted positive."""
        cells = tuple(np.array([getattr(point, name)], np.float64) for name in ("tp", "fp", "fn", "tn"))
        values = (each.value(cells, self.context.target_prevalence, None) for each in self.constraints)  # pyright: ignore[reportArgumentType]
        return not any(np.isnan(value).any() for value in values)

    def _admissible(self) -> Admissible:
        try:
            return admissible(self.hull, self.constraints, self.context.target_prevalence, self.population)
        except InfeasibleError as error:
            if not self.hull.holds_levels:
                found, hint = f"among the ends of score ranges, {error}", "those inside are not known"
            elif (cost := self._cost_if_randomized()) is not None:
                found, hint = str(error), f"a randomised rule does, at {cost:.6g} per case: pass randomized=True"
            else:
                raise
            raise InfeasibleError(found, hint=hint) from error

    def _cost_if_randomized(self) -> float | None:
        """Return the expected cost of the best randomised rule within the constraints; None where there is none."""
        if self.randomized or self.priced:
            return None
        try:
            point = RandomizedRule.of(self._best_rule()).point
        except InputError:  # none, or bounds or a criterion that are no straight lines
            return None
        return float(self.context.exact_cost(point)) if self._defined(point) else None

    def _cheapest(self, context: Context, touch: TangentPoint, slope_ranges: SlopeRanges) -> _Choice:
        point, chosen = touch.point, touch.choices
        vertex = None if context.always_right else slope_ranges.find(chosen.model, point, chosen.negated)
        return _Choice(
            model=chosen.model,
            point=point,
            slopes=(vertex.slope_low, vertex.slope_high) if vertex else None,
            value=self._value(point),
            negated=chosen.negated,
            tied=as_good(touch),
            notes=trivial(context, touch),
        )

    def _highest(self, options: Admissible) -> _Choice:
        (first, *others) = options.highest(self.criterion, self.context.target_prevalence)
        vertex = options.slope_ranges.find(first.model, first.point, first.negated)
        slopes = (vertex.slope_low, vertex.slope_high) if vertex else None
        tied = tuple(described(other.label, other.point) for other in others)
        return _Choice(first.model, first.point, slopes, self._value(first.point), first.negated, tied)

    def left_open(self) -> tuple[str, ...]:
        """Return notes if only the ends of score ranges could be compared."""
        if self.hull.holds_levels:
            return ()
        if not self.hull.is_exact:
            low, high = self.hull.cost_bounds(self.context)
            return (f"only ends of score ranges were compared: the best cost lies from {low:.6g} to {high:.6g}",)
        every = self.constraints or not self.criterion.equivalent
        return ("only ends of score ranges were compared",) if every else ()

    def _value(self, point: OperatingPoint) -> float:
        if self.criterion.name == "min_cost":
            return math.nan
        return Admissible.value_at(self.criterion, point, self.context.target_prevalence)

    @cached_property
    def _cheapest_of_rows(self) -> TangentPoint:
        assert self.priced
        return self.priced.cheapest(self.hull.every_choice)

    def _costs(self, model: str, point: OperatingPoint, default: OperatingPoint) -> list[float]:
        """Return the cost per case of a point, the default, the best threshold, everybody and nobody."""
        if self.priced:
            best = self._cheapest_of_rows
            cuts = [(model, at) for at in (point.threshold, default.threshold, -math.inf, math.inf)]
            return [
                self.priced.cost(*cut) for cut in (*cuts[:2], (best.choices.model, best.point.threshold), *cuts[2:])
            ]
        everybody = OperatingPoint(point.n_pos, point.n_neg, 0, 0)
        nobody = OperatingPoint(0, 0, point.n_pos, point.n_neg)
        points = (point, default, self.hull.best(self.context).point, everybody, nobody)
        return [float(self.context.exact_cost(each)) for each in points]

    def decision(self, choice: _Choice, notes: tuple[str, ...]) -> Decision:
        """Return the choice with its cost and the costs of the alternatives."""
        counts, point = self.hull.counts[choice.model], choice.point
        default = _default_point(counts)
        own, standard, least, all_cost, none_cost = self._costs(choice.model, point, default)
        own = own if choice.cost is None else float(choice.cost)
        lot = None if choice.lot or own <= least or not self.constraints else self._cost_if_randomized()
        return Decision(
            model=choice.model,
            point=point,
            context=self.context,
            expected_cost=own,
            default_point=default,
            default_cost=standard,
            hull_cost=least,
            treat_all_cost=all_cost,
            treat_none_cost=none_cost,
            criterion=self.criterion.name,
            criterion_value=own if self.criterion.name == "min_cost" else choice.value,
            slope_interval=choice.slopes if self.hull.is_exact and not self.priced else None,
            negated=choice.negated,
            subject_to=tuple(map(str, self.constraints)),
            population=self.population,
            tied=choice.tied,
            notes=(*choice.notes, *constant(choice.model, counts), *notes),
            best_cost_interval=None if self.hull.is_exact else self.hull.cost_bounds(self.context),
            lot=choice.lot,
            review=choice.review,
            lot_cost=lot if lot is not None and lot < own - _ROUNDED * abs(own) else None,
            sampling_model=self._sampling_model(choice),
        )


def _default_point(counts: CumulativeCounts) -> OperatingPoint:
    """Return the point at the default threshold, or at the next one above that splits no range of scores."""
    try:
        return counts.at(DEFAULT_THRESHOLD)
    except InexactCountsError:
        above = counts.threshold[counts.threshold > DEFAULT_THRESHOLD]
        return counts.at(above[-1].item() if above.size else math.inf)


def constant(model: str, counts: CumulativeCounts) -> tuple[str, ...]:
    """Return a note for a model with a constant score."""
    one_level = len(counts) == 1 and counts.holds_levels
    return (f"all scores of {model} are equal: it can only say yes to all or to none",) if one_level else ()


def trivial(context: Context, touch: TangentPoint) -> tuple[str, ...]:
    """Return a note if one action is optimal for all scores, or would be if it were admissible."""
    always = context.always_right
    if not always:
        return ()
    stakes = (context.miss_cost, context.false_alarm_cost)
    if any(stake and rate != (always == "all positive") for stake, rate in zip(stakes, touch.rates, strict=True)):
        return (f"at these costs {always} would be right, but is not admissible",)
    return (f"trivial: at these costs {always} is right whatever the scores",)


def as_good(touch: TangentPoint) -> tuple[str, ...]:
    """Return the text for choices of equal cost."""
    labels = ((other, other.choices.label) for other in touch.tied)
    return tuple(name if other.rates == touch.rates else described(name, other.point) for other, name in labels)


def described(model: str, point: OperatingPoint) -> str:
    """Return the text for a model's threshold."""
    return f"{model} at {point.threshold:.6g}"
