"""rocscope validate, verify, monitor, drift and calibrate: check files, saved plans and calibration.

`calibrate` fits a recalibrator, or applies a saved recalibrator to another file.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import rocscope as rs
from rocscope._base.atomic_write import CSV, JSON, check_writable, updating, write_file
from rocscope._base.formatting import alike, known
from rocscope.cli import console, gate as gating, options as opt
from rocscope.errors import InputError, RocscopeError, ScoreError, collected_warnings

if TYPE_CHECKING:
    from rocscope.figures.conditions import Condition
    from rocscope.inference import Estimate

# Exit codes.
_NOT_READ = 2
_FAILED = 1


@opt.for_two_classes("--score", instead="name the columns by --proba or --predicted only")
def validate(
    file: opt.File,
    /,
    *,
    layout: opt.LayoutOptions = opt.LAYOUT,
    label: Annotated[str | None, Parameter(alias="-l", group=opt.COLUMNS, help="Column of the true labels.")] = None,
    score: Annotated[
        opt.Scores, Parameter(help="Column of a model's scores. Repeat the option for several models.")
    ] = None,
    classes: opt.ClassOptions = opt.CLASSES,
    json: opt.Json = False,
) -> int:
    """Show the number of rows of a file, and the type, the values and the possible role of each column.

    The exit code is 2 if a column that you name cannot be read as labels, scores or class probabilities.

    Example: rocscope validate scores.csv
    """

    if classes.given:
        rows = opt.SampleOptions(layout=layout, label=label)
        rows.require(file, "label", classes=classes)
        description = rs.engines.describe(file, **layout.arguments)
        try:
            classes.read(file, rows)
        except RocscopeError as error:
            description = replace(description, problems=(*description.problems, str(error)))
    else:
        layout.require(file, label=[label], score=score or [])
        description = rs.engines.describe(file, label=label, scores=score, **layout.arguments)
    from rocscope.engines.description import uses_of

    code = _NOT_READ if description.problems else 0
    if json:
        console.print_json("validate", description.to_dict())
        return code
    headings = ("column", "type", "missing", "distinct", "tied", "from", "to", "could be")
    left = ("column", "type", "from", "to", "could be")
    uses = uses_of(description.columns, description.rows)
    lines = [_column_row(column, uses[column.name]) for column in description.columns]
    console.print_rows(f"{file}: {description.rows:,} rows", headings, lines, left=left)
    for problem in description.problems:
        console.note(f"Problem: {problem}")
    return code


def _column_row(column: "rs.engines.ColumnFacts", use: str) -> list[str]:
    """Return the cells of the table for one column, with the role that 'rocscope FILE' guesses for it."""
    bounds = []
    for bound in (column.minimum, column.maximum):
        if bound is None:
            bounds.append("")
        elif 1e5 <= abs(bound) < 1e15:
            # Numbers such as identifiers and dates are easier to read without an exponent.
            bounds.append(f"{bound:,.0f}")
        else:
            bounds.append(f"{bound:.6g}")
    role = use
    if use == "label" or (not use and column.is_binary):
        classes = [f"{value} × {rows:,}" for value, rows in (column.classes or {}).items()]
        role = "label: " + ", ".join(classes)
    elif use == "score" and column.is_probability_like:
        role = "probability"
    return [
        column.name,
        column.type,
        f"{column.missing + column.infinite:,}",
        "more than 20" if column.distinct is None else f"{column.distinct:,}",
        "" if column.tied is None else f"{column.tied:.1%}",
        *bounds,
        role,
    ]


def verify(
    plan: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    classes: opt.ClassOptions = opt.CLASSES,
    memory: opt.Memory = None,
    groups: opt.Groups = None,
    segment: str | None = None,
    trace: opt.Flag = False,
    json: opt.Json = False,
) -> int:
    """Compute the numbers of a saved plan again from the data, and compare them with the saved numbers.

    With --score, name all models from which the plan was chosen. Without --score, rocscope reads only the model of the
    plan.

    The exit code is 0 if all numbers agree. Otherwise, it is 1.

    Example: rocscope verify decision.json scores.csv --label y --score a --score b

    Parameters
    ----------
    segment
        For a plan with segments: column of the segments. By default, the column that was saved with the plan.
    trace
        Also print a table with the saved and the recomputed numbers.
    """
    saved = opt.load_plan(plan, classes)
    kept = opt.recall(saved)
    rows, segment, groups = rows.recalled(saved, but=()), segment or kept.get("segment"), groups or kept.get("groups")
    needed = ("label", "scores") if rows.score else ("label",)
    rows.require(file, *needed, groups=groups, segment=segment, classes=classes)
    if classes.given:
        predictions = classes.read(file, rows)
        lines = []
        for name, (stored, counted) in saved.verify(predictions).items():
            lines.append(f"{name} is {stored:.10g} in the decision, but {counted:.10g} in the rows")
        if json:
            content = {"verified": not lines, "n": predictions.n, "refuted": lines, "ties": [], "remarks": []}
            console.print_json("verify", content)
        return _print_verdict(f"all numbers from {predictions.n:,} rows agree", lines, json=json)
    rows = replace(rows, score=rows.score or list(saved.models))
    rows.require(file, "label", "scores")
    columns: dict[str, Any] = {"groups": groups, "segment": segment}
    if saved.columns:
        predictions = rows.read(file, columns=saved.columns, **columns)
    else:
        predictions = rows.read_or_count(file, memory, **columns)
    result = saved.verify(predictions)
    numbers = [str(checked) for checked in result.checks]
    if json:
        console.print_json("verify", result.to_dict() | ({"trace": numbers} if trace else {}))
    elif trace:
        console.print_rows(plan, ("", "value"), [number.partition(": ")[::2] for number in numbers], left=("", "value"))
    agreement = f"{len(numbers):,} numbers from {result.n:,.10g} rows agree"
    if result.ties:
        agreement += f". Equally good: {'; '.join(result.ties)}"
    for remark in result.remarks:
        console.note(f"Not checked: {remark}")
    return _print_verdict(agreement, result.refuted, json=json)


def _print_verdict(agreement: str, refuted: Sequence[str], *, json: bool) -> int:
    """Print the verdict on one line, and return the exit code. With `json`, print only disagreements, on stderr."""
    verdict = f"Refuted: {'; '.join(refuted)}." if refuted else f"Verified: {agreement}."
    if not json:
        console.print_text(verdict)
    elif refuted:
        console.note(verdict)
    return _FAILED if refuted else 0


@opt.for_two_classes(
    "--score", "--pos-label", "--target-prevalence", instead="omit it: recalls do not depend on the class mix"
)
def monitor(
    decision: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    state: str,
    rows: opt.SampleOptions = opt.SAMPLE,
    classes: opt.ClassOptions = opt.CLASSES,
    when: str | None = None,
    segment: opt.Column = None,
    guess: opt.Guess = False,
    unlabelled: opt.Flag = False,
    level: float = 0.95,
    target_prevalence: float | None = None,
    fail_if: list[str] | None = None,
    again: opt.Flag = False,
    json: opt.Json = False,
) -> int:
    """Add new labelled rows, and test whether the performance of a saved plan is within the limits of --fail-if.

    Run this command whenever new rows arrive. Intervals and alarms are valid for any number of runs.

    If the rows of a file were already added, they are not counted again. For a plan with class weights, add --proba.

    Example: rocscope monitor decision.json new.parquet --label y --state s.json --fail-if "cost > .35"

    Parameters
    ----------
    state
        File that stores the results of earlier runs. The file is created if it does not exist.
    when
        Name of the period of these rows, such as a date. Use the same name again for rows that arrive late. Labelled
        rows replace the rows of the same period that were added with --unlabelled.
    segment
        For a plan with segments: column of the segments. By default, the column that was saved with the plan.
    unlabelled
        Read rows without labels. These rows are used only to compare the share of cases acted on with the plan.
    level
        Confidence level for all runs together. The probability that any run raises a false alarm is at most 1 minus
        this level.
    target_prevalence
        Share of positives at which cost, error, depth and precision are computed. Use this option if the share of
        positives varies between files.
    fail_if
        Exit with code 1 if a test shows that this condition is true, such as 'cost > .35', 'auc < .7' or
        'calibration > 0'. For a plan with class weights, use a condition such as 'error > .1' or 'recall(cat) < .8'.
    again
        Count the rows even if the same rows were already added for the same period (see --when).
    """
    chosen = opt.load_plan(decision, classes)
    rows, segment = rows.recalled(chosen, but=("where", "score")), segment or opt.recall(chosen).get("segment")
    if not unlabelled:
        if not classes.given:
            rows = replace(rows, score=rows.score or list(chosen.needs or chosen.models[:1]))
        rows = rows.settled(file, "label", classes=classes, guess=guess)
    check_writable(state, force=True, endings=JSON)
    options = {"fail_if": fail_if or [], "level": level, "target_prevalence": target_prevalence}
    # Raises for a state of other limits, before the rows are read.
    _load_or_begin(state, chosen, options)
    batch: dict[str, Any]
    if unlabelled:
        batch = _read_unlabelled(file, rows, chosen, segment)
    else:
        batch = {"y_true": _read_labelled(file, rows, classes, chosen, segment), "again": again}
    with updating(state), collected_warnings() as warnings:
        watch = _load_or_begin(state, chosen, options)
        update = watch.update_unlabelled if unlabelled else watch.update
        update(when=when, **batch)
        watch.save(state, force=True)
    for text in (*warnings, *watch.notes):
        console.note(f"Note: {text.replace('again=True', '--again')}")
    if json:
        content = {
            "n": watch.n,
            "looks": watch.looks,
            "interval": {name: estimate.to_dict() for name, estimate in watch.interval.items()},
            "wealth": watch.wealth,
            "notes": list(watch.notes),
            "alarm": None if watch.alarm is None else watch.alarm.to_dict(),
        }
        if classes.given:
            content["promised"] = watch.promised
        if watch.volume.n:
            content |= {"volume": watch.volume.to_dict(), "planned_volume": watch.planned_volume}
        console.print_json("monitor", content)
    else:
        lines = []
        for name, estimate in watch.interval.items():
            value, low, high = alike(estimate.value, estimate.low, estimate.high)
            promised = [f"{watch.promised[name]:.4g}"] if classes.given else []
            lines.append([name, *promised, value, f"[{low}, {high}]", estimate.method + estimate.doubt])
        if watch.volume.n:
            cases = f"{watch.volume.n:,.0f} cases without labels"
            planned = f"The planned share is {watch.planned_volume:.4g}."
            console.note(f"Share of {cases} that were acted on: {watch.volume.words}. {planned}")
        headings = ("quantity", *(["promised"] if classes.given else []), "estimate", "interval", "method")
        batches = "1 batch" if watch.looks == 1 else f"{watch.looks:,} batches"
        console.print_rows(f"{watch.n:,} rows in {batches}", headings, lines, left=("quantity", "method"))
        # The error probability 1 − level is divided among the limits (Bonferroni).
        needed = len(watch.limits) / (1 - watch.level)
        for limit, wealth in watch.wealth.items():
            console.note(f"Evidence for {limit!r}: the e-value is {wealth:.3g}. An alarm needs {needed:.3g}.")
    if watch.alarm is None:
        return 0
    console.note(f"Failed: --fail-if {watch.alarm}")
    return _FAILED


def _require_one_score(rows: opt.SampleOptions) -> None:
    scores = rows.score or []
    if len(scores) != 1:
        hint = f"name only one column, such as --score {scores[0]}" if scores else "name the column with --score"
        raise InputError("--score", expected="one column", got=f"{len(scores)} columns", hint=hint)


def _read_labelled(
    file: str, rows: opt.SampleOptions, classes: opt.ClassOptions, chosen: Any, segment: str | None
) -> Any:
    """Return the rows of a file with labels and all columns that the plan needs."""
    if classes.given:
        return classes.read(file, rows)
    columns: dict[str, Any] = {"columns": chosen.columns} if chosen.columns else {}
    if segment is not None:
        columns["segment"] = segment
    return rows.read(file, **columns)


def _read_unlabelled(file: str, rows: opt.SampleOptions, chosen: Any, segment: str | None) -> dict[str, Any]:
    """Return the scores in a file without labels. Also return the segments if their column is named."""
    import numpy as np

    from rocscope.engines.reading import read_scores

    score, *more = rows.score or chosen.needs or chosen.models
    if more:
        raise InputError("--unlabelled", expected="a plan with one model", got=f"{1 + len(more)} models")
    where, layout = rows.layout.where, rows.layout.file_layout
    read: Any = read_scores(file, score=score, segment=segment, where=where, layout=layout)
    if segment is None:
        return {"y_score": read}
    parts = [(name, np.asarray(part)) for name, part in read.items()]
    names = np.repeat([name for name, _ in parts], [part.size for _, part in parts])
    return {"y_score": np.concatenate([part for _, part in parts]), "segment": names}


def _load_or_begin(state: str, chosen: Any, options: dict[str, Any]) -> Any:
    """Return the saved monitor, or a new one. Raise an InputError if the saved monitor has another plan or limits."""
    new = rs.monitor(chosen, **options)
    if not Path(state).exists():
        return new
    saved = rs.decisions.Monitor.load(state)
    if not saved.watches_as(new):
        expected = "a file that was saved with the same plan and the same options"
        limits = ", ".join(map(str, saved.limits)) or "no limits"
        hint = "name another file, or repeat --fail-if, --level and --target-prevalence as before"
        raise InputError("--state", expected=expected, got=f"a file that was saved with {limits}", hint=hint)
    return saved


def drift(
    reference: Annotated[opt.File, Parameter(help="Labelled file with which FILE is compared, in any of its formats.")],
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    segment: opt.Column = None,
    bins: int = 10,
    threshold: float | None = None,
    plot: opt.Plot = None,
    plot_width: opt.PlotWidth = 178,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Test whether the scores in a file differ from the scores in a labelled reference file.

    The output shows distances between the two score distributions, p-values, and the expected AUC on the new cases.

    If FILE has labels, one more test shows whether the risk at each score has changed, and another test shows whether
    the scores in each class have changed.

    Example: rocscope drift january.csv june.csv --label y --score a

    Parameters
    ----------
    segment
        Column of the segments. Each segment is compared separately, and the p-values are adjusted by Holm's method.
    bins
        Number of bins of the population stability index (PSI). The bins end at quantiles of the reference scores.
    threshold
        Also show the expected TPR, FPR, precision and accuracy at this threshold.
    """
    console.check_figure(plot, plot_width, force=force)
    if segment is not None and (plot is not None or threshold is not None):
        option = "--plot" if plot is not None else "--threshold"
        hint = f"omit one, because {option} applies to all rows"
        raise InputError(f"--segment and {option}", expected="only one of these options", got="both", hint=hint)
    rows = rows.settled(reference, "label", "scores", classes=opt.CLASSES, segment=segment)
    _require_one_score(rows)
    named = rows.layout.named_columns(file)
    is_labelled = named is None or rows.label in named.columns
    (rows if is_labelled else replace(rows, label=None)).require(file, segment=segment)
    known = rows.read(reference, segment=segment)
    current: Any
    if is_labelled:
        current = rows.read(file, segment=segment)
    else:
        from rocscope.engines.reading import read_scores

        (score,) = rows.score or [""]
        where, layout = rows.layout.where, rows.layout.file_layout
        current = read_scores(file, score=score, segment=segment, where=where, layout=layout)
    by = None if segment is None else "segment"
    result: Any = rs.drift(known, current, by=by, bins=bins, threshold=threshold)
    if plot:
        path = console.write_figure(plot, result.plot, plot_width, title="Drift", force=force)
        console.note(f"Figure: {path}")
    if json:
        console.print_json("drift", result.to_dict())
    elif segment is None:
        console.print_rows(file, ("", "value"), result.facts().items(), left=("", "value"))
    else:
        headings = ("segment", "KS", "p, adjusted", "PSI", "p, adjusted")
        lines = []
        for i, part in enumerate(result.parts):
            adjusted = f"{result.adjusted_ks_p[i]:.3g}", f"{result.adjusted_psi_p[i]:.3g}"
            lines.append([str(result.names[i]), f"{part.ks.high:.4g}", adjusted[0], f"{part.psi:.4g}", adjusted[1]])
        console.print_rows(file, headings, lines)


