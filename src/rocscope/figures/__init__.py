"""Figures: the named numbers that a classifier is judged by, and the conditions that are set on them."""
