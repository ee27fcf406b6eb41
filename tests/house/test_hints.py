"""Hints work when they are followed: of wrong calls, each call, option and value that an error names is tried."""

import inspect
import itertools
import random
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sklearn_metrics
from sklearn.linear_model import LogisticRegression

import rocscope as rs
import rocscope.compat.sklearn
from rocscope.cli import run
from rocscope.errors import InputError, RocscopeError

plt.switch_backend("Agg")


def words(text):
    """Return the words of a text."""
    return text.split()


FUNCTIONS = words(
    """
    rs.auc rs.roc rs.gain rs.lift rs.precision_recall rs.det rs.cost_curve rs.net_benefit rs.calibration_curve
    rs.auc_interval rs.summary rs.choose rs.hull rs.compare rs.Predictions rs.Report rs.bootstrap rs.evaluate
    rs.drift rs.calibration.brier rs.calibration.recalibrate rs.inference.threshold_table rs.inference.mcnemar
    rs.inference.mann_whitney rs.plotting.plot_roc rs.plotting.plot_calibration rs.metrics.mcc
    rs.metrics.precision rs.multiclass.multiclass_auc rs.ThresholdCounts.from_scores rs.scorer rs.read
    rs.plan_campaign rs.inference.band rs.evaluation.optimism rs.evaluation.average_curve
    rs.inference.joint_region rs.inference.compare_curves
    """
)
# Of pROC, yardstick, dcurves and Orange; those of scikit-learn are asked of it.
NAMES = sklearn_metrics.__all__ + words(
    """
    roc_test coords ci_auc ci_coords power_roc_test ggroc smooth var cov are_paired has_partial_auc
    multiclass_roc roc_auc pr_auc gain_capture mn_log_loss j_index bal_accuracy conf_mat metric_set ppv npv
    f_meas kap sens dca net_intervention_avoided standardized_net_benefit as_tibble CrossValidation
    TestOnTestData AUC CA LogLoss ROCAnalysis CalibrationPlot
    """
)
WORDS = words(
    """
    n_bins strategy sample_weights weight labels average multi_class max_fpr y_prob y_pred conf_level alpha
    n_boot seed random_seed cutoff figsize title prevalence thresholds levels direction percent smooth
    event_level estimator scoring cv n_jobs verbose normalize zero_division drop_intermediate model_name group
    clusters costs fp fn ax_ levle
    """
)
RESULTS = words(
    """
    curve estimate decision preds summary counts point matrix comparison
    """
)
ATTRIBUTES = words(
    """
    to_csv to_pandas to_json to_frame plot show head describe values pvalue p_value ci conf_int roc_auc
    thresholds fpr tpr precision recall f1 f1_score confusion_matrix summary best_threshold cutoff fit predict
    score iloc columns auc mcc youden coords sensitivities specificities lower upper se std statistic y_score
    labels plt metrics
    """
)
WRONG = [
    "F(s, y)",
    "F(y)",
    "F(s)",
    "F(y, 'text')",
    "F(None, s)",
    "F(y, None)",
    "F(y, s[:5])",
    "F(y3, P)",
    "F(y3, s)",
    "F(y, P)",
    "F(y, P2)",
    "F(df)",
    "F(df, 'y')",
    "F(fitted, X, y)",
    "F(y, fitted)",
    "F(yes_no, s)",
    "F(y, missing)",
    "F(missing, s)",
    "F(y, list('ab') * 60)",
    "F(y, s, s)",
    "F()",
    "F(y, s, 'x')",
    "F(y, {})",
    "F(y, {'a': s, 'b': s}, model='c')",
    "F(y, s, level=95)",
    "F(y, s, pos_label=7)",
    "F(y, s, method='delonge')",
    "F(y, s, sample_weight=-s)",
    "F(y, s, model='a')",
    "F(several)",
    "F(curve)",
    "F(estimate)",
    "F(y, s, criterion='acuracy')",
    "F(y, s, criterion='auc')",
    "F(y, s, subject_to='tpr > 2')",
    "F(y, s, subject_to='tprr > .5')",
]


