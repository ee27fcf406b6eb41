"""rocscope summary: performance of each model, and its best threshold."""

from typing import Annotated, Any

from cyclopts import Parameter

from rocscope.cli import options as opt
from rocscope.cli.console import markdown_records, markdown_table, note, print_json, print_records, print_rows, write
from rocscope.cli.gates import Judge, gates_json, gates_of, judged_by, outcome
from rocscope.errors import InputError


def _interval(model: Any) -> str:
    interval = model.auc_interval
    return f" [{interval['low']:.3f}, {interval['high']:.3f}]" if interval else ""


_COLUMNS = {
    "AUC": lambda model: f"{model.auc['half']:.4f}{_interval(model)}",
    "KS": lambda model: f"{model.ks:.4f}",
    "average precision": lambda model: f"{model.average_precision:.4f}",
    "best threshold": lambda model: f"{model.best.threshold:.6g}",
    "accuracy there": lambda model: f"{model.best.accuracy:.2%}",
    "TPR": lambda model: f"{model.best.tpr:.2%}",
    "FPR": lambda model: f"{model.best.fpr:.2%}",
    "cost per case": lambda model: f"{model.best_cost:.4g}",
    "accuracy at 0.5": lambda model: model.at_half_cell,
}


@opt.for_two_classes(
    "--score",
    "--pos-label",
    "--threshold",
    "--fail-if",
    *opt.TWO_CLASS_COSTS,
    instead="rocscope choose takes --cost-matrix",
)
def summary(
    file: opt.File,
    /,
    *,
    rows: opt.ClassOptions = opt.CLASSES,
    fold: opt.Fold = None,
    segment: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    costs: opt.CostOptions = opt.COSTS,
    threshold: Annotated[list[str] | None, Parameter(group=opt.CONTEXT)] = None,
    guess: Annotated[opt.Flag, Parameter(group=opt.COLUMNS)] = False,
    detail: Annotated[bool | None, Parameter(negative="--no-detail")] = None,
    fail_if: opt.FailIf = None,
    json: opt.Json = False,
    markdown: Annotated[opt.Flag, Parameter(name="--md")] = False,
) -> int:
    """Summarise each model in five domains with intervals, the best threshold, and the result at 0.5.

    Example: rocscope summary scores.parquet --label y --score a --score b

    'rocscope FILE' is short for 'rocscope summary FILE --guess'.

    Parameters
    ----------
    segment
        Column of the segment, such as a region: each is shown by itself too.
    threshold
        Threshold of classification and net benefit: a number fixed beforehand, MODEL=NUMBER for each model, 'costs'
        (the probability that the costs imply), or 'cheapest' on these rows, the default where models do not decide.
    guess
        Guess label, scores, weight and positive label where they are not named, and say what was guessed.
    detail
        Intervals and calibration too; by default up to a million rows.
    markdown
        Print a Markdown table.
    """
    if json and markdown:
        raise InputError("--json and --md", expected="one of them")
    gates = gates_of(fail_if)
    fixed = _threshold(threshold or [])
    if fixed is not None and detail is False:
        raise InputError("--threshold and --no-detail", expected="one of them")
    guesses = guess and not rows.has_classes
    rows.require(file, *(() if guesses else ("label", "scores")), fold=fold, segment=segment)
    if rows.has_classes:
        _of_classes(file, rows, detail, json, markdown)
        return 0
    context = None if costs == opt.COSTS else costs.context()
    if guesses:
        rows = rows.guessed(file)
    parts = {name: column for name, column in {"fold": fold, "segment": segment}.items() if column}
    by = "fold" if fold else "segment" if segment else None
    if len(parts) > 1 or (parts and rows.memory):
        raise InputError("--fold and --segment", expected="one of them, without --memory", got="more")
    predictions = rows.predictions(file, **parts) if parts else rows.sample(file)
    from rocscope.report.model import LEFT_OUT, is_small, report_data

    detailed = (fixed is not None or is_small(predictions)) if detail is None else detail
    data = report_data(predictions, context=context, title=file, detailed=detailed, by=by, threshold=fixed)
    judge = Judge(predictions, _thresholds_of(data), costs.context())
    judged = judged_by(gates, judge.models, judge.estimate) if gates else []
    if json:
        print_json("summary", data.to_dict() | (gates_json(judged) if gates else {}))
    elif markdown:
        write(_markdown(data) + "\n")
    else:
        _print(data)
        if not detailed and detail is None:
            note(f"{LEFT_OUT} --detail adds what can be had.")
    return outcome(judged)


