"""Curves, each a pair of functions of the counts."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
