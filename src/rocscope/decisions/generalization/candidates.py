"""Candidates of a choice (a model with a threshold rule), and how their rows are resampled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.decisions.criteria import Criterion, criterion_of
from rocscope.decisions.generalization.threshold_choice import Best, Chosen, Rule, among, from_zero
from rocscope.geometry.thinning import thin
from rocscope.inference.influence.units import WeightKind, require_whole
from rocscope.inference.resampling.draws import Design, RowsByTarget, Tally, design_of_counts, design_of_rows
from rocscope.sample import Samples

# Thresholds of a model; a choice: each replicate counts all of them, and a thinned curve has the same best point.
_MOST_LEVELS = 2048
_MOST_UNITS = 20_000  # that are drawn one by one; a choice: memory and time of a replicate grow with them
_BLOCKS = 1000  # of random units, drawn in place of more: their variance is then known to √(2/1000), 4.5 %

_COST = criterion_of("min_cost")

CostOrCriterion = Literal["cost", "criterion"]

Points = tuple[Array, Array]
"""True and false positives along the last axis, starting at "nobody", one sample per row."""


@dataclass(frozen=True)
class Candidate:
    """A model and its threshold rule; costs are multiplied by `times`, then `fixed` is added."""

    label: str
    model: str
    rule: Rule
    negated: bool = False
    times: float = 1.0
    fixed: float = 0.0

    def points(self, tallied: Mapping[str, tuple[Array, Array]]) -> Points:
        """Return the points of the candidate's model."""
        pos, neg = tallied[self.model]
        return (
            (from_zero(pos[..., ::-1]), from_zero(neg[..., ::-1])) if self.negated else (from_zero(pos), from_zero(neg))
        )

    def thresholds(self, level: Array) -> Array:
        """Return the threshold of each point, starting at "nobody positive"."""
        level = level.astype(np.float64)
        if self.negated:  # positive iff score < threshold
            return np.concatenate([[-np.inf], level[-2::-1], [np.inf]])
        return np.concatenate([[np.inf], level[:-1], [-np.inf]])

    def value(self, cells: Array, quantity: CostOrCriterion) -> Array:
        """Return cost or criterion for cells tp, fp, n_pos and n_neg along the last axis."""
        rule = self.rule if quantity == "criterion" else replace(self.rule, criterion=_COST)
        with np.errstate(invalid="ignore"):
            return self.times * rule.worth(*np.moveaxis(cells, -1, 0)) + self.fixed

    def best(self, points: Points, *, acting: bool = False) -> Best:
        """Return its best point in each sample; see `Rule.best`. "Everybody" stays everybody in other samples."""
        tp, fp = points
        best = self.rule.best(tp, fp, acting=acting)
        point = best.point
        if self.rule.limit is None:
            point = np.where(best.depth == tp[:, -1] + fp[:, -1], tp.shape[1] - 1, point)
        if self.times == 1 and not self.fixed:
            return best._replace(point=point)
        sign = self.rule.criterion.sign
        return best._replace(point=point, goodness=self.times * best.goodness + sign * self.fixed)


@dataclass(frozen=True)
class Candidates:
    """All candidates of a choice; `idle` is the cost of choosing none of them, if known."""

    each: tuple[Candidate, ...]
    idle: float | None = None

    @property
    def criterion(self) -> Criterion:
        """Criterion of the choice."""
        return self.each[0].rule.criterion

    @property
    def by_cost_alone(self) -> bool:
        """Whether the choice is by cost alone."""
        rule = self.each[0].rule
        same = self.criterion.equivalent and self.criterion.equivalent(rule.context) == rule.context
        return bool(same) and not rule.constraints and rule.limit is None

    def points(self, tallied: Mapping[str, tuple[Array, Array]]) -> list[Points]:
        """Return the points of each candidate."""
        return [candidate.points(tallied) for candidate in self.each]

    def values(self, cells: Array, quantity: CostOrCriterion) -> Array:
        """Return cost or criterion of each candidate for its cells; the last axes are candidate and cell."""
        columns = [each.value(cells[..., n, :], quantity) for n, each in enumerate(self.each)]
        return np.stack(columns, axis=-1)

    def choose(self, points: Sequence[Points]) -> Chosen:
        """Return the best candidate in each sample."""
        found = [candidate.best(at) for candidate, at in zip(self.each, points, strict=True)]
        scale = max(candidate.times * candidate.rule.scale for candidate in self.each)
        return among(found, self.criterion.sign, scale)


