"""
Envelope of a ROC curve from bins
=================================

A sketch counts the cases in ranges of the score. The exact curve is somewhere in the shaded region.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(2000) < 0.3

sketch = rs.ranges.CountsSketch(memory=4096)
sketch.update(y, rng.normal(1.4 * y, 1))
curve = rs.roc(sketch)
curve.plot()
low, high = sketch.binned().auc_bounds
print(f"The exact AUC is guaranteed to be between {low:.3f} and {high:.3f}.")
