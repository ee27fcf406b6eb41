"""What functions make of BinnedCounts: exact where the bins tell it, an interval or a refusal where they do not."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from matplotlib.figure import Figure

import rocscope as rs
from binning import binned_samples, bins_of
from model_cases import contexts
from rocscope import Context
from rocscope.errors import InexactCountsError, InfeasibleError, InputError
from rocscope.geometry.hull import pool
from rocscope.ranges import BinnedCounts
from strategies import samples

OPEN = BinnedCounts([0.6, 0.1], [0.9, 0.4], [3, 1], [1, 3])
CURVES = [rs.roc, rs.gain, rs.lift, rs.lift_chart, rs.precision_recall, rs.det]


@st.composite
def with_hull(draw):
    """Draw a Sample and bins at whose ends all vertices of its hull are."""
    sample = draw(samples())
    counts = sample.counts()
    vertices = np.searchsorted(-counts.threshold, -pool(counts).threshold) + 1
    starts = {*vertices.tolist(), *draw(st.sets(st.integers(0, len(counts) - 1)))} - {len(counts)}
    binned = bins_of(sample, starts)
    return sample, BinnedCounts(binned.low, binned.high, binned.pos, binned.neg, holds_hull=True)


@given(binned_samples())
def test_auc_is_exact_or_refused(case):
    sample, binned = case
    if binned.is_exact_area:
        assert rs.auc(binned) == rs.roc(binned).auc == rs.auc(sample.counts())
    else:
        with pytest.raises(InexactCountsError, match="AUC from"):
            rs.auc(binned)
        with pytest.raises(InexactCountsError, match="AUC from"):
            _ = rs.roc(binned).auc


@pytest.mark.every(4)
@pytest.mark.parametrize("function", CURVES)
@given(case=binned_samples())
def test_curves_go_through_known_points(function, case):
    sample, binned = case
    curve, exact = function(binned), function(sample.counts())
    level = np.isin(exact.threshold, [math.inf, *binned.threshold.tolist()])
    np.testing.assert_array_equal(curve.x, exact.x[level])
    np.testing.assert_array_equal(curve.y, exact.y[level])
    assert (curve.envelope() is None) == binned.is_exact


@pytest.mark.parametrize(
    "figure",
    [
        *(lambda f=f: f(OPEN).area() for f in CURVES if f is not rs.lift),
        *(lambda f=f: f(OPEN).at(0.3) for f in CURVES),
        lambda: rs.roc(OPEN).ks,
        lambda: rs.roc(OPEN).gini,
        lambda: rs.roc(OPEN).partial_auc(max_fpr=0.5),
        lambda: rs.roc(OPEN).hull(),
        lambda: rs.roc(OPEN).best(),
        lambda: rs.det(OPEN).equal_error_rate,
        lambda: rs.precision_recall(OPEN).average_precision,
        lambda: rs.lift_chart(OPEN).area("step"),
        lambda: rs.auc(OPEN, ties="lower"),
        lambda: rs.auc(BinnedCounts([1], [2], [1], [1], ([1], [1])), ties="upper"),
        lambda: rs.hull({"a": OPEN}).area(),
        lambda: rs.hull({"a": OPEN}, negate=True),
        lambda: rs.Report(OPEN),
        lambda: rs.plotting.plot_roc({"a": OPEN}),
        lambda: rs.plan_campaign({"a": OPEN}, rs.Campaign(population=10, unit_cost=1, unit_benefit=2)),
        lambda: rs.calibration_curve(OPEN),
        lambda: rs.cost_curve(OPEN),
        lambda: rs.net_benefit(OPEN),
        lambda: rs.decisions.h_measure(OPEN),
        lambda: rs.inference.mann_whitney(rs.roc(OPEN).counts),
        lambda: rs.inference.band(rs.roc(OPEN)),
        lambda: rs.inference.band(rs.roc(OPEN).counts, metric=rs.metrics.precision),
        lambda: rs.bootstrap(rs.roc(OPEN).counts, rs.auc),
        lambda: rs.auc_interval(rs.roc(OPEN).counts),
        lambda: rs.compare({"a": rs.roc(OPEN).counts, "b": rs.roc(OPEN).counts}),
    ],
)
def test_no_chord_is_taken_for_the_curve(figure):
    with pytest.raises(InexactCountsError):
        figure()


def test_rows_beside_bins_are_refused():
    with pytest.raises(InputError, match="expected no y_score together with BinnedCounts, got a list; omit y_score"):
        rs.auc(OPEN, [1, 2])


@given(with_hull(), contexts)
def test_bins_that_hold_the_hull_choose_as_the_rows(case, context):
    sample, binned = case
    counts = sample.counts()
    mine, exact = rs.hull({"a": binned}), rs.hull({"a": counts})
    assert mine.is_exact and mine.vertices == exact.vertices and mine.area() == exact.area()
    assert rs.roc(binned).ks == rs.roc(counts).ks
    decision, best = rs.choose(binned, context), rs.choose(counts, context)
    assert (decision.point, decision.expected_cost) == (best.point, best.expected_cost)
    assert decision.best_cost_interval is None


@given(binned_samples(), contexts)
def test_the_best_cost_lies_within_its_interval(case, context):
    sample, binned = case
    best, decision = rs.choose(sample.counts(), context), rs.choose(binned, context)
    if binned.is_exact:
        assert decision == best
        return
    low, high = decision.best_cost_interval
    assert low - 1e-12 <= best.expected_cost <= high + 1e-12
    assert decision.expected_cost == pytest.approx(high)
    assert context.exact_cost(sample.counts().at(decision.threshold)) == context.exact_cost(decision.point)
    assert any("best cost lies from" in note for note in decision.notes)


@given(binned_samples(), binned_samples())
def test_no_model_is_called_dominated_that_may_not_be(one, other):
    names = {"a": one, "b": other}
    mine = rs.hull({name: binned for name, (_, binned) in names.items()})
    exact = rs.hull({name: sample.counts() for name, (sample, _) in names.items()})
    assert set(exact.contenders) <= set(mine.contenders)
    low, high = mine.area_bounds
    assert low - 1e-12 <= exact.area() <= high + 1e-12


@given(binned_samples(), st.sampled_from(["tpr >= 0.5", "fpr <= 0.3", "cases <= 4"]))
def test_under_constraints_a_known_threshold_is_chosen_that_satisfies_them(case, constraint):
    sample, binned = case
    assume(not binned.is_exact)
    try:
        decision = rs.choose(binned, subject_to=constraint, population=10)
    except InfeasibleError as error:
        assert "ends of score ranges" in str(error)
        return
    best = rs.choose(sample.counts(), subject_to=constraint, population=10)
    low, _ = decision.best_cost_interval
    assert low - 1e-12 <= best.expected_cost <= decision.expected_cost + 1e-12


def test_a_decision_from_bins_comes_back_from_its_file(tmp_path):
    decision = rs.choose(OPEN, Context(cost_fn=3))
    assert decision.best_cost_interval == (0.125, 0.5)
    assert decision.default_point.threshold == 0.5
    within = BinnedCounts([0.3, 0.1], [0.9, 0.2], [3, 1], [1, 3])
    for each in (decision, rs.choose(within, Context(cost_fn=3))):
        path = each.save(tmp_path / "decision.json", force=True)
        assert rs.Decision.load(path) == each
    assert rs.choose(within).default_point.threshold == math.inf


def test_exact_bins_go_wherever_counts_go():
    counts = rs.ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2])
    exact = BinnedCounts.from_counts(counts)
    assert rs.auc(exact, ties="lower") == rs.auc(counts, ties="lower")
    assert rs.decisions.h_measure(exact) == rs.decisions.h_measure(counts)
    assert rs.Report({"a": exact}).data.models[0].ks == rs.roc(counts).ks
    assert rs.roc(exact).hull().auc == rs.roc(counts).hull().auc


def test_exact_area_of_open_bins():
    binned = BinnedCounts([1, 0], [5, 0], [2, 0], [2, 1], wins=([3, 0], [3, 0]))
    assert rs.auc(binned) == rs.roc(binned).auc == 7 / 12
    assert rs.roc(binned).counts.pairs().fraction() == Fraction(7, 12)
    assert rs.lift_chart(binned).area() == (4 + 2 * 6 * 7 / 12) / 10


def test_curves_show_what_is_known():
    assert repr(rs.roc(OPEN)) == "RocCurve(BinnedCounts(n_pos=4, n_neg=4, bins=2, auc from 0.5625 to 0.9375))"
    assert isinstance(rs.roc(OPEN).counts, BinnedCounts)
    assert "area from" in repr(rs.hull({"a": OPEN}))
    assert rs.hull({"a": OPEN}).to_dict()["area_bounds"][0] == 0.75


@pytest.mark.parametrize("function", CURVES)
def test_a_plot_shows_the_envelope(function):
    score = np.arange(5000)[::-1]
    ones = np.ones(5000, np.int64)
    binned = BinnedCounts(2 * score, 2 * score + 1, 3 * ones, 2 * ones)
    ax = function(binned).plot(ax=Figure().subplots())
    (fill,) = ax.collections
    assert fill.get_label() == "guaranteed envelope"
    assert 1000 < len(fill.get_paths()[0].vertices) < 40_000
    assert "guaranteed envelope" in [text.get_text() for text in ax.get_legend().get_texts()]


@given(sample=samples())
def test_a_sketch_goes_wherever_its_bins_go(sample):
    sketch = rs.ranges.CountsSketch()
    sketch.update(sample.y, sample.score)
    bins = sketch.binned()
    assert rs.auc(sketch) == rs.auc(bins)
    np.testing.assert_array_equal(rs.roc(sketch).y, rs.roc(bins).y)
    assert rs.choose({"a": sketch}).to_dict() == rs.choose({"a": bins}).to_dict()
