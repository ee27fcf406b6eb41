"""Linear programs that bound the cost of randomised rules and of reviews, independent of the code that chose them."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rocscope._base.arrays import Array
from rocscope.decisions.verification.levels import EveryThreshold
from rocscope.decisions.verification.objective import Aim, AtMix, ReadBound

_TURNS = 100  # each leaves two thirds of a range: (2/3)^100 is below the precision of float64


def least_by_lot(aim: Aim, rules: Sequence[EveryThreshold], bounds: Sequence[ReadBound], measured: AtMix) -> float:
    """Return the lowest cost of all randomised rules within linear bounds; infinity if infeasible."""
    from scipy.optimize import linprog

    costs = []
    rows: list[list[Array]] = [[] for _ in bounds]
    for rule in rules:
        tpr, fpr = _rates(rule)
        share = float(aim.positives(rule))
        costs.append((1 - share) * float(aim.alarm) * fpr - share * float(aim.hit) * tpr)
        for row, bound in zip(rows, bounds, strict=True):
            row.append(measured.beyond(bound, rule))
    cost = np.concatenate(costs)
    within = {"A_ub": [np.concatenate(row) for row in rows], "b_ub": np.zeros(len(bounds))}
    solved = linprog(cost, **(within if bounds else {}), A_eq=np.ones((1, cost.size)), b_eq=[1], method="highs")
    return math.inf if solved.fun is None else float(solved.fun) + float(aim.cost(rules[0], Fraction(0), Fraction(0)))


def least_with_reviews(aim: Aim, rule: EveryThreshold, look: float, limit: float | None) -> float:
    """Return a lower bound of the cost of three actions with one model.

    Of a price on each look, the lowest cost of acting from one threshold on and looking from a lower one on, less what
    the whole capacity would pay: concave in the price, and a bound at any. The highest of them is the lowest cost.
    """
    share, hit, alarm = float(aim.positives(rule)), float(aim.hit), float(aim.alarm)
    tpr, fpr = _rates(rule)
    positives, negatives = share * tpr, (1 - share) * fpr

    def bound(price: float) -> float:
        dear = look + price
        acting = np.minimum.accumulate(negatives * (alarm - dear) - positives * dear)
        return float((acting + positives * (dear - hit) + negatives * dear).min()) - price * (limit or 0)

    low, high = 0.0, 0.0 if limit is None else max(hit, alarm)
    for _ in range(_TURNS if high else 0):
        third = (high - low) / 3
        low, high = (low + third, high) if bound(low + third) < bound(high - third) else (low, high - third)
    return float(aim.cost(rule, Fraction(0), Fraction(0))) + max(bound(0.0), bound(low), bound(high))


def _rates(rule: EveryThreshold) -> tuple[Array, Array]:
    tp, fp, _, _ = rule.cells
    n_pos, n_neg = (total / rule.unit for total in rule.totals)
    return tp / n_pos, fp / n_neg
