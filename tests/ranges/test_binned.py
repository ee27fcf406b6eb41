"""BinnedCounts: what is said of rows counted in ranges holds for the rows, whatever the ranges."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
import rocscope as rs
from binning import bands_hold, binned_samples, cut
from rocscope.errors import InexactCountsError, InputError, OneClassError, ScoreError, ShapeError, WeightError
from rocscope.ranges.binned import CURVES, BinnedCounts


def exact_auc(sample):
    return oracle.pairs(oracle.rows(sample.y, sample.score)).auc()


@given(binned_samples())
def test_the_bounds_hold_the_exact_area(case):
    sample, binned = case
    low, high = binned.auc_bounds
    assert Fraction(low) <= exact_auc(sample) <= Fraction(high)
    if binned.is_exact_area:
        assert binned.auc_fraction() == exact_auc(sample)


@given(binned_samples())
def test_the_bounds_are_those_of_the_best_and_the_worst_order_in_each_bin(case):
    _, binned = case
    least, most = (counts.pairs().fraction() for counts in (binned.pessimistic(), binned.optimistic()))
    low, high = binned.auc_bounds
    assert (low, high) == pytest.approx((float(least), float(most)), abs=1e-15)
    assert Fraction(low) <= least <= most <= Fraction(high)


@pytest.mark.parametrize("curve", CURVES)
@given(case=binned_samples())
def test_the_envelope_holds_the_exact_curve(curve, case):
    sample, binned = case
    bands_hold(binned.envelope(curve), getattr(rs, curve)(sample.counts()))


@given(binned_samples())
def test_the_ends_of_bins_are_points_of_the_curve(case):
    sample, binned = case
    counts = sample.counts()
    for threshold, tp, fp in zip(binned.threshold.tolist(), binned.tp, binned.fp, strict=True):
        exact = counts.at(threshold)
        assert (exact.tp, exact.fp) == (tp, fp)
        assert binned.at(threshold) == exact
    assert (binned.n, binned.n_pos, binned.prevalence) == (counts.n, counts.n_pos, counts.prevalence)


@given(binned_samples(), st.data())
def test_merging_keeps_the_bounds_of_the_area_and_widens_the_envelope(case, data):
    sample, binned = case
    picked = data.draw(st.sets(st.integers(0, len(binned) - 1)))
    merged = binned.merge(sorted({0, *picked}))
    assert merged.auc_bounds == binned.auc_bounds
    assert len(merged) == len({0, *picked})
    bands_hold(merged.envelope("roc"), rs.roc(sample.counts()))
    assert binned.coarsen(2).auc_bounds == binned.auc_bounds


@given(binned_samples())
def test_one_score_a_bin_is_the_exact_statistic(case):
    sample, binned = case
    counts = sample.counts()
    exact = BinnedCounts.from_counts(counts)
    assert exact.counts() == counts and exact.is_exact_area
    assert BinnedCounts(exact.low, exact.high, exact.pos, exact.neg, exact.wins, holds_hull=True) == exact
    if binned.is_exact:
        assert binned.counts() == counts


@given(binned_samples(), st.data())
def test_parts_concatenate_in_any_order(case, data):
    _, binned = case
    at = data.draw(st.integers(0, len(binned)))
    parts = [cut(binned, rows) for rows in (slice(0, at), slice(at, None)) if binned.low[rows].size]
    assert BinnedCounts.concatenate(parts[::-1]) == binned


def test_known_pairs_of_a_bin_make_the_area_exact():
    binned = BinnedCounts([1, 0], [5, 0], [2, 0], [2, 1], wins=([3, 0], [3, 0]))
    assert binned.is_exact_area and not binned.is_exact
    assert binned.auc_fraction() == Fraction(7, 12)
    assert "auc=0.583333" in repr(binned)


def test_counts_beyond_64_bits_of_pairs():
    huge = 2**40
    binned = BinnedCounts([3, 1], [4, 1], [huge, huge], [huge, 0])
    low, high = binned.auc_bounds
    assert (low, high) == (0.0, 0.5)
    assert binned.merge([0]).auc_bounds == (0.0, 0.5)
    assert binned.wins[1][0] == 2 * huge * huge


def test_what_is_not_known_is_refused_with_what_is():
    binned = BinnedCounts([0.5, 0.1], [0.9, 0.4], [3, 1], [1, 3])
    with pytest.raises(InexactCountsError, match=r"AUC from 0\.5625 to 0\.9375.*envelope"):
        binned.auc_fraction()
    with pytest.raises(InexactCountsError, match="one score in each bin"):
        binned.counts()
    with pytest.raises(InexactCountsError, match=r"from 0\.5 to 0\.9.*0\.5 or inf"):
        binned.at(0.7)
    assert binned.at(0.45) == rs.OperatingPoint(3, 1, 1, 3, threshold=0.45)
    assert binned.at(math.inf).tp == 0


def test_one_class_has_counts_but_no_area():
    binned = BinnedCounts([1], [2], [3], [0])
    assert binned.n == 3
    assert "auc" not in repr(binned)
    for question in (lambda: binned.auc_bounds, binned.envelope):
        with pytest.raises(OneClassError):
            question()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([1, 2], [1, 2], [1, 1], [1, 1]), ScoreError, "decreasing"),
        (([2, 1], [3, 2], [1, 1], [1, 1]), ScoreError, "disjoint"),
        (([2], [1], [1], [1]), ScoreError, "disjoint"),
        (([2, 1], [2], [1, 1], [1, 1]), ShapeError, "high"),
        (([2], [2.0], [1], [1]), ScoreError, "expected scores of the same type"),
        (([np.nan], [np.nan], [1], [1]), ScoreError, "finite"),
        (([1], [1], [1.5], [1]), WeightError, "whole"),
        (([1], [1], [-1], [1]), WeightError, "whole"),
        (([1], [1], [0], [0]), ShapeError, "above 0"),
        (([1], [2], [1], [1], ([0], [3])), WeightError, "within 0 to 2 in bin 0"),
        (([1], [1], [1], [1], ([2], [2])), WeightError, "within 1 to 1 in bin 0"),
        (([1], [2], [1], [1], [0]), ShapeError, "pair of arrays"),
    ],
)
def test_bad_bins_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        BinnedCounts(*arguments)


def test_bad_questions_are_refused():
    binned = BinnedCounts([2, 1], [2, 1], [1, 1], [1, 1])
    with pytest.raises(InputError, match="precision_recall"):
        binned.envelope("precision")
    for starts in ([1], [0, 0], [0, 2]):
        with pytest.raises(InputError, match="increasing"):
            binned.merge(starts)
    with pytest.raises(ShapeError):
        BinnedCounts.concatenate([])
    with pytest.raises(ScoreError, match="disjoint"):
        BinnedCounts.concatenate([binned, binned])


def test_scores_keep_their_type_and_a_heavy_bin_stays_alone():
    n = 3000
    pos = np.ones(n, np.int64)
    pos[700] = 10**6
    score = np.arange(n, 0, -1, dtype=np.float32)
    coarse = BinnedCounts(score, score, pos, pos).coarsen(90)
    assert coarse.low.dtype == np.float32 and len(coarse) <= 90
    assert ((coarse.low == score[700]) & (coarse.high == score[700])).any()
    assert BinnedCounts([0.5], [-0.0 + 0.5], [1], [1]).low.dtype == np.float64


def test_shows_and_gives_itself_as_plain_data():
    binned = BinnedCounts([3, 1], [4, 1], [2**40, 1], [2**40, 1])
    assert json.loads(json.dumps(binned.to_dict()))["wins_high"] == [2**81, 1]
    assert binned._repr_html_().startswith("<code>BinnedCounts(")
    assert not binned.low.flags.writeable
