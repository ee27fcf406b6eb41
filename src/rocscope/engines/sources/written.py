"""Columns that were written as text, in CSV or JSON, as a Source: no whole number in them is rounded unseen."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial

import duckdb
import numpy as np
import pyarrow as pa

from rocscope._columns.unrounded import FIRST_ROUNDED, WHOLE_OF_64_BITS
from rocscope.engines.sources.database import Relation, identifier, text
from rocscope.engines.sources.source import Stream, WrongGuessError, one_line_errors
from rocscope.errors import EngineError


def declared(types: Mapping[str, str]) -> str:
    """Return the arguments that say what type each column has."""
    columns = ", ".join(f"{text(name)}: {text(kind)}" for name, kind in types.items())
    return f"auto_detect = false, columns = {{{columns}}}"


class Guessed(Relation):
    """Columns by the types that the first rows tell; where a later row is of another, WrongGuessError is raised.

    No whole number may have been written otherwise than this one is, nor be one that float64 rounds.
    """

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Return the columns named in batches."""
        found = super().stream(names, where)

        def checked(piece: Callable[[], Generator[pa.Table]]) -> Generator[pa.Table]:
            try:
                with closing(piece()) as tables:
                    for table in tables:
                        if any(map(_has_large, table.columns)):
                            raise WrongGuessError
                        yield table
            except EngineError:
                raise WrongGuessError from None

        return replace(found, pieces=[partial(checked, piece) for piece in found.pieces])


class Written(Relation):
    """A relation whose types were found in text.

    Parameters
    ----------
    origin, connection, columns, conflicts, decimal : see `Relation`
    query : function that returns the query for arguments that declare types
    guess : mapping from column to type, as the first rows tell it
    types : function that returns what all rows tell, called when it is needed; the guess by default

    Notes
    -----
    DuckDB knows no type between BIGINT and DOUBLE for columns of CSV, nor beyond HUGEINT for those of JSON. A column of
    DOUBLE that holds numbers from 2^53 on is looked at as text: where all are whole they are read as such, and where
    only some are, those must be what float64 can hold.
    """

    def __init__(
        self,
        origin: tuple[str, ...],
        connection: duckdb.DuckDBPyConnection,
        query: Callable[[str], str],
        guess: Mapping[str, str],
        *,
        types: Callable[[], Mapping[str, str]] | None = None,
        columns: Sequence[str] | None = None,
        conflicts: Mapping[str, str] | None = None,
        decimal: str = "",
    ) -> None:
        self._query, self._guess, self._types_of_all, self._typed_by = query, guess, types, connection
        relation = self._declare(guess)
        super().__init__(origin, relation, columns=columns, conflicts=conflicts, decimal=decimal, connection=connection)

    @cached_property
    def _types(self) -> dict[str, str]:
        return dict(self._types_of_all() if self._types_of_all else self._guess)

    @property
    def _relation(self) -> duckdb.DuckDBPyRelation:
        if self._declared is None:
            self._declared = self._declare(self._types)
        return self._declared

    @_relation.setter
    def _relation(self, relation: duckdb.DuckDBPyRelation) -> None:
        """Take the relation of the guess for the one of all rows only where both are the same."""
        self._declared = None if self._types_of_all else relation

    def guessed(self, names: Sequence[str]) -> Guessed | None:
        """Return the columns named by the types that the first rows tell, if they are all numbers."""
        kinds = {name: self._guess[self._sql_name[name]] for name in names if name in self._sql_name}
        one_each = len(self._sql_name) == len(self.columns)
        if self._types_of_all is None or not (one_each and set(kinds.values()) <= {"BIGINT", "DOUBLE"}):
            return None
        relation = self._declare({name: "VARCHAR" if kind == "BIGINT" else kind for name, kind in self._guess.items()})
        projected = (f"{_checked(self._sql_name[name], kind)} AS {identifier(name)}" for name, kind in kinds.items())
        with one_line_errors(self.origin[0]):
            relation = relation.project(", ".join(projected))
        return Guessed(self.origin, relation, columns=list(kinds), decimal=self.decimal, connection=self._connection)

    def fetch(self, names: Sequence[str], where: str | None = None) -> pa.Table:
        """Return the columns named, of the rows for which the SQL condition `where` holds, in their order."""
        table = super().fetch(names, where)
        large = [name for name in names if _has_large(table.column(name))]
        return super().fetch(names, where) if self._settle(large) else table

    def stream(self, names: Sequence[str], where: str | None = None) -> Stream:
        """Return the same in batches, of which the types are known beforehand."""
        fractions = [name for name in names if self._types[self._sql_name[name]] == "DOUBLE"]
        if fractions:
            largest = ", ".join(f"max(abs({identifier(self._sql_name[name])}))" for name in fractions)
            with one_line_errors(self.origin[0]):
                found = self._relation.aggregate(largest).fetchall()[0]
            self._settle([name for name, each in zip(fractions, found, strict=True) if (each or 0) >= FIRST_ROUNDED])
        return super().stream(names, where)

    def _declare(self, types: Mapping[str, str]) -> duckdb.DuckDBPyRelation:
        return self._typed_by.sql(self._query(declared(types)))

    def _settle(self, names: Sequence[str]) -> bool:
        """Read columns as whole numbers where they are, and say whether any is."""
        whole = [name for name in names if self._is_whole(name)]
        if whole:
            self._types.update({self._sql_name[name]: "HUGEINT" for name in whole})
            self._declared = self._declare(self._types)
        return bool(whole)

    def _is_whole(self, name: str) -> bool:
        """Whether all values of a column are whole numbers, none of which may be one that float64 rounds if not."""
        column = self._sql_name[name]
        as_text = declared(self._types | {column: "VARCHAR" if self.decimal else "JSON"})
        value = f"nullif(trim(CAST({identifier(column)} AS VARCHAR)), '')"
        whole = f"regexp_full_match({value}, '[+-]?[0-9]+')"
        huge = f"TRY_CAST({value} AS HUGEINT)"
        kept = f"coalesce(TRY_CAST(TRY_CAST({value} AS DOUBLE) AS HUGEINT) = {huge}, false)"
        all_whole = f"bool_and({whole} AND {huge} IS NOT NULL) FILTER ({value} IS NOT NULL)"
        facts = f"{all_whole}, min({value}) FILTER ({whole} AND NOT {kept})"
        with one_line_errors(self.origin[0]):
            is_whole, rounded = self._typed_by.sql(self._query(as_text)).aggregate(facts).fetchall()[0]
        if rounded is not None and not is_whole:
            hint = "write it with a point or an exponent if it is not exact"
            raise EngineError(f"{self.origin[0]}: column {name!r}", expected=WHOLE_OF_64_BITS, got=rounded, hint=hint)
        return bool(is_whole)


def _checked(column: str, kind: str) -> str:
    """Return SQL for a column of text that is to be whole numbers, or for one of another type as it is."""
    name = identifier(column)
    whole = f"TRY_CAST({name} AS BIGINT)"
    return (
        f"CASE WHEN {whole}::VARCHAR IS DISTINCT FROM {name} THEN error('') ELSE {whole} END"
        if kind == "BIGINT"
        else name
    )


def _has_large(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_float64(column.type):
        return False
    chunks = (np.abs(chunk.to_numpy(zero_copy_only=False)) for chunk in column.chunks)
    return any((chunk >= FIRST_ROUNDED).any() for chunk in chunks)
