"""Statistics of one model that have a closed-form variance.

Pass a statistic to `rocscope.compare(…, statistic=…)`, `rocscope.inference.estimate_of` or `rocscope.bootstrap`.
"""

from rocscope.figures.influence import (
    area,
    average_precision,
    brier,
    calibration_intercept,
    calibration_slope,
    discrimination_slope,
    excess_events,
    fpr_at,
    gain_at,
    lift_at,
    log_loss,
    observed_to_expected,
    partial_area,
    precision_at,
    scaled_brier,
    tpr_at,
)
from rocscope.figures.registry import at, cost_at, net_benefit_at

__all__ = [
    "area",
    "at",
    "average_precision",
    "brier",
    "calibration_intercept",
    "calibration_slope",
    "cost_at",
    "discrimination_slope",
    "excess_events",
    "fpr_at",
    "gain_at",
    "lift_at",
    "log_loss",
    "net_benefit_at",
    "observed_to_expected",
    "partial_area",
    "precision_at",
    "scaled_brier",
    "tpr_at",
]
