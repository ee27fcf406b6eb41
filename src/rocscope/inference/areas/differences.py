"""Differences of two areas with small-sample intervals, tests of all pairs, and the omnibus test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import inf, isnan, nan, sqrt
from typing import Any, Literal

import numpy as np
from scipy import optimize, special

from rocscope._base.arrays import Array
from rocscope.errors import warn
from rocscope.inference.areas.auc import Method as OfOne
from rocscope.inference.areas.auc import estimate
from rocscope.inference.areas.placements import AucSample, EffectiveSize
from rocscope.inference.estimate import Comparison, Comparisons, Estimate, Omnibus
from rocscope.inference.hypothesis import Adjust, Hypothesis, compare_each_two, max_t, of_differences
from rocscope.inference.reliability import FEW_FOR_LIMIT

_SMALL, _LARGE = 20, 50  # rows of a class with which even equal areas want all the care, and none
_LARGEST = 1e8  # quantile that stands for all beyond: probabilities of few degrees of freedom have none
_UNTOLD, _TOLD = 6.0, 12.0  # rows that tell how much ranks vary: too few, and enough
_SUREST = 37.0  # normal quantile beyond which probabilities are 0 to double precision


@dataclass(frozen=True)
class AreaDifference:
    """A difference of areas (second − first), from effective sizes and placements.

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
    either class and (a + b)²/(a²/(m − 1) + b²/(n − 1)) degrees of freedom. Welch's holds where enough rows determine
    how much ranks vary, and for equal areas nearly always; MOVER's is wider and holds always. So the interval reaches
    beyond Welch's towards MOVER's, by a share c: 1 with 6 such rows or fewer, 0 with 12 or more. A difference θ between
    0 and D is held against c·|θ/D| of it only, as it is the less of a risk the nearer the areas are: L solves D − L = w
    + c·|L/D|·(m − w) with the half-widths w of Welch and m of MOVER. (With fewer than 50 rows of a class w itself moves
    towards m, by all of c with 20 or fewer: unlike spreads of the two models then mislead Welch's.) A test rejects
    where this interval would not hold the null.

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
        """From the placements; from the effective sizes if these are degenerate."""
        if self.variance > 0:
            return sqrt(self.variance)
        a, b = self.first.variance, self.second.variance
        return sqrt(max(a + b - 2 * self.correlation * sqrt(a * b), 0.0)) or nan

    @property
    def reason(self) -> str:
        """Why the interval is not reliable; empty if it is."""
        return self.first.reason or self.second.reason

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval, clipped to ±1."""
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
        """Weight of MOVER's limits relative to Welch's: 1 if few rows determine the variance of ranks."""
        informative = min(self.first.informative, self.second.informative)
        return 1.0 if isnan(self.variance) else float(np.clip((_TOLD - informative) / (_TOLD - _UNTOLD), 0, 1))

    def _low(self, z: float) -> float:
        a, b = self._reaches(z)
        return max(self.value - self._reach(z, _apart(b[0], a[1], self.correlation), self.value), -1.0)

    def _high(self, z: float) -> float:
        a, b = self._reaches(z)
        return min(self.value + self._reach(z, _apart(b[1], a[0], self.correlation), -self.value), 1.0)

    def _reach(self, z: float, mover: float, to_zero: float) -> float:
        """Return the half-width of the interval on one side, given the signed distance of 0 on that side."""
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
    """Return the t quantile with the tail probability of a normal one.

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
    """Return the level at which the lower limit of a one-sided interval equals the null value."""
    if value <= null:
        return 0.5 if value == null else 1.0
    if low(_SUREST) >= null:
        return 0.0
    solve: Any = optimize.brentq
    return float(special.ndtr(-solve(lambda z: low(z) - null, 0.0, _SUREST, xtol=1e-10)))


def paired_difference(sample: AucSample, i: int, j: int) -> AreaDifference:
    """Return the difference of two models on the same rows."""
    first, second = sample.size(i), sample.size(j)
    covariance = sample.covariance
    both = float(covariance[i, i] * covariance[j, j])
    correlation = float(np.clip(covariance[i, j] / sqrt(both), -1, 1)) if both > 0 else 0.0
    variance = max(float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]), 0.0)
    if len(sample.strata) == 1:
        return AreaDifference(first, second, correlation, variance, sample.strata[0].freedom)
    parts = [stratum.variance_of_difference(i, j) for stratum in sample.strata]
    df = satterthwaite(parts, [stratum.freedom for stratum in sample.strata])
    if sample.covariance_of_units is None:
        variance = sum(parts)
    return AreaDifference(first, second, correlation, variance, df)


