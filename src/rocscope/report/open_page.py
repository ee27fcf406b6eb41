"""The open page: the client without data, which counts the files that are dropped on it in the browser."""

import json

from rocscope import __version__
from rocscope.report.html import client, digest, raw, shell, template
from rocscope.report.model import CONVENTIONS
from rocscope.report.pack import in_script


def open_page() -> str:
    """Return the page: one file that needs no network, and has none.

    Examples
    --------
    >>> page = open_page()
    >>> len(page) < 250_000, "connect-src 'none'" in page
    (True, True)
    """
    facts = json.dumps({"version": __version__, "conventions": CONVENTIONS, "shell": shell()})
    report, opened, style, open_style = map(client, ("report.js", "open.js", "report.css", "open.css"))
    return template("open.html.j2").render(
        facts=raw(in_script(facts)),
        worker=raw(client("worker.js")),
        report=raw(report),
        open=raw(opened),
        style=raw(style),
        open_style=raw(open_style),
        report_hash=digest(report),
        open_hash=digest(opened),
        style_hash=digest(style),
        open_style_hash=digest(open_style),
        notices=raw(client("THIRD_PARTY.txt")),
    )
