"""Options shared by several commands, and functions that read a file with these options.

Each option is declared once, with its help text and its panel in `--help`. Options that belong together form a
dataclass. cyclopts turns each field of the dataclass into an option (`name="*"`):

- `LayoutOptions`: format of the file, and the rows to read.
- `SampleOptions`: layout, and the columns of labels, scores, weights and follow-up times.
- `ClassOptions`: probabilities or predicted labels of more than two classes.
- `CostOptions` and `ReviewOptions`: costs, prevalence, and review as a third action.

A command first calls `require`, which reports a wrong path or column without loading NumPy or Arrow. The command then
reads the data with `SampleOptions.read`, `SampleOptions.read_or_count` or `ClassOptions.read`. `read_settings` reads
options from the settings file.
"""

import re
import shlex
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from cyclopts import App, ArgumentCollection, Group, Parameter
from cyclopts.config import Dict

import rocscope as rs
from rocscope._base.atomic_write import check_writable
from rocscope.cli.console import attended, note
from rocscope.engines import formats
from rocscope.errors import EngineError, InputError, LabelError, one_of

# Panels of --help, in this order.
FILES = Group.create_ordered("Arguments")
COLUMNS = Group.create_ordered("Columns and rows")
CONTEXT = Group.create_ordered("Costs and class mix")
CHOICE = Group.create_ordered("Choice")
CAMPAIGN = Group.create_ordered("Campaign")
OPTIONS = Group.create_ordered("Options")
INPUT = Group.create_ordered("Input file")

TWO_CLASS_COSTS = ("--cost-fp", "--cost-fn", "--cost-tp", "--cost-tn", "--target-prevalence")
_SHARES = ("--target-prevalence", "--response-rate", "--level", "--threshold")

# A number with a currency sign in front of it, or with a percent sign or a currency after it.
_DECORATED = re.compile(r"(?:[$£€¥]\s*)?([-+]?\d[\d.,\s'_]*)(%?)\s*(?:[$£€¥]|[A-Z]{3})?")


def plain_number(text: str) -> str | None:
    """Return a number without currency sign, percent sign or separators. Return None if the text is not a number.

    Examples
    --------
    >>> [plain_number(text) for text in ("1,50", "5 %", "45€", "$1,200.50", "1.200,50 EUR", "1,200", "amount")]
    ['1.50', '0.05', '45', '1200.50', '1200.50', '1.200 or 1200', None]
    """
    match = _DECORATED.fullmatch(text.strip())
    if match is None:
        return None
    digits = re.sub(r"[\s'_]", "", match[1]).lstrip("+")
    # The last mark, a point or a comma, is the decimal mark, unless it occurs more than once.
    decimal, grouping = sorted(".,", key=digits.rfind, reverse=True)
    without_marks = digits.replace(decimal, "").replace(grouping, "")
    plain = digits.replace(grouping, "").replace(decimal, ".")
    if digits.count(decimal) > 1:
        plain = without_marks
    if match[2]:
        return f"{float(plain) / 100:.12g}"
    # "1,200", with three digits after a single comma, may mean 1.2 or 1200.
    if re.fullmatch(r"-?\d{1,3},\d{3}", digits):
        return f"{plain} or {without_marks}"
    return plain


def not_a_number(option: str, text: str, kind: str = "a number") -> InputError:
    """Return the error for an option that needs a number. The hint shows the number as it must be typed."""
    plain = plain_number(text)
    # 10% is a share. For an option that takes a number of cases, it is unclear what it is a share of.
    is_clear = plain and ("%" not in text or option in _SHARES)
    return InputError(option, expected=kind, got=repr(text), hint=f"write {plain}" if is_clear else "")


def columns_of(**costs: float | str) -> dict[str, str]:
    """Return a mapping from option to column name, for each option that names a column instead of a number.

    The keys are texts for error messages, such as "--cost-fn (a number or a column)".

    Raises
    ------
    InputError
        If the value of an option is a number with a currency sign or percent sign.
    """
    columns = {}
    for name, cost in costs.items():
        if not isinstance(cost, str):
            continue
        option = f"--{name.replace('_', '-')}"
        if plain_number(cost):
            raise not_a_number(option, cost)
        columns[f"{option} (a number or a column)"] = cost
    return columns


