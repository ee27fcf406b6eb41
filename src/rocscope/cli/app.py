"""The commands, and where their defaults come from."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from rocscope import __version__
from rocscope.cli.calibrate import calibrate
from rocscope.cli.campaign import campaign
from rocscope.cli.choose import choose
from rocscope.cli.compare import compare
from rocscope.cli.demo import demo
from rocscope.cli.report import report
from rocscope.cli.summary import summary
from rocscope.cli.validate import validate
from rocscope.errors import InputError

app = typer.Typer(
    name="rocscope",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="From scores to decisions: ROC curve, lift chart, calibration plot and the best threshold.",
    epilog="Defaults of options: the command line, then ROCSCOPE_* in the environment, then rocscope.toml, "
    r"then \[tool.rocscope] in pyproject.toml.",
)
for command in (demo, validate, summary, report, choose, campaign, compare, calibrate):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rocscope {__version__}")
        raise typer.Exit


@app.callback()
def set_defaults(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    settings = _settings(Path.cwd())
    if context.invoked_subcommand:
        context.default_map = {context.invoked_subcommand: settings | settings.get(context.invoked_subcommand, {})}


def _settings(folder: Path) -> dict[str, Any]:
    """Read `rocscope.toml`, or else `[tool.rocscope]` in `pyproject.toml`."""
    for name, table in (("rocscope.toml", ()), ("pyproject.toml", ("tool", "rocscope"))):
        path = folder / name
        if not path.is_file():
            continue
        try:
            settings = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(str(path), expected="valid TOML", got=str(error)) from error
        for key in table:
            settings = settings.get(key, {})
        if settings:
            return {key.replace("-", "_"): value for key, value in settings.items()}
    return {}
