"""Metrics of several classes by name, with confidence intervals, and conditions on these metrics.

`multiclass_figure`, `multiclass_conditions` and `rocscope.evaluation` accept the same names of metrics:

- Statistics of the confusion matrix, such as "accuracy" or "quadratic_kappa".
- Macro, micro or weighted averages of a metric over classes, such as "macro_recall" (or "recall_macro", as in
  scikit-learn).
- Averages of pairwise AUCs: the names in `MulticlassAuc`, or "micro" for the micro-average.
- "macro_average_precision", "micro_average_precision" and "weighted_average_precision".
- Mean scores of the probabilities: "brier", "log_loss" and "rps".
- "top_2_accuracy", "top_3_accuracy" and so on.
"""

import re
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.core import ThresholdCounts, require_kinds
from rocscope.errors import InputError, OneClassError
from rocscope.figures.conditions import Condition
from rocscope.figures.influence import SHARE, Linear, average_precision
from rocscope.figures.registry import known
from rocscope.inference.estimate import Estimate
from rocscope.inference.influence_estimates import Values, estimate_of, estimate_value
from rocscope.inference.variance import RowLevels
from rocscope.multiclass import areas, calibration, confusion
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of

# Other names of average AUCs, mostly from scikit-learn. AUNU and AUNP average the AUC of each class against all others,
# with equal weights or with the class shares as weights (Ferri et al. 2009).
NAMES_OF_AVERAGED_AUC = {
    "roc_auc": "auc",
    "roc_auc_ovr": "aunu",
    "roc_auc_ovr_weighted": "aunp",
    "roc_auc_ovo": "hand_till",
    "roc_auc_ovo_weighted": "ovo_weighted",
    "micro_auc": "micro",
}
_SCORES = ("brier", "log_loss", "rps")
_TOP = re.compile(r"top_?(\d+)(?:_accuracy)?")


@dataclass(frozen=True)
class ClassFigure:
    """Metric of the predictions of one model.

    Attributes
    ----------
    name : str
        Name of the metric.
    kind : {"table", "area", "precision", "score", "top"}
        Kind of the metric: of the confusion matrix, an average AUC, average precision, a score of probabilities, or a
        top-k accuracy.
    of : str or int
        Name of the average AUC, averaging of average precision, or k of a top-k accuracy.
    sign : int
        1 if larger values are better, −1 if smaller values are better.
    """

    name: str
    kind: str
    of: Any = ""
    sign: int = 1

    @property
    def mean_of_rows(self) -> bool:
        """True if the metric is a mean of one value per row."""
        return self.kind == "score" or self.name in ("accuracy", "error")

    def value(self, preds: MulticlassPredictions, model: str | None = None) -> float:
        """Compute the metric for a model."""
        if self.kind == "table":
            return float(confusion.statistic(preds.confusion(model).counts, self.name))
        if self.kind == "area":
            return areas.multiclass_auc(preds, model=model).average(self.of).value
        return self.interval(preds, model).value

    def interval(self, preds: MulticlassPredictions, model: str | None = None, level: float = 0.95) -> Estimate:
        """Estimate the metric for a model, with its confidence interval."""
        if self.kind == "table":
            return preds.confusion(model).interval(self.name, level=level)
        if self.kind == "area":
            return areas.multiclass_auc(preds, model=model).interval(self.of, level=level)
        if self.kind == "score":
            return calibration.multiclass_score(preds, rule=self.name, model=model, level=level)  # type: ignore[arg-type]
        if self.kind == "top":
            # "The class is among the top k" is a binary outcome; its share has the interval of an accuracy.
            missed = 1 - preds.in_top(self.of, model)
            table = confusion.ConfusionMatrix.from_index(np.zeros_like(missed), missed, (True, False), preds.design())
            return table.interval("accuracy", level=level)
        if self.of == "micro":
            return estimate_of(preds.pooled(), average_precision(), model=model, level=level)
        return _mean_average_precision(preds, model, self.of, level)


