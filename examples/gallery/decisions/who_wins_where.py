"""
Best model by cost ratio and prevalence
=======================================

The map shows which model has the lowest cost at each prevalence and cost ratio.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1500) < 0.3

sharp = np.where(rng.random(1500) < 0.4, 3.0 * y, 0) + rng.normal(0, 0.5, 1500)
scores = {"sharp": sharp, "even": rng.normal(1.3 * y, 1)}
hull = rs.hull(rs.Predictions(y, scores))
rs.plotting.plot_regions(hull)
cheap, expensive = (hull.best(rs.Context(cost_fn=cost)).model for cost in (0.3, 6))
print(f"If a miss costs 0.3 false alarms, {cheap} is best. If a miss costs six false alarms, {expensive} is best.")
