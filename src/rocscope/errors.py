"""Errors and warnings that rocscope raises.

Every message is one line. It states the expected value, the actual value and how to fix the error::

    y_score: expected one score per label (4), got 3; pass labels and scores of the same rows

The command line prints the message and exits with code 2.
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
        Source of the error, such as an argument, a column or a file. Without `expected`, the whole message.
    expected, got, hint : str, optional
        Expected value, actual value, and how to fix the error.

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
    """An array is empty or has the wrong shape, or arrays have different lengths."""


class LabelError(InputError):
    """Labels do not have two classes, or the positive class is unknown."""


class ScoreError(InputError):
    """A score is missing, infinite, or not a number."""


class WeightError(InputError):
    """A weight is negative, missing or infinite, or all weights are zero."""


class OneClassError(InputError):
    """The data contain only one class, but both classes are needed."""


class PairingError(InputError):
    """Results that are compared do not come from the same rows."""


class InfeasibleError(InputError):
    """No threshold satisfies all constraints. The message contains the closest attainable value."""


class StoredError(InputError):
    """A saved file has an unsupported version, is incomplete, or was changed."""


class ColumnError(RocscopeError, LookupError):
    """A column, model or measure with this name does not exist."""


class ModelError(RocscopeError):
    """A model failed to fit or has no scores. The message contains the model, the fold and the repeat."""


class InexactCountsError(RocscopeError):
    """The data are approximate counts, but the requested result needs exact counts."""


class MissingDependencyError(RocscopeError, ImportError):
    """An optional library is not installed. The message contains the extra to install."""


class EngineError(RocscopeError):
    """A file, a database or a cluster could not be read."""


class RocscopeWarning(UserWarning):
    """Warning that a result differs from the request, for example because some replicates failed."""


_LISTENER: ContextVar[list[str] | None] = ContextVar("listener", default=None)
_FILTERS = threading.RLock()  # otherwise one thread would restore what another has set for a moment


def warn(message: str) -> None:
    """Issue a RocscopeWarning at the line of the user's call; within `collected_warnings`, collect the message instead.

    The line of the user's call is the innermost line outside this package. From Python 3.12 on, `skip_file_prefixes`
    of `warnings.warn` also finds it.
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
def collected_warnings() -> Iterator[list[str]]:
    """Collect rocscope's warnings of the current thread in a list, without repetition, instead of issuing them.

    Examples
    --------
    >>> with collected_warnings() as messages:
    ...     warn("an interval is a fallback")
    >>> messages
    ['an interval is a fallback']
    """
    messages: list[str] = []
    token = _LISTENER.set(messages)
    try:
        yield messages
    finally:
        _LISTENER.reset(token)


@contextmanager
def without_warnings(category: type[Warning], *messages: str) -> Iterator[None]:
    """Ignore warnings of a category whose message matches a pattern; other threads wait meanwhile."""
    with _FILTERS, warnings.catch_warnings():
        for message in messages:
            warnings.filterwarnings("ignore", message, category)
        yield


def listing(values: Sequence[Any], most: int = _MOST_LISTED, shown: Callable[[Any], str] = repr) -> str:
    """Return the first values as text, followed by the number of omitted values."""
    rest = len(values) - most
    return ", ".join(map(shown, values[:most])) + (f" and {rest} more" if rest > 0 else "")


def one_of(name: str, known: Sequence[str], also: Iterable[str] = ()) -> str:
    """Return the text after "expected" in an error message: at most ten known names and a suggestion.

    If there are more than ten known names, the names most similar to `name` come first. `also` contains aliases, which
    are shown only if they are similar to `name`.

    Examples
    --------
    >>> one_of("acuracy", ["f1", "accuracy"])
    "one of 'f1', 'accuracy' (did you mean 'accuracy'?)"
    """
    if len(known) == 1 and not also:
        return repr(known[0])
    by_folded = {entry.casefold(): entry for entry in [*also, *reversed(known)]}
    close = [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded)]
    shown = known if len(known) <= _MOST_NAMED else list(dict.fromkeys([*close, *known]))
    listed = "one of " + listing(shown, _MOST_NAMED)
    return f"{listed} (did you mean {close[0]!r}?)" if close else listed


def brief(origin: tuple[str, ...]) -> str:
    """Return the first of several names, followed by the number of omitted names."""
    return origin[0] if len(origin) == 1 else f"{origin[0]} and {len(origin) - 1} more"
