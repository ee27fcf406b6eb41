"""Multi-class intervals and comparisons under sampling weights, frequencies and groups."""

import numpy as np
import pytest

import rocscope as rs
from rocscope.errors import WeightError

N = 150
COST = rs.multiclass.CostMatrix([[0, 1, 3], [2, 0, 1], [4, 2, 0]], classes=range(3), rows="actual")


def rows(n=N, seed=0):
    """Return labels and the probabilities of two models."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    proba = {}
    for model, signal in (("a", 0.4), ("b", 0.6)):
        values = rng.dirichlet(np.ones(3), n)
        values[np.arange(n), y] += signal
        proba[model] = values / values.sum(axis=1, keepdims=True)
    return y, proba


def predictions(y, proba, **columns):
    return rs.multiclass.MulticlassPredictions(y, proba, classes=range(3), **columns)


def costs(preds, **options):
    return rs.multiclass.compare_multiclass_costs(preds, COST, **options)


INTERVALS = {
    "hand_till": lambda preds, **o: rs.multiclass.multiclass_auc(preds, model="a", **o).interval(),
    "aunp": lambda preds, **o: rs.multiclass.multiclass_auc(preds, model="a", **o).interval("aunp"),
    "vus": lambda preds, **o: rs.multiclass.vus(preds, model="a", **o),
    "sampled vus": lambda preds, **o: rs.multiclass.vus(preds, model="a", method="sampled", **o),
    "compare_multiclass_auc": lambda preds, **o: rs.multiclass.compare_multiclass_auc(preds, **o)["a", "b"].difference,
    "compare_multiclass_costs": lambda preds, **o: costs(preds, **o)["a", "b"].difference,
}
NO_BOOTSTRAP = [name for name in INTERVALS if name not in ("compare_multiclass_costs", "sampled vus")]


def numbers(estimate):
    return pytest.approx([estimate.value, estimate.low, estimate.high, estimate.standard_error], rel=1e-6)


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("factor", [0.01, 1, 100])
@pytest.mark.parametrize("kind", ["equal", "fractional", "whole", "with zeros"])
def test_intervals_do_not_change_with_a_factor_on_all_weights(name, factor, kind):
    y, proba = rows()
    rng = np.random.default_rng(1)
    weight = {
        "equal": np.ones(N),
        "fractional": rng.uniform(0.2, 3, N),
        "whole": rng.integers(1, 6, N),
        "with zeros": rng.integers(0, 2, N),
    }[kind]
    once = INTERVALS[name](predictions(y, proba, sample_weight=weight))
    scaled = INTERVALS[name](predictions(y, proba, sample_weight=weight * factor))
    assert [scaled.value, scaled.low, scaled.high, scaled.standard_error] == numbers(once)
    assert (scaled.n, scaled.method) == (once.n, once.method)


@pytest.mark.parametrize("compare", [rs.multiclass.compare_multiclass_auc, costs])
def test_p_values_do_not_change_with_a_factor_on_all_weights(compare):
    y, proba = rows(seed=3)
    weight = np.random.default_rng(1).integers(1, 6, N)
    p_values = [
        compare(predictions(y, proba, sample_weight=weight * factor))["a", "b"].p_value for factor in (0.01, 1, 100)
    ]
    assert p_values == pytest.approx([p_values[0]] * 3, rel=1e-6)


@pytest.mark.parametrize("name", INTERVALS)
def test_equal_weights_are_no_weights(name):
    y, proba = rows()
    plain = INTERVALS[name](predictions(y, proba))
    equal = INTERVALS[name](predictions(y, proba, sample_weight=np.full(N, 7.0)))
    assert [equal.value, equal.low, equal.high, equal.standard_error] == numbers(plain)
    assert (equal.n, equal.method) == (plain.n, plain.method)


@pytest.mark.parametrize("name", NO_BOOTSTRAP)
def test_frequencies_are_repeated_rows_only_where_said(name):
    y, proba = rows()
    weight = np.random.default_rng(2).integers(1, 4, N)
    weighted = {kind: predictions(y, proba, sample_weight=weight, weights=kind) for kind in ("frequency", "auto")}
    repeated = predictions(np.repeat(y, weight), {m: np.repeat(p, weight, axis=0) for m, p in proba.items()})
    expected = INTERVALS[name](repeated)
    frequency = INTERVALS[name](weighted["frequency"])
    assert [frequency.value, frequency.low, frequency.high, frequency.standard_error] == numbers(expected)
    assert frequency.n == expected.n
    sampling = INTERVALS[name](weighted["auto"])
    assert sampling.value == pytest.approx(expected.value)
    assert sampling.n == N
    assert sampling.standard_error > 1.2 * expected.standard_error
    assert "sampling weights" in sampling.method


def test_frequencies_are_the_trials_of_a_bootstrap():
    y, proba = rows()
    once, often = (
        costs(predictions(y, proba, sample_weight=np.full(N, 4), weights=kind))["a", "b"].difference
        for kind in ("sampling", "frequency")
    )
    assert (once.n, often.n) == (N, 4 * N)
    assert often.standard_error == pytest.approx(once.standard_error / 2, rel=0.2)


def test_frequencies_are_whole():
    y, proba = rows()
    with pytest.raises(WeightError, match="whole numbers"):
        predictions(y, proba, sample_weight=np.full(N, 0.5), weights="frequency")


@pytest.mark.parametrize("name", NO_BOOTSTRAP)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_group_of_one_row_is_a_row(name, weighted):
    y, proba = rows()
    preds = predictions(y, proba)
    grouped = INTERVALS[name](preds, groups=np.arange(N))
    plain = INTERVALS[name](preds)
    assert [grouped.value, grouped.low, grouped.high, grouped.standard_error] == numbers(plain)
    assert f"{N} groups" in grouped.method
    if weighted:
        weight = np.random.default_rng(2).uniform(0.5, 2, N)
        pair = predictions(y, proba, sample_weight=weight)
        grouped, plain = INTERVALS[name](pair, groups=np.arange(N)), INTERVALS[name](pair)
        assert grouped.standard_error == pytest.approx(plain.standard_error, rel=0.05)


@pytest.mark.parametrize("name", INTERVALS)
def test_copies_of_a_row_in_one_group_add_nothing(name):
    y, proba = rows()
    copies = predictions(np.tile(y, 4), {m: np.tile(p, (4, 1)) for m, p in proba.items()})
    plain = INTERVALS[name](predictions(y, proba), groups=np.arange(N))
    grouped = INTERVALS[name](copies, groups=np.tile(np.arange(N), 4))
    assert grouped.value == pytest.approx(plain.value, abs=0.03)
    assert grouped.standard_error == pytest.approx(plain.standard_error, rel=0.15)
    if name in NO_BOOTSTRAP:
        assert [grouped.value, grouped.low, grouped.high, grouped.standard_error] == numbers(plain)
    assert INTERVALS[name](copies).standard_error < 0.7 * grouped.standard_error


@pytest.mark.parametrize("name", INTERVALS)
def test_groups_of_the_predictions_are_taken_unless_false(name):
    y, proba = rows()
    group = np.arange(N) // 5
    preds = predictions(y, proba, groups=group)
    own, given = INTERVALS[name](preds), INTERVALS[name](predictions(y, proba), groups=group)
    assert own == given
    assert "30 groups" in own.method
    assert INTERVALS[name](preds, groups=False) == INTERVALS[name](predictions(y, proba))


def test_few_groups_are_not_reliable():
    y, proba = rows()
    estimate = rs.multiclass.multiclass_auc(predictions(y, proba), model="a", groups=np.arange(N) // 30).interval()
    assert not estimate.reliable
    assert "groups" in estimate.reason


def test_two_classes_have_the_interval_of_the_binary_area():
    y, proba = rows()
    y, score = y % 2, proba["a"][:, 0]
    both = np.column_stack([1 - score, score])
    weight = np.random.default_rng(2).uniform(0.5, 2, N)
    group = np.arange(N) // 3
    for columns in ({}, {"groups": group}, {"sample_weight": weight}, {"sample_weight": weight, "groups": group}):
        binary = rs.auc_interval(rs.Predictions(y, score, **columns), method="delong")
        several = rs.multiclass.MulticlassPredictions(y, both, **columns)
        ours = rs.multiclass.multiclass_auc(several).interval()
        assert ours.standard_error == pytest.approx(binary.standard_error, rel=1e-9)
