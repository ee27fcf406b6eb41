"""The compiled loops, and nothing else: of ranked rows, of cells of the score, and of more than two classes."""

from rocscope.kernels import cells, classes, ranks
from rocscope.kernels.kernel import SMALL, Kernel

__all__ = ["SMALL", "Kernel", "cells", "classes", "ranks"]
