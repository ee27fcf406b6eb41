"""Intervals of what a confusion matrix says: Wilson's for proportions, the bootstrap for everything else.

Bootstrap of cases that fall into few kinds: a draw of n rows is a multinomial draw over the kinds.

Any statistic of a confusion matrix, or of the costs of two models on the same rows, needs no more than how often each
kind of row occurs, so that resampling rows costs the number of kinds and not that of rows.
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import InputError, warn
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import proportion, share_of
from rocscope.multiclass import table_statistics as tables
from rocscope.multiclass.classes import position

_PROPORTIONS = ("tpr", "fnr", "tnr", "fpr", "precision", "npv")
"""Metrics of one class that are shares of independent cases."""


def table_interval(
    counts: Array,
    classes: tuple[Hashable, ...],
    statistic: str,
    of: Any,
    averaging: tables.Averaging | None,
    *,
    level: float,
    **bootstrap: Any,
) -> Estimate:
    """Return a statistic of a table with its interval; see `ConfusionMatrix.interval`."""
    check.check_level(level)
    if of is not None and averaging is not None:
        raise InputError("interval", expected="a class (of=) or an average (averaging=)", got="both")
    cells = whole_counts(counts, statistic)
    index, rate = None if of is None else position(of, classes), tables.ALIASES.get(statistic, statistic)
    if index is not None:
        if rate in _PROPORTIONS:
            hits, n = share_of(rate, *(int(cell[index]) for cell in tables.one_vs_rest(cells)))
            if not n:
                raise InputError(f"interval of {statistic}", expected="cases that it is a share of", got="none")
            return proportion(hits, n, level=level)
    elif averaging is None and statistic not in tables.STATISTICS:
        raise InputError(
            "statistic",
            expected=check.one_of(statistic, list(tables.STATISTICS)),
            got=repr(statistic),
            hint=f"a metric of classes needs of= (one of {check.listing(classes)}) or averaging=",
        )
    elif averaging is None and statistic in ("accuracy", "error"):
        right, n = int(np.trace(cells)), int(cells.sum())
        return proportion(right if statistic == "accuracy" else n - right, n, level=level)

    def of_draws(drawn: Array) -> Array:
        drawn = drawn.reshape(-1, *cells.shape)
        if index is not None:
            return tables.per_class(drawn, statistic)[..., index]
        if averaging is not None:
            return tables.averaged(drawn, statistic, averaging)
        return tables.STATISTICS[statistic](drawn)

    return resampled(cells.ravel(), of_draws, level=level, **bootstrap)


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
