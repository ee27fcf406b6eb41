"""Mixtures: the point they promise, the cases they pick, and that a case's outcome stays."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocscope as rs
from model_cases import several
from rocscope import OperatingPoint, ThresholdCounts
from rocscope.decisions import HullVertex
from rocscope.errors import ColumnError, InputError, PairingError, ShapeError

targets = st.sampled_from([0, 0.1, 1 / 3, 0.5, 0.7, 1])
AXES = {
    "fpr": lambda p: Fraction(p.fp, p.n_neg),
    "tpr": lambda p: Fraction(p.tp, p.n_pos),
    "depth": lambda p: Fraction(p.tp + p.fp, p.n),
}


@pytest.mark.parametrize("axis", AXES)
@given(preds=several(), target=targets)
def test_a_mixture_meets_its_target_on_the_hull(axis, preds, target):
    hull = rs.hull(preds)
    mixture = hull.mixture(**{axis: target})
    ends = mixture.first, mixture.second
    here, there = (AXES[axis](end.point) for end in ends)
    weight = mixture.exact_weight
    assert 0 <= weight <= 1
    assert float(here + weight * (there - here)) == pytest.approx(target, abs=1e-15)
    expected = mixture.expected(preds.prevalence)
    assert float(getattr(expected, axis)) == pytest.approx(target, abs=1e-12)
    positions = [hull.vertices.index(end) for end in ends]
    assert positions[1] - positions[0] == 1
    if axis == "fpr":
        assert mixture.tpr == pytest.approx(hull.at(mixture.fpr), abs=1e-12)
    if axis == "tpr":
        assert mixture.fpr <= min((v.fpr for v in hull.vertices if v.tpr >= target), default=1) + 1e-12


@given(preds=several(), cases=st.integers(0, 400), prevalence=st.sampled_from([0.05, 0.5]))
def test_capacity_in_a_population_of_another_class_mix(preds, cases, prevalence):
    mixture = rs.hull(preds).mixture(at_most=cases, population=400, target_prevalence=prevalence)
    expected = mixture.expected(prevalence, 400)
    assert expected.tp + expected.fp == pytest.approx(cases, abs=1e-9)


A = HullVertex("A", OperatingPoint(tp=48, fp=376, fn=192, tn=3384))
B = HullVertex("B", OperatingPoint(tp=144, fp=940, fn=96, tn=2820))


def test_order_of_the_two_does_not_matter():
    assert rs.decisions.mixture(A, B, at_most=800, population=4000) == rs.decisions.mixture(
        B, A, at_most=800, population=4000
    )


def attained(random_state_or_key):
    """Return the rates of a mixture over many cases whose classifiers have exactly the promised rates."""
    rng = np.random.default_rng(7)
    label = np.repeat([1, 0], [24_000, 376_000])
    scores = {
        end.model: np.concatenate([rng.permutation(np.arange(n) < rate * n) for n, rate in _rates(end)])
        for end in (A, B)
    }
    mixture = rs.decisions.mixture(A, B, at_most=800, population=4000)
    predicted = mixture.predict(scores, **random_state_or_key)
    return mixture, predicted[label == 1].mean(), predicted[label == 0].mean()


def _rates(end):
    return [(24_000, end.point.tpr), (376_000, end.point.fpr)]


@pytest.mark.parametrize(
    "how", [{"random_state": 3}, {"key": np.arange(400_000)}, {"key": [f"id-{i}" for i in range(400_000)]}]
)
def test_attained_rates_are_the_promised_ones_up_to_sampling_error(how):
    """Each case is a coin toss, so the standard error is at most 1/(2√n); five of them are allowed."""
    mixture, tpr, fpr = attained(how)
    assert tpr == pytest.approx(mixture.tpr, abs=5 / (2 * 24_000**0.5))
    assert fpr == pytest.approx(mixture.fpr, abs=5 / (2 * 376_000**0.5))


def test_the_outcome_of_a_case_is_fixed_by_its_key():
    mixture = rs.decisions.mixture(A, B, at_most=800, population=4000)
    rng = np.random.default_rng(0)
    scores = {"A": rng.integers(0, 2, 500), "B": rng.integers(0, 2, 500)}
    keys = np.array([f"client {i}" for i in range(500)])
    whole = mixture.predict(scores, key=keys)
    order = rng.permutation(500)[:200]
    part = mixture.predict({name: column[order] for name, column in scores.items()}, key=keys[order])
    assert (part == whole[order]).all()
    assert (mixture.predict(scores, key=keys.tolist()) == whole).all()
    assert (mixture.predict(scores, key=keys, random_state=1) != whole).any()
    assert (mixture.predict(scores, random_state=1) == mixture.predict(scores, random_state=1)).all()


def test_pure_ends_and_one_model():
    hull = rs.hull(ThresholdCounts([3, 2, 1], [4, 2, 0], [0, 2, 4]))
    scores = [1, 2, 3, 4]
    assert hull.mixture(tpr=1).predict(scores, random_state=0).tolist() == [False, True, True, True]
    assert hull.mixture(depth=0).predict(scores, random_state=0).tolist() == [False] * 4
    assert hull.mixture(at_most=99, population=10).predict(scores, random_state=0).all()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: rs.decisions.mixture(A, B, tpr=0.9),
            InputError,
            "tpr: expected a value that .* attain, 0.2 to 0.6, got 0.9",
        ),
        (
            lambda: rs.decisions.mixture(A, B),
            InputError,
            "mixture: expected exactly one of fpr, tpr, depth, at_most, got none",
        ),
        (
            lambda: rs.decisions.mixture(A, B, tpr=0.3, fpr=0.2),
            InputError,
            "expected exactly one of fpr, tpr, depth, at_most",
        ),
        (lambda: rs.decisions.mixture(A, B, at_most=3), InputError, "at_most and population: expected both or neither"),
        (
            lambda: rs.decisions.mixture(A, B, at_most=3, population=-1),
            InputError,
            "population: expected a number .* got -1",
        ),
        (lambda: rs.decisions.mixture(A, B, depth=1.5), InputError, "depth: expected a share from 0 to 1, got 1.5"),
        (
            lambda: rs.decisions.mixture(A, OTHER, depth=0.3),
            PairingError,
            "expected classifiers from samples of one prevalence",
        ),
        (lambda: MIXED.predict({"A": [1]}, random_state=0), ColumnError, "scores of model 'B' are missing"),
        (lambda: MIXED.predict([1, 0], random_state=0), ColumnError, "expected a mapping with the models"),
        (lambda: MIXED.predict({"A": [1, 0], "B": [1]}, random_state=0), ShapeError, "A: 2, B: 1"),
        (lambda: MIXED.predict({"A": [1, 0], "B": [1, 1]}, key=[1]), ShapeError, "key: expected one entry per label"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


OTHER = HullVertex("C", OperatingPoint(tp=1, fp=1, fn=1, tn=1))
MIXED = rs.decisions.mixture(A, B, at_most=800, population=4000)


def test_a_mixture_is_plain_data():
    assert MIXED.to_dict()["first"]["model"] == "A"
    assert "\n" not in repr(MIXED)
    assert MIXED._repr_html_().startswith("<code>Mixture(")
