"""Inference: confidence intervals, confidence bands, tests and sample sizes."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
