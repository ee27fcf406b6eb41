"""Power and sample sizes against pROC, against simulation and against the intervals that they promise."""

import csv

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats

import rocscope as rs
from proc_values import PROC, VALUES
from rocscope.errors import InputError
from rocscope.inference.planning.sample_size import Pilot
from rocscope.inference.proportions import proportion_interval

CASES = [
    (float(area), float(ratio))
    for q in VALUES
    if q[0] == "planning" and "cases" in q[1]
    for area, ratio in [q[1].split()[1:]]
]


@pytest.mark.parametrize(("area", "ratio"), CASES)
def test_obuchowskis_variance_gives_the_numbers_of_proc(area, ratio):
    published = {"ratio": ratio, "power": 0.9, "method": "obuchowski"}
    plan = rs.inference.planning.auc_sample_size(area, **published)
    # pROC writes the square root of 2 as 1.414, so the two agree to a thousandth.
    cases = VALUES["planning", f"cases {area:g} {ratio:g}"]
    assert np.ceil(cases * 0.999) <= plan.n_pos <= np.ceil(cases * 1.001)
    sizes = {"n_pos": 40, "n_neg": round(40 * ratio), "method": "obuchowski"}
    power = rs.inference.planning.auc_power(area, **sizes)
    assert power == pytest.approx(VALUES["planning", f"power {area:g} {ratio:g}"], abs=1e-5)


@pytest.mark.parametrize(("area", "n_pos", "n_neg"), [(0.5, 7, 11), (0.8, 20, 30), (0.95, 5, 50)])
def test_the_variance_is_that_of_normal_scores(area, n_pos, n_neg):
    """By its definition: Bamber's sum over pairs, with the chance of two ranked right from a bivariate normal law."""
    h = stats.norm.ppf(area)
    both = stats.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]]).cdf([h, h])
    exact = (area * (1 - area) + (n_pos + n_neg - 2) * (both - area**2)) / (n_pos * n_neg)
    found = rs.inference.planning.auc_variance(area, n_neg / n_pos, positives=n_pos) / n_pos
    assert found == pytest.approx(exact, rel=1e-4)


@given(
    st.sampled_from([0.6, 0.7, 0.85]),
    st.sampled_from([0.65, 0.75, 0.95]),
    st.sampled_from([0.0, 0.4, 0.8]),
    st.sampled_from([1.0, 3.0]),
    st.sampled_from([0.7, 0.9]),
)
def test_sample_sizes_are_the_smallest_with_the_power(first, second, correlation, ratio, power):
    plan = rs.inference.planning.comparison_sample_size(
        first, second, power=power, ratio=ratio, correlation=correlation
    )
    options = {"correlation": correlation, "alternative": "two-sided"}
    reached = rs.inference.planning.comparison_power(
        first, second, n_pos=plan.n_pos, n_neg=int(plan.n_pos * ratio), **options
    )
    assert reached == pytest.approx(plan.power)
    assert reached >= power
    fewer = plan.n_pos - 1
    assert (
        rs.inference.planning.comparison_power(first, second, n_pos=fewer, n_neg=int(fewer * ratio), **options) < power
    )


def reached_power(area, null, ratio, samples):
    plan = rs.inference.planning.auc_sample_size(area, null=null, ratio=ratio)
    rng, label = np.random.default_rng(0), np.arange(plan.n) < plan.n_pos
    shift = np.sqrt(2) * special.ndtri(area)
    found = sum(rs.auc_interval(label, label * shift + rng.normal(size=plan.n)).low > null for _ in range(samples))
    return plan.power, found / samples


def test_planned_power_is_that_of_the_interval():
    planned, reached = reached_power(0.8, 0.65, 2, 400)
    assert reached == pytest.approx(planned, abs=0.06)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:AUC 1 from")
@pytest.mark.parametrize(
    ("area", "null", "ratio"),
    [(0.7, 0.5, 1), (0.8, 0.5, 1), (0.8, 0.7, 1), (0.85, 0.75, 4), (0.9, 0.8, 2), (0.95, 0.9, 1), (0.95, 0.9, 9)],
)
def test_planned_power_is_that_of_the_interval_in_full(area, null, ratio):
    planned, reached = reached_power(area, null, ratio, 5000)
    assert reached == pytest.approx(planned, abs=0.03 if (area, ratio) == (0.95, 9) else 0.02)


