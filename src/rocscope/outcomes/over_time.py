"""Time-dependent figures over several horizons: intervals, their mean, and paired tests of models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.registry import reach
from rocscope.core.result import Result, frame_of
from rocscope.core.rows import model_name
from rocscope.errors import InputError
from rocscope.figures.influence import Smooth
from rocscope.figures.ranks import area
from rocscope.inference.estimate import Comparisons, Estimate
from rocscope.inference.hypothesis import Adjust, Hypothesis
from rocscope.inference.influence.estimating import Values, compare_values, values_of_rows
from rocscope.inference.influence.units import Stratum
from rocscope.outcomes.horizons import at_horizon, horizons_of


@dataclass(frozen=True, eq=False, repr=False)
class OverTime(Result):
    """A figure of each model at several horizons, and its time average.

    Attributes
    ----------
    quantity : str
    at : mapping from horizon to Comparisons
        Estimates of the models at a horizon, and the paired tests of each two.
    integrated : Comparisons
        Of the mean over time, by the trapezoidal rule from the first horizon to the last.

    Examples
    --------
    >>> time, event = [1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5
    >>> found = over_time(time, event, [0.9, 0.5, 0.6, 0.7, 0.3, 0.2] * 5, [2, 4])
    >>> found
    OverTime(AUC at 2 horizons from 2 to 4; mean over time: score 0.875)
    """

    quantity: str
    at: Mapping[float, Comparisons]
    integrated: Comparisons

    @property
    def horizons(self) -> list[float]:
        """The times, ascending."""
        return list(self.at)

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.integrated.estimates)

    def of(self, model: str) -> list[Estimate]:
        """Return a model's estimates, one per horizon."""
        model = model_name(self.models, model)
        return [found.estimates[model] for found in self.at.values()]

    def plot(self, ax: Any = None) -> Any:
        """Draw the figure of each model against time with its intervals; see `plotting.plot_over_time`."""
        return reach("plotting").plot_over_time(self, ax)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a table with one row per model and horizon."""
        rows = [(model, t, e) for model in self.models for t, e in zip(self.at, self.of(model), strict=True)]
        columns = {"model": [model for model, _, _ in rows], "horizon": [t for _, t, _ in rows]}
        for name in ("value", "low", "high", "standard_error"):
            columns[name] = [getattr(e, name) for _, _, e in rows]
        return frame_of(columns, backend)

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {each.value:.4g}" for name, each in self.integrated.estimates.items())
        first, last = self.horizons[0], self.horizons[-1]
        return (
            f"OverTime({self.quantity} at {len(self.at)} horizons from {first:g} to {last:g}; mean over time: {means})"
        )


@contract
def over_time(
    time: Any,
    event: Any,
    scores: Any,
    horizons: Any,
    *,
    statistic: Smooth | None = None,
    level: float = 0.95,
    adjust: Adjust = "holm",
    **options: Any,
) -> OverTime:
    """Compute a figure at several horizons with intervals, its time average, and paired tests of models.

    Parameters
    ----------
    time, event, scores : see `at_horizon`
    horizons : sequence of float
        Two or more, ascending.
    statistic : one of `rocscope.inference.statistics`, optional
        The AUC by default; ``statistics.brier()``, ``observed_to_expected()``, ``net_benefit_at(0.2)`` and all others.
    level, adjust : see `rocscope.compare`
    **options
        Of `at_horizon`: competing, strata, max_weight, sample_weight, groups.

    Returns
    -------
    OverTime

    Notes
    -----
    The mean over time is Σ_k (θ_k + θ_{k+1})·(t_{k+1} − t_k)/2 divided by t_K − t_1; of the Brier score it is the
    integrated Brier score. Its variance follows from the moves of the rows, which are summed over the horizons.

    Examples
    --------
    >>> from rocscope.inference import statistics
    >>> time, event = [1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5
    >>> found = over_time(time, event, [0.9, 0.5, 0.6, 0.7, 0.3, 0.2] * 5, [2, 4], statistic=statistics.brier())
    >>> found.of("score")[0]
    Estimate(0.2067, 95 % interval 0.1423 to 0.2902, influence, n=30)
    """
    statistic = area() if statistic is None else statistic
    if not isinstance(statistic, Smooth):
        raise InputError("statistic", expected="one of rocscope.inference.statistics", got=check.shown(statistic))
    times, hypothesis = horizons_of(horizons), Hypothesis(level=level)
    if len(times) < 2:
        raise InputError("horizons", expected="two or more", got=f"{len(times)}", hint="use at_horizon for one")
    rows = at_horizon(time, event, scores, times, **options)
    values = {t: values_of_rows(preds, statistic, groups=None, folds=None, weights="auto") for t, preds in rows.items()}
    found = {
        t: compare_values(each, f"{statistic.name} at {t:g}", hypothesis, adjust, statistic.scale)
        for t, each in values.items()
    }
    mean = _mean(list(values.values()), _trapezoid(np.array(times)))
    together = compare_values(mean, f"mean {statistic.name} over time", hypothesis, adjust, statistic.scale)
    return OverTime(statistic.name, found, together)


def _trapezoid(time: Array) -> Array:
    """Return trapezoidal weights for the time average from the first to the last horizon."""
    step = np.diff(time) / (time[-1] - time[0])
    return (np.append(step, 0) + np.insert(step, 0, 0)) / 2


def _mean(values: list[Values], weight: Array) -> Values:
    """Return a weighted mean of values on the same rows, and the influence of the rows."""
    first, last = values[0], values[-1].stratum
    value = sum((w * each.values for w, each in zip(weight, values, strict=True)), np.zeros(len(first.models)))
    moves = sum((w * each.stratum.moves for w, each in zip(weight, values, strict=True)), np.zeros(last.moves.shape))
    stratum = Stratum(moves, last.times, last.units, last.df, min(each.stratum.size for each in values))
    return Values(first.models, value, stratum, first.n, values[-1].note)
