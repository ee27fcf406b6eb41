"""The first calls of users of eight other libraries: each works, or its error names the call to use."""

import re
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, make_scorer

import rocscope as rs
from rocscope.errors import RocscopeError

matplotlib.use("Agg")

CALLS = {
    "scikit-learn": """
        rs.roc_auc_score(y, p)
        rs.roc_curve(y, p)
        rs.auc(y, p)
        rs.auc(y, model.predict_proba(X))
        rs.roc(y, model.predict_proba(X))
        rs.auc(y, model)
        rs.auc(model, X, y)
        rs.precision_recall_curve(y, p)
        rs.average_precision_score(y, p)
        rs.brier_score_loss(y, p)
        rs.log_loss(y, p)
        rs.confusion_matrix(y, p > .5)
        rs.classification_report(y, p > .5)
        rs.RocCurveDisplay.from_predictions(y, p)
        rs.CalibrationDisplay.from_predictions(y, p)
        rs.calibration_curve(y, p, n_bins=5)
        rs.TunedThresholdClassifierCV(model)
        rs.cross_val_predict(model, X, y)
        rs.roc(y, p).fpr
        rs.roc(y, p).thresholds
        rs.roc(y, p).roc_auc
        rs.metrics.roc_auc_score(y, p)
        rs.metrics.f1_score(y, p > .5)
        rs.compare(y, {"a": p, "b": q}, statistic="neg_brier_score")
        rs.compare(y, {"a": p, "b": q}, statistic=make_scorer(brier_score_loss))
        rs.choose(y, p, criterion="f1_score")
        rs.choose(y, p, criterion="balanced_accuracy")
        rs.choose(y, p, scoring="f1")
        rs.evaluate(model, X, y, scoring="roc_auc")
        rs.summary(y, p)
        rs.estimators.ThresholdClassifier(model).fit(X, y).predict(X)
        rs.datasets.load_breast_cancer()
        rs.roc(y_true=y, y_score=p)
        rs.auc(y, p, sample_weight=w)
        rs.auc(y, p, max_fpr=.1)
        rs.auc(y, p, average="macro")
    """,
    "pROC": """
        rs.roc(y, p).auc
        rs.roc(y, p).ci()
        rs.ci(y, p)
        rs.ci_auc(y, p)
        rs.auc_interval(y, p).low
        rs.auc_interval(y, p, method="bootstrap")
        rs.roc_test(y, p, q)
        rs.compare(y, p, q)
        rs.compare(y, {"a": p, "b": q}, method="delong")
        rs.coords(y, p, "best")
        rs.roc(y, p).coords("best")
        rs.roc(y, p).coords
        rs.roc(y, p).sensitivities
        rs.roc(y, p).specificities
        rs.roc(y, p).plot()
        rs.roc(y, p, smooth=True)
        rs.roc(y, p, direction="<")
        rs.roc(y, p, levels=["no", "yes"])
        rs.roc(p, y)
        rs.auc(y, p, partial_auc=[1, .9])
        rs.roc(y, p).partial_auc(max_fpr=.1)
        rs.var(y, p)
        rs.power_roc_test()
        rs.ggroc(y, p)
    """,
    "yardstick": """
        rs.roc_auc(df, "y", "p")
        rs.roc_auc(y, p)
        rs.pr_auc(y, p)
        rs.gain_curve(y, p)
        rs.lift_curve(y, p)
        rs.conf_mat(y, p)
        rs.accuracy(y, p)
        rs.sens(y, p)
        rs.f_meas(y, p)
        rs.mn_log_loss(y, p)
        rs.metric_set()
        rs.auc(df, "y", "p")
        rs.roc(df["y"], df["p"])
        rs.summary(df, label="y", scores=["p"])
        rs.read(df, label="y", scores=["p", "q"])
    """,
    "rms": """
        rs.val_prob(p, y)
        rs.calibration.val_prob(y, p)
        rs.validate(model)
        rs.calibrate(model)
        rs.lrm(X, y)
        rs.somers2(p, y)
        rs.rcorr_cens(p, y)
        rs.calibration_curve(y, p).plot()
        rs.brier(y, p)
        rs.calibration.slope(y, p)
        rs.calibration.intercept(y, p)
        rs.nomogram(model)
    """,
    "dcurves": """
        rs.dca(y, p)
        rs.dca(df, "y ~ p")
        rs.net_benefit(y, p).plot()
        rs.net_benefit(y, {"a": p, "b": q}).plot()
        rs.net_benefit(y, p, thresholds=[.1, .2])
        rs.net_benefit(y, p, prevalence=.1)
        rs.net_intervention_avoided(y, p)
        rs.plot_graphs(y)
    """,
    "Orange": """
        rs.CrossValidation(model)
        rs.ROCAnalysis(y, p)
        rs.AUC(y, p)
        rs.CA(y, p)
        rs.CalibrationPlot(y, p)
        rs.LiftCurve(y, p)
        rs.evaluation.CrossValidation(model)
        rs.evaluation.AUC(y, p)
        rs.hull(y, {"a": p, "b": q})
        rs.hull(y, p).plot()
        rs.Report(y, p).html
        rs.PerformanceCurves(y, p)
    """,
    "scikit-plot": """
        rs.plot_roc(y, p)
        rs.plotting.plot_roc(y, p)
        rs.plotting.plot_calibration(y, p)
        rs.metrics.plot_roc(y, p)
        rs.plot_cumulative_gain(y, p)
        rs.plot_lift_curve(y, p)
        rs.plot_ks_statistic(y, p)
        rs.plot_precision_recall(y, p)
        rs.plot_confusion_matrix(y, p > .5)
        rs.plot_calibration_curve(y, [p])
        rs.plotting.plot_lift_curve(y, p)
        rs.lift(y, p).plot()
        rs.gain(y, p).plot()
    """,
    "rtichoke": """
        rs.create_roc_curve({"a": p}, {"y": y})
        rs.create_decision_curve({"a": p}, {"y": y})
        rs.create_calibration_curve({"a": p}, {"y": y})
        rs.create_summary_report({"a": p}, {"y": y})
        rs.prepare_performance_data({"a": p}, {"y": y})
        rs.plot_roc_curve(y, p)
        rs.roc({"a": p}, {"y": y})
        rs.roc({"a": p, "b": q}, y)
        rs.roc(y, {"a": p, "b": q})
        rs.summary(y, {"a": p, "b": q})
    """,
}
EACH = [(peer, call.strip()) for peer, calls in CALLS.items() for call in calls.strip().splitlines()]
NAMED = re.compile(
    r"(use|it is|did you mean|omit this) \.?\w|"
    r"rocscope\.\w+\.?\w*\(|y_score\[:, 1\]|\(y_true, |model='a'|expected one of 'auto'"
)
"""How an error names what to call or to pass."""


