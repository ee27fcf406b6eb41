"""`evaluate(scoring=)`: metrics as users of scikit-learn write them, held against its `cross_validate`."""

import warnings

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope.errors import InputError, RocscopeWarning
from rocscope.evaluation.measures import measure_of

FOLDS = StratifiedKFold(3)
PROBA = "predict_proba"


def share_of_first(model, X, y):
    return np.mean(model.predict(X) == model.classes_[0]) + 0 * len(y)


OBJECTS = {
    "f3": make_scorer(sk.fbeta_score, beta=3, average="macro"),
    "loss": make_scorer(sk.zero_one_loss, greater_is_better=False),
    "tnr": make_scorer(sk.recall_score, pos_label=0),
    "partial": make_scorer(sk.roc_auc_score, response_method=("decision_function", PROBA), max_fpr=0.5),
    "surprise": make_scorer(sk.log_loss, response_method=PROBA, greater_is_better=False),
    "kappa": make_scorer(sk.cohen_kappa_score, weights="quadratic"),
    "hamming": make_scorer(sk.hamming_loss),
    "function": share_of_first,
}
SCORERS = {name: name for name in sk.get_scorer_names()} | OBJECTS
VOTE = VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(max_depth=2, random_state=0))])
MODELS = {
    "logistic": LogisticRegression(),
    "vote": VOTE,
    "svm": SVC(random_state=0),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "bayes": GaussianNB(),
    "Bernoulli": BernoulliNB(),
    "discriminant": LinearDiscriminantAnalysis(),
    "forest": RandomForestClassifier(5, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=3, random_state=0),
    "neighbours": KNeighborsClassifier(4),
    "centroid": NearestCentroid(),
    "linear svm": LinearSVC(random_state=0),
    "ridge": RidgeClassifier(),
    "perceptron": Perceptron(random_state=0),
    "descent": make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
}


def sample(classes):
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 120)
    return rng.normal(size=(120, 3)) + np.eye(3)[y], y


def or_nan(scorer):
    """Return a scorer that has no value where a model cannot serve it, as for cross_validate of one scorer alone."""

    def value(model, X, y):
        try:
            return sk.get_scorer(scorer)(model, X, y)
        except (AttributeError, ValueError):
            return np.nan

    return value


def theirs_of(model, scorers, X, y):
    """Return the results of cross_validate, which one scorer that a model cannot serve would otherwise end."""
    return cross_validate(model, X, y, cv=FOLDS, scoring={name: or_nan(scorer) for name, scorer in scorers.items()})


def equal(models, scorers, classes):
    """Return how many values are equal, after a check that all are, or that both have none and we say why."""
    X, y = sample(classes)
    count = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = {name: theirs_of(model, scorers, X, y) for name, model in models.items()}
        expected = {name: np.array([theirs[model][f"test_{name}"] for model in models]) for name in scorers}
        found = {}
        while not found and scorers:
            try:
                found = rs.evaluate(models, X, y, cv=FOLDS, scoring=scorers).source.cv_results()
            except InputError as error:  # names the scorer that has no value for any model
                refused = str(error).split("'")[1]
                assert str(error).startswith(f"scoring '{refused}': ")
                assert np.isnan(expected[refused]).all(), refused
                scorers = {name: scorer for name, scorer in scorers.items() if name != refused}
        for name in scorers:
            values = np.stack([found[f"split{fold}_test_{name}"] for fold in range(3)], axis=1)
            np.testing.assert_allclose(values, expected[name], rtol=1e-12, atol=1e-12, err_msg=name)
            count += np.isfinite(expected[name]).sum()
    return count


def test_values_are_those_of_cross_validate():
    """Names that occur often, a model without scores, one with a decision function, and every object."""
    often = ["accuracy", "f1", "f1_macro", "roc_auc", "roc_auc_ovr", "neg_log_loss", "top_k_accuracy", "r2"]
    scorers = {name: name for name in often} | OBJECTS
    models = {name: MODELS[name] for name in ("logistic", "vote", "svm")}
    assert equal(models, scorers, 2) > 110 and equal(models, scorers, 3) > 70


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
def test_all_scorers_and_models(classes):
    assert len(SCORERS) >= 60 and len(MODELS) >= 15
    count = equal(MODELS, SCORERS, classes)
    print(f"{len(SCORERS)} scorers × {len(MODELS)} models, {classes} classes: {count} values equal")
    assert count > 1500


