"""
Cumulative gain curve
=====================

Share of all responders that a mailing to the customers with the highest scores reaches.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(5000) < 0.05

curve = rs.gain(y, rng.normal(1.2 * y, 1))
curve.plot()
print(f"The 20% of customers with the highest scores include {curve.at(0.2):.0%} of the responders.")
