"""Scorers for scikit-learn's cross-validation and searches, such as "net_benefit at 0.3".

A scorer is called with a fitted model, features and labels. It makes `Predictions` and returns the metric, with its
sign reversed if small values are good.
"""

import re
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.core import Context, Predictions
from rocscope.errors import InputError
from rocscope.evaluation.evaluating import from_estimator
from rocscope.evaluation.measures import Measure, measure_of
from rocscope.figures.conditions import Condition
from rocscope.figures.registry import figure_named, known, net_benefit_at
from rocscope.multiclass import CostMatrix, MulticlassPredictions

_AT_THRESHOLD = re.compile(r"(.+?)\s+at\s+(.+?)\s*")


class Scorer(BaseEstimator):
    """Scorer of a fitted model; the function `scorer` makes it.

    Parameters
    ----------
    figure : str
        Name of a metric, optionally with a threshold, or conditions on metrics; see `scorer`.
    context : Context or CostMatrix, optional
        Costs, for metrics that need costs.
    pos_label : label, optional
        Label of the positive class.

    Examples
    --------
    >>> Scorer("brier").measure(several_classes=False).sign
    -1
    """

    # If metadata routing is on, scikit-learn reads the arguments of a scorer from the signature of `score`.
    __metadata_request__score: ClassVar[dict[str, Any]] = {"estimator": UNUSED}

    def __init__(self, figure: str, *, context: Context | CostMatrix | None = None, pos_label: Any = None) -> None:
        self.figure, self.context, self.pos_label = figure, context, pos_label

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the metric of a fitted model for the rows of X; NaN if it is undefined.

        If small values of the metric are good, the sign is reversed.

        Parameters
        ----------
        estimator : fitted classifier
            Model to evaluate.
        X, y, sample_weight : see `rocscope.evaluate`

        Raises
        ------
        ModelError
            If the model is not fitted, raises an error, or has no method for scores.

        Examples
        --------
        >>> from sklearn.dummy import DummyClassifier
        >>> from rocscope import scorer
        >>> X, y = [[1], [2], [3], [4]], [0, 1, 0, 0]
        >>> scorer("auc").score(DummyClassifier().fit(X, y), X, y)
        0.5
        """
        preds = from_estimator(estimator, X, y, pos_label=self.pos_label, sample_weight=sample_weight)
        measure = self.measure(several_classes=isinstance(preds, MulticlassPredictions))
        source: Any = preds.source
        (response,) = source.responses.values()
        return measure.sign * measure.of(preds, response)

    __call__ = score

    def measure(self, *, several_classes: bool) -> Measure:
        """Return the metric as a `Measure`, which computes it from Predictions.

        Parameters
        ----------
        several_classes : bool
            True if there are more than two classes.

        Raises
        ------
        InputError
            If the metric is not defined for this number of classes.
        """
        if re.search("[<>=≤≥]", self.figure):
            return self._of_conditions(several_classes)
        return self._of_figure(self.figure, several_classes, directed=True)

    def _of_conditions(self, several_classes: bool) -> Measure:
        """Return a `Measure` that is 1 if all conditions are true, and 0 otherwise."""
        conditions = Condition.read(self.figure, "scorer", "auc >= 0.8")
        for condition in conditions:
            if condition.level is not None or condition.model is not None:
                hint = "use rs.compare to compare models, and rs.summary for limits of intervals"
                raise InputError("scorer", expected="conditions on one model's metrics", got=str(condition), hint=hint)
        measures = [self._of_figure(condition.quantity, several_classes, directed=False) for condition in conditions]

        def holds(preds: Any, threshold: float) -> float:
            pairs = zip(conditions, measures, strict=True)
            return float(all(condition.holds(measure.function(preds, threshold)) for condition, measure in pairs))

        return Measure(self.figure, holds, needs_scores=any(measure.needs_scores for measure in measures))

    def _of_figure(self, text: str, several_classes: bool, *, directed: bool) -> Measure:
        match = _AT_THRESHOLD.fullmatch(text)
        name = text.strip() if match is None else match[1]
        figure = None if several_classes else known(name)
        if figure is not None and figure.name == "net_benefit":
            return self._net_benefit(None if match is None else _threshold(match[2]))
        is_cost = name in ("cost", "expected_cost")
        metric = (self.context or Context()) if is_cost else name
        measure = measure_of(metric, several_classes=several_classes, directed=directed)
        if match is None:
            return measure
        threshold = _threshold(match[2])
        if not is_cost:
            expected = "a metric at one threshold (such as 'accuracy') before 'at'"
            figure_named(name, "scorer", expected=expected, suits=lambda _: figure and figure.needs == "cells")

        def at_threshold(preds: Predictions, _: float) -> float:
            # Without labels from the model, use the labels at the threshold.
            scores_only = Predictions(
                preds.y_true, preds.scores, sample_weight=preds.sample_weight, weights=preds.weights
            )
            return measure.function(scores_only, threshold)

        return Measure(text, at_threshold, measure.sign, measure.mean_of_rows, needs_scores=True)

    def _net_benefit(self, threshold: float | None) -> Measure:
        if threshold is None:
            if not isinstance(self.context, Context):
                hint = "write 'net_benefit at 0.3' or pass context="
                raise InputError("scorer", expected="a threshold or costs", got=repr(self.figure), hint=hint)
            threshold = self.context.probability_threshold
        statistic = net_benefit_at(threshold)

        def value(preds: Predictions, _: float) -> float:
            (scores,) = preds.scores.values()
            check.check_probabilities(scores, "y_score")
            return statistic(preds.counts())

        return Measure(self.figure, value, needs_scores=True)


def _threshold(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        hint = "for a share of cases, write 'gain@10%' or 'precision@10%'" if "%" in text else ""
        raise InputError("scorer", expected="a threshold such as 0.3 after 'at'", got=repr(text), hint=hint) from None


@contract
def scorer(figure: str, *, context: Context | CostMatrix | None = None, pos_label: Any = None) -> Scorer:
    """Return a scorer for scikit-learn's ``scoring=`` that computes any metric of rocscope.

    Parameters
    ----------
    figure : str
        Name of a metric, such as "auc" or "brier". A metric of decisions can have a threshold of the score:
        "net_benefit at 0.3" or "precision at 0.5". Without a threshold, it uses the labels that the model predicts. A
        text with conditions, such as "auc >= 0.8 and brier <= 0.2", gives 1 if all conditions are true and 0 otherwise.
    context : Context or CostMatrix, optional
        Costs for the metric "cost". For "net_benefit" without a threshold, the costs determine the threshold.
    pos_label : label, optional
        Label of the positive class. Required if the labels are not 0 and 1.

    Returns
    -------
    Scorer
        Function ``scorer(model, X, y, sample_weight=None)``. If small values of the metric are good, the function
        returns the value with reversed sign, as for losses in scikit-learn. The scorer can be cloned and pickled.

    Raises
    ------
    InputError
        If `figure` does not name a metric. If neither high nor low values of the metric are good.

    See Also
    --------
    evaluate

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 0, 1, 1]
    >>> cross_val_score(LogisticRegression(), X, y, cv=3, scoring=scorer("auc"))
    array([1., 1., 1.])
    >>> scorer("accuracy at 0.5")(LogisticRegression().fit(X, y), X, y).__round__(3)
    0.667
    """
    made = Scorer(check.check_text("figure", figure), context=context, pos_label=pos_label)
    try:
        made.measure(several_classes=False)
    except InputError as error:
        try:
            made.measure(several_classes=True)  # such as "macro_precision", which is undefined for two classes
        except InputError:
            raise error from None
    return made
