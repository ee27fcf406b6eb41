"""Mean of a figure over folds, or the pooled figure, with an interval from the variation between folds.

Fold curves: one curve for each fold that has one, the reason where a fold has none, and the curve of all rows.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import masks_of
from rocscope.calibration.bins import Strategy
from rocscope.calibration.curve import BinnedCalibrationCurve, calibration_curve
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.curves.curve import CountCurve, Curve
from rocscope.curves.rate_curves import gain, lift, precision_recall
from rocscope.curves.roc_curve import roc
from rocscope.errors import OneClassError, ShapeError, WeightError, warn


class Across(NamedTuple):
    """Values with interval limits, and the number of folds of each."""

    value: Array
    low: Array
    high: Array
    folds: Array

    def clipped(self, low: float, high: float) -> "Across":
        """Return the same with limits clipped to the range of the quantity."""
        return self._replace(low=self.low.clip(low, high), high=self.high.clip(low, high))


@dataclass(frozen=True)
class Spread:
    """Uncertainty of a mean over folds, as of `effective` independent folds, with degrees of freedom.

    Attributes
    ----------
    folds : int
    effective, df : float
    name : str
        What a band calls it.
    """

    folds: int
    effective: float
    df: float
    name: str = "Student t across folds"

    @classmethod
    def of(cls, predictions: Predictions, folds: int) -> "Spread":
        """Return the spread for the folds of predictions, in which cases may repeat.

        Notes
        -----
        Repeats of a cross-validation count as one: they are the same cases. Repeated holdouts, which overlap, and folds
        without known repeats, have the variance of Nadeau & Bengio, s²·(1/J + ρ/(1 − ρ)), where ρ is the share of cases
        in a test set.
        """
        if not predictions.repeated:
            return cls(folds, folds, folds - 1)
        row, repeat = predictions.row, predictions.repeat
        assert row is not None
        repeats = folds if repeat is None else np.unique(repeat).size
        if folds >= 2 * repeats:
            in_one = folds / repeats
            return cls(folds, in_one, in_one - 1, f"Student t across folds, {repeats} repeats as one")
        share = row.size / folds / np.unique(row).size
        effective = 1 / (1 / folds + share / (1 - share)) if share < 1 else 1.0
        return cls(folds, effective, folds - 1, "corrected resampled t (Nadeau & Bengio)")


def mean(values: Array, level: float, spread: Spread | None = None) -> Across:
    """Return the mean of each column over the folds with a value; folds count equally.

    Notes
    -----
    mean ± t·s/√K with K − 1 degrees of freedom, or as `spread` says; NaN ends where only one fold has a number.

    Examples
    --------
    >>> found = mean(np.array([[0.2, 0.5], [0.4, 0.5], [0.6, np.nan]]), 0.95)
    >>> found.value.round(3), found.low.round(3), found.folds
    (array([0.4, 0.5]), array([-0.097,  0.5  ]), array([3, 2]))
    """
    spread = spread or Spread(len(values), len(values), len(values) - 1)
    known = ~np.isnan(values)
    folds = known.sum(axis=0)
    present = folds / spread.folds
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(known, values, 0.0).sum(axis=0) / folds
        # A mean of equal numbers is that number, which a sum divided by their count may miss by a bit.
        lowest, highest = np.where(known, values, np.inf).min(axis=0), np.where(known, values, -np.inf).max(axis=0)
        centre = np.where(folds > 0, np.clip(centre, lowest, highest), np.nan)
        square = np.where(known, values - centre, 0.0) ** 2
        error = np.sqrt(square.sum(axis=0) / (folds - 1) / (spread.effective * present))
    reach = _t(present * (spread.df + 1) - 1, level) * error
    return Across(centre, centre - reach, centre + reach, folds)


def jackknife(value: Array, without: Array, level: float) -> Across:
    """Return pooled values with jackknife intervals, leaving out each fold in turn.

    Notes
    -----
    value ± t·se, where se² = (K − 1)/K · Σ (value without fold k − their mean)².

    References
    ----------
    Efron & Tibshirani 1993, ch. 11.

    Examples
    --------
    >>> found = jackknife(np.array([0.4]), np.array([[0.5], [0.4], [0.3]]), 0.95)
    >>> found.low.round(3), found.high.round(3)
    (array([-0.097]), array([0.897]))
    """
    folds = len(without)
    error = np.sqrt((folds - 1) / folds * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    reach = _t(np.full(np.shape(value), folds - 1), level) * error
    return Across(value, value - reach, value + reach, np.full(np.shape(value), folds))


def _t(df: Array, level: float) -> Array:
    """Return the quantile of Student's t; NaN without degrees of freedom."""
    return np.where(df > 0, special.stdtrit(np.maximum(df, 1e-3), (1 + level) / 2), np.nan)


