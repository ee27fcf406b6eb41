"""What each quantity is called on an axis, and how each kind of curve is drawn.

A new kind of curve needs a row in `QUANTITIES` for a name that is not there yet, and one in `STYLES` if more than
its line is to be seen; nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rocscope.core.curve import Curve
from rocscope.curves.detection import DetCurve
from rocscope.curves.lift import GainCurve, LiftChart, LiftCurve
from rocscope.curves.precision_recall import PrecisionRecallCurve
from rocscope.curves.roc import RocCurve
from rocscope.plotting.deviate import deviate, set_deviate_axes
from rocscope.plotting.rugs import draw_rug
from rocscope.reliability.bins import CalibrationCurve


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
    "lift": Quantity("Lift (precision / prevalence)", 0),
    "recall": Quantity("Recall (true-positive rate)", 0, 1),
    "precision": Quantity("Precision (positive predictive value)", 0, 1),
    "mean_score": Quantity("Predicted probability", 0, 1),
    "share_positive": Quantity("Observed share of positives", 0, 1),
}


class Guide(NamedTuple):
    """A line to compare with: what chance gives, dashed, or what a perfect model would, dotted."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    perfect: bool = False


@dataclass(frozen=True)
class Style:
    """How one kind of curve is drawn.

    Attributes
    ----------
    guides : function from the curve to reference lines
    look : how its line differs from a plain one
    scale : what the axes do to both coordinates
    prepare : called with the Axes and the first curve on it
    decorate : called with the Axes, each curve and its colour, once its line is there
    """

    guides: Callable[[Any], list[Guide]] = lambda _: []
    look: tuple[tuple[str, Any], ...] = ()
    scale: Callable[[Any], Any] | None = None
    prepare: Callable[[Any, Any], None] | None = None
    decorate: Callable[[Any, Any, Any], None] | None = None


def _found(curve: LiftChart | GainCurve) -> list[Guide]:
    """Return what a random and a perfect ranking find among the first cases."""
    top = curve.y[-1].item()
    return [
        Guide("chance", (0, 1), (0, top)),
        Guide("perfect", (0, curve.counts.prevalence, 1), (0, top, top), perfect=True),
    ]


def _prevalence(curve: PrecisionRecallCurve) -> list[Guide]:
    share = curve.counts.prevalence
    return [Guide(f"chance (prevalence {share:.3g})", (0, 1), (share, share))]


STYLES: dict[type[Curve], Style] = {
    RocCurve: Style(lambda _: [Guide("chance", (0, 1), (0, 1))]),
    LiftChart: Style(_found),
    GainCurve: Style(_found),
    LiftCurve: Style(lambda _: [Guide("chance", (0, 1), (1, 1))]),
    PrecisionRecallCurve: Style(_prevalence),
    DetCurve: Style(scale=deviate, prepare=set_deviate_axes),
    CalibrationCurve: Style(
        lambda _: [Guide("perfect", (0, 1), (0, 1), perfect=True)],
        look=(("marker", "o"), ("markersize", 5)),
        decorate=draw_rug,
    ),
}


def style_of(curve: Curve) -> Style:
    """Return the style of the curve's class or of the nearest one that it derives from."""
    return next((STYLES[kind] for kind in type(curve).__mro__ if kind in STYLES), Style())


def quantity(name: str) -> Quantity:
    """Return the quantity of that name; its own name is its label if it is not in the vocabulary."""
    return QUANTITIES.get(name) or Quantity(name.replace("_", " ").capitalize())
