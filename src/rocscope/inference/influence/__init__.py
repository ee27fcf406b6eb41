"""How far each row moves an estimate: variances and tests of any smooth statistic, without resampling."""
