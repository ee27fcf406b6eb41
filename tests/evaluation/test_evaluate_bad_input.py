"""What evaluate refuses, what it reports and goes on without, and what repeated rows are refused for."""

import json

import numpy as np
import pytest
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope import protocols
from rocscope.errors import InputError, LabelError, ModelError, RocscopeWarning, ShapeError

X = np.arange(24.0).reshape(12, 2)
Y = np.tile([0, 1], 6)
NB = GaussianNB()
GROUPS = np.repeat(range(6), 2)


def evaluate(models=NB, x=X, y=Y, **options):
    return rs.evaluate(models, x, y, **{"cv": 3} | options)


class Broken(GaussianNB):
    """Fails wherever row 0 is in training."""

    def fit(self, X, y, sample_weight=None):
        if (X[:, 0] == 0).any():
            raise ZeroDivisionError("no\nway")
        return super().fit(X, y)


refused = {
    "rare class": (
        lambda: evaluate(y=["a"] * 9 + ["b"] * 3, cv=5, pos_label="b"),
        InputError,
        "rows of each class for 5 folds, got fewer rows of the classes 'b' (3 rows); use cv=3, merge or omit",
    ),
    "all rare": (
        lambda: evaluate(cv=protocols.Folds(7, rare_classes="spread")),
        InputError,
        "use cv=6, merge",
    ),
    "single row": (lambda: evaluate(y=[0] * 11 + [1], cv="holdout"), InputError, "Holdout(stratified=False)"),
    "one class": (lambda: evaluate(y=[1] * 12), LabelError, "expected two or more classes, got only one class, 1"),
    "which positive": (lambda: evaluate(y=["a", "b"] * 6), LabelError, "name the positive class, such as pos_label="),
    "positive of three": (lambda: evaluate(y=[0, 1, 2] * 4, pos_label=2), LabelError, "predictions.binary(cls)"),
    "missing label": (lambda: evaluate(y=[0, 1, None] * 4), LabelError, "4 missing values, the first in row 2"),
    "rows": (lambda: evaluate(x=X[:11]), ShapeError, "X: expected 12 rows as in y, got 11 rows"),
    "ragged": (lambda: evaluate(x=[[1], [1, 2]] * 6), ShapeError, "rows of different lengths"),
    "one fold": (lambda: evaluate(cv=1), InputError, "cv: expected a whole number of at least 2, got 1"),
    "cv name": (lambda: evaluate(cv="hold-out"), InputError, "(did you mean 'holdout'?), got 'hold-out'"),
    "cv of no kind": (lambda: evaluate(cv=3.5), InputError, "a splitter of scikit-learn, or pairs of row numbers, got"),
    "repeats": (lambda: evaluate(repeats=0), InputError, "repeats: expected a whole number of at least 1, got 0"),
    "same repeats": (lambda: evaluate(cv="leave_one_out", repeats=2), InputError, "expected 1 for leave one out, got"),
    "same splitter": (lambda: evaluate(cv=KFold(3), repeats=2), InputError, "all repeats would be equal"),
    "splitter's own": (lambda: evaluate(cv=StratifiedKFold(13)), InputError, "cv: StratifiedKFold: "),
    "empty test": (
        lambda: evaluate(cv=[(range(12), [])]),
        InputError,
        "cv: fold 0: expected one or more test rows, got 0",
    ),
    "empty training": (lambda: evaluate(cv=[([], range(12))]), InputError, "expected one or more training rows, got 0"),
    "overlap": (
        lambda: evaluate(cv=[(range(7), range(6, 12))]),
        InputError,
        "got 1 rows in both, the first is row 6",
    ),
    "twice": (
        lambda: evaluate(cv=[(range(6), [7, 7])]),
        InputError,
        "expected distinct test rows, got row 7 more than once",
    ),
    "beyond": (
        lambda: evaluate(cv=[(range(6), [12])]),
        InputError,
        "row numbers from 0 to 11, got numbers from 12 to 12",
    ),
    "no pair": (lambda: evaluate(cv=[3]), InputError, "expected pairs of training and test rows, got int"),
    "fractions": (lambda: evaluate(cv=[(range(6), [7.5])]), InputError, "expected row numbers, got float64"),
    "no split": (lambda: evaluate(cv=[]), InputError, "expected one or more splits, got 0 splits"),
    "training of one class": (
        lambda: evaluate(cv=[([0, 2, 4], [1, 3])]),
        InputError,
        "cv: fold 0: expected training rows of two or more classes, got training rows of the class 0 only",
    ),
    "straddling": (
        lambda: evaluate(cv=[(range(0, 12, 2), range(1, 12, 2))], y=[0, 0, 1, 1] * 3, groups=GROUPS),
        InputError,
        "groups without overlap, got 6 groups in both, the first is the group of row 0",
    ),
    "splitter ignores groups": (
        lambda: evaluate(cv=KFold(3, shuffle=True, random_state=0), groups=GROUPS),
        InputError,
        "a splitter for groups such as GroupKFold",
    ),
    "groups in time": (
        lambda: evaluate(cv="time_order", groups=GROUPS),
        InputError,
        "None for splits in order of time",
    ),
    "parts of all": (lambda: protocols.ThreeParts(0.5, 0.5), InputError, "expected less than 1, got 1"),
    "segment": (
        lambda: evaluate(cv="three_parts", segment=Y),
        InputError,
        "None with cv='three_parts', got an array",
    ),
    "no model": (lambda: evaluate([]), InputError, "models: expected one or more models, got 0 models"),
    "a class": (
        lambda: evaluate({"nb": GaussianNB}),
        InputError,
        "class GaussianNB; pass an instance: GaussianNB()",
    ),
    "a function": (lambda: evaluate({"f": len}), InputError, "expected an estimator with a method fit"),
    "equal names": (lambda: evaluate({1: NB, "1": NB}), InputError, "names differ as text"),
    "seed": (lambda: evaluate(random_state=-1), InputError, "random_state: expected a whole number from 0 to"),
    "response": (lambda: evaluate(response="proba"), InputError, "response: expected one of 'auto', 'predict_proba'"),
    "neither": (
        lambda: evaluate({"lin": LinearRegression()}),
        ModelError,
        "model 'lin', fold 0, repeat 0: ModelError: model 'lin': expected a model with predict_proba or "
        "decision_function, got a model without these methods; pass response='predict' to use the predicted labels "
        "(and 2 more failures)",
    ),
    "asked for": (
        lambda: evaluate(response="decision_function"),
        ModelError,
        "expected a model with decision_function, got a",
    ),
    "not fitted": (
        lambda: rs.evaluation.from_estimator({"nb": NB}, X, Y),
        ModelError,
        "model 'nb': NotFittedError: This Gauss",
    ),
}