def _refuse_option(_type: Any, value: str) -> None:
    if value.startswith("-") and value != "-":
        raise ValueError(f"{value} is not an option of this command")


File = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        validator=_refuse_option,
        help="File to read: CSV, TSV, JSON Lines, Parquet, Arrow, Excel, DuckDB or SQLite. You can also name a folder, "
        "a pattern such as 'part-*.parquet', or - for standard input.",
    ),
]
SavedDecision = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        validator=_refuse_option,
        help="File of a saved plan. You can save a plan with 'rocscope choose -o', with 'rocscope campaign -o' or from "
        "a report.",
    ),
]
Column = Annotated[str | None, Parameter(group=COLUMNS)]
Columns = Annotated[list[str] | None, Parameter(group=COLUMNS)]
Scores = Annotated[list[str] | None, Parameter(alias="-s", group=COLUMNS)]
Groups = Annotated[
    str | None,
    Parameter(
        group=COLUMNS,
        help="Column that identifies the patient or customer if a patient or customer may have several rows.",
    ),
]
Fold = Annotated[str | None, Parameter(group=COLUMNS, help="Column with the cross-validation fold of each row.")]
Level = Annotated[float, Parameter(help="Confidence level of the intervals.")]
Flag = Annotated[bool, Parameter(show_default=False)]
Guess = Annotated[
    Flag,
    Parameter(group=COLUMNS, help="Guess the columns that you do not name. Most other commands do this by default."),
]
Json = Annotated[Flag, Parameter(help="Print the result as JSON.")]
Markdown = Annotated[Flag, Parameter(name="--md")]
Force = Annotated[Flag, Parameter(help="Overwrite an existing file.")]
FailIf = Annotated[
    list[str] | None,
    Parameter(
        help="Exit with code 1 if this condition is true, such as 'auc < .8' or 'brier(a) > .2 at 95%'. Repeat the "
        "option for several conditions."
    ),
]
CostMatrixFile = Annotated[str | None, Parameter(group=CHOICE)]
CostRows = Annotated[
    Literal["actual", "predicted"] | None,
    Parameter(group=CHOICE, help="Meaning of the rows of the cost matrix: actual classes or predicted classes."),
]
OUTPUT = Parameter(alias="-o", allow_leading_hyphen=True)
Output = Annotated[str | None, OUTPUT]
Plot = Annotated[str | None, Parameter(help="Also write a figure to this file: .svg, .png, .pdf or .pgf.")]
PlotWidth = Annotated[float, Parameter(help="Width of the figure in millimetres, such as 85 for one column of a page.")]
_MEMORY = (
    "Memory limit, such as '2 GB'. With this option, the file is read in parts, and data above the limit are stored in "
    "a temporary file. Without this option, files above 5 million rows (Parquet) or 250 MB (other formats) are read in "
    "parts if possible. The limit is then half of the free memory."
)
Memory = Annotated[str | None, Parameter(group=INPUT, help=_MEMORY)]
_PROBA = (
    "For more than two classes: pattern of the columns with class probabilities, such as 'p_*'. The * stands for the "
    "class name. For several models, repeat the option and write the model's name first, such as 'tree=p_*'."
)


def is_stream(file: str) -> bool:
    """Return True if a file can be read only once, so that its columns cannot be checked beforehand."""
    return file == "-" or formats.is_pipe(file)


