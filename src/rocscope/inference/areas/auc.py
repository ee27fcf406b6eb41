"""auc_interval: the AUC with a confidence interval.

Whether the scores of folds are on one scale, so that pooling them means what one takes it to mean.
"""

from math import log, nan, sqrt
from typing import Any, Literal

from scipy import optimize, special

from rocscope._base import validation as check
from rocscope._base.contract import answering
from rocscope._base.formatting import about
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference.areas.placements import AucSample, EffectiveSize, auc_sample, sample_of_rows
from rocscope.inference.estimate import Estimate
from rocscope.inference.influence.units import OverFolds, WeightKind
from rocscope.inference.proportions import logit, normal_quantile, wald
from rocscope.inference.reliability import FEW_FOR_LIMIT, FEW_RESAMPLED, few
from rocscope.sample import sample_of


def warn_where_folds_differ(predictions: Predictions | None, pooled: AucSample, folds: OverFolds | None) -> None:
    """Warn if the area over pooled folds differs from the mean within folds by more than its standard error.

    Notes
    -----
    With folds on one scale both estimate the same area, from the same rows, and differ by much less.
    """
    if folds == "mean" or predictions is None or predictions.fold is None:
        return
    try:
        within = sample_of_rows(predictions.select(models=list(pooled.models)), folds="mean")
    except OneClassError:  # a fold without an area of its own has nothing to say here
        return
    for index, model in enumerate(pooled.models):
        size = pooled.size(index)
        if abs(pooled.auc[index] - within.auc[index]) > sqrt(size.variance or 1 / size.trials):
            warn(
                f"the AUC of {model!r} is {pooled.auc[index]:.4g} over pooled folds and {within.auc[index]:.4g} within "
                "them: their scores are on different scales, and pooling compares rows across them; use folds='mean'"
            )


Method = Literal["auto", "logit", "delong", "newcombe", "sure"]

METHODS = ("auto", "logit", "delong", "newcombe", "sure")
_NAMES = {"logit": "DeLong on the logit scale", "delong": "DeLong", "newcombe": "Newcombe's score interval"}
# Of the width of "auto", by which an interval by name may end short of it. By simulation of 13 designs: with a
# twentieth, nine in ten intervals of DeLong are flagged that cover 93 to 95 %; with a seventh, some that cover 90 %.
_MOST_SHORT = 0.1
_NEXT_TO_A_ROOT = 1e-12  # an area of 0 or 1 solves its own equation; the end of the interval is the other root


