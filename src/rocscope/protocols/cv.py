"""What `cv` may be, and the splits that it stands for."""

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope.errors import InputError
from rocscope.protocols.kinds import (
    Folds,
    Holdout,
    LeaveOneOut,
    OutOfBag,
    Protocol,
    ThreeParts,
    TimeOrder,
    of_splitter,
)
from rocscope.protocols.splits import Split, SplitRows, TrainTest, numbered, repeats_of

NAMED: dict[str, type[Protocol]] = {
    "holdout": Holdout,
    "three_parts": ThreeParts,
    "leave_one_out": LeaveOneOut,
    "time_order": TimeOrder,
    "out_of_bag": OutOfBag,
}
"""Protocols by the names that `cv` takes."""


def splits_of(cv: Any, sample: SplitRows, repeats: int = 1, seed: int | None = None) -> tuple[list[Split], str]:
    """Return the splits of whatever `cv` may be, and the protocol in words."""
    check.check_whole(repeats, "repeats")
    protocol = _protocol(cv)
    if repeats > 1 and not protocol.random:
        hint = "repeats would be the same"
        raise InputError("repeats", expected=f"1 for {protocol.title}", got=str(repeats), hint=hint)
    if isinstance(protocol, Splitter) and repeats == 1:
        return numbered(protocol.numbered(sample, _seed(seed, 0)), sample), protocol.title
    drawn = ((r, part) for r in range(repeats) for part in protocol.parts(sample, _seed(seed, r)))
    return numbered(drawn, sample), protocol.title


def _seed(seed: int | None, repeat: int) -> int:
    """Return the seed of a repeat, below 2^32 as scikit-learn takes it."""
    return int(np.random.SeedSequence(seed, spawn_key=(0, repeat)).generate_state(1)[0])


def _protocol(cv: Any) -> Protocol:
    if isinstance(cv, Protocol):
        return cv
    if isinstance(cv, str) and cv == "prefit":
        hint = "rocscope.evaluation.from_estimator has the predictions of fitted models, and choose their threshold"
        raise InputError("cv", expected="folds to fit models in", got="'prefit'", hint=hint)
    if isinstance(cv, float) and 0 < cv < 1:
        return Holdout(cv)
    if isinstance(cv, str):
        return NAMED[check.check_choice("cv", cv, list(NAMED))]()
    if isinstance(cv, int | np.integer):
        return Folds(int(cv))
    if hasattr(cv, "split"):
        return Splitter(cv)
    if isinstance(cv, Iterable):
        return Splitter(_Pairs(list(cv)))
    names = ", ".join(map(repr, NAMED))
    expected = (
        f"a number of folds, the share of a holdout, {names}, a splitter of scikit-learn, or pairs of row numbers"
    )
    raise InputError("cv", expected=expected, got=type(cv).__name__)


class _Pairs:
    """Training and test rows as they were given."""

    random_state = shuffle = None

    def __init__(self, pairs: list[Any]) -> None:
        self.pairs = pairs

    def split(self, *_: Any) -> Iterator[tuple[Any, Any]]:
        for pair in self.pairs:
            if not (isinstance(pair, tuple | list) and len(pair) == 2):
                raise InputError("cv", expected="pairs of training and test rows", got=type(pair).__name__)
            yield pair[0], pair[1]


class Splitter(Protocol):
    """Any splitter of scikit-learn."""

    def __init__(self, splitter: Any) -> None:
        self.splitter = splitter
        self.random = hasattr(splitter, "random_state") and bool(getattr(splitter, "shuffle", True))  # pyright: ignore

    @property
    def title(self) -> str:
        return "given rows" if isinstance(self.splitter, _Pairs) else str(self.splitter)

    def parts(self, sample: SplitRows, seed: int) -> Iterator[TrainTest]:
        seeded = copy(self.splitter)
        seeded.random_state = seed
        return of_splitter(seeded, sample)

    def numbered(self, sample: SplitRows, seed: int) -> Iterable[tuple[int, TrainTest]]:
        """Yield parts with their repeats: a splitter may repeat itself, as RepeatedStratifiedKFold does."""
        from sklearn.model_selection import BaseShuffleSplit

        unseeded = self.random and self.splitter.random_state is None
        parts = self.parts(sample, seed) if unseeded else of_splitter(self.splitter, sample)
        return enumerate(parts) if isinstance(self.splitter, BaseShuffleSplit) else repeats_of(parts)
