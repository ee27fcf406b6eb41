"""Mixtures: the point they promise, the cases they pick, and that a case's outcome stays."""

from fractions import Fraction
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, strategies as st

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
    """It is filled, but not beyond the first vertex that finds all positives."""
    hull = rs.hull(preds)
    mixture = hull.mixture(at_most=cases, population=400, target_prevalence=prevalence)
    expected = mixture.expected(prevalence, 400)
    enough = min(400 * (prevalence + (1 - prevalence) * v.fpr) for v in hull.vertices if v.tpr == 1)
    assert expected.tp + expected.fp == pytest.approx(min(cases, enough), abs=1e-9)


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


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "how", [{"random_state": 3}, {"ids": np.arange(400_000)}, {"ids": [f"id-{i}" for i in range(400_000)]}]
)
def test_attained_rates_are_the_promised_ones_up_to_sampling_error(how):
    """Each case is a coin toss, so the standard error is at most 1/(2√n); five of them are allowed."""
    mixture, tpr, fpr = attained(how)
    assert tpr == pytest.approx(mixture.tpr, abs=5 / (2 * 24_000**0.5))
    assert fpr == pytest.approx(mixture.fpr, abs=5 / (2 * 376_000**0.5))


IDS = np.array([f"client {i}" for i in range(500)])


def test_for_a_rate_the_outcome_of_a_case_is_fixed_by_its_identifier_alone():
    mixture = rs.decisions.mixture(A, B, fpr=0.2)
    rng = np.random.default_rng(0)
    scores = {"A": rng.integers(0, 2, 500), "B": rng.integers(0, 2, 500)}
    whole = mixture.predict(scores, ids=IDS)
    order = rng.permutation(500)[:200]
    part = mixture.predict({name: column[order] for name, column in scores.items()}, ids=IDS[order])
    assert (part == whole[order]).all()
    assert (mixture.predict(scores, ids=IDS.tolist()) == whole).all()
    assert (mixture.predict(scores, ids=IDS, random_state=1) != whole).any()
    assert (mixture.predict(scores, random_state=1) == mixture.predict(scores, random_state=1)).all()


def coil():
    """Return the answers of two classifiers to 4,000 clients, at the published rates."""
    label = np.repeat([1, 0], [240, 3760])
    rng = np.random.default_rng(1)
    answers = {end.model: np.zeros(4000, int) for end in (A, B)}
    for end in (A, B):
        for cls, number in ((1, end.point.tp), (0, end.point.fp)):
            answers[end.model][rng.choice(np.flatnonzero(label == cls), number, replace=False)] = 1
    return answers


def test_a_capacity_is_met_exactly_by_every_draw():
    """Sending each client to a model by a lot of its own, 49% of draws wrote to more than the 800 paid for."""
    answers, ids = coil(), np.arange(4000)
    mixture = rs.decisions.mixture(A, B, at_most=800, population=4000)
    drawn = [mixture.predict(answers, ids, random_state=seed) for seed in range(20)]
    assert [each.sum() for each in drawn] == [800] * 20
    assert len({each.tobytes() for each in drawn}) == 20
    order = np.random.default_rng(2).permutation(4000)
    shuffled = mixture.predict({name: column[order] for name, column in answers.items()}, ids[order])
    assert (shuffled == drawn[0][order]).all()
    both, none = (answers["A"] + answers["B"] == total for total in (2, 0))
    assert all(each[both].all() and not each[none].any() for each in drawn)
    share = np.mean([each[answers["B"] > answers["A"]].mean() for each in drawn])
    assert share == pytest.approx(mixture.weight, abs=0.02)


def test_the_lowest_lots_are_drawn():
    hull = rs.hull(ThresholdCounts([2, 1], [3, 1], [1, 3]))
    mixture = hull.mixture(at_most=2, population=8)
    scores = [2, 2, 2, 2, 1, 1, 1, 1]
    lot = [int.from_bytes(blake2b(str(i).encode(), digest_size=8, key=bytes(8)).digest(), "big") for i in range(4)]
    assert set(np.flatnonzero(mixture.predict(scores, ids=range(8)))) == set(np.argsort(lot)[:2])
    assert mixture.predict([2] * 8, ids=range(8)).sum() == 2
    assert not mixture.predict([1] * 8, ids=range(8)).any()


