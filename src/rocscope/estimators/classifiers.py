"""Classifiers that choose a threshold, a model, class weights or a resampling inside their own `fit`.

The first three classifiers cross-validate a model inside `fit`, merge the out-of-fold scores, make one decision from
the merged scores, and refit the model to all rows. The decision therefore never uses the score of a row from a model
that was trained on this row.

- `ThresholdClassifier`: the threshold with the lowest cost, or with the highest value of another criterion. If the
  costs are unequal, the cheapest threshold depends on a few rows. The threshold is therefore shrunk towards the Bayes
  rule of recalibrated scores, and compared with other candidates on held-out folds. The first part of the file contains
  this shrinkage.
- `HullClassifier`: the best of several models, chosen on the common ROC hull of the models, or a random mixture of two
  models.
- `ClassWeightClassifier`: weights that multiply the probabilities of more than two classes.
- `ResampledClassifier`: over- or undersampled training rows, with corrected probabilities.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
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
from rocscope.core.applying import predict
from rocscope.decisions import choose, correct_probabilities
from rocscope.decisions.choosing import DEFAULT_THRESHOLD
from rocscope.decisions.constraints import Constraint, constraints_of
from rocscope.decisions.decision import Decision, at_threshold
from rocscope.decisions.model_hull import Hull, UncertainContext, hull
from rocscope.decisions.plan import Note
from rocscope.decisions.randomized import RandomizedRule
from rocscope.errors import InfeasibleError, InputError, MissingDependencyError, OneClassError
from rocscope.estimators import wrapping
from rocscope.evaluation.fitting import attributes, class_scores, take_rows
from rocscope.geometry.hull import pool
from rocscope.multiclass.class_weighting import Method, Name, class_weights
from rocscope.multiclass.costs import CostMatrix

# Another candidate is taken if its cost is lower by this number of standard errors. In a prototype on 34 tables with 6
# learners and 5 pairs of costs, 1 standard error had a lower cost than 0.25, 0.5, 1.5 and 2. The candidate "halfway"
# had a lower cost than other shares, smoothed costs and the Bayes rule of ranks. With the candidates below, only 1 and
# 1.5 were compared; their costs were .899 and .902 of those of scikit-learn's tuner (see benchmarks/estimators). Later,
# on 44 tables with up to four seeds, 0.5, 1, 1.5 and 2 had costs of .902, .898, .896 and .896. A bagged search cost
# .003 less, but was more often worse than "everybody" or "nobody".
#
# In a prototype without "halfway", on 71 tables with 5 learners and the costs 1 : 1, 1 : 5 and 5 : 1 (one seed), the
# candidates cost .949. The shrunk threshold of up to 750 further rows, scored by the deployed model, cost .958, so
# threshold rules have little left to gain. Two repetitions of the cross-validation cost .944; with the mean score of
# their fold models and the deployed model, .940. Medians over bootstrap samples and Platt's sigmoid of asinh(log-odds)
# changed less than .002.
_ERRORS = 1.0
_MANY = 20_000
"""Number of rows of the rarer class above which the search is precise enough without shrinkage."""

PREFERRED = "shrunk"

_FIXED = "break-even"
"""Break-even probability of the costs, the Bayes rule of calibrated probabilities. It is compared, but never chosen."""


@dataclass(frozen=True)
class CandidateThreshold(Result):
    """A candidate threshold with its out-of-fold cost.

    Attributes
    ----------
    threshold : float
        Threshold computed from all rows.
    cost : float
        Out-of-fold cost, as a multiple of the cost of missing all positives. The rows of each fold are evaluated at the
        threshold that is computed from the other folds.
    beyond : float
        Cost of this candidate minus the cost of the chosen candidate.
    standard_error : float
        Standard error of the paired difference `beyond`.
    """

    threshold: float
    cost: float
    beyond: float
    standard_error: float


def best_candidate(
    decision: Decision, predictions: Predictions, shrinkage: float, of_probabilities: bool
) -> tuple[Decision, dict[str, CandidateThreshold]]:
    """Return the decision at the best candidate threshold, and a dict of all candidates.

    Parameters
    ----------
    decision : Decision
        Decision at the cheapest of all thresholds of one model (the search).
    predictions : Predictions
        Out-of-fold scores from which the decision was made.
    shrinkage : float
        Number of rows of the rarer class at which the Bayes rule and the search have equal weight.
    of_probabilities : bool
        True if the scores are probabilities. Probabilities are recalibrated and averaged on the log-odds scale.

    Notes
    -----
    The decision is made at the shrunk threshold, unless another candidate is cheaper by more than one standard error of
    the paired difference. In this case, the decision is made at the cheapest candidate.
    """
    counts, context = predictions.counts(), decision.context
    # Thresholds are not compared if one action is always right, or if one kind of error is free (slope 0 or inf).
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
    notes: list[Note] = []
    if losses is not None:
        cost = losses.sum(axis=0)
        cost[names.index(_FIXED)] = math.inf  # not a candidate
        saved = losses[:, [names.index(PREFERRED)]] - losses
        if (saved.sum(axis=0) > _ERRORS * _error_of_sum(saved))[np.isfinite(cost)].any():
            chosen = names[int(cost.argmin())]
        difference = losses - losses[:, [names.index(chosen)]]
        error = _error_of_sum(difference)
        for i, name in enumerate(names):
            total = float(difference[:, i].sum())
            compared[name] = CandidateThreshold(thresholds[name], float(cost[i]), total, float(error[i]))
        fixed = compared.pop(_FIXED)
        if of_probabilities and fixed.beyond <= fixed.standard_error:
            text = (
                f"the fixed Bayes rule, score >= {fixed.threshold:.6g}, costs at most one standard error more out of "
            )
            text += "fold; you can omit the choice of a threshold"
            notes.append(Note("fixed_rule_suffices", text, threshold=fixed.threshold))
    threshold = thresholds[chosen]
    if threshold == decision.threshold:
        return replace(decision, notes=(*decision.notes, *notes)), compared
    text = f"{chosen}: moved from {decision.point.threshold_text}"
    if chosen not in ("everybody", "nobody"):
        text += f" towards the Bayes rule of recalibrated scores, {thresholds['Bayes rule']:.6g}"
    notes.insert(0, Note("moved_threshold", text, candidate=chosen, searched=decision.threshold))
    others = [name for name in compared if name != chosen]
    if others:
        text = f"no other candidate is cheaper out of fold by one standard error; the others are {', '.join(others)}"
        notes.insert(1, Note("no_candidate_cheaper", text, candidates=others))
    return at_threshold(decision, counts, threshold, "shrunk min_cost", tuple(notes)), compared


def _error_of_sum(values: Array) -> Array:
    n = len(values)
    return np.sqrt(n * values.var(axis=0, ddof=1)) if n > 1 else np.full(values.shape[1], math.inf)


@dataclass(frozen=True)
class _CandidateRule:
    """Candidate thresholds as a function of labels and scores; `slope` is the slope of the iso-performance lines."""

    slope: float
    shrinkage: float
    of_probabilities: bool

    def thresholds(
        self, y: Booleans, score: Array, weight: Array | None, search: float | None = None
    ) -> dict[str, float]:
        """Return all candidate thresholds by name; if `search` is None, compute the cheapest threshold."""
        if search is None:
            search = self._cheapest(y, score, weight)
        thresholds = {PREFERRED: search, "search": search, "everybody": -math.inf, "nobody": math.inf}
        odds = self._break_even_odds(y, weight)
        thresholds[_FIXED] = odds / (1 + odds)
        z = np.asarray(score, np.float64)
        least, most = -math.inf, math.inf
        if self.of_probabilities:
            z = special.logit(z)
            # Probabilities of 0 and 1 have infinite log-odds; replace them by one less or more than all finite
            # log-odds.
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
        """Return the cheapest threshold; of equally cheap thresholds, return the highest."""
        counts = ThresholdCounts.from_checked(y, score, weight)
        # Cost is lowest at the ROC point on the highest line with the iso-performance slope.
        benefit = counts.tp / counts.n_pos - self.slope * counts.fp / counts.n_neg
        best = int(benefit.argmax())
        if benefit[best] <= 0:
            return math.inf
        return -math.inf if best == len(counts) - 1 else float(counts.threshold[best])

    def _bayes_rule(self, z: Array, y: Booleans, weight: Array | None) -> float | None:
        """Return the z at which Platt's sigmoid gives the break-even probability; None if its slope is not positive."""
        platt = PlattRecalibrator().fit(z, y, weight)
        if not platt.slope_ > 0:
            return None
        return (math.log(self._break_even_odds(y, weight)) - platt.intercept_) / platt.slope_

    def _break_even_odds(self, y: Booleans, weight: Array | None) -> float:
        weight = np.ones(y.size) if weight is None else weight
        return float(self.slope * weight[y].sum() / weight[~y].sum())

    def _halfway(self, y: Booleans, score: Array, weight: Array | None, search: float) -> float:
        """Return the midpoint of the search and the Bayes rule, computed on the normal scores of the ranks."""
        n = score.size
        bayes = self._bayes_rule(special.ndtri((stats.rankdata(score) - 0.5) / n), y, weight)
        if bayes is None:
            return search
        ordered = np.sort(score).astype(np.float64)
        # Normal scores of ranks range from the share of half a row to the share of n minus half a row.
        half_a_row = 0.5 / n
        share_below = np.clip(np.searchsorted(ordered, search) / n, half_a_row, 1 - half_a_row)
        share = float(special.ndtr((special.ndtri(share_below) + bayes) / 2))
        # Less than three quarters of a row from either end, the candidate is "nobody" or "everybody".
        if not 1.5 * half_a_row < share < 1 - 1.5 * half_a_row:
            return math.inf if share > 0.5 else -math.inf
        return float(np.interp(share * n, np.arange(n) + 0.5, ordered))


