"""Is B better than A: the differences of several models, paired or not, with their tests."""

from collections.abc import Callable, Mapping
from itertools import combinations
from math import inf, sqrt
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, PairingError, warn
from rocscope.inference.auc import estimate, newcombe
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import Alternative, Hypothesis
from rocscope.inference.intervals import mover_difference
from rocscope.inference.multiplicity import CORRECTIONS, Correction, with_adjusted
from rocscope.inference.placements import AucSample, OverFolds, WeightKind, auc_sample, sample_of_rows
from rocscope.inference.resampling.differences import differences
from rocscope.sample import Models, Samples, samples_of

_ROUNDING = 1e-14  # a variance of a difference below this share is what rounding leaves of 0


def compare(
    predictions: Models,
    *,
    paired: bool | None = None,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    level: float = 0.95,
    correction: Correction = "holm",
    groups: Any = None,
    folds: OverFolds | None = None,
    weights: WeightKind = "auto",
    statistic: Callable[[ThresholdCounts], Any] | None = None,
    **bootstrap: Any,
) -> Comparisons:
    """Differences of the AUC, or of any statistic, between models: second − first, with intervals and tests.

    Parameters
    ----------
    predictions : Predictions, or data of each model by name
        In any form; see `rocscope.sample`. Predictions hold models of the same rows: the comparison is paired. A
        mapping holds a sample a model: it is unpaired, unless `paired` says that the rows are the same.
    paired : bool, optional
        For a mapping of Predictions of the same rows in the same order.
    alternative : {"two-sided", "greater", "less", "superior", "noninferior"}
        What is to be shown of second − first: that it is not 0, above 0, below 0, above `margin`, or above −`margin`.
    margin : float
        For the last two alternatives.
    level : float
        Confidence level of all intervals, which are two-sided whatever the alternative.
    correction : {"holm", "bh", "none"}
        How adjusted p-values allow for the number of pairs.
    groups : array of n labels, or mapping from name to one, optional
        The patient or customer that a row belongs to. By default the groups of the Predictions; False takes every row
        as independent.
    folds, weights : see `auc_interval`
    statistic : function of one ThresholdCounts, optional
        What to compare in place of the AUC, such as ``lambda c: roc(c).partial_auc(max_fpr=0.1)``; by the bootstrap.
    **bootstrap
        Options of `rocscope.bootstrap`: replicates, method, stratified, random_state, threads, progress.

    Returns
    -------
    Comparisons

    Raises
    ------
    PairingError
        If rows that should be the same differ in number, label, weight, fold or group; if counts, which have no
        rows, are to be paired; or if a group is in both arms of an unpaired comparison.
    InputError
        If there are fewer than two models, or a level, margin or alternative means nothing.

    Warns
    -----
    RocscopeWarning
        Where the variance of a difference is 0 or undefined: the interval is then put together from Newcombe's
        intervals of both areas (MOVER), as if they were independent.

    Notes
    -----
    Paired: z = (D − D₀)/√(V₁ + V₂ − 2C), with the covariance C of the two estimates (DeLong; Obuchowski for groups).
    Unpaired: t = (D − D₀)/√(V₁ + V₂) with Satterthwaite's degrees of freedom, (V₁ + V₂)²/(V₁²/(n₁−1) + V₂²/(n₂−1)).
    Intervals D ± z·se are cut at −1 and 1. With a statistic, se is the standard deviation of the replicates of D (as
    pROC tests a partial area), and the interval is that of their quantiles.

    The test asks whether areas differ; two curves of one area may cross: see `compare_curves`.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988; Obuchowski 1997; Zou & Donner 2008, Stat. Med. 27:1693–1702 (MOVER).

    Examples
    --------
    >>> y = [1, 1, 0, 1, 0, 1, 0, 0]
    >>> preds = Predictions(y, {"a": [8, 7, 6, 5, 4, 3, 2, 1], "b": [8, 4, 3, 7, 2, 6, 5, 1]})
    >>> compare(preds)["a", "b"]
    Comparison(b − a: 0.125, 95 % interval -0.3223 to 0.5723, p=0.584, two-sided, DeLong, paired)
    """
    hypothesis = Hypothesis(alternative, margin, level)
    check.check_choice("correction", correction, CORRECTIONS)
    arms, groups = _arms(predictions, paired, groups)
    if statistic is not None:
        if folds == "mean":
            raise InputError("folds='mean'", expected="none with a statistic of your own")
        return differences(arms, statistic, hypothesis, correction, groups=groups, weights=weights, **bootstrap)
    if bootstrap:
        raise InputError("options of the bootstrap", expected="a statistic with them", got=", ".join(bootstrap))
    samples = _samples(arms, groups, folds, weights)
    if isinstance(samples, AucSample):
        names = samples.models
        pairs = [_paired(samples, i, j, hypothesis) for i, j in combinations(range(len(names)), 2)]
        estimates = {name: estimate(samples, i, "logit", level) for i, name in enumerate(names)}
        covariance = samples.covariance
    else:
        names = tuple(samples)
        pairs = [_unpaired(a, samples[a], b, samples[b], hypothesis) for a, b in combinations(names, 2)]
        estimates = {name: estimate(sample, 0, "logit", level) for name, sample in samples.items()}
        covariance = np.diag([sample.covariance[0, 0] for sample in samples.values()])
    return Comparisons("AUC", estimates, covariance, with_adjusted(pairs, correction), correction)


