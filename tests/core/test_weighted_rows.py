"""The sort of weighted rows on all cores beside NumPy's stable one."""

import numpy as np
import pytest

from rocscope._cores import weighted_rows
from rocscope.core.levels import KINDS, encode

SHAPES = {
    "probabilities": lambda generator, n: generator.random(n),
    "both signs": lambda generator, n: generator.standard_normal(n) * 30,
    "ties": lambda generator, n: generator.integers(-3, 4, n) * 1.0,
    "one": lambda generator, n: np.zeros(n),
    "in the last bits": lambda generator, n: 1 + generator.integers(0, 1_000, n) * 2.0**-52,
    "far apart": lambda generator, n: 10.0 ** generator.integers(-300, 300, n) * np.sign(generator.random(n) - 0.5),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.uint8])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("piece", [1 << 10, 1 << 18])
def test_as_numpy_sorts(monkeypatch, shape, kind, whole, piece):
    monkeypatch.setattr(weighted_rows, "_PIECE", piece)
    monkeypatch.setattr(weighted_rows, "_PART", 1 << 8)
    generator = np.random.default_rng(0)
    n = 5_000
    with np.errstate(over="ignore", invalid="ignore"):
        scores = SHAPES[shape](generator, n).astype(kind)
    scores = np.nan_to_num(scores, posinf=9, neginf=-9)
    positive = generator.random(n) < 0.3
    weight = generator.integers(1, 9, n) if whole else generator.random(n) + 0.5
    codes, signed = weighted_rows.sorted_rows(positive, scores, weight, KINDS[scores.dtype.kind])
    order = np.argsort(encode(scores), kind="stable")
    np.testing.assert_array_equal(codes, encode(scores)[order].astype(np.uint64), strict=True)
    np.testing.assert_array_equal(signed, np.where(positive, weight, -weight)[order], strict=True)
