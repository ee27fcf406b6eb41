"""The compiled loops, and nothing else: of sorting, ranked rows, weights, segments, cells, and several classes."""

from rocscope.kernels import cells, classes, lines, parts, ranks, segments, weights
from rocscope.kernels.kernel import SMALL, Kernel

__all__ = ["SMALL", "Kernel", "cells", "classes", "lines", "parts", "ranks", "segments", "weights"]
