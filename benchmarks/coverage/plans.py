"""How often `Decision.interval` and `CampaignPlan.interval` hold the true cost or profit, also where they say reliable.

Run with ``python benchmarks/coverage/plans.py --samples 500 --seed 1 [--only Pareto]``: a row of a Markdown table for
each design of tests/decisions/generalization/interval_cases.py, and an exit code of 1 if intervals that call themselves
reliable cover less than 93 %, beyond chance.
"""

import argparse
import sys
from math import sqrt
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "decisions" / "generalization"))

from interval_cases import HEAVY, MAILING_OF_PARETO, OF_COST, OF_PROFIT, study

LEAST = 0.93
FEWEST = 25  # reliable intervals, below which a design says nothing of them


def row(name: str, samples: int, seed: int) -> tuple[str, bool]:
    """Return the row of a design, and whether its reliable intervals cover enough."""
    designs = OF_COST | OF_PROFIT | HEAVY
    found = study(designs[name], samples, seed=seed, profit=name in OF_PROFIT | MAILING_OF_PARETO)
    held, reliable = found["missed"] == 0, found["reliable"] == 1
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
    options = parser.parse_args()
    print("| design | covers | given reliable | reliable |\n|---|---:|---:|---:|", flush=True)
    kept = True
    for name in OF_COST | OF_PROFIT | HEAVY:
        if options.only in name:
            line, enough = row(name, options.samples, options.seed)
            kept &= enough
            print(line + ("" if enough else " FAILS"), flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
