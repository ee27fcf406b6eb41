"""ThresholdClassifier: the threshold that merged out-of-fold scores choose."""

import math

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope import protocols


def sample(n=200, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def by_hand(model, X, y, folds, **options):
    """Merge what scikit-learn says of the test rows of each fold, and choose once."""
    scores = cross_val_predict(model, X, y, cv=PredefinedSplit(folds), method="predict_proba")[:, 1]
    return scores, rs.choose(rs.ThresholdCounts.from_scores(y, scores), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"shrinkage": 0},
        {"subject_to": "tpr >= .9", "context": rs.Context(cost_fn=5)},
        {"criterion": "f1"},
        {"context": rs.Context(cost_fn=5), "shrinkage": 0},
    ],
)
def test_the_threshold_is_the_one_that_merged_scores_choose(options):
    X, y = sample()
    model = rs.estimators.ThresholdClassifier(LogisticRegression(), cv=7, random_state=3, **options).fit(X, y)
    asked = {name: value for name, value in options.items() if name != "shrinkage"}
    scores, wanted = by_hand(LogisticRegression(), X, y, model.predictions_.fold, **asked)
    assert np.array_equal(model.predictions_.scores["LogisticRegression"], scores)
    assert model.threshold_ == wanted.threshold
    assert model.decision_.point == wanted.point
    probability = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    assert np.array_equal(model.predict(X), probability >= wanted.threshold)
    assert np.array_equal(model.predict_proba(X)[:, 1], probability)


def test_nobody_positive_is_a_legal_choice():
    X, y = sample(share=0.1)
    model = rs.estimators.ThresholdClassifier(LogisticRegression()).fit(np.zeros_like(X), y)
    assert model.threshold_ == math.inf
    assert not model.predict(X).any()


def test_members_of_a_rare_class_are_in_different_folds():
    y = np.repeat(["a", "b"], [40, 3])
    X = np.random.default_rng(0).normal(size=(43, 2))
    model = rs.estimators.ThresholdClassifier(DecisionTreeClassifier(random_state=0)).fit(X, y)
    fold = model.predictions_.fold
    assert sorted(np.bincount(fold)) == [4] * 7 + [5] * 3
    assert len(set(fold[y == "b"])) == 3
    assert model.predictions_.n_pos == 3
    assert np.isnan(model.fold_thresholds_).sum() == 7


def test_folds_are_those_of_evaluate():
    X, y = sample()
    model = rs.estimators.ThresholdClassifier(LogisticRegression(), cv=7, random_state=3).fit(X, y)
    preds = rs.evaluate(LogisticRegression(), X, y, cv=7, random_state=3)
    assert np.array_equal(model.predictions_.fold, preds.fold)
    assert np.array_equal(model.predictions_.scores["LogisticRegression"], preds.scores["LogisticRegression"])


@pytest.mark.parametrize(("cv", "tested"), [("leave_one_out", 40), ("holdout", 13), (protocols.TimeOrder(3), 30)])
def test_protocols_serve_inside_as_outside(cv, tested):
    X, y = sample(40)
    model = rs.estimators.ThresholdClassifier(LogisticRegression(), cv=cv).fit(X, y)
    assert len(model.predictions_) == tested
    assert np.array_equal(model.predictions_.y_true, y[model.predictions_.row])


def test_repeats_of_a_splitter_are_known_as_such():
    """Otherwise an interval around the decision would take ten times ten folds for ten times the rows."""
    X, y = sample(60)
    model = rs.estimators.ThresholdClassifier(GaussianNB(), cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2))
    predictions = model.fit(X, y).predictions_
    assert predictions.repeated
    assert [part.row.tolist() for part in predictions.by_repeat().values()] == [[*range(60)]] * 2


def test_a_class_of_one_is_refused():
    with pytest.raises(rs.errors.InputError, match="y: expected at least two rows of each class, got 1 sample"):
        rs.estimators.ThresholdClassifier(LogisticRegression()).fit(np.zeros((5, 1)), [0, 0, 0, 0, 1])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv: expected a whole number of at least 2, got 1"),
        ([(np.arange(100), np.arange(0))], "cv: fold 0: expected one or more test rows, got 0 rows"),
        (
            [(np.arange(100), np.arange(90, 200))],
            "expected training and test rows without overlap, got 10 rows in both, the first is row 90",
        ),
        ("leave one out", "cv: expected one of 'holdout', .*'leave_one_out'"),
    ],
)
def test_folds_that_cannot_serve_are_refused(cv, message):
    with pytest.raises(rs.errors.InputError, match=message):
        rs.estimators.ThresholdClassifier(LogisticRegression(), cv=cv).fit(*sample())


@pytest.mark.parametrize(
    ("thresholds", "spread"), [([0.1, 0.3], math.sqrt(0.02)), ([0.1, math.inf], math.inf), ([math.inf], math.nan)]
)
def test_the_spread_says_when_only_some_folds_would_predict_nobody(monkeypatch, thresholds, spread):
    model = rs.estimators.ThresholdClassifier(LogisticRegression())
    own = np.array([*thresholds, math.nan])
    monkeypatch.setattr(type(model), "fold_thresholds_", own)
    assert model.threshold_spread_ == pytest.approx(spread, nan_ok=True)


def test_each_fold_says_what_it_alone_would_choose():
    X, y = sample()
    model = rs.estimators.ThresholdClassifier(LogisticRegression(), cv=5).fit(X, y)
    own = [rs.choose(fold).threshold for fold in model.predictions_.by_fold().values()]
    assert model.fold_thresholds_.tolist() == own
    finite = [threshold for threshold in own if math.isfinite(threshold)]
    assert model.threshold_spread_ == (np.std(own, ddof=1) if len(finite) == 5 else math.inf)


