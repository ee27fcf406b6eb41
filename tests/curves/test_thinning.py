"""Few points instead of many: geometry.simplify, curves.outline and reliability.rug."""

from itertools import pairwise
from math import hypot

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope.calibration.outcomes import rug
from rocscope.curves.curve import cumulative
from rocscope.geometry.hull import pool
from rocscope.geometry.thinning import simplify
from rocscope.plotting import curves as styles
from rocscope.plotting.curves import outline

POLYLINES = st.lists(st.tuples(st.integers(0, 9), st.integers(-5, 5)), min_size=2, max_size=40)
ROWS = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def counts_of(rows):
    return rs.ThresholdCounts.from_scores(*(np.array(column) for column in zip(*rows, strict=True)))


def simulated(n, seed=0):
    random = np.random.default_rng(seed)
    y = random.random(n) < 0.3
    return rs.ThresholdCounts.from_scores(y, random.normal(size=n) + y)


def distance_to_piece(point, start, end):
    """One pair at a time, in plain floats."""
    (px, py), (sx, sy), (ex, ey) = point, start, end
    length = (ex - sx) ** 2 + (ey - sy) ** 2
    share = 0 if length == 0 else ((px - sx) * (ex - sx) + (py - sy) * (ey - sy)) / length
    share = min(1, max(0, share))
    return hypot(px - sx - share * (ex - sx), py - sy - share * (ey - sy))


@given(POLYLINES, st.integers(2, 12), st.sets(st.integers(0, 39), max_size=5))
def test_simplify_keeps_ends_and_wanted_points_and_states_the_true_deviation(points, most, wanted):
    keep = sorted(index for index in wanted if index < len(points))
    x, y = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    kept = simplify(x, y, most=most, keep=keep)
    assert {0, len(points) - 1, *keep} <= set(kept.index.tolist())
    assert len(kept.index) <= max(most, len({0, len(points) - 1, *keep}))
    unit = [((a - min(x)) / (np.ptp(x) or 1), (b - min(y)) / (np.ptp(y) or 1)) for a, b in points]
    worst = max(distance_to_piece(unit[i], unit[a], unit[b]) for a, b in pairwise(kept.index) for i in range(a, b + 1))
    assert kept.deviation == pytest.approx(worst, abs=1e-12)


def test_simplify_keeps_only_the_corners_of_a_staircase_when_there_is_room():
    corners = np.repeat(np.arange(5), 2)
    x, y = corners[1:], corners[:-1]
    fine = np.linspace(0, len(x) - 1, 81)
    kept = simplify(np.interp(fine, np.arange(len(x)), x), np.interp(fine, np.arange(len(x)), y))
    assert len(kept.index) == len(x)
    assert kept.deviation == 0


@pytest.mark.every(5)
@pytest.mark.parametrize("make", [rs.roc, rs.lift_chart, rs.gain, rs.lift, rs.precision_recall])
def test_no_point_of_a_large_curve_is_visibly_off_the_few_that_are_drawn(make):
    curve = make(simulated(60_000))
    line = np.column_stack(outline(curve))
    assert len(line) <= 2_100
    assert (line[0, 0], *line[-1]) == (curve.x[0], curve.x[-1], curve.y[-1])
    size = np.ptp(line, axis=0)
    for i in np.random.default_rng(1).integers(1, curve.x.size, 40):
        point = np.array([curve.x[i], curve.y[i]]) / size
        assert min(distance_to_piece(point, a, b) for a, b in pairwise(line / size)) < 1e-3


def test_the_outline_of_a_large_roc_curve_keeps_the_hull_and_its_area():
    curve = rs.roc(simulated(60_000))
    line = outline(curve)
    hull = curve.hull()
    drawn = set(zip(line.x, line.y, strict=True))
    assert set(zip(hull.x, hull.y, strict=True)) <= drawn
    assert np.trapezoid(line.y, line.x) == pytest.approx(curve.auc, abs=1e-4)


