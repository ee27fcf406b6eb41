"""Functions of other libraries, with their signatures and results, computed here."""

from rocscope._base.public_names import refusing

__getattr__ = refusing(__name__, ("displays", "sklearn"))