def test_more_sure_answers_than_may_be_given_are_thinned_by_score():
    counts = ThresholdCounts([3, 2, 1], [2, 1, 0], [0, 1, 4])
    mixture = rs.hull(counts).mixture(at_most=3, population=8)
    assert mixture.predict([4, 5, 6, 7, 8, 9, 2, 1], ids=range(8)).tolist() == [False] * 3 + [True] * 3 + [False] * 2


def test_nobody_is_contacted_in_vain():
    hull = rs.hull(ThresholdCounts([3, 2, 1], [4, 2, 0], [0, 2, 4]))
    mixture = hull.mixture(at_most=11, population=12)
    assert mixture.predict([3, 2, 1], ids=list("abc")).tolist() == [True, True, False]
    assert mixture.tpr == 1
    assert mixture.fpr == pytest.approx(1 / 3)


def test_pure_ends_and_one_model():
    hull = rs.hull(ThresholdCounts([3, 2, 1], [4, 2, 0], [0, 2, 4]))
    scores = [1, 2, 3, 4]
    assert hull.mixture(tpr=1).predict(scores, random_state=0).tolist() == [False, True, True, True]
    assert hull.mixture(depth=0).predict(scores, random_state=0).tolist() == [False] * 4
    assert hull.mixture(at_most=99, population=10).predict(scores, random_state=0).tolist() == [False] + [True] * 3
    assert hull.mixture(depth=1).predict(scores, random_state=0).all()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: rs.decisions.mixture(A, B, tpr=0.9),
            InputError,
            "tpr: expected a value from 0.2 to 0.6 .*, got 0.9",
        ),
        (
            lambda: rs.decisions.mixture(A, B),
            InputError,
            "mixture: expected exactly one of the arguments fpr, tpr, depth and at_most, got none",
        ),
        (
            lambda: rs.decisions.mixture(A, B, tpr=0.3, fpr=0.2),
            InputError,
            "expected exactly one of the arguments",
        ),
        (
            lambda: rs.decisions.mixture(A, B, at_most=3),
            InputError,
            "at_most and population: expected both",
        ),
        (
            lambda: rs.decisions.mixture(A, B, at_most=3, population=-1),
            InputError,
            "population: expected a number .* got -1",
        ),
        (lambda: rs.decisions.mixture(A, B, depth=1.5), InputError, "depth: expected a share from 0 to 1, got 1.5"),
        (
            lambda: rs.decisions.mixture(A, OTHER, depth=0.3),
            PairingError,
            "expected classifiers from samples of equal prevalence",
        ),
        (
            lambda: MIXED.predict({"A": [1]}, random_state=0),
            ColumnError,
            "scores of model 'B': expected a column 'B', got the columns",
        ),
        (lambda: MIXED.predict([1, 0], random_state=0), ColumnError, "expected a mapping with the models"),
        (lambda: MIXED.predict({"A": [1, 0], "B": [1]}, random_state=0), ShapeError, "got 2 of 'A', 1 of 'B'"),
        (
            lambda: MIXED.predict({"A": [1, 0], "B": [1, 1]}, ids=[7, 7]),
            InputError,
            "ids: .* in each row, got '7' twice",
        ),
        (lambda: MIXED.predict({"A": [1, 0], "B": [1, 1]}, ids=[1]), ShapeError, "ids: expected one entry per label"),
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
    assert MIXED._repr_html_().startswith("<code>RandomizedRule(")


def test_nobody_and_everybody_need_no_scores():
    counts = {"a": rs.ThresholdCounts([2, 1], [1, 9], [4, 6]), "b": rs.ThresholdCounts([2, 1], [8, 2], [2, 8])}
    decision = rs.choose(counts, rs.Context(cost_fn=5), subject_to="cases <= 5", randomized=True)
    assert (decision.lot.first.threshold, decision.lot.second.model) == (np.inf, "b")
    said = decision.predict({"b": [2] * 10 + [1] * 10})
    assert (said.sum(), said[10:].any()) == (5, False)
    assert decision.predict([2] * 10 + [1] * 10).tolist() == said.tolist()
