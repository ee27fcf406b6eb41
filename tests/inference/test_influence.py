"""Closed-form variances of smooth statistics against the bootstrap, and values against their own functions."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from sklearn import metrics as sk

import rocscope as rs
from rocscope.inference import statistics as smooth
from rocscope.inference.estimate import normal_quantile, t_quantile
from rocscope.inference.influence_estimates import values_of_rows
from rocscope.inference.proportions import wilson_interval

CONTEXT = rs.Context(cost_fp=1, cost_fn=4)
AT_A_THRESHOLD = ["tpr", "fpr", "precision", "npv", "accuracy", "balanced_accuracy", "f_score", "mcc", "kappa", "lift"]
STATISTICS = [
    smooth.area(),
    smooth.partial_area(max_fpr=0.1),
    smooth.partial_area(max_fpr=0.3),
    smooth.partial_area(max_fpr=0.2, standardized=True),
    smooth.partial_area(min_tpr=0.8),
    smooth.tpr_at(0.1),
    smooth.tpr_at(0.3),
    smooth.fpr_at(0.8),
    smooth.gain_at(0.2),
    smooth.lift_at(0.3),
    smooth.precision_at(0.2),
    smooth.average_precision(),
    *(
        smooth.at(0.5, name)
        for name in (
            "tpr",
            "fpr",
            "precision",
            "npv",
            "accuracy",
            "balanced_accuracy",
            "f_score",
            "mcc",
            "kappa",
            "lift",
        )
    ),
    smooth.cost_at(0.2, CONTEXT),
    smooth.cost_at(0.2, rs.Context(cost_fp=1, cost_fn=4, target_prevalence=0.1)),
    smooth.net_benefit_at(0.2),
    smooth.brier(),
    smooth.scaled_brier(),
    smooth.log_loss(),
    smooth.excess_events(),
    smooth.observed_to_expected(),
    smooth.discrimination_slope(),
    smooth.calibration_slope(),
    smooth.calibration_intercept(),
]


def draw(seed=0, n=6000, groups=1200, folds=3):
    """Rows in groups that share some of their scores, with weights and folds; some probabilities tie."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % groups
    label = rng.random(n) < 0.35
    logit = 1.1 * (2 * label - 1) + 0.7 * rng.normal(size=groups)[group] + rng.normal(size=n) - 0.5
    score = np.round(1 / (1 + np.exp(-logit)), 3).clip(0.001, 0.999)
    weight = rng.choice([0.5, 1.0, 2.5], size=n)
    return label, score, group, weight, group % folds


def design(kind):
    label, score, group, weight, fold = draw()
    if kind == "weights":
        return rs.Predictions(label, score, sample_weight=weight), {}
    if kind == "folds":
        return rs.Predictions(label, score, fold=fold), {"folds": "mean"}
    return rs.Predictions(label, score), {"groups": group} if kind == "groups" else {}


def counts_of(label, score, weight):
    kept = weight > 0
    return rs.ThresholdCounts.from_scores(label[kept], score[kept], sample_weight=weight[kept])


def replicates(kind, many):
    """Return each statistic of each replicate: of rows, weighted rows, groups, or the mean of folds."""
    label, score, group, weight, fold = draw()
    rng = np.random.default_rng(2)
    found = np.empty((many, len(STATISTICS)))
    parts = [np.flatnonzero(fold == f) for f in range(3)] if kind == "folds" else [np.arange(label.size)]
    for r in range(many):
        if kind == "groups":
            times = np.bincount(rng.integers(0, 1200, 1200), minlength=1200)[group].astype(float)
        else:
            times = np.zeros(label.size)
            for rows in parts:
                times[rows] = np.bincount(rng.integers(0, rows.size, rows.size), minlength=rows.size)
        if kind == "weights":
            times = times * weight
        each = [counts_of(label[rows], score[rows], times[rows]) for rows in parts]
        found[r] = [np.mean([statistic(counts) for counts in each]) for statistic in STATISTICS]
    return found


