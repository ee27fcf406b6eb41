"""
Average ROC curve of ten folds
==============================

The faint curves are the curves of the folds. The bold curve is their mean, with a confidence band.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

import rocscope as rs

X, y = load_breast_cancer(return_X_y=True)
average = rs.evaluation.average_curve(rs.evaluate(GaussianNB(), X, y == 0, cv=10))
average.plot()
mean, pooled = average.areas.mean.value, average.areas.pooled.value
print(f"The mean AUC of the folds is {mean:.4f}, and the AUC of all rows together is {pooled:.4f}.")
