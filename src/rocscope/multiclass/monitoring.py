"""Monitor class weights in use: test limits on error, cost and metrics of single classes after each batch of rows.

Tests and intervals are computed as for two classes (`rocscope.inference.confidence_sequence`). With two classes, a
metric is a mean over the four cells tp, fp, fn and tn; here, it is a mean over the k² cells of the confusion matrix.
The cost per case is the mean of the costs over all cells. The recall of a class is a mean over the cells in its row.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.class_names import position
from rocscope._base.contract import held_to_contract
from rocscope._base.json_format import Fields
from rocscope.decisions.monitoring import LARGEST_COST, CellMonitor
from rocscope.errors import InputError
from rocscope.figures.conditions import Condition
from rocscope.figures.influence import Figure
from rocscope.figures.registry import figure_named, known
from rocscope.inference import confidence_sequence as sequence
from rocscope.multiclass.class_weighting import ClassWeights
from rocscope.multiclass.predictions import predictions_of

_EXAMPLE = "recall(cat) < .8"
_OVER_CLASSES = ("cost", "error", "accuracy")
"""Metrics of the complete confusion matrix; other metrics need the name of a class."""


@held_to_contract
class ClassMonitor(CellMonitor):
    """Monitor of class weights in use; for methods and attributes see `Monitor`.

    Returned by `rocscope.monitor` and `Monitor.load`.

    Attributes
    ----------
    plan : ClassWeights
        The monitored class weights.

    Examples
    --------
    >>> from rocscope import monitor
    >>> from rocscope.multiclass import class_weights
    >>> proba = np.array([[9, 1], [8, 2], [2, 8], [4, 6]]) / 10
    >>> watch = monitor(class_weights(list("aabb"), proba, method="coordinate"), fail_if="recall(b) < .7")
    >>> watch.update(list("ab"), [[0.9, 0.1], [0.8, 0.2]])  # the second is missed
    Monitor(n=2, 1 looks, recall(b) 0, 95% CI [0, 0.9963], no alarm)
    >>> watch.promised["recall(b)"]
    1.0
    """

    def __init__(self, plan: Any, limits: Sequence[str], level: float, target_prevalence: Any = None) -> None:
        if not isinstance(plan, ClassWeights):
            raise InputError("what", expected="a Decision, ClassWeights, 'auc' or 'calibration'", got=check.shown(plan))
        if target_prevalence is not None:
            hint = "omit it, because limits on recalls do not depend on class shares"
            raise InputError("target_prevalence", expected="None with several classes", got="a value", hint=hint)
        if plan.cost is not None and np.abs(plan.cost.cost).max() > LARGEST_COST:
            raise InputError("costs", expected=f"numbers up to {LARGEST_COST:g}", got="a larger number")
        self.plan, self.rule, self.level, self.target_prevalence = plan, plan.to_dict(), check.check_level(level), None
        self.limits = tuple(_limit(text, plan) for text in limits)
        shown = ["cost"] if plan.cost is not None else []
        shown += ["error", *(f"recall({cls})" for cls in plan.classes)]
        self._means = class_means(plan, [*shown, *(limit.quantity for limit in self.limits)])
        k = len(plan.classes)
        self._chosen_on = plan.confusion.counts.ravel()
        # An alarm may be caused by the share of a class among the cases, or by its recall.
        cells = np.arange(k * k).reshape(k, k)
        shares = []
        for index, cls in enumerate(plan.classes):
            shares.append((f"share of {cls}", cells[index].tolist(), cells.ravel().tolist()))
            shares.append((f"recall({cls})", [int(cells[index, index])], cells[index].tolist()))
        self._shares = shares
        self._begin(k * k)

    @property
    def promised(self) -> dict[str, float]:
        """Value of each monitored metric on the rows on which the weights were chosen."""
        cells = self.plan.confusion.counts.ravel()
        return {name: mean.of(cells)[0] for name, mean in self._means.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the validity of alarms, such as a note that the class shares vary more than by chance."""
        k = len(self.plan.classes)
        by_class = np.array([block.cells for block in self._blocks]).reshape(-1, k, k).sum(axis=2)
        note = sequence.varying_prevalence(by_class, "recalls")
        return (note,) if note else ()

    def _rows(self, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        if pos_label is not None:
            raise InputError("pos_label", expected="None with several classes", got=repr(pos_label))
        classes = None if y_score is None else self.plan.classes
        preds = predictions_of(y_true, y_score, name="y_true", classes=classes, sample_weight=sample_weight)
        return *self.plan.rows_of(preds), preds.sample_weight

    def _count(self, label: Any, score: Any, weight: Any) -> sequence.LookBlock:
        return self._block_of(label * len(self.plan.classes) + self.plan.predict_index(score), weight)

    @classmethod
    def of_fields(cls, fields: Fields) -> "ClassMonitor":
        """Return the monitor stored in a JSON object."""
        plan = ClassWeights.of_fields(fields.inner("rule", "class weights"))
        monitor = fields.make("limits", cls, plan, fields.texts("limits"), fields.number("level"))
        monitor._restore(fields)
        return monitor


def class_means(plan: ClassWeights, names: Iterable[str]) -> dict[str, sequence.CellMean]:
    """Return metrics such as "cost", "error" or "recall(cat)" by name, as means over cells of the confusion matrix.

    Examples
    --------
    >>> from rocscope.multiclass import class_weights
    >>> plan = class_weights(list("aabb"), np.array([[9, 1], [8, 2], [2, 8], [4, 6]]) / 10, method="coordinate")
    >>> class_means(plan, ["precision(b)"])["precision(b)"].of(np.array([30, 10, 5, 30]))
    (0.75, 40.0)
    """
    classes = {str(cls): index for index, cls in enumerate(plan.classes)}
    k = len(classes)
    actual, predicted = np.divmod(np.arange(k * k), k)
    means = {}
    for name in names:
        quantity, _, of = name.removesuffix(")").partition("(")
        if quantity == "cost":
            assert plan.cost is not None
            values, used = plan.cost.cost.ravel().astype(np.float64), np.ones(k * k)
        else:
            # Index of each cell among tp, fp, fn and tn of the class; for all classes together, a correct prediction
            # counts as tp.
            kind = np.where(actual == predicted, 0, 1)
            if of:
                kind = 2 * (predicted != classes[of]) + (actual != classes[of])
            values, used = np.array(known(quantity).parts)[:, kind]  # pyright: ignore[reportOptionalMemberAccess]
        means[name] = sequence.CellMean.over(name, values, used)
    return means


def _limit(text: str, plan: ClassWeights) -> Condition:
    """Parse a limit such as ``recall(cat) < .8``; the quantity of the result includes the class."""
    limit, *more = Condition.read(text, "fail_if", _EXAMPLE)
    if more or limit.level is not None or limit.minus is not None:
        expected = f"one condition without a level (such as 'error > .1' or '{_EXAMPLE}')"
        raise InputError("fail_if", expected=expected, got=repr(text), hint="pass each limit separately")

    def suits(figure: Figure) -> bool:
        if limit.model is None:
            return figure.name in _OVER_CLASSES and (figure.name != "cost" or plan.cost is not None)
        return figure.unit == "share" and figure.parts is not None and set(figure.parts[0]) == {0, 1}

    expected = "a mean over cases"
    hint = f"use error, cost (with a cost matrix) or a metric of one class, such as '{_EXAMPLE}'"
    figure = figure_named(limit.quantity, "fail_if", expected=expected, suits=suits, hint=hint)
    if limit.model is None:
        return Condition(figure.name, limit.relation, limit.bound)
    texts: tuple[Hashable, ...] = tuple(map(str, plan.classes))
    cls = texts[position(limit.model, texts)]
    name = "recall" if figure.name == "tpr" else figure.name
    return Condition(f"{name}({cls})", limit.relation, limit.bound)
