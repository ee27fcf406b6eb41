"""Uncertain contexts and the H-measure: closed forms against numerical integration over a fine grid of contexts."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats

import rocscope as rs
from model_cases import all_points, several
from rocscope import Context, OperatingPoint
from rocscope.decisions import Beta, LogNormal, UncertainContext, Uniform
from rocscope.errors import InputError
from strategies import costly

THEIRS = {
    Uniform(0.1, 0.6): stats.uniform(0.1, 0.5),
    Beta(2, 5): stats.beta(2, 5),
    Beta(0.5, 0.7): stats.beta(0.5, 0.7),
    LogNormal(0.3, 0.8): stats.lognorm(0.8, scale=0.3),
}
RATIOS = [*THEIRS, (0.02, 3.0)]
SHARES = [Uniform(0.1, 0.6), Beta(2, 5), (0.001, 0.05)]


@pytest.mark.parametrize("distribution", THEIRS)
def test_masses_and_moments_are_scipys(distribution):
    theirs = THEIRS[distribution]
    quantiles = theirs.ppf((np.arange(100_000) + 0.5) / 100_000)
    assert distribution.mean == pytest.approx(theirs.mean())
    for value in (-1.0, 0.0, 0.2, 0.45, 0.9, 3.0, np.inf):
        assert distribution.mass_below(value) == pytest.approx(theirs.cdf(value))
        moment = np.mean(quantiles * (quantiles < value))
        assert distribution.moment_below(value) == pytest.approx(moment, abs=1e-4)
    for mass in (0.01, 0.5, 0.9):
        assert distribution.quantile(mass) == pytest.approx(theirs.ppf(mass))


def by_quadrature(preds, ratio, share):
    """Mean of the least cost over quantiles of both, split at no border: a plain midpoint rule."""
    ratios, shares = (_midpoints(each) for each in (ratio, share))
    tpr, fpr = (np.array([float(getattr(point, name)) for point in all_points(preds)]) for name in ("tpr", "fpr"))
    ratios, shares = np.meshgrid(ratios, shares)
    cost = shares[..., None] * (1 - tpr) + ((1 - shares) * ratios)[..., None] * fpr
    return cost.min(axis=-1).mean()


def _midpoints(given, size=400):
    if isinstance(given, float | int):
        return np.array([given])
    given = Uniform(*given) if isinstance(given, tuple) else given
    return np.array([given.quantile(mass) for mass in (np.arange(size) + 0.5) / size])


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
@costly
@given(preds=several(most=12))
def test_uncertain_ratio(ratio, preds):
    context = UncertainContext(cost_ratio=ratio)
    expected = by_quadrature(preds, ratio, preds.prevalence)
    assert rs.hull(preds).expected_cost(context) == pytest.approx(expected, rel=6e-3, abs=1e-9)


@pytest.mark.parametrize("share", SHARES, ids=str)
@costly
@given(preds=several(most=12))
def test_uncertain_prevalence(share, preds):
    context = UncertainContext(cost_ratio=0.2, target_prevalence=share)
    expected = by_quadrature(preds, 0.2, share)
    assert rs.hull(preds).expected_cost(context) == pytest.approx(expected, rel=6e-3, abs=1e-9)


@costly
@given(preds=several(most=10), ratio=st.sampled_from(RATIOS), share=st.sampled_from(SHARES))
def test_both_uncertain(preds, ratio, share):
    context = UncertainContext(cost_ratio=ratio, target_prevalence=share)
    expected = by_quadrature(preds, ratio, share)
    assert rs.hull(preds).expected_cost(context) == pytest.approx(expected, rel=1e-2, abs=1e-9)


def test_adaptive_quadrature_agrees_to_many_digits():
    hull = rs.hull(rs.ThresholdCounts([4, 3, 2, 1], [40, 20, 10, 5], [2, 10, 60, 300]))
    context = UncertainContext(cost_ratio=LogNormal(0.1, 0.9), target_prevalence=0.07)
    density, slopes = stats.lognorm(0.9, scale=0.1).pdf, [float(b) for b in hull.slope_ranges.borders]
    borders = sorted(slope * 0.07 / 0.93 for slope in slopes)

    def cost(ratio):
        return hull.expected_cost(Context(0.07, cost_fp=ratio)) * density(ratio)

    ends = [1e-9, *borders, 50.0]
    parts = [integrate.quad(cost, a, b, epsabs=1e-13, limit=400)[0] for a, b in itertools.pairwise(ends)]
    assert hull.expected_cost(context) == pytest.approx(sum(parts), rel=1e-7)


@given(preds=several(most=12), ratio=st.sampled_from(RATIOS), share=st.none() | st.sampled_from(SHARES))
@costly
def test_a_choice_made_now_is_best_at_the_mean_and_costs_no_less(preds, ratio, share):
    context = UncertainContext(cost_ratio=ratio, target_prevalence=share)
    hull = rs.hull(preds)
    decision = rs.choose(hull, context)
    assert decision.context == context.mean
    assert decision.expected_cost == rs.choose(preds, context.mean).expected_cost
    assert hull.expected_cost(context) <= decision.expected_cost * (1 + 1e-9)
    assert "knowing the context first would save" in decision.notes[-1]


def test_numbers_are_distributions_of_no_width():
    hull = rs.hull({"a": OperatingPoint(6, 2, 2, 10), "b": OperatingPoint(7, 5, 1, 7)})
    certain = Context(0.2, cost_fp=0.3)
    assert hull.expected_cost(UncertainContext(cost_ratio=0.3, target_prevalence=0.2)) == pytest.approx(
        hull.expected_cost(certain)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: UncertainContext(cost_ratio=(-0.1, 2)), "cost_ratio: expected values above 0"),
        (lambda: UncertainContext(cost_ratio=0), "cost_ratio: expected values above 0, got 0"),
        (lambda: UncertainContext(cost_ratio="high"), "cost_ratio: expected a number, a range or a distribution"),
        (lambda: UncertainContext(target_prevalence=LogNormal(0.1, 1)), "target_prevalence: expected values between"),
        (lambda: UncertainContext(target_prevalence=1), "target_prevalence: expected values between 0 and 1, got 1"),
        (lambda: Uniform(2, 1), "high: expected a finite number above 2, got 1"),
        (lambda: Beta(0, 1), "a: expected a finite number above 0, got 0"),
        (lambda: LogNormal(1, -1), "sigma: expected a finite number above 0, got -1"),
        (
            lambda: rs.decisions.h_measure([1, 0], [1, 0], costs="symmetric", severity_ratio=2),
            "costs and severity_ratio: expected only one of these arguments, got both",
        ),
        (
            lambda: rs.decisions.h_measure([1, 0], [1, 0], severity_ratio=0),
            "severity_ratio: expected a finite number above 0, got 0",
        ),
        (
            lambda: rs.decisions.h_measure([1, 0], [1, 0], costs="cheap"),
            "costs: expected 'prevalence', 'symmetric' or a Beta",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_h_measure_of_the_r_package():
    """Published by the Python translation of the R package hmeasure, whose default severity ratio is π₁/π₀."""
    rng = np.random.default_rng(66)
    label, score = rng.integers(low=0, high=2, size=10), rng.random(10)
    share = label.mean()
    ratio = share / (1 - share)
    assert rs.decisions.h_measure(label, score, severity_ratio=ratio) == rs.decisions.h_measure(
        label, score, costs=Beta(2, 1 + 1 / ratio)
    )
    assert rs.decisions.h_measure(label, score, costs=Beta(2, 1 + (1 - share) / share)) == pytest.approx(
        0.18889596344769588
    )


@given(preds=several(most=15), costs=st.sampled_from([("symmetric", 2, 2), ("prevalence", None, None)]))
@costly
def test_h_measure_is_one_minus_the_share_of_the_trivial_loss(preds, costs):
    name, a, b = costs
    share = preds.prevalence
    distribution = stats.beta(a or 1 + share, b or 2 - share)
    u = distribution.ppf((np.arange(4000) + 0.5) / 4000)[:, None]
    points = list(all_points(preds.select(models=["a"])))
    tpr, fpr = (np.array([float(getattr(point, rate)) for point in points]) for rate in ("tpr", "fpr"))
    loss = (u * (1 - share) * fpr + (1 - u) * share * (1 - tpr)).min(axis=1).mean()
    trivial = np.minimum(u * (1 - share), (1 - u) * share).mean()
    assert rs.decisions.h_measure(preds.counts("a"), costs=name) == pytest.approx(1 - loss / trivial, abs=2e-4)
