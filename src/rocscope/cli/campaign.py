"""rocscope campaign: how many customers to contact, by which model, and for what profit."""

from typing import Annotated, Any

import typer

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_table
from rocscope.cli.figure import check_figure, write_figure

_CAMPAIGN = "Campaign"


def campaign(
    file: opt.File,
    population: Annotated[
        float,
        typer.Option("--population", help="Number of customers that could be contacted.", rich_help_panel=_CAMPAIGN),
    ],
    unit_cost: Annotated[float, typer.Option("--unit-cost", help="Cost of one contact.", rich_help_panel=_CAMPAIGN)],
    unit_benefit: Annotated[
        float, typer.Option("--unit-benefit", help="What one response brings.", rich_help_panel=_CAMPAIGN)
    ],
    fixed_cost: Annotated[
        float, typer.Option("--fixed-cost", help="Cost of holding the campaign.", rich_help_panel=_CAMPAIGN)
    ] = 0,
    response_rate: Annotated[
        float | None,
        typer.Option(
            "--response-rate", help="Share that would respond; the sample's by default.", rich_help_panel=_CAMPAIGN
        ),
    ] = None,
    capacity: Annotated[
        float | None,
        typer.Option("--capacity", help="Largest number of contacts.", rich_help_panel=_CAMPAIGN),
    ] = None,
    label: opt.Label = None,
    score: opt.Scores = None,
    weight: opt.Weight = None,
    pos_label: opt.PosLabel = None,
    where: opt.Where = None,
    missing: opt.Missing = "error",
    file_format: opt.Format = None,
    memory: opt.Memory = None,
    steps: Annotated[int, typer.Option("--steps", min=1, max=1000, help="Rows of the table.")] = 10,
    plot: opt.Plot = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Find how many customers to contact, best scores first, and the profit at every depth.

    Example: rocscope campaign scores.csv --label y --score a --population 1e6 --unit-cost 1 --unit-benefit 45
    """
    from rocscope.core.campaign import Campaign
    from rocscope.decisions.campaign import plan_campaign

    planned = Campaign(population, unit_cost, unit_benefit, fixed_cost, response_rate, capacity)
    check_figure(plot, force=force)
    predictions = opt.read_sample(
        file,
        label=label,
        scores=score,
        weight=weight,
        pos_label=pos_label,
        where=where,
        missing=missing,
        format=file_format,
        memory=memory,
    )
    plan = plan_campaign(predictions, planned)
    if json:
        print_json("campaign", plan.to_dict(steps))
    else:
        _print(plan, steps)
        note(plan.verdict)
    if plot:
        drawn = write_figure(plot, lambda ax: _draw(ax, plan), title="Profit", force=force)
        note(f"Figure: {drawn}")


def _print(plan: Any, steps: int) -> None:
    if len(plan.offers) > 1:
        print_table(_offers(plan))
    print_table(_deciles(plan, steps))


def _offers(plan: Any) -> Any:
    table = _table(
        "Models", ["model", "size", "depth", "threshold", "profit", "of random mailing", "of a perfect model"]
    )
    for offer in plan.offers:
        row = offer.best
        numbers = (f"{row.size:,.10g}", f"{row.depth:.2%}", f"{row.threshold:.6g}")
        profits = (row.profit, offer.random_profit, offer.perfect_profit)
        table.add_row(_text(offer.model), *numbers, *(f"{profit:,.10g}" for profit in profits))
    return table


def _deciles(plan: Any, steps: int) -> Any:
    headings = ["depth", "gain", "cumulative", "lift", "size", "responders", "others", "profit"]
    table = _table(f"{plan.best.model}: profit by depth", headings)
    for row in plan.curve.table(steps):
        shares = (f"{row.depth:.4g}", f"{row.gain:.1%}", f"{row.cumulative_gain:.1%}", f"{row.lift:.3f}")
        counts = (row.size, row.responders, row.non_responders, row.profit)
        table.add_row(*shares, *(f"{count:,.10g}" for count in counts))
    return table


def _table(title: str, headings: list[str]) -> Any:
    from rich.table import Table

    table = Table(title=title)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "model" else "right", overflow="fold")
    return table


def _text(content: str) -> Any:
    from rich.text import Text

    return Text(content)


def _draw(ax: Any, plan: Any) -> None:
    for (model, _), curve in plan.curves.items():
        curve.plot(ax, label=model)
