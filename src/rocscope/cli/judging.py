"""What conditions are judged by: the estimate of any figure, of one model or of the difference of two."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any

from rocscope.cli.gates import Gate
from rocscope.errors import ColumnError, InputError, OneClassError

if TYPE_CHECKING:
    from rocscope.figures.conditions import Condition
    from rocscope.figures.figure import Figure
    from rocscope.inference.estimate import Estimate

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
