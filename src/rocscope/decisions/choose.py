"""choose: which model, and where to cut, in a context."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.jsonable import jsonable
from rocscope.core.point import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError
from rocscope.geometry import pool, touching_point

DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True, repr=False)
class Decision:
    """The model and threshold of lowest expected cost in a context.

    Attributes
    ----------
    model : str
        Name of the model to use.
    threshold : float
        Predict positive iff ``score >= threshold``; infinity when nobody should be.
    point : OperatingPoint
        Its counts in the sample.
    context : Context
    expected_cost : float
        Per case, at the target prevalence.
    default_point, default_cost : OperatingPoint, float
        What the same model gives at the default threshold of 0.5.
    """

    model: str
    threshold: float
    point: OperatingPoint
    context: Context
    expected_cost: float
    default_point: OperatingPoint
    default_cost: float

    def to_dict(self) -> dict[str, Any]:
        """Return the decision, safe for JSON (an infinite threshold becomes None)."""
        return jsonable(
            {
                "model": self.model,
                "threshold": self.threshold,
                "expected_cost": self.expected_cost,
                "point": self.point.to_dict(),
                "default_cost": self.default_cost,
                "default_point": self.default_point.to_dict(),
                "context": vars(self.context),
            }
        )

    def __repr__(self) -> str:
        return (
            f"Decision(model={self.model!r}, threshold={self.threshold:g}, "
            f"expected_cost={self.expected_cost:.6g}, accuracy={self.point.accuracy:.6g})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.point._repr_html_()}"


def choose(
    predictions: Predictions | ThresholdCounts | Mapping[str, ThresholdCounts], context: Context | None = None
) -> Decision:
    """Choose the model and threshold of lowest expected cost, or of highest accuracy without a context.

    Parameters
    ----------
    predictions : Predictions, ThresholdCounts or mapping from model name to ThresholdCounts
    context : Context, optional
        Prevalence and costs; by default the sample's prevalence and equal costs, which means accuracy.

    Returns
    -------
    Decision

    Raises
    ------
    OneClassError
        If the sample holds one class only.
    InputError
        If the context rewards errors.

    Notes
    -----
    Found on the ROC hull, and compared in exact arithmetic: no threshold of any model given is better. Of equally
    good choices the one with fewest positive predictions is taken, then the first model.

    References
    ----------
    Vuk & Curk 2006, §4.2; Hernández-Orallo 2004.

    Examples
    --------
    >>> decision = choose(ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1]))
    >>> decision.threshold, decision.point
    (5, OperatingPoint(tp=2, fp=0, fn=1, tn=3, threshold=5))
    """
    context = context or Context()
    best: tuple[tuple[Fraction, float], str, OperatingPoint, ThresholdCounts] | None = None
    for model, counts in by_model(predictions).items():
        point = touching_point(pool(counts), context)
        candidate = ((_exact_cost(point, context), point.tp + point.fp), model, point, counts)
        if best is None or candidate[0] < best[0]:
            best = candidate
    if best is None:
        raise InputError("predictions", expected="at least one model", got="none")
    _, model, point, counts = best
    default = counts.at(DEFAULT_THRESHOLD)
    costs = (context.expected_cost(p.tpr, p.fpr, counts.prevalence) for p in (point, default))
    return Decision(model, point.threshold, point, context, next(costs), default, next(costs))


def _exact_cost(point: OperatingPoint, context: Context) -> Fraction:
    """Expected cost relative to all-negative, comparable between models of the same rows or of others."""
    gain, cost = context.rates_of_exchange(point.n_pos, point.n_neg)
    scale = Fraction(point.n) if context.target_prevalence is None else Fraction(point.n_pos) * Fraction(point.n_neg)
    return (Fraction(point.fp) * cost - Fraction(point.tp) * gain) / scale


def by_model(
    predictions: Predictions | ThresholdCounts | Mapping[str, ThresholdCounts],
) -> Mapping[str, ThresholdCounts]:
    """Return the counts of each model."""
    if isinstance(predictions, ThresholdCounts):
        return {"score": predictions}
    if isinstance(predictions, Predictions):
        return {model: predictions.counts(model) for model in predictions.models}
    return predictions
