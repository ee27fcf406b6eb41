"""Compare models over the folds of one data set, or over several data sets.

The file contains four public functions, in this order:

- `compare_folds` tests the mean difference over the folds of one data set. Folds share training rows, so their values
  are correlated and a plain t-test rejects too often. Nadeau & Bengio enlarge the variance of the mean from s²/n to
  s²·(1/n + ρ/(1 − ρ)), where ρ is the share of rows in one test fold. Dietterich's and Alpaydin's tests need five
  repeats of two folds.
- `practical_equivalence` returns the probabilities that a model is better, worse or practically equivalent. The
  posterior is the t distribution of Nadeau & Bengio.
- `compare_datasets` treats data sets as independent. It uses Wilcoxon's signed-rank test and the Hodges–Lehmann
  estimate. The interval contains the differences that the test does not reject.
- `friedman` ranks three or more models on each data set. It uses Friedman's χ², Iman & Davenport's F, and Nemenyi's
  test for each pair of models.

Every function first converts arrays or Predictions into a table: `FoldScores` (models × folds) or `ResultTable` (data
sets × models).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, permutations
from math import inf, isinf, nan, sqrt
from typing import Any, Literal, cast

import numpy as np
from scipy import stats

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.formatting import counted
from rocscope._base.grouping import Parts
from rocscope.core import Result, html_table, number
from rocscope.core.predictions import Rows
from rocscope.errors import InputError, PairingError, ScoreError, ShapeError, without_warnings
from rocscope.evaluation.fitting import AnyPredictions
from rocscope.evaluation.measures import Metric, measure_of
from rocscope.inference import estimate as inference
from rocscope.sample import is_segmented, refusal


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Values of one metric for m models on the same n folds.

    Attributes
    ----------
    models : tuple of m names
        Names of the models.
    values : m × n array
        Values of the metric, one row per model and one column per fold. Folds of one repeat are adjacent columns.
    repeats : int or None
        Number of repeats of the cross-validation; None if unknown.
    test_share : float or None
        Number of test rows in a fold, divided by the number of all rows; None if unknown.
    quantity : str
        Name of the metric.
    sign : int
        1 if large values of the metric are good, −1 if small values are good.
    """

    models: tuple[str, ...]
    values: Array
    repeats: int | None
    test_share: float | None
    quantity: str
    sign: int = 1

    @property
    def variance_factor(self) -> float:
        """Variance of the mean of the n fold values, divided by the sample variance of the fold values.

        The factor is 1/n + ρ/(1 − ρ), where ρ is the share of rows in one test fold (Nadeau & Bengio 2003). The second
        term allows for training rows that folds share.

        Raises
        ------
        InputError
            If `test_share` was not passed and cannot be computed from the folds.
        """
        share = self.test_share
        if share is None:
            hint = "pass 0.1 for ten-fold cross-validation, or pass arrays with 2 dimensions (repeats × folds)"
            raise InputError("test_share", expected="the share of rows in one test fold", got="None", hint=hint)
        return 1 / self.values.shape[1] + share / (1 - share)

    def mean_difference(self, i: int, j: int) -> tuple[float, float]:
        """Return the mean difference between models over the folds, model j − model i, and its standard error.

        The standard error is exactly 0 if the difference is the same in all folds.
        """
        difference = self.values[j] - self.values[i]
        variance = difference.var(ddof=1) * self.variance_factor if np.ptp(difference) else 0.0
        return float(difference.mean()), sqrt(variance)


def fold_scores(scores: Any, metric: Metric = "auc", test_share: float | None = None) -> FoldScores:
    """Convert arrays, or predictions with folds, to a table of metric values by model and fold.

    Raises
    ------
    PairingError
        If models have different numbers of folds.
    InputError
        If there are fewer than two models or fewer than two folds, or if the predictions have no fold column.
    ScoreError
        If a value is missing or infinite.
    """
    if test_share is not None:
        check.check_share(test_share, "test_share")
    if isinstance(scores, Rows):
        table = _fold_scores_of_predictions(cast(AnyPredictions, scores), metric)
    elif hasattr(scores, "items") and not is_segmented(scores):
        table = _fold_scores_of_arrays(scores)
    else:
        raise refusal("scores", "Predictions with folds, or a mapping from model to array", scores)
    if len(table.models) < 2:
        raise InputError("models to compare", expected="two or more models", got=f"{len(table.models)}")
    if table.values.shape[1] < 2:
        raise InputError("folds", expected="two or more folds", got=f"{table.values.shape[1]}")
    share = table.test_share if test_share is None else float(test_share)
    return replace(table, values=check.read_only(table.values), test_share=share)


def _fold_scores_of_arrays(scores: Mapping[Any, Any]) -> FoldScores:
    arrays = {str(name): np.asarray(values) for name, values in scores.items()}
    if not arrays:
        raise InputError("models to compare", expected="two or more models", got="0")
    first = next(iter(arrays))
    shape = arrays[first].shape
    if len(shape) not in (1, 2):
        expected = "an array of folds, or of repeats × folds"
        raise ShapeError(f"scores[{first!r}]", expected=expected, got=f"{len(shape)} dimensions")
    for name, values in arrays.items():
        if values.shape != shape:
            got = f"shape {values.shape} for {name!r}"
            raise PairingError("scores", expected=f"shape {shape} as for {first!r}", got=got)
        if values.dtype.kind not in "iuf":
            got = f"values of type {values.dtype}"
            raise ScoreError(f"scores[{name!r}]", expected="finite numbers", got=got)
        if not np.isfinite(values).all():
            bad = np.argwhere(~np.isfinite(values))
            got = f"{counted(len(bad), 'missing or infinite score')}, the first at index {bad[0].tolist()}"
            raise ScoreError(f"scores[{name!r}]", expected="finite numbers", got=got)
    repeats = share = None
    if len(shape) == 2:
        repeats = shape[0]
        # The folds of one repeat partition the rows. With a single fold the number of training rows is unknown.
        share = 1 / shape[1] if shape[1] > 1 else None
    stacked = np.stack([values.ravel() for values in arrays.values()]).astype(np.float64)
    return FoldScores(tuple(arrays), stacked, repeats, share, "score")


