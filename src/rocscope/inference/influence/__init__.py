"""Influence functions: variances and tests of any smooth statistic without resampling."""
