"""Differences between models in any statistic, by the bootstrap."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.progress import Progress
from rocscope.core.counts import ThresholdCounts
from rocscope.curves.roc_curve import auc
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import Adjust, Hypothesis, with_adjusted_together
from rocscope.inference.influence.units import WeightKind
from rocscope.inference.resampling.bootstrap import (
    INTERVALS,
    Interval,
    LeftOut,
    acceleration,
    at_sample,
    design_of_sample,
    interval,
    leave_one_out,
)
from rocscope.inference.resampling.draws import AREAS, Design, Statistic, design_of_rows, replicate
from rocscope.sample import Samples


def differences(
    arms: Samples,
    statistic: Callable[[ThresholdCounts], float],
    hypothesis: Hypothesis,
    adjust: Adjust,
    *,
    groups: Any = None,
    weights: WeightKind = "auto",
    replicates: int = 2000,
    method: Interval = "percentile",
    stratified: bool = False,
    random_state: Any = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> Comparisons:
    """Compare a statistic between models of the same rows, or between samples that are drawn apart."""
    check.check_choice("method", method, INTERVALS)
    if arms.rows is not None:
        designs = [design_of_rows(arms.rows, stratified=stratified, groups=groups, weights=weights)]
    else:
        designs = [
            design_of_sample(arm, stratified=stratified, groups=groups.get(name), weights=weights)
            for name, arm in arms.items()
        ]
    names = list(arms)
    plans = [_each(statistic, design) for design in designs]
    seed, streams = check.seed_of(random_state), [None] if len(designs) == 1 else range(len(designs))
    values = np.concatenate([at_sample(*pair) for pair in zip(designs, plans, strict=True)])
    drawn = np.column_stack(
        [
            replicate(design, plan, replicates, random_state=seed, stream=own, threads=threads, progress=progress)
            for design, plan, own in zip(designs, plans, streams, strict=True)
        ]
    )
    left_out = [leave_one_out(*pair) if method == "bca" else [] for pair in zip(designs, plans, strict=True)]
    sample = _Sample(names, designs, values, drawn, left_out, method, hypothesis)
    pairs = [sample.compare(i, j) for i, j in combinations(range(len(names)), 2)]
    known = drawn[~np.isnan(drawn).any(axis=1)]
    covariance = np.atleast_2d(np.cov(known, rowvar=False)) if len(known) > 1 else np.full((len(names),) * 2, np.nan)
    quantity = getattr(statistic, "__name__", "statistic").replace("<lambda>", "statistic")
    estimates = {name: sample.estimate(i) for i, name in enumerate(names)}
    return Comparisons(quantity, estimates, covariance, with_adjusted_together(pairs, adjust, covariance), adjust)


def _each(statistic: Callable[[ThresholdCounts], Any], design: Design) -> Statistic:
    if statistic is auc:
        return AREAS
    check.check_function(statistic, "statistic")
    return Statistic(lambda counts: [statistic(each) for each in counts.values()], len(design.tallies))


@dataclass(frozen=True)
class _Sample:
    """Values and replicates of m models: of one design that all share, or of a design each."""

    names: list[str]
    designs: list[Design]
    values: Array
    drawn: Array
    left_out: list[list[LeftOut]]
    method: Interval
    hypothesis: Hypothesis

    @property
    def paired(self) -> bool:
        return len(self.designs) == 1

    def estimate(self, i: int) -> Estimate:
        return self._contrast({i: 1.0})

    def compare(self, i: int, j: int) -> Comparison:
        difference = self._contrast({i: -1.0, j: 1.0})
        method = f"bootstrap, {'paired' if self.paired else 'unpaired'}"
        return self.hypothesis.compare(self.names[i], self.names[j], difference, method=method)

    def _contrast(self, coefficients: dict[int, float]) -> Estimate:
        """Return the sum of the models' values with these coefficients, and its interval."""
        used, factor = list(coefficients), np.array(list(coefficients.values()))
        value, drawn = float(self.values[used] @ factor), self.drawn[:, used] @ factor
        if self.paired:
            designs, full = self.designs, np.zeros(len(self.names))
            full[used] = factor
            parts = [(part, full) for part in self.left_out[0]]
        else:
            designs = [self.designs[i] for i in used]
            parts = [(part, np.array([c])) for i, c in coefficients.items() for part in self.left_out[i]]
        facts = replace(designs[0], n=sum(design.n for design in designs))
        return interval(value, drawn, self.method, self.hypothesis.level, facts, acceleration(parts))
