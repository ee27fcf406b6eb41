"""Interactive reports: HTML files with charts, tables and the best threshold, which need no internet connection."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
