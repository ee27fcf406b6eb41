"""read_counts: count any source with the engine that suits it; Question: what an engine is asked."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope._base.progress import Progress, Tell, reporting, unreported
from rocscope.core.context import Context
from rocscope.core.predictions import CountedModels
from rocscope.engines.columns import MISSING
from rocscope.engines.formats import AS_IT_TELLS, FileFormat, FileLayout, Scores
from rocscope.errors import InputError
from rocscope.segments.segmented_counts import SegmentedCounts

BY_ROWS = "make what is at stake a weight and whether acting gains the label, or read the rows with rocscope.read"


@dataclass(frozen=True)
class Question:
    """The arguments of `read_counts` as given.

    Attributes
    ----------
    memory : bytes, or None where nothing was said
    progress : function of the rows done and of all rows (None where unknown)
    """

    label: str | None
    scores: Scores | None
    weight: str | None = None
    where: str | None = None
    segment: str | None = None
    pos_label: Any = None
    missing: str = "error"
    layout: FileLayout = AS_IT_TELLS
    memory: int | None = None
    progress: Tell = unreported
    tol: float | None = None
    context: Context | None = None

    def refuse(self, origin: str, **hints: str) -> None:
        """Raise InputError for arguments that do not apply to an engine, with hints.

        Examples
        --------
        >>> Question("y", "score", memory=9).refuse("Spark DataFrame", memory="Spark has its own")
        Traceback (most recent call last):
        rocscope.errors.InputError: memory: expected none for a Spark DataFrame, got 9; Spark has its own
        """
        self.layout.refuse(f"a {origin}")
        for name, hint in hints.items():
            given = getattr(self, name)
            if given is not None:
                raise InputError(name, expected=f"none for a {origin}", got=repr(given), hint=hint)


def bar_of(source: Any) -> str:
    """Return the text of the progress bar for a source."""
    return f"Reading {fspath(source)}" if isinstance(source, str | PathLike) else "Reading"


SHARE = 0.5
"""Share of the free memory that rows may take by default."""

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_LEAST = 1 << 20  # bytes: a megabyte is always there
_UNKNOWN = 4 << 30  # bytes that are taken to be free where no system tells: a choice


def memory_limit(memory: int | str | None) -> int:
    """Parse a memory limit: a number of bytes, a text such as "2 GB", or None for half of the free memory.

    Examples
    --------
    >>> memory_limit("1.5 GB") == 3 * 2**29
    True
    """
    if memory is None:
        return max(int(available() * SHARE), _LEAST)
    if isinstance(memory, str) and (found := re.fullmatch(r"([\d.]+)\s*([kmgt]?)(?:i?b)?", memory.strip(), re.I)):
        with suppress(ValueError):
            memory = int(float(found[1]) * _UNITS[found[2].lower()])
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise InputError("memory", expected="bytes, or a text such as '2 GB'", got=repr(memory))
    return memory


def available() -> int:
    """Return the bytes available without swapping, as reported by the system."""
    found = [free for free in (_of_machine(), _of_group()) if free is not None]
    return min(found, default=_UNKNOWN)


def _of_machine() -> int | None:
    facts = Path("/proc/meminfo")
    if facts.exists() and (line := re.search(r"MemAvailable:\s*(\d+) kB", facts.read_text())):
        return int(line[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _of_group() -> int | None:
    """Return the remaining memory of the container."""
    try:
        most = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
    except OSError:
        return None
    return max(int(most) - int(used), 0) if most.isdigit() and used.isdigit() else None


def _is_spark(source: Any) -> bool:
    return type(source).__module__.startswith("pyspark.sql.") and type(source).__name__ == "DataFrame"


def _is_relation(source: Any) -> bool:
    return type(source).__name__ == "DuckDBPyRelation"


def _is_lazy(source: Any) -> bool:
    """Return whether rows are stored or computed elsewhere, so that counting there is cheaper than fetching them."""
    if isinstance(source, str | PathLike | list | tuple):
        return False
    import narwhals as nw

    narwhal = nw.from_native(source, pass_through=True)
    return isinstance(narwhal, nw.LazyFrame) and narwhal.implementation is not nw.Implementation.DUCKDB


_ENGINES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (_is_spark, "spark:count"),
    (_is_relation, "sql:count_of_relation"),
    (_is_lazy, "sql:count"),
)
"""Sources of an engine, and its module, whose `count(source, question)` returns a CountedModels.

