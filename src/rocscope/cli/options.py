"""Options shared by several commands: each is declared once, with its help and panel."""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from cyclopts import App, ArgumentCollection, Group, Parameter

from rocscope._base.atomic_write import check_writable
from rocscope._base.progress import attended
from rocscope.cli.console import note
from rocscope.engines.formats import (
    NA_WORDS,
    FileFormat,
    FileLayout,
    NamedColumns,
    find_files,
    first_values,
    is_pipe,
    models_of,
    named_columns,
    require_candidate,
    require_columns,
    require_name,
)
from rocscope.errors import InputError, LabelError, one_of

FILES, COLUMNS, CONTEXT, CHOICE, CAMPAIGN, OPTIONS = (
    Group.create_ordered(name)
    for name in ("Arguments", "Columns and rows", "Costs and class mix", "Choice", "Campaign", "Options")
)
TWO_CLASS_COSTS = ("--cost-fp", "--cost-fn", "--cost-tp", "--cost-tn", "--target-prevalence")


_SHARES = ("--target-prevalence", "--response-rate", "--level")
_DECORATED = re.compile(r"(?:[$£€¥]\s*)?([-+]?\d[\d.,\s'_]*)(%?)\s*(?:[$£€¥]|[A-Z]{3})?")


def plain_number(text: str) -> str | None:
    """Return how a number with a sign of money or percent, or with a decimal comma, is typed here; None of others.

    Examples
    --------
    >>> [plain_number(text) for text in ("1,50", "5 %", "45€", "$1,200.50", "1.200,50 EUR", "1,200", "amount")]
    ['1.50', '0.05', '45', '1200.50', '1200.50', '1.200 or 1200', None]
    """
    found = _DECORATED.fullmatch(text.strip())
    if found is None:
        return None
    digits = re.sub(r"[\s'_]", "", found[1]).lstrip("+")
    mark, other = sorted(".,", key=digits.rfind, reverse=True)
    grouped = digits.replace(mark, "").replace(other, "")
    plain = grouped if digits.count(mark) > 1 else digits.replace(other, "").replace(mark, ".")
    if found[2]:
        return f"{float(plain) / 100:.12g}"
    return f"{plain} or {grouped}" if re.fullmatch(r"-?\d{1,3},\d{3}", digits) else plain


def not_a_number(option: str, text: str, kind: str = "a number") -> InputError:
    """Return the error for an option whose value is no number, with how that is typed, where it may be meant."""
    plain = plain_number(text)
    is_form = plain and ("%" not in text or option in _SHARES)  # 10 % of what, if the option is a number of cases?
    return InputError(option, expected=kind, got=repr(text), hint=f"write {plain}" if is_form else "")


def columns_of(**costs: float | str) -> dict[str, str]:
    """Return the columns among what is a number or a column, by the words for what else could have been given.

    Raises
    ------
    InputError
        If one is a number with signs.
    """
    named = {f"--{name.replace('_', '-')}": cost for name, cost in costs.items() if isinstance(cost, str)}
    for option, text in named.items():
        if plain_number(text):
            raise not_a_number(option, text)
    return {f"{option}, a number or a column": column for option, column in named.items()}


def _refuse_option(_type: Any, value: str) -> None:
    if value.startswith("-") and value != "-":
        raise ValueError(f"{value} is no option of this command")


def _is_like(pos_label: str, value: str) -> bool:
    """Return whether a value may be the positive label: the same text, or the same number."""
    try:
        return pos_label.casefold() == value.casefold() or float(pos_label) == float(value.replace(",", "."))
    except ValueError:
        return False


File = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        validator=_refuse_option,
        help="CSV, TSV, JSON lines, Parquet, Arrow or Excel; a folder, or a pattern, as 'part-*.parquet'; - for stdin.",
    ),
]
SavedDecision = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True, validator=_refuse_option, help="File that 'rocscope choose -o' or the report wrote."
    ),
]
Flag = Annotated[bool, Parameter(show_default=False)]
Json = Annotated[Flag, Parameter(help="Print one versioned JSON object.")]
Force = Annotated[Flag, Parameter(help="Write over a file that exists.")]
FailIf = Annotated[
    list[str] | None,
    Parameter(help="Exit with code 1 where this holds, such as 'auc < .8' or 'brier(a) > .2 at 95 %'; repeat it."),
]
OUTPUT = Parameter(alias="-o", allow_leading_hyphen=True)
Plot = Annotated[str | None, Parameter(help="Also draw it: a file whose name ends in .svg, .png, .pdf or .pgf.")]
PlotWidth = Annotated[float, Parameter(help="Width of that figure in millimetres, such as 85 for a column.")]
Fold = Annotated[str | None, Parameter(group=COLUMNS, help="Column of the fold.")]
_MEMORY = (
    "Count without holding rows, as is done by itself beyond 5 million rows of Parquet or 250 MB of other files; ranks "
    "beyond so much memory, such as '2 GB', go to a temporary file. By default half of what is free."
)
_PROBA = (
    "For more than two classes: columns of a model's probabilities, such as 'p_*', where * is the class; with a name, "
    "as in 'tree=p_*', repeat it for several models."
)


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Which rows of a file to read, and how the file is encoded."""

    where: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    """Keep the rows for which this SQL condition holds."""
    format: FileFormat | None = None
    """Format of stdin, or of a file without a telling name."""
    decimal: Literal[".", ","] | None = None
    """Decimal mark of a CSV file; a point by default."""
    delimiter: str | None = None
    """Character between the fields of a CSV file; by default , ; | or tab, whichever makes most columns."""
    encoding: str | None = None
    """Encoding of a text file, such as latin-1; UTF-8 by default."""
    table: str | None = None
    """Table or view of a DuckDB or SQLite database; may be left out where it has one."""

    @property
    def layout(self) -> FileLayout:
        """Return the layout of the file."""
        return FileLayout(self.format, self.decimal, self.delimiter, self.encoding, self.table)

    @property
    def reading(self) -> dict[str, Any]:
        """Return the arguments for readers."""
        return {"where": self.where} | asdict(self.layout)

    def _named_columns(self, file: str) -> NamedColumns | None:
        """Return the columns of a file; None for a stream, and where only another library could tell."""
        return None if file == "-" or is_pipe(file) else named_columns(find_files(file, self.format), self.layout)

    def require(self, file: str, **columns: Sequence[str | None]) -> None:
        """Raise unless the file and its columns exist; called before any library is loaded."""
        if (named := self._named_columns(file)) is None:
            return
        for role, names in columns.items():
            given_names = [column for column in names if column is not None]
            "".join([file, *given_names]).encode()  # fails where the locale could not hold what was typed
            require_columns(named, given_names, role)


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True, kw_only=True)
class RowOptions(LayoutOptions):
    """Which rows and columns of a file to read."""

    label: Annotated[str | None, Parameter(alias="-l")] = None
    """Column of the true labels."""
    score: Annotated[list[str] | None, Parameter(alias="-s")] = None
    """Column of a model's scores; repeat it for several models."""

    def require(self, file: str, *needed: str, **others: str | None) -> None:
        """Raise unless the file and its columns exist; called before any library is loaded.

        Parameters
        ----------
        file : str
        *needed : {"label", "scores"}
            What must have been named.
        **others : str or None
            Columns that one command alone has options for.
        """
        if (named := self._named_columns(file)) is None:
            return
        if "label" in needed:
            require_name(named, "label", self.label)
        if "scores" in needed:
            models_of(named, "scores", self.score)
        super().require(file, **(self.roles | {role: [column] for role, column in others.items()}))

    @property
    def roles(self) -> dict[str, list[str | None]]:
        """Return columns by role."""
        return {"label": [self.label], "score": [*(self.score or [])]}

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments for readers of any kind."""
        return {"label": self.label} | self.reading


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True, kw_only=True)
class SampleOptions(RowOptions):
    """How rows form a sample."""

    weight: str | None = None
    """Column of row weights."""
    pos_label: str | None = None
    """The positive label, where labels are not 0/1, -1/1 or true/false."""
    missing: Literal["error", "drop", "segment"] = "error"
    """What to do with rows that lack a value; with "segment", those that only lack a segment are one of their own."""
    time: str | None = None
    """For censored follow-up, in place of a label: column of the time to the event or to the end of observation."""
    event: str | None = None
    """Column of what happened then: 0 censored, 1 the event, 2 and above competing events."""
    horizon: float | None = None
    """Time by which the event is predicted."""

    def require(self, file: str, *needed: str, **others: str | None) -> None:
        timed = {"time": self.time, "event": self.event, "horizon": self.horizon}
        if any(value is not None for value in timed.values()):
            if lacking := [f"--{name}" for name, value in timed.items() if value is None]:
                raise InputError("--time, --event and --horizon", expected="all three", got=f"no {lacking[0]}")
            if self.label is not None or self.pos_label is not None:
                raise InputError("--time", expected="no --label: time and event say which rows are positive")
            needed = tuple(set(needed) - {"label"})
        super().require(file, *needed, **others)
        if self.label is not None and self.pos_label is not None and self.where is None and not is_pipe(file):
            self._require_pos_label(file, self.label, self.pos_label)

    def _require_pos_label(self, file: str, label: str, pos_label: str) -> None:
        """Refuse a positive label where the beginning of a file has two others: that needs no library."""
        if file == "-":
            return
        values = first_values(find_files(file, self.format), self.layout).get(label, set())
        others = sorted(values - {"", *NA_WORDS})
        if len(others) > 1 and not any(map(partial(_is_like, pos_label), values)):
            expected = one_of(pos_label, others)
            raise LabelError("--pos-label", expected=f"a label of {label!r}, {expected}", got=repr(pos_label))

    @property
    def roles(self) -> dict[str, list[str | None]]:
        return super().roles | {"weight": [self.weight], "time": [self.time], "event": [self.event]}

    @property
    def arguments(self) -> dict[str, Any]:
        return super().arguments | {"weight": self.weight, "missing": self.missing}

    def predictions(self, file: Any, **columns: Any) -> Any:
        """Read the rows of two classes, or their outcomes at a horizon; columns that are in memory are taken too."""
        from rocscope.engines import read, read_at_horizon

        if self.time is not None:
            if lost := [name for name in ("fold", "columns") if columns.pop(name, None)]:
                raise InputError(f"--{lost[0]}", expected="none with --time", got="both")
            own = {"weight": self.weight, "missing": self.missing, "where": self.where, "layout": self.layout}
            at = {"time": self.time, "event": self.event, "horizon": self.horizon, "scores": self.score}
            return self._told(read_at_horizon(file, **at, **own, **columns))
        with attended(f"Reading {file if isinstance(file, str) else 'columns'}"):
            found = read(file, scores=self.score, pos_label=self.pos_label, **self.arguments, **columns)
        return self._told(found)

    def _told(self, sample: Any) -> Any:
        """Print how many rows were dropped, if requested."""
        if self.missing == "drop":
            dropped, rows = sample.source.rows_dropped, sample.source.rows_read
            note(f"Left out: {dropped:,} of {rows:,} rows, for a missing or infinite value")
        return sample


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True, kw_only=True)
class CountOptions(SampleOptions):
    """A sample that may be larger than memory."""

    memory: Annotated[str | None, Parameter(group=OPTIONS, help=_MEMORY)] = None

    def sample(self, file: str, **columns: Any) -> Any:
        """Read the predictions; of a large file only the counts, which are exact as well."""
        from rocscope.engines.formats import is_large

        whole = self.memory is None and (self.missing == "segment" or not is_large(file, format=self.format))
        if self.time is not None or whole:
            return self.predictions(file, **columns)
        from rocscope.engines import read_counts

        options = {"pos_label": self.pos_label, "memory": self.memory}
        return self._told(read_counts(file, scores=self.score, **options, **self.arguments, **columns))


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True, kw_only=True)
class ClassOptions(CountOptions):
    """A sample of two or more classes."""

    proba: Annotated[list[str] | None, Parameter(help=_PROBA)] = None
    predicted: list[str] | None = None
    """For more than two classes: column of a model's predicted classes; repeat it for several models."""
    normalize: Flag = False
    """For more than two classes: divide each row of probabilities by its sum, which rounding moves away from 1."""

    @property
    def has_classes(self) -> bool:
        """Whether there are more than two classes."""
        return bool(self.proba or self.predicted)

    @property
    def roles(self) -> dict[str, list[str | None]]:
        of_classes = {"score": [], "predicted": [*(self.predicted or [])]}
        return super().roles | (of_classes if self.has_classes else {})

    def require(self, file: str, *needed: str, **others: str | None) -> None:
        super().require(file, *(set(needed) - {"scores"} if self.has_classes else needed), **others)

    def guessed(self, file: str) -> "ClassOptions":
        """Return these options with missing ones guessed, and print the guess as options."""
        if file == "-" or is_pipe(file):
            raise InputError("--guess", expected="a file, which can be read twice", got="a stream")
        if self.label is None and self.where is None:
            require_candidate(find_files(file, self.format), self.layout)
        from rocscope.engines.description import guess

        known = {"label": self.label, "scores": self.score or (), "weight": self.weight, "pos_label": self.pos_label}
        with attended(f"Reading {file}"):
            found = guess(file, self.layout, where=self.where, **known)
        settled = {"label": found.label, "score": found.scores, "weight": found.weight, "pos_label": found.pos_label}
        settled |= {"decimal": found.decimal}
        new = {name: value for name, value in settled.items() if value and not getattr(self, name)}
        words = [
            f"--{name.replace('_', '-')} {shlex.quote(each)}"
            for name, value in new.items()
            for each in ([value] if isinstance(value, str) else value)
        ]
        if words:
            note(f"Guessed: {' '.join(words)}", to_be_copied=True)
        return replace(self, **new)

    def classes(self, file: str, **columns: Any) -> Any:
        """Read the rows of more than two classes."""
        from rocscope.engines import read

        with attended(f"Reading {file}"):
            found = read(
                file,
                proba=self._patterns(),
                predicted=self.predicted,
                normalize=self.normalize,
                **self.arguments,
                **columns,
            )
        return self._told(found)

    def _patterns(self) -> dict[str, str] | str | None:
        if not self.proba:
            return None
        named = [text.rpartition("=")[::2] for text in self.proba]
        if len(named) == 1 and not named[0][0]:
            return named[0][1]
        models = {name or pattern: pattern for name, pattern in named}
        if len(models) < len(named):
            got = ", ".join(self.proba)
            raise InputError("--proba", expected="a different name for each model, as in 'tree=p_*'", got=got)
        return models


