"""scikit-learn classifiers with thresholds, mixtures and class weights fitted inside folds."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
