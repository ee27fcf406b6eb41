"""Compare models over the folds of one data set, with tests that allow for shared training rows.

One value per model and fold: what comparisons over folds start from.

How probably is one model better, worse, or as good for all practical purposes: the Bayesian correlated t-test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import inf, nan, sqrt
from typing import Any, Literal, cast

import numpy as np
from scipy import stats

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.rows import Rows
from rocscope.errors import InputError, PairingError, ScoreError, ShapeError
from rocscope.evaluation.measures import Judged, Metric, measure_of
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import ADJUSTMENTS, Alternative, Hypothesis, PValueAdjust, Test, compare_each_two
from rocscope.sample import is_segmented, refusal


@dataclass(frozen=True, eq=False)
class FoldScores:
    """A metric of m models on the same n folds.

    Attributes
    ----------
    models : tuple of m names
    values : m × n array
        Folds of one repeat are neighbours.
    repeats : int or None
        How many repeats of equally many folds these are; None where that is not known.
    test_share : float or None
        Share of the rows that a fold tests; None where that is not known.
    quantity : str
    sign : int
        −1 where a small value is good.
    """

    models: tuple[str, ...]
    values: Array
    repeats: int | None
    test_share: float | None
    quantity: str
    sign: int = 1

    def require_test_share(self) -> float:
        """Return the share of rows in a test fold.

        Raises
        ------
        InputError
            If it was not given and does not follow from the folds.
        """
        if self.test_share is None:
            hint = "0.1 for ten-fold cross-validation; or pass arrays of repeats × folds"
            raise InputError("test_share", expected="the share of the rows that a fold tests", hint=hint)
        return self.test_share

    @property
    def variance_factor(self) -> float:
        """Factor from the variance over folds to that of their mean, which shared training rows increase.

        1/n + ρ/(1 − ρ) for n folds that each test the share ρ of the rows (Nadeau & Bengio 2003).
        """
        share = self.require_test_share()
        return 1 / self.values.shape[1] + share / (1 - share)

    def mean_difference(self, i: int, j: int) -> tuple[float, float]:
        """Return the mean over folds of model j minus model i, and its standard error.

        It is of the differences themselves, so that equal ones have exactly none.
        """
        difference = self.values[j] - self.values[i]
        variance = difference.var(ddof=1) * self.variance_factor if np.ptp(difference) else 0.0
        return float(difference.mean()), sqrt(variance)


def fold_scores(scores: Any, metric: Metric = "auc", test_share: float | None = None) -> FoldScores:
    """Return the values of at least two models from arrays, or from predictions with folds.

    Raises
    ------
    PairingError
        If models have different numbers of folds.
    InputError
        If there are fewer than two models or folds, or no fold column.
    ScoreError
        If a value is missing or infinite.
    """
    if test_share is not None:
        check.check_share(test_share, "test_share")
    if isinstance(scores, Rows):
        found = _of_predictions(cast(Judged, scores), metric)
    elif hasattr(scores, "items") and not is_segmented(scores):
        found = _of_arrays(scores)
    else:
        raise refusal("scores", "Predictions with folds, or a mapping from model to array", scores)
    if len(found.models) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(found.models)}")
    if found.values.shape[1] < 2:
        raise InputError("folds", expected="two or more", got=f"{found.values.shape[1]}")
    share = found.test_share if test_share is None else float(test_share)
    return FoldScores(found.models, check.read_only(found.values), found.repeats, share, found.quantity, found.sign)


def _of_arrays(scores: Mapping[Any, Any]) -> FoldScores:
    arrays = {str(name): np.asarray(values) for name, values in scores.items()}
    if not arrays:
        raise InputError("models to compare", expected="two or more", got="0")
    (first, shape), *_ = [(name, values.shape) for name, values in arrays.items()]
    if len(shape) not in (1, 2):
        raise ShapeError(f"scores[{first!r}]", expected="folds, or repeats × folds", got=f"{len(shape)} dimensions")
    for name, values in arrays.items():
        if values.shape != shape:
            raise PairingError("scores", expected=f"{shape} as of {first!r}", got=f"{values.shape} of {name!r}")
        if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            raise ScoreError(f"scores[{name!r}]", expected="finite numbers", got=_what_is_wrong(values))
    stacked = np.stack([values.ravel() for values in arrays.values()]).astype(np.float64)
    if len(shape) == 1:
        return FoldScores(tuple(arrays), stacked, None, None, "score")
    return FoldScores(tuple(arrays), stacked, shape[0], 1 / shape[1] if shape[1] > 1 else None, "score")


def _what_is_wrong(values: Array) -> str:
    if values.dtype.kind not in "iuf":
        return f"values of type {values.dtype}"
    return check.count_and_first(~np.isfinite(values.ravel()), "missing or infinite").replace("row", "fold")


def _of_predictions(preds: Judged, metric: Metric) -> FoldScores:
    measure = measure_of(metric, several_classes=hasattr(preds, "classes"))
    responses = getattr(preds.source, "responses", {})
    parts = list(preds.by_fold().items())
    repeats = [_repeat_of(part) for _, part in parts]
    order = sorted(range(len(parts)), key=lambda i: (repeats[i], i))
    values = np.empty((len(preds.models), len(parts)))
    for row, model in enumerate(preds.models):
        for column, i in enumerate(order):
            fold, part = parts[i]
            value = measure.of(part.select(models=[model]), responses.get(model, ""))
            if not np.isfinite(value):
                subject = f"{measure.name} of {model!r} in fold {fold!r}"
                hint = "it has none where the fold lacks a class that it needs"
                raise ScoreError(subject, expected="a number", got=f"{value}", hint=hint)
            values[row, column] = value
    each, count = np.unique(repeats, return_counts=True)
    equal = bool((count == count[0]).all())
    # Folds of one repeat share its rows out; a single one leaves open how many rows trained it.
    share = 1 / int(count[0]) if equal and count[0] > 1 and _complete(preds, each.size) else None
    models = tuple(preds.models)
    return FoldScores(models, values, each.size if equal else None, share, measure.name, measure.sign)


def _repeat_of(part: Judged) -> Any:
    repeat = getattr(part, "repeat", None)
    return 0 if repeat is None else repeat[0]


def _complete(preds: Judged, repeats: int) -> bool:
    """Whether each repeat tests all rows once, as far as the predictions show."""
    source = preds.source
    return source is None or len(preds) == repeats * (source.rows_read - source.rows_dropped)


Method = Literal["corrected_t", "5x2_t", "5x2_f"]

METHODS = ("corrected_t", "5x2_t", "5x2_f")
_FIVE_BY_TWO = (5, 2)  # repeats and folds of Alpaydin's test
_F_FREEDOM = (10, 5)  # degrees of freedom of its F statistic


@contract
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
    """Compare a metric of models over the folds of one data set: second − first, with tests.

    Parameters
    ----------
    scores : mapping from model name to array of folds, or of repeats × folds; or predictions with a fold column
        As `evaluate` gives them, of two classes or more. All models on the same folds.
    method : {"corrected_t", "5x2_t", "5x2_f"}
        Nadeau & Bengio's corrected resampled t-test; for five repeats of two folds also Dietterich's t-test and
        Alpaydin's combined F-test.
    metric : str, Context, CostMatrix or function
        For predictions: what is computed in each fold, see `bootstrap_632`. What needs decisions takes those of the
        models; where predictions hold none, the threshold of probabilities is 0.5.
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
    estimates = {name: task.estimate(i) for i, name in enumerate(found.models)}
    return compare_each_two(found.quantity, estimates, task.covariance, task.compare, adjust)


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


