"""evaluate: predictions for rows that the models have not seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rocscope import _validation as check
from rocscope._progress import Progress
from rocscope._types import Array
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, LabelError
from rocscope.evaluation.cv import splits_of
from rocscope.evaluation.data import attributes
from rocscope.evaluation.fitting import RESPONSES, Response, Scored, Task, fit_and_score, named_models
from rocscope.evaluation.record import Evaluation
from rocscope.evaluation.running import in_parallel, unweighted, without_failures
from rocscope.evaluation.splits import Sample, Split
from rocscope.multiclass.classes import class_index, label_column
from rocscope.multiclass.predictions import MulticlassPredictions


def evaluate(
    models: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    repeats: int = 1,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    segment: Any = None,
    response: Response = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> Predictions | MulticlassPredictions:
    """Predictions of models for rows that they were not fitted to, all models on the same folds.

    Parameters
    ----------
    models : estimator, list of them, or mapping from name to estimator
        With scikit-learn's interface; also pipelines and searches, all steps of which are fitted to the training rows
        only. They are copied, not changed.
    X : array, sparse matrix or data frame of n rows
        Reaches the models as it is.
    y : array of n labels
    cv : int, str, protocol, splitter, or pairs of row numbers
        So many stratified folds; "holdout", "three_parts", "leave_one_out", "time_order" or "out_of_bag"; one of
        `evaluation.protocols`, which have options; any splitter of scikit-learn; or (training, test) rows of each fold.
    repeats : int
        How often the protocol is drawn anew: 10 times 10 folds, or 100 shuffled holdouts.
    groups : array of n labels, optional
        Rows of one group, such as a patient, are never in training and test at once.
    sample_weight : array of n weights, optional
        Passed to `fit` of each model that takes weights, and kept in the predictions.
    pos_label : label, optional
        The positive one of two; see `Predictions`.
    segment : array of n labels, optional
        Kept in the predictions.
    response : {"auto", "predict_proba", "decision_function", "predict"}
        What the scores are; "auto": probabilities, or else the decision function (for more than two classes the
        predicted labels). ``predictions.source.responses`` says which.
    n_jobs : int, optional
        Fits side by side, as joblib takes it; the result is the same.
    random_state : int, Generator, RandomState or None
        Of the folds, and of each model whose own is None. With None every call draws other folds.
    progress : bool, None or function
        None or True: a bar on stderr after a second, where that is a terminal; a function is called with the numbers
        of fits done and in all.

    Returns
    -------
    Predictions or MulticlassPredictions
        In the order of X within each repeat, with columns `row` (the place in X), `fold` (numbered on through all
        repeats) and `repeat`. Rows that no fold tests are not there. ``predictions.source`` is an `Evaluation`.

    Raises
    ------
    InputError
        If a class has fewer rows than folds, a fold is empty or shares rows or groups with its training rows.
    ModelError
        If every model fails; it names model, fold and repeat, and the model's own error is its cause.

    Warns
    -----
    RocscopeWarning
        If some models fail: they are left out, and ``predictions.source.failures`` says where and why. If a model takes
        no weights.

    Notes
    -----
    With repeats a row occurs more than once. Repeats steady an estimate, but they are no new data: intervals and tests
    of rocscope then count rows once (each is a group), or refuse. `by_repeat()` gives single repeats.

    Scores of different folds come from different fits. Pooling them takes their scales to be equal, as calibrated
    probabilities are; for a decision function take ``auc_interval(…, folds="mean")``.

    References
    ----------
    Kohavi 1995, IJCAI 14:1137–1145; Stone 1974, J. R. Stat. Soc. B 36:111–147.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = [[0], [1], [2], [3], [4], [5], [6], [7]]
    >>> y = [0, 0, 1, 0, 1, 0, 1, 1]
    >>> preds = evaluate({"bayes": GaussianNB(), "tree": DecisionTreeClassifier()}, X, y, cv=4)
    >>> preds
    Predictions(n=8, n_pos=4, n_neg=4, models=['bayes', 'tree'])
    >>> preds.source
    Evaluation(4-fold cross-validation, stratified, repeats=1, folds=4, failed=[])
    """
    check.check_choice("response", response, RESPONSES)
    named = named_models(models)
    task = task_of(X, y, pos_label, sample_weight, response, check.seed_of(random_state))
    n = task.labels.size
    sample = sample_of(task, groups)
    splits, title = splits_of(cv, sample, repeats, task.seed)
    segment = _segments(segment, splits, n)
    without = unweighted(named, task.weight is not None)
    calls = [(name, model, task, split) for split in splits for name, model in named.items()]
    results = in_parallel(fit_and_score, calls, n_jobs, progress, "evaluation")
    scored, failed, kept = without_failures(results, named)
    source = Evaluation(
        (title,),
        n,
        protocol=title,
        folds=len(splits),
        repeats=splits[-1].repeat + 1,
        responses={each.model: each.response for each in scored},
        failures=tuple(each.failure for each in failed),
        unweighted=without,
    )
    return _assembled(task, splits, scored, kept, segment, source)


def task_of(
    X: Any,
    y: Any,
    pos_label: Any,
    sample_weight: Any,
    response: Response,
    seed: int,
    known: Sequence[Any] = (),
) -> Task:
    """Return checked data: what all fits share. `known` are classes that y need not hold."""
    labels = label_column(y, "y")
    classes: tuple[Any, ...] = tuple(check.distinct(np.array([*labels.tolist(), *known], object)))
    if len(classes) == 1:
        raise LabelError("y", expected="two classes or more", got=f"only {labels.tolist()[0]!r}")
    if len(classes) > 2 and pos_label is not None:
        hint = "leave it out: predictions.binary(cls) is one class against the rest"
        raise LabelError("pos_label", expected="none for more than two classes", got=repr(pos_label), hint=hint)
    positive = None
    if len(classes) == 2:
        positive = int(np.argmax(check.check_labels(list(classes), pos_label, "y")))
    weight = check.check_weights(sample_weight, labels.size)
    return Task(attributes(X, labels.size), labels, classes, positive, weight, response, seed)


def sample_of(task: Task, groups: Any) -> Sample:
    """Return what protocols see of the data."""
    n = task.labels.size
    codes = None if groups is None else check.check_groups(groups, "groups", n)
    return Sample(task.X, class_index(task.labels, task.classes, "y"), task.classes, codes)


def _segments(segment: Any, splits: Sequence[Split], n: int) -> Array | None:
    named = splits[0].names is not None
    if segment is None:
        return None
    if named:
        raise InputError("segment", expected="none with three parts, which are the segments", got="one")
    return check.check_column(segment, "segment", n)


@dataclass(frozen=True)
class _Layout:
    """Where the entries of all splits, one after the other, belong: sorted by repeat and row."""

    row: Array
    repeat: Array
    fold: Array
    names: Array | None
    order: Array

    @classmethod
    def of(cls, splits: Sequence[Split]) -> "_Layout":
        sizes = [split.test.size for split in splits]
        row = np.concatenate([split.test for split in splits])
        repeat = np.repeat([split.repeat for split in splits], sizes)
        fold = np.repeat([split.fold for split in splits], sizes)
        parts = [split.names for split in splits if split.names is not None]
        return cls(row, repeat, fold, np.concatenate(parts) if parts else None, np.lexsort((row, repeat)))


def _assembled(
    task: Task,
    splits: Sequence[Split],
    scored: Sequence[Scored],
    models: Sequence[str],
    segment: Array | None,
    source: Evaluation,
) -> Predictions | MulticlassPredictions:
    layout = _Layout.of(splits)
    order = layout.order
    row = layout.row[order]
    columns = {
        "sample_weight": None if task.weight is None else task.weight[row],
        "fold": layout.fold[order],
        "repeat": layout.repeat[order],
        "row": row,
        "segment": segment[row] if segment is not None else None if layout.names is None else layout.names[order],
        "source": source,
    }
    scores = {name: np.concatenate([each.scores for each in scored if each.model == name])[order] for name in models}
    return predictions_of(task, task.labels[row], scores, columns)


def predictions_of(
    task: Task, labels: Array, scores: Mapping[str, Array], columns: Mapping[str, Any]
) -> Predictions | MulticlassPredictions:
    """Return the predictions of two classes, or of more."""
    if task.positive is not None:
        return Predictions(np.asarray(labels == task.classes[task.positive]), scores, **columns)
    crisp = {name: values for name, values in scores.items() if values.ndim == 1}
    soft = {name: values for name, values in scores.items() if values.ndim == 2}
    return MulticlassPredictions(labels, soft, labels=crisp, classes=cast(Any, task.classes), **columns)