@Parameter(name="*", group=CONTEXT)
@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """Costs of errors, and prevalence."""

    cost_fp: float | str = 1
    """Cost of a false positive; of choose also the column that holds it."""
    cost_fn: float | str = 1
    """Cost of a false negative; likewise."""
    cost_tp: float | str = 0
    """Cost of a true positive, likewise; a gain is negative."""
    cost_tn: float | str = 0
    """Cost of a true negative, likewise; a gain is negative."""
    target_prevalence: float | None = None
    """Share of positives where the classifier will be used; the sample's own by default."""

    @property
    def columns(self) -> dict[str, str]:
        """Columns that hold costs, as `columns_of`."""
        costs = {name: cost for name, cost in asdict(self).items() if name.startswith("cost_")}
        return columns_of(**costs)

    def context(self, *, of_rows: bool = False) -> Any:
        """Return the Context; costs that differ by row only if the command supports them."""
        self.columns  # noqa: B018 (refuses numbers with signs)
        from rocscope.core.context import Context

        context = Context(self.target_prevalence, self.cost_fp, self.cost_fn, self.cost_tp, self.cost_tn)
        if context.columns and not of_rows:
            name = next(name for name, cost in asdict(self).items() if isinstance(cost, str))
            hint = "rocscope choose, and compare --at-context, take columns too"
            raise InputError(name, expected="a number", got=repr(context.columns[0]), hint=hint)
        return context


