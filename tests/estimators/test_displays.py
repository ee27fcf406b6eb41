"""The displays against those of scikit-learn: its own tests by substitution, and equality on data with ties."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn import metrics
from sklearn.calibration import CalibrationDisplay
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.svm import LinearSVC

from rocscope.compat import displays as ours
from rocscope.errors import InputError

X = np.random.default_rng(0).normal(size=(80, 2)).round(1)
Y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=80) > 0.4, "yes", "no")
W = np.random.default_rng(2).integers(1, 5, 80)
THEIRS = {name: getattr(metrics, name) for name in ("RocCurveDisplay", "PrecisionRecallDisplay", "DetCurveDisplay")}
THEIRS["CalibrationDisplay"] = CalibrationDisplay
OF_RATES = [name for name in THEIRS if name != "CalibrationDisplay"]

ACCEPTED = {}
"""Tests of scikit-learn that may fail, and why: none."""

SUBSTITUTE = """
import sys
import pytest
import sklearn.calibration
import sklearn.metrics
from rocscope.compat import displays, sklearn as functions

for name in ("RocCurveDisplay", "PrecisionRecallDisplay", "DetCurveDisplay"):
    setattr(sklearn.metrics, name, getattr(displays, name))
for name in {functions!r}:
    setattr(sklearn.metrics, name, getattr(functions, name))
sklearn.calibration.CalibrationDisplay = displays.CalibrationDisplay
sklearn.calibration.calibration_curve = functions.calibration_curve

import sklearn.tests.test_calibration as tests
assert tests.CalibrationDisplay is displays.CalibrationDisplay
sys.exit(pytest.main(["-q", "-rf", "-p", "no:cacheprovider", "--pyargs", *{modules!r}]))
"""
FUNCTIONS = ["roc_curve", "roc_auc_score", "precision_recall_curve", "average_precision_score", "det_curve"]
MODULES = ["sklearn.metrics._plot.tests", "sklearn.tests.test_calibration"]


@pytest.mark.slow(reason="tests of other libraries")
def test_scikit_learns_own_tests_pass_by_substitution(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", SUBSTITUTE.format(functions=FUNCTIONS, modules=MODULES)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MPLBACKEND": "agg"},
    )
    failed = set(re.findall(r"^FAILED \S+::(\S+)", run.stdout, re.MULTILINE))
    assert failed == set(ACCEPTED), run.stdout[-3000:] + run.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) > 400


def attributes(display):
    """Return what scikit-learn's display holds, without what was drawn."""
    return {name: value for name, value in vars(display).items() if not name.endswith("_") and name[0] != "_"}


def texts(display):
    legend = display.ax_.get_legend()
    return [text.get_text() for text in legend.get_texts()] if legend else []


def assert_same(mine, reference):
    """Compare arrays to the last bit, names, positive class, axis titles, points drawn and legends."""
    expected = attributes(reference)
    assert expected.keys() <= attributes(mine).keys()
    for name, value in expected.items():
        np.testing.assert_equal(getattr(mine, name), value)
    assert texts(mine) == texts(reference)
    for title in ("get_xlabel", "get_ylabel"):
        assert getattr(mine.ax_, title)() == getattr(reference.ax_, title)()
    assert np.shape(mine.line_) == np.shape(reference.line_)
    for line, other in zip(np.ravel(mine.line_), np.ravel(reference.line_), strict=True):
        np.testing.assert_array_equal(line.get_xydata(), other.get_xydata())


def both(name, call, *data, **options):
    """Return our display and that of scikit-learn."""
    return [
        getattr(display, call)(*data, ax=Figure().subplots(), **options)
        for display in (getattr(ours, name), THEIRS[name])
    ]


@pytest.mark.every(5)
@pytest.mark.parametrize("name", OF_RATES)
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
@pytest.mark.parametrize("pos_label", ["yes", "no", None])
@pytest.mark.parametrize("weight", [None, W])
def test_estimators_give_scikit_learns_display(name, model, pos_label, weight):
    model.fit(X, Y)
    assert_same(*both(name, "from_estimator", model, X, Y, sample_weight=weight, pos_label=pos_label))


