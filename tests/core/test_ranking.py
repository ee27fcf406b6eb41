"""Scores of every type are ranked as they are: the levels against the oracle, on both paths."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
from extremes import TABLES
from rocscope import ThresholdCounts
from rocscope.core.ranking import Levels, SortedKeys, SortedRows
from strategies import DTYPES, both_paths, float_weights, samples, taking, whole_weights


def levels_of(counts):
    columns = (counts.threshold, counts.pos, counts.neg)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def streamed(ranking):
    """Codes, true and false positives of all blocks; each is valid until the next, hence the copies."""
    blocks = [[column.copy() for column in (block.code, block.tp, block.fp)] for block in ranking.blocks()]
    return [np.concatenate(column) for column in zip(*blocks, strict=True)]


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


@pytest.mark.every(3)
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


@pytest.mark.every(4)
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
    assert {part.load().dtype for part in ranking.parts} == {np.dtype(np.uint16)}
    assert isinstance(ThresholdCounts.from_scores([1, 0], [0.5, 0.1]).ranking, Levels)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_level_is_never_split_between_blocks(sign):
    """Ten times as many distinct scores as a block holds, each of ten rows, above and below 0."""
    score = sign * np.arange(200_000, dtype=np.int64) // 10
    y = np.arange(200_000) % 10 < 3
    counts = ThresholdCounts.from_scores(y, score)
    assert isinstance(counts.ranking, SortedKeys)
    code, tp, _ = streamed(counts.ranking)
    assert code.size == len(np.unique(score))
    assert np.array_equal(tp, counts.tp)
    assert np.array_equal(counts.threshold, np.unique(score)[::-1])
    assert counts.pos.sum() == y.sum()


hidden = {
    "in order": lambda n: np.arange(n),
    "in reverse": lambda n: np.arange(n)[::-1],  # too many to sort by insertion
    "two at a time": lambda n: np.arange(n) // 2 * 2 + 1 - np.arange(n) % 2,
}


@pytest.mark.parametrize("order", hidden)
def test_weighted_scores_that_differ_only_in_bits_that_no_key_has_room_for(order):
    """Neighbours of 1 beside the ends of float64: a key holds the number of the row, so not every bit of the score."""
    n = 3_000
    last_bits = (hidden[order](n) + np.float64(1).view(np.int64)).view(np.float64)
    score = np.concatenate([last_bits, [-1.7e308, 1.7e308]])
    y, weight = np.arange(n + 2) % 3 == 0, np.arange(n + 2) % 5 + 1
    with taking("compiled"):
        counts = ThresholdCounts.from_scores(y, score, sample_weight=weight)
        assert isinstance(counts.ranking, SortedRows)
        assert levels_of(counts) == levels_of(ThresholdCounts.from_scores(*repeated(y, score, weight)))


def repeated(y, score, weight):
    return np.repeat(y, weight), np.repeat(score, weight)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint64"])
@pytest.mark.parametrize("whole", [True, False])
def test_blocks_of_weighted_rows_round_as_their_levels_do(dtype, whole):
    generator = np.random.default_rng(5)
    score = generator.integers(0, 100 if dtype == "int8" else 60_000, 100_000).astype(dtype)
    y, weight = generator.integers(0, 2, score.size), generator.integers(1, 4, score.size)
    weight = weight if whole else weight * generator.random(score.size)
    ranked = ThresholdCounts.from_scores(y, score, sample_weight=weight)
    _, tp, fp = streamed(ranked.ranking)
    totals, area = (ranked.n_pos, ranked.n_neg), ranked.pairs().auc()
    counts = ThresholdCounts(ranked.threshold, ranked.pos, ranked.neg)
    assert np.array_equal(tp, counts.tp)
    assert np.array_equal(fp, counts.fp)
    assert totals == (counts.n_pos, counts.n_neg) == (counts.tp[-1], counts.fp[-1])
    assert area == pytest.approx(counts.pairs().auc(), rel=1e-12)
    assert counts.threshold.tolist() == np.unique(score)[::-1].tolist()


@both_paths
@given(sample=samples(dtype=np.float64, one_class=True, weight=st.just(1)) | samples(dtype=np.float32))
def test_a_ranking_says_the_same_in_every_form(path, sample):
    with taking(path):
        ranking = sample.counts().ranking
        code, block_tp, block_fp = streamed(ranking)
        levels, (tp, fp) = ranking.levels(), ranking.cumulative()
        assert ranking.decode(code).tolist() == ranking.thresholds().tolist() == levels.threshold.tolist()
        assert [0, *block_tp] == tp.tolist() == [0, *np.cumsum(levels.pos)]
        assert [0, *block_fp] == fp.tolist() == [0, *np.cumsum(levels.neg)]
        assert ranking.totals() == (tp[-1], fp[-1])


@pytest.mark.parametrize("least", [-3, 0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8])
@pytest.mark.parametrize("tied", [False, True])
def test_few_rows_have_the_pairs_of_their_levels(dtype, least, tied):
    rng = np.random.default_rng(7)
    drawn = rng.integers(0, 6, 40) if tied else rng.permutation(40)
    score = (drawn + (0 if dtype == np.uint8 else least)).astype(dtype)
    counts = ThresholdCounts.from_scores(rng.random(40) < 0.4, score)
    assert isinstance(counts.ranking, Levels)
    levels = counts.ranking.levels()
    again = ThresholdCounts(levels.threshold, levels.pos, levels.neg)
    assert (counts.n_pos, counts.n_neg, counts.pairs()) == (again.n_pos, again.n_neg, again.pairs())
    assert counts == again