_METHOD = "Bayesian correlated t"


@dataclass(frozen=True, repr=False)
class PracticalComparison(Comparison):
    """Posterior probabilities of second − first over folds.

    Parameters
    ----------
    first, second, difference, statistic, p_value, method, … : see `Comparison`
        The interval is a credible one; there is no statistic and no p-value.
    rope : float
        Differences from −rope to rope are too small to matter.
    first_better, equivalent, second_better : float
        Probabilities that second − first is below −rope, within, and above rope; they sum to 1.

    Examples
    --------
    >>> from rocscope.inference import Estimate
    >>> gain = Estimate(0.02, 0.0, 0.04, level=0.95, method="Bayesian correlated t", n=10)
    >>> PracticalComparison("a", "b", gain, nan, nan, gain.method, rope=0.01, equivalent=0.2, second_better=0.8)
    PracticalComparison(b − a: 0.02, 95 % interval 0 to 0.04; a better 0, equivalent (±0.01) 0.2, b better 0.8)
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
    scores: Any,
    rope: float,
    *,
    metric: Metric = "auc",
    test_share: float | None = None,
    level: float = 0.95,
) -> Comparisons:
    """Compute the probabilities that one model is better, worse or practically equivalent, over folds.

    Parameters
    ----------
    scores, metric, test_share : see `compare_folds`
    rope : float
        Region of practical equivalence: differences from −rope to rope are too small to matter, such as 0.01 for
        accuracy. At 0 only better and worse are left.
    level : float
        Of the credible intervals.

    Returns
    -------
    Comparisons
        Of `PracticalComparison`.

    Raises
    ------
    InputError
        If rope is negative, or the share of test rows is not known.

    Notes
    -----
    With a flat prior, the mean difference in the population has a Student distribution with n − 1 degrees of freedom
    around the mean of the n folds, of scale √(s²·(1/n + ρ)) as in Nadeau & Bengio's test (`compare_folds`).
    The numbers equal its p-values, but are probabilities of the hypotheses. Where folds do not differ at all the
    probability is 1 on the side where their difference lies, and one half on each side for a difference of 0 without a
    rope.

    References
    ----------
    Corani & Benavoli 2015, Mach. Learn. 100:285–304; Benavoli, Corani, Demšar & Zaffalon 2017, JMLR 18:1–36.

    Examples
    --------
    >>> accuracy = {"tree": [0.80, 0.75, 0.70, 0.75], "bayes": [0.90, 0.80, 0.85, 0.85]}
    >>> found = practical_equivalence(accuracy, rope=0.01, test_share=0.25)["tree", "bayes"]
    >>> found
    PracticalComparison(bayes − tree: 0.1, 95 % interval 0.0007698 to 0.1992; tree better 0.0193,
    equivalent (±0.01) 0.0122, bayes better 0.968)
    """
    hypothesis = Hypothesis(level=level)
    check.check_number(rope, "rope", "a number of at least 0", least=0)
    found = fold_scores(scores, metric, test_share)
    n = found.values.shape[1]
    covariance = corrected_covariance(found)
    pairs = [_pair(found, i, j, float(rope), hypothesis) for i, j in combinations(range(len(found.models)), 2)]
    estimates = {
        name: hypothesis.wald(float(found.values[i].mean()), sqrt(covariance[i, i]), n, _METHOD, df=n - 1)
        for i, name in enumerate(found.models)
    }
    return Comparisons(found.quantity, estimates, covariance, pairs, "none")


def _pair(found: FoldScores, i: int, j: int, rope: float, hypothesis: Hypothesis) -> PracticalComparison:
    mean, spread = found.mean_difference(i, j)
    n = found.values.shape[1]
    below, above = (_tail(sign * mean - rope, spread, n - 1) for sign in (-1, 1))
    if not rope and not spread and not mean:
        below = above = 0.5
    difference = hypothesis.wald(mean, spread, n, _METHOD, df=n - 1)
    return PracticalComparison(
        found.models[i],
        found.models[j],
        difference,
        nan,
        nan,
        _METHOD,
        df=n - 1,
        rope=rope,
        first_better=below,
        equivalent=max(1 - below - above, 0.0) if rope else 0.0,
        second_better=above,
    )


def _tail(excess: float, spread: float, df: int) -> float:
    """Return the probability of a positive value, given an excess."""
    return float(stats.t.cdf(excess / spread, df)) if spread else float(excess > 0)
