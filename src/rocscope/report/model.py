"""ReportData: everything that a summary or a report shows, as plain data.

Aggregates only: no value of a row leaves this module. Renderers (tables, HTML, JSON) compute nothing.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, isnan
from typing import Any

from rocscope import __version__
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.jsonable import jsonable
from rocscope.core.point import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.curves.detection import det
from rocscope.curves.lift import lift_chart
from rocscope.curves.precision_recall import precision_recall
from rocscope.curves.roc import roc
from rocscope.decisions.choose import DEFAULT_THRESHOLD, Decision, by_model, choose
from rocscope.errors import ScoreError
from rocscope.geometry import pool, thin, touching_point
from rocscope.reliability.calibration import calibration
from rocscope.reliability.report import calibration_report

SCHEMA_VERSION = 1
MOST_POINTS = 500
CALIBRATION_NUMBERS = {
    "Brier": "brier",
    "log loss": "log_loss",
    "miscalibration": "brier_miscalibration",
    "discrimination": "brier_discrimination",
    "ECE": "ece",
    "smooth ECE": "smooth_ece",
    "ICI": "ici",
    "in the large": "in_the_large",
    "slope": "slope",
    "p (calibrated)": "p_value",
}
"""What a table of calibration shows, by the name of the number."""

_DRAWS = 199

CONVENTIONS = (
    "A case is predicted positive iff its score is at least the threshold.",
    "Equal scores are one level: curves run diagonally through a tie, and a tied pair counts half in the AUC.",
    "Rates with nothing to divide by (0/0) are undefined, not 0 or 1.",
    "Of equally good thresholds the one with fewer positive predictions is taken.",
    "Calibration bins are closed on the left, the last one on both sides; a point stands at the mean score of its bin.",
)


@dataclass(frozen=True)
class Points:
    """Points of a curve: thresholds (None first: nobody positive), true and false positives at or above each."""

    threshold: list[float | None]
    tp: list[float]
    fp: list[float]


@dataclass(frozen=True)
class ModelSummary:
    """What is known about one model.

    Attributes
    ----------
    points : Points
        At most about 500 points of the curve and all vertices of its hull.
    deviation : float
        How far the curve may lie from the lines between these points, as a rate.
    hull : Points
    auc : dict
        Area for ties counting half, lower and upper.
    lift_area : dict
        Areas under the lift chart in positives, trapezoid and step.
    best, default : OperatingPoint
        The best point of the context, and the one at threshold 0.5.
    calibration : dict or None
        Bins of the calibration plot and, under "numbers", figures of calibration; None where scores are not
        probabilities.
    """

    name: str
    n_pos: float
    n_neg: float
    n_levels: int
    auc: dict[str, float]
    ks: float
    gini: float
    average_precision: float
    equal_error_rate: float
    lift_area: dict[str, float]
    hull_area: float
    best: OperatingPoint
    best_cost: float
    default: OperatingPoint
    default_cost: float
    points: Points
    deviation: float
    hull: Points
    calibration: dict[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """Return everything, safe for JSON."""
        points = {name: vars(getattr(self, name)) for name in ("points", "hull")}
        marks = {name: getattr(self, name).to_dict() for name in ("best", "default")}
        return jsonable(vars(self) | points | marks)


@dataclass(frozen=True)
class ReportData:
    """All that a report shows.

    Attributes
    ----------
    models : list of ModelSummary
    decision : Decision
        The best model and threshold in the context.
    provenance : dict
        Version, sizes, a hash of the ranked counts, and what was dropped while reading.
    """

    title: str
    context: Context
    models: list[ModelSummary]
    decision: Decision
    provenance: dict[str, Any]
    notes: str = ""
    conventions: tuple[str, ...] = CONVENTIONS
    schema_version: int = field(default=SCHEMA_VERSION)

    @property
    def verdict(self) -> str:
        """Which model to use and where to cut, in words."""
        decision = self.decision
        if decision.point.tp + decision.point.fp == 0:
            return "Best: predict nobody positive (threshold inf)."
        return (
            f"Best: {decision.model} at threshold {decision.threshold:.6g}, "
            f"expected cost {decision.expected_cost:.4g} per case, "
            f"accuracy {decision.point.accuracy:.2%} ({decision.default_point.accuracy:.2%} at 0.5)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything, safe for JSON."""
        plain = {
            "context": vars(self.context),
            "models": [model.to_dict() for model in self.models],
            "decision": self.decision.to_dict(),
        }
        return jsonable(vars(self) | plain)


