"""Models see the table that was given: its type, its column names, and its rows in the order of the split."""

from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, cross_validate

import rocscope as rs
from rocscope import estimators, evaluation
from rocscope.compat import displays
from rocscope.evaluation.fitting import take_rows

NAMES = ["row", "score", "noise"]
pytestmark = pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")


class Recording(ClassifierMixin, BaseEstimator):
    """Scores rows by their second column, and keeps what it was given."""

    seen: ClassVar = []

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen.append((X, np.asarray(y)))
        return self

    def predict_proba(self, X):
        self.seen.append((X, None))
        positive = values(X)[:, 1] ** self.power
        return np.column_stack([1 - positive, positive])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def values(X):
    if issparse(X):
        return X.toarray()
    if isinstance(X, pa.Table):
        return np.column_stack([column.to_numpy() for column in X.columns])
    return np.asarray(X)


def names(X):
    if isinstance(X, pa.Table):
        return X.column_names
    return list(X.columns) if hasattr(X, "columns") else []


TABLES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES, index=range(1000, 1000 + len(X))),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES, orient="row"),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
    "array": np.asarray,
    "sparse": csr_array,
}


def cross_validated(X, y):
    result = cross_validate(Recording(), X, y, cv=3, return_estimator=True, return_indices=True)
    displays.RocCurveDisplay.from_cv_results(result, X, y)


DOORS = {
    "evaluate": lambda X, y: rs.evaluate(Recording(), X, y, cv=3),
    "learning_curve": lambda X, y: evaluation.learning_curve(Recording(), X, y, cv=3, sizes=[40]),
    "nested_cross_validation": lambda X, y: evaluation.nested_cross_validation(
        Recording(), X, y, cv=3, repeats=2, metric="accuracy"
    ),
    "bootstrap_632": lambda X, y: evaluation.bootstrap_632(Recording(), X, y, replicates=50),
    "optimism": lambda X, y: evaluation.optimism({"a": Recording()}, X=X, y=y, cv=3, repeats=1, replicates=200),
    "Search": lambda X, y: estimators.Search({"one": Recording(), "two": Recording(2)}, cv=3).fit(X, y).predict(X),
    "ThresholdClassifier": lambda X, y: estimators.ThresholdClassifier(Recording(), cv=3).fit(X, y).predict(X),
    "HullClassifier": lambda X, y: estimators.HullClassifier([("a", Recording())], cv=3).fit(X, y).predict(X),
    "ClassWeightClassifier": lambda X, y: estimators.ClassWeightClassifier(Recording(), cv=3).fit(X, y).predict(X),
    "ResampledClassifier": lambda X, y: estimators.ResampledClassifier(Recording(), "over").fit(X, y).predict(X),
    "search of scikit-learn": lambda X, y: rs.evaluate(GridSearchCV(Recording(), {"power": [1]}, cv=2), X, y, cv=2),
    "RocCurveDisplay": cross_validated,
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("door", DOORS)
def test_models_see_the_table_that_was_given(door, kind, monkeypatch):
    rng = np.random.default_rng(0)
    n = 60
    score = rng.random(n)
    label = (rng.random(n) < score).astype(int)
    label[:2] = 0, 1
    # A row's first column is its number, so that each table shows which rows it has.
    table = np.column_stack([np.arange(n), score, rng.random(n)])
    given = TABLES[kind](table)
    seen = []
    monkeypatch.setattr(Recording, "seen", seen)
    DOORS[door](given, label)
    assert len(seen) >= 2
    for rows, labels in seen:
        assert type(rows) is type(given)
        assert names(rows) == names(given)
        row = values(rows)[:, 0].astype(int)
        np.testing.assert_array_equal(values(rows), table[row])
        if labels is not None:
            np.testing.assert_array_equal(labels, label[row])


@pytest.mark.parametrize("column", [pd.Series, pl.Series, lambda text: pa.chunked_array([text])])
def test_a_column_of_texts_stays_one(column):
    text = column(["good", "bad", "fine"])
    assert type(take_rows(text, np.array([2, 0]))) is type(text)
    assert list(map(str, take_rows(text, np.array([2, 0])))) == ["fine", "good"]


def test_a_lazy_frame_is_refused_with_the_call_that_makes_rows():
    lazy = pl.LazyFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(rs.errors.ShapeError, match=r"X: expected rows in memory, got a lazy frame; pass X\.collect"):
        rs.evaluate(Recording(), lazy, [0, 1, 0, 1], cv=2)
