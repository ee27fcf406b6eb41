"""Volumes under the ROC surface against all trios one by one."""

import warnings
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope.errors import InputError, OneClassError, RocscopeWarning, ScoreError, ShapeError
from rocscope.multiclass.areas import ClassRows, ordinal_volume, sampled_volume, triple_volume
from strategies import costly

groups_of_scores = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=7), min_size=3, max_size=3)


def share_of_orders(low, mid, high):
    """Chance that the three come out in order when equals are ordered at random."""
    scores = sorted((low, mid, high))
    by_score = [order for order in permutations(enumerate((low, mid, high))) if [s for _, s in order] == scores]
    return sum([i for i, _ in order] == [0, 1, 2] for order in by_score) / len(by_score)


@given(groups_of_scores)
def test_ordinal_volume_against_all_trios(groups):
    trios = [share_of_orders(*trio) for trio in product(*groups)]
    y = np.repeat([0, 1, 2], [len(group) for group in groups])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        volume = rs.multiclass.vus(y, np.concatenate(groups))
    assert volume.value == pytest.approx(np.mean(trios), abs=1e-14)


@given(groups_of_scores)
def test_ordinal_variance_against_the_means_over_trios(groups):
    arrays = [np.array(group, dtype=float) for group in groups]
    a, b, c = np.ix_(*arrays)
    credit = ((a < b) & (b < c)) + 0.5 * ((a == b) & (b < c)) + 0.5 * ((a < b) & (b == c)) + ((a == b) & (b == c)) / 6
    expected = sum(
        credit.mean(axis=tuple({0, 1, 2} - {axis})).var(ddof=1) / len(groups[axis])
        if len(groups[axis]) > 1
        else (np.nan if credit.any() else 0.0)
        for axis in range(3)
    )
    volume = ordinal_volume(arrays, [np.ones(len(group)) for group in arrays])
    rows = ClassRows.of(np.repeat([0, 1, 2], [len(group) for group in groups]), 3)
    assert volume.variances(rows)[0] == pytest.approx(expected, abs=1e-14, nan_ok=True)


def test_random_scores_sort_one_trio_in_six_and_a_perfect_one_all():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 30_000)
    chance = rs.multiclass.vus(y, rng.random(y.size))
    assert 1 / 6 in rs.multiclass.vus(y, rng.random(y.size), level=0.999)
    assert chance.value == pytest.approx(1 / 6, abs=0.005)
    with pytest.warns(RocscopeWarning, match="Wilson"):
        perfect = rs.multiclass.vus(y, y + rng.random(y.size) / 2)
    assert perfect.value == 1
    assert perfect.low < 1


def test_one_score_for_all_is_chance():
    with pytest.warns(RocscopeWarning, match="variance"):
        assert rs.multiclass.vus([0, 0, 1, 1, 2, 2], [3] * 6).value == pytest.approx(1 / 6)


