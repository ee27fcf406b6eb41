"""What a test of a difference is to show, and the test itself once it is known how the difference varies."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isinf, nan
from typing import Literal

from scipy import special

from rocscope import _validation as check
from rocscope.errors import InputError
from rocscope.inference.estimate import Comparison, Estimate

Alternative = Literal["two-sided", "greater", "less"]
Test = Literal["difference", "superiority", "noninferiority", "equivalence"]

ALTERNATIVES = ("two-sided", "greater", "less")
TESTS = ("difference", "superiority", "noninferiority", "equivalence")


@dataclass(frozen=True)
class Hypothesis:
    """What is to be shown of second − first.

    Parameters
    ----------
    alternative : {"two-sided", "greater", "less"}
        That it is not 0, above 0, or below 0.
    test : {"difference", "superiority", "noninferiority", "equivalence"}
        In place of that: that it is above `margin`, above −`margin`, or within ±`margin` (two one-sided tests).
    margin : float
    level : float
        Of intervals, which are two-sided whatever the test.

    Examples
    --------
    >>> Hypothesis(test="noninferiority", margin=0.02).nulls
    (-0.02, None)
    >>> round(Hypothesis("greater").p_value(1.645), 3)
    0.05
    """

    alternative: Alternative = "two-sided"
    test: Test = "difference"
    margin: float = 0.0
    level: float = 0.95

    def __post_init__(self) -> None:
        check.check_level(self.level)
        check.check_choice("alternative", self.alternative, ALTERNATIVES)
        check.check_choice("test", self.test, TESTS)
        check.check_number(self.margin, "margin", "a number of at least 0", least=0)
        if self.test == "difference":
            if self.margin:
                hint = "name what the margin is of: test='superiority', 'noninferiority' or 'equivalence'"
                raise InputError("margin", expected="none with test='difference'", got=repr(self.margin), hint=hint)
            return
        if self.alternative != "two-sided":
            hint = "the test itself has a direction"
            raise InputError("alternative", expected=f"none with test={self.test!r}", got=self.alternative, hint=hint)
        if not 0 <= self.margin < inf or (self.test != "superiority" and self.margin == 0):
            least = "of at least 0" if self.test == "superiority" else "above 0"
            raise InputError("margin", expected=f"a number {least}", got=repr(self.margin))

    @property
    def aim(self) -> str:
        """What is to be shown, in words."""
        return self.alternative if self.test == "difference" else f"{self.test} by {self.margin:g}"

    @property
    def nulls(self) -> tuple[float | None, float | None]:
        """What the difference is to be shown to be above, and below; None where that is not asked."""
        lower = {"difference": 0.0, "superiority": self.margin}.get(self.test, -self.margin)
        upper = {"difference": 0.0, "equivalence": self.margin}.get(self.test)
        return (None if self.alternative == "less" else lower), (None if self.alternative == "greater" else upper)

    def judge(self, above: Callable[[float], float], below: Callable[[float], float]) -> float:
        """Return the p-value, from the one-sided ones of being above and below a value."""
        lower, upper = self.nulls
        found = [p(null) for p, null in ((above, lower), (below, upper)) if null is not None]
        if self.test == "difference" and len(found) == 2:
            return min(2 * min(found), 1.0)
        return max(found)

    def p_value(self, statistic: float, df: float = inf) -> float:
        """Return the p-value of a statistic that is normal, or Student's t with `df` degrees of freedom."""
        return self.judge(lambda _: _below(-statistic, df), lambda _: _below(statistic, df))

    def compare(self, first: str, second: str, difference: Estimate, *, df: float = inf, method: str) -> Comparison:
        """Test a difference by its standard error."""

        def standardised(null: float) -> float:
            # Where nothing varies a difference of nothing shows nothing, and any other cannot be judged.
            excess = difference.value - null
            return excess / (difference.standard_error or nan) if excess else 0.0

        p_value = self.judge(lambda null: _below(-standardised(null), df), lambda null: _below(standardised(null), df))
        statistic = min((standardised(null) for null in self.nulls if null is not None), key=abs)
        return self.comparison(first, second, difference, statistic, p_value, method, df)

    def comparison(
        self,
        first: str,
        second: str,
        difference: Estimate,
        statistic: float,
        p_value: float,
        method: str,
        df: float = inf,
    ) -> Comparison:
        """Return a comparison that says what it was to show."""
        return Comparison(
            first, second, difference, statistic, p_value, method, self.alternative, self.margin, df, test=self.test
        )

    def wald(
        self, value: float, standard_error: float, n: float, method: str, *, df: float = inf, bound: float = inf
    ) -> Estimate:
        """Return value ± quantile·se, cut at ±`bound`."""
        share = (1 + self.level) / 2
        reach = float(special.ndtri(share) if isinf(df) else special.stdtrit(df, share)) * standard_error
        low, high = max(value - reach, -bound), min(value + reach, bound)
        return Estimate(value, low, high, self.level, method, n, standard_error)


def _below(value: float, df: float) -> float:
    """Return the chance of less in a normal distribution, or in Student's t with `df` degrees of freedom."""
    return float(special.ndtr(value) if isinf(df) else special.stdtr(df, value))
