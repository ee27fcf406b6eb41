"""Nested cross-validation: intervals of performance that account for shared training rows.

The interval of pooled out-of-fold scores includes the sampling error of the test rows. It ignores that the models of
different folds share most of their training rows. Bates, Hastie & Tibshirani (2023) estimate this missing error. The
usual outer fits omit one fold. Additional inner fits omit two folds. For the same test fold, outer and inner fits give
different values of the metric. If they differ by more than the sampling error within the fold, the interval is widened.

A `FoldFigure` is a metric with a known variance within a fold: a mean over rows, the AUC, or a smooth metric of two
classes. The metric is computed from `row_values`, which are the score, the decision or the loss of each row.

Order of the file: the metric and its covariance in a fold; `nested_cross_validation`; the values of all fits; the
interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, nan, sqrt
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core import Context, Predictions
from rocscope.errors import InputError, warn
from rocscope.evaluation import fitting, measures
from rocscope.figures.influence import Smooth
from rocscope.figures.registry import at, known
from rocscope.inference import estimate as inference, variance
from rocscope.inference.areas import placements
from rocscope.inference.influence_estimates import values_of_rows
from rocscope.multiclass import CostMatrix, MulticlassPredictions
from rocscope.multiclass.calibration import row_scores
from rocscope.protocols.splitters import Split, TrainTest, numbered

_SHARES = ("accuracy", "error")
_MEANS = ("accuracy", "error", "brier", "log_loss")

_MOST_PAIRS = 2**20
"""Largest number of pairs of a positive and a negative for which the unbiased variance of an area is computed.

For more pairs, the relative error of DeLong's variance is below 0.001."""


