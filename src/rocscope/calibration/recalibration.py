"""Recalibrators, which convert scores to calibrated probabilities. They can be cross-fitted and saved as JSON.

- Logistic methods: Platt's sigmoid, beta calibration, temperature scaling and a shift of the log-odds. Except for
  Platt's sigmoid, the log-odds are a linear function with non-negative slopes.
- Other methods: isotonic regression, a logistic spline, histogram binning and Venn–Abers prediction.

`Recalibrator` is the base class. It has scikit-learn's interface, and methods to adjust the prevalence and to save the
recalibrator. A subclass lists its fitted attributes in `_state` and implements `_fit`, `_map` and `_restore`.
`recalibrate` fits one recalibrator per model with cross-fitting.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.atomic_write import JSON, write_file
from rocscope._base.contract import contract, held_to_contract
from rocscope._base.json_format import Fields, Format
from rocscope.calibration import regression
from rocscope.calibration.outcomes import Outcomes, binned, outcomes, pav_blocks
from rocscope.core import Predictions, Result, ThresholdCounts, independent_units, number, require_kinds
from rocscope.errors import InputError
from rocscope.figures.logistic import fit_logistic, log_likelihood
from rocscope.protocols.splitters import Split, SplitRows, splits_testing_once
from rocscope.sample import rows_of

FORMAT = Format("rocscope.recalibrator", 1, "a recalibrator", "make one by Recalibrator.save or `rocscope calibrate`")

# Limits of saved numbers, so that their logits and exponentials are finite: of a prevalence and of a shift.
_LEAST_PREVALENCE = 1e-300
_MOST_PREVALENCE = 1 - 1e-16
_LARGEST_SHIFT = 2000.0


@held_to_contract
class Recalibrator(BaseEstimator):
    """Base class of recalibrators, which convert one-dimensional scores to probabilities.

    Attributes
    ----------
    prevalence_ : float
        Share of positives in the training rows.
    shift_ : float
        Constant that is added to the log-odds. `adjust_to` sets it for another prevalence; otherwise it is 0.
    """

    method: ClassVar[str]
    is_strict: ClassVar[bool] = False
    """True if distinct scores always have distinct probabilities. ROC curves and lift charts then do not change."""

    _state: ClassVar[tuple[str, ...]]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803 (scikit-learn's name)
        """Fit the recalibrator to scores X of shape (n,) or (n, 1) and labels y (0/1, -1/1 or False/True).

        Parameters
        ----------
        X : array of n scores
            Scores, of shape (n,) or (n, 1).
        y : array of n labels
            Labels of two classes.
        sample_weight : array of n weights, optional
            Weights of the rows.

        Raises
        ------
        ShapeError
            If the arrays have different lengths.
        LabelError, ScoreError, WeightError
            If a label, a score or a weight is invalid.
        OneClassError
            If one class is missing.

        Examples
        --------
        The labels of the scores 2 and 3 are in the wrong order, so both scores get the mean of these labels:

        >>> from rocscope.calibration.recalibration import IsotonicRecalibrator
        >>> IsotonicRecalibrator().fit([1, 2, 3, 4], [0, 1, 0, 1]).predict([1, 2, 3, 4])
        array([0. , 0.5, 0.5, 1. ])
        """
        return self.fit_counts(ThresholdCounts.from_scores(y, X, sample_weight=sample_weight))

    def fit_counts(self, counts: ThresholdCounts) -> Self:
        """Fit the recalibrator to the numbers of positives and negatives at each score.

        Parameters
        ----------
        counts : ThresholdCounts
            Numbers of positives and negatives at each score.

        Examples
        --------
        >>> from rocscope.calibration.recalibration import IsotonicRecalibrator
        >>> counts = ThresholdCounts([0.8, 0.2], [3, 1], [1, 3])
        >>> IsotonicRecalibrator().fit_counts(counts).predict([0.2, 0.8])
        array([0.25, 0.75])
        """
        counts.require_both_classes("recalibration")
        self._fit(counts)
        self.prevalence_, self.shift_ = counts.prevalence, 0.0
        return self

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Return the calibrated probability for each score.

        Parameters
        ----------
        X : array of n scores
            Scores, of shape (n,) or (n, 1).

        Examples
        --------
        >>> from rocscope.calibration.recalibration import HistogramRecalibrator
        >>> HistogramRecalibrator(bins=2).fit([1, 2, 3, 4], [0, 1, 1, 1]).predict([1.5, 4])
        array([0.5, 1. ])
        """
        return self._shifted(self._map(self._scores(X)))

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        """Return an array of n × 2 with the probabilities of the negative class and of the positive class.

        Parameters
        ----------
        X : array of n scores
            Scores, of shape (n,) or (n, 1).

        Examples
        --------
        >>> from rocscope.calibration.recalibration import HistogramRecalibrator
        >>> HistogramRecalibrator(bins=2).fit([1, 2, 3, 4], [0, 0, 0, 1]).predict_proba([1.5, 4])
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        positive = self.predict(X)
        return np.column_stack([1 - positive, positive])

    def adjust_to(self, target_prevalence: float) -> Self:
        """Return a copy of the recalibrator whose probabilities are adjusted to another prevalence.

        Parameters
        ----------
        target_prevalence : float
            Share of positives, between 0 and 1.

        Raises
        ------
        InputError
            If the target prevalence is not between 0 and 1.

        Notes
        -----
        The odds of each probability are multiplied by the odds of the target prevalence, divided by the odds of the
        training prevalence (Saerens, Latinne & Decaestecker 2002). This is correct if the distribution of the scores
        within each class does not change.

        Examples
        --------
        >>> from rocscope.calibration.recalibration import IsotonicRecalibrator
        >>> even = IsotonicRecalibrator().fit([1, 2, 3, 4], [0, 1, 0, 1])
        >>> even.predict([2, 3]), even.adjust_to(0.1).predict([2, 3])
        (array([0.5, 0.5]), array([0.1, 0.1]))
        """
        check.check_share(target_prevalence, "target_prevalence")
        self._require_fit()
        other = copy(self)
        odds = target_prevalence / (1 - target_prevalence)
        odds_of_fit = self.prevalence_ / (1 - self.prevalence_)
        other.shift_ = math.log(odds / odds_of_fit)
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return the method, the parameters and the fitted state as a dict for JSON.

        Examples
        --------
        >>> from rocscope.calibration import recalibrator
        >>> content = recalibrator("isotonic").fit([1, 2, 3, 4], [0, 1, 0, 1]).to_dict()
        >>> content["method"], content["state"]["prevalence_"]
        ('isotonic', 0.5)
        """
        self._require_fit()
        state = {name: np.asarray(getattr(self, name)).tolist() for name in ("prevalence_", "shift_", *self._state)}
        return {"method": self.method, "parameters": self.get_params(), "state": state}

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Save the recalibrator as a JSON file. Load it with `rocscope.calibration.load_recalibrator`.

        If `force` is True, an existing file is overwritten.

        Parameters
        ----------
        path : str or path
            Name of the file.
        force : bool
            If True, replace an existing file.

        Raises
        ------
        InputError
            If the file cannot be written. If the file exists and `force` is False.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from rocscope.calibration import load_recalibrator, recalibrator
        >>> fitted = recalibrator("isotonic").fit([1, 2, 3, 4], [0, 1, 0, 1])
        >>> with TemporaryDirectory() as folder:
        ...     load_recalibrator(fitted.save(f"{folder}/fitted.json")).predict([2, 3])
        array([0.5, 0.5])
        """
        return write_file(path, FORMAT.text(self.to_dict()), force=force, endings=JSON)

    def restore(self, state: Fields) -> Self:
        """Set the fitted attributes. `state` is the entry "state" in the dict that `to_dict` returns."""
        self.prevalence_ = state.number("prevalence_", _LEAST_PREVALENCE, _MOST_PREVALENCE)
        self.shift_ = state.number("shift_", -_LARGEST_SHIFT, _LARGEST_SHIFT)
        self._restore(state)
        return self

    def _restore(self, state: Fields) -> None:
        """Check and set the fitted attributes that are listed in `_state`."""
        raise NotImplementedError

    def _fit(self, counts: ThresholdCounts) -> None:
        raise NotImplementedError

    def _map(self, scores: Array) -> Array:
        raise NotImplementedError

    def _scores(self, values: Any) -> Array:
        self._require_fit()
        return check.check_scores(values, name="X").astype(np.float64)

    def _shifted(self, chance: Array) -> Array:
        return chance if self.shift_ == 0 else special.expit(special.logit(chance) + self.shift_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "prevalence_")

    def _require_fit(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} is not fitted; first call fit with scores and labels")


# Logistic maps

_STEEPEST = 1e100  # coefficients whose products with logits do not overflow
_CLIP = float(np.finfo(np.float64).eps)  # distance from 0 and 1 at which the logit is taken


class _LogLinearRecalibrator(Recalibrator):
    """Base class for log-odds of the form intercept + slopes · columns(score) + offset(score), with slopes ≥ 0."""

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
                f"{self.method} recalibration",
                expected="classes with overlapping scores",
                got="scores that separate the classes perfectly",
                hint="use method='platt' or 'isotonic'",
            )
        self.slopes_, self.intercept_ = self._best(sample)

    def _best(self, sample: Outcomes) -> tuple[Array, float]:
        """Return the slopes and the intercept with the largest likelihood among those with non-negative slopes.

        Each subset of slopes is fitted, and the slopes outside the subset are 0.
        """
        columns, offset = self._columns(sample.score), self._offset(sample.score)
        intercept_column = [np.ones_like(sample.score)] if self.has_intercept else []
        best, slopes, intercept = -np.inf, np.zeros(len(columns)), 0.0
        for free in _subsets(len(columns)):
            if len(free) < np.count_nonzero(slopes):
                break  # fewer free slopes cannot be likelier
            chosen = [columns[i] for i in free] + intercept_column
            if not chosen:
                continue  # log-odds of 0 for all: the start
            fit = fit_logistic(chosen, sample.pos, sample.total, offset=offset).coefficients
            likelihood = log_likelihood(fit, chosen, sample.pos, sample.total, offset)
            if likelihood > best and (fit[: len(free)] >= 0).all():
                best, slopes = likelihood, np.zeros(len(columns))
                slopes[list(free)] = fit[: len(free)]
                intercept = float(fit[-1]) if self.has_intercept else 0.0
        return slopes, intercept

    def _restore(self, state: Fields) -> None:
        size = len(self._columns(np.empty(0)))
        self.slopes_ = state.column("slopes_", 0, _STEEPEST, size=size)
        self.intercept_ = state.number("intercept_", -_STEEPEST, _STEEPEST)

    def _map(self, scores: Array) -> Array:
        scores = check.check_probabilities(scores, "X")
        linear = self._offset(scores) + self.intercept_
        for slope, column in zip(self.slopes_, self._columns(scores), strict=True):
            linear = linear + slope * column
        return special.expit(linear)


class PlattRecalibrator(Recalibrator):
    """Platt scaling: probability 1/(1 + exp(−(intercept + slope·score))), for scores of any range.

    Notes
    -----
    For P positives and N negatives, Platt's correction replaces the labels 1 and 0 by (P + 1)/(P + 2) and 1/(N + 2).
    The fit is therefore finite even if the scores separate the classes. The slope may be negative. Lower scores then
    have higher probabilities.

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
        high = (counts.n_pos + 1) / (counts.n_pos + 2)
        low = 1 / (counts.n_neg + 2)
        target = sample.pos * high + sample.neg * low
        # Scores of any range are centred and scaled for Newton's method.
        centre = sample.score.mean()
        width = max(float(np.ptp(sample.score)), np.finfo(float).tiny)
        columns = [(sample.score - centre) / width, np.ones_like(sample.score)]
        slope, intercept = fit_logistic(columns, target, sample.total).coefficients
        self.slope_ = float(slope / width)
        self.intercept_ = float(intercept - self.slope_ * centre)

    def _restore(self, state: Fields) -> None:
        self.slope_, self.intercept_ = state.number("slope_"), state.number("intercept_")

    def _map(self, scores: Array) -> Array:
        with np.errstate(over="ignore"):  # infinite log-odds are a probability of 0 or 1
            return special.expit(self.intercept_ + self.slope_ * scores)


