"""Classifiers that choose a threshold, a model, class weights or a resampling inside their own `fit`.

All of them fit a model in inner folds, make one decision from the merged out-of-fold scores, and refit the model to all
rows, so that a decision never rests on scores of rows that a model was fitted to.

- `ThresholdClassifier`: the threshold of lowest cost, or another criterion. The search over all thresholds follows a
  few rows where costs are unequal, so it is shrunk towards the Bayes rule of recalibrated scores and compared with
  other candidates on folds that they were not set on. This is the first part of the file.
- `HullClassifier`: the best of several models, from their common ROC hull, or a random mixture of two.
- `ClassWeightClassifier`: weights that multiply the probabilities of more than two classes.
- `ResampledClassifier`: over- or undersampled training rows, with probabilities corrected afterwards.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy import special, stats
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags, metaestimators, validation

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.contract import held_to_contract
from rocscope.calibration.recalibration import PlattRecalibrator
from rocscope.core import Context, Predictions, Result, ThresholdCounts
from rocscope.decisions import choose, correct_probabilities
from rocscope.decisions.constraints import Constraint, constraints_of, predict
from rocscope.decisions.decision import Decision, at_threshold
from rocscope.decisions.model_hull import Hull, UncertainContext, hull
from rocscope.decisions.plan import Note
from rocscope.decisions.randomized import RandomizedRule
from rocscope.errors import InfeasibleError, InputError, MissingDependencyError, OneClassError
from rocscope.estimators import wrapping
from rocscope.evaluation.fitting import attributes, class_scores, take_rows
from rocscope.multiclass.class_weighting import Method, Name, class_weights
from rocscope.multiclass.costs import CostMatrix

# Standard errors by which another candidate must cost less to be taken. In a prototype on 34 tables, 6 learners and 5
# pairs of costs, 1 standard error cost less than 0.25, 0.5, 1.5 and 2, and the candidate halfway less than other
# shares, smoothed costs and the Bayes rule of ranks. With the candidates below only 1 and 1.5 were compared (.899 and
# .902 of scikit-learn's tuner); benchmarks/estimators repeats it. Later, on 44 tables with up to four seeds, 0.5, 1,
# 1.5 and 2 cost .902, .898, .896 and .896. A bagged search cost .003 less, and more often more than everybody or
# nobody.
_ERRORS = 1.0
_MANY = 20_000
"""Rows of the rarer class from which on the search is precise enough without help."""

PREFERRED = "shrunk"


@dataclass(frozen=True)
class CandidateThreshold(Result):
    """A threshold that was considered.

    Attributes
    ----------
    threshold : float
        Set on all rows.
    cost : float
        Per case, in units of the weights: of rows in each fold, at the threshold that the other folds set.
    beyond, standard_error : float
        This cost minus the cost of the chosen candidate, and the standard error of this paired difference.
    """

    threshold: float
    cost: float
    beyond: float
    standard_error: float


def best_candidate(
    decision: Decision, predictions: Predictions, shrinkage: float, of_probabilities: bool
) -> tuple[Decision, dict[str, CandidateThreshold]]:
    """Return the decision at the best of several thresholds, and all of them.

    Parameters
    ----------
    decision : Decision
        Cheapest of all thresholds of one model: the search.
    predictions : Predictions
        The out-of-fold scores that it was chosen from.
    shrinkage : float
        Rows of the rarer class at which the Bayes rule and the search have equal weight.
    of_probabilities : bool
        Whether scores are probabilities, which are recalibrated and averaged as log-odds.

    Notes
    -----
    Taken is the shrunk threshold, unless another candidate costs less by more than a standard error of the paired
    difference; then the cheapest of all.
    """
    counts, context = predictions.counts(), decision.context
    # No threshold is weighed if one action is always right, or if one kind of error costs nothing (slope 0 or inf).
    slope = context.slope(counts.prevalence) if not context.always_right else 0.0
    positives = int(np.count_nonzero(predictions.y_true))
    if not 0 < slope < math.inf or min(positives, len(predictions) - positives) >= _MANY:
        return decision, {}
    (score,) = predictions.scores.values()
    rule = _CandidateRule(slope, shrinkage, of_probabilities)
    thresholds = rule.thresholds(predictions.y_true, score, predictions.sample_weight, decision.threshold)
    names = list(thresholds)
    losses = _held_out_losses(rule, predictions, score, names)
    chosen, compared = PREFERRED, {}
    if losses is not None:
        cost = losses.sum(axis=0)
        saved = losses[:, [names.index(PREFERRED)]] - losses
        if (saved.sum(axis=0) > _ERRORS * _error_of_sum(saved)).any():
            chosen = names[int(cost.argmin())]
        difference = losses - losses[:, [names.index(chosen)]]
        error = _error_of_sum(difference)
        for i, name in enumerate(names):
            total = float(difference[:, i].sum())
            compared[name] = CandidateThreshold(thresholds[name], float(cost[i]), total, float(error[i]))
    threshold = thresholds[chosen]
    if threshold == decision.threshold:
        return decision, compared
    text = f"{chosen}: moved from {decision.point.threshold_text}"
    if chosen not in ("everybody", "nobody"):
        text += f" towards the Bayes rule of recalibrated scores, {thresholds['Bayes rule']:.6g}"
    notes = [Note("moved_threshold", text, candidate=chosen, searched=decision.threshold)]
    others = [name for name in compared if name != chosen]
    if others:
        text = f"out of fold none costs less by 2 standard errors: {', '.join(others)}"
        notes.append(Note("no_candidate_cheaper", text, candidates=others))
    return at_threshold(decision, counts, threshold, "shrunk min_cost", tuple(notes)), compared


def _error_of_sum(values: Array) -> Array:
    n = len(values)
    return np.sqrt(n * values.var(axis=0, ddof=1)) if n > 1 else np.full(values.shape[1], math.inf)


@dataclass(frozen=True)
class _CandidateRule:
    """Method of setting candidate thresholds on rows; see `best_candidate`. `slope` is the iso-performance line's."""

    slope: float
    shrinkage: float
    of_probabilities: bool

    def thresholds(
        self, y: Booleans, score: Array, weight: Array | None, search: float | None = None
    ) -> dict[str, float]:
        """Return all candidates; the search is made if it is not given."""
        if search is None:
            search = self._cheapest(y, score, weight)
        thresholds = {PREFERRED: search, "search": search, "everybody": -math.inf, "nobody": math.inf}
        z = np.asarray(score, np.float64)
        least, most = -math.inf, math.inf
        if self.of_probabilities:
            z = special.logit(z)
            # Probabilities of 0 and 1 have infinite log-odds. They are placed one beyond all others.
            finite = z[np.isfinite(z)]
            least, most = float(finite.min(initial=0.0)) - 1, float(finite.max(initial=0.0)) + 1
            z = z.clip(least, most)
        bayes = self._bayes_rule(z, y, weight)
        if bayes is None:
            return thresholds
        thresholds["Bayes rule"] = self._to_score(bayes)
        thresholds["halfway"] = self._halfway(y, score, weight, search)
        if score.min() < search < math.inf:
            rarer = min(np.count_nonzero(y), np.count_nonzero(~y))
            share = rarer / (rarer + self.shrinkage) if rarer + self.shrinkage else 1.0
            z_of_search = float(np.clip(special.logit(search), least, most)) if self.of_probabilities else float(search)
            thresholds[PREFERRED] = self._to_score(share * z_of_search + (1 - share) * bayes)
        return thresholds

    def _to_score(self, z: float) -> float:
        return float(special.expit(z)) if self.of_probabilities else z

    def _cheapest(self, y: Booleans, score: Array, weight: Array | None) -> float:
        """Return the cheapest threshold; of equal ones that with the fewest positives."""
        counts = ThresholdCounts.from_checked(y, score, weight)
        # Cost is lowest where the line of the iso-performance slope through a ROC point is highest.
        benefit = counts.tp / counts.n_pos - self.slope * counts.fp / counts.n_neg
        best = int(benefit.argmax())
        if benefit[best] <= 0:
            return math.inf
        return -math.inf if best == len(counts) - 1 else float(counts.threshold[best])

    def _bayes_rule(self, z: Array, y: Booleans, weight: Array | None) -> float | None:
        """Return the z where Platt's sigmoid reaches the probability from which acting pays; None if it never does."""
        platt = PlattRecalibrator().fit(z, y, weight)
        if not platt.slope_ > 0:
            return None
        weight = np.ones(y.size) if weight is None else weight
        odds = self.slope * weight[y].sum() / weight[~y].sum()
        return (math.log(odds) - platt.intercept_) / platt.slope_

    def _halfway(self, y: Booleans, score: Array, weight: Array | None, search: float) -> float:
        """Return the threshold halfway between the search and the Bayes rule, where ranks become normal scores."""
        n = score.size
        bayes = self._bayes_rule(special.ndtri((stats.rankdata(score) - 0.5) / n), y, weight)
        if bayes is None:
            return search
        ordered = np.sort(score).astype(np.float64)
        # Normal scores of ranks are those of shares from half a row to n less half a row.
        half_a_row = 0.5 / n
        share_below = np.clip(np.searchsorted(ordered, search) / n, half_a_row, 1 - half_a_row)
        share = float(special.ndtr((special.ndtri(share_below) + bayes) / 2))
        # Within three quarters of a row of either end it is nobody or everybody.
        if not 1.5 * half_a_row < share < 1 - 1.5 * half_a_row:
            return math.inf if share > 0.5 else -math.inf
        return float(np.interp(share * n, np.arange(n) + 0.5, ordered))


