"""The compiled loops, and nothing else: of ranked rows, weights, groups, cells of the score, and several classes."""

from rocscope.kernels import cells, classes, groups, ranks, weights
from rocscope.kernels.kernel import SMALL, Kernel

__all__ = ["SMALL", "Kernel", "cells", "classes", "groups", "ranks", "weights"]
