"""The difference of two areas where data are thin: Welch's t, drawn towards what both intervals together say."""

from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
from scipy import optimize, special

from rocscope.inference.areas.effective_size import EffectiveSize
from rocscope.inference.areas.placements import AucSample

_ROUNDING = 1e-14  # a variance of a difference below this share is what rounding leaves of 0
_SMALL, _LARGE = 20, 50  # rows of a class with which even equal areas want all the care, and none
_LARGEST = 1e8  # quantile that stands for all beyond: probabilities of few degrees of freedom have none
_UNTOLD, _TOLD = 6.0, 12.0  # rows that tell how much ranks vary: too few, and enough
_SUREST = 37.0  # normal quantile beyond which probabilities are 0 to double precision


@dataclass(frozen=True)
class AreaDifference:
    """A difference of areas, second − first, by their effective sizes and by the placements of both.

    Parameters
    ----------
    first, second : EffectiveSize
    correlation : float
        Of the two estimates; 0 for independent samples.
    variance, df : float
        Of the difference, as Welch's t takes it; NaN where placements do not say.

    Notes
    -----
    Two intervals. MOVER: L = D − √((B − l_B)² + (u_A − A)² − 2ρ(B − l_B)(u_A − A)), and U likewise, with the ends of
    both areas' own intervals. Welch's: D ± t·√(a + b), with the variances a, b of the differences of placements in
    either class and (a + b)²/(a²/(m − 1) + b²/(n − 1)) degrees of freedom. Welch's holds where enough rows tell how
    much ranks vary, and for equal areas nearly always; MOVER's is wider and holds always. So the interval reaches
    beyond Welch's towards MOVER's, by a share c: 1 with 6 such rows or fewer, 0 with 12 or more. A difference θ between
    0 and D is held against c·|θ/D| of it only, as it is the less of a risk the nearer the areas are: L solves
    D − L = w + c·|L/D|·(m − w) with the half-widths w of Welch and m of MOVER. (With fewer than 50 rows of a class w
    itself moves towards m, by all of c with 20 or fewer: unlike spreads of the two models then mislead Welch's.) A test
    rejects where this interval would not hold the null.

    References
    ----------
    Zou & Donner 2008, Stat. Med. 27:1693–1702; Welch 1947, Biometrika 34:28–35.
    """

    first: EffectiveSize
    second: EffectiveSize
    correlation: float
    variance: float
    df: float

    @property
    def value(self) -> float:
        """Second − first."""
        return self.second.auc - self.first.auc

    @property
    def standard_error(self) -> float:
        """From the placements; by the effective sizes where these do not say."""
        if self.variance > 0:
            return sqrt(self.variance)
        a, b = self.first.variance, self.second.variance
        return sqrt(max(a + b - 2 * self.correlation * sqrt(a * b), 0.0)) or nan

    @property
    def reason(self) -> str:
        """Why the interval is not to be trusted; empty where it is."""
        return self.first.reason or self.second.reason

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval, cut at ±1."""
        z = float(special.ndtri((1 + level) / 2))
        return self._low(z), self._high(z)

    def p_above(self, null: float) -> float:
        """Return the one-sided p-value of the test that the difference is above `null`."""
        return _p_value(self._low, self.value, null)

    def p_below(self, null: float) -> float:
        """Return the one-sided p-value of the test that the difference is below `null`."""
        return _p_value(lambda z: -self._high(z), -self.value, -null)

    @property
    def caution(self) -> float:
        """How much of what MOVER reaches beyond Welch's interval is taken: 1 where few rows tell how ranks vary."""
        informative = min(self.first.informative, self.second.informative)
        return 1.0 if isnan(self.variance) else float(np.clip((_TOLD - informative) / (_TOLD - _UNTOLD), 0, 1))

    def _low(self, z: float) -> float:
        a, b = self._reaches(z)
        return max(self.value - self._reach(z, _apart(b[0], a[1], self.correlation), self.value), -1.0)

    def _high(self, z: float) -> float:
        a, b = self._reaches(z)
        return min(self.value + self._reach(z, _apart(b[1], a[0], self.correlation), -self.value), 1.0)

    def _reach(self, z: float, mover: float, to_zero: float) -> float:
        """Return how far the interval reaches on one side, on which 0 lies at a distance (below 0: on the other)."""
        welch = self._welch(z)
        more = self.caution * max(mover - welch, 0.0)
        if to_zero <= 0 or not self.variance > 0:
            return welch + more
        least = welch + self._caution_at_zero * more
        more -= least - welch
        if least <= to_zero:
            return to_zero * (least + more) / (to_zero + more)
        beyond = least - to_zero
        return to_zero + min(beyond / (1 - more / to_zero) if more < to_zero else inf, beyond + more)

    @property
    def _caution_at_zero(self) -> float:
        smallest = min(self.first.smallest, self.second.smallest)
        return float(np.clip((_LARGE - smallest) / (_LARGE - _SMALL), 0, 1))

    def _welch(self, z: float) -> float:
        return 0.0 if isnan(self.variance) else student(z, self.df) * sqrt(self.variance)

    def _reaches(self, z: float) -> list[tuple[float, float]]:
        found = []
        for size in (self.first, self.second):
            low, high = size.interval_at(student(z, size.df))
            found.append((size.auc - low, high - size.auc))
        return found


def student(z: float, df: float) -> float:
    """Return the t quantile of the probability that a normal one has.

    Examples
    --------
    >>> student(1.959963984540054, 10)
    2.228...
    """
    quantile = z if df == inf else -float(special.stdtrit(df, special.ndtr(-z)))
    return quantile if abs(quantile) < _LARGEST else _LARGEST


def _apart(one: float, other: float, correlation: float) -> float:
    return sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0))


def _p_value(low: Any, value: float, null: float) -> float:
    """Return the probability at which the lower end of a one-sided interval is the null."""
    if value <= null:
        return 0.5 if value == null else 1.0
    if low(_SUREST) >= null:
        return 0.0
    solve: Any = optimize.brentq
    return float(special.ndtr(-solve(lambda z: low(z) - null, 0.0, _SUREST, xtol=1e-10)))


def paired_difference(sample: AucSample, i: int, j: int) -> AreaDifference:
    """Return the difference of two models of the same rows."""
    first, second = sample.size(i), sample.size(j)
    covariance = sample.covariance
    both = float(covariance[i, i] * covariance[j, j])
    correlation = float(np.clip(covariance[i, j] / sqrt(both), -1, 1)) if both > 0 else 0.0
    if len(sample.strata) == 1:
        variance = float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
        return AreaDifference(first, second, correlation, max(variance, 0.0), sample.strata[0].df)
    parts = [stratum.variance_of_difference(i, j) for stratum in sample.strata]
    df = satterthwaite(parts, [stratum.freedom for stratum in sample.strata])
    return AreaDifference(first, second, correlation, sum(parts), df)


def unpaired_difference(first: AucSample, second: AucSample) -> AreaDifference:
    """Return the difference of the only models of two independent samples."""
    parts = [stratum.variance(0) for sample in (first, second) for stratum in sample.strata]
    df = satterthwaite(parts, [stratum.freedom for sample in (first, second) for stratum in sample.strata])
    variance = float(first.covariance[0, 0] + second.covariance[0, 0])
    return AreaDifference(first.size(0), second.size(0), 0.0, variance, df)


def satterthwaite(parts: list[float], df: list[float]) -> float:
    """Return the degrees of freedom of a sum of variances; at least 1."""
    total = sum(parts)
    if not total > 0:
        return 1.0
    return max(1.0, total**2 / sum(part**2 / d for part, d in zip(parts, df, strict=True)))
