"""Planning a study: how many cases its tests and intervals take."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
