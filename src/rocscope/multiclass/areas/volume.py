"""Volume under the ROC surface of three classes: the share of trios, one case of each class, that are sorted right."""

from dataclasses import dataclass
from itertools import pairwise, permutations

import numpy as np

from rocscope._types import Array

_CHUNK = 1_000_000
_SAME_DISTANCE = 1e-12
_OTHER_WAYS = [way for way in permutations(range(3)) if way != (0, 1, 2)]


@dataclass(frozen=True, eq=False)
class Volume:
    """A volume under the surface and what each row adds to it.

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
    """Return the volume of one score that should rise with the class, in O(n log n).

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
    """Return the distance of each triple of probabilities to the three corners of the simplex (n × 3)."""
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
    """Return the volume of triples of probabilities over all trios."""
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
    """Return the volume of triples from `per_row` random trios about each row.

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
