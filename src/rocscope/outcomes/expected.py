"""Cases before their labels come: what curves, figures and decisions are to be expected of them.

The calibration of a labelled reference gives each new case a probability p of being positive. Vuk & Curk (2006, §6)
show that calibration and the distribution of scores contain ROC curve, lift chart and accuracy; so each case becomes
two rows, a positive of weight p and a negative of weight 1 − p, and everything that takes Predictions takes them.

`ExpectedWeights` are these weights. A figure θ moves with the case i by pᵢ·mᵢ⁺ + (1 − pᵢ)·mᵢ⁻, where mᵢ⁺ and mᵢ⁻ are
its influences as a positive and as a negative, and with its probability by gᵢ = mᵢ⁺ − mᵢ⁻. The error of the
probabilities comes from bootstrap replicates of the reference, in each of which the recalibrator is fitted again: the
replicate b moves θ by Σᵢ gᵢ·(pᵢ*ᵇ − p̄ᵢ*). For the logistic spline, errors agree with its influence function within the
noise of the replicates; the bootstrap serves every recalibrator, and groups of rows.
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
"""By name, what is assumed to be equal for the reference and the new cases."""

# Groups of neighbouring scores in which replicates of the probabilities are kept: within 1 of 200, a curve that is
# smooth enough to be estimated at all is straight.
_CELLS = 200
# Up to so many distinct scores, such as those of a small tree, each has a share of positives of its own.
_FEW_LEVELS = 10
# A probability of 0 would take a row away, and with it the effect of an error of that probability.
_CERTAIN = 1e-9
# Halvings of the range of a prevalence: to the last digit of a double.
_HALVINGS = 52


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedWeights(EstimatedWeights):
    """Weights p and 1 − p of each case as a positive and as a negative.

    The sample behind the weights are the m cases as positives, then the same cases as negatives.

    Attributes
    ----------
    chance : array of m
        p of each case.
    cell : array of m codes
        The group of neighbouring scores that a case is in.
    replicates : array of b × k
        Distance of a bootstrap replicate of p from their mean, in each group.
    prevalence_moves : array of m, optional
        Influence of each case on the estimated prevalence, and with it on all p.
    prevalence_slope : array of m, optional
        Derivative of p by that prevalence.
    estimand : {"population", "cases"}
        Target of the figures: all cases like these, or these cases once they are labelled.
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
        """The case of each row: its two rows are drawn together."""
        return self._places % self.chance.size

    def moves(self, moves: Array) -> Array:
        """Return the moves of each case, then of each replicate of the probabilities."""
        m, replicates = self.chance.size, len(self.replicates)
        positive, negative = np.split(sum_by(self._places, moves, 2 * m), 2)
        chance = self.chance[:, None]
        slope = positive / chance - negative / (1 - chance)
        of_cases = positive + negative
        if self.estimand == "cases":
            # Which cases there are is given; of their labels, a positive moves by (1 − p)·g and a negative by −p·g.
            of_cases = np.sqrt(chance * (1 - chance)) * slope
        elif self.prevalence_moves is not None and self.prevalence_slope is not None:
            of_cases = of_cases + np.outer(self.prevalence_moves, self.prevalence_slope @ slope)
        of_replicates = self.replicates @ sum_by(self.cell, slope, self.replicates.shape[1])
        return np.concatenate([of_cases, of_replicates / np.sqrt(replicates)])

    def units(self, unit: Indices | None) -> Indices | None:
        """Return the unit of each case and replicate, given the units of the rows."""
        if unit is None:
            return None
        m = self.chance.size
        units = int(unit.max()) + 1 + np.arange(m + len(self.replicates))
        units[self.drawn_units] = unit
        return np.unique(units, return_inverse=True)[1]

    def reestimated(self, weight: Array, frequency: bool) -> Callable[[Array], Array]:  # noqa: ARG002
        """Return a function from how often cases are drawn to weights from a replicate of the reference."""
        positive, case = self._places < self.chance.size, self.drawn_units
        chance, deviation = self.chance[case], self.replicates[:, self.cell[case]]

        def weights(drawn: Array) -> Array:
            # Any number that depends on the draws of cases alone picks an independent replicate of the reference.
            number = drawn.astype(np.int64) @ np.arange(case.size) % len(deviation)
            moved = (chance + deviation[number]).clip(0, 1)
            return np.where(positive, moved, 1 - moved)

        return weights


