"""What chosen thresholds cost on rows held out, beside scikit-learn's tuner.

    python benchmarks/estimators/held_out_cost.py --data FOLDER [--seeds 10] [--keep FOLDER]
    python benchmarks/estimators/held_out_cost.py --unused site-packages/pydataset/resources.tar.gz

Of each table at most 500 rows, and at most half, are learned from; at most 1,500 others are judged. A cell is a table,
a learner and a pair of costs; its costs are summed over the seeds, and half of a dearest error is added for each, as
some are 0. Both classes are run as they are; each fit is done once and remembered, in `--keep` also for the next run.
FOLDER is that of examples/papers. `--unused` reads 27 tables of the package pydataset instead.
"""

import argparse
import hashlib
import pickle
import warnings
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from cost_tables import tables, unused_tables
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import rocscope as rs

COSTS = ((1, 1), (1, 5), (5, 1), (1, 20), (20, 1))
"""Of a false alarm and of a miss."""

LEARNED, JUDGED = 500, 1500
LEARNERS = {
    "logistic": (SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=300)),
    "naive Bayes": (SimpleImputer(), GaussianNB()),
    "forest": (SimpleImputer(), RandomForestClassifier(30, min_samples_leaf=2, random_state=0)),
    "boosting": (SimpleImputer(), GradientBoostingClassifier(n_estimators=40, max_depth=2, random_state=0)),
    "SVM": (SimpleImputer(), StandardScaler(), SVC()),
    "unscaled logistic": (SimpleImputer(), LogisticRegression()),
}
SCORES: dict[str, np.ndarray] = {}
TASK: list[Any] = []


class Remembered(ClassifierMixin, BaseEstimator):
    """A learner that is fitted once to any set of rows; its X is a column of row numbers."""

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        model, columns = TASK
        rows = np.asarray(X, np.int64)[:, 0]
        key = hashlib.sha1(rows.tobytes()).hexdigest()
        if key not in SCORES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(columns[rows], y)
                scores = getattr(model, self.method)(columns)
            SCORES[key] = scores[:, 1] if scores.ndim == 2 else scores
        self.scores_, self.classes_ = SCORES[key], np.array([0, 1])
        return self

    def of(self, X: Any) -> np.ndarray:  # noqa: N803
        return self.scores_[np.asarray(X, np.int64)[:, 0]]

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        return (self.of(X) >= self.cut).astype(int)


class WithProbabilities(Remembered):
    method, cut = "predict_proba", 0.5

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: N803
        return np.column_stack([1 - self.of(X), self.of(X)])


class WithDecisions(Remembered):
    method, cut = "decision_function", 0

    def decision_function(self, X: Any) -> np.ndarray:  # noqa: N803
        return self.of(X)


class Trial(NamedTuple):
    """Costs per judged case of one cell and seed, in units of the dearer error."""

    table: str
    learner: str
    costs: tuple[int, int]
    tuner: float
    ours: float
    search: float
    best: float
    trivial: float
    beyond_trivial: float
    """Cost beyond the cheaper of everybody and nobody, in standard errors of the difference by row."""
    judged: int
    rule: str


