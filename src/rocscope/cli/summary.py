"""rocscope summary: performance of each model, and its best threshold."""
# MERGED-DOC: """rocscope compare: compare models, with intervals and tests."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rocscope._base.formatting import p_value
from rocscope.cli import options as opt
from rocscope.cli.console import markdown_records, markdown_table, note, print_json, print_records, print_rows, write
from rocscope.cli.gate import Gate, Judge, gates_json, gates_of, judged_by, outcome
from rocscope.errors import ColumnError, InputError, heard, one_of

if TYPE_CHECKING:
    from rocscope.figures.conditions import Condition
    from rocscope.inference.estimate import Comparison, Comparisons, Estimate


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


def compare(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    fold: opt.Fold = None,
    groups: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    costs: opt.CostOptions = opt.COSTS,
    folds: str | None = None,
    level: float = 0.95,
    alternative: str = "two-sided",
    test: str = "difference",
    margin: float = 0.0,
    adjust: str = "holm",
    at_context: opt.Flag = False,
    fail_if: list[str] | None = None,
    json: opt.Json = False,
) -> int:
    """Show each model's AUC with an interval, and the difference of each pair with a test.

    Example: rocscope compare scores.csv --label y --score a --score b --fail-if "auc(b)-auc(a)<-0.01 at 95%"

    Parameters
    ----------
    groups
        Column of the patient or customer that several rows belong to.
    folds
        pooled, or mean of the folds' AUCs (with --fold).
    level
        Confidence level of all intervals.
    alternative
        What to show of second − first: two-sided, greater or less.
    test
        difference, superiority, noninferiority or equivalence, by --margin.
    margin
        Of the last three.
    adjust
        Of p-values for several pairs: holm, bh, max-t or none.
    at_context
        Compare expected costs as well, each model at its best threshold.
    fail_if
        Exit with code 1 where 'auc(a)<0.8', or significantly 'auc(b)-auc(a)<-0.01 at 95%'; also brier(…), slope(…) and
        other figures of a ranking or of probabilities, cost(…) with --at-context, and conditions joined by 'and'.
    """
    gates = [Gate.parse(text) for text in fail_if or []]
    names = {each.quantity: _figure_of(each, at_context) for gate in gates for each in gate.conditions}
    rows.require(file, "label", "scores", fold=fold, groups=groups, **(costs.columns if at_context else {}))
    _require_models(gates, rows.score or [])
    context = costs.context(of_rows=at_context)
    predictions = rows.predictions(file, fold=fold, groups=groups, columns=context.columns or None)
    import rocscope as rs
    from rocscope.ranges.binned import direction

    how: dict[str, Any] = {"alternative": alternative, "test": test, "margin": margin, "adjust": adjust}
    two_sided = how | {"alternative": "two-sided", "test": "difference", "margin": 0.0}  # directions are of areas

    def compared(quantity: str, at: float) -> "Comparisons":
        if quantity == "cost":
            return rs.inference.compare_costs(predictions, context, level=at, **two_sided)
        wanted = how if quantity == "auc" else two_sided
        return rs.compare(predictions, statistic=quantity, folds=folds, level=at, **wanted)  # pyright: ignore[reportArgumentType]

    with heard() as said:
        results = {quantity: compared(quantity, level) for quantity in ("auc", *["cost"] * at_context)}
        judged = judged_by(
            gates,
            predictions.models,
            lambda each: _estimate(each, compared(names[each.quantity], each.level or level)),
        )
    for message in said:
        note(f"Warning: {message}")
    if json:
        content = {quantity: result.to_dict() for quantity, result in results.items()}
        print_json("compare", content | gates_json(judged))
    else:
        for result in results.values():
            _print_of_compare(result, predictions.n)
        for name, area in results["auc"].estimates.items():
            if below := direction(area.value):
                note(f"{name}: AUC {area.value:.4g}{below}")
    return outcome(judged)


def _figure_of(condition: "Condition", at_context: bool) -> str:
    """Return the figure that a gate judges; InputError if the comparison does not compute it."""
    from rocscope.figures.registry import known, statistic_named

    figure = known(condition.quantity)
    if figure is None or figure.name != "cost":
        return statistic_named(condition.quantity, "--fail-if")[0].name
    if not at_context:
        raise InputError("--fail-if", expected="--at-context beside it", got=str(condition), hint="it compares costs")
    return "cost"


def _require_models(gates: list[Gate], models: list[str]) -> None:
    """Raise ColumnError for a gate on a model that is not compared."""
    for condition in (each for gate in gates for each in gate.conditions):
        for model in (condition.model, condition.minus):
            if model is not None and model not in models:
                raise ColumnError("--fail-if", expected=f"a model, {one_of(model, models)}", got=repr(model))


def _estimate(condition: "Condition", result: "Comparisons") -> "Estimate":
    """Return the estimate of a condition, with the sign of a difference as the condition has it."""
    assert condition.model is not None
    if condition.minus is None:
        return result.estimates[condition.model]
    pair = result[condition.model, condition.minus]
    return pair.difference if pair.second == condition.model else _negative(pair.difference)


def _negative(difference: "Estimate") -> "Estimate":
    return replace(difference, value=-difference.value, low=-difference.high, high=-difference.low)


def _print_of_compare(result: "Comparisons", n: float) -> None:
    headings = ("model", result.quantity, "interval", "method")
    rows = [
        [name, f"{each.value:.4f}", _ends(each), each.method + each.doubt] for name, each in result.estimates.items()
    ]
    print_rows(f"{result.quantity}, {n:,g} rows", headings, rows, left=("model", "method"))
    headings = ("pair", "difference", "interval", "p", f"p ({result.adjust})", "test")
    print_rows(f"Differences in {result.quantity}", headings, map(_cells, result), left=("pair", "test"))


def _cells(pair: "Comparison") -> list[str]:
    test = pair.method if pair.aim == "two-sided" else f"{pair.method}, {pair.aim}"
    test += pair.difference.doubt
    return [
        f"{pair.second} − {pair.first}",
        f"{pair.difference.value:+.4f}",
        _ends(pair.difference),
        p_value(pair.p_value),
        p_value(pair.adjusted_p_value),
        test,
    ]


def _ends(estimate: "Estimate") -> str:
    return f"{estimate.low:.4f} to {estimate.high:.4f}"
