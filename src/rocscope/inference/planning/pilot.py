"""Planning from a pilot: power of the comparison of its two models with other sample sizes."""

from dataclasses import dataclass
from math import ceil, inf, sqrt
from typing import Any

from scipy import optimize, special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import InputError
from rocscope.inference.areas.placements import sample_of_rows
from rocscope.sample import rows_of


@dataclass(frozen=True)
class Pilot:
    """The difference of two models' areas, and their covariance (2 × 2) per positive and per negative.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> y = [1, 1, 0, 1, 0, 1, 0, 0] * 5
    >>> pilot = Pilot.of(Predictions(y, {"a": [8, 7, 6, 5, 4, 3, 2, 1] * 5, "b": [8, 4, 3, 7, 2, 6, 5, 1] * 5}))
    >>> round(pilot.power(n_pos=100, n_neg=100), 2), round(pilot.correlation, 2)
    (0.78, -0.52)
    >>> pilot.power(n_pos=pilot.cases(power=0.9), n_neg=pilot.cases(power=0.9)) >= 0.9
    True
    """

    difference: float
    of_pos: Array
    of_neg: Array
    n_pos: float
    n_neg: float

    @classmethod
    def of(cls, predictions: Any) -> "Pilot":
        """Estimate the variances of two models from rows, by DeLong's method."""
        rows = rows_of(predictions)
        if len(rows.models) != 2:
            raise InputError("models of a pilot", expected="two", got=f"{len(rows.models)}")
        sample = sample_of_rows(rows, groups=False)
        of_pos, of_neg = (stratum.covariance * stratum.size for stratum in sample.strata)
        return cls(float(sample.auc[1] - sample.auc[0]), of_pos, of_neg, sample.n_pos, sample.n_neg)

    def covariance(self, n_pos: float, n_neg: float) -> Array:
        """Covariance of both areas with given numbers of cases."""
        return self.of_pos / n_pos + self.of_neg / n_neg

    @property
    def correlation(self) -> float:
        """Correlation of both areas in the pilot; negative if one model is right where the other is wrong."""
        both = self.covariance(self.n_pos, self.n_neg)
        return float(both[0, 1] / sqrt(both[0, 0] * both[1, 1]))

    def power(self, *, n_pos: float, n_neg: float, margin: float = 0.0, alpha: float = 0.05) -> float:
        """Power to show that the two differ, or with a margin, that the second is not inferior (one-sided).

        Notes
        -----
        ``Φ((|D| − z·√V₀)/√V)``, with V of the difference as it is and V₀ = 2(V₁ − C) if both were as the first, as pROC
        has it; for a margin V₀ = V.

        References
        ----------
        Obuchowski & McClish 1997, Stat. Med. 16:1529–1542; Robin et al. 2011, BMC Bioinformatics 12:77 (pROC).
        """
        null, variance = self._variances(n_pos, n_neg, margin)
        z = float(special.ndtri(1 - check.check_share(alpha, "alpha") / (1 if margin else 2)))
        return float(special.ndtr((self._effect(margin) - z * sqrt(null)) / sqrt(variance)))

    def alpha(self, *, n_pos: float, n_neg: float, power: float = 0.8) -> float:
        """Return the two-sided level with a given power."""
        null, variance = self._variances(n_pos, n_neg, 0.0)
        aimed = float(special.ndtri(check.check_share(power, "power")))
        return float(2 * special.ndtr(-(self._effect(0.0) - aimed * sqrt(variance)) / sqrt(null)))

    def cases(self, *, power: float = 0.8, ratio: float = 1.0, margin: float = 0.0, alpha: float = 0.05) -> int:
        """Return the required number of positives, given the ratio of negatives to positives."""
        check.check_share(power, "power")
        if not self._effect(margin) > 0:
            raise InputError(
                "what is to be shown", expected="a difference in the pilot", got=f"{self._effect(margin):g}"
            )

        def lacking(n: float) -> float:
            return self.power(n_pos=n, n_neg=n * ratio, margin=margin, alpha=alpha) - power

        most = 2.0
        while lacking(most) < 0 and most < inf:
            most *= 2
        solve: Any = optimize.brentq
        return max(2, ceil(solve(lacking, 1e-6, most) - 1e-9))

    def _effect(self, margin: float) -> float:
        return self.difference + margin if margin else abs(self.difference)

    def _variances(self, n_pos: float, n_neg: float, margin: float) -> tuple[float, float]:
        both = self.covariance(n_pos, n_neg)
        variance = float(both[0, 0] + both[1, 1] - 2 * both[0, 1])
        return (variance if margin else float(2 * (both[0, 0] - both[0, 1]))), variance
