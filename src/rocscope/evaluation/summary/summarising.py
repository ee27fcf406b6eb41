"""summary: everything that a validation reports of each model, in one call."""

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any, Literal

import numpy as np

from rocscope import __version__
from rocscope import _validation as check
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.rows import refuse_repeats
from rocscope.curves.campaign import Campaign
from rocscope.decisions.choosing import choose
from rocscope.errors import InputError, OneClassError
from rocscope.evaluation.groups.counted import GroupedCounts
from rocscope.evaluation.summary.measures import measure
from rocscope.evaluation.summary.result import FoldsRow, Summary, SummaryRow, methods_paragraph
from rocscope.sample import NAMELESS, Models, Sample, Samples, sample_of, samples_of

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
        In any form; see `rocscope.sample`; also GroupedCounts, or a mapping of them by model, of which all rows are
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
        `rocscope.evaluation.GroupedCounts` answers for all at once.

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


def by_group(predictions: Any) -> dict[str, GroupedCounts]:
    """Return counts by group of each model, where such were given."""
    given = {NAMELESS: predictions} if isinstance(predictions, GroupedCounts) else predictions
    grouped = isinstance(given, Mapping) and given and all(isinstance(each, GroupedCounts) for each in given.values())
    return {str(model): each for model, each in given.items()} if grouped else {}


def _parts(sample: Sample, by: str | None, grouped: GroupedCounts | None) -> dict[str, Sample]:
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
