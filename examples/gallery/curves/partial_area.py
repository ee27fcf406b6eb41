"""
Partial area under a ROC curve
==============================

A screening programme can afford few false alarms. Only the area up to a false positive rate of 10% is relevant.
"""

import rocscope as rs

data = rs.datasets.load("wdbc")
y = data.y == data.positive

counts = rs.ThresholdCounts.from_scores(y, data.X["radius"])
curve = rs.roc(counts)
ax = curve.plot()
ax.axvspan(0, 0.1, alpha=0.15)
print(f"The partial area is {curve.partial_auc(max_fpr=0.1) / 0.1:.0%} of the partial area of a perfect model.")
