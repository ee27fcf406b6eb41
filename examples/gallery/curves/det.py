"""
DET curve (detection error trade-off)
=====================================

Both error rates on normal scales; normally distributed scores give a straight line.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(4000) < 0.5

curve = rs.det(y, rng.normal(2 * y, 1))
curve.plot()
print(f"Where both errors are equal, each is {curve.equal_error_rate:.1%}.")
