"""Intervals in closed form: means of the rows, ratios of them, and logistic recalibration."""

from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import expit, logit

from rocscope._base.arrays import Array
from rocscope.calibration.evidence import Evidence
from rocscope.calibration.logistic import CoxCalibration, cox_calibration
from rocscope.calibration.outcomes import Outcomes, Shift
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import normal_quantile, of_share

ONE_CLASS = "one class only"
_FEW = 10
_CERTAIN = "every prediction was certain and right: nothing varies"


@dataclass(frozen=True, eq=False)
class ClosedForms:
    """Estimates of numbers whose variance has a formula.

    Attributes
    ----------
    evidence : Evidence
    shift : Shift
        To the prevalence that they are for; each class then has its own weight, and its number of rows is given.
    level : float
    """

    evidence: Evidence
    shift: Shift
    level: float

    @cached_property
    def sample(self) -> Outcomes:
        """Outcomes at the target prevalence."""
        return Outcomes.of(self.evidence.counts).at(self.shift.target)

    @cached_property
    def _scale(self) -> tuple[Any, Any]:
        """How much a positive and a negative row weigh at the target."""
        plain = self.evidence.outcomes
        pos, neg = float(plain.pos.sum()), float(plain.neg.sum())
        if self.shift.target is None:
            return 1.0, 1.0
        return self.shift.target * plain.n / pos, (1 - self.shift.target) * plain.n / neg

    def error(self, of_positive: Any, of_negative: Any) -> float:
        """Return the standard error of a mean over rows of terms given for both labels at each level."""
        sample = self.sample
        terms = [np.broadcast_to(term, sample.score.size) for term in (of_positive, of_negative)]
        if self.shift.target is not None:  # the share of the classes is given: only what varies within them counts
            sizes = (sample.pos, sample.neg)
            terms = [term - (term @ size) / size.sum() for term, size in zip(terms, sizes, strict=True)]
        scaled = (term * scale for term, scale in zip(terms, self._scale, strict=True))
        return sqrt(max(self.evidence.variance_of_sum(*scaled), 0.0)) / sample.n

    def mean(self, of_positive: Array, of_negative: Array, *, most: float, name: str) -> Estimate:
        """Return a mean over rows, of terms from 0 to `most`, with an interval on a logarithmic or logit scale."""
        sample = self.sample
        with np.errstate(invalid="ignore"):
            happened, did_not = (
                np.where(size > 0, term * size, 0.0)
                for term, size in ((of_positive, sample.pos), (of_negative, sample.neg))
            )
        value = max(float(np.sum(happened + did_not)) / sample.n, 0.0)
        if not isfinite(value):
            return self.without(value, "infinite: something happened that was given the probability 0")
        finite = [np.where(np.isfinite(term), term, 0.0) for term in (of_positive, of_negative)]
        error = self.error(*(term - value for term in finite))
        if not error > 0:
            return self.without(value, _CERTAIN if value == 0 else "nothing varies")
        if most == inf:
            reach = normal_quantile(self.level) * error / value
            return self.of(value, value * np.exp(-reach), value * np.exp(reach), f"{name}, logarithmic scale", error)
        share = value / most
        if not share * (1 - share) > 0:
            return self.without(value, "as near to its end as numbers can be")
        reach = normal_quantile(self.level) * error / most / (share * (1 - share))
        low, high = (float(most * expit(logit(share) + side * reach)) for side in (-1, 1))
        return self.of(value, low, high, f"{name}, logit scale", error)

    def prevalence(self) -> Estimate:
        """Share of positives, with Wilson's interval on the effective number of rows."""
        share = self.evidence.outcomes.prevalence
        return self.of(share, *self.share(share, self._worth(share)), "Wilson", nan)

    def ratio(self) -> Estimate:
        """Observed events over expected ones."""
        sample, share = self.sample, self.sample.prevalence
        expected = sample.mean(sample.score)
        if not expected > 0:
            return self.without(nan, "no event was expected")
        value = share / expected
        if self.shift.target is not None:
            error = self.error(-value * sample.score / expected, -value * sample.score / expected)
            reach = normal_quantile(self.level) * error / value
            return self.of(value, value * np.exp(-reach), value * np.exp(reach), "Wald, logarithmic scale", error)
        error = self.error(1 - value * sample.score, -value * sample.score)
        worth = share * (1 - share) / error**2 if 0 < share < 1 and error**2 > 0 else self._worth(share)
        low, high = (end / expected for end in self.share(share, worth))
        return self.of(value, low, high, "Wilson on what varies beyond the expected", error / expected)

    def difference(self) -> Estimate:
        """Observed less expected share of events."""
        ratio, expected = self.ratio(), self.sample.mean(self.sample.score)
        if isnan(ratio.value):
            return self.without(self.sample.prevalence, "no event was expected")
        value, low, high = (expected * (end - 1) for end in (ratio.value, ratio.low, ratio.high))
        return self.of(value, low, high, ratio.method, expected * ratio.standard_error)

    def scaled_brier(self, brier: Estimate) -> Estimate:
        """Brier score as a share of that of the prevalence, taken from 1."""
        sample, share = self.sample, self.sample.prevalence
        uncertainty = share * (1 - share)
        if not uncertainty > 0:
            return self.without(nan, ONE_CLASS)
        rest, score = brier.value / uncertainty, sample.score
        value = 1 - rest
        turn = 0.0 if self.shift.target is not None else brier.value / uncertainty**2 * (1 - 2 * share)
        of_positive = -((1 - score) ** 2 - brier.value) / uncertainty + turn * (1 - share)
        of_negative = -(score**2 - brier.value) / uncertainty - turn * share
        error = self.error(of_positive, of_negative)
        if not error > 0:
            return self.without(value, _CERTAIN if value == 1 else "nothing varies")
        reach = normal_quantile(self.level) * error / max(rest, 1e-300)
        with np.errstate(over="ignore"):  # next to a value of 1 the lower limit may be beyond all numbers
            low, high = 1 - rest * np.exp(reach), 1 - rest * np.exp(-reach)
        return self.of(value, low, high, "influence function, logarithmic scale of 1 − value", error)

    def recalibration(self) -> dict[str, Estimate]:
        """Calibration in the large, joint intercept and slope."""
        names = ("in_the_large", "intercept", "slope")
        sample = self.sample
        if not 0 < sample.prevalence < 1:
            return {name: self.without(nan, ONE_CLASS) for name in names}
        cox = cox_calibration(sample)
        errors = self._errors(cox)
        return {name: self._wald(name, cox, errors[name]) for name in names}

    def _wald(self, name: str, cox: CoxCalibration, error: float) -> Estimate:
        value = getattr(cox, name)
        if not isfinite(value) or not error > 0:
            return self.without(value, _why_no_slope(self.sample, cox, name))
        reach = normal_quantile(self.level) * error
        plain = self.evidence.outcomes
        rarer = min(plain.prevalence, 1 - plain.prevalence) * float(plain.effective.sum())
        reason = f"only {rarer:.3g} cases of a class" if rarer < _FEW else ""
        return self.of(value, value - reach, value + reach, "Wald, the larger of two variances", error, reason)

    def _errors(self, cox: CoxCalibration) -> dict[str, float]:
        """Return the larger of model-based and sandwich standard errors; the first trusts that the model fits."""
        found = {name: getattr(cox, f"{name}_error") for name in ("in_the_large", "intercept", "slope")}
        sample = self.sample
        inside = (sample.score > 0) & (sample.score < 1)
        at = logit(np.where(inside, sample.score, 0.5))
        if isfinite(cox.in_the_large):
            found["in_the_large"] = self._sandwich([1.0 * inside], expit(cox.in_the_large + at), found, "in_the_large")[
                0
            ]
        if isfinite(cox.slope) and isfinite(cox.intercept):
            chance = expit(cox.intercept + cox.slope * at)
            both = self._sandwich([1.0 * inside, at * inside], chance, found, "intercept", "slope")
            found |= dict(zip(("intercept", "slope"), both, strict=True))
        return found

    def _sandwich(self, columns: list[Array], chance: Array, known: dict[str, float], *names: str) -> list[float]:
        sample = self.sample
        weight = sample.total * chance * (1 - chance)
        bread = np.linalg.pinv(np.array([[a * weight @ b for b in columns] for a in columns]))
        kept = max(sample.n / max(sample.n - len(columns), 1), 1.0)
        errors = []
        for name, row in zip(names, bread, strict=True):
            turned = sum(share * column for share, column in zip(row, columns, strict=True))
            sandwich = self.error(turned * (1 - chance), -turned * chance) * sample.n * sqrt(kept)
            plain = known[name] * sqrt(self.evidence.outcomes.n / self.evidence.outcomes.effective.sum())
            errors.append(max(sandwich, plain) if isfinite(plain) else sandwich)
        return errors

    def _worth(self, share: float) -> float:
        rows = float(self.evidence.outcomes.effective.sum())
        if not 0 < share < 1:
            return rows
        error = sqrt(self.evidence.variance_of_sum(1 - share, -share)) / self.evidence.outcomes.n
        return share * (1 - share) / error**2 if error**2 > 0 else rows

    def share(self, share: float, worth: float) -> tuple[float, float]:
        """Return Wilson's limits of a share of so many independent rows."""
        low, high = of_share([share * worth], [worth], "wilson", self.level)
        return float(low[0]), float(high[0])

    def of(self, value: float, low: Any, high: Any, method: str, error: float, reason: str = "") -> Estimate:
        """Return an estimate on the rows of the evidence, and why it is not to be trusted, if it is not."""
        value, low, high = (float(end) + 0.0 for end in (value, low, high))  # never -0.0
        doubt = reason or self._few_groups
        return Estimate(value, low, high, self.level, method, self.evidence.counts.n, float(error), doubt)

    @property
    def _few_groups(self) -> str:
        groups = self.evidence.groups
        return f"only {groups} groups" if groups is not None and groups < _FEW else ""

    def without(self, value: float, reason: str) -> Estimate:
        """Return a value that has no interval, and why."""
        n = self.evidence.counts.n
        return Estimate(float(value) + 0.0, nan, nan, self.level, f"no interval: {reason}", n, reason=reason)


def _why_no_slope(sample: Outcomes, cox: CoxCalibration, name: str) -> str:
    if sample.score.size == 1 and name != "in_the_large":
        return "one distinct probability"
    if np.isinf(cox.slope):
        return "the probabilities separate the classes"
    certain = (sample.score <= 0) | (sample.score >= 1)
    if certain.all():
        return "every probability is 0 or 1"
    wrong = np.where(sample.score <= 0, sample.pos, sample.neg)[certain].any()
    return "something happened that was given the probability 0, or did not that was given 1" if wrong else ONE_CLASS


def squared(score: Array) -> tuple[Array, Array]:
    """Return the Brier score of a positive and of a negative row."""
    return (1 - score) ** 2, score**2


def logarithmic(score: Array) -> tuple[Array, Array]:
    """Return the log loss of a positive and of a negative row."""
    with np.errstate(divide="ignore"):
        return -np.log(score), -np.log(1 - score)