def trials(name: str, columns: np.ndarray, y: np.ndarray, seed: int, keep: Path | None) -> list[Trial]:
    """Return the trials of all learners and costs on one table."""
    rows = np.random.default_rng(seed).permutation(y.size)[: LEARNED + JUDGED]
    columns, y = columns[rows], y[rows]
    learned, judged = train_test_split(
        np.arange(y.size), train_size=min(LEARNED, y.size // 2), stratify=y, random_state=seed
    )
    found = []
    for learner, steps in LEARNERS.items():
        path = keep and keep / f"{name}-{learner}-{seed}.pickle".replace(" ", "_")
        SCORES.clear()
        if path and path.is_file():
            SCORES.update(pickle.loads(path.read_bytes()))
        known = len(SCORES)
        TASK[:] = make_pipeline(*steps), columns
        found += [trial(name, learner, costs, learned, judged, y, seed) for costs in COSTS]
        if path and len(SCORES) > known:
            path.write_bytes(pickle.dumps(dict(SCORES)))
    return found


def trial(
    name: str, learner: str, costs: tuple[int, int], learned: np.ndarray, judged: np.ndarray, y: np.ndarray, seed: int
) -> Trial:
    """Return what the rules cost on the judged rows."""
    false_alarm, miss = costs
    context = rs.Context(cost_fp=false_alarm, cost_fn=miss)

    def of_rows(true: np.ndarray, said: np.ndarray) -> np.ndarray:
        return np.where(true == 1, miss * (said == 0), false_alarm * (said == 1)) / max(costs)

    def cost(true: np.ndarray, said: np.ndarray) -> float:
        return float(of_rows(true, said).sum())

    model, column = (WithDecisions if learner == "SVM" else WithProbabilities)(), np.arange(y.size)[:, None]
    tuner = TunedThresholdClassifierCV(model, scoring=make_scorer(cost, greater_is_better=False), random_state=seed)
    ours = rs.estimators.ThresholdClassifier(model, context=context, random_state=seed)
    true = y[judged]
    said = []
    for rule in (tuner, ours):
        try:
            said.append(rule.fit(column[learned], y[learned]).predict(column[judged]))
        except ValueError as error:  # the tuner refuses constant scores
            if rule is ours:
                raise
            said.append(np.full(judged.size, int(y[learned].mean() > 0.5)))
            warnings.warn(f"{name}, {learner}: {error}", stacklevel=1)
    search = ours.estimator_.of(column[judged]) >= rs.choose(ours.predictions_, context).threshold
    trivial = min((of_rows(true, np.full(true.size, each)) for each in (0, 1)), key=np.sum)
    own = of_rows(true, said[1])
    beyond = own - trivial
    error = beyond.std() / np.sqrt(true.size)
    best = rs.choose(rs.Predictions(true, ours.estimator_.of(column[judged])), context).expected_cost / max(costs)
    return Trial(
        name, learner, costs, cost(true, said[0]) / true.size, own.mean(), cost(true, search) / true.size, best,
        trivial.mean(), beyond.mean() / error if error else 0.0, true.size, ours.decision_.criterion,
    )  # fmt: skip


def show(found: list[Trial], seeds: int) -> None:
    """Print what was found: by learner and by costs, and the worst cells."""
    cells: dict[tuple[Any, ...], list[Trial]] = {}
    for each in found:
        cells.setdefault((each.table, each.learner, each.costs), []).append(each)
    ratio, regret, beyond = {}, {}, {}
    for key, each in cells.items():
        sums = np.array([[t.tuner, t.ours, t.search, t.best] for t in each]).sum(axis=0)
        half = sum(0.5 / t.judged for t in each)
        ratio[key] = tuple((sums[1:] + half) / (sums[0] + half))
        regret[key] = (sums[:3] - sums[3]).tolist()
        spread = np.array([t.ours - t.trivial for t in each])
        beyond[key] = (
            max(t.beyond_trivial for t in each),
            spread.mean()
            * max(len(each), 1) ** 0.5
            / (spread.std(ddof=1) if len(each) > 1 and spread.std() else np.inf),
        )

    def line(title: str, keys: list[Any]) -> None:
        mean = np.exp(np.mean([np.log(ratio[key]) for key in keys], axis=0))
        total = np.sum([[t.ours, t.search] for key in keys for t in cells[key]], axis=0) / np.sum(
            [t.tuner for key in keys for t in cells[key]]
        )
        lost = np.sum([regret[key] for key in keys], axis=0)
        worst = max(keys, key=lambda key: ratio[key][0])
        over = sum(ratio[key][0] > 1.15 for key in keys)
        bad = sum(beyond[key][1] > 2 for key in keys)
        print(
            f"{title:>18}{mean[0]:8.3f}{total[0]:8.3f}{mean[1]:8.3f}{mean[2]:8.3f}{lost[1] / lost[0]:8.2f}"
            f"{lost[2] / lost[0]:8.2f}{ratio[worst][0]:8.2f}{over:5}{bad:5}   {worst}"
        )

    names = sorted({key[0] for key in cells})
    print(f"{len(names)} tables, {seeds} seeds, {len(cells)} cells: {', '.join(names)}\n")
    print("ratios to scikit-learn's tuner: mean (geometric, of cells) and total of ours; of the search and of the best")
    print(
        f"{'':18}{'ours':>8}{'total':>8}{'search':>8}{'best':>8}{'regret':>8}{'search':>8}{'worst':>8}{'>1.15':>6}{'harm':>5}"
    )
    for learner in LEARNERS:
        line(learner, [key for key in cells if key[1] == learner])
    for costs in COSTS:
        line(f"{costs[0]} : {costs[1]}", [key for key in cells if key[2] == costs])
    line("all", list(cells))
    print("\nworst cells:")
    for key in sorted(cells, key=lambda key: -ratio[key][0])[:12]:
        t = cells[key]
        print(
            f"  {ratio[key][0]:.2f} {key} tuner {np.mean([x.tuner for x in t]):.4f}, "
            f"ours {np.mean([x.ours for x in t]):.4f} search {np.mean([x.search for x in t]):.4f} "
            f"trivial {t[0].trivial:.4f}; {[x.rule for x in t]}"
        )
    print(
        "beyond everybody and nobody by more than 2 standard errors over seeds (and by rows, the largest of the seeds):"
    )
    for key in cells:
        if beyond[key][1] > 2 or (seeds == 1 and beyond[key][0] > 2):
            t = cells[key]
            print(
                f"  {key} {beyond[key][1]:.1f} ({beyond[key][0]:.1f}) ours {np.mean([x.ours for x in t]):.4f}, "
                f"trivial {t[0].trivial:.4f}, tuner {np.mean([x.tuner for x in t]):.4f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--unused", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    of_run = unused_tables(arguments.unused) if arguments.unused else tables(arguments.data)
    calls = [delayed(trials)(name, X, y, seed, arguments.keep) for seed in seeds for name, (X, y) in of_run.items()]
    found = [each for part in Parallel(n_jobs=arguments.jobs)(calls) for each in part]
    show(found, arguments.seeds)


if __name__ == "__main__":
    main()
