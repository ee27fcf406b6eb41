"""Gates: conditions (`--fail-if`) under which a command exits with 1, and the estimates they are judged by."""
# MERGED-DOC: """Fitted models in files, and their scores of the rows of another file."""
# MERGED-DOC: """rocscope gate: rules that the figures of models have to keep, for continuous integration."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree import ElementTree

from cyclopts import Parameter

from rocscope._base.atomic_write import write_file
from rocscope._base.formatting import about
from rocscope._base.progress import attended
from rocscope.cli import options as opt
from rocscope.cli.console import markdown_table, note, print_json, print_rows, write
from rocscope.errors import ColumnError, InputError, LabelError, ModelError, OneClassError, ScoreError, one_of

if TYPE_CHECKING:
    from rocscope._base.arrays import Array
    from rocscope.figures.conditions import Condition
    from rocscope.figures.influence import Figure
    from rocscope.inference.estimate import Estimate


FAILED = 1
_EXAMPLE = "auc(b)-auc(a)<-0.01 at 95%"


@dataclass(frozen=True)
class Gate:
    """Conditions on figures of models: where all of them hold a command fails, or fails where one that is required not.

    With a level the whole confidence interval must lie beyond the bound; without, the estimate.

    Examples
    --------
    >>> from rocscope.inference.estimate import Estimate
    >>> gate = Gate.parse("auc(b)-auc(a) < -0.01 at 95%")
    >>> gate.conditions
    (Condition('auc(b) - auc(a) < -0.01 at 95 %'),)
    >>> gate.fails([Estimate(-0.03, -0.05, -0.005, level=0.95, method="DeLong", n=100)])
    False
    """

    text: str
    conditions: "tuple[Condition, ...]"
    required: bool = False

    @classmethod
    def parse(cls, text: Any, subject: str = "--fail-if", *, required: bool = False) -> "Gate":
        """Read a text such as ``auc(b)-auc(a)<-0.01 at 95%``, ``brier > .2`` or ``auc(a)<0.8 and brier(a)>.2``."""
        from rocscope.figures.conditions import Condition

        gate = cls(str(text), Condition.read(text, subject, _EXAMPLE), required)
        for each in gate.conditions:
            if each.level is not None and not 0 < each.level < 1:
                raise InputError(subject, expected="a level between 0 and 100 %", got=f"{100 * each.level:g} %")
            if each.minus is not None and each.minus == each.model:
                raise InputError(subject, expected="two different models", got=repr(text))
        return gate

    def over(self, models: Sequence[str]) -> "list[Gate]":
        """Return a gate for each model where a condition names none; else itself."""
        if all(each.model for each in self.conditions):
            return [self]
        named = (tuple(replace(each, model=each.model or model) for each in self.conditions) for model in models)
        if len(models) == 1:
            return [replace(self, conditions=next(named))]
        return [replace(self, text=" and ".join(map(str, every)), conditions=every) for every in named]

    def fails(self, estimates: "Sequence[Estimate]") -> bool:
        """Return whether the gate fails; it does where an estimate is undefined that could decide it."""
        pairs = list(zip(self.conditions, estimates, strict=True))
        if self.required:
            return not all(condition.beyond_doubt(each) for condition, each in pairs)
        return all(condition.beyond_doubt(each) or _is_undefined(condition, each) for condition, each in pairs)


def _is_undefined(condition: "Condition", estimate: "Estimate") -> bool:
    end = estimate.low if condition.upwards else estimate.high
    judged = estimate.value if condition.level is None else end
    return judged != judged