@Parameter(name="*", group=CHOICE)
@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """A third action between acting and leaving."""

    review_cost: float | None = None
    """What a closer look at a case costs, as a third action."""
    review_capacity: float | None = None
    """Largest number of such looks."""

    def review(self) -> Any:
        """Return the Review, if any."""
        if self.review_cost is None:
            if self.review_capacity is not None:
                raise InputError("--review-capacity", expected="--review-cost too", got="none")
            return None
        from rocscope.decisions import Review

        return Review(self.review_cost, self.review_capacity)


LAYOUT, ROWS, SAMPLE, COUNTS, CLASSES, COSTS = (
    LayoutOptions(),
    RowOptions(),
    SampleOptions(),
    CountOptions(),
    ClassOptions(),
    CostOptions(),
)
REVIEW = ReviewOptions()


def require_output(path: str | None, *, force: bool) -> None:
    """Raise unless the output can be written; called before any work."""
    if path not in (None, "-"):
        check_writable(path, force=force)


Command = TypeVar("Command", bound=Callable[..., Any])


def for_two_classes(*options: str, instead: str) -> Callable[[Command], Command]:
    """Declare which options of a command do not apply to more than two classes, and the alternative."""

    def declare(command: Command) -> Command:
        command.for_two_classes = (options, instead)  # pyright: ignore[reportFunctionMemberAccess]
        return command

    return declare


def refuse_for_more_classes(app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Raise for options typed for two classes when there are more; settings and the environment may stay.

    Raises
    ------
    InputError
        If such an option was given on the command line.
    """
    given = {argument.name: {token.source for token in argument.tokens} for argument in arguments}
    options, instead = getattr(app.default_command, "for_two_classes", ((), ""))
    typed = [name for name in options if "cli" in given[name]]
    if typed and (given["--proba"] or given["--predicted"]):
        raise InputError(", ".join(typed), expected="none with --proba or --predicted", hint=instead)
