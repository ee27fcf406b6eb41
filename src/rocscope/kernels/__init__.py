"""The compiled loops and nothing else: sorting, ranked rows, weights, segments, cells, classes, and drawn samples."""

from rocscope.kernels import cells, classes, lines, parts, ranks, samples, segments, weights
from rocscope.kernels.kernel import SMALL, Kernel, compiled_pays

__all__ = [
    "SMALL",
    "Kernel",
    "cells",
    "classes",
    "compiled_pays",
    "lines",
    "parts",
    "ranks",
    "samples",
    "segments",
    "weights",
]
