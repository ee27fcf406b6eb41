"""Repeats are no new data: all inference counts each case once, or refuses several entries of it."""

import inspect
import warnings

import numpy as np
import pytest

import rocscope as rs
from rocscope.core.predictions import independent_units, require_kinds
from rocscope.errors import InputError

CASES, TIMES = 200, 5
RNG = np.random.default_rng(1)
LABEL, CASE = RNG.integers(0, 2, CASES), np.arange(CASES)
CHANCE = {name: 1 / (1 + np.exp(1 - 2 * LABEL - 2 * RNG.normal(size=CASES))) for name in "ab"}
CLASS = RNG.integers(0, 3, 60)
PROBA = {name: RNG.dirichlet([1, 1, 1], 60) + np.eye(3)[CLASS] for name in "ab"}
COST = rs.multiclass.CostMatrix([[0, 1, 2], [1, 0, 1], [3, 1, 0]], classes=[0, 1, 2], rows="actual")


def predictions(times):
    """The same scores of the same cases, in so many repeats of two folds."""
    row, repeat = np.tile(CASE, times), np.repeat(range(times), CASES)
    scores = {name: np.tile(chance, times) for name, chance in CHANCE.items()}
    return rs.Predictions(np.tile(LABEL, times), scores, row=row, repeat=repeat, fold=2 * repeat + row % 2)


def of_classes(times):
    scores = {name: np.tile(proba / 2, (times, 1)) for name, proba in PROBA.items()}
    row, repeat = np.tile(np.arange(60), times), np.repeat(range(times), 60)
    return rs.multiclass.MulticlassPredictions(np.tile(CLASS, times), scores, row=row, repeat=repeat)


def one(preds):
    return preds.select(models=["a"])


def width(estimate):
    return estimate.high - estimate.low


COUNTED_ONCE = {
    "inference.auc_interval": lambda preds: rs.auc_interval(preds, model="a").standard_error,
    "inference.auc_interval, folds": lambda preds: rs.auc_interval(preds, model="a", folds="mean").standard_error,
    "inference.estimate_of": lambda preds: (
        rs.inference.estimate_of(one(preds), rs.inference.statistics.average_precision()).standard_error
    ),
    "inference.compare": lambda preds: rs.compare(preds)["a", "b"].difference.standard_error,
    "inference.compare, replicates": lambda preds: width(
        rs.compare(preds, statistic=rs.auc, replicates=500)["a", "b"].difference
    ),
    "inference.compare_costs": lambda preds: (
        rs.inference.compare_costs(preds, thresholds=0.5)["a", "b"].difference.standard_error
    ),
    "inference.bootstrap": lambda preds: rs.bootstrap(one(preds), rs.auc, replicates=1000).standard_error,
    "inference.bootstrap, anything": lambda preds: (
        rs.bootstrap(one(preds), lambda counts: counts.at(0.5).accuracy, replicates=500).standard_error
    ),
    "inference.band": lambda preds: np.mean(
        width(rs.inference.band(rs.roc(one(preds)), data=one(preds), replicates=500))
    ),
    "evaluation.optimism": lambda preds: width(rs.evaluation.optimism(preds, replicates=500).apparent),
    "evaluation.optimism, held out": lambda preds: width(rs.evaluation.optimism(preds, replicates=20).cross_validated),
    "evaluation.optimism, held out in drawn folds": lambda preds: width(
        rs.evaluation.optimism(
            rs.Predictions(preds.y_true, preds.scores, row=preds.row), replicates=20, repeats=5
        ).cross_validated
    ),
}
REFUSED = {
    "inference.mcnemar": ("McNemar's test", lambda preds: rs.inference.mcnemar(preds, 0.5)),
    "inference.mann_whitney": ("Wilcoxon–Mann–Whitney test", lambda preds: rs.inference.mann_whitney(one(preds))),
    "inference.compare_curves": (
        "the paired permutation test",
        lambda preds: rs.inference.compare_curves(preds, replicates=10),
    ),
    "inference.threshold_table": ("a table of thresholds", lambda preds: rs.inference.threshold_table(one(preds))),
    "calibration.spiegelhalter_test": (
        "Spiegelhalter's test",
        lambda preds: rs.calibration.spiegelhalter_test(one(preds)),
    ),
    "calibration.hosmer_lemeshow_test": (
        "Hosmer–Lemeshow test",
        lambda preds: rs.calibration.hosmer_lemeshow_test(one(preds)),
    ),
    "calibration.miscalibration_test": (
        "the test of calibration",
        lambda preds: rs.calibration.miscalibration_test(one(preds), draws=19),
    ),
    "calibration.cox_calibration": ("Cox calibration", lambda preds: rs.calibration.cox_calibration(one(preds))),
    "calibration.calibration_report": (
        "calibration report",
        lambda preds: rs.calibration.calibration_report(preds, model="a", draws=0),
    ),
    "calibration.recalibrate": ("recalibration", lambda preds: rs.calibration.recalibrate(preds)),
}
REFUSED_OF_CLASSES = {
    "multiclass.multiclass_auc": (
        "multi-class AUC with its interval",
        lambda preds: rs.multiclass.multiclass_auc(preds, model="a"),
    ),
    "multiclass.vus": ("volume under the surface", lambda preds: rs.multiclass.vus(preds, model="a")),
    "multiclass.compare_multiclass_auc": (
        "comparison of multi-class AUCs",
        lambda preds: rs.multiclass.compare_multiclass_auc(preds),
    ),
    "multiclass.compare_multiclass_costs": (
        "comparison of multi-class costs",
        lambda preds: rs.multiclass.compare_multiclass_costs(preds, COST),
    ),
}
NOT_OF_ROWS = {
    "inference.adjust_p_values": "takes p-values",
    "inference.compare_errors": "takes two confusion matrices",
    "inference.joint_region": "takes a confusion matrix",
    "inference.pool": "takes estimates",
    "inference.rate_intervals": "takes a confusion matrix",
    "inference.smooth_roc": "draws a curve",
}


