"""from_estimator: predictions of models that are fitted already."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rocscope.errors import ModelError
from rocscope.evaluation.assembly import Judged, predictions_of
from rocscope.evaluation.fitting import Scored, first_line, named_models
from rocscope.evaluation.record import Evaluation
from rocscope.evaluation.scoring import Response, own_labels, score
from rocscope.evaluation.task import Task, task_of
from rocscope.protocols.splits import Split


def from_estimator(
    models: Any,
    X: Any,
    y: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    fold: Any = None,
    segment: Any = None,
    groups: Any = None,
    response: Response = "auto",
) -> Judged:
    """Predictions of fitted models for rows that they have not seen.

    Parameters
    ----------
    models : fitted estimator, list of them, or mapping from name to estimator
    X, y, pos_label, response : see `evaluate`
    sample_weight, fold, segment, groups : array of n entries, optional
        Kept in the predictions.

    Returns
    -------
    Predictions or MulticlassPredictions
        In the order of X.

    Raises
    ------
    ModelError
        If a model is not fitted, fails, or gives no scores; the message names it.

    Notes
    -----
    On the rows that a model was fitted to it looks better than it is: use `evaluate` for those.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> preds = from_estimator(model, [[1.5], [2.4], [3.5]], ["no", "yes", "yes"], pos_label="yes")
    >>> preds, preds.source.responses
    (Predictions(n=3, n_pos=2, n_neg=1, models=['GaussianNB']), {'GaussianNB': 'predict_proba'})
    """
    named = named_models(models)
    task = task_of(X, y, pos_label, sample_weight, response, known=_known_classes(named))
    everything = np.arange(task.labels.size)
    split = Split(everything, everything)
    scored = [_scored(model, name, task, split) for name, model in named.items()]
    source = Evaluation(
        ("fitted models",),
        task.labels.size,
        protocol="fitted models",
        responses={each.model: each.response for each in scored},
    )
    columns = {"sample_weight": task.weight, "fold": fold, "segment": segment, "groups": groups, "source": source}
    scores = {each.model: each.scores for each in scored}
    decisions = {each.model: each.decisions for each in scored if each.decisions is not None}
    return predictions_of(task, task.labels, scores, decisions, columns)


def _known_classes(named: Mapping[str, Any]) -> list[Any]:
    """Return the classes that the models have seen: rows to be judged need not hold them all."""
    return [label for model in named.values() for label in getattr(model, "classes_", ())]


def _scored(model: Any, name: str, task: Task, split: Split) -> Scored:
    try:
        scores, response = score(model, name, task.X, task.classes, task.positive, task.response)
        return Scored(name, split, scores, response, own_labels(model, task.X, task.classes))
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"model {name!r}: {type(error).__name__}: {first_line(error)}") from error
