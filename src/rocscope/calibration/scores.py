"""Scores of probabilistic predictions, distances from calibration, and tests of calibration.

- Proper scores (Brier, log loss) and their decomposition into miscalibration − discrimination + uncertainty.
- Distances between probabilities and observed frequencies: calibration errors over bins (ECE, MCE), the smooth ECE,
  and the distances to the LOESS curve (ICI, E50, E90, Emax).
- The cost of miscalibration: the extra cost of acting on the probabilities instead of recalibrated probabilities.
- Tests of the hypothesis that a model is calibrated: Spiegelhalter, Hosmer–Lemeshow, CORP miscalibration.

PAV (pool adjacent violators) is the algorithm of isotonic regression, which recalibrates the probabilities.

`Distances` computes the distances for many simulated samples of labels at once. `distance_estimates` returns the
estimates for one sample, with intervals from test inversion (`rocscope.calibration.intervals`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan
from typing import Any, Literal

import numpy as np
from scipy import fft, optimize, special

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, one_blas_thread
from rocscope._base.contract import contract
from rocscope.calibration import outcomes as levels
from rocscope.calibration.intervals import ONE_CLASS, ClosedForms, Direction, Inverted, invert
from rocscope.calibration.outcomes import Evidence, Outcomes, Shift, Strategy, binned, evidence, outcomes
from rocscope.calibration.regression import DEFAULT_SPAN, Degree, LoessFit, loess_fit
from rocscope.core import Band, Campaign, Context, Result, ThresholdCounts, number, require_kinds
from rocscope.curves.curve import Curve, for_each_model
from rocscope.errors import InputError
from rocscope.inference.estimate import FEW_ROWS, Estimate, few, joined
from rocscope.inference.proportions import normal_quantile

# Distances of many samples of labels

DRAWS, DRAWS_ALONG = 999, 199
"""Numbers of simulated samples of labels: for p-values, and for each step in the search of interval limits."""

# Neighbouring rows are grouped above 640 levels, to 250 groups and the 16 levels at each end, which bounds the time of
# 999 draws whatever the number of rows. The ends stay, as steps of PAV are narrow there.
_MOST_LEVELS = 640
_GROUPS = 250
_ENDS = 16

# Coarse groups are 4 times fewer: limits for 1,000 rows then move about as far as with other draws.
_COARSE = 4

_ROUNDING = 1e-12  # draws, or sums of weights, that differ by less are equal, whatever the order of their sums

INDEX: dict[str, Degree] = {"ici": 1, "ici_quadratic": 2}
"""Degree of the LOESS fit for each calibration index."""


def grouped(sample: Outcomes, *, coarse: bool = False, bins: int = 100) -> Outcomes:
    """Group neighbouring scores into about 250 groups if there are more than 640 distinct scores.

    The 16 lowest and 16 highest scores are not grouped, and no group crosses the edge of a bin. With `coarse`, these
    three numbers are divided by four.
    """
    size, fewer = sample.score.size, _COARSE if coarse else 1
    if size <= _MOST_LEVELS // fewer:
        return sample
    ends = np.append(np.arange(_ENDS // fewer), np.arange(size - _ENDS // fewer, size))
    borders = np.searchsorted(sample.score, np.arange(1, bins) / bins)
    starts = np.unique(np.concatenate([sample.starts(_GROUPS // fewer), borders, ends]))
    return sample.merged(starts[starts < size])


def miscalibration(sample: Outcomes, pos: Array, shift: Shift | None = None) -> Array:
    """Return the miscalibration for each sample of labels: Brier score minus Brier score of the PAV fit.

    For probabilities p, labels y and fitted values f, Σ (p − y)² − Σ (f − y)² = Σ (p² − 2·p·y − f² + 2·f·y). The
    squared labels cancel.
    """
    shift, score, total = shift or Shift(), sample.score, sample.total
    fitted = shift.of_chance(levels.pav_rows(pos, np.broadcast_to(total, pos.shape)))
    weighted, rows = shift.of_counts(pos, total)
    of_score = np.vecdot(rows, score**2) - 2 * (weighted @ score)
    return (of_score + np.vecdot(fitted, 2 * weighted - rows * fitted)) / sample.n


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
            reached = cumulative >= share * cumulative[..., -1:] * (1 - _ROUNDING)
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
        index: dict[str, Degree] = {"ici": INDEX["ici"]} if self.common else INDEX
        return {name: loess_fit(self.sample, DEFAULT_SPAN[degree], degree) for name, degree in index.items()}

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

    def inverted(self, *, level: float, draws: int, draws_along: int, random_state: Any) -> Inverted:
        """Return confidence intervals and p-values of all distances from test inversion."""
        sample, shift = self.sample, self.shift
        pav = shift.of_chance(levels.pav_values(sample))
        # The first direction has all statistics: the others share its draws at calibration.
        directions = [Direction(pav, self.of_labels_with_pav, self.of_chances, reach=("miscalibration",))]
        smooth = self._loess["ici"].at_levels(sample.pos).clip(0, 1)
        directions.append(Direction(shift.of_chance(smooth), self.of_labels, self.of_chances))
        in_bins = self._bumps(smooth)
        if in_bins is not None:
            directions.append(Direction(shift.of_chance(in_bins), self.of_labels, self.of_chances))
        rng = check.check_random_state(random_state)
        with one_blas_thread():  # LOESS multiplies many small matrices
            return invert(sample, shift, directions, level=level, draws=draws, draws_along=draws_along, rng=rng)

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


# Distances of one sample

Convention = Literal["val.prob", "austin"]
_DEGREES: dict[str, Degree] = {"val.prob": 1, "austin": 2}

# The smooth ECE: cells of [0, 1] on which residuals are smoothed by a cosine transform, whose boundaries reflect. A
# kernel narrower than four cells is not resolved.
_CELLS = 8192
_NARROWEST = 4 / _CELLS


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
) -> tuple[dict[str, Estimate], float]:
    """Return distances from calibration with intervals from test inversion, and the p-value of the miscalibration test.

    With `common`, only the common distances are computed; see `Distances`. With `coarse`, scores are grouped into fewer
    groups; see `grouped`.
    """
    sample, level = forms.sample, forms.level
    index = calibration_index(sample)
    values = {"brier_miscalibration": decompose(sample).miscalibration}
    values |= {"ici": index.ici, "e50": index.e50, "e90": index.e90}
    values["ece"] = calibration_error(sample, bins=bins)
    if not common:
        values["emax"] = index.emax
        values["ici_quadratic"] = calibration_index(sample, convention="austin").ici
        values["ece_equal_mass"] = calibration_error(sample, bins=bins, strategy="quantile")
        values["mce"] = calibration_error(sample, bins=bins, norm="max")
    largest = farthest(sample)
    values = {name: min(value, largest) for name, value in values.items()}
    if not draws:
        return {name: forms.without(value, "the argument draws is 0") for name, value in values.items()}, nan
    if not 0 < sample.prevalence < 1:
        p_value = drawn_test(data.outcomes, draws=draws).p_value
        return {name: forms.without(value, ONE_CLASS) for name, value in values.items()}, p_value

    levels = grouped(data.outcomes, coarse=True, bins=bins) if coarse else grouped(data.outcomes)
    distances = Distances(levels, forms.shift, bins, common)
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
    return estimates, float(limits.p_value["miscalibration"])


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


def farthest(sample: Outcomes) -> float:
    """Return the largest possible distance between a probability and the true probability.

    Distances to the LOESS curve can be larger, because the curve is not clipped.
    """
    return float(np.maximum(sample.score, 1 - sample.score).max())


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
    width: Any = optimize.brentq(lambda width: error(width) - width, _NARROWEST, 2.0, xtol=1e-7)
    return min(float(width), 1.0)


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
    check.check_choice("convention", convention, tuple(_DEGREES))
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = sample.at(target_prevalence)
    distance = distances(sample, convention, span)
    e50, e90 = quantiles(distance, sample.total, (0.5, 0.9), is_count=sample.is_count).tolist()
    return CalibrationIndex(sample.mean(distance), e50, e90, float(distance.max()), convention)


# Proper scores and their decomposition

ScoringRule = Literal["brier", "log_loss"]


@contract
def brier(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Compute the Brier score: the mean squared difference between probability and outcome (0 is best).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    float
        Brier score, from 0 to 1.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    log_loss, decompose

    References
    ----------
    Brier 1950, Mon. Wea. Rev. 78:1–3. Brier's sum over both classes is twice this value.

    Examples
    --------
    >>> round(brier([0, 1, 1], [0.2, 0.2, 0.9]), 3)
    0.23
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return _brier(sample, sample.score)


@contract
def log_loss(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Compute the log loss: the mean of −log(probability of the observed outcome) (0 is best).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    float
        Log loss; infinite if an observed outcome had the probability 0.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    brier

    Examples
    --------
    >>> round(log_loss([0, 1], [0.5, 0.25]), 4)
    1.0397
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return _log_loss(sample, sample.score)


def _brier(sample: Outcomes, predicted: Array | float) -> float:
    return float(np.sum(sample.pos * (1 - predicted) ** 2 + sample.neg * predicted**2)) / sample.n


def _log_loss(sample: Outcomes, predicted: Array | float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        happened, did_not = sample.pos * np.log(predicted), sample.neg * np.log(1 - predicted)
    # What did not happen costs nothing, also at the probability 0: 0 · ∞ is 0 here.
    happened[sample.pos == 0] = 0
    did_not[sample.neg == 0] = 0
    return -float(happened.sum() + did_not.sum()) / sample.n


_RULES = {"brier": _brier, "log_loss": _log_loss}


@dataclass(frozen=True)
class Decomposition(Result):
    """Decomposition of a mean score into miscalibration − discrimination + uncertainty.

    Attributes
    ----------
    score : float
        Mean score of the probabilities. For "murphy", each probability is replaced by the mean of its bin.
    miscalibration : float
        Decrease of the mean score by recalibration; 0 for a calibrated model. Murphy calls it reliability.
    discrimination : float
        Score of predicting the prevalence for every case, minus score after recalibration. Murphy calls it resolution.
    uncertainty : float
        Mean score of predicting the prevalence for every case.
    rule : str
        Name of the score: "brier" or "log_loss".
    method : str
        Method of recalibration.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    rule: str
    method: str

    def __repr__(self) -> str:
        return (
            f"Decomposition({self.rule} {self.score:.6g} = miscalibration {self.miscalibration:.6g} − discrimination "
            f"{self.discrimination:.6g} + uncertainty {self.uncertainty:.6g}, {self.method})"
        )


