"""Tests that compare models: by AUC or another statistic, with chance, or by their entire ROC curves.

`compare` tests differences in AUC, or in another statistic, between models on the same rows (paired) or on separate
samples (unpaired). `mann_whitney` tests whether the AUC of one model is 1/2. `compare_curves` tests by permutation
whether two ROC curves are equal at every point.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt
from typing import Any, Literal

import numpy as np

from rocscope._base import special, validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core import Predictions, ThresholdCounts, independent_units
from rocscope.core.predictions import require_kinds
from rocscope.errors import InputError, PairingError
from rocscope.figures.influence import Smooth
from rocscope.figures.registry import scorer_name, statistic_named
from rocscope.inference import areas, estimate as inference
from rocscope.inference.influence_estimates import compare_statistics
from rocscope.inference.resampling import differences, in_chunks
from rocscope.inference.variance import OverFolds
from rocscope.sample import Labels, Models, Samples, Scores, sample_of, samples_of, with_scores


@contract
def compare(
    predictions: Models | Labels,
    y_score: Scores | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    paired: bool | None = None,
    alternative: inference.Alternative = "two-sided",
    test: inference.Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: inference.Adjust = "holm",
    groups: Any = None,
    folds: OverFolds | None = None,
    method: str = "auto",
    statistic: str | Callable[[ThresholdCounts], Any] | None = None,
    **bootstrap: Any,
) -> inference.Comparisons:
    """Compare the AUC, or another statistic, between each pair of models, with intervals and tests.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of two or more models
        For models on the same rows (a paired comparison), pass labels as `predictions` and a mapping from model name to
        scores as `y_score`; or pass Predictions as `predictions`, and omit `y_score`. For separate samples (an unpaired
        comparison), pass a mapping from model name to the data of the model as `predictions`. `rocscope.sample`
        describes the data of one model.
    paired : bool, optional
        Pass True if a mapping contains Predictions of the same rows in the same order. By default, a mapping contains
        separate samples.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis about the difference second − first: not 0, above 0, or below 0.
    test : {"difference", "superiority", "noninferiority", "equivalence"}
        Kind of test. "difference" tests the `alternative`. "superiority" tests that second − first is above `margin`.
        "noninferiority" tests that it is above −`margin`. "equivalence" tests that it is within ±`margin`, by two
        one-sided tests.
    margin : float
        Margin of a test of superiority, non-inferiority or equivalence, in units of the statistic.
    level : float
        Confidence level of all intervals. Intervals are two-sided for every test. Equivalence is shown at a
        significance level of 5% if the interval with ``level=0.9`` lies within the margins.
    adjust : {"holm", "bh", "max-t", "none"}
        Method to adjust p-values for the number of pairs; see `adjust_p_values`. "max-t" uses the correlation between
        the differences.
    groups : array of n labels, mapping from model name to array, or False, optional
        Group of each row, such as the patient or customer. Rows of one group may be dependent. By default, the groups
        of the Predictions. Pass False to treat all rows as independent.
    folds : {"pooled", "mean"}, optional
        "pooled" (default) estimates one AUC from the rows of all folds. "mean" estimates the mean of the AUCs of the
        folds.
    method : {"auto", "delong"}
        For the AUC, "auto" is a test that is also valid in small samples, and "delong" is DeLong's test, as in pROC.
        For a bootstrapped statistic, the `method` of `rocscope.bootstrap`; see there.
    statistic : str, statistic or function of ThresholdCounts, optional
        Statistic to compare instead of the AUC: the name of a metric such as ``"brier"``, a statistic of
        `rocscope.inference.statistics` such as ``statistics.partial_area(max_fpr=0.1)``, or your own function of
        ThresholdCounts. If no closed-form variance is available, the statistic is bootstrapped.
    **bootstrap
        Options of `rocscope.bootstrap`: replicates, stratified, random_state, threads, progress.

    Returns
    -------
    Comparisons
        One Comparison for each pair of models. Select a pair by its index, such as ``[0]``, or by the names of the
        models, such as ``["a", "b"]``.

    Raises
    ------
    PairingError
        If the rows of a paired comparison differ in number, label, weight, fold or group; if a paired comparison is
        requested for counts, which contain no rows; or if both samples of an unpaired comparison contain the same
        group.
    InputError
        If there are fewer than two models, or if the level, the margin or the alternative is invalid.

    Warns
    -----
    RocscopeWarning
        If the scores of pooled folds have different scales; see `auc_interval`.

    See Also
    --------
    auc_interval, compare_costs, compare_folds

    Notes
    -----
    "auto" uses Welch's t test for the differences between the placements by the two models. The placement of a positive
    is the share of negatives that have a lower score. The placement of a negative is the share of positives that have a
    higher score. If few rows determine the variance of the placements, the interval is widened towards the MOVER
    interval. The MOVER interval combines the intervals of both AUCs with their correlation, which is 0 for unpaired
    samples. If the models rank few rows differently, one row in favour of each model is added, because other samples
    may contain more such rows. The statistic is the normal quantile of the p-value. A difference is marked as not
    reliable if the AUC of either model is not reliable.

    Let D be the difference, D₀ its null value, V₁ and V₂ DeLong's variances, and C their covariance. For paired
    samples, "delong" uses z = (D − D₀)/√(V₁ + V₂ − 2C). For unpaired samples of n₁ and n₂ rows, it uses
    t = (D − D₀)/√(V₁ + V₂) with Satterthwaite's degrees of freedom, (V₁ + V₂)²/(V₁²/(n₁−1) + V₂²/(n₂−1)). Intervals
    are clipped to −1 and 1.

    For a bootstrapped statistic, the standard error of D is the standard deviation of its replicates. The limits of the
    interval are quantiles of the replicates.

    For three or more models on the same rows, `Comparisons.omnibus` tests the hypothesis that all AUCs are equal.

    By default the test compares AUCs. Curves with equal AUCs can cross. To compare entire curves, use `compare_curves`.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988; Obuchowski 1997; Zou & Donner 2008, Stat. Med. 27:1693–1702 (MOVER);
    Schuirmann 1987, J. Pharmacokinet. Biopharm. 15:657–680 (equivalence).

    Examples
    --------
    >>> y = [1, 1, 0, 1, 0, 1, 0, 0]
    >>> preds = Predictions(y, {"a": [8, 7, 6, 5, 4, 3, 2, 1], "b": [8, 4, 3, 7, 2, 6, 5, 1]})
    >>> compare(preds)["a", "b"]
    Comparison(b − a: 0.125, 95% CI [-0.4562, 0.6834], p=0.629, two-sided; not reliable: fewer than 5 rows of a class
    (4))
    >>> compare(preds, method="delong")["a", "b"].p_value
    0.583...
    """
    hypothesis = inference.Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, inference.OF_ESTIMATES)
    data = with_scores(predictions, y_score, pos_label=pos_label, sample_weight=sample_weight)
    arms, groups = _arms(data, paired, groups)
    statistic = scorer_name(statistic)
    if isinstance(statistic, str):
        statistic = statistic_named(statistic)[1]
    if isinstance(statistic, Smooth) and not statistic.is_area:
        return compare_statistics(arms, statistic, hypothesis, adjust, groups=groups, folds=folds)
    if not (statistic is None or isinstance(statistic, Smooth)):
        if folds == "mean":
            raise InputError("folds", expected="'pooled' if the statistic is bootstrapped", got="'mean'")
        bootstrap["method"] = method
        return differences(arms, statistic, hypothesis, adjust, groups=groups, **bootstrap)
    for option in bootstrap:
        if option not in inspect.signature(differences).parameters:
            raise TypeError(f"compare() got an unexpected keyword argument {option!r}")
    if bootstrap:
        expected = f"a bootstrapped statistic for the options {', '.join(bootstrap)}"
        raise InputError("statistic", expected=expected, got="the AUC", hint="omit these options")
    check.check_choice("method", method, areas.DIFFERENCE_METHODS)
    if arms.rows is not None:
        samples = areas.sample_of_rows(arms.rows, groups=groups, folds=folds)
    else:
        samples = {name: areas.auc_sample(arm, groups=groups.get(name), folds=folds) for name, arm in arms.items()}
    return areas.compare_areas(samples, hypothesis, adjust, method)


def _arms(predictions: Models, paired: bool | None, groups: Any) -> tuple[Samples, Any]:
    """Return the sample of each model, and the groups of the rows. Paired samples are joined into one Predictions."""
    arms = samples_of(predictions, name="predictions")
    if arms.rows is not None and paired is False:
        hint = "to treat the models as separate samples, pass a mapping from model name to Predictions"
        raise PairingError("paired", expected="True for models on the same rows", got="False", hint=hint)
    if len(arms) < 2:
        hint = "pass the scores of each model: (y, {'a': s, 'b': s}), or options (--score a --score b)"
        raise InputError("models to compare", expected="two or more models", got=f"{len(arms)}", hint=hint)
    if arms.rows is not None:
        return arms, groups
    return join_rows(arms, groups) if paired else (arms, _groups_of_arms(arms, groups))


def join_rows(arms: Samples, groups: Any = None) -> tuple[Samples, Any]:
    """Join the Predictions of several models into one, after checking that they have the same rows.

    Parameters
    ----------
    arms : Samples
        Predictions of each model, by name.
    groups : array, mapping from name to array, or False, optional
        Group of each row. By default, the groups of the Predictions.

    Returns
    -------
    Samples, groups
        All models on the same rows, and the group of each row.
    """
    rows = {name: arm.require_rows(f"a paired comparison with {name!r}", PairingError) for name, arm in arms.items()}
    groups = _by_arm(arms, groups)
    first_name, *others = rows
    first = rows[first_name]
    for name in others:
        second, names = rows[name], f"{first_name!r} and {name!r}"
        _require_same("label", first.y_true, second.y_true, names)
        _require_same("weight", first.sample_weight, second.sample_weight, names)
        _require_same("fold", first.fold, second.fold, names)
        _require_same("row", first.row, second.row, names)
        _require_same("group", groups[first_name], groups[name], names)
    scores = {name: data.scores[data.models[0]] for name, data in rows.items()}
    joined = Predictions(first.y_true, scores, **first.row_columns())
    return samples_of(joined), groups[first_name]


def _require_same(what: str, first: Any, second: Any, arms: str) -> None:
    if first is None and second is None:
        return
    if first is None or second is None:
        got = f"{what}s in one model only"
        raise PairingError(f"{arms} are not paired", expected=f"{what}s in both models or in neither", got=got)
    first, second = np.asarray(first), np.asarray(second)
    if first.size != second.size:
        got = f"{first.size} and {second.size} rows"
        raise PairingError(f"{arms} are not paired", expected="the same number of rows", got=got)
    if (first != second).any():
        row = int((first != second).argmax())
        hint = "sort the rows of both models in the same order"
        expected, got = f"the same {what}s in both models", f"different {what}s in row {row}"
        raise PairingError(f"{arms} are not paired", expected=expected, got=got, hint=hint)


def _by_arm(arms: Samples, groups: Any) -> dict[str, Any]:
    """Return the groups of each model's rows: the given groups, or by default the groups of its Predictions."""
    given = check.by_name(groups, arms)
    by_arm = {}
    for name, arm in arms.items():
        by_arm[name] = given.get(name)
        if by_arm[name] is None and arm.rows is not None:
            by_arm[name] = arm.rows.groups
    return by_arm


