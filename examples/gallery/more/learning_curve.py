"""
Learning curves of two models
=============================

AUC by number of training rows. In each run, all numbers of training rows have the same test rows.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs

X, y = load_breast_cancer(return_X_y=True)
models = {"naive Bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=4, random_state=0)}
curve = rs.evaluation.learning_curve(models, X, y == 0, repeats=10)
curve.plot()
half, full = curve.values["naive Bayes"].mean(axis=0)[-2:]
low, high = curve.size[-2:]
print(f"From {low} to {high} training rows, the AUC of naive Bayes changes by {full - half:+.4f}.")
