"""
Calibration curve by isotonic regression
========================================

Each step of isotonic regression (PAV) corresponds to a segment of the ROC hull.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(400) < 0.3
risk = 1 / (1 + np.exp(1.4 - 1.5 * rng.normal(1.5 * y - 0.4, 1)))

curve = rs.calibration_curve(y, risk, method="pav")
curve.plot()
hull = rs.hull(rs.Predictions(y, risk))
print(f"The hull has {len(hull.vertices) - 1} segments, and the curve has {np.unique(curve.y).size} steps.")
