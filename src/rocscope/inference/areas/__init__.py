"""Areas under ROC curves: effective sizes, intervals, and tests of two or more."""
