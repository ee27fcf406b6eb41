"""rocscope campaign: how many customers to contact, by which model, and for what profit."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from rocscope._base.atomic_write import write_file
from rocscope._base.formatting import about
from rocscope.cli import options as opt
from rocscope.cli.console import as_json, interval_of, note, print_interval, print_json, print_rows
from rocscope.cli.files import check_figure, table_bytes, write_figure
from rocscope.errors import InputError

CAMPAIGN = Parameter(group=opt.CAMPAIGN)
_HEADINGS = ("model", "size", "depth", "threshold", "profit", "of random mailing", "of a perfect model")
_BY_SEGMENT = ("group", "rule", "cases", "tp", "depth", "tpr")
_BY_DEPTH = ("depth", "gain", "cumulative", "lift", "size", "responders", "others", "profit")


def campaign(
    file: opt.File,
    /,
    *,
    rows: opt.CountOptions = opt.COUNTS,
    population: Annotated[float, CAMPAIGN],
    unit_cost: Annotated[float, CAMPAIGN],
    unit_benefit: Annotated[float | str, CAMPAIGN],
    fixed_cost: Annotated[float, CAMPAIGN] = 0,
    response_rate: Annotated[float | None, CAMPAIGN] = None,
    capacity: Annotated[float | None, CAMPAIGN] = None,
    segment: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    budget: Annotated[float | None, CAMPAIGN] = None,
    max_difference: Annotated[list[str] | None, CAMPAIGN] = None,
    steps: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 10,
    id: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    select: str | None = None,
    random_state: Annotated[int, CAMPAIGN] = 0,
    plot: opt.Plot = None,
    plot_width: opt.PlotWidth = 178,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Find how many customers to contact, best scores first, and the profit at every depth.

    Example: rocscope campaign scores.csv --label y --score a --population 1e6 --unit-cost 1 --unit-benefit 45

    With --segment the contacts are spread over segments so that all together bring most.

    Parameters
    ----------
    population
        Number of customers that could be contacted.
    unit_cost
        Cost of one contact.
    unit_benefit
        What one response brings, or the column that holds it.
    fixed_cost
        Cost of holding the campaign.
    response_rate
        Share that would respond; the sample's by default.
    capacity
        Largest number of contacts.
    segment
        Column of the segments, such as branches, that share the contacts, each with a threshold of its own.
    budget
        With --segment: money for fixed and unit costs.
    max_difference
        With --segment: how far segments may differ at most, as in tpr=0.05, fpr=0 or depth=0.1; repeat it.
    steps
        Rows of the table.
    id
        Column of the customers' identifiers, by which lots are drawn.
    select
        CSV file to write the identifiers of the customers to contact to; without --segment best first.
    random_state
        Another number draws other lots.
    """
    check_figure(plot, plot_width, force=force)
    opt.require_output(select, force=force)
    if (select is None) != (id is None):
        raise InputError("--select and --id", expected="both or neither", got="one of them")
    if segment is None and (budget is not None or max_difference):
        raise InputError("--budget, --max-difference", expected="--segment too", got="none")
    if segment is not None and plot is not None:
        raise InputError("--plot", expected="none with --segment", got=plot)
    if segment is not None and isinstance(unit_benefit, str):
        raise InputError("--unit-benefit", expected="a number with --segment", got=repr(unit_benefit))
    rows.require(file, "label", "scores", segment=segment, groups=id)
    from rocscope.curves.campaign import Campaign
    from rocscope.decisions import plan_campaign

    planned = Campaign(population, unit_cost, unit_benefit, fixed_cost, response_rate, capacity)
    columns: dict[str, Any] = {"groups": id} if select else {}
    if planned.context.columns:
        columns["columns"] = planned.context.columns
    shared = {} if segment is None else {"segment": segment}
    sample = rows.predictions(file, **columns, **shared) if columns else rows.sample(file, **shared)
    if segment is not None:
        plan: Any = _spread(sample, planned, budget, max_difference or [], json=json)
    else:
        plan = plan_campaign(sample, planned)
        _print(plan, steps, json=json)
    if select:
        chosen = plan.select(sample, sample.groups, random_state=random_state)
        note(f"{chosen.size:,} customers: {_write(select, id, chosen, force=force)}")
    if plot:
        drawn = write_figure(plot, lambda ax: _draw(ax, plan), plot_width, title="Profit", force=force)
        note(f"Figure: {drawn}")


def _print(plan: Any, steps: int, *, json: bool) -> None:
    if json:
        print_json("campaign", plan.to_dict(steps) | as_json(interval_of(plan)))
    else:
        if len(plan.offers) > 1:
            print_rows("Models", _HEADINGS, map(_offer, plan.offers))
        print_rows(
            f"{plan.best.model}: profit by depth", _BY_DEPTH, map(_step, plan.curve.table(steps)), left=("model",)
        )

        print_interval(interval_of(plan), "profit", about(plan.best.best.profit))
        note(plan.verdict)


def _spread(sample: Any, campaign: Any, budget: float | None, differences: list[str], *, json: bool) -> Any:
    """Print how a campaign is spread over segments."""
    from rocscope.decisions import allocate

    bounds = dict(map(_difference, differences))
    found = allocate(sample, campaign, budget=budget, max_difference=bounds or None)
    if json:
        print_json("campaign", found.to_dict())
        return found
    frame = found.to_frame("pyarrow").to_pydict()
    lines = [
        [str(name), rule, about(cases), about(tp), f"{depth:.2%}", f"{tpr:.2%}"]
        for name, rule, cases, tp, depth, tpr in zip(*(frame[name] for name in _BY_SEGMENT), strict=True)
    ]
    headings = ("segment", "who", "contacts", "responders", "depth", "of all responders")
    print_rows("Contacts by segment", headings, lines, left=headings[:2])
    price = f"; without bounds on differences {about(found.profit + found.price)}" if bounds else ""
    note(f"Contact {about(found.cases.sum())} customers: profit {about(found.profit)}{price}.")
    return found


def _difference(text: str) -> tuple[str, float]:
    name, _, most = text.partition("=")
    try:
        return name.strip(), float(most)
    except ValueError:
        expected = "a rate and a number, such as tpr=0.05"
        raise InputError("--max-difference", expected=expected, got=repr(text)) from None


def _write(path: str, name: str | None, ids: Any, *, force: bool) -> Path:
    import pyarrow as pa

    return write_file(path, table_bytes(pa.table({name: ids}), "csv"), force=force)


def _offer(offer: Any) -> list[str]:

    row = offer.best
    profits = (row.profit, offer.random_profit, offer.perfect_profit)
    numbers = (about(row.size), f"{row.depth:.2%}", f"{row.threshold:.6g}")
    return [offer.model, *numbers, *map(about, profits)]


def _step(row: Any) -> list[str]:

    shares = (f"{row.depth:.4g}", f"{row.gain:.1%}", f"{row.cumulative_gain:.1%}", f"{row.lift:.3f}")
    counts = (row.size, row.responders, row.non_responders, row.profit)
    return [*shares, *map(about, counts)]


def _draw(ax: Any, plan: Any) -> None:
    from rocscope.plotting.legends import legend_below

    for (model, _), curve in plan.curves.items():
        curve.plot(ax, label=model)
    legend_below(ax)
