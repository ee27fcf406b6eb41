"""Arrow data as a Source: lazily loaded columns, and Arrow's own file formats."""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial

import pyarrow as pa

from rocscope.core.rows import brief
from rocscope.engines.sources.file_formats import FileLayout
from rocscope.engines.sources.source import BATCH_ROWS, Source, Stream, mentioned, one_line_errors, stream_table
from rocscope.errors import EngineError

_FILE_MAGIC = b"ARROW1"


class ArrowColumns:
    """Columns loaded by a function on request.

    Parameters
    ----------
    origin : tuple of str
    columns : sequence of str
    load : function from a list of column names to a pyarrow.Table
    """

    decimal = ""

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], load: Callable[[list[str]], pa.Table]) -> None:
        self.origin = origin
        self.columns = columns
        self._load = load

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        used_by_filter = mentioned(self.columns, where or "")
        with one_line_errors(brief(self.origin)):
            table = self._load(list(dict.fromkeys([*names, *used_by_filter])))
        if where is None:
            return table
        from rocscope.engines.sources.database import holds_in

        # Only the filter's columns pass through DuckDB, so that the others keep types that it does not know.
        kept = holds_in(self.origin, table.select(used_by_filter or names[:1]), where)
        return table.select(list(names)).filter(kept)

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the same in batches; the data are in memory already."""
        return stream_table(self.fetch(names, where))


class _IpcFiles(ArrowColumns):
    """Files of Arrow's formats, streamed without loading them."""

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], paths: list[str]) -> None:
        super().__init__(origin, columns, lambda names: _load_all(paths, origin, names))
        self._paths = paths

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the columns in the files' batches."""
        wanted = list(dict.fromkeys([*names, *mentioned(self.columns, where or "")]))
        first = _common_schema(self._paths, self.origin, wanted)
        pieces = (
            partial(self._batches, path, name, first, list(names), where)
            for path, name in zip(self._paths, self.origin, strict=True)
        )
        return Stream(pa.schema([first.field(name) for name in names]), pieces)

    def _batches(
        self, path: str, name: str, first: pa.Schema, names: list[str], where: str | None
    ) -> Generator[pa.Table]:
        with one_line_errors(name):
            for batch in _read_batches(path, first.names):
                table = pa.Table.from_batches([batch]).select(first.names)
                kept = ArrowColumns((name,), first.names, table.select).fetch(names, where)
                for start in range(0, kept.num_rows, BATCH_ROWS):
                    yield kept.slice(start, BATCH_ROWS)


def open_ipc(paths: list[str], origin: tuple[str, ...], _layout: FileLayout) -> Source:
    """Open files of Arrow's file format (Feather) or stream format."""
    with one_line_errors(origin[0]):
        columns = _reader(paths[0]).schema.names
    return _IpcFiles(origin, columns, paths)


def _load_all(paths: Sequence[str], origin: Sequence[str], names: Sequence[str]) -> pa.Table:
    _common_schema(paths, origin, names)
    tables: list[pa.Table] = []
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name):
            tables.append(_reader(path, _positions(path, names)).read_all().select(list(names)))
    return pa.concat_tables(tables)


def _common_schema(paths: Sequence[str], origin: Sequence[str], names: Sequence[str]) -> pa.Schema:
    """Return the types of columns, or raise for a file with other types, before reading any."""
    schemas: list[pa.Schema] = []
    for path, name in zip(paths, origin, strict=True):
        with one_line_errors(name):
            schemas.append(_read_schema(path, names))
        _require_schema(schemas[0], schemas[-1], origin[0], name)
    return schemas[0]


def _positions(path: str, names: Sequence[str]) -> list[int]:
    present = _reader(path).schema.names
    return [present.index(name) for name in names if name in present]


def _read_schema(path: str, names: Sequence[str]) -> pa.Schema:
    schema = _reader(path).schema
    return pa.schema([schema.field(name) for name in names if name in schema.names])


def _read_batches(path: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    reader = _reader(path, _positions(path, names))
    if isinstance(reader, pa.RecordBatchFileReader):
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from reader


def _require_schema(first: pa.Schema, here: pa.Schema, first_name: str, name: str) -> None:
    for field in first:
        found = f"type {here.field(field.name).type}" if field.name in here.names else "none"
        if found != f"type {field.type}":
            raise EngineError(f"{name}: column {field.name!r} has type {field.type} in {first_name}, but {found} here")


def _reader(path: str, positions: list[int] | None = None) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    options = pa.ipc.IpcReadOptions(included_fields=positions)
    file = pa.OSFile(path)
    is_file = file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
    file.seek(0)
    return pa.ipc.open_file(file, options=options) if is_file else pa.ipc.open_stream(file, options=options)
