"""Check the columns of a Spark DataFrame, and translate its errors into one line."""

import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rocscope.engines.counting import Question
from rocscope.engines.sources.arrow import ArrowColumns
from rocscope.engines.sources.column_names import given, models_of, require_columns
from rocscope.engines.sources.source import Stream, condense
from rocscope.engines.spark.tasks import Layout
from rocscope.errors import EngineError, InputError, LabelError, MissingDependencyError, ScoreError, WeightError

ORIGIN = "Spark DataFrame"

_changing = threading.Lock()  # or one thread would restore what another one had set for a while

_NUMBERS = {
    "boolean": "uint8",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
}
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_SEGMENTS = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "date": pa.date32(),
}
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_EXACT_DIGITS = 15  # of decimals that stay distinct, and in order, as float64
_LONG_DIGITS = 18  # 10¹⁸ < 2⁶³: whole numbers that a bigint holds

_HINTS = {
    "vector": "take one element out first: pyspark.ml.functions.vector_to_array(column)[1]",
    "array": "take one element out first: column[1]",
    "decimal": "cast it to double or bigint first, if that loses nothing that matters",
    "string": "cast it to double first",
}


@dataclass(frozen=True)
class SparkColumns:
    """Column names of a DataFrame."""

    columns: list[str]
    origin: tuple[str, ...] = (ORIGIN,)


@dataclass(frozen=True)
class Input:
    """The columns used, with the names that workers use, and how to read them.

    Attributes
    ----------
    models : mapping from model to the name of the type of its scores in NumPy
    segment : name of the type of the segments in Spark, or None
    columns : mapping from what the workers call a column to what its owner calls it
    """

    frame: Any
    layout: Layout
    models: Mapping[str, str]
    segment: str | None
    columns: Mapping[str, str]

    def subject(self, name: str) -> str:
        """Return a column's name for messages."""
        return f"{name.rstrip('0123456789')} {self.columns[name]!r} of {ORIGIN}"


def open_input(frame: Any, question: Question) -> Input:
    """Check the question against the columns' types, and select what is needed."""
    from pyspark.sql import functions

    if question.where is not None:
        frame = frame.filter(question.where)
    types = frame.dtypes
    named = SparkColumns([name for name, _ in types])
    models = models_of(named, "scores", question.scores)
    columns = {"label": given(named, "label", question.label)}
    columns |= {f"score{i}": column for i, column in enumerate(models.values())}
    columns |= {name: str(getattr(question, name)) for name in ("weight", "segment") if getattr(question, name)}
    for name, column in columns.items():
        require_columns(named, [column], name.rstrip("0123456789"))
    kinds = {name: dict(types)[column] for name, column in columns.items()}
    wanted = {name: _type_of(name, columns[name], kind) for name, kind in kinds.items()}
    selected = [
        functions.col("`{}`".format(column.replace("`", "``"))).cast(wanted[name]).alias(name)
        for name, column in columns.items()
    ]
    segment = wanted.get("segment")
    layout = Layout(
        models=len(models),
        weighted="weight" in columns,
        segment=None if segment is None else _SEGMENTS[segment],
        pos_label=question.pos_label,
        drop=question.missing == "drop",
    )
    dtypes = {model: _NUMBERS[wanted[f"score{i}"]] for i, model in enumerate(models)}
    return Input(frame.select(*selected), layout, dtypes, segment, columns)


def _type_of(name: str, column: str, kind: str) -> str:
    """Return the type in which workers receive a column: its own, except for decimals that fit another type exactly."""
    role = name.rstrip("0123456789")
    family = re.split(r"[(<]", kind)[0]
    exact = _without_decimals(kind)
    allowed, expected, error = {
        "label": ((*_NUMBERS, "string", "date"), "numbers, text or truth values", LabelError),
        "score": (_NUMBERS, "numbers of at most 64 bits", ScoreError),
        "weight": (_WHOLE, "whole numbers, which are counted exactly", WeightError),
        "segment": (_SEGMENTS, "text, whole numbers or dates", InputError),
    }[role]
    if exact in allowed:
        return exact
    hint = _HINTS.get(family, "")
    if role == "weight" and exact in _NUMBERS:
        hint = "scale them to whole numbers and cast to bigint"
    elif role == "segment":
        hint = "cast it to string first"
    raise error(f"{role} {column!r} of {ORIGIN}", expected=expected, got=f"values of type {kind}", hint=hint)


