"""The command line: `rocscope COMMAND`, one file a command."""

import os
import sys

from rocscope.errors import RocscopeError

BAD_INPUT, INTERNAL_ERROR, INTERRUPTED = 2, 101, 130


def main() -> None:
    """Run the command line; what goes wrong becomes one line on stderr and an exit code, never a traceback."""
    from cyclopts import CycloptsError

    from rocscope.cli.app import app, usage

    try:
        sys.exit(app(sys.argv[1:]))
    except CycloptsError as error:
        _leave(usage(error), BAD_INPUT)
    except RocscopeError as error:
        _leave(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        _leave("interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of a pipe has left: no fault
    except Exception as error:
        if os.environ.get("ROCSCOPE_DEBUG"):
            raise
        _leave(
            f"internal error: {type(error).__name__}: {error}; please report it with the output of the same command "
            "under ROCSCOPE_DEBUG=1",
            INTERNAL_ERROR,
        )


def _leave(message: str, code: int) -> None:
    print("rocscope:", *message.split(), file=sys.stderr)
    sys.exit(code)
