from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
import numpy as np
class SmoothedTree(ClassifierMixin, BaseEstimator):
    def __init__(self, m=2.0, random_state=0): self.m=m; self.random_state=random_state
    def fit(self,X,y):
        self.t=DecisionTreeClassifier(random_state=self.random_state).fit(X,y); self.classes_=self.t.classes_
        self.prior=np.bincount(y)/len(y); t=self.t.tree_
        n=t.weighted_n_node_samples[:,None]; self.p=(t.value[:,0,:]*n+self.m*self.prior)/(n+self.m); return self
    def predict_proba(self,X): return self.p[self.t.apply(X)]
