"""Means over groups, with intervals: groups are what was drawn at random."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rocscope._types import Array
from rocscope.errors import OneClassError
from rocscope.inference.estimate import Estimate

_WORDS = {"n": " weighted by rows", "n_pos": " weighted by positives", None: ""}
_FEW = 20


def mean_over_groups(
    values: Array, kept: NDArray[np.bool_], weight: Literal["n", "n_pos"] | None, weights: Array | None, level: float
) -> Estimate:
    """Return the weighted mean of a value of each group that is kept, with an interval over groups."""
    if not kept.any():
        raise OneClassError("mean AUC", expected="a group with both classes", got=f"none among {kept.size}")
    mass = np.ones(values.size) if weights is None else weights[kept].astype(np.float64)
    mean = float((mass * values).sum() / mass.sum())
    worth = float(mass.sum() ** 2 / (mass**2).sum())
    apart, k = mass * (values - mean), values.size
    error = float(np.sqrt(k / (k - 1) * (apart**2).sum()) / mass.sum()) if k > 1 else np.nan
    reach = float(stats.t.ppf((1 + level) / 2, k - 1)) * error if k > 1 else np.nan
    lost = kept.size - k
    return Estimate(
        mean,
        max(mean - reach, 0.0),
        min(mean + reach, 1.0),
        level=level,
        method=f"t over {k} groups" + _WORDS[weight] + (f", {lost} of one class left out" if lost else ""),
        n=k,
        standard_error=error,
        reason=_doubt(worth, error),
    )


def _doubt(worth: float, error: float) -> str:
    if worth < _FEW:
        return f"groups worth {worth:.3g} of equal weight, fewer than {_FEW}"
    return "" if error > 0 else "all groups have the same AUC"
