"""The root finder finds the roots of SciPy."""

import math

import pytest
from scipy.optimize import bisect

from rocscope._base.roots import root

FUNCTIONS = {
    "line": lambda x: 3 * x - 1,
    "cubic": lambda x: (x - 0.3) ** 3,
    "steep": lambda x: math.exp(40 * x) - math.exp(30),
    "flat": lambda x: math.expm1((x - 0.7) ** 9),
    "logarithm": lambda x: math.log(x) + 2 if x else -1e300,
    "step": lambda x: 1.0 if x > 0.123 else -1.0,
    "falling": lambda x: math.cos(2 * x),
    "pole": lambda x: 1 / (1.0000001 - x) - 3,
    "at the end": lambda x: x - 1,
}


@pytest.mark.parametrize("xtol", [2e-12, 1e-6])
@pytest.mark.parametrize("case", FUNCTIONS)
def test_the_root_is_that_of_scipy(case, xtol):
    function, calls = FUNCTIONS[case], []

    def counted(x):
        calls.append(x)
        return function(x)

    assert root(counted, 0.0, 1.0, xtol=xtol) == pytest.approx(bisect(function, 0, 1, xtol=1e-15), abs=1.01 * xtol)
    assert len(calls) <= 60  # halving alone takes 42 steps
    assert all(0 <= x <= 1 for x in calls)


def test_infinite_values_at_an_end_are_allowed():
    found = root(lambda x: -math.inf if x == 0 else math.log(x) + 2, 0.0, 1.0)
    assert found == pytest.approx(math.exp(-2), abs=3e-12)


def test_with_the_same_sign_at_both_ends_the_end_nearer_to_0_is_returned():
    assert root(lambda x: x + 1e-17, 0.0, 1.0) == 0
    assert root(lambda x: x - 2, 0.0, 1.0) == 1


def test_the_search_ends_if_an_end_is_infinite():
    # An infinite interval cannot be halved, so that one of its ends is returned.
    assert root(lambda x: x - 1, 0.0, math.inf) == math.inf