def _arms(predictions: Models, paired: bool | None, groups: Any) -> tuple[Samples, Any]:
    """Return the arms, with their rows where they are paired; and the groups of either."""
    arms = samples_of(predictions, name="predictions")
    if arms.rows is not None and paired is False:
        hint = "pass a mapping from name to Predictions to treat them as two samples"
        raise PairingError("models of the same rows", expected="a paired comparison", got="paired=False", hint=hint)
    if len(arms) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(arms)}")
    if arms.rows is not None:
        return arms, groups
    return join_rows(arms, groups) if paired else (arms, _groups_of_arms(arms, groups))


def _samples(
    arms: Samples, groups: Any, folds: OverFolds | None, weights: WeightKind
) -> AucSample | dict[str, AucSample]:
    if arms.rows is not None:
        return sample_of_rows(arms.rows, groups=groups, folds=folds, weights=weights)
    return {name: auc_sample(arm, groups=groups.get(name), folds=folds, weights=weights) for name, arm in arms.items()}


def join_rows(arms: Samples, groups: Any = None) -> tuple[Samples, Any]:
    """Return models that come with their own rows as models of the same ones, once all rows prove the same."""
    rows = {name: arm.require_rows(f"a paired comparison with {name!r}", PairingError) for name, arm in arms.items()}
    groups = _by_arm(arms, groups)
    first_name, *others = rows
    first = rows[first_name]
    for name in others:
        data = rows[name]
        for what, ours, theirs in (
            ("label", first.y_true, data.y_true),
            ("weight", first.sample_weight, data.sample_weight),
            ("fold", first.fold, data.fold),
            ("row", first.row, data.row),
            ("group", groups[first_name], groups[name]),
        ):
            _require_same(what, ours, theirs, f"{first_name!r} and {name!r}")
    scores = {name: data.scores[data.models[0]] for name, data in rows.items()}
    joined = Predictions(first.y_true, scores, **first.row_columns())
    return samples_of(joined), groups[first_name]


def _require_same(what: str, ours: Any, theirs: Any, arms: str) -> None:
    if ours is None and theirs is None:
        return
    if ours is None or theirs is None:
        raise PairingError(f"{arms} are not paired", expected=f"a {what} in both or in neither", got="in one only")
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.size != theirs.size:
        raise PairingError(f"{arms} are not paired", expected="equally many rows", got=f"{ours.size} and {theirs.size}")
    if (ours != theirs).any():
        row = int((ours != theirs).argmax())
        hint = "bring the rows into one order first"
        raise PairingError(
            f"{arms} are not paired", expected=f"the same {what}s", got=f"others in row {row}", hint=hint
        )


def _by_arm(arms: Samples, groups: Any) -> dict[str, Any]:
    """Return the groups of each arm: those given, or those of its rows."""
    given = check.by_name(groups, arms)
    own = {name: None if arm.rows is None else arm.rows.groups for name, arm in arms.items()}
    return {name: own[name] if given.get(name) is None else given[name] for name in arms}


def _groups_of_arms(arms: Samples, groups: Any) -> Mapping[str, Any]:
    if not (groups is None or groups is False or isinstance(groups, Mapping)):
        raise InputError("groups", expected="a mapping from the name of each arm to its groups")
    of_arm = {name: each for name, each in _by_arm(arms, groups).items() if each is not None}
    for first, second in combinations([name for name, each in of_arm.items() if each is not False], 2):
        shared = np.intersect1d(of_arm[first], of_arm[second])
        if shared.size:
            raise PairingError(
                "an unpaired comparison",
                expected="each group in one arm only",
                got=f"{shared.size} in both, such as {shared.tolist()[0]!r}",
                hint="such arms are not independent; keep each group in one of them",
            )
    return of_arm


def _paired(sample: AucSample, i: int, j: int, hypothesis: Hypothesis) -> Comparison:
    variances = sample.covariance[i, i] + sample.covariance[j, j]
    variance = variances - 2 * sample.covariance[i, j]
    if variance <= _ROUNDING * variances:
        variance = 0.0
    method = ", ".join(part for part in ("DeLong, paired", sample.note) if part)
    value = float(sample.auc[j] - sample.auc[i])
    if variance > 0:
        difference = hypothesis.wald(value, sqrt(variance), sample.n, method, bound=1)
    else:
        difference = _mover(sample, i, sample, j, hypothesis.level)
    return hypothesis.compare(sample.models[i], sample.models[j], difference, method=method)


def _unpaired(first: str, a: AucSample, second: str, b: AucSample, hypothesis: Hypothesis) -> Comparison:
    method = ", ".join(part for part in ("DeLong, unpaired", a.note) if part)
    variances = [float(sample.covariance[0, 0]) for sample in (a, b)]
    variance = sum(variances)
    value, df = float(b.auc[0] - a.auc[0]), inf
    if variance > 0:
        sizes = [sample.n_pos + sample.n_neg for sample in (a, b)]
        df = variance**2 / sum(v**2 / (n - 1) for v, n in zip(variances, sizes, strict=True))
        difference = hypothesis.wald(value, sqrt(variance), a.n + b.n, method, df=df, bound=1)
    else:
        difference = _mover(a, 0, b, 0, hypothesis.level)
    return hypothesis.compare(first, second, difference, df=df, method=method)


def _mover(a: AucSample, i: int, b: AucSample, j: int, level: float) -> Estimate:
    """Return the difference with an interval from Newcombe's two, for want of a variance; it can only be too wide."""
    warn(
        f"the variance of the difference of {a.models[i]!r} and {b.models[j]!r} is 0 or undefined; its interval is "
        "put together from Newcombe's intervals of both"
    )
    first, second = (
        Estimate(area, *newcombe(area, sample.n_pos, sample.n_neg, level), level, "Newcombe", sample.n)
        for area, sample in ((float(a.auc[i]), a), (float(b.auc[j]), b))
    )
    return mover_difference(first, second, "Newcombe's intervals of both areas (MOVER)", a.n if a is b else a.n + b.n)