def wrong_calls():
    """Return all wrong calls, some of which work."""
    calls = [f"rs.{name}(y, s)" for name in NAMES]
    calls += [f"rs.{topic}.{name}(y, s)" for topic in ("metrics", "calibration", "plotting") for name in NAMES[::7]]
    calls += [f"{function}(y, s, {word}=1)" for function, word in itertools.product(FUNCTIONS, WORDS)]
    calls += [f"{result}.{attribute}" for result, attribute in itertools.product(RESULTS, ATTRIBUTES)]
    calls += [wrong.replace("F(", f"{function}(") for function, wrong in itertools.product(FUNCTIONS, WRONG)]
    return calls


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """Hints that write a file, such as a report, are followed in a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def here():
    """What calls and hints speak of."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    a, b = (1 / (1 + np.exp(-X))).T
    predictions = rs.Predictions(y, {"a": a, "b": b})
    y3, P = rng.integers(0, 3, 120), rng.dirichlet([1, 1, 1], 120)
    model = LogisticRegression()
    one = rs.Predictions(y, a)
    matrix, several = rs.multiclass.ConfusionMatrix.from_labels(y, a > 0.5), rs.multiclass.MulticlassPredictions(y3, P)
    data = {
        "X": X, "y": y, "s": a, "p": a, "a": a, "b": b, "df": pd.DataFrame({"y": y, "p": a}), "y3": y3, "P": P,
        "P2": np.column_stack([1 - a, a]), "yes_no": np.where(y, "yes", "no"), "pred": (a > 0.5).astype(int),
        "missing": np.where(np.arange(120) == 7, np.nan, a), "probabilities": P, "proba": P, "predicted": y3,
        "time": rng.exponential(size=120), "event": y, "y_true": y, "y_score": a, "scores": a, "score": a,
    }  # fmt: skip
    results = {
        "preds": predictions, "predictions": predictions, "several": several, "data": several, "curve": rs.roc(one),
        "estimate": rs.auc_interval(one), "decision": rs.choose(one), "result": rs.choose(one), "matrix": matrix,
        "summary": rs.summary(one), "counts": one.counts(), "point": one.counts().at(0.5), "reference": one,
        "current": one, "comparison": rs.compare(predictions), "comparisons": rs.compare(predictions),
    }  # fmt: skip
    others = {
        "rs": rs, "rocscope": rocscope, "np": np, "pandas": pd, "fitted": model.fit(X, y), "model": model, "name": "a",
        "context": rs.Context(cost_fn=5), "campaign": rs.Campaign(population=1000, unit_cost=1, unit_benefit=5),
        "threshold": 0.5, "thresholds": [0.2, 0.3], "depth": 0.2, "beta": 2, "horizon": 0.5, "horizons": [0.3, 0.6],
        "label": 2, "tp": 3, "fp": 1, "fn": 2, "tn": 4, "treated": rng.random(120) < 0.5, "groups": np.arange(120) % 2,
        "w": np.ones(120),
    }  # fmt: skip
    return data | results | others


_ARGUMENTS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
CALL = re.compile(
    rf"(?<!from )\b(?:(?:rs|rocscope|pandas|np)(?:\.\w+)+|comparisons\[0\])"
    rf"(?:{_ARGUMENTS})?(?:\.\w+(?:{_ARGUMENTS})?|\[[^\]]+\])*"
)
IMPORT = re.compile(r"`(from [\w.]+ import \w+)`")
OPTION = re.compile(r"(?:use|did you mean|or|with|pass) (\w+)=(?!=)")
ATTRIBUTE = re.compile(r"(?:use|did you mean|or|and|its) \.(\w+)")
MODEL = re.compile(r"name the model: (model='[^']*')")
VALUE = re.compile(r"\(did you mean ('[^']*')\?\)")


