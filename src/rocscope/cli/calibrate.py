"""rocscope calibrate: fit a recalibrator, and apply it to another file."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from rocscope._base.atomic_write import write_file
from rocscope._base.formatting import known
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows, table_bytes, write
from rocscope.cli.gates import Gate, Judge, gates_json, gates_of, judged_by, outcome
from rocscope.errors import InputError, ScoreError

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
