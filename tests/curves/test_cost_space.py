"""Cost curves, Brier curves and net benefit: duals of the hull, areas that are known scores, sums over rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
import rocscope as rs
from model_cases import contexts
from rocscope import Context, OperatingPoint
from rocscope.errors import InputError, OneClassError, ScoreError
from strategies import float_weights, probabilities, samples, whole_weights

risks = samples(score=probabilities, dtype=np.float64)


def points_of(sample):
    return oracle.points(oracle.rows(sample.y, sample.score, sample.weight))


@given(sample=samples(weight=whole_weights), x=st.sampled_from([0, 0.1, 0.3, 0.5, 0.77, 1]))
def test_the_cost_curve_is_the_lower_envelope_of_the_lines_of_all_thresholds(sample, x):
    curve = rs.cost_curve(sample.counts())
    share = oracle.exact(x)
    lowest = min(share * (1 - point.tpr) + (1 - share) * point.fpr for point in points_of(sample))
    assert curve.at(x) == pytest.approx(float(lowest), abs=1e-12)
    assert curve.trivial.at(x) == pytest.approx(min(x, 1 - x))
    lines = x * curve.fnr + (1 - x) * curve.fpr
    assert lines.min() == pytest.approx(float(lowest), abs=1e-12)


@given(sample=samples(weight=float_weights), context=contexts)
def test_hull_optimum_envelope_and_calibrated_bayes_threshold_are_one(sample, context):
    """Three ways to the lowest cost: the hull's vertex, the cost curve, and p ≥ p* on pooled probabilities."""
    counts = sample.counts()
    best = rs.hull(counts).expected_cost(context)
    curve = rs.cost_curve(counts)
    share = context.prevalence(counts.prevalence)
    worst = share * context.cost_fn + (1 - share) * context.cost_fp
    envelope = worst * curve.at(curve.probability_cost(context, counts.prevalence))
    assert envelope == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert by_calibration(sample, context, share) == pytest.approx(best, rel=1e-9, abs=1e-12)


def by_calibration(sample, context, share):
    """Cost where isotonic probabilities, at the target's class mix, are cut at the Bayes threshold."""
    from scipy.optimize import isotonic_regression

    weight = np.ones(sample.y.size) if sample.weight is None else sample.weight
    scores = np.unique(sample.score[weight > 0])
    mass = np.array([[weight[(sample.score == s) & (sample.y == y)].sum() for y in (0, 1)] for s in scores])
    mass = mass / mass.sum(axis=0) * [1 - share, share]
    fitted = isotonic_regression(mass[:, 1] / mass.sum(axis=1), weights=mass.sum(axis=1)).x
    positive = fitted >= context.probability_threshold - 1e-12
    return context.cost_fp * mass[positive, 0].sum() + context.cost_fn * mass[~positive, 1].sum()


@given(sample=samples(weight=whole_weights))
def test_area_under_the_cost_curve_is_the_mean_over_operating_conditions(sample):
    curve = rs.cost_curve(sample.counts())
    grid = (np.arange(2000) + 0.5) / 2000
    assert curve.area() == pytest.approx(curve.at(grid).mean(), abs=1e-5)
    assert curve.area() <= curve.trivial.area() + 1e-12


@given(sample=samples(score=probabilities, dtype=np.float64, weight=float_weights))
def test_area_under_the_brier_curve_is_the_brier_score(sample):
    counts = sample.counts()
    brier = np.average((sample.score - sample.y) ** 2, weights=sample.weight)
    assert rs.curves.brier_curve(counts).area() == pytest.approx(brier, abs=1e-12)


@given(sample=risks, x=probabilities)
def test_the_brier_curve_is_the_loss_of_the_threshold_at_the_cost_proportion(sample, x):
    positive = sample.score >= x
    loss = 2 * np.mean(np.where(positive, x * (sample.y == 0), (1 - x) * (sample.y == 1)))
    curve = rs.curves.brier_curve(sample.counts())
    assert curve.at(x) == pytest.approx(loss, abs=1e-12)
    first = np.flatnonzero(curve.x == x)
    if first.size:
        assert curve.y[first[0]] == pytest.approx(loss, abs=1e-12) or x == 0
    share = sample.y.mean()
    envelope = (
        2
        * ((1 - x) * share + x * (1 - share))
        * rs.cost_curve(sample.counts()).at((1 - x) * share / ((1 - x) * share + x * (1 - share)))
    )
    assert loss >= envelope - 1e-12


thresholds = st.sampled_from([0.05, 0.1, 0.3, 0.5, 0.55, 0.7, 0.93])


@given(sample=risks, threshold=thresholds)
def test_net_benefit_counts_rows(sample, threshold):
    odds = oracle.exact(threshold) / (1 - oracle.exact(threshold))
    treated = [row for row in oracle.rows(sample.y, sample.score) if row.score >= threshold]
    true = len(oracle.positives(treated))
    benefit = (true - odds * (len(treated) - true)) / sample.y.size
    share = Fraction(int(sample.y.sum()), sample.y.size)
    curve = rs.net_benefit(sample.counts())
    assert curve.at(threshold) == pytest.approx(float(benefit), abs=1e-12)
    standardized = rs.net_benefit(sample.counts(), standardized=True)
    assert standardized.at(threshold) == pytest.approx(float(benefit / share), abs=1e-12)
    treat_all = share - (1 - share) * odds
    exact = rs.net_benefit(sample.counts(), threshold=[threshold])
    assert exact.treat_all.y[0] == pytest.approx(float(treat_all), abs=1e-12)
    spared = 100 * (benefit - treat_all) / odds
    for each in (exact, rs.net_benefit(sample.counts(), threshold=[threshold], standardized=True)):
        assert each.interventions_avoided.y[0] == pytest.approx(float(spared), abs=1e-9)


