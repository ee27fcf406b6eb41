"""The sort of rows on all cores beside NumPy's stable one."""

import numpy as np
import pytest

from rocscope import kernels
from rocscope._base import radix
from rocscope._base.radix import KINDS, encode

SHAPES = {
    "probabilities": lambda generator, n: generator.random(n),
    "both signs": lambda generator, n: generator.standard_normal(n) * 30,
    "ties": lambda generator, n: generator.integers(-3, 4, n) * 1.0,
    "one": lambda generator, n: np.zeros(n),
    "in the last bits": lambda generator, n: 1 + generator.integers(0, 1_000, n) * 2.0**-52,
    "few where none is sampled": lambda generator, n: np.where(
        np.arange(n) % 640 == 99, generator.choice([-1e4, -1, 1e-3, 1e4], n), generator.random(n) + 7
    ),
    "far apart": lambda generator, n: 10.0 ** generator.integers(-300, 300, n) * np.sign(generator.random(n) - 0.5),
}


@pytest.fixture(params=[(1 << 10, 1 << 11), (1 << 18, 1 << 20)], ids=["many parts", "one part"])
def parted(request, monkeypatch):
    monkeypatch.setattr(radix, "_LEAST_PIECE", request.param[0])
    monkeypatch.setattr(radix, "_PART_BYTES", request.param[1])
    monkeypatch.setattr(radix, "_PART_ROWS", request.param[1])
    monkeypatch.setattr(radix, "_STRETCH", 64)
    monkeypatch.setattr(radix, "_SAMPLED", 32)


def drawn(shape, kind):
    """Return labels and scores."""
    generator = np.random.default_rng(0)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = SHAPES[shape](generator, 5_000).astype(kind)
    return generator.random(5_000) < 0.3, np.nan_to_num(scores, posinf=9, neginf=-9)


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.uint8])
@pytest.mark.parametrize("whole", [False, True])
def test_weighted_rows_as_numpy_sorts_them(shape, kind, whole):
    positive, scores = drawn(shape, kind)
    generator = np.random.default_rng(1)
    weight = generator.integers(1, 9, scores.size) if whole else generator.random(scores.size) + 0.5
    codes, signed = radix.sorted_rows(positive, scores, weight, KINDS[scores.dtype.kind])
    order = np.argsort(encode(scores), kind="stable")
    np.testing.assert_array_equal(codes, encode(scores)[order].astype(np.uint64), strict=True)
    np.testing.assert_array_equal(signed, np.where(positive, weight, -weight)[order], strict=True)


@pytest.mark.every(5)
@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int16, np.uint64, np.uint8])
@pytest.mark.parametrize("numpy_is_faster", [False, True])
def test_keys_in_parts(monkeypatch, shape, kind, numpy_is_faster):
    monkeypatch.setattr(radix, "_WORTH_A_TRY", 0)
    monkeypatch.setattr(radix, "_numpy_to_ours", lambda _: 0.5 if numpy_is_faster else 2)
    positive, scores = drawn(shape, kind)
    halves = radix.sorted_keys(positive, scores, KINDS[scores.dtype.kind])
    codes = np.array(encode(scores).tolist(), object)
    top = 1 << (8 * scores.itemsize - 1)
    for parts, chosen in zip(halves, (codes >= top, codes < top), strict=True):
        firsts = [part.load()[0].item() >> 1 for part in parts]
        assert firsts == sorted(set(firsts))  # no score is in two parts
        keys = [key for part in parts for key in part.load().tolist()]
        own = 2 * (codes % top) + positive.astype(int)
        assert keys == sorted(own[chosen].tolist())
        for part in parts:
            label, code = part.load() & 1, part.load() >> 1
            pos, neg = code[label == 1], np.sort(code[label == 0])
            below, within = (np.searchsorted(neg, pos, side) for side in ("left", "right"))
            expected = below.sum(), (within - below).sum(), pos.size, neg.size
            assert part.pairs == expected
            assert part.counted in (None, expected)


def test_which_sort_is_faster_is_tried_once_and_only_for_many(monkeypatch):
    tried = []
    monkeypatch.setattr(radix, "_numpy_to_ours", lambda dtype: tried.append(dtype) or 2)
    keys = np.arange(9, dtype=np.uint32)[::-1].copy()
    radix.sort_pieces([keys], keys.size)
    assert not tried
    radix.sort_pieces([keys], radix._WORTH_A_TRY)
    assert tried == [np.uint32]
    assert keys.tolist() == list(range(9))


def test_a_try_tells_the_faster_sort(monkeypatch):
    radix._numpy_to_ours.cache_clear()
    monkeypatch.setattr(kernels.parts, "sort_rows", lambda keys, _: [keys.sort() for _ in range(20)])
    assert radix._numpy_to_ours(np.dtype(np.uint64)) < 1
    assert radix._numpy_to_ours.cache_info().currsize == 1
    radix._numpy_to_ours.cache_clear()
