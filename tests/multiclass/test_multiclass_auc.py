"""AUCs of more than two classes against pairs counted one by one, scikit-learn, DeLong and the bootstrap."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import roc_auc_score

import rocscope as rs
from rocscope.errors import InputError, LabelError, OneClassError, RocscopeWarning, ScoreError
from rocscope.multiclass.areas import (
    VARIANTS,
    ClassRows,
    coefficients,
    compare_multiclass_auc,
    doubled_concordance,
    variant_weights,
)
from strategies import costly


@st.composite
def samples(draw, classes=4, most=25):
    """Rows of whole numbers that are made probabilities, so that ties abound; classes may be missing."""
    n = draw(st.integers(1, most))
    y = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    counts = draw(st.lists(st.lists(st.integers(0, 3), min_size=classes, max_size=classes), min_size=n, max_size=n))
    counts = np.array(counts) + np.eye(classes, dtype=int)[0] * (np.sum(counts, axis=1) == 0)[:, None]
    return np.array(y), counts / counts.sum(axis=1, keepdims=True)


def pairs_one_by_one(y, proba, weight):
    """A(i|j) as a ratio of sums over pairs."""
    k = proba.shape[1]
    matrix = np.full((k, k), np.nan)
    for i in range(k):
        for j in range(k):
            a, b = np.flatnonzero(y == i), np.flatnonzero(y == j)
            total = sum(weight[r] * weight[s] for r in a for s in b)
            if i != j and total:
                won = [
                    weight[r] * weight[s] * ((proba[r, i] > proba[s, i]) + (proba[r, i] == proba[s, i]) / 2)
                    for r in a
                    for s in b
                ]
                matrix[i, j] = sum(won) / total
    return matrix


def rows_of(n=400, k=4, seed=0, signal=0.4):
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    proba = rng.dirichlet(np.ones(k), n)
    proba[np.arange(n), y] += signal
    proba = np.round(50 * proba / proba.sum(axis=1, keepdims=True)) + 1
    return y, proba / proba.sum(axis=1, keepdims=True)


@given(samples(), st.data())
def test_the_matrix_against_pairs_one_by_one(sample, data):
    y, proba = sample
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=y.size, max_size=y.size)))
    weight[0] += 1
    auc = rs.multiclass.multiclass_auc(y, proba, classes=range(4), sample_weight=weight)
    np.testing.assert_allclose(auc.matrix, pairs_one_by_one(y, proba, weight), rtol=0, atol=1e-14)
    plain = rs.multiclass.multiclass_auc(y, proba, classes=range(4))
    np.testing.assert_allclose(plain.matrix, pairs_one_by_one(y, proba, np.ones(y.size)), rtol=0, atol=1e-14)


@given(samples(), st.data())
def test_integer_weights_are_repeated_rows(sample, data):
    y, proba = sample
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=y.size, max_size=y.size)))
    weighted = rs.multiclass.multiclass_auc(y, proba, classes=range(4), sample_weight=weight)
    repeated = rs.multiclass.multiclass_auc(np.repeat(y, weight), np.repeat(proba, weight, axis=0), classes=range(4))
    np.testing.assert_array_equal(weighted.matrix, repeated.matrix)
    for variant in VARIANTS:
        assert weighted.average(variant).value == pytest.approx(repeated.average(variant).value, nan_ok=True)


@given(samples())
def test_pairs_and_rest_are_the_aucs_of_the_binary_side(sample):
    y, proba = sample
    preds = rs.multiclass.MulticlassPredictions(y, proba, classes=range(4))
    auc = rs.multiclass.multiclass_auc(preds)
    for i in range(4):
        binary = preds.binary(i).counts()
        if binary.n_pos and binary.n_neg:
            assert auc.against_rest[i] == pytest.approx(rs.auc(binary))
        else:
            assert np.isnan(auc.against_rest[i])
        for j in range(4):
            if i != j and preds.support[i] and preds.support[j]:
                assert auc.matrix[i, j] == pytest.approx(rs.auc(preds.pair(i, j).counts()))


@pytest.mark.parametrize("seed", range(5))
def test_against_scikit_learn(seed):
    y, proba = rows_of(seed=seed)
    auc = rs.multiclass.multiclass_auc(y, proba)
    for variant, (scheme, average) in {
        "hand_till": ("ovo", "macro"),
        "au1u": ("ovo", "macro"),
        "ovo_weighted": ("ovo", "weighted"),
        "aunu": ("ovr", "macro"),
        "aunp": ("ovr", "weighted"),
    }.items():
        expected = roc_auc_score(y, proba, multi_class=scheme, average=average)
        assert auc.average(variant).value == pytest.approx(expected, abs=1e-12), variant
        assert float(getattr(auc, variant)) == auc.average(variant).value
    weight = np.random.default_rng(seed).random(y.size)
    weighted = rs.multiclass.multiclass_auc(y, proba, sample_weight=weight)
    for variant, average in {"aunu": "macro", "aunp": "weighted"}.items():
        expected = roc_auc_score(y, proba, multi_class="ovr", average=average, sample_weight=weight)
        assert weighted.average(variant).value == pytest.approx(expected, abs=1e-12)


def test_au1p_is_the_double_sum_of_ferri_with_weights_that_sum_to_one():
    y, proba = rows_of(seed=3)
    auc = rs.multiclass.multiclass_auc(y, proba)
    share = np.bincount(y) / y.size
    expected = sum(share[i] * auc.matrix[i, j] for i in range(4) for j in range(4) if i != j) / 3
    assert auc.au1p.value == pytest.approx(expected, abs=1e-14)


def test_class_weights_of_the_averages():
    y, proba = rows_of()
    auc = rs.multiclass.multiclass_auc(y, proba)
    chosen = {0: 1.0, 1: 0.0, 2: 3.0, 3: 0.0}
    rest = auc.against_rest
    assert auc.one_vs_rest(chosen).value == pytest.approx((rest[0] + 3 * rest[2]) / 4)
    pairs = {(i, j): chosen[i] + chosen[j] for i in range(4) for j in range(i)}
    mean = {(i, j): (auc.matrix[i, j] + auc.matrix[j, i]) / 2 for i, j in pairs}
    expected = sum(pairs[p] * mean[p] for p in pairs) / sum(pairs.values())
    assert auc.one_vs_one(chosen).value == pytest.approx(expected)
    with pytest.raises(InputError, match="class_weight: expected the classes 0, 1, 2, 3, got the classes 0"):
        auc.one_vs_one({0: 1})
    with pytest.raises(InputError, match="at least one above 0"):
        auc.one_vs_rest(dict.fromkeys(range(4), 0))
    with pytest.raises(InputError, match="'prevalence'"):
        auc.one_vs_rest("shares")


def test_a_class_that_is_absent_is_named_and_the_others_count_on():
    y, proba = rows_of()
    kept = y != 1
    auc = rs.multiclass.multiclass_auc(y[kept], proba[kept], classes=range(4))
    assert np.isnan(auc.matrix[1]).all()
    assert np.isnan(auc.matrix[:, 1]).all()
    others = np.array([0, 2, 3])
    expected = np.nanmean(auc.matrix[np.ix_(others, others)][~np.eye(3, dtype=bool)])
    assert auc.hand_till.value == pytest.approx(expected)
    for variant in VARIANTS:
        assert auc.average(variant).undefined == (1,)
        assert auc.interval(variant).value == auc.average(variant).value
    assert "undefined: 1" in repr(auc)
    assert json.loads(json.dumps(auc.to_dict()))["against_rest"][1] is None


def test_one_class_alone_has_no_average():
    auc = rs.multiclass.multiclass_auc([0, 0], [[0.5, 0.5], [0.2, 0.8]], classes=[0, 1])
    assert np.isnan(auc.aunp.value)
    assert auc.aunp.undefined == (0, 1)
    with pytest.raises(OneClassError):
        auc.interval("aunu")


def test_perfect_and_uninformative_models():
    y = np.repeat(np.arange(3), 5)
    perfect = rs.multiclass.multiclass_auc(y, np.eye(3)[y])
    flat = rs.multiclass.multiclass_auc(y, np.full((15, 3), 1 / 3))
    for variant in VARIANTS:
        assert perfect.average(variant).value == pytest.approx(1)
        assert flat.average(variant).value == pytest.approx(0.5)


def test_the_compiled_path_counts_the_same_pairs():
    rng = np.random.default_rng(1)
    y, column = rng.integers(0, 2, 20_000), np.round(rng.random(20_000), 3)
    proba = np.column_stack([column, 1 - column])
    doubled = doubled_concordance(ClassRows.of(y, proba.shape[1]), proba)
    pairs = rs.multiclass.MulticlassPredictions(y, proba).pair(0, 1).counts().pairs()
    assert doubled[0, 1] == 2 * pairs.concordant + pairs.tied
    float32 = rs.multiclass.multiclass_auc(y, proba.astype(np.float32))
    assert float32.matrix[0, 1] == doubled[0, 1] / (2 * pairs.total)


@given(samples(classes=2, most=40))
def test_two_classes_give_delongs_interval(sample):
    y, proba = sample
    counts = rs.ThresholdCounts.from_scores(y == 0, proba[:, 0])
    if not (counts.n_pos and counts.n_neg):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        binary = rs.auc_interval(counts)
        ours = rs.multiclass.multiclass_auc(y, np.column_stack([proba[:, 0], 1 - proba[:, 0]]), classes=[0, 1])
        estimate = ours.interval("hand_till")
    assert ours.matrix[0, 1] == pytest.approx(binary.value)
    if binary.method.startswith("DeLong") and 0 < estimate.value < 1:
        assert estimate.standard_error == pytest.approx(binary.standard_error, abs=1e-12)
        assert (estimate.low, estimate.high) == (pytest.approx(binary.low), pytest.approx(binary.high))


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_standard_error_against_leaving_one_row_out(variant):
    y, proba = rows_of(n=60, k=3, seed=2)
    share = np.bincount(y)
    auc = rs.multiclass.multiclass_auc(y, proba)
    # Within classes: what leaving out a row of a class does to the average whose weights stay as they are.
    weight = coefficients(variant_weights(variant, share), share)
    variance = 0.0
    for cls in range(3):
        left_out = []
        for row in np.flatnonzero(y == cls):
            kept = np.arange(y.size) != row
            matrix = rs.multiclass.multiclass_auc(y[kept], proba[kept]).matrix
            left_out.append(np.nansum(weight * matrix))
        size = len(left_out)
        variance += (size - 1) / size * ((left_out - np.mean(left_out)) ** 2).sum()
    assert auc.interval(variant).standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_weighted_intervals_are_those_of_repeated_rows():
    y, proba = rows_of(n=60)
    weight = np.random.default_rng(0).integers(0, 3, y.size)
    weighted = rs.multiclass.multiclass_auc(
        rs.multiclass.MulticlassPredictions(y, proba, sample_weight=weight, weights="frequency")
    ).interval()
    repeated = rs.multiclass.multiclass_auc(np.repeat(y, weight), np.repeat(proba, weight, axis=0)).interval()
    assert (weighted.low, weighted.high, weighted.n) == (
        pytest.approx(repeated.low),
        pytest.approx(repeated.high),
        repeated.n,
    )


def test_a_perfect_model_is_not_certain():
    y = np.repeat(np.arange(3), [4, 5, 6])
    with pytest.warns(RocscopeWarning, match="Newcombe"):
        estimate = rs.multiclass.multiclass_auc(y, np.eye(3)[y]).interval()
    assert estimate.high == 1
    assert 0.4 < estimate.low < 0.9


def test_comparison_of_two_models_against_leaving_one_row_out():
    y, first = rows_of(n=60, k=3, seed=4)
    _, second = rows_of(n=60, k=3, seed=5)
    preds = rs.multiclass.MulticlassPredictions(
        y, {"a": first, "b": first[::-1] / 2 + second / 2}, classes=range(3), normalize=True
    )
    result = compare_multiclass_auc(preds)["a", "b"]
    aucs = [rs.multiclass.multiclass_auc(preds, model=m).hand_till.value for m in ("a", "b")]
    assert result.difference.value == pytest.approx(aucs[1] - aucs[0])
    variance = 0.0
    for cls in range(3):
        rows = np.flatnonzero(y == cls)
        left_out = []
        for row in rows:
            kept = preds.select(np.arange(y.size) != row)
            values = [rs.multiclass.multiclass_auc(kept, model=m).hand_till.value for m in ("a", "b")]
            left_out.append(values[1] - values[0])
        variance += (len(rows) - 1) / len(rows) * ((left_out - np.mean(left_out)) ** 2).sum()
    assert result.difference.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_equal_models_do_not_differ():
    y, proba = rows_of(n=50)
    preds = rs.multiclass.MulticlassPredictions(y, {"a": proba, "b": proba}, classes=range(4), normalize=True)
    with pytest.warns(RocscopeWarning, match="is 0 or undefined"):
        result = compare_multiclass_auc(preds)["a", "b"]
    assert (result.difference.value, result.p_value) == (0, 1)
    with pytest.raises(InputError, match="two or more"):
        compare_multiclass_auc(preds.select(models=["a"]))


@costly
@given(samples(), st.permutations(range(4)))
def test_order_of_rows_and_of_classes_does_not_matter(sample, order):
    y, proba = sample
    names = np.array(list("abcd"))
    one = rs.multiclass.multiclass_auc(names[y], proba, classes=names)
    other = rs.multiclass.multiclass_auc(names[y][::-1], proba[::-1][:, order], classes=names[list(order)])
    np.testing.assert_array_equal(one.matrix[np.ix_(order, order)], other.matrix)
    for variant in VARIANTS:
        assert one.average(variant).value == pytest.approx(other.average(variant).value, nan_ok=True)


def test_bad_input_is_named():
    y, proba = rows_of(n=20)
    with pytest.raises(InputError, match="did you mean 'aunu'"):
        rs.multiclass.multiclass_auc(y, proba).average("aunq")
    with pytest.raises(ScoreError, match="predicted labels only"):
        rs.multiclass.multiclass_auc(rs.multiclass.MulticlassPredictions(y, decisions=y))
    with pytest.raises(LabelError, match="one column of probabilities for each class"):
        rs.multiclass.multiclass_auc(y + 1, proba, classes=range(4))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_intervals_cover_full(variant):
    assert coverage(variant, 1000) > 0.93


def test_intervals_cover():
    assert coverage("hand_till", 150) > 0.88


def coverage(variant, simulations):
    """Share of 95% intervals that hold the value of a very large sample, class counts being fixed."""
    y = np.repeat(np.arange(3), [15, 25, 40])

    def scores(rng, y):
        raw = rng.normal(size=(y.size, 3)) + 1.2 * np.eye(3)[y]
        return np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)

    truth_y = np.tile(y, 1000)
    truth = rs.multiclass.multiclass_auc(truth_y, scores(np.random.default_rng(99), truth_y)).average(variant).value
    rng = np.random.default_rng(0)
    return np.mean(
        [truth in rs.multiclass.multiclass_auc(y, scores(rng, y)).interval(variant) for _ in range(simulations)]
    )
