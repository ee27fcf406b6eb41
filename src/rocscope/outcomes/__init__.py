"""Evaluate with outcomes that are not observed for every row: censored follow-up, experiments and missing labels."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
