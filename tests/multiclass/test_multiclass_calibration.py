"""Calibration of more than two classes against brute force, netcal's figures and held-out folds."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import rocscope as rs
from rocscope.errors import InputError, RocscopeError
from rocscope.multiclass import calibration as recalibration

FOLDER = Path(__file__).parents[1] / "reference" / "calibration"
M = rs.multiclass


def simulated(n=500, k=4, power=0.6, seed=7):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(k), n)
    true = proba**power / (proba**power).sum(axis=1, keepdims=True)
    return (true.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), proba


def brute_ece(hit, score, bins):
    cell = np.minimum((score * bins).astype(int), bins - 1)
    used = [cell == b for b in range(bins) if (cell == b).any()]
    return sum(rows.mean() * abs(hit[rows].mean() - score[rows].mean()) for rows in used)


@pytest.mark.parametrize("bins", [5, 10, 15])
def test_errors_are_those_of_netcal(bins):
    data = np.genfromtxt(FOLDER / "classes.csv", delimiter=",", skip_header=1)
    label, proba = data[:, 0].astype(int), data[:, 1:]
    figures = json.loads((FOLDER / "netcal.json").read_text())["figures"]
    for kind in ("top-label", "classwise"):
        found = M.multiclass_calibration_error(label, proba, kind=kind, bins=bins)
        assert found == pytest.approx(figures[f"{kind} {bins}"], abs=1e-9)
    binary = rs.calibration.calibration_error(label == 0, proba[:, 0], norm="max", bins=bins)
    assert binary == pytest.approx(figures[f"binary MCE {bins}"], abs=1e-9)


def test_scores_and_errors_by_their_definitions():
    label, proba = simulated()
    hot = np.eye(4)[label]
    assert M.multiclass_brier(label, proba) == pytest.approx(((proba - hot) ** 2).sum(axis=1).mean(), rel=1e-12)
    assert M.multiclass_log_loss(label, proba) == pytest.approx(log_loss(label, proba), rel=1e-12)
    top = proba.argmax(axis=1)
    assert M.multiclass_calibration_error(label, proba) == pytest.approx(brute_ece(top == label, proba.max(axis=1), 10))
    each = [brute_ece(label == k, proba[:, k], 10) for k in range(4)]
    assert M.multiclass_calibration_error(label, proba, kind="classwise") == pytest.approx(np.mean(each))


def test_whole_weights_equal_repeated_rows():
    label, proba = simulated(60)
    weight = np.random.default_rng(0).integers(1, 4, 60)
    again = (np.repeat(label, weight), np.repeat(proba, weight, axis=0))
    for number in (M.multiclass_brier, M.multiclass_log_loss, M.multiclass_calibration_error):
        assert number(label, proba, sample_weight=weight) == pytest.approx(number(*again), rel=1e-12)


@pytest.mark.parametrize("rule", ["brier", "log_loss"])
def test_parts_add_up_and_are_sums_over_classes(rule):
    label, proba = simulated()
    parts = M.multiclass_decompose(label, proba, rule=rule)
    assert parts.score == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty, abs=1e-12)
    own = {"brier": M.multiclass_brier, "log_loss": M.multiclass_log_loss}[rule]
    assert parts.score == pytest.approx(own(label, proba), rel=1e-12)
    if rule == "brier":
        each = [rs.calibration.decompose(label == k, proba[:, k]) for k in range(4)]
        assert parts.miscalibration == pytest.approx(sum(part.miscalibration for part in each), rel=1e-12)


def test_curves_are_those_of_each_class_against_the_rest_and_have_bands():
    label, proba = simulated()
    curves = M.multiclass_calibration_curves(label, proba, method="pav")
    assert list(curves) == [0, 1, 2, 3, "top label"]
    alone = rs.calibration_curve(label == 2, proba[:, 2], method="pav")
    np.testing.assert_array_equal(curves[2].y, alone.y)
    band = curves["top label"].confidence_band(simultaneous=True)
    assert (band.low < band.high).all()


@pytest.mark.parametrize("method", ["temperature", "vector", "dirichlet"])
def test_recalibration_finds_what_was_done_and_survives_a_file(method, tmp_path):
    label, proba = simulated(20_000)
    found = M.recalibrate_classes(label, proba, method=method, cv=None)
    fitted = found.recalibrators["score"]
    centred = fitted.weight - fitted.weight.mean(axis=0)  # softmax does not see what all rows of the matrix share
    assert centred == pytest.approx(0.6 * (np.eye(4) - 0.25), abs=0.07)
    loaded = M.ClassRecalibrator.load(fitted.save(tmp_path / "classes.json"))
    np.testing.assert_array_equal(loaded.predict(proba[:50]), fitted.predict(proba[:50]))
    np.testing.assert_allclose(found.predictions.probabilities().sum(axis=1), 1)


def test_the_loss_of_a_diagonal_is_that_of_its_matrix():
    label, proba = simulated(5_000)
    rows = recalibration.LabelledLogs(np.log(proba.T), label, np.arange(5_000) % 3 + 0.5)
    for scale in (0.3, 1.0, 2.5):
        value, slope, by_intercept = rows.loss(np.eye(4) * scale, np.arange(4.0))
        of_diagonal = rows.loss(np.full(4, scale), np.arange(4.0))
        assert of_diagonal[0] == pytest.approx(value, rel=1e-10)
        np.testing.assert_allclose(of_diagonal[1], slope.diagonal(), rtol=1e-9)
        np.testing.assert_allclose(of_diagonal[2], by_intercept, rtol=1e-9)


def test_each_row_is_recalibrated_by_a_fit_to_other_rows():
    label, proba = simulated(300)
    fold = np.arange(300) % 3
    preds = M.MulticlassPredictions(label, proba, fold=fold)
    found = M.recalibrate_classes(preds, method="vector", cv="fold").predictions.probabilities()
    for number in range(3):
        rest = fold != number
        alone = M.recalibrate_classes(label[rest], proba[rest], method="vector", cv=None, classes=range(4))
        expected = alone.recalibrators["score"].predict(proba[~rest])
        np.testing.assert_allclose(found[~rest], expected, atol=1e-6)


def sets():
    yield from ((load().data, load().target) for load in (load_iris, load_wine, load_digits))
    for seed in range(7):
        classes = 3 + seed % 4
        yield make_classification(
            300 + 200 * seed, 12, n_informative=6, n_redundant=3 * (seed % 2), n_classes=classes, random_state=seed
        )


@pytest.mark.every(4)
@pytest.mark.parametrize("number", [0, 1, pytest.param(slice(None), marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["vector", "dirichlet"])
def test_recalibration_never_costs_more_than_none_beyond_noise(number, method):
    chosen = list(sets())
    for x, y in chosen if isinstance(number, slice) else [chosen[number]]:
        proba = cross_val_predict(GaussianNB(), x, y, cv=5, method="predict_proba").clip(1e-12)
        proba /= proba.sum(axis=1, keepdims=True)
        moved = M.recalibrate_classes(y, proba, method=method).predictions.probabilities()
        before, after = (-np.log(p[np.arange(y.size), y]) for p in (proba, moved))
        more = after - before
        print(f"\n{method}, {proba.shape}: log loss {before.mean():.3f}, then {after.mean():.3f}")
        assert more.mean() <= 2 * more.std() / y.size**0.5


def test_bad_input(tmp_path):
    label, proba = simulated(50)
    with pytest.raises(InputError, match="method"):
        M.recalibrate_classes(label, proba, method="platt")
    with pytest.raises(InputError, match="every row in one test fold"):
        M.recalibrate_classes(label, proba, cv=[(np.arange(10), np.arange(10, 20))])
    with pytest.raises(InputError, match="kind"):
        M.multiclass_calibration_error(label, proba, kind="best")
    (tmp_path / "odd.json").write_text('{"format": "rocscope.class_recalibrator", "version": 1}')
    with pytest.raises(RocscopeError):
        M.ClassRecalibrator.load(tmp_path / "odd.json")


def test_scores_have_the_t_interval_of_their_rows():
    rng = np.random.default_rng(0)
    y, proba = rng.integers(0, 4, 60), rng.dirichlet(np.ones(4), 60)
    hot = np.eye(4)[y]
    rows = {
        "brier": ((proba - hot) ** 2).sum(axis=1),
        "log_loss": -np.log(proba[np.arange(60), y]),
        "rps": ((proba.cumsum(axis=1) - hot.cumsum(axis=1)) ** 2).sum(axis=1) / 3,
    }
    for name, values in rows.items():
        estimate = rs.multiclass.multiclass_score(y, proba, name)
        assert estimate.value == pytest.approx(values.mean())
        assert estimate.standard_error == pytest.approx(values.std(ddof=1) / 60**0.5)
        reach = (estimate.high - estimate.low) / 2
        assert 1.96 * estimate.standard_error < reach < 2.3 * estimate.standard_error
    group = np.arange(60) // 3
    preds = rs.multiclass.MulticlassPredictions(y, proba, groups=group)
    moves = np.bincount(group, rows["brier"] - rows["brier"].mean()) / 60
    grouped = rs.multiclass.multiclass_score(preds)
    assert grouped.standard_error == pytest.approx(np.sqrt(20 / 19 * (moves**2).sum()))
    assert "20 groups" in grouped.method
    with pytest.raises(InputError, match="did you mean 'brier'"):
        rs.multiclass.multiclass_score(preds, rule="brierr")
