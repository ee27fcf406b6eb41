"""Search: the best of several models and settings by cost or any figure, and what it is worth on new cases."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf, nan, sqrt
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.core.context import Context, costs_of_rows
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result
from rocscope.decisions.choosing import choose
from rocscope.decisions.constraints import Constraint, criterion_of, predict
from rocscope.decisions.decision import Decision
from rocscope.errors import InfeasibleError, InputError
from rocscope.estimators.wrapping import TwoClasses, WrappingClassifier, check_response, check_rows, check_two_classes
from rocscope.evaluation.fitting import candidates_of
from rocscope.figures.influence import Smooth
from rocscope.figures.registry import at, known, spelled, statistic_named
from rocscope.inference.estimate import Estimate
from rocscope.inference.expected_costs import sample_of_means
from rocscope.inference.influence_estimates import estimate_value, values_of_rows

_PARTS, _DRAWS = (
    10,
    20,
)  # choices repeated on nine tenths of the cases: 200 steady their mean to 1 % of a standard error
_OF_FOLDS = 1.12
"""Factor of the variance of a figure of a whole ranking, for what a fold's training rows leave to chance; intervals of
cost allow for it. With it, and the whole optimism as a further error, both cover (benchmarks/estimators)."""


@dataclass(frozen=True)
class SearchCandidate(Result):
    """One model at one setting.

    Attributes
    ----------
    name : str
    value : float
        Its figure out of fold; of a cost or a figure of one threshold, at the threshold that is best on these rows.
    worse_by : float
        How much worse than the best one.
    standard_error : float
        Of that difference, paired by case.
    threshold : float
        NaN where the figure has none.
    """

    name: str
    value: float
    worse_by: float
    standard_error: float
    threshold: float = nan


class _Judged(NamedTuple):
    """Figures of all candidates, how far each unit of cases moves them, and the estimate of one.

    `times` says how many equal cases a unit is, `scale` leads from sums of squared influences to a variance.
    """

    values: Array
    moves: Array
    times: Array
    scale: float
    decisions: dict[str, Decision]
    estimate: Callable[[int], Estimate]


@held_to_contract
class Search(TwoClasses, WrappingClassifier):
    """Search over models and settings that also says what its winner is worth on new cases.

    Parameters
    ----------
    estimator : classifier, search of scikit-learn, list of them, or mapping from name to one of them
        A `GridSearchCV` or `RandomizedSearchCV` stands for its settings, each of them a candidate; its own folds and
        scoring are not used. List simple candidates first.
    context : Context, optional
        Prevalence and costs, where cost is what counts; by default those of accuracy.
    criterion : str, optional
        A figure in place of cost: of a whole ranking ("auc", "brier", "average_precision") or of one threshold ("f1").
    subject_to : constraints
        Such as ``"tpr >= .9"``; candidates that no threshold makes admissible are left out.
    one_standard_error : bool
        Whether to take the first candidate that is worse than the best one by at most a standard error of the paired
        difference (Breiman et al. 1984), rather than the best one itself.
    cv, response_method, pos_label, random_state, n_jobs : see `ThresholdClassifier`
        Folds are the same for all candidates.
    repeats : int
        Up to how many times the folds are drawn.
    max_width : float, optional
        No more repeats once the interval of the winner's figure is that narrow.

    Attributes
    ----------
    estimate_ : Estimate
        The winner's figure on new cases, allowing for the choice among candidates and of the threshold.
    apparent_ : float
        The same as it looks on the rows that it was chosen on.
    best_ : str
    candidates_ : list of SearchCandidate
        In the order given.
    decision_ : Decision or None
        The winner's threshold, with its counts and costs; None where the figure has none.
    threshold_ : float
    repeats_ : int
        Repeats that were done.
    predictions_ : Predictions
        Out-of-fold scores of all candidates, of the first repeat.
    estimator_ : classifier
        The winner, fitted to all rows.
    classes_, pos_label_ : array of both labels, the positive one

    Raises
    ------
    InfeasibleError
        If no candidate satisfies the constraints; see also `ThresholdClassifier`.

    Notes
    -----
    All candidates are fitted in the same folds. The choice is then repeated on nine tenths of the cases, and each
    winner judged on the rest, 200 times; no model is fitted anew for that (Tsamardinos, Greasidou & Borboudakis 2018).
    What the choice makes the winner look better is taken off its estimate, and counts as a further error of it.
    Measured: docs/guide/estimators.md.

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
    >>> found = Search({"line": LogisticRegression(), "near": near}, criterion="auc", cv=5).fit(X, y)
    >>> [candidate.name for candidate in found.candidates_], found.best_
    (['line', 'near, n_neighbors=1', 'near, n_neighbors=9'], 'line')
    >>> found.apparent_ >= found.estimate_.value > 0.8
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        context: Context | None = None,
        criterion: str | None = None,
        subject_to: str | Constraint | Sequence[str | Constraint] = (),
        one_standard_error: bool = True,
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
        """Choose the candidate out of fold, and fit it to all rows.

        Parameters
        ----------
        X, y, sample_weight, groups, **params : see `ThresholdClassifier.fit`
        """
        X, y, weight = check_rows(X, y, sample_weight)
        check.check_whole(self.repeats, "repeats")
        goal = _goal_of(self)
        self.classes_, self.pos_label_ = check_two_classes(y, self.pos_label, symmetric=goal.symmetric)
        self._candidates = candidates_of(self.estimator, check.seed_of(self.random_state))
        self._methods = {name: check_response(each, self.response_method) for name, each in self._candidates.items()}
        options = {"response": self.response_method, "positive": self._positive}
        judged: list[_Judged] = []
        while True:
            found, refit = self._out_of_fold(X, y, weight, groups, params, repeat=len(judged), **options)
            self.predictions_ = self.predictions_ if judged else found
            judged.append(goal.judge(found))
            winner = self._settle(judged, goal)
            narrow = self.max_width is not None and self.estimate_.high - self.estimate_.low <= self.max_width
            if narrow or len(judged) == self.repeats:
                break
        self.repeats_ = len(judged)
        self.best_ = self.candidates_[winner].name
        self._method = self._methods[self.best_]
        self.decision_ = judged[0].decisions.get(self.best_)
        self.threshold_ = nan if self.decision_ is None else self.decision_.threshold
        self.estimator_ = refit(self.best_)
        return self

    def predict(self, X: Any) -> Array:
        """Return the positive class where the score is at least the threshold; without one, the winner's labels."""
        fitted = self._fitted()
        if self.decision_ is None:
            return fitted.predict(X)
        return self._labels(predict(self._scores(fitted, X, self._method), self.threshold_))

    def _named(self) -> dict[str, Any]:
        return self._candidates

    def _models(self) -> dict[str, Any]:
        return getattr(self, "_candidates", None) or candidates_of(self.estimator, 0)

    def _settle(self, judged: Sequence[_Judged], goal: "_Goal") -> int:
        """Choose a candidate by all repeats so far, estimate its figure, and return its number."""
        values = np.mean([each.values for each in judged], axis=0)
        moves = np.mean([each.moves for each in judged], axis=0)
        covariance = judged[0].scale * (moves.T @ (moves / judged[0].times[:, None]))
        goodness = goal.sign * values
        rule = partial(_first_good, one_standard_error=self.one_standard_error)
        winner, differences = rule(goodness, covariance)
        gained = [held[rule(kept, covariance)[0]] for kept, held in _parted(goodness, goal.sign * moves)]
        optimism = float(goodness[winner] - np.mean(gained))
        self.apparent_ = float(values[winner])
        self.estimate_ = _shifted(judged, winner, -goal.sign * optimism, len(values))
        names = self.predictions_.models
        thresholds = {name: decision.threshold for name, decision in judged[0].decisions.items()}
        worse = (np.nanmax(goodness) - goodness).tolist()  # NaN of candidates that are left out
        rows = zip(names, values.tolist(), worse, differences.tolist(), strict=True)
        self.candidates_ = [SearchCandidate(*row, threshold=thresholds.get(row[0], nan)) for row in rows]
        return winner


