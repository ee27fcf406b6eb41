"""Choose the model and threshold with the lowest expected cost, or with the best value of another criterion.

Every threshold of a model is a point in ROC space. A context gives the prevalence and the costs. In a context, points
of equal expected cost lie on parallel lines, the iso-performance lines. The cheapest point is the point at which an
iso-performance line touches the upper convex hull of all models' points. `choose` therefore takes four steps:

1. compute the ROC convex hull of all models (`model_hull.Hull`);
2. find the point at which an iso-performance line touches the hull (`geometry.touching`). Maximising accuracy or
   Youden's index is equivalent to minimising the cost in another context, so the same method applies. With other
   criteria or with constraints, compare all thresholds;
3. compute the expected cost of the chosen point and of four alternatives: the best threshold without constraints,
   everybody positive, nobody positive, and the default threshold;
4. return the chosen point and these costs as a `Decision`.

`problem_of` reads the arguments of `choose`. `ChoiceProblem` has one method for each kind of choice. Intervals and
plots are computed only when they are requested.
"""

from __future__ import annotations  # so that help() shows the short names of types

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.core import CELLS, Campaign, Context, CumulativeCounts, OperatingPoint, Predictions, decimal
from rocscope.core.predictions import require_kinds
from rocscope.decisions import model_hull, sampling_model as sampling
from rocscope.decisions.constraints import (
    Constraint,
    Criterion,
    Function,
    at_mix,
    constraints_of,
    criterion_of,
    share_bound,
)
from rocscope.decisions.decision import Decision, Question
from rocscope.decisions.generalization import MIN_COST, TIE, Candidate, Candidates, Rule
from rocscope.decisions.model_hull import Envelope, Hull, UncertainContext, hull_of
from rocscope.decisions.plan import Note, notes_on_capacity
from rocscope.decisions.randomized import RandomizedRule, Review, Reviewing, third_action
from rocscope.errors import InexactCountsError, InfeasibleError, InputError
from rocscope.geometry import hull as geometry
from rocscope.geometry.bounded import ConvexCombination, touching_within
from rocscope.geometry.hull import Choices, TangentPoint
from rocscope.sample import Labels, Models, Samples, Scores, samples_of, with_context

DEFAULT_THRESHOLD = 0.5
RANGE_ENDS_COMPARED = Note("range_ends_compared", "only ends of score ranges were compared")

ACCURACY = criterion_of("accuracy")

# A randomised rule is reported if it saves more than this share of the cost; smaller savings are rounding errors.
ROUNDING = 1e-12
# Most ties listed for each model, to keep the text short.
MOST_TIES_SHOWN = 5


