"""Bootstrap of cases that fall into few kinds: a draw of n rows is a multinomial draw over the kinds.

Any statistic of a confusion matrix, or of the costs of two models on the same rows, needs no more than how often each
kind of row occurs, so that resampling rows costs the number of kinds and not that of rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.errors import InputError, warn
from rocscope.inference.estimate import Estimate


def resampled(
    frequency: Array, statistic: Callable[[Array], Array], *, replicates: int, level: float, random_state: Any
) -> Estimate:
    """Return a statistic with its percentile bootstrap interval.

    Parameters
    ----------
    frequency : array of counts
        Rows of each kind, whole numbers.
    statistic : function
        Of an array (replicates × kinds) of drawn counts; returns a value a replicate.
    """
    check.check_level(level)
    check.check_whole(replicates, "replicates", 2)
    n = int(frequency.sum())
    drawn = check.check_random_state(random_state).multinomial(n, frequency / n, size=int(replicates))
    values = np.asarray(statistic(drawn), dtype=np.float64)
    defined = values[~np.isnan(values)]
    if not defined.size:
        raise InputError("interval", expected="a value in some replicate", got="none: the statistic is undefined")
    if defined.size < values.size:
        missing = values.size - defined.size
        warn(f"{missing} of {values.size} replicates gave no value")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    observed = float(np.asarray(statistic(frequency[np.newaxis].astype(np.int64)))[0])
    name = f"bootstrap (percentile, {replicates:,} replicates)"
    return Estimate(observed, float(low), float(high), level, name, n, float(defined.std(ddof=1)))


def whole_counts(counts: Array, name: str) -> NDArray[np.int64]:
    """Return counts of rows, which weights that are not whole do not tell."""
    if (counts % 1 != 0).any():
        raise InputError(
            f"interval of {name}",
            expected="whole numbers of cases",
            got="sums of fractional weights",
            hint="they do not tell how many rows there are",
        )
    return counts.astype(np.int64)