def check_against_the_bootstrap(kind, many, most, median):
    preds, options = design(kind)
    options = {"groups": None, "folds": None} | options
    errors = np.array([np.sqrt(values_of_rows(preds, each, **options).covariance[0, 0]) for each in STATISTICS])
    spread = replicates(kind, many).std(axis=0, ddof=1)
    off = abs(errors / spread - 1)
    worst = STATISTICS[int(off.argmax())].name
    print(f"{kind}: off by {100 * np.median(off):.1f}%, at most {100 * off.max():.1f}% ({worst})")
    assert off.max() <= most, dict(zip([each.name for each in STATISTICS], off.round(3), strict=True))
    assert np.median(off) <= median


@pytest.mark.every(4)
@pytest.mark.parametrize("kind", ["plain", "weights", "groups", "folds"])
def test_standard_errors_are_those_of_the_bootstrap(kind):
    check_against_the_bootstrap(kind, 100, 0.3, 0.15)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "weights", "groups", "folds"])
def test_standard_errors_are_those_of_the_bootstrap_in_full(kind):
    check_against_the_bootstrap(kind, 2000, 0.05, 0.015)


def test_there_are_thirty_statistics():
    assert len(STATISTICS) >= 30
    assert len({each.name for each in STATISTICS}) >= 30


def test_values_are_those_of_their_own_functions():
    label, score, *_ = draw()
    counts = rs.ThresholdCounts.from_scores(label, score)
    curve, point = rs.roc(counts), counts.at(0.5)
    expected = [
        curve.auc,
        curve.partial_auc(max_fpr=0.1),
        curve.partial_auc(max_fpr=0.3),
        curve.partial_auc(max_fpr=0.2, standardized=True),
        curve.partial_auc(min_tpr=0.8),
        float(curve.at(0.1)),
        float(curve.at(0.3)),
        float(np.interp(0.8, curve.y, curve.x)),
        float(rs.gain(counts).at(0.2)),
        float(rs.gain(counts).at(0.3)) / 0.3,
        float(rs.gain(counts).at(0.2)) * counts.prevalence / 0.2,
        sk.average_precision_score(label, score),
        point.tpr,
        point.fpr,
        point.precision,
        point.npv,
        point.accuracy,
        point.balanced_accuracy,
        point.f_score(),
        point.mcc,
        point.kappa,
        point.lift,
        CONTEXT.cost(counts.at(0.2)) / counts.n,
    ]
    found = [statistic(counts) for statistic in STATISTICS[: len(expected)]]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    by_name = {statistic.name: statistic(counts) for statistic in STATISTICS}
    assert by_name["Brier score"] == pytest.approx(sk.brier_score_loss(label, score))
    assert by_name["log loss"] == pytest.approx(sk.log_loss(label, score))
    cox = rs.calibration.cox_calibration(label, score)
    assert by_name["calibration slope"] == pytest.approx(cox.slope)
    assert by_name["calibration intercept"] == pytest.approx(cox.intercept)


def test_influence_of_the_area_is_that_of_delong():
    label, score, group, *_ = draw()
    preds = rs.Predictions(label, {"a": score, "b": score + 0.1 * label + 0.01 * group})
    ours = values_of_rows(preds, smooth.area(), groups=None, folds=None)
    np.testing.assert_allclose(ours.covariance, rs.compare(preds, method="delong").covariance, rtol=2e-3)


def test_the_area_is_compared_by_one_test_however_it_is_given():
    label, score, group, *_ = draw()
    preds = rs.Predictions(label, {"a": score, "b": score + 0.1 * label + 0.01 * group})
    for options in ({}, {"groups": group}):
        expected = rs.compare(preds, **options)[0]
        assert rs.compare(preds, statistic=smooth.area(), **options)[0] == expected
        assert rs.compare(preds, statistic="auc", **options)[0] == expected


