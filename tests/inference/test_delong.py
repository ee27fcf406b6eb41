"""AUC intervals and comparisons against pROC, against the definition, and at the edges."""

from contextlib import nullcontext
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

import rocscope as rs
from inference_cases import cases, components, delong_covariance, mean, obuchowski_covariance
from proc_values import SETS, VALUES
from rocscope.errors import ColumnError, InputError, OneClassError, PairingError, RocscopeWarning, WeightError
from rocscope.inference.areas import placements, sample_of_counts, sample_of_rows

EXACT = {"rel": 1e-12, "abs": 1e-14}


every_set = pytest.mark.parametrize("name", SETS)


@every_set
def test_variances_and_intervals_agree_with_proc(name):
    preds = SETS[name]
    covariance = rs.compare(preds, method="delong").covariance
    for i, model in enumerate(preds.models):
        found = rs.auc_interval(preds, model=model, method="delong")
        assert found.value == pytest.approx(VALUES[name, f"auc {model}"], abs=1e-12)
        assert found.low == pytest.approx(VALUES[name, f"low {model}"], abs=1e-9)
        assert found.high == pytest.approx(VALUES[name, f"high {model}"], abs=1e-9)
        wider = rs.auc_interval(preds, model=model, method="delong", level=0.9)
        assert wider.high == pytest.approx(VALUES[name, f"high90 {model}"], abs=1e-9)
        for variance in (found.standard_error**2, covariance[i, i]):
            assert variance == pytest.approx(VALUES[name, f"var {model}"], rel=1e-9)


@every_set
def test_partial_areas_agree_with_proc(name):
    for model, part in product("abc", (0.1, 0.5)):
        found = rs.roc(SETS[name].counts(model)).partial_auc(max_fpr=part)
        assert found == pytest.approx(VALUES[name, f"pauc {part:g} {model}"], abs=1e-12)


@every_set
def test_paired_comparisons_agree_with_proc(name):
    result = rs.compare(SETS[name], method="delong")
    for (i, first), (j, second) in combinations(enumerate("abc"), 2):
        pair, key = result[first, second], f"{first} {second}"
        assert result.covariance[i, j] == pytest.approx(VALUES[name, f"cov {key}"], rel=1e-9)
        assert -pair.statistic == pytest.approx(VALUES[name, f"paired z {key}"], abs=1e-9)
        assert pair.p_value == pytest.approx(VALUES[name, f"paired p two.sided {key}"], abs=1e-9)
        # pROC subtracts the other way round.
        assert -pair.difference.high == pytest.approx(VALUES[name, f"paired low {key}"], abs=1e-9)
        assert -pair.difference.low == pytest.approx(VALUES[name, f"paired high {key}"], abs=1e-9)
        for ours, theirs in (("greater", "less"), ("less", "greater")):
            one_sided = rs.compare(SETS[name], alternative=ours, method="delong")[first, second]
            assert one_sided.p_value == pytest.approx(VALUES[name, f"paired p {theirs} {key}"], abs=1e-9)


@pytest.mark.filterwarnings("ignore:AUC 1 from")  # halves of the smallest sets are perfectly ranked
@every_set
def test_unpaired_comparisons_agree_with_proc(name):
    half = np.arange(len(SETS[name])) < len(SETS[name]) / 2
    for first, second in combinations("abc", 2):
        if (name, f"unpaired d {first} {second}") not in VALUES:
            continue
        arms = {first: SETS[name].select(half, models=[first]), second: SETS[name].select(~half, models=[second])}
        pair = rs.compare(arms, method="delong")[0]
        assert -pair.statistic == pytest.approx(VALUES[name, f"unpaired d {first} {second}"], abs=1e-9)
        assert pair.df == pytest.approx(VALUES[name, f"unpaired df {first} {second}"], rel=1e-9)
        assert pair.p_value == pytest.approx(VALUES[name, f"unpaired p {first} {second}"], abs=1e-9)
        reach = stats.t(pair.df).ppf(0.975) * pair.difference.standard_error
        assert pair.difference.high == pytest.approx(min(pair.difference.value + reach, 1), abs=1e-12)


