"""Segments of an evaluation: their mean area within folds, and rows that have no segment."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import rocscope as rs
from rocscope.errors import InputError, ScoreError

MODELS = {"logistic": LogisticRegression(), "bayes": GaussianNB()}


def visits(users=25, seed=0):
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), rng.integers(4, 20, users))
    y = (rng.random(user.size) < 0.4).astype(int)
    return rng.normal(size=(user.size, 2)) + 0.7 * y[:, None], y, user


def by_loop(preds, weight):
    """Area and weight of each segment, from a loop over its folds."""
    found = []
    for part in preds.by_segment().values():
        own = [fold for fold in part.by_fold().values() if fold.n_pos and fold.n_neg]
        mass = [1.0 if weight is None else getattr(fold, weight) for fold in own]
        if own:
            mean = np.average([rs.auc(fold) for fold in own], weights=mass)
            found.append((mean, 1.0 if weight is None else sum(mass)))
    return np.array(found).T


@pytest.mark.parametrize("repeats", [1, 2])
def test_the_mean_within_folds_is_that_of_a_loop(repeats):
    X, y, user = visits()
    preds = rs.evaluate(MODELS, X, y, cv=3, repeats=repeats, segment=user)
    for weight in ("n", "n_pos", None):
        compared = rs.segments.compare_segments(preds, weight=weight, folds="mean")
        for model in preds.models:
            area, mass = by_loop(preds.select(models=[model]), weight)
            found = preds.counts(model, by="segment").mean_auc(weight, folds="mean")
            mean = np.average(area, weights=mass)
            without = [
                np.average(np.delete(area, i), weights=np.delete(mass, i)) - mean for i in range(area.size)
            ]  # leaving out each segment
            error = ((area.size - 1) / area.size * np.square(without).sum()) ** 0.5
            assert (found.value, found.standard_error, found.n) == pytest.approx((mean, error, area.size))
            assert compared.estimates[model] == found


def test_folds_on_scales_of_their_own_only_count_where_they_are_pooled():
    X, y, user = visits()
    preds = rs.evaluate(GaussianNB(), X, y, cv=3, segment=user)
    (score,) = preds.scores.values()
    columns = {"fold": preds.fold, "segment": preds.segment}
    moved = rs.Predictions(preds.y_true, score + 10 * preds.fold, **columns).counts(by="segment")
    kept = preds.counts(by="segment")
    assert moved.mean_auc(folds="mean") == kept.mean_auc(folds="mean")
    assert moved.mean_auc() == moved.mean_auc(folds="pooled") != kept.mean_auc()
    large = kept.n > 10
    some = rs.Predictions(preds.y_true, score, **columns).select(np.isin(preds.segment, kept.names[large]))
    assert kept.select(large).mean_auc(folds="mean") == some.counts(by="segment").mean_auc(folds="mean")


def test_a_user_in_one_fold_has_the_same_area_either_way():
    X, y, user = visits()
    segments = rs.evaluate(GaussianNB(), X, y, cv=3, groups=user, segment=user).counts(by="segment")
    within, pooled = segments.mean_auc(folds="mean"), segments.mean_auc()
    assert (within.value, within.low, within.high) == pytest.approx((pooled.value, pooled.low, pooled.high))


@pytest.mark.slow
def test_the_interval_of_the_mean_within_folds_covers():
    """Users of normal scores, whose own gain varies; a fold adds what it likes. The truth is the mean over users."""
    rng, held, samples = np.random.default_rng(0), {"n": 0, None: 0}, 1000
    of_users = norm.cdf(rng.normal(1, 0.5, 1_000_000) / 2**0.5).mean()
    for _ in range(samples):
        user = np.repeat(np.arange(40), rng.integers(20, 60, 40))
        y, fold = rng.random(user.size) < 0.4, rng.integers(0, 3, user.size)
        score = rng.normal(size=user.size) + rng.normal(1, 0.5, 40)[user] * y + rng.normal(0, 3, 3)[fold]
        segments = rs.Predictions(y, score, segment=user, fold=fold).counts(by="segment")
        for weight in held:
            held[weight] += of_users in segments.mean_auc(weight, folds="mean")
    print({weight: f"{100 * count / samples:.1f}% covered" for weight, count in held.items()})
    assert all(0.93 * samples <= count <= 0.97 * samples for count in held.values())


def test_segments_of_an_evaluation_differ_and_drift():
    X, y, user = visits(12)
    X[user == 3] = -X[user == 3]  # whose rows mean the opposite
    preds = rs.evaluate(LogisticRegression(), X, y, cv=3, segment=user)
    found = preds.counts(by="segment").differing(adjust="bh")
    assert found.order[0] == 3 and 3 in found.found
    first, *_, last = (part.counts(by="segment") for part in preds.by_fold().values())
    drifted = rs.drift(first, last, replicates=9).to_frame().set_index("segment")
    name = drifted.index[drifted.auc_difference.notna()][0]
    assert drifted.auc_difference[name] == pytest.approx(rs.auc(last[name]) - rs.auc(first[name]))


def test_what_is_refused():
    X, y, user = visits()
    whole = rs.Predictions(y, X[:, 0], segment=user).counts(by="segment")
    with pytest.raises(InputError, match="folds='mean': expected Predictions with fold and segment, got no folds"):
        whole.mean_auc(folds="mean")
    with pytest.raises(InputError, match="folds: expected one of 'pooled', 'mean'"):
        whole.mean_auc(folds="median")


TIMES = np.array(["2026-01-01", "NaT", "2026-02-01", "NaT", "2026-01-01"], "datetime64[ns]")
KEYS = {
    "numbers": np.array([2.0, np.nan, 1.0, np.nan, 2.0]),
    "text": np.array(["s", None, "n", np.nan, "s"], object),
    "nullable": pd.array([2, None, 1, None, 2], "Int64"),
    "times": TIMES,
    "all missing": np.full(5, np.nan),
}


@pytest.mark.parametrize("kind", KEYS)
def test_rows_without_a_segment_are_one_as_in_pandas_and_sql(kind):
    key, y, score = KEYS[kind], np.array([1, 0, 0, 1, 1]), np.array([0.9, 0.2, 0.4, 0.1, 0.3])
    preds = rs.Predictions(y, score, segment=key)
    segments = preds.counts(by="segment")
    frame = pd.DataFrame({"key": key, "y": y, "score": score})
    grouped = frame.groupby("key", dropna=False).y.agg(["size", "sum"])
    assert segments.n.tolist() == grouped["size"].tolist()  # pandas too has the missing key last
    assert segments.n_pos.tolist() == grouped["sum"].tolist()
    relation = duckdb.from_df(frame)
    counted = relation.aggregate("key, count(*) AS n, sum(y) AS pos", "key").order("key NULLS LAST").fetchall()
    assert segments.n.tolist() == [n for _, n, _ in counted]
    for missing in (None, np.nan, float("nan"), pd.NA, pd.NaT):
        assert missing in segments and segments[missing].n == segments.get(missing).n == grouped["size"].iloc[-1]
        assert preds.by_segment()[missing].y_true.tolist() == y[pd.isna(key)].tolist()
    assert list(segments)[-1] is None and "x" not in segments
    read = rs.read(frame, label="y", scores="score", segment="key", missing="segment").counts(by="segment")
    assert read.n.tolist() == segments.n.tolist() and list(read)[-1] is None
    named = rs.Predictions(y, score, segment=np.where(pd.isna(key), "none", pd.Series(key).astype(str)))
    chosen, expected = (rs.allocate(each, capacity=3).rows(each).tolist() for each in (preds, named))
    assert chosen == expected
    with pytest.raises(InputError, match="missing"):
        rs.read(frame, label="y", scores="score", segment="key")


def test_whole_segments_miss_nothing_and_other_columns_are_still_refused():
    y = np.tile([0, 1], 4)
    segments = rs.Predictions(y, y, segment=np.arange(8) // 2).counts(by="segment")
    assert None not in segments and np.nan not in segments
    rows = {"y": y, "s": [0.5, None] * 4, "g": ["a", None] * 4}
    with pytest.raises(ScoreError, match="4 missing"):
        rs.read(rows, label="y", scores="s", segment="g", missing="segment")
    with pytest.raises(InputError, match="fold"):
        rs.read(rows, label="y", scores="y", fold="g", missing="segment")


def test_evaluate_keeps_rows_without_a_segment():
    X, y, user = visits()
    user = np.where(user < 5, np.nan, user)
    preds = rs.evaluate(GaussianNB(), X, y, cv=3, segment=user)
    assert preds.counts(by="segment")[np.nan].n == np.isnan(user).sum()
    assert str(rs.summary(preds, by="segment").rows[-1].part) == "None"
