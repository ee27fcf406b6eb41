"""nested_cross_validation: performance of models with intervals that allow for shared training rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, nan, sqrt
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.errors import InputError, warn
from rocscope.evaluation.fitting import Fitting, Scored, without_failures
from rocscope.evaluation.folds.fold_values import FoldFigure
from rocscope.evaluation.measures import Metric
from rocscope.evaluation.scoring import Response
from rocscope.evaluation.task import task_of
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import ADJUSTMENTS, Alternative, Hypothesis, PValueAdjust, Test, compare_each_two
from rocscope.protocols.splits import Split, TrainTest, numbered

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
                for left, judged, part in zip(pair[::-1], pair, parts, strict=True):
                    across[left, judged, column] = figure.value(folds[judged].test, seen_by_both[part])
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
