"""ReportData as one HTML page; the template escapes whatever comes from outside."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from rocscope.core.counts import ThresholdCounts
from rocscope.report.model import ModelSummary, ReportData, calibration_table


def render(data: ReportData, counts: Mapping[str, ThresholdCounts]) -> str:
    """Return the page.

    Parameters
    ----------
    data : ReportData
    counts : mapping from model name to ThresholdCounts
        What the charts are drawn from.
    """
    return _template().render(
        data=data,
        charts=_charts(data, counts),
        rows=[_row(model) for model in data.models],
        calibration=calibration_table(data),
    )


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rocscope.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("report.html.j2")


def _charts(data: ReportData, counts: Mapping[str, ThresholdCounts]) -> list[dict[str, Any]]:
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from rocscope.plotting import plot_calibration, plot_lift_chart, plot_roc, svg

    probabilities = {model.name: counts[model.name] for model in data.models if model.calibration}
    draw = {
        "ROC curve": lambda ax: plot_roc(counts, context=data.context, ax=ax),
        "Lift chart": lambda ax: plot_lift_chart(counts, context=data.context, ax=ax),
    }
    if probabilities:
        draw["Calibration plot"] = lambda ax: plot_calibration(probabilities, ax=ax)
    axes = {title: Figure(figsize=(6, 6)).subplots() for title in draw}
    return [{"title": title, "svg": Markup(svg(draw[title](ax), title=title))} for title, ax in axes.items()]


def _row(model: ModelSummary) -> dict[str, str]:
    best = model.best
    return {
        "model": model.name,
        "AUC": f"{model.auc['half']:.4f}",
        "KS": f"{model.ks:.4f}",
        "average precision": f"{model.average_precision:.4f}",
        "best threshold": f"{best.threshold:.6g}",
        "TP": f"{best.tp:,g}",
        "FP": f"{best.fp:,g}",
        "FN": f"{best.fn:,g}",
        "TN": f"{best.tn:,g}",
        "accuracy": f"{best.accuracy:.2%}",
        "cost per case": f"{model.best_cost:.4g}",
        "accuracy at 0.5": f"{model.default.accuracy:.2%}",
    }
