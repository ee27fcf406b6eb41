"""What each quantity is called on an axis, and how each kind of curve is drawn.

A new kind of curve needs a row in `QUANTITIES` for a name that is not there yet, and one in `STYLES` if more than
its line is to be seen; nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rocscope.curves.curve import Curve
from rocscope.plotting import theme
from rocscope.plotting.averages import average_look, draw_folds
from rocscope.plotting.deviate import deviate, set_deviate_axes
from rocscope.plotting.rugs import draw_rug
from rocscope.plotting.thresholds import draw_choice, show_thresholds, threshold_look


class Quantity(NamedTuple):
    """Label of an axis, and its natural ends; None where the data say."""

    label: str
    low: float | None = None
    high: float | None = None


QUANTITIES = {
    "fpr": Quantity("False-positive rate (1 − specificity)", 0, 1),
    "tpr": Quantity("True-positive rate (sensitivity, recall)", 0, 1),
    "fnr": Quantity("False-negative rate (miss rate)", 0, 1),
    "depth": Quantity("Rate of positive predictions (share contacted)", 0, 1),
    "tp": Quantity("True positives (positives found)", 0),
    "fp": Quantity("False positives (false alarms)", 0),
    "lift": Quantity("Lift (precision / prevalence)", 0),
    "recall": Quantity("Recall (true-positive rate)", 0, 1),
    "precision": Quantity("Precision (positive predictive value)", 0, 1),
    "mean_score": Quantity("Predicted probability", 0, 1),
    "score": Quantity("Predicted probability", 0, 1),
    "share_positive": Quantity("Observed share of positives", 0, 1),
    "probability_cost": Quantity("Probability cost of positives", 0, 1),
    "normalised_cost": Quantity("Normalised expected cost", 0),
    "cost_proportion": Quantity("Cost proportion", 0, 1),
    "loss": Quantity("Expected loss", 0),
    "chosen_threshold": Quantity("Chosen threshold"),
    "share_of_replicates": Quantity("Share of replicates"),
    "threshold_probability": Quantity("Threshold probability", 0, 1),
}


class Guide(NamedTuple):
    """A line to compare with: what chance or a simple rule gives, dashed, or what is perfect, dotted."""

    label: str
    x: Any
    y: Any
    dotted: bool = False

    @classmethod
    def of(cls, label: str, curve: Curve, *, dotted: bool = False) -> "Guide":
        """Return a curve as a reference line."""
        return cls(label, curve.x, curve.y, dotted)


@dataclass(frozen=True)
class Style:
    """How one kind of curve is drawn.

    Attributes
    ----------
    guides : function from the curve to reference lines
    label : function from the curve to what a legend says of it where no label is given
    look : function from the curve to how its line differs from a plain one
    scale : what the axes do to both coordinates, so far as it bends a line or cuts it off
    prepare : called with the Axes and the first curve on it, in place of limits from the quantities
    decorate : called with the Axes, each curve and its colour, once its line is there
    """

    guides: Callable[[Any], list[Guide]] = lambda _: []
    label: Callable[[Any], str] = lambda _: ""
    look: Callable[[Any], dict[str, Any]] = lambda _: {}
    scale: Callable[[Any], Any] | None = None
    prepare: Callable[[Any, Any], None] | None = None
    decorate: Callable[[Any, Any, Any], None] | None = None


def _diagonal(label: str, *, dotted: bool = False) -> list[Guide]:
    return [Guide(label, (0, 1), (0, 1), dotted)]


def _auc(curve: Any) -> str:
    return f"AUC {theme.number(curve.auc)}" if curve.counts.holds_levels else ""


def _found(curve: Any) -> list[Guide]:
    """Return what a random and a perfect ranking find among the first cases."""
    top = curve.y[-1].item()
    return [
        Guide("chance", (0, 1), (0, top)),
        Guide("perfect", (0, curve.counts.prevalence, 1), (0, top, top), dotted=True),
    ]


def _prevalence(curve: Any) -> list[Guide]:
    share = curve.counts.prevalence
    return [Guide(f"chance (prevalence {share:.3g})", (0, 1), (share, share))]


def _dots(curve: Any) -> dict[str, Any]:
    """Mark the points of bins, not those of a smooth curve."""
    return {"marker": "o", "markersize": 5} if hasattr(curve, "edges") else {}


def _profits(curve: Any) -> list[Guide]:
    return [Guide.of("chance", curve.random), Guide.of("perfect", curve.perfect, dotted=True)]


def _treatments(curve: Any) -> list[Guide]:
    return [Guide.of("treat all", curve.treat_all), Guide.of("treat none", curve.treat_none, dotted=True)]


def _cut_off(net_benefit: Any) -> Any:
    """Net benefit falls without end towards a threshold probability of 1; no plot shows that part."""
    return np.clip(net_benefit, -0.2, 1)


def _show_benefit(ax: Any, curve: Any) -> None:
    """Show net benefit from a little below 0 to its largest value, the prevalence, or 1 where it is standardized."""
    largest = 1.0 if curve.standardized else curve.prevalence
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.15 * largest, 1.05 * largest)


def _of_pooled(curve: Any) -> list[Guide]:
    """Return the reference lines of the rows of all folds; in counts, those of a fold differ and none is drawn."""
    return [] if curve.x_name == "fp" else style_of(curve.pooled).guides(curve.pooled)


def _with_folds(ax: Any, curve: Any, colour: Any) -> None:
    draw_folds(ax, curve, colour)
    pooled = style_of(curve.pooled)
    if pooled.decorate is not None:
        pooled.decorate(ax, curve.pooled, colour)


STYLES = {
    "AverageCurve": Style(_of_pooled, look=average_look, decorate=_with_folds),
    "RocCurve": Style(lambda _: _diagonal("chance"), label=_auc),
    "Hull": Style(lambda _: _diagonal("chance")),
    "LiftChart": Style(_found),
    "GainCurve": Style(_found),
    "LiftCurve": Style(lambda _: [Guide("chance", (0, 1), (1, 1))]),
    "PrecisionRecallCurve": Style(_prevalence),
    "DetCurve": Style(scale=deviate, prepare=set_deviate_axes),
    "CalibrationCurve": Style(lambda _: _diagonal("perfect", dotted=True), look=_dots, decorate=draw_rug),
    "ProfitCurve": Style(_profits),
    "CostCurve": Style(lambda curve: [Guide.of("nobody or everybody", curve.trivial)]),
    "MiscalibrationCostCurve": Style(),
    "ThresholdDistribution": Style(look=threshold_look, prepare=show_thresholds, decorate=draw_choice),
    "NetBenefitCurve": Style(_treatments, scale=_cut_off, prepare=_show_benefit),
}
"""By the name of the class, so that drawing one kind of curve loads no other."""


def style_of(curve: Curve) -> Style:
    """Return the style of the curve's class or of the nearest one that it derives from."""
    return next((STYLES[kind.__name__] for kind in type(curve).__mro__ if kind.__name__ in STYLES), Style())


def quantity(name: str) -> Quantity:
    """Return the quantity of that name; its own name is its label if it is not in the vocabulary."""
    return QUANTITIES.get(name) or Quantity(name.replace("_", " ").capitalize())
