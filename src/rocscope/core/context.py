"""Context: prevalence and costs under which a classifier will be used. Campaign: costs and benefits of a mailing.

A cost may be the name of a column with one amount per row. Rows are then weighted by money. Let g be the gain of acting
on a row. The row is labelled positive if g > 0, and its weight is the absolute value of g. All curves, hulls and bands
can be computed from such rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import frexp, inf, ldexp, nan
from numbers import Rational
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.contract import made_by_contract
from rocscope.core.counts import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result
from rocscope.errors import ColumnError, InputError, OneClassError

CELLS = ("tp", "fp", "fn", "tn")


@made_by_contract
@dataclass(frozen=True)
class Context(Result):
    """Prevalence and costs under which a threshold is chosen.

    Parameters
    ----------
    target_prevalence : float, optional
        Share of positives in the population in which the classifier will be used, between 0 and 1. By default, the
        share in the sample.
    cost_fp, cost_fn, cost_tp, cost_tn : float or str
        Cost of one false positive, false negative, true positive and true negative, in any unit. Enter a gain as a
        negative cost. If a cost differs between rows, pass the name of the column that contains it.

    Raises
    ------
    InputError
        If a cost is not finite, if the prevalence is not between 0 and 1, or if both kinds of errors cost less than
        correct predictions. If one kind of error costs less than a correct prediction of the same class, one action is
        always optimal (see `always_right`).

    References
    ----------
    Hernández-Orallo 2004, skew-sensitive evaluation. Vuk & Curk 2006, §4.2 and §5.2.

    Examples
    --------
    A valve must be opened in 500 of 100,000 cases. A missed case costs 20 times as much as a false alarm:

    >>> context = Context(cost_fp=100, cost_fn=2000)
    >>> context.slope(500 / 100_000)
    9.95
    >>> context.cost(OperatingPoint(tp=300, fp=500, fn=200, tn=99_000))
    450000
    """

    target_prevalence: float | None = None
    cost_fp: float | str = 1
    cost_fn: float | str = 1
    cost_tp: float | str = 0
    cost_tn: float | str = 0

    def __post_init__(self) -> None:
        for name, cost in ((f"cost_{cell}", getattr(self, f"cost_{cell}")) for cell in CELLS):
            if not _is_name(cost):
                expected = "a finite number, or the name of a column of the rows"
                check.set_fields(self, **{name: check.check_number(cost, name, expected)})
        if self.target_prevalence is not None:
            check.set_fields(self, target_prevalence=check.check_share(self.target_prevalence, "target_prevalence"))
        # If both kinds of errors were rewarded, the worst classifier would be the best.
        if not self.columns and self.false_alarm_cost < 0 and self.miss_cost < 0:
            raise _rewards_errors(f"{self!r}, which rewards errors of both kinds")

    @classmethod
    def given(cls, context: "Context | Campaign | None" = None) -> "Context":
        """Return the given Context, or the context of a Campaign. By default, each error costs 1.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence.

        Raises
        ------
        InputError
            If a campaign has a capacity or a fixed cost, because a context would ignore it.

        Examples
        --------
        >>> Context.given(Campaign(1000, unit_cost=1, unit_benefit=10))
        Context(target_prevalence=None, cost_fp=1, cost_fn=0, cost_tp=-9, cost_tn=0)
        """
        if isinstance(context, cls):
            return context
        if getattr(context, "capacity", None) is not None or getattr(context, "fixed_cost", 0):
            hint = "call choose or plan_campaign, which use them; or pass campaign.context, which omits them"
            expected = "a Context or a Campaign without capacity and fixed cost"
            raise InputError("context", expected=expected, got=repr(context), hint=hint)
        context = getattr(context, "context", context)
        if context is not None and not isinstance(context, cls):
            hint = "pass a Context: rs.Context(cost_fp=1, cost_fn=5)"
            raise InputError("context", expected="a Context or a Campaign", got=check.shown(context), hint=hint)
        return cls() if context is None else context

    @classmethod
    def from_cost_matrix(
        cls,
        matrix: Any,
        *,
        rows: Literal["predicted", "actual"],
        positive: Literal["first", "last"],
        target_prevalence: float | None = None,
    ) -> "Context":
        """Return the context with the costs of a 2 × 2 matrix.

        Parameters
        ----------
        matrix : 2 × 2 array of costs
        rows : {"predicted", "actual"}
            Whether the rows of the matrix are predicted or actual classes. There is no default, because papers and
            libraries use different orders.
        positive : {"first", "last"}
            Position of the positive class in the rows and columns of the matrix.
        target_prevalence : float, optional
            Share of positives in the population; see `Context`.

        Raises
        ------
        InputError
            If the matrix is not 2 × 2 or contains NaN, or if `rows` or `positive` is invalid.

        References
        ----------
        Hernández-Orallo 2004, skew-sensitive evaluation. This paper uses predicted classes as rows, positive first.

        Examples
        --------
        >>> Context.from_cost_matrix([[0, 100], [2000, 0]], rows="predicted", positive="first")
        Context(target_prevalence=None, cost_fp=100, cost_fn=2000, cost_tp=0, cost_tn=0)
        >>> Context.from_cost_matrix([[0, 1], [5, 0]], rows="actual", positive="last").cost_fn
        5
        """
        costs = np.asarray(matrix)
        if costs.shape != (2, 2):
            raise InputError("cost matrix", expected="an array of shape (2, 2)", got=f"an array of shape {costs.shape}")
        check.check_choice("rows", rows, ("predicted", "actual"))
        check.check_choice("positive", positive, ("first", "last"))
        if rows == "actual":
            costs = costs.T
        if positive == "last":
            costs = costs[::-1, ::-1]
        (tp, fp), (fn, tn) = costs.tolist()
        return cls(target_prevalence, cost_fp=fp, cost_fn=fn, cost_tp=tp, cost_tn=tn)

    @classmethod
    def from_cost_ratio(cls, cost_ratio: float, *, target_prevalence: float | None = None) -> "Context":
        """Return a context in which one false positive costs `cost_ratio` times as much as one false negative.

        Parameters
        ----------
        cost_ratio : float
            Cost of a false positive divided by the cost of a false negative, above 0.
        target_prevalence : float, optional
            Share of positives in the population where the model is used. By default, the share in the sample.

        Raises
        ------
        InputError
            If the cost ratio is not a finite number above 0.

        Examples
        --------
        >>> Context.from_cost_ratio(1 / 2).slope(1 / 5)
        2.0
        """
        check.check_number(cost_ratio, "cost ratio", "a finite number above 0", above=0)
        return cls(target_prevalence, cost_fp=cost_ratio)

    @classmethod
    def from_profit(
        cls, *, unit_benefit: float | str, unit_cost: float, target_prevalence: float | None = None
    ) -> "Context":
        """Return a context in which an action costs `unit_cost` and earns `unit_benefit` if the case is positive.

        If the benefit is the name of a column, that column becomes the cost of a false negative.

        Parameters
        ----------
        unit_benefit : float or str
            Benefit of an action on a positive case, or the name of a column that contains the benefit of each row.
        unit_cost : float
            Cost of an action.
        target_prevalence : float, optional
            Share of positives in the population where the model is used. By default, the share in the sample.

        Raises
        ------
        InputError
            If a cost or a benefit is negative or not a finite number.

        Examples
        --------
        >>> Context.from_profit(unit_benefit=45, unit_cost=1)
        Context(target_prevalence=None, cost_fp=1, cost_fn=0, cost_tp=-44, cost_tn=0)
        """
        check.check_number(unit_cost, "unit_cost", "a finite number of at least 0", least=0)
        if isinstance(unit_benefit, str):
            return cls(target_prevalence, cost_fp=unit_cost, cost_fn=unit_benefit, cost_tp=unit_cost)
        check.check_number(unit_benefit, "unit_benefit", "a finite number of at least 0", least=0)
        net = decimal(unit_cost) - decimal(unit_benefit)
        cost_tp = int(net) if net.denominator == 1 else float(net)
        return cls(target_prevalence, cost_fp=unit_cost, cost_fn=0, cost_tp=cost_tp)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that contain costs."""
        costs = (getattr(self, f"cost_{cell}") for cell in CELLS)
        return tuple(dict.fromkeys(cost for cost in costs if isinstance(cost, str)))

    @property
    def costs(self) -> dict[str, float]:
        """Dictionary of the costs of "tp", "fp", "fn" and "tn". Raises InputError if a cost differs between rows."""
        if self.columns:
            hint = "call rocscope.decisions.in_money(predictions, context) and pass the rows that it returns"
            raise InputError("context", expected="costs that are the same in every row", got=repr(self), hint=hint)
        return {cell: getattr(self, f"cost_{cell}") for cell in CELLS}

    @cached_property
    def _exact_costs(self) -> dict[str, Fraction]:
        """The costs as exact fractions: 0.2 becomes 1/5."""
        return {cell: decimal(cost) for cell, cost in self.costs.items()}

    @cached_property
    def false_alarm_cost(self) -> Fraction:
        """Extra cost of a false positive compared with a true negative, cost_fp − cost_tn."""
        return self._exact_costs["fp"] - self._exact_costs["tn"]

    @cached_property
    def miss_cost(self) -> Fraction:
        """Extra cost of a false negative compared with a true positive, cost_fn − cost_tp."""
        return self._exact_costs["fn"] - self._exact_costs["tp"]

    @property
    def cost_ratio(self) -> float:
        """`false_alarm_cost` divided by `miss_cost`. NaN if both are 0."""
        return _quotient(self.false_alarm_cost, self.miss_cost)

    @property
    def always_right(self) -> Literal["all positive", "all negative"] | None:
        """The prediction that is optimal for every case under these costs. None if it depends on the case.

        Examples
        --------
        >>> Context(cost_fp=1, cost_tp=2, cost_fn=1).always_right
        'all negative'
        """
        false_alarm, miss = self.false_alarm_cost, self.miss_cost
        if false_alarm < 0 or (false_alarm == 0 and miss > 0):
            return "all positive"
        return "all negative" if miss <= 0 else None

    def prevalence(self, sample: float) -> float:
        """Return the target prevalence. If it is not set, return the prevalence of the sample.

        Parameters
        ----------
        sample : float
            Share of positives in the sample.

        Examples
        --------
        >>> Context().prevalence(0.5), Context(target_prevalence=0.01).prevalence(0.5)
        (0.5, 0.01)
        """
        return sample if self.target_prevalence is None else self.target_prevalence

    def slope(self, prevalence: float) -> float:
        """Return the slope of the lines of equal cost in the ROC diagram.

        Parameters
        ----------
        prevalence : float
            Share of positives in the sample. If `target_prevalence` is set, this argument is ignored.

        Raises
        ------
        InputError
            If a cost differs between rows.

        Notes
        -----
        The slope is (1 − π)(cost_fp − cost_tn) / (π (cost_fn − cost_tp)), where π is the prevalence. It is infinite if
        the denominator is 0.

        Examples
        --------
        >>> Context(cost_fp=1, cost_fn=2).slope(1 / 5)
        2.0
        """
        share = decimal(self.prevalence(prevalence))
        return _quotient((1 - share) * self.false_alarm_cost, share * self.miss_cost)

    def lift_slope(self, n: float) -> float:
        """Return the slope of the lines of equal cost in a lift chart of `n` cases.

        The y axis of this chart is the number of true positives.

        Raises
        ------
        InputError
            If a cost differs between rows.

        Notes
        -----
        At the prevalence of the sample, the slope is n·(cost_fp − cost_tn) / ((cost_fp − cost_tn) + (cost_fn −
        cost_tp)). If each error costs 1, the slope is n/2 (Vuk & Curk, eq. 5.7).

        Examples
        --------
        >>> Context().lift_slope(20)
        10.0
        """
        return _quotient(decimal(n) * self.false_alarm_cost, self.false_alarm_cost + self.miss_cost)

    @property
    def probability_threshold(self) -> float:
        """Calibrated probability above which it is cheaper to predict positive than negative."""
        return self.lift_slope(1)

    def cost(self, point: OperatingPoint) -> float:
        """Return the total cost of all cases of the sample at an operating point. The target prevalence is ignored.

        Parameters
        ----------
        point : OperatingPoint
            Confusion matrix of the sample at one threshold.

        Examples
        --------
        >>> Context(cost_fp=100, cost_fn=2000).cost(OperatingPoint(tp=3, fp=5, fn=2, tn=90))
        4500
        """
        return sum(self.cost_by_cell(point).values())

    def cost_by_cell(self, point: OperatingPoint) -> dict[str, float]:
        """Return the total cost of each cell of the confusion matrix. The costs add up to `cost`.

        Parameters
        ----------
        point : OperatingPoint
            Confusion matrix of the sample at one threshold.

        Examples
        --------
        >>> Context(cost_fp=100, cost_fn=2000).cost_by_cell(OperatingPoint(tp=300, fp=500, fn=200, tn=99_000))
        {'tp': 0, 'fp': 50000, 'fn': 400000, 'tn': 0}
        """
        return {cell: cost * getattr(point, cell) for cell, cost in self.costs.items()}

    def normalized_cost(self, point: OperatingPoint) -> float:
        """Return the normalised cost, FNR + slope · FPR.

        If correct predictions cost nothing, it is the expected cost per case divided by prevalence · cost_fn. All
        points on a line of equal cost in the ROC diagram have the same normalised cost.

        Parameters
        ----------
        point : OperatingPoint
            Confusion matrix of the sample at one threshold.

        Raises
        ------
        InputError
            If a cost differs between rows.

        References
        ----------
        Hernández-Orallo 2004, skew-sensitive evaluation.

        Examples
        --------
        The slope is 0.1. Half of the positives are missed, and one of ten negatives is a false alarm. So the normalised
        cost is 0.5 + 0.1 · 0.1:

        >>> round(Context(1 / 3, cost_fp=1, cost_fn=20).normalized_cost(OperatingPoint(tp=5, fp=1, fn=5, tn=9)), 4)
        0.51
        """
        return point.fnr + self.slope(point.n_pos / point.n) * point.fpr

    def expected_cost(self, tpr: Any, fpr: Any, prevalence: float) -> Any:
        """Return the expected cost per case at given true and false positive rates.

        Parameters
        ----------
        tpr, fpr : float or array
            True positive rate and false positive rate.
        prevalence : float
            Share of positives in the sample. If `target_prevalence` is set, this argument is ignored.

        Examples
        --------
        >>> Context(cost_fp=1, cost_fn=20, target_prevalence=0.01).expected_cost(0.5, 0.1, 0.5)
        0.199
        """
        share, costs = self.prevalence(prevalence), self.costs
        positives = share * (costs["tp"] * tpr + costs["fn"] * (1 - tpr))
        return positives + (1 - share) * (costs["fp"] * fpr + costs["tn"] * (1 - fpr))

    def exact_cost(self, point: OperatingPoint) -> Fraction:
        """Return the expected cost per case at a point as an exact fraction.

        Parameters
        ----------
        point : OperatingPoint
            Confusion matrix of the sample at one threshold.

        Examples
        --------
        >>> Context(cost_fn=20, target_prevalence=0.01).exact_cost(OperatingPoint(tp=1, fp=1, fn=1, tn=9))
        Fraction(199, 1000)
        """
        tp, fp, fn, tn = (Fraction(getattr(point, cell)) for cell in CELLS)
        cost = self._exact_costs
        positives, negatives = cost["tp"] * tp + cost["fn"] * fn, cost["fp"] * fp + cost["tn"] * tn
        if self.target_prevalence is None:
            return (positives + negatives) / (tp + fp + fn + tn)
        share = decimal(self.target_prevalence)
        return share * positives / (tp + fn) + (1 - share) * negatives / (fp + tn)

    def exact_slope(self, n_pos: float, n_neg: float) -> Fraction:
        """Return `slope` as an exact fraction for `n_pos` positives and `n_neg` negatives.

        `false_alarm_cost` and `miss_cost` must be above 0.

        Examples
        --------
        >>> Context(cost_fp=1, cost_fn=2).exact_slope(1, 4)
        Fraction(2, 1)
        """
        gain, cost = self.rates_of_exchange(n_pos, n_neg)
        return cost * Fraction(n_neg) / (gain * Fraction(n_pos))

    def rates_of_exchange(self, n_pos: float, n_neg: float) -> tuple[Fraction, Fraction]:
        """Return the gain of one more true positive and the cost of one more false positive in the same unit.

        Both are exact fractions, so the costs of two points can be compared without rounding.

        Parameters
        ----------
        n_pos, n_neg : float
            Numbers of positives and negatives in the sample.

        Examples
        --------
        At the prevalence 1/5, one more true positive saves 1/5 · 4/10, and one more false positive costs 4/5 · 1/20.
        Both amounts are multiplied by 10 · 20:

        >>> Context(cost_fn=4).rates_of_exchange(10, 20)
        (Fraction(4, 1), Fraction(1, 1))
        >>> Context(1 / 5, cost_fn=4).rates_of_exchange(10, 20)
        (Fraction(16, 1), Fraction(8, 1))
        """
        gain, cost = self.miss_cost, self.false_alarm_cost
        if self.target_prevalence is None:
            return gain, cost
        share = decimal(self.target_prevalence)
        return share * gain * Fraction(n_neg), (1 - share) * cost * Fraction(n_pos)


