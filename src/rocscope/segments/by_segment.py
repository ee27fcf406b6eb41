"""Functions of models by segment: counting rows, drift of each segment, and comparison of models over segments.

Segments are parts of the data, and in comparisons the sampling units. `counted_by_segment` resolves what a user passes
into counts by segment for each model.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array, in_threads
from rocscope._base.contract import contract
from rocscope._base.grouping import Parts, numbered
from rocscope._base.validation import frame_of
from rocscope.core.counts import CumulativeCounts, ThresholdCounts
from rocscope.core.predictions import CountedModels, Predictions, Provenance
from rocscope.core.ranking import Levels
from rocscope.core.result import Result
from rocscope.errors import InputError, PairingError, ScoreError
from rocscope.inference.comparing import drift
from rocscope.inference.estimate import (
    OF_ESTIMATES,
    Adjust,
    Alternative,
    Comparison,
    Comparisons,
    Hypothesis,
    Test,
    compare_each_two,
)
from rocscope.inference.variance import OverFolds
from rocscope.sample import NAMELESS, Sample, Samples, kind_of, refusal, samples_of
from rocscope.segments.levels import (
    SAME,
    CountedSegments,
    SegmentLevels,
    SegmentRows,
    SegmentWeight,
    SortedSegments,
    WeightedSegments,
    of_models,
    quotients,
    slots_of,
)
from rocscope.segments.segmented_counts import InFolds, SegmentedCounts, SegmentMeans, areas_of

SEGMENTED = "Predictions with segments, SegmentedCounts, or a mapping from segment to data of one or several models"


def counted_by_segment(data: Any) -> dict[str, SegmentedCounts]:
    """Return counts by segment of each model if data are that; otherwise an empty dict.

    Raises
    ------
    PairingError
        If models have other segments, or other numbers of positives and negatives in them.
    """
    given = {NAMELESS: data} if isinstance(data, SegmentedCounts) else data
    if not isinstance(given, Mapping) or isinstance(given, Parts) or not given:
        return {}
    if not all(isinstance(each, SegmentedCounts) for each in given.values()):
        return {}
    return of_the_same_rows({str(model): each for model, each in given.items()})


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
        raise InputError(name, expected=SEGMENTED, got="none" if isinstance(data, Mapping) else kind_of(data))
    return _counted_apart(data, name)


def _counted_apart(data: Mapping[Hashable, Any], name: str) -> dict[str, SegmentedCounts]:
    samples = {segment: samples_of(each, name=f"{name}[{segment!r}]") for segment, each in data.items()}
    models = list(next(iter(samples.values())))
    for segment, each in samples.items():
        if list(each) != models:
            raise PairingError(f"{name}[{segment!r}]", expected=f"the models {models}", got=f"{list(each)}")
    return of_the_same_rows({model: _counts_of(model, samples) for model in models})


def _counts_of(model: str, samples: Mapping[Hashable, Mapping[str, Sample]]) -> SegmentedCounts:
    """Return the counts of a model in the segments that have it."""
    own = [segment for segment, each in samples.items() if model in each]
    names = np.empty(len(own), object)
    names[:] = own
    if {type(segment) for segment in own} in ({str}, {int}, {float}):
        names = np.array(own)
    return SegmentedCounts(names, CountedSegments([samples[segment][model].points for segment in own]))


def levels_of(data: Any, *, all_levels: bool) -> SegmentLevels:
    """Return the levels of all models by segment in one table.

    Without `all_levels` those on the hulls are enough, which ranges of the score may know that leave levels open. Each
    segment of a mapping may have models of its own.
    """
    if isinstance(data, Mapping) and data and not counted_by_segment(data):
        samples = {segment: samples_of(each, name=f"segments[{segment!r}]") for segment, each in data.items()}
        if len({tuple(each) for each in samples.values()}) > 1:
            return _levels_of_own_models(samples, all_levels=all_levels)
    by_model = segments_of(data)
    found = {model: each.levels() if all_levels else each.hulls() for model, each in by_model.items()}
    return of_models(next(iter(by_model.values())).names, found)


def _levels_of_own_models(samples: Mapping[Hashable, Samples], *, all_levels: bool) -> SegmentLevels:
    """Return the levels of the models that each segment has; of a model that a segment lacks it has no level."""
    for segment, each in samples.items():
        of_the_same_rows({model: _counts_of(model, {segment: each}) for model in each})
    place, found = {segment: i for i, segment in enumerate(samples)}, {}
    totals = {segment: next(iter(each.values())).points for segment, each in samples.items()}
    n_pos, n_neg = (np.array([getattr(each, name) for each in totals.values()]) for name in ("n_pos", "n_neg"))
    for model in dict.fromkeys(model for each in samples.values() for model in each):
        counts = _counts_of(model, samples)
        levels, sizes = counts.levels() if all_levels else counts.hulls(), np.zeros(len(samples), np.int64)
        sizes[[place[segment] for segment, each in samples.items() if model in each]] = np.diff(levels.start)
        start = np.concatenate([[0], np.cumsum(sizes)])
        found[model] = replace(levels, start=start, n_pos=n_pos, n_neg=n_neg, counted=None)
    every = {segment: {NAMELESS: next(iter(each.values()))} for segment, each in samples.items()}
    return of_models(_counts_of(NAMELESS, every).names, found)


def of_the_same_rows(by_model: dict[str, SegmentedCounts]) -> dict[str, SegmentedCounts]:
    """Return counts by segment; raise for segments or rows that differ from the first model's."""
    (name, first), *others = by_model.items()
    for other, each in others:
        subject = f"{name!r} and {other!r} are not paired"
        if not np.array_equal(each.names, first.names):
            raise PairingError(subject, expected="the same segments", got="different ones")
        if not (_alike(each.n_pos, first.n_pos) and _alike(each.n_neg, first.n_neg)):
            expected = "as many positives and negatives in each segment"
            raise PairingError(subject, expected=expected, got="others")
    return by_model


