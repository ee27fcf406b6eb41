"""Count rows by segment, and compare models over segments.

Segments are parts of the data; in comparisons they are the sampling units. `counted_by_segment` converts input of any
accepted type to counts by segment for each model.
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
    """Return the counts by segment of each model if `data` are counts by segment; otherwise an empty dict.

    Raises
    ------
    PairingError
        If segments, or their numbers of positives and negatives, differ between models.
    """
    given = {sample.NAMELESS: data} if isinstance(data, SegmentedCounts) else data
    if not isinstance(given, Mapping) or isinstance(given, Parts) or not given:
        return {}
    if not all(isinstance(counts, SegmentedCounts) for counts in given.values()):
        return {}
    return of_the_same_rows({str(model): counts for model, counts in given.items()})


def segments_of(data: Any, name: str = "segments") -> dict[str, SegmentedCounts]:
    """Return counts by segment of each model, from rows, counts, or a mapping from segment to data.

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
        raise InputError(name, expected=SEGMENTED, got="none" if isinstance(data, Mapping) else sample.kind_of(data))
    samples = {segment: sample.samples_of(rows, name=f"{name}[{segment!r}]") for segment, rows in data.items()}
    models = list(next(iter(samples.values())))
    for segment, by_model in samples.items():
        if list(by_model) != models:
            raise PairingError(f"{name}[{segment!r}]", expected=f"the models {models}", got=f"{list(by_model)}")
    return of_the_same_rows({model: _counts_of(model, samples) for model in models})


def _counts_of(model: str, samples: Mapping[Hashable, Mapping[str, sample.Sample]]) -> SegmentedCounts:
    """Return the counts of a model in the segments that contain the model."""
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
    """Return the levels of all models by segment in one table.

    With ``all_levels=False``, levels on the hulls are sufficient; binned counts may contain them without all levels.
    The segments of a mapping may have different models.
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
    """Return the levels of all models in each segment; a model that a segment lacks has no level there."""
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
    """Return counts by segment; raise an error if segments or rows differ from those of the first model."""
    (name, first), *others = by_model.items()
    for other, counts in others:
        subject = f"{name!r} and {other!r} are not paired"
        if not np.array_equal(counts.names, first.names):
            raise PairingError(subject, expected="the same segments", got="different ones")
        if not (_alike(counts.n_pos, first.n_pos) and _alike(counts.n_neg, first.n_neg)):
            expected = "equal numbers of positives and negatives in each segment"
            raise PairingError(subject, expected=expected, got="others")
    return by_model


def _alike(sums: Array, others: Array) -> bool:
    """Return True if sums are equal up to rounding errors from the order of addition."""
    return np.allclose(sums, others, tables.SAME, 0)


# Rows of a column that are numbered at a time; their few MB fit into a cache.
_ROWS_AT_ONCE = 1 << 18


def count_by(rows: Predictions, model: str, by: str) -> SegmentedCounts:
    """Return a model's counts in each segment, fold or repeat, with one sort of all rows."""
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
    """Return slots and scores in blocks of a few hundred thousand rows, computed in threads."""
    pieces = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, code.size, _ROWS_AT_ONCE)]
    slots = in_threads(lambda piece: tables.slots_of(code[piece], positive[piece], segments), pieces)
    return slots, [scores[piece] for piece in pieces]


def of_segments(
    by_segment: Mapping[Hashable, Mapping[str, Any]], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Return counts by segment from separate counts of each segment, in order."""
    models = next(iter(by_segment.values()))
    names = array_of(list(by_segment))
    rows = {model: _together([counts[model] for counts in by_segment.values()]) for model in models}
    return counts_of_models(names, rows, source)


def _together(segments: list[Any]) -> tables.SegmentRows:
    """Return the counts of segments; put all levels in one table if they are in memory and of one type."""
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
    """Return counts from sums by segment and score: (segments, scores, positives, negatives) for each model."""
    rows: dict[str, tables.SegmentRows] = {}
    names: Any = None
    for model, (segment, score, pos, neg) in by_model.items():
        names, code = numbered("segment", segment)
        rows[model] = _summed(code, names.size, score, pos, neg)
    return counts_of_models(names if names.dtype.kind in "mM" else array_of(names.tolist()), rows, source)


def _summed(segment: Array, segments: int, score: Array, pos: Array, neg: Array) -> tables.SegmentRows:
    """Sort sums by segment (numbered from 0) and score, and merge equal scores."""
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
    """Return the counts by segment of a single model, or a mapping from model name to counts."""
    counts = {model: SegmentedCounts(names, segments, source) for model, segments in rows.items()}
    return CountedModels(counts, source) if len(counts) > 1 else next(iter(counts.values()))


def array_of(names: Sequence[Hashable]) -> Any:
    """Return names as an array that preserves their types."""
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
    """Compare the mean AUC over segments between models, with segments as sampling units.

    Parameters
    ----------
    models : Predictions with segments, or mapping from model name to SegmentedCounts
        Data of two or more models with the same rows in the same segments, such as from `read_counts`.
    weight : {"n", "n_pos", None}
        Weight of a segment: its number of rows (GAUC), its number of positives (wuAUC), or None for equal weights.
    folds : {"pooled", "mean"}, optional
        Treatment of folds; see `SegmentedCounts.mean_auc`.
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        One Comparison for each pair of models, second − first.

    Raises
    ------
    InputError
        If there are fewer than two models.
    PairingError
        If segments, or their numbers of positives and negatives, differ between models.
    OneClassError
        If no segment has both classes.

    See Also
    --------
    compare, SegmentedCounts

    Notes
    -----
    The test is a paired t-test of the differences d in k segments; rows within a segment may be dependent in any way.
    The mean is Σwd/Σw. Its variance comes from omitting each segment (CR3): (k − 1)/k·Σ(w(d − mean)/(Σw − w))². The
    degrees of freedom are (Σw)²/Σw² − 1. With ``weight=None`` it is the usual paired t-test over users or queries.
    Segments without both classes are omitted; the method states their number. The result is marked as unreliable if the
    effective number of segments is below 10, or if groups of rows cross the segments.

    References
    ----------
    Bell & McCaffrey 2002, Surv. Methodol. 28:169–181 (CR3);
    Smucker, Allan & Carterette 2007, CIKM:623–632 and Urbano, Lima & Hanjalic 2019, SIGIR:505–514 (tests over
    queries that keep their level: Student's t); Zhu et al. 2017, KDD, §4 (GAUC); Cochran 1977, Sampling Techniques, 3rd
    ed., §6.

    Examples
    --------
    Model b ranks better than model a for two of three users, and equally well for one:

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
        reason = difference.doubt(error, "all segments differ equally") if area_differences.any() else ""
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
        raise InputError("models to compare", expected="two or more", got=f"{len(by_model)}")
    return by_model
