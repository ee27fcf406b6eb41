"""Figures at a threshold on generated tables: inside their range, never NaN where one is exact, equal at all doors."""

from math import inf, isnan

import numpy as np
import pytest
from scipy import special, stats

import rocscope as rs
from rocscope.core.counts import OperatingPoint
from rocscope.figures.registry import FIGURES
from rocscope.inference import estimate_of, statistics
from rocscope.inference.estimate import normal_quantile, t_quantile
from rocscope.inference.proportions import SHARES, rate_intervals, share_of, wilson_interval

RANGES = dict.fromkeys(("youden", "mcc", "kappa", "markedness"), (-1.0, 1.0))
RANGES |= dict.fromkeys(("lr_positive", "lr_negative", "odds_ratio", "lift"), (0.0, inf))
RANGES |= dict.fromkeys(("f1", "jaccard", "balanced_accuracy"), (0.0, 1.0))


def tables(number, seed):
    """Draw tables of four counts: small and large ones, with empty cells in many."""
    rng = np.random.default_rng(seed)
    largest = np.exp(rng.uniform(0, np.log(2000), (number, 4)))
    return (rng.random((number, 4)) * largest * (rng.random((number, 4)) < 0.85)).astype(int)


def counts_of(tp, fp, fn, tn):
    """Return a ranking of two levels that has this table at the threshold of one half."""
    return rs.ThresholdCounts([0.9, 0.1], [tp, fn], [fp, tn])


def check_table(cells):
    counts, point = counts_of(*cells), OperatingPoint(*cells)
    exact = rate_intervals(point)
    for name in SHARES:
        found = estimate_of(counts, statistics.at(0.5, name))
        assert (found.low, found.high) == pytest.approx((exact[name].low, exact[name].high), abs=1e-12)
        assert found.reliable == exact[name].reliable
        assert 0 <= found.low <= found.high <= 1
        assert isnan(found.value) == (share_of(name, *cells)[1] == 0)
        assert isnan(found.value) or found.low <= found.value <= found.high
    for name, (least, most) in RANGES.items():
        found = estimate_of(counts, statistics.at(0.5, name))
        assert least <= found.low <= found.high <= most, (name, cells, found)
        assert isnan(found.value) or found.low <= found.value <= found.high


def test_tables_are_inside_their_range_and_equal_at_both_doors():
    for cells in tables(60, seed=1).tolist():
        if sum(cells):
            check_table(cells)


@pytest.mark.slow
def test_ten_thousand_tables():
    for cells in tables(10_000, seed=2).tolist():
        if sum(cells):
            check_table(cells)


@pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")
def test_the_summary_has_the_same_rates():
    for cells in [(30, 0, 0, 20), (19, 3, 1, 40), (8, 5, 2, 85)]:
        row = rs.summary(counts_of(*cells), threshold=0.5).rows[0]
        for name in ("tpr", "tnr", "precision", "npv", "accuracy"):
            expected = rate_intervals(OperatingPoint(*cells))[name]
            assert (row[name].low, row[name].high) == pytest.approx((expected.low, expected.high))


def test_every_figure_of_a_threshold_has_an_interval():
    names = [name for name, each in FIGURES.items() if each.needs == "cells" and each.unit != "cases"]
    for name in names:
        found = estimate_of(counts_of(30, 0, 0, 20), statistics.at(0.5, name))
        assert not isnan(found.low), name
        assert found.low <= found.value <= found.high, name


def test_groups_and_weights_are_worth_what_their_variance_says():
    """By its definition: Wilson's interval on the cases that would give the delete-one-group variance, with a t.

    Its degrees of freedom are half of those of as many equal groups.
    """
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(40), 5)
    label = rng.random(200) < 0.5
    called = rng.random(200) < 0.2 + 0.4 * label + 0.3 * rng.random(40)[group]
    preds = rs.Predictions(label, called.astype(float), groups=group)
    found = estimate_of(preds, statistics.at(0.5, "tpr"))
    hits, of = (np.bincount(group, each & label, 40) for each in (called, np.ones(200, bool)))
    share = hits.sum() / of.sum()
    without = (hits.sum() - hits) / (of.sum() - of)
    held = np.count_nonzero(of)
    variance = 40 / 39 * (1 - 1 / held) ** 2 * ((without - share) ** 2).sum()
    worth = min(share * (1 - share) / variance, of.sum())
    assert (found.low, found.high) == pytest.approx(
        wilson_interval(share, worth, t_quantile(normal_quantile(0.95), 39 / 2))
    )
    assert found.standard_error == pytest.approx(variance**0.5)


