"""Outcomes: what acting by a plan has brought, held against what the plan promised."""

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.result import Result
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import normal_quantile, proportion

_FEW = 10  # positives, and other cases, below which a normal interval of a mean is not reliable


class Promise(NamedTuple):
    """What a plan expects of the cases that are acted on.

    Attributes
    ----------
    rate : float
        Share of positives among them.
    gain : float
        What acting on one brings, above leaving it.
    fixed : float
        What is paid in any case.
    """

    rate: float
    gain: float
    fixed: float = 0.0


@dataclass(frozen=True, repr=False)
class PlanOutcomes(Result):
    """What acting by a plan has brought.

    Made by `Plan.outcomes`.

    Attributes
    ----------
    n : int
        Cases that the plan was applied to.
    acted : int
        Those that it acts on.
    known : int
        Those of them whose outcome is known; the figures are of these.
    rate : Estimate
        Share of positives among the acted.
    promised_rate : float
    gain : Estimate
        What acting has brought above leaving, less fixed costs: of a campaign its profit.
    promised_gain : float
        The same as the plan expects it of so many cases.
    effect : Estimate or None
        Difference in the rate of positives that acting makes, among cases of equal scores, some chosen by hashes:
        acted less left. None where nobody was drawn, or the outcomes of those left are not known.
    """

    n: int
    acted: int
    known: int
    rate: Estimate
    promised_rate: float
    gain: Estimate
    promised_gain: float
    effect: Estimate | None = None

    @property
    def kept(self) -> bool:
        """Whether the promised gain lies within the interval of the achieved one, or below it."""
        return self.promised_gain <= self.gain.high

    @property
    def note(self) -> str:
        """The result in one sentence."""
        effect = "" if self.effect is None else f"; acting changes the rate by {self.effect.words}"
        return (
            f"{self.known:,} of {self.acted:,} acted on: rate {self.rate.words}, promised {self.promised_rate:.4g}; "
            f"gain {self.gain.words}, promised {self.promised_gain:.4g}{effect}"
        )

    def __repr__(self) -> str:
        return f"PlanOutcomes({self.note})"


def outcomes_of(
    promise: Promise, acted: Array, positive: Array, known: Array, strata: Array, gains: Array, level: float
) -> PlanOutcomes:
    """Return what acting on some rows has brought.

    Parameters
    ----------
    promise : Promise
    acted, positive, known : array of n booleans
        Which rows were acted on, which are positive, and which outcomes are known.
    strata : array of n whole numbers
        Rows of one number were drawn alike; of −1 nobody was drawn.
    gains : array of n
        What acting on each row has brought, or would have, above leaving it.
    level : float

    Notes
    -----
    The rate has Wilson's interval, the gain a normal one: n cases of mean gain m and variance s² bring n·m ± z·s·√n.
    The effect is the Mantel–Haenszel difference of rates over strata, Σ w(p₁ − p₀)/Σ w with w = n₁·n₀/(n₁ + n₀), and
    Σ w²(p₁(1 − p₁)/(n₁ − 1) + p₀(1 − p₀)/(n₀ − 1))/(Σ w)² its variance; strata of one case in an arm are left out.
    """
    seen = acted & known
    n, found = int(seen.sum()), int((seen & positive).sum())
    gains = gains[seen]
    spread = float(gains.std(ddof=1)) * sqrt(n) if n > 1 else nan
    reach = normal_quantile(level) * spread
    value = float(gains.sum()) - promise.fixed
    doubt = f"fewer than {_FEW} positives, or others, among the acted" if min(found, n - found) < _FEW else ""
    how: dict[str, Any] = {"level": level, "n": float(n)}
    gain = Estimate(value, value - reach, value + reach, method="normal", standard_error=spread, reason=doubt, **how)
    rate = proportion(found, n, level=level) if n else Estimate(nan, nan, nan, method="Wilson", **how)
    effect = _effect(acted, positive, known, strata, level)
    return PlanOutcomes(
        positive.size, int(acted.sum()), n, rate, promise.rate, gain, n * promise.gain - promise.fixed, effect
    )


def _effect(acted: Array, positive: Array, known: Array, strata: Array, level: float) -> Estimate | None:
    """Return what acting changes in the rate of positives, among rows that were drawn."""
    used = known & (strata >= 0)
    size = int(strata.max(initial=-1)) + 1
    if not size:
        return None
    arms = [used & acted, used & ~acted]
    n1, n0 = (np.bincount(strata[arm], minlength=size) for arm in arms)
    kept = (n1 > 1) & (n0 > 1)
    if not kept.any():
        return None
    x1, x0 = (np.bincount(strata[arm & positive], minlength=size)[kept] for arm in arms)
    n1, n0 = n1[kept], n0[kept]
    p1, p0, weight = x1 / n1, x0 / n0, n1 * n0 / (n1 + n0)
    total = weight.sum()
    value = float((weight * (p1 - p0)).sum() / total)
    variance = weight**2 * (p1 * (1 - p1) / (n1 - 1) + p0 * (1 - p0) / (n0 - 1))
    error = sqrt(float(variance.sum())) / float(total)
    reach = normal_quantile(level) * error
    few = min(x1.sum(), x0.sum(), (n1 - x1).sum(), (n0 - x0).sum()) < _FEW
    return Estimate(
        value,
        max(value - reach, -1.0),
        min(value + reach, 1.0),
        level=level,
        method="Mantel–Haenszel difference of drawn cases",
        n=float(n1.sum() + n0.sum()),
        standard_error=error,
        reason=f"fewer than {_FEW} positives, or others, in an arm" if few else "",
    )
