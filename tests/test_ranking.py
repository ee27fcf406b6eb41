"""Scores of every type are ranked as they are: the levels against the oracle, on both paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from extremes import TABLES
from rocscope import ThresholdCounts
from rocscope.core.ranking import Levels, SortedKeys
from strategies import DTYPES, both_paths, float_weights, samples, taking, whole_weights


def levels_of(counts):
    columns = (counts.threshold, counts.pos, counts.neg)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def levels_by_hand(cases):
    at_level = {score: [row for row in cases if row.score == score] for score in oracle.thresholds(cases)[1:]}
    return [
        (score, oracle.total(oracle.positives(rows)), oracle.total(oracle.negatives(rows)))
        for score, rows in at_level.items()
    ]


@both_paths
@pytest.mark.parametrize("name", TABLES)
def test_tables(path, name):
    table = TABLES[name]
    with taking(path):
        counts = ThresholdCounts.from_scores(table.y, table.score, sample_weight=table.weight)
        assert levels_of(counts) == levels_by_hand(oracle.rows(table.y, table.score, table.weight))
        assert not np.signbit(counts.threshold[counts.threshold == 0]).any()


def values_of(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        ends = [float(value) for value in (limits.min, limits.max, limits.smallest_subnormal, -limits.eps, -0.0, 1.0)]
        return st.integers(-4, 4) | st.sampled_from([*ends, float(np.nextafter(dtype.type(1), dtype.type(2)))])
    limits = np.iinfo(dtype)
    return st.integers(max(limits.min, -4), 4) | st.sampled_from([limits.min, limits.max, limits.max - 1])


@both_paths
@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_every_type(path, dtype, data):
    sample = data.draw(samples(score=values_of(dtype), dtype=dtype, one_class=True))
    with taking(path):
        counts = sample.counts()
        assert levels_of(counts) == levels_by_hand(oracle.rows(sample.y, sample.score))
    kept = np.uint8 if dtype == "bool" else np.dtype(dtype).newbyteorder("=")
    assert counts.threshold.dtype == kept
    assert (counts.pos.dtype, counts.neg.dtype) == (np.int64, np.int64)


@both_paths
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@given(data=st.data())
def test_whole_weights(path, dtype, data):
    sample = data.draw(samples(dtype=dtype, weight=whole_weights, one_class=True))
    with taking(path):
        counts = sample.counts()
        assert levels_of(counts) == levels_by_hand(oracle.rows(sample.y, sample.score, sample.weight))
    assert (counts.pos.dtype, counts.neg.dtype) == (np.int64, np.int64)


@both_paths
@given(sample=samples(dtype=np.float32, weight=float_weights, one_class=True))
def test_float_weights(path, sample):
    with taking(path):
        found = levels_of(sample.counts())
    expected = levels_by_hand(oracle.rows(sample.y, sample.score, sample.weight))
    assert [level[0] for level in found] == [level[0] for level in expected]
    np.testing.assert_allclose(
        [level[1:] for level in found], [[float(mass) for mass in level[1:]] for level in expected], rtol=1e-14
    )


@both_paths
def test_arrays_of_any_layout(path):
    y, score = np.array([1, 0, 1, 0, 1, 0]), np.array([3.0, 1.0, 2.0, 2.0, 1.0, 3.0])
    expected = levels_by_hand(oracle.rows(y[::2], score[::2]))
    frozen = score.copy()
    frozen.flags.writeable = False
    layouts = [score[::2], score[::2].astype(">f8"), frozen[::2], score[::2].reshape(-1, 1), score[::2].tolist()]
    for layout in layouts:
        with taking(path):
            assert levels_of(ThresholdCounts.from_scores(y[::2], layout)) == expected
            assert levels_of(ThresholdCounts.from_scores(y.astype(bool)[::2], layout)) == expected
    flags = np.array([True, False, True, False])[::2]
    with taking(path):
        assert levels_of(ThresholdCounts.from_scores([0, 1], flags)) == [(1, 1, 1)]


@both_paths
def test_input_is_left_as_it_was(path):
    y, score, weight = np.array([1, 0, 1]), np.array([-0.0, 2.0, 1.0]), np.array([1.0, 2.0, 0.0])
    with taking(path):
        for mass in (None, weight):
            ThresholdCounts.from_scores(y, score, sample_weight=mass).pairs()
    assert (y.tolist(), score.tolist(), weight.tolist()) == ([1, 0, 1], [0.0, 2.0, 1.0], [1.0, 2.0, 0.0])
    assert np.signbit(score[0])


def test_large_inputs_keep_sorted_keys_of_the_width_of_a_score():
    score = np.zeros(60_000, np.float16)
    ranking = ThresholdCounts.from_scores(np.arange(60_000) % 2, score).ranking
    assert isinstance(ranking, SortedKeys)
    assert ranking.upper.dtype == np.uint16
    assert isinstance(ThresholdCounts.from_scores([1, 0], [0.5, 0.1]).ranking, Levels)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_level_is_never_split_between_blocks(sign):
    """Ten times as many distinct scores as a block holds, each of ten rows, above and below 0."""
    score = sign * np.arange(200_000, dtype=np.int64) // 10
    y = np.arange(200_000) % 10 < 3
    counts = ThresholdCounts.from_scores(y, score)
    assert isinstance(counts.ranking, SortedKeys)
    blocks = [(block.code.copy(), block.tp.copy(), block.fp.copy()) for block in counts.ranking.blocks()]
    assert sum(code.size for code, _, _ in blocks) == len(np.unique(score))
    assert np.array_equal(np.concatenate([tp for _, tp, _ in blocks]), counts.tp)
    assert np.array_equal(counts.threshold, np.unique(score)[::-1])
    assert counts.pos.sum() == y.sum()