def _held_out_losses(rule: _CandidateRule, predictions: Predictions, score: Array, names: list[str]) -> Array | None:
    """Return the weighted loss of each row (or group) and candidate, at thresholds that other folds set.

    None without folds, or if one leaves a single class to the others.
    """
    y, weight = predictions.y_true, predictions.sample_weight
    if predictions.fold is None:
        return None
    fold = np.unique(predictions.fold, return_inverse=True)[1]
    amount = np.ones(y.size) if weight is None else weight.astype(np.float64)
    # In units in which missing all positives costs 1, and a false alarm what the slope makes it.
    miss = amount / amount[y].sum()
    false_alarm = rule.slope * amount / amount[~y].sum()
    losses = np.zeros((y.size, len(names)))
    for number in range(int(fold.max()) + 1):
        test = fold == number
        train = ~test
        if not (amount[train & y].any() and amount[train & ~y].any()):
            return None
        thresholds = rule.thresholds(y[train], score[train], None if weight is None else weight[train])
        for column, name in enumerate(names):
            # Without a Bayes rule on these rows, its candidates are the search.
            positive = score[test] >= thresholds.get(name, thresholds["search"])
            losses[test, column] = np.where(y[test], miss[test] * ~positive, false_alarm[test] * positive)
    if predictions.groups is None:
        return losses
    group = np.unique(predictions.groups, return_inverse=True)[1]
    return np.stack([np.bincount(group, column) for column in losses.T], axis=1)


