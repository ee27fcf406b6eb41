"""The bootstrap against complete enumeration, brute force, closed forms and SciPy."""

import dataclasses
import itertools
from fractions import Fraction
from inspect import signature
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri

import rocscope as rs
from inference_cases import cases
from rocscope._base import progress as _progress
from rocscope.errors import InputError, OneClassError, RocscopeWarning
from rocscope.inference import resampling
from rocscope.inference.resampling import (
    AREAS,
    Statistic,
    _acceleration,
    _deviations,
    areas,
    design_of,
    leave_one_out,
    tally_all,
)

EACH_AUC = Statistic(lambda counts: [rs.auc(each) for each in counts.values()], 1)
RNG = np.random.default_rng(5)
LABEL = (np.arange(200) % 4 == 0).astype(int)
SCORES = {"a": LABEL + RNG.normal(size=200).round(1), "b": LABEL + RNG.normal(size=200).round(1)}
PREDS = rs.Predictions(LABEL, SCORES)
ONE = PREDS.select(models=["a"])


def compiled(threshold=0):
    return mock.patch.object(resampling, "_COMPILED_FROM", threshold)


def binomials():
    """Draw unit by unit, as large samples of few levels are."""
    return mock.patch.object(resampling, "_DRAWS_A_UNIT", 0)


@pytest.mark.every(7)
@pytest.mark.parametrize("way", [compiled, binomials, lambda: compiled(np.inf)])
@pytest.mark.parametrize("block", [resampling._BLOCK, 2])
@pytest.mark.parametrize("stratified", [False, True])
def test_replicates_have_the_distribution_of_all_resamples(way, block, stratified):
    label, score = np.array([1, 1, 0, 0, 0]), np.array([3, 1, 1, 2, 0])
    exact = {}
    pools = [[0, 1], [2, 3, 4]] if stratified else [range(5)]
    for rows in itertools.product(*(pool for pool in pools for _ in pool)):
        y, s = label[list(rows)], score[list(rows)]
        value = rs.auc(y, s) if 0 < y.sum() < len(y) else -1.0
        exact[value] = exact.get(value, 0) + 1
    design = design_of(rs.ThresholdCounts.from_scores(label, score), stratified=stratified)
    with way(), mock.patch.object(resampling, "_BLOCK", block):
        found = resampling.replicate(design, AREAS, 20_000)[:, 0]
    values, counts = np.unique(np.where(np.isnan(found), -1.0, found), return_counts=True)
    assert values.tolist() == pytest.approx(sorted(exact))
    share = np.array([exact[key] for key in sorted(exact)]) / sum(exact.values())
    assert stats.chisquare(counts, share * 20_000).pvalue > 1e-4


@given(cases(models=2, most=20), st.booleans())
def test_fast_and_general_paths_agree(case, stratified):
    label, scores = case
    for data in (rs.Predictions(label, scores), rs.Predictions(label, {"a": scores["a"]})):
        design = design_of(data, stratified=stratified)
        general = Statistic(EACH_AUC.function, len(data.models))
        found = [resampling.replicate(design, statistic, 20, random_state=3) for statistic in (AREAS, general)]
        np.testing.assert_allclose(*found, rtol=1e-12)
        with compiled():
            np.testing.assert_array_equal(resampling.replicate(design, AREAS, 20, random_state=3), found[0])


MANY = np.arange(2 * resampling._BLOCK + 44) % 3 == 0
"""Labels of rows in two whole blocks and a partial one."""


@pytest.mark.parametrize("stratified", [False, True])
def test_fast_and_general_paths_agree_on_many_blocks(stratified):
    design = design_of(rs.Predictions(MANY, (MANY + RNG.normal(size=MANY.size)).round(2)), stratified=stratified)
    slow = resampling.replicate(design, EACH_AUC, 20)
    np.testing.assert_allclose(resampling.replicate(design, AREAS, 20), slow, rtol=1e-12)
    with compiled():
        np.testing.assert_allclose(resampling.replicate(design, AREAS, 20), slow, rtol=1e-12)


