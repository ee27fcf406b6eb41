"""What is to be low where costs differ from row to row: sums over sorted rows, in whole numbers.

What a decision is chosen by: costs in whole numbers, bounds as they are read from a file, and other criteria.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.decisions.verification.levels import EveryThreshold, in_whole
from rocscope.errors import ColumnError, InputError
from rocscope.metrics import METRICS
from rocscope.sample import Samples

if TYPE_CHECKING:
    from rocscope.core.predictions import Predictions


FourCells = tuple[Array, Array, Array, Array]

SLACK = 1e-12
CELLS = ("tp", "fp", "fn", "tn")
_WITHIN_A_CLASS = ("tpr", "fnr", "fpr", "tnr")
_F_SCORE, _LIFT_AT = re.compile(r"f(\d+(?:\.\d+)?)"), re.compile(r"lift@(\d*\.?\d*)")


@dataclass(frozen=True)
class Aim:
    """What is to be low: costs of the four kinds of case, at a share of positives or at that of the sample."""

    share: Fraction | None
    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction

    @classmethod
    def of(cls, context: Any) -> "Aim":
        share = context.target_prevalence
        costs = (exact(getattr(context, f"cost_{cell}")) for cell in CELLS)
        return cls(None if share is None else exact(share), *costs)

    @property
    def hit(self) -> Fraction:
        return self.fn - self.tp

    @property
    def alarm(self) -> Fraction:
        return self.fp - self.tn

    def positives(self, rule: EveryThreshold) -> Fraction:
        return Fraction(rule.totals[0], sum(rule.totals)) if self.share is None else self.share

    def cost(self, rule: EveryThreshold, tpr: Fraction, fpr: Fraction) -> Fraction:
        """Return the expected cost per case."""
        share = self.positives(rule)
        return share * (self.fn - self.hit * tpr) + (1 - share) * (self.tn + self.alarm * fpr)

    def losses(self, rule: EveryThreshold) -> Array:
        """Return the cost of each threshold beyond that of nobody positive, as whole numbers of one unit."""
        share, (n_pos, n_neg) = self.positives(rule), rule.totals
        hit, alarm = share * self.hit / n_pos, (1 - share) * self.alarm / n_neg
        scale = math.lcm(hit.denominator, alarm.denominator)
        hits, alarms = int(hit * scale), int(alarm * scale)
        shared = math.gcd(hits, alarms) or 1
        hits, alarms, tp, fp = hits // shared, alarms // shared, rule.tp, rule.fp
        if (abs(hits) + abs(alarms)) * sum(rule.totals) >= 2**63:
            tp, fp = tp.astype(object), fp.astype(object)
        return alarms * fp - hits * tp

    def distinct(self, rule: EveryThreshold, index: Array) -> Array:  # noqa: ARG002
        """Return those of some thresholds that are different rules: all of them."""
        return index


def exact(number: float) -> Fraction:
    """Return the fraction that a number is as it is written."""
    return Fraction(str(number))


@dataclass(frozen=True)
class ReadBound:
    quantity: str
    relation: str
    most: float

    @classmethod
    def of(cls, text: str) -> "ReadBound | None":
        """Read a constraint, of the library or of the report."""
        found = re.fullmatch(r"at most (\S+) of \S+ cases", text)
        quantity, relation, most, *more = ("cases", "<=", found[1]) if found else (*text.split(), "", "", "")
        known = quantity in ("cases", *CELLS, *METRICS) and relation in (">=", "<=", ">", "<")
        return None if not known or any(more) else cls(quantity, relation, float(most))

    def holds(self, value: Array) -> Array:
        slack = SLACK * max(1.0, abs(self.most))
        sign = 1 if ">" in self.relation else -1
        room = sign * (value - self.most)
        return room >= -slack if "=" in self.relation else room > slack

    @property
    def sign(self) -> int:
        """−1 where much is allowed, so that the bound is one from above."""
        return -1 if ">" in self.relation else 1


@dataclass(frozen=True)
class AtMix:
    """What constraints and criteria measure: at a class mix, in so many cases."""

    target_prevalence: float | None
    population: float | None

    def mix(self, rule: EveryThreshold) -> FourCells:
        """Return the counts that the sample would have at the target prevalence."""
        share, (tp, fp, fn, tn) = self.target_prevalence, rule.cells
        if share is None:
            return tp, fp, fn, tn
        n_pos, n_neg = tp[0] + fn[0], fp[0] + tn[0]
        up, right = share * (n_pos + n_neg) / n_pos, (1 - share) * (n_pos + n_neg) / n_neg
        return up * tp, right * fp, up * fn, right * tn

    def value(self, quantity: str, rule: EveryThreshold) -> Array:
        """Return a quantity that a constraint bounds."""
        if quantity in _WITHIN_A_CLASS:
            return METRICS[quantity](*rule.cells)
        cells = self.mix(rule)
        if quantity in METRICS:
            return METRICS[quantity](*cells)
        count = cells[0] + cells[1] if quantity == "cases" else cells[CELLS.index(quantity)]
        return count if self.population is None else count * (self.population / sum(cell[0] for cell in cells))

    def admitted(self, bounds: list[ReadBound], rule: EveryThreshold) -> Array:
        """Return which thresholds satisfy all constraints."""
        allowed = np.ones(rule.tp.size, bool)
        for bound in bounds:
            allowed &= bound.holds(self.value(bound.quantity, rule))
        return allowed


def goodness(criterion: str, cells: FourCells) -> Array | None:
    """Return the value of a criterion, or None where only its user knows it."""
    with np.errstate(all="ignore"):
        if criterion in METRICS or criterion == "ks":
            return METRICS["youden" if criterion == "ks" else criterion](*cells)
        if criterion == "closest_topleft":
            return np.hypot(METRICS["fpr"](*cells), METRICS["fnr"](*cells))
        if found := _F_SCORE.fullmatch(criterion):
            return METRICS["f_score"](*cells, beta=float(found[1]))
        if found := _LIFT_AT.fullmatch(criterion):
            depth = float(found[1])
            inside = cells[0] + cells[1] <= depth * sum(cells) * (1 + SLACK)
            return np.where(inside, METRICS["tpr"](*cells) / depth, np.nan)
    return None


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
