"""H-measure: the share of loss avoided, averaged over a fixed distribution of costs.

Distributions of a cost ratio or a prevalence, with what an exact integral over an interval needs.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.decisions.model_hull import hull
from rocscope.decisions.uncertain_context import Envelope, Weights
from rocscope.errors import InputError
from rocscope.sample import counts_of


@dataclass(frozen=True)
class Beta:
    """Beta distribution of a share, as after observing `a` − 1 cases of one kind and `b` − 1 of the other.

    Examples
    --------
    >>> Beta(2, 38).mean
    0.05
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            check.check_number(getattr(self, name), name, "a finite number above 0", above=0)

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.a / (self.a + self.b)

    def mass_below(self, value: Array) -> Array:
        """Return the probability below each value."""
        return special.betainc(self.a, self.b, np.clip(value, 0, 1))

    def moment_below(self, value: Array) -> Array:
        """Return the partial expectation below each value."""
        return self.mean * special.betainc(self.a + 1, self.b, np.clip(value, 0, 1))

    def quantile(self, mass: float) -> float:
        """Return the quantile at probability `mass`."""
        return float(special.betaincinv(self.a, self.b, mass))


@dataclass(frozen=True)
class LogNormal:
    """Log-normal distribution of a ratio with median `median`; its logarithm has standard deviation `sigma`.

    Examples
    --------
    A ratio of about 1 : 20, in two cases of three between half and double that:

    >>> LogNormal(0.05, sigma=0.7).mean
    0.06388...
    """

    median: float
    sigma: float

    def __post_init__(self) -> None:
        for name in ("median", "sigma"):
            check.check_number(getattr(self, name), name, "a finite number above 0", above=0)

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.median * math.exp(self.sigma**2 / 2)

    def _standard(self, value: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(value, 0) / self.median) / self.sigma

    def mass_below(self, value: Array) -> Array:
        """Return the probability below each value."""
        return special.ndtr(self._standard(value))

    def moment_below(self, value: Array) -> Array:
        """Return the partial expectation below each value."""
        return self.mean * special.ndtr(self._standard(value) - self.sigma)

    def quantile(self, mass: float) -> float:
        """Return the quantile at probability `mass`."""
        return self.median * math.exp(self.sigma * float(special.ndtri(mass)))


_TRIVIAL = Envelope(fnr=np.array([1.0, 0.0]), fpr=np.array([0.0, 1.0]), border=np.array([1.0]))


@contract
def h_measure(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    costs: Literal["prevalence", "symmetric"] | Beta = "prevalence",
    severity_ratio: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Compute the H-measure: expected reduction of the minimum loss, over a distribution of costs.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    costs : {"prevalence", "symmetric"} or Beta
        Distribution of a false alarm's share of the cost of both errors. ``"prevalence"`` is Beta(1 + π, 2 − π) for
        the prevalence π of the sample, which expects misses to cost more the rarer positives are (Hand &
        Anagnostopoulos 2014); ``"symmetric"`` is Beta(2, 2) (Hand 2009).
    severity_ratio : float, optional
        In place of `costs`, what a false alarm costs over what a miss does where the distribution has its mode: it is
        Beta(2, 1 + 1/ratio). The default of R's hmeasure is ``n_pos / n_neg``.

    Returns
    -------
    float
        1 for a perfect ranking, 0 for one that no cost makes better than a trivial decision.

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; OneClassError if one class is missing.

    Notes
    -----
    H = 1 − L/L_max, where L is the expected cost of the best point of the hull and L_max that of the better trivial
    decision, both integrated in closed form over the slope intervals. Unlike the AUC, it weighs errors alike for
    every classifier. With default costs it is not comparable between samples of different prevalence.

    References
    ----------
    Hand 2009, "Measuring classifier performance: a coherent alternative to the area under the ROC curve", Machine
    Learning 77; Hand & Anagnostopoulos 2014, "A better Beta for the H measure of classification performance",
    Pattern Recognition Letters 40.

    Examples
    --------
    >>> h_measure([1, 1, 0, 0], [4, 3, 2, 1]), h_measure([1, 0, 1, 0], [1, 1, 1, 1])
    (1.0, 0.0)
    """
    counts = counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    envelope = Envelope.of(hull(counts).slope_ranges)
    share, distribution = counts.prevalence, _distribution(counts.prevalence, costs, severity_ratio)
    # A false alarm costs u and a miss 1 − u.
    weights = Weights(miss=(share, -share), false_alarm=(0, 1 - share))
    return 1 - envelope.integrate(distribution, weights) / _TRIVIAL.integrate(distribution, weights)


def _distribution(prevalence: float, costs: Any, severity_ratio: float | None) -> Beta:
    if severity_ratio is not None:
        ratio = check.check_number(severity_ratio, "severity_ratio", "a finite number above 0", above=0)
        if costs != "prevalence":
            raise InputError("costs and severity_ratio", expected="one of them", got="both")
        return Beta(2, 1 + 1 / ratio)
    known = {"prevalence": Beta(1 + prevalence, 2 - prevalence), "symmetric": Beta(2, 2)}
    distribution = costs if isinstance(costs, Beta) else known.get(costs if isinstance(costs, str) else "")
    if distribution is None:
        raise InputError("costs", expected="'prevalence', 'symmetric' or a Beta", got=repr(costs))
    return distribution
