"""Size and coverage on designs at which earlier versions of the library failed, given that a result is `reliable`.

Run with ``python benchmarks/simulations/reported.py --samples 1000``. For a test of a true hypothesis, "covers" is the
share of samples in which the test does not reject at 5%. A design is ordinary if both classes have 50 rows or more.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from composed import accepts
from scipy.special import expit, logit
from scipy.stats import norm
from simulate import Judged, Line, holds, lines_of

import rocscope as rs
from rocscope.calibration import calibration_report
from rocscope.figures.influence import Smooth
from rocscope.inference import statistics

Rng = np.random.Generator
Draw = Callable[[Rng, int], rs.Predictions]  # draws a sample that is so many times as large as the design says
ROWS = 1_000_000  # number of rows of the sample that stands for the population
Figures = dict[str, Smooth]

HIGH_TPR = {f"partial AUC, tpr ≥ {tpr:g}": statistics.partial_area(min_tpr=tpr) for tpr in (0.9, 0.8)}
LOW_FPR = {"partial AUC, fpr ≤ .05": statistics.partial_area(max_fpr=0.05)}
RATES = {"fpr at tpr .95": statistics.fpr_at(0.95), "tpr at fpr .01": statistics.tpr_at(0.01)}


@dataclass(frozen=True)
class Design:
    """A design of a number in the list of failures.

    Attributes
    ----------
    number : int
        Number of the failure.
    name : str
        What is drawn.
    ordinary : bool
        Whether both classes have 50 rows or more, so that 80% of samples should be reliable.
    judged : callable
        Judges the intervals and tests of a new sample.
    """

    number: int
    name: str
    ordinary: bool
    judged: Callable[[Rng], dict[str, Judged]]

    def __str__(self) -> str:
        return f"{self.number}: {self.name}"


def normal_scores(rng: Rng, label: np.ndarray, auc: float) -> np.ndarray:
    """Return normal scores of unit variance with this population AUC."""
    return rng.standard_normal(label.size) + np.sqrt(2) * norm.ppf(auc) * label


def labels(n_pos: int, n_neg: int) -> np.ndarray:
    """Return labels with these numbers of positives and negatives."""
    return np.arange(n_pos + n_neg) < n_pos


def differences(rows: rs.Predictions, figures: Figures, truth: dict[str, float] | None = None) -> dict[str, Judged]:
    """Judge the intervals of differences; without truths, the true difference is 0, and the test is judged."""
    judged = {}
    for name, figure in figures.items():
        found = rs.compare(rows, statistic=figure)[0]
        judged[f"difference of {name}"] = holds(found.difference, truth[name]) if truth else accepts(found)
    return judged


# 1: two equal normal models
def equal_models(n_pos: int, n_neg: int) -> Design:
    label, figures = labels(n_pos, n_neg), HIGH_TPR | LOW_FPR | RATES

    def judged(rng: Rng) -> dict[str, Judged]:
        common = rng.standard_normal(label.size)
        scores = {model: (common + rng.standard_normal(label.size)) / np.sqrt(2) + 1.2 * label for model in "ab"}
        return differences(rs.Predictions(label, scores), figures)

    return Design(1, f"equal models, {n_pos} + {n_neg}", min(n_pos, n_neg) >= 50, judged)


# 2: a second model that is the first one with few rows overridden by the probability of another row
def overridden(n: int, share: float) -> Design:
    figures = {"AUC": statistics.area(), **HIGH_TPR, **LOW_FPR, "average precision": statistics.average_precision()}
    figures["Brier"] = statistics.brier()

    def draw(rng: Rng, n: int) -> rs.Predictions:
        label = rng.random(n) < 0.3
        first = expit(1.5 * normal_scores(rng, label, 0.85) - 2)
        second = np.where(rng.random(n) < share, rng.permutation(first), first)
        return rs.Predictions(label, {"a": first, "b": second})

    population = draw(np.random.default_rng(3), ROWS)
    truth = {
        name: float(figure(population.counts("b")) - figure(population.counts("a"))) for name, figure in figures.items()
    }

    def judged(rng: Rng) -> dict[str, Judged]:
        return differences(draw(rng, n), figures, truth)

    return Design(2, f"{100 * share:g}% of {n:,} rows overridden", 0.3 * n >= 50 and share > 0.005, judged)


def figures_of(number: int, name: str, ordinary: bool, draw: Draw, figures: Figures) -> Design:
    """Return a design that judges figures of one model; `draw` takes how many times as large the sample should be."""
    counts = draw(np.random.default_rng(3), ROWS // 1000).counts()
    truth = {each: float(figure(counts)) for each, figure in figures.items()}

    def judged(rng: Rng) -> dict[str, Judged]:
        rows = draw(rng, 1)
        return {each: holds(rs.inference.estimate_of(rows, figure), truth[each]) for each, figure in figures.items()}

    return Design(number, name, ordinary, judged)


# 3: partial areas of small or good models, and of a model with few leaves
def partial_areas(n_pos: int, n_neg: int, auc: float, leaves: int = 0) -> Design:
    def draw(rng: Rng, times: int) -> rs.Predictions:
        label = labels(n_pos * times, n_neg * times)
        score = normal_scores(rng, label, auc)
        return rs.Predictions(label, np.clip(np.round(score * leaves / 4), -leaves, leaves) if leaves else score)

    name = f"{n_pos} + {n_neg:,}, AUC {auc:g}" + f", {leaves} leaves" * bool(leaves)
    return figures_of(3, name, min(n_pos, n_neg) >= 50, draw, HIGH_TPR | LOW_FPR)


# 4: tests with groups: an effect of each group for each model, or one label in each group
def pair_in_groups() -> Design:
    group = np.repeat(np.arange(40), 10)

    def judged(rng: Rng) -> dict[str, Judged]:
        label = rng.random(group.size) < 0.3
        scores = {model: normal_scores(rng, label, 0.8) + rng.standard_normal(40)[group] for model in "ab"}
        rows = rs.Predictions(label, scores, groups=group)
        mcnemar, curves = rs.inference.mcnemar(rows, 0.5), rs.inference.compare_curves(rows, replicates=199)
        return {"McNemar": accepts(mcnemar), "equal curves": accepts(curves)}

    return Design(4, "40 groups of 10, an effect for each model", True, judged)


def labels_in_groups() -> Design:
    group = np.repeat(np.arange(40), 10)

    def judged(rng: Rng) -> dict[str, Judged]:
        label = (rng.permutation(40) < 16)[group]
        score = rng.standard_normal(group.size) + rng.standard_normal(40)[group]
        return {"Mann–Whitney": accepts(rs.inference.mann_whitney(rs.Predictions(label, score, groups=group)))}

    return Design(4, "40 groups of 10 with one label each", True, judged)


# 5: verification with a probability that rises with the score
def verified(n: int) -> Design:
    def judged(rng: Rng) -> dict[str, Judged]:
        label = rng.random(n) < 0.1
        score = normal_scores(rng, label, 0.8)
        stratum = np.searchsorted(np.quantile(score, [0.5, 0.8]), score)
        known = rng.random(n) < np.array([0.15, 0.4, 0.9])[stratum]
        return {"AUC": holds(rs.auc_interval(rs.outcomes.from_verified(label, known, score, strata=stratum)), 0.8)}

    return Design(5, f"{n:,} rows, 15, 40 and 90% verified", 0.1 * n >= 50, judged)


# 6: segments with different or high AUC
def segments(number: int, low: float, high: float) -> Design:
    def judged(rng: Rng) -> dict[str, Judged]:
        segment = np.repeat(np.arange(number), 60)
        label = rng.random(segment.size) < 0.3
        auc = rng.uniform(low, high, number)
        rows = rs.Predictions(label, normal_scores(rng, label, auc[segment]), segment=segment)
        return {"mean AUC": holds(rows.counts(by="segment").mean_auc(weight=None), (low + high) / 2)}

    return Design(6, f"{number} segments, AUC {low:g} to {high:g}", True, judged)


# 7: predictions of linear rules by cross-validation; the truth is the mean AUC of the fitted rules
def folds(n: int = 300, features: int = 20) -> Design:
    mean = np.full(features, 0.9 / np.sqrt(features))

    def judged(rng: Rng) -> dict[str, Judged]:
        from sklearn.linear_model import LogisticRegression

        label = rng.random(n) < 0.5
        x = rng.standard_normal((n, features)) + label[:, None] * mean
        fold, score, areas = np.arange(n) % 5, np.empty(n), []
        for number in range(5):
            train = fold != number
            slopes = LogisticRegression().fit(x[train], label[train]).coef_[0]
            score[~train] = x[~train] @ slopes
            areas.append(norm.cdf(slopes @ mean / np.sqrt(2 * slopes @ slopes)))
        rows = rs.Predictions(label, score, fold=fold)
        return {
            f"AUC, {way}": holds(rs.auc_interval(rows, folds=way), float(np.mean(areas))) for way in ("pooled", "mean")
        }

    return Design(7, f"logistic regression, {features} features, n {n}, 5 folds", True, judged)


# 8: partial areas that are given to the bootstrap as functions
def resampled(n_pos: int, n_neg: int, auc: float) -> Design:
    figures = HIGH_TPR | LOW_FPR
    counts = rs.Predictions(
        large := labels(n_pos * (ROWS // 1000), n_neg * (ROWS // 1000)),
        normal_scores(np.random.default_rng(3), large, auc),
    ).counts()
    label, truth = labels(n_pos, n_neg), {name: float(figure(counts)) for name, figure in figures.items()}

    def judged(rng: Rng) -> dict[str, Judged]:
        rows = rs.Predictions(label, normal_scores(rng, label, auc))
        return {
            name: holds(rs.bootstrap(rows, lambda counts, figure=figure: figure(counts), replicates=400), truth[name])
            for name, figure in figures.items()
        }

    return Design(8, f"{n_pos} + {n_neg}, AUC {auc:g}", min(n_pos, n_neg) >= 50, judged)


# 9: a score with many zeros in groups of geometric size, with an intraclass correlation of .6
def zeros_in_groups() -> Design:
    def draw(rng: Rng, times: int) -> rs.Predictions:
        group = np.repeat(np.arange(40 * times), rng.geometric(0.1, 40 * times))
        label = rng.random(group.size) < 0.3
        latent = np.sqrt(0.6) * rng.standard_normal(40 * times)[group] + np.sqrt(0.4) * rng.standard_normal(group.size)
        return rs.Predictions(label, np.maximum(latent + 0.8 * label, 0), groups=group)

    return figures_of(9, "zeros in 40 groups", True, draw, {"fpr at 1": statistics.at(1.0, "fpr")})


# 10: scores of a mixture
def mixture() -> Design:
    label = labels(200, 1000)

    def score(rng: Rng, label: np.ndarray) -> np.ndarray:
        return rng.standard_normal(label.size) + label * np.where(rng.random(label.size) < 0.5, 0.3, 3.0)

    truth = float((norm.cdf(0.3 / np.sqrt(2)) + norm.cdf(3 / np.sqrt(2))) / 2)

    def judged(rng: Rng) -> dict[str, Judged]:
        return {"AUC, newcombe": holds(rs.auc_interval(label, score(rng, label), method="newcombe"), truth)}

    return Design(10, "mixture, 200 + 1,000", True, judged)


# 11: errors of calibration
def errors_of_calibration(name: str, n: int, draw: Callable[[Rng, int], tuple[np.ndarray, np.ndarray]]) -> Design:
    score, chance = draw(np.random.default_rng(3), ROWS)
    bins = np.clip(score * 10, 0, 9).astype(int)
    truth = {
        "ece": float(np.abs(np.bincount(bins, chance - score)).sum() / ROWS),
        "e90": float(np.quantile(np.abs(chance - score), 0.9)),
    }

    def judged(rng: Rng) -> dict[str, Judged]:
        score, chance = draw(rng, n)
        rows = rs.Predictions(rng.random(n) < chance, score)
        found = calibration_report(rows, draws=199, random_state=int(rng.integers(2**31))).estimates
        return {each: holds(found[each], truth[each]) for each in truth}

    return Design(11, name, True, judged)


def leaves(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of 11 leaves, and the chances in them."""
    leaf = rng.integers(0, 11, n)
    return np.linspace(0.03, 0.6, 11)[leaf], np.linspace(0.05, 0.5, 11)[leaf]


