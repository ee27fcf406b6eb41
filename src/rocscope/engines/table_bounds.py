"""Find the table in a text file or sheet that also has titles, sep= lines, comments or totals.

The column names are in the first row that has a name for most columns. The row below must have the same number of
cells, and all rows above must have fewer cells. If the last row does not belong to the table, an error asks for
`skip_footer`. The open page has the same rules in `csv.ts`.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from rocscope import errors
from rocscope.engines import numerals

_SEARCHED = (
    60  # number of rows that are searched for names: a choice, several times the rows above a table in usual exports
)
_SEP = re.compile("sep=(.)\r?\n", re.IGNORECASE)
TOTALS = (
    r"^(grand |sub)?(totals?|totale|total g[eé]n[eé]ral|totaal|sum|summe|gesamt|gesamtsumme"
    r"|gesamtergebnis|insgesamt|somme|suma|razem|summa|i alt|yhteensä):?$"
)
"""Words that mark a row of totals."""


@dataclass(frozen=True)
class TableBounds:
    """Number of lines above the column names, the delimiter (None if not known), and the first rows of the table."""

    above: int
    delimiter: str | None
    rows: Sequence[Sequence[str]]


def rows_of(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the first rows of a text, and for each row the number of lines above it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    above = [0]
    try:
        for row in islice(reader, _SEARCHED):
            rows.append(row)
            above.append(reader.line_num)
    except csv.Error:
        pass
    return rows, above


def names_row(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the index of the row with the column names. Return None if there is no such row.

    Examples
    --------
    >>> names_row([["May 2024", ""], ["", ""], ["bought", "score"], ["1", "0.9"]])
    2
    """
    most_above = 0
    for number, row in enumerate(rows):
        named = sum(1 for cell in row if cell.strip())
        below = next((other for other in rows[number + 1 :] if any(map(str.strip, other))), row)
        is_table = 2 * named > len(row) > 1 and named > most_above and len(below) == len(row)
        if is_table and not (number and any(numerals.is_numeral(cell) for cell in row)):
            return number
        if not (row and row[0].startswith("#")):
            most_above = max(most_above, named)
    return None


def bounds_of(text: str, delimiters: str) -> TableBounds:
    """Find the column names and the delimiter of the table in a text."""
    separator = _SEP.match(text)
    if separator is not None:
        return TableBounds(1, separator[1], rows_of(text, separator[1])[0][1:])
    best = TableBounds(0, None, rows_of(text, delimiters[0])[0])
    most = (False, 1, False)
    for delimiter in delimiters:
        rows, above = rows_of(text, delimiter)
        place = names_row(rows)
        if place is None:
            continue
        # If a delimiter splits all rows into the same number of fields, there are no rows above the names.
        is_even = place == 0 and all(len(row) in (0, len(rows[0])) for row in rows)
        merit = (is_even, len(rows[place]), place == 0)
        if merit > most:
            most = merit
            best = TableBounds(above[place], delimiter if place else None, rows[place:])
    return best


def require_names(rows: Sequence[Sequence[str]], name: str) -> None:
    """Raise EngineError if the first row contains data: a fraction, and no text that could be a column name."""
    first = [cell.strip() for cell in rows[0]] if rows else []
    if not any(re.search("[.,%]", cell) and numerals.is_numeral(cell) for cell in first):
        return
    texts = {place: cell for place, cell in enumerate(first) if cell and not numerals.is_numeral(cell)}
    others = [row for row in rows[1:] if len(row) == len(first)]
    recurring = any(row[place].strip() == cell for place, cell in texts.items() for row in others)
    if recurring or not texts or any(re.search("[0-9]", cell) for cell in texts.values()):
        hint = "add a row of names, or pass header=False (--no-header) to use the names column1, column2 and so on"
        got = f"the values {errors.listing(first)}"
        raise errors.EngineError(name, expected="column names in the first row", got=got, hint=hint)


def refuse_totals(rows: Sequence[Sequence[str]], width: int, name: str, delimiter: str = ", ") -> None:
    """Raise EngineError if the last row is a row of totals or has another number of cells than the table."""
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    if len(filled) < 2:
        return
    last = filled[-1]
    places = [place for place, cell in enumerate(last) if re.match(TOTALS, cell.strip().lower())]
    earlier = [row[place] for place in places for row in filled[:-1] if place < len(row)]
    is_total = places and not any(re.match(TOTALS, cell.strip().lower()) for cell in earlier)
    if is_total or (len(last) != width and len(filled[-2]) == width):
        expected, got = "data in the last row", repr(delimiter.join(last))
        hint = "pass skip_footer=1 (--skip-footer 1) to skip this row, or skip_footer=0 to keep it"
        raise errors.EngineError(name, expected=expected, got=got, hint=hint)
