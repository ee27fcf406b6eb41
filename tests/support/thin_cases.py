"""Designs in which data are thin, of known area, and how often an interval covers it and says that it is reliable."""

import warnings
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np
from scipy import optimize, special

import rocscope as rs
from rocscope.errors import RocscopeWarning


@dataclass(frozen=True)
class Thin:
    """A kind of sample: its area, sizes of both classes, and what is special about it."""

    area: float
    n_pos: int
    n_neg: int
    spread: float = 1.0
    kind: str = "normal"
    units: int = 0

    def __str__(self):
        more = f" {self.units}" if self.units else f" ×{self.spread:g}" if self.spread != 1 else ""
        return f"{self.kind}{more}, AUC {self.area:g}, {self.n_pos} + {self.n_neg}"

    def rng(self, seed=0):
        return np.random.default_rng([seed, *(ord(letter) for letter in str(self))])

    def draw(self, rng):
        """Return the arguments and options of one sample."""
        return _KINDS[self.kind](self, rng)

    @property
    def may_be_wide(self):
        """Whether the interval may cover beyond 98%."""
        return min(self.n_pos, self.n_neg, self.units or 99) < 10 or self.area >= 0.95 or self.kind == "mean of folds"


def labels(design):
    return np.arange(design.n_pos + design.n_neg) < design.n_pos


def shift(area, spread=1.0):
    """Return the distance of two normal distributions, the upper one `spread` times as wide, with this area."""
    return float(special.ndtri(area)) * sqrt(1 + spread**2)


def _normal(design, rng):
    label = labels(design)
    noise = rng.standard_normal(label.size)
    return (label, np.where(label, shift(design.area, design.spread) + design.spread * noise, noise)), {}


def _skewed(design, rng):
    """Exponential scores: the ROC curve is y = x^(1/θ − 1), the area θ."""
    label = labels(design)
    ratio = design.area / (1 - design.area)
    return (label, rng.standard_exponential(label.size) * np.where(label, ratio, 1.0)), {}


_LEVELS = np.arange(5)
_LOWER = np.array([0.4, 0.3, 0.15, 0.1, 0.05])


def _tilted(area):
    """Return probabilities of five levels that have this area above `_LOWER`, ties counting one half."""

    def area_of(tilt):
        upper = _LOWER * np.exp(tilt * _LEVELS)
        upper /= upper.sum()
        return upper @ (np.cumsum(_LOWER) - _LOWER / 2), upper

    low, high = 0.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if area_of(middle)[0] < area else (low, middle)
    return area_of(low)[1]


def _tied(design, rng):
    label = labels(design)
    upper, lower = (
        rng.choice(5, size=n, p=p) for n, p in ((design.n_pos, _tilted(design.area)), (design.n_neg, _LOWER))
    )
    return (label, np.concatenate([upper, lower])), {}


@cache
def _shift_of_two_kinds(area):
    """Return the distance at which rows of two kinds, weighted, have this area together."""

    def excess(apart):
        return _COMMON * special.ndtr(_DULL * apart / sqrt(2)) + (1 - _COMMON) * special.ndtr(apart / sqrt(2)) - area

    return optimize.brentq(excess, 0, 20)


_RARE, _DULL = 0.3, 0.6
_COMMON = 5 * _RARE / (5 * _RARE + 1 - _RARE)


def _weighted(design, rng):
    """Rows of two kinds, of which the rarer stands for five times as many and is told apart less well."""
    label = labels(design)
    rare = rng.random(label.size) < _RARE
    score = rng.standard_normal(label.size) + label * _shift_of_two_kinds(design.area) * np.where(rare, _DULL, 1.0)
    return (label, score), {"sample_weight": np.where(rare, 2.5, 0.5)}


def _one_label(design, rng):
    """Groups whose rows are of one class and share half of their variance."""
    label = labels(design)
    pos, neg = _split(design)
    group = np.concatenate([np.arange(design.n_pos) % pos, pos + np.arange(design.n_neg) % neg])
    noise = (rng.standard_normal(pos + neg)[group] + rng.standard_normal(label.size)) / sqrt(2)
    return (label, label * shift(design.area) + noise), {"groups": group}


def _split(design):
    """Return the groups of each class, as the rows are."""
    pos = max(2, round(design.units * design.n_pos / (design.n_pos + design.n_neg)))
    return pos, design.units - pos


def _both_labels(design, rng):
    """Groups that hold rows of both classes, which share a third of their variance; the area is between groups."""
    label = labels(design)
    group = np.concatenate([np.arange(n) % design.units for n in (design.n_pos, design.n_neg)])
    noise = (rng.standard_normal(design.units)[group] + sqrt(2) * rng.standard_normal(label.size)) / sqrt(3)
    return (label, label * shift(design.area) + noise), {"groups": group}


def _folds(design, rng):
    """Folds whose scores are on scales of their own."""
    label = labels(design)
    fold = np.concatenate([np.arange(n) % design.units for n in (design.n_pos, design.n_neg)])
    score = label * shift(design.area) + rng.standard_normal(label.size) + 2 * fold
    return (rs.Predictions(label, score, fold=fold),), {"folds": "mean"}


_KINDS = {
    "normal": _normal,
    "skewed": _skewed,
    "tied": _tied,
    "weights": _weighted,
    "groups of one label": _one_label,
    "groups of both labels": _both_labels,
    "mean of folds": _folds,
}

DESIGNS = [
    *(
        Thin(area, *sizes)
        for area in (0.6, 0.8, 0.9, 0.97, 0.99)
        for sizes in ((5, 20), (5, 1000), (10, 100), (10, 1000), (20, 2000), (50, 50), (200, 10_000))
    ),
    *(
        Thin(area, *sizes, spread)
        for spread in (0.5, 2.0)
        for area in (0.8, 0.9, 0.97)
        for sizes in ((5, 20), (10, 1000), (20, 2000), (50, 50))
    ),
    *(
        Thin(area, *sizes, kind=kind)
        for kind in ("skewed", "tied", "weights")
        for area in (0.7, 0.9, 0.97)
        for sizes in ((10, 100), (20, 1000), (100, 100))
    ),
    *(Thin(area, 40, 160, kind="groups of one label", units=units) for area in (0.7, 0.9) for units in (10, 20, 50)),
    *(Thin(area, 50, 200, kind="groups of both labels", units=units) for area in (0.7, 0.9) for units in (25, 50)),
    *(Thin(area, 10 * each, 200, kind="mean of folds", units=10) for area in (0.7, 0.9) for each in (2, 4)),
]


def simulate(design, samples, **options):
    """Return how often the interval covers, how often it says that it is reliable, and its mean width over logit's."""
    rng = design.rng()
    covered = reliable = 0
    width, of_logit = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        for _ in range(samples):
            data, how = design.draw(rng)
            found = rs.auc_interval(*data, **how, **options)
            covered += design.area in found
            reliable += found.reliable
            width.append(found.high - found.low)
            logit = rs.auc_interval(*data, **how, method="logit")
            of_logit.append(logit.high - logit.low)
    return covered / samples, reliable / samples, float(np.mean(width) / np.mean(of_logit))
