"""Unknown arguments and attributes: the error names what to use, and that exists."""

import inspect
import re
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import rocscope as rs
from rocscope._base.answers import tables
from rocscope._base.grouping import Parts
from rocscope.core.result import Result
from rocscope.errors import ColumnError, InputError, LabelError

Y, SCORES = [0, 1, 0, 1, 1, 0] * 10, [*np.linspace(0, 1, 60)]
PREDICTIONS = rs.Predictions(Y, SCORES)
HERE = {
    "LogisticRegression": LogisticRegression,
    "np": np,
    "rs": rs,
    "y": Y,
    "s": SCORES,
    "predictions": PREDICTIONS,
    "df": pd.DataFrame({"y": Y, "p": SCORES}),
}
ANSWERS = {
    "rs.Context(prevalence=.1)": "use target_prevalence=",
    "rs.Context(fp=1, fn=5)": "use cost_fp=",
    "rs.Campaign(population=100, cost=1, benefit=10)": "use unit_cost=",
    "rs.Context(what=1)": "it takes target_prevalence, cost_fp, cost_fn",
    "rs.plan_campaign(y, s, budget=10)": "use rs.Campaign(population=1000, unit_cost=1, unit_benefit=5, capacity=100)",
    "rs.auc_interval(y, s, alpha=.05)": "use level=",
    "rs.auc_interval(y, s, conf_level=.9)": "use level=",
    "rs.auc(y, s, conf_level=.9)": "use rs.auc_interval(y, s, level=0.9)",
    "rs.auc(y, s, alpha=.1)": "use rs.auc_interval(y, s, level=0.9)",
    "rs.auc(y, s, partial_auc=[1, 0.8])": "use rs.roc(y, s).partial_auc(max_fpr=0.2)",
    "rs.roc(y, s, max_fpr=.3)": "use rs.roc(y, s).partial_auc(max_fpr=0.3, standardized=True)",
    "rs.evaluate(LogisticRegression(), df, y, return_indices=True)": "use rs.evaluate(model, X, y).fold",
    "predictions.estimator": "use .source.estimators",
    "predictions.query('segment == 1')": "use .select(df.eval(",
    "rs.roc(y, s).mutate": "use .to_frame().assign",
    "rs.net_benefit(y, s).test_pos_rate": "use rs.ThresholdCounts.from_scores(y, p).at(0.3).depth",
    "rs.plotting.plot_roc(predictions, figsize=(3, 3))": "use ax=",
    "rs.inference.mcnemar(y, [0] * 60, [1] * 60)": "use rs.inference.mcnemar(rs.Predictions(y, {'a': s",
    "rs.inference.mcnemar(y)": "use rs.inference.mcnemar(rs.Predictions(y, {'a': s, 'b': p}), thresholds=0.5), or for",
    "rs.bootstrap(y, s)": "for labels and scores pass rs.Predictions",
    "rs.bootstrap(predictions, 3)": "pass a function such as rocscope.auc or lambda",
    "rs.inference.estimate_of(y, s)": "for labels and scores pass rs.Predictions",
    "rs.inference.joint_region(y, s)": "for labels and scores pass rs.Predictions(y, s).counts().at(0.5)",
    "rs.bootstrap(y, s, 'auc')": "use rs.bootstrap(rs.Predictions(y, s), rs.auc)",
    "rs.compare(y, s, s)": "use rs.compare(y, {'a': s, 'b': p})",
    "rs.metrics.mcc(y, [0, 1] * 30)": "call rs.ThresholdCounts.from_scores(y, s).at(0.5), which has .mcc",
    "rs.auc_interval(predictions).pvalue": "use rs.inference.mann_whitney(y, s).p_value for the hypothesis AUC = 0.5",
    "rs.compare(y, {'a': s, 'b': s[::-1]}).to_csv()": "use .to_frame().to_csv(path)",
    "rs.roc(y, s).estimator_name": "use rs.Predictions(y, s).models[0], because a curve does not contain the name",
    "rs.gain(y, s).specificity": "use 1 - rs.roc(y, s).fpr",
    "rs.precision_recall(y, s).autoplot": "use .plot()",
    "rs.roc(y, s).cases": "use np.asarray(s)[np.asarray(y) == 1]",
    "rs.net_benefit(y, s).tp_rate": "use rs.ThresholdCounts.from_scores(y, p).at(0.3).tp / len(y)",
    "rs.auc_interval(y, s).decision_function": "use rs.evaluation.from_estimator(model, X, y).scores",
    "rs.ThresholdCounts.from_scores(y, s).at(0.5).fdr": "use 1 - .precision",
    "rs.choose(predictions).to_csv()": "use pandas.DataFrame([result.to_dict()]).to_csv()",
    "rs.roc(y, s).to_csv()": "use .to_frame().to_csv(path)",
    "rs.choose(predictions).plot": "use rs.plotting.plot_roc(y, s)",
    "rs.choose(predictions).plot()": "use rs.plotting.plot_roc(y, s)",
    "rs.choose(predictions).to_frame()": "use pandas.DataFrame([result.to_dict()])",
    "rs.Predictions.from_estimator(1, y, s)": "use rs.evaluation.from_estimator(model, X, y)",
    "predictions.auc()": "use rs.auc(predictions)",
    "rs.roc(y, s).plot(title='a')": "use ax.set_title('a')",
    "rs.roc(y, s).sensitivity": "use .tpr",
    "rs.choose(predictions).recall": "use .point.tpr",
    "rs.choose(predictions).point.F1": "use .f_score()",
    "predictions.brier_score": "use rs.calibration.brier(predictions)",
    "rs.Report(predictions).to_pdf": "use .save('report.html')",
    "rs.auc(y, s, SampleWeights=[1] * 60)": "use sample_weight=",
    "rs.auc(y, s, Sample_Weight=[1] * 60)": "use sample_weight=",
    "rs.outcomes.over_time([1], [1], [.3], times=[.3])": "use horizons=",
    "rs.calibration.brier(y, s, null_model=True)": "omit this argument: rs.summary(y, s)[0]['scaled_brier']",
    "rs.outcomes.at_horizon([1], [1], [.3], 1, iid=True)": "omit this argument: pass the result to a function",
    "rs.roc(y, s).at(.3, ret='all')": "omit this argument: rs.ThresholdCounts.from_scores(y, s).at(0.5) has .tpr",
    "rs.roc(y, s).best(ret='all')": "omit this argument: rs.ThresholdCounts.from_scores(y, s).at(0.5) has .tpr",
    "rs.choose(predictions).point.byClass": "use .tpr, .tnr",
    "rs.choose(predictions, boot_runs=9)": "use rs.bootstrap(rs.Predictions(y, s), lambda counts: rs.roc(counts)",
    "rs.drift(y, s, chunk_period='M')": "omit this argument: call rs.drift(rs.Predictions(y, s), current.select(rows))",
    "rs.monitor(1, timestamp='day')": "omit this argument: call rs.monitor(plan).update(batch)",
    "rs.outcomes.concordance([1], [1], [.3], tied_tol=.1)": "omit this argument: only equal scores are tied",
    "rs.auc_interval(y, s, cl_level=.9)": "use level=",
    "predictions.fold_table()": "use rs.summary(predictions, by='fold').fold_table()",
    "rs.choose(predictions).zzz": "all values are in .to_dict(); it has .apply, .",
    "rs.calibration_curve(y, s, bins='quantile')": "use strategy='quantile'",
    "rs.calibration.recalibrate(predictions, method='sigmoid')": "use method='platt'",
    "rs.calibration_curve(y, s, q=5)": "use bins=5, strategy='quantile'",
    "rs.calibration_curve(y, s, ref_line=False)": "use rs.calibration_curve(y, s).plot(), which draws",
    "rs.net_benefit(y, s, models_to_prob=['s'])": "use rs.net_benefit(rs.calibration.recalibrate(rs.Predictions(y, s)",
    "rs.compare(y, {'a': s, 'b': s}, boot_n=9)": "use rs.compare(y, {'a': s, 'b': p}, statistic=rs.auc, replicates=9)",
    "rs.compare(y, {'a': s, 'b': s}, method='bootstrap')": "use rs.compare(y, {'a': s, 'b': p}, statistic=rs.auc",
    "rs.evaluate(LogisticRegression(), df, y, refit=True)": "omit this argument: rs.evaluate(model, X, y) fits a model",
    "rs.summary(y, s, metrics=['auc'])": "omit this argument: rs.summary(y, s).metrics()",
    "rs.choose(y, s, min_recall=.8)": "use subject_to='tpr >= 0.8'",
    "rs.choose(y, s, capacity=50)": "use subject_to=f'depth <= {50 / len(y)}'",
    "rs.choose(y, s, cost_fn=3)": "use context=rs.Context(cost_fp=1, cost_fn=3)",
    "rs.evaluation.learning_curve(LogisticRegression(), df, y, train_sizes=[1])": "use sizes=",
    "rs.read(df, sep=';')": "use delimiter=';'",
    "rs.roc(y, s, marker='x')": "use rs.roc(y, s).plot(marker='x')",
    "rs.roc(y, s).plot(level=.9)": "use band=rs.inference.band(curve, level=0.9), where curve is this curve",
    "rs.choose(y, s, criterion='J')": "use criterion='youden'",
    "rs.read(df, quotechar='|')": "use rs.read(pandas.read_csv('file.csv', quotechar=...)",
    "rs.Context(threshold=.3)": "use cost_fp=0.3, cost_fn=0.7; then 0.3 is the best threshold",
    "rs.roc(y, s).at(specificity=.9)": "use rs.roc(y, s).at(0.1)",
    "rs.evaluate(LogisticRegression(), df, y, 5)": "use rs.evaluate(model, X, y), with names for other arguments",
    "rs.summary(y, s, .5)": "use threshold=, such as rs.summary(y, p, threshold=0.5)",
    "rs.estimators.Search(1, refit=True)": "omit this argument: the best model is always fitted on all rows",
    "rs.auc_interval(y, s, method='Hanley')": "use method='hanley-mcneil'",
    "rs.auc_interval(y, s, method='bootstrap')": "use rs.bootstrap(rs.Predictions(y, s), rs.auc, ",
    "rs.explore(y, s)": "for labels and scores use rs.Predictions(y, s)",
    "rs.auc_interval(y, s, interval_level=.9)": "use level=",
    "rs.compare(y, {'a': s, 'b': s[::-1]}, alpha=.1)": "use level=",
    "rs.roc(y, s).plot(legacy=True)": "use ax=, and change the returned Axes",
    "rs.OperatingPoint(y, s)": "use rs.ThresholdCounts.from_scores(y, s).at(0.5)",
    "rs.estimators.ThresholdClassifier(1).best_threshold_": "use .threshold_",
    "rs.estimators.ThresholdClassifier(1).coef_": "use .estimator_.coef_, after .fit(X, y)",
    "rs.roc(y, s).thrshold": "did you mean .threshold",
    "rs.gain(y, s, plot=True)": "use rs.gain(y, s).plot()",
    "rs.lift(y, s, cuts=10)": "use rs.lift(y, s).at(np.arange(1, 10 + 1) / 10)",
    "rs.choose(y, s, 'precision >= 0.5')": "use subject_to='precision >= 0.5'",
    "rs.choose(y, s, rs.Context(2, 5))": "write 5% as 0.05; use names: rs.Context(cost_fp=1, cost_fn=5)",
    "rs.evaluate(y, s, metrics=['auc'])": "for labels and scores use rs.summary(y, s)",
    "rs.evaluate(y, s)": "for labels and scores use rs.summary(y, s)",
    "rs.auc(df, 'y', 'p')": "for a data frame use rs.read(data, label='y', scores=['p'])",
    "rs.auc(df, truth='y', estimate='p')": "for a data frame use rs.read(data, label='y', scores=['p'])",
    "rs.Predictions(df, 'y', 'p')": "for a data frame use rs.read(data, label='y', scores=['p'])",
    "rs.summary(df)": "for a data frame use rs.read(data, label=..., scores=[...])",
    "rs.read('f.csv', 'y', 'p')": "use names for columns: rs.read(data, label='y', scores=['p'])",
    "rs.multiclass.ConfusionMatrix.from_predictions(y, s)": "use rs.multiclass.ConfusionMatrix.from_labels(y, pred",
    "rs.multiclass.multiclass_auc(y, s, average='macro')": "use rs.multiclass.multiclass_auc(y, probabilities).aunu",
    "[*rs.roc(y, s)]": "use .fpr, .tpr and .thresholds",
    "rs.auc_interval(y, s)[0]": "use .value, .low and .high",
    "rs.roc(y, s)['fpr']": "use .fpr",
    "rs.report(y, s)": "use rs.Report(y, s)",
    "predictions['auc']": "use rs.auc(predictions)",
    "predictions[0]": "use .scores['a'] or .select(models=['a'])",
    "predictions['xyz']": "use .scores['xyz'] or .select(models=['xyz'])",
    "predictions.xyz": "for a model of this name, use .scores['xyz'] or .select(models=['xyz'])",
    "rs.roc(y, {'a': s, 'b': s}).b": "for a model of this name, use ['b']",
    "rs.roc(y, s, label='x')": "use pos_label=1 for the positive label, or for a name in the legend rs.roc(",
    "rs.auc(label=y, score=s)": "use y_true=",
    "rs.auc(y, s, target=1)": "use pos_label=1",
    "rs.auc(y, s, labels=[0, 1])": "use y_true= for the labels of the rows; omit a list of classes",
    "rs.auc(data=df, score='p', target='y')": "for a data frame use rs.read(data, label='y', scores=['p'])",
    "rs.choose(y, s, fp_cost=2, fn_cost=9)": "use context=rs.Context(cost_fp=2, cost_fn=9)",
    "rs.net_benefit(y, s, thresholds=[.1, .3])": "use threshold=[0.1, 0.3]",
    "rs.net_benefit(y, s, thresholds=np.arange(0, .5, .01))": "use threshold=np.linspace(0, 0.49, 50)",
    "rs.calibration.recalibrate(predictions, n_bins=9)": "use method='histogram', bins=9",
    "rs.expected(df, df)": "use rs.expected(rs.Predictions(y, s), s), with the scores of new rows, or for a data frame",
    "rs.auc(y, df)": "for several models, pass {name: table[name] for name in table.columns}",
    "rs.read(df, quotechar=',')": "use rs.read(pandas.read_csv('file.csv', quotechar=...)",
    "rs.lift(y, s, population=.2)": "use rs.lift(y, s).at(0.2)",
    "rs.roc(y, s, target='yes')": "use pos_label='yes'",
    "rs.choose(y, s, class_prior=.3)": "use a Context: rs.Context(target_prevalence=0.3)",
    "rs.read(df, by='segment')": "use segment='segment'",
    "rs.read(df, label='y', scores=['p'], weights='w')": "use weight='w' for a column of weights",
    "rs.summary(y, s, by='region')": "use rs.summary(rs.read(data, label=..., scores=[...], segment='region'), by=",
    "rs.monitor(df)": "use rs.monitor(rs.choose(y, s))",
    "rs.calibration.recalibrate(y, s, method='isotonic')": "use rs.calibration.recalibrate(rs.Predictions(y, p), meth",
    "rs.calibration.recalibrate(LogisticRegression(), df, y, method='isotonic')": "use rs.calibration.recalibrate(rs.ev"
    "aluation.from_estimator(model, X, y), method='isotonic')",
    "rs.calibration.recalibrate(predictions, cv='prefit')": "use rs.calibration.recalibrate(rs.evaluation.from_estima",
    "rs.evaluate(LogisticRegression(), df, y, test_size=.3)": "use cv=0.3, the share of the test rows",
    "rs.evaluate(LogisticRegression(), df, y, train_size=.8)": "use cv=0.2, the share of the test rows",
    "rs.roc(y, s).plot(name='LR')": "use .plot(label='LR')",
    "rs.roc(y, s).plot(line_kw={'lw': 2})": "use the options themselves, such as .plot(color='k', linewidth=2)",
    "rs.roc(y, s).plot(x='fpr')": "omit this argument: the axes show the rates of the curve",
    "rs.roc(y, s).to_dict(orient='records')": "use rs.roc(y, s).to_frame().to_dict('records')",
    "rs.read(df, label='y', prediction='p')": "use scores='p'",
    "rs.read(df, segment_col='region')": "use segment='region'",
    "rs.read_counts(df, nrows=5)": "use rs.read(pandas.read_csv('file.csv', nrows=5)",
    "rs.evaluate(LogisticRegression(), df, y, metrics=['auc'])": "use scoring=['auc']",
    "rs.evaluate(LogisticRegression(), df, y, name='LR')": "use a mapping of the models by name: rs.evaluate({'LR': mo",
    "rs.roc(y, s).plot(threshold=.4)": "use rs.plotting.plot_roc(y, s, thresholds=[0.4])",
    "rs.plotting.plot_calibration(y, s, n_bins=5)": "use bins=5",
    "rs.summary(y, s, thresholds=[.3, .5])": "use rs.inference.threshold_table(y, s, thresholds=[0.3, 0.5])",
    "rs.lift(y, s).at(decile=1)": "use rs.lift(y, s).at(1 / 10)",
    "rs.lift(y, s).max_lift": "use .to_frame()['lift'].max()",
    "rs.roc(y, s, X=df)": "use rs.evaluation.from_estimator(model, X, y), and pass its result",
    "rs.roc(y, s, output='frame')": "omit this argument: .to_frame() and .to_dict() of a result return other types",
    "rs.auc(y, s, round=2)": "use round(rs.auc(y, s), 2)",
    "rs.Predictions(y, s, segment=y).by_segment().agg('mean')": "use {name: rs.auc(part) for name, part in segments",
    "rs.segments.compare(predictions)": "use rs.segments.compare_segments(rs.Predictions(y, {'a': s, 'b': p}, segment=",
    "rs.data.Table('iris')": "use rs.read('file.csv', label=..., scores=[...]) for a table of rows",
    "rs.Predictions(y, s, segment='region')": "use the column itself: segment=df['region']",
    "rs.auc(LogisticRegression(), df)": "use rs.evaluation.from_estimator(model, X, y), and pass its result",
    "rs.roc(y, s).best('youden')": "use rs.choose(y, s, criterion='youden').point",
    "rs.roc(y, s).at(fpr=.2)": "use x=0.2",
    "rs.gain(y, s).at(k=10)": "use x=10 / len(y)",
    "rs.roc(y, s).to_frame('numpy')": "use .to_frame().to_numpy()",
    "rs.compare(y, {'a': s, 'b': s}, method='ttest')": "use rs.evaluation.compare_folds(rs.evaluate(",
    "rs.evaluate(LogisticRegression(), df, y, cv='bootstrap')": "use cv='out_of_bag'",
    "rs.choose(y, s, criterion='OptimizeF1')": "use criterion='f1'",
    "rs.summary(y, s, by='model')": "omit this argument: the summary has a row for each model",
    "rs.utils.resample(y)": "use rs.bootstrap(rs.Predictions(y, s), rs.auc, replicates=200)",
    "rs.sklearn.metrics.RocCurveDisplay.from_predictions(y, s)": "use rs.roc(y, s).plot()",
    "predictions.drop(columns='p')": "use .select(models=['a'])",
    "rs.choose(y, s).T": "use .to_dict()",
    "rs.Table.from_file('f.csv')": "use rs.read('file.csv'",
    "predictions.counts()['f1']": "use .at(0.5).f_score()",
    "rs.summary(predictions)['auc']": "for a figure of a model, use summary['score']['auc']",
    "rs.lift(y, s).top_decile": "use .at([0.1, 0.2, 0.3])",
    "rs.Predictions.from_predictions(y, s)": "use rs.Predictions(y, s)",
    "rs.profit(y, s, value=50)": "use a Campaign: rs.Campaign(",
    "rs.roc(y, s).plot(xlim=(0, 1))": "use ax.set_xlim(0, 1)",
    "rs.roc(response=y, predictor=s)": "use y_true= and y_score=",
    "rs.auc(y, s, quiet=True, percent=True)": "omit quiet=: rocscope functions do not print; omit percent=: rates are",
    "rs.choose(y, s, method='maximize_metric', metric='sum_sens_spec')": "use criterion='youden'; omit method=: choose",
    "rs.choose(y, s, metric='roc01')": "use criterion='closest_topleft'",
    "rs.choose(y, s, CFP=2, CFN=7)": "use context=rs.Context(cost_fp=2, cost_fn=7)",
    "rs.auc(y, s, fp_cost=2, fn_cost=7, prevalence=.1)": "use rs.choose(y, s, rs.Context(cost_fp=2, cost_fn=7,",
    "rs.choose(y, s, criterion='MaxSpSe')": "use criterion=lambda tp, fp, fn, tn: np.minimum(tp / ",
    "rs.net_benefit(y, s, xstart=0, xstop=.5, xby=.01)": "use threshold=np.arange(0, 0.5, 0.01)",
    "rs.roc('y ~ p', data=df)": "for a data frame use rs.read(data, label='y', scores=['p'])",
    "rs.cutpointr(df, 'p', 'y', metric='youden')": "use rs.choose(rs.read(df, label='y', scores=['p']), cri",
    "rs.roc(y, s).coords(.9, input='sensitivity')": "use rs.choose(y, s, criterion='tnr', subject_to='tpr >= 0.9')",
    "rs.coords(rs.roc(y, s), 'best', best_method='closest.topleft')": "use rs.choose(y, s, criterion='closest_to",
    "rs.Predictions(y, s).performance('tpr', 'fpr')": "use rs.roc(predictions)",
    "rs.ci_se(rs.roc(y, s), specificities=[.8, .9])": "use rs.inference.band(rs.roc(y, s), grid=1 - np.array([0.8, 0",
    "rs.roc(y, s).conf_mat(.3)": "use .counts.at(0.3)",
    "rs.net_benefit(y, s).plot(smooth=True)": "omit this argument: the net benefit is exact",
    "rs.roc(y, s, target_prior=50)": "use rs.decisions.reweight(rs.ThresholdCounts.from_scores(y, s), 0.5)",
    "rs.auc_interval(y, s, boot_stratified=False)": "use rs.bootstrap(rs.Predictions(y, s), rs.auc, stratified=F",
    "rs.roc(predictor=s, response=y, levels=[0, 1], quiet=True)": "use y_score= and y_true= and pos_label=1; omit qui",
    "rs.roc(y, s).partial_auc(.2)": "use names: rs.roc(y, s).partial_auc(max_fpr=0.2)",
    "rs.roc(y, s).plot(print_auc=True, ylab='TPR')": "omit this argument: the legend shows the AUC; ylab: use ax.set_",
    "rs.scorer('pr_auc')": "use rs.scorer('average_precision'), or for the area by trapezoids",
}


