"""Tests of classifiers against SciPy, statsmodels, enumeration and pROC."""

import itertools
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

import rocscope as rs
from inference_cases import cases
from proc_values import SETS, VALUES
from rocscope.errors import ColumnError, InputError, OneClassError, PairingError, RocscopeWarning, WeightError
from rocscope.inference.statistics import at

RNG = np.random.default_rng(3)
LABEL = (np.arange(90) % 3 == 0).astype(int)
PREDS = rs.Predictions(LABEL, {m: (LABEL * 0.8 + RNG.normal(size=90)).round(1) for m in "ab"})


@pytest.mark.filterwarnings("ignore:AUC")
@given(cases(most=9, least=1), st.sampled_from(["two-sided", "greater", "less"]))
def test_exact_rank_test_counts_all_labellings(case, alternative):
    label, scores = case
    rank = stats.rankdata(scores["a"])
    observed = rank[label == 1].sum()
    sums = np.array([sum(chosen) for chosen in itertools.combinations(rank, int(label.sum()))])
    centre = sums.mean()
    extreme = {
        "two-sided": abs(sums - centre) >= abs(observed - centre) - 1e-9,
        "greater": sums >= observed - 1e-9,
        "less": sums <= observed + 1e-9,
    }[alternative]
    found = rs.inference.mann_whitney(label, scores["a"], alternative=alternative, method="exact")
    assert found.p_value == pytest.approx(extreme.mean(), rel=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_rank_test_agrees_with_scipy(alternative):
    pos, neg = RNG.normal(0.4, size=25), RNG.normal(size=40)
    label, score = np.repeat([1, 0], [25, 40]), np.concatenate([pos, neg])
    exact = stats.mannwhitneyu(pos, neg, alternative=alternative, method="exact")
    found = rs.inference.mann_whitney(label, score, alternative=alternative)
    assert (found.statistic, found.p_value) == pytest.approx((exact.statistic, exact.pvalue), rel=1e-9)
    assert found.difference.value == pytest.approx(rs.auc(label, score) - 0.5)
    assert "exact" in found.method
    tied = stats.mannwhitneyu(pos.round(), neg.round(), alternative=alternative, method="asymptotic")
    found = rs.inference.mann_whitney(label, score.round(), alternative=alternative, method="asymptotic")
    assert (found.statistic, found.p_value) == pytest.approx((tied.statistic, tied.pvalue), rel=1e-9)


def test_rank_test_is_exact_for_small_samples_only():
    assert "exact" in rs.inference.mann_whitney(PREDS.select(models=["a"])).method
    large = SETS["largest"].select(models=["a"])
    assert "asymptotic" in rs.inference.mann_whitney(large).method


def test_all_scores_tied_show_nothing():
    for method in ("exact", "asymptotic"):
        assert rs.inference.mann_whitney([1, 1, 0], [1, 1, 1], method=method).p_value == 1


def discordant(b, c, both=5):
    """Predictions of which `b` are right by the second only and `c` by the first only."""
    n = b + c + both
    first, second = np.ones(n), np.ones(n)
    first[:b] = 0
    second[b : b + c] = 0
    return rs.Predictions([1] * n, {"first": first, "second": second})


@given(st.integers(0, 15), st.integers(0, 15))
def test_mcnemar_agrees_with_statsmodels(b, c):
    preds = discordant(b, c)
    table = [[5, c], [b, 0]]
    exact = statsmodels_mcnemar(table, exact=True).pvalue
    assert rs.inference.mcnemar(preds, 0.5, method="exact").p_value == pytest.approx(exact, abs=1e-12)
    # Fagerland et al. (2013), eq. 7: the exact p-value less the probability of the observed table.
    mid_p = 1.0 if b == c else exact - stats.binom.pmf(b, b + c, 0.5)
    assert rs.inference.mcnemar(preds, 0.5).p_value == pytest.approx(mid_p, abs=1e-12)
    if b + c:
        asymptotic = statsmodels_mcnemar(table, exact=False, correction=False).pvalue
        assert rs.inference.mcnemar(preds, 0.5, method="asymptotic").p_value == pytest.approx(asymptotic, abs=1e-12)


def test_mcnemar_of_a_table_is_that_of_its_rows():
    found = rs.inference.mcnemar([[29, 2], [9, 3]])
    rows = rs.inference.mcnemar(discordant(9, 2, both=32), 0.5)
    assert found.p_value == rows.p_value and found.difference == rows.difference
    assert rs.inference.mcnemar(np.array([[29, 2], [9, 3]]), method="exact").p_value == pytest.approx(
        statsmodels_mcnemar([[29, 2], [9, 3]], exact=True).pvalue
    )
    for wrong in ([[1, 2, 3], [4, 5, 6]], [[0.5, 1], [2, 3]]):
        with pytest.raises(InputError, match="a 2 × 2 table of counts"):
            rs.inference.mcnemar(wrong)


@pytest.mark.parametrize("method", ["exact", "mid-p", "asymptotic"])
def test_one_sided_mcnemar(method):
    preds = discordant(9, 2)
    greater, less = (
        rs.inference.mcnemar(preds, 0.5, method=method, alternative=side).p_value for side in ("greater", "less")
    )
    overlap = stats.binom.pmf(9, 11, 0.5) if method == "exact" else 0
    assert greater + less == pytest.approx(1 + overlap)
    assert greater < 0.05


def test_mcnemar_interval_is_bonett_and_prices():
    found = rs.inference.mcnemar(discordant(9, 2, both=29), 0.5).difference
    gain, loss = 10 / 42, 3 / 42
    reach = stats.norm.ppf(0.975) * sqrt((gain + loss - (gain - loss) ** 2) / 42)
    assert found.value == 7 / 40
    assert (found.low, found.high) == pytest.approx((gain - loss - reach, gain - loss + reach))
    same = rs.inference.mcnemar(discordant(0, 0), 0.5)
    assert same.p_value == 1
    assert same.difference.low < 0 < same.difference.high


def test_mcnemar_by_class_weight_and_threshold():
    thresholds = {"a": 0.5, "b": 0.3}
    for among, rate in (("all", "accuracy"), ("positives", "tpr"), ("negatives", "tnr")):
        found = rs.inference.mcnemar(PREDS, thresholds, among=among)
        expected = [getattr(PREDS.counts(model).at(thresholds[model]), rate) for model in "ab"]
        assert found.difference.value == pytest.approx(expected[1] - expected[0])
    weight = np.arange(90) % 3
    weighted = rs.Predictions(LABEL, PREDS.scores, sample_weight=weight, weights="frequency")
    repeated = rs.Predictions(np.repeat(LABEL, weight), {m: np.repeat(s, weight) for m, s in PREDS.scores.items()})
    assert rs.inference.mcnemar(weighted, 0.5).to_dict() == rs.inference.mcnemar(repeated, 0.5).to_dict()


def test_thresholds_are_not_rounded_to_the_scores():
    preds = rs.Predictions([1, 0], {"a": np.array([0.1, 0.2], np.float32), "b": np.array([0.1, 0.0], np.float32)})
    below, above = float(np.float32(0.1)), np.nextafter(float(np.float32(0.1)), 1)
    assert rs.inference.mcnemar(preds, below).difference.value == 0.5
    assert rs.inference.mcnemar(preds, above).difference.value == 0.5 - 0.0
    assert rs.inference.mcnemar(preds, np.inf).difference.value == 0


def test_difference_of_two_error_rates_as_in_tan():
    first, second = rs.OperatingPoint(tp=40, fp=10, fn=5, tn=45), rs.OperatingPoint(tp=200, fp=20, fn=10, tn=70)
    found = rs.inference.compare_errors(first, second)
    error = sqrt(0.15 * 0.85 / 100 + 0.1 * 0.9 / 300)
    assert found.difference.value == pytest.approx(-0.05)
    assert found.difference.high == pytest.approx(-0.05 + stats.norm.ppf(0.975) * error)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(0.05 / error))


