"""Seconds of decisions on many models, of one budget for many groups, and of verifying a decision.

``python benchmarks/bench_decisions.py`` takes 20 models of 10⁶ rows; ``--check`` exits with 1 unless the hull takes at
most 0.5 s after ranking and `choose` on it at most 50 ms.

``… bench_decisions.py allocate`` spreads a capacity over 1,000 groups of 1,000 levels, and over 300 of 300 beside the
linear program over all their thresholds; it is to take at most a second, the program 100 times as long, at one cost.

``… bench_decisions.py verify`` has a decision between two models of 10⁷ rows verified by choosing again.

``… bench_decisions.py money`` writes 10⁷ rows to a temporary Parquet file, and reads them in money, which is to
take at most 1.5 times as long as reading them weighted by the same amounts.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array
from timing import best_of, took

import rocscope as rs

MOST_SECONDS = {"hull of all models": 0.5, "choose on the hull": 0.05}
CONTEXT = rs.Context(cost_fp=1, cost_fn=20, target_prevalence=0.05)
FRAUD = rs.Context(cost_fn="amount", cost_fp=2.5)
MOST_IN_MONEY = 1.5
TURNS = 5
CAMPAIGN = rs.Campaign(population=1e6, unit_cost=1, unit_benefit=6)
CAPACITY = CAMPAIGN.population / 5
SECONDS, TIMES_FASTER, GAP = 1.0, 100.0, 1e-9
GROUPS, OF_BOTH = 1000, 300


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


def choices(models: int, rows: int) -> bool:
    """Print how long decisions take beside ranking; say whether promises were kept."""
    preds = predictions(models, rows)
    turn(preds)  # compiles
    turns = [turn(preds) for _ in range(TURNS)]
    seconds = {task: median(each[task] for each in turns) for task in turns[0]}
    print(f"{models} models × {rows:,} rows, medians of {TURNS} turns")
    print(f"{'':30} {'seconds':>9} {'of ranking':>11}  target")
    met = True
    for task, taken in seconds.items():
        most = MOST_SECONDS.get(task)
        target = "" if most is None else f"≤ {most:g} s {'met' if taken <= most else 'MISSED'}"
        met = met and (most is None or taken <= most)
        print(f"{task:30} {taken:9.4f} {taken / seconds['ranking']:11.1%}  {target}")
    return met


def grouped(groups: int) -> rs.segments.SegmentedCounts:
    """Draw groups of as many rows, and levels, as there are groups: of different class mix and quality."""
    generator = np.random.default_rng(0)
    segment = np.repeat(np.arange(groups), groups)
    mix, skill = generator.uniform(0.05, 0.5, groups), generator.uniform(0, 2, groups)
    label = generator.random(segment.size) < mix[segment]
    score = generator.standard_normal(segment.size) + skill[segment] * label
    return rs.Predictions(label, score, segment=segment).counts(by="segment")


def program(counts: rs.segments.SegmentedCounts) -> float:
    """Return the lowest cost by a program with a variable for each threshold of each group."""
    scale = CAMPAIGN.population / (counts.n_pos.sum() + counts.n_neg.sum())
    columns = [each.cumulative for each in counts.values()]
    tp, fp = (np.concatenate([each[axis] for each in columns]) * scale for axis in (0, 1))
    group = np.repeat(np.arange(len(columns)), [each[0].size for each in columns])
    cost = CAMPAIGN.unit_cost * (tp + fp) - CAMPAIGN.unit_benefit * tp
    each = coo_array((np.ones(tp.size), (group, np.arange(tp.size))))
    return linprog(cost, [tp + fp], [CAPACITY], each, np.ones(len(columns)), method="highs").fun


def allocations() -> bool:
    """Print how long one budget for many groups takes; say whether promises were kept."""
    large, small = grouped(GROUPS), grouped(OF_BOTH)
    seconds = best_of(lambda: rs.allocate(large, CAMPAIGN, capacity=CAPACITY))
    ours = best_of(lambda: rs.allocate(small, CAMPAIGN, capacity=CAPACITY))
    theirs = took(lambda: program(small))
    cost = rs.allocate(small, CAMPAIGN, capacity=CAPACITY).cost
    gap, times = abs(cost - theirs.answer) / abs(cost), theirs.seconds / ours
    bounded = took(lambda: rs.allocate(large, CAMPAIGN, capacity=CAPACITY, max_difference={"depth": 0.2}))
    print(f"{GROUPS:,} groups of {GROUPS:,} levels: {seconds:.3f} s")
    print(f"the same, and depths that differ by 0.2 at most: {bounded.seconds:.2f} s; {bounded.answer}")
    print(f"{OF_BOTH:,} groups of {OF_BOTH:,} levels: {ours:.4f} s, the program {theirs.seconds:.2f} s")
    print(f"{times:.0f} times as long; costs differ by {gap:.1g}")
    return seconds <= SECONDS and times >= TIMES_FASTER and gap <= GAP


def verified(rows: int) -> bool:
    """Print how long a decision is looked for, and verified; say whether it holds."""
    preds = predictions(2, rows)
    chosen = took(lambda: rs.choose(preds, CONTEXT))
    checked = took(lambda: chosen.answer.verify(preds))
    print(f"2 models × {rows:,} rows: chosen in {chosen.seconds:.2f} s, verified in {checked.seconds:.2f} s")
    print(f"({chosen.processor:.2f} and {checked.processor:.2f} s of the processor) {checked.answer}")
    return checked.answer.verified


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

        def by_row() -> object:
            return rs.read_counts(path, label="y", scores="score", context=FRAUD, progress=False)

        weighted(), by_row()  # compiles
        turns = [(took(weighted).seconds, took(by_row).seconds) for _ in range(TURNS)]
    held = rs.Predictions(label, score, columns={"amount": amount})
    rs.choose(held, FRAUD)  # compiles
    plain, money = (median(column) for column in zip(*turns, strict=True))
    names = ("reading, weighted", "reading in money", "choose in money, rows held")
    return dict(zip(names, (plain, money, took(lambda: rs.choose(held, FRAUD)).seconds), strict=True))


def priced(rows: int) -> bool:
    """Print what reading in money takes; say whether the promise was kept."""
    seconds = in_money(rows)
    ratio = seconds["reading in money"] / seconds["reading, weighted"]
    print(f"{rows:,} rows, medians of {TURNS} turns")
    for task, taken in seconds.items():
        print(f"{task:30} {taken:9.4f} s")
    print(f"{'ratio':30} {ratio:9.2f}   ≤ {MOST_IN_MONEY} {'met' if ratio <= MOST_IN_MONEY else 'MISSED'}")
    return ratio <= MOST_IN_MONEY


def main() -> int:
    """Run, print the figures, and say whether promises were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("choose", "allocate", "verify", "money"), default="choose")
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--rows", type=int, help="10⁶, or 10⁷ to verify a decision on, and to read")
    parser.add_argument("--check", action="store_true", help="exit with 1 unless the targets are met")
    options = parser.parse_args()
    if options.what == "allocate":
        met = allocations()
    elif options.what == "verify":
        met = verified(options.rows or 10**7)
    elif options.what == "money":
        met = priced(options.rows or 10**7)
    else:
        met = choices(options.models, options.rows or 10**6)
    return int(options.check and not met)


if __name__ == "__main__":
    sys.exit(main())