@pytest.mark.parametrize("name", OF_RATES)
@pytest.mark.parametrize("drop", [True, False])
def test_labels_and_scores_give_scikit_learns_display_and_a_curve(name, drop):
    options = {"drop_intermediate": drop, "pos_label": "yes", "sample_weight": W}
    mine, reference = both(name, "from_predictions", Y, X[:, 0], **options)
    assert_same(mine, reference)
    area = next((getattr(reference, area) for area in ("roc_auc", "average_precision") if hasattr(reference, area)), 0)
    curve = mine.curve
    assert getattr(curve, "auc", getattr(curve, "average_precision", 0)) == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("digits", [1, 9])
def test_calibration_has_scikit_learns_bins_and_our_intervals(strategy, digits):
    """Scores of one digit lie on the edges, and give quantiles that are equal."""
    score = np.clip(0.5 + X[:, 0] / 4, 0, 1).round(digits)
    options = {"n_bins": 5, "strategy": strategy, "pos_label": "yes"}
    mine, reference = both("CalibrationDisplay", "from_predictions", Y, score, **options)
    assert_same(mine, reference)
    filled = ~np.isnan(mine.curve.y)
    np.testing.assert_allclose(mine.curve.y[filled], reference.prob_true)
    np.testing.assert_allclose(mine.curve.x[filled], reference.prob_pred)
    assert len(mine.ax_.collections) == 3  # a band, and a rug for each class


@pytest.mark.parametrize("name", [name for name in OF_RATES if hasattr(THEIRS[name], "from_cv_results")])
@pytest.mark.parametrize("curve_kwargs", [None, [{"color": f"C{fold}"} for fold in range(5)]])
def test_folds_give_scikit_learns_display(name, curve_kwargs):
    folds = cross_validate(LogisticRegression(), X, Y, return_estimator=True, return_indices=True)
    mine, reference = both(name, "from_cv_results", folds, X, Y, pos_label="yes", curve_kwargs=curve_kwargs)
    assert_same(mine, reference)
    with pytest.raises(InputError, match="curve: expected a display of labels and scores, got a display of rates"):
        _ = mine.curve


@pytest.mark.parametrize("name", THEIRS)
def test_faults_are_those_of_scikit_learn(name):
    fitted = LogisticRegression().fit(X, Y)
    several = LogisticRegression().fit(X, np.arange(80) % 3)
    for display in (getattr(ours, name), THEIRS[name]):
        with pytest.raises(NotFittedError):
            display.from_estimator(LogisticRegression(), X, Y)
        with pytest.raises(ValueError, match="pos_label=maybe is not a valid label"):
            display.from_estimator(fitted, X, Y, pos_label="maybe")
        with pytest.raises(ValueError, match="Expected 'estimator' to be a binary classifier"):
            display.from_estimator(several, X, Y)


def test_arrays_are_drawn_without_rows():
    rates = np.array([0.0, 0.5, 1.0])
    for display in (
        ours.RocCurveDisplay(fpr=rates, tpr=rates, roc_auc=0.5, name="again"),
        ours.PrecisionRecallDisplay(rates, rates, name="again"),
        ours.DetCurveDisplay(fpr=rates, fnr=rates, estimator_name="again"),
        ours.CalibrationDisplay(rates, rates, rates, estimator_name="again"),
    ):
        drawn = display.plot(ax=Figure().subplots())
        assert any(text.startswith("again") for text in texts(drawn))
        assert drawn.line_.get_color() == "#0b5fad"


def test_models_on_one_axes_differ_in_colour_and_dashes_and_a_chosen_look_stays():
    ax = Figure().subplots()
    first, second = (ours.RocCurveDisplay.from_predictions(Y, X[:, 0], pos_label="yes", ax=ax) for _ in range(2))
    assert first.line_.get_color() != second.line_.get_color()
    assert first.line_.get_linestyle() != second.line_.get_linestyle()
    chosen = ours.DetCurveDisplay.from_predictions(Y, X[:, 0], pos_label="yes", ax=ax, color="red", label="_nolegend_")
    assert chosen.line_.get_color() == "red"