def row_costs(context, threshold):
    cost = {}
    for model, score in PREDS.scores.items():
        said = score >= threshold
        cells = np.where(
            LABEL == 1,
            np.where(said, context.cost_tp, context.cost_fn),
            np.where(said, context.cost_fp, context.cost_tn),
        )
        cost[model] = cells.astype(float)
    return cost


def test_costs_at_the_sample_mix_are_a_paired_z_test():
    context = rs.Context(cost_fn=7, cost_tp=-1, cost_fp=2)
    result = rs.inference.compare_costs(PREDS, context, thresholds=0.4)
    cost = row_costs(context, 0.4)
    gap = cost["b"] - cost["a"]
    assert result[0].difference.value == pytest.approx(gap.mean())
    assert result[0].difference.standard_error == pytest.approx(gap.std(ddof=1) / sqrt(90))
    assert result.estimates["a"].value == pytest.approx(context.cost(PREDS.counts("a").at(0.4)) / 90)


def test_costs_at_a_target_prevalence_weigh_the_classes():
    context = rs.Context(target_prevalence=0.05, cost_fn=30)
    result = rs.inference.compare_costs(PREDS, context, thresholds=0.4)
    cost = row_costs(context, 0.4)
    gap = cost["b"] - cost["a"]
    variance = sum(
        share**2 * gap[side == LABEL].var(ddof=1) / (side == LABEL).sum() for side, share in ((1, 0.05), (0, 0.95))
    )
    assert result[0].difference.standard_error == pytest.approx(sqrt(variance))
    for model in "ab":
        point = PREDS.counts(model).at(0.4)
        assert result.estimates[model].value == pytest.approx(context.expected_cost(point.tpr, point.fpr, 0.5))


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_costs_of_weighted_and_clustered_rows(prevalence):
    context = rs.Context(target_prevalence=prevalence, cost_fn=3)
    weight = 1 + np.arange(90) % 3
    weighted = rs.Predictions(LABEL, PREDS.scores, sample_weight=weight, weights="frequency")
    repeated = rs.Predictions(np.repeat(LABEL, weight), {m: np.repeat(s, weight) for m, s in PREDS.scores.items()})
    found = rs.inference.compare_costs(weighted, context, thresholds=0.4)
    expected = rs.inference.compare_costs(repeated, context, thresholds=0.4)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12)
    found = rs.inference.compare_costs(weighted, context, thresholds=0.4, groups=np.arange(90))
    expected = rs.inference.compare_costs(repeated, context, thresholds=0.4, groups=np.repeat(np.arange(90), weight))
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12)
    if prevalence is None:
        alone = rs.inference.compare_costs(PREDS, context, thresholds=0.4, groups=np.arange(90))
        np.testing.assert_allclose(
            alone.covariance, rs.inference.compare_costs(PREDS, context, thresholds=0.4).covariance
        )


