"""
DET curve (detection error trade-off)
=====================================

Both error rates on normal scales. If the scores of each class are normally distributed, the curve is a straight line.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(4000) < 0.5

curve = rs.det(y, rng.normal(2 * y, 1))
curve.plot()
print(f"At the threshold with equal error rates, both error rates are {curve.equal_error_rate:.1%}.")
