"""Confidence bands of curves, and smooth ROC curves.

A pointwise band contains each single point of the true curve with the confidence level. A simultaneous band contains
the entire curve with the confidence level. Both kinds of band use the bootstrap. The limits of a pointwise band are
quantiles of the replicates at each x. A simultaneous band is the sup-t band: curve ± q·s, with one critical value q for
all points. For ROC curves, a simultaneous band can also be computed without replicates, from the Kolmogorov–Smirnov
distance of each class.

There are two kinds of smooth ROC curve. The binormal curve is tpr = Φ(a + b·Φ⁻¹(fpr)). It is exact if a monotone
transformation makes the scores of both classes normal. The kernel curve is computed from Gaussian kernel densities of
the scores of each class.

The file is in this order: bands, binormal model, smooth curves.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import Any, Literal

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core import Band, CumulativeCounts, ThresholdCounts, model_name, require_kinds
from rocscope.curves.curve import Curve, cumulative, for_each_model, interpolate, scalar
from rocscope.curves.rate_curves import RocCurve
from rocscope.errors import InputError, warn
from rocscope.inference import proportions, resampling
from rocscope.inference.estimate import Estimate, joined, normal_quantile
from rocscope.sample import Models, counts_of, samples_of

Method = Literal["bootstrap", "ks", "wilson", "clopper-pearson", "jeffreys", "wald"]
Over = Literal["threshold", "depth"]

# Bands

_POINTS = 201  # number of points of a band and of a smooth curve: one every half per cent

# Least standard deviation at a point of the curve, relative to the largest one. Near the corners of ROC space,
# replicates vary less than the curve does. The Notes of `band` report the coverage with this value.
_LEAST_SPREAD = 0.2
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
    stratified: bool = False,
    replicates: int = 2000,
    random_state: Any = 0,
    progress: Progress = None,
) -> Band:
    """Compute a confidence band of a curve, or of a metric as a function of the threshold or the depth.

    Parameters
    ----------
    curve : Curve, or data of one model
        Result of `rocscope.roc`, `gain`, `lift`, `precision_recall`, `profit` or `net_benefit`. If `metric` is given,
        pass the data of one model: Predictions or another type that `rocscope.sample` describes.
    model : str, optional
        Name of the model in the data. By default, the only model of the data.
    metric : function of (tp, fp, fn, tn), optional
        Metric for which to compute the band, such as `rocscope.metrics.precision`. By default, the band is of `curve`.
    over : {"threshold", "depth"}
        Quantity on the x axis if `metric` is given. The depth is the share of cases that are predicted positive.
    method : {"bootstrap", "ks", "wilson", "clopper-pearson", "jeffreys", "wald"}
        "bootstrap" uses bootstrap replicates. "ks" is the Kolmogorov–Smirnov band of a ROC curve; it is always
        simultaneous and uses no replicates. The other methods compute the intervals of `rate_intervals` at each
        threshold. They need a `metric` that is a proportion of cases, such as precision, and ``over="threshold"``.
    simultaneous : bool
        If True, the band contains the entire curve with the confidence level. If False, it contains each single point
        with the confidence level.
    level : float
        Confidence level, between 0 and 1.
    grid : array, optional
        Values of x at which to compute the band. By default, 201 values over the range of the curve.
    recount : function of ThresholdCounts, optional
        Function that computes the curve from the counts of a replicate. Needed only for a curve class of your own.
    data : data of one model, optional
        Rows to resample. Pass the rows if they have groups or weights. By default, the counts of the curve are
        resampled, which contain neither groups nor weights.
    groups : array of n labels, str or False, optional
        Groups of the rows; see `rocscope.bootstrap`.
    stratified, replicates, random_state, progress
        Options of the bootstrap; see `rocscope.bootstrap`.

    Returns
    -------
    Band
        Lower and upper limits of the band at each x. To draw the band, pass it to ``curve.plot(band=...)``.

    Raises
    ------
    InputError
        If the curve was not computed from counts, if the method does not apply to the curve, or if `level` is not
        between 0 and 1.

    See Also
    --------
    joint_region, smooth_roc, rate_intervals

    Notes
    -----
    The simultaneous bootstrap band is the curve ± q·s. Here s² is the variance of the replicates at a point plus
    (0.2·σ)², where σ is the largest standard deviation of any point. The value q is chosen so that a share `level` of
    the replicates lies entirely inside the band.

    The Kolmogorov–Smirnov band shifts the ROC curve horizontally and vertically by the critical distances of the two
    classes, each at the level √level. The band is valid for any sample size, but it is wide.

    Coverage was measured in simulations of binormal samples with AUCs of 0.7 to 0.9 and 60 to 1,000 rows of each class.
    For fpr from 0.05 to 0.95, simultaneous 95% bootstrap bands contained the entire ROC curve in 95.2 to 98.8% of
    samples. Pointwise 95% bands contained each point in 95.6 to 97.3% of samples, but the entire curve in only 68 to
    80%.

    If the observed ROC curve has a tpr of 0 at fpr 0, or a tpr of 1 from some fpr on, all replicates have the same tpr
    there. The true curve may have another tpr. Bootstrap bands of rates therefore extend by at least z·0.2·σ above and
    below the curve.

    References
    ----------
    Campbell 1994, Stat. Med. 13:499–508 (Kolmogorov–Smirnov); Montiel Olea & Plagborg-Møller 2019, J. Appl. Econom.
    34:1–17 (sup-t bands); Macskassy, Provost & Rosset 2005, ICML (bands of ROC curves).

    Examples
    --------
    >>> from rocscope import metrics, roc
    >>> curve = roc([1, 1, 0, 1, 0, 1, 0, 0] * 5, list(range(40, 0, -1)))
    >>> band(curve, grid=[0.2, 0.5], replicates=200)
    Band(2 points, 95% pointwise, bootstrap (percentile, 200 replicates))
    >>> band(curve, method="ks", grid=[0.5]).low
    array([0.])
    >>> band(curve.counts, metric=metrics.precision, method="wilson", grid=[31, 21]).low.round(3)
    array([0.313, 0.342])
    """
    level = check.check_level(level)
    check.check_choice("method", method, ("bootstrap", "ks", *proportions.METHODS))
    x = None if grid is None else check.check_numbers(grid, "grid")
    source: Any = getattr(curve, "counts", None) if isinstance(curve, Curve) else curve
    if metric is not None:
        check.check_function(metric, "metric")
        counts = samples_of(source, name="curve").one(model).counts
        check.check_choice("over", over, ("threshold", "depth"))
        x = _grid_of_metric(counts, over) if x is None else x
        name = getattr(metric, "__name__", "")
        if method in proportions.METHODS:
            if over != "threshold" or name not in proportions.SHARES:
                expected = f"'bootstrap' or one of {', '.join(proportions.SHARES)} over thresholds"
                raise InputError("method", expected=expected, got=repr(method))
            count, n = proportions.share_of(name, *_cells_at_threshold(counts, x))
            low, high = proportions.proportion_interval(count, n, method=method, level=level)
            note = require_kinds("an interval from counts", counts)
            return Band(x, low, high, level, method.title().replace("-P", "–P"), note=note)
        values = _metric_values(metric, over, x)
    else:
        if not (isinstance(curve, Curve) and isinstance(source, CumulativeCounts)):
            hint = "pass metric= with counts, or a curve such as rocscope.roc(...)"
            raise InputError("curve", expected="a curve made from counts", got=type(curve).__name__, hint=hint)
        x = np.linspace(curve.x[0], curve.x[-1], _POINTS) if x is None else x
        if method == "ks":
            return replace(_ks_band(curve, x, level), note=require_kinds("an interval from counts", source))
        values, name = _curve_values(curve, recount, x), curve.y_name
    if method != "bootstrap":
        raise InputError("method", expected="'bootstrap' for this curve", got=repr(method))

    rows = source if data is None else data
    design = resampling.design_of(rows, model, stratified=stratified, groups=groups)
    name_of_model = model_name(list(design.tallies), None)
    statistic = resampling.Statistic(lambda counts: values(counts[name_of_model]), x.size)
    centre = resampling.at_sample(design, statistic)
    options = {"random_state": random_state, "progress": progress}
    drawn = _with_numbers(resampling.replicate(design, statistic, replicates, **options))
    is_rate = name in proportions.SHARES or name in _OTHER_RATES
    if simultaneous:
        low, high = _simultaneous(drawn, centre, level)
    else:
        low, high = _pointwise(drawn, centre, level, widen=is_rate)
    if is_rate:
        low, high = low.clip(0, 1), high.clip(0, 1)
    facts = joined("sup-t" if simultaneous else "percentile", f"{replicates} replicates", design.note)
    return Band(x, low, high, level, f"bootstrap ({facts})", simultaneous, design.doubt)


def _with_numbers(drawn: Array) -> Array:
    """Return the replicates whose curve is defined. Warn if the curve of some replicates is NaN at every x."""
    failed = np.isnan(drawn).all(axis=1)
    if failed.all():
        raise InputError(
            "band", expected="replicates in which the curve is defined", got=f"NaN in all {failed.size} replicates"
        )
    if failed.any():
        warn(f"{failed.sum()} of {failed.size} replicates are omitted from the band, because their curve is undefined")
    return drawn[~failed]


def _curve_values(
    curve: Curve, recount: Callable[[ThresholdCounts], Curve] | None, x: Array
) -> Callable[[ThresholdCounts], Array]:
    """Return a function that computes the curve from counts and returns its y values at `x`."""
    make: Callable[[ThresholdCounts], Curve] | None = recount or getattr(curve, "recount", None)
    if make is None:
        hint = "pass recount=, a function that computes this curve from ThresholdCounts"
        raise InputError(
            "curve", expected="a curve that rocscope can recompute from counts", got=type(curve).__name__, hint=hint
        )

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
    """Return a function that computes the metric from counts at each threshold or depth in `x`."""
    cells = _cells_at_threshold if over == "threshold" else _cells_at_depth
    return lambda counts: np.asarray(metric(*cells(counts, x)), dtype=np.float64)


def _cells_at_threshold(counts: ThresholdCounts, threshold: Array) -> tuple[Array, Array, Array, Array]:
    tp, fp = cumulative(counts)
    below = np.searchsorted(counts.threshold[::-1].astype(np.float64), threshold, side="left")
    level = len(counts) - below
    return tp[level], fp[level], counts.n_pos - tp[level], counts.n_neg - fp[level]


def _cells_at_depth(counts: ThresholdCounts, depth: Array) -> tuple[Array, Array, Array, Array]:
    """Return tp, fp, fn and tn at each depth. If a depth splits tied cases, it selects equal shares of both classes."""
    tp, fp = cumulative(counts)
    chosen = depth * counts.n
    hits = np.interp(chosen, tp + fp, tp)
    return hits, chosen - hits, counts.n_pos - hits, counts.n_neg - (chosen - hits)


def _pointwise(drawn: Array, centre: Array, level: float, *, widen: bool) -> tuple[Array, Array]:
    """Return the limits of a pointwise band: quantiles of the replicates at each x.

    Parameters
    ----------
    drawn : array of replicates × points
        Curves of the replicates. Where all replicates are NaN, the limits are NaN.
    centre : array of points
        Curve of the sample.
    level : float
        Confidence level.
    widen : bool
        If True, the band extends at least a least distance above and below the curve; see the Notes of `band`.
    """
    empty = np.isnan(drawn).all(axis=0)
    tails = [(1 - level) / 2, (1 + level) / 2]
    quantiles = np.nanquantile(np.where(empty, 0.0, drawn), tails, axis=0, method=resampling.quantile_method(drawn))
    low, high = np.where(empty, np.nan, quantiles)
    if widen:
        reach = normal_quantile(level) * _LEAST_SPREAD * _spread(drawn).max()
        low, high = np.fmin(low, centre - reach), np.fmax(high, centre + reach)
    return low, high


def _spread(drawn: Array) -> Array:
    """Return the standard deviation of the replicates at each point; 0 if all replicates are NaN."""
    return np.nanstd(np.where(np.isnan(drawn).all(axis=0), 0.0, drawn), axis=0)


def _simultaneous(drawn: Array, centre: Array, level: float) -> tuple[Array, Array]:
    """Return the limits of the sup-t band: the curve ± q·s, which contains the share `level` of replicates entirely."""
    if np.isinf(drawn).any():
        raise InputError("a simultaneous band", expected="finite replicates", got="infinite values in some replicates")
    known = ~np.isnan(drawn).all(axis=0)
    spread = _spread(drawn)
    scale = np.sqrt(spread**2 + (_LEAST_SPREAD * spread.max()) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        farthest = np.fmax.reduce(np.where(known, np.abs(drawn - centre) / scale, 0.0), axis=1)
    reach = np.quantile(np.nan_to_num(farthest), level, method="higher") * scale
    return np.where(known, centre - reach, np.nan), np.where(known, centre + reach, np.nan)


def _ks_band(curve: Curve, x: Array, level: float) -> Band:
    """Return the Kolmogorov–Smirnov band: the ROC curve shifted by the critical distance of each class at √level."""
    if not isinstance(curve, RocCurve):
        raise InputError("method='ks'", expected="a ROC curve", got=curve.title)
    reach_y = _ks_distance(sqrt(level), int(curve.counts.n_pos))
    reach_x = _ks_distance(sqrt(level), int(curve.counts.n_neg))
    before = np.searchsorted(curve.x, x - reach_x, side="right") - 1
    after = np.searchsorted(curve.x, x + reach_x, side="left")
    last = curve.x.size - 1
    low = np.where(before >= 0, curve.y[before.clip(min=0)], 0.0) - reach_y
    high = np.where(after <= last, curve.y[after.clip(max=last)], 1.0) + reach_y
    return Band(x, low.clip(0, 1), high.clip(0, 1), level, "Kolmogorov–Smirnov", simultaneous=True)


@lru_cache(maxsize=256)
def _ks_distance(level: float, n: int) -> float:
    from scipy import stats  # half a second, for this band alone

    return float(stats.kstwo.ppf(level, n))


# Binormal model

_MOST_CATEGORIES = 100  # categories of scores: the likelihood has one parameter for each
_MOST_STEPS = 200  # steps of Fisher scoring; samples of 30 to 5,000 rows took 5 to 12 steps
_LEAST_CELL = 1e-300  # least probability of a category, to avoid division by 0
_TOLERANCE = 1e-10  # relative gain of the likelihood below which the fit ends


@dataclass(frozen=True)
class Binormal:
    """Parameters of the binormal ROC curve tpr = Φ(a + b·Φ⁻¹(fpr)).

    Attributes
    ----------
    a, b : float
        Intercept and slope of the curve on normal-deviate axes.
    covariance : array of 2 × 2, optional
        Covariance matrix of a and b. None for a least-squares fit.

    Examples
    --------
    >>> Binormal(a=1.0, b=1.0).auc
    0.7602499389065233
    """

    a: float
    b: float
    covariance: Array | None = None

    @property
    def auc(self) -> float:
        """Area under the curve: Φ(a/√(1 + b²))."""
        return float(special.ndtr(self.deviate))

    @property
    def deviate(self) -> float:
        """Normal deviate of the AUC: a/√(1 + b²)."""
        return self.a / sqrt(1 + self.b**2)

    @property
    def deviate_error(self) -> float:
        """Standard error of `deviate` by the delta method; NaN if the covariance is None."""
        if self.covariance is None:
            return float("nan")
        slope = np.array([1, -self.a * self.b / (1 + self.b**2)]) / sqrt(1 + self.b**2)
        return sqrt(float(slope @ self.covariance @ slope))

    def tpr(self, fpr: Array) -> Array:
        """Return the tpr of the binormal curve at each fpr.

        Parameters
        ----------
        fpr : array
            False-positive rates.
        """
        return special.ndtr(self.a + self.b * special.ndtri(fpr))


def inner_points(counts: ThresholdCounts) -> tuple[Array, Array]:
    """Return the fpr and tpr of all points of the ROC curve with rates strictly between 0 and 1.

    Raises
    ------
    InputError
        If there are not two points that differ in fpr and tpr.
    """
    fpr, tpr = counts.fp / counts.n_neg, counts.tp / counts.n_pos
    inside = (fpr > 0) & (fpr < 1) & (tpr > 0) & (tpr < 1)
    points = np.unique(np.column_stack([fpr, tpr])[inside], axis=0)
    if len(points) < 2 or np.ptp(points[:, 0]) == 0 or np.ptp(points[:, 1]) == 0:
        expected = "two points with rates between 0 and 1 that differ in fpr and tpr"
        hint = "use method='kernel', or the empirical curve rocscope.roc"
        raise InputError("binormal curve", expected=expected, got=f"{len(points)} points", hint=hint)
    return points[:, 0], points[:, 1]


def fit_least_squares(counts: ThresholdCounts) -> Binormal:
    """Fit the binormal curve by least squares: a straight line through the points (Φ⁻¹(fpr), Φ⁻¹(tpr))."""
    fpr, tpr = inner_points(counts)
    x, y = special.ndtri(fpr), special.ndtri(tpr)
    slope = float(np.cov(x, y)[0, 1] / np.var(x, ddof=1))
    return Binormal(float(y.mean() - slope * x.mean()), slope)


def fit_maximum_likelihood(counts: ThresholdCounts) -> Binormal:
    """Fit the binormal curve by maximum likelihood of ordered categories, with Fisher scoring.

    Notes
    -----
    The boundaries between categories are parameters too, so the fit depends only on the ranking. Consecutive scores
    that have rows of only one class, and the same class, are merged into one category, because they contain no
    information on a and b. If more than 100 categories remain, they are merged into about 100 categories of equal size.
    """
    start = fit_least_squares(counts)
    pos, neg = _categories(counts)
    # Starting values of the boundaries: normal quantiles of the share of negatives below, which must increase. The
    # added amount is proportional to the total, so that the fit does not depend on the scale of the weights.
    added = neg.sum() / (2 * neg.size)
    cut = special.ndtri((np.cumsum(neg)[:-1] + added) / (neg.sum() + 2 * added))
    cut = np.maximum.accumulate(cut + 1e-6 * np.arange(cut.size))
    theta = np.concatenate([cut, [start.a, max(start.b, 0.1)]])
    likelihood = _likelihood(theta, pos, neg)
    for _ in range(_MOST_STEPS):
        score, information = _score_and_information(theta, pos, neg)
        theta, gained = _best_step(theta, np.linalg.solve(information, score), likelihood, pos, neg)
        likelihood += gained
        if gained < _TOLERANCE * abs(likelihood):
            break
    else:
        hint = "pass fit='ls'"
        raise InputError("binormal fit", expected="convergence within 200 steps", got="no convergence", hint=hint)
    covariance = np.linalg.inv(_score_and_information(theta, pos, neg)[1])[-2:, -2:]
    return Binormal(float(theta[-2]), float(theta[-1]), covariance)


def _categories(counts: ThresholdCounts) -> tuple[Array, Array]:
    """Return the numbers of positives and negatives in the ordered categories, from the lowest scores on."""
    pos, neg = counts.pos[::-1].astype(np.float64), counts.neg[::-1].astype(np.float64)
    # A category starts at a score that has rows of both classes, or rows of another class than the score before.
    classes = np.where(neg == 0, 1, np.where(pos == 0, 2, 0))
    starts_here = np.concatenate(([True], (classes[1:] != classes[:-1]) | (classes[1:] == 0)))
    starts = np.flatnonzero(starts_here)
    if starts.size > _MOST_CATEGORIES:
        total = np.cumsum(pos + neg)
        wanted = np.searchsorted(total[starts], np.linspace(0, total[-1], _MOST_CATEGORIES, endpoint=False))
        starts = starts[np.unique(wanted.clip(max=starts.size - 1))]
        starts[0] = 0
    return np.add.reduceat(pos, starts), np.add.reduceat(neg, starts)


def _cells(theta: Array) -> tuple[Array, Array]:
    """Return the probability of each category for a positive and for a negative."""
    cut, a, b = theta[:-2], theta[-2], theta[-1]
    edges = np.concatenate(([-np.inf], cut, [np.inf]))
    return _interval_mass(b * edges - a), _interval_mass(edges)


def _interval_mass(edges: Array) -> Array:
    """Return the normal probability between consecutive edges, computed from the tail that is numerically accurate."""
    low, high = edges[:-1], edges[1:]
    upper = low > 0
    return np.where(upper, special.ndtr(-low) - special.ndtr(-high), special.ndtr(high) - special.ndtr(low))


def _likelihood(theta: Array, pos: Array, neg: Array) -> float:
    if (np.diff(theta[:-2]) <= 0).any() or theta[-1] <= 0:
        return -np.inf
    of_pos, of_neg = _cells(theta)
    with np.errstate(divide="ignore"):
        return float(special.xlogy(pos, of_pos).sum() + special.xlogy(neg, of_neg).sum())


def _score_and_information(theta: Array, pos: Array, neg: Array) -> tuple[Array, Array]:
    """Return the gradient of the log likelihood and the Fisher information, for the boundaries, a and b."""
    cut, a, b = theta[:-2], theta[-2], theta[-1]
    k = cut.size
    density, density_pos = _normal_density(cut), _normal_density(b * cut - a)
    # Derivatives of the probabilities of k + 1 categories. A higher boundary moves probability from the category above
    # it to the category below it. The parameters a and b move all boundaries of the positives.
    below, above = np.arange(k), np.arange(1, k + 1)
    of_neg, of_pos = np.zeros((k + 1, k + 2)), np.zeros((k + 1, k + 2))
    of_neg[below, below], of_neg[above, below] = density, -density
    of_pos[below, below], of_pos[above, below] = b * density_pos, -b * density_pos
    for column, height in ((k, -density_pos), (k + 1, cut * density_pos)):
        of_pos[:-1, column] += height
        of_pos[1:, column] -= height
    cells_pos, cells_neg = _cells(theta)
    cells_pos, cells_neg = np.maximum(cells_pos, _LEAST_CELL), np.maximum(cells_neg, _LEAST_CELL)
    score = of_pos.T @ (pos / cells_pos) + of_neg.T @ (neg / cells_neg)
    information = pos.sum() * (of_pos.T / cells_pos) @ of_pos + neg.sum() * (of_neg.T / cells_neg) @ of_neg
    return score, information


def _best_step(theta: Array, step: Array, likelihood: float, pos: Array, neg: Array) -> tuple[Array, float]:
    """Halve the step as long as this increases the likelihood. Return the new parameters and the gain in likelihood.

    A full step can overshoot by nearly its own length. The gain is then very small, and so are the gains of the next
    full steps.
    """
    best, gained, share = theta, 0.0, 1.0
    while share > 1e-8:
        gain = _likelihood(theta + share * step, pos, neg) - likelihood
        if gain > gained:
            best, gained = theta + share * step, gain
        elif gained > 0:
            break
        share /= 2
    return best, gained


def _normal_density(x: Any) -> Any:
    return np.exp(-x * x / 2) / sqrt(2 * np.pi)


# Smooth curves

_MOST_SCORES = 2048  # number of distinct scores above which scores are distributed over a grid of this size


class SmoothRoc(Curve):
    """A smooth ROC curve, computed by `rocscope.inference.smooth_roc`.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each score, to which the curve was fitted.
    auc : float
        Area under the smooth curve.
    method : str
        "binormal, ml", "binormal, ls" or "kernel".
    binormal : Binormal or None
        Intercept a and slope b of a binormal curve on normal-deviate axes. None for a kernel curve.
    bandwidth : (float, float) or None
        Standard deviations of the kernels of positives and negatives. None for a binormal curve.
    """

    title = "smoothed ROC curve"
    x_name = "fpr"
    y_name = "tpr"

    def __init__(
        self,
        counts: ThresholdCounts,
        x: Array,
        y: Array,
        threshold: Array,
        auc: float,
        *,
        method: str,
        binormal: Binormal | None = None,
        bandwidth: tuple[float, float] | None = None,
        chosen: bool = False,
    ) -> None:
        super().__init__(x, y, threshold)
        self.counts, self.auc, self.method = counts, auc, method
        self.binormal, self.bandwidth, self._chosen = binormal, bandwidth, chosen

    def at(self, x: Any) -> Any:
        """Return the tpr of the smooth curve at each fpr in `x`; NaN for an fpr outside 0 to 1.

        Examples
        --------
        >>> from rocscope.inference import smooth_roc
        >>> curve = smooth_roc([1, 1, 0, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
        >>> curve.at([0, 1, 2]), bool(0.5 < curve.at(0.5) < 1)
        (array([ 0.,  1., nan]), True)
        """
        if self.binormal is None:
            return interpolate(self.x, self.y, x)
        fpr = np.asarray(x, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            return scalar(np.where((fpr >= 0) & (fpr <= 1), self.binormal.tpr(fpr), np.nan))

    def area(self) -> float:
        """Return the area under the smooth curve."""
        return self.auc

    def recount(self, counts: ThresholdCounts) -> "SmoothRoc":
        """Return a smooth curve that is fitted to other counts with the same method and options.

        Parameters
        ----------
        counts : ThresholdCounts
            Numbers of positives and negatives at each score.

        Raises
        ------
        InputError
            If the counts do not determine a smooth curve.
        """
        return _smooth(counts, self.method, self.bandwidth if self._chosen else None)

    def auc_interval(self, *, level: float = 0.95, replicates: int = 2000, random_state: Any = 0) -> Estimate:
        """Return the area under the smooth curve, with a confidence interval.

        Parameters
        ----------
        level : float
            Confidence level, between 0 and 1.
        replicates : int
            Number of bootstrap replicates. Not used for a maximum likelihood fit.
        random_state : int or Generator
            Random state of the bootstrap. Not used for a maximum likelihood fit.

        Returns
        -------
        Estimate
            The AUC with its interval.

        Raises
        ------
        InputError
            If the counts are not whole numbers.

        Notes
        -----
        For a maximum likelihood fit, the interval uses the delta method on the normal-deviate scale and the Fisher
        information. The interval is valid if the scores follow the binormal model. Coverage was measured in simulations
        of binormal samples with AUCs of 0.6 to 0.9 and 50 or 500 rows of each class. 95% intervals covered the AUC in
        94.0 to 95.8% of samples. Other fits use the percentile bootstrap.
        """
        level = check.check_level(level)
        self.counts.require_cases()
        if self.method != "binormal, ml" or self.binormal is None:
            options: dict[str, Any] = {"level": level, "replicates": replicates, "random_state": random_state}
            return resampling.bootstrap(self.counts, lambda drawn: self.recount(drawn).auc, stratified=True, **options)
        fit = self.binormal
        reach = normal_quantile(level) * fit.deviate_error
        low = float(special.ndtr(fit.deviate - reach))
        high = float(special.ndtr(fit.deviate + reach))
        error = float(_normal_density(fit.deviate)) * fit.deviate_error
        return Estimate(self.auc, low, high, level, "binormal maximum likelihood", self.counts.n, error)

    def _facts(self) -> str:
        return f"auc={self.auc:.6g}, {self.method}, n={self.counts.n:g}"


@for_each_model
@contract
def smooth_roc(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    method: Literal["binormal", "kernel"] = "binormal",
    fit: Literal["ml", "ls"] = "ml",
    bandwidth: tuple[float, float] | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> SmoothRoc:
    """Fit a smooth ROC curve: a binormal curve, or a curve from kernel densities.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    method : {"binormal", "kernel"}
        "binormal" assumes that a monotone transformation makes the scores of both classes normal. "kernel" estimates
        the density of the scores of each class with a Gaussian kernel.
    fit : {"ml", "ls"}
        Method to fit the binormal curve. "ml" is maximum likelihood of ordered categories. "ls" is least squares on
        normal-deviate axes. It treats the points of the curve as independent, although they are not, but always has a
        solution.
    bandwidth : (float, float), optional
        Standard deviations of the kernels of positives and negatives. By default, Silverman's rule
        0.9·min(s, IQR/1.34)·n^(−1/5) in each class, with n rows, standard deviation s and interquartile range IQR.

    Returns
    -------
    SmoothRoc, or Curves for several models
        The smooth curve.

    Raises
    ------
    OneClassError
        If the data contain only one class.
    InputError
        If the classes do not overlap and the method is "binormal", or if all scores of a class are equal and the method
        is "kernel".

    See Also
    --------
    roc, band

    Notes
    -----
    The binormal curve tpr = Φ(a + b·Φ⁻¹(fpr)) depends only on the ranking. If b differs much from 1, one end of the
    curve is below the diagonal (a hook). The kernel curve depends on the scale of the scores. Convert probabilities to
    logits before you fit a kernel curve.

    References
    ----------
    Dorfman & Alf 1969, J. Math. Psychol. 6:487–496; Metz, Herman & Shen 1998, Stat. Med. 17:1033–1053 (runs of ranks
    as categories); Zou, Hall & Shapiro 1997, Stat. Med. 16:2143–2156 (kernel).

    Examples
    --------
    With three categories, the binormal curve passes through both inner points of the empirical curve:

    >>> counts = ThresholdCounts([3, 2, 1], [60, 30, 10], [10, 30, 60])
    >>> curve = smooth_roc(counts)
    >>> curve.at([0.1, 0.4]).round(4), round(curve.auc, 4)
    (array([0.6, 0.9]), 0.8611)
    """
    check.check_choice("method", method, ("binormal", "kernel"))
    check.check_choice("fit", fit, ("ml", "ls"))
    counts = counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return _smooth(counts, f"binormal, {fit}" if method == "binormal" else "kernel", bandwidth)


def _smooth(counts: ThresholdCounts, method: str, bandwidth: tuple[float, float] | None) -> SmoothRoc:
    counts.require_both_classes("smoothed ROC curve")
    if method == "kernel":
        return _smooth_by_kernel(counts, bandwidth)
    if bandwidth is not None:
        raise InputError("bandwidth", expected="None for method='binormal'", got=repr(bandwidth))
    fit = fit_maximum_likelihood(counts) if method == "binormal, ml" else fit_least_squares(counts)
    x = np.linspace(0, 1, _POINTS)
    return SmoothRoc(counts, x, fit.tpr(x), np.full(x.size, np.nan), fit.auc, method=method, binormal=fit)


def _smooth_by_kernel(counts: ThresholdCounts, bandwidth: tuple[float, float] | None) -> SmoothRoc:
    score, pos, neg = _on_grid(counts)
    chosen = bandwidth is not None
    if bandwidth is None:
        bandwidth = _rule_of_thumb(score, pos), _rule_of_thumb(score, neg)
    if not all(0 < width < np.inf for width in bandwidth):
        hint = "pass bandwidth=(positives, negatives)"
        raise InputError("bandwidth", expected="two numbers above 0", got=repr(tuple(bandwidth)), hint=hint)
    of_pos, of_neg = bandwidth
    margin = 4 * max(bandwidth)  # above it a kernel has a share of 3e-5
    # The curve is evaluated at twice as many points as a band, because even steps in score are uneven steps in fpr.
    threshold = np.linspace(score.max() + margin, score.min() - margin, 2 * _POINTS)
    distance = score[None, :] - threshold[:, None]
    x = np.concatenate([[0], special.ndtr(distance / of_neg) @ neg / neg.sum(), [1]])
    y = np.concatenate([[0], special.ndtr(distance / of_pos) @ pos / pos.sum(), [1]])
    threshold = np.concatenate([[np.inf], threshold, [-np.inf]])
    # The difference of a positive and a negative is normal about the difference of their scores.
    deviation = sqrt(of_pos**2 + of_neg**2)
    ordered_pairs = pos @ special.ndtr((score[:, None] - score[None, :]) / deviation) @ neg
    auc = float(ordered_pairs / (pos.sum() * neg.sum()))
    return SmoothRoc(counts, x, y, threshold, auc, method="kernel", bandwidth=bandwidth, chosen=chosen)


def _on_grid(counts: ThresholdCounts) -> tuple[Array, Array, Array]:
    """Return scores with numbers of positives and negatives; more than 2,048 scores are distributed over a grid."""
    score = counts.threshold.astype(np.float64)
    pos, neg = counts.pos.astype(np.float64), counts.neg.astype(np.float64)
    if score.size <= _MOST_SCORES:
        return score, pos, neg
    grid = np.linspace(score[-1], score[0], _MOST_SCORES)
    place = (score - grid[0]) / (grid[1] - grid[0])
    left = np.minimum(place.astype(np.intp), _MOST_SCORES - 2)
    share = place - left  # of the weight that goes to the right neighbour, which keeps the mean of the scores

    def spread(amount: Array) -> Array:
        to_left = np.bincount(left, amount * (1 - share), _MOST_SCORES)
        return to_left + np.bincount(left + 1, amount * share, _MOST_SCORES)

    return grid, spread(pos), spread(neg)


def _rule_of_thumb(score: Array, amount: Array) -> float:
    """Return the bandwidth by Silverman's rule, 0.9·min(s, IQR/1.34)·n^(−1/5).

    Parameters
    ----------
    score, amount : arrays
        Distinct scores of a class, and the number of rows at each score.
    """
    n = amount.sum()
    mean = score @ amount / n
    deviation = sqrt((score - mean) ** 2 @ amount / max(n - 1, 1))
    order = np.argsort(score)
    reached = np.cumsum(amount[order]) / n
    first_quartile, third_quartile = score[order][np.searchsorted(reached, [0.25, 0.75])]
    spread = min(deviation, (third_quartile - first_quartile) / 1.34) or deviation
    if not spread:
        raise InputError("kernel", expected="two scores or more per class", got="one score", hint="pass bandwidth=")
    return 0.9 * spread * n**-0.2
