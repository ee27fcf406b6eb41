"""scikit-learn's displays against those of scikit-learn: the same numbers under the same names."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn import metrics as theirs
from sklearn.calibration import CalibrationDisplay
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.svm import LinearSVC

from rocscope.compat import displays as ours
from rocscope.errors import InputError, ModelError

X = np.random.default_rng(0).normal(size=(80, 2)).round(1)
Y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=80) > 0.4, "yes", "no")
W = np.random.default_rng(2).integers(1, 5, 80)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.mark.every(4)
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


@pytest.mark.parametrize("display", ["RocCurveDisplay", "PrecisionRecallDisplay", "DetCurveDisplay"])
@pytest.mark.parametrize("pos_label", ["yes", "no", None])
def test_displays_have_scikit_learns_positive_label(display, pos_label):
    model = LogisticRegression().fit(X, Y)
    mine, reference = (
        getattr(module, display).from_estimator(model, X, Y, pos_label=pos_label, ax=Figure().subplots())
        for module in (ours, theirs)
    )
    assert mine.pos_label == reference.pos_label
    for attribute in ("prevalence_pos_label", "estimator_name"):
        if attribute in vars(reference):
            assert getattr(mine, attribute) == pytest.approx(getattr(reference, attribute))
    folds = cross_validate(LogisticRegression(), X, Y, return_estimator=True, return_indices=True)
    ours_of_folds = getattr(ours, display).from_cv_results(folds, X, Y, pos_label=pos_label, ax=Figure().subplots())
    assert ours_of_folds.pos_label == (pos_label or "yes")
    assert getattr(ours, display).from_predictions([0, 1], [0, 1], ax=Figure().subplots()).pos_label == 1


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
    with pytest.raises(InputError, match="cv_results: expected estimators and indices, got no estimator; cross_val"):
        roc.from_cv_results({}, X, Y, ax=ax)
    with pytest.raises(InputError, match="fpr and tpr: expected arrays of one length"):
        roc(fpr=[0, 1], tpr=[0, 0.5, 1])


def test_the_line_of_chance_is_drawn_changed_or_left_out():
    data = [0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8]
    how = {"drop_intermediate": False, "chance_level_kw": {"color": "red"}, "despine": True}
    shown = ours.RocCurveDisplay.from_predictions(*data, plot_chance_level=True, ax=Figure().subplots(), **how)
    assert (shown.chance_level_.get_color(), shown.ax_.spines["top"].get_visible()) == ("red", False)
    without = ours.RocCurveDisplay.from_predictions(*data, plot_chance_level=False, ax=Figure().subplots())
    assert (without.chance_level_, len(without.ax_.lines)) == (None, 1)
    styled = ours.RocCurveDisplay.from_predictions(*data, curve_kwargs={"color": "green"}, ax=Figure().subplots())
    assert styled.line_.get_color() == "green"


def test_arrays_are_drawn_as_what_they_came_from():
    labels, scores = np.where(Y == "yes", 1, 0), X[:, 0]
    pairs = {
        ours.RocCurveDisplay: ("fpr", "tpr"),
        ours.PrecisionRecallDisplay: ("precision", "recall"),
        ours.DetCurveDisplay: ("fpr", "fnr"),
    }
    for display, names in pairs.items():
        first = display.from_predictions(labels, scores, ax=Figure().subplots())
        arrays = {name: getattr(first, name) for name in names}
        again = display(**arrays, name="again").plot(ax=Figure().subplots())
        assert (again.ax_.get_xlabel(), again.ax_.get_ylabel()) == (first.ax_.get_xlabel(), first.ax_.get_ylabel())
        for name, values in arrays.items():
            np.testing.assert_array_equal(getattr(again, name), values)
        assert "again" in again.ax_.get_legend().get_texts()[0].get_text()


@pytest.mark.parametrize("display", ["RocCurveDisplay", "PrecisionRecallDisplay"])
def test_folds_have_the_areas_of_scikit_learn(display):
    if not hasattr(getattr(theirs, display), "from_cv_results"):
        pytest.skip(f"this scikit-learn has no {display}.from_cv_results to compare with")
    found = cross_validate(LogisticRegression(), X, Y, return_estimator=True, return_indices=True)
    mine = getattr(ours, display).from_cv_results(found, X, Y, ax=Figure().subplots())
    reference = getattr(theirs, display).from_cv_results(found, X, Y, ax=Figure().subplots())
    area = {"RocCurveDisplay": "roc_auc", "PrecisionRecallDisplay": "average_precision"}[display]
    assert getattr(mine, area) == pytest.approx(getattr(reference, area))
    assert len(mine.line_) == len(mine.curves) == 5


def test_calibration_has_the_bins_of_scikit_learn(ax):
    model = LogisticRegression().fit(X, Y)
    mine = ours.CalibrationDisplay.from_estimator(model, X, Y, n_bins=6, ax=ax)
    reference = CalibrationDisplay.from_estimator(model, X, Y, n_bins=6, ax=Figure().subplots())
    np.testing.assert_allclose(mine.prob_true, reference.prob_true)
    np.testing.assert_allclose(mine.prob_pred, reference.prob_pred)
    assert "O/E 1.00" in ax.get_legend().get_texts()[0].get_text()
    again = ours.CalibrationDisplay(mine.prob_true, mine.prob_pred, mine.y_prob, estimator_name="again")
    assert again.plot(ax=Figure().subplots()).chance_level_.get_label() == "perfect"
