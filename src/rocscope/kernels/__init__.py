"""Compiled loops (numba), and nothing else."""

from rocscope.kernels import cells, classes, lines, parts, ranks, segments, weights
from rocscope.kernels.kernel import SMALL, Kernel

__all__ = ["SMALL", "Kernel", "cells", "classes", "lines", "parts", "ranks", "segments", "weights"]
