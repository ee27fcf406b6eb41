"""A source with one column more: what a function makes of its scores."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.rows import brief
from rocscope.engines.sources import columns
from rocscope.engines.sources.column_names import require_columns
from rocscope.engines.sources.file_formats import AS_IT_TELLS, FileLayout
from rocscope.engines.sources.opening import open_source
from rocscope.errors import InputError, ScoreError


def add_column(
    source: Any,
    function: Callable[[Array], Array],
    *,
    score: str,
    name: str,
    where: str | None = None,
    layout: FileLayout = AS_IT_TELLS,
) -> pa.Table:
    """Return all columns of a source, and a last one computed from the scores.

    Parameters
    ----------
    source, where : see `rocscope.read`
    layout : how the source is written
    function : from an array of scores to an array of as many values
    score, name : str
        The column of scores, and what the new one is called.

    Raises
    ------
    ColumnError
        If the column of scores is not there.
    InputError
        If there is a column of the new name already.
    ScoreError
        If a score is missing, infinite or no number.

    Examples
    --------
    >>> add_column({"m": [1, 2]}, lambda scores: scores / 2, score="m", name="half").to_pydict()
    {'m': [1, 2], 'half': [0.5, 1.0]}
    """
    with open_source(source, layout) as opened:
        require_columns(opened, [score], "score")
        if name in opened.columns:
            raise InputError(f"{brief(opened.origin)} has a column {name!r} already", hint="choose another name")
        table = opened.fetch(list(dict.fromkeys(opened.columns)), where)
        subject = f"score {score!r} of {brief(opened.origin)}"
        scores = columns.numbers(table.column(score), subject, ScoreError, decimal=opened.decimal)
    if scores.missing is not None:
        got = check.count_and_first(scores.missing, "missing or infinite")
        raise ScoreError(subject, expected="a finite value in every row", got=got)
    return table.append_column(name, pa.array(function(scores.values)))
