"""SamplingModel: the data and the candidates of a choice, from which its value on new cases is estimated."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.progress import Progress
from rocscope.core.context import Context, decimal
from rocscope.core.point import OperatingPoint
from rocscope.decisions.constraints import Constraint
from rocscope.decisions.criteria import Criterion
from rocscope.decisions.generalization.candidates import Candidate, Candidates, CostOrCriterion, design_of_all
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate, FixedRule
from rocscope.decisions.generalization.cost_draws import PRIOR, DrawsOfCounts
from rocscope.decisions.generalization.expected_cost import Generalization
from rocscope.decisions.generalization.resampling import FOLDS, REPEATS, bootstrap_choice, cross_validate, in_sample
from rocscope.decisions.generalization.row_cost_model import RowCostModel
from rocscope.decisions.generalization.threshold_choice import Rule
from rocscope.decisions.model_hull import Hull
from rocscope.decisions.randomized.review import Reviewing
from rocscope.errors import InputError
from rocscope.geometry.hull import label
from rocscope.inference.influence.units import WeightKind
from rocscope.sample import Samples, samples_of


@dataclass(frozen=True)
class SamplingModel:
    """The data that a choice was made on, and its candidates; or a rule that is taken as given.

    Attributes
    ----------
    samples : Samples or None
        The data of all models; rows in money where costs differ from row to row and cost decides.
    candidates : Candidates or None
        What was chosen among.
    row_costs : RowCostModel or None
        What each row costs, where that differs.
    fixed : function without arguments, or None
        Returns the rule whose cost is not estimated by choosing anew.
    """

    samples: Samples | None = None
    candidates: Candidates | None = None
    row_costs: RowCostModel | None = None
    fixed: Callable[[], FixedRule] | None = None

    def estimate(self, *, quantity: CostOrCriterion = "cost", **options: Any) -> ChosenEstimate:
        """Return the cost (in the candidates' unit) or criterion of the choice on new cases.

        The options are those of `generalization`.
        """
        check.check_choice("of", quantity, ("cost", "criterion"))
        if self.fixed and not (self.candidates and quantity == "criterion"):
            return self._as_given(quantity, **options)
        return self.generalization(quantity=quantity, **options).estimate()

    def _as_given(
        self, quantity: CostOrCriterion, *, level: float = 0.95, replicates: int = 2000, random_state: Any = 0, **_: Any
    ) -> ChosenEstimate:
        if quantity != "cost":
            raise InputError("of", expected="'cost' for a rule that is taken as given", got=repr(quantity))
        assert self.fixed is not None
        level = check.check_level(level)
        check.check_whole(replicates, "replicates")
        return self.fixed().estimate(level, replicates, check.seed_of(random_state))

    def generalization(
        self,
        *,
        level: float = 0.95,
        replicates: int = 2000,
        random_state: Any = 0,
        quantity: CostOrCriterion = "cost",
        folds: int = FOLDS,
        repeats: int = REPEATS,
        stratified: bool = False,
        weights: WeightKind = "auto",
        progress: Progress = None,
    ) -> Generalization:
        """Return the choice repeated in folds and replicates."""
        samples, candidates = self.samples, self.candidates
        assert samples is not None
        assert candidates is not None
        level = check.check_level(level)
        check.check_whole(replicates, "replicates")
        for name, counts in samples.points().items():
            counts.require_both_classes(f"interval with {name!r}")
        seed = check.seed_of(random_state)
        design = design_of_all(samples, seed, stratified=stratified, weights=weights)
        sample = in_sample(design, candidates)
        judged = cross_validate(design, candidates, seed, folds, repeats)
        drawn = bootstrap_choice(design, candidates, sample, replicates, seed, progress)
        law: Any = DrawsOfCounts(design, candidates, sample, drawn, stratified)
        if self.row_costs is not None and candidates.criterion.name == "min_cost":
            law = self.row_costs.draws(design, sample, stratified, weights)
        return Generalization(design, candidates, sample, judged, drawn, law, quantity, level, seed)


def model_of_hull(
    hull: Hull,
    criterion: Criterion,
    context: Context,
    constraints: tuple[Constraint, ...] = (),
    population: float | None = None,
    limit: float | None = None,
) -> SamplingModel:
    """Return the sampling model of a choice among all thresholds of a hull."""
    every = [(model, negated) for model in hull.models for negated in ((False, True) if hull.negate else (False,))]
    line = criterion.equivalent(context) if criterion.equivalent else Context()
    scale = max(map(abs, line.costs.values())) or 1.0
    rule = Rule(criterion, context, scale, constraints, population, len(every), limit)
    candidates = (Candidate(label(model, negated), model, rule, negated) for model, negated in every)
    return SamplingModel(hull.samples, Candidates(tuple(candidates)))


def model_of_rows(row_costs: RowCostModel, acts: Array, why: str = "") -> SamplingModel:
    """Return the sampling model of a choice of lowest cost where costs differ from row to row.

    The choice is taken as fixed if a reason `why` is given, or if one action is right in all rows.
    """
    money = row_costs.priced.in_money
    if not why and 0 < money.n_pos < money.n:
        return SamplingModel(samples_of(money), row_costs.candidates, row_costs)
    return SamplingModel(row_costs=row_costs, fixed=lambda: row_costs.given(acts, why))


def limit_of(constraints: tuple[Constraint, ...], cases: Fraction) -> tuple[float | None, tuple[Constraint, ...]]:
    """Return the share of cases that a lot may fill, where constraints bound nothing else, and what is left of them."""
    if not all(each.quantity in ("cases", "depth") and each.relation == "<=" for each in constraints):
        return None, constraints
    shares = [decimal(each.bound) / (cases if each.quantity == "cases" else 1) for each in constraints]
    return (float(min(shares)) if shares else None), ()


def as_given(
    context: Context, acted: OperatingPoint, review: Reviewing | None, what: str = "lots are"
) -> SamplingModel:
    """Return the sampling model of a fixed randomised rule or rule with reviews."""
    of = context.costs
    positives: _Actions = (acted.tp, acted.fn), (of["tp"], of["fn"])
    negatives: _Actions = (acted.fp, acted.tn), (of["fp"], of["tn"])
    why = f"{what} taken as given, not as chosen"
    if review is not None:
        looked, look = review.point, review.review.cost
        positives = (acted.tp, max(looked.tp - acted.tp, 0), looked.fn), (of["tp"], of["tp"] + look, of["fn"])
        negatives = (acted.fp, max(looked.fp - acted.fp, 0), looked.tn), (of["fp"], of["tn"] + look, of["tn"])
        why = "reviews are taken as given, not as chosen"
    return SamplingModel(fixed=lambda: _actions_as_given((positives, negatives), context.target_prevalence, why))


_Actions = tuple[tuple[float, ...], tuple[float, ...]]
"""Of one class: how many cases get each of several actions, and what each action costs; the last is to do nothing."""


def _actions_as_given(classes: tuple[_Actions, _Actions], target_prevalence: float | None, why: str) -> FixedRule:
    """Return the fixed rule with draws of its cost: each class ~ Dirichlet(counts + ½), prevalence ~ Beta(n_pos + ½,
    …).
    """
    n_pos, n_neg = (float(sum(counts)) for counts, _ in classes)

    def draw(replicates: int, seed: int) -> tuple[Array, Array]:
        rng, many = np.random.default_rng([seed, 3]), 10 * replicates
        prevalence: Any = rng.beta(n_pos + PRIOR, n_neg + PRIOR, many)
        prevalence = prevalence if target_prevalence is None else target_prevalence
        drawn = [rng.dirichlet(np.array(counts) + PRIOR, many) @ np.array(costs) for counts, costs in classes]
        nobody = prevalence * classes[0][1][-1] + (1 - prevalence) * classes[1][1][-1]
        return prevalence * drawn[0] + (1 - prevalence) * drawn[1], nobody

    own = n_pos / (n_pos + n_neg) if target_prevalence is None else target_prevalence
    means = [float(np.dot(counts, costs) / sum(counts)) for counts, costs in classes]
    return FixedRule(own * means[0] + (1 - own) * means[1], draw, "Jeffreys, as given", n_pos + n_neg, why)
