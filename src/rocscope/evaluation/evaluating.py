"""Evaluate models on rows that they were not trained on, and a threshold on rows that it was not chosen on.

- `evaluate` fits models on training folds and returns their predictions for the held-out rows.
- `from_estimator` returns predictions of models that are fitted already.
- `optimism` estimates how much better the chosen threshold (and model) looks on the rows it was chosen on than on new
  cases. It repeats the choice in cross-validation and in bootstrap replicates; `rocscope.decisions.generalization` does
  the computation.
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
        With scikit-learn's interface; also pipelines and searches, all steps of which are fitted to the training rows
        only. They are copied, not changed.
    X : array, sparse matrix or data frame of n rows
        Passed to the models unchanged.
    y : array of n labels
    cv : int, float, str, protocol, splitter, or pairs of row numbers
        So many stratified folds; the share of a holdout; "holdout", "three_parts", "leave_one_out", "time_order" or
        "out_of_bag"; one of `rocscope.protocols`, which have options; any splitter of scikit-learn; or (training, test)
        rows of each fold.
    repeats : int
        Number of repetitions of the protocol: 10 times 10 folds, or 100 shuffled holdouts.
    groups : array of n labels, optional
        Rows of one group, such as a patient, are never in training and test at once; kept in the predictions, whose
        intervals and tests count groups. They reach the inner folds of searches whose `cv` is for groups, also as the
        last step of a pipeline, and of the estimators of rocscope; with metadata routing, whatever asks for them.
    sample_weight : array of n weights, optional
        Passed to `fit` of each model that takes weights, and kept in the predictions.
    weights : {"auto", "frequency", "sampling"}
        Meaning of a weight; see `Predictions`.
    pos_label : label, optional
        The positive one of two; see `Predictions`.
    segment : array of n labels, optional
        Kept in the predictions: ``predictions.counts(by="segment")`` has means, tests and drift over segments.
    response : {"auto", "predict_proba", "decision_function", "predict"}, or mapping from model name to one of them
        Kind of the scores; "auto": probabilities, or else the decision function (for more than two classes the
        predicted labels), or else 1 and 0 for the labels. ``predictions.source.responses`` states which.
    scoring : str, scorer, function, Context, CostMatrix, or list of them, or mapping from name to one of them, optional
        Judges each fitted model, as in `cross_validate`: names and scorers of scikit-learn, functions
        ``scorer(model, X, y)``, figures of rocscope, costs, and functions of Predictions. Named scorers take
        `pos_label` for the positive class. ``predictions.source.cv_results()`` returns the values.
    return_estimator, return_train_score : bool
        Keep the fitted models in ``predictions.source.estimators``; apply `scoring` to the training rows too. As in
        `cross_validate` of scikit-learn.
    error_score : None, "raise" or nan
        If a model fails in some fold: None leaves the model out; "raise" raises its error; NaN keeps the model, whose
        value of each scorer is NaN in that fold, and leaves the rows of the fold out for all models.
    n_jobs : int, optional
        Fits side by side, as joblib takes it; the result is the same.
    random_state : int, Generator, RandomState or None
        Seed of the folds, and of each model whose own is None. With None every call draws other folds.
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
        If some models fail: they are omitted, and ``predictions.source.failures`` states where and why. If a model
        takes no weights, or has inner folds or early stopping that part groups. If a scorer fails: its value is NaN.

    Notes
    -----
    With repeats a row occurs more than once. Repeats make an estimate more stable, but they are not new data: intervals
    and tests of rocscope then count rows once (each is a group), or refuse. `by_repeat()` gives single repeats.

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
        raise InputError("return_train_score", expected="scoring= too", got="none")
    task = replace(task, with_estimators=return_estimator, with_training=return_train_score)
    experiment = fitting.Fitting.of(models, task, groups, n_jobs, progress)
    task = experiment.task
    n = task.labels.size
    splits, title = experiment.splits(cv, repeats)
    if segment is not None:
        if splits[0].names is not None:
            raise InputError("segment", expected="none with three parts, which are the segments", got="one")
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
    named = fitting.named_models(models)
    # Models may know classes that do not occur in these rows.
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
    """Share of replicates (y) whose threshold is around x.

    Attributes
    ----------
    x, y : arrays of b
        Middle of each bin, and the share of all replicates in it.
    edges : array of b + 1
    nobody : float
        Share of replicates in which predicting nobody positive is best.
    model : str
    threshold : array of b
        The same as x.
    chosen : Estimate
        The threshold chosen on the sample, with its interval.
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
        raise InputError("a distribution of thresholds has no area that means anything")

    def drawn(self) -> tuple[Array, Array]:
        """Return the outline of the histogram."""
        return np.repeat(self.edges, 2), np.concatenate([[0.0], np.repeat(self.y, 2), [0.0]])


