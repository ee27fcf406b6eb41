"""Calibration curves as results: points, counts and uncertainty.

calibration_curve: the calibration plot by bins, PAV, LOESS or a spline.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import answering
from rocscope.calibration.bands import Fit, consistency_band, loess_limits, monotone_band
from rocscope.calibration.bins import Bins, Strategy, binned
from rocscope.calibration.loess import DEFAULT_SPAN, Degree, LoessFit, loess_fit
from rocscope.calibration.logistic import SplineFit, spline_fit
from rocscope.calibration.outcomes import Blocks, Outcomes, Shift, evidence, outcomes, pav_blocks, pav_fit, pav_values
from rocscope.core.counts import ThresholdCounts
from rocscope.core.result import Band, number
from rocscope.curves.curve import Curve, interpolate
from rocscope.errors import InputError
from rocscope.inference.proportions import normal_quantile, of_share

DRAWS = 999  # with the sample itself 1,000, so that the ends of a 95 % band are the 25th draws; time grows with it
BinMethod = Literal["jeffreys", "wilson", "clopper-pearson"]
_BIN_METHODS = ("jeffreys", "wilson", "clopper-pearson")
_OF_BINS = "of the mean true probability in each bin"


@dataclass(frozen=True, eq=False)
class Basis:
    """What the bands of a curve are computed from.

    Attributes
    ----------
    sample : Outcomes
        At the sample's own prevalence.
    shift : Shift
        To the prevalence that the curve is drawn at.
    fit : function
        From outcomes to the way the curve is drawn.
    limits : function, optional
        Pointwise limits at the x of such a fit; without it those of a curve that never falls.
    """

    sample: Outcomes
    shift: Shift
    fit: Callable[[Outcomes], Any]
    limits: Callable[[Any, float], tuple[Array, Array]] | None = None

    @property
    def facts(self) -> str:
        """Notes on dependent or weighted rows for a band."""
        facts = ""
        if self.sample.design_effect > 1:
            facts += f", design effect {self.sample.design_effect:.3g}"
        if self.sample.squares is not None:
            facts += f", effective n {self.sample.effective.sum():.0f}"
        return facts + ("" if self.shift.target is None else f", at prevalence {self.shift.target:g}")


class CalibrationCurve(Curve):
    """Share of positives (y) against the predicted probability (x).

    Made by `rocscope.calibration_curve`.

    Attributes
    ----------
    counts : ThresholdCounts
        What the curve was drawn from; its levels are the rug (`rocscope.calibration.bins`).
    method : str
        How, as a legend names it.
    """

    _content = ("method",)

    title = "calibration plot"
    x_name = "score"
    y_name = "share_positive"

    def __init__(self, counts: ThresholdCounts, method: str, basis: Basis, x: Array, y: Array) -> None:
        super().__init__(x, y, x)
        self.counts = counts
        self.method = method
        self._basis = basis

    @cached_property
    def _fit(self) -> Fit:
        return self._basis.fit(self._basis.sample)

    def consistency_band(
        self, *, simultaneous: bool = False, level: float = 0.95, draws: int = DRAWS, random_state: Any = 0
    ) -> Band:
        """Return a band that contains the curve of a calibrated model with these probabilities.

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
        Given the probabilities; of no width where these are 0 or 1. Above about 5,000 distinct ones neighbouring rows
        are gathered first.

        References
        ----------
        Bröcker & Smith 2007, "Increasing the reliability of reliability diagrams", Wea. Forecasting 22:651–661;
        Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.
        """
        options = {"simultaneous": simultaneous, "level": level, "draws": draws, "random_state": random_state}
        return consistency_band(self._fit, self._basis.shift, x=self._places, what=self.method, **options)

    def confidence_band(self, *, simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return a confidence band for the true curve: the probability of the event at each predicted probability.

        Parameters
        ----------
        simultaneous : bool
            True: the whole true curve lies inside with at least this confidence, for any curve that never falls.
            False: each of its points does.
        level : float

        Returns
        -------
        Band
            Never of zero width, and within 0 and 1. Its note states where it does not hold.

        Notes
        -----
        PAV: exact binomial bounds on many intervals of rows, which hold in samples of any size wherever the true curve
        does not fall, at steps too. LOESS: pointwise z standard errors and the smoothing bias of a local quadratic fit
        whose span shrinks as rows grow, and up to the drawn curve; spline: Wald's, on the scale of log-odds. Both are
        too narrow at a step, which no smooth curve follows, so where all of a curve is asked for they give the band of
        PAV. Coverage by simulation is in docs/guide/calibration.md.

        Rows that stand for unequal numbers of others count as fewer (Kish), and so do rows in groups (their design
        effect); then, and at a target prevalence, whose error is included, the band holds in large samples only.

        References
        ----------
        Dimitriadis, Dümbgen, Henzi, Puke & Ziegel 2023, Biometrika 110:663–680; Cleveland & Loader 1996, "Smoothing by
        local regression", §10.

        Examples
        --------
        >>> from rocscope import calibration_curve
        >>> curve = calibration_curve([0, 1] * 20, [0.2, 0.8] * 20, method="pav")
        >>> band = curve.confidence_band(simultaneous=True)
        >>> band.low.round(3), band.high.round(3)
        (array([0.   , 0.787]), array([0.213, 1.   ]))
        """
        level = check.check_level(level)
        sample, shift = self._basis.sample, self._basis.shift
        if simultaneous or self._basis.limits is None:
            found = monotone_band(sample, level, simultaneous=simultaneous)
            x, note, steps = found.x, found.note, True
            centre, method = np.interp(x, sample.score, pav_values(sample)), "exact for rising curves"
            low, high = shift.of_limits(centre, found.low, found.high, normal_quantile(level))
        else:
            (x, low, high), steps = self.smooth_limits(level), False
            method, note = "with smoothing bias" if "LOESS" in self.method else "Wald", self._too_smooth
        method = f"confidence, {method}" + self._basis.facts
        return Band(x, low, high, level, method, simultaneous, note, steps)

    def smooth_limits(self, level: float) -> tuple[Array, Array, Array]:
        """Return where a smooth curve is fitted, and its limits there; the band has them with a note."""
        if self._basis.limits is None:
            raise InputError("smooth_limits", expected="a smooth curve", got=self.method)
        x, fit = self._fit.x, self._fit
        low, high = self._basis.limits(fit, level)
        centre = fit.values(fit.outcomes.pos).clip(0, 1)
        low, high = self._basis.shift.of_limits(centre, low, high, normal_quantile(level))
        drawn = np.interp(x, self.x, self.y).clip(0, 1)  # bias is most where the drawn curve leaves them
        return x, np.minimum(low, drawn), np.maximum(high, drawn)

    @property
    def _places(self) -> Array:
        return self._fit.x

    @cached_property
    def _too_smooth(self) -> str:
        """Whether the smooth curve leaves the limits for monotone curves, which shows that the truth is steeper."""
        sure = monotone_band(self._basis.sample, 0.95, simultaneous=True)
        y = np.interp(sure.x, self._fit.x, self._fit.values(self._fit.outcomes.pos).clip(0, 1))
        outside = (y < sure.low) | (y > sure.high)
        if not outside.any() or sure.note:
            return ""
        return f"the truth is steeper than this curve shows near {sure.x[outside][0]:.3g}: see method='pav'"

    def at(self, x: Any) -> Any:
        """Return the share of positives at a score, by linear interpolation."""
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

    def __init__(self, counts: ThresholdCounts, method: str, basis: Basis, bins: Bins) -> None:
        super().__init__(counts, method, basis, bins.x, bins.share)
        self.threshold = check.read_only(bins.edges[:-1])
        columns = (bins.edges, bins.pos, bins.total - bins.pos)
        self.edges, self.pos, self.neg = (check.read_only(column) for column in columns)

    def confidence_band(self, *, simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return a confidence band for the mean true probability of each bin: Jeffreys intervals, or simultaneous exact
        ones.

        Parameters and what is returned as for other curves (`CalibrationCurve.confidence_band`); NaN for an empty bin.
        """
        method = "clopper-pearson" if simultaneous else "jeffreys"
        return self.interval(method=method, simultaneous=simultaneous, level=level)

    def interval(self, *, method: BinMethod = "jeffreys", simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return an interval of the mean true probability in each bin.

        Parameters
        ----------
        method : {"jeffreys", "wilson", "clopper-pearson"}
            The equal-tailed interval of a Beta(1/2, 1/2) prior, which reaches to 0 (or 1) where no (or every) row is
            positive; the score interval; the exact one, which covers at least as often as stated.
        simultaneous : bool
            Whether all bins at once are to be covered: each then has the level to the power of 1/bins. Only the exact
            interval holds so far out.
        level : float

        References
        ----------
        Brown, Cai & DasGupta 2001, "Interval estimation for a binomial proportion", Stat. Sci. 16:101–133.

        Examples
        --------
        >>> from rocscope import calibration_curve
        >>> interval = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2).interval()
        >>> interval.low.round(3), interval.high.round(3)
        (array([0.061, 0.061]), array([0.939, 0.939]))
        """
        level = check.check_level(level)
        check.check_choice("method", method, _BIN_METHODS)
        bins = self._fit
        assert isinstance(bins, Bins)
        used = bins.total > 0
        each = level ** (1 / used.sum()) if simultaneous else level
        worth, share = bins.effective[used], bins.share[used]
        found = of_share(share * worth, worth, method, each)
        low, high = np.full((2, used.size), np.nan)
        low[used], high[used] = self._basis.shift.of_limits(share, *found, normal_quantile(each))
        name = "–".join(part.capitalize() for part in method.split("-"))
        return Band(self.x, low, high, level, name + self._basis.facts, simultaneous, _OF_BINS)

    @property
    def _places(self) -> Array:
        return self.x  # mean scores move with the prevalence, as rows are weighted to it

    def columns(self) -> dict[str, Array]:
        """Return one row per bin."""
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

    def __init__(self, counts: ThresholdCounts, basis: Basis, blocks: Blocks) -> None:
        ends = np.repeat(blocks.low, 2).astype(np.float64)
        ends[1::2] = blocks.high
        kept = np.append(True, np.diff(ends) > 0)
        super().__init__(counts, "PAV", basis, ends[kept], np.repeat(blocks.share, 2)[kept])
        columns = (blocks.low, blocks.high, blocks.pos, blocks.neg)
        self.low, self.high, self.pos, self.neg = (check.read_only(column) for column in columns)

    def _facts(self) -> str:
        return f"PAV, {self.low.size} blocks, n={number(self.counts.n)}"


Method = Literal["bins", "pav", "loess", "spline"]


@answering
def calibration_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    method: Method = "bins",
    bins: int = 10,
    strategy: Strategy = "uniform",
    edges: Any = None,
    span: float | None = None,
    degree: Degree = 1,
    knots: int = 5,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationCurve:
    """Compute the calibration plot: observed share of positives against predicted probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    method : {"bins", "pav", "loess", "spline"}
        Shares in bins, as in the papers; isotonic regression, the CORP reliability diagram, which has no bins to
        choose; local linear regression, the papers' choice for small samples; logistic regression on a spline of
        the logit, which is smooth and stays within 0 and 1.
    bins : int
        How many bins, for the first two strategies.
    strategy : {"uniform", "quantile", "distinct"}
        Bins of equal width; of about equally many rows, where a tie is never split (so there may be fewer); or
        one for each distinct score.
    edges : array, optional
        Increasing bin edges that cover all scores, in place of a strategy.
    span : float, optional
        Share of the rows in each window of LOESS; by default ⅔ for lines and ¾ for parabolas.
    degree : {1, 2}
        Lines, as R's lowess and val.prob fit, or parabolas, as R's loess and Austin & Steyerberg (2019).
    knots : int
        Of the spline, 3 to 7.
    target_prevalence : float, optional
        Share of positives where the model will be used: classes are weighted to it.
    groups : array of n labels, optional
        What rows belong together, such as the patient of each: bands then do not take them as independent.

    Returns
    -------
    CalibrationCurve
        With the bands `consistency_band()` and `confidence_band()`; of bins also with `interval()`.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If an option makes no sense; see also `ThresholdCounts.from_scores`.

    Notes
    -----
    Bins are ``[low, high)``, the last one closed; a point stands at the mean score of its bin, and an empty bin is a
    gap (NaN). What bins show depends on the bins; PAV has no such choice. LOESS is not iterated for robustness and
    may leave [0, 1]. O(k) after ranking.

    References
    ----------
    Vuk & Curk 2006, §6. Dimitriadis, Gneiting & Jordan 2021, "Stable reliability diagrams for probabilistic
    classifiers", PNAS 118:e2016191118. Cleveland 1979, JASA 74:829–836.

    Examples
    --------
    >>> curve = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2)
    >>> curve.x, curve.y
    (array([0.2, 0.7]), array([0.5, 0.5]))
    >>> curve = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], method="pav")
    >>> curve.x, curve.y
    (array([0.1, 0.3, 0.6, 0.8]), array([0. , 0.5, 0.5, 1. ]))
    """
    known = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    sample = known.outcomes
    shift, counts = Shift.of(sample, target_prevalence), known.counts_at(target_prevalence)
    check.check_text("method", method)
    plain = replace(sample, squares=None, design_effect=1.0) if counts is known.counts else outcomes(counts)
    if method == "bins":
        cells = binned(plain, bins=bins, strategy=strategy, edges=edges)
        name = _name(cells.total.size, strategy, edges)
        return BinnedCalibrationCurve(counts, name, Basis(sample, shift, cells.of), cells)
    if method == "pav":
        return PavCalibrationCurve(counts, Basis(sample, shift, pav_fit), pav_blocks(counts))
    if method == "loess":
        span = DEFAULT_SPAN.get(degree, 1.0) if span is None else span
        basis = Basis(sample, shift, partial(loess_fit, span=span, degree=degree), _loess_limits)
        return _smooth(counts, plain, f"LOESS, {'quadratic, ' if degree == 2 else ''}span {span:.3g}", basis)
    if method == "spline":
        basis = Basis(sample, shift, partial(spline_fit, knots=knots), SplineFit.limits)
        return _smooth(counts, plain, f"logistic spline, {knots} knots", basis)
    raise InputError("method", expected="'bins', 'pav', 'loess' or 'spline'", got=repr(method))


def _loess_limits(fit: LoessFit, level: float) -> tuple[Array, Array]:
    return loess_limits(fit.outcomes, fit.x, level)


def _smooth(counts: ThresholdCounts, sample: Outcomes, name: str, basis: Basis) -> CalibrationCurve:
    fit = basis.fit(sample)
    return CalibrationCurve(counts, name, basis, fit.x, fit.values(fit.outcomes.pos))


def _name(size: int, strategy: str, edges: Any) -> str:
    return f"{size} given bins" if edges is not None else f"{size} {strategy} bins"
