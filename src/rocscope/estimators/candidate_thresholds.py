"""Candidate thresholds of one model, and the choice among them by paired errors on rows that they were not set on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from rocscope._base.arrays import Array
from rocscope.calibration.recalibrators import PlattRecalibrator
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result
from rocscope.decisions.decision import Decision, at_threshold

# In a prototype on 34 tables, 6 learners and 5 pairs of costs, 1 standard error cost less than 0.25, 0.5, 1.5 and 2,
# and the candidate halfway less than other shares, smoothed costs and the Bayes rule of ranks. With the candidates
# below only 1 and 1.5 were compared (.899 and .902 of scikit-learn's tuner); benchmarks/estimators repeats it.
# Later, on 44 tables with up to four seeds, 0.5, 1, 1.5 and 2 cost .902, .898, .896 and .896. A bagged search cost .003
# less, and more often more than everybody or nobody.
_ERRORS = 1.0
_MANY = 20_000
"""Rows of the rarer class from which on the search needs no help."""

PREFERRED = "shrunk"


@dataclass(frozen=True)
class CandidateThreshold(Result):
    """A threshold that was considered.

    Attributes
    ----------
    threshold : float
        Set on all rows.
    cost : float
        Per case, in units of the weights: of rows in each fold, at the threshold that the other folds set.
    beyond, standard_error : float
        That cost less the one of the candidate that was taken, and the standard error of this paired difference.
    """

    threshold: float
    cost: float
    beyond: float
    standard_error: float


def safest(
    decision: Decision, predictions: Predictions, rows: float, of_probabilities: bool
) -> tuple[Decision, dict[str, CandidateThreshold]]:
    """Return the decision at the best of several thresholds, and all of them.

    Parameters
    ----------
    decision : Decision
        Cheapest of all thresholds of one model: the search.
    predictions : Predictions
        The out-of-fold scores that it was chosen from.
    rows : float
        Rows of the rarer class for which the Bayes rule counts as much as the search.
    of_probabilities : bool
        Whether scores are probabilities, which are recalibrated and averaged as log-odds.

    Notes
    -----
    Taken is the shrunk threshold, unless another candidate costs less by more than a standard error of the paired
    difference; then the cheapest of all.
    """
    counts, context = predictions.counts(), decision.context
    slope = context.slope(counts.prevalence) if not context.always_right else 0.0
    positives = int(np.count_nonzero(predictions.y_true))
    if not 0 < slope < math.inf or min(positives, len(predictions) - positives) >= _MANY:
        return decision, {}
    (score,) = predictions.scores.values()
    rule = _Rule(slope, rows, of_probabilities)
    found = rule.thresholds(predictions.y_true, score, predictions.sample_weight, decision.threshold)
    losses = _held_out_losses(rule, predictions, score, list(found))
    if losses is None:
        taken, compared = PREFERRED, {}
    else:
        taken = _taken(losses, list(found))
        compared = _compared(found, losses, taken)
    threshold = found[taken]
    if threshold == decision.threshold:
        return decision, compared
    note = f"{taken}: moved from {decision.threshold:.6g} towards the Bayes rule of recalibrated scores, " + (
        f"{found['Bayes rule']:.6g}" if "Bayes rule" in found else "which there is none of"
    )
    others = ", ".join(name for name in compared if name != taken)
    notes = (note, *([f"out of fold none costs less by 2 standard errors: {others}"] if others else []))
    return at_threshold(decision, counts, threshold, "shrunk min_cost", notes), compared


@dataclass(frozen=True)
class _Rule:
    """How thresholds are set on rows; see `safest`. `slope` is that of the iso-performance line."""

    slope: float
    rows: float
    of_probabilities: bool

    def thresholds(
        self, y: NDArray[np.bool_], score: Array, weight: Array | None, search: float | None = None
    ) -> dict[str, float]:
        """Return all candidates; the search is made where it is not given."""
        search = self._cheapest(y, score, weight) if search is None else search
        found = {PREFERRED: search, "search": search, "everybody": -math.inf, "nobody": math.inf}
        scale = _LogOdds.of_all(score) if self.of_probabilities else _AsGiven()
        bayes = self._reaching(scale.of(score), y, weight)
        if bayes is None:
            return found
        found["Bayes rule"] = scale.back(bayes)
        found["halfway"] = self._halfway(y, score, weight, search)
        if score.min() < search < math.inf:
            rarer = min(np.count_nonzero(y), np.count_nonzero(~y))
            share = rarer / (rarer + self.rows) if rarer + self.rows else 1.0
            found[PREFERRED] = scale.back(share * float(scale.of(np.asarray([search]))[0]) + (1 - share) * bayes)
        return found

    def _cheapest(self, y: NDArray[np.bool_], score: Array, weight: Array | None) -> float:
        """Return the cheapest threshold; of equal ones the one of fewest positives."""
        counts = ThresholdCounts.from_checked(y, score, weight)
        worth = counts.tp / counts.n_pos - self.slope * counts.fp / counts.n_neg
        best = int(worth.argmax())
        if worth[best] <= 0:
            return math.inf
        return -math.inf if best == len(counts) - 1 else float(counts.threshold[best])

    def _reaching(self, z: Array, y: NDArray[np.bool_], weight: Array | None) -> float | None:
        """Return the z where Platt's sigmoid reaches the probability from which acting pays; None if it never does."""
        platt = PlattRecalibrator().fit(z, y, weight)
        if not platt.slope_ > 0:
            return None
        amount = np.ones(y.size) if weight is None else weight
        odds = self.slope * amount[y].sum() / amount[~y].sum()
        return (math.log(odds) - platt.intercept_) / platt.slope_

    def _halfway(self, y: NDArray[np.bool_], score: Array, weight: Array | None, search: float) -> float:
        """Return the threshold halfway between the search and the Bayes rule, where ranks are made normal scores."""
        n, least = score.size, 0.5 / score.size
        bayes = self._reaching(special.ndtri((stats.rankdata(score) - 0.5) / n), y, weight)
        if bayes is None:
            return search
        ordered = np.sort(score).astype(np.float64)
        below = np.searchsorted(ordered, search) / n
        place = float(special.ndtr((special.ndtri(np.clip(below, least, 1 - least)) + bayes) / 2))
        if not 1.5 * least < place < 1 - 1.5 * least:
            return math.inf if place > 0.5 else -math.inf
        return float(np.interp(place * n, np.arange(n) + 0.5, ordered))


