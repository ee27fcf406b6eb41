"""Search over models and settings, with an estimate of the winner's performance on new cases.

All candidates are fitted in the same folds. The best of many candidates looks better than it is, because it was chosen
for its value on these cases. To estimate this optimism without further fits, the choice is repeated on nine tenths of
the cases, and the winner is evaluated on the remaining tenth (Tsamardinos, Greasidou & Borboudakis 2018).

The metric on a subset of the cases is approximated to first order: the metric on all cases, plus the mean influence of
the cases in the subset. Therefore, the repeated choices need only the influence of each unit on the metric of each
candidate; see `_CandidateFigures`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf, nan, sqrt
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.core import Context, Predictions, Result
from rocscope.core.applying import predict
from rocscope.core.context import costs_of_rows
from rocscope.decisions import Constraint, Decision, choose
from rocscope.decisions.constraints import criterion_of
from rocscope.errors import InfeasibleError, InputError
from rocscope.estimators import wrapping
from rocscope.evaluation.fitting import candidates_of, candidates_with_settings, named_models
from rocscope.figures import registry
from rocscope.figures.influence import Smooth
from rocscope.inference.estimate import Estimate
from rocscope.inference.expected_costs import sample_of_means
from rocscope.inference.influence_estimates import Values, estimate_value, values_of_rows

# Choices are repeated on nine tenths of the cases, 10 · 20 times, which gives the mean within 1% of a standard error.
_PARTS = 10
_DRAWS = 20

_FOLD_VARIANCE = 1.12
"""Factor for the variance of a threshold-free metric, because the model of each fold depends on its training rows.

