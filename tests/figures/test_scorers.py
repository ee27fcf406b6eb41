"""Scorers of scikit-learn, by name and as objects: what cross_validate says of them, or one refusal."""

import warnings

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope.errors import InputError
from rocscope.evaluation.comparison import fold_scores
from rocscope.evaluation.measures import measure_of

FOLDS = StratifiedKFold(3)
MODELS = {
    "logistic": LogisticRegression(),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=2, min_samples_leaf=40, random_state=0),
}
NAMES = sorted(sk.get_scorer_names())
OBJECTS = {
    "f3": (sk.make_scorer(sk.fbeta_score, beta=3, average="macro"), (2, 3)),
    "loss": (sk.make_scorer(sk.zero_one_loss, greater_is_better=False), (2, 3)),
    "tnr": (sk.make_scorer(sk.recall_score, pos_label=0), (2,)),
    "area": (
        sk.make_scorer(sk.roc_auc_score, response_method=("decision_function", "predict_proba"), max_fpr=0.5),
        (2,),
    ),
    "surprise": (sk.make_scorer(sk.log_loss, response_method="predict_proba", greater_is_better=False), (2, 3)),
    "kappa": (sk.make_scorer(sk.cohen_kappa_score, weights="quadratic"), (2, 3)),
}
# Those that have a name here, and those that scikit-learn alone has, for regression and clusters too; refused are
# averages over labels of a row, and figures of two classes for three.
FEWEST = {2: 13, 3: 21}


def sample(classes):
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 300)
    return rng.normal(size=(300, 3)) + np.eye(3)[y], y


def judged(classes):
    X, y = sample(classes)
    preds = rs.evaluate(MODELS, X, y, cv=FOLDS)
    return X, y, preds


def expected(scorer, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: cross_val_score(model, X, y, cv=FOLDS, scoring=scorer) for name, model in MODELS.items()}


@pytest.mark.every(2)
@pytest.mark.parametrize("classes", [2, 3])
def test_names(classes):
    X, y, preds = judged(classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scorers = {name: sk.get_scorer(name) for name in NAMES}
        # scikit-learn ranks several classes by the decision function if a model has one, rocscope by probabilities.
        scorers["average_precision"] = sk.make_scorer(sk.average_precision_score, response_method="predict_proba")
        fitted = {model: cross_validate(each, X, y, cv=FOLDS, scoring=scorers) for model, each in MODELS.items()}
    equal = []
    for name in NAMES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of scikit-learn: k of two classes says nothing
                found = fold_scores(preds, name)
        except InputError as error:
            assert str(error).startswith("metric"), name
            continue
        theirs = {model: values[f"test_{name}"] for model, values in fitted.items()}
        if np.isnan([*theirs.values()]).all():  # scikit-learn wants an average named: roc_auc, f1, precision
            continue
        for model, values in zip(found.models, found.values, strict=True):
            sign = -1 if name.startswith("neg_") else 1
            np.testing.assert_allclose(values, sign * theirs[model], rtol=1e-9, atol=1e-9, err_msg=name)
        equal.append(name)
    print(f"{classes} classes: {len(equal)} names equal cross_validate: {', '.join(equal)}")
    assert len(equal) >= FEWEST[classes]


@pytest.mark.every(4)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name, classes):
    scorer, known = OBJECTS[name]
    if classes not in known:
        pytest.skip("of two classes")
    X, y, preds = judged(classes)
    found, theirs = fold_scores(preds, scorer), expected(scorer, X, y)
    for model, values in zip(found.models, found.values, strict=True):
        np.testing.assert_allclose(found.sign * values, theirs[model], rtol=1e-12, atol=1e-12)


def test_a_scorer_that_is_fetched_is_one_that_is_named():
    _, _, preds = judged(2)
    for name in ("roc_auc", "neg_brier_score", "balanced_accuracy", "f1"):
        by_name, fetched = fold_scores(preds, name), fold_scores(preds, sk.get_scorer(name))
        assert by_name.sign == fetched.sign
        np.testing.assert_allclose(by_name.values, fetched.values, rtol=1e-12)


def test_a_positive_label_that_rows_do_not_hold_is_refused():
    with pytest.raises(InputError, match=r"^pos_label of the scorer: expected 0 or 1, got 'yes'; use 1 for"):
        measure_of(sk.make_scorer(sk.f1_score, pos_label="yes"), several_classes=False)
