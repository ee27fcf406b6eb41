"""What a decision is chosen by: costs in whole numbers, bounds as they are read from a file, and other criteria."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rocscope._types import Array
from rocscope.decisions.proof.levels import EveryThreshold
from rocscope.metrics import METRICS

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
