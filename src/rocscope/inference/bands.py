"""Confidence bands around curves: pointwise and simultaneous."""

from collections.abc import Callable
from functools import lru_cache
from math import sqrt
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core.counts import CumulativeCounts, ThresholdCounts
from rocscope.core.result import Band
from rocscope.core.rows import model_name
from rocscope.curves.curve import Curve, cumulative
from rocscope.curves.roc_curve import RocCurve
from rocscope.errors import InputError, warn
from rocscope.inference.influence.units import WeightKind
from rocscope.inference.proportions import METHODS as PROPORTION_METHODS
from rocscope.inference.proportions import SHARES, normal_quantile, proportion_interval, share_of
from rocscope.inference.resampling.bootstrap import at_sample, design_of, quantile_method
from rocscope.inference.resampling.draws import Statistic, replicate
from rocscope.sample import Models, samples_of

Method = Literal["bootstrap", "ks", "wilson", "clopper-pearson", "jeffreys", "wald"]
Over = Literal["threshold", "depth"]

_POINTS = 201  # of a band: every half per cent
_LEAST_SPREAD = 0.2  # of the largest: near the corners a curve seems to vary less than it does
_OTHER_RATES = ("balanced_accuracy", "break_even", "f_score", "jaccard", "macro_average", "weighted_accuracy")


@contract
def band(
    curve: Curve | Models,
    *,
    model: str | None = None,
    metric: Callable[..., Any] | None = None,
    over: Over = "threshold",
    method: Method = "bootstrap",
    simultaneous: bool = False,
    level: float = 0.95,
    grid: Any = None,
    recount: Callable[[ThresholdCounts], Curve] | None = None,
    data: Models | None = None,
    groups: Any = None,
    weights: WeightKind = "auto",
    stratified: bool = False,
    replicates: int = 2000,
    random_state: Any = 0,
    progress: Progress = None,
) -> Band:
    """Compute a confidence band around a curve, or around a metric over thresholds or depths.

    Parameters
    ----------
    curve : Curve, or data of one model
        A curve made from counts (roc, gain, lift, precision_recall, profit, net_benefit …); or, with `metric`, data in
        any form (see `rocscope.sample`).
    model : str, optional
        Which one of the data.
    metric : function of (tp, fp, fn, tn), optional
        Such as `rocscope.metrics.precision`.
    over : {"threshold", "depth"}
        What a metric is followed along.
    method : {"bootstrap", "ks", "wilson", "clopper-pearson", "jeffreys", "wald"}
        Quantiles of replicates; for a ROC curve the Kolmogorov–Smirnov band, which is simultaneous and needs none; or
        for a metric over thresholds that is a share of cases, an interval of `proportion_interval` at each.
    simultaneous : bool
        Whether the whole curve shall lie inside with the confidence, or each point of it.
    level : float
        Confidence level.
    grid : array, optional
        Where on the x axis; 201 points along the curve by default.
    recount : function, optional
        Makes the curve of other counts, for a curve without a record of how it was made.
    data, groups, weights : data of one model, array, str, optional
        The rows to draw from, where they are of groups or weighted, for a curve knows counts only; see
        `rocscope.bootstrap`.
    stratified, replicates, random_state, progress : see `rocscope.bootstrap`

    Returns
    -------
    Band
        As ``curve.plot(band=...)`` draws it.

    Raises
    ------
    InputError
        If the curve was not made from counts, a method does not fit it, or the level means nothing.

    Notes
    -----
    Simultaneous bootstrap bands are the curve ± q·s, with s² the variance of the replicates plus (0.2·largest
    deviation)², and q such that the stated share of replicates lies inside everywhere. The Kolmogorov–Smirnov band
    moves the ROC curve by the critical distances of both classes, each at √level: it holds for any sample size and is
    wide.

    How often 95 % bands of ROC curves hold the true curve for fpr from 0.05 to 0.95, by simulation of binormal samples
    with areas of 0.7 to 0.9 and 60 to 1,000 of each class: simultaneous bootstrap bands the whole of it in 95.2 to
    98.8 % of the samples; pointwise ones each point of it in 95.6 to 97.3 %, but the whole in 68 to 80 %.

    Where a curve touches a side (tpr 0 at fpr 0, or 1 from some fpr on) all replicates do, although the truth need not.
    So bands of rates reach at least z·0.2·(the largest deviation) to both sides.

    References
    ----------
    Campbell 1994, Stat. Med. 13:499–508 (Kolmogorov–Smirnov); Montiel Olea & Plagborg-Møller 2019, J. Appl. Econom.
    34:1–17 (sup-t bands); Macskassy, Provost & Rosset 2005, ICML (bands of ROC curves).

    Examples
    --------
    >>> from rocscope import metrics, roc
    >>> curve = roc([1, 1, 0, 1, 0, 1, 0, 0] * 5, list(range(40, 0, -1)))
    >>> band(curve, grid=[0.2, 0.5], replicates=200)
    Band(2 points, 95 % pointwise, bootstrap (percentile, 200 replicates))
    >>> band(curve, method="ks", grid=[0.5]).low
    array([0.])
    >>> band(curve.counts, metric=metrics.precision, method="wilson", grid=[31, 21]).low.round(3)
    array([0.313, 0.342])
    """
    level = check.check_level(level)
    check.check_choice("method", method, ("bootstrap", "ks", *PROPORTION_METHODS))
    x = None if grid is None else check.check_numbers(grid, "grid")
    source: Any = getattr(curve, "counts", None) if isinstance(curve, Curve) else curve
    if metric is not None:
        check.check_function(metric, "metric")
        counts = samples_of(source, name="curve").one(model).counts
        check.check_choice("over", over, ("threshold", "depth"))
        x = _grid_of_metric(counts, over) if x is None else x
        if method in PROPORTION_METHODS:
            return _proportion_band(counts, metric, over, x, method, level)
        values, name = _metric_values(metric, over, x), getattr(metric, "__name__", "")
    else:
        if not (isinstance(curve, Curve) and isinstance(source, CumulativeCounts)):
            hint = "pass metric= with counts, or a curve such as rocscope.roc(...)"
            raise InputError("curve", expected="a curve made from counts", got=type(curve).__name__, hint=hint)
        x = np.linspace(curve.x[0], curve.x[-1], _POINTS) if x is None else x
        if method == "ks":
            return _ks_band(curve, x, level)
        values, name = _curve_values(curve, recount, x), curve.y_name
    if method != "bootstrap":
        raise InputError("method", expected="'bootstrap' for this curve", got=repr(method))
    rows = source if data is None else data
    design = design_of(rows, model, stratified=stratified, groups=groups, weights=weights)
    model_name(list(design.tallies), None)
    plan = Statistic(lambda of_model: values(next(iter(of_model.values()))), x.size)
    centre = at_sample(design, plan)
    drawn = _with_numbers(replicate(design, plan, replicates, random_state=random_state, progress=progress))
    is_rate = name in SHARES or name in _OTHER_RATES
    if simultaneous:
        low, high = _simultaneous(drawn, centre, level)
    else:
        low, high = _pointwise(drawn, centre, level, widen=is_rate)
    if is_rate:
        low, high = low.clip(0, 1), high.clip(0, 1)
    kind = "sup-t" if simultaneous else "percentile"
    facts = ", ".join(part for part in (kind, f"{replicates} replicates", design.note) if part)
    return Band(x, low, high, level, f"bootstrap ({facts})", simultaneous)


