"""summary: every validation figure of each model, with intervals, in one call.

All numbers of one model on some rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan, nan
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope import __version__
from rocscope._base import validation as check
from rocscope._base.contract import answering
from rocscope.calibration.intervals import ONE_CLASS, ClosedForms, logarithmic, squared
from rocscope.calibration.outcomes import Evidence, Shift, evidence
from rocscope.calibration.report import distance_estimates
from rocscope.calibration.scores import miscalibration_cost_at
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.rows import refuse_repeats
from rocscope.curves.profit_curve import Campaign
from rocscope.curves.roc_curve import auc
from rocscope.decisions.choosing import choose
from rocscope.decisions.models import predict
from rocscope.errors import ColumnError, InputError, OneClassError, ScoreError, WeightError, heard
from rocscope.evaluation.summary_table import (
    MEASURES,
    NEEDS_PROBABILITIES,
    FoldsRow,
    Summary,
    SummaryRow,
    ThresholdSource,
    methods_paragraph,
)
from rocscope.figures.thresholds import at as at_threshold
from rocscope.inference.areas.auc import auc_interval
from rocscope.inference.error_rates import Thresholds
from rocscope.inference.estimate import Estimate
from rocscope.inference.influence.estimating import estimate_of
from rocscope.inference.proportions import normal_quantile, rate_intervals
from rocscope.sample import Labels, Models, Sample, Samples, Scores, sample_of, samples_of, with_context
from rocscope.segments.data import counted_by_segment
from rocscope.segments.segmented_counts import SegmentedCounts

_DRAWS = 99  # for the cost, and for distances of each of many parts: a third of the time
_FEW_PARTS = 20  # of more, none is read by itself
_ROUNDING = 1e-13  # left of a standard error of 0, some 1e-17; one row of a billion that differs makes it 1e-9
_RATES = ("tpr", "tnr", "precision", "npv", "accuracy")
_NO_PROBABILITIES = "scores are no probabilities (rocscope.calibration.recalibrate makes them so)"


class Measured(NamedTuple):
    """Estimates by name, and caveats."""

    estimates: dict[str, Estimate]
    notes: tuple[str, ...]


class _Threshold(NamedTuple):
    """A model's threshold (None for its own decisions), its origin, and caveats.

    `odds` is how many true positives a false positive outweighs in net benefit, NaN where acting gains nothing.
    """

    value: float | None
    source: ThresholdSource
    odds: float
    notes: tuple[str, ...] = ()


def measure(
    sample: Sample,
    at: _Threshold,
    context: Context,
    level: float,
    random_state: int,
    *,
    many: bool = False,
    area: Estimate | None = None,
) -> Measured:
    """Return all measures of a model; unavailable ones have no interval or value, and a reason."""
    threshold = at.value
    data = sample.counts if sample.rows is None else sample.rows
    known, counts = evidence(sample, probabilities=False), sample.counts
    one_class = not (counts.n_pos and counts.n_neg)
    target = None if one_class else context.target_prevalence
    forms = ClosedForms(known, Shift.of(known.outcomes, target), level)
    found = dict.fromkeys(MEASURES, forms.without(nan, ONE_CLASS))
    with heard() as said:
        if not one_class:
            found["auc"] = area or _area(data, forms)
        if threshold is None or not isnan(threshold):
            weighed = threshold is None or known.counts.threshold[0] <= 1  # net benefit is of probabilities
            decided = _decided(sample, threshold, known)
            said_so = evidence(decided, probabilities=False)
            own = ClosedForms(said_so, Shift.of(said_so.outcomes, target), level)
            odds = at.odds if weighed else nan
            found |= _at_threshold(decided, said_so, own, context, odds, one_class=one_class)
        try:
            counts.require_probabilities("scores")
        except ScoreError:
            found |= dict.fromkeys(NEEDS_PROBABILITIES, forms.without(nan, _NO_PROBABILITIES))
        else:
            found |= _of_probabilities(known, forms, random_state, many=many)
            if not one_class:
                found["miscalibration_cost"] = _cost_of_miscalibration(known, forms, context, random_state, coarse=many)
    doubts = {name: estimate.reason for name, estimate in found.items() if estimate.reason and not isnan(estimate.low)}
    said += [f"† {MEASURES[name].heading}: {reason}" for name, reason in doubts.items()]
    return Measured(found, tuple(said))


def _decided(sample: Sample, threshold: float | None, known: Evidence) -> Predictions | ThresholdCounts:
    """Return decisions as scores of 1 and 0, which are all that figures at a threshold depend on."""
    if known.counted and threshold is not None:
        point = sample.counts.at(threshold)
        levels = [(1, point.tp, point.fp), (0, point.fn, point.tn)]
        return ThresholdCounts(*zip(*(level for level in levels if level[1] + level[2] > 0), strict=True))
    rows = sample.require_rows("decisions")
    said = rows.decisions if threshold is None else {n: predict(each, threshold) for n, each in rows.scores.items()}
    scores = {name: positive.astype(np.int8) for name, positive in said.items()}
    return Predictions(rows.y_true, scores, **rows.row_columns())


def _area(data: Predictions | ThresholdCounts, forms: ClosedForms) -> Estimate:
    try:
        return auc_interval(data, level=forms.level)
    except WeightError as error:  # counts do not tell how many rows a weight stands for
        return forms.without(auc(data), str(error))


def _of_probabilities(known: Evidence, forms: ClosedForms, random_state: int, *, many: bool) -> dict[str, Estimate]:
    score = forms.sample.score
    brier = forms.mean(*squared(score), most=1.0, name="influence function")
    fewer = {"draws": _DRAWS, "draws_along": _DRAWS, "coarse": True} if many else {}
    distances = distance_estimates(known, forms, common=True, random_state=random_state, **fewer)[0]
    return {
        "observed_over_expected": forms.ratio(),
        "brier": brier,
        "scaled_brier": forms.scaled_brier(brier),
        "log_loss": forms.mean(*logarithmic(score), most=float("inf"), name="influence function"),
        **forms.recalibration(),
        **{name: distances[name] for name in ("ici", "e50", "e90", "ece", "brier_miscalibration")},
    }


def _cost_of_miscalibration(
    known: Evidence, forms: ClosedForms, context: Context, random_state: int, *, coarse: bool
) -> Estimate:
    """Return the cost of acting on the probabilities minus that of acting on recalibrated ones."""
    options = {"level": forms.level, "draws": _DRAWS, "random_state": random_state, "coarse": coarse}
    try:
        return miscalibration_cost_at(known, forms.shift.target, context, **options)
    except InputError as error:
        return forms.without(nan, str(error))


def _at_threshold(
    decided: Predictions | ThresholdCounts,
    known: Evidence,
    forms: ClosedForms,
    context: Context,
    odds: float,
    *,
    one_class: bool,
) -> dict[str, Estimate]:
    point, predicted = known.counts.at(1), known.outcomes.score >= 1
    if known.counted and isinstance(known.counts.n, int):  # the same, and sooner
        rates = rate_intervals(point, level=forms.level)
        found = {name: rates[name] for name in _RATES}
    else:
        data = known.counts if known.counted else decided
        found = {name: estimate_of(data, at_threshold(1, name), level=forms.level) for name in _RATES}
    target = forms.shift.target
    if target is not None:
        try:
            found |= {n: rate_intervals(point, level=forms.level, target_prevalence=target)[n] for n in _RATES[2:]}
        except InputError as error:
            reason = str(error)
            moved = point.at_prevalence(target, point.n)
            values = {name: getattr(moved, name) for name in _RATES[2:]}
            found |= {name: forms.without(value, reason) for name, value in values.items()}
    if one_class:
        return found
    costs = {cell: float(cost) for cell, cost in context.costs.items()}
    found["expected_cost"] = _mean(forms, predicted, costs)
    benefits = {"net_benefit": predicted, "treat_all": np.ones_like(predicted), "treat_none": np.zeros_like(predicted)}
    if not isnan(odds):
        # Vickers & Elkin 2006: (tp − odds · fp) / n; of everybody π − (1 − π) · odds, of nobody 0
        worth = {"tp": 1.0, "fp": -odds, "fn": 0.0, "tn": 0.0}
        found |= {name: _mean(forms, treated, worth) for name, treated in benefits.items()}
    else:
        found |= dict.fromkeys(benefits, forms.without(nan, "acting on a positive gains nothing"))
    return found


def _mean(forms: ClosedForms, predicted: Any, amounts: dict[str, float]) -> Estimate:
    """Return a mean over cases with Wald's interval."""
    sample = forms.sample
    of_positive = np.where(predicted, amounts["tp"], amounts["fn"])
    of_negative = np.where(predicted, amounts["fp"], amounts["tn"])
    value = float(sample.pos @ of_positive + sample.neg @ of_negative) / sample.n
    error = forms.error(of_positive - value, of_negative - value)
    if not (error > _ROUNDING * max(map(abs, amounts.values())) and isfinite(error)):
        return forms.without(value + 0.0, "nothing varies: everybody, or nobody, is predicted positive")
    reach = normal_quantile(forms.level) * error
    return forms.of(value, value - reach, value + reach, "influence function", error)


