"""Read rows from files, streams, data frames and databases."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
