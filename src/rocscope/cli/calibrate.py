"""rocscope calibrate: learn probabilities from scores, and give them to the scores of another file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_table
from rocscope.errors import InputError

_DEFAULT_FILE = "calibrator.json"
_SHOWN = {
    "Brier": "brier",
    "log loss": "log_loss",
    "miscalibration": "brier_miscalibration",
    "discrimination": "brier_discrimination",
    "ECE": "ece",
    "smooth ECE": "smooth_ece",
    "slope": "slope",
}

Method = Annotated[
    str,
    typer.Option("--method", "-m", help="beta, platt, isotonic, temperature, shift, histogram or venn-abers."),
]
Apply = Annotated[
    Path | None,
    typer.Option("--apply", help="A recalibrator that this command has written: use it, and learn nothing."),
]
Column = Annotated[str | None, typer.Option("--column", help="Name of the new column; SCORE_calibrated by default.")]
Folds = Annotated[int, typer.Option("--folds", help="Folds that the table's figures are crossed over.")]
RandomState = Annotated[int, typer.Option("--random-state", help="Seed of the folds.")]


def calibrate(
    file: opt.File,
    label: opt.Label = None,
    score: opt.Scores = None,
    method: Method = "beta",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help=f"File to write: {_DEFAULT_FILE}; with --apply CSV or .parquet, or - ."),
    ] = None,
    apply: Apply = None,
    column: Column = None,
    weight: opt.Weight = None,
    pos_label: opt.PosLabel = None,
    where: opt.Where = None,
    missing: opt.Missing = "error",
    file_format: opt.Format = None,
    target_prevalence: opt.TargetPrevalence = None,
    folds: Folds = 5,
    random_state: RandomState = 0,
    json: opt.Json = False,
    force: opt.Force = False,
) -> None:
    """Learn a recalibrator and show what it does out of sample; or apply one to another file.

    Example: rocscope calibrate old.csv --label y --score a -o calibrator.json, then
    rocscope calibrate new.csv --score a --apply calibrator.json -o scored.csv
    """
    if len(score or []) != 1:
        raise InputError("--score", expected="one column", got=str(len(score or [])))
    name = (score or [""])[0]
    if apply is not None:
        _apply(file, name, apply, output or "-", column, where, file_format, target_prevalence, force)
        return
    predictions = opt.read_predictions(
        file,
        label=label,
        scores=[name],
        weight=weight,
        pos_label=pos_label,
        where=where,
        missing=missing,
        format=file_format,
    )
    _fit(predictions, method, output or _DEFAULT_FILE, folds, random_state, target_prevalence, json, force)


def _fit(
    predictions: Any,
    method: str,
    output: str,
    folds: int,
    random_state: int,
    target_prevalence: float | None,
    json: bool,
    force: bool,
) -> None:
    from rocscope._output import check_writable
    from rocscope.calibration.recalibration.cross import recalibrate
    from rocscope.calibration.report import calibration_report
    from rocscope.errors import ScoreError

    check_writable(output, force=force)
    result = recalibrate(predictions, method, cv=folds, random_state=random_state)  # pyright: ignore[reportArgumentType]
    fitted = next(iter(result.recalibrators.values()))
    if target_prevalence is not None:
        fitted = fitted.adjust_to(target_prevalence)
    reports = {"recalibrated, out of sample": calibration_report(result.predictions, draws=199)}
    try:
        reports = {"as they are": calibration_report(predictions, draws=199)} | reports
    except ScoreError:
        note("The scores are no probabilities: there is nothing to compare with.")
    written = fitted.save(output, force=force)
    if json:
        figures = {name: report.to_dict() for name, report in reports.items()}
        print_json("calibrate", {"method": method, "file": str(written), "figures": figures})
        return
    _print(predictions, reports)
    note(f"Recalibrator: {written} ({method}, fitted to all rows)")


def _print(predictions: Any, reports: dict[str, Any]) -> None:
    from rich.table import Table

    title = f"{predictions.n_pos:,g} positives, {predictions.n_neg:,g} negatives"
    table = Table(title=title)
    table.add_column("probabilities")
    for heading in _SHOWN:
        table.add_column(heading, justify="right")
    for name, report in reports.items():
        table.add_row(name, *(f"{report[number].value:.4f}" for number in _SHOWN.values()))
    print_table(table)


def _apply(
    file: str,
    score: str,
    calibrator: Path,
    output: str,
    column: str | None,
    where: str | None,
    file_format: str | None,
    target_prevalence: float | None,
    force: bool,
) -> None:
    from rocscope._output import check_writable, write_file
    from rocscope.calibration.recalibration.cross import load_recalibrator
    from rocscope.engines.stream.scoring import add_column

    if output != "-":
        check_writable(output, force=force)
    fitted = load_recalibrator(calibrator)
    if target_prevalence is not None:
        fitted = fitted.adjust_to(target_prevalence)
    name = column or f"{score}_calibrated"
    table = add_column(file, fitted.predict, score=score, name=name, where=where, format=file_format)
    if output == "-":
        typer.echo(_as_bytes(table, "csv"), nl=False)
        return
    written = write_file(output, _as_bytes(table, "parquet" if output.endswith(".parquet") else "csv"), force=force)
    note(f"{table.num_rows:,} rows with {name}: {written}")


def _as_bytes(table: Any, kind: str) -> bytes:
    import io

    buffer = io.BytesIO()
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, buffer)
    else:
        from pyarrow import csv

        csv.write_csv(table, buffer)
    return buffer.getvalue()
