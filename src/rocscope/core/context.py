"""Context: the class mix and the costs under which a classifier will be used."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, nan
from typing import Any

from rocscope import _validation as check
from rocscope.core.point import OperatingPoint
from rocscope.errors import InputError


@dataclass(frozen=True)
class Context:
    """Prevalence and costs: what turns the geometry of a curve into a choice.

    Parameters
    ----------
    target_prevalence : float, optional
        Share of positives where the classifier will be used, between 0 and 1; the sample's own when left out.
    cost_fp, cost_fn, cost_tp, cost_tn : float
        Cost of one case of each kind, in any unit; gains are negative costs.

    Raises
    ------
    InputError
        If a cost is not finite or the prevalence is not between 0 and 1.

    References
    ----------
    Hernández-Orallo 2004, skew-sensitive evaluation; Vuk & Curk 2006, §4.2 and §5.2.

    Examples
    --------
    A valve that is to be opened in 500 of 100,000 cases; missing one costs 20 times a false alarm:

    >>> context = Context(cost_fp=100, cost_fn=2000)
    >>> context.slope(500 / 100_000)
    9.95
    >>> context.cost(OperatingPoint(tp=300, fp=500, fn=200, tn=99_000))
    450000
    """

    target_prevalence: float | None = None
    cost_fp: float = 1
    cost_fn: float = 1
    cost_tp: float = 0
    cost_tn: float = 0

    def __post_init__(self) -> None:
        for name in ("cost_fp", "cost_fn", "cost_tp", "cost_tn"):
            cost = getattr(self, name)
            if not (check.is_number(cost) and isfinite(cost)):
                raise InputError(name, expected="a finite number", got=repr(cost))
        share = self.target_prevalence
        if share is not None and not (check.is_number(share) and 0 < share < 1):
            raise InputError(
                "target_prevalence",
                expected="a share between 0 and 1",
                got=repr(share),
                hint="write 5 % as 0.05",
            )

    @property
    def false_alarm_cost(self) -> Fraction:
        """What it costs to predict a negative case positive rather than negative, cost_fp − cost_tn."""
        return _decimal(self.cost_fp) - _decimal(self.cost_tn)

    @property
    def miss_cost(self) -> Fraction:
        """What it costs to predict a positive case negative rather than positive, cost_fn − cost_tp."""
        return _decimal(self.cost_fn) - _decimal(self.cost_tp)

    def prevalence(self, sample: float) -> float:
        """Return the target prevalence, or that of the sample when no target is set."""
        return sample if self.target_prevalence is None else self.target_prevalence

    def slope(self, prevalence: float) -> float:
        """Return the slope of the iso-performance line in ROC space.

        Parameters
        ----------
        prevalence : float
            Share of positives in the sample; a target prevalence takes precedence.

        Notes
        -----
        m = (1 − π)(cost_fp − cost_tn) / (π (cost_fn − cost_tp)); infinite where misses cost nothing.

        Examples
        --------
        >>> Context(cost_fp=1, cost_fn=2).slope(1 / 5)
        2.0
        """
        share = _decimal(self.prevalence(prevalence))
        return _quotient((1 - share) * self.false_alarm_cost, share * self.miss_cost)

    def lift_slope(self, n: float) -> float:
        """Return the slope of the iso-performance line in a lift chart of `n` cases (y counts true positives).

        Notes
        -----
        n·(cost_fp − cost_tn) / ((cost_fp − cost_tn) + (cost_fn − cost_tp)) at the sample's own class mix; n/2
        for accuracy (Vuk & Curk, eq. 5.7).

        Examples
        --------
        >>> Context().lift_slope(20)
        10.0
        """
        return _quotient(_decimal(n) * self.false_alarm_cost, self.false_alarm_cost + self.miss_cost)

    @property
    def probability_threshold(self) -> float:
        """The calibrated probability from which predicting positive is the cheaper action."""
        return self.lift_slope(1)

    def cost(self, point: OperatingPoint) -> float:
        """Return the total cost over the counts of a point, at the class mix of the sample."""
        return self.cost_tp * point.tp + self.cost_fp * point.fp + self.cost_fn * point.fn + self.cost_tn * point.tn

    def expected_cost(self, tpr: Any, fpr: Any, prevalence: float) -> Any:
        """Return the expected cost per case of rates, numbers or arrays.

        Parameters
        ----------
        tpr, fpr : float or array
        prevalence : float
            Share of positives in the sample; a target prevalence takes precedence.

        Examples
        --------
        >>> Context(cost_fp=1, cost_fn=20, target_prevalence=0.01).expected_cost(0.5, 0.1, 0.5)
        0.199
        """
        share = self.prevalence(prevalence)
        positives = share * (self.cost_tp * tpr + self.cost_fn * (1 - tpr))
        return positives + (1 - share) * (self.cost_fp * fpr + self.cost_tn * (1 - fpr))

    def rates_of_exchange(self, n_pos: float, n_neg: float) -> tuple[Fraction, Fraction]:
        """Return what one more true positive gains and one more false positive costs, in one common unit.

        Exact fractions, so that a comparison of two points with whole counts is never decided by rounding.
        """
        gain, cost = self.miss_cost, self.false_alarm_cost
        if self.target_prevalence is None:
            return gain, cost
        share = _decimal(self.target_prevalence)
        return share * gain * Fraction(n_neg), (1 - share) * cost * Fraction(n_pos)


def _decimal(number: float) -> Fraction:
    """Return the fraction that a number means as it is written: 0.2 is one fifth."""
    return Fraction(repr(float(number)))


def _quotient(numerator: Fraction, denominator: Fraction) -> float:
    if denominator:
        return float(numerator / denominator)
    return nan if numerator == 0 else inf if numerator > 0 else -inf
