"""Find the best randomised rule under linear constraints: a random choice between two thresholds.

A random choice between two thresholds attains any point on the straight line between their points in ROC space. So
random rules attain all points in the convex hull of the thresholds. Linear constraints on tpr and fpr restrict the hull
to a polygon. A corner of this polygon has the lowest expected cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from rocscope.core import Context
from rocscope.errors import InfeasibleError, InputError
from rocscope.geometry.hull import Choices, TangentPoint, corners_of, stakes

_ROUNDED = Fraction(1, 10**12)
"""A threshold that would be used for a smaller share of the cases is not used, because sums of weights are rounded."""


class Bound(NamedTuple):
    """A linear constraint: tpr_weight·tpr + fpr_weight·fpr ≤ most."""

    tpr_weight: Fraction
    fpr_weight: Fraction
    most: Fraction

    def room(self, corner: "_Corner") -> Fraction:
        """Return the slack of a point: `most` minus the left side. It is negative if the point violates the bound."""
        return self.most - self.tpr_weight * corner.tpr - self.fpr_weight * corner.fpr


@dataclass(frozen=True)
class ConvexCombination:
    """A random choice between two thresholds for each case; or a single threshold, if both are equal.

    Attributes
    ----------
    first, second : TangentPoint
        The threshold with fewer positive predictions, and the threshold with more.
    share : Fraction
        Probability of using the second threshold for a case.
    """

    first: TangentPoint
    second: TangentPoint
    share: Fraction = Fraction(1)

    @property
    def ends(self) -> tuple[TangentPoint, TangentPoint]:
        """The first and the second threshold."""
        return self.first, self.second

    @property
    def randomized(self) -> bool:
        """True if both thresholds are used for some cases."""
        return 0 < self.share < 1

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Expected true and false positive rates of the random rule, as exact fractions."""
        (tpr, fpr), (more_tpr, more_fpr) = self.first.rates, self.second.rates
        return tpr + self.share * (more_tpr - tpr), fpr + self.share * (more_fpr - fpr)


@dataclass(frozen=True)
class _Corner:
    """A corner of the polygon, as a convex combination of thresholds.

    Attributes
    ----------
    tpr, fpr : Fraction
        Expected rates of the corner.
    parts : tuple of (Fraction, TangentPoint)
        Thresholds, and the share of cases for which each is used.
    """

    tpr: Fraction
    fpr: Fraction
    parts: tuple[tuple[Fraction, TangentPoint], ...]

    def towards(self, other: "_Corner", share: Fraction) -> "_Corner":
        """Return the point on the line to another corner, at a share of the distance."""
        amounts: dict[tuple[int, int], tuple[Fraction, TangentPoint]] = {}
        for scale, corner in ((1 - share, self), (share, other)):
            for amount, touch in corner.parts:
                key = (id(touch.choices), touch.index)
                amounts[key] = (amounts.get(key, (Fraction(0),))[0] + scale * amount, touch)
        tpr, fpr = self.tpr + share * (other.tpr - self.tpr), self.fpr + share * (other.fpr - self.fpr)
        return _Corner(tpr, fpr, tuple(amounts.values()))


def touching_within(
    choices: Sequence[Choices], context: Context, bounds: Sequence[Bound], totals: tuple[int, int] | None = None
) -> ConvexCombination:
    """Return the randomised rule with the lowest expected cost that satisfies all bounds.

    Among rules with equal cost, the rule with the fewest positive predictions is returned.

    Parameters
    ----------
    choices : sequence of Choices
        All thresholds of each model. The vertices of the hull are not sufficient, because bounds may require points
        below the hull.
    context : Context
        Costs and prevalence.
    bounds : sequence of Bound
        Linear constraints on tpr and fpr.
    totals : (int, int), optional
        Numbers of positives and negatives; see `touching`.

    Raises
    ------
    InfeasibleError
        If no rule satisfies all bounds.
    InputError
        If both false positives and false negatives are rewarded, or if the best rule needs three thresholds.

    Notes
    -----
    The result is the exact optimum of a linear program over all randomised rules. It is computed by clipping the convex
    hull of the thresholds at each bound.

    Examples
    --------
    At most a quarter of the cases can be selected, but half of the cases have the highest score:

    >>> from rocscope import ThresholdCounts
    >>> from rocscope.geometry.hull import all_choices
    >>> quarter = Bound(Fraction(1, 2), Fraction(1, 2), Fraction(1, 4))
    >>> between = touching_within([all_choices("a", ThresholdCounts([2, 1], [3, 1], [1, 3]))], Context(), [quarter])
    >>> between.first.point.threshold, between.second.point.threshold, between.share
    (inf, 2, Fraction(1, 2))
    """
    gain, cost = stakes(choices, context, totals)
    n_pos, n_neg = totals or choices[0].counts.exact_totals
    polygon = _outline([corner for option in choices for corner in _corners(option)])
    for bound in bounds:
        polygon = _cut(polygon, bound)
    if not polygon:
        raise InfeasibleError("no rule satisfies all bounds, even if it is randomised")
    # A linear cost is lowest at a corner of the polygon. Among equal costs, take the fewest positive predictions.
    best = min(polygon, key=lambda at: (cost * at.fpr - gain * at.tpr, n_pos * at.tpr + n_neg * at.fpr))
    parts = sorted(best.parts, key=lambda part: (part[1].choices.depth(part[1].index), part[1].rates[1]))
    # A corner at which two bounds meet may not be on any line between two thresholds.
    if len(parts) > 2:
        raise InputError(
            "bounds", expected="a best rule with two thresholds", got="three thresholds", hint="omit one bound"
        )
    (_, first), (share, second) = parts[0], parts[-1]
    return settled(ConvexCombination(first, second, share))


