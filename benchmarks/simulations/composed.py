"""How often figures made of other figures hold: differences, partial areas, tests, segments, folds and verified rows.

Run with ``make coverage``, or ``python benchmarks/simulations/composed.py --samples 50 --designs 6``. The designs are
drawn at random from families other than those of `designs`. For a test of a true hypothesis, "covers" is the share of
samples in which the test does not reject at 5%.
"""

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy import stats
from simulate import Judged, Line, failing, holds, lines_of, summarised

import rocscope as rs
from rocscope.inference import statistics

Rng = np.random.Generator
ROWS = 1_000_000  # of the sample that stands for the population

NOISE: dict[str, Callable[[Rng, int], np.ndarray]] = {
    "logistic": lambda rng, n: rng.logistic(size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "Gumbel": lambda rng, n: rng.gumbel(size=n),
    "Weibull": lambda rng, n: 3 * rng.weibull(1.5, n),
    "skew normal": lambda rng, n: np.asarray(stats.skewnorm.rvs(6, scale=1.5, size=n, random_state=rng)),
    "uniform": lambda rng, n: rng.uniform(-2, 2, n),
    "gamma with zeros": lambda rng, n: np.where(rng.random(n) < 0.4, 0, rng.gamma(2, size=n)),
}
FIGURES = {
    "AUC": statistics.area(),
    "partial AUC, fpr ≤ .05": statistics.partial_area(max_fpr=0.05),
    "partial AUC, tpr ≥ .9": statistics.partial_area(min_tpr=0.9),
    "average precision": statistics.average_precision(),
    "tpr at fpr .05": statistics.tpr_at(0.05),
    "fpr at tpr .9": statistics.fpr_at(0.9),
}


@dataclass(frozen=True)
class Composed(ABC):
    """Scores of positives that lie above those of negatives by a constant, with noise of one family.

    Attributes
    ----------
    family : str
        Key of `NOISE`.
    auc : float
        Population AUC.
    n : int
        Number of rows.
    share : float
        Share of positives.
    """

    family: str
    auc: float
    n: int
    share: float

    def __str__(self) -> str:
        return f"{self.family}, AUC {self.auc:g}, n {self.n:,}, {100 * self.share:g}% positive"

    @property
    def ordinary(self) -> bool:
        """Whether nearly all intervals should be marked as reliable."""
        return self.n * min(self.share, 1 - self.share) >= 50 and self.auc <= 0.9

    def labels(self, rng: Rng, n: int | None = None) -> np.ndarray:
        return rng.random(n or self.n) < self.share

    def scores(self, rng: Rng, label: np.ndarray) -> np.ndarray:
        return NOISE[self.family](rng, label.size) + distance(self.family, self.auc) * label

    def population(self) -> rs.ThresholdCounts:
        """Return the counts of a sample so large that its figures are those of the population."""
        rng = np.random.default_rng(11)
        label = self.labels(rng, ROWS)
        return rs.Predictions(label, self.scores(rng, label)).counts()

    @abstractmethod
    def judged(self, rng: Rng) -> dict[str, Judged]:
        """Draw a sample, and judge the interval or test of each figure."""


@cache
def distance(family: str, auc: float) -> float:
    """Return the distance of the classes at which the AUC is `auc`, by bisection on a large sample."""
    rng = np.random.default_rng(0)
    positives, negatives = NOISE[family](rng, 50_000), NOISE[family](rng, 50_000)
    low, high = 0.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        area = rs.auc(np.arange(100_000) < 50_000, np.concatenate([positives + middle, negatives]))
        low, high = (middle, high) if area < auc else (low, middle)
    return low


def accepts(found: rs.inference.Comparison) -> Judged:
    """Return whether a test keeps its true hypothesis, and whether it is marked as reliable."""
    return not found.p_value <= 0.05, found.difference.reliable, float("nan")


@dataclass(frozen=True)
class Alone(Composed):
    """One model: partial areas, rates at rates, and a partial area given to the bootstrap as a function."""

    def judged(self, rng: Rng) -> dict[str, Judged]:
        label = self.labels(rng)
        rows = rs.Predictions(label, self.scores(rng, label))
        truth = truths(self)
        judged = {name: holds(rs.inference.estimate_of(rows, figure), truth[name]) for name, figure in FIGURES.items()}
        name = "partial AUC, fpr ≤ .05"
        resampled = rs.bootstrap(rows, low_fpr_area, replicates=300)
        return judged | {f"{name}, bootstrap of a function": holds(resampled, truth[name])}


def low_fpr_area(counts: rs.ThresholdCounts) -> float:
    """Return the partial AUC for an fpr of at most .05, in less time than `rs.roc` needs."""
    tpr, fpr = np.append(0, counts.tp / counts.n_pos), np.append(0, counts.fp / counts.n_neg)
    inside, end = fpr <= 0.05, np.interp(0.05, fpr, tpr)
    return float(np.trapezoid(np.append(tpr[inside], end), np.append(fpr[inside], 0.05)))


@cache
def truths(design: Composed) -> Mapping[str, float]:
    """Return the figures of the population."""
    counts = design.population()
    return {name: float(figure(counts)) for name, figure in FIGURES.items()}


@dataclass(frozen=True)
class Pair(Composed):
    """Two equally good models. The second has noise of its own in some rows only, or in all.

    Attributes
    ----------
    differing : float
        Share of rows that the second model scores differently.
    groups : int
        Number of groups of rows, with an effect for each model; 0 for independent rows.
    """

    differing: float = 1.0
    groups: int = 0

    def __str__(self) -> str:
        more = [f"{100 * self.differing:g}% of rows differ"] * (self.differing < 1)
        return ", ".join([super().__str__(), *more, *[f"{self.groups} groups"] * bool(self.groups)])

    @property
    def ordinary(self) -> bool:
        return super().ordinary and self.differing == 1 and not 0 < self.groups < 40

    def judged(self, rng: Rng) -> dict[str, Judged]:
        label, group = self.labels(rng), None
        first, second = self.scores(rng, label), self.scores(rng, label)
        if self.groups:
            share = rng.geometric(0.2, self.groups) * 1.0
            group = rng.choice(self.groups, self.n, p=share / share.sum())
            first, second = (score + rng.standard_normal(self.groups)[group] for score in (first, second))
        second = np.where(rng.random(self.n) < self.differing, second, first)
        rows = rs.Predictions(label, {"a": first, "b": second}, groups=group)
        judged = {
            f"difference of {name}": holds(rs.compare(rows, statistic=figure)[0].difference, 0)
            for name, figure in FIGURES.items()
        }
        judged["test: McNemar"] = accepts(rs.inference.mcnemar(rows, float(np.median(first))))
        judged["test: equal curves"] = accepts(rs.inference.compare_curves(rows, replicates=199))
        return judged


@dataclass(frozen=True)
class Chance(Composed):
    """Scores that say nothing of the label, in groups whose rows have one label."""

    groups: int = 0

    def __str__(self) -> str:
        return f"{super().__str__()}, {self.groups} groups of one label"

    def judged(self, rng: Rng) -> dict[str, Judged]:
        group = rng.integers(0, self.groups, self.n)
        label = self.labels(rng, self.groups)[group]
        score = self.scores(rng, np.zeros(self.n, dtype=bool)) + 2 * rng.standard_normal(self.groups)[group]
        rows = rs.Predictions(label, score, groups=group)
        return {"test: Mann–Whitney": accepts(rs.inference.mann_whitney(rows))}


@dataclass(frozen=True)
class Parted(Composed):
    """Segments of 43 rows on average, half of which have an AUC above `auc` by .1, and half one below it by .1."""

    segments: int = 0

    def __str__(self) -> str:
        return f"{super().__str__()}, {self.segments} segments"

    def judged(self, rng: Rng) -> dict[str, Judged]:
        size = 10 + rng.geometric(0.03, self.segments)
        segment = np.repeat(np.arange(self.segments), size)
        label = self.labels(rng, segment.size)
        better = rng.random(self.segments) < 0.5
        levels = {good: distance(self.family, area) for good, area in zip((False, True), self._areas, strict=True)}
        shift = np.where(better, levels[True], levels[False])[segment]
        score = NOISE[self.family](rng, segment.size) + shift * label
        parts = rs.Predictions(label, score, segment=segment).counts(by="segment")
        return {"mean AUC over segments": holds(parts.mean_auc(weight=None), float(np.mean(self._areas)))}

    @property
    def _areas(self) -> tuple[float, float]:
        return self.auc - 0.1, min(self.auc + 0.1, 0.98)


@dataclass(frozen=True)
class Verified(Composed):
    """Rows whose label is verified with a probability that rises with the score."""

    least: float = 0.2

    def __str__(self) -> str:
        return f"{super().__str__()}, {100 * self.least:g}% of low scores verified"

    def judged(self, rng: Rng) -> dict[str, Judged]:
        label = self.labels(rng)
        score = self.scores(rng, label)
        stratum = np.searchsorted(np.quantile(score, [0.5, 0.8]), score)
        known = rng.random(self.n) < np.array([self.least, 0.5, 0.9])[stratum]
        rows = rs.outcomes.from_verified(label, known, score, strata=stratum)
        return {"AUC of verified rows": holds(rs.auc_interval(rows), self.auc)}


@dataclass(frozen=True)
class Refitted(Composed):
    """Rows scored by a linear rule that was fitted to the other folds; the truth is the mean AUC of the rules."""

    features: int = 10

    def __str__(self) -> str:
        return f"{super().__str__()}, 5 folds, {self.features} features"

    def _rows(self, rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        label = self.labels(rng, n)
        noise = NOISE[self.family](rng, n * self.features).reshape(n, self.features)
        return noise + label[:, None] * distance(self.family, self.auc) / np.sqrt(self.features), label

    def judged(self, rng: Rng) -> dict[str, Judged]:
        x, label = self._rows(rng, self.n)
        new, new_label = self._rows(rng, 100_000)  # with fewer, the truth would add to the variance
        fold, score, areas = np.arange(self.n) % 5, np.empty(self.n), []
        for number in range(5):
            train = fold != number
            slopes = np.linalg.lstsq(np.c_[np.ones(train.sum()), x[train]], label[train], rcond=None)[0]
            score[~train] = slopes[0] + x[~train] @ slopes[1:]
            areas.append(rs.auc(new_label, new @ slopes[1:]))
        rows, truth = rs.Predictions(label, score, fold=fold), float(np.mean(areas))
        return {f"AUC over folds, {way}": holds(rs.auc_interval(rows, folds=way), truth) for way in ("pooled", "mean")}


def drawn_at_random(seed: int, number: int) -> list[Composed]:
    """Return designs: of six, two are pairs of models, and one each is of another kind, in turn."""
    rng, designs = np.random.default_rng(seed), []
    while len(designs) < number:
        family, auc = str(rng.choice(list(NOISE))), float(rng.choice([0.65, 0.75, 0.85, 0.92]))
        n, share = int(np.exp(rng.uniform(np.log(150), np.log(3000)))), float(rng.choice([0.05, 0.1, 0.3, 0.5]))
        if n * share < 15:
            continue
        common = (family, auc, n, share)
        kinds = (
            lambda c: Pair(*c, differing=float(rng.choice([0.01, 0.1, 1, 1])), groups=int(rng.choice([0, 0, 30, 60]))),
            lambda c: Alone(*c),
            lambda c: Pair(*c, groups=int(rng.choice([0, 40, 80]))),
            lambda c: Verified(*c, least=float(rng.choice([0.15, 0.3]))),
            lambda c: _parted(*c, segments=int(rng.choice([20, 50, 100]))),
            lambda c: (
                Refitted(*c, features=int(rng.choice([5, 15])))
                if len(designs) // 6 % 2
                else Chance(c[0], 0.5, c[2], max(c[3], 0.3), groups=int(rng.choice([40, 80])))
            ),
        )
        designs.append(kinds[len(designs) % len(kinds)](common))
    return designs


def _parted(family: str, auc: float, _: int, share: float, segments: int) -> Parted:
    """Return a design of segments with about 43 rows each, most of which have both classes."""
    return Parted(family, min(auc, 0.85), 43 * segments, max(share, 0.1), segments)


def simulate(design: Composed, samples: int) -> list[Line]:
    """Return a line for each figure of a design."""
    return lines_of(design, samples, design.judged)


_ABOUT = """# Coverage of differences, tests and composed figures

Figures that are made of other figures can fail where each figure holds. The script
`benchmarks/simulations/composed.py` draws {designs} designs at random and {samples} samples of each design. If the true
coverage is 95%, the estimated coverage of one design has a standard error of {error:.1f} percentage points. The
distributions of the scores differ from those of the page [coverage on random designs](coverage.md). The columns have
the same meaning as on that page. The two models of a pair have equal population figures, so that the true difference
is 0. For a test of a true hypothesis, "covers" is the percentage of samples in which the test does not reject at the
5% level. An ordinary design has at least 50 rows of each class and an AUC of at most 0.9. In an ordinary pair, the
models differ in all rows, and there are at least 40 groups or none.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--designs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=4177)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--page", type=Path, help="write the page of all results there")
    options = parser.parse_args()
    designs, lines = drawn_at_random(options.seed, options.designs), []
    with ProcessPoolExecutor(options.processes) as pool:
        for found in pool.map(partial(simulate, samples=options.samples), designs):
            print(*found, sep="\n", flush=True)
            lines += found
    error = 100 * (0.05 * 0.95 / options.samples) ** 0.5
    about = _ABOUT.format(designs=options.designs, samples=options.samples, error=error)
    text = "\n".join([about, *summarised(lines), *failing(lines)]) + "\n"
    print(text)
    if options.page:
        options.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
