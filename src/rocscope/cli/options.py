"""Options that several commands share, each with one name, one help text and one environment variable."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from rocscope.errors import InputError

_COLUMNS = "Columns"
_CONTEXT = "Costs and class mix"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="CSV, TSV, JSON lines, Parquet or Arrow; a pattern such as 'part-*.parquet'; - for stdin."
    ),
]
Label = Annotated[
    str | None,
    typer.Option("--label", "-l", envvar="ROCSCOPE_LABEL", help="Column of the true labels.", rich_help_panel=_COLUMNS),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--score",
        "-s",
        envvar="ROCSCOPE_SCORE",
        help="Column of a model's scores; repeat it for several models.",
        rich_help_panel=_COLUMNS,
    ),
]
Proba = Annotated[
    list[str] | None,
    typer.Option(
        "--proba",
        envvar="ROCSCOPE_PROBA",
        help="For more than two classes: columns of a model's probabilities, such as 'p_*', where * is the class; "
        "with a name, as in 'tree=p_*', repeat it for several models.",
        rich_help_panel=_COLUMNS,
    ),
]
Predicted = Annotated[
    list[str] | None,
    typer.Option(
        "--predicted",
        envvar="ROCSCOPE_PREDICTED",
        help="For more than two classes: column of a model's predicted classes; repeat it for several models.",
        rich_help_panel=_COLUMNS,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", envvar="ROCSCOPE_WEIGHT", help="Column of row weights.", rich_help_panel=_COLUMNS),
]
Fold = Annotated[
    str | None,
    typer.Option("--fold", envvar="ROCSCOPE_FOLD", help="Column of the fold.", rich_help_panel=_COLUMNS),
]
Segment = Annotated[
    str | None,
    typer.Option(
        "--segment",
        envvar="ROCSCOPE_SEGMENT",
        help="Column of the segment, such as a region.",
        rich_help_panel=_COLUMNS,
    ),
]
PosLabel = Annotated[
    str | None,
    typer.Option(
        "--pos-label",
        envvar="ROCSCOPE_POS_LABEL",
        help="The positive label, where labels are not 0/1, -1/1 or true/false.",
        rich_help_panel=_COLUMNS,
    ),
]
Where = Annotated[
    str | None,
    typer.Option("--where", help="Keep the rows for which this SQL condition holds.", rich_help_panel=_COLUMNS),
]
Missing = Annotated[
    str,
    typer.Option("--missing", help="What to do with rows that lack a value: error or drop.", rich_help_panel=_COLUMNS),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="Format of stdin or of a file without a telling name: csv, tsv, jsonl, parquet, arrow."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        envvar="ROCSCOPE_MEMORY",
        help="Count without holding rows, as is done by itself beyond 5 million rows of Parquet or 250 MB of other "
        "files; ranks beyond so much memory, such as '2 GB', go to a temporary file. By default half of what is free.",
    ),
]
CostFp = Annotated[
    float,
    typer.Option("--cost-fp", envvar="ROCSCOPE_COST_FP", help="Cost of a false positive.", rich_help_panel=_CONTEXT),
]
CostFn = Annotated[
    float,
    typer.Option("--cost-fn", envvar="ROCSCOPE_COST_FN", help="Cost of a false negative.", rich_help_panel=_CONTEXT),
]
CostTp = Annotated[
    float,
    typer.Option(
        "--cost-tp",
        envvar="ROCSCOPE_COST_TP",
        help="Cost of a true positive; a gain is negative.",
        rich_help_panel=_CONTEXT,
    ),
]
CostTn = Annotated[
    float,
    typer.Option(
        "--cost-tn",
        envvar="ROCSCOPE_COST_TN",
        help="Cost of a true negative; a gain is negative.",
        rich_help_panel=_CONTEXT,
    ),
]
TargetPrevalence = Annotated[
    float | None,
    typer.Option(
        "--target-prevalence",
        envvar="ROCSCOPE_TARGET_PREVALENCE",
        help="Share of positives where the classifier will be used; the sample's own by default.",
        rich_help_panel=_CONTEXT,
    ),
]
Plot = Annotated[str | None, typer.Option("--plot", help="Also draw it: a file whose name ends in .svg, .png or .pdf.")]
Json = Annotated[bool, typer.Option("--json", help="Print one versioned JSON object.")]
Output = Annotated[str, typer.Option("--output", "-o", help="File to write; - for stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that exists.")]


def read_predictions(file: str, *, label: str | None, scores: list[str] | None, **options: Any) -> Any:
    """Read the predictions that the shared options describe."""
    from rocscope.engines import read

    return read(file, label=label, scores=scores or None, **options)


def read_sample(file: str, *, label: str | None, scores: list[str] | None, memory: str | None, **options: Any) -> Any:
    """Read the predictions; of a large file, only their counts, which are exact too."""
    from rocscope.engines.sources.size import is_large

    if memory is None and not is_large(file, format=options.get("format")):
        return read_predictions(file, label=label, scores=scores, **options)
    from rocscope.engines.counting import read_counts

    return read_counts(file, label=label, scores=scores or None, memory=memory, **options)


def read_multiclass(
    file: str, *, label: str | None, proba: list[str] | None, predicted: list[str] | None, **options: Any
) -> Any:
    """Read predictions of more than two classes."""
    from rocscope.engines import read

    return read(file, label=label, proba=_patterns(proba), predicted=predicted or None, **options)


def _patterns(proba: list[str] | None) -> dict[str, str] | str | None:
    if not proba:
        return None
    named = [text.rpartition("=")[::2] for text in proba]
    if len(named) == 1 and not named[0][0]:
        return named[0][1]
    models = {name or pattern: pattern for name, pattern in named}
    if len(models) < len(named):
        raise InputError("--proba", expected="a different name for each model, as in 'tree=p_*'", got=", ".join(proba))
    return models


def require_defaults(context: typer.Context, names: Sequence[str], instead: str) -> None:
    """Refuse options that mean nothing with more than two classes.

    Raises
    ------
    InputError
        If one was given on the command line.
    """
    given = [name for name in names if _was_typed(context, name)]
    if given:
        options = ", ".join("--" + name.replace("_", "-") for name in given)
        raise InputError(options, expected="none with --proba or --predicted", hint=instead)


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
