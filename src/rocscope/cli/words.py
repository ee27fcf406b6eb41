"""Errors in the words of the command line: `--missing drop`, where the library says ``missing='drop'``."""

import re
import shlex
from collections.abc import Sequence

_OTHER_NAMES = {"scores": "--score", "fail_if": "--fail-if", "cv": "--folds"}
_BOTH = re.compile(r"\b\w+(?:=(?:'[^']*'|[\w.]+)?)? \((--[^)]+)\)")
_FORCED = re.compile(r"\((--\w+), \w+=\w+\)")
_GIVEN = re.compile(r"\b(\w+)=(?:'([^']*)'|([\w.-]+))?")


def as_typed(message: str, arguments: Sequence[str]) -> str:
    """Return a message whose arguments are named as they are typed after a command.

    Examples
    --------
    >>> as_typed("score 'a': expected numbers; leave such rows out with missing='drop'", ["summary"])
    "score 'a': expected numbers; leave such rows out with --missing drop"
    >>> as_typed("target_prevalence: expected a share between 0 and 1, got 2.0", ["choose"])
    '--target-prevalence: expected a share between 0 and 1, got 2.0'
    """
    options = _options_of(arguments)

    def option(found: re.Match[str]) -> str:
        name, *values = found.groups()
        if name not in options:
            return found[0]
        value = next((value for value in values if value is not None), None)
        return options[name] if value in (None, "True") else f"{options[name]} {shlex.quote(value)}"

    message = _FORCED.sub(r"(\1)", _BOTH.sub(r"\1", message))
    subject, colon, rest = message.partition(": ")
    if subject in options and colon:
        subject = options[subject]
    return _GIVEN.sub(option, subject) + colon + _GIVEN.sub(option, rest)


def _options_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return the options of the command that was typed, by the names that Python has for them."""
    from rocscope.cli.app import app

    command = next(iter(arguments), "")
    found = app[command].assemble_argument_collection() if command.isalpha() and command in app else ()
    options = {argument.name.removeprefix("--").replace("-", "_"): argument.name for argument in found}
    options = {name: option for name, option in options.items() if option.startswith("--")}
    return {name: option for name, option in _OTHER_NAMES.items() if option in options.values()} | options
