"""Tests of the expected cost of models at their thresholds."""

from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, warn
from rocscope.geometry import best_point
from rocscope.inference.crisp import Thresholds, predict
from rocscope.inference.estimate import Comparison, Comparisons
from rocscope.inference.hypothesis import Alternative, Hypothesis
from rocscope.inference.means import MeanSample, sample_of_means
from rocscope.inference.multiplicity import CORRECTIONS, Correction, with_adjusted
from rocscope.inference.placements import WeightKind
from rocscope.sample import rows_of


def compare_costs(
    predictions: Predictions,
    context: Context | None = None,
    *,
    thresholds: Thresholds | None = None,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    level: float = 0.95,
    correction: Correction = "holm",
    groups: Any = None,
    weights: WeightKind = "auto",
) -> Comparisons:
    """Differences of the expected cost per case in a context, on the same rows: second − first, below 0 if cheaper.

    Parameters
    ----------
    predictions : Predictions of two or more models
    context : Context, optional
        Prevalence and costs; by default errors of both kinds cost 1, so that cost is the error rate.
    thresholds : float or mapping from model name to float, optional
        By default the cheapest threshold of each model on these rows.
    alternative, margin, level, correction : see `compare`
    groups, weights : see `auc_interval`

    Returns
    -------
    Comparisons
        Estimates are costs per case.

    Raises
    ------
    InputError
        If there are fewer than two models.
    OneClassError
        If the context has a target prevalence and a class is missing.

    Warns
    -----
    RocscopeWarning
        Where no row costs differently under the two models: the interval then allows for one row each way.

    Notes
    -----
    z test of the mean of the rows' differences in cost; at a target prevalence, of the two class means. Thresholds are
    taken as given: those chosen on the same rows look cheaper than they are, most of all for the model with more
    levels. `bootstrap` with a statistic that chooses again allows for that.

    Examples
    --------
    >>> preds = Predictions([1, 1, 0, 0] * 10, {"a": [1, 1, 0, 1] * 10, "b": [1, 0, 0, 0] * 10})
    >>> compare_costs(preds, Context(cost_fn=5), thresholds=0.5)["a", "b"].difference
    Estimate(1, 95 % interval 0.264 to 1.736, z, paired, n=40)
    """
    hypothesis = Hypothesis(alternative, margin, level)
    check.check_choice("correction", correction, CORRECTIONS)
    predictions = rows_of(predictions)
    if len(predictions.models) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(predictions.models)}")
    context = context or Context()
    if thresholds is None:
        thresholds = {m: best_point(predictions.counts(m), context).threshold for m in predictions.models}
    predicted = predict(predictions, thresholds)
    cost = np.column_stack([_row_costs(predictions.y_true, positive, context) for positive in predicted.values()])
    sample = sample_of_means(predictions, cost, context.target_prevalence, groups, weights)
    names, covariance = predictions.models, sample.covariance
    estimates = {}
    for i, name in enumerate(names):
        estimates[name] = hypothesis.wald(float(sample.mean[i]), sqrt(covariance[i, i]), sample.n, _method("z", sample))
    pairs = [_compare(sample, cost, names, i, j, hypothesis) for i, j in combinations(range(len(names)), 2)]
    return Comparisons("expected cost", estimates, covariance, with_adjusted(pairs, correction), correction)


def _row_costs(positive: NDArray[np.bool_], predicted: NDArray[np.bool_], context: Context) -> Array:
    return np.where(
        positive,
        np.where(predicted, context.cost_tp, context.cost_fn),
        np.where(predicted, context.cost_fp, context.cost_tn),
    ).astype(np.float64)


def _compare(sample: MeanSample, cost: Array, names: list[str], i: int, j: int, hypothesis: Hypothesis) -> Comparison:
    covariance = sample.covariance
    variance = float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
    method, error = _method("z, paired", sample), sqrt(max(variance, 0.0))
    if np.ptp(cost[:, j] - cost[:, i]) == 0:
        warn(f"no row costs differently under {names[i]!r} and {names[j]!r}; the interval allows for one row each way")
        error = np.ptp(cost) * sqrt(2) / (sample.n + 2)
        method += ", one row added each way"
    difference = hypothesis.wald(float(sample.mean[j] - sample.mean[i]), error, sample.n, method)
    return hypothesis.compare(names[i], names[j], difference, method=method)


def _method(name: str, sample: MeanSample) -> str:
    return ", ".join(part for part in (name, sample.note) if part)
