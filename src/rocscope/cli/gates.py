"""Gates: conditions (`--fail-if`) under which a command exits with 1, and the estimates they are judged by."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import TYPE_CHECKING, Any

from rocscope.cli.console import note
from rocscope.errors import ColumnError, InputError, OneClassError

if TYPE_CHECKING:
    from rocscope.figures.conditions import Condition
    from rocscope.figures.figure import Figure
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
        from rocscope.evaluation.summary_table import MEASURES

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