@pytest.mark.parametrize("way", [compiled, lambda: compiled(np.inf)])
@pytest.mark.parametrize("stratified", [False, True])
def test_rows_of_many_blocks_are_drawn_as_a_multinomial(way, stratified):
    design = design_of(rs.Predictions(MANY, np.arange(MANY.size)), stratified=stratified)
    with way():
        rng, replicates = np.random.Generator(np.random.SFC64(4)), 2_000
        drawn = design.draw(rng, replicates, design.worth_compiling(1))[:, design.frequency > 0]
    n_pos = int(MANY.sum())
    parts = [drawn[:, :n_pos], drawn[:, n_pos:]] if stratified else [drawn]
    for part in parts:
        n = part.shape[1]
        assert (part.sum(axis=1) == n).all()
        assert stats.chisquare(part.sum(axis=0)).pvalue > 1e-3  # each row as often as the others
        exact = stats.binom.pmf(np.arange(5), n, 1 / n)
        seen = np.bincount(part.ravel().clip(max=5), minlength=6)
        assert stats.chisquare(seen, np.append(exact, 1 - exact.sum()) * part.size).pvalue > 1e-3
        for rows in (resampling._BLOCK // 2, min(n - 10, resampling._BLOCK), n - 10):  # variances of sums of rows
            ratio = part[:, :rows].sum(axis=1).var() / (rows * (1 - rows / n))
            assert ratio == pytest.approx(1, abs=4 * np.sqrt(2 / replicates))


def test_areas_of_weighted_counts():
    pos, neg = RNG.random((4, 7)), RNG.random((4, 7))
    expected = [rs.ThresholdCounts(range(7, 0, -1), p, n).pairs().auc() for p, n in zip(pos, neg, strict=True)]
    for way in (True, False):
        np.testing.assert_allclose(areas(pos, neg, way), expected, rtol=1e-12)


@pytest.mark.parametrize("data", [ONE, PREDS], ids=["counts", "rows"])
def test_replicates_do_not_depend_on_threads(data):
    design = design_of(data, stratified=False)
    runs = [resampling.replicate(design, AREAS, 500, random_state=11, threads=threads) for threads in (1, 2, 5)]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])
    assert not np.array_equal(runs[0], resampling.replicate(design, AREAS, 500, random_state=12))


@pytest.mark.every(3)
@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_intervals_agree_with_scipy(method):
    rows = np.arange(200)

    def statistic(index):
        return rs.auc(LABEL[index], SCORES["a"][index])

    seed = {"rng" if "rng" in signature(stats.bootstrap).parameters else "random_state": 1}  # SciPy 1.15 renamed it
    theirs = stats.bootstrap((rows,), statistic, method=method, n_resamples=4000, vectorized=False, **seed)
    ours = rs.bootstrap(ONE, rs.auc, method=method, replicates=4000)
    # The ends of two runs of 4,000 replicates differ by about 0.03 standard deviations.
    error = 0.12 * ours.standard_error
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=error)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=error)
    assert method in ours.method


DISCRETE = {
    "right": lambda counts: counts.at(1.0).accuracy,
    "contacted": lambda counts: counts.at(1.0).depth,
    "found": lambda counts: counts.at(3.0).tp / counts.n,
}


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("statistic", DISCRETE.values(), ids=DISCRETE)
def test_bca_counts_replicates_equal_to_the_estimate_half(statistic, level):
    """SciPy is given our replicates, many of which tie with the estimate; all the rest is its own."""
    label = np.repeat([1, 0], [10, 20])
    score = np.concatenate([np.arange(10) % 4, np.arange(20) % 3]).astype(float)
    data = rs.Predictions(label, score)
    ours = rs.bootstrap(data, statistic, method="bca", level=level, replicates=999)
    drawn = ours.replicates
    assert 0.1 < (drawn == ours.value).mean() < 0.9
    assert (drawn < ours.value).mean() != (drawn > ours.value).mean()

    def of_rows(index):
        return statistic(rs.ThresholdCounts.from_scores(label[index], score[index]))

    rows, options = (np.arange(30),), {"vectorized": False, "confidence_level": level}
    begun = stats.bootstrap(rows, of_rows, n_resamples=2, method="percentile", **options)
    same = dataclasses.replace(begun, bootstrap_distribution=drawn)
    theirs = stats.bootstrap(rows, of_rows, n_resamples=0, method="BCa", bootstrap_result=same, **options)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=1e-12)