@contract
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
    """Choose the model and threshold with the lowest expected cost, or with the best value of another criterion.

    The choice can be restricted by constraints, such as a minimum recall or a maximum number of positives.

    Parameters
    ----------
    models, y_score, pos_label, sample_weight : Hull, or data of one or several models
        Labels and scores, Predictions, or a mapping from model name to counts or points; see `rocscope.sample`. With
        labels and scores, call ``choose(y, p, context)``. With any other data, call ``choose(data, context)``.
    context : Context, Campaign or UncertainContext, optional
        Prevalence and costs. By default, the sample's prevalence and equal costs are used, so accuracy is maximised. If
        costs differ between rows, pass a Context with the names of the cost columns of the Predictions. A Campaign with
        a capacity limits the number of positives in its population; a randomised rule uses the capacity exactly. If a
        Campaign has a fixed cost and the gain does not exceed this cost, nobody is predicted positive.
    criterion : str or function, optional
        Criterion to optimise at the target prevalence; by default ``"min_cost"``, the expected cost. Other names are
        ``"accuracy"``, ``"balanced_accuracy"``, ``"youden"``, ``"ks"``, ``"closest_topleft"``, ``"f1"`` (or f2, f0.5,
        …), ``"mcc"``, ``"kappa"``, ``"lift@0.1"``, ``"break_even"`` and any other metric of one threshold. A function
        gets the arrays tp, fp, fn and tn, and returns an array of values to maximise. With an UncertainContext,
        ``"minimax_regret"`` minimises the largest regret over all possible contexts. The regret in a context is the
        cost minus the lowest cost of any threshold in this context.
    subject_to : constraints
        One or several constraints: strings such as ``"tpr >= .9"``, ``"precision >= .8"`` or ``"cases <= 800"``, or
        `Constraint` objects. With ``"tpr >= .9 at 95%"``, the lower 95% confidence limit of the rate must be at least
        0.9. With ``"cases <= 200 at 95%"``, at most 200 of the next `population` cases are predicted positive, with a
        probability of at least 95%.
    population : float, optional
        Number of cases on which the classifier will be used. Constraints on ``"cases"`` refer to this number of cases.
    randomized : bool
        If True, choose a randomised rule if it is better than every threshold. A randomised rule selects some of the
        cases with equal scores, or applies one of two thresholds or models to each case. If False, `Decision.lot_cost`
        is the cost of the best randomised rule, if this cost is lower.
    review : Review, optional
        Allow a third action, review, for cases whose scores lie between two thresholds of one model. A review cannot be
        combined with constraints or with another criterion than cost.

    Returns
    -------
    Decision
        The chosen model, threshold and operating point, with expected cost, alternatives and notes.

    Raises
    ------
    OneClassError
        If a sample contains only one class.
    InputError
        If the context rewards errors, or if a criterion or constraint is unknown. Also if `randomized` is True and the
        criterion or a constraint is not linear in the counts.
    InfeasibleError
        If no threshold satisfies the constraints. The message gives the closest value that a threshold reaches and, if
        a randomised rule satisfies the constraints, its cost.
    PairingError
        If models come from samples of different prevalence and the context does not name a target prevalence.

    See Also
    --------
    hull, plan_campaign, allocate, monitor, load_plan

    Notes
    -----
    Expected cost and other criteria that are linear in the counts are compared in exact arithmetic. No threshold that
    satisfies the constraints is therefore better than the chosen one. Other criteria are compared in float64, and
    relative differences up to 10⁻¹³ count as ties. If BinnedCounts do not contain every distinct score, only the ends
    of bins are compared. `Decision.best_cost_interval` is then guaranteed to contain the cost of the best threshold.

    If several thresholds are equally good, the threshold with the fewest positive predictions is chosen. If these
    numbers are equal too, the first model in the data is chosen.

    With `randomized=True`, the result is the exact optimum over all randomised rules. A threshold is preferred to an
    equally good randomised rule.

    If one action is optimal for all scores at the given costs, the decision contains a note.

    If costs differ between rows, thresholds are compared by the total gain of the rows that are predicted positive. The
    total is exact for amounts with up to four decimals. With a target prevalence, positive and negative rows are
    weighted so that their shares match this prevalence. The counts in the result remain unweighted numbers of rows.
    Randomised rules and reviews are not available.

    Without constraints, a vertex of the ROC convex hull has the lowest cost. With constraints, or with a criterion that
    is not linear in the counts, all thresholds are compared. The threshold is chosen on this sample, so its cost in
    this sample is optimistic. Use `Decision.interval` to estimate the cost on new cases.

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

    Four cases have the highest score, but at most two cases may be positive. A randomised rule selects two of these
    four cases:

    >>> tied = ThresholdCounts([2, 1], [3, 1], [1, 3])
    >>> choose(tied, subject_to="cases <= 2", randomized=True).point
    OperatingPoint(tp=1.5, fp=0.5, fn=2.5, tn=3.5, threshold=2)
    """
    data, context = with_context(models, y_score, context, pos_label=pos_label, sample_weight=sample_weight)
    return problem_of(data, Question(context, criterion, subject_to, population, randomized, review)).decide()


