"""drift: the bounds hold the distances that rows have, and are those distances where counts are exact."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocscope as rs
from binning import binned_samples, bins_of
from rocscope import ThresholdCounts
from rocscope.errors import InputError, ScoreError
from rocscope.ranges import BinnedCounts, CountsSketch
from sketch_cases import sketch_of, streams
from strategies import costly, samples


def share_above(scores, threshold):
    return Fraction(sum(score >= threshold for score in scores), len(scores))


def distance(one, other):
    """Look at every threshold."""
    return max(abs(share_above(one, t) - share_above(other, t)) for t in {*one, *other})


def split(sample):
    score, y = sample.score.tolist(), sample.y.astype(bool).tolist()
    return score, [s for s, p in zip(score, y, strict=True) if p], [s for s, p in zip(score, y, strict=True) if not p]


def holds(bounds, exact):
    return Fraction(bounds.low) <= exact <= Fraction(bounds.high)


def difference(sample, other):
    return other.counts().pairs().fraction() - sample.counts().pairs().fraction()


@given(samples(), samples())
def test_of_exact_counts_they_are_the_distances(one, other):
    found = rs.inference.drift(one.counts(), other.counts())
    for bounds, mine, theirs in zip((found.ks, found.ks_pos, found.ks_neg), split(one), split(other), strict=True):
        exact = distance(mine, theirs)
        assert holds(bounds, exact) and bounds == pytest.approx((float(exact),) * 2)
    assert holds(found.auc_difference, difference(one, other))
    assert found.prevalence_difference == other.counts().prevalence - one.counts().prevalence


@given(binned_samples(), binned_samples())
def test_of_bins_the_bounds_hold(one, other):
    found = rs.inference.drift(one[1], other[1])
    for bounds, mine, theirs in zip(
        (found.ks, found.ks_pos, found.ks_neg), split(one[0]), split(other[0]), strict=True
    ):
        assert holds(bounds, distance(mine, theirs))
    assert holds(found.auc_difference, difference(one[0], other[0]))


@pytest.mark.slow(reason="long searches")
@costly
@given(streams(most=400), streams(most=400))
def test_of_sketches_the_bounds_hold(one, other):
    (y, score), (other_y, other_score) = one, other
    if score.dtype != other_score.dtype:
        score, other_score = (column.astype(np.float64) for column in (score, other_score))
    found = rs.inference.drift(sketch_of(y, score), sketch_of(other_y, other_score))
    exact = rs.inference.drift(ThresholdCounts.from_scores(y, score), ThresholdCounts.from_scores(other_y, other_score))
    for name in ("ks", "ks_pos", "ks_neg", "auc_difference"):
        wide, narrow = getattr(found, name), getattr(exact, name)
        assert wide.low <= narrow.high and narrow.low <= wide.high


@given(samples(), st.data())
def test_a_sample_may_not_have_drifted_from_itself(sample, data):
    starts = [data.draw(st.sets(st.integers(0, len(sample.counts()) - 1))) for _ in range(2)]
    found = rs.inference.drift(*(bins_of(sample, each) for each in starts))
    assert found.ks.low == 0 and found.auc_difference.low <= 0 <= found.auc_difference.high


def test_counts_beyond_32_bits():
    one = BinnedCounts([2, 1], [2, 1], [2**40, 0], [0, 2**40])
    other = BinnedCounts([2, 1], [2, 1], [0, 2**40], [2**40, 0])
    assert rs.inference.drift(one, other).ks_pos == (1, 1)
    assert rs.inference.drift(one, other).auc_difference == (-1, -1)


def test_a_class_that_is_missing_is_undefined():
    one = ThresholdCounts([2, 1], [1, 1], [0, 0])
    found = rs.inference.drift(one, ThresholdCounts([2, 1], [1, 0], [0, 1]))
    assert (found.ks_neg, found.auc_difference) == (None, None)
    assert "ks_neg undefined" in repr(found)
    assert json.loads(json.dumps(found.to_dict()))["ks_neg"] is None
    assert found._repr_html_().count("<tr>") == 4


def test_what_cannot_be_compared_is_refused():
    counts = ThresholdCounts([2, 1], [1, 1], [0, 1])
    with pytest.raises(ScoreError, match="one type"):
        rs.inference.drift(counts, ThresholdCounts([0.5], [1], [1]))
    with pytest.raises(InputError, match="second"):
        rs.inference.drift(counts, [1, 2])


def test_days_add_up_to_all_rows():
    generator = np.random.default_rng(0)
    days, rows = [], []
    for _ in range(3):
        y = generator.random(1500) < 0.2
        rows.append((y, generator.normal(size=1500) + y))
        days.append(CountsSketch(4e4))
        days[-1].update(*rows[-1])
    whole = days[0]
    for day in days[1:]:
        whole = whole + day
    low, high = whole.binned().auc_bounds
    y, score = (np.concatenate(column) for column in zip(*rows, strict=True))
    assert low <= rs.auc(y, score) <= high < low + 0.01
    today = rs.inference.drift(whole, days[-1])
    assert today.ks.low < 0.04 and today.ks.high - today.ks.low < 0.02
