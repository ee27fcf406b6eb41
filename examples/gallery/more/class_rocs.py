"""
ROC curve of each class
=======================

One ROC curve for each class against all other classes.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import rocscope as rs

X, y = load_wine(return_X_y=True)
probability = cross_val_predict(GaussianNB(), X[:, :3], y, cv=10, method="predict_proba")
preds = rs.multiclass.MulticlassPredictions(y, probability)

rs.plotting.plot_class_rocs(preds)
areas = rs.multiclass.multiclass_auc(preds)
print(f"The mean AUC over all pairs of classes is {areas.hand_till.value:.3f}.")
