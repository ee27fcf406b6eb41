"""Seconds of the processor that `rocscope.evaluate` takes beside scikit-learn's `cross_validate`, and their ratio.

``python benchmarks/evaluation/bench_cross_validate.py [--rows 1000000] [--check]``. Both use the same folds and
scorers, in one process, in turns; the shortest of the turns counts. evaluate also keeps the scores and labels of all
rows, for which it asks a model once more. ``--check`` exits with 1 where a ratio is above 1.2.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB

import rocscope as rs

sys.path.append(str(Path(__file__).parents[1]))
from timing import took

sys.path.pop()  # Numba would take the folder beside it for the package coverage

MODELS = {"naive Bayes": GaussianNB(), "logistic": LogisticRegression()}
SCORERS = ["roc_auc", "accuracy", "neg_log_loss"]
BOUND = 1.2


def seconds(model: Any, columns: np.ndarray, label: np.ndarray, scorers: list[str], turns: int) -> tuple[float, float]:
    """Return the seconds of both; where no scorers are asked for, cross_validate has the AUC."""
    folds, positive = StratifiedKFold(5), None if label.dtype.kind == "i" else "yes"
    ours, theirs = [], []
    for _ in range(turns):
        options = {"cv": folds, "pos_label": positive, "scoring": scorers or None, "progress": False}
        ours.append(took(lambda options=options: rs.evaluate(model, columns, label, **options)))
        theirs.append(took(lambda: cross_validate(model, columns, label, cv=folds, scoring=scorers or "roc_auc")))
    return min(each.processor for each in ours), min(each.processor for each in theirs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="exit with 1 where a ratio is above the bound")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    y = (rng.random(options.rows) < 0.3).astype(int)
    columns = rng.normal(size=(options.rows, 10)) + 0.3 * y[:, None]
    rs.evaluate(MODELS["logistic"], columns[:1000], y[:1000])  # which loads what it needs
    missed = False
    for kind, label in {"numbers": y, "text": np.array(["no", "yes"])[y]}.items():
        for name, model in MODELS.items():
            for scorers in ([], SCORERS):
                ours, theirs = seconds(model, columns, label, scorers, options.turns)
                missed |= ours > BOUND * theirs
                what = f"{name}, labels are {kind}, {len(scorers) or 'no'} scorers"
                print(f"{what:<45} {ours:6.2f} s beside {theirs:6.2f} s: {ours / theirs:.2f} times", flush=True)
    return int(options.check and missed)


if __name__ == "__main__":
    sys.exit(main())