MOST_PARTS = 1_000
"""A column with more values than this identifies cases rather than segments."""

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


@answering
def summary(
    predictions: Models | Labels,
    y_score: Scores | Context | Campaign | None = None,
    context: Context | Campaign | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    by: By | None = None,
    threshold: Thresholds | Literal["costs", "cheapest"] | None = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> Summary:
    """Summarise a validation: discrimination, calibration, overall performance, classification and utility.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of one or more models
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`; also
        SegmentedCounts, or a mapping of them by model; all rows are summarised together. Parts need rows or
        segments.
    context : Context, optional
        Costs, and the prevalence at which all numbers but the AUC are given; equal costs and the sample's prevalence
        when left out.
    by : {"segment", "fold"}, optional
        A further row for each segment or fold of the Predictions; and with "fold" `over_folds`, their means with
        deviations and intervals, and the seconds that fits and predictions took.
    threshold : float, mapping from model name to float, "costs" or "cheapest", optional
        Of classification and utility. Fixed beforehand: a number, one for each model, or "costs", the probability from
        which acting is cheaper, t = (cost_fp − cost_tn)/((cost_fp − cost_tn) + (cost_fn − cost_tp)). "cheapest": that
        of lowest expected cost on these rows. By default a model's own decisions where they are known, else "cheapest".
    level : float
        Confidence level.
    random_state : int, Generator, RandomState or None
        Of the labels that are drawn for intervals of distances.

    Returns
    -------
    Summary
        Its `methods` is a paragraph for the methods section, its `tripod` states which items it answers.

    Raises
    ------
    InputError
        If there is no such column as `by`, or it has more than 1,000 values: what is asked of very many segments,
        `rocscope.segments.SegmentedCounts` answers for all at once. If one action is always right at these costs, with
        ``threshold="costs"``; a ScoreError then, if scores are no probabilities.
    ColumnError
        If `threshold` is a mapping and lacks a model, or names one that is not there.

    Notes
    -----
    Intervals take the threshold as given, for parts too. That is right for one that was fixed beforehand; one chosen on
    the same rows makes classification and utility optimistic. `SummaryRow.notes` contain its source. Of cross-validated
    predictions all intervals leave out that folds share training rows, and the notes say so; see
    `rocscope.evaluation.nested_cross_validation`. Net benefit weighs false positives by (cost_fp − cost_tn)/(cost_fn −
    cost_tp), or without a context by the odds t/(1 − t) of a number between 0 and 1 that is given as threshold, as
    decision curve analysis does; treating all has the net benefit π − (1 − π) t/(1 − t) at prevalence π, treating none
    0. What cannot be had (one class, scores that are no probabilities, separated classes) is NaN, or a value without an
    interval, and the method of the estimate states why. With more than 20 parts, intervals of distances draw 99
    times for each, not 999.

    References
    ----------
    Van Calster et al. 2025, STRATOS guidance on performance measures of predictive AI, Lancet Digital Health; Collins
    et al. 2024, TRIPOD+AI, BMJ 385:e078378; Vickers & Elkin 2006, decision curve analysis.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(400)
    >>> from rocscope import Predictions
    >>> found = summary(Predictions(rng.random(400) < score, {"risk": score}))
    >>> found
    Summary(risk AUC 0.8511, 23 measures)
    >>> 1 in found["risk"]["slope"], 1 in found["risk"]["observed_over_expected"]
    (True, True)

    Of 5 cases 2 are positive. From a risk of .2 on, both are found at 2 false alarms, which weigh .25 each: (2 − .5)/5.
    Treating all has 3 false alarms: (2 − .75)/5.

    >>> few = Predictions([1, 1, 0, 0, 0], {"risk": [0.9, 0.2, 0.4, 0.2, 0.1]})
    >>> row = summary(few, threshold=0.2)["risk"]
    >>> [row[name].value for name in ("net_benefit", "treat_all", "treat_none")]
    [0.3, 0.25, 0.0]
    >>> row.notes[0]
    'threshold 0.2, fixed beforehand; net benefit weighs false positives by 0.25'
    """
    predictions, context = with_context(predictions, y_score, context, pos_label=pos_label, sample_weight=sample_weight)
    segments = counted_by_segment(predictions)
    pooled: Any = {model: each.pooled() for model, each in segments.items()}
    refuse_repeats(pooled or predictions, "summary")
    level = check.check_level(level)
    seed = check.seed_of(random_state)
    samples = samples_of(pooled or predictions, name="predictions")
    return summarised(samples, context, segments, by=by, threshold=threshold, level=level, seed=seed)


def summarised(
    samples: Samples,
    context: Context | Campaign | None,
    segments: Mapping[str, SegmentedCounts],
    *,
    by: By | None = None,
    threshold: Thresholds | str | None = None,
    level: float = 0.95,
    seed: int = 0,
    areas: Mapping[str, Estimate] | None = None,
) -> Summary:
    """Summarise models that were read; areas of some may be known already."""
    costs_given, context, rows = context is not None, Context.given(context), []
    for model, at in _thresholds(samples, threshold, context, costs_given=costs_given).items():
        sample = samples[model]
        parts = _parts(sample, by, segments.get(model))
        for part, data in {"all": sample, **parts}.items():
            many = part != "all" and len(parts) > _FEW_PARTS
            with np.errstate(under="ignore"):
                area = areas.get(model) if areas and part == "all" else None
                found = measure(data, at, context, level, seed, many=many, area=area)
            n, n_pos, said = data.counts.n, data.counts.n_pos, at.notes + found.notes
            if getattr(getattr(data.rows, "source", None), "folds", 1) > 1:
                said += (_SHARED,)
            if not isinstance(n, int) and data.rows is None:
                said += ("weights are taken as numbers of rows: pass Predictions where they are not",)
            value = nan if at.value is None else at.value
            rows.append(SummaryRow(model, part, n, n_pos, value, found.estimates, said, at.source))
    facts = [fact.format(auc=rows[0]["auc"].method) for fact in _FACTS]
    said = methods_paragraph(__version__, context, by, level, facts, rows)
    over = tuple(_over_folds(rows, samples, level)) if by == "fold" else ()
    return Summary(tuple(rows), context, by, level, said, over)


def _over_folds(rows: Sequence[SummaryRow], samples: Samples, level: float) -> Iterator[FoldsRow]:
    for model, sample in samples.items():
        seconds = getattr(getattr(sample.rows, "source", None), "seconds", {})
        folds = [row for row in rows if row.model == model and row.part != "all"]
        yield FoldsRow.of(folds, level, seconds.get(model, ()))


def _parts(sample: Sample, by: str | None, segments: SegmentedCounts | None) -> dict[str, Sample]:
    if by is None:
        return {}
    check.check_choice("by", by, ("segment", "fold"))
    found: Mapping[Any, Any] | SegmentedCounts
    if segments is not None and by == "segment":
        found = segments
    else:
        rows = sample.require_rows(f"by={by!r}")
        found = rows.by_segment() if by == "segment" else rows.by_fold()
    if len(found) > MOST_PARTS:
        hint = "measures of very many segments: Predictions.counts(by='segment')"
        raise InputError(f"by={by!r}", expected=f"at most {MOST_PARTS:,} parts", got=f"{len(found):,}", hint=hint)
    return {str(name): sample_of(part) for name, part in found.items()}


def _thresholds(
    samples: Samples, asked: Thresholds | str | None, context: Context, *, costs_given: bool
) -> dict[str, _Threshold]:
    """Return each model's threshold for classification and utility."""
    if asked is None or isinstance(asked, str):
        if asked is not None:
            check.check_choice("threshold", asked, ("costs", "cheapest"))
        return {model: _found_threshold(model, sample, asked, context) for model, sample in samples.items()}
    by_model = check.by_name(asked, samples)
    missing, unknown = [*(samples.keys() - by_model)], [*(by_model.keys() - samples)]
    if missing or unknown:
        got = f"none for {sorted(missing)}" if missing else f"one for {unknown}"
        raise ColumnError("threshold", expected=f"one for each of {list(samples)}", got=got)
    found = {}
    for model in samples:
        value = check.check_number(by_model[model], "threshold", "a finite number, or one for each model")
        odds = _odds(context) if costs_given or not 0 <= value < 1 else value / (1 - value)
        found[model] = _Threshold(value, "given", odds, (_fixed(f"threshold {value:g}", odds),))
    return found


def _found_threshold(model: str, sample: Sample, asked: str | None, context: Context) -> _Threshold:
    odds = _odds(context)
    if asked == "costs":
        sample.counts.require_probabilities('threshold="costs"')
        if context.always_right is not None:
            expected = "costs at which the better action depends on the probability"
            hint = f"{context.always_right} is always right; give the threshold as a number"
            raise InputError('threshold="costs"', expected=expected, got=repr(context), hint=hint)
        value = context.probability_threshold
        return _Threshold(value, "costs", odds, (_fixed(f"threshold {value:g} from the costs", odds),))
    if asked is None and sample.rows is not None and sample.rows.decisions:
        return _Threshold(None, "decisions", odds, ("classification and utility: the model's own decisions",))
    try:
        decision = choose({model: sample.counts}, context)
    except OneClassError as error:
        return _Threshold(nan, "cheapest", odds, (str(error),))
    chosen = f"threshold {decision.threshold:g}, chosen on the same rows: classification and utility are optimistic"
    return _Threshold(decision.threshold, "cheapest", odds, (chosen, *decision.notes))


def _odds(context: Context) -> float:
    """Return how many true positives one false positive outweighs; NaN if acting on a positive gains nothing."""
    return float(context.false_alarm_cost) / float(context.miss_cost) if context.miss_cost > 0 else nan


def _fixed(threshold: str, odds: float) -> str:
    weighs = "" if isnan(odds) else f"; net benefit weighs false positives by {odds:g}"
    return f"{threshold}, fixed beforehand{weighs}"
