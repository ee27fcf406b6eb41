"""Names of other libraries: `rocscope.<name>` says what to call, and that call works."""

import importlib
import inspect
import re

import matplotlib.pyplot
import numpy as np
import pandas
import pytest
from scipy.stats import chi2_contingency
from sklearn import metrics as sk

import rocscope as rs
import rocscope.compat.sklearn
from rocscope._base.answers import filled, tables

TABLES = [tables()[table] for table in ("concepts", "of_multiclass", "of_outcomes")]
CONCEPTS = {call for table in TABLES for call in table.values()}
NAMES = [name for calls in tables()["names"].values() for name in calls]
TYPED = {filled(call) for calls in tables()["typed"].values() for call in calls.values() if call}
CALLS = sorted({call for calls in tables()["names"].values() for call in calls.values()} | CONCEPTS | TYPED)
REST = re.compile(r"; |, (?:or|which|whose|where|the|with|and|because|from) | (?:with|or|to|at a) | for (?!name, )")
"""What follows the call in an answer."""


@pytest.fixture(scope="module")
def here():
    """What the calls of the table speak of: labels, scores, probabilities, rows, a model."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    p = 1 / (1 + np.exp(-X))
    predictions = rs.Predictions(y, {"a": p[:, 0], "b": p[:, 1]})
    model = LogisticRegression()
    return {
        "rs": rs, "rocscope": rs, "np": np, "pandas": pandas, "matplotlib": matplotlib,
        "y": y, "s": X[:, 0], "p": p.mean(axis=1), "X": X, "beta": 2,
        "threshold": 0.5, "thresholds": [0.1, 0.5], "w": np.ones(120),
        "predictions": predictions, "context": rs.Context(cost_fn=5), "model": model.fit(X, y), "name": "a",
        "campaign": rs.Campaign(population=1000, unit_cost=1, unit_benefit=5), "counts": predictions.counts("a"),
        "matrix": rs.multiclass.ConfusionMatrix.from_labels(y, X[:, 0] > 0), "source": predictions,
        "result": rs.evaluation.learning_curve(model, X, y, steps=2), "probabilities": model.predict_proba(X),
        "others": np.column_stack([1 - p[:, 1], p[:, 1]]),
        "time": rng.exponential(size=120), "event": rng.random(120) < 0.7, "horizon": 0.8,
        "horizons": [0.5, 0.8], "reference": predictions.counts("a"),
        "current": predictions.counts("b"), "treated": rng.random(120) < 0.5, "predicted": X[:, 0] > 0,
        "groups": np.arange(120) % 6, "df": {"y": y}, "results": {"a": [0.8, 0.9], "b": [0.7, 0.6], "c": [0.5, 0.8]},
    }  # fmt: skip


def test_every_name_is_answered():
    for name in NAMES:
        with pytest.raises(AttributeError, match=rf"^rocscope has no '{name}'; (use|it is|for) "):
            getattr(rs, name)


@pytest.mark.every(12)
@pytest.mark.parametrize("ours", CALLS)
def test_every_answer_is_a_call_that_works(ours, here, tmp_path, monkeypatch):
    """Calls are run as they stand; of those with arguments left open (...) only the name is looked up."""
    call = REST.split(ours)[0]
    if ours.startswith("for "):
        call = ours[ours.index("rs.") :].split(", because")[0].split(" accepts ")[0].split(" do not ")[0]
    if "..." in call:
        call = call.partition("(")[0]
    monkeypatch.chdir(tmp_path)
    assert eval(call, here) is not None or call.startswith("print(") or ".savefig(" in call


def of_table(function):
    """Return a function of the counts tp, fp, fn and tn at the threshold 0.5."""
    return lambda y, p: function(*map(float, sk.confusion_matrix(y, p >= 0.5).ravel()[[3, 1, 2, 0]]))


def of_groups(figure, summary):
    """Return a function of labels and probabilities: a summary of the figures of decisions in the six groups."""
    return lambda y, p: summary([figure(y[start::6], p[start::6] >= 0.5) for start in range(6)])


MEANT = {
    "top_k_accuracy_score": lambda y, p: sk.top_k_accuracy_score(y, p, k=1),
    "d2_log_loss_score": sk.d2_log_loss_score, "mean_absolute_error": sk.mean_absolute_error,
    "precision_at_k": lambda y, p: y[np.argsort(-p)[:12]].mean(),
    "recall_at_k": lambda y, p: y[np.argsort(-p)[:12]].sum() / y.sum(),
    "break_even_point": lambda y, p: y[np.argsort(-p)[: y.sum()]].mean(),
    "chisq": of_table(lambda tp, fp, fn, tn: chi2_contingency([[tp, fp], [fn, tn]], correction=False).statistic),
    "risk_ratio": of_table(lambda tp, fp, fn, tn: tp / (tp + fp) / (fn / (fn + tn))),
    "mean_per_class_error": lambda y, p: 1 - sk.balanced_accuracy_score(y, p >= 0.5),
    "max_per_class_error": lambda y, p: max(1 - sk.recall_score(y, p >= 0.5, average=None)),
    "sar": lambda y, p: np.mean(
        [sk.accuracy_score(y, p >= 0.5), sk.roc_auc_score(y, p), 1 - sk.root_mean_squared_error(y, p)]
    ),
    "classification_cost": lambda y, p: np.where(y, 5 * (1 - p), p).mean(),
    "quadratic_weighted_kappa": lambda y, p: sk.cohen_kappa_score(y, p >= 0.5, weights="quadratic"),
    "demographic_parity_difference": of_groups(lambda y, d: d.mean(), np.ptp),
    "demographic_parity_ratio": of_groups(lambda y, d: d.mean(), lambda shares: min(shares) / max(shares)),
    "equal_opportunity_difference": of_groups(sk.recall_score, np.ptp),
    "equal_opportunity_ratio": of_groups(sk.recall_score, lambda shares: min(shares) / max(shares)),
    "equalized_odds_difference": lambda y, p: max(
        of_groups(rate, np.ptp)(y, p) for rate in (sk.recall_score, lambda y, d: d[y == 0].mean())
    ),
    "equalized_odds_ratio": lambda y, p: min(
        of_groups(rate, lambda shares: min(shares) / max(shares))(y, p)
        for rate in (sk.recall_score, lambda y, d: d[y == 0].mean())
    ),
    "f1_macro": lambda y, p: sk.f1_score(y, p >= 0.5, average="macro"),
}  # fmt: skip


@pytest.mark.parametrize("name", MEANT)
def test_an_answer_computes_what_the_name_means(name, here):
    (answer,) = [calls[name] for calls in tables()["names"].values() if name in calls]
    named = here | {"s": here["p"], "predicted": here["p"] >= 0.5}
    assert float(eval(REST.split(answer)[0], named)) == pytest.approx(MEANT[name](here["y"], here["p"]))


SPELLED = {
    "ROC_AUC_Score": "rs.auc(y, s)", "rocAucScore": "rs.auc(y, s)", "compute_auc": "rs.auc(y, s)",
    "get_ks_statistic": "rs.roc(y, s).ks", "roc_curve_plot": "rs.roc(y, s).plot()", "plot_gini": "rs.roc(y, s).gini",
    "draw_lift": "rs.lift(y, s).plot()", "net_interventions_avoided": "rs.net_benefit(y, p).interventions_avoided",
    "calc_psi": "rs.drift(rs.Predictions(y, s), current).psi",
    "ROC": "rs.roc", "CalibrationCurve": "rs.calibration_curve",
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLED)
def test_spellings_of_a_name_have_one_answer(name):
    with pytest.raises(AttributeError, match=rf"; use {re.escape(SPELLED[name])}"):
        getattr(rs, name)


NAMED_BY_CONCEPT = {
    "threshold_tuner": "rs.choose(y, s, rs.Context(cost_fp=1, cost_fn=5))",
    "findBestCutpoint": "rs.choose(y, s, rs.Context(cost_fp=1, cost_fn=5))",
    "youden_optimal_cutoff": "rs.choose(y, s, criterion='youden')", "KolmogorovSmirnovStat": "rs.roc(y, s).ks",
    "cumulative_captured_events_chart": "rs.gain(y, s).plot()", "brier_skill_of_model": "rs.summary(y, p)[0]",
    "reliability_of_risks": "rs.calibration_curve(y, p)", "spiegelhalter_p_value": "rs.calibration.spiegelhalter_test",
    "MulticlassF1Score": "rs.multiclass.ConfusionMatrix.from_labels(y, predicted).f_score()",
    "findcutoff": "rs.choose(y, s, rs.Context(cost_fp=1, cost_fn=5))",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED_BY_CONCEPT)
def test_a_name_that_no_table_lists_is_answered_by_its_words(name):
    with pytest.raises(AttributeError, match=rf"; use {re.escape(NAMED_BY_CONCEPT[name])}"):
        getattr(rs, name)


def test_a_name_of_a_task_that_rocscope_does_not_have_is_answered_by_an_instruction():
    with pytest.raises(
        AttributeError, match=r"has no 'shap_explanation'; for explanations of a model, which rocscope does not comp"
    ):
        _ = rs.shap_explanation


def test_a_slip_is_not_taken_for_a_concept_nor_a_concept_for_a_slip():
    with pytest.raises(AttributeError, match=r"; did you mean rs\.precision_recall\?$"):
        _ = rs.precision_recal
    with pytest.raises(AttributeError, match=r"; use rs\.multiclass\.multiclass_brier\(y, probabilities\)$"):
        _ = rs.multiclass.brier_score
    with pytest.raises(AttributeError, match=r"; use rs\.choose\(y, s, criterion='f1'\)$"):
        _ = rs.ThresholdCounts.from_scores([0, 1], [0.1, 0.2]).best_f1


def test_topics_are_answered_when_they_are_called(here):
    for topic, calls in tables()["topics"].items():
        module = rs if topic == "any" else getattr(rs, topic)
        with pytest.raises(TypeError, match=re.escape(f"cannot be called; use {calls}")):
            module(here["y"], p=here["p"])
        assert all(eval(call, here) is not None for call in calls.split(", or "))


def test_a_function_named_like_its_module_is_the_function():
    assert callable(rs.drift) and inspect.isfunction(rs.outcomes.drift)
    assert callable(rs.expected) and inspect.isfunction(rs.outcomes.expected)


def test_a_word_has_one_meaning():
    words = tables()["words"]
    synonyms = " ".join(words.values()).split()
    assert len(synonyms) == len({*synonyms})
    assert not {*synonyms} & {*words}


@pytest.mark.parametrize("module", ["rocscope", "rocscope.metrics", "rocscope.calibration", "rocscope.datasets"])
def test_an_import_statement_is_answered_too(module):
    with pytest.raises(ImportError, match=rf"^{module} has no 'roc_auc_score'; use rs\.auc\(y, s\), or of"):
        exec(f"from {module} import roc_auc_score")
    assert not hasattr(importlib.import_module(module), "roc_auc_score")


def test_names_one_level_down_and_slips_are_pointed_to():
    calls = {
        "brier": "use rs.calibration.brier(y, p)",
        "val_prob": "use rs.calibration.val_prob(y, p)",
        "plot_simplex": "it is rs.plotting.plot_simplex",
    }
    for wrong, right in calls.items():
        with pytest.raises(AttributeError, match=f"^rocscope has no '{wrong}'; {re.escape(right)}$"):
            getattr(rs, wrong)
    with pytest.raises(AttributeError, match=r"^rocscope.calibration has no 'roc'; it is rs\.roc$"):
        _ = rs.calibration.roc
    with pytest.raises(AttributeError, match=r"^rocscope.calibration has no 'Briers'; use rs\.calibration\.brier$"):
        _ = rs.calibration.Briers
    with pytest.raises(AttributeError, match=r"^rocscope has no 'zzz'$"):
        _ = rs.zzz


def test_a_roc_curve_has_the_names_of_scikit_learn():
    curve = rs.roc([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.5])
    assert curve.fpr is curve.x
    assert curve.tpr is curve.y
    assert curve.thresholds is curve.threshold
