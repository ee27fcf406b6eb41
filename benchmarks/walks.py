"""Count the files and functions that five everyday calls run through.

    python benchmarks/walks.py [--check] [--list WALK]

Each call is made once before it is traced, so that what is loaded, compiled or cached for good does not count. A walk
that begins with counts gets new ones.
`--check` fails where a call runs through more files than its limit.
"""

import argparse
import contextlib
import io
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import rocscope as rs

ROOT = Path(rs.__file__).parent
RNG = np.random.default_rng(1)
LABEL = RNG.integers(0, 2, 400)
SCORE = (1 / (1 + np.exp(-(LABEL - 0.5 + RNG.normal(size=400))))).round(3)
WEIGHT = RNG.random(400) + 0.5
TIME, EVENT = RNG.exponential(2, 400).round(2) + 0.01, RNG.integers(0, 2, 400)


def score_to_auc() -> Any:
    return rs.auc(LABEL, SCORE)


def counts_to_choice(counts: rs.ThresholdCounts) -> Any:
    return rs.choose(counts, rs.Context(cost_fp=1, cost_fn=5))


def new_counts() -> rs.ThresholdCounts:
    """Return counts that keep nothing of earlier calls, such as their hull."""
    return rs.ThresholdCounts.from_scores(LABEL, SCORE)


def cost_to_interval() -> Any:
    predictions = rs.Predictions(LABEL, SCORE)
    return rs.choose(predictions, rs.Context(cost_fp=1, cost_fn=5)).interval()


def weight_to_interval() -> Any:
    return rs.auc_interval(rs.Predictions(LABEL, SCORE, sample_weight=WEIGHT))


def horizon_to_auc() -> Any:
    return rs.outcomes.over_time(TIME, EVENT, SCORE, [1.0, 2.0])


def csv_to_summary() -> Any:
    from rocscope.cli import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        rows = "\n".join(f"{label},{score}" for label, score in zip(LABEL, SCORE, strict=True))
        path.write_text(f"y,score\n{rows}\n", encoding="utf-8")
        arguments = sys.argv
        sys.argv = ["rocscope", "summary", str(path), "--label", "y", "--score", "score"]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                return main()
        finally:
            sys.argv = arguments


WALKS: dict[str, tuple[Callable[..., Any], int]] = {
    "score to AUC": (score_to_auc, 10),
    "counts to choice": (counts_to_choice, 10),
    "cost to choice to interval": (cost_to_interval, 18),
    "CSV to printed summary": (csv_to_summary, 40),
    "weight to interval": (weight_to_interval, 12),
    "horizon to AUC(t)": (horizon_to_auc, 14),
}
"""Each call with the most files that it may run through."""

BEGINS_WITH: dict[Callable[..., Any], Callable[[], Any]] = {counts_to_choice: new_counts}
"""What is made before a call is traced, anew for each call."""


def trace(call: Callable[..., Any]) -> Counter[str]:
    """Return how many functions of each file of the package a call runs."""
    called: set[tuple[str, str]] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(ROOT)):
            called.add((str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname))

    def made_before() -> list[Any]:
        return [BEGINS_WITH[call]()] if call in BEGINS_WITH else []

    call(*made_before())
    arguments = made_before()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call(*arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Counter(file for file, _ in called)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail above the limits")
    parser.add_argument("--list", metavar="WALK", help="list the files of one walk", choices=list(WALKS))
    asked = parser.parse_args()
    above = []
    for name, (call, limit) in WALKS.items():
        files = trace(call)
        print(f"{name:28} {len(files):3} files (at most {limit}), {files.total():4} functions")
        if name == asked.list:
            print("\n".join(f"  {count:4} {file}" for file, count in files.most_common()))
        if len(files) > limit:
            above.append(name)
    if asked.check and above:
        sys.exit(f"above the limit: {', '.join(above)}")


if __name__ == "__main__":
    main()
