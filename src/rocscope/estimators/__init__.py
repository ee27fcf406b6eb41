"""Classifiers for scikit-learn whose thresholds, mixtures and class weights are fitted inside folds."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