def test_percentile_and_basic_are_quantiles_of_the_replicates():
    found = rs.bootstrap(ONE, rs.auc, level=0.9, replicates=300, method="percentile")
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(found.replicates, [0.05, 0.95])))
    basic = rs.bootstrap(ONE, rs.auc, level=0.9, replicates=300, method="basic")
    assert (basic.low, basic.high) == pytest.approx((2 * found.value - found.high, 2 * found.value - found.low))


@pytest.mark.parametrize("statistic", ["brier", rs.auc, lambda counts: counts.at(0.8).fpr])
def test_without_a_method_bca_has_the_tails_of_a_t_quantile(statistic):
    label, score = ONE.y_true[:60], ONE.scores[ONE.models[0]][:60]
    score = 1 / (1 + np.exp(-score))
    data = rs.Predictions(label, score)
    value = rs.inference.statistics.brier() if statistic == "brier" else statistic
    others = [np.delete(np.arange(60), row) for row in range(60)]
    left_out = [value(rs.ThresholdCounts.from_scores(label[rows], score[rows])) for rows in others]
    df = min(59, 120 / (stats.kurtosis(left_out, fisher=False) - 1))
    tail = 2 * ndtr(stats.t.ppf(0.975, df)) - 1
    found = rs.bootstrap(data, statistic, replicates=400)
    asked = rs.bootstrap(data, statistic, replicates=400, method="bca", level=tail)
    assert (found.low, found.high) == pytest.approx((asked.low, asked.high), rel=1e-6)
    assert found.method == "bootstrap (bca, expanded, 400 replicates)"


@pytest.mark.parametrize("skew", [-0.16, 0.0, 0.16])
def test_bca_tails_increase_far_beyond_the_replicates(skew):
    tails = resampling._bca_tails(0.0, np.arange(-2.0, 400.0), ndtr(np.linspace(-8, 8, 41)), skew)
    assert (np.diff(tails) >= 0).all()


def test_an_interval_is_not_reliable_if_few_rows_determine_its_variance():
    y = np.arange(400) < 200
    data = rs.Predictions(y, np.where(np.arange(400) < 8, 0, np.arange(400) % 7 + 2 * y))
    for method, reliable in (("percentile", False), ("basic", False), ("bca", False), ("auto", True)):
        found = rs.bootstrap(data, lambda counts: counts.at(1).fnr, replicates=300, method=method)
        assert found.reliable == reliable
        assert ("rows determine its variance" in found.reason) != reliable


def test_spread_is_delongs():
    found = rs.bootstrap(ONE, rs.auc, replicates=8000, stratified=True)
    assert found.standard_error == pytest.approx(rs.auc_interval(ONE).standard_error, rel=0.04)
    many = rs.Predictions(MANY, MANY + RNG.normal(size=MANY.size))
    with compiled():
        found = rs.bootstrap(many, rs.auc, replicates=8000)
    assert found.standard_error == pytest.approx(rs.auc_interval(many).standard_error, rel=0.03)


def removed(label, score, weight, index):
    kept = np.arange(label.size) != index
    weight = None if weight is None else weight[kept]
    try:
        return rs.auc(label[kept], score[kept], sample_weight=weight)
    except OneClassError:
        return np.nan