def test_columns_of_a_curve_are_those_of_its_frame_with_and_without_brackets():
    curve = rs.roc(PREDICTIONS)
    assert list(curve.columns) == list(curve.to_frame().columns) == ["fpr", "tpr", "threshold"]
    assert curve.columns()["fpr"] is curve.columns["fpr"] is curve.fpr


def test_results_that_refuse_items_are_one_object_to_numpy():
    assert np.asarray(PREDICTIONS).shape == ()
    with pytest.raises(KeyError):
        PREDICTIONS["auc"]


def test_the_points_of_a_curve_are_told_from_labels():
    curve = rs.roc(PREDICTIONS)
    with pytest.raises(LabelError, match=r"; for the area of a curve, use rs\.roc\(y, s\)\.auc instead of its points"):
        rs.auc(curve.fpr, curve.tpr)


@pytest.mark.parametrize("call", ANSWERS)
def test_an_unknown_word_is_answered(call):
    with pytest.raises((TypeError, AttributeError, InputError, ColumnError), match=re.escape(f"; {ANSWERS[call]}")):
        eval(call, HERE)


def _public(name):
    first, _, method = name.partition(".")
    if method:
        return getattr((_kinds() | {"Report": rs.Report, "Pilot": rs.inference.planning.Pilot})[first], method)
    topics = [rs, *(getattr(rs, topic) for topic in rs.__all__ if inspect.ismodule(getattr(rs, topic)))]
    places = [topic for topic in [*topics, rs.inference.planning] if first in getattr(topic, "__all__", ())]
    return getattr(places[0], first)