def test_a_huge_statistic_is_thinned_before_its_curve_is_made(monkeypatch):
    monkeypatch.setattr(styles, "_AT_ONCE", 1_000)
    counts = simulated(60_000)
    line = outline(rs.roc(counts))
    hull = rs.roc(counts).hull()
    assert set(zip(hull.x, hull.y, strict=True)) <= set(zip(line.x, line.y, strict=True))
    assert np.trapezoid(line.y, line.x) == pytest.approx(rs.auc(counts), abs=1e-4)


@given(ROWS)
def test_roc_and_lift_chart_are_drawn_through_exactly_their_points(rows):
    for make in (rs.roc, rs.lift_chart, rs.gain):
        curve = make(counts_of(rows))
        assert np.array_equal(np.column_stack(outline(curve)), np.column_stack([curve.x, curve.y]))


@given(ROWS)
def test_precision_and_lift_bend_between_points_as_mixtures_of_thresholds_do(rows):
    counts = counts_of(rows)
    tp, fp = (column.astype(float) for column in cumulative(counts))
    share = np.linspace(0, 1, 9)[1:-1]
    for make, height in (
        (rs.precision_recall, lambda t, f: (t / counts.n_pos, t / (t + f))),
        (rs.lift, lambda t, f: ((t + f) / counts.n, t / counts.n_pos / ((t + f) / counts.n))),
    ):
        line = np.column_stack(outline(make(counts)))
        assert np.isfinite(line).all()
        unit = np.array([1.0, np.ptp(line[:, 1]) or 1.0])
        for i in range(len(tp) - 1):
            mixed = (tp[i] + share * (tp[i + 1] - tp[i]), fp[i] + share * (fp[i + 1] - fp[i]))
            for point in zip(*height(*mixed), strict=True):
                nearest = min(distance_to_piece(point / unit, a / unit, b / unit) for a, b in pairwise(line))
                assert nearest < 5e-3


def test_a_straight_line_between_precision_recall_points_is_not_drawn():
    curve = rs.precision_recall([1] + [0] * 98 + [1], range(100, 0, -1))
    tied = rs.precision_recall([1] + [0] * 98 + [1], [2] + [1] * 99)
    assert np.interp(0.75, *outline(tied)) == pytest.approx(tied.at(0.75), abs=2e-3)
    assert np.interp(0.75, *outline(tied)) < 0.1
    assert outline(curve).y[0] == 1.0


def test_positives_alone_have_a_precision_recall_outline_at_any_size(monkeypatch):
    monkeypatch.setattr(styles, "_AT_ONCE", 10)
    counts = rs.ThresholdCounts(np.arange(100, 0, -1), np.ones(100, int), np.zeros(100, int))
    assert set(outline(rs.precision_recall(counts), most=20).y.tolist()) == {1.0}


def test_gaps_of_a_calibration_plot_stay():
    curve = rs.calibration_curve([0, 1, 0, 1], [0.05, 0.15, 0.55, 0.95])
    assert np.isnan(outline(curve).y).sum() == 6


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=1, max_size=60))
def test_a_rug_counts_every_row_in_its_cell(rows):
    counts = rs.ThresholdCounts.from_scores([label for label, _ in rows], [score / 20 for _, score in rows])
    cells = rug(counts, cells=7)
    for x, pos, neg in zip(*cells, strict=True):
        inside = [label for label, score in rows if min(int(score / 20 * 7), 6) == round(x * 7 - 0.5)]
        assert (pos, neg) == (sum(inside), len(inside) - sum(inside))
    assert cells.pos.sum() + cells.neg.sum() == len(rows)


def test_vertices_of_the_hull_are_found_among_scores_of_every_type():
    for dtype in (np.uint8, np.int64, np.float32, np.float64):
        counts = rs.ThresholdCounts.from_scores([1, 1, 0, 0, 1, 0, 1, 0], np.arange(8, 0, -1).astype(dtype))
        _, vertices = styles._rows(counts)
        assert counts.tp[vertices - 1].tolist() == pool(counts).tp.tolist()
