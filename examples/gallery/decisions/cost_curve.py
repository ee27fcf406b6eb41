"""
Cost curves of two models
=========================

Expected cost of each model at its best threshold, for all combinations of prevalence and costs.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1000) < 0.3
preds = rs.Predictions(y, {"new": rng.normal(1.4 * y, 1), "old": rng.normal(1.0 * y, 1)})

curves = rs.cost_curve(preds)
curves.plot()
share = curves["new"].area() / curves["old"].area()
print(f"On average over the horizontal axis, the cost of the new model is {share:.0%} of the cost of the old model.")
