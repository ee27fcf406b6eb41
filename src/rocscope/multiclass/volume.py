"""Volume under the three-class ROC surface: the share of correctly ordered triples, one case of each class.

vus: volume under the ROC surface of three classes, with its interval.
"""

from dataclasses import dataclass
from itertools import pairwise, permutations
from math import sqrt
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.rows import require_distinct
from rocscope.errors import InputError, OneClassError
from rocscope.inference.estimate import Estimate
from rocscope.multiclass.classes import (
    by_logit,
    check_classes,
    check_probabilities,
    class_index,
    label_column,
    share_of_pairs,
)
from rocscope.multiclass.predictions import predictions_of

_CHUNK = 1_000_000  # trios compared at once: some MB
_SAME_DISTANCE = 1e-12  # distances of probabilities that differ by less are equal but for rounding
_OTHER_WAYS = [way for way in permutations(range(3)) if way != (0, 1, 2)]


@dataclass(frozen=True, eq=False)
class Volume:
    """A volume under the surface and each row's contribution.

    Attributes
    ----------
    value : float
    variance : float
        Of the estimate, from how the components vary within the classes; NaN where a class has one case.
    sampling_variance : float
        Of the random choice of trios; 0 where all were counted.
    trios : int
        How many were chosen at random.
    """

    value: float
    variance: float
    sampling_variance: float = 0.0
    trios: int = 0


def ordinal_volume(groups: list[Array], weights: list[Array]) -> Volume:
    """Return the volume for one score that should increase with the class, in O(n log n).

    A trio counts 1 if its scores rise strictly, 1/2 if two neighbours tie, 1/6 if all three do.
    """
    levels, place = np.unique(np.concatenate(groups), return_inverse=True)
    bounds = np.cumsum([0, *(group.size for group in groups)])
    places = [place[start:stop] for start, stop in pairwise(bounds)]
    low, mid, high = (np.bincount(at, w, levels.size) for at, w in zip(places, weights, strict=True))
    total = [float(w.sum()) for w in weights]
    below = np.cumsum(low) - low
    above = total[2] - np.cumsum(high)
    # Six times the weight of the sorted trios that have a middle case of this level, per middle case.
    at_mid = 6 * below * above + 3 * below * high + 3 * low * above + low * high
    sixfold = 6 * total[0] * total[1] * total[2]
    value = float(mid @ at_mid) / sixfold
    # The same trios seen from the low and from the high case.
    from_above = np.cumsum((mid * (6 * above + 3 * high))[::-1])[::-1] - mid * (6 * above + 3 * high)
    at_low = from_above + mid * (3 * above + high)
    from_below = np.cumsum(mid * (6 * below + 3 * low)) - mid * (6 * below + 3 * low)
    at_high = from_below + mid * (3 * below + low)
    components = [
        at[level] * own / sixfold for at, level, own in zip((at_low, at_mid, at_high), places, total, strict=True)
    ]
    return Volume(value, _variance(components, weights))


def corner_distances(proba: Array) -> Array:
    """Return the distances of probability triples to the three corners of the simplex (n × 3)."""
    corner = np.eye(3)
    return np.sqrt(((proba[:, np.newaxis, :] - corner) ** 2).sum(axis=2))


def sorted_right(first: Array, second: Array, third: Array) -> Array:
    """Return the credit of trios, given the distances of their cases (… × 3) to the corners.

    1 where the three cases lie closest, in sum, to the corners of their own classes among the six ways to assign
    them; shared where several ways are equally close.
    """
    own = first[..., 0] + second[..., 1] + third[..., 2]
    equally_good = np.ones(own.shape)
    best = np.ones(own.shape, dtype=bool)
    for a, b, c in _OTHER_WAYS:
        other = first[..., a] + second[..., b] + third[..., c]
        tied = np.abs(other - own) <= _SAME_DISTANCE
        equally_good += tied
        best &= tied | (own < other)
    return best / equally_good