def reached_power_of_pair(first, second, ratio, correlation, samples):
    """The planned power of a comparison, and the share of samples in which `compare` finds a difference."""
    rng = np.random.default_rng(0)
    shifts = np.sqrt(2) * special.ndtri([[first], [second]])

    def comparison(n_pos, n_neg):
        label = np.arange(n_pos + n_neg) < n_pos
        noise = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=label.size).T
        first, second = label * shifts + noise
        return rs.compare(label, {"a": first, "b": second})

    covariance = comparison(20_000, int(20_000 * ratio)).covariance
    of_areas = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    plan = rs.inference.planning.comparison_sample_size(first, second, ratio=ratio, correlation=of_areas)
    found = sum(comparison(plan.n_pos, plan.n_neg)[0].p_value < 0.05 for _ in range(samples))
    return plan.power, found / samples


def test_planned_power_is_that_of_the_comparison():
    planned, reached = reached_power_of_pair(0.8, 0.95, 1, 0.5, 400)
    assert reached == pytest.approx(planned, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "ratio", "correlation"),
    [
        (0.7, 0.8, 1, 0.5),
        (0.8, 0.85, 1, 0.6),
        (0.9, 0.95, 1, 0.6),
        (0.9, 0.95, 9, 0.6),
        (0.95, 0.9, 1, 0.3),
        (0.85, 0.97, 1, 0),
    ],
)
def test_planned_power_is_that_of_the_comparison_in_full(first, second, ratio, correlation):
    # At 41 cases of each class with an AUC of .97 the power is .03 below the planned one.
    planned, reached = reached_power_of_pair(first, second, ratio, correlation, 3000)
    assert reached == pytest.approx(planned, abs=0.04 if second == 0.97 else 0.025)


def test_high_areas_of_few_positives_need_more_cases_than_their_variance_says():
    # 59 positives and 531 negatives reach a power of .66, and 92 of each a width of .063 (1,000 samples each).
    planning = rs.inference.planning
    assert planning.auc_power(0.95, n_pos=59, n_neg=531, null=0.9) == pytest.approx(0.66, abs=0.04)
    plan = planning.auc_width_sample_size(0.95, width=0.06)
    rng, label = np.random.default_rng(1), np.arange(plan.n) < plan.n_pos
    scores = label * np.sqrt(2) * special.ndtri(0.95) + rng.normal(size=(100, plan.n))
    intervals = [rs.auc_interval(label, score) for score in scores]
    assert np.mean([interval.high - interval.low for interval in intervals]) == pytest.approx(0.06, abs=0.002)
    # Of more than 2,000 cases a class has fewer levels, whose rows are equal.
    few, many = (planning.auc_power(0.71, n_pos=n, n_neg=n, null=0.7) for n in (1999, 2001))
    assert few == pytest.approx(many, abs=1e-3)


def test_correlation_saves_cases():
    apart, same = (rs.inference.planning.comparison_sample_size(0.7, 0.8, correlation=r).n_pos for r in (0, 0.6))
    assert same < 0.5 * apart
    one_sided = rs.inference.planning.comparison_sample_size(0.7, 0.8, alternative="greater").n_pos
    assert one_sided < apart


@given(
    st.floats(0.02, 0.98), st.sampled_from([0.05, 0.1, 0.3]), st.sampled_from(["wilson", "clopper-pearson", "jeffreys"])
)
def test_rates_come_with_the_width_planned(rate, width, method):
    plan = rs.inference.planning.rate_sample_size(rate, rate, width=width, method=method)
    assert plan.n_pos == plan.n_neg
    for n, wide in ((plan.n_pos - 1, True), (plan.n_pos, False), (plan.n_pos + 7, False)):
        if n:
            low, high = proportion_interval(round(rate * n), n, method=method)
            assert (high - low > width) == wide


def test_classes_that_cannot_be_sought_out():
    free = rs.inference.planning.rate_sample_size(0.9, 0.8)
    plan = rs.inference.planning.rate_sample_size(0.9, 0.8, prevalence=0.1)
    assert plan.n_pos >= free.n_pos
    assert plan.n_neg >= free.n_neg
    assert plan.n == pytest.approx(free.n_pos / 0.1, abs=1)


def test_variance_of_chance_is_that_of_the_rank_statistic():
    assert rs.inference.planning.auc_variance(0.5, 2) == pytest.approx((1 + 1 / 2) / 12, rel=1e-12)
    n_pos, n_neg = 7, 14  # Mann & Whitney's, (m + n + 1)/(12mn)
    found = rs.inference.planning.auc_variance(0.5, 2, positives=n_pos) / n_pos
    assert found == pytest.approx((n_pos + n_neg + 1) / (12 * n_pos * n_neg), rel=1e-12)