def _without_decimals(kind: str) -> str:
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is None:
        return kind
    digits, places = int(decimal[1]), int(decimal[2])
    if places == 0 and digits <= _LONG_DIGITS:
        return "bigint"
    return "double" if places > 0 and digits <= _EXACT_DIGITS else kind


def map_arrow(frame: Any, function: Any, columns: Mapping[str, pa.DataType]) -> Any:
    """Return `frame.mapInArrow(function)` without Spark's warnings about pandas, which is not used."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    schema = StructType([StructField(name, from_arrow_type(kind)) for name, kind in columns.items()])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(function, schema)


class Fetched(ArrowColumns):
    """Columns fetched to the driver, restricted to the requested rows."""

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:  # noqa: ARG002 (Spark left only these)
        """Yield the named columns in batches."""
        return super().stream(names)


def fetched(data: Input) -> Fetched:
    """Fetch the columns to the driver."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        to_arrow = getattr(data.frame, "toArrow", None)  # since Spark 4
        table = to_arrow() if to_arrow else pa.Table.from_batches(data.frame._collect_as_arrow())
    found = {column: table.column(name) for name, column in data.columns.items()}
    return Fetched((ORIGIN,), list(found), lambda names: pa.table({name: found[name] for name in names}))


@contextmanager
def setting(session: Any, name: str, value: str) -> Iterator[None]:
    """Change a session's setting temporarily."""
    with _changing:
        before = session.conf.get(name)
        session.conf.set(name, value)
        try:
            yield
        finally:
            session.conf.set(name, before)


def require_running(frame: Any) -> None:
    """Raise EngineError if the DataFrame's session has stopped."""
    session = frame.sparkSession
    connected = getattr(session, "is_stopped", None)
    stopped = session.sparkContext._jsc is None if connected is None else connected
    if stopped:
        hint = "start a new one and make the DataFrame again"
        raise EngineError(ORIGIN, expected="a running Spark session", got="one that was stopped", hint=hint)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Convert Spark's errors to one line."""
    from pyspark.errors import PySparkException

    py4j: Any = sys.modules.get("py4j.protocol")  # a client that is only connected has none
    errors = (PySparkException, ConnectionError, *([] if py4j is None else [py4j.Py4JError]))
    try:
        yield
    except ImportError as error:
        hint = "pip install 'rocscope[spark]'"
        raise MissingDependencyError(f"{ORIGIN}: {_condensed(str(error))}", hint=hint) from None
    except errors as error:
        raise EngineError(f"{ORIGIN}: {_condensed(str(error))}") from None


def _condensed(message: str) -> str:
    """Return the informative line of a Spark error.

    Examples
    --------
    >>> _condensed("[PARSE_SYNTAX_ERROR] Syntax error at or near '>'. SQLSTATE: 42601 (line 1, pos 4)\\n\\n== SQL ==")
    "Syntax error at or near '>'. (line 1, pos 4)"
    >>> _condensed("An exception was thrown from the Python worker:\\nTraceback\\n  File x\\nZeroDivisionError: oh\\n")
    'ZeroDivisionError: oh'
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["no message"]
    if any(line.startswith("Traceback") for line in lines):
        line = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)), "")
        missing = re.search(r"No module named '(\w+)", line)
        if missing:
            page = "docs/guide/engines/spark.md"
            return f"its Python workers have no {missing[1]}; see {page} on how to ship rocscope to them"
        line = line or lines[-1]
    else:
        line = next((line for line in lines if not line.startswith("An error occurred while calling")), lines[0])
    line = re.sub(r"^: (?:[\w$]+\.)+[\w$]+: ", "", line)
    line = re.sub(r"^\[[A-Z_.0-9]+\] ", "", line)
    return condense(re.sub(r" SQLSTATE: \w{5};?", "", line))