@answering
def auc_interval(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    method: Method = "auto",
    level: float = 0.95,
    groups: Any = None,
    folds: OverFolds | None = None,
    weights: WeightKind = "auto",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Estimate:
    """Estimate the area under the ROC curve with a confidence interval.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    method : {"auto", "logit", "delong", "newcombe", "sure"}
        "auto" is Wilson's interval for as many trials as the rows are worth, which holds in small samples and is
        DeLong's on the logit scale, but for 1 %, where they are not. By name: DeLong's variance on the logit scale;
        the same on the plain scale (AUC ± z·se, clipped to 0 and 1, as pROC); Newcombe's score interval, which needs no
        variance. Where one of these is not to be trusted, the result says so. "sure" covers whatever the scores are
        distributed like, in samples of any size, and is wide: for independent rows only.
    level : float
        Confidence level.
    groups : array of n labels, optional
        The patient or customer that a row belongs to; rows of one group are not taken as independent. By default the
        groups of the Predictions; False takes every row as independent.
    folds : {"pooled", "mean"}, optional
        One AUC over all rows (the default), or the mean of the AUCs within the folds of the Predictions.
    weights : {"auto", "frequency", "sampling"}
        What `sample_weight` means: "frequency" is so many equal rows, "sampling" one row that stands for so many of a
        population. The AUC is the same, its interval is not. "auto" means "sampling", except for weights of 0 and 1 and
        for a table of counts: whole weights, no two rows alike, most scores with both labels. With `groups` there is no
        difference.

    Returns
    -------
    Estimate
        With `reliable` and, where it is not, the `reason`.

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; also for a level outside (0, 1), and for weights, groups or folds with
        ``method="sure"``.
    OneClassError
        If a class is missing, in the data or in a fold whose AUC is asked for.

    Warns
    -----
    RocscopeWarning
        Where the variance is 0 or undefined (an AUC of 0 or 1, one positive, all scores tied). Where folds are pooled
        whose scores are on scales so different that the area of all rows is another one than that within the folds.

    Notes
    -----
    Variance: V = S₁₀/P + S₀₁/N, the variances of the placements within each class (DeLong); for groups with the
    covariance of the two classes within a group (Obuchowski); for the mean over K folds ΣVₖ/K², with the variances of
    all folds' placements about their own area taken together. Ties count one half. O(n log n).

    "auto": see `rocscope.inference.areas.placements`. Where "logit" or "delong" have no variance (an AUC of 0 or 1,
    one positive, all scores tied) its interval takes their place, and the method says so.

    Newcombe's interval solves (A − θ)² = z²·V(θ), where V(θ) = θ(1−θ)(1 + h·((1−θ)/(2−θ) + θ/(1+θ)))/(P·N) and
    h = (P + N)/2 − 1.

    "sure" holds all θ with M·(A·log(A/θ) + (1 − A)·log((1 − A)/(1 − θ))) ≤ log(2/(1 − level)), M = min(P, N): an AUC
    is a mean over pairs that share no row (Hoeffding), so that Chernoff's bound holds for it.

    How often intervals cover, by simulation of 60 designs with areas of 0.6 to 0.99, 5 to 200 positives, 20 to 10,000
    negatives, positives half to twice as spread, skewed, tied, weighted, grouped and in folds, stands in
    docs/guide/intervals.md. "auto" covers at least 93 % of the time or says that it is not reliable; beyond 98 % with
    fewer than 10 positives or areas from 0.95. "logit" covers as rarely as 61 %, "delong" 53 %, "newcombe" 84 %.

    Of cross-validated scores the interval does not count the training rows that folds share, and says so; see
    `rocscope.evaluation.nested_cross_validation`. Not valid for a model that was trained on the same rows, nor
    after choosing the best of many models on them.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837–845; Sun & Xu 2014, IEEE Signal Process. Lett. 21 (ranks);
    Obuchowski 1997, Biometrics 53:567–578; Newcombe 2006, Stat. Med. 25:559–573, method 5; Perme & Manevski 2019, Stat.
    Methods Med. Res. 28 (logit scale); Hoeffding 1963, J. Am. Stat. Assoc. 58:13–30, §5b (two-sample U-statistics).

    Examples
    --------
    Four positives and four negatives, of whose 16 pairs 13 are ranked right:

    >>> y, score = [1, 1, 0, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> auc_interval(y, score)
    Estimate(0.8125, 95 % interval 0.3481 to 0.9723, Wilson for 5.42 trials, t with 9 df, n=8; not reliable: fewer than
    5 rows of a class (4))
    >>> auc_interval(y, score, method="delong").low
    0.4807...
    """
    level = check.check_level(level)
    check.check_choice("method", method, METHODS)
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = auc_sample(data, groups=groups, folds=folds, weights=weights)
    warn_where_folds_differ(data.rows, sample, folds)
    return estimate(sample, 0, method, level)


def estimate(sample: AucSample, index: int, method: Method, level: float) -> Estimate:
    """Return the AUC of one model of a sample with its interval."""
    auc, size = float(sample.auc[index]), sample.size(index)
    variance = float(sample.covariance[index, index])
    if auc in (0, 1) and variance > 0:
        variance = 0.0  # but for rounding
    if not variance > 0 and method not in ("newcombe", "sure"):
        warn(
            f"AUC {auc:g} from {sample.n_pos:g} positives and {sample.n_neg:g} negatives: the DeLong variance is "
            f"{'0' if variance == 0 else 'undefined'}; the interval rests on the numbers of rows alone"
        )
    error = sqrt(variance) if variance > 0 else nan
    if method == "sure":
        ends, name = _sure(auc, _pairs(sample), level), f"Chernoff–Hoeffding for {_pairs(sample):g} pairs"
    elif method == "newcombe":
        ends, error, name = newcombe(auc, sample.n_pos, sample.n_neg, level), nan, _NAMES[method]
    elif method == "auto" or not variance > 0:
        ends = size.interval(level)
        name = f"Wilson for {about(size.trials)} trials, t with {size.df:.0f} df"
        error = sqrt(size.variance) if method == "auto" else nan
        if method != "auto":
            name += f" ({_NAMES[method]}: no variance)"
    else:
        ends = (wald if method == "delong" else logit)(auc, error, level)
        name = _NAMES[method]
    name = ", ".join(part for part in (name, sample.note) if part)
    return Estimate(auc, *ends, level, name, sample.n, error, _doubt(method, sample.note, size, ends, level))


def _doubt(method: Method, note: str, size: EffectiveSize, ends: tuple[float, float], level: float) -> str:
    """Return why an interval is not reliable; empty if it is."""
    if method == "sure":
        return ""
    if size.reason or method == "auto":
        return size.reason
    few_groups = "" if size.groups is None else few(size.groups, FEW_FOR_LIMIT, "groups of equal size")
    doubt = few_groups or few(size.smallest, FEW_RESAMPLED, f"{size.units} of a class") or short_of(size, ends, level)
    if method == "newcombe" and note and not doubt:
        return "Newcombe's interval takes rows for independent and equal; method='auto' does not"
    return doubt


def short_of(size: EffectiveSize, ends: tuple[float, float], level: float) -> str:
    """Return that an interval of an area ends short of that of its effective size; empty if it does not."""
    low, high = size.interval(level)
    if max(ends[0] - low, high - ends[1]) <= _MOST_SHORT * (high - low):
        return ""
    return f"ends short of the interval of auc_interval(method='auto'), {low:.4g} to {high:.4g}"


def _pairs(sample: AucSample) -> float:
    """Return how many pairs of a positive and a negative share no row."""
    if sample.note or len(sample.strata) == 1:
        hint = "method='auto' allows for weights, groups and folds"
        raise InputError("method='sure'", expected="independent rows", got=sample.note, hint=hint)
    return min(sample.n_pos, sample.n_neg)


def _sure(auc: float, pairs: float, level: float) -> tuple[float, float]:
    """Return all areas that Chernoff's bound for so many independent pairs does not reject.

    Examples
    --------
    >>> low, high = _sure(0.95, 15, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.6633, 0.9999)
    """
    most = log(2 / (1 - level)) / pairs

    def excess(theta: float) -> float:
        return float(special.rel_entr(auc, theta) + special.rel_entr(1 - auc, 1 - theta)) - most

    solve: Any = optimize.brentq
    tiny = 1e-15
    low = solve(excess, tiny, auc) if auc > tiny and excess(tiny) > 0 else 0.0
    high = solve(excess, auc, 1 - tiny) if auc < 1 - tiny and excess(1 - tiny) > 0 else 1.0
    return low, high


def newcombe_variance(theta: float, n_pos: float, n_neg: float) -> float:
    """Return the variance of an area for exponential scores (Hanley & McNeil), with classes of equal size."""
    half = (n_pos + n_neg) / 2 - 1
    spread = 1 + half * ((1 - theta) / (2 - theta) + theta / (1 + theta))
    return theta * (1 - theta) * spread / (n_pos * n_neg)


def newcombe(auc: float, n_pos: float, n_neg: float, level: float) -> tuple[float, float]:
    """Return Newcombe's interval (method 5): all areas that are not rejected given the observed one.

    Examples
    --------
    >>> newcombe(1.0, 10, 20, 0.95)
    (0.848..., 1.0)
    """
    z_squared = normal_quantile(level) ** 2

    def excess(theta: float) -> float:
        return (auc - theta) ** 2 - z_squared * newcombe_variance(theta, n_pos, n_neg)

    solve: Any = optimize.brentq
    low = 0.0 if auc == 0 else solve(excess, 0.0, min(auc, 1 - _NEXT_TO_A_ROOT), xtol=1e-14)
    high = 1.0 if auc == 1 else solve(excess, max(auc, _NEXT_TO_A_ROOT), 1.0, xtol=1e-14)
    return low, high
