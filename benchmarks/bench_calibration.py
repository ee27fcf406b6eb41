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
    rs.calibration.calibration_report(counts, replicates=0, draws=1)  # imports
    rs.calibration_curve(rs.ThresholdCounts.from_scores(label[:60_000], score[:60_000]), method="pav")  # compiler
    counts = rs.ThresholdCounts.from_scores(label, score)
    timed("ranking: levels as arrays", lambda: len(counts))
    total = sum(
        [
            timed("bins", lambda: rs.calibration_curve(counts)),
            timed("PAV", lambda: rs.calibration_curve(counts, method="pav")),
            timed("LOESS", lambda: rs.calibration_curve(counts, method="loess")),
            timed("all numbers and tests", lambda: rs.calibration.calibration_report(counts, replicates=0)),
        ]
    )
    print(f"{'after ranking':32s} {'':19s} processor {total:7.3f} s   for {rows:,} rows, {len(counts):,} levels")
    timed("(spline)", lambda: rs.calibration_curve(counts, method="spline"))
    timed("(intervals of 200 replicates)", lambda: rs.calibration.calibration_report(counts))


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
