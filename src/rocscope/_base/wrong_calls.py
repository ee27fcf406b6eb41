"""Wrong calls: arguments and attributes of other libraries, answered with what does their job here."""

from collections.abc import Callable, Iterable
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, cast

from rocscope._base.contract import contract

_ALIKE = 0.75  # as of names, see `rocscope._base.public_names`
_Function = TypeVar("_Function", bound=Callable[..., Any])


@cache
def other_words() -> dict[str, dict[str, dict[str, str]]]:
    """Return what does the job of an argument or attribute of another library: of a function, of a class.

    Examples
    --------
    >>> other_words()["attributes"]["RocCurve"]["roc_auc"]
    '.auc'
    """
    import tomllib

    return tomllib.loads(Path(__file__).with_name("other_words.toml").read_text(encoding="utf-8"))


def answering(function: _Function) -> _Function:
    """Hold a function of data to its signature, and let the TypeError for wrong arguments say what to call instead.

    Examples
    --------
    >>> @answering
    ... def auc(y_true, y_score=None, *, model=None): ...
    >>> auc([0, 1], [0.1, 0.9], max_fpr=0.1)
    Traceback (most recent call last):
    ...
    TypeError: auc() got an unexpected keyword argument 'max_fpr'; use rs.roc(y, s).partial_auc(max_fpr=0.1)
    """

    @wraps(function)
    def answered(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # it comes from within
                raise
            raise TypeError(f"{error}{_instead(function, arguments, options)}") from None

    return contract(cast(_Function, answered))


def _instead(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    known = list(signature(function).parameters)
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        words = other_words()["arguments"]
        table = words["any"] | words.get(function.__name__, {})
        return f"; use {table[unknown]}" if unknown in table else _close(unknown, known, "{}=")
    if any(hasattr(each, "predict") for each in arguments):
        return "; of a fitted model use rs.evaluation.from_estimator(model, X, y), and pass what it returns"
    if any(hasattr(each, "columns") for each in arguments):
        return "; of a data frame use rs.read(data, label=..., scores=[...]), and pass what it returns"
    return "; pass labels and scores, those of several models by name: (y, {'a': s, 'b': s})"


class MissingAttributeError(AttributeError):
    """An attribute that a result does not have; its words are only looked for where they are read."""

    def __str__(self) -> str:
        owner, name = self.args
        found = f"{owner.__name__} has no {name!r}"
        for kind in owner.__mro__:
            if name in (table := other_words()["attributes"].get(kind.__name__, {})):
                return f"{found}; use {table[name]}"
        return found + _close(name, (each for each in dir(owner) if not each.startswith("_")), ".{}")


def _close(name: str, known: Iterable[str], shown: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=3, cutoff=_ALIKE)
    return f"; did you mean {' or '.join(map(shown.format, close))}?" if close else ""
