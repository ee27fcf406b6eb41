"""
ROC curve, lift chart and calibration plot
==========================================

All three figures use the same counts: the numbers of positives and negatives at each score.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1000) < 0.3
risk = 1 / (1 + np.exp(1.4 - 1.5 * rng.normal(1.5 * y - 0.4, 1)))

rs.plotting.plot_three(rs.Predictions(y, {"risk": risk}), hull=True, iso_line=True)
print(f"All three figures use the counts at {rs.ThresholdCounts.from_scores(y, risk).threshold.size} scores.")