def test_the_name_of_a_statistic_does_not_decide_its_interval():
    label, score, *_ = draw(n=200)
    preds = rs.Predictions(label, score)
    for statistic, name in ((smooth.brier(), smooth.area().name), (smooth.area(), "c")):
        renamed = rs.inference.estimate_of(preds, replace(statistic, name=name))
        assert renamed == rs.inference.estimate_of(preds, statistic)
    assert rs.inference.estimate_of(preds, replace(smooth.area(), name="c")) == rs.inference.auc_interval(preds)


def test_partial_areas_are_compared_without_a_bootstrap():
    label, score, *_ = draw()
    rng = np.random.default_rng(3)
    preds = rs.Predictions(label, {"a": score, "b": score + 0.3 * rng.normal(size=score.size), "c": 2 * score})
    part = smooth.partial_area(max_fpr=0.2)
    closed = rs.compare(preds, statistic=part, adjust="max-t")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = rs.compare(preds, statistic=lambda c: rs.roc(c).partial_auc(max_fpr=0.2), replicates=400)
    assert closed["a", "b"].difference.value == pytest.approx(drawn["a", "b"].difference.value)
    assert closed["a", "b"].difference.standard_error == pytest.approx(
        drawn["a", "b"].difference.standard_error, rel=0.12
    )
    assert closed["a", "c"].difference.to_dict() | {"method": ""} == closed["a", "c"].difference.to_dict() | {
        "method": ""
    }
    twin = closed["a", "c"].difference
    assert (twin.value, twin.low) == (0, -twin.high)
    assert "influence" in closed["a", "b"].method


@pytest.mark.parametrize("levels", [0, 6])
@pytest.mark.parametrize("options", [{"max_fpr": 0.23}, {"min_tpr": 0.77}, {"max_fpr": 0.9}], ids=str)
def test_rows_move_partial_areas_as_without_them(levels, options):
    """Also where the end of the part lies in a tie, or on the row that is left out."""
    label, score, *_ = draw()
    label, score = label[:60], score[:60]
    score = np.floor(levels * np.argsort(np.argsort(score)) / 60) if levels else score
    part, rows = smooth.partial_area(**options), np.arange(60)
    counts = rs.ThresholdCounts.from_scores(label, score)
    linear = part.linearise(counts)
    size = np.where(label, counts.n_pos, counts.n_neg)
    without = [part(rs.ThresholdCounts.from_scores(label[rows != i], score[rows != i])) for i in rows]
    moved = (linear.value - np.array(without)) * (size - 1) / size * 60
    level = np.searchsorted(-counts.threshold, -score)
    assert np.where(label, linear.of_pos[level], linear.of_neg[level]) == pytest.approx(moved - moved.mean())
    assert linear.bias / 60 == pytest.approx(-moved.mean())


def test_counts_and_rows_agree():
    label, score, *_ = draw()
    preds = rs.Predictions(label, score)
    for statistic in (smooth.brier(), smooth.partial_area(max_fpr=0.1), smooth.at(0.5, "f_score")):
        rows, counts = (rs.inference.estimate_of(data, statistic) for data in (preds, preds.counts()))
        assert (rows.value, rows.low, rows.high) == pytest.approx((counts.value, counts.low, counts.high))


def test_few_rows_are_said_to_be_few():
    found = rs.inference.estimate_of(rs.Predictions([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.4]), smooth.brier())
    assert not found.reliable
    assert "rows determine" in found.reason


def test_average_precision_is_corrected_for_its_bias():
    """By leaving out each row: (n − 1)·(mean without a row − value)."""
    rng = np.random.default_rng(2)
    label = np.arange(300) < 20
    score = rng.normal(size=300) + label
    counts = rs.ThresholdCounts.from_scores(label, score)
    statistic = smooth.average_precision()
    rows = np.arange(300)
    without = [sk.average_precision_score(label[rows != i], score[rows != i]) for i in rows]
    bias = statistic.linearise(counts).bias / 300
    assert bias == pytest.approx(299 * (np.mean(without) - statistic(counts)), rel=0.25)
    found = rs.inference.estimate_of(counts, statistic)
    middle = np.mean(special.logit([found.low, found.high]))
    assert special.expit(middle) == pytest.approx(found.value - bias)


