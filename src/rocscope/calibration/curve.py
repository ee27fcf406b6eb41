"""Calibration curves with consistency and confidence bands.

`calibration_curve` computes the observed share of positives as a function of the predicted probability. The methods are
bins, isotonic regression (PAV), LOESS and a logistic spline. There are two kinds of bands.

A *consistency band* contains the curve of a calibrated model. Labels are simulated from the probabilities of the model,
and a curve is fitted to each simulated sample.

A *confidence band* contains the true curve. It assumes that the true probability never decreases with the score. The
true probabilities in a range of scores are then at most the true probability at its upper end. An exact binomial lower
limit for the share of positives in the range is therefore a lower limit for the curve at the upper end. Many ranges are
combined, and the ranges do not depend on the labels. The band is therefore valid for samples of any size and for every
non-decreasing curve, including step functions. Smooth curves have narrower pointwise limits. The limits of LOESS
include the estimated bias, and splines have Wald's limits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from scipy.special import betainc, betaincinv

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration import outcomes as levels, regression
from rocscope.calibration.outcomes import Outcomes, Shift, pav_values
from rocscope.core import Band, ThresholdCounts, number, require_kinds
from rocscope.curves.curve import Curve, for_each_model, interpolate
from rocscope.errors import InputError
from rocscope.inference.estimate import joined
from rocscope.inference.proportions import binomial_limits, normal_quantile

Fit = levels.Bins | levels.PavFit | regression.LoessFit | regression.SplineFit
"""Method for fitting calibration curves. `values` returns the curve at `x`, given the positives at each probability."""


# Consistency bands

_LABELS_AT_ONCE = 2_000_000  # labels drawn at once: 16 MB as floats
_SMALLEST_SPREAD = 1e-9  # so that nothing is divided by a spread of 0; what differs by less is equal but for rounding


def consistency_band(
    fit: Fit, shift: Shift, x: Array, *, simultaneous: bool, level: float, draws: int, random_state: Any, what: str
) -> Band:
    """Return the consistency band at `x`, under the hypothesis that the predicted probabilities are correct."""
    level = check.check_level(level)
    rng = check.check_random_state(random_state)
    draws = check.check_whole(draws, "draws")
    chance = shift.in_sample(fit.outcomes.score)
    size = max(1, _LABELS_AT_ONCE // chance.size)
    curves = []
    for done in range(0, draws, size):
        labels = fit.outcomes.draw(chance, min(size, draws - done), rng)
        curves.append(fit.values(labels))
    drawn = shift.of_chance(np.concatenate(curves))
    low, high = envelope(drawn, level) if simultaneous else _pointwise_quantiles(drawn, level)
    return Band(x, low, high, level, f"consistency band of {what}, {draws} draws", simultaneous)


def _pointwise_quantiles(drawn: Array, level: float) -> tuple[Array, Array]:
    """Return the quantiles of simulated curves at each point.

    If both quantiles are equal at a point, return the nearest smaller and larger simulated values instead.
    """
    tail = (1 - level) / 2
    low = np.quantile(drawn, tail, axis=0, method="lower")
    high = np.quantile(drawn, 1 - tail, axis=0, method="higher")
    same = np.flatnonzero(high - low <= _SMALLEST_SPREAD)
    low[same] = np.where(drawn[:, same] < low[same] - _SMALLEST_SPREAD, drawn[:, same], -np.inf).max(axis=0)
    high[same] = np.where(drawn[:, same] > high[same] + _SMALLEST_SPREAD, drawn[:, same], np.inf).min(axis=0)
    return np.where(np.isfinite(low), low, drawn.min(axis=0)), np.where(np.isfinite(high), high, drawn.max(axis=0))


def envelope(curves: Array, level: float) -> tuple[Array, Array]:
    """Return limits between which another simulated curve lies at all points with probability `level`.

    Notes
    -----
    The first half of the curves determines the centre of the band at each point and the spread above and below it. The
    two spreads differ, because distributions are skewed if there are few rows. The second half determines the width of
    the band in units of the spread. The curves of the second half and another simulated curve are exchangeable, so the
    probability is exact.

    References
    ----------
    Myllymäki, Mrkvička, Grabarnik, Seijo & Hahn 2017, "Global envelope tests for spatial processes", JRSS B
    79:381–404 (the directional envelope).
    """
    first, second = curves[::2], curves[1::2] if len(curves) > 1 else curves
    centre = first.mean(axis=0)
    up, down = _one_sided_spread(first - centre), _one_sided_spread(centre - first)
    distance = second - centre
    with np.errstate(divide="ignore", invalid="ignore"):
        spreads = np.where(distance > 0, distance / up, -distance / down)
    farthest = np.sort(np.nanmax(np.where(distance == 0, 0.0, spreads), axis=1))
    # Of m exchangeable distances and a further one, the k-th is exceeded with probability 1 − k/(m + 1).
    width = farthest[min(int(np.ceil(level * (farthest.size + 1))), farthest.size) - 1]
    with np.errstate(invalid="ignore"):
        low, high = centre - width * down, centre + width * up
    return np.maximum(low, min(0.0, np.nanmin(curves))), np.minimum(high, max(1.0, np.nanmax(curves)))


def _one_sided_spread(distance: Array) -> Array:
    """Return the root mean square of the positive distances in each column; it is never exactly 0."""
    above = np.maximum(distance, 0)
    return np.sqrt((above**2).sum(axis=0) / np.maximum((above > 0).sum(axis=0), 1)) + _SMALLEST_SPREAD


# Confidence bands of curves that never fall

_SHORTEST = 8  # rows of an interval: the exact limits of fewer are too wide to bound a curve
_STARTS = 4  # intervals of a length overlap by three quarters
_OCTAVES_BELOW = 10  # halvings below the typical length: each shorter one would get under a hundredth of the error
_FEW_LEVELS = 90  # up to this many levels all intervals (4,095) are used
_MOST_LEVELS = 20_000  # levels above which neighbours are grouped
_BAND_POINTS = 2048  # points at which a band is evaluated: more than a screen has columns


@dataclass(frozen=True, eq=False)
class _RunningSums:
    """Cumulative sums of positives, of weights and of squared weights over the distinct scores."""

    pos: Array
    total: Array
    squares: Array
    design_effect: float

    @classmethod
    def of(cls, sample: Outcomes) -> "_RunningSums":
        pos = np.append(0.0, np.cumsum(sample.pos))
        total = np.append(0.0, np.cumsum(sample.total))
        squares = total if sample.squares is None else np.append(0.0, np.cumsum(sample.squares))
        return cls(pos, total, squares, sample.design_effect)

    def mirrored(self) -> "_RunningSums":
        """Return the cumulative sums of negatives from the highest score down.

        A lower limit from these sums is 1 minus an upper limit for the curve.
        """
        pos = self.pos[-1] - self.pos[::-1]
        total = self.total[-1] - self.total[::-1]
        squares = self.squares[-1] - self.squares[::-1]
        return _RunningSums(total - pos, total, squares, self.design_effect)

    @property
    def effective(self) -> Array:
        """Cumulative effective number of rows at each border between distinct scores."""
        return self.total * (self.total[-1] / self.squares[-1] / self.design_effect)

    def between(self, first: Array, end: Array) -> tuple[Array, Array]:
        """Return the effective numbers of positives and of rows between two borders."""
        total = self.total[end] - self.total[first]
        trials = total**2 / np.maximum(self.squares[end] - self.squares[first], 1e-300) / self.design_effect
        share = np.clip((self.pos[end] - self.pos[first]) / total, 0, 1)
        return share * trials, trials


def simultaneous_limits(sample: Outcomes, level: float) -> tuple[Array, Array]:
    """Return limits at each distinct score that contain a non-decreasing curve everywhere with probability `level`.

    Notes
    -----
    Limits come from ranges of scores. A range has 8·2^i rows or all rows, and neighbouring ranges of the same length
    start a quarter of the length apart. The error probability is divided among the ranges. Ranges of m rows together
    get a share proportional to 1/(1 + abs(log₂(m/n^⅔)))². The ends of a range are moved to the nearest border between
    distinct scores. With few distinct scores, all possible ranges are used, with equal shares. The time is O(n).

    References
    ----------
    Dimitriadis, Dümbgen, Henzi, Puke & Ziegel 2023, "Honest calibration assessment for binary outcome predictions",
    Biometrika 110:663–680. They use all ranges. The band here is narrower than theirs by a tenth to a quarter.
    """
    sums, tail = _RunningSums.of(sample), (1 - level) / 2
    return _lower_everywhere(sums, tail), 1 - _lower_everywhere(sums.mirrored(), tail)[::-1]


def pointwise_limits(sample: Outcomes, at: Array, level: float) -> tuple[Array, Array]:
    """Return pointwise limits of a non-decreasing curve at the distinct scores with the indices `at`.

    Notes
    -----
    The lower limit uses ranges of 8·2^i rows, or of all rows, that end at the score. The upper limit uses ranges that
    start at the score. The error probability is divided as in `simultaneous_limits`. The width is never 0.
    """
    sums, tail = _RunningSums.of(sample), (1 - level) / 2
    last = sample.score.size - 1
    return _lower_at(sums, at, tail), 1 - _lower_at(sums.mirrored(), last - at, tail)


def _lengths(n: float) -> tuple[Array, Array]:
    """Return the lengths of ranges, in rows, and the share of the error probability for each length."""
    # Intervals of n^⅔ rows balance the noise of a share and the change of a smooth curve within the interval.
    typical = max(n, 1.0) ** (2 / 3)
    shortest = max(_SHORTEST, 2.0 ** (np.floor(np.log2(typical)) - _OCTAVES_BELOW))
    count = max(int(np.ceil(np.log2(max(n / shortest, 1.0)))), 0)
    lengths = np.append(shortest * 2.0 ** np.arange(count), n)
    weight = 1 / (1 + np.abs(np.log2(lengths / typical))) ** 2
    return lengths, weight / weight.sum()


def _nearest(borders: Array, rows: Array) -> Array:
    """Return the index of the border whose cumulative number of rows is nearest to each of `rows`."""
    after = np.searchsorted(borders, rows).clip(1, borders.size - 1)
    return after - (rows - borders[after - 1] <= borders[after] - rows)


def _intervals(effective: Array) -> Iterator[tuple[Array, Array, float]]:
    """Yield the ranges of each length as first and end indices, with the share of the error probability per range.

    Lengths with larger shares come first.
    """
    n, size = effective[-1], effective.size - 1
    if size <= _FEW_LEVELS or size * (size + 1) <= n:
        first, last = np.triu_indices(size)
        yield first, last + 1, 1 / first.size
        return
    lengths, weights = _lengths(n)
    for index in np.argsort(-weights, kind="stable"):
        length = float(lengths[index])
        start = np.append(np.arange(0, n - length, max(1.0, length / _STARTS)), n - length)
        first, end = _nearest(effective, start), _nearest(effective, start + length)
        is_new = np.append(True, (np.diff(first) > 0) | (np.diff(end) > 0))
        kept = is_new & (end > first)
        if kept.any():
            yield first[kept], end[kept], weights[index] / kept.sum()


def _lower_everywhere(sums: _RunningSums, tail: float) -> Array:
    """Return lower limits at all distinct scores. Each range bounds the curve at its last score and all higher ones."""
    limit = np.zeros(sums.total.size - 1)
    for first, end, share in _intervals(sums.effective):
        successes, trials = sums.between(first, end)
        known = limit[end - 1]
        # The quantile is slow: compute it only if the interval raises the limit, which its p-value there shows.
        candidates = np.flatnonzero(successes > known * trials)
        failures = trials[candidates] - successes[candidates] + 1
        raises = betainc(successes[candidates], failures, known[candidates]) < tail * share
        candidates, failures = candidates[raises], failures[raises]
        np.maximum.at(limit, end[candidates] - 1, betaincinv(successes[candidates], failures, tail * share))
        np.maximum.accumulate(limit, out=limit)
    return limit


def _lower_at(sums: _RunningSums, at: Array, tail: float) -> Array:
    """Return lower limits at some distinct scores, from the ranges that end at each score."""
    effective, end = sums.effective, at + 1
    limit = np.zeros(at.size)
    for length, weight in zip(*_lengths(effective[-1]), strict=True):
        first = np.minimum(_nearest(effective, effective[end] - length), at)
        successes, trials = sums.between(first, end)
        some = successes > 0
        bound = betaincinv(successes[some], trials[some] - successes[some] + 1, tail * weight)
        limit[some] = np.maximum(limit[some], bound)
    return limit


def monotone_band(sample: Outcomes, level: float, *, simultaneous: bool) -> tuple[Array, Array, Array, str]:
    """Return scores, lower limits, upper limits and a note for the confidence band of a non-decreasing curve.

    The note is not empty if the data contradict a non-decreasing curve. If a lower limit is above the upper limit, the
    two are exchanged and extended to the PAV curve. The band has at most about 2,000 points.
    """
    size = sample.score.size
    at = np.unique(np.linspace(0, size - 1, min(size, _BAND_POINTS)).astype(int))
    if simultaneous:
        low, high = (limit[at] for limit in _simultaneous_limits_of_many(sample, level))
    else:
        low, high = pointwise_limits(sample, at, level)
    fitted = pav_values(sample)[at]
    note, empty, outside = "", low >= high, (fitted < low) | (fitted > high)
    if empty.any():
        if simultaneous:
            note = (
                f"no non-decreasing curve fits near {sample.score[at][empty][0]:.3g}: the true curve may decrease there"
            )
        low, high = np.minimum(np.minimum(low, high), fitted), np.maximum(np.maximum(low, high), fitted)
    elif outside.any() and simultaneous:
        note = (
            f"does not contain the PAV curve near {sample.score[at][outside][0]:.3g}: the true curve may decrease there"
        )
    return sample.score[at], low, high, note


def _simultaneous_limits_of_many(sample: Outcomes, level: float) -> tuple[Array, Array]:
    """Return simultaneous limits at all distinct scores; with more than 20,000, neighbouring scores share limits."""
    size = sample.score.size
    if size <= _MOST_LEVELS:
        return simultaneous_limits(sample, level)
    starts = sample.starts(_MOST_LEVELS)
    low, high = simultaneous_limits(sample.merged(starts), level)
    # The lower limit of a group is that of its last level, and the upper limit that of its first. Other levels of the
    # group have the lower limit of the group before and the upper limit of the next.
    group = np.repeat(np.arange(starts.size), np.diff(starts, append=size))
    below, above = np.append(0.0, low[:-1])[group], np.append(high[1:], 1.0)[group]
    below[np.append(starts[1:], size) - 1] = low
    above[starts] = high
    return below, above


# Confidence limits of smooth curves

# Up to 300 rows the span of R's lowess; above, it shrinks as n^(−1/5), the rate of least mean squared error.
_ROWS_OF_SPAN = 300


def loess_limits(fit: regression.LoessFit, level: float) -> tuple[Array, Array]:
    """Return pointwise limits of the true curve: a local quadratic fit ± (z standard errors + estimated bias).

    Notes
    -----
    The span is ⅔·min(1, (300/n)^⅕), so the bias decreases with the number of rows. To estimate the bias, a pilot curve
    with half the span is fitted and then smoothed again with the full span. The bias is the difference between the two
    curves. The variance is the binomial variance for the effective number of rows at x, with two successes and two
    failures added. It is therefore never 0.
    """
    sample, x = fit.outcomes, fit.x
    rows = float(sample.effective.sum())
    span = regression.DEFAULT_SPAN[1] * min(1.0, (_ROWS_OF_SPAN / rows) ** 0.2)
    quadratic = regression.loess_fit(sample, span, 2)
    pilot = regression.loess_fit(sample, span / 2, 2)
    grouped = quadratic.outcomes
    weights = quadratic.weights_at(x)
    value = weights @ grouped.pos
    pilot_at_levels = pilot.at_levels(pilot.outcomes.pos).clip(0, 1)
    pilot_at_x = pilot.at(x, pilot.outcomes.pos).clip(0, 1)
    bias = np.abs(weights @ (pilot_at_levels * grouped.total) - pilot_at_x)
    effective = 1 / ((weights * grouped.total) ** 2 @ (1 / grouped.effective))
    share = (effective * value.clip(0, 1) + 2) / (effective + 4)
    reach = normal_quantile(level) * np.sqrt(share * (1 - share) / effective) + bias
    return (value - reach).clip(0, 1), (value + reach).clip(0, 1)


# Curves

DRAWS = 999  # with the sample itself 1,000, so that the ends of a 95% band are the 25th draws; time grows with it
BinMethod = Literal["jeffreys", "wilson", "clopper-pearson"]
_BIN_METHODS = ("jeffreys", "wilson", "clopper-pearson")
_OF_BINS = "of the mean true probability in each bin"


@dataclass(frozen=True, eq=False)
class Basis:
    """Data and functions from which the bands of a calibration curve are computed.

    Attributes
    ----------
    data : Evidence
        Numbers of positives and negatives, with the data for variances.
    sample : Outcomes
        Outcomes at the prevalence of the sample.
    shift : Shift
        Conversion to the target prevalence.
    fit : function
        Function that fits the curve to outcomes.
    limits : function, optional
        Function that computes pointwise confidence limits of a fit. By default, the limits of a non-decreasing curve.
    """

    data: levels.Evidence
    sample: Outcomes
    shift: Shift
    fit: Callable[[Outcomes], Any]
    limits: Callable[[Any, float], tuple[Array, Array]] | None = None

    def require_rows(self) -> str:
        """Check that the number of rows is known, because the width of a band depends on it.

        Returns
        -------
        str
            Reason why a band is not reliable; empty if it is reliable.

        Raises
        ------
        InputError
            If the data are sums of weights without rows.
        """
        if self.sample.squares is None:
            require_kinds("a band of calibration", self.data.counts)
        return self.data.doubt

    @property
    def facts(self) -> str:
        """Text for the method of a band: design effect, effective number of rows, and target prevalence."""
        facts = ""
        if self.sample.design_effect > 1:
            facts += f", design effect {self.sample.design_effect:.3g}"
        if self.sample.squares is not None:
            facts += f", effective n {self.sample.effective.sum():.0f}"
        return facts + ("" if self.shift.target is None else f", at prevalence {self.shift.target:g}")


class CalibrationCurve(Curve):
    """Calibration curve: share of positives (y) as a function of the predicted probability (x).

    `rocscope.calibration_curve` returns this curve.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each probability. Plots show their distribution as a rug.
    method : str
        Name of the fitting method, which is shown in legends.
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
        """Return the consistency band, which contains the curve of a calibrated model with the same probabilities.

        Parameters
        ----------
        simultaneous : bool
            If True, the whole curve of a calibrated model lies in the band with probability `level`. If False, the
            probability applies to each point separately.
        level : float
            Probability with which the curve of a calibrated model lies in the band.
        draws : int
            Number of simulated samples of labels.
        random_state : int, Generator, RandomState or None
            Seed of the simulation.

        Returns
        -------
        Band
            Lower and upper limits at each point of the curve.

        Notes
        -----
        The band treats the probabilities as fixed. Its width is 0 at the probabilities 0 and 1. If there are more than
        about 5,000 distinct probabilities, neighbouring probabilities are grouped.

        References
        ----------
        Bröcker & Smith 2007, "Increasing the reliability of reliability diagrams", Wea. Forecasting 22:651–661;
        Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.
        """
        options = {"simultaneous": simultaneous, "level": level, "draws": draws, "random_state": random_state}
        return consistency_band(self._fit, self._basis.shift, self._band_x, what=self.method, **options)

    def confidence_band(self, *, simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return a confidence band for the true curve, which is the true probability at each predicted probability.

        Parameters
        ----------
        simultaneous : bool
            If True, the whole true curve lies in the band with probability `level`, if it never decreases. If False,
            the probability applies to each point separately.
        level : float
            Confidence level.

        Returns
        -------
        Band
            Lower and upper limits between 0 and 1. The note of the band states where the data contradict its
            assumptions.

        Notes
        -----
        For "pav", the band is computed from exact binomial limits for many ranges of scores. It is valid for any sample
        size and any true curve that never decreases, including step functions.

        For "loess", pointwise limits are computed from a local quadratic fit whose span decreases with the number of
        rows. They are z standard errors plus the estimated smoothing bias from the fit, and always contain the drawn
        curve. For "spline", pointwise limits are Wald's limits on the log-odds scale. Both are too narrow if the true
        curve has a step, because a smooth curve cannot follow a step. Simultaneous bands of "loess" and "spline" are
        therefore the same as for "pav". The guide on calibration reports the coverage in simulations.

        Unequal weights and groups reduce the effective number of rows, by Kish's formula and by the design effect. The
        band is then valid only in large samples. The same holds with a target prevalence. In this case the band
        includes the sampling error of the observed prevalence.

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
        doubt = self._basis.require_rows()
        level = check.check_level(level)
        sample, shift = self._basis.sample, self._basis.shift
        is_steps = simultaneous or self._basis.limits is None
        if is_steps:
            x, low, high, note = monotone_band(sample, level, simultaneous=simultaneous)
            centre = np.interp(x, sample.score, pav_values(sample))
            low, high = shift.of_limits(centre, low, high, normal_quantile(level))
            method = "exact for non-decreasing curves"
        else:
            x, low, high = self.smooth_limits(level)
            note = self._too_smooth
            method = "with smoothing bias" if "LOESS" in self.method else "Wald"
        note = joined(note, doubt)
        return Band(x, low, high, level, f"confidence, {method}{self._basis.facts}", simultaneous, note, is_steps)

    def smooth_limits(self, level: float) -> tuple[Array, Array, Array]:
        """Return x, lower limits and upper limits of the pointwise confidence band of a smooth curve.

        Parameters
        ----------
        level : float
            Confidence level.

        Raises
        ------
        InputError
            If the method is neither "loess" nor "spline".
        """
        if self._basis.limits is None:
            raise InputError("smooth_limits", expected="a LOESS or spline curve", got=f"method={self.method!r}")
        fit, x = self._fit, self._fit.x
        low, high = self._basis.limits(fit, level)
        centre = fit.values(fit.outcomes.pos).clip(0, 1)
        low, high = self._basis.shift.of_limits(centre, low, high, normal_quantile(level))
        # The limits extend to the drawn curve: where it leaves them, its bias is largest.
        drawn = np.interp(x, self.x, self.y).clip(0, 1)
        return x, np.minimum(low, drawn), np.maximum(high, drawn)

    @property
    def _band_x(self) -> Array:
        return self._fit.x

    @cached_property
    def _too_smooth(self) -> str:
        """Note that is not empty if the smooth curve leaves the simultaneous band of non-decreasing curves."""
        x, low, high, note = monotone_band(self._basis.sample, 0.95, simultaneous=True)
        y = np.interp(x, self._fit.x, self._fit.values(self._fit.outcomes.pos).clip(0, 1))
        outside = (y < low) | (y > high)
        if note or not outside.any():
            return ""
        return f"the true curve is steeper than this curve near {x[outside][0]:.3g}; compare method='pav'"

    def at(self, x: Any) -> Any:
        """Return the share of positives at score `x`, by linear interpolation.

        Examples
        --------
        The bins have the mean probabilities 0.2 and 0.8, and the shares of positives 0 and 1:

        >>> from rocscope import calibration_curve
        >>> round(calibration_curve([0, 0, 1, 1], [0.1, 0.3, 0.7, 0.9], bins=2).at(0.5), 9)
        0.5
        """
        known = ~np.isnan(self.y)
        return interpolate(self.x[known], self.y[known], x)

    def area(self) -> float:
        raise InputError("the area under a calibration plot has no meaning")

    def _columns(self) -> dict[str, Array]:
        """Return a dict with the columns of the points: score and share of positives."""
        return {self.x_name: self.x, self.y_name: self.y}

    def _facts(self) -> str:
        return f"{self.method}, {self.x.size} points, n={number(self.counts.n)}"


class BinnedCalibrationCurve(CalibrationCurve):
    """Calibration curve by bins: share of positives (y) and mean probability (x) of each bin.

    Both are NaN for an empty bin.

    Attributes
    ----------
    edges : array of b + 1
        Increasing edges of the b bins.
    pos, neg : arrays of b
        Number of positives and of negatives in each bin.
    """

    x_name = "mean_score"

    def __init__(self, counts: ThresholdCounts, method: str, basis: Basis, bins: levels.Bins) -> None:
        super().__init__(counts, method, basis, bins.x, bins.share)
        self.threshold = check.read_only(bins.edges[:-1])
        self.edges = check.read_only(bins.edges)
        # Summed, not subtracted: 1e15 + 0.1 less 1e15 is 0.125.
        self.pos = check.read_only(levels.sums_by_bin(counts.pos[::-1], bins.first))
        self.neg = check.read_only(levels.sums_by_bin(counts.neg[::-1], bins.first))

    def confidence_band(self, *, simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return confidence intervals for the mean true probability in each bin.

        The intervals are Jeffreys intervals. If `simultaneous` is True, they are exact (Clopper–Pearson) intervals. An
        empty bin has the limits NaN. The parameters are the same as in `CalibrationCurve.confidence_band`.
        """
        method = "clopper-pearson" if simultaneous else "jeffreys"
        return self.interval(method=method, simultaneous=simultaneous, level=level)

    def interval(self, *, method: BinMethod = "jeffreys", simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return confidence intervals for the mean true probability in each bin, by a chosen method.

        Parameters
        ----------
        method : {"jeffreys", "wilson", "clopper-pearson"}
            "jeffreys" is the equal-tailed interval of a Beta(1/2, 1/2) prior. Its limit is 0 if no row is positive, and
            1 if every row is positive. "wilson" is the score interval. "clopper-pearson" is the exact interval with a
            coverage of at least `level`.
        simultaneous : bool
            If True, all intervals together contain the true values with probability `level`. The level of each interval
            is then level^(1/bins). Use "clopper-pearson" in this case, because the other methods are not accurate at
            such high levels.
        level : float
            Confidence level.

        Returns
        -------
        Band
            Lower and upper limit for each bin; NaN for an empty bin.

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
        note = joined(_OF_BINS, self._basis.require_rows())
        level = check.check_level(level)
        check.check_choice("method", method, _BIN_METHODS)
        bins: Any = self._fit
        used = bins.total > 0
        level_of_bin = level ** (1 / used.sum()) if simultaneous else level
        share, trials = bins.share[used], bins.effective[used]
        limits = binomial_limits(share * trials, trials, method, level_of_bin)
        low, high = np.full((2, used.size), np.nan)
        low[used], high[used] = self._basis.shift.of_limits(share, *limits, normal_quantile(level_of_bin))
        name = "–".join(part.capitalize() for part in method.split("-"))
        return Band(self.x, low, high, level, name + self._basis.facts, simultaneous, note)

    @property
    def _band_x(self) -> Array:
        return self.x  # mean scores move with the prevalence, as rows are weighted to it

    def _columns(self) -> dict[str, Array]:
        """Return a dict with the columns of a table that has one row per bin."""
        edges = {"low": self.edges[:-1], "high": self.edges[1:], "pos": self.pos, "neg": self.neg}
        return edges | super()._columns()

    def _facts(self) -> str:
        return f"{self.x.size} bins, n={number(self.counts.n)}"


class PavCalibrationCurve(CalibrationCurve):
    """Calibration curve by isotonic regression (PAV).

    A block is a range of scores with the same fitted probability. The curve is linear between blocks.

    Attributes
    ----------
    low, high : arrays of b
        Lowest and highest score in each of the b blocks.
    pos, neg : arrays of b
        Number of positives and of negatives in each block.
    """

    def __init__(self, counts: ThresholdCounts, basis: Basis, blocks: levels.Blocks) -> None:
        super().__init__(counts, "PAV", basis, *blocks.corners)
        self.low = check.read_only(blocks.low)
        self.high = check.read_only(blocks.high)
        self.pos = check.read_only(blocks.pos)
        self.neg = check.read_only(blocks.neg)

    def _facts(self) -> str:
        return f"PAV, {self.low.size} blocks, n={number(self.counts.n)}"


Method = Literal["bins", "pav", "loess", "spline"]


@for_each_model
@contract
def calibration_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    method: Method = "bins",
    bins: int = 10,
    strategy: levels.Strategy = "uniform",
    edges: Any = None,
    span: float | None = None,
    degree: regression.Degree = 1,
    knots: int = 5,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationCurve:
    """Compute the calibration curve: observed share of positives as a function of the predicted probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    method : {"bins", "pav", "loess", "spline"}
        Method of the curve. "bins" computes the share of positives in each bin. "pav" is isotonic regression, as in the
        CORP reliability diagram; it needs no bins. "loess" is local regression, which Vuk & Curk recommend for small
        samples. "spline" is logistic regression on a spline of the logit; it is smooth and stays between 0 and 1.
    bins : int
        Number of bins for the strategies "uniform" and "quantile".
    strategy : {"uniform", "quantile", "distinct"}
        Kind of the bins. "uniform" bins have equal width. "quantile" bins have about equal numbers of rows. Tied scores
        are in the same bin, so there may be fewer bins. "distinct" has one bin for each distinct score.
    edges : array, optional
        Increasing edges of bins that contain all scores. `edges` replaces `bins` and `strategy`.
    span : float, optional
        Share of the rows in each window of LOESS. By default, ⅔ for degree 1 and ¾ for degree 2.
    degree : {1, 2}
        Degree of the local polynomials of LOESS. R's lowess and val.prob use degree 1. R's loess and Austin &
        Steyerberg (2019) use degree 2.
    knots : int
        Number of knots of the spline, from 3 to 7.
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. Classes are reweighted to it. By default, the
        prevalence of the sample.
    groups : array of n labels, optional
        Group of each row, such as the patient. Bands treat rows of the same group as dependent.

    Returns
    -------
    CalibrationCurve or Curves
        Points of the curve. Its methods `consistency_band` and `confidence_band` compute bands. With bins, its method
        `interval` computes the interval of each bin. If the data contain several models and `model` is None, the curves
        of all models.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If an argument is invalid; see also `ThresholdCounts.from_scores`.

    See Also
    --------
    calibration_report, recalibrate, plot_calibration

    Notes
    -----
    Each bin contains its lower edge, and only the last bin also contains its upper edge. The point of a bin is at its
    mean score. The point of an empty bin is NaN. The binned curve depends on the choice of bins. LOESS is computed
    without robustness iterations, and its curve may leave [0, 1]. The time is O(k) for k distinct scores, after
    ranking.

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
    data = levels.evidence(
        y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight
    )
    sample = data.outcomes
    shift, counts = Shift.of(sample, target_prevalence), data.counts_at(target_prevalence)
    # The curve is drawn from rows as weighted; effective numbers of rows matter for bands only.
    plain = replace(sample, squares=None, design_effect=1.0) if counts is data.counts else levels.outcomes(counts)
    check.check_text("method", method)
    if method == "bins":
        cells = levels.binned(plain, bins=bins, strategy=strategy, edges=edges)
        name = f"{cells.total.size} {strategy if edges is None else 'given'} bins"
        return BinnedCalibrationCurve(counts, name, Basis(data, sample, shift, cells.of), cells)
    if method == "pav":
        return PavCalibrationCurve(counts, Basis(data, sample, shift, levels.pav_fit), levels.pav_blocks(counts))
    if method == "loess":
        span = regression.DEFAULT_SPAN.get(degree, 1.0) if span is None else span
        make = partial(regression.loess_fit, span=span, degree=degree)
        basis = Basis(data, sample, shift, make, loess_limits)
        fit = make(plain)  # refuses a span that is not a number, before it is formatted
        name = f"LOESS, {'quadratic, ' if degree == 2 else ''}span {span:.3g}"
    elif method == "spline":
        make = partial(regression.spline_fit, knots=knots)
        basis = Basis(data, sample, shift, make, regression.SplineFit.limits)
        fit = make(plain)
        name = f"logistic spline, {knots} knots"
    else:
        raise InputError("method", expected="'bins', 'pav', 'loess' or 'spline'", got=repr(method))
    return CalibrationCurve(counts, name, basis, fit.x, fit.values(fit.outcomes.pos))