def _listed(answer):
    return [answer] if isinstance(answer, str) else answer


def _argument(use):
    argument, sign, _ = use.partition("=")
    return argument if sign and argument.isidentifier() else None


def test_arguments_that_are_named_exist():
    for name, table in tables()["arguments"].items():
        signature = inspect.signature(_public(name)).parameters if name != "any" else {}
        parameters = {name: given for name, given in signature.items() if given.kind != given.VAR_KEYWORD}
        for theirs, answer in table.items():
            assert theirs not in parameters, f"{name} has {theirs}"
            for use in _listed(answer):
                assert name == "any" or _argument(use) in {None, *parameters}, f"{name}: {use}"


def test_some_function_takes_each_argument_named_for_any():
    topics = [rs, *(getattr(rs, topic) for topic in rs.__all__ if inspect.ismodule(getattr(rs, topic)))]
    places = [*topics, rs.inference.planning]
    public = [getattr(place, name) for place in places for name in getattr(place, "__all__", ())]
    methods = [
        method for kind in filter(inspect.isclass, public) for _, method in inspect.getmembers(kind, inspect.isfunction)
    ]
    functions = [*filter(callable, public), *methods]
    taken = {name for function in functions for name in inspect.signature(function).parameters}
    for answer in tables()["arguments"]["any"].values():
        assert {_argument(use) for use in _listed(answer)} <= {None, *taken}, answer


