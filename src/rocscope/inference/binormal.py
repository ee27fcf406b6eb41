"""The binormal ROC curve, tpr = Φ(a + b·Φ⁻¹(fpr)), and its fit to ranked counts."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import special

from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.errors import InputError

_MOST_CATEGORIES = 100
_MOST_STEPS = 200
_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Binormal:
    """Parameters of a binormal curve, with their covariance where the fit gives one.

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
        """Φ(a/√(1 + b²))."""
        return float(special.ndtr(self.deviate))

    @property
    def deviate(self) -> float:
        """Normal deviate of the area."""
        return self.a / sqrt(1 + self.b**2)

    @property
    def deviate_error(self) -> float:
        """Standard error of the deviate, by the delta method; NaN without a covariance."""
        if self.covariance is None:
            return float("nan")
        slope = np.array([1, -self.a * self.b / (1 + self.b**2)]) / sqrt(1 + self.b**2)
        return sqrt(float(slope @ self.covariance @ slope))

    def tpr(self, fpr: Array) -> Array:
        """Return the height of the curve."""
        return special.ndtr(self.a + self.b * special.ndtri(fpr))


def inner_points(counts: ThresholdCounts) -> tuple[Array, Array]:
    """Return the points (fpr, tpr) off the sides of ROC space, at least two."""
    fpr, tpr = counts.fp / counts.n_neg, counts.tp / counts.n_pos
    inside = (fpr > 0) & (fpr < 1) & (tpr > 0) & (tpr < 1)
    points = np.unique(np.column_stack([fpr, tpr])[inside], axis=0)
    if len(points) < 2 or np.ptp(points[:, 0]) == 0 or np.ptp(points[:, 1]) == 0:
        raise InputError(
            "binormal curve",
            expected="classes that overlap: two points off the sides of ROC space that differ in both rates",
            got=f"{len(points)}",
            hint="use method='kernel', or the empirical curve",
        )
    return points[:, 0], points[:, 1]


def fit_least_squares(counts: ThresholdCounts) -> Binormal:
    """Fit a straight line to the points on normal-deviate axes, Φ⁻¹(tpr) on Φ⁻¹(fpr)."""
    fpr, tpr = (special.ndtri(rate) for rate in inner_points(counts))
    slope = float(np.cov(fpr, tpr)[0, 1] / np.var(fpr, ddof=1))
    return Binormal(float(tpr.mean() - slope * fpr.mean()), slope)


def fit_maximum_likelihood(counts: ThresholdCounts) -> Binormal:
    """Fit by maximum likelihood of the ordered categories, by Fisher scoring.

    Notes
    -----
    Cut points are parameters too, so only the ranking matters. Neighbouring levels of one class hold no information
    on a and b and are joined; where more than 100 categories remain, neighbours are joined into about as many of
    equal size.
    """
    start = fit_least_squares(counts)
    pos, neg = _categories(counts)
    cut = special.ndtri((np.cumsum(neg)[:-1] + 0.5) / (neg.sum() + 1))
    cut = np.maximum.accumulate(cut + 1e-6 * np.arange(cut.size))
    theta = np.concatenate([cut, [start.a, max(start.b, 0.1)]])
    likelihood = _likelihood(theta, pos, neg)
    for _ in range(_MOST_STEPS):
        score, information = _score_and_information(theta, pos, neg)
        step = np.linalg.solve(information, score)
        theta, gained = _climb(theta, step, likelihood, pos, neg)
        likelihood += gained
        if gained < _TOLERANCE * abs(likelihood):
            break
    else:
        raise InputError(
            "binormal fit", expected="a maximum of the likelihood", got="none in 200 steps", hint="fit='ls'"
        )
    covariance = np.linalg.inv(_score_and_information(theta, pos, neg)[1])[-2:, -2:]
    return Binormal(float(theta[-2]), float(theta[-1]), covariance)


def _categories(counts: ThresholdCounts) -> tuple[Array, Array]:
    """Return positives and negatives of ordered categories, lowest scores first."""
    pos, neg = counts.pos[::-1].astype(np.float64), counts.neg[::-1].astype(np.float64)
    kind = np.where(neg == 0, 1, np.where(pos == 0, 2, 0))
    new = np.concatenate(([True], (kind[1:] != kind[:-1]) | (kind[1:] == 0)))
    starts = np.flatnonzero(new)
    if starts.size > _MOST_CATEGORIES:
        total = np.cumsum(pos + neg)
        wanted = np.searchsorted(total[starts], np.linspace(0, total[-1], _MOST_CATEGORIES, endpoint=False))
        starts = starts[np.unique(wanted.clip(max=starts.size - 1))]
        starts[0] = 0
    return np.add.reduceat(pos, starts), np.add.reduceat(neg, starts)


def _cells(theta: Array) -> tuple[Array, Array]:
    """Return the probabilities of the categories among positives and among negatives."""
    cut, a, b = theta[:-2], theta[-2], theta[-1]
    edges = np.concatenate(([-np.inf], cut, [np.inf]))
    return _interval_mass(b * edges - a), _interval_mass(edges)


def _interval_mass(edges: Array) -> Array:
    """Return the normal mass between edges, from the tail that keeps its digits."""
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
    cut, a, b = theta[:-2], theta[-2], theta[-1]
    k = cut.size
    density, density_pos = _normal_density(cut), _normal_density(b * cut - a)
    rows = np.arange(k)
    of_neg, of_pos = np.zeros((k + 1, k + 2)), np.zeros((k + 1, k + 2))
    for jacobian, height in ((of_neg, density), (of_pos, b * density_pos)):
        jacobian[rows, rows] = height
        jacobian[rows + 1, rows] = -height
    for column, height in ((k, -density_pos), (k + 1, cut * density_pos)):
        of_pos[:-1, column] += height
        of_pos[1:, column] -= height
    cells_pos, cells_neg = (np.maximum(cells, 1e-300) for cells in _cells(theta))
    score = of_pos.T @ (pos / cells_pos) + of_neg.T @ (neg / cells_neg)
    information = pos.sum() * (of_pos.T / cells_pos) @ of_pos + neg.sum() * (of_neg.T / cells_neg) @ of_neg
    return score, information


def _normal_density(x: Array) -> Array:
    return np.exp(-x * x / 2) / sqrt(2 * np.pi)


def _climb(theta: Array, step: Array, likelihood: float, pos: Array, neg: Array) -> tuple[Array, float]:
    """Take the share of the step, halved as long as that helps, that raises the likelihood most.

    Full steps can overshoot by nearly their own length for ever, each with the least of gains.
    """
    best, gained, share = theta, 0.0, 1.0
    while share > 1e-8:
        raised = _likelihood(theta + share * step, pos, neg) - likelihood
        if raised > gained:
            best, gained = theta + share * step, raised
        elif gained > 0:
            break
        share /= 2
    return best, gained
