"""Every public callable with what it usually takes: functions, classes, and the methods of what they return."""

import inspect
import types
from copy import deepcopy
from functools import cache

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from door_cases import BOTH, CAMPAIGN, COUNTS, FOLD, MATRIX, OPEN, POINT, A, B, N, Y, sketch
from rocscope import protocols
from rocscope.multiclass import CostMatrix, MulticlassPredictions

GROUPS = np.arange(N) // 2
SEGMENT = np.where(np.arange(N) % 2, "north", "south")
PARTS = rs.Predictions(Y, {"a": A, "b": B}, fold=FOLD, segment=SEGMENT, groups=GROUPS)
ONE = rs.Predictions(Y, A, segment=SEGMENT)
X = np.column_stack([A, B])
CLASSES = np.arange(N) % 3
PROBA = np.random.default_rng(1).dirichlet(np.ones(3), N)
SEVERAL = MulticlassPredictions(CLASSES, {"a": PROBA, "b": PROBA[:, ::-1]}, fold=FOLD)
COST = CostMatrix.errors(range(3))
TIME, EVENT = np.arange(1, N + 1) / 10, np.arange(N) % 2
TREATED = (np.arange(N) // 2) % 2
FOLDS = {"a": np.linspace(0.6, 0.8, 10), "b": np.linspace(0.65, 0.9, 10)}
CONTEXT = rs.Context(cost_fn=5)

FEW = {"replicates": 5, "draws": 5, "repeats": 1, "browser": False, "progress": False, "cv": 2, "steps": 2}
"""What keeps a call short, where a function takes it."""

# By parameter, of whichever callable; then those of one callable.
USUAL = {
    "y_true": Y,
    "y_score": A,
    "scores": {"a": A, "b": B},
    "predictions": BOTH,
    "models": BOTH,
    "data": BOTH,
    "context": CONTEXT,
    "point": POINT,
    "counts": COUNTS["a"],
    "campaigns": CAMPAIGN,
    "X": X,
    "y": Y,
    "target_prevalence": 0.3,
    "probability": A,
    "time": TIME,
    "event": EVENT,
    "horizon": 3.0,
    "horizons": [2.0, 4.0],
    "proba": PROBA,
    "cost": COST,
    "rope": 0.01,
    "estimator": LogisticRegression(),
    "threshold": 0.5,
    "level": 0.95,
    "cls": 1,
}
PLAN = {"models": rs.Predictions(Y, A)}
OWN = {
    "Campaign": {"population": 1000, "unit_cost": 1, "unit_benefit": 5},
    "OperatingPoint": {"tp": 3, "fp": 1, "fn": 2, "tn": 4},
    "Review": {"cost": 0.1},
    "ThresholdCounts": {"threshold": [2, 1], "pos": [1, 0], "neg": [0, 1]},
    "allocate": {"segments": PARTS.select(models=["a"])},
    "auc": {},
    "bootstrap": {"data": ONE, "statistic": rs.auc},
    "choose": PLAN,
    "hull": {},
    "plan_campaign": {"y_score": None},
    "profit": {"campaign": CAMPAIGN},
    "explore": None,  # serves a page until it is stopped
    "describe": {"source": {"y": Y, "a": A}},
    "read": {"source": {"y": Y, "a": A}, "label": "y", "scores": "a"},
    "read_counts": {"source": {"y": Y, "a": A}, "label": "y", "scores": "a"},
    "read_sketch": {"source": {"y": Y, "a": A}, "label": "y", "scores": "a"},
    "read_at_horizon": {
        "source": {"time": TIME, "event": EVENT, "a": A},
        "time": "time",
        "event": "event",
        "horizon": 3.0,
        "scores": "a",
    },
    "load": {"name": "wdbc"},
    "evaluate": {"models": {"lr": LogisticRegression()}},
    "bootstrap_632": {"models": {"lr": LogisticRegression()}},
    "from_estimator": {"models": {"lr": LogisticRegression().fit(X, Y)}},
    "learning_curve": {"models": {"lr": LogisticRegression()}},
    "nested_cross_validation": {"models": {"lr": LogisticRegression()}},
    "compare_folds": {"scores": FOLDS},
    "practical_equivalence": {"scores": FOLDS},
    "compare_datasets": {"results": FOLDS},
    "friedman": {"results": FOLDS | {"c": np.linspace(0.5, 0.7, 10)}},
    "average_curve": {},
    "optimism": {},
    "monitor": {"what": "auc"},
    "mixture": {"first": rs.hull(BOTH).vertices[0], "second": rs.hull(BOTH).vertices[-1], "depth": 0.3},
    "reweight": {"counts": COUNTS["a"]},
    "drift": {"reference": COUNTS["a"], "current": COUNTS["b"]},
    "estimate_of": {"data": COUNTS["a"], "statistic": "auc"},
    "compare_errors": {"first": POINT, "second": POINT},
    "pool": {"estimates": [rs.auc_interval(Y, A)] * 2},
    "adjust_p_values": {"p_values": [0.1, 0.2]},
    "band": {"curve": rs.roc(Y, A)},
    "correct_probabilities": {"train_prevalence": 0.5},
    "estimate_prevalence": {"y_score": A, "train_prevalence": 0.4},
    "partial_lift_chart": {"y_true": np.where(Y, 1.0, 0.0), "y_score": A},
    "compare_row_rule": {"model": "a"},
    "recalibrator": {"method": "beta"},
    "load_recalibrator": {"path": "no such file"},
    "load_plan": {"path": "no such file"},
    "compare_segments": {"models": PARTS},
    "at_horizon": {},
    "concordance": {},
    "over_time": {},
    "from_experiment": {"response": Y.astype(int), "treated": TREATED},
    "from_verified": {"verified": np.arange(N) % 3 > 0},
    "Curve": {"x": [0, 1], "y": [0, 1], "threshold": [2, 1]},
    "Curves": {"curves": {"a": rs.roc(Y, A)}},
    "Beta": {"a": 2, "b": 3},
    "LogNormal": {"median": 1, "sigma": 0.5},
    "Uniform": {"low": 1, "high": 2},
    "Constraint": {"quantity": "tpr", "relation": ">=", "bound": 0.5},
    "Pilot": None,  # made from rows
    "Pilot.from_predictions": {},
    "StudyPlan": None,
    "ContinuousCalibration": {"chance": lambda x: x, "density": lambda x: 1.0},
    "ConfusionMatrix": {"counts": [[3, 1], [2, 4]], "rows": "actual"},
    "CostMatrix": {"cost": [[0, 1], [2, 0]], "classes": [0, 1], "rows": "actual"},
    "MulticlassPredictions": {"y_true": CLASSES},
    "reject_curve": {},
    "shift_prior": {"train_prior": [0.3, 0.3, 0.4], "target_prior": [0.2, 0.3, 0.5]},
    "vus": {"score": A},
    "BinnedCounts": {"low": [1.0, 3.0][::-1], "high": [2.0, 4.0][::-1], "pos": [1, 2], "neg": [2, 1]},
    "HullClassifier": {"estimators": [("lr", LogisticRegression())]},
    "plot_confusion": {"matrix": MATRIX},
    "plot_critical_difference": {"result": rs.evaluation.friedman(FOLDS | {"c": np.linspace(0.5, 0.7, 10)})},
    "plot_curve": {"curve": rs.roc(Y, A)},
    "plot_learning_curve": None,
    "plot_drift": None,
    "plot_over_time": None,
    "plot_pairwise_auc": {"auc": rs.multiclass.multiclass_auc(SEVERAL, model="a")},
    "plot_regions": {"regions": rs.hull(BOTH)},
    "plot_uplift": None,
    "plot_uplift_parts": None,
    "svg": {"figure": Figure()},
    "auc_power": {"auc": 0.7, "n_pos": 30, "n_neg": 30},
    "auc_sample_size": {"auc": 0.7},
    "auc_variance": {"auc": 0.7},
    "auc_width_sample_size": {"auc": 0.7},
    "comparison_power": {"first": 0.7, "second": 0.8, "n_pos": 30, "n_neg": 30},
    "comparison_sample_size": {"first": 0.7, "second": 0.8},
    "detectable_auc": {"n_pos": 30, "n_neg": 30},
    "rate_sample_size": {"tpr": 0.8, "tnr": 0.9},
    "statistics.fpr_at": {"tpr": 0.5},
    "statistics.tpr_at": {"fpr": 0.5},
    "statistics.gain_at": {"depth": 0.5},
    "statistics.lift_at": {"depth": 0.5},
    "statistics.precision_at": {"depth": 0.5},
    "statistics.partial_area": {"max_fpr": 0.5},
}
MULTICLASS = ("multiclass.", "plotting.plot_class", "plotting.plot_simplex")
METRIC = {"tp": 3, "fp": 1, "fn": 2, "tn": 4}

OF_CHECKED = {
    *("from_checked", "from_ranking", "from_index", "whole", "add_levels", "with_probabilities", "of_rows"),
    *("mass_below", "moment_below", "admits", "closest", "straight", "value", "is_closer", "beyond_doubt", "holds"),
    *("require_levels", "require_both_classes", "require_probabilities", "on_hull"),
    *("exact_cost", "rates_of_exchange", "exact_slope", "shifted", "said", "size", "row_columns"),
}
"""Methods between parts of the library, whose arguments are checked at another door."""


def instances():
    """Return one of each kind of object that users hold, by its class."""
    hull = rs.hull(BOTH)
    decision = rs.choose(BOTH, CONTEXT)
    segments = ONE.counts(by="segment")
    experiment = rs.outcomes.from_experiment(Y.astype(int), TREATED, {"a": A, "b": B})
    made = [
        *(CONTEXT, CAMPAIGN, POINT, PARTS, COUNTS["a"], OPEN, sketch(A), MATRIX, COST, SEVERAL, hull, decision),
        *(segments, experiment, hull.vertices[0], rs.decisions.Review(0.1), rs.plan_campaign(BOTH, CAMPAIGN)),
        *(rs.roc(Y, A), rs.gain(Y, A), rs.lift(Y, A), rs.det(Y, A), rs.precision_recall(Y, A), rs.lift_chart(Y, A)),
        *(rs.cost_curve(Y, A), rs.net_benefit(Y, A), rs.profit(Y, A, CAMPAIGN), rs.calibration_curve(Y, A)),
        *(
            rs.curves.brier_curve(Y, A),
            rs.calibration.miscalibration_cost(Y, A),
            rs.allocate(PARTS.select(models=["a"])),
        ),
        *(rs.monitor(decision), rs.compare(BOTH), rs.auc_interval(Y, A), rs.summary(BOTH, CONTEXT)),
        *(rs.multiclass.class_weights(SEVERAL, model="a"), rs.multiclass.multiclass_auc(SEVERAL, model="a")),
        *(experiment.qini("a"), experiment.by_decile("a"), rs.Report(BOTH), rs.datasets.load("wdbc")),
        *(rs.calibration.calibration_report(Y, A, draws=9), rs.calibration.val_prob(Y, A)),
        *(rs.calibration.recalibrator("beta").fit(A, Y), rs.inference.smooth_roc(Y, A), protocols.Folds(3)),
        *(rs.evaluation.average_curve(PARTS, model="a"), rs.inference.band(rs.roc(Y, A), replicates=5)),
        *(rs.inference.joint_region(POINT), rs.decisions.partial_lift_chart(np.where(Y, 1.0, 0.0), A)),
        *(
            rs.multiclass.reject_curve(SEVERAL, COST, model="a"),
            rs.outcomes.over_time(TIME, EVENT, {"a": A}, [2.0, 4.0]),
        ),
        rs.decisions.UncertainContext(cost_ratio=(1, 5)),
        rs.decisions.Constraint("tpr", ">=", 0.5),
        rs.inference.planning.auc_sample_size(0.7),
        rs.multiclass.recalibrate_classes(SEVERAL, cv=2, method="temperature"),
        rs.estimators.ThresholdClassifier(LogisticRegression(), cv=2).fit(X, Y),
        rs.estimators.HullClassifier([("lr", LogisticRegression())], cv=2).fit(X, Y),
        rs.estimators.ResampledClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, Y),
        rs.estimators.AUCTreeClassifier(max_depth=2).fit(X, Y),
        rs.estimators.SmoothedTreeClassifier(max_depth=2).fit(X, Y),
        rs.estimators.ClassWeightClassifier(LogisticRegression(), cv=2).fit(X, CLASSES),
    ]
    return {type(each).__name__: each for each in made}


