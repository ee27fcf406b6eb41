"""Objectives and bounds that verification recomputes, and linear programs that bound the cost of any rule.

Costs that differ by row are sums over sorted rows, in whole numbers; all is independent of the code that chose.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from decision_oracle.levels import EveryThreshold, in_whole
from rocscope._base.arrays import Array
from rocscope.errors import ColumnError, InputError
from rocscope.metrics import METRICS
from rocscope.sample import Samples

FourCells = tuple[Array, Array, Array, Array]

SLACK = 1e-12  # relative, of a bound that is met exactly but for rounding
CELLS = ("tp", "fp", "fn", "tn")
_WITHIN_A_CLASS = ("tpr", "fnr", "fpr", "tnr")
LINEAR = ("cases", *CELLS, *_WITHIN_A_CLASS, "depth", "accuracy", "error", "youden", "balanced_accuracy")
_F_SCORE, _LIFT_AT = re.compile(r"f(\d+(?:\.\d+)?)"), re.compile(r"lift@(\d*\.?\d*)")


@dataclass(frozen=True)
class CostObjective:
    """Costs of the four cells, at a target prevalence or that of the sample."""

    share: Fraction | None
    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction

    @classmethod
    def of(cls, context: Any) -> "CostObjective":
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
        """Return the cost of each threshold above that of nobody positive, in integers of one unit."""
        share, (n_pos, n_neg) = self.positives(rule), rule.totals
        hit, alarm = share * self.hit / n_pos, (1 - share) * self.alarm / n_neg
        scale = math.lcm(hit.denominator, alarm.denominator)
        hits, alarms = int(hit * scale), int(alarm * scale)
        shared = math.gcd(hits, alarms) or 1
        hits, alarms, tp, fp = hits // shared, alarms // shared, rule.tp, rule.fp
        if (abs(hits) + abs(alarms)) * sum(rule.totals) >= 2**63:
            tp, fp = tp.astype(object), fp.astype(object)
        return alarms * fp - hits * tp

    def distinct(self, rule: EveryThreshold, index: Array) -> Array:
        """Return the indices of distinct rules: all of them."""
        return index


def exact(number: float) -> Fraction:
    """Return the exact fraction of a number's decimal representation."""
    return Fraction(str(number))


@dataclass(frozen=True)
class ParsedBound:
    """A constraint: quantity, bound, and the confidence level of its limit."""

    quantity: str
    relation: str
    most: float
    level: float | None = None

    @classmethod
    def of(cls, text: str) -> "ParsedBound | None":
        """Parse a constraint; None if it is not understood."""
        found = re.fullmatch(r"at most (\S+) of \S+ cases", text)
        form = re.fullmatch(r"(\S+) (>=|<=|>|<) (\S+)(?: at (\S+)%)?", text)
        quantity, relation, most, percent = (
            ("cases", "<=", found[1], None) if found else form.groups() if form else ("",) * 4
        )
        try:
            bound, level = float(most), None if percent is None else float(percent) / 100
        except ValueError:
            return None
        known = quantity in ("cases", *CELLS, *METRICS) or quantity == "closest_topleft" or _F_SCORE.fullmatch(quantity)
        known = known and math.isfinite(bound)
        sure = level is None or (quantity in _WITHIN_A_CLASS and "=" in relation and 0.5 <= level < 1)
        return cls(quantity, relation, bound, level) if known and sure else None

    @property
    def linear(self) -> bool:
        """Whether a randomised rule satisfies it exactly if its expected counts do."""
        share = np.array([0.25])
        straight = self.quantity in LINEAR or quotient(self.quantity, share, share, share, share) is not None
        return self.level is None and "=" in self.relation and straight

    def surely_kept(self, cells: FourCells, at_once: int) -> Array:
        """Return where the Clopper–Pearson limit satisfies the bound: as many cases would be improbable at the bound.

        With s of n cases the lower limit is above b where P(Bin(n, b) ≥ s) ≤ α. Of m models that are tried each has
        α/m. Of everybody and nobody the rate is known.
        """
        assert self.level is not None
        tp, fp, fn, tn = cells
        counted, n = {"tpr": (tp, tp + fn), "fnr": (fn, tp + fn), "fpr": (fp, fp + tn), "tnr": (tn, fp + tn)}[
            self.quantity
        ]
        bound = min(max(self.most, 0.0), 1.0)
        if self.relation == "<=":
            counted, bound = n - counted, 1 - bound
        from scipy import stats  # here, since it takes long to load

        kept = stats.binom.sf(np.round(counted) - 1, np.round(n), bound) <= (1 - self.level) / at_once * (1 + 1e-9)
        known = (tp + fp == 0) | (fn + tn == 0)
        return np.where(known, counted >= bound * n * (1 - SLACK), np.where(counted > 0, kept, bound <= 0))

    def holds(self, value: Array) -> Array:
        slack = SLACK * max(1.0, abs(self.most))
        sign = 1 if ">" in self.relation else -1
        room = sign * (value - self.most)
        return room >= -slack if "=" in self.relation else room > slack

    @property
    def sign(self) -> int:
        """−1 for an upper bound."""
        return -1 if ">" in self.relation else 1


