"""
Lift chart and the point of lowest cost
=======================================

A lift chart shows the number of true positives. The line of equal cost touches the chart at the point of lowest cost.
"""

import rocscope as rs

data = rs.datasets.load("wdbc")
y = data.y == data.positive

preds = rs.Predictions(y, {"radius": data.X["radius"], "texture": data.X["texture"]})
context = rs.Context(cost_fp=1, cost_fn=2)
rs.plotting.plot_lift_chart(preds, hull=True, iso_line=True, context=context)
point = rs.choose(preds, context).point
print(f"If you examine {point.tp + point.fp} of {point.n} cases, you find {point.tp} of {point.n_pos} cancers.")
