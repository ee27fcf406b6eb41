"""
ROC curve
=========

Each distinct score is one step. If positives and negatives have the same score, the step is diagonal.
"""

import rocscope as rs

data = rs.datasets.load("wdbc")
y = data.y == data.positive

curve = rs.roc(y, data.X["radius"])
curve.plot()
print(f"In {curve.auc:.1%} of all pairs, the malignant cell nucleus is larger than the benign cell nucleus.")
