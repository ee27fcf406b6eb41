"""ThresholdClassifier: a classifier with a cross-validated decision threshold."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.decisions.choosing import choose
from rocscope.decisions.constraints import Constraint
from rocscope.decisions.decision import Decision
from rocscope.decisions.models import predict
from rocscope.decisions.uncertain_context import UncertainContext
from rocscope.errors import InfeasibleError, OneClassError
from rocscope.estimators.candidate_thresholds import CandidateThreshold, safest
from rocscope.estimators.wrapping import (
    TwoClasses,
    WrappingClassifier,
    check_aim,
    check_response,
    check_rows,
    check_two_classes,
)


@held_to_contract
class ThresholdClassifier(TwoClasses, WrappingClassifier):
    """Binary classifier whose threshold is chosen by one ROC analysis of merged out-of-fold scores.

    Parameters
    ----------
    estimator : classifier with predict_proba or decision_function
    context : Context or UncertainContext, optional
        Prevalence and costs; by default those of accuracy at the class mix of the training rows.
    criterion : str or function, optional
        What to maximise in place of lowest cost; see `rocscope.choose`.
    subject_to : constraints
        Such as ``"tpr >= .9"``; see `rocscope.choose`.
    cv : int, str, protocol, splitter, or pairs of row numbers
        Inner folds; see `rocscope.evaluate`.
    response_method : {"auto", "predict_proba", "decision_function"}
        Where scores come from; "auto" takes the first of them that the model has.
    pos_label : label, optional
        The positive class. If left out it is 1 of labels 0/1 or −1/1, True of False/True; where the choice
        treats both classes alike, as accuracy does, the second of any two labels.
    shrinkage : float
        How many rows of the rarer class the Bayes rule counts for beside the search, where cost (or accuracy) is all
        that is asked for, the same in every row; 0 takes the threshold of the search.
    random_state : int, Generator, RandomState or None
        Of the folds; None draws new ones at every fit.
    n_jobs : int, optional
        Folds fitted at a time.

    Attributes
    ----------
    threshold_ : float
        Positive iff ``score >= threshold_``; infinite where nobody, or everybody, is best predicted positive.
    decision_ : Decision
        How the threshold was chosen, with its counts and costs out of fold; where it is not that of the search, a note
        says from where it was moved.
    candidates_ : dict from name to CandidateThreshold
        The thresholds that were compared, with paired differences of cost; empty where only the search was asked for.
    predictions_ : Predictions
        The merged out-of-fold scores it was chosen from, with their folds; in the order of the training rows.
    fold_thresholds_ : array of one threshold a fold
        What the search finds on each fold's own rows; NaN where they hold one class only or nothing is admissible.
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

    The best of all thresholds is where a few rows say, the more so the further the costs are apart. The log-odds of the
    threshold are therefore taken between those of the search and those of the Bayes rule, where recalibrated scores
    (Platt's sigmoid, out of fold) reach the probability from which acting pays. They are r/(r + `shrinkage`) of the
    way to the search, where the rarer class has r rows. So with many rows the search decides.

    That threshold is compared with five others: the search, the Bayes rule, one halfway between the search and the
    Bayes rule of ranks, everybody and nobody. Each is set on all folds but one and judged on that one. If any costs
    less by more than a standard error of the paired difference, the cheapest of all is taken. So none of the others is
    better by 2 standard errors. What it saved: docs/guide/estimators.md. Other criteria and constraints take the
    search, and so do 20,000 rows of the rarer class.

    A number of folds means shuffled, stratified ones. A class with fewer members than folds is tested in some folds
    only, which the merged analysis does not mind, and there are no more folds than the largest class has members.

    `sample_weight` counts in the analysis, and goes to the model if its `fit`, or that of a pipeline's last step, takes
    it (through metadata routing, as the model requests). Folds are made of rows, so that an integer weight does not
    equal repeated rows exactly: those would fall into different folds. Cost beside the fits: one sort and about a
    millisecond.

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
        X, y, weight = check_rows(X, y, sample_weight)
        alike = check_aim(self.context, self.criterion, self.subject_to)
        check.check_number(self.shrinkage, "shrinkage", "a number of at least 0", least=0)
        self.classes_, self.pos_label_ = check_two_classes(y, self.pos_label, symmetric=alike)
        self._method = check_response(self.estimator, self.response_method)
        self.predictions_, refit = self._out_of_fold(
            X, y, weight, groups, params, response=self.response_method, positive=self._positive
        )
        (self.estimator_,) = map(refit, self.predictions_.models)
        self.decision_, self.candidates_ = self._choose(self.predictions_)
        self.threshold_ = self.decision_.threshold
        return self

    def predict(self, X: Any) -> Array:
        """Return the positive class where the score is at least the threshold, compared exactly."""
        return self._labels(predict(self._scores(self._fitted(), X, self._method), self.threshold_))

    @property
    def fold_thresholds_(self) -> Array:
        """What the search finds on each fold's own rows, in the order of the folds."""
        check_is_fitted(self, "predictions_")
        return np.array([self._threshold_of(fold) for fold in self.predictions_.by_fold().values()])

    @property
    def threshold_spread_(self) -> float:
        """Standard deviation of the folds' own thresholds."""
        own = self.fold_thresholds_
        own = own[~np.isnan(own)]
        if own.size < 2 or np.isinf(own).all():
            return math.nan
        return math.inf if np.isinf(own).any() else float(own.std(ddof=1))

    def _search(self, predictions: Predictions) -> Decision:
        return choose(predictions, self.context, criterion=self.criterion, subject_to=self.subject_to)

    def _choose(self, predictions: Predictions) -> tuple[Decision, dict[str, CandidateThreshold]]:
        best = self._search(predictions)
        of_costs = self.context is None or (isinstance(self.context, Context) and not self.context.columns)
        if not (self.shrinkage and of_costs) or self.criterion is not None or best.subject_to:
            return best, {}
        return safest(best, predictions, self.shrinkage, self._method == "predict_proba")

    def _threshold_of(self, fold: Predictions) -> float:
        try:
            return self._search(fold).threshold
        except (OneClassError, InfeasibleError):
            return math.nan
