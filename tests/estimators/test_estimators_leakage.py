"""What is chosen is chosen from rows that the model had not seen: a spy records them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import rocscope as rs

LOG = []
"""What spies did, in order: "fit" or "ask", and the rows."""


class Spy(ClassifierMixin, BaseEstimator):
    """A model of one column, whose second column says which row it is."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        LOG.append(("fit", set(X[:, 1])))
        return self

    def predict_proba(self, X):
        LOG.append(("ask", set(X[:, 1])))
        positive = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - positive, positive])


def sample(n=60, seed=0):
    LOG.clear()
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1, 0], n // 3)
    return np.column_stack([rng.normal(size=n) + y, np.arange(n)]), y


WRAPPED = {
    "threshold": rs.estimators.ThresholdClassifier(Spy(), cv=4),
    "hull": rs.estimators.HullClassifier([("one", Spy()), ("two", Spy())], cv=4),
    "class weights": rs.estimators.ClassWeightClassifier(Spy(), cv=4),
    "resampled inside folds": rs.estimators.ThresholdClassifier(rs.estimators.ResampledClassifier(Spy(), "over"), cv=4),
}


@pytest.mark.parametrize("model", WRAPPED.values(), ids=WRAPPED)
def test_no_model_is_asked_about_rows_that_it_was_fitted_to(model):
    X, y = sample()
    model.fit(X, y)
    models = 2 if isinstance(model, rs.estimators.HullClassifier) else 1
    pairs = list(zip(LOG[: 8 * models : 2], LOG[1 : 8 * models : 2], strict=True))
    for (fitted, seen), (asked, tested) in pairs:
        assert (fitted, asked) == ("fit", "ask")
        assert not seen & tested
        assert seen | tested == set(range(60))
    assert sorted(row for _, (_, tested) in pairs for row in tested) == sorted([*range(60)] * models)
    assert LOG[8 * models :] == [("fit", set(range(60)))] * models


@pytest.mark.parametrize("model", WRAPPED.values(), ids=WRAPPED)
def test_no_outer_test_row_is_seen_before_it_is_predicted(model):
    X, y = sample()
    outer = [(np.arange(20, 60), np.arange(20))]
    predicted = np.zeros(20)
    for train, test in outer:
        predicted[:] = model.fit(X[train], y[train]).predict(X[test])
    held_out = set(range(20))
    touching = [index for index, (_, rows) in enumerate(LOG) if rows & held_out]
    assert touching == [len(LOG) - 1]
    assert LOG[-1] == ("ask", held_out)
    assert set(predicted) <= {0, 1}


def test_what_is_stated_for_noise_is_what_the_majority_attains():
    """One neighbour is right on all rows it has seen; out of fold it knows nothing, and the decision says so."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), (rng.random(400) < 0.3).astype(int)
    model = rs.estimators.ThresholdClassifier(KNeighborsClassifier(1)).fit(X, y)
    assert KNeighborsClassifier(1).fit(X, y).score(X, y) == 1
    assert model.decision_.point.accuracy == pytest.approx(1 - y.mean(), abs=0.01)
    assert cross_val_score(model, X, y, cv=4).mean() == pytest.approx(1 - y.mean(), abs=0.02)
    scores = cross_val_predict(model, X, y, cv=4, method="predict_proba")[:, 1]
    interval = rs.auc_interval(y, scores)
    assert interval.low < 0.5 < interval.high