def test_costs_of_chosen_thresholds_are_those_that_decisions_report():
    context = rs.Context(cost_fn=4)
    result = rs.inference.compare_costs(PREDS, context)
    best = {model: rs.roc(PREDS.counts(model)).best(context) for model in "ab"}
    given = rs.inference.compare_costs(PREDS, context, thresholds={model: best[model].threshold for model in "ab"})
    for n, model in enumerate("ab"):
        assert given.estimates[model].value == pytest.approx(context.cost(best[model]) / 90)
        expected = rs.choose(PREDS.select(models=[model]), context).interval()
        assert result.estimates[model] == expected
        added = 0.75 * max(expected.value - expected.apparent, 0)
        assert result.covariance[n, n] == pytest.approx(1.05 * given.covariance[n, n] + added**2)
    assert result[0].difference.value == result.estimates["b"].value - result.estimates["a"].value
    assert "thresholds chosen" in result[0].method
    assert result.covariance[0, 1] == pytest.approx(1.05 * given.covariance[0, 1])


def equally_cheap(rng, n, more=0.0):
    """A score of many levels, and a classifier as cheap as such a score's best threshold; the score may have `more`."""
    label = rng.random(n) < 0.3
    apart = 1.5
    cut = apart / 2 + np.log(0.7 / 0.3) / apart
    score, other = rng.normal(size=(2, n)) + apart * label
    score += more * label
    return rs.Predictions(label, {"score": score, "classes": (other > cut).astype(int)})


def check_equally_cheap_models(samples, n):
    rng = np.random.default_rng(n)
    p_values = [rs.inference.compare_costs(equally_cheap(rng, n))[0].p_value for _ in range(samples)]
    found = np.mean(np.array(p_values) <= 0.05)
    print(f"{n} rows: {100 * found:.1f}% of {samples} samples of equally cheap models differ")
    assert found <= 0.055 + 3 * sqrt(0.05 * 0.95 / samples)


@pytest.mark.slow
def test_equally_cheap_models_seldom_differ():
    check_equally_cheap_models(40, 300)


def statistics(samples, n, more):
    """The statistic of each sample, as it is and for the thresholds that seem best as if they had been given."""
    rng, found = np.random.default_rng([n, samples]), []
    for _ in range(samples):
        preds = equally_cheap(rng, n, more)
        best = {model: rs.roc(preds.counts(model)).best().threshold for model in preds.models}
        tests = (rs.inference.compare_costs(preds, thresholds=given)[0].statistic for given in (None, best))
        found.append(list(tests))
    return np.array(found).T


