"""Calibration of predicted probabilities: curves, scores, tests and recalibration."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
