"""Values of models on one fold (mean loss, area, or any smooth figure), and their variance over its rows."""
# MERGED-DOC: """nested_cross_validation: performance of models with intervals that allow for shared training rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, nan, sqrt
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.grouping import sum_by
from rocscope._base.progress import Progress
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, warn
from rocscope.evaluation.fitting import AnyPredictions as Judged
from rocscope.evaluation.fitting import Fitting, Response, Scored, Task, task_of, without_failures
from rocscope.evaluation.fitting import predictions_of_split as judged
from rocscope.evaluation.measures import Metric, measure_of
from rocscope.figures.influence import Smooth
from rocscope.figures.registry import at, known
from rocscope.inference.areas import placements
from rocscope.inference.estimate import (
    ADJUSTMENTS,
    Alternative,
    Comparison,
    Comparisons,
    Estimate,
    Hypothesis,
    PValueAdjust,
    Test,
    compare_each_two,
)
from rocscope.inference.influence_estimates import values_of_rows
from rocscope.multiclass.costs import CostMatrix
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.protocols.splitters import Split, TrainTest, numbered

_SHARES = ("auc", "accuracy", "error")
_MEANS = ("accuracy", "error", "brier", "log_loss")
_MOST_PAIRS = 2**20  # beyond which pairs add less than a thousandth to the variance of an area