@contract
def decompose(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    rule: ScoringRule = "brier",
    method: Literal["corp", "murphy"] = "corp",
    bins: int = 10,
    strategy: Strategy = "uniform",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Decomposition:
    """Decompose a mean score into miscalibration − discrimination + uncertainty.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    rule : {"brier", "log_loss"}
        Score to decompose.
    method : {"corp", "murphy"}
        Method of recalibration. "corp" is isotonic regression (PAV). "murphy" replaces each probability by the share of
        positives in its bin.
    bins, strategy : see `rocscope.calibration_curve`
        Bins for "murphy". Use ``strategy="distinct"`` for Murphy's original decomposition.

    Returns
    -------
    Decomposition
        Mean score, miscalibration, discrimination and uncertainty.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    brier, calibration_curve

    Notes
    -----
    Let S be the mean score, p the probabilities, r the recalibrated probabilities and ō the prevalence. Miscalibration
    is S(p) − S(r), and discrimination is S(ō) − S(r). With "corp", both are at least 0, and no bins have to be chosen.
    With "murphy", p is the mean probability of the bin, so the components and the mean score depend on the bins. The
    mean score equals the mean score of the original probabilities only if each bin contains a single probability.

    References
    ----------
    Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118, eq. 3–4. Murphy 1973, "A new vector partition of the
    probability score", J. Appl. Meteorol. 12:595–600.

    Examples
    --------
    >>> decompose([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8])
    Decomposition(brier 0.225 = miscalibration 0.1 − discrimination 0.125 + uncertainty 0.25, CORP)
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    check.check_choice("rule", rule, list(_RULES))
    if check.check_text("method", method) == "corp":
        return _decompose(sample, levels.pav_values(sample), rule, "CORP")
    if method == "murphy":
        cells = binned(sample, bins=bins, strategy=strategy)
        total, x, share = cells.filled()
        label = "distinct" if strategy == "distinct" else f"{total.size} {strategy}"
        cases = Outcomes(x, share * total, (1 - share) * total)
        return _decompose(cases, share, rule, f"Murphy, {label} bins (depends on the bins)")
    raise InputError("method", expected="'corp' or 'murphy'", got=repr(method))


def _decompose(sample: Outcomes, recalibrated: Array, rule: str, method: str) -> Decomposition:
    mean_score = _RULES[rule]
    score = mean_score(sample, sample.score)
    best = mean_score(sample, recalibrated)
    uncertainty = mean_score(sample, sample.prevalence)
    # Neither difference is below 0, except by rounding.
    return Decomposition(score, max(score - best, 0.0), max(uncertainty - best, 0.0), uncertainty, rule, method)


# Cost of miscalibration


class MiscalibrationCostCurve(Curve):
    """Extra cost of acting on the probabilities instead of recalibrated probabilities (y), by cost proportion (x).

    `rocscope.calibration.miscalibration_cost` computes this curve. The probabilities are recalibrated by isotonic
    regression (PAV). At the cost proportion c, a false positive costs 2c and a false negative costs 2(1 − c), as in
    `brier_curve`. Cases with a probability of at least c are predicted positive. The curve jumps at the values of the
    probabilities. The area under the curve is the miscalibration component of the Brier score.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each probability, reweighted to the target prevalence.

    Examples
    --------
    >>> from rocscope.calibration import miscalibration_cost
    >>> curve = miscalibration_cost([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> curve
    MiscalibrationCostCurve(area=0.06, n=4)
    >>> curve.at(0.2)  # no probability is on the wrong side of 0.2
    0.0
    """

    title = "cost of miscalibration"
    x_name = "cost_proportion"
    y_name = "loss"

    def __init__(self, data: Evidence, target_prevalence: float | None) -> None:
        self.counts: ThresholdCounts = data.counts_at(target_prevalence)
        self._data, self._shift = data, Shift.of(data.outcomes, target_prevalence)
        self._sample = Outcomes.of(self.counts)
        self._fitted = levels.pav_values(self._sample)
        # The curve jumps at the probabilities: two points of one x, before and after.
        at = np.unique(np.concatenate([[0.0, 1.0], self._sample.score, self._fitted]))
        before = _excess_cost(self._sample, self._fitted, at, "left")
        after = _excess_cost(self._sample, self._fitted, at, "right")
        x, y = np.repeat(at, 2), np.column_stack([before, after]).ravel()
        kept = np.append(True, (np.diff(x) > 0) | (np.diff(y) != 0))
        super().__init__(x=x[kept], y=y[kept], threshold=x[kept])

    def at(self, x: Any) -> Any:
        """Return the extra cost per case at a cost proportion from 0 to 1; NaN outside this range.

        Rows whose probability equals the cost proportion are predicted positive.

        Parameters
        ----------
        x : float or array
            Cost proportions.

        Examples
        --------
        At the cost proportion 0.5, the probabilities 0.6 and 0.4 are on the wrong side. Acting on the PAV value 0.5 of
        both avoids one of these two errors in four cases, and an error costs 1:

        >>> from rocscope.calibration import miscalibration_cost
        >>> miscalibration_cost([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]).at([0.2, 0.5])
        array([0.  , 0.25])
        """
        wanted = np.atleast_1d(np.asarray(x, dtype=np.float64))
        cost = _excess_cost(self._sample, self._fitted, wanted, "left")
        cost = np.where((wanted >= 0) & (wanted <= 1), cost, np.nan)
        return cost if np.ndim(x) else float(cost[0])

    def cost(self, context: Context | Campaign | None = None) -> float:
        """Return the extra cost per case for the costs of a context, in units of these costs.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence. By default, each error costs 1.

        Raises
        ------
        InputError
            If a cost differs between rows, or if the context rewards errors.

        Examples
        --------
        Four of the ten cases with probability 0.6 are positive. Predicting them positive makes 6 errors, and predicting
        them negative makes 4 errors. The difference is 2 errors in 20 cases:

        >>> from rocscope import Context, ThresholdCounts
        >>> curve = miscalibration_cost(ThresholdCounts([0.6, 0.2], [4, 2], [6, 8]))
        >>> round(curve.cost(Context()), 12), round(curve.cost(Context(cost_fp=55, cost_fn=45)), 12)
        (0.1, 7.5)
        """
        proportion, scale = _proportion(context)
        return float(self.at(proportion)) * scale

    def interval(
        self,
        context: Context | Campaign | None = None,
        *,
        level: float = 0.95,
        draws: int = DRAWS,
        random_state: Any = 0,
    ) -> Estimate:
        """Return the extra cost per case in a context, with an interval from test inversion; see `cost`.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence. By default, each error costs 1.
        level : float
            Confidence level.
        draws : int
            Number of simulated samples.
        random_state : int, Generator, RandomState or None
            Seed of the simulated samples.

        Examples
        --------
        >>> from rocscope import Context
        >>> from rocscope.calibration import miscalibration_cost
        >>> curve = miscalibration_cost([0, 0, 1, 1] * 25, [0.1, 0.6, 0.4, 0.9] * 25)
        >>> estimate = curve.interval(Context(), draws=50)
        >>> estimate.value == curve.cost(Context()), estimate.low <= estimate.value <= estimate.high
        (True, True)
        """
        options = {"level": level, "draws": draws, "random_state": random_state}
        return miscalibration_cost_at(self._data, self._shift.target, context, **options)

    def confidence_band(
        self, *, level: float = 0.95, draws: int = DRAWS, random_state: Any = 0, points: int = 99
    ) -> Band:
        """Return a pointwise confidence band for the curve of the true cost.

        Parameters
        ----------
        level : float
            Confidence level.
        draws : int
            Number of simulated samples of labels.
        random_state : int, Generator, RandomState or None
            Seed of the simulation.
        points : int
            Number of evenly spaced cost proportions between 0 and 1.

        Notes
        -----
        The cost in a sample is above 0 even for a calibrated model, because of sampling error. The band is therefore
        computed by test inversion. The upper limit always allows for at least one error more than observed.
        """
        at = np.arange(1, points + 1) / (points + 1)
        cost = self.at(at)
        low, high = _cost_limits(self._data, self._shift, at, cost, level, draws, random_state)
        method = f"inverted tests, {draws} draws"
        return Band(at, np.minimum(low, cost), np.maximum(high, cost), level, method, note=self._data.doubt)

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n={number(self.counts.n)}"


def miscalibration_cost_at(
    data: Evidence,
    target_prevalence: float | None,
    context: Context | Campaign | None,
    *,
    level: float,
    draws: int,
    random_state: Any,
    coarse: bool = False,
) -> Estimate:
    """Return the miscalibration cost in a context with its interval, without computing the curve.

    For `coarse`, see `grouped`.
    """
    proportion, scale = _proportion(context)
    at, plain = np.array([proportion]), data.plain.at(target_prevalence)
    cost = _costs_of_labels(plain, Shift(), at)(plain.pos[None])["cost"][0]
    shift = Shift.of(data.outcomes, target_prevalence)
    low, high = _cost_limits(data, shift, at, cost, level, draws, random_state, coarse=coarse)
    value = float(cost[0]) * scale
    low, high = min(float(low[0]) * scale, value), max(float(high[0]) * scale, value)
    return Estimate(value, low, high, level, f"inverted test, {draws} draws", data.counts.n, reason=data.doubt)


def _proportion(context: Context | Campaign | None) -> tuple[float, float]:
    """Return the cost proportion of a context, and the factor that converts costs of the curve to its units."""
    context = Context.given(context)
    harm, miss = float(context.false_alarm_cost), float(context.miss_cost)
    if not (harm >= 0 and miss >= 0 and harm + miss > 0):
        raise InputError("context", expected="costs of errors above costs of correct decisions", got=repr(context))
    return harm / (harm + miss), (harm + miss) / 2


def _cost_limits(
    data: Evidence,
    shift: Shift,
    at: Array,
    cost: Array,
    level: float,
    draws: int,
    random_state: Any,
    *,
    coarse: bool = False,
) -> tuple[Array, Array]:
    """Return confidence limits of the miscalibration cost at the cost proportions `at`."""
    level = check.check_level(level)
    check.check_whole(draws, "draws")
    data.outcomes.require_both_classes(f"an interval of the {MiscalibrationCostCurve.title}")
    sample = grouped(data.outcomes, coarse=coarse)
    curve = shift.of_chance(levels.pav_values(sample))
    of_labels, of_chances = _costs_of_labels(sample, shift, at), _costs_of_chances(sample, shift, at)
    direction = Direction(curve, of_labels, of_chances, reach=("cost",))
    rng = check.check_random_state(random_state)
    along = min(draws, DRAWS_ALONG)
    limits = invert(sample, shift, [direction], level=level, draws=draws, draws_along=along, rng=rng)
    # One more row may be wrong, also where no draw of labels changes the cost.
    one_row = 2 * np.maximum(at, 1 - at) / sample.effective_rows
    return limits.low["cost"], np.maximum(limits.high["cost"], cost + one_row)


def _excess_cost(sample: Outcomes, fitted: Array, at: Array, side: Any) -> Array:
    """Return the extra cost of acting on scores instead of fitted probabilities, at the cost proportions `at`.

    With `side` "left", rows whose score equals the cost proportion are predicted positive; with "right", negative. At
    the cost proportion c, the threshold t costs 2·(c·(negatives at or above t) + (1 − c)·(positives below t))/n.
    """
    missed = np.append(0.0, np.cumsum(sample.pos))
    spared = np.append(0.0, np.cumsum(sample.neg))
    n_neg = sample.neg.sum()

    def loss(first: Array) -> Array:
        return 2 * (at * (n_neg - spared[first]) + (1 - at) * missed[first]) / sample.n

    loss_of_scores = loss(np.searchsorted(sample.score, at, side))
    # The side matters for scores alone: a block whose fitted share is c costs the same whether it is acted on or not.
    least_loss = loss(np.searchsorted(fitted, at, "left"))
    return np.maximum(loss_of_scores - least_loss, 0.0)


def _costs_of_labels(sample: Outcomes, shift: Shift, at: Array) -> Callable[[Array], dict[str, Array]]:
    """Return a function that computes the miscalibration costs for samples of labels.

    Acting on PAV values has the same cost as the cheapest threshold of the scores.
    """

    def statistics(pos: Array) -> dict[str, Array]:
        weighted, rows = shift.of_counts(pos, sample.total)
        rows = np.broadcast_to(rows, weighted.shape)
        first = np.searchsorted(sample.score, at)
        excess = np.empty((len(weighted), at.size))
        if kernels.compiled_pays(weighted.size):
            kernels.samples.excess(weighted, rows, at, first, excess)
        else:
            for point, proportion in enumerate(at):
                costs = (1 - proportion) * weighted - proportion * (rows - weighted)
                costs = np.cumsum(np.pad(costs, ((0, 0), (1, 0))), axis=1)
                excess[:, point] = costs[:, first[point]] - costs.min(axis=1)
        return {"cost": 2 * excess / rows.sum(axis=1, keepdims=True)}

    return statistics


def _costs_of_chances(sample: Outcomes, shift: Shift, at: Array) -> Callable[[Array], dict[str, Array]]:
    """Return a function that computes the miscalibration costs for assumed curves of the true probability."""

    def statistics(chance: Array) -> dict[str, Array]:
        rows = shift.of_counts(shift.in_sample(chance) * sample.total, sample.total)[1]
        rows = np.broadcast_to(rows, chance.shape)
        benefit = chance[..., None] - at
        is_wrong = (sample.score[:, None] >= at) != (benefit >= 0)
        cost = rows[:, None] @ (is_wrong * np.abs(benefit))
        return {"cost": 2 * cost[:, 0] / rows.sum(axis=1, keepdims=True)}

    return statistics


@for_each_model
@contract
def miscalibration_cost(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> MiscalibrationCostCurve:
    """Compute the extra cost of acting on miscalibrated probabilities, for every cost ratio.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. By default, the prevalence of the sample.
    groups : array of n labels, optional
        Group of each row, such as the patient. Rows of the same group are treated as dependent.

    Returns
    -------
    MiscalibrationCostCurve, or Curves for several models
        Extra cost per case by cost proportion.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    net_benefit, recalibrate

    Notes
    -----
    At the cost proportion c, a case is predicted positive if its probability p is at least c. With PAV values in place
    of p, this is the best decision that any threshold on these scores can achieve. The extra cost is the difference
    between the two. The Brier curve is the cost of acting on p as a function of c, and the area under it is the Brier
    score. The area under this curve is the miscalibration component of the Brier score.

    References
    ----------
    Hernández-Orallo, Flach & Ferri 2011, "Brier curves: a new cost-based visualisation of classifier performance",
    ICML; Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.

    Examples
    --------
    >>> from rocscope.calibration import decompose
    >>> label, score = [0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]
    >>> curve = miscalibration_cost(label, score)
    >>> round(curve.area(), 12), round(decompose(label, score).miscalibration, 12)
    (0.1, 0.1)
    """
    data = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    return MiscalibrationCostCurve(data, target_prevalence)


# Tests of calibration


@dataclass(frozen=True)
class CalibrationTest(Result):
    """Result of a test of calibration.

    Attributes
    ----------
    statistic, p_value : float
        Test statistic and p-value. A small p-value is evidence that the model is not calibrated.
    method : str
        Name of the test.
    note : str
        Limitations of the test for these data; empty if there are no limitations.
    """

    statistic: float
    p_value: float
    method: str
    note: str = ""

    def __repr__(self) -> str:
        return f"CalibrationTest(statistic={self.statistic:.6g}, p_value={self.p_value:.4g}, {self.method})"


@contract
def spiegelhalter_test(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> CalibrationTest:
    """Test calibration with Spiegelhalter's two-sided z test, which is based on the Brier score.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters. Weights are treated as sampling weights. Counts in ThresholdCounts are numbers of rows.

    Returns
    -------
    CalibrationTest
        Statistic z and p-value. Both are NaN if every probability is 0, 1/2 or 1.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    hosmer_lemeshow_test, miscalibration_test

    Notes
    -----
    For labels y, probabilities p and weights w, z = Σ w(y − p)(1 − 2p) / √(Σ w²(1 − 2p)² p(1 − p)). For a calibrated
    model, z has a standard normal distribution. With weights or groups, the variance is computed from sums over
    independent units, and the p-value from Student's t distribution. The test can miss errors of opposite sign, because
    they cancel in the sum.

    References
    ----------
    Spiegelhalter 1986, "Probabilistic prediction in patient management and clinical trials", Stat. Med. 5:421–433.

    Examples
    --------
    >>> round(spiegelhalter_test([1, 0, 0, 0, 0], [0.2, 0.2, 0.2, 0.2, 0.2]).statistic, 6)
    0.0
    """
    require_kinds("Spiegelhalter's test", y_true)
    return spiegelhalter(evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


def spiegelhalter(data: Evidence, target_prevalence: float | None = None) -> CalibrationTest:
    """Return Spiegelhalter's test for evidence; with `target_prevalence`, classes are reweighted to it."""
    sample = data.outcomes_at(target_prevalence)
    score, tilt = sample.score, 1 - 2 * sample.score
    excess = float((sample.pos - score * sample.total) @ tilt)
    if data.counted or target_prevalence is not None:
        # With p(1 − p) the variance of a label; Σ w² in place of Σ w for weights.
        squares = sample.total if sample.squares is None else sample.squares
        variance = sample.design_effect * float(squares @ (tilt**2 * score * (1 - score)))
        freedom = inf
    else:
        # Weights may depend on the label, as those for censoring do, so that labels have another variance.
        covariance, freedom = data.covariance_of_sums((tilt * (1 - score))[None], (-tilt * score)[None])
        variance = float(covariance[0, 0])
    z = excess / variance**0.5 if variance > 0 else nan
    p_value = 2 * float(special.ndtr(-abs(z)) if freedom == inf else special.stdtr(freedom, -abs(z)))
    return CalibrationTest(z, p_value, "Spiegelhalter's z", data.doubt)


@contract
def hosmer_lemeshow_test(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    bins: int = 10,
    fitted_on_same_rows: bool = False,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationTest:
    """Test calibration with the Hosmer–Lemeshow test, which compares observed and expected events in bins.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters. Weights are treated as sampling weights. Counts in ThresholdCounts are numbers of rows.
    bins : int
        Number of bins with about equal numbers of rows. Tied probabilities are in the same bin, so there may be fewer
        bins.
    fitted_on_same_rows : bool
        Pass True if the model was fitted to these rows. The degrees of freedom are then reduced by two.

    Returns
    -------
    CalibrationTest
        Statistic χ² and p-value.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If the weights are estimated, for example for censoring. The variance of such weights depends on the label.

    See Also
    --------
    spiegelhalter_test, miscalibration_test

    Notes
    -----
    χ² = Σ (events − expected)² / (expected (1 − expected/rows)), summed over bins, with one degree of freedom per bin.
    With weights w, the number of rows in a bin is the effective number (Σw)²/Σw².

    The result depends on the bins. The test has little power in small samples and rejects negligible errors in large
    samples. It does not show the kind of miscalibration. Use this test only for comparison with published results, and
    `miscalibration_test` for all other purposes.

    References
    ----------
    Hosmer & Lemeshow 1980, Commun. Stat. Theory Methods 9:1043–1069. On its weaknesses: Hosmer, Hosmer, le Cessie &
    Lemeshow 1997, Stat. Med. 16:965–980.

    Examples
    --------
    >>> hosmer_lemeshow_test([0, 1, 0, 1], [0.25, 0.25, 0.5, 0.5], bins=2)
    CalibrationTest(statistic=0.666667, p_value=0.7165, Hosmer–Lemeshow, 2 bins)
    """
    require_kinds("Hosmer–Lemeshow test", y_true)
    data = evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = data.outcomes
    cells = binned(sample, bins=bins, strategy="quantile")
    total, mean_score, share = cells.filled()
    rows = cells.effective[cells.total > 0]
    excess, variance = rows * (share - mean_score), rows * mean_score * (1 - mean_score)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = float(np.where(excess == 0, 0.0, excess**2 / variance).sum())
    freedom = total.size - 2 * fitted_on_same_rows
    p_value = float(special.chdtrc(freedom, statistic)) if freedom > 0 else nan
    note = joined(
        "depends on the bins, misses errors in small samples, and rejects negligible errors in large samples",
        data.doubt,
    )
    return CalibrationTest(statistic, p_value, f"Hosmer–Lemeshow, {total.size} bins", note)


@contract
def miscalibration_test(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    draws: int = DRAWS,
    random_state: Any = 0,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationTest:
    """Test calibration by simulation, with the miscalibration component of the Brier score (CORP) as the statistic.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters. Weights are treated as sampling weights. Counts in ThresholdCounts are numbers of rows.
    draws : int
        Number of simulated samples of labels.
    random_state : int, Generator, RandomState or None
        Seed of the simulation.
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. By default, the prevalence of the sample.
    groups : array of n labels, optional
        Group of each row, such as the patient. Rows of the same group are treated as dependent.

    Returns
    -------
    CalibrationTest
        Miscalibration component and p-value.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If the weights are estimated, for example for censoring. Simulated labels do not include the uncertainty of such
        weights.

    See Also
    --------
    spiegelhalter_test, calibration_error

    Notes
    -----
    Labels are simulated from the probabilities. The p-value is the share of simulated samples whose miscalibration is
    at least the observed one. The level of the test is therefore exact for any sample size. With weights, groups or a
    target prevalence, the test is only valid in large samples.

    The test detects every kind of miscalibration that keeps the order of the scores. If there are more than 640
    distinct probabilities, neighbouring probabilities are grouped in the data and in the simulation. The interval of
    the miscalibration in `calibration_report` uses the same simulation. It excludes 0 if and only if this test rejects.

    References
    ----------
    Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.

    Examples
    --------
    >>> miscalibration_test([0, 1] * 50, [0.1, 0.2] * 50).p_value
    0.001
    """
    require_kinds("the test of calibration", y_true)
    data = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    return replace(drawn_test(data.outcomes, target_prevalence, draws, random_state), note=data.doubt)


def drawn_test(
    outcomes: Outcomes, target_prevalence: float | None = None, draws: int = DRAWS, random_state: Any = 0
) -> CalibrationTest:
    """Return the test of calibration with simulated labels; see `miscalibration_test`."""
    sample = grouped(outcomes)
    rng = check.check_random_state(random_state)
    shift = Shift.of(outcomes, target_prevalence)
    drawn = sample.draw(shift.in_sample(sample.score), check.check_whole(draws, "draws"), rng)
    observed = float(miscalibration(sample, sample.pos[None], shift)[0])
    above = int((miscalibration(sample, drawn, shift) >= observed - _ROUNDING).sum())
    return CalibrationTest(observed, (1 + above) / (1 + draws), f"CORP miscalibration, {draws} draws")
