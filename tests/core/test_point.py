"""OperatingPoint: every rate is the metric of its four counts."""

import json
from dataclasses import FrozenInstanceError
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rocscope import OperatingPoint, metrics
from rocscope.core.counts import RATES
from rocscope.errors import InputError
from rocscope.inference import Estimate
from strategies import counts

points = st.builds(OperatingPoint, counts, counts, counts, counts)


def cells_of(point):
    return (point.tp, point.fp, point.fn, point.tn)


def test_every_metric_is_on_a_point():
    methods = {"macro_average", "f_score", "weighted_accuracy"}
    assert set(RATES) | methods == set(metrics.METRICS)
    for name in metrics.METRICS:
        assert hasattr(OperatingPoint, name)


@given(point=points)
def test_rates_are_metrics_of_the_counts(point):
    for name in RATES:
        np.testing.assert_equal(getattr(point, name), float(metrics.METRICS[name](*cells_of(point))))
    for name in ("macro_average", "f_score", "weighted_accuracy"):
        np.testing.assert_equal(getattr(point, name)(), float(metrics.METRICS[name](*cells_of(point))))
    np.testing.assert_equal(point.informedness, point.youden)
    assert (point.n_pos, point.n_neg, point.n) == (point.tp + point.fn, point.fp + point.tn, sum(cells_of(point)))


def test_options_reach_the_metric():
    point = OperatingPoint(6, 1, 2, 3)
    assert point.macro_average("geometric") == metrics.macro_average(6, 1, 2, 3, mean="geometric")
    assert point.f_score(2) == metrics.f_score(6, 1, 2, 3, beta=2)
    assert point.weighted_accuracy(w_fn=5) == metrics.weighted_accuracy(6, 1, 2, 3, w_fn=5)


@given(point=st.builds(OperatingPoint, *[st.integers(1, 12)] * 4), share=st.sampled_from([0.01, 0.5, 0.99]))
def test_another_prevalence_keeps_the_rates_within_each_class(point, share):
    moved = point.at_prevalence(share, n=1000)
    assert (moved.n, moved.prevalence) == pytest.approx((1000, share))
    assert (moved.tpr, moved.fpr) == pytest.approx((point.tpr, point.fpr))
    assert moved.precision == pytest.approx(metrics.precision(*cells_of(point), target_prevalence=share))


@pytest.mark.parametrize("count", [-1, nan, inf, "3", None])
def test_counts_that_are_none(count):
    with pytest.raises(InputError, match=r"^fp: expected a finite count of at least 0, got "):
        OperatingPoint(1, count, 1, 1)


def test_shown_as_one_line_in_full():
    assert repr(OperatingPoint(1_234_567, 0.5, 1, 1)) == "OperatingPoint(tp=1234567, fp=0.5, fn=1, tn=1)"
    assert repr(OperatingPoint(1, 1, 1, 1, 2**53 + 1)).endswith("threshold=9007199254740993)")
    assert repr(OperatingPoint(1, 1, 1, 1, np.float32(0.1))).endswith("threshold=0.1)")
    assert "<td>1234567</td>" in OperatingPoint(1_234_567, 1, 1, 1)._repr_html_()


def test_json_has_no_nan():
    plain = json.loads(json.dumps(OperatingPoint(0, 0, 1, 1, inf).to_dict(), allow_nan=False))
    assert (plain["tp"], plain["threshold"], plain["precision"], plain["tnr"]) == (0, None, None, 1.0)


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        OperatingPoint(1, 1, 1, 1).tp = 2


def test_results_with_undefined_numbers_equal_their_copies():
    """As dataclasses did before Python 3.13 with one and the same NaN; numbers read from a file are others."""
    assert OperatingPoint(1, 2, 3, 4, float("nan")) == OperatingPoint(1, 2, 3, 4, float("nan"))
    assert Estimate(0.5, 0.4, 0.6, 0.95, "none", 3, float("nan")) == Estimate(0.5, 0.4, 0.6, 0.95, "none", 3)
    assert len({OperatingPoint(1, 2, 3, 4, float("nan")), OperatingPoint(1, 2, 3, 4, float("nan"))}) == 1
    assert OperatingPoint(1, 2, 3, 4) != OperatingPoint(1, 2, 3, 5)
    assert OperatingPoint(1, 2, 3, 4, 0.5) != OperatingPoint(1, 2, 3, 4)


def test_counts_that_are_none_are_refused_by_every_metric():
    """Also where NDArray is an alias by a type statement, as from Python 3.12 on."""
    with pytest.raises(InputError, match="fn: expected an array of numbers or a number, got None"):
        metrics.tpr(1, 2, None, 3)