class BetaRecalibrator(_LogLinearRecalibrator):
    """Beta calibration: the log-odds are a·log p − b·log(1 − p) + c with a, b ≥ 0, for scores p that are probabilities.

    This form is exact if the scores of each class have a beta distribution. With a = b, it is Platt scaling of the
    log-odds. With a = b = 1 and c = 0, it does not change the probabilities.

    Notes
    -----
    The attribute `slopes_` contains a and b, and `intercept_` is c. Probabilities of 0 and 1 are changed by 2·10⁻¹⁶,
    because their logarithms must be finite.

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
    """Temperature scaling: the log-odds are divided by a temperature T > 0.

    Use it for probabilities that are too close to 0 and 1, or too far from them.

    Notes
    -----
    The attribute `slopes_` contains 1/T. It is 0 if positives have lower scores than negatives on average. A
    probability of 1/2 does not change.

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
    """Recalibration in the large: a constant is added to the log-odds.

    After the shift, the expected number of positives equals the observed number. Use this method if nothing but the
    prevalence has changed.

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


def _subsets(size: int) -> Iterator[tuple[int, ...]]:
    """Yield all subsets of the numbers 0 to size − 1, larger subsets first."""
    for free in range(size, -1, -1):
        yield from combinations(range(size), free)


def _is_separated(sample: Outcomes) -> bool:
    """Return True if every positive has at least the score of every negative, and the scores are not all equal."""
    lowest, highest = np.flatnonzero(sample.pos)[0], np.flatnonzero(sample.neg)[-1]
    return bool(lowest >= highest and sample.score.size > 1)


# Shares of positives


class IsotonicRecalibrator(Recalibrator):
    """Isotonic regression (PAV): the best-fitting non-decreasing function, for scores of any range.

    Notes
    -----
    The fitted function is constant within blocks of neighbouring scores and linear between blocks, as in scikit-learn.
    On the training rows, the ROC curve of the probabilities is the convex hull of the ROC curve of the scores.

    References
    ----------
    Zadrozny & Elkan 2002, "Transforming classifier scores into accurate multiclass probability estimates", KDD.

    Examples
    --------
    >>> IsotonicRecalibrator().fit([1, 2, 3, 4], [0, 1, 0, 1]).predict([0, 1.5, 3, 9])
    array([0.  , 0.25, 0.5 , 1.  ])
    """

    method = "isotonic"
    _state = ("score_", "chance_")

    score_: Array
    chance_: Array

    def _fit(self, counts: ThresholdCounts) -> None:
        self.score_, self.chance_ = pav_blocks(counts).corners

    def _restore(self, state: Fields) -> None:
        self.score_ = state.column("score_", order="rising")
        self.chance_ = state.column("chance_", 0, 1, size=self.score_.size, order="not falling")
        if not self.score_.size:
            state.refuse("score_", "at least one number")

    def _map(self, scores: Array) -> Array:
        return np.interp(scores, self.score_, self.chance_)


class SplineRecalibrator(Recalibrator):
    """Logistic regression on a restricted cubic spline of the score.

    If all scores are probabilities, the spline is a function of their log-odds.

    Parameters
    ----------
    knots : int
        Number of knots, from 3 to 7. The knots are at Harrell's quantiles of the scores. The log-odds are linear
        outside the outer knots.

    Notes
    -----
    Sums of the probabilities over new rows are nearly unbiased. Sums of probabilities from isotonic regression are
    biased, because isotonic regression corresponds to the convex hull of the ROC curve, which lies above the curve.

    References
    ----------
    Harrell 2015, Regression Modeling Strategies, 2nd ed., §2.4.5.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> score = rng.normal(size=5000)
    >>> spline = SplineRecalibrator().fit(score, rng.random(5000) < special.expit(score**2 - 1))
    >>> spline.predict([-1, 0, 1]).round(1)
    array([0.5, 0.3, 0.5])
    """

    method = "spline"
    _state = ("logit_", "span_", "knot_", "coefficient_")

    logit_: int
    span_: Array
    knot_: Array
    coefficient_: Array

    def __init__(self, knots: int = 5) -> None:
        self.knots = knots

    def _fit(self, counts: ThresholdCounts) -> None:
        sample = Outcomes.of(counts)
        self.logit_ = int(sample.score[0] >= 0 and sample.score[-1] <= 1)
        levels = self._levels(sample.score)
        self.span_, self.knot_ = levels[[0, -1]], regression.knots_of(sample, levels, self.knots)
        columns = list(self._columns(levels))
        ridge = regression.RIDGE * sample.n
        start = getattr(self, "coefficient_", None)  # of a fit to similar rows, such as those that replicates draw from
        if start is not None and start.size != len(columns):
            start = None
        self.coefficient_ = fit_logistic(columns, sample.pos, sample.total, ridge=ridge, start=start).coefficients

    def _restore(self, state: Fields) -> None:
        self.logit_ = int(state.number("logit_", 0, 1))
        self.span_ = state.column("span_", size=2, order="not falling")
        self.knot_ = state.column("knot_", order="rising")
        if self.knot_.size in (1, 2):
            state.refuse("knot_", "at least 3 knots, or none")
        size = len(self._columns(self.span_))
        self.coefficient_ = state.column("coefficient_", -_STEEPEST, _STEEPEST, size=size)

    def _levels(self, score: Array) -> Array:
        return regression.clipped_logit(score) if self.logit_ else score

    def _columns(self, levels: Array) -> Array:
        return regression.spline_columns(levels, self.knot_, self.span_)

    def _map(self, scores: Array) -> Array:
        return special.expit(self.coefficient_ @ self._columns(self._levels(scores)))


class HistogramRecalibrator(Recalibrator):
    """Histogram binning: the probability of a score is the share of positives in its bin, for scores of any range.

    Parameters
    ----------
    bins : int
        Number of bins, which have about equal numbers of rows. Tied scores are in the same bin, so there may be fewer
        bins.

    Notes
    -----
    The share of positives may decrease from one bin to the next. The order of the cases can therefore change.

    References
    ----------
    Zadrozny & Elkan 2001, "Obtaining calibrated probability estimates from decision trees and naive Bayesian
    classifiers", ICML.

    Examples
    --------
    >>> HistogramRecalibrator(bins=2).fit([1, 2, 3, 4], [0, 1, 1, 1]).predict([1, 2.5, 3])
    array([0.5, 0.5, 1. ])
    """

    method = "histogram"
    _state = ("edge_", "chance_")

    edge_: Array
    chance_: Array

    def __init__(self, bins: int = 10) -> None:
        self.bins = bins

    def _fit(self, counts: ThresholdCounts) -> None:
        cells = binned(Outcomes.of(counts), bins=self.bins, strategy="quantile")
        self.edge_, self.chance_ = cells.edges[1:-1], cells.share

    def _restore(self, state: Fields) -> None:
        self.edge_ = state.column("edge_", order="not falling")
        self.chance_ = state.column("chance_", 0, 1, size=self.edge_.size + 1)

    def _map(self, scores: Array) -> Array:
        return self.chance_[np.searchsorted(self.edge_, scores, side="right")]


class VennAbersRecalibrator(Recalibrator):
    """Venn–Abers prediction: isotonic regression that gives two probabilities, p0 and p1, for each score.

    Notes
    -----
    A new row is added to the training rows of an isotonic regression twice. As a negative, it gets the probability p0.
    As a positive, it gets the probability p1. If rows are exchangeable, the probability for the true label is perfectly
    calibrated. The method `predict_interval` returns p0 and p1. The method `predict` returns p1/(1 − p0 + p1), which
    minimises the regret in log loss.

    References
    ----------
    Vovk & Petej 2014, "Venn–Abers predictors", UAI. Vovk, Petej & Fedorova 2015, "Large-scale probabilistic
    predictors with and without guarantees of validity", NeurIPS.

    Examples
    --------
    >>> venn = VennAbersRecalibrator().fit([1, 2, 3, 4], [0, 0, 1, 1])
    >>> venn.predict_interval([1, 4])
    (array([0.        , 0.66666667]), array([0.33333333, 1.        ]))
    >>> venn.predict([1, 4])
    array([0.25, 0.75])
    """

    method = "venn-abers"
    _state = ("score_", "low_", "high_")

    score_: Array
    low_: Array
    high_: Array

    def _fit(self, counts: ThresholdCounts) -> None:
        self.score_ = counts.threshold[::-1].astype(np.float64)
        pos, total = counts.pos[::-1], (counts.pos + counts.neg)[::-1]
        size = self.score_.size
        self.low_, self.high_ = np.empty(size), np.empty(size)
        # For few levels, loading the compiled kernel takes longer than the loop in Python.
        pool = kernels.ranks.venn_abers.python if size < kernels.SMALL else kernels.ranks.venn_abers
        pool(pos, total, self.low_, self.high_)

    def _restore(self, state: Fields) -> None:
        self.score_ = state.column("score_", order="not falling")
        size = self.score_.size
        self.low_ = state.column("low_", 0, 1, size=size, order="not falling")
        self.high_ = state.column("high_", 0, 1, size=size, order="not falling")
        if not (size and (self.low_ <= self.high_ + 1e-12).all()):
            state.refuse("low_", "probabilities that are not above those of high_")

    def predict_interval(self, X: Any) -> tuple[Array, Array]:  # noqa: N803
        """Return two probabilities for each score, as two arrays.

        The first is the probability if the score is added to the fit as a negative, and the second as a positive.

        Parameters
        ----------
        X : array of n scores
            Scores, of shape (n,) or (n, 1).

        Examples
        --------
        If the score 4 is added as a negative, two of the three highest scores are positive:

        >>> low, high = VennAbersRecalibrator().fit([1, 2, 3, 4], [0, 0, 1, 1]).predict_interval([4])
        >>> low.round(4), high
        (array([0.6667]), array([1.]))
        """
        low, high = self._pair(self._scores(X))
        return self._shifted(low), self._shifted(high)

    def _pair(self, scores: Array) -> tuple[Array, Array]:
        # A negative between two levels pools with the lower one, a positive with the upper one.
        below = np.searchsorted(self.score_, scores, side="right") - 1
        above = np.searchsorted(self.score_, scores, side="left")
        low = np.where(below >= 0, self.low_[below], 0.0)
        return low, np.append(self.high_, 1.0)[above]

    def _map(self, scores: Array) -> Array:
        low, high = self._pair(scores)
        return high / (1 - low + high)


# Cross-fitting and files

Method = Literal["platt", "isotonic", "beta", "temperature", "shift", "spline", "histogram", "venn-abers"]

RECALIBRATORS: dict[str, type[Recalibrator]] = {
    "platt": PlattRecalibrator,
    "isotonic": IsotonicRecalibrator,
    "beta": BetaRecalibrator,
    "temperature": TemperatureRecalibrator,
    "shift": ShiftRecalibrator,
    "spline": SplineRecalibrator,
    "histogram": HistogramRecalibrator,
    "venn-abers": VennAbersRecalibrator,
}
"""Class of the recalibrator for each method name."""


@dataclass(frozen=True, eq=False, repr=False)
class Recalibrated(Result):
    """Recalibrated probabilities, and recalibrators for new data.

    Attributes
    ----------
    predictions : Predictions
        Input predictions in which the scores are replaced by recalibrated probabilities.
    recalibrators : dict from model name to Recalibrator
        Recalibrator of each model, fitted to all rows. Use it for new data.
    method : str
        Recalibration method.
    out_of_sample : bool
        True if the recalibrator of each row was fitted to other folds. False if it was fitted to the same rows.
    """

    _content = ("method", "note", "recalibrators")

    predictions: Predictions
    recalibrators: Mapping[str, Recalibrator]
    method: str
    out_of_sample: bool

    @property
    def note(self) -> str:
        """Note on the use of these probabilities in an evaluation."""
        if self.out_of_sample:
            return "the recalibrator of each row was fitted to the other folds"
        return "the recalibrator was fitted to the same rows, so calibration looks better than on new rows"

    def __repr__(self) -> str:
        where = "out of sample" if self.out_of_sample else "fitted and applied to the same rows"
        return f"Recalibrated({self.method}, {where}, n={number(self.predictions.n)}, models={self.predictions.models})"


@contract
def recalibrator(method: Method, **parameters: Any) -> Recalibrator:
    """Return an unfitted recalibrator, which converts scores to calibrated probabilities.

    Parameters
    ----------
    method : {"beta", "platt", "isotonic", "temperature", "shift", "spline", "histogram", "venn-abers"}
        Recalibration method.
    **parameters
        Parameters of the method, such as ``bins`` of "histogram".

    Returns
    -------
    Recalibrator
        Recalibrator with scikit-learn's interface (`fit`, `predict_proba`) for one-dimensional scores. It also has the
        methods `adjust_to` and `save`.

    Raises
    ------
    InputError
        If the method is unknown. If a keyword argument is not a parameter of the method.

    See Also
    --------
    recalibrate, load_recalibrator

    Examples
    --------
    >>> recalibrator("histogram", bins=2).fit([1, 2, 3, 4], [0, 1, 1, 1]).predict([1, 4])
    array([0.5, 1. ])
    """
    check.check_choice("method", method, list(RECALIBRATORS))
    made = RECALIBRATORS[method]()
    unknown = sorted(set(parameters) - set(made.get_params()))
    if unknown:
        known = check.listing(list(made.get_params()))
        expected = f"one of the parameters {known}" if known else "no parameters"
        raise InputError(f"{method} recalibration", expected=expected, got=f"the parameter {unknown[0]!r}")
    return made.set_params(**parameters)


@contract
def recalibrate(
    predictions: Predictions, method: Method = "beta", *, cv: Any = 10, random_state: Any = 0, **parameters: Any
) -> Recalibrated:
    """Recalibrate the scores of each model by cross-fitting.

    Parameters
    ----------
    predictions : Predictions
        Scores of one or more models.
    method : {"beta", "platt", "isotonic", "temperature", "shift", "spline", "histogram", "venn-abers"}
        Recalibration method. "beta", "temperature" and "shift" need scores that are probabilities. The other methods
        accept scores of any range.
    cv : int, "fold", any other `cv` of `rocscope.evaluate`, or None
        Folds of the cross-fitting. An int is a number of stratified folds, which keep groups together. "fold" uses the
        fold column of the predictions. With other splits, each row must be in exactly one test fold. With None, each
        recalibrator is fitted to all rows and applied to the same rows; `Recalibrated.note` then states this.
    random_state : int, Generator, RandomState or None
        Seed of the folds.
    **parameters
        Parameters of the recalibrator, such as ``bins`` of "histogram".

    Returns
    -------
    Recalibrated
        Predictions with cross-fitted probabilities, and a recalibrator for each model that is fitted to all rows.

    Raises
    ------
    InputError
        If `method` or `cv` is invalid. If a case occurs in several repeats of the predictions, because the case could
        then be a training row and a test row of the same fold.
    OneClassError
        If one class is missing.

    See Also
    --------
    recalibrator, load_recalibrator, correct_probabilities

    Notes
    -----
    A single fit of "platt" (with a slope above 0), "beta", "temperature" or "shift" does not change the order of the
    scores. The ROC curve, AUC, gain and lift then do not change. With cross-fitting they change slightly, because the
    fits of the folds differ. A single fit of "isotonic" replaces the ROC curve by its convex hull.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(1000)
    >>> preds = Predictions(rng.random(1000) < score**2, score)
    >>> result = recalibrate(preds, "beta")
    >>> result
    Recalibrated(beta, out of sample, n=1000, models=['score'])
    >>> result.recalibrators["score"].predict([0.5]).round(2)
    array([0.26])
    """
    predictions = rows_of(predictions)
    require_kinds("recalibration", predictions)
    unfitted = {model: recalibrator(method, **parameters) for model in predictions.models}
    rows = SplitRows(None, predictions.y_true.astype(np.intp), (False, True), independent_units(predictions))
    splits = None if cv is None else splits_testing_once(cv, rows, predictions.fold, check.seed_of(random_state))
    fitted, scores = {}, {}
    for model, one in unfitted.items():
        fitted[model] = one.fit_counts(predictions.counts(model))
        if splits is None:
            scores[model] = fitted[model].predict(predictions.scores[model])
        else:
            scores[model] = _out_of_fold(predictions, model, splits, method, parameters)
    kept = predictions.row_columns()
    recalibrated = Predictions(predictions.y_true, scores, columns=predictions.columns, **kept)
    return Recalibrated(recalibrated, fitted, method, splits is not None)


def _out_of_fold(
    predictions: Predictions, model: str, splits: Sequence[Split], method: Method, parameters: dict[str, Any]
) -> Array:
    """Return the probability of each row, from a recalibrator that was fitted to the other folds."""
    result = np.empty(len(predictions))
    for split in splits:
        training = np.zeros(len(predictions), np.bool_)
        training[split.train] = True
        counts = predictions.select(training, models=[model]).counts()
        fitted = recalibrator(method, **parameters).fit_counts(counts)
        result[split.test] = fitted.predict(predictions.scores[model][split.test])
    return result


@contract
def load_recalibrator(path: str | os.PathLike[str]) -> Recalibrator:
    """Load a recalibrator that was saved by `Recalibrator.save`.

    The file contains only JSON, so loading it cannot execute code.

    Parameters
    ----------
    path : str or Path
        Path of the file.

    Returns
    -------
    Recalibrator
        Fitted recalibrator.

    Raises
    ------
    StoredError
        If the file cannot be read, is not a recalibrator, or has an unsupported version.

    See Also
    --------
    recalibrator

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> fitted = recalibrator("isotonic").fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> with TemporaryDirectory() as folder:
    ...     loaded = load_recalibrator(fitted.save(f"{folder}/calibrator.json"))
    >>> loaded.predict([1, 2.5, 4])
    array([0. , 0.5, 1. ])
    """
    fields = FORMAT.read(path)
    parameters = fields.take("parameters", dict, "the parameters of its method")
    made = fields.make("method", recalibrator, fields.content.get("method"), **parameters)
    made.restore(fields.inner("state", "the fitted state of its method"))
    fields.require_same(made.to_dict())
    return made
