"""LearningCurve: how good models are, by how many rows they were fitted to, run by run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._frame import frame_of
from rocscope._hooks import reach
from rocscope._types import Array
from rocscope.core.band import Band
from rocscope.core.result import Result, html_table, jsonable
from rocscope.core.rows import model_name
from rocscope.evaluation.record import Failure


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """How good models are, by how many rows they were fitted to.

    Attributes
    ----------
    metric : str
    larger_is_better : bool
    size : array of k int
        Training rows.
    values : mapping from model name to array of runs × k
        The metric on the test rows of each run; NaN where it is not defined, or the model failed.
    fold, repeat : arrays of runs
    logarithmic : bool
        Whether sizes are spaced by factors, and drawn so.
    protocol : str
        How test rows were chosen.
    failures : tuple of Failure
    """

    metric: str
    larger_is_better: bool
    size: NDArray[np.intp]
    values: Mapping[str, Array]
    fold: NDArray[np.intp]
    repeat: NDArray[np.intp]
    logarithmic: bool
    protocol: str
    failures: tuple[Failure, ...] = ()

    def __post_init__(self) -> None:
        check.settle(
            self, **{name: check.read_only(np.asarray(getattr(self, name))) for name in ("size", "fold", "repeat")}
        )
        check.settle(self, values={name: check.read_only(each) for name, each in self.values.items()})

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.values)

    @property
    def runs(self) -> int:
        """Times that each size was tried."""
        return self.fold.size

    def mean(self, model: str | None = None) -> Array:
        """Return the mean over runs at each size; of those runs that have a value."""
        values = self.values[model_name(self.models, model)]
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            return np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)

    def band(self, model: str | None = None, *, share: float = 0.8) -> Band:
        """Return between which values that share of further runs on these rows lies: how much a single run varies.

        Quantiles of (n + 1)·p among n runs, which hold one run more with just that probability if they are enough, nine
        for 80 %; of fewer, least and greatest. Runs share rows, so this is no confidence interval of the mean.
        """
        values = self.values[model_name(self.models, model)]
        tails = np.array([(1 - check.check_share(share, "share")) / 2, (1 + share) / 2])
        ends = np.full((2, self.size.size), np.nan)
        for column in np.flatnonzero(~np.isnan(values).all(axis=0)):
            ends[:, column] = np.nanquantile(values[:, column], tails, method="weibull")
        return Band(self.size, ends[0], ends[1], level=share, method=f"spread of {self.runs} runs")

    def plot(self, ax: Any = None, *, share: float | None = 0.8) -> Any:
        """Draw the means over sizes, a line a model, with the band of each; see `plotting.plot_learning_curve`."""
        return reach("plotting").plot_learning_curve(self, ax, share=share)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each model, run and size: model, fold, repeat, size, value."""
        k, m = self.size.size, len(self.models)
        columns = {
            "model": np.repeat(self.models, self.runs * k),
            "fold": np.tile(np.repeat(self.fold, k), m),
            "repeat": np.tile(np.repeat(self.repeat, k), m),
            "size": np.tile(self.size, self.runs * m),
            "value": np.concatenate([values.ravel() for values in self.values.values()]),
        }
        return frame_of(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return sizes, values, their means and facts, safe for JSON."""
        return super().to_dict() | {"mean": jsonable({name: self.mean(name) for name in self.models})}

    def __repr__(self) -> str:
        ends = ", ".join(f"{name} {self.mean(name)[0]:.4g} to {self.mean(name)[-1]:.4g}" for name in self.models)
        return f"LearningCurve({self.metric}, {self.size[0]} to {self.size[-1]} rows: {ends}; {self.runs} runs)"

    def _repr_html_(self) -> str:
        rows = [(name, *(f"{value:.4g}" for value in self.mean(name))) for name in self.models]
        return super()._repr_html_() + html_table(rows, ("rows", *self.size))
