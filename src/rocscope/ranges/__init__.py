"""Counts in ranges of the score (bins and sketches), with bounds on metrics that such counts do not determine."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
