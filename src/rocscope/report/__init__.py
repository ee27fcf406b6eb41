"""One HTML file that opens offline: charts, models, best points, conventions."""

from rocscope.report.page import Report

__all__ = ["Report"]
