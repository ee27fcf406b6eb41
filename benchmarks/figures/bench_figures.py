"""Processor time of every figure of a million rows: made, and made and drawn as PNG.

    python benchmarks/figures/bench_figures.py [--rows 1e6] [--turns 3]

Each turn starts from rows that nothing has been counted of; the first, which compiles and imports, is not shown but as
"first": that of a process of its own, less its imports of NumPy and of rocscope.
"""

import argparse
import io
import os
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import matplotlib as mpl
import numpy as np

import rocscope as rs

MOST = 1.0
Make = Callable[["Rows"], Any]


class Rows:
    """Rows of two classes with three models, and of three classes; each time as if they had just come."""

    def __init__(self, rows: int) -> None:
        rng = np.random.default_rng(0)
        self.y = rng.random(rows) < 0.3
        logits = [rng.normal(0, 1.2, rows) + self.y * (1.5 + 0.2 * i) - 1 for i in range(3)]
        self.scores = {f"model {i + 1}": 1 / (1 + np.exp(-each)) for i, each in enumerate(logits)}
        self.label = rng.integers(0, 3, rows)
        proba = rng.random((rows, 3)) + 1.5 * np.eye(3)[self.label]
        self.proba = proba / proba.sum(axis=1, keepdims=True)

    def preds(self, models: int = 1) -> rs.Predictions:
        """Return rows of some models, of which nothing is known yet."""
        return rs.Predictions(self.y, {name: self.scores[name] for name in list(self.scores)[:models]})

    def classes(self) -> rs.multiclass.MulticlassPredictions:
        """Return rows of three classes, of which nothing is known yet."""
        return rs.multiclass.MulticlassPredictions(self.label, {"model": self.proba})


def _curve(make: Callable[..., Any], **options: Any) -> Make:
    return lambda rows: make(rows.preds(), **options).plot()


CAMPAIGN = rs.Campaign(population=1e6, unit_cost=1, unit_benefit=3)
FIGURES: dict[str, Make] = {
    "plot_three, 1 model": lambda rows: rs.plotting.plot_three(rows.preds()),
    "plot_three, 3 models": lambda rows: rs.plotting.plot_three(rows.preds(3)),
    "plot_roc, 3 models": lambda rows: rs.plotting.plot_roc(rows.preds(3)),
    "plot_lift_chart, 3 models": lambda rows: rs.plotting.plot_lift_chart(rows.preds(3)),
    "plot_calibration, bins": lambda rows: rs.plotting.plot_calibration(rows.preds()),
    "plot_calibration, pav": lambda rows: rs.plotting.plot_calibration(rows.preds(), method="pav"),
    "plot_calibration, loess": lambda rows: rs.plotting.plot_calibration(rows.preds(), method="loess"),
    "plot_calibration, spline": lambda rows: rs.plotting.plot_calibration(rows.preds(), method="spline"),
    "plot_calibration, 3 models": lambda rows: rs.plotting.plot_calibration(rows.preds(3)),
    "plot_regions, 3 models": lambda rows: rs.plotting.plot_regions(rs.hull(rows.preds(3))),
    "roc": _curve(rs.roc),
    "gain": _curve(rs.gain),
    "lift": _curve(rs.lift),
    "lift_chart": _curve(rs.lift_chart),
    "profit": lambda rows: rs.profit(rows.preds(), CAMPAIGN).plot(),
    "precision_recall": _curve(rs.precision_recall),
    "det": _curve(rs.det),
    "cost_curve": _curve(rs.cost_curve),
    "brier_curve": _curve(rs.curves.brier_curve),
    "net_benefit": _curve(rs.net_benefit),
    "calibration_curve": _curve(rs.calibration_curve),
    "plot_confusion": lambda rows: rs.plotting.plot_confusion(rows.classes().confusion()),
    "plot_pairwise_auc": lambda rows: rs.plotting.plot_pairwise_auc(rs.multiclass.multiclass_auc(rows.classes())),
    "plot_class_rocs": lambda rows: rs.plotting.plot_class_rocs(rows.classes()),
    "plot_class_calibrations": lambda rows: rs.plotting.plot_class_calibrations(rows.classes()),
    "plot_simplex": lambda rows: rs.plotting.plot_simplex(rows.classes()),
}


def taken(make: Make, rows: Rows) -> tuple[float, float]:
    """Return the seconds until a figure is made, and until it is drawn."""
    from matplotlib import pyplot as plt

    start = process_time()
    made = make(rows)
    seconds = process_time() - start
    getattr(made, "figure", made).savefig(io.BytesIO(), format="png")
    drawn = process_time() - start
    plt.close("all")
    return seconds, drawn


def first(name: str, rows: float) -> float:
    """Return the seconds of a figure in a process of its own."""
    command = [sys.executable, __file__, "--only", name, "--rows", str(rows)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    """Print the table; 1 where a figure takes longer than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", help="of this figure the first time, alone", choices=FIGURES)
    asked = parser.parse_args()
    mpl.use("agg")
    rows = Rows(int(asked.rows))
    if asked.only:
        print(taken(FIGURES[asked.only], rows)[0])
        return 0
    print(f"seconds of processor time, {asked.rows:,.0f} rows, load {os.getloadavg()[0]:.1f}")
    print(f"{'figure':28} {'made':>6} {'drawn':>6} {'first':>6}")
    slow = []
    for name, make in FIGURES.items():
        _, *turns = (taken(make, rows) for _ in range(asked.turns + 1))
        made, drawn = (median(column) for column in zip(*turns, strict=True))
        print(f"{name:28} {made:6.2f} {drawn:6.2f} {first(name, asked.rows):6.2f}", flush=True)
        slow += [name] if made > MOST else []
    print(f"over {MOST:g} s: {', '.join(slow) or 'none'}")
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main())
