"""
Partial area under a ROC curve
==============================

A screening programme can afford few false alarms, so only the area up to a false positive rate of 10% counts.
"""

import rocscope as rs

data = rs.datasets.load("wdbc")
y = data.y == data.positive

counts = rs.ThresholdCounts.from_scores(y, data.X["radius"])
curve = rs.roc(counts)
ax = curve.plot()
ax.axvspan(0, 0.1, alpha=0.15)
print(f"Up to 10% false alarms the curve reaches {curve.partial_auc(max_fpr=0.1) / 0.1:.0%} of what is possible.")
