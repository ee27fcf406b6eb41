"""Across folds: a mean, or a figure of all rows pooled, with an interval from how the folds differ."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from rocscope._types import Array
from rocscope.core.predictions import Predictions


class Across(NamedTuple):
    """Values with the ends of their intervals, and how many folds each rests on."""

    value: Array
    low: Array
    high: Array
    folds: Array

    def clipped(self, low: float, high: float) -> "Across":
        """Return the same with ends within the range of the quantity."""
        return self._replace(low=self.low.clip(low, high), high=self.high.clip(low, high))


@dataclass(frozen=True)
class Spread:
    """How sure a mean of folds is: like one of `effective` independent folds, with so many degrees of freedom.

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
        """Return that of the folds of predictions, in which cases may occur more than once.

        Notes
        -----
        Repeats of a cross-validation count as one: they are the same cases. Repeated holdouts, which overlap, and folds
        of which no repeat is known, have the variance of Nadeau & Bengio, s²·(1/J + ρ/(1 − ρ)), where ρ is the share
        of cases in a test set.
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
    """Return the mean of each column over the folds that have a number there, each of them counting the same.

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
    """Return values of all rows pooled, with intervals from the values when each fold in turn is left out.

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
    """Return the quantile of Student's t; NaN where there are no degrees of freedom."""
    return np.where(df > 0, special.stdtrit(np.maximum(df, 1e-3), (1 + level) / 2), np.nan)