@given(groups_of_scores)
def test_reversing_classes_and_scores_changes_nothing(groups):
    y = np.repeat([0, 1, 2], [len(group) for group in groups])
    score = np.concatenate(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        forth, back = rs.multiclass.vus(y, score), rs.multiclass.vus(y, -score, classes=[2, 1, 0])
    assert forth.value == pytest.approx(back.value, abs=1e-14)


triples = st.lists(st.sampled_from([p for p in product(range(5), repeat=3) if sum(p) == 4]), min_size=1, max_size=4)


def sorted_right_by_hand(trio):
    """Share of the best of six assignments of a trio to the corners that is the right one."""
    distance = [[np.linalg.norm(np.array(case) / 4 - np.eye(3)[corner]) for corner in range(3)] for case in trio]
    total = {way: round(sum(distance[i][way[i]] for i in range(3)), 9) for way in permutations(range(3))}
    best = [way for way, length in total.items() if length == min(total.values())]
    return best.count((0, 1, 2)) / len(best)


@costly
@given(st.lists(triples, min_size=3, max_size=3))
def test_volume_of_triples_against_all_trios(groups):
    y = np.repeat([0, 1, 2], [len(group) for group in groups])
    proba = np.array([case for group in groups for case in group]) / 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        volume = rs.multiclass.vus(y, proba)
    assert volume.value == pytest.approx(np.mean([sorted_right_by_hand(trio) for trio in product(*groups)]), abs=1e-12)


def random_triples(n, seed=0, signal=0.5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    proba = rng.dirichlet(np.ones(3), n)
    proba[np.arange(n), y] += signal
    return y, proba / proba.sum(axis=1, keepdims=True)


def test_random_triples_are_sorted_one_time_in_six():
    y, proba = random_triples(150, signal=0)
    assert 1 / 6 in rs.multiclass.vus(y, proba, level=0.999)


def test_random_trios_agree_with_all_of_them():
    y, proba = random_triples(240)
    groups = [proba[y == cls] for cls in range(3)]
    weights = [np.ones(len(group)) for group in groups]
    every = triple_volume(groups, weights)
    some = [sampled_volume(groups, weights, 50, np.random.default_rng(seed)) for seed in range(40)]
    values = np.array([volume.value for volume in some])
    error = values.std(ddof=1)
    assert values.mean() == pytest.approx(every.value, abs=4 * error / np.sqrt(40))
    rows = ClassRows.of(y, 3)
    variance, of_choice = np.mean([volume.variances(rows) for volume in some], axis=0)
    assert of_choice == pytest.approx(error**2, rel=0.6)
    assert variance == pytest.approx(every.variances(rows)[0], rel=0.1)


def test_large_data_take_random_trios_and_say_so():
    y, proba = random_triples(900)
    sampled, exact = rs.multiclass.vus(y, proba), rs.multiclass.vus(y[:600], proba[:600], method="exact")
    assert "180,000 random trios" in sampled.method
    assert exact.method == "U-statistic, logit scale"
    assert rs.multiclass.vus(y, proba).value == sampled.value
    assert sampled.low < exact.value < sampled.high


@given(groups_of_scores, st.data())
def test_integer_weights_are_repeated_rows(groups, data):
    y = np.repeat([0, 1, 2], [len(group) for group in groups])
    score = np.concatenate(groups)
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=y.size, max_size=y.size)))
    proba = np.column_stack([score, 5 - score, np.ones(score.size)]) / 6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        for values in (score, proba):
            weighted = rs.multiclass.vus(y, values, sample_weight=weight, weights="frequency")
            repeated = rs.multiclass.vus(np.repeat(y, weight), np.repeat(values, weight, axis=0))
            for name in ("value", "low", "high", "n"):
                assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), abs=1e-9)


def test_predictions_of_three_classes_are_taken():
    y, proba = random_triples(60)
    preds = rs.multiclass.MulticlassPredictions(y, {"a": proba, "b": proba[::-1]})
    assert rs.multiclass.vus(preds, model="a").value == rs.multiclass.vus(y, proba).value


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 1], [1, 2]), InputError, "three classes, got 2"),
        (([0, 1, 2], [[1, 0], [0, 1], [1, 0]]), ShapeError, "3 × 3"),
        (([0, 1, 2], [1, 2, np.nan]), ScoreError, "finite"),
        (([0, 1, 1], [1, 2, 3], [0, 1, 2]), OneClassError, "no case of 2"),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    y, score, *classes = arguments
    with pytest.raises(error, match=message):
        rs.multiclass.vus(y, score, classes=classes[0] if classes else None)


@pytest.mark.slow
def test_intervals_cover_full():
    assert coverage(1000) > 0.92


def test_intervals_cover():
    assert coverage(150) > 0.87


def coverage(simulations):
    """Share of 95% intervals that hold the volume of three normal samples."""
    y = np.repeat([0, 1, 2], [20, 25, 30])
    truth = rs.multiclass.vus(
        np.tile(y, 4000), np.random.default_rng(9).normal(size=y.size * 4000) + np.tile(y, 4000)
    ).value
    rng = np.random.default_rng(0)
    return np.mean([truth in rs.multiclass.vus(y, rng.normal(size=y.size) + y) for _ in range(simulations)])
