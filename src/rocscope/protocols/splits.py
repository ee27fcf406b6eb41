"""Splits: training and test rows, checked before anything is fitted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import InputError


@dataclass(frozen=True)
class SplitRows:
    """Data for protocols: attributes, class index of each row, class names, and groups (or None)."""

    X: Any
    y: NDArray[np.intp]
    classes: tuple[Any, ...]
    groups: NDArray[np.intp] | None

    @property
    def n(self) -> int:
        return self.y.size


@dataclass(frozen=True)
class TrainTest:
    """Training rows and test rows; `names` gives the part of each test row, if there are several."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    names: Array | None = None


@dataclass(frozen=True)
class Split(TrainTest):
    """A numbered part; folds are numbered consecutively over repeats.

    `training_rows` is their number where training uses some of them only, and else None.
    """

    fold: int = 0
    repeat: int = 0
    training_rows: int | None = None

    @property
    def key(self) -> tuple[int, ...]:
        """Key that distinguishes this fit's seed from others."""
        return (1, self.fold) if self.training_rows is None else (1, self.fold, self.training_rows)


def numbered(parts: Iterable[tuple[int, TrainTest]], sample: SplitRows) -> list[Split]:
    """Return checked splits from pairs (repeat, part)."""
    splits = [
        Split(_rows(part.train, sample.n), _rows(part.test, sample.n), part.names, fold, repeat)
        for fold, (repeat, part) in enumerate(parts)
    ]
    if not splits:
        raise InputError("cv", expected="at least one split", got="none")
    for split in splits:
        _check(split, sample)
    return splits


def _rows(rows: Any, n: int) -> NDArray[np.intp]:
    array = np.asarray(rows)
    if array.dtype == np.bool_ and array.shape == (n,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError("cv", expected="row numbers", got=f"{array.dtype} of shape {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() < n):
        raise InputError("cv", expected=f"row numbers from 0 to {n - 1}", got=f"{array.min()} to {array.max()}")
    return array.astype(np.intp)


def _check(split: Split, sample: SplitRows) -> None:
    where = f"fold {split.fold}"
    for name, rows in (("training", split.train), ("test", split.test)):
        if not rows.size:
            raise InputError(f"cv: {where}", expected=f"{name} rows", got="none", hint="leave such a fold out")
    tested = np.bincount(split.test, minlength=sample.n)
    if (tested > 1).any():
        raise InputError(f"cv: {where}", expected="each test row once", got="some more than once")
    both = np.unique(split.train[tested[split.train] > 0])
    if both.size:
        got = f"{both.size} in both, such as row {both[0]}"
        raise InputError(f"cv: {where}", expected="no row in training and test", got=got)
    trained = sample.y[split.train]
    if (trained == trained[0]).all():
        only = sample.classes[trained[0]]
        hint = "use more training rows, or stratified folds"
        raise InputError(f"cv: {where}", expected="training rows of two classes", got=f"only {only!r}", hint=hint)
    if sample.groups is not None:
        _check_groups(split, sample.groups, where)


def _check_groups(split: Split, groups: NDArray[np.intp], where: str) -> None:
    trained = np.zeros(groups.max() + 1, np.bool_)
    trained[groups[split.train]] = True
    tested = groups[split.test]
    straddling = np.unique(tested[trained[tested]])
    if straddling.size:
        row = int(np.flatnonzero(groups == straddling[0])[0])
        raise InputError(
            f"cv: {where}",
            expected="each group in training or in test",
            got=f"{straddling.size} groups in both, such as that of row {row}",
            hint="give the number of folds, or a splitter for groups such as GroupKFold",
        )


def repeats_of(parts: Iterable[TrainTest], n: int) -> Iterator[tuple[int, TrainTest]]:
    """Number the repeats of a splitter of n rows: a row tested again starts a new repeat."""
    repeat, seen = 0, np.zeros(n, np.bool_)
    for part in parts:
        test = _rows(part.test, n)
        if seen[test].any():
            repeat += 1
            seen[:] = False
        seen[test] = True
        yield repeat, part


def name_list(classes: Iterable[Any], counts: Iterable[int]) -> str:
    """Return classes with their numbers of rows."""
    return check.listing([f"{name}: {count}" for name, count in zip(classes, counts, strict=True)])
