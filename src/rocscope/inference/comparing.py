"""Comparisons of models and of samples: areas and other statistics, rank tests, and whole curves.

`compare` tests differences of the AUC, or of another statistic, between models on the same rows (paired) or on separate
samples (unpaired). `mann_whitney` tests one model against chance. `compare_curves` tests by permutation whether two ROC
curves are equal everywhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt
from typing import Any, Literal

import numpy as np

from rocscope._base import special
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core import Predictions, ThresholdCounts, independent_units
from rocscope.core.predictions import require_kinds
from rocscope.errors import InputError, PairingError
from rocscope.figures.influence import Smooth
from rocscope.figures.registry import scorer_name, statistic_named
from rocscope.inference import areas
from rocscope.inference import estimate as inference
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
    """Compare the AUC, or another statistic, of models: differences (second − first) with intervals and tests.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of two or more models
        Labels and a mapping from model to scores; Predictions; or a mapping from model to data as accepted by other
        functions, see `rocscope.sample`. Labels with scores, and Predictions, contain all models for the same rows, so
        the comparison is paired. A mapping from model to data contains separate samples, so the comparison is unpaired
        unless `paired` is True.
    paired : bool, optional
        Pass True if a mapping contains Predictions of the same rows in the same order.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis about second − first: not 0, above 0, or below 0.
    test : {"difference", "superiority", "noninferiority", "equivalence"}
        Test to use. "difference" tests the `alternative`; "superiority" tests that second − first is above `margin`,
        "noninferiority" that it is above −`margin`, and "equivalence" that it is within ±`margin` (two one-sided
        tests).
    margin : float
        Margin of a test of superiority, non-inferiority or equivalence, in units of the statistic.
    level : float
        Confidence level of all intervals, which are two-sided for every test. A test of equivalence at 5% is
        significant if the interval at level 0.9 lies within the margins.
    adjust : {"holm", "bh", "max-t", "none"}
        Adjustment of p-values for the number of pairs; "max-t" uses the correlation of the differences.
    groups : array of n labels, or mapping from name to array, optional
        Group of each row, such as its patient or customer; by default the groups of the Predictions. False treats all
        rows as independent.
    folds : see `auc_interval`
    method : {"auto", "delong"}
        "auto" keeps its significance level in small samples; "delong" is DeLong's test, as in pROC. For a bootstrapped
        statistic, the method of the bootstrap interval ("auto" is "percentile").
    statistic : name of a figure, one of `rocscope.inference.statistics`, or a function of ThresholdCounts, optional
        Statistic to compare instead of the AUC, such as ``"brier"`` or ``statistics.partial_area(max_fpr=0.1)``.
        Statistics with a closed-form variance use it; others are bootstrapped.
    **bootstrap
        Options of `rocscope.bootstrap`: replicates, stratified, random_state, threads, progress.

    Returns
    -------
    Comparisons
        One Comparison for each pair of models; select one by ``[0]`` or ``["a", "b"]``.

    Raises
    ------
    PairingError
        If the rows of a paired comparison differ in number, label, weight, fold or group; if counts, which contain no
        rows, are compared as paired; or if a group is in both samples of an unpaired comparison.
    InputError
        If there are fewer than two models, or if a level, margin or alternative is invalid.

    Warns
    -----
    RocscopeWarning
        If folds with scores on different scales are pooled; see `auc_interval`.

    See Also
    --------
    auc_interval, compare_costs, compare_folds

    Notes
    -----
    "auto" uses Welch's t for the differences of placements. If few rows determine the variance of the ranks, the
    interval is moved towards an interval that combines the intervals of both areas (MOVER), with the correlation from
    DeLong's covariance (Obuchowski's for groups, 0 for unpaired samples). If the models rank few rows differently, two
    rows are added, one in favour of each model, because other samples may contain more such rows. The statistic is the
    normal quantile of the p-value. A difference is marked as not reliable if one of the two estimates is.

    "delong" uses z = (D − D₀)/√(V₁ + V₂ − 2C) for paired samples. For unpaired samples it uses t = (D − D₀)/√(V₁ + V₂)
    with Satterthwaite's degrees of freedom, (V₁ + V₂)²/(V₁²/(n₁−1) + V₂²/(n₂−1)). Intervals are clipped to −1 and 1.
    For a bootstrapped statistic, the standard error is the standard deviation of the replicates of D, and the limits of
    the interval are their quantiles.

    For three or more models of the same rows, `Comparisons.omnibus` tests that all are equal.

    The test compares areas. Curves with equal areas can cross; to compare whole curves, use `compare_curves`.

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
        figure, by_name = statistic_named(statistic)
        statistic = None if figure.name == "auc" else by_name
    if isinstance(statistic, Smooth):
        return compare_statistics(arms, statistic, hypothesis, adjust, groups=groups, folds=folds)
    if statistic is not None:
        if folds == "mean":
            raise InputError("folds='mean'", expected="none with a statistic that is a function")
        bootstrap["method"] = "percentile" if method == "auto" else method
        return differences(arms, statistic, hypothesis, adjust, groups=groups, **bootstrap)
    if bootstrap:
        raise InputError(
            "options of the bootstrap", expected="a statistic with options of the bootstrap", got=", ".join(bootstrap)
        )
    check.check_choice("method", method, areas.DIFFERENCE_METHODS)
    if arms.rows is not None:
        samples = areas.sample_of_rows(arms.rows, groups=groups, folds=folds)
    else:
        samples = {name: areas.auc_sample(arm, groups=groups.get(name), folds=folds) for name, arm in arms.items()}
    return areas.compare_areas(samples, hypothesis, adjust, method)