@dataclass(frozen=True)
class _Goal:
    """What a search is for: a cost, a figure of one threshold, or one of a whole ranking."""

    sign: int
    symmetric: bool
    judge: Callable[[Predictions], _Judged]


def _goal_of(search: Search) -> _Goal:
    figure = None if search.criterion is None else known(spelled(search.criterion))
    context = search.context
    if context is not None and not isinstance(context, Context):
        raise InputError("context", expected="a Context", got=repr(context))
    symmetric = context is None and not search.subject_to
    if figure is not None and figure.needs in ("ranks", "probabilities"):
        if context is not None or search.subject_to:
            got = "one" if context is not None else "a constraint"
            raise InputError(
                "criterion", expected="no context or constraint beside a figure without threshold", got=got
            )
        smooth = statistic_named(figure.name)[1]
        if not isinstance(smooth, Smooth):
            raise InputError("criterion", expected="a figure with an influence function", got=repr(search.criterion))
        return _Goal(figure.sign, symmetric, partial(_by_ranking, smooth=smooth))
    aim = {"criterion": search.criterion, "subject_to": search.subject_to}
    if search.criterion is None:
        return _Goal(-1, symmetric, partial(_by_cost, context=Context.given(context), aim=aim))
    by = criterion_of(search.criterion)
    return _Goal(by.sign, symmetric, partial(_by_threshold, context=context, aim=aim, name=by.name))


