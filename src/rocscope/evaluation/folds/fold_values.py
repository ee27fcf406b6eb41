"""Values of models on one fold (mean loss, area, or any smooth figure), and their variance over its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import sum_by
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError
from rocscope.evaluation.assembly import Judged, judged
from rocscope.evaluation.fitting import Scored
from rocscope.evaluation.measures import Metric, measure_of
from rocscope.evaluation.task import Task
from rocscope.figures.influence import Smooth
from rocscope.figures.registry import known
from rocscope.figures.thresholds import at
from rocscope.inference.areas.placements import placements
from rocscope.inference.influence.estimating import values_of_rows
from rocscope.multiclass.cost_matrix import CostMatrix
from rocscope.multiclass.predictions import MulticlassPredictions

_SHARES = ("auc", "accuracy", "error")
_MEANS = ("accuracy", "error", "brier", "log_loss")
_MOST_PAIRS = 2**20  # beyond which pairs add less than a thousandth to the variance of an area


@dataclass(frozen=True)
class FoldFigure:
    """A metric whose value in a fold is a mean over rows (within classes, given a class mix), an area, or smooth.

    Attributes
    ----------
    name : str
    metric : str, Context or CostMatrix
    task : Task
    group : array of n numbers, or None
    shares : pair of float, or None
        What the means of negatives and positives weigh, where each is taken by itself; 1 and 1 where both are needed.
    smooth : Smooth, optional
        A figure of two classes other than a mean over rows or the AUC. It is computed from the scores, or from the
        decisions as 0 and 1 at a threshold of .5.
    of_decisions : bool
        Whether the smooth figure is one of the four counts.
    """

    name: str
    metric: Any
    task: Task
    group: NDArray[np.intp] | None
    shares: tuple[float, float] | None = None
    smooth: Smooth | None = None
    of_decisions: bool = False

    @classmethod
    def of(cls, metric: Metric, task: Task, group: NDArray[np.intp] | None) -> "FoldFigure":
        """Check the metric.

        Raises
        ------
        InputError
            If its variance within a fold is not known.
        """
        two = task.positive is not None
        smooth = metric if isinstance(metric, Smooth) and two else None
        name = metric.name if isinstance(metric, Smooth) else measure_of(metric, several_classes=not two).name
        metric = name if isinstance(metric, str) else metric
        area, of_decisions = metric == "auc" and two, False
        plain = area or metric in _MEANS
        if two and not plain and isinstance(metric, str) and (figure := known(metric)):
            of_decisions = figure.needs == "cells"
            smooth = at(0.5, figure.name) if of_decisions else figure.smooth() if figure.smooth else None
        if not (area or smooth or metric in _MEANS or isinstance(metric, Context | CostMatrix)):
            listed = [*(["auc", "average precision", "f1"] if two else []), *_MEANS]
            hint = "an interval needs the variance within a fold: of a mean over rows, or, of two classes, of a figure "
            hint += "that has an influence function"
            raise InputError("metric", expected=f"{check.listing(listed)}, or costs", got=repr(metric), hint=hint)
        prior = metric.target_prevalence if isinstance(metric, Context) else None
        shares = (1.0, 1.0) if area or smooth else None if prior is None else (1 - prior, prior)
        return cls(name, metric, task, group, shares, smooth, of_decisions)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value that there can be."""
        if self.smooth is not None:
            return self.smooth.scale.low, self.smooth.scale.high
        return (0.0, 1.0) if self.metric in _SHARES else (-inf, inf)

    def require(self, rows: NDArray[np.intp], fold: int) -> None:
        """Raise unless a fold has two rows of a kind, or two groups, for a variance."""
        counted = rows if self.task.weight is None else rows[self.task.weight[rows] > 0]
        positive = self._positive(counted)
        kinds = [counted] if self.shares is None else [counted[positive], counted[~positive]]
        if min(map(len, kinds)) < 2 or (self.group is not None and np.unique(self.group[counted]).size < 2):
            expected = "two rows or more" + " of each class" * (self.shares is not None)
            expected += ", and two groups," * (self.group is not None) + " in each fold"
            raise InputError("cv", expected=expected, got=f"too few in fold {fold}", hint="take fewer folds")

    def seen(self, scored: Scored) -> Array:
        """Return the score, decision or loss of each evaluated row."""
        if self.metric == "auc" or (self.smooth is not None and not self.of_decisions):
            return scored.scores
        preds = judged(scored, self.task)
        if self.of_decisions:
            return _positive_decisions(cast(Predictions, preds), scored) * 1.0
        return _losses(preds, self.metric, scored)

    def value(self, rows: NDArray[np.intp], seen: Array) -> float:
        """Return one model's value in a fold, given its rows and their scores; NaN if a class is missing."""
        if self.smooth is not None:
            found = self.smooth.linearise(self._predictions(rows, [seen]).counts())
            return found.value - found.bias / rows.size  # which averages over folds do not take away
        if self.metric != "auc":
            return float(self._share(rows) @ seen)
        positive, weight = self._positive(rows), self._weight(rows)
        amount = np.ones(rows.size, np.int64) if weight is None else weight
        pairs = amount[positive].sum() * amount[~positive].sum()
        twice = placements(positive, seen, weight)[positive]
        return float(twice @ amount[positive] / (2 * pairs)) if pairs else nan

    def covariance(self, rows: NDArray[np.intp], seen: Sequence[Array]) -> Array:
        """Return the covariance of all models' values over the rows of a fold; NaN for a single row."""
        if self.smooth is not None:
            preds = self._predictions(rows, seen)
            return values_of_rows(preds, self.smooth, groups=None, folds=None, weights="sampling").covariance
        positive, weight, share = self._positive(rows), self._weight(rows), self._share(rows)
        amount = np.stack(seen, axis=1).astype(np.float64)
        if self.metric == "auc":
            pairs = int(positive.sum()) * int((~positive).sum())
            if weight is None and self.group is None and pairs <= _MOST_PAIRS:
                return unbiased_covariance(positive, seen)
            amount = np.stack([_placed(positive, column, weight) for column in amount.T], axis=1)
        moves, total = np.empty_like(amount), np.zeros((len(seen), len(seen)))
        for stratum in [np.ones(rows.size, bool)] if self.shares is None else [positive, ~positive]:
            own, count = share[stratum], int(stratum.sum())
            with np.errstate(divide="ignore", invalid="ignore"):  # where one row is all the weight
                part = (amount[stratum] - own @ amount[stratum] / own.sum()) * own[:, None]
                if weight is not None:
                    part *= ((1 - 1 / count) / (1 - own / own.sum()))[:, None]
                total += count / np.float64(count - 1) * part.T @ part
            moves[stratum] = part
        if self.group is None:
            return total
        code = np.unique(self.group[rows], return_inverse=True)[1]
        of_group = sum_by(code, moves, int(code.max()) + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return len(of_group) / np.float64(len(of_group) - 1) * of_group.T @ of_group

    def _predictions(self, rows: NDArray[np.intp], seen: Sequence[Array]) -> Predictions:
        """Return the rows of a fold with what each model gives them."""
        group = None if self.group is None else self.group[rows]
        scores = {str(number): score for number, score in enumerate(seen)}
        return Predictions(self._positive(rows), scores, sample_weight=self._weight(rows), groups=group)

    def _positive(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        place = self.task.positive
        if place is None:
            return np.zeros(rows.size, bool)
        return np.asarray(self.task.labels[rows] == self.task.classes[place])

    def _weight(self, rows: NDArray[np.intp]) -> Array | None:
        return None if self.task.weight is None else self.task.weight[rows]

    def _share(self, rows: NDArray[np.intp]) -> Array:
        """Return the weight of each row in the value, or in that of its class."""
        weight = np.ones(rows.size) if self.task.weight is None else self.task.weight[rows].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.shares is None:
                return weight / weight.sum()
            positive = self._positive(rows)
            negatives, positives = self.shares
            if not 0 < positive.sum() < rows.size:
                return np.full(rows.size, np.nan)
            of_class = np.where(positive, positives / weight[positive].sum(), negatives / weight[~positive].sum())
            return weight * of_class


def _losses(preds: Judged, metric: Any, scored: Scored) -> Array:
    """Return each row's contribution to a metric that is a mean over rows."""
    if isinstance(preds, MulticlassPredictions):
        return _of_classes(preds, metric)
    (score,) = preds.scores.values()
    if metric in ("brier", "log_loss"):
        preds.counts().require_probabilities(f"scores of {scored.model!r}")
        chance = np.where(preds.y_true, score, 1.0 - score)
        with np.errstate(divide="ignore"):
            return (1 - chance) ** 2 if metric == "brier" else -np.log(chance)
    positive = _positive_decisions(preds, scored)
    if isinstance(metric, Context):
        cost = {cell: float(each) for cell, each in metric.costs.items()}
        of_positive, of_negative = (np.where(positive, cost[a], cost[b]) for a, b in (("tp", "fn"), ("fp", "tn")))
        return np.where(preds.y_true, of_positive, of_negative)
    return np.asarray((positive == preds.y_true) == (metric == "accuracy"), np.float64)


def _positive_decisions(preds: Predictions, scored: Scored) -> Array:
    """Return which rows a model calls positive: by its own decisions, or at its usual threshold."""
    cut = 0.0 if scored.response == "decision_function" else 0.5
    (score,) = preds.scores.values()
    return np.asarray(next(iter(preds.decisions.values()), score >= cut))


def _of_classes(preds: MulticlassPredictions, metric: Any) -> Array:
    if metric in ("brier", "log_loss"):
        chance = preds.probabilities()
        own = np.take_along_axis(chance, preds.y_true[:, None], axis=1)[:, 0]
        with np.errstate(divide="ignore"):
            return np.einsum("ij,ij->i", chance, chance) - 2 * own + 1 if metric == "brier" else -np.log(own)
    said = preds.predicted()
    if isinstance(metric, CostMatrix):
        metric.require_classes(preds.classes)
        return metric.of_rows(preds.y_true, said)
    return np.asarray((said == preds.y_true) == (metric == "accuracy"), np.float64)


def _placed(positive: NDArray[np.bool_], score: Array, weight: Array | None) -> Array:
    """Return the share of the other class that each row is ranked correctly against; NaN if there is none."""
    amount = np.ones(score.size) if weight is None else weight
    n_pos, n_neg = amount[positive].sum(), amount[~positive].sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return placements(positive, score, weight) / np.where(positive, 2.0 * n_neg, 2.0 * n_pos)


def unbiased_covariance(positive: NDArray[np.bool_], scores: Sequence[Array]) -> Array:
    """Return the unbiased covariance of areas, from all pairs of a positive and a negative.

    DeLong's counts how single pairs vary twice, which in a fold of six positives and six negatives is 8 % too much.
    """
    classes = [(score[positive][:, None], score[~positive]) for score in scores]
    right = np.stack([(high > low) + 0.5 * (high == low) for high, low in classes])
    m, p, n = right.shape
    if min(p, n) < 2:
        return np.full((m, m), np.nan)
    area, of_pos, of_neg, of_pair = right.mean(axis=(1, 2)), right.sum(axis=2), right.sum(axis=1), right.reshape(m, -1)
    total = of_pair.sum(axis=1)
    apart = np.outer(total, total) - of_pos @ of_pos.T - of_neg @ of_neg.T + of_pair @ of_pair.T
    return np.outer(area, area) - apart / (p * (p - 1.0) * n * (n - 1.0))
