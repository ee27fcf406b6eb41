"""Compile the loops that rank and outline large data, once: the first large file then waits for no compiler."""

import numpy as np

import rocscope as rs
from rocscope.kernels import SMALL
from rocscope.report.summary import outline

for dtype in (np.float32, np.float64):
    rows = rs.Predictions(np.arange(SMALL) % 2, np.arange(SMALL, dtype=dtype))
    outline("", rows.counts(), bins=False)