def _fold_scores_of_predictions(preds: AnyPredictions, metric: Metric) -> FoldScores:
    measure = measure_of(metric, several_classes=hasattr(preds, "classes"))
    responses = getattr(preds.source, "responses", {})
    parts = list(preds.by_fold().items())
    repeats = []
    for _, part in parts:
        repeat = getattr(part, "repeat", None)
        repeats.append(0 if repeat is None else repeat[0])
    # Folds of one repeat become neighbours; the sort is stable, so that their order within a repeat is kept.
    order = sorted(range(len(parts)), key=lambda i: repeats[i])
    values = np.empty((len(preds.models), len(parts)))
    for row, model in enumerate(preds.models):
        for column, i in enumerate(order):
            fold, part = parts[i]
            value = measure.of(part.select(models=[model]), responses.get(model, ""))
            if not np.isfinite(value):
                subject = f"{measure.name} of {model!r} in fold {fold!r}"
                hint = "use stratified folds, because the metric can be undefined if a fold lacks a class"
                raise ScoreError(subject, expected="a number", got=f"{value}", hint=hint)
            values[row, column] = value
    distinct, folds_per_repeat = np.unique(repeats, return_counts=True)
    folds = int(folds_per_repeat[0])
    equal = bool((folds_per_repeat == folds).all())
    source = preds.source
    # The test share is 1/folds only if each repeat tests every row once.
    complete = source is None or len(preds) == distinct.size * (source.rows_read - source.rows_dropped)
    share = 1 / folds if equal and folds > 1 and complete else None
    count = distinct.size if equal else None
    return FoldScores(tuple(preds.models), values, count, share, measure.name, measure.sign)


Method = Literal["corrected_t", "5x2_t", "5x2_f"]

METHODS = ("corrected_t", "5x2_t", "5x2_f")
_FIVE_BY_TWO = (5, 2)  # repeats and folds for which Dietterich's and Alpaydin's tests are derived


@contract
def compare_folds(
    scores: Any,
    *,
    method: Method = "corrected_t",
    metric: Metric = "auc",
    test_share: float | None = None,
    alternative: inference.Alternative = "two-sided",
    test: inference.Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: inference.PValueAdjust = "holm",
) -> inference.Comparisons:
    """Test whether models differ in a metric over the folds of one data set.

    Parameters
    ----------
    scores : mapping from model name to array of folds, or of repeats × folds; or predictions with a fold column
        Values of the metric for each model and fold, or the predictions returned by `evaluate`. All models must have
        the same folds.
    method : {"corrected_t", "5x2_t", "5x2_f"}
        "corrected_t" is Nadeau & Bengio's corrected resampled t-test. "5x2_t" is Dietterich's t-test and "5x2_f" is
        Alpaydin's combined F-test. The last two tests need five repeats of two folds.
    metric : str, Context, CostMatrix or function
        Metric to compute in each fold if `scores` are predictions; see `bootstrap_632`. Metrics of decisions use the
        decisions in the predictions, or a threshold of 0.5 if there are no decisions.
    test_share : float, optional
        Share of rows in one test fold, such as 0.1 in ten-fold cross-validation. The default is 1/folds for arrays of
        repeats × folds, and for predictions in which each repeat tests every row. In all other cases it is required.
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        Mean difference over the folds (second − first) and p-value for each pair of models. Only "corrected_t" also
        gives intervals.

    Raises
    ------
    InputError
        If `test_share` is required but missing, or if a one-sided F-test is requested.
    ShapeError
        If the method needs five repeats of two folds, but `scores` have other folds.
    PairingError
        If models have different folds.
    ScoreError
        If the metric is undefined in a fold. For example, the AUC needs both classes.

    See Also
    --------
    compare, practical_equivalence, compare_datasets

    Notes
    -----
    Folds share training rows. The values of the folds are therefore not independent, and a plain t-test rejects too
    often. Let d be the differences between two models in the n folds, s² the variance of d, dᵢⱼ the difference in fold
    j of repeat i, and ρ = test_share/(1 − test_share). The test statistics are:

    - corrected t: mean(d)/√(s²·(1/n + ρ)), with n − 1 degrees of freedom.
    - 5×2 t: d₁₁/√(Σs²ᵢ/5) with s²ᵢ = Σⱼ(dᵢⱼ − d̄ᵢ)² and five degrees of freedom. The numerator is the first difference,
      so the p-value depends on the order of the folds.
    - 5×2 F: Σd²/(2Σs²ᵢ) with 10 and 5 degrees of freedom (`df` is 5). The p-value does not depend on the order of the
      folds.

    The corrected t-test is approximate. It assumes that the correlation between folds equals test_share. Data cannot
    show whether this assumption holds. All three tests compare learning algorithms on training sets of this size. To
    compare two fitted models on one test set, use `compare`.

    References
    ----------
    Nadeau & Bengio 2003, Mach. Learn. 52:239–281; Dietterich 1998, Neural Comput. 10:1895–1923;
    Alpaydin 1999, Neural Comput. 11:1885–1892; Bouckaert & Frank 2004, PAKDD (repeats × folds).

    Examples
    --------
    >>> accuracy = {"tree": [[0.80, 0.75], [0.70, 0.75]], "bayes": [[0.90, 0.80], [0.85, 0.85]]}
    >>> compare_folds(accuracy)["tree", "bayes"]
    Comparison(bayes − tree: 0.1, 95% CI [-0.04526, 0.2453], p=0.116, two-sided)
    >>> compare_folds({"a": [0.80, 0.75, 0.70], "b": [0.9, 0.8, 0.85]}, test_share=0.2)["a", "b"].df
    2
    """
    check.check_choice("method", method, METHODS)
    check.check_choice("adjust", adjust, inference.ADJUSTMENTS)
    hypothesis = inference.Hypothesis(alternative, test, margin, level)
    table = fold_scores(scores, metric, test_share)
    if method == "corrected_t":
        return _corrected_t(table, hypothesis, adjust)
    return _five_by_two(table, hypothesis, method, adjust)