def _held_out_losses(rule: _CandidateRule, predictions: Predictions, score: Array, names: list[str]) -> Array | None:
    """Return the weighted loss of each row (or group of rows) at each candidate threshold, computed on the other folds.

    Return None if there are no folds, or if all rows outside a fold belong to one class.
    """
    y, weight = predictions.y_true, predictions.sample_weight
    if predictions.fold is None:
        return None
    fold = np.unique(predictions.fold, return_inverse=True)[1]
    amount = np.ones(y.size) if weight is None else weight.astype(np.float64)
    # Units: missing all positives costs 1, and predicting all negatives positive costs `slope`.
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
            # Without a Bayes rule on these rows, use the search for the candidates that depend on it.
            positive = score[test] >= thresholds.get(name, thresholds["search"])
            losses[test, column] = np.where(y[test], miss[test] * ~positive, false_alarm[test] * positive)
    if predictions.groups is None:
        return losses
    group = np.unique(predictions.groups, return_inverse=True)[1]
    return np.stack([np.bincount(group, column) for column in losses.T], axis=1)


@held_to_contract
class ThresholdClassifier(wrapping.TwoClasses, wrapping.WrappingClassifier):
    """Binary classifier that chooses its threshold by one ROC analysis of the merged out-of-fold scores.

    The classifier fits any scikit-learn classifier and replaces its threshold.

    Parameters
    ----------
    estimator : classifier with predict_proba or decision_function
    context : Context or UncertainContext, optional
        Prevalence and costs. By default, false positives and false negatives have the same cost and the prevalence is
        that in the training rows; this maximises accuracy.
    criterion : str or function, optional
        Criterion to maximise, such as "f1", instead of minimising the cost; see `rocscope.choose`.
    subject_to : constraints
        Constraints on the threshold, such as ``"tpr >= .9"``; see `rocscope.choose`.
    cv : int, str, protocol, splitter, or pairs of row numbers
        Number of inner folds, or the splits into training and test rows; see `rocscope.evaluate`.
    response_method : {"auto", "predict_proba", "decision_function"}
        Method of the model that computes the scores. "auto" calls `predict_proba` if the model has this method,
        otherwise `decision_function`.
    pos_label : label, optional
        Label of the positive class. By default, 1 for labels 0/1 or −1/1, and True for labels False/True. If the
        objective treats both classes equally, as accuracy does, the default for other labels is the second label in
        sorted order.
    shrinkage : float
        Number of rows of the rarer class at which the Bayes rule and the search (see Notes) have equal weight. With 0,
        the threshold is not shrunk. The parameter has an effect only if the objective is accuracy, or a cost that is
        the same for all rows.
    random_state : int, Generator, RandomState or None
        Seed of the random folds; None draws different folds at every fit.
    n_jobs : int, optional
        Number of folds to fit in parallel.

    Attributes
    ----------
    threshold_ : float
        Chosen threshold: rows with ``score >= threshold_`` are predicted positive. It is ∞ if all rows should be
        predicted negative, and −∞ if all rows should be predicted positive.
    decision_ : Decision
        Decision at the chosen threshold, with the out-of-fold confusion matrix and cost. If shrinkage changed the
        threshold, a note contains the threshold before and after the change.
    candidates_ : dict from name to CandidateThreshold
        Candidate thresholds with their paired differences in cost; empty if the threshold was not shrunk.
    predictions_ : Predictions
        Merged out-of-fold scores and fold numbers, in the order of the training rows. A pickled model contains neither
        `predictions_` nor `fold_thresholds_`.
    fold_thresholds_ : array of floats
        Best threshold on the rows of each fold, without shrinkage. It is NaN if a class is missing in the fold, or if
        no threshold satisfies the constraints.
    threshold_spread_ : float
        Standard deviation of `fold_thresholds_`. It is NaN if fewer than two thresholds are known or if all are
        infinite, and inf if some are infinite.
    estimator_ : classifier
        Model fitted to all rows.
    classes_ : array of 2
        Labels of both classes, sorted.
    pos_label_ : label
        Label of the positive class.

    Raises
    ------
    LabelError, OneClassError
        If the number of classes is not two, or the positive class is unknown.
    InputError
        If a class has a single row, or if a fold is empty.
    InfeasibleError
        If no threshold satisfies the constraints.

    Notes
    -----
    The procedure of Vuk & Curk cross-validates the model and merges the scores of the test rows of all inner folds. One
    analysis of the merged scores on the ROC hull chooses the threshold. Then the model is fitted to all rows. The score
    of a row never comes from a model that was trained on this row.

    The best of all thresholds (the search) depends on a few rows, especially if the costs are very different. The
    search is therefore shrunk towards the Bayes rule. The Bayes rule is the score at which the recalibrated probability
    equals the break-even probability of the costs. Scores are recalibrated by Platt's sigmoid, fitted to the
    out-of-fold scores. The shrunk threshold is a weighted mean on the log-odds scale. The search has the weight r/(r +
    `shrinkage`), where r is the number of rows of the rarer class.

    The shrunk threshold is compared with five other thresholds: the search, the Bayes rule, the midpoint between the
    search and the Bayes rule of the ranks, all rows positive, and all rows negative. Each threshold is computed on all
    folds except one and evaluated on this fold. If a threshold costs less by more than one standard error of the paired
    difference, the cheapest threshold is chosen. docs/guide/estimators.md reports the savings. If the scores are
    probabilities, and the break-even probability costs at most one standard error more than the chosen threshold, a
    note in `decision_` says that the choice of a threshold can be omitted. The search is used
    without shrinkage for other criteria, with constraints, and if the rarer class has 20,000 rows or more.

    If `cv` is an int, the folds are shuffled and stratified. If a class has fewer rows than there are folds, some folds
    have no row of this class; the merged analysis does not need one. The number of folds is at most the size of the
    largest class.

    The analysis uses `sample_weight`. The weights are also passed to the model if its `fit`, or the `fit` of the last
    step of a pipeline, takes weights. If metadata routing is on, the model must request the weights. An integer weight
    is not exactly equal to repeated rows, because repeated rows would fall into different folds. In addition to the
    fits, the analysis takes one sort and about a millisecond.

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
        """Choose the threshold on out-of-fold scores, and fit the model to all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features, in any form that the model takes.
        y : array of n labels
            Labels of two classes.
        sample_weight : array of n weights, optional
            Weights of the rows.
        groups : array of n labels, optional
            Group of each row. All rows of a group are in the same inner fold. A search inside the model receives the
            groups if its `cv` splits by group.
        **params
            Amounts of the rows, if the context names them as costs: ``context=Context(cost_fn="loss")`` needs
            ``fit(X, y, loss=…)``. Further metadata for the model and the splitter requires metadata routing.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> equal = ThresholdClassifier(LogisticRegression(), cv=5).fit(X, y)
        >>> costly_misses = ThresholdClassifier(LogisticRegression(), context=Context(cost_fn=9), cv=5).fit(X, y)
        >>> costly_misses.threshold_ < equal.threshold_
        True
        >>> of_rows = ThresholdClassifier(LogisticRegression(), context=Context(cost_fn="loss"), cv=5, shrinkage=0)
        >>> of_rows.fit(X, y, loss=np.repeat([0, 30], [38, 2])).decision_.point.fn  # the last two rows are not missed
        18
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
        # Shrink only for costs that are the same in every row, because only they have this Bayes rule.
        plain_costs = self.context is None or (isinstance(self.context, Context) and not self.context.columns)
        if self.shrinkage and plain_costs and self.criterion is None and not self.decision_.subject_to:
            of_probabilities = self._method == "predict_proba"
            self.decision_, self.candidates_ = best_candidate(
                self.decision_, self.predictions_, self.shrinkage, of_probabilities
            )
        self.threshold_ = self.decision_.threshold
        return self

    def predict(self, X: Any) -> Array:
        """Return the predicted label of each row: positive for scores at or above the threshold, otherwise negative.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> ThresholdClassifier(LogisticRegression(), cv=5).fit(X, y).predict([[2.0], [38.0]])
        array([0, 1])
        """
        return self._labels(predict(self._scores(self._fitted(), X, self._method), self.threshold_))

    @property
    def fold_thresholds_(self) -> Array:
        """Best threshold on the rows of each fold, without shrinkage, in the order of the folds."""
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
        """Standard deviation of `fold_thresholds_`."""
        thresholds = self.fold_thresholds_
        known = thresholds[~np.isnan(thresholds)]
        if known.size < 2 or np.isinf(known).all():
            return math.nan
        return math.inf if np.isinf(known).any() else float(known.std(ddof=1))

    def _search(self, predictions: Predictions) -> Decision:
        return choose(predictions, self.context, criterion=self.criterion, subject_to=self.subject_to)