@Parameter(name="*", group=INPUT)
@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Options for the format of a file and for the rows to read."""

    where: Annotated[str | None, Parameter(group=COLUMNS, allow_leading_hyphen=True)] = None
    """Read only rows that satisfy this SQL condition, such as "age >= 18"."""
    format: formats.FileFormat | None = None
    """Format of the file. Needed only for standard input and for files without a known extension."""
    decimal: Literal[".", ","] | None = None
    """Decimal mark of a CSV file. By default, the mark is detected from the numbers in the file."""
    thousands: Annotated[Literal[",", ".", " ", "'"] | None, Parameter(show_choices=False)] = None
    """Thousands separator of a CSV file: comma, point, apostrophe or space.
    Needed only if numbers such as 1,234 are ambiguous."""
    delimiter: str | None = None
    """Column separator of a CSV file. By default, a comma, semicolon, vertical bar or tab is detected."""
    encoding: str | None = None
    """Encoding of a text file, such as latin-1. The default is UTF-8."""
    table: Annotated[str | None, Parameter(alias="--sheet")] = None
    """Name of a sheet in a workbook, or of a table or view in a DuckDB or SQLite database. Not needed if the file has
    only one."""
    skip_rows: int | None = None
    """Number of rows to skip above the column names of a CSV or Excel file. By default, these rows are detected."""
    skip_footer: int | None = None
    """Number of rows to skip at the end of a CSV or Excel file, such as a row of totals."""
    header: Annotated[bool | None, Parameter(negative="--no-header")] = None
    """Use --no-header if the first row contains data. The columns are then named column1, column2 and so on."""

    @property
    def file_layout(self) -> formats.FileLayout:
        """Return the options that describe the format of the file."""
        options = {name.name: getattr(self, name.name) for name in fields(formats.FileLayout)}
        return formats.FileLayout(**options)

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the options as arguments of the functions that read files."""
        return {"where": self.where} | asdict(self.file_layout)

    def named_columns(self, file: str) -> formats.NamedColumns | None:
        """Return the column names of a file. Return None for a stream, and for formats that need a library."""
        if is_stream(file):
            return None
        return formats.named_columns(formats.find_files(file, self.format), self.file_layout)

    def require(self, file: str, **columns: Sequence[str | None]) -> None:
        """Raise an error if the file or one of the columns does not exist. No library is loaded for this check."""
        if all(name is None for names in columns.values() for name in names):
            # The names of very many columns would take time to read.
            if not is_stream(file):
                formats.find_files(file, self.format)
            return
        named = self.named_columns(file)
        if named is not None:
            require_columns(named, file, columns)