def corrected_covariance(table: FoldScores) -> Array:
    """Return the covariance matrix (m × m) of the models' means over folds, corrected for shared training rows."""
    return np.atleast_2d(np.cov(table.values)) * table.variance_factor


def _corrected_t(
    table: FoldScores, hypothesis: inference.Hypothesis, adjust: inference.PValueAdjust
) -> inference.Comparisons:
    """Compare models with Nadeau & Bengio's corrected resampled t-test."""
    method = "corrected resampled t"
    n = table.values.shape[1]
    covariance = corrected_covariance(table)
    estimates = {}
    for i, model in enumerate(table.models):
        error = sqrt(covariance[i, i])
        estimates[model] = hypothesis.wald(table.values[i].mean(), error, n, method, df=n - 1)

    def compare(i: int, j: int) -> inference.Comparison:
        mean, error = table.mean_difference(i, j)
        difference = hypothesis.wald(mean, error, n, method, df=n - 1)
        return hypothesis.compare(table.models[i], table.models[j], difference, df=n - 1, method=method)

    return inference.compare_each_two(table.quantity, estimates, covariance, compare, adjust)


def _five_by_two(
    table: FoldScores, hypothesis: inference.Hypothesis, method: str, adjust: inference.PValueAdjust
) -> inference.Comparisons:
    """Compare models over five repeats of two folds, with Dietterich's t-test or Alpaydin's combined F-test."""
    n = table.values.shape[1]
    if table.repeats is None or (table.repeats, n // table.repeats) != _FIVE_BY_TWO:
        got = f"{n} folds" if table.repeats is None else f"{table.repeats} repeats of {n // table.repeats} folds"
        hint = "pass arrays of shape (5, 2), or predictions from evaluate(…, cv=2, repeats=5)"
        raise ShapeError(f"method={method!r}", expected="5 repeats of 2 folds", got=got, hint=hint)
    if method == "5x2_f" and (hypothesis.alternative, hypothesis.test) != ("two-sided", "difference"):
        hint = "use method='5x2_t' or 'corrected_t'"
        raise InputError("method='5x2_f'", expected="a two-sided test", got=hypothesis.aim, hint=hint)
    name = "5×2 cv t" if method == "5x2_t" else "combined 5×2 cv F"
    # s²ᵢ = Σⱼ(xᵢⱼ − x̄ᵢ)² of each repeat i, averaged over the five; for pairs of models likewise.
    by_repeat = table.values.reshape(-1, *_FIVE_BY_TWO)
    deviation = (by_repeat - by_repeat.mean(axis=2, keepdims=True)).reshape(len(table.models), -1)
    covariance = deviation @ deviation.T / 5

    def without_interval(value: float, error: float) -> inference.Estimate:
        return inference.Estimate(value, nan, nan, hypothesis.level, name, n, error)

    def compare(i: int, j: int) -> inference.Comparison:
        first, second = table.models[i], table.models[j]
        difference = table.values[j] - table.values[i]
        pairs = difference.reshape(_FIVE_BY_TWO)
        variance = float(((pairs - pairs.mean(axis=1, keepdims=True)) ** 2).sum()) / 5
        if method == "5x2_t":
            # Dietterich's numerator is the first difference alone, which is independent of the denominator.
            tested = without_interval(float(pairs[0, 0]), sqrt(variance))
            t_test = hypothesis.compare(first, second, tested, df=5, method=name)
            statistic, p_value = t_test.statistic, t_test.p_value
        else:
            squares = float((difference**2).sum())
            if variance:
                statistic = squares / (2 * 5 * variance)
            elif squares:
                statistic = inf
            else:
                statistic = 0.0
            # Σd² has 10 degrees of freedom, one for each fold; 2Σs²ᵢ has 5, one for each repeat.
            p_value = float(stats.f.sf(statistic, 10, 5))
        shown = without_interval(float(difference.mean()), sqrt(variance))
        return hypothesis.comparison(first, second, shown, statistic, p_value, name, df=5)

    estimates = {}
    for i, model in enumerate(table.models):
        estimates[model] = without_interval(float(table.values[i].mean()), sqrt(covariance[i, i]))
    return inference.compare_each_two(table.quantity, estimates, covariance, compare, adjust)


_METHOD = "Bayesian correlated t"


@dataclass(frozen=True, repr=False)
class PracticalComparison(inference.Comparison):
    """Posterior probabilities that the first model is better, both are equivalent, or the second is better.

    Parameters
    ----------
    first, second, difference, statistic, p_value, method, … : see `Comparison`
        `difference` (second − first) has a credible interval. `statistic` and `p_value` are NaN.
    rope : float
        Limit of the region of practical equivalence. Differences from −rope to rope are too small to matter.
    first_better, equivalent, second_better : float
        Probabilities that second − first is below −rope, from −rope to rope, and above rope. Their sum is 1.

    Examples
    --------
    >>> from rocscope.inference import Estimate
    >>> gain = Estimate(0.02, 0.0, 0.04, level=0.95, method="Bayesian correlated t", n=10)
    >>> PracticalComparison("a", "b", gain, nan, nan, gain.method, rope=0.01, equivalent=0.2, second_better=0.8)
    PracticalComparison(b − a: 0.02, 95% CI [0, 0.04]; a better 0, equivalent (±0.01) 0.2, b better 0.8)
    """

    rope: float = 0.0
    first_better: float = 0.0
    equivalent: float = 0.0
    second_better: float = 0.0

    def __repr__(self) -> str:
        return (
            f"PracticalComparison({self.second} − {self.first}: {self.difference.words}; {self.first} better "
            f"{self.first_better:.3g}, equivalent (±{self.rope:g}) {self.equivalent:.3g}, "
            f"{self.second} better {self.second_better:.3g})"
        )


@contract
def practical_equivalence(
    scores: Any, rope: float, *, metric: Metric = "auc", test_share: float | None = None, level: float = 0.95
) -> inference.Comparisons:
    """Compute the probabilities that one model is better, worse or practically equivalent to another model.

    Parameters
    ----------
    scores, metric, test_share : see `compare_folds`
    rope : float
        Limit of the region of practical equivalence. Differences from −rope to rope are too small to matter. For
        example, pass 0.01 for accuracy. With 0, the probability of equivalence is 0.
    level : float
        Probability of the credible intervals, such as 0.95.

    Returns
    -------
    Comparisons
        One `PracticalComparison` for each pair of models.

    Raises
    ------
    InputError
        If `rope` is negative, or if `test_share` is required but missing.

    See Also
    --------
    compare_folds

    Notes
    -----
    With a flat prior, the posterior of the mean difference is a Student distribution with n − 1 degrees of freedom. The
    centre is the mean difference over the n folds. The scale is √(s²·(1/n + ρ)), with s² and ρ as in `compare_folds`.
    Each probability equals a one-sided p-value of the corrected t-test, but it is a probability of the hypothesis. If
    the difference is the same in all folds, one of the three probabilities is 1. If the difference is 0 in all folds
    and `rope` is 0, `first_better` and `second_better` are both 1/2.

    References
    ----------
    Corani & Benavoli 2015, Mach. Learn. 100:285–304; Benavoli, Corani, Demšar & Zaffalon 2017, JMLR 18:1–36.

    Examples
    --------
    >>> accuracy = {"tree": [0.80, 0.75, 0.70, 0.75], "bayes": [0.90, 0.80, 0.85, 0.85]}
    >>> found = practical_equivalence(accuracy, rope=0.01, test_share=0.25)["tree", "bayes"]
    >>> found
    PracticalComparison(bayes − tree: 0.1, 95% CI [0.0007698, 0.1992]; tree better 0.0193, equivalent (±0.01) 0.0122,
    bayes better 0.968)
    """
    hypothesis = inference.Hypothesis(level=level)
    check.check_number(rope, "rope", "a number of at least 0", least=0)
    table = fold_scores(scores, metric, test_share)
    n = table.values.shape[1]
    covariance = corrected_covariance(table)
    estimates = {}
    for i, model in enumerate(table.models):
        error = sqrt(covariance[i, i])
        estimates[model] = hypothesis.wald(float(table.values[i].mean()), error, n, _METHOD, df=n - 1)
    pairs = []
    for i, j in combinations(range(len(table.models)), 2):
        mean, error = table.mean_difference(i, j)
        first_better = _probability_above_zero(-mean - rope, error, n - 1)
        second_better = _probability_above_zero(mean - rope, error, n - 1)
        if not rope and not error and not mean:
            # Equal folds and no region of equivalence: neither side is favoured.
            first_better = second_better = 0.5
        equivalent = max(1 - first_better - second_better, 0.0) if rope else 0.0
        pair = PracticalComparison(
            table.models[i],
            table.models[j],
            hypothesis.wald(mean, error, n, _METHOD, df=n - 1),
            nan,
            nan,
            _METHOD,
            df=n - 1,
            rope=float(rope),
            first_better=first_better,
            equivalent=equivalent,
            second_better=second_better,
        )
        pairs.append(pair)
    return inference.Comparisons(table.quantity, estimates, covariance, pairs, "none")


def _probability_above_zero(centre: float, scale: float, df: int) -> float:
    """Return P(X > 0) for a Student distribution of X; if `scale` is 0, X is always equal to `centre`."""
    return float(stats.t.cdf(centre / scale, df)) if scale else float(centre > 0)


ROUNDING = 2.0**-44
"""Relative tolerance for ties, about 13 digits. A double has 52 bits after the first bit. The lowest 8 bits may differ,
because means over folds and differences of metrics have rounding errors."""


@dataclass(frozen=True, eq=False)
class ResultTable:
    """Values of one metric for m models on N data sets.

    Attributes
    ----------
    models : tuple of m names
        Names of the models.
    values : N × m array
        Values of the metric, one row per data set and one column per model.
    quantity : str
        Name of the metric.
    sign : int
        1 if large values of the metric are good, −1 if small values are good.
    """

    models: tuple[str, ...]
    values: Array
    quantity: str
    sign: int = 1


def result_table(results: Any, metric: Metric = "auc") -> ResultTable:
    """Convert arrays, a data frame or predictions to a table of metric values by data set and model.

    Raises
    ------
    InputError
        If there are fewer than two models or fewer than two data sets.
    PairingError
        If models have different numbers of data sets, or data sets have different models.
    ScoreError
        If a value is missing or infinite.
    """
    # Predictions by segment are also a mapping, in which each segment is a data set. Counts by segment are not.
    by_segment = is_segmented(results) and not isinstance(results, Parts)
    if check.is_frame(results):
        results = check.frame_columns(results)
    elif not isinstance(results, Mapping) or by_segment:
        expected = "a data frame, a mapping from model to values or a mapping from data set to Predictions"
        raise refusal("results", expected, results)
    if any(isinstance(value, Rows) for value in results.values()):
        table = _results_of_predictions(results, metric)
    else:
        table = _results_of_arrays(results)
    n, m = table.values.shape
    if m < 2:
        raise InputError("models to compare", expected="two or more models", got=str(m))
    if n < 2:
        raise InputError("data sets", expected="two or more data sets", got=str(n))
    return replace(table, values=check.read_only(table.values))


def _results_of_arrays(results: Mapping[Any, Any]) -> ResultTable:
    columns = {str(name): np.asarray(values) for name, values in results.items()}
    if not columns:
        raise InputError("models to compare", expected="two or more models", got="0")
    first = next(iter(columns))
    for name, values in columns.items():
        if values.ndim != 1:
            got = f"{values.ndim} dimensions"
            raise ShapeError(
                f"results[{name!r}]",
                expected="1 dimension (one value per data set)",
                got=got,
                hint="pass the averages over folds",
            )
        if values.size != columns[first].size:
            expected = f"length {columns[first].size} as for {first!r}"
            raise PairingError("results", expected=expected, got=f"length {values.size} for {name!r}")
        if values.dtype.kind not in "iuf":
            raise ScoreError(f"results[{name!r}]", expected="numbers", got=f"values of type {values.dtype}")
        if not np.isfinite(values).all():
            got = check.count_and_first(~np.isfinite(values), "missing or infinite value")
            hint = "omit the data sets in which a model has no value"
            raise ScoreError(f"results[{name!r}]", expected="finite values", got=got, hint=hint)
    stacked = np.column_stack(list(columns.values())).astype(np.float64)
    return ResultTable(tuple(columns), stacked, "score")


def _results_of_predictions(results: Mapping[Any, Any], metric: Metric) -> ResultTable:
    rows: list[Array] = []
    models: tuple[str, ...] = ()
    quantity, sign = "", 1
    for name, preds in results.items():
        if not isinstance(preds, Rows):
            raise InputError(
                f"results[{name!r}]", expected="Predictions as for other data sets", got=type(preds).__name__
            )
        table = fold_scores(preds, metric)
        models = models or table.models
        quantity, sign = table.quantity, table.sign
        if table.models != models:
            raise PairingError(f"results[{name!r}]", expected=f"the models {models}", got=f"the models {table.models}")
        rows.append(table.values.mean(axis=1))
    return ResultTable(models, np.array(rows), quantity, sign)


Zeros = Literal["split", "drop", "pratt"]

_ZERO_METHODS = {"split": "zsplit", "drop": "wilcox", "pratt": "pratt"}
"""Values of the argument `zero_method` of `scipy.stats.wilcoxon`."""

_MOST_EXACT = 50
"""Largest number of data sets for the exact distribution of signed ranks, as in SciPy. Larger numbers use the normal
approximation."""


@contract
def compare_datasets(
    results: Any,
    *,
    metric: Metric = "auc",
    zeros: Zeros = "split",
    alternative: inference.Alternative = "two-sided",
    test: inference.Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: inference.PValueAdjust = "holm",
) -> inference.Comparisons:
    """Compare models over several data sets with Wilcoxon's signed-rank test.

    Parameters
    ----------
    results : mapping from model name to array of N values, data frame, or mapping from data set name to predictions
        Values of the metric for each model and data set. A data frame has one row per data set and one column per
        model. Predictions must have folds; the value is then the mean of the metric over the folds.
    metric : see `compare_folds`
    zeros : {"split", "drop", "pratt"}
        Treatment of data sets on which two models have equal values. "split" gives half of the ranks of these data sets
        to each model (Demšar). "drop" omits these data sets before ranking (Wilcoxon). "pratt" omits them after ranking
        (Pratt).
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        The difference between two models (second − first) is the Hodges–Lehmann estimate, which is the median of the
        Walsh averages. The estimate of each model is its median over the data sets, without an interval.

    Raises
    ------
    PairingError
        If models have different numbers of data sets.
    ScoreError
        If a value is missing or infinite.

    See Also
    --------
    friedman, compare_folds

    Notes
    -----
    The Walsh averages are the means (dᵢ + dⱼ)/2 of all pairs i ≤ j of the differences dᵢ between the two models. The
    interval contains the Walsh averages that the exact test for data without ties does not reject. The interval is
    infinite if there are too few data sets for the level (five or fewer at 95%).

    The test is `scipy.stats.wilcoxon`. The p-value is exact for at most 50 data sets without ties and zero differences.
    Otherwise, the p-value is a normal approximation. Two differences are tied if they agree to 13 digits of the largest
    value, because of rounding errors. To compare more than two models, use `friedman` first.

    References
    ----------
    Wilcoxon 1945, Biometrics 1:80–83; Hodges & Lehmann 1963; Demšar 2006, JMLR 7:1–30, §3.1.3.

    Examples
    --------
    >>> auc = {"tree": [0.70, 0.80, 0.60, 0.75, 0.90, 0.65], "bayes": [0.72, 0.81, 0.66, 0.80, 0.94, 0.68]}
    >>> compare_datasets(auc)["tree", "bayes"]
    Comparison(bayes − tree: 0.035, 95% CI [0.01, 0.06], p=0.0312, two-sided)
    """
    check.check_choice("zeros", zeros, tuple(_ZERO_METHODS))
    check.check_choice("adjust", adjust, inference.ADJUSTMENTS)
    hypothesis = inference.Hypothesis(alternative, test, margin, level)
    table = result_table(results, metric)
    n, m = table.values.shape
    estimates = {}
    for i, model in enumerate(table.models):
        median = float(np.median(table.values[:, i]))
        estimates[model] = inference.Estimate(median, nan, nan, level, "median", n)

    def compare(i: int, j: int) -> inference.Comparison:
        difference = _rounded_difference(table.values[:, i], table.values[:, j])
        return _signed_rank_comparison(table.models[i], table.models[j], difference, hypothesis, zeros)

    return inference.compare_each_two(table.quantity, estimates, np.full((m, m), nan), compare, adjust)


def _rounded_difference(first: Array, second: Array) -> Array:
    """Return second − first without rounding errors; differences that are equal up to rounding become ties."""
    largest = max(abs(first).max(), abs(second).max())
    if largest == 0:
        return second - first
    # The unit is a power of two, so rounding to a multiple of it is exact in binary.
    step = 2.0 ** np.floor(np.log2(largest)) * ROUNDING
    return np.round((second - first) / step) * step


def _signed_rank_comparison(
    first: str, second: str, difference: Array, hypothesis: inference.Hypothesis, zeros: Zeros
) -> inference.Comparison:
    tests = []
    for side, null in zip(("greater", "less"), hypothesis.nulls, strict=True):
        if null is not None:
            tests.append(_signed_ranks(difference - null, side, zeros))
    if hypothesis.test == "difference" and len(tests) == 2:
        statistic, p_value = _signed_ranks(difference, "two-sided", zeros)
    else:
        # Equivalence needs both one-sided tests to reject, so the larger p-value counts; other hypotheses have one
        # test.
        statistic, p_value = max(tests, key=lambda test: test[1])
    name = "Wilcoxon signed ranks"
    estimate = _hodges_lehmann(difference, hypothesis.level, name)
    return hypothesis.comparison(first, second, estimate, statistic, p_value, name)


def _signed_ranks(excess: Array, side: str, zeros: Zeros) -> tuple[float, float]:
    """Return the statistic and p-value of Wilcoxon's test of whether differences are centred at 0."""
    if not excess.any():  # SciPy cannot rank zero differences
        return nan, 1.0
    with without_warnings(UserWarning, ""):  # older SciPy warns when it approximates
        result: Any = stats.wilcoxon(excess, zero_method=_ZERO_METHODS[zeros], alternative=side)
    return float(result.statistic), float(result.pvalue)


def _hodges_lehmann(difference: Array, level: float, method: str) -> inference.Estimate:
    """Return the Hodges–Lehmann estimate: the median of the Walsh averages (dᵢ + dⱼ)/2 over all i ≤ j.

    The interval contains the values that Wilcoxon's test does not reject. The test statistic at a null value is the
    number of Walsh averages above this value. The interval therefore omits the same number of Walsh averages at both
    ends (Hodges & Lehmann 1963).
    """
    n = difference.size
    i, j = np.triu_indices(n)
    walsh = np.sort((difference[i] + difference[j]) / 2)
    omitted = _signed_rank_quantile(n, (1 - level) / 2)
    if omitted == 0:
        # Not even the most extreme outcome is rejected at this level.
        low, high = -inf, inf
    else:
        low, high = float(walsh[omitted - 1]), float(walsh[-omitted])
    return inference.Estimate(float(np.median(walsh)), low, high, level, method, n)


@lru_cache(maxsize=256)
def _signed_rank_quantile(n: int, tail: float) -> int:
    """Return the smallest t with P(T ≤ t) > tail, where T is the sum of the positive ranks of n differences."""
    if n > _MOST_EXACT:
        centre = n * (n + 1) / 4
        deviation = (n * (n + 1) * (2 * n + 1) / 24) ** 0.5
        return max(int(np.floor(centre + stats.norm.ppf(tail) * deviation)), 0)
    # Number of ways to reach each sum. Including a rank shifts the counts by that rank.
    ways = np.ones(1)
    for rank in range(1, n + 1):
        ways = np.concatenate([ways, np.zeros(rank)]) + np.concatenate([np.zeros(rank), ways])
    return int(np.searchsorted(np.cumsum(ways) / 2.0**n, tail, side="right"))


_FEW_DATASETS = 10
_FEW_MODELS = 5
"""Largest number of models for the exact test, which then takes less than a second. The approximations by χ² and F need
more than about 10 data sets and 5 models (Demšar 2006, §3.2.2)."""


def _exact_p_value(ranks: Array) -> float:
    """Return the exact p-value of Friedman's test, given the ranks (n data sets × m models).

    The p-value is the share of permutations of the ranks within rows whose rank sums have at least the observed sum of
    squares. For given ties, Friedman's χ² and Iman & Davenport's F both increase with this sum of squares. Both
    statistics therefore have this p-value.

    Notes
    -----
    A table contains each distinct vector of sorted rank sums with its probability. The loop adds one row of ranks at a
    time to this table. The rank sums may be sorted, because all orders of the columns are equally likely. Ranks are
    doubled to make them integers, so there are no rounding errors.

    Examples
    --------
    Two data sets rank three models in the same order. The probability of this by chance is 1/6:

    >>> round(_exact_p_value(np.array([[1, 2, 3], [1, 2, 3]])), 12)
    0.166666666667
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    # Each vector of sums is coded as one number, with the sums as digits, so that equal vectors can be merged.
    base = int(doubled.sum()) + 1
    digits = base ** np.arange(doubled.shape[1])
    sums = np.sort(doubled[:1], axis=1)
    probability = np.ones(1)
    for row in doubled[1:]:
        orders = np.array(list(permutations(row.tolist())))
        reached = np.sort(sums[:, np.newaxis] + orders, axis=2).reshape(-1, row.size)
        _, first, code = np.unique(reached @ digits, return_index=True, return_inverse=True)
        probability = np.bincount(code, np.repeat(probability / len(orders), len(orders)))
        sums = reached[first]
    observed = (doubled.sum(axis=0) ** 2).sum()
    return min(float(probability[(sums**2).sum(axis=1) >= observed].sum()), 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class RankComparison(Result):
    """Ranks of m models on N data sets, with Friedman's test and Nemenyi's test for each pair of models.

    `rocscope.evaluation.friedman` returns this result, and `rocscope.plotting.plot_critical_difference` draws it.

    Attributes
    ----------
    models : tuple of m names
        Names of the models.
    ranks : N × m array
        Rank of each model on each data set. Rank 1 is the best, and tied models share the mean of their ranks.
    statistic, p_value : float
        Friedman's χ², corrected for ties, and its p-value. The p-value is exact for small data, and otherwise from χ²
        with m − 1 degrees of freedom.
    f_statistic, f_p_value : float
        Iman & Davenport's F and its p-value. The p-value is exact for small data, and otherwise from F with m − 1 and
        (m − 1)(N − 1) degrees of freedom. The F approximation is more accurate than the χ² approximation.
    critical_difference : float
        Nemenyi's critical difference. Two models differ significantly if their mean ranks differ by more than this.
    level : float
        Confidence level of the intervals and of the critical difference.
    pairs : Comparisons
        Difference in mean rank for each pair of models, with Nemenyi's simultaneous intervals and p-values. A lower
        rank is better.
    quantity : str
        Name of the metric that was ranked.
    """

    _also = ("mean_rank", "groups")

    models: tuple[str, ...]
    ranks: Array
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float
    level: float
    pairs: inference.Comparisons
    quantity: str

    def __post_init__(self) -> None:
        check.set_fields(self, ranks=check.read_only(self.ranks))

    @property
    def mean_rank(self) -> dict[str, float]:
        """Mean rank of each model over the data sets."""
        return dict(zip(self.models, self.ranks.mean(axis=0).tolist(), strict=True))

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Groups of models that do not differ significantly.

        The mean ranks in a group differ by at most the critical difference. A group that is part of a larger group is
        omitted.
        """
        best_first = sorted(self.mean_rank, key=self.mean_rank.__getitem__)
        ranks = np.array([self.mean_rank[name] for name in best_first])
        groups: list[tuple[str, ...]] = []
        last_stop = 0
        for start, rank in enumerate(ranks):
            stop = start + int((ranks[start:] - rank <= self.critical_difference).sum())
            # A set with the same last model as the previous set is part of it. A single model is not a group.
            if stop > last_stop and stop - start > 1:
                groups.append(tuple(best_first[start:stop]))
            last_stop = max(last_stop, stop)
        return groups

    def __repr__(self) -> str:
        ranks = ", ".join(f"{name} {rank:.4g}" for name, rank in self.mean_rank.items())
        return (
            f"RankComparison(mean ranks: {ranks}; {len(self.ranks)} data sets, Friedman p={self.p_value:.3g}, "
            f"Iman–Davenport p={self.f_p_value:.3g}, critical difference {self.critical_difference:.4g})"
        )

    def _repr_html_(self) -> str:
        best_first = sorted(self.mean_rank.items(), key=lambda item: item[1])
        rows = [(name, number(rank)) for name, rank in best_first]
        return super()._repr_html_() + html_table(rows, ("", "mean rank"))


@contract
def friedman(
    results: Any, *, metric: Metric = "auc", larger_is_better: bool | None = None, level: float = 0.95
) -> RankComparison:
    """Test whether three or more models differ over several data sets, by Friedman's rank test.

    Parameters
    ----------
    results, metric : see `compare_datasets`
    larger_is_better : bool, optional
        True if large values are good, False for errors, losses and costs. The default is True for arrays. For
        predictions, the default follows from the metric.
    level : float
        Confidence level of the critical difference and of the intervals. The level 0.95 corresponds to a test at 5%.

    Returns
    -------
    RankComparison
        Mean ranks, the test of all models together, and the difference between each pair of models.

    Raises
    ------
    InputError
        If there are fewer than three models. For two models, use `compare_datasets`.

    See Also
    --------
    compare_datasets, plot_critical_difference

    Notes
    -----
    For N data sets and m models with mean ranks R̄, Friedman's statistic is χ² = 12N/(m(m+1))·(ΣR̄² − m(m+1)²/4),
    divided by the correction for ties. Iman & Davenport's statistic is F = (N − 1)χ²/(N(m − 1) − χ²), which is less
    conservative. With at most ten data sets and five models, the p-value of both statistics is an exact permutation
    p-value. Otherwise, the p-values are approximations by χ² and F. Two values are tied if they agree to 13 digits of
    the largest value in the data set.

    The critical difference is q·√(m(m+1)/(6N)). Here q·√2 is the quantile of the studentised range for m groups and
    infinite degrees of freedom. In Nemenyi's test, adding a third model can change the result for two models, because
    their ranks change. `compare_datasets` with Holm's correction does not have this flaw (Benavoli, Corani & Mangili
    2016).

    References
    ----------
    Friedman 1937; Iman & Davenport 1980, Commun. Stat. A9:571–595; Nemenyi 1963; Demšar 2006, JMLR 7:1–30, §3.2.

    Examples
    --------
    >>> auc = {"a": [0.9, 0.8, 0.7, 0.9], "b": [0.8, 0.7, 0.6, 0.8], "c": [0.7, 0.6, 0.5, 0.85]}
    >>> result = friedman(auc)
    >>> result
    RankComparison(mean ranks: a 1, b 2.25, c 2.75; 4 data sets, Friedman p=0.0417, Iman–Davenport p=0.0417,
    critical difference 1.657)
    >>> result.groups
    [('a', 'b'), ('b', 'c')]
    """
    level = check.check_level(level)
    table = result_table(results, metric)
    n, m = table.values.shape
    if m < 3:
        hint = "for two models, use compare_datasets"
        raise InputError("models to rank", expected="three or more models", got=str(m), hint=hint)
    descending = table.sign > 0 if larger_is_better is None else larger_is_better
    ranks = _ranks(-table.values if descending else table.values)
    if np.ptp(ranks):
        statistic, p_value = map(float, stats.friedmanchisquare(*ranks.T))
    else:  # all models equal on all data sets
        statistic, p_value = 0.0, 1.0
    # χ² reaches its largest value n(m − 1) if all data sets agree; F is then infinite, up to rounding.
    rest = n * (m - 1) - statistic
    f_statistic = (n - 1) * statistic / rest if rest > 1e-12 * n * m else inf
    f_p_value = 0.0 if isinf(f_statistic) else float(stats.f.sf(f_statistic, m - 1, (m - 1) * (n - 1)))
    if n <= _FEW_DATASETS and m <= _FEW_MODELS:
        p_value = f_p_value = _exact_p_value(ranks)
    critical_difference = _critical_difference(n, m, level)
    pairs = _nemenyi(table.models, ranks, level)
    tests = (statistic, p_value, f_statistic, f_p_value)
    return RankComparison(table.models, ranks, *tests, critical_difference, level, pairs, table.quantity)


def _ranks(values: Array) -> Array:
    """Rank the values within each row; values that differ only by rounding errors are tied."""
    order = np.argsort(values, axis=1)
    steps = np.diff(np.take_along_axis(values, order, axis=1), axis=1)
    distinct = steps > abs(values).max(axis=1, keepdims=True) * ROUNDING
    # Sorted values get increasing levels; tied values share a level, and `rankdata` averages their ranks.
    level = np.empty(values.shape)
    np.put_along_axis(level, order, np.cumsum(np.pad(distinct, ((0, 0), (1, 0))), axis=1), axis=1)
    return stats.rankdata(level, axis=1)


@lru_cache(maxsize=64)
def _critical_difference(n: int, m: int, level: float) -> float:
    """Return q/√2·√(m(m + 1)/(6n)), where q is the quantile of the studentised range. The result is cached."""
    quantile = float(stats.studentized_range.ppf(level, m, inf))
    return quantile / sqrt(2) * sqrt(m * (m + 1) / (6 * n))


def _nemenyi(models: tuple[str, ...], ranks: Array, level: float) -> inference.Comparisons:
    """Compare mean ranks with Nemenyi's test; p-values and intervals are simultaneous for all pairs of models."""
    n, m = ranks.shape
    mean = ranks.mean(axis=0)
    error = sqrt(m * (m + 1) / (6 * n))
    reach = _critical_difference(n, m, level)
    estimates = {}
    for name, rank in zip(models, mean, strict=True):
        estimates[name] = inference.Estimate(float(rank), nan, nan, level, "mean rank", n)
    pairs = []
    for i, j in combinations(range(m), 2):
        value = float(mean[j] - mean[i])
        statistic = abs(value) / error
        # The studentised range is in units of the standard deviation of one mean rank; a difference of two has √2 of
        # it.
        p_value = float(stats.studentized_range.sf(statistic * sqrt(2), m, inf))
        difference = inference.Estimate(value, value - reach, value + reach, level, "Nemenyi", n, error)
        names = (models[i], models[j])
        pair = inference.Comparison(*names, difference, statistic, p_value, "Nemenyi", adjusted_p_value=p_value)
        pairs.append(pair)
    return inference.Comparisons("mean rank", estimates, np.cov(ranks, rowvar=False) / n, pairs, "nemenyi")
