"""Calibration curves with consistency and confidence bands.

`calibration_curve` draws the observed share of positives against the predicted probability, by bins, isotonic
regression (PAV), LOESS or a logistic spline. There are two kinds of bands.

A *consistency band* contains the curve of a calibrated model. Labels are drawn from its probabilities, and a curve is
fitted to each sample of labels.

A *confidence band* contains the true curve. If the probability of the event does not decrease with the score, the
number of positives in an interval of rows is at most binomial, with the probability at its upper end. So exact bounds
from many intervals are bounds on the curve. The intervals and their shares of the error probability depend only on the
scores, not on labels. These bands are therefore valid for samples of any size and for every non-decreasing curve, also
with steps. Smooth curves have narrower pointwise limits: LOESS with its estimated bias, and Wald's for splines.
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
from rocscope.calibration import outcomes as levels
from rocscope.calibration import regression
from rocscope.calibration.outcomes import Outcomes, Shift, pav_values
from rocscope.core import Band, ThresholdCounts, number, require_kinds
from rocscope.curves.curve import Curve, interpolate
from rocscope.errors import InputError
from rocscope.inference.estimate import joined
from rocscope.inference.proportions import binomial_limits, normal_quantile

Fit = levels.Bins | levels.PavFit | regression.LoessFit | regression.SplineFit
"""A fit of a calibration curve: `values` returns the curve at `x` for any labels at the probabilities of `outcomes`."""


# Consistency bands

_LABELS_AT_ONCE = 2_000_000  # labels drawn at once: 16 MB as floats
_SMALLEST_SPREAD = 1e-9  # so that nothing is divided by a spread of 0; what differs by less is equal but for rounding


def consistency_band(
    fit: Fit, shift: Shift, x: Array, *, simultaneous: bool, level: float, draws: int, random_state: Any, what: str
) -> Band:
    """Return a band for the curve of `fit` at `x`, under the hypothesis that the probabilities are true."""
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
    """Return quantiles; if they are equal, extend them to the nearest other drawn values."""
    tail = (1 - level) / 2
    low = np.quantile(drawn, tail, axis=0, method="lower")
    high = np.quantile(drawn, 1 - tail, axis=0, method="higher")
    same = np.flatnonzero(high - low <= _SMALLEST_SPREAD)
    low[same] = np.where(drawn[:, same] < low[same] - _SMALLEST_SPREAD, drawn[:, same], -np.inf).max(axis=0)
    high[same] = np.where(drawn[:, same] > high[same] + _SMALLEST_SPREAD, drawn[:, same], np.inf).min(axis=0)
    return np.where(np.isfinite(low), low, drawn.min(axis=0)), np.where(np.isfinite(high), high, drawn.max(axis=0))


def envelope(curves: Array, level: float) -> tuple[Array, Array]:
    """Return limits that contain a further simulated curve everywhere with probability `level`.

    Notes
    -----
    Half of the curves give the centre at each point and the spread on each side, because distributions are skewed where
    rows are few. The other half determine the width of the band in units of the spread. This half and a further curve
    are exchangeable, so the probability is exact for any shape of the curves.

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
    """Return the root mean square of the positive distances in each column, above 0."""
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
    """Running sums over levels: positives, rows as weighted, and squared weights."""

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
        """Return the sums of the negatives from the highest level down; their lower bounds are upper bounds."""
        pos = self.pos[-1] - self.pos[::-1]
        total = self.total[-1] - self.total[::-1]
        squares = self.squares[-1] - self.squares[::-1]
        return _RunningSums(total - pos, total, squares, self.design_effect)

    @property
    def effective(self) -> Array:
        """Effective number of rows up to each boundary between levels; intervals are defined on this scale."""
        return self.total * (self.total[-1] / self.squares[-1] / self.design_effect)

    def between(self, first: Array, end: Array) -> tuple[Array, Array]:
        """Return successes and trials between two levels, in effective rows."""
        total = self.total[end] - self.total[first]
        trials = total**2 / np.maximum(self.squares[end] - self.squares[first], 1e-300) / self.design_effect
        share = np.clip((self.pos[end] - self.pos[first]) / total, 0, 1)
        return share * trials, trials


