"""Scorers in scikit-learn's cross-validation and searches: scikit-learn's own metrics, or the formula, per fold."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn import metrics as sk
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.svm import LinearSVC

import rocscope as rs
from rocscope.errors import InputError, LabelError, ModelError, ScoreError

rng = np.random.default_rng(3)
Y = rng.integers(0, 2, 120)
X = rng.normal(size=(120, 2)) + Y[:, np.newaxis] * 0.8
WEIGHT = rng.integers(1, 5, 120).astype(float)
FOLDS = StratifiedKFold(3)
MODEL = LogisticRegression().fit(X, Y)


def net_benefit(y, p, threshold, w=None):
    w = np.ones(len(y)) if w is None else w
    acted = p >= threshold
    true, false = w[acted & (y == 1)].sum(), w[acted & (y == 0)].sum()
    return (true - false * threshold / (1 - threshold)) / w.sum()


EXPECTED = {
    "auc": lambda y, p, w: sk.roc_auc_score(y, p, sample_weight=w),
    "brier": lambda y, p, w: -sk.brier_score_loss(y, p, sample_weight=w),
    "log_loss": lambda y, p, w: -sk.log_loss(y, p, sample_weight=w),
    "average precision": lambda y, p, w: sk.average_precision_score(y, p, sample_weight=w),
    "F1": lambda y, p, w: sk.f1_score(y, p >= 0.5, sample_weight=w),
    "mcc at 0.3": lambda y, p, w: sk.matthews_corrcoef(y, p >= 0.3, sample_weight=w),
    "precision at .6": lambda y, p, w: sk.precision_score(y, p >= 0.6, sample_weight=w),
    "fpr at 0.4": lambda y, p, w: sk.recall_score(y, p >= 0.4, pos_label=0, sample_weight=w) - 1,
    "net_benefit at .3": lambda y, p, w: net_benefit(y, p, 0.3, w),
    "Net benefit at 0.55": lambda y, p, w: net_benefit(y, p, 0.55, w),
    "cost at 0.4": lambda y, p, w: -sk.zero_one_loss(y, p >= 0.4, sample_weight=w),
    "auc >= 0.8": lambda y, p, w: float(sk.roc_auc_score(y, p, sample_weight=w) >= 0.8),
    "tpr at .3 >= 90% and fpr at .3 < .6": lambda y, p, w: float(
        sk.recall_score(y, p >= 0.3, sample_weight=w) >= 0.9
        and 1 - sk.recall_score(y, p >= 0.3, pos_label=0, sample_weight=w) < 0.6
    ),
    "depth at 0.5 <= .55": lambda y, p, w: float(np.average(p >= 0.5, weights=w) <= 0.55),
}


@pytest.mark.parametrize("text", EXPECTED)
def test_a_scorer_is_the_figure_of_each_fold(text):
    expected = []
    for train, test in FOLDS.split(X, Y):
        p = LogisticRegression().fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        expected.append(EXPECTED[text](Y[test], p, None))
    actual = cross_val_score(LogisticRegression(), X, Y, cv=FOLDS, scoring=rs.scorer(text), error_score="raise")
    assert actual == pytest.approx(expected)


@pytest.mark.parametrize("text", EXPECTED)
def test_a_scorer_takes_weights(text):
    p = MODEL.predict_proba(X)[:, 1]
    assert rs.scorer(text)(MODEL, X, Y, sample_weight=WEIGHT) == pytest.approx(EXPECTED[text](Y, p, WEIGHT))


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        routed = rs.scorer("net_benefit at .3").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        weights = {"sample_weight": WEIGHT}
        actual = cross_val_score(model, X, Y, cv=FOLDS, scoring=routed, params=weights, error_score="raise")
    for value, (train, test) in zip(actual, FOLDS.split(X, Y), strict=True):
        p = LogisticRegression().fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        assert value == pytest.approx(net_benefit(Y[test], p, 0.3, WEIGHT[test]))


def test_the_positive_class_may_be_either():
    names = np.where(Y == 1, "ill", "well")
    model = LogisticRegression().fit(X, names)
    p = MODEL.predict_proba(X)[:, 1]
    assert rs.scorer("net_benefit at .3", pos_label="ill")(model, X, names) == pytest.approx(net_benefit(Y, p, 0.3))
    well = rs.scorer("net_benefit at .3", pos_label="well")
    assert well(model, X, names) == pytest.approx(net_benefit(1 - Y, 1 - p, 0.3))
    with pytest.raises(LabelError, match="pos_label"):
        rs.scorer("auc")(model, X, names)


def test_a_search_takes_the_best_of_a_net_benefit_and_of_a_loss():
    grid = {"C": [1e-4, 1e-2, 1]}
    scoring = {"benefit": rs.scorer("net_benefit at .3"), "loss": rs.scorer("log_loss"), "area": "roc_auc"}
    search = GridSearchCV(LogisticRegression(), grid, cv=FOLDS, scoring=scoring, refit="benefit", error_score="raise")
    clone(search).fit(X, Y)
    search.fit(X, Y)
    means = []
    for c in grid["C"]:
        fits = [(LogisticRegression(C=c).fit(X[train], Y[train]), test) for train, test in FOLDS.split(X, Y)]
        means.append(np.mean([net_benefit(Y[test], fit.predict_proba(X[test])[:, 1], 0.3) for fit, test in fits]))
    assert search.cv_results_["mean_test_benefit"] == pytest.approx(means)
    assert search.best_index_ == np.argmax(means)
    single = GridSearchCV(LogisticRegression(), grid, cv=FOLDS, scoring=rs.scorer("log_loss")).fit(X, Y)
    losses = GridSearchCV(LogisticRegression(), grid, cv=FOLDS, scoring="neg_log_loss").fit(X, Y)
    assert single.best_params_ == losses.best_params_
    assert single.cv_results_["mean_test_score"] == pytest.approx(losses.cv_results_["mean_test_score"])


def test_a_scorer_can_be_cloned_and_pickled():
    made = rs.scorer("cost at .4", context=rs.Context(cost_fn=5), pos_label=1)
    for copy in (clone(made), pickle.loads(pickle.dumps(made))):
        assert copy.get_params() == made.get_params()
        assert copy(MODEL, X, Y) == made(MODEL, X, Y)
    assert repr(rs.scorer("auc")) == "Scorer(figure='auc')"


def test_costs_are_those_of_the_context():
    context = rs.Context(cost_fp=1, cost_fn=4)
    p = MODEL.predict_proba(X)[:, 1]
    fp, fn = ((p >= 0.4) & (Y == 0)).sum(), ((p < 0.4) & (Y == 1)).sum()
    assert rs.scorer("cost at .4", context=context)(MODEL, X, Y) == pytest.approx(-(fp + 4 * fn) / 120)
    assert rs.scorer("net_benefit", context=context)(MODEL, X, Y) == pytest.approx(net_benefit(Y, p, 0.2))


def test_evaluate_takes_the_same_scorers():
    scoring = {"benefit": rs.scorer("net_benefit at .3")}
    preds = rs.evaluate({"logistic": LogisticRegression()}, X, Y, cv=FOLDS, scoring=scoring)
    expected = cross_validate(LogisticRegression(), X, Y, cv=FOLDS, scoring=scoring)["test_benefit"]
    assert preds.source.scores["benefit"]["logistic"] == pytest.approx(expected)


def test_several_classes_have_their_figures():
    three = rng.integers(0, 3, 120)
    model = LogisticRegression().fit(X, three)
    expected = sk.f1_score(three, model.predict(X), average="macro")
    assert rs.scorer("macro_f1")(model, X, three) == pytest.approx(expected)
    with pytest.raises(InputError, match="net_benefit"):
        rs.scorer("net_benefit at .3")(model, X, three)


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "acuracy": "did you mean 'accuracy'",
        "auc at .3": "expected a metric at one threshold .such as 'accuracy'. before 'at', got 'auc'",
        "precision at 30%": "expected a threshold such as 0.3 after 'at', got '30%'; for a share .* 'precision@10%'",
        "precision at x": "expected a threshold such as 0.3 after 'at', got 'x'$",
        "net_benefit": "expected a threshold or costs, got 'net_benefit'; write 'net_benefit at 0.3' or pass context=",
        "net_benefit at 1": "threshold",
        "slope": "a metric with a direction .high or low values are good.",
        "auc >= .8 at 95%": "use rs.compare to compare models, and rs.summary for limits",
        "auc >=": "expected a text such as 'auc >= 0.8'",
    }.items(),
)
def test_what_cannot_score_is_refused_before_the_folds(text, message):
    with pytest.raises(InputError, match=message):
        rs.scorer(text)


def test_net_benefit_takes_probabilities_only():
    margins = LinearSVC().fit(X, Y)
    with pytest.raises(ScoreError, match="probabilities from 0 to 1"):
        rs.scorer("net_benefit at .3")(margins, X, Y)
    with pytest.raises(ModelError, match="not fitted"):
        rs.scorer("auc")(LogisticRegression(), X, Y)