@dataclass(frozen=True)
class JudgedGate:
    """A gate and what it was judged by."""

    gate: Gate
    estimates: "tuple[Estimate, ...]"
    segment: str = ""

    @property
    def failed(self) -> bool:
        """Whether the command fails by it."""
        return self.gate.fails(self.estimates)

    @property
    def found(self) -> str:
        """The estimates in words."""
        words = (each.words + (f" ({each.reason})" if each.value != each.value else "") for each in self.estimates)
        return "; ".join(dict.fromkeys(words))

    @property
    def named(self) -> str:
        """The gate, and the segment that it is about."""
        return self.gate.text + (f" in {self.segment}" if self.segment else "")

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the gate and its outcome with the estimates used, safe for JSON."""
        from rocscope.core.result import jsonable

        outcome = {"condition": self.gate.text, "failed": self.failed}
        outcome |= {"segment": self.segment} if self.segment else {}
        return [jsonable(outcome | {"estimate": estimate.to_dict()}) for estimate in self.estimates]


def judged_by(
    gates: Iterable[Gate], models: Sequence[str], estimate: "Callable[[Condition], Estimate]", segment: str = ""
) -> list[JudgedGate]:
    """Judge gates, each for every model where it names none."""
    every = [each for gate in gates for each in gate.over(models)]
    return [JudgedGate(gate, tuple(map(estimate, gate.conditions)), segment) for gate in every]


def outcome(judged: Iterable[JudgedGate]) -> int:
    """Print which gates failed, and return the exit code."""
    failed = [each for each in judged if each.failed]
    for each in failed:
        note(f"Failed: {each.named}: {each.found}")
    return FAILED if failed else 0


def gates_json(judged: Iterable[JudgedGate]) -> dict[str, Any]:
    """Return what the JSON of a command says of its gates."""
    return {"gates": [content for each in judged for content in each.to_dicts()]}


_LEVEL = 0.95  # of the interval that is shown where a condition asks for none


@dataclass(frozen=True)
class Judge:
    """Data of one or several models, and what their figures depend on.

    Attributes
    ----------
    data : Predictions, or counts by model
    thresholds : mapping from model to threshold
        Where figures of one threshold are measured.
    context : Context
        Of cost and net benefit; at its target prevalence only they are.
    """

    data: Any
    thresholds: Mapping[str, float] = field(default_factory=dict)
    context: Any = None

    @property
    def models(self) -> list[str]:
        """The models that a condition can name."""
        from rocscope.sample import samples_of

        return list(samples_of(self.data))

    def estimate(self, condition: "Condition") -> "Estimate":
        """Return what a condition is about; undefined where only one class is there."""
        from rocscope.inference.estimate import Estimate

        for model in (condition.model, condition.minus or condition.model):
            if model not in self.models:
                raise ColumnError(str(condition), expected=f"models among {self.models}", got=repr(model))
        figure, level = figure_of(condition), condition.level or _LEVEL
        try:
            if condition.minus is None:
                return self._alone(figure, str(condition.model), level, asked=condition.level is not None)
            return self._difference(figure, str(condition.model), condition.minus, level)
        except OneClassError as error:
            return Estimate(nan, nan, nan, level, "undefined", 0, reason=str(error))

    def _alone(self, figure: "Figure", model: str, level: float, *, asked: bool) -> "Estimate":
        import rocscope as rs
        from rocscope.inference.estimate import Estimate

        if figure.name == "auc":
            return rs.auc_interval(self.data, model=model, level=level)
        if figure.needs in ("cells", "costs") and figure.name != "miscalibration_cost":
            return self._at_threshold(figure, model, level, asked=asked)
        if figure.smooth is not None:
            return rs.inference.estimate_of(self.data, figure.smooth(), model=model, level=level)
        from rocscope.sample import samples_of

        sample = samples_of(self.data)[model]
        if not asked and figure.counts is not None:
            return Estimate(figure.value(sample.counts), nan, nan, level, figure.title, sample.counts.n)
        from rocscope.evaluation.summary import MEASURES

        if figure.name in MEASURES:
            return rs.summary({model: sample.rows or sample.counts}, self.context, level=level)[model][figure.name]
        return rs.bootstrap(sample.rows or sample.counts, figure.value, level=level)

    def _at_threshold(self, figure: "Figure", model: str, level: float, *, asked: bool) -> "Estimate":
        """Return a figure of the four counts at the threshold of a model, or of what they cost."""
        import rocscope as rs
        from rocscope.inference.estimate import Estimate
        from rocscope.sample import samples_of

        sample, threshold = samples_of(self.data)[model], self._threshold(figure, model)
        point, rows = sample.points.at(threshold), sample.rows
        if figure.unit == "cases":
            if asked:
                got = f"{figure.name}, a number of cases"
                raise InputError("condition with a level", expected="a share, such as depth", got=got)
            assert figure.cells is not None
            value = float(figure.cells(point.tp, point.fp, point.fn, point.tn))
            return Estimate(value, nan, nan, level, "count", point.n)
        trials = rows is None or (rows.sample_weight is None and not rows.grouped)
        if trials and all(float(cell).is_integer() for cell in (point.tp, point.fp, point.fn, point.tn)):
            shares = rs.inference.rate_intervals(point, level=level)
            if figure.name in shares:
                return shares[figure.name]
        data = sample.counts if rows is None else rows
        return rs.inference.estimate_of(data, self._smooth(figure, threshold), level=level)

    def _smooth(self, figure: "Figure", threshold: float) -> Any:
        from rocscope.figures.registry import in_context
        from rocscope.inference import statistics

        if figure.name == "cost":
            return statistics.cost_at(threshold, self.context)
        made = in_context(figure, self.context)
        return statistics.at(threshold, figure.name if made is figure or made.cells is None else made.cells)

    def _threshold(self, figure: "Figure", model: str) -> float:
        if model not in self.thresholds:
            hint = "set threshold or plan in the rules, or --threshold"
            raise InputError(figure.name, expected=f"a threshold for {model}", got="none", hint=hint)
        return self.thresholds[model]

    def _difference(self, figure: "Figure", model: str, minus: str, level: float) -> "Estimate":
        """Return the difference of two models; each at its own threshold, where the figure is of one."""
        import rocscope as rs

        statistic: Any = figure.name
        if figure.needs in ("cells", "costs") and figure.name != "miscalibration_cost":
            pair = {each: self._decided(each, self._threshold(figure, each)) for each in (minus, model)}
            statistic = self._smooth(figure, 0.5)
        else:
            pair = {each: self._one(each) for each in (minus, model)}
        paired = True if all(hasattr(each, "y_true") for each in pair.values()) else None
        return rs.compare(pair, statistic=statistic, level=level, paired=paired)[minus, model].difference

    def _one(self, model: str) -> Any:
        from rocscope.sample import samples_of

        sample = samples_of(self.data)[model]
        return sample.counts if sample.rows is None else sample.rows

    def _decided(self, model: str, threshold: float) -> Any:
        """Return the decisions of a model as scores 0 and 1."""
        from rocscope import Predictions

        one = self._one(model)
        if not isinstance(one, Predictions):
            return one.at(threshold)
        decided = (one.scores[model] >= threshold).astype(int)
        return Predictions(one.y_true, {model: decided}, sample_weight=one.sample_weight, groups=one.groups)


@dataclass(frozen=True)
class DecisionJudge(Judge):
    """What a decision is judged by: the estimate of its cost on new cases, and the counts of its rule."""

    decision: Any = None

    def _at_threshold(self, figure: "Figure", model: str, level: float, *, asked: bool) -> "Estimate":
        from rocscope.inference.estimate import Estimate

        decision = self.decision
        if model != decision.model:
            return super()._at_threshold(figure, model, level, asked=asked)
        if figure.name == "cost":
            if asked:
                return decision.interval(level)
            return Estimate(decision.expected_cost, nan, nan, level, "on the rows of the choice", decision.point.n)
        if decision.lot is None and decision.review is None and not decision.negated:
            return super()._at_threshold(figure, model, level, asked=asked)
        if asked or figure.cells is None:
            expected = "no level, and a figure of the four counts, where cases are drawn, reviewed or negated"
            raise InputError("--fail-if", expected=expected, got=figure.name)
        value = float(figure.cells(decision.point.tp, decision.point.fp, decision.point.fn, decision.point.tn))
        return Estimate(value, nan, nan, level, "expected counts", decision.point.n)


def figure_of(condition: "Condition") -> "Figure":
    """Return the figure of a condition; any of the registry will do."""
    from rocscope.figures.registry import figure_named

    return figure_named(condition.quantity, f"condition {str(condition)!r}", expected="a figure", suits=lambda _: True)


def gates_of(
    texts: Any, subject: str = "--fail-if", *, required: bool = False, also: tuple[str, ...] = ()
) -> list[Gate]:
    """Read gates, and refuse figures that are not known before any data are read; `also` are names of a command."""
    gates = [Gate.parse(text, subject, required=required) for text in texts or ()]
    for condition in (each for gate in gates for each in gate.conditions):
        if condition.quantity.lower() not in also:
            figure_of(condition)
    return gates


ENDINGS = (".pkl", ".pickle", ".joblib")


def split_files(files: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the files of models, by their names without the ending, and the file of the rows, which is the last one.

    Examples
    --------
    >>> split_files(["out/new.pkl", "out/old.joblib", "rows.csv"])
    ({'new': 'out/new.pkl', 'old': 'out/old.joblib'}, 'rows.csv')
    """
    *models, rows = files
    for file in models:
        if Path(file).suffix.lower() not in ENDINGS:
            expected = f"a fitted model ({', '.join(ENDINGS)}) before the file of the rows"
            raise InputError(file, expected=expected, got="another file")
    if Path(rows).suffix.lower() in ENDINGS:
        raise InputError(rows, expected="the file of the rows after the models", got="a model")
    named = {Path(file).stem: file for file in models}
    if len(named) < len(models):
        raise InputError("models", expected="files of different names", got=", ".join(models))
    return named, rows


