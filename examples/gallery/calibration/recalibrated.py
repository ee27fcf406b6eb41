"""
Calibration before and after recalibration
==========================================

The recalibrator is fitted on one part of the rows and evaluated on the other part, by cross-validation.
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
print(f"Recalibration reduces the Brier score from {brier[0]:.3f} to {brier[1]:.3f}.")
