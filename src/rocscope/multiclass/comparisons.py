"""Compare models by multi-class AUC and by expected cost, on the same rows.

Is B better than A: models of the same rows compared in an AUC of more than two classes.
"""

from math import sqrt
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.rows import require_distinct
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import (
    OF_ESTIMATES,
    Adjust,
    Alternative,
    Hypothesis,
    PValueAdjust,
    Test,
    compare_each_two,
)
from rocscope.inference.influence.units import is_selection
from rocscope.inference.proportions import mover_difference, normal_quantile, of_share
from rocscope.multiclass.class_areas import (
    ClassColumns,
    Variant,
    auc_estimate,
    coefficients,
    covariance_of_components,
    multiclass_auc,
    row_components,
    variant_weights,
)
from rocscope.multiclass.cost_matrix import CostMatrix, check_reject_cost
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of
from rocscope.multiclass.table_statistics import resampled

_ROUNDING = 1e-14  # a variance of a difference below this share is what rounding leaves of 0


@contract
def compare_multiclass_auc(
    predictions: MulticlassPredictions,
    variant: Variant = "hand_till",
    *,
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: Adjust = "holm",
) -> Comparisons:
    """Compare a multi-class AUC of models on the same rows, with intervals and tests.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Models that predict labels only are left out.
    variant : {"hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted"}
        Which average; see `MulticlassAuc`.
    alternative, test, margin, level, adjust : see `rocscope.compare`

    Returns
    -------
    Comparisons
        One Comparison for each pair of models.

    Raises
    ------
    InputError
        If there are fewer than two models with probabilities.
    OneClassError
        If there are cases of one class only.

    Notes
    -----
    As DeLong's test for two classes: z = D/√(V₁ + V₂ − 2C), with variances and covariance from the placements of the
    rows within their classes.

    Examples
    --------
    >>> first = np.array([[6, 3, 1], [5, 1, 4], [2, 7, 1], [4, 3, 3], [3, 2, 5], [2, 5, 3]]) / 10
    >>> preds = MulticlassPredictions(list("aabbcc"), {"a": first, "b": first[[0, 1, 2, 4, 3, 5]]})
    >>> compare_multiclass_auc(preds)["a", "b"]
    Comparison(b − a: -0.1667, 95 % interval -0.4882 to 0.1548, p=0.31, two-sided, DeLong of hand_till, paired)
    """
    hypothesis = Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, OF_ESTIMATES)
    predictions = predictions_of(predictions)
    require_distinct(predictions, "comparison of multi-class AUCs")
    models = list(predictions.proba)
    if len(models) < 2:
        raise InputError("models with probabilities", expected="two or more", got=f"{len(models)}")
    support = predictions.support
    weight = coefficients(variant_weights(variant, support), support)
    if not weight.any():
        raise OneClassError("comparison", expected="cases of two classes", got="fewer")
    rows = [ClassColumns.of(predictions.y_true, predictions.proba[m], predictions.sample_weight) for m in models]
    components = np.column_stack([row_components(model, weight) for model in rows])
    covariance = covariance_of_components(rows[0], components)
    values = [multiclass_auc(predictions, model=model).average(variant).value for model in models]
    estimates = {
        model: auc_estimate(variant, value, float(covariance[i, i]), support, level)
        for i, (model, value) in enumerate(zip(models, values, strict=True))
    }
    name = f"DeLong of {variant}, paired"

    def compare(i: int, j: int) -> Comparison:
        variances = covariance[i, i] + covariance[j, j]
        variance = variances - 2 * covariance[i, j]
        if variance > _ROUNDING * variances:
            difference = hypothesis.wald(values[j] - values[i], sqrt(variance), predictions.n, name, bound=1)
        else:
            warn(f"{models[j]!r} − {models[i]!r}: the variance of the difference is 0 or undefined")
            both = estimates[models[i]], estimates[models[j]]
            difference = mover_difference(*both, "intervals of both (MOVER)", both[0].n)
        return hypothesis.compare(models[i], models[j], difference, method=name)

    return compare_each_two(variant, estimates, covariance, compare, adjust)


