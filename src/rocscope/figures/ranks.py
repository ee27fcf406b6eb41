"""Statistics of ranks (areas, partial areas, average precision and others), with influence functions."""

from dataclasses import replace

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.counts import ThresholdCounts
from rocscope.errors import InputError
from rocscope.figures.influence import RATIO, CountShares, Linear, Place, Smooth, between, swapped


def area() -> Smooth:
    """Return the statistic: area under the ROC curve, with ties counting one half.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> area()(ThresholdCounts([3, 2, 1], [1, 1, 0], [0, 1, 1]))
    0.875
    """
    return Smooth("AUC", lambda counts: _partial(counts, 1.0), of_ranks=True, of_pairs=True)


@contract
def partial_area(*, max_fpr: float | None = None, min_tpr: float | None = None, standardized: bool = False) -> Smooth:
    """Return the statistic: area under the ROC curve up to an fpr, or from a tpr.

    Parameters
    ----------
    max_fpr, min_tpr : float
        One of them.
    standardized : bool
        McClish's scale: 1/2 for the diagonal, 1 for a perfect curve.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> partial_area(max_fpr=0.5)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.25
    """
    if (max_fpr is None) == (min_tpr is None):
        raise InputError("partial_area", expected="one of max_fpr and min_tpr", got="none or both")
    part = check.check_share(max_fpr, "max_fpr") if max_fpr is not None else 1 - check.check_share(min_tpr, "min_tpr")
    chance = part**2 / 2

    def upto(counts: ThresholdCounts) -> Linear:
        found = _partial(counts, part)
        if not standardized:
            return found
        scale = 2 * (part - chance)
        value = (1 + (found.value - chance) / (part - chance)) / 2
        return Linear(value, found.of_pos / scale, found.of_neg / scale)

    where = f"fpr ≤ {max_fpr:g}" if max_fpr is not None else f"tpr ≥ {min_tpr:g}"
    name = f"{'standardized ' * bool(standardized)}partial AUC, {where}"
    least = (1 - chance / (part - chance)) / 2 if standardized else 0.0
    scale = between(least, 1.0 if standardized else part)
    if max_fpr is not None:
        return Smooth(name, upto, scale, (1, part), of_ranks=True, of_pairs=True)
    return Smooth(name, swapped(upto), scale, (part, 1), of_ranks=True, of_pairs=True)


def _partial(counts: ThresholdCounts, part: float) -> Linear:
    """Area up to fpr `part`: a positive adds the remaining fpr, a negative the tpr above it."""
    s = CountShares.of(counts)
    low, high = s.fpr_before, s.fpr
    width = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(width > 0, np.clip((part - low) / width, 0, 1), part >= high)
    reach = np.clip(np.minimum(high, part) - low, 0, None)  # what of a level's own fpr is taken in
    of_pos = np.clip(part - high, 0, None) + inside * reach / 2
    tpr_mid = s.tpr_before + inside * (s.tpr - s.tpr_before) / 2
    value = float(s.pos @ of_pos) / s.prevalence
    end = _at(part, s.fpr, s.tpr)
    of_neg = inside * (tpr_mid - end) + end * part
    return s.linear(value, (of_pos - value) / s.prevalence, (of_neg - value) / (1 - s.prevalence))


def _at(x: float, along: Array, of: Array) -> float:
    """Return the height of a curve that starts at the origin."""
    return float(np.interp(x, np.concatenate(([0.0], along)), np.concatenate(([0.0], of))))


@contract
def tpr_at(fpr: float) -> Smooth:
    """Return the statistic: true-positive rate at an fpr, interpolated as on the ROC curve.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Notes
    -----
    Its variance depends on the slope of the curve there, which is taken from the curve itself within some of its width.
    At a kink it is the mean of two slopes: the interval of `estimate_of` then reaches as far as the curve between the
    limits of the fpr does.

    Examples
    --------
    >>> tpr_at(0.25)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    check.check_share(fpr, "fpr")

    def linearise(counts: ThresholdCounts) -> Linear:
        s = CountShares.of(counts)
        value, slope = _height_and_slope(fpr, s.fpr, s.tpr, float(counts.n_neg))
        above = _inside(s.fpr_before, s.fpr, fpr)
        pos = (np.where(s.fpr > s.fpr_before, above, s.fpr <= fpr) - value) / s.prevalence
        found, beyond = s.linear(value, pos, -slope * (above - fpr) / (1 - s.prevalence)), np.zeros(pos.size)
        place = Place(beyond, (above - fpr) / (1 - s.prevalence), lambda by: _at(fpr + by, s.fpr, s.tpr))
        return replace(found, trials=(np.ones(pos.size), np.zeros(pos.size)), exact=False, place=place)

    return Smooth(f"tpr at fpr {fpr:g}", linearise, tail=(1, min(fpr, 1 - fpr)))


@contract
def fpr_at(tpr: float) -> Smooth:
    """Return the statistic: false-positive rate at a true-positive rate.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> fpr_at(0.75)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    turned = swapped(tpr_at(1 - check.check_share(tpr, "tpr")).linearise)

    def linearise(counts: ThresholdCounts) -> Linear:
        found = turned(counts)
        place = None if found.place is None else found.place.read(lambda value: 1 - value)
        return replace(found, value=1 - found.value, of_pos=-found.of_pos, of_neg=-found.of_neg, place=place)

    return Smooth(f"fpr at tpr {tpr:g}", linearise, tail=(min(tpr, 1 - tpr), 1))


