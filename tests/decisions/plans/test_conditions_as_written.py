"""Conditions as people write them: understood, or refused with the text to write instead."""

import numpy as np
import pytest
from scipy import stats

import rocscope as rs
from rocscope.errors import InfeasibleError, InputError
from rocscope.figures.conditions import Condition

RNG = np.random.default_rng(0)
LABELS = np.arange(1000) < 50
COUNTS = rs.ThresholdCounts.from_scores(LABELS, RNG.normal(LABELS * 1.0))


@pytest.mark.parametrize(
    ("written", "understood"),
    [
        ("tpr => .8", "tpr >= 0.8"),
        ("fpr =< 5%", "fpr <= 0.05"),
        ("tpr >= .8 with 95% confidence", "tpr >= 0.8 at 95%"),
        ("tpr >= .8 at 95% confidence", "tpr >= 0.8 at 95%"),
    ],
)
def test_other_signs_and_words_mean_the_same(written, understood):
    assert [str(condition) for condition in Condition.read(written)] == [understood]


def test_a_comma_stands_for_and_but_not_within_names():
    assert Condition.read("tpr >= .8, fpr <= .5") == Condition.read("tpr >= .8 and fpr <= .5")
    assert [condition.model for condition in Condition.read("auc(a, b) > .6, auc(c) > .5")] == ["a, b", "c"]


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        ("tpr == .8", "'tpr >= .8 and tpr <= .8'"),
        ("cases <= 200 per day", "pass the number of cases in it as population="),
        ("cases <= 1,000", "without commas, such as 1000"),
        ("cases <= 10%", "for a share, write 'depth <= 10%'"),
        ("tp >= 50%", "for a share, write 'tpr >= 50%'"),
    ],
)
def test_what_has_no_meaning_is_refused_with_what_to_write(written, fix):
    with pytest.raises(InputError) as refusal:
        rs.choose(COUNTS, subject_to=written)
    assert fix in str(refusal.value)


def test_no_part_of_a_condition_is_dropped_in_silence():
    with pytest.raises(InputError, match="constraint: expected a text such as"):
        rs.choose(COUNTS, subject_to="tpr >= .2 and whatever")


def test_differences_above_one_and_levels_are_refused_where_segments_share_a_limit():
    segments = {"n": COUNTS, "s": COUNTS}
    with pytest.raises(InputError, match=r"max_difference of tpr: expected a difference .* write 0\.05 for 5%"):
        rs.allocate(segments, max_difference={"tpr": 5})
    with pytest.raises(InputError) as refusal:
        rs.allocate(segments, subject_to="tpr >= .8 at 95%")
    assert "subject_to: expected bounds without a level" in str(refusal.value)
    assert "randomized" not in str(refusal.value)


def test_amounts_that_are_missing_are_named_by_row_and_truth_values_are_no_amounts():
    amounts = np.full(1000, 5.0)
    amounts[[3, 7]] = np.nan
    with pytest.raises(InputError, match=r"got nan in row 3 .2 of 1,000 numbers are not finite"):
        rs.Predictions(LABELS, RNG.normal(size=1000), columns={"amount": amounts})
    with pytest.raises(InputError, match="cost_fn: expected a finite number"):
        rs.Context(cost_fn=True)


# Limits on the number of cases of the next list.


def test_a_limit_on_the_next_list_is_that_of_a_beta_binomial_number():
    # The deepest threshold whose k of 1,000 cases are at most the (1 − 5%) bound of BetaBinomial(1000, 201, 2800).
    decision = rs.choose(COUNTS, rs.Context(cost_fp=-1), subject_to="cases <= 200 at 95%", population=3000)
    chance = stats.betabinom(1000, 201, 2800).cdf
    depth = decision.point.tp + decision.point.fp
    assert chance(depth) <= 0.05 < chance(depth + 1)
    few = rs.choose(COUNTS, rs.Context(cost_fn=-1), subject_to="cases >= 100 at 95%", population=3000)
    # At least 100 of 3,000 are at most 2,900 others.
    others = few.point.fn + few.point.tn
    chance = stats.betabinom(1000, 2901, 100).cdf
    assert chance(others) <= 0.05 < chance(others + 1)


def test_a_level_on_depth_is_the_limit_of_clopper_and_pearson():
    decision = rs.choose(COUNTS, rs.Context(cost_fp=-1), subject_to="depth <= 20% at 95%")
    depth = int(decision.point.tp + decision.point.fp)
    assert stats.beta.ppf(0.95, depth + 1, 1000 - depth) <= 0.2 < stats.beta.ppf(0.95, depth + 2, 999 - depth)


def test_limits_on_the_next_list_need_cases_like_those_of_the_sample():
    with pytest.raises(InputError, match="got target_prevalence="):
        rs.choose(COUNTS, rs.Context(0.1), subject_to="cases <= 200 at 95%", population=3000)
    with pytest.raises(InfeasibleError, match="the lowest expected number of cases is"):
        rs.choose(COUNTS, rs.Context(cost_fn=1000), subject_to=["cases <= 5 at 95%", "tpr >= .9"], population=3000)


@pytest.mark.parametrize("repeats", [80, pytest.param(3000, marks=pytest.mark.slow)])
def test_the_next_list_keeps_its_limit_as_often_as_promised(repeats):
    rng = np.random.default_rng(4)
    kept, expected_kept = 0, 0
    for _ in range(repeats):
        labels = rng.random(500) < 0.01
        labels[0] = True
        counts = rs.ThresholdCounts.from_scores(labels, rng.normal(labels * 1.0))
        decision = rs.choose(counts, rs.Context(cost_fp=-1), subject_to="cases <= 200 at 95%", population=2000)
        unlimited = rs.choose(counts, rs.Context(cost_fp=-1), subject_to="cases <= 200", population=2000)
        coming = rng.normal((rng.random(2000) < 0.01) * 1.0)
        kept += (coming >= decision.threshold).sum() <= 200
        expected_kept += (coming >= unlimited.threshold).sum() <= 200
    # 95% or more; a bound on the expected number alone is kept by about half of the lists.
    assert kept / repeats > 0.95 - 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert expected_kept / repeats < 0.8
