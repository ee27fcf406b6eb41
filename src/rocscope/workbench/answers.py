"""Intervals, bands, tests, validation tables and row lists that the workbench page asks for on demand."""
# MERGED-DOC: """Answer the questions of the workbench page: parse and check the question, compute, return JSON."""

import csv
import io
from collections.abc import Callable, Iterator
from itertools import combinations
from math import inf
from typing import Any

import numpy as np

from rocscope import __version__
from rocscope._base import validation as check
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.curves.rate_curves import roc
from rocscope.decisions.constraints import predict
from rocscope.decisions.randomized import hashes_of, ordered
from rocscope.errors import InputError, RocscopeError
from rocscope.evaluation.summary import DOMAINS, summary
from rocscope.inference.bands import band
from rocscope.inference.comparing import compare
from rocscope.inference.estimate import Comparison, Comparisons, adjust_p_values
from rocscope.inference.expected_costs import compare_costs
from rocscope.inference.proportions import rate_intervals
from rocscope.report.model import (
    CONVENTIONS,
    MOST_COMPARED,
    MOST_DETAILED,
    SCHEMA_VERSION,
    area_estimates,
    calibration_block,
    compared_pair,
)
from rocscope.report.page import (
    COSTS,
    as_json,
    client,
    digest,
    in_script,
    packed_calibration,
    packed_comparisons,
    packed_context,
    packed_part,
    raw,
    template,
)
from rocscope.sample import samples_of
from rocscope.workbench.session import ALL, CancelToken, RowSelection, Session

_BOOTSTRAPPED = 100_000
"""With more rows than this, bands are those of Kolmogorov and Smirnov, which need no bootstrap."""


def intervals(session: Session, asked: RowSelection, token: CancelToken) -> dict[str, Any]:
    """Return the intervals of areas, their differences, and calibration results besides bins.

    Models of one file are compared in pairs; of different files those that are called alike there, as two samples.
    Beyond a million rows there are neither, unless somebody asks for `tests`.
    """
    return session.cached("intervals", asked, lambda: _intervals(session, asked, token))


def _intervals(session: Session, asked: RowSelection, token: CancelToken) -> dict[str, Any]:
    counts = session.counts(asked, token)
    if any(each.n > MOST_DETAILED for each in counts.values()):
        areas = [{"value": each.pairs().auc()} for each in counts.values()]
        return {"auc": areas, "comparisons": packed_comparisons([], [])}
    blocks = [_calibrated(each, token) for each in counts.values()]
    return _compared(session, asked, token) | {"calibration": blocks}


def _compared(session: Session, asked: RowSelection, token: CancelToken) -> dict[str, Any]:
    intervals: dict[str, Any] = {}
    pairs: list[dict[str, Any]] = []
    data = session.data(asked, token)
    for source, rows in zip(session.sources, data, strict=True):
        token()
        sure = area_estimates(samples_of(rows))
        intervals |= {session.name_of(source, name): each for name, each in sure.intervals.items()}
        named = ("first", "second")
        pairs += [pair | {end: session.name_of(source, pair[end]) for end in named} for pair in sure.comparisons]
    counts = session.counts(asked, token)
    for one, other in _across(session, data):
        token()
        pairs += [compared_pair(pair) for pair in compare(dict([one, other]))]
    if len(session.sources) > 1 and pairs:
        adjusted = adjust_p_values([pair["p_value"] for pair in pairs])
        pairs = [pair | {"adjusted_p_value": p} for pair, p in zip(pairs, np.asarray(adjusted).tolist(), strict=True)]
    areas = [intervals.get(name) or {"value": each.pairs().auc()} for name, each in counts.items()]
    return {"auc": areas, "comparisons": packed_comparisons(list(counts), pairs)}


def _calibrated(counts: ThresholdCounts, token: CancelToken) -> dict[str, Any] | None:
    token()
    block = calibration_block(counts)
    return block and packed_calibration(block)


def _across(session: Session, data: list[Any]) -> Iterator[tuple[tuple[str, Any], tuple[str, Any]]]:
    """Yield pairs of models of two files with equal names, or that are alone in theirs."""
    if len(session.sources) < 2:
        return
    every = [
        (session.name_of(source, name), name if len(samples_of(rows)) > 1 else "", place, sample.rows)
        for place, (source, rows) in enumerate(zip(session.sources, data, strict=True))
        for name, sample in samples_of(rows).items()
    ]
    if len(every) > MOST_COMPARED:
        return
    for (first, own, here, rows), (second, other, there, others) in combinations(every, 2):
        if here != there and own == other and rows is not None and others is not None:
            yield (first, rows), (second, others)


def table(title: str, note: str, rows: list[dict[str, str]]) -> dict[str, Any]:
    """Return a table of text for the page."""
    return {"title": title, "note": note, "rows": rows}


def _of_model(session: Session, asked: RowSelection, token: CancelToken, model: str) -> ThresholdCounts:
    counts = session.counts(asked, token)
    if model not in counts:
        raise InputError("model", expected="one that is shown", got=repr(model))
    return counts[model]


