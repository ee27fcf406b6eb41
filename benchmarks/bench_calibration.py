"""Calibration of ten million rows: binned curve, PAV, LOESS and every number, after ranking.

Run with ``python benchmarks/bench_calibration.py [rows]``. The aim is 5 s after ranking on two cores.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import took

import rocscope as rs


def timed(name: str, function: Callable[[], Any]) -> float:
    """Print how long a call takes, by the clock and of the processor, and return the latter in seconds."""
    found = took(function)
    print(f"{name:32s} {found.seconds:7.3f} s, processor {found.processor:7.3f} s   {str(found.answer)[:80]}")
    return found.processor


def main(rows: int) -> None:
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 2, rows)
    label = rng.random(rows) < score**1.2
    counts = rs.ThresholdCounts.from_scores(label[:1000], score[:1000])
    rs.calibration.calibration_report(counts, draws=9)  # imports
    rs.calibration_curve(rs.ThresholdCounts.from_scores(label[:60_000], score[:60_000]), method="pav")  # compiler
    counts = rs.ThresholdCounts.from_scores(label, score)
    timed("ranking: levels as arrays", lambda: len(counts))
    total = sum(
        [
            timed("bins", lambda: rs.calibration_curve(counts)),
            timed("PAV", lambda: rs.calibration_curve(counts, method="pav")),
            timed("LOESS", lambda: rs.calibration_curve(counts, method="loess")),
            timed("all numbers, two tests", lambda: rs.calibration.calibration_report(counts, draws=0)),
        ]
    )
    print(f"{'after ranking':32s} {'':19s} processor {total:7.3f} s   for {rows:,} rows, {len(counts):,} levels")
    timed("(spline)", lambda: rs.calibration_curve(counts, method="spline"))
    timed("(all intervals, three tests)", lambda: rs.calibration.calibration_report(counts))
    for n in (10_000, 1_000_000):
        two = rs.Predictions(label[:n], {"a": score[:n], "b": score[:n] ** 1.2})
        timed(f"(summary, two models, {n:,} rows)", lambda two=two: rs.summary(two))
    for method in ("pav", "loess", "bins", "spline"):
        curve = rs.calibration_curve(label[:100_000], score[:100_000], method=method)
        for simultaneous in (False, True):
            name = f"(band of {method}, 10⁵ rows{', all of it' if simultaneous else ''})"
            timed(name, lambda curve=curve, whole=simultaneous: curve.confidence_band(simultaneous=whole))
    classes(rng)


def classes(rng: np.random.Generator) -> None:
    """Print how long a million rows of ten classes take."""
    proba = rng.dirichlet(np.ones(10), 1_000_000)
    label = (proba.cumsum(axis=1) < rng.random((len(proba), 1))).sum(axis=1).clip(max=9)
    preds = rs.multiclass.MulticlassPredictions(label, proba)
    timed("(ten classes: curves)", lambda: rs.multiclass.multiclass_calibration_curves(preds))
    timed("(ten classes: parts of Brier)", lambda: rs.multiclass.multiclass_decompose(preds))
    for method in ("temperature", "vector", "dirichlet"):
        timed(
            f"(ten classes: {method})",
            lambda method=method: rs.multiclass.recalibrate_classes(preds, method=method, cv=None),
        )


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
