"""Scikit-learn classifiers that choose thresholds, mixtures or class weights inside folds."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
