"""Conditions under which a command exits with 1 (`--fail-if`), and `rocscope gate`, which checks a file of rules.

A gate is one or several conditions on metrics of models, such as ``auc(b) - auc(a) < -0.01 at 95%``. With a level, the
condition must be true for the whole confidence interval. Without a level, it must be true for the estimate. A gate of
`--fail-if` fails if all of its conditions are true. A rule of `rocscope gate` fails if one of its conditions is false.
Both fail if a metric is undefined, for example because a class is missing, or infinite although its ideal value is
finite, such as the calibration slope.

The parts of this file are `Gate` and its result, `Judge` (estimates metrics from data), files of fitted models, the
file of rules, and the command.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isfinite, isinf, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import rocscope as rs
from rocscope import errors
from rocscope._base.atomic_write import write_file
from rocscope._base.formatting import about
from rocscope.cli import console, options as opt
from rocscope.errors import InputError, ModelError, one_of

if TYPE_CHECKING:
    from rocscope._base.arrays import Array
    from rocscope.figures.conditions import Condition
    from rocscope.figures.influence import Figure
    from rocscope.inference import Estimate
    from rocscope.sample import Sample, Samples

FAILED = 1
_EXAMPLE = "auc(b)-auc(a)<-0.01 at 95%"


@dataclass(frozen=True)
class Gate:
    """Conditions on metrics of models.

    A command fails if all conditions are true. If `required`, it fails if one condition is false.

    Examples
    --------
    >>> from rocscope.inference.estimate import Estimate
    >>> gate = Gate.parse("auc(b)-auc(a) < -0.01 at 95%")
    >>> gate.conditions
    (Condition('auc(b) - auc(a) < -0.01 at 95%'),)
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
        for condition in gate.conditions:
            level = condition.level
            if level is not None and not 0 < level < 1:
                raise InputError(subject, expected="a level above 0% and below 100%", got=f"{100 * level:g}%")
            if condition.minus is not None and condition.minus == condition.model:
                raise InputError(subject, expected="two different models", got=repr(text))
        return gate

    def for_models(self, models: Sequence[str]) -> "list[Gate]":
        """Return this gate if its conditions name models. Otherwise, return one gate for each model."""
        if all(condition.model for condition in self.conditions):
            return [self]
        gates = []
        for model in models:
            named = tuple(replace(condition, model=condition.model or model) for condition in self.conditions)
            # If there is one model, the gate keeps the text that was typed.
            text = self.text if len(models) == 1 else " and ".join(map(str, named))
            gates.append(replace(self, text=text, conditions=named))
        return gates

    def fails(self, estimates: "Sequence[Estimate]") -> bool:
        """Return True if the gate fails. It also fails if its result depends on an undefined estimate."""
        for condition, estimate in zip(self.conditions, estimates, strict=True):
            fails = _is_undefined(condition, estimate) or condition.beyond_doubt(estimate) != self.required
            if fails == self.required:
                return self.required
        return not self.required


def _is_undefined(condition: "Condition", estimate: "Estimate") -> bool:
    """Return True if the metric is missing or diverges, or if a confidence limit is needed but missing."""
    # A rate of no cases has no value, but an interval of all possible values.
    if isnan(estimate.value) or _diverges(condition, estimate):
        return True
    return condition.level is not None and isnan(estimate.low if condition.upwards else estimate.high)


def _diverges(condition: "Condition", estimate: "Estimate") -> bool:
    """Return True if a metric with a finite ideal value is infinite. Likelihood ratios may be infinite."""
    from rocscope.figures.registry import known

    figure = known(condition.quantity)  # None for figures of one command
    return isinf(estimate.value) and figure is not None and figure.ideal is not None


