"""evaluate: which rows models see, what comes back, and what is refused."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import rocscope as rs


@pytest.fixture(scope="module")
def noise():
    """Attributes that say nothing of 120 labels."""
    rng = np.random.default_rng(7)
    return rng.normal(size=(120, 3)), rng.integers(0, 2, 120)


def test_selection_inside_the_folds_finds_nothing_in_noise():
    """A single data set may look better or worse than chance by chance; over many of them that averages out."""
    honest, leaking = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 200)), rng.integers(0, 2, 100)
        honest.append(rs.auc_interval(rs.evaluate(make_pipeline(SelectKBest(k=10), GaussianNB()), X, y, cv=5)))
        chosen = SelectKBest(k=10).fit_transform(X, y)
        leaking.append(rs.auc_interval(rs.evaluate(GaussianNB(), chosen, y, cv=5)))
    found = np.array([estimate.value for estimate in honest])
    assert abs(found.mean() - 0.5) < 3 * found.std(ddof=1) / found.size**0.5
    assert np.mean([0.5 in estimate for estimate in honest]) >= 0.75
    assert all(estimate.low > 0.5 for estimate in leaking)


def test_rows_keep_their_place_and_every_repeat_holds_each_once(noise):
    X, y = noise
    preds = rs.evaluate({"lr": LogisticRegression(max_iter=50, tol=0.1), "svm": LinearSVC()}, X, y, cv=4, repeats=2)
    assert (preds.y_true == y[preds.row]).all()
    for part in preds.by_repeat().values():
        assert part.row.tolist() == list(range(120))
        assert np.unique(part.fold).size == 4
    assert sorted(preds.by_fold()) == list(range(8))
    assert preds.repeated
    assert not preds.by_repeat()[0].repeated
    assert preds.source.responses == {"lr": "predict_proba", "svm": "decision_function"}


def test_intervals_count_rows_once():
    """Five equal repeats say no more than one: the standard error is that of the rows, not smaller by √5."""
    rng = np.random.default_rng(1)
    y, score, row = rng.integers(0, 2, 200), rng.normal(size=200), np.arange(200)
    once = rs.Predictions(y, {"a": score, "b": score + rng.normal(size=200)}, row=row)
    many = rs.Predictions(np.tile(y, 5), {name: np.tile(s, 5) for name, s in once.scores.items()}, row=np.tile(row, 5))
    for of in (
        lambda preds: rs.auc_interval(preds, model="a").standard_error,
        lambda preds: rs.compare(preds)["a", "b"].difference.standard_error,
        lambda preds: rs.bootstrap(preds.select(models=["a"]), rs.auc, replicates=500).standard_error,
    ):
        assert of(many) == pytest.approx(of(once), rel=0.1)
    assert "200 clusters" in rs.auc_interval(many, model="a").method


def test_side_by_side_is_the_same(noise):
    X, y = noise
    one, two = (rs.evaluate(DummyClassifier(strategy="uniform"), X, y, cv=3, n_jobs=n) for n in (1, 2))
    assert (one.scores["DummyClassifier"] == two.scores["DummyClassifier"]).all()