def _kinds(kind=Result):
    """Return our result classes by name. Other tests define some of their own, which may have the same name."""
    ours = [below for below in kind.__subclasses__() if below.__module__.startswith("rocscope.")]
    return {kind.__name__: kind} | {name: child for below in ours for name, child in _kinds(below).items()}


def test_attributes_that_are_named_exist():
    # Importing what makes results defines their classes. Instances have attributes that their classes lack.
    assert rs.multiclass.multiclass_auc and rs.outcomes.Drift and rs.outcomes.Experiment and rs.net_benefit
    assert rs.evaluation.learning_curve and rs.evaluation.optimism and rs.plan_campaign and rs.inference.planning.Pilot
    kinds = _kinds() | {"Report": rs.Report, "Monitor": rs.decisions.Monitor}
    fitted = rs.estimators.ThresholdClassifier(LogisticRegression()).fit(np.reshape(SCORES, (-1, 1)), Y)
    kinds |= {"ThresholdClassifier": rs.estimators.ThresholdClassifier, "Search": rs.estimators.Search}
    kinds |= {"Parts": Parts, "Pilot": rs.inference.planning.Pilot}
    instances = {"Predictions": PREDICTIONS, "Decision": rs.choose(PREDICTIONS), "RocCurve": rs.roc(PREDICTIONS)}
    instances["ThresholdClassifier"] = fitted
    instances["Search"] = rs.estimators.Search({"a": LogisticRegression()}).fit(np.reshape(SCORES, (-1, 1)), Y)
    instances |= {"Curve": rs.gain(PREDICTIONS), "NetBenefitCurve": rs.net_benefit(PREDICTIONS)}
    instances |= {"GainCurve": rs.gain(PREDICTIONS), "LiftCurve": rs.lift(PREDICTIONS)}
    for name, table in tables()["attributes"].items():
        if name in ("any", "table"):
            continue
        fields = [field for kind in kinds[name].__mro__ for field in vars(kind).get("__annotations__", ())]
        known = {*dir(kinds[name]), *fields, *dir(instances.get(name))}
        for theirs, use in table.items():
            assert theirs not in known, f"{name} has {theirs}"
            for attribute in re.findall(r"^\.(\w+)", use):  # of .difference.low the first part
                assert attribute in known, f"{name}: {use}"