def test_rows_are_spread_evenly_also_in_each_class():
    y = np.repeat([0, 1, 2], [31, 17, 5])
    X = np.random.default_rng(0).normal(size=(53, 2))

    def folds(**options):
        model = rs.estimators.ClassWeightClassifier(GaussianNB(var_smoothing=1), method="coordinate", **options)
        return model.fit(X, y).predictions_.fold

    fold = folds(cv=7)
    for rows in (slice(None), y == 0, y == 1, y == 2):
        sizes = np.bincount(fold[rows], minlength=7)
        assert sizes.max() - sizes.min() <= 1
    assert not np.array_equal(fold, folds(cv=7, random_state=1))
    for random in (np.random.default_rng, np.random.RandomState):
        assert np.array_equal(folds(cv=7, random_state=random(0)), folds(cv=7, random_state=random(0)))


def test_there_are_no_more_folds_than_the_larger_class_has_rows():
    model = rs.estimators.ThresholdClassifier(GaussianNB(), cv=10).fit([[0], [1], [2], [3], [4]], [0, 1, 0, 1, 0])
    assert sorted(model.predictions_.fold) == [0, 0, 1, 1, 2]


@pytest.mark.slow(reason="long searches")
def test_naive_bayes_gains_on_tic_tac_toe_what_the_paper_says():
    """Vuk & Curk, Table 4: .695 with the threshold 0.5, .752 with the chosen one, .403 on average."""
    data = rs.datasets.load("tic_tac_toe")
    codes = [np.unique(column, return_inverse=True)[1] for column in data.X.values()]
    X, y = np.column_stack(codes), data.y
    outer = StratifiedKFold(10, shuffle=True, random_state=0)
    bayes, tuned = CategoricalNB(), rs.estimators.ThresholdClassifier(CategoricalNB(), pos_label="p")
    before, after = (cross_val_score(model, X, y, cv=outer).mean() for model in (bayes, tuned))
    assert (before, after) == (pytest.approx(0.695, abs=0.015), pytest.approx(0.752, abs=0.01))
    assert tuned.fit(X, y).threshold_ == pytest.approx(0.403, abs=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"context": {"cost_fn": 5}},
            "context: expected a Context, a Campaign or an UncertainContext, got {'cost_fn': 5}",
        ),
        ({"criterion": "acuracy"}, "criterion: expected one of .*did you mean 'accuracy'"),
        ({"subject_to": "tpr above .9"}, "tpr above .9"),
        ({"cv": 3, "subject_to": "tpr > 1"}, "no threshold of any model satisfies tpr > 1"),
    ],
)
@pytest.mark.parametrize("kind", ["one", "several"])
def test_an_aim_that_is_not_understood_is_refused(kind, options, message):
    models = {"one": LogisticRegression(), "several": [("a", LogisticRegression()), ("b", LogisticRegression(C=0.1))]}
    wrapper = {"one": rs.estimators.ThresholdClassifier, "several": rs.estimators.HullClassifier}[kind]
    with pytest.raises(rs.errors.InputError, match=message):
        wrapper(models[kind], **options).fit(*sample())


WITH_CONTEXT = [
    lambda **options: rs.estimators.ThresholdClassifier(GaussianNB(), cv=3, **options),
    lambda **options: rs.estimators.HullClassifier([("nb", GaussianNB())], cv=3, **options),
]


@pytest.mark.parametrize("make", WITH_CONTEXT, ids=["threshold", "hull"])
def test_a_search_varies_single_costs_and_changes_no_context(make):
    X, y = sample()
    context = rs.Context(0.3, cost_fn=3)
    search = GridSearchCV(make(context=context), {"context__cost_fn": [1, 50]}, cv=3, scoring="recall").fit(X, y)
    assert search.best_params_ == {"context__cost_fn": 50}
    assert search.best_estimator_.context == rs.Context(0.3, cost_fn=50)
    assert context == rs.Context(0.3, cost_fn=3)
    model = make()
    assert model.get_params()["context__cost_fn"] == 1
    assert model.set_params(context__cost_fp=2).context == rs.Context(cost_fp=2)
    assert model.set_params(context=context, context__cost_fp=2).context == rs.Context(0.3, cost_fp=2, cost_fn=3)
    with pytest.raises(rs.errors.InputError, match="did you mean 'cost_tp'"):
        model.set_params(context__cost=2)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("name", ["ThresholdClassifier", "Search", "HullClassifier"])
def test_costs_of_single_rows_choose_the_threshold(name, routing):
    X, y = sample()
    amount = np.random.default_rng(1).exponential(size=y.size) * 9
    context = rs.Context(cost_fn="amount")
    models = [("line", LogisticRegression())] if name == "HullClassifier" else LogisticRegression()
    model = getattr(rs.estimators, name)(models, context=context, cv=5)
    train, test = next(StratifiedKFold(3).split(X, y))
    with config_context(enable_metadata_routing=routing):
        scores = cross_val_score(model, X, y, cv=3, params={"amount": amount})
        model.fit(X[train], y[train], amount=amount[train])
    assert scores[0] == model.score(X[test], y[test])
    # The rows of one threshold cost the amounts of the missed rows, and 1 for each false alarm.
    (score,) = model.predictions_.scores.values()
    cost = [
        (amount[train] * y[train] * (score < threshold) + ((1 - y[train]) * (score >= threshold))).sum()
        for threshold in np.append(score, np.inf)
    ]
    assert model.decision_.expected_cost == pytest.approx(min(cost) / train.size)
    with pytest.raises(rs.errors.InputError, match=f"{name}.fit: expected amount=…, an amount per row"):
        model.fit(X, y)
