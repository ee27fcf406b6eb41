"""Whether a source is so large that its rows should not be held."""

import os
from collections.abc import Iterator
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any

from rocscope.engines.sources.finding import FORMATS, find_files, format_of, is_pipe

MOST_ROWS = 5_000_000
"""More rows than this, where their number is known: in Parquet files."""
MOST_BYTES = 250_000_000
"""Or larger files than this, of other formats."""


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