def test_the_reference_holds_unpaired_values():
    assert sum(quantity.startswith("unpaired d") for _, quantity in VALUES) >= 20


@given(cases())
def test_placements_are_those_of_the_definition(case):
    label, scores = case
    found = placements(label == 1, scores["a"])
    pos, neg = components(label, scores["a"])
    assert found[label == 1].tolist() == [2 * value * len(neg) for value in pos]
    assert found[label == 0].tolist() == [2 * value * len(pos) for value in neg]


@given(cases(models=3))
def test_covariance_is_that_of_the_definition(case):
    label, scores = case
    found = sample_of_rows(rs.Predictions(label, scores)).covariance
    expected = [[float(delong_covariance(label, a, b)) for b in scores.values()] for a in scores.values()]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@given(cases(), st.sampled_from([np.float32, np.float64, np.int8]))
def test_counts_know_the_same_variance_as_rows(case, dtype):
    label, scores = case
    score = scores["a"].astype(dtype)
    of_rows = sample_of_rows(rs.Predictions(label, {"a": score, "b": score}))
    of_counts = sample_of_counts(rs.ThresholdCounts.from_scores(label, score))
    assert of_counts.auc[0] == of_rows.auc[0] == rs.auc(label, score)
    assert of_counts.covariance[0, 0] == pytest.approx(of_rows.covariance[0, 0], **EXACT)


@given(cases(models=2, groups=st.integers(0, 4)))
def test_clustered_covariance_is_that_of_the_definition(case):
    label, scores, groups = case
    assume(all(np.unique(groups[label == side]).size > 1 for side in (0, 1)))
    found = sample_of_rows(rs.Predictions(label, scores), groups=groups).covariance
    a, b = scores.values()
    expected = [[float(obuchowski_covariance(label, x, y, groups)) for y in (a, b)] for x in (a, b)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@given(cases(models=2))
def test_one_row_a_cluster_is_no_clustering(case):
    label, scores = case
    preds = rs.Predictions(label, scores)
    clustered = sample_of_rows(preds, groups=np.arange(label.size))
    np.testing.assert_allclose(clustered.covariance, sample_of_rows(preds).covariance, rtol=1e-12, atol=1e-15)


@given(cases(models=2, weight=st.integers(0, 3)))
def test_frequency_weights_are_repeated_rows(case):
    label, scores, weight = case
    assume(all(weight[label == side].sum() > 1 for side in (0, 1)))
    repeated = rs.Predictions(np.repeat(label, weight), {m: np.repeat(s, weight) for m, s in scores.items()})
    for weights in (weight, weight.astype(float)):
        found = sample_of_rows(rs.Predictions(label, scores, sample_weight=weights, weights="frequency"))
        expected = sample_of_rows(repeated)
        np.testing.assert_allclose(found.auc, expected.auc, rtol=1e-12)
        np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12, atol=1e-15)
        assert found.n == expected.n


@given(cases(models=2, weight=st.integers(1, 3)))
def test_scaling_sampling_weights_changes_nothing(case):
    label, scores, weight = case
    found = [
        sample_of_rows(rs.Predictions(label, scores, sample_weight=weight * scale, weights="sampling"))
        for scale in (1, 0.37, 2.0**-700, 2.0**700)
    ]
    for other in found[1:]:
        np.testing.assert_allclose(found[0].auc, other.auc, rtol=1e-12)
        np.testing.assert_allclose(found[0].covariance, other.covariance, rtol=1e-9, atol=1e-15)


def test_whole_weights_so_large_that_all_floats_are_whole_are_no_numbers_of_rows():
    rng = np.random.default_rng(2)
    label, weight = np.arange(60) % 2, rng.random(60) + 0.5
    score = label + rng.normal(size=60)
    small, large = (rs.auc_interval(label, score, sample_weight=weight * scale) for scale in (1, 2.0**300))
    assert (small.low, small.high, small.method) == (large.low, large.high, large.method)


@pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")
@pytest.mark.parametrize("method", ["auto", "delong", "logit", "newcombe"])
def test_sums_of_weights_that_are_rounded_give_no_area_beyond_1(method):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        label = np.arange(8) % 2
        estimate = rs.auc_interval(label, label, sample_weight=rng.random(8) + 0.5, method=method)
        assert estimate.value == pytest.approx(1, abs=1e-15)
        assert estimate.low < estimate.value <= estimate.high <= 1
    heavy = rs.auc_interval(label, [1, 3, 2, 4, 5, 6, 7, 9], sample_weight=[1, 1e15, 1, 1, 1, 1, 1, 1], method=method)
    assert 0 <= heavy.low <= heavy.value <= heavy.high <= 1


@pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")
def test_one_row_that_is_all_the_weight():
    estimate = rs.auc_interval([1, 0, 1, 0], [1, 2, 3, 4], sample_weight=[1e100, 0.5, 1e-100, 0.5])
    assert not estimate.reliable
    assert 0 <= estimate.low < estimate.high <= 1


@given(cases(models=2))
def test_equal_sampling_weights_are_no_weights(case):
    label, scores = case
    weighted = rs.Predictions(label, scores, sample_weight=np.full(label.size, 0.5))
    found, expected = sample_of_rows(weighted), sample_of_rows(rs.Predictions(label, scores))
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12, atol=1e-15)


def test_weights_in_clusters_mean_the_same_whichever_kind():
    rng = np.random.default_rng(1)
    label, groups, weight = rng.integers(0, 2, 60), rng.integers(0, 12, 60), rng.integers(0, 4, 60)
    score = label + rng.normal(size=60)
    repeated = rs.Predictions(np.repeat(label, weight), np.repeat(score, weight))
    expected = sample_of_rows(repeated, groups=np.repeat(groups, weight)).covariance
    for kind in ("frequency", "sampling"):
        preds = rs.Predictions(label, score, sample_weight=weight, weights=kind)
        found = sample_of_rows(preds, groups=groups).covariance
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def mean_of_folds(folds):
    """The mean AUC and its standard error from the folds' own DeLong variances, fold by fold, ΣV/K²."""
    aucs = [float(mean(components(label, score)[0])) for label, score in folds]
    variances = [float(delong_covariance(label, score, score)) for label, score in folds]
    return np.mean(aucs), np.sqrt(np.sum(variances)) / len(folds)


def test_mean_over_folds_adds_up_the_variances_of_the_folds():
    rng = np.random.default_rng(7)
    sizes = [21, 21, 21]
    folds = [(np.arange(n) % 3 == 0, rng.integers(0, 6, n) + np.arange(n) % 3) for n in sizes]
    label, score = (np.concatenate(column) for column in zip(*folds, strict=True))
    fold = np.repeat(["x", "y", "z"], sizes)
    found = rs.auc_interval(rs.Predictions(label, score, fold=fold), folds="mean", method="delong")
    value, standard_error = mean_of_folds([(y.astype(int), s) for y, s in folds])
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.standard_error == pytest.approx(standard_error * np.sqrt(1.5), rel=1e-12)  # shared training rows
    assert "3 folds" in found.method


def test_pooled_and_mean_over_folds_differ_and_say_so():
    preds = rs.Predictions([1, 0, 1, 0] * 5, list(range(20)), fold=np.repeat([0, 1], 10))
    averaged = rs.auc_interval(preds, folds="mean")
    pooled = rs.auc_interval(preds)
    assert pooled.value != averaged.value
    assert "folds" in averaged.method
    assert "pooled over 2 folds" in pooled.method


