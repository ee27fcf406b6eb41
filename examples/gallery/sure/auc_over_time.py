"""
AUC over time under censoring
=============================

For each horizon, the AUC of two models for an event before this horizon. Some patients are censored.
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
difference = abs(test.difference.value)
print(f"The mean AUCs over 8 years differ by {difference:.2f} (p = {test.p_value:.1g}).")