def test_plans_are_one_line_and_plain_data():
    plan = rs.inference.planning.auc_sample_size(0.7)
    assert plan.to_dict()["n"] == plan.n_pos + plan.n_neg
    assert "power" in repr(plan)
    assert rs.inference.planning.rate_sample_size(0.9, 0.9).to_dict()["power"] is None


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.auc_power(1.0, n_pos=10, n_neg=10),
        lambda p: p.auc_power(0.5, n_pos=10, n_neg=10),
        lambda p: p.auc_power(0.7, n_pos=0, n_neg=10),
        lambda p: p.auc_power(0.4, n_pos=10, n_neg=10, alternative="greater"),
        lambda p: p.auc_sample_size(0.7, power=80),
        lambda p: p.auc_sample_size(0.7, alpha=5),
        lambda p: p.auc_sample_size(0.7, ratio=0),
        lambda p: p.auc_sample_size(0.7, alternative="less"),
        lambda p: p.comparison_sample_size(0.7, 0.8, correlation=1),
        lambda p: p.comparison_sample_size(0.7, 0.7),
        lambda p: rs.inference.planning.rate_sample_size(1.2, 0.5),
        lambda p: rs.inference.planning.rate_sample_size(0.8, 0.5, width=5),
        lambda p: rs.inference.planning.rate_sample_size(0.8, 0.5, level=95),
        lambda p: rs.inference.planning.rate_sample_size(0.8, 0.5, prevalence=5),
        lambda p: rs.inference.planning.rate_sample_size(0.8, 0.5, width=1e-5),
    ],
)
def test_bad_input_is_named(call):
    with pytest.raises(InputError, match="expected"):
        call(rs.inference.planning)


def test_two_curves_of_a_pilot_have_the_power_that_proc_gives_them():
    """power.roc.test of pROC 1.18 for ndka and wfns of its aSAH data: 0.7131593987, with a negative covariance."""
    with (PROC / "asah.csv").open() as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    columns = {name: [row[name] for row in rows] for name in ("outcome", "ndka", "wfns")}
    pilot = Pilot.of(rs.Predictions(columns.pop("outcome"), columns))
    assert pilot.correlation < 0
    same = {"n_pos": pilot.n_pos, "n_neg": pilot.n_neg}
    assert pilot.power(**same) == pytest.approx(0.7131593987, abs=1e-9)
    assert pilot.alpha(power=0.7131593987, **same) == pytest.approx(0.05, abs=1e-8)
    each = pilot.n_neg / pilot.n_pos
    needed = pilot.cases(power=0.9, ratio=each)
    assert pilot.power(n_pos=needed, n_neg=needed * each) >= 0.9
    assert pilot.power(n_pos=needed - 1, n_neg=(needed - 1) * each) < 0.9
    assert pilot.power(margin=0.05, **same) > pilot.power(**same)


def test_a_pilot_of_equal_rankings_has_no_power():
    scores = np.array([0.1, 0.4, 0.35, 0.8])
    pilot = Pilot.of(rs.Predictions([0, 0, 1, 1], {"a": scores, "b": scores**3}))
    with pytest.raises(InputError, match="expected models that rank cases differently, got equal rankings"):
        pilot.power(n_pos=50, n_neg=50)


def test_negative_correlations_cost_cases():
    plan = rs.inference.planning
    powers = [plan.comparison_power(0.7, 0.8, n_pos=100, n_neg=100, correlation=r) for r in (-0.3, 0, 0.5)]
    assert powers == sorted(powers)


def test_what_a_study_detects_has_its_power():
    plan = rs.inference.planning
    found = plan.detectable_auc(n_pos=30, n_neg=90, power=0.85, null=0.6)
    assert plan.auc_power(found, n_pos=30, n_neg=90, null=0.6) == pytest.approx(0.85)
    assert found > 0.6


def test_intervals_are_as_wide_as_planned():
    plan = rs.inference.planning.auc_width_sample_size(0.85, width=0.08, ratio=2)
    rng = np.random.default_rng(0)
    label = np.arange(plan.n) < plan.n_pos
    widths = []
    for _ in range(40):
        score = rng.normal(size=plan.n) + np.sqrt(2) * stats.norm.ppf(0.85) * label
        found = rs.auc_interval(label, score, method="logit")
        widths.append(found.high - found.low)
    assert np.mean(widths) == pytest.approx(0.08, rel=0.05)


def test_the_least_power_to_ask_for_is_that_without_a_difference():
    plan = rs.inference.planning
    assert plan.detectable_auc(n_pos=40, n_neg=40, power=0.03) > 0.5
    with pytest.raises(InputError, match=r"expected a power above 0\.0236 \(the power for no difference\), got 0\.02"):
        plan.detectable_auc(n_pos=40, n_neg=40, power=0.02)
