"""rocscope summary and compare, and the interactive pages: report, page, explore and demo.

`summary` prints the performance and the best threshold of each model. `compare` tests the differences between models.
`report` writes an interactive page about a file. `page` writes the same page without data. `explore` opens the page in
a browser and computes its numbers from the rows on request. `demo` runs the example of Vuk & Curk (2006), section 7.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import rocscope as rs
from rocscope._base.atomic_write import HTML, write_file
from rocscope._base.formatting import direction, p_value
from rocscope.cli import console, gate as gating, options as opt
from rocscope.errors import ColumnError, InputError, collected_warnings, one_of

if TYPE_CHECKING:
    from rocscope._base.arrays import Array
    from rocscope.figures.conditions import Condition
    from rocscope.inference import Comparison, Comparisons, Estimate
    from rocscope.report.model import ModelSummary, ReportData


@opt.for_two_classes(
    "--score",
    "--pos-label",
    "--threshold",
    "--level",
    "--fail-if",
    *opt.TWO_CLASS_COSTS,
    instead="use rocscope choose with --cost-matrix",
)
def summary(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    memory: opt.Memory = None,
    classes: opt.ClassOptions = opt.CLASSES,
    fold: opt.Fold = None,
    groups: opt.Groups = None,
    segment: opt.Column = None,
    costs: opt.CostOptions = opt.COSTS,
    threshold: Annotated[list[str] | None, Parameter(group=opt.CONTEXT)] = None,
    guess: Annotated[opt.Flag, Parameter(group=opt.COLUMNS)] = False,
    detail: Annotated[bool | None, Parameter(negative="--no-detail")] = None,
    level: opt.Level = 0.95,
    fail_if: opt.FailIf = None,
    json: opt.Json = False,
    markdown: opt.Markdown = False,
) -> int:
    """Show the performance of each model with confidence intervals, and the best threshold of each model.

    Example: rocscope summary scores.parquet --label y --score a --score b

    'rocscope FILE' is short for 'rocscope summary FILE --guess'.

    Parameters
    ----------
    segment
        Column of the segments, such as regions. The output also shows each segment separately.
    threshold
        Threshold for classification metrics and net benefit: a number that you chose before, or MODEL=NUMBER for each
        model. 'costs' computes the threshold from the costs. 'cheapest' uses the threshold with the lowest cost in this
        file. The default is 'cheapest'.
    guess
        Guess the positive label and the columns of labels, scores and weights that you do not name. The guess is
        printed.
    detail
        Also show confidence intervals and calibration. By default, they are shown for files of up to a million rows.
    markdown
        Print a Markdown table.
    """
    # Check the options and the columns.
    if json and markdown:
        raise InputError("--json and --md", expected="only one of these options", got="both")
    gates = gating.parse_gates(fail_if) if fail_if else []
    given_threshold = _parse_threshold(threshold or [])
    if given_threshold is not None and detail is False:
        raise InputError("--threshold and --no-detail", expected="only one of these options", got="both")
    is_named = rows.score and (rows.label or rows.time)
    guess = (guess or not (is_named or opt.is_stream(file))) and not classes.given
    needed = () if guess else ("label", "scores")
    rows.require(file, *needed, classes=classes, fold=fold, groups=groups, segment=segment)
    if guess:
        rows, classes = rows.guessed(file)
        if classes.given and (threshold or fail_if):
            option = "--threshold" if threshold else "--fail-if"
            raise InputError(option, expected="data of two classes", got="data of several classes")
    if classes.given:
        _summarise_classes(classes.read(file, rows, groups=groups), file, detail, json=json, markdown=markdown)
        return 0
    context = None if costs == opt.COSTS else costs.context()

    # Read the rows and summarise them.
    if fold and segment:
        raise InputError("--fold and --segment", expected="only one of these options", got="both")
    by: Any = "fold" if fold else "segment" if segment else None
    predictions = rows.read_or_count(file, memory, fold=fold, groups=groups, segment=segment)
    from rocscope.report.model import LEFT_OUT, is_small, report_data

    detailed = detail
    if detailed is None:
        detailed = given_threshold is not None or is_small(predictions)
    shown: dict[str, Any] = {"detailed": detailed, "by": by, "threshold": given_threshold, "level": level}
    data = report_data(predictions, context=context, title=file, drawn=json, **shown)
    judged: list[gating.JudgedGate] = []
    if gates:
        judge = gating.Judge(predictions, _shown_thresholds(data), costs.context())
        judged = gating.judge_gates(gates, judge.models, judge.estimate)

    # Print the result.
    if json:
        content = data.to_dict()
        if gates:
            content |= gating.gates_json(judged)
        console.print_json("summary", content)
    else:
        _print_summary(data, markdown=markdown)
        if not markdown and not detailed and detail is None:
            console.note(f"{LEFT_OUT} To compute them where possible, add --detail.")
    return gating.exit_code(judged) if gates else 0


def _shown_thresholds(data: "ReportData") -> dict[str, float]:
    """Return the threshold of each model at which the tables show its metrics."""
    thresholds = {model.name: model.best.threshold for model in data.models}
    for row in data.summary or ():
        if row.part == "all":
            thresholds[row.model] = row.threshold
    return thresholds


def _parse_threshold(texts: list[str]) -> Any:
    """Return the argument `threshold` of `rs.summary`: a number, a number for each model, "costs" or "cheapest"."""
    if not texts:
        return None
    by_model = {}
    try:
        for text in texts:
            model, _, value = text.rpartition("=")
            if model:
                by_model[model] = float(value)
            elif len(texts) > 1:
                raise ValueError
        if by_model:
            return by_model
        return texts[0] if texts[0] in ("costs", "cheapest") else float(texts[0])
    except ValueError:
        expected = "a number, MODEL=NUMBER for each model, 'costs' or 'cheapest'"
        raise opt.not_a_number("--threshold", " ".join(texts), expected) from None


_HEADINGS = (
    "model",
    "AUC",
    "KS",
    "average precision",
    "best threshold",
    "accuracy at best",
    "TPR",
    "FPR",
    "cost per case",
    "accuracy at 0.5",
)


def _summary_row(model: "ModelSummary") -> list[str]:
    interval = model.auc_interval
    ends = f" [{interval['low']:.3f}, {interval['high']:.3f}]" if interval else ""
    return [
        model.name,
        f"{model.auc['half']:.4f}{ends}",
        f"{model.ks:.4f}",
        f"{model.average_precision:.4f}",
        model.best.threshold_text,
        f"{model.best.accuracy:.2%}",
        f"{model.best.tpr:.2%}",
        f"{model.best.fpr:.2%}",
        f"{model.best_cost:.4g}",
        model.at_half_cell,
    ]


def _print_summary(data: "ReportData", *, markdown: bool) -> None:
    rows = [_summary_row(model) for model in data.models]
    # The verdict names chosen thresholds; thresholds that were fixed beforehand are printed here.
    given = [row for row in data.summary or () if row.part == "all" and row.threshold_source in ("given", "costs")]
    thresholds = [f"{row.model}: {row.notes[0]}." for row in given]
    marks = () if data.summary is None else data.summary.marks
    if markdown:
        tables = [console.markdown_table(list(_HEADINGS), rows)]
        tables += [console.markdown_records(lines) for lines in data.validation.values()]
        console.write("\n\n".join([*tables, *thresholds, *marks]) + "\n")
        return
    for hint in data.hints:
        console.note(hint)
    models = [model.name for model in data.models]
    title = f"{data.models[0].n_pos:,g} positives, {data.models[0].n_neg:,g} negatives"
    console.print_rows(title, _HEADINGS, rows, bold=models.index(data.decision.model))
    for heading, lines in data.validation.items():
        console.print_records(heading, lines)
    for line in (*thresholds, *marks):
        console.note(line)
    console.note(data.verdict)


def _summarise_classes(predictions: Any, title: str, detail: bool | None, *, json: bool, markdown: bool) -> None:
    """Print the overall performance of each model for more than two classes, and its performance in each class."""
    from rocscope.report.model import MOST_DETAILED
    from rocscope.report.multiclass import by_class, multiclass_data, overview

    detailed = len(predictions) <= MOST_DETAILED if detail is None else detail
    data = multiclass_data(predictions, title=title, detailed=detailed)
    if json:
        console.print_json("summary", data.to_dict())
        return
    tables = {f"{predictions.n:,g} cases of {len(predictions.classes)} classes": overview(data)}
    for model in data.models:
        tables[f"Classes, by {model.name}"] = by_class(model)
    if markdown:
        console.write("\n\n".join(map(console.markdown_records, tables.values())) + "\n")
        return
    for heading, records in tables.items():
        console.print_records(heading, records)
    undefined = data.best.undefined
    if undefined:
        console.note(f"Averages omit classes without cases: {', '.join(map(str, undefined))}")
    console.note(data.verdict)


@opt.for_two_classes(
    "--score", "--pos-label", "--fold", "--folds", "--at-context", *opt.TWO_CLASS_COSTS,
    instead="use --cost-matrix for costs",
)  # fmt: skip
def compare(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    classes: opt.ClassOptions = opt.CLASSES,
    fold: opt.Fold = None,
    groups: opt.Groups = None,
    costs: opt.CostOptions = opt.COSTS,
    folds: str | None = None,
    level: opt.Level = 0.95,
    alternative: str = "two-sided",
    test: str = "difference",
    margin: float = 0.0,
    adjust: str = "holm",
    at_context: opt.Flag = False,
    cost_matrix: opt.CostMatrixFile = None,
    cost_rows: opt.CostRows = None,
    fail_if: list[str] | None = None,
    json: opt.Json = False,
) -> int:
    """Show the AUC of each model with a confidence interval, and test the difference between each pair of models.

    With --proba, the AUC is Hand & Till's mean over pairs of classes. The option --fail-if then also accepts other
    averages of the AUC over classes, such as aunu(a) for model a.

    Example: rocscope compare scores.csv --label y --score a --score b --fail-if "auc(b)-auc(a)<-0.01 at 95%"

    Parameters
    ----------
    groups
        Column of patient or customer identifiers. Needed if a patient or customer can have several rows.
    folds
        With --fold: 'pooled' computes one AUC from the rows of all folds, and 'mean' computes the mean of the AUCs of
        the folds. The default is 'pooled'.
    alternative
        Alternative hypothesis: two-sided, greater or less. 'greater' means that the second model has a greater AUC than
        the first model.
    test
        Kind of test: difference, superiority, noninferiority or equivalence. All tests except 'difference' need
        --margin.
    margin
        Margin of the AUC difference for a test of superiority, noninferiority or equivalence.
    adjust
        Method that adjusts the p-values if there are several pairs of models: holm, bh, max-t or none.
    at_context
        Also compare the expected costs of the models. Each model is used at its best threshold.
    cost_matrix
        With --proba: CSV file of a cost matrix, for a comparison of costs. The first row and the first column contain
        the class names.
    fail_if
        Exit with code 1 if this condition is true, such as 'auc(a)<0.8'. With 'at 95%', the whole 95% interval must
        satisfy the condition, such as 'auc(b)-auc(a)<-0.01 at 95%'. Other metrics are, for example, brier(…) and
        slope(…). With --at-context, cost(…) is also a metric. Join conditions with 'and'.
    """
    # Check the conditions, the columns and the models.
    gates = [gating.Gate.parse(text) for text in fail_if or []]
    figure_of = _compared_average if classes.given else _compared_figure
    with_costs = at_context or cost_matrix is not None
    figures = {}
    for gate in gates:
        for condition in gate.conditions:
            figures[condition.quantity] = figure_of(condition, with_costs)
    cost_columns: dict[str, Any] = {**costs.columns} if at_context else {}
    rows = rows.settled(file, "label", "scores", classes=classes, fold=fold, groups=groups, **cost_columns)
    hypothesis: dict[str, Any] = {"alternative": alternative, "test": test, "margin": margin, "adjust": adjust}
    predictions: Any
    if classes.given:
        predictions = classes.read(file, rows, groups=groups)
        _require_models(gates, predictions.models)
        cost = opt.read_cost_matrix(cost_matrix, cost_rows, predictions)
        compared = partial(_compare_classes, predictions, cost, hypothesis)
    else:
        _require_models(gates, rows.score or [])
        opt.read_cost_matrix(cost_matrix, cost_rows, None)
        context = costs.context(of_rows=at_context)
        predictions = rows.read(file, fold=fold, groups=groups, columns=context.columns or None)
        compared = partial(_compare_two_classes, predictions, context, hypothesis, folds)

    def estimate(condition: "Condition") -> "Estimate":
        return _condition_estimate(condition, compared(figures[condition.quantity], condition.level or level))

    with collected_warnings() as warnings:
        results = {"auc": compared("auc", level)}
        if with_costs:
            results["cost"] = compared("cost", level)
        judged = gating.judge_gates(gates, predictions.models, estimate)
    for warning in warnings:
        console.note(f"Warning: {warning}")
    if json:
        content = {figure: result.to_dict() for figure, result in results.items()}
        console.print_json("compare", content | gating.gates_json(judged))
    else:
        for result in results.values():
            _print_comparisons(result, predictions.n)
        for name, area in results["auc"].estimates.items():
            below_half = direction(area.value)
            if below_half:
                console.note(f"{name}: AUC {area.value:.4g}{below_half}")
    return gating.exit_code(judged)


def _require_models(gates: list[gating.Gate], models: list[str]) -> None:
    """Raise a ColumnError if a condition names an unknown model."""
    for gate in gates:
        for condition in gate.conditions:
            for model in (condition.model, condition.minus):
                if model is not None and model not in models:
                    raise ColumnError("--fail-if", expected=f"a model name, {one_of(model, models)}", got=repr(model))


def _compared_figure(condition: "Condition", at_context: bool) -> str:
    """Return the metric in a condition. Raise an InputError if the comparison does not compute this metric."""
    from rocscope.figures.registry import known, statistic_named

    figure = known(condition.quantity)
    if figure is None or figure.name != "cost":
        return statistic_named(condition.quantity, "--fail-if")[0].name
    if not at_context:
        hint = "add --at-context to compare costs"
        subject = f"--fail-if {condition}"
        raise InputError(subject, expected="--at-context in the same command", got="no --at-context", hint=hint)
    return "cost"


def _compared_average(condition: "Condition", with_costs: bool) -> str:
    """Return the metric in a condition on several classes: "auc" (Hand & Till's), another average AUC, or "cost"."""
    from rocscope.multiclass.figures import class_figure

    if condition.quantity.casefold() == "cost" and with_costs:
        return "cost"
    figure = class_figure(condition.quantity, "--fail-if", "add --cost-matrix to compare costs")
    if figure.kind != "area":
        expected = "a condition on an AUC or, with --cost-matrix, on the cost"
        raise InputError("--fail-if", expected=expected, got=repr(str(condition)))
    return figure.name


def _compare_two_classes(
    predictions: Any, context: Any, hypothesis: dict[str, Any], folds: Any, figure: str, level: float
) -> "Comparisons":
    """Compare the costs or another metric of models."""
    # The chosen hypothesis applies to AUCs; other figures have a two-sided test.
    two_sided = hypothesis | {"alternative": "two-sided", "test": "difference", "margin": 0.0}
    if figure == "cost":
        return rs.inference.compare_costs(predictions, context, level=level, **two_sided)
    options = hypothesis if figure == "auc" else two_sided
    return rs.compare(predictions, statistic=figure, folds=folds, level=level, **options)


def _compare_classes(
    predictions: Any, cost: Any, hypothesis: dict[str, Any], figure: str, level: float
) -> "Comparisons":
    """Compare models of several classes by their costs or by an average AUC."""
    if figure == "cost":
        return rs.multiclass.compare_multiclass_costs(predictions, cost, level=level, adjust=hypothesis["adjust"])
    variant: Any = "hand_till" if figure == "auc" else figure
    return rs.multiclass.compare_multiclass_auc(predictions, variant, level=level, **hypothesis)


def _condition_estimate(condition: "Condition", result: "Comparisons") -> "Estimate":
    """Return the estimate for a condition. A difference has the order in which the condition names the models."""
    assert condition.model is not None
    if condition.minus is None:
        return result.estimates[condition.model]
    pair = result[condition.model, condition.minus]
    difference = pair.difference
    if pair.second == condition.model:
        return difference
    return replace(difference, value=-difference.value, low=-difference.high, high=-difference.low)


def _print_comparisons(result: "Comparisons", n: float) -> None:
    rows = []
    for name, estimate in result.estimates.items():
        method = estimate.method + estimate.doubt
        rows.append([name, f"{estimate.value:.4f}", _ends(estimate), method])
    headings = ("model", result.quantity, "interval", "method")
    console.print_rows(f"{result.quantity}, {n:,g} rows", headings, rows, left=("model", "method"))
    headings = ("pair", "difference", "interval", "p", f"p ({result.adjust})", "test")
    pairs = [_pair_row(pair) for pair in result]
    console.print_rows(f"Differences in {result.quantity}", headings, pairs, left=("pair", "test"))


def _pair_row(pair: "Comparison") -> list[str]:
    test = pair.method
    if pair.aim != "two-sided":
        test += f", {pair.aim}"
    return [
        f"{pair.second} − {pair.first}",
        f"{pair.difference.value:+.4f}",
        _ends(pair.difference),
        p_value(pair.p_value),
        p_value(pair.adjusted_p_value),
        test + pair.difference.doubt,
    ]


def _ends(estimate: "Estimate") -> str:
    return f"[{estimate.low:.4f}, {estimate.high:.4f}]"


@opt.for_two_classes(
    "--score",
    "--pos-label",
    "--review-cost",
    "--review-capacity",
    "--review-sensitivity",
    "--review-specificity",
    instead="omit it, because the page shows each class against the rest",
)
def report(
    file: opt.File,
    /,
    *,
    rows: opt.SampleOptions = opt.SAMPLE,
    memory: opt.Memory = None,
    classes: opt.ClassOptions = opt.CLASSES,
    fold: opt.Fold = None,
    groups: opt.Groups = None,
    segment: opt.Column = None,
    costs: opt.CostOptions = opt.COSTS,
    reviewing: opt.ReviewOptions = opt.REVIEW,
    output: Annotated[str, opt.OUTPUT] = "report.html",
    title: str | None = None,
    notes: str | None = None,
    force: opt.Force = False,
) -> None:
    """Write an interactive report as an HTML file that needs no internet connection.

    Example: rocscope report scores.parquet --label y --score a --score b -o report.html

    Parameters
    ----------
    segment
        Column of the segments, such as regions.
    output
        HTML file to write. Type - to print the HTML instead.
    title
        Title of the report. By default, the name of FILE. The names of files that you save from the report start with
        the title.
    notes
        Text shown below the title.
    """
    opt.require_output(output, HTML, force=force)
    columns: dict[str, Any] = {"fold": fold, "groups": groups, "segment": segment}
    rows = rows.settled(file, "label", "scores", classes=classes, **columns)
    context = costs.context()
    review = reviewing.review()
    predictions: Any = (
        classes.read(file, rows, **columns) if classes.given else rows.read_or_count(file, memory, **columns)
    )
    from rocscope.report.model import require_segments

    if segment and not classes.given:
        require_segments(predictions, f"--segment {segment!r}")
    document = rs.Report(predictions, context=context, title=title or Path(file).stem, notes=notes or "", review=review)
    if output == "-":
        console.print_text(document.html)
    else:
        console.note(f"Report: {document.save(output, force=force)}")


def explore(
    file: Annotated[
        opt.File,
        Parameter(
            help="File to explore: CSV, TSV, JSON Lines, Parquet, Arrow, Excel, DuckDB or SQLite. You can also name a "
            "folder or a pattern such as 'part-*.parquet'."
        ),
    ],
    /,
    *others: Annotated[opt.File, Parameter(help="More files to compare with FILE.")],
    rows: opt.SampleOptions = opt.SAMPLE,
    memory: opt.Memory = None,
    fold: opt.Fold = None,
    segment: opt.Column = None,
    costs: opt.CostOptions = opt.COSTS,
    title: str | None = None,
    browser: Annotated[opt.Flag, Parameter(negative="--no-browser")] = True,
    port: int = 0,
) -> None:
    """Explore files of any size in the browser, with SQL filters, segments, tests and confidence bands.

    To compare files, name several files, such as the files of two months. Press Ctrl-C to stop.

    Example: rocscope explore march.parquet april.parquet --label y --score a

    Parameters
    ----------
    segment
        Column of the segments that the page shows first. You can choose another column on the page.
    title
        Title of the page. By default, the names of the files.
    browser
        Open the page in the browser. The address of the page is always printed.
    port
        Port number in the address of the page. With 0, rocscope uses any free port.
    """
    files = [file, *others]
    for path in files:
        if path == "-":
            raise InputError("-", expected="a file that can be read several times", got="standard input")
        rows.require(path)
    context = costs.context()
    sources: Any = file
    if len(files) > 1:
        # Sources are named after their files, or by their paths if two files have the same name.
        names = [Path(path).stem for path in files]
        if len(set(names)) < len(files):
            names = files
        if len(set(names)) < len(files):
            raise InputError("files", expected="different files", got=", ".join(files))
        sources = dict(zip(names, files, strict=True))
    options: dict[str, Any] = {"scores": rows.score, "pos_label": rows.pos_label, "memory": memory}
    options |= {"fold": fold, "segment": segment, "context": context, "browser": browser, "port": port}
    title = title or ", ".join(Path(path).name for path in files)
    rs.explore(sources, title=title, **rows.arguments, **options)


def page(*, output: Annotated[str, opt.OUTPUT] = "open.html", force: opt.Force = False) -> None:
    """Write an HTML page that shows a report of each file that you drop on it. The page works offline.

    Example: rocscope page -o open.html

    Parameters
    ----------
    output
        HTML file to write. Type - to print the HTML instead.
    """
    opt.require_output(output, HTML, force=force)
    from rocscope.report.page import open_page

    if output == "-":
        console.print_text(open_page())
    else:
        console.note(f"Page: {write_file(output, open_page(), force=force, endings=HTML)}")


# The example of Vuk & Curk (2006): two data sets, two models, ten folds.
_SETS = ("tic_tac_toe", "wdbc")
_MODELS = ["naive Bayes", "tree"]
_FOLDS = 10

# Published accuracy at 0.5, accuracy at the best threshold, and the best threshold.
_PUBLISHED = {("tic_tac_toe", "naive Bayes"): "69.5%, 75.2%, 0.403"}


def demo(
    *, folder: Annotated[Path, Parameter(alias="-o")] = Path("demo"), random_state: int = 0, force: opt.Force = False
) -> None:
    """Cross-validate naive Bayes and a decision tree on two example data sets, and write reports.

    Parameters
    ----------
    folder
        Folder for the files. The folder is created if it does not exist.
    random_state
        Random seed for the division of the rows into folds.
    """
    import pyarrow as pa

    from rocscope.report.model import report_data

    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in _SETS:
        content = console.table_bytes(pa.table(cross_validated(name, random_state)), "parquet")
        source = write_file(folder / f"{name}.parquet", content, force=force)
        predictions = rs.read(source, label="label", scores=_MODELS, fold="fold")
        for model in report_data(predictions, title=name).models:
            row = [name, model.name, f"{model.auc['half']:.3f}", f"{model.default.accuracy:.1%}"]
            row += [f"{model.best.accuracy:.1%}", model.best.threshold_text]
            rows.append([*row, _PUBLISHED.get((name, model.name), "")])
        document = rs.Report(predictions, title=f"{name}: ten-fold cross-validated")
        path = document.save(folder / f"{name}.html", force=force)
        console.note(f"Predictions: {source}   Report: {path}")
    headings = ("data", "model", "AUC", "at 0.5", "at best", "best threshold", "in the paper")
    console.print_rows("Accuracy at threshold 0.5 and at the best threshold", headings, rows, left=headings)


def cross_validated(name: str, random_state: int) -> "dict[str, Array]":
    """Return the labels, the folds, and the out-of-fold probabilities of both models."""
    import numpy as np
    from sklearn import model_selection, naive_bayes, pipeline, preprocessing, tree

    data = rs.datasets.load(name)
    label = (data.y == data.positive).astype(np.int8)
    bayes = naive_bayes.CategoricalNB(min_categories=5)
    decision_tree = tree.DecisionTreeClassifier(min_samples_leaf=2, random_state=random_state)
    if all(column.dtype.kind == "f" for column in data.X.values()):
        # Naive Bayes needs categories: five bins of equal frequency, fitted in each fold.
        features = np.column_stack(list(data.X.values()))
        bins = preprocessing.KBinsDiscretizer(
            5, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
        )
        learners = {"naive Bayes": pipeline.make_pipeline(bins, bayes), "tree": decision_tree}
    else:
        codes = [np.unique(column, return_inverse=True)[1] for column in data.X.values()]
        features = np.column_stack(codes)
        categories = preprocessing.OneHotEncoder(handle_unknown="ignore")
        learners = {"naive Bayes": bayes, "tree": pipeline.make_pipeline(categories, decision_tree)}
    folds = list(
        model_selection.StratifiedKFold(_FOLDS, shuffle=True, random_state=random_state).split(features, label)
    )
    fold = np.zeros(label.size, np.int8)
    for number, (_, test) in enumerate(folds):
        fold[test] = number
    columns = {"label": label, "fold": fold}
    for model, learner in learners.items():
        probability: Any = model_selection.cross_val_predict(learner, features, label, cv=folds, method="predict_proba")
        columns[model] = probability[:, 1]
    return columns