def require_columns(named: formats.NamedColumns, file: str, columns: dict[str, Sequence[str | None]]) -> None:
    """Raise an error if a column is not in the file. `columns` has the column names for each option."""
    for role, names in columns.items():
        given = [name for name in names if name is not None]
        # Fails if the locale cannot represent what was typed.
        "".join([file, *given]).encode()
        formats.require_columns(named, given, role)


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """Options for the columns of a file with two classes."""

    label: Annotated[str | None, Parameter(alias="-l")] = None
    """Column of the true labels."""
    score: Annotated[list[str] | None, Parameter(alias="-s")] = None
    """Column of a model's scores. Repeat the option for several models."""
    weight: str | None = None
    """Column of row weights."""
    weights: Literal["auto", "frequency", "sampling", "money"] = "auto"
    """Meaning of the weights: number of equal rows (frequency), number of cases that a row represents (sampling), or
    amount of money (money). By default (auto), rocscope detects whether the weights are frequencies."""
    pos_label: str | None = None
    """The positive label. Not needed if labels are 0/1, -1/1 or true/false."""
    missing: Literal["error", "drop", "segment"] = "error"
    """What to do with missing values: stop with an error (error) or drop the rows (drop). With 'segment', rows without
    a segment form their own segment."""
    time: str | None = None
    """For follow-up data, instead of --label: column with the time until the event or the end of observation."""
    event: str | None = None
    """With --time: column of the outcome. 0 means censored, 1 means the event, 2 or more means a competing event."""
    event_codes: str | None = None
    """With --event: values of the outcome column that stand for 0, 1, 2, …, such as 'alive,dead'. Not needed if the
    column contains these numbers."""
    horizon: float | None = None
    """With --time: prediction horizon. Cases with the event up to this time are positive."""
    censoring: list[str] | None = None
    """With --time: numeric column on which censoring depends, such as age. Repeat the option for several columns."""
    layout: LayoutOptions = LayoutOptions()

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the options as arguments of functions that read files with two or more classes."""
        columns = {"label": self.label, "weight": self.weight, "weights": self.weights, "missing": self.missing}
        return columns | self.layout.arguments

    def require(self, file: str, *needed: str, classes: "ClassOptions | None" = None, **others: str | None) -> None:
        """Raise an error if the file or one of the columns does not exist. No library is loaded for this check.

        Parameters
        ----------
        file : str
            Path of the file.
        *needed : {"label", "scores"}
            Options that the user must give.
        classes : ClassOptions, optional
            Scores are not required if these options name probabilities or predicted classes.
        **others : str or None
            Column names given with other options of the command, by the name of the option.
        """
        required = set(needed)
        if self._is_timed():
            required.discard("label")
        columns: dict[str, Sequence[str | None]] = {"label": [self.label], "score": self.score or []}
        columns |= {
            "weight": [self.weight],
            "time": [self.time],
            "event": [self.event],
            "censoring": self.censoring or [],
        }
        if classes is not None and classes.given:
            required.discard("scores")
            columns |= {"score": [], "predicted": classes.predicted or []}
        columns |= {role: [column] for role, column in others.items()}
        if self.weights != "auto" and self.weight is None:
            raise InputError("--weights", expected="--weight with the column of the weights", got="no --weight")
        named = self.layout.named_columns(file)
        if named is not None:
            if "label" in required:
                formats.require_name(named, "label", self.label)
            if "scores" in required:
                formats.models_of(named, "scores", self.score)
            require_columns(named, file, columns)
        self._require_pos_label(file)

    def settled(
        self, file: str, *needed: str, classes: "ClassOptions", guess: bool = True, **others: Any
    ) -> "SampleOptions":
        """Check these options with `require`, and guess the label or the scores if they are needed but not named.

        Raise an error if the file seems to have probabilities of more than two classes, because most options are for
        two classes. The error states the options to type.
        """
        lacks_label = "label" in needed and self.label is None and self.time is None
        lacks_scores = "scores" in needed and not self.score
        if not guess or classes.given or is_stream(file) or not (lacks_label or lacks_scores):
            self.require(file, *needed, classes=classes, **others)
            return self
        self.require(file, **others)
        rows, guessed = self.guessed(file)
        if guessed.given:
            expected = f"--label {shlex.quote(str(rows.label))} --proba {shlex.quote(*guessed.proba or [''])}"
            hint = "add these options, because the file has more than two classes"
            raise InputError("--proba", expected=expected, got="no --proba", hint=hint)
        rows.require(file, *needed, **others)
        return rows

    def remembered(self, **columns: str | None) -> dict[str, Any]:
        """Return the options that were given, and other columns of the command, to save them with a plan."""
        default = asdict(SAMPLE)
        given = asdict(self)
        given |= given.pop("layout") | columns
        default |= default.pop("layout")
        return {name: value for name, value in given.items() if value != default.get(name)}

    def recalled(self, plan: Any, *, but: Sequence[str] = ("where",)) -> "SampleOptions":
        """Return these options. Options that were not given are taken from a saved plan, except those in `but`.

        By default, the plan's row filter (`where`) is not used, because it may not apply to other rows.
        """
        given = self.remembered()
        new = {name: value for name, value in recall(plan).items() if name not in (*given, *but)}
        layout = {name: new[name] for name in asdict(self.layout) if name in new}
        own = {name: new[name] for name in asdict(self) if name in new}
        return replace(self, layout=replace(self.layout, **layout), **own)

    def _is_timed(self) -> bool:
        """Return True if the options for follow-up data are given. Raise an InputError if some of them are missing."""
        follow_up = {"--time": self.time, "--event": self.event, "--horizon": self.horizon}
        missing = [option for option, value in follow_up.items() if value is None]
        if len(missing) == len(follow_up):
            if self.event_codes is not None:
                raise InputError("--event-codes", expected="--event with the column of the outcome", got="no --event")
            return False
        if missing:
            raise InputError("--time, --event and --horizon", expected="all three options", got=f"no {missing[0]}")
        if self.label is not None or self.pos_label is not None:
            hint = "omit both, because time and event determine which rows are positive"
            raise InputError("--time", expected="no --label and no --pos-label", hint=hint)
        return True

    def _require_pos_label(self, file: str) -> None:
        """Raise an error if the first rows of a text file have two labels and neither is the positive label."""
        # A condition may select rows with labels that the first rows do not contain.
        if self.label is None or self.pos_label is None or self.layout.where is not None or is_stream(file):
            return
        paths = formats.find_files(file, self.layout.format)
        values = formats.first_values(paths, self.layout.file_layout).get(self.label, set())
        labels = sorted(values - {"", *formats.NA_WORDS})
        if len(labels) < 2 or any(_is_like(self.pos_label, value) for value in values):
            return
        expected = f"a value of column {self.label!r}: {one_of(self.pos_label, labels)}"
        raise LabelError("--pos-label", expected=expected, got=repr(self.pos_label))

    def guessed(self, file: str) -> "tuple[SampleOptions, ClassOptions]":
        """Guess the columns that are not named, print the guess, and return the completed options."""
        layout = self.layout
        if is_stream(file):
            raise InputError("--guess", expected="a file that can be read twice", got="a stream")
        if self.label is None and layout.where is None:
            formats.require_candidate(formats.find_files(file, layout.format), layout.file_layout)
        from rocscope.engines.description import guess

        known = {"label": self.label, "scores": self.score or (), "weight": self.weight, "pos_label": self.pos_label}
        with attended(f"Reading {file}"):
            guessed = guess(file, layout.file_layout, where=layout.where, **known)
        settled = {"label": guessed.label, "score": guessed.scores}
        settled |= {"weight": guessed.weight, "pos_label": guessed.pos_label}
        new: dict[str, Any] = {name: value for name, value in settled.items() if value and not getattr(self, name)}
        new_layout: dict[str, Any] = {}
        if guessed.decimal and not layout.decimal:
            new_layout["decimal"] = guessed.decimal
        words = []
        classes = ClassOptions(proba=[guessed.proba] if guessed.proba else None)
        for name, value in (new | {"proba": classes.proba or []} | new_layout).items():
            texts = [value] if isinstance(value, str) else value
            words += [f"--{name.replace('_', '-')} {shlex.quote(text)}" for text in texts]
        if words:
            note(f"Guessed: {' '.join(words)}", to_be_copied=True)
        return replace(self, layout=replace(layout, **new_layout), **new), classes

    def read(self, source: Any, **columns: Any) -> "rs.Predictions":
        """Read the rows of a file or of columns in memory, with labels of two classes or with follow-up times."""
        if self.time is None:
            options: dict[str, Any] = {"scores": self.score, "pos_label": self.pos_label} | self.arguments
            with attended(f"Reading {source if isinstance(source, str) else 'columns'}"):
                predictions = rs.read(source, **options, **columns)
        else:
            if columns.pop("columns", None):
                raise InputError("--columns and --time", expected="only one of these options", got="both")
            codes = None if self.event_codes is None else self.event_codes.split(",")
            options = {"time": self.time, "event": self.event, "horizon": self.horizon, "scores": self.score}
            options |= {"event_codes": codes, "weight": self.weight, "weights": self.weights}
            options |= {"censoring": self.censoring}
            options |= {"missing": self.missing, "where": self.layout.where, "layout": self.layout.file_layout}
            predictions = rs.engines.read_at_horizon(source, **options, **columns)
        self.note_dropped(predictions)
        return predictions

    def read_or_count(
        self, file: str, memory: str | None = None, *, count_by: str | None = None, **columns: str | None
    ) -> Any:
        """Read the rows of a file. If the file is large or `memory` is given, count its rows instead.

        Rows can be counted for each segment in the column `count_by`. Any other column needs all rows in memory.
        """
        named: dict[str, Any] = {name: column for name, column in columns.items() if column is not None}
        of_rows = [f"--{name}" for name in named]
        if self.weights in ("sampling", "money"):
            of_rows.append(f"--weights {self.weights}")
        if of_rows and memory is not None:
            hint = f"omit --memory, because {of_rows[0]} needs all rows in memory"
            subject = f"--memory and {of_rows[0]}"
            raise InputError(subject, expected="only one of these options", got="both", hint=hint)
        if count_by is not None:
            named["segment"] = count_by
        # Counts cannot form a segment of the rows with a missing segment.
        needs_rows = of_rows or self.missing == "segment" or not formats.is_large(file, format=self.layout.format)
        if self.time is not None or (memory is None and needs_rows):
            return self.read(file, **named)
        options = self.arguments | {"scores": self.score, "pos_label": self.pos_label, "memory": memory}
        counts: Any = rs.read_counts(file, **options, **named)
        self.note_dropped(counts)
        return counts

    def note_dropped(self, sample: Any) -> None:
        """Print the number of dropped rows if `--missing drop` was given."""
        if self.missing == "drop":
            source = sample.source
            dropped = f"{source.rows_dropped:,} of {source.rows_read:,} rows"
            note(f"Dropped: {dropped}, because they have a missing or infinite value")


def _is_like(pos_label: str, value: str) -> bool:
    """Return True if a value equals the positive label as text or as a number."""
    try:
        return pos_label.casefold() == value.casefold() or float(pos_label) == float(value.replace(",", "."))
    except ValueError:
        return False


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True, kw_only=True)
class ClassOptions:
    """Options for the columns of a file with more than two classes."""

    proba: Annotated[list[str] | None, Parameter(help=_PROBA)] = None
    predicted: list[str] | None = None
    """For more than two classes: column of a model's predicted classes. Repeat the option for several models."""
    normalize: Flag = False
    """For more than two classes: divide the probabilities of each row by their sum. They then add up to 1."""

    @property
    def given(self) -> bool:
        """True if `--proba` or `--predicted` is given, which are only for more than two classes."""
        return bool(self.proba or self.predicted)

    def read(self, file: str, rows: SampleOptions, **columns: Any) -> "rs.multiclass.MulticlassPredictions":
        """Read the rows of a file with more than two classes."""
        options: dict[str, Any] = {"proba": self.patterns(), "predicted": self.predicted, "normalize": self.normalize}
        with attended(f"Reading {file}"):
            predictions: Any = rs.read(file, **options, **rows.arguments, **columns)
        rows.note_dropped(predictions)
        return predictions

    def patterns(self) -> dict[str, str] | str | None:
        """Return a mapping from model names to patterns of columns, or a single pattern without a name."""
        if not self.proba:
            return None
        patterns: dict[str, str] = {}
        for text in self.proba:
            name, _, pattern = text.rpartition("=")
            if len(self.proba) == 1 and not name:
                return pattern
            patterns[name or pattern] = pattern
        if len(patterns) < len(self.proba):
            expected = "a different name for each model, such as 'tree=p_*'"
            raise InputError("--proba", expected=expected, got=", ".join(self.proba))
        return patterns


