"""Statistics with a variance in closed form, computed from one model's counts.

For `rocscope.compare(…, statistic=…)`, `rocscope.inference.estimate_of` and `rocscope.bootstrap` alike.
"""

from rocscope.figures.probabilities import (
    brier,
    calibration_intercept,
    calibration_slope,
    discrimination_slope,
    excess_events,
    log_loss,
    observed_to_expected,
    scaled_brier,
)
from rocscope.figures.ranks import (
    area,
    average_precision,
    fpr_at,
    gain_at,
    lift_at,
    partial_area,
    precision_at,
    tpr_at,
)
from rocscope.figures.thresholds import at, cost_at, net_benefit_at

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