def test_names_take_the_positive_class_whatever_it_is_called():
    X, y = sample(2)
    named = np.where(y == 1, "ill", "well")  # sorted, the positive class comes first
    of_margins = ["f1", "roc_auc", "average_precision"]
    for model, names in (GaussianNB(), [*of_margins, "neg_brier_score"]), (RidgeClassifier(), of_margins):
        known, coded = (
            rs.evaluate(model, X, labels, pos_label=positive, cv=FOLDS, scoring=names).source.cv_results()
            for labels, positive in ((named, "ill"), (y, 1))
        )
        for key in known:
            if "_test_" in key:
                np.testing.assert_allclose(known[key], coded[key], rtol=1e-12)
    flipped = rs.evaluate(GaussianNB(), X, y, pos_label=0, cv=FOLDS, scoring="recall").source
    theirs = cross_validate(GaussianNB(), X, y, cv=FOLDS, scoring=OBJECTS["tnr"])["test_score"]
    assert flipped.scores["recall"]["GaussianNB"] == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("function", "response"),
    [
        (sk.average_precision_score, PROBA),
        (sk.average_precision_score, "decision_function"),
        (sk.brier_score_loss, PROBA),
        (sk.f1_score, "predict"),
    ],
)
def test_a_scorer_of_class_0_measures_it_by_its_own_scores(function, response):
    X, y = sample(2)
    model = LogisticRegression().fit(X, y)
    scores = model.decision_function(X) if response == "decision_function" else model.predict_proba(X)[:, 1]
    scorer = make_scorer(function, response_method=response, pos_label=0)
    measure = measure_of(scorer, several_classes=False)
    assert measure.of(rs.Predictions(y, scores), response) == pytest.approx(scorer(model, X, y))


def test_figures_and_costs_stand_beside_scorers_and_rank_by_their_direction():
    X, y = sample(2)
    context = rs.Context(cost_fn=5)
    preds = rs.evaluate(
        {"bayes": GaussianNB(), "tree": MODELS["tree"]}, X, y, cv=FOLDS, scoring=["brier", context, lambda p: p.n]
    )
    found = preds.source.cv_results()
    for place, model in enumerate(found["model"]):
        parts = preds.select(models=[model]).by_fold().values()
        costs = [context.cost(part.point()) / part.n for part in parts]
        assert found["mean_test_expected cost"][place] == pytest.approx(np.mean(costs))
        assert found["mean_test_brier"][place] == pytest.approx(np.mean([rs.calibration.brier(p) for p in parts]))
    for name in "brier", "expected cost":
        assert found[f"rank_test_{name}"][found[f"mean_test_{name}"].argmin()] == 1
    assert preds.source.losses == ("brier", "expected cost") and set(found["mean_test_metric"]) == {40}


def test_weights_count_in_scorers():
    X, y = sample(2)
    weight = 1.0 + np.arange(120) % 3
    preds = rs.evaluate(GaussianNB(), X, y, cv=FOLDS, sample_weight=weight, scoring="accuracy")
    parts = [part.point().accuracy for part in preds.by_fold().values()]
    assert preds.source.scores["accuracy"]["GaussianNB"] == pytest.approx(parts)


class Counted(GaussianNB):
    """Counts how often it is asked for rows."""

    asked = ()

    def predict_proba(self, X):
        Counted.asked += ("predict_proba",)
        return super().predict_proba(X)

    def predict(self, X):
        Counted.asked += ("predict",)
        return super().predict(X)


