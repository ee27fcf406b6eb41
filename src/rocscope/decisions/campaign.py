"""Campaigns compared: which model to mail by, how deep, and in which campaign."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocscope import _validation as check
from rocscope.core.campaign import Campaign
from rocscope.core.result import Result, jsonable
from rocscope.curves.profit_curve import CampaignRow, ProfitCurve, profit
from rocscope.errors import InputError
from rocscope.sample import Models, samples_of


@dataclass(frozen=True)
class Offer(Result):
    """The best use of one model in one campaign."""

    model: str
    campaign: str
    best: CampaignRow
    break_even_depths: tuple[float, ...]
    random_profit: float
    perfect_profit: float


@dataclass(frozen=True, eq=False, repr=False)
class CampaignPlan(Result):
    """What each model brings in each campaign, and which pair is best.

    Made by `rocscope.plan_campaign`.

    Attributes
    ----------
    curves : dict from (model, campaign) to ProfitCurve
    offers : tuple of Offer
        The best depth of each, in the same order.
    """

    curves: dict[tuple[str, str], ProfitCurve]
    offers: tuple[Offer, ...]

    @property
    def best(self) -> Offer:
        """The offer of highest profit; of several, that of fewest contacts, then the first."""
        return max(self.offers, key=lambda offer: (offer.best.profit, -offer.best.size))

    @property
    def worthwhile(self) -> bool:
        """Whether the best campaign is better than none."""
        return self.best.best.profit > 0

    @property
    def curve(self) -> ProfitCurve:
        """The profit curve of the best offer."""
        return self.curves[self.best.model, self.best.campaign]

    @property
    def verdict(self) -> str:
        """The advice in one sentence."""
        offer, row = self.best, self.best.best
        if not self.worthwhile:
            return f"No campaign: the best would bring {row.profit:,.10g}."
        several = len({campaign for _, campaign in self.curves}) > 1
        name = f" in campaign {offer.campaign}" if several else ""
        brings = f"{name}: {row.responders:,.10g} responders, profit {row.profit:,.10g}."
        if row.threshold == -math.inf:
            return f"Contact all {row.size:,.10g} customers{brings}"
        chosen = f"that {offer.model} scores {row.threshold:.6g} or more"
        return f"Contact the {row.size:,.10g} customers ({row.depth:.2%}) {chosen}{brings}"

    def to_dict(self, steps: int = 10) -> dict[str, Any]:
        """Return all offers and the table of the best one in so many steps, safe for JSON."""
        facts = {name: getattr(self, name) for name in ("verdict", "worthwhile", "best", "offers")}
        campaigns = {name: curve.campaign for (_, name), curve in self.curves.items()}
        return jsonable(facts | {"campaigns": campaigns, "table": self.curve.table(steps)})

    def __repr__(self) -> str:
        return f"CampaignPlan({self.verdict})"


def plan_campaign(models: Models, campaigns: Campaign | Mapping[str, Campaign]) -> CampaignPlan:
    """Plan campaigns: the best depth and profit of each model in each campaign.

    Parameters
    ----------
    models : data of one or several models
        In any form; see `rocscope.sample`.
    campaigns : Campaign, or mapping from a name to one

    Returns
    -------
    CampaignPlan

    Raises
    ------
    InputError
        If something else is given; OneClassError without responders.

    References
    ----------
    Hernández-Orallo 2004, mail campaign design: the benefit for three different campaigns.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
    >>> plan_campaign(counts, Campaign(population=10_000, unit_cost=1, unit_benefit=10, fixed_cost=500))
    CampaignPlan(Contact the 1,000 customers (10.00%) that score scores 3 or more: 300 responders, profit 1,500.)
    """
    named = {str(name): each for name, each in check.by_name(campaigns, ("campaign",)).items()}
    if not named or not all(isinstance(campaign, Campaign) for campaign in named.values()):
        raise InputError("campaigns", expected="a Campaign or a mapping of them by name", got=repr(campaigns))
    curves = {
        (model, name): profit(counts, campaign)
        for model, counts in samples_of(models).counts().items()
        for name, campaign in named.items()
    }
    return CampaignPlan(curves, tuple(_offer(*pair, curve) for pair, curve in curves.items()))


def _offer(model: str, campaign: str, curve: ProfitCurve) -> Offer:
    best = curve.best()
    return Offer(
        model=model,
        campaign=campaign,
        best=best,
        break_even_depths=tuple(curve.break_even_depths),
        random_profit=curve.random.at(best.depth),
        perfect_profit=curve.perfect.at(best.depth),
    )
