"""Intervals of rates against SciPy and statsmodels; bands against their definitions."""

import itertools
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats
from statsmodels.stats.proportion import proportion_confint

import rocscope as rs
from inference_cases import cases
from rocscope import metrics
from rocscope.errors import ColumnError, InputError, RocscopeWarning
from rocscope.inference.bands import _simultaneous
from rocscope.inference.proportions import SHARES, proportion_interval, share_of
from rocscope.inference.resampling import Statistic, replicate
from strategies import costly

RNG = np.random.default_rng(8)
LABEL = (np.arange(120) % 3 == 0).astype(int)
SCORE = (LABEL + RNG.normal(size=120)).round(1)
CURVE = rs.roc(LABEL, SCORE)
GRID = np.linspace(0, 1, 21)


@pytest.mark.parametrize(("ours", "theirs"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.8, 0.95, 0.99]))
def test_proportions_agree_with_scipy(ours, theirs, successes, failures, level):
    n = max(successes + failures, 1)
    expected = stats.binomtest(successes, n).proportion_ci(level, method=theirs)
    low, high = proportion_interval(successes, n, method=ours, level=level)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), [("wald", "normal"), ("jeffreys", "jeffreys")])
def test_other_proportions_agree_with_statsmodels(ours, theirs):
    n = 25
    count = np.arange(1, n)
    low, high = proportion_interval(count, n, method=ours)
    np.testing.assert_allclose((low, high), proportion_confint(count, n, method=theirs), rtol=1e-10)


def test_proportions_at_the_edges():
    for method in ("wilson", "clopper-pearson", "jeffreys"):
        low, high = proportion_interval([0, 10, 0], [10, 10, 0], method=method)
        assert low[0] == low[2] == 0
        assert high[1] == high[2] == 1
        assert 0.1 < high[0] < 0.4
        assert low[1] == pytest.approx(1 - high[0])


@given(*[st.integers(0, 9)] * 4)
def test_shares_are_the_metrics(tp, fp, fn, tn):
    for rate in SHARES:
        count, n = share_of(rate, tp, fp, fn, tn)
        expected = metrics.METRICS[rate](tp, fp, fn, tn)
        assert (count / n if n else np.nan) == pytest.approx(expected, nan_ok=True)


def test_rates_of_a_point():
    point = rs.OperatingPoint(tp=30, fp=12, fn=10, tn=148)
    for method in ("wilson", "clopper-pearson", "jeffreys", "wald"):
        rates = rs.inference.rate_intervals(point, method=method, level=0.9)
        assert set(rates) == set(SHARES)
        for rate, found in rates.items():
            low, high = proportion_interval(*share_of(rate, 30, 12, 10, 148), method=method, level=0.9)
            assert (found.value, found.low, found.high) == pytest.approx(
                (getattr(point, rate), float(low), float(high))
            )


def test_a_rate_without_cases_says_nothing():
    found = rs.inference.rate_intervals(rs.OperatingPoint(0, 0, 3, 4))["precision"]
    assert np.isnan(found.value)
    assert (found.low, found.high, found.n) == (0, 1, 0)
    found = rs.inference.rate_intervals(rs.OperatingPoint(0, 0, 3, 4), target_prevalence=0.2)["precision"]
    assert np.isnan(found.value)
    assert 0 < found.low < 0.2 < found.high < 1


def test_predictive_values_at_a_prevalence():
    tp, fp, fn, tn = 30, 12, 10, 148
    rates = rs.inference.rate_intervals(rs.OperatingPoint(tp, fp, fn, tn), target_prevalence=0.05)
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    # Mercaldo et al. (2007), eq. 8 and 10: the delta method on the logit scale.
    ppv = 0.05 * tpr / (0.05 * tpr + 0.95 * fpr)
    npv = 0.95 * (1 - fpr) / (0.95 * (1 - fpr) + 0.05 * (1 - tpr))
    variance_ppv = (1 - tpr) / tpr / (tp + fn) + (1 - fpr) / fpr / (fp + tn)
    variance_npv = tpr / (1 - tpr) / (tp + fn) + fpr / (1 - fpr) / (fp + tn)
    for name, value, variance in (("precision", ppv, variance_ppv), ("npv", npv, variance_npv)):
        ends = special.expit(special.logit(value) + np.array([-1, 1]) * stats.norm.ppf(0.975) * sqrt(variance))
        assert (rates[name].low, rates[name].value, rates[name].high) == pytest.approx((ends[0], value, ends[1]))
    assert "prevalence" not in rates
    shifted = rs.OperatingPoint(tp, fp, fn, tn).at_prevalence(0.05)
    for name in ("accuracy", "error", "depth"):
        assert rates[name].value == pytest.approx(getattr(shifted, name))
        assert rates[name].low < rates[name].value < rates[name].high
    assert rates["error"].low == pytest.approx(1 - rates["accuracy"].high)


