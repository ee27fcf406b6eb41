"""Proper scores of predicted probabilities, and what they are made of."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.calibration.bins import Strategy, binned
from rocscope.calibration.outcomes import Outcomes, outcomes, pav_values
from rocscope.core.result import Result
from rocscope.errors import InputError

ScoringRule = Literal["brier", "log_loss"]


def brier(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Brier score: mean squared difference between the probability and the outcome (0 is best).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    References
    ----------
    Brier 1950, Mon. Wea. Rev. 78:1–3 (half of his sum over both classes).

    Examples
    --------
    >>> round(brier([0, 1, 1], [0.2, 0.2, 0.9]), 3)
    0.23
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return _brier(sample, sample.score)


def log_loss(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Log loss: mean negative logarithm of the probability given to what happened (0 is best).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Returns
    -------
    float
        Infinite if something happened that was given the probability 0.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Examples
    --------
    >>> round(log_loss([0, 1], [0.5, 0.25]), 4)
    1.0397
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return _log_loss(sample, sample.score)


def _brier(sample: Outcomes, predicted: Array | float) -> float:
    return float(np.sum(sample.pos * (1 - predicted) ** 2 + sample.neg * predicted**2)) / sample.n


def _log_loss(sample: Outcomes, predicted: Array | float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        happened, did_not = sample.pos * np.log(predicted), sample.neg * np.log(1 - predicted)
    # what did not happen costs nothing, also at the probability 0: 0 · ∞ is 0 here
    happened[sample.pos == 0] = did_not[sample.neg == 0] = 0
    return -float(happened.sum() + did_not.sum()) / sample.n


_RULES = {"brier": _brier, "log_loss": _log_loss}


@dataclass(frozen=True)
class Decomposition(Result):
    """A mean score as miscalibration − discrimination + uncertainty.

    Attributes
    ----------
    score : float
        Mean score of the probabilities (Murphy's: of the mean probability of each bin).
    miscalibration : float
        What recalibration would gain; 0 for a calibrated model (Murphy: reliability).
    discrimination : float
        What the recalibrated model gains over predicting the prevalence for all (Murphy: resolution).
    uncertainty : float
        Score of predicting the prevalence for all.
    rule, method : str
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    rule: str
    method: str

    def __repr__(self) -> str:
        return (
            f"Decomposition({self.rule} {self.score:.6g} = miscalibration {self.miscalibration:.6g} − discrimination "
            f"{self.discrimination:.6g} + uncertainty {self.uncertainty:.6g}, {self.method})"
        )


def decompose(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    rule: ScoringRule = "brier",
    method: Literal["corp", "murphy"] = "corp",
    bins: int = 10,
    strategy: Strategy = "uniform",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Decomposition:
    """Mean score as miscalibration − discrimination + uncertainty.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.
    rule : {"brier", "log_loss"}
        The score.
    method : {"corp", "murphy"}
        What a calibrated model would say: isotonic regression (PAV), or the share of positives in each bin.
    bins, strategy : see `rocscope.calibration_curve`
        For Murphy's; his own is ``strategy="distinct"``.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    With S the mean score, r the recalibrated probabilities and ō the prevalence, miscalibration is S(p) − S(r) and
    discrimination is S(ō) − S(r). With PAV neither can be negative, and nothing has to be chosen. With bins p is
    the mean probability of the bin, so parts and score depend on the bins, and the score is not that of the
    probabilities unless bins hold one probability each.

    References
    ----------
    Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118, eq. 3–4. Murphy 1973, "A new vector partition of the
    probability score", J. Appl. Meteorol. 12:595–600.

    Examples
    --------
    >>> decompose([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8])
    Decomposition(brier 0.225 = miscalibration 0.1 − discrimination 0.125 + uncertainty 0.25, CORP)
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    check.check_choice("rule", rule, list(_RULES))
    if check.check_text("method", method) == "corp":
        return _decompose(sample, pav_values(sample), rule, "CORP")
    if method == "murphy":
        cells = binned(sample, bins=bins, strategy=strategy)
        total, x, share = cells.filled()
        label = "distinct" if strategy == "distinct" else f"{total.size} {strategy}"
        return _decompose(Outcomes(x, share * total, total), share, rule, f"Murphy, {label} bins (depends on the bins)")
    raise InputError("method", expected="'corp' or 'murphy'", got=repr(method))


def _decompose(sample: Outcomes, recalibrated: Array, rule: str, method: str) -> Decomposition:
    mean_score = _RULES[rule]
    score, best = mean_score(sample, sample.score), mean_score(sample, recalibrated)
    uncertainty = mean_score(sample, sample.prevalence)
    # neither difference is below 0 but for rounding
    return Decomposition(score, max(score - best, 0.0), max(uncertainty - best, 0.0), uncertainty, rule, method)