def _inside(before: Array, after: Array, part: float) -> Array:
    """Return how much of each level lies before a position on an axis: 1, 0, or a share of one level."""
    width = after - before
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(width > 0, np.clip((part - before) / width, 0, 1), (after <= part).astype(float))


def _height_and_slope(x: float, along: Array, of: Array, n: float) -> tuple[float, float]:
    """Return the height of a curve, and its slope averaged over the sampling error of x with n rows.

    That is the slope of the line that fits the curve best where the quantile falls, a normal law around x.
    """
    z = np.linspace(-3, 3, 61)
    weight = np.exp(-(z**2) / 2)
    places = x + z * np.sqrt(x * (1 - x) / n)
    inside = (places > 0) & (places < 1)
    places, weight = places[inside], weight[inside] / weight[inside].sum()
    heights = np.interp(places, np.concatenate(([0.0], along)), np.concatenate(([0.0], of)))
    away = places - weight @ places
    return _at(x, along, of), float((weight * away) @ heights / ((weight * away) @ away))


@contract
def gain_at(depth: float) -> Smooth:
    """Return the statistic: true-positive rate at a depth, the share of positives in the top rows.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> gain_at(0.5)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    check.check_share(depth, "depth")

    def linearise(counts: ThresholdCounts) -> Linear:
        s = CountShares.of(counts)
        value, slope = _height_and_slope(depth, s.depth, s.tpr, float(counts.n))
        above = _inside(s.depth_before, s.depth, depth)
        away = above - depth
        found = s.linear(value, (above - value) / s.prevalence - slope * away, -slope * away)
        # The number of top rows is fixed: class mix and negatives decide how far down they reach for given positives.
        fpr = float(s.neg @ above) / (1 - s.prevalence)
        of_pos = np.full(above.size, (1 - s.prevalence) * (value - fpr))
        of_neg = above - fpr - s.prevalence * (value - fpr)
        place = Place(of_pos, of_neg, lambda by: _at(depth + by, s.depth, s.tpr))
        return replace(found, trials=(np.ones(above.size), np.zeros(above.size)), exact=False, place=place, fixed=True)

    return Smooth(f"gain at depth {depth:g}", linearise)


@contract
def lift_at(depth: float) -> Smooth:
    """Return the statistic: lift at a depth, gain/depth.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> lift_at(0.25)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    2.0
    """
    gain = gain_at(depth).linearise

    def linearise(counts: ThresholdCounts) -> Linear:
        found = gain(counts)
        of_pos, of_neg = found.of_pos / depth, found.of_neg / depth
        place = None if found.place is None else found.place.read(lambda value: value / depth)
        return replace(found, value=found.value / depth, of_pos=of_pos, of_neg=of_neg, place=place, per=depth)

    return Smooth(f"lift at depth {depth:g}", linearise, RATIO)


@contract
def precision_at(depth: float) -> Smooth:
    """Return the statistic: precision among the top rows, prevalence·gain/depth.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> precision_at(0.25)(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    1.0
    """
    gain = gain_at(depth).linearise

    def linearise(counts: ThresholdCounts) -> Linear:
        s, found = CountShares.of(counts), gain(counts)
        ratio = s.prevalence / depth
        mix = found.value / depth
        of_pos, of_neg = ratio * found.of_pos + mix * (1 - s.prevalence), ratio * found.of_neg - mix * s.prevalence
        return s.linear(ratio * found.value, of_pos, of_neg)

    return Smooth(f"precision at depth {depth:g}", linearise)


def average_precision() -> Smooth:
    """Return the statistic: mean of the precision at each positive, level by level.

    Returns
    -------
    Smooth
        For `estimate_of` and ``compare(statistic=…)``.

    Examples
    --------
    >>> average_precision()(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.8333333333333333
    """

    def linearise(counts: ThresholdCounts) -> Linear:
        s = CountShares.of(counts)
        precision = s.tpr * s.prevalence / s.depth
        value = float(s.pos @ precision) / s.prevalence
        # A row changes the precision at its own level and at all below.
        below, below_precise = (np.cumsum(each[::-1])[::-1] for each in (s.pos / s.depth, s.pos * precision / s.depth))
        of_pos = (precision - value + below - below_precise) / s.prevalence
        # each positive counts itself in the precision at its level: (1 + tp)/(1 + cases) for tp/cases
        bias = float(s.pos @ ((1 - precision) / s.depth)) / s.prevalence
        return replace(s.linear(value, of_pos, -below_precise / s.prevalence), bias=bias)

    return Smooth("average precision", linearise, of_pairs=True)
