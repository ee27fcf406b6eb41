"""
AUC over time under censoring
=============================

AUC of two models for an event before each horizon, from censored follow-up.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(3)
risk = rng.normal(size=800)
happens, leaves = rng.exponential(8 * np.exp(-risk)), rng.exponential(10, 800)
models = {"new": risk + 0.5 * rng.normal(size=800), "old": risk + 1.5 * rng.normal(size=800)}

found = rs.outcomes.over_time(np.minimum(happens, leaves), (happens <= leaves).astype(int), models, range(1, 9))
found.plot()
test = found.integrated["new", "old"]
print(f"Over 8 years the mean AUC differs by {abs(test.difference.value):.2f} (p = {test.p_value:.1g}).")
