"""Content of a report on more than two classes.

The report shows each model over all classes, and each class against all other classes. One class against all others is
a two-class problem in which the probability of the class is the score. It is shown with the same curves as in a report
on two classes. Order of the file: the data classes, their computation, and tables as text.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rocscope.core import Context, Result, jsonable
from rocscope.errors import InputError, OneClassError, collected_warnings
from rocscope.inference.estimate import Estimate
from rocscope.multiclass.areas import VARIANTS, multiclass_auc
from rocscope.multiclass.confusion import ConfusionMatrix
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.report import model as two_classes
from rocscope.report.model import Slice, Slices

_STATISTICS = ("accuracy", "balanced_accuracy", "macro_f1", "kappa", "mcc")
_PER_CLASS = ("recall", "precision", "f_score", "specificity")
# Columns of the overview, with the headings of the page.
_PAGE = {
    "model": "Model",
    "accuracy": "Accuracy",
    "balanced accuracy": "Balanced accuracy",
    "macro f1": "Macro F1",
    "kappa": "Kappa",
    "mcc": "MCC",
    "hand till": "AUC of pairs (Hand & Till)",
    "aunp": "AUC against the rest",
}
_WITH_INTERVAL = ("hand_till", "aunp")


@dataclass(frozen=True, eq=False)
class MulticlassSummary(Result):
    """Confusion matrix, metrics and average AUCs of one model.

    Attributes
    ----------
    name : str
        Name of the model.
    matrix : ConfusionMatrix
        Confusion matrix of the classes that the model predicts.
    statistics : mapping from metric name to value
        Metrics of the confusion matrix.
    areas : mapping from metric name to value
        Average AUCs. Empty if the model has no probabilities.
    intervals : mapping from metric name to Estimate
        Intervals of some of these metrics. Empty if they were not requested.
    undefined : tuple of class names
        Classes without cases. Averages omit these classes.
    """

    _content = ("name", "statistics", "areas", "undefined", "intervals")

    name: str
    matrix: ConfusionMatrix
    statistics: Mapping[str, float]
    areas: Mapping[str, float]
    intervals: Mapping[str, Estimate]
    undefined: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all facts, safe for JSON."""
        return super().to_dict() | {"confusion": self.matrix.to_dict()}


@dataclass(frozen=True, eq=False)
class MulticlassData(Result):
    """Content of a report on more than two classes.

    Attributes
    ----------
    models : tuple of MulticlassSummary
        Summary of each model.
    context : Context
        Cost of a false positive and of a false negative. They are the same for every class.
    slices : list of Slice
        Each class against all other classes. Empty in a summary without charts.
    warnings, provenance, conventions
        See `ReportData`.
    """

    title: str
    notes: str
    predictions: MulticlassPredictions
    models: tuple[MulticlassSummary, ...]
    context: Context = field(default_factory=Context)
    slices: list[Slice] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    conventions: tuple[str, ...] = (
        "The selected class is positive, and all other classes are negative. Its probability is the score.",
        "Over all classes, a model predicts its own decision. Without decisions, it predicts the most probable class.",
        *two_classes.CONVENTIONS,
    )
    schema_version: int = field(default=two_classes.SCHEMA_VERSION)

    @property
    def views(self) -> list[Slice]:
        """All slices that the page can show. The first slice is shown first."""
        return self.slices

    @property
    def best(self) -> MulticlassSummary:
        """Model with the highest accuracy. If several models have this accuracy, the first of them."""
        return max(self.models, key=lambda model: model.statistics["accuracy"])

    @property
    def verdict(self) -> str:
        """Sentence with the most accurate model, and the interval of its accuracy."""
        best = self.best
        share = f"{best.statistics['accuracy']:.2%} of {self.predictions.n:,g} cases"
        interval = best.intervals.get("accuracy")
        if interval is not None:
            share += f" ({100 * interval.level:g}% CI [{interval.low:.1%}, {interval.high:.1%}])"
        return f"Most accurate: {best.name}, {share}."

    def to_dict(self) -> dict[str, Any]:
        """Return all facts, safe for JSON."""
        facts = {"title": self.title, "notes": self.notes, "verdict": self.verdict}
        facts |= self.predictions.to_dict() | {"models": self.models}
        if self.slices:
            charts = ("warnings", "provenance", "conventions", "schema_version", "context", "slices")
            facts |= {name: getattr(self, name) for name in charts}
        return jsonable(facts)


def multiclass_data(
    predictions: MulticlassPredictions, *, title: str = "", notes: str = "", detailed: bool = True
) -> MulticlassData:
    """Return a summary of each model without charts. If `detailed`, add intervals."""
    models = tuple(_summary(predictions, name, detailed) for name in predictions.models)
    return MulticlassData(title, notes, predictions, models)


