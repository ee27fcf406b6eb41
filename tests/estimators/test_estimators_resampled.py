"""ResampledClassifier: probabilities at the class mix of all rows, whatever the sampler made of it."""

import sys

import numpy as np
import pytest
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.under_sampling import RandomUnderSampler
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

import rocscope as rs


class KnownModel(ClassifierMixin, BaseEstimator):
    """The truth about scores 0 to 9: it is told how they are distributed in each class, and counts the class mix."""

    like = np.array([np.arange(10, 0, -1) / 55, np.arange(1, 11) / 55])

    def fit(self, X, y):
        self.classes_, size = np.unique(y, return_counts=True)
        self.mix_ = size / size.sum()
        return self

    def predict_proba(self, X):
        joint = self.like[:, X[:, 0].astype(int)].T * self.mix_
        return joint / joint.sum(axis=1, keepdims=True)


def sample(n=5000, share=0.08, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    X = np.where(y == 1, rng.choice(10, n, p=KnownModel.like[1]), rng.choice(10, n, p=KnownModel.like[0]))
    return X[:, None].astype(float), y


@pytest.mark.parametrize("sampler", ["under", "over", RandomUnderSampler(sampling_strategy=0.5, random_state=1)])
def test_corrected_probabilities_are_those_of_a_model_of_all_rows(sampler):
    X, y = sample()
    model = rs.estimators.ResampledClassifier(KnownModel(), sampler).fit(X, y)
    assert model.train_prevalence_[1] == pytest.approx(0.5 if isinstance(sampler, str) else 1 / 3, abs=1e-3)
    assert model.predict_proba(X) == pytest.approx(KnownModel().fit(X, y).predict_proba(X))
    assert np.array_equal(model.predict(X), KnownModel().fit(X, y).predict_proba(X).argmax(axis=1))


@pytest.mark.parametrize("sampler", ["under", "over"])
def test_corrected_probabilities_are_calibrated_on_new_rows(sampler):
    X, y = sample(20_000)
    model = rs.estimators.ResampledClassifier(LogisticRegression(), sampler).fit(X, y)
    new, outcome = sample(20_000, seed=1)
    corrected, raw = model.predict_proba(new)[:, 1], model.estimator_.predict_proba(new)[:, 1]
    assert rs.auc(outcome, corrected) == rs.auc(outcome, raw)
    for level in range(10):
        rows = new[:, 0] == level
        chance, share = corrected[rows][0], outcome[rows].mean()
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / rows.sum())
        assert raw[rows][0] > 2 * share


def test_three_classes_are_corrected_each():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 6000, p=[0.8, 0.15, 0.05])
    X = rng.normal(size=(6000, 2)) + (y == "b")[:, None] + np.outer(y == "c", [2, -1])
    model = rs.estimators.ResampledClassifier(LogisticRegression(), RandomOverSampler(random_state=0)).fit(X, y)
    wanted = LogisticRegression().fit(X, y).predict_proba(X)
    assert model.prevalence_ == pytest.approx([(y == cls).mean() for cls in "abc"])
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(6000))
    assert np.abs(model.predict_proba(X) - wanted).mean() < 0.01
    assert np.abs(model.estimator_.predict_proba(X) - wanted).mean() > 0.1


def test_inside_a_threshold_classifier_each_fold_is_resampled_alone():
    X, y = sample(1500)
    inner = rs.estimators.ResampledClassifier(LogisticRegression(), SMOTE(k_neighbors=2, random_state=0))
    model = rs.estimators.ThresholdClassifier(inner, context=rs.Context(cost_fn=12), cv=3).fit(X, y)
    assert model.predictions_.n == 1500
    assert model.predictions_.n_pos == y.sum()
    assert model.decision_.point.tpr > 0.5


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn", None)
    with pytest.raises(rs.errors.MissingDependencyError, match=r"imbalanced-learn is not .*\[sampling\]"):
        rs.estimators.ResampledClassifier(LogisticRegression()).fit(*sample(100))


def test_a_sampler_that_loses_a_class_is_refused():
    class Lossy(RandomUnderSampler):
        def fit_resample(self, X, y):
            return X[y == 0], y[y == 0]

    with pytest.raises(rs.errors.InputError, match="sampler: expected rows of every class, got no row of 1"):
        rs.estimators.ResampledClassifier(KnownModel(), Lossy()).fit(*sample(100))
    with pytest.raises(rs.errors.InputError, match="sampler: expected one of 'under', 'over', got 'smote'"):
        rs.estimators.ResampledClassifier(KnownModel(), "smote").fit(*sample(100))