@Parameter(name="*", group=CONTEXT)
@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """Options for costs and prevalence."""

    cost_fp: float | str = 1
    """Cost of a false positive. 'choose' and 'compare --at-context' also accept the name of a cost column."""
    cost_fn: float | str = 1
    """Cost of a false negative. 'choose' and 'compare --at-context' also accept the name of a cost column."""
    cost_tp: float | str = 0
    """Cost of a true positive. Enter a gain as a negative cost. 'choose' and 'compare --at-context' also accept the
    name of a cost column."""
    cost_tn: float | str = 0
    """Cost of a true negative. Enter a gain as a negative cost. 'choose' and 'compare --at-context' also accept the
    name of a cost column."""
    target_prevalence: float | None = None
    """Share of positives, from 0 to 1, among the cases on which you will use the model. By default, the share in the
    file."""

    @property
    def columns(self) -> dict[str, str]:
        """Mapping from option to column name, for each cost that is given as a column (see `columns_of`)."""
        return columns_of(cost_fp=self.cost_fp, cost_fn=self.cost_fn, cost_tp=self.cost_tp, cost_tn=self.cost_tn)

    def context(self, *, of_rows: bool = False) -> "rs.Context":
        """Return the Context. Raise an error if a cost is a column and `of_rows` is False."""
        # Raises for numbers with a currency or percent sign, before NumPy is loaded.
        roles = self.columns
        context = rs.Context(self.target_prevalence, self.cost_fp, self.cost_fn, self.cost_tp, self.cost_tn)
        if context.columns and not of_rows:
            option = next(iter(roles)).partition(" ")[0]
            name = option.removeprefix("--").replace("-", "_")
            hint = "enter a number, because only rocscope choose and rocscope compare --at-context accept a column"
            raise InputError(name, expected="a number", got=f"the column {context.columns[0]!r}", hint=hint)
        return context


