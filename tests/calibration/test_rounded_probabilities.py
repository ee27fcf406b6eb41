"""Probabilities that rounding moved out of 0 to 1 are taken for 0 or 1, everywhere; others are refused."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import rocscope as rs
from rocscope import calibration, decisions, estimators, evaluation
from rocscope.calibration.recalibration import BetaRecalibrator, ShiftRecalibrator, TemperatureRecalibrator

pytestmark = pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")
LABEL = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0])
EXACT = np.array([1.0, 0.0, 0.7, 0.4, 0.6, 0.2, 0.9, 0.3, 0.8, 0.1, 0.35, 0.65])
# As models that sum or average return them.
ROUNDED = EXACT + np.array([2.3e-16, -1e-17, *[0] * 10])
SEGMENT = np.repeat(["x", "y"], 6)
OUTSIDE = [1.01, -0.01, 1 + 2e-6, -2e-6]


class Given(ClassifierMixin, BaseEstimator):
    """Returns the first column as the probability."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def predict(self, X):
        return self.classes_[(X[:, 0] >= 0.5).astype(int)]


def recalibrated(recalibrator, score):
    return recalibrator.fit(EXACT, LABEL).predict(score)


def fitted(model, score):
    X = score[:, np.newaxis]
    return model.fit(X, LABEL).predict(X)


def of_three_classes(score):
    table = np.column_stack([score, (1 - score) / 2, (1 - score) / 2])
    return rs.multiclass.MulticlassPredictions(np.tile(["a", "b", "c"], 4), table, classes=["a", "b", "c"])


def numbers(summary):
    return [estimate.value for estimate in summary["score"].estimates.values()]


DOORS = {
    "summary": lambda score: numbers(rs.summary(LABEL, score, threshold=0.5)),
    "slope": lambda score: rs.inference.estimate_of(rs.Predictions(LABEL, score), "slope").value,
    "brier": lambda score: calibration.brier(LABEL, score),
    "ece": lambda score: calibration.calibration_error(LABEL, score),
    "calibration_curve": lambda score: rs.calibration_curve(LABEL, score).y,
    "cox_calibration": lambda score: calibration.cox_calibration(LABEL, score).slope,
    "val_prob": lambda score: list(calibration.val_prob(LABEL, score).to_dict().values())[:20],
    "bridge": lambda score: calibration.CalibrationFunction.from_counts(LABEL, score).score,
    "net_benefit": lambda score: rs.net_benefit(LABEL, score).y,
    "brier_curve": lambda score: rs.curves.brier_curve(LABEL, score).at([0.1, 0.5, 0.999]),
    "segments": lambda score: rs.Predictions(LABEL, score, segment=SEGMENT).counts(by="segment").brier(),
    "O/E of segments": lambda score: (
        rs.Predictions(LABEL, score, segment=SEGMENT).counts(by="segment").observed_over_expected()
    ),
    "correct_probabilities": lambda score: decisions.correct_probabilities(
        score, train_prevalence=0.5, target_prevalence=0.1
    ),
    "act_by_row": lambda score: decisions.act_by_row(score, rs.Context(cost_fn=4)),
    "beta": lambda score: recalibrated(BetaRecalibrator(), score),
    "temperature": lambda score: recalibrated(TemperatureRecalibrator(), score),
    "shift": lambda score: recalibrated(ShiftRecalibrator(), score),
    "ThresholdClassifier": lambda score: fitted(estimators.ThresholdClassifier(Given(), cv=3), score),
    "HullClassifier": lambda score: fitted(estimators.HullClassifier([("a", Given())], cv=3), score),
    "evaluate": lambda score: rs.evaluate(Given(), score[:, np.newaxis], LABEL, cv=3).scores["Given"],
    "nested_cross_validation": lambda score: (
        evaluation.nested_cross_validation(Given(), score[:, np.newaxis], LABEL, metric="log_loss", cv=3, repeats=2)
        .estimates["Given"]
        .value
    ),
    "three classes": lambda score: of_three_classes(score).probabilities(),
}


@pytest.mark.parametrize("door", DOORS)
def test_rounding_changes_nothing(door):
    np.testing.assert_allclose(DOORS[door](ROUNDED), DOORS[door](EXACT), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("value", OUTSIDE)
@pytest.mark.parametrize("door", [door for door in DOORS if door != "summary"])
def test_more_than_rounding_is_refused(door, value):
    score = EXACT.copy()
    score[2] = value
    expected = "probabilities from 0 to 1|finite probabilities of at least 0"
    with pytest.raises((rs.errors.ScoreError, rs.errors.ModelError), match=expected):
        DOORS[door](score)


def test_the_summary_has_no_calibration_of_other_scores():
    row = rs.summary(LABEL, np.where(EXACT == 1, 1 + 2e-6, EXACT))["score"]
    assert np.isnan(row["brier"].value)
    assert "not probabilities" in row["brier"].method


def test_single_precision_rounds_coarser():
    rounded = EXACT.astype(np.float32)
    rounded[0] = np.nextafter(np.float32(1), np.float32(2))
    assert calibration.brier(LABEL, rounded) == pytest.approx(calibration.brier(LABEL, EXACT.astype(np.float32)))


def test_the_error_names_the_model():
    with pytest.raises(rs.errors.ModelError, match=r"predict_proba of 'wrong': expected probabilities from 0 to 1"):
        rs.evaluate({"wrong": Given()}, (2 * EXACT)[:, np.newaxis], LABEL, cv=3)