@pytest.fixture(scope="module")
def here():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    p, q = (1 / (1 + np.exp(-X))).T
    return {
        "rs": rs, "X": X, "y": y, "p": p, "q": q, "w": np.ones(120), "df": pd.DataFrame({"y": y, "p": p, "q": q}),
        "model": LogisticRegression().fit(X, y), "make_scorer": make_scorer, "brier_score_loss": brier_score_loss,
    }  # fmt: skip


def test_there_are_a_hundred_of_eight_libraries():
    assert len(CALLS) == 8
    assert len(EACH) >= 100


@pytest.mark.parametrize(("peer", "call"), EACH, ids=[f"{peer}: {call}" for peer, call in EACH])
def test_a_first_call_works_or_names_the_one_to_use(peer, call, here):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert eval(call, here) is not None
        except (AttributeError, TypeError, RocscopeError) as error:
            assert NAMED.search(str(error)) or "pass labels and scores" in str(error), str(error)


def test_scorers_stand_for_their_figures(here):
    from sklearn.metrics import accuracy_score, f1_score, fbeta_score, get_scorer

    y, models = here["y"], {"a": here["p"], "b": here["q"]}
    areas = rs.compare(y, models).to_dict()
    assert rs.compare(y, models, statistic=get_scorer("roc_auc")).to_dict() == areas
    assert rs.compare(y, models, statistic="roc_auc_score").to_dict() == areas
    for scorer, name in {
        get_scorer("f1"): "f1", make_scorer(accuracy_score): "accuracy", make_scorer(f1_score): "f1",
        make_scorer(fbeta_score, beta=2): "f2", get_scorer("matthews_corrcoef"): "mcc", get_scorer("recall"): "tpr",
    }.items():  # fmt: skip
        assert rs.choose(y, models, criterion=scorer).to_dict() == rs.choose(y, models, criterion=name).to_dict()
    with pytest.raises(RocscopeError, match=r"scorer of f1_score: expected a scorer without options, got .*average"):
        rs.choose(y, models, criterion=make_scorer(f1_score, average="macro"))


def test_a_type_error_of_within_stays_as_it_is(here):
    def failing(counts):
        return len(counts, counts)

    predictions = rs.Predictions(here["y"], here["p"])
    with pytest.raises(TypeError, match=r"^len\(\) takes exactly one argument \(2 given\)$"):
        rs.bootstrap(predictions, failing)


def test_results_can_be_copied_and_pickled_though_they_answer_for_unknown_names(here):
    import copy
    import pickle

    curve = rs.roc(here["y"], here["p"])
    for again in (copy.deepcopy(curve), pickle.loads(pickle.dumps(curve))):
        assert again.auc == curve.auc
    with pytest.raises(AttributeError, match=r"^RocCurve has no 'roc_auc'; use \.auc$") as caught:
        _ = curve.roc_auc
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert not hasattr(curve, "classes")
    assert pickle.loads(pickle.dumps(rs.auc)) is rs.auc