@dataclass(frozen=True)
class FoldFigure:
    """A metric whose value in a fold is a mean over rows (within classes, given a class mix), an area, or smooth.

    Attributes
    ----------
    name : str
    metric : str, Context or CostMatrix
    task : Task
    group : array of n numbers, or None
    shares : pair of float, or None
        What the means of negatives and positives weigh, where each is taken by itself; 1 and 1 where both are needed.
    smooth : Smooth, optional
        A figure of two classes other than a mean over rows or the AUC. It is computed from the scores, or from the
        decisions as 0 and 1 at a threshold of .5.
    of_decisions : bool
        Whether the smooth figure is one of the four counts.
    """

    name: str
    metric: Any
    task: Task
    group: NDArray[np.intp] | None
    shares: tuple[float, float] | None = None
    smooth: Smooth | None = None
    of_decisions: bool = False

    @classmethod
    def of(cls, metric: Metric, task: Task, group: NDArray[np.intp] | None) -> "FoldFigure":
        """Check the metric.

        Raises
        ------
        InputError
            If its variance within a fold is not known.
        """
        two = task.positive is not None
        smooth = metric if isinstance(metric, Smooth) and two else None
        name = metric.name if isinstance(metric, Smooth) else measure_of(metric, several_classes=not two).name
        metric = name if isinstance(metric, str) else metric
        area, of_decisions = metric == "auc" and two, False
        plain = area or metric in _MEANS
        if two and not plain and isinstance(metric, str) and (figure := known(metric)):
            of_decisions = figure.needs == "cells"
            smooth = at(0.5, figure.name) if of_decisions else figure.smooth() if figure.smooth else None
        if not (area or smooth or metric in _MEANS or isinstance(metric, Context | CostMatrix)):
            listed = [*(["auc", "average precision", "f1"] if two else []), *_MEANS]
            hint = "an interval needs the variance within a fold: of a mean over rows, or, of two classes, of a figure "
            hint += "that has an influence function"
            raise InputError("metric", expected=f"{check.listing(listed)}, or costs", got=repr(metric), hint=hint)
        prior = metric.target_prevalence if isinstance(metric, Context) else None
        shares = (1.0, 1.0) if area or smooth else None if prior is None else (1 - prior, prior)
        return cls(name, metric, task, group, shares, smooth, of_decisions)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value that there can be."""
        if self.smooth is not None:
            return self.smooth.scale.low, self.smooth.scale.high
        return (0.0, 1.0) if self.metric in _SHARES else (-inf, inf)

    def require(self, rows: NDArray[np.intp], fold: int) -> None:
        """Raise unless a fold has two rows of a kind, or two groups, for a variance."""
        counted = rows if self.task.weight is None else rows[self.task.weight[rows] > 0]
        positive = self._positive(counted)
        kinds = [counted] if self.shares is None else [counted[positive], counted[~positive]]
        if min(map(len, kinds)) < 2 or (self.group is not None and np.unique(self.group[counted]).size < 2):
            expected = "two rows or more" + " of each class" * (self.shares is not None)
            expected += ", and two groups," * (self.group is not None) + " in each fold"
            raise InputError("cv", expected=expected, got=f"too few in fold {fold}", hint="take fewer folds")

    def seen(self, scored: Scored) -> Array:
        """Return the score, decision or loss of each evaluated row."""
        if self.metric == "auc" or (self.smooth is not None and not self.of_decisions):
            return scored.scores
        preds = judged(scored, self.task)
        if self.of_decisions:
            return _positive_decisions(cast(Predictions, preds), scored) * 1.0
        return _losses(preds, self.metric, scored)

    def value(self, rows: NDArray[np.intp], seen: Array) -> float:
        """Return one model's value in a fold, given its rows and their scores; NaN if a class is missing."""
        if self.smooth is not None:
            found = self.smooth.linearise(self._predictions(rows, [seen]).counts())
            return found.value - found.bias / rows.size  # which averages over folds do not take away
        if self.metric != "auc":
            return float(self._share(rows) @ seen)
        positive, weight = self._positive(rows), self._weight(rows)
        amount = np.ones(rows.size, np.int64) if weight is None else weight
        pairs = amount[positive].sum() * amount[~positive].sum()
        twice = placements(positive, seen, weight)[positive]
        return float(twice @ amount[positive] / (2 * pairs)) if pairs else nan

    def covariance(self, rows: NDArray[np.intp], seen: Sequence[Array]) -> Array:
        """Return the covariance of all models' values over the rows of a fold; NaN for a single row."""
        if self.smooth is not None:
            preds = self._predictions(rows, seen)
            return values_of_rows(preds, self.smooth, groups=None, folds=None, weights="sampling").covariance
        positive, weight, share = self._positive(rows), self._weight(rows), self._share(rows)
        amount = np.stack(seen, axis=1).astype(np.float64)
        if self.metric == "auc":
            pairs = int(positive.sum()) * int((~positive).sum())
            if weight is None and self.group is None and pairs <= _MOST_PAIRS:
                return unbiased_covariance(positive, seen)
            amount = np.stack([_placed(positive, column, weight) for column in amount.T], axis=1)
        moves, total = np.empty_like(amount), np.zeros((len(seen), len(seen)))
        for stratum in [np.ones(rows.size, bool)] if self.shares is None else [positive, ~positive]:
            own, count = share[stratum], int(stratum.sum())
            with np.errstate(divide="ignore", invalid="ignore"):  # where one row is all the weight
                part = (amount[stratum] - own @ amount[stratum] / own.sum()) * own[:, None]
                if weight is not None:
                    part *= ((1 - 1 / count) / (1 - own / own.sum()))[:, None]
                total += count / np.float64(count - 1) * part.T @ part
            moves[stratum] = part
        if self.group is None:
            return total
        code = np.unique(self.group[rows], return_inverse=True)[1]
        of_group = sum_by(code, moves, int(code.max()) + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return len(of_group) / np.float64(len(of_group) - 1) * of_group.T @ of_group

    def _predictions(self, rows: NDArray[np.intp], seen: Sequence[Array]) -> Predictions:
        """Return the rows of a fold with what each model gives them."""
        group = None if self.group is None else self.group[rows]
        scores = {str(number): score for number, score in enumerate(seen)}
        return Predictions(self._positive(rows), scores, sample_weight=self._weight(rows), groups=group)

    def _positive(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        place = self.task.positive
        if place is None:
            return np.zeros(rows.size, bool)
        return np.asarray(self.task.labels[rows] == self.task.classes[place])

    def _weight(self, rows: NDArray[np.intp]) -> Array | None:
        return None if self.task.weight is None else self.task.weight[rows]

    def _share(self, rows: NDArray[np.intp]) -> Array:
        """Return the weight of each row in the value, or in that of its class."""
        weight = np.ones(rows.size) if self.task.weight is None else self.task.weight[rows].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.shares is None:
                return weight / weight.sum()
            positive = self._positive(rows)
            negatives, positives = self.shares
            if not 0 < positive.sum() < rows.size:
                return np.full(rows.size, np.nan)
            of_class = np.where(positive, positives / weight[positive].sum(), negatives / weight[~positive].sum())
            return weight * of_class


def _losses(preds: Judged, metric: Any, scored: Scored) -> Array:
    """Return each row's contribution to a metric that is a mean over rows."""
    if isinstance(preds, MulticlassPredictions):
        return _of_classes(preds, metric)
    (score,) = preds.scores.values()
    if metric in ("brier", "log_loss"):
        preds.counts().require_probabilities(f"scores of {scored.model!r}")
        chance = np.where(preds.y_true, score, 1.0 - score)
        with np.errstate(divide="ignore"):
            return (1 - chance) ** 2 if metric == "brier" else -np.log(chance)
    positive = _positive_decisions(preds, scored)
    if isinstance(metric, Context):
        cost = {cell: float(each) for cell, each in metric.costs.items()}
        of_positive, of_negative = (np.where(positive, cost[a], cost[b]) for a, b in (("tp", "fn"), ("fp", "tn")))
        return np.where(preds.y_true, of_positive, of_negative)
    return np.asarray((positive == preds.y_true) == (metric == "accuracy"), np.float64)


def _positive_decisions(preds: Predictions, scored: Scored) -> Array:
    """Return which rows a model calls positive: by its own decisions, or at its usual threshold."""
    cut = 0.0 if scored.response == "decision_function" else 0.5
    (score,) = preds.scores.values()
    return np.asarray(next(iter(preds.decisions.values()), score >= cut))


def _of_classes(preds: MulticlassPredictions, metric: Any) -> Array:
    if metric in ("brier", "log_loss"):
        chance = preds.probabilities()
        own = np.take_along_axis(chance, preds.y_true[:, None], axis=1)[:, 0]
        with np.errstate(divide="ignore"):
            return np.einsum("ij,ij->i", chance, chance) - 2 * own + 1 if metric == "brier" else -np.log(own)
    said = preds.predicted()
    if isinstance(metric, CostMatrix):
        metric.require_classes(preds.classes)
        return metric.of_rows(preds.y_true, said)
    return np.asarray((said == preds.y_true) == (metric == "accuracy"), np.float64)


def _placed(positive: NDArray[np.bool_], score: Array, weight: Array | None) -> Array:
    """Return the share of the other class that each row is ranked correctly against; NaN if there is none."""
    amount = np.ones(score.size) if weight is None else weight
    n_pos, n_neg = amount[positive].sum(), amount[~positive].sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return placements(positive, score, weight) / np.where(positive, 2.0 * n_neg, 2.0 * n_pos)


def unbiased_covariance(positive: NDArray[np.bool_], scores: Sequence[Array]) -> Array:
    """Return the unbiased covariance of areas, from all pairs of a positive and a negative.

    DeLong's counts how single pairs vary twice, which in a fold of six positives and six negatives is 8 % too much.
    """
    classes = [(score[positive][:, None], score[~positive]) for score in scores]
    right = np.stack([(high > low) + 0.5 * (high == low) for high, low in classes])
    m, p, n = right.shape
    if min(p, n) < 2:
        return np.full((m, m), np.nan)
    area, of_pos, of_neg, of_pair = right.mean(axis=(1, 2)), right.sum(axis=2), right.sum(axis=1), right.reshape(m, -1)
    total = of_pair.sum(axis=1)
    apart = np.outer(total, total) - of_pos @ of_pos.T - of_neg @ of_neg.T + of_pair @ of_pair.T
    return np.outer(area, area) - apart / (p * (p - 1.0) * n * (n - 1.0))


_MANY = 1000  # fits of each model, from which on it is said that fewer would do: a choice
_ROUNDING = 1e-24  # of a squared value: what rounding to 12 digits leaves of a variance of 0


@contract
def nested_cross_validation(
    models: Any,
    X: Any,
    y: Any,
    *,
    metric: Metric = "auc",
    cv: Any = 5,
    repeats: int = 10,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    response: Response = "auto",
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: PValueAdjust = "holm",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> Comparisons:
    """Estimate performance on unseen rows, and differences, with intervals that are valid after cross-validation.

    Folds share training rows, which the interval of pooled scores does not count. Nested cross-validation measures it:
    fits without two folds say how far the mean over folds strays from what it is an estimate of.

    Each model is fitted repeats · K(K + 1)/2 times, 150 times unless told otherwise; ten folds and ten repeats are 550.
    The progress bar has the number from the start.

    Parameters
    ----------
    models, X, y, groups, sample_weight, pos_label, response, n_jobs, random_state, progress : see `evaluate`
    metric : str, Smooth, Context or CostMatrix
        Of two classes any figure that has an influence function, such as "auc", "average precision", "f1" or "recall",
        or one of `rocscope.inference.statistics`, such as ``net_benefit_at(.2)``; "accuracy", "error", "brier",
        "log_loss", or the expected cost, of two classes or more.
    cv : int, protocol or splitter
        Three folds or more that test each row once, by models fitted to all others.
    repeats : int
        How often folds are drawn anew; the more, the steadier the width. More folds need more of them: below two for
        each fold the result says so.
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        Its `estimates` are of each model fitted to all rows; the pairs are paired differences, second − first.

    Raises
    ------
    InputError
        If the folds are not of that kind, or one has fewer than two rows (groups) of a class that the metric needs.
    ModelError
        See `evaluate`.

    Warns
    -----
    RocscopeWarning
        Before more than 1,000 fits of a model. If models fail: they are left out.

    Notes
    -----
    For folds k and j of K let e(k) be the value in fold k of a fit to all other folds, and e(k, j) that in fold j of a
    fit to all but k and j. Over all folds and repeats

    - a = mean of (mean over j of e(k, j) − e(k))², b = mean of the variance of e(k) by the rows of the fold;
    - the standard error is √(b/K), what rows alone would make of it, times an inflation of
      √(max(0, a − b)·(K − 1)/b) kept from 1 to √K;
    - value = mean e(k) − ((K − 2)/K)^1.5 · (mean e(k, j) − mean e(k)), as if fitted to all rows.

    The same is done for each difference. Values are means over folds; the variance in a fold is that of a mean,
    DeLong's of an area without its bias, or that of the influences of rows; by sums within groups where there are
    groups. A weight makes a row count for more, and is no number of rows. That models were preferred after looking is
    not allowed for.

    How often the intervals cover: docs/guide/evaluation/evaluation.md.

    References
    ----------
    Bates, Hastie & Tibshirani 2023, J. Am. Stat. Assoc. 119:1434–1445, algorithm 1 and appendix.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    >>> found = nested_cross_validation(GaussianNB(), X + y[:, None], y, metric="accuracy")
    >>> found.estimates["GaussianNB"]
    Estimate(0.7158, 95 % interval 0.6012 to 0.8305, nested 5-fold cross-validation, stratified, 10 repeats, inflation
    1, n=60)
    """
    check.check_choice("adjust", adjust, ADJUSTMENTS)
    hypothesis = Hypothesis(alternative, test, margin, level)
    task = task_of(X, y, pos_label, sample_weight, response, check.seed_of(random_state))
    experiment = Fitting.of(models, task, groups, n_jobs, progress)
    task, group = experiment.task, experiment.sample.groups
    figure = FoldFigure.of(metric, task, group)
    outer, title = experiment.splits(cv, repeats)
    runs = _repeats(outer, title)
    for split in outer:
        figure.require(split.test, split.fold)
    splits = numbered(
        [(run, TrainTest(s.train, s.test)) for run, folds in enumerate(runs) for s in folds]
        + [(run, pair) for run, folds in enumerate(runs) for pair in _pairs(folds)],
        experiment.sample,
    )
    if len(splits) > _MANY:
        warn(f"{len(splits):,} fits of each model; fewer repeats or folds need fewer, n_jobs has them side by side")
    what = f"nested cross-validation, {len(splits):,} fits a model"
    scored, _, kept = without_failures(experiment.run(splits, what), experiment.models)
    values = _values(figure, runs, {(each.model, each.split.fold): each for each in scored}, kept)
    method = f"nested {title}" + f", {len(runs)} repeats" * (len(runs) > 1)
    n = task.labels.size
    own = np.eye(len(kept))
    estimates = {name: interval(values, own[i], hypothesis, n, method, figure.ends) for i, name in enumerate(kept)}
    covariance = np.diag([each.standard_error**2 for each in estimates.values()])

    def compare(i: int, j: int) -> Comparison:
        difference = interval(values, own[j] - own[i], hypothesis, n, f"{method}, paired")
        shared = (covariance[i, i] + covariance[j, j] - difference.standard_error**2) / 2
        covariance[i, j] = covariance[j, i] = shared
        return hypothesis.compare(kept[i], kept[j], difference, method=difference.method)

    return compare_each_two(figure.name, estimates, covariance, compare, adjust)


def _repeats(splits: Sequence[Split], title: str) -> list[list[Split]]:
    """Return the folds of each repeat, which must partition its rows."""
    runs = [[s for s in splits if s.repeat == repeat] for repeat in range(splits[-1].repeat + 1)]
    for run in runs:
        tested = np.sort(np.concatenate([split.test for split in run]))
        whole = np.array_equal(tested, np.arange(tested.size)) if tested.size else False
        if (
            not 3 <= len(run) == len(runs[0])
            or not whole
            or any(s.train.size + s.test.size != tested.size for s in run)
        ):
            expected = "three folds or more that test each row once, by models fitted to all others"
            raise InputError("cv", expected=expected, got=title, hint="such as cv=10, or StratifiedKFold(5)")
    return runs


def _pairs(folds: Sequence[Split]) -> list[TrainTest]:
    """Return the splits that leave two folds out and test both."""
    fold = np.empty(sum(split.test.size for split in folds), np.intp)
    for number, split in enumerate(folds):
        fold[split.test] = number
    return [
        TrainTest(folds[k].train[fold[folds[k].train] != j], np.concatenate([folds[k].test, folds[j].test]))
        for k, j in combinations(range(len(folds)), 2)
    ]


@dataclass(frozen=True)
class Nested:
    """Values by repeat and fold.

    Attributes
    ----------
    outer : array of repeats × folds × models
        Values of fits without the fold.
    inner : array of the same shape
        Mean over the other folds of values there of fits without both.
    covariance : array of repeats × folds × models × models
        Of the outer values, by the rows of the fold.
    """

    outer: Array
    inner: Array
    covariance: Array


def _values(
    figure: FoldFigure, runs: Sequence[Sequence[Split]], scored: dict[tuple[str, int], Scored], models: Sequence[str]
) -> Nested:
    number = sum(len(folds) for folds in runs)
    own, place, found = 0, number, []
    for folds in runs:
        k, m = len(folds), len(models)
        outer, covariance = np.empty((k, m)), np.empty((k, m, m))
        across = np.full((k, k, m), nan)
        for fold, split in enumerate(folds):
            seen = [figure.seen(scored[name, own]) for name in models]
            outer[fold] = [figure.value(split.test, each) for each in seen]
            covariance[fold] = figure.covariance(split.test, seen)
            own += 1
        for pair in combinations(range(k), 2):
            parts = np.split(np.arange(sum(folds[each].test.size for each in pair)), [folds[pair[0]].test.size])
            for column, name in enumerate(models):
                seen_by_both = figure.seen(scored[name, place])
                for left, tested, part in zip(pair[::-1], pair, parts, strict=True):
                    across[left, tested, column] = figure.value(folds[tested].test, seen_by_both[part])
            place += 1
        found.append((outer, np.nanmean(across, axis=1), covariance))
    return Nested(*(np.stack(columns) for columns in zip(*found, strict=True)))


def interval(
    values: Nested,
    contrast: Array,
    hypothesis: Hypothesis,
    n: int,
    method: str,
    ends: tuple[float, float] = (-inf, inf),
) -> Estimate:
    """Return the value of a contrast of models with its interval, between the ends of what there can be."""
    folds = values.outer.shape[1]
    outer, inner = values.outer @ contrast, values.inner @ contrast
    rows = float((values.covariance @ contrast @ contrast).mean())
    if not (np.isfinite(outer).all() and np.isfinite(inner).all()):
        reason = "undefined in a fold, or infinite: a probability of 0 was given to what happened"
        return Estimate(float(outer.mean()), nan, nan, hypothesis.level, method, n, nan, reason)
    value = float(outer.mean() - (inner.mean() - outer.mean()) * ((folds - 2) / folds) ** 1.5)
    if not rows > _ROUNDING * value**2:
        reason = "nothing varies within folds" if value else ""
        return Estimate(value, value, value, hypothesis.level, method, n, 0.0, reason)
    excess = float(((inner - outer) ** 2).mean()) - rows
    inflation = min(max(sqrt(max(excess, 0.0) * (folds - 1) / rows), 1.0), sqrt(folds))
    found = hypothesis.wald(value, inflation * sqrt(rows / folds), n, f"{method}, inflation {inflation:.3g}")
    low, high = ends
    few = len(values.outer) < 2 * folds
    reason = f"fewer than {2 * folds} repeats of {folds} folds leave the width unsteady" if few else ""
    return replace(
        found, reason=reason, value=min(max(value, low), high), low=max(found.low, low), high=min(found.high, high)
    )
