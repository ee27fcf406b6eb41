"""Context: slopes and costs against differences of the expected cost, in fractions."""

from fractions import Fraction
from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
from rocscope import Context, OperatingPoint
from rocscope.errors import InputError
from strategies import costs, counts, prevalences

contexts = st.builds(Context, prevalences, costs, costs, costs.map(lambda c: -c), costs.map(lambda c: -c))
shares = st.sampled_from([0.01, 0.2, 0.5, 0.75])
rates = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])


@given(context=contexts, prevalence=shares)
def test_slope_leaves_the_expected_cost_as_it_is(context, prevalence):
    try:
        expected = oracle.slope(context, oracle.exact(prevalence))
    except ZeroDivisionError:
        slope = context.slope(prevalence)
        assert slope == inf if context.false_alarm_cost else isnan(slope)
    else:
        assert context.slope(prevalence) == float(expected)


@given(context=contexts, tpr=rates, fpr=rates, prevalence=shares)
def test_expected_cost(context, tpr, fpr, prevalence):
    expected = oracle.expected_cost(context, *(oracle.exact(rate) for rate in (tpr, fpr, prevalence)))
    assert context.expected_cost(tpr, fpr, prevalence) == pytest.approx(float(expected), rel=1e-13, abs=1e-13)
    both = context.expected_cost(np.array([tpr, 0.5]), np.array([fpr, 0.5]), prevalence)
    assert both[0] == context.expected_cost(tpr, fpr, prevalence)


@given(context=contexts, cells=st.tuples(*[st.integers(1, 12)] * 4))
def test_cost_of_a_point_is_n_times_the_expected_cost_at_its_own_mix(context, cells):
    point = OperatingPoint(*cells)
    own = Context(None, context.cost_fp, context.cost_fn, context.cost_tp, context.cost_tn)
    per_case = own.expected_cost(point.tpr, point.fpr, point.prevalence)
    assert own.cost(point) == pytest.approx(point.n * per_case, rel=1e-12, abs=1e-9)


@given(context=contexts, n_pos=st.integers(1, 50), n_neg=st.integers(1, 50))
def test_rates_of_exchange_are_what_one_more_case_changes(context, n_pos, n_neg):
    """In one unit: the ratio of both is that of the changes of the expected cost."""
    gain, cost = context.rates_of_exchange(n_pos, n_neg)
    prevalence = Fraction(n_pos, n_pos + n_neg)

    def expected(tp, fp):
        return oracle.expected_cost(context, Fraction(tp, n_pos), Fraction(fp, n_neg), prevalence)

    assert gain * (expected(0, 1) - expected(0, 0)) == cost * (expected(0, 0) - expected(1, 0))


@given(context=contexts, n=st.integers(1, 1000))
def test_lift_slope_leaves_the_cost_as_it_is(context, n):
    """Along the line y gains its slope while x grows by 1, that is by n cases; cost per case is the context's."""
    alarm, miss = oracle.exact(context.cost_fp - context.cost_tn), oracle.exact(context.cost_fn - context.cost_tp)
    slope = context.lift_slope(n)
    if alarm + miss == 0:
        assert isnan(slope)
        return
    true_positives = Fraction(slope)
    saved, spent = true_positives * context.miss_cost, (n - true_positives) * context.false_alarm_cost
    assert float(saved) == pytest.approx(float(spent), rel=1e-12)
    assert context.probability_threshold * n == pytest.approx(slope)


def test_costs_are_read_as_the_decimals_they_are_written_as():
    assert Context(cost_fp=0.1, cost_fn=0.3).slope(0.5) == float(Fraction(1, 3))
    assert Context(cost_fp=0.3, cost_tn=0.1).false_alarm_cost == Fraction(1, 5)


def test_target_prevalence_takes_precedence():
    assert Context(0.01).slope(0.5) == Context().slope(0.01) == 99.0
    assert Context(0.01).prevalence(0.5) == 0.01
    assert Context().prevalence(0.5) == 0.5


def test_misses_that_cost_nothing():
    assert Context(cost_fn=0).slope(0.5) == inf
    assert isnan(Context(cost_fp=0, cost_fn=0).slope(0.5))


@pytest.mark.parametrize("name", ["cost_fp", "cost_fn", "cost_tp", "cost_tn"])
@pytest.mark.parametrize("cost", [nan, inf, -inf, "1", None])
def test_costs_refused(name, cost):
    with pytest.raises(
        InputError, match=rf"^{name}: expected a finite number, or the name of a column of the rows, got "
    ):
        Context(**{name: cost})


@pytest.mark.parametrize("share", [0, 1, -0.1, 5, nan, "0.5"])
def test_prevalences_refused(share):
    with pytest.raises(InputError, match=r"expected a share above 0 and below 1, got .*; write 5% as 0.05"):
        Context(target_prevalence=share)


@given(cells=st.tuples(counts, counts, counts, counts))
def test_equal_costs_count_errors(cells):
    assert Context().cost(OperatingPoint(*cells)) == cells[1] + cells[2]
