"""Normal-deviate axes: rates spaced as on probability paper, so that normal scores give a straight DET curve."""

from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy.special import ndtr, ndtri

from rocscope.curves.det_curve import DetCurve

_EDGE = 1e-9
_HIGHEST = 0.99
_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99)


def deviate(rate: Any) -> Any:
    """Return the normal deviates of rates; 0 and 1 lie beyond any limits, but not at infinity."""
    return ndtri(np.clip(rate, _EDGE, 1 - _EDGE))


def set_deviate_axes(ax: Any, curve: DetCurve) -> None:
    """Give both axes normal-deviate scales with ticks in percent, as far down as the counts can resolve."""
    ax.set_xscale("function", functions=(deviate, ndtr))
    ax.set_yscale("function", functions=(deviate, ndtr))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator(_TICKS))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda rate, _: f"{100 * rate:.6g} %"))
    ax.set_xlim(_lowest(curve.counts.n_neg), _HIGHEST)
    ax.set_ylim(_lowest(curve.counts.n_pos), _HIGHEST)


def _lowest(total: float) -> float:
    """Return half the smallest rate above 0 that this many cases can give, within reason."""
    return min(max(0.5 / total, 5e-7), 0.02)