def test_calls_that_are_named_exist():
    listed = [*tables()["attributes"].values(), *tables()["arguments"].values()]
    uses = {use for table in listed for answer in table.values() for use in _listed(answer)}
    assert len(uses) > 300
    for use in uses:
        for path in re.findall(r"\brs\.([A-Za-z_.]+)\(", use):
            assert callable(attrgetter(path)(rs)), use


def test_an_estimate_acts_as_its_number():
    estimate = rs.auc_interval(PREDICTIONS)
    value = estimate.value
    assert [1 * estimate, estimate + 1, 1 - estimate, estimate - 1] == [value, value + 1, 1 - value, value - 1]
    assert [estimate / 2, 2 / estimate, np.float64(2) * estimate] == [value / 2, 2 / value, 2 * value]
    assert sum([estimate, estimate]) == 2 * value
    assert estimate > value - 0.1 and estimate < value + 0.1 and estimate >= value and estimate <= value
    assert max([estimate, value + 1], key=float) == value + 1
    with pytest.raises(TypeError):
        _ = estimate * "2" * 1.5
    assert estimate != value, "an estimate equals its copies, not a number"


THREE = np.array(["a", "b", "c"] * 20)
P = np.random.default_rng(1).dirichlet([1, 1, 1], 60)
OF_CLASSES = {
    "columns": (P, "rs.multiclass.multiclass_auc(y, P)", "rs.multiclass.MulticlassPredictions(y, P).binary('c')"),
    "columns of a model": ({"a": P}, "rs.multiclass.multiclass_auc(y, P)", "binary('c')"),
    "one score": (P[:, 2], "rs.multiclass.vus(y, s)", "np.asarray(y) == 'c'"),
    "whole scores": (np.arange(60), "rs.multiclass.vus(y, s)", "np.asarray(y) == 'c'"),
    "predicted": (THREE[::-1], "rs.multiclass.ConfusionMatrix.from_labels(y, predicted)", "np.asarray(y) == 'c'"),
}


