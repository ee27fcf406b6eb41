"""The hulls of all groups at once: which levels of which model can be best in each, one group after the other."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base.arrays import Array
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, PairingError
from rocscope.sample import NAMELESS, kind_of, samples_of

_MOST_PAIRS = 2.0**62
_ROUNDS = 4
_SAME = 1e-12
"""By what share sums of the same weights in another order differ at most."""


@dataclass(frozen=True)
class Outlines:
    """Points of groups, one group after the other: group g has those from `start[g]` on.

    Attributes
    ----------
    names : array of groups
    models : list of str
    start : array of so many groups, and one more
    score, model, tp, fp : arrays of points
        "Positive iff the score of that model is at least so much", and the counts; nobody positive is left out.
    n_pos, n_neg : arrays of counts by group
    """

    names: Array
    models: list[str]
    start: NDArray[np.int64]
    score: Array
    model: NDArray[np.intp]
    tp: Array
    fp: Array
    n_pos: Array
    n_neg: Array

    @classmethod
    def one_after_the_other(cls, pieces: Sequence["Outlines"]) -> "Outlines":
        """Return the points of all groups, of which each piece has some, in their order."""
        start = np.cumsum(np.concatenate([[0], *(np.diff(each.start) for each in pieces)]))
        columns = (
            np.concatenate([getattr(each, name) for each in pieces])
            for name in ("score", "model", "tp", "fp", "n_pos", "n_neg")
        )
        return cls(pieces[0].names, pieces[0].models, start, *columns)

    @cached_property
    def keys(self) -> dict[Hashable, int]:
        """The number of each group, by its name."""
        return {name: i for i, name in enumerate(listed(self.names))}

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """The number of each point's group."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))

    @cached_property
    def steps(self) -> tuple[Array, Array]:
        """Positives and negatives from the point before, in the same group, up to each."""
        up, right = (np.diff(axis, prepend=axis.dtype.type(0)) for axis in (self.tp, self.fp))
        first = self.start[:-1]
        up[first], right[first] = self.tp[first], self.fp[first]
        return up, right

    def take(self, index: NDArray[np.intp], start: Array) -> "Outlines":
        """Return some of the points."""
        columns = (self.score[index], self.model[index], self.tp[index], self.fp[index])
        return Outlines(self.names, self.models, start, *columns, self.n_pos, self.n_neg)

    @cached_property
    def upper(self) -> "Outlines":
        """The vertices of the upper hull of each group, from nobody to everybody positive."""
        return self._hull(self.tp, self.fp)

    @cached_property
    def lower(self) -> "Outlines":
        """Those of the lower hull: of the upper one, where the axes change places."""
        return self._hull(self.fp, self.tp)

    def _hull(self, up: Array, right: Array) -> "Outlines":
        if len(self.models) > 1:
            order = np.lexsort((-self.model, up, right, self.group))
            return self.take(order, self.start)._vertices(up[order], right[order])
        return self._vertices(up, right)

    def _vertices(self, up: Array, right: Array) -> "Outlines":
        kept, start = np.empty(up.size, np.int64), np.empty(self.start.size, np.int64)
        fits = up.dtype.kind == "f" or (self.n_pos * self.n_neg.astype(np.float64)).max() < _MOST_PAIRS
        if fits and up.size >= kernels.SMALL:
            size = kernels.groups.hulls(up, right, self.start, kept, start)
            return self.take(kept[:size], start)
        some = _without_dents(up, right, self.group) if fits and len(self.models) == 1 else np.arange(up.size)
        starts = self.group[some].searchsorted(np.arange(self.start.size))
        size = kernels.groups.hulls.python(up[some].tolist(), right[some].tolist(), starts.tolist(), kept, start)
        return self.take(some[kept[:size]], start)


def _without_dents(up: Array, right: Array, group: Array) -> NDArray[np.intp]:
    """Return what is left of points of groups, no two equal, without those on or below the line between neighbours."""
    kept = np.arange(up.size)
    for _ in range(_ROUNDS):
        y, x, own = up[kept], right[kept], group[kept]
        first = np.append(True, own[1:] != own[:-1])
        below, left = (np.where(first, 0, np.append(0, axis[:-1])) for axis in (y, x))
        above, beyond = np.append(y[1:], 0), np.append(x[1:], 0)
        vertex = (y - below) * (beyond - x) > (above - y) * (x - left)
        kept = kept[vertex | np.append(first[1:], True)]
    return kept


def listed(names: Array) -> list[Hashable]:
    """Return names as they are looked up: dates as they are, all else as Python has it."""
    return list(names) if names.dtype.kind in "mM" else names.tolist()


