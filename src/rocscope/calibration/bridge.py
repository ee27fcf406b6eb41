"""Confusion matrices, ROC curve and lift chart from a calibration function (Vuk & Curk 2006, eq. 6.2–6.8).

A calibration function p(o) is the probability of the event at the score o, and q(o) is the density of the scores.
Together with the number of rows n, p and q contain the same information as labels and scores. At the threshold t, TP is
n·∫ p·q from t to 1, and FP is n·∫ (1 − p)·q from t to 1. `CalibrationFunction` represents p and q for finitely many
scores, and `ContinuousCalibration` for a continuous score.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import quad

from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.core import OperatingPoint, Result, ThresholdCounts, number
from rocscope.errors import InputError, OneClassError
from rocscope.sample import counts_of

Function = Callable[[float], float]

_TOLERANCE = 1e-6  # cases by which rounding and integration may miss whole numbers
_PRECISION = 1e-11  # of the integrals: far below the tolerance
_LEVELS = 1000  # points of a curve that is given as a function: 0.1% of the range each
_NODES = 8  # of Gauss–Legendre quadrature: exact for polynomials up to degree 15


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationFunction(Result):
    """Calibration function of finitely many scores: frequency of each score, and share of positives at each score.

    Attributes
    ----------
    score : array of k
        Distinct scores in decreasing order.
    chance : array of k
        Share p of positives among the rows with each score.
    share : array of k
        Share q of each score among all rows. The sum of the shares is 1.
    n_pos, n_neg : float
        Numbers P of positives and N of negatives.

    Examples
    --------
    >>> function = CalibrationFunction.from_counts([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9])
    >>> function.chance, function.share
    (array([1. , 0.5]), array([0.5, 0.5]))
    >>> function.counts().tp
    array([2, 3])
    """

    score: Array
    chance: Array
    share: Array
    n_pos: float
    n_neg: float

    @classmethod
    def from_counts(cls, y_true: Any, y_score: Any = None, **options: Any) -> "CalibrationFunction":
        """Estimate p and q from the data of one model; see `rocscope.sample`.

        Parameters
        ----------
        y_true, y_score : see `rocscope.sample`
        **options
            Further data of the rows, such as ``sample_weight``.

        Examples
        --------
        >>> function = CalibrationFunction.from_counts([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9])
        >>> function.score, function.chance
        (array([0.9, 0.2]), array([1. , 0.5]))
        """
        counts = counts_of(y_true, y_score, **options)
        total = counts.pos + counts.neg
        return cls(counts.probabilities("scores"), counts.pos / total, total / counts.n, counts.n_pos, counts.n_neg)

    def counts(self) -> ThresholdCounts:
        """Return the numbers of positives and negatives at each score: p·q·(P + N) and (1 − p)·q·(P + N).

        If P and N are integers and all numbers are within 10⁻⁶ of integers, they are rounded. This recovers the
        original counts if p and q were computed from counts.

        Raises
        ------
        InputError
            If a value of p or q is not between 0 and 1, if the sum of q is not 1, or if p and q do not give P
            positives.

        Examples
        --------
        >>> counts = CalibrationFunction.from_counts([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9]).counts()
        >>> counts.pos, counts.neg
        (array([2, 1]), array([0, 1]))
        """
        chance, share = np.asarray(self.chance), np.asarray(self.share)
        _check_shares("chance", chance)
        _check_shares("share", share)
        _agree("share", float(share.sum()), 1.0, "a sum of")
        n = self.n_pos + self.n_neg
        _agree("n_pos as computed from chance and share", float(chance @ share) * n, self.n_pos, "", scale=n)
        cells = np.array([chance, 1 - chance]) * share * n
        rounded = np.rint(cells)
        if n == round(n) and np.abs(cells - rounded).max() < _TOLERANCE:
            cells = rounded.astype(np.int64)
        return ThresholdCounts(np.asarray(self.score), *cells)

    def __repr__(self) -> str:
        return f"CalibrationFunction({len(self.score)} scores, n_pos={number(self.n_pos)}, n_neg={number(self.n_neg)})"


@held_to_contract
@dataclass(frozen=True)
class ContinuousCalibration:
    """Calibration function p and density q of a continuous score from 0 to 1.

    Parameters
    ----------
    chance : function
        Function p(o) that returns the probability of the event at the score o.
    density : function
        Function q(o) that returns the density of the scores at o. Its integral from 0 to 1 must be 1.
    n : float
        Number of rows.

    Raises
    ------
    InputError
        If the density does not integrate to 1.
    OneClassError
        If there are only positives or no positives.

    Notes
    -----
    Integrals are computed by adaptive quadrature. They are less accurate if p or q has jumps.

    References
    ----------
    Vuk & Curk 2006, eq. 6.2–6.8.

    Examples
    --------
    If scores are calibrated and uniform, the AUC is 5/6:

    >>> model = ContinuousCalibration(lambda o: o, lambda o: 1.0, n=200)
    >>> round(model.auc, 12), model.n_pos
    (0.833333333333, 100.0)
    >>> point = model.at(0.5)
    >>> round(point.tp, 9), round(point.fp, 9)
    (75.0, 25.0)
    """

    chance: Function
    density: Function
    n: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.n < np.inf:
            raise InputError("n", expected="a number of rows above 0", got=repr(self.n))
        _agree("density", self._integral(self.density, 0), 1.0, "an integral of")
        if not 0 < self.n_pos < self.n:
            got = f"{self.n_pos:g} positives among {self.n:g} rows"
            raise OneClassError("chance", expected="both classes", got=got)

    @property
    def n_pos(self) -> float:
        """Number of positives, n·∫ p·q."""
        return self.n * self._positive(0)

    @property
    def n_neg(self) -> float:
        """Number of negatives, n·∫ (1 − p)·q."""
        return self.n - self.n_pos

    def at(self, threshold: float) -> OperatingPoint:
        """Return the confusion matrix at a threshold of the score (eq. 6.3–6.4).

        Parameters
        ----------
        threshold : float
            Lowest score that is predicted positive.

        Examples
        --------
        The scores are uniform and calibrated. Half of the 200 cases have a score of at least 0.5, and their mean
        probability is 0.75:

        >>> point = ContinuousCalibration(lambda o: o, lambda o: 1.0, n=200).at(0.5)
        >>> round(point.tp, 6), round(point.fp, 6)
        (75.0, 25.0)
        """
        start = min(max(threshold, 0.0), 1.0)
        tp, predicted = self.n * self._positive(start), self.n * self._integral(self.density, start)
        fp = max(predicted - tp, 0.0)
        return OperatingPoint(tp, fp, max(self.n_pos - tp, 0.0), max(self.n_neg - fp, 0.0), threshold)

    @property
    def auc(self) -> float:
        """Area under the ROC curve (eq. 6.8)."""
        # Pairs of a negative at a score and a positive above it.
        ordered = self._integral(lambda o: (1 - self.chance(o)) * self.density(o) * self._positive(o), 0)
        return ordered * self.n**2 / (self.n_pos * self.n_neg)

    @property
    def lift_area(self) -> float:
        """Area under the lift chart: the mean number of true positives over all shares of predicted positives."""
        return self.n * self._integral(lambda o: self.density(o) * self._positive(o), 0)

    def counts(self, levels: int = _LEVELS) -> ThresholdCounts:
        """Return the numbers of positives and negatives in `levels` score intervals of equal width.

        The score of an interval is its lower end. At this score, the method `at` returns the same TP and FP.

        Examples
        --------
        Each of the two halves of the scores has 100 cases. Their mean probabilities are 0.75 and 0.25:

        >>> counts = ContinuousCalibration(lambda o: o, lambda o: 1.0, n=200).counts(2)
        >>> counts.threshold, counts.pos.round(6)
        (array([0.5, 0. ]), array([75., 25.]))
        """
        edges = np.linspace(0, 1, levels + 1)
        node, weight = np.polynomial.legendre.leggauss(_NODES)
        at = edges[:-1, None] + (node + 1) / (2 * levels)
        density = np.vectorize(self.density, otypes=[float])(at) * weight / (2 * levels) * self.n
        positive = density * np.vectorize(self.chance, otypes=[float])(at)
        pos = np.maximum(positive.sum(axis=1)[::-1], 0)
        neg = np.maximum((density - positive).sum(axis=1)[::-1], 0)
        return ThresholdCounts(edges[-2::-1], pos, neg)

    def _positive(self, start: float) -> float:
        return self._integral(lambda o: self.chance(o) * self.density(o), start)

    @staticmethod
    def _integral(function: Function, start: float) -> float:
        return quad(function, start, 1, epsabs=_PRECISION, epsrel=_PRECISION, limit=200)[0]


def _check_shares(name: str, column: Array) -> None:
    bad = ~((column >= 0) & (column <= 1))
    if bad.any():
        raise InputError(name, expected="shares from 0 to 1", got=repr(column[bad][0].item()))


def _agree(name: str, value: float, wanted: float, what: str, scale: float = 1.0) -> None:
    if not abs(value - wanted) <= _TOLERANCE * scale:
        raise InputError(name, expected=f"{what} {wanted:g}".strip(), got=f"{what} {value:g}".strip())
