"""HullClassifier and ClassWeightClassifier: what they choose is what the functions choose from merged scores."""

import math
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs

MODELS = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]


def sample(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return rng.normal(size=(n, 3)) * (1 + y[:, None]) + 0.7 * y[:, None], y


def merged(model, X, y, folds):
    """Return the probabilities that scikit-learn gives rows by fits to the other folds."""
    return cross_val_predict(model, X, y, cv=PredefinedSplit(folds), method="predict_proba")


@pytest.fixture(scope="module")
def fitted():
    X, y = sample()
    return rs.estimators.HullClassifier(MODELS, cv=5).fit(X, y)


CONTEXTS = [None, rs.Context(cost_fn=5), rs.Context(cost_fp=4), rs.Context(target_prevalence=0.05, cost_fn=20)]


@pytest.mark.parametrize("context", CONTEXTS)
def test_no_model_alone_does_better_in_any_context(fitted, context):
    X, y = sample()
    folds = fitted.predictions_.fold
    aimed = fitted.aim_at(context)
    counts = {name: rs.ThresholdCounts.from_scores(y, merged(model, X, y, folds)[:, 1]) for name, model in MODELS}
    assert aimed.decision_.to_dict() == rs.choose(counts, context).to_dict()
    alone = [rs.choose({name: each}, context).expected_cost for name, each in counts.items()]
    assert aimed.decision_.expected_cost == min(alone)
    anew = rs.estimators.HullClassifier(MODELS, context=context, cv=5).fit(X, y)
    assert np.array_equal(aimed.predict(X), anew.predict(X))
    chosen = fitted.named_estimators_[aimed.decision_.model]
    assert np.array_equal(aimed.predict(X), chosen.predict_proba(X)[:, 1] >= aimed.decision_.threshold)
    assert np.array_equal(aimed.predict_proba(X), chosen.predict_proba(X))


def test_aiming_leaves_the_original_as_it_was(fitted):
    before = fitted.decision_
    aimed = fitted.aim_at(subject_to="tpr >= 0.95")
    assert aimed.decision_.point.tpr >= 0.95
    assert aimed.named_estimators_ is fitted.named_estimators_
    assert (fitted.decision_, fitted.subject_to) == (before, ())


def saved(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("context", [*CONTEXTS, rs.decisions.UncertainContext(cost_ratio=(0.1, 0.5))])
def test_a_saved_model_is_aimed_at_costs_and_mixtures_like_before(fitted, context):
    loaded = saved(fitted)
    assert loaded.hull_.vertices == fitted.hull_.vertices
    assert loaded.aim_at(context).decision_.to_dict() == fitted.aim_at(context).decision_.to_dict()
    assert loaded.aim_at(mixture={"fpr": 0.1}).mixture_ == fitted.aim_at(mixture={"fpr": 0.1}).mixture_
    with pytest.raises(rs.errors.InputError, match="expected a decision with its data"):
        loaded.aim_at(context).decision_.interval()


def test_a_saved_model_holds_few_training_scores():
    X, y = sample(2000)
    fitted = rs.estimators.HullClassifier(MODELS[:1], cv=3).fit(X, y)
    loaded = saved(fitted)
    vertices = fitted.hull_.choices[0].counts.threshold
    (all_scores,), (kept,) = fitted.predictions_.scores.values(), loaded.hull_.counts.values()
    assert set(vertices) <= set(kept.threshold)
    assert len(kept) <= 2 * len(vertices) + 2
    content = pickle.dumps(fitted)
    others = np.setdiff1d(all_scores, kept.threshold)
    assert len(others) > 1900
    assert not [score for score in others if score.tobytes() in content]


@pytest.mark.parametrize(
    "options", [{"criterion": "f1"}, {"subject_to": "tpr >= .9"}, {"context": rs.Context(cost_fn="loss")}]
)
def test_a_saved_model_refuses_what_needs_the_training_scores(fitted, options):
    loaded = saved(fitted)
    with pytest.raises(rs.errors.InputError, match="call aim_at before you save the model"):
        loaded.aim_at(**options)
    fitted_again = rs.estimators.HullClassifier(MODELS, cv=3, subject_to="tpr >= .9").fit(*sample())
    assert saved(fitted_again).decision_.to_dict() == fitted_again.decision_.to_dict()


def test_a_mixture_attains_its_rate_by_lot_or_by_key(fitted):
    X, _ = sample(4000, seed=1)
    aimed = fitted.aim_at(mixture={"depth": 0.25})
    first, second = aimed.mixture_.first, aimed.mixture_.second
    assert first.point.depth <= 0.25 <= second.point.depth
    ends = [fitted.named_estimators_[end.model].predict_proba(X)[:, 1] >= end.threshold for end in (first, second)]
    for predicted in (aimed.predict(X), aimed.predict(X, ids=np.arange(4000)), aimed.predict(X, random_state=7)):
        differ = ends[0] != ends[1]
        assert np.array_equal(predicted[~differ], ends[0][~differ])
        share = (predicted == ends[1])[differ].mean()
        assert abs(share - aimed.mixture_.weight) < 4 * math.sqrt(0.25 / differ.sum())
    some = aimed.predict(X[::3], ids=np.arange(4000)[::3])
    assert np.array_equal(some, aimed.predict(X, ids=np.arange(4000))[::3])
    assert not hasattr(aimed, "predict_proba")


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ([], {}, r"estimators: expected \(name, classifier\) pairs with different names, got no names"),
        ([*MODELS, MODELS[0]], {}, r"different names, got 'line', 'tree', 'line'"),
        (
            MODELS,
            {"mixture": {"fpr": 0.1}, "context": rs.Context()},
            "mixture: expected no context, criterion or constraint together with a mixture, got both",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(models, options, message):
    X, y = sample()
    with pytest.raises(rs.errors.InputError, match=message):
        rs.estimators.HullClassifier(models, cv=3, **options).fit(X, y)


def test_costs_need_to_know_which_class_is_positive():
    X, y = sample()
    names = np.where(y == 1, "ill", "well")
    model = rs.estimators.HullClassifier(MODELS, cv=3).fit(X, names)
    with pytest.raises(rs.errors.LabelError, match="name the positive class, such as pos_label="):
        model.aim_at(rs.Context(cost_fn=5))
    named = rs.estimators.HullClassifier(MODELS, cv=3, pos_label="ill", context=rs.Context(cost_fn=5)).fit(X, names)
    plain = rs.estimators.HullClassifier(MODELS, cv=3, context=rs.Context(cost_fn=5)).fit(X, y)
    assert np.array_equal(named.predict(X) == "ill", plain.predict(X) == 1)
    with pytest.raises(rs.errors.LabelError, match="pos_label='sick' is not among the labels"):
        rs.estimators.ThresholdClassifier(GaussianNB(), pos_label="sick").fit(X, names)


def three_classes(n=240, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1])
    return rng.normal(size=(n, 2)) + (y == "b")[:, None] + np.outer(y == "c", [2, -1]), y


COST = rs.multiclass.CostMatrix([[0, 1, 1], [4, 0, 1], [9, 2, 0]], classes=["a", "b", "c"], rows="actual")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objective": "balanced_accuracy"},
        {"objective": "macro_f1"},
        {"objective": COST},
        {"min_recall": {"c": 0.8}},
    ],
)
def test_class_weights_are_those_of_merged_probabilities(options):
    X, y = three_classes()
    model = rs.estimators.ClassWeightClassifier(GaussianNB(), cv=4, **options).fit(X, y)
    proba = merged(GaussianNB(), X, y, model.predictions_.fold)
    assert np.array_equal(model.predictions_.probabilities(), proba)
    wanted = rs.multiclass.class_weights(y, proba, **options)
    assert np.array_equal(model.class_weight_, wanted.weight)
    assert model.decision_.confusion.counts.tolist() == wanted.confusion.counts.tolist()
    assert np.array_equal(model.predict(X), wanted.predict(GaussianNB().fit(X, y).predict_proba(X)))


