"""Named performance measures, their influence functions, and conditions on them."""
