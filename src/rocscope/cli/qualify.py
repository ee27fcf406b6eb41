"""rocscope qualify: check this installation, and write the dossier that a validation team signs."""

from pathlib import Path
from typing import Annotated

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows


def qualify(
    *,
    output: Annotated[Path | None, opt.OUTPUT] = None,
    cases: int = 500,
    random_state: int = 0,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Check this installation against exact arithmetic, published values and changed decisions.

    Example: rocscope qualify -o dossier.html

    Exits with code 1 if any check fails.

    Parameters
    ----------
    output
        HTML file to write the dossier to.
    cases
        Samples drawn for each check.
    random_state
        Seed of the samples.
    """
    opt.require_output(None if output is None else str(output), force=force)
    from rocscope.report.qualification import qualify as checked

    found = checked(cases, random_state=random_state)
    if json:
        print_json("qualify", found.to_dict())
    else:
        rows = [[each.name, each.what, f"{each.cases:,}", f"{len(each.failures):,}"] for each in found.checks]
        print_rows("Qualification", ("check", "compared", "cases", "failures"), rows, left=("check", "compared"))
    for each in found.checks:
        for failure in each.failures[:5]:
            note(f"{each.name}: {failure}")
    if output is not None:
        note(f"Dossier: {found.save(output, force=force)}")
    return 0 if found.passed else 1
