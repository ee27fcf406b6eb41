"""The sort of rows by slot beside NumPy's, in buckets of every size."""

import numpy as np
import pytest

from rocscope import Predictions, auc
from rocscope._base.radix import encode
from rocscope.segments import levels as rows

SPREADS = {
    "even": lambda generator, number, n: generator.integers(0, number, n),
    "one large": lambda generator, number, n: generator.integers(0, number, n) * (generator.random(n) < 0.05),
    "last only": lambda generator, number, n: np.full(n, number - 1),
    "one row a slot": lambda generator, number, n: generator.permutation(n) % number,
}


@pytest.mark.every(7)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16])
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("number", [2, 7, 600, 70_000])
@pytest.mark.parametrize("small", [False, True])
def test_as_numpy_sorts(monkeypatch, dtype, spread, number, small):
    generator = np.random.default_rng(number)
    n = 60_000
    if small:  # buckets, runs and slots that count as large; bits that two bytes do not hold
        for name, value in (("_BUCKET_ROWS", 1 << 8), ("_LEAST_RUN", 1 << 10), ("_LONG", 16), ("_SHORT_BITS", 3)):
            monkeypatch.setattr(rows, name, value)
    slot = SPREADS[spread](generator, number, n).astype(np.uint32)
    score = (generator.standard_normal(n) * 40).astype(dtype)
    cuts = [0, 5, 20_000, 20_001, 45_000]
    codes, bounds = rows._sorted_by_slot(np.split(slot, cuts), np.split(score, cuts), number)
    expected = encode(score)
    np.testing.assert_array_equal(codes, expected[np.lexsort((expected, slot))], strict=True)
    np.testing.assert_array_equal(np.diff(bounds), np.bincount(slot, minlength=number))


def test_pairs_of_large_segments_and_ties():
    generator = np.random.default_rng(2)
    n = 60_000
    y, score, user = generator.random(n) < 0.4, generator.integers(0, 50, n), generator.integers(0, 9, n) ** 2
    preds = Predictions(y, score, segment=user)
    segmented = preds.counts(by="segment")
    for ties in ("half", "lower", "upper"):
        assert segmented.auc(ties).tolist() == [auc(part, ties=ties) for part in preds.by_segment().values()]