def _has_probabilities(classifier: "HullClassifier") -> bool:
    """Return True if a single model is chosen and has `predict_proba`; before the fit, if all models have it."""
    if not hasattr(classifier, "decision_"):
        models = classifier._models().values()
    elif classifier.mixture_ is None:
        models = [classifier.named_estimators_[classifier.decision_.model]]
    else:
        return False
    return all(hasattr(model, "predict_proba") for model in models)


def _around_vertices(counts: ThresholdCounts) -> ThresholdCounts:
    """Return counts at a few scores, which determine all decisions for costs.

    The scores are the highest one, the vertices of the hull, the next score after each vertex, and the lowest score at
    or above the default threshold. Rows with other scores are counted at the next lower of these scores.
    """
    corners = np.searchsorted(-counts.threshold, -pool(counts).threshold)
    at_default = np.count_nonzero(counts.threshold >= DEFAULT_THRESHOLD) - 1
    kept = np.unique(np.concatenate([[0, at_default], corners, corners + 1]).clip(0, len(counts) - 1))
    starts = np.append(0, kept[:-1] + 1)
    pos, neg = np.add.reduceat(counts.pos, starts), np.add.reduceat(counts.neg, starts)
    return ThresholdCounts(counts.threshold[kept], pos, neg)


@held_to_contract
class HullClassifier(wrapping.TwoClasses, wrapping.FoldedClassifier, metaestimators._BaseComposition):
    """Binary classifier that chooses the best of several models and its threshold for given costs.

    Parameters
    ----------
    estimators : list of (name, classifier) pairs
        Classifiers with predict_proba or decision_function.
    context, criterion, subject_to : see `ThresholdClassifier`
    mixture : mapping, optional
        Keyword arguments of `rocscope.decisions.mixture`, to predict with a random mixture of two models. Give a rate,
        such as ``{"fpr": 0.1}``, or a capacity, such as ``{"at_most": 800, "population": 4000}``. A mixture cannot be
        combined with `context`, `criterion` or `subject_to`.
    cv, response_method, pos_label, random_state, n_jobs : see `ThresholdClassifier`
        All models use the same inner folds.

    Attributes
    ----------
    decision_ : Decision
        Decision with the chosen model and threshold, the out-of-fold confusion matrix and the cost. With a mixture, the
        single model and threshold with the highest accuracy.
    mixture_ : RandomizedRule or None
        Random mixture of two models; None if `mixture` is None.
    hull_ : Hull
        Convex hull of the out-of-fold ROC curves of all models, with the best model at each operating point.
    predictions_ : Predictions
        Merged out-of-fold scores of all models.
    named_estimators_ : dict of classifiers
        All models by name, fitted to all rows.
    classes_ : array of 2
        Labels of both classes, sorted.
    pos_label_ : label
        Label of the positive class.

    Raises
    ------
    InputError
        If no model is given, two models have the same name, or a mixture is combined with a context, criterion or
        constraint. All errors of `ThresholdClassifier` can also be raised.

    Notes
    -----
    On the out-of-fold rows, the chosen model and threshold have the lowest cost of all models and thresholds. The cost
    in `decision_` is optimistic, because the model is chosen on the same rows. The optimism increases with the number
    of models.

    A mixture assigns each case to one of two models at random. To make this assignment reproducible, pass identifiers
    or a random state to `predict`.

    A pickled model contains no `predictions_`, and of `hull_` only the scores at the vertices of each model and next to
    them. `aim_at` then accepts costs and mixtures, but no criterion, constraint or amounts per row.

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
        """Choose the model and threshold on out-of-fold scores, and fit all models to all rows.

        Parameters
        ----------
        X, y, sample_weight, groups, **params : see `ThresholdClassifier.fit`

        Raises
        ------
        InputError
            If the estimators are not pairs of a name and a model, or if two names are equal.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> HullClassifier([("line", LogisticRegression())], cv=5).fit(X, y).decision_.model
        'line'
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
        """Return a copy that decides for different costs, a different criterion or a mixture; no model is refitted.

        Parameters
        ----------
        context, criterion, subject_to, mixture : see `HullClassifier`

        Raises
        ------
        LabelError
            If `pos_label` is None, but the new objective treats the classes differently and the labels do not show
            which class is positive.
        InputError
            If the model was read from a file, and the new objective needs the out-of-fold scores.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> model = HullClassifier([("line", LogisticRegression())], cv=5).fit(X, y)
        >>> model.aim_at(Context(cost_fn=9)).decision_.threshold < model.decision_.threshold
        True
        """
        validation.check_is_fitted(self, "hull_")
        aimed = copy(self)
        vars(aimed).update(vars(self))  # with the predictions, which a copy lacks
        aimed.context = context
        aimed.criterion = criterion
        aimed.subject_to = subject_to
        aimed.mixture = mixture
        if not aimed._is_symmetric:
            wrapping.check_two_classes(self.classes_, self.pos_label, symmetric=False)
        aimed._decide()
        return aimed

    def predict(self, X: Any, *, ids: Any = None, random_state: Any = 0) -> Array:
        """Return the predicted label of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features, in any form that the models take.
        ids : array of n identifiers, optional
            Identifiers of the rows. With a mixture, the hash of the identifier determines which model predicts a row;
            see `RandomizedRule.predict`.
        random_state : int, Generator, RandomState or None
            Seed for the random choice between the two models of a mixture, if `ids` is not given.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> HullClassifier([("line", LogisticRegression())], cv=5).fit(X, y).predict([[2.0], [38.0]])
        array([0, 1])
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
        """Return the class probabilities of the chosen model (n × 2); not available for a mixture.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> model = HullClassifier([("line", LogisticRegression())], cv=5).fit(X, y)
        >>> bool(model.predict_proba([[38.0]])[0, 1] > 0.5)
        True
        """
        validation.check_is_fitted(self, "hull_")
        return self.named_estimators_[self.decision_.model].predict_proba(X)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if `deep` is True, include each model's parameters as ``name__parameter``."""
        return self._cost_params(deep) | self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``name`` replaces the model of this name, and ``name__parameter`` one of its parameters.

        Parameters
        ----------
        **params
            New values.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> model = HullClassifier([("line", LogisticRegression())]).set_params(line__C=0.1)
        >>> model.get_params()["line__C"]
        0.1
        """
        return self._set_params("estimators", **self._with_cost_params(params))

    @property
    def _is_symmetric(self) -> bool:
        """True if the choice treats both classes equally."""
        return wrapping.check_aim(self.context, self.criterion, self.subject_to) and self.mixture is None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, with a few scores of the hull instead of all out-of-fold scores."""
        state = super().__getstate__()
        if "hull_" in state:
            counts: dict[str, Any] = self.hull_.counts
            state["hull_"] = hull({name: _around_vertices(of_model) for name, of_model in counts.items()})
        return state

    def _decide(self) -> None:
        self.mixture_: RandomizedRule | None = None
        with_scores = hasattr(self, "predictions_")
        vertices_suffice = self.criterion is None and not constraints_of(self.subject_to) and not self._amount_names
        if not (with_scores or vertices_suffice):
            expected = "equal costs in all rows, or a mixture, because a saved model has no training scores"
            got = "a criterion, a constraint or amounts per row"
            raise InputError("aim_at", expected=expected, got=got, hint="call aim_at before you save the model")
        if self.mixture is not None:
            if (self.context, self.criterion, constraints_of(self.subject_to)) != (None, None, ()):
                raise InputError(
                    "mixture", expected="no context, criterion or constraint together with a mixture", got="both"
                )
            self.mixture_ = self.hull_.mixture(**self.mixture)
        # A hull contains no amounts of single rows.
        source: Any = self.predictions_ if self._amount_names else self.hull_
        self.decision_ = choose(source, self.context, criterion=self.criterion, subject_to=self.subject_to)
        if not with_scores:
            # A copy has no interval. An interval from the vertices alone would ignore that they were chosen.
            self.decision_ = copy(self.decision_)

    def _models(self) -> dict[str, Any]:
        pairs = list(self.estimators)
        names = [name for name, _ in pairs]
        if not pairs or len(set(names)) < len(names):
            expected = "(name, classifier) pairs with different names"
            raise InputError("estimators", expected=expected, got=check.listing(names) or "no names")
        self._validate_names(names)
        return dict(pairs)


