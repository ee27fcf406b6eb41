"""Decisions: which model, where to cut, whom to contact, in which context."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
