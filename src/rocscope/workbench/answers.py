"""Answer the questions of the workbench page: parse and check the question, compute, return JSON."""

from collections.abc import Callable
from math import inf
from typing import Any

from rocscope import __version__
from rocscope._base import validation as check
from rocscope.core.context import Context
from rocscope.errors import InputError, RocscopeError
from rocscope.report.model import CONVENTIONS, SCHEMA_VERSION
from rocscope.report.pack import COSTS, as_json, in_script, packed_context, packed_part
from rocscope.report.page import client, digest, raw, template
from rocscope.workbench import intervals as beside
from rocscope.workbench.request_queue import CancelToken
from rocscope.workbench.session import ALL, RowSelection, Session


def live_page(facts: dict[str, Any], *, widget: bool = False) -> str:
    """Return the page, which may query only the address that served it, or the frame around it."""
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


ASIDE = ("intervals", "point", "band", "tests", "validation", "list")
"""Requests that run in the background and must not delay counts."""

WORDS = {"everybody": -inf, "nobody": inf}
"""Words for thresholds that JSON numbers cannot express."""

_MOST_CHARACTERS = 10_000  # of a condition: far more than anybody types


def answer(session: Session, question: dict[str, Any], token: CancelToken) -> Any:
    """Return the answer to a request.

    Raises
    ------
    InputError
        If the question cannot be understood.
    RocscopeError
        If it has no answer.
    """
    what = question.get("what")
    if what not in _ANSWERS:
        raise InputError("what", expected=f"one of {', '.join(_ANSWERS)}", got=check.shown(what))
    return _ANSWERS[what](session, question, token)


def facts(session: Session, by: str | None, token: CancelToken) -> dict[str, Any]:
    """Return the page's facts besides counts; with the reason if rows cannot be split by a column."""
    said: list[str] = []
    by = by or session.sources[0].by
    try:
        parts, warnings = session.parts(by, token)
    except RocscopeError as error:
        if by is None:
            raise
        said, by = [f"Rows are not split by {by!r}: {error}"], None
        parts, warnings = session.parts(None, token)
    sizes = {"source": ", ".join(each.name for each in session.sources if each.name)}
    return {
        "schema": SCHEMA_VERSION,
        "title": session.title,
        "notes": "",
        "context": packed_context(session.context),
        "slices": [{"kind": kind, "name": name} for kind, name in parts],
        "classes": None,
        "validation": {},
        "conventions": CONVENTIONS,
        "warnings": [*said, *warnings],
        "provenance": {"rocscope": __version__} | sizes,
        "by": by,
        "columns": session.columns,
        "seconds": session.seconds,
        "lists": all(source.held for source in session.sources),
    }


def _rows(question: dict[str, Any]) -> RowSelection:
    given = {name: _text(question, name) for name in ("where", "by", "kind", "name")}
    where = (given["where"] or "").strip() or None
    return RowSelection(where, given["by"], given["kind"] or ALL[0], given["name"] or ALL[1])


def _text(question: dict[str, Any], name: str) -> str | None:
    value = question.get(name)
    if value is not None and not (isinstance(value, str) and len(value) <= _MOST_CHARACTERS):
        raise InputError(name, expected=f"text of at most {_MOST_CHARACTERS:,} characters", got=check.shown(value))
    return value


def _model(question: dict[str, Any]) -> str:
    return _text(question, "model") or ""


def _number(question: dict[str, Any], name: str, *, optional: bool = False) -> Any:
    value = question.get(name)
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(name, expected="a number", got=check.shown(value))
    return value


def _threshold(question: dict[str, Any]) -> float:
    """Return the threshold; words stand for infinite ones."""
    value = question.get("threshold")
    return WORDS[value] if isinstance(value, str) and value in WORDS else _number(question, "threshold")


def context_of(given: Any) -> Context:
    """Return the context set on the page."""
    if not isinstance(given, dict):
        raise InputError("context", expected="costs and a prevalence", got=check.shown(given))
    prevalence = _number(given, "target_prevalence", optional=True)
    return Context(prevalence, *(_number(given, name) for name in COSTS))


def _context(question: dict[str, Any]) -> Context:
    return context_of(question.get("context"))


def _cut(question: dict[str, Any]) -> dict[str, Any]:
    return {"model": _model(question), "threshold": _threshold(question)}


def _counts(session: Session, question: dict[str, Any], token: CancelToken) -> Any:
    asked = _rows(question)
    return packed_part(asked.kind, asked.name, session.outlines(asked, token))


_ANSWERS: dict[str, Callable[[Session, dict[str, Any], CancelToken], Any]] = {
    "facts": lambda session, asked, token: facts(session, _text(asked, "by"), token),
    "counts": _counts,
    "intervals": lambda session, asked, token: beside.intervals(session, _rows(asked), token),
    "point": lambda session, asked, token: [
        beside.at_point(session, _rows(asked), token, **_cut(asked), context=_context(asked))
    ],
    "band": lambda session, asked, token: beside.roc_band(session, _rows(asked), token, model=_model(asked)),
    "tests": lambda session, asked, token: beside.tests(session, _rows(asked), token, context=_context(asked)),
    "validation": lambda session, asked, token: beside.validation(
        session, _rows(asked), token, context=_context(asked)
    ),
    "list": lambda session, asked, token: beside.list_rows(
        session,
        _rows(asked),
        token,
        **_cut(asked),
        most=_number(asked, "most", optional=True),
        column=_text(asked, "column") or "",
    ),
}
