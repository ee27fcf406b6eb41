"""What chosen thresholds cost on rows held out, beside scikit-learn's tuner: tables of two classes from a folder.

    python benchmarks/estimators/held_out_cost.py --data FOLDER [--seeds 16]

Of each table at most 500 rows, and at most half, are learned from, by naive Bayes and logistic regression; the others
are judged. Printed for each pair of costs: the geometric mean of our cost by that of `TunedThresholdClassifierCV` with
its defaults, over tables and models (costs of all seeds together, with half of a dearest error added, as some are 0),
and our regret over the best threshold for the judged rows, by its regret. FOLDER is that of examples/papers.
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocscope as rs

sys.path.append(str(Path(__file__).parents[2] / "examples" / "papers"))

from data import LACHICHE_FLACH, VUK_CURK, NotFoundError, Table, Task, load
from naive_bayes import BinnedNaiveBayes

COSTS = ((1, 5), (5, 1), (1, 20), (20, 1))
"""Of a false alarm and of a miss."""

LEARNED, JUDGED = 500, 5500
RARE = 20
RULES = ("scikit-learn", "search", "ours", "best")


def tables(folder: Path) -> dict[str, Table]:
    """Return all tables of two classes, by name of the file."""
    with (folder / "MANIFEST.csv").open(newline="") as file:
        facts = [row for row in csv.DictReader(file) if row["target"] and row["positive_class"]]
    others = [Task(row["name"], row["name"], row["target"], row["positive_class"]) for row in facts]
    found: dict[str, Table] = {}
    for task in (*VUK_CURK, *LACHICHE_FLACH, *others):
        if task.name not in found:
            try:
                table = load(task, folder, network=False)
            except NotFoundError:
                continue
            if len(table.classes) == 2 and np.bincount(table.y).min() >= RARE:
                found[task.name] = table
    return found


def trial(name: str, table: Table, seed: int) -> list[tuple[str, int, tuple[int, int], list[float]]]:
    """Return what each rule costs on the judged rows, by model and costs, in units of the dearer error."""
    rows = np.random.default_rng(seed).permutation(table.y.size)[: LEARNED + JUDGED]
    y = table.y[rows]
    learned, judged = train_test_split(
        np.arange(y.size), train_size=min(LEARNED, y.size // 2), stratify=y, random_state=seed
    )
    linear = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=300))
    models = (BinnedNaiveBayes(nominal=table.nominal), table.X), (linear, table.indicators())
    found = []
    warnings.simplefilter("ignore")
    for place, (model, columns) in enumerate(models):
        part, rest = columns[rows][learned], columns[rows][judged]
        for false_alarm, miss in COSTS:
            context = rs.Context(cost_fp=false_alarm, cost_fn=miss)

            def cost(true, said, false_alarm=false_alarm, miss=miss) -> float:
                return float(np.where(true == 1, miss * (said == 0), false_alarm * (said == 1)).sum())

            tuner = TunedThresholdClassifierCV(
                model, scoring=make_scorer(cost, greater_is_better=False), random_state=seed
            )
            rules = [
                tuner,
                *(
                    rs.estimators.ThresholdClassifier(model, context=context, shrinkage=s, random_state=seed)
                    for s in (0, 100)
                ),
            ]
            costs = [cost(y[judged], rule.fit(part, y[learned]).predict(rest)) for rule in rules]
            best = rs.choose(rs.Predictions(y[judged], rules[-1].predict_proba(rest)[:, 1]), context).expected_cost
            dearer = max(false_alarm, miss)
            found.append(
                (name, place, (false_alarm, miss), [*(each / dearer for each in costs), best * judged.size / dearer])
            )
    return found


def show(title: str, cells: np.ndarray) -> None:
    """Print ratios of costs and of regrets; `cells` are tables × models of costs by rule."""
    costs = cells + 0.5
    ratio = np.exp(np.log(costs / costs[..., :1]).mean(axis=(0, 1)))
    regret = (cells - cells[..., -1:]).sum(axis=(0, 1))
    shares = "".join(f"{each:>10.3f}" for each in (*ratio[1:], *(regret / regret[0])[1:3]))
    by_table = np.log(cells[..., 2].sum(axis=1) + 0.5) - np.log(cells[..., 1].sum(axis=1) + 0.5)
    better, worse = int((by_table < 0).sum()), int((by_table > 0).sum())
    print(f"{title:>14}{shares}   {better} better, {worse} worse, p = {wilcoxon(by_table).pvalue:.3g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    known = tables(arguments.data)
    calls = (delayed(trial)(name, table, seed) for name, table in known.items() for seed in range(arguments.seeds))
    found = np.zeros((len(known), 2, len(COSTS), len(RULES)))
    places = {name: place for place, name in enumerate(known)}
    for part in Parallel(n_jobs=arguments.jobs)(calls):
        for name, model, costs, values in part:
            found[places[name], model, COSTS.index(costs)] += values
    print(f"{len(known)} tables, 2 models, {arguments.seeds} seeds: {', '.join(known)}\n")
    print(f"{'':14}{'cost, by that of scikit-learn':^30}{'regret':^20}   ours beside the search, by table")
    print(f"{'alarm : miss':>14}{'search':>10}{'ours':>10}{'best':>10}{'search':>10}{'ours':>10}")
    for place, (false_alarm, miss) in enumerate(COSTS):
        show(f"{false_alarm} : {miss}", found[:, :, place])
    show("all", found.reshape(len(known), -1, len(RULES)))


if __name__ == "__main__":
    main()
