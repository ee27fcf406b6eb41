"""scikit-learn's displays: `from_estimator` and `from_predictions`, drawn by `Curve.plot` through every threshold.

Examples
--------
>>> from matplotlib.figure import Figure
>>> shown = RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], ax=Figure().subplots())
>>> shown.roc_auc, shown.ax_.get_legend().get_texts()[0].get_text()
(0.75, 'Classifier (AUC 0.750)')
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from rocscope.curves.curve import CountCurve
from rocscope.curves.rate_curves import det, precision_recall
from rocscope.curves.roc_curve import roc
from rocscope.errors import InputError
from rocscope.evaluation.scoring import score

_NAME = "Classifier"
_TWO = 2
_ALWAYS = {
    "plot_chance_level": "the line of chance is always drawn",
    "chance_level_kw": "it is the line with the label 'chance' in .ax_.lines",
    "drop_intermediate": "the curve keeps every threshold, and is drawn by the points that can be seen",
    "despine": "use ax.spines",
    "curve_kwargs": "give colour and dashes by name: color='red'",
}


class _Display:
    """A curve that was drawn.

    Attributes
    ----------
    curve : Curve
    ax_, figure_, line_ : Axes, Figure and Line2D
    name : str
    """

    _make: ClassVar[Callable[..., CountCurve]]

    def __init__(self, curve: CountCurve, name: str, ax: Any, **line: Any) -> None:
        self.curve, self.name = curve, name
        for option in line.keys() & _ALWAYS:
            raise InputError(option, expected="none", got=repr(line[option]), hint=_ALWAYS[option])
        before = 0 if ax is None else len(ax.lines)
        options: dict[str, Any] = {"label": self._label()} | line
        self.ax_ = curve.plot(ax, **options)
        self.figure_ = self.ax_.figure
        self.line_ = next(each for each in self.ax_.lines[before:] if each.get_gid() == "rocscope-curve")

    def _label(self) -> str:
        return self.name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the curve of labels and scores.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label : see `rocscope.roc`
        name : str, optional
            What the legend calls it.
        ax : Axes, optional
            Where to draw; a new figure when left out.
        **line
            For the line, as in ``Axes.plot``.
        """
        curve = cls._make(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
        return cls(curve, name or _NAME, ax, **line)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 (scikit-learn's name)
        y: Any,
        *,
        sample_weight: Any = None,
        response_method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : classifier
        X, y : rows, and their labels
        response_method : {"auto", "predict_proba", "decision_function"}
            Where scores come from; by default probabilities, or else the decision function.
        pos_label : label, optional
            The positive class; the second of the classifier's when left out.
        sample_weight, name, ax, **line : see `from_predictions`
            The name is that of the estimator's class when left out.

        Raises
        ------
        InputError
            If the classifier is not fitted, or not to two classes that hold `pos_label`.
        ModelError
            If it gives no scores.
        """
        name = name or type(estimator).__name__
        classes = np.asarray(getattr(estimator, "classes_", ())).tolist()
        if len(classes) != _TWO:
            got = f"{len(classes)} classes" if classes else "one without classes"
            raise InputError(f"estimator {name}", expected="a classifier that was fitted to two classes", got=got)
        pos_label = classes[1] if pos_label is None else pos_label
        if pos_label not in classes:
            raise InputError("pos_label", expected=f"{classes[0]!r} or {classes[1]!r}", got=repr(pos_label))
        scores, _ = score(estimator, name, X, classes, classes.index(pos_label), response_method)
        given = {"sample_weight": sample_weight, "pos_label": pos_label, "name": name, "ax": ax}
        return cls.from_predictions(y, scores, **given, **line)


class RocCurveDisplay(_Display):
    """ROC curve; the legend names its area."""

    _make = staticmethod(roc)

    @property
    def roc_auc(self) -> float:
        """Area under the curve."""
        return self.curve.auc  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def fpr(self) -> Any:
        """False-positive rates, a point for each threshold."""
        return self.curve.x

    @property
    def tpr(self) -> Any:
        """True-positive rates."""
        return self.curve.y

    def _label(self) -> str:
        return f"{self.name} (AUC {self.roc_auc:.3f})"


class PrecisionRecallDisplay(_Display):
    """Precision–recall curve; the legend names its average precision."""

    _make = staticmethod(precision_recall)

    @property
    def average_precision(self) -> float:
        """Area under the steps of the curve."""
        return self.curve.average_precision  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def precision(self) -> Any:
        """Precisions, a point for each threshold."""
        return self.curve.y

    @property
    def recall(self) -> Any:
        """Recalls."""
        return self.curve.x

    def _label(self) -> str:
        return f"{self.name} (AP {self.average_precision:.3f})"


class DetCurveDisplay(_Display):
    """Miss rate against false-positive rate, on axes of normal deviates."""

    _make = staticmethod(det)
