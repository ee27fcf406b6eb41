"""Interactive reports: HTML files with charts, tables and the best threshold, which need no internet connection."""

from rocscope.report.page import Report

__all__ = ["Report"]
