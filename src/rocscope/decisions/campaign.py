"""Campaign plans: the model, depth and campaign with the highest profit.

A campaign contacts the customers with the highest scores. Depth is the share of the population that is contacted, and
the profit is a function of depth. The best depth is a vertex of the upper hull of this profit curve. If a capacity lies
between two vertices, customers are contacted by rank until the capacity is used.

The best depth of one model in one campaign is an `Offer`. `plan_campaign` computes the offers of all models in all
campaigns. It returns all offers and the best offer as a `CampaignPlan`. A profit is a negative cost, so the interval of
the profit is the interval of the expected cost with reversed signs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields as fields_of, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import contract, made_by_contract
from rocscope._base.formatting import about, counted, in_currency
from rocscope._base.hashed_order import hashes_of
from rocscope._base.json_format import Fields, Format
from rocscope._base.progress import Progress
from rocscope._base.public_names import reach
from rocscope.core import Campaign, Result, jsonable, require_kinds
from rocscope.core.applying import size_of
from rocscope.core.context import column_of
from rocscope.curves.profit_curve import CampaignRow, ProfitCurve, RowProfitCurve
from rocscope.decisions.constraints import criterion_of
from rocscope.decisions.generalization import Candidate, Candidates, ChosenEstimate, Rule
from rocscope.decisions.plan import Note, Plan, Promise, notes_on_capacity, read_rule, replicates_for
from rocscope.decisions.randomized import HullVertex, RandomizedRule, whose
from rocscope.decisions.sampling_model import PricedRows, RowCostModel, SamplingModel, model_of_rows
from rocscope.errors import InputError
from rocscope.sample import Labels, Models, Sample, Samples, Scores, samples_of, with_context

FORMAT = Format("rocscope.campaign_plan", 1, "a campaign plan", "call rocscope.plan_campaign again and save the result")


# Number of rows of a plan's table, one for each tenth of the population.
_TENTHS = 10


@dataclass(frozen=True)
class Offer(Result):
    """The most profitable depth of one model in one campaign.

    Attributes
    ----------
    model, campaign : str
        Names of the model and of the campaign.
    best : CampaignRow
        Number of contacts, responders and profit at the best depth.
    break_even_depths : tuple of float
        Depths at which the profit is 0.
    random_profit, perfect_profit : float
        Profit at the best depth, if customers are contacted at random or in perfect order.
    """

    model: str
    campaign: str
    best: CampaignRow
    break_even_depths: tuple[float, ...]
    random_profit: float
    perfect_profit: float


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class CampaignPlan(Plan):
    """The best depth and profit of each model in each campaign, with the best combination of model and campaign.

    `rocscope.plan_campaign` returns these plans.

    Attributes
    ----------
    offers : tuple of Offer
        One offer for each model in each campaign: the most profitable depth and its profit.
    best : Offer
        The offer with the highest expected profit; of equally profitable offers, the offer with the fewest contacts.
    worthwhile : bool
        True if the best offer has a positive expected profit.
    campaigns : dict from name to Campaign
        The campaigns that were compared.
    rule : RandomizedRule
        Rule of the best offer, which selects the customers with the highest scores, and draws among equal scores.
    depth : Fraction
        Exact share of the population to contact, according to the best offer.
    level : float
        Confidence level of `profit`.
    steps : tuple of CampaignRow
        Results of the best offer if 10%, 20%, … of the population are contacted.
    curves : dict from (model, campaign) to ProfitCurve
        Profit curve of each model in each campaign; empty if the plan was read from a file.
    samples : Samples or None
        The data of the models; None if the plan was read from a file.
    """

    file_format = FORMAT

    offers: tuple[Offer, ...]
    best: Offer
    worthwhile: bool
    campaigns: dict[str, Campaign]
    rule: RandomizedRule
    depth: Fraction
    level: float = 0.95
    steps: tuple[CampaignRow, ...] = ()
    curves: dict[tuple[str, str], ProfitCurve] = field(default_factory=dict)
    samples: Samples | None = None

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with the results of the best offer at 10%, 20%, … of the population.

        The columns are the fields of `CampaignRow`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
        >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
        >>> table = plan_campaign(counts, Campaign(1000, unit_cost=1, unit_benefit=10)).to_frame()
        >>> table[["size", "responders", "profit"]].head(3)
            size  responders  profit
        0    0.0         0.0     0.0
        1  100.0        30.0   200.0
        2  200.0        37.5   175.0
        """
        names = [field.name for field in fields_of(CampaignRow)]
        return check.frame_of({name: [getattr(step, name) for step in self.steps] for name in names}, backend)

    @cached_property
    def profit(self) -> ChosenEstimate:
        """Expected profit of the best offer when it is applied to new customers, with a confidence interval.

        The interval accounts for the choice of the best offer on the same data.
        """
        return self.interval(self.level)

    def interval(
        self, level: float = 0.95, *, replicates: int = 2000, random_state: Any = 0, progress: Progress = None
    ) -> ChosenEstimate:
        """Return the expected profit of the best offer on new customers, with a confidence interval.

        The field `acting` of the result is the probability that the profit is positive.

        Parameters
        ----------
        level : float
            Confidence level.
        replicates : int
            Number of bootstrap samples; the best offer is chosen again in each sample.
        random_state, progress : see `rocscope.bootstrap`

        Raises
        ------
        OneClassError
            If all customers of the sample respond.

        Notes
        -----
        `Decision.interval` describes the method. With a capacity, `select` returns a fixed share of the customers,
        those with the highest scores. The standard error therefore refers to a fixed share instead of a fixed
        threshold.

        Examples
        --------
        The 100 customers with the score 3 are contacted. In the sample, 30 of them respond, so the profit is 30 · 10 −
        100:

        >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
        >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
        >>> estimate = plan_campaign(counts, Campaign(1000, unit_cost=1, unit_benefit=10)).interval()
        >>> estimate.apparent, estimate.low < estimate.value < estimate.high
        (200.0, True)
        """
        samples = self._require_data()
        by_row = isinstance(self.curve, RowProfitCurve)
        model = self._sampling_model_of_rows(samples) if by_row else self._sampling_model_of_counts(samples)
        cost = model.estimate(level=level, replicates=replicates, random_state=random_state, progress=progress)
        # The choice maximises the expected profit on the hull; the list is by rank, and so is its profit in the sample.
        apparent = -self.best.best.profit if self.worthwhile else cost.apparent
        return replace(cost, apparent=apparent).as_profit()

    def _new_cases(self) -> ChosenEstimate:
        return self.interval(self.level, replicates=replicates_for(self.rule.first.point), progress=False)

    def _sampling_model_of_counts(self, samples: Samples) -> SamplingModel:
        """Return the sampling model for choosing the best offer, if the benefit is equal for all customers."""
        candidates = []
        for (model, name), curve in self.curves.items():
            campaign = curve.campaign
            limit = None if campaign.capacity is None else min(campaign.capacity / campaign.population, 1.0)
            costs = campaign.context.costs
            rule = Rule(criterion_of("min_cost"), campaign.context, costs["fp"] + costs["fn"], limit=limit)
            label = f"{model} in {name}" if len(self.campaigns) > 1 else model
            candidates.append(Candidate(label, model, rule, times=campaign.population, fixed=campaign.fixed_cost))
        # Holding no campaign costs 0.
        return SamplingModel(samples, Candidates(tuple(candidates), idle=0.0))

    def _sampling_model_of_rows(self, samples: Samples) -> SamplingModel:
        """Return the sampling model for the best offer, if the benefit differs between rows."""
        model, campaign, rule = self.best.model, self.campaign, self.rule
        rows = samples.rows or samples[model].require_rows("models")
        priced = PricedRows(rows, campaign.context)
        first = priced.acts(model, rule.first.point.threshold)
        second = priced.acts(model, rule.second.point.threshold)
        acts = first + rule.weight * (second.astype(float) - first)
        # `only_added` means the cost relative to contacting nobody, like a profit.
        row_costs = RowCostModel(priced, campaign.population, campaign.fixed_cost, only_added=True)
        only_threshold = campaign.capacity is None and len(self.curves) == len(rows.models)
        why = "" if only_threshold else "the choice of campaign and capacity is not repeated"
        return model_of_rows(row_costs, acts, why)

    @property
    def campaign(self) -> Campaign:
        """The campaign of the best offer."""
        return self.campaigns[self.best.campaign]

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on capacities that exceed their population or are far below it."""
        notes: tuple[Note, ...] = ()
        for campaign in self.campaigns.values():
            if campaign.capacity is not None:
                notes += notes_on_capacity(campaign.capacity, campaign.population)
        return notes

    def _require_data(self) -> Samples:
        if self.samples is None:
            hint = "call rocscope.plan_campaign with the data"
            raise InputError("plan", expected="a plan with its data", got="a plan from a file", hint=hint)
        return self.samples

    @property
    def curve(self) -> ProfitCurve:
        """The profit curve of the best offer."""
        self._require_data()
        return self.curves[self.best.model, self.best.campaign]

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(offer.model for offer in self.offers))

    @property
    def columns(self) -> tuple[str, ...]:
        benefits = [campaign.unit_benefit for campaign in self.campaigns.values()]
        return tuple(dict.fromkeys(benefit for benefit in benefits if isinstance(benefit, str)))

    def plot(self, ax: Any = None) -> Any:
        """Plot profit by depth, with the plan and its interval; see `rocscope.plotting.plot_campaign`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default, a new figure is created.
        """
        return reach("plotting").plot_campaign(self, ax)

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.rule.models or (self.best.model,)) if self.worthwhile else ()

    def rows(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Indices:  # noqa: ARG002
        """Return the row indices of the customers to contact, best first; `select` describes the parameters.

        Parameters
        ----------
        scores, ids, segment, random_state : see `Plan.select`

        Raises
        ------
        InputError
            If identifiers are repeated.

        Notes
        -----
        The number of contacts is the planned share of all customers in `scores`, rounded down, and at most the
        capacity. The number is 0 if no campaign has a positive profit. Customers with the highest scores are contacted.
        Hashes of the identifiers decide among equal scores.

        Examples
        --------
        The plan contacts 100 of 1,000 customers. Of ten customers, it contacts the one with the highest score:

        >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
        >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
        >>> plan = plan_campaign(counts, Campaign(1000, unit_cost=1, unit_benefit=10))
        >>> plan.rows([1, 1, 3, 2, 1, 1, 1, 1, 1, 1]).tolist()
        [2]
        """
        size = size_of(scores)
        number = self._contacts(size)
        if not number:
            hashes_of(ids, size)  # raises for repeated identifiers
            return np.arange(0)
        return self.rule.select(number, scores, ids, random_state=random_state)

    @cached_property
    def promise(self) -> Promise:
        if not self.worthwhile:
            return Promise(rate=math.nan, gain=0.0)
        row, estimate, context = self.best.best, self.on_new_cases, self.campaign.context
        size, fixed = row.size, self.campaign.fixed_cost
        apparent, estimated = Promise(row.responders / size, (row.profit + fixed) / size, fixed), None
        if estimate is not None:
            estimated = Promise(apparent.rate, (estimate.value + fixed) / size, fixed, estimate.standard_error / size)
        if context.columns:
            return estimated or apparent
        cells = None if self.samples is None else self._sampling_model_of_counts(self.samples).held_out_cells()
        return apparent.on_new_cases(estimated, cells, self.rule.point, context, float(self.depth))

    def gains(self, positive: Array, amounts: Mapping[str, Array], segment: Any = None) -> Array:  # noqa: ARG002
        benefit = self.campaign.unit_benefit
        brought = np.asarray(amounts[benefit] if isinstance(benefit, str) else benefit, float)
        return np.where(positive, brought, 0.0) - self.campaign.unit_cost

    def strata(self, scores: Any, segment: Any = None) -> Indices:
        return self.rule.strata(scores, by_number=True) if self.worthwhile else super().strata(scores, segment)

    def said(self, chosen: int, cases: int) -> str:
        if not self.worthwhile:
            return f"Contact nobody of {cases:,} customers: no campaign makes a profit"
        planned = f"{about(self.best.best.size)} of {about(self.campaign.population)} were planned"
        return f"Contact {chosen:,} of {cases:,} customers ({float(self.depth):.2%} by {self.best.model}; {planned})"

    def _contacts(self, customers: int) -> int:
        """Return the number of customers to contact, given the number of customers in a list."""
        if not self.worthwhile:
            return 0
        most = self.campaign.capacity
        planned = int(self.depth * customers)
        return planned if most is None else min(planned, int(most))

    @property
    def planned_number(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._contacts(int(self.campaign.population))

    def sentence(self, currency: str = "") -> str:
        offer, row = self.best, self.best.best
        if not self.worthwhile:
            profit = in_currency(about(row.profit), currency)
            return f"Contact nobody. No campaign pays, because the best campaign has a profit of {profit}."
        customers = counted(row.size, "customer")
        if self.rule.randomized:
            customers = f"the {customers} {self.rule.best_in_words}"
        elif row.threshold == -math.inf:
            customers = f"{customers} with any score"
        else:
            customers = f"the {customers} {whose(offer.model, self.rule.second.point.threshold_text)}"
        name = f" in campaign {offer.campaign}" if len(self.campaigns) > 1 else ""
        responders = self.promise.rate * row.size
        brings = counted(round(responders, 0 if responders >= 10 else 9), "responder")
        profit = self._expected("a profit", row.profit, currency, "customers")
        share = f"{row.depth:.2%} of {about(self.campaign.population)}"
        return f"Contact {customers} ({share}){name}. Expect {brings} and {profit}.{self._certainty()}"

    @classmethod
    def of_fields(cls, fields: Fields) -> Self:
        offers = tuple(map(_read_offer, fields.objects("offers")))
        level = fields.number("level", 0, 1)
        named = fields.inner("campaigns", "campaigns by name")
        campaigns = {}
        for name in named.content:
            campaigns[name] = named.make(name, Campaign, **named.take(name, dict, "a campaign"))
        table = tuple(map(_read_row, fields.objects("table")))
        rule, depth = read_rule(fields, "rule"), fields.share("depth")
        best = _read_offer(fields.inner("best", "an offer"))
        worthwhile = fields.take("worthwhile", bool, "true or false")
        if best not in offers or best.campaign not in campaigns:
            fields.refuse("best", "one of the offers", f"{best.model} in {best.campaign}")
        return fields.make("", cls, offers, best, worthwhile, campaigns, rule, depth, level, table)

    def to_dict(self, steps: int = _TENTHS) -> dict[str, Any]:
        """Return all offers as JSON-compatible data, with a table of the best offer's results at `steps` depths.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
        >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
        >>> content = plan_campaign(counts, Campaign(1000, unit_cost=1, unit_benefit=10)).to_dict(steps=2)
        >>> sorted(content), [row["profit"] for row in content["table"]]
        (['best', 'campaigns', 'offers', 'table', 'verdict', 'worthwhile'], [0.0, -35.714285714285715, -500.0])
        """
        names = ("verdict", "worthwhile", "best", "offers", "campaigns")
        table = self.steps if steps == _TENTHS else self.curve.table(steps)
        return jsonable({name: getattr(self, name) for name in names} | {"table": table})

    def stored(self) -> dict[str, Any]:
        return self.to_dict() | jsonable({"rule": self.rule, "depth": self.depth, "level": self.level})

    def __repr__(self) -> str:
        return f"CampaignPlan({self.verdict})"


@contract
def plan_campaign(
    models: Models | Labels,
    y_score: Scores | Campaign | Mapping[str, Campaign] | None = None,
    campaigns: Campaign | Mapping[str, Campaign] | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
) -> CampaignPlan:
    """Find the model, campaign and number of contacts with the highest profit.

    Parameters
    ----------
    models, y_score, pos_label, sample_weight : data of one or several models
        Labels and scores, Predictions, or a mapping from model name to counts or points; see `rocscope.sample`.
        Positives are the customers who respond. If the `unit_benefit` of a campaign is the name of a column, pass
        Predictions with this column.
    campaigns : Campaign, or mapping from name to Campaign
        One campaign, or several alternative campaigns by name. A Campaign contains the population, costs, benefit and
        capacity.
    level : float
        Confidence level of `CampaignPlan.profit`.

    Returns
    -------
    CampaignPlan
        The best offer, and the offers of all models in all campaigns. `CampaignPlan.select` returns the customers to
        contact, highest scores first. With a capacity, the offer is chosen by the profit on the ROC hull; see
        `ProfitCurve.rule`.

    Raises
    ------
    InputError
        If an argument has a wrong type.
    OneClassError
        If the data contain no responders.

    See Also
    --------
    profit, allocate, load_plan

    References
    ----------
    Hernández-Orallo 2004, mail campaign design: the benefit for three different campaigns.

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
    >>> plan_campaign(counts, Campaign(population=10_000, unit_cost=1, unit_benefit=10, fixed_cost=500))
    CampaignPlan(Contact the 1,000 customers whose score is 3 or more (10.00% of 10,000). Expect 300 responders and a
    profit of 1,500 on new customers (95% CI [600, 2,600]; apparent 1,500). Acting pays with probability above 99.9%.)
    """
    models, campaigns = with_context(models, y_score, campaigns, pos_label=pos_label, sample_weight=sample_weight)
    named = {str(name): campaign for name, campaign in check.by_name(campaigns, ("campaign",)).items()}
    if not named or not all(isinstance(campaign, Campaign) for campaign in named.values()):
        hint = "pass rs.Campaign(population=1000, unit_cost=1, unit_benefit=5)"
        expected = "a Campaign, or a mapping from name to Campaign"
        raise InputError("campaigns", expected=expected, got=repr(campaigns), hint=hint)
    level = check.check_level(level)
    require_kinds("plan_campaign", models)
    samples = samples_of(models)
    curves, offers = {}, {}
    for model, sample in samples.items():
        for name, campaign in named.items():
            curves[model, name] = curve = _profit_curve(sample, campaign)
            row = curve.best()
            random_profit, perfect_profit = curve.random.at(row.depth), curve.perfect.at(row.depth)
            depths = tuple(curve.break_even_depths)
            offers[model, name] = Offer(model, name, row, depths, random_profit, perfect_profit)
    # Of equally profitable offers, take the offer with the fewest contacts, then the first offer.
    key = max(curves, key=lambda key: (curves[key].hull_profit, -offers[key].best.size))
    best, curve = offers[key], curves[key]
    first, second = (HullVertex(best.model, curve.end(end)) for end in curve.rule.ends)
    rule = RandomizedRule.between(first, second, curve.rule.share)
    table = tuple(curve.table(_TENTHS))
    made = tuple(offers.values())
    return CampaignPlan(made, best, curve.worthwhile, named, rule, curve.depth, level, table, curves, samples)


def _profit_curve(sample: Sample, campaign: Campaign) -> ProfitCurve:
    if not isinstance(campaign.unit_benefit, str):
        return ProfitCurve(sample.counts, campaign)
    rows = sample.require_rows("models")
    benefits = column_of("unit_benefit", campaign.unit_benefit, rows.columns)[rows.y_true]
    if not benefits.any():
        # Without responses or benefits no contact pays.
        return ProfitCurve(sample.counts, replace(campaign, unit_benefit=0.0))
    return RowProfitCurve(rows, rows.models[0], campaign)


# The file


def _read_offer(fields: Fields) -> Offer:
    model, campaign = fields.text("model"), fields.text("campaign")
    best = _read_row(fields.inner("best", "a row of the table"))
    depths = tuple(fields.column("break_even_depths", 0, 1).tolist())
    return Offer(model, campaign, best, depths, fields.number("random_profit"), fields.number("perfect_profit"))


def _read_row(fields: Fields) -> CampaignRow:
    names = [field.name for field in fields_of(CampaignRow) if field.name != "threshold"]
    numbers = {name: fields.number(name) for name in names}
    threshold = fields.optional_number("threshold")
    if threshold is None:
        # Null is an infinite threshold: ∞ (nobody) at depth 0, else −∞ (everybody).
        threshold = math.inf if numbers["depth"] == 0 else -math.inf
    return CampaignRow(**numbers, threshold=threshold)
