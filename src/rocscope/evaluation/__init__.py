"""Honest evaluation: models fitted to some rows and judged on others."""
