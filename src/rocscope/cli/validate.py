"""rocscope validate: what a file holds, before anything is computed from it."""

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_table


def validate(
    file: opt.File,
    label: opt.Label = None,
    score: opt.Scores = None,
    where: opt.Where = None,
    file_format: opt.Format = None,
    json: opt.Json = False,
) -> None:
    """Show what a file holds: rows, classes, missing values, distinct scores and ties, probabilities or not.

    Example: rocscope validate scores.csv
    """
    from rich.table import Table
    from rich.text import Text

    from rocscope.engines import describe

    description = describe(file, label=label, scores=score or None, where=where, format=file_format)
    if json:
        print_json("validate", description.to_dict())
        return
    heading, *rows = description.table()
    table = Table(title=f"{file}: {description.rows:,} rows", title_justify="left")
    for name in heading:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    print_table(table)
    for problem in description.problems:
        note(problem)
