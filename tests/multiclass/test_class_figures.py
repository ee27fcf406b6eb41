"""Figures of several classes by name: their values are scikit-learn's, and their intervals those of drawn rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.preprocessing import label_binarize

import rocscope as rs
from rocscope.errors import InputError, OneClassError
from rocscope.multiclass import figures

MC = rs.multiclass
NAMES = np.array(["a", "b", "c", "d"])


def sample(n, seed=0, **columns):
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    logit = rng.normal(size=(n, 4)).round(4)
    logit[np.arange(n), y] += 1.2
    return MC.MulticlassPredictions(NAMES[y], np.exp(logit), classes=NAMES, normalize=True, **columns)


def peers(y, proba):
    """Return scikit-learn's values; the ranked probability score by its definition."""
    codes, said = np.searchsorted(NAMES, y), proba.argmax(axis=1)
    hot = label_binarize(codes, classes=range(4))
    values = {
        "accuracy": sk.accuracy_score(codes, said),
        "quadratic_kappa": sk.cohen_kappa_score(codes, said, weights="quadratic"),
        "mcc": sk.matthews_corrcoef(codes, said),
        "micro": sk.roc_auc_score(hot, proba, average="micro"),
        "aunu": sk.roc_auc_score(codes, proba, multi_class="ovr"),
        "log_loss": sk.log_loss(codes, proba),
        "brier": ((proba - hot) ** 2).sum(axis=1).mean(),
        "rps": ((proba.cumsum(axis=1) - hot.cumsum(axis=1)) ** 2).sum(axis=1).mean() / 3,
        "average_precision": sk.average_precision_score(hot, proba, average="macro"),
    }
    for k in (1, 2, 3):
        values[f"top_{k}_accuracy"] = sk.top_k_accuracy_score(codes, proba, k=k)
    for averaging in ("macro", "micro", "weighted"):
        values[f"{averaging}_average_precision"] = sk.average_precision_score(hot, proba, average=averaging)
        for name in ("precision", "recall", "f1", "jaccard"):
            values[f"{averaging}_{name}"] = getattr(sk, f"{name}_score")(codes, said, average=averaging)
    return values


@pytest.mark.parametrize("seed", [0, 1])
def test_figures_are_those_of_scikit_learn(seed):
    preds = sample(150, seed)
    expected = peers(NAMES[preds.y_true], preds.probabilities())
    for name, value in expected.items():
        estimate = MC.multiclass_figure(preds, measure=name)
        assert estimate.value == pytest.approx(value, abs=1e-12), name
        assert figures.class_figure(name).value(preds) == pytest.approx(value, abs=1e-12), name
        assert estimate.low <= value <= estimate.high, name
    swapped = {
        "f1_macro": "macro_f1",
        "recall_weighted": "weighted_recall",
        "roc_auc_ovr": "aunu",
        "Top-2": "top_2_accuracy",
    }
    for name, plain in swapped.items():
        assert MC.multiclass_figure(preds, measure=name).value == pytest.approx(expected[plain])


@pytest.mark.parametrize("name", ["micro", "macro_average_precision", "weighted_average_precision", "top_2_accuracy"])
def test_standard_errors_are_those_of_leaving_rows_out(name):
    rng, n = np.random.default_rng(1), 150
    y = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    logit = rng.normal(size=(n, 4))
    # Classes that are ranked well and badly, so that their shares move the weighted mean too.
    logit[np.arange(n), y] += np.array([4.0, 3.0, 0.0, 0.0])[y]
    preds = MC.MulticlassPredictions(NAMES[y], np.exp(logit), classes=NAMES, normalize=True)
    figure = figures.class_figure(name)
    without = np.array([figure.value(preds.select(np.arange(n) != row)) for row in range(n)])
    expected = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    # Influences are of first order: 15 rows of the rarest class leave 10%. Without the shares of classes 16% lack.
    assert MC.multiclass_figure(preds, measure=name).standard_error == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize(
    "name",
    [
        "micro",
        "macro_average_precision",
        "weighted_average_precision",
        "micro_average_precision",
        "top_2_accuracy",
        "weighted_f1",
    ],
)
def test_copies_of_rows_in_groups_add_nothing(name):
    preds = sample(60)
    twice = np.tile(np.arange(60), 2)
    copied = MC.MulticlassPredictions(
        NAMES[preds.y_true[twice]], preds.probabilities()[twice], classes=NAMES, groups=twice
    )
    single = MC.MulticlassPredictions(NAMES[preds.y_true], preds.probabilities(), classes=NAMES, groups=np.arange(60))
    one, two = MC.multiclass_figure(single, measure=name), MC.multiclass_figure(copied, measure=name)
    assert two.value == pytest.approx(one.value)
    # Groups of one row are rows, whose share has a binomial interval; groups have half a row more in each class.
    assert 0.97 * one.standard_error <= two.standard_error <= 1.12 * one.standard_error


