"""read_sketch: read any source in one pass into sketches of fixed size."""

from collections.abc import Hashable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope._base.progress import Progress, reporting
from rocscope._base.radix import KeyPart
from rocscope.core.ranking import key_parts
from rocscope.core.rows import CountedModels
from rocscope.engines.counting import Question, bar_of
from rocscope.engines.sources.column_names import Scores
from rocscope.engines.sources.file_formats import FileFormat, FileLayout
from rocscope.engines.sources.roles import MISSING
from rocscope.engines.stream.batches import Batch, BatchTally, Reader
from rocscope.engines.stream.row_buffers import PackedRows
from rocscope.engines.stream.streaming import by_segment_in_order, in_order, models_of_reader, reading
from rocscope.ranges.cells import Coded, levels_of_keys, ranked_levels
from rocscope.ranges.sketch import CountsSketch


@contract
def read_sketch(
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
    memory: float = 16e6,
    progress: Progress = None,
) -> CountedModels:
    """Count each model's scores in a sketch of fixed size, in one pass over the rows.

    Parameters
    ----------
    source, label, scores, where, segment, pos_label, missing, progress : see `rocscope.read_counts`
    format, decimal, delimiter, encoding, table : see `rocscope.read`
    weight : str, optional
        Column of whole numbers.
    memory : float
        Bytes of each sketch.

    Returns
    -------
    dict from model to CountsSketch, or from segment to such a dict where `segment` is given
        Its ``.source`` states where the rows came from and how many were left out.

    Raises
    ------
    InputError
        As `rocscope.read_counts`.

    Notes
    -----
    Batches are decoded and ranked on all cores; where that is faster than one core places them, it sets the pace.

    Examples
    --------
    >>> rows = {"y": [1, 1, 0, 1, 0], "a": [0.9, 0.6, 0.4, 0.4, 0.2]}
    >>> read_sketch(rows, label="y", scores="a")
    {'a': CountsSketch(n_pos=3, n_neg=2, auc=0.916667)}
    """
    check.check_choice("missing", missing, MISSING)
    layout = FileLayout(format, decimal, delimiter, encoding, table)
    question = Question(label, scores, weight, where, segment, pos_label, missing, layout)
    with (
        reporting(progress, bar_of(source), "rows") as report,
        reading(source, question) as (reader, stream),
        closing(in_order(stream.pieces, _Ranker(reader))) as batches,
    ):
        models, tally = models_of_reader(reader), BatchTally(reader)
        sketches: dict[Hashable, list[CountsSketch]] = {}
        for batch, by_name in batches:
            tally.add(batch)
            for name, parts in by_name.items() if not tally.failed else ():
                own = sketches.setdefault(name, [CountsSketch(memory, pos_label=pos_label) for _ in models])
                for sketch, rows in zip(own, parts, strict=True):
                    if rows.size:
                        sketch.add_levels(rows.dtype, _levels(rows))
            report(tally.rows, stream.rows)
        tally.check(where)
    found = tally.provenance(where)
    of_segment = {
        name: CountedModels(dict(zip(models, own, strict=True)), found) for name, own in by_segment_in_order(sketches)
    }
    return of_segment[None] if segment is None else CountedModels(of_segment, found)


@dataclass(frozen=True)
class _Ranker:
    """Checks and ranks batches of rows, in any thread."""

    reader: Reader

    def __call__(self, table: pa.Table) -> tuple[Batch, dict[Hashable, list[PackedRows]]]:
        batch = self.reader.take(table)
        return batch, {name: [_ranked(rows) for rows in models] for name, models in batch.parts().items()}


def _ranked(rows: PackedRows) -> PackedRows:
    """Sort keys; levels are made later because they take more memory."""
    for half in (rows.lower, rows.upper):
        if half is not None:
            kernels.parts.sort_rows(half, None)
    return rows


def _levels(packed: PackedRows) -> Coded:
    if packed.lower is not None and packed.upper is not None:
        return levels_of_keys(key_parts([KeyPart((packed.upper,))], [KeyPart((packed.lower,))], packed.dtype))
    scores, column = packed.columns
    if not packed.weighted:
        return ranked_levels(column.astype(np.bool_), scores, None)
    check.require_whole_weights(column)
    return ranked_levels(column > 0, scores, np.abs(column))