class ExpectedPredictions(Predictions):
    """Cases without labels, each as a positive and a negative row, weighted by the probabilities of these labels.

    Made by `rocscope.expected`. Counts, curves and figures computed from it are expected values.

    Attributes
    ----------
    assumption : str
        ``"same risk at each score"`` or ``"same scores within each class"``.
    recalibrator : Recalibrator
        Fitted to the reference.
    below, above : float
        Shares of the cases with scores below, and above, every reference score.

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
        """Score of each case, in the order given."""
        return self._outcomes[0]

    @property
    def outside(self) -> float:
        """Share of the cases with scores outside the range of the reference."""
        return self.below + self.above

    def bounds(self, figure: str | Callable[[ThresholdCounts], float]) -> Bounds:
        """Return the lowest and highest value of a figure if probabilities are anywhere within their limits.

        Parameters
        ----------
        figure : str, or function of ThresholdCounts
            Name of a figure, such as ``"auc"``, or one of `rocscope.inference.statistics`.

        Notes
        -----
        A case with a score above every reference score may have any probability from the highest calibrated one to 1; a
        case below, any from 0 to the lowest. With ``method="venn-abers"`` every case has the limits of
        `VennAbersRecalibrator.predict_interval`. All four combinations of limits of the lower and upper half of the
        scores are tried. Sampling errors are not included.

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
    """Return unlabelled cases with the labels that the calibration of a labelled reference lets expect.

    Parameters
    ----------
    reference, model : labelled data of one model
        Predictions or ThresholdCounts; see `rocscope.sample`.
    scores : array of m scores of the new cases, or mapping from the model's name to them
        By the same model, on the same scale.
    assume : {"risk", "classes"}
        Property that the new cases share with the reference. "risk": cases of one score have the same risk, while
        scores may be distributed otherwise (covariate shift). "classes": the scores of each class have the same
        distribution, while the prevalence may be another one, which is estimated from the scores (prior shift).
    method : str
        Name of a recalibrator. "auto" is "spline"; for at most 10 distinct scores "isotonic".
    estimand : {"population", "cases"}
        Target of intervals: all cases like these, or these cases once they are labelled.
    segment, groups, columns : see `rocscope.Predictions`
        Of the new cases.
    replicates : int
        Bootstrap replicates of the reference, for the uncertainty of its calibration.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    ExpectedPredictions
        Pass it to any function of Predictions. Intervals contain the uncertainty of the calibration and of the cases.

    Raises
    ------
    InputError
        If the reference itself has no labels, or the scores are of another model. OneClassError if its labels are of
        one class.

    Notes
    -----
    Isotonic regression, as any map that is fitted to be the best monotone one, makes a ranking look better than it is:
    its probabilities belong to the hull of the ROC curve. In simulations the expected AUC was too high by .3 to .7 of
    its standard error; the logistic spline was off by less than .2 of it.

    References
    ----------
    Vuk & Curk 2006, §6; Saerens, Latinne & Decaestecker 2002 (prevalence); Garg, Balakrishnan, Lipton, Neyshabur &
    Sedghi 2022, "Leveraging unlabeled data to predict out-of-distribution performance", ICLR (limits of any method).

    Examples
    --------
    At the scores 0 and 1, the risks of the reference are 1/4 and 3/4. Among the new cases a score of 1 is rarer:

    >>> reference = Predictions([0, 0, 0, 1, 0, 1, 1, 1] * 10, [0, 0, 0, 0, 1, 1, 1, 1] * 10)
    >>> cases = expected(reference, [0] * 30 + [1] * 10)
    >>> cases.point(threshold=1)
    OperatingPoint(tp=7.5, fp=2.5, fn=7.5, tn=22.5, threshold=1)
    >>> from rocscope.inference import estimate_of, statistics
    >>> estimate_of(cases, statistics.at(1, "precision"))
    Estimate(0.75, 95% CI [0.5792, 0.8673], n=10)
    """
    check.check_choice("assume", assume, tuple(ASSUMPTIONS))
    check.check_choice("estimand", estimand, ("population", "cases"))
    known = sample_of(reference, model=model)
    if known.points.weights == "expected":
        raise InputError("reference", expected="labelled rows", got="cases without labels, from rs.expected")
    name, new = scores_of_model(scores, known.name)
    counts = known.counts
    counts.require_both_classes("a reference")
    if method == "auto":
        method = "isotonic" if len(counts) <= _FEW_LEVELS else "spline"
    fitted = recalibrator(method).fit_counts(counts)  # pyright: ignore[reportArgumentType]

    # Replicates of the fit, at the mean score of each cell of neighbouring new scores.
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
    """Return the share of positives that makes each row of probabilities most likely, if only the share has changed.

    Parameters
    ----------
    chance : array of b × k
        Probabilities at a prevalence of `before` (array of b).
    weight : array of k
        Cases of each.

    Notes
    -----
    The root of the derivative of the log-likelihood of `rocscope.decisions.estimate_prevalence`, of all rows at once.

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
    """Return how far each case moves the estimated prevalence π, and the derivative of its probability by π.

    The score of case i is uᵢ = (pᵢ − π)/(π(1 − π)), which moves π by uᵢ/Σu²; dp/dπ = p(1 − p)/(π(1 − π)).
    """
    variance = prevalence * (1 - prevalence)
    score = (chance - prevalence) / variance
    information = float(score @ score)
    moves = score / information if information > 0 else np.zeros_like(score)
    return moves, chance * (1 - chance) / variance


def _refitted(known: Sample, fitted: Recalibrator, replicates: int, seed: int) -> list[Recalibrator]:
    """Return the recalibrator fitted to bootstrap replicates of the reference, its groups drawn as wholes.

    Scores of the reference are merged to 200 levels first, which changes the spread of the fits by far less than their
    number does.
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
        got = f"{len(fits)} of {replicates} replicates with both classes"
        raise OneClassError("reference", expected="enough rows of both classes", got=got)
    return fits


