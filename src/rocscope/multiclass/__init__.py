"""Evaluate more than two classes: areas, costs, class weights, calibration and confusion matrices."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