@dataclass(frozen=True)
class JudgedGate:
    """A gate, the estimates of its metrics, and the name of the segment on which they were computed."""

    gate: Gate
    estimates: "tuple[Estimate, ...]"
    segment: str = ""

    @property
    def failed(self) -> bool:
        """True if the gate makes the command fail."""
        return self.gate.fails(self.estimates)

    @property
    def result(self) -> str:
        """Text of the estimates, without duplicates."""
        texts = []
        for condition, estimate in zip(self.gate.conditions, self.estimates, strict=True):
            words = estimate.words
            if _diverges(condition, estimate):
                words = f"undefined, diverges to {estimate.value}"
            reason = f" ({estimate.reason})" if not isfinite(estimate.value) and estimate.reason else ""
            texts.append(words + reason)
        return "; ".join(dict.fromkeys(texts))

    @property
    def verdict(self) -> str:
        """Whether the conditions of the gate are true, in words."""
        if any(map(_is_undefined, self.gate.conditions, self.estimates)):
            return "cannot be checked"
        return "is true" if self.failed != self.gate.required else "is not true"

    @property
    def title(self) -> str:
        """Text of the gate, followed by the name of the segment if there is one."""
        return self.gate.text + (f" in {self.segment}" if self.segment else "")

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a dictionary for each estimate with the gate and its result, for JSON."""
        content: dict[str, Any] = {"condition": self.gate.text, "failed": self.failed}
        if self.segment:
            content["segment"] = self.segment
        return [content | {"estimate": estimate.to_dict()} for estimate in self.estimates]


def parse_gates(
    texts: Any,
    subject: str = "--fail-if",
    *,
    required: bool = False,
    also: tuple[str, ...] = (),
    of_classes: bool = False,
) -> list[Gate]:
    """Return gates from texts. Raise an error for an unknown metric. Call this before the data are read.

    `also` contains the names of metrics that only the calling command computes. If `of_classes` is True, only metrics
    of more than two classes are allowed.
    """
    gates = [Gate.parse(text, subject, required=required) for text in texts or ()]
    for gate in gates:
        for condition in gate.conditions:
            if of_classes:
                from rocscope.multiclass.figures import class_figure

                class_figure(condition.quantity, f"condition {str(condition)!r}")
            elif condition.quantity.lower() not in also:
                figure_of(condition)
    return gates


def figure_of(condition: "Condition") -> "Figure":
    """Return the metric in a condition. All metrics of the registry are allowed."""
    from rocscope.figures.registry import figure_named

    subject = f"condition {str(condition)!r}"
    return figure_named(condition.quantity, subject, expected="a metric", suits=lambda _: True)


def judge_gates(
    gates: Iterable[Gate], models: Sequence[str], estimate: "Callable[[Condition], Estimate]", segment: str = ""
) -> list[JudgedGate]:
    """Estimate the metrics in gates. A gate that names no model is applied to each model."""
    named: list[Gate] = []
    for gate in gates:
        named += gate.for_models(models)
    return [JudgedGate(gate, tuple(map(estimate, gate.conditions)), segment) for gate in named]


def exit_code(judged: Iterable[JudgedGate]) -> int:
    """Print the gates that failed, and return the exit code."""
    code = 0
    for gate in judged:
        if gate.failed:
            source = "" if gate.gate.required else "--fail-if "
            console.note(f"Failed: {source}{gate.title} {gate.verdict}: {gate.result}")
            code = FAILED
    return code


def gates_json(judged: Iterable[JudgedGate]) -> dict[str, Any]:
    """Return the field with the results of gates for the JSON output of a command."""
    contents: list[dict[str, Any]] = []
    for gate in judged:
        contents += gate.to_dicts()
    return {"gates": contents}


# Confidence level of the interval that is shown if a condition states none.
_LEVEL = 0.95


@dataclass(frozen=True)
class Judge:
    """Data, thresholds and costs from which the metrics in conditions are estimated.

    Attributes
    ----------
    data : Predictions, or mapping from model name to ThresholdCounts
    thresholds : mapping from model name to float
        Threshold of each model, for metrics that need a threshold.
    context : Context
        Costs and prevalence for the cost and the net benefit. All other metrics use the prevalence of the sample.
    """

    data: Any
    thresholds: dict[str, float] = field(default_factory=dict)
    context: Any = None

    @cached_property
    def samples(self) -> "Samples":
        """The data of each model."""
        from rocscope.sample import samples_of

        return samples_of(self.data)

    @property
    def models(self) -> list[str]:
        """The models that a condition can name."""
        return list(self.samples)

    @property
    def size(self) -> float:
        """The number of rows."""
        return next(iter(self.samples.values())).points.n

    def estimate(self, condition: "Condition") -> "Estimate":
        """Estimate the metric in a condition, for one model or as a difference between two models.

        The estimate is undefined if a class is missing.
        """
        for model in (condition.model, condition.minus or condition.model):
            if model not in self.models:
                raise errors.ColumnError(str(condition), expected=f"models from {self.models}", got=repr(model))
        level = condition.level or _LEVEL
        try:
            return self._estimate(condition, str(condition.model), level)
        except errors.OneClassError as error:
            return rs.inference.Estimate(nan, nan, nan, level, "undefined", 0, reason=str(error))

    def _estimate(self, condition: "Condition", model: str, level: float) -> "Estimate":
        figure = figure_of(condition)
        has_level = condition.level is not None
        if condition.minus is not None:
            return self._difference(figure, model, condition.minus, level)
        if _has_threshold(figure):
            return self._at_threshold(figure, model, level, has_level=has_level)
        return self._of_ranking(figure, model, level, has_level=has_level)

    def _of_ranking(self, figure: "Figure", model: str, level: float, *, has_level: bool) -> "Estimate":
        """Estimate a metric that does not depend on a threshold. Use the bootstrap if there is no formula."""
        from rocscope.evaluation.summary import MEASURES

        if figure.smooth is not None:
            return rs.inference.estimate_of(self.data, figure.smooth(), model=model, level=level)
        sample = self.samples[model]
        # Without a level only the value matters, so no interval is computed.
        if not has_level and figure.counts is not None:
            value = figure.value(sample.counts)
            return rs.inference.Estimate(value, nan, nan, level, figure.title, sample.counts.n)
        data = sample.rows or sample.counts
        if figure.name in MEASURES:
            # Only figures that depend on costs use the prevalence of the context.
            context = None if figure.needs != "costs" else self.context
            return rs.summary({model: data}, context, level=level)[model][figure.name]
        return rs.bootstrap(data, figure.value, level=level)

    def _at_threshold(self, figure: "Figure", model: str, level: float, *, has_level: bool) -> "Estimate":
        """Estimate a metric of the confusion matrix, or the cost, at the threshold of a model."""
        sample = self.samples[model]
        threshold = self._threshold(figure, model)
        point = sample.points.at(threshold)
        if figure.unit == "cases":
            if has_level:
                got = f"{figure.name} (a number of cases)"
                raise InputError("condition with a level", expected="a rate, such as depth", got=got)
            return _of_cells(figure, point, level, "count")
        # Without weights or clusters the four counts are independent trials, so rates have exact intervals.
        rows = sample.rows
        independent = rows is None or (rows.sample_weight is None and not rows.grouped)
        cells = (point.tp, point.fp, point.fn, point.tn)
        if independent and all(float(cell).is_integer() for cell in cells):
            shares = rs.inference.rate_intervals(point, level=level)
            if figure.name in shares:
                return shares[figure.name]
        return rs.inference.estimate_of(_rows_or_counts(sample), self._statistic(figure, threshold), level=level)

    def _statistic(self, figure: "Figure", threshold: float) -> Any:
        """Return the function that computes a metric at a threshold, with the costs of the context."""
        from rocscope.figures.registry import in_context

        statistics = rs.inference.statistics
        if figure.name == "cost":
            return statistics.cost_at(threshold, self.context)
        with_costs = in_context(figure, self.context)
        if with_costs is figure or with_costs.cells is None:
            return statistics.at(threshold, figure.name)
        return statistics.at(threshold, with_costs.cells)

    def _threshold(self, figure: "Figure", model: str) -> float:
        if model not in self.thresholds:
            hint = "set threshold or plan in the file of rules, or add --threshold"
            raise InputError(figure.name, expected=f"a threshold for {model}", got="no threshold", hint=hint)
        return self.thresholds[model]

    def _difference(self, figure: "Figure", model: str, minus: str, level: float) -> "Estimate":
        """Estimate the difference between two models. A metric at a threshold uses the threshold of each model."""
        pair: dict[str, Any] = {}
        if _has_threshold(figure):
            # Decisions are turned into scores 0 and 1, so that 0.5 is the threshold of both models.
            statistic = self._statistic(figure, 0.5)
            for name in (minus, model):
                pair[name] = self._decisions(name, self._threshold(figure, name))
        else:
            statistic: Any = figure.name
            for name in (minus, model):
                pair[name] = _rows_or_counts(self.samples[name])
        paired = True if all(hasattr(data, "y_true") for data in pair.values()) else None
        return rs.compare(pair, statistic=statistic, level=level, paired=paired)[minus, model].difference

    def _decisions(self, model: str, threshold: float) -> Any:
        """Return the predicted labels of a model as scores 0 and 1, or its counts at the threshold."""
        data = _rows_or_counts(self.samples[model])
        if not isinstance(data, rs.Predictions):
            return data.at(threshold)
        decided = (data.scores[model] >= threshold).astype(int)
        return rs.Predictions(data.y_true, {model: decided}, sample_weight=data.sample_weight, groups=data.groups)


@dataclass(frozen=True)
class ClassJudge(Judge):
    """`Judge` for more than two classes. `data` is a MulticlassPredictions."""

    @property
    def models(self) -> list[str]:
        """The models that a condition can name."""
        return self.data.models

    @property
    def size(self) -> float:
        """The number of rows."""
        return self.data.n

    def _estimate(self, condition: "Condition", model: str, level: float) -> "Estimate":
        from rocscope.multiclass.figures import class_figure

        figure = class_figure(condition.quantity)
        if condition.minus is None:
            return figure.interval(self.data, model, level)
        if figure.kind != "area":
            expected = "an AUC (only differences between AUCs have a test for several classes)"
            raise InputError(str(condition), expected=expected, got=figure.name)
        pair = self.data.select(models=[condition.minus, model])
        return rs.multiclass.compare_multiclass_auc(pair, figure.of, level=level)[condition.minus, model].difference


def _has_threshold(figure: "Figure") -> bool:
    """Return True if a metric depends on a threshold."""
    # The cost of miscalibration depends on costs, but needs no threshold: it is a mean over predicted probabilities.
    return figure.needs in ("cells", "costs") and figure.name != "miscalibration_cost"


def _rows_or_counts(sample: "Sample") -> Any:
    return sample.counts if sample.rows is None else sample.rows


def _of_cells(figure: "Figure", point: Any, level: float, method: str) -> "Estimate":
    """Return a metric of the confusion matrix as an estimate without an interval."""
    assert figure.cells is not None
    value = float(figure.cells(point.tp, point.fp, point.fn, point.tn))
    return rs.inference.Estimate(value, nan, nan, level, method, point.n)


@dataclass(frozen=True)
class DecisionJudge(Judge):
    """`Judge` of a decision. Metrics use the confusion matrix of the decision.

    The cost is the expected cost on new cases. If it cannot be estimated (weighted counts), it is the apparent cost.
    """

    decision: "rs.Decision | None" = None

    def _at_threshold(self, figure: "Figure", model: str, level: float, *, has_level: bool) -> "Estimate":
        decision = self.decision
        assert decision is not None
        if model != decision.model:
            return super()._at_threshold(figure, model, level, has_level=has_level)
        if figure.name == "cost":
            if has_level:
                return decision.interval(level)
            if decision.criterion == "min_cost" and decision.on_new_cases is not None:
                return replace(decision.on_new_cases, low=nan, high=nan)
            return rs.inference.Estimate(decision.expected_cost, nan, nan, level, "apparent", decision.point.n)
        if decision.lot is None and decision.review is None and not decision.negated:
            return super()._at_threshold(figure, model, level, has_level=has_level)
        # A randomised, reviewed or negated rule has expected counts, which are not the counts at its threshold.
        if has_level or figure.cells is None:
            expected = "a metric of the confusion matrix without a level"
            hint = "omit the level, because a randomised, reviewed or negated decision has no intervals"
            raise InputError("--fail-if", expected=expected, got=figure.name, hint=hint)
        return _of_cells(figure, decision.point, level, "expected counts")


# ---- Fitted models in files, which score the rows of another file ----

ENDINGS = (".pkl", ".pickle", ".joblib")


def split_files(files: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return a mapping from model names to model files, and the data file, which is the last file.

    Examples
    --------
    >>> split_files(["out/new.pkl", "out/old.joblib", "rows.csv"])
    ({'new': 'out/new.pkl', 'old': 'out/old.joblib'}, 'rows.csv')
    """
    *models, rows = files
    for file in models:
        if Path(file).suffix.lower() not in ENDINGS:
            hint = "name only one data file, after the files of models"
            raise InputError(file, expected=f"a model file ({', '.join(ENDINGS)})", got="another file", hint=hint)
    if Path(rows).suffix.lower() in ENDINGS:
        raise InputError(rows, expected="a data file", got="a model file", hint="name the data file last")
    named = {Path(file).stem: file for file in models}
    if len(named) < len(models):
        raise InputError("models", expected="files with different names", got=", ".join(models))
    return named, rows