@Parameter(name="*", group=CHOICE)
@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """Options for human review of cases with scores between two thresholds."""

    review_cost: float | None = None
    """Cost of one review by a person. With this option, cases with scores between two thresholds can be reviewed."""
    review_capacity: float | None = None
    """With --review-cost: largest number of reviews. By default, there is no limit."""
    review_sensitivity: float = 1.0
    """With --review-cost: share of reviewed positive cases that the reviewer classifies as positive."""
    review_specificity: float = 1.0
    """With --review-cost: share of reviewed negative cases that the reviewer classifies as negative."""

    def review(self) -> "rs.Review | None":
        """Return the Review. Return None if `--review-cost` is not given."""
        if self.review_cost is None:
            given = [option.name for option in fields(self) if getattr(self, option.name) != option.default]
            if given:
                option = f"--{given[0].replace('_', '-')}"
                raise InputError(option, expected="--review-cost in the same command", got="no --review-cost")
            return None
        return rs.Review(self.review_cost, self.review_capacity, self.review_sensitivity, self.review_specificity)


def load_plan(path: str, classes: ClassOptions) -> Any:
    """Load a plan. Raise an InputError if it needs `--proba` but the option is missing, or the other way round."""
    from rocscope.engines.formats import format_of

    if Path(path).suffix.lower() != ".json" and format_of(Path(path)) is not None:
        hint = f"make a plan with rocscope choose {path} -o plan.json"
        raise InputError(path, expected="a saved plan (JSON)", got="a file of rows", hint=hint)
    plan = rs.decisions.load_plan(path)
    of_classes = not isinstance(plan, rs.decisions.Plan)
    if of_classes and not classes.given:
        expected = "the columns of class probabilities, such as 'p_*'"
        raise InputError(
            "--proba", expected=expected, got="no --proba", hint="add this option, because the plan has class weights"
        )
    if classes.given and not of_classes:
        hint = "name the column of scores with --score"
        raise InputError("--proba", expected="a plan for several classes", got="a plan for two classes", hint=hint)
    return plan