def test_margins_shift_the_null():
    preds = SETS["medium"]
    pair = rs.compare(preds, method="delong")["a", "b"]
    gain, error = pair.difference.value, pair.difference.standard_error
    superior = rs.compare(preds, test="superiority", margin=0.02, method="delong")["a", "b"]
    noninferior = rs.compare(preds, test="noninferiority", margin=0.02, method="delong")["a", "b"]
    assert superior.p_value == pytest.approx(stats.norm.sf((gain - 0.02) / error), rel=1e-12)
    assert noninferior.p_value == pytest.approx(stats.norm.sf((gain + 0.02) / error), rel=1e-12)
    superior = rs.compare(preds, test="superiority", method="delong")["a", "b"]
    assert superior.p_value == pytest.approx(pair.p_value / 2, rel=1e-9)
    equivalent = rs.compare(preds, test="equivalence", margin=0.1, method="delong")["a", "b"]
    sides = stats.norm.sf((gain + 0.1) / error), stats.norm.cdf((gain - 0.1) / error)
    assert equivalent.p_value == pytest.approx(max(sides), rel=1e-12)


def test_pairs_are_adjusted_together():
    result = rs.compare(SETS["large"], adjust="bh")
    expected = stats.false_discovery_control([pair.p_value for pair in result])
    assert [pair.adjusted_p_value for pair in result] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("label", "score", "value"),
    [
        ([1, 1, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], 1.0),
        ([1, 1, 1, 0, 0, 0], [1, 2, 3, 4, 5, 6], 0.0),
        ([1, 0, 0, 0], [2, 3, 1, 0], 2 / 3),
        ([1, 1, 0, 0, 0], [1, 1, 1, 1, 1], 0.5),
        ([1, 0], [1, 0], 1.0),
    ],
    ids=["perfect", "reversed", "one positive", "all tied", "one of each"],
)
@pytest.mark.parametrize("method", ["auto", "delong", "logit"])
def test_degenerate_cases_have_wide_intervals_that_are_flagged(label, score, value, method):
    warning = pytest.warns(RocscopeWarning, match=r"variance is (0|undefined), so the interval uses only these numbers")
    with nullcontext() if method == "auto" else warning:
        found = rs.auc_interval(label, score, method=method)
    assert found.value == pytest.approx(value)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.1
    assert "Wilson" in found.method
    assert not found.reliable


def test_newcombe_solves_its_equation():
    for label, score in ((np.arange(30) % 3 == 0, np.arange(30) * 7 % 31), ([1, 1, 0, 0, 0], [5, 4, 3, 2, 1])):
        found = rs.auc_interval(label, score, method="newcombe", level=0.9)
        n_pos, n_neg = np.sum(label), np.sum(~np.asarray(label, bool))
        for end in {found.low, found.high} - {0.0, 1.0}:
            half = (n_pos + n_neg) / 2 - 1
            spread = 1 + half * (1 - end) / (2 - end) + half * end / (1 + end)
            variance = end * (1 - end) * spread / (n_pos * n_neg)
            assert abs(found.value - end) / np.sqrt(variance) == pytest.approx(stats.norm.ppf(0.95), rel=1e-9)


def test_newcombe_is_flagged_for_a_mixture_but_not_for_normal_scores():
    """Its variance is too small for a mixture: 90% of 1,000 intervals cover, with any number of rows."""
    rng = np.random.default_rng(8)
    label = np.arange(1200) < 200
    shift = {"normal": 1.2, "mixture": np.where(rng.random(1200) < 0.5, 0.3, 3.0)}
    found = {
        name: rs.auc_interval(label, rng.standard_normal(1200) + by * label, method="newcombe")
        for name, by in shift.items()
    }
    assert found["normal"].reliable
    assert "ends well inside the interval" in found["mixture"].reason


def test_hanley_and_mcneil_s_interval_needs_the_area_and_the_numbers_of_rows():
    """Exponential scores have their variance exactly, so that it meets DeLong's in a large sample."""
    rng = np.random.default_rng(3)
    label = np.arange(20_000) % 4 == 0
    score = rng.exponential(np.where(label, 3.0, 1.0))
    interval = rs.auc_interval(label, score, method="hanley-mcneil")
    assert interval.value == pytest.approx(0.75, abs=0.01)
    assert interval.standard_error == pytest.approx(
        rs.auc_interval(label, score, method="delong").standard_error, rel=0.02
    )
    assert interval.high - interval.value == pytest.approx(stats.norm.ppf(0.975) * interval.standard_error)
    weighted = rs.auc_interval(label, score, method="hanley-mcneil", sample_weight=rng.random(label.size))
    assert "assumes independent rows of equal weight" in weighted.reason