def test_rates_at_a_rate_are_shares_of_as_many_rows_as_their_variance_says():
    label, score, *_ = draw()
    counts = rs.ThresholdCounts.from_scores(label, score)
    for statistic in (smooth.tpr_at(0.1), smooth.fpr_at(0.8)):
        found = rs.inference.estimate_of(counts, statistic)
        assert found.method == "Wilson"
        variance = found.value * (1 - found.value) / found.standard_error**2
        low, high = wilson_interval(found.value, variance, t_quantile(normal_quantile(0.95), 1e9))
        assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)
        assert found.low <= low < high <= found.high
    perfect = rs.inference.estimate_of(rs.ThresholdCounts([2, 1], [30, 0], [0, 90]), smooth.tpr_at(0.1))
    assert 0.8 < perfect.low < perfect.high == perfect.value == 1


def test_partial_areas_say_where_badly_ranked_rows_may_be_missing():
    label = np.arange(315) < 15
    for top, sure in ((298, False), (100, True)):
        score = np.concatenate([np.linspace(top, 305, 15), np.arange(300)])
        found = rs.inference.estimate_of(rs.ThresholdCounts.from_scores(label, score), smooth.partial_area(max_fpr=0.1))
        assert found.reliable == sure, found
        assert sure or "that the model ranks last" in found.reason


def test_a_rate_at_a_kink_of_the_curve_reaches_as_far_as_the_curve():
    """All positives are above nine tenths of the negatives, so that the tpr falls on one side of an fpr of .1 alone."""
    neg, pos = np.linspace(0, 1, 200), np.linspace(0.9, 1, 150)
    counts = rs.ThresholdCounts.from_scores(np.arange(350) < 150, np.concatenate([pos, neg]))
    found = rs.inference.estimate_of(counts, smooth.tpr_at(0.0925))
    fpr, tpr = counts.fp / 200, counts.tp / 150
    away = 1.65 * np.sqrt(0.0925 * 0.9075 / 200)
    assert found.high >= np.interp(0.0925 + away, fpr, tpr) == 1
    assert found.low <= np.interp(0.0925 - away, fpr, tpr)
    turned = rs.ThresholdCounts.from_scores(np.arange(350) >= 150, -np.concatenate([pos, neg]))
    mirrored = rs.inference.estimate_of(turned, smooth.fpr_at(0.9075))
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high))


def test_a_lift_has_the_interval_of_its_gain():
    label, score, *_ = draw()
    counts = rs.ThresholdCounts.from_scores(label, score)
    gain, lift = (rs.inference.estimate_of(counts, of(0.2)) for of in (smooth.gain_at, smooth.lift_at))
    assert (lift.value, lift.low, lift.high) == pytest.approx((gain.value / 0.2, gain.low / 0.2, gain.high / 0.2))
    assert lift.standard_error == pytest.approx(gain.standard_error / 0.2)
    best = rs.inference.estimate_of(rs.ThresholdCounts([2, 1], [15, 0], [0, 3000]), smooth.lift_at(0.1))
    assert 7 < best.low < best.high == best.value == pytest.approx(10)