def test_an_empty_cell_adds_half_the_squared_quantile_to_each():
    z = stats.norm.ppf(0.975)
    found = rs.inference.rate_intervals(rs.OperatingPoint(tp=10, fp=0, fn=2, tn=20), target_prevalence=0.1)["precision"]
    # Mercaldo et al. (2007), §3.1: z²/2 is added to each of the four cells
    tp, fp, fn, tn = np.array([10, 0, 2, 20]) + z**2 / 2
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    centre = special.logit(0.1 * tpr / (0.1 * tpr + 0.9 * fpr))
    low = special.expit(centre - z * sqrt((1 - tpr) / tp + (1 - fpr) / fp))
    assert (found.low, found.value, found.high) == (pytest.approx(low), 1, 1)


def test_a_perfect_point_is_not_certain_at_another_prevalence():
    rates = rs.inference.rate_intervals(rs.OperatingPoint(10, 0, 0, 20), target_prevalence=0.1)
    for name in ("precision", "npv", "accuracy"):
        assert rates[name].value == rates[name].high == 1
        assert rates[name].low < 0.999
    assert "empty cells" in rates["precision"].method


def test_joint_region_covers_both_rates_exactly():
    n_pos, n_neg, tpr, fpr = 12, 15, 0.7, 0.2
    covered = 0.0
    for tp, fp in itertools.product(range(n_pos + 1), range(n_neg + 1)):
        if (fpr, tpr) in rs.inference.joint_region(rs.OperatingPoint(tp, fp, n_pos - tp, n_neg - fp), level=0.9):
            covered += stats.binom.pmf(tp, n_pos, tpr) * stats.binom.pmf(fp, n_neg, fpr)
    assert 0.9 <= covered < 1


def test_replicates_of_a_band_are_curves_of_resamples():
    found = rs.inference.band(CURVE, grid=GRID, replicates=300, random_state=4)
    statistic = Statistic(lambda counts: rs.roc(counts["score"]).at(GRID), GRID.size)
    from rocscope.inference.resampling import design_of

    drawn = replicate(design_of(CURVE.counts, stratified=False), statistic, 300, random_state=4)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    reach = stats.norm.ppf(0.975) * 0.2 * drawn.std(axis=0).max()
    at = CURVE.at(GRID)
    np.testing.assert_allclose(found.low, np.minimum(low, at - reach).clip(0, 1))
    np.testing.assert_allclose(found.high, np.maximum(high, at + reach).clip(0, 1))
    money = rs.profit(LABEL, SCORE, rs.Campaign(population=1000, unit_benefit=30, unit_cost=5))
    plain = rs.inference.band(money, grid=GRID, replicates=50)
    assert plain.low[0] == plain.high[0] == 0  # nobody contacted, nothing uncertain
    assert "bootstrap" in found.label
    assert "pointwise" in found.label


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.8, 0.9]))
def test_simultaneous_bands_hold_whole_replicates(seed, level):
    drawn = np.random.default_rng(seed).integers(0, 6, (60, 5)).cumsum(axis=1).astype(float)
    low, high = _simultaneous(drawn, drawn.mean(axis=0), level)
    inside = ((drawn >= low - 1e-9) & (drawn <= high + 1e-9)).all(axis=1)
    assert level <= inside.mean() < 1
    assert low + high == pytest.approx(2 * drawn.mean(axis=0))


def test_simultaneous_bands_leave_out_what_is_unknown():
    drawn = np.array([[np.nan, 1.0, 2.0], [np.nan, 2.0, np.nan], [np.nan, 3.0, 4.0]])
    low, high = _simultaneous(drawn, np.array([np.nan, 2.0, 3.0]), 0.9)
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] <= 1 < 3 <= high[1]