def problem_of(data: Hull | Samples | Models, question: Question) -> ChoiceProblem:
    """Return the optimisation problem that is defined by a question and data."""
    context, criterion, subject_to = question.context, question.criterion, question.subject_to

    # A campaign is a context with a population, a capacity (a constraint on the positives in it) and a fixed cost.
    campaign = question.context if isinstance(question.context, Campaign) else None
    randomized = question.randomized
    if campaign is not None:
        context = campaign.context
        randomized = randomized or (campaign.capacity is not None and criterion is None and not subject_to)
    population = _population(campaign, question.population)
    samples = data.samples if isinstance(data, Hull) else samples_of(data)
    if campaign is not None:
        require_kinds("choose for a Campaign", *_data_of(samples))
    uncertain = context if isinstance(context, UncertainContext) else None
    certain = context.mean if isinstance(context, UncertainContext) else Context.given(context)
    priced = None
    if certain.columns:
        asked = {"randomized": randomized, "review": question.review is not None}
        priced = _priced_rows(None if isinstance(data, Hull) else samples, certain, asked)
    hull = data if isinstance(data, Hull) else hull_of(samples)

    rule = ACCURACY if context is None else MIN_COST
    if criterion == "minimax_regret":
        rule = _minimax_regret(uncertain, hull)
    elif criterion is not None:
        rule = criterion_of(criterion)
    constraints = constraints_of(subject_to, certain)
    if campaign is not None and campaign.capacity is not None:
        constraints = (*constraints, Constraint.capacity(campaign.capacity))
    _require_rows_for(constraints, hull)
    notes = [] if priced is None else [*priced.notes]
    surely = [bound for bound in constraints if bound.level is not None]
    notes += [Note("guarantee", bound.guarantee, constraint=str(bound)) for bound in surely]
    cases = sum(hull.totals(certain)) if population is None else population
    for bound in constraints:
        if bound.quantity == "cases" and bound.relation == "<=":
            notes += notes_on_capacity(bound.bound, cases)
    facts = constraints, population, priced, randomized, uncertain
    problem = ChoiceProblem(question, hull, certain, rule, *facts, tuple(notes))
    return problem if uncertain is None else replace(problem, notes=(*notes, *problem.notes_on_uncertainty(uncertain)))


def _population(campaign: Campaign | None, population: float | None) -> float | None:
    """Return the size of the population. A campaign with a capacity or a fixed cost determines this size."""
    if campaign is not None:
        if population not in (None, campaign.population):
            expected, hint = f"{campaign.population:g}, as in the Campaign", "omit the argument population"
            raise InputError("population", expected=expected, got=f"{population:g}", hint=hint)
        if campaign.capacity is not None or campaign.fixed_cost:
            population = campaign.population
    if population is not None:
        check.check_number(population, "population", "a number of cases above 0", above=0)
    return population


def _priced_rows(samples: Samples | None, context: Context, asked: dict[str, bool]) -> sampling.PricedRows:
    """Return the rows with their costs; raise an error for options that need equal costs in all rows."""
    for name, is_asked in asked.items():
        if is_asked:
            by_row = "use rocscope.decisions.act_by_row(probability, context, columns, review=…) to decide row by row"
            hint = by_row if name == "review" else ""
            raise InputError(name, expected="a context with equal costs in all rows", got=repr(context), hint=hint)
    rows = None if samples is None else samples.shared_rows
    if rows is None:
        expected = "a context with equal costs in all rows"
        hint = "pass Predictions with the cost columns, because counts contain no amounts of single rows"
        raise InputError("context", expected=expected, got=repr(context), hint=hint)
    return sampling.PricedRows(rows, context)


def _require_rows_for(constraints: tuple[Constraint, ...], hull: Hull) -> None:
    """Raise an error if the row weights or groups do not suit the constraints.

    Constraints on numbers of cases need rows that stand for whole cases. Constraints with a confidence level need
    independent rows, because their limits are exact binomial limits.
    """
    if not constraints:
        return
    data = [*_data_of(hull.samples), *hull.counts.values()]
    if any(constraint.figure.unit == "cases" or constraint.figure.name == "depth" for constraint in constraints):
        require_kinds("cases and depth", *data)
    if any(constraint.level is not None for constraint in constraints):
        require_kinds("a constraint with a level", *data)


def _data_of(samples: Samples) -> list[Predictions | CumulativeCounts]:
    """Return the rows of each model, or the model's threshold counts if its rows are not available."""
    return [sample.rows or sample.points for sample in samples.values()]


def _minimax_regret(context: UncertainContext | None, hull: Hull) -> Criterion:
    """Return the criterion "largest regret in an uncertain context", which is minimised."""
    if context is None:
        raise InputError("criterion 'minimax_regret'", expected="an UncertainContext", got="a Context")
    n_pos, n_neg = hull.totals(context.mean)
    regret = model_hull.minimax_regret(Envelope.of(hull.slope_ranges), context, n_pos / (n_pos + n_neg))
    return Criterion("minimax_regret", regret, sign=-1)