@held_to_contract
class ThresholdClassifier(wrapping.TwoClasses, wrapping.WrappingClassifier):
    """Binary classifier whose threshold is chosen by one ROC analysis of merged out-of-fold scores.

    Parameters
    ----------
    estimator : classifier with predict_proba or decision_function
    context : Context or UncertainContext, optional
        Prevalence and costs; by default accuracy's, at the class mix of the training rows.
    criterion : str or function, optional
        Criterion to maximise instead of minimising cost; see `rocscope.choose`.
    subject_to : constraints
        Such as ``"tpr >= .9"``; see `rocscope.choose`.
    cv : int, str, protocol, splitter, or pairs of row numbers
        Inner folds; see `rocscope.evaluate`.
    response_method : {"auto", "predict_proba", "decision_function"}
        Method that provides scores; "auto" takes the first of them that the model has.
    pos_label : label, optional
        The positive class. By default it is 1 of labels 0/1 or −1/1, True of False/True; if the choice treats both
        classes equally, as accuracy does, the second of any two labels.
    shrinkage : float
        Weight of the Bayes rule relative to the search, in rows of the rarer class, if only a cost (or accuracy) is
        optimised, the same in every row; 0 takes the threshold of the search.
    random_state : int, Generator, RandomState or None
        Of the folds; None draws new ones at every fit.
    n_jobs : int, optional
        Folds fitted at a time.

    Attributes
    ----------
    threshold_ : float
        Positive iff ``score >= threshold_``; infinite where nobody, or everybody, is best predicted positive.
    decision_ : Decision
        Choice of the threshold, with its counts and costs out of fold; if it differs from the search's, a note states
        from where it was moved.
    candidates_ : dict from name to CandidateThreshold
        The thresholds that were compared, with paired differences of cost; empty where only the search was asked for.
    predictions_ : Predictions
        The merged out-of-fold scores it was chosen from, with their folds; in the order of the training rows. A pickled
        model does not contain them, and has no `fold_thresholds_`.
    fold_thresholds_ : array of one threshold a fold
        Threshold found by the search on each fold's own rows; NaN where they hold one class only or nothing is
        admissible.
    threshold_spread_ : float
        Standard deviation of `fold_thresholds_`; NaN unless two are finite or more, inf where only some are infinite.
    estimator_ : classifier
        Fitted to all rows.
    classes_, pos_label_ : array of both labels, the positive one

    Raises
    ------
    LabelError, OneClassError
        If there are not two classes, or it is not known which is positive.
    InputError
        If a class has a single member, so that no fold can be fitted without it; or a fold is empty.
    InfeasibleError
        If no threshold satisfies the constraints.

    Notes
    -----
    Paper's procedure: scores of the test rows of all inner folds are merged, one analysis on the hull takes the
    class mix of the training rows, and the model is fitted once more to all of them. It never sees rows twice: the
    threshold comes from scores of models that were fitted without the rows that they scored.

    The best of all thresholds depends on a few rows, especially if the costs are very different. The log-odds of the
    threshold are therefore taken between the search's and the Bayes rule's, where recalibrated scores (Platt's sigmoid,
    out of fold) reach the probability from which acting pays. They are r/(r + `shrinkage`) of the way to the search,
    where the rarer class has r rows. So with many rows the search decides.

    That threshold is compared with five others: the search, the Bayes rule, one halfway between the search and the
    Bayes rule of ranks, everybody and nobody. Each is set on all folds but one and judged on that one. If any costs
    less by more than a standard error of the paired difference, the cheapest of all is taken. So none of the others is
    better by 2 standard errors. Savings: docs/guide/estimators.md. Other criteria and constraints take the search, and
    so do 20,000 rows of the rarer class.

    A number of folds means shuffled, stratified ones. A class with fewer members than folds is tested in some folds
    only, which the merged analysis does not mind, and there are no more folds than the largest class has members.

    `sample_weight` counts in the analysis, and goes to the model if its `fit`, or that of a pipeline's last step, takes
    it (through metadata routing, as the model requests). Folds are made of rows, so that an integer weight does not
    equal repeated rows exactly: those would fall into different folds. Additional cost to the fits: one sort and about
    a millisecond.

    References
    ----------
    Vuk & Curk 2006, §7; Fawcett 2003, merging of folds; Provost & Fawcett 2001.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
    >>> model = ThresholdClassifier(LogisticRegression(), context=Context(cost_fn=9), cv=5).fit(X, y)
    >>> model.decision_.point.fn, model.predict([[10.0], [18.0]]), LogisticRegression().fit(X, y).predict([[18.0]])
    (0, array([1, 1]), array([0]))
    >>> ThresholdClassifier(LogisticRegression(), subject_to="fpr <= 0.05").fit(X, y).decision_.point.fp
    0
    """

    def __init__(
        self,
        estimator: Any,
        *,
        context: Context | UncertainContext | None = None,
        criterion: str | Callable[..., Any] | None = None,
        subject_to: str | Constraint | Sequence[str | Constraint] = (),
        cv: Any = 10,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        pos_label: Any = None,
        shrinkage: float = 100.0,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.context = context
        self.criterion = criterion
        self.subject_to = subject_to
        self.cv = cv
        self.response_method = response_method
        self.pos_label = pos_label
        self.shrinkage = shrinkage
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any) -> Self:
        """Choose the threshold out of fold, and fit the model to all rows.

        Parameters
        ----------
        X : rows that the model takes
        y : array of n labels of two classes
        sample_weight : array of n weights, optional
        groups : array of n labels, optional
            Rows of one group are in training or in test of the inner folds, also of searches inside whose `cv` is for
            groups.
        **params
            Passed on by metadata routing.
        """
        X, y, weight = wrapping.check_rows(X, y, sample_weight)
        symmetric = wrapping.check_aim(self.context, self.criterion, self.subject_to)
        check.check_number(self.shrinkage, "shrinkage", "a number of at least 0", least=0)
        self.classes_, self.pos_label_ = wrapping.check_two_classes(y, self.pos_label, symmetric=symmetric)
        self._method = wrapping.check_response(self.estimator, self.response_method)
        response, positive = self.response_method, self._positive
        self.predictions_, refit = self._out_of_fold(X, y, weight, groups, params, response, positive)
        (name,) = self.predictions_.models
        self.estimator_ = refit(name)
        self.decision_ = self._search(self.predictions_)
        self.candidates_: dict[str, CandidateThreshold] = {}
        # Only plain costs, the same in every row, are shrunk: the Bayes rule is theirs.
        plain_costs = self.context is None or (isinstance(self.context, Context) and not self.context.columns)
        if self.shrinkage and plain_costs and self.criterion is None and not self.decision_.subject_to:
            of_probabilities = self._method == "predict_proba"
            self.decision_, self.candidates_ = best_candidate(
                self.decision_, self.predictions_, self.shrinkage, of_probabilities
            )
        self.threshold_ = self.decision_.threshold
        return self

    def predict(self, X: Any) -> Array:
        """Return the positive class where the score is at least the threshold, compared exactly."""
        return self._labels(predict(self._scores(self._fitted(), X, self._method), self.threshold_))

    @property
    def fold_thresholds_(self) -> Array:
        """Threshold found by the search on each fold's own rows, in the order of the folds."""
        validation.check_is_fitted(self, "predictions_")
        thresholds = []
        for fold in self.predictions_.by_fold().values():
            try:
                thresholds.append(self._search(fold).threshold)
            except (OneClassError, InfeasibleError):
                thresholds.append(math.nan)
        return np.array(thresholds)

    @property
    def threshold_spread_(self) -> float:
        """Standard deviation of the folds' own thresholds."""
        thresholds = self.fold_thresholds_
        known = thresholds[~np.isnan(thresholds)]
        if known.size < 2 or np.isinf(known).all():
            return math.nan
        return math.inf if np.isinf(known).any() else float(known.std(ddof=1))

    def _search(self, predictions: Predictions) -> Decision:
        return choose(predictions, self.context, criterion=self.criterion, subject_to=self.subject_to)