def test_conditions_are_judged_by_value_or_interval():
    preds = sample(300)
    value = MC.multiclass_figure(preds, measure="macro_f1")
    inside = (value.low + value.value) / 2
    text = f"macro_f1 >= {inside}, macro_f1 >= {inside} at 95% and brier < {value.value + 9}"
    judged = MC.multiclass_conditions(preds, text)
    assert [gate.holds for gate in judged] == [True, False, True]
    assert judged[1].estimate.low == pytest.approx(value.low)
    two = MC.MulticlassPredictions(["a", "b"] * 9, decisions={"x": ["a", "b"] * 9, "y": ["a", "a"] * 9})
    assert [gate.holds for gate in MC.multiclass_conditions(two, "accuracy(x) > .9, accuracy(y) > .9")] == [True, False]
    with pytest.raises(InputError, match="a metric of one model"):
        MC.multiclass_conditions(two, "accuracy(x) - accuracy(y) > 0")


def test_unknown_figures_are_named():
    with pytest.raises(InputError, match=r"measure: expected one of 'macro_f1'.*got 'macro_ff1'"):
        MC.multiclass_figure(sample(20), measure="macro_ff1")
    with pytest.raises(InputError, match="a whole number from 1 to 4"):
        MC.multiclass_figure(sample(20), measure="top_9_accuracy")
    one = MC.MulticlassPredictions(["a", "a"], [[0.7, 0.3], [0.6, 0.4]], classes=["a", "b"])
    with pytest.raises(OneClassError, match="cases of two or more classes"):
        MC.multiclass_figure(one, measure="macro_average_precision")


def test_micro_average_auc_compares_models():
    preds = sample(120)
    both = preds.with_probabilities({"x": preds.probabilities(), "y": preds.probabilities()[:, [1, 0, 2, 3]]})
    difference = MC.compare_multiclass_auc(both, "micro")["x", "y"].difference
    hot = label_binarize(preds.y_true, classes=range(4))
    first, second = (sk.roc_auc_score(hot, both.probabilities(name), average="micro") for name in "xy")
    assert difference.value == pytest.approx(second - first)
    assert MC.multiclass_auc(both, model="y").average("micro").value == pytest.approx(second)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_frame_is_scikit_learns_report(weighted):
    preds = sample(200)
    weight = np.arange(200) % 3 + 0.5 if weighted else None
    y, said = NAMES[preds.y_true], NAMES[preds.predicted()]
    said[said == "d"] = "a"  # a class that is never predicted has no precision
    frame = MC.ConfusionMatrix.from_labels(y, said, sample_weight=weight).to_frame()
    expected = sk.classification_report(y, said, sample_weight=weight, output_dict=True, zero_division=np.nan)
    for _, row in frame.iterrows():
        report = expected[row["class"]]
        if row["class"] == "accuracy":
            assert row["f1-score"] == pytest.approx(report)
            continue
        for name, value in report.items():
            assert row[name] == pytest.approx(value, nan_ok=True), (row["class"], name)
    assert list(frame["class"]) == list(expected)
    polars = MC.ConfusionMatrix.from_labels(y, said, sample_weight=weight).to_frame("polars")
    assert polars.columns == list(frame.columns)
    assert isinstance(frame, pd.DataFrame)
