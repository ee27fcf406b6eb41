"""Errors and warnings that rocscope raises.

Every message is one line and says what was expected, what was found and how to go on::

    y_score: expected one score per label (4), got 3; pass labels and scores of the same rows

The command line prints that line and exits with code 2.
"""

import difflib
import functools
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_LONGEST = 400  # of what was found: texts that were passed may be of any length
_MOST_LISTED, _MOST_NAMED = 6, 10  # of values, and of names to choose from
_SKIPPED = (__file__.removesuffix("errors.py"), contextmanager.__code__.co_filename, functools.__file__)


class RocscopeError(Exception):
    """Base class of all errors that rocscope raises deliberately.

    Parameters
    ----------
    subject : str
        Source of the error: an argument, a column, a file; or the whole message.
    expected, got, hint : str, optional
        Expected value, actual value, and how to continue.

    Examples
    --------
    >>> print(ShapeError("y_score", expected="4 scores", got="3", hint="pass the same rows"))
    y_score: expected 4 scores, got 3; pass the same rows
    """

    def __init__(self, subject: str, *, expected: str = "", got: str = "", hint: str = "") -> None:
        if len(subject) > 2 * _LONGEST:  # of a path that was passed
            subject = f"{subject[:_LONGEST]}…{subject[-_LONGEST:]}"
        message, got = subject, " ".join(got.split())  # of arrays, several lines
        got = got if len(got) <= _LONGEST else got[: _LONGEST - 1] + "…"
        if expected:
            message += f": expected {expected}" + (f", got {got}" if got else "")
        elif got:
            message += f": got {got}"
        if hint:
            message += f"; {hint}"
        if "\n" in message:  # of a name that was passed
            message = " ".join(message.split())
        super().__init__(message)


class InputError(RocscopeError, ValueError):
    """An argument has an invalid value."""


class ShapeError(InputError):
    """Arrays are empty, not one-dimensional, or of different lengths."""


class LabelError(InputError):
    """Labels are not two classes, or the positive class is unknown."""


class ScoreError(InputError):
    """Scores are missing, infinite, or not numbers."""


class WeightError(InputError):
    """Weights are negative, missing, infinite, or all zero."""


class OneClassError(InputError):
    """Data of one class were given where both are needed."""


class PairingError(InputError):
    """Results do not come from the same rows."""


class InfeasibleError(InputError):
    """No threshold satisfies all constraints; the message gives the closest attainable value."""


class StoredError(InputError):
    """A stored object has an unknown version, is incomplete, or was changed."""


class ColumnError(RocscopeError, LookupError):
    """A named column is not in the data."""


class ModelError(RocscopeError):
    """A model failed to fit or has no scores; the message names model, fold and repeat."""


class InexactCountsError(RocscopeError):
    """An exact result was requested from approximate counts."""


class MissingDependencyError(RocscopeError, ImportError):
    """An optional library is missing; the message names the extra to install."""


class EngineError(RocscopeError):
    """A file, a database or a cluster could not be read."""


class RocscopeWarning(UserWarning):
    """A result deviates from the request: its interval is a fallback, or some replicates failed."""


_LISTENER: ContextVar[list[str] | None] = ContextVar("listener", default=None)
_FILTERS = threading.RLock()  # otherwise one thread would restore what another has set for a moment


def warn(message: str) -> None:
    """Warn that a result deviates from the request, at the line of the user's call; or tell who listens (`heard`).

    This is the innermost one outside of the package, which `skip_file_prefixes` finds from Python 3.12 on.
    """
    listener = _LISTENER.get()
    if listener is not None:
        if message not in listener:
            listener.append(message)
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, RocscopeWarning, stacklevel=level)


@contextmanager
def heard() -> Iterator[list[str]]:
    """Collect rocscope's warnings, without repetition, for display elsewhere; other threads have their own.

    Examples
    --------
    >>> with heard() as said:
    ...     warn("an interval is a fallback")
    >>> said
    ['an interval is a fallback']
    """
    said: list[str] = []
    token = _LISTENER.set(said)
    try:
        yield said
    finally:
        _LISTENER.reset(token)


@contextmanager
def without_warnings(category: type[Warning], *messages: str) -> Iterator[None]:
    """Ignore warnings of other libraries that match a pattern, in one thread at a time."""
    with _FILTERS, warnings.catch_warnings():
        for message in messages:
            warnings.filterwarnings("ignore", message, category)
        yield


def listing(values: Sequence[Any], most: int = _MOST_LISTED, shown: Callable[[Any], str] = repr) -> str:
    """Return the first values as text, with the number of further ones."""
    rest = len(values) - most
    return ", ".join(map(shown, values[:most])) + (f" and {rest} more" if rest > 0 else "")


def one_of(name: str, known: Sequence[str], also: Iterable[str] = ()) -> str:
    """Return the "expected" text of an error: at most ten known names, closest first, with a suggestion.

    `also` are further names of the same things, which are shown only where they are close.

    Examples
    --------
    >>> one_of("acuracy", ["f1", "accuracy"])
    "one of 'f1', 'accuracy' (did you mean 'accuracy'?)"
    """
    by_folded = {entry.casefold(): entry for entry in [*also, *reversed(known)]}
    close = [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded)]
    shown = known if len(known) <= _MOST_NAMED else list(dict.fromkeys([*close, *known]))
    listed = "one of " + listing(shown, _MOST_NAMED)
    return f"{listed} (did you mean {close[0]!r}?)" if close else listed


def brief(origin: tuple[str, ...]) -> str:
    """Return the first of several names, with the number of further ones."""
    return origin[0] if len(origin) == 1 else f"{origin[0]} and {len(origin) - 1} more"