def unpaired_difference(first: AucSample, second: AucSample) -> AreaDifference:
    """Return the difference of two models on independent samples."""
    parts = [stratum.variance(0) for sample in (first, second) for stratum in sample.strata]
    df = satterthwaite(parts, [stratum.freedom for sample in (first, second) for stratum in sample.strata])
    variance = float(first.covariance[0, 0] + second.covariance[0, 0])
    return AreaDifference(first.size(0), second.size(0), 0.0, variance, df)


def satterthwaite(parts: list[float], df: list[float]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances, at least 1."""
    total = sum(parts)
    if not total > 0:
        return 1.0
    return max(1.0, total**2 / sum(part**2 / d for part, d in zip(parts, df, strict=True)))


_ROUNDING = 1e-12  # relative: what rounding leaves of a variance of 0


def all_equal(sample: AucSample) -> Omnibus | None:
    """Return the omnibus test of three or more models; None for two.

    Notes
    -----
    Hotelling's T² of the differences d from the first model with their covariance S, of rank q: F = d′S⁻d·(ν − q +
    1)/(νq) with q and ν − q + 1 degrees of freedom, where ν is the least that Welch gives any pair whose difference
    varies. Models that rank all rows alike count as one: they add nothing to q, and their difference has no ν. For many
    rows this is the χ² test of DeLong, DeLong & Clarke-Pearson. Where fewer than 25 rows determine how much ranks vary,
    covariances are not to be trusted so far: the p-value is then at least that of the most different pair, adjusted for
    all pairs.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837–845; Hotelling 1931, Ann. Math. Stat. 2:360–378.
    """
    m = len(sample.models)
    if m < 3:
        return None
    sizes = [sample.size(i) for i in range(m)]
    reason = next((size.reason for size in sizes if size.reason), "")
    pairs = [paired_difference(sample, i, j) for i, j in combinations(range(m), 2)]
    varies = _ROUNDING * float(np.trace(sample.covariance))
    df_error = min((pair.df for pair in pairs if pair.variance > varies), default=1.0)
    statistic, q = _hotelling(sample.auc, sample.covariance)
    left = df_error - q + 1
    method = "DeLong's covariance, F"
    f = statistic * left / (df_error * q) if q else 0.0
    p_value = float(special.fdtrc(q, left, f)) if q and left > 0 else np.nan
    if min(size.informative for size in sizes) < FEW_FOR_LIMIT or isnan(p_value):
        p = np.array([2 * min(pair.p_above(0.0), pair.p_below(0.0), 0.5) for pair in pairs])
        most_different = float(max_t(p, of_differences(sample.covariance), one_sided=False).min())
        p_value = most_different if isnan(p_value) else max(p_value, most_different)
        method += ", no surer than the most different pair"
    return Omnibus(f, q, left, p_value, method, reason)


def _hotelling(auc: Array, covariance: Array) -> tuple[float, int]:
    """Return d′S⁻d for the differences from the first model, and the rank of S; models that rank alike add nothing."""
    contrast = np.column_stack([-np.ones(auc.size - 1), np.eye(auc.size - 1)])
    difference, spread = contrast @ auc, contrast @ covariance @ contrast.T
    if not np.isfinite(spread).all():
        return 0.0, 0
    values, vectors = np.linalg.eigh(spread)
    kept = values > _ROUNDING * max(float(np.trace(covariance)), 0.0)
    return float(((vectors[:, kept].T @ difference) ** 2 / values[kept]).sum()), int(kept.sum())


Method = Literal["auto", "delong"]

METHODS = ("auto", "delong")
_NAMES = {False: "Welch t of placements", True: "Welch t of placements and MOVER of Wilson intervals"}


def compare_areas(
    samples: AucSample | Mapping[str, AucSample], hypothesis: Hypothesis, adjust: Adjust, method: str
) -> Comparisons:
    """Compare the areas of models on the same rows, or of one model per sample."""
    own: OfOne = "logit" if method == "delong" else "auto"
    level = hypothesis.level
    if isinstance(samples, AucSample):
        estimates = {name: estimate(samples, i, own, level) for i, name in enumerate(samples.models)}
        paired = partial(_paired, samples, hypothesis, method)
        return compare_each_two("AUC", estimates, samples.covariance, paired, adjust, all_equal(samples))
    estimates = {name: estimate(sample, 0, own, level) for name, sample in samples.items()}
    covariance = np.diag([sample.covariance[0, 0] for sample in samples.values()])
    unpaired = partial(_unpaired, list(samples.items()), hypothesis, method)
    return compare_each_two("AUC", estimates, covariance, unpaired, adjust)


def _compare(
    first: str, second: str, found: AreaDifference, hypothesis: Hypothesis, n: float, design: str
) -> Comparison:
    """Test a difference of areas by inverting its interval."""
    method = f"{_NAMES[found.caution > 0]}, {design}"
    ends, reason = found.interval(hypothesis.level), found.reason
    difference = Estimate(found.value, *ends, hypothesis.level, method, n, found.standard_error, reason)
    p_value = hypothesis.judge(found.p_above, found.p_below)
    tail = p_value / 2 if hypothesis.aim == "two-sided" else p_value
    statistic = -float(special.ndtri(tail))
    if hypothesis.alternative == "less" or (hypothesis.aim == "two-sided" and found.value < 0):
        statistic = -statistic
    return hypothesis.comparison(first, second, difference, statistic, p_value, method)


def _paired(sample: AucSample, hypothesis: Hypothesis, method: str, i: int, j: int) -> Comparison:
    design = ", ".join(part for part in ("paired", sample.note) if part)
    first, second = sample.models[i], sample.models[j]
    if sample.alike(i, j):
        return _same(first, second, hypothesis, sample.n)
    found = paired_difference(sample, i, j)
    _warn_without_variance(found, first, second)
    if method == "delong" and found.variance > 0:
        name, error = f"DeLong, {design}", sqrt(found.variance)
        difference = hypothesis.wald(found.value, error, sample.n, name, bound=1)
        return hypothesis.compare(first, second, replace(difference, reason=_doubt(found)), method=name)
    return _compare(first, second, found, hypothesis, sample.n, design)


def _same(first: str, second: str, hypothesis: Hypothesis, n: float) -> Comparison:
    """Two models that rank all rows alike, so that their areas are always equal."""
    name = "the scores rank all rows alike"
    difference = Estimate(0.0, 0.0, 0.0, hypothesis.level, name, n, 0.0)
    p_value = hypothesis.judge(lambda null: float(null >= 0), lambda null: float(null <= 0))
    return hypothesis.comparison(first, second, difference, 0.0, p_value, name)


def _unpaired(
    samples: Sequence[tuple[str, AucSample]], hypothesis: Hypothesis, method: str, i: int, j: int
) -> Comparison:
    (first, a), (second, b) = samples[i], samples[j]
    design, n = ", ".join(part for part in ("unpaired", a.note) if part), a.n + b.n
    found = unpaired_difference(a, b)
    _warn_without_variance(found, first, second)
    if method == "delong" and found.variance > 0:
        name, error = f"DeLong, {design}", sqrt(found.variance)
        sizes = [sample.n_pos + sample.n_neg for sample in (a, b)]
        df = satterthwaite([float(s.covariance[0, 0]) for s in (a, b)], [size - 1 for size in sizes])
        difference = hypothesis.wald(found.value, error, n, name, df=df, bound=1)
        return hypothesis.compare(first, second, replace(difference, reason=_doubt(found)), df=df, method=name)
    return _compare(first, second, found, hypothesis, n, design)


def _warn_without_variance(found: AreaDifference, first: str, second: str) -> None:
    if not found.variance > 0:
        warn(
            f"the variance of the difference of {first!r} and {second!r} is 0 or undefined; its interval is put "
            "together from the intervals of both"
        )


def _doubt(found: AreaDifference) -> str:
    """Return why DeLong's test is not reliable; empty if it is."""
    if found.reason:
        return found.reason
    informative = min(found.first.informative, found.second.informative)
    if informative < FEW_FOR_LIMIT:
        return f"only {informative:.2g} {found.first.units} tell how much the ranks vary; method='auto' allows for that"
    return ""
