"""Protocols, which split rows into training and test rows. Splits are checked before models are fitted.

The protocols are cross-validation, holdout, three parts, leave-one-out, time order and the out-of-bag bootstrap. The
argument `cv` of other functions accepts a protocol, a number of folds, a splitter of scikit-learn, or arrays of row
numbers.
"""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import held_to_contract
from rocscope._base.formatting import counted
from rocscope._base.grouping import masks_of
from rocscope.errors import InputError, without_warnings


@dataclass(frozen=True)
class SplitRows:
    """Data from which protocols make splits: features, class number and group of each row, and class names."""

    X: Any
    y: Indices
    classes: tuple[Any, ...]
    groups: Indices | None

    @property
    def n(self) -> int:
        return self.y.size


@dataclass(frozen=True)
class TrainTest:
    """Row numbers of the training rows and of the test rows.

    If the test rows have several parts, `names` has the part of each test row, such as "validation".
    """

    train: Indices
    test: Indices
    names: Array | None = None


@dataclass(frozen=True)
class Split(TrainTest):
    """Split with the number of its fold and of its repeat. Folds are numbered over all repeats.

    `training_rows` is the number of training rows if only a subset is used; otherwise None.
    """

    fold: int = 0
    repeat: int = 0
    training_rows: int | None = None

    @property
    def key(self) -> tuple[int, ...]:
        """Key from which the random seed of the fit is derived; it differs between splits."""
        return (1, self.fold) if self.training_rows is None else (1, self.fold, self.training_rows)


def numbered(parts: Iterable[tuple[int, TrainTest]], sample: SplitRows) -> list[Split]:
    """Check and number splits that are given as pairs (number of the repeat, split)."""
    splits = [
        Split(_rows(part.train, sample.n), _rows(part.test, sample.n), part.names, fold, repeat)
        for fold, (repeat, part) in enumerate(parts)
    ]
    if not splits:
        raise InputError("cv", expected="one or more splits", got="0 splits")
    for split in splits:
        _check(split, sample)
    return splits


