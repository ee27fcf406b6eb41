"""Where a context comes from: cost matrices, ratios, profits; and which actions costs make right by themselves."""

from fractions import Fraction
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
from rocscope import Campaign, Context, OperatingPoint
from rocscope.errors import InputError
from strategies import costs, prevalences

contexts = st.builds(Context, prevalences, costs, costs, costs.map(lambda c: -c), costs.map(lambda c: -c))
cells = st.tuples(*[st.integers(1, 12)] * 4)


@pytest.mark.parametrize(
    ("matrix", "orientation"),
    [
        ([[-1, 2], [30, 4]], {"rows": "predicted", "positive": "first"}),
        ([[-1, 30], [2, 4]], {"rows": "actual", "positive": "first"}),
        ([[4, 30], [2, -1]], {"rows": "predicted", "positive": "last"}),
        (np.array([[4, 2], [30, -1]]), {"rows": "actual", "positive": "last"}),
    ],
)
def test_every_orientation_of_a_cost_matrix(matrix, orientation):
    assert Context.from_cost_matrix(matrix, **orientation) == Context(cost_tp=-1, cost_fp=2, cost_fn=30, cost_tn=4)


@pytest.mark.parametrize(
    ("matrix", "orientation", "message"),
    [
        (
            [[0, 1, 2], [1, 0, 2]],
            {"rows": "predicted", "positive": "first"},
            r"expected an array of shape \(2, 2\), got an array of shape",
        ),
        (
            [[0, nan], [1, 0]],
            {"rows": "predicted", "positive": "first"},
            "cost_fp: expected a finite number, .*, got nan",
        ),
        ([[0, 1], [1, 0]], {"rows": "columns", "positive": "first"}, "rows: expected one of 'predicted', 'actual'"),
        ([[0, 1], [1, 0]], {"rows": "actual", "positive": 1}, "positive: expected one of 'first', 'last', got 1"),
    ],
)
def test_cost_matrices_refused(matrix, orientation, message):
    with pytest.raises(InputError, match=message):
        Context.from_cost_matrix(matrix, **orientation)


def test_orientation_is_never_guessed():
    with pytest.raises(TypeError, match="rows"):
        Context.from_cost_matrix([[0, 1], [1, 0]])


def test_ratio_and_profit():
    assert Context.from_cost_ratio(0.05).cost_ratio == 0.05
    context = Context.from_profit(unit_benefit=0.3, unit_cost=0.1)
    assert (context.cost_tp, context.cost_fp, context.cost_fn, context.cost_tn) == (-0.2, 0.1, 0, 0)
    assert context.probability_threshold == float(Fraction(1, 3))
    with pytest.raises(InputError, match="cost ratio: expected a finite number above 0, got 0"):
        Context.from_cost_ratio(0)
    with pytest.raises(InputError, match="unit_cost: expected a finite number of at least 0, got -1"):
        Context.from_profit(unit_benefit=1, unit_cost=-1)


@given(context=contexts, point=cells.map(lambda each: OperatingPoint(*each)))
def test_exact_cost(context, point):
    rates = (Fraction(point.tp, point.n_pos), Fraction(point.fp, point.n_neg))
    expected = oracle.expected_cost(context, *rates, Fraction(point.n_pos, point.n))
    assert context.exact_cost(point) == expected


@given(context=contexts, n_pos=st.integers(1, 50), n_neg=st.integers(1, 50))
def test_exact_slope(context, n_pos, n_neg):
    if context.miss_cost:
        assert context.exact_slope(n_pos, n_neg) == oracle.slope(context, Fraction(n_pos, n_pos + n_neg))


signed = st.sampled_from([-2, -0.1, 0, 0.1, 1, 3])


@given(costs=st.tuples(signed, signed, signed, signed), target=prevalences, mix=st.sampled_from([0.1, 0.5, 0.9]))
def test_an_action_is_always_right_iff_no_classifier_is_cheaper(costs, target, mix):
    given = dict(zip(("cost_fp", "cost_fn", "cost_tp", "cost_tn"), costs, strict=True))

    def cost(tpr, fpr):
        context = SimpleNamespace(target_prevalence=target, **given)
        return oracle.expected_cost(context, Fraction(tpr), Fraction(fpr), oracle.exact(mix))

    perfect, inverse, everybody, nobody = cost(1, 0), cost(0, 1), cost(1, 1), cost(0, 0)
    if max(everybody, nobody) < perfect or (inverse < min(everybody, nobody) and perfect > max(everybody, nobody)):
        with pytest.raises(InputError, match="which rewards errors of both kinds; check the signs of the costs"):
            Context(target, **given)
        return
    context = Context(target, **given)
    if perfect < min(everybody, nobody):
        assert context.always_right is None
    else:
        cheaper = {"all positive": everybody, "all negative": nobody}
        assert cheaper[context.always_right] == min(everybody, nobody, perfect, inverse)


def test_campaigns_refused():
    good = {"population": 10, "unit_cost": 1, "unit_benefit": 2}
    for name, value in {
        "population": -5,
        "unit_cost": -1,
        "unit_benefit": nan,
        "fixed_cost": "much",
        "response_rate": 1.5,
        "capacity": -1,
    }.items():
        with pytest.raises(InputError, match=f"^{name}: expected "):
            Campaign(**good | {name: value})
