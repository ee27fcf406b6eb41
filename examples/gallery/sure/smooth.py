"""
Smooth and empirical ROC curve
==============================

The smooth curve assumes that some increasing transformation makes the scores of each class normal (binormal model).
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(80) < 0.4

score = rng.normal(1.3 * y, 1)
ax = rs.roc(y, score).plot(label="empirical")
smooth = rs.inference.smooth_roc(y, score)
smooth.plot(ax=ax, label="binormal")
print(f"The area under the empirical curve is {rs.auc(y, score):.3f}, under the smooth curve {smooth.area():.3f}.")