def with_scores(models: dict[str, str], file: str, rows: Any, others: Sequence[str | None]) -> "dict[str, Array]":
    """Return the columns of a file, and as further columns the scores of fitted models.

    Parameters
    ----------
    models : mapping from name to file
    file : str
    rows : RowOptions
    others : sequence of str or None
        Columns that are no features: the label, the weight, segments and groups.

    Raises
    ------
    ModelError
        If a file holds no fitted model of two classes, or the model cannot score the rows; the message names it.
    """
    from rocscope.engines.opening import open_source

    fitted = {name: _loaded(path) for name, path in models.items()}
    with attended(f"Reading {file}"), open_source(file, rows.layout) as source:
        names = list(dict.fromkeys(source.columns))
        table = source.fetch(names, rows.where)
        content = {name: _typed(table.column(name), name, source.decimal) for name in names}
    features = {name: column for name, column in content.items() if name not in others}
    return content | {name: _scores(name, model, features, rows.pos_label) for name, model in fitted.items()}


def _loaded(path: str) -> Any:
    try:
        import joblib  # a library that scikit-learn needs, so that it is there wherever its models are

        return joblib.load(path)
    except ModuleNotFoundError as error:
        raise ModelError(f"{path}: {error.name} is not installed", hint=f"pip install {error.name}") from None
    except Exception as error:
        got = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelError(path, expected="a fitted model, saved with joblib or pickle", got=got) from error


