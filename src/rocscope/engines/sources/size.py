"""Whether a source is so large that its rows should not be held."""

import os
from collections.abc import Iterator
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any

from rocscope.engines.sources.file_formats import FORMATS, find_files, format_of, is_pipe

MOST_ROWS = 5_000_000
"""More rows than this, where their number is known: in Parquet files."""
MOST_BYTES = 250_000_000
"""Or larger files than this, of other formats."""

_BYTES_OF_A_ROW = 16  # as text, a label and one score


def is_large(source: Any, *, format: str | None = None) -> bool:
    """Say whether files hold more than 5 million rows (Parquet) or 250 MB (other formats).

    Examples
    --------
    >>> is_large({"y": [0, 1]})
    False
    """
    if not isinstance(source, str | PathLike) or format not in (None, *FORMATS):
        return False
    place = os.fsdecode(source)
    if place == "-" or is_pipe(place):
        return False
    found = find_files(place, format)
    if (format or format_of(Path(found[0]))) == "parquet":
        return _exceeds(_rows(found), MOST_ROWS)
    return _exceeds((Path(path).stat().st_size for path in found), MOST_BYTES)


def rows_of_files(source: Any, *, format: str | None = None) -> int | None:
    """Return about how many rows files hold (of Parquet exactly), or None of what is in memory already.

    Examples
    --------
    >>> rows_of_files({"y": [0, 1]}) is None
    True
    """
    if isinstance(source, list | tuple):
        known = [rows_of_files(each, format=format) for each in source]
        return sum(each for each in known if each is not None)
    if not isinstance(source, str | PathLike):
        return None
    found = find_files(os.fsdecode(source), format)
    if (format or format_of(Path(found[0]))) == "parquet":
        return sum(_rows(found))
    return sum(Path(path).stat().st_size for path in found) // _BYTES_OF_A_ROW


def _rows(paths: list[str]) -> Iterator[int]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in paths:
        try:
            yield pq.read_metadata(path).num_rows
        except (OSError, pa.ArrowException):
            return  # whoever reads the file says what is wrong with it


def _exceeds(sizes: Iterator[int], most: int) -> bool:
    return any(total > most for total in accumulate(sizes))  # no file is looked at beyond the one that decides
