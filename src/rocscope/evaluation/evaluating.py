"""evaluate: predictions on rows that the models were not trained on.

from_estimator: predictions of models that are fitted already.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import answering, contract
from rocscope._base.progress import Progress
from rocscope.errors import InputError, ModelError
from rocscope.evaluation.assembly import Judged, assembled, predictions_of
from rocscope.evaluation.evaluation import Evaluation, scores_of
from rocscope.evaluation.fitting import Fitting, Scored, first_line, named_models, without_failures
from rocscope.evaluation.metadata_routing import unweighted
from rocscope.evaluation.scoring import Response, own_labels, score
from rocscope.evaluation.task import Task, response_for, task_of
from rocscope.protocols.splits import Split


@answering
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
    response: Response | Mapping[str, Response] = "auto",
    scoring: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> Judged:
    """Fit models on training folds and return their predictions for the held-out rows.

    Parameters
    ----------
    models : estimator, list of them or of (name, estimator) pairs, or mapping from name to estimator
        With scikit-learn's interface; also pipelines and searches, all steps of which are fitted to the training rows
        only. They are copied, not changed.
    X : array, sparse matrix or data frame of n rows
        Reaches the models as it is.
    y : array of n labels
    cv : int, float, str, protocol, splitter, or pairs of row numbers
        So many stratified folds; the share of a holdout; "holdout", "three_parts", "leave_one_out", "time_order" or
        "out_of_bag"; one of `rocscope.protocols`, which have options; any splitter of scikit-learn; or (training, test)
        rows of each fold.
    repeats : int
        How often the protocol is drawn anew: 10 times 10 folds, or 100 shuffled holdouts.
    groups : array of n labels, optional
        Rows of one group, such as a patient, are never in training and test at once; kept in the predictions, whose
        intervals and tests count groups. They reach the inner folds of searches whose `cv` is for groups, also as the
        last step of a pipeline, and of the estimators of rocscope; with metadata routing, whatever asks for them.
    sample_weight : array of n weights, optional
        Passed to `fit` of each model that takes weights, and kept in the predictions.
    pos_label : label, optional
        The positive one of two; see `Predictions`.
    segment : array of n labels, optional
        Kept in the predictions: ``predictions.counts(by="segment")`` has means, tests and drift over segments.
    response : {"auto", "predict_proba", "decision_function", "predict"}, or mapping from model name to one of them
        What the scores are; "auto": probabilities, or else the decision function (for more than two classes the
        predicted labels), or else 1 and 0 for the labels. ``predictions.source.responses`` states which.
    scoring : str, scorer, function, Context, CostMatrix, or list of them, or mapping from name to one of them, optional
        Judges each fitted model, as in `cross_validate`: names and scorers of scikit-learn, functions
        ``scorer(model, X, y)``, figures of rocscope, costs, and functions of Predictions. Named scorers take
        `pos_label` for the positive class. ``predictions.source.cv_results()`` returns the values.
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
        Scores, and as `decisions` the labels that each model predicts itself, by which crisp metrics and costs judge
        it. In the order of X within each repeat, with columns `row` (the place in X), `fold` (numbered on through all
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
        If some models fail: they are left out, and ``predictions.source.failures`` states where and why. If a model
        takes no weights, or has inner folds or early stopping that part groups. If a scorer fails: its value is NaN.

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
    >>> found = evaluate(GaussianNB(), X, y, cv=4, scoring=["roc_auc", "accuracy"]).source.cv_results()
    >>> found["mean_test_roc_auc"], found["split0_test_accuracy"]
    (array([0.75]), array([1.]))
    >>> preds.source
    Evaluation(4-fold cross-validation, stratified, repeats=1, folds=4, failed=[])
    """
    task = task_of(X, y, pos_label, sample_weight, response, check.seed_of(random_state))
    if scoring is not None:
        from rocscope.evaluation.scorers import scorers_of

        task = replace(task, scorers=scorers_of(scoring, task))
    experiment = Fitting.of(models, task, groups, n_jobs, progress)
    task = experiment.task
    splits, title = experiment.splits(cv, repeats)
    segment = _segments(segment, splits, task.labels.size)
    groups = None if groups is None else check.check_column(groups, "groups", task.labels.size)
    scored, failed, kept = without_failures(experiment.run(splits, "evaluation"), experiment.models)
    source = Evaluation(
        (title,),
        task.labels.size,
        protocol=title,
        folds=len(splits),
        repeats=splits[-1].repeat + 1,
        responses={each.model: each.response for each in scored},
        failures=tuple(each.failure for each in failed),
        unweighted=unweighted(task.arguments, task.weight),
        seconds={name: tuple(each.seconds for each in scored if each.model == name) for name in kept},
        scores=scores_of(scored, task.scorers, kept),
        losses=tuple(name for name, scorer in task.scorers.items() if scorer.sign < 0),
    )
    return assembled(task, splits, scored, kept, segment, groups, source)


def _segments(segment: Any, splits: Sequence[Split], n: int) -> Array | None:
    if segment is None:
        return None
    if splits[0].names is not None:
        raise InputError("segment", expected="none with three parts, which are the segments", got="one")
    return check.check_column(segment, "segment", n)


@contract
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
    """Return predictions of fitted models for rows that they were not trained on.

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
    """Return the classes known to the models, which evaluated rows need not all contain."""
    return [label for model in named.values() for label in getattr(model, "classes_", ())]


def _scored(model: Any, name: str, task: Task, split: Split) -> Scored:
    try:
        scores, response = score(model, name, task.X, task.classes, task.positive, response_for(task, name))
        return Scored(name, split, scores, response, own_labels(model, task.X, task.classes))
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"model {name!r}: {type(error).__name__}: {first_line(error)}") from error