def with_scores(
    models: dict[str, str], file: str, rows: opt.SampleOptions, others: Sequence[str | None]
) -> "dict[str, Array]":
    """Return the columns of a file together with a column of scores for each fitted model.

    Parameters
    ----------
    models : mapping from model name to model file
    file : str
        Path of the data file.
    rows : SampleOptions
        Options for reading the data file.
    others : sequence of str or None
        Names of columns that are not features: label, weight, segments and groups.

    Raises
    ------
    ModelError
        If a file does not contain a fitted model of two classes, or if a model cannot score the rows.
    """
    import numpy as np

    from rocscope.engines import columns
    from rocscope.engines.opening import open_source

    fitted = {name: _load_model(path) for name, path in models.items()}
    content: dict[str, Array] = {}
    with console.attended(f"Reading {file}"), open_source(file, rows.layout.file_layout) as source:
        names = list(dict.fromkeys(source.columns))
        table = source.fetch(names, rows.layout.where)
        for name in names:
            column = table.column(name)
            try:
                numbers = columns.numbers(column, name, errors.ScoreError, decimal=source.decimal)
            except errors.ScoreError:
                content[name] = columns.objects(column)
                continue
            missing = numbers.missing
            content[name] = numbers.values if missing is None else np.where(missing, np.nan, numbers.values)
    features = {name: column for name, column in content.items() if name not in others}
    for name, model in fitted.items():
        content[name] = _scores(name, model, features, rows.pos_label)
    return content


