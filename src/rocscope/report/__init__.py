"""Interactive reports: HTML files with charts, tables and the best threshold, which need no internet connection."""

from rocscope._base.public_names import refusing
from rocscope.report.page import Report

__all__ = ["Report"]
__getattr__ = refusing(__name__, __all__)
