"""Counts and points of rows in groups are marked, and intervals of them say that they are not reliable."""

import pickle
import warnings

import numpy as np
import pytest

import rocscope as rs
from rocscope.errors import RocscopeWarning, WeightError
from rocscope.geometry.hull import pool
from rocscope.multiclass import MulticlassPredictions
from rocscope.ranges import BinnedCounts
from rocscope.report.model import calibration_block

N = 120
RNG = np.random.default_rng(5)
Y = RNG.random(N) < 0.5
SCORE = np.round(0.1 + 0.8 * (RNG.random(N) + 0.4 * Y) / 1.4, 2)
TWICE = np.tile(np.arange(N), 2)
DOUBTED = "rows of a group or case are treated as independent"


def doubled(**columns):
    return rs.Predictions(Y[TWICE], SCORE[TWICE], segment=TWICE % 3, **columns)


GROUPED = doubled(groups=TWICE)
INDEPENDENT = doubled()
COUNTS = GROUPED.counts()


def matrix(rows):
    proba = np.column_stack([1 - rows.scores["score"], rows.scores["score"]])
    return MulticlassPredictions(rows.y_true.astype(int), proba, groups=rows.groups).confusion()


MADE = {
    "counts": lambda rows: rows.counts(),
    "counts of cases with repeats": lambda rows: (doubled(row=TWICE) if rows is GROUPED else rows).counts(),
    "some rows": lambda rows: rows.select(rows.y_true | (np.arange(2 * N) % 3 > 0)).counts(),
    "one segment": lambda rows: rows.counts(by="segment")[1],
    "pooled segments": lambda rows: rows.counts(by="segment").select([True, True, False]).pooled(),
    "segments in a mapping": lambda rows: rs.segments.by_segment.segments_of(dict(rows.by_segment()))["score"].pooled(),
    "a sum": lambda rows: INDEPENDENT.counts() + rows.counts(),
    "a pickle": lambda rows: pickle.loads(pickle.dumps(rows.counts())),
    "bins": lambda rows: BinnedCounts.from_counts(rows.counts()).coarsen(9).attained,
    "concatenated bins": lambda rows: BinnedCounts.concatenate([BinnedCounts.from_counts(rows.counts())]),
    "another prevalence": lambda rows: rs.decisions.reweight(rows, 0.2),
    "a curve's counts": lambda rows: rs.roc(rows).counts,
    "a hull": lambda rows: pool(rows.counts()),
    "a point": lambda rows: rows.point(threshold=0.5),
    "a point of counts": lambda rows: rs.ThresholdCounts.from_point(rows.counts().at(0.5)),
    "a point at a prevalence": lambda rows: rows.point(threshold=0.5).at_prevalence(0.2, n=100),
    "a choice": lambda rows: rs.choose(rows).point,
    "a randomized choice": lambda rows: rs.choose(rows, subject_to="depth <= 0.123", randomized=True).point,
    "a campaign": lambda rows: (
        rs.plan_campaign(rows, rs.Campaign(population=77, unit_cost=1, unit_benefit=3)).rule.point
    ),
    "a confusion matrix": lambda rows: matrix(rows).binary(1),
    "a pickled point": lambda rows: pickle.loads(pickle.dumps(rows.point(threshold=0.5))),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_the_mark_is_kept(make):
    assert make(GROUPED).dependent
    assert not make(INDEPENDENT).dependent


def test_it_is_shown():
    assert repr(COUNTS).endswith("dependent rows)")
    assert not rs.Predictions(Y, SCORE, groups=np.arange(N)).counts().dependent


POINT = GROUPED.point(threshold=0.5)
OTHER = INDEPENDENT.counts()
INTERVALS = {
    "rates": lambda: rs.inference.rate_intervals(POINT)["tpr"].reason,
    "rates at a prevalence": lambda: rs.inference.rate_intervals(POINT, target_prevalence=0.2)["npv"].reason,
    "joint region": lambda: rs.inference.joint_region(POINT).tpr.reason,
    "errors": lambda: rs.inference.compare_errors(OTHER.at(0.5), POINT).difference.reason,
    "AUC": lambda: rs.auc_interval(COUNTS).reason,
    "AUC of segments": lambda: rs.auc_interval(GROUPED.counts(by="segment").pooled()).reason,
    "rank test": lambda: rs.inference.mann_whitney(COUNTS).difference.reason,
    "Brier score": lambda: rs.inference.estimate_of(COUNTS, "brier").reason,
    "accuracy of a point": lambda: rs.inference.estimate_of(POINT, rs.inference.statistics.at(1, "error")).reason,
    "AUCs": lambda: rs.compare({"a": OTHER, "b": COUNTS})[0].difference.reason,
    "average precisions": lambda: rs.compare({"a": COUNTS, "b": OTHER}, statistic="brier")[0].difference.reason,
    "bootstrap": lambda: rs.bootstrap(COUNTS, rs.auc, replicates=50).reason,
    "bootstrap of two": lambda: (
        rs.compare({"a": OTHER, "b": COUNTS}, statistic=lambda c: c.at(0.5).accuracy, replicates=50)[
            0
        ].difference.reason
    ),
    "band": lambda: rs.inference.band(rs.roc(COUNTS), replicates=50).note,
    "band of a metric": lambda: rs.inference.band(COUNTS, metric=rs.metrics.tpr, method="wilson").note,
    "Kolmogorov–Smirnov band": lambda: rs.inference.band(rs.roc(COUNTS), method="ks").note,
    "choice": lambda: rs.choose(COUNTS).interval(replicates=50).reason,
    "table": lambda: rs.inference.threshold_table(COUNTS).reason,
    "table of rows": lambda: rs.inference.threshold_table(GROUPED).reason,
    "ICI": lambda: rs.calibration.calibration_report(COUNTS, draws=9)["ici"].reason,
    "calibration band": lambda: rs.calibration_curve(COUNTS, method="pav").confidence_band(simultaneous=True).note,
    "bins": lambda: rs.calibration_curve(COUNTS).interval().note.partition(", ")[2],
    "Spiegelhalter's test": lambda: rs.calibration.spiegelhalter_test(COUNTS).note,
    "CORP test": lambda: rs.calibration.miscalibration_test(COUNTS, draws=9).note,
    "Hosmer–Lemeshow test": lambda: rs.calibration.hosmer_lemeshow_test(COUNTS).note.rpartition(", ")[2],
    "Cox calibration": lambda: rs.calibration.cox_calibration(COUNTS).reason,
    "cost of miscalibration": lambda: rs.calibration.miscalibration_cost(COUNTS).interval(draws=9).reason,
    "prevalence": lambda: (
        rs.decisions.estimate_prevalence(SCORE, method="confusion", labelled=COUNTS, threshold=0.5).reason
    ),
    "prevalence by EM": lambda: rs.decisions.estimate_prevalence(SCORE, method="em", labelled=COUNTS).reason,
}


@pytest.mark.parametrize("reason", INTERVALS.values(), ids=INTERVALS)
def test_intervals_of_marked_counts_say_that_they_are_not_reliable(reason):
    with pytest.warns(RocscopeWarning, match="treats all rows as independent"):
        assert reason() == DOUBTED


def test_curves_and_independent_rows_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RocscopeWarning)
        assert rs.roc(COUNTS).auc == rs.roc(OTHER).auc
        assert rs.calibration_curve(COUNTS, bins=3).y.size == 3
        assert rs.auc_interval(GROUPED).reason == ""
        assert rs.auc_interval(GROUPED, groups=False).reason == ""
        assert rs.auc_interval(OTHER).reason == ""


