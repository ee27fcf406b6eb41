"""Streams that are hard on a sketch, and all that it promises of them."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from rocscope.ranges import CountsSketch

SMALLEST = 4096


def spread(generator, n):
    return generator.normal(size=n)


def rising(generator, n):
    return np.sort(generator.normal(size=n))


def falling(generator, n):
    return np.arange(n)[::-1]


def tied(generator, n):
    return np.full(n, 0.25)


def twins(generator, n):
    """Two clusters one unit in the last place apart, among a few others."""
    near = np.where(generator.random(n) < 0.5, 0.3, np.nextafter(0.3, 1))
    return np.where(generator.random(n) < 0.1, generator.normal(size=n), near)


def heavy_tailed(generator, n):
    return generator.standard_cauchy(n) * 10.0 ** generator.integers(-300, 290, n)


def drifting(generator, n):
    return generator.normal(size=n) * np.linspace(1, 1e-4, n) + np.linspace(0, 3, n)


def shrinking(generator, n):
    """What once was spread gathers in ever smaller intervals."""
    return 0.3 + generator.normal(size=n) * 10.0 ** -(8 * np.arange(n) // n)


def coarse(generator, n):
    return np.round(generator.normal(size=n), 1)


def rare_levels(generator, n):
    return np.where(generator.random(n) < 0.5, np.round(generator.normal(size=n)), generator.normal(size=n))


STREAMS = [spread, rising, falling, tied, twins, heavy_tailed, drifting, shrinking, coarse, rare_levels]


@st.composite
def streams(draw, most=1000):
    """Draw labels and scores of one of the streams, in one of the types that hold them."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, most))
    stream = draw(st.sampled_from(STREAMS))
    dtype = draw(st.sampled_from([np.float64, np.int64] if stream is falling else [np.float64, np.float32]))
    with np.errstate(over="ignore"):
        score = np.nan_to_num(stream(generator, n).astype(dtype), posinf=1e30, neginf=-1e30)
    kind = draw(st.sampled_from(["mixed", "rare", "separated", "alternating"]))
    y = {
        "mixed": generator.random(n) < 0.4,
        "rare": generator.random(n) < 0.01,
        "separated": score > np.median(score),
        "alternating": np.arange(n) % 2 == 0,
    }[kind]
    y[:2] = True, False
    return y, score


def sketch_of(y, score, memory=SMALLEST, batch=100, weight=None):
    sketch = CountsSketch(memory)
    for first in range(0, y.size, batch):
        rows = slice(first, first + batch)
        sketch.update(y[rows], score[rows], None if weight is None else weight[rows])
    return sketch


def bounds_hold(binned, counts):
    """Assert all that a sketch promises of the exact counts."""
    exact = counts.pairs().fraction()
    low, high = binned.auc_bounds
    assert Fraction(low) <= exact <= Fraction(high)
    level = np.searchsorted(-counts.threshold.astype(object), -binned.threshold.astype(object))
    np.testing.assert_array_equal(counts.threshold[level], binned.threshold)
    np.testing.assert_array_equal(counts.tp[level], binned.tp)
    np.testing.assert_array_equal(counts.fp[level], binned.fp)
    assert np.isin(binned.high, counts.threshold).all()
    assert (binned.n_pos, binned.n_neg) == (counts.n_pos, counts.n_neg)