OF_METHODS = {
    "scores": A,
    "y_score": A,
    "path": "no such folder/file.json",
    "source": {"score": A},
    "data": Y,
    "size": 10,
    "responders": 2,
    "prevalence": 0.3,
    "sample": 0.3,
    "n": 100,
    "n_pos": 30,
    "n_neg": 30,
    "tpr": 0.5,
    "fpr": 0.5,
    "x": 0.5,
    "cases": 10,
    "amount": 10,
    "unit_cost": 1,
    "unit_benefit": 5,
    "cost_ratio": 2,
    "matrix": [[0, 1], [5, 0]],
    "rows": "actual",
    "positive": "last",
    "most": 3,
    "starts": [0, 2],
    "parts": [OPEN],
    "content": {},
    "text": "tpr >= 0.5",
    "rate": "tpr",
    "name": "north",
    "metric": "f_score",
    "statistic": "accuracy",
    "k": 2,
    "a": 0,
    "b": 1,
    "model": "a",
    "depth": 0.5,
    "mass": 0.5,
    "y_pred": CLASSES,
    "counts": [[3, 1], [2, 4]],
    "benefit": [[1, 0], [0, 1]],
    "other": rs.monitor("auc"),
    "kept": np.array([True, False]),
}


OF_ONE_METHOD = {
    "BinnedCounts.from_counts": {"counts": COUNTS["a"]},
    "CostCurve.recount": {"counts": COUNTS["a"]},
    "NetBenefitCurve.recount": {"counts": COUNTS["a"]},
    "BrierCurve.recount": {"counts": COUNTS["a"]},
    "SmoothRoc.recount": {"counts": COUNTS["a"]},
    "BetaRecalibrator.fit_counts": {"counts": COUNTS["a"]},
    "BetaRecalibrator.fit": {"X": A},
    "BetaRecalibrator.predict": {"X": A},
    "BetaRecalibrator.predict_proba": {"X": A},
    "CountsSketch.from_bytes": {"data": sketch(A).to_bytes()},
    "MulticlassPredictions.confusion": {"model": "a"},
    "MulticlassPredictions.predicted": {"model": "a"},
    "MulticlassPredictions.probabilities": {"model": "a"},
    "MulticlassPredictions.top_k_accuracy": {"model": "a"},
    "Experiment.by_decile": {"model": "a"},
    "Experiment.plan": {"campaign": CAMPAIGN},
    "Experiment.qini": {"model": "a"},
    "Experiment.uplift": {"model": "a"},
    "Experiment.uplift_at": {"k": 0.3, "model": "a"},
    "Hull.add": {"model": "c"},
    "Decision.apply": {"source": {"score": A}, "scores": "score"},
    "Decision.verify": {"data": BOTH},
    "CampaignPlan.verify": {"data": BOTH},
    "RocCurve.partial_auc": {"max_fpr": 0.5},
    "Allocation.predict": {"segment": SEGMENT},
    "Allocation.rows": {"segment": SEGMENT},
    "Allocation.verify": {"data": PARTS},
    "Monitor.from_dict": {"content": rs.monitor("auc").to_dict()},
    "Monitor.update": {"y_score": A},
    "Hull.mixture": {"depth": 0.3},
}


