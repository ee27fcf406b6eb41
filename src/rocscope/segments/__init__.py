"""Evaluate many segments of the data at once, such as users, shops or regions."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