def rare(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return over-confident probabilities of rare events, and the chances."""
    score = rng.beta(0.1, 1.9, n).clip(1e-4, 1 - 1e-4)
    return score, expit(0.6 * logit(score))


# 12: weights that rise with the score
def rising_weights() -> Design:
    def draw(rng: Rng, times: int) -> rs.Predictions:
        label = labels(150 * times, 600 * times)
        score = normal_scores(rng, label, 0.8)
        return rs.Predictions(label, score, sample_weight=np.exp(0.5 * score + 0.7 * rng.standard_normal(label.size)))

    return figures_of(
        12,
        "log-normal weights that rise with the score",
        True,
        draw,
        {"average precision": statistics.average_precision()},
    )


# 13: censoring that depends on a covariate, and on the score by it
def dependent_censoring(n: int, dependence: float, known: bool = False) -> Design:
    def survival(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        covariate = rng.standard_normal(n)
        return covariate, rng.exponential(8 * np.exp(-0.7 * covariate))

    def predicted(covariate: np.ndarray) -> np.ndarray:
        return 1 - np.exp(-5 / (8 * np.exp(-0.7 * covariate)))

    covariate, time = survival(np.random.default_rng(3), ROWS)
    score, event = predicted(covariate), time <= 5
    truth = {"Brier": float(((score - event) ** 2).mean()), "O/E": float(event.mean() / score.mean())}

    def judged(rng: Rng) -> dict[str, Judged]:
        covariate, time = survival(rng, n)
        censored = rng.exponential(10 * np.exp(-dependence * covariate))
        given = {"censoring": {"covariate": covariate}} if known else {}
        rows = rs.outcomes.at_horizon(np.minimum(time, censored), time <= censored, predicted(covariate), 5, **given)
        figures = {"Brier": statistics.brier(), "O/E": statistics.observed_to_expected()}
        return {name: holds(rs.inference.estimate_of(rows, figure), truth[name]) for name, figure in figures.items()}

    name = f"{n} rows, log hazard of censoring {dependence:g} × covariate" + ", which is given" * known
    return Design(13, name, known or dependence == 0, judged)


DESIGNS: list[Callable[[], Design]] = [
    *(partial(equal_models, *sizes) for sizes in ((10, 90), (90, 10), (30, 300), (200, 100))),
    *(partial(overridden, *each) for each in ((300, 0.01), (2000, 0.003), (2000, 0.002), (2000, 0.0), (2000, 0.02))),
    *(partial(partial_areas, *each) for each in ((26, 147, 0.7), (60, 340, 0.94), (50, 50, 0.8), (17, 1706, 0.8, 6))),
    pair_in_groups,
    labels_in_groups,
    *(partial(verified, n) for n in (400, 1000)),
    *(partial(segments, *each) for each in ((20, 0.6, 0.9), (100, 0.6, 0.9), (20, 0.93, 0.93), (100, 0.93, 0.93))),
    folds,
    *(partial(resampled, *each) for each in ((30, 300, 0.8), (60, 200, 0.7), (100, 100, 0.9))),
    zeros_in_groups,
    mixture,
    partial(errors_of_calibration, "11 leaves, n 2,421", 2421, leaves),
    partial(errors_of_calibration, "over-confident, rare, n 1,000", 1000, rare),
    rising_weights,
    *(
        partial(dependent_censoring, *each)
        for each in ((500, 0.0), (500, 1.0), (200, 1.0), (500, 0.5, True), (500, 1.0, True))
    ),
]


def simulate(build: Callable[[], Design], samples: int) -> list[Line]:
    """Return a line for each figure of a design."""
    design = build()
    return lines_of(design, samples, design.judged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="index of the first design")
    parser.add_argument("--last", type=int, default=len(DESIGNS), help="index after the last design")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        for lines in pool.map(partial(simulate, samples=options.samples), DESIGNS[options.first : options.last]):
            print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