def _load_model(path: str) -> Any:
    try:
        # joblib is a dependency of scikit-learn, so it is installed wherever scikit-learn is.
        import joblib

        return joblib.load(path)
    except ModuleNotFoundError as error:
        raise ModelError(f"{path}: {error.name} is not installed", hint=f"run pip install {error.name}") from None
    except Exception as error:
        got = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelError(path, expected="a fitted model that was saved with joblib or pickle", got=got) from error


def _scores(name: str, model: Any, features: "dict[str, Array]", pos_label: str | None) -> "Array":
    """Return the scores of a model from the columns named in the model, or from all columns if it names none."""
    import numpy as np

    from rocscope._base.validation import frame_of
    from rocscope.engines import columns
    from rocscope.evaluation.fitting import score

    classes = list(getattr(model, "classes_", ()))
    if len(classes) != 2:
        got = f"{len(classes)} classes" if classes else f"a {type(model).__name__}"
        raise ModelError(f"model {name!r}", expected="a fitted model of two classes", got=got)
    label = 1 if pos_label is None else columns.parsed_label(pos_label, np.asarray(classes).dtype)
    if label not in classes:
        expected = one_of(str(pos_label), list(map(str, classes)))
        raise errors.LabelError("--pos-label", expected=expected, got=repr(pos_label))
    fitted_names = getattr(model, "feature_names_in_", None)
    wanted = list(features) if fitted_names is None else list(map(str, fitted_names))
    for column in wanted:
        if column not in features:
            raise ModelError(f"model {name!r}", expected=f"a column {column!r} in the data", got="no such column")
    try:
        inputs = {column: features[column] for column in wanted}
        if fitted_names is None:
            table: Any = np.column_stack(list(inputs.values()))
        else:
            table = frame_of(inputs, "pandas")
        return score(model, name, table, classes, classes.index(label), "auto")[0]
    except ModelError:
        raise
    except Exception as error:
        got = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelError(f"model {name!r}: it cannot score these rows", got=got) from error