def _rows(rows: Any, n: int) -> Indices:
    array = np.asarray(rows)
    if array.dtype == np.bool_ and array.shape == (n,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError("cv", expected="row numbers", got=f"{array.dtype} values of shape {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() < n):
        raise InputError(
            "cv", expected=f"row numbers from 0 to {n - 1}", got=f"numbers from {array.min()} to {array.max()}"
        )
    return array.astype(np.intp)


def _check(split: Split, sample: SplitRows) -> None:
    where = f"fold {split.fold}"
    for name, rows in (("training", split.train), ("test", split.test)):
        if not rows.size:
            raise InputError(f"cv: {where}", expected=f"one or more {name} rows", got="0 rows", hint="omit this fold")
    tested = np.bincount(split.test, minlength=sample.n)
    if (tested > 1).any():
        raise InputError(f"cv: {where}", expected="distinct test rows", got=f"row {tested.argmax()} more than once")
    both = np.unique(split.train[tested[split.train] > 0])
    if both.size:
        got = f"{both.size} rows in both, the first is row {both[0]}"
        raise InputError(f"cv: {where}", expected="training and test rows without overlap", got=got)
    trained = sample.y[split.train]
    if (trained == trained[0]).all():
        only = sample.classes[trained[0]]
        hint, got = "use more training rows or stratified folds", f"training rows of the class {only!r} only"
        raise InputError(f"cv: {where}", expected="training rows of two or more classes", got=got, hint=hint)
    if sample.groups is not None:
        _check_groups(split, sample.groups, where)


def _check_groups(split: Split, groups: Indices, where: str) -> None:
    trained = np.zeros(groups.max() + 1, np.bool_)
    trained[groups[split.train]] = True
    tested = groups[split.test]
    straddling = np.unique(tested[trained[tested]])
    if straddling.size:
        row = int(np.flatnonzero(groups == straddling[0])[0])
        got = f"{straddling.size} groups in both, the first is the group of row {row}"
        hint = "pass a number of folds, or a splitter for groups such as GroupKFold"
        raise InputError(f"cv: {where}", expected="training and test groups without overlap", got=got, hint=hint)


def repeats_of(parts: Iterable[TrainTest], n: int) -> Iterator[tuple[int, TrainTest]]:
    """Yield pairs (number of the repeat, split). A new repeat starts if a row is tested again."""
    repeat, seen = 0, np.zeros(n, np.bool_)
    for part in parts:
        test = _rows(part.test, n)
        if seen[test].any():
            repeat += 1
            seen[:] = False
        seen[test] = True
        yield repeat, part


def name_list(classes: Iterable[Any], counts: Iterable[int]) -> str:
    """Return text with the number of rows of each class."""
    sizes = [f"{name!r} ({counted(count, 'row')})" for name, count in zip(classes, counts, strict=True)]
    return check.listing(sizes, shown=str)


# Attempts to draw a bootstrap sample with two classes; if one in a hundred has, all attempts fail with probability
# 4e-5.
_MOST_DRAWS = 1000
_ROUGHLY_EVEN = "The least populated class"
_GROUPS_IGNORED = "The groups parameter is ignored"  # the check of each split raises an error for this


class Protocol:
    """Base class of all protocols.

    Examples
    --------
    >>> isinstance(Folds(5), Protocol)
    True
    """

    random: ClassVar[bool] = True
    """True if the splits depend on the seed. Only then can the protocol be repeated."""

    @property
    def title(self) -> str:
        """Description of the protocol."""
        raise NotImplementedError

    def parts(self, sample: SplitRows, seed: int) -> Iterator[TrainTest]:
        """Yield the training and test rows of each split.

        Parameters
        ----------
        sample : SplitRows
            Labels and groups of the rows.
        seed : int
            Random seed.
        """
        raise NotImplementedError


def of_splitter(splitter: Any, sample: SplitRows) -> Iterator[TrainTest]:
    """Yield the splits of a scikit-learn splitter, and convert its errors to InputError."""
    attributes = np.zeros((sample.n, 1)) if sample.X is None else sample.X
    try:
        with without_warnings(UserWarning, _ROUGHLY_EVEN, _GROUPS_IGNORED):
            pairs = list(splitter.split(attributes, sample.y, sample.groups))
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(f"cv: {type(splitter).__name__}: {str(error).splitlines()[0]}") from error
    return (TrainTest(train, test) for train, test in pairs)


def _stratified(y: Array, k: int, seed: int) -> Iterator[TrainTest]:
    """Yield the same splits as scikit-learn's shuffled StratifiedKFold, without the slow import of scikit-learn."""
    _, first, code = np.unique(y, return_index=True, return_inverse=True)
    code = first.argsort().argsort()[code]  # classes are numbered by first occurrence
    # Rows sorted by class are dealt to the folds in turn: sizes has the number of rows of each class in each fold.
    dealt = np.sort(code)
    sizes = np.array([np.bincount(dealt[number::k], minlength=first.size) for number in range(k)])
    rng = np.random.RandomState(seed)
    fold = np.empty(code.size, np.intp)
    for label, size in enumerate(sizes.T):
        numbers = np.repeat(np.arange(k), size)
        rng.shuffle(numbers)
        fold[code == label] = numbers
    return (TrainTest(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(k))


@held_to_contract
@dataclass(frozen=True)
class Folds(Protocol):
    """Cross-validation with k folds: each fold is tested once, by a model fitted to the other folds.

    Parameters
    ----------
    k : int
        Number of folds.
    stratified : bool
        If True, each fold has about the same share of every class.
    rare_classes : {"error", "spread"}
        Treatment of a class with fewer rows than folds. "error" raises an error. "spread" puts the rows of the class
        into different folds. Some folds then lack the class, and metrics of single folds may be undefined.

    Raises
    ------
    InputError
        If `k` is not a whole number of at least 2.

    Notes
    -----
    With groups, all rows of a group are in the same fold.

    Examples
    --------
    >>> Folds(5).title
    '5-fold cross-validation, stratified'
    """

    k: int = 10
    stratified: bool = True
    rare_classes: Literal["error", "spread"] = "error"

    def __post_init__(self) -> None:
        check.check_whole(self.k, "cv", 2)
        check.check_choice("rare_classes", self.rare_classes, ("error", "spread"))

    @property
    def title(self) -> str:
        return f"{self.k}-fold cross-validation" + ", stratified" * bool(self.stratified)

    def parts(self, sample: SplitRows, seed: int) -> Iterator[TrainTest]:
        if self.stratified:
            self._check_classes(sample)
        grouped = sample.groups is not None
        number = int(sample.groups.max()) + 1 if sample.groups is not None else self.k
        if number < self.k:
            hint = f"use cv={number}" if number > 1 else "pass groups= with two or more groups"
            raise InputError("cv", expected=f"at least {self.k} groups for {self.k} folds", got=f"{number}", hint=hint)
        if self.stratified and not grouped:
            return _stratified(sample.y, int(self.k), seed)
        from sklearn import model_selection as splitters

        kind = f"{'Stratified' * self.stratified}{'Group' * grouped}KFold"
        return of_splitter(getattr(splitters, kind)(int(self.k), shuffle=True, random_state=seed), sample)

    def _check_classes(self, sample: SplitRows) -> None:
        sizes = np.bincount(sample.y)
        rare = np.flatnonzero(sizes < self.k)
        if rare.size and (self.rare_classes == "error" or rare.size == sizes.size):
            few = int(sizes[rare].min())
            less = f"use cv={few}, " if few > 1 else ""
            spread = f"cv=rocscope.protocols.Folds({self.k}, rare_classes='spread')"
            hint = f"{less}merge or omit rare classes, or use {spread}"
            got = name_list([sample.classes[c] for c in rare], sizes[rare].tolist())
            expected = f"at least {self.k} rows of each class for {self.k} folds"
            raise InputError("cv", expected=expected, got=f"fewer rows of the classes {got}", hint=hint)


@held_to_contract
@dataclass(frozen=True)
class Holdout(Protocol):
    """Holdout: a random part of the rows is used for testing, and the model is fitted to the other rows.

    Each repeat draws different test rows.

    Parameters
    ----------
    test : float
        Share of test rows, between 0 and 1.
    stratified : bool
        If True, training and test rows have about the same share of every class. Ignored if rows have groups, because
        groups are not split.

    Raises
    ------
    InputError
        If `test` is not between 0 and 1.

    Examples
    --------
    >>> Holdout().title
    'holdout of 33.3%, stratified'
    """

    test: float = 1 / 3
    stratified: bool = True

    def __post_init__(self) -> None:
        check.check_share(self.test, "test")

    @property
    def title(self) -> str:
        return f"holdout of {100 * self.test:.3g}%" + ", stratified" * bool(self.stratified)

    def parts(self, sample: SplitRows, seed: int) -> Iterator[TrainTest]:
        return of_splitter(_one_split(self.test, self.stratified, sample, seed), sample)


def _one_split(test: float, stratified: bool, sample: SplitRows, seed: int) -> Any:
    """Return a scikit-learn splitter for a holdout; with groups, a share of the groups is held out."""
    from sklearn import model_selection as splitters

    if sample.groups is not None:
        return splitters.GroupShuffleSplit(1, test_size=test, random_state=seed)
    options = {"n_splits": 1, "test_size": max(1, round(test * sample.n)), "random_state": seed}
    if not stratified:
        return splitters.ShuffleSplit(**options)
    sizes = np.bincount(sample.y)
    single = np.flatnonzero(sizes < 2)
    if single.size:
        got = "one row of " + check.listing([sample.classes[c] for c in single])
        hint = "omit the class, or use cv=rocscope.protocols.Holdout(stratified=False)"
        raise InputError("cv", expected="at least two rows of each class", got=got, hint=hint)
    return splitters.StratifiedShuffleSplit(**options)


@held_to_contract
@dataclass(frozen=True)
class ThreeParts(Protocol):
    """Split into three parts: training rows, validation rows to choose a threshold, and test rows to evaluate it.

    Parameters
    ----------
    validation, test : float
        Share of validation rows, and share of test rows.
    stratified : bool
        If True, all parts have about the same share of every class. Ignored if rows have groups, because groups are not
        split.

    Raises
    ------
    InputError
        If a share is not between 0 and 1, or if the two shares leave no training rows.

    Notes
    -----
    In the predictions, the segment of each row is "validation" or "test". Pass ``preds.by_segment()["validation"]`` to
    `choose`, and evaluate the decision on ``preds.by_segment()["test"]``.

    Examples
    --------
    >>> ThreeParts().title
    'training, validation (25%) and test (25%), stratified'
    """

    validation: float = 0.25
    test: float = 0.25
    stratified: bool = True

    def __post_init__(self) -> None:
        check.check_share(self.validation, "validation")
        check.check_share(self.test, "test")
        if self.validation + self.test >= 1:
            raise InputError("validation + test", expected="less than 1", got=f"{self.validation + self.test:g}")

    @property
    def title(self) -> str:
        shares = f"validation ({100 * self.validation:.3g}%) and test ({100 * self.test:.3g}%)"
        return f"training, {shares}" + ", stratified" * bool(self.stratified)

    def parts(self, sample: SplitRows, seed: int) -> Iterator[TrainTest]:
        (outer,) = of_splitter(_one_split(self.test, self.stratified, sample, seed), sample)
        groups = None if sample.groups is None else sample.groups[outer.train]
        rest = SplitRows(None, sample.y[outer.train], sample.classes, groups)
        share = self.validation / (1 - self.test)
        (inner,) = of_splitter(_one_split(share, self.stratified, rest, seed), rest)
        judged = [outer.train[inner.test], outer.test]
        names = np.repeat(["validation", "test"], [rows.size for rows in judged])
        yield TrainTest(outer.train[inner.train], np.concatenate(judged), names)


@dataclass(frozen=True)
class LeaveOneOut(Protocol):
    """Leave-one-out cross-validation: each row is scored by a model fitted to all other rows.

    If rows have groups, one group at a time is omitted.

    Notes
    -----
    Do not use this protocol for the AUC; use folds instead. The scores of many models depend on the prevalence of the
    training rows. Omitting a positive row decreases this prevalence, and with it the score of the omitted row. The AUC
    is then biased downwards and may be below 1/2 (Airola et al. 2011).

    References
    ----------
    Airola, Pahikkala, Waegeman, De Baets & Salakoski 2011, Comput. Stat. Data Anal. 55:1828–1844.

    Examples
    --------
    >>> LeaveOneOut().title
    'leave one out'
    """

    random: ClassVar[bool] = False

    @property
    def title(self) -> str:
        return "leave one out"

    def parts(self, sample: SplitRows, seed: int) -> Iterator[TrainTest]:  # noqa: ARG002 (nothing is drawn)
        from sklearn import model_selection as splitters

        grouped = sample.groups is not None
        return of_splitter(splitters.LeaveOneGroupOut() if grouped else splitters.LeaveOneOut(), sample)


@held_to_contract
@dataclass(frozen=True)
class TimeOrder(Protocol):
    """Cross-validation in order of time: the rows of each fold are scored by a model fitted to earlier rows.

    The rows must be sorted by time.

    Parameters
    ----------
    k : int
        Number of folds. The first rows are not in a fold and are only used for training.
    gap : int
        Number of rows to omit between the training rows and the test rows.
    most_training : int, optional
        Largest number of training rows. The latest rows before the fold are used. By default, all earlier rows are
        used.

    Examples
    --------
    >>> TimeOrder(4, gap=10).title
    '4 folds in order of time'
    """

    k: int = 10
    gap: int = 0
    most_training: int | None = None
    random: ClassVar[bool] = False

    @property
    def title(self) -> str:
        return f"{self.k} folds in order of time"

    def parts(self, sample: SplitRows, seed: int) -> Iterator[TrainTest]:  # noqa: ARG002
        from sklearn.model_selection import TimeSeriesSplit

        if sample.groups is not None:
            raise InputError("groups", expected="None for splits in order of time", got="an array", hint="omit groups")
        try:
            splitter = TimeSeriesSplit(self.k, gap=self.gap, max_train_size=self.most_training)
        except (ValueError, TypeError) as error:
            raise InputError(f"cv: {error}") from error
        return of_splitter(splitter, sample)


@held_to_contract
@dataclass(frozen=True)
class OutOfBag(Protocol):
    """Out-of-bag bootstrap: a model is fitted to a bootstrap sample and tested on the rows that are not in the sample.

    About 37% of the rows are not in a bootstrap sample.

    Parameters
    ----------
    stratified : bool
        If True, draw the bootstrap sample within each class.

    Notes
    -----
    If a sample has rows of only one class, or contains all rows, another sample is drawn. If rows have groups, groups
    are drawn instead of rows.

    Examples
    --------
    >>> OutOfBag().title
    'out-of-bag bootstrap'
    """

    stratified: bool = False

    @property
    def title(self) -> str:
        return "out-of-bag bootstrap" + ", stratified" * bool(self.stratified)

    def parts(self, sample: SplitRows, seed: int) -> Iterator[TrainTest]:
        rng = np.random.default_rng(seed)
        for _ in range(_MOST_DRAWS):
            train = self._draw(sample, rng)
            test = np.setdiff1d(np.arange(sample.n), train)
            if test.size and np.unique(sample.y[train]).size > 1:
                yield TrainTest(train, test)
                return
        sizes = name_list(sample.classes, np.bincount(sample.y, minlength=len(sample.classes)).tolist())
        hint = "use cv=rocscope.protocols.OutOfBag(stratified=True)"
        expected, got = "bootstrap samples with two or more classes", f"samples of one class from the classes {sizes}"
        raise InputError("cv", expected=expected, got=got, hint=hint)

    def _draw(self, sample: SplitRows, rng: np.random.Generator) -> Any:
        if sample.groups is not None:
            drawn = rng.integers(0, sample.groups.max() + 1, sample.groups.max() + 1)
            return np.concatenate([np.flatnonzero(sample.groups == group) for group in np.sort(drawn)])
        strata = sample.y if self.stratified else np.zeros(sample.n, np.intp)
        rows = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
        return np.sort(np.concatenate([rng.choice(own, own.size) for own in rows]))


NAMED: dict[str, type[Protocol]] = {
    "holdout": Holdout,
    "three_parts": ThreeParts,
    "leave_one_out": LeaveOneOut,
    "loo": LeaveOneOut,
    "time_order": TimeOrder,
    "out_of_bag": OutOfBag,
}
"""Class of the protocol for each name that `cv` accepts."""


def splits_of(cv: Any, sample: SplitRows, repeats: int = 1, seed: int | None = None) -> tuple[list[Split], str]:
    """Return the splits for an argument `cv`, and a description of the protocol; see `rocscope.evaluate`."""
    check.check_whole(repeats, "repeats")
    protocol = _protocol(cv)
    if repeats > 1 and not protocol.random:
        hint = "omit repeats, because all repeats would be equal"
        raise InputError("repeats", expected=f"1 for {protocol.title}", got=str(repeats), hint=hint)
    if isinstance(protocol, Splitter) and repeats == 1:
        return numbered(protocol.numbered(sample, _seed(seed, 0)), sample), protocol.title
    drawn = ((r, part) for r in range(repeats) for part in protocol.parts(sample, _seed(seed, r)))
    return numbered(drawn, sample), protocol.title


def splits_testing_once(cv: Any, sample: SplitRows, fold: Any, seed: int) -> list[Split]:
    """Return splits in which every row is in exactly one test fold; with ``cv="fold"``, use the fold column `fold`."""
    if isinstance(cv, str) and cv == "fold":
        cv = [(np.flatnonzero(~test), np.flatnonzero(test)) for test in masks_of("fold", fold).values()]
    splits, title = splits_of(cv, sample, seed=seed)
    times = np.bincount(np.concatenate([split.test for split in splits]), minlength=sample.n)
    if (times != 1).any():
        got = f"{(times == 0).sum()} rows in no test fold and {(times > 1).sum()} rows in several (cv: {title})"
        raise InputError("cv", expected="every row in one test fold", got=got, hint="use for example cv=5")
    return splits


def _seed(seed: int | None, repeat: int) -> int:
    """Return the seed of a repeat. It is below 2³², because scikit-learn requires this."""
    return int(np.random.SeedSequence(seed, spawn_key=(0, repeat)).generate_state(1)[0])


def _protocol(cv: Any) -> Protocol:
    cv = cv.item() if isinstance(cv, np.ndarray) and cv.ndim == 0 else cv
    if isinstance(cv, Protocol):
        return cv
    if isinstance(cv, str) and cv == "prefit":
        hint = "for fitted models, pass the result of rocscope.evaluation.from_estimator to rocscope.choose"
        raise InputError("cv", expected="folds in which models are fitted", got="'prefit'", hint=hint)
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
    """Splitter with pairs of training and test rows from the user."""

    random_state = shuffle = None

    def __init__(self, pairs: list[Any]) -> None:
        self.pairs = pairs

    def split(self, *_: Any) -> Iterator[tuple[Any, Any]]:
        for pair in self.pairs:
            if not (isinstance(pair, tuple | list) and len(pair) == 2):
                raise InputError("cv", expected="pairs of training and test rows", got=type(pair).__name__)
            yield pair[0], pair[1]


class Splitter(Protocol):
    """Protocol of a scikit-learn splitter."""

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
        """Yield pairs (number of the repeat, split). Some splitters have repeats, such as RepeatedKFold."""
        from sklearn.model_selection import BaseShuffleSplit

        unseeded = self.random and self.splitter.random_state is None
        parts = self.parts(sample, seed) if unseeded else of_splitter(self.splitter, sample)
        return enumerate(parts) if isinstance(self.splitter, BaseShuffleSplit) else repeats_of(parts, sample.n)
