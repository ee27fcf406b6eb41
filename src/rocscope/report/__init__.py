"""Report: one HTML file that opens offline, with charts, models, best points and conventions."""

from rocscope.report.page import Report

__all__ = ["Report"]