@made_by_contract
@dataclass(frozen=True)
class Campaign(Result):
    """A mailing, call or offer to part of a population, with a cost per contact and a benefit per response.

    Parameters
    ----------
    population : float
        Number of customers who could be contacted.
    unit_cost : float
        Cost of contacting one customer.
    unit_benefit : float or str
        Benefit of one response, before the cost of the contact is subtracted. If the benefit differs between customers,
        pass the name of the column that contains it.
    fixed_cost : float
        Cost of the campaign that does not depend on the number of contacts.
    response_rate : float, optional
        Share of the population that would respond if contacted. By default, the share in the sample.
    capacity : float, optional
        Largest possible number of contacts. By default, the number is not limited.

    Raises
    ------
    InputError
        If the population is not above 0, if a cost or benefit is negative, or if the rate is not between 0 and 1.

    References
    ----------
    Hernández-Orallo 2004, mail campaign design.

    Examples
    --------
    >>> campaign = Campaign(population=1e6, unit_cost=1, unit_benefit=45, fixed_cost=20_000)
    >>> campaign.profit(size=100_000, responders=3_000)
    15000
    """

    population: float
    unit_cost: float
    unit_benefit: float | str
    fixed_cost: float = 0
    response_rate: float | None = None
    capacity: float | None = None

    def __post_init__(self) -> None:
        population = check.check_number(self.population, "population", "a number of customers above 0", above=0)
        given = {"population": population}
        for name in ("unit_cost", "unit_benefit", "fixed_cost"):
            if name == "unit_benefit" and isinstance(self.unit_benefit, str) and self.unit_benefit:
                continue
            given[name] = check.check_number(getattr(self, name), name, "an amount of at least 0", least=0)
        if self.response_rate is not None:
            given["response_rate"] = check.check_share(self.response_rate, "response_rate")
        if self.capacity is not None:
            most = "a number of contacts, at least 0"
            given["capacity"] = check.check_number(self.capacity, "capacity", most, least=0)
        check.set_fields(self, **given)

    @property
    def context(self) -> Context:
        """The costs as a `Context`. The threshold with the lowest cost also has the highest profit."""
        return Context.from_profit(
            unit_benefit=self.unit_benefit, unit_cost=self.unit_cost, target_prevalence=self.response_rate
        )

    def require_one_benefit(self) -> float:
        """Return the benefit of one response, or raise InputError if it differs between customers."""
        if isinstance(self.unit_benefit, str):
            hint = "call rocscope.plan_campaign with rows that have this column"
            expected = "a unit_benefit that is a number"
            raise InputError("campaign", expected=expected, got=f"the column {self.unit_benefit!r}", hint=hint)
        return self.unit_benefit

    @property
    def break_even_rate(self) -> float:
        """Response rate above which a contact is profitable."""
        benefit = self.require_one_benefit()
        return self.unit_cost / benefit if benefit else float("inf")

    def profit(self, size: Any, responders: Any) -> Any:
        """Return the profit of `size` contacts that lead to `responders` responses. Both can be numbers or arrays.

        Raises
        ------
        InputError
            If the benefit differs between customers.

        Examples
        --------
        50 of 200 contacted customers respond. The profit is 50 · 10 − 200 · 1:

        >>> Campaign(1000, unit_cost=1, unit_benefit=10).profit(200, 50)
        300
        """
        return self.require_one_benefit() * responders - self.unit_cost * size - self.fixed_cost


