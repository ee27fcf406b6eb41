"""All numbers of one model on some rows."""

from math import isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np

from rocscope.calibration.intervals.closed_forms import ONE_CLASS, ClosedForms, logarithmic, squared
from rocscope.calibration.intervals.decision_cost import MiscalibrationCostCurve
from rocscope.calibration.intervals.evidence import Evidence, evidence
from rocscope.calibration.outcomes import Shift
from rocscope.calibration.report import distance_estimates
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.point import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.curves.roc_curve import auc
from rocscope.errors import InputError, ScoreError, WeightError, heard
from rocscope.evaluation.summary.guidance import MEASURES, NEEDS_PROBABILITIES
from rocscope.inference.areas.auc import auc_interval
from rocscope.inference.estimate import Estimate
from rocscope.inference.intervals import normal_quantile
from rocscope.inference.proportions import rate_intervals, share_of
from rocscope.sample import Sample

_DRAWS = 99
_RATES = ("tpr", "tnr", "precision", "npv", "accuracy")
_NO_PROBABILITIES = "scores are no probabilities (rocscope.calibration.recalibrate makes them so)"
_CELLS = {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}


class Measured(NamedTuple):
    """Estimates by name, and what to keep in mind."""

    estimates: dict[str, Estimate]
    notes: tuple[str, ...]


def measure(sample: Sample, threshold: float | None, context: Context, level: float, random_state: int) -> Measured:
    """Return all measures of a model; what cannot be had has no interval, or no value, and says why.

    Without a threshold those of classification are of the model's own decisions.
    """
    data = sample.counts if sample.rows is None else sample.rows
    known, counts = evidence(data, probabilities=False), sample.counts
    one_class = not (counts.n_pos and counts.n_neg)
    target = None if one_class else context.target_prevalence
    forms = ClosedForms(known, Shift.of(known.outcomes, target), level)
    found = dict.fromkeys(MEASURES, forms.without(nan, ONE_CLASS))
    with heard() as said:
        if not one_class:
            found["auc"] = _area(data, forms)
        if threshold is None:
            said_so = evidence(_as_scores(sample.require_rows("decisions")), probabilities=False)
            own = ClosedForms(said_so, Shift.of(said_so.outcomes, target), level)
            found |= _at_threshold(said_so, own, said_so.counts.at(1), context, one_class=one_class)
        elif not isnan(threshold):
            found |= _at_threshold(known, forms, counts.at(threshold), context, one_class=one_class)
        try:
            counts.require_probabilities("scores")
        except ScoreError:
            found |= dict.fromkeys(NEEDS_PROBABILITIES, forms.without(nan, _NO_PROBABILITIES))
        else:
            found |= _of_probabilities(known, forms, random_state)
            if not one_class:
                found["miscalibration_cost"] = _cost_of_miscalibration(known, forms, context, random_state)
    doubts = {name: estimate.reason for name, estimate in found.items() if estimate.reason and not isnan(estimate.low)}
    said += [f"† {MEASURES[name].heading}: {reason}" for name, reason in doubts.items()]
    return Measured(found, tuple(said))


def _as_scores(rows: Predictions) -> Predictions:
    """Return the decisions of a model as scores of 1 and 0."""
    scores = {name: decided.astype(np.int8) for name, decided in rows.decisions.items()}
    return Predictions(rows.y_true, scores, **rows.row_columns())


def _area(data: Predictions | ThresholdCounts, forms: ClosedForms) -> Estimate:
    try:
        return auc_interval(data, level=forms.level)
    except WeightError as error:  # counts do not tell how many rows a weight stands for
        return forms.without(auc(data), str(error))


def _of_probabilities(known: Evidence, forms: ClosedForms, random_state: int) -> dict[str, Estimate]:
    score = forms.sample.score
    brier = forms.mean(*squared(score), most=1.0, name="influence function")
    distances = distance_estimates(known, forms, random_state=random_state)[0]
    return {
        "observed_over_expected": forms.ratio(),
        "brier": brier,
        "scaled_brier": forms.scaled_brier(brier),
        "log_loss": forms.mean(*logarithmic(score), most=float("inf"), name="influence function"),
        **forms.recalibration(),
        **{name: distances[name] for name in ("ici", "e50", "e90", "ece", "brier_miscalibration")},
    }


