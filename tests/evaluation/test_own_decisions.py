"""Own decisions: every model is judged by the labels that it would give, as scikit-learn's `cross_val_score` does."""

from functools import partial, update_wrapper

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope.errors import ColumnError, InputError, RocscopeError, RocscopeWarning
from rocscope.estimators import (
    AUCTreeClassifier,
    ClassWeightClassifier,
    HullClassifier,
    ResampledClassifier,
    SmoothedTreeClassifier,
    ThresholdClassifier,
)
from rocscope.evaluation.measures import measure_of
from rocscope.multiclass import CostMatrix

FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)
COST = [[0, 2, 5], [4, 0, 1], [9, 3, -2]]

OURS = {
    "threshold": ThresholdClassifier(GaussianNB(), context=rs.Context(cost_fn=9), cv=3),
    "margin": ThresholdClassifier(LinearSVC(random_state=0), criterion="youden", cv=3),
    "hull": HullClassifier([("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))], cv=3),
    "weights": ClassWeightClassifier(GaussianNB(), objective="balanced_accuracy", cv=3),
    "resampled": ResampledClassifier(LogisticRegression(), "over"),
    "auc tree": AUCTreeClassifier(max_depth=3),
    "smoothed tree": SmoothedTreeClassifier(max_depth=3, random_state=0),
}
THEIRS = {
    "logistic": LogisticRegression(C=0.1),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "neighbours": KNeighborsClassifier(4),
    "svm": SVC(random_state=0),
    "linear svm": LinearSVC(random_state=0),
    "ridge": RidgeClassifier(),
    "perceptron": Perceptron(random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
    "constant": DummyClassifier(strategy="constant", constant=1),
}
TWO_ONLY = {"threshold", "margin", "hull", "auc tree"}
ALIKE = {"bayes", "forest", "svm", "linear svm", "perceptron", "discriminant"}
"""Models that answer as others here do: with probabilities, with a margin, with labels."""
KINDS = [
    pytest.param(name, marks=pytest.mark.slow(reason="other models")) if name in ALIKE else name
    for name in OURS | THEIRS
]


def partly(function, **options):
    """Return a metric with options of its own, and its name, which older versions of scikit-learn ask for."""
    return update_wrapper(partial(function, **options), function)


def of_table(function):
    """A scorer of tn, fp, fn, tp, counted by scikit-learn; 0/0 is NaN."""

    def value(y, said):
        with np.errstate(divide="ignore", invalid="ignore"):
            return function(*sk.confusion_matrix(y, said, labels=[0, 1]).ravel().astype(float))

    return make_scorer(value)


def rate(function, **options):
    return make_scorer(partly(function, zero_division=np.nan, **options))


def of_scores(response, function):
    return make_scorer(function, response_method=response)


def surprise(y, proba):
    """Log loss without a floor under the probabilities."""
    chance = (proba if proba.ndim == 2 else np.column_stack([1 - proba, proba]))[np.arange(y.size), y]
    with np.errstate(divide="ignore"):
        return -np.log(chance).mean()


def paid(y, said):
    return np.mean([COST[actual][decided] for actual, decided in zip(y, said, strict=True)])


ANY, PROBA = ["decision_function", "predict_proba"], "predict_proba"
OF_TWO = {
    "accuracy": make_scorer(sk.accuracy_score),
    "error": make_scorer(sk.zero_one_loss),
    "tpr": rate(sk.recall_score),
    "tnr": rate(sk.recall_score, pos_label=0),
    "fpr": of_table(lambda tn, fp, fn, tp: fp / (fp + tn)),
    "fnr": of_table(lambda tn, fp, fn, tp: fn / (fn + tp)),
    "precision": rate(sk.precision_score),
    "npv": rate(sk.precision_score, pos_label=0),
    "depth": of_table(lambda tn, fp, fn, tp: (tp + fp) / (tn + fp + fn + tp)),
    "balanced_accuracy": make_scorer(sk.balanced_accuracy_score),
    "macro_average": make_scorer(sk.balanced_accuracy_score),
    "youden": make_scorer(partly(sk.balanced_accuracy_score, adjusted=True)),
    "closest_topleft": of_table(lambda tn, fp, fn, tp: np.hypot(fp / (fp + tn), fn / (fn + tp))),
    "f_score": rate(sk.f1_score),
    "f1": rate(sk.f1_score),
    "f2": rate(sk.fbeta_score, beta=2),
    "jaccard": make_scorer(partly(sk.jaccard_score, zero_division=0)),
    "weighted_accuracy": make_scorer(sk.accuracy_score),
    "kappa": make_scorer(sk.cohen_kappa_score),
    "mcc": of_table(
        lambda tn, fp, fn, tp: (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    ),
    "lift": of_table(lambda tn, fp, fn, tp: tp / (tp + fp) * (tn + fp + fn + tp) / (tp + fn)),
    "lr_positive": of_table(lambda tn, fp, fn, tp: tp / (tp + fn) / (fp / (fp + tn))),
    "lr_negative": of_table(lambda tn, fp, fn, tp: fn / (tp + fn) / (tn / (fp + tn))),
    "odds_ratio": of_table(lambda tn, fp, fn, tp: tp * tn / (fp * fn)),
    "break_even": of_table(lambda tn, fp, fn, tp: (tp / (tp + fp) + tp / (tp + fn)) / 2),
    "markedness": of_table(lambda tn, fp, fn, tp: tp / (tp + fp) + tn / (tn + fn) - 1),
    "auc": of_scores(ANY, sk.roc_auc_score),
    "average_precision": of_scores(ANY, sk.average_precision_score),
    "brier": of_scores(PROBA, sk.brier_score_loss),
    "log_loss": of_scores(PROBA, surprise),
    rs.Context(cost_fp=3, cost_fn=7, cost_tp=-1): of_table(
        lambda tn, fp, fn, tp: (3 * fp + 7 * fn - tp) / (tn + fp + fn + tp)
    ),
    rs.Context(0.2, cost_fn=4): of_table(lambda tn, fp, fn, tp: 0.2 * 4 * fn / (fn + tp) + 0.8 * fp / (fp + tn)),
}
AVERAGED = {
    f"{averaging}_{name}": rate(function, average=averaging)
    for averaging in ("macro", "micro", "weighted")
    for name, function in {"precision": sk.precision_score, "recall": sk.recall_score, "f1": sk.f1_score}.items()
}
JACCARD = {
    f"{averaging}_jaccard": make_scorer(partly(sk.jaccard_score, average=averaging))
    for averaging in ("macro", "micro", "weighted")
}
AREAS = {
    "auc": {"multi_class": "ovo"},
    "hand_till": {"multi_class": "ovo"},
    "au1u": {"multi_class": "ovo"},
    "aunu": {"multi_class": "ovr"},
    "aunp": {"multi_class": "ovr", "average": "weighted"},
    "ovo_weighted": {"multi_class": "ovo", "average": "weighted"},
}
OF_THREE = {
    "accuracy": make_scorer(sk.accuracy_score),
    "error": make_scorer(sk.zero_one_loss),
    "balanced_accuracy": make_scorer(sk.balanced_accuracy_score),
    "kappa": make_scorer(sk.cohen_kappa_score),
    "linear_kappa": make_scorer(partly(sk.cohen_kappa_score, weights="linear")),
    "quadratic_kappa": make_scorer(partly(sk.cohen_kappa_score, weights="quadratic")),
    "mcc": make_scorer(lambda y, said: sk.matthews_corrcoef(y, said) if np.ptp(said) else np.nan),
    **AVERAGED,
    **JACCARD,
    "macro_specificity": make_scorer(
        lambda y, said: np.mean([sk.recall_score(y != cls, said != cls) for cls in range(3)])
    ),
    "macro_depth": make_scorer(lambda y, said: 1 / 3),
    **{name: of_scores(PROBA, partly(sk.roc_auc_score, **options)) for name, options in AREAS.items()},
    "brier": of_scores(PROBA, lambda y, proba: ((proba - np.eye(3)[y]) ** 2).sum(axis=1).mean()),
    "log_loss": of_scores(PROBA, surprise),
    CostMatrix(COST, classes=range(3), rows="actual"): make_scorer(paid),
}
NEED_PROBABILITIES = {"brier", "log_loss", *AREAS} - {"auc"}


def sample(classes, n=150):
    rng = np.random.default_rng(3)
    y = rng.choice(classes, n, p=[0.6, 0.4] if classes == 2 else [0.5, 0.3, 0.2])
    return np.round(rng.normal(size=(n, 3)) + 0.8 * y[:, None], 2), y


@pytest.mark.every(8)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", KINDS)
def test_every_metric_is_that_of_cross_val_score(name, classes):
    """Differences beyond 1e-12 of 30 metrics in each of four folds: none, own decisions included."""
    if classes == 3 and name in TWO_ONLY:
        pytest.skip("of two classes")
    model, (X, y) = (OURS | THEIRS)[name], sample(classes)
    preds = rs.evaluate(model, X, y, cv=FOLDS, random_state=None)
    response, several = preds.source.responses[preds.models[0]], classes == 3
    skipped = NEED_PROBABILITIES if response != PROBA else set()
    if several and response != PROBA:
        skipped = skipped | {"auc"}
    scorers = {metric: one for metric, one in (OF_THREE if several else OF_TWO).items() if metric not in skipped}
    expected = cross_validate(
        model, X, y, cv=FOLDS, scoring={str(m): s for m, s in scorers.items()}, error_score="raise"
    )
    for metric in scorers:
        measure = measure_of(metric, several_classes=several)
        found = [measure.of(part, response) for part in preds.by_fold().values()]
        np.testing.assert_allclose(found, expected[f"test_{metric}"], rtol=1e-12, atol=1e-12, err_msg=str(metric))
    print(f"{name}, {classes} classes: {len(scorers)} metrics equal cross_validate to 1e-12")
    assert len(scorers) >= (22 if skipped else 30)


@pytest.mark.every(2)
@pytest.mark.parametrize("classes", [2, 3])
def test_predictions_carry_what_each_model_predicts(classes):
    X, y = sample(classes)
    named = np.array(["yes", "no", "zero"])[y]
    models = {name: model for name, model in (OURS | THEIRS).items() if classes == 2 or name not in TWO_ONLY}
    models = {name: model for name, model in models.items() if name not in ("constant", "threshold")}
    preds = rs.evaluate(models, X, named, cv=FOLDS, pos_label="no" if classes == 2 else None)
    for name, model in models.items():
        expected = cross_val_predict(model, X, named, cv=FOLDS)
        said = preds.decisions[name]
        if classes == 2:
            assert (said == (expected == "no")).all()
        else:
            assert (np.array(preds.classes)[said] == expected).all()


def bank(n=600):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.2).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def test_a_tuned_threshold_is_judged_at_its_threshold():
    """A miss costs 200: the classifier that knows it finds every positive, and is said to."""
    X, y = bank()
    models = {"tuned": ThresholdClassifier(GaussianNB(), context=rs.Context(cost_fn=200), cv=5), "plain": GaussianNB()}
    preds = rs.evaluate(models, X, y, cv=5)
    assert (preds.scores["tuned"] == preds.scores["plain"]).all()
    found = rs.evaluation.compare_folds(preds, metric="tpr").estimates
    expected = {name: np.mean([part.point(name).tpr for part in preds.by_fold().values()]) for name in models}
    assert {name: each.value for name, each in found.items()} == pytest.approx(expected)
    assert found["tuned"].value > 0.98 > found["plain"].value
    cost = rs.evaluation.compare_folds(preds, metric=rs.Context(cost_fn=200)).estimates
    assert cost["tuned"].value < 0.5 * cost["plain"].value
    boot = rs.evaluation.bootstrap_632(models, X, y, metric="tpr", replicates=10)
    assert boot["tuned"].point632plus > 0.97 > boot["plain"].point632plus
    curve = rs.evaluation.learning_curve(models, X, y, metric=rs.Context(cost_fn=200), steps=2, repeats=3)
    assert curve.mean("tuned")[-1] < 0.6 * curve.mean("plain")[-1]


def test_mcnemar_compares_decisions_unless_a_threshold_is_asked_for():
    X, y = bank()
    tuned = ThresholdClassifier(GaussianNB(), context=rs.Context(cost_fn=200), cv=5)
    preds = rs.evaluate({"tuned": tuned, "plain": GaussianNB()}, X, y, cv=5)
    own = rs.inference.mcnemar(preds, among="positives")
    right = {name: preds.decisions[name] & preds.y_true for name in preds.models}
    assert own.statistic == (right["plain"] & ~right["tuned"]).sum() == 0
    assert own.difference.value < -0.1
    assert rs.inference.mcnemar(preds, 0.5).difference.value == 0


class Vague(GaussianNB):
    """Predicts no labels, but grades."""

    def predict(self, X):
        return self.predict_proba(X)[:, 1] * 5


def test_what_gives_no_labels_is_cut():
    X, y = bank()
    preds = rs.evaluate({"vague": Vague(), "plain": GaussianNB()}, X, y, cv=5)
    assert list(preds.decisions) == ["plain"]
    found = rs.evaluation.compare_folds(preds, metric="accuracy").estimates
    assert found["vague"].value == found["plain"].value
    with pytest.raises(
        ColumnError, match="decisions of 'vague': expected predicted labels, got only scores; pass thresh"
    ):
        preds.point("vague")
    assert preds.point("vague", threshold=0.5).accuracy == preds.point("plain").accuracy
    with pytest.raises(
        ColumnError, match="got no threshold for \\['vague'\\]; pass a threshold for each model without decisions"
    ):
        rs.inference.mcnemar(preds)


@pytest.mark.parametrize(
    ("metric", "classes", "message"),
    [
        (rs.Context(), 3, "metric: expected a CostMatrix .several classes., got a Context"),
        (
            CostMatrix(COST, classes=range(3), rows="actual"),
            2,
            "metric: expected a Context .two classes., got a CostMatrix; use Context.fr",
        ),
        ("tpr", 3, "metric: expected one of 'auc'.*got 'tpr'"),
        ("macro_tprr", 3, "got 'macro_tprr'"),
    ],
)
def test_metrics_of_the_other_number_of_classes_are_refused(metric, classes, message):
    with pytest.raises(InputError, match=message):
        rs.evaluation.bootstrap_632(GaussianNB(), *sample(classes), metric=metric, replicates=1)


def test_decisions_are_columns_of_predictions():
    preds = rs.Predictions(
        ["y", "n", "y", "n"], {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]}, decisions={"b": ["y", "y", "n", "n"]},
        pos_label="y", sample_weight=[1, 2, 3, 4],
    )  # fmt: skip
    assert preds.point("b") == rs.OperatingPoint(tp=1, fp=2, fn=3, tn=4)
    part = preds.select([True, False, True, True])
    assert part.point("b").tp == 1 and part.decisions["b"].tolist() == [True, False, False]
    assert not preds.select(models=["a"]).decisions
    assert "decide themselves" in preds._repr_html_()
    for decisions, message in (
        (["y", "n", "y", "n"], "decisions: expected a mapping from model name to labels"),
        ({"c": ["y"] * 4}, "got 'c'"),
        ({"a": ["y"] * 3}, r"decisions\['a'\]: expected one entry per label \(4 labels\), got 3"),
        (
            {"a": ["y", "n", "maybe", "n"]},
            r"decisions\['a'\]: .* labels of two classes, got the labels 'maybe', 'n', 'y' \('maybe' first",
        ),
    ):
        with pytest.raises(RocscopeError, match=message):
            rs.Predictions(["y", "n", "y", "n"], preds.scores, decisions=decisions, pos_label="y")


def test_costs_and_the_summary_are_of_decisions_unless_the_cheapest_threshold_is_asked_for():
    X, y = bank()
    context = rs.Context(cost_fn=200)
    tuned = ThresholdClassifier(GaussianNB(), context=context, cv=5)
    preds = rs.evaluate({"tuned": tuned, "plain": GaussianNB()}, X, y, cv=5)
    own = {name: context.cost(preds.point(name)) / 600 for name in preds.models}
    compared = rs.inference.compare_costs(preds, context)
    summary = rs.summary(preds, context)
    for name, cost in own.items():
        assert compared.estimates[name].value == pytest.approx(cost)
        assert summary[name]["expected_cost"].value == pytest.approx(cost)
        for rate in ("tpr", "tnr", "precision", "npv", "accuracy"):
            assert summary[name][rate].value == pytest.approx(getattr(preds.point(name), rate))
            assert summary[name][rate].value in summary[name][rate]
    assert "computed from the models' own decisions" in summary.methods
    bare = rs.Predictions(preds.y_true, preds.scores)
    for found in (rs.summary(preds, context, threshold="cheapest"), rs.summary(bare, context)):
        assert found["tuned"]["expected_cost"].value == pytest.approx(rs.choose(bare, context).expected_cost)
        assert "themselves" not in found.methods
    with pytest.warns(RocscopeWarning, match="have the same cost on every row"):  # the scores are the same
        cheapest = rs.inference.compare_costs(preds, context, thresholds="cheapest")
    assert cheapest["tuned", "plain"].difference.value == 0
    with pytest.warns(RocscopeWarning, match="have the same cost on every row"):
        expected = rs.inference.compare_costs(bare, context)
    assert cheapest.estimates["tuned"] == expected.estimates["tuned"]
    with pytest.raises(InputError, match="threshold: expected"):
        rs.summary(preds, threshold="best")
