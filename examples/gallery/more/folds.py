"""
Average ROC curve of ten folds
==============================

The faint curves are the folds; the bold curve is their mean, with a confidence band.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

import rocscope as rs

X, y = load_breast_cancer(return_X_y=True)
average = rs.evaluation.average_curve(rs.evaluate(GaussianNB(), X, y == 0, cv=10))
average.plot()
print(f"Mean of the folds {average.areas.mean.value:.4f}, all rows together {average.areas.pooled.value:.4f}.")
