"""Commands that open, or write, the interactive page."""
