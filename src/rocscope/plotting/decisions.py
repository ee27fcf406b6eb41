"""Plots of decisions: a map of the best model by cost ratio and prevalence, and the profit curve of a campaign plan."""

from itertools import groupby, pairwise
from typing import Any

import numpy as np

from rocscope._base.contract import contract
from rocscope._base.formatting import about
from rocscope.decisions.campaign import CampaignPlan
from rocscope.decisions.model_hull import Hull, RegionMap
from rocscope.decisions.randomized import HullVertex, Review
from rocscope.errors import InputError
from rocscope.plotting import theme
from rocscope.plotting.curves import BESIDE, make_room, place_legend

_TRIVIAL = ("nobody positive", "everybody positive")
_ALPHA = 0.55  # number of fields with a written threshold: a choice
_WIDE = 0.035  # share of the plot: narrower fields have no space for their threshold
_SEEN = 0.006  # share of the plot: narrower fields would be hidden by their borders
_MANY = 0.1  # share of reviewed cases above which the hatching is denser, as in the legend
_HATCHES = {"look closer at some": "..", "at more than 10%": "...."}


@contract
def plot_regions(regions: Hull | RegionMap, ax: Any = None, *, review: Review | None = None) -> Any:
    """Plot a map of the best model and threshold for each cost ratio (x) and prevalence (y).

    Parameters
    ----------
    regions : Hull or RegionMap
        Result of `rocscope.hull` or `Hull.region_map`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.
    review : Review, optional
        Manual review of cases as a third action, at a cost that is a multiple of the cost of a false negative. It is
        passed to `Hull.region_map`.

    Returns
    -------
    Axes
        Each model has a colour. Each stripe between two lines belongs to one threshold, which is written into the
        stripe if there is space. Lines between very narrow stripes are omitted, and only the first and the last of
        their thresholds are written. In hatched areas, it is best to review the cases between two thresholds. The
        hatching is denser if more than a tenth of all cases should be reviewed.

    Raises
    ------
    InputError
        If `regions` is not a Hull or a RegionMap, or `review` is passed together with a RegionMap.

    See Also
    --------
    hull, choose

    Notes
    -----
    The axis of the cost ratio is logarithmic, and the axis of the prevalence is logistic. On these axes, the borders
    between thresholds are straight lines. The slope of the iso-performance line is constant along a border.

    References
    ----------
    Hernández-Orallo 2004 (the best classifier depends on the skew); Drummond & Holte 2006.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import ThresholdCounts, hull
    >>> counts = {"a": ThresholdCounts([3, 2, 1], [6, 2, 2], [1, 4, 9]), "b": ThresholdCounts([2, 1], [2, 8], [9, 5])}
    >>> ax = plot_regions(hull(counts), ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['nobody positive', 'a', 'everybody positive']
    """
    theme.require("regions", regions, Hull, RegionMap, made_by="call rocscope.hull to make one")
    if review is not None and not isinstance(regions, Hull):
        hint = "pass the review to Hull.region_map"
        raise InputError("review", expected="no review with a RegionMap", got=repr(review), hint=hint)
    drawn = regions.region_map(review=review) if isinstance(regions, Hull) else regions
    axes = theme.new_axes() if ax is None else ax
    theme.style_axes(axes)
    axes.set_xscale("log")
    axes.set_yscale("logit")
    labels = [_label(vertex) for vertex in drawn.vertices]
    colours = _colours(labels)
    ratio, (lowest, highest) = drawn.cost_ratio, (drawn.prevalence.min(), drawn.prevalence.max())
    for label, run in groupby(range(len(labels)), key=labels.__getitem__):
        first, *rest = run
        last = rest[-1] if rest else first
        ends = (drawn.vertices[first].slope_high, drawn.vertices[last].slope_low)
        low, high = (np.clip(ratio / (ratio + slope), lowest, highest) for slope in ends)
        look = {"color": colours[label], "alpha": _ALPHA, "linewidth": 0, "gid": f"region-{first}"}
        axes.fill_between(ratio, low, high, label=label if label not in labels[:first] else "_", **look)
    shown = (ratio, (lowest, highest))
    widths = [high - low for low, high in (_stripe(vertex, vertex, *shown) for vertex in drawn.vertices)]
    for i, beside in enumerate(pairwise(widths)):
        if max(beside) >= _SEEN:
            border = ratio / (ratio + drawn.vertices[i].slope_low)
            within = np.ma.masked_outside(border, lowest, highest)
            axes.plot(ratio, within, color="white", linewidth=1, gid=f"border-{i}")
    for _, run in groupby(range(len(labels)), key=lambda i: (labels[i], i if widths[i] >= _SEEN else None)):
        fields = [drawn.vertices[i] for i in run]
        _name_field(axes, fields[0], fields[-1], *shown)
    if drawn.looked is not None:
        _hatch(axes, drawn)
    axes.set(xlim=(ratio.min(), ratio.max()), ylim=(lowest, highest))
    axes.set_title("Lowest expected cost: a colour is a model, a stripe its threshold", fontsize="small", loc="left")
    axes.set_xlabel("Cost ratio (false alarm : miss)")
    axes.set_ylabel("Prevalence")
    place_legend(axes, loc="upper left")
    return axes