def class_figure(name: Any, subject: str = "figure", hint: str = "") -> ClassFigure:
    """Find a metric by its name, in upper or lower case; raise InputError for an unknown name.

    Examples
    --------
    >>> [class_figure(name).name for name in ("Recall_Macro", "roc_auc_ovr", "top-3", "neg_log_loss", "accuracy")]
    ['macro_recall', 'aunu', 'top_3_accuracy', 'log_loss', 'accuracy']
    """
    folded = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    folded = NAMES_OF_AVERAGED_AUC.get(folded, folded)
    if top := _TOP.fullmatch(folded):
        return ClassFigure(f"top_{top[1]}_accuracy", "top", int(top[1]))
    if folded in ("auc", "micro", *areas.VARIANTS):
        return ClassFigure(folded, "area", "hand_till" if folded == "auc" else folded)
    figure = known(folded)
    plain = figure.name if figure is not None else folded
    if plain in _SCORES:
        return ClassFigure(plain, "score", sign=-1)
    if plain in confusion.STATISTICS:
        return ClassFigure(plain, "table", sign=-1 if plain == "error" else 1)
    average, metric = confusion.averaged_metric(plain)
    of_class = known(metric)
    if metric == "average_precision":
        return ClassFigure(f"{average or 'macro'}_average_precision", "precision", average or "macro")
    if average and of_class:
        return ClassFigure(f"{average}_{metric}", "table", sign=of_class.sign)
    averages = [f"{average}_{metric}" for average in confusion.AVERAGINGS for metric in ("precision", "recall", "f1")]
    names = ["auc", *areas.VARIANTS, "micro", *_SCORES, "average_precision", "top_2_accuracy"]
    expected = check.one_of(str(name), [*names, *confusion.STATISTICS, *averages])
    raise InputError(subject, expected=expected, got=repr(name), hint=hint)


def _mean_average_precision(preds: MulticlassPredictions, model: str | None, averaging: str, level: float) -> Estimate:
    """Return the mean over classes of the average precision of each class against all others.

    The influence of a row on the mean is the weighted sum of its influences on the average precisions of all classes.
    If classes are weighted by their shares, the weights depend on the rows too. Therefore, the average precision of the
    row's class minus the mean is added to its influence.
    """
    design = preds.design()
    y, proba = preds.y_true[design.rows], preds.probabilities(model)[design.rows]
    present = np.flatnonzero(preds.support)
    if present.size < 2:
        raise OneClassError("average precision", expected="cases of two or more classes", got="only one class")
    weight = np.ones(len(preds.classes)) if averaging == "macro" else preds.support
    weight = weight / weight[present].sum()
    of_class, influence, bias = np.zeros(weight.size), np.zeros(y.size), 0.0
    for cls in present:
        levels = RowLevels.of(y == cls, proba[:, cls])
        linear = average_precision().linearise(ThresholdCounts(levels.threshold, *levels.counts(design.amount)))
        of_class[cls] = linear.value
        influence += weight[cls] * levels.to_rows(linear.of_pos, linear.of_neg)
        bias += weight[cls] * linear.bias / design.effective
    value = float(weight[present] @ of_class[present])
    if averaging == "weighted":
        influence += of_class[y] - value
    stratum = design.stratum((design.share * (influence - design.share @ influence))[:, np.newaxis])
    grouped, note = design.group is not None, design.named("").strip(", ")
    # `estimate_value` divides a bias by the number of units.
    linear = Linear(value, np.empty(0), np.empty(0), bias=bias * (design.n if grouped else stratum.effective_units))
    facts = {"linear": (linear,), "shortage": design.reason, "grouped": grouped}
    return estimate_value(Values(("score",), np.array([value]), stratum, design.n, note, **facts), 0, level, SHARE)


