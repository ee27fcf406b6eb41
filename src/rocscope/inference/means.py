"""Means of values of the rows, over all of them or at a target prevalence, with their covariance."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.errors import OneClassError
from rocscope.inference.influence.units import WEIGHTS, WeightKind, is_frequency, sum_by


@dataclass(frozen=True)
class MeanSample:
    """Means of m values on the same rows and the m × m covariance of these means."""

    mean: Array
    covariance: Array
    n: float
    note: str = ""


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
        return MeanSample(mean, covariance, n, "" if frequency else "sampling weights")
    sums = sum_by(unit, influence * weight[:, None], int(unit.max()) + 1)
    held = len(sums)
    scale = held / (held - 1) if held > 1 else np.nan
    return MeanSample(mean, scale * (sums.T @ sums), n, f"{held} groups")


def _covariance(influence: Array, weight: Array, frequency: bool) -> Array:
    """Covariance of a sum of influences: of rows, or of as many equal rows as the weights say."""
    rows = weight.sum() if frequency else (weight > 0).sum()
    factor = weight if frequency else weight**2
    scale = rows / (rows - 1) if rows > 1 else np.nan
    return scale * ((influence.T * factor) @ influence)
