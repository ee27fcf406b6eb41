"""What a decision was chosen by, as what tells how sure it is."""

from fractions import Fraction

from rocscope.core.context import Context, decimal
from rocscope.core.point import OperatingPoint
from rocscope.decisions.constraints import Constraint
from rocscope.decisions.criteria import Criterion, criterion_of
from rocscope.decisions.generalization.candidates import Option, Options
from rocscope.decisions.generalization.expected_cost import AsGiven, Grounds
from rocscope.decisions.generalization.threshold_choice import Rule
from rocscope.decisions.model_hull import Hull
from rocscope.decisions.randomized.review import Reviewing
from rocscope.geometry.hull import label


def grounds_of(
    hull: Hull,
    criterion: Criterion,
    context: Context,
    constraints: tuple[Constraint, ...] = (),
    population: float | None = None,
    limit: float | None = None,
) -> Grounds:
    """Return what tells how sure a choice among all thresholds of a hull is."""
    every = [(model, negated) for model in hull.models for negated in ((False, True) if hull.negate else (False,))]
    if criterion.name == "accuracy" and context == Context(context.target_prevalence):
        criterion = criterion_of("min_cost")  # in another name
    scale = max(map(abs, context.costs.values())) or 1.0
    rule = Rule(criterion, context, scale, constraints, population, len(every), limit)
    options = (Option(label(model, negated), model, rule, negated) for model, negated in every)
    return Grounds(hull.samples, Options(tuple(options)))


def limit_of(constraints: tuple[Constraint, ...], cases: Fraction) -> tuple[float | None, tuple[Constraint, ...]]:
    """Return the share of cases that a lot may fill, where constraints bound nothing else, and what is left of them."""
    if not all(each.quantity in ("cases", "depth") and each.relation == "<=" for each in constraints):
        return None, constraints
    shares = [decimal(each.bound) / (cases if each.quantity == "cases" else 1) for each in constraints]
    return (float(min(shares)) if shares else None), ()


def as_given(context: Context, acted: OperatingPoint, review: Reviewing | None, what: str = "lots are") -> AsGiven:
    """Return what a rule, of lots or of three actions, does to the cases of each class, and what that costs."""
    of = context.costs
    if review is None:
        positives = (acted.tp, acted.fn), (of["tp"], of["fn"])
        negatives = (acted.fp, acted.tn), (of["fp"], of["tn"])
        return AsGiven((positives, negatives), context.target_prevalence, f"{what} taken as given, not as chosen")
    looked, look = review.point, review.review.cost
    positives = (acted.tp, max(looked.tp - acted.tp, 0), looked.fn), (of["tp"], of["tp"] + look, of["fn"])
    negatives = (acted.fp, max(looked.fp - acted.fp, 0), looked.tn), (of["fp"], of["tn"] + look, of["tn"])
    return AsGiven((positives, negatives), context.target_prevalence, "reviews are taken as given, not as chosen")
