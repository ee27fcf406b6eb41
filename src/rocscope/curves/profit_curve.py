"""Profit curve: profit of a campaign against the share of customers contacted.

A `Campaign` (`rocscope.core`) contains the number of customers, the costs and the benefits. `ProfitCurve` is used if
each response has the same benefit. `RowProfitCurve` is used if the benefit differs between responses, so that
`unit_benefit` is the name of a column.
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
from rocscope.curves.curve import Curve, cumulative, for_each_model
from rocscope.curves.rate_curves import CountCurve
from rocscope.errors import InputError
from rocscope.geometry.bounded import Bound, ConvexCombination, settled, touching_within
from rocscope.geometry.hull import Line, TangentPoint, all_choices, score_of, touching
from rocscope.sample import counts_of

_DECILES = 10


@dataclass(frozen=True)
class CampaignRow(Result):
    """Result of contacting a share of the customers, those with the highest scores.

    Attributes
    ----------
    depth : float
        Share of the population that is contacted.
    gain : float
        Share of all responders who are contacted in this row of the table, but not in the previous row.
    cumulative_gain : float
        Share of all responders who are contacted.
    lift : float
        cumulative_gain/depth. If nobody is contacted, it is 0, as in the paper.
    size : float
        Number of customers contacted.
    responders, non_responders : float
        Numbers of contacted customers who respond and who do not respond.
    profit : float
        Profit of the campaign.
    threshold : float
        Lowest score of the contacted customers. If the depth ends within tied scores, only some customers with this
        score are contacted.
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
    """Profit curve: profit of a campaign (y) against the share of customers contacted (x), highest scores first.

    Computed by `rocscope.profit`.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of responders (positives) and non-responders (negatives) at each score.
    campaign : Campaign
        Population, costs and benefits.
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
            # If the response rate changes, tpr and fpr are assumed to remain constant.
            rate = self.campaign.response_rate
            responders = rate * (tp / self.counts.n_pos)
            depth = responders + (1 - rate) * (fp / self.counts.n_neg)
        population = self.campaign.population
        return depth, self.campaign.profit(population * depth, population * responders)

    @property
    def response_rate(self) -> float:
        """Share of the population that would respond if contacted."""
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
        """Total benefit of contacting all customers, before costs."""
        return decimal(self.campaign.population) * decimal(self.campaign.require_one_benefit()) * self._exact_rate

    def _exact_profit(self, depth: Fraction, gain: Fraction) -> Fraction:
        campaign = self.campaign
        cost = decimal(campaign.unit_cost) * decimal(campaign.population) * depth
        return self._scale * gain - cost - decimal(campaign.fixed_cost)

    def best(self) -> CampaignRow:
        """Return the result of contacting the most profitable share of the customers, within the capacity.

        If several shares are equally profitable, the smallest share is chosen. If all customers are contacted, the
        threshold is −∞. If no campaign is profitable, the profit is negative; see `worthwhile`.

        Notes
        -----
        Profits are compared in exact arithmetic. `rule` describes how a capacity between two thresholds is used.

        Examples
        --------
        The 100 customers with the score 3 are contacted. 30 of them respond, so the profit is 30 · 10 − 100:

        >>> from rocscope import Campaign, ThresholdCounts, profit
        >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
        >>> best = profit(counts, Campaign(1000, unit_cost=1, unit_benefit=10)).best()
        >>> best.size, best.threshold, best.profit
        (100.0, 3, 200.0)
        """
        return self._make_row(self.depth, self.rule.rates[0], Fraction(0), self.rule.second.point.threshold)

    @property
    def depth(self) -> Fraction:
        """Share of the population that the most profitable rule contacts, as an exact fraction."""
        return self._share(*self.hull_rule.rates)

    def size(self, end: TangentPoint) -> float:
        """Return the number of customers at or above the threshold of a point of the rule.

        Parameters
        ----------
        end : TangentPoint
            Point of the rule.

        Raises
        ------
        InputError
            If the population is not a number.
        """
        return float(decimal(self.campaign.population) * self._share(*end.rates))

    def _share(self, tpr: Fraction, fpr: Fraction) -> Fraction:
        return self._exact_rate * tpr + (1 - self._exact_rate) * fpr

    @cached_property
    def hull_rule(self) -> ConvexCombination:
        """The rule with the highest expected profit within the capacity, among all thresholds and mixtures of two."""
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
    def hull_profit(self) -> float:
        """Expected profit of `hull_rule`. Models and campaigns are compared by this profit."""
        return float(self._exact_profit(self.depth, self.hull_rule.rates[0]))

    @cached_property
    def rule(self) -> ConvexCombination:
        """The rule that contacts the share `depth` of the customers, highest scores first.

        Notes
        -----
        If the capacity ends between two vertices of the hull, `hull_rule` would draw the remaining contacts at random
        from all scores between these vertices. Customers are contacted by rank instead, because on new cases a higher
        score is better. The hull still determines the depth: it shows whether a further contact pays, even if the last
        customers of a small sample did not respond by chance. Only customers with equal scores are drawn at random.
        """
        if not self.hull_rule.randomized:
            return self.hull_rule
        level, part, choices = *self._end_of(self.depth), self.hull_rule.second.choices
        return settled(ConvexCombination(TangentPoint(choices, level - 1), TangentPoint(choices, level), part))

    @property
    def _context(self) -> Context:
        """Context in which the most profitable threshold has the lowest expected cost."""
        return self.campaign.context

    def end(self, touch: TangentPoint) -> OperatingPoint:
        """Return the confusion matrix of the sample at the threshold of a point of the rule.

        Parameters
        ----------
        touch : TangentPoint
            Point of the rule.
        """
        return self.counts.with_next_score(touch.point)

    @property
    def point(self) -> OperatingPoint:
        """Confusion matrix of the most profitable rule in the sample; expected counts if the rule is random."""
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
        """True if the largest expected profit is positive; see `hull_profit`."""
        return self.hull_profit > 0

    @property
    def break_even_depths(self) -> list[float]:
        """Shares of customers contacted at which the profit is 0, by linear interpolation, in increasing order."""
        x, y = self.x, self.y
        crossing = np.flatnonzero((y[:-1] < 0) & (y[1:] > 0) | (y[:-1] > 0) & (y[1:] < 0))
        share = y[crossing] / (y[crossing] - y[crossing + 1])
        between = x[crossing] + share * (x[crossing + 1] - x[crossing])
        return sorted({*between.tolist(), *x[y == 0].tolist()})

    def table(self, steps: int = _DECILES) -> list[CampaignRow]:
        """Return the results of contacting 0, 1/steps, 2/steps, … and all of the customers.

        The default of 10 steps gives deciles. If a depth ends within tied scores, the corresponding share of these
        customers is contacted.

        Parameters
        ----------
        steps : int
            Number of steps.

        Returns
        -------
        list of CampaignRow

        Raises
        ------
        InputError
            If `steps` is not a whole number of at least 1.

        References
        ----------
        Hernández-Orallo 2004, mail campaign design.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, profit
        >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
        >>> curve = profit(counts, Campaign(1000, unit_cost=1, unit_benefit=10))
        >>> [(row.size, row.responders, row.profit) for row in curve.table()[:3]]
        [(0.0, 0.0, 0.0), (100.0, 30.0, 200.0), (200.0, 37.5, 175.0)]
        """
        check.check_whole(steps, "steps")
        rows, before = [], Fraction(0)
        for step in range(steps + 1):
            depth = Fraction(step, steps)
            level, gain = self._gain_at(depth)
            rows.append(self._make_row(depth, gain, before, score_of(self.counts, level)))
            before = gain
        return rows

    def _end_of(self, depth: Fraction) -> tuple[int, Fraction]:
        """Return the index of the threshold that reaches a depth, and the share of its customers that is needed."""
        tp, fp = cumulative(self.counts)

        def depth_of(level: int) -> Fraction:
            return self._exact_depth(tp[level].item(), fp[level].item())

        level = min(bisect_left(range(tp.size), depth, key=depth_of), tp.size - 1)
        if level == 0:
            return 0, Fraction(1)
        start, end = depth_of(level - 1), depth_of(level)
        return level, (depth - start) / (end - start)

    def _gain_at(self, depth: Fraction) -> tuple[int, Fraction]:
        """Return the index of the threshold that reaches a depth, and the exact share of responders at this depth."""
        level, part = self._end_of(depth)
        tp = cumulative(self.counts)[0]
        before, responders = (Fraction(tp[index].item()) for index in (max(level - 1, 0), level))
        return level, (before + part * (responders - before)) / Fraction(self.counts.n_pos)

    @property
    def random(self) -> Curve:
        """Profit curve of contacting customers in random order."""
        return self._reference([0.0, 1.0], [0.0, 1.0])

    @property
    def perfect(self) -> Curve:
        """Profit curve of a perfect model, which contacts all responders first."""
        return self._reference([0.0, self.response_rate, 1.0], [0.0, 1.0, 1.0])

    def _reference(self, depth: list[float], gain: list[float]) -> Curve:
        population = self.campaign.population
        size, responders = population * np.array(depth), population * self.response_rate * np.array(gain)
        return Curve(depth, self.campaign.profit(size, responders), np.full(len(depth), np.nan))

    def iso_profit_line(self, profit: float | None = None) -> Line:
        """Return the line in the lift chart of the sample on which all points have the same profit.

        Parameters
        ----------
        profit : float, optional
            Profit of the points on the line. By default, the largest profit.

        Raises
        ------
        InputError
            If the campaign has a `response_rate`, or if its benefit is 0.
        """
        campaign, n = self.campaign, self.counts.n
        if campaign.response_rate is not None or not campaign.require_one_benefit():
            expected = "a campaign without response_rate and with a unit_benefit above 0"
            raise InputError("iso-profit line", expected=expected, got=repr(campaign))
        wanted = self.best().profit if profit is None else profit
        height = n * (wanted + campaign.fixed_cost) / (campaign.require_one_benefit() * campaign.population)
        return Line(0.0, height, n * campaign.unit_cost / campaign.require_one_benefit())

    def to_dict(self) -> dict[str, Any]:
        """Return the curve, the campaign, the best result, the break-even depths and the deciles, for JSON.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, profit
        >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
        >>> content = profit(counts, Campaign(1000, unit_cost=1, unit_benefit=10)).to_dict()
        >>> content["best"]["profit"], content["break_even_depths"]
        (200.0, [0.0, 0.46153846153846156])
        """
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


@for_each_model
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
    """Compute the profit curve of a campaign: profit against the share of customers contacted.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true`, and scores or a mapping from model name to scores as `y_score`. Alternatively, pass
        Predictions, ThresholdCounts, or a mapping from model name to such data as `y_true`, and the campaign as the
        second argument: ``profit(data, campaign)``. `rocscope.sample` describes these five parameters.
    campaign : Campaign
        Number of customers, costs and benefits.

    Returns
    -------
    ProfitCurve or Curves
        The curve of one model. If the data contain several models and `model` is None, the curves of all models.

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
    The profit is unit_benefit·responders − unit_cost·size − fixed_cost. If a share d of M customers is contacted, the
    size is d·M. The number of responders is tpr(d)·M·(response rate), where tpr(d) is the share of all responders who
    are contacted. If the campaign has a `response_rate` ρ, the depth at each threshold is ρ·tpr + (1 − ρ)·fpr. This
    assumes that the scores of responders and of non-responders have the same distributions as in the sample.

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
        raise InputError("campaign", expected="a Campaign", got=repr(campaign), hint="call profit(data, Campaign(…))")
    campaign.require_one_benefit()
    require_kinds("profit", y_true)
    counts = counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return ProfitCurve(counts, campaign)


class RowProfitCurve(ProfitCurve):
    """Profit curve for a campaign in which each response has its own benefit.

    Attributes
    ----------
    counts : ThresholdCounts
        Amounts at each score: as positives, the total benefit of the responses in ten-thousandths; as negatives, the
        number of customers. The hull of these amounts is the hull of profit against depth.
    sample : ThresholdCounts
        Numbers of responders (positives) and non-responders (negatives) at each score.
    campaign : Campaign
        Population, costs and benefits.
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
        """Return the benefit of contacting each customer, in ten-thousandths; 0 for customers who do not respond."""
        benefits = column_of("unit_benefit", str(campaign.unit_benefit), rows.columns)
        wrong = rows.y_true & (benefits < 0)
        if wrong.any():
            got = check.count_and_first(wrong, "negative benefit")
            name = f"unit_benefit {campaign.unit_benefit!r}"
            raise InputError(name, expected="benefits of at least 0 for responders", got=got)
        return np.where(rows.y_true, in_parts(benefits), 0.0)

    def recount(self, counts: CumulativeCounts) -> NoReturn:  # noqa: ARG002
        """Raise InputError, because other counts do not contain the benefit of each response."""
        raise InputError("profit curve", expected="one unit_benefit for all responses", got=repr(self.campaign))

    @property
    def _scale(self) -> Fraction:
        """Total benefit of contacting all customers, before costs."""
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
        """Profit curve of a perfect model, which contacts the responders with the largest benefits first."""
        benefit, customers = self._benefits
        order = np.argsort(-benefit)
        depth = np.cumsum(customers[order]) / self.counts.n_neg
        gain = np.cumsum((benefit * customers)[order]) / self.counts.n_pos
        return self._reference([0.0, *depth.tolist(), 1.0], [0.0, *gain.tolist(), 1.0])

    def iso_profit_line(self, profit: float | None = None) -> Line:  # noqa: ARG002
        """Raise InputError, because profit is not constant on straight lines in a lift chart of responders."""
        raise InputError("iso-profit line", expected="one unit_benefit for all responses", got=repr(self.campaign))
