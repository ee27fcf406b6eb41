"""HullClassifier: the best of several models, or a mixture of two, for a context."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Literal, Self

from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.validation import check_is_fitted

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.core.context import Context
from rocscope.decisions.choosing import choose
from rocscope.decisions.constraints import Constraint, constraints_of
from rocscope.decisions.decision import Decision
from rocscope.decisions.model_hull import Hull, hull
from rocscope.decisions.randomized.randomized_rule import RandomizedRule
from rocscope.decisions.uncertain_context import UncertainContext
from rocscope.errors import InputError
from rocscope.estimators.wrapping import (
    FoldedClassifier,
    TwoClasses,
    check_aim,
    check_response,
    check_rows,
    check_two_classes,
)


def _one_decides(classifier: "HullClassifier") -> bool:
    if not hasattr(classifier, "decision_"):
        models = classifier._models().values()
    elif classifier.mixture_ is None:
        models = [classifier.named_estimators_[classifier.decision_.model]]
    else:
        return False
    return all(hasattr(model, "predict_proba") for model in models)


@held_to_contract
class HullClassifier(TwoClasses, FoldedClassifier, _BaseComposition):
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
        The model and threshold, with counts and costs out of fold; where a mixture decides, what it stands beside:
        the choice of highest accuracy.
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
        If there are no models, names repeat, or a context and a mixture are both asked for; see also
        `ThresholdClassifier`.

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
        X, y, weight = check_rows(X, y, sample_weight)
        symmetric = self._is_symmetric
        self.classes_, self.pos_label_ = check_two_classes(y, self.pos_label, symmetric=symmetric)
        self._methods = {name: check_response(each, self.response_method) for name, each in models.items()}
        self.predictions_, refit = self._out_of_fold(
            X, y, weight, groups, params, response=self.response_method, positive=self._positive
        )
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
            If the fit took either class for the positive one, and costs or constraints now tell them apart.
        """
        check_is_fitted(self, "hull_")
        aimed = copy(self)
        aimed.context, aimed.criterion, aimed.subject_to, aimed.mixture = context, criterion, subject_to, mixture
        if not aimed._is_symmetric:
            check_two_classes(self.classes_, self.pos_label, symmetric=False)
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
            Another one draws other lots.
        """
        check_is_fitted(self, "hull_")
        mixed = self.mixture_
        ends = {self.decision_.model} if mixed is None else {mixed.first.model, mixed.second.model}
        scores = {name: self._scores(self.named_estimators_[name], X, self._methods[name]) for name in ends}
        if mixed is None:
            return self._labels(self.decision_.predict(scores))
        return self._labels(mixed.predict(scores, ids, random_state=random_state))

    @available_if(_one_decides)
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the chosen model; a mixture has none."""
        check_is_fitted(self, "hull_")
        return self.named_estimators_[self.decision_.model].predict_proba(X)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with `deep` those of each model as ``name__parameter``."""
        return self._costs(deep) | self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``name`` replaces a model and ``name__parameter`` sets one of its parameters."""
        return self._set_params("estimators", **self._with_costs(params))

    @property
    def _is_symmetric(self) -> bool:
        """Whether the choice treats both classes alike."""
        return check_aim(self.context, self.criterion, self.subject_to) and self.mixture is None

    def _decide(self) -> None:
        beside = (self.context, self.criterion, constraints_of(self.subject_to))
        if self.mixture is not None and beside != (None, None, ()):
            raise InputError("mixture", expected="no context, criterion or constraint beside it", got="both")
        self.mixture_: RandomizedRule | None = None if self.mixture is None else self.hull_.mixture(**self.mixture)
        self.decision_: Decision = choose(
            self.hull_, self.context, criterion=self.criterion, subject_to=self.subject_to
        )

    def _models(self) -> dict[str, Any]:
        pairs = list(self.estimators)
        names = [name for name, _ in pairs]
        if not pairs or len(set(names)) < len(names):
            raise InputError(
                "estimators", expected="(name, classifier) pairs of different names", got=check.listing(names) or "none"
            )
        self._validate_names(names)
        return dict(pairs)
