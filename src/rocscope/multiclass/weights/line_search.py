"""Exact search along the weight of one class: what is predicted changes only where a row changes sides.

A case is predicted as c if w_c exceeds t = max of the other w_j·p_j over p_c. So the confusion matrix is constant
between neighbouring t, and one sort of them shows all that the weight of c can do.
"""

from dataclasses import dataclass, replace

import numpy as np

from rocscope import kernels
from rocscope._types import Array
from rocscope.multiclass.weights.objective import Objective, Score

_ROUNDING = 1e-7
_NEXT = 1 + 1e-12  # weights closer than this are one weight but for rounding


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to be predicted as argmax of w·p, and what for.

    Attributes
    ----------
    y : array of n class indices
    proba : n × k array
    weight : array of n case weights, or of a single 1 where all count alike
    objective : Objective
    """

    y: Array
    proba: Array
    weight: Array
    objective: Objective

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.proba.shape[1]

    @property
    def total(self) -> float:
        """Sum of the case weights."""
        return self.y.size * self.weight.sum() if self.weight.size == 1 else self.weight.sum()

    def counts(self, class_weight: Array) -> Array:
        """Return the confusion matrix of these class weights."""
        if self.is_large:
            counts = np.zeros((self.k, self.k))
            kernels.classes.count_predicted(self.y, self.proba, self.weight, class_weight, counts)
            return counts
        return self.table((self.proba * class_weight).argmax(axis=1))

    def table(self, predicted: Array) -> Array:
        """Return the confusion matrix of predicted class indices."""
        weight = None if self.weight.size == 1 else self.weight
        return np.bincount(self.y * self.k + predicted, weight, self.k**2).reshape(self.k, self.k).astype(np.float64)

    @property
    def is_large(self) -> bool:
        """Whether the compiled loops are worth their start."""
        return self.y.size >= kernels.SMALL

    def score(self, class_weight: Array) -> Score:
        """Return the score of these class weights."""
        return self.objective.score(self.counts(class_weight))

    def rows(self, kept: Array) -> "Problem":
        """Return the problem of some of the rows; the objective stays."""
        return replace(
            self,
            y=self.y[kept],
            proba=self.proba[kept],
            weight=self.weight if self.weight.size == 1 else self.weight[kept],
        )


def line_search(problem: Problem, class_weight: Array, cls: int) -> Array:
    """Return the class weights with the best weight for one class, all others staying as they are.

    Notes
    -----
    The best of all weights that put no row on a tie; of several equally good ranges the widest, of which the middle
    is taken, on the logarithmic scale. O(n·k + n log n).
    """
    ladder = _compiled(problem, class_weight, cls) if problem.is_large else _vectorised(problem, class_weight, cls)
    below, above = ladder.best_range()
    if below == 0 and above == np.inf:
        return class_weight
    moved = class_weight.copy()
    if below > 0 and above < np.inf:
        moved[cls] = np.sqrt(below) * np.sqrt(above)
    else:
        moved[cls] = above / 2 if above < np.inf else below * 2
    return moved


@dataclass(frozen=True, eq=False)
class _Ladder:
    """The weights at which rows change to the class, in order, and the scores between them.

    Attributes
    ----------
    sides : array of n weights, increasing
        Rows at 0 are always predicted as the class, no other having a probability; those at infinity never.
    steps : array
        Numbers of changed rows between which no two rows change at once.
    lacking, value : arrays, one entry a step
    """

    sides: Array
    steps: Array
    lacking: Array
    value: Array

    def best_range(self) -> tuple[float, float]:
        """Return the ends of the range of weights with the best score; of several the widest as a ratio."""
        width = np.zeros(self.steps.size)
        inner = self.steps[1:-1]
        width[1:-1] = self.sides[inner] / self.sides[inner - 1]
        best = np.flatnonzero(self.lacking == self.lacking.min())
        best = best[self.value[best] == self.value[best].max()]
        rows = self.steps[best[width[best].argmax()]]
        below = self.sides[rows - 1] if rows else 0.0
        above = self.sides[rows] if rows < self.sides.size else np.inf
        return float(below), float(above)


def _steps(sides: Array) -> Array:
    first, last = np.searchsorted(sides, 0.0, side="right"), np.searchsorted(sides, np.inf, side="left")
    between = sides[first:last]
    changes = first + np.flatnonzero(between[1:] > between[:-1] * _NEXT) + 1
    ends = [first, last] if last > first else [first]
    return np.concatenate([ends[:1], changes, ends[1:]]).astype(np.intp)


def _compiled(problem: Problem, class_weight: Array, cls: int) -> _Ladder:
    objective, k = problem.objective, problem.k
    cell, change = np.empty(problem.y.size, np.int32), np.empty(problem.y.size)
    kernels.classes.rivals(problem.y, problem.proba, class_weight, cls, cell, change)
    order, sides = np.argsort(change), np.sort(change)
    steps = _steps(sides)
    counts = np.zeros(k**2)
    kernels.classes.add_cells(cell, problem.weight, counts)
    counts = counts.reshape(k, k)
    hits, predicted = np.diagonal(counts).copy(), counts.sum(axis=0)
    present = int((objective.support > 0).sum())
    lacking, value = np.empty(steps[-1] + 1), np.empty(steps[-1] + 1)
    lacking[0] = objective.shortfall(hits)
    if objective.gain is None:
        gain, value[0] = np.empty((0, 0)), present * objective.macro_f1(hits, predicted)
    else:
        gain, value[0] = objective.gain.astype(np.float64), (objective.gain * counts).sum()
    support = objective.support.astype(np.float64)
    rows = order[: steps[-1]]
    kernels.classes.climb(
        rows, cell, problem.weight, cls, gain, support, objective.least_hits, hits, predicted, lacking, value
    )
    # What a long sum leaves of 0 is not lacking.
    return _Ladder(sides, steps, np.where(lacking[steps] > _ROUNDING, lacking[steps], 0.0), value[steps])


def _vectorised(problem: Problem, class_weight: Array, cls: int) -> _Ladder:
    """Return the same as `_compiled`."""
    weighted = problem.proba * class_weight
    weighted[:, cls] = -1.0
    other = weighted.argmax(axis=1)
    rival, own = np.take_along_axis(weighted, other[:, np.newaxis], axis=1)[:, 0], problem.proba[:, cls]
    with np.errstate(over="ignore"):
        change = np.divide(rival, own, out=np.full(own.shape, np.inf), where=own > 0)
    order = np.argsort(change)
    sides = change[order]
    steps = _steps(sides)
    return _Ladder(sides, steps, *_Changes(problem, cls, order[: steps[-1]], other).scores(steps))


@dataclass(frozen=True, eq=False)
class _Changes:
    """Rows in the `order` in which they change from the class `other` to `cls`."""

    problem: Problem
    cls: int
    order: Array
    other: Array

    def scores(self, steps: Array) -> tuple[Array, Array]:
        """Return what constraints lack and the value, after each number of steps."""
        objective, cls = self.problem.objective, self.cls
        counts = self.problem.table(self.other)
        y, other = self.problem.y[self.order], self.other[self.order]
        amount = self.problem.weight if self.problem.weight.size == 1 else self.problem.weight[self.order]
        constrained = bool(objective.least_hits.any())
        hits = None
        if constrained or objective.gain is None:
            hits = self._by_class(y, amount * ((y == cls).astype(np.int8) - (y == other)), steps)
            hits += np.diagonal(counts)
        lacking = objective.shortfall(hits) if hits is not None and constrained else np.zeros(steps.size)
        if hits is not None and objective.gain is None:
            predicted = counts.sum(axis=0) + self._by_class(other, -np.broadcast_to(amount, y.shape), steps)
            predicted[:, cls] += _after(np.broadcast_to(amount, y.shape), steps)
            return lacking, objective.macro_f1(hits, predicted)
        gain = objective.gain
        assert gain is not None
        return lacking, (gain * counts).sum() + _after((gain[y, cls] - gain[y, other]) * amount, steps)

    def _by_class(self, of: Array, amount: Array, steps: Array) -> Array:
        """Return the amounts of the rows of each class (column) after each number of steps."""
        return np.column_stack([_after(np.where(of == c, amount, 0), steps) for c in range(self.problem.k)])


def _after(amount: Array, steps: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(amount)])[steps]