Kind = Literal["roc", "gain", "lift", "precision_recall", "calibration"]
Make = Callable[[ThresholdCounts], Curve]

# Of cases for a jackknife where cases repeat; a choice: 20 fits, and a variance with 19 degrees of freedom.
_GROUPS = 20
KINDS: tuple[Kind, ...] = get_args(Kind)
_MAKE: dict[str, Callable[[ThresholdCounts], CountCurve]] = {
    "roc": roc,
    "gain": gain,
    "lift": lift,
    "precision_recall": precision_recall,
}


@dataclass(frozen=True)
class FoldCurves:
    """The curves of one model.

    Attributes
    ----------
    curves : dict from fold to Curve
    undefined : dict from fold to str
        Why a fold has no curve.
    pooled : Curve
        Of the rows of all folds together.
    make : function from ThresholdCounts to Curve
    predictions : Predictions of one model
    masks : dict from fold to mask
        The rows of each fold, also of those without a curve.
    """

    curves: dict[Hashable, Any]
    undefined: dict[Hashable, str]
    pooled: Any
    make: Make
    predictions: Predictions
    masks: dict[Hashable, Array]

    @cached_property
    def spread(self) -> Spread:
        """Uncertainty of a mean of curves."""
        return Spread.of(self.of_those_defined(), len(self.curves))

    @cached_property
    def without_each(self) -> list[Any] | None:
        """The pooled curve without each fold in turn; None if one cannot be drawn."""
        parts = list(self._parts())
        if len(parts) < 2:
            return None
        try:
            return [self.make(self.predictions.select(~mask).counts()) for mask in parts]
        except (OneClassError, ShapeError, WeightError):
            return None

    def _parts(self) -> Iterable[Array]:
        """Return the rows to leave out: of each fold or, if cases repeat, of each group of cases."""
        unit = independent_units(self.predictions) if self.predictions.repeated else None
        if unit is None:
            return self.masks.values()
        group = np.random.default_rng(0).permutation(int(unit.max()) + 1)[unit] % _GROUPS
        return (group == number for number in range(_GROUPS))

    @property
    def without_name(self) -> str:
        """Name of the jackknife for a band."""
        return f"jackknife over {_GROUPS} groups of cases" if self.predictions.repeated else "jackknife over folds"

    def of_those_defined(self) -> Predictions:
        """Return the rows of folds that have a curve."""
        if not self.undefined:
            return self.predictions
        return self.predictions.select(np.any([self.masks[fold] for fold in self.curves], axis=0))


def fold_curves(predictions: Predictions, kind: Kind, *, bins: int, strategy: Strategy) -> FoldCurves:
    """Return the curves of the folds; calibration curves share the bins of the pooled one.

    Raises
    ------
    OneClassError
        If no fold has the curve.

    Warns
    -----
    RocscopeWarning
        If some folds have none.
    """
    check.check_choice("curve", kind, KINDS)
    masks = dict(masks_of("fold", predictions.fold))
    counts = predictions.counts()
    make: Make = _MAKE[kind] if kind in _MAKE else _in_bins_of(counts, bins, strategy)
    pooled = make(counts)
    curves, undefined = {}, {}
    for fold, mask in masks.items():
        try:
            curves[fold] = make(predictions.select(mask).counts())
        except (OneClassError, WeightError) as error:
            undefined[fold] = str(error)
    if not curves:
        first = next(iter(undefined.values()))
        raise OneClassError(f"no fold has a {pooled.title}", hint=f"the first: {first}")
    if undefined:
        listed = "; ".join(f"fold {fold}: {reason}" for fold, reason in undefined.items())
        message = (
            f"{len(undefined)} of {len(masks)} folds have no {pooled.title} and are left out of its mean ({listed})"
        )
        warn(message)
    return FoldCurves(curves, undefined, pooled, make, predictions, masks)


def _in_bins_of(counts: ThresholdCounts, bins: int, strategy: Strategy) -> Make:
    check.check_choice("strategy", strategy, ("uniform", "quantile"))
    pooled = calibration_curve(counts, bins=bins, strategy=strategy)
    assert isinstance(pooled, BinnedCalibrationCurve)
    return lambda each: calibration_curve(each, edges=pooled.edges)
