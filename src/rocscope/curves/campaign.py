"""Campaign: what contacting customers costs and brings."""

from dataclasses import dataclass
from typing import Any

from rocscope._base import validation as check
from rocscope.core.context import Context
from rocscope.core.result import Result
from rocscope.errors import InputError


@dataclass(frozen=True)
class Campaign(Result):
    """A mailing, call or offer to some of a population, each contact at a cost and each response of a benefit.

    Parameters
    ----------
    population : float
        Number of customers that could be contacted.
    unit_cost : float
        Cost of one contact.
    unit_benefit : float or str
        What one response brings, before the cost of its contact; the name of the column of the rows that holds it,
        where that differs from customer to customer.
    fixed_cost : float
        Cost of holding the campaign at all.
    response_rate : float, optional
        Share of the population that would respond; the sample's own when left out.
    capacity : float, optional
        Largest number of contacts that can be made.

    Raises
    ------
    InputError
        If the population is not above 0, a cost or benefit is negative, or the rate is not between 0 and 1.

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
        given = {
            "population": check.check_number(self.population, "population", "a number of customers above 0", above=0)
        }
        for name in ("unit_cost", "unit_benefit", "fixed_cost"):
            if name == "unit_benefit" and isinstance(self.unit_benefit, str) and self.unit_benefit:
                continue
            given[name] = check.check_number(getattr(self, name), name, "an amount of at least 0", least=0)
        if self.response_rate is not None:
            given["response_rate"] = check.check_share(self.response_rate, "response_rate")
        if self.capacity is not None:
            most = "a number of contacts of at least 0"
            given["capacity"] = check.check_number(self.capacity, "capacity", most, least=0)
        check.settle(self, **given)

    @property
    def context(self) -> Context:
        """The costs as a context: the threshold of highest profit is the one of lowest cost in it."""
        return Context.from_profit(
            unit_benefit=self.unit_benefit, unit_cost=self.unit_cost, target_prevalence=self.response_rate
        )

    def require_one_benefit(self) -> float:
        """Return what one response brings, or raise InputError where that differs from customer to customer."""
        if isinstance(self.unit_benefit, str):
            hint = "rocscope.plan_campaign takes rows with that column"
            raise InputError("campaign", expected="one unit_benefit for all", got=repr(self), hint=hint)
        return self.unit_benefit

    @property
    def break_even_rate(self) -> float:
        """Response rate from which a contact pays for itself."""
        benefit = self.require_one_benefit()
        return self.unit_cost / benefit if benefit else float("inf")

    def profit(self, size: Any, responders: Any) -> Any:
        """Return the profit of `size` contacts, `responders` of whom respond; numbers or arrays."""
        return self.require_one_benefit() * responders - self.unit_cost * size - self.fixed_cost
