"""Classifiers for scikit-learn whose thresholds, mixtures and class weights are fitted inside folds."""