def _corners(choices: Choices) -> list[_Corner]:
    """Return the thresholds of one model that are vertices of its upper or lower convex hull."""
    size = choices.index.size
    # Rotated by 180°, the lower hull is the upper hull of the reversed decisions.
    mirrored = replace(choices, index=choices.index[::-1], negated=not choices.negated)
    index = np.union1d(corners_of(choices), size - 1 - corners_of(mirrored))
    n_pos, n_neg = (total or 1 for total in choices.counts.exact_totals)
    return [
        _Corner(Fraction(tp, n_pos), Fraction(fp, n_neg), ((Fraction(1), TangentPoint(choices, i)),))
        for i, tp, fp in zip(index.tolist(), *choices.exact_sums_at(index), strict=True)
    ]


def _outline(corners: list[_Corner]) -> list[_Corner]:
    """Return the vertices of the convex hull in counterclockwise order. Of equal points, the first is used."""
    # Multiply all rates by their common denominators, because integers are faster than fractions.
    right, up = lcm(*(at.fpr.denominator for at in corners)), lcm(*(at.tpr.denominator for at in corners))
    places = {(int(at.fpr * right), int(at.tpr * up)): at for at in reversed(corners)}  # in whole numbers
    ordered = sorted(places)
    around = _chain(ordered)[:-1] + _chain(ordered[::-1])[:-1] if len(ordered) > 1 else ordered
    return [places[place] for place in around]


def _chain(ordered: list[tuple[int, int]]) -> list[tuple[int, int]]:
    chain: list[tuple[int, int]] = []
    for place in ordered:
        while len(chain) > 1 and not _turns_left(chain[-2], chain[-1], place):
            chain.pop()
        chain.append(place)
    return chain


def _turns_left(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    return (b[0] - a[0]) * (c[1] - b[1]) > (b[1] - a[1]) * (c[0] - b[0])


def _cut(polygon: list[_Corner], bound: Bound) -> list[_Corner]:
    """Return the part of a polygon whose points satisfy a bound."""
    kept = []
    for here, there in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        room, beyond = bound.room(here), bound.room(there)
        if room >= 0:
            kept.append(here)
        # The edge crosses the bound (Sutherland & Hodgman 1974, "Reentrant polygon clipping").
        if room * beyond < 0:
            kept.append(here.towards(there, room / (room - beyond)))
    return kept


def settled(between: ConvexCombination) -> ConvexCombination:
    """Return an equivalent rule whose two thresholds are as close as possible, or a single threshold."""
    if between.randomized and between.first.choices is between.second.choices:
        between = _nearest(between)
    if between.share < _ROUNDED:
        return ConvexCombination(between.first, between.first)
    return ConvexCombination(between.second, between.second) if 1 - between.share < _ROUNDED else between


def _nearest(between: ConvexCombination) -> ConvexCombination:
    """Return an equivalent rule from the two nearest thresholds whose points are on the same line."""
    choices, start, end = between.first.choices, between.first.index, between.second.index
    tp, fp = choices.exact_sums_at(np.arange(start, end + 1))
    up, right = tp[-1] - tp[0], fp[-1] - fp[0]
    # tp + fp increases along the line, so it is used as the position on the line.
    wanted = between.share * (up + right)
    along = {
        step: hits + alarms
        for step in range(len(tp))
        if (hits := tp[step] - tp[0]) * right == (alarms := fp[step] - fp[0]) * up
    }
    low = max((step for step in along if along[step] <= wanted), key=lambda step: along[step])
    high = min((step for step in along if along[step] >= wanted), key=lambda step: along[step])
    first, second = TangentPoint(choices, start + low), TangentPoint(choices, start + high)
    if along[low] == along[high]:
        return ConvexCombination(first, first)
    return ConvexCombination(first, second, (wanted - along[low]) / Fraction(along[high] - along[low]))