def _has_probabilities(classifier: "HullClassifier") -> bool:
    """Return whether a single model decides, and has probabilities; before the fit, whether all models have them."""
    if not hasattr(classifier, "decision_"):
        models = classifier._models().values()
    elif classifier.mixture_ is None:
        models = [classifier.named_estimators_[classifier.decision_.model]]
    else:
        return False
    return all(hasattr(model, "predict_proba") for model in models)


@held_to_contract
class HullClassifier(wrapping.TwoClasses, wrapping.FoldedClassifier, metaestimators._BaseComposition):
    """Binary classifier that combines several models: the best model and threshold for a context.

    Parameters
    ----------
    estimators : list of (name, classifier) pairs
        Classifiers with predict_proba or decision_function.
    context, criterion, subject_to : see `ThresholdClassifier`
    mixture : mapping, optional
        In place of these, a rate or a capacity that a random combination of two models attains: ``{"fpr": 0.1}`` or
        ``{"at_most": 800, "population": 4000}``; see `rocscope.decisions.mixture`.
    cv, response_method, pos_label, random_state, n_jobs : see `ThresholdClassifier`
        Inner folds are the same for all models.

    Attributes
    ----------
    decision_ : Decision
        The model and threshold, with counts and costs out of fold; if a mixture decides, its alternative: the choice of
        highest accuracy.
    mixture_ : RandomizedRule or None
    hull_ : Hull
        The ROC hull of all models out of fold: which of them is best where.
    predictions_ : Predictions
        The merged out-of-fold scores of all models.
    named_estimators_ : dict of classifiers
        All models, fitted to all rows; so that `aim_at` needs no fit.
    classes_, pos_label_ : array of both labels, the positive one

    Raises
    ------
    InputError
        If no models are given, names repeat, or both a context and a mixture are given; see also `ThresholdClassifier`.

    Notes
    -----
    No linear combination of costs and class mix is served better, on the rows that it was chosen from, by any model
    at any threshold. The best of many is chosen from the same out-of-fold rows that its cost is stated for, so that
    cost is optimistic, the more so the more models there are.

    A mixture sends each case to one of two models at random; `predict` then takes identifiers or a random state.

    References
    ----------
    Provost & Fawcett 2001, "Robust classification for imprecise environments".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
    >>> models = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    >>> model = HullClassifier(models, cv=5).fit(X, y)
    >>> model.decision_.point.error, model.aim_at(Context(cost_fn=9)).decision_.point.fn
    (0.05, 0)
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        context: Context | UncertainContext | None = None,
        criterion: str | Callable[..., Any] | None = None,
        subject_to: str | Constraint | Sequence[str | Constraint] = (),
        mixture: Mapping[str, float] | None = None,
        cv: Any = 10,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        pos_label: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.context = context
        self.criterion = criterion
        self.subject_to = subject_to
        self.mixture = mixture
        self.cv = cv
        self.response_method = response_method
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any) -> Self:
        """Choose the model and threshold out of fold, and fit all models to all rows.

        Parameters
        ----------
        X, y, sample_weight, groups, **params : see `ThresholdClassifier.fit`
        """
        models = self._models()
        X, y, weight = wrapping.check_rows(X, y, sample_weight)
        symmetric = self._is_symmetric
        self.classes_, self.pos_label_ = wrapping.check_two_classes(y, self.pos_label, symmetric=symmetric)
        self._methods = {name: wrapping.check_response(model, self.response_method) for name, model in models.items()}
        response, positive = self.response_method, self._positive
        self.predictions_, refit = self._out_of_fold(X, y, weight, groups, params, response, positive)
        self.named_estimators_ = {name: refit(name) for name in models}
        self.hull_: Hull = hull(self.predictions_)
        self._decide()
        return self

    def aim_at(
        self,
        context: Context | UncertainContext | None = None,
        *,
        criterion: str | Callable[..., Any] | None = None,
        subject_to: str | Constraint | Sequence[str | Constraint] = (),
        mixture: Mapping[str, float] | None = None,
    ) -> Self:
        """Return a copy for another context, with the same fitted models.

        Raises
        ------
        LabelError
            If the fit took either class for the positive one, and costs or constraints now distinguish them.
        """
        validation.check_is_fitted(self, "hull_")
        aimed = copy(self)
        aimed.predictions_ = self.predictions_  # which a copy, like a saved model, leaves out
        aimed.context = context
        aimed.criterion = criterion
        aimed.subject_to = subject_to
        aimed.mixture = mixture
        if not aimed._is_symmetric:
            wrapping.check_two_classes(self.classes_, self.pos_label, symmetric=False)
        aimed._decide()
        return aimed

    def predict(self, X: Any, *, ids: Any = None, random_state: Any = 0) -> Array:
        """Return the label of each row.

        Parameters
        ----------
        X : rows that the models take
        ids : array of one identifier a row, optional
            Fixes the lot of each case where lots are drawn, whatever its place; see `RandomizedRule.predict`.
        random_state : int, Generator, RandomState or None
            A different seed gives different random decisions.
        """
        validation.check_is_fitted(self, "hull_")
        rule = self.mixture_
        deciding = {self.decision_.model} if rule is None else {rule.first.model, rule.second.model}
        scores = {name: self._scores(self.named_estimators_[name], X, self._methods[name]) for name in deciding}
        if rule is None:
            return self._labels(self.decision_.predict(scores))
        return self._labels(rule.predict(scores, ids, random_state=random_state))

    @metaestimators.available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the chosen model; a mixture has none."""
        validation.check_is_fitted(self, "hull_")
        return self.named_estimators_[self.decision_.model].predict_proba(X)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with `deep` the parameters of each model as ``name__parameter``."""
        return self._cost_params(deep) | self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``name`` replaces a model and ``name__parameter`` sets one of its parameters."""
        return self._set_params("estimators", **self._with_cost_params(params))

    @property
    def _is_symmetric(self) -> bool:
        """True if the choice treats both classes equally."""
        return wrapping.check_aim(self.context, self.criterion, self.subject_to) and self.mixture is None

    def _decide(self) -> None:
        self.mixture_: RandomizedRule | None = None
        if self.mixture is not None:
            if (self.context, self.criterion, constraints_of(self.subject_to)) != (None, None, ()):
                raise InputError("mixture", expected="no context, criterion or constraint with it", got="both")
            self.mixture_ = self.hull_.mixture(**self.mixture)
        self.decision_ = choose(self.hull_, self.context, criterion=self.criterion, subject_to=self.subject_to)

    def _models(self) -> dict[str, Any]:
        pairs = list(self.estimators)
        names = [name for name, _ in pairs]
        if not pairs or len(set(names)) < len(names):
            expected = "(name, classifier) pairs of different names"
            raise InputError("estimators", expected=expected, got=check.listing(names) or "none")
        self._validate_names(names)
        return dict(pairs)