def _arms(predictions: Models, paired: bool | None, groups: Any) -> tuple[Samples, Any]:
    """Return the arms, with their rows if paired, and the groups of each."""
    arms = samples_of(predictions, name="predictions")
    if arms.rows is not None and paired is False:
        hint = "pass a mapping from name to Predictions to treat them as two samples"
        raise PairingError("models of the same rows", expected="a paired comparison", got="paired=False", hint=hint)
    if len(arms) < 2:
        hint = "name each, (y, {'a': s, 'b': s}), with its scores (--score a --score b)"
        raise InputError("models to compare", expected="two or more", got=f"{len(arms)}", hint=hint)
    if arms.rows is not None:
        return arms, groups
    return join_rows(arms, groups) if paired else (arms, _groups_of_arms(arms, groups))


def join_rows(arms: Samples, groups: Any = None) -> tuple[Samples, Any]:
    """Return Predictions with all models, after checking that the rows of all arms agree."""
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
        raise PairingError(f"{arms} are not paired", expected=f"a {what} in both or in neither", got="in one only")
    first, second = np.asarray(first), np.asarray(second)
    if first.size != second.size:
        got = f"{first.size} and {second.size}"
        raise PairingError(f"{arms} are not paired", expected="equally many rows", got=got)
    if (first != second).any():
        row = int((first != second).argmax())
        hint = "sort the rows of both models in the same order"
        expected = f"the same {what}s"
        raise PairingError(f"{arms} are not paired", expected=expected, got=f"others in row {row}", hint=hint)


def _by_arm(arms: Samples, groups: Any) -> dict[str, Any]:
    """Return the groups of each arm: the given ones, or the groups of its rows."""
    given = check.by_name(groups, arms)
    by_arm = {}
    for name, arm in arms.items():
        by_arm[name] = given.get(name)
        if by_arm[name] is None and arm.rows is not None:
            by_arm[name] = arm.rows.groups
    return by_arm


def _groups_of_arms(arms: Samples, groups: Any) -> Mapping[str, Any]:
    """Return the groups of each arm that has groups, after checking that no group is in two arms."""
    if not (groups is None or groups is False or isinstance(groups, Mapping)):
        raise InputError("groups", expected="a mapping from the name of each arm to its groups")
    by_arm = {name: column for name, column in _by_arm(arms, groups).items() if column is not None}
    grouped = [name for name, column in by_arm.items() if column is not False]
    for first, second in combinations(grouped, 2):
        shared = np.intersect1d(by_arm[first], by_arm[second])
        if shared.size:
            got = f"{shared.size} in both, such as {shared.tolist()[0]!r}"
            hint = "samples that share groups are not independent; keep each group in one sample"
            raise PairingError("an unpaired comparison", expected="each group in one arm only", got=got, hint=hint)
    return by_arm


