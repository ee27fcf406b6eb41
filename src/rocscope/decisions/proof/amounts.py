"""What is to be low where costs differ from row to row: sums over sorted rows, in whole numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rocscope._types import Array
from rocscope.decisions.proof.aims import CELLS, Aim, exact
from rocscope.decisions.proof.levels import EveryThreshold, in_whole
from rocscope.errors import ColumnError, InputError
from rocscope.sample import Samples

if TYPE_CHECKING:
    from rocscope.core.predictions import Predictions

_DECIMALS = 10_000
_FITS = 2.0**62


@dataclass(frozen=True)
class _Sums:
    """Of each class at each threshold: what acting costs beyond leaving; what leaving all costs; their weights."""

    acting: tuple[Array, Array]
    leaving: tuple[int, int]
    weight: tuple[int, int]
    position: Array


@dataclass(frozen=True)
class PricedAim:
    """The cost of rows that have costs of their own, in place of an `Aim`, whose methods it has."""

    share: Fraction | None
    sums: Mapping[str, _Sums]
    unit: int

    def positives(self, rule: EveryThreshold) -> Fraction:
        return Fraction(rule.totals[0], sum(rule.totals)) if self.share is None else self.share

    def _scales(self, sums: _Sums) -> tuple[Fraction, Fraction]:
        """What a unit of cost counts in each class."""
        pos, neg = sums.weight
        if self.share is None:
            return Fraction(1, (pos + neg) * self.unit), Fraction(1, (pos + neg) * self.unit)
        return self.share / (pos * self.unit), (1 - self.share) / (neg * self.unit)

    def cost(self, rule: EveryThreshold, tpr: Fraction, fpr: Fraction) -> Fraction:
        """Return the expected cost per case of the threshold that has these rates."""
        sums = self.sums[rule.model]
        depth = int(tpr * rule.totals[0] + fpr * rule.totals[1])
        index = int(np.searchsorted(rule.tp + rule.fp, depth))
        spent = (int(left + acting[index]) for left, acting in zip(sums.leaving, sums.acting, strict=True))
        return sum((scale * each for scale, each in zip(self._scales(sums), spent, strict=True)), Fraction(0))

    def losses(self, rule: EveryThreshold) -> Array:
        """Return the cost of each threshold beyond that of nobody positive, as whole numbers of one unit."""
        sums = self.sums[rule.model]
        scales = self._scales(sums)
        common = math.lcm(*(scale.denominator for scale in scales))
        first, second = (int(scale * common) for scale in scales)
        shared = math.gcd(first, second)
        pos, neg = (axis.astype(object) for axis in sums.acting) if first != second else sums.acting
        return pos * (first // shared) + neg * (second // shared)

    def distinct(self, rule: EveryThreshold, index: Array) -> Array:
        """Return the first of thresholds between which no row makes a difference."""
        _, first = np.unique(self.sums[rule.model].position[index], return_index=True)
        return index[first]


def aim_of(context: Any, samples: Samples, rules: Mapping[str, EveryThreshold]) -> Aim | PricedAim:
    """Return what is to be low in a context, whose costs may be columns of the rows."""
    if not context.columns:
        return Aim.of(context)
    share, sums, unit = context.target_prevalence, {}, 1
    for name, sample in samples.items():
        rows = sample.require_rows("verification of costs that differ from row to row")
        sums[name], unit = _sums(rows, rules[name], context)
    return PricedAim(None if share is None else exact(share), sums, unit)


def of_all(aim: Aim | PricedAim) -> Aim:
    """Return costs that are the same in every row, as lots and reviews need."""
    if isinstance(aim, PricedAim):
        expected = "costs that are the same in every row where cases are drawn or reviewed"
        raise InputError("context", expected=expected, got="columns of the rows")
    return aim


def _sums(rows: "Predictions", rule: EveryThreshold, context: Any) -> tuple[_Sums, int]:
    (score,) = rows.scores.values()
    tp, fp, fn, tn = (_amounts(context, cell, rows) for cell in CELLS)
    acted, left = np.where(rows.y_true, tp, fp), np.where(rows.y_true, fn, tn)
    (acted, left), unit = _whole(acted, left)
    weight = np.ones(score.size, np.int64) if rows.sample_weight is None else rows.sample_weight
    (weight,), _ = _whole(weight)
    spread = (np.abs(acted).astype(float) + np.abs(left).astype(float)) @ weight.astype(float)
    if spread >= _FITS:
        acted, left, weight = (each.astype(object) for each in (acted, left, weight))
    order = np.argsort(score, kind="stable")[::-1]
    order = order[weight[order] > 0]
    ends = np.append(np.flatnonzero(np.diff(score[order])), order.size - 1)
    moves = np.cumsum(acted[order] != left[order])[ends]

    def by_class(values: Array) -> list[Array]:
        each = values * weight
        return [np.where(positive, each, 0) for positive in (rows.y_true, ~rows.y_true)]

    acting = [np.append([0 * each[:1].sum()], np.cumsum(each[order])[ends]) for each in by_class(acted - left)]
    leaving = [int(each.sum()) for each in by_class(left)]
    held = [int(each.sum()) for each in by_class(np.ones_like(weight))]
    position = np.append([0], moves)
    assert position.size == rule.tp.size
    return _Sums((acting[0], acting[1]), (leaving[0], leaving[1]), (held[0], held[1]), position), unit


def _amounts(context: Any, cell: str, rows: "Predictions") -> Array:
    cost = getattr(context, f"cost_{cell}")
    if not isinstance(cost, str):
        return np.full(len(rows), cost, float)
    if cost not in rows.columns:
        raise ColumnError(f"cost_{cell}", expected=f"the rows to have a column {cost!r}", got=f"{list(rows.columns)}")
    return np.asarray(rows.columns[cost], float)


def _whole(*values: Array) -> tuple[list[Array], int]:
    """Return numbers as whole ones of one unit, and how many of it are 1: decimals as written, others as they are."""
    with np.errstate(over="ignore"):
        parts = [np.rint(each * _DECIMALS) for each in values]
    if all(
        (whole / _DECIMALS == each).all() and (np.abs(whole) < _FITS).all()
        for whole, each in zip(parts, values, strict=True)
    ):
        return [each.astype(np.int64) for each in parts], _DECIMALS
    return in_whole(*values)