def outlines_of(groups: Any, *, all_levels: bool) -> Outlines:
    """Return the points of groups that can be best, given in any of the forms that `allocate` takes.

    Without `all_levels` those on the hulls are enough, which ranges of the score may know that leave levels open.
    """
    if isinstance(groups, Predictions):
        groups = {model: groups.counts(model, by="segment") for model in groups.models}
    if not isinstance(groups, Mapping) or not groups:
        expected = (
            "Predictions with segments, SegmentedCounts, or a mapping from group to data of one or several models"
        )
        raise InputError("segments", expected=expected, got="none" if isinstance(groups, Mapping) else kind_of(groups))
    if hasattr(groups, "sorted_levels"):
        groups = {NAMELESS: groups}
    if all(hasattr(each, "sorted_levels") for each in groups.values()):
        by_model, names = groups, next(iter(groups.values())).names
        if not all(np.array_equal(each.names, names) for each in groups.values()):
            raise PairingError("segments", expected="the same groups of each model", got="different ones")
    else:
        by_model, names = _by_model(groups, all_levels=all_levels)
    models = [str(model) for model in by_model]
    found = [
        _points(names, model, each, all_levels=all_levels)
        for model, each in zip(models, by_model.values(), strict=True)
    ]
    return found[0] if len(found) == 1 else _joined(models, [each if all_levels else each.upper for each in found])


def _by_model(groups: Mapping[Any, Any], *, all_levels: bool) -> tuple[dict[str, list[Any]], Array]:
    """Return the counts of each model, group by group, and the names of the groups."""
    samples = {name: samples_of(data, name=f"segments[{name!r}]") for name, data in groups.items()}
    models = list(next(iter(samples.values())))
    for name, each in samples.items():
        if list(each) != models:
            raise PairingError(f"segments[{name!r}]", expected=f"the models {models}", got=f"{list(each)}")
    names = np.empty(len(samples), object)
    names[:] = list(samples)
    if {type(name) for name in samples} in ({str}, {int}, {float}):
        names = np.array(names.tolist())
    return {model: [_known(each[model].points, all_levels) for each in samples.values()] for model in models}, names


def _known(points: Any, all_levels: bool) -> Any:
    return points.require_levels("an allocation") if all_levels else points.on_hull("an allocation")


def _points(names: Array, model: str, grouped: Any, *, all_levels: bool) -> Outlines:
    """Return the levels of all groups of one model, or those on their hulls where these are found for many at once."""

    def some(levels: Any) -> Outlines:
        columns = levels.threshold, np.zeros(levels.tp.size, np.intp), levels.tp, levels.fp
        found = Outlines(names, [model], levels.start, *columns, levels.n_pos, levels.n_neg)
        return found if all_levels else found.upper

    pieces = grouped.sorted_levels(some) if hasattr(grouped, "sorted_levels") else None
    if pieces is not None:
        return Outlines.one_after_the_other(pieces)
    counts = grouped if isinstance(grouped, list) else [_known(each, all_levels) for each in grouped.values()]
    start = np.cumsum([0, *(len(each) for each in counts)])
    scores, *cumulative = zip(*map(_columns, counts), strict=True)
    score, (tp, fp) = _together(scores), map(np.concatenate, cumulative)
    n_pos, n_neg = (np.array(axis) for axis in zip(*((each.n_pos, each.n_neg) for each in counts), strict=True))
    return Outlines(names, [model], start, score, np.zeros(tp.size, np.intp), tp, fp, n_pos, n_neg)


def _together(columns: Sequence[Array]) -> Array:
    """Return all entries of columns; as they are, where no type holds those of all of them."""
    several = len({column.dtype for column in columns}) > 1
    return np.concatenate([column.astype(object) for column in columns] if several else columns)


def _columns(counts: Any) -> tuple[Array, Array, Array]:
    return counts.threshold, counts.tp, counts.fp


def _joined(models: list[str], found: list[Outlines]) -> Outlines:
    """Return the points of several models, which must have ranked the same rows."""
    first = found[0]
    for model, each in zip(models, found, strict=True):
        if not all(np.allclose(*two, _SAME, 0) for two in ((each.n_pos, first.n_pos), (each.n_neg, first.n_neg))):
            expected = f"as many positives and negatives in each group as {models[0]!r} has"
            raise PairingError(f"segments of {model!r}", expected=expected, got="others")
    group = np.concatenate([each.group for each in found])
    order = np.argsort(group, kind="stable")
    score = _together([each.score for each in found])[order]
    tp, fp = (np.concatenate([getattr(each, name) for each in found]) for name in ("tp", "fp"))
    tp, fp = (
        np.where(axis < (1 - _SAME) * total, axis, total)[order]
        for axis, total in ((tp, first.n_pos[group]), (fp, first.n_neg[group]))
    )
    model = np.repeat(np.arange(len(found)), [each.tp.size for each in found])[order]
    start = np.sum([each.start for each in found], axis=0)
    return Outlines(first.names, models, start, score, model, tp, fp, first.n_pos, first.n_neg)