def check_cheaper_models(samples, n):
    """Whether a test that allows for the choice finds nearly as much as one that does not, at the size that it has."""
    nominal = stats.norm.ppf(0.975)
    rightful = np.quantile(statistics(samples, n, 0.0)[1], 0.975)
    own, seems = statistics(samples, n, 0.4)
    found, most = (own > nominal).mean(), (seems > rightful).mean()
    print(f"{n} rows: finds {100 * found:.1f}% of cheaper models, what costs seem {100 * most:.1f}% at the same size")
    assert found >= 0.8 * most  # as chosen, thresholds cost more than the best ones that `more` lowers


@pytest.mark.slow
def test_cheaper_models_are_found_in_full():
    check_cheaper_models(600, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1000])
def test_equally_cheap_models_seldom_differ_in_full(n):
    check_equally_cheap_models(1000, n)


def test_equal_costs_are_not_certainly_equal():
    same = rs.Predictions(LABEL, {"a": PREDS.scores["a"], "b": 2 * PREDS.scores["a"]})
    with pytest.warns(RocscopeWarning, match="one row in favour of each model"):
        pair = rs.inference.compare_costs(same)[0]
    assert pair.p_value == 1
    assert pair.difference.low < 0 < pair.difference.high
    # Bonett & Price 2012 with counts of 0: (b + 1 + c + 1)/(n + 2)² is the variance, of costs of 0 and 1
    assert pair.difference.standard_error == pytest.approx(np.sqrt(2) / (len(LABEL) + 2))


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["small", "medium"])
def test_whole_curves_agree_with_proc(name):
    preds = SETS[name].select(models=["a", "b"])
    paired = rs.inference.compare_curves(preds, replicates=4000)
    assert paired.statistic == VALUES[name, "venkatraman e a b"]
    apart = rs.inference.compare_curves({model: preds.select(models=[model]) for model in "ab"}, replicates=4000)
    for found, quantity in ((paired, "p a b"), (apart, "unpaired p a b")):
        expected = VALUES[name, f"venkatraman {quantity}"]
        error = sqrt(2 * expected * (1 - expected) / 4000)  # of two runs of 4,000 permutations
        assert found.p_value == pytest.approx(expected, abs=4 * error)


