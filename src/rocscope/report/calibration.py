"""The calibration block of a report: curves by bins and LOESS, the rug, and numbers."""

from typing import Any

import numpy as np

from rocscope.calibration.goodness import miscalibration_test
from rocscope.calibration.methods import calibration_curve
from rocscope.calibration.report import calibration_report
from rocscope.calibration.results import BinnedCalibrationCurve
from rocscope.core.counts import ThresholdCounts
from rocscope.errors import ScoreError

RUG_STEPS = 40
SMOOTH_POINTS = 40
DRAWS = 99


def calibration_block(counts: ThresholdCounts, *, bins_only: bool = False) -> dict[str, Any] | None:
    """Return what a calibration plot shows, or None where scores are not probabilities; bins alone take no time."""
    try:
        counts.require_probabilities("scores")
    except ScoreError:
        return None
    at_once = {"bins": _bins(calibration_curve(counts)), "smooth": None, "rug": _rug(counts), "numbers": {}}
    if bins_only:
        return at_once
    report = calibration_report(counts, draws=0)
    numbers = {name: estimate.value for name, estimate in report.estimates.items()}
    test = miscalibration_test(counts, draws=DRAWS)
    return at_once | {"smooth": _smooth(counts), "numbers": numbers | {"p_value": test.p_value}}


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
    curve = calibration_curve(counts, method="loess")
    x = np.linspace(curve.x.min(), curve.x.max(), SMOOTH_POINTS)
    columns = {"x": x, "y": curve.at(x)}
    if isinstance(counts.n, int):  # weights do not tell how many rows a band would rest on
        band = curve.confidence_band()
        columns |= {"low": np.interp(x, band.x, band.low), "high": np.interp(x, band.x, band.high)}
    return {name: column.clip(0, 1).tolist() for name, column in columns.items()}


def _rug(counts: ThresholdCounts) -> dict[str, list[float]]:
    """Count the cases of each class in equal steps of the score, to show where they are."""
    step = np.minimum((counts.threshold * RUG_STEPS).astype(int), RUG_STEPS - 1)
    columns = {"pos": counts.pos, "neg": counts.neg}
    return {name: np.bincount(step, cases, RUG_STEPS).tolist() for name, cases in columns.items()}