@pytest.mark.parametrize("of", COUNTED_ONCE.values(), ids=COUNTED_ONCE)
def test_several_entries_of_a_case_count_once(of):
    """Five equal repeats say no more than one: the error is that of the cases, not smaller by the root of five."""
    assert of(predictions(TIMES)) == pytest.approx(of(predictions(1)), rel=0.15)


@pytest.mark.parametrize(
    ("what", "of", "preds"),
    [(*each, predictions) for each in REFUSED.values()] + [(*each, of_classes) for each in REFUSED_OF_CLASSES.values()],
    ids=[*REFUSED, *REFUSED_OF_CLASSES],
)
def test_tests_of_independent_rows_refuse_several_entries_of_a_case(what, of, preds):
    with pytest.raises(InputError, match=rf"^{what}: expected one row per case.*by_repeat\(\)\[0\]"):
        of(preds(TIMES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.errors.RocscopeWarning)
        assert of(preds(TIMES).by_repeat()[0]) is not None


@pytest.mark.parametrize("name", [name for name in REFUSED if name.endswith(("_test", "cox_calibration", "whitney"))])
def test_a_mapping_hides_no_repeats(name):
    topic, function = name.split(".")
    with pytest.raises(InputError, match="expected one row per case"):
        getattr(getattr(rs, topic), function)({"a": one(predictions(TIMES))})


def test_the_number_of_cases_is_said():
    assert "200 groups" in rs.auc_interval(predictions(TIMES), model="a").method


def test_all_inference_is_sorted_into_what_counts_and_what_refuses():
    known = {name.partition(",")[0] for name in [*COUNTED_ONCE, *REFUSED, *REFUSED_OF_CLASSES, *NOT_OF_ROWS]}
    public = {name for name in rs.inference.__all__ if inspect.isfunction(getattr(rs.inference, name))}
    assert {f"inference.{name}" for name in public} <= known
    tests = {name for name in rs.calibration.__all__ if name.endswith(("_test", "_report"))}
    assert {f"calibration.{name}" for name in tests} <= known
    assert {f"multiclass.{name}" for name in rs.multiclass.__all__ if name.startswith("compare")} <= known


def test_a_case_is_repeated_where_its_row_is():
    once, many = predictions(1), predictions(2)
    assert (once.repeated, many.repeated) == (False, True)
    assert not rs.Predictions([1, 0], [2, 1]).repeated
    require_kinds("McNemar's test", once, [1, 0])
    with pytest.raises(InputError, match="McNemar's test: expected one row per case, got several rows per case"):
        require_kinds("McNemar's test", many)


def test_units_are_cases_where_they_repeat_and_else_the_groups_given():
    once, many = predictions(1), predictions(2)
    assert independent_units(once, None) is None
    assert np.array_equal(independent_units(many, None), many.row)
    assert np.array_equal(independent_units(many, many.row // 4), many.row // 4)
