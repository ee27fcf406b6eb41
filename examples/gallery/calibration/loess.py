"""
LOESS calibration curve with a confidence band
==============================================

A smooth estimate of the observed share of positives at each predicted risk.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1500) < 0.3
risk = 1 / (1 + np.exp(1.4 - 1.5 * rng.normal(1.5 * y - 0.4, 1)))

curve = rs.calibration_curve(y, risk, method="loess")
curve.plot(band=curve.confidence_band())
print(f"If the predicted risk is 50%, the observed share of positives is {curve.at(0.5):.0%}.")