def _alike(sums: Array, others: Array) -> bool:
    """Whether sums are equal up to the order in which weights were added."""
    return np.allclose(sums, others, SAME, 0)


@dataclass(frozen=True, eq=False, repr=False)
class SegmentDrift(Result):
    """Drift from the first to the second of two samples, in each of their k common segments.

    Made by `rocscope.inference.drift` of two `SegmentedCounts`. The numbers are those of `Drift`, NaN where a sample
    lacks what they need.

    Attributes
    ----------
    names : array of k segments
    ks, ks_pos, ks_neg, auc_difference, prevalence_difference : arrays of k
    only_first, only_second : arrays of the segments that one sample has
    """

    names: Array
    ks: Array
    ks_pos: Array
    ks_neg: Array
    auc_difference: Array
    prevalence_difference: Array
    only_first: Array
    only_second: Array

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per segment.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        columns = ("ks", "ks_pos", "ks_neg", "auc_difference", "prevalence_difference")
        return frame_of({"segment": self.names} | {name: getattr(self, name) for name in columns}, backend)

    def __repr__(self) -> str:
        lost = f", {self.only_first.size} only in the first, {self.only_second.size} only in the second"
        return f"SegmentDrift({self.names.size} segments, largest ks {self.ks.max():.4g}{lost})"


def drift_by_segment(first: SegmentedCounts, second: SegmentedCounts) -> SegmentDrift:
    """Compare two samples of one model segment by segment; see `rocscope.inference.drift`."""
    samples = (first, second)
    here, there = ({name: i for i, name in enumerate(each)} for each in samples)
    both = [(i, there[name]) for name, i in here.items() if name in there]
    if not both:
        raise InputError("segments", expected="some that both samples have", got="none")
    at = np.array(both).T
    only_first, only_second = (np.setdiff1d(np.arange(len(each)), i) for each, i in zip(samples, at, strict=True))
    area = [each.auc()[i] for each, i in zip(samples, at, strict=True)]
    share = [each.prevalence[i] for each, i in zip(samples, at, strict=True)]
    rows = [each.sorted_rows.take(i) for each, i in zip(samples, at, strict=True) if each.sorted_rows]
    if len(rows) == 2:
        ks, ks_pos, ks_neg = _distances(rows)
    else:
        found = [_distances_of(first[name], second[name]) for name in here if name in there]
        ks, ks_pos, ks_neg = np.array(found).T
    return SegmentDrift(
        first.names[at[0]],
        ks,
        ks_pos,
        ks_neg,
        area[1] - area[0],
        share[1] - share[0],
        first.names[only_first],
        second.names[only_second],
    )


def _distances_of(first: CumulativeCounts, second: CumulativeCounts) -> list[float]:
    found = drift(first, second)
    return [np.nan if each is None else each.low for each in (found.ks, found.ks_pos, found.ks_neg)]


def _distances(rows: Sequence[SortedSegments]) -> list[Array]:
    if rows[0].dtype != rows[1].dtype:
        raise ScoreError("samples", expected="scores of one type", got=f"{rows[0].dtype} and {rows[1].dtype}")
    return [_distance(rows, kinds) for kinds in ((0, 1), (0,), (1,))]


