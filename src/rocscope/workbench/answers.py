"""Answer the requests of the workbench page, and return the page itself.

The page sends requests as JSON objects such as ``{"what": "point", "model": "a", "threshold": 0.4, ...}``. `answer`
checks every field and then calls the function for the request. Fields must be checked, because requests can come from a
page that its reader has changed.

Order of the file: intervals, points, bands, tests, validation tables and lists of rows; the page; and `answer` with the
checks of requests.
"""

import csv
import io
from collections.abc import Iterator
from itertools import combinations
from math import inf
from typing import Any

import numpy as np

import rocscope as rs
from rocscope._base import validation as check
from rocscope._base.hashed_order import hashes_of, ordered
from rocscope.core.applying import predict
from rocscope.errors import InputError, RocscopeError
from rocscope.evaluation.summary import DOMAINS
from rocscope.report import model as report, page as pages
from rocscope.sample import samples_of
from rocscope.workbench.session import ALL, CancelToken, RowSelection, Session

# Above this number of rows, bands are Kolmogorov–Smirnov bands, which do not need a bootstrap.
_MOST_BOOTSTRAPPED = 100_000


def intervals(session: Session, selection: RowSelection, token: CancelToken) -> dict[str, Any]:
    """Return intervals of the AUC of each model, differences between models, and calibration results except bins.

    Models of one file are compared as paired samples. Models with the same name in different files are compared as
    independent samples. Above a million rows, intervals and differences are omitted. The reader can then request
    `tests`.
    """

    def compute() -> dict[str, Any]:
        counts = session.counts(selection, token)
        if any(levels.n > report.MOST_DETAILED for levels in counts.values()):
            areas = [{"value": levels.pairs().auc()} for levels in counts.values()]
            return {"auc": areas, "comparisons": pages.packed_comparisons([], [])}
        calibration = []
        for levels in counts.values():
            token()
            block = report.calibration_block(levels)
            calibration.append(block and pages.packed_calibration(block))
        return _areas(session, selection, token) | {"calibration": calibration}

    return session.cached("intervals", selection, compute)


def _areas(session: Session, selection: RowSelection, token: CancelToken) -> dict[str, Any]:
    """Return the AUC of each model with an interval, and the differences between models within and between files."""
    intervals: dict[str, Any] = {}
    pairs: list[dict[str, Any]] = []
    data = session.data(selection, token)
    for source, rows in zip(session.sources, data, strict=True):
        token()
        areas = report.area_estimates(samples_of(rows))
        for model, interval in areas.intervals.items():
            intervals[session.name_of(source, model)] = interval
        for pair in areas.comparisons:
            names = {end: session.name_of(source, pair[end]) for end in ("first", "second")}
            pairs.append(pair | names)
    counts = session.counts(selection, token)
    for two_samples in _pairs_of_files(session, data):
        token()
        pairs += [report.compared_pair(pair) for pair in rs.compare(two_samples)]
    if len(session.sources) > 1 and pairs:
        # The pairs of all files form one family of tests.
        adjusted = np.asarray(rs.inference.adjust_p_values([pair["p_value"] for pair in pairs])).tolist()
        for pair, p in zip(pairs, adjusted, strict=True):
            pair["adjusted_p_value"] = p
    areas = [intervals.get(name) or {"value": levels.pairs().auc()} for name, levels in counts.items()]
    return {"auc": areas, "comparisons": pages.packed_comparisons(list(counts), pairs)}