def _typed(column: Any, name: str, decimal: str) -> "Array":
    """Return numbers, with NaN for missing ones, where a column holds numbers, and else what it holds."""
    import numpy as np

    from rocscope.engines import columns

    try:
        found = columns.numbers(column, name, ScoreError, decimal=decimal)
    except ScoreError:
        return columns.objects(column)
    return found.values if found.missing is None else np.where(found.missing, np.nan, found.values)


def _scores(name: str, model: Any, features: "dict[str, Array]", pos_label: str | None) -> "Array":
    """Return the scores of one model: for the columns that it was fitted to, or all where it knows no names."""
    import numpy as np

    from rocscope._base.validation import frame_of
    from rocscope.engines.columns import parsed_label
    from rocscope.evaluation.fitting import score

    classes = list(getattr(model, "classes_", ()))
    if len(classes) != 2:
        got = f"{len(classes)} classes" if classes else f"a {type(model).__name__}"
        raise ModelError(f"model {name!r}", expected="a fitted model of two classes", got=got)
    label = 1 if pos_label is None else parsed_label(pos_label, np.asarray(classes).dtype)
    if label not in classes:
        raise LabelError("--pos-label", expected=one_of(str(pos_label), list(map(str, classes))), got=repr(pos_label))
    named = getattr(model, "feature_names_in_", None)
    wanted = list(features) if named is None else list(map(str, named))
    if missing := [column for column in wanted if column not in features]:
        raise ModelError(f"model {name!r}", expected=f"a column {missing[0]!r}", got="none")
    try:
        own = {column: features[column] for column in wanted}
        given: Any = np.column_stack(list(own.values())) if named is None else frame_of(own, "pandas")
        return score(model, name, given, classes, classes.index(label), "auto")[0]
    except ModelError:
        raise
    except Exception as error:
        got = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelError(f"model {name!r}", expected="scores of these rows", got=got) from error


_HEADINGS = ("rule", "segment", "found", "result")
_COSTS = ("target_prevalence", "cost_fp", "cost_fn", "cost_tp", "cost_tn")


