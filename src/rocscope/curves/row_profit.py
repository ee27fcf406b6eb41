"""Profit curve of a campaign in which each response has its own benefit (a column of `unit_benefit`)."""

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import NoReturn

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import CELLS, Context, decimal
from rocscope.core.counts import CumulativeCounts, ThresholdCounts
from rocscope.core.point import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.core.row_costs import PARTS, class_weights, column_of, in_parts
from rocscope.curves.curve import Curve
from rocscope.curves.profit_curve import Campaign, CampaignRow, ProfitCurve
from rocscope.errors import InputError
from rocscope.geometry import Bound, ConvexCombination, Line, TangentPoint, all_choices, touching, touching_within


class RowProfitCurve(ProfitCurve):
    """Profit of a campaign (y) by share of customers contacted (x), with a benefit per row.

    Attributes
    ----------
    counts : ThresholdCounts
        Instead of the two classes: the revenue of the responses at each score, in ten thousandths, and the number of
        customers. Its hull is the hull of profit against depth.
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
        found = column_of("unit_benefit", str(campaign.unit_benefit), rows.columns)
        wrong = rows.y_true & (found < 0)
        if wrong.any():
            got = check.count_and_first(wrong, "below 0")
            name = f"unit_benefit {campaign.unit_benefit!r}"
            raise InputError(name, expected="amounts of at least 0 where there is a response", got=got)
        return np.where(rows.y_true, in_parts(found), 0.0)

    def recount(self, counts: CumulativeCounts) -> NoReturn:  # noqa: ARG002
        """Raise: other counts do not contain the benefit of each response."""
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

    def _exact_profit(self, depth: Fraction, gain: Fraction) -> Fraction:
        campaign = self.campaign
        cost = decimal(campaign.unit_cost) * decimal(campaign.population) * depth
        return self._scale * gain - cost - decimal(campaign.fixed_cost)

    @property
    def response_rate(self) -> float:
        rate = self.campaign.response_rate
        return self.sample.prevalence if rate is None else rate

    def _share(self, tpr: Fraction, fpr: Fraction) -> Fraction:  # noqa: ARG002
        return fpr

    @cached_property
    def rule(self) -> ConvexCombination:  # pyright: ignore[reportIncompatibleVariableOverride]
        choices, campaign = [all_choices(self.title, self.counts)], self.campaign
        context = Context(cost_fp=float(decimal(campaign.unit_cost) * PARTS))
        if campaign.capacity is None:
            best = touching(choices, context)
            return ConvexCombination(best, best)
        share = decimal(campaign.capacity) / decimal(campaign.population)
        return touching_within(choices, context, [Bound(Fraction(0), Fraction(1), share)])

    def end(self, touch: TangentPoint) -> OperatingPoint:
        return self.sample.at(touch.point.threshold)

    @property
    def point(self) -> OperatingPoint:
        first, second = (self.end(touch) for touch in (self.rule.first, self.rule.second))
        share = float(self.rule.share)
        tp, fp, fn, tn = (getattr(first, cell) * (1 - share) + getattr(second, cell) * share for cell in CELLS)
        return OperatingPoint(tp, fp, fn, tn, second.threshold) if self.rule.randomized else second

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
        """Raise: a lift chart of responders has no lines of equal profit here."""
        raise InputError("iso-profit line", expected="one unit_benefit for all", got=repr(self.campaign))
