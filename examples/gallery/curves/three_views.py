"""
ROC curve, lift chart and calibration plot
==========================================

All three are computed from one table: the number of positives and negatives with each score.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1000) < 0.3
risk = 1 / (1 + np.exp(1.4 - 1.5 * rng.normal(1.5 * y - 0.4, 1)))

rs.plotting.plot_three(rs.Predictions(y, {"risk": risk}))
print(f"One table of {rs.ThresholdCounts.from_scores(y, risk).threshold.size} scores makes all three.")