@held_to_contract
class ClassWeightClassifier(wrapping.WrappingClassifier):
    """Classifier that predicts argmax of w·p, with class weights chosen on pooled out-of-fold rows.

    Parameters
    ----------
    estimator : classifier with predict_proba
    objective : {"accuracy", "balanced_accuracy", "macro_f1"} or CostMatrix
        A cost matrix names the classes in the order of `classes_`.
    method : {"auto", "smooth", "coordinate", "greedy"}
        See `rocscope.multiclass.class_weights`.
    min_recall : float, or mapping from class to float, optional
        Least share of a class that must be found.
    cv, n_jobs : see `ThresholdClassifier`
    random_state : int, Generator, RandomState or None
        Seed of the folds, and of the search for weights.

    Attributes
    ----------
    decision_ : ClassWeights
        The weights, and what they predict out of fold.
    class_weight_ : array of k weights
    predictions_ : MulticlassPredictions
        The merged out-of-fold probabilities they were chosen from.
    estimator_ : classifier
        Fitted to all rows. `predict_proba` is its own: the weights decide, but do not recalibrate
        (``decision_.recalibrated`` does).
    classes_ : array of k labels

    Raises
    ------
    OneClassError
        If there is one class only.
    InputError
        If not even two classes have a second member, or the model has no predict_proba.

    Notes
    -----
    Probability 0 stands for a class that is absent from the training rows of a fold, as one of a single member is where
    it is tested. Weights of rows are treated as in
    `ThresholdClassifier`.

    References
    ----------
    Lachiche & Flach 2003, "Improving accuracy and cost of two-class and multi-class probabilistic classifiers using
    ROC curves", ICML.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> y = np.repeat(["common", "rare"], [90, 10])
    >>> X = np.random.default_rng(0).normal(size=(100, 1)) + 1.5 * (y == "rare")[:, np.newaxis]
    >>> model = ClassWeightClassifier(GaussianNB(), objective="balanced_accuracy").fit(X, y)
    >>> model.predict([[0.0], [1.3]]).tolist(), GaussianNB().fit(X, y).predict([[1.3]]).tolist()
    (['common', 'rare'], ['common'])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        objective: Name | CostMatrix = "accuracy",
        method: Method = "auto",
        min_recall: float | Mapping[Any, float] | None = None,
        cv: Any = 10,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.objective: Name | CostMatrix = objective
        self.method: Method = method
        self.min_recall = min_recall
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any) -> Self:
        """Choose the weights out of fold, and fit the model to all rows.

        Parameters
        ----------
        y : array of n labels
        X, sample_weight, groups, **params : see `ThresholdClassifier.fit`
        """
        X, y, weight = wrapping.check_rows(X, y, sample_weight)
        self.classes_ = np.unique(y)
        if self.classes_.size < 2:
            raise OneClassError("y", expected="two classes or more", got=f"one class, {self.classes_[0].item()!r}")
        wrapping.check_response(self.estimator, "predict_proba")
        self.predictions_, refit = self._out_of_fold(X, y, weight, groups, params, "predict_proba", None)
        (name,) = self.predictions_.models
        self.estimator_ = refit(name)
        self.decision_ = class_weights(
            self.predictions_,
            objective=self.objective,
            method=self.method,
            min_recall=self.min_recall,
            random_state=self.random_state,
        )
        self.class_weight_ = self.decision_.weight
        return self

    def predict(self, X: Any) -> Array:
        """Return the class with the largest weighted probability, or the lowest expected cost."""
        proba = class_scores(self._fitted(), X, self.classes_.tolist())
        return self.classes_[self.decision_.predict_index(proba)]


@held_to_contract
class ResampledClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier fitted to resampled rows, with probabilities corrected to the original prevalence.

    Parameters
    ----------
    estimator : classifier with predict_proba
    sampler : {"under", "over"} or sampler of imbalanced-learn
        The names stand for its RandomUnderSampler and RandomOverSampler, to equally frequent classes.
    random_state : int, RandomState or None
        Seed of a sampler given by name.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to the resampled rows; its own probabilities refer to their class mix.
    sampler_ : sampler
    train_prevalence_, prevalence_ : arrays of k shares
        Class mix of the resampled rows, and of all rows.
    classes_ : array of k labels

    Raises
    ------
    MissingDependencyError
        If imbalanced-learn is not installed: ``pip install rocscope[sampling]``.
    InputError
        If the model has no predict_proba, or the sampler left a class out.

    Notes
    -----
    Probabilities are multiplied by π_c/π₀_c, for a class mix π₀ of the resampled rows and π of all rows, and divided by
    their sum; with two classes that is `decisions.correct_probabilities`. It is right if rows of each class are
    resampled independently of their features: random over- and under-sampling. Samplers that make up rows or choose
    them by their place (SMOTE, NearMiss) change the distribution within a class, which nothing corrects.

    `predict` takes the most probable class at the original mix, so that it predicts a rare class about as seldom as a
    model of all rows. If errors differ in cost, wrap it: ``ThresholdClassifier(ResampledClassifier(…), context=…)``
    resamples inside each fold. Rows are resampled, so weights cannot be given.

    References
    ----------
    Elkan 2001, "The foundations of cost-sensitive learning", IJCAI; Saerens, Latinne & Decaestecker 2002, eq. 2.4.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> X, y = np.repeat([[0], [1], [0], [1]], [80, 10, 2, 8], axis=0), np.repeat([0, 0, 1, 1], [80, 10, 2, 8])
    >>> model = ResampledClassifier(BernoulliNB(alpha=1e-9), "over").fit(X, y)
    >>> model.train_prevalence_, model.prevalence_
    (array([0.5, 0.5]), array([0.9, 0.1]))
    >>> bool(model.estimator_.predict_proba([[1]])[0, 1] > 0.8), bool(model.predict_proba([[1]])[0, 1] < 0.6)
    (True, True)
    """

    def __init__(self, estimator: Any, sampler: Any = "under", *, random_state: Any = 0) -> None:
        self.estimator = estimator
        self.sampler = sampler
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Resample the rows and fit the model to them.

        Parameters
        ----------
        X : n × d array or frame that the sampler takes
        y : array of n labels
        """
        wrapping.check_response(self.estimator, "predict_proba")
        X, y, _ = wrapping.check_rows(X, y, None)
        self.classes_, size = np.unique(y, return_counts=True)
        if size.size < 2:
            raise OneClassError("y", expected="two classes or more", got=f"one class, {self.classes_[0].item()!r}")
        self.sampler_: Any = self._new_sampler()
        if isinstance(self.sampler, str):
            # Random samplers look at labels only, so that they may draw row numbers of any kind of table.
            drawn, labels = self.sampler_.fit_resample(np.arange(y.size)[:, np.newaxis], y)
            rows = take_rows(attributes(X, y.size), drawn[:, 0])
        else:
            rows, labels = self.sampler_.fit_resample(X, y)
        kept = np.array([(labels == label).sum() for label in self.classes_])
        if not kept.all():
            lost = self.classes_[kept == 0].tolist()
            raise InputError("sampler", expected="rows of every class", got=f"none of {check.listing(lost)}")
        self.train_prevalence_, self.prevalence_ = kept / kept.sum(), size / size.sum()
        model: Any = clone(self.estimator)
        self.estimator_: Any = model.fit(rows, labels)
        wrapping.take_over_features(self, self.estimator_)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities (n × k) at the prevalence of all rows."""
        validation.check_is_fitted(self)
        proba = class_scores(self.estimator_, X, self.classes_.tolist())
        if self.classes_.size == 2:
            train, target = self.train_prevalence_[1].item(), self.prevalence_[1].item()
            positive = correct_probabilities(proba[:, 1], train_prevalence=train, target_prevalence=target)
            return np.column_stack([1 - positive, positive])
        # Elkan 2001: multiply by π_c/π₀_c and normalise.
        corrected = proba * (self.prevalence_ / self.train_prevalence_)
        return corrected / corrected.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row at the prevalence of all rows."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def _new_sampler(self) -> Any:
        if not isinstance(self.sampler, str):
            return clone(self.sampler)
        check.check_choice("sampler", self.sampler, ["under", "over"])
        try:
            from imblearn import over_sampling, under_sampling
        except ImportError as error:
            hint = "pip install rocscope[sampling]"
            raise MissingDependencyError("imbalanced-learn is not installed", hint=hint) from error
        if self.sampler == "under":
            return under_sampling.RandomUnderSampler(random_state=self.random_state)
        return over_sampling.RandomOverSampler(random_state=self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.input_tags.allow_nan = False  # many samplers refuse missing values, whatever the model takes
        return tags
