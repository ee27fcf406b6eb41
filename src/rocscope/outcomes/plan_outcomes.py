"""Comparison of a plan's forecast with its actual outcomes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core import Result
from rocscope.decisions.plan import Promise
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import normal_quantile, proportion

# With fewer positives or fewer negatives, a normal interval of a mean is not reliable.
_FEWEST_OF_A_CLASS = 10


@dataclass(frozen=True, repr=False)
class PlanOutcomes(Result):
    """Actual outcomes of a plan, compared with its forecast; returned by `Plan.outcomes`.

    Attributes
    ----------
    n : int
        Number of cases to which the plan was applied.
    acted : int
        Number of cases that were acted on.
    known : int
        Number of cases that were acted on and have a known outcome; `rate` and `gain` refer to these cases.
    rate : Estimate
        Share of positives among the `known` cases.
    promised_rate : float
        Share of positives that the plan forecasts.
    gain : Estimate
        Total gain from acting on the `known` cases relative to not acting, minus fixed costs. For a campaign, the gain
        is the profit.
    promised_gain : float
        Gain that the plan forecasts for a number of `known` new cases.
    promised_error : float
        Standard error of `promised_gain`, due to the sampling error of the sample from which the plan was made.
    effect : Estimate or None
        Effect of acting on the rate of positives, estimated from cases with equal scores among which a hash of the
        identifier decided on which cases to act. None if the plan has no such random selection, or if the outcomes of
        cases not acted on are unknown.
    """

    n: int
    acted: int
    known: int
    rate: Estimate
    promised_rate: float
    gain: Estimate
    promised_gain: float
    effect: Estimate | None = None
    promised_error: float = 0.0

    @property
    def kept(self) -> bool:
        """True if the achieved gain is not significantly below the promised gain.

        This is a one-sided test at the level of the intervals: promised − achieved ≤ z·√(s₁² + s₂²). Here s₁ and s₂ are
        the standard errors of the achieved and of the promised gain. If the forecast is correct, the result is True
        with probability `level`.
        """
        error = math.hypot(self.gain.standard_error, self.promised_error)
        return self.promised_gain - self.gain.value <= normal_quantile(2 * self.gain.level - 1) * error

    @property
    def promise(self) -> Estimate:
        """The promised gain with a confidence interval, which accounts for the sampling error of the plan's sample."""
        half_width = normal_quantile(self.gain.level) * self.promised_error
        low, high = self.promised_gain - half_width, self.promised_gain + half_width
        return Estimate(self.promised_gain, low, high, self.gain.level, "normal", self.known, self.promised_error)

    @property
    def note(self) -> str:
        """Achieved and promised rate and gain in one sentence."""
        effect = "" if self.effect is None else f"; acting changes the rate by {self.effect.words}"
        return (
            f"{self.known:,} of {self.acted:,} acted on: rate {self.rate.words}, promised {self.promised_rate:.4g}; "
            f"gain {self.gain.words}, promised {self.promise.words}{effect}"
        )

    def __repr__(self) -> str:
        return f"PlanOutcomes({self.note})"


def outcomes_of(
    promise: Promise, acted: Array, positive: Array, known: Array, strata: Array, gains: Array, level: float
) -> PlanOutcomes:
    """Compare the outcomes of rows with the forecast of a plan.

    Parameters
    ----------
    promise : Promise
        The forecast of the plan.
    acted, positive, known : array of n booleans
        True for rows that were acted on, for positive rows, and for rows with known outcomes.
    strata : array of n whole numbers
        Number of the stratum of each row. A stratum contains rows with equal scores from which the rows acted on were
        selected by hash. The number is −1 if the score alone decided on the row.
    gains : array of n numbers
        Gain from acting on each row relative to not acting. Rows that were not acted on also need a gain.
    level : float
        Confidence level.

    Notes
    -----
    The interval of the rate is Wilson's interval. The interval of the gain is a normal interval: n·m ± z·s·√n for n
    cases with mean gain m and variance s². The effect is the Mantel–Haenszel difference of rates, Σ w(p₁ − p₀)/Σ w. The
    sums are over strata, with n₁ cases acted on at rate p₁, n₀ cases not acted on at rate p₀, and w = n₁·n₀/(n₁ + n₀).
    The variance of the effect is Σ w²(p₁(1 − p₁)/(n₁ − 1) + p₀(1 − p₀)/(n₀ − 1))/(Σ w)². Strata with n₁ < 2 or n₀ < 2
    are omitted.
    """
    seen = acted & known
    n, n_positive = int(seen.sum()), int((seen & positive).sum())
    options: dict[str, Any] = {"level": level, "n": float(n)}
    no_rate = Estimate(math.nan, math.nan, math.nan, method="Wilson", **options)
    rate = proportion(n_positive, n, level=level) if n else no_rate
    value = float(gains[seen].sum()) - promise.fixed
    error = float(gains[seen].std(ddof=1)) * math.sqrt(n) if n > 1 else math.nan
    half_width = normal_quantile(level) * error
    low, high = value - half_width, value + half_width
    few = min(n_positive, n - n_positive) < _FEWEST_OF_A_CLASS
    doubt = f"fewer than {_FEWEST_OF_A_CLASS} positives or negatives among the cases acted on" if few else ""
    gain = Estimate(value, low, high, method="normal", standard_error=error, reason=doubt, **options)
    promised_gain = n * promise.gain - promise.fixed
    effect = _effect(acted, positive, known, strata, level)
    facts = rate, promise.rate, gain, promised_gain, effect, n * promise.error
    return PlanOutcomes(positive.size, int(acted.sum()), n, *facts)


def _effect(acted: Array, positive: Array, known: Array, strata: Array, level: float) -> Estimate | None:
    """Return the effect of acting on the rate of positives, from rows selected by hash; None if there are too few."""
    used = known & (strata >= 0)
    size = int(strata.max(initial=-1)) + 1
    if not size:
        return None
    treated, control = used & acted, used & ~acted
    n1 = np.bincount(strata[treated], minlength=size)
    n0 = np.bincount(strata[control], minlength=size)
    # The variance of a rate needs two cases in each arm.
    kept = (n1 > 1) & (n0 > 1)
    if not kept.any():
        return None
    x1 = np.bincount(strata[treated & positive], minlength=size)[kept]
    x0 = np.bincount(strata[control & positive], minlength=size)[kept]
    n1, n0 = n1[kept], n0[kept]
    p1, p0 = x1 / n1, x0 / n0
    weight = n1 * n0 / (n1 + n0)
    total = weight.sum()
    value = float((weight * (p1 - p0)).sum() / total)
    variance = weight**2 * (p1 * (1 - p1) / (n1 - 1) + p0 * (1 - p0) / (n0 - 1))
    error = math.sqrt(float(variance.sum())) / float(total)
    half_width = normal_quantile(level) * error
    fewest = min(x1.sum(), x0.sum(), (n1 - x1).sum(), (n0 - x0).sum())
    few = fewest < _FEWEST_OF_A_CLASS
    doubt = f"fewer than {_FEWEST_OF_A_CLASS} positives or negatives in one of the two groups compared" if few else ""
    low, high = max(value - half_width, -1.0), min(value + half_width, 1.0)
    method, n = "Mantel–Haenszel difference of rates", float(n1.sum() + n0.sum())
    return Estimate(value, low, high, level, method, n, error, reason=doubt)