def _is_name(cost: Any) -> bool:
    if isinstance(cost, str):
        try:
            float(cost)  # a number in quotes is a slip
        except ValueError:
            return bool(cost)
    return False


def decimal(number: float) -> Fraction:
    """Return the decimal text of a number as an exact fraction: 0.2 becomes 1/5."""
    if not check.is_number(number) or abs(number) == inf:
        raise InputError("share or bound", expected="a finite number", got=repr(number))
    return Fraction(number) if isinstance(number, (int, Rational)) else Fraction(repr(float(number)))


def _quotient(numerator: Fraction, denominator: Fraction) -> float:
    if denominator:
        return nearest(numerator / denominator)
    return nan if numerator == 0 else inf if numerator > 0 else -inf


def nearest(number: Fraction) -> float:
    """Return the float nearest to a fraction. Return infinity if the fraction exceeds the largest float."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


PARTS = 10_000
"""Factor that turns amounts with up to four decimals into whole numbers, so that sums of amounts are exact."""

UNIT = 2.0**-40
"""Factor for amounts that are used as weights and summed in batches."""

_WHOLE = 2**53  # from here on float64 rounds some whole numbers


def cost_of(cell: str, context: Context, columns: Mapping[str, Array]) -> Any:
    """Return the cost of a cell of the confusion matrix: a number, or an array with the cost of each row."""
    cost = getattr(context, f"cost_{cell}")
    return column_of(f"cost_{cell}", cost, columns) if isinstance(cost, str) else cost


def column_of(argument: str, name: str, columns: Mapping[str, Array]) -> Array:
    """Return the column with the given name. `argument` is the subject of the error if there is no such column."""
    if name not in columns:
        got = f"the columns {check.listing(list(columns))}" if columns else "no columns"
        hint = "pass Predictions(…, columns={name: amounts}), or call rocscope.read(…, columns=[name])"
        raise ColumnError(argument, expected=f"rows with a column {name!r}", got=got, hint=hint)
    return columns[name]


def costs_of_rows(
    positive: Booleans, context: Context, columns: Mapping[str, Array], whole: bool = False
) -> tuple[Array, Array]:
    """Return the cost of acting on each row and the cost of not acting. If `whole`, both are multiplied by `PARTS`."""
    amounts = (np.asarray(cost_of(cell, context, columns), np.float64) for cell in CELLS)
    tp, fp, fn, tn = map(in_parts, amounts) if whole else amounts
    with np.errstate(over="ignore"):
        acted, left = np.where(positive, tp, fp), np.where(positive, fn, tn)
        spread = np.abs(acted).sum() + np.abs(left).sum()
    if not np.isfinite(spread):
        got = f"amounts with an infinite sum in {check.listing(list(context.columns))}"
        raise InputError("costs", expected="amounts with a finite sum", got=got)
    return acted, left


def in_parts(amount: Array) -> Array:
    """Return amounts multiplied by `PARTS`. Amounts with at most four decimals become whole numbers."""
    with np.errstate(over="ignore"):
        parts = amount * PARTS
        whole = np.rint(parts)
    return np.where(whole / PARTS == amount, whole, parts)


def _rewards_errors(got: str) -> InputError:
    expected = "errors to cost more than correct predictions"
    hint = "check the signs of the costs: a gain is a negative cost"
    return InputError("context", expected=expected, got=got, hint=hint)


@dataclass(frozen=True, eq=False)
class Stakes:
    """Costs of acting and of not acting on each row.

    Attributes
    ----------
    acted, left : arrays of n costs
        Cost of acting on each row and cost of not acting, both multiplied by `PARTS`.
    weight : array of n weights, or None
        Weight of each row. If there is a target prevalence, the weight is multiplied by a weight of the row's class.
    """

    acted: Array
    left: Array
    weight: Array | None

    @classmethod
    def of(cls, rows: Predictions, context: Context) -> "Stakes":
        """Return the costs of acting and of not acting on each row.

        Raises
        ------
        ColumnError
            If the rows do not have a cost column of the context.
        InputError
            If the wrong action is never more expensive than the right action.
        """
        acted, left = costs_of_rows(rows.y_true, context, rows.columns, whole=True)
        stakes = cls(acted, left, class_weights(rows, context))
        gain = np.where(rows.y_true, stakes.gain, -stakes.gain)
        if (gain <= 0).all() and all((gain[part] < 0).any() for part in (rows.y_true, ~rows.y_true)):
            raise _rewards_errors(f"{context!r}, which rewards errors of both kinds")
        return stakes

    @property
    def gain(self) -> Array:
        """Cost saved by acting on each row. Negative if acting is more expensive than not acting."""
        return self.left - self.acted

    def cost(self, acts: Booleans) -> float:
        """Return the mean cost per case if you act on the rows where `acts` is True.

        If there is a target prevalence, the cost is computed at this prevalence.
        """
        cost, weight = np.where(acts, self.acted, self.left), self.weight
        total = cost.sum() / cost.size if weight is None else (cost * weight).sum() / weight.sum()
        return float(total / PARTS)

    def rows(self, predictions: Predictions, context: Context) -> Predictions:
        """Return rows weighted by the amount at stake, as documented in `rocscope.decisions.in_money`."""
        gain = self.gain
        weight = np.abs(gain) if self.weight is None else np.abs(gain) * self.weight
        kept: Any = weight > 0
        if not kept.any():
            expected = "costs that depend on the action in at least one row"
            raise InputError("context", expected=expected, got=f"{context!r} with equal costs of both actions")
        rows = predictions if kept.all() else predictions.select(kept)
        weight, gain = weight[kept], gain[kept]
        with np.errstate(over="ignore"):
            weight = np.ldexp(weight, -frexp(weight.mean())[1])  # rounds nothing, and leaves some weight below 1
        columns: dict[str, Any] = rows.row_columns() | {"sample_weight": weight, "weights": "money"}
        return Predictions(gain > 0, rows.scores, decisions=rows.decisions, columns=rows.columns, **columns)


def class_weights(rows: Predictions, context: Context) -> Array | None:
    """Return the weights of the rows. If there is a target prevalence, the weights produce this prevalence."""
    weight, target = rows.sample_weight, context.target_prevalence
    if target is None:
        return weight
    scale = np.where(rows.y_true, *weights_of_classes(rows.n_pos, rows.n_neg, target))
    return scale if weight is None else scale * weight


def weights_of_classes(n_pos: float, n_neg: float, target: float) -> tuple[float, float]:
    """Return weights for positive and for negative rows that produce a target prevalence.

    The weights are whole numbers if possible.
    """
    if not (n_pos and n_neg):
        got = "only positives" if n_pos else "only negatives"
        raise OneClassError("target_prevalence", expected="both classes in the data", got=got)
    odds = decimal(target) / (1 - decimal(target)) * Fraction(n_neg) / Fraction(n_pos)
    if max(odds.numerator, odds.denominator) >= _WHOLE:
        return nearest(odds), 1.0
    return float(odds.numerator), float(odds.denominator)


def below_one(of_classes: tuple[float, float]) -> tuple[float, float]:
    """Divide two factors by the same power of two, so that both are below 1. The division does not round."""
    by = -frexp(max(of_classes))[1]
    return ldexp(of_classes[0], by), ldexp(of_classes[1], by)


def rows_in_money(predictions: Predictions, context: Context) -> Predictions:
    """Return rows weighted by the amount at stake, as documented in `rocscope.decisions.in_money`."""
    return Stakes.of(predictions, context).rows(predictions, context)


def gains_in_batch(
    positive: Booleans,
    context: Context,
    columns: Mapping[str, Array],
    weight: Array | None,
    of_classes: tuple[float, float] | None = None,
) -> tuple[Booleans, Array]:
    """Return, for each row of a batch, whether acting brings a gain, and the amount at stake in units of `UNIT`.

    All batches use the same unit, so their sums can be added. In this unit amounts are fractions, so an amount is not
    mistaken for a number of rows. Class weights for a target prevalence are scaled to below 1.
    """
    acted, left = costs_of_rows(positive, context, columns, whole=True)
    gain = left - acted
    mass = np.abs(gain) * (UNIT if weight is None else UNIT * weight)
    if of_classes is not None:
        mass *= np.where(positive, *below_one(of_classes))
    return gain > 0, mass
