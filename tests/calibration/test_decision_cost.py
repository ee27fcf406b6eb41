"""Cost of miscalibration: its area is the miscalibration of the Brier score, and its heights are sums over cases."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope.calibration.outcomes import outcomes, pav_values
from rocscope.errors import InputError
from strategies import costly

samples = st.lists(st.tuples(st.booleans(), st.integers(0, 10), st.integers(1, 4)), min_size=1, max_size=30)


def columns(rows):
    label, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    return label.astype(int), score / 10, weight


@given(samples)
@costly
def test_the_area_is_the_miscalibration_of_the_brier_score(rows):
    label, score, weight = columns(rows)
    curve = rs.calibration.miscalibration_cost(label, score, sample_weight=weight)
    parts = rs.calibration.decompose(label, score, sample_weight=weight)
    assert curve.area() == pytest.approx(parts.miscalibration, abs=1e-13)
    assert (curve.y >= 0).all()


@given(samples, st.floats(0.001, 0.999))
@costly
def test_heights_are_sums_over_the_cases(rows, proportion):
    label, score, weight = columns(rows)
    curve = rs.calibration.miscalibration_cost(label, score, sample_weight=weight)
    fitted = pav_values(outcomes(curve.counts))[np.searchsorted(np.unique(score), score)]

    def cost(acted_on):
        acts = acted_on >= proportion
        each = np.where(label == 1, np.where(acts, 0, 2 * (1 - proportion)), np.where(acts, 2 * proportion, 0))
        return each @ weight / weight.sum()

    if not np.isclose(fitted, proportion, atol=1e-9).any():
        assert curve.at(proportion) == pytest.approx(cost(score) - cost(fitted), abs=1e-12)
    best = min(cost(np.where(score >= cut, 1.0, 0.0)) for cut in [*np.unique(score), np.inf])
    assert curve.at(proportion) == pytest.approx(cost(score) - best, abs=1e-12)


def test_target_prevalence_and_context():
    rng = np.random.default_rng(0)
    score = rng.random(400)
    label = rng.random(400) < score**2
    moved = rs.calibration.miscalibration_cost(label, score, target_prevalence=0.1)
    weight = np.where(label, 0.1 / label.mean(), 0.9 / (1 - label.mean()))
    assert moved.area() == pytest.approx(rs.calibration.decompose(label, score, sample_weight=weight).miscalibration)
    curve = rs.calibration.miscalibration_cost(label, score)
    estimate = curve.interval(rs.Context(cost_fp=1, cost_fn=3), draws=199)
    assert estimate.value == pytest.approx(2 * curve.at(0.25))
    assert estimate.low <= estimate.value <= estimate.high
    with pytest.raises(InputError, match="costs of errors above costs"):
        curve.cost(rs.Context(cost_tp=5))
    assert json.dumps(curve.to_dict(), allow_nan=False)


def test_the_band_holds_the_true_cost():
    rng, inside = np.random.default_rng(1), []
    for run in range(8):
        score = rng.random(80)
        band = rs.calibration.miscalibration_cost(rng.random(80) < score, score).confidence_band(
            draws=39, random_state=run, points=9
        )
        inside.append((band.low == 0).mean())
        assert (band.high > band.low).all()  # also where all act, or none
    assert np.mean(inside) >= 0.9  # a calibrated model costs nothing at any ratio


def test_the_band_allows_for_one_row_that_is_wrong():
    # 40 cases predicted 0.9 that all have the event: everybody is acted on up to .9, and no drawn label costs anything
    curve = rs.calibration.miscalibration_cost([1] * 40 + [0] * 40, [0.9] * 40 + [0.1] * 40)
    band = curve.confidence_band(draws=39, points=9)
    one_row = 2 * np.maximum(band.x, 1 - band.x) / 80
    assert (band.high >= curve.at(band.x) + one_row - 1e-15).all()
    middle = (band.x > 0.3) & (band.x < 0.7)
    assert middle.any() and band.high[middle] == pytest.approx(one_row[middle])
