"""Compiled loops (numba), and nothing else."""

from rocscope.kernels import cells, classes, parts, ranks, segments, weights
from rocscope.kernels.kernel import SMALL, Kernel

__all__ = ["SMALL", "Kernel", "cells", "classes", "parts", "ranks", "segments", "weights"]
