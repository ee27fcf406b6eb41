"""Bench: what the page asks of rows, answered from whatever holds them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from threading import Lock
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._base.threads import in_threads
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError
from rocscope.report.model import MOST_DETAILED
from rocscope.report.slices import POINTS, Slices, parts_of, parts_of_counts, require_segments
from rocscope.report.summary import MOST_POINTS, ModelOutline, outline
from rocscope.sample import Models, Sample, Samples, samples_of
from rocscope.segments.data import counted_by_segment
from rocscope.workbench.data_source import Material
from rocscope.workbench.request_queue import Turn

ALL = ("all", "all rows")
SECONDS = 30
"""Seconds after which a condition on held rows is stopped: ten million of them take one."""
_KEPT = 2
"""Conditions whose rows are kept: the one that is shown, and a second one that Python, or another tab, asks of."""
_TOLD = 64
"""Answers that are kept, of some kilobytes each: a return to what was shown needs no rows."""


@dataclass(frozen=True)
class RowsAsked:
    """Which rows are meant: those for which a condition holds; of them a part, where they are split by a column."""

    where: str | None = None
    by: str | None = None
    kind: str = ALL[0]
    name: str = ALL[1]

    @property
    def whole(self) -> bool:
        """Whether all parts are meant."""
        return self.kind == ALL[0]


class CountedRows:
    """Rows of one material that were read, or counted, for one condition.

    Attributes
    ----------
    parts : dict from (kind, name) to what finds the rows or the counts of that part
    warnings : list of str
        Notes of the parts.
    """

    def __init__(self, parts: dict[tuple[str, str], Any], warnings: Sequence[str]) -> None:
        self.parts, self.warnings = parts, list(warnings)
        self._known: dict[tuple[str, str], Models] = {}
        self._samples: dict[tuple[str, str], Samples] = {}

    def samples(self, part: tuple[str, str]) -> Samples:
        """Return the data of each model, which is ranked once for all that is asked of these rows."""
        if part not in self._samples:
            self._samples[part] = samples_of(self.rows(part))
        return self._samples[part]

    def rows(self, part: tuple[str, str]) -> Models:
        """Return the rows of a part, or their counts where rows are not held.

        Raises
        ------
        InputError
            If no row is of that part.
        """
        if part not in self.parts:
            raise InputError(f"{part[0]} {part[1]}", expected="rows of both classes", got="none")
        if part not in self._known:
            self._known[part] = self.parts[part]()
        return self._known[part]


class Bench:
    """Models of one or several materials, and what the page shows of them.

    Parameters
    ----------
    materials : sequence of Material
    context : Context, optional
    title : str
    """

    def __init__(self, materials: Sequence[Material], *, context: Context | None = None, title: str = "") -> None:
        self.materials, self.context = list(materials), Context.given(context)
        self.title = title or ", ".join(each.name for each in materials if each.name) or "rocscope"
        self._kept: dict[tuple[str, str | None, str | None], CountedRows] = {}
        self._told: dict[tuple[str, RowsAsked], Any] = {}
        self._lock = Lock()

    @property
    def seconds(self) -> float:
        """How long a condition may take: held rows are filtered in seconds, files of billions of rows in minutes."""
        return SECONDS if all(material.held for material in self.materials) else 20 * SECONDS

    @cached_property
    def columns(self) -> list[str]:
        """By which rows can be split: the columns of the only material."""
        return self.materials[0].columns if len(self.materials) == 1 else []

    def prepare(self, turn: Turn) -> None:
        """Load what compiles loops, which takes as long as reading ten million rows, if there will be work for it."""
        if any(material.size is not None and material.size >= kernels.SMALL for material in self.materials):
            turn()
            kernels.ranks.count_levels(np.zeros(1, np.uint32))

    def outlines(self, asked: RowsAsked, turn: Turn) -> list[ModelOutline]:
        """Return what the page shows of rows at once."""
        return self.told("outlines", asked, lambda: self._outlines(asked, turn))

    def told(self, what: str, asked: RowsAsked, find: Callable[[], Any]) -> Any:
        """Return an answer that was given before, or find it."""
        with self._lock:
            known = self._told.get((what, asked))
        if known is None:
            known = find()
            with self._lock:
                self._told = dict([*self._told.items(), ((what, asked), known)][-_TOLD:])
        return known

    def _outlines(self, asked: RowsAsked, turn: Turn) -> list[ModelOutline]:
        most = MOST_POINTS if asked.whole else POINTS
        samples = self._samples(asked, turn)

        def drawn(model: str) -> ModelOutline:
            turn()
            counts = samples[model].counts
            return outline(model, counts, most=most, bins=counts.n <= MOST_DETAILED)

        return in_threads(drawn, samples)

    def counts(self, asked: RowsAsked, turn: Turn) -> dict[str, ThresholdCounts]:
        """Return the counts of every model on some rows."""
        found: dict[str, ThresholdCounts] = {}
        for name, sample in self._samples(asked, turn).items():
            turn()
            sample.counts.require_both_classes(name)
            found[name] = sample.counts
        return found

    def _samples(self, asked: RowsAsked, turn: Turn) -> dict[str, Sample]:
        part = (asked.kind, asked.name)
        with self._limited(asked, turn):
            return {
                self.name_of(material, name): each
                for material in self.materials
                for name, each in self._counted(material, asked, turn).samples(part).items()
            }

    def rows(self, asked: RowsAsked, model: str, turn: Turn, column: str | None = None) -> tuple[Predictions, str]:
        """Return the rows of a model, and what they call it; their groups are those of a column, if one is named.

        Raises
        ------
        InputError
            If rows are not held, or there is no such model.
        """
        part = (asked.kind, asked.name)
        for material in self.materials:
            own = next((name for name in material.models if self.name_of(material, name) == model), None)
            if own is None:
                continue
            if not material.held:
                raise InputError("rows", expected="rows that memory holds", got="a file that was only counted")
            with self._limited(asked, turn):
                if column is not None:
                    with_groups = replace(material, options=material.options | {"groups": column})
                    found = _held(with_groups, asked, turn).rows(part)
                else:
                    found = self._counted(material, asked, turn).rows(part)
            assert isinstance(found, Predictions)
            return found, own
        raise InputError("model", expected="one that is shown", got=repr(model))

    def data(self, asked: RowsAsked, turn: Turn) -> list[Models]:
        """Return the rows, or counts, of each material."""
        part = (asked.kind, asked.name)
        with self._limited(asked, turn):
            return [self._counted(material, asked, turn).rows(part) for material in self.materials]

    def parts(self, by: str | None, turn: Turn) -> tuple[list[tuple[str, str]], list[str]]:
        """Return what all rows can be turned to, and what was left out."""
        asked = RowsAsked(by=by)
        with self._limited(asked, turn):
            found = self._counted(self.materials[0], asked, turn)
        return list(found.parts), found.warnings

    def name_of(self, material: Material, model: str) -> str:
        """Return the name of a model beside those of other materials."""
        if len(self.materials) == 1:
            return model
        return material.name if len(material.models) == 1 else f"{material.name}: {model}"

    def _counted(self, material: Material, asked: RowsAsked, turn: Turn) -> CountedRows:
        key = (material.name, asked.where, asked.by)
        with self._lock:
            known = self._kept.get(key)
        if known is None:
            turn()
            known = (_held if material.held else _streamed)(material, asked, turn)
            turn()
            with self._lock:
                self._kept[key] = known
                while len(self._kept) > _KEPT * len(self.materials):
                    del self._kept[next(iter(self._kept))]
        return known

    def _limited(self, asked: RowsAsked, turn: Turn) -> AbstractContextManager[None]:
        """Return what stops a condition that takes too long, or that nobody waits for any more."""
        return turn.limited(self.seconds if asked.where else inf)


def _held(material: Material, asked: RowsAsked, turn: Turn) -> CountedRows:
    preds = material.rows(asked.where, asked.by)
    turn()
    require_segments(preds, f"segment {asked.by or material.by!r}")
    slices = Slices(Context())
    parts: dict[tuple[str, str], Any] = {ALL: lambda: preds}

    def taken(mask: Any) -> Callable[[], Predictions]:
        return lambda: preds.select(mask)

    for kind, name, mask in parts_of(preds, slices):
        hits = preds.y_true[mask].sum()
        if slices.shows(kind, name, hits, mask.sum() - hits):
            parts[kind, name] = taken(mask)
    return CountedRows(parts, slices.warnings)


def _streamed(material: Material, asked: RowsAsked, turn: Turn) -> CountedRows:
    parts: dict[tuple[str, str], Any] = {ALL: lambda: material.counts(asked.where, None, turn)}
    warnings = ["Rows are counted, not held: there are no paired tests, and no lists of rows."]
    slices = Slices(Context())
    if asked.by is not None:
        for name, counted in parts_of_counts(counted_by_segment(material.counts(asked.where, asked.by, turn)), slices):
            parts["segment", name] = counted
    return CountedRows(parts, warnings + slices.warnings)
