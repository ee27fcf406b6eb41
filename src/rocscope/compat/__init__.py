"""Replacements for functions of other libraries, with the same signatures and results."""

from rocscope._base.public_names import refusing

__getattr__ = refusing(__name__, ("displays", "sklearn"))
