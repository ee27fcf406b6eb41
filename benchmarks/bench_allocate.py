"""Seconds to spread one capacity over groups, beside the linear program over all their thresholds, in one run.

``python benchmarks/bench_allocate.py`` takes 1,000 groups of 1,000 levels, and 300 of 300 for both; ``--check`` exits
with 1 unless the first take at most a second, the program 100 times as long, and both cost the same.
"""

import argparse
import sys

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array
from timing import best_of, took

import rocscope as rs

SECONDS, TIMES_FASTER, GAP = 1.0, 100.0, 1e-9
CAMPAIGN = rs.Campaign(population=1e6, unit_cost=1, unit_benefit=6)


def grouped(groups: int, levels: int) -> rs.evaluation.GroupedCounts:
    """Draw groups of as many rows as levels, of different class mix and quality."""
    generator = np.random.default_rng(0)
    segment = np.repeat(np.arange(groups), levels)
    mix, skill = generator.uniform(0.05, 0.5, groups), generator.uniform(0, 2, groups)
    label = generator.random(segment.size) < mix[segment]
    score = generator.standard_normal(segment.size) + skill[segment] * label
    return rs.Predictions(label, score, segment=segment).counts(by="segment")


def program(counts: rs.evaluation.GroupedCounts, capacity: float) -> float:
    """Return the lowest cost by a program with a variable for each threshold of each group."""
    n_pos, n_neg = counts.n_pos.sum(), counts.n_neg.sum()
    scale = CAMPAIGN.population / (n_pos + n_neg)
    columns = [each.cumulative for each in counts.values()]
    tp, fp = (np.concatenate([each[axis] for each in columns]) * scale for axis in (0, 1))
    group = np.repeat(np.arange(len(columns)), [each[0].size for each in columns])
    cost = CAMPAIGN.unit_cost * (tp + fp) - CAMPAIGN.unit_benefit * tp
    each = coo_array((np.ones(tp.size), (group, np.arange(tp.size))))
    return linprog(cost, [tp + fp], [capacity], each, np.ones(len(columns)), method="highs").fun


def main() -> int:
    """Run, print the figures, and say whether promises were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--levels", type=int, default=1000)
    parser.add_argument("--both", type=int, default=300, help="groups, and levels of each, that the program gets too")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    capacity = CAMPAIGN.population / 5
    large, small = grouped(options.groups, options.levels), grouped(options.both, options.both)
    seconds = best_of(lambda: rs.allocate(large, CAMPAIGN, capacity=capacity))
    ours = best_of(lambda: rs.allocate(small, CAMPAIGN, capacity=capacity))
    theirs = took(lambda: program(small, capacity))
    cost = rs.allocate(small, CAMPAIGN, capacity=capacity).cost
    gap, times = abs(cost - theirs.answer) / abs(cost), theirs.seconds / ours
    bounded = took(lambda: rs.allocate(large, CAMPAIGN, capacity=capacity, max_difference={"depth": 0.2}))
    print(f"{options.groups:,} groups of {options.levels:,} levels: {seconds:.3f} s")
    print(f"the same, and depths that differ by 0.2 at most: {bounded.seconds:.2f} s; {bounded.answer}")
    print(f"{options.both:,} groups of {options.both:,} levels: {ours:.4f} s, the program {theirs.seconds:.2f} s")
    print(f"{times:.0f} times as long; costs differ by {gap:.1g}")
    kept = seconds <= SECONDS and times >= TIMES_FASTER and gap <= GAP
    return int(options.check and not kept)


if __name__ == "__main__":
    sys.exit(main())
