"""Tests of areas: each two models, and all at once.

The test that the areas of several models of the same rows are all equal.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from math import isnan, sqrt
from typing import Literal

import numpy as np
from scipy import special

from rocscope._base.arrays import Array
from rocscope.errors import warn
from rocscope.inference.areas.auc import ENOUGH, estimate
from rocscope.inference.areas.auc import Method as OfOne
from rocscope.inference.areas.difference import AreaDifference, paired_difference, satterthwaite, unpaired_difference
from rocscope.inference.areas.placements import AucSample
from rocscope.inference.estimate import Comparison, Comparisons, Estimate, Omnibus
from rocscope.inference.hypothesis import Adjust, Hypothesis, max_t, with_adjusted_together

_ROUNDING = 1e-12


def all_equal(sample: AucSample) -> Omnibus | None:
    """Return the test of three or more models; None for two, which their own comparison tests.

    Notes
    -----
    Hotelling's T² of the differences d from the first model with their covariance S, of rank q: F = d′S⁻d·(ν − q +
    1)/(νq) with q and ν − q + 1 degrees of freedom, where ν is the least that Welch gives any pair. For many rows this
    is the χ² test of DeLong, DeLong & Clarke-Pearson. Where fewer than 25 rows tell how much ranks vary, covariances
    are not to be trusted so far: the p-value is then at least that of the most different pair, adjusted for all pairs.

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
    df_error = min(pair.df for pair in pairs)
    statistic, q = _hotelling(sample.auc, sample.covariance)
    left = df_error - q + 1
    method = "DeLong's covariance, F"
    f = statistic * left / (df_error * q) if q else 0.0
    p_value = float(special.fdtrc(q, left, f)) if q and left > 0 else np.nan
    if min(size.informative for size in sizes) < ENOUGH or isnan(p_value):
        p = np.array([2 * min(pair.p_above(0.0), pair.p_below(0.0), 0.5) for pair in pairs])
        most_different = float(max_t(p, sample.covariance, one_sided=False).min())
        p_value = most_different if isnan(p_value) else max(p_value, most_different)
        method += ", no surer than the most different pair"
    return Omnibus(f, q, left, p_value, method, reason)


def _hotelling(auc: Array, covariance: Array) -> tuple[float, int]:
    """Return d′S⁻d of the differences from the first, and the rank of S; models that rank alike add nothing."""
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
    """Compare the areas of models of the same rows, or of a sample a model."""
    own: OfOne = "logit" if method == "delong" else "auto"
    level = hypothesis.level
    if isinstance(samples, AucSample):
        names = samples.models
        pairs = [_paired(samples, i, j, hypothesis, method) for i, j in combinations(range(len(names)), 2)]
        estimates = {name: estimate(samples, i, own, level) for i, name in enumerate(names)}
        covariance = samples.covariance
        omnibus = all_equal(samples)
    else:
        pairs = [_unpaired(a, samples[a], b, samples[b], hypothesis, method) for a, b in combinations(samples, 2)]
        estimates = {name: estimate(sample, 0, own, level) for name, sample in samples.items()}
        covariance = np.diag([sample.covariance[0, 0] for sample in samples.values()])
        omnibus = None
    adjusted = with_adjusted_together(pairs, adjust, covariance)
    return Comparisons("AUC", estimates, covariance, adjusted, adjust, omnibus)


def _compare(
    first: str, second: str, found: AreaDifference, hypothesis: Hypothesis, n: float, design: str
) -> Comparison:
    """Test a difference of areas by its interval, and say so."""
    method = f"{_NAMES[found.caution > 0]}, {design}"
    ends, reason = found.interval(hypothesis.level), found.reason
    difference = Estimate(found.value, *ends, hypothesis.level, method, n, found.standard_error, reason)
    p_value = hypothesis.judge(found.p_above, found.p_below)
    tail = p_value / 2 if hypothesis.aim == "two-sided" else p_value
    statistic = -float(special.ndtri(tail))
    if hypothesis.alternative == "less" or (hypothesis.aim == "two-sided" and found.value < 0):
        statistic = -statistic
    return hypothesis.comparison(first, second, difference, statistic, p_value, method)


def _paired(sample: AucSample, i: int, j: int, hypothesis: Hypothesis, method: str) -> Comparison:
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
    """Two models that rank all rows alike: their areas are equal whatever the rows."""
    name = "the scores rank all rows alike"
    difference = Estimate(0.0, 0.0, 0.0, hypothesis.level, name, n, 0.0)
    p_value = hypothesis.judge(lambda null: float(null >= 0), lambda null: float(null <= 0))
    return hypothesis.comparison(first, second, difference, 0.0, p_value, name)


def _unpaired(first: str, a: AucSample, second: str, b: AucSample, hypothesis: Hypothesis, method: str) -> Comparison:
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
    """Return why DeLong's test is not to be trusted; empty where it is."""
    if found.reason:
        return found.reason
    informative = min(found.first.informative, found.second.informative)
    if informative < ENOUGH:
        return f"only {informative:.2g} {found.first.units} tell how much the ranks vary; method='auto' allows for that"
    return ""