def failure(call, here):
    """Return the error of a call, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(call, dict(here)) if call.startswith("from ") else eval(call, dict(here))
        except Exception as error:  # noqa: BLE001 (the test judges what it is)
            return error
    return None


def is_as_bad(again, error):
    """Return whether a second try fails too, other than by a more specific refusal of ours."""
    return again is not None and (not isinstance(again, RocscopeError) or str(again) == str(error))


def advice_of(error):
    """Return what an error says to do instead."""
    return " ".join([str(error).partition("; ")[2], *VALUE.findall(str(error))])


def has_hint(error):
    """Return whether an error names something: advice, or what was expected."""
    says_what = isinstance(error, RocscopeError) and re.search("expected |is not among the labels: got ", str(error))
    return bool(advice_of(error).strip() or says_what or "did you mean" in str(error))


def broken_calls(error, here):
    """Yield suggested calls and imports that fail; of those with arguments left open, only the name is looked up."""
    advice = advice_of(error)
    for suggested in CALL.findall(advice) + IMPORT.findall(advice):
        name, opened, _ = suggested.partition("(")
        again = failure(name if opened and "..." in suggested else suggested, here)
        if is_as_bad(again, error):
            yield f"{suggested}: {again}"


def broken_options(call, error, here):
    """Yield suggested arguments that neither the function nor a suggested one has."""
    advice = advice_of(error)
    functions = [eval(name.partition("(")[0], dict(here)) for name in (call, *CALL.findall(advice)) if "rs." in name]
    known = {name for one in functions if callable(one) for name in inspect.signature(one).parameters}
    yield from (f"{option}= is no argument" for option in OPTION.findall(advice) if option not in known)


def broken_values(call, error, here):
    """Yield suggested values that are refused again in the same words."""
    changed = [f"{call[:-1]}, {model})" for model in MODEL.findall(advice_of(error))]
    given = re.search(r"=('[^']*')\)$", call)
    if given is not None:
        changed += [call.replace(given[1], value) for value in VALUE.findall(str(error))]
    yield from (repaired for repaired in changed if is_as_bad(failure(repaired, here), error))


def broken_attributes(call, error, here):
    """Yield suggested attributes that the object does not have; of an estimate, where it is named."""
    owners = [here[call.partition(".")[0]], *([here["estimate"]] if "estimate" in str(error) else [])]
    for name in ATTRIBUTE.findall(advice_of(error)):
        if not any(hasattr(owner, name) for owner in owners):
            yield f".{name} is not there"


def broken(call, error, here):
    """Return what a hint names and fails when it is done."""
    failures = [*broken_calls(error, here), *broken_values(call, error, here)]
    if not call.startswith("rs."):
        failures += broken_attributes(call, error, here)
    elif not failures and not isinstance(error, AttributeError):
        failures += broken_options(call, error, here)
    return failures


def judge(calls, here):
    """Return the refusals by call, those without a hint, and those whose hint fails when it is followed."""
    errors = {call: failure(call, here) for call in calls}
    refused = {call: error for call, error in errors.items() if error is not None}
    without = [f"{call}: {error}" for call, error in refused.items() if not has_hint(error)]
    wrong = []
    for call, error in refused.items():
        wrong += [f"{call}: {error} -> {reason}" for reason in broken(call, error, here)]
        plt.close("all")
    return refused, without, wrong


@pytest.mark.parametrize("number", [100, pytest.param(500, marks=pytest.mark.slow(reason="the other cases of a grid"))])
def test_every_hint_works_when_it_is_followed(number, here):
    calls = random.Random(52).sample(wrong_calls(), number)
    refused, without, wrong = judge(calls, here)
    print(f"{number} calls, {len(refused)} refused, {len(without)} without a hint, {len(wrong)} hints fail")
    assert len(refused) >= 0.9 * number
    assert not wrong, "\n".join(wrong)
    assert len(without) <= 0.05 * len(refused), "\n".join(without)


@pytest.mark.every(3)
@pytest.mark.parametrize("third", range(3))
def test_first_calls_from_other_packages_are_answered(third, here):
    """The list was written from memory, before looking at the answers, of which 41 were there then."""
    lines = (Path(__file__).parent / "foreign_calls.txt").read_text(encoding="utf-8").splitlines()
    calls = [line for line in lines if not line.startswith("#")]
    assert len(calls) == 60
    refused, without, wrong = judge(calls[third::3], here)
    # That an error lists all that is there is no answer.
    listed = [call for call, error in refused.items() if re.search("; it (takes|has) ", str(error))]
    assert not wrong, "\n".join(wrong)
    assert len(without) + len(listed) <= 2, "\n".join([*without, *listed])


FOLLOWED = {
    "rs.calibration_curve(y, logits)": "rs.calibration.recalibrate(rs.Predictions(y, s), method='platt').predictions",
    "rs.calibration_curve(y, s, normalize=True)": "rs.calibration.recalibrate(rs.Predictions(y, s), method='platt')",
    "rs.calibration.recalibrate(rs.Predictions(y, logits))": "recalibrate(rs.Predictions(y, s), method='platt')",
    "rs.compare(y, {'a': a, 'b': b}, method='venkatraman')": "rs.inference.compare_curves(rs.Predictions(y, {",
    "rs.compare(y, {'a': a, 'b': b}, test='bootstrap')": "rs.compare(y, {'a': s, 'b': p}, statistic=rs.auc",
    "rs.compare(curve, curve)": "rs.compare(y, {'a': s, 'b': p})",
    "rs.compare(y_true=y, model_a=a, model_b=b)": "rs.compare(y, {'a': s, 'b': p})",
    "rs.classification_report(y, pred)": "rs.multiclass.ConfusionMatrix.from_labels(y, predicted).to_frame()",
    "rs.permutation_importance(model, X, y)": "which rocscope does not compute, use sklearn.inspection.permutation_imp",
    "rs.auc(y, s, event_level='second')": "use pos_label=1, or the second class",
    "rs.auc(y, s, event_level='first')": "use pos_label=0, or the first class",
    "rs.summary(y, s, positive=0)": "use pos_label=0",
    "rs.auc(fpr=[0, 1], tpr=[0, 1])": "use rs.roc(y, s).auc",
    "rs.brier_score(time, event, s, horizons)": "rs.outcomes.over_time(time, event, p, horizons, statistic=",
    "rs.outcomes.concordance(time, s, event)": "rs.outcomes.concordance(time, event, s, horizon)",
    "rs.outcomes.from_experiment(y, s, treated)": "rs.outcomes.from_experiment(y, treated, s)",
    "rs.outcomes.concordance(event_times=time, predicted_scores=s, event_observed=event, tau=5)": "use time=; "
    "predicted_scores: use scores=; event_observed: use event=; tau: use horizon=5",
    "rs.Context(fp_cost=1, fn_cost=5)": "use cost_fp=1, cost_fn=5",
    "rs.plotting.plot_uplift(y, s, treated)": "rs.plotting.plot_uplift(rs.outcomes.from_experiment(y, treated, s)",
    "rs.plotting.plot_drift(s, s)": "use rs.plotting.plot_drift(rs.drift(rs.Predictions(y, s), current))",
    "rs.outcomes.Experiment(y, treated)": "use rs.outcomes.from_experiment(y, treated, s)",
    "rs.monitor(y, s, window=100)": "rs.monitor(rs.choose(y, s)) tests all looks",
    "rs.evaluate(X, y, model)": "use rs.evaluate(model, X, y)",
    "rs.summary(model, X, y)": "use rs.evaluation.from_estimator(model, X, y)",
    "rs.summary(conf_mat=matrix)": "use rs.ThresholdCounts.from_scores(y, s).at(0.5)",
    "rs.lift_chart(y, s, n=4)": "use rs.lift(y, s).at(np.arange(1, 4 + 1) / 4)",
    "rs.choose(y, s, context={'fp': 1})": "rs.Context(cost_fp=1, cost_fn=5)",
    "rs.Orange.evaluation.AUC(y, s)": "has no 'Orange.evaluation.AUC'; use rs.auc(y, s)",
    "rs.kds.plot_lift(y, s)": "use rs.lift(y, s).plot()",
    "rs.sklearn.metrics.log_loss(y, s)": "use rs.calibration.log_loss(y, p)",
    "summary.loc['auc']": "use .metrics()['auc']",
    "summary.brier": "use summary[0]['brier']",
    "summary[['auc', 'brier']]": "use .metrics()",
    "curve[['fpr', 'tpr']]": "use .to_frame()[['fpr', 'tpr']]",
    "curve.T": "use .to_frame().T",
    "curve.at_threshold(0.5)": "use .counts.at(0.5)",
    "comparisons['p_value']": "use comparisons[0].p_value",
    "tn, fp, fn, tp = point": "use .tn, .fp, .fn and .tp",
    "rs.plan_campaign(y, s)": "pass rs.Campaign(population=1000, unit_cost=1, unit_benefit=5)",
    "rs.scorer(rs.auc)": "use rs.scorer('auc')",
    "rs.scorer('f1', threshold=0.5)": "use the threshold in the name: rs.scorer('net_benefit at 0.3')",
    "curve.partial_auc(0, 0.1)": "use names: rs.roc(y, s).partial_auc(max_fpr=0.1)",
    "curve.partial_auc(fpr=0.1)": "use max_fpr=",
    "curve.at(fpr=0.1)": "use x=",
    "rs.evaluate(model, X, y, cv='kfold')": "use cv=5",
    "rs.evaluate(model, X, target=y)": "use X and y: rs.evaluate(model, X, y)",
    "rs.auc_interval(y, s, level='90%')": "write 90% as 0.9",
    "rs.calibration.platt(y, s)": "rs.calibration.recalibrate(rs.Predictions(y, p), method='platt')",
    "summary['score', 'auc']": "use summary['score']['auc']",
    "preds.mean()": "use .to_frame().mean(numeric_only=True)",
    "preds.groupby('segment')": "use .by_segment()",
    "preds.by_fold('fold')": "call it without arguments",
    "curve.at('best')": "use rs.choose(y, s, criterion='youden').point",
    "rs.precision_recall(y, s).at('best')": "use rs.choose(y, s, criterion='youden').point",
    "rs.summary(y, s, by=groups)": "use rs.summary(rs.Predictions(y, s, segment=groups), by='segment')",
    "decision.predict(X)": "got shape (120, 2); use the scores of the rows: .predict(model.predict_proba(X)[:, 1])",
    "rs.evaluate(model, df, 'y')": "use columns of a data frame: rs.evaluate(model, df.drop(columns='y'), df['y'])",
    "len(curve)": "RocCurve has no length; use len(result.to_frame())",
    "rs.compare(fitted, fitted, X, y)": "use rs.compare(rs.evaluate({'a': model, 'b': model}, X, y))",
    "rs.calibration_curve(y, s, smoother='lowess')": "use method='loess'",
    "rs.calibration_curve(y, s, method='lowess')": "use method='loess'",
    "rs.choose(y, s, criterion='roc01')": "use criterion='closest_topleft'",
    "rs.choose(y, s, 0.5)": "use rs.ThresholdCounts.from_scores(y, s).at(0.5) for a fixed threshold",
    "rs.summary(y, s, threshold='youden')": "such as threshold=rs.choose(y, s, criterion='youden').threshold",
    "rs.calibration.recalibrate(y, s)": "got a ndarray; use rs.calibration.recalibrate(rs.Predictions(y, p), method=",
    "rs.calibration_curve(y, s, n_bins=5)": "use bins=5",
    "rs.evaluate(model, X, y, n_splits=5)": "use cv=5",
    "rs.bootstrap(preds, rs.auc, parallel=True)": "use threads=, such as threads=2",
    "rs.plotting.roc(y, s)": "use rs.plotting.plot_roc(y, s)",
    "rs.ROCAUC(model)": "use rs.roc(rs.evaluate(model, X, y)).plot()",
    "rs.plot_det_curve(fitted, X, y)": "use rs.det(rs.evaluation.from_estimator(fitted, X, y)).plot()",
    "rs.ConfusionMatrix(fitted)": "use rs.multiclass.ConfusionMatrix.from_labels(y, fitted.predict(X))",
    "rs.conf_mat(df, truth='y', estimate='p')": "use rs.read(df, label='y', scores=['p']).counts().at(0.5)",
    "rs.pr_auc(df, 'y', 'p')": "use rs.precision_recall(rs.read(df, label='y', scores=['p'])).average_precision,",
    "rs.auc(P2, y)": "use rs.auc(y, s) with the labels first, or for a model rs.auc(rs.evaluate(model, X, y))",
    "counts[0.5]": "use .at(0.5)",
    "context.choose(y, s)": "use rs.choose(y, s)",
    "curve.partial_auc(max_fpr=0.1, correct=True)": "use standardized=True",
    "rs.Context(cost_matrix=[[0, 1], [5, 0]])": "use rs.Context.from_cost_matrix([[0, 1], [5, 0]], rows='actual',",
}


@pytest.mark.parametrize("call", FOLLOWED)
def test_first_calls_are_answered_by_a_call_that_works(call, here):
    names = here | {"logits": here["X"][:, 0]}
    with pytest.raises(Exception, match=re.escape(FOLLOWED[call])) as raised:
        exec(call, dict(names))
    assert not [*broken_calls(raised.value, names)]
    for attributes in re.findall(r"use (\.[\w.]+(?:\([^()]*\))?(?:\[[^ ]*\]|\.\w+(?:\(\))?)*)", str(raised.value)):
        if "by_segment" not in attributes:  # which needs a column of segments
            eval(re.match(r"\w+", call.partition(" = ")[2] or call)[0] + attributes, dict(names))


def test_values_of_results_may_be_called_or_named_by_a_synonym(here):
    curve, benefit = here["curve"], rs.net_benefit(here["y"], here["p"])
    assert (curve.auc(), curve.gini(), curve.ks()) == (curve.auc, curve.gini, curve.ks)
    assert here["point"].accuracy() == here["point"].accuracy
    assert np.array_equal(benefit.treat_all().y, benefit.treat_all.y)
    with pytest.raises(TypeError, match=r"^RocCurve has no length; use len\(result\.to_frame\(\)\)$"):
        len(curve)
    metrics = here["summary"].metrics()
    assert metrics["AUC"] == metrics["roc_auc"] == metrics["auc"] == curve.auc
    with pytest.raises(RocscopeError, match=r"^measure: expected one of 'auc'.*, got 'acu'$"):
        metrics["acu"]


def test_too_few_groups_for_the_folds_are_answered_by_a_number_that_works(here):
    model, X, y, groups = here["model"], here["X"], here["y"], np.arange(120) % 4
    with pytest.raises(InputError, match=r"^cv: expected at least 10 groups for 10 folds, got 4; use cv=4$"):
        rs.evaluate(model, X, y, groups=groups)
    assert rs.evaluate(model, X, y, groups=groups, cv=4).n == 120


@pytest.mark.parametrize("curve", ["lift", "gain", "roc", "precision_recall", "net_benefit"])
def test_a_percentage_is_no_share_of_a_curve(curve, here):
    curve = getattr(rs, curve)(here["y"], here["p"])
    with pytest.raises(InputError, match=r"^x: expected shares from 0 to 1, got 10; write 10% as 0\.1$"):
        curve.at(10)
    assert np.isfinite(curve.at(0.1))
    assert np.isnan(curve.at(1.1))


def test_a_blind_draw_of_foreign_calls_is_answered(here, capsys):
    """60 of 884 calls, drawn before any was tried: 54 of them worked or were answered with the fix."""
    lines = (Path(__file__).parent / "foreign_draw.txt").read_text(encoding="utf-8").splitlines()
    calls = dict(line.split(" -> ") for line in lines if not line.startswith("#"))
    assert len(calls) == 60
    Path("f.csv").write_text("y,p\n" + "1,.9\n0,.2\n0,.4\n1,.3\n" * 5)
    names = {"s2": "b", "P3": "P", "u": "s", "tr": "treated", "t": "time", "e": "event", "g": "groups"}
    named = here | {ours: here[theirs] for ours, theirs in names.items()} | {"p2": here["b"]}
    for call, answer in calls.items():
        if call.startswith("rocscope "):
            assert run(call.split()[1:]) == 2
            assert f"use {answer};" in capsys.readouterr().err
            continue
        error = failure(call, named)
        assert (error is None) == (answer == "works"), call
        if error is not None:
            assert str(error).partition("; ")[2].removeprefix("use ").startswith(answer) or answer in str(error), call
            assert not broken(call, error, named)
    plt.close("all")


COMMANDS = words("summary choose compare calibrate")
TYPED = [
    "--treshold .5",
    "--lable label",
    "--level 95",
    "--criterion acuracy",
    "--metric auc",
    "--weights w",
    "--score aa",
    "--label labels",
    "--cost-fp x",
    "--n-bins 5",
    "--subject-to tprr>.5",
    "--method delonge",
    "--where regionn='n'",
    "--pos 1",
    "--folds x",
]
REPLACED = re.compile(r"\(did you mean '?([^'?]+)'?\?\)|write 95% as (0\.95)")


@pytest.mark.every(8)
@pytest.mark.parametrize("typed", TYPED)
def test_hints_of_commands_work_when_they_are_followed(typed, capsys):
    """What is suggested replaces what was typed."""
    Path("d.csv").write_text("label,a,b\n" + "1,.9,.8\n0,.2,.3\n0,.4,.1\n1,.3,.7\n" * 5)
    option, value = typed.split()

    def answer(command, *added):
        label = [] if "--label" in added else ["--label", "label"]
        scores = ["--score", "b"] if "--score" in added else ["--score", "a", "--score", "b"]
        code = run([command, "d.csv", *label, *scores[: None if command == "compare" else 2], *added])
        return code, capsys.readouterr().err.strip()

    for command in COMMANDS:
        code, said = answer(command, option, value)
        if not code:
            continue
        assert re.search("; |did you mean|expected |Choose from|Candidate", said), said
        for pair in REPLACED.findall(said):
            better = "".join(pair)
            repaired = (better, value) if better.startswith("--") else (option, said_value(value, better))
            assert answer(command, *repaired)[1] != said
        if "--help" in said:
            assert f"see rocscope {command} --help" in said, "which tests of the command line show"


def said_value(value, better):
    """Return a typed value with the suggestion in place of its name."""
    return re.sub(r"^\w+", better, value)


OF_OTHER_TOOLS = {
    "lift": "rocscope report FILE",
    "version": "rocscope --version",
    "optimize": "rocscope choose FILE",
    "plot-roc": "rocscope report FILE",
    "confusion-matrix": "rocscope summary FILE --threshold 0.5",
    "top-k": "rocscope campaign FILE --population 10000 --unit-cost 1 --unit-benefit 20",
}


@pytest.mark.parametrize("command", OF_OTHER_TOOLS)
def test_commands_of_other_tools_are_answered_by_one_that_works(command, capsys):
    Path("d.csv").write_text("label,a\n" + "1,.9\n0,.2\n0,.4\n1,.3\n" * 5)
    assert run([command, "d.csv"]) == 2
    answer = OF_OTHER_TOOLS[command]
    answer = answer.replace("FILE", "d.csv")
    assert f'"{command}"; use {answer}' in capsys.readouterr().err
    assert run(answer.split()[1:]) == 0


def test_options_of_other_tools_are_answered(capsys):
    answers = {"--target": "--label", "-p": "--score", "--group-by": "--segment", "--y_hat": "--score"}
    for option, answer in answers.items():
        assert run(["summary", "d.csv", option, "a"]) == 2
        assert f"{option}: no such option; use {answer} a;" in capsys.readouterr().err
    assert run(["drift", "d.csv", "--reference", "d.csv"]) == 2
    assert "--reference: no such option; use rocscope drift d.csv d.csv;" in capsys.readouterr().err
    assert run(["compare", "d.csv", "--method", "delong"]) == 2
    assert "--method: no such option; omit this option: AUCs are compared by a paired test" in capsys.readouterr().err


FAIL = {
    "use rs.aucc(y, s)": "rs.auc(y, s, level=1)",
    "use rs.auc(y, bins=3)": "rs.auc(y, s, level=1)",
    "use levels=": "rs.auc(y, s, level=1)",
    "use `from rocscope.compat import nothing`": "rs.auc(y, s, level=1)",
    "use .nothing": "curve.something",
}


@pytest.mark.parametrize("advice", FAIL)
def test_advice_that_fails_is_noticed(advice, here):
    assert broken(FAIL[advice], TypeError(f"no; {advice}"), here)
    assert not has_hint(ValueError("no"))


def test_an_error_that_is_repeated_is_noticed(here):
    error = failure("rs.auc(y, s[:5])", here)
    assert is_as_bad(error, error)
    assert not is_as_bad(None, error)
    assert not is_as_bad(InputError("another"), error)
