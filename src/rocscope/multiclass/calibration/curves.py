"""Calibration curves of more than two classes: each class against the rest, and the predicted class."""

from typing import Any

from rocscope.calibration.methods import calibration_curve
from rocscope.calibration.results import CalibrationCurve
from rocscope.multiclass.calibration.scores import top_label
from rocscope.multiclass.predictions import predictions_of

TOP_LABEL = "top label"


def multiclass_calibration_curves(
    y_true: Any,
    proba: Any = None,
    *,
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> dict[Any, CalibrationCurve]:
    """Calibration curves of each class against the rest, and of the predicted class under "top label".

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
