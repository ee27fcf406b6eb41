"""
Confidence region of an operating point
=======================================

The region contains the true sensitivity and the true specificity of a threshold with a probability of 95%.
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
sensitivity = f"sensitivity {region.tpr.low:.0%} to {region.tpr.high:.0%}"
print(f"Joint 95% region: {sensitivity}, false positive rate {region.fpr.low:.0%} to {region.fpr.high:.0%}.")
