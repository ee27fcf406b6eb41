"""Estimate and Comparison: a value with its interval, and a difference with its test."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from math import inf, isnan, nan
from typing import ClassVar, overload

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.formatting import p_value
from rocscope.core.result import ComparedByValue, Result, html_table
from rocscope.errors import ColumnError


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(ComparedByValue):
    """A value with a confidence interval.

    Parameters
    ----------
    value, low, high : float
        The estimate and the ends of its interval.
    level : float
        Confidence level, such as 0.95.
    method : str
        How the interval was made, as tables and legends name it.
    n : float
        Cases that it rests on.
    standard_error : float, optional
        On the scale of `value`; NaN where the method has none.
    reason : str, optional
        Why the interval is not to be trusted, such as too few positives; empty where it is.

    Examples
    --------
    >>> estimate = Estimate(0.8, 0.7, 0.9, level=0.95, method="DeLong", n=120)
    >>> estimate
    Estimate(0.8, 95 % interval 0.7 to 0.9, DeLong, n=120)
    >>> 0.75 in estimate, float(estimate)
    (True, 0.8)
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: float
    standard_error: float = nan
    reason: str = ""
    _also: ClassVar[tuple[str, ...]] = ("reliable",)

    @property
    def reliable(self) -> bool:
        """Whether the interval has its nominal coverage, according to simulations; `reason` states why not."""
        return not self.reason

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __float__(self) -> float:
        return float(self.value)

    def shifted(self, by: float) -> "Estimate":
        """Return the estimate of the value plus a constant."""
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)

    @property
    def words(self) -> str:
        """The value, with its interval if there is one."""
        if isnan(self.low) and isnan(self.high):
            return f"{self.value:.4g}"
        return f"{self.value:.4g}, {100 * self.level:g} % interval {self.low:.4g} to {self.high:.4g}"

    @property
    def cells(self) -> tuple[str, str]:
        """Value and interval as table cells."""
        return f"{self.value:.4g}", f"{self.low:.4g} to {self.high:.4g}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.words}, {self.method}, n={self.n:g}{self.doubt})"

    @property
    def doubt(self) -> str:
        """Suffix of a line about the estimate if it is not reliable."""
        return f"; not reliable: {self.reason}" if self.reason else ""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The difference of two models in a quantity, with interval and test.

    Parameters
    ----------
    first, second : str
        Names; the difference is second − first.
    difference : Estimate
    statistic : float
        What was referred to its null distribution; NaN where the test has none.
    p_value : float
    alternative : str
        What the test would show: "two-sided", "greater" or "less".
    test, margin : str, float
        "difference"; or "superiority", "noninferiority" or "equivalence" by a margin.
    df : float
        Degrees of freedom of the statistic; infinite for a normal one.
    adjusted_p_value : float
        After correction for several comparisons; NaN where none was made.
    method : str
        Name of the test.

    Examples
    --------
    >>> gain = Estimate(0.05, 0.01, 0.09, level=0.95, method="DeLong, paired", n=200)
    >>> Comparison("a", "b", gain, statistic=2.45, p_value=0.0143, method="DeLong, paired")
    Comparison(b − a: 0.05, 95 % interval 0.01 to 0.09, p=0.0143, two-sided, DeLong, paired)
    """

    first: str
    second: str
    difference: Estimate
    statistic: float
    p_value: float
    method: str
    alternative: str = "two-sided"
    margin: float = 0.0
    df: float = inf
    adjusted_p_value: float = nan
    test: str = "difference"

    @property
    def aim(self) -> str:
        """The hypothesis to be shown, as text."""
        return self.alternative if self.test == "difference" else f"{self.test} by {self.margin:g}"

    def __repr__(self) -> str:
        adjusted = f", adjusted p={self.adjusted_p_value:.3g}" if self.adjusted_p_value > self.p_value else ""
        test = f"p={self.p_value:.3g}{adjusted}, {self.aim}, {self.method}"
        return f"Comparison({self.second} − {self.first}: {self.difference.words}, {test}{self.difference.doubt})"


@dataclass(frozen=True, eq=False, repr=False)
class Omnibus(ComparedByValue):
    """The test that several models are equal in a quantity.

    Attributes
    ----------
    statistic, df, df_error : float
        F with these degrees of freedom.
    p_value : float
    method : str
    reason : str
        Why it is not to be trusted; empty where it is.

    Examples
    --------
    >>> from rocscope import Predictions, compare
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> models = {"a": [1, 2, 4, 3, 5, 6], "b": [2, 4, 5, 1, 3, 6], "c": [1, 3, 5, 2, 4, 6]}
    >>> 0 <= compare(Predictions(y, models)).omnibus.p_value <= 1
    True
    """

    statistic: float
    df: float
    df_error: float
    p_value: float
    method: str
    reason: str = ""
    _also: ClassVar[tuple[str, ...]] = ("reliable",)

    @property
    def reliable(self) -> bool:
        """Whether the test has its nominal size, according to simulations; `reason` states why not."""
        return not self.reason

    def __repr__(self) -> str:
        doubt = f"; not reliable: {self.reason}" if self.reason else ""
        law = f"F={self.statistic:.4g} with {self.df:g} and {self.df_error:.3g} df"
        return f"Omnibus({law}, p={self.p_value:.3g}, {self.method}{doubt})"


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Sequence[Comparison], Result):
    """Estimates of several models, their covariance, and the comparison of each pair.

    A sequence of `Comparison`; a pair is also found by its names.

    Parameters
    ----------
    quantity : str
        What was compared.
    estimates : mapping from model name to Estimate
    covariance : array of m × m
        Of the estimates, in that order.
    pairs : sequence of Comparison
        Of each two models, the earlier one first.
    adjust : str
        How the adjusted p-values allow for the number of pairs.
    omnibus : Omnibus, optional
        The test that all are equal, where there are three or more.

    Examples
    --------
    >>> a, b = (Estimate(v, v - 0.1, v + 0.1, level=0.95, method="DeLong", n=50) for v in (0.7, 0.8))
    >>> gain = Estimate(0.1, -0.02, 0.22, level=0.95, method="DeLong, paired", n=50)
    >>> pair = Comparison("a", "b", gain, 1.6, 0.11, "DeLong, paired")
    >>> result = Comparisons("AUC", {"a": a, "b": b}, np.eye(2), [pair], "holm")
    >>> result
    Comparisons(AUC: a 0.7, b 0.8; smallest p=0.11)
    >>> result["b", "a"].p_value, len(result), result.estimates["b"].value
    (0.11, 1, 0.8)
    """

    _content = ("quantity", "estimates", "covariance", "adjust", "omnibus", "pairs")

    quantity: str
    estimates: Mapping[str, Estimate]
    covariance: Array
    pairs: Sequence[Comparison]
    adjust: str = "holm"
    omnibus: Omnibus | None = None
    _index: dict[frozenset[str], int] = field(init=False)

    def __post_init__(self) -> None:
        index = {frozenset((pair.first, pair.second)): i for i, pair in enumerate(self.pairs)}
        covariance = check.read_only(np.asarray(self.covariance, dtype=np.float64))
        check.settle(self, covariance=covariance, estimates=dict(self.estimates), pairs=tuple(self.pairs), _index=index)

    @overload
    def __getitem__(self, index: int | tuple[str, str]) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Comparison]: ...
    def __getitem__(self, index: int | slice | tuple[str, str]) -> Comparison | Sequence[Comparison]:
        if not isinstance(index, tuple):
            return self.pairs[index]
        if frozenset(index) not in self._index:
            raise ColumnError("models", expected=f"two of {list(self.estimates)}", got=repr(index))
        return self.pairs[self._index[frozenset(index)]]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {estimate.value:.4g}" for name, estimate in self.estimates.items())
        smallest = f"; smallest p={min(self._p_values):.3g}" if self._p_values else ""
        equal = f"; all equal: p={self.omnibus.p_value:.3g}" if self.omnibus else ""
        return f"Comparisons({self.quantity}: {values}{smallest}{equal})"

    @property
    def _p_values(self) -> list[float]:
        return [pair.p_value for pair in self.pairs if not isnan(pair.p_value)]

    def _repr_html_(self) -> str:
        if self.pairs and not self._p_values:
            return super()._repr_html_() + "".join(f"<p>{escape(repr(pair))}</p>" for pair in self.pairs)
        rows = [
            (
                f"{pair.second} − {pair.first}",
                *pair.difference.cells,
                p_value(pair.p_value),
                p_value(pair.adjusted_p_value),
                pair.difference.reason or "yes",
            )
            for pair in self.pairs
        ]
        return super()._repr_html_() + html_table(rows, ("", "difference", "interval", "p", "adjusted", "reliable"))