def scores_of_model(scores: Any, name: str) -> tuple[str, Array]:
    """Return the name of the model and its scores."""
    if isinstance(scores, Predictions):
        hint = "rs.drift compares labelled samples; to ignore the labels, pass their scores"
        raise InputError("scores", expected="scores without labels", got="Predictions", hint=hint)
    if check.is_frame(scores):
        scores = check.frame_columns(scores)
    columns = {str(key): column for key, column in check.by_name(scores, (name,)).items()}
    if len(columns) == 1 and name == "score":
        name = next(iter(columns))
    if name not in columns:
        raise ScoreError("scores", expected=f"those of the reference's model {name!r}", got=check.shown(list(columns)))
    return name, check.check_scores(columns[name])


def _as_rows(
    score: Array, chance: Array, name: str, weighting: ExpectedWeights | None = None, **columns: Any
) -> ExpectedPredictions:
    """Return each case as a positive row of weight p and a negative one of weight 1 − p, positives first."""
    labels = np.repeat([True, False], score.size)
    weight = np.concatenate([chance, 1 - chance])
    doubled = {key: _doubled(column, key, score.size) for key, column in columns.items()}
    scores = {name: np.tile(score, 2)}
    weights = "auto" if weighting is not None else "sampling"
    return ExpectedPredictions(labels, scores, sample_weight=weight, weights=weights, weighting=weighting, **doubled)


def _doubled(column: Any, name: str, n: int) -> Any:
    """Return a column, or several by name, for both rows of each case."""
    if column is None:
        return None
    if name == "columns":
        return {key: np.tile(check.check_column(values, key, n), 2) for key, values in column.items()}
    return np.tile(check.check_column(column, name, n), 2)
