"""
Smooth and empirical ROC curve
==============================

The binormal model assumes that the scores of each class are normal after a monotone transformation.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(80) < 0.4

score = rng.normal(1.3 * y, 1)
ax = rs.roc(y, score).plot(label="as counted")
smooth = rs.inference.smooth_roc(y, score)
smooth.plot(ax=ax, label="binormal")
print(f"As counted the area is {rs.auc(y, score):.3f}, smoothed {smooth.area():.3f}.")