@pytest.mark.parametrize("statistic", [smooth.partial_area(max_fpr=0.2), smooth.average_precision()])
def test_means_of_pairs_move_as_they_do_without_each_group(statistic):
    """By its definition: CR3 on the logit scale, and an interval about the value less the bias, widened by it."""
    rng = np.random.default_rng(7)
    group = rng.choice(24, 400, p=np.arange(5, 29) / 396)
    label = rng.random(400) < 0.3
    score = label + rng.normal(size=24)[group] + rng.normal(size=400)
    found = rs.inference.estimate_of(rs.Predictions(label, score, groups=group), statistic)
    scale = statistic.scale
    whole, left = (
        np.array([scale.to(statistic(rs.ThresholdCounts.from_scores(label[kept], score[kept]))) for kept in each])
        for each in ([group >= 0], [group != held for held in range(24)])
    )
    rest, moves = 1 - np.bincount(group) / 400, whole - left
    error = np.sqrt(23 / 24 * ((moves - np.average(moves, weights=rest)) ** 2).sum())
    assert found.standard_error == pytest.approx(error / scale.slope(found.value))
    centre = (scale.to(found.low) + scale.to(found.high)) / 2
    slope = scale.slope(found.value)
    assert centre == pytest.approx(scale.to(found.value + rest @ moves / slope))


def test_no_calibration_slope_where_a_certain_prediction_was_wrong():
    probability = np.repeat([0.5, 0.2, 1.0, 0.5, 0.2], [20, 5, 5, 10, 20])
    label = np.repeat([1, 1, 0, 0, 0], [20, 5, 5, 10, 20])
    for statistic in (smooth.calibration_slope(), smooth.calibration_intercept()):
        wrong = rs.inference.estimate_of(rs.Predictions(label, probability), statistic)
        assert np.isnan([wrong.value, wrong.low, wrong.high]).all()
        assert "has probability 0" in wrong.reason
        right = rs.inference.estimate_of(rs.Predictions(label | (probability == 1), probability), statistic)
        assert right.low < right.value < right.high


def test_the_estimate_of_the_auc_is_the_interval_of_the_auc():
    rng = np.random.default_rng(11)
    label = rng.random(60) < 0.4
    preds = rs.Predictions(label, rng.normal(size=60) + label, groups=np.arange(60) // 3)
    for options in ({}, {"groups": False}, {"level": 0.8}):
        assert rs.inference.estimate_of(preds, "auc", **options) == rs.auc_interval(preds, **options)


def test_a_top_of_positives_only_has_wilsons_interval():
    found = rs.inference.estimate_of(rs.Predictions([1] * 40 + [0] * 160, range(200, 0, -1)), smooth.precision_at(0.1))
    assert (found.value, found.low, found.high) == pytest.approx((1, 20 / (20 + 1.959964**2), 1))
    assert found.reliable


def small_tables(rng, number):
    """Predictions of 4 to 40 rows: scores on five levels, at random, ordered by the labels, or nearly so."""
    while number:
        label = rng.random(rng.integers(4, 41)) < rng.choice([0.1, 0.5, 0.9])
        if label.all() or not label.any():
            continue
        chance = rng.random(label.size)
        kinds = [np.round(4 * chance) / 4, chance, 0.6 * label + 0.4 * chance, (label + chance) / 2]
        yield rs.Predictions(label, kinds[rng.integers(len(kinds))])
        number -= 1


@pytest.mark.parametrize("number", [50, pytest.param(10_000, marks=pytest.mark.slow(reason="full simulations"))])
def test_no_interval_of_a_small_table_is_nan(number):
    """The interval of these metrics needs only the numbers of cases, so it exists even if the variance is 0."""
    cost = smooth.cost_at(0.5, rs.Context(target_prevalence=0.1))
    ranked = [
        smooth.precision_at(0.2),
        smooth.gain_at(0.2),
        smooth.lift_at(0.2),
        smooth.tpr_at(0.2),
        smooth.fpr_at(0.8),
    ]
    statistics = ["auc", *ranked, smooth.net_benefit_at(0.3), cost, *(smooth.at(0.5, name) for name in AT_A_THRESHOLD)]
    for preds in small_tables(np.random.default_rng(5), number):
        estimates = [rs.inference.estimate_of(preds, statistic) for statistic in statistics]
        estimates += rs.inference.rate_intervals(preds.counts().at(0.5)).values()
        for estimate in estimates:
            assert not np.isnan(estimate.low) or np.isnan(estimate.value), (preds.y_true, preds.scores, estimate)
