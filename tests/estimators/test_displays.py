"""scikit-learn's displays against those of scikit-learn: the same numbers under the same names."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn import metrics as theirs
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from rocscope.compat import displays as ours
from rocscope.errors import InputError, ModelError

X = np.random.default_rng(0).normal(size=(80, 2)).round(1)
Y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=80) > 0.4, "yes", "no")
W = np.random.default_rng(2).integers(1, 5, 80)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
@pytest.mark.parametrize("pos_label", ["yes", "no", None])
@pytest.mark.parametrize("weight", [None, W])
def test_estimators_give_scikit_learns_numbers(ax, model, pos_label, weight):
    model.fit(X, Y)
    options = {"sample_weight": weight, "pos_label": pos_label}
    mine = ours.RocCurveDisplay.from_estimator(model, X, Y, ax=ax, **options)
    reference = theirs.RocCurveDisplay.from_estimator(
        model, X, Y, ax=Figure().subplots(), drop_intermediate=False, **options
    )
    assert mine.roc_auc == pytest.approx(np.ravel(reference.roc_auc)[0], abs=1e-12)
    np.testing.assert_allclose(mine.fpr, np.ravel(reference.fpr), atol=1e-12)
    np.testing.assert_allclose(mine.tpr, np.ravel(reference.tpr), atol=1e-12)
    precise = ours.PrecisionRecallDisplay.from_estimator(model, X, Y, ax=Figure().subplots(), **options)
    reference = theirs.PrecisionRecallDisplay.from_estimator(model, X, Y, ax=Figure().subplots(), **options)
    assert precise.average_precision == pytest.approx(np.ravel(reference.average_precision)[0], abs=1e-12)


def test_several_on_one_axes_are_named_in_the_legend(ax):
    for number, model in enumerate((LogisticRegression(), LinearSVC())):
        shown = ours.RocCurveDisplay.from_estimator(model.fit(X, Y), X, Y, ax=ax, color=f"C{number}")
        assert (shown.ax_, shown.figure_, shown.line_.get_color()) == (ax, ax.figure, f"C{number}")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.partition(" (AUC")[0] for text in texts] == ["LogisticRegression", "LinearSVC", "chance"]


def test_detection_error_has_its_own_axes(ax):
    shown = ours.DetCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8], name="a", ax=ax)
    assert (shown.name, ax.get_ylabel().partition(" ")[0]) == ("a", "False-negative")


def test_faults_are_said_in_words(ax):
    fitted = LogisticRegression().fit(X, Y)
    roc = ours.RocCurveDisplay
    with pytest.raises(InputError, match="fitted to two classes, got one without classes"):
        roc.from_estimator(LogisticRegression(), X, Y, ax=ax)
    with pytest.raises(InputError, match="pos_label: expected 'no' or 'yes', got 'maybe'"):
        roc.from_estimator(fitted, X, Y, pos_label="maybe", ax=ax)
    with pytest.raises(ModelError, match="expected predict_proba"):
        roc.from_estimator(LinearSVC().fit(X, Y), X, Y, response_method="predict_proba", ax=ax)
    with pytest.raises(InputError, match="chance is always drawn"):
        roc.from_predictions([0, 1], [0, 1], plot_chance_level=True, ax=ax)
