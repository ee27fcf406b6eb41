"""Evaluate models and thresholds on data that were not used to fit or choose them.

- `evaluate` fits models on training folds and returns their predictions for the held-out rows.
- `from_estimator` returns the predictions of fitted models.
- `optimism` estimates the bias that arises if a threshold is chosen and evaluated on the same data. It repeats the
  choice in cross-validation and in bootstrap replicates; the code is in `rocscope.decisions.generalization`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core import Context, Predictions, Result, Weights, html_table
from rocscope.core.predictions import Rows, with_groups
from rocscope.curves.curve import Curve
from rocscope.decisions import Decision, UncertainContext, choose, generalization
from rocscope.decisions.constraints import Function
from rocscope.errors import InputError, ModelError, warn
from rocscope.evaluation import fitting
from rocscope.inference.estimate import Estimate
from rocscope.inference.resampling import BootstrapEstimate
from rocscope.sample import rows_of


@contract
def evaluate(
    models: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    repeats: int = 1,
    groups: Any = None,
    sample_weight: Any = None,
    weights: Weights = "auto",
    pos_label: Any = None,
    segment: Any = None,
    response: fitting.Response | Mapping[str, fitting.Response] = "auto",
    scoring: Any = None,
    return_estimator: bool = False,
    return_train_score: bool = False,
    error_score: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> fitting.AnyPredictions:
    """Fit models on training folds and return their predictions for the held-out rows.

    Parameters
    ----------
    models : estimator, list of them or of (name, estimator) pairs, or mapping from name to estimator
        Models with scikit-learn's interface, including pipelines and searches. Every step of a pipeline is fitted to
        the training rows only. The models are cloned, so the arguments are not changed.
    X : array, sparse matrix or data frame of n rows
        Features. The models receive X without conversion.
    y : array of n labels
        True class of each row.
    cv : int, float, str, protocol, splitter, or pairs of row numbers
        Cross-validation protocol. An int is a number of stratified folds. A float is the share of test rows in a
        holdout. A string is "holdout", "three_parts", "leave_one_out", "time_order" or "out_of_bag";
        `rocscope.protocols` has the same protocols with options. A splitter of scikit-learn, and a list of pairs
        (training rows, test rows), are also accepted.
    repeats : int
        Number of repetitions of the protocol. For example, ``cv=10, repeats=10`` is ten times ten-fold
        cross-validation.
    groups : array of n labels, optional
        Group of each row, such as the patient. In every split, all rows of a group are either training or test rows.
        The predictions contain the groups, and intervals and tests then treat a group as one unit. The inner folds of
        a search also keep groups together if the `cv` of the search is a splitter for groups, and so do the estimators
        of rocscope. With scikit-learn's metadata routing, every step that requests groups receives them.
    sample_weight : array of n weights, optional
        Weight of each row. `evaluate` passes the weights to the `fit` of each model that takes weights. The predictions
        contain the weights.
    weights : {"auto", "frequency", "sampling"}
        Meaning of a weight; see `Predictions`.
    pos_label : label, optional
        Label of the positive class; see `Predictions`.
    segment : array of n labels, optional
        Segment of each row. The predictions contain the segments. Use ``predictions.counts(by="segment")`` to compare
        them.
    response : {"auto", "predict_proba", "decision_function", "predict"}, or mapping from model name to one of them
        Method of the model that returns the scores. "auto" is `predict_proba` if the model has this method, and
        otherwise `decision_function` for two classes. A model with neither method gets the score 1 for a predicted
        positive and 0 for a predicted negative. ``predictions.source.responses`` has the method used for each model.
    scoring : str, scorer, function, Context, CostMatrix, or list of them, or mapping from name to one of them, optional
        Scorers to apply to each fitted model, as in scikit-learn's `cross_validate`. A scorer can be a name or scorer
        of scikit-learn, a function ``scorer(model, X, y)``, a metric of rocscope, costs, or a function of Predictions.
        The positive class is `pos_label`. ``predictions.source.cv_results()`` returns the values.
    return_estimator : bool
        If True, keep the fitted models in ``predictions.source.estimators``.
    return_train_score : bool
        If True, also apply the scorers of `scoring` to the training rows.
    error_score : None, "raise" or nan
        Treatment of a model that fails in a fold. None omits the model from the result. "raise" raises the error of the
        model. NaN keeps the model: its scorers are NaN in this fold, and the rows of this fold are omitted for all
        models.
    n_jobs : int, optional
        Number of parallel fits, as in joblib. The result does not depend on it.
    random_state : int, Generator, RandomState or None
        Seed of the folds, and of each model without its own `random_state`. With None, every call draws different
        folds.
    progress : bool, None or function
        None or True shows a progress bar if stderr is a terminal and the fits take more than one second. False shows no
        progress bar. A function is called with the number of finished fits and the total number of fits.

    Returns
    -------
    Predictions or MulticlassPredictions
        Scores of the held-out rows. `decisions` has the labels that each model predicts; metrics of decisions and costs
        use these labels. Rows are in the order of X within each repeat. The column `row` is the position in X, `fold`
        is the number of the fold over all repeats, and `repeat` is the number of the repeat. Rows that are in no test
        fold are omitted. ``predictions.source`` is an `Evaluation`, which records the protocol and failures.

    Raises
    ------
    InputError
        If a class has fewer rows than there are folds, a test fold is empty, or a test fold shares rows or groups with
        its training rows.
    ModelError
        If every model fails. The message names the model, fold and repeat. The cause of the exception is the error of
        the model.

    Warns
    -----
    RocscopeWarning
        If some models fail. The predictions omit these models, and ``predictions.source.failures`` lists their errors.
        Also if a model does not take weights, if the inner folds or the early stopping of a model split groups, or if a
        scorer fails (its value is NaN).

    See Also
    --------
    from_estimator, average_curve, nested_cross_validation, learning_curve

    Notes
    -----
    With repeats, the predictions contain each row more than once. Repeats make an estimate more stable, but they are
    not new data. Intervals and tests of rocscope therefore treat all predictions of a row as one group, or raise an
    error. The method `by_repeat` returns the predictions of each repeat.

    The scores of different folds come from different fitted models. Pooling the folds assumes that all scores have the
    same scale. Calibrated probabilities have the same scale. For decision functions, use
    ``auc_interval(…, folds="mean")``.

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
    >>> results = evaluate(GaussianNB(), X, y, cv=4, scoring=["roc_auc", "accuracy"]).source.cv_results()
    >>> results["mean_test_roc_auc"], results["split0_test_accuracy"]
    (array([0.75]), array([1.]))
    >>> preds.source
    Evaluation(4-fold cross-validation, stratified, repeats=1, folds=4, failed=[])
    """
    seed = check.seed_of(random_state)
    task = fitting.task_of(X, y, pos_label, sample_weight, response, seed)
    if scoring is not None:
        from rocscope.evaluation.measures import scorers_of  # which imports scikit-learn

        task = replace(task, scorers=scorers_of(scoring, task))
    if not (error_score is None or error_score == "raise" or (isinstance(error_score, float) and isnan(error_score))):
        raise InputError("error_score", expected="None, 'raise' or nan", got=check.shown(error_score))
    if return_train_score and scoring is None:
        raise InputError("scoring", expected="a metric if return_train_score=True", got="None", hint="pass scoring=")
    task = replace(task, with_estimators=return_estimator, with_training=return_train_score)
    experiment = fitting.Fitting.of(models, task, groups, n_jobs, progress)
    task = experiment.task
    n = task.labels.size
    splits, title = experiment.splits(cv, repeats)
    if segment is not None:
        if splits[0].names is not None:
            hint = "omit segment, because the three parts are the segments of the predictions"
            raise InputError("segment", expected="None with cv='three_parts'", got="an array", hint=hint)
        segment = check.check_column(segment, "segment", n)
    groups = None if groups is None else check.check_column(groups, "groups", n)
    work = fitting.fit_and_score if error_score == "raise" else fitting.attempt
    results = experiment.run(splits, "evaluation", work)
    scored, failed, kept = fitting.without_failures(results, experiment.models, by_fold=error_score is not None)
    folds_kept = {fit.split.fold for fit in scored}
    seconds = {name: tuple(fit.seconds for fit in scored if fit.model == name) for name in kept}
    estimators = {}
    if return_estimator:
        estimators = {name: tuple(fit.estimator for fit in scored if fit.model == name) for name in kept}
    source = fitting.Evaluation(
        (title,),
        n,
        protocol=title,
        folds=len(splits),
        repeats=splits[-1].repeat + 1,
        responses={fit.model: fit.response for fit in scored},
        failures=tuple(fit.failure for fit in failed),
        unweighted=fitting.unweighted(task.arguments, task.weight),
        seconds=seconds,
        scores=fitting.scores_of(results, task.scorers, kept),
        losses=tuple(name for name, scorer in task.scorers.items() if scorer.sign < 0),
        training_scores=fitting.scores_of(results, task.scorers, kept, training=True) if return_train_score else {},
        estimators=estimators,
    )
    task = replace(task, weights=weights)
    splits = [split for split in splits if split.fold in folds_kept]
    return fitting.assembled(task, splits, scored, kept, segment, groups, source)


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
    response: fitting.Response = "auto",
) -> fitting.AnyPredictions:
    """Return the predictions of fitted models for new data.

    Parameters
    ----------
    models : fitted estimator, list of them, or mapping from name to estimator
        Fitted models with scikit-learn's interface.
    X, y, pos_label, response : see `evaluate`
    sample_weight, fold, segment, groups : array of n entries, optional
        Weight, fold, segment and group of each row. The predictions contain these columns.

    Returns
    -------
    Predictions or MulticlassPredictions
        Scores of each model for each row of X.

    Raises
    ------
    ModelError
        If a model is not fitted, raises an error, or has no method for scores. The message names the model.

    See Also
    --------
    evaluate

    Notes
    -----
    Do not pass the training data of the models, because the results would be too good. To get out-of-fold predictions
    for training data, use `evaluate`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> preds = from_estimator(model, [[1.5], [2.4], [3.5]], ["no", "yes", "yes"], pos_label="yes")
    >>> preds, preds.source.responses
    (Predictions(n=3, n_pos=2, n_neg=1, models=['GaussianNB']), {'GaussianNB': 'predict_proba'})
    """
    named = fitting.named_models(models)
    # Models may have been trained on classes that do not occur in these rows.
    known = [label for model in named.values() for label in getattr(model, "classes_", ())]
    task = fitting.task_of(X, y, pos_label, sample_weight, response, known=known)
    n = task.labels.size
    scores, responses, decisions = {}, {}, {}
    for name, model in named.items():
        wanted = fitting.response_for(task, name)
        try:
            scores[name], responses[name] = fitting.score(model, name, task.X, task.classes, task.positive, wanted)
            labels = fitting.predicted_labels(model, task.X, task.classes)
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"model {name!r}: {type(error).__name__}: {fitting.first_line(error)}") from error
        if labels is not None:
            decisions[name] = labels
    source = fitting.Evaluation(("fitted models",), n, protocol="fitted models", responses=responses)
    columns = {"sample_weight": task.weight, "fold": fold, "segment": segment, "groups": groups, "source": source}
    return fitting.predictions_of(task, task.labels, scores, decisions, columns)


_FEWEST_BINS = 12  # of a histogram: fewer hide its shape; a choice
_MOST_BINS = 60  # more are narrower than the eye can distinguish; a choice


class ThresholdDistribution(Curve):
    """Histogram of the chosen threshold over bootstrap replicates, with b bins.

    Attributes
    ----------
    x, y : arrays of b
        Threshold at the middle of each bin, and share of all replicates in the bin.
    edges : array of b + 1
        Edges of the bins.
    nobody : float
        Share of replicates in which predicting every row negative is the best choice.
    model : str
        Name of the model.
    threshold : array of b
        Same as `x`.
    chosen : Estimate
        Threshold chosen on the original sample, with its interval.
    """

    _content = ("model", "edges", "nobody", "chosen")

    title = "distribution of the chosen threshold"
    x_name = "chosen_threshold"
    y_name = "share_of_replicates"

    def __init__(self, model: str, chosen: Estimate, replicates: Array) -> None:
        finite = replicates[np.isfinite(replicates)].astype(np.float64)
        self.model = model
        self.chosen = chosen
        self.nobody = 1 - finite.size / max(replicates.size, 1)
        self.edges = _edges(finite)
        inside = np.histogram(finite, self.edges)[0] / max(replicates.size, 1)
        middle = (self.edges[:-1] + self.edges[1:]) / 2
        super().__init__(middle, inside, middle)

    def area(self) -> float:
        raise InputError("no area is defined for a distribution of thresholds")

    def drawn(self) -> tuple[Array, Array]:
        """Return x and y of the outline of the histogram."""
        return np.repeat(self.edges, 2), np.concatenate([[0.0], np.repeat(self.y, 2), [0.0]])


def _edges(values: Array) -> Array:
    """Return the edges of 12 to 60 bins of equal width; the number of bins follows Freedman & Diaconis."""
    if not values.size:
        return np.array([0.0, 1.0])
    low, high = values.min(), values.max()
    if low == high:
        return low + np.array([-0.05, 0.05]) * (abs(low) or 1.0)
    # Freedman & Diaconis: 2·IQR/∛n wide.
    bins = np.histogram_bin_edges(values, "fd").size - 1
    return np.linspace(low, high, int(np.clip(bins, _FEWEST_BINS, _MOST_BINS)) + 1)


@dataclass(frozen=True, eq=False, repr=False)
class Optimism(Result):
    """Performance of a chosen threshold on the data from which it was chosen, and on new cases.

    `rocscope.evaluation.optimism` returns this result.

    Attributes
    ----------
    decision : Decision
        Model and threshold chosen on all rows.
    quantity : str
        Name of the measure that the choice optimises: "expected cost" or a criterion.
    estimate : ChosenEstimate
        Value of the measure on new cases. The interval accounts for the choice of the threshold. Equal to the result of
        `Decision.interval`.
    apparent : Estimate
        Value of the measure on the rows from which the threshold was chosen. The interval treats the threshold as
        fixed.
    optimism : float
        Difference between `apparent` and `estimate`, in units of the measure. Positive if the threshold performs better
        on the rows from which it was chosen than on new cases.
    threshold : BootstrapEstimate
        Chosen threshold with its interval, and the thresholds of the bootstrap replicates that choose the same model.
    """

    decision: Decision
    quantity: str
    estimate: generalization.ChosenEstimate
    apparent: Estimate
    optimism: float
    threshold: BootstrapEstimate
    _also = ("expected_loss", "models")

    @property
    def corrected(self) -> generalization.ChosenEstimate:
        """Same as `estimate`."""
        return self.estimate

    @property
    def cross_validated(self) -> generalization.ChosenEstimate:
        """Same as `estimate`."""
        return self.estimate

    @property
    def expected_loss(self) -> Estimate:
        """Expected loss compared with the best possible choice; same as ``estimate.regret``."""
        return cast(Estimate, self.estimate.regret)

    @property
    def models(self) -> Mapping[str, float]:
        """Probability that each model is the best one, if each uses its chosen threshold."""
        return self.estimate.models

    @property
    def distribution(self) -> ThresholdDistribution:
        """Distribution of the chosen threshold over bootstrap replicates."""
        return ThresholdDistribution(self.decision.model, self.threshold, self.threshold.replicates)

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw the distribution of the chosen threshold with matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on.
        **line
            Options for the outline of the histogram, as in ``Axes.plot``.

        Returns
        -------
        Axes
            Axes with the drawing.
        """
        return self.distribution.plot(ax, **line)

    def __repr__(self) -> str:
        chosen = self.threshold
        return (
            f"Optimism({self.quantity}: apparent {self.apparent.value:.4g}, on new cases {self.estimate.words}"
            f"{self.estimate.doubt}; {self.decision.model} at "
            f"{chosen.value:.4g}, {100 * chosen.level:g}% CI [{chosen.low:.4g}, {chosen.high:.4g}])"
        )

    def _repr_html_(self) -> str:
        estimates = {
            f"{self.quantity}, apparent": self.apparent,
            f"{self.quantity}, on new cases": self.estimate,
            "expected loss relative to the best threshold": self.expected_loss,
            f"threshold of {self.decision.model}": self.threshold,
        }
        rows = [(name, *estimate.cells, estimate.method) for name, estimate in estimates.items()]
        rows.append(("probability of being the best model", self.estimate.shares, "", ""))
        return html_table(rows, ("", "value", f"{100 * self.threshold.level:g}% CI", "method"))