def simultaneous_limits(sample: Outcomes, level: float) -> tuple[Array, Array]:
    """Return limits at each level that contain a monotone curve everywhere with at least this confidence.

    Notes
    -----
    Intervals have 8·2^i rows or all rows, and begin at every quarter of their length. Length m has a share of the error
    proportional to 1/(1 + abs(log₂(m/n^⅔)))², divided equally among its intervals. Both ends are moved to the nearest
    border between levels. With few levels, all intervals are used, with equal shares. The time is O(n).

    References
    ----------
    Dimitriadis, Dümbgen, Henzi, Puke & Ziegel 2023, "Honest calibration assessment for binary outcome predictions",
    Biometrika 110:663–680, who use all intervals. With these shares, the band is narrower by a tenth to a quarter.
    """
    sums, tail = _RunningSums.of(sample), (1 - level) / 2
    return _lower_everywhere(sums, tail), 1 - _lower_everywhere(sums.mirrored(), tail)[::-1]


def pointwise_limits(sample: Outcomes, at: Array, level: float) -> tuple[Array, Array]:
    """Return limits at the given levels that contain a monotone curve pointwise.

    Notes
    -----
    The lower limit uses intervals of 8·2^i rows, or all rows, that end at the level; the upper limit uses those that
    begin there. Their shares of the error are those of `simultaneous_limits`. The width is never 0.
    """
    sums, tail = _RunningSums.of(sample), (1 - level) / 2
    last = sample.score.size - 1
    return _lower_at(sums, at, tail), 1 - _lower_at(sums.mirrored(), last - at, tail)


def _lengths(n: float) -> tuple[Array, Array]:
    """Return lengths of intervals and the share of the error assigned to each."""
    # Intervals of n^⅔ rows balance the noise of a share and the change of a smooth curve within the interval.
    typical = max(n, 1.0) ** (2 / 3)
    shortest = max(_SHORTEST, 2.0 ** (np.floor(np.log2(typical)) - _OCTAVES_BELOW))
    count = max(int(np.ceil(np.log2(max(n / shortest, 1.0)))), 0)
    lengths = np.append(shortest * 2.0 ** np.arange(count), n)
    weight = 1 / (1 + np.abs(np.log2(lengths / typical))) ** 2
    return lengths, weight / weight.sum()


def _nearest(borders: Array, rows: Array) -> Array:
    """Return the index of the border that is nearest to each number of rows."""
    after = np.searchsorted(borders, rows).clip(1, borders.size - 1)
    return after - (rows - borders[after - 1] <= borders[after] - rows)


