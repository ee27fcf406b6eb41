"""Compile the loops that rank and outline large data, once: the first large file then waits for no compiler."""

import numpy as np

import rocscope as rs
from rocscope.kernels import SMALL
from rocscope.report.model import outline

for size in (SMALL, 1 << 20):  # which are sorted in other ways
    for dtype in (np.float32, np.float64):
        rows = rs.Predictions(np.arange(size) % 2, np.arange(size, dtype=dtype))
        outline("", rows.counts(), bins=False)