def test_a_model_is_asked_once_whatever_is_scored():
    X, y = sample(2)
    Counted.asked = ()
    scorers = ["roc_auc", "accuracy", "neg_log_loss", "f1", "average_precision"]
    for labels, positive in ((y, None), (np.array(["no", "yes"])[y], "no")):
        rs.evaluate(Counted(), X, labels, pos_label=positive, cv=FOLDS, scoring=scorers)
    assert sorted(Counted.asked) == ["predict"] * 6 + ["predict_proba"] * 6


def test_a_model_of_labels_stays_and_only_what_needs_scores_has_none():
    X, y = sample(2)
    models = {"bayes": GaussianNB(), "vote": VOTE}
    with pytest.warns(RocscopeWarning, match="'roc_auc' of model 'vote' is NaN in 3 folds: AttributeError: .*VotingCl"):
        preds = rs.evaluate(models, X, y, cv=FOLDS, scoring=["roc_auc", "accuracy"])
    assert preds.models == ["bayes", "vote"] and set(preds.scores["vote"]) == {0, 1}
    assert preds.source.responses == {"bayes": "predict_proba", "vote": "labels"}
    assert preds.point("vote").accuracy == np.mean((preds.scores["vote"] == 1) == preds.y_true)
    assert rs.evaluation.compare_folds(preds, metric="accuracy")["bayes", "vote"].p_value <= 1
    with pytest.raises(InputError, match="auc: expected scores, got only predicted labels of model 'vote'"):
        rs.evaluation.compare_folds(preds, metric="auc")
    taken = rs.evaluate(models, X, y, cv=FOLDS, response={"vote": "predict"})
    assert taken.source.responses == {"bayes": "predict_proba", "vote": "predict"}
    assert rs.evaluation.compare_folds(taken, metric="auc")["bayes", "vote"].p_value <= 1


def test_refusals():
    X, y = sample(2)
    for scoring, said in {
        "acuracy": "did you mean 'accuracy'",
        7: "scoring: expected a name such as 'roc_auc', a scorer",
    }.items():
        with pytest.raises(InputError, match=said):
            rs.evaluate(GaussianNB(), X, y, cv=FOLDS, scoring=scoring)
    with pytest.raises(InputError, match="scoring: expected distinct names of scorers, got 'f1' twice"):
        rs.evaluate(GaussianNB(), X, y, cv=FOLDS, scoring=["f1", "f1"])
    with pytest.raises(InputError, match="scoring 'roc_auc': AttributeError"):
        rs.evaluate(VOTE, X, y, cv=FOLDS, scoring="roc_auc")
    with pytest.raises(InputError, match="response: expected one of 'auto'"):
        rs.evaluate(GaussianNB(), X, y, cv=FOLDS, response={"GaussianNB": "proba"})


def test_loo_is_leave_one_out():
    X, y = sample(2)
    assert rs.evaluate(GaussianNB(), X[:20], y[:20], cv="loo").source.protocol == "leave one out"


def test_the_auc_of_two_classes_names_that_of_several():
    x = np.arange(30.0)[:, None]
    with pytest.raises(InputError, match="for more than two classes pass 'roc_auc_ovr' or 'roc_auc_ovo'"):
        rs.evaluate({"model": GaussianNB()}, x, np.arange(30) % 3, scoring="roc_auc", cv=2)


def test_training_scores_and_fitted_models_are_those_of_cross_validate():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    names = ["roc_auc", "accuracy"]
    options = {"cv": FOLDS, "scoring": names, "return_train_score": True, "return_estimator": True}
    theirs = cross_validate(LogisticRegression(), X, y, **options)
    source = rs.evaluate(LogisticRegression(), X, y, **options).source
    found = source.cv_results()
    for name in names:
        for part in ("train", "test"):
            values = [found[f"split{fold}_{part}_{name}"][0] for fold in range(3)]
            assert values == pytest.approx(theirs[f"{part}_{name}"], abs=1e-12)
            assert found[f"mean_{part}_{name}"][0] == pytest.approx(np.mean(theirs[f"{part}_{name}"]))
    for ours, other in zip(source.estimators["LogisticRegression"], theirs["estimator"], strict=True):
        assert np.array_equal(ours.coef_, other.coef_)
