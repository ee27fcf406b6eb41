"""The page of the workbench: the report's client, and what asks this machine in place of data."""

from typing import Any

from rocscope.report.pack import as_json, in_script
from rocscope.report.page import client, digest, raw, template


def live_page(facts: dict[str, Any], *, widget: bool = False) -> str:
    """Return the page: it may ask the address that it came from, or the frame around it, and loads nothing."""
    scripts = {name: client(f"{name}.js") for name in ("report", "live")}
    styles = {name: client(f"{name}.css") for name in ("report", "live")}
    kinds = (("script", scripts), ("style", styles))
    named = {f"{name}_{kind}": text for kind, files in kinds for name, text in files.items()}
    hashes = {f"{name}_hash": digest(text) for name, text in named.items()}
    return template("live.html.j2").render(
        title=facts["title"],
        home="widget" if widget else "server",
        connect=raw("'none'" if widget else "'self'"),
        facts=raw(in_script(as_json(facts))),
        notices=raw(client("THIRD_PARTY.txt")),
        **{name: raw(text) for name, text in named.items()},
        **hashes,
    )
