"""The calibration block of a report: curves by bins and LOESS, the rug, and numbers."""

from typing import Any

import numpy as np

from rocscope.core.counts import ThresholdCounts
from rocscope.errors import ScoreError
from rocscope.reliability.calibration import calibration
from rocscope.reliability.cox import cox_calibration
from rocscope.reliability.curve import BinnedCalibrationCurve
from rocscope.reliability.discrepancy import calibration_error
from rocscope.reliability.outcomes import check_probabilities
from rocscope.reliability.scores import brier, log_loss

RUG_STEPS = 40
SMOOTH_POINTS = 40


def calibration_block(counts: ThresholdCounts) -> dict[str, Any] | None:
    """Return what a calibration plot shows, or None where scores are not probabilities."""
    try:
        check_probabilities(counts)
    except ScoreError:
        return None
    cox = cox_calibration(counts)
    return {
        "bins": _bins(calibration(counts)),
        "smooth": _smooth(counts),
        "rug": _rug(counts),
        "numbers": {
            "brier": brier(counts),
            "log_loss": log_loss(counts),
            "slope": cox.slope,
            "intercept": cox.intercept,
            "in_the_large": cox.in_the_large,
            "ece": calibration_error(counts),
        },
    }


def _bins(curve: Any) -> list[dict[str, float]]:
    assert isinstance(curve, BinnedCalibrationCurve)
    interval = curve.interval()
    columns = {"x": curve.x, "y": curve.y, "low": interval.low, "high": interval.high, "n": curve.pos + curve.neg}
    used = columns["n"] > 0
    rows = zip(*(column[used].tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _smooth(counts: ThresholdCounts) -> dict[str, list[float]] | None:
    if len(counts) < 3:
        return None
    curve = calibration(counts, method="loess")
    x = np.linspace(curve.x.min(), curve.x.max(), SMOOTH_POINTS)
    return {"x": x.tolist(), "y": np.clip(curve.at(x), 0, 1).tolist()}


def _rug(counts: ThresholdCounts) -> dict[str, list[float]]:
    """Count the cases of each class in equal steps of the score, to show where they are."""
    step = np.minimum((counts.threshold * RUG_STEPS).astype(int), RUG_STEPS - 1)
    columns = {"pos": counts.pos, "neg": counts.neg}
    return {name: np.bincount(step, cases, RUG_STEPS).tolist() for name, cases in columns.items()}
