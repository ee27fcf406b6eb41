"""AverageCurve: what averaging the curves of the folds gives, with its band and the single folds behind it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.band import Band
from rocscope.core.result import Result, jsonable
from rocscope.curves.curve import Curve, scalar
from rocscope.evaluation.folds.across import Across
from rocscope.inference.estimate import Estimate

_DRAWN = 201
_ENOUGH = 2000


@dataclass(frozen=True)
class Areas(Result):
    """The area under the curve of all rows together, and the mean of the areas of the folds: two different numbers.

    Attributes
    ----------
    name : str
        What the area is called.
    pooled, mean : Estimate
    """

    name: str
    pooled: Estimate
    mean: Estimate

    def __str__(self) -> str:
        return f"{self.name} {self.pooled.value:.4g} pooled, {self.mean.value:.4g} mean of folds"


@dataclass(frozen=True)
class Averaged:
    """Points of an average with their intervals, and the average between them."""

    x: Array
    y: Across
    threshold: Array
    at: Callable[[Array], Array]
    interval: str
    x_across: Across | None = None


class AverageCurve(Curve):
    """The average of the curves of the folds.

    Made by `rocscope.evaluation.average_curve`.

    Attributes
    ----------
    x, y, threshold : arrays
        Points of the average; thresholds are NaN where each fold has its own.
    folds_at : array
        How many folds each point rests on.
    band : Band or None
        Interval of y; None where one fold alone cannot tell.
    x_band : Band or None
        Of a threshold average: the interval of x at each mean y.
    method : str
        How it was averaged, in words.
    model : str
    folds : dict from fold to Curve
        The single curves. Each counts the same in a mean, however many rows it has; pooled, each row does.
    undefined : dict from fold to str
        Why a fold has no curve.
    pooled : Curve
        Of all rows together, those of folds without a curve included.
    areas : Areas or None
        Pooled and as the mean of the folds; None for lift and calibration, which have no area.
    """

    title = "average over folds"

    def __init__(
        self,
        averaged: Averaged,
        *,
        method: str,
        model: str,
        folds: dict[Hashable, Curve],
        undefined: dict[Hashable, str],
        pooled: Curve,
        areas: Areas | None,
        level: float,
    ) -> None:
        super().__init__(averaged.x, averaged.y.value, averaged.threshold)
        self.method, self.model, self.pooled, self.areas = method, model, pooled, areas
        self.folds, self.undefined = dict(folds), dict(undefined)
        self.folds_at = check.read_only(averaged.y.folds)
        self.band = _band(self.x, averaged.y, level, averaged.interval)
        self.x_band = None if averaged.x_across is None else _band(self.y, averaged.x_across, level, averaged.interval)
        self._at = averaged.at

    @property
    def _one(self) -> Curve:
        return next(iter(self.folds.values()))

    @property
    def x_name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the x of the folds is."""
        return self._one.x_name

    @property
    def y_name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the y of the folds is."""
        return self._one.y_name

    def at(self, x: Any) -> Any:
        """Return the average at `x`, also between points: of what mixtures of neighbouring thresholds attain."""
        x = np.asarray(x, dtype=np.float64)
        return scalar(self._at(x.reshape(-1)).reshape(x.shape))

    def drawn(self) -> tuple[Array, Array]:
        """Return the points, and more between them where the average is not straight."""
        if self.x.size > _ENOUGH or self.y_name not in ("precision", "lift"):
            return self.x, self.y
        more = np.setdiff1d(np.linspace(self.x[0], self.x[-1], _DRAWN), self.x)
        place = np.searchsorted(self.x, more)
        return np.insert(self.x, place, more), np.insert(self.y, place, self.at(more))

    def plot(self, ax: Any = None, *, band: Band | bool | None = None, **line: Any) -> Any:
        """Draw the single folds faintly, the average over them, and its band; of a threshold average, crosses.

        Parameters
        ----------
        ax : Axes, optional
        band : Band or bool, optional
            Another band than its own; False draws none.
        **line
            For the line of the average, as in ``Axes.plot``.

        Returns
        -------
        Axes
        """
        own = self.band if self.x_band is None else None
        shown = own if band is None or band is True else band or None
        return super().plot(ax, band=shown, **line)

    def columns(self) -> dict[str, Array]:
        """Return the points with the ends of their intervals and the number of folds behind each."""
        nothing = np.full(self.x.size, np.nan)
        ends = (nothing, nothing) if self.band is None else (self.band.low, self.band.high)
        return super().columns() | {"low": ends[0], "high": ends[1], "folds": self.folds_at}

    def to_dict(self) -> dict[str, Any]:
        """Return points, areas, the single folds and why some have no curve, safe for JSON."""
        facts = {
            "of": self._one.title,
            "model": self.model,
            "method": self.method,
            "interval": self.band and self.band.label,
            "areas": self.areas,
            "folds": self.folds,
            "undefined": self.undefined,
        }
        return super().to_dict() | jsonable(facts)

    def _facts(self) -> str:
        of_all = f" of {len(self.folds) + len(self.undefined)}" if self.undefined else ""
        facts = f"{self._one.title}, {self.method}, {len(self.folds)}{of_all} folds"
        return facts if self.areas is None else f"{facts}, {self.areas}"


def _band(x: Array, y: Across, level: float, method: str) -> Band | None:
    return Band(x, y.low, y.high, level, method) if (y.folds > 1).any() else None
