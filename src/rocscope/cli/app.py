"""The commands, and where the defaults of their options come from."""

import tomllib
from pathlib import Path
from typing import Any

from cyclopts import App, ArgumentCollection, CycloptsError, Parameter, UnusedCliTokensError
from cyclopts.config import Dict, Env

from rocscope import __version__
from rocscope.cli.calibrate import calibrate
from rocscope.cli.campaign import campaign
from rocscope.cli.choose import choose
from rocscope.cli.compare import compare
from rocscope.cli.demo import demo
from rocscope.cli.monitor import monitor
from rocscope.cli.options import FILES, OPTIONS, refuse_for_more_classes
from rocscope.cli.pages.explore import explore
from rocscope.cli.pages.page import page
from rocscope.cli.report import report
from rocscope.cli.summary import summary
from rocscope.cli.validate import validate
from rocscope.cli.verify import verify
from rocscope.errors import InputError


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
    help="From scores to decisions: ROC curve, lift chart, calibration plot and the best threshold.",
    help_epilogue="Defaults of options: the command line, then the environment (ROCSCOPE_LABEL for --label), then "
    r"rocscope.toml, then \[tool.rocscope] in pyproject.toml.",
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
for command in (demo, validate, summary, report, page, explore, choose, verify, campaign, compare, calibrate, monitor):
    app.command(command)


def usage(error: CycloptsError) -> str:
    """Return what is wrong with a command as it was typed, and where to look."""
    words = str(error).rstrip(".")
    if isinstance(error, UnusedCliTokensError):
        got = " ".join(map(repr, error.unused_tokens or ()))
        words = f"arguments: expected no more, got also {got}; a pattern such as 'part-*.csv' belongs in quotes"
    command = " ".join(("rocscope", *(error.command_chain or ())))
    return f"{words}; see {command} --help"