@dataclass(frozen=True)
class _LogOdds:
    """Log-odds; those of 0 and 1, which have none, lie one beyond all others."""

    least: float
    most: float

    @classmethod
    def of_all(cls, score: Array) -> "_LogOdds":
        odds = special.logit(np.asarray(score, np.float64))
        finite = odds[np.isfinite(odds)]
        return cls(float(finite.min(initial=0.0)) - 1, float(finite.max(initial=0.0)) + 1)

    def of(self, score: Array) -> Array:
        return special.logit(np.asarray(score, np.float64)).clip(self.least, self.most)

    def back(self, z: float) -> float:
        return float(special.expit(z))


class _AsGiven:
    """Scores that are no probabilities."""

    def of(self, score: Array) -> Array:
        return np.asarray(score, np.float64)

    def back(self, z: float) -> float:
        return z


def _held_out_losses(rule: _Rule, predictions: Predictions, score: Array, names: list[str]) -> Array | None:
    """Return the loss of each row (or group) and candidate, at thresholds that other folds set; weighted.

    None where there are no folds, or one leaves a single class to the others.
    """
    y, weight = predictions.y_true, predictions.sample_weight
    if predictions.fold is None:
        return None
    code = np.unique(predictions.fold, return_inverse=True)[1]
    amount = np.ones(y.size) if weight is None else weight.astype(np.float64)
    # Costs in which a miss costs 1 a positive and a false alarm what the slope makes it, at the sample's class mix.
    of_miss, of_alarm = amount / amount[y].sum(), rule.slope * amount / amount[~y].sum()
    losses = np.zeros((y.size, len(names)))
    for fold in range(int(code.max()) + 1):
        test = code == fold
        train = ~test
        if not (amount[train & y].any() and amount[train & ~y].any()):
            return None
        own = rule.thresholds(y[train], score[train], None if weight is None else weight[train])
        for place, name in enumerate(names):
            said = score[test] >= own.get(name, own["search"])
            losses[test, place] = np.where(y[test], of_miss[test] * ~said, of_alarm[test] * said)
    if predictions.groups is None:
        return losses
    unit = np.unique(predictions.groups, return_inverse=True)[1]
    return np.stack([np.bincount(unit, column) for column in losses.T], axis=1)


def _taken(losses: Array, names: list[str]) -> str:
    difference = losses[:, [names.index(PREFERRED)]] - losses
    better = difference.sum(axis=0) > _ERRORS * _error_of_sum(difference)
    return names[int(losses.sum(axis=0).argmin())] if better.any() else PREFERRED


def _error_of_sum(values: Array) -> Array:
    n = len(values)
    return np.sqrt(n * values.var(axis=0, ddof=1)) if n > 1 else np.full(values.shape[1], math.inf)


def _compared(found: Mapping[str, float], losses: Array, taken: str) -> dict[str, CandidateThreshold]:
    names = list(found)
    difference = losses - losses[:, [names.index(taken)]]
    columns = losses.sum(axis=0), difference.sum(axis=0), _error_of_sum(difference)
    return {
        name: CandidateThreshold(found[name], *map(float, values))
        for name, *values in zip(names, *columns, strict=True)
    }