@given(cases(models=2, weight=st.sampled_from([0.5, 1.5, 2.0])), st.booleans())
def test_jackknife_of_the_area_is_in_closed_form(case, weighted):
    label, scores, weight = case
    weight = weight if weighted else None
    preds = rs.Predictions(label, scores, sample_weight=weight, weights="sampling")
    design = design_of(preds, stratified=False)
    order = np.argsort(label == 0, kind="stable")
    expected = [[removed(label, score, weight, i) for score in scores.values()] for i in order]
    (left_out,) = leave_one_out(design, AREAS)
    np.testing.assert_allclose(left_out.values, expected, rtol=1e-12)


@given(cases(most=20))
def test_jackknife_of_levels_counts_each_row(case):
    label, scores = case
    design = design_of(rs.ThresholdCounts.from_scores(label, scores["a"]), stratified=True)
    rows = [[removed(label, scores["a"], None, i) for i in np.flatnonzero(label == side)] for side in (1, 0)]
    for statistic in (AREAS, EACH_AUC):
        for part, expected in zip(leave_one_out(design, statistic), rows, strict=True):
            np.testing.assert_allclose(
                np.sort(np.repeat(part.values[:, 0], part.frequency)), np.sort(expected), rtol=1e-12
            )


def test_many_units_are_left_out_in_groups():
    label = RNG.integers(0, 2, 5000)
    score = label + RNG.normal(size=5000)
    design = design_of(rs.Predictions(label, score), stratified=False)
    exact, grouped = (
        _acceleration(_deviations((part, np.ones(1)) for part in leave_one_out(design, statistic)))
        for statistic in (AREAS, EACH_AUC)
    )
    assert grouped == pytest.approx(exact, abs=0.01)


def test_frequency_weights_are_repeated_rows():
    weight = np.arange(200) % 3
    kinds = ("frequency", "sampling")
    weighted = {kind: rs.Predictions(LABEL, SCORES["a"], sample_weight=weight, weights=kind) for kind in kinds}
    repeated = rs.Predictions(np.repeat(LABEL, weight), np.repeat(SCORES["a"], weight))
    expected = rs.bootstrap(repeated, rs.auc, replicates=6000)
    found = rs.bootstrap(weighted["frequency"], rs.auc, replicates=6000)
    assert found.n == expected.n
    assert found.standard_error == pytest.approx(expected.standard_error, rel=0.05)
    heavier = rs.bootstrap(weighted["sampling"], rs.auc, replicates=6000)
    assert heavier.standard_error > 1.1 * found.standard_error


def test_groups_of_copies_are_no_more_than_one_row():
    copies = rs.Predictions(np.repeat(LABEL, 3), np.repeat(SCORES["a"], 3))
    for stratified in (False, True):
        found = rs.bootstrap(
            copies, rs.auc, groups=np.repeat(np.arange(200), 3), replicates=6000, stratified=stratified
        )
        once = rs.bootstrap(ONE, rs.auc, replicates=6000, stratified=stratified)
        assert found.standard_error == pytest.approx(once.standard_error, rel=0.05)
        assert "200 groups" in found.method


@given(cases(models=2, weight=st.integers(0, 2), groups=st.integers(0, 3)), st.booleans())
def test_drawing_each_unit_as_often_as_it_is_gives_the_sample(case, stratified):
    label, scores, weight, groups = case
    for weights in (None, weight + 1, weight + 0.5):
        preds = rs.Predictions(label, scores, sample_weight=weights)
        for units in (None, groups):
            design = design_of(preds, stratified=stratified, groups=units)
            covered = np.concatenate([np.arange(s.start, s.stop) for s in design.strata])
            assert covered.tolist() == list(range(design.frequency.size))
            for model, (pos, neg) in tally_all(design, design.frequency[None, :]).items():
                counts = resampling.counts_of(design.tallies[model].threshold, pos[0], neg[0])
                assert counts.threshold.tolist() == preds.counts(model).threshold.tolist()
                np.testing.assert_allclose(counts.pos, preds.counts(model).pos)
                np.testing.assert_allclose(counts.neg, preds.counts(model).neg)