@contract
def multiclass_figure(
    y_true: Any, proba: Any = None, measure: str = "accuracy", *, model: str | None = None, level: float = 0.95
) -> Estimate:
    """Estimate a metric of several classes by its name, with a confidence interval.

    Parameters
    ----------
    y_true : MulticlassPredictions, or array of n labels
        True classes, or labels and predictions together.
    proba : n × k array or data frame
        Predicted probabilities of the classes; omit if `y_true` is a MulticlassPredictions.
    measure : str
        Name of the metric:

        - a statistic of the confusion matrix: "accuracy", "balanced_accuracy", "kappa", "quadratic_kappa", "mcc";
        - a macro, micro or weighted average of a metric: "macro_f1", "weighted_precision", "micro_average_precision";
        - an average AUC: "hand_till", "aunu", "aunp", "au1p", "ovo_weighted", "micro";
        - a mean score of the probabilities: "brier", "log_loss", "rps";
        - a top-k accuracy: "top_2_accuracy", "top_3_accuracy".
    model : str, optional
        Name of the model. By default, the only model of the predictions.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        The metric with its confidence interval. The interval accounts for weights, groups and repeats of the rows.

    Raises
    ------
    InputError
        If the name is unknown.

    See Also
    --------
    multiclass_conditions, multiclass_auc, ConfusionMatrix

    Notes
    -----
    "macro_average_precision" and "weighted_average_precision" are means over classes of the average precision of each
    class against all others. Micro-averages of the AUC and of average precision are computed from all n·k pairs of a
    row and a class. The k pairs of a row are treated as dependent.

    Examples
    --------
    >>> labels, proba = [0, 1, 2], [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.5, 0.3, 0.2]]
    >>> multiclass_figure(labels, proba, "top_2_accuracy").value, multiclass_figure(labels, proba, "macro_recall").value
    (0.6666666666666666, 0.3333333333333333)
    """
    preds = predictions_of(y_true, proba, name="y_true")
    require_kinds("a metric of several classes", preds)
    return class_figure(measure, "measure").interval(preds, model, check.check_level(level))


class JudgedCondition(NamedTuple):
    """Result of a condition: the condition, the estimate of its metric, and whether the condition holds."""

    condition: Condition
    estimate: Estimate
    holds: bool


@contract
def multiclass_conditions(
    predictions: MulticlassPredictions, conditions: str, *, model: str | None = None
) -> list[JudgedCondition]:
    """Check conditions on metrics of several classes, such as the conditions of a release gate.

    Parameters
    ----------
    predictions : MulticlassPredictions
        Labels and predictions of the rows.
    conditions : str
        Conditions such as ``"macro_f1 >= 0.8 at 95% and brier < 0.3"``, with any metric of `multiclass_figure`. Without
        a confidence level, the estimate must satisfy the bound. With a level ("at 95%"), both limits of the confidence
        interval must satisfy the bound.
    model : str, optional
        Name of the model for conditions that do not name a model. The condition ``"accuracy(b) > 0.9"`` names model b.

    Returns
    -------
    list of JudgedCondition
        One entry per condition, with the attributes ``condition``, ``estimate`` and ``holds``. A condition does not
        hold if its metric is undefined.

    Raises
    ------
    InputError
        If a metric is unknown, or a condition compares two models (see `compare_multiclass_auc`).

    See Also
    --------
    multiclass_figure

    Examples
    --------
    >>> preds = MulticlassPredictions(list("abca") * 9, [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]] * 12)
    >>> [gate.holds for gate in multiclass_conditions(preds, "accuracy > .3, kappa >= .5 at 95%")]
    [True, False]
    """
    preds = predictions_of(predictions)
    judged = []
    for condition in Condition.read(conditions, "conditions", "macro_f1 >= 0.8 at 95%"):
        if condition.minus is not None:
            hint = "to compare models use compare_multiclass_auc or compare_multiclass_costs"
            raise InputError("conditions", expected="a metric of one model", got=f"{condition}", hint=hint)
        estimate = multiclass_figure(
            preds, measure=condition.quantity, model=condition.model or model, level=condition.level or 0.95
        )
        holds = not isnan(estimate.value) and condition.beyond_doubt(estimate)
        judged.append(JudgedCondition(condition, estimate, holds))
    return judged
