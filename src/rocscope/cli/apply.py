"""rocscope apply and outcomes: the list of the cases that a saved plan acts on, and what acting on them has brought."""

from typing import Annotated, Any

from cyclopts import Parameter

from rocscope._base.progress import attended
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows, write_text
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
