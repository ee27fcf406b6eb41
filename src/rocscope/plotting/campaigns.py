"""The profit of campaigns by depth, with the plan, its capacity and the interval of its profit."""

from typing import Any

from rocscope._base.formatting import about
from rocscope.decisions.campaign import CampaignPlan
from rocscope.plotting import theme
from rocscope.plotting.curves import BESIDE, make_room, place_legend


def plot_campaign(plan: CampaignPlan, ax: Any = None) -> Any:
    """Draw the profit of each model in each campaign by depth, with the plan, the capacity and an interval.

    Parameters
    ----------
    plan : CampaignPlan
        Made by `rocscope.plan_campaign`.
    ax : Axes, optional
        Where to draw; a new pyplot figure when left out.

    Returns
    -------
    Axes
        The interval is that of `CampaignPlan.profit`, which allows for the plan's having been chosen on the same rows.

    Raises
    ------
    InputError
        If the plan was read from a file, without its data.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
    >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
    >>> plan = plan_campaign(counts, Campaign(population=10_000, unit_cost=1, unit_benefit=10, capacity=800))
    >>> ax = plot_campaign(plan, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['score: 800 contacts, profit 1,600', 'highest profit within it']
    """
    theme.require("plan", plan, CampaignPlan, made_by="rocscope.plan_campaign makes one")
    best = plan.best.best
    plan.curve  # noqa: B018 (refuses a plan without its data)
    new, several = ax is None, len(plan.campaigns) > 1
    for offer, name in zip(plan.offers, theme.names(_name(offer, several) for offer in plan.offers), strict=True):
        label = f"{name}: {about(offer.best.size)} contacts, profit {about(offer.best.profit)}"
        ax = plan.curves[offer.model, offer.campaign].plot(ax, label=label)
    estimate = plan.profit
    if estimate.low == estimate.low:
        look = {"color": theme.palette().ink, "linewidth": 1.6, "marker": "_", "markersize": 10, "zorder": 4}
        label = f"{100 * estimate.level:g} % interval of the plan's profit"
        ax.plot([best.depth] * 2, [estimate.low, estimate.high], label=label, **look)
    place_legend(ax, **(BESIDE if new else {}))
    if new:
        make_room(ax)
    return ax


def _name(offer: Any, several: bool) -> str:
    return f"{offer.model}, {offer.campaign}" if several else offer.model