@dataclass(frozen=True)
class Rules:
    """What a file of rules says.

    Attributes
    ----------
    everywhere : list of Gate
        Conditions on all rows.
    by_segment : dict from column to list of Gate
        Conditions on each part of the rows that has one value of a column.
    threshold : number, mapping from model to number, or "costs"; None where a plan says it
    plan : str or None
        File of a decision, whose threshold and costs are taken.
    costs : dict
    min_rows : int
        Segments of fewer rows are not judged.
    """

    everywhere: list[Gate]
    by_segment: dict[str, list[Gate]]
    threshold: Any = None
    plan: str | None = None
    costs: dict[str, float] = field(default_factory=dict)
    min_rows: int = 1

    @classmethod
    def read(cls, path: str) -> "Rules":
        """Read a TOML file, and refuse what is not understood."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            got = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"--rules {path}", expected="a TOML file of rules", got=str(got)) from error
        known = ("rules", "segments", "threshold", "plan", "costs", "min_rows")
        _require(path, content, known, "")
        kinds = {"segments": dict, "costs": dict, "plan": str, "min_rows": int, "threshold": (int, float, str, dict)}
        for name, kind in kinds.items():
            if name in content and (not isinstance(content[name], kind) or isinstance(content[name], bool)):
                words = {"plan": "the name of a file", "min_rows": "a number of rows"}.get(name, f"a [{name}] table")
                words = "a number, a number for each model, or 'costs'" if name == "threshold" else words
                raise InputError(f"{path}: {name}", expected=words, got=repr(content[name]))
        _require(path, content.get("costs", {}), _COSTS, "costs.")
        segments = {column: _gates(path, texts, column) for column, texts in content.get("segments", {}).items()}
        everywhere = _gates(path, content.get("rules", []), "rules")
        if not everywhere and not any(segments.values()):
            raise InputError(path, expected='rules, such as rules = ["auc >= 0.8 at 95 %"]', got="none")
        others = {name: content[name] for name in ("threshold", "plan", "costs", "min_rows") if name in content}
        return cls(everywhere, segments, **others)

    def context(self, decision: Any) -> Any:
        """Return costs and class mix: those of the rules, else those of the plan."""
        from rocscope import Context

        if self.costs or decision is None:
            return Context(**self.costs)
        return decision.context

    def thresholds(self, models: list[str], context: Any, decision: Any) -> dict[str, float]:
        """Return the threshold of each model."""
        given = self.threshold
        if given is None:
            return {} if decision is None else {decision.model: decision.threshold}
        if given == "costs":
            odds = context.false_alarm_cost / (context.false_alarm_cost + context.miss_cost)
            return dict.fromkeys(models, float(odds))
        if isinstance(given, str) or (
            isinstance(given, Mapping) and not all(_is_number(each) for each in given.values())
        ):
            raise InputError("threshold", expected="a number, a number for each model, or 'costs'", got=repr(given))
        if isinstance(given, Mapping):
            return {str(model): float(each) for model, each in given.items()}
        return dict.fromkeys(models, float(given))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _require(path: str, content: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
    from rocscope._base import validation as check

    for name in content:
        if name not in known:
            raise InputError(f"{path}: {prefix}{name}", expected=check.one_of(name, list(known)), got=repr(name))


def _gates(path: str, texts: Any, name: str) -> list[Gate]:
    if not isinstance(texts, list):
        expected = 'a list of conditions, such as ["auc >= 0.8"]'
        raise InputError(f"{path}: {name}", expected=expected, got=repr(texts))
    return gates_of(texts, f"{path}: {name}", required=True)


def gate(
    file: opt.File,
    /,
    *others: opt.File,
    rows: opt.CountOptions = opt.COUNTS,
    rules: str,
    groups: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    junit: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    markdown: Annotated[opt.Flag, Parameter(name="--md")] = False,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Check that the figures of models keep rules, and exit with code 1 if one is broken.

    Example: rocscope gate scores.csv --label y --score old --score new --rules rules.toml --md --junit gate.xml

    The rules are a TOML file: rules = ["auc >= 0.8 at 95 %", "auc(new) - auc(old) >= -0.01 at 95 %"], with threshold
    or plan for figures of one threshold, [costs] for cost, and [segments] with rules for each part of the rows. With
    'at 95 %' the whole interval has to keep the bound. A rule that names no model holds for each.

    Fitted scikit-learn models may come first, in files of pickle or joblib. Each scores the rows of the last file, and
    is called by the name of its own: rocscope gate new.pkl old.pkl rows.csv --label y --rules rules.toml. Loading such
    a file runs the code in it.

    Parameters
    ----------
    rules
        File of the rules.
    groups
        Column of the patient or customer that several rows belong to.
    junit
        Also write the results as JUnit XML to this file.
    markdown
        Print a Markdown table, as a comment on a pull request.
    """
    if json and markdown:
        raise InputError("--json and --md", expected="one of them")
    asked = Rules.read(rules)
    opt.require_output(junit, force=force)
    models, file = split_files([file, *others])
    rows.require(file, "label", *(() if asked.plan or models else ("scores",)), groups=groups)
    for column in asked.by_segment:
        rows.require(file, segment=column)
    from rocscope.decisions import Decision
    from rocscope.sample import samples_of

    decision = None if asked.plan is None else Decision.load(Path(rules).parent / asked.plan)
    if decision is not None and not models:
        rows = replace(rows, score=rows.score or list(decision.needs or decision.models))
    source: Any = file
    if models:
        if rows.score:
            raise InputError("--score", expected="none beside models in files", got=", ".join(rows.score))
        source = with_scores(models, file, rows, [rows.label, rows.weight, groups, *asked.by_segment])
        rows = replace(rows, score=list(models), **dict.fromkeys(rows.reading))
    judged, skipped = [], []
    for part, segment, rules_of_part in _parts(asked, source, rows, groups):
        size = next(iter(samples_of(part).values())).points.n
        if segment and size < asked.min_rows:
            skipped.append(segment)
            continue
        context = asked.context(decision)
        judge = Judge(part, {}, context)
        judge = replace(judge, thresholds=asked.thresholds(judge.models, context, decision))
        judged += judged_by(rules_of_part, judge.models, judge.estimate, segment)
    lines = [(each.gate.text, each.segment, each.found, "failed" if each.failed else "passed") for each in judged]
    if json:
        print_json("gate", {"rules": [_content(each) for each in judged], "passed": not any(e.failed for e in judged)})
    elif markdown:
        write(_markdown(judged, lines) + "\n")
    else:
        print_rows(_title(judged), _HEADINGS, lines, left=_HEADINGS)
    if skipped:
        note(f"Not judged, with fewer than {about(asked.min_rows)} rows: {', '.join(skipped)}")
    if junit is not None:
        note(f"JUnit: {write_file(junit, _junit(judged), force=force)}")
    return outcome(judged)


