"""
Cost of trusting uncalibrated probabilities
===========================================

Cost of decisions from uncalibrated and from calibrated probabilities, at each cost ratio.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(2000) < 0.3

risk = 1 / (1 + np.exp(1.4 - 3 * rng.normal(1.5 * y - 0.4, 1)))
curve = rs.calibration.miscalibration_cost(y, risk)
curve.plot()
print(f"On average over cost ratios, {curve.area():.4f} per case is lost to miscalibration.")
