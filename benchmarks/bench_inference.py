"""How fast intervals and tests are: ratios to what one would write without rocscope, measured in one run.

Run with ``python benchmarks/bench_inference.py``. Each time is the best of three after a warm-up; the bounds are those
that the project set itself, on two cores.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from timing import best_of, took

import rocscope as rs
from rocscope.inference import statistics

REPLICATES = 2_000


def sample(n: int, levels: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores, rounded to at most so many distinct values."""
    rng = np.random.default_rng(n)
    label = rng.integers(0, 2, n)
    score = label + rng.normal(size=n)
    if levels:
        score = np.clip((score + 5) * levels / 11, 0, levels - 1).astype(np.int64)
    return label, score


def resample_rows(label: np.ndarray, score: np.ndarray, replicates: int) -> list[float]:
    """Bootstrap as it is usually written."""
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(replicates):
        rows = rng.integers(0, label.size, label.size)
        areas.append(roc_auc_score(label[rows], score[rows]))
    return areas


def report(what: str, figure: str, bound: str, holds: bool) -> None:
    print(f"{what:<72} {figure:>12}   {bound:<10} {'holds' if holds else 'MISSED'}")


PROC = """
suppressMessages(library(pROC))
rows <- read.csv(commandArgs(TRUE)[1])
curve <- function(score) roc(rows$label, score, quiet = TRUE, levels = c(0, 1), direction = "<")
run <- function() roc.test(curve(rows$a), curve(rows$b), method = "delong", paired = TRUE)
invisible(run())
for (turn in 1:5) cat(system.time(run())[["elapsed"]], "")
"""


def compare_with_proc(n: int = 100_000) -> None:
    """Both take arrays of labels and scores that are in memory, and end with the p-value."""
    label, first = sample(n)
    second = first + np.random.default_rng(1).normal(size=n)
    what = f"paired DeLong test of two models, {n:,} rows, against R's pROC"
    with tempfile.TemporaryDirectory() as folder:
        rows, script = Path(folder, "rows.csv"), Path(folder, "proc.R")
        table = np.column_stack([label, first, second])
        np.savetxt(rows, table, fmt="%.17g", delimiter=",", header="label,a,b", comments="")
        script.write_text(PROC, encoding="utf-8")
        try:
            run = subprocess.run(["Rscript", script, rows], capture_output=True, text=True, check=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            print(f"{what}: left out, as R with pROC does not run here ({type(error).__name__})")
            return
    theirs = min(float(seconds) for seconds in run.stdout.split())
    ours = best_of(lambda: rs.compare(rs.Predictions(label, {"a": first, "b": second}), method="delong"))
    report(what, f"{theirs / ours:.1f} ×", "≥ 2 ×", theirs >= 2 * ours)


def compare_with_bootstrap(n: int = 6_000) -> None:
    """Standard errors in closed form, of rows and of groups of five, beside those of 2,000 replicates."""
    label, score = sample(n)
    chance = 1 / (1 + np.exp(-score))
    for kind, groups in (("rows", None), ("groups", np.arange(n) // 5)):
        data = rs.Predictions(label, chance, groups=groups)
        for each in (statistics.partial_area(max_fpr=0.2), statistics.brier(), statistics.calibration_slope()):
            closed = best_of(lambda each=each, data=data: rs.inference.estimate_of(data, each))
            drawn = best_of(
                lambda each=each, data=data: rs.bootstrap(data, each, replicates=REPLICATES // 20), rounds=1
            )
            ratio = 20 * drawn / closed
            report(
                f"{each.name} of {kind}, against {REPLICATES:,} replicates", f"{ratio:.0f} ×", "≥ 100 ×", ratio >= 100
            )


def censored_follow_up(n: int = 10_000_000, of_several: int = 1_000_000) -> None:
    """The AUC at a horizon, with weights for censoring, against that of as many weighted rows; and at ten horizons."""
    rng = np.random.default_rng(0)
    time, event, score, weight = rng.exponential(size=n), rng.integers(0, 3, n).astype(np.int8), *rng.random((2, n))
    weighted = best_of(lambda: rs.auc((time <= 0.7) & (event == 1), score, sample_weight=weight))
    at_horizon = best_of(lambda: rs.auc(rs.outcomes.at_horizon(time, event, score, 0.7)))
    what = f"AUC at a horizon, {n:,} censored rows, against a weighted AUC"
    report(what, f"{at_horizon / weighted:.1f} ×", "≤ 3 ×", at_horizon <= 3 * weighted)

    few = slice(of_several)
    horizons = np.linspace(0.1, 1, 10)
    taken = took(lambda: rs.outcomes.over_time(time[few], event[few], score[few], horizons)).processor
    what = f"AUC at ten horizons with intervals, {of_several:,} rows, CPU time"
    report(what, f"{taken:.1f} s", "≤ 5 s", taken <= 5)


def main() -> None:
    label, first = sample(1_000_000)
    second = first + np.random.default_rng(1).normal(size=label.size)
    both = rs.Predictions(label, {"a": first, "b": second})
    paired = best_of(lambda: rs.compare(both))
    report("paired DeLong test of two models, 1,000,000 rows", f"{paired:.2f} s", "≤ 1 s", paired <= 1)

    label, score = sample(10_000)
    counts = rs.ThresholdCounts.from_scores(label, score)
    ours = best_of(lambda: rs.bootstrap(counts, rs.auc, replicates=REPLICATES))
    rows = 50
    theirs = best_of(lambda: resample_rows(label, score, rows), rounds=1) * REPLICATES / rows
    ratio = theirs / ours
    what = f"{REPLICATES:,} replicates of AUC, 10,000 rows, against rows and scikit-learn"
    report(what, f"{ratio:.0f} ×", "≥ 50 ×", ratio >= 50)

    label, score = sample(1_000_000, levels=10_000)
    counts = rs.ThresholdCounts.from_scores(label, score)
    large = best_of(lambda: rs.bootstrap(counts, rs.auc, replicates=REPLICATES), rounds=1)
    what = f"{REPLICATES:,} replicates of AUC, 1,000,000 rows, {len(counts):,} distinct scores"
    report(what, f"{large:.2f} s", "≤ 5 s", large <= 5)

    label, score = sample(1_000_000)
    counts = rs.ThresholdCounts.from_scores(label, score)
    distinct = best_of(lambda: rs.bootstrap(counts, rs.auc, replicates=REPLICATES), rounds=1)
    what = f"{REPLICATES:,} replicates of AUC, 1,000,000 rows, all scores distinct"
    report(what, f"{distinct:.1f} s", "≤ 15 s", distinct <= 15)

    compare_with_proc()
    compare_with_bootstrap()

    censored_follow_up()

    label, score = sample(1_000)
    small = best_of(lambda: rs.auc_interval(label, score))
    slow = best_of(lambda: roc_auc_score(label, score))
    what = "AUC with its interval, 1,000 rows, against scikit-learn's AUC alone"
    report(what, f"{slow / small:.1f} ×", "≥ 1 ×", slow >= small)


if __name__ == "__main__":
    main()
