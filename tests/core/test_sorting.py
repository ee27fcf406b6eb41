"""The sort of the engines beside NumPy's."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rocscope import kernels
from rocscope._base.radix import count_pairs
from rocscope.engines import row_buffers
from rocscope.engines.row_buffers import GrowingRows

SHAPES = {
    "uniform": lambda generator, n, top: generator.integers(0, top, n, endpoint=True),
    "one value": lambda generator, n, top: np.full(n, top),
    "two values": lambda generator, n, top: np.where(generator.random(n) < 0.5, 0, top),
    "small": lambda generator, n, top: generator.integers(0, min(top, 100), n),
    "sorted": lambda generator, n, top: np.sort(generator.integers(0, top, n)),
    "a large bucket": lambda generator, n, top: np.where(
        generator.random(n) < 0.9, generator.integers(0, top // 4096 + 1, n), generator.integers(0, top, n)
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize(("threads", "arrays"), [(1, 1), (3, 4)])
def test_as_numpy_sorts(dtype, shape, threads, arrays):
    top = int(np.iinfo(dtype).max)
    values = SHAPES[shape](np.random.default_rng(0), 2 * row_buffers._FEW + 1, min(top, 2**63 - 1)).astype(dtype)
    pieces = np.split(values, [0, 10, values.size // 2])[-arrays:]
    rows = sum(piece.size for piece in pieces)
    expected = np.sort(np.concatenate(pieces))
    parts = row_buffers.sort(pieces, threads)
    assert np.array_equal(np.concatenate([part.load() for part in parts]), expected)
    assert all(np.shares_memory(piece, values) for part in parts for piece in part.pieces)
    assert sum(part.size for part in parts) == rows
    last = [part.load()[-1] >> 1 for part in parts]
    first = [part.load()[0] >> 1 for part in parts]
    assert all(
        low == high for part, low, high in zip(parts, first, last, strict=True) if part.size > 2 * row_buffers._FEW
    )
    assert all(before < after for before, after in zip(last[:-1], first[1:], strict=True))  # no score is in two


def test_keys_come_in_few_arrays():
    keys, gathered = np.arange(50_060, dtype=np.uint32), GrowingRows()
    assert not gathered
    for piece in np.array_split(keys, 500):
        gathered.add(piece)
    gathered.add(keys[:0])
    assert gathered.nbytes == keys.nbytes
    arrays = [column for (column,) in gathered.take()]
    assert len(arrays) < 12
    assert np.array_equal(np.concatenate(arrays), keys)
    assert not gathered
    assert gathered.take() == []


@pytest.mark.parametrize("rest", [0, 1])
def test_large_arrays_of_one_score_are_not_copied(monkeypatch, rest):
    monkeypatch.setattr(row_buffers, "_LARGEST", 1 << 10)
    generator = np.random.default_rng(0)
    keys = (6 + generator.integers(0, 2, 1 << 18)).astype(np.uint32)
    keys[:rest] = 2
    expected = np.sort(keys)
    parts = row_buffers.sort(np.array_split(keys, 3))
    assert np.array_equal(np.concatenate([part.load() for part in parts]), expected)
    assert [part.counted for part in parts] == [count_pairs(part.load()) for part in parts]
    assert len(parts) == 1 + rest


@pytest.mark.parametrize("other", [2, 2**32 - 2])
def test_nor_are_those_with_a_few_others_that_no_sample_shows(monkeypatch, other):
    monkeypatch.setattr(row_buffers, "_LARGEST", 1 << 10)
    keys = (6 + np.random.default_rng(0).integers(0, 2, 1 << 18)).astype(np.uint32)
    keys[-7:] = other
    expected = np.sort(keys)
    parts = row_buffers.sort(np.array_split(keys, 3))
    assert np.array_equal(np.concatenate([part.load() for part in parts]), expected)
    assert sorted(part.size for part in parts) == [7, keys.size - 7]


def test_nothing_to_sort():
    assert row_buffers.sort([]) == row_buffers.sort([np.empty(0, np.uint32)]) == []


@given(st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=60), st.integers(1, 12))
def test_digits_and_parts_on_plain_python(values, bits):
    keys = np.array(values, np.uint16)
    part = np.minimum(np.arange((1 << 16 >> bits) + 1, dtype=np.uint16) // 2, 3)
    ends = np.array([[0, (1 << 15) - 1], [1 << 15, (1 << 16) - 1]], np.uint64) >> bits
    where, sizes = np.empty(keys.size, np.uint16), np.zeros(4, np.uint64)
    kernels.parts.find_parts.python(keys, 0, ends, np.uint64(bits), part, where, sizes)
    bounds = [0, *np.cumsum(sizes).tolist()]
    kernels.parts.deal.python(keys.copy(), None, None, 0, where, np.array(bounds[:-1], np.uint64), keys, None)
    assert bounds[-1] == keys.size
    for number in range(4):
        assert (part[keys[bounds[number] : bounds[number + 1]] >> bits] == number).all()
    kernels.parts.sort_rows.python(keys, None)
    assert keys.tolist() == sorted(values)