def _summary(predictions: MulticlassPredictions, name: str, detailed: bool) -> MulticlassSummary:
    matrix = predictions.confusion(name)
    facts = matrix.to_dict()
    statistics = {key: float("nan") if facts[key] is None else facts[key] for key in _STATISTICS}
    undefined = tuple(cls for cls, n in zip(matrix.classes, matrix.support.tolist(), strict=True) if not n)
    intervals: dict[str, Estimate] = {}
    if detailed:
        intervals = {key: matrix.interval(key) for key, value in statistics.items() if not math.isnan(value)}
    areas: dict[str, float] = {}
    if name in predictions.proba:
        auc = multiclass_auc(predictions, model=name)
        areas = {variant: auc.average(variant).value for variant in VARIANTS}
        if detailed and len(matrix.classes) - len(undefined) > 1:
            intervals |= {variant: auc.interval(variant) for variant in _WITH_INTERVAL}
    return MulticlassSummary(name, matrix, statistics, areas, intervals, undefined)


def multiclass_report(
    predictions: MulticlassPredictions, *, context: Context | None = None, title: str = "", notes: str = ""
) -> MulticlassData:
    """Return the content of a report: a summary of each model, and its curves for each class against all others.

    Raises
    ------
    OneClassError
        If all cases have the same class.
    InputError
        If the context has a target prevalence, because each class has its own prevalence.
    """
    context = Context.given(context)
    present = [cls for cls, n in zip(predictions.classes, predictions.support.tolist(), strict=True) if n]
    if len(present) < 2:
        raise OneClassError("y_true", expected="cases of at least two classes", got=f"only class {present[0]!r}")
    if context.target_prevalence is not None:
        hint = "set prevalences on the page, because each class has its own prevalence"
        expected = "a context without target prevalence"
        got = f"target_prevalence={context.target_prevalence!r}"
        raise InputError("context", expected=expected, got=got, hint=hint)
    slices = Slices(context)
    # The points of a page are divided among the classes.
    most = max(two_classes.POINTS, two_classes.MOST_POINTS // len(predictions.classes))
    labels_only = predictions.decisions.keys() - predictions.proba.keys()
    ranked = {}
    for cls in predictions.classes:
        binary = predictions.binary(cls)
        slices.add("class", cls, binary, most=most, compared=True, labels_only=labels_only)
        for model in predictions.models:
            ranked[f"{cls} {model}"] = binary.counts(model)
    title = title or two_classes.title_of(predictions.models)
    with collected_warnings() as warnings:
        data = multiclass_data(predictions, title=title, notes=notes)
    warnings += [*slices.warnings, *two_classes.small_cells(slices.made)]
    for kind in ("segment", "fold"):
        if getattr(predictions, kind) is not None:
            warnings.append(f"The {kind}s are not shown, because the selection list contains the classes.")
    numbers = {"rows": predictions.n, "classes": len(predictions.classes)}
    provenance = two_classes.provenance_of(predictions, ranked, **numbers)
    return replace(data, context=context, slices=slices.made, provenance=provenance, warnings=warnings)


def overview(data: MulticlassData) -> list[dict[str, str]]:
    """Return a table of texts with one row per model."""
    rows = []
    for model in data.models:
        values = dict(model.statistics)
        for variant in VARIANTS:
            if variant != "au1u":
                values[variant] = model.areas.get(variant, float("nan"))
        row = {"model": model.name}
        for name, value in values.items():
            row[name.replace("_", " ")] = _cell(value, model.intervals.get(name))
        rows.append(row)
    return rows


def page_overview(data: MulticlassData) -> list[dict[str, str]]:
    """Return the columns of `overview` that the page shows, with longer headings."""
    return [{heading: row[column] for column, heading in _PAGE.items()} for row in overview(data)]


def _cell(value: float, interval: Estimate | None = None) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" + (f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else "")


def by_class(model: MulticlassSummary) -> list[dict[str, str]]:
    """Return a table of texts with one row per class."""
    matrix = model.matrix
    columns = {name.replace("f_score", "F1"): matrix.per_class(name).tolist() for name in _PER_CLASS}
    support = matrix.support.tolist()
    predicted = matrix.predicted.tolist()
    rows = []
    for i, cls in enumerate(matrix.classes):
        row = {"class": str(cls), "cases": f"{support[i]:,g}", "predicted": f"{predicted[i]:,g}"}
        for name, values in columns.items():
            row[name] = _cell(values[i])
        rows.append(row)
    return rows


def confusion_table(model: MulticlassSummary) -> list[dict[str, str]]:
    """Return the confusion matrix as a table of texts with one row per actual class."""
    classes = model.matrix.classes
    rows = []
    for actual, counts in zip(classes, model.matrix.counts.tolist(), strict=True):
        row = {"actual": str(actual)}
        for predicted, n in zip(classes, counts, strict=True):
            row[f"predicted {predicted}"] = f"{n:,g}"
        rows.append(row)
    return rows