def test_stratified_replicates_keep_the_class_mix():
    for data in (ONE, PREDS, rs.Predictions(LABEL, SCORES["a"], sample_weight=np.ones(200))):
        pick = (lambda c: c["a"].n_pos) if len(data.models) > 1 else (lambda c: c.n_pos)
        with pytest.warns(RocscopeWarning, match="all replicates equal 50"):
            found = rs.bootstrap(data, pick, stratified=True, replicates=20)
        assert found.low == found.high == LABEL.sum()
        assert rs.bootstrap(data, pick, replicates=20).low < LABEL.sum()


def test_models_share_the_rows_of_each_replicate():
    same = rs.Predictions(LABEL, {"a": SCORES["a"], "b": 2 * SCORES["a"]})
    with pytest.warns(RocscopeWarning, match="all replicates equal 0"):
        found = rs.bootstrap(same, lambda c: rs.auc(c["b"]) - rs.auc(c["a"]), replicates=50)
    assert found.low == found.high == 0


def test_any_statistic_can_be_compared():
    def partial_area(counts):
        return rs.roc(counts).partial_auc(max_fpr=0.2)

    result = rs.compare(PREDS, statistic=partial_area, replicates=400)
    pair = result["a", "b"]
    assert result.quantity == "partial_area"
    assert pair.difference.value == pytest.approx(partial_area(PREDS.counts("b")) - partial_area(PREDS.counts("a")))
    assert pair.statistic == pytest.approx(pair.difference.value / pair.difference.replicates.std(ddof=1))
    assert result.estimates["a"].low < partial_area(PREDS.counts("a")) < result.estimates["a"].high
    swapped = rs.compare(PREDS.select(models=["b", "a"]), statistic=partial_area, replicates=400)[0]
    assert swapped.difference.value == -pair.difference.value


@pytest.mark.parametrize(
    "statistic",
    [
        lambda c: c.at(0.5).precision,
        lambda c: rs.roc(c).partial_auc(max_fpr=0.3),
        lambda c: rs.roc(c).at(0.2),
        lambda c: rs.choose(c).threshold,
        lambda c: rs.profit(c, rs.Campaign(population=1000, unit_benefit=9, unit_cost=2)).best().profit,
        lambda c: rs.choose(c, rs.Context(cost_fn=4)).expected_cost,
    ],
    ids=["metric", "partial area", "point on a curve", "best threshold", "campaign profit", "expected cost"],
)
def test_anything_that_counts_tell_has_an_interval(statistic):
    counts = ONE.counts()
    found = rs.bootstrap(counts, statistic, replicates=150, random_state=6)
    assert found.value == statistic(counts)
    assert found.low < found.high
    design = design_of(counts, stratified=False)
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(6).spawn(1)[0]))
    pos, neg = np.split(design.draw(rng, design.chunk, False)[0], 2)
    assert found.replicates[0] == statistic(rs.ThresholdCounts(counts.threshold, pos, neg))


def test_infinite_replicates_are_ranked_as_what_they_are():
    found = rs.bootstrap(ONE, lambda c: np.inf if c.n_pos < 50 else c.n_pos, replicates=400, method="percentile")
    assert np.isinf(found.replicates).any()
    assert (found.low, found.high) == (50, np.inf)


def test_bootstrap_comparison_of_areas_is_delongs():
    slow = rs.compare(PREDS, statistic=rs.auc, replicates=6000, stratified=True)[0]
    quick = rs.compare(PREDS)[0]
    assert slow.difference.standard_error == pytest.approx(quick.difference.standard_error, rel=0.05)
    arms = {model: PREDS.select(models=[model]) for model in "ab"}
    apart = rs.compare(arms, statistic=rs.auc, replicates=6000, stratified=True, method="bca")[0]
    assert apart.difference.standard_error == pytest.approx(rs.compare(arms)[0].difference.standard_error, rel=0.05)
    assert apart.difference.n == 400
    assert abs(np.corrcoef(apart.difference.replicates, slow.difference.replicates)[0, 1]) < 0.9