@dataclass(frozen=True)
class AtPrevalence:
    """Values of constraints and criteria at a prevalence and number of cases."""

    target_prevalence: float | None
    population: float | None

    def mix(self, rule: EveryThreshold) -> FourCells:
        """Return the sample's counts reweighted to the target prevalence."""
        share, (tp, fp, fn, tn) = self.target_prevalence, rule.cells
        if share is None:
            return tp, fp, fn, tn
        n_pos, n_neg = tp[0] + fn[0], fp[0] + tn[0]
        up, right = share * (n_pos + n_neg) / n_pos, (1 - share) * (n_pos + n_neg) / n_neg
        return up * tp, right * fp, up * fn, right * tn

    def value(self, quantity: str, rule: EveryThreshold) -> Array:
        """Return the constrained quantity."""
        if quantity in _WITHIN_A_CLASS:
            return METRICS[quantity](*rule.cells)
        cells = self.mix(rule)
        if quantity in METRICS:
            return METRICS[quantity](*cells)
        if (value := goodness(quantity, cells)) is not None:
            return value
        count = cells[0] + cells[1] if quantity == "cases" else cells[CELLS.index(quantity)]
        return count if self.population is None else count * (self.population / sum(cell[0] for cell in cells))

    def beyond(self, bound: ParsedBound, rule: EveryThreshold) -> Array:
        """Return the excess of each threshold over a bound, in a unit in which mixtures average.

        That is value − bound; of a quotient top/bottom, whose mean is not that of a mixture, top − bound·bottom.
        """
        cells = self.mix(rule)
        parts = quotient(bound.quantity, *(cell / sum(each[0] for each in cells) for cell in cells))
        if parts is None:
            return bound.sign * (self.value(bound.quantity, rule) - bound.most)
        return bound.sign * (parts[0] - bound.most * parts[1])

    def kept(self, bound: ParsedBound, rule: EveryThreshold, at_once: int) -> Array:
        """Return which thresholds satisfy a constraint, adjusted for the number of rankings tried."""
        if bound.level is not None:
            return bound.surely_kept(rule.cells, at_once)
        return bound.holds(self.value(bound.quantity, rule))

    def admitted(self, bounds: list[ParsedBound], rule: EveryThreshold, at_once: int) -> Array:
        """Return which thresholds satisfy all constraints."""
        allowed = np.ones(rule.tp.size, bool)
        for bound in bounds:
            allowed &= self.kept(bound, rule, at_once)
        return allowed


def quotient(name: str, tp: Array, fp: Array, fn: Array, tn: Array) -> tuple[Array, Array] | None:
    """Return two sums over whose quotient a figure is, linear in tp and fp, of shares of all cases."""
    acted, left, n_pos, n_neg = tp + fp, fn + tn, tp + fn, fp + tn
    if found := _F_SCORE.fullmatch(name):
        square = float(found[1]) ** 2
        return (1 + square) * tp, acted + square * n_pos
    return {
        "precision": (tp, acted), "npv": (tn, left), "jaccard": (tp, acted + fn), "lift": (tp, acted * n_pos),
        "lr_positive": (tp * n_neg, fp * n_pos), "lr_negative": (fn * n_neg, tn * n_pos),
        "kappa": (2 * (tp * tn - fp * fn), acted * n_neg + left * n_pos),
    }.get(name)  # fmt: skip


def goodness(criterion: str, cells: FourCells) -> Array | None:
    """Return the value of a criterion, or None for a user's own."""
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


_DECIMALS = 10_000  # parts of a unit of money: hundredths, and hundredths of these
_FITS = 2.0**62  # sums up to it are made of 64 bits, others of Python's integers


@dataclass(frozen=True)
class _Sums:
    """Per class and threshold: the extra cost of acting; the cost of leaving all; the weights."""

    acting: tuple[Array, Array]
    leaving: tuple[int, int]
    weight: tuple[int, int]
    position: Array