# ---- The file of rules ----

_COSTS = ("target_prevalence", "cost_fp", "cost_fn", "cost_tp", "cost_tn")

# Type of each entry of the file, and its description in errors.
_ENTRIES: dict[str, tuple[Any, str]] = {
    "segments": (dict, "a [segments] table"),
    "costs": (dict, "a [costs] table"),
    "plan": (str, "the name of a file"),
    "min_rows": (int, "a number of rows"),
    "threshold": ((int, float, str, dict), "a number, a number for each model, or 'costs'"),
}


@dataclass(frozen=True)
class Rules:
    """The content of a file of rules.

    Attributes
    ----------
    everywhere : list of Gate
        Rules for all rows.
    by_segment : mapping from column name to list of Gate
        Rules for each segment. A segment consists of all rows with the same value in the column.
    threshold : number, mapping from model name to number, "costs", or None
        Threshold of the models. If None, the threshold of `plan`.
    plan : str or None
        File of a saved decision that provides the threshold and the costs.
    costs : dict
        Arguments of `Context`.
    min_rows : int
        Segments with fewer rows are skipped.
    """

    everywhere: list[Gate]
    by_segment: dict[str, list[Gate]]
    threshold: Any = None
    plan: str | None = None
    costs: dict[str, float] = field(default_factory=dict)
    min_rows: int = 1

    @classmethod
    def read(cls, path: str, *, of_classes: bool = False) -> "Rules":
        """Read a TOML file. Raise an InputError if an entry is unknown or has the wrong type."""
        content = opt.read_toml(path, f"--rules {path}", "a TOML file of rules")
        _require_known(path, content, ("rules", "segments", "threshold", "plan", "costs", "min_rows"), "")
        for name, (kind, expected) in _ENTRIES.items():
            # In Python True is an int.
            if name in content and (not isinstance(content[name], kind) or isinstance(content[name], bool)):
                raise InputError(f"{path}: {name}", expected=expected, got=repr(content[name]))
        _require_known(path, content.get("costs", {}), _COSTS, "costs.")
        segments = {
            column: _gates(path, texts, column, of_classes) for column, texts in content.get("segments", {}).items()
        }
        everywhere = _gates(path, content.get("rules", []), "rules", of_classes)
        if not everywhere and not any(segments.values()):
            raise InputError(path, expected='rules, such as rules = ["auc >= 0.8 at 95%"]', got="no rules")
        options = {name: content[name] for name in ("threshold", "plan", "costs", "min_rows") if name in content}
        if of_classes and options.keys() - {"min_rows"}:
            got = ", ".join(sorted(options.keys() - {"min_rows"}))
            raise InputError(f"{path} with --proba", expected="rules without threshold, plan and costs", got=got)
        return cls(everywhere, segments, **options)

    def context(self, decision: "rs.Decision | None") -> "rs.Context":
        """Return the costs and prevalence in the file of rules. If it has no costs, return the costs of the plan."""
        if self.costs or decision is None:
            return rs.Context(**self.costs)
        return decision.context

    def thresholds(self, models: list[str], context: "rs.Context", decision: "rs.Decision | None") -> dict[str, float]:
        """Return the threshold of each model."""
        threshold = self.threshold
        if threshold is None:
            return {} if decision is None else {decision.model: decision.threshold}
        if threshold == "costs":
            # A positive prediction is cheaper above the probability C_fp / (C_fp + C_fn).
            false_alarm: Any = context.false_alarm_cost
            share = false_alarm / (false_alarm + context.miss_cost)
            return dict.fromkeys(models, float(share))
        by_model: dict[str, Any] = threshold if isinstance(threshold, dict) else dict.fromkeys(models, threshold)
        for value in by_model.values():
            # In Python True is an int.
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise InputError("threshold", expected=_ENTRIES["threshold"][1], got=repr(threshold))
        return {str(model): float(value) for model, value in by_model.items()}


