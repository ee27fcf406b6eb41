"""ThresholdClassifier: the threshold that merged out-of-fold scores choose."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope.estimators.folds import deal


def sample(n=200, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def by_hand(model, X, y, folds, **options):
    """Merge the scores of the test rows of each fold and choose once."""
    scores = np.empty(len(y))
    for i in range(folds.max() + 1):
        test = folds == i
        scores[test] = model.fit(X[~test], y[~test]).predict_proba(X[test])[:, 1]
    return rs.choose(rs.ThresholdCounts.from_scores(y, scores), **options)


@pytest.mark.parametrize(
    "options", [{}, {"context": rs.Context(cost_fn=5)}, {"where": "tpr >= .9"}, {"criterion": "f1"}]
)
def test_the_threshold_is_the_one_that_merged_scores_choose(options):
    X, y = sample()
    model = rs.ThresholdClassifier(LogisticRegression(), cv=7, random_state=3, **options).fit(X, y)
    wanted = by_hand(LogisticRegression(), X, y, deal(y, 7, 3), **options)
    assert model.threshold_ == wanted.threshold
    assert model.decision_.point == wanted.point
    probability = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    assert np.array_equal(model.predict(X), probability >= wanted.threshold)
    assert np.array_equal(model.predict_proba(X)[:, 1], probability)


def test_nobody_positive_is_a_legal_choice():
    X, y = sample(share=0.1)
    model = rs.ThresholdClassifier(LogisticRegression()).fit(np.zeros_like(X), y)
    assert model.threshold_ == math.inf
    assert not model.predict(X).any()


def test_members_of_a_rare_class_are_dealt_to_different_folds():
    y = np.repeat(["a", "b"], [40, 3])
    fold = deal(y, 10, 0)
    assert sorted(np.bincount(fold)) == [4] * 7 + [5] * 3
    assert len(set(fold[y == "b"])) == 3
    X = np.random.default_rng(0).normal(size=(43, 2))
    model = rs.ThresholdClassifier(DecisionTreeClassifier(random_state=0)).fit(X, y)
    assert model.predictions_.n_pos == 3
    assert np.isnan(model.fold_thresholds_).sum() == 7


def test_a_class_of_one_is_refused():
    with pytest.raises(rs.errors.InputError, match="y: expected at least two members of each class, got one class, 1"):
        rs.ThresholdClassifier(LogisticRegression()).fit(np.zeros((5, 1)), [0, 0, 0, 0, 1])