# Test of one model against chance

Method = Literal["auto", "exact", "asymptotic"]

_MOST_EXACT = 10_000  # rows times rows of the rarer class; above it, the exact distribution takes too long


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
        `y_true` is labels, with scores as `y_score`; or it is Predictions, ThresholdCounts, an OperatingPoint,
        BinnedCounts or a CountsSketch, without `y_score`. See `rocscope.sample`, also for the other parameters.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis about the AUC, compared with 1/2.
    method : {"auto", "exact", "asymptotic"}
        "exact" enumerates all labellings of the rows; "asymptotic" uses the normal approximation with corrections for
        ties and continuity. "auto" is exact if the number of rows times the number of rows of the rarer class is at
        most 10,000. Rows in groups need "auto", which then uses the score test of the area, because rows of a group
        cannot be relabelled independently.
    level : float
        Confidence level of the interval of AUC − 1/2, computed by `auc_interval`.

    Returns
    -------
    Comparison
        Comparison of the model with chance. The difference is AUC − 1/2; the statistic is U, the number of concordant
        pairs.

    Raises
    ------
    InputError
        If weights are not whole numbers, or if rows are in groups and the method is not "auto".
    OneClassError
        If one class is missing.

    See Also
    --------
    auc, auc_interval

    Notes
    -----
    U = P·N·AUC, where ties count one half. The null hypothesis is that positives and negatives have the same
    distribution of scores, which is stronger than an AUC of 1/2. The interval does not assume this. The exact two-sided
    p-value is the share of labellings whose U is at least as far from its mean as the observed U. With groups, the test
    uses t = (2·AUC − 1)·√N, where N is the number of effective trials of `auc_interval`; it inverts that interval.

    References
    ----------
    Obuchowski 1997, Biometrics 53:567–578 (groups);
    Mann & Whitney 1947, Ann. Math. Stat. 18:50–60; Hernández-Orallo 2004 (AUC as the Wilcoxon statistic).

    Examples
    --------
    There are 20 ways to choose 3 of 6 rows as positives. One is this ranking, and one is equally extreme on the other
    side:

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
    """Return the share of all labellings whose rank sum is as extreme as the observed one."""
    # Twice the midrank of each level, which is an integer whatever the ties.
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
    """Return the probability of each rank sum of `size` rows drawn without replacement."""
    largest = int(np.sort(rank)[-size:].sum())
    share = np.zeros((size + 1, largest + 1))
    share[0, 0] = 1.0
    # Row by row: share[j, s] is the probability that j of the rows so far are drawn and have the sum s.
    drawn = np.arange(size + 1)
    for row, value in enumerate(rank):
        rows_left = rank.size - row
        probability = ((size - drawn) / rows_left).clip(0, 1)[:, None]
        moved = share * probability
        share -= moved
        share[1:, value:] += moved[:-1, : largest + 1 - value]
    return share[size]


def _asymptotic(counts: ThresholdCounts, alternative: inference.Alternative) -> float:
    """Return the p-value of the normal approximation, with corrections for ties and for continuity."""
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


# Test of two whole curves

