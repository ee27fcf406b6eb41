"""Tests of two classifiers at their thresholds: McNemar (paired), and two independent error rates."""

from collections.abc import Mapping
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base import special
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.radix import count_at_least
from rocscope.core.point import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.core.rows import require_distinct
from rocscope.errors import ColumnError, InputError, WeightError
from rocscope.inference.estimate import Comparison, Estimate
from rocscope.inference.hypothesis import Alternative, Hypothesis, Test
from rocscope.inference.proportions import normal_quantile
from rocscope.sample import point_of, rows_of

Thresholds = float | Mapping[str, float]
McNemar = Literal["mid-p", "exact", "asymptotic"]


@contract
def mcnemar(
    predictions: Predictions,
    thresholds: Thresholds | None = None,
    *,
    among: Literal["all", "positives", "negatives"] = "all",
    method: McNemar = "mid-p",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Comparison:
    """Test whether the second of two classifiers is correct more often than the first on the same rows (McNemar).

    Parameters
    ----------
    predictions : Predictions of two models
        Weights, where there are any, are numbers of equal rows.
    thresholds : float or mapping from model name to float, optional
        Each predicts positive iff ``score >= threshold``; thresholds chosen elsewhere. Left out, the models' own
        decisions are compared.
    among : {"all", "positives", "negatives"}
        Compares accuracy, tpr, or tnr.
    method : {"mid-p", "exact", "asymptotic"}
        Binomial with half of the probability of the observed table, which holds its level almost always; binomial,
        which is conservative; z = (b − c)/√(b + c), for many discordant rows.
    alternative : {"two-sided", "greater", "less"}
        What is to be shown of second − first.
    level : float

    Returns
    -------
    Comparison
        The statistic is the number of rows that only the second has right.

    Raises
    ------
    InputError
        If there are not two models, or no rows of the class asked for.
    WeightError
        If weights are not whole.

    Notes
    -----
    With b rows that only the second and c rows that only the first has right, the difference is (b − c)/n. Its interval
    is Bonett and Price's: Wald's with one row added to both b and c, so that it never collapses.

    References
    ----------
    McNemar 1947, Psychometrika 12:153–157; Fagerland, Lydersen & Laake 2013, BMC Med. Res. Methodol. 13:91 (mid-p);
    Bonett & Price 2012, Br. J. Math. Stat. Psychol. 65:479–488.

    Examples
    --------
    >>> preds = Predictions([1, 1, 1, 0, 0, 0], {"a": [1, 0, 0, 0, 0, 1], "b": [1, 1, 1, 0, 0, 0]})
    >>> test = mcnemar(preds, 0.5)
    >>> test.statistic, test.p_value
    (3.0, 0.125)
    """
    hypothesis = Hypothesis(alternative, level=level)
    check.check_choice("method", method, ("mid-p", "exact", "asymptotic"))
    check.check_choice("among", among, ("all", "positives", "negatives"))
    predictions = rows_of(predictions)
    if len(predictions.models) != 2:
        hint = "choose them: predictions.select(models=[first, second])"
        raise InputError("models to compare", expected="two", got=f"{len(predictions.models)}", hint=hint)
    require_distinct(predictions, "McNemar's test")
    weight = _whole_weights(predictions)
    rows = {"all": np.ones(len(predictions), bool), "positives": predictions.y_true, "negatives": ~predictions.y_true}
    right = [predicted == predictions.y_true for predicted in predict(predictions, thresholds).values()]
    n = int(weight[rows[among]].sum())
    if not n:
        raise InputError("McNemar's test", expected=f"rows among {among}", got="none")
    only_second = int(weight[rows[among] & right[1] & ~right[0]].sum())
    only_first = int(weight[rows[among] & right[0] & ~right[1]].sum())
    p_value = _discordance(only_second, only_first, method, alternative)
    z = normal_quantile(level)
    gain, loss = (only_second + 1) / (n + 2), (only_first + 1) / (n + 2)
    error = sqrt((gain + loss - (gain - loss) ** 2) / (n + 2))
    low, high = max(gain - loss - z * error, -1.0), min(gain - loss + z * error, 1.0)
    difference = Estimate((only_second - only_first) / n, low, high, level, "Bonett–Price", n, error)
    first, second = predictions.models
    name = f"McNemar, {method}" + ("" if among == "all" else f", {among}")
    return Comparison(first, second, difference, float(only_second), p_value, name, hypothesis.alternative)


def _whole_weights(predictions: Predictions) -> Array:
    weight = predictions.sample_weight
    if weight is None:
        return np.ones(len(predictions), np.int64)
    if (weight % 1).any():
        raise WeightError("McNemar's test", expected="whole weights, numbers of equal rows", got="fractions")
    return weight.astype(np.int64)


def predict(predictions: Predictions, thresholds: Thresholds | None) -> dict[str, NDArray[np.bool_]]:
    """Return each model's positive predictions; thresholds are compared exactly."""
    own = predictions.decisions
    cut = {} if thresholds is None else check.by_name(thresholds, predictions.models)
    missing = [model for model in predictions.models if model not in (own if thresholds is None else cut)]
    if missing:
        hint = "models that bring no decisions need one" if thresholds is None else ""
        expected = f"one for each of {predictions.models}"
        raise ColumnError("thresholds", expected=expected, got=f"none for {missing}", hint=hint)
    return {model: _at_least(predictions, model, cut[model]) if cut else own[model] for model in predictions.models}


def _at_least(predictions: Predictions, model: str, threshold: float) -> NDArray[np.bool_]:
    score, levels = predictions.scores[model], predictions.counts(model).threshold
    reached = count_at_least(levels, threshold)
    return score >= levels[reached - 1] if reached else np.zeros(score.size, bool)


def _discordance(only_second: int, only_first: int, method: McNemar, alternative: Alternative) -> float:
    total = only_second + only_first
    if not total:
        return 1.0
    if method == "asymptotic":
        return Hypothesis(alternative).p_value((only_second - only_first) / sqrt(total))
    also = 1 if method == "mid-p" else 0  # half of what is seen counts: the mean of the tails with and without it

    def tail(seen: int) -> float:
        return float(special.bdtrc([seen - 1, seen - 1 + also], total, 0.5).mean())

    upper, lower = tail(only_second), tail(only_first)
    if alternative == "two-sided":
        return float(min(2 * min(upper, lower), 1.0))
    return float(upper if alternative == "greater" else lower)


@contract
def compare_errors(
    first: OperatingPoint,
    second: OperatingPoint,
    *,
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
) -> Comparison:
    """Compare two error rates on independent test sets: second − first.

    Parameters
    ----------
    first, second : OperatingPoint
    alternative, test, margin, level : see `compare`

    Returns
    -------
    Comparison
        Difference with interval and test.

    Notes
    -----
    d ± z·√(e₁(1 − e₁)/n₁ + e₂(1 − e₂)/n₂). For the same rows use `mcnemar`, which knows that they are the same.

    References
    ----------
    Tan, Steinbach & Kumar 2005, Introduction to Data Mining, §4.6.2.

    Examples
    --------
    The book's two models, with an error of 15 % on 30 and of 25 % on 5,000 records:

    >>> a = OperatingPoint(tp=15, fp=2.25, fn=2.25, tn=10.5)
    >>> b = OperatingPoint(tp=2000, fp=625, fn=625, tn=1750)
    >>> compare_errors(a, b).difference
    Estimate(0.1, 95 % interval -0.02834 to 0.2283, Wald, independent test sets, n=5030)
    """
    hypothesis = Hypothesis(alternative, test, margin, level)
    first, second = point_of(first, name="first"), point_of(second, name="second")
    for name, point in (("first", first), ("second", second)):
        if not point.n:
            raise InputError(name, expected="cases", got="none")
    variance = sum(point.error * (1 - point.error) / point.n for point in (first, second))
    name = "Wald, independent test sets"
    difference = hypothesis.wald(second.error - first.error, sqrt(variance), first.n + second.n, name, bound=1)
    return hypothesis.compare("first", "second", difference, method=name)
