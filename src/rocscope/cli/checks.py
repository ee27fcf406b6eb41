"""rocscope validate, verify and monitor: check a file, a saved plan, and its use."""
# MERGED-DOC: """rocscope calibrate: fit a recalibrator, and apply it to another file."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from rocscope._base.atomic_write import check_writable, write_file
from rocscope._base.formatting import alike, known
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows, table_bytes, write
from rocscope.cli.gate import Gate, Judge, gates_json, gates_of, judged_by, outcome
from rocscope.errors import InputError, ScoreError, heard

_NOT_READ, _FAILED = 2, 1


def validate(file: opt.File, /, *, rows: opt.RowOptions = opt.ROWS, json: opt.Json = False) -> int:
    """Describe a file: rows, classes, missing values, distinct scores and ties, and whether scores are probabilities.

    Exits with code 2 where the label or a score that was named could not be read.

    Example: rocscope validate scores.csv
    """
    rows.require(file)
    from rocscope.engines import describe
    from rocscope.engines.description import uses_of

    description = describe(file, scores=rows.score, **rows.arguments)
    found = _NOT_READ if description.problems else 0
    if json:
        print_json("validate", description.to_dict())
        return found
    headings = ("column", "type", "missing", "distinct", "tied", "from", "to", "could be")
    left = ("column", "type", "from", "to", "could be")
    uses = uses_of(description.columns, description.rows)
    cells = [[*_cells(column), _role(column, uses[column.name])] for column in description.columns]
    print_rows(f"{file}: {description.rows:,} rows", headings, cells, left=left)
    for problem in description.problems:
        note(f"Problem: {problem}")
    return found


def _cells(column: Any) -> list[str]:
    bounds = ["" if bound is None else _bound(bound) for bound in (column.minimum, column.maximum)]
    return [
        column.name,
        column.type,
        f"{column.missing + column.infinite:,}",
        "more than 20" if column.distinct is None else f"{column.distinct:,}",
        "" if column.tied is None else f"{column.tied:.1%}",
        *bounds,
    ]


def _bound(number: float) -> str:
    return f"{number:,.0f}" if 1e5 <= abs(number) < 1e15 else f"{number:.6g}"


def _role(column: Any, use: str) -> str:
    """Return what a column is for, as 'rocscope FILE' guesses it; of a further one of two classes, that too."""
    if use == "label" or (not use and column.is_binary):
        return "label: " + ", ".join(f"{value} × {rows:,}" for value, rows in (column.classes or {}).items())
    return "probability" if use == "score" and column.is_probability_like else use


def verify(
    plan: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    rows: opt.CountOptions = opt.COUNTS,
    segment: str | None = None,
    trace: opt.Flag = False,
    json: opt.Json = False,
) -> int:
    """Recount the rows, make a saved plan again from them, and compare every number.

    Name all the models that it was chosen among; by default the one that it uses. Exits with code 0 if every number
    agrees, and with 1 if one does not.

    Example: rocscope verify decision.json scores.csv --label y --score a --score b

    Parameters
    ----------
    segment
        Column of the segments, for an allocation.
    trace
        Print every number, as stored and as recomputed.
    """
    rows.require(file, *(("label", "scores") if rows.score else ("label",)), segment=segment)
    import rocscope as rs

    saved = rs.decisions.load_plan(plan)
    rows = replace(rows, score=rows.score or list(saved.models))
    rows.require(file, "label", "scores")
    columns: dict[str, Any] = {"columns": saved.columns} if saved.columns else {}
    columns |= {} if segment is None else {"segment": segment}
    result = saved.verify(rows.predictions(file, **columns) if columns else rows.sample(file))
    lines = [str(checked) for checked in result.checks]
    if json:
        print_json("verify", result.to_dict() | ({"trace": lines} if trace else {}))
    else:
        cells = [("rows", f"{result.n:,.10g}"), ("numbers", f"{len(lines):,}")]
        if trace:
            cells = [line.partition(": ")[::2] for line in lines]
        cells += [("as good", choice) for choice in result.ties]
        cells += [("not checked", remark) for remark in result.remarks]
        cells.append(("verdict", "all numbers verified" if result.verified else "refuted"))
        print_rows(f"{plan}", ("", "value"), cells, left=("", "value"))
    if result.verified:
        return 0
    note(f"Refuted: {'; '.join(result.refuted)}")
    return _FAILED


