"""summary: everything that a validation reports of each model, in one call.

All numbers of one model on some rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan, nan
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope import __version__
from rocscope._base import validation as check
from rocscope.calibration.closed_forms import ONE_CLASS, ClosedForms, logarithmic, squared
from rocscope.calibration.decision_cost import MiscalibrationCostCurve
from rocscope.calibration.evidence import Evidence, evidence
from rocscope.calibration.outcomes import Shift
from rocscope.calibration.report import distance_estimates
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.point import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.core.rows import refuse_repeats
from rocscope.curves.campaign import Campaign
from rocscope.curves.roc_curve import auc
from rocscope.decisions.choosing import choose
from rocscope.errors import InputError, OneClassError, ScoreError, WeightError, heard
from rocscope.evaluation.summary_table import (
    MEASURES,
    NEEDS_PROBABILITIES,
    FoldsRow,
    Summary,
    SummaryRow,
    methods_paragraph,
)
from rocscope.inference.areas.auc import auc_interval
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import normal_quantile, rate_intervals, share_of
from rocscope.sample import NAMELESS, Models, Sample, Samples, sample_of, samples_of
from rocscope.segments.segmented_counts import SegmentedCounts

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


MOST_PARTS = 1_000
"""A column of more values than these names single cases, or nearly: its values are no parts to be shown."""

By = Literal["segment", "fold"]
_FACTS = (
    "{auc} for the AUC",
    "Wilson for observed over expected and for rates",
    "Wald, with the larger of model-based and sandwich variances, for intercepts and slope",
    "inverted tests, by labels drawn from curves between the probabilities and the fitted ones, for distances",
    "influence functions for scores, net benefit and cost",
)
_SHARED = (
    "intervals do not count the training rows that folds share, and are too short for models that search much "
    "(rocscope.evaluation.nested_cross_validation counts them)"
)


def summary(
    predictions: Models,
    context: Context | Campaign | None = None,
    *,
    by: By | None = None,
    thresholds: Literal["cheapest"] | None = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> Summary:
    """Everything that a validation reports: discrimination, calibration, overall, classification, utility.

    Parameters
    ----------
    predictions : data of one or more models
        In any form; see `rocscope.sample`; also SegmentedCounts, or a mapping of them by model, of which all rows are
        summarised together. Parts need rows or groups.
    context : Context, optional
        Costs, and the prevalence at which all numbers but the AUC are given; equal costs and the sample's prevalence
        when left out.
    by : {"segment", "fold"}, optional
        A further row for each segment or fold of the Predictions; and with "fold" `over_folds`, their means with
        deviations and intervals, and the seconds that fits and predictions took.
    thresholds : "cheapest", optional
        Classification and utility at the threshold of lowest expected cost, also of models that decide themselves.
    level : float
        Confidence level.
    random_state : int, Generator, RandomState or None
        Of the labels that are drawn for intervals of distances.

    Returns
    -------
    Summary
        Its `methods` is a paragraph for the methods section, its `tripod` says which items it answers.

    Raises
    ------
    InputError
        If there is no such column as `by`, or it has more than 1,000 values: what is asked of very many groups,
        `rocscope.evaluation.SegmentedCounts` answers for all at once.

    Notes
    -----
    Classification and utility are of a model's own decisions, where predictions hold them; else at the threshold of
    lowest expected cost on all rows, also for its parts. Intervals take that as given; chosen on the same rows it makes
    classification and utility optimistic. Of cross-validated predictions all intervals leave out that folds share
    training rows, and the notes say so; see `rocscope.evaluation.nested_cross_validation`. Net benefit weighs
    false positives by (cost_fp − cost_tn)/(cost_fn − cost_tp). What cannot be had (one class, scores that are no
    probabilities, separated classes) is NaN, or a value without an interval, and the method of the estimate says why.

    References
    ----------
    Van Calster et al. 2025, STRATOS guidance on performance measures of predictive AI, Lancet Digital Health; Collins
    et al. 2024, TRIPOD+AI, BMJ 385:e078378.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(400)
    >>> from rocscope import Predictions
    >>> found = summary(Predictions(rng.random(400) < score, {"risk": score}))
    >>> found
    Summary(risk AUC 0.8511, 21 measures)
    >>> 1 in found["risk"]["slope"], 1 in found["risk"]["observed_over_expected"], found.tripod["23a"]
    (True, True, True)
    """
    grouped = by_group(predictions)
    pooled: Any = {model: groups.pooled() for model, groups in grouped.items()}
    refuse_repeats(pooled or predictions, "summary")
    check.check_level(level)
    if thresholds is not None:
        check.check_choice("thresholds", thresholds, ("cheapest",))
    context, seed = Context.given(context), check.seed_of(random_state)
    samples, rows = samples_of(pooled or predictions, name="predictions"), []
    for model, sample in samples.items():
        decided = thresholds is None and sample.rows is not None and bool(sample.rows.decisions)
        threshold, notes = (None, ()) if decided else _threshold(model, sample.counts, context)
        for part, data in {"all": sample, **_parts(sample, by, grouped.get(model))}.items():
            with np.errstate(under="ignore"):
                found = measure(data, threshold, context, level, seed)
            n, n_pos, said = data.counts.n, data.counts.n_pos, notes + found.notes
            if getattr(getattr(data.rows, "source", None), "folds", 1) > 1:
                said += (_SHARED,)
            if not isinstance(n, int) and data.rows is None:
                said += ("weights are taken as numbers of rows: pass Predictions where they are not",)
            rows.append(
                SummaryRow(model, part, n, n_pos, nan if threshold is None else threshold, found.estimates, said)
            )
    facts = [fact.format(auc=rows[0]["auc"].method) for fact in _FACTS]
    own = thresholds is None and any(sample.rows is not None and sample.rows.decisions for sample in samples.values())
    said = methods_paragraph(__version__, context, by, level, facts, own=own)
    over = tuple(_over_folds(rows, samples, level)) if by == "fold" else ()
    return Summary(tuple(rows), context, by, level, said, over)


def _over_folds(rows: Sequence[SummaryRow], samples: Samples, level: float) -> Iterator[FoldsRow]:
    for model, sample in samples.items():
        seconds = getattr(getattr(sample.rows, "source", None), "seconds", {})
        folds = [row for row in rows if row.model == model and row.part != "all"]
        yield FoldsRow.of(folds, level, seconds.get(model, ()))


def by_group(predictions: Any) -> dict[str, SegmentedCounts]:
    """Return counts by group of each model, where such were given."""
    given = {NAMELESS: predictions} if isinstance(predictions, SegmentedCounts) else predictions
    grouped = isinstance(given, Mapping) and given and all(isinstance(each, SegmentedCounts) for each in given.values())
    return {str(model): each for model, each in given.items()} if grouped else {}


def _parts(sample: Sample, by: str | None, grouped: SegmentedCounts | None) -> dict[str, Sample]:
    if by is None:
        return {}
    check.check_choice("by", by, ("segment", "fold"))
    found: Mapping[Any, Any]
    if grouped is not None and by == "segment":
        found = grouped
    else:
        rows = sample.require_rows(f"by={by!r}")
        found = rows.by_segment() if by == "segment" else rows.by_fold()
    if len(found) > MOST_PARTS:
        hint = "measures of very many groups: Predictions.counts(by='segment')"
        raise InputError(f"by={by!r}", expected=f"at most {MOST_PARTS:,} parts", got=f"{len(found):,}", hint=hint)
    return {str(name): sample_of(part) for name, part in found.items()}


def _threshold(model: str, counts: ThresholdCounts, context: Context) -> tuple[float, tuple[str, ...]]:
    try:
        decision = choose({model: counts}, context)
    except OneClassError as error:
        return nan, (str(error),)
    return decision.threshold, tuple(decision.notes)
