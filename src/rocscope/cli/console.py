"""Where output goes: data to stdout; progress, warnings and errors to stderr."""

import json
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from rocscope import __version__

JSON_VERSION = 1


def print_json(command: str, content: dict[str, Any]) -> None:
    """Print one JSON object that names its version and the command that made it."""
    header = {"rocscope": __version__, "version": JSON_VERSION, "command": command}
    json.dump(header | content, sys.stdout, ensure_ascii=False, allow_nan=False, indent=1)
    sys.stdout.write("\n")


def print_table(table: Table) -> None:
    """Print a table on stdout, as wide as it needs where stdout is no terminal; its title is one line of its own."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(200, console.width), no_color=True)
    title, table.title = table.title, None
    if title:
        console.print(title, markup=False, highlight=False, soft_wrap=True)
    console.print(table)


def markdown_table(headings: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table, its first column to the left."""

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    rule = ["---", *("---:" for _ in headings[1:])]
    return "\n".join([line(headings), line(rule), *(line(row) for row in rows)])


def note(message: str) -> None:
    """Say something on stderr."""
    Console(stderr=True, soft_wrap=True).print(message, markup=False, highlight=False)