@given(sample=risks, threshold=thresholds, prevalence=st.sampled_from([0.01, 0.4]))
def test_net_benefit_is_minus_the_cost_at_the_target_prevalence(sample, threshold, prevalence):
    counts = sample.counts()
    curve = rs.net_benefit(counts, target_prevalence=prevalence)
    point = counts.at(threshold)
    context = Context(prevalence, cost_fp=threshold / (1 - threshold), cost_fn=0, cost_tp=-1)
    assert curve.at(threshold) == pytest.approx(-float(context.exact_cost(point)), abs=1e-12)
    assert curve.at(threshold) == pytest.approx(rs.net_benefit(rs.decisions.reweight(counts, prevalence)).at(threshold))


def test_the_default_grid_and_columns():
    curve = rs.net_benefit([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    assert (curve.x.size, curve.x[0], curve.x[-1]) == (99, 0.01, 0.99)
    assert list(curve.columns()) == [
        "threshold_probability",
        "net_benefit",
        "threshold",
        "treat_all",
        "treat_none",
        "interventions_avoided_per_100",
    ]
    assert np.isnan(curve.at(-0.1))
    assert np.isnan(curve.at(1.0))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: rs.curves.brier_curve([1, 0], [2.0, 0.1]),
            ScoreError,
            "Brier curve: expected probabilities from 0 to 1",
        ),
        (lambda: rs.net_benefit([1, 0], [-0.2, 0.1]), ScoreError, "decision curve: expected probabilities .*-0.2"),
        (lambda: rs.net_benefit([1, 1], [0.2, 0.1]), OneClassError, "decision curve: expected both classes"),
        (lambda: rs.net_benefit([1, 0], [0.2, 0.1], threshold=[0.2, 0.1]), InputError, "in increasing order"),
        (lambda: rs.net_benefit([1, 0], [0.2, 0.1], threshold=[0.1, 1]), InputError, "in increasing order"),
        (lambda: rs.net_benefit([1, 0], [0.2, 0.1], target_prevalence=5), InputError, "write 5% as 0.05"),
        (lambda: rs.net_benefit([1, 0], [0.2, 0.1]).area(), InputError, "has no meaning"),
        (lambda: rs.cost_curve([1, 1], [1, 2]), OneClassError, "cost curve: expected both classes"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_crisp_classifier_has_cost_lines_too():
    curve = rs.cost_curve(OperatingPoint(tp=6, fp=1, fn=2, tn=3))
    assert curve.fpr.tolist() == [0, 0.25, 1]
    assert curve.fnr.tolist() == [1, 0.25, 0]
    assert curve.at(0.5) == 0.25
    assert "area=" in repr(curve)
    assert curve.to_dict()["threshold"][0] is None


SEVERAL = rs.Predictions([1, 0, 1, 0, 1], {"a": [0.9, 0.6, 0.4, 0.1, 0.7], "b": [0.8, 0.2, 0.3, 0.4, 0.6]})
CAMPAIGN = rs.Campaign(population=100, unit_cost=1, unit_benefit=3)


@pytest.mark.parametrize(
    "make", [rs.cost_curve, rs.net_benefit, lambda data, **which: rs.profit(data, CAMPAIGN, **which)]
)
def test_several_models_in_one_call_and_one_figure(make):
    for data in (SEVERAL, {name: SEVERAL.counts(name) for name in "ab"}):
        curves = make(data)
        assert list(curves) == ["a", "b"]
        ax = curves.plot()
        drawn = {line.get_label().partition(" (")[0]: line for line in ax.get_lines()}
        for name in "ab":
            alone = make(SEVERAL, model=name)
            assert curves[name].to_dict() == curves.to_dict()[name] == alone.to_dict()
            assert drawn[name].get_ydata().max() == alone.y.max()
        frame = curves.to_frame()
        assert frame.groupby("model").size().to_dict() == {name: curves[name].x.size for name in "ab"}
        assert "\n" not in repr(curves)


def test_harm_and_one_threshold_as_in_dcurves():
    """Net benefit at 0.5 is tp/n − fp/n; harm is taken off, from the model's and not from treating all."""
    plain, harmed = (rs.net_benefit(SEVERAL, threshold=0.5, harm=harm) for harm in (0, {"a": 0.02}))
    assert plain["a"].x.tolist() == [0.5]
    assert plain["a"].y.tolist() == pytest.approx([2 / 5 - 1 / 5])
    assert harmed["a"].y == pytest.approx(plain["a"].y - 0.02)
    assert harmed["b"].y == plain["b"].y
    assert harmed["a"].treat_all.y == plain["a"].treat_all.y
    standard = rs.net_benefit(SEVERAL, model="a", threshold=0.5, harm=0.02, standardized=True)
    assert standard.y == pytest.approx(harmed["a"].y / 0.6)
    assert standard.recount(standard.counts).y == standard.y
    with pytest.raises(InputError, match="harm: expected a number of true positives per case of at least 0, got -1"):
        rs.net_benefit(SEVERAL, harm=-1)


def test_net_benefit_at_a_threshold_of_0_is_the_prevalence():
    curve = rs.net_benefit([1, 0, 1, 0, 0], [0.9, 0.6, 0.0, 0.1, 0.2], threshold=[0, 0.5])
    assert curve.y[0] == curve.at(0) == 0.4 == curve.treat_all.y[0]
    assert curve.interventions_avoided.y[0] == 0
