"""
ROC curve
=========

Every distinct score is a step; tied positives and negatives give a diagonal.
"""

import rocscope as rs

data = rs.datasets.load("wdbc")
y = data.y == data.positive

curve = rs.roc(y, data.X["radius"])
curve.plot()
print(f"A malignant cell nucleus is larger than a benign one in {curve.auc:.1%} of pairs.")