def monitor(
    decision: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    state: str,
    rows: opt.SampleOptions = opt.SAMPLE,
    when: str | None = None,
    level: float = 0.95,
    target_prevalence: float | None = None,
    fail_if: list[str] | None = None,
    again: bool = False,
    json: opt.Json = False,
) -> int:
    """Add new labelled rows, and test whether a decision still keeps its limits.

    Run it as often as rows come: intervals and alarms hold at every look. A file that is read again changes nothing.

    Example: rocscope monitor decision.json new.parquet --label y --state s.json --fail-if "cost > .35"

    Parameters
    ----------
    state
        File that remembers what was seen; begun where it is not there.
    when
        What to call these rows, such as their date. Rows whose labels come late are counted to their own day.
    level
        1 − the chance that limits which are kept ever raise an alarm.
    target_prevalence
        Class mix at which cost, error, depth and precision are watched, where that of the rows swings.
    fail_if
        Exit with code 1 once this is beyond doubt: 'cost > .35', 'auc < .7', 'calibration > 0' (too many positives), …
    again
        Count a file once more whose rows were counted under the same name before.
    """
    rows.require(file, "label")
    check_writable(state, force=True)
    import rocscope as rs

    chosen = rs.Decision.load(decision)
    watch = _begin(state, chosen, {"fail_if": fail_if or [], "level": level, "target_prevalence": target_prevalence})
    predictions = replace(rows, score=rows.score or [chosen.model]).predictions(file)
    with heard() as said:
        watch.update(predictions, when=when, again=again)
    watch.save(state, force=True)
    for text in (*said, *watch.notes):
        note(f"Note: {text.replace('again=True', '--again')}")
    if json:
        intervals = {name: each.to_dict() for name, each in watch.interval.items()}
        alarm = None if watch.alarm is None else watch.alarm.to_dict()
        content = {
            "n": watch.n,
            "looks": watch.looks,
            "interval": intervals,
            "wealth": watch.wealth,
            "notes": list(watch.notes),
            "alarm": alarm,
        }
        print_json("monitor", content)
    else:
        headings = ("quantity", "so far", "interval", "method")
        lines = [[name, *_figures(each), each.method + each.doubt] for name, each in watch.interval.items()]
        looks = "1 look" if watch.looks == 1 else f"{watch.looks:,} looks"
        print_rows(f"{watch.n:,} rows in {looks}", headings, lines, left=("quantity", "method"))
        needed = len(watch.limits) / (1 - watch.level)
        for limit, wealth in watch.wealth.items():
            note(f"A stake of 1 against {limit!r} has become {wealth:.3g}; it alarms at {needed:.3g}.")
    if watch.alarm is None:
        return 0
    note(f"Failed: {watch.alarm}")
    return _FAILED


def _figures(estimate: Any) -> tuple[str, str]:
    value, low, high = alike(estimate.value, estimate.low, estimate.high)
    return value, f"{low} to {high}"


def _begin(state: str, chosen: Any, options: dict[str, Any]) -> Any:
    """Return the saved monitor if it has the same decision and limits, or a new one."""
    from rocscope.decisions import Monitor
    from rocscope.decisions import monitor as begin

    new = begin(chosen, **options)
    if not Path(state).exists():
        return new
    known = Monitor.load(state)
    if not known.watches_as(new):
        got = ", ".join(map(str, known.limits)) or "no limits"
        hint = "begin another state file, or give the same options"
        raise InputError(
            "--state",
            expected="a state of this decision, --fail-if, --level and --target-prevalence",
            got=f"another ({got})",
            hint=hint,
        )
    return known


_SHOWN = {
    "Brier": "brier",
    "log loss": "log_loss",
    "miscalibration": "brier_miscalibration",
    "discrimination": "brier_discrimination",
    "ECE": "ece",
    "smooth ECE": "smooth_ece",
    "slope": "slope",
}


