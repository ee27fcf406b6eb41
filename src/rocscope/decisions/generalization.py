"""Estimate the value of a chosen model and threshold on new cases, by repeating the choice on resampled rows.

A threshold that was chosen on a sample has an optimistic value (cost or criterion) on this sample. To estimate the
value on new cases, the choice is repeated. A *candidate* is a model with a rule for choosing its threshold. The choice
is made:

- in the sample (`in_sample`), which gives the apparent value;
- in all cross-validation folds except one (`cross_validate`): the value on the held-out fold estimates the value on new
  cases;
- in bootstrap replicates (`bootstrap_choice`), which give the probability that each candidate is the best, and the
  difference between the sample's choice and the best choice of each replicate.

All three functions use matrices with one row per sample and one column per threshold. The matrices contain the true and
false positives at each threshold; the first column is "nobody positive". The functions return *cells*: the four numbers
(tp, fp, n_pos, n_neg) at the chosen thresholds. Costs and criteria are computed later from the cells.

The interval is computed from random draws of the cost: `DrawsOfCounts`, or `DrawsOfRows` if costs differ between rows.
The variance of the draws is increased by the error of the choice; see `ChosenEstimate`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.formatting import in_currency, to_its_error
from rocscope._base.progress import Progress
from rocscope.core import Context, Predictions, ThresholdCounts, require_kinds
from rocscope.decisions.constraints import Constraint, Criterion, criterion_of
from rocscope.decisions.model_hull import UncertainContext
from rocscope.errors import InputError
from rocscope.geometry.thinning import thin
from rocscope.inference import resampling
from rocscope.inference.estimate import Estimate, joined
from rocscope.inference.expected_costs import FOLD_VARIANCE, MeanSample
from rocscope.inference.resampling import Design, Tally
from rocscope.sample import Samples

CostOrCriterion = Literal["cost", "criterion"]

Points = tuple[Array, Array]
"""True and false positives: one row per sample, one column per threshold, starting with "nobody"."""

MIN_COST = criterion_of("min_cost")

# Smaller relative differences of a criterion are rounding errors: a few float64 operations, each with an error of
# 1e-16. The choice and its replicates have the same tolerance.
TIE = 1e-13

# Largest number of thresholds of a model in a replicate, set by hand: a curve thinned to this has the same best point.
MOST_LEVELS = 2048
# Largest number of units that are drawn singly, set by hand to limit memory and time.
MOST_UNITS = 20_000
# Number of random blocks drawn if there are more units; the relative error of a variance is then √(2/1000), 4.5%.
BLOCKS = 1000

# Number of folds, the usual one: a choice on nine tenths of the rows is close to the choice on all rows.
FOLDS = 10
# Repeats of the cross-validation; the variance due to random folds is then `FOLD_VARIANCE`.
REPEATS = 5
# From this many rows on, one repeat of the cross-validation is as precise as five.
ROWS_FOR_ONE_REPEAT = 100_000
# Up to this many rows folds have equal sizes; with more rows, random sizes of folds vary by less than 0.3%.
MOST_PERMUTED = 1_000_000

# Number of draws of the cost, set by hand: the ends of a 95% interval then vary by 0.5% of its width.
DRAWS = 20_000
# Prior count of Jeffreys' Beta and Dirichlet posteriors.
PRIOR = 0.5
# With fewer rows in a class, intervals under-cover in the simulations of docs/guide/intervals.md.
FEWEST_OF_A_CLASS = 10
# A smaller skewness is taken as 0, because formulas divide by it and it does not change any digit of an interval.
LEAST_SKEWNESS = 1e-6


# The rule, and its best threshold in many samples.


class Chosen(NamedTuple):
    """Choice in each sample: index of the model, index of the point, and value of the point (NaN without a choice)."""

    model: Array
    point: Array
    value: Array


class Best(NamedTuple):
    """Best point of one model in each sample: its value, its index, and its number of positive predictions."""

    goodness: Array
    point: Array
    depth: Array


@dataclass(frozen=True)
class Rule:
    """Rule for choosing a threshold: minimise the expected cost, or optimise a criterion, under constraints.

    A point is a threshold with its counts. The cost or criterion is computed at the target prevalence of `context`.
    `scale` is the largest possible value; values that differ by at most 10⁻¹³ × `scale` are tied. A point must satisfy
    the `constraints`, which depend on the number of `models` and on the `population`. At most the share `limit` of all
    cases may be predicted positive. To use this limit exactly, a mixed point predicts only some of the cases between
    two points positive. A mixed point is stored as the indices of the two points and the share of the second point.
    """

    criterion: Criterion
    context: Context
    scale: float = 1.0
    constraints: tuple[Constraint, ...] = ()
    population: float | None = None
    models: int = 1
    limit: float | None = None

    def value(self, tp: Array, fp: Array, n_pos: Array, n_neg: Array) -> Array:
        """Return the cost or criterion, given true positives, false positives and class sizes; NaN if undefined."""
        share: Any = self.context.target_prevalence
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.criterion.name == "min_cost":
                return _cost(self.context, tp, fp, n_pos, n_neg)
            tp, fp = tp.astype(np.float64), fp.astype(np.float64)
            fn, tn = n_pos - tp, n_neg - fp
            if share is not None:
                positive, negative = share / n_pos, (1 - share) / n_neg
                tp, fn, fp, tn = positive * tp, positive * fn, negative * fp, negative * tn
            return np.asarray(self.criterion.value(tp, fp, fn, tn), dtype=np.float64)

    def depth(self, tp: Array, fp: Array, n_pos: Array, n_neg: Array) -> Array:
        """Return the share of cases predicted positive, given true positives, false positives and class sizes."""
        share: Any = self.context.target_prevalence
        with np.errstate(invalid="ignore", divide="ignore"):
            if share is None:
                share = n_pos / (n_pos + n_neg)
            return np.nan_to_num(share * (tp / n_pos)) + np.nan_to_num((1 - share) * (fp / n_neg))

    def best(self, tp: Array, fp: Array, *, acting: bool = False) -> Best:
        """Return the best point of one model in each sample.

        Parameters
        ----------
        tp, fp : arrays of samples × points
            True and false positives at each point.
        acting : bool
            If True, exclude the point at which nobody is positive.
        """
        n_pos, n_neg = tp[..., -1:], fp[..., -1:]
        if self.criterion.equivalent:
            # A criterion that is linear in the counts is computed as a cost, which is fastest for large arrays.
            with np.errstate(invalid="ignore", divide="ignore"):
                goodness = -_cost(self.criterion.equivalent(self.context), tp, fp, n_pos, n_neg)
        else:
            goodness = self.criterion.sign * self.value(tp, fp, n_pos, n_neg)
        goodness[np.isnan(goodness)] = -np.inf
        if self.constraints:
            cells, target = (tp, fp, n_pos - tp, n_neg - fp), self.context.target_prevalence
            with np.errstate(invalid="ignore", divide="ignore"):
                for constraint in self.constraints:
                    admitted = constraint.admits(cells, target, self.population, self.models)
                    goodness[~admitted] = -np.inf
        if self.limit is not None:
            return self._best_within(self.limit, goodness, tp, fp, first=int(acting))
        if acting:
            goodness[..., 0] = -np.inf
        highest = goodness.max(axis=1)
        # Points are in order of increasing positive predictions, so the first of the best points has fewest.
        point = (goodness >= _enough(highest, self.scale)[:, None]).argmax(axis=1)
        return Best(highest, point, pick(tp, point) + pick(fp, point))

    def _best_within(self, limit: float, goodness: Array, tp: Array, fp: Array, first: int) -> Best:
        """Return the best point under a limit on the share of positives.

        It may be a mixed point exactly at the limit.
        """
        depth = self.depth(tp, fp, tp[:, -1:], fp[:, -1:])
        too_deep = depth > limit * (1 + TIE)

        # The mix of two points at the limit is on the concave envelope of value over depth.
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = self._edge_at_limit(goodness, depth, too_deep)
            part = ((limit - pick(depth, low)) / (pick(depth, high) - pick(depth, low))).clip(0, 1)
            mixed = (1 - part) * pick(goodness, low) + np.where(part > 0, part * pick(goodness, high), 0)

        # Take the mix at the limit if it is as good as the best single point within the limit, and if a higher limit
        # is better. At a single point exactly at the limit, the share of the second point is 0.
        within = np.where(too_deep, -np.inf, goodness)
        within[:, :first] = -np.inf
        highest = within.max(axis=1)
        enough = _enough(highest, self.scale)
        single = (within >= enough[:, None]).argmax(axis=1)
        is_mix = (mixed >= enough) & (pick(goodness, high) > mixed + TIE * self.scale)

        # A point at which everybody is positive in this sample means "everybody" in other samples too.
        ends = []
        for end in (low, high):
            end = np.where(is_mix, end, single)
            ends.append(np.where(pick(depth, end) == depth[:, -1], depth.shape[1] - 1, end))
        point = np.column_stack([*ends, np.where(is_mix, part, 0.0)])
        return Best(np.where(is_mix, mixed, highest), point, pick(tp, point) + pick(fp, point))

    def _edge_at_limit(self, goodness: Array, depth: Array, too_deep: Array) -> tuple[Array, Array]:
        """Return the two points that are the ends of the concave envelope's segment at the limit.

        The envelope is that of the points (depth, value). Start with the line through the best points on both sides of
        the limit. While a point lies above the line, replace one end by the point that is highest above the line.
        """
        low = np.where(~too_deep, goodness, -np.inf).argmax(axis=1)
        high = np.where(too_deep, goodness, -np.inf).argmax(axis=1)
        for _ in range(goodness.shape[1]):
            slope = (pick(goodness, high) - pick(goodness, low)) / (pick(depth, high) - pick(depth, low))
            above = goodness - slope[:, None] * depth
            top = above.argmax(axis=1)
            higher = pick(above, top) > pick(above, low) + TIE * self.scale
            if not higher.any():
                break
            right = pick(too_deep, top)
            low = np.where(higher & ~right, top, low)
            high = np.where(higher & right, top, high)
        return low, high


def _cost(context: Context, tp: Array, fp: Array, n_pos: Array, n_neg: Array) -> Array:
    """Return the expected cost per case.

    With prevalence π, the cost is
    π·c_fn + (1 − π)·c_tn + tp·π·(c_tp − c_fn)/n_pos + fp·(1 − π)·(c_fp − c_tn)/n_neg.
    """
    costs, share = context.costs, context.target_prevalence
    if share is None:
        share = n_pos / (n_pos + n_neg)
    cost = tp * (share * (costs["tp"] - costs["fn"]) / n_pos)
    cost += fp * ((1 - share) * (costs["fp"] - costs["tn"]) / n_neg)
    cost += share * costs["fn"] + (1 - share) * costs["tn"]
    return cost


def best_of_models(best: Sequence[Best], sign: int, scale: float) -> Chosen:
    """Return the best model in each sample, given the best point of each model."""
    goodness = np.stack([of_model.goodness for of_model in best])
    points = [of_model.point for of_model in best]
    if any(of_model.ndim == 2 for of_model in points):
        # Candidates with a capacity have mixed points; a single point is a mix with a share of 0 for the second point.
        points = [at if at.ndim == 2 else np.column_stack([at, at, np.zeros(at.size)]) for at in points]
    point = np.stack(points)
    depth = np.stack([of_model.depth for of_model in best])
    # Of equally good models take the one with fewest positive predictions, then the first.
    enough = _enough(goodness.max(axis=0), scale)
    model = np.where(goodness >= enough, depth, np.inf).argmin(axis=0)
    sample = np.arange(model.size)
    goodness, point = goodness[model, sample], point[model, sample]
    return Chosen(model, point, np.where(np.isfinite(goodness), sign * goodness, np.nan))


def _enough(highest: Array, scale: float) -> Array:
    """Return the smallest value that is tied with the highest value."""
    return np.where(np.isfinite(highest), highest - TIE * scale, highest)


def from_zero(counts: Array) -> Array:
    """Return cumulative counts along the last axis, with 0 for "nobody positive" as the first entry."""
    out = np.zeros((*counts.shape[:-1], counts.shape[-1] + 1), counts.dtype)
    np.cumsum(counts, axis=-1, out=out[..., 1:])
    return out


def pick(matrix: Array, point: Array) -> Array:
    """Return the entry of each row of a matrix at the row's point.

    A mixed point is given by three columns: the indices of two points and the share of the second point.
    """
    if point.ndim == 2:
        first, second, share = point.T
        return (1 - share) * pick(matrix, first.astype(np.intp)) + share * pick(matrix, second.astype(np.intp))
    return matrix[np.arange(len(matrix)), point]


# Candidates.


@dataclass(frozen=True)
class Candidate:
    """A model with a rule for choosing its threshold. Costs are multiplied by `times`, then `fixed` is added.

    A campaign with a capacity contacts a fixed number of customers, those with the highest scores. An additional case
    above the threshold therefore displaces another case. The gain from the additional case is reduced by `marginal`:
    the saving if the capacity were one case larger.
    """

    label: str
    model: str
    rule: Rule
    negated: bool = False
    times: float = 1.0
    fixed: float = 0.0
    marginal: float = 0.0

    def points(self, tallied: Mapping[str, tuple[Array, Array]]) -> Points:
        """Return the true and false positives at all thresholds of the candidate's model."""
        pos, neg = tallied[self.model]
        if self.negated:
            pos, neg = pos[..., ::-1], neg[..., ::-1]
        return from_zero(pos), from_zero(neg)

    def thresholds(self, level: Array) -> Array:
        """Return the threshold of each point, starting with "nobody positive"."""
        level = level.astype(np.float64)
        if self.negated:  # positive iff score < threshold
            return np.concatenate([[-np.inf], level[-2::-1], [np.inf]])
        return np.concatenate([[np.inf], level[:-1], [-np.inf]])

    def value(self, cells: Array, quantity: CostOrCriterion) -> Array:
        """Return the cost or criterion, given an array of cells whose last axis has tp, fp, n_pos and n_neg."""
        rule = self.rule if quantity == "criterion" else replace(self.rule, criterion=MIN_COST)
        tp, fp, n_pos, n_neg = np.moveaxis(cells, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = rule.value(tp, fp, n_pos, n_neg)
            if self.marginal:
                value = value + self.marginal * (rule.depth(tp, fp, n_pos, n_neg) - (rule.limit or 0))
            return self.times * value + self.fixed

    def by_rank(self, points: Points, point: Array) -> Array:
        """Replace each mixed point by the point on the ROC curve that uses the limit exactly.

        At this point, the cases with the highest scores are positive. On new cases the curve between the two thresholds
        of a mixed point is concave, so this point is better than the mixed point.
        """
        if not self.marginal:
            return point
        tp, fp = points
        limit, depth = self.rule.limit or 0, self.rule.depth(tp, fp, tp[:, -1:], fp[:, -1:])
        low = np.maximum((depth <= limit).sum(axis=1) - 1, 0)
        high = np.minimum(low + 1, depth.shape[1] - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            part = np.nan_to_num((limit - pick(depth, low)) / (pick(depth, high) - pick(depth, low)))
        return np.where(point[:, :1] != point[:, 1:2], np.column_stack([low, high, part]), point)

    def marginal_at(self, points: Points, point: Array) -> float:
        """Return the saving at the chosen point if the limit is one case larger; 0 if the limit is not reached."""
        if self.rule.limit is None or point[0, 0] == point[0, 1]:
            return 0.0
        ends = point[0, :2].astype(np.intp)
        tp, fp = (counts[0, ends] for counts in points)
        n_pos, n_neg = (counts[0, -1] for counts in points)
        cost = self.rule.value(tp, fp, n_pos, n_neg)
        return float((cost[0] - cost[1]) / np.diff(self.rule.depth(tp, fp, n_pos, n_neg))[0])

    def best(self, points: Points, *, acting: bool = False) -> Best:
        """Return the best point in each sample; see `Rule.best`."""
        tp, fp = points
        best = self.rule.best(tp, fp, acting=acting)
        point = best.point
        if self.rule.limit is None:
            point = np.where(best.depth == tp[:, -1] + fp[:, -1], tp.shape[1] - 1, point)
        goodness = self.times * best.goodness + self.rule.criterion.sign * self.fixed
        return best._replace(point=point, goodness=goodness)


@dataclass(frozen=True)
class Candidates:
    """All candidates among which a choice is made; `idle` is the cost of choosing none of them, if known."""

    members: tuple[Candidate, ...]
    idle: float | None = None

    @property
    def criterion(self) -> Criterion:
        """Criterion by which the choice is made."""
        return self.members[0].rule.criterion

    @property
    def by_cost_alone(self) -> bool:
        """True if the choice minimises cost without constraints and without a limit."""
        rule = self.members[0].rule
        same = self.criterion.equivalent and self.criterion.equivalent(rule.context) == rule.context
        return bool(same) and not rule.constraints and rule.limit is None

    def by_rank(self, sample: "InSample") -> "Candidates":
        """Return the candidates with the marginal savings of the sample, for a choice under a limit.

        See `Candidate`.
        """
        members = (replace(one, marginal=saved) for one, saved in zip(self.members, sample.marginals, strict=True))
        return replace(self, members=tuple(members))

    def points(self, tallied: Mapping[str, tuple[Array, Array]]) -> list[Points]:
        """Return the true and false positives at all thresholds of each candidate."""
        return [candidate.points(tallied) for candidate in self.members]

    def values(self, cells: Array, quantity: CostOrCriterion) -> Array:
        """Return the cost or criterion of each candidate, given cells whose last two axes are candidate and cell."""
        values = [candidate.value(cells[..., n, :], quantity) for n, candidate in enumerate(self.members)]
        return np.stack(values, axis=-1)

    def choose(self, points: Sequence[Points]) -> Chosen:
        """Return the best candidate in each sample."""
        best = [candidate.best(of_model) for candidate, of_model in zip(self.members, points, strict=True)]
        scale = max(candidate.times * candidate.rule.scale for candidate in self.members)
        return best_of_models(best, self.criterion.sign, scale)


# Resampling units.


def design_of_all(samples: Samples, seed: int, *, stratified: bool = False) -> Design:
    """Return the resampling design of all models, with rows that the models share or with separate rows per model.

    The ROC curve of a model with more than 2,048 distinct scores is thinned to 2,048 points, which include the hull
    vertices. If there are several models and more than 20,000 rows, random blocks of rows are resampled instead of
    single rows.
    """
    rows = samples.rows
    if rows is None and len(samples) == 1:
        (sample,) = samples.values()
        if sample.rows is not None:
            rows = _renamed(sample.rows, {sample.name: sample.rows.scores[sample.rows.models[0]]})
    # For one model, counts at each score contain all information unless rows have weights or groups.
    if rows is None or (len(samples) == 1 and rows.sample_weight is None and not rows.dependent):
        counts = {}
        for name, sample in samples.items():
            counts[name] = sample.points.attained
            if len(counts[name]) > MOST_LEVELS:
                kept = thin(counts[name], MOST_LEVELS)
                counts[name] = ThresholdCounts(kept.threshold[1:], np.diff(kept.tp), np.diff(kept.fp))
        doubt = require_kinds("an interval from counts", *(sample.points for sample in samples.values()))
        return replace(_design_of_separate_models(counts, stratified), doubt=doubt)

    scores = {}
    for model, score in rows.scores.items():
        counts = rows.counts(model)
        if len(counts) > MOST_LEVELS:
            rising = thin(counts, MOST_LEVELS).threshold[:0:-1]
            score = rising[np.searchsorted(rising, score, side="right") - 1]
        scores[model] = score
    rows = _renamed(rows, scores)
    design = resampling.design_of_rows(rows, stratified=stratified, groups=None)
    return design if design.frequency.size <= MOST_UNITS else _in_blocks(design, np.random.default_rng([seed, 2]))


def _renamed(rows: Predictions, scores: Mapping[str, Array]) -> Predictions:
    """Return the rows with new scores, without columns that resampling does not need."""
    columns: dict[str, Any] = rows.row_columns() | {"fold": None, "repeat": None, "segment": None}
    columns["sample_weight"] = rows.relative_weight  # relative weights, because Jeffreys' prior adds half a row
    return Predictions(rows.y_true, dict(scores), **columns)


def _design_of_separate_models(counts: Mapping[str, ThresholdCounts], stratified: bool) -> Design:
    """Return the resampling design of models with separate rows; rows are resampled within each model."""
    if len(counts) == 1:
        ((model, only),) = counts.items()
        return resampling.design_of_counts(only, stratified=stratified, model=model)
    frequency, strata, tallies, start = [], [], {}, 0
    for model, of_model in counts.items():
        of_model.require_cases()
        # Each score of the model has two units: its positives and its negatives.
        width = 2 * len(of_model)
        unit = start + np.arange(width)
        rows = resampling.RowsByTarget(unit, None, np.arange(width), np.arange(width))
        tallies[model] = Tally(of_model.threshold, rows)
        frequency.append(np.concatenate([of_model.pos, of_model.neg]).astype(np.int64))
        strata.append(slice(start, start + width))
        start += width
    n = min(of_model.n for of_model in counts.values())
    return Design(np.concatenate(frequency), tuple(strata), tallies, n, "models resampled separately")


def _in_blocks(design: Design, rng: np.random.Generator) -> Design:
    """Return a design that resamples random blocks of units; the variance of counts is the same as for single units."""
    block = rng.permutation(design.frequency.size) % BLOCKS
    tallies = {}
    for model, tally in design.tallies.items():
        assert tally.rows is not None
        rows, width = tally.rows, 2 * tally.threshold.size
        target = np.repeat(rows.targets, np.diff(rows.starts, append=rows.unit.size))
        amount = design.frequency[rows.unit] * (1 if rows.weight is None else rows.weight)
        cells = np.bincount(block[rows.unit] * width + target, amount, minlength=BLOCKS * width)
        tallies[model] = Tally(tally.threshold, cells=cells.reshape(BLOCKS, width))
    note = joined(design.note, f"{BLOCKS} blocks")
    ones = np.ones(BLOCKS, np.int64)
    return Design(ones, (slice(0, BLOCKS),), tallies, design.n, note, one_row_a_unit=False)


# The choice in the sample, in bootstrap replicates, and in folds.


class InSample(NamedTuple):
    """The choice among m candidates in the sample.

    Attributes
    ----------
    number : int
        Index of the chosen candidate.
    points, acting_points : lists of m points, as returned by `Rule.best`
        The best point of each candidate, among all points (`points`) and among the points that predict at least one
        case positive (`acting_points`).
    cells, acting : arrays of m × 4
        Numbers tp, fp, n_pos and n_neg at `points` and at `acting_points`; NaN if no point satisfies the constraints.
    marginals : list of m floats
        For each candidate, the saving if its limit on the number of cases is one case larger; 0 if the limit is not
        reached. See `Candidate`.
    """

    number: int
    points: list[Array]
    acting_points: list[Array]
    cells: Array
    acting: Array
    marginals: list[float]


class Replicates(NamedTuple):
    """Choices among m candidates in r bootstrap replicates that contain both classes.

    Attributes
    ----------
    cells, acting : arrays of r × m × 4
        Numbers tp, fp, n_pos and n_neg of each replicate at `InSample.points` and at `InSample.acting_points`.
    number, point : arrays of r, or r × 3 for mixed points
        Indices of the candidate and of the point that are chosen in each replicate.
    chosen : array of r × 4
        Numbers tp, fp, n_pos and n_neg at the point chosen in each replicate; NaN if no point satisfies the
        constraints.
    left_out : int
        Number of omitted replicates, which contain only one class.
    """

    cells: Array
    acting: Array
    number: Array
    point: Array
    chosen: Array
    left_out: int


class CrossValidated(NamedTuple):
    """Counts of held-out cases in cross-validation, for m candidates, averaged over repeats.

    Attributes
    ----------
    cells, acting : arrays of m × 4
        Numbers tp, fp, n_pos and n_neg at each candidate's best threshold, among all thresholds (`cells`) and among the
        thresholds with at least one positive prediction (`acting`).
    failed : array of m
        Share of folds in which no threshold satisfies the constraints on the training rows.
    folds, repeats : int
        Number of folds, and number of repeats of the cross-validation.
    """

    cells: Array
    acting: Array
    failed: Array
    folds: int
    repeats: int


def in_sample(design: Design, candidates: Candidates) -> InSample:
    """Choose a candidate and its threshold on the whole sample."""
    counted = candidates.points(resampling.tally_all(design, design.frequency[None, :]))
    points, acting_points, marginals = list[Array](), list[Array](), list[float]()
    cells = np.zeros((2, len(counted), 4))
    for number, (candidate, counts) in enumerate(zip(candidates.members, counted, strict=True)):
        for acting, chosen in enumerate((points, acting_points)):
            best = candidate.best(counts, acting=bool(acting))
            chosen.append(best.point)
            cells[acting, number] = _cells(counts, best.point, best.goodness)[0]
        marginals.append(candidate.marginal_at(counts, points[-1]))
    number = int(candidates.choose(counted).model[0])
    return InSample(number, points, acting_points, cells[0], cells[1], marginals)


def bootstrap_choice(
    design: Design, candidates: Candidates, sample: InSample, replicates: int, seed: int, progress: Progress
) -> Replicates:
    """Draw bootstrap replicates. In each replicate, repeat the choice and evaluate the sample's choice."""
    compiled = design.worth_compiling(replicates)
    size = len(candidates.members)

    def choose_in_replicates(rng: np.random.Generator, count: int) -> Array:
        """Return one row per replicate: cells of all candidates, cells of the new choice, and the new choice."""
        points = candidates.points(resampling.tally_all(design, design.draw(rng, count, compiled)))
        again = candidates.choose(points)
        cells, chosen = [], np.full((count, 4), np.nan)
        for number, (tp, fp) in enumerate(points):
            of_sample = (sample.points[number], sample.acting_points[number])
            cells += [_cells((tp, fp), np.repeat(point, count, axis=0)) for point in of_sample]
            is_chosen = (again.model == number) & np.isfinite(again.value)
            chosen[is_chosen] = _cells((tp[is_chosen], fp[is_chosen]), again.point[is_chosen])
        return np.column_stack([*cells, chosen, again.model, again.point])

    threads = None if compiled else 1
    table = resampling.in_chunks(
        choose_in_replicates, replicates, design.chunk, seed=seed, threads=threads, progress=progress
    )
    cells, (chosen, number, point) = table[:, : 8 * size], np.split(table[:, 8 * size :], [4, 5], axis=1)
    cells = cells.reshape(-1, size, 2, 4)
    both_classes = (cells[:, sample.number, 0, 2:] > 0).all(axis=1)
    if not both_classes.any():
        raise InputError("replicates", expected="one or more replicates with both classes", got=f"0 of {replicates}")
    point = point[both_classes]
    return Replicates(
        cells=cells[both_classes, :, 0],
        acting=cells[both_classes, :, 1],
        number=number[both_classes, 0].astype(np.intp),
        point=point[:, 0] if point.shape[1] == 1 else point,
        chosen=chosen[both_classes],
        left_out=int((~both_classes).sum()),
    )


def _cells(points: Points, point: Array, goodness: Array | None = None) -> Array:
    """Return tp, fp, n_pos and n_neg at one point of each sample, one row per sample; NaN if `goodness` is infinite."""
    tp, fp = points
    cells = np.column_stack([pick(tp, point), pick(fp, point), tp[:, -1], fp[:, -1]]).astype(np.float64)
    if goodness is not None:
        cells[~np.isfinite(goodness)] = np.nan
    return cells


def cross_validate(
    design: Design, candidates: Candidates, seed: int, folds: int = FOLDS, repeats: int = REPEATS
) -> CrossValidated:
    """Choose thresholds on all folds except one, and evaluate the thresholds on the held-out fold.

    Folds are stratified by class and do not split groups.
    """
    if not check.check_whole(folds, "cv") >= 2:
        raise InputError("cv", expected="2 folds or more", got=repr(folds))
    repeats = check.check_whole(repeats, "repeats") if design.draws < ROWS_FOR_ONE_REPEAT else 1
    rng = np.random.default_rng([seed, 1])
    kind = _kinds_of_units(design)
    sums, failed = np.zeros((2, len(candidates.members), 4)), np.zeros(len(candidates.members))
    for _ in range(repeats):
        # Count the training folds separately, because estimated weights depend on the rows.
        test_folds = _fold_frequencies(design.frequency, kind, folds, rng)
        tests = candidates.points(resampling.tally_all(design, test_folds))
        training = candidates.points(resampling.tally_all(design, design.frequency - test_folds))
        for number, candidate in enumerate(candidates.members):
            for acting in (False, True):
                best = candidate.best(training[number], acting=acting)
                point = candidate.by_rank(training[number], best.point)
                cells = _cells(tests[number], point, best.goodness)
                sums[int(acting), number] += np.nansum(cells, axis=0) / repeats
                if not acting:
                    failed[number] += (~np.isfinite(best.goodness)).mean() / repeats
    return CrossValidated(sums[0], sums[1], failed, folds, repeats)


def _kinds_of_units(design: Design) -> Array:
    """Return the stratum of each unit for dealing units to folds.

    Units are stratified by their resampling stratum and by whether they contain positives.
    """
    kinds = np.zeros(design.frequency.size, np.intp)
    for number, stratum in enumerate(design.strata):
        kinds[stratum] = 2 * number
    for tally in design.tallies.values():
        levels = tally.threshold.size
        if tally.cells is not None:
            return kinds
        if tally.rows is None:
            kinds[:levels] += 1
        else:
            # Targets below the number of levels are positives.
            rows = tally.rows
            target = np.repeat(rows.targets, np.diff(rows.starts, append=rows.unit.size))
            kinds[np.unique(rows.unit[target < levels])] |= 1
    return kinds


def _fold_frequencies(frequency: Array, kind: Array, folds: int, rng: np.random.Generator) -> Array:
    """Return an array, folds × units, with the number of copies of each unit in each fold."""
    parts = np.zeros((folds, frequency.size), np.int64)
    if frequency.sum() > MOST_PERMUTED:
        # Assign each row to a fold independently; with many rows, folds still have nearly equal sizes.
        remaining = frequency.copy()
        for fold in range(folds - 1):
            parts[fold] = rng.binomial(remaining, 1 / (folds - fold))
            remaining -= parts[fold]
        parts[-1] = remaining
        return parts
    unit = rng.permutation(np.repeat(np.arange(frequency.size), frequency))
    unit = unit[np.argsort(kind[unit], kind="stable")]
    np.add.at(parts, (np.arange(unit.size) % folds, unit), 1)
    return parts


# The estimate.


@dataclass(frozen=True, repr=False)
class ChosenEstimate(Estimate):
    """Estimated cost, profit or criterion of a chosen threshold on new cases, corrected for the choice.

    Returned by `Decision.interval`, `CampaignPlan.interval` and `rocscope.evaluation.optimism`. Also returned by
    `rocscope.inference.compare_costs`, for each model at its cheapest threshold.

    Attributes
    ----------
    apparent : float
        Value on the rows on which the choice was made.
    regret : Estimate or None
        Value of the choice minus the value of the truly best choice among all models. None if the value is a cost but
        the choice maximised another criterion.
    models : mapping from model name to float
        Probability that the model, at the threshold chosen for it, is the best model.
    acting : float
        Probability that the choice costs less than acting on nobody. NaN if the value is a criterion and costs differ
        between rows.

    Notes
    -----
    The value is estimated by tenfold cross-validation, repeated five times. The threshold of each model is chosen on
    nine tenths of the rows (or groups) and evaluated on the held-out tenth. The interval is computed from Jeffreys'
    posterior of the held-out counts, at the target prevalence or else the sample's prevalence. If costs differ between
    rows, the interval is Hall's interval of the mean cost.

    Four terms are added to the variance. The first term, for the random folds, is 1/20 of the variance. The second term
    is the square of half the optimism of the threshold (held-out minus apparent value). The third term is the variance
    of the regret. The fourth term is the square of the optimism due to choosing the best of several models, estimated
    in the replicates. The value is also corrected for this last optimism.

    The regret in a replicate is the loss of the sample's choice minus the loss of the replicate's best choice. From
    this regret, a quarter of the optimism of the threshold and three quarters of the correction for the choice of the
    model are subtracted. (By the cube-root law, the best choice of a replicate is too favourable by 0.19 of the
    optimism.)

    The probability of a model is the share of replicates in which the model is the best. The optimism of each model,
    and a random error of half the optimism, are added to its loss. A model with many thresholds therefore has no
    advantage.

    The coverage of 95% intervals was simulated with 1,000 binormal samples per setting (docs/guide/intervals.md). For
    one model and 100 to 2,000 rows, the interval covered the true cost in 94.3 to 97.7% of the samples, also with 1 or
    2% positives. For the best of five equal models the coverage was 95.4 to 98.6%, and for the best of five unequal
    models 98.6%. The interval of the regret covered the true regret in 94.9 to 98.1% of the samples for one model, in
    92.2% for unequal models, and in 97.2 to 100% for five equal models. The interval of a campaign plan covered the
    true profit in 95.4 to 98.0% (docs/guide/evaluation/price-of-choosing.md). In 100 samples with costs that differ
    between rows, the coverage was 95 to 99% for log-normal costs and 93 to 97% for Pareto costs. In 12 random designs
    with one or two models, the value was unbiased on average. For two nearly equal models, it was too favourable by up
    to .15 standard errors. If one model was clearly better, it was too unfavourable by up to .10 standard errors.

    The result is not `reliable` if a class has fewer than 10 rows, if no threshold satisfies the constraints in some
    folds, or if randomised rules or reviews are not chosen again. If costs differ between rows, variance and skewness
    allow for amounts larger than any amount in the sample (see `ParetoTail`). The result is then not reliable if fewer
    than 10 rows have amounts, or if the amounts may have an infinite mean. `reason` states why the result is not
    reliable. With more than 2,048 distinct scores, 2,048 points of the ROC curve are used. With several models and more
    than 20,000 rows, 1,000 blocks of rows are resampled.

    References
    ----------
    Efron & Gong 1983, Am. Stat. 37:36–48; Brown, Cai & DasGupta 2001, Stat. Sci. 16:101–133 (Jeffreys); Hall 1992,
    J. R. Stat. Soc. B 54:221–228; Kim & Pollard 1990, Ann. Stat. 18:191–219.
    """

    apparent: float = nan
    regret: Estimate | None = None
    models: Mapping[str, float] = field(default_factory=dict)
    acting: float = nan

    @classmethod
    def of_draws(cls, values: Array, *, level: float, **facts: Any) -> "ChosenEstimate":
        """Return the estimate with an interval and a standard error computed from draws.

        Undefined draws are ignored.

        Parameters
        ----------
        values : array
            Draws of the estimate.
        level : float
            Confidence level.
        **facts
            Other attributes of the estimate.
        """
        known = values[np.isfinite(values)]
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(known, tails).tolist() if known.size else (nan, nan)
        spread = float(known.std()) if known.size else nan
        return cls(low=low, high=high, level=level, standard_error=spread, **facts)

    @classmethod
    def of_fixed_rule(cls, value: float, rule_costs: Array, nobody_costs: Array, **facts: Any) -> "ChosenEstimate":
        """Return the estimate of the cost of a fixed rule, which is not chosen again in resamples.

        Parameters
        ----------
        value : float
            Cost of the rule in the sample.
        rule_costs, nobody_costs : arrays
            Draws of the cost of the rule, and of the cost of acting on nobody.
        **facts
            Other attributes of the estimate.
        """
        pays = float((rule_costs < nobody_costs).mean())
        return cls.of_draws(rule_costs, value=value, apparent=value, acting=pays, **facts)

    def as_profit(self, fixed_cost: float = 0.0) -> "ChosenEstimate":
        """Convert the estimate of a cost to the estimate of a profit: the negative cost, minus a fixed cost.

        Parameters
        ----------
        fixed_cost : float
            Cost that does not depend on the number of cases.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([3, 2, 1], [60, 30, 10], [40, 160, 200]), Context(cost_fn=3))
        >>> cost = decision.interval()
        >>> round(cost.apparent, 9), round(cost.as_profit(fixed_cost=1).apparent, 9)
        (0.32, -1.32)
        """
        # Subtract from 0.0 instead of negating, to avoid a negative zero.
        low, high = 0.0 - self.high - fixed_cost, 0.0 - self.low - fixed_cost
        apparent = 0.0 - self.apparent - fixed_cost
        return replace(self, value=0.0 - self.value - fixed_cost, low=low, high=high, apparent=apparent)

    def sentence(self, name: str, currency: str = "", cases: str = "cases") -> str:
        """Return a text with the value on new cases, its interval, and the apparent value.

        `name` is the name of the amount, such as "expected cost". `currency` is its unit. `cases` is the name of the
        cases, such as "customers".
        """
        value, *ends = (in_currency(text, currency) for text in self.rounded)
        apparent = to_its_error(self.apparent, (self.high - self.low) / 2)
        interval = f"{100 * self.level:g}% CI [{', '.join(ends)}]"
        return f"{name} of {value} on new {cases} ({interval}; apparent {in_currency(apparent, currency)})"

    @property
    def rounded(self) -> tuple[str, str, str]:
        """Texts of the value and of both ends of the interval, rounded according to the width of the interval."""
        error = (self.high - self.low) / 2
        return to_its_error(self.value, error), to_its_error(self.low, error), to_its_error(self.high, error)

    @property
    def words(self) -> str:
        value, low, high = self.rounded
        return f"{value}, {100 * self.level:g}% CI [{low}, {high}]"

    def __repr__(self) -> str:
        best = f", best: {self.shares}" if len(self.models) > 1 else ""
        facts = f"n={self.n:g}{best}, acting {self.acting:.0%}"
        return f"{type(self).__name__}({self.words}, {facts}{self.doubt})"

    @property
    def doubts(self) -> dict[str, str]:
        """Notes on regret and reliability, by heading."""
        notes = {}
        if self.regret is not None:
            regret = "0"
            if self.regret.high:
                regret = f"{_two_digits(self.regret.value)}, at most {_two_digits(self.regret.high)}"
            notes["regret, relative to the best choice"] = regret
        if self.reason:
            notes["not reliable"] = self.reason
        return notes

    @property
    def shares(self) -> str:
        """Probability that each model is the best, as text."""
        return ", ".join(f"{model} {share:.0%}" for model, share in self.models.items())


def few_of_a_class(rows: float) -> str:
    """Return a text that the smaller class has too few rows for an interval; empty if it has enough rows."""
    return "" if rows >= FEWEST_OF_A_CLASS else f"a class has {rows:g} rows only, fewer than {FEWEST_OF_A_CLASS}"


def _two_digits(number: float) -> str:
    """Return a number as text with two significant digits, or as a whole number if it is at least 10."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


# Draws of the cost.


@dataclass(frozen=True)
class CostDraws:
    """Facts on draws of a cost.

    Attributes
    ----------
    n : float
        Number of rows.
    note : str
        Description of the rows, as part of the name of the method.
    doubt : str
        Reason why the interval may not be reliable.
    """

    n: float
    note: str
    doubt: str


@dataclass(frozen=True)
class DrawsOfCounts(CostDraws):
    """Draws of costs or criterion values from Jeffreys' posterior of the prevalence, tpr and fpr."""

    design: Design
    candidates: Candidates
    sample: InSample
    replicates: Replicates
    stratified: bool
    uncertain: UncertainContext | None = None

    def draws(
        self, number: int, cells: Array, error: float, quantity: CostOrCriterion, seed: int
    ) -> tuple[Array, Array]:
        """Return draws of the value of a candidate and of the value of acting on nobody.

        The variance is increased by `error`: the draws are from the posterior of a smaller number of cases, which has
        the increased variance.
        """
        values, _ = self._posterior([seed, 3], number, cells, quantity)
        variance = float(np.nanvar(values))
        information = 1.0
        if variance:
            wanted = FOLD_VARIANCE * variance * self._design_effect(quantity, seed) + error
            information = variance / wanted
        return self._posterior([seed, 4], number, cells, quantity, information)

    def _design_effect(self, quantity: CostOrCriterion, seed: int) -> float:
        """Return the design effect: variance of a threshold's value relative to its variance with independent rows."""
        tallies = self.design.tallies.values()
        weighted = any(tally.rows and tally.rows.weight is not None for tally in tallies)
        if self.design.one_row_a_unit and not weighted:
            return 1.0
        number = self.sample.number
        values, _ = self._posterior([seed, 5], number, self.sample.cells[number], quantity)
        independent = float(np.nanvar(values))
        drawn = self.candidates.members[number].value(self.replicates.cells[:, number], quantity)
        resampled = float(np.nanvar(drawn))
        # The variance is 0 if every draw is classified without error.
        return resampled / independent if independent and resampled else 1.0

    def _posterior(
        self, seed: list[int], number: int, cells: Array, quantity: CostOrCriterion, information: float | None = None
    ) -> tuple[Array, Array]:
        """Return posterior draws of a candidate's value and of the value of acting on nobody.

        TPR ~ Beta(tp + ½, fn + ½) and FPR ~ Beta(fp + ½, tn + ½). Prevalence ~ Beta(n_pos + ½, n_neg + ½), or fixed
        with stratification by class. With `information`, all counts are multiplied by it and, if the context is
        uncertain, costs and prevalence are drawn from its distributions. Without it, the draws contain only the
        sampling error of the counts.
        """
        rng, candidate = np.random.default_rng(seed), self.candidates.members[number]
        n = (cells[2] + cells[3]) or 1.0  # 1 if nothing could be chosen in any fold
        tp, fp, n_pos, n_neg = (1.0 if information is None else information) * np.asarray(cells)
        # The rates of "everybody" and "nobody" are certain.
        same_for_all = np.isclose(tp + fp, 0) or np.isclose(tp + fp, n_pos + n_neg)
        if same_for_all and n_pos > 0 and n_neg > 0:
            tpr, fpr = tp / n_pos, fp / n_neg
        else:
            tpr = rng.beta(tp + PRIOR, max(n_pos - tp, 0.0) + PRIOR, DRAWS)
            fpr = rng.beta(fp + PRIOR, max(n_neg - fp, 0.0) + PRIOR, DRAWS)
        prevalence = rng.beta(n_pos + PRIOR, n_neg + PRIOR, DRAWS)
        if self.stratified:
            prevalence = np.full(DRAWS, n_pos / (n_pos + n_neg))

        if self.uncertain is not None and information is not None:
            context: Any = self.uncertain.draw(rng, DRAWS)
            candidate = replace(candidate, rule=replace(candidate.rule, context=context))

        # A criterion may depend on the number of cases, so multiply the shares by it.
        classes = [prevalence, 1 - prevalence]
        acting = np.column_stack([prevalence * tpr, (1 - prevalence) * fpr, *classes])
        nobody = np.column_stack([np.zeros((DRAWS, 2)), *classes])
        of_nobody = replace(candidate, marginal=0.0)
        return candidate.value(n * acting, quantity), of_nobody.value(n * nobody, quantity)


@dataclass(frozen=True)
class DrawsOfRows(CostDraws):
    """Draws of mean costs, if costs differ between rows.

    Attributes
    ----------
    candidates : Candidates
        The m candidates, on rows that are weighted by their gain or loss.
    means : MeanSample of 2m + 1 values
        First the mean cost of each candidate. Then, for each candidate, the cost of its best threshold with at least
        one positive prediction, minus the cost of acting on nobody. The last value is the cost of acting on nobody.
    least : float
        Lower bound on the cost of any candidate.
    chosen : int
        Index of the chosen candidate.
    unseen : array of 2m + 1 rows of 2
        Additional second and third moments of each mean, for amounts larger than any amount in the sample.
    """

    candidates: Candidates
    means: MeanSample
    least: float
    chosen: int
    unseen: Array

    def draws(
        self, number: int, cells: Array, error: float, quantity: CostOrCriterion, seed: int
    ) -> tuple[Array, Array]:
        """Return joint draws of the cost of a candidate and of the cost of acting on nobody."""
        members = self.candidates.members
        cost = float(members[number].value(cells, quantity))
        values = np.maximum(cost + self.deviations(number, seed, FOLD_VARIANCE, error), self.least)
        # The second half of the means are costs relative to acting on nobody; the last mean is the cost of nobody.
        extra = self.deviations(number + len(members), seed, FOLD_VARIANCE, error)
        difference = cost - float(self.means.mean[-1]) + extra
        return values, values - difference

    def deviations(self, number: int, seed: int, times: float = 1.0, added: float = 0.0) -> Array:
        """Return draws of the true value minus the estimated mean.

        The quantiles of the draws are the ends of Hall's interval. Variance and skewness are computed from the rows,
        and increased for amounts larger than any amount in the sample. The variance is multiplied by `times`, then
        `added` is added.
        """
        normal = np.random.default_rng([seed, 4]).standard_normal(DRAWS)
        second, third = self.unseen[number]
        error = np.sqrt(times * (self.means.covariance[number, number] + second) + added)
        skew = self.means.skewness(number, second, third)
        return -error * skewed(normal, skew)


def skewed(normal: Any, skew: float) -> Any:
    """Convert a standard normal deviate to the standardised deviation of a mean of skewed values.

    References
    ----------
    Hall 1992, J. R. Stat. Soc. B 54:221–228.

    Examples
    --------
    >>> round(float(skewed(1.96, 0.2)), 3), skewed(1.96, 0)
    (1.722, 1.96)
    """
    if abs(skew) < LEAST_SKEWNESS:
        return normal
    # The inverse of Hall's cubic transformation, which is monotone and removes the skewness of a t statistic.
    return 3 / skew * (np.cbrt(1 + skew * (normal - skew / 6)) - 1)
