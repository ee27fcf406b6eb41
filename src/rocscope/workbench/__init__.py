"""The workbench: an interactive page for data of any size, with SQL filters, for browsers on this machine only."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
