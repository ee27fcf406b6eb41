"""rocscope --install-completion: what shells complete, written once it was shown and agreed to."""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from rocscope.cli.console import note
from rocscope.errors import InputError

OPTION = "--install-completion"
Shell = Literal["bash", "zsh", "fish", "powershell"]
_STARTUP = {"bash": ".bashrc", "zsh": ".zshrc"}


def register(app: App) -> None:
    """Add the option to the commands; it costs a tenth of an answer, so only where it is asked for or listed."""

    def install(*, shell: Shell | None = None, yes: Annotated[bool, Parameter(show_default=False)] = False) -> int:
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

    app.command(install, name=OPTION, help="Have the shell complete commands and options; shows what it writes, asks.")


def _detected() -> Shell:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        return detect_shell()
    except ShellDetectionError:
        raise InputError("--shell", expected="bash, zsh, fish or powershell", got="a shell not known") from None


def _script(shell: Shell, name: str) -> Path:
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


def _startup(shell: Shell) -> str:
    if shell == "powershell":
        return ", and adds a line that loads it to your PowerShell profile"
    return f", and adds a line that loads it to {Path.home() / _STARTUP[shell]}" if shell in _STARTUP else ""


def _agreed() -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError(OPTION, expected="--yes where nobody can be asked", got="none")
    return input("Write it? [y/N] ").strip().casefold() in ("y", "yes")
