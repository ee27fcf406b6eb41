"""
Lift curve
==========

Response rate among the customers with the highest scores, relative to the response rate of all customers.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(5000) < 0.05

curve = rs.lift(y, rng.normal(1.2 * y, 1))
curve.plot()
print(f"In the 10% with the highest scores, the response rate is {curve.at(0.1):.1f} times the rate of all customers.")