@contract
def compare_multiclass_costs(
    predictions: MulticlassPredictions,
    cost: CostMatrix,
    *,
    decide: bool = True,
    reject_cost: float | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    adjust: PValueAdjust = "holm",
    replicates: int = 2000,
    random_state: Any = 0,
) -> Comparisons:
    """Compare the cost per case of models on the same rows, with paired bootstrap intervals.

    Parameters
    ----------
    predictions : MulticlassPredictions
    cost : CostMatrix
    decide : bool
        Decide each row by the least expected cost; else by the most probable class. Models that predict labels only
        keep those.
    reject_cost : float, optional
        Cost of leaving a case undecided, with `decide`.
    alternative, level, adjust : see `rocscope.compare`
        "less" is what a cheaper second model would show.
    replicates : int
    random_state : int, Generator, RandomState or None
        Of the bootstrap.

    Returns
    -------
    Comparisons
        One Comparison for each pair of models.

    Raises
    ------
    InputError
        If there are fewer than two models.

    Warns
    -----
    RocscopeWarning
        Where all rows cost alike: no replicate differs, and the interval allows for rows that were not seen.

    Notes
    -----
    Rows are drawn with what each model costs on them. Rows that cost alike, and weigh alike, are one kind, so that a
    replicate is a multinomial draw. Whole weights are numbers of equal rows; others go along with their row. The
    interval is that of the percentiles; the p-value refers the difference over its bootstrap standard error to the
    normal distribution.

    Examples
    --------
    >>> decisions = {"x": list("aabbca") * 10, "y": list("abbccc") * 10}
    >>> preds = MulticlassPredictions(list("aabbcc") * 10, decisions=decisions)
    >>> compare_multiclass_costs(preds, CostMatrix.errors("abc"))["x", "y"].difference.value
    0.16666666666666666
    """
    predictions = predictions_of(predictions)
    require_distinct(predictions, "comparison of multi-class costs")
    if len(predictions.models) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(predictions.models)}")
    hypothesis = Hypothesis(alternative, level=level)
    reject_cost = None if reject_cost is None else check_reject_cost(reject_cost)
    paid = np.column_stack([_paid(predictions, cost, m, decide, reject_cost) for m in predictions.models])
    names = predictions.models
    spread = float(np.ptp([*cost.cost.ravel(), *([] if reject_cost is None else [reject_cost])]))
    options = {"replicates": replicates, "level": level, "random_state": check.seed_of(random_state)}

    def mean(column: Array, possible: float) -> Estimate:
        return _never_certain(_mean(column, predictions.sample_weight, **options), possible)

    estimates = {name: mean(paid[:, i], spread) for i, name in enumerate(names)}

    def compare(i: int, j: int) -> Comparison:
        difference = mean(paid[:, j] - paid[:, i], 2 * spread)
        return hypothesis.compare(names[i], names[j], difference, method=f"paired {difference.method}")

    covariance = _covariance_of_means(paid, predictions.sample_weight)
    return compare_each_two("cost per case", estimates, covariance, compare, adjust)


def _paid(
    predictions: MulticlassPredictions, cost: CostMatrix, model: str, decide: bool, reject_cost: float | None
) -> Array:
    if decide and model in predictions.proba:
        decided = cost.decide(predictions.proba[model], reject_cost=reject_cost)
    else:
        decided = predictions.predicted(model)
    return cost.of_rows(predictions.y_true, decided, reject_cost=reject_cost)


def _never_certain(estimate: Estimate, possible: float) -> Estimate:
    """Widen an interval of zero width by the possible cost of unseen rows: Wilson's bound of their share."""
    if estimate.standard_error > 0:
        return estimate
    warn("all rows cost alike, so that the bootstrap does not vary; the interval is Wilson's for rows not seen")
    reach = possible * (1 - float(of_share(estimate.n, estimate.n, "wilson", estimate.level)[0]))
    ends = estimate.value - reach, estimate.value + reach
    standard_error = reach / normal_quantile(estimate.level)
    return Estimate(estimate.value, *ends, estimate.level, "Wilson for rows not seen", estimate.n, standard_error)


def _covariance_of_means(paid: Array, weight: Array | None) -> Array:
    """Return the limit of the bootstrap covariance for many replicates."""
    weight = np.ones(len(paid), np.int64) if weight is None else weight
    total = weight.sum()
    centred = paid - weight @ paid / total
    power = weight if is_selection(weight) else weight**2
    return (centred.T * power) @ centred / total**2


def _mean(values: Array, weight: Array | None, **options: Any) -> Estimate:
    """Return the weighted mean of a column with its bootstrap interval, stratified by kind."""
    weight = np.ones(values.size, np.int64) if weight is None else weight
    whole = is_selection(weight)
    kinds, place = np.unique(
        np.column_stack([values, np.ones(values.size) if whole else weight]), axis=0, return_inverse=True
    )
    frequency = np.bincount(place.reshape(-1), weight if whole else None).astype(np.int64)

    def mean(drawn: Array) -> Array:
        return drawn @ (kinds[:, 0] * kinds[:, 1]) / (drawn @ kinds[:, 1])

    return resampled(frequency, mean, **options)
