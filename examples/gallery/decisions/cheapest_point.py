"""
ROC curves and the point of lowest cost
=======================================

The line of equal cost touches the hull at the point of lowest cost.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(1000) < 0.3
preds = rs.Predictions(y, {"new": rng.normal(1.4 * y, 1), "old": rng.normal(1.0 * y, 1)})

context = rs.Context(cost_fp=1, cost_fn=4)
rs.plotting.plot_roc(preds, hull=True, iso_line=True, context=context)
decision = rs.choose(preds, context)
print(f"If a miss costs four times as much, use the threshold {decision.threshold:.2f} of the {decision.model} model.")