_CHUNK_CELLS = 2**19  # ranks permuted at once: 4 MB
_ROUNDING = 1e-12  # relative: permutations that equal the sample count as equal, whatever the order of their sums
_JITTER = 1e-9  # breaks ties between places, which are no closer than the smallest share of a row


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
    """Test by permutation whether two ROC curves are equal everywhere, not only in area.

    Parameters
    ----------
    predictions : Predictions of two models, or mapping from two names to Predictions
        Two models of the same rows (paired), or two samples (unpaired unless `paired` is True).
    paired : bool, optional
        Pass True if a mapping contains Predictions of the same rows in the same order.
    replicates : int
        Number of permutations.
    level : float
        Confidence level of the interval for the difference of the areas.
    random_state, progress : see `bootstrap`

    Returns
    -------
    Comparison
        The difference is the difference of the areas; the statistic and the p-value refer to the curves.

    Raises
    ------
    InputError
        If there are not two models.
    WeightError
        If rows have weights, because weighted rows cannot be permuted.
    PairingError
        See `compare`.

    See Also
    --------
    compare, band

    Notes
    -----
    Paired: the statistic is ``E = Σ_k |errors of the first − errors of the second|``, where the k highest ranks are
    predicted positive. Under the null hypothesis, the two ranks of a row can be exchanged; ranks of a group are
    exchanged in all its rows together. Unpaired: scores of both samples are replaced by their position in a mixture of
    both classes with a common prevalence. E is the area between the error rates as functions of this position, and rows
    of one class are exchanged between the samples, ignoring groups. Ties are broken at random in each permutation. The
    p-value is (1 + number of permutations with an E at least as large)/(1 + replicates).

    References
    ----------
    Venkatraman & Begg 1996, Biometrika 83:835–848 (paired); Venkatraman 2000, Biometrics 56:1134–1138 (unpaired).

    Examples
    --------
    Two curves that cross and have the same area:

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
        raise InputError("models to compare", expected="two", got=f"{len(arms)}")
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
    # The data are one of the permutations, so that p is never 0 and the test holds its level.
    p_value = (1 + int((drawn >= observed * (1 - _ROUNDING)).sum())) / (1 + replicates)
    method = f"Venkatraman–Begg, {exchange.kind}, {replicates} permutations"
    difference = replace(of_areas.difference, reason=reason or of_areas.difference.reason)
    return inference.Comparison(of_areas.first, of_areas.second, difference, float(observed), p_value, method)


@dataclass(frozen=True)
class _Paired:
    """Ranks of both models on the same rows, which are exchanged in each row, or in all rows of a group together."""

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
                swapped = swapped[:, self.unit]  # a group is exchanged as its number's row would be
            first, second = np.where(swapped, second, first), np.where(swapped, first, second)
            first, second = _break_ties(first, rng, size), _break_ties(second, rng, size)
        # Positives among the k lowest ranks, for each k. Errors differ by twice the difference of these.
        of_first = self.positive[np.argsort(first, axis=1)].cumsum(axis=1)
        of_second = self.positive[np.argsort(second, axis=1)].cumsum(axis=1)
        return 2 * np.abs(of_first - of_second).sum(axis=1)


@dataclass(frozen=True)
class _Unpaired:
    """Two samples, compared on a common mixture of classes; `share` is its proportion of positives."""

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
        """Return the area between the error curves of `size` permutations, or of the data if `permute` is False."""
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
        """Return the weight of each row in the mixture; the weights of all positives sum to `share`."""
        positive = self.positive[arm]
        n_pos = positive.sum()
        return np.where(positive, self.share / n_pos, (1 - self.share) / (positive.size - n_pos))

    def _place(self, arm: int, rank: Array) -> Array:
        """Return, for each row, the share of the mixture that is ranked lower."""
        order = np.argsort(rank, axis=1)
        mass = self._mass(arm)[order]
        place = np.empty(rank.shape)
        np.put_along_axis(place, order, mass.cumsum(axis=1) - mass / 2, axis=1)
        return place

    def _exchange(self, places: list[Array], rng: np.random.Generator) -> list[Array]:
        """Exchange rows between the samples at random, within each class."""
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
        """Return positions of the thresholds in the mixture and error rates, from all positive to none positive."""
        order = np.argsort(place, axis=1)
        mass, positive = self._mass(arm)[order], self.positive[arm][order]
        start = np.zeros((place.shape[0], 1))
        along = np.concatenate([start, mass.cumsum(axis=1)], axis=1)
        change = np.where(positive, mass, -mass).cumsum(axis=1)
        return along, 1 - self.share + np.concatenate([start, change], axis=1)


def _dense(score: Array) -> Array:
    return np.unique(score, return_inverse=True)[1].astype(np.float64)


def _break_ties(rank: Array, rng: np.random.Generator, size: int) -> Array:
    """Return `size` rows of ranks from 0 with ties broken at random."""
    if rank.ndim == 1 and np.unique(rank).size == rank.size:
        return np.tile(rank, (size, 1))
    keys = np.broadcast_to(rank, (size, rank.shape[-1])) + (rng.random((size, rank.shape[-1])) - 0.5)
    ranks = np.empty(keys.shape)
    np.put_along_axis(ranks, np.argsort(keys, axis=1), np.broadcast_to(np.arange(keys.shape[1]), keys.shape), axis=1)
    return ranks
