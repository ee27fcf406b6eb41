"""
Precision–recall curve
======================

Share of correct alarms (precision) at each recall, for a rare positive class.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(5000) < 0.02

curve = rs.precision_recall(y, rng.normal(2.2 * y, 1))
curve.plot()
print(f"At a recall of 50%, {1 - curve.at(0.5):.0%} of the alarms are false.")