def _with_numbers(drawn: Array) -> Array:
    """Return the replicates with a curve; the others are counted in a warning."""
    failed = np.isnan(drawn).all(axis=1)
    if failed.all():
        raise InputError("band", expected="a number in some replicates", got=f"NaN in all {failed.size}")
    if failed.any():
        message = f"{failed.sum()} of {failed.size} replicates gave no curve and are left out of the band"
        warn(message)
    return drawn[~failed]


def _curve_values(
    curve: Curve, recount: Callable[[ThresholdCounts], Curve] | None, x: Array
) -> Callable[[ThresholdCounts], Array]:
    if recount is None:
        recount = getattr(curve, "recount", None)
    if recount is None:
        hint = "pass recount=, a function that makes the curve from counts"
        raise InputError("curve", expected="one that can be made of other counts", got=type(curve).__name__, hint=hint)
    make = recount

    def values(counts: ThresholdCounts) -> Array:
        made = make(counts)
        if not hasattr(made, "at"):
            raise InputError("recount", expected="a function that returns a curve", got=f"a {type(made).__name__}")
        return np.asarray(made.at(x), dtype=np.float64)

    return values


def _grid_of_metric(counts: ThresholdCounts, over: Over) -> Array:
    if over == "depth":
        return np.linspace(0, 1, _POINTS)
    shown = np.unique(np.linspace(0, len(counts) - 1, _POINTS).astype(np.intp))
    return counts.threshold[shown].astype(np.float64)


