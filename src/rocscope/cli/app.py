"""The commands, and where the defaults of their options come from."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cyclopts import App, ArgumentCollection, CycloptsError, Parameter, UnknownCommandError, UnusedCliTokensError
from cyclopts.config import Dict, Env

from rocscope import __version__
from rocscope.cli.options import FILES, OPTIONS, refuse_for_more_classes
from rocscope.engines.sources.file_formats import format_of
from rocscope.errors import InputError

COMMANDS = (
    "demo", "validate", "summary", "report", "page", "explore", "choose", "verify", "campaign", "compare", "calibrate",
    "monitor",
)  # fmt: skip
_MODULES = {"page": "explore"}  # where that is not the command's own name
_COMPLETION = "--install-completion"


def _settings(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in what `rocscope.toml`, or else `[tool.rocscope]` in `pyproject.toml`, says: for the command, for all."""
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
    """Return what was typed; of a file without a command, a summary of what can be guessed."""
    first = next(iter(arguments), "--help")
    if first in ("--help", "-h", _COMPLETION):
        if _COMPLETION not in app:  # it costs a tenth of an answer
            app.register_install_completion_command(_COMPLETION, help="Have the shell complete commands and options.")
        for name in COMMANDS:
            _ = app[name].help  # an overview says what each is for
    is_file = first not in COMMANDS and not first.startswith("-") and (format_of(Path(first)) or Path(first).exists())
    return ["summary", first, "--guess", *arguments[1:]] if is_file else arguments


def usage(error: CycloptsError) -> str:
    """Return what is wrong with a command as it was typed, and where to look."""
    words = str(error).partition(" Available commands:")[0].rstrip(".")
    if isinstance(error, UnknownCommandError):
        words = words.replace("Unknown command", "Neither a command nor a file:")
    if isinstance(error, UnusedCliTokensError):
        got = " ".join(map(repr, error.unused_tokens or ()))
        words = f"arguments: expected no more, got also {got}; a pattern such as 'part-*.csv' belongs in quotes"
    command = " ".join(("rocscope", *(error.command_chain or ())))
    return f"{words}; see {command} --help"
