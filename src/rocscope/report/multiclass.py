"""What a report on more than two classes holds, and its page: tables and figures, no script."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rocscope.core.estimate import Estimate
from rocscope.core.jsonable import jsonable
from rocscope.errors import InputError
from rocscope.multiclass.auc import VARIANTS, multiclass_auc
from rocscope.multiclass.confusion import ConfusionMatrix
from rocscope.multiclass.predictions import MulticlassPredictions

_STATISTICS = ("accuracy", "balanced_accuracy", "macro_f1", "kappa", "mcc")
_PER_CLASS = ("recall", "precision", "f_score", "specificity")
_POINTS, _STEPS = 500, 24  # a small page before a fine one
_WITH_INTERVAL = ("hand_till", "aunp")


@dataclass(frozen=True, eq=False)
class MulticlassSummary:
    """One model: its confusion matrix, statistics of it, and its AUCs where it gives probabilities.

    Attributes
    ----------
    name : str
    matrix : ConfusionMatrix
        Of the most probable classes.
    statistics, areas : mapping from name to value
    intervals : mapping from name to Estimate
        Of some of these; none where they were not asked for.
    undefined : tuple of class names
        Classes without cases, which averages leave out.
    """

    name: str
    matrix: ConfusionMatrix
    statistics: Mapping[str, float]
    areas: Mapping[str, float]
    intervals: Mapping[str, Estimate]
    undefined: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, safe for JSON."""
        plain = {"name": self.name, "statistics": dict(self.statistics), "areas": dict(self.areas)}
        intervals = {name: estimate.to_dict() for name, estimate in self.intervals.items()}
        return jsonable(
            plain | {"undefined": self.undefined, "intervals": intervals, "confusion": self.matrix.to_dict()}
        )


@dataclass(frozen=True, eq=False)
class MulticlassData:
    """Facts about several models of the same rows."""

    title: str
    notes: str
    predictions: MulticlassPredictions
    models: tuple[MulticlassSummary, ...]

    @property
    def best(self) -> MulticlassSummary:
        """The model of highest accuracy, the first of several."""
        return max(self.models, key=lambda model: model.statistics["accuracy"])

    @property
    def verdict(self) -> str:
        """One sentence: which model is right most often."""
        return (
            f"Most accurate: {self.best.name}, {self.best.statistics['accuracy']:.2%} of {self.predictions.n:,g} cases."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, safe for JSON."""
        facts = {"title": self.title, "notes": self.notes, "verdict": self.verdict}
        return facts | self.predictions.to_dict() | {"models": [model.to_dict() for model in self.models]}


def multiclass_data(
    predictions: MulticlassPredictions, *, title: str = "", notes: str = "", detailed: bool = True
) -> MulticlassData:
    """Return the facts about each model; with intervals where `detailed`."""
    models = tuple(_summary(predictions, name, detailed) for name in predictions.models)
    return MulticlassData(title, notes, predictions, models)


def _summary(predictions: MulticlassPredictions, name: str, detailed: bool) -> MulticlassSummary:
    matrix = predictions.confusion(name)
    facts = matrix.to_dict()
    statistics = {key: float("nan") if facts[key] is None else facts[key] for key in _STATISTICS}
    undefined = tuple(c for c, n in zip(matrix.classes, matrix.support.tolist(), strict=True) if not n)
    whole = not (matrix.counts % 1).any()
    intervals = {"accuracy": matrix.interval("accuracy")} if detailed and whole else {}
    areas: dict[str, float] = {}
    if name in predictions.proba:
        auc = multiclass_auc(predictions, model=name)
        areas = {variant: auc.average(variant).value for variant in VARIANTS}
        if detailed and len(matrix.classes) - len(undefined) > 1:
            intervals |= {variant: auc.interval(variant) for variant in _WITH_INTERVAL}
    return MulticlassSummary(name, matrix, statistics, areas, intervals, undefined)


def overview(data: MulticlassData) -> list[dict[str, str]]:
    """Return a table with a row a model, as text."""
    return [{"model": model.name} | _cells(model) for model in data.models]


def _cells(model: MulticlassSummary) -> dict[str, str]:
    values = {**model.statistics, **{name: model.areas.get(name, float("nan")) for name in VARIANTS if name != "au1u"}}
    return {name.replace("_", " "): _shown(value, model.intervals.get(name)) for name, value in values.items()}


def _shown(value: float, interval: Estimate | None) -> str:
    if value != value:
        return "–"
    return f"{value:.4f}" + (f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else "")


def by_class(model: MulticlassSummary) -> list[dict[str, str]]:
    """Return a table with a row a class, as text."""
    columns = {name.replace("f_score", "F1"): model.matrix.per_class(name).tolist() for name in _PER_CLASS}
    support, predicted = model.matrix.support.tolist(), model.matrix.predicted.tolist()
    return [
        {"class": str(cls), "cases": f"{support[i]:,g}", "predicted": f"{predicted[i]:,g}"}
        | {name: _shown(values[i], None) for name, values in columns.items()}
        for i, cls in enumerate(model.matrix.classes)
    ]


def render_multiclass(data: MulticlassData) -> str:
    """Return the page.

    Raises
    ------
    InputError
        If it is larger than 5 MB.
    """
    from rocscope.report.html import MOST_BYTES, client, digest, raw

    style = client("report.css")
    page = _template().render(
        data=data,
        rows=overview(data),
        classes={model.name: by_class(model) for model in data.models},
        figures=[(caption, raw(picture)) for caption, picture in _figures(data)],
        style=raw(style),
        style_hash=digest(style),
    )
    if (size := len(page.encode())) > MOST_BYTES:
        hint = "leave out models (select(models=[…]))"
        raise InputError("report", expected=f"at most {MOST_BYTES / 1e6:g} MB", got=f"{size / 1e6:.1f} MB", hint=hint)
    return page


def _figures(data: MulticlassData) -> list[tuple[str, str]]:
    from matplotlib.figure import Figure

    from rocscope.plotting import svg
    from rocscope.plotting.multiclass import plot_class_rocs, plot_confusion, plot_pairwise_auc, plot_simplex

    predictions, k = data.predictions, len(data.predictions.classes)
    size = (2.4 + 0.5 * k, 2.0 + 0.45 * k)
    drawn: list[tuple[str, Any]] = []
    for model in data.models:
        ax = Figure(figsize=size, layout="constrained").subplots()
        drawn.append((f"{model.name}: confusion matrix, shaded by recall", plot_confusion(model.matrix, ax=ax)))
        if model.areas:
            ax = Figure(figsize=size, layout="constrained").subplots()
            auc = multiclass_auc(predictions, model=model.name)
            drawn.append((f"{model.name}: how well each class is told from each other", plot_pairwise_auc(auc, ax=ax)))
            if k == 3:
                ax = Figure(figsize=(5, 4.6), layout="constrained").subplots()
                shown = plot_simplex(predictions, model=model.name, most=_POINTS, steps=_STEPS, ax=ax)
                drawn.append((f"{model.name}: probabilities of the three classes", shown))
    columns = min(4, k)
    panels = Figure(figsize=(2.6 * columns, 2.7 * -(-k // columns) + 0.8), layout="constrained")
    drawn.append(("Each class against the rest", plot_class_rocs(predictions, columns=columns, figure=panels)))
    return [(caption, svg(figure, title=caption)) for caption, figure in drawn]


@cache
def _template() -> Any:
    from rocscope.report.html import template

    return template("multiclass.html.j2")
