"""What is chosen among, and the rows that a choice was made on, drawn and parted as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.decisions.criteria import criterion_of
from rocscope.decisions.generalization.threshold_choice import Best, Chosen, Rule, among, from_zero
from rocscope.geometry.thinning import thin
from rocscope.inference.influence.units import require_whole
from rocscope.inference.resampling.draws import Design, RowsByTarget, Tally, design_of_counts, design_of_rows
from rocscope.sample import Samples

_MOST_LEVELS = 2048
_MOST_UNITS = 20_000
_BLOCKS = 1000

Points = tuple[Array, Array]
"""True and false positives from "nobody" on along the last axis, a sample a row."""


@dataclass(frozen=True)
class Option:
    """A model and the rule by which its threshold is chosen; what it is worth may be `times` the cost and `fixed`."""

    label: str
    model: str
    rule: Rule
    negated: bool = False
    times: float = 1.0
    fixed: float = 0.0

    def points(self, tallied: Mapping[str, tuple[Array, Array]]) -> Points:
        """Return the points of its model."""
        pos, neg = tallied[self.model]
        return (
            (from_zero(pos[..., ::-1]), from_zero(neg[..., ::-1])) if self.negated else (from_zero(pos), from_zero(neg))
        )

    def worth(self, tp: Array, fp: Array, n_pos: Array, n_neg: Array) -> Array:
        """Return cost, in its unit, or criterion."""
        worth = self.rule.worth(tp, fp, n_pos, n_neg)
        return worth if self.times == 1 and not self.fixed else self.times * worth + self.fixed

    def cost(self, tp: Array, fp: Array, n_pos: Array, n_neg: Array) -> Array:
        """Return cost, in its unit, whatever it is chosen by."""
        return (
            self.times * replace(self.rule, criterion=criterion_of("min_cost")).worth(tp, fp, n_pos, n_neg) + self.fixed
        )

    def best(self, points: Points, *, acting: bool = False) -> Best:
        """Return its best point in each sample; see `Rule.best`. Everybody is everybody of other samples too."""
        tp, fp = points
        best = self.rule.best(tp, fp, acting=acting)
        point = np.where(best.depth == tp[:, -1] + fp[:, -1], tp.shape[1] - 1, best.point)
        if self.times == 1 and not self.fixed:
            return best._replace(point=point)
        sign = self.rule.criterion.sign
        return best._replace(point=point, goodness=self.times * best.goodness + sign * self.fixed)


@dataclass(frozen=True)
class Options:
    """All that is chosen among, by one sign and on one scale; `idle` is what it is worth to choose none of them."""

    each: tuple[Option, ...]
    idle: float | None = None

    @property
    def sign(self) -> int:
        """−1 where a small worth is better."""
        return self.each[0].rule.criterion.sign

    def points(self, tallied: Mapping[str, tuple[Array, Array]]) -> list[Points]:
        """Return the points of each."""
        return [option.points(tallied) for option in self.each]

    def choose(self, points: Sequence[Points]) -> Chosen:
        """Return the best of all in each sample."""
        found = [option.best(at) for option, at in zip(self.each, points, strict=True)]
        scale = max(option.times * option.rule.scale for option in self.each)
        return among(found, self.sign, scale)


def design_of_all(samples: Samples, seed: int) -> Design:
    """Return what is drawn of all models: their common rows, or those of each model apart.

    A model of more than 2,048 scores is known by as many points of its curve, its vertices among them; of more than
    20,000 rows of several models blocks of rows are drawn, made at random.
    """
    rows = samples.rows
    if rows is None and len(samples) == 1:
        (sample,) = samples.values()
        if sample.rows is not None:
            rows = _named(sample.rows, {sample.name: sample.rows.scores[sample.rows.models[0]]})
    if rows is None or (len(samples) == 1 and _alike(rows)):
        return _apart({name: _thin(sample.points.attained) for name, sample in samples.items()})
    design = design_of_rows(_thinned(rows), stratified=False, groups=None, weights="auto")
    return design if design.frequency.size <= _MOST_UNITS else _in_blocks(design, np.random.default_rng([seed, 2]))


def _alike(rows: Predictions) -> bool:
    """Whether the counts at each score say all that is to be known."""
    return rows.sample_weight is None and not rows.grouped and not rows.repeated


def _named(rows: Predictions, scores: Mapping[str, Array]) -> Predictions:
    return Predictions(rows.y_true, dict(scores), sample_weight=rows.sample_weight, groups=rows.groups, row=rows.row)


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


def _apart(counts: Mapping[str, ThresholdCounts]) -> Design:
    """Return what is drawn of models that have rows of their own: each as many as it has."""
    if len(counts) == 1:
        ((model, each),) = counts.items()
        return design_of_counts(each, stratified=False, model=model)
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
    """Return blocks of units, made at random, as what is drawn: their counts vary as those of the units do."""
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
