"""Segments: the counts of many parts of the data at once, such as users, shops or regions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