def _distance(rows: Sequence[SortedSegments], kinds: tuple[int, ...]) -> Array:
    """Return the largest difference of shares at or above a threshold, for some classes, by segment."""
    sizes = [np.diff(each.bounds).reshape(-1, 2) for each in rows]
    known = np.all([each[:, kinds].sum(axis=1) > 0 for each in sizes], axis=0)
    found = np.full(known.size, np.nan)
    if known.any():
        slots, codes = [], []
        for sample, each in enumerate(rows):
            own = each.take(np.flatnonzero(known))
            slot = np.repeat(np.arange(own.bounds.size - 1), np.diff(own.bounds))
            kept = np.isin(slot % 2, kinds)
            slots.append(slot[kept] // 2 * 2 + sample)  # one sample in place of the positives, one of the negatives
            codes.append(own.codes[kept])
        both = SortedSegments.of(slots, codes, int(known.sum()), rows[0].dtype)
        found[known] = np.concatenate(both.in_pieces(_apart))
    return found


def _apart(levels: SegmentLevels) -> Array:
    first, second = (levels.spread(total) for total in (levels.n_pos, levels.n_neg))
    apart = levels.each(np.maximum, abs(levels.tp * second - levels.fp * first))
    return quotients(apart, levels.n_pos * levels.n_neg)


_ROWS_AT_ONCE = 1 << 18  # of a column: some MB, which a cache holds


def count_by(rows: Predictions, model: str, by: str) -> SegmentedCounts:
    """Return a model's counts in each segment, fold or repeat, with one sort of all rows."""
    check.check_choice("by", by, ("segment", "fold", "repeat"))
    segments, code = numbered(by, getattr(rows, by))
    in_folds = partial(_in_folds, rows, model, code) if by == "segment" and rows.fold is not None else None
    return SegmentedCounts(segments, _sorted(rows, model, code, segments.size), rows.source, in_folds)


def _sorted(rows: Predictions, model: str, code: Array, segments: int) -> SegmentRows:
    positive, scores, weight = rows.y_true, rows.scores[model], rows.sample_weight
    if weight is None:
        return SortedSegments.of(*_in_pieces(code, positive, scores, segments), segments, scores.dtype)
    return WeightedSegments.of(code, segments, positive, scores, weight)


def _in_folds(rows: Predictions, model: str, code: Array) -> InFolds:
    names, fold = numbered("fold", rows.fold)
    folds = np.int64(names.size)
    parts, place = numbered("segment", code * folds + fold)
    return SegmentedCounts(parts, _sorted(rows, model, place, parts.size)), parts // folds


def _in_pieces(
    code: Array, positive: NDArray[np.bool_], scores: Array, segments: int
) -> tuple[list[Array], list[Array]]:
    """Return slots and scores in pieces of a few hundred thousand rows, computed in threads."""
    pieces = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, code.size, _ROWS_AT_ONCE)]
    slots = in_threads(lambda piece: slots_of(code[piece], positive[piece], segments), pieces)
    return slots, [scores[piece] for piece in pieces]


