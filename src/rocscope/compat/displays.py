"""scikit-learn's displays, drawn by `Curve.plot` through every threshold: the same names, arguments and attributes.

Examples
--------
>>> from matplotlib.figure import Figure
>>> shown = RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], ax=Figure().subplots())
>>> shown.roc_auc, shown.ax_.get_legend().get_texts()[0].get_text()
(0.75, 'Classifier (AUC 0.750)')
"""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np

from rocscope._base.public_names import reach
from rocscope.calibration.curve import calibration_curve
from rocscope.curves import Curve, det, precision_recall, roc
from rocscope.errors import InputError
from rocscope.evaluation.fitting import attributes, score, take_rows

CURVE, GUIDE = "rocscope-curve", "rocscope-guide"
"""Group ids of the lines of curves and of reference lines."""
_NAME = "Classifier"


def _of_each(attribute: str, doc: str) -> property:
    """Return a property: an attribute of the curve (dotted for one of its counts), or a list of one for each fold."""

    def of_each(self: "_Display") -> Any:
        values = [attrgetter(attribute)(curve) for curve in self.curves]
        return values[0] if len(values) == 1 else values

    return property(of_each, doc=doc)


class _Display:
    """One curve, or one for each fold, and where it was drawn.

    Attributes
    ----------
    curves : list of Curve
    name : str, or a list of them
    pos_label : label
        The positive class; 1 if it was not given, which is then the positive label of 0/1, −1/1 and False/True.
    ax_, figure_, line_ : Axes, Figure and Line2D; of several curves a list of lines
    chance_level_ : Line2D or None
    """

    _make: ClassVar[Callable[..., Curve]]
    curves: list[Curve]
    name: Any
    pos_label: Any
    ax_: Any
    figure_: Any
    line_: Any
    chance_level_: Any

    @property
    def estimator_name(self) -> Any:
        """scikit-learn's other name of `name`."""
        return self.name

    @property
    def curve(self) -> Curve:
        """The curve, or that of the first fold."""
        return self.curves[0]

    def plot(
        self,
        ax: Any = None,
        *,
        name: Any = None,
        curve_kwargs: Any = None,
        plot_chance_level: bool = True,
        chance_level_kw: Mapping[str, Any] | None = None,
        despine: bool = False,
        **line: Any,
    ) -> Self:
        """Draw on an Axes, or on the Axes of a new figure, and return the display.

        Parameters
        ----------
        ax : Axes, optional
        name : str, or one for each curve
            Name in the legend.
        curve_kwargs : dict, or one for each curve
            For the lines, as ``**line``.
        plot_chance_level : bool
            Whether to draw the line of chance; here it is drawn unless that is False.
        chance_level_kw : dict, optional
            For that line.
        despine : bool
            Whether to leave out the frame above and to the right.
        **line
            For the lines, as in ``Axes.plot``.
        """
        self.name = self.name if name is None else name
        looks = curve_kwargs if isinstance(curve_kwargs, list | tuple) else [curve_kwargs or {}] * len(self.curves)
        drawn: list[Any] = []
        for curve, label, look in zip(self.curves, self._labels(), looks, strict=True):
            before = 0 if ax is None else len(ax.lines)
            options: dict[str, Any] = {"label": label} | dict(look) | line
            ax = curve.plot(ax, **options)
            drawn += [line2d for line2d in ax.lines[before:] if line2d.get_gid() == CURVE]
        self.ax_, self.figure_, self.line_ = ax, ax.figure, drawn[0] if len(drawn) == 1 else drawn
        self._set_chance(plot_chance_level, chance_level_kw or {})
        if despine:
            ax.spines[["top", "right"]].set_visible(False)
        return self

    def _set_chance(self, shown: bool, look: Mapping[str, Any]) -> None:
        # Curves of several folds have one line of chance: Curve.plot draws it on empty axes only.
        self.chance_level_ = next((line for line in self.ax_.lines if line.get_gid() == GUIDE), None)
        if self.chance_level_ is None:
            return
        if shown:
            self.chance_level_.set(**look)
        else:
            self.chance_level_.remove()
            self.chance_level_ = None
        reach("plotting").curves.place_legend(self.ax_)

    def _labels(self) -> list[str]:
        several = isinstance(self.name, list | tuple)
        names = list(self.name) if several else [self.name or _NAME] * len(self.curves)
        return [f"{name}{self._fact(curve)}" for name, curve in zip(names, self.curves, strict=True)]

    def _fact(self, curve: Any) -> str:  # noqa: ARG002
        return ""

    @classmethod
    def _of(cls, curves: Sequence[Curve], name: Any, pos_label: Any) -> Self:
        # Without __init__, which takes scikit-learn's arrays and makes a curve of them.
        display = cls.__new__(cls)
        display.curves, display.name = list(curves), name
        display.pos_label = 1 if pos_label is None else pos_label
        return display

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        drop_intermediate: bool = True,  # noqa: ARG003 (points that cannot be seen are left out anyway)
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of labels and scores.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label : see `rocscope.roc`
        drop_intermediate : bool
            Accepted as scikit-learn's: every threshold counts, and what is drawn are the points that can be seen.
        name : str, optional
            Name in the legend.
        ax : Axes, optional
            Axes to draw on; by default a new figure.
        **options : see `plot`
        """
        curve = cls._make(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
        return cls._of([curve], name or _NAME, pos_label).plot(ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 (scikit-learn's name)
        y: Any,
        *,
        response_method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of a fitted binary classifier.

        Parameters
        ----------
        estimator : classifier
        X, y : rows, and their labels
        response_method : {"auto", "predict_proba", "decision_function"}
            Method that provides scores; by default probabilities, or else the decision function.
        pos_label : label, optional
            The positive class; by default the second of the classifier's.
        name : str, optional
            By default the name of the estimator's class.
        **options : see `from_predictions`

        Raises
        ------
        InputError
            If the classifier is not fitted, or not to two classes that hold `pos_label`.
        ModelError
            If it gives no scores.
        """
        name = name or type(estimator).__name__
        scores, pos_label = _scored(estimator, name, X, response_method, pos_label)
        return cls.from_predictions(y, scores, pos_label=pos_label, name=name, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,  # noqa: N803 (scikit-learn's name)
        y: Any,
        *,
        sample_weight: Any = None,
        drop_intermediate: bool = True,  # noqa: ARG003
        response_method: str = "auto",
        pos_label: Any = None,
        ax: Any = None,
        name: Any = None,
        chance_level_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of each fold; `rocscope.evaluation.average_curve` averages them, with a band.

        Parameters
        ----------
        cv_results : dict
            Of scikit-learn's ``cross_validate(…, return_estimator=True, return_indices=True)``.
        X, y : rows, and their labels
        sample_weight, response_method, pos_label, ax, name, **options : see `from_estimator`

        Raises
        ------
        InputError
            If `cv_results` lacks estimators or indices.
        """
        if missing := {"estimator", "indices"} - set(cv_results):
            hint = "cross_validate(…, return_estimator=True, return_indices=True)"
            raise InputError("cv_results", expected="estimators and indices", got=f"no {min(missing)}", hint=hint)
        y, curves = np.asarray(y), []
        table = attributes(X, y.size)
        for estimator, rows in zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True):
            tested = take_rows(table, rows)
            scores, pos_label = _scored(estimator, type(estimator).__name__, tested, response_method, pos_label)
            weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
            curves.append(cls._make(y[rows], scores, sample_weight=weight, pos_label=pos_label))
        names = name or [f"{type(cv_results['estimator'][0]).__name__}, fold {i + 1}" for i in range(len(curves))]
        return cls._of(curves, names, pos_label).plot(ax, chance_level_kw=chance_level_kwargs, **options)


def _scored(estimator: Any, name: str, rows: Any, response_method: str, pos_label: Any) -> tuple[Any, Any]:
    """Return the scores of a classifier of two classes, and the positive one."""
    classes = np.asarray(getattr(estimator, "classes_", ())).tolist()
    if len(classes) != 2:
        got = f"{len(classes)} classes" if classes else "one without classes"
        raise InputError(f"estimator {name}", expected="a classifier that was fitted to two classes", got=got)
    pos_label = classes[1] if pos_label is None else pos_label
    if pos_label not in classes:
        raise InputError("pos_label", expected=f"{classes[0]!r} or {classes[1]!r}", got=repr(pos_label))
    return score(estimator, name, rows, classes, classes.index(pos_label), response_method)[0], pos_label


class RocCurveDisplay(_Display):
    """Display of a ROC curve; the legend shows its area."""

    _make = staticmethod(roc)

    def __init__(
        self, *, fpr: Any, tpr: Any, roc_auc: float | None = None, name: Any = None, pos_label: Any = None
    ) -> None:
        self.curves = [_points("RocCurve", fpr, tpr, "fpr", "tpr", auc=roc_auc)]
        self.name, self.pos_label = name, pos_label

    roc_auc = _of_each("auc", "Area under the curve.")
    fpr = _of_each("x", "False-positive rate at each threshold.")
    tpr = _of_each("y", "True-positive rate at each threshold.")

    def _fact(self, curve: Any) -> str:
        return "" if curve.auc is None else f" (AUC {curve.auc:.3f})"


class PrecisionRecallDisplay(_Display):
    """Display of a precision–recall curve; the legend shows its average precision."""

    _make = staticmethod(precision_recall)

    def __init__(
        self,
        precision: Any,
        recall: Any,
        *,
        average_precision: float | None = None,
        name: Any = None,
        pos_label: Any = None,
        prevalence_pos_label: float | None = None,
    ) -> None:
        # The line of chance of a PrecisionRecallCurve lies at the prevalence; a class without a style has no such line.
        kind = "Points" if prevalence_pos_label is None else "PrecisionRecallCurve"
        facts = {"average_precision": average_precision, "counts": SimpleNamespace(prevalence=prevalence_pos_label)}
        self.curves = [_points(kind, recall, precision, "recall", "precision", **facts)]
        self.name, self.pos_label = name, pos_label

    average_precision = _of_each("average_precision", "Area under the steps of the curve.")
    precision = _of_each("y", "Precision at each threshold.")
    recall = _of_each("x", "Recall at each threshold.")
    prevalence_pos_label = _of_each("counts.prevalence", "Share of positives; None if it was not given.")

    def _fact(self, curve: Any) -> str:
        return "" if curve.average_precision is None else f" (AP {curve.average_precision:.3f})"


class DetCurveDisplay(_Display):
    """Display of miss rate against false-positive rate, on normal deviate axes."""

    _make = staticmethod(det)

    def __init__(
        self, *, fpr: Any, fnr: Any, estimator_name: Any = None, name: Any = None, pos_label: Any = None
    ) -> None:
        # The axes end at the smallest rate above 0, which is at least 1/n of its class: so n is taken as 1/rate.
        totals = SimpleNamespace(n_neg=_rows_of(fpr), n_pos=_rows_of(fnr))
        self.curves = [_points("DetCurve", fpr, fnr, "fpr", "fnr", counts=totals)]
        self.name, self.pos_label = name or estimator_name, pos_label

    fpr = _of_each("x", "False-positive rate at each threshold.")
    fnr = _of_each("y", "False-negative rates.")


def _rows_of(rate: Any) -> float:
    rates = np.asarray(rate)
    return 1 / min(rates[rates > 0], default=1.0)


class CalibrationDisplay(_Display):
    """Observed share of positives in bins of the probability, with a band, a rug, O/E and slope."""

    _make = staticmethod(calibration_curve)
    y_prob: Any = None  # of folds

    def __init__(
        self, prob_true: Any, prob_pred: Any, y_prob: Any, *, estimator_name: str | None = None, pos_label: Any = None
    ) -> None:
        self.curves = [_points("Points", prob_pred, prob_true, "mean_score", "share_positive")]
        self.y_prob, self.name, self.pos_label = y_prob, estimator_name, pos_label

    @property
    def prob_true(self) -> Any:
        """Observed share of positives in each bin that holds a row."""
        return self._kept("y")

    @property
    def prob_pred(self) -> Any:
        """Mean probability in each of them."""
        return self._kept("x")

    def _kept(self, attribute: str) -> Any:
        curve = self.curves[0]
        return getattr(curve, attribute)[~np.isnan(curve.y)]

    def _set_chance(self, shown: bool, look: Mapping[str, Any]) -> None:
        if not any(line.get_gid() == GUIDE for line in self.ax_.lines):
            self.ax_.plot([0, 1], [0, 1], color="0.5", linestyle=":", label="perfect", gid=GUIDE, zorder=1)
        super()._set_chance(shown, look)

    def _fact(self, curve: Any) -> str:
        facts = reach("plotting").curves.style_of(curve).label(curve)
        return f"\n{facts}" if facts else ""

    @classmethod
    def from_predictions(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 5,
        strategy: Any = "uniform",
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        ref_line: bool = True,
        **options: Any,
    ) -> Self:
        """Draw the calibration plot of labels and probabilities.

        Parameters
        ----------
        y_true, y_prob, sample_weight, pos_label : see `rocscope.calibration_curve`
        n_bins, strategy : its `bins` and `strategy`
        name, ax, **options : see `plot`
        ref_line : bool
            Whether to draw the line of perfect calibration.
        """
        how = {"sample_weight": sample_weight, "pos_label": pos_label}
        curve = calibration_curve(y_true, y_prob, bins=n_bins, strategy=strategy, **how)
        display = cls._of([curve], name or _NAME, pos_label)
        display.y_prob = y_prob
        return display.plot(ax, plot_chance_level=ref_line, **options)


def _points(kind: str, x: Any, y: Any, x_name: str, y_name: str, **facts: Any) -> Curve:
    """Return a curve of arrays, drawn in the style of a class of curves.

    `rocscope.plotting.curves.STYLES` has styles by the name of the class, so a class of that name is made, with `facts`
    as the attributes that the style reads. "Points" has no style: points are joined, without a reference line.
    """
    x, y = (np.asarray(column, dtype=np.float64) for column in (x, y))
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"{x_name} and {y_name}", expected="arrays of one length", got=f"{x.shape} and {y.shape}")
    made = type(kind, (Curve,), {"x_name": x_name, "y_name": y_name} | facts)
    return made(x, y, np.full(x.size, np.nan))