def _edges(values: Array) -> Array:
    """Return edges of equally wide bins, in a number that the data support and the eye can distinguish."""
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
    """Apparent and expected performance of a chosen threshold, and the variability of the choice.

    Made by `rocscope.evaluation.optimism`.

    Attributes
    ----------
    decision : Decision
        The choice on all rows.
    quantity : str
        Objective of the choice: "expected cost", which is better the lower it is, or a criterion.
    estimate : ChosenEstimate
        The quantity on new cases, with an interval that allows for the choice: what `Decision.interval` returns.
    apparent : Estimate
        Of the chosen threshold on the rows it was chosen on; the interval takes the threshold as given.
    optimism : float
        By how much the choice looks better on its own rows than on new cases, in units of the quantity.
    threshold : BootstrapEstimate
        The chosen threshold, and the thresholds of the replicates that choose the same model.
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
        """Expected loss relative to the truly best choice: the regret of `estimate`."""
        return cast(Estimate, self.estimate.regret)

    @property
    def models(self) -> Mapping[str, float]:
        """Probability that each model is best, at its chosen threshold."""
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
        **line
            For the outline of the histogram, as in ``Axes.plot``.

        Returns
        -------
        Axes
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
            "expected loss against the best threshold": self.expected_loss,
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
    """Estimate the bias from choosing a threshold, and a model, on the rows on which they are evaluated.

    Parameters
    ----------
    data : Predictions, or estimators with X and y
        Estimators as `rocscope.evaluate` takes them: their scores are then out of fold. A search of scikit-learn stands
        for its settings, each of them a model to choose; its own folds and scores are not used.
    context, criterion : see `rocscope.choose`
        Objective of the choice: lowest expected cost, or a criterion.
    X, y : see `rocscope.evaluate`
        For estimators only.
    cv : int, or whatever else `rocscope.evaluate` takes for estimators
        Number of folds that the choice is cross-validated in; of estimators, the folds that they are fitted in.
    repeats : int
        Repeats of the cross-validation of the choice.
    replicates : int
        Bootstrap replicates.
    stratified : bool
        Whether the class mix is fixed, rather than a chance of the sample.
    groups : see `rocscope.bootstrap`
    level : float
        Confidence level.
    random_state, progress : see `rocscope.evaluate`

    Returns
    -------
    Optimism
        Its `estimate` equals ``rocscope.choose(data, context).interval()``; by a criterion,
        ``rocscope.choose(data, criterion=…).interval(of="criterion")``.

    Raises
    ------
    OneClassError
        If a class is missing.
    InputError
        See `rocscope.choose`; also if estimators come without X and y.

    Warns
    -----
    RocscopeWarning
        If some replicates lack a class: they are omitted.

    Notes
    -----
    `ChosenEstimate` describes the estimate: the threshold is chosen again on nine tenths of the rows and judged on the
    rest. docs/guide/evaluation/price-of-choosing.md has its measured bias and coverage.

    The folds of the predictions are not used: new folds are drawn, and keep groups and repeated entries of a case
    together.

    The scores are taken as given. Scores of rows that a model was fitted to are too good whatever threshold is chosen;
    pass out-of-fold predictions (`rocscope.evaluate`), or estimators.

    A threshold interval that is wide where expected loss is small means that many thresholds will do.

    O(replicates · levels), of at most 2,048 levels.

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
            raise InputError("X and y", expected="both beside estimators", got="none", hint="optimism(model, X=X, y=y)")
        predictions = rows_of(data, name="data")
    else:
        if isinstance(data, Rows):
            raise InputError("X and y", expected="none beside Predictions", got="one", hint="leave them out")
        candidates = fitting.candidates_of(data, seed)
        held_out = evaluate(candidates, X, y, cv=cv, random_state=seed, progress=progress)
        if hasattr(held_out, "classes"):
            raise InputError("y", expected="two classes", got="more", hint="use predictions.binary(cls)")
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
        warn(f"{missing} of {replicates} replicates gave no number and are left out")
    estimate = repeated_choice.estimate()
    # The choice looks too good: too low where less is better, too high otherwise.
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
