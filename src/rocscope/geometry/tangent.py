"""Iso-cost tangents: the optimal point of a curve, ties, and trivial classifiers; decided only here.

The rule: lowest expected cost; among equals fewest positive predictions; then the model given first. It holds for any
context that does not reward errors of both kinds, also where a cost is 0 or one action is right whatever the scores.
"""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rocscope.core.context import Context, HasContext
from rocscope.core.counts import CumulativeCounts
from rocscope.core.point import OperatingPoint
from rocscope.geometry.hull import Choices, all_choices, corners_of, pool


@dataclass(frozen=True)
class Line:
    """A straight line through (x, y) with a slope.

    Examples
    --------
    >>> Line(0.5, 0.75, slope=0.5).at(0.0)
    0.5
    """

    x: float
    y: float
    slope: float

    def at(self, x: float) -> float:
        """Return the height of the line at `x`."""
        return self.y + self.slope * (x - self.x)


@dataclass(frozen=True)
class TangentPoint:
    """The threshold of one model at which a line of equal cost touches its points."""

    choices: Choices
    index: int
    tied: tuple["TangentPoint", ...] = ()
    """Ties: for each model, those with fewest and with most positive predictions."""

    @property
    def point(self) -> OperatingPoint:
        """Its counts and threshold."""
        return self.choices.point(self.index)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Its exact true and false positive rate."""
        return self.choices.rates(self.index)


def touching(choices: Sequence[Choices], context: Context, totals: tuple[int, int] | None = None) -> TangentPoint:
    """Return the choice of lowest cost; among equals the one with fewest positive predictions, then the first.

    Parameters
    ----------
    choices : Choices of one or several models, at least one
        Any thresholds; the vertices of the hull are enough, except where `needs_every_threshold`.
    context : Context
    totals : (positives, negatives), optional
        From which the context takes its class mix if it names none, such as `counts.whole_totals`; by default those of
        the first.

    Raises
    ------
    InputError
        If errors of both kinds are rewarded: then the best classifier is a bad one.

    Notes
    -----
    Exact, whatever the weights: gains and costs are compared as fractions, by a binary search over the segments of each
    model's hull.

    Examples
    --------
    With false alarms for nothing every threshold that finds all positives is best; the highest is taken:

    >>> from rocscope import ThresholdCounts
    >>> counts = ThresholdCounts([0.9, 0.6, 0.4, 0.2], [2, 2, 0, 0], [0, 1, 2, 3])
    >>> touching([all_choices("a", counts)], Context(cost_fp=0)).point
    OperatingPoint(tp=4, fp=1, fn=0, tn=5, threshold=0.6)
    """
    gain, cost = stakes(choices, context, totals)

    def order(touch: TangentPoint) -> tuple[Fraction, Fraction]:
        tpr, fpr = touch.rates
        return cost * fpr - gain * tpr, touch.choices.depth(touch.index)

    found = [TangentPoint(each, index) for each in choices for index in _ends(each, gain, cost)]
    if len(found) == 1:
        return found[0]
    orders = [order(touch) for touch in found]
    first = orders.index(min(orders))
    as_good = (touch for i, touch in enumerate(found) if i != first and orders[i][0] == orders[first][0])
    return TangentPoint(found[first].choices, found[first].index, tuple(as_good))


def stakes(
    choices: Sequence[Choices], context: Context, totals: tuple[int, int] | None = None
) -> tuple[Fraction, Fraction]:
    """Return the gain per unit of tpr and the cost per unit of fpr; see `touching`."""
    n_pos, n_neg = totals or choices[0].counts.whole_totals
    hit, alarm = context.rates_of_exchange(n_pos, n_neg)
    return hit * Fraction(n_pos), alarm * Fraction(n_neg)


def best_point(counts: CumulativeCounts, context: Context | HasContext | None = None) -> OperatingPoint:
    """Return the point of lowest expected cost in a context, or of highest accuracy without one.

    Raises
    ------
    OneClassError
        If the counts hold one class only.
    InputError
        If errors of both kinds are rewarded.
    InexactCountsError
        If ranges of the score leave it open.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> best_point(counts)
    OperatingPoint(tp=2, fp=0, fn=1, tn=3, threshold=5)
    >>> best_point(counts, Context(cost_fn=9))
    OperatingPoint(tp=3, fp=3, fn=0, tn=0, threshold=-inf)
    """
    counts.require_both_classes("best point")
    context = Context.given(context)
    choices = all_choices("", counts.require_levels("best point") if needs_every_threshold(context) else pool(counts))
    return touching([choices], context).point


def needs_every_threshold(context: Context) -> bool:
    """Whether the best point may lie below the hull, which is possible if false alarms are rewarded and hits are not.

    Examples
    --------
    >>> needs_every_threshold(Context(cost_fp=-1, cost_fn=0)), needs_every_threshold(Context(cost_fp=-1, cost_fn=1))
    (True, False)
    """
    return context.miss_cost == 0 > context.false_alarm_cost


def _ends(choices: Choices, gain: Fraction, cost: Fraction) -> list[int]:
    """Return the first and the last (if different) of the cheapest choices of one model."""
    if gain == 0 > cost:  # all false alarms are wanted, hits do not count: the one line that touches the lower hull
        rights = choices.climbs[1]
        return sorted({int(rights.searchsorted(rights[-1])), rights.size - 1})
    corners = corners_of(choices)
    tp, fp = choices.whole(corners)
    n_pos, n_neg = choices.counts.whole_totals
    per_hit, per_alarm = gain / (n_pos or 1), cost / (n_neg or 1)
    hit, alarm = per_hit.numerator * per_alarm.denominator, per_alarm.numerator * per_hit.denominator

    def loss(segment: int) -> int:
        return alarm * (fp[segment + 1] - fp[segment]) - hit * (tp[segment + 1] - tp[segment])

    # Along an upper hull a further step pays less and less: losses are below 0, then 0, then above.
    segments = range(len(tp) - 1)
    ends = {find(segments, 0, key=loss) for find in (bisect.bisect_left, bisect.bisect_right)}
    return [corners[end].item() for end in sorted(ends)]
