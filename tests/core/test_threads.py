"""Work on all cores gives what one core gives."""

import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rocscope._base import arrays as threads, radix
from rocscope._base.radix import KeyPart
from rocscope.core.counts import ThresholdCounts
from rocscope.core.ranking import SortedKeys
from rocscope.curves import precision_recall
from rocscope.geometry.hull import pool

ROWS = st.lists(st.tuples(st.booleans(), st.integers(-8, 8)), min_size=2, max_size=40)


def found(rows, cuts):
    """Return counts of keys in parts, cut between scores, each of two pieces."""
    y, score = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], np.int16)
    parts = []
    for high, value in ((1, score[score >= 0]), (0, score[score < 0])):
        label = y[score >= 0] if high else y[score < 0]
        keys = np.sort((value.view(np.uint16) << 1) | label)
        borders = np.array(list(cuts), np.int16).view(np.uint16) << 1
        pieces = np.split(keys, np.unique(np.searchsorted(keys, borders)))
        bit = np.uint16(high << 15)
        parts += [KeyPart(tuple(np.split(piece, [piece.size // 2])), bit) for piece in reversed(pieces) if piece.size]
    return ThresholdCounts.from_ranking(SortedKeys(tuple(parts), score.dtype, int(y.sum())))


@pytest.mark.parametrize("available", [1, 3])
@given(rows=ROWS, cuts=st.sets(st.integers(-8, 8)))
def test_parts_make_the_whole(available, rows, cuts):
    counts = found(rows, cuts)
    y, score = [row[0] for row in rows], [row[1] for row in rows]
    expected = ThresholdCounts.from_scores(y, np.array(score, np.int16))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "cores", lambda: available)
        positives, negatives = ([s for label, s in zip(y, score, strict=True) if label == wanted] for wanted in (1, 0))
        pairs = [(p > n, p == n) for p in positives for n in negatives]
        assert counts.ranking.count_pairs() == (sum(right for right, _ in pairs), sum(equal for _, equal in pairs))
        assert pool(counts) == pool(expected)
        assert counts == expected


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16])
def test_large_arrays_are_scanned_in_parts_of_whole_levels(monkeypatch, kind):
    monkeypatch.setattr(radix, "_PART_BYTES", 1000 * np.dtype(kind).itemsize)
    generator = np.random.default_rng(0)
    y, score = generator.random(60_000) < 0.3, (generator.standard_normal(60_000) * 50).round().astype(kind)
    counts = ThresholdCounts.from_scores(y, score)
    assert len(counts.ranking.parts) > 20
    assert counts.pairs().fraction() == ThresholdCounts(counts.threshold, counts.pos, counts.neg).pairs().fraction()
    levels = np.unique(score)[::-1]
    assert np.array_equal(counts.threshold, levels)
    assert counts.pos.tolist() == [int(y[score == level].sum()) for level in levels]


def test_threads_keep_the_order_and_raise():
    assert threads.in_threads(lambda n: n * n, range(50), 4) == [n * n for n in range(50)]
    assert threads.in_threads(lambda _: threading.current_thread(), [1]) == [threading.main_thread()]
    assert threads.in_threads(str, []) == []
    with pytest.raises(ZeroDivisionError):
        threads.in_threads(lambda n: 1 // n, [1, 0], 2)


def test_an_error_in_any_thread_is_raised_and_ends_the_work():
    meet, taken = threading.Barrier(2), []

    def work(number):
        taken.append(number)
        if number < 2:
            meet.wait(9)  # so that each of two threads has one
        if threading.current_thread() is not threading.main_thread():
            raise IndexError(number)
        time.sleep(0.01)

    with pytest.raises(IndexError):
        threads.in_threads(work, range(1_000), 2)
    assert len(taken) < 10


@pytest.mark.parametrize(("wanted", "expected"), [("1", 1), ("0", 1), ("", None), ("many", None), ("100000", None)])
def test_cores_are_those_allowed(monkeypatch, wanted, expected):
    monkeypatch.setenv("NUMBA_NUM_THREADS", wanted)
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert threads.cores() == (expected or allowed)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_blocks_do_not_depend_on_the_order_of_rows(monkeypatch, kind):
    monkeypatch.setattr(radix, "_PART_BYTES", np.dtype(kind).itemsize << 13)
    generator = np.random.default_rng(0)
    y, score = generator.random(60_000) < 0.3, generator.standard_normal(60_000).astype(kind)
    one, other = (
        ThresholdCounts.from_scores(y[order], score[order])
        for order in (np.argsort(score), generator.permutation(y.size))
    )
    assert [part.size for part in one.ranking.parts] != [part.size for part in other.ranking.parts]
    for mine, theirs in zip(one.ranking.blocks(), other.ranking.blocks(), strict=True):
        assert np.array_equal(mine.code, theirs.code)
        assert np.array_equal(mine.tp, theirs.tp)
        assert np.array_equal(mine.fp, theirs.fp)
    assert precision_recall(one).average_precision == precision_recall(other).average_precision
