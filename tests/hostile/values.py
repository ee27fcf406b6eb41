"""Values that no parameter of the library may fail on: each is answered, or refused with an error of rocscope's own."""

import datetime
import enum
import io
import math
import types
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

N = 60


class Gradient:
    """A tensor that remembers its gradient, which refuses to be an array as torch's does."""

    requires_grad, shape, ndim = True, (N,), 1

    def __len__(self):
        return N

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


class Undecided:
    """An object that cannot be compared or asked whether it is true."""

    def __bool__(self):
        raise RuntimeError("no truth")

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None


class Endless:
    """A sequence that says that it is longer than memory."""

    def __len__(self):
        return 2**62

    def __getitem__(self, place):
        return 0


class Text(str):
    """A text of another class."""


class Grade(enum.IntEnum):
    """Numbers with names."""

    A = 1


def _recursive():
    nested = []
    nested.append(nested)
    return nested


# Each is made anew for every call: generators and files are used up by one.
VALUES = {
    "None": lambda: None,
    "True": lambda: True,
    "zero": lambda: 0,
    "one": lambda: 1,
    "below zero": lambda: -1,
    "2^31": lambda: 2**31,
    "2^60": lambda: 2**60,
    "beyond 64 bits": lambda: 2**70,
    "beyond floats": lambda: 10**400,
    "NaN": lambda: math.nan,
    "infinity": lambda: math.inf,
    "minus infinity": lambda: -math.inf,
    "a half": lambda: 0.5,
    "above one": lambda: 1.5,
    "the largest float": lambda: 1.7e308,
    "the smallest float": lambda: 5e-324,
    "a complex number": lambda: 1j,
    "a fraction": lambda: Fraction(1, 3),
    "a decimal": lambda: Decimal("0.5"),
    "a decimal NaN": lambda: Decimal("NaN"),
    "a signalling NaN": lambda: Decimal("sNaN"),
    "a NumPy float": lambda: np.float32(0.5),
    "a NumPy NaN": lambda: np.float64("nan"),
    "a NumPy integer": lambda: np.int8(-3),
    "a NumPy bool": lambda: np.bool_(True),
    "NaT": lambda: pd.NaT,
    "NA": lambda: pd.NA,
    "no text": lambda: "",
    "text": lambda: "x",
    "NaN as text": lambda: "nan",
    "two lines": lambda: "a\nb",
    "a long text": lambda: "x" * 5000,
    "a null character": lambda: "a\0b",
    "a lone surrogate": lambda: "\ud800",
    "a text of another class": lambda: Text("a"),
    "a bound beyond floats": lambda: "tpr>=1e400",
    "a size beyond floats": lambda: "9" * 60 + " GB",
    "a condition": lambda: "1",
    "bytes": lambda: b"x",
    "a path": lambda: Path("no/such/file.csv"),
    "nothing listed": list,
    "a list of None": lambda: [None],
    "a list of NaN": lambda: [math.nan] * N,
    "a list of two kinds": lambda: ["a", 1],
    "a list of texts": lambda: ["x"] * N,
    "lists of different lengths": lambda: [[1], [2, 3]] * (N // 2),
    "a list of itself": _recursive,
    "a list of objects": lambda: [object()] * N,
    "large whole numbers": lambda: [2**70] * N,
    "a pair": lambda: (1, 0),
    "a set": lambda: {1, 2},
    "a range": lambda: range(N),
    "a range beyond memory": lambda: range(2**62),
    "an endless sequence": Endless,
    "a generator": lambda: (i for i in range(N)),
    "an empty mapping": dict,
    "a mapping of numbers": lambda: {1: 2},
    "a mapping of None": lambda: {None: None},
    "a mapping of texts": lambda: {"a": "x"},
    "a mapping of objects": lambda: {"a": object(), "b": object()},
    "an array of no dimension": lambda: np.array(0.5),
    "an array": lambda: np.array([1.0, 2.0]),
    "an empty array": lambda: np.array([]),
    "a column": lambda: np.linspace(0, 1, N),
    "a matrix": lambda: np.ones((N, 2)),
    "a cube": lambda: np.ones((2, 2, 2)),
    "dates": lambda: np.array(["2020-01-01"] * N, "M8[D]"),
    "spans of time": lambda: np.array([1] * N, "m8[s]"),
    "long doubles": lambda: np.ones(N, "longdouble"),
    "records": lambda: np.zeros(N, [("a", "f8")]),
    "a mask": lambda: np.ma.masked_array(np.ones(N), [True] + [False] * (N - 1)),
    "objects": lambda: np.array([None, 1, "x"] * (N // 3), dtype=object),
    "a series": lambda: pd.Series(np.linspace(0, 1, N), index=range(N, 0, -1)),
    "a frame of numbered columns": lambda: pd.DataFrame(np.ones((N, 2))),
    "an empty frame": pd.DataFrame,
    "a polars frame": lambda: pl.DataFrame({"a": [None, 1]}),
    "a date": lambda: datetime.date(2020, 1, 1),
    "a number with a name": lambda: Grade.A,
    "an object": object,
    "a class": lambda: int,
    "a function": lambda: lambda *_, **__: 0,
    "a module": lambda: types,
    "a slice": lambda: slice(None, None, 0),
    "an ellipsis": lambda: ...,
    "an open file": lambda: io.StringIO("x"),
    "a gradient": Gradient,
    "an object without a truth value": Undecided,
}