def test_two_perfect_models_are_not_certainly_equal():
    label = [1] * 5 + [0] * 10
    with pytest.warns(RocscopeWarning):
        pair = rs.compare(rs.Predictions(label, {"a": range(15, 0, -1), "b": [14, 15, *range(13, 0, -1)]}))[0]
    assert pair.p_value == 1
    assert pair.difference.low < -0.1 < 0.1 < pair.difference.high
    assert "MOVER" in pair.difference.method


def test_a_difference_without_variance_is_tested_all_the_same():
    label = [1] * 8 + [0] * 12
    with pytest.warns(RocscopeWarning):
        pair = rs.compare(rs.Predictions(label, {"tied": [0] * 20, "perfect": range(20, 0, -1)}))[0]
    assert pair.difference.value == 0.5
    assert 0 < pair.p_value < 0.05


PAIR = rs.Predictions([1, 1, 0, 0], {"a": [4, 3, 2, 1]}), rs.Predictions([1, 1, 0, 0], {"b": [4, 2, 3, 1]})


def test_paired_mapping_equals_predictions_of_both():
    joined = rs.Predictions([1, 1, 0, 1, 0], {"a": [4, 3, 4, 2, 1], "b": [4, 2, 3, 1, 2]})
    arms = {model: joined.select(models=[model]) for model in "ab"}
    assert repr(rs.compare(arms, paired=True)[0]) == repr(rs.compare(joined)[0])


@pytest.mark.parametrize(
    ("arms", "options", "message"),
    [
        ({"b": rs.Predictions([1, 1, 0], [4, 2, 3])}, {}, "the same number of rows, got 4 and 3 rows"),
        (
            {"b": rs.Predictions([1, 0, 1, 0], [4, 2, 3, 1])},
            {},
            "the same labels in both models, got different labels in row 1",
        ),
        (
            {"b": rs.Predictions([1, 1, 0, 0], [4, 2, 3, 1], sample_weight=[1, 2, 1, 1])},
            {},
            "expected weights in both models or in neither",
        ),
        (
            {"b": PAIR[1]},
            {"groups": {"a": [1, 2, 3, 4], "b": [1, 2, 4, 3]}},
            "the same groups in both models, got different groups in row 2",
        ),
        ({"b": PAIR[1].counts()}, {}, r"expected rows \(Predictions\), got a ThresholdCounts; pass Predictions"),
    ],
)
def test_rows_that_differ_are_never_paired(arms, options, message):
    with pytest.raises(PairingError, match=message):
        rs.compare({"a": PAIR[0]} | arms, paired=True, **options)


