"""Count rows by segment, and compare the mean AUC over segments between models.

Segments are parts of the rows, such as customers or regions. In comparisons, the segments are the sampling units.
`segments_of` converts every accepted type of input to a `SegmentedCounts` for each model.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from rocscope import sample
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, in_threads
from rocscope._base.contract import contract
from rocscope._base.grouping import Parts, numbered
from rocscope.core import CountedModels, Levels, Predictions, Provenance, ThresholdCounts, independent_units
from rocscope.errors import InputError, PairingError
from rocscope.inference import estimate
from rocscope.inference.variance import OverFolds
from rocscope.segments import levels as tables
from rocscope.segments.segmented_counts import InFolds, SegmentedCounts, SegmentMeans, areas_of

SEGMENTED = "Predictions with segments, SegmentedCounts, or a mapping from segment to data of one or several models"


def counted_by_segment(data: Any) -> dict[str, SegmentedCounts]:
    """Return the SegmentedCounts of each model if `data` contain only SegmentedCounts; otherwise an empty dict.

    Raises
    ------
    PairingError
        If the models have different segments, or different numbers of positives or negatives in a segment.
    """
    given = {sample.NAMELESS: data} if isinstance(data, SegmentedCounts) else data
    if not isinstance(given, Mapping) or isinstance(given, Parts) or not given:
        return {}
    if not all(isinstance(counts, SegmentedCounts) for counts in given.values()):
        return {}
    return of_the_same_rows({str(model): counts for model, counts in given.items()})


def segments_of(data: Any, name: str = "segments") -> dict[str, SegmentedCounts]:
    """Return the SegmentedCounts of each model, from rows, counts, or a mapping from segment to data.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> segments_of({"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 1], [2, 5])})
    {'score': SegmentedCounts(2 segments, n_pos=7, n_neg=13)}
    """
    if isinstance(data, Predictions):
        return {model: data.counts(model, by="segment") for model in data.models}
    if counted := counted_by_segment(data):
        return counted
    if not isinstance(data, Mapping) or not data:
        raise InputError(
            name, expected=SEGMENTED, got="an empty mapping" if isinstance(data, Mapping) else sample.kind_of(data)
        )
    samples = {segment: sample.samples_of(rows, name=f"{name}[{segment!r}]") for segment, rows in data.items()}
    models = list(next(iter(samples.values())))
    for segment, by_model in samples.items():
        if list(by_model) != models:
            raise PairingError(f"{name}[{segment!r}]", expected=f"models {models}", got=f"models {list(by_model)}")
    return of_the_same_rows({model: _counts_of(model, samples) for model in models})


def _counts_of(model: str, samples: Mapping[Hashable, Mapping[str, sample.Sample]]) -> SegmentedCounts:
    """Return the SegmentedCounts of a model for all segments that have scores of this model."""
    segments = [segment for segment, by_model in samples.items() if model in by_model]
    # NumPy would convert names of several types to text, and tuples to rows; keep such names as objects.
    names = np.empty(len(segments), object)
    names[:] = segments
    if {type(segment) for segment in segments} in ({str}, {int}, {float}):
        names = np.array(segments)
    points = [samples[segment][model].points for segment in segments]
    weights = next((counts.weights for counts in points if counts.weights != "cases"), "cases")
    dependent = any(counts.dependent for counts in points)
    return SegmentedCounts(names, tables.CountedSegments(points), weights=weights, dependent=dependent)


def levels_of(data: Any, *, all_levels: bool) -> tables.SegmentLevels:
    """Return one table of the distinct scores ("levels") of all models in all segments, with cumulative counts.

    With ``all_levels=False``, the table contains only levels on the ROC hulls; binned counts can contain these levels
    even if they do not contain all levels. Different segments of a mapping may have different models.
    """
    if isinstance(data, Mapping) and data and not counted_by_segment(data):
        samples = {segment: sample.samples_of(rows, name=f"segments[{segment!r}]") for segment, rows in data.items()}
        if len({tuple(by_model) for by_model in samples.values()}) > 1:
            return _levels_of_own_models(samples, all_levels=all_levels)
    by_model = segments_of(data)
    take = SegmentedCounts.levels if all_levels else SegmentedCounts.hulls
    levels = {model: take(counts) for model, counts in by_model.items()}
    return tables.of_models(next(iter(by_model.values())).names, levels)


def _levels_of_own_models(samples: Mapping[Hashable, sample.Samples], *, all_levels: bool) -> tables.SegmentLevels:
    """Return the table of `levels_of` if segments have different models; a missing model has no levels in a segment."""
    first_models = {}
    models = {}
    for segment, by_model in samples.items():
        of_the_same_rows({model: _counts_of(model, {segment: by_model}) for model in by_model})
        first_models[segment] = {sample.NAMELESS: next(iter(by_model.values()))}
        models |= dict.fromkeys(by_model)
    # The models of a segment have the same rows, so the totals are those of the first model.
    totals = _counts_of(sample.NAMELESS, first_models)
    levels_by_model = {}
    for model in models:
        counts = _counts_of(model, samples)
        levels = counts.levels() if all_levels else counts.hulls()
        sizes = np.zeros(len(samples), np.int64)
        sizes[[model in by_model for by_model in samples.values()]] = np.diff(levels.start)
        start = np.concatenate([[0], np.cumsum(sizes)])
        levels_by_model[model] = replace(levels, start=start, n_pos=totals.n_pos, n_neg=totals.n_neg, counted=None)
    return tables.of_models(totals.names, levels_by_model)


def of_the_same_rows(by_model: dict[str, SegmentedCounts]) -> dict[str, SegmentedCounts]:
    """Return the counts unchanged, after checking that all models have the same segments and class counts."""
    (name, first), *others = by_model.items()
    for other, counts in others:
        subject = f"{name!r} and {other!r} are not paired"
        if not np.array_equal(counts.names, first.names):
            raise PairingError(subject, expected="the same segments", got="different segments")
        if not (_equal_sums(counts.n_pos, first.n_pos) and _equal_sums(counts.n_neg, first.n_neg)):
            expected = "the same numbers of positives and negatives in each segment"
            raise PairingError(subject, expected=expected, got="different numbers")
    return by_model


def _equal_sums(sums: Array, others: Array) -> bool:
    """Return True if the sums are equal up to rounding errors."""
    return np.allclose(sums, others, tables.SAME, 0)


# Rows of a column that are numbered at a time; their few MB fit into a cache.
_ROWS_AT_ONCE = 1 << 18


def count_by(rows: Predictions, model: str, by: str) -> SegmentedCounts:
    """Count the rows of a model in each segment, fold or repeat, with a single sort of all rows."""
    check.check_choice("by", by, ("segment", "fold", "repeat"))
    segments, code = numbered(by, getattr(rows, by))
    in_folds = partial(_in_folds, rows, model, code) if by == "segment" and rows.fold is not None else None
    sorted_rows = _sorted(rows, model, code, segments.size)
    unit, crossed = independent_units(rows) if rows.dependent else None, False
    if unit is not None:
        crossed = np.unique(unit * segments.size + code).size > np.unique(unit).size
    facts = rows.weight_kind, rows.dependent, crossed
    return SegmentedCounts(segments, sorted_rows, rows.source, in_folds, *facts)


def _sorted(rows: Predictions, model: str, code: Array, segments: int) -> tables.SegmentRows:
    positive, scores, weight = rows.y_true, rows.scores[model], rows.sample_weight
    if weight is None:
        return tables.SortedSegments.of(*_in_pieces(code, positive, scores, segments), segments, scores.dtype)
    return tables.WeightedSegments.of(code, segments, positive, scores, weight)


def _in_folds(rows: Predictions, model: str, code: Array) -> InFolds:
    names, fold = numbered("fold", rows.fold)
    folds = np.int64(names.size)
    parts, place = numbered("segment", code * folds + fold)
    return SegmentedCounts(parts, _sorted(rows, model, place, parts.size)), parts // folds


def _in_pieces(code: Array, positive: Booleans, scores: Array, segments: int) -> tuple[list[Array], list[Array]]:
    """Compute slots (see `levels.slots_of`) in threads; return slots and scores in blocks of about 260,000 rows."""
    pieces = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, code.size, _ROWS_AT_ONCE)]
    slots = in_threads(lambda piece: tables.slots_of(code[piece], positive[piece], segments), pieces)
    return slots, [scores[piece] for piece in pieces]


def of_segments(
    by_segment: Mapping[Hashable, Mapping[str, Any]], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Combine the separate counts of each segment into a SegmentedCounts, or one per model if there are several."""
    models = next(iter(by_segment.values()))
    names = array_of(list(by_segment))
    rows = {model: _combined([counts[model] for counts in by_segment.values()]) for model in models}
    return counts_of_models(names, rows, source)


def _combined(segments: list[Any]) -> tables.SegmentRows:
    """Combine counts of several segments; use one table if all are unweighted, in memory and have one score type."""
    rankings: list[Any] = [getattr(counts, "ranking", None) for counts in segments]
    if not all(isinstance(ranking, Levels) and not ranking.weighted for ranking in rankings):
        return tables.CountedSegments(segments)
    ranked = [ranking.levels() for ranking in rankings]
    if len({levels.threshold.dtype for levels in ranked}) > 1:
        return tables.CountedSegments(segments)
    start = np.cumsum([0, *(levels.threshold.size for levels in ranked)])
    threshold = np.concatenate([levels.threshold for levels in ranked])
    pos = np.concatenate([levels.pos for levels in ranked])
    neg = np.concatenate([levels.neg for levels in ranked])
    return tables.SegmentLevels.of_counts(start, threshold, pos, neg)


def of_sums(by_model: Mapping[str, Sequence[Array]], source: Provenance | None) -> CountedModels | SegmentedCounts:
    """Return SegmentedCounts from sums by segment and score.

    `by_model` contains four columns for each model: segments, scores, positives and negatives.
    """
    rows: dict[str, tables.SegmentRows] = {}
    names: Any = None
    for model, (segment, score, pos, neg) in by_model.items():
        names, code = numbered("segment", segment)
        rows[model] = _summed(code, names.size, score, pos, neg)
    return counts_of_models(names if names.dtype.kind in "mM" else array_of(names.tolist()), rows, source)


def _summed(segment: Array, segments: int, score: Array, pos: Array, neg: Array) -> tables.SegmentRows:
    """Sort sums by segment index and score, and merge equal scores of a segment."""
    # After the reversal, segments increase, and scores decrease within a segment.
    order = np.lexsort((score, -segment))[::-1]
    order = order[(pos + neg)[order] > 0]
    segment, score = segment[order], score[order]
    first = np.flatnonzero(np.append(True, (segment[1:] != segment[:-1]) | (score[1:] != score[:-1])))
    check.check_some_weight(bool((np.bincount(segment, minlength=segments) > 0).all()))
    start = segment[first].searchsorted(np.arange(segments + 1))
    score = score[first]
    pos = np.add.reduceat(pos[order], first)
    neg = np.add.reduceat(neg[order], first)
    if pos.dtype.kind == "i":
        return tables.SegmentLevels.of_counts(start, score, pos, neg)
    # Sums of weights are ranked by segment, because a running sum over all segments would have other rounding errors.
    some = [slice(*ends) for ends in pairwise(start.tolist())]
    return tables.CountedSegments([ThresholdCounts.from_ranking(Levels(score[i], pos[i], neg[i])) for i in some])


def counts_of_models(
    names: Any, rows: Mapping[str, tables.SegmentRows], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Return the SegmentedCounts of a single model, or a mapping from model name to SegmentedCounts."""
    counts = {model: SegmentedCounts(names, segments, source) for model, segments in rows.items()}
    return CountedModels(counts, source) if len(counts) > 1 else next(iter(counts.values()))


def array_of(names: Sequence[Hashable]) -> Any:
    """Return an array of names that keeps the type of each name."""
    column = np.array(names)
    if column.dtype.kind not in "biufmM":
        column = np.empty(len(names), dtype=object)
        column[:] = names
    return column


@contract
def compare_segments(
    models: Predictions | Mapping[str, SegmentedCounts],
    *,
    weight: tables.SegmentWeight = "n",
    folds: OverFolds | None = None,
    alternative: estimate.Alternative = "two-sided",
    test: estimate.Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: estimate.Adjust = "holm",
) -> estimate.Comparisons:
    """Compare the mean AUC over segments (such as users) between two or more models.

    Parameters
    ----------
    models : Predictions with segments, or mapping from model name to SegmentedCounts
        Data of two or more models, with the same rows in the same segments. `read_counts` returns such a mapping.
    weight : {"n", "n_pos", None}
        Weight of a segment in the mean: its number of rows ("n", GAUC), its number of positives ("n_pos", wuAUC), or
        equal weights (None).
    folds : {"pooled", "mean"}, optional
        If "mean", compare scores only within folds; see `SegmentedCounts.mean_auc`.
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        Difference in mean AUC between the models of each pair (second − first), with interval and test.

    Raises
    ------
    InputError
        If there are fewer than two models.
    PairingError
        If the models have different segments, or different numbers of positives or negatives in a segment.
    OneClassError
        If no segment has both classes.

    See Also
    --------
    compare, SegmentedCounts

    Notes
    -----
    Segments are the sampling units, so rows of the same segment may be dependent in any way. The test is a paired
    t-test. Let d be the difference in AUC in a segment, w the weight of the segment, and k the number of segments. The
    mean difference is Σwd/Σw. Its variance is estimated by omitting each segment in turn (CR3): (k − 1)/k·Σ(w(d −
    mean)/(Σw − w))². The degrees of freedom are (Σw)²/Σw² − 1. With ``weight=None``, the test is the usual paired
    t-test over users or queries. Segments with a single class are omitted; the text `method` of the result gives their
    number. The result is marked as unreliable if the effective number of segments is below 10, or if rows of the same
    group are in different segments.

    References
    ----------
    Bell & McCaffrey 2002, Surv. Methodol. 28:169–181 (CR3);
    Smucker, Allan & Carterette 2007, CIKM:623–632 and Urbano, Lima & Hanjalic 2019, SIGIR:505–514 (tests over
    queries that keep their level: Student's t); Zhu et al. 2017, KDD, §4 (GAUC); Cochran 1977, Sampling Techniques, 3rd
    ed., §6.

    Examples
    --------
    Model b ranks better than model a for two of three users; for the third user, both rank equally well:

    >>> user = ["ann", "ann", "ann", "bob", "bob", "bob", "cy", "cy", "cy"]
    >>> scores = {"a": [2, 3, 1, 1, 2, 3, 3, 2, 1], "b": [3, 2, 1, 2, 1, 3, 3, 2, 1]}
    >>> preds = Predictions([1, 0, 0] * 3, scores, segment=user)
    >>> compare_segments(preds)["a", "b"]
    Comparison(b − a: 0.3333, 95% CI [-0.3838, 1], p=0.184, two-sided; not reliable: only 3 segments of equal weight,
    fewer than 10)
    """
    hypothesis = estimate.Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, estimate.OF_ESTIMATES)
    segments = _by_model(models)
    areas, mass = zip(*(areas_of(counts, weight, folds) for counts in segments.values()), strict=True)
    crossed = any(counts.crossed for counts in segments.values())
    means = SegmentMeans.of(np.stack(areas), mass[0], weight, crossed)

    def compare(i: int, j: int) -> estimate.Comparison:
        area_differences = means.values[j] - means.values[i]
        difference = replace(means, values=area_differences[None])
        # Equal differences have no variance; the sums would only contain rounding errors.
        error = difference.error(0) if np.ptp(area_differences) > 0 else 0.0
        reason = difference.doubt(error, "the difference is the same in all segments") if area_differences.any() else ""
        method = "paired t over " + means.words
        interval = hypothesis.wald(float(difference.mean[0]), error, means.k, method, df=means.df, bound=1)
        interval = replace(interval, reason=reason)
        return hypothesis.compare(names[i], names[j], interval, df=means.df, method=method)

    names = list(segments)
    estimates = {name: means.estimate(i, level) for i, name in enumerate(names)}
    return estimate.compare_each_two("mean AUC over segments", estimates, means.covariance, compare, adjust)


def _by_model(models: Any) -> dict[str, SegmentedCounts]:
    by_model = segments_of(models) if isinstance(models, Predictions) else counted_by_segment(models)
    if not by_model or isinstance(models, SegmentedCounts):
        raise sample.refusal("models", "Predictions with segments, or a mapping from model to SegmentedCounts", models)
    if len(by_model) < 2:
        raise InputError("models to compare", expected="two or more models", got=f"{len(by_model)}")
    return by_model
