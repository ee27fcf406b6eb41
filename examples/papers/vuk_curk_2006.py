"""Compute Table 4 and figures 9 to 11 of Vuk & Curk (2006), and print them next to the published results.

There are fourteen data sets and two learners, naive Bayes and a tree, as in Orange in 2006. There are ten stratified
folds. In each fold, an inner cross-validation with ten folds predicts the training rows, and the threshold of best
accuracy is chosen on the hull of these predictions (section 7 of the paper). Then the model is fitted to the whole
training part. It is evaluated on the test part at the chosen threshold and at 0.5. If several thresholds are best, the
script uses their mean, because the paper does not state which of them it uses.

    python examples/papers/vuk_curk_2006.py --data FOLDER       # twenty seeds
    python examples/papers/vuk_curk_2006.py --quick             # one seed; what rocscope and OpenML have
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from data import VUK_CURK, Table
from loess_bayes import LoessNaiveBayes
from multiway_tree import MultiwayTree
from naive_bayes import BinnedNaiveBayes
from numpy.typing import NDArray
from program_roc import best_thresholds
from rows import Row, print_correlation, print_disagreements, print_signed_ranks, read_published
from running import folds, load_all, options, print_missing, print_table, run_all, save

import rocscope as rs

Array = NDArray[Any]

LEARNERS = ("naive Bayes", "tree")
TREES = ("multiway", "binary")
BAYES = ("loess", "bins")
FIGURES = ("auc", "accuracy_default", "accuracy_optimal", "change", "mean_threshold")

REASONS: dict[tuple[str, str], str] = {}
"""Likely reason for each row that differs from the published result, by data set and learner."""


def learner_of(kind: str, table: Table, seed: int) -> tuple[Any, Array]:
    """Return an unfitted model, one of `TREES` or `BAYES`, and the attributes in the form that the model accepts."""
    known = {"loess": LoessNaiveBayes, "bins": BinnedNaiveBayes, "multiway": MultiwayTree}
    if kind in known:
        return known[kind](nominal=table.nominal), table.X
    return rs.estimators.SmoothedTreeClassifier(smoothing="m", m=2, random_state=seed), table.indicators()


def trial(table: Table, kind: str, seed: int, inner_folds: int) -> dict[str, Any]:
    """Return the means over ten test folds, and the out-of-fold probability of each row."""
    model, X = learner_of(kind, table, seed)
    y = table.y
    tuned = rs.estimators.ThresholdClassifier(model, cv=inner_folds, random_state=seed)
    proba, fold, found = np.empty(y.size), np.empty(y.size, np.intp), []
    for number, (train, test) in enumerate(folds(y, 10, seed)):
        tuned.fit(X[train], y[train])
        p = proba[test] = tuned.estimator_.predict_proba(X[test])[:, 1]
        fold[test] = number
        threshold = float(np.mean(best_thresholds(tuned.predictions_.counts())))
        default, optimal = (float(np.mean((p >= each) == y[test])) for each in (0.5, threshold))
        found.append((rs.auc(y[test], p), default, optimal, optimal - default, threshold))
    means = dict(zip(FIGURES, np.mean(found, axis=0).tolist(), strict=True))
    spread = float(np.std([row[-1] for row in found], ddof=1))
    return {**means, "auc_pooled": rs.auc(y, proba), "threshold_sd": spread, "probability": proba, "fold": fold}


def row_of(published: Mapping[str, str], n: int, runs: Sequence[Mapping[str, Any]]) -> Row:
    """Return the published results of a data set and learner, together with our runs."""
    key = published["dataset"], published["classifier"]
    ours = {figure: [run[figure] for run in runs] for figure in (*FIGURES, "auc_pooled", "threshold_sd")}
    return Row(", ".join(key), n, ours, {f: float(published[f]) for f in FIGURES}, REASONS.get(key, ""))


def show(rows: Sequence[Row]) -> dict[str, Any]:
    """Print the table, the summary and the rows that differ from the published results; return the summary."""
    header = ["published / ours / difference", "AUC", "", "", "CA at 0.5", "", "CA chosen", "", "change", "", ""]
    lines = []
    for row in rows:
        cells = [f"{row.published['auc']:.3f}", f"{row.mean('auc'):.3f}", f"{row.difference('auc'):+.3f}"]
        for figure in ("accuracy_default", "accuracy_optimal"):
            cells += [f"{row.published[figure]:.3f}", f"{row.mean(figure):.3f}"]
        cells += [f"{row.published['change']:+.3f}", f"{row.mean('change'):+.4f}", f"{row.difference('change'):+.4f}"]
        cells += [f"{row.published['mean_threshold']:.2f}", f"{row.mean('mean_threshold'):.2f}"]
        lines.append([row.name, *cells])
    print_table([*header, "threshold", ""], lines)
    summary: dict[str, Any] = {}
    print("\nMean change of accuracy (published / ours), and number of AUCs within 0.03 of the published AUC:")
    for learner in (*LEARNERS, ""):
        part = [row for row in rows if row.name.endswith(learner)]
        ours, theirs = (float(np.mean(values)) for values in _changes(part))
        close = sum(abs(row.difference("auc")) <= 0.03 for row in part)
        summary[learner or "all"] = {"rows": len(part), "ours": ours, "published": theirs, "auc_within_0.03": close}
        print(f"  {learner or 'all':12} {theirs:+.4f} / {ours:+.4f}   {close} of {len(part)} rows")
    summary["correlation"] = print_correlation(rows)
    gains = sum(row.mean("change") > 0 for row in rows)
    print(f"Better with the chosen threshold: published 15 of 28, ours {gains} of {len(rows)} rows.")
    print("\nMedian change over data sets (Hodges–Lehmann):")
    for learner in LEARNERS:
        part = [row for row in rows if row.name.endswith(learner)]
        if len(part) > 1:
            print_signed_ranks(part, "accuracy_default", "accuracy_optimal", learner)
    print_disagreements(rows)
    return summary


def _changes(rows: Sequence[Row]) -> tuple[list[float], list[float]]:
    return [row.mean("change") for row in rows], [row.published["change"] for row in rows]


def draw(runs: Mapping[tuple[str, str], Mapping[str, Any]], tables: Mapping[str, Table], folder: Path) -> list[Path]:
    """Draw figures 9, 10 and 11 from the first seed, if their data were found."""
    import matplotlib as mpl

    mpl.use("Agg")

    def predictions(label: str, learners: Sequence[str]) -> rs.Predictions:
        scores = {learner: runs[label, learner]["probability"] for learner in learners}
        return rs.Predictions(tables[label].y, scores, fold=runs[label, learners[0]]["fold"])

    marks = {"hull": True, "iso_line": True, "thresholds": [0.5]}
    axes = {}
    if "tic_tac_toe" in tables:
        axes["figure_09"] = rs.plotting.plot_roc(predictions("tic_tac_toe", LEARNERS[:1]), **marks)
        axes["figure_09"].set_title("tic_tac_toe, positive class p (paper: figure 9)", loc="left", fontsize="medium")
    if "promoters" in tables:
        promoters = predictions("promoters", LEARNERS)
        axes["figure_10"] = rs.plotting.plot_calibration(promoters, method="loess")
        axes["figure_10"].set_title("promoters, positive class pp (paper: figure 10)", loc="left", fontsize="medium")
        axes["figure_11"] = rs.plotting.plot_roc(promoters, **marks)
        axes["figure_11"].set_title("promoters, positive class pp (paper: figure 11)", loc="left", fontsize="medium")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, ax in axes.items():
        paths.append(folder / f"vuk_curk_2006_{name}.png")
        ax.figure.savefig(paths[-1], dpi=150)
    return paths


def main(arguments: argparse.Namespace) -> None:
    """Run the trials, print the tables, draw the figures and write the results as JSON."""
    tables, missing = load_all(VUK_CURK, arguments)
    inner_folds = 5 if arguments.quick else 10
    seeds = range(arguments.seeds)
    keys = [(label, learner, seed) for label in tables for learner in LEARNERS for seed in seeds]
    kinds = dict(zip(LEARNERS, (arguments.bayes, arguments.tree), strict=True))
    calls = [(tables[label], kinds[learner], seed, inner_folds) for label, learner, seed in keys]
    runs = dict(zip(keys, run_all(trial, calls, "Vuk & Curk 2006", arguments.jobs), strict=True))
    rows = [
        row_of(p, tables[p["dataset"]].y.size, [runs[p["dataset"], p["classifier"], s] for s in seeds])
        for p in read_published("vuk_curk_2006_table4.csv")
        if p["dataset"] in tables
    ]
    found = f"{len(tables)} of {len(VUK_CURK)} data sets, {arguments.seeds} seeds, {' and '.join(kinds.values())}"
    print(f"Vuk & Curk 2006, table 4: {found}\n")
    summary = show(rows)
    print_missing(missing)
    first = {(label, learner): run for (label, learner, seed), run in runs.items() if seed == 0}
    for path in draw(first, tables, arguments.output):
        print(f"Written: {path}")
    content = {
        "paper": "Vuk & Curk 2006, table 4",
        "seeds": arguments.seeds,
        "folds": {"outer": 10, "inner": inner_folds},
        "learners": kinds,
        "sources": {label: table.source for label, table in tables.items()},
        "missing": missing,
        "summary": summary,
        "rows": [row.to_dict() for row in rows],
    }
    save(content, arguments.output / "vuk_curk_2006.json")


if __name__ == "__main__":
    main(options(__doc__, tree=TREES, bayes=BAYES))