def test_curves_that_cross_differ_though_their_areas_do_not():
    y = np.repeat([1, 0], 40)
    spread = np.concatenate([np.linspace(-4, 6, 40), np.linspace(-1, 1, 40)])
    narrow = np.concatenate([np.linspace(0.5, 1.5, 40), np.linspace(-3, 3, 40)])
    preds = rs.Predictions(y, {"spread": spread, "narrow": narrow})
    assert rs.inference.compare_curves(preds, replicates=500).p_value < 0.01
    arms = {model: preds.select(models=[model]) for model in preds.models}
    assert rs.inference.compare_curves(arms, replicates=500).p_value < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_p_values_of_equal_curves_are_uniform(paired):
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        y = np.arange(40) % 2
        arms = {m: rs.Predictions(y, (y + rng.normal(size=40)).round(1)) for m in "ab"}
        found.append(rs.inference.compare_curves(arms, paired=paired, replicates=99, random_state=seed).p_value)
    assert stats.kstest(found, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rs.inference.mann_whitney([1, 1], [1, 2]), OneClassError, "no negatives"),
        (lambda: rs.inference.mann_whitney(PREDS), ColumnError, "name the model"),
        (lambda: rs.inference.mann_whitney([1, 0], [1, 2], alternative="more"), InputError, "alternative"),
        (
            lambda: rs.inference.mann_whitney(rs.ThresholdCounts([1, 0], [1.5, 1], [1, 2])),
            WeightError,
            "expected numbers of cases",
        ),
        (lambda: rs.inference.mcnemar(PREDS.select(models=["a"]), 0.5), InputError, "two models, got 1"),
        (lambda: rs.inference.mcnemar(PREDS, {"a": 0.5}), ColumnError, "no threshold for"),
        (lambda: rs.inference.mcnemar(PREDS, 0.5, method="chi2"), InputError, "method"),
        (lambda: rs.inference.mcnemar(discordant(1, 2), 0.5, among="negatives"), InputError, "row among negatives"),
        (
            lambda: rs.inference.mcnemar(rs.Predictions([1, 0], PAIR, sample_weight=[0.5, 1]), 0.5),
            InputError,
            "rows of equal weight, got sampling weights",
        ),
        (lambda: rs.inference.compare_costs(PREDS.select(models=["a"])), InputError, "two or more"),
        (
            lambda: rs.inference.compare_costs(discordant(1, 2), rs.Context(target_prevalence=0.1), thresholds=0.5),
            OneClassError,
            "both classes",
        ),
        (
            lambda: rs.inference.compare_errors(rs.OperatingPoint(0, 0, 0, 0), rs.OperatingPoint(1, 0, 0, 0)),
            InputError,
            "first",
        ),
        (lambda: rs.inference.compare_curves(SETS["small"]), InputError, "two models, got 3"),
        (lambda: rs.inference.compare_curves(PREDS, replicates=0), InputError, "replicates"),
        (
            lambda: rs.inference.compare_curves(rs.Predictions([1, 0], PAIR, sample_weight=[1, 2])),
            InputError,
            "rows of equal weight, got sampling weights",
        ),
        (
            lambda: rs.inference.compare_curves(
                dict.fromkeys("ab", PREDS) | {"b": discordant(1, 1).select(models=["first"])}, paired=True
            ),
            PairingError,
            "the same number of rows",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:AUC", "ignore:the variance")
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


PAIR = {"a": [1, 0], "b": [0, 1]}


@pytest.mark.parametrize("adjust", ["holm", "bh", "max-t", "none"])
def test_what_is_undefined_for_one_model_leaves_the_other_pairs_as_they_are(adjust):
    rng = np.random.default_rng(0)
    label = np.arange(60) % 2 == 0
    models = {"nobody": rng.random(60) * 0.4, "b": rng.random(60), "c": rng.random(60) + label}
    found = rs.compare(rs.Predictions(label, models), statistic=at(0.5, "precision"), adjust=adjust)
    assert np.isnan([found["nobody", other].adjusted_p_value for other in "bc"]).all()
    assert found["nobody", "b"].difference.reason == "the value of a model is undefined"
    both = rs.Predictions(label, {name: models[name] for name in "bc"})
    alone = rs.compare(both, statistic=at(0.5, "precision"))
    assert found["b", "c"].adjusted_p_value == pytest.approx(alone[0].p_value, rel=0.2)


def test_imputations_are_pooled_by_rubins_rules():
    values, errors = [0.70, 0.74, 0.78, 0.71], [0.03, 0.04, 0.05, 0.02]
    imputed = [rs.inference.Estimate(v, v - 0.1, v + 0.1, 0.9, "x", 50, e) for v, e in zip(values, errors, strict=True)]
    pooled = rs.inference.pool(imputed, level=0.95)
    within, mean = sum(e * e for e in errors) / 4, sum(values) / 4
    between = sum((v - mean) ** 2 for v in values) / 3
    total = within + 1.25 * between
    df = 3 * (1 + within / (1.25 * between)) ** 2
    reach = stats.t.ppf(0.975, df) * sqrt(total)
    found = (pooled.value, pooled.standard_error, pooled.low, pooled.high)
    assert found == pytest.approx((mean, sqrt(total), mean - reach, mean + reach))
    # Equal values leave the error of one; without a standard error it is that of the interval.
    same = rs.inference.pool([rs.inference.Estimate(0.7, 0.6, 0.8, 0.9, "x", 50)] * 3)
    assert (same.low, same.high, same.level) == pytest.approx((0.6, 0.8, 0.9))
    with pytest.raises(InputError, match="two or more estimates, got 1"):
        rs.inference.pool(imputed[:1])


OXYGEN = ((47.0120, 0.95984), (47.2407, 0.93540), (47.4995, 1.00766), (47.1485, 0.95439), (47.0042, 0.96528))
RUN_PULSE = ((171.216, 1.59910), (171.244, 1.75638), (171.909, 1.85795), (171.146, 1.75011), (172.072, 1.84807))


@pytest.mark.parametrize(
    ("imputed", "mean", "variance"), [(OXYGEN, 47.180993, 0.980626), (RUN_PULSE, 171.5175, 3.343744)]
)
def test_pooled_estimates_of_the_manual_of_sas(imputed, mean, variance):
    """Mean and standard error of each imputed table: SAS/STAT User's Guide, PROC MIANALYZE, example 1."""
    pooled = rs.inference.pool([rs.inference.Estimate(m, m - e, m + e, 0.95, "x", 31, e) for m, e in imputed])
    assert pooled.value == pytest.approx(mean, abs=2e-4)
    assert pooled.standard_error**2 == pytest.approx(variance, rel=2e-4)
