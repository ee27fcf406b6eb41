"""From calibration function and score density back to counts, curves and areas (Vuk & Curk, eq. 6.2–6.8)."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import beta as beta_function
from scipy.stats import beta

import rocscope as rs
from rocscope.errors import InputError, OneClassError

samples = st.lists(st.tuples(st.booleans(), st.integers(0, 30), st.integers(1, 1000)), min_size=1, max_size=40)


@given(samples)
def test_round_trip_is_exact_for_discrete_scores(rows):
    label, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    counts = rs.ThresholdCounts.from_scores(label, score / 30, sample_weight=weight)
    again = rs.calibration.CalibrationFunction.from_counts(counts).counts()
    assert again == counts
    assert again.pos.dtype == np.int64


def test_round_trip_of_weights_is_near():
    counts = rs.ThresholdCounts([0.9, 0.5, 0.1], [1.5, 0.25, 0.0], [0.5, 0.25, 3.3])
    again = rs.calibration.CalibrationFunction.from_counts(counts).counts()
    assert again.pos == pytest.approx(counts.pos)
    assert again.neg == pytest.approx(counts.neg)


def test_the_plot_and_the_density_give_every_curve_back():
    """Vuk & Curk's Table 3 through its calibration plot."""
    label, score = [1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]
    function = rs.calibration.CalibrationFunction.from_counts(label, score)
    assert function.chance.tolist() == [1, 1, 0, 0.5, 0]
    counts = function.counts()
    assert rs.auc(counts) == rs.auc(label, score)
    assert np.array_equal(rs.lift_chart(counts).y, rs.lift_chart(label, score).y)
    assert counts.at(0.5) == rs.ThresholdCounts.from_scores(label, score).at(0.5)


@pytest.mark.every(2)
@pytest.mark.parametrize(("pos", "neg", "prevalence"), [((2, 1), (1, 2), 0.5), ((3, 2), (2, 4), 0.1)])
def test_continuous_model_of_beta_laws(pos, neg, prevalence):
    """Scores of each class follow beta laws: every figure is an integral of their densities."""
    positive, negative = beta(*pos), beta(*neg)
    scale = [1 / beta_function(*law) for law in (pos, neg)]

    def of_class(o, law, scale):
        return scale * o ** (law[0] - 1) * (1 - o) ** (law[1] - 1)

    def density(o):
        return prevalence * of_class(o, pos, scale[0]) + (1 - prevalence) * of_class(o, neg, scale[1])

    model = rs.calibration.ContinuousCalibration(
        lambda o: prevalence * positive.pdf(o) / density(o) if density(o) else 0, density, n=1000
    )
    assert model.n_pos == pytest.approx(1000 * prevalence)
    point = model.at(0.4)
    assert [point.tpr, point.fpr] == pytest.approx([positive.sf(0.4), negative.sf(0.4)])
    grid = np.linspace(0, 1, 200_001)
    auc = np.trapezoid(negative.pdf(grid) * positive.sf(grid), grid)
    assert model.auc == pytest.approx(auc, abs=1e-8)
    # the positives above a random row: half of the other positives, and the AUC's share for a negative
    assert model.lift_area == pytest.approx(1000 * prevalence * (prevalence / 2 + (1 - prevalence) * auc), abs=1e-6)
    counts = model.counts(400)
    assert counts.at(0.4).tp == pytest.approx(point.tp)
    assert rs.auc(counts) == pytest.approx(auc, abs=1e-4)
    assert rs.lift_chart(counts).area() == pytest.approx(model.lift_area, rel=1e-5)


def test_uniform_and_calibrated_scores_by_hand():
    """p(o) = o, q = 1: TP = n(1 − T²)/2, FP = n(1 − T)²/2, AUC 5/6, lift area n/3."""
    model = rs.calibration.ContinuousCalibration(lambda o: o, lambda o: 1.0, n=600)
    point = model.at(0.25)
    assert [point.tp, point.fp, point.fn, point.tn] == pytest.approx([281.25, 168.75, 18.75, 131.25])
    assert model.auc == pytest.approx(5 / 6, abs=1e-12)
    assert model.lift_area == pytest.approx(200)
    assert model.at(-1).tp == pytest.approx(300)
    assert model.at(2).tp == 0


def test_functions_that_do_not_fit():
    with pytest.raises(InputError, match=r"density: expected an integral of 1, got an integral of 0\.5"):
        rs.calibration.ContinuousCalibration(lambda o: o, lambda o: 0.5)
    with pytest.raises(OneClassError):
        rs.calibration.ContinuousCalibration(lambda o: 0.0, lambda o: 1.0)
    with pytest.raises(InputError, match="n: expected"):
        rs.calibration.ContinuousCalibration(lambda o: o, lambda o: 1.0, n=0)
    for chance, share, message in (
        ([1.2, 0], [0.5, 0.5], "chance: expected shares"),
        ([1.0, 0], [0.5, 0.6], "share: expected a sum of 1, got a sum of"),
        ([1.0, 0], [0.9, 0.1], "n_pos as computed from chance and share: expected 5, got 9"),
    ):
        with pytest.raises(InputError, match=message):
            rs.calibration.CalibrationFunction(np.array([0.9, 0.1]), np.array(chance), np.array(share), 5, 5).counts()
