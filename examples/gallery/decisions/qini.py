"""
Qini curve of a campaign with a control group
=============================================

Additional responses that the contacts of a campaign cause, compared with contacts at random.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(2)
score, treated = rng.random(6000), rng.integers(0, 2, 6000)
response = rng.random(6000) < 0.05 + 0.15 * treated * score**2

curve = rs.outcomes.from_experiment(response.astype(int), treated, score).qini()
curve.plot()
low, high = 1000 * curve.area.low, 1000 * curve.area.high
print(f"Compared with random contacts, the ranking adds {low:.1f} to {high:.1f} responses per 1,000 customers.")
