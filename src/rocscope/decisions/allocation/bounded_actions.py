"""Several actions within limits on differences and segments: a linear program over the scores of all segments.

The limits are on the cases that get any action. At each score a share of the cases gets an action or one after it; the
share does not fall as the score rises, and is not above that of the action before it.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from rocscope._base.arrays import Array
from rocscope.decisions.allocation.parity import Floor, ProgramRows, SegmentShares, rate_of, shares_of, solved
from rocscope.decisions.allocation.segment_costs import SegmentUnitCosts
from rocscope.segments.levels import SegmentLevels

_NOISE = 1e-9  # of shares that the program finds in floats


def bounded_actions(
    points: SegmentLevels,
    changes: Sequence[SegmentUnitCosts],
    limit: Fraction | None,
    differences: Mapping[str, float],
    floors: Sequence[Floor],
) -> list[SegmentShares]:
    """Return, for each place in the order of actions, the points that decide who gets it or one after it.

    Raises
    ------
    InfeasibleError
        If nothing keeps the limits; it says what the constraints of the segments take at least.
    """
    segment, levels, begin = points.segment, points.tp.size, points.start
    first = np.zeros(levels, bool)
    first[begin[:-1]] = True
    up, right = (np.diff(axis.astype(float), prepend=0.0) for axis in (points.tp, points.fp))
    up[first], right[first] = points.tp[first], points.fp[first]
    size, names = levels * len(changes), list(differences)
    rows, cost, taken = ProgramRows(size + len(names)), [], []
    cases = float(changes[0].total("cases", np.arange(points.n_pos.size), points.n_pos, points.n_neg))
    for i, terms in enumerate(changes):
        pos, neg, hit, alarm, use = (terms.column(name, segment) for name in ("pos", "neg", "hit", "alarm", "use"))
        cost.append(float(terms.largest) * (alarm * neg * right - hit * pos * up))
        taken.append(use * (pos * up + neg * right) / cases)
        own = i * levels + np.arange(levels)
        _at_most_equal(rows, own[~first], own[~first] - 1)
        if i:
            _at_most_equal(rows, own, own - levels)
    for floor in floors:
        own = np.arange(*begin[floor.segment : floor.segment + 2])
        rows.at_most(own, floor.up * up[own] + floor.right * right[own], np.zeros(own.size, np.intp), [floor.most])
    for i, name in enumerate(names):
        rate = rate_of(name, points, changes[0], segment, up, right)
        known = np.flatnonzero(~np.isnan(rate))
        own, number = np.unique(segment[known], return_inverse=True)
        column = np.concatenate([known, np.full(own.size, size + i)])
        row, value = np.concatenate([number, np.arange(own.size)]), np.append(rate[known], np.full(own.size, -1.0))
        rows.at_most(column, value, row, np.full(own.size, differences[name]))
        rows.at_most(column, -value, row, np.zeros(own.size))
    spent = np.concatenate(cost) / (max(map(abs, np.concatenate(cost))) or 1.0)
    share = solved(rows, spent, np.concatenate(taken), limit, cases, floors, bounds=(0, 1))[:size]
    return [_shares(points, share[i * levels : (i + 1) * levels]) for i in range(len(changes))]


def _at_most_equal(rows: ProgramRows, smaller: Array, larger: Array) -> None:
    """Add that some variables are not above others."""
    number = np.arange(smaller.size)
    value = np.repeat([1.0, -1.0], smaller.size)
    rows.at_most(np.append(smaller, larger), value, np.append(number, number), np.zeros(smaller.size))


def _shares(points: SegmentLevels, reached: Array) -> SegmentShares:
    """Return the share of cases that each point decides, from the share at each score that is acted on."""
    segments = np.arange(points.n_pos.size)
    last = points.start[1:] - 1
    after = np.append(reached[1:], 0.0)
    after[last] = 0.0
    weight = np.append(reached - after, 1 - reached[points.start[:-1]])
    weight = np.where(weight > _NOISE, weight, 0.0)
    depth = np.append(points.tp + points.fp, np.zeros(segments.size))
    return shares_of(weight, np.append(points.segment, segments), reached.size, depth)
