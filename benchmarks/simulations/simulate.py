"""How often the intervals of the library hold the truth, on designs that nobody tuned them to.

Run with ``make coverage``, or ``python benchmarks/simulations/simulate.py --samples 100 --only t2``. Prints a line for
each interval of each design, and with ``--page`` writes docs/coverage.md from all of them.
"""

import argparse
import json
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from math import isnan, sqrt
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from designs import NAMED, drawn_at_random
from intervals import Judge

from rocscope.errors import OneClassError, RocscopeWarning
from rocscope.inference import Estimate

Judged = tuple[bool, bool, float]  # whether an interval holds the truth and is reliable, and its width
LEAST = 0.93  # coverage of a 95% interval that calls itself reliable


@dataclass
class Line:
    """How one interval fared on one design."""

    design: str
    interval: str
    ordinary: bool
    samples: int
    covers: float
    reliable: float
    covers_reliable: float
    width: float

    @property
    def error(self) -> float:
        """Standard error of the coverage among reliable intervals."""
        return sqrt(0.05 * 0.95 / max(self.samples * self.reliable, 1))

    @property
    def fails(self) -> bool:
        """Whether intervals that call themselves reliable cover less than they may, beyond chance."""
        return self.reliable * self.samples >= 25 and self.covers_reliable < LEAST - 2 * self.error

    def __str__(self) -> str:
        mark = "FAILS" if self.fails else "flags" if self.ordinary and self.reliable < 0.9 else ""
        figures = (
            f"{100 * self.covers:5.1f} {100 * self.covers_reliable:5.1f} {100 * self.reliable:4.0f} {self.width:9.4g}"
        )
        return f"{self.design:<60} {self.interval:<28} {figures} {mark}"


def simulate(design: Any, samples: int, bootstrap: bool = False) -> list[Line]:
    """Return a line for each interval of a design."""
    judge = Judge(design, bootstrap)

    def judged(rng: np.random.Generator) -> dict[str, Judged]:
        found, truth = judge.intervals(rng)
        return {name: holds(estimate, truth[name]) for name, estimate in found.items()}

    return lines_of(design, samples, judged)


def holds(estimate: Estimate, truth: float) -> Judged:
    """Return whether an interval holds the truth, whether it is marked as reliable, and its width."""
    given = not isnan(estimate.low)
    inside = estimate.low - 1e-12 <= truth <= estimate.high + 1e-12
    return inside or not given, estimate.reliable and given, estimate.high - estimate.low


def lines_of(design: Any, samples: int, judged: Callable[[np.random.Generator], Mapping[str, Judged]]) -> list[Line]:
    """Return a line for each figure of a design, from a function that judges the figures of a new sample."""
    rng = np.random.default_rng([crc32(str(design).encode()), samples])
    seen: dict[str, list[Judged]] = defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        for _ in range(samples):
            try:
                found = judged(rng)
            except OneClassError:
                continue
            for name, case in found.items():
                seen[name].append(case)
    return [line_of(design, name, cases) for name, cases in seen.items()]


def line_of(design: Any, name: str, cases: Sequence[Judged]) -> Line:
    """Return the line of an interval, from whether it held, whether it was reliable, and its width in each sample."""
    held, reliable, width = (np.array(column) for column in zip(*cases, strict=True))
    given = float(held[reliable].mean()) if reliable.any() else float("nan")
    middle = float(np.nanmedian(width)) if not np.isnan(width).all() else float("nan")
    share = float(reliable.mean())
    return Line(str(design), name, design.ordinary, len(cases), float(held.mean()), share, given, middle)


def summarised(lines: Iterable[Line]) -> list[str]:
    """Return a table with a row for each interval."""
    by_interval: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_interval[line.interval].append(line)
    rows = [
        "| interval | designs | covers, mean | covers, lowest | covers if reliable, mean | covers if reliable, lowest "
        "| below 93 | reliable, ordinary |"
    ]
    rows.append("|---|---|---|---|---|---|---|---|")
    for name, each in by_interval.items():
        given = [line for line in each if line.reliable * line.samples >= 25]
        ordinary = [line.reliable for line in each if line.ordinary]
        parts = [np.mean([line.covers for line in each]), min(line.covers for line in each)]
        parts += (
            [np.mean([x.covers_reliable for x in given]), min(x.covers_reliable for x in given)]
            if given
            else [np.nan] * 2
        )
        shown = [f"{100 * part:.1f}" if part == part else "–" for part in parts]
        fails, often = sum(line.fails for line in each), f"{100 * np.mean(ordinary):.0f}" if ordinary else "–"
        rows.append(f"| {name} | {len(each)} | {' | '.join(shown)} | {fails} | {often} |")
    return rows


