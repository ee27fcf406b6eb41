"""Distances between predicted probabilities and observed frequencies: ECE, smooth ECE and ICI.

Distances from calibration of many samples of labels at once, and their intervals by inverted tests.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import brentq
from scipy.special import chdtrc, ndtr

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.threads import one_blas_thread
from rocscope.calibration.bins import Strategy, binned, sums
from rocscope.calibration.intervals import Direction, Inverted, invert
from rocscope.calibration.loess import DEFAULT_SPAN, Degree, LoessFit, loess_fit
from rocscope.calibration.outcomes import Outcomes, Shift, outcomes, pav_rows, pav_values
from rocscope.core.result import Result
from rocscope.errors import InputError
from rocscope.kernels import compiled_pays

DRAWS, DRAWS_ALONG = 999, 199
"""Numbers of simulated samples: at the probabilities for a p-value, and along each curve for interval limits."""

_MOST_LEVELS, _GROUPS, _ENDS = 640, 250, 16
_COARSE = 4  # times fewer, for each of many parts: ends of intervals of 1,000 rows move about as far as by other draws
INDEX = {"ici": 1, "ici_quadratic": 2}
"""Calibration indices by the degree of their LOESS fit."""


def grouped(sample: Outcomes, *, coarse: bool = False, bins: int = 100) -> Outcomes:
    """Group neighbouring rows above 640 levels: 250 groups, split where bins are, with both ends kept.

    If `coarse`, a quarter as many of each.
    """
    size, fewer = sample.score.size, _COARSE if coarse else 1
    if size <= _MOST_LEVELS // fewer:
        return sample
    ends = np.append(np.arange(_ENDS // fewer), np.arange(size - _ENDS // fewer, size))
    borders = np.searchsorted(sample.score, np.arange(1, bins) / bins)
    starts = np.unique(np.concatenate([sample.starts(_GROUPS // fewer), borders, ends]))
    return sample.merged(starts[starts < size])


def miscalibration(sample: Outcomes, pos: Array, shift: Shift | None = None) -> Array:
    """Return the Brier score minus that of the PAV fit for each sample of labels; squared labels cancel."""
    shift, score, total = shift or Shift(), sample.score, sample.total
    fitted = shift.of_chance(pav_rows(pos, np.broadcast_to(total, pos.shape)))
    weighted, rows = shift.of_counts(pos, total)
    of_score = np.vecdot(rows, score**2) - 2 * (weighted @ score)
    return (of_score + np.vecdot(fitted, 2 * weighted - rows * fitted)) / sample.n


def quantiles(distance: Array, rows: Array, shares: Any) -> Array:
    """Return weighted quantiles of distances over rows, interpolated as in R and NumPy (type 7)."""
    if distance.ndim == 2 and compiled_pays(distance.size):
        found = np.empty((len(distance), len(shares)))
        kernels.samples.quantiles(distance, np.broadcast_to(rows, distance.shape), np.array(shares), found)
        return found
    order = np.argsort(distance, axis=-1)
    distance = np.take_along_axis(distance, order, axis=-1)
    reached = np.cumsum(np.take_along_axis(np.broadcast_to(rows, distance.shape), order, axis=-1), axis=-1)
    columns = []
    for share in shares:
        place = share * np.maximum(reached[..., -1:] - 1, 0)
        below = np.floor(place + 1e-9)
        ends = []
        for row in (below, below + 1):
            level = (reached <= row + 1e-9).sum(axis=-1, keepdims=True).clip(max=distance.shape[-1] - 1)
            ends.append(np.take_along_axis(distance, level, axis=-1)[..., 0])
        part = (place - below)[..., 0].clip(0, 1)
        columns.append(ends[0] + part * (ends[1] - ends[0]))
    return np.stack(columns, axis=-1)


@dataclass(frozen=True, eq=False)
class Distances:
    """Computes all distances for samples of labels at the probabilities of some outcomes.

    Attributes
    ----------
    sample : Outcomes
    shift : Shift
    bins : int
        Of the expected calibration errors.
    common : bool
        Whether to leave out the less common ones: the index by parabolas, the error in bins of equal mass, the largest
        of bins and of rows.
    """

    sample: Outcomes
    shift: Shift
    bins: int
    common: bool = False

    @cached_property
    def _fits(self) -> Mapping[str, LoessFit]:
        index = {"ici": INDEX["ici"]} if self.common else INDEX
        return {name: loess_fit(self.sample, DEFAULT_SPAN[degree], degree) for name, degree in index.items()}  # pyright: ignore[reportArgumentType]

    @cached_property
    def _first(self) -> Mapping[str, Array]:
        ways: Any = {"ece": "uniform"} if self.common else {"ece": "uniform", "ece_equal_mass": "quantile"}
        starts = {name: binned(self.sample, bins=self.bins, strategy=way).first for name, way in ways.items()}
        return {name: np.unique(first[first < self.sample.score.size]) for name, first in starts.items()}

    def from_bins(self, excess: Array, rows: Array) -> dict[str, Array]:
        """Return expected calibration errors, given how many events there are beyond those expected at each level."""
        found, n = {}, rows.sum(axis=-1)
        for name, first in self._first.items():
            total = np.abs(np.add.reduceat(excess, first, axis=-1))
            found[name] = total.sum(axis=-1) / n
            if name == "ece" and not self.common:
                size = np.add.reduceat(np.broadcast_to(rows, excess.shape), first, axis=-1)
                found["mce"] = np.divide(total, size, out=np.zeros_like(total), where=size > 0).max(axis=-1)
        return found

    def from_curve(self, chance: Array, rows: Array, name: str = "ici") -> dict[str, Array]:
        """Return the distances between probabilities and a curve: mean over rows, quantiles, largest."""
        distance = np.abs(chance - self.sample.score)
        found = {name: np.vecdot(distance, rows) / rows.sum(axis=-1)}
        if name == "ici":
            middle = quantiles(distance, rows, (0.5, 0.9))
            found |= {"e50": middle[..., 0], "e90": middle[..., 1]}
        if name == "ici" and not self.common:
            found["emax"] = distance.max(axis=-1)
        return found

    def of_labels(self, pos: Array) -> dict[str, Array]:
        """Return all distances except the Brier score's miscalibration, for samples of labels."""
        weighted, rows = self.shift.of_counts(pos, self.sample.total)
        found = self.from_bins(weighted - self.sample.score * rows, rows)
        for name, fit in self._fits.items():
            curve = self.shift.of_chance(fit.at_levels(pos).clip(0, 1))
            found |= self.from_curve(curve, rows, name)
        return found

    def of_chances(self, chance: Array) -> dict[str, Array]:
        """Return the same distances, and the miscalibration, for curves of true probabilities without noise."""
        total = self.sample.total
        rows = self.shift.of_counts(self.shift.in_sample(chance) * total, total)[1]
        found = self.from_bins((chance - self.sample.score) * rows, rows)
        for name in self._fits:
            found |= self.from_curve(chance, rows, name)
        squared = ((chance - self.sample.score) ** 2 * rows).sum(axis=-1) / self.sample.n
        return found | {"miscalibration": squared}

    def inverted(self, *, level: float, draws: int, draws_along: int, random_state: Any) -> Inverted:
        """Return confidence intervals and p-values of all distances, by test inversion."""
        sample, shift = self.sample, self.shift
        smooth = self._fits["ici"].at_levels(sample.pos).clip(0, 1)
        steps = Direction(
            shift.of_chance(pav_values(sample)),
            lambda pos: self.of_labels(pos) | {"miscalibration": miscalibration(sample, pos, shift)},
            self.of_chances,
            reach=("miscalibration",),
        )
        curves = [smooth] + [in_bins for in_bins in [self._where_the_curve_misses(smooth)] if in_bins is not None]
        along = (Direction(shift.of_chance(curve), self.of_labels, self.of_chances) for curve in curves)
        rng = check.check_random_state(random_state)
        options = {"level": level, "draws": draws, "draws_along": draws_along, "rng": rng}
        with one_blas_thread():
            return invert(sample, shift, (steps, *along), **options)

    def _where_the_curve_misses(self, smooth: Array) -> Array | None:
        """Return the probabilities moved to the shares of bins, if these differ from the LOESS curve beyond chance.

        LOESS spreads a narrow bump over rows that are calibrated, and PAV cuts it off. Along either, all bins are a
        little off, where in truth few are, and much: distances of samples are then larger than along both curves.
        """
        sample = self.sample
        cells = binned(sample, bins=_CELLS_OF_TEST, strategy="quantile")
        expected, spread = (
            sums(sample.total * each, cells.first) for each in (smooth, smooth * (1 - smooth) * sample.design_effect)
        )
        squares = np.divide((cells.pos - expected) ** 2, spread, out=np.zeros_like(spread), where=spread > 0)
        if chdtrc(_CELLS_OF_TEST - 1, squares.sum()) > _MISSES:
            return None
        chance = self.shift.in_sample(sample.score)
        claimed, varies = (sums(sample.total * each, cells.first) for each in (chance, chance * (1 - chance)))
        beyond = cells.pos - claimed
        shown = np.abs(beyond) > _SHOWN * np.sqrt(varies * sample.design_effect)
        moved = np.divide(beyond, cells.total, out=np.zeros_like(beyond), where=shown & (cells.total > 0))
        size = np.diff(cells.first, append=sample.score.size)
        return np.clip(chance + np.repeat(moved, size), 0, 1)


