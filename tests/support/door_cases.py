"""The table of the door: data in every form, and every public function by what it takes."""

import inspect
import re

import numpy as np
import pytest
from matplotlib.figure import Figure

import rocscope as rs
from rocscope.errors import RocscopeError
from rocscope.multiclass import ConfusionMatrix, CostMatrix, MulticlassPredictions
from rocscope.ranges import BinnedCounts, CountsSketch

RNG = np.random.default_rng(0)
N = 60
Y = RNG.random(N) < 0.4
A = np.round((RNG.random(N) + 0.5 * Y) / 1.5, 2)
B = np.round((RNG.random(N) + 0.3 * Y) / 1.3, 1)
FOLD = np.arange(N) % 5
CRISP = (A >= 0.5).astype(int)

COUNTS = {name: rs.ThresholdCounts.from_scores(Y, score) for name, score in (("a", A), ("b", B))}
MERGED = BinnedCounts.from_counts(COUNTS["a"]).merge(range(0, len(COUNTS["a"]), 4))
OPEN = BinnedCounts(MERGED.low, MERGED.high, MERGED.pos, MERGED.neg)
POINT = COUNTS["a"].at(0.5)
MATRIX = ConfusionMatrix([[POINT.tn, POINT.fp], [POINT.fn, POINT.tp]], rows="actual")
BOTH = rs.Predictions(Y, {"a": A, "b": B}, fold=FOLD)
MULTI = MulticlassPredictions(np.arange(N) % 3, np.full((N, 3), 1 / 3))
CAMPAIGN = rs.Campaign(population=1000, unit_cost=1, unit_benefit=5)


def sketch(score):
    made = CountsSketch()
    made.update(Y, score)
    return made


SAME = {
    "lists": ((Y.astype(int).tolist(), A.tolist()), {}),
    "labels that are named": ((np.where(Y, "yes", "no"), A), {"pos_label": "yes"}),
    "weights of one": ((Y, A), {"sample_weight": np.ones(N, int)}),
    "Predictions of one model": ((rs.Predictions(Y, A),), {}),
    "Predictions of two models": ((rs.Predictions(Y, {"a": A, "b": B}),), {"model": "a"}),
    "ThresholdCounts": ((COUNTS["a"],), {}),
    "exact BinnedCounts": ((BinnedCounts.from_counts(COUNTS["a"]),), {}),
    "exact CountsSketch": ((sketch(A),), {}),
    "a mapping of one": (({"a": COUNTS["a"]},), {}),
    "a mapping of two": (({"a": rs.Predictions(Y, A), "b": COUNTS["b"]},), {"model": "a"}),
}
IN_COLUMNS = {"lists", "labels that are named", "weights of one"}

NONSENSE = {
    "a string": "scores.csv",
    "None": None,
    "a number": 0.5,
    "strings by name": {"a": "scores.csv"},
    "nothing by name": {},
    "several classes": MULTI,
    "a curve": rs.roc(Y, A),
}
COUNTED = {"ThresholdCounts": COUNTS["a"], "BinnedCounts": OPEN, "OperatingPoint": POINT, "counts by name": COUNTS}
REFUSED = re.compile(
    r"^[\w\[\]' ,=–-]+: expected (.*Predictions|.*OperatingPoint|at least one model|two or more|scores as the second |"
    r"rows|a mapping|a curve).*, got .+"
)

inference, calibration, decisions, plotting = rs.inference, rs.calibration, rs.decisions, rs.plotting
evaluation, multiclass, segments = rs.evaluation, rs.multiclass, rs.segments


def total(counts):
    return counts.at(0.5).accuracy


