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

_ALIASES = {"recall": "tpr", "sensitivity": "tpr", "specificity": "tnr"}
_PROPORTIONS = ("tpr", "fnr", "tnr", "fpr", "precision", "npv")
"""Metrics of one class that are shares of independent cases."""


def table_interval(
    counts: Array,
    classes: tuple[Hashable, ...],
    statistic: str,
    *,
    of: Any = None,
    averaging: tables.Averaging | None = None,
    level: float = 0.95,
    replicates: int = 2000,
    random_state: Any = 0,
) -> Estimate:
    """Return a statistic of a table with its interval; see `ConfusionMatrix.interval`."""
    check.check_level(level)
    if of is not None and averaging is not None:
        raise InputError("interval", expected="a class (of=) or an average (averaging=)", got="both")
    cells = whole_counts(counts, statistic)
    k = len(classes)
    if of is not None:
        index = position(of, classes)
        if _ALIASES.get(statistic, statistic) in _PROPORTIONS:
            return _proportion(cells, index, statistic, level)
        return _bootstrap(cells, lambda t: tables.per_class(t, statistic)[..., index], replicates, level, random_state)
    if averaging is not None:
        return _bootstrap(cells, lambda t: tables.averaged(t, statistic, averaging), replicates, level, random_state)
    if statistic not in tables.STATISTICS:
        raise InputError(
            "statistic",
            expected=check.one_of(statistic, list(tables.STATISTICS)),
            got=repr(statistic),
            hint=f"a metric of classes needs of= (one of {check.listing(classes)}) or averaging=",
        )
    if statistic in ("accuracy", "error"):
        right, n = int(np.trace(cells)), int(cells.sum())
        return proportion(right if statistic == "accuracy" else n - right, n, level=level)
    return _bootstrap(cells.reshape(k, k), tables.STATISTICS[statistic], replicates, level, random_state)


def _proportion(cells: Array, index: int, statistic: str, level: float) -> Estimate:
    hits, n = share_of(_ALIASES.get(statistic, statistic), *(int(cell[index]) for cell in tables.one_vs_rest(cells)))
    if not n:
        raise InputError(f"interval of {statistic}", expected="cases that it is a share of", got="none")
    return proportion(hits, n, level=level)


def _bootstrap(cells: Array, statistic: Any, replicates: int, level: float, random_state: Any) -> Estimate:
    def of_draws(drawn: Array) -> Array:
        return statistic(drawn.reshape(-1, *cells.shape))

    return resampled(cells.ravel(), of_draws, replicates=replicates, level=level, random_state=random_state)
