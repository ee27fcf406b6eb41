"""rocscope campaign: how many customers to contact, by which model, and for what profit."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from rocscope._output import write_file
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows
from rocscope.cli.files import check_figure, table_bytes, write_figure
from rocscope.cli.sureness import as_json, interval_of, print_interval
from rocscope.errors import InputError

CAMPAIGN = Parameter(group=opt.CAMPAIGN)
_HEADINGS = ("model", "size", "depth", "threshold", "profit", "of random mailing", "of a perfect model")
_BY_DEPTH = ("depth", "gain", "cumulative", "lift", "size", "responders", "others", "profit")


def campaign(
    file: opt.File,
    /,
    *,
    rows: opt.CountOptions = opt.COUNTS,
    population: Annotated[float, CAMPAIGN],
    unit_cost: Annotated[float, CAMPAIGN],
    unit_benefit: Annotated[float, CAMPAIGN],
    fixed_cost: Annotated[float, CAMPAIGN] = 0,
    response_rate: Annotated[float | None, CAMPAIGN] = None,
    capacity: Annotated[float | None, CAMPAIGN] = None,
    steps: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 10,
    id: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    select: str | None = None,
    random_state: Annotated[int, CAMPAIGN] = 0,
    plot: opt.Plot = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Find how many customers to contact, best scores first, and the profit at every depth.

    Example: rocscope campaign scores.csv --label y --score a --population 1e6 --unit-cost 1 --unit-benefit 45

    Parameters
    ----------
    population
        Number of customers that could be contacted.
    unit_cost
        Cost of one contact.
    unit_benefit
        What one response brings.
    fixed_cost
        Cost of holding the campaign.
    response_rate
        Share that would respond; the sample's by default.
    capacity
        Largest number of contacts.
    steps
        Rows of the table.
    id
        Column of the customers' identifiers, by which lots are drawn.
    select
        CSV file to write the identifiers of the customers to contact to, best first.
    random_state
        Another number draws other lots.
    """
    check_figure(plot, force=force)
    opt.require_output(select, force=force)
    if (select is None) != (id is None):
        raise InputError("--select and --id", expected="both or neither", got="one of them")
    rows.require(file)
    from rocscope.curves.campaign import Campaign
    from rocscope.decisions import plan_campaign

    planned = Campaign(population, unit_cost, unit_benefit, fixed_cost, response_rate, capacity)
    sample = rows.predictions(file, groups=id) if select else rows.sample(file)
    plan = plan_campaign(sample, planned)
    if json:
        print_json("campaign", plan.to_dict(steps) | as_json(interval_of(plan)))
    else:
        if len(plan.offers) > 1:
            print_rows("Models", _HEADINGS, map(_offer, plan.offers))
        print_rows(
            f"{plan.best.model}: profit by depth", _BY_DEPTH, map(_step, plan.curve.table(steps)), left=("model",)
        )
        from rocscope.core.result import about

        print_interval(interval_of(plan), "profit", about(plan.best.best.profit))
        note(plan.verdict)
    if select:
        chosen = plan.select(sample, sample.groups, random_state=random_state)
        note(f"{chosen.size:,} customers: {_write(select, id, chosen, force=force)}")
    if plot:
        drawn = write_figure(plot, lambda ax: _draw(ax, plan), title="Profit", force=force)
        note(f"Figure: {drawn}")


def _write(path: str, name: str | None, ids: Any, *, force: bool) -> Path:
    import pyarrow as pa

    return write_file(path, table_bytes(pa.table({name: ids}), "csv"), force=force)


def _offer(offer: Any) -> list[str]:
    from rocscope.core.result import about

    row = offer.best
    profits = (row.profit, offer.random_profit, offer.perfect_profit)
    numbers = (about(row.size), f"{row.depth:.2%}", f"{row.threshold:.6g}")
    return [offer.model, *numbers, *map(about, profits)]


def _step(row: Any) -> list[str]:
    from rocscope.core.result import about

    shares = (f"{row.depth:.4g}", f"{row.gain:.1%}", f"{row.cumulative_gain:.1%}", f"{row.lift:.3f}")
    counts = (row.size, row.responders, row.non_responders, row.profit)
    return [*shares, *map(about, counts)]


def _draw(ax: Any, plan: Any) -> None:
    for (model, _), curve in plan.curves.items():
        curve.plot(ax, label=model)
