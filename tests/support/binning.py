"""Rows counted in ranges of the score, and whether a band holds a curve."""

import numpy as np
from hypothesis import strategies as st

from rocscope.ranges.binned import BinnedCounts
from strategies import samples


def bins_of(sample, starts):
    """Count a sample in bins; `starts` are the levels that begin one."""
    counts = sample.counts()
    first = np.array(sorted({0, *starts}))
    last = np.append(first[1:], len(counts)) - 1
    totals = (np.add.reduceat(column, first) for column in (counts.pos, counts.neg))
    return BinnedCounts(counts.threshold[last], counts.threshold[first], *totals)


@st.composite
def binned_samples(draw, **options):
    """Draw a Sample and its rows counted in some bins."""
    sample = draw(samples(**options))
    starts = draw(st.sets(st.integers(0, len(sample.counts()) - 1)))
    return sample, bins_of(sample, starts)


def cut(binned, rows):
    """Return some of the bins."""
    wins = tuple(bound[rows] for bound in binned.wins)
    columns = (getattr(binned, name)[rows] for name in ("low", "high", "pos", "neg"))
    return BinnedCounts(*columns, wins)


def band_at(band, x):
    """Return the ends of a band at x: where it jumps, the widest."""
    here = band.x == x
    if here.any():
        return np.nanmin(band.low[here]), np.nanmax(band.high[here])
    return np.interp(x, band.x, band.low), np.interp(x, band.x, band.high)


def bands_hold(band, curve, tolerance=1e-12):
    """Assert that every point of a curve lies within a band."""
    assert (np.diff(band.x) >= 0).all()
    for x, y in zip(np.asarray(curve.x, float), np.asarray(curve.y, float), strict=True):
        if np.isnan(y):
            continue
        low, high = band_at(band, x)
        assert low - tolerance <= y <= high + tolerance, (x, y, low, high)
