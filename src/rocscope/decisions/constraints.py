"""Criteria (`criterion=`) and constraints (`subject_to=`) for choosing a threshold.

A `Criterion` is a metric to optimise. A `Constraint` is a bound on a metric, parsed from a string such as "tpr >= 0.9
at 95%". Both are functions of the four counts tp, fp, fn and tn at a threshold (`FourCells`). Rates within a class,
such as tpr, use the counts of the sample. Other metrics use counts at the target prevalence (`at_mix`).

Maximising a criterion that is linear in the counts is equivalent to minimising the cost in another context, so the best
threshold is a vertex of the ROC convex hull. Randomised rules need constraints whose boundary is a straight line in ROC
space (`Constraint.straight`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from rocscope._base import special, validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.core import Context, decimal
from rocscope.errors import InputError, WeightError
from rocscope.figures.conditions import Condition
from rocscope.figures.influence import Figure
from rocscope.figures.registry import figure_named, in_context, scorer_name
from rocscope.geometry.bounded import Bound
from rocscope.inference import learn_then_test, proportions

# Criteria

Function = Callable[..., Any]
FourCells = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class Criterion:
    """A metric to optimise.

    Attributes
    ----------
    name : str
        Name of the metric.
    value : function of tp, fp, fn, tn
        Computes the metric from counts at the target prevalence.
    sign : int
        −1 if low values are better, else 1.
    equivalent : function from Context to Context, or None
        Returns a context in which minimising the cost is equivalent to optimising the metric. None if the metric is not
        linear in the counts.
    """

    name: str
    value: Function
    sign: int = 1
    equivalent: Callable[[Context], Context] | None = None

    def goodness(self, cells: FourCells) -> Array:
        """Return the value to maximise at several points; −∞ at points where the metric is undefined."""
        value = np.asarray(self.value(*cells), dtype=np.float64)
        if value.shape != cells[0].shape:
            expected = f"an array of shape {cells[0].shape}"
            hint = "write the function with NumPy functions, because it gets arrays"
            raise InputError(f"criterion {self.name!r}", expected=expected, got=f"shape {value.shape}", hint=hint)
        return np.where(np.isnan(value), -math.inf, self.sign * value)


def criterion_of(criterion: str | Function | None) -> Criterion:
    """Return the criterion with the given name, or a criterion that maximises the given function of tp, fp, fn and tn.

    Raises
    ------
    InputError
        If the name is unknown.
    """
    criterion = scorer_name(criterion)
    if callable(criterion):
        return Criterion(getattr(criterion, "__name__", "function"), criterion)
    if criterion is None:
        criterion = "cost"
    if not isinstance(criterion, str):
        raise InputError("criterion", expected="a name or a function of tp, fp, fn, tn", got=check.shown(criterion))
    expected = "a metric of one threshold that can be maximised or minimised, such as 'accuracy' or 'f1'"
    figure = figure_named(criterion, "criterion", expected=expected, suits=_is_criterion)
    value = _cost_without_context if figure.cells is None else figure.cells
    name = "min_cost" if figure.name == "cost" else figure.name
    return Criterion(name, value, figure.sign, _EQUIVALENT_CONTEXTS.get(figure.name))


def _is_criterion(figure: Figure) -> bool:
    return figure.sign != 0 and (figure.cells is not None or figure.name == "cost")


def _cost_without_context(*_cells: Array) -> Array:
    raise InputError("criterion 'min_cost'", expected="a context with costs", got="no context")


def _balanced(_context: Context) -> Context:
    """Return a context with equal costs and a prevalence of 1/2, in which the lowest cost has the largest tpr − fpr."""
    return Context(0.5)


# For each figure that is linear in the counts: the context in which the choice of lowest cost has the best figure.
_EQUIVALENT_CONTEXTS: dict[str, Callable[[Context], Context]] = {
    "cost": Context.given,
    "accuracy": lambda context: Context(context.target_prevalence),
    "youden": _balanced,
    "ks": _balanced,
    "balanced_accuracy": _balanced,
    "macro_average": _balanced,
}


# Constraints

_RATES = ("tpr", "fnr", "fpr", "tnr")

# Figures that are not monotone along the thresholds, with the order in which their thresholds are tested together. For
# precision and npv the thresholds with many cases are tested last, because they have most power.
_TESTED: dict[str, learn_then_test.Order] = {
    "precision": "deeper",
    "npv": "shallower",
    "accuracy": "both",
    "error": "both",
    "cost": "both",
    "net_benefit": "both",
}

# Lowest level: at a lower one the confidence limit would lie on the other side of the estimate.
_LEAST_LEVEL = 0.5


@held_to_contract
@dataclass(frozen=True, repr=False)
class Constraint(Condition):
    """A bound on a metric, such as a rate or a number of cases.

    Parameters
    ----------
    quantity : str
        Name of any metric of one threshold; synonyms such as sensitivity or PPV are allowed. ``"cases"`` is the number
        of cases predicted positive. ``"cost"`` and ``"net_benefit"`` are values per case in the context of the choice.
        ``"cases"`` and the four counts ``"tp"``, ``"fp"``, ``"fn"`` and ``"tn"`` are expected counts in the population.
        Without a population, they are counts in the sample.
    relation : {">=", "<=", ">", "<"}
        Relation between the metric and the bound.
    bound : float
        Lowest or highest allowed value of the metric.
    level : float, optional
        Confidence level with which the true value of the metric satisfies the bound. By default, the value in the
        sample must satisfy the bound. A level is available only for the relations >= and <=, and for the metrics tpr,
        fnr, fpr, tnr, depth, precision, npv, accuracy, error, cost, net benefit and cases. For cases, the level is the
        probability that the bound holds for the next N cases, where N is the size of the population.
    context : Context, optional
        Costs and prevalence for the metrics "cost" and "net_benefit". By default, the context of the choice.

    Raises
    ------
    InputError
        If the quantity or the relation is unknown, or if a level is not available for this quantity and relation.

    Notes
    -----
    With a level α, the confidence limit of a rate must satisfy the bound. The limit is the exact one-sided limit of
    Clopper and Pearson. The choice of the threshold needs no correction, because the rate and its limit are monotone in
    the threshold. Call a threshold invalid if its true rate violates the bound. If any invalid threshold is admitted,
    the first invalid threshold is admitted too. This happens with a probability of at most 1 − α. With m models, the
    level for each model is 1 − (1 − α)/m.

    Precision, npv, accuracy, error, cost and net benefit are not monotone in the threshold. Their thresholds are
    therefore tested jointly (learn then test). The probability that an invalid threshold is admitted is at most 1 − α.
    This test is not available for rows in groups and raises an error for such rows.

    Weights that are not whole numbers raise an error. A valid limit depends on the largest possible weight, which is
    unknown. If you can state the largest possible weight, keep each row with the probability w/m (w: its weight,
    m: the largest possible weight), and pass the kept rows without weights.

    "cases <= b at α" is a prediction for N new cases, exact for any distribution of the scores. Consider the (b + 1)th
    highest score of the new cases. The number K of the n sample cases above this score is beta-binomial (n; b + 1, N −
    b). A threshold that k sample cases reach is admitted if P(K ≤ k) ≤ 1 − α.

    References
    ----------
    Clopper & Pearson 1934, Biometrika 26:404–413; Angelopoulos et al. 2021, "Learn then test" (fixed sequences).

    Examples
    --------
    >>> Constraint.parse("tpr >= .9"), Constraint.parse("fpr ≤ 5%"), Constraint.parse("tpr >= .9 at 95%")
    (Constraint('tpr >= 0.9'), Constraint('fpr <= 0.05'), Constraint('tpr >= 0.9 at 95%'))
    >>> Constraint.capacity(800), Constraint.budget(2000, unit_cost=2.5)
    (Constraint('cases <= 800'), Constraint('cases <= 800'))
    """

    context: Context | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.model is not None:
            got, hint = repr(str(self)), "omit the model's name, because a constraint applies to the chosen model"
            raise InputError("constraint", expected="a bound without a model's name", got=got, hint=hint)
        check.set_fields(self, quantity=self.figure.name)
        check.check_choice("constraint", self.relation, (">=", "<=", ">", "<"))
        check.set_fields(self, bound=check.check_number(self.bound, f"bound of {self.quantity}"))
        if self.level is not None:
            self._require_limit(self.level)

    @property
    def figure(self) -> Figure:
        """The constrained metric; costs are taken from the context."""
        expected = "a metric of one threshold, such as 'tpr', 'precision', 'cases' or 'cost'"
        figure = figure_named(self.quantity, "constraint", expected=expected, suits=_is_bounded)
        return figure if self.context is None else in_context(figure, self.context)

    def _require_limit(self, level: float) -> None:
        if self.quantity not in (*_RATES, "depth", "cases", *_TESTED) or self.relation in (">", "<"):
            names = ", ".join((*_RATES, *_TESTED))
            expected = f"a bound with >= or <= on {names}, depth or cases"
            raise InputError("constraint with a confidence level", expected=expected, got=str(self))
        level = check.check_level(level)
        if level < _LEAST_LEVEL:
            raise InputError("confidence level", expected="50% or more (such as 95%)", got=f"{100 * level:g}%")

    @property
    def predicts(self) -> bool:
        """True if the constraint limits the number of positives among the next cases, at a confidence level."""
        return self.level is not None and self.quantity == "cases"

    @property
    def tested(self) -> bool:
        """True if all thresholds are tested jointly, with the method "learn then test"."""
        return self.level is not None and self.quantity in _TESTED

    @property
    def guarantee(self) -> str:
        """Statement of the guarantee for a constraint with a confidence level."""
        missed = f"{100 * (1 - (self.level or 0)):.10g}%"
        side = f"{'below' if self.upwards else 'above'} {self.bound:g}"
        if self.predicts:
            return f"guaranteed: the number of selected cases in the next list is {side} in at most {missed} of samples"
        return f"guaranteed: a threshold whose true {self.quantity} is {side} is chosen in at most {missed} of samples"

    @property
    def limited(self) -> str:
        """Name of the quantity that `value` returns, for messages."""
        if self.predicts:
            return "expected number of cases"
        if not self.tested:
            return f"{self.quantity}{self.surely}"
        if self.quantity in proportions.SHARES:  # the tests of all thresholds together guarantee less
            return f"{self.quantity}{self.surely} of a threshold fixed in advance"
        return f"{self.quantity} in the sample"

    @classmethod
    def parse(cls, text: "str | Constraint") -> "Constraint":
        """Parse a constraint from a string such as ``"tpr >= .9"`` or ``"cases <= 800"``.

        Parameters
        ----------
        text : str or Constraint
            Text of one constraint. A Constraint is returned unchanged.

        Raises
        ------
        InputError
            If the text is not valid, or if it contains several constraints.

        Examples
        --------
        >>> Constraint.parse("recall >= 80%")
        Constraint('tpr >= 0.8')
        """
        if isinstance(text, Constraint):
            return text
        constraint, *more = cls.read(text, "constraint")
        if more:
            raise InputError("constraint", expected="one condition", got=repr(text), hint="pass a list of conditions")
        return constraint

    @classmethod
    def capacity(cls, cases: float) -> "Constraint":
        """Return the constraint that at most `cases` cases of the population are predicted positive.

        Raises
        ------
        InputError
            If the number of cases is negative or not a number.

        Examples
        --------
        >>> Constraint.capacity(50)
        Constraint('cases <= 50')
        """
        return cls("cases", "<=", check.check_number(cases, "capacity", "a number of at least 0", least=0))

    @classmethod
    def budget(cls, amount: float, *, unit_cost: float, fixed_cost: float = 0) -> "Constraint":
        """Return the constraint that the total cost of acting on the positives does not exceed a budget.

        The total cost is `fixed_cost` plus `unit_cost` for each case predicted positive.

        Parameters
        ----------
        amount : float
            Budget, at least the fixed cost.
        unit_cost : float
            Cost of acting on one case, above 0.
        fixed_cost : float
            Cost that does not depend on the number of cases.

        Raises
        ------
        InputError
            If a cost is invalid, or if the budget is below the fixed cost.

        Examples
        --------
        >>> Constraint.budget(100, unit_cost=2)
        Constraint('cases <= 50')
        """
        check.check_number(unit_cost, "unit_cost", "a number above 0", above=0)
        check.check_number(fixed_cost, "fixed_cost", "a number of at least 0", least=0)
        check.check_number(amount, "budget", f"a number of at least the fixed cost, {fixed_cost:g}", least=fixed_cost)
        return cls.capacity(int((decimal(amount) - decimal(fixed_cost)) // decimal(unit_cost)))

    def value(
        self, cells: FourCells, target_prevalence: float | None, population: float | None, at_once: int = 1
    ) -> Array:
        """Return the constrained metric at thresholds of the sample or, with a level, its confidence limit.

        Parameters
        ----------
        cells : tuple of four arrays
            True positives, false positives, false negatives and true negatives at each threshold.
        target_prevalence : float or None
            Prevalence of the population. Rates within a class do not depend on this prevalence.
        population : float or None
            Size of the population, to which counts are scaled.
        at_once : int
            Number of models that are compared. The confidence limit is adjusted for this number.

        Raises
        ------
        InputError
            If the constraint on cases or depth has a level, and `target_prevalence` is not None.
        WeightError
            If the constraint has a level, but the counts are sums of weights.
        """
        if self.level is not None and not self.predicts and self.quantity in proportions.SHARES:
            counted, n = self._counted(cells, target_prevalence)
            level = 1 - (1 - self.level) / at_once  # Bonferroni's
            # The limit of a two-sided interval at 2α − 1 is the one-sided limit at level α.
            low, high = proportions.binomial_limits(counted, n, "clopper-pearson", 2 * level - 1)
            with np.errstate(invalid="ignore"):  # 0/0, such as the precision of nobody
                return np.where(_is_certain(cells), counted / n, high if self.relation == "<=" else low)
        figure = self.figure
        assert figure.cells is not None
        if self.quantity not in _RATES:
            cells = at_mix(cells, target_prevalence)
        value = figure.cells(*cells)
        if figure.unit != "cases" or population is None:
            return value
        return value * (population / sum(cell[..., :1] for cell in cells))

    def _counted(
        self, cells: FourCells, target_prevalence: float | None, rate: str | None = None
    ) -> tuple[Array, Array]:
        """Return the numerator and the denominator of a rate; by default, of the constrained rate.

        A rate that is named refers to the prevalence of the sample, like the number and the share of cases.
        """
        if (rate or self.quantity in ("cases", "depth")) and target_prevalence is not None:
            got, hint = f"target_prevalence={target_prevalence:g}", "omit the confidence level or target_prevalence"
            raise InputError(f"constraint {str(self)!r}", expected="the sample's prevalence", got=got, hint=hint)
        if any((cell % 1 != 0).any() for cell in cells if cell.dtype.kind == "f"):
            hint = (
                "omit the confidence level, because binomial limits need unweighted rows; or keep each row with the "
                "probability w/m (w: its weight, m: the largest possible weight), and pass these rows without weights"
            )
            raise WeightError(f"constraint {str(self)!r}", expected="whole counts", got="fractional counts", hint=hint)
        return proportions.share_of(rate or ("depth" if self.predicts else self.quantity), *cells)

    def admits(
        self, cells: FourCells, target_prevalence: float | None, population: float | None, at_once: int = 1
    ) -> Array:
        """Return True for each threshold that satisfies the constraint.

        `value` describes the parameters. A constraint with a level is decided by a test at this level.

        Parameters
        ----------
        cells, target_prevalence, population, at_once : see `value`
        """
        if self.level is None:
            return self.holds(self.value(cells, target_prevalence, population))
        if self.tested:
            return self._passes(cells, target_prevalence, (1 - self.level) / at_once)
        counted, n = self._counted(cells, target_prevalence)
        if self.predicts:
            return self._is_predicted(counted, n, population, (1 - self.level) / at_once)
        counted, share = self._at_least(counted, n)
        kept = learn_then_test.p_of_share(counted, n, share) <= (1 - self.level) / at_once
        return np.where(_is_certain(cells), counted >= share * n, kept | (share <= 0))

    def _at_least(self, counted: Array, n: Array) -> tuple[Array, float]:
        """Write the constraint as a lower bound on a share, and return the counts and the bound of this share.

        A share of successes of at most b is a share of failures of at least 1 − b.
        """
        share = min(max(self.bound, 0.0), 1.0)
        return (n - counted, 1 - share) if self.relation == "<=" else (counted, share)

    def _passes(self, cells: FourCells, target_prevalence: float | None, error: float) -> Array:
        """Return True for thresholds that pass a joint test of the bound.

        `error` is the error rate of all tests together.
        """
        target = target_prevalence if self.context is None else self.context.target_prevalence
        tp, fp, fn, tn = cells
        depth, everybody = tp + fp, tp + fp + fn + tn
        of_share = self.quantity in proportions.SHARES
        counted, n = self._counted(cells, target, self.quantity if of_share else "accuracy")
        if of_share:
            counted, share = self._at_least(counted, n)
            p_values = learn_then_test.p_of_share(counted, n, share)
        else:
            # Values of the four outcomes, scaled to 0 for the best and 1 for the worst.
            figure = self.figure
            assert figure.cells is not None
            kinds = figure.cells(*np.eye(4))
            best, worst = (kinds.max(), kinds.min()) if self.upwards else (kinds.min(), kinds.max())
            values, bound = ((amount - best) / (worst - best) for amount in (kinds, self.bound))
            p_values = learn_then_test.p_of_mean(np.stack(cells), values, bound)
        return learn_then_test.admitted(p_values, depth, everybody[..., :1], error, _TESTED[self.quantity])

    def _is_predicted(self, counted: Array, n: Array, population: float | None, error: float) -> Array:
        """Return True for thresholds at which the next cases satisfy the bound with probability 1 − error."""
        admitted = np.zeros(counted.shape, bool)
        for size in np.unique(n).tolist():
            cases = round(size if population is None else population)
            of_size = np.broadcast_to(n == size, counted.shape)
            # "At least b cases are positive" means "at most N − b cases are negative".
            above, most = counted[of_size], math.floor(self.bound)
            if self.relation == ">=":
                above, most = size - above, cases - math.ceil(self.bound)
            if most < 0 or most >= cases:
                admitted[of_size] = most >= cases
                continue
            chances = _chances_of_fewer(int(size), cases, most)[above.astype(np.intp)]
            admitted[of_size] = (chances <= error) | (above == 0)
        return admitted

    def straight(self, prevalence: Fraction, cases: Fraction) -> Bound:
        """Return the constraint as a linear inequality in tpr and fpr, at a given prevalence and number of cases.

        Parameters
        ----------
        prevalence : Fraction
            Prevalence of the population.
        cases : Fraction
            Number of cases.

        Raises
        ------
        InputError
            If the boundary of the constraint is curved in ROC space, or if the constraint has a level. Also if the
            relation is > or <, because an optimal randomised rule may then not exist.

        Notes
        -----
        The metric is a ratio top/bottom of two linear functions of tpr and fpr. The ratio is at least b if b·bottom −
        top ≤ 0. For precision, tp/(tp + fp), the inequality is b·fp − (1 − b)·tp ≤ 0.
        """
        lines = self.figure.at_mix(prevalence)
        if lines is None or self.relation in (">", "<") or self.level is not None:
            expected = "bounds with >= or <= and without a level, on a metric that is linear in the counts"
            hint = "omit randomized or the constraint"
            raise InputError("randomized", expected=expected, got=str(self), hint=hint)
        bound = decimal(self.bound) / (cases if self.figure.unit == "cases" else 1)
        sign = 1 if self.relation == "<=" else -1
        up, right, rest = (sign * (Fraction(top) - bound * bottom) for top, bottom in zip(*lines, strict=True))
        return Bound(up, right, -rest)


def share_bound(constraint: Constraint, cases: Fraction) -> Fraction | None:
    """Return a bound on the number or share of positive cases as a share of `cases`; None for other constraints."""
    bound = decimal(constraint.bound)
    return {"cases": bound / cases, "depth": bound}.get(constraint.quantity)


@lru_cache(maxsize=8)
def _chances_of_fewer(n: int, cases: int, most: int) -> Array:
    """Return P(K ≤ k) for k = 0, …, n, where K is the number of sample scores above a score of the new cases.

    The sample has n scores. The score of the new cases is their (most + 1)th highest; there are `cases` new cases. K is
    beta-binomial: P(K = k) = C(n, k)·B(k + a, n − k + b)/B(a, b) with a = most + 1 and b = cases − most.
    """
    k, a, b = np.arange(n + 1), most + 1, cases - most
    log = -np.log(n + 1) - special.betaln(k + 1, n - k + 1) + special.betaln(k + a, n - k + b) - special.betaln(a, b)
    return np.cumsum(np.exp(log))


def _is_bounded(figure: Figure) -> bool:
    return figure.needs == "cells" or figure.name in ("cost", "net_benefit")


def _is_certain(cells: FourCells) -> Array:
    """Return True for points at which nobody or everybody is predicted positive.

    At these points tpr, fpr and depth are 0 or 1 in every sample.
    """
    tp, fp, fn, tn = cells
    return (tp + fp == 0) | (fn + tn == 0)


def at_mix(cells: FourCells, target_prevalence: float | None) -> FourCells:
    """Return the counts, reweighted to a target prevalence; unchanged if the target prevalence is None."""
    if target_prevalence is None:
        return cells
    tp, fp, fn, tn = cells
    n_pos, n_neg = tp[..., :1] + fn[..., :1], fp[..., :1] + tn[..., :1]
    n = n_pos + n_neg
    positive, negative = target_prevalence * n / n_pos, (1 - target_prevalence) * n / n_neg
    return positive * tp, negative * fp, positive * fn, negative * tn


def constraints_of(subject_to: Any, context: Context | None = None) -> tuple[Constraint, ...]:
    """Return constraints, given one or several strings or `Constraint` objects.

    Constraints on costs use the costs of the context.
    """
    given = [subject_to] if isinstance(subject_to, str | Constraint) else subject_to
    if not isinstance(given, list | tuple) or not all(isinstance(item, str | Constraint) for item in given):
        expected = "constraints such as 'tpr >= 0.9'"
        raise InputError("subject_to", expected=expected, got=check.shown(subject_to))
    constraints: list[Constraint] = []
    for item in given:
        constraints += [item] if isinstance(item, Constraint) else Constraint.read(item, "constraint")
    return tuple(replace(constraint, context=context) for constraint in constraints)