@pytest.mark.parametrize("case", refused)
def test_refusals(case):
    call, kind, message = refused[case]
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_of_a_failed_fold_are_left_out_on_request():
    """Row 0 is in training in two of three folds, so that the third is what can be compared."""
    options = {"error_score": np.nan, "scoring": "accuracy", "return_train_score": True, "return_estimator": True}
    with pytest.warns(RocscopeWarning) as caught:
        preds = evaluate({"broken": Broken(), "nb": NB}, **options)
    said = [str(warning.message) for warning in caught]
    expected = "is kept without the rows of failed folds; 2 fits failed, the first: model 'broken'"
    assert any(expected in text for text in said)
    whole = evaluate(NB, scoring="accuracy", return_train_score=True)
    (fold,) = set(preds.fold.tolist())
    assert preds.models == ["broken", "nb"]
    assert sorted(preds.row.tolist()) == sorted(whole.row[whole.fold == fold].tolist())
    results, all_folds = preds.source.cv_results(), whole.source.cv_results()
    for part in ("test", "train"):
        values = np.array([results[f"split{k}_{part}_accuracy"] for k in range(3)])
        assert np.isnan(values[:, 0]).sum() == 2
        assert values[fold, 0] == values[fold, 1]
        assert values[:, 1].tolist() == [all_folds[f"split{k}_{part}_accuracy"][0] for k in range(3)]
    assert {name: len(fits) for name, fits in preds.source.estimators.items()} == {"broken": 1, "nb": 1}
    with pytest.raises(ZeroDivisionError):
        evaluate({"broken": Broken(), "nb": NB}, error_score="raise")
    with pytest.raises(InputError, match="error_score: expected None, 'raise' or nan, got 0"):
        evaluate(error_score=0)
    with pytest.raises(InputError, match="scoring: expected a metric if return_train_score=True, got None"):
        evaluate(return_train_score=True)