def test_two_classes_weighted_for_accuracy_do_no_worse_than_the_threshold():
    X, y = sample()
    weights = rs.estimators.ClassWeightClassifier(GaussianNB(), method="coordinate", cv=5).fit(X, y)
    threshold = rs.estimators.ThresholdClassifier(GaussianNB(), cv=5, shrinkage=0).fit(X, y)
    assert weights.decision_.value == pytest.approx(threshold.decision_.point.accuracy)


def test_a_class_that_a_fold_lacks_has_probability_0_there():
    X, y = three_classes()
    half = np.flatnonzero(y != "c")[::2]
    rest = np.setdiff1d(np.arange(len(y)), half)
    model = rs.estimators.ClassWeightClassifier(GaussianNB(), cv=[(half, rest)], method="coordinate").fit(X, y)
    assert not model.predictions_.probabilities()[:, 2].any()
    assert model.predictions_.support[2] == (y == "c").sum()
    assert set(model.predict(X)) <= {"a", "b", "c"}


def test_rows_of_an_unseen_class_alone_do_not_overflow():
    X, y = three_classes()
    alone = [(np.flatnonzero(y != "c"), np.flatnonzero(y == "c"))]
    model = rs.estimators.ClassWeightClassifier(GaussianNB(), cv=alone, method="coordinate").fit(X, y)
    assert np.isfinite(model.class_weight_).all()


def test_a_class_of_one_member_is_no_obstacle_beside_two_others():
    X, y = three_classes()
    kept = np.flatnonzero((y != "c") | (np.cumsum(y == "c") == 1))
    model = rs.estimators.ClassWeightClassifier(GaussianNB(var_smoothing=1e-3), method="coordinate", cv=5).fit(
        X[kept], y[kept]
    )
    assert model.predictions_.support[2] == 1
    assert model.predictions_.probabilities()[y[kept] == "c", 2] == 0
    with pytest.raises(rs.errors.InputError, match="expected two classes with two or more rows"):
        rs.estimators.ClassWeightClassifier(GaussianNB()).fit(np.zeros((4, 1)), ["a", "a", "b", "c"])


def test_one_class_is_refused():
    for model in (rs.estimators.ClassWeightClassifier(GaussianNB()), rs.estimators.ThresholdClassifier(GaussianNB())):
        with pytest.raises(rs.errors.OneClassError, match=r"y: expected .* got only one class, 1"):
            model.fit(np.zeros((4, 1)), [1, 1, 1, 1])
    with pytest.raises(rs.errors.LabelError, match="Only binary classification is supported: got 3 classes"):
        rs.estimators.ThresholdClassifier(GaussianNB()).fit(*three_classes())
