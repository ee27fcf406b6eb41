"""The sort of the engines beside NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocscope import kernels
from rocscope.engines.stream import sorting

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
    values = SHAPES[shape](np.random.default_rng(0), 2 * sorting._FEW + 1, min(top, 2**63 - 1)).astype(dtype)
    pieces = np.split(values, [0, 10, values.size // 2])[-arrays:]
    rows = sum(piece.size for piece in pieces)
    expected = np.sort(np.concatenate(pieces))
    parts = sorting.sort(pieces, threads)
    assert np.array_equal(np.concatenate([piece for part in parts for piece in part]), expected)
    assert all(np.shares_memory(piece, values) for part in parts for piece in part)
    assert sum(piece.size for part in parts for piece in part) == rows
    large = [part for part in parts if sum(piece.size for piece in part) > sorting._FEW]
    assert all(min(map(np.min, part)) >> 1 == max(map(np.max, part)) >> 1 for part in large)
    last = [max(map(np.max, part)) >> 1 for part in parts]
    first = [min(map(np.min, part)) >> 1 for part in parts]
    assert all(before < after for before, after in zip(last[:-1], first[1:], strict=True))  # no score is in two


def test_arrays_are_put_together():
    keys, gathered = np.arange(50_060, dtype=np.uint32), sorting.Keys()
    assert not gathered
    for number, piece in enumerate(np.array_split(keys, 500), 1):
        gathered.add(piece)
        if number % 10 == 0:
            gathered.put_together()
    assert gathered.nbytes == keys.nbytes
    arrays = gathered.take()
    assert len(arrays) == 50
    assert np.array_equal(np.concatenate(arrays), keys)
    assert not gathered
    assert gathered.take() == []


def test_nothing_to_sort():
    assert sorting.sort([]) == sorting.sort([np.empty(0, np.uint32)]) == []


@given(st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=60), st.integers(0, 12))
def test_buckets_on_plain_python(values, bits):
    keys = np.array(values, np.uint16)
    lowest, shift = keys.min(), np.uint16(bits)
    bounds = np.empty((int(keys.max() - lowest) >> bits) + 2, np.int64)
    kernels.parts.part.python(keys, lowest, shift, bounds)
    assert bounds[0] == 0
    assert bounds[-1] == keys.size
    for bucket in range(bounds.size - 1):
        assert ((keys[bounds[bucket] : bounds[bucket + 1]] - lowest) >> shift == bucket).all()
    kernels.parts.sort_rows.python(keys, None)
    assert keys.tolist() == sorted(values)
