"""Curves: ROC, precision–recall, DET, gain, lift, profit, cost and decision curves."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