The first that fits answers; sources that none is for are streamed column by column (`streaming`)."""


def _in_money(context: Context | None) -> Context | None:
    """Return a context in which rows can be counted batch by batch."""
    if context is None:
        return None
    context = Context.given(context)
    if not context.columns:
        expected, hint = "a cost that is a column of the rows", "counts of rows take any other: choose(counts, context)"
        raise InputError("context", expected=expected, got=repr(context), hint=hint)
    return context


@contract
def read_counts(
    source: Any,
    *,
    label: str | None = None,
    scores: Scores | None = None,
    weight: str | None = None,
    where: str | None = None,
    segment: str | None = None,
    pos_label: Any = None,
    missing: Literal["error", "drop"] = "error",
    format: FileFormat | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    memory: int | str | None = None,
    progress: Progress = None,
    tol: float | None = None,
    context: Context | None = None,
) -> CountedModels | SegmentedCounts:
    """Count positives and negatives by distinct score, for each model, without keeping the rows.

    Parameters
    ----------
    source, label, scores, weight, where, pos_label, missing : see `rocscope.read`
    format, decimal, delimiter, encoding, table : see `rocscope.read`
    segment : str, optional
        Column of groups that are counted apart.
    memory : int or str, optional
        What ranked rows may take, in bytes or as in ``"2 GB"``; half of what is free by default. Beyond it they go to
        a temporary file and stay there, part by part, as long as the counts are used. The rest takes some 300 MB.
    progress : bool, None or function
        None or True: after a second a bar on stderr, where that is a terminal, with rows, rows a second and the time
        left; False: none; a function is called now and then with (rows done, rows in all or None where not known).
    tol : float, optional
        For tables of a database and lazy frames with very many distinct scores: count them in ranges that leave at
        most this much of the AUC open, as `BinnedCounts`. Other sources are counted exactly, whatever it is.

    context : Context, optional
        Costs; at least one is the name of a column: rows are counted in money, as
        `rocscope.decisions.in_money` describes it. A target prevalence takes a first pass, which adds up the
        classes. A Spark DataFrame takes none.

    Returns
    -------
    dict from model to ThresholdCounts
        Its ``.source`` states where the rows came from and how many were left out.
    SegmentedCounts, or a dict from model to it where there are several, where `segment` is given
        A mapping from segment to ThresholdCounts, and arrays by segment; see `rocscope.segments.SegmentedCounts`.

    Raises
    ------
    ColumnError, EngineError, LabelError, ScoreError, WeightError, InputError, MissingDependencyError
        As `rocscope.read` does. EngineError also where there is no room for the temporary file.

    Notes
    -----
    Exact: the counts equal those of `rocscope.read`, scores keep their type, and no row is kept but as what is sorted.
    For each model that is one integer a row as wide as the score, 4 bytes for float32; with `weight`, score and
    weight, and three times as much while they are ranked. Parquet files are read by Arrow, group of rows by group of
    rows on all cores; other files, and any with `where`, by DuckDB.

    The temporary file (in ``TMPDIR``) has no name, so that nothing is left of it however the process ends. Scores of
    which there are many in the first rows are counted there without taking any room. From counts on disk, areas, hulls,
    single points and summaries are computed in passes over the file; arrays such as ``.tp`` are made in memory.

    See docs/guide/engines/large-files.md for time and memory.

    A Spark DataFrame is counted on its cluster, in one shuffle. A model of more than 100,000 distinct scores comes back
    from there as `BinnedCounts` whose area, hull and choices by cost are exact.

    Examples
    --------
    >>> rows = {"y": [1, 1, 0, 1, 0], "a": [0.9, 0.6, 0.4, 0.4, 0.2], "region": ["n", "n", "s", "s", "n"]}
    >>> read_counts(rows, label="y", scores="a")
    {'a': ThresholdCounts(n_pos=3, n_neg=2, levels=4)}
    >>> read_counts(rows, label="y", scores="a", segment="region")["s"]
    ThresholdCounts(n_pos=1, n_neg=1, levels=1)
    """
    check.check_choice("missing", missing, MISSING)
    limit = None if memory is None else memory_limit(memory)
    engine = next((module for is_mine, module in _ENGINES if is_mine(source)), "streaming:count")
    module, function = engine.split(":")
    count = getattr(import_module(f"rocscope.engines.{module}"), function)
    with reporting(progress, bar_of(source), "rows") as report:
        layout = FileLayout(format, decimal, delimiter, encoding, table)
        asked = Question(
            label, scores, weight, where, segment, pos_label, missing, layout, limit, report, tol, _in_money(context)
        )
        return count(source, asked)