@dataclass(frozen=True)
class FoldFigure:
    """Metric with a known variance within a fold: a mean over rows, the AUC, or a smooth function of means.

    Attributes
    ----------
    name : str
        Name of the metric.
    metric : str, Context or CostMatrix
        Definition of the metric.
    task : Task
        Data and settings of the fits.
    group : array of n numbers, or None
        Group of each row.
    shares : pair of float, or None
        Weights of the mean over negatives and of the mean over positives, if the metric is a weighted sum of the two.
        The weights are (1, 1) for any other metric that needs both classes. None for a mean over all rows.
    smooth : Smooth, optional
        Definition of a two-class metric that is neither a mean over rows nor the AUC.
    of_decisions : bool
        True if the smooth metric is computed from decisions, coded as 0 and 1, instead of scores.
    is_area : bool
        True if the metric is the AUC of two classes.
    """

    name: str
    metric: Any
    task: fitting.Task
    group: Indices | None
    shares: tuple[float, float] | None = None
    smooth: Smooth | None = None
    of_decisions: bool = False
    is_area: bool = False

    @classmethod
    def of(cls, metric: measures.Metric, task: fitting.Task, group: Indices | None) -> "FoldFigure":
        """Convert a metric of any accepted type to a FoldFigure.

        Raises
        ------
        InputError
            If the variance of the metric within a fold is unknown.
        """
        two_classes = task.positive is not None
        smooth, of_decisions, is_area = None, False, False
        if isinstance(metric, Smooth):
            name = metric.name
            smooth = metric if two_classes else None
        else:
            name = measures.measure_of(metric, several_classes=not two_classes).name
        if isinstance(metric, str):
            metric = name
            figure = known(name) if two_classes else None
            is_area = figure is not None and figure.is_area
            # The AUC has a variance of its own, and a mean has the variance of its rows.
            if figure is not None and not (is_area or figure.mean_of_rows):
                of_decisions = figure.needs == "cells"
                if of_decisions:
                    smooth = at(0.5, figure.name)
                elif figure.smooth is not None:
                    smooth = figure.smooth()
        if not (is_area or smooth or metric in _MEANS or isinstance(metric, Context | CostMatrix)):
            listed = [*(["auc", "average precision", "f1"] if two_classes else []), *_MEANS]
            hint = "the interval needs a metric that is a mean over rows"
            hint += " or has an influence function" * two_classes
            expected = f"a metric such as {check.listing(listed)}, or costs"
            raise InputError("metric", expected=expected, got=repr(metric), hint=hint)
        shares = None
        if is_area or smooth:
            shares = (1.0, 1.0)
        elif isinstance(metric, Context) and metric.target_prevalence is not None:
            shares = (1 - metric.target_prevalence, metric.target_prevalence)
        return cls(name, metric, task, group, shares, smooth, of_decisions, is_area)

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest possible value of the metric."""
        if self.smooth is not None:
            return self.smooth.scale.low, self.smooth.scale.high
        return (0.0, 1.0) if self.is_area or self.metric in _SHARES else (-inf, inf)

    def require(self, rows: Indices, fold: int) -> None:
        """Raise an InputError if a fold has too few rows or groups for a variance."""
        counted = rows if self.task.weight is None else rows[self.task.weight[rows] > 0]
        fewest = min(int(stratum.sum()) for stratum, _ in self._strata(counted))
        if fewest < 2 or (self.group is not None and np.unique(self.group[counted]).size < 2):
            expected = "at least 2 rows" + " of each class" * (self.shares is not None)
            expected += " and 2 groups" * (self.group is not None) + " in each fold"
            raise InputError("cv", expected=expected, got=f"fewer in fold {fold}", hint="use fewer folds")

    def row_values(self, scored: fitting.Scored) -> Array:
        """Return the score, decision or loss of each test row; the metric is computed from these values."""
        if self.is_area or (self.smooth is not None and not self.of_decisions):
            return scored.scores
        preds = fitting.predictions_of_split(scored, self.task)
        if isinstance(preds, MulticlassPredictions):
            return _losses_of_classes(preds, self.metric)
        if not self.of_decisions:
            return _losses(preds, self.metric, scored)
        return measures.own_decisions(preds, measures.usual_threshold(scored.response)) * 1.0

    def value(self, rows: Indices, row_values: Array) -> float:
        """Return the metric of one model in a fold; NaN if a class is missing."""
        weight = self._weight(rows)
        if self.smooth is not None:
            linear = self.smooth.linearise(self._predictions(rows, [row_values]).counts())
            # A mean over folds keeps the bias of the folds, so it is subtracted here.
            return linear.value - linear.bias / rows.size
        amount = np.ones(rows.size, np.int64) if weight is None else weight
        if self.is_area:
            positive = self._positive(rows)
            pairs = amount[positive].sum() * amount[~positive].sum()
            twice = placements(positive, row_values, weight)[positive]
            return float(twice @ amount[positive] / (2 * pairs)) if pairs else nan
        value = 0.0
        for stratum, share in self._strata(rows):
            if not stratum.any():
                return nan
            value += share * float(amount[stratum] @ row_values[stratum] / amount[stratum].sum())
        return value

    def covariance(self, rows: Indices, row_values: Sequence[Array]) -> Array:
        """Return the covariance matrix (models × models) of the metric in a fold; NaN if the fold has only one row."""
        if self.smooth is not None:
            preds = self._predictions(rows, row_values)
            return values_of_rows(preds, self.smooth, groups=None, folds=None).covariance
        weight = self._weight(rows)
        values = np.stack(row_values, axis=1).astype(np.float64)
        if self.is_area:
            positive = self._positive(rows)
            pairs = int(positive.sum()) * int((~positive).sum())
            if weight is None and self.group is None and pairs <= _MOST_PAIRS:
                return unbiased_covariance(positive, row_values)
            # DeLong: an area is the mean over rows of the share of the other class against which the row is ranked
            # correctly.
            amount = np.ones(rows.size) if weight is None else weight
            other = np.where(positive, amount[~positive].sum(), amount[positive].sum())
            values = np.stack([placements(positive, score, weight) / (2 * other) for score in row_values], axis=1)
        moves = np.empty_like(values)
        covariance = np.zeros((len(row_values), len(row_values)))
        amount = np.ones(rows.size) if weight is None else weight.astype(np.float64)
        for stratum, share in self._strata(rows):
            with np.errstate(invalid="ignore"):  # a log loss may be infinite
                part = share * variance.moves_of_mean(values[stratum], amount[stratum])
            if weight is not None:
                share_of_rows = amount[stratum] / amount[stratum].sum()
                part *= variance.leave_one_out_factor(share_of_rows)[:, None]
            covariance += variance.stratum_of_moves(part).covariance
            moves[stratum] = part
        if self.group is None:
            return covariance
        group = np.unique(self.group[rows], return_inverse=True)[1]
        return variance.stratum_of_moves(moves, group).covariance

    def _strata(self, rows: Indices) -> list[tuple[Booleans, float]]:
        """Return a mask of rows and a weight for each mean in the metric (over all rows, or over each class)."""
        if self.shares is None:
            return [(np.ones(rows.size, bool), 1.0)]
        positive = self._positive(rows)
        share_of_negatives, share_of_positives = self.shares
        return [(positive, share_of_positives), (~positive, share_of_negatives)]

    def _predictions(self, rows: Indices, row_values: Sequence[Array]) -> Predictions:
        """Return the rows of a fold as Predictions with the scores of all models."""
        group = None if self.group is None else self.group[rows]
        scores = {str(number): score for number, score in enumerate(row_values)}
        weight = self._weight(rows)
        return Predictions(self._positive(rows), scores, sample_weight=weight, weights="sampling", groups=group)

    def _positive(self, rows: Indices) -> Booleans:
        if self.task.positive is None:
            return np.zeros(rows.size, bool)
        return np.asarray(self.task.labels[rows] == self.task.classes[self.task.positive])

    def _weight(self, rows: Indices) -> Array | None:
        return None if self.task.weight is None else self.task.weight[rows]


def _losses(preds: Predictions, metric: Any, scored: fitting.Scored) -> Array:
    """Return the value of each row for a metric that is a mean over rows, for two classes."""
    if metric in ("brier", "log_loss"):
        (score,) = preds.scores.values()
        chance = check.check_probabilities(score, f"scores of {scored.model!r}")
        probability = np.where(preds.y_true, chance, 1.0 - chance)
        with np.errstate(divide="ignore"):
            return (1 - probability) ** 2 if metric == "brier" else -np.log(probability)
    positive = measures.own_decisions(preds, measures.usual_threshold(scored.response))
    if isinstance(metric, Context):
        cost = {cell: float(amount) for cell, amount in metric.costs.items()}
        of_positives = np.where(positive, cost["tp"], cost["fn"])
        of_negatives = np.where(positive, cost["fp"], cost["tn"])
        return np.where(preds.y_true, of_positives, of_negatives)
    return np.asarray((positive == preds.y_true) == (metric == "accuracy"), np.float64)


def _losses_of_classes(preds: MulticlassPredictions, metric: Any) -> Array:
    """Return the value of each row for a metric that is a mean over rows, for more than two classes."""
    if metric in ("brier", "log_loss", "rps"):
        return row_scores(preds.y_true, preds.probabilities(), metric)
    predicted = preds.predicted()
    if isinstance(metric, CostMatrix):
        return metric.in_order(preds.classes).of_rows(preds.y_true, predicted)
    return np.asarray((predicted == preds.y_true) == (metric == "accuracy"), np.float64)


def unbiased_covariance(positive: Booleans, scores: Sequence[Array]) -> Array:
    """Return the unbiased covariance matrix of the AUCs of several models on the same rows.

    DeLong's variance is biased upwards. In a fold of six positives and six negatives, it is 8% too large.

    Notes
    -----
    A pair is a positive and a negative. Let A₁ and A₂ be the AUCs of two models. Let K₁ be 1 if model 1 ranks a pair
    correctly, ½ if the pair is tied, and 0 otherwise. Let K₂′ be the same number for model 2 and another pair that
    shares no row with the first pair. Then cov = E[A₁·A₂] − E[K₁·K₂′].

    The sum of K₁·K₂′ over two pairs without a common row is computed from four sums. The first is the sum over any two
    pairs. The sums over two pairs with a common positive, and with a common negative, are subtracted. The sum over two
    identical pairs was subtracted twice, so it is added once.
    """
    pairs = []
    for score in scores:
        high, low = score[positive][:, None], score[~positive]
        pairs.append((high > low) + 0.5 * (high == low))
    correct = np.stack(pairs)
    m, p, n = correct.shape
    if min(p, n) < 2:
        return np.full((m, m), np.nan)
    area = correct.mean(axis=(1, 2))
    total = correct.reshape(m, -1).sum(axis=1)
    same_positive = correct.sum(axis=2) @ correct.sum(axis=2).T
    same_negative = correct.sum(axis=1) @ correct.sum(axis=1).T
    same_pair = correct.reshape(m, -1) @ correct.reshape(m, -1).T
    disjoint = np.outer(total, total) - same_positive - same_negative + same_pair
    return np.outer(area, area) - disjoint / (p * (p - 1.0) * n * (n - 1.0))


_MANY = 1000  # number of fits per model that triggers a warning with advice on how to reduce it: a choice
_ROUNDING = 1e-24  # relative to a squared value: the rounding error, at 12 digits, of a variance of 0


@contract
def nested_cross_validation(
    models: Any,
    X: Any,
    y: Any,
    *,
    metric: measures.Metric = "auc",
    cv: Any = 5,
    repeats: int = 10,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    response: fitting.Response = "auto",
    alternative: inference.Alternative = "two-sided",
    test: inference.Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: inference.PValueAdjust = "holm",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> inference.Comparisons:
    """Estimate the performance of models on new data by nested cross-validation, with valid intervals.

    Ordinary intervals ignore that folds share training rows. Nested cross-validation estimates the error of the mean
    over folds from additional fits that omit two folds.

    With K folds, each model is fitted repeats · K(K + 1)/2 times. This is 150 times by default, and 550 times with ten
    folds and ten repeats.

    Parameters
    ----------
    models, X, y, groups, sample_weight, pos_label, response, n_jobs, random_state, progress : see `evaluate`
    metric : str, Smooth, Context or CostMatrix
        Metric to estimate. For any number of classes, "accuracy", "error", "brier", "log_loss", or costs for the
        expected cost. For two classes, also any metric with an influence function, such as "auc", "average precision",
        "f1" or "recall", and a statistic of `rocscope.inference.statistics`, such as ``net_benefit_at(.2)``.
    cv : int, protocol or splitter
        Cross-validation with three or more folds. Each row must be in exactly one test fold, and the training rows must
        be all other rows.
    repeats : int
        Number of repeats of the cross-validation. More repeats make the width of the interval more stable. With fewer
        repeats than twice the number of folds, the result is marked as unreliable.
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        Estimated performance of each model if it is fitted to all rows, and paired differences (second − first) between
        models, with intervals.

    Raises
    ------
    InputError
        If the test folds do not partition the rows. If a fold has fewer than two rows or groups, or fewer than two rows
        of a class that the metric needs.
    ModelError
        See `evaluate`.

    Warns
    -----
    RocscopeWarning
        If there are more than 1,000 fits per model. If some models fail; the result omits these models.

    See Also
    --------
    evaluate, optimism

    Notes
    -----
    Let K be the number of folds. Let e(k) be the metric in fold k of a model fitted to all other folds. Let e(k, j) be
    the metric in fold j of a model fitted to all folds except k and j. All means are over folds and repeats.

    - a is the mean of (ē(k) − e(k))², where ē(k) is the mean of e(k, j) over j.
    - b is the mean of the sampling variance of e(k), which comes from the rows of fold k.
    - The standard error is √(b/K) times an inflation factor. √(b/K) is the error due to the test rows alone. The
      inflation factor is √(max(0, a − b)·(K − 1)/b), limited to the range from 1 to √K.
    - The estimate is mean e(k) − ((K − 2)/K)^1.5 · (mean e(k, j) − mean e(k)). This extrapolates to a model fitted to
      all rows.

    The same formulas apply to differences between models. The sampling variance within a fold is the variance of a
    mean, DeLong's variance of the AUC without its bias, or the variance of the influence values of the rows. With
    groups, it is computed from sums within groups. Weights are treated as sampling weights, not as frequencies. The
    interval ignores model selection. The page docs/guide/evaluation/evaluation.md reports the coverage of the
    intervals.

    References
    ----------
    Bates, Hastie & Tibshirani 2023, J. Am. Stat. Assoc. 119:1434–1445, algorithm 1 and appendix.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    >>> result = nested_cross_validation(GaussianNB(), X + y[:, None], y, metric="accuracy")
    >>> result.estimates["GaussianNB"]
    Estimate(0.7158, 95% CI [0.6012, 0.8305], n=60)
    """
    check.check_choice("adjust", adjust, inference.ADJUSTMENTS)
    hypothesis = inference.Hypothesis(alternative, test, margin, level)
    task = fitting.task_of(X, y, pos_label, sample_weight, response, check.seed_of(random_state))
    experiment = fitting.Fitting.of(models, task, groups, n_jobs, progress)
    task, group = experiment.task, experiment.sample.groups
    figure = FoldFigure.of(metric, task, group)
    outer, title = experiment.splits(cv, repeats)
    runs = _repeats(outer, title)
    for split in outer:
        figure.require(split.test, split.fold)
    # All fits are numbered: first those that omit one fold, repeat by repeat, then those that omit two.
    outer_splits, inner_splits = [], []
    for repeat, folds in enumerate(runs):
        outer_splits += [(repeat, TrainTest(split.train, split.test)) for split in folds]
        inner_splits += [(repeat, pair) for pair in _without_two_folds(folds)]
    splits = numbered(outer_splits + inner_splits, experiment.sample)
    if len(splits) > _MANY:
        warn(f"each model is fitted {len(splits):,} times; reduce repeats or folds, or pass n_jobs for parallel fits")
    results = experiment.run(splits, f"nested cross-validation, {len(splits):,} fits a model")
    scored, _, kept = fitting.without_failures(results, experiment.models)
    values = _values(figure, runs, {(fit.model, fit.split.fold): fit for fit in scored}, kept)
    method = f"nested {title}" + f", {len(runs)} repeats" * (len(runs) > 1)
    n = task.labels.size
    contrast = np.eye(len(kept))
    estimates = {}
    for i, name in enumerate(kept):
        estimates[name] = interval(values, contrast[i], hypothesis, n, method, figure.ends)
    covariance = np.diag([estimate.standard_error**2 for estimate in estimates.values()])

    def compare(i: int, j: int) -> inference.Comparison:
        difference = interval(values, contrast[j] - contrast[i], hypothesis, n, f"{method}, paired")
        # Var(j − i) = Var(i) + Var(j) − 2·cov
        shared = (covariance[i, i] + covariance[j, j] - difference.standard_error**2) / 2
        covariance[i, j] = covariance[j, i] = shared
        return hypothesis.compare(kept[i], kept[j], difference, method=difference.method)

    return inference.compare_each_two(figure.name, estimates, covariance, compare, adjust)


def _repeats(splits: Sequence[Split], title: str) -> list[list[Split]]:
    """Return the folds of each repeat. Raise an InputError if the test folds of a repeat do not partition the rows."""
    repeats = range(splits[-1].repeat + 1)
    runs = [[split for split in splits if split.repeat == repeat] for repeat in repeats]
    for run in runs:
        tested = np.sort(np.concatenate([np.empty(0, np.intp), *(split.test for split in run)]))
        each_row_once = np.array_equal(tested, np.arange(tested.size))
        others_train = all(split.train.size + split.test.size == tested.size for split in run)
        if not (len(run) >= 3 and len(run) == len(runs[0]) and each_row_once and others_train):
            expected = "a cross-validation with three or more folds in which every row is tested once"
            raise InputError("cv", expected=expected, got=title, hint="pass for example cv=10 or StratifiedKFold(5)")
    return runs


def _without_two_folds(folds: Sequence[Split]) -> list[TrainTest]:
    """Return one split for each pair of folds: the pair is tested, and all other folds are training rows.

    The pairs have the order of `itertools.combinations`.
    """
    fold = np.empty(sum(split.test.size for split in folds), np.intp)
    for number, split in enumerate(folds):
        fold[split.test] = number
    pairs = []
    for k, j in combinations(range(len(folds)), 2):
        train = folds[k].train[fold[folds[k].train] != j]
        pairs.append(TrainTest(train, np.concatenate([folds[k].test, folds[j].test])))
    return pairs


@dataclass(frozen=True)
class NestedValues:
    """Metric of each model by repeat and fold k.

    Attributes
    ----------
    outer : array of repeats × folds × models
        Metric e(k) in fold k of the model fitted without fold k.
    inner : array of repeats × folds × models
        Mean of e(k, j) over all other folds j. Here e(k, j) is the metric in fold j of the model fitted without the
        folds k and j.
    covariance : array of repeats × folds × models × models
        Sampling covariance of e(k) between models, estimated from the rows of fold k.
    """

    outer: Array
    inner: Array
    covariance: Array


def _values(
    figure: FoldFigure,
    runs: Sequence[Sequence[Split]],
    scored: dict[tuple[str, int], fitting.Scored],
    models: Sequence[str],
) -> NestedValues:
    """Return the metric of all fits. `scored` is indexed by model name and number of the split."""
    k, m = len(runs[0]), len(models)
    outer = np.empty((len(runs), k, m))
    inner = np.empty_like(outer)
    covariance = np.empty((len(runs), k, m, m))
    outer_fit, inner_fit = 0, len(runs) * k
    for repeat, folds in enumerate(runs):
        for fold, split in enumerate(folds):
            row_values = [figure.row_values(scored[name, outer_fit]) for name in models]
            outer[repeat, fold] = [figure.value(split.test, values) for values in row_values]
            covariance[repeat, fold] = figure.covariance(split.test, row_values)
            outer_fit += 1
        # across[k, j]: the value in fold j of the fit without folds k and j.
        across = np.full((k, k, m), nan)
        for first, second in combinations(range(k), 2):
            rows_of_first, rows_of_second = folds[first].test, folds[second].test
            for column, name in enumerate(models):
                values = figure.row_values(scored[name, inner_fit])
                in_first, in_second = np.split(values, [rows_of_first.size])
                across[second, first, column] = figure.value(rows_of_first, in_first)
                across[first, second, column] = figure.value(rows_of_second, in_second)
            inner_fit += 1
        inner[repeat] = np.nanmean(across, axis=1)
    return NestedValues(outer, inner, covariance)


def interval(
    values: NestedValues,
    contrast: Array,
    hypothesis: inference.Hypothesis,
    n: int,
    method: str,
    ends: tuple[float, float] = (-inf, inf),
) -> inference.Estimate:
    """Return the estimate of a linear combination of models, such as a difference, with its interval.

    The interval is clipped to the possible values `ends`.
    """
    folds = values.outer.shape[1]
    outer = values.outer @ contrast
    inner = values.inner @ contrast
    within_variance = float((values.covariance @ contrast @ contrast).mean())
    if not (np.isfinite(outer).all() and np.isfinite(inner).all()):
        reason = "the metric is undefined in a fold, or infinite because the observed class had probability 0"
        return inference.Estimate(float(outer.mean()), nan, nan, hypothesis.level, method, n, nan, reason)
    # Inner fits have (K − 2)/K of the rows, outer ones (K − 1)/K: their difference is extrapolated to all rows.
    value = float(outer.mean() - (inner.mean() - outer.mean()) * ((folds - 2) / folds) ** 1.5)
    if not within_variance > _ROUNDING * value**2:
        reason = "the metric does not vary within folds" if value else ""
        return inference.Estimate(value, value, value, hypothesis.level, method, n, 0.0, reason)
    # The squared standard error is (a − b)·(K − 1)/K (algorithm 1). It is written as b/K, its value for independent
    # folds, times a squared inflation. The inflation is √K if all folds vary together.
    excess = float(((inner - outer) ** 2).mean()) - within_variance
    inflation = sqrt(max(excess, 0.0) * (folds - 1) / within_variance)
    inflation = min(max(inflation, 1.0), sqrt(folds))
    error = inflation * sqrt(within_variance / folds)
    estimate = hypothesis.wald(value, error, n, f"{method}, inflation {inflation:.3g}")
    reason = ""
    if len(values.outer) < 2 * folds:
        reason = f"the width of the interval is unstable with fewer than {2 * folds} repeats of {folds} folds"
    least, most = ends
    return replace(
        estimate,
        reason=reason,
        value=min(max(value, least), most),
        low=max(estimate.low, least),
        high=min(estimate.high, most),
    )