def test_missing_values_are_the_model_s_own_error_with_its_place():
    holes = X.copy()
    holes[3, 0] = np.nan
    with pytest.raises(ModelError, match="model 'lr', fold 0, repeat 0: ValueError: Input X contains NaN") as caught:
        evaluate({"lr": LogisticRegression()}, holes)
    assert type(caught.value.__cause__) is ValueError
    with pytest.warns(
        RocscopeWarning,
        match="model 'lr' is omitted; 6 fits failed, the first: model 'lr', fold 0, repeat 0: ValueError",
    ):
        preds = evaluate({"lr": LogisticRegression(), "tree": DecisionTreeClassifier()}, holes, repeats=2)
    assert preds.models == ["tree"]
    assert {failure.model for failure in preds.source.failures} == {"lr"}
    assert [(failure.fold, failure.repeat) for failure in preds.source.failures] == [(f, f // 3) for f in range(6)]


def test_a_model_that_fails_in_some_folds_does_not_lose_the_others():
    with pytest.warns(RocscopeWarning, match="2 fits failed, the first: model 'broken'.* ZeroDivisionError: no; see"):
        preds = evaluate({"broken": Broken(), "nb": NB})
    assert preds.models == ["nb"]
    assert len(preds) == 12
    content = json.loads(json.dumps(preds.to_dict(), allow_nan=False))
    assert content["source"]["failures"][0]["error"] == "ZeroDivisionError: no"
    assert repr(preds.source).endswith("folds=3, failed=['broken'])")


def test_parts_of_a_model_must_say_whether_they_ask_for_weights():
    with config_context(enable_metadata_routing=True), pytest.raises(ModelError, match=r"model 'nb': .*sample_weight"):
        evaluate({"nb": NB}, sample_weight=np.ones(12))


def test_rare_classes_are_spread_on_request():
    y = [0] * 9 + [1] * 3
    preds = evaluate(y=y, cv=protocols.Folds(5, rare_classes="spread"))
    assert len(preds) == 12
    assert sorted(part.n_pos for part in preds.by_fold().values()) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("cv", "repeats", "expected"),
    [
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1), 1, [0, 0, 0, 1, 1, 1]),
        (ShuffleSplit(4, random_state=1), 1, [0, 1, 2, 3]),
        (KFold(3, shuffle=True), 2, [0, 0, 0, 1, 1, 1]),
        ("holdout", 3, [0, 1, 2]),
    ],
)
def test_repeats_of_splitters_are_recognised(cv, repeats, expected):
    preds = evaluate(DummyClassifier(), cv=cv, repeats=repeats)
    assert [int(part.repeat[0]) for part in preds.by_fold().values()] == expected
    again = evaluate(DummyClassifier(), cv=cv, repeats=repeats)
    assert (again.row == preds.row).all()


def test_a_splitter_of_the_user_is_not_changed():
    cv = KFold(3, shuffle=True)
    evaluate(cv=cv, repeats=2)
    assert cv.random_state is None