_ABOUT = """# Coverage on randomly drawn designs

A design is a way to simulate data. `make coverage` draws {samples} samples of each design and computes 95% intervals.
The coverage is the share of samples in which the interval contains the true value. If the true coverage is 95%,
the estimated coverage of one design has a standard error of {error:.1f} percentage points. Some designs are fixed. The
fixed designs contain heavy tails, contamination, few distinct scores, clusters of log-normal size, sampling
weights, rare events, steps and bumps of the calibration curve, amounts with a Pareto tail, and cross-validated
scores. In all other designs, the following properties are drawn at random: the family of distributions, the
AUC, the prevalence, the number of rows, ties, clusters and weights. In the name of a design, "50 + 500" are the
numbers of positives and negatives, and "levels" is the number of distinct scores.

"Covers" is the coverage in percent: the mean and the lowest value over all designs. "Covers if reliable" uses
only the intervals that are marked as reliable. "Below 93" is the number of designs in which the coverage of
reliable intervals is below 93% by more than two standard errors. The last column is the percentage of intervals
that are marked as reliable on ordinary designs. A design is ordinary if it has at least 50 rows of each class,
an AUC of at most 0.9, no heavy tails, and at least 40 clusters.
"""


def page(lines: list[Line]) -> str:
    """Return the page of all lines."""
    flagged = [line for line in lines if line.ordinary and line.reliable < 0.9]
    least, most = (pick(line.samples for line in lines) for pick in (min, max))
    samples = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    text = [
        _ABOUT.format(samples=samples, error=100 * sqrt(0.05 * 0.95 / least)),
        *summarised(lines),
        *failing(lines),
        "\n## Ordinary designs where more than one interval in ten is marked as unreliable\n",
        "| design | interval | covers | reliable |",
        "|---|---|---|---|",
        *(_row(x, x.covers, x.reliable) for x in flagged),
    ]
    return "\n".join(text) + "\n"


def failing(lines: Iterable[Line]) -> list[str]:
    """Return a section with the designs where reliable intervals cover too little."""
    worst = sorted((line for line in lines if line.fails), key=lambda line: line.covers_reliable)
    if not worst:
        return ["\nIn no design do reliable intervals cover less than 93%, by more than two standard errors."]
    return [
        "\n## Designs where reliable intervals cover less than 93%\n",
        "| design | interval | covers | covers if reliable | reliable |",
        "|---|---|---|---|---|",
        *(_row(x, x.covers, x.covers_reliable, x.reliable) for x in worst),
    ]


def _row(line: Line, *shares: float) -> str:
    shown = " | ".join(f"{100 * share:.1f}" for share in shares)
    return f"| {line.design} | {line.interval} | {shown} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--only", default="", help="designs whose name has this, or interval kinds: Ranks, Chances …")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--bootstrap", action="store_true")
    parser.add_argument("--results", type=Path, default=Path("build/coverage.json"))
    parser.add_argument("--page", type=Path, help="write the page of all results there")
    options = parser.parse_args()
    designs = [d for d in [*NAMED, *drawn_at_random()] if options.only in f"{type(d).__name__}: {d}"]
    known = json.loads(options.results.read_text()) if options.results.exists() else {}
    work = partial(simulate, samples=options.samples, bootstrap=options.bootstrap)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.processes) as pool:
        for found in pool.map(work, designs):
            for line in found:
                print(line, flush=True)
                known[f"{line.design} | {line.interval}"] = asdict(line)
            options.results.write_text(json.dumps(known, indent=0))
    lines = [Line(**each) for each in known.values()]
    print("\n".join(summarised(lines)))
    if options.page:
        options.page.write_text(page(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
