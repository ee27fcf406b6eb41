"""The commands, and the sources of their options' defaults."""

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import (
    App,
    ArgumentCollection,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from cyclopts.config import Dict, Env

from rocscope import __version__
from rocscope.cli.console import note
from rocscope.cli.options import FILES, OPTIONS, not_a_number, refuse_for_more_classes
from rocscope.engines.formats import format_of
from rocscope.errors import InputError

_COMPLETION = "--install-completion"
_Shell = Literal["bash", "zsh", "fish", "powershell"]
_STARTUP = {"bash": ".bashrc", "zsh": ".zshrc"}


def _offer_completion(app: App) -> None:
    """Add the option to the commands; it costs a tenth of an answer, so only where it is asked for or listed."""

    def install(*, shell: _Shell | None = None, yes: Annotated[bool, Parameter(show_default=False)] = False) -> int:
        """Have the shell complete commands and options: shows what it would write, and asks.

        Parameters
        ----------
        shell
            Shell to write for; by default the one it is called from.
        yes
            Write without asking.
        """
        shell = shell or _detected()
        script = _script(shell, app.name[0])
        note(f"Completion for {shell} writes {script}" + _startup(shell))
        if not yes and not _agreed():
            note("Nothing was written.")
            return 0
        app.install_completion(shell=shell, output=script)
        note(f"Written. Open a new {shell} to use it.")
        return 0

    app.command(install, name=_COMPLETION)


def _detected() -> _Shell:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        return detect_shell()
    except ShellDetectionError:
        raise InputError("--shell", expected="bash, zsh, fish or powershell", got="a shell not known") from None


def _script(shell: _Shell, name: str) -> Path:
    """Return where the shell looks for completions; unlike the library's own answer, without making folders."""
    if shell == "powershell":
        from cyclopts.completion.install import get_default_completion_path

        return get_default_completion_path(shell, name)
    custom = os.environ.get("ZSH_CUSTOM") or (os.environ["ZSH"] + "/custom" if os.environ.get("ZSH") else "")
    zsh = Path(custom) if custom and Path(custom).is_dir() else Path.home() / ".zsh"
    return {
        "bash": Path.home() / f".local/share/bash-completion/completions/{name}",
        "zsh": zsh / f"completions/_cyclopts_{name}",
        "fish": Path.home() / f".config/fish/completions/{name}.fish",
    }[shell]


def _startup(shell: _Shell) -> str:
    if shell == "powershell":
        return ", and adds a line that loads it to your PowerShell profile"
    return f", and adds a line that loads it to {Path.home() / _STARTUP[shell]}" if shell in _STARTUP else ""


def _agreed() -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError(_COMPLETION, expected="--yes where nobody can be asked", got="none")
    return input("Write it? [y/N] ").strip().casefold() in ("y", "yes")


COMMANDS = (
    "demo", "validate", "summary", "report", "page", "explore", "choose", "campaign", "apply", "outcomes", "verify",
    "compare", "gate", "calibrate", "monitor",
)  # fmt: skip
_MODULES = {  # where that is not the command's own name
    **dict.fromkeys(("demo", "report", "page", "explore"), "pages"),
    **dict.fromkeys(("calibrate", "validate", "verify", "monitor"), "checks"),
    **dict.fromkeys(("apply", "outcomes"), "campaign"),
    "compare": "summary",
}


def _settings(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in options from `rocscope.toml`, or `[tool.rocscope]` in `pyproject.toml`: for the command, then for all."""
    for name, *tables in (("rocscope.toml",), ("pyproject.toml", "tool", "rocscope")):
        settings = _read(Path(name))
        for table in tables:
            settings = settings.get(table, {})
        if settings:
            Dict(settings, source=name, allow_unknown=True)(app, commands, arguments)
            Dict(settings, source=name, allow_unknown=True, use_commands_as_keys=False)(app, commands, arguments)
            return


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig")) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), expected="valid TOML", got=str(error)) from error


app = App(
    name="rocscope",
    version=f"rocscope {__version__}",
    version_flags="--version",
    help="From scores to decisions: ROC curve, lift chart, calibration plot and the best threshold.\n\n"
    "'rocscope FILE' alone guesses what the columns are for, says so, and shows a summary.",
    help_epilogue="Defaults of options: the command line, then the environment (ROCSCOPE_LABEL for --label), then "
    r"rocscope.toml, then \[tool.rocscope] in pyproject.toml.",
    usage="Usage: rocscope COMMAND, or rocscope FILE",
    help_format="rich",
    default_parameter=Parameter(negative=()),
    group_arguments=FILES,
    group_parameters=OPTIONS,
    config=[Env("ROCSCOPE_", command=False, show=False), _settings, refuse_for_more_classes],
    print_error=False,
    exit_on_error=False,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
for name in COMMANDS:
    app.command(f"rocscope.cli.{_MODULES.get(name, name)}:{name}", name=name)  # loaded when it is typed, or listed


def completed(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments; a file without a command becomes a summary of what can be guessed."""
    first = next(iter(arguments), "--help")
    if first in ("--help", "-h", _COMPLETION):
        if _COMPLETION not in app:
            _offer_completion(app)
        for name in COMMANDS:
            _ = app[name].help  # an overview says what each is for
    is_file = first not in COMMANDS and not first.startswith("-") and (format_of(Path(first)) or Path(first).exists())
    return ["summary", first, "--guess", *arguments[1:]] if is_file else arguments


def usage(error: CycloptsError) -> str:
    """Return the usage error of a command line, with a hint."""
    command = " ".join(("rocscope", *(error.command_chain or ())))
    return f"{_words(error)}; see {command} --help"


def _words(error: CycloptsError) -> str:
    words = str(error).partition(" Available commands:")[0].rstrip(".")
    if isinstance(error, UnknownCommandError):
        return words.replace("Unknown command", "Neither a command nor a file:")
    if isinstance(error, UnusedCliTokensError):
        got = " ".join(map(repr, error.unused_tokens or ()))
        return f"arguments: expected no more, got also {got}; a pattern such as 'part-*.csv' belongs in quotes"
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.keyword or error.argument.name
        return f"{name}: expected {'a value' if name.startswith('-') else 'a file'}, got none"
    if isinstance(error, UnknownOptionError):
        typed = error.token.keyword or error.token.value
        known = [name for each in error.argument_collection if each.parse for name in each.names]
        close = get_close_matches(typed, known, cutoff=_ALIKE)
        close.sort(key=lambda name: sorted(name) != sorted(typed))  # --lable is --label sooner than --table
        return f"{typed}: no such option" + (f" (did you mean {close[0]}?)" if close else "")
    if isinstance(error, CoercionError) and error.token is not None and error.target_type in _NUMBERS:
        name = error.token.keyword or "number"
        return str(not_a_number(name, error.token.value, _NUMBERS[error.target_type]))
    return words


_ALIKE = 0.75  # difflib's ratio: "--lable" finds "--label", and "--metric" does not find "--memory"
_NUMBERS: dict[Any, str] = {float: "a number", int: "a whole number"}
_OTHER_NAMES = {"scores": "--score", "fail_if": "--fail-if", "cv": "--folds", "constraint": "--subject-to"}
_BOTH = re.compile(r"\b\w+(?:=(?:'[^']*'|[\w.]+)?)? \((--[^)]+)\)")
_GIVEN = re.compile(r"\b(\w+)=(?:'([^']*)'|([\w.-]+))?")


def as_typed(message: str, arguments: Sequence[str]) -> str:
    """Return a message with argument names replaced by the options as typed.

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

    message = _BOTH.sub(r"\1", message)
    subject, colon, rest = message.partition(": ")
    if subject in options and colon:
        subject = options[subject]
    return _GIVEN.sub(option, subject) + colon + _GIVEN.sub(option, rest)


def _options_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return the options of the command by their Python names."""
    command = next(iter(arguments), "")
    found = app[command].assemble_argument_collection() if command.isalpha() and command in app else ()
    options = {argument.name.removeprefix("--").replace("-", "_"): argument.name for argument in found}
    options = {name: option for name, option in options.items() if option.startswith("--")}
    return {name: option for name, option in _OTHER_NAMES.items() if option in options.values()} | options
