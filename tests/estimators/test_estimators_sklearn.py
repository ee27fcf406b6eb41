"""The estimators among scikit-learn's: metadata, weights, pipelines, search, cloning, frames, files."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from joblib import parallel_config
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs

MODELS = [("line", LogisticRegression()), ("bayes", GaussianNB())]
FOLDED = [
    rs.estimators.ThresholdClassifier(LogisticRegression(), cv=3),
    rs.estimators.HullClassifier(MODELS, cv=3),
    rs.estimators.ClassWeightClassifier(LogisticRegression(), method="coordinate", cv=3),
]
ALL = [*FOLDED, rs.estimators.SmoothedTreeClassifier(max_depth=3), rs.estimators.AUCTreeClassifier(max_depth=3)]
ALL += [rs.estimators.ResampledClassifier(LogisticRegression())]
each = pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
folded = pytest.mark.parametrize("model", FOLDED, ids=lambda model: type(model).__name__)


def sample(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return rng.normal(size=(n, 2)) + y[:, None], y


@each
def test_a_clone_has_the_parameters_and_nothing_fitted(model):
    X, y = sample()
    copy = clone(clone(model).fit(X, y))
    assert repr(copy) == repr(model)
    assert not [name for name in vars(copy) if name.endswith("_")]


@pytest.mark.every(4)
@each
def test_they_end_a_pipeline_and_are_searched(model):
    X, y = sample()
    name = {"HullClassifier": "line__C", "SmoothedTreeClassifier": "max_depth", "AUCTreeClassifier": "max_depth"}
    parameter = f"model__{name.get(type(model).__name__, 'estimator__C')}"
    pipeline = sklearn.pipeline.Pipeline([("scale", StandardScaler()), ("model", model)])
    search = GridSearchCV(pipeline, {parameter: [1, 2]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_[parameter] in (1, 2)
    assert search.best_estimator_.get_params()[parameter] == search.best_params_[parameter]
    assert search.score(X, y) > 0.7


@pytest.mark.every(4)
@each
def test_they_wrap_pipelines_of_frames_with_set_output(model):
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "b"])
    if hasattr(model, "estimator"):
        scaled = ColumnTransformer([("scale", StandardScaler(), ["a", "b"])]).set_output(transform="pandas")
        model = clone(model).set_params(estimator=make_pipeline(scaled, LogisticRegression()))
    fitted = clone(model).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    assert fitted.predict(frame).tolist() == clone(fitted).fit(frame, y.tolist()).predict(frame).tolist()
    table = pl.DataFrame(X, schema=["a", "b"])
    assert fitted.predict(table).tolist() == fitted.predict(frame).tolist()


@each
def test_they_survive_a_file_without_the_training_scores(model):
    X, y = sample()
    fitted = clone(model).fit(X, y)
    loaded = pickle.loads(pickle.dumps(fitted))
    assert loaded.predict(X).tolist() == fitted.predict(X).tolist()
    assert not hasattr(loaded, "predictions_")


@folded
def test_sparse_rows_reach_models_that_take_them(model):
    X, y = sample()
    if isinstance(model, rs.estimators.HullClassifier):
        model = rs.estimators.HullClassifier([("a", LogisticRegression()), ("b", LogisticRegression(C=0.1))], cv=3)
    sparse, dense = clone(model).fit(csr_matrix(X), y), clone(model).fit(X, y)
    assert sparse.predict(csr_matrix(X)).tolist() == dense.predict(X).tolist()


@folded
def test_folds_fitted_side_by_side_choose_the_same(model):
    X, y = sample()
    alone = clone(model).fit(X, y)
    with parallel_config("threading"):  # starting processes would take most of the time
        together = clone(model).set_params(n_jobs=2).fit(X, y)
    assert alone.decision_.to_dict() == together.decision_.to_dict()


class Recorder(ClassifierMixin, BaseEstimator):
    """A model that keeps what its fit was given."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.classes_, self.weight_, self.note_ = np.unique(y), sample_weight, note
        return self

    def predict_proba(self, X):
        positive = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - positive, positive])


