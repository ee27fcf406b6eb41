"""All of rocscope.calibration under weights: a factor on sampling weights changes nothing, frequencies equal rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rocscope as rs
from rocscope import calibration
from rocscope.figures.registry import FIGURES

ROWS = 240
FACTORS = (1e-300, 1, 1e300)  # products of two such weights are no floats

# Names that are no function of labels and probabilities.
NO_FUNCTION = {"CalibrationFunction", "ContinuousCalibration", "MiscalibrationCostCurve", "load_recalibrator"}
# Tests that take labels to vary as much whatever their weight, which weights for censoring contradict.
REFUSE_ESTIMATED = ("[hosmer_lemeshow_test", "[miscalibration_test")
# Sums of weights, which a factor multiplies by definition.
OF_SIZE = {"n", "pos", "neg"}


def of_sampling_weights(factor: float, kind: str) -> rs.Predictions:
    rng = np.random.default_rng(7)
    score = rng.uniform(0.02, 0.98, ROWS).round(2)
    label = (rng.random(ROWS) < score**1.4).astype(int)
    if kind == "estimated":
        time, censored = rng.exponential(1 / -np.log1p(-score)), rng.exponential(2, ROWS)
        event = (time <= censored).astype(int)
        weight = factor * rng.uniform(1, 3, ROWS).round(1)
        until = np.minimum(time, censored)
        return rs.outcomes.at_horizon(until, event, score, 1.0, sample_weight=weight, weights="sampling")
    weight = factor * rng.integers(1, 5, ROWS)
    groups = rng.integers(0, 60, ROWS) if kind == "groups" else None
    return rs.Predictions(label, score, sample_weight=weight, weights="sampling", groups=groups)


def of_frequencies(*, repeated: bool) -> rs.Predictions:
    rng = np.random.default_rng(8)
    score = rng.uniform(0.02, 0.98, ROWS).round(2)
    label = (rng.random(ROWS) < score**1.4).astype(int)
    times = rng.integers(1, 4, ROWS)
    if repeated:
        return rs.Predictions(np.repeat(label, times), np.repeat(score, times))
    return rs.Predictions(label, score, sample_weight=times, weights="frequency")


def curve_with_bands(data: Any, method: str) -> Any:
    curve = rs.calibration_curve(data, method=method)
    bands = [curve.confidence_band(), curve.confidence_band(simultaneous=True), curve.consistency_band(draws=99)]
    return curve.x, curve.y, [(band.low, band.high) for band in bands]


def cost_of_miscalibration(data: Any) -> Any:
    curve = rs.calibration.miscalibration_cost(data)
    band = curve.confidence_band(draws=99, points=9)
    return curve.x, curve.y, curve.interval(draws=99), band.low, band.high


def recalibrated(data: Any, method: str) -> Any:
    (score,) = data.scores.values()
    fitted = rs.calibration.recalibrator(method).fit(score, data.y_true, data.sample_weight)
    return fitted.predict(np.linspace(0.1, 0.9, 9))


CALLS: dict[str, list[Callable[[Any], Any]]] = {
    "calibration_curve": [
        lambda data, method=method: curve_with_bands(data, method) for method in ("bins", "pav", "loess", "spline")
    ],
    "recalibrator": [
        lambda data, method=method: recalibrated(data, method)
        # Without Platt's method, whose prior counts one row of each class more, as scikit-learn's does.
        for method in ("beta", "isotonic", "temperature", "shift", "histogram")
    ],
    "recalibrate": [lambda data: rs.calibration.recalibrate(data, random_state=0).recalibrators],
    "calibration_report": [
        lambda data: rs.calibration.calibration_report(data, draws=99),
        lambda data: rs.calibration.calibration_report(data, draws=0, target_prevalence=0.2),
    ],
    "calibration_error": [
        lambda data: [
            rs.calibration.calibration_error(data, norm=norm, strategy=strategy, debiased=debiased)
            for norm in ("l1", "l2")
            for strategy in ("uniform", "quantile")
            for debiased in (False, True)
        ],
        lambda data: rs.calibration.calibration_error(data, debiased=True, target_prevalence=0.2),
    ],
    "calibration_index": [
        rs.calibration.calibration_index,
        lambda data: rs.calibration.calibration_index(data, convention="austin"),
    ],
    "decompose": [
        lambda data, method=method, rule=rule: rs.calibration.decompose(data, method=method, rule=rule)
        for method in ("corp", "murphy")
        for rule in ("brier", "log_loss")
    ],
    "miscalibration_cost": [cost_of_miscalibration],
    "miscalibration_test": [lambda data: rs.calibration.miscalibration_test(data, draws=99)],
}
OF_PROBABILITIES = [figure for figure in FIGURES.values() if figure.needs == "probabilities"]
SMOOTH = [figure.name for figure in OF_PROBABILITIES if figure.smooth is not None]


def cases() -> list[Any]:
    """Every public function by its name, with its own calls or with the data alone; and the figures."""
    called = []
    for name in sorted(set(calibration.__all__) - NO_FUNCTION):
        calls = CALLS.get(name) or [getattr(rs.calibration, name)]
        called += [pytest.param(call, id=f"{name}-{i}") for i, call in enumerate(calls)]
    estimates = lambda data: [rs.inference.estimate_of(data, name) for name in SMOOTH]  # noqa: E731
    values = lambda data: [figure.value(data.counts()) for figure in OF_PROBABILITIES]  # noqa: E731
    return [*called, pytest.param(estimates, id="estimate_of"), pytest.param(values, id="figures")]


def numbers(result: Any) -> list[float]:
    """All numbers of a result, but sums of weights."""
    if hasattr(result, "to_dict"):
        result = result.to_dict()
    if isinstance(result, dict):
        result = [part for name, part in result.items() if name not in OF_SIZE]
    if result is None or isinstance(result, str):
        return []
    if isinstance(result, np.ndarray | list | tuple):
        return [number for part in result for number in numbers(part)]
    return [float(result)]


@pytest.mark.parametrize("kind", ["sampling", "groups", "estimated"])
@pytest.mark.parametrize("call", cases())
def test_a_factor_on_all_weights_changes_nothing(call, kind, request):
    if kind == "estimated" and any(name in request.node.name for name in REFUSE_ESTIMATED):
        with pytest.raises(rs.errors.InputError, match=r"got estimated weights; .*val_prob"):
            call(of_sampling_weights(1, kind))
        return
    small, plain, large = (numbers(call(of_sampling_weights(factor, kind))) for factor in FACTORS)
    assert plain
    np.testing.assert_allclose(small, plain, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(large, plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("call", cases())
def test_frequencies_equal_repeated_rows(call):
    weighted, repeated = (numbers(call(of_frequencies(repeated=side))) for side in (False, True))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("mean_of_censoring", [1e9, 2.0, 0.55])  # the last censors 69% before the horizon
def test_calibrated_models_under_censoring_are_rejected_as_often_as_stated(mean_of_censoring):
    rng = np.random.default_rng(5)
    p_values = []
    for _ in range(2000):
        log_hazard = rng.normal(-0.8, 0.9, 600)
        time, censored = rng.exponential(np.exp(-log_hazard)), rng.exponential(mean_of_censoring, 600)
        probability = 1 - np.exp(-np.exp(log_hazard))
        event = (time <= censored).astype(int)
        rows = rs.outcomes.at_horizon(np.minimum(time, censored), event, probability, 1.0)
        p_values.append((rs.calibration.val_prob(rows).u_p, rs.calibration.spiegelhalter_test(rows).p_value))
    for rejected in np.mean(np.array(p_values) < 0.05, axis=0):
        assert 0.035 <= rejected <= 0.068