def _stripe(first: HullVertex, last: HullVertex, ratio: Any, prevalence: tuple[float, float]) -> tuple[float, float]:
    """Return the start and end of the stripe from the field of `first` to the field of `last`, as shares of the plot.

    The field of a hull vertex is the area in which it is best. On logarithmic axes of cost ratio and odds, a field is a
    diagonal stripe. Its width is the difference between the logarithms of the two slopes at which the best vertex
    changes.
    """
    start, end = _corners(ratio, prevalence)
    with np.errstate(divide="ignore"):
        low, high = np.clip(np.log10([last.slope_low, first.slope_high]), start, end)
    return (low - start) / (end - start), (high - start) / (end - start)


def _corners(ratio: Any, prevalence: tuple[float, float]) -> tuple[float, float]:
    """Return the logarithms of the smallest and the largest slope in the plot."""
    lowest, highest = prevalence
    return np.log10(ratio.min() * (1 - highest) / highest), np.log10(ratio.max() * (1 - lowest) / lowest)


def _name_field(ax: Any, first: HullVertex, last: HullVertex, ratio: Any, prevalence: tuple[float, float]) -> None:
    """Write the threshold in the middle of a field (or of several neighbouring fields), if it is wide enough."""
    low, high = _stripe(first, last, ratio, prevalence)
    if high - low < _WIDE:
        return
    start, end = _corners(ratio, prevalence)
    middle = start + (low + high) / 2 * (end - start)
    x, odds = 10 ** (middle / 2), 10 ** (-middle / 2)
    cuts = dict.fromkeys(vertex.point.threshold_text for vertex in (first, last))
    finite = np.isfinite(first.point.threshold)
    words = f"score {'<' if first.negated else '≥'} {' … '.join(cuts)}" if finite else _label(first)
    look = {"ha": "center", "va": "center", "rotation": 45, "fontsize": "x-small", "color": theme.palette().ink}
    ax.text(x, odds / (1 + odds), words, gid="field", clip_on=True, **look)


def _hatch(axes: Any, drawn: RegionMap) -> None:
    """Hatch the areas in which some (or many) cases should be reviewed."""
    ink = theme.palette().ink
    levels = [np.finfo(float).tiny, _MANY, 1 + _MANY]
    hatches = list(_HATCHES.values())
    hatched = axes.contourf(drawn.cost_ratio, drawn.prevalence, drawn.looked, levels, colors="none", hatches=hatches)
    hatched.set(edgecolor=ink, linewidth=0, gid="looked")
    for name, hatch in _HATCHES.items():
        axes.fill_between([], [], facecolor="none", edgecolor=ink, linewidth=0, hatch=hatch, label=name)


def _label(vertex: HullVertex) -> str:
    predicted = vertex.point.tp + vertex.point.fp
    if not predicted:
        return "nobody positive"
    return "everybody positive" if predicted == vertex.point.n else theme.plain(vertex.label)


def _colours(labels: list[str]) -> dict[str, str]:
    """Return a colour for each label; "nobody positive" and "everybody positive" are grey."""
    models = [label for label in dict.fromkeys(labels) if label not in _TRIVIAL]
    greys = dict(zip(_TRIVIAL, (theme.palette().grid, theme.palette().frame), strict=True))
    return greys | {label: theme.line_look(i)["color"] for i, label in enumerate(models)}


@contract
def plot_campaign(plan: CampaignPlan, ax: Any = None) -> Any:
    """Plot the profit curves of a campaign plan, with the planned number of contacts and the capacity.

    A profit curve shows the profit by the share of customers contacted. There is one curve for each model and campaign.

    Parameters
    ----------
    plan : CampaignPlan
        Result of `rocscope.plan_campaign`.
    ax : Axes, optional
        Axes to draw on; by default the Axes of a new pyplot figure.

    Returns
    -------
    Axes
        A vertical bar shows the confidence interval of `CampaignPlan.profit`. This interval accounts for the
        selection of the plan from the same rows.

    Raises
    ------
    InputError
        If the plan was loaded from a file. A file does not contain the data of the curves.

    See Also
    --------
    plan_campaign, profit

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
    >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
    >>> plan = plan_campaign(counts, Campaign(population=10_000, unit_cost=1, unit_benefit=10, capacity=800))
    >>> ax = plot_campaign(plan, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['score: 800 contacts, profit 1,600', 'planned within it']
    """
    theme.require("plan", plan, CampaignPlan, made_by="call rocscope.plan_campaign to make one")
    best = plan.best.best
    plan.curve  # noqa: B018 (refuses a plan without its data)
    new, several = ax is None, len(plan.campaigns) > 1
    for offer, name in zip(plan.offers, theme.names(_name(offer, several) for offer in plan.offers), strict=True):
        label = f"{name}: {about(offer.best.size)} contacts, profit {about(offer.best.profit)}"
        ax = plan.curves[offer.model, offer.campaign].plot(ax, label=label)
    estimate = plan.profit
    if estimate.low == estimate.low:
        look = {"color": theme.palette().ink, "linewidth": 1.6, "marker": "_", "markersize": 10, "zorder": 4}
        label = f"{100 * estimate.level:g}% CI of the plan's profit"
        ax.plot([best.depth] * 2, [estimate.low, estimate.high], label=label, **look)
    place_legend(ax, **(BESIDE if new else {}))
    if new:
        make_room(ax)
    return ax


def _name(offer: Any, several: bool) -> str:
    return f"{offer.model}, {offer.campaign}" if several else offer.model