@dataclass(frozen=True)
class Choice:
    """A chosen threshold or randomised rule, with notes; `Decision` describes the fields."""

    model: str
    point: OperatingPoint
    slopes: tuple[float, float] | None
    criterion_value: float
    negated: bool = False
    tied: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    randomized_rule: RandomizedRule | None = None
    review: Reviewing | None = None
    cost: Fraction | None = None


@dataclass(frozen=True)
class ChoiceProblem:
    """A question with the data to answer it.

    `hull` is the ROC convex hull of all models. If costs differ between rows, `priced` contains the rows with their
    costs. For an `uncertain` context, `context` is its mean. `constraints` include the capacity of a campaign. `notes`
    describe the question and do not depend on the choice.
    """

    question: Question
    hull: Hull
    context: Context
    criterion: Criterion
    constraints: tuple[Constraint, ...]
    population: float | None
    priced: sampling.PricedRows | None
    randomized: bool
    uncertain: UncertainContext | None
    notes: tuple[Note, ...] = ()

    def decide(self) -> Decision:
        """Return the best threshold or randomised rule as a `Decision`, with the costs of the alternatives."""
        review = self.question.review
        if review is not None:
            if not isinstance(review, Review):
                raise InputError("review", expected="a Review", got=check.shown(review))
            if self.constraints or self.randomized or self.question.criterion not in (None, "min_cost"):
                population = f"{float(self.mix[1]):g}"
                call = f"rocscope.allocate(data, actions=review.actions(context, {population}), subject_to=…)"
                fault = "review cannot be combined with a criterion, a constraint or randomisation"
                raise InputError(fault, hint=f"use {call} for reviews under constraints")
            return self.decision(self.best_with_review(review), self.notes)
        choice = self.best_randomized() if self.randomized else self.best_threshold()
        decision = self.decision(choice, (*self.notes, *self.notes_on_bins()))
        campaign = self.question.context
        return self.unless_too_costly(decision, campaign) if isinstance(campaign, Campaign) else decision

    def unless_too_costly(self, decision: Decision, campaign: Campaign) -> Decision:
        """Return the decision if its gain exceeds the fixed cost of the campaign.

        Otherwise, return a decision to act on nobody.
        """
        saved = (decision.treat_none_cost - decision.expected_cost) * campaign.population
        if not campaign.fixed_cost or saved > campaign.fixed_cost:
            return decision
        text = f"acting would gain {saved:.6g}, which does not cover the fixed cost of {campaign.fixed_cost:.6g}"
        note = Note("fixed_cost_not_covered", text, gain=saved, fixed_cost=campaign.fixed_cost)
        nobody = replace(self, constraints=(*self.constraints, Constraint.capacity(0)), randomized=False)
        return nobody.decision(nobody.best_threshold(), (note,))

    def notes_on_uncertainty(self, context: UncertainContext) -> tuple[Note, ...]:
        """Return a note with the mean context that was used, and with the value of perfect information.

        Notes
        -----
        Expected cost is linear in the products prevalence × cost, so the best choice is the best choice at the means of
        these products. The value of perfect information is the saving if the threshold is chosen after the context is
        known, from the same admissible thresholds.
        """
        text = f"chosen for the mean of {context!r}"
        try:
            options = self._admissible() if self.constraints else self.hull.choices
        except InfeasibleError:  # the choice itself raises a better message, or finds a randomised rule
            return (Note("uncertain_context", text, context=context),)
        ranges = geometry.slope_ranges(options)
        n_pos, n_neg = self.hull.totals(self.context)
        later = model_hull.adaptive_cost(Envelope.of(ranges), context, n_pos / (n_pos + n_neg))
        now = min(float(self.context.exact_cost(vertex.point)) for vertex in ranges.vertices)
        saved = now - later if now - later > ROUNDING * abs(now) else 0.0
        text += f"; knowing the context first would save {saved:.4g} per case"
        return (Note("uncertain_context", text, context=context, saved=saved),)

    # One method for each kind of choice.

    def best_threshold(self) -> Choice:
        """Return the best of all thresholds that satisfy the constraints."""
        if not self.criterion.equivalent:
            return self._best_by_value()
        if self.priced and self.criterion.name == "min_cost":
            touch = self._cheapest_for_rows
            if self.constraints:
                touch = self.priced.cheapest(self._admissible())
            return self._choice_of(touch, None, tied=ties(touch))

        # For lowest cost, or a criterion that equals a cost in another context, find the tangent of the hull.
        context = self.criterion.equivalent(self.context)
        if self.constraints:
            touch = geometry.touching(self.options, context, self.hull.exact_totals(context))
        else:
            touch = self._tangent if context is self.context else self.hull.touching(context)
        slopes = None if context.always_right else geometry.slopes_at(touch, self.options)
        return self._choice_of(touch, slopes, tied=ties(touch), notes=note_if_trivial(context, touch))

    def _choice_of(self, touch: TangentPoint, slopes: tuple[float, float] | None, **others: Any) -> Choice:
        """Return a threshold as a choice."""
        value = self.value_at(touch.point)
        return Choice(touch.choices.model, touch.point, slopes, value, touch.choices.negated, **others)

    def _best_by_value(self) -> Choice:
        """Return the threshold with the best value of a criterion that is not linear in the counts."""
        options = self.options
        target = self.context.target_prevalence
        values = [self.criterion.goodness(at_mix(option.cells, target)) for option in options]
        highest = max(column.max() for column in values)
        if highest == -np.inf:
            name = self.criterion.name
            raise InputError(f"criterion {name!r} is undefined at every admissible threshold")
        enough = highest
        if np.isfinite(highest):
            enough = highest - TIE * max(1.0, abs(highest))
        tied: list[TangentPoint] = []
        for option, column in zip(options, values, strict=True):
            best = np.flatnonzero(column >= enough)[:MOST_TIES_SHOWN]
            tied += [TangentPoint(option, index) for index in best.tolist()]
        # Of tied thresholds take the one with fewest positive predictions, then (the sort is stable) the first model.
        first, *others = sorted(tied, key=lambda touch: touch.point.depth)
        names = tuple(in_words(other.choices.label, other.point) for other in others)
        return self._choice_of(first, geometry.slopes_at(first, options), tied=names)

    def best_with_review(self, review: Review) -> Choice:
        """Return the model and the two thresholds with the lowest cost, with review as a third action."""
        prevalence, cases = self.mix
        limit = None
        if review.capacity is not None:
            limit = min(decimal(review.capacity) / cases, Fraction(1))
        options = [option for option in self.hull.every_choice if not option.negated]
        plans = [third_action(option, self.context, review, prevalence, limit) for option in options]
        best = min(plans, key=lambda plan: plan.cost)
        if best.acting.rates == best.looking.rates:
            text = f"no case is worth a review at a cost of {review.cost:g}"
            if limit == 0:
                text = "the capacity for reviews is 0"
            return replace(self.best_threshold(), notes=(Note("no_review", text, review=review),))
        acting, looking = RandomizedRule.of(best.acting), RandomizedRule.of(best.looking)
        return Choice(
            model=looking.second.model,
            point=acting.point,
            slopes=None,
            criterion_value=math.nan,
            randomized_rule=acting if acting.randomized else None,
            review=Reviewing(review, looking, limit),
            cost=best.cost,
        )

    def best_randomized(self) -> Choice:
        """Return the best randomised rule, or the best threshold if it is equally good."""
        try:
            best = self._best_rule()
        except InfeasibleError:
            self._admissible()  # raises an error that states the closest value any threshold reaches
            raise
        if not best.randomized:
            return self.best_threshold()

        rule = RandomizedRule.of(best, self.filled_share(*best.rates))
        end, point = rule.second, rule.point
        return Choice(end.model, point, None, self.value_at(point), end.negated, randomized_rule=rule)

    def filled_share(self, tpr: Fraction, fpr: Fraction) -> Fraction | None:
        """Return the share of cases that a rule selects, if this share equals a limit on cases; otherwise return None.

        `predict` then selects exactly this share of the cases that it gets.
        """
        prevalence, cases = self.mix
        depth = prevalence * tpr + (1 - prevalence) * fpr
        return depth if depth in (share_bound(constraint, cases) for constraint in self.constraints) else None

    def _best_rule(self) -> ConvexCombination:
        """Return the best randomised rule under the constraints: the optimum of a linear program."""
        if not self.criterion.equivalent:
            expected = "a criterion that is linear in the counts, such as min_cost, accuracy or youden"
            raise InputError("randomized", expected=expected, got=self.criterion.name)
        context = self.criterion.equivalent(self.context)
        prevalence, cases = self.mix
        bounds = [constraint.straight(prevalence, cases) for constraint in self.constraints]
        return touching_within(self.hull.every_choice, context, bounds, self.hull.exact_totals(context))

    @cached_property
    def options(self) -> tuple[Choices, ...]:
        """Thresholds to compare: hull vertices for a linear criterion without constraints, else all thresholds."""
        if self.constraints or not self.criterion.equivalent:
            return self._admissible()
        return self.hull.choices

    def _admissible(self) -> tuple[Choices, ...]:
        try:
            return admissible(self.hull, self.constraints, self.context.target_prevalence, self.population)
        except InfeasibleError as error:
            if not self.hull.holds_levels:
                message, hint = f"among the known thresholds, {error}", "only the ends of the score bins are known"
                raise InfeasibleError(message, hint=hint) from error
            cost = self._cost_if_randomized()
            if cost is None:
                raise
            hint = f"pass randomized=True for a rule that satisfies the constraints at a cost of {cost:.6g} per case"
            raise InfeasibleError(str(error), hint=hint) from error

    def _cost_if_randomized(self) -> float | None:
        """Return the expected cost of the best randomised rule under the constraints; None if there is no such rule."""
        if self.randomized or self.priced:
            return None
        try:
            point = RandomizedRule.of(self._best_rule()).point
        except InputError:  # no rule is feasible, or a bound or the criterion is not linear
            return None
        # Precision is undefined if nobody is predicted positive, so such a rule only seems to satisfy the bound.
        cells: Any = tuple(np.array([getattr(point, cell)], np.float64) for cell in CELLS)
        for constraint in self.constraints:
            if np.isnan(constraint.value(cells, self.context.target_prevalence, None)).any():
                return None
        return float(self.context.exact_cost(point))

    # The cost of the choice, and the costs of its alternatives.

    def decision(self, choice: Choice, notes: tuple[Note, ...]) -> Decision:
        """Return a choice as a `Decision`, with its cost and the costs of the alternatives."""
        counts = self.hull.counts[choice.model]
        point = counts.with_next_score(choice.point)
        default = _default_point(counts)
        everybody = OperatingPoint(point.n_pos, point.n_neg, 0, 0, -math.inf)
        nobody = OperatingPoint(0, 0, point.n_pos, point.n_neg, math.inf)
        best = self._cheapest_for_rows if self.priced else self._tangent
        cost = self._cost(choice.model, point) if choice.cost is None else float(choice.cost)
        hull_cost = self._cost(best.choices.model, best.point)

        # A constraint can make a randomised rule cheaper than every admissible threshold.
        randomized_cost = None
        if self.constraints and choice.randomized_rule is None and cost > hull_cost:
            randomized_cost = self._cost_if_randomized()
            if randomized_cost is not None and randomized_cost >= cost - ROUNDING * abs(cost):
                randomized_cost = None
        if len(counts) == 1 and counts.holds_levels:
            text = f"all scores of {choice.model} are equal, so all cases get the same decision"
            notes = (Note("constant_score", text, model=choice.model), *notes)
        return Decision(
            model=choice.model,
            point=point,
            context=self.context,
            expected_cost=cost,
            default_point=default,
            default_cost=self._cost(choice.model, default),
            hull_cost=hull_cost,
            treat_all_cost=self._cost(choice.model, everybody),
            treat_none_cost=self._cost(choice.model, nobody),
            criterion=self.criterion.name,
            criterion_value=cost if self.criterion.name == "min_cost" else choice.criterion_value,
            slope_interval=choice.slopes if self.hull.is_exact and not self.priced else None,
            negated=choice.negated,
            subject_to=tuple(map(str, self.constraints)),
            population=self.population,
            tied=choice.tied,
            notes=(*choice.notes, *notes),
            best_cost_interval=None if self.hull.is_exact else self.hull.cost_bounds(self.context),
            lot=choice.randomized_rule,
            review=choice.review,
            lot_cost=randomized_cost,
            question=self.question,
            _make_sampling_model=lambda: self.sampling_model(choice),
        )

    def _cost(self, model: str, point: OperatingPoint) -> float:
        """Return the expected cost per case at a point of a model."""
        if self.priced:
            return self.priced.cost(model, point.threshold)
        return float(self.context.exact_cost(point))

    @cached_property
    def _tangent(self) -> TangentPoint:
        return self.hull.touching(self.context)

    @cached_property
    def _cheapest_for_rows(self) -> TangentPoint:
        assert self.priced
        return self.priced.cheapest(self.hull.every_choice)

    @property
    def mix(self) -> tuple[Fraction, Fraction]:
        """Exact prevalence and exact number of cases to which the constraints refer."""
        n_pos, n_neg = (Fraction(total) for total in self.hull.totals(self.context))
        target = self.context.target_prevalence
        prevalence = n_pos / (n_pos + n_neg) if target is None else decimal(target)
        cases = n_pos + n_neg if self.population is None else decimal(self.population)
        return prevalence, cases

    def value_at(self, point: OperatingPoint) -> float:
        """Return the value of the criterion at a point; NaN for the expected cost, computed by `decision`."""
        if self.criterion.name == "min_cost":
            return math.nan
        cells: Any = tuple(np.array([getattr(point, cell)]) for cell in CELLS)
        value = self.criterion.value(*at_mix(cells, self.context.target_prevalence))
        return float(np.asarray(value)[0])

    def notes_on_bins(self) -> tuple[Note, ...]:
        """Return a note if only the ends of score ranges were compared."""
        if self.hull.holds_levels:
            return ()
        if not self.hull.is_exact:
            low, high = self.hull.cost_bounds(self.context)
            text = f"{RANGE_ENDS_COMPARED}: the best cost lies from {low:.6g} to {high:.6g}"
            return (Note(RANGE_ENDS_COMPARED.code, text, low=low, high=high),)
        # Bin ends include all vertices of the hull: enough for a tangent, but not for constraints or other criteria.
        every_threshold = self.constraints or not self.criterion.equivalent
        return (RANGE_ENDS_COMPARED,) if every_threshold else ()

    # The uncertainty of the choice.

    def sampling_model(self, choice: Choice) -> sampling.SamplingModel:
        """Return the sampling model that estimates the cost of the choice on new cases."""
        by_cost = self.criterion.name == "min_cost"
        if self.priced:
            acted = self.priced.acts(choice.model, choice.point.threshold)
            row_costs = sampling.RowCostModel(self.priced)
            if by_cost and not self.constraints:
                return sampling.model_of_rows(row_costs, acted)
            # With costs by row only the cheapest rule can be chosen again in resamples; other rules keep their
            # threshold.
            reason = "the choice by constraints or by a criterion other than cost is not repeated"
            of_fixed_rule = sampling.model_of_rows(row_costs, acted, reason)
            if by_cost:
                return of_fixed_rule
            # Two estimates: for the criterion the choice is repeated, which needs no costs; for cost the rule is fixed.
            chosen_again = self._resampled(self.constraints)
            return replace(chosen_again, row_costs=of_fixed_rule.row_costs, fixed=of_fixed_rule.fixed)

        # A randomised rule can be chosen again if it is of one model and uses up a limit on the share of cases.
        share, constraints = None, self.constraints
        if self.randomized:
            _, cases = self.mix
            share, constraints = sampling.largest_share_of(constraints, cases)
        rule = choice.randomized_rule
        of_two_models = rule is not None and rule.first.model != rule.second.model
        if choice.review or of_two_models or (rule and share is None):
            return sampling.as_given(self.context, choice.point, choice.review, uncertain=self.uncertain)
        return self._resampled(constraints, share)

    def _resampled(self, constraints: tuple[Constraint, ...], limit: float | None = None) -> sampling.SamplingModel:
        """Return the sampling model for a choice among all thresholds of the hull's models."""
        hull, criterion = self.hull, self.criterion
        line = criterion.equivalent(self.context) if criterion.equivalent else Context()
        scale = max(abs(cost) for cost in line.costs.values()) or 1.0
        directions = (False, True) if hull.negate else (False,)
        options = len(hull.models) * len(directions)
        rule = Rule(criterion, self.context, scale, constraints, self.population, options, limit)
        candidates = []
        for model, negated in itertools.product(hull.models, directions):
            candidates.append(Candidate(geometry.label(model, negated), model, rule, negated))
        return sampling.SamplingModel(hull.samples, Candidates(tuple(candidates)), uncertain=self.uncertain)