def of_segments(
    by_segment: Mapping[Hashable, Mapping[str, Any]], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Return counts made segment by segment, in order."""
    models = next(iter(by_segment.values()))
    names = array_of(list(by_segment))
    rows = {model: _together([counts[model] for counts in by_segment.values()]) for model in models}
    return drift_of_models(names, rows, source)


def _together(each: list[Any]) -> SegmentRows:
    """Return the counts of segments, with all levels in one table if they are in memory and of one type."""
    rankings: list[Any] = [getattr(counts, "ranking", None) for counts in each]
    if not all(isinstance(ranking, Levels) and not ranking.weighted for ranking in rankings):
        return CountedSegments(each)
    ranked = [ranking.levels() for ranking in rankings]
    if len({levels.threshold.dtype for levels in ranked}) > 1:
        return CountedSegments(each)
    columns = ([getattr(levels, name) for levels in ranked] for name in ("threshold", "pos", "neg"))
    start = np.cumsum([0, *(levels.threshold.size for levels in ranked)])
    return SegmentLevels.of_counts(start, *map(np.concatenate, columns))


def of_sums(by_model: Mapping[str, Sequence[Array]], source: Provenance | None) -> CountedModels | SegmentedCounts:
    """Return counts from sums by segment and score: segments, scores, positives, negatives for each model."""
    rows: dict[str, SegmentRows] = {}
    names: Any = None
    for model, (segment, score, pos, neg) in by_model.items():
        names, code = numbered("segment", segment)
        rows[model] = _summed(code, names.size, score, pos, neg)
    return drift_of_models(names if names.dtype.kind in "mM" else array_of(names.tolist()), rows, source)


def _summed(segment: Array, segments: int, score: Array, pos: Array, neg: Array) -> SegmentRows:
    """Sort sums by segment (numbered from 0) and score, and merge equal scores."""
    order = np.lexsort((score, -segment))[::-1]
    order = order[(pos + neg)[order] > 0]
    segment, score = segment[order], score[order]
    first = np.flatnonzero(np.append(True, (segment[1:] != segment[:-1]) | (score[1:] != score[:-1])))
    check.check_some_weight(bool((np.bincount(segment, minlength=segments) > 0).all()))
    start, score = segment[first].searchsorted(np.arange(segments + 1)), score[first]
    pos, neg = (np.add.reduceat(column[order], first) for column in (pos, neg))
    if pos.dtype.kind == "i":
        return SegmentLevels.of_counts(start, score, pos, neg)
    some = [slice(*ends) for ends in pairwise(start.tolist())]
    return CountedSegments([ThresholdCounts.from_ranking(Levels(score[i], pos[i], neg[i])) for i in some])


def drift_of_models(
    names: Any, rows: Mapping[str, SegmentRows], source: Provenance | None
) -> CountedModels | SegmentedCounts:
    """Return counts by segment of one model, or of several by name."""
    found = {model: SegmentedCounts(names, own, source) for model, own in rows.items()}
    return CountedModels(found, source) if len(found) > 1 else next(iter(found.values()))


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
    weight: SegmentWeight = "n",
    folds: OverFolds | None = None,
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: Adjust = "holm",
) -> Comparisons:
    """Compare the mean AUC over segments between models: second − first, with segments as sampling units.

    Parameters
    ----------
    models : Predictions with segments, or mapping from model name to SegmentedCounts
        As `read_counts` gives them. Models of the same rows in the same segments.
    weight : {"n", "n_pos", None}
        What a segment counts: its rows (GAUC), its positives (wuAUC), or as much as any other.
    folds : {"pooled", "mean"}, optional
        See `SegmentedCounts.mean_auc`.
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        One Comparison for each pair of models.

    Raises
    ------
    InputError
        If there are fewer than two models.
    PairingError
        If models have other segments, or other numbers of positives and negatives in them.
    OneClassError
        If no segment has both classes.

    Notes
    -----
    A paired t-test of the differences d of k segments, which may depend within segments in any way: mean Σwd/Σw, the
    variance of leaving out each segment (CR3), (k − 1)/k·Σ(w(d − mean)/(Σw − w))², and (Σw)²/Σw² − 1 degrees of
    freedom. Of weights None it is the paired t-test over users or queries of the field. Segments without both classes
    are left out, and counted in the method. Marked as not reliable where segments are worth fewer than 10 of equal
    weight.

    References
    ----------
    Bell & McCaffrey 2002, Surv. Methodol. 28:169–181 (CR3);
    Smucker, Allan & Carterette 2007, CIKM:623–632 and Urbano, Lima & Hanjalic 2019, SIGIR:505–514 (which tests hold
    over queries: Student's t); Zhu et al. 2017, KDD, §4 (GAUC); Cochran 1977, Sampling Techniques, 3rd ed., §6.

    Examples
    --------
    Of three users, model b ranks two better than a, and one alike:

    >>> user = ["ann", "ann", "ann", "bob", "bob", "bob", "cy", "cy", "cy"]
    >>> scores = {"a": [2, 3, 1, 1, 2, 3, 3, 2, 1], "b": [3, 2, 1, 2, 1, 3, 3, 2, 1]}
    >>> preds = Predictions([1, 0, 0] * 3, scores, segment=user)
    >>> compare_segments(preds)["a", "b"]
    Comparison(b − a: 0.3333, 95 % interval -0.3838 to 1, p=0.184, two-sided, paired t over 3 segments weighted by rows;
    not reliable: only 3 segments of equal weight, fewer than 10)
    """
    hypothesis = Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, OF_ESTIMATES)
    segments = _by_model(models)
    areas, mass = zip(*(areas_of(each, weight, folds) for each in segments.values()), strict=True)
    means = SegmentMeans.of(np.stack(areas), mass[0], weight)

    def compare(i: int, j: int) -> Comparison:
        apart = means.values[j] - means.values[i]
        difference = replace(means, values=apart[None])
        error = difference.error(0) if np.ptp(apart) > 0 else 0.0
        reason = difference.doubt(error, "all segments differ alike") if apart.any() else ""
        method = "paired t over " + means.words
        found = hypothesis.wald(float(difference.mean[0]), error, means.k, method, df=means.df, bound=1)
        found = replace(found, reason=reason)
        return hypothesis.compare(names[i], names[j], found, df=means.df, method=method)

    names = list(segments)
    estimates = {name: means.estimate(i, level) for i, name in enumerate(names)}
    return compare_each_two("mean AUC over segments", estimates, means.covariance, compare, adjust)


def _by_model(models: Any) -> dict[str, SegmentedCounts]:
    found = segments_of(models) if isinstance(models, Predictions) else counted_by_segment(models)
    if not found or isinstance(models, SegmentedCounts):
        raise refusal("models", "Predictions with segments, or a mapping from model to SegmentedCounts", models)
    if len(found) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(found)}")
    return found