_DRAWS = 199  # a fifth of the default, to save time: only the JSON output and gates use the intervals

# Measures of the table, by their headings.
_MEASURES = {
    "Brier": "brier",
    "log loss": "log_loss",
    "miscalibration": "brier_miscalibration",
    "discrimination": "brier_discrimination",
    "ECE": "ece",
    "smooth ECE": "smooth_ece",
    "slope": "slope",
}


@opt.for_two_classes("--score", "--pos-label", "--target-prevalence", instead="use shift_prior in Python")
def calibrate(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    classes: opt.ClassOptions = opt.CLASSES,
    fold: opt.Fold = None,
    groups: opt.Groups = None,
    method: Annotated[str | None, Parameter(alias="-m")] = None,
    apply: Path | None = None,
    column: str | None = None,
    folds: int | None = None,
    random_state: int = 0,
    level: opt.Level = 0.95,
    target_prevalence: Annotated[float | None, Parameter(group=opt.CONTEXT)] = None,
    output: opt.Output = None,
    fail_if: list[str] | None = None,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Fit a recalibrator and show its cross-validated performance, or apply a saved recalibrator.

    Example: rocscope calibrate old.csv --label y --score a -o calibrator.json

    A recalibrator converts scores into calibrated probabilities. You can apply it to new data:

    rocscope calibrate new.csv --score a --apply calibrator.json -o scored.csv

    Parameters
    ----------
    method
        Recalibration method. For two classes: beta (the default), platt, isotonic, temperature, shift, spline,
        histogram or venn-abers. With --proba: dirichlet (the default), vector or temperature.
    apply
        Apply the recalibrator in this file to FILE.
    column
        With --apply: name of the new column. By default, SCORE_calibrated. With --apply and --proba: pattern of the new
        columns, such as 'q_*'.
    folds
        Number of cross-validation folds, by default 10; or --fold. The table shows the performance on held-out folds.
    random_state
        Random seed for the division of the rows into folds.
    target_prevalence
        Share of positives, from 0 to 1, among the cases on which you will use the model. By default, the share in the
        file.
    output
        File for the recalibrator. By default, calibrator.json. With --apply: .csv or .parquet file for the rows. By
        default, the rows are printed as CSV.
    fail_if
        Exit with code 1 if this condition is true for the cross-validated probabilities, such as 'ece > .05' or
        'brier > .2'.
    """
    gates = gating.parse_gates(fail_if, of_classes=classes.given)
    if classes.given and len(classes.proba or []) != 1:
        raise InputError("--proba", expected="one model", got=f"{len(classes.proba or [])} models")
    output = output or ("calibrator.json" if apply is None else "-")
    if apply is None and output == "-":
        raise InputError("--output", expected="the name of a file for the recalibrator", got="-")
    opt.require_output(output, JSON if apply is None else (*CSV, ".parquet"), force=force)
    needed = ("label", "scores") if apply is None else ()
    columns: dict[str, Any] = {"fold": fold, "groups": groups}
    rows = rows.settled(file, *needed, classes=classes, **columns)
    if not classes.given:
        _require_one_score(rows)
    if apply is not None and gates:
        raise InputError("--fail-if and --apply", expected="only one of these options", got="both")
    if apply is not None:
        _apply_recalibrator(file, rows, classes, apply, column, target_prevalence, output, force=force)
        return 0
    method = method or ("dirichlet" if classes.given else "beta")
    fitting: dict[str, Any] = {"cv": _cross_validation(fold, folds), "random_state": random_state, "method": method}
    if classes.given:
        predictions: Any = classes.read(file, rows, **columns)
        return _calibrate_classes(predictions, fitting, level, gates, output, json=json, force=force)
    predictions = rows.read(file, **columns)

    # The recalibrator is fitted to all rows; the figures are cross-validated.
    result = rs.calibration.recalibrate(predictions, **fitting)
    recalibrator = next(iter(result.recalibrators.values()))
    recalibrated = result.predictions
    if target_prevalence is not None:
        recalibrator = recalibrator.adjust_to(target_prevalence)
        recalibrated = _adjusted(recalibrated, target_prevalence)
    options: dict[str, Any] = {"draws": _DRAWS, "target_prevalence": target_prevalence, "level": level}
    reports = {}
    try:
        reports["as they are"] = rs.calibration.calibration_report(predictions, **options)
    except ScoreError:
        console.note("The scores are not probabilities, so only the recalibrated probabilities are shown.")
    report = reports["recalibrated, out of sample"] = rs.calibration.calibration_report(recalibrated, **options)
    judge = gating.Judge(recalibrated)
    estimate = judge.estimate if target_prevalence is None else partial(_estimate_at, judge, report, options)
    judged = gating.judge_gates(gates, judge.models, estimate)
    path = recalibrator.save(output, force=force)
    if json:
        figures = {name: report.to_dict() for name, report in reports.items()}
        content: dict[str, Any] = {"method": method, "file": str(path), "figures": figures}
        if gates:
            content |= gating.gates_json(judged)
        console.print_json("calibrate", content)
        return gating.exit_code(judged)
    lines = []
    for name, report in reports.items():
        lines.append([name] + [known(report[measure].value, ".4f") for measure in _MEASURES.values()])
    title = f"{predictions.n_pos:,g} positives, {predictions.n_neg:,g} negatives"
    console.print_rows(title, ["probabilities", *_MEASURES], lines)
    console.note(f"Recalibrator: {path} ({method}, fitted to all rows)")
    return gating.exit_code(judged)


def _cross_validation(fold: str | None, folds: int | None) -> Any:
    if fold is None:
        return 10 if folds is None else folds
    if folds is not None:
        raise InputError("--fold and --folds", expected="only one of these options", got="both")
    return "fold"


def _calibrate_classes(
    predictions: Any,
    fitting: dict[str, Any],
    level: float,
    gates: list["gating.Gate"],
    output: str,
    *,
    json: bool,
    force: bool,
) -> int:
    """Fit and save a recalibrator of several classes, and show its cross-validated performance."""
    from rocscope.core import jsonable

    method = fitting["method"]
    fitted = rs.multiclass.recalibrate_classes(predictions, **fitting)
    ((model, recalibrator),) = fitted.recalibrators.items()
    path = recalibrator.save(output, force=force)
    judge = gating.ClassJudge(fitted.predictions)
    judged = gating.judge_gates(gates, judge.models, judge.estimate)
    figures = {}
    for name, rows in {"as they are": predictions, "recalibrated, out of sample": fitted.predictions}.items():
        estimates = {
            rule: rs.multiclass.multiclass_score(rows, rule=rule, model=model, level=level)
            for rule in ("brier", "log_loss")
        }
        for kind in ("top-label", "classwise"):
            ece = rs.multiclass.multiclass_calibration_error(rows, kind=kind, model=model)
            estimates[f"ece, {kind}"] = rs.inference.Estimate(ece, nan, nan, level, "10 bins of equal width", rows.n)
        figures[name] = {"n": rows.n, "estimates": estimates, "tests": {}, "notes": []}
    if json:
        content = {"method": method, "file": str(path), "figures": jsonable(figures)}
        console.print_json("calibrate", content | (gating.gates_json(judged) if gates else {}))
        return gating.exit_code(judged)
    lines = []
    for name, report in figures.items():
        lines.append([name] + [f"{estimate.value:.4f}" for estimate in report["estimates"].values()])
    headings = ["probabilities", "Brier", "log loss", "ECE of the top label", "ECE by class"]
    console.print_rows(f"{predictions.n:,g} cases of {len(predictions.classes)} classes", headings, lines)
    console.note(f"Recalibrator: {path} ({method}, fitted to all rows)")
    return gating.exit_code(judged)


def _adjusted(predictions: "rs.Predictions", target_prevalence: float) -> "rs.Predictions":
    """Adjust predicted probabilities to another prevalence, as `Recalibrator.adjust_to` does."""
    from rocscope.calibration.outcomes import Shift, outcomes

    shift = Shift.of(outcomes(predictions), target_prevalence)
    scores = {model: shift.of_chance(probability) for model, probability in predictions.scores.items()}
    return rs.Predictions(predictions.y_true, scores, **predictions.row_columns())


def _estimate_at(judge: "gating.Judge", report: Any, options: dict[str, Any], condition: "Condition") -> "Estimate":
    """Return a metric of the calibration report at a target prevalence, or the AUC."""
    name = gating.figure_of(condition).name
    if name == "auc" or {condition.model, condition.minus} - {None, *judge.models}:
        return judge.estimate(condition)
    if condition.level not in (None, options["level"]):
        options = options | {"level": condition.level}
        report = rs.calibration.calibration_report(judge.data, **options)
    if name not in report.estimates:
        expected = "the AUC or a metric of rocscope.calibration.calibration_report"
        hint = "omit --target-prevalence if you need other metrics"
        raise InputError("--fail-if", expected=expected, got=name, hint=hint)
    return report[name]


def _apply_recalibrator(
    file: str,
    rows: opt.SampleOptions,
    classes: opt.ClassOptions,
    path: Path,
    column: str | None,
    target_prevalence: float | None,
    output: str,
    *,
    force: bool,
) -> None:
    """Write the rows of a file together with recalibrated probabilities."""
    if classes.given:
        table, name = _with_recalibrated_classes(file, rows, classes, path, column)
    else:
        table, name = _with_recalibrated_score(file, rows, path, column, target_prevalence)
    content = console.table_bytes(table, "parquet" if Path(output).suffix.lower() == ".parquet" else "csv")
    if output == "-":
        console.write(content)
    else:
        console.note(f"{table.num_rows:,} rows with the new column {name}: {write_file(output, content, force=force)}")


def _with_recalibrated_score(
    file: str, rows: opt.SampleOptions, path: Path, column: str | None, target_prevalence: float | None
) -> tuple[Any, str]:
    """Return the rows of a file with a new column of recalibrated probabilities, and the name of this column."""
    from rocscope.engines.reading import add_column

    recalibrator = rs.calibration.load_recalibrator(path)
    if target_prevalence is not None:
        recalibrator = recalibrator.adjust_to(target_prevalence)
    (score,) = rows.score or [""]
    name = column or f"{score}_calibrated"
    options: dict[str, Any] = {"where": rows.layout.where, "layout": rows.layout.file_layout}
    return add_column(file, recalibrator.predict, score=score, name=name, **options), name


def _with_recalibrated_classes(
    file: str, rows: opt.SampleOptions, classes: opt.ClassOptions, path: Path, column: str | None
) -> tuple[Any, str]:
    """Return the rows of a file with a new column of probabilities for each class, and the pattern of column names."""
    import pyarrow as pa

    from rocscope.engines.applying import class_probabilities

    recalibrator = rs.multiclass.ClassRecalibrator.load(path)
    proba: Any = classes.patterns()
    pattern = column or f"{proba if isinstance(proba, str) else next(iter(proba.values()))}_calibrated"
    if pattern.count("*") != 1:
        raise InputError("--column", expected="a pattern with one *, such as 'q_*'", got=repr(column))
    options: dict[str, Any] = {"where": rows.layout.where, "layout": rows.layout.file_layout}
    probabilities, table = class_probabilities(
        file, proba, recalibrator.classes, normalize=classes.normalize, **options
    )
    for cls, values in zip(recalibrator.classes, recalibrator.predict(probabilities).T, strict=True):
        name = pattern.replace("*", str(cls))
        if name in table.column_names:
            raise InputError(f"{file} already has a column {name!r}", hint="choose another name with --column")
        table = table.append_column(name, pa.array(values))
    return table, pattern
