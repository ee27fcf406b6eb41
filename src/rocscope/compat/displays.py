"""Displays of scikit-learn in the style of rocscope. The calibration plot has intervals and a rug plot.

Each class is a subclass of a display of the installed scikit-learn, with the same options, arrays, attributes, legends,
warnings and exceptions. The attribute `curve` is the `Curve` of the same rows, for thresholds, bands and tests.

Examples
--------
>>> from matplotlib.figure import Figure
>>> shown = RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], ax=Figure().subplots())
>>> shown.roc_auc, shown.ax_.get_legend().get_texts()[0].get_text()
(0.75, 'Classifier (AUC = 0.75)')
>>> shown.curve.partial_auc(max_fpr=0.5)
0.25
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.rcsetup import cycler
from sklearn import calibration, metrics

from rocscope._base.arrays import Array
from rocscope._base.public_names import refusing
from rocscope.calibration.curve import calibration_curve
from rocscope.curves import Curve, det, precision_recall, roc
from rocscope.errors import InputError
from rocscope.plotting import theme

_refuse = refusing(__name__, metrics.__all__)


class _Look:
    """Base class of displays of scikit-learn in the style of rocscope. It stores labels and scores for `curve`."""

    _make: ClassVar[Callable[..., Curve]]
    _rows: tuple[Any, Any, dict[str, Any]] | None = None

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the display on `ax`, by default on a new figure. The options are those of scikit-learn's `plot`."""
        ax = theme.new_axes() if ax is None else ax
        if not ax.lines:
            ax.set_prop_cycle(_line_cycle())
        # Set our style first, so that scikit-learn's own ticks, such as normal deviates, replace ours.
        theme.style_axes(ax)
        return super().plot(ax=ax, **options)  # pyright: ignore[reportAttributeAccessIssue]

    @classmethod
    def from_predictions(cls, y_true: Any, y_score: Any = None, **options: Any) -> Self:
        """Draw labels and scores as scikit-learn's `from_predictions`, with its options."""
        display = super().from_predictions(y_true, y_score, **options)  # pyright: ignore[reportAttributeAccessIssue]
        scores = options.get("y_pred") if y_score is None else y_score  # its old name
        row_options = {name: options.get(name) for name in ("sample_weight", "pos_label")}
        display._rows = (y_true, scores, row_options)
        return display

    @cached_property
    def curve(self) -> Curve:
        """The curve of the labels and scores, with all thresholds.

        Raises
        ------
        InputError
            If the display was made from rates or from several folds, so that it has no labels and scores.
        """
        if self._rows is None:
            hint = "make the display with from_predictions or from_estimator"
            expected, got = "a display of labels and scores", "a display of rates"
            raise InputError("curve", expected=expected, got=got, hint=hint)
        y_true, scores, row_options = self._rows
        return self._make(y_true, scores, **row_options)


def _line_cycle() -> Any:
    """Return the colours and dashes of `theme.line_look` in the same order."""
    looks = [theme.line_look(index) for index in range(len(theme.palette().hues) * len(theme.DASHES))]
    return cycler(color=[look["color"] for look in looks], linestyle=[look["linestyle"] for look in looks])


class RocCurveDisplay(_Look, metrics.RocCurveDisplay):
    """ROC curves of one model or of several folds. The legend shows the AUC."""

    _make = staticmethod(roc)


class PrecisionRecallDisplay(_Look, metrics.PrecisionRecallDisplay):
    """Precision–recall curves of one model or of several folds. The legend shows the average precision."""

    _make = staticmethod(precision_recall)


class DetCurveDisplay(_Look, metrics.DetCurveDisplay):
    """Detection error trade-off curves: false negative rate against false positive rate, on normal-deviate axes."""

    _make = staticmethod(det)


class CalibrationDisplay(_Look, calibration.CalibrationDisplay):
    """Observed share of positives in bins of the predicted probability, with Jeffreys intervals and a rug plot."""

    _make = staticmethod(calibration_curve)

    @classmethod
    def from_predictions(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls, y_true: Any, y_prob: Any, *, n_bins: int = 5, strategy: str = "uniform", **options: Any
    ) -> Self:
        """Draw labels and probabilities as scikit-learn's `from_predictions`, with its options."""
        display = super().from_predictions(y_true, y_prob, n_bins=n_bins, strategy=strategy, **options)
        row_options = {"edges": _edges(y_prob, n_bins, strategy), "pos_label": options.get("pos_label")}
        display._rows = (y_true, y_prob, row_options)
        display._draw_rows()
        return display

    def _draw_rows(self) -> None:
        colour = self.line_.get_color()
        curve: Any = self.curve
        band = curve.confidence_band()
        # Without a label, so that the legend is unchanged.
        self.ax_.fill_between(*band.drawn(), color=colour, alpha=0.16, linewidth=0, zorder=2)
        theme.draw_rug(self.ax_, curve, colour, within=(0.0, 1.0))


def _edges(probability: Any, bins: int, strategy: str) -> Array:
    """Return edges with which the bins of rocscope contain the same scores as the bins of scikit-learn.

    Bins of scikit-learn include their upper edge, bins of rocscope include their lower edge. Each inner edge is
    therefore replaced by the next larger number. If quantiles are equal, scikit-learn omits the empty bins.
    """
    shares = np.linspace(0, 1, bins + 1)
    inner = shares[1:-1] if strategy == "uniform" else np.quantile(probability, shares[1:-1])
    above = np.nextafter(inner, 2)
    return np.unique(np.concatenate([[0.0], above[above < 1], [1.0]]))


def __getattr__(name: str) -> Any:
    """Return the display of scikit-learn for each name that this module does not define."""
    return getattr(metrics, name) if name in metrics.__all__ else _refuse(name)
