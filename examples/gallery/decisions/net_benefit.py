"""
Net benefit (decision curve)
============================

Net benefit of treating the patients above a risk threshold, compared with treating all patients or no patients.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1000) < 0.3
risk = 1 / (1 + np.exp(1.4 - 1.5 * rng.normal(1.5 * y - 0.4, 1)))

curve = rs.net_benefit(y, risk)
curve.plot()
benefit = 1000 * curve.at(0.2)
print(f"At 20%, the net benefit equals {benefit:.0f} true positives per 1,000 cases, without false positives.")