def test_simultaneous_bands_are_wider():
    narrow = rs.inference.band(CURVE, grid=GRID[1:-1], replicates=400)
    wide = rs.inference.band(CURVE, grid=GRID[1:-1], replicates=400, simultaneous=True)
    assert (wide.high - wide.low).mean() > 1.2 * (narrow.high - narrow.low).mean()
    assert wide.simultaneous
    assert (wide.low >= 0).all()
    assert (wide.high <= 1).all()
    assert "sup-t" in wide.method
    unbounded = rs.inference.band(rs.lift(LABEL, SCORE), simultaneous=True, replicates=100)
    assert np.nanmax(unbounded.high) > 1


def ks_band_by_points(counts, x, level):
    """Move every point of the curve by both distances and take what a rising curve between them can be."""
    reach_y, reach_x = (stats.kstwo.ppf(sqrt(level), n) for n in (counts.n_pos, counts.n_neg))
    points = [(0.0, 0.0), *zip(counts.fp / counts.n_neg, counts.tp / counts.n_pos, strict=True)]
    low = max([0.0, *(y - reach_y for fpr, y in points if fpr + reach_x <= x)])
    high = min([1.0, *(y + reach_y for fpr, y in points if fpr - reach_x >= x)])
    return low, high


@pytest.mark.slow
@costly  # the critical distances take long
@given(cases(most=30))
def test_ks_band_is_its_definition(case):
    label, scores = case
    curve = rs.roc(label, scores["a"])
    found = rs.inference.band(curve, method="ks", grid=GRID, level=0.6)
    expected = [ks_band_by_points(curve.counts, x, 0.6) for x in GRID]
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), expected, atol=1e-12)
    assert found.simultaneous


@pytest.mark.parametrize(
    "make", [rs.gain, rs.lift, rs.lift_chart, rs.precision_recall, rs.det], ids=lambda f: f.__name__
)
def test_every_curve_of_counts_has_a_band(make):
    curve = make(LABEL, SCORE)
    found = rs.inference.band(curve, replicates=200)
    assert found.x.size == 201
    known = np.isfinite(found.low)
    assert known.sum() > 190
    inside = (found.low <= curve.at(found.x) + 1e-9) & (curve.at(found.x) <= found.high + 1e-9)
    assert inside[known].mean() > 0.9


PROBABILITY = special.expit(SCORE)


@pytest.mark.parametrize(
    "curve",
    [
        rs.profit(LABEL, SCORE, rs.Campaign(population=1000, unit_benefit=30, unit_cost=5)),
        rs.net_benefit(LABEL, PROBABILITY),
        rs.net_benefit(LABEL, PROBABILITY, target_prevalence=0.1, standardized=True),
        rs.cost_curve(LABEL, SCORE),
        rs.curves.brier_curve(LABEL, PROBABILITY),
    ],
    ids=["profit", "net benefit", "standardised", "cost", "Brier"],
)
def test_curves_in_money_and_loss_have_bands(curve):
    grid = np.linspace(0.05, 0.95, 10)
    found = rs.inference.band(curve, grid=grid, replicates=200)
    at = curve.at(grid)
    assert ((found.low <= at) & (at <= found.high)).mean() >= 0.8
    assert (found.high >= found.low).all()
    assert (found.high > found.low).mean() >= 0.9  # where everybody is treated at a target prevalence, nothing varies
    np.testing.assert_allclose(curve.recount(curve.counts).at(grid), at)
    other = rs.ThresholdCounts.from_scores(LABEL[:60], PROBABILITY[:60])
    assert not np.allclose(curve.recount(other).at(grid), at)


def test_recount_makes_the_same_kind_of_curve():
    other = rs.ThresholdCounts.from_scores([1, 0, 1], [3, 2, 1])
    CURVE.auc  # noqa: B018 - fills the cache that must not travel
    twin = CURVE.recount(other)
    assert type(twin) is type(CURVE)
    assert twin.auc == rs.auc(other) != CURVE.auc
    assert twin.y.tolist() == rs.roc(other).y.tolist()


