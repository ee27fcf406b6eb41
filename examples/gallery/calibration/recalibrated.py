"""
Calibration before and after recalibration
==========================================

The recalibrator is fitted on some rows and evaluated on other rows.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(2000) < 0.3

risk = 1 / (1 + np.exp(1.4 - 3 * rng.normal(1.5 * y - 0.4, 1)))
preds = rs.Predictions(y, {"before": risk})
after = rs.calibration.recalibrate(preds).predictions
both = rs.Predictions(y, {"before": risk, "after": after.scores["before"]})
rs.plotting.plot_calibration(both)
brier = [rs.calibration.brier(both, model=name) for name in ("before", "after")]
print(f"The Brier score falls from {brier[0]:.3f} to {brier[1]:.3f}.")