@contract
def optimism(
    data: Any,
    context: Context | UncertainContext | None = None,
    *,
    criterion: str | Function | None = None,
    X: Any = None,
    y: Any = None,
    cv: Any = generalization.FOLDS,
    repeats: int = generalization.REPEATS,
    replicates: int = 2000,
    stratified: bool = False,
    groups: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
    progress: Progress = None,
) -> Optimism:
    """Estimate the optimism of a threshold: its value on the data used to choose it minus its value on new cases.

    Parameters
    ----------
    data : Predictions, or estimators with X and y
        Predictions, or any estimators that `rocscope.evaluate` accepts. Estimators get out-of-fold predictions. Each
        parameter setting of a scikit-learn search is one candidate model. The folds and scores of the search are not
        used.
    context, criterion : see `rocscope.choose`
        Objective of the choice: lowest expected cost, or a criterion.
    X, y : see `rocscope.evaluate`
        Features and labels. Only for estimators.
    cv : int, or for estimators any `cv` of `rocscope.evaluate`
        For predictions, the number of folds in which the choice is cross-validated. For estimators, the folds in which
        the models are fitted.
    repeats : int
        Number of repeats of the cross-validation of the choice.
    replicates : int
        Number of bootstrap replicates.
    stratified : bool
        If True, resample within each class, so that the prevalence is the same in all replicates.
    groups : see `rocscope.bootstrap`
    level : float
        Confidence level, such as 0.95.
    random_state, progress : see `rocscope.evaluate`

    Returns
    -------
    Optimism
        Performance on the same data, performance on new cases, and the difference between the two.

    Raises
    ------
    OneClassError
        If a class is missing.
    InputError
        If estimators are passed without X and y, or if `rocscope.choose` raises this error.

    Warns
    -----
    RocscopeWarning
        If some replicates lack a class. These replicates are omitted.

    See Also
    --------
    nested_cross_validation, choose

    Notes
    -----
    In each fold, the threshold is chosen on nine tenths of the rows and evaluated on the remaining tenth; see
    `ChosenEstimate`. The page docs/guide/evaluation/price-of-choosing.md reports the measured bias and coverage. The
    attribute `estimate` of the result equals ``rocscope.choose(data, context).interval()``. With a criterion, it equals
    ``rocscope.choose(data, criterion=…).interval(of="criterion")``.

    A fold column of the predictions is not used. `optimism` draws new folds. All rows of a group
    are in the same fold, and so are all predictions of one case.

    The scores are treated as fixed. Scores of training rows are too good at every threshold. Therefore pass
    out-of-fold predictions (from `rocscope.evaluate`) or estimators.

    A wide interval of the threshold with a small expected loss means that many thresholds perform equally well.

    The running time is O(replicates · distinct scores). Scores are reduced to at most 2,048 distinct values.

    References
    ----------
    Efron & Gong 1983, Am. Stat. 37:36–48; Kim & Pollard 1990, Ann. Stat. 18:191–219 (cube-root rate); Fluss,
    Faraggi & Reiser 2005, Biom. J. 47:458–472 (how Youden's threshold varies).

    Examples
    --------
    >>> preds = Predictions([1, 1, 0, 1, 0, 1, 0, 0, 1, 0] * 4, list(range(40, 0, -1)))
    >>> result = optimism(preds, Context(cost_fn=2), replicates=200)
    >>> result.decision.threshold, round(result.apparent.value, 3), result.estimate.value > result.apparent.value
    (5, 0.475, True)
    """
    seed = check.seed_of(random_state)
    if X is None and y is None:
        if hasattr(data, "fit"):
            raise InputError(
                "X and y", expected="arrays if data is a model", got="None", hint="call optimism(model, X=X, y=y)"
            )
        predictions = rows_of(data, name="data")
    else:
        if isinstance(data, Rows):
            hint = "omit X and y"
            raise InputError("X and y", expected="None if data is Predictions", got="an array", hint=hint)
        candidates = fitting.candidates_of(data, seed)
        held_out = evaluate(candidates, X, y, cv=cv, random_state=seed, progress=progress)
        classes = getattr(held_out, "classes", None)
        if classes is not None:
            hint = "pass evaluate(…).binary(cls) instead of the model, with one class as positive"
            raise InputError("y", expected="2 classes", got=f"{len(classes)} classes", hint=hint)
        predictions = cast(Predictions, held_out)
    decision = choose(with_groups(predictions, groups), context, criterion=criterion)
    assert decision.sampling_model is not None
    repeated_choice = decision.sampling_model.generalization(
        quantity="criterion",
        level=level,
        replicates=replicates,
        random_state=random_state,
        folds=cv if X is None else generalization.FOLDS,
        repeats=repeats,
        stratified=stratified,
        progress=progress,
    )
    if missing := repeated_choice.replicates.left_out:
        warn(f"the value is undefined in {missing} of {replicates} replicates, which are omitted")
    estimate = repeated_choice.estimate()
    # The apparent value is too good: too low if a small value is good, too high otherwise.
    bias = estimate.value - estimate.apparent
    less_is_better = repeated_choice.candidates.criterion.sign < 0
    return Optimism(
        decision=decision,
        quantity="expected cost" if decision.criterion == "min_cost" else decision.criterion,
        estimate=estimate,
        apparent=repeated_choice.apparent(),
        optimism=bias if less_is_better else -bias,
        threshold=repeated_choice.threshold(),
    )