@pytest.mark.parametrize("over", ["threshold", "depth"])
def test_metric_over_thresholds_and_depths(over):
    counts = CURVE.counts
    found = rs.inference.band(counts, metric=metrics.precision, over=over, replicates=200)
    assert (np.diff(found.x) < 0).all() if over == "threshold" else (np.diff(found.x) > 0).all()
    for i in (5, found.x.size // 2, -1):
        value = counts.at(found.x[i]).precision
        if over == "depth":
            value = rs.lift(counts).at(found.x[i]) * counts.prevalence
        assert found.low[i] - 1e-9 <= value <= found.high[i] + 1e-9


def test_infinite_ratios_are_part_of_a_band():
    found = rs.inference.band(CURVE.counts, metric=metrics.lr_positive, grid=[2.2, 0.5], replicates=100)
    assert (found.low < found.high).all()
    assert found.high[0] == np.inf


def test_binomial_band_of_a_metric_is_that_of_each_point():
    counts = CURVE.counts
    found = rs.inference.band(counts, metric=metrics.npv, method="clopper-pearson", grid=[1.05, 0.3])
    for i, threshold in enumerate([1.05, 0.3]):
        expected = rs.inference.rate_intervals(counts.at(threshold), method="clopper-pearson")["npv"]
        assert (found.low[i], found.high[i]) == pytest.approx((expected.low, expected.high))


def test_replicates_without_a_curve_are_counted_and_reported():
    curve = rs.roc([1, 1, 0, 0, 0], [5, 2, 3, 2, 1])
    with pytest.warns(RocscopeWarning, match="of 300 replicates are omitted from the band"):
        found = rs.inference.band(curve, grid=[0.5], replicates=300, recount=rs.roc, simultaneous=True)
    assert 0 <= found.low[0] < found.high[0] <= 1


def test_bands_of_clustered_rows_are_wider():
    preds = rs.Predictions(np.repeat(LABEL, 4), np.repeat(SCORE, 4))
    curve = rs.roc(preds.counts())
    rows = rs.inference.band(curve, grid=[0.3], replicates=400)
    by_group = rs.inference.band(curve, grid=[0.3], data=preds, groups=np.repeat(np.arange(120), 4), replicates=400)
    assert (by_group.high - by_group.low) > 1.4 * (rows.high - rows.low)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rs.inference.band(CURVE, level=95), "0.95"),
        (
            lambda: rs.inference.band(
                CURVE.counts, metric=metrics.lr_positive, grid=[2.2, 1], replicates=100, simultaneous=True
            ),
            "finite values",
        ),
        (lambda: rs.inference.band(CURVE, replicates=0), "replicates"),
        (lambda: rs.inference.band(CURVE, method="wilson"), "'bootstrap' for this curve"),
        (lambda: rs.inference.band(CURVE, method="bands"), "one of"),
        (lambda: rs.inference.band(rs.gain(LABEL, SCORE), method="ks"), "a ROC curve"),
        (lambda: rs.inference.band(LABEL), "made from counts"),
        (lambda: rs.inference.band(LABEL, metric=metrics.tpr), "ThresholdCounts"),
        (lambda: rs.inference.band(CURVE.counts, metric=metrics.tpr, over="score"), "over"),
        (lambda: rs.inference.band(CURVE.counts, metric=metrics.tpr, method="ks"), "method"),
        (lambda: rs.inference.band(CURVE.counts, metric=metrics.kappa, method="wilson"), "tpr, fnr"),
        (lambda: rs.inference.rate_intervals(rs.OperatingPoint(1.5, 1, 1, 1)), "whole"),
        (lambda: rs.inference.rate_intervals(rs.OperatingPoint(1, 1, 1, 1), target_prevalence=5), "share"),
        (lambda: rs.inference.rate_intervals(rs.OperatingPoint(1, 1, 1, 1), method="exact"), "one of"),
        (lambda: rs.inference.joint_region(rs.OperatingPoint(1, 1, 1, 1), level=0), "level"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_of_several_models_one_is_named():
    both = rs.Predictions(LABEL, {"a": SCORE, "b": np.negative(SCORE)})
    with pytest.raises(ColumnError, match="name the model: model='a'"):
        rs.inference.band(CURVE, data=both, replicates=10)
    of_one, alone = (
        rs.inference.band(CURVE, data=data, replicates=10, model="a") for data in (both, both.select(models=["a"]))
    )
    np.testing.assert_array_equal(of_one.low, alone.low)
