"""Seconds of decisions on many models, beside those of ranking them, measured in one run.

``python benchmarks/bench_decisions.py`` takes 20 models of 10⁶ rows; ``--check`` exits with 1 unless the hull takes at
most 0.5 s after ranking and `choose` on it at most 50 ms. ``--money 1e7`` writes so many rows to a Parquet file in a
temporary folder instead, and times reading them in money beside reading them weighted by the same amounts, in turns;
``--check`` then exits with 1 unless it takes at most 1.5 times as long.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from timing import took

import rocscope as rs

MOST_SECONDS = {"hull of all models": 0.5, "choose on the hull": 0.05}
CONTEXT = rs.Context(cost_fp=1, cost_fn=20, target_prevalence=0.05)
FRAUD = rs.Context(cost_fn="amount", cost_fp=2.5)
MOST_IN_MONEY = 1.5
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


def in_money(rows: int) -> dict[str, float]:
    """Time reading rows weighted, and in money, and choosing among rows that are held."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)
    label = generator.random(rows) < 0.1
    score = (generator.standard_normal(rows) + label).astype(np.float32)
    amount = np.round(generator.lognormal(3, 1, rows), 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        pq.write_table(pa.table({"y": label.astype(np.int8), "score": score, "amount": amount}), path)

        def weighted() -> object:
            return rs.read_counts(path, label="y", scores="score", weight="amount", progress=False)

        def priced() -> object:
            return rs.read_counts(path, label="y", scores="score", context=FRAUD, progress=False)

        weighted(), priced()  # compiles
        turns = [(took(weighted).seconds, took(priced).seconds) for _ in range(TURNS)]
    held = rs.Predictions(label, score, columns={"amount": amount})
    rs.choose(held, FRAUD)  # compiles
    plain, by_row = (median(column) for column in zip(*turns, strict=True))
    names = ("reading, weighted", "reading in money", "choose in money, rows held")
    return dict(zip(names, (plain, by_row, took(lambda: rs.choose(held, FRAUD)).seconds), strict=True))


def report_money(rows: int) -> bool:
    """Print what reading in money takes, and return whether the target is met."""
    seconds = in_money(rows)
    ratio = seconds["reading in money"] / seconds["reading, weighted"]
    print(f"{rows:,} rows, medians of {TURNS} turns")
    for task, taken in seconds.items():
        print(f"{task:30} {taken:9.4f} s")
    print(f"{'ratio':30} {ratio:9.2f}   ≤ {MOST_IN_MONEY} {'met' if ratio <= MOST_IN_MONEY else 'MISSED'}")
    return ratio <= MOST_IN_MONEY


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--money", type=float, help="rows to read in money, instead")
    parser.add_argument("--check", action="store_true", help="exit with 1 unless the targets are met")
    options = parser.parse_args()
    if options.money:
        return int(not report_money(int(options.money)) and options.check)
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
