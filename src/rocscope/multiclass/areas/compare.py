"""Is B better than A: models of the same rows compared in an AUC of more than two classes."""

from itertools import combinations
from math import sqrt

import numpy as np

from rocscope import _validation as check
from rocscope.core.rows import require_distinct
from rocscope.errors import InputError, OneClassError, warn
from rocscope.inference.estimate import Comparison, Comparisons
from rocscope.inference.hypothesis import Alternative, Hypothesis, Test
from rocscope.inference.intervals import mover_difference
from rocscope.inference.multiplicity import OF_ESTIMATES, Adjust, with_adjusted_together
from rocscope.multiclass.areas.auc import Variant, auc_estimate, coefficients, multiclass_auc, variant_weights
from rocscope.multiclass.areas.pairwise import ClassColumns, covariance_of_components, row_components
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of

_ROUNDING = 1e-14  # a variance of a difference below this share is what rounding leaves of 0


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
    """Differences of an AUC of more than two classes between models of the same rows, with intervals and tests.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Models that predict labels only are left out.
    variant : {"hand_till", "aunu", "aunp", "au1u", "au1p", "ovo_weighted"}
        Which average; see `MulticlassAuc`.
    alternative, test, margin, level, adjust : see `rocscope.compare`

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
    pairs: list[Comparison] = []
    for i, j in combinations(range(len(models)), 2):
        variances = covariance[i, i] + covariance[j, j]
        variance = variances - 2 * covariance[i, j]
        name = f"DeLong of {variant}, paired"
        if variance > _ROUNDING * variances:
            difference = hypothesis.wald(values[j] - values[i], sqrt(variance), predictions.n, name, bound=1)
        else:
            warn(f"{models[j]!r} − {models[i]!r}: the variance of the difference is 0 or undefined")
            both = estimates[models[i]], estimates[models[j]]
            difference = mover_difference(*both, "intervals of both (MOVER)", both[0].n)
        pairs.append(hypothesis.compare(models[i], models[j], difference, method=name))
    return Comparisons(variant, estimates, covariance, with_adjusted_together(pairs, adjust, covariance), adjust)
