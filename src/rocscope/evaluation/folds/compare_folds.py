"""Is B better than A over the folds of one data set: tests that allow for folds sharing training rows."""

from itertools import combinations
from math import inf, nan, sqrt
from typing import Any, Literal

import numpy as np
from scipy import stats

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.errors import InputError, ShapeError
from rocscope.evaluation.folds.fold_scores import FoldScores, fold_scores
from rocscope.evaluation.measures import Metric
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import Alternative, Hypothesis, Test
from rocscope.inference.multiplicity import ADJUSTMENTS, PValueAdjust, with_adjusted

Method = Literal["corrected_t", "5x2_t", "5x2_f"]

METHODS = ("corrected_t", "5x2_t", "5x2_f")
_FIVE_BY_TWO = (5, 2)
_F_FREEDOM = (10, 5)


def compare_folds(
    scores: Any,
    *,
    method: Method = "corrected_t",
    metric: Metric = "auc",
    test_share: float | None = None,
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: PValueAdjust = "holm",
) -> Comparisons:
    """Differences of a metric between models over the folds of one data set: second − first, with tests.

    Parameters
    ----------
    scores : mapping from model name to array of folds, or of repeats × folds; or predictions with a fold column
        As `evaluate` gives them, of two classes or more. All models on the same folds.
    method : {"corrected_t", "5x2_t", "5x2_f"}
        Nadeau & Bengio's corrected resampled t-test; for five repeats of two folds also Dietterich's t-test and
        Alpaydin's combined F-test.
    metric : str, Context, CostMatrix or function
        For predictions: what is computed in each fold, see `bootstrap_632`. What needs decisions takes those of the
        models; where predictions hold none, probabilities are cut at 0.5.
    test_share : float, optional
        Share of the rows that a fold tests, such as 0.1 in ten-fold cross-validation. Left out, it is that of
        cross-validation, 1/folds, where scores are arrays of repeats × folds, or predictions whose repeats test every
        row; else it must be given.
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        The differences are means over the folds. Their intervals belong to the corrected t-test; the other two give
        none.

    Raises
    ------
    InputError
        If the share of test rows is not known, or a one-sided F-test is asked for.
    ShapeError
        If the method needs five repeats of two folds and gets others.
    PairingError, ScoreError
        If models have different folds, or a fold lacks its value (an AUC needs both classes).

    Notes
    -----
    Folds share training rows, so that their values are not independent and a plain t-test finds too much. With the
    differences d of n folds in all, of variance s², and ρ = test_share/(1 − test_share):

    - corrected t: mean(d)/√(s²·(1/n + ρ)), n − 1 degrees of freedom;
    - 5×2 t: d₁₁/√(Σs²ᵢ/5) with s²ᵢ = Σⱼ(dᵢⱼ − d̄ᵢ)², five degrees of freedom. It rests on the first difference, so that
      another order of the folds gives another p;
    - 5×2 F: Σd²/(2Σs²ᵢ) with 10 and 5 degrees of freedom (`df` is the latter), whatever the order.

    The correction is an approximation: the correlation of folds is taken to be test_share, which no data can confirm.
    The question is of learners on training sets of this size; of two fitted models on one test set ask `compare`.

    References
    ----------
    Nadeau & Bengio 2003, Mach. Learn. 52:239–281; Dietterich 1998, Neural Comput. 10:1895–1923;
    Alpaydin 1999, Neural Comput. 11:1885–1892; Bouckaert & Frank 2004, PAKDD (repeats × folds).

    Examples
    --------
    >>> accuracy = {"tree": [[0.80, 0.75], [0.70, 0.75]], "bayes": [[0.90, 0.80], [0.85, 0.85]]}
    >>> compare_folds(accuracy)["tree", "bayes"]
    Comparison(bayes − tree: 0.1, 95 % interval -0.04526 to 0.2453, p=0.116, two-sided, corrected resampled t)
    >>> compare_folds({"a": [0.80, 0.75, 0.70], "b": [0.9, 0.8, 0.85]}, test_share=0.2)["a", "b"].df
    2
    """
    check.check_choice("method", method, METHODS)
    check.check_choice("adjust", adjust, ADJUSTMENTS)
    hypothesis = Hypothesis(alternative, test, margin, level)
    found = fold_scores(scores, metric, test_share)
    if method == "corrected_t":
        task: _CorrectedT | _FiveByTwo = _CorrectedT(found, hypothesis)
    else:
        task = _FiveByTwo(found, hypothesis, method)
    pairs = [task.compare(i, j) for i, j in combinations(range(len(found.models)), 2)]
    estimates = {name: task.estimate(i) for i, name in enumerate(found.models)}
    return Comparisons(found.quantity, estimates, task.covariance, with_adjusted(pairs, adjust), adjust)


