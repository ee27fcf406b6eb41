"""Evaluate models on rows that they were not trained on."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