def remember(plan: Any, level: float, read_with: dict[str, Any]) -> None:
    """Set the confidence level of a new plan, and the options that are saved with it."""
    from rocscope.decisions.plan import set_level

    set_level(plan, level)
    vars(plan)["read_with"] = read_with


def recall(plan: Any) -> dict[str, Any]:
    """Return the options saved with a plan. Return an empty dictionary if there is no plan or no saved options."""
    return getattr(plan, "read_with", {})


def read_cost_matrix(path: str | None, cost_rows: Any, predictions: Any) -> "rs.multiclass.CostMatrix | None":
    """Read the cost matrix of several classes from a CSV file. Return None if `path` is None.

    The first row and the first column of the file contain the names of the classes, in any order.

    Raises
    ------
    InputError
        If there are only two classes, or if a cost is not a number.
    """
    if path is None:
        return None
    if predictions is None:
        expected = "--proba with the columns of class probabilities"
        hint = "for two classes use --cost-fp 1 --cost-fn 5"
        raise InputError("--cost-matrix", expected=expected, got="no --proba", hint=hint)
    import csv

    from rocscope._base.class_names import class_order

    try:
        lines = [line for line in csv.reader(Path(path).read_text(encoding="utf-8-sig").splitlines()) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EngineError(str(path), expected="a CSV file of costs", got=reason) from error
    names, body = ([name.strip() for name in lines[0][1:]], lines[1:]) if lines else ([], [])
    columns = class_order(names, predictions.classes, f"columns of {path}")
    matrix = []
    for place in class_order([line[0].strip() for line in body], predictions.classes, f"rows of {path}"):
        row, *cells = body[place]
        cells = [*cells, *[""] * len(names)]
        try:
            values = [float(cells[column]) for column in columns]
        except ValueError as error:
            got = str(error).rpartition(": ")[2]
            raise InputError(f"{path}, row {row.strip()!r}", expected="a number for each class", got=got) from None
        matrix.append([int(value) if value.is_integer() else value for value in values])
    return rs.multiclass.CostMatrix(matrix, classes=predictions.classes, rows=cost_rows)


LAYOUT = LayoutOptions()
SAMPLE = SampleOptions()
CLASSES = ClassOptions()
COSTS = CostOptions()
REVIEW = ReviewOptions()


def require_output(path: str | None, endings: Sequence[str], *, force: bool) -> None:
    """Raise an error if an output file of this format cannot be written. Call this before the data are read."""
    if path not in (None, "-"):
        check_writable(path, force=force, endings=endings)


Command = TypeVar("Command", bound=Callable[..., Any])


def for_two_classes(*options: str, instead: str) -> Callable[[Command], Command]:
    """Declare that options of a command are only for two classes. `instead` is the hint for more classes."""

    def declare(command: Command) -> Command:
        command.for_two_classes = (options, instead)  # pyright: ignore[reportFunctionMemberAccess]
        return command

    return declare


def refuse_for_more_classes(app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Raise an error if an option for two classes is typed together with an option for more classes.

    Options for two classes from a settings file or from the environment do not raise an error.

    Raises
    ------
    InputError
        If both kinds of options were typed.
    """
    sources = {}
    for argument in arguments:
        sources[argument.name] = {token.source for token in argument.tokens}
    options, instead = getattr(app.default_command, "for_two_classes", ((), ""))
    typed = [name for name in options if "cli" in sources[name]]
    if typed and (sources["--proba"] or sources["--predicted"]):
        given = "--proba" if sources["--proba"] else "--predicted"
        raise InputError(", ".join(typed), expected="two classes", got=f"{given} for several classes", hint=instead)


# Options that take a number of cases: "10.000" and "10,000" mean ten thousand here, never ten.
_COUNTS = ("--population", "--capacity", "--review-capacity")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'\u2019 ]\d{3})+")


def refuse_grouped_counts(_app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Raise an error if a number of cases has a thousands separator.

    Raises
    ------
    InputError
        If there is such a number. The hint states the number without separators.
    """
    for argument in arguments:
        for token in argument.tokens:
            if argument.name in _COUNTS and _GROUPED.fullmatch(token.value):
                plain = re.sub(r"\D", "", token.value)
                raise InputError(argument.name, expected="a number", got=repr(token.value), hint=f"write {plain}")


def read_settings(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Read options that were not typed from `rocscope.toml` or from `[tool.rocscope]` in `pyproject.toml`.

    Options in the table of a command take precedence over options for all commands.
    """
    source = "rocscope.toml"
    settings = _settings_in(source)
    if not settings:
        source = "pyproject.toml"
        settings = _settings_in(source).get("tool", {}).get("rocscope", {})
    if settings:
        own = settings.get(commands[0], {}) if commands else {}
        names = {name.lstrip("-").replace("-", "_") for argument in arguments for name in argument.names}
        for key, value in own.items() if isinstance(own, dict) else ():
            if key.replace("-", "_") not in names or isinstance(value, dict):
                expected = f"an option of rocscope {commands[0]} with its value"
                raise InputError(f"[{commands[0]}] in {source}", expected=expected, got=f"{key} = {value!r}")
        Dict(settings, source=source, allow_unknown=True)(app, commands, arguments)
        Dict(settings, source=source, allow_unknown=True, use_commands_as_keys=False)(app, commands, arguments)


def _settings_in(name: str) -> dict[str, Any]:
    """Return the settings in a TOML file. Return an empty dictionary if the file does not exist."""
    return read_toml(name, name, "valid TOML") if Path(name).is_file() else {}


def read_toml(path: str, what: str, expected: str) -> dict[str, Any]:
    """Return the content of a TOML file. `what` and `expected` are the words of the error if it cannot be read."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        got = error.strerror if isinstance(error, OSError) else error
        raise InputError(what, expected=expected, got=str(got)) from error
