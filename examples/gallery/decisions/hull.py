"""
ROC hull of two models
======================

Neither model is best for all costs. Only corners of the hull can have the lowest cost.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1500) < 0.3

sharp = np.where(rng.random(1500) < 0.4, 3.0 * y, 0) + rng.normal(0, 0.5, 1500)
scores = {"sharp": sharp, "even": rng.normal(1.3 * y, 1)}
preds = rs.Predictions(y, scores)
rs.plotting.plot_roc(preds, hull=True)
owners = {vertex.model for vertex in rs.hull(preds).vertices if vertex.model}
print(f"The corners of the hull belong to the models {' and '.join(sorted(owners))}.")