def design_of_all(samples: Samples, seed: int, *, stratified: bool = False, weights: WeightKind = "auto") -> Design:
    """Return the design that resamples all models: their common rows, or the rows of each.

    A model of more than 2,048 scores is known by as many points of its curve, its vertices among them; of more than
    20,000 rows of several models blocks of rows are drawn, made at random.
    """
    rows = samples.rows
    if rows is None and len(samples) == 1:
        (sample,) = samples.values()
        if sample.rows is not None:
            rows = _named(sample.rows, {sample.name: sample.rows.scores[sample.rows.models[0]]})
    if rows is None or (len(samples) == 1 and _alike(rows)):
        return _apart({name: _thin(sample.points.attained) for name, sample in samples.items()}, stratified)
    design = design_of_rows(_thinned(rows), stratified=stratified, groups=None, weights=weights)
    return design if design.frequency.size <= _MOST_UNITS else _in_blocks(design, np.random.default_rng([seed, 2]))


def _alike(rows: Predictions) -> bool:
    """Whether the counts at each score contain all information."""
    return rows.sample_weight is None and not rows.grouped and not rows.repeated


def _named(rows: Predictions, scores: Mapping[str, Array]) -> Predictions:
    columns = rows.row_columns() | {"fold": None, "repeat": None, "segment": None}
    return Predictions(rows.y_true, dict(scores), **columns)


def _thin(counts: ThresholdCounts) -> ThresholdCounts:
    if len(counts) <= _MOST_LEVELS:
        return counts
    kept = thin(counts, _MOST_LEVELS)
    return ThresholdCounts(kept.threshold[1:], np.diff(kept.tp), np.diff(kept.fp))


def _thinned(rows: Predictions) -> Predictions:
    scores = {}
    for model, score in rows.scores.items():
        counts = rows.counts(model)
        if len(counts) > _MOST_LEVELS:
            rising = thin(counts, _MOST_LEVELS).threshold[:0:-1]
            score = rising[np.searchsorted(rising, score, side="right") - 1]
        scores[model] = score
    return _named(rows, scores)


def _apart(counts: Mapping[str, ThresholdCounts], stratified: bool) -> Design:
    """Return the resampling units of models with separate rows, resampled within each model."""
    if len(counts) == 1:
        ((model, each),) = counts.items()
        return design_of_counts(each, stratified=stratified, model=model)
    frequency, strata, tallies, start = [], [], {}, 0
    for model, each in counts.items():
        require_whole(each.pos, each.neg)
        width = 2 * len(each)
        unit = start + np.arange(width)
        tallies[model] = Tally(each.threshold, RowsByTarget(unit, None, np.arange(width), np.arange(width)))
        frequency.append(np.concatenate([each.pos, each.neg]).astype(np.int64))
        strata.append(slice(start, start + width))
        start += width
    n = min(each.n for each in counts.values())
    return Design(np.concatenate(frequency), tuple(strata), tallies, n, "models drawn apart")


def _in_blocks(design: Design, rng: np.random.Generator) -> Design:
    """Return random blocks of units as resampling units, whose counts have the same variance."""
    block = rng.permutation(design.frequency.size) % _BLOCKS
    tallies = {}
    for model, tally in design.tallies.items():
        assert tally.rows is not None
        rows, width = tally.rows, 2 * tally.threshold.size
        target = np.repeat(rows.targets, np.diff(rows.starts, append=rows.unit.size))
        amount = design.frequency[rows.unit] * (1 if rows.weight is None else rows.weight)
        cells = np.bincount(block[rows.unit] * width + target, amount, minlength=_BLOCKS * width)
        tallies[model] = Tally(tally.threshold, cells=cells.reshape(_BLOCKS, width))
    note = ", ".join(part for part in (design.note, f"{_BLOCKS} blocks") if part)
    ones = np.ones(_BLOCKS, np.int64)
    return Design(ones, (slice(0, _BLOCKS),), tallies, design.n, note, one_row_a_unit=False)
