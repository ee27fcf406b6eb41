"""Partitions in lists, with what of a Spark DataFrame the engine uses once types are checked: Spark without Java."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa


class Partitions:
    """Lists of record batches."""

    def __init__(self, *partitions):
        self._partitions = partitions

    @property
    def columns(self):
        return next(batch.schema.names for partition in self._partitions for batch in partition)

    def mapInArrow(self, function, schema):  # noqa: N802
        made = [list(function(iter(partition))) for partition in self._partitions]
        for batches in filter(None, made):
            pa.Table.from_batches(batches)  # of one schema, or Spark refuses them
        return Partitions(*made)

    def select(self, *names):
        return Partitions(*([batch.select(names) for batch in partition] for partition in self._partitions))

    def collect(self):
        rows = (row for partition in self._partitions for batch in partition for row in batch.to_pylist())
        return [SimpleNamespace(**row) for row in rows]

    def repartitionById(self, number, column):  # noqa: N802
        parts = [[] for _ in range(number)]
        for partition in self._partitions:
            for batch in partition:
                for row in range(batch.num_rows):
                    parts[batch[column][row].as_py()].append(batch.slice(row, 1))
        return Partitions(*parts)

    def persist(self, level):
        return self

    def unpersist(self):
        return self


class Session:
    """Settings, and nothing else."""

    def __init__(self):
        self.conf = SimpleNamespace(get=lambda name: "10000", set=lambda name, value: None)


def partitions(columns, number, rows_per_batch=7):
    """Deal the rows of a table out, in batches."""
    table = pa.table(columns)
    dealt = (table.take(np.arange(first, len(table), number)) for first in range(number))
    return Partitions(*(part.to_batches(rows_per_batch) for part in dealt))
