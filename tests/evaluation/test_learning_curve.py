"""Learning curves: nested training rows, the same test rows, and what is drawn of them."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import rocscope as rs
from band_cases import learning
from rocscope.errors import ColumnError, InputError, ModelError, RocscopeWarning
from rocscope.evaluation.learning import LearningCurve, _check_sizes


class Seen(ClassifierMixin, BaseEstimator):
    """Scores by the first attribute; keeps which rows it was fitted to, and judged on."""

    calls = ()

    def fit(self, X, y):
        self.classes_, self.rows, self.labels = np.unique(y), X[:, 0], y
        return self

    def predict_proba(self, X):
        Seen.calls += ((self.rows, X[:, 0], self.labels),)
        return np.column_stack([1 - X[:, 0] / 1000, X[:, 0] / 1000])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    y = (rng.random(150) < 0.2).astype(int)
    return rng.normal(size=(150, 3)) + y[:, None], y


@pytest.fixture(scope="module")
def curve(data):
    models = {"nb": GaussianNB(), "lr": LogisticRegression()}
    return rs.evaluation.learning_curve(models, *data, steps=4, repeats=6)


@pytest.mark.parametrize("cv", ["holdout", 3, StratifiedKFold(3)], ids=str)
def test_training_rows_are_nested_and_test_rows_the_same(cv):
    X, y = np.arange(90)[:, None], np.r_[np.ones(9), np.zeros(81)].astype(int)
    Seen.calls = ()
    curve = rs.evaluation.learning_curve(Seen(), X, y, sizes=[4, 20, 50], cv=cv)
    assert curve.runs == (20 if cv == "holdout" else 3)
    for run in range(0, len(Seen.calls), 3):
        (small, test, few), (middle, same, some), (large, again, _) = Seen.calls[run : run + 3]
        assert set(small) < set(middle) < set(large)
        assert [len(small), len(middle), len(large)] == [4, 20, 50]
        assert test.tolist() == same.tolist() == again.tolist()
        assert not set(large) & set(test)
        assert set(few) == {0, 1}
        assert some.sum() in (2, 3)


def test_values_are_those_of_fits_one_by_one(data):
    X, y = data
    found = rs.evaluation.learning_curve(GaussianNB(), X, y, sizes=[30, 100], repeats=3)
    whole = rs.evaluate(GaussianNB(), X, y, cv="holdout", repeats=3)
    areas = [rs.auc(part) for part in whole.by_repeat().values()]
    assert found.values["GaussianNB"][:, 1].tolist() == pytest.approx(areas)
    assert found.mean()[1] == pytest.approx(np.mean(areas))


@pytest.mark.parametrize("metric", ["auc", "error", "brier", "f1", "average_precision"])
def test_any_metric(data, metric):
    found = rs.evaluation.learning_curve(GaussianNB(), *data, metric=metric, sizes=[0.2, 1.0], repeats=2)
    whole = rs.evaluate(GaussianNB(), *data, cv="holdout", repeats=2).by_repeat()[0]
    at_half = whole.counts().at(0.5)
    expected = {
        "auc": rs.auc(whole),
        "error": at_half.error,
        "brier": rs.calibration.brier(whole),
        "f1": at_half.f_score(),
        "average_precision": rs.precision_recall(whole).average_precision,
    }
    assert found.values["GaussianNB"][0, 1] == pytest.approx(expected[metric])
    assert found.larger_is_better == (metric not in ("error", "brier"))


def test_training_rows_are_judged_too(data):
    X, y = data
    options = {"sizes": [20, 100], "repeats": 2, "metric": "accuracy"}
    models = {"one": KNeighborsClassifier(1), "nb": GaussianNB()}
    found = rs.evaluation.learning_curve(models, X, y, return_train_score=True, **options)
    assert found.mean("one", training=True).tolist() == [1, 1]  # the nearest neighbour of a row is itself
    plain = rs.evaluation.learning_curve(models, X, y, **options)
    for model in models:
        np.testing.assert_array_equal(found.values[model], plain.values[model])
    with pytest.raises(InputError, match="return_train_score=True"):
        plain.mean("nb", training=True)
    # In the first run, all 100 training rows of the holdout.
    preds = rs.evaluate(GaussianNB(), X, y, cv="holdout", repeats=2).by_repeat()[0]
    train = np.setdiff1d(np.arange(150), preds.row)
    right = (GaussianNB().fit(X[train], y[train]).predict(X[train]) == y[train]).mean()
    assert found.training["nb"][0, 1] == pytest.approx(right)
    assert found.to_frame()["training"].iloc[1] == found.training["one"][0, 1]
    assert list(plain.to_frame().columns) == ["model", "fold", "repeat", "size", "value"]
    ax = found.plot(Figure().subplots())
    assert [line.get_label() for line in ax.lines] == ["one", "one, training rows", "nb", "nb, training rows"]
    assert ax.lines[1].get_ydata().tolist() == [1, 1]
    assert ax.get_ylabel() == "Accuracy"
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_several_classes(data):
    found = rs.evaluation.learning_curve(
        GaussianNB(), data[0], np.arange(150) % 3, metric="accuracy", repeats=2, steps=2
    )
    assert (found.values["GaussianNB"] > 0).all()


def test_bands_hold_a_share_of_the_runs(curve):
    band = curve.band("lr", share=0.5)
    values = curve.values["lr"]
    # (6 + 1)·0.25 = 1.75: three quarters of the way from the least of six to the second.
    ordered = np.sort(values, axis=0)
    np.testing.assert_allclose(band.low, 0.25 * ordered[0] + 0.75 * ordered[1])
    np.testing.assert_allclose(band.high, 0.25 * ordered[5] + 0.75 * ordered[4])
    np.testing.assert_allclose(curve.band("lr", share=0.99).low, ordered[0])
    assert band.label == "50% pointwise, spread of 6 runs"


def test_seeded_and_plain_data(curve, data):
    again = rs.evaluation.learning_curve({"nb": GaussianNB(), "lr": LogisticRegression()}, *data, steps=4, repeats=6)
    assert again.to_dict() == curve.to_dict()
    content = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert len(content["values"]["nb"]) == 6
    assert len(content["mean"]["nb"]) == 4
    for backend, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        frame = curve.to_frame(backend)
        assert isinstance(frame, kind)
        assert len(frame) == 2 * 6 * 4
    row = curve.to_frame().iloc[-1]
    assert (row["model"], row["repeat"], row["size"]) == ("lr", 5, 100)
    assert row["value"] == curve.values["lr"][5, 3]
    assert repr(curve).startswith("LearningCurve(auc, 10 to 100 rows: nb 0.")
    assert "<th>100</th>" in curve._repr_html_()


def test_the_figure_shows_the_means_with_a_tick_at_each_size(curve):
    ax = curve.plot(Figure().subplots())
    for line, model in zip(ax.lines, curve.models, strict=True):
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([curve.size, curve.mean(model)]))
    assert ax.get_xscale() == "log"
    assert ax.get_xticks().tolist() == curve.size.tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["nb", "lr", "80% of 6 runs"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Training rows", "AUC on test rows")
    assert len(curve.plot(Figure().subplots(), share=None).collections) == 0


def test_labels_of_sizes_do_not_cover_each_other():
    runs = np.full((2, 5), 0.5)
    crowded = LearningCurve("auc", True, [10, 11, 12, 500, 1000], {"m": runs}, [0, 1], [0, 1], False, "holdout")
    assert crowded.plot(Figure().subplots()).get_xticks().tolist() == [12, 500, 1000]


def test_a_model_that_needs_more_rows_begins_where_it_can(data):
    models = {"knn": KNeighborsClassifier(25), "nb": GaussianNB()}
    with pytest.warns(
        RocscopeWarning, match="2 of 6 fits failed, the first: model 'knn', fold 0, repeat 0, 10 training"
    ):
        found = rs.evaluation.learning_curve(models, *data, sizes=[10, 30, 100], repeats=2)
    assert np.isnan(found.values["knn"]).tolist() == [[True, False, False]] * 2
    assert np.isnan(found.mean("knn")[0])
    assert np.isnan(found.band("knn").low[0])
    assert [failure.training_rows for failure in found.failures] == [10, 10]
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert found.plot(Figure().subplots()).lines[0].get_ydata()[1] > 0
    with pytest.warns(RocscopeWarning, match="2 of 2 fits failed"):
        assert rs.evaluation.learning_curve(models, *data, sizes=[10], repeats=2).models == ["nb"]
    with pytest.raises(ModelError, match="10 training rows: ValueError"):
        rs.evaluation.learning_curve(models["knn"], *data, sizes=[10], repeats=2)


def test_schedules():
    assert _check_sizes("geometric", 5, 160, 2).tolist() == [10, 20, 40, 80, 160]
    assert _check_sizes("arithmetic", 4, 100, 2).tolist() == [25, 50, 75, 100]
    assert _check_sizes("geometric", 4, 6, 2).tolist() == [3, 4, 5, 6]
    assert _check_sizes("arithmetic", 9, 5, 3).tolist() == [3, 4, 5]
    assert _check_sizes([0.25, 1.0], 0, 100, 2).tolist() == [25, 100]


@pytest.mark.parametrize(
    ("sizes", "steps", "message"),
    [
        ([20, 10], 8, "increasing whole numbers from 2 (number of classes) to 100"),
        ([1, 10], 8, "got 1, 10"),
        ([10, 101], 8, "got 10, 101"),
        ([10.5, 20.5], 8, "got 10.5, 20.5"),
        (["a"], 8, "expected numbers or shares of rows"),
        ("linear", 8, "sizes: expected one of 'geometric', 'arithmetic'"),
        ("geometric", 1, "steps: expected a whole number of at least 2, got 1"),
    ],
)
def test_refusals(data, sizes, steps, message):
    with pytest.raises(InputError) as caught:
        rs.evaluation.learning_curve(GaussianNB(), *data, sizes=sizes, steps=steps)
    assert message in str(caught.value)


def test_which_model(curve):
    with pytest.raises(ColumnError, match="name the model"):
        curve.mean()
    with pytest.raises(InputError, match="share: expected a share above 0 and below 1, got 80"):
        curve.band("nb", share=80)


@pytest.mark.slow
def test_a_band_holds_one_more_run():
    # Nine runs: the least and the greatest, between which a tenth lies in eight of ten cases.
    assert learning(25, runs=9)[0] >= 0.6


@pytest.mark.slow
def test_bands_hold_the_share_of_further_runs_that_they_name():
    same, _ = learning(400)
    print(same)
    assert same == pytest.approx(0.8, abs=0.04)
