"""Intervals of what a confusion matrix says: Wilson's for proportions, the bootstrap for everything else."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.errors import InputError
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import proportion, share_of
from rocscope.multiclass.classes import position
from rocscope.multiclass.tables import statistics as tables
from rocscope.multiclass.tables.resample import resampled, whole_counts

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