def at_point(
    session: Session, asked: RowSelection, token: CancelToken, *, model: str, threshold: float, context: Context
) -> Any:
    """Return every rate at a threshold with its interval, at the context's prevalence."""
    point = _of_model(session, asked, token, model).at(threshold)
    estimates = rate_intervals(point, target_prevalence=context.target_prevalence)
    rows = [
        {"rate": name, "value": f"{each.value:.2%}", "95% interval": f"[{each.low:.2%}, {each.high:.2%}]"}
        for name, each in estimates.items()
    ]
    methods = "; ".join(dict.fromkeys(each.method for each in estimates.values()))
    return table(f"{model} at {threshold:.6g}", f"{methods}.", rows)


def roc_band(session: Session, asked: RowSelection, token: CancelToken, *, model: str) -> dict[str, Any]:
    """Return a band that holds the whole ROC curve of a model."""
    counts = _of_model(session, asked, token, model)
    drawn = counts.n <= _BOOTSTRAPPED
    options: dict[str, Any] = {"simultaneous": True, "progress": token} if drawn else {"method": "ks"}
    found = band(roc(counts), grid=np.linspace(0, 1, 101), **options)
    columns = {"x": found.x.tolist(), "low": found.low.tolist(), "high": found.high.tolist()}
    return columns | {"model": model, "method": found.method}


def tests(session: Session, asked: RowSelection, token: CancelToken, *, context: Context) -> list[dict[str, Any]]:
    """Return the tests of areas and costs, for any number of rows."""
    tables: list[dict[str, Any]] = []
    areas = _compared(session, asked, token)
    names = list(session.counts(asked, token))
    intervals = [
        {"model": name, "AUC": f"{each['value']:.4f}", "95% interval": _ends(each.get("low"), each.get("high"))}
        for name, each in zip(names, areas["auc"], strict=True)
    ]
    tables.append(table("Areas", "", intervals))
    rows = [
        {"models": f"{names[j]} − {names[i]}", "difference": f"{d:.4f}", "95% interval": _ends(low, high), "p": _p(p)}
        | {"p among all": _p(adjusted)}
        for i, j, d, low, high, p, adjusted in areas["comparisons"]["rows"]
    ]
    if rows:
        tables.append(table("Differences in AUC", f"{areas['comparisons']['method']}.", rows))
    for source, data in zip(session.sources, session.data(asked, token), strict=True):
        if isinstance(data, Predictions) and len(data.models) > 1:
            token()
            title = f"Differences in cost per case{'' if len(session.sources) == 1 else f', {source.name}'}"
            tables.append(_of_costs(title, compare_costs(data, context, thresholds="cheapest")))
    return tables


def _of_costs(title: str, found: Comparisons) -> dict[str, Any]:
    pairs: list[Comparison] = list(found)
    rows = [
        {"models": f"{pair.second} − {pair.first}", "difference": f"{pair.difference.value:.4g}"}
        | {"95% interval": f"[{pair.difference.low:.4g}, {pair.difference.high:.4g}]", "p": _p(pair.p_value)}
        | {"p among all": _p(pair.adjusted_p_value)}
        for pair in pairs
    ]
    return table(title, f"Each at its cheapest threshold; {'; '.join({pair.method for pair in pairs})}.", rows)


def validation(session: Session, asked: RowSelection, token: CancelToken, *, context: Context) -> list[dict[str, Any]]:
    """Return the full validation summary at these costs."""
    found = session.data(asked, token)
    token()
    data = found[0] if len(found) == 1 else session.counts(asked, token)
    sheets = summary(data, context)
    return [table(domain.capitalize(), "", rows) for domain in DOMAINS if (rows := sheets.sheet(domain))]


def list_rows(
    session: Session,
    asked: RowSelection,
    token: CancelToken,
    *,
    model: str,
    threshold: float,
    most: float | None = None,
    column: str = "",
) -> str:
    """Return the rows that are predicted positive, best first, as CSV: their numbers, a column, and their scores.

    Rows are numbered from 0 among those asked for. Where there are more than `most`, the best; equal scores are ordered
    by a hash of the column's values, or of row numbers where values repeat, as `plan.select` orders them.
    """
    preds, own = session.rows(asked, model, token, column or None)
    scores = preds.scores[own]
    taken = predict(scores, threshold)
    beside = preds.groups if column else None
    ids = beside if beside is not None and len(set(beside.tolist())) == beside.size else None
    order = ordered(scores, np.flatnonzero(taken), hashes_of(ids, scores.size))
    if most is not None:
        order = order[: max(int(most), 0)]
    token()
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["row", *([column] if column else []), "score"])
    for row in order.tolist():
        lines.writerow([row, *([] if beside is None else [beside[row]]), scores[row].item()])
    return text.getvalue()


def _ends(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{low:.4f}, {high:.4f}]"


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


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
    "intervals": lambda session, asked, token: intervals(session, _rows(asked), token),
    "point": lambda session, asked, token: [
        at_point(session, _rows(asked), token, **_cut(asked), context=_context(asked))
    ],
    "band": lambda session, asked, token: roc_band(session, _rows(asked), token, model=_model(asked)),
    "tests": lambda session, asked, token: tests(session, _rows(asked), token, context=_context(asked)),
    "validation": lambda session, asked, token: validation(session, _rows(asked), token, context=_context(asked)),
    "list": lambda session, asked, token: list_rows(
        session,
        _rows(asked),
        token,
        **_cut(asked),
        most=_number(asked, "most", optional=True),
        column=_text(asked, "column") or "",
    ),
}