def _default_point(counts: CumulativeCounts) -> OperatingPoint:
    """Return the point at the default threshold, or at the next known threshold above it.

    The point at the default threshold is unknown if the threshold lies inside a bin of scores.
    """
    try:
        return counts.at(DEFAULT_THRESHOLD)
    except InexactCountsError:
        above = counts.threshold[counts.threshold > DEFAULT_THRESHOLD]
        return counts.at(above[-1].item() if above.size else math.inf)


# Thresholds that satisfy constraints.


def admissible(
    hull: Hull, constraints: tuple[Constraint, ...], target_prevalence: float | None, population: float | None
) -> tuple[Choices, ...]:
    """Return the thresholds that satisfy all constraints, by model; omit models without such a threshold.

    Raises
    ------
    InfeasibleError
        If no threshold satisfies all constraints. The message gives the closest value that any threshold reaches.
    """
    options = hull.every_choice
    mix = (target_prevalence, population, len(options))
    admitted = []
    for option in options:
        allowed = np.ones(option.index.size, dtype=bool)
        for constraint in constraints:
            allowed &= constraint.admits(option.cells, *mix)
        if allowed.all():
            admitted.append(option)
        elif allowed.any():
            admitted.append(option.take(np.flatnonzero(allowed)))
    if admitted:
        return tuple(admitted)

    # For each constraint, find the value closest to its bound at thresholds that satisfy the other constraints.
    hints = []
    for constraint in constraints:
        others = [other for other in constraints if other is not constraint]
        closest, threshold = math.nan, None
        for option in options:
            values = np.asarray(constraint.value(option.cells, *mix), dtype=np.float64).copy()
            for other in others:
                values[~other.holds(other.value(option.cells, *mix))] = np.nan
            index = constraint.closest(values)
            if index is None:
                continue
            value = float(values[index])
            if threshold is None or constraint.is_closer(value, closest):
                closest, threshold = value, in_words(option.model, option.point(index))
        if threshold is not None:
            under = f"with {' and '.join(map(str, others))} " if others else ""
            extreme = "highest" if ">" in constraint.relation else "lowest"
            hints.append(f"{under}the {extreme} {constraint.limited} is {closest:.6g} ({threshold})")
    message = "no threshold of any model satisfies " + " and ".join(map(str, constraints))
    raise InfeasibleError(message, hint="; ".join(hints) or "omit at least two of the constraints")


# Notes.


def note_if_trivial(context: Context, touch: TangentPoint) -> tuple[Note, ...]:
    """Return a note if one action is optimal for all scores, or would be optimal without the constraints."""
    always = context.always_right
    if not always:
        return ()
    # A rate that is not at its end matters only if that kind of error costs something.
    end = 1 if always == "all positive" else 0
    tpr, fpr = touch.rates
    misses_matter = context.miss_cost and tpr != end
    false_alarms_matter = context.false_alarm_cost and fpr != end
    if misses_matter or false_alarms_matter:
        text = f"at these costs {always} would be optimal, but the constraints exclude it"
        return (Note("not_admissible", text, action=always),)
    text = f"trivial: at these costs {always} is right whatever the scores"
    return (Note("always_right", text, action=always),)


def ties(touch: TangentPoint) -> tuple[str, ...]:
    """Return the equally good choices as text: the model's name and, if its rates differ, its threshold."""
    texts = []
    for other in touch.tied:
        name = other.choices.label
        texts.append(name if other.rates == touch.rates else in_words(name, other.point))
    return tuple(texts)


def in_words(model: str, point: OperatingPoint) -> str:
    """Return a model's name and threshold as text, such as "a at 0.4"."""
    return f"{model} at {point.threshold_text}"
