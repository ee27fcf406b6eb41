"""How sure are we: intervals, bands, tests and sample sizes."""
