"""Source: named columns that can be fetched as Arrow data from any storage."""

import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import pyarrow as pa

from rocscope._base.columns import WHOLE_OF_64_BITS
from rocscope.errors import EngineError, MissingDependencyError, ShapeError

_LONGEST = 300  # characters of a library's message: a choice
_ANOTHER_ENCODING = "name its encoding: encoding='latin-1' (--encoding)"
_EXTRAS = ("pandas", "polars")
_ERRORS_OF_LIBRARIES = (
    ("duckdb", "Error"),
    ("sqlite3", "Error"),
    ("narwhals.exceptions", "NarwhalsError"),
    ("polars.exceptions", "PolarsError"),
    ("ibis.common.exceptions", "IbisError"),
    ("psycopg", "Error"),
    ("deltalake.exceptions", "DeltaError"),
)


BATCH_ROWS = 1 << 17
"""Rows per batch: few enough for the cache, many enough to hide Python's overhead."""


@dataclass(frozen=True)
class Stream:
    """Columns in batches.

    Attributes
    ----------
    schema : pyarrow.Schema
    pieces : iterable of functions without arguments
        Each iterates over the tables of one piece of the source, in order; pieces may be read at the same time.
    rows : int or None
        How many there are, where that is known beforehand.
    """

    schema: pa.Schema
    pieces: Iterable[Callable[[], Generator[pa.Table]]]
    rows: int | None = None


def stream_table(table: pa.Table) -> Stream:
    """Yield a table in batches."""

    def batch(start: int) -> Generator[pa.Table]:
        yield table.slice(start, BATCH_ROWS)

    pieces = (partial(batch, start) for start in range(0, table.num_rows, BATCH_ROWS))
    return Stream(table.schema, pieces, table.num_rows)


class WrongGuessError(Exception):
    """A later row does not have the type guessed from the first rows."""


class Source(Protocol):
    """Rows with named columns.

    Attributes
    ----------
    origin : tuple of str
        The files, or what else holds the rows.
    columns : sequence of str
        Their names as they are written there, which may repeat.
    decimal : str
        Where every value was written as text, as in a CSV file: the decimal mark of numbers; else nothing.
    """

    origin: tuple[str, ...]
    columns: Sequence[str]
    decimal: str

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        ...

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the same in batches, so that not all rows are in memory at once."""
        ...


def no_rows(origin: str, where: str | None = None) -> ShapeError:
    """Return the error for a source without rows, or without any that satisfy the condition."""
    return ShapeError(origin, expected="at least one row", got="none" if where is None else f"none where {where}")


def no_complete_rows(origin: str, rows: int) -> ShapeError:
    """Return the error for a source whose rows would all be dropped."""
    return ShapeError(origin, expected="a row without missing or infinite values", got=f"none of {rows}")


def mentioned(columns: Sequence[str], where: str) -> list[str]:
    """Return the columns whose names occur in a condition, which include those that it uses."""
    text = where.replace('""', '"').casefold()
    return [name for name in dict.fromkeys(columns) if name.casefold() in text]


@contextmanager
def one_line_errors(subject: str) -> Iterator[None]:
    """Convert errors of DuckDB, Arrow, narwhals and the system to one line that names the subject."""
    try:
        yield
    except OSError as error:
        raise EngineError(f"{subject}: {error.strerror or condense(str(error))}") from None
    except UnicodeDecodeError as error:
        got = f"byte {error.object[error.start]:#04x} at position {error.start}"
        name = error.encoding.upper()
        raise EngineError(subject, expected=f"{name} text", got=got, hint=_ANOTHER_ENCODING) from None
    except OverflowError as error:
        hint = "make them floats if they are not exact"
        raise EngineError(subject, expected=WHOLE_OF_64_BITS, got=condense(str(error)), hint=hint) from None
    except _library_errors() as error:
        hint = _ANOTHER_ENCODING if re.search("(?i)unicode|utf-8", str(error)) else ""
        raise EngineError(f"{subject}: {condense(str(error))}", hint=hint) from None
    except ModuleNotFoundError as error:
        hint = f"pip install 'rocscope[{error.name}]'" if error.name in _EXTRAS else f"pip install {error.name}"
        raise MissingDependencyError(f"{subject}: {error.name} is not installed", hint=hint) from None


def _library_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of the libraries loaded so far; evaluated only when something was raised.

    RuntimeError is among them because older DuckDB lets those of its Parquet reader through.
    """
    found = (getattr(sys.modules.get(module), name, None) for module, name in _ERRORS_OF_LIBRARIES)
    return pa.ArrowException, RuntimeError, *(error for error in found if error is not None)


def condense(message: str) -> str:
    """Return the informative line of a multi-line message.

    Examples
    --------
    >>> condense('Binder Error: Column "scor" not found!\\nCandidate bindings: "score"\\n\\nLINE 1: SELECT ...')
    'Column "scor" not found! Candidate bindings: "score"'
    >>> condense("Input Error: CSV Error on Line: 3\\nOriginal Line: 0,1,7\\nToo many columns\\nPossible fixes:\\n*")
    'line 3: Too many columns'
    """
    facts = re.split(r"\n\s*(?:Possible |LINE \d|The search space )", message)[0]
    lines = [line.strip() for line in facts.splitlines() if line.strip()] or [""]
    if "state machine" in lines[0]:
        return "not a CSV file, or one with line ends of two kinds"
    lines[0] = re.sub(r"^(?:[A-Z]\w*[ -])+Error: ", "", lines[0])
    if at_line := re.match(r"CSV Error on Line: (\d+)", lines[0]):
        line = f"line {at_line[1]}: {lines[-1]}"
    else:
        line = " ".join(lines[:3])
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