def calibrate(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    method: Annotated[str, Parameter(alias="-m")] = "beta",
    apply: Path | None = None,
    column: str | None = None,
    folds: int = 10,
    random_state: int = 0,
    target_prevalence: Annotated[float | None, Parameter(group=opt.CONTEXT)] = None,
    output: Annotated[str | None, opt.OUTPUT] = None,
    fail_if: opt.FailIf = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Fit a recalibrator and show its out-of-sample performance, or apply one to another file.

    Example: rocscope calibrate old.csv --label y --score a -o calibrator.json, then
    rocscope calibrate new.csv --score a --apply calibrator.json -o scored.csv

    Parameters
    ----------
    method
        beta, platt, isotonic, temperature, shift, histogram or venn-abers.
    apply
        A recalibrator that this command has written: use it, and learn nothing.
    column
        Name of the new column; SCORE_calibrated by default.
    folds
        Folds that the table's figures are crossed over.
    random_state
        Seed of the folds.
    target_prevalence
        Share of positives where the classifier will be used; the sample's own by default.
    output
        File to write: calibrator.json by default; with --apply CSV or .parquet, by default - for stdout.
    fail_if
        Exit with code 1 where this holds of the recalibrated probabilities, out of sample: 'ece > .05', 'brier > .2', …
    """
    gates = gates_of(fail_if)
    if len(rows.score or []) != 1:
        raise InputError("--score", expected="one column", got=str(len(rows.score or [])))
    output = output or ("calibrator.json" if apply is None else "-")
    if apply is None and output == "-":
        raise InputError("--output", expected="the name of a file for the recalibrator", got="-")
    opt.require_output(output, force=force)
    rows.require(file, *(("label",) if apply is None else ()))
    if apply is None:
        return _fit(rows.predictions(file), method, folds, random_state, target_prevalence, output, gates, json, force)
    if gates:
        raise InputError("--fail-if", expected="none with --apply, which has no labels", got="one")
    _apply(file, rows, apply, column, target_prevalence, output, force)
    return 0


def _fit(
    predictions: Any,
    method: Any,
    folds: int,
    random_state: int,
    target_prevalence: float | None,
    output: str,
    gates: list[Gate],
    json: bool,
    force: bool,
) -> int:
    from rocscope.calibration import calibration_report, recalibrate

    result = recalibrate(predictions, method, cv=folds, random_state=random_state)
    fitted = next(iter(result.recalibrators.values()))
    if target_prevalence is not None:
        fitted = fitted.adjust_to(target_prevalence)
    reports = {"recalibrated, out of sample": calibration_report(result.predictions, draws=199)}
    try:
        reports = {"as they are": calibration_report(predictions, draws=199)} | reports
    except ScoreError:
        note("The scores are no probabilities: there is nothing to compare with.")
    judge = Judge(result.predictions)
    judged = judged_by(gates, judge.models, judge.estimate)
    written = fitted.save(output, force=force)
    if json:
        figures = {name: report.to_dict() for name, report in reports.items()}
        told = gates_json(judged) if gates else {}
        print_json("calibrate", {"method": method, "file": str(written), "figures": figures} | told)
        return outcome(judged)
    title = f"{predictions.n_pos:,g} positives, {predictions.n_neg:,g} negatives"
    numbers = {name: [known(report[key].value, ".4f") for key in _SHOWN.values()] for name, report in reports.items()}
    print_rows(title, ["probabilities", *_SHOWN], [[name, *row] for name, row in numbers.items()])
    note(f"Recalibrator: {written} ({method}, fitted to all rows)")
    return outcome(judged)


def _apply(
    file: str,
    rows: opt.SampleOptions,
    calibrator: Path,
    column: str | None,
    target_prevalence: float | None,
    output: str,
    force: bool,
) -> None:
    from rocscope.calibration import load_recalibrator
    from rocscope.engines.reading import add_column

    fitted = load_recalibrator(calibrator)
    if target_prevalence is not None:
        fitted = fitted.adjust_to(target_prevalence)
    (score,) = rows.score or [""]
    name = column or f"{score}_calibrated"
    table = add_column(file, fitted.predict, score=score, name=name, where=rows.where, layout=rows.layout)
    content = table_bytes(table, "parquet" if output.endswith(".parquet") else "csv")
    if output == "-":
        write(content)
    else:
        note(f"{table.num_rows:,} rows with {name}: {write_file(output, content, force=force)}")