OF_ONE_MODEL = {
    "auc": rs.auc,
    "roc": rs.roc,
    "det": rs.det,
    "gain": rs.gain,
    "lift": rs.lift,
    "lift_chart": rs.lift_chart,
    "precision_recall": rs.precision_recall,
    "cost_curve": rs.cost_curve,
    "net_benefit": rs.net_benefit,
    "profit": lambda *data, **which: rs.profit(*data, campaign=CAMPAIGN, **which),
    "calibration_curve": rs.calibration_curve,
    "auc_interval": rs.auc_interval,
    "curves.brier_curve": rs.curves.brier_curve,
    "inference.mann_whitney": inference.mann_whitney,
    "inference.threshold_table": inference.threshold_table,
    "inference.smooth_roc": inference.smooth_roc,
    "decisions.h_measure": decisions.h_measure,
    "calibration.brier": calibration.brier,
    "calibration.log_loss": calibration.log_loss,
    "calibration.decompose": calibration.decompose,
    "calibration.calibration_error": calibration.calibration_error,
    "calibration.smooth_calibration_error": calibration.smooth_calibration_error,
    "calibration.calibration_index": calibration.calibration_index,
    "calibration.cox_calibration": calibration.cox_calibration,
    "calibration.spiegelhalter_test": calibration.spiegelhalter_test,
    "calibration.hosmer_lemeshow_test": calibration.hosmer_lemeshow_test,
    "calibration.miscalibration_test": lambda *data, **which: calibration.miscalibration_test(*data, draws=9, **which),
    "calibration.calibration_report": lambda *data, **which: calibration.calibration_report(*data, draws=9, **which),
    "calibration.val_prob": calibration.val_prob,
    "calibration.miscalibration_cost": calibration.miscalibration_cost,
}
OF_ONE_OR_SEVERAL = {
    *("roc", "det", "gain", "lift", "lift_chart", "precision_recall", "calibration_curve"),
    *(
        "cost_curve",
        "net_benefit",
        "profit",
        "curves.brier_curve",
        "calibration.miscalibration_cost",
        "inference.smooth_roc",
    ),
}
OF_COUNTED_DATA = {
    "bootstrap": lambda data, **which: rs.bootstrap(data, total, replicates=20, **which),
    "inference.band": lambda data, **which: inference.band(data, metric=rs.metrics.tpr, replicates=20, **which),
    "inference.estimate_of": lambda data, **which: inference.estimate_of(data, inference.statistics.area(), **which),
    "decisions.reweight": lambda data, **which: decisions.reweight(data, 0.3, **which),
}
BESIDE_OTHER_DATA = {
    "expected": lambda data: rs.expected(data, COUNTS["a"].threshold, replicates=2).counts(),
    "drift": lambda data: rs.drift(data, COUNTS["a"], replicates=0),
    "decisions.estimate_prevalence": lambda data: decisions.estimate_prevalence(
        A, method="confusion", labelled=data, threshold=0.5
    ),
}
OF_SEVERAL_MODELS = {
    "hull": rs.hull,
    "summary": lambda *data, **which: [row.estimates["brier"].to_dict() for row in rs.summary(*data, **which)],
    "choose": rs.choose,
    "plan_campaign": lambda *data, **which: rs.plan_campaign(*data, CAMPAIGN, **which),
    "compare": lambda *data, **which: rs.compare(*data, **which).estimates,
    "Report": lambda *data, **which: [model.to_dict() for model in rs.Report(*data, **which).data.models],
    "plotting.plot_roc": lambda data: lines(plotting.plot_roc(data, ax=Figure().subplots())),
    "plotting.plot_lift_chart": lambda data: lines(plotting.plot_lift_chart(data, ax=Figure().subplots())),
    "plotting.plot_calibration": lambda data: lines(plotting.plot_calibration(data, ax=Figure().subplots())),
    "plotting.plot_three": lambda data: lines(*plotting.plot_three(data, figure=Figure()).axes),
}
BESIDE_LABELS = ("hull", "summary", "choose", "plan_campaign", "compare", "Report")
"""Functions of several models that take labels and scores as well."""
OF_ROWS = {
    "inference.compare_curves": lambda data: inference.compare_curves(data, replicates=5),
    "inference.mcnemar": lambda data: inference.mcnemar(data, 0.5),
    "inference.compare_costs": inference.compare_costs,
    "calibration.recalibrate": calibration.recalibrate,
    "decisions.in_money": lambda data: decisions.in_money(data, rs.Context(cost_fn=5)),
    "decisions.compare_row_rule": lambda data: decisions.compare_row_rule(data, rs.Context(cost_fn=5), model="a"),
    "evaluation.optimism": lambda data: evaluation.optimism(data, replicates=5),
    "evaluation.average_curve": evaluation.average_curve,
}
OF_RESULTS_OR_ROWS = {
    "evaluation.compare_folds": evaluation.compare_folds,
    "evaluation.practical_equivalence": lambda data: evaluation.practical_equivalence(data, 0.01),
    "evaluation.compare_datasets": evaluation.compare_datasets,
    "segments.compare_segments": segments.compare_segments,
    "evaluation.friedman": evaluation.friedman,
}
OF_A_POINT = {
    "inference.rate_intervals": inference.rate_intervals,
    "inference.joint_region": inference.joint_region,
    "inference.compare_errors": lambda point: inference.compare_errors(point, POINT),
}
OF_SEVERAL_CLASSES = {
    "multiclass.multiclass_auc": multiclass.multiclass_auc,
    "multiclass.vus": multiclass.vus,
    "multiclass.class_weights": multiclass.class_weights,
    "multiclass.compare_multiclass_auc": multiclass.compare_multiclass_auc,
    "multiclass.compare_multiclass_costs": lambda data: multiclass.compare_multiclass_costs(
        data, CostMatrix.errors(range(3))
    ),
    "multiclass.reject_curve": lambda data: multiclass.reject_curve(data, CostMatrix.errors(range(3))),
    "multiclass.multiclass_brier": multiclass.multiclass_brier,
    "multiclass.multiclass_score": multiclass.multiclass_score,
    "multiclass.multiclass_figure": multiclass.multiclass_figure,
    "multiclass.multiclass_conditions": lambda data: multiclass.multiclass_conditions(data, "accuracy >= 0.5"),
    "multiclass.multiclass_log_loss": multiclass.multiclass_log_loss,
    "multiclass.multiclass_decompose": multiclass.multiclass_decompose,
    "multiclass.multiclass_calibration_error": multiclass.multiclass_calibration_error,
    "multiclass.multiclass_calibration_curves": multiclass.multiclass_calibration_curves,
    "multiclass.recalibrate_classes": multiclass.recalibrate_classes,
    "plotting.plot_class_rocs": plotting.plot_class_rocs,
    "plotting.plot_class_calibrations": plotting.plot_class_calibrations,
    "plotting.plot_simplex": plotting.plot_simplex,
}
TABLES = (
    OF_ONE_MODEL,
    OF_COUNTED_DATA,
    BESIDE_OTHER_DATA,
    OF_SEVERAL_MODELS,
    OF_ROWS,
    OF_RESULTS_OR_ROWS,
    OF_A_POINT,
    OF_SEVERAL_CLASSES,
)
WITHOUT_DATA = {
    *("load_plan", "decisions.load_plan"),  # reads a file
    "scorer",  # of a model that is fitted later
    "explore",  # serves a source, and asks it again and again
    *("monitor", "decisions.monitor"),  # of a decision, whose rows come later
    *(
        f"engines.{name}" for name in ("read", "read_at_horizon", "read_counts", "read_sketch", "describe")
    ),  # make data of a source
    *(f"evaluation.{name}" for name in ("evaluate", "from_estimator", "learning_curve", "bootstrap_632")),  # of models
    "evaluation.nested_cross_validation",
    *(
        f"outcomes.{name}" for name in ("at_horizon", "over_time", "concordance", "from_experiment", "from_verified")
    ),  # make rows of times and treatments
    *("allocate", "decisions.allocate"),  # of groups: rows with segments, or a mapping from group to data
    "decisions.partial_lift_chart",  # some labels are not known: nothing but columns says so
    *(
        "decisions.mixture",
        "decisions.correct_probabilities",
        "decisions.act_by_row",
        "inference.adjust_p_values",
        "inference.pool",
        "multiclass.shift_prior",
    ),
    *("calibration.recalibrator", "calibration.load_recalibrator"),
    *(f"plotting.{name}" for name in ("svg", "plot_curve", "plot_learning_curve", "plot_critical_difference")),
    *(f"plotting.{name}" for name in ("plot_regions", "plot_confusion", "plot_pairwise_auc", "plot_over_time")),
    "plotting.plot_isometrics",
    "plotting.plot_drift",
    *(
        "plotting.plot_uplift",
        "plotting.plot_uplift_parts",
        "plotting.plot_campaign",
        "plotting.plot_segments",
    ),  # draw results
}
WITHOUT_FUNCTIONS_OF_DATA = {"metrics", "errors", "datasets", "sample"}