def triple_volume(groups: list[Array], weights: list[Array]) -> Volume:
    """Return the volume of probability triples over all trios."""
    distance = [corner_distances(group) for group in groups]
    total = [float(w.sum()) for w in weights]
    sums = [np.zeros(len(group)) for group in groups]
    size = max(1, _CHUNK // (len(groups[1]) * len(groups[2])))
    for start in range(0, len(groups[0]), size):
        rows = slice(start, start + size)
        credit = sorted_right(distance[0][rows, None, None], distance[1][None, :, None], distance[2][None, None, :])
        sums[0][rows] = np.einsum("abc,b,c->a", credit, weights[1], weights[2])
        sums[1] += np.einsum("abc,a,c->b", credit, weights[0][rows], weights[2])
        sums[2] += np.einsum("abc,a,b->c", credit, weights[0][rows], weights[1])
    others = (total[1] * total[2], total[0] * total[2], total[0] * total[1])
    components = [part / pairs for part, pairs in zip(sums, others, strict=True)]
    return Volume(float(weights[0] @ components[0] / total[0]), _variance(components, weights))


def sampled_volume(groups: list[Array], weights: list[Array], per_row: int, rng: np.random.Generator) -> Volume:
    """Return the volume from `per_row` random trios per row.

    Notes
    -----
    An incomplete U-statistic. What the random partners add to the spread of the components is estimated from the
    spread about each row and taken off again, so that the variance is that of the complete statistic; the variance
    of the random choice is reported beside it (Blom 1976, Biometrika 63:573–580).
    """
    distance = [corner_distances(group) for group in groups]
    means, spreads = [], []
    for cls in range(3):
        partners = [
            distance[other][
                rng.choice(len(groups[other]), (len(groups[cls]), per_row), p=weights[other] / weights[other].sum())
            ]
            if other != cls
            else distance[cls][:, np.newaxis, :]
            for other in range(3)
        ]
        credit = sorted_right(*partners)
        means.append(credit.mean(axis=1))
        spreads.append(credit.var(axis=1, ddof=1) / per_row)
    size = [float(w.sum()) for w in weights]
    value_of = [float(w @ part / total) for w, part, total in zip(weights, means, size, strict=True)]
    noise = [float(w**2 @ part / total**2) for w, part, total in zip(weights, spreads, size, strict=True)]
    excess = [float(w @ part / total) / (total - 1) for w, part, total in zip(weights, spreads, size, strict=True)]
    variance = max(0.0, _variance(means, weights) - sum(excess))
    return Volume(sum(value_of) / 3, variance, sum(noise) / 9, sum(map(len, groups)) * per_row)


def _variance(components: list[Array], weights: list[Array]) -> float:
    variance = 0.0
    for part, weight in zip(components, weights, strict=True):
        total = float(weight.sum())
        centred = part - weight @ part / total
        variance += float(weight @ centred**2) / (total * (total - 1)) if total > 1 else np.nan
    return variance


MOST_TRIOS = 20_000_000
"""Up to this many trios of probability triples all are evaluated."""

_TRIOS_PER_ROW = 200  # random trios; a choice: what sampling adds to the variance is part of the interval


@contract
def vus(
    y_true: Any,
    score: Any = None,
    *,
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    method: Literal["auto", "exact", "sampled"] = "auto",
    random_state: Any = 0,
) -> Estimate:
    """Estimate the volume under the ROC surface: probability that one case of each class is ranked correctly.

    Parameters
    ----------
    y_true : array of n labels, or MulticlassPredictions
    score : array of n scores, or n × 3 array of probabilities
        One score that should rise from the first class to the last; or the probabilities of the three classes.
    model : str, optional
        Which model of the predictions.
    classes : sequence of three labels, optional
        In their order, which matters for one score; sorted when left out.
    sample_weight : array of n weights, optional
        Numbers of equal rows.
    level : float
        Confidence level.
    method : {"auto", "exact", "sampled"}
        For probabilities: all trios, or 200 random ones about each row; "auto" takes all up to 20 million. One score
        is always exact.
    random_state : int, Generator, RandomState or None
        Of the random trios.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If there are not three classes.
    OneClassError
        If one of them has no cases.

    Notes
    -----
    One score: a trio counts 1 if its scores rise strictly with the class, 1/2 if two neighbours tie, 1/6 if all
    three do; chance gives 1/6. O(n log n).

    Probabilities: a trio counts 1 if, of the six ways to assign its cases to the three corners of the simplex, the
    right one has the smallest sum of distances; ties share it. O(n₁·n₂·n₃).

    Both are U-statistics of three samples; the variance is the sum over classes of the variance of the share of
    right trios that a case is in, over the size of the class, and the interval is symmetric on the logit scale.
    Random trios add their own variance. Where the variance is 0 the interval is Wilson's for as many trios as the
    smallest class has cases.

    References
    ----------
    Mossman 1999, Med. Decis. Making 19:78–89; Dreiseitl, Ohno-Machado & Binder 2000, Med. Decis. Making 20:323–331;
    Nakas & Yiannoutsos 2004, Stat. Med. 23:3437–3449.

    Examples
    --------
    Of the 2·2·2 trios 6 rise strictly, and 2 tie at 5:

    >>> score = [1, 2, 3, 5, 5, 7]
    >>> vus(["low", "low", "mid", "mid", "high", "high"], score, classes=["low", "mid", "high"]).value
    0.875
    """
    level = check.check_level(level)
    check.check_choice("method", method, ("auto", "exact", "sampled"))
    require_distinct(y_true, "volume under the surface")
    groups, weights = _three_groups(y_true, score, model, classes, sample_weight)
    if groups[0].ndim == 1:
        volume = ordinal_volume(groups, weights)
    elif method == "exact" or (method == "auto" and np.prod([float(len(group)) for group in groups]) <= MOST_TRIOS):
        volume = triple_volume(groups, weights)
    else:
        volume = sampled_volume(groups, weights, _TRIOS_PER_ROW, check.check_random_state(random_state))
    name = "U-statistic" if not volume.sampling_variance else f"U-statistic of {volume.trios:,} random trios"
    smallest = min(float(weight.sum()) for weight in weights)
    standard_error = sqrt(volume.variance + volume.sampling_variance)
    n = sum(float(weight.sum()) for weight in weights)
    if not (standard_error > 0 and 0 < volume.value < 1):
        return share_of_pairs(volume.value, smallest, level, "trios", n)
    return by_logit(volume.value, standard_error, level, name, n)


def _three_groups(
    y_true: Any, score: Any, model: str | None, classes: Any, sample_weight: Any
) -> tuple[list[Array], list[Array]]:
    """Return scores (or triples) and weights of each of three classes, in order."""
    if score is None:
        preds = predictions_of(y_true, name="y_true", classes=classes, sample_weight=sample_weight)
        names, index, weight = preds.classes, preds.y_true, preds.sample_weight
        values = preds.probabilities(model)
    else:
        check.check_same_index(y_true=y_true, score=score, sample_weight=sample_weight)
        actual = label_column(y_true, "y_true")
        names = check_classes(check.distinct(actual) if classes is None else classes)
        index = class_index(actual, names, "y_true")
        weight = check.check_weights(sample_weight, actual.size)
        values = check.as_array(score)
        values = check.check_scores(values, actual.size, "score") if values.ndim == 1 else values
    if len(names) != 3:
        raise InputError("vus", expected="three classes", got=f"{len(names)}: {check.listing(names)}")
    if values.ndim != 1:
        values = check_probabilities(values, index.size, 3, "score").astype(np.float64)
    weight = np.ones(index.size) if weight is None else weight.astype(np.float64)
    masks = [(index == cls) & (weight > 0) for cls in range(3)]
    absent = [name for name, mask in zip(names, masks, strict=True) if not mask.any()]
    if absent:
        raise OneClassError("vus", expected="cases of all three classes", got=f"none of {check.listing(absent)}")
    return [values[mask] for mask in masks], [weight[mask] for mask in masks]