def _parts(asked: Rules, file: Any, rows: Any, groups: str | None) -> Iterator[tuple[Any, str, list[Gate]]]:
    """Yield all rows, and the rows of each segment, with the rules that are for them."""
    own = {} if groups is None else {"groups": groups}
    if asked.everywhere:
        known = own or not isinstance(file, str)
        yield rows.predictions(file, **own) if known else rows.sample(file), "", asked.everywhere
    for column, gates in asked.by_segment.items():
        every = rows.predictions(file, segment=column, **own)
        for name, part in every.by_segment().items():
            yield part, f"{column} = {name}", gates


def _title(judged: list[JudgedGate]) -> str:
    broken = sum(each.failed for each in judged)
    return f"{broken} of {len(judged)} rules are broken" if broken else f"All {len(judged)} rules are kept"


def _markdown(judged: list[JudgedGate], lines: list[tuple[str, ...]]) -> str:
    marked = [
        [f"`{rule}`", segment, found, f"**{each}**" if each == "failed" else each]
        for rule, segment, found, each in lines
    ]
    return f"**{_title(judged)}**\n\n{markdown_table(list(_HEADINGS), marked)}"


def _content(judged: JudgedGate) -> dict[str, Any]:
    from rocscope.core.result import jsonable

    estimates = [each.to_dict() for each in judged.estimates]
    content = {"rule": judged.gate.text, "segment": judged.segment or None, "passed": not judged.failed}
    return jsonable(content | {"estimates": estimates})


def _junit(judged: list[JudgedGate]) -> str:
    """Return a test suite with a case for each rule, as CI servers read it."""
    failures = str(sum(each.failed for each in judged))
    suite = ElementTree.Element(
        "testsuite", name="rocscope gate", tests=str(len(judged)), failures=failures, errors="0"
    )
    for each in judged:
        case = ElementTree.SubElement(suite, "testcase", classname=each.segment or "all rows", name=each.gate.text)
        if each.failed:
            ElementTree.SubElement(case, "failure", message=each.found).text = f"{each.named}: {each.found}"
        else:
            ElementTree.SubElement(case, "system-out").text = each.found
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
