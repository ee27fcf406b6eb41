"""Brier score, log loss and calibration errors of class probabilities, and the decomposition of the Brier score.

Calibration curves of more than two classes: each class against the rest, and the predicted class.
"""

from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.curve import CalibrationCurve, calibration_curve
from rocscope.calibration.distances import calibration_error
from rocscope.calibration.outcomes import Outcomes, pav_values
from rocscope.calibration.scores import Decomposition, decompose
from rocscope.core.predictions import Predictions
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of

Kind = Literal["classwise", "top-label"]


@contract
def multiclass_brier(
    y_true: Any, proba: Any = None, *, model: str | None = None, classes: Any = None, sample_weight: Any = None
) -> float:
    """Compute the multi-class Brier score: mean over rows of the summed squared differences (0 is best).

    Parameters
    ----------
    y_true : array of n labels, or MulticlassPredictions
    proba : n × k array of probabilities
    model : str, optional
        Which one of the MulticlassPredictions.
    classes, sample_weight : see `MulticlassPredictions`

    Returns
    -------
    float
        From 0 to 2; of two classes twice `rocscope.calibration.brier`.

    References
    ----------
    Brier 1950, Mon. Wea. Rev. 78:1–3.

    Examples
    --------
    >>> round(multiclass_brier(["a", "b", "c"], [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]]), 4)
    0.4333
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    chance = preds.probabilities(model)
    own = np.take_along_axis(chance, preds.y_true[:, None], axis=1)[:, 0]
    return float(np.average(np.einsum("ij,ij->i", chance, chance) - 2 * own + 1, weights=preds.sample_weight))


@contract
def multiclass_log_loss(
    y_true: Any, proba: Any = None, *, model: str | None = None, classes: Any = None, sample_weight: Any = None
) -> float:
    """Compute the multi-class log loss: mean negative logarithm of the probability of the true class (0 is best).

    Parameters
    ----------
    y_true, proba, model, classes, sample_weight : see `multiclass_brier`

    Returns
    -------
    float
        Infinite if something happened that was given the probability 0.

    Examples
    --------
    >>> round(multiclass_log_loss([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]), 4)
    0.6931
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    return _log_loss(preds, preds.probabilities(model))


def _log_loss(preds: MulticlassPredictions, chance: Array) -> float:
    own = np.take_along_axis(chance, preds.y_true[:, None], axis=1)[:, 0]
    with np.errstate(divide="ignore"):
        return float(np.average(-np.log(own), weights=preds.sample_weight)) + 0.0


@contract
def multiclass_decompose(
    y_true: Any,
    proba: Any = None,
    *,
    rule: Literal["brier", "log_loss"] = "brier",
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> Decomposition:
    """Decompose a mean multi-class score into miscalibration − discrimination + uncertainty.

    Parameters
    ----------
    y_true, proba, model, classes, sample_weight : see `multiclass_brier`
    rule : {"brier", "log_loss"}

    Returns
    -------
    Decomposition

    Notes
    -----
    The Brier score is the sum of those of each class against the rest, and so are its CORP parts: none is below 0.
    The log loss is no such sum: its recalibrated probabilities are the PAV values of each class, divided by their sum,
    and the parts may then be a little below 0.

    References
    ----------
    Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.

    Examples
    --------
    >>> parts = multiclass_decompose([0, 1, 2], [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]])
    >>> round(parts.score - parts.miscalibration + parts.discrimination - parts.uncertainty, 12)
    0.0
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    check.check_choice("rule", rule, ("brier", "log_loss"))
    chance = preds.probabilities(model)
    each = [_labelled(preds, preds.y_true == k, column).counts() for k, column in enumerate(chance.T)]
    if rule == "brier":
        parts = [decompose(counts) for counts in each]
        names = ("score", "miscalibration", "discrimination", "uncertainty")
        sums = {name: sum(getattr(part, name) for part in parts) for name in names}
        return Decomposition(**sums, rule=rule, method="CORP, classwise")
    fitted = np.empty_like(chance)
    for k, counts in enumerate(each):
        sample = Outcomes.of(counts)
        fitted[:, k] = pav_values(sample)[np.searchsorted(sample.score, chance[:, k])]
    fitted /= fitted.sum(axis=1, keepdims=True)
    share = np.bincount(preds.y_true, preds.sample_weight, chance.shape[1]) / preds.n
    score, best = _log_loss(preds, chance), _log_loss(preds, fitted)
    uncertainty = -float(np.sum(share[share > 0] * np.log(share[share > 0])))
    return Decomposition(score, score - best, uncertainty - best, uncertainty, rule, "PAV of each class, normalised")


@contract
def multiclass_calibration_error(
    y_true: Any,
    proba: Any = None,
    *,
    kind: Kind = "top-label",
    bins: int = 10,
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> float:
    """Compute the expected calibration error of the predicted class, or of each class against the rest.

    Parameters
    ----------
    y_true, proba, model, classes, sample_weight : see `multiclass_brier`
    kind : {"top-label", "classwise"}
        Of the largest probability and whether its class happened (also called confidence); or the mean over classes
        of that of each against the rest.
    bins : int
        Of equal width.

    Returns
    -------
    float

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017, ICML (top label); Kull et al. 2019, NeurIPS (classwise).

    Examples
    --------
    >>> proba = [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.75, 0.0, 0.25], [0.0, 0.25, 0.75]]
    >>> multiclass_calibration_error([0, 1, 2, 2], proba)
    0.0
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    check.check_choice("kind", kind, ("top-label", "classwise"))
    if kind == "top-label":
        return calibration_error(top_label(preds, model), bins=bins)
    columns = enumerate(preds.probabilities(model).T)
    return float(np.mean([calibration_error(_labelled(preds, preds.y_true == k, p), bins=bins) for k, p in columns]))


def _labelled(preds: MulticlassPredictions, label: Array, score: Array) -> Predictions:
    """Return other labels and scores of the same rows, with their weights and groups."""
    return Predictions(label, score, sample_weight=preds.sample_weight, groups=preds.groups)


def top_label(preds: MulticlassPredictions, model: str | None) -> Predictions:
    """Return whether the most probable class occurred, with its probability as the score."""
    chance = preds.probabilities(model)
    first = chance.argmax(axis=1)
    score = np.take_along_axis(chance, first[:, None], axis=1)[:, 0]
    return _labelled(preds, preds.y_true == first, score)


TOP_LABEL = "top label"


@contract
def multiclass_calibration_curves(
    y_true: Any,
    proba: Any = None,
    *,
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> dict[Any, CalibrationCurve]:
    """Compute calibration curves of each class against the rest, and of the predicted class ("top label").

    Parameters
    ----------
    y_true, proba, model, classes, sample_weight : see `multiclass_brier`
    **options
        Of `rocscope.calibration_curve`: ``method``, ``bins`` and so on.

    Returns
    -------
    dict from class to CalibrationCurve
        With the bands of `rocscope.calibration_curve`.

    Examples
    --------
    >>> proba = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]]
    >>> curves = multiclass_calibration_curves(["a", "b", "c"], proba, method="pav")
    >>> list(curves), curves["top label"].y
    (['a', 'b', 'c', 'top label'], array([0.5, 0.5, 1. ]))
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    curves = {name: calibration_curve(preds.binary(name), model=model, **options) for name in preds.classes}
    return curves | {TOP_LABEL: calibration_curve(top_label(preds, model), **options)}
