"""The command line: `rocscope COMMAND`, one file a command."""

import os
import sys

from rocscope.errors import RocscopeError

BAD_INPUT, INTERRUPTED, INTERNAL_ERROR = 2, 130, 101


def main() -> None:
    """Run the command line; what goes wrong becomes one line on stderr and an exit code, never a traceback."""
    from rocscope.cli.app import app

    try:
        app()
    except RocscopeError as error:
        _leave(f"rocscope: {_one_line(error)}", BAD_INPUT)
    except KeyboardInterrupt:
        _leave("rocscope: interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of a pipe has left: no fault
    except Exception as error:
        if os.environ.get("ROCSCOPE_DEBUG"):
            raise
        _leave(
            f"rocscope: internal error: {type(error).__name__}: {_one_line(error)}; "
            "please report it with the output of the same command under ROCSCOPE_DEBUG=1",
            INTERNAL_ERROR,
        )


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _leave(message: str, code: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)