def _require_known(path: str, content: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
    for name in content:
        if name not in known:
            raise InputError(f"{path}: {prefix}{name}", expected=one_of(name, list(known)), got=repr(name))


def _gates(path: str, texts: Any, name: str, of_classes: bool) -> list[Gate]:
    if not isinstance(texts, list):
        expected = 'a list of conditions, such as ["auc >= 0.8"]'
        raise InputError(f"{path}: {name}", expected=expected, got=repr(texts))
    return parse_gates(texts, f"{path}: {name}", required=True, of_classes=of_classes)


# ---- The command ----


@opt.for_two_classes("--score", "--pos-label", instead="name the models in the rules, as in 'macro_f1(tree) >= 0.8'")
def gate(
    file: opt.File,
    /,
    *others: Annotated[opt.File, Parameter(help="If FILE is a model: more model files, then the file to read.")],
    rows: opt.SampleOptions = opt.SAMPLE,
    classes: opt.ClassOptions = opt.CLASSES,
    memory: opt.Memory = None,
    rules: str,
    groups: opt.Groups = None,
    guess: opt.Guess = False,
    junit: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    markdown: opt.Markdown = False,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Check the metrics of models against a file of rules, and exit with code 1 if a rule is broken.

    Example: rocscope gate scores.csv --label y --score old --score new --rules rules.toml --md --junit gate.xml

    Write the rules in a TOML file, for example: rules = ["auc >= 0.8 at 95%", "auc(new) - auc(old) >= -0.01 at 95%"].
    With 'at 95%', the whole 95% confidence interval must satisfy the rule. A rule that names no model applies to every
    model.

    Some metrics need a threshold. For these metrics, set 'threshold' or 'plan' in the file of rules. The cost needs a
    table \\[costs].

    Rules for segments belong in a table \\[segments]. Segments with fewer rows than min_rows are skipped. If all rules
    are skipped, the exit code is 1.

    Fitted scikit-learn models can also score the rows. Name the model files (pickle or joblib) before the data file:

    rocscope gate new.pkl old.pkl rows.csv --label y --rules rules.toml

    Each model has the name of its file. Loading a model file runs code in the file, so load only files that you trust.

    With --proba, rules use metrics for more than two classes, such as accuracy, macro_f1, kappa, auc (Hand & Till) and
    brier.

    Parameters
    ----------
    rules
        TOML file that contains the rules.
    groups
        Column of patient or customer identifiers. Needed if a patient or customer can have several rows.
    junit
        Also write the results to this JUnit XML file.
    markdown
        Print a Markdown table, for example for a comment on a pull request.
    """
    if json and markdown:
        raise InputError("--json and --md", expected="only one of these options", got="both")

    # Check the rules, the output and the columns.
    asked = Rules.read(rules, of_classes=classes.given)
    opt.require_output(junit, (".xml",), force=force)
    models, file = split_files([file, *others])
    needed = ["label"]
    if not (asked.plan or models):
        needed.append("scores")
    decision = rs.Decision.load(Path(rules).parent / asked.plan) if asked.plan else None
    rows = rows.recalled(decision, but=("where", "score"))
    if decision is not None and not models:
        # Set the plan's scores before the other columns are guessed.
        rows = replace(rows, score=rows.score or list(decision.needs or decision.models))
    rows = rows.settled(file, *needed, classes=classes, guess=guess, groups=groups)
    for column in asked.by_segment:
        rows.require(file, segment=column)

    # Find the models: the models of the plan, fitted models in files, or columns of scores.
    source: Any = file
    if models:
        if rows.score or classes.given:
            option = "--score" if rows.score else "--proba"
            hint = f"omit {option}, because the models compute the scores"
            raise InputError(f"{option} and model files", expected="only one of these", got="both", hint=hint)
        source = with_scores(models, file, rows, [rows.label, rows.weight, groups, *asked.by_segment])
        rows = replace(rows, score=list(models), layout=opt.LAYOUT)

    # Judge all rows, and each segment.
    judged: list[JudgedGate] = []
    skipped = []
    context = asked.context(decision)
    for part, segment, gates in _parts(asked, source, rows, classes, memory, groups):
        judge = ClassJudge(part) if classes.given else Judge(part, {}, context)
        if segment and judge.size < asked.min_rows:
            skipped.append(segment)
            continue
        judge.thresholds.update(asked.thresholds(judge.models, context, decision))
        judged += judge_gates(gates, judge.models, judge.estimate, segment)

    # Print the results.
    passed = bool(judged) and not any(gate.failed for gate in judged)
    if json:
        console.print_json("gate", {"rules": list(map(_rule_json, judged)), "passed": passed})
    else:
        _print_rules(judged, markdown=markdown)
    if skipped:
        console.note(f"Skipped segments with fewer than {about(asked.min_rows)} rows: {', '.join(skipped)}")
    if junit is not None:
        console.note(f"JUnit: {write_file(junit, _junit(judged), force=force)}")
    return _exit_code_of_rules(judged)


def _parts(
    asked: Rules,
    source: Any,
    rows: opt.SampleOptions,
    classes: opt.ClassOptions,
    memory: str | None,
    groups: str | None,
) -> Iterator[tuple[Any, str, list[Gate]]]:
    """Yield the data, the name of the segment and the rules, for all rows and then for each segment."""
    read = partial(classes.read, source, rows) if classes.given else partial(rows.read, source)
    if asked.everywhere:
        # Counts are enough for a large file, but not for columns in memory.
        of_file = isinstance(source, str) and not classes.given
        data = rows.read_or_count(source, memory, groups=groups) if of_file else read(groups=groups)
        yield data, "", asked.everywhere
    for column, gates in asked.by_segment.items():
        predictions: Any = read(segment=column, groups=groups)
        for name, part in predictions.by_segment().items():
            yield part, f"{column} = {name}", gates


def _print_rules(judged: list[JudgedGate], *, markdown: bool) -> None:
    """Print a table of the rules, with their estimates and results."""
    broken = sum(gate.failed for gate in judged)
    if not judged:
        title = "No rule was checked"
    else:
        title = f"{broken} of {len(judged)} rules failed" if broken else f"All {len(judged)} rules passed"
    headings = ("rule", "segment", "estimate", "result")
    failed = "**failed**" if markdown else "failed"
    lines = []
    for gate in judged:
        rule = f"`{gate.gate.text}`" if markdown else gate.gate.text
        lines.append([rule, gate.segment, gate.result, failed if gate.failed else "passed"])
    if markdown:
        console.write(f"**{title}**\n\n{console.markdown_table(list(headings), lines)}\n")
    else:
        console.print_rows(title, headings, lines, left=headings)


def _exit_code_of_rules(judged: list[JudgedGate]) -> int:
    """Print the rules that failed, and return the exit code. It is 1 if a rule failed or no rule was checked."""
    if judged:
        return exit_code(judged)
    console.note("Failed: no rule was checked, because all segments have too few rows")
    return FAILED


def _rule_json(judged: JudgedGate) -> dict[str, Any]:
    estimates = [estimate.to_dict() for estimate in judged.estimates]
    content = {"rule": judged.gate.text, "segment": judged.segment or None, "passed": not judged.failed}
    return content | {"estimates": estimates}


def _junit(judged: list[JudgedGate]) -> str:
    """Return the results as JUnit XML, with one test case for each rule."""
    from xml.etree import ElementTree

    failures = str(sum(gate.failed for gate in judged))
    sizes = {"tests": str(len(judged)), "failures": failures, "errors": "0"}
    suite = ElementTree.Element("testsuite", {"name": "rocscope gate"} | sizes)
    for gate in judged:
        names = {"classname": gate.segment or "all rows", "name": gate.gate.text}
        case = ElementTree.SubElement(suite, "testcase", names)
        if gate.failed:
            failure = ElementTree.SubElement(case, "failure", message=gate.result)
            failure.text = f"{gate.title}: {gate.result}"
        else:
            ElementTree.SubElement(case, "system-out").text = gate.result
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
