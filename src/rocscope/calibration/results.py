"""Calibration curves as results: what was drawn, from which counts, and how sure it is."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.calibration.bands import Fit, band
from rocscope.calibration.bins import Bins
from rocscope.calibration.pav import Blocks
from rocscope.core.band import Band
from rocscope.core.counts import ThresholdCounts
from rocscope.core.result import number
from rocscope.curves.curve import Curve, interpolate
from rocscope.errors import InputError
from rocscope.inference.intervals import of_share

DRAWS = 999


class CalibrationCurve(Curve):
    """Share of positives (y) against the predicted probability (x).

    Made by `rocscope.calibration`.

    Attributes
    ----------
    counts : ThresholdCounts
        What the curve was drawn from; its levels are the rug (`rocscope.calibration.rug`).
    method : str
        How, as a legend names it.
    """

    _content = ("method",)

    title = "calibration plot"
    x_name = "score"
    y_name = "share_positive"

    def __init__(self, counts: ThresholdCounts, method: str, fit: Callable[[], Fit], x: Array, y: Array) -> None:
        super().__init__(x, y, x)
        self.counts = counts
        self.method = method
        self._make_fit = fit

    @cached_property
    def _fit(self) -> Fit:
        return self._make_fit()

    def consistency_band(
        self, *, simultaneous: bool = False, level: float = 0.95, draws: int = DRAWS, random_state: Any = 0
    ) -> Band:
        """Return where the curve of a calibrated model with these probabilities would lie.

        Parameters
        ----------
        simultaneous : bool
            True: the whole curve of a calibrated model lies inside with probability `level`. False: each of its
            points does.
        level : float
        draws : int
            How often labels are drawn from the probabilities.
        random_state : int, Generator, RandomState or None

        Notes
        -----
        Given the probabilities. Above about 5,000 distinct ones neighbouring rows are gathered first. Weights count
        as numbers of rows: scale weights that are not, so that their sum is the number of rows.

        References
        ----------
        Bröcker & Smith 2007, "Increasing the reliability of reliability diagrams", Wea. Forecasting 22:651–661;
        Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.
        """
        return self._band(
            consistency=True, simultaneous=simultaneous, level=level, draws=draws, random_state=random_state
        )

    def confidence_band(
        self, *, simultaneous: bool = False, level: float = 0.95, draws: int = DRAWS, random_state: Any = 0
    ) -> Band:
        """Return where the curve would lie if labels were drawn again from the curve itself.

        Parameters, notes and references as for `consistency_band`. Smoothing bias is not in it.
        """
        return self._band(
            consistency=False, simultaneous=simultaneous, level=level, draws=draws, random_state=random_state
        )

    def _band(self, **options: Any) -> Band:
        return band(self._fit, what=self.method, **options)

    def at(self, x: Any) -> Any:
        """Return the share of positives at a score, on straight lines between the points that there are."""
        known = ~np.isnan(self.y)
        return interpolate(self.x[known], self.y[known], x)

    def area(self) -> float:
        raise InputError("a calibration plot has no area that means anything")

    def columns(self) -> dict[str, Array]:
        """Return the points of the curve."""
        return {self.x_name: self.x, self.y_name: self.y}

    def _facts(self) -> str:
        return f"{self.method}, {self.x.size} points, n={number(self.counts.n)}"


class BinnedCalibrationCurve(CalibrationCurve):
    """Share of positives (y) against the mean probability (x) in each bin; NaN in an empty one.

    Attributes
    ----------
    edges : array of b + 1 bin edges, increasing
    pos, neg : arrays of b counts
    """

    x_name = "mean_score"

    def __init__(self, counts: ThresholdCounts, method: str, bins: Bins) -> None:
        super().__init__(counts, method, lambda: bins, bins.x, bins.share)
        self.threshold = check.read_only(bins.edges[:-1])
        columns = (bins.edges, bins.pos, bins.total - bins.pos)
        self.edges, self.pos, self.neg = (check.read_only(column) for column in columns)

    def interval(self, *, method: Literal["wilson", "jeffreys"] = "wilson", level: float = 0.95) -> Band:
        """Return an interval of the share of positives in each bin.

        Parameters
        ----------
        method : {"wilson", "jeffreys"}
            Score interval; or the equal-tailed interval of a Beta(1/2, 1/2) prior, which reaches to 0 (or 1) where
            no (or every) row is positive.
        level : float

        References
        ----------
        Brown, Cai & DasGupta 2001, "Interval estimation for a binomial proportion", Stat. Sci. 16:101–133.

        Examples
        --------
        >>> from rocscope import calibration_curve
        >>> interval = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2).interval()
        >>> interval.low.round(3), interval.high.round(3)
        (array([0.095, 0.095]), array([0.905, 0.905]))
        """
        check.check_choice("method", method, ("wilson", "jeffreys"))
        low, high = of_share(self.pos, self.pos + self.neg, method, check.check_level(level))
        empty = self.pos + self.neg == 0
        return Band(self.x, np.where(empty, np.nan, low), np.where(empty, np.nan, high), level, method.capitalize())

    def columns(self) -> dict[str, Array]:
        """Return one row a bin."""
        edges = {"low": self.edges[:-1], "high": self.edges[1:], "pos": self.pos, "neg": self.neg}
        return edges | super().columns()

    def _facts(self) -> str:
        return f"{self.x.size} bins, n={number(self.counts.n)}"


class PavCalibrationCurve(CalibrationCurve):
    """Isotonic regression: constant within a block of scores, a straight line between blocks.

    Attributes
    ----------
    low, high : arrays of b scores
        Lowest and highest score of each block.
    pos, neg : arrays of b counts
    """

    def __init__(self, counts: ThresholdCounts, fit: Callable[[], Fit], blocks: Blocks) -> None:
        ends = np.repeat(blocks.low, 2).astype(np.float64)
        ends[1::2] = blocks.high
        kept = np.append(True, np.diff(ends) > 0)
        super().__init__(counts, "PAV", fit, ends[kept], np.repeat(blocks.share, 2)[kept])
        columns = (blocks.low, blocks.high, blocks.pos, blocks.neg)
        self.low, self.high, self.pos, self.neg = (check.read_only(column) for column in columns)

    def _facts(self) -> str:
        return f"PAV, {self.low.size} blocks, n={number(self.counts.n)}"
