"""Thresholds of costs, moved from where a search found them towards the Bayes rule of recalibrated scores."""

import math

import numpy as np
from scipy import special

from rocscope._types import Array
from rocscope.calibration.recalibration.log_linear import PlattRecalibrator
from rocscope.core.predictions import Predictions
from rocscope.decisions.decision import Decision, at_threshold

_FARTHEST = 15.0
"""Log-odds beyond which a probability is as good as certain."""


def shrunk(decision: Decision, predictions: Predictions, rows: float, of_probabilities: bool) -> Decision:
    """Return the decision with its threshold moved towards that of the Bayes rule.

    Parameters
    ----------
    decision : Decision
        Cheapest of all thresholds of one model.
    predictions : Predictions
        The out-of-fold scores that it was chosen from.
    rows : float
        Rows of the rarer class for which the Bayes rule counts as much as the search.
    of_probabilities : bool
        Whether scores are probabilities, which are recalibrated and averaged as log-odds.

    Notes
    -----
    "Nobody" and "everybody" stay, and so does a threshold of scores that rank the wrong way. The Bayes rule acts where
    the likelihood ratio is at least the slope of the iso-performance line.
    """
    counts, context = predictions.counts(), decision.context
    slope = context.slope(counts.prevalence) if not context.always_right else 0.0
    if not (counts.threshold[-1] < decision.threshold < math.inf and 0 < slope < math.inf):
        return decision
    (score,) = predictions.scores.values()
    y, weight = predictions.y_true, predictions.sample_weight
    platt = PlattRecalibrator().fit(_scaled(score, of_probabilities), y, weight)
    if platt.slope_ <= 0:
        return decision
    odds = slope * counts.n_pos / counts.n_neg
    bayes = (math.log(odds) - platt.intercept_) / platt.slope_
    bayes = min(max(bayes, -_FARTHEST), _FARTHEST) if of_probabilities else bayes
    positives = int(np.count_nonzero(y))
    rarer = min(positives, y.size - positives)
    share = rarer / (rarer + rows)
    found = float(_scaled(np.float64(decision.threshold), of_probabilities))
    moved = share * found + (1 - share) * bayes
    moved, bayes = (float(special.expit(each)) if of_probabilities else each for each in (moved, bayes))
    note = f"moved from {decision.threshold:.6g} towards the Bayes rule of recalibrated scores, {bayes:.6g}"
    return at_threshold(decision, counts, moved, "shrunk min_cost", (note,))


def _scaled(score: Array | np.float64, of_probabilities: bool) -> Array:
    wide = np.asarray(score, np.float64)
    return special.logit(wide).clip(-_FARTHEST, _FARTHEST) if of_probabilities else wide
