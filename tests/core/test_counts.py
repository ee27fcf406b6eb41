"""ThresholdCounts: cumulative counts, exact cuts, pairs, the law of merging, and what it refuses."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
import rocscope as rs
from extremes import BOTH_CLASSES, ONE_CLASS, TABLES
from rocscope import ThresholdCounts
from rocscope.errors import InputError, OneClassError, ScoreError, ShapeError, WeightError
from strategies import both_paths, float_weights, samples, taking, whole_weights


def exact_pairs(counts):
    pairs = counts.pairs()
    return (pairs.concordant, pairs.tied, pairs.total)


@both_paths
@pytest.mark.parametrize("name", TABLES)
def test_pairs_of_tables(path, name):
    table = TABLES[name]
    with taking(path):
        counts = ThresholdCounts.from_scores(table.y, table.score, sample_weight=table.weight)
        assert exact_pairs(counts) == table.pairs


@pytest.mark.every(4)
@both_paths
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@given(data=st.data())
def test_pairs(path, dtype, data):
    sample = data.draw(samples(dtype=dtype, weight=data.draw(st.none() | st.just(whole_weights))))
    expected = oracle.pairs(oracle.rows(sample.y, sample.score, sample.weight))
    with taking(path):
        pairs = sample.counts().pairs()
    for ties in ("lower", "half", "upper"):
        assert pairs.fraction(ties) == expected.auc(ties)
        assert pairs.auc(ties) == float(expected.auc(ties))


@both_paths
@given(sample=samples(weight=float_weights))
def test_pairs_of_float_weights(path, sample):
    expected = oracle.pairs(oracle.rows(sample.y, sample.score, sample.weight))
    with taking(path):
        assert sample.counts().pairs().auc() == pytest.approx(float(expected.auc()), rel=1e-13)


@given(sample=samples(one_class=True))
def test_cumulative_counts(sample):
    counts, cases = sample.counts(), oracle.rows(sample.y, sample.score)
    expected = oracle.points(cases)[1:]
    for name in ("threshold", "tp", "fp", "fn", "tn"):
        assert getattr(counts, name).tolist() == [getattr(point, name) for point in expected]
    assert (counts.n_pos, counts.n_neg, counts.n) == (sum(sample.y), sum(1 - sample.y), sample.y.size)
    assert counts.prevalence == sum(sample.y) / sample.y.size
    assert len(counts) == len(expected)


cuts = st.sampled_from([-math.inf, math.inf, -1e300, 1e300, 10**400, -(10**400), -0.0, 0.1, np.float32(0.1), 2.5])


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint64"])
@given(data=st.data())
def test_at_compares_exactly(dtype, data):
    values = st.integers(0, 4) if dtype == "uint64" else st.integers(-4, 4)
    sample = data.draw(samples(score=values, dtype=dtype))
    cut = data.draw(cuts | values | st.floats(-5, 5, allow_nan=False) | st.fractions(-5, 5))
    point, expected = sample.counts().at(cut), oracle.at(oracle.rows(sample.y, sample.score), cut)
    assert (point.tp, point.fp, point.fn, point.tn) == (expected.tp, expected.fp, expected.fn, expected.tn)
    assert point.threshold == cut


def test_at_does_not_round_the_cut_to_the_type_of_the_scores():
    counts = ThresholdCounts.from_scores([1, 0], np.array([0.1, 0.05], np.float32))
    assert float(np.float32(0.1)) > 0.1
    assert counts.at(0.1).tp == 1
    assert counts.at(float(np.float32(0.1))).tp == 1
    assert counts.at(math.nextafter(float(np.float32(0.1)), 1)).tp == 0


@pytest.mark.parametrize("name", ["int64 beyond 2^53", "int64 ends", "uint64 ends", "float32 neighbours"])
def test_at_every_threshold_of_its_own(name):
    counts = ThresholdCounts.from_scores(BOTH_CLASSES[name].y, BOTH_CLASSES[name].score)
    for level, threshold in enumerate(counts.threshold):
        assert (counts.at(threshold).tp, counts.at(threshold).fp) == (counts.tp[level], counts.fp[level])


@pytest.mark.parametrize("cut", [math.nan, np.float32("nan"), "0.5", None, [0.5]])
def test_at_refuses_what_is_no_number(cut):
    with pytest.raises(ScoreError, match=r"^threshold: expected a number, got "):
        ThresholdCounts([1], [1], [1]).at(cut)


@pytest.mark.parametrize("seed", range(20))
def test_rounding_of_weights_never_leaves_a_point_beyond_the_total(seed):
    generator = np.random.default_rng(seed)
    y, score = generator.integers(0, 2, 200), generator.integers(0, 30, 200)
    counts = ThresholdCounts.from_scores(y, score, sample_weight=generator.random(200))
    everyone = counts.at(-1)
    assert (everyone.tpr, everyone.fpr, everyone.fn, everyone.tn) == (1.0, 1.0, 0.0, 0.0)
    assert (counts.fn >= 0).all()
    assert (counts.tn >= 0).all()
    assert rs.roc(counts).y[-1] == 1.0


parts = st.integers(2, 4).flatmap(lambda n: st.lists(samples(one_class=True, most=12), min_size=n, max_size=n))


@both_paths
@given(parts=parts)
def test_sums_are_the_counts_of_the_union(path, parts):
    with taking(path):
        counted = [part.counts() for part in parts]
        union = ThresholdCounts.from_scores(
            np.concatenate([part.y for part in parts]), np.concatenate([part.score for part in parts])
        )
        forwards = sum(counted[1:], start=counted[0])
        backwards = sum(counted[-2::-1], start=counted[-1])
    assert forwards == backwards == union
    assert exact_pairs(forwards) == exact_pairs(union)


def test_sums_of_two_types_hold_both_exactly():
    mixed = ThresholdCounts(np.array([0.1], np.float32), [1], [0]) + ThresholdCounts([0.1], [0], [1])
    assert mixed.threshold.tolist() == [float(np.float32(0.1)), 0.1]
    weighted = ThresholdCounts([1], [1], [0]) + ThresholdCounts([1], [0.5], [0.25])
    assert (weighted.pos.tolist(), weighted.neg.tolist()) == ([1.5], [0.25])


def test_sums_of_whole_and_broken_scores_widen_the_type():
    mixed = ThresholdCounts(np.array([1], np.int32), [1], [1]) + ThresholdCounts(np.array([1], np.float32), [1], [1])
    assert mixed.threshold.dtype == np.float64
    assert mixed.pos.tolist() == [2]


@pytest.mark.parametrize("pair", [("int64", "float64"), ("uint64", "int64"), ("int64", "float32")])
def test_sums_never_round_a_score(pair):
    first, second = (ThresholdCounts(np.array([1], dtype), [1], [1]) for dtype in pair)
    with pytest.raises(ScoreError, match="no type represents the scores of both exactly"):
        first + second


def test_only_counts_are_added():
    with pytest.raises(TypeError):
        ThresholdCounts([1], [1], [1]) + 1
    assert ThresholdCounts([1], [1], [1]) != 1


@given(sample=samples(one_class=True, weight=whole_weights))
def test_round_trips(sample):
    counts = sample.counts()
    assert ThresholdCounts(counts.threshold, counts.pos, counts.neg) == counts
    assert ThresholdCounts(**counts.to_dict()) == counts
    repeated = ThresholdCounts.from_scores(np.repeat(sample.y, sample.weight), np.repeat(sample.score, sample.weight))
    assert repeated == counts


def test_levels_without_a_count_are_left_out():
    counts = ThresholdCounts([3, 2, 1], [1, 0, 0], [0, 0, 1])
    assert counts.threshold.tolist() == [3, 1]
    assert not np.signbit(ThresholdCounts([-0.0], [1], [1]).threshold).any()


def test_arrays_cannot_be_written():
    counts = ThresholdCounts.from_scores([1, 0], [2, 1])
    for name in ("threshold", "pos", "neg", "tp", "fp"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(counts, name)[0] = 9


def test_counts_beyond_the_product_that_64_bits_hold():
    counts = ThresholdCounts([3, 2, 1], [2**40, 0, 2**40], [2**20, 2**40, 1])
    n_pos, n_neg = 2**41, 2**20 + 2**40 + 1
    assert not counts.is_exact
    concordant, tied = 2**40 * (2**40 + 1), 2**40 * 2**20 + 2**40
    assert exact_pairs(counts) == (concordant, tied, n_pos * n_neg)
    assert counts.pairs().fraction() == Fraction(2 * concordant + tied, 2 * n_pos * n_neg)
    assert rs.roc(counts).hull().counts.tp.tolist() == [2**40, 2**41]
    assert rs.auc(counts) == float(counts.pairs().fraction())


@both_paths
def test_pairs_of_weights_beyond_the_product_that_64_bits_hold(path):
    y, score, weight = [1, 0, 1, 0], [4, 3, 2, 2], np.array([2, 3, 1, 1]) * 2**32
    with taking(path):
        counts = ThresholdCounts.from_scores(y, score, sample_weight=weight)
        assert exact_pairs(counts) == (8 * 2**64, 2**64, 12 * 2**64)


too_many = {
    "levels": lambda: ThresholdCounts([2, 1], [2**61, 2**61], [2**61, 0]),
    "unsigned counts": lambda: ThresholdCounts([1], np.array([2**63], np.uint64), [1]),
    "weights": lambda: ThresholdCounts.from_scores([1, 0, 1], [1, 2, 3], sample_weight=[2**61] * 3),
    "unsigned weights": lambda: rs.auc([1, 0], [1, 2], sample_weight=np.array([2**63, 1], np.uint64)),
    "sums": lambda: ThresholdCounts([1], [2**61], [0]) + ThresholdCounts([1], [2**61], [2**61]),
}


@pytest.mark.parametrize("case", too_many)
def test_whole_counts_that_would_overflow_are_refused(case):
    with pytest.raises(WeightError, match=r"a sum of at most 2\^62"):
        too_many[case]()


bad = {
    "shorter": (lambda: ThresholdCounts([2, 1], [1], [1, 1]), ShapeError, "pos: expected one entry per label"),
    "empty": (lambda: ThresholdCounts([], [], []), ShapeError, "threshold: expected at least one row"),
    "rising": (lambda: ThresholdCounts([1, 2], [1, 1], [1, 1]), ScoreError, "strictly decreasing"),
    "equal": (lambda: ThresholdCounts([1, 1], [1, 1], [1, 1]), ScoreError, "strictly decreasing"),
    "negative": (lambda: ThresholdCounts([1], [-1], [1]), WeightError, "finite counts of at least 0"),
    "nan": (lambda: ThresholdCounts([1], [math.nan], [1]), WeightError, "finite counts of at least 0"),
    "text": (lambda: ThresholdCounts([1], ["a"], [1]), WeightError, "pos: expected numbers"),
    "zeros": (lambda: ThresholdCounts([1], [0], [0]), ShapeError, "at least one count above 0"),
    "infinite threshold": (lambda: ThresholdCounts([math.inf], [1], [1]), ScoreError, "finite scores"),
    "ties": (
        lambda: ThresholdCounts([1], [1], [1]).pairs().auc("middle"),
        InputError,
        "one of 'half', 'lower', 'upper'",
    ),
}


@pytest.mark.parametrize("case", bad)
def test_refusals(case):
    call, kind, message = bad[case]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ONE_CLASS)
def test_one_class_is_counted_but_has_no_area(name):
    table = ONE_CLASS[name]
    counts = ThresholdCounts.from_scores(table.y, table.score, sample_weight=table.weight)
    assert counts.n == (len(table.y) if table.weight is None else sum(table.weight))
    with pytest.raises(OneClassError, match=r"AUC: expected both classes, got no (positives|negatives) among [13] row"):
        rs.auc(counts)


def test_shown_as_one_line_of_facts():
    counts = ThresholdCounts([1], [12_345_678], [3])
    assert repr(counts) == "ThresholdCounts(n_pos=12345678, n_neg=3, levels=1)"
    assert counts._repr_html_() == f"<code>{counts!r}</code>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)
