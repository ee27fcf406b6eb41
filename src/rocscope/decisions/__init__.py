"""Decisions: model, threshold and cases to act on, for given costs."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