def _groups_of_arms(arms: Samples, groups: Any) -> Mapping[str, Any]:
    """Return the groups of each unpaired sample that has groups, after checking that no two samples share a group."""
    if not (groups is None or groups is False or isinstance(groups, Mapping)):
        raise InputError("groups", expected="a mapping from model name to groups", got=check.shown(groups))
    by_arm = {name: column for name, column in _by_arm(arms, groups).items() if column is not None}
    grouped = [name for name, column in by_arm.items() if column is not False]
    for first, second in combinations(grouped, 2):
        shared = np.intersect1d(by_arm[first], by_arm[second])
        if shared.size:
            got = f"{shared.size} groups in two samples, such as {shared.tolist()[0]!r}"
            hint = "keep each group in one sample, because samples that share groups are not independent"
            raise PairingError("an unpaired comparison", expected="each group in one sample", got=got, hint=hint)
    return by_arm


# Test of one model against chance (an AUC of 1/2)

Method = Literal["auto", "exact", "asymptotic"]

_MOST_EXACT = 10_000  # largest product of the rows and the rows of the rarer class for which the exact test is fast


@contract
def mann_whitney(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    alternative: inference.Alternative = "two-sided",
    method: Method = "auto",
    level: float = 0.95,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> inference.Comparison:
    """Test whether the AUC is 1/2 (Mann–Whitney U test).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis: the AUC is not 1/2, is above 1/2, or is below 1/2.
    method : {"auto", "exact", "asymptotic"}
        "exact" uses the exact distribution over all assignments of the labels to the rows. "asymptotic" uses the normal
        approximation with corrections for ties and continuity. "auto" is "exact" if the number of rows, multiplied by
        the number of rows of the rarer class, is at most 10,000. For rows in groups, pass "auto". It then uses a score
        test of the AUC, because labels of rows of a group cannot be exchanged independently.
    level : float
        Confidence level of the interval of AUC − 1/2. The interval is computed by `auc_interval`.

    Returns
    -------
    Comparison
        Comparison of the model with chance. The difference is AUC − 1/2. The statistic is U, the number of pairs of a
        positive and a negative in which the positive has the higher score.

    Raises
    ------
    InputError
        If a weight is not a whole number, or if rows are in groups and the method is not "auto".
    OneClassError
        If the data contain only one class.

    See Also
    --------
    auc, auc_interval

    Notes
    -----
    For P positives and N negatives, U = P·N·AUC, where tied pairs count one half. The null hypothesis is that positives
    and negatives have the same distribution of scores. This is a stronger hypothesis than an AUC of 1/2. The interval
    does not assume equal distributions. The exact two-sided p-value is the share of label assignments whose U is at
    least as far from its mean as the observed U. For rows in groups, the test inverts the interval of `auc_interval`:
    t = (2·AUC − 1)·√(number of effective trials).

    References
    ----------
    Obuchowski 1997, Biometrics 53:567–578 (groups);
    Mann & Whitney 1947, Ann. Math. Stat. 18:50–60; Hernández-Orallo 2004 (AUC as the Wilcoxon statistic).

    Examples
    --------
    There are 20 ways to choose 3 of 6 rows as positives. Two of them have a U of at least 8, and two are
    equally extreme on the other side, with a U of at most 1:

    >>> test = mann_whitney([1, 1, 1, 0, 0, 0], [6, 5, 3, 4, 2, 1])
    >>> test.statistic, test.p_value
    (8.0, 0.2)
    """
    check.check_choice("alternative", alternative, inference.ALTERNATIVES)
    check.check_choice("method", method, ("auto", "exact", "asymptotic"))
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    require_kinds("Wilcoxon–Mann–Whitney test", data.rows or data.counts)
    counts = data.counts
    counts.require_both_classes("Wilcoxon–Mann–Whitney test")
    counts.require_cases()
    grouped = data.rows is not None and data.rows.grouped
    sample = areas.auc_sample(data if grouped else sample_of(counts))
    difference = areas.estimate_area(sample, 0, "auto", level).shifted(-0.5)
    statistic = counts.pairs().auc() * counts.n_pos * counts.n_neg
    if grouped:
        check.check_choice("method, for rows in groups", method, ("auto",))
        size = sample.size(0)
        t = 2 * difference.value * sqrt(size.trials)
        p_value = inference.Hypothesis(alternative, level=level).p_value(t, size.df)
        name = f"score test, {sample.note}"
        return inference.Comparison("chance", "model", difference, statistic, p_value, name, alternative, df=size.df)
    if method == "auto":
        method = "exact" if counts.n * min(counts.n_pos, counts.n_neg) <= _MOST_EXACT else "asymptotic"
    p_value = _exact(counts, alternative) if method == "exact" else _asymptotic(counts, alternative)
    name = f"Wilcoxon–Mann–Whitney, {method}"
    return inference.Comparison("chance", "model", difference, statistic, p_value, name, alternative)


def _exact(counts: ThresholdCounts, alternative: inference.Alternative) -> float:
    """Return the exact p-value: the share of all label assignments with a rank sum at least as extreme as observed."""
    # Twice the midrank at each distinct score. It is an integer for any number of ties.
    rows = (counts.pos + counts.neg).astype(np.int64)
    below = int(counts.n) - np.cumsum(rows)
    rank = 2 * below + rows + 1
    rarer = counts.pos if counts.n_pos <= counts.n_neg else counts.neg
    size, observed = int(rarer.sum()), int(rarer.astype(np.int64) @ rank)
    share = _distribution(np.repeat(rank, rows), size)
    sums = np.arange(share.size)
    if alternative == "two-sided":
        mean = size * (int(counts.n) + 1)
        return float(min(share[abs(sums - mean) >= abs(observed - mean)].sum(), 1.0))
    upwards = (alternative == "greater") == (counts.n_pos <= counts.n_neg)
    extreme = sums >= observed if upwards else sums <= observed
    return float(min(share[extreme].sum(), 1.0))


def _distribution(rank: Array, size: int) -> Array:
    """Return the probability of each possible sum of the ranks of `size` rows that are drawn without replacement."""
    largest = int(np.sort(rank)[-size:].sum())
    share = np.zeros((size + 1, largest + 1))
    share[0, 0] = 1.0
    # After each row, share[j, s] is the probability that j of the rows so far are drawn and that their ranks sum to s.
    drawn = np.arange(size + 1)
    for row, value in enumerate(rank):
        rows_left = rank.size - row
        probability = ((size - drawn) / rows_left).clip(0, 1)[:, None]
        moved = share * probability
        share -= moved
        share[1:, value:] += moved[:-1, : largest + 1 - value]
    return share[size]


def _asymptotic(counts: ThresholdCounts, alternative: inference.Alternative) -> float:
    """Return the p-value from the normal approximation, with corrections for ties and for continuity."""
    n_pos, n_neg, n = int(counts.n_pos), int(counts.n_neg), int(counts.n)
    rows = (counts.pos + counts.neg).astype(np.float64)
    # Var U = P·N/12·(n + 1 − Σ(t³ − t)/(n(n − 1))) for ties of t rows.
    ties = float((rows**3 - rows).sum()) / (n * (n - 1)) if n > 1 else 0.0
    spread = sqrt(n_pos * n_neg / 12 * (n + 1 - ties))
    excess = (counts.pairs().auc() - 0.5) * n_pos * n_neg
    if spread == 0:
        return 1.0
    if alternative == "two-sided":
        return float(min(2 * special.ndtr((0.5 - abs(excess)) / spread), 1.0))
    towards = excess if alternative == "greater" else -excess
    return float(special.ndtr((0.5 - towards) / spread))


# Test of two entire curves

_CHUNK_CELLS = 2**19  # ranks permuted at once: 4 MB
_ROUNDING = 1e-12  # relative tolerance within which the statistics of a permutation and of the data are equal
_JITTER = 1e-9  # noise that breaks ties between positions, smaller than the weight of any row


@contract
def compare_curves(
    predictions: Models,
    *,
    paired: bool | None = None,
    replicates: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
    progress: Progress = None,
) -> inference.Comparison:
    """Test by permutation whether two ROC curves are equal at every point, not only in area.

    Parameters
    ----------
    predictions : Predictions of two models, or mapping from two names to Predictions
        Predictions contain two models on the same rows (a paired comparison). A mapping contains two separate samples
        (an unpaired comparison).
    paired : bool, optional
        Pass True if a mapping contains Predictions of the same rows in the same order. By default, a mapping contains
        separate samples.
    replicates : int
        Number of permutations.
    level : float
        Confidence level of the interval for the difference of the AUCs, between 0 and 1.
    random_state, progress
        Random state and progress display; see `rocscope.bootstrap`.

    Returns
    -------
    Comparison
        The `difference` is the difference of the AUCs with its interval. The `statistic` and the `p_value` are of the
        test of the entire curves.

    Raises
    ------
    InputError
        If there are not two models.
    WeightError
        If rows have weights, because weighted rows cannot be permuted.
    PairingError
        If the rows of a paired comparison differ; see `compare`.

    See Also
    --------
    compare, band

    Notes
    -----
    In a paired comparison of n rows, each model predicts its k highest ranked rows as positive. The statistic is
    ``E = Σ_k |errors of the first − errors of the second|``, summed over k from 1 to n. Under the null hypothesis, the
    ranks of a row by the two models can be exchanged. For grouped rows, the ranks of all rows of a group are exchanged
    together.

    In an unpaired comparison, each score is replaced by its quantile in a mixture of both classes, which has the same
    prevalence in both samples. E is the area between the error rates of the two samples as functions of this quantile.
    Rows of one class are exchanged between the samples, and groups are ignored.

    Ties are broken at random in each permutation. The p-value is (1 + m)/(1 + replicates), where m is the number of
    permutations whose E is at least as large as the observed E.

    References
    ----------
    Venkatraman & Begg 1996, Biometrika 83:835–848 (paired); Venkatraman 2000, Biometrics 56:1134–1138 (unpaired).

    Examples
    --------
    These two curves cross and have the same area:

    >>> y = [1] * 20 + [0] * 20
    >>> one, other = [*range(50, 60), *range(0, 10), *range(20, 40)], [*range(20, 40), *range(40, 50), *range(0, 10)]
    >>> test = compare_curves(Predictions(y, {"a": one, "b": other}), replicates=500)
    >>> test.difference.value, test.p_value < 0.05
    (0.0, True)
    """
    arms = samples_of(predictions, name="predictions")
    if paired and arms.rows is None:
        arms, _ = join_rows(arms)
    if len(arms) != 2:
        raise InputError("models to compare", expected="two models", got=f"{len(arms)}")
    if arms.rows is not None:
        reason = require_kinds("the paired permutation test", arms.rows)
        exchange = _Paired.of(arms.rows)
    else:
        rows = [arm.require_rows(f"the permutation test of {name!r}") for name, arm in arms.items()]
        reason = require_kinds("the permutation test", *rows)
        exchange = _Unpaired.of(*rows)
    of_areas = compare(predictions, paired=paired, level=level)[0]
    seed = check.seed_of(random_state)
    observed = exchange.permuted(np.random.default_rng([seed, 1]), 1, permute=False)[0]
    chunk = int(np.clip(_CHUNK_CELLS // exchange.n, 1, 100))
    drawn = in_chunks(exchange.permuted, replicates, chunk, seed=seed, threads=1, progress=progress)
    # The data count as one of the permutations, so the p-value is never 0 and the test keeps its significance level.
    p_value = (1 + int((drawn >= observed * (1 - _ROUNDING)).sum())) / (1 + replicates)
    method = f"Venkatraman–Begg, {exchange.kind}, {replicates} permutations"
    difference = replace(of_areas.difference, reason=reason or of_areas.difference.reason)
    return inference.Comparison(of_areas.first, of_areas.second, difference, float(observed), p_value, method)


@dataclass(frozen=True)
class _Paired:
    """Paired permutations: the ranks by the two models are exchanged in single rows, or in entire groups of rows."""

    positive: Booleans
    first: Array
    second: Array
    unit: Indices | None

    kind = "paired"

    @classmethod
    def of(cls, predictions: Predictions) -> "_Paired":
        first, second = predictions.scores.values()
        return cls(predictions.y_true, _dense(first), _dense(second), independent_units(predictions))

    @property
    def n(self) -> int:
        return self.positive.size

    def permuted(self, rng: np.random.Generator, size: int, permute: bool = True) -> Array:
        """Return the statistic E of `size` permutations, or of the data if `permute` is False."""
        first, second = _break_ties(self.first, rng, size), _break_ties(self.second, rng, size)
        if permute:
            swapped = rng.random(first.shape) < 0.5
            if self.unit is not None:
                swapped = swapped[:, self.unit]  # all rows of a group use the draw at the index of the group
            first, second = np.where(swapped, second, first), np.where(swapped, first, second)
            first, second = _break_ties(first, rng, size), _break_ties(second, rng, size)
        # Number of positives among the k lowest ranks, for each k. Errors differ by twice the difference.
        of_first = self.positive[np.argsort(first, axis=1)].cumsum(axis=1)
        of_second = self.positive[np.argsort(second, axis=1)].cumsum(axis=1)
        return 2 * np.abs(of_first - of_second).sum(axis=1)


@dataclass(frozen=True)
class _Unpaired:
    """Unpaired permutations: rows of one class are exchanged between two samples.

    Attributes
    ----------
    positive : two arrays of bool
        Labels of each sample.
    rank : two arrays
        Ranks of the scores of each sample.
    share : float
        Prevalence to which both samples are weighted.
    """

    positive: tuple[Booleans, Booleans]
    rank: tuple[Array, Array]
    share: float

    kind = "unpaired"

    @classmethod
    def of(cls, first: Predictions, second: Predictions) -> "_Unpaired":
        a, b = first.y_true, second.y_true
        share = (a.sum() + b.sum()) / (a.size + b.size)
        ranks = _dense(first.scores[first.models[0]]), _dense(second.scores[second.models[0]])
        return cls((a, b), ranks, float(share))

    @property
    def n(self) -> int:
        return self.positive[0].size + self.positive[1].size

    def permuted(self, rng: np.random.Generator, size: int, permute: bool = True) -> Array:
        """Return the statistic E of `size` permutations, or of the data if `permute` is False."""
        places = [self._place(arm, _break_ties(self.rank[arm], rng, size)) for arm in (0, 1)]
        if permute:
            places = self._exchange(places, rng)
        along, errors = [], []
        for arm in (0, 1):
            untied = places[arm] + _JITTER * rng.random(places[arm].shape)
            of_arm = self._error_curve(arm, untied)
            along.append(of_arm[0])
            errors.append(of_arm[1])
        areas_between = np.empty(size)
        for row in range(size):
            at = np.union1d(along[0][row], along[1][row])
            first = np.interp(at, along[0][row], errors[0][row])
            gap = np.abs(first - np.interp(at, along[1][row], errors[1][row]))
            areas_between[row] = (np.diff(at) * (gap[1:] + gap[:-1])).sum() / 2
        return areas_between

    def _mass(self, arm: int) -> Array:
        """Return the weight of each row of a sample. The weights sum to 1, and the weights of positives to `share`."""
        positive = self.positive[arm]
        n_pos = positive.sum()
        return np.where(positive, self.share / n_pos, (1 - self.share) / (positive.size - n_pos))

    def _place(self, arm: int, rank: Array) -> Array:
        """Return the quantile of each row: the total weight of lower ranked rows, plus half of its own weight."""
        order = np.argsort(rank, axis=1)
        mass = self._mass(arm)[order]
        place = np.empty(rank.shape)
        np.put_along_axis(place, order, mass.cumsum(axis=1) - mass / 2, axis=1)
        return place

    def _exchange(self, places: list[Array], rng: np.random.Generator) -> list[Array]:
        """Exchange the quantiles of rows of the same class at random between the two samples."""
        exchanged = [np.empty(place.shape) for place in places]
        for of_class in (True, False):
            first = np.flatnonzero(self.positive[0] == of_class)
            second = np.flatnonzero(self.positive[1] == of_class)
            pooled = np.concatenate([places[0][:, first], places[1][:, second]], axis=1)
            pooled = rng.permuted(pooled, axis=1)
            exchanged[0][:, first] = pooled[:, : first.size]
            exchanged[1][:, second] = pooled[:, first.size :]
        return exchanged

    def _error_curve(self, arm: int, place: Array) -> tuple[Array, Array]:
        """Return the quantile of each threshold and its error rate, from the lowest threshold to the highest."""
        order = np.argsort(place, axis=1)
        mass, positive = self._mass(arm)[order], self.positive[arm][order]
        start = np.zeros((place.shape[0], 1))
        along = np.concatenate([start, mass.cumsum(axis=1)], axis=1)
        change = np.where(positive, mass, -mass).cumsum(axis=1)
        return along, 1 - self.share + np.concatenate([start, change], axis=1)


def _dense(score: Array) -> Array:
    return np.unique(score, return_inverse=True)[1].astype(np.float64)


def _break_ties(rank: Array, rng: np.random.Generator, size: int) -> Array:
    """Return `size` copies of the ranks, with ties broken at random in each copy."""
    if rank.ndim == 1 and np.unique(rank).size == rank.size:
        return np.tile(rank, (size, 1))
    keys = np.broadcast_to(rank, (size, rank.shape[-1])) + (rng.random((size, rank.shape[-1])) - 0.5)
    ranks = np.empty(keys.shape)
    np.put_along_axis(ranks, np.argsort(keys, axis=1), np.broadcast_to(np.arange(keys.shape[1]), keys.shape), axis=1)
    return ranks
