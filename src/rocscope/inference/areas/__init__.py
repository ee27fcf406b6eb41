"""Areas under ROC curves: what they are worth as trials, their intervals, and the tests of two and of more."""
