"""rocscope apply and outcomes: the list of the cases that a saved plan acts on, and what acting on them has brought."""
# MERGED-DOC: """rocscope campaign: how many customers to contact, with which model, for what profit."""

from dataclasses import dataclass, replace
from math import nan
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from rocscope._base.formatting import about
from rocscope._base.progress import attended
from rocscope.cli import options as opt
from rocscope.cli.console import (
    as_json,
    check_figure,
    interval_of,
    note,
    print_interval,
    print_json,
    print_rows,
    write_figure,
    write_text,
)
from rocscope.cli.gate import Judge, gates_json, gates_of, judged_by, outcome
from rocscope.errors import InputError


def apply(
    plan: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    rows: opt.LayoutOptions = opt.LAYOUT,
    id: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    score: Annotated[list[str] | None, Parameter(alias="-s", group=opt.COLUMNS)] = None,
    segment: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    keep: Annotated[list[str] | None, Parameter(group=opt.COLUMNS)] = None,
    every_row: Annotated[opt.Flag, Parameter(group=opt.CHOICE)] = False,
    label: Annotated[str | None, Parameter(alias="-l", group=opt.CHOICE)] = None,
    pos_label: Annotated[str | None, Parameter(group=opt.CHOICE)] = None,
    output: Annotated[str | None, opt.OUTPUT] = None,
    random_state: int = 0,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Apply a saved plan to new data, and write the list of cases to act on, best first.

    Example: rocscope apply plan.json april.csv --id client -o contacts.csv

    Labels are not needed. Where a number is planned, exactly so many cases are listed.

    Parameters
    ----------
    id
        Column of the identifiers, which are written as they are and break ties; row numbers by default.
    score
        Column of the scores, where it is called otherwise than the model; of several models, as in a=new_a.
    segment
        Column of the segments, for a plan with a rule for each.
    keep
        Further column of the list; repeat it.
    every_row
        List all cases in their order, with the decision about each.
    label
        Column of the true labels, which gives the outcome of each case too; with --every-row.
    pos_label
        The positive label, where labels are not 0/1, -1/1 or true/false.
    output
        CSV file to write the list to; by default stdout.
    random_state
        Another number breaks ties differently.
    """
    opt.require_output(output, force=force)
    if label is not None and not every_row:
        raise InputError("--label", expected="--every-row too: only then outcomes are listed")
    rows.require(file, id=[id], keep=keep or [], segment=[segment], label=[label])
    import rocscope as rs

    read = rs.decisions.load_plan(plan)
    with attended(f"Reading {file}"):
        how = {"keep": keep, "every_row": every_row, "label": label, "pos_label": pos_label}
        found = applied(read, file, rows, id=id, score=score, segment=segment, random_state=random_state, **how)
    if json:
        print_json("apply", found.to_dict())
    elif output in (None, "-"):
        write_text(found.to_csv())
    if output not in (None, "-"):
        assert output is not None
        note(f"{found.note}: {found.save(output, force=force)}")
    else:
        note(f"{found.note}.")


def applied(
    plan: Any, file: str, rows: Any, *, id: Any, score: Any, segment: Any, keep: list[str] | None, **how: Any
) -> Any:
    """Return the list of cases of a file that a plan acts on."""
    _require_segment(plan, segment)
    return plan.apply(file, id, scores=_columns(score), segment=segment, keep=keep or [], **how, **rows.reading)


def _columns(score: list[str] | None) -> Any:
    """Return the columns of scores, by model where models are named."""
    named = [text.partition("=")[::2] for text in score or []]
    if any(column for _, column in named):
        return {model: column or model for model, column in named}
    return [column for column, _ in named]


def _require_segment(plan: Any, segment: str | None) -> None:
    if plan.by_segment and segment is None:
        raise InputError("--segment", expected="the column of the segments, which this plan needs", got="none")


def outcomes(
    plan: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    rows: opt.LayoutOptions = opt.LAYOUT,
    label: Annotated[str, Parameter(alias="-l", group=opt.COLUMNS)],
    id: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    acted: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    score: Annotated[list[str] | None, Parameter(alias="-s", group=opt.COLUMNS)] = None,
    segment: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    pos_label: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    level: float = 0.95,
    random_state: int = 0,
    json: opt.Json = False,
) -> None:
    """Hold what acting by a saved plan has brought against what it promised.

    Example: rocscope outcomes plan.json april_answers.csv --id client --label bought

    The file is the list that the plan was applied to, with outcomes where they are known.

    Parameters
    ----------
    label
        Column of the outcomes; empty where they are not known.
    id
        Column of the identifiers, whose hashes broke ties when the plan was applied.
    acted
        Column of who was acted on, or of the action of each, where that was not as planned; 'all' for a list of those
        alone.
    score
        Column of the scores, where it is called otherwise than the model; of several models, as in a=new_a.
    segment
        Column of the segments, for a plan with a rule for each.
    pos_label
        The positive outcome, where outcomes are not 0/1, -1/1 or true/false.
    level
        Confidence level of the intervals.
    random_state
        The number that was given to 'rocscope apply'.
    """
    others = [None if acted == "all" else acted]
    rows.require(file, label=[label], id=[id], segment=[segment], acted=others)
    import rocscope as rs

    read = rs.decisions.load_plan(plan)
    _require_segment(read, segment)
    how = {"label": label, "acted": acted, "pos_label": pos_label, "level": level, "random_state": random_state}
    found = read.outcomes(file, id, scores=_columns(score), segment=segment, **how, **rows.reading)
    if json:
        print_json("outcomes", found.to_dict())
        return
    lines = [("share of positives", found.rate.words, f"{found.promised_rate:.4g}")]
    lines += [("gain of acting", found.gain.words, f"{found.promised_gain:.6g}")]
    lines += [] if found.effect is None else [("effect on the share", found.effect.words, "")]
    headings = ("of the cases acted on", "achieved", "promised")
    print_rows(
        f"{found.known:,} outcomes of {found.acted:,} cases acted on, of {found.n:,}", headings, lines, left=headings
    )
    doubts = {each.reason for each in (found.gain, found.effect) if each is not None and each.reason}
    for doubt in sorted(doubts):
        note(f"Not reliable: {doubt}")


CAMPAIGN = Parameter(group=opt.CAMPAIGN)
_LAYOUT = ("decimal", "delimiter", "encoding", "table")
_HEADINGS = ("model", "size", "depth", "threshold", "profit", "of random mailing", "of a perfect model")
_OF_PLANS = ("profit", "contacts", "cases")
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
    subject_to: Annotated[list[str] | None, CAMPAIGN] = None,
    steps: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 10,
    id: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    select: str | None = None,
    apply_to: str | None = None,
    keep: Annotated[list[str] | None, Parameter(group=opt.COLUMNS)] = None,
    output: Annotated[str | None, opt.OUTPUT] = None,
    random_state: Annotated[int, CAMPAIGN] = 0,
    plot: opt.Plot = None,
    plot_width: opt.PlotWidth = 178,
    fail_if: opt.FailIf = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
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
    subject_to
        With --segment: what each segment keeps by itself, such as 'tpr >= 0.2' or 'cases >= 50'; repeat it.
    steps
        Rows of the table.
    id
        Column of the customers' identifiers, which break ties.
    select
        CSV file to write the customers to contact to; without --segment best first.
    apply_to
        With --select: file of the customers to choose from; by default those of the pilot, whose answers are known.
    keep
        With --select: further column of that list; repeat it.
    output
        File to write the plan to, as JSON, for 'rocscope apply'.
    random_state
        Another number breaks ties differently.
    fail_if
        Exit with code 1 where this holds: 'profit < 1000', 'profit < 0 at 90 %', 'contacts > 5000', 'auc < .7', …
    """
    gates = gates_of(fail_if, also=_OF_PLANS)
    check_figure(plot, plot_width, force=force)
    opt.require_output(select, force=force)
    opt.require_output(output, force=force)
    _require_list_options(select, id, apply_to, keep)
    if segment is None and (budget is not None or max_difference or subject_to):
        raise InputError("--budget, --max-difference, --subject-to", expected="--segment too", got="none")
    if segment is not None and plot is not None:
        raise InputError("--plot", expected="none with --segment", got=plot)
    named = opt.columns_of(unit_benefit=unit_benefit) | ({"groups": str(id)} if id and apply_to is None else {})
    rows.require(file, "label", "scores", segment=segment, **named)
    layout = opt.LayoutOptions(format=rows.format, **{name: getattr(rows, name) for name in _LAYOUT})
    if apply_to is not None:
        layout.require(apply_to, id=[id], keep=keep or [], segment=[segment])
    from rocscope.curves.profit_curve import Campaign
    from rocscope.decisions import allocate, plan_campaign

    planned = Campaign(population, unit_cost, unit_benefit, fixed_cost, response_rate, capacity)
    columns: dict[str, Any] = {"groups": id} if select and apply_to is None else {}
    if planned.context.columns:
        columns["columns"] = planned.context.columns
    shared = {} if segment is None else {"segment": segment}
    sample = rows.predictions(file, **columns, **shared) if columns else rows.sample(file, **shared)
    if segment is not None:
        plan: Any = allocate(
            sample, planned, budget=budget, max_difference=dict(map(_difference, max_difference or []))
        )
    else:
        plan = plan_campaign(sample, planned)
    judge = _CampaignJudge(sample, plan=plan)
    judged = judged_by(gates, plan.needs[:1] or plan.models[:1], judge.estimate)
    told = gates_json(judged) if gates else {}
    if segment is not None:
        _print_by_segment(plan, told, json=json)
    else:
        _print(plan, steps, told, json=json)
    if output == "-":
        write_text(plan.to_json())
    elif output is not None:
        note(f"Plan: {plan.save(output, force=force)}")
    if select:
        how: dict[str, Any] = {"segment": segment, "keep": keep, "random_state": random_state}
        _write_list(plan, sample, select, str(id), apply_to, layout, force=force, **how)
    if plot:
        drawn = write_figure(plot, lambda ax: _draw(ax, plan), plot_width, title="Profit", force=force)
        note(f"Figure: {drawn}")
    return outcome(judged)


@dataclass(frozen=True)
class _CampaignJudge(Judge):
    """What a campaign is judged by: its profit and contacts, and figures of the ranking."""

    plan: Any = None

    def estimate(self, condition: Any) -> Any:
        name, level = condition.quantity.lower(), condition.level
        if name not in _OF_PLANS:
            return super().estimate(condition)
        from rocscope.inference.estimate import Estimate

        single = hasattr(self.plan, "best")
        if name == "profit" and level is not None:
            if single:
                return self.plan.interval(level)
            cost = self.plan.interval(level).shifted(self.plan.fixed_cost)
            return replace(cost, value=-cost.value, low=-cost.high, high=-cost.low)
        row = self.plan.best.best if single else None
        cases = row.size if row is not None else float(self.plan.cases.sum())
        value = (row.profit if row is not None else self.plan.profit) if name == "profit" else cases
        return Estimate(value, nan, nan, level or 0.95, "as planned", len(self.plan.models))


def _require_list_options(select: str | None, id: str | None, apply_to: str | None, keep: list[str] | None) -> None:
    if (select is None) != (id is None):
        raise InputError("--select and --id", expected="both or neither", got="one of them")
    if select is None and apply_to is not None:
        raise InputError("--apply-to", expected="--select too, the file to write the list to", got="none")
    if apply_to is None and keep:
        raise InputError("--keep", expected="--apply-to too, or rocscope apply", got="none")


def _write_list(
    plan: Any, pilot: Any, path: str, id: str, apply_to: str | None, layout: Any, *, force: bool, **how: Any
) -> None:
    """Write the list of contacts, from new customers or from those of the pilot."""
    if apply_to is None:
        found = plan.apply(pilot, pilot.groups, random_state=how["random_state"])
        found = replace(found, columns={id: found.ids})
        said = "They are of the pilot, whose answers are known: choose among new customers with --apply-to FILE."
    else:
        found = applied(plan, apply_to, layout, id=id, score=None, **how)
        said = f"{found.note}."
    note(f"{len(found):,} customers: {found.save(path, force=force)}")
    note(said)


def _print(plan: Any, steps: int, told: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json("campaign", plan.to_dict(steps) | as_json(interval_of(plan)) | told)
    else:
        if len(plan.offers) > 1:
            print_rows("Models", _HEADINGS, map(_offer, plan.offers))
        print_rows(
            f"{plan.best.model}: profit by depth", _BY_DEPTH, map(_step, plan.curve.table(steps)), left=("model",)
        )

        print_interval(interval_of(plan), "profit", about(plan.best.best.profit))
        note(plan.verdict)


def _print_by_segment(found: Any, told: dict[str, Any], *, json: bool) -> None:
    """Print how a campaign is spread over segments."""
    if json:
        print_json("campaign", found.to_dict() | told)
        return
    frame = found.to_frame("pyarrow").to_pydict()
    shown = {"segment": ("segment", str), "rule": ("who", str), "cases": ("contacts", about)}
    shown |= {"tp": ("responders", about)} if found.amounts is None else {}
    shown |= {"depth": ("depth", "{:.2%}".format)}
    shown |= {"tpr": ("of all responders", "{:.2%}".format)} if found.amounts is None else {}
    lines = list(zip(*([write(each) for each in frame[name]] for name, (_, write) in shown.items()), strict=True))
    headings = tuple(heading for heading, _ in shown.values())
    print_rows("Contacts by segment", headings, lines, left=headings[:2])
    price = (
        f"; without bounds on segments {about(found.profit + found.price)}"
        if found.max_difference or found.subject_to
        else ""
    )
    note(f"Contact {about(found.cases.sum())} customers: profit {about(found.profit)}{price}.")


def _difference(text: str) -> tuple[str, float]:
    name, _, most = text.partition("=")
    try:
        return name.strip(), float(most)
    except ValueError:
        expected = "a rate and a number, such as tpr=0.05"
        raise InputError("--max-difference", expected=expected, got=repr(text)) from None


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
    from rocscope.plotting.curves import legend_below

    for (model, _), curve in plan.curves.items():
        curve.plot(ax, label=model)
    legend_below(ax)