Intervals of decisions (cost, or a metric at one threshold) already account for this dependence. The optimism of the
choice is added as a further error. With both, the intervals reach their nominal coverage in simulations
(benchmarks/estimators).
"""


@dataclass(frozen=True)
class SearchCandidate(Result):
    """A candidate of a search: one model with one setting of its parameters.

    Attributes
    ----------
    name : str
        Name of the model, followed by its parameter setting if there are several.
    value : float
        Out-of-fold value of the metric. A cost, or a metric that depends on a threshold, is evaluated at the best
        threshold.
    worse_by : float
        Amount by which the value is worse than the value of the best candidate; 0 for the best candidate.
    standard_error : float
        Standard error of the difference `worse_by`, paired by case.
    threshold : float
        Best threshold; NaN if the metric does not depend on a threshold.
    """

    name: str
    value: float
    worse_by: float
    standard_error: float
    threshold: float = nan


class _CandidateFigures(NamedTuple):
    """Values of the metric for all candidates, and influences of the units (cases or groups of cases).

    Attributes
    ----------
    values : array of m values
        Metric of each candidate.
    moves : units × m array
        Influence of each unit on the metric of each candidate.
    frequency : array
        Number of equal cases that each unit represents.
    scale : float
        Factor that converts a sum of squared influences into a variance.
    decisions : dict from name to Decision
        Decision of each candidate with an admissible threshold; empty for a threshold-free metric.
    estimate : function
        Returns the estimate of the candidate with a given index.
    """

    values: Array
    moves: Array
    frequency: Array
    scale: float
    decisions: dict[str, Decision]
    estimate: Callable[[int], Estimate]


@held_to_contract
class Search(wrapping.TwoClasses, wrapping.WrappingClassifier):
    """Search over models and settings, with an estimate of the winner's performance on new cases.

    Parameters
    ----------
    estimator : classifier, search of scikit-learn, list of them, or mapping from name to one of them
        Candidates. Each parameter setting of a `GridSearchCV` or `RandomizedSearchCV` is one candidate; the folds and
        scoring of these searches are ignored. List simple models first if `one_standard_error` is True.
    context : Context, optional
        Prevalence and costs for minimising the expected cost. By default, false positives and false negatives have the
        same cost.
    criterion : str, optional
        Metric to optimise instead of the expected cost. It is either threshold-free, such as "auc", "brier" or
        "average_precision", or evaluated at the best threshold, such as "f1".
    subject_to : constraints
        Constraints on the threshold, such as ``"tpr >= .9"``. A candidate is omitted if in any repeat no threshold
        satisfies the constraints.
    one_standard_error : bool
        If True, choose the first candidate in the list that is worse than the best candidate by at most one standard
        error of the paired difference (Breiman et al. 1984). If False, choose the best candidate.
    cv, response_method, pos_label, random_state, n_jobs : see `ThresholdClassifier`
        All candidates use the same folds.
    repeats : int
        Number of repetitions of the cross-validation; with `max_width`, the maximum number.
    max_width : float, optional
        Stop repeating as soon as the width of the winner's confidence interval is at most this value.

    Attributes
    ----------
    estimate_ : Estimate
        Estimate of the winner's metric on new cases, corrected for the choice of the candidate and the threshold.
    apparent_ : float
        The winner's out-of-fold metric without this correction.
    best_ : str
        Name of the winner.
    best_estimator_, best_params_, cv_results_ : see `sklearn.model_selection.GridSearchCV`
    candidates_ : list of SearchCandidate
        All candidates, in the order given.
    decision_ : Decision or None
        Decision at the winner's threshold, with confusion matrix and cost; None if the metric does not depend on a
        threshold.
    threshold_ : float
        The winner's threshold; NaN if the metric does not depend on a threshold.
    repeats_ : int
        Number of repetitions of the cross-validation that were run.
    predictions_ : Predictions
        Out-of-fold scores of all candidates in the first repeat.
    estimator_ : classifier
        The winner, fitted to all rows.
    classes_ : array of 2
        Labels of both classes, sorted.
    pos_label_ : label
        Label of the positive class.

    Raises
    ------
    InfeasibleError
        If no candidate satisfies the constraints in every repeat. All errors of `ThresholdClassifier` can also be
        raised.

    Notes
    -----
    All candidates are fitted in the same folds. To estimate the optimism of the choice, the choice is repeated 200
    times on nine tenths of the cases, and each winner is evaluated on the remaining tenth. This needs no further fits
    (Tsamardinos, Greasidou & Borboudakis 2018). The winner's estimate is corrected by this optimism, and the interval
    becomes wider. docs/guide/estimators.md reports the coverage of the interval.

    References
    ----------
    Breiman, Friedman, Olshen & Stone 1984, Classification and Regression Trees, §3.4.3; Tsamardinos, Greasidou &
    Borboudakis 2018, Mach. Learn. 107:1895–1922.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> y = np.repeat([0, 1, 0, 1], [25, 5, 5, 25])
    >>> near = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9]})
    >>> search = Search({"line": LogisticRegression(), "near": near}, criterion="auc", cv=5).fit(X, y)
    >>> [candidate.name for candidate in search.candidates_], search.best_
    (['line', 'near, n_neighbors=1', 'near, n_neighbors=9'], 'line')
    >>> search.apparent_ >= search.estimate_.value > 0.8
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        context: Context | None = None,
        criterion: str | None = None,
        subject_to: str | Constraint | Sequence[str | Constraint] = (),
        one_standard_error: bool = False,
        cv: Any = 10,
        repeats: int = 1,
        max_width: float | None = None,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        pos_label: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.context = context
        self.criterion = criterion
        self.subject_to = subject_to
        self.one_standard_error = one_standard_error
        self.cv = cv
        self.repeats = repeats
        self.max_width = max_width
        self.response_method = response_method
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any) -> Self:
        """Choose the best candidate by cross-validation, and fit it to all rows.

        Parameters
        ----------
        X, y, sample_weight, groups, **params : see `ThresholdClassifier.fit`

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> search = Search({"line": LogisticRegression()}, criterion="auc", cv=5).fit(X, y)
        >>> search.best_, bool(search.estimate_.value > 0.8)
        ('line', True)
        """
        X, y, weight = wrapping.check_rows(X, y, sample_weight)
        check.check_whole(self.repeats, "repeats")
        goal = _goal_of(self)
        self.classes_, self.pos_label_ = wrapping.check_two_classes(y, self.pos_label, symmetric=goal.symmetric)
        self._candidates, self._settings = {}, {}
        for name, (model, setting) in candidates_with_settings(
            self.estimator, check.seed_of(self.random_state)
        ).items():
            self._candidates[name] = model
            self._settings[name] = setting
        self._methods = {}
        for name, model in self._candidates.items():
            self._methods[name] = wrapping.check_response(model, self.response_method)
        arguments = (X, y, weight, groups, params, self.response_method, self._positive)
        repeats: list[_CandidateFigures] = []
        while True:
            predictions, refit = self._out_of_fold(*arguments, repeat=len(repeats))
            if not repeats:
                self.predictions_ = predictions
            repeats.append(goal.evaluate(predictions))
            winner = self._settle(repeats, goal)
            is_narrow = self.max_width is not None and self.estimate_.high - self.estimate_.low <= self.max_width
            if is_narrow or len(repeats) == self.repeats:
                break
        self.repeats_ = len(repeats)
        self.best_ = self.candidates_[winner].name
        self._method = self._methods[self.best_]
        # The threshold of the first repeat, because predictions_ contains its scores.
        self.decision_ = repeats[0].decisions.get(self.best_)
        self.threshold_ = nan if self.decision_ is None else self.decision_.threshold
        self.estimator_ = refit(self.best_)
        return self

    def predict(self, X: Any) -> Array:
        """Return the predicted label of each row: by `threshold_` if the metric has one, otherwise by the winner.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n rows
            Features of the rows.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1, 0, 1], [18, 2, 2, 18])
        >>> Search({"line": LogisticRegression()}, cv=5).fit(X, y).predict([[2.0], [38.0]])
        array([0, 1])
        """
        fitted = self._fitted()
        if self.decision_ is None:
            return fitted.predict(X)
        return self._labels(predict(self._scores(fitted, X, self._method), self.threshold_))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if `deep` is True, include each model's parameters as ``name__parameter``."""
        params = super().get_params(deep=deep)
        for name, model in self._listed_models().items() if deep else ():
            params[name] = model
            for parameter, value in model.get_params().items() if hasattr(model, "get_params") else ():
                params[f"{name}__{parameter}"] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``name`` replaces the model of this name, and ``name__parameter`` one of its parameters.

        Parameters
        ----------
        **params
            New values.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> search = Search({"line": LogisticRegression()}).set_params(line__C=0.1)
        >>> search.get_params()["line__C"], search.set_params(line=LogisticRegression(C=9)).estimator["line"].C
        (0.1, 9)
        """
        if "estimator" in params:
            self.estimator = params.pop("estimator")
        replaced = {name: params.pop(name) for name in self._listed_models() if name in params}
        if replaced:
            self.estimator = named_models(self.estimator) | replaced
        return super().set_params(**params)

    def _listed_models(self) -> dict[str, Any]:
        """Return the models of a list or mapping, by names that are not parameters of the search itself."""
        if not isinstance(self.estimator, Mapping | list | tuple):
            return {}
        own = self._get_param_names()
        return {name: model for name, model in named_models(self.estimator).items() if name not in own}

    @property
    def best_estimator_(self) -> Any:
        """The winner, fitted to all rows."""
        return self._fitted()

    @property
    def best_params_(self) -> dict[str, Any]:
        """Parameter setting of the winner; empty if the winner is not from a scikit-learn search."""
        self._fitted()
        return self._settings[self.best_]

    @property
    def cv_results_(self) -> dict[str, Any]:
        """Table of all candidates with parameters, scores and ranks, with keys as in scikit-learn's searches.

        Higher scores are better, so costs and other losses are negated. The score of an omitted candidate is NaN.
        """
        self._fitted()
        score = _goal_of(self).sign * np.array([candidate.value for candidate in self.candidates_])
        better = np.nan_to_num(score, nan=-inf)
        rank = 1 + (better[:, None] < better).sum(axis=1)
        return {
            "candidate": [candidate.name for candidate in self.candidates_],
            "params": [self._settings[candidate.name] for candidate in self.candidates_],
            "mean_test_score": score,
            "standard_error_of_difference": np.array([candidate.standard_error for candidate in self.candidates_]),
            "rank_test_score": rank,
        }

    def _named(self) -> dict[str, Any]:
        return self._candidates

    def _models(self) -> dict[str, Any]:
        # Scikit-learn requests metadata routing and tags before fit(); they do not depend on the random state.
        return getattr(self, "_candidates", None) or candidates_of(self.estimator, 0)

    def _settle(self, repeats: Sequence[_CandidateFigures], goal: "_Goal") -> int:
        """Choose the winner from all repeats so far, set `estimate_` and `candidates_`, and return its index."""
        # NaN for a candidate without an admissible threshold in some repeat.
        values = np.mean([figures.values for figures in repeats], axis=0)
        if np.isnan(values).all():
            message = f"no candidate satisfies the constraints in each of {len(repeats)} repeats"
            raise InfeasibleError(message, hint="loosen a constraint, or reduce repeats")
        moves = np.mean([figures.moves for figures in repeats], axis=0)
        covariance = repeats[0].scale * (moves.T @ (moves / repeats[0].frequency[:, None]))
        goodness = goal.sign * values
        rule = partial(_first_within_error, one_standard_error=self.one_standard_error)
        winner, errors = rule(goodness, covariance)
        held_out = []
        for of_most, of_rest in _approximate_splits(goodness, goal.sign * moves):
            held_out.append(of_rest[rule(of_most, covariance)[0]])
        optimism = float(goodness[winner] - np.mean(held_out))
        self.apparent_ = float(values[winner])
        self.estimate_ = _corrected_estimate(repeats, winner, -goal.sign * optimism, len(values))
        best = np.nanmax(goodness)  # omitted candidates have NaN
        self.candidates_ = []
        for i, name in enumerate(self.predictions_.models):
            decision = repeats[0].decisions.get(name)
            threshold = nan if decision is None else decision.threshold
            worse_by = float(best - goodness[i])
            candidate = SearchCandidate(name, float(values[i]), worse_by, float(errors[i]), threshold)
            self.candidates_.append(candidate)
        return winner


@dataclass(frozen=True)
class _Goal:
    """Objective of a search: a cost, a metric at one threshold, or a threshold-free metric."""

    sign: int
    symmetric: bool
    evaluate: Callable[[Predictions], _CandidateFigures]


def _goal_of(search: Search) -> _Goal:
    figure = None if search.criterion is None else registry.known(registry.scorer_name(search.criterion))
    context = search.context
    if context is not None and not isinstance(context, Context):
        raise InputError("context", expected="a Context", got=repr(context))
    symmetric = context is None and not search.subject_to
    if figure is not None and figure.needs in ("ranks", "probabilities"):
        if context is not None or search.subject_to:
            expected = "a threshold-free metric without context and constraints"
            got = "a context" if context is not None else "a constraint"
            raise InputError("criterion", expected=expected, got=got)
        smooth = registry.statistic_named(figure.name)[1]
        if not isinstance(smooth, Smooth):
            raise InputError("criterion", expected="a metric with an influence function", got=repr(search.criterion))
        return _Goal(figure.sign, symmetric, partial(_by_ranking, smooth=smooth))
    options = {"criterion": search.criterion, "subject_to": search.subject_to}
    if search.criterion is None:
        return _Goal(-1, symmetric, partial(_by_cost, context=Context.given(context), options=options))
    criterion = criterion_of(search.criterion)
    by_threshold = partial(_by_threshold, context=context, options=options, name=criterion.name)
    return _Goal(criterion.sign, symmetric, by_threshold)


def _by_ranking(predictions: Predictions, *, smooth: Smooth) -> _CandidateFigures:
    values = _values(predictions, smooth)
    moves, frequency = _moves_of_units(values.stratum.moves, values.stratum.frequency)
    estimate_of = cache(lambda i: estimate_value(values, i, 0.95, smooth.scale))
    return _CandidateFigures(values.values, moves, frequency, values.stratum.scale, {}, estimate_of)


def _by_cost(predictions: Predictions, *, context: Context, options: dict[str, Any]) -> _CandidateFigures:
    decisions = _decided(predictions, context, options)
    cost_if_positive, cost_if_negative = costs_of_rows(predictions.y_true, context, predictions.columns)
    costs = []
    for name, decision in decisions.items():
        positive = predict(predictions.scores[name], decision.threshold)
        costs.append(np.where(positive, cost_if_positive, cost_if_negative))
    means = sample_of_means(predictions, np.column_stack(costs), context.target_prevalence, None)
    moves, frequency = _moves_of_units(means.moves, means.frequency)
    # At a target prevalence each class has its own variance; one common factor approximates both.
    squares = (moves**2 / frequency[:, None]).sum()
    scale = float(np.trace(means.covariance) / squares) if squares else 1.0
    figures = _CandidateFigures(
        means.mean, moves, frequency, scale, decisions, lambda i: decisions[predictions.models[i]].interval()
    )
    return _of_all_candidates(figures, predictions)


def _by_threshold(
    predictions: Predictions, *, context: Context | None, options: dict[str, Any], name: str
) -> _CandidateFigures:
    decisions = _decided(predictions, context, options)
    figures = []
    for model, decision in decisions.items():
        figures.append(_values(predictions.select(models=[model]), registry.at(decision.threshold, name)))
    stratum = figures[0].stratum
    moves, frequency = _moves_of_units(np.hstack([values.stratum.moves for values in figures]), stratum.frequency)
    measured = _CandidateFigures(
        np.concatenate([values.values for values in figures]),
        moves,
        frequency,
        stratum.scale,
        decisions,
        lambda i: decisions[predictions.models[i]].interval(of="criterion"),
    )
    return _of_all_candidates(measured, predictions)


def _values(predictions: Predictions, statistic: Smooth) -> Values:
    return values_of_rows(predictions, statistic, groups=None, folds=None)


def _moves_of_units(moves: Array, frequency: Array | None) -> tuple[Array, Array]:
    """Return the influence of each unit (sum over its equal cases), and the number of cases of each unit."""
    frequency = np.ones(len(moves)) if frequency is None else frequency
    return moves * frequency[:, None], frequency


def _decided(predictions: Predictions, context: Context | None, options: dict[str, Any]) -> dict[str, Decision]:
    """Return the decision at the best threshold of each candidate; omit candidates without an admissible threshold."""
    decisions, refused = {}, None
    for name in predictions.models:
        try:
            decisions[name] = choose(predictions.select(models=[name]), context, **options)
        except InfeasibleError as error:
            refused = error
    if not decisions and refused is not None:
        raise refused
    return decisions


def _of_all_candidates(figures: _CandidateFigures, predictions: Predictions) -> _CandidateFigures:
    """Add NaN as the metric of each candidate without a decision; such candidates are never chosen."""
    names = list(predictions.models)
    decided = [names.index(name) for name in figures.decisions]
    values = np.full(len(names), nan)
    values[decided] = figures.values
    moves = np.zeros((len(figures.moves), len(names)))
    moves[:, decided] = figures.moves
    # The interval of a decision takes time and is needed again in each repeat, so it is cached.
    return figures._replace(values=values, moves=moves, estimate=cache(figures.estimate))


def _first_within_error(goodness: Array, covariance: Array, *, one_standard_error: bool) -> tuple[int, Array]:
    """Return the index of the chosen candidate, and standard errors of all differences from the best candidate."""
    known = np.where(np.isnan(goodness), -inf, goodness)
    best = int(known.argmax())
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance + variance[best] - 2 * covariance[best], 0))
    within = known[best] - known <= (error if one_standard_error else 0)
    return int(within.argmax()), error


def _approximate_splits(goodness: Array, moves: Array) -> Iterator[tuple[Array, Array]]:
    """Yield approximate metrics on most cases and on the remaining cases: θ + mean influence of the cases."""
    rng = np.random.default_rng(0)
    parts = min(_PARTS, len(moves))
    for _ in range(_DRAWS):
        part = rng.permutation(len(moves)) % parts
        sums = np.zeros((parts, moves.shape[1]))
        np.add.at(sums, part, moves)
        # Moves are influences divided by n and sum to 0. The metric of n/parts cases differs by `parts` times their
        # sum.
        for sum_of_part in sums:
            yield goodness - sum_of_part * parts / (parts - 1), goodness + sum_of_part * parts


def _corrected_estimate(repeats: Sequence[_CandidateFigures], winner: int, shift: float, candidates: int) -> Estimate:
    """Return the winner's estimate shifted by the optimism of the choice, with a wider interval."""
    estimates = [figures.estimate(winner) for figures in repeats]
    value = float(np.mean([estimate.value for estimate in estimates]))
    low = float(np.mean([estimate.low for estimate in estimates]))
    high = float(np.mean([estimate.high for estimate in estimates]))
    # 1.96 standard errors, for any method of the interval; never 0, because it is a divisor.
    error = max((high - low) / 2, 1e-300) / 1.96
    fold_variance = 1.0 if repeats[0].decisions else _FOLD_VARIANCE
    widening = sqrt(fold_variance + (shift / error) ** 2)
    centre = value + shift
    first = estimates[0]
    method = f"{first.method}; minus the optimism of choosing among {candidates}"
    low, high = centre - widening * (value - low), centre + widening * (high - value)
    return Estimate(centre, low, high, first.level, method, first.n, reason=first.reason)
