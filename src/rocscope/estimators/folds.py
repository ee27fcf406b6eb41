"""Out-of-fold scores: what models say of rows that they were not fitted to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from rocscope._types import Array
from rocscope.errors import InputError

Split = tuple[Array, Array]
Respond = Callable[[Any, Any], Array]
"""From a fitted model and rows to one entry, or one line of entries, a row."""


@dataclass(frozen=True)
class OutOfFold:
    """What models say of rows that they were not fitted to, in the order of the rows.

    Attributes
    ----------
    row : array of m positions
        Which row it is; a row comes as often as it is tested.
    fold : array of m numbers
    responses : tuple of arrays of length m, one a model
    """

    row: NDArray[np.intp]
    fold: NDArray[np.intp]
    responses: tuple[Array, ...]


def splits(cv: Any, X: Any, y: Array, random_state: Any, split_params: Mapping[str, Any]) -> list[Split]:
    """Return training and test rows of each fold; a number of folds means shuffled, stratified ones.

    Raises
    ------
    InputError
        If there are not two classes of which a member can be left out; or a fold has no rows, or tests what
        it trains on.
    """
    if isinstance(cv, int | np.integer):
        fold = deal(y, int(cv), random_state)
        return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(fold.max() + 1)]
    splitter: Any = check_cv(cv, y)
    made = list(splitter.split(X, y, **split_params))
    for fold, (train, test) in enumerate(made):
        for part, rows in (("training", train), ("test", test)):
            if not len(rows):
                raise InputError("cv", expected=f"{part} rows in every fold", got=f"none in fold {fold}")
        both = np.intersect1d(train, test)
        if both.size:
            got = f"{both.size} in both, such as row {both[0]}, in fold {fold}"
            raise InputError("cv", expected="no row in training and test", got=got)
    return made


def deal(y: Array, folds: int, random_state: Any) -> NDArray[np.intp]:
    """Return the fold of each row: the shuffled rows of one class after the other are dealt to the folds in turn.

    Folds differ by at most one row, also in each class. There are no more folds than rows.
    """
    if folds < 2:
        raise InputError("cv", expected="at least 2 folds", got=str(folds))
    classes, code, size = np.unique(y, return_inverse=True, return_counts=True)
    if (size > 1).sum() < 2:
        raise InputError(
            "y",
            expected="at least two members of each class" if size.size == 2 else "two classes of two members or more",
            got=f"one class, {classes[size.argmin()].item()!r}, with 1 sample",
            hint="no model can be fitted without it",
        )
    shuffled = check_random_state(random_state).permutation(y.size)
    by_class = shuffled[np.argsort(code[shuffled], kind="stable")]
    fold = np.empty(y.size, np.intp)
    fold[by_class] = np.arange(y.size) % min(folds, y.size)
    return fold


def out_of_fold(
    models: Sequence[Any],
    respond: Sequence[Respond],
    X: Any,
    y: Array,
    parts: Sequence[Split],
    fit_params: Sequence[Mapping[str, Any]],
    n_jobs: int | None = None,
) -> OutOfFold:
    """Fit copies of each model to the training rows of each fold and ask them about its test rows."""
    tasks = [
        delayed(_fit_and_respond)(model, respond[i], X, y, split, fit_params[i], f"fold {fold} of {len(parts)}")
        for i, model in enumerate(models)
        for fold, split in enumerate(parts)
    ]
    answers: list[Any] = list(Parallel(n_jobs=n_jobs)(tasks))
    by_model = [answers[i * len(parts) : (i + 1) * len(parts)] for i in range(len(models))]
    row = np.concatenate([test for _, test in parts])
    fold = np.repeat(np.arange(len(parts)), [len(test) for _, test in parts])
    order = np.argsort(row, kind="stable")
    return OutOfFold(
        row=row[order],
        fold=fold[order],
        responses=tuple(np.concatenate(each)[order] for each in by_model),
    )


def _fit_and_respond(
    model: Any,
    respond: Respond,
    X: Any,
    y: Array,
    split: Split,
    fit_params: Mapping[str, Any],
    where: str,
) -> Array:
    train, test = split
    params = _check_method_params(X, fit_params, indices=train) if fit_params else {}
    try:
        fitted = unfitted(model).fit(_safe_indexing(X, train), y[train], **params)
        return respond(fitted, _safe_indexing(X, test))
    except Exception as error:
        error.add_note(f"while {type(model).__name__} was cross-validated, in {where}")
        raise


def unfitted(model: Any) -> Any:
    """Return a copy of a model with its parameters and without what it was fitted to."""
    return clone(model)
