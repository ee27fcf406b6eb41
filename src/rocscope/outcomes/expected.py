"""Expected curves, metrics and decisions for cases whose labels are not yet known.

A recalibrator fitted to a labelled reference gives each new case a probability p of being positive. The ROC curve, the
lift chart and the accuracy can be computed from these probabilities and the scores (Vuk & Curk 2006, §6). Each case is
stored as two rows: a positive with weight p and a negative with weight 1 − p. Every function that takes Predictions
accepts these rows.

`ExpectedWeights` contains these weights and computes variances. Let mᵢ⁺ and mᵢ⁻ be the influences of case i on a metric
θ if the case is positive or negative. Then the influence of the case is pᵢ·mᵢ⁺ + (1 − pᵢ)·mᵢ⁻, and the derivative of θ
with respect to pᵢ is gᵢ = mᵢ⁺ − mᵢ⁻. The probabilities have an error, which is estimated by bootstrap replicates of the
reference. The recalibrator is fitted again to each replicate b, which changes θ by Σᵢ gᵢ·(pᵢ*ᵇ − p̄ᵢ*). For the
logistic spline, these changes agree with the influence function of the spline within the noise of the replicates. The
bootstrap works for every recalibrator, and for groups of rows.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import contract
from rocscope._base.grouping import sum_by
from rocscope.calibration.outcomes import Outcomes
from rocscope.calibration.recalibration import Recalibrator, recalibrator
from rocscope.core import Predictions, ThresholdCounts, number
from rocscope.decisions.prior_shift import with_prevalence
from rocscope.errors import InputError, OneClassError, ScoreError
from rocscope.figures.registry import statistic_named
from rocscope.inference import resampling
from rocscope.inference.estimate import FEW_EVENTS, few
from rocscope.inference.variance import EstimatedWeights
from rocscope.ranges.binned import Bounds
from rocscope.sample import Models, Sample, sample_of

Assumption = Literal["risk", "classes"]
Estimand = Literal["population", "cases"]

ASSUMPTIONS = {"risk": "same risk at each score", "classes": "same scores within each class"}
"""Assumptions about the reference and the new cases, by name."""

# Number of groups of neighbouring scores for which replicates of the probabilities are stored. Within 1 of 200 groups,
# a curve that is smooth enough to be estimated is nearly straight.
_CELLS = 200
# Up to this number of distinct scores, such as those of a small tree, each score has its own share of positives.
_FEW_LEVELS = 10
# A probability of 0 would remove a row, and with it the effect of an error of this probability.
_CERTAIN = 1e-9
# Bisection steps for a prevalence: enough for the precision of a double.
_HALVINGS = 52


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedWeights(EstimatedWeights):
    """Weights of m unlabelled cases: p as a positive and 1 − p as a negative.

    The weighted sample consists of 2m rows: first all cases as positives, then all cases as negatives.

    Attributes
    ----------
    chance : array of m
        Probability p of each case.
    cell : array of m integers
        Index of the score group that contains the case. A score group contains neighbouring scores.
    replicates : b × k array
        Bootstrap replicates of p in each of the k score groups, minus the mean of the replicates.
    prevalence_moves : array of m, optional
        Influence of each case on the estimated prevalence.
    prevalence_slope : array of m, optional
        Derivative of p with respect to the prevalence.
    estimand : {"population", "cases"}
        Target of the intervals: the population of the cases, or these cases after they are labelled.
    """

    chance: Array
    cell: Indices
    replicates: Array
    prevalence_moves: Array | None = None
    prevalence_slope: Array | None = None
    estimand: Estimand = "population"
    kind: ClassVar[str] = "expected"

    @property
    def drawn_units(self) -> Indices:
        """Index of the case to which each row belongs; the bootstrap draws the two rows of a case together."""
        return self._places % self.chance.size

    def moves(self, moves: Array) -> Array:
        """Return the influences of the cases, followed by the influences of the replicates of the probabilities."""
        m, replicates = self.chance.size, len(self.replicates)
        positive, negative = np.split(sum_by(self._places, moves, 2 * m), 2)
        chance = self.chance[:, None]
        slope = positive / chance - negative / (1 - chance)
        of_cases = positive + negative
        if self.estimand == "cases":
            # The cases are fixed and only their labels vary: a positive label has influence (1 − p)·g, a negative one
            # −p·g.
            of_cases = np.sqrt(chance * (1 - chance)) * slope
        elif self.prevalence_moves is not None and self.prevalence_slope is not None:
            of_cases = of_cases + np.outer(self.prevalence_moves, self.prevalence_slope @ slope)
        of_replicates = self.replicates @ sum_by(self.cell, slope, self.replicates.shape[1])
        return np.concatenate([of_cases, of_replicates / np.sqrt(replicates - 1)])

    def units(self, unit: Indices | None) -> Indices | None:
        """Return the index of the independent unit of each case and replicate, given the units of the rows."""
        if unit is None:
            return None
        m = self.chance.size
        units = int(unit.max()) + 1 + np.arange(m + len(self.replicates))
        units[self.drawn_units] = unit
        return np.unique(units, return_inverse=True)[1]

    def reestimated(self, weight: Array, frequency: bool) -> Callable[[Array], Array]:  # noqa: ARG002
        """Return a function that computes weights for a bootstrap sample, with one replicate of the probabilities."""
        positive, case = self._places < self.chance.size, self.drawn_units
        chance, deviation = self.chance[case], self.replicates[:, self.cell[case]]

        def weights(drawn: Array) -> Array:
            # A number computed from the draws of cases picks the replicate of the reference, which is independent of
            # them.
            number = drawn.astype(np.int64) @ np.arange(case.size) % len(deviation)
            moved = (chance + deviation[number]).clip(0, 1)
            return np.where(positive, moved, 1 - moved)

        return weights


class ExpectedPredictions(Predictions):
    """Unlabelled cases, each stored as a positive row and a negative row with the label probabilities as weights.

    Returned by `rocscope.expected`. Counts, curves and metrics of these rows are expected values.

    Attributes
    ----------
    assumption : str
        ``"same risk at each score"`` or ``"same scores within each class"``.
    recalibrator : Recalibrator
        Recalibrator fitted to the reference.
    below : float
        Share of the cases with scores below all reference scores.
    above : float
        Share of the cases with scores above all reference scores.

    Examples
    --------
    >>> reference = Predictions([0, 0, 1, 0, 1, 1] * 20, [1, 2, 3, 4, 5, 6] * 20)
    >>> expected(reference, [1, 2, 5, 7])
    ExpectedPredictions(n=4, n_pos=2, models=['score'], same risk at each score, scores outside the reference: 25%)
    """

    assumption: str
    recalibrator: Recalibrator
    below: float
    above: float
    _outcomes: tuple[Array, tuple[Array, Array]]

    @property
    def unlabelled_scores(self) -> Array:
        """Score of each case, in the order of the input."""
        return self._outcomes[0]

    @property
    def outside(self) -> float:
        """Share of the cases with scores outside the range of the reference."""
        return self.below + self.above

    def bounds(self, figure: str | Callable[[ThresholdCounts], float]) -> Bounds:
        """Return bounds of a metric if the probabilities of the cases are only known within limits.

        Parameters
        ----------
        figure : str, or function of ThresholdCounts
            Name of a metric, such as ``"auc"``, or a statistic of `rocscope.inference.statistics`.

        Returns
        -------
        Bounds
            Lowest and highest value of the metric.

        Notes
        -----
        If a score is above all reference scores, the limits are the highest calibrated probability and 1. If a score is
        below all reference scores, the limits are 0 and the lowest calibrated probability. With
        ``method="venn-abers"``, the limits of every case come from `VennAbersRecalibrator.predict_interval`. The metric
        is computed four times: with the lower or the upper limits for the cases in the lower half of the scores,
        combined with the lower or the upper limits for the other cases. Sampling errors are not included.

        Examples
        --------
        >>> reference = Predictions([0, 0, 1, 0, 1, 1] * 20, [1, 2, 3, 4, 5, 6] * 20)
        >>> cases = expected(reference, [1, 2, 5, 7])
        >>> cases.bounds(lambda counts: round(counts.prevalence, 6))
        Bounds(low=0.5, high=0.5)
        """
        statistic = statistic_named(figure, "figure")[1] if isinstance(figure, str) else figure
        score, limits = self._outcomes
        lower_half = score < np.median(score)
        values: list[float] = []
        for of_lower, of_upper in product(limits, repeat=2):
            chance = np.where(lower_half, of_lower, of_upper)
            values.append(float(statistic(_as_rows(score, chance, "score").counts())))
        return Bounds(min(values), max(values))

    def __repr__(self) -> str:
        outside = f"scores outside the reference: {100 * self.outside:.3g}%"
        facts = f"n={number(self.n)}, n_pos={number(self.n_pos)}, models={self.models}"
        return f"ExpectedPredictions({facts}, {self.assumption}, {outside})"

    def _facts(self) -> dict[str, str]:
        facts = super()._facts() | {"rows": number(len(self) // 2)}
        return facts | {"assumption": self.assumption, "scores outside the reference": f"{100 * self.outside:.3g}%"}


@contract
def expected(
    reference: Models,
    scores: Any,
    *,
    model: str | None = None,
    assume: Assumption = "risk",
    method: str = "auto",
    estimand: Estimand = "population",
    segment: Any = None,
    groups: Any = None,
    columns: Any = None,
    replicates: int = 200,
    random_state: Any = 0,
) -> ExpectedPredictions:
    """Estimate the labels of unlabelled cases from their scores and a labelled reference.

    Parameters
    ----------
    reference : Predictions or ThresholdCounts
        Labelled reference, such as the test data of the model.
    scores : array of m scores, or mapping from model name to array
        Scores of the new cases, by the same model and on the same scale.
    model : str, optional
        Name of the model. By default, the only model of the reference.
    assume : {"risk", "classes"}
        Assumption about the new cases. "risk": at each score, the share of positives is the same as in the reference;
        the distribution of the scores may differ (covariate shift). "classes": the scores of each class have the same
        distribution as in the reference; the prevalence may differ and is estimated (prior shift).
    method : str
        Name of the recalibrator that converts scores to probabilities. "auto" is "isotonic" for at most 10 distinct
        scores, otherwise "spline".
    estimand : {"population", "cases"}
        Target of the intervals: the population of the new cases, or the new cases themselves after they are labelled.
    segment, groups, columns : see `rocscope.Predictions`
        Segments, groups and further columns of the new cases.
    replicates : int
        Number of bootstrap replicates of the reference, used to estimate the uncertainty of the calibration.
    random_state : int, Generator, RandomState or None
        Seed of the bootstrap.

    Returns
    -------
    ExpectedPredictions
        New cases with expected labels. Pass them to any function that takes Predictions. Intervals include the
        uncertainty of the calibration and the sampling error of the cases.

    Raises
    ------
    InputError
        If the reference has no labels, or `scores` does not contain the model of the reference.
    OneClassError
        If all labels of the reference are the same.

    See Also
    --------
    drift, estimate_prevalence

    Notes
    -----
    Isotonic regression overestimates the quality of a ranking, because its probabilities correspond to the convex hull
    of the ROC curve. In simulations, the expected AUC with isotonic regression was too high by .3 to .7 standard
    errors. With the logistic spline, the error was below .2 standard errors.

    References
    ----------
    Vuk & Curk 2006, §6; Saerens, Latinne & Decaestecker 2002 (prevalence); Garg, Balakrishnan, Lipton, Neyshabur &
    Sedghi 2022, "Leveraging unlabeled data to predict out-of-distribution performance", ICLR (limits of any method).

    Examples
    --------
    In the reference, the share of positives is 1/4 at the score 0 and 3/4 at the score 1. Of the 40 new cases, 10 have
    the score 1:

    >>> reference = Predictions([0, 0, 0, 1, 0, 1, 1, 1] * 10, [0, 0, 0, 0, 1, 1, 1, 1] * 10)
    >>> cases = expected(reference, [0] * 30 + [1] * 10)
    >>> cases.point(threshold=1)
    OperatingPoint(tp=7.5, fp=2.5, fn=7.5, tn=22.5, threshold=1)
    >>> from rocscope.inference import estimate_of, statistics
    >>> estimate_of(cases, statistics.at(1, "precision"))
    Estimate(0.75, 95% CI [0.5788, 0.8675], n=10)
    """
    check.check_choice("assume", assume, tuple(ASSUMPTIONS))
    check.check_choice("estimand", estimand, ("population", "cases"))
    known = sample_of(reference, model=model)
    if known.points.weights == "expected":
        raise InputError("reference", expected="labelled rows", got="unlabelled cases (from rs.expected)")
    name, new = scores_of_model(scores, known.name)
    counts = known.counts
    counts.require_both_classes("a reference")
    if method == "auto":
        method = "isotonic" if len(counts) <= _FEW_LEVELS else "spline"
    fitted = recalibrator(method).fit_counts(counts)  # pyright: ignore[reportArgumentType]

    # Replicates of the fit, at the mean score of each group of neighbouring new scores.
    levels, level, times = np.unique(new, return_inverse=True, return_counts=True)
    pooled = Outcomes(levels.astype(np.float64), np.zeros(levels.size), times.astype(np.float64))
    starts = pooled.starts(_CELLS)
    cells = pooled.merged(starts)
    cell = np.searchsorted(starts, level, side="right") - 1
    fits = [fitted, *_refitted(known, fitted, check.check_whole(replicates, "replicates"), check.seed_of(random_state))]
    of_cells = np.array([fit.predict(cells.score) for fit in fits])
    chance = fitted.predict(new)
    moves = slope = None
    if assume == "classes":
        before = np.array([fit.prevalence_ for fit in fits])
        after = prevalences(of_cells, before, cells.total)
        of_cells = with_prevalence(of_cells, before[:, None], after[:, None])
        chance = with_prevalence(chance, before[0], after[0])
        moves, slope = _effect_of_prevalence(chance, float(after[0]))
    chance = chance.clip(_CERTAIN, 1 - _CERTAIN)
    weighting = ExpectedWeights(
        2 * chance.size,
        "expected from a labelled reference",
        shortage=few(min(counts.n_pos, counts.n_neg), FEW_EVENTS, "rows of a class in the reference"),
        chance=chance,
        cell=cell,
        replicates=of_cells[1:] - of_cells[1:].mean(axis=0),
        prevalence_moves=moves,
        prevalence_slope=slope,
        estimand=estimand,
    )
    own = {"segment": segment, "groups": groups, "columns": columns}
    result = _as_rows(new, chance, name, weighting, **own)
    result.assumption, result.recalibrator = ASSUMPTIONS[assume], fitted
    is_below, is_above = new < counts.threshold[-1], new > counts.threshold[0]
    result.below, result.above = float(is_below.mean()), float(is_above.mean())
    limits = np.where(is_below, 0.0, chance), np.where(is_above, 1.0, chance)
    if method == "venn-abers":
        limits = fitted.predict_interval(new)  # pyright: ignore[reportAttributeAccessIssue]
    result._outcomes = new, limits
    return result


def prevalences(chance: Array, before: Array, weight: Array) -> Array:
    """Return the maximum-likelihood prevalence of the new cases for each of b fitted recalibrators.

    The estimate assumes that only the prevalence has changed, not the distribution of the scores within a class.

    Parameters
    ----------
    chance : b × k array
        Probability at each of k scores, by each of b recalibrators.
    before : array of b
        Prevalence of the sample to which each recalibrator was fitted.
    weight : array of k
        Number of new cases with each score.

    Notes
    -----
    The prevalence is the root of the derivative of the log-likelihood, found by bisection; see
    `rocscope.decisions.estimate_prevalence`.

    Examples
    --------
    >>> prevalences(np.array([[0.8, 0.2]]), np.array([0.5]), np.array([1.0, 3.0])).round(6)
    array([0.083333])
    """
    positive, negative = chance / before[:, None], (1 - chance) / (1 - before[:, None])
    low, high = np.full(len(chance), _CERTAIN), np.full(len(chance), 1 - _CERTAIN)
    for _ in range(_HALVINGS):
        share = (low + high)[:, None] / 2
        density = share * positive + (1 - share) * negative
        rises = ((positive - negative) / np.maximum(density, _CERTAIN)) @ weight > 0
        low, high = np.where(rises, share[:, 0], low), np.where(rises, high, share[:, 0])
    return (low + high) / 2


def _effect_of_prevalence(chance: Array, prevalence: float) -> tuple[Array, Array]:
    """Return the influence of each case on the estimated prevalence π, and the derivative of each probability by π.

    The derivative of the log-likelihood of case i is uᵢ = (pᵢ − π)/(π(1 − π)), and the influence of the case is uᵢ/Σu².
    The derivative of pᵢ is pᵢ(1 − pᵢ)/(π(1 − π)).
    """
    variance = prevalence * (1 - prevalence)
    score = (chance - prevalence) / variance
    information = float(score @ score)
    moves = score / information if information > 0 else np.zeros_like(score)
    return moves, chance * (1 - chance) / variance


def _refitted(known: Sample, fitted: Recalibrator, replicates: int, seed: int) -> list[Recalibrator]:
    """Fit recalibrators to bootstrap replicates of the reference; groups of rows are resampled together.

    The scores of the reference are first merged into 200 groups. The effect on the variance of the fits is much smaller
    than the error from the limited number of replicates.
    """
    counts = known.counts
    levels = Outcomes.of(counts)
    starts = levels.starts(_CELLS)
    merged = levels.merged(starts)
    if known.rows is None:
        coarse = ThresholdCounts(merged.score[::-1], merged.pos[::-1], merged.neg[::-1])
        coarse.as_sums(counts.weights, counts.dependent)
        design = resampling.design_of_counts(coarse, stratified=False)
    else:
        level = np.searchsorted(levels.score, known.rows.scores[known.rows.models[0]].astype(np.float64))
        score = merged.score[np.searchsorted(starts, level, side="right") - 1]
        rows = Predictions(known.rows.y_true, score, **known.rows.row_columns())
        design = resampling.design_of_rows(rows, stratified=False, groups=None)
    drawn = design.draw(np.random.default_rng(seed), replicates, compiled=False)
    tally = design.first_tally
    fits: list[Recalibrator] = []
    for pos, neg in zip(*tally.counts(drawn), strict=True):
        if pos.any() and neg.any():
            fits.append(copy(fitted).fit_counts(ThresholdCounts(tally.threshold, pos, neg)))
    if len(fits) < 2:
        got = f"{len(fits)} of {replicates} replicates"
        raise OneClassError("reference", expected="at least two replicates with both classes", got=got)
    return fits


def scores_of_model(scores: Any, name: str) -> tuple[str, Array]:
    """Return the name of the model and its checked scores."""
    if isinstance(scores, Predictions):
        hint = "pass an array of the scores, or compare labelled samples with rs.drift"
        raise InputError("scores", expected="scores without labels", got="Predictions", hint=hint)
    if check.is_frame(scores):
        scores = check.frame_columns(scores)
    columns = {str(key): column for key, column in check.by_name(scores, (name,)).items()}
    if len(columns) == 1 and name == "score":
        name = next(iter(columns))
    if name not in columns:
        expected, got = f"scores of the model {name!r}", f"columns {check.shown(list(columns))}"
        raise ScoreError("scores", expected=expected, got=got, hint="pass the column of the scores")
    return name, check.check_scores(columns[name])


def _as_rows(
    score: Array, chance: Array, name: str, weighting: ExpectedWeights | None = None, **columns: Any
) -> ExpectedPredictions:
    """Store each case as a positive row with weight p and a negative row with weight 1 − p; positives come first."""
    labels = np.repeat([True, False], score.size)
    weight = np.concatenate([chance, 1 - chance])
    doubled = {key: _doubled(column, key, score.size) for key, column in columns.items()}
    scores = {name: np.tile(score, 2)}
    weights = "auto" if weighting is not None else "sampling"
    return ExpectedPredictions(labels, scores, sample_weight=weight, weights=weights, weighting=weighting, **doubled)


def _doubled(column: Any, name: str, n: int) -> Any:
    """Repeat a column, or each column of a mapping, so that it has a value for both rows of each case."""
    if column is None:
        return None
    if name == "columns":
        return {key: np.tile(check.check_column(values, key, n), 2) for key, values in column.items()}
    return np.tile(check.check_column(column, name, n), 2)
