"""Parquet files as a Source: DuckDB fetches and filters; Arrow streams plain columns, which is faster."""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from rocscope._base.threads import cores, in_threads
from rocscope.engines.sources.arrow import ArrowColumns
from rocscope.engines.sources.file_formats import FileLayout, partition_keys
from rocscope.engines.sources.source import BATCH_ROWS, Source, Stream, one_line_errors
from rocscope.errors import EngineError

if TYPE_CHECKING:
    from rocscope.engines.sources.database import Relation

_READ_AHEAD = 1 << 18  # bytes of a column; by default a group of rows is read as a whole, however large


def open_parquet(paths: list[str], origin: tuple[str, ...], _layout: FileLayout) -> Source:
    """Open Parquet files; folders named key=value add columns."""
    with one_line_errors(origin[0]):
        try:
            schema = pq.read_schema(paths[0])
        except pa.ArrowException:
            got, hint = "one whose footer cannot be read", "copy or write it again"
            raise EngineError(origin[0], expected="a whole Parquet file", got=got, hint=hint) from None
        return ParquetFiles(paths, origin, schema)


class ParquetFiles:
    """Parquet files that are opened one at a time.

    Parameters
    ----------
    paths, origin : their paths, and what messages call them
    schema : pyarrow.Schema
        That of the first.
    """

    decimal = ""

    def __init__(self, paths: list[str], origin: tuple[str, ...], schema: pa.Schema) -> None:
        self.origin = origin
        self._paths = paths
        self._schema = schema
        self._partitioned = _are_partitioned(paths, schema.names)
        self.columns: Sequence[str] = self._relation.columns if self._partitioned else schema.names

    @cached_property
    def _relation(self) -> "Relation":
        # DuckDB takes as much memory as a batch, and most files are streamed without it.
        from rocscope.engines.sources.database import relation_of

        return relation_of(self._paths, self.origin, self._schema.names, partitioned=self._partitioned)

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        return self._relation.fetch(names, where)

    def load(self, names: Sequence[str]) -> pa.Table:
        """Return the named columns of all rows, read on all cores where Arrow can."""
        if not all(_is_plain(self._schema, name) for name in names):
            return self.fetch(names)
        found = in_threads(lambda batches: list(batches()), self.stream(names).pieces)
        tables = list(chain.from_iterable(found))
        return pa.concat_tables(tables) if tables else self.fetch(names)

    def held(self) -> "HeldFiles":
        """Return the same files with columns kept in memory, for repeated queries."""
        return HeldFiles(self.origin, self.columns, lambda: ParquetFiles(self._paths, self.origin, self._schema))

    def holds(self, where: str) -> pa.ChunkedArray:
        """Return whether the SQL condition `where` holds for each row."""
        return self._relation.holds(where)

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Yield the same in batches, one per row group."""
        if where is not None or not all(_is_plain(self._schema, name) for name in names):
            return self._relation.stream(names, where)
        schema = pa.schema([self._schema.field(name) for name in names])
        rows = 0
        for number in range(len(self._paths)):  # a file that does not fit is named before any is read
            with self._open(number) as file:
                self._require_types(file.schema_arrow, schema, number)
                if _has_narrow_deltas(file.metadata, names):
                    return self._relation.stream(names)
                rows += file.metadata.num_rows
        return Stream(schema, self._pieces(schema), rows)

    def _open(self, number: int, footer: pq.FileMetaData | None = None) -> pq.ParquetFile:
        with one_line_errors(self.origin[number]):
            return pq.ParquetFile(self._paths[number], metadata=footer, buffer_size=_READ_AHEAD, pre_buffer=False)

    def _pieces(self, schema: pa.Schema) -> Iterator[partial[Generator[pa.Table]]]:
        for number in range(len(self._paths)):
            with self._open(number) as file:
                footer = file.metadata
            groups = range(footer.num_row_groups)
            yield from (partial(self._batches, number, footer, group, schema.names) for group in groups)

    def _require_types(self, here: pa.Schema, expected: pa.Schema, number: int) -> None:
        """Raise as DuckDB would, with its type names, if columns differ from those of the first file."""
        types = dict(zip(here.names, here.types, strict=True))
        names = [field.name for field in expected if types.get(field.name) != field.type]
        if names:
            two = [0, number]
            files = ParquetFiles([self._paths[i] for i in two], tuple(self.origin[i] for i in two), self._schema)
            files.fetch(names)
            raise EngineError(f"{self.origin[number]}: column {names[0]!r} is not of one type in all files")

    def _batches(self, number: int, footer: pq.FileMetaData, group: int, names: list[str]) -> Generator[pa.Table]:
        with one_line_errors(self.origin[number]), self._open(number, footer) as file:
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=names, use_threads=False):
                yield pa.Table.from_batches([batch]).select(names)
        if group + cores() >= footer.num_row_groups:  # or the pool keeps what this thread used; more often takes time
            pa.default_memory_pool().release_unused()


class HeldFiles(ArrowColumns):
    """Parquet files whose columns stay in memory after first use.

    Of a condition, the files are read for the columns that it names only, by a connection of its own: threads that ask
    at the same time do not wait for each other.
    """

    def __init__(self, origin: tuple[str, ...], columns: Sequence[str], anew: Callable[[], ParquetFiles]) -> None:
        super().__init__(origin, columns, self._once)
        self._anew = anew
        self._known: dict[str, pa.ChunkedArray] = {}

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the named columns of rows that satisfy the SQL condition `where`, in order."""
        table = super().fetch(names)
        if where is None:
            return table
        kept = _in_one(self._anew().holds(where))
        return pa.table(in_threads(lambda column: column.filter(kept), table.columns), table.column_names)

    def _once(self, names: list[str]) -> pa.Table:
        new = [name for name in names if name not in self._known]
        if new:
            self._known |= dict(zip(new, map(_in_one, self._anew().load(new).columns), strict=True))
        return pa.table({name: self._known[name] for name in names})


def _in_one(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers in contiguous memory, so that they are copied once."""
    kind = column.type
    plain = pa.types.is_primitive(kind) and not pa.types.is_null(kind)
    return pa.chunked_array([column.combine_chunks()], kind) if plain and column.num_chunks > 1 else column


def _is_plain(schema: pa.Schema, name: str) -> bool:
    """Whether DuckDB and Arrow give a column the same type."""
    position = schema.get_field_index(name)
    if position < 0:
        return False
    kind = schema.field(position).type
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_float32, pa.types.is_float64, pa.types.is_string)
    return any(check(kind) for check in checks)


def _has_narrow_deltas(footer: pq.FileMetaData, names: Sequence[str]) -> bool:
    """Whether columns of 32 bits are written as differences, for which DuckDB takes more bits than Arrow reads."""
    if not footer.num_row_groups:
        return False
    first = footer.row_group(0)
    places = [place for place in range(first.num_columns) if first.column(place).path_in_schema in names]
    chunks = (footer.row_group(group).column(place) for group in range(footer.num_row_groups) for place in places)
    return any(chunk.physical_type == "INT32" and "DELTA_BINARY_PACKED" in chunk.encodings for chunk in chunks)


def _are_partitioned(paths: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether folders named key=value add columns that the files lack."""
    keys = partition_keys(paths)
    return bool(keys) and not keys & {name.casefold() for name in columns}