def lines(*axes):
    return [np.asarray(line.get_xydata(), dtype=float).tolist() for ax in axes for line in ax.get_lines()]


def facts(result):
    """Return what a result says, but not the name of its model."""
    if isinstance(result, dict):
        return {key: facts(value) for key, value in result.items() if key not in ("model", "models", "name")}
    if isinstance(result, list | tuple):
        return [facts(each) for each in result]
    return facts(result.to_dict()) if hasattr(result, "to_dict") else result


def outcome(call, *data, **which):
    """Return what a call says, or how it is refused; any other error is a failure of the test."""
    try:
        return facts(call(*data, **which))
    except RocscopeError as error:
        return f"{type(error).__name__}: {error}"


def assert_alike(found, expected):
    """Compare nested facts, with numbers to 12 digits."""
    assert type(found) is type(expected), (found, expected)
    if isinstance(found, dict):
        assert found.keys() == expected.keys()
        for key, value in found.items():
            assert_alike(value, expected[key])
    elif isinstance(found, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_alike(one, other)
    else:
        assert found == expected or found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


class Gradient:
    """A tensor that remembers its gradient, which refuses to be an array as torch's does."""

    requires_grad, shape, ndim = True, (N,), 1

    def __len__(self):
        return N

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


VALUES = {
    "an object": object(),
    "text": "x",
    "NaN": float("nan"),
    "infinity": float("inf"),
    "below zero": -1,
    "zero": 0,
    "beyond 64 bits": 2**70,
    "2^60": 2**60,
    "nothing listed": [],
    "a mapping of nothing": {},
    "a list of two kinds": ["a", 1],
    "an array": np.array([1.0, 2.0]),
    "a gradient": Gradient(),
    "bytes": b"x",
    "a complex number": 1j,
    "a function": lambda *_, **__: 0,
    "a long text": "x" * 5000,
    "two lines": "a\nb",
}
COLUMNS = {
    "a gradient": Gradient(),
    "beyond 64 bits": [2**70] * N,
    "whole numbers that float64 rounds": [2**53 + 1, 0.5] + [0] * (N - 2),
    "lists of different lengths": [[1], [2, 3]] * (N // 2),
    "a matrix": np.ones((N, 2)),
    "objects": [object()] * N,
    "text": ["x"] * N,
    "NaN": [float("nan")] * N,
    "infinity": [float("inf")] * N,
    "nothing": [],
    "one": [1],
    "a number": 3,
    "a mapping": {"a": 1},
    "a text": "x" * N,
    "complex numbers": [1j] * N,
    "dates": np.array(["2020-01-01"] * N, "M8[D]"),
    "a set": {1, 2},
    "a generator": (i for i in range(N)),
    "long doubles": np.ones(N, "longdouble"),
    "a mask": np.ma.masked_array(np.ones(N), [True] + [False] * (N - 1)),
    "records": np.zeros(N, [("a", "f8")]),
    "the largest numbers": [1e308, -1e308] * (N // 2),
    "2^60": [2**60, 1] * (N // 2),
}
OF_DATA = {"y_true", "y_score", "sample_weight", "data", "proba", "models", "predictions", "curve", "point", "source"}
OF_OTHERS = {"ax", "figure", "progress", "decision"}  # objects of matplotlib and of the user, with methods of their own
OF_LOOKS = {"limits", "thresholds", "legend", "statistics", "columns", "resolution", "max_points", "title", "notes"}
DATA = (
    dict.fromkeys(OF_ONE_MODEL, (Y, A))
    | dict.fromkeys(OF_COUNTED_DATA, (rs.Predictions(Y, A),))
    | dict.fromkeys([*OF_SEVERAL_MODELS, *OF_ROWS], (BOTH,))
    | dict.fromkeys(OF_A_POINT, (POINT,))
    | dict.fromkeys(OF_SEVERAL_CLASSES, (MULTI,))
    | {
        "inference.mcnemar": (BOTH, 0.5),
        "inference.compare_errors": (POINT, POINT),
        "multiclass.compare_multiclass_costs": (MULTI, CostMatrix.errors(range(3))),
    }
)
REQUIRED = {
    "profit": {"campaign": CAMPAIGN},
    "plan_campaign": {"campaigns": CAMPAIGN},
    "bootstrap": {"statistic": rs.auc},
    "inference.estimate_of": {"statistic": rs.inference.statistics.area()},
    "decisions.reweight": {"target_prevalence": 0.3},
    "decisions.in_money": {"context": rs.Context(cost_fn=5)},
    "decisions.compare_row_rule": {"context": rs.Context(cost_fn=5), "model": "a"},
}
FEW = {"replicates": 5, "draws": 5}


def of_columns():
    """Yield what each function of one model is called with: each column, label and name of a model that it may not."""
    for name, call in OF_ONE_MODEL.items():
        for kind, value in COLUMNS.items():
            yield f"{name}: y_true {kind}", call, (value, A), {}
            yield f"{name}: y_score {kind}", call, (Y, value), {}
            yield f"{name}: sample_weight {kind}", call, (Y, A), {"sample_weight": value}
        for kind, value in VALUES.items():
            yield f"{name}: pos_label {kind}", call, (Y, A), {"pos_label": value}
            yield f"{name}: model {kind}", call, (BOTH,), {"model": value}


def of_arguments(functions):
    """Yield the same of each further argument, but for flags: everything is true or false."""
    for name, function in functions.items():
        if name not in DATA:
            continue
        parameters = inspect.signature(function).parameters
        given = REQUIRED.get(name, {}) | {few: number for few, number in FEW.items() if few in parameters}
        for argument, parameter in parameters.items():
            flag = isinstance(parameter.default, bool) or "bool" in str(parameter.annotation)
            named = parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty
            if flag or not named or argument in OF_DATA | OF_OTHERS | OF_LOOKS | {"model", "pos_label"}:
                continue
            for kind, value in VALUES.items():
                yield f"{name}: {argument} {kind}", function, DATA[name], given | {argument: value}
