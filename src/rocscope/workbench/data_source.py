"""DataSource: rows that the workbench reads again for each filter, with `rocscope.read` or `read_counts`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from rocscope.core.predictions import Predictions
from rocscope.engines.counting import memory_limit, read_counts
from rocscope.engines.reading import read
from rocscope.engines.sources.database import require_condition
from rocscope.engines.sources.file_formats import FileLayout, rows_of_files
from rocscope.engines.sources.opening import open_source
from rocscope.engines.sources.parquet import ParquetFiles
from rocscope.errors import InputError
from rocscope.workbench.request_queue import CancelToken

SHARE_OF_MEMORY = 5
"""Rows are kept in memory if they take at most this share of the limit, since filtering copies them."""


@dataclass(frozen=True)
class DataSource:
    """What is read, and the roles of its columns.

    Attributes
    ----------
    name : str
        What its models are called after, where there are several sources.
    source : file, frame or columns
    options : dict
        The arguments of `rocscope.read` that stay the same.
    where : str or None
        A condition on all rows.
    columns : list of str
        By which the rows can be split.
    held : bool
        Whether rows are held in memory between questions, or only counted.
    size : int or None
        About how many rows there are, where files tell.
    """

    name: str
    source: Any
    options: dict[str, Any]
    where: str | None = None
    columns: list[str] = field(default_factory=list)
    held: bool = True
    size: int | None = None

    @classmethod
    def of(
        cls, name: str, source: Any, *, where: str | None = None, memory: Any = None, **options: Any
    ) -> "DataSource":
        """Return a data source of anything that `rocscope.read` takes, or of Predictions.

        Raises
        ------
        InputError
            If it can be read only once, as standard input.
        """
        if isinstance(source, Predictions):
            return _of_predictions(name, source, where, options)
        if source == "-" or callable(getattr(source, "read", None)):
            raise InputError("source", expected="a file or a frame: it is read at every question", got="a stream")
        layout = FileLayout(*(options.get(each) for each in FileLayout.__dataclass_fields__))
        size = rows_of_files(source, format=layout.format)
        with open_source(source, layout) as opened:
            made = cls(name or _name_of(source), source, options, where, list(opened.columns), size=size)
            if memory is not None or not made._fits():
                return replace(made, held=False)
            return replace(made, source=opened.held()) if isinstance(opened, ParquetFiles) else made

    def _fits(self) -> bool:
        return self.size is None or self.size * 8 * (len(self.models) + 2) * SHARE_OF_MEMORY <= memory_limit(None)

    @property
    def by(self) -> str | None:
        """Default segment column."""
        return self.options.get("segment")

    def filters(self, where: str | None) -> str | None:
        """Combine the condition on all rows with another one."""
        if not (self.where and where):
            return where or self.where
        require_condition(where)
        return f"({self.where}\n) AND ({where}\n)"

    def rows(self, where: str | None, by: str | None) -> Predictions:
        """Return the rows that satisfy a condition, with the segment column."""
        options: dict[str, Any] = self.options | ({"segment": by} if by else {})
        return read(self.source, where=self.filters(where), **options)

    def counts(self, where: str | None, by: str | None, token: CancelToken) -> Mapping[str, Any]:
        """Return the counts of these rows without keeping them, by model, and by segment if split."""
        options = {name: value for name, value in self.options.items() if name not in ("fold", "groups", "segment")}
        found: Any = read_counts(self.source, where=self.filters(where), segment=by, progress=token, **options)
        return {self.models[0]: found} if by is not None and len(self.models) == 1 else found

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        scores = self.options.get("scores")
        return [scores] if isinstance(scores, str) else list(scores or ())


def _of_predictions(name: str, preds: Predictions, where: str | None, options: dict[str, Any]) -> DataSource:
    for option, value in options.items():
        if value is not None and value != "error":
            raise InputError(option, expected="none with Predictions, which know their columns", got=repr(value))
    columns: dict[str, Any] = dict(preds.columns)

    def keep(wanted: str, column: Any) -> str | None:
        if column is None:
            return None
        while wanted in columns:
            wanted += "_"
        columns[wanted] = column
        return wanted

    scores = {model: keep(model, column) for model, column in preds.scores.items()}
    roles = {
        "label": keep("y_true", preds.y_true),
        "weight": keep("sample_weight", preds.sample_weight),
        "fold": keep("fold", preds.fold),
        "groups": keep("groups", preds.groups),
        "segment": keep("segment", preds.segment),
    }
    return DataSource(name, columns, {"scores": scores} | roles, where, list(columns))


def _name_of(source: Any) -> str:
    return Path(fspath(source)).name if isinstance(source, str | PathLike) else ""