def wanted(function):
    """Return the parameters of a callable that hostile values are passed to."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = inspect.signature(function).parameters
    return {name: each for name, each in found.items() if each.kind not in variadic and name != "self"}


def arguments(name, function, usual):
    """Return what a call needs, by name; None where it is left out."""
    short = name.split(".")[-1]
    own = OWN.get(name, OF_ONE_METHOD.get(name, {}) if name[0].isupper() and "." in name else OWN.get(short, {}))
    if own is None:
        return None
    given = dict(own)
    for argument, parameter in wanted(function).items():
        if argument in given:
            continue
        if argument in FEW:
            given[argument] = FEW[argument]
        elif parameter.default is parameter.empty:
            if argument not in usual:
                return None
            given[argument] = usual[argument]
    return {argument: value for argument, value in given.items() if value is not None}


def _of_topics():
    for topic_name in rs.__all__:
        topic = getattr(rs, topic_name)
        if not isinstance(topic, types.ModuleType):
            yield topic_name, topic
        elif topic_name not in ("errors", "sample", "metrics"):
            for name in topic.__all__:
                yield f"{topic_name}.{name}", getattr(topic, name)
    for topic_name, topic in {"planning": rs.inference.planning, "statistics": rs.inference.statistics}.items():
        for name in topic.__all__:
            yield f"{topic_name}.{name}", getattr(topic, name)
    for name in protocols.__all__:
        yield f"protocols.{name}", getattr(protocols, name)
    for name, each in vars(rs.metrics).items():
        if inspect.isfunction(each) and each.__module__ == rs.metrics.__name__ and not name.startswith("_"):
            yield f"metrics.{name}", each


@cache
def callables():
    """Return every public callable by name, with its usual arguments."""
    found, seen = {}, set()
    for name, each in _of_topics():
        is_made = inspect.isclass(each) and "Parameters\n" in (each.__doc__ or "")
        if not (is_made or inspect.isfunction(each)) or id(each) in seen:
            continue
        seen.add(id(each))
        usual = USUAL | ({"predictions": SEVERAL, "y_true": CLASSES} if name.startswith(MULTICLASS) else {})
        usual |= {"context": CONTEXT} | (METRIC if name.startswith("metrics.") else {})
        if (given := arguments(name, each, usual)) is not None:
            found[name] = each, given
    for cls, instance in instances().items():
        for method in dir(instance):
            static = inspect.getattr_static(instance, method, None)
            made = getattr(static, "__func__", static)
            if method.startswith("_") or method in OF_CHECKED or not inspect.isfunction(made):
                continue
            if not made.__module__.startswith("rocscope") or id(made) in seen:
                continue
            seen.add(id(made))
            usual = USUAL | OF_METHODS | {"y_true": Y}
            if isinstance(instance, MulticlassPredictions | rs.multiclass.CostMatrix | rs.multiclass.ClassWeights):
                usual |= {"matrix": rs.multiclass.ConfusionMatrix(np.eye(3), rows="actual"), "scores": PROBA}
            call = getattr(deepcopy(instance), method)  # what another method, such as fit, changed is not its matter
            if (given := arguments(f"{cls}.{method}", call, usual)) is not None:
                found[f"{cls}.{method}"] = call, given
    return found
