"""How often `Decision.interval` and `CampaignPlan.interval` hold the true cost or profit, also where they say reliable.

Run with ``python benchmarks/simulations/plans.py --samples 500 --seed 1 [--only Pareto]``: a row of a Markdown table
for each design of tests/decisions/generalization/interval_cases.py, and an exit code of 1 if intervals that call
themselves reliable cover less than 93%, beyond chance. With ``--drawn`` each sample is of a design of its own, drawn
at random, and a row stands for all designs of one distribution of amounts.
"""

import argparse
import sys
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "tests" / "decisions" / "generalization"))

import numpy as np
from interval_cases import HEAVY, MAILING_OF_PARETO, OF_COST, OF_PROFIT, drawn, study

LEAST = 0.93
FEWEST = 25  # reliable intervals, below which a design says nothing of them


def row(name: str, samples: int, seed: int) -> tuple[str, bool]:
    """Return the row of a design, and whether its reliable intervals cover enough."""
    designs = OF_COST | OF_PROFIT | HEAVY
    found = study(designs[name], samples, seed=seed, profit=name in OF_PROFIT | MAILING_OF_PARETO)
    return told(name, found["missed"] == 0, found["reliable"] == 1)


def rows_of_drawn(samples: int, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield a row for each distribution of amounts: one sample of each of many designs, half of them of profit."""
    rng, found = np.random.default_rng([seed, 0]), {}
    for number in range(samples):
        name, cases = drawn(rng)
        one = study(cases, 1, seed=seed + number, profit=number % 2 == 0)
        found.setdefault(name.split()[0], []).append((one["missed"][0] == 0, one["reliable"][0] == 1))
    for name, each in found.items():
        yield told(name, *np.array(each).T)


def told(name: str, held: Any, reliable: Any) -> tuple[str, bool]:
    """Return a row, and whether enough of the reliable intervals hold."""
    some = int(reliable.sum())
    given = float(held[reliable].mean()) if some else float("nan")
    shown = " | ".join("–" if share != share else f"{100 * share:.1f}" for share in (held.mean(), given))
    enough = some < FEWEST or given >= LEAST - 2 * sqrt(0.05 * 0.95 / some)
    return f"| {name} | {shown} | {100 * reliable.mean():.0f} |", enough


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="designs whose name has this")
    parser.add_argument("--drawn", action="store_true", help="designs drawn at random")
    options = parser.parse_args()
    print("| design | covers | given reliable | reliable |\n|---|---:|---:|---:|", flush=True)
    kept, names = True, [name for name in OF_COST | OF_PROFIT | HEAVY if options.only in name]
    fixed = (row(name, options.samples, options.seed) for name in names)
    for line, enough in rows_of_drawn(options.samples, options.seed) if options.drawn else fixed:
        kept &= enough
        print(line + ("" if enough else " FAILS"), flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