def _metric_values(metric: Callable[..., Any], over: Over, x: Array) -> Callable[[ThresholdCounts], Array]:
    cells = _cells_at_threshold if over == "threshold" else _cells_at_depth
    return lambda counts: np.asarray(metric(*cells(counts, x)), dtype=np.float64)


def _cells_at_threshold(counts: ThresholdCounts, threshold: Array) -> tuple[Array, Array, Array, Array]:
    tp, fp = cumulative(counts)
    below = np.searchsorted(counts.threshold[::-1].astype(np.float64), threshold, side="left")
    level = len(counts) - below
    return tp[level], fp[level], counts.n_pos - tp[level], counts.n_neg - fp[level]


def _cells_at_depth(counts: ThresholdCounts, depth: Array) -> tuple[Array, Array, Array, Array]:
    """Return cells at shares of cases; the positives of a tie are spread evenly over it."""
    tp, fp = cumulative(counts)
    chosen = depth * counts.n
    found = np.interp(chosen, tp + fp, tp)
    return found, chosen - found, counts.n_pos - found, counts.n_neg - (chosen - found)


def _proportion_band(
    counts: ThresholdCounts, metric: Callable[..., Any], over: Over, x: Array, method: Any, level: float
) -> Band:
    name = getattr(metric, "__name__", "")
    if over != "threshold" or name not in SHARES:
        known = ", ".join(SHARES)
        raise InputError("method", expected=f"'bootstrap', or one of {known} over thresholds", got=repr(method))
    low, high = proportion_interval(*share_of(name, *_cells_at_threshold(counts, x)), method=method, level=level)
    return Band(x, low, high, level, method.title().replace("-P", "–P"))


def _pointwise(drawn: Array, centre: Array, level: float, *, widen: bool) -> tuple[Array, Array]:
    low, high = _ignoring_nan(drawn, [(1 - level) / 2, (1 + level) / 2])
    if widen:
        reach = normal_quantile(level) * _LEAST_SPREAD * _spread(drawn).max()
        low, high = np.fmin(low, centre - reach), np.fmax(high, centre + reach)
    return low, high


def _spread(drawn: Array) -> Array:
    """Return the standard deviation of each column; 0 without values."""
    return np.nanstd(np.where(np.isnan(drawn).all(axis=0), 0.0, drawn), axis=0)


def _ignoring_nan(drawn: Array, tails: Any) -> Array:
    """Return quantiles of each column; NaN without values."""
    empty = np.isnan(drawn).all(axis=0)
    return np.where(
        empty, np.nan, np.nanquantile(np.where(empty, 0.0, drawn), tails, axis=0, method=quantile_method(drawn))
    )


def _simultaneous(drawn: Array, centre: Array, level: float) -> tuple[Array, Array]:
    """Return centre ± q·s, with q such that the given share of replicates lies entirely inside."""
    if np.isinf(drawn).any():
        raise InputError("a simultaneous band", expected="finite values", got="infinite ones in some replicates")
    known = ~np.isnan(drawn).all(axis=0)
    spread = _spread(drawn)
    scale = np.sqrt(spread**2 + (_LEAST_SPREAD * spread.max()) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        farthest = np.fmax.reduce(np.where(known, np.abs(drawn - centre) / scale, 0.0), axis=1)
    reach = np.quantile(np.nan_to_num(farthest), level, method="higher") * scale
    return np.where(known, centre - reach, np.nan), np.where(known, centre + reach, np.nan)


def _ks_band(curve: Curve, x: Array, level: float) -> Band:
    if not isinstance(curve, RocCurve):
        raise InputError("method='ks'", expected="a ROC curve", got=curve.title)
    counts = curve.counts
    reach_y, reach_x = (_ks_distance(sqrt(level), int(n)) for n in (counts.n_pos, counts.n_neg))
    before = np.searchsorted(curve.x, x - reach_x, side="right") - 1
    after = np.searchsorted(curve.x, x + reach_x, side="left")
    low = np.where(before >= 0, curve.y[before.clip(min=0)], 0.0) - reach_y
    high = np.where(after < curve.x.size, curve.y[after.clip(max=curve.x.size - 1)], 1.0) + reach_y
    return Band(x, low.clip(0, 1), high.clip(0, 1), level, "Kolmogorov–Smirnov", simultaneous=True)


@lru_cache(maxsize=256)
def _ks_distance(level: float, n: int) -> float:
    from scipy import stats  # half a second, for this band alone

    return float(stats.kstwo.ppf(level, n))