def corrected_covariance(found: FoldScores) -> Array:
    """Return the covariance (m × m) of the means over folds, corrected for the training rows that folds share."""
    return np.atleast_2d(np.cov(found.values)) * found.variance_factor


class _CorrectedT:
    name = "corrected resampled t"

    def __init__(self, found: FoldScores, hypothesis: Hypothesis) -> None:
        self.found, self.hypothesis = found, hypothesis
        self.covariance = corrected_covariance(found)
        self.n = found.values.shape[1]

    def estimate(self, i: int) -> Estimate:
        spread = sqrt(self.covariance[i, i])
        return self.hypothesis.wald(self.found.values[i].mean(), spread, self.n, self.name, df=self.n - 1)

    def compare(self, i: int, j: int) -> Comparison:
        estimate = self.hypothesis.wald(*self.found.mean_difference(i, j), self.n, self.name, df=self.n - 1)
        first, second = self.found.models[i], self.found.models[j]
        return self.hypothesis.compare(first, second, estimate, df=self.n - 1, method=self.name)


class _FiveByTwo:
    def __init__(self, found: FoldScores, hypothesis: Hypothesis, method: str) -> None:
        n = found.values.shape[1]
        if found.repeats is None or (found.repeats, n // found.repeats) != _FIVE_BY_TWO:
            got = f"{n} folds" if found.repeats is None else f"{found.repeats} × {n // found.repeats}"
            raise ShapeError(f"method={method!r}", expected="five repeats of two folds (arrays of 5 × 2)", got=got)
        if method == "5x2_f" and (hypothesis.alternative, hypothesis.test) != ("two-sided", "difference"):
            hint = "use method='5x2_t' or 'corrected_t'"
            raise InputError("method='5x2_f'", expected="a two-sided test", got=hypothesis.aim, hint=hint)
        self.found, self.hypothesis, self.method = found, hypothesis, method
        self.name = "5×2 cv t" if method == "5x2_t" else "combined 5×2 cv F"
        within = found.values.reshape(-1, *_FIVE_BY_TWO)
        within = (within - within.mean(axis=2, keepdims=True)).reshape(len(found.models), -1)
        self.covariance = within @ within.T / 5

    def estimate(self, i: int) -> Estimate:
        return self._without_interval(float(self.found.values[i].mean()), sqrt(self.covariance[i, i]))

    def _without_interval(self, value: float, spread: float) -> Estimate:
        return Estimate(value, nan, nan, self.hypothesis.level, self.name, self.found.values.shape[1], spread)

    def compare(self, i: int, j: int) -> Comparison:
        first, second = self.found.models[i], self.found.models[j]
        difference = self.found.values[j] - self.found.values[i]
        pairs = difference.reshape(_FIVE_BY_TWO)
        variance = float(((pairs - pairs.mean(axis=1, keepdims=True)) ** 2).sum()) / 5
        if self.method == "5x2_t":
            tested = self._without_interval(float(pairs[0, 0]), sqrt(variance))
            found = self.hypothesis.compare(first, second, tested, df=5, method=self.name)
            statistic, p_value = found.statistic, found.p_value
        else:
            statistic = _ratio(float((difference**2).sum()), 2 * 5 * variance)
            p_value = float(stats.f.sf(statistic, *_F_FREEDOM))
        shown = self._without_interval(float(difference.mean()), sqrt(variance))
        return self.hypothesis.comparison(first, second, shown, statistic, p_value, self.name, df=5)


def _ratio(above: float, below: float) -> float:
    if below == 0:
        return 0.0 if above == 0 else inf
    return above / below
