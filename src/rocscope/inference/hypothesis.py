"""What a test of a difference is to show, and the test itself once the standard error is known."""

from dataclasses import dataclass
from math import inf, isinf, nan
from typing import Literal

from scipy import stats

from rocscope import _validation as check
from rocscope.errors import InputError
from rocscope.inference.estimate import Comparison, Estimate

Alternative = Literal["two-sided", "greater", "less", "superior", "noninferior"]

ALTERNATIVES = ("two-sided", "greater", "less", "superior", "noninferior")


@dataclass(frozen=True)
class Hypothesis:
    """What is to be shown of second − first: not 0, above 0, below 0, above `margin`, or above −`margin`.

    Examples
    --------
    >>> Hypothesis("noninferior", margin=0.02).null
    -0.02
    >>> round(Hypothesis("greater").p_value(1.645), 3)
    0.05
    """

    alternative: Alternative = "two-sided"
    margin: float = 0.0
    level: float = 0.95

    def __post_init__(self) -> None:
        check.check_level(self.level)
        check.check_choice("alternative", self.alternative, ALTERNATIVES)
        if self.alternative not in ("superior", "noninferior"):
            if self.margin:
                raise InputError(
                    "margin",
                    expected=f"none with alternative={self.alternative!r}",
                    got=repr(self.margin),
                    hint="use alternative='superior' or 'noninferior'",
                )
        elif not 0 <= self.margin < inf or (self.alternative == "noninferior" and self.margin == 0):
            least = "above 0" if self.alternative == "noninferior" else "of at least 0"
            raise InputError("margin", expected=f"a number {least}", got=repr(self.margin))

    @property
    def null(self) -> float:
        """The difference under the null hypothesis."""
        return self.margin if self.alternative == "superior" else -self.margin

    def p_value(self, statistic: float, df: float = inf) -> float:
        """Return the p-value of a statistic that is normal, or Student's t with `df` degrees of freedom."""
        law = stats.norm if isinf(df) else stats.t(df)
        if self.alternative == "two-sided":
            return float(2 * law.sf(abs(statistic)))
        return float(law.cdf(statistic) if self.alternative == "less" else law.sf(statistic))

    def compare(self, first: str, second: str, difference: Estimate, *, df: float = inf, method: str) -> Comparison:
        """Test a difference by its standard error."""
        excess = difference.value - self.null
        # Where nothing varies a difference of nothing shows nothing, and any other cannot be judged.
        scale = difference.standard_error or nan
        statistic = excess / scale if excess else 0.0
        p_value = self.p_value(statistic, df)
        return Comparison(first, second, difference, statistic, p_value, method, self.alternative, self.margin, df)

    def wald(
        self, value: float, standard_error: float, n: float, method: str, *, df: float = inf, bound: float = inf
    ) -> Estimate:
        """Return value ± quantile·se, cut at ±`bound`."""
        law = stats.norm if isinf(df) else stats.t(df)
        reach = float(law.ppf((1 + self.level) / 2)) * standard_error
        low, high = max(value - reach, -bound), min(value + reach, bound)
        return Estimate(value, low, high, self.level, method, n, standard_error)