def _intervals(effective: Array) -> Iterator[tuple[Array, Array, float]]:
    """Yield first and end levels of intervals by length, with their share of the error; informative lengths first."""
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
    """Return lower limits at all levels. Each interval bounds its last level and all higher levels."""
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
    """Return lower limits at some levels, from the intervals that end there."""
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
    """Return scores of up to about 2,000 levels, the limits there, and evidence against a non-decreasing curve.

    If no non-decreasing curve lies between the limits, they are exchanged and extended to the PAV curve.
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
    """Return simultaneous limits at all levels. If there are many levels, neighbours are grouped and share limits."""
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
    """Return limits of the true curve at the x of a fit: a local quadratic fit ± z standard errors ± estimated bias.

    Notes
    -----
    The span is ⅔·min(1, (300/n)^⅕), so that the bias shrinks with more rows. The bias is estimated as the fit to a
    pilot curve of half that span, minus the pilot. The variance is the binomial variance for the effective number of
    rows at x, with two successes and two failures added, so it is never 0.
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
    """Inputs of the bands of a curve.

    Attributes
    ----------
    data : Evidence
    sample : Outcomes
        Outcomes of these data, at the prevalence of the sample.
    shift : Shift
        Shift to the prevalence of the curve.
    fit : function
        Function that fits the curve to outcomes.
    limits : function, optional
        Function that computes pointwise limits at the x of a fit; by default the limits of a non-decreasing curve.
    """

    data: levels.Evidence
    sample: Outcomes
    shift: Shift
    fit: Callable[[Outcomes], Any]
    limits: Callable[[Any, float], tuple[Array, Array]] | None = None

    def require_rows(self) -> str:
        """Raise if the data are counts of weighted rows, because a band depends on the number of rows.

        Returns
        -------
        str
            Reason why a band of other counts is not reliable; empty if it is.
        """
        if self.sample.squares is None:
            require_kinds("a band of calibration", self.data.counts)
        return self.data.doubt

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

    Computed by `rocscope.calibration_curve`.

    Attributes
    ----------
    counts : ThresholdCounts
        Data of the curve. Plots show its levels as a rug (`rocscope.calibration.outcomes.rug`).
    method : str
        Name of the fit, shown in legends.
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
            If True, the whole curve of a calibrated model lies inside with probability `level`; if False, each point
            does.
        level : float
            Level of the band.
        draws : int
            Number of samples of labels drawn from the probabilities.
        random_state : int, Generator, RandomState or None
            Seed of the draws.

        Notes
        -----
        The band is conditional on the probabilities. Its width is 0 where probabilities are 0 or 1. If there are more
        than about 5,000 distinct probabilities, neighbouring rows are grouped.

        References
        ----------
        Bröcker & Smith 2007, "Increasing the reliability of reliability diagrams", Wea. Forecasting 22:651–661;
        Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.
        """
        options = {"simultaneous": simultaneous, "level": level, "draws": draws, "random_state": random_state}
        return consistency_band(self._fit, self._basis.shift, self._band_x, what=self.method, **options)

    def confidence_band(self, *, simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return a confidence band for the true curve: the probability of the event at each predicted probability.

        Parameters
        ----------
        simultaneous : bool
            If True, the level applies to the whole curve, for any non-decreasing true curve; if False, to each point.
        level : float
            Confidence level.

        Returns
        -------
        Band
            The band, with limits between 0 and 1 and a width above 0. Its note states where it is not valid.

        Notes
        -----
        For "pav", the band is computed from exact binomial bounds on many intervals of rows. It is valid for any sample
        size and any non-decreasing true curve, also with steps.

        For "loess", pointwise limits are z standard errors plus the smoothing bias of a local quadratic fit, whose span
        decreases with the number of rows. They include the drawn curve. For "spline", they are Wald's limits on the
        log-odds scale. Both are too narrow at a step, which no smooth curve follows. Simultaneous bands of both are
        therefore those of "pav". The guide on calibration has the coverage in simulations.

        Unequal weights (by Kish's formula) and groups (by their design effect) reduce the effective number of rows. In
        these cases, and with a target prevalence, the band is valid only in large samples. It includes the error of the
        prevalence.

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
        """Return the points of a smooth curve and the limits there. `confidence_band` returns them with a note."""
        if self._basis.limits is None:
            raise InputError("smooth_limits", expected="a smooth curve", got=self.method)
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
        """Return a note if the smooth curve leaves the limits for monotone curves: the true curve is steeper."""
        x, low, high, note = monotone_band(self._basis.sample, 0.95, simultaneous=True)
        y = np.interp(x, self._fit.x, self._fit.values(self._fit.outcomes.pos).clip(0, 1))
        outside = (y < low) | (y > high)
        if note or not outside.any():
            return ""
        return f"the true curve is steeper than this curve near {x[outside][0]:.3g}: see method='pav'"

    def at(self, x: Any) -> Any:
        """Return the share of positives at a score, by linear interpolation."""
        known = ~np.isnan(self.y)
        return interpolate(self.x[known], self.y[known], x)

    def area(self) -> float:
        raise InputError("the area under a calibration plot has no meaning")

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

    def __init__(self, counts: ThresholdCounts, method: str, basis: Basis, bins: levels.Bins) -> None:
        super().__init__(counts, method, basis, bins.x, bins.share)
        self.threshold = check.read_only(bins.edges[:-1])
        self.edges = check.read_only(bins.edges)
        # Summed, not subtracted: 1e15 + 0.1 less 1e15 is 0.125.
        self.pos = check.read_only(levels.sums_by_bin(counts.pos[::-1], bins.first))
        self.neg = check.read_only(levels.sums_by_bin(counts.neg[::-1], bins.first))

    def confidence_band(self, *, simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return a confidence band for the mean true probability of each bin.

        The limits are Jeffreys intervals, or simultaneous exact intervals; NaN for an empty bin. Parameters and result
        are the same as in `CalibrationCurve.confidence_band`.
        """
        method = "clopper-pearson" if simultaneous else "jeffreys"
        return self.interval(method=method, simultaneous=simultaneous, level=level)

    def interval(self, *, method: BinMethod = "jeffreys", simultaneous: bool = False, level: float = 0.95) -> Band:
        """Return an interval of the mean true probability in each bin.

        Parameters
        ----------
        method : {"jeffreys", "wilson", "clopper-pearson"}
            "jeffreys" is the equal-tailed interval of a Beta(1/2, 1/2) prior; it extends to 0 (or 1) if no row (or
            every row) is positive. "wilson" is the score interval. "clopper-pearson" is the exact interval, whose
            coverage is at least `level`.
        simultaneous : bool
            If True, the level applies to all bins simultaneously: each interval has level^(1/bins). Use
            "clopper-pearson" then, because the others are not accurate at such levels.
        level : float
            Confidence level.

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

    def columns(self) -> dict[str, Array]:
        """Return one row per bin."""
        edges = {"low": self.edges[:-1], "high": self.edges[1:], "pos": self.pos, "neg": self.neg}
        return edges | super().columns()

    def _facts(self) -> str:
        return f"{self.x.size} bins, n={number(self.counts.n)}"


class PavCalibrationCurve(CalibrationCurve):
    """Calibration curve by isotonic regression: constant within a block of scores and linear between blocks.

    Attributes
    ----------
    low, high : arrays of b scores
        Lowest and highest score of each block.
    pos, neg : arrays of b counts
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
    """Compute the calibration plot: observed share of positives against predicted probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        `y_true` is labels, with scores as `y_score`; or it is Predictions, ThresholdCounts, an OperatingPoint,
        BinnedCounts or a CountsSketch, without `y_score`. See `rocscope.sample`, also for the other parameters.
    method : {"bins", "pav", "loess", "spline"}
        "bins" computes the share of positives in bins. "pav" is isotonic regression, the CORP reliability diagram,
        which needs no bins. "loess" is local regression, recommended by Vuk & Curk for small samples. "spline" is
        logistic regression on a spline of the logit; it is smooth and stays between 0 and 1.
    bins : int
        Number of bins, for the strategies "uniform" and "quantile".
    strategy : {"uniform", "quantile", "distinct"}
        "uniform" bins have equal width. "quantile" bins have about the same number of rows; ties are not split, so
        there may be fewer bins. "distinct" has one bin for each distinct score.
    edges : array, optional
        Increasing bin edges that cover all scores; replaces `bins` and `strategy`.
    span : float, optional
        Share of the rows in each window of LOESS; by default ⅔ for degree 1 and ¾ for degree 2.
    degree : {1, 2}
        Degree of the local polynomials of LOESS: 1 as in R's lowess and val.prob, 2 as in R's loess and Austin &
        Steyerberg (2019).
    knots : int
        Number of knots of the spline, 3 to 7.
    target_prevalence : float, optional
        Share of positives where the model will be used. Classes are reweighted to it.
    groups : array of n labels, optional
        Group of each row, such as its patient. Bands then do not treat rows of a group as independent.

    Returns
    -------
    CalibrationCurve
        The curve, with the methods `consistency_band` and `confidence_band`; for bins also `interval`.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If an option or the data are invalid; see also `ThresholdCounts.from_scores`.

    See Also
    --------
    calibration_report, recalibrate, plot_calibration

    Notes
    -----
    Bins are ``[low, high)``; the last bin includes its upper edge. A point is at the mean score of its bin, and an
    empty bin is NaN. The curve depends on the choice of bins; "pav" has no such choice. LOESS has no robustness
    iterations and may leave [0, 1]. The time is O(k) for k distinct scores, after ranking.

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