def test_of_groups_an_odds_ratio_moves_as_it_does_without_each():
    """By its definition: the delete-one-group jackknife on the log scale, less its bias, with a t."""
    rng = np.random.default_rng(4)
    group = rng.choice(20, 400, p=np.arange(1, 21) / 210)
    label = rng.random(400) < 0.4
    called = rng.random(400) < 0.15 + 0.4 * label + 0.3 * rng.random(20)[group]
    found = estimate_of(rs.Predictions(label, called * 1.0, groups=group), statistics.at(0.5, "odds_ratio"))

    def log_odds_ratio(kept):
        tp, fp, fn, tn = (np.sum(kept & a & b) for b in (called, ~called) for a in (label, ~label))
        return np.log(tp * tn / fp / fn)

    whole = log_odds_ratio(group >= 0)
    left = np.array([log_odds_ratio(group != each) for each in range(20)])
    rest = 1 - np.bincount(group) / 400
    moves = whole - left
    error = np.sqrt(19 / 20 * ((moves - np.average(moves, weights=rest)) ** 2).sum())
    assert found.value == pytest.approx(np.exp(whole))
    assert found.standard_error == pytest.approx(error * found.value)
    centre = found.value * (1 + rest @ moves)  # the bias is minus the sum of the moves
    assert np.sqrt(found.low * found.high) == pytest.approx(centre)


def mover(tables, to, back):
    """By its definition, from SciPy's beta law: MOVER of Jeffreys limits of two shares, around half a row more."""
    sides = []
    for x, rest in tables:
        low, high = stats.beta(x + 0.5, rest + 0.5).ppf([0.025, 0.975])
        sides.append([to(each) for each in ((x + 0.5) / (x + rest + 1), low, high)])
    (a, a_low, a_high), (b, b_low, b_high) = sides
    return back(a - b - np.hypot(a - a_low, b_high - b)), back(a - b + np.hypot(a_high - a, b - b_low))


def test_contrasts_of_two_rates_are_put_together_from_both():
    tp, fp, fn, tn = 12, 7, 3, 93
    rates, missed = [(tp, fn), (fp, tn)], [(fn, tp), (tn, fp)]
    expected = {
        "odds_ratio": mover(rates, special.logit, np.exp),
        "lr_positive": mover(rates, np.log, np.exp),
        "lr_negative": mover(missed, np.log, np.exp),
        "youden": mover(rates, float, float),
    }
    expected["balanced_accuracy"] = tuple((1 + end) / 2 for end in expected["youden"])
    for name, ends in expected.items():
        found = estimate_of(counts_of(tp, fp, fn, tn), statistics.at(0.5, name))
        assert (found.low, found.high) == pytest.approx(ends), name


def test_odds_ratios_cover_where_hardly_any_positive_is_missed():
    """All tables of 15 positives, of which 1.5% are missed, and some of 40 negatives."""
    called = stats.binom(40, 0.1)
    truth, covered = 0.985 / 0.015 * 0.9 / 0.1, 0.0
    for tp in range(12, 16):
        for fp in range(11):
            found = estimate_of(counts_of(tp, fp, 15 - tp, 40 - fp), statistics.at(0.5, "odds_ratio"))
            covered += stats.binom(15, 0.985).pmf(tp) * called.pmf(fp) * (found.low <= truth <= found.high)
    assert covered > 0.93


def test_no_error_among_seventy_is_no_certain_difference():
    label = np.arange(140) % 2
    same = rs.Predictions(label, {"a": label + 0.0, "b": label + 0.1 * np.arange(140) / 140})
    paired = rs.compare(same, statistic=statistics.at(0.5, "tpr"))[0].difference
    assert paired.value == 0
    assert -0.06 < paired.low < -0.02 < 0.02 < paired.high < 0.06
    apart = rs.compare(
        {"a": counts_of(70, 1, 0, 70), "b": counts_of(70, 1, 0, 70)}, statistic=statistics.at(0.5, "tpr")
    )
    assert (apart[0].difference.low, apart[0].difference.high) == pytest.approx((-0.052, 0.052), abs=1e-3)
