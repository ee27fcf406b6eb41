"""Constraints: which thresholds may be chosen at all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import decimal
from rocscope.errors import InputError, WeightError
from rocscope.geometry import Bound
from rocscope.inference.proportions import of_share, share_of
from rocscope.metrics import METRICS, ours

FourCells = tuple[Array, Array, Array, Array]
Sign = Literal[">=", "<=", ">", "<"]

_CELLS = ("tp", "fp", "fn", "tn")
_RATES = ("tpr", "fnr", "fpr", "tnr")
_QUANTITIES = ["cases", *_CELLS, *METRICS]
_FORM = re.compile(
    r"\s*([A-Za-z][\w -]*?)\s*(>=|<=|≥|≤|>|<)\s*([-+]?[\d_]*\.?\d+(?:[eE][-+]?\d+)?)\s*(%?)"
    r"(?:\s+at\s+(\d*\.?\d+)\s*(%?))?\s*"
)
_SIGNS = {"≥": ">=", "≤": "<="}
_EVEN = 0.5
_SLACK = 1e-12
"""Relative; forgives the rounding of a rate that is at the bound exactly."""


_WITHOUT = "leave randomized out, or the constraint"


@dataclass(frozen=True)
class Constraint:
    """A bound on a rate or on a number of cases.

    Parameters
    ----------
    quantity : str
        Any metric of `rocscope.metrics`, also by another name, such as sensitivity or PPV; ``"cases"``, the number
        predicted positive; or a cell, ``"tp"`` to ``"tn"``.
        Numbers are those expected in the population, or in the sample where no population is named.
    relation : {">=", "<=", ">", "<"}
    bound : float
    level : float, optional
        How sure it is to be that the true rate, not only that of the sample, keeps the bound; for tpr, fnr, fpr and
        tnr, with >= or <=.

    Raises
    ------
    InputError
        If the quantity or the relation is not known, or a level is asked for that has no meaning here.

    Notes
    -----
    With a level α the confidence limit of the rate keeps the bound: the exact one-sided limit of Clopper and Pearson.
    It holds for the threshold that is chosen, whichever that is, with no further correction. Along the thresholds the
    rate only falls, and so does its limit, so that a threshold of too low a rate is admitted only if the first of those
    is, of which one limit is too high with probability 1 − α at most. Where there are m models, each has 1 − (1 − α)/m.

    References
    ----------
    Clopper & Pearson 1934, Biometrika 26:404–413; Angelopoulos et al. 2021, "Learn then test" (fixed sequences).

    Examples
    --------
    >>> Constraint.parse("tpr >= .9"), Constraint.parse("fpr ≤ 5 %"), Constraint.parse("tpr >= .9 at 95 %")
    (Constraint('tpr >= 0.9'), Constraint('fpr <= 0.05'), Constraint('tpr >= 0.9 at 95 %'))
    >>> Constraint.capacity(800), Constraint.budget(2000, unit_cost=2.5)
    (Constraint('cases <= 800'), Constraint('cases <= 800'))
    """

    quantity: str
    relation: Sign
    bound: float
    level: float | None = None

    def __post_init__(self) -> None:
        check.settle(self, quantity=ours(self.quantity))
        check.check_choice("constraint", self.quantity, _QUANTITIES)
        check.check_choice("constraint", self.relation, (">=", "<=", ">", "<"))
        check.settle(self, bound=check.check_number(self.bound, f"bound of {self.quantity}"))
        if self.level is not None:
            self._require_limit(self.level)

    def _require_limit(self, level: float) -> None:
        if self.quantity not in _RATES or self.relation in (">", "<"):
            expected = f"a bound with >= or <= on {', '.join(_RATES)}, whose limits allow for the choice"
            raise InputError("constraint with a level", expected=expected, got=str(self))
        check.check_level(level)
        if level < _EVEN:
            raise InputError("level of a constraint", expected="50 % or more, such as 95 %", got=f"{100 * level:g} %")

    @classmethod
    def parse(cls, text: "str | Constraint") -> "Constraint":
        """Return the constraint that a text such as ``"tpr >= .9"`` or ``"cases <= 800"`` means."""
        if isinstance(text, Constraint):
            return text
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        if not match:
            raise InputError("constraint", expected="a text such as 'tpr >= 0.9'", got=repr(text))
        quantity, relation, *numbers = match.groups()
        bound, level = (_number(*numbers[i : i + 2]) for i in (0, 2))
        assert bound is not None
        return cls(quantity, _SIGNS.get(relation, relation), bound, level)  # pyright: ignore[reportArgumentType]

    @classmethod
    def capacity(cls, cases: float) -> "Constraint":
        """Return the constraint of at most that many positive predictions in the population."""
        return cls("cases", "<=", check.check_number(cases, "capacity", "a number of at least 0", least=0))

    @classmethod
    def budget(cls, amount: float, *, unit_cost: float, fixed_cost: float = 0) -> "Constraint":
        """Return the constraint of as many positive predictions as an amount of money pays for."""
        check.check_number(unit_cost, "unit_cost", "a number above 0", above=0)
        check.check_number(fixed_cost, "fixed_cost", "a number of at least 0", least=0)
        check.check_number(amount, "budget", f"a number of at least the fixed cost, {fixed_cost:g}", least=fixed_cost)
        return cls.capacity(int((decimal(amount) - decimal(fixed_cost)) // decimal(unit_cost)))

    def value(
        self, cells: FourCells, target_prevalence: float | None, population: float | None, at_once: int = 1
    ) -> Array:
        """Return the bounded quantity at points of the sample, or the limit of it, of so many that hold at once.

        Notes
        -----
        Rates within a class are taken from the sample's own counts, all else at the target's class mix.
        """
        if self.level is not None:
            return self._limit(cells, 1 - (1 - self.level) / at_once)
        if self.quantity in _RATES:
            return METRICS[self.quantity](*cells)
        mixed = at_mix(cells, target_prevalence)
        if self.quantity in METRICS:
            return METRICS[self.quantity](*mixed)
        count = mixed[0] + mixed[1] if self.quantity == "cases" else mixed[_CELLS.index(self.quantity)]
        total = sum(cell[..., :1] for cell in cells)
        return count if population is None else count * (population / total)

    def _limit(self, cells: FourCells, level: float) -> Array:
        """Return the one-sided confidence limit that has to keep the bound; of nobody and everybody, the rate."""
        counted, n = self._counted(cells)
        limit = of_share(counted, n, "clopper-pearson", 2 * level - 1)[self.relation == "<="]
        return np.where(_sure(cells), counted / n, limit)

    def _counted(self, cells: FourCells) -> tuple[Array, Array]:
        if any((cell % 1 != 0).any() for cell in cells if cell.dtype.kind == "f"):
            hint = "weighted cases are not binomial trials; leave the level out"
            raise WeightError(f"constraint {str(self)!r}", expected="whole counts", got="fractions", hint=hint)
        return share_of(self.quantity, *cells)

    def admits(
        self, cells: FourCells, target_prevalence: float | None, population: float | None, at_once: int = 1
    ) -> Array:
        """Return where the bound is kept; a limit keeps it where so many cases would be rare at the bound."""
        if self.level is None:
            return self.holds(self.value(cells, target_prevalence, population))
        (counted, n), bound = self._counted(cells), min(max(self.bound, 0.0), 1.0)
        most = self.relation == "<="
        counted, share = (n - counted, 1 - bound) if most else (counted, bound)
        with np.errstate(invalid="ignore"):
            chance = special.betainc(counted, n - counted + 1, share)  # of as many, or more
            kept = np.where(counted > 0, chance <= (1 - self.level) / at_once, share <= 0)
            return np.where(_sure(cells), counted >= share * n, kept)

    def holds(self, value: Array) -> Array:
        """Return where the bound is kept; never where the quantity is not defined."""
        slack = _SLACK * max(1.0, abs(self.bound))
        if self.relation == ">=":
            return value >= self.bound - slack
        if self.relation == "<=":
            return value <= self.bound + slack
        return value > self.bound + slack if self.relation == ">" else value < self.bound - slack

    def straight(self, prevalence: Fraction, cases: Fraction) -> Bound:
        """Return the same bound on the rates, as a straight line, at a prevalence and in so many cases.

        Raises
        ------
        InputError
            If its border is curved or does not belong to it, so that no rule by lot need be best.
        """
        lines = _lines(prevalence, cases)
        if self.quantity not in lines or self.relation in (">", "<") or self.level is not None:
            raise InputError(
                "randomized", expected=f"bounds with >= or <= on {', '.join(lines)}", got=str(self), hint=_WITHOUT
            )
        sign = 1 if self.relation == "<=" else -1
        up, right, level = (sign * Fraction(each) for each in lines[self.quantity])
        return Bound(up, right, sign * decimal(self.bound) - level)

    def closest(self, value: Array) -> int | None:
        """Return the position at which a quantity comes closest to its bound, or None where it is never defined."""
        if np.isnan(value).all():
            return None
        return int(np.nanargmax(value) if ">" in self.relation else np.nanargmin(value))

    def is_closer(self, value: float, other: float) -> bool:
        """Return whether the first of two values is closer to satisfying the bound."""
        return value > other if ">" in self.relation else value < other

    def __str__(self) -> str:
        bound = int(self.bound) if self.bound == int(self.bound) else self.bound
        return f"{self.quantity} {self.relation} {bound!r}" + self.surely

    @property
    def surely(self) -> str:
        """How sure it is to be, in words."""
        return "" if self.level is None else f" at {100 * self.level:.10g} %"

    def __repr__(self) -> str:
        return f"Constraint({str(self)!r})"


def _sure(cells: FourCells) -> Array:
    """Return where nobody or everybody is positive, of which the rates are known."""
    tp, fp, fn, tn = cells
    return (tp + fp == 0) | (fn + tn == 0)


def _number(number: str | None, percent: str) -> float | None:
    """Return what a text says, be it in percent; None where it says nothing."""
    if number is None:
        return None
    exact = decimal(float(number)) / (100 if percent else 1)
    return int(exact) if exact.denominator == 1 else float(exact)


def _lines(share: Fraction, cases: Fraction) -> dict[str, tuple[Any, Any, Any]]:
    """Return of each quantity that is linear in the rates what tpr and fpr weigh in it, and the rest."""
    other = 1 - share
    lines: dict[str, tuple[Any, Any, Any]] = {
        "cases": (share, other, 0), "tp": (share, 0, 0), "fp": (0, other, 0), "fn": (-share, 0, share),
        "tn": (0, -other, other),
    }  # fmt: skip
    in_cases = {name: tuple(cases * each for each in line) for name, line in lines.items()}
    half = Fraction(1, 2)
    return in_cases | {
        "tpr": (1, 0, 0), "fpr": (0, 1, 0), "fnr": (-1, 0, 1), "tnr": (0, -1, 1), "depth": lines["cases"],
        "accuracy": (share, -other, other), "error": (-share, other, share), "youden": (1, -1, 0),
        "balanced_accuracy": (half, -half, half),
    }  # pyright: ignore[reportReturnType]  # fmt: skip


def at_mix(cells: FourCells, target_prevalence: float | None) -> FourCells:
    """Return the counts that the sample would have if the share `target_prevalence` of it was positive."""
    if target_prevalence is None:
        return cells
    tp, fp, fn, tn = cells
    n_pos, n_neg = tp[..., :1] + fn[..., :1], fp[..., :1] + tn[..., :1]
    n = n_pos + n_neg
    positive, negative = target_prevalence * n / n_pos, (1 - target_prevalence) * n / n_neg
    return positive * tp, negative * fp, positive * fn, negative * tn


def constraints_of(subject_to: Any) -> tuple[Constraint, ...]:
    """Return constraints given as texts or as objects; one alone will do."""
    given: Sequence[Any] = [subject_to] if isinstance(subject_to, str | Constraint) else subject_to
    if not isinstance(given, list | tuple) or not all(isinstance(each, str | Constraint) for each in given):
        expected = "constraints such as 'tpr >= 0.9'"
        raise InputError("subject_to", expected=expected, got=check.shown(subject_to))
    return tuple(Constraint.parse(each) for each in given)
