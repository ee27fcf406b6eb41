"""Means of values of the rows, over all of them or at a target prevalence, with their covariance."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.errors import OneClassError
from rocscope.inference.influence.units import WEIGHTS, WeightKind, is_frequency, sum_by


@dataclass(frozen=True)
class MeanSample:
    """Means of m values on the same rows and the m × m covariance of these means.

    `moves` says how far each independent unit moves each mean, `times` how many equal units it stands for.
    """

    mean: Array
    covariance: Array
    n: float
    moves: Array
    times: Array
    note: str = ""

    def skewness(self, number: int) -> float:
        """Return that of one mean, which is that of its units divided by the root of how many they are."""
        variance = self._moment(number, 2)
        return self._moment(number, 3) / variance**1.5 if variance else 0.0

    def worth(self, number: int) -> float:
        """Return how many units that all move one mean alike would be as many as these: few where some are large."""
        fourth = self._moment(number, 4)
        return self._moment(number, 2) ** 2 / fourth if fourth else float(self.times.sum())

    def _moment(self, number: int, power: int) -> float:
        return float(self.times @ self.moves[:, number] ** power)


def sample_of_means(
    predictions: Predictions, values: Array, target_prevalence: float | None, groups: Any, weights: WeightKind
) -> MeanSample:
    """Return the means of the columns of `values`; at a target prevalence each class has that share of the mean."""
    check.check_choice("weights", weights, WEIGHTS)
    weight = np.ones(len(predictions)) if predictions.sample_weight is None else predictions.sample_weight
    frequency = is_frequency(weight, weights)
    parts = [(np.ones(len(predictions), bool), 1.0)]
    if target_prevalence is not None:
        parts = [(predictions.y_true, target_prevalence), (~predictions.y_true, 1 - target_prevalence)]
    mean = np.zeros(values.shape[1])
    covariance = np.zeros((values.shape[1],) * 2)
    influence = np.zeros(values.shape)
    for rows, share in parts:
        total = weight[rows].sum()
        if not total:
            raise OneClassError("a target prevalence", expected="both classes", got="one")
        centre = weight[rows] @ values[rows] / total
        mean += share * centre
        influence[rows] = share / total * (values[rows] - centre)
        covariance += _covariance(influence[rows], weight[rows], frequency)
    n = float(weight.sum()) if frequency else int((weight > 0).sum())
    unit = independent_units(predictions, groups)
    if unit is None:
        moves, times = (influence, weight) if frequency else (influence * weight[:, None], np.ones(len(weight)))
        return MeanSample(mean, covariance, n, moves, times, "" if frequency else "sampling weights")
    sums = sum_by(unit, influence * weight[:, None], int(unit.max()) + 1)
    held = len(sums)
    scale = held / (held - 1) if held > 1 else np.nan
    return MeanSample(mean, scale * (sums.T @ sums), n, sums, np.ones(held), f"{held} groups")


def _covariance(influence: Array, weight: Array, frequency: bool) -> Array:
    """Covariance of a sum of influences: of rows, or of as many equal rows as the weights say."""
    rows = weight.sum() if frequency else (weight > 0).sum()
    factor = weight if frequency else weight**2
    scale = rows / (rows - 1) if rows > 1 else np.nan
    return scale * ((influence.T * factor) @ influence)
