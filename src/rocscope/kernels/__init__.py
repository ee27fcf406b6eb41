"""The compiled loops, and nothing else: of sorting, ranked rows, weights, groups, cells, and several classes."""

from rocscope.kernels import cells, classes, groups, lines, parts, ranks, weights
from rocscope.kernels.kernel import SMALL, Kernel

__all__ = ["SMALL", "Kernel", "cells", "classes", "groups", "lines", "parts", "ranks", "weights"]
