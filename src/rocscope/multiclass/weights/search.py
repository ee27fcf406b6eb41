"""Searching class weights on the training rows: greedily, and by coordinate ascent from several starts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.multiclass.weights.line_search import Problem, line_search
from rocscope.multiclass.weights.objective import Objective

MANY_ROWS = 20_000
"""Above this number of rows the starts are improved on a random part first."""

_MOST_SWEEPS = 50
_SWEEPS_OF_MANY = 3
_RANDOM_STARTS = 4


def greedy(problem: Problem) -> Array:
    """Return class weights set one after another, each for the classes that came before (Lachiche & Flach 2003).

    Notes
    -----
    The most frequent class has the weight 1. Then each, by decreasing frequency, takes the weight that is best on the
    rows of the classes up to it, predicted as one of these; none is changed again. The order, and which rows a step
    looks at, are our reading of their hill-climbing in a pre-defined order.
    """
    order = np.argsort(-problem.objective.support, kind="stable")
    weight = np.ones(problem.k)
    for place in range(1, problem.k):
        known = np.sort(order[: place + 1])
        cls = int(np.searchsorted(known, order[place]))
        rows = np.isin(problem.y, known)
        if not rows.any():
            continue
        part = problem.rows(rows)
        part = replace(
            part,
            y=np.searchsorted(known, part.y),
            proba=part.proba.take(known, axis=1),
            objective=_among(problem.objective, known),
        )
        weight[known] = line_search(part, weight[known], cls)
    return weight


def _among(objective: Objective, known: Array) -> Objective:
    gain = None if objective.gain is None else objective.gain[np.ix_(known, known)]
    return replace(objective, gain=gain, support=objective.support[known], least_hits=objective.least_hits[known])


def coordinate_ascent(problem: Problem, start: Array, *, sweeps: int = _MOST_SWEEPS) -> Array:
    """Return class weights that no change of a single one improves, from a start on.

    Every step is the exact optimum along one weight and is taken only if the score rises.
    """
    weight, score = start, problem.score(start)
    unchanged = 0
    for step in range(sweeps * problem.k):
        moved = line_search(problem, weight, step % problem.k)
        reached = problem.score(moved)
        if reached > score:
            weight, score, unchanged = moved / np.exp(np.log(moved).mean()), reached, 0
            score = problem.score(weight)
        else:
            unchanged += 1
        if unchanged == problem.k:
            break
    return weight


def best_of_starts(problem: Problem, starts: Sequence[Array], seed: Any = 0) -> Array:
    """Return the best class weights that coordinate ascent reaches from equal, given and random starts.

    Notes
    -----
    Never worse than any of the starts on these rows. With more than 20,000 rows all starts are improved on a random
    part of so many; the best of them, and of the starts, is improved on all, for three sweeps at most.
    """
    starts = [np.ones(problem.k), *starts]
    random = np.exp(np.random.default_rng(seed).normal(size=(_RANDOM_STARTS, problem.k)))
    if problem.y.size <= MANY_ROWS:
        return max((coordinate_ascent(problem, start) for start in [*starts, *random]), key=problem.score)
    part = _part(problem, seed)
    improved = max((coordinate_ascent(part, start) for start in [*starts, *random]), key=part.score)
    best = max([*starts, improved], key=problem.score)
    return coordinate_ascent(problem, best, sweeps=_SWEEPS_OF_MANY)


def some_rows(problem: Problem, seed: Any) -> tuple[Array, Array, Array]:
    """Return labels, probabilities and weights of all rows, or of a random part where there are many."""
    part = problem if problem.y.size <= MANY_ROWS else _part(problem, seed)
    return part.y, part.proba, part.weight


def _part(problem: Problem, seed: Any) -> Problem:
    rows = np.random.default_rng(seed).choice(problem.y.size, MANY_ROWS, replace=False)
    part = problem.rows(rows)
    least_hits = part.objective.least_hits * (part.total / problem.total)
    return replace(part, objective=replace(part.objective, least_hits=least_hits))