@dataclass(frozen=True)
class RowCostObjective:
    """The cost of rows with their own costs, with the methods of `CostObjective`."""

    share: Fraction | None
    sums: Mapping[str, _Sums]
    unit: int

    def positives(self, rule: EveryThreshold) -> Fraction:
        return Fraction(rule.totals[0], sum(rule.totals)) if self.share is None else self.share

    def _scales(self, sums: _Sums) -> tuple[Fraction, Fraction]:
        """Weights of a unit of cost in each class."""
        pos, neg = sums.weight
        if self.share is None:
            return Fraction(1, (pos + neg) * self.unit), Fraction(1, (pos + neg) * self.unit)
        return self.share / (pos * self.unit), (1 - self.share) / (neg * self.unit)

    def cost(self, rule: EveryThreshold, tpr: Fraction, fpr: Fraction) -> Fraction:
        """Return the expected cost per case for given rates."""
        sums = self.sums[rule.model]
        depth = int(tpr * rule.totals[0] + fpr * rule.totals[1])
        index = int(np.searchsorted(rule.tp + rule.fp, depth))
        spent = (int(left + acting[index]) for left, acting in zip(sums.leaving, sums.acting, strict=True))
        return sum((scale * each for scale, each in zip(self._scales(sums), spent, strict=True)), Fraction(0))

    def losses(self, rule: EveryThreshold) -> Array:
        """Return the cost of each threshold above that of nobody positive, in integers of one unit."""
        sums = self.sums[rule.model]
        scales = self._scales(sums)
        common = math.lcm(*(scale.denominator for scale in scales))
        first, second = (int(scale * common) for scale in scales)
        shared = math.gcd(first, second)
        pos, neg = (axis.astype(object) for axis in sums.acting) if first != second else sums.acting
        return pos * (first // shared) + neg * (second // shared)

    def distinct(self, rule: EveryThreshold, index: Array) -> Array:
        """Return the first of thresholds that select the same rows."""
        _, first = np.unique(self.sums[rule.model].position[index], return_index=True)
        return index[first]


def objective_of(
    context: Any, samples: Samples, rules: Mapping[str, EveryThreshold]
) -> CostObjective | RowCostObjective:
    """Return the objective of a context, whose costs may be columns of the rows."""
    if not context.columns:
        return CostObjective.of(context)
    share, sums, unit = context.target_prevalence, {}, 1
    for name, sample in samples.items():
        rows = sample.require_rows("verification of costs that differ from row to row")
        sums[name], unit = _sums(rows, rules[name], context)
    return RowCostObjective(None if share is None else exact(share), sums, unit)


def of_all(objective: CostObjective | RowCostObjective) -> CostObjective:
    """Return costs that are equal in all rows, as randomised rules and reviews require."""
    if isinstance(objective, RowCostObjective):
        expected = "costs that are the same in every row where cases are drawn or reviewed"
        raise InputError("context", expected=expected, got="columns of the rows")
    return objective


def _sums(rows: Any, rule: EveryThreshold, context: Any) -> tuple[_Sums, int]:
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


def _amounts(context: Any, cell: str, rows: Any) -> Array:
    cost = getattr(context, f"cost_{cell}")
    if not isinstance(cost, str):
        return np.full(len(rows), cost, float)
    if cost not in rows.columns:
        raise ColumnError(f"cost_{cell}", expected=f"rows with a column {cost!r}", got=f"{list(rows.columns)}")
    return np.asarray(rows.columns[cost], float)


def _whole(*values: Array) -> tuple[list[Array], int]:
    """Return numbers as integers of one unit, and the number of units in 1; decimals exactly as written."""
    with np.errstate(over="ignore"):
        parts = [np.rint(each * _DECIMALS) for each in values]
    if all(
        (whole / _DECIMALS == each).all() and (np.abs(whole) < _FITS).all()
        for whole, each in zip(parts, values, strict=True)
    ):
        return [each.astype(np.int64) for each in parts], _DECIMALS
    return in_whole(*values)


_TURNS = 100  # each leaves two thirds of a range: (2/3)^100 is below the precision of float64


def least_by_lot(
    objective: CostObjective, rules: Sequence[EveryThreshold], bounds: Sequence[ParsedBound], measured: AtPrevalence
) -> float:
    """Return the lowest cost of all randomised rules within linear bounds; infinity if infeasible."""
    from scipy.optimize import linprog

    costs = []
    rows: list[list[Array]] = [[] for _ in bounds]
    for rule in rules:
        tpr, fpr = _rates(rule)
        share = float(objective.positives(rule))
        costs.append((1 - share) * float(objective.alarm) * fpr - share * float(objective.hit) * tpr)
        for row, bound in zip(rows, bounds, strict=True):
            row.append(measured.beyond(bound, rule))
    cost = np.concatenate(costs)
    within = {"A_ub": [np.concatenate(row) for row in rows], "b_ub": np.zeros(len(bounds))}
    solved = linprog(cost, **(within if bounds else {}), A_eq=np.ones((1, cost.size)), b_eq=[1], method="highs")
    return (
        math.inf
        if solved.fun is None
        else float(solved.fun) + float(objective.cost(rules[0], Fraction(0), Fraction(0)))
    )


def least_with_reviews(objective: CostObjective, rule: EveryThreshold, look: float, limit: float | None) -> float:
    """Return a lower bound of the cost of three actions with one model.

    Of a price on each look, the lowest cost of acting from one threshold on and looking from a lower one on, less what
    the whole capacity would pay: concave in the price, and a bound at any. The highest of them is the lowest cost.
    """
    share, hit, alarm = float(objective.positives(rule)), float(objective.hit), float(objective.alarm)
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
    return float(objective.cost(rule, Fraction(0), Fraction(0))) + max(bound(0.0), bound(low), bound(high))


def _rates(rule: EveryThreshold) -> tuple[Array, Array]:
    tp, fp, _, _ = rule.cells
    n_pos, n_neg = (total / rule.unit for total in rule.totals)
    return tp / n_pos, fp / n_neg
