"""Evaluation on unseen data: models are fitted on some rows and evaluated on others."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
