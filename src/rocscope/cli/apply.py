"""rocscope apply: the list of the cases that a saved plan acts on, from new data without labels."""

from typing import Annotated, Any

from cyclopts import Parameter

from rocscope._base.progress import attended
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, write_text
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
    output: Annotated[str | None, opt.OUTPUT] = None,
    random_state: int = 0,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Apply a saved plan to new data, and write the list of the cases to act on, best first.

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
    output
        CSV file to write the list to; by default stdout.
    random_state
        Another number breaks ties differently.
    """
    opt.require_output(output, force=force)
    rows.require(file, id=[id], keep=keep or [], segment=[segment])
    import rocscope as rs

    read = rs.decisions.load_plan(plan)
    with attended(f"Reading {file}"):
        found = applied(read, file, rows, id=id, score=score, segment=segment, keep=keep, random_state=random_state)
    if json:
        print_json("apply", found.to_dict())
    elif output in (None, "-"):
        write_text(found.to_csv())
    if output not in (None, "-"):
        assert output is not None
        note(f"{found.note}: {found.save(output, force=force)}")
    else:
        note(f"{found.note}.")


def applied(plan: Any, file: str, rows: Any, *, id: Any, score: Any, segment: Any, keep: Any, random_state: int) -> Any:
    """Return the list of the cases of a file that a plan acts on."""
    named = [text.partition("=")[::2] for text in score or []]
    if any(column for _, column in named):
        scores: Any = {model: column or model for model, column in named}
    else:
        scores = [column for column, _ in named]
    if plan.by_segment and segment is None:
        raise InputError("--segment", expected="the column of the segments, which this plan needs", got="none")
    how = {"scores": scores, "segment": segment, "keep": keep or [], "random_state": random_state}
    return plan.apply(file, id, **how, **rows.reading)