_CELLS_OF_TEST = 10  # of equal size, as many as the bins of the ECE are
_SHOWN = 2.0  # standard errors from the probabilities
_MISSES = 0.05  # error of the test, by which some of ten smooth curves are tried in bins too, in vain

Convention = Literal["val.prob", "austin"]
_DEGREES: dict[str, Degree] = {"val.prob": 1, "austin": 2}
_CELLS = 8192  # of the interval [0, 1], on which kernels are found by a cosine transform
_NARROWEST = 4 / _CELLS  # four cells: a narrower kernel is not resolved


@contract
def calibration_error(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    norm: Literal["l1", "l2", "max"] = "l1",
    bins: int = 10,
    strategy: Strategy = "uniform",
    debiased: bool = False,
    target_prevalence: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Compute the expected or maximum calibration error over bins.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    norm : {"l1", "l2", "max"}
        Mean distance over rows (ECE), root of the mean squared distance, or the largest of any bin (MCE).
    bins, strategy : see `rocscope.calibration_curve`
        "uniform" is the usual ECE, "quantile" that of equal mass.
    debiased : bool
        Take off what sampling alone adds to the distance in bins of so many rows; not below 0.
    target_prevalence : float, optional
        Share of positives where the model will be used; the sample's own when left out.

    Returns
    -------
    float

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If an option makes no sense.

    Notes
    -----
    Depends on the bins, and without debiasing is above 0 for a calibrated model: it grows with the number of bins
    and shrinks with that of rows. The debiased square takes ȳ(1 − ȳ)/(n − 1) off each bin; the debiased mean takes
    off the bias of a normal ȳ. Bins of one row are left as they are.

    References
    ----------
    Naeini, Cooper & Hauskrecht 2015, AAAI. Kumar, Liang & Ma 2019, "Verified uncertainty calibration", NeurIPS.
    Ferro & Fricker 2012, Q. J. R. Meteorol. Soc. 138:1954–1960.

    Examples
    --------
    Two bins of two rows; mean probabilities 0.2 and 0.7, shares 1/2 and 1:

    >>> y, p = [0, 1, 1, 1], [0.1, 0.3, 0.6, 0.8]
    >>> round(calibration_error(y, p, bins=2), 3), round(calibration_error(y, p, bins=2, norm="max"), 3)
    (0.3, 0.3)
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = sample.at(target_prevalence)
    total, mean_score, share = binned(sample, bins=bins, strategy=strategy).filled()
    weight, distance = total / sample.n, np.abs(mean_score - share)
    noise = share * (1 - share) / np.maximum(total - 1, 1)
    if check.check_text("norm", norm) == "l1":
        bias = _absolute_normal(distance, np.sqrt(noise)) - distance
        return max(float(weight @ (distance - bias if debiased else distance)), 0.0)
    if norm == "l2":
        return max(float(weight @ (distance**2 - noise if debiased else distance**2)), 0.0) ** 0.5
    if norm == "max" and not debiased:
        return float(distance.max())
    raise InputError("norm", expected="'l1', 'l2' or 'max' (the last without debiasing)", got=repr(norm))


def _absolute_normal(mean: Array, deviation: Array) -> Array:
    """Expectation of the absolute value of a normal variable."""
    at = np.divide(mean, deviation, out=np.full_like(mean, np.inf), where=deviation > 0)
    return deviation * np.sqrt(2 / np.pi) * np.exp(-(at**2) / 2) + mean * (1 - 2 * ndtr(-at))


@contract
def smooth_calibration_error(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    target_prevalence: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Compute the smooth ECE: the mean distance from the diagonal after smoothing with a bandwidth equal to the error.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    target_prevalence : float, optional
        Share of positives where the model will be used; the sample's own when left out.

    Returns
    -------
    float
        Within 10⁻⁴ of the definition.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    smECE_σ is the integral over [0, 1] of the absolute residuals y − p, smoothed by a Gaussian of width σ that is
    reflected at 0 and 1. It falls with σ, and the smooth ECE is where smECE_σ = σ: no bins and nothing to choose,
    continuous in the probabilities, and within a constant of the distance to the nearest calibrated model.

    References
    ----------
    Błasiok & Nakkiran 2024, "Smooth ECE: principled reliability diagrams via kernel smoothing", ICLR.

    Examples
    --------
    All of one probability and off by 0.2:

    >>> round(smooth_calibration_error([0, 0, 1, 1, 1], [0.8, 0.8, 0.8, 0.8, 0.8]), 4)
    0.2
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = sample.at(target_prevalence)
    waves = np.asarray(dct(_on_grid(sample, (sample.pos - sample.score * sample.total) / sample.n), norm="ortho"))
    frequency = np.arange(_CELLS) * np.pi

    def error(width: float) -> float:
        with np.errstate(under="ignore"):
            smooth = np.asarray(idct(waves * np.exp(-((frequency * width) ** 2) / 2), norm="ortho"))
        return float(np.abs(smooth).sum())

    if error(_NARROWEST) <= _NARROWEST:
        return error(_NARROWEST)
    solve: Any = brentq
    return min(float(solve(lambda width: error(width) - width, _NARROWEST, 2.0, xtol=1e-7)), 1.0)


def _on_grid(sample: Outcomes, mass: Array) -> Array:
    """Share the mass of each level between the two nearest of many cells, preserving its mean."""
    at = (sample.score * _CELLS - 0.5).clip(0, _CELLS - 1)
    first = np.searchsorted(at, np.arange(_CELLS))
    whole = sums(mass, first)
    beyond = sums(mass * at, first) - np.arange(_CELLS) * whole
    return whole - beyond + np.concatenate([[0.0], beyond[:-1]])


@dataclass(frozen=True)
class CalibrationIndex(Result):
    """Distances between probabilities and the LOESS curve: mean over rows, median, 90th percentile, largest."""

    ici: float
    e50: float
    e90: float
    emax: float
    convention: str


def distances(sample: Outcomes, convention: Convention = "val.prob", span: float | None = None) -> Array:
    """Return the distance between each probability and the LOESS calibration curve."""
    degree = _DEGREES[convention]
    fit = loess_fit(sample, DEFAULT_SPAN[degree] if span is None else span, degree)
    return np.abs(fit.at(sample.score, fit.outcomes.pos) - sample.score)


@contract
def calibration_index(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    convention: Convention = "val.prob",
    span: float | None = None,
    target_prevalence: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationIndex:
    """Compute ICI, E50, E90 and Emax: distances between the probabilities and the LOESS calibration curve.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    convention : {"val.prob", "austin"}
        Lines in windows of ⅔ of the rows, as Harrell's val.prob (R's lowess without iterations; its Eavg is the ICI);
        or parabolas in windows of ¾, as Austin & Steyerberg (R's loess).
    span : float, optional
        Share of the rows in each window, in place of that of the convention.
    target_prevalence : float, optional
        Share of positives where the model will be used; the sample's own when left out.

    Returns
    -------
    CalibrationIndex

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    Over rows; a percentile between two rows lies on the straight line between them (R's and NumPy's type 7). The curve
    is not clipped to 0 and 1, as in either convention.

    References
    ----------
    Austin & Steyerberg 2019, "The Integrated Calibration Index (ICI) and related metrics", Stat. Med. 38:4051–4065;
    Harrell's val.prob in the R package rms.

    Examples
    --------
    >>> index = calibration_index([0, 0, 1, 1, 1], [0.8, 0.8, 0.8, 0.8, 0.8])
    >>> round(index.ici, 3), round(index.emax, 3)
    (0.2, 0.2)
    """
    check.check_choice("convention", convention, tuple(_DEGREES))
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = sample.at(target_prevalence)
    distance = distances(sample, convention, span)
    e50, e90 = quantiles(distance, sample.total, (0.5, 0.9)).tolist()
    return CalibrationIndex(sample.mean(distance), e50, e90, float(distance.max()), convention)
