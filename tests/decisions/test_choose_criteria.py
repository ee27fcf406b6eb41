"""choose by a criterion and under constraints, against a look at every threshold of every model."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
from model_cases import all_points, contexts, several
from rocscope import Context, OperatingPoint, ThresholdCounts, choose, metrics
from rocscope.decisions import Constraint
from rocscope.errors import InfeasibleError, InputError
from strategies import counts

VALUES = {
    "accuracy": lambda p: Fraction(p.tp + p.tn) / p.n,
    "balanced_accuracy": lambda p: (p.tpr + 1 - p.fpr) / 2,
    "youden": lambda p: p.tpr - p.fpr,
    "ks": lambda p: p.tpr - p.fpr,
    "closest_topleft": lambda p: -(p.fpr**2 + (1 - p.tpr) ** 2),
    "f1": lambda p: Fraction(2 * p.tp) / (2 * p.tp + p.fp + p.fn) if p.tp + p.fp + p.fn else None,
    "f2": lambda p: Fraction(5 * p.tp) / (5 * p.tp + p.fp + 4 * p.fn),
    "break_even": lambda p: (Fraction(p.tp) / (p.tp + p.fp) + p.tpr) / 2 if p.tp + p.fp else None,
    "kappa": lambda p: _kappa(p),
    "error": lambda p: -Fraction(p.fp + p.fn) / p.n,
    "lift@0.5": lambda p: p.tpr if p.depth <= Fraction(1, 2) else None,
    "precision": lambda p: Fraction(p.tp) / (p.tp + p.fp) if p.tp + p.fp else None,
}


def _kappa(p):
    chance = ((p.tp + p.fp) * (p.tp + p.fn) + (p.fn + p.tn) * (p.fp + p.tn)) / p.n**2
    return (Fraction(p.tp + p.tn) / p.n - chance) / (1 - chance)


def chosen_among(preds, decision):
    return oracle.at(oracle.rows(preds.y_true, preds.scores[decision.model]), decision.threshold)


@pytest.mark.every(5)
@pytest.mark.parametrize("criterion", VALUES)
@given(preds=several(most=12))
def test_no_threshold_of_any_model_is_better_by_the_criterion(criterion, preds):
    value = VALUES[criterion]
    decision = choose(preds, criterion=criterion)
    best = max(value(point) for point in all_points(preds) if value(point) is not None)
    chosen = chosen_among(preds, decision)
    assert float(value(chosen)) == pytest.approx(float(best), abs=1e-12)
    assert (chosen.tp, chosen.fp) == (decision.point.tp, decision.point.fp)
    as_good = [p for p in all_points(preds) if value(p) is not None and value(p) == best]
    assert chosen.depth == min(point.depth for point in as_good)


@given(preds=several(most=12))
def test_own_function_and_matthews(preds):
    decision = choose(preds, criterion=lambda tp, fp, fn, tn: 3 * tp - fp)
    assert decision.criterion_value == max(3 * p.tp - p.fp for p in all_points(preds))
    tables = [[float(cell) for cell in (p.tp, p.fp, p.fn, p.tn)] for p in all_points(preds)]
    known = [metrics.mcc(*table) for table in tables]
    if not np.isnan(known).all():
        assert choose(preds, criterion="mcc").criterion_value == pytest.approx(np.nanmax(known), abs=1e-12)


@given(preds=several(most=12), prevalence=st.sampled_from([0.1, 0.5, 0.9]))
def test_criteria_are_taken_at_the_target_prevalence(preds, prevalence):
    def precision(p):
        tpr, fpr = oracle.exact(prevalence) * p.tpr, (1 - oracle.exact(prevalence)) * p.fpr
        return 2 * tpr / (tpr + fpr + oracle.exact(prevalence))

    decision = choose(preds, Context(target_prevalence=prevalence), criterion="f1")
    assert decision.criterion_value == pytest.approx(float(max(map(precision, all_points(preds)))))


BOUNDED = {
    "tpr": lambda p: p.tpr,
    "fpr": lambda p: p.fpr,
    "precision": lambda p: Fraction(p.tp) / (p.tp + p.fp) if p.tp + p.fp else None,
    "depth": lambda p: p.depth,
    "cases": lambda p: p.tp + p.fp,
    "fn": lambda p: p.fn,
}


@st.composite
def constraints(draw):
    quantity = draw(st.sampled_from(list(BOUNDED)))
    bound = draw(
        st.integers(0, 6) if quantity in ("cases", "fn") else st.sampled_from([0, 0.2, 0.25, 0.5, 0.6, 0.9, 1])
    )
    return Constraint(quantity, draw(st.sampled_from([">=", "<=", ">", "<"])), bound)


def holds(constraint, point):
    value, bound = BOUNDED[constraint.quantity](point), oracle.exact(constraint.bound)
    if value is None:
        return False
    return {">=": value >= bound, "<=": value <= bound, ">": value > bound, "<": value < bound}[constraint.relation]


@given(preds=several(most=12), context=contexts, subject_to=st.lists(constraints(), min_size=1, max_size=2))
def test_no_admissible_threshold_is_cheaper(preds, context, subject_to):
    own_mix = Context(None, context.cost_fp, context.cost_fn)
    allowed = [point for point in all_points(preds) if all(holds(each, point) for each in subject_to)]
    if not allowed:
        with pytest.raises(InfeasibleError, match="no threshold of any model satisfies "):
            choose(preds, own_mix, subject_to=subject_to)
        return
    decision = choose(preds, own_mix, subject_to=subject_to)
    share = Fraction(preds.n_pos, preds.n)

    def cost(point):
        return oracle.expected_cost(own_mix, point.tpr, point.fpr, share)

    chosen = chosen_among(preds, decision)
    assert all(holds(each, chosen) for each in subject_to)
    assert cost(chosen) == min(map(cost, allowed))
    assert decision.regret >= 0
    low, high = decision.slope_interval
    assert low <= float(oracle.slope(own_mix, share)) <= high
    f_score = choose(preds, criterion="f1", subject_to=subject_to)
    assert f_score.criterion_value == pytest.approx(float(max(map(VALUES["f1"], allowed))))


@given(preds=several(most=12), cost=st.sampled_from([-1, 0]), subject_to=constraints())
def test_costs_that_are_always_right_under_constraints(preds, cost, subject_to):
    context = Context(cost_fp=cost, cost_fn=2)
    allowed = [point for point in all_points(preds) if holds(subject_to, point)]
    if allowed:
        decision = choose(preds, context, subject_to=subject_to)
        share = Fraction(preds.n_pos, preds.n)
        least = min(oracle.expected_cost(context, point.tpr, point.fpr, share) for point in allowed)
        assert decision.expected_cost == pytest.approx(float(least), abs=1e-12)
        as_cheap = least == oracle.expected_cost(context, 1, 1, share)
        right = "all positive is right" if as_cheap else "all positive would be optimal, but the constraints exclude it"
        assert right in decision.notes[0]


def test_how_close_an_infeasible_constraint_comes():
    models = {"a": ThresholdCounts([3, 2, 1], [5, 3, 2], [1, 4, 5]), "b": ThresholdCounts([9, 8], [6, 4], [2, 8])}
    with pytest.raises(InfeasibleError) as error:
        choose(models, subject_to=["tpr >= .8", "precision >= .75"])
    assert str(error.value) == (
        "no threshold of any model satisfies tpr >= 0.8 and precision >= 0.75; "
        "with precision >= 0.75 the highest tpr is 0.6 (b at 9); "
        "with tpr >= 0.8 the highest precision is 0.615385 (a at 2)"
    )
    with pytest.raises(InfeasibleError, match=r"the highest precision is 0.833333 \(a at 3\)"):
        choose(models, subject_to="precision > 0.9")


def test_capacity_and_budget_in_a_population():
    counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
    context = Context(cost_fn=1000)
    assert choose(counts, context).threshold == -math.inf
    exactly = choose(counts, context, subject_to=Constraint.capacity(300), population=1000)
    assert (exactly.threshold, exactly.in_population.tp + exactly.in_population.fp) == (2, 300)
    assert choose(counts, context, subject_to="cases <= 299.9", population=1000).threshold == 3
    budget = Constraint.budget(1000, unit_cost=2, fixed_cost=400)
    assert budget == Constraint.capacity(300)
    assert choose(counts, context, subject_to=budget, population=1000).threshold == 2
    rare = Context(cost_fn=10_000, target_prevalence=0.01)
    decision = choose(counts, rare, subject_to="cases <= 9_000", population=100_000)
    assert decision.threshold == 3
    assert decision.in_population.tp + decision.in_population.fp == pytest.approx(1000 * 0.6 + 99_000 * 70 / 950)
    assert decision.total_cost == pytest.approx(100_000 * decision.expected_cost)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tpr >= .9", Constraint("tpr", ">=", 0.9)),
        (" fpr≤5% ", Constraint("fpr", "<=", 0.05)),
        ("cases < 1e3", Constraint("cases", "<", 1000)),
        ("mcc > -0.5", Constraint("mcc", ">", -0.5)),
    ],
)
def test_constraints_are_read(text, expected):
    assert Constraint.parse(text) == expected
    assert Constraint.parse(str(expected)) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Constraint.parse("recal >= .9"), "constraint: expected one of .*got 'recal'"),
        (lambda: Constraint.parse("tpr .9"), "constraint: expected a text such as 'tpr >= 0.9', got 'tpr .9'"),
        (lambda: Constraint.parse(3), "constraint: expected a text such as"),
        (
            lambda: Constraint("tpr", "==", 0.5),
            "constraint: expected one of '>=', '<=', '>', '<', got '=='",
        ),
        (lambda: Constraint("tpr", ">=", math.nan), "bound of tpr: expected a finite number, got nan"),
        (lambda: Constraint.capacity(-1), "capacity: expected a number of at least 0, got -1"),
        (lambda: Constraint.budget(5, unit_cost=1, fixed_cost=9), "budget: expected a number of at least the fixed"),
        (lambda: choose(COUNTS, criterion="f_1"), r"criterion: expected one of .*\(did you mean 'f1'\?\), got 'f_1'"),
        (lambda: choose(COUNTS, criterion=lambda *cells: 1.0), r"expected an array of shape \(3,\), got"),
        (
            lambda: choose(COUNTS, criterion=lambda *cells: cells[0] * np.nan),
            "is undefined at every admissible threshold",
        ),
        (lambda: choose(COUNTS, population=-4), "population: expected a number of cases above 0, got -4"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


COUNTS = ThresholdCounts([2, 1], [3, 1], [1, 3])


@given(cells=st.tuples(counts, counts, counts, counts).filter(lambda c: c[0] + c[2] and c[1] + c[3]))
def test_a_crisp_classifier_is_used_or_one_of_the_trivial_ones(cells):
    decision = choose({"crisp": OperatingPoint(*cells)})
    best = max(cells[0] + cells[3], cells[0] + cells[2], cells[1] + cells[3])
    assert decision.point.tp + decision.point.tn == best