def recorders(model):
    """Return the model with a recorder in place of what it wraps, and the function to all of its fitted recorders."""
    if isinstance(model, rs.estimators.HullClassifier):
        return rs.estimators.HullClassifier(
            [("one", Recorder()), ("two", Recorder())], cv=3
        ), lambda m: m.named_estimators_.values()
    return clone(model).set_params(estimator=Recorder()), lambda m: [m.estimator_]


@folded
def test_weights_reach_the_models_and_the_choice(model):
    X, y = sample()
    model, inside = recorders(model)
    weight = np.arange(len(y)) % 4
    model.fit(X, y, sample_weight=weight)
    assert all(np.array_equal(one.weight_, weight) for one in inside(model))
    assert np.array_equal(model.predictions_.sample_weight, weight)


@folded
def test_metadata_go_where_they_are_requested(model):
    X, y = sample()
    model, inside = recorders(model)
    groups, notes, weight = np.arange(len(y)) // 10, np.arange(len(y)), np.ones(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = Recorder().set_fit_request(note=True, sample_weight=False)
        names = {"one", "two"} if isinstance(model, rs.estimators.HullClassifier) else {"estimator"}
        model.set_params(cv=GroupKFold(3), **dict.fromkeys(names, asking))
        model.fit(X, y, sample_weight=weight, groups=groups, note=notes)
    assert all(np.array_equal(one.note_, notes) and one.weight_ is None for one in inside(model))
    assert len({*zip(groups, model.predictions_.fold, strict=True)}) == len({*groups})
    with pytest.raises(rs.errors.InputError, match=r"expected sample_weight and groups only, got note; call sk"):
        clone(model).fit(X, y, note=notes)


@folded
def test_metadata_nobody_asked_for_are_refused(model):
    X, y = sample()
    model, _ = recorders(model)
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(sklearn.exceptions.UnsetMetadataPassedError),
    ):
        model.fit(X, y, note=y)


def test_a_model_that_takes_no_weights_is_told_of():
    X, y = sample()
    model = rs.estimators.ThresholdClassifier(make_pipeline(StandardScaler(), KNeighborsClassifier()), cv=3)
    with pytest.warns(
        rs.errors.RocscopeWarning, match="sample weights are fitted without weights: KNeighborsClassifier"
    ):
        model.fit(X, y, sample_weight=np.ones(len(y)))
    assert model.decision_.model == "KNeighborsClassifier"


def test_weights_reach_the_last_step_of_a_pipeline():
    X, y = sample()
    weight = np.arange(len(y)) % 4
    model = rs.estimators.ThresholdClassifier(make_pipeline(StandardScaler(), LogisticRegression()), cv=3)
    model.fit(X, y, sample_weight=weight)
    alone = LogisticRegression().fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    assert np.array_equal(model.estimator_[-1].coef_, alone.coef_)


@folded
def test_weights_of_1_change_nothing(model):
    X, y = sample()
    plain = clone(model).fit(X, y)
    for one in (np.ones(len(y)), np.ones(len(y), np.int64)):
        weighted = clone(model).fit(X, y, sample_weight=one)
        assert weighted.decision_.to_dict() == plain.decision_.to_dict()
        assert getattr(weighted, "candidates_", None) == getattr(plain, "candidates_", None)
        assert np.array_equal(weighted.predict_proba(X), plain.predict_proba(X))


@folded
def test_whole_weights_equal_repeated_rows_where_the_folds_are_given(model):
    X, y = sample(60)
    rng = np.random.default_rng(1)
    weight, fold = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    again = np.repeat(np.arange(60), weight)
    parts = [[(np.flatnonzero(f != i), np.flatnonzero(f == i)) for i in range(3)] for f in (fold, fold[again])]
    weighted = clone(model).set_params(cv=parts[0]).fit(X, y, sample_weight=weight)
    repeated = clone(model).set_params(cv=parts[1]).fit(X[again], y[again])
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


