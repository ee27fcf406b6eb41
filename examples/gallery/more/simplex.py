"""
Probabilities of three classes in a triangle
============================================

At each corner, one class has the probability 1. The shading shows the predicted class.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import rocscope as rs

X, y = load_wine(return_X_y=True)
probability = cross_val_predict(GaussianNB(), X[:, :3], y, cv=10, method="predict_proba")
preds = rs.multiclass.MulticlassPredictions(y, probability)

rs.plotting.plot_simplex(preds)
share = (probability.max(axis=1) > 0.9).mean()
print(f"For {share:.0%} of the wines, one class has a probability above 90%.")
