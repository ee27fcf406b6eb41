"""Watching a decision while it is used: what holds at every look, however often one looks."""