def test_bca_of_a_difference_uses_the_skewness_of_both():
    slow = rs.bootstrap(PREDS, lambda c: rs.auc(c["b"]) - rs.auc(c["a"]), method="bca", replicates=500)
    quick = rs.compare(PREDS, statistic=rs.auc, method="bca", replicates=500)[0].difference
    assert (quick.low, quick.high) == pytest.approx((slow.low, slow.high), rel=1e-9)


def test_replicates_without_a_number_are_counted_and_reported():
    with pytest.warns(RocscopeWarning, match="of 200 replicates are undefined"):
        found = rs.bootstrap(ONE, lambda c: np.nan if c.n_pos < 50 else rs.auc(c), replicates=200)
    assert found.failed == np.isnan(found.replicates).sum()
    assert 0 < found.failed < 200
    assert np.isfinite([found.low, found.high]).all()
    with pytest.warns(RocscopeWarning, match="are undefined"):
        lost = rs.bootstrap(rs.Predictions([1, 1, 0, 0, 0], [5, 2, 3, 2, 1]), rs.auc, replicates=500)
    expected = Fraction(2**5 + 3**5, 5**5)  # all five of one class
    assert lost.failed == pytest.approx(500 * float(expected), abs=4 * np.sqrt(500 * 0.088 * 0.912))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: rs.bootstrap(ONE, rs.auc, replicates=0),
            InputError,
            "replicates: expected a whole number of at least 1, got 0",
        ),
        (lambda: rs.bootstrap(ONE, rs.auc, level=1.0), InputError, "level"),
        (lambda: rs.bootstrap(ONE, rs.auc, method="bcaa"), InputError, "did you mean 'bca'"),
        (lambda: rs.bootstrap(ONE, rs.auc, groups=[1, 2]), InputError, "groups"),
        (lambda: rs.Predictions([1, 0], [1, 2], weights="none"), InputError, "weights"),
        (lambda: rs.bootstrap(ONE.counts(), rs.auc, groups=LABEL), InputError, "rows"),
        (lambda: rs.bootstrap(LABEL, rs.auc), InputError, r"use rs\.bootstrap\(rs\.Predictions\(y, s\)"),
        (lambda: rs.bootstrap(ONE, lambda c: np.nan), InputError, "NaN in all 2000"),
        (lambda: rs.bootstrap(rs.Predictions([1, 1], [1, 2]), rs.auc), OneClassError, "no negatives"),
        (
            lambda: rs.bootstrap(rs.ThresholdCounts([1, 0], [0.5, 1], [1, 1]), rs.auc),
            InputError,
            "expected numbers of cases",
        ),
        (
            lambda: rs.compare(PREDS, replicates=10),
            InputError,
            "a bootstrapped statistic for the options rep",
        ),
        (lambda: rs.compare(PREDS, statistic=rs.auc, folds="mean"), InputError, "folds"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_errors_of_a_statistic_are_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        rs.bootstrap(ONE, lambda c: 1 / 0)


@pytest.mark.parametrize(("terminal", "progress", "bars"), [(True, True, 1), (True, False, 0), (False, True, 0)])
def test_a_bar_is_shown_on_terminals_only(monkeypatch, capsys, terminal, progress, bars):
    monkeypatch.setattr(_progress, "_BAR_AFTER", -1)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    with mock.patch.object(_progress, "_start_bar", wraps=_progress._start_bar) as start:
        rs.bootstrap(ONE, rs.auc, replicates=300, progress=progress)
    assert start.call_count == bars
    assert capsys.readouterr().out == ""


def test_results_are_plain_data():
    import json

    content = json.loads(json.dumps(rs.bootstrap(ONE, rs.auc, replicates=50).to_dict(), allow_nan=False))
    assert content["replicates"] == 50


def test_a_statistic_is_a_function():
    with pytest.raises(
        InputError, match=r"^statistic: expected a metric's name or a function, got 3; pass a function such as "
    ):
        rs.bootstrap(rs.ThresholdCounts([1, 0], [2, 1], [1, 2]), 3)


def test_an_interval_of_an_area_that_ends_short_says_so():
    rng = np.random.default_rng(0)
    label = np.arange(330) < 30
    for apart, reliable in ((2.3, False), (0.5, True)):
        preds = rs.Predictions(label, {"score": rng.normal(size=330) + apart * label})
        found, whole = rs.bootstrap(preds, rs.auc, method="bca"), rs.auc_interval(preds)
        short = max(found.low - whole.low, whole.high - found.high) > 0.1 * (whole.high - whole.low)
        assert found.reliable == reliable == (not short)
        assert reliable or "ends well inside" in found.reason


def test_one_more_row_is_ranked_first_or_last():
    design = resampling.design_of_counts(rs.ThresholdCounts([4, 3, 2], [1, 1, 0], [0, 1, 1]), stratified=False)
    found = resampling.with_one_more_row(design, resampling.AREAS)[:, 0]
    y, score = [1, 1, 0, 0], [4, 3, 3, 2]
    rows = [(1, 4), (1, 2), (0, 4), (0, 2)]
    assert found.tolist() == [rs.auc([*y, label], [*score, place]) for label, place in rows]


def test_a_difference_inherits_that_one_more_row_could_move_an_estimate_out():
    y = np.arange(120) < 40
    best = np.where(y, 100, np.arange(120) % 60)
    best[:2] = 30  # two positives below half of the negatives determine the part of the curve
    preds = rs.Predictions(y, {"best": best, "other": np.random.default_rng(0).normal(y)})

    def part(counts):
        return rs.roc(counts).partial_auc(min_tpr=0.95)

    pairs = rs.compare(preds, statistic=part, replicates=200)
    assert "one more row" in rs.bootstrap(preds, part, model="best", replicates=200).reason
    assert "one more row" in pairs.estimates["best"].reason
    assert pairs[0].difference.reason in [estimate.reason for estimate in pairs.estimates.values()]


def check_partial_area(sizes, apart, part, samples, replicates):
    """Whether intervals that are reliable hold a partial area. Return how often they do, and are reliable."""
    rng = np.random.default_rng(sizes)
    # The curve is tpr = Φ(d + Φ⁻¹(fpr)), and so is the specificity as a function of 1 − tpr.
    width = part.get("max_fpr") or 1 - part["min_tpr"]
    truth = width * ndtr(apart + ndtri(width * (np.arange(100_000) + 0.5) / 100_000)).mean()
    held, reliable = [], []
    for _ in range(samples):
        y = np.arange(sum(sizes)) < sizes[0]
        preds = rs.Predictions(y, rng.normal(apart * y))
        found = rs.bootstrap(preds, lambda counts: rs.roc(counts).partial_auc(**part), replicates=replicates)
        held.append(truth in found)
        reliable.append(found.reliable)
    held, reliable = np.array(held), np.array(reliable)
    assert held[reliable].mean() >= 0.93 - 3 * np.sqrt(0.07 * 0.93 / reliable.sum())
    return held.mean(), reliable.mean()


def test_intervals_of_a_partial_area_that_are_reliable_hold_it():
    held, reliable = check_partial_area((26, 147), 0.75, {"min_tpr": 0.9}, 60, 150)
    assert held < 0.93  # so the design tests the reason
    assert reliable > 0.4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "apart", "part"),
    [
        ((26, 147), 0.75, {"min_tpr": 0.9}),
        ((60, 340), 2.2, {"min_tpr": 0.8}),
        ((50, 50), 1.0, {"max_fpr": 0.05}),
        ((100, 100), 1.5, {"max_fpr": 0.1}),
    ],
)
def test_intervals_of_a_partial_area_that_are_reliable_hold_it_in_full(sizes, apart, part):
    _, reliable = check_partial_area(sizes, apart, part, 400, 500)
    assert reliable >= 0.75 or sizes[0] < 50
