"""
Confidence region of an operating point
=======================================

Joint confidence region of the sensitivity and specificity at one threshold.
"""

import numpy as np
from matplotlib.patches import Rectangle

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(200) < 0.3

counts = rs.ThresholdCounts.from_scores(y, rng.normal(1.6 * y, 1))
point = rs.choose(counts, criterion="youden").point
region = rs.inference.joint_region(point)
ax = rs.roc(counts).plot()
corner = region.fpr.low, region.tpr.low
ax.add_patch(Rectangle(corner, region.fpr.high - corner[0], region.tpr.high - corner[1], alpha=0.25, lw=0))
tpr, fpr = region.tpr, region.fpr
print(f"It finds {tpr.low:.0%} to {tpr.high:.0%} at {fpr.low:.0%} to {fpr.high:.0%} false alarms, both at once.")
