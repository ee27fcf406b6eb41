"""Distances between probabilities and observed frequencies: ECE, MCE, smooth ECE, and distances to the LOESS curve.

- The calibration errors compare the mean probability with the share of positives in bins (ECE, MCE).
- The smooth ECE replaces bins by a Gaussian kernel.
- The calibration index summarises the distances to the LOESS calibration curve (ICI, E50, E90, Emax).

All distances are above 0 even for calibrated models, because of sampling error. Their intervals come from test
inversion (`rocscope.calibration.intervals`): `Distances` computes the distances for many simulated samples of labels at
once, and `distance_estimates` returns the estimates for one sample.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Any, Literal

import numpy as np
from scipy import special

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, one_blas_thread
from rocscope._base.contract import contract
from rocscope._base.roots import root
from rocscope.calibration import intervals, outcomes as levels
from rocscope.calibration.goodness_of_fit import CalibrationTest, corp_test, drawn_test, miscalibration
from rocscope.calibration.intervals import DRAWS, DRAWS_ALONG, ROUNDING, ClosedForms, grouped
from rocscope.calibration.outcomes import Evidence, Outcomes, Shift, Strategy, binned, evidence, outcomes
from rocscope.calibration.regression import Degree, LoessFit, loess_fit
from rocscope.calibration.scoring_rules import decompose
from rocscope.core import Result
from rocscope.errors import InputError
from rocscope.inference.estimate import FEW_ROWS, Estimate, few
from rocscope.inference.proportions import normal_quantile

Convention = Literal["val.prob", "austin"]
_DEGREE_OF_CONVENTION: dict[str, Degree] = {"val.prob": 1, "austin": 2}


# The smooth ECE: cells of [0, 1] on which residuals are smoothed by a cosine transform, whose boundaries reflect. A
# kernel narrower than four cells is not resolved.
_CELLS = 8192
_NARROWEST = 4 / _CELLS


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
    """Compute the expected calibration error (ECE) or the maximum calibration error (MCE) over bins.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    norm : {"l1", "l2", "max"}
        Summary of the absolute differences between the mean probability and the share of positives in the bins. "l1" is
        the mean over rows (ECE), "l2" is the root mean square over rows, and "max" is the largest difference (MCE).
    bins, strategy : see `rocscope.calibration_curve`
        Number and kind of bins. "uniform" gives the usual ECE, and "quantile" gives the ECE with bins of equal mass.
    debiased : bool
        If True, subtract the bias that a calibrated model has because of sampling error. The result is at least 0.
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. By default, the prevalence of the sample.

    Returns
    -------
    float
        Calibration error, from 0 (calibrated) to 1.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If `norm`, `bins` or `strategy` is invalid, or ``norm="max"`` is combined with ``debiased=True``.

    See Also
    --------
    smooth_calibration_error, calibration_index

    Notes
    -----
    The error depends on the bins. Without debiasing, it is above 0 even for a calibrated model. This bias increases
    with the number of bins and decreases with the number of rows.

    Let ȳ be the share of positives in a bin of n rows. For "l2", debiasing subtracts ȳ(1 − ȳ)/(n − 1) from the squared
    distance of the bin. For "l1", it subtracts the bias that follows from a normal distribution of ȳ. Bins of one row
    are not corrected. With weights w, n is the effective number of rows (Σw)²/Σw².

    References
    ----------
    Naeini, Cooper & Hauskrecht 2015, AAAI. Kumar, Liang & Ma 2019, "Verified uncertainty calibration", NeurIPS.
    Ferro & Fricker 2012, Q. J. R. Meteorol. Soc. 138:1954–1960.

    Examples
    --------
    The two bins have mean probabilities 0.2 and 0.7. Their shares of positives are 1/2 and 1, so both distances are
    0.3:

    >>> y, p = [0, 1, 1, 1], [0.1, 0.3, 0.6, 0.8]
    >>> round(calibration_error(y, p, bins=2), 3), round(calibration_error(y, p, bins=2, norm="max"), 3)
    (0.3, 0.3)
    """
    if debiased and not isinstance(y_true, Outcomes):
        data = evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
        sample = data.outcomes_at(target_prevalence)
    else:
        sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
        sample = sample.at(target_prevalence)
    cells = binned(sample, bins=bins, strategy=strategy)
    total, mean_score, share = cells.filled()
    weight, distance = total / sample.n, np.abs(mean_score - share)
    noise = share * (1 - share) / np.maximum(cells.effective[cells.total > 0] - 1, 1)
    if check.check_text("norm", norm) == "l1":
        bias = _absolute_normal(distance, np.sqrt(noise)) - distance
        return max(float(weight @ (distance - bias if debiased else distance)), 0.0)
    if norm == "l2":
        return max(float(weight @ (distance**2 - noise if debiased else distance**2)), 0.0) ** 0.5
    if norm == "max" and not debiased:
        return float(distance.max())
    expected = "'l1' or 'l2' with debiased=True" if debiased else "'l1', 'l2' or 'max'"
    raise InputError("norm", expected=expected, got=repr(norm))


def _absolute_normal(mean: Array, deviation: Array) -> Array:
    """Return the expected absolute value of a normal variable with this mean and standard deviation."""
    at = np.divide(mean, deviation, out=np.full_like(mean, np.inf), where=deviation > 0)
    return deviation * np.sqrt(2 / np.pi) * np.exp(-(at**2) / 2) + mean * (1 - 2 * special.ndtr(-at))


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
    """Compute the smooth expected calibration error (smooth ECE), which needs no bins.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. By default, the prevalence of the sample.

    Returns
    -------
    float
        Smooth ECE, accurate to 10⁻⁴.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    calibration_error, calibration_curve

    Notes
    -----
    The residuals y − p are smoothed along p by a Gaussian of width σ that is reflected at 0 and 1. smECE_σ is the
    integral of the absolute smoothed residuals over [0, 1]. It decreases with σ. The smooth ECE is the σ for which
    smECE_σ = σ. It has no tuning parameters and is continuous in the probabilities. It equals the distance to the
    nearest calibrated model up to a constant factor.

    References
    ----------
    Błasiok & Nakkiran 2024, "Smooth ECE: principled reliability diagrams via kernel smoothing", ICLR.

    Examples
    --------
    All rows have the probability 0.8, but the share of positives is 0.6:

    >>> round(smooth_calibration_error([0, 0, 1, 1, 1], [0.8, 0.8, 0.8, 0.8, 0.8]), 4)
    0.2
    """
    from scipy import fft

    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = sample.at(target_prevalence)
    waves = np.asarray(fft.dct(_on_grid(sample, (sample.pos - sample.score * sample.total) / sample.n), norm="ortho"))
    frequency = np.arange(_CELLS) * np.pi

    def error(width: float) -> float:
        with np.errstate(under="ignore"):
            smooth = np.asarray(fft.idct(waves * np.exp(-((frequency * width) ** 2) / 2), norm="ortho"))
        return float(np.abs(smooth).sum())

    if error(_NARROWEST) <= _NARROWEST:
        return error(_NARROWEST)
    # The error is at most 1, so that it is below a width of 2; of an error of 1 the root may be off by rounding.
    width = root(lambda width: error(width) - width, _NARROWEST, 2.0, xtol=1e-7)
    return min(width, 1.0)


def _on_grid(sample: Outcomes, mass: Array) -> Array:
    """Distribute the mass at each score to the two nearest cells of the grid, without changing the mean position.

    A mass m at the position x between the cells c and c + 1 adds m·(x − c) to cell c + 1, and m·(c + 1 − x) to cell c.
    """
    cell = np.arange(_CELLS)
    place = (sample.score * _CELLS - 0.5).clip(0, _CELLS - 1)
    first = np.searchsorted(place, cell)
    total = levels.sums_by_bin(mass, first)
    to_next = levels.sums_by_bin(mass * place, first) - cell * total
    return total - to_next + np.append(0.0, to_next[:-1])


@dataclass(frozen=True)
class CalibrationIndex(Result):
    """Distances between the probabilities and the LOESS calibration curve.

    Attributes
    ----------
    ici : float
        Mean distance over rows (integrated calibration index).
    e50, e90 : float
        Median and 90th percentile of the distances over rows.
    emax : float
        Largest distance.
    convention : {"val.prob", "austin"}
        Settings of the LOESS curve; see `calibration_index`.
    """

    ici: float
    e50: float
    e90: float
    emax: float
    convention: str


def loess_distances(sample: Outcomes, convention: Convention = "val.prob", span: float | None = None) -> Array:
    """Return the distance between each probability and the LOESS calibration curve."""
    fit = loess_fit(sample, span, _DEGREE_OF_CONVENTION[convention])
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
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    convention : {"val.prob", "austin"}
        Settings of the LOESS curve. "val.prob" fits lines in windows of ⅔ of the rows, as Harrell's val.prob does. It
        calls the ICI Eavg. "austin" fits parabolas in windows of ¾ of the rows, as Austin & Steyerberg do with R's
        loess.
    span : float, optional
        Share of the rows in each window. By default, ⅔ for "val.prob" and ¾ for "austin".
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. By default, the prevalence of the sample.

    Returns
    -------
    CalibrationIndex
        Mean, median, 90th percentile and maximum of the distances.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    calibration_error, cox_calibration

    Notes
    -----
    Percentiles are interpolated linearly between rows (type 7 of R and NumPy). The curve may leave
    the interval [0, 1], because neither convention clips it.

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
    check.check_choice("convention", convention, tuple(_DEGREE_OF_CONVENTION))
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = sample.at(target_prevalence)
    distance = loess_distances(sample, convention, span)
    e50, e90 = quantiles(distance, sample.total, (0.5, 0.9), is_count=sample.is_count).tolist()
    return CalibrationIndex(sample.mean(distance), e50, e90, float(distance.max()), convention)


def quantiles(distance: Array, rows: Array, shares: tuple[float, ...], *, is_count: bool = True) -> Array:
    """Return weighted quantiles of distances over rows, interpolated as in R and NumPy (type 7).

    If `is_count` is False, the weights are not numbers of rows. A quantile is then the smallest distance at which the
    cumulative weight reaches the share.
    """
    if is_count and distance.ndim == 2 and kernels.compiled_pays(distance.size):
        values = np.empty((len(distance), len(shares)))
        kernels.samples.quantiles(distance, np.broadcast_to(rows, distance.shape), np.array(shares), values)
        return values
    order = np.argsort(distance, axis=-1)
    distance = np.take_along_axis(distance, order, axis=-1)
    cumulative = np.cumsum(np.take_along_axis(np.broadcast_to(rows, distance.shape), order, axis=-1), axis=-1)
    columns = []
    for share in shares:
        if not is_count:
            reached = cumulative >= share * cumulative[..., -1:] * (1 - ROUNDING)
            columns.append(np.take_along_axis(distance, reached.argmax(axis=-1)[..., None], axis=-1)[..., 0])
            continue
        # Type 7: row 1 + share·(n − 1), between its two neighbours; sums of weights may be off by rounding.
        place = share * np.maximum(cumulative[..., -1:] - 1, 0)
        below = np.floor(place + 1e-9)
        part = (place - below)[..., 0].clip(0, 1)
        low, high = _at_row(distance, cumulative, below), _at_row(distance, cumulative, below + 1)
        columns.append(low + part * (high - low))
    return np.stack(columns, axis=-1)


def _at_row(distance: Array, cumulative: Array, row: Array) -> Array:
    level = (cumulative <= row + 1e-9).sum(axis=-1, keepdims=True).clip(max=distance.shape[-1] - 1)
    return np.take_along_axis(distance, level, axis=-1)[..., 0]


def farthest(sample: Outcomes) -> float:
    """Return the largest possible distance between a probability and the true probability.

    Distances to the LOESS curve can be larger, because the curve is not clipped.
    """
    return float(np.maximum(sample.score, 1 - sample.score).max())


# Distances of many samples of labels

# Test for bumps that LOESS smooths away: ten cells of equal size, as the bins of the ECE. A cell whose share is two
# standard errors from the probabilities counts as off. At the level of 5%, some smooth curves are tried in vain.
_CELLS_OF_TEST = 10
_OFF = 2.0
_LEVEL_OF_TEST = 0.05


@dataclass(frozen=True, eq=False)
class Distances:
    """Computation of all distances from calibration, for many samples of labels with the same probabilities.

    Attributes
    ----------
    sample : Outcomes
        Probabilities and observed labels.
    shift : Shift
        Change of the prevalence.
    bins : int
        Number of bins for the expected calibration error.
    common : bool
        If True, compute only the common distances. This omits the ICI with parabolas, the ECE with bins of equal mass,
        the MCE and Emax.
    """

    sample: Outcomes
    shift: Shift
    bins: int
    common: bool = False

    @cached_property
    def _loess(self) -> Mapping[str, LoessFit]:
        fits = {"ici": loess_fit(self.sample)}
        if not self.common:
            fits["ici_quadratic"] = loess_fit(self.sample, degree=2)
        return fits

    @cached_property
    def _first_levels(self) -> Mapping[str, Array]:
        """Index of the first distinct score in each non-empty bin, for each calibration error."""
        strategies: dict[str, Strategy] = {"ece": "uniform"}
        if not self.common:
            strategies["ece_equal_mass"] = "quantile"
        starts = {}
        for name, strategy in strategies.items():
            first = binned(self.sample, bins=self.bins, strategy=strategy).first
            starts[name] = np.unique(first[first < self.sample.score.size])
        return starts

    def from_bins(self, excess: Array, rows: Array) -> dict[str, Array]:
        """Return the calibration errors over bins.

        `excess` is the number of observed minus expected events at each distinct score, and `rows` the number of rows.
        """
        errors, n = {}, rows.sum(axis=-1)
        for name, first in self._first_levels.items():
            total = np.abs(np.add.reduceat(excess, first, axis=-1))
            errors[name] = total.sum(axis=-1) / n
            if name == "ece" and not self.common:
                size = np.add.reduceat(np.broadcast_to(rows, excess.shape), first, axis=-1)
                errors["mce"] = np.divide(total, size, out=np.zeros_like(total), where=size > 0).max(axis=-1)
        return errors

    def from_curve(self, chance: Array, rows: Array, name: str = "ici") -> dict[str, Array]:
        """Return the mean, the quantiles and the maximum of the distances between probabilities and a curve."""
        distance = np.abs(chance - self.sample.score)
        values = {name: np.vecdot(distance, rows) / rows.sum(axis=-1)}
        if name == "ici":
            is_count = self.sample.is_count and self.shift.target is None
            middle = quantiles(distance, rows, (0.5, 0.9), is_count=is_count)
            values |= {"e50": middle[..., 0], "e90": middle[..., 1]}
        if name == "ici" and not self.common:
            values["emax"] = distance.max(axis=-1)
        return values

    def of_labels(self, pos: Array) -> dict[str, Array]:
        """Return all distances except the Brier miscalibration, for each sample of labels."""
        weighted, rows = self.shift.of_counts(pos, self.sample.total)
        values = self.from_bins(weighted - self.sample.score * rows, rows)
        for name, fit in self._loess.items():
            curve = self.shift.of_chance(fit.at_levels(pos).clip(0, 1))
            values |= self.from_curve(curve, rows, name)
        return values

    def of_labels_with_pav(self, pos: Array) -> dict[str, Array]:
        """Return all distances, including the Brier miscalibration, for each sample of labels."""
        return self.of_labels(pos) | {"miscalibration": miscalibration(self.sample, pos, self.shift)}

    def of_chances(self, chance: Array) -> dict[str, Array]:
        """Return all distances between the scores and the true probabilities, for each assumed curve of the latter."""
        sample = self.sample
        rows = self.shift.of_counts(self.shift.in_sample(chance) * sample.total, sample.total)[1]
        values = self.from_bins((chance - sample.score) * rows, rows)
        for name in self._loess:
            values |= self.from_curve(chance, rows, name)
        squared = ((chance - sample.score) ** 2 * rows).sum(axis=-1) / sample.n
        return values | {"miscalibration": squared}

    def inverted(self, *, level: float, draws: int, draws_along: int, random_state: Any) -> intervals.Inverted:
        """Return confidence intervals and p-values of all distances from test inversion."""
        sample, shift = self.sample, self.shift
        pav = shift.of_chance(levels.pav_values(sample))
        # The first direction has all statistics: the others share its draws at calibration.
        directions = [intervals.Direction(pav, self.of_labels_with_pav, self.of_chances, reach=("miscalibration",))]
        smooth = self._loess["ici"].at_levels(sample.pos).clip(0, 1)
        directions.append(intervals.Direction(shift.of_chance(smooth), self.of_labels, self.of_chances))
        in_bins = self._bumps(smooth)
        if in_bins is not None:
            directions.append(intervals.Direction(shift.of_chance(in_bins), self.of_labels, self.of_chances))
        rng = check.check_random_state(random_state)
        with one_blas_thread():  # LOESS multiplies many small matrices
            return intervals.invert(
                sample, shift, directions, level=level, draws=draws, draws_along=draws_along, rng=rng
            )

    def _bumps(self, smooth: Array) -> Array | None:
        """Return a curve that differs from calibration only in some bins; None if the LOESS curve fits the bins.

        In these bins, the curve has the observed share of positives. LOESS and PAV smooth a narrow deviation from
        calibration. Both then show small deviations in all bins instead of a large deviation in a few bins, and
        distances in samples drawn from them are too small.
        """
        sample = self.sample
        cells = binned(sample, bins=_CELLS_OF_TEST, strategy="quantile")
        # The variance of the sum of a level is p(1 − p) times this: its number of rows, or Σw² for weights.
        has_rows = sample.effective > 0
        scale = np.divide(sample.total**2, sample.effective, out=np.zeros_like(sample.total), where=has_rows)

        # Does LOESS fit in the cells? Chi-squared with one degree less than ten cells. Ties leave fewer cells, and then
        # this rejects less often; but LOESS nearly interpolates so few levels.
        expected = levels.sums_by_bin(sample.total * smooth, cells.first)
        variance = levels.sums_by_bin(scale * smooth * (1 - smooth), cells.first)
        squares = np.divide((cells.pos - expected) ** 2, variance, out=np.zeros_like(variance), where=variance > 0)
        if special.chdtrc(_CELLS_OF_TEST - 1, squares.sum()) > _LEVEL_OF_TEST:
            return None

        # Move the cells that are off to their share; all others stay calibrated.
        chance = self.shift.in_sample(sample.score)
        excess = cells.pos - levels.sums_by_bin(sample.total * chance, cells.first)
        variance = levels.sums_by_bin(scale * chance * (1 - chance), cells.first)
        is_off = np.abs(excess) > _OFF * np.sqrt(variance)
        moved = np.divide(excess, cells.total, out=np.zeros_like(excess), where=is_off & (cells.total > 0))
        size = np.diff(cells.first, append=sample.score.size)
        return np.clip(chance + np.repeat(moved, size), 0, 1)


# Distances of one sample, with intervals

_QUANTILES = {"e50": 0.5, "e90": 0.9}
_NO_WIDTH = 1e-9  # width of an interval below which no drawn label changed the number


def distance_estimates(
    data: Evidence,
    forms: ClosedForms,
    *,
    bins: int = 10,
    draws: int = DRAWS,
    draws_along: int = DRAWS_ALONG,
    common: bool = False,
    coarse: bool = False,
    random_state: Any = 0,
) -> tuple[dict[str, Estimate], CalibrationTest | None]:
    """Return distances from calibration with intervals from test inversion, and the miscalibration test.

    With 0 draws, there are no intervals and no test. With `common`, only the common distances are computed; see
    `Distances`. With `coarse`, scores are grouped into fewer groups; see `grouped`.
    """
    sample, level = forms.sample, forms.level
    largest = farthest(sample)
    values = {name: min(value, largest) for name, value in _distances(sample, bins, common=common).items()}
    if not draws:
        return {name: forms.without(value, "the argument draws is 0") for name, value in values.items()}, None
    if not 0 < sample.prevalence < 1:
        without = {name: forms.without(value, intervals.ONE_CLASS) for name, value in values.items()}
        return without, drawn_test(data.outcomes, draws=draws)

    groups = grouped(data.outcomes, coarse=True, bins=bins) if coarse else grouped(data.outcomes)
    distances = Distances(groups, forms.shift, bins, common)
    limits = distances.inverted(level=level, draws=draws, draws_along=draws_along, random_state=random_state)
    # Where all draws agree, the interval allows for a share of unseen cases: one that n cases all miss with the
    # probability 1 − level.
    unseen = 1 - (1 - level) ** (1 / data.outcomes.effective.sum())
    method = f"inverted test, {draws} draws"
    if data.outcomes.design_effect > 1:
        method += f", design effect {data.outcomes.design_effect:.3g}"
    estimates = {}
    for name, value in values.items():
        key = name.removeprefix("brier_")
        low, high = min(float(limits.low[key]), value), max(float(limits.high[key]), value)
        if name == "e50":
            low = min(low, _lower_median_distance(data.outcomes_at(forms.shift.target), level))
        if high - low < _NO_WIDTH:
            low, high = low * (1 - unseen), min(high + unseen, largest)
        estimates[name] = forms.of(value, low, high, method, nan)
        if data.weighting is not None and estimates[name].reliable:
            estimates[name] = replace(estimates[name], reason=_WEIGHTS_GIVEN)
    cases_expected = _cases_expected(data, sample, [*_QUANTILES.values()])
    for (name, share), cases in zip(_QUANTILES.items(), cases_expected, strict=True):
        if estimates[name].reliable:
            what = f"cases expected where {100 * share:.0f}% of the probabilities are"
            estimates[name] = replace(estimates[name], reason=few(cases, FEW_ROWS, what))
    statistic = miscalibration(groups, groups.pos[None], forms.shift)
    return estimates, corp_test(statistic, limits.p_value["miscalibration"], draws)


def _distances(sample: Outcomes, bins: int, *, common: bool) -> dict[str, float]:
    """Return the distances of one sample, as the public functions compute them; for `common` see `Distances`."""
    index = calibration_index(sample)
    values = {"brier_miscalibration": decompose(sample).miscalibration}
    values |= {"ici": index.ici, "e50": index.e50, "e90": index.e90}
    values["ece"] = calibration_error(sample, bins=bins)
    if not common:
        values["emax"] = index.emax
        values["ici_quadratic"] = calibration_index(sample, convention="austin").ici
        values["ece_equal_mass"] = calibration_error(sample, bins=bins, strategy="quantile")
        values["mce"] = calibration_error(sample, bins=bins, norm="max")
    return values


# Where weights stand for censoring, a test by such draws rejected 2 to 9% of calibrated models at 5%.
_WEIGHTS_GIVEN = "labels are drawn as if the weights were known"
_BINS_OF_HALF = 10  # bins of equal size, to see whether half of the rows are off


def _lower_median_distance(sample: Outcomes, level: float) -> float:
    """Return a lower confidence limit of the median distance (E50), computed from bins of equal size.

    LOESS smooths a narrow deviation from calibration, so the median distance to the LOESS curve can be too large. This
    limit does not use LOESS: in bins with at least half of the rows, the distance must exceed the limit.
    """
    bins = binned(sample, bins=_BINS_OF_HALF, strategy="quantile")
    rows, x, share = bins.filled()
    trials = np.maximum(bins.effective[bins.total > 0], 1)
    least = np.abs(share - x) - normal_quantile(level) * np.sqrt(share * (1 - share) / trials)
    order = np.argsort(-least)
    half = np.searchsorted(np.cumsum(rows[order]), sample.n / 2 * (1 - 1e-12))  # sums of weights are rounded
    return max(float(least[order][min(half, order.size - 1)]), 0.0)


def _cases_expected(data: Evidence, sample: Outcomes, shares: list[float]) -> list[float]:
    """Return the number of expected cases in the given shares of rows, taking rows with the smallest p(1 − p) first.

    A quantile of the distances depends on this share of the rows. If these rows have few expected cases, the quantile
    depends on few outcomes and is unreliable.
    """
    variance = sample.score * (1 - sample.score)
    order = np.argsort(variance, kind="stable")  # fast, as variances of increasing probabilities rise and fall once
    rows = data.outcomes.effective[order]
    cases = np.append(0.0, np.cumsum(variance[order] * rows))
    return cases[np.searchsorted(np.cumsum(rows), np.array(shares) * rows.sum(), side="right")].tolist()
