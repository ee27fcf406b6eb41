"""Profit of a campaign against the share of customers contacted.

A `Campaign` (`rocscope.core`) contains the number of customers, costs and benefits. `ProfitCurve` counts responses.
`RowProfitCurve` sums benefits instead, if each response has its own benefit (`unit_benefit` names a column).
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core import Campaign, Context, CumulativeCounts, OperatingPoint, Predictions, Result, ThresholdCounts
from rocscope.core.context import CELLS, PARTS, class_weights, column_of, decimal, in_parts
from rocscope.core.predictions import require_kinds
from rocscope.core.result import jsonable
from rocscope.curves.curve import Curve, cumulative, of_one_or_several
from rocscope.curves.rate_curves import CountCurve
from rocscope.errors import InputError
from rocscope.geometry.bounded import Bound, ConvexCombination, touching_within
from rocscope.geometry.hull import Line, TangentPoint, all_choices, score_of, touching

_DECILES = 10


@dataclass(frozen=True)
class CampaignRow(Result):
    """One row of the table of a campaign: the result of contacting a share of the customers, best scores first.

    Attributes
    ----------
    depth : float
        Share of the population that is contacted.
    gain, cumulative_gain : float
        Share of all responders contacted since the previous row, and in total.
    lift : float
        cumulative_gain/depth; 0 if nobody is contacted, as in the paper.
    size, responders, non_responders : float
        Numbers of customers contacted, of those who respond, and of those who do not.
    profit : float
        Profit of the campaign.
    threshold : float
        Lowest score of the contacted customers. Possibly only some customers with this score are contacted.
    """

    depth: float
    gain: float
    cumulative_gain: float
    lift: float
    size: float
    responders: float
    non_responders: float
    profit: float
    threshold: float


class ProfitCurve(CountCurve):
    """Profit of a campaign (y) by share of customers contacted (x), best scores first.

    Computed by `rocscope.profit`.

    Attributes
    ----------
    counts : ThresholdCounts
    campaign : Campaign
    """

    title = "profit curve"
    x_name = "depth"
    y_name = "profit"
    needs = "responders"

    def __init__(self, counts: ThresholdCounts, campaign: Campaign) -> None:
        super().__init__(counts)
        if campaign.response_rate is not None:
            counts.require_both_classes("profit at another response rate")
        self.campaign = campaign

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        if self.campaign.response_rate is None:
            depth, responders = (tp + fp) / self.counts.n, tp / self.counts.n
        else:
            # Bayes: tpr and fpr stay when the share of responders changes.
            rate = self.campaign.response_rate
            responders = rate * (tp / self.counts.n_pos)
            depth = responders + (1 - rate) * (fp / self.counts.n_neg)
        population = self.campaign.population
        return depth, self.campaign.profit(population * depth, population * responders)

    @property
    def response_rate(self) -> float:
        """Share of the population that would respond."""
        return self.counts.prevalence if self.campaign.response_rate is None else self.campaign.response_rate

    @cached_property
    def _exact_rate(self) -> Fraction:
        if self.campaign.response_rate is not None:
            return decimal(self.campaign.response_rate)
        return Fraction(self.counts.n_pos) / Fraction(self.counts.n)

    def _exact_depth(self, tp: float, fp: float) -> Fraction:
        return self._share(Fraction(tp) / Fraction(self.counts.n_pos), Fraction(fp) / Fraction(self.counts.n_neg or 1))

    @property
    def _scale(self) -> Fraction:
        """Total benefit of contacting everybody."""
        return decimal(self.campaign.population) * decimal(self.campaign.require_one_benefit()) * self._exact_rate

    def _exact_profit(self, depth: Fraction, gain: Fraction) -> Fraction:
        campaign = self.campaign
        cost = decimal(campaign.unit_cost) * decimal(campaign.population) * depth
        return self._scale * gain - cost - decimal(campaign.fixed_cost)

    def best(self) -> CampaignRow:
        """Return the row of highest profit within the capacity.

        If several rows are equally profitable, the row with the fewest contacts is returned. If everybody is contacted,
        the threshold is −∞. If no campaign is profitable, the profit is negative; see `worthwhile`.

        Notes
        -----
        Profits are compared in exact arithmetic. If the capacity ends within a tie or between two thresholds, the
        remaining contacts are drawn at random; see `rule`.
        """
        return self._make_row(self.depth, self.rule.rates[0], Fraction(0), self.rule.second.point.threshold)

    @property
    def depth(self) -> Fraction:
        """Exact share of the population that the best rule contacts."""
        return self._share(*self.rule.rates)

    def size(self, end: TangentPoint) -> float:
        """Return the number of customers at or above a threshold."""
        return float(decimal(self.campaign.population) * self._share(*end.rates))

    def _share(self, tpr: Fraction, fpr: Fraction) -> Fraction:
        return self._exact_rate * tpr + (1 - self._exact_rate) * fpr

    @cached_property
    def rule(self) -> ConvexCombination:
        """The threshold of highest profit, or the two thresholds between which a capacity is filled at random."""
        choices, campaign = [all_choices(self.title, self.counts)], self.campaign
        if campaign.capacity is not None:
            share = decimal(campaign.capacity) / decimal(campaign.population)
            # The depth is linear in tpr and fpr, with these factors.
            zero, one = Fraction(0), Fraction(1)
            limit = Bound(self._share(one, zero), self._share(zero, one), share)
            return touching_within(choices, self._context, [limit])
        best = touching(choices, self._context)
        return ConvexCombination(best, best)

    @property
    def _context(self) -> Context:
        """The context in which the threshold of highest profit has the lowest cost."""
        return self.campaign.context

    def end(self, touch: TangentPoint) -> OperatingPoint:
        """Return the counts of the customers at or above a threshold of the rule."""
        return self.counts.with_next_score(touch.point)

    @property
    def point(self) -> OperatingPoint:
        """The (expected) counts of the best rule in the sample."""
        if not self.rule.randomized:
            return self.rule.second.point
        (tpr, fpr), counts = self.rule.rates, self.counts
        tp, fp = float(tpr * Fraction(counts.n_pos)), float(fpr * Fraction(counts.n_neg))
        return counts.point_of(tp, fp, counts.n_pos - tp, counts.n_neg - fp, self.rule.second.point.threshold)

    def _make_row(self, depth: Fraction, gain: Fraction, before: Fraction, threshold: float) -> CampaignRow:
        size = decimal(self.campaign.population) * depth
        responders = decimal(self.campaign.population) * self._exact_rate * gain
        return CampaignRow(
            depth=float(depth),
            gain=float(gain - before),
            cumulative_gain=float(gain),
            lift=float(gain) / float(depth) if depth else 0.0,
            size=float(size),
            responders=float(responders),
            non_responders=float(size - responders),
            profit=float(self._exact_profit(depth, gain)),
            threshold=threshold,
        )

    @property
    def worthwhile(self) -> bool:
        """True if the best campaign has a positive profit."""
        return self.best().profit > 0

    @property
    def break_even_depths(self) -> list[float]:
        """Depths at which the profit is 0, by linear interpolation."""
        x, y = self.x, self.y
        crossing = np.flatnonzero((y[:-1] < 0) & (y[1:] > 0) | (y[:-1] > 0) & (y[1:] < 0))
        share = y[crossing] / (y[crossing] - y[crossing + 1])
        between = x[crossing] + share * (x[crossing + 1] - x[crossing])
        return sorted({*between.tolist(), *x[y == 0].tolist()})

    def table(self, steps: int = _DECILES) -> list[CampaignRow]:
        """Return the table of the campaign at equal steps of depth, by default deciles.

        A step that ends within a tie includes the corresponding share of the tie.

        References
        ----------
        Hernández-Orallo 2004, mail campaign design.
        """
        check.check_whole(steps, "steps")
        rows, before = [], Fraction(0)
        for step in range(steps + 1):
            depth = Fraction(step, steps)
            level, gain = self._gain_at(depth)
            rows.append(self._make_row(depth, gain, before, score_of(self.counts, level)))
            before = gain
        return rows

    def _gain_at(self, depth: Fraction) -> tuple[int, Fraction]:
        """Return the level that contains a depth, and the exact share of responders up to this depth."""
        tp, fp = cumulative(self.counts)

        def depth_of(level: int) -> Fraction:
            return self._exact_depth(tp[level].item(), fp[level].item())

        level = min(bisect_left(range(tp.size), depth, key=depth_of), tp.size - 1)
        responders, n_pos = Fraction(tp[level].item()), Fraction(self.counts.n_pos)
        if level == 0:
            return 0, responders / n_pos
        start, end, before = depth_of(level - 1), depth_of(level), Fraction(tp[level - 1].item())
        return level, (before + (depth - start) / (end - start) * (responders - before)) / n_pos

    @property
    def random(self) -> Curve:
        """Profit of contacting customers in random order."""
        return self._reference([0.0, 1.0], [0.0, 1.0])

    @property
    def perfect(self) -> Curve:
        """Profit of contacting all responders first, as a perfect model would."""
        return self._reference([0.0, self.response_rate, 1.0], [0.0, 1.0, 1.0])

    def _reference(self, depth: list[float], gain: list[float]) -> Curve:
        population = self.campaign.population
        size, responders = population * np.array(depth), population * self.response_rate * np.array(gain)
        return Curve(depth, self.campaign.profit(size, responders), np.full(len(depth), np.nan))

    def iso_profit_line(self, profit: float | None = None) -> Line:
        """Return a line of equal profit in the lift chart of the sample, by default through the best point.

        Raises
        ------
        InputError
            If the response rate of the campaign differs from that of the sample.
        """
        campaign, n = self.campaign, self.counts.n
        if campaign.response_rate is not None or not campaign.require_one_benefit():
            expected = "a campaign at the response rate of the sample, with a benefit above 0"
            raise InputError("iso-profit line", expected=expected, got=repr(campaign))
        wanted = self.best().profit if profit is None else profit
        height = n * (wanted + campaign.fixed_cost) / (campaign.require_one_benefit() * campaign.population)
        return Line(0.0, height, n * campaign.unit_cost / campaign.require_one_benefit())

    def to_dict(self) -> dict[str, Any]:
        """Return curve, campaign, best row and deciles, safe for JSON."""
        facts = {
            "campaign": self.campaign,
            "best": self.best(),
            "break_even_depths": self.break_even_depths,
            "table": self.table(),
        }
        return super().to_dict() | jsonable(facts)

    def _facts(self) -> str:
        best = self.best()
        return f"best depth={best.depth:.4g}, size={best.size:,.6g}, profit={best.profit:,.6g}"


@contract
def profit(
    y_true: Any,
    y_score: Any = None,
    campaign: Campaign | None = None,
    *,
    model: str | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Any:
    """Compute the profit curve of a campaign: profit by share of customers contacted.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model, or of several
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`. Without
        `y_score`, call ``profit(data, campaign)``.
    campaign : Campaign
        Population, costs and benefits.

    Returns
    -------
    ProfitCurve, or Curves if there are several models and `model` is not given

    Raises
    ------
    InputError
        If no campaign is given, or if the data are invalid (see `ThresholdCounts.from_scores`).
    OneClassError
        If there are no responders.

    See Also
    --------
    plan_campaign, gain

    Notes
    -----
    profit = unit_benefit · responders − unit_cost · size − fixed_cost. A share d of M customers has the size d·M and
    contains g(d)·M·(response rate) responders, where g is the gain. If the response rate ρ of the campaign differs from
    that of the sample, the depth is ρ·tpr + (1 − ρ)·fpr. This assumes that scores within each class have the same
    distribution as in the sample.

    References
    ----------
    Hernández-Orallo 2004, mail campaign design; Vuk & Curk 2006, §5.2.

    Examples
    --------
    >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
    >>> campaign = Campaign(population=10_000, unit_cost=1, unit_benefit=10, fixed_cost=500)
    >>> profit(counts, campaign).best()
    CampaignRow(depth=0.1, gain=0.6, cumulative_gain=0.6, lift=5.999999999999999..., size=1000.0, responders=300.0,
        non_responders=700.0, profit=1500.0, threshold=3)
    """
    if isinstance(y_score, Campaign):
        y_score, campaign = None, y_score
    if not isinstance(campaign, Campaign):
        raise InputError("campaign", expected="a Campaign", got=repr(campaign), hint="profit(counts, Campaign(…))")
    campaign.require_one_benefit()
    require_kinds("profit", y_true)
    how = {"model": model, "pos_label": pos_label, "sample_weight": sample_weight}
    return of_one_or_several(lambda _, counts: ProfitCurve(counts, campaign), y_true, y_score, **how)


class RowProfitCurve(ProfitCurve):
    """Profit of a campaign (y) by share of customers contacted (x), with a benefit per row.

    Attributes
    ----------
    counts : ThresholdCounts
        At each score, the revenue of the responses in ten-thousandths in place of positives, and the number of
        customers in place of negatives. The hull of these counts is the hull of profit against depth.
    sample : ThresholdCounts
        Customers who responded and customers who did not.
    campaign : Campaign
    """

    def __init__(self, rows: Predictions, model: str, campaign: Campaign) -> None:
        benefit, score = self._benefit(rows, campaign), rows.scores[model]
        weight = class_weights(rows, Context(campaign.response_rate))
        customers = np.ones(len(rows)) if weight is None else weight
        classes = np.repeat([True, False], len(rows))
        masses = np.concatenate([benefit * customers, customers])
        self.sample = rows.counts(model)
        self._benefits = (benefit[benefit > 0], customers[benefit > 0])
        super().__init__(ThresholdCounts.from_checked(classes, np.concatenate([score, score]), masses), campaign)

    @staticmethod
    def _benefit(rows: Predictions, campaign: Campaign) -> Array:
        """Return the benefit of contacting each row, in ten-thousandths."""
        benefits = column_of("unit_benefit", str(campaign.unit_benefit), rows.columns)
        wrong = rows.y_true & (benefits < 0)
        if wrong.any():
            got = check.count_and_first(wrong, "below 0")
            name = f"unit_benefit {campaign.unit_benefit!r}"
            raise InputError(name, expected="amounts of at least 0 where there is a response", got=got)
        return np.where(rows.y_true, in_parts(benefits), 0.0)

    def recount(self, counts: CumulativeCounts) -> NoReturn:  # noqa: ARG002
        """Raise InputError, because other counts do not contain the benefit of each response."""
        raise InputError("profit curve", expected="one unit_benefit for all", got=repr(self.campaign))

    @property
    def _scale(self) -> Fraction:
        """Total benefit of contacting everybody."""
        population = decimal(self.campaign.population)
        return population * Fraction(self.counts.n_pos) / PARTS / Fraction(self.counts.n_neg)

    def _xy(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        depth = fp / self.counts.n_neg
        return depth, self._profit(depth, tp / self.counts.n_pos)

    def _profit(self, depth: Array, gain: Array) -> Array:
        campaign = self.campaign
        return float(self._scale) * gain - campaign.unit_cost * campaign.population * depth - campaign.fixed_cost

    @property
    def response_rate(self) -> float:
        rate = self.campaign.response_rate
        return self.sample.prevalence if rate is None else rate

    def _share(self, tpr: Fraction, fpr: Fraction) -> Fraction:  # noqa: ARG002
        return fpr

    @property
    def _context(self) -> Context:
        return Context(cost_fp=float(decimal(self.campaign.unit_cost) * PARTS))

    def end(self, touch: TangentPoint) -> OperatingPoint:
        return self.sample.with_next_score(self.sample.at(touch.point.threshold))

    @property
    def point(self) -> OperatingPoint:
        first, second = (self.end(touch) for touch in (self.rule.first, self.rule.second))
        share = float(self.rule.share)
        tp, fp, fn, tn = (getattr(first, cell) * (1 - share) + getattr(second, cell) * share for cell in CELLS)
        return replace(second, tp=tp, fp=fp, fn=fn, tn=tn) if self.rule.randomized else second

    def best(self) -> CampaignRow:
        row = super().best()
        return self._with_responders(row, self.point.tpr)

    def _make_row(self, depth: Fraction, gain: Fraction, before: Fraction, threshold: float) -> CampaignRow:
        row = super()._make_row(depth, gain, before, threshold)
        tp = self.sample.cumulative[0]
        return self._with_responders(row, float(np.interp(float(depth), self.x, tp / self.sample.n_pos)))

    def _with_responders(self, row: CampaignRow, tpr: float) -> CampaignRow:
        responders = self.campaign.population * self.response_rate * tpr
        return replace(row, responders=responders, non_responders=row.size - responders)

    def _reference(self, depth: list[float], gain: list[float]) -> Curve:
        x, y = np.array(depth), np.array(gain)
        return Curve(x, self._profit(x, y), np.full(x.size, np.nan))

    @property
    def perfect(self) -> Curve:
        """Profit of contacting the most profitable responders first, as a perfect model would."""
        benefit, customers = self._benefits
        order = np.argsort(-benefit)
        depth = np.cumsum(customers[order]) / self.counts.n_neg
        gain = np.cumsum((benefit * customers)[order]) / self.counts.n_pos
        return self._reference([0.0, *depth.tolist(), 1.0], [0.0, *gain.tolist(), 1.0])

    def iso_profit_line(self, profit: float | None = None) -> Line:  # noqa: ARG002
        """Raise InputError, because profit is not constant on straight lines in a lift chart of responders."""
        raise InputError("iso-profit line", expected="one unit_benefit for all", got=repr(self.campaign))
