"""Sequential monitoring of a decision in use, valid at every look."""