def _pairs_of_files(session: Session, data: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield pairs of models of two files. The two models have the same name, or are the only models of their files."""
    if len(session.sources) < 2:
        return
    models = []
    for file, (source, rows) in enumerate(zip(session.sources, data, strict=True)):
        samples = samples_of(rows)
        for name, sample in samples.items():
            label = name if len(samples) > 1 else ""
            models.append((file, label, session.name_of(source, name), sample.rows))
    if len(models) > report.MOST_COMPARED:
        return
    for one, other in combinations(models, 2):
        file, label, name, rows = one
        other_file, other_label, other_name, other_rows = other
        if file != other_file and label == other_label and rows is not None and other_rows is not None:
            yield {name: rows, other_name: other_rows}


def table(title: str, note: str, rows: list[dict[str, str]]) -> dict[str, Any]:
    """Return a table of texts for the page."""
    return {"title": title, "note": note, "rows": rows}


def _counts_of(session: Session, selection: RowSelection, token: CancelToken, model: str) -> rs.ThresholdCounts:
    counts = session.counts(selection, token)
    if model not in counts:
        raise InputError("model", expected="a model that the page shows", got=repr(model))
    return counts[model]


def at_point(
    session: Session, selection: RowSelection, token: CancelToken, *, model: str, threshold: float, context: rs.Context
) -> Any:
    """Return a table of all rates at a threshold with intervals, at the prevalence of the context."""
    point = _counts_of(session, selection, token, model).at(threshold)
    estimates = rs.inference.rate_intervals(point, target_prevalence=context.target_prevalence)
    rows = []
    for name, estimate in estimates.items():
        ends = f"[{estimate.low:.2%}, {estimate.high:.2%}]"
        rows.append({"rate": name, "value": f"{estimate.value:.2%}", "95% CI": ends})
    methods = dict.fromkeys(estimate.method for estimate in estimates.values())
    return table(f"{model} at {point.threshold_text}", f"{'; '.join(methods)}.", rows)


def roc_band(session: Session, selection: RowSelection, token: CancelToken, *, model: str) -> dict[str, Any]:
    """Return a simultaneous confidence band of the ROC curve of a model."""
    counts = _counts_of(session, selection, token, model)
    options: dict[str, Any] = {"method": "ks"}
    if counts.n <= _MOST_BOOTSTRAPPED:
        options = {"simultaneous": True, "progress": token}
    limits = rs.inference.band(rs.roc(counts), grid=np.linspace(0, 1, 101), **options)
    columns = {"x": limits.x.tolist(), "low": limits.low.tolist(), "high": limits.high.tolist()}
    return columns | {"model": model, "method": limits.method}


def tests(session: Session, selection: RowSelection, token: CancelToken, *, context: rs.Context) -> list[Any]:
    """Return tables of the tests of differences in AUC and in cost. The number of rows is not limited."""
    areas = _areas(session, selection, token)
    names = list(session.counts(selection, token))
    rows = []
    for name, area in zip(names, areas["auc"], strict=True):
        ends = "–"
        if area.get("low") is not None and area.get("high") is not None:
            ends = f"[{area['low']:.4f}, {area['high']:.4f}]"
        rows.append({"model": name, "AUC": f"{area['value']:.4f}", "95% CI": ends})
    tables = [table("Areas", "", rows)]
    rows = []
    for first, second, difference, low, high, p, adjusted_p in areas["comparisons"]["rows"]:
        models = f"{names[second]} − {names[first]}"
        ends = "–" if low is None or high is None else f"[{low:.4f}, {high:.4f}]"
        rows.append(_test_row(models, f"{difference:.4f}", ends, p, adjusted_p))
    if rows:
        tables.append(table("Differences in AUC", f"{areas['comparisons']['method']}.", rows))
    for source, data in zip(session.sources, session.data(selection, token), strict=True):
        if not isinstance(data, rs.Predictions) or len(data.models) < 2:
            continue
        token()
        pairs: list[rs.inference.Comparison] = list(rs.inference.compare_costs(data, context, thresholds="cheapest"))
        rows = []
        for pair in pairs:
            difference = pair.difference
            ends = f"[{difference.low:.4g}, {difference.high:.4g}]"
            models = f"{pair.second} − {pair.first}"
            rows.append(_test_row(models, f"{difference.value:.4g}", ends, pair.p_value, pair.adjusted_p_value))
        title = "Differences in cost per case"
        if len(session.sources) > 1:
            title += f", {source.name}"
        methods = "; ".join({pair.method for pair in pairs})
        tables.append(table(title, f"Each model at its cheapest threshold; {methods}.", rows))
    return tables


def _test_row(models: str, difference: str, ends: str, p: float | None, adjusted_p: float | None) -> dict[str, str]:
    row = {"models": models, "difference": difference, "95% CI": ends}
    return row | {"p": _p_value(p), "p among all": _p_value(adjusted_p)}


def _p_value(p: float | None) -> str:
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def validation(
    session: Session, selection: RowSelection, token: CancelToken, *, context: rs.Context
) -> list[dict[str, Any]]:
    """Return the tables of a complete validation (`rocscope.summary`) at the given costs."""
    sources = session.data(selection, token)
    token()
    result = rs.summary(sources[0] if len(sources) == 1 else session.counts(selection, token), context)
    sheets = {domain: result.sheet(domain) for domain in DOMAINS}
    return [table(domain.capitalize(), "", rows) for domain, rows in sheets.items() if rows]


def list_rows(
    session: Session,
    selection: RowSelection,
    token: CancelToken,
    *,
    model: str,
    threshold: float,
    most: float | None = None,
    column: str = "",
) -> str:
    """List the rows that are predicted positive, highest scores first, and return the list as the text of a CSV file.

    The columns are the row number, the values of `column` if it is given, and the score. Row numbers start at 0 and
    count only selected rows. At most `most` rows are listed. Rows with equal scores are ordered by a hash of the values
    of `column`, as in `plan.select`. If these values are not distinct, they are ordered by a hash of the row number.
    """
    preds, name = session.rows(selection, model, token, column or None)
    scores = preds.scores[name]
    values = preds.groups if column else None
    # Values that repeat cannot break ties between rows.
    are_unique = values is not None and len(set(values.tolist())) == values.size
    hashes = hashes_of(values if are_unique else None, scores.size)
    order = ordered(scores, np.flatnonzero(predict(scores, threshold)), hashes)
    if most is not None:
        order = order[: max(int(most), 0)]
    token()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", column, "score"] if column else ["row", "score"])
    for row in order.tolist():
        score = scores[row].item()
        writer.writerow([row, score] if values is None else [row, values[row], score])
    return text.getvalue()


# ---- The page ----


def live_page(facts: dict[str, Any], *, widget: bool = False) -> str:
    """Return the page as HTML. It can send requests only to the server that returned it, or to its parent frame."""
    scripts = pages.assets(report_script="report.js", live_script="live.js")
    styles = pages.assets(report_style="report.css", live_style="live.css")
    return pages.template("live.html.j2").render(
        title=facts["title"],
        home="widget" if widget else "server",
        connect=pages.raw("'none'" if widget else "'self'"),
        facts=pages.raw(pages.in_script(pages.as_json(facts))),
        notices=pages.raw(pages.client("THIRD_PARTY.txt")),
        **scripts | styles,
    )


# ---- Questions ----

ASIDE = ("intervals", "point", "band", "tests", "validation", "list")
"""Kinds of requests that run in a second thread, so that they do not delay requests for counts."""

WORDS = {"everybody": -inf, "nobody": inf}
"""Texts that represent infinite thresholds, because JSON has no infinite numbers."""

# Maximum length of a condition, far above that of typed text.
_MOST_CHARACTERS = 10_000


QUESTIONS = ("facts", "counts", "intervals", "point", "band", "tests", "validation", "list")


def answer(session: Session, question: dict[str, Any], token: CancelToken) -> Any:
    """Return the answer to a request.

    Raises
    ------
    InputError
        If the request is invalid.
    RocscopeError
        If the result is undefined for the selected rows.
    """
    what = question.get("what")
    if what not in QUESTIONS:
        raise InputError("what", expected=f"one of {', '.join(QUESTIONS)}", got=check.shown(what))
    if what == "facts":
        return facts(session, _text(question, "by"), token)
    where = (_text(question, "where") or "").strip() or None
    kind = _text(question, "kind") or ALL[0]
    name = _text(question, "name") or ALL[1]
    selection = RowSelection(where, _text(question, "by"), kind, name)
    if what == "counts":
        return pages.packed_part(selection.kind, selection.name, session.outlines(selection, token))
    if what == "intervals":
        return intervals(session, selection, token)
    if what in ("tests", "validation"):
        context = context_of(question.get("context"))
        compute = tests if what == "tests" else validation
        return compute(session, selection, token, context=context)
    model = _text(question, "model") or ""
    if what == "band":
        return roc_band(session, selection, token, model=model)
    threshold = _threshold(question)
    if what == "point":
        context = context_of(question.get("context"))
        return [at_point(session, selection, token, model=model, threshold=threshold, context=context)]
    most = _number(question, "most", optional=True)
    column = _text(question, "column") or ""
    return list_rows(session, selection, token, model=model, threshold=threshold, most=most, column=column)


def facts(session: Session, by: str | None, token: CancelToken) -> dict[str, Any]:
    """Return the content of the page except counts. It includes the reason if rows cannot be split by a column."""
    by = by or session.sources[0].by
    problem = []
    try:
        parts, warnings = session.parts(by, token)
    except RocscopeError as error:
        if by is None:
            raise
        problem = [f"Rows are not split by {by!r}: {error}"]
        by = None
        parts, warnings = session.parts(None, token)
    names = [source.name for source in session.sources if source.name]
    return {
        "schema": report.SCHEMA_VERSION,
        "title": session.title,
        "notes": "",
        "context": pages.packed_context(session.context),
        "slices": [{"kind": kind, "name": name} for kind, name in parts],
        "classes": None,
        "validation": {},
        "conventions": report.CONVENTIONS,
        "warnings": problem + warnings,
        "provenance": {"rocscope": rs.__version__, "source": ", ".join(names)},
        "by": by,
        "columns": session.columns,
        "seconds": session.seconds,
        "lists": all(source.held for source in session.sources),
    }


def _text(question: dict[str, Any], name: str) -> str | None:
    value = question.get(name)
    if value is not None and not (isinstance(value, str) and len(value) <= _MOST_CHARACTERS):
        raise InputError(name, expected=f"a text of at most {_MOST_CHARACTERS:,} characters", got=check.shown(value))
    return value


def _number(question: dict[str, Any], name: str, *, optional: bool = False) -> Any:
    value = question.get(name)
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(name, expected="a number", got=check.shown(value))
    return value


def _threshold(question: dict[str, Any]) -> float:
    """Return the threshold of a request. Infinite thresholds are given as texts."""
    value = question.get("threshold")
    return WORDS[value] if isinstance(value, str) and value in WORDS else _number(question, "threshold")


def context_of(given: Any) -> rs.Context:
    """Return the costs and prevalence of a request as a Context."""
    if not isinstance(given, dict):
        raise InputError("context", expected="costs and a prevalence", got=check.shown(given))
    prevalence = _number(given, "target_prevalence", optional=True)
    costs = {name: _number(given, name) for name in pages.COSTS}
    return rs.Context(prevalence, **costs)
