"""Limits on differences between segments: a linear program over the vertices of each segment's hull."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.decisions.allocation.segment_costs import SegmentUnitCosts
from rocscope.decisions.constraints import constraints_of
from rocscope.errors import InfeasibleError, InputError, RocscopeError
from rocscope.figures.registry import known
from rocscope.segments.levels import SegmentLevels

RATES = ("tpr", "fpr", "depth")
_WORDS = {
    "equal_opportunity": ("tpr",),
    "equalized_odds": ("tpr", "fpr"),
    "demographic_parity": ("depth",),
    "selection_rate_parity": ("depth",),
    "true_positive_rate_parity": ("tpr",),
    "false_negative_rate_parity": ("tpr",),
    "false_positive_rate_parity": ("fpr",),
    "true_negative_rate_parity": ("fpr",),
}
_KEPT = 1e-12  # relative: rounding alone
_LEAST = 1e-12
"""Weights below this are rounding errors."""


def differences_of(given: Any) -> dict[str, float]:
    """Return the largest allowed difference of each rate, from a mapping or a text.

    Examples
    --------
    >>> differences_of("equalized_odds"), differences_of({"selection rate": 0.1})
    ({'tpr': 0.0, 'fpr': 0.0}, {'depth': 0.1})
    """
    if given is None:
        return {}
    if isinstance(given, str):
        given = {given: 0.0}
    if not isinstance(given, Mapping):
        expected = "a mapping such as {'tpr': 0.05}, or a text such as 'equalized_odds'"
        raise InputError("max_difference", expected=expected, got=check.shown(given))
    found: dict[str, float] = {}
    for name, most in given.items():
        figure = known(str(name))
        own = figure.name if figure else str(name)
        rates = (own,) if own in RATES else _WORDS.get(own)
        if rates is None:
            expected = check.one_of(own, [*RATES, *_WORDS])
            raise InputError("max_difference", expected=expected, got=check.shown(name))
        check.check_number(most, f"max_difference of {name}", "a difference from 0 to 1", least=0)
        found |= {rate: float(min(most, found.get(rate, 1.0))) for rate in rates}
    return found


def rate_of(name: str, points: SegmentLevels, terms: SegmentUnitCosts, segment: Array, tp: Array, fp: Array) -> Array:
    """Return a rate for each segment; NaN without cases of its class."""
    n_pos, n_neg = points.n_pos[segment], points.n_neg[segment]
    if name == "depth":
        pos, neg = terms.column("pos", segment), terms.column("neg", segment)
        return (pos * tp + neg * fp) / (pos * n_pos + neg * n_neg)
    found, total = (tp, n_pos) if name == "tpr" else (fp, n_neg)
    return np.divide(found, total, out=np.full(np.shape(found), np.nan), where=total > 0)


@dataclass(frozen=True)
class SegmentShares:
    """Which points decide which share of each segment's cases, by segment.

    Attributes
    ----------
    segment : array of numbers of segments
    point : array of points; −1 where nobody is predicted positive
    share : list of Fraction
    """

    segment: Array
    point: Array
    share: list[Fraction]

    @classmethod
    def of_steps(cls, hulls: SegmentLevels, steps: Array, drawn: int, part: Fraction) -> "SegmentShares":
        """Return who is predicted positive after so many hull steps, and a part of one more where `drawn` is not −1."""
        segments, point = np.arange(steps.size), np.where(steps > 0, hulls.start[:-1] + steps - 1, -1)
        share = [Fraction(1)] * steps.size
        if drawn < 0:
            return cls(segments, point, share)
        after, following = drawn + 1, hulls.start[drawn] + steps[drawn]
        share[drawn:after] = [1 - part, part]
        return cls(np.insert(segments, after, drawn), np.insert(point, after, following), share)


@dataclass(frozen=True)
class Floor:
    """A constraint that a segment keeps by itself: up · tp + right · fp ≤ most, in counts of the sample."""

    segment: int
    text: str
    up: float
    right: float
    most: float

    def kept(self, tp: Array, fp: Array) -> bool:
        """Whether expected counts by segment keep it."""
        return self.up * tp[self.segment] + self.right * fp[self.segment] <= self.most + _KEPT * max(
            1.0, abs(self.most)
        )


def floors_of(subject_to: Any, points: SegmentLevels, terms: SegmentUnitCosts) -> list[Floor]:
    """Return the constraints of each segment: the same for all, or of a mapping those of its segment.

    Segments without positives have no tpr, those without negatives no fpr, and are bound by none.
    """
    by_segment = isinstance(subject_to, Mapping)
    if by_segment and (unknown := [name for name in subject_to if name not in points.keys]):
        raise InputError("subject_to", expected="segments that are allocated to", got=check.listing(unknown))
    named = subject_to.items() if by_segment else ((name, subject_to) for name in points.keys)
    read = constraints_of(()) if by_segment else constraints_of(subject_to)
    found = []
    for name, own in named:
        segment = points.keys[name]
        n_pos, n_neg = (Fraction(axis[segment].item()) for axis in (points.n_pos, points.n_neg))
        term = terms.of(segment)
        cases = term.cases(n_pos, n_neg)
        for constraint in constraints_of(own) if by_segment else read:
            if constraint.figure.needs != "cells":
                expected = "a bound on a figure of the four counts, such as tpr, precision or cases"
                raise InputError("subject_to", expected=expected, got=str(constraint))
            bound = constraint.straight(term.pos * n_pos / cases, cases)
            if (bound.tpr_weight and not n_pos) or (bound.fpr_weight and not n_neg):
                continue
            up, right = (float(w / n) if n else 0.0 for w, n in ((bound.tpr_weight, n_pos), (bound.fpr_weight, n_neg)))
            found.append(Floor(segment, str(constraint), up, right, float(bound.most)))
    return found


def bounded(
    points: SegmentLevels,
    terms: SegmentUnitCosts,
    limit: Fraction | None,
    differences: Mapping[str, float],
    floors: Sequence[Floor] = (),
) -> tuple[SegmentLevels, SegmentShares]:
    """Return the points of lowest cost within limits, and the share of cases that each decides.

    Raises
    ------
    InfeasibleError
        If there are none; it says what the constraints of the segments take at least.

    Notes
    -----
    Every mixture of the thresholds of a segment is one of the vertices of their outline. The program has a variable for
    each of these, and one for the lowest rate of any segment; HiGHS solves it.
    """
    from scipy.sparse import coo_array

    outline, nobody = _both(points)
    segment, segments = outline.segment, outline.n_pos.size
    segment = np.concatenate([segment, np.arange(segments)])
    tp, fp = (np.concatenate([axis, np.zeros(segments, axis.dtype)]) for axis in (outline.tp, outline.fp))
    pos, neg, hit, alarm, use = (terms.column(name, segment) for name in ("pos", "neg", "hit", "alarm", "use"))
    cases = float(terms.total("cases", np.arange(segments), outline.n_pos, outline.n_neg))
    size, names = segment.size, list(differences)
    program = ProgramRows(size + len(names))
    taken = use * (pos * tp + neg * fp) / cases
    order = np.argsort(segment, kind="stable")
    begin = segment[order].searchsorted(np.arange(segments + 1))
    for floor in floors:
        own = order[begin[floor.segment] : begin[floor.segment + 1]]
        value = floor.up * tp[own] + floor.right * fp[own]
        program.at_most(own, value, np.zeros(own.size, np.intp), [floor.most])
    for i, name in enumerate(names):
        rate = rate_of(name, outline, terms, segment, tp, fp)
        known = np.flatnonzero(~np.isnan(rate))
        own, number = np.unique(segment[known], return_inverse=True)
        lowest = np.full(own.size, size + i)
        column, row = np.concatenate([known, lowest]), np.concatenate([number, np.arange(own.size)])
        value = np.concatenate([rate[known], np.full(own.size, -1.0)])
        program.at_most(column, value, row, np.full(own.size, differences[name]))
        program.at_most(column, -value, row, np.zeros(own.size))
    each = coo_array((np.ones(size), (segment, np.arange(size))), shape=(segments, size + len(names)))
    alone = {"A_eq": each, "b_eq": np.ones(segments)}
    found = solved(program, (alarm * neg * fp - hit * pos * tp) / cases, taken, limit, cases, floors, **alone)
    return outline, shares_of(found[:size], segment, nobody[0], tp + fp)


def solved(
    program: "ProgramRows", cost: Array, taken: Array, limit: Fraction | None, cases: float, floors: Any, **others: Any
) -> Array:
    """Return the solution of lowest cost of a program, within a limit on what is taken, as a share of all cases.

    Raises
    ------
    InfeasibleError
        If there is none; it says what the constraints of the segments take at least.
    """
    from scipy.optimize import linprog

    rest = np.zeros(program.variables - cost.size)
    least = linprog(np.append(taken, rest), **program.bounds, **others, method="highs") if floors else None
    if limit is not None:
        program.at_most(np.arange(taken.size), taken, np.zeros(taken.size, np.intp), [float(limit) / cases])
    found = linprog(np.append(cost, rest), **program.bounds, **others, method="highs")
    if found.x is None and least is not None:
        floor_words = " and ".join(dict.fromkeys(floor.text for floor in floors))
        takes = "no limit would do" if least.x is None else f"they take at least {least.fun * cases:.6g}"
        raise InfeasibleError(f"no allocation keeps {floor_words} in its segments within the limit", hint=takes)
    if found.x is None:
        raise RocscopeError("allocation", expected="an optimum of the linear program", got=str(found.message))
    return found.x


class ProgramRows:
    """Rows of a linear program with upper bounds."""

    def __init__(self, variables: int) -> None:
        self.variables, self.rows = variables, 0
        self._entries: list[tuple[Array, Array, Array]] = []
        self._most: list[Array] = []

    def at_most(self, column: Array, value: Array, row: Array, most: Any) -> None:
        """Add rows given by their entries."""
        self._entries.append((value, row + self.rows, column))
        self._most.append(np.asarray(most, np.float64))
        self.rows += len(most)

    @property
    def bounds(self) -> dict[str, Any]:
        """Arguments for linprog."""
        from scipy.sparse import coo_array

        if not self._entries:
            return {}
        value, row, column = (np.concatenate(parts) for parts in zip(*self._entries, strict=True))
        matrix = coo_array((value, (row, column)), shape=(self.rows, self.variables))
        return {"A_ub": matrix, "b_ub": np.concatenate(self._most)}


def _both(points: SegmentLevels) -> tuple[SegmentLevels, Array]:
    """Return the vertices of both hulls of each segment, and the indices of "nobody positive"."""
    upper, lower = points.upper, points.lower
    number = np.concatenate([upper.segment, lower.segment])
    inner = np.ones(number.size, bool)
    inner[upper.tp.size - 1 + lower.start[1:]] = False
    order = np.flatnonzero(inner)[np.argsort(number[inner], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(number[order], minlength=points.n_pos.size))])
    columns = {
        name: np.concatenate([getattr(each, name) for each in (upper, lower)])[order]
        for name in ("threshold", "model", "tp", "fp")
    }
    return replace(points, start=start, counted=None, **columns), order.size + np.arange(points.n_pos.size)


def shares_of(weight: Array, segment: Array, nobody: int, depth: Array) -> SegmentShares:
    """Return the parts that each decide a share of the cases, from fewest positive predictions.

    Entries from `nobody` on act on nobody.
    """
    used = np.flatnonzero(weight > _LEAST)
    used = used[np.lexsort((depth[used], segment[used]))]
    total = np.bincount(segment[used], weight[used])
    share = [Fraction(each).limit_denominator(10**15) for each in (weight[used] / total[segment[used]]).tolist()]
    last = np.append(np.diff(segment[used]) > 0, True)
    left = Fraction(1)
    for i in range(used.size):  # the last of a segment has what the others leave
        if last[i]:
            share[i], left = left, Fraction(1)
        else:
            left -= share[i]
    return SegmentShares(segment[used], np.where(used < nobody, used, -1), share)
