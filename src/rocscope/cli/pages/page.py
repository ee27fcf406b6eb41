"""rocscope page: the report's page without data, for who has a file of scores and a browser."""

from typing import Annotated

from rocscope._output import write_file
from rocscope.cli import options as opt
from rocscope.cli.console import note, write_text


def page(*, output: Annotated[str, opt.OUTPUT] = "open.html", force: opt.Force = False) -> None:
    """Write a page that makes a report of any file that is dropped on it, in any browser and offline.

    Example: rocscope page -o open.html

    Parameters
    ----------
    output
        File to write; - for stdout.
    """
    opt.require_output(output, force=force)
    from rocscope.report.open_page import open_page

    if output == "-":
        write_text(open_page())
    else:
        note(f"Page: {write_file(output, open_page(), force=force)}")
