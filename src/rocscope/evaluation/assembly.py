"""Assemble the scores of splits into predictions."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.predictions import Predictions
from rocscope.evaluation.fitting import Scored
from rocscope.evaluation.task import Task
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.protocols.splits import Split

Judged = Predictions | MulticlassPredictions


def assembled(
    task: Task,
    splits: Sequence[Split],
    scored: Sequence[Scored],
    models: Sequence[str],
    segment: Array | None = None,
    groups: Array | None = None,
    source: Any = None,
) -> Judged:
    """Return the predictions of all splits, sorted by repeat and row, with index columns."""
    sizes = [split.test.size for split in splits]
    row = np.concatenate([split.test for split in splits])
    repeat = np.repeat([split.repeat for split in splits], sizes)
    order = np.lexsort((row, repeat))
    row = row[order]
    parts = [split.names for split in splits if split.names is not None]
    if segment is not None:
        segment = segment[row]
    elif parts:
        segment = np.concatenate(parts)[order]
    columns = {
        "sample_weight": None if task.weight is None else task.weight[row],
        "fold": np.repeat([split.fold for split in splits], sizes)[order],
        "repeat": repeat[order],
        "row": row,
        "segment": segment,
        "groups": None if groups is None else groups[row],
        "source": source,
    }
    scores = {name: np.concatenate([each.scores for each in scored if each.model == name])[order] for name in models}
    own = {name: [each.decisions for each in scored if each.model == name] for name in models}
    decisions = {name: np.concatenate(labels)[order] for name, labels in own.items() if _all_decide(labels)}
    return predictions_of(task, task.labels[row], scores, decisions, columns)


def _all_decide(labels: Sequence[Array | None]) -> TypeGuard[Sequence[Array]]:
    return all(each is not None for each in labels)


def predictions_of(
    task: Task, labels: Array, scores: Mapping[str, Array], decisions: Mapping[str, Array], columns: Mapping[str, Any]
) -> Judged:
    """Return predictions of two or more classes."""
    if task.positive is not None:
        positive = task.classes[task.positive]
        own = {name: np.asarray(given == positive) for name, given in decisions.items()}
        return Predictions(np.asarray(labels == positive), scores, decisions=own, **columns)
    crisp = {name: values for name, values in scores.items() if values.ndim == 1}
    soft = {name: values for name, values in scores.items() if values.ndim == 2}
    own = {**crisp, **decisions}
    return MulticlassPredictions(labels, soft, decisions=own, classes=cast(Any, task.classes), **columns)


def judged(scored: Scored, task: Task) -> Judged:
    """Return the predictions of one model in one split."""
    rows = scored.split.test
    weight = None if task.weight is None else task.weight[rows]
    return of_one(task, task.labels[rows], scored, weight)


def of_one(task: Task, labels: Array, scored: Scored, weight: Array | None) -> Judged:
    """Return the predictions of one model."""
    decisions = {} if scored.decisions is None else {scored.model: scored.decisions}
    return predictions_of(task, labels, {scored.model: scored.scores}, decisions, {"sample_weight": weight})
