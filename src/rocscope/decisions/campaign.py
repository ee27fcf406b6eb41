"""Campaigns compared: which model to mail by, how deep, and in which campaign."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.formatting import about
from rocscope._base.progress import Progress
from rocscope.core.result import Result, jsonable
from rocscope.curves.campaign import Campaign
from rocscope.curves.profit_curve import CampaignRow, ProfitCurve
from rocscope.curves.row_profit import RowProfitCurve
from rocscope.decisions.criteria import criterion_of
from rocscope.decisions.generalization.candidates import Option, Options
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.generalization.expected_cost import Grounds, PricedGrounds
from rocscope.decisions.generalization.row_cost_model import Bill
from rocscope.decisions.generalization.threshold_choice import Rule
from rocscope.decisions.randomized.rules import Mixture
from rocscope.decisions.row_costs import PricedRows
from rocscope.decisions.slope_ranges import HullVertex
from rocscope.errors import InputError
from rocscope.sample import Models, Sample, Samples, samples_of


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
    samples : Samples
        The data of the models.
    level : float
        Confidence level of `profit`.
    """

    curves: dict[tuple[str, str], ProfitCurve]
    offers: tuple[Offer, ...]
    samples: Samples
    level: float = 0.95

    @cached_property
    def profit(self) -> ChosenEstimate:
        """The profit of the best offer on other customers, with an interval that allows for its having been chosen."""
        return self.interval(self.level)

    def interval(
        self, level: float = 0.95, *, replicates: int = 2000, random_state: Any = 0, progress: Progress = None
    ) -> ChosenEstimate:
        """Return `profit` at another level; the probability of acting is that of a profit above 0.

        Parameters
        ----------
        level, replicates, random_state, progress : see `Decision.interval`

        Raises
        ------
        OneClassError
            If all customers of the sample respond.

        Notes
        -----
        See `Decision.interval`. A capacity is filled by lot among the next best scores, as `select` does it.
        """
        grounds = self._by_row if isinstance(self.curve, RowProfitCurve) else self._by_count
        cost = grounds.interval(level=level, replicates=replicates, random_state=random_state, progress=progress)
        return replace(cost, value=-cost.value, low=-cost.high, high=-cost.low, apparent=-cost.apparent)

    @property
    def _by_count(self) -> Grounds:
        several = len({name for _, name in self.curves}) > 1
        options = tuple(
            _option(f"{model} in {name}" if several else model, model, curve)
            for (model, name), curve in self.curves.items()
        )
        return Grounds(self.samples, Options(options, idle=0.0))

    @property
    def _by_row(self) -> PricedGrounds:
        """What tells how sure the best offer is, where each response brings something else."""
        model, campaign = self.best.model, self.curve.campaign
        rows = self.samples.rows or self.samples[model].require_rows("models")
        priced, rule = PricedRows(rows, campaign.context), self.rule
        first, second = (priced.acts(model, end.point.threshold) for end in (rule.first, rule.second))
        acts = first + rule.weight * (second.astype(float) - first)
        bill = Bill(priced, campaign.population, campaign.fixed_cost, only_added=True)
        alone = campaign.capacity is None and len(self.curves) == len(rows.models)
        return PricedGrounds(bill, acts, "" if alone else "capacity and campaign are taken as given, not as chosen")

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
    def rule(self) -> Mixture:
        """Whom the best offer contacts: the customers of one threshold, or between two of them by lot."""
        rule = self.curve.rule
        first, second = (HullVertex(self.best.model, self.curve.end(end)) for end in (rule.first, rule.second))
        return Mixture(first, second, rule.share)

    def select(self, scores: Any, ids: Any = None, *, random_state: Any = 0) -> Array:
        """Return the identifiers of the customers to contact, best first: exactly as many as planned.

        Parameters
        ----------
        scores : array of n scores, or mapping from model name to array, Predictions, data frame
            Of all customers, or of a part of them, from which its share is taken.
        ids : array of n identifiers, optional
            By default the numbers of the rows. The same identifiers are drawn whatever their order.
        random_state : int, Generator, RandomState or None
            Another one draws other lots.

        Notes
        -----
        The planned share of the customers that are passed, rounded down, and never more than the capacity; none where
        no campaign is worthwhile. Where the list has more or fewer customers at a threshold than the sample made
        expect, the next best scores fill the number, and lots choose among equal ones.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> campaign = Campaign(population=6, unit_cost=1, unit_benefit=10, capacity=1)
        >>> plan = plan_campaign(ThresholdCounts([3, 2], [1, 1], [1, 3]), campaign)
        >>> plan.select([3, 2, 3, 2, 2, 2], ["a", "b", "c", "d", "e", "f"])
        array(['c'], dtype='<U1')
        """
        chosen = self.rule.select(self._contacts, scores, ids, random_state=random_state)
        return chosen if ids is None else np.asarray(ids)[chosen]

    def _contacts(self, customers: int) -> int:
        """Return how many of some customers are contacted."""
        if not self.worthwhile:
            return 0
        most = self.curve.campaign.capacity
        planned = int(self.curve.depth * customers)
        return planned if most is None else min(planned, int(most))

    @property
    def verdict(self) -> str:
        """The advice in one sentence."""
        offer, row = self.best, self.best.best
        if not self.worthwhile:
            return f"No campaign: the best would bring {about(row.profit)}."
        several = len({campaign for _, campaign in self.curves}) > 1
        name = f" in campaign {offer.campaign}" if several else ""
        brings = f"{name}: {about(row.responders)} responders, profit {about(row.profit)}."
        if self.curve.rule.by_lot:
            return f"Contact {about(row.size)} customers ({row.depth:.2%}), {self._by_lot}{brings}"
        if row.threshold == -math.inf:
            return f"Contact all {about(row.size)} customers, whom no model need choose{brings}"
        chosen = f"that {offer.model} scores {row.threshold:.6g} or more"
        return f"Contact the {about(row.size)} customers ({row.depth:.2%}) {chosen}{brings}"

    @property
    def _by_lot(self) -> str:
        """Who is contacted in any case, and who by lot."""
        row, model, rule = self.best.best, self.best.model, self.curve.rule
        sure, reach = (self.curve.size(end) for end in (rule.first, rule.second))
        lower = "others" if row.threshold == -math.inf else f"next, down to {row.threshold:.6g}"
        drawn = f"{about(row.size - sure)} by lot of the {about(reach - sure)}"
        if not sure:
            return f"{drawn} that {model} scores {row.threshold:.6g} or more"
        above = f"that {model} scores {rule.first.point.threshold:.6g} or more"
        return f"the {about(sure)} {above} and {drawn} {lower}"

    def to_dict(self, steps: int = 10) -> dict[str, Any]:
        """Return all offers and the table of the best one in so many steps, safe for JSON."""
        facts = {name: getattr(self, name) for name in ("verdict", "worthwhile", "best", "offers")}
        campaigns = {name: curve.campaign for (_, name), curve in self.curves.items()}
        return jsonable(facts | {"campaigns": campaigns, "table": self.curve.table(steps)})

    def __repr__(self) -> str:
        return f"CampaignPlan({self.verdict})"