@held_to_contract
class ClassWeightClassifier(wrapping.WrappingClassifier):
    """Classifier that multiplies class probabilities by weights and predicts the class with the largest product.

    The weights are chosen on the merged out-of-fold probabilities.

    Parameters
    ----------
    estimator : classifier with predict_proba
    objective : {"accuracy", "balanced_accuracy", "macro_f1"} or CostMatrix
        Metric to maximise, or cost matrix whose expected cost is minimised. The classes of a cost matrix must be in
        sorted order, as in `classes_`.
    method : {"auto", "smooth", "coordinate", "greedy"}
        Method to find the weights; see `rocscope.multiclass.class_weights`.
    min_recall : float, or mapping from class to float, optional
        Minimum recall of every class (float) or of the named classes (mapping).
    cv, n_jobs : see `ThresholdClassifier`
    random_state : int, Generator, RandomState or None
        Seed of the random folds and of the search for weights.

    Attributes
    ----------
    decision_ : ClassWeights
        Chosen weights, with the out-of-fold confusion matrix.
    class_weight_ : array of k weights
        Weight of each class, in the order of `classes_`.
    predictions_ : MulticlassPredictions
        Merged out-of-fold probabilities from which the weights were chosen.
    estimator_ : classifier
        Model fitted to all rows. `predict_proba` returns the probabilities of this model unchanged;
        ``decision_.recalibrated`` returns recalibrated probabilities.
    classes_ : array of k labels
        Class labels, sorted.

    Raises
    ------
    OneClassError
        If there is only one class.
    InputError
        If fewer than two classes have two or more rows, or the model has no `predict_proba`.

    Notes
    -----
    If a class has no training row in a fold, its probability is 0 in this fold. Row weights are used as in
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
        """Choose the class weights on out-of-fold probabilities, and fit the model to all rows.

        Parameters
        ----------
        y : array of n labels
            Labels of two or more classes.
        X, sample_weight, groups, **params : see `ThresholdClassifier.fit`

        Raises
        ------
        OneClassError
            If there is only one class.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = np.arange(20.0).reshape(-1, 1), np.repeat(["a", "b"], [15, 5])
        >>> ClassWeightClassifier(GaussianNB(), cv=2).fit(X, y).class_weight_.shape
        (2,)
        """
        X, y, weight = wrapping.check_rows(X, y, sample_weight)
        self.classes_ = np.unique(y)
        if self.classes_.size < 2:
            raise OneClassError("y", expected="two or more classes", got=f"only one class, {self.classes_[0].item()!r}")
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
        """Return for each row the class with the largest weighted probability, or with the lowest expected cost.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Raises
        ------
        InputError
            If the model returns probabilities of other classes.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = np.arange(20.0).reshape(-1, 1), np.repeat(["a", "b"], [15, 5])
        >>> ClassWeightClassifier(GaussianNB(), cv=2).fit(X, y).predict([[1.0], [19.0]]).tolist()
        ['a', 'b']
        """
        proba = class_scores(self._fitted(), X, self.classes_.tolist())
        return self.classes_[self.decision_.predict_index(proba)]


@held_to_contract
class ResampledClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that fits a model to resampled rows and corrects its probabilities for the resampling.

    Parameters
    ----------
    estimator : classifier with predict_proba
    sampler : {"under", "over"} or sampler of imbalanced-learn
        Sampler of the training rows. "under" is imbalanced-learn's RandomUnderSampler, and "over" its
        RandomOverSampler; both make all classes the same size.
    random_state : int, RandomState or None
        Seed of the samplers "under" and "over".

    Attributes
    ----------
    estimator_ : classifier
        Model fitted to the resampled rows. The probabilities of this model are not corrected.
    sampler_ : sampler
        Sampler that resampled the rows.
    train_prevalence_ : array of k shares
        Share of each class in the resampled rows.
    prevalence_ : array of k shares
        Share of each class in the original rows.
    classes_ : array of k labels
        Class labels, sorted.

    Raises
    ------
    MissingDependencyError
        If imbalanced-learn is not installed: ``pip install rocscope[sampling]``.
    InputError
        If the model has no `predict_proba`, or the sampler removed a class.

    Notes
    -----
    Let π_c be the share of class c before resampling, and π₀_c its share after resampling. The probability of class c
    is multiplied by π_c/π₀_c. Then the k products are divided by their sum. For two classes,
    `decisions.correct_probabilities` computes the same. The correction is valid for random over- and undersampling,
    because they resample rows independently of the features. Samplers that create rows (SMOTE) or select rows by their
    features (NearMiss) change the distribution of the features within a class. The correction does not account for this
    change.

    `predict` returns the class with the highest corrected probability. It therefore predicts a rare class about as
    rarely as a model fitted to all rows. If errors have different costs, use
    ``ThresholdClassifier(ResampledClassifier(…), context=…)``, which resamples inside each fold. Row weights are not
    supported.

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
        X : n × d array or data frame
            Features, in any form that the sampler takes.
        y : array of n labels
            True classes.

        Raises
        ------
        OneClassError
            If there is only one class.
        InputError
            If the sampler is unknown, or returns no rows of some class.

        Examples
        --------
        The sampler repeats rows of class 1 until both classes have 90 rows:

        >>> from sklearn.naive_bayes import BernoulliNB
        >>> X, y = np.repeat([[0], [1], [0], [1]], [80, 10, 2, 8], axis=0), np.repeat([0, 0, 1, 1], [80, 10, 2, 8])
        >>> ResampledClassifier(BernoulliNB(), "over").fit(X, y).train_prevalence_
        array([0.5, 0.5])
        """
        wrapping.check_response(self.estimator, "predict_proba")
        X, y, _ = wrapping.check_rows(X, y, None)
        self.classes_, size = np.unique(y, return_counts=True)
        if size.size < 2:
            raise OneClassError("y", expected="two or more classes", got=f"only one class, {self.classes_[0].item()!r}")
        self.sampler_: Any = self._new_sampler()
        if isinstance(self.sampler, str):
            # Random samplers use labels only, so they can draw row numbers, for tables of any type.
            drawn, labels = self.sampler_.fit_resample(np.arange(y.size)[:, np.newaxis], y)
            rows = take_rows(attributes(X, y.size), drawn[:, 0])
        else:
            rows, labels = self.sampler_.fit_resample(X, y)
        kept = np.array([(labels == label).sum() for label in self.classes_])
        if not kept.all():
            lost = self.classes_[kept == 0].tolist()
            raise InputError("sampler", expected="rows of every class", got=f"no row of {check.listing(lost)}")
        self.train_prevalence_, self.prevalence_ = kept / kept.sum(), size / size.sum()
        model: Any = clone(self.estimator)
        self.estimator_: Any = model.fit(rows, labels)
        wrapping.take_over_features(self, self.estimator_)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class (n × k), corrected for the resampling.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        8 of the 18 rows with the feature 1 belong to class 1. The probabilities are close to this share:

        >>> from sklearn.naive_bayes import BernoulliNB
        >>> X, y = np.repeat([[0], [1], [0], [1]], [80, 10, 2, 8], axis=0), np.repeat([0, 0, 1, 1], [80, 10, 2, 8])
        >>> model = ResampledClassifier(BernoulliNB(), "over").fit(X, y)
        >>> bool(0.3 < model.predict_proba([[1]])[0, 1] < 0.6)
        True
        """
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
        """Return for each row the class with the highest corrected probability.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        8 of the 18 rows with the feature 1 belong to class 1, so class 0 is more probable:

        >>> from sklearn.naive_bayes import BernoulliNB
        >>> X, y = np.repeat([[0], [1], [0], [1]], [80, 10, 2, 8], axis=0), np.repeat([0, 0, 1, 1], [80, 10, 2, 8])
        >>> ResampledClassifier(BernoulliNB(), "over").fit(X, y).predict([[0], [1]])
        array([0, 0])
        """
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def _new_sampler(self) -> Any:
        if not isinstance(self.sampler, str):
            return clone(self.sampler)
        check.check_choice("sampler", self.sampler, ["under", "over"])
        try:
            from imblearn import over_sampling, under_sampling
        except ImportError as error:
            hint = "run pip install rocscope[sampling]"
            raise MissingDependencyError("imbalanced-learn is not installed", hint=hint) from error
        if self.sampler == "under":
            return under_sampling.RandomUnderSampler(random_state=self.random_state)
        return over_sampling.RandomOverSampler(random_state=self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.input_tags.allow_nan = False  # many samplers reject missing values, even if the model accepts them
        return tags