def test_the_threshold_agrees_with_scikit_learns_where_folds_are_of_equal_size():
    """Then the mean accuracy over folds, which scikit-learn takes, is that of the merged rows."""
    y = np.tile([0, 1], 50)
    X = np.random.default_rng(5).normal(size=(100, 2)) + 0.8 * y[:, None]
    parts = list(StratifiedKFold(5).split(X, y))
    ours = rs.estimators.ThresholdClassifier(LogisticRegression(), cv=parts, shrinkage=0).fit(X, y)
    candidates = np.sort(next(iter(ours.predictions_.scores.values())))
    theirs = TunedThresholdClassifierCV(
        LogisticRegression(), scoring="accuracy", thresholds=candidates, cv=parts, store_cv_results=True
    ).fit(X, y)
    assert theirs.best_score_ == pytest.approx(ours.decision_.criterion_value, abs=1e-12)
    scores = theirs.cv_results_["scores"]
    assert candidates[scores > scores.max() - 1e-12].max() == ours.threshold_
    assert np.array_equal(theirs.predict_proba(X), ours.predict_proba(X))


def test_one_holdout_split_agrees_with_scikit_learns():
    X, y = sample(200, seed=3)
    parts = [(np.arange(100), np.arange(100, 200))]
    ours = rs.estimators.ThresholdClassifier(GaussianNB(), criterion="balanced_accuracy", cv=parts).fit(X, y)
    candidates = np.sort(ours.predictions_.scores["GaussianNB"])
    theirs = TunedThresholdClassifierCV(GaussianNB(), thresholds=candidates, cv=parts).fit(X, y)
    assert theirs.best_score_ == pytest.approx(ours.decision_.criterion_value, abs=1e-12)


def test_a_model_without_probabilities_is_cut_on_its_decision_function():
    X, y = sample()
    model = rs.estimators.ThresholdClassifier(LinearSVC(), context=rs.Context(cost_fn=4), cv=4).fit(X, y)
    assert np.array_equal(model.predict(X), model.decision_function(X) >= model.threshold_)
    assert not hasattr(model, "predict_proba")
    other = rs.estimators.ThresholdClassifier(LinearSVC(), context=rs.Context(cost_fp=4), pos_label=0, cv=4).fit(X, y)
    assert np.array_equal(other.predict(X) == 0, -other.decision_function(X) >= other.threshold_)


@pytest.mark.parametrize("model", [LinearSVC(), StandardScaler()])
def test_a_model_without_what_is_needed_is_refused(model):
    X, y = sample()
    wanted = "predict_proba" if isinstance(model, LinearSVC) else "predict_proba or decision_function"
    wrapper = rs.estimators.ClassWeightClassifier if isinstance(model, LinearSVC) else rs.estimators.ThresholdClassifier
    with pytest.raises(rs.errors.InputError, match=f"estimator: expected a classifier with {wanted}, got"):
        wrapper(model).fit(X, y)


@folded
def test_a_failing_model_says_in_which_fold(model):
    X, y = sample()
    X[0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN") as caught:
        clone(model).fit(X, y)
    assert "was cross-validated, in fold" in caught.value.__notes__[0]


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_scoring_by_probability_works_on_what_is_wrapped(method):
    X, y = sample()
    model = rs.estimators.ThresholdClassifier(LogisticRegression(), response_method=method, cv=3)
    result = cross_validate(model, X, y, scoring=["roc_auc", "accuracy"], cv=3, return_estimator=True)
    assert (result["test_roc_auc"] > 0.7).all()
    assert {one.response_method for one in result["estimator"]} == {method}


def test_a_tree_in_a_threshold_classifier_keeps_infinite_thresholds():
    X, y = sample()
    model = rs.estimators.ThresholdClassifier(
        DecisionTreeClassifier(max_depth=1), context=rs.Context(cost_fp=1e6), cv=3
    ).fit(X, y)
    assert model.threshold_ == np.inf
    assert model.decision_.rule == "never"
