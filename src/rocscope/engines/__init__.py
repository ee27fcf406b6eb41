"""Engines: files, streams, data frames and databases as sources of rows."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
