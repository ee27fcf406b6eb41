"""Whether the scores of folds are on one scale, so that pooling them means what one takes it to mean."""

from math import sqrt

from rocscope.core.predictions import Predictions
from rocscope.errors import OneClassError, warn
from rocscope.inference.areas.placements import AucSample, sample_of_rows
from rocscope.inference.influence.units import OverFolds


def warn_where_folds_differ(predictions: Predictions | None, pooled: AucSample, folds: OverFolds | None) -> None:
    """Warn where the area over pooled folds is off the mean within the folds by more than its own standard error.

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
