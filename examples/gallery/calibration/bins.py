"""
Calibration plot in bins
========================

The observed share of positives in each of ten bins, at the mean predicted risk of the bin.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(2000) < 0.3
risk = 1 / (1 + np.exp(1.4 - 1.5 * rng.normal(1.5 * y - 0.4, 1)))

preds = rs.Predictions(y, {"risk": risk})
rs.plotting.plot_calibration(preds)
found = rs.summary(preds)["risk"]["observed_over_expected"]
interval = f"95% CI {found.low:.2f} to {found.high:.2f}"
print(f"The observed number of events is {found.value:.2f} times the predicted number ({interval}).")
