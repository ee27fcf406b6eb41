"""Loops that numba compiles."""

from rocscope.kernels import cells, classes, parts, ranks, samples, segments, weights
from rocscope.kernels.kernel import SMALL, Kernel, compiled_pays, few

__all__ = [
    "SMALL",
    "Kernel",
    "cells",
    "classes",
    "compiled_pays",
    "few",
    "parts",
    "ranks",
    "samples",
    "segments",
    "weights",
]
