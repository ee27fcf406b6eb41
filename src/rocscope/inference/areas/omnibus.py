"""The test that the areas of several models of the same rows are all equal."""

from itertools import combinations
from math import isnan

import numpy as np
from scipy import special

from rocscope._types import Array
from rocscope.inference.areas.auc import ENOUGH
from rocscope.inference.areas.difference import paired_difference
from rocscope.inference.areas.placements import AucSample
from rocscope.inference.estimate import Omnibus
from rocscope.inference.multiplicity import max_t

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
