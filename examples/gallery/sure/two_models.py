"""
Comparison of two ROC curves
============================

Both models score the same cases. The interval is for the difference of the AUCs.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(600) < 0.3

common = rng.normal(0, 0.8, 600)
new, old = (skill * y + common + rng.normal(0, 0.6, 600) for skill in (1.4, 1.1))
preds = rs.Predictions(y, {"old": old, "new": new})
rs.plotting.plot_roc(preds)
found = rs.compare(preds)[0]
gain = found.difference
interval = f"{gain.low:.3f} to {gain.high:.3f}"
print(f"AUC of {found.second} − AUC of {found.first}: {gain.value:+.3f} ({interval}), p = {found.p_value:.2g}.")
