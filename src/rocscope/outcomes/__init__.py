"""Outcomes that not every row shows: censored follow-up, controlled experiments, and labels that are missing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