def test_comparisons_are_unpacked_only_into_their_pairs():
    rng = np.random.default_rng(1)
    pair = rs.compare(Y, {"a": SCORES, "b": rng.random(60)})
    (only,) = pair
    assert only is pair[0]
    with pytest.raises(
        TypeError, match=r"contains 1 pair .*; use comparisons\[0\]\.statistic and comparisons\[0\]\.p_val"
    ):
        _statistic, _p = pair
    three = rs.compare(Y, {"a": SCORES, "b": rng.random(60), "c": rng.random(60)})
    first, second, third = three
    assert [first, second, third] == list(three)


@pytest.mark.parametrize("kind", OF_CLASSES)
@pytest.mark.parametrize("call", [rs.auc, rs.roc, rs.Predictions, rs.summary, rs.choose])
def test_several_classes_name_the_call_by_what_is_given(call, kind):
    given, *wanted = OF_CLASSES[kind]
    with pytest.raises(LabelError) as refused:
        call(THREE, given)
    hint = str(refused.value).partition("; ")[2]
    assert all(part in hint for part in wanted), hint
    names = {"rs": rs, "np": np, "y": THREE, "P": given, "s": given, "predicted": given}
    for suggested in re.findall(r"rs\.[\w.]+\(.*?\)(?:\.\w+\(.*?\))?|np\.asarray.*", hint):
        assert eval(suggested, names) is not None