def _option(label: str, model: str, curve: ProfitCurve) -> Option:
    campaign = curve.campaign
    limit = None if campaign.capacity is None else min(campaign.capacity / campaign.population, 1.0)
    costs = campaign.context.costs
    rule = Rule(criterion_of("min_cost"), campaign.context, costs["fp"] + costs["fn"], limit=limit)
    return Option(label, model, rule, times=campaign.population, fixed=campaign.fixed_cost)


def plan_campaign(models: Models, campaigns: Campaign | Mapping[str, Campaign], *, level: float = 0.95) -> CampaignPlan:
    """Plan campaigns: the best depth and profit of each model in each campaign.

    Parameters
    ----------
    models : data of one or several models
        In any form; see `rocscope.sample`.
        Rows, in Predictions with its column, where a campaign names one as its unit_benefit.
    campaigns : Campaign, or mapping from a name to one
    level : float
        Confidence level of `CampaignPlan.profit`.

    Returns
    -------
    CampaignPlan
        Within a capacity, the optimum over all rules of one model, be they by lot; `CampaignPlan.select` draws it.

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
    check.check_level(level)
    samples = samples_of(models)
    curves = {
        (model, name): _curve(sample, campaign) for model, sample in samples.items() for name, campaign in named.items()
    }
    return CampaignPlan(curves, tuple(_offer(*pair, curve) for pair, curve in curves.items()), samples, level)


def _curve(sample: Sample, campaign: Campaign) -> ProfitCurve:
    if not isinstance(campaign.unit_benefit, str):
        return ProfitCurve(sample.counts, campaign)
    rows = sample.require_rows("models")
    return RowProfitCurve(rows, rows.models[0], campaign)


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
