"""
Confusion matrix of three classes
=================================

Each cell shows a number of cases. The shading shows the share of the cell in its row.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import rocscope as rs

X, y = load_wine(return_X_y=True)
probability = cross_val_predict(GaussianNB(), X[:, :3], y, cv=10, method="predict_proba")
preds = rs.multiclass.MulticlassPredictions(y, probability)

matrix = preds.confusion()
rs.plotting.plot_confusion(matrix)
print(f"{matrix.accuracy:.0%} of the wines are classified correctly.")
