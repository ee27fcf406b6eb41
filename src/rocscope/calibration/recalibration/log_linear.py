"""Recalibration by logistic regression on functions of the score: Platt, beta, temperature and shift."""

from itertools import combinations
from typing import ClassVar

import numpy as np
from scipy import special

from rocscope._stored import Fields
from rocscope._types import Array
from rocscope.calibration.logistic import fit_logistic, log_likelihood
from rocscope.calibration.outcomes import Outcomes, outcomes
from rocscope.calibration.recalibration.base import Recalibrator
from rocscope.core.counts import ThresholdCounts
from rocscope.errors import InputError

_STEEPEST = 1e100
_CLIP = float(np.finfo(np.float64).eps)


class _LogLinearRecalibrator(Recalibrator):
    """Log-odds as intercept + slopes · columns(score) + offset(score), with slopes that never fall below 0."""

    is_strict: ClassVar[bool] = True
    has_intercept: ClassVar[bool] = True
    _state = ("slopes_", "intercept_")

    slopes_: Array
    intercept_: float

    def _columns(self, score: Array) -> list[Array]:
        raise NotImplementedError

    def _offset(self, score: Array) -> Array:
        return np.zeros_like(score)

    def _fit(self, counts: ThresholdCounts) -> None:
        sample = outcomes(counts)
        if self._columns(sample.score) and _is_separated(sample):
            raise InputError(
                f"{self.method} recalibration: the scores separate the classes",
                expected="some overlap",
                hint="take method='platt', whose targets are smoothed, or 'isotonic'",
            )
        self.slopes_, self.intercept_ = self._best(sample)

    def _best(self, sample: Outcomes) -> tuple[Array, float]:
        """Fit every choice of slopes that are not held at 0, and take the likeliest that has none below 0."""
        columns, offset = self._columns(sample.score), self._offset(sample.score)
        one = [np.ones_like(sample.score)] if self.has_intercept else []
        best, slopes, intercept = -np.inf, np.zeros(len(columns)), 0.0
        for free in _choices(len(columns)):
            if len(free) < np.count_nonzero(slopes):
                break  # fewer free slopes cannot be likelier
            chosen = [columns[i] for i in free] + one
            if not chosen:
                continue  # log-odds of 0 for all: the start
            fit = fit_logistic(chosen, sample.pos, sample.total, offset=offset).coefficients
            likelihood = log_likelihood(fit, chosen, sample.pos, sample.total, offset)
            if likelihood > best and (fit[: len(free)] >= 0).all():
                best, slopes = likelihood, np.zeros(len(columns))
                slopes[list(free)] = fit[: len(free)]
                intercept = float(fit[-1]) if one else 0.0
        return slopes, intercept

    def _restore(self, state: Fields) -> None:
        size = len(self._columns(np.empty(0)))
        self.slopes_ = state.column("slopes_", 0, _STEEPEST, size=size)
        self.intercept_ = state.number("intercept_", -_STEEPEST, _STEEPEST)

    def _map(self, scores: Array) -> Array:
        linear = self._offset(scores) + self.intercept_
        for slope, column in zip(self.slopes_, self._columns(scores), strict=True):
            linear = linear + slope * column
        return special.expit(linear)