def _cost_of_miscalibration(known: Evidence, forms: ClosedForms, context: Context, random_state: int) -> Estimate:
    """Return what it costs to act on the probabilities themselves beyond acting on recalibrated ones."""
    curve = MiscalibrationCostCurve(known, forms.shift.target)
    try:
        return curve.interval(context, level=forms.level, draws=_DRAWS, random_state=random_state)
    except InputError as error:
        return forms.without(nan, str(error))


def _at_threshold(
    known: Evidence, forms: ClosedForms, point: OperatingPoint, context: Context, *, one_class: bool
) -> dict[str, Estimate]:
    predicted = known.outcomes.score >= point.threshold
    found = {name: _rate(name, known, forms, point, predicted) for name in _RATES}
    target = forms.shift.target
    if target is not None:
        try:
            found |= {n: rate_intervals(point, level=forms.level, target_prevalence=target)[n] for n in _RATES[2:]}
        except InputError as error:
            reason = str(error)
            values = {name: getattr(_at(point, target), name) for name in _RATES[2:]}
            found |= {name: forms.without(value, reason) for name, value in values.items()}
    if one_class:
        return found
    harm, gain = (float(cost) for cost in (context.false_alarm_cost, context.miss_cost))
    costs = {cell: float(cost) for cell, cost in context.costs.items()}
    found["expected_cost"] = _mean(forms, predicted, costs)
    if gain > 0 and known.counts.threshold[0] <= 1:
        found["net_benefit"] = _mean(forms, predicted, {"tp": 1.0, "fp": -harm / gain, "fn": 0.0, "tn": 0.0})
    else:
        found["net_benefit"] = forms.without(nan, "acting on a positive gains nothing")
    return found


def _at(point: OperatingPoint, target: float) -> OperatingPoint:
    n = point.n
    tp, fp = target * n * point.tpr, (1 - target) * n * point.fpr
    return OperatingPoint(tp, fp, target * n - tp, (1 - target) * n - fp, point.threshold)


def _rate(name: str, known: Evidence, forms: ClosedForms, point: OperatingPoint, predicted: Any) -> Estimate:
    """Return a share of cases with Wilson's interval on the number of independent cases that it is worth."""
    counted, whole = share_of(name, point.tp, point.fp, point.fn, point.tn)
    if not whole:
        return forms.without(nan, "no such case")
    value = counted / whole
    terms = {}
    for cell, one in zip(_CELLS.values(), np.eye(len(_CELLS)), strict=True):
        part, of = share_of(name, *one)
        terms[cell] = part - value * of
    of_label = (np.where(predicted, terms[label, 1], terms[label, 0]) for label in (1, 0))
    error = known.variance_of_sum(*of_label) ** 0.5 / whole
    sample = known.outcomes
    worth = value * (1 - value) / error**2 if error**2 > 0 else whole * float(sample.effective.sum()) / sample.n
    low, high = forms.share(value, worth)
    return Estimate(value, low, high, forms.level, "Wilson", float(whole), error)


def _mean(forms: ClosedForms, predicted: Any, amounts: dict[str, float]) -> Estimate:
    """Return a mean of what each case brings, with Wald's interval."""
    sample = forms.sample
    of_positive = np.where(predicted, amounts["tp"], amounts["fn"])
    of_negative = np.where(predicted, amounts["fp"], amounts["tn"])
    value = float(sample.pos @ of_positive + sample.neg @ of_negative) / sample.n
    error = forms.error(of_positive - value, of_negative - value)
    if not (error > 0 and isfinite(error)):
        return forms.without(value + 0.0, "nothing varies: everybody, or nobody, is predicted positive")
    reach = normal_quantile(forms.level) * error
    return forms.of(value, value - reach, value + reach, "influence function", error)