def test_unpaired_arms_share_no_cluster():
    arms = dict(zip("ab", PAIR, strict=True))
    with pytest.raises(PairingError, match="1 groups in two samples, such as 4"):
        rs.compare(arms, groups={"a": [1, 2, 3, 4], "b": [4, 5, 6, 7]})
    with pytest.raises(PairingError, match="paired: expected True for models on the same rows, got False"):
        rs.compare(rs.Predictions([1, 0], {"a": [1, 2], "b": [2, 1]}), paired=False)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: rs.auc_interval(p, model="a", level=95), InputError, "level: .*0.95"),
        (lambda p: rs.auc_interval(p, model="a", level=0), InputError, "level"),
        (lambda p: rs.auc_interval(p, model="a", level=1), InputError, "level"),
        (lambda p: rs.auc_interval(p, model="a", method="delnog"), InputError, "did you mean 'delong'"),
        (lambda p: rs.auc_interval(p), ColumnError, "name the model: model='a'"),
        (lambda p: rs.auc_interval(p, model="a", folds="mean"), InputError, "fold column"),
        (lambda p: rs.auc_interval(p, model="a", folds="each"), InputError, "folds"),
        (lambda p: rs.auc_interval(p.counts("a"), groups=[1] * 5), InputError, "rows"),
        (lambda p: rs.auc_interval(p, model="a", groups=["x", None, "y", "x", "y"]), InputError, "1 missing"),
        (lambda p: rs.auc_interval(p, model="a", groups=[1.0, 2, np.nan, 1, 2]), InputError, "1 missing"),
        (lambda p: rs.auc_interval([1, 1], [1, 2]), OneClassError, "no negatives"),
        (lambda p: rs.auc_interval([1, 0], [1, 2], sample_weight=[1, 0]), OneClassError, "no negatives"),
        (
            lambda p: rs.auc_interval(rs.ThresholdCounts([1, 0], [1.5, 2], [1, 1])),
            WeightError,
            "expected numbers of cases",
        ),
        (
            lambda p: rs.Predictions([1, 0], [1, 2], sample_weight=[0.5, 1], weights="frequency"),
            WeightError,
            "whole numbers",
        ),
        (lambda p: rs.compare(p.select(models=["a"])), InputError, "two or more models, got 1"),
        (lambda p: rs.compare(p, level=2), InputError, "level"),
        (lambda p: rs.compare(p, margin=0.1), InputError, "margin"),
        (lambda p: rs.compare(p, test="noninferiority"), InputError, "above 0"),
        (lambda p: rs.compare(p, test="equivalence"), InputError, "above 0"),
        (lambda p: rs.compare(p, test="superiority", alternative="less"), InputError, "alternative"),
        (lambda p: rs.compare(p, alternative="better"), InputError, "alternative"),
        (lambda p: rs.compare(p, test="better"), InputError, "test"),
        (lambda p: rs.compare(p, method="best"), InputError, "method"),
        (lambda p: rs.compare(p, adjust="bonferroni"), InputError, "adjust"),
        (lambda p: rs.compare([1, 0]), InputError, "mapping"),
        (lambda p: rs.compare({"a": p, "b": p}, groups=[1, 2, 3, 4, 5]), InputError, "mapping"),
        (lambda p: rs.inference.adjust_p_values([0.1, 2]), InputError, "0 to 1"),
    ],
)
def test_bad_input_is_named(call, error, message):
    preds = rs.Predictions([1, 1, 0, 1, 0], {"a": [4, 3, 4, 2, 1], "b": [4, 2, 3, 1, 2]})
    with pytest.raises(error, match=message):
        call(preds)


def test_a_fold_of_one_class_is_named():
    preds = rs.Predictions([1, 1, 0, 0], [4, 3, 2, 1], fold=[0, 0, 1, 1])
    with pytest.raises(OneClassError, match="one class in fold number 1"):
        rs.auc_interval(preds, folds="mean")


def test_results_are_plain_data_and_one_line():
    result = rs.compare(SETS["small"], groups=np.arange(50) // 2)
    import json

    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (
        content["pairs"][0]["difference"]["method"]
        == "Welch t of placements and MOVER of Wilson intervals, paired, 25 groups"
    )
    assert content["pairs"][0]["df"] is None
    for thing in (result, result[0], result.estimates["a"]):
        assert "\n" not in repr(thing)
        assert "<" in thing._repr_html_()


@pytest.mark.parametrize(
    ("method", "n_pos", "weighted", "reason"),
    [
        ("logit", 15, False, "only 15 rows of a class, fewer than 20"),
        ("delong", 15, False, "only 15 rows of a class, fewer than 20"),
        ("auto", 15, False, ""),
        ("newcombe", 60, True, "Newcombe's score interval assumes independent rows of equal weight"),
        ("newcombe", 60, False, ""),
    ],
)
def test_intervals_by_name_say_where_they_are_not_for_such_data(method, n_pos, weighted, reason):
    rng = np.random.default_rng(3)
    label = np.arange(300) < n_pos
    score, weight = rng.normal(size=300) + label, 0.5 + rng.random(300)
    found = rs.auc_interval(label, score, method=method, sample_weight=weight if weighted else None)
    assert found.reason.startswith(reason) and found.reliable == (not reason)
