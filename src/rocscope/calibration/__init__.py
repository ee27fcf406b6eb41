"""Calibration: do predicted probabilities mean what they say, and how to mend them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