def _thresholds_of(data: Any) -> dict[str, float]:
    """Return the threshold of each model that its figures are shown at."""
    rows = [] if data.summary is None else [row for row in data.summary if row.part == "all"]
    return {model.name: model.best.threshold for model in data.models} | {row.model: row.threshold for row in rows}


def _threshold(texts: list[str]) -> Any:
    """Parse the threshold of `rs.summary`: a number, a word, or a number for each model."""
    pairs = [text.rpartition("=")[::2] for text in texts]
    try:
        if pairs and all(model for model, _ in pairs):
            return {model: float(value) for model, value in pairs}
        if len(texts) > 1:
            raise ValueError
        return None if not texts else texts[0] if texts[0] in ("costs", "cheapest") else float(texts[0])
    except ValueError:
        expected = "a number, MODEL=NUMBER for each model, 'costs' or 'cheapest'"
        raise InputError("--threshold", expected=expected, got=" ".join(texts)) from None


def _thresholds_said(found: Any) -> list[str]:
    """Return the pre-specified thresholds as text; the verdict names those that were chosen."""
    rows = [] if found is None else [row for row in found if row.part == "all"]
    return [f"{row.model}: {row.notes[0]}." for row in rows if row.threshold_source in ("given", "costs")]


def _rows(data: Any) -> list[list[str]]:
    return [[model.name, *(cell(model) for cell in _COLUMNS.values())] for model in data.models]


def _print(data: Any) -> None:
    for hint in data.hints:
        note(hint)
    first = data.models[0]
    chosen = [model.name for model in data.models].index(data.decision.model)
    title = f"{first.n_pos:,g} positives, {first.n_neg:,g} negatives"
    print_rows(title, ["model", *_COLUMNS], _rows(data), bold=chosen)
    for heading, lines in data.validation.items():
        print_records(heading, lines)
    for line in _thresholds_said(data.summary):
        note(line)
    note(data.verdict)


def _markdown(data: Any) -> str:
    tables = [markdown_table(["model", *_COLUMNS], _rows(data))]
    tables += [markdown_records(lines) for lines in data.validation.values()]
    return "\n\n".join([*tables, *_thresholds_said(data.summary)])


def _of_classes(file: str, rows: opt.ClassOptions, detail: bool | None, json: bool, markdown: bool) -> None:
    """Print the performance of each model for more than two classes, and each class by the best model."""
    predictions = rows.classes(file)
    from rocscope.report.model import MOST_DETAILED
    from rocscope.report.multiclass import by_class, multiclass_data, overview

    detailed = len(predictions) <= MOST_DETAILED if detail is None else detail
    data = multiclass_data(predictions, title=file, detailed=detailed)
    if json:
        print_json("summary", data.to_dict())
        return
    tables = {f"{predictions.n:,g} cases of {len(predictions.classes)} classes": overview(data)}
    tables |= {f"Classes, by {model.name}": by_class(model) for model in data.models}
    if markdown:
        write("\n\n".join(map(markdown_records, tables.values())) + "\n")
        return
    for heading, records in tables.items():
        print_records(heading, records)
    undefined = data.best.undefined
    if undefined:
        note(f"Without cases, and left out of averages: {', '.join(map(str, undefined))}")
    note(data.verdict)
