"""Seconds of decisions on many models, beside those of ranking them, measured in one run.

``python benchmarks/bench_decisions.py`` takes 20 models of 10⁶ rows; ``--check`` exits with 1 unless the hull takes at
most 0.5 s after ranking and `choose` on it at most 50 ms. ``--verify 10000000`` has a decision between two models of so
many rows verified instead, by counting these anew, and exits with 1 unless it holds.
"""

import argparse
import sys
from statistics import median

import numpy as np
from timing import took

import rocscope as rs

MOST_SECONDS = {"hull of all models": 0.5, "choose on the hull": 0.05}
CONTEXT = rs.Context(cost_fp=1, cost_fn=20, target_prevalence=0.05)
TURNS = 5


def predictions(models: int, rows: int) -> rs.Predictions:
    """Draw models of growing quality, half of them float32."""
    generator = np.random.default_rng(0)
    label = generator.random(rows) < 0.1
    columns = (generator.standard_normal(rows) + label * (1 + i / models) for i in range(models))
    scores = {f"m{i}": column.astype(np.float32 if i % 2 else np.float64) for i, column in enumerate(columns)}
    return rs.Predictions(label, scores)


def turn(preds: rs.Predictions) -> dict[str, float]:
    """Time each task once, from rows that have not been ranked."""
    fresh = preds.select()
    ranking = took(lambda: {name: fresh.counts(name) for name in fresh.models})
    hull = took(lambda: rs.hull(ranking.answer))
    across = hull.answer
    uncertain = rs.decisions.UncertainContext(cost_ratio=(0.01, 0.2), target_prevalence=rs.decisions.Beta(2, 38))
    return {
        "ranking": ranking.seconds,
        "hull of all models": hull.seconds,
        "choose on the hull": took(lambda: rs.choose(across, CONTEXT)).seconds,
        "choose under a constraint": took(lambda: rs.choose(across, CONTEXT, subject_to="tpr >= .9")).seconds,
        "choose by a criterion": took(lambda: rs.choose(across, criterion="mcc")).seconds,
        "cost in an uncertain context": took(lambda: across.expected_cost(uncertain)).seconds,
    }


def verified(rows: int) -> int:
    """Print how long a decision is looked for, and verified; return 1 unless it holds."""
    preds = predictions(2, rows)
    chosen = took(lambda: rs.choose(preds, CONTEXT))
    checked = took(lambda: chosen.answer.verify(preds))
    print(f"2 models × {rows:,} rows: chosen in {chosen.seconds:.2f} s, verified in {checked.seconds:.2f} s")
    print(f"({chosen.processor:.2f} and {checked.processor:.2f} s of the processor) {checked.answer}")
    return int(not checked.answer.holds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--check", action="store_true", help="exit with 1 unless the targets are met")
    parser.add_argument("--verify", type=int, default=0, metavar="ROWS", help="verify a decision on so many rows")
    options = parser.parse_args()
    if options.verify:
        return verified(options.verify)
    preds = predictions(options.models, options.rows)
    turn(preds)  # compiles
    turns = [turn(preds) for _ in range(TURNS)]
    seconds = {task: median(each[task] for each in turns) for task in turns[0]}
    print(f"{options.models} models × {options.rows:,} rows, medians of {TURNS} turns")
    print(f"{'':30} {'seconds':>9} {'of ranking':>11}  target")
    met = True
    for task, taken in seconds.items():
        most = MOST_SECONDS.get(task)
        target = "" if most is None else f"≤ {most:g} s {'met' if taken <= most else 'MISSED'}"
        met = met and (most is None or taken <= most)
        print(f"{task:30} {taken:9.4f} {taken / seconds['ranking']:11.1%}  {target}")
    return int(options.check and not met)


if __name__ == "__main__":
    sys.exit(main())
