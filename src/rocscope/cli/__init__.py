"""The command line: `rocscope COMMAND`, one function per command.

`main` is the program. `run` runs one command and returns its exit code. It prints an error as one line on stderr. The
module `app` lists the commands. The code of a command is imported when the command is typed.
"""

import gc
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

from rocscope._base.atomic_write import remove_unfinished
from rocscope.cli.console import attended, discard, note
from rocscope.errors import RocscopeError, collected_warnings

# Exit codes: shells use 130 for an interrupted program; 101 means an internal error.
BAD_INPUT = 2
INTERNAL_ERROR = 101
INTERRUPTED = 130

_OBJECTS_PER_SEARCH = 100_000  # new objects between two searches for cycles: tens of MB at most


def main() -> None:
    """Run the command line. If a signal stops the process, unfinished files are removed."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # Windows has no SIGHUP; nohup makes a program ignore it.
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    # Imports and descriptions of wide files create many objects but few cycles. With Python's default, a search for
    # cycles after each 700 new objects takes a fifth of the time of 'validate' on 100,000 columns.
    gc.set_threshold(_OBJECTS_PER_SEARCH)
    code = run(sys.argv[1:])
    # At exit, Python searches all objects of all libraries for cycles: a seventh of the time of a short command.
    gc.freeze()
    sys.exit(code)


def _end(*_: Any) -> None:
    """Exit at once. An exception is not raised, because a library could catch it."""
    remove_unfinished()
    with suppress(OSError):
        os.write(2, b"\n" * os.isatty(2) + b"rocscope: interrupted\n")
    os._exit(INTERRUPTED)


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code. An error is printed as one line on stderr, without a traceback."""
    if isinstance(sys.stdout, TextIOWrapper):
        # Like stderr, escape characters that the encoding lacks instead of raising an error.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        from rocscope.cli.app import app

        arguments = _completed(arguments)
        if "explore" in arguments[:1]:
            # The command runs until it is stopped, so no progress is shown and warnings are printed at once.
            code = app(arguments)
        else:
            step = attended(" ".join(["rocscope", *arguments[:1]]))
            with warnings.catch_warnings(record=True) as caught, collected_warnings() as said, step:
                code = app(arguments)
            for warning in dict.fromkeys([*said, *(str(warning.message) for warning in caught)]):
                note(f"Warning: {warning}")
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # A pipe that its reader has closed is not an error, and neither is the exit after --help.
        discard()
        return 0
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, OSError):
            discard()
        line, code = _explained(error, arguments)
        if code == INTERNAL_ERROR and os.environ.get("ROCSCOPE_DEBUG"):
            raise
        note(" ".join(["rocscope:", *line.split()]))
    return code or 0


def _completed(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments. If they start with a file instead of a command, insert `summary` and `--guess`."""
    from rocscope.cli.app import COMMANDS, COMPLETION, list_commands
    from rocscope.engines.formats import names_file

    first = arguments[0] if arguments else "--help"
    if first in ("--help", "-h", COMPLETION):
        list_commands()
    if first in COMMANDS or first.startswith("-"):
        return arguments
    if names_file(first):
        return ["summary", first, "--guess", *arguments[1:]]
    return arguments


def _explained(error: BaseException, arguments: Sequence[str]) -> tuple[str, int]:
    """Return the message of an error, and the exit code."""
    from cyclopts import CycloptsError

    if isinstance(error, CycloptsError):
        from rocscope.cli.app import usage

        return usage(error, arguments), BAD_INPUT
    if isinstance(error, RocscopeError):
        from rocscope.cli.app import as_typed

        return as_typed(str(error), arguments), BAD_INPUT
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    if isinstance(error, MemoryError):
        return "not enough memory; close other programs, or read fewer rows (--where)", BAD_INPUT
    if isinstance(error, OSError):
        return f"{error.filename or 'input or output'}: {error.strerror or error}", BAD_INPUT
    if isinstance(error, UnicodeEncodeError):
        hint = "rename the file or column, or set the environment variable PYTHONUTF8=1"
        return f"{error.object[:80]!a}: expected UTF-8 text; {hint}", BAD_INPUT
    hint = "please set ROCSCOPE_DEBUG=1, run the command again, and report the error with the output"
    return f"internal error: {type(error).__name__}: {error}; {hint}", INTERNAL_ERROR