class PlattRecalibrator(Recalibrator):
    """Platt's sigmoid, 1/(1 + exp(−(intercept + slope·score))), for scores of any range.

    Notes
    -----
    Labels become (P + 1)/(P + 2) and 1/(N + 2), Platt's correction for the prior, so that the fit is finite even
    where scores separate the classes. A slope below 0 says that the scores rank the wrong way; it is kept.

    References
    ----------
    Platt 1999, "Probabilistic outputs for support vector machines", in Advances in Large Margin Classifiers.

    Examples
    --------
    >>> platt = PlattRecalibrator().fit([-2, -1, 0, 1, 2, 3], [0, 0, 1, 0, 1, 1])
    >>> platt.predict([-2, 0, 3]).round(3)
    array([0.208, 0.433, 0.792])
    """

    method = "platt"
    is_strict = True
    _state = ("slope_", "intercept_")

    slope_: float
    intercept_: float

    def _fit(self, counts: ThresholdCounts) -> None:
        sample = Outcomes.of(counts)
        high, low = (counts.n_pos + 1) / (counts.n_pos + 2), 1 / (counts.n_neg + 2)
        target = sample.pos * high + sample.neg * low
        centre, width = sample.score.mean(), max(float(np.ptp(sample.score)), np.finfo(float).tiny)
        columns = [(sample.score - centre) / width, np.ones_like(sample.score)]
        slope, intercept = fit_logistic(columns, target, sample.total).coefficients
        self.slope_ = float(slope / width)
        self.intercept_ = float(intercept - self.slope_ * centre)

    def _restore(self, state: Fields) -> None:
        self.slope_, self.intercept_ = state.number("slope_"), state.number("intercept_")

    def _map(self, scores: Array) -> Array:
        with np.errstate(over="ignore"):  # beyond all numbers lies certainty
            return special.expit(self.intercept_ + self.slope_ * scores)


class BetaRecalibrator(_LogLinearRecalibrator):
    """Beta calibration: log-odds a·log p − b·log(1 − p) + c with a, b ≥ 0, for probabilities.

    Right where the scores of each class follow a beta distribution; Platt on log-odds where a = b, and the identity
    where a = b = 1 and c = 0, so that what is calibrated stays so.

    Notes
    -----
    `slopes_` are a and b, `intercept_` is c. Probabilities of 0 and 1 are taken 2·10⁻¹⁶ within.

    References
    ----------
    Kull, Silva Filho & Flach 2017, "Beta calibration: a well-founded and easily implemented improvement on logistic
    calibration for binary classifiers", AISTATS.

    Examples
    --------
    >>> beta = BetaRecalibrator().fit([0.1, 0.2, 0.3, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
    >>> beta.predict([0.1, 0.5, 0.9]).round(3)
    array([0.098, 0.554, 0.939])
    """

    method = "beta"

    def _columns(self, score: Array) -> list[Array]:
        inside = score.clip(_CLIP, 1 - _CLIP)
        return [np.log(inside), -np.log1p(-inside)]


class TemperatureRecalibrator(_LogLinearRecalibrator):
    """Temperature: log-odds divided by one number, for probabilities that are too extreme or too timid.

    Notes
    -----
    `slopes_` holds 1/T; at most infinite T, for scores that rank the wrong way. A probability of 1/2 stays.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017, "On calibration of modern neural networks", ICML.

    Examples
    --------
    >>> temperature = TemperatureRecalibrator().fit([0.1, 0.9, 0.9, 0.1], [1, 1, 0, 0])
    >>> temperature.predict([0.1, 0.9]).round(3)
    array([0.5, 0.5])
    """

    method = "temperature"
    has_intercept = False

    def _columns(self, score: Array) -> list[Array]:
        return [special.logit(score.clip(_CLIP, 1 - _CLIP))]


class ShiftRecalibrator(_LogLinearRecalibrator):
    """Shift of the log-odds by one number, so that as many events are predicted as happened.

    Recalibration in the large; the right correction where only the prevalence has changed.

    Examples
    --------
    >>> shift = ShiftRecalibrator().fit([0.5, 0.5, 0.5, 0.5], [0, 0, 0, 1])
    >>> shift.predict([0.5, 0.9]).round(3)
    array([0.25, 0.75])
    """

    method = "shift"

    def _columns(self, score: Array) -> list[Array]:  # noqa: ARG002 (it has none)
        return []

    def _offset(self, score: Array) -> Array:
        return special.logit(score.clip(_CLIP, 1 - _CLIP))


def _choices(size: int) -> list[tuple[int, ...]]:
    """Return all choices among so many slopes, those of more first."""
    return [free for number in range(size, -1, -1) for free in combinations(range(size), number)]


def _is_separated(sample: Outcomes) -> bool:
    """Whether no negative has a higher score than any positive, and not all scores are equal."""
    lowest, highest = np.flatnonzero(sample.pos)[0], np.flatnonzero(sample.neg)[-1]
    return bool(lowest >= highest and sample.score.size > 1)