def report_data(
    predictions: Predictions | ThresholdCounts | Mapping[str, ThresholdCounts],
    *,
    context: Context | None = None,
    title: str = "",
    notes: str = "",
) -> ReportData:
    """Summarise each model and the decision between them.

    Parameters
    ----------
    predictions : Predictions, ThresholdCounts or mapping from model name to ThresholdCounts
    context : Context, optional
    title, notes : str

    Returns
    -------
    ReportData

    Raises
    ------
    OneClassError
        If the rows hold one class only.

    Examples
    --------
    >>> data = report_data(Predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]))
    >>> data.models[0].auc["half"], data.decision.threshold
    (0.9166666666666666, 0.6)
    """
    context = context or Context()
    counts = by_model(predictions)
    return ReportData(
        title=title or " · ".join(counts),
        context=context,
        models=[summarise(name, levels, context) for name, levels in counts.items()],
        decision=choose(counts, context),
        provenance={"rocscope": __version__, "hash": _fingerprint(counts)},
        notes=notes,
    )


def summarise(name: str, counts: ThresholdCounts, context: Context) -> ModelSummary:
    """Return all figures of one model in a context."""
    counts.require_both_classes(name)
    curve, chart, hull = roc(counts), lift_chart(counts), pool(counts)
    best, default = touching_point(hull, context), counts.at(DEFAULT_THRESHOLD)
    kept = thin(counts, MOST_POINTS)
    return ModelSummary(
        name=name,
        n_pos=counts.n_pos,
        n_neg=counts.n_neg,
        n_levels=len(counts),
        auc={ties: curve.area(ties) for ties in ("half", "lower", "upper")},
        ks=curve.ks,
        gini=curve.gini,
        average_precision=precision_recall(counts).average_precision,
        equal_error_rate=det(counts).equal_error_rate,
        lift_area={kind: chart.area(kind) for kind in ("trapezoid", "step")},
        hull_area=roc(hull).auc,
        best=best,
        best_cost=context.expected_cost(best.tpr, best.fpr, counts.prevalence),
        default=default,
        default_cost=context.expected_cost(default.tpr, default.fpr, counts.prevalence),
        points=Points([None, *kept.threshold[1:].tolist()], kept.tp.tolist(), kept.fp.tolist()),
        deviation=kept.deviation,
        hull=Points([None, *hull.threshold.tolist()], [0, *hull.tp.tolist()], [0, *hull.fp.tolist()]),
        calibration=_calibration(counts),
    )


def _calibration(counts: ThresholdCounts) -> dict[str, Any] | None:
    try:
        plot = calibration(counts).to_dict()
    except ScoreError:  # scores that are not probabilities have no calibration plot
        return None
    report = calibration_report(counts, replicates=0, draws=_DRAWS)
    numbers = {name: estimate.value for name, estimate in report.estimates.items()}
    return plot | {"numbers": numbers | {"p_value": report.tests["miscalibration"].p_value}}


def calibration_table(data: ReportData) -> list[dict[str, str]]:
    """Return one row of text for each model whose scores are probabilities."""
    return [
        {"model": model.name}
        | {heading: _text(model.calibration["numbers"][name]) for heading, name in CALIBRATION_NUMBERS.items()}
        for model in data.models
        if model.calibration
    ]


def _text(value: float) -> str:
    return f"{value:.4f}" if isfinite(value) else "undefined" if isnan(value) else "infinite"


def _fingerprint(counts: Mapping[str, ThresholdCounts]) -> str:
    digest = hashlib.sha256()
    for name, levels in counts.items():
        digest.update(name.encode())
        for column in (levels.threshold, levels.pos, levels.neg):
            digest.update(str(column.dtype).encode())
            digest.update(column.tobytes())
    return digest.hexdigest()[:16]
