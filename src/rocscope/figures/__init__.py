"""Figures: named performance measures, and conditions on them."""