def test_the_smooth_band_of_a_report_allows_for_groups():
    """Each row twice in groups of two has the band of the rows once; as independent rows, one narrower by √2."""

    def width(rows):
        smooth = calibration_block(rows.counts(), rows=rows)["smooth"]
        return np.mean(np.subtract(smooth["high"], smooth["low"]))

    once = width(rs.Predictions(Y, SCORE))
    assert width(GROUPED) > 0.95 * once
    assert width(INDEPENDENT) < 0.85 * once


ROWS = {"y": [1, 1, 0, 1, 0, 0], "a": [9, 8, 7, 6, 5, 5], "w": [2, 4, 2, 4, 4, 2], "part": [1, 1, 1, 2, 2, 2]}


@pytest.mark.parametrize("weights", ["frequency", "sampling", "money"])
def test_counts_of_weighted_files_say_what_they_are_sums_of(weights):
    columns = {"label": "y", "scores": "a", "weight": "w", "weights": weights}
    rows = rs.read(ROWS, **columns)
    counts = rs.read_counts(ROWS, **columns)["a"]
    by_part = rs.read_counts(ROWS, **columns, segment="part")
    assert counts == rows.counts()
    assert counts.weights == by_part[2].weights == by_part.pooled().weights == weights
    if weights == "frequency":
        assert rs.auc_interval(counts).high == rs.auc_interval(rows).high
    else:
        with pytest.raises(WeightError, match="pass the rows instead: Predictions"):
            rs.auc_interval(counts)