def _by_ranking(predictions: Predictions, *, smooth: Smooth) -> _Judged:
    found = values_of_rows(predictions, smooth, groups=None, folds=None, weights="auto")
    moves, times = _moves(found.stratum.moves, found.stratum.frequency)
    return _Judged(
        found.values,
        moves,
        times,
        found.stratum.scale,
        {},
        cache(lambda i: estimate_value(found, i, 0.95, smooth.scale)),
    )


def _by_cost(predictions: Predictions, *, context: Context, aim: dict[str, Any]) -> _Judged:
    decisions = _decided(predictions, context, aim)
    acted, left = costs_of_rows(predictions.y_true, context, predictions.columns)
    positive = [predict(predictions.scores[name], each.threshold) for name, each in decisions.items()]
    cost = np.column_stack([np.where(each, acted, left) for each in positive])
    found = sample_of_means(predictions, cost, context.target_prevalence, None, "auto")
    moves, times = _moves(found.moves, found.frequency)
    squares = (moves**2 / times[:, None]).sum()
    scale = float(np.trace(found.covariance) / squares) if squares else 1.0
    return _spread(predictions, decisions, (found.mean, moves, times, scale), lambda each: each.interval())


def _by_threshold(predictions: Predictions, *, context: Context | None, aim: dict[str, Any], name: str) -> _Judged:
    decisions = _decided(predictions, context, aim)
    found = []
    for model, each in decisions.items():
        own = predictions.select(models=[model])
        found.append(values_of_rows(own, at(each.threshold, name), groups=None, folds=None, weights="auto"))
    stratum = found[0].stratum
    moves, times = _moves(np.hstack([each.stratum.moves for each in found]), stratum.frequency)
    measured = np.concatenate([each.values for each in found]), moves, times, stratum.scale
    return _spread(predictions, decisions, measured, lambda each: each.interval(of="criterion"))


def _moves(moves: Array, times: Array | None) -> tuple[Array, Array]:
    """Return how far all cases of a unit move the values, and their number."""
    times = np.ones(len(moves)) if times is None else times
    return moves * times[:, None], times


def _decided(predictions: Predictions, context: Context | None, aim: dict[str, Any]) -> dict[str, Decision]:
    """Return the best threshold of each candidate that has an admissible one."""
    decisions, refused = {}, None
    for name in predictions.models:
        try:
            decisions[name] = choose(predictions.select(models=[name]), context, **aim)
        except InfeasibleError as error:
            refused = error
    if not decisions and refused is not None:
        raise refused
    return decisions


def _spread(
    predictions: Predictions,
    decisions: dict[str, Decision],
    measured: tuple[Array, Array, Array, float],
    interval: Callable[[Decision], Estimate],
) -> _Judged:
    """Return figures of all candidates; those without a decision are never taken."""
    values, moves, times, scale = measured
    names = list(predictions.models)
    places = [names.index(name) for name in decisions]
    every = np.full(len(names), nan)
    every[places] = values
    wide = np.zeros((len(moves), len(names)))
    wide[:, places] = moves
    return _Judged(
        every, wide, times, scale, decisions, cache(lambda i: interval(decisions[names[i]]))
    )  # once a repeat


def _first_good(goodness: Array, covariance: Array, *, one_standard_error: bool) -> tuple[int, Array]:
    """Return the first candidate within a standard error of the best, and standard errors of all differences to it."""
    known = np.where(np.isnan(goodness), -inf, goodness)
    best = int(known.argmax())
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance + variance[best] - 2 * covariance[best], 0))
    within = known[best] - known <= (error if one_standard_error else 0)
    return int(within.argmax()), error


def _parted(goodness: Array, moves: Array) -> Iterator[tuple[Array, Array]]:
    """Yield figures of most cases, and of the others, to first order: θ + mean influence of the cases."""
    rng = np.random.default_rng(0)
    parts = min(_PARTS, len(moves))
    for _ in range(_DRAWS):
        part = rng.permutation(len(moves)) % parts
        sums = np.zeros((parts, moves.shape[1]))
        np.add.at(sums, part, moves)
        for held in sums:
            yield goodness - held * parts / (parts - 1), goodness + held * parts


def _shifted(judged: Sequence[_Judged], winner: int, shift: float, of: int) -> Estimate:
    """Return the winner's estimate without what the choice made it look better, and with the error of the choice."""
    each = [one.estimate(winner) for one in judged]
    value, low, high = (float(np.mean([getattr(one, name) for one in each])) for name in ("value", "low", "high"))
    error = max((high - low) / 2, 1e-300) / 1.96  # of the interval, whatever its method
    wider = sqrt((1 if judged[0].decisions else _OF_FOLDS) + (shift / error) ** 2)
    centre, method = value + shift, f"{each[0].method}; less what choosing among {of} gains"
    ends = centre - wider * (value - low), centre + wider * (high - value)
    return Estimate(centre, *ends, each[0].level, method, each[0].n, reason=each[0].reason)
