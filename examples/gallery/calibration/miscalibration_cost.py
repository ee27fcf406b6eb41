"""
Cost of trusting uncalibrated probabilities
===========================================

Additional cost per case if decisions use uncalibrated probabilities, for all ratios of the two error costs.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(2000) < 0.3

risk = 1 / (1 + np.exp(1.4 - 3 * rng.normal(1.5 * y - 0.4, 1)))
curve = rs.calibration.miscalibration_cost(y, risk)
curve.plot()
print(f"On average over these ratios, miscalibration costs {curve.area():.4f} per case.")
