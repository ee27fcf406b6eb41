"""
Net benefit (decision curve)
============================

Benefit of a model for a clinic that treats patients above a risk threshold, compared with treating all or none.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1000) < 0.3
risk = 1 / (1 + np.exp(1.4 - 1.5 * rng.normal(1.5 * y - 0.4, 1)))

curve = rs.net_benefit(y, risk)
curve.plot()
worth = 1000 * curve.at(0.2)
print(f"Treating from a risk of 20% on is worth {worth:.0f} complications found per 1,000, for nothing.")
