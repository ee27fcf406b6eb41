"""How often monitors raise false alarms, how late they find a change, and whether they tell when it was.

Run with ``python benchmarks/simulations/monitors.py --streams 2000 --seed 7``; prints Markdown tables, and exits with 1
if false alarms are above 5% beyond chance, a delay is above twice that of a test that knows when, or fewer than half
of the streams tell the change within a fifth of its row, beyond chance.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

import rocscope as rs

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))

from monitor_cases import changes, rank_alarms, rank_rows_needed, rows_needed
from rocscope.figures.conditions import Condition
from rocscope.inference.confidence_sequence import BETS, bets_on_residuals

CHANGES = (0, 1400, 4000)
NEAR = 0.2


@dataclass(frozen=True)
class Stream:
    """Kinds of rows with values that a limit is about (NaN: rows that it leaves out), before and after a change."""

    name: str
    values: Any
    before: Any
    after: Any
    gain: Any

    @classmethod
    def of_mean(cls, name: str, values: Any, before: Any, after: Any) -> "Stream":
        """Return a mean over some kinds of rows, which rises from its limit."""
        values, before, after = (np.array(each, float) for each in (values, before, after))
        counted, least = ~np.isnan(values), np.nanmin(values)
        bound = float(values[counted] @ before[counted] / before[counted].sum())
        share = np.where(counted, (np.nan_to_num(values) - least) / (bound - least), 1.0)
        return cls(name, values, before, after, np.log(1 - BETS[:, None] + BETS[:, None] * share))

    @property
    def needed(self) -> float:
        """Rows that the one-sided z test needs that knows when the change was."""
        counted = ~np.isnan(self.values)
        parts = [each[counted] / each[counted].sum() for each in (self.before, self.after)]
        return rows_needed(self.values[counted], *parts) / float(self.after[counted].sum())


def calibration(share: float, more: float) -> Stream:
    """Return probabilities around a share, which more and more events happen at than they say."""
    probability = np.clip(share * np.array([0.2, 0.5, 1, 1.5, 2]), 0.01, 0.95)
    residual = np.concatenate([1 - probability, -probability])
    before, after = (np.concatenate([p, 1 - p]) / 5 for p in (probability, np.minimum(probability + more, 0.98)))
    limit = Condition.read("calibration > 0", "limit", "calibration > 0")[0]
    gain = np.column_stack([bets_on_residuals(np.array([r]), np.ones(1), limit) for r in residual])
    return Stream(f"calibration at {share:g}, + {more:g}", residual, before, after, gain)


def cells(rate: float, tpr: float, fpr: float) -> Any:
    """Return the shares of tp, fp, fn and tn."""
    return [rate * tpr, (1 - rate) * fpr, rate * (1 - tpr), (1 - rate) * (1 - fpr)]


NONE = np.nan
STREAMS = [
    Stream.of_mean("cost, a miss costs 4", [0, 1, 4, 0], cells(0.3, 0.8, 0.2), cells(0.3, 0.65, 0.25)),
    Stream.of_mean("cost, rare, a miss costs 20", [0, 1, 20, 0], cells(0.05, 0.7, 0.1), cells(0.05, 0.45, 0.12)),
    Stream.of_mean("prevalence 0.1 → 0.14", [1, 0, 1, 0], cells(0.1, 0.8, 0.2), cells(0.14, 0.8, 0.2)),
    Stream.of_mean("prevalence 0.4 → 0.5", [1, 0, 1, 0], cells(0.4, 0.8, 0.2), cells(0.5, 0.8, 0.2)),
    Stream.of_mean("tpr 0.8 → 0.65", [-1, NONE, 0, NONE], cells(0.3, 0.8, 0.2), cells(0.3, 0.65, 0.2)),
    Stream.of_mean("tpr 0.6 → 0.45, rare", [-1, NONE, 0, NONE], cells(0.1, 0.6, 0.1), cells(0.1, 0.45, 0.1)),
    Stream.of_mean("fpr 0.2 → 0.26", [NONE, 1, NONE, 0], cells(0.3, 0.8, 0.2), cells(0.3, 0.8, 0.26)),
    Stream.of_mean("fpr 0.05 → 0.08", [NONE, 1, NONE, 0], cells(0.3, 0.8, 0.05), cells(0.3, 0.8, 0.08)),
    calibration(0.3, 0.08),
    calibration(0.1, 0.05),
]
RANKS = [(1.0, 0.6, 0.3), (1.5, 1.1, 0.2), (1.2, 1.0, 0.3), (0.7, 0.3, 0.5)]
"""How far apart means are before and after, and prevalence, of normal scores whose AUC falls."""


def alarms_of(streams: int, seed: int) -> Iterator[tuple[str, float]]:
    """Yield how often each quantity raises a false alarm at its limit, in 10,000 rows looked at every 50."""
    looks = {"looks": 200, "rows": 50, "streams": streams, "change": 0, "seed": seed}
    for each in STREAMS:
        raised, _ = changes(each.gain, each.before, each.before, **looks)
        yield each.name, float(np.isfinite(raised).mean())
    for skill, _, rate in RANKS:
        raised, _ = rank_alarms(skill, skill, rate=rate, **(looks | {"looks": 60, "rows": 100}))
        yield f"AUC, means {skill:g} apart, {rate:g} positive", float(np.isfinite(raised).mean())


def delays_of(streams: int, seed: int) -> Iterator[tuple[str, int, float, float, float, int]]:
    """Yield for each change: name, row, rows until found, their multiple of the fixed test's, share that tell when."""
    for start in CHANGES:
        for each in STREAMS:
            most = int(start + 10 * each.needed) // 50
            found = changes(
                each.gain, each.before, each.after, change=start, looks=most, rows=50, streams=streams, seed=seed
            )
            yield each.name, start, *_judged(*found, start, 50 * most, each.needed)
        for skill, later, rate in RANKS:
            needed = rank_rows_needed(skill, later, rate)
            most = int(start + 10 * needed) // 50
            given = {"change": start, "looks": most, "rows": 50, "streams": max(streams // 4, 1), "seed": seed}
            found = rank_alarms(skill, later, rate=rate, **given)
            yield f"AUC, means {skill:g} → {later:g} apart", start, *_judged(*found, start, 50 * most, needed)


def _judged(raised: Any, since: Any, start: int, most: int, needed: float) -> tuple[float, float, float, int]:
    found = raised > start
    late = float((np.minimum(raised, most)[found] - start).mean())
    told = found & np.isfinite(raised)
    near = np.abs(since[told] - start) <= NEAR * start if start else since[told] <= NEAR * raised[told]
    return late, late / needed, float(near.mean()), int(told.sum())


def areas(seed: int) -> float:
    """Return the largest difference of a monitor's AUC to the exact one, of logits with offsets from −20 to 10⁶."""
    rng, found = np.random.default_rng(seed), []
    for offset in (*range(-20, 21, 4), 1e6):
        label = rng.random(10_000) < rng.uniform(0.05, 0.6)
        score = rng.normal(size=10_000) * rng.uniform(0.5, 3) + rng.uniform(0.2, 2) * label + offset
        watch = rs.monitor("auc")
        for start in range(0, 10_000, 500):
            watch.update(label[start : start + 500], score[start : start + 500], when=start)
        found.append(abs(watch.interval["auc"].value - rs.auc(label, score)))
    return max(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    kept = True
    apart = areas(options.seed)
    print(f"largest difference of an AUC: {apart:.2g}\n\n| at its limit | false alarms |\n|---|---:|", flush=True)
    for name, share in alarms_of(options.streams, options.seed):
        fine = share <= 0.05 + 2 * sqrt(0.05 * 0.95 / options.streams)
        kept &= fine
        print(f"| {name} | {100 * share:.1f}% |{'' if fine else ' FAILS'}", flush=True)
    print("\n| change | after | found in | of the fixed test's | tell when |\n|---|---:|---:|---:|---:|", flush=True)
    for name, start, late, times, near, told in delays_of(options.streams, options.seed):
        fine = times <= 2 and near >= 0.5 - 2 * 0.5 / sqrt(max(told, 1))
        kept &= fine
        line = f"| {name} | {start:,} | {late:,.0f} | {times:.2f} | {100 * near:.0f}% |"
        print(line + ("" if fine else " FAILS"), flush=True)
    return 0 if kept and apart <= 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
