"""Designs to try intervals on: kinds of samples that nobody tuned them to, drawn as large as one likes.

A design draws a sample, or one many times as large, whose figures are the truth.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr

import rocscope as rs

Rng = np.random.Generator

FAMILIES: dict[str, Callable[[Rng, int, np.ndarray], np.ndarray]] = {
    "normal": lambda rng, n, _: rng.standard_normal(n),
    "wide positives": lambda rng, n, label: rng.standard_normal(n) * np.where(label, 2, 1),
    "t2": lambda rng, n, _: rng.standard_t(2, n),
    "exponential": lambda rng, n, _: rng.standard_exponential(n),
    "lognormal": lambda rng, n, _: rng.lognormal(size=n),
    "contaminated": lambda rng, n, _: rng.standard_normal(n) * np.where(rng.random(n) < 0.05, 8, 1),
    "two kinds": lambda rng, n, _: rng.standard_normal(n) + 3 * (rng.random(n) < 0.3),
}


@dataclass(frozen=True)
class Ranks:
    """Scores of a family, apart so far that they have an AUC; in levels, clusters or with weights where it says so."""

    family: str
    auc: float
    n_pos: int
    n_neg: int
    levels: int = 0
    clusters: int = 0
    weights: bool = False

    def __str__(self) -> str:
        more = [f"{self.levels} levels"] * bool(self.levels) + [f"{self.clusters} clusters"] * bool(self.clusters)
        more += ["weights"] * self.weights
        return ", ".join([self.family, f"AUC {self.auc:g}", f"{self.n_pos} + {self.n_neg:,}", *more])

    @property
    def ordinary(self) -> bool:
        """Whether an interval ought to call itself reliable nearly always."""
        enough = min(self.n_pos, self.n_neg) >= 50 and not 0 < self.clusters < 40
        return enough and self.auc <= 0.9 and self.family in ("normal", "wide positives", "exponential", "two kinds")

    @property
    def n(self) -> int:
        return self.n_pos + self.n_neg

    def draw(self, rng: Rng, times: int = 1) -> rs.Predictions:
        """Draw labels as often as they come, at least two of a class."""
        return self._at(rng, times, apart(self))

    def _at(self, rng: Rng, times: int, apart: float) -> rs.Predictions:
        n = self.n * times
        label = np.arange(n) < np.clip(rng.binomial(n, self.n_pos / self.n), 2, n - 2)
        score, columns = FAMILIES[self.family](rng, n, label), {}
        if self.clusters:
            size = rng.lognormal(0, 1, self.clusters * times)
            group = rng.choice(size.size, n, p=size / size.sum())
            score = (score + rng.standard_normal(size.size)[group]) / sqrt(2)
            columns["groups"] = group
        if self.weights:
            columns["sample_weight"] = rng.lognormal(0, 0.7, n)
            score = score * np.where(columns["sample_weight"] > 1, 1.2, 0.9)
        score = score + apart * label
        if self.levels:
            edges = np.linspace(-1, apart + 1, self.levels + 1)[1:-1]
            score = np.searchsorted(edges, score)
        return rs.Predictions(label, {"score": score}, **columns)


@cache
def apart(design: Ranks) -> float:
    """Return how far positives lie above, by halving."""
    low, high = 0.0, 60.0
    for _ in range(30):
        middle = (low + high) / 2
        sample = design._at(np.random.default_rng(0), max(1, 60_000 // design.n), middle)
        low, high = (middle, high) if rs.auc(sample) < design.auc else (low, middle)
    return low


CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda p: p,
    "over-confident": lambda p: expit(0.6 * logit(p)),
    "shifted": lambda p: expit(logit(p) + 0.7),
    "step": lambda p: np.where(p < 0.5, 0.25, 0.75),
    "bump": lambda p: np.clip(p + 0.25 * np.exp(-(((p - 0.5) / 0.08) ** 2)), 0, 1),
    "tripled": lambda p: np.minimum(3 * p, 1),
}


@dataclass(frozen=True)
class Chances:
    """Probabilities with a mean, and a curve of what happens at them; in clusters or with weights."""

    curve: str
    mean: float
    n: int
    clusters: int = 0
    weights: bool = False
    spread: float = 2.0

    def __str__(self) -> str:
        more = [f"{self.clusters} clusters"] * bool(self.clusters) + ["weights"] * self.weights
        return ", ".join([self.curve, f"mean probability {self.mean:g}", f"n {self.n:,}", *more])

    @property
    def ordinary(self) -> bool:
        return self.n * min(self.mean, 1 - self.mean) >= 50 and self.curve not in ("step", "bump") and not self.clusters

    def draw(self, rng: Rng, times: int = 1) -> rs.Predictions:
        """Draw probabilities, and labels by the chance there."""
        n = self.n * times
        score = rng.beta(self.mean * self.spread, (1 - self.mean) * self.spread, n).clip(1e-4, 1 - 1e-4)
        chance, columns = CURVES[self.curve](score), {}
        if self.weights:
            columns["sample_weight"] = rng.lognormal(0, 0.7, n)
        uniform = rng.random(n)
        if self.clusters:  # rows of a cluster share their luck in part, each has its chance
            group = rng.integers(0, self.clusters * times, n)
            shared = rng.random(self.clusters * times)[group]
            uniform = np.where(rng.random(n) < 0.25, shared, uniform)
            columns["groups"] = group
        label = uniform < chance
        if label.all() or not label.any():
            label[0] = not label[0]
        return rs.Predictions(label, {"score": score}, **columns)


@dataclass(frozen=True)
class Amounts:
    """Rows whose costs have a heavy tail."""

    shape: float
    n: int
    ordinary: bool = field(default=False, init=False)

    def __str__(self) -> str:
        return f"Pareto amounts, shape {self.shape:g}, n {self.n:,}"

    def draw(self, rng: Rng, times: int = 1) -> rs.Predictions:
        """Draw labels, scores of two models, and an amount a row."""
        n = self.n * times
        label = rng.random(n) < 0.2
        common = rng.standard_normal(n)
        scores = {name: label * 1.5 + common + rng.standard_normal(n) for name in "ab"}
        return rs.Predictions(label, scores, columns={"amount": rng.pareto(self.shape, n) + 1})


@dataclass(frozen=True)
class Folds:
    """Scores of discriminant rules, each fitted without the fold that it judges."""

    n: int
    features: int = 5
    folds: int = 5
    ordinary: bool = field(default=False, init=False)

    def __str__(self) -> str:
        return f"{self.folds} folds, {self.features} features, n {self.n:,}"

    def fitted(self, rng: Rng) -> tuple[rs.Predictions, float]:
        """Return predictions and the mean AUC that the rules have on new rows."""
        label, mean = rng.random(self.n) < 0.5, np.full(self.features, 0.6 / sqrt(self.features) * 1.5)
        x = rng.standard_normal((self.n, self.features)) + label[:, None] * mean
        fold = np.arange(self.n) % self.folds
        score, areas = np.empty(self.n), []
        for number in range(self.folds):
            train = fold != number
            apart = x[train & label].mean(axis=0) - x[train & ~label].mean(axis=0)
            spread = np.cov(x[train & label].T) + np.cov(x[train & ~label].T)
            rule = np.linalg.solve(spread / 2, apart)
            score[~train] = x[~train] @ rule
            areas.append(float(ndtr(rule @ mean / sqrt(2 * rule @ rule))))
        return rs.Predictions(label, {"score": score}, fold=fold), float(np.mean(areas))


Design = Any  # one of the four

NAMED: list[Design] = [
    *(Ranks("normal", auc, 50, 50) for auc in (0.6, 0.8, 0.9)),
    *(Ranks("normal", auc, 200, 200) for auc in (0.7, 0.9)),
    *(Ranks("normal", auc, 100, 2000) for auc in (0.75, 0.85)),
    Ranks("normal", 0.8, 20, 980),
    Ranks("normal", 0.95, 30, 300),
    Ranks("wide positives", 0.95, 15, 3000),
    *(Ranks("t2", auc, *sizes) for auc in (0.8, 0.95) for sizes in ((15, 3000), (50, 500), (200, 2000))),
    *(Ranks("contaminated", auc, *sizes) for auc in (0.9, 0.97) for sizes in ((15, 3000), (50, 500))),
    *(Ranks("normal", auc, *sizes, levels=5) for auc in (0.8, 0.95) for sizes in ((15, 3000), (50, 500))),
    *(Ranks("normal", auc, 100, 300, clusters=k) for auc in (0.75, 0.9) for k in (12, 20, 40)),
    *(Ranks("normal", auc, 50, 500, weights=True) for auc in (0.75, 0.9)),
    Ranks("exponential", 0.8, 60, 600),
    Ranks("lognormal", 0.9, 100, 100),
    Ranks("two kinds", 0.8, 80, 400),
    *(Chances("calibrated", mean, n) for mean, n in ((0.3, 300), (0.3, 1500), (0.01, 300), (0.01, 3000), (0.05, 500))),
    *(Chances("over-confident", mean, n) for mean, n in ((0.3, 300), (0.3, 1500), (0.05, 500))),
    *(Chances("shifted", mean, n) for mean, n in ((0.3, 300), (0.01, 300), (0.05, 500))),
    *(Chances("tripled", mean, n) for mean, n in ((0.01, 300), (0.03, 1000))),
    *(Chances("step", 0.5, n) for n in (300, 1500)),
    *(Chances("bump", 0.4, n) for n in (300, 1500)),
    Chances("calibrated", 0.3, 600, clusters=40),
    Chances("over-confident", 0.3, 600, weights=True),
    *(Amounts(shape, n) for shape in (2.2, 3.0) for n in (300, 2000)),
    *(Folds(n) for n in (100, 300, 1000)),
]


def drawn_at_random(seed: int = 0, ranks: int = 40) -> list[Design]:
    """Return designs of a generator: family × AUC × prevalence × n × ties × clusters × weights."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < ranks:
        n, share = int(np.exp(rng.uniform(np.log(100), np.log(4000)))), float(rng.choice([0.02, 0.05, 0.1, 0.3, 0.5]))
        if n * share < 5:
            continue
        levels, clusters = int(rng.choice([0, 0, 5, 10])), int(rng.choice([0, 0, 0, 15, 30, 60]))
        family, auc = str(rng.choice(list(FAMILIES))), float(rng.choice([0.6, 0.7, 0.8, 0.9, 0.95]))
        pos = round(n * share)
        found.append(Ranks(family, auc, pos, n - pos, levels, clusters, bool(rng.random() < 0.2)))
    return found
