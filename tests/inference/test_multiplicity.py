"""Adjusted p-values against statsmodels."""

import gc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.multitest import multipletests

import rocscope as rs
from rocscope.errors import InputError

NAMES = {"holm": "holm", "bh": "fdr_bh"}
p_values = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.5, 1.0])), min_size=1, max_size=12)


@pytest.fixture(autouse=True)
def spared():
    """Spare statsmodels, which collects garbage in every call, all that the tests before left behind."""
    gc.freeze()


methods = pytest.mark.parametrize("method", NAMES)


@methods
@given(p=p_values)
def test_adjusted_p_values_are_those_of_statsmodels(method, p):
    expected = multipletests(p, method=NAMES[method])[1]
    np.testing.assert_allclose(rs.inference.adjust_p_values(p, method), expected, rtol=1e-12, atol=1e-300)


@methods
def test_those_of_compared_models_are_too(method):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    preds = rs.Predictions(y, {name: y * shift + rng.normal(size=120) for shift, name in enumerate("abcd")})
    found = rs.compare(preds, adjust=method)
    p = [pair.p_value for pair in found]
    assert len(set(p)) == 6
    expected = multipletests(p, method=NAMES[method])[1]
    np.testing.assert_allclose([pair.adjusted_p_value for pair in found], expected, rtol=1e-12)


def test_without_adjustment_they_stay():
    assert rs.inference.adjust_p_values([0.5, 0.01], "none").tolist() == [0.5, 0.01]


@pytest.mark.parametrize("p", [[0.1, 2], [-0.1], [np.nan, 0.5]])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(InputError, match=r"p_values: expected (numbers from 0 to 1|finite numbers)"):
        rs.inference.adjust_p_values(p)