def test_of_four_classes_no_volume_is_named():
    with pytest.raises(LabelError, match=r"; pass one class against the rest: np\.asarray\(y\) == 3$"):
        rs.auc([0, 1, 2, 3], [0.1, 0.2, 0.3, 0.4])
    with pytest.raises(LabelError, match=r"np\.asarray\(y\) == 1$"):
        rs.auc([0, 1, 2, 3], [0.1, 0.2, 0.3, 0.4], pos_label=1)


def test_predictions_of_several_classes_name_their_calls():
    several = rs.multiclass.MulticlassPredictions(THREE, P)
    with pytest.raises(InputError, match=r"rs\.multiclass\.multiclass_auc\(data\), .*: data\.binary\(label\)"):
        rs.auc(several)


def test_three_classes_in_columns_name_the_call():
    with pytest.raises(InputError, match=r"several classes, call rs\.multiclass\.multiclass_auc\(y, probabilities\)"):
        rs.auc(Y, np.ones((60, 3)))


def test_values_are_values_of_an_option_and_options_exist():
    from rocscope.cli.app import COMMANDS, app

    options = {
        name for command in COMMANDS for part in app[command].assemble_argument_collection() for name in part.names
    }
    for theirs, uses in tables()["options"].items():
        for use in uses:
            for option in re.findall(r"--[a-z-]+", use):
                assert option in options, f"{theirs}: {option}"
    assert all(re.search(r"^rocscope |^Python: |^pip |rocscope[.]toml", use) for use in tables()["commands"].values())
    for use in tables()["commands"].values():
        command = re.match("rocscope ([a-z]+) ", use)
        assert not command or command[1] in COMMANDS, use
